/* SPDX-License-Identifier: MIT */
/*
 * Lines for standard output, which never wait for its reader: what it does not take now is kept in a buffer, and what
 * the buffer does not hold is dropped.
 */
#ifndef TENDON_PROGRAMS_OUTPUT_H
#define TENDON_PROGRAMS_OUTPUT_H

#include "tendon/linux/loop.h"

/** Bytes that wait for the reader at most, and how many of them samples may use: our design. */
enum { OUTPUT_SIZE = 256 * 1024, OUTPUT_SAMPLES = 192 * 1024 };

typedef struct output {
    tendon_loop *loop;
    tendon_source source;
    int fd;
    bool is_own;    /**< fd is a description of ours, with O_NONBLOCK */
    bool is_socket; /**< send() does not wait */
    bool waits;     /**< fd can be watched */
    int error;      /**< errno of a write; EPIPE: the reader is gone */
    size_t first, length;
    void (*on_end)(void *context); /**< an error, or the reader is gone */
    void *context;
    char bytes[OUTPUT_SIZE]; /**< ring */
} output;

void output_open(output *out, tendon_loop *loop, int fd, void (*on_end)(void *context), void *context);
/** Takes a whole line, or drops it: false. */
bool output_line(output *out, const char *line, size_t length, bool is_sample);
/** Waits for the reader for a time, in ms. Returns the number of bytes that it has not taken. */
size_t output_finish(output *out, int timeout_ms);

#endif
