/* SPDX-License-Identifier: MIT */
/* For tests of Obvious: the calls of a handler, one word each, to be compared as a text. */
#ifndef OBVIOUS_TRACE_H
#define OBVIOUS_TRACE_H

#include "test_bytes.h"

extern char trace[4096];

void note(const char *format, ...);

#define expect(text)                                                                                                   \
    do {                                                                                                               \
        assert_string_equal(trace, text);                                                                              \
        trace[0] = '\0';                                                                                               \
    } while (0)

#endif
