/* SPDX-License-Identifier: MIT */
/* Dates of fields as text of ISO 8601, and back. */
#ifndef TENDON_DEFINITION_DATE_H
#define TENDON_DEFINITION_DATE_H

#include "tendon/definition/definition.h"

/* "2026-11-29T13:07:30.123456Z" */
enum { TENDON_DATE_SIZE = 27 };

/* Decodes field->size bytes of DATE and EPOCH. Returns the length of the text; 0: the device has no date;
 * TENDON_ERROR_MALFORMED: there is no such date. */
tendon_status tendon_date_decode(const tendon_field *field, const uint8_t *bytes, char out[TENDON_DATE_SIZE]);
/* Encodes a text. False: it is none, or the field cannot have it. */
bool tendon_date_encode(const tendon_field *field, const char *text, size_t length, uint8_t *out);
/*
 * "2026-11-29", "2026-11-29T13:07", "2026-11-29T13:07:30".
 * @param is_utc the result is UTC, and a time can have "Z" or "+01:00" behind it. Otherwise it is that of a place,
 * which only the caller knows: a zone is refused.
 */
bool tendon_date_parse(const char *text, size_t length, bool is_utc, int64_t *seconds);

#endif
