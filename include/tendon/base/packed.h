/* SPDX-License-Identifier: MIT */
/*
 * Strings by number, packed: one literal of zero-terminated strings and the
 * numbers that they belong to. Half the size of a switch or of an array of
 * pointers, and nothing to relocate. For tables of names and texts.
 */
#ifndef TENDON_BASE_PACKED_H
#define TENDON_BASE_PACKED_H

#include "tendon/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** strlen(): the core has no libc. */
size_t tendon_string_length(const char *string);

/**
 * The string of @p number, or NULL. @p strings holds @p count of them, one after the other.
 * @param numbers @p count of them, in the order of the strings; NULL: the strings are those of 0, 1, 2 ...
 */
const char *tendon_packed_string(const char *strings, const uint16_t *numbers, size_t count, unsigned number);

/** Of the strings of 0, 1, 2 ... that of @p number; "unknown" when there is none. */
const char *tendon_packed_name(const char *strings, size_t count, unsigned number);

/** Which of the strings the @p length bytes at @p name are, from 0 on; -1: none. */
int tendon_packed_index(const char *strings, size_t count, const char *name, size_t length);

/**
 * A layer's names or texts of its own statuses.
 * @param numbers of its statuses: layer * 256 + code
 * @param others what answers for all other statuses: tendon_status_name() or tendon_status_text()
 */
const char *tendon_packed_status(const char *strings, const uint16_t *numbers, size_t count, tendon_status status,
                                 const char *(*others)(tendon_status status));

#ifdef __cplusplus
}
#endif
#endif
