/* SPDX-License-Identifier: MIT */
#include "obvious_trace.h"

char trace[4096];

void note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t length = strlen(trace);
    vsnprintf(trace + length, sizeof trace - length, format, arguments);
    va_end(arguments);
}
