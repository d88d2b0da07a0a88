/* SPDX-License-Identifier: MIT */
/* For tests of Obvious: the calls of a handler, one word each, to be compared as a text. */
#ifndef OBVIOUS_TRACE_H
#define OBVIOUS_TRACE_H

#include "test_bytes.h"

static char trace[4096];

static void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t length = strlen(trace);
    vsnprintf(trace + length, sizeof trace - length, format, arguments);
    va_end(arguments);
}

#endif
