/* SPDX-License-Identifier: MIT */
/* Lines of standard input, of bounded length. */
#ifndef TENDON_PROGRAMS_INPUT_H
#define TENDON_PROGRAMS_INPUT_H

#include "tendon/gateway/request.h"
#include "tendon/linux/loop.h"

typedef struct input {
    tendon_loop *loop;
    tendon_source source;
    bool is_skipping; /**< the rest of a line that is too long */
    size_t length;
    /** A line without its line feed; NULL: it was too long. */
    void (*on_line)(void *context, const char *line, size_t length);
    void *context;
    char bytes[TENDON_REQUEST_LINE_MAX];
} input;

/** Begins to read. A file, which cannot be watched, is not read: nothing is connected yet when it ends. */
void input_open(input *in, tendon_loop *loop, int fd, void (*on_line)(void *context, const char *line, size_t length),
                void *context);
void input_close(input *in);

#endif
