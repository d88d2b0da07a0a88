/* SPDX-License-Identifier: MIT */
/* Inside the Obvious family only: fields that follow each other on the wire, read and written by tables. */
#ifndef OBVIOUS_FIELDS_H
#define OBVIOUS_FIELDS_H

#include "tendon/base/reader.h"
#include "tendon/base/writer.h"

/* Permitted values of a field. Those below 0x80 are the highest value; ONE_OR_MORE: not 0. */
enum {
    LIMIT_NONE = 0x7F,
    LIMIT_FRAME_MAX = 0x7E,
    LIMIT_OBJECT_SIZE = 0x7D,
    LIMIT_VERSION = 0x7C,
    LIMIT_VERSION_OR_ABSENT = 0x7B,
    LIMIT_BATTERY = 0x7A,
    LIMIT_SPECIAL = LIMIT_BATTERY, /* this and above */
    ONE_OR_MORE = 0x80
};

enum { FIELD_COPY = 0x40, FIELD_POINTER = 0x80, FIELD_LENGTH = 0x3F };

typedef struct field {
    uint8_t width; /* 1, 2, 4, 8: an integer; FIELD_COPY + n: n bytes; FIELD_POINTER + n: a pointer to n bytes */
    uint8_t limit; /* of an integer of 32 bits at most */
    uint8_t offset;
} field;

#define FIELD_INTEGER(type, member, limit)                                                                             \
    { sizeof(((type *)0)->member), limit, offsetof(type, member) }
#define FIELD_BYTES(type, member)                                                                                      \
    { FIELD_COPY + sizeof(((type *)0)->member), LIMIT_NONE, offsetof(type, member) }
#define FIELD_LENT(type, member, count)                                                                                \
    { FIELD_POINTER + (count), LIMIT_NONE, offsetof(type, member) }

/* Stores fields as far as the data reach. False if the value of one is not permitted. */
bool tendon_obvious_take_fields(const field *fields, size_t count, tendon_reader *reader, void *out);
void tendon_obvious_put_fields(const field *fields, size_t count, const void *from, tendon_writer *writer);

#endif
