/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** A part of a line, up to its end or not. */
static void take_part(input *in, const char *part, size_t length) {
    if (in->is_skipping) {
        return;
    }
    if (length > sizeof in->bytes - in->length) {
        in->is_skipping = true;
        in->length = 0;
        return;
    }
    memcpy(in->bytes + in->length, part, length);
    in->length += length;
}

static void end_line(input *in) {
    bool is_too_long = in->is_skipping;
    size_t length = in->length;
    in->is_skipping = false;
    in->length = 0;
    if (is_too_long || length > 0) {
        in->on_line(in->context, is_too_long ? NULL : in->bytes, length);
    }
}

/** Reads once; false: the end. */
static bool take(input *in) {
    char bytes[2048];
    ssize_t count = read(in->source.fd, bytes, sizeof bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) {
        return true;
    }
    if (count <= 0) {
        return false;
    }
    for (const char *at = bytes, *end = bytes + count; at < end;) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        take_part(in, at, (size_t)((feed != NULL ? feed : end) - at));
        if (feed != NULL) {
            end_line(in);
        }
        at = feed != NULL ? feed + 1 : end;
    }
    return true;
}

static void ready(void *context, uint32_t events, uint64_t now) {
    input *in = context;
    (void)now;
    if ((events & TENDON_READABLE) == 0 || !take(in)) {
        end_line(in);    /* the last one may have no line feed */
        input_close(in); /* whoever asked is gone; the gateway goes on */
    }
}

void input_open(input *in, tendon_loop *loop, int fd, void (*on_line)(void *context, const char *line, size_t length),
                void *context) {
    in->loop = loop;
    in->on_line = on_line;
    in->context = context;
    tendon_source_init(&in->source, fd, in, ready, NULL);
    in->source.interest = TENDON_READABLE;
    struct stat file;
    if (tendon_loop_add(loop, &in->source) < 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode)) {
        while (take(in)) { /* epoll does not wait for a file, nor does read() */
        }
        end_line(in);
    }
}

void input_close(input *in) {
    tendon_loop_remove(in->loop, &in->source);
}
