/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/** A pipe that is writable takes so many bytes without waiting (pipe(7)); a terminal, ours. */
enum { WITHOUT_WAITING = 4096 };

static void fail(output *out, int error) {
    if (out->error == 0) {
        out->error = error;
        out->length = 0;
        tendon_loop_remove(out->loop, &out->source);
        out->on_end(out->context);
    }
}

/** Of a descriptor whose description others use, too: O_NONBLOCK would be theirs as well. */
static ssize_t write_shared(const output *out, const char *bytes, size_t length) {
    struct pollfd watched = {.fd = out->fd, .events = POLLOUT};
    if (poll(&watched, 1, 0) != 1 || (watched.revents & POLLOUT) == 0) {
        errno = (watched.revents & (POLLERR | POLLHUP)) != 0 ? EPIPE : EAGAIN;
        return -1;
    }
    return write(out->fd, bytes, length < WITHOUT_WAITING ? length : WITHOUT_WAITING);
}

static ssize_t write_some(const output *out, const char *bytes, size_t length) {
    if (out->is_socket) {
        return send(out->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    return out->is_own || !out->waits ? write(out->fd, bytes, length) : write_shared(out, bytes, length);
}

/** Writes what the reader takes. */
static void flush(output *out) {
    while (out->length > 0) {
        size_t part = OUTPUT_SIZE - out->first < out->length ? OUTPUT_SIZE - out->first : out->length;
        ssize_t count = write_some(out, out->bytes + out->first, part);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            break;
        }
        if (count < 0) {
            fail(out, errno);
            return;
        }
        out->first = (out->first + (size_t)count) % OUTPUT_SIZE;
        out->length -= (size_t)count;
    }
    if (out->waits) {
        (void)tendon_loop_update(out->loop, &out->source, out->length > 0 ? TENDON_WRITABLE : 0);
    }
}

static void ready(void *context, uint32_t events, uint64_t now) {
    output *out = context;
    (void)now;
    if ((events & TENDON_HANGUP) != 0) {
        fail(out, EPIPE);
    } else if ((events & TENDON_WRITABLE) != 0) {
        flush(out);
    }
}

void output_open(output *out, tendon_loop *loop, int fd, void (*on_end)(void *context), void *context) {
    struct stat status;
    out->loop = loop;
    out->fd = fd;
    out->on_end = on_end;
    out->context = context;
    bool is_known = fstat(fd, &status) == 0;
    out->is_socket = is_known && S_ISSOCK(status.st_mode);
    if (is_known && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode))) {
        char path[32] = "/proc/self/fd/1";
        int own = fd == STDOUT_FILENO ? open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1;
        out->is_own = own >= 0;
        out->fd = own >= 0 ? own : fd;
    }
    tendon_source_init(&out->source, out->fd, out, ready, NULL);
    out->waits = tendon_loop_add(loop, &out->source) >= 0; /* a file cannot be watched, and does not wait */
}

/** Adds bytes that fit. */
static void keep(output *out, const char *bytes, size_t length) {
    size_t place = (out->first + out->length) % OUTPUT_SIZE;
    size_t part = OUTPUT_SIZE - place < length ? OUTPUT_SIZE - place : length;
    memcpy(out->bytes + place, bytes, part);
    memcpy(out->bytes, bytes + part, length - part);
    out->length += length;
}

bool output_line(output *out, const char *line, size_t length, bool is_sample) {
    size_t limit = is_sample ? OUTPUT_SAMPLES : OUTPUT_SIZE;
    if (out->error != 0 || out->length + length > limit) {
        return false;
    }
    if (out->length == 0) {
        out->first = 0; /* the same pages are used as long as the reader keeps up */
    }
    bool was_empty = out->length == 0;
    keep(out, line, length);
    if (was_empty) {
        flush(out);
    }
    return out->error == 0;
}

size_t output_finish(output *out, int timeout_ms) {
    uint64_t until = tendon_monotonic_ms() + (uint64_t)timeout_ms;
    if (out->error == 0) {
        flush(out);
    }
    for (uint64_t now = tendon_monotonic_ms(); out->length > 0 && out->error == 0 && now < until;
         now = tendon_monotonic_ms()) {
        struct pollfd watched = {.fd = out->fd, .events = POLLOUT};
        (void)poll(&watched, 1, (int)(until - now));
        if ((watched.revents & (POLLERR | POLLHUP)) != 0) {
            fail(out, EPIPE);
        } else {
            flush(out);
        }
    }
    return out->length;
}
