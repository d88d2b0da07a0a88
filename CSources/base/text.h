/* SPDX-License-Identifier: MIT */
/* Digits for the parsers of this component. */
#ifndef TENDON_BASE_TEXT_H
#define TENDON_BASE_TEXT_H

/** 0 to 15, or -1. */
static inline int tendon_hex_value(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return -1;
}

#endif
