/* SPDX-License-Identifier: MIT */
/* Texts with a terminator, without the library's functions: the core links freestanding. */
#ifndef TENDON_OSC_TEXT_H
#define TENDON_OSC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

static inline size_t tendon_osc_length_of(const char *text) {
    size_t length = 0;
    while (text[length] != 0) {
        length++;
    }
    return length;
}

/** Whether a character is one of those of @p set; the terminator is none. */
static inline bool tendon_osc_is_one_of(char c, const char *set) {
    for (; *set != 0; set++) {
        if (*set == c) {
            return true;
        }
    }
    return false;
}

#endif
