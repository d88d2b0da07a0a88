/* SPDX-License-Identifier: MIT */
/*
 * Packed string tables, for names and texts: one literal of zero-terminated strings, and one number per string. A
 * packed table has half the size of a switch or of an array of pointers, and needs no relocations.
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
 * Returns the string of @p number, or NULL. @p strings contains @p count strings, one after the other.
 * @param numbers @p count of them, in the order of the strings; NULL: the strings are those of 0, 1, 2 ...
 */
const char *tendon_packed_string(const char *strings, const uint16_t *numbers, size_t count, unsigned number);

/** Returns the string of @p number from the strings of 0, 1, 2 ...; "unknown" if no string has this number. */
const char *tendon_packed_name(const char *strings, size_t count, unsigned number);

/** Returns the index of the string that equals the @p length bytes at @p name; -1 if no string does. */
int tendon_packed_index(const char *strings, size_t count, const char *name, size_t length);

/**
 * Returns the name or text of @p status from the table of one layer.
 * @param numbers the numbers of the statuses: layer * 256 + code
 * @param others called for all other statuses: tendon_status_name() or tendon_status_text()
 */
const char *tendon_packed_status(const char *strings, const uint16_t *numbers, size_t count, tendon_status status,
                                 const char *(*others)(tendon_status status));

#ifdef __cplusplus
}
#endif
#endif
