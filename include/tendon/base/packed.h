/* SPDX-License-Identifier: MIT */
/*
 * Strings by number, packed: one literal of zero-terminated strings and the
 * numbers that they belong to. Half the size of a switch or of an array of
 * pointers, and nothing to relocate. For tables of names and texts.
 */
#ifndef TENDON_BASE_PACKED_H
#define TENDON_BASE_PACKED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The string of @p number, or NULL. @p strings holds @p count of them, one after the other.
 * @param numbers @p count of them, in the order of the strings; NULL: the strings are those of 0, 1, 2 ...
 */
const char *tendon_packed_string(const char *strings, const uint16_t *numbers, size_t count, unsigned number);

#ifdef __cplusplus
}
#endif
#endif
