/* SPDX-License-Identifier: MIT */
#include "fields.h"
#include "tendon/devices/obvious_payload.h"

#include <string.h>

enum { BATTERY_UNKNOWN = 255, INTEGER_MAX = 8 };

static bool permits(const field *item, uint32_t value) {
    static const uint32_t highest[] = {[LIMIT_NONE - LIMIT_SPECIAL] = UINT32_MAX,
                                       [LIMIT_FRAME_MAX - LIMIT_SPECIAL] = TENDON_OBVIOUS_FRAME_MAX,
                                       [LIMIT_OBJECT_SIZE - LIMIT_SPECIAL] = TENDON_OBVIOUS_OBJECT_MAX,
                                       [LIMIT_VERSION - LIMIT_SPECIAL] = TENDON_OBVIOUS_VERSION_MAX,
                                       [LIMIT_VERSION_OR_ABSENT - LIMIT_SPECIAL] = TENDON_OBVIOUS_VERSION_MAX,
                                       [LIMIT_BATTERY - LIMIT_SPECIAL] = 100};
    uint8_t limit = item->limit & (ONE_OR_MORE - 1);
    if (((item->limit & ONE_OR_MORE) != 0 && value == 0) ||
        (limit == LIMIT_FRAME_MAX && value < TENDON_OBVIOUS_FRAME_MAX_LOWEST)) {
        return false;
    }
    return value <= (limit < LIMIT_SPECIAL ? limit : highest[limit - LIMIT_SPECIAL]) ||
           (limit == LIMIT_VERSION_OR_ABSENT && value == TENDON_OBVIOUS_VERSION_ABSENT) ||
           (limit == LIMIT_BATTERY && value == BATTERY_UNKNOWN);
}

/* True where integers in memory have the order of the wire; the compiler knows. */
static bool is_little_endian(void) {
    const uint16_t probe = 1;
    return *(const uint8_t *)&probe == 1;
}

/* The bytes of a field in the other order, between memory and wire. */
static const uint8_t *ordered(const field *item, const uint8_t *bytes, uint8_t turned[INTEGER_MAX]) {
    if (is_little_endian() || item->width > INTEGER_MAX) {
        return bytes;
    }
    for (size_t i = 0; i < item->width; i++) {
        turned[i] = bytes[item->width - 1u - i];
    }
    return turned;
}

/* Stores one field. False if its value is not permitted. */
static bool take_field(const field *item, tendon_reader *reader, void *out) {
    size_t length = item->width & FIELD_LENGTH;
    uint8_t *to = (uint8_t *)out + item->offset;
    uint8_t turned[INTEGER_MAX];
    const uint8_t *bytes = tendon_read_bytes(reader, length);
    if (item->width >= FIELD_POINTER) {
        memcpy(to, &bytes, sizeof bytes);
        return true;
    }
    if (bytes == NULL) {
        return false;
    }
    memcpy(to, ordered(item, bytes, turned), length);
    uint32_t value = 0; /* of a longer field its first part: not limited */
    while (length > 0) {
        value = value << 8 | bytes[--length];
    }
    return permits(item, value);
}

bool tendon_obvious_take_fields(const field *fields, size_t count, tendon_reader *reader, void *out) {
    bool permitted = true;
    for (size_t i = 0; i < count; i++) {
        permitted &= take_field(&fields[i], reader, out);
    }
    return permitted;
}

void tendon_obvious_put_fields(const field *fields, size_t count, const void *from, tendon_writer *writer) {
    for (size_t i = 0; i < count; i++) {
        const field *item = &fields[i];
        uint8_t turned[INTEGER_MAX];
        const uint8_t *member = (const uint8_t *)from + item->offset, *bytes = member;
        if (item->width >= FIELD_POINTER) {
            memcpy(&bytes, member, sizeof bytes);
        }
        tendon_write_bytes(writer, ordered(item, bytes, turned), item->width & (size_t)FIELD_LENGTH);
    }
}
