/* SPDX-License-Identifier: MIT */
#include "advertisement_part.h"

#define INVALID 0xFFFFFFFFu
#define REPLACEMENT_SIZE 3

/* Bytes of the character that starts with this one; 0: none starts so. */
static size_t size_of(uint8_t first) {
    return first < 0x80                     ? 1
           : first >= 0xC2 && first <= 0xDF ? 2
           : first >= 0xE0 && first <= 0xEF ? 3
           : first >= 0xF0 && first <= 0xF4 ? 4
                                            : 0;
}

/* Returns the character of @p size bytes, or INVALID if they are not valid UTF-8. */
static uint32_t code_of(const uint8_t *bytes, size_t size) {
    if (size == 1) {
        return bytes[0];
    }
    uint32_t code = bytes[0] & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xC0u) != 0x80u) {
            return INVALID;
        }
        code = code << 6 | (bytes[i] & 0x3Fu);
    }
    bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
    return overlong || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) ? INVALID : code;
}

/* What moves the cursor, ends a line or reorders text on a terminal. */
static bool is_unsafe(uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code <= 0x9F) || code == 0x061C || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF ||
           code == INVALID;
}

static size_t text_of(tendon_reader *reader, char *out, size_t capacity) {
    static const uint8_t replacement[REPLACEMENT_SIZE] = {0xEF, 0xBF, 0xBD};
    size_t written = 0;
    if (capacity == 0) {
        return 0;
    }
    while (reader->position < reader->length && reader->data[reader->position] != 0) {
        size_t size = size_of(reader->data[reader->position]);
        tendon_reader ahead = *reader;
        //@ split size;
        const uint8_t *bytes = tendon_read_bytes(&ahead, size);
        uint32_t code = size != 0 && bytes != NULL ? code_of(bytes, size) : INVALID;
        /* of what is not valid one byte is taken */
        reader->position = code != INVALID ? ahead.position : reader->position + 1;
        if (bytes == NULL || is_unsafe(code)) {
            bytes = replacement;
            size = REPLACEMENT_SIZE;
        }
        //@ split size;
        if (written + size >= capacity) {
            break;
        }
        memcpy(out + written, bytes, size);
        written += size;
    }
    out[written] = '\0';
    return written;
}

size_t tendon_ad_text(const uint8_t *data, size_t length, char *out, size_t capacity) {
    tendon_reader reader = tendon_reader_make(data, length);
    return text_of(&reader, out, capacity);
}

tendon_status tendon_ad_name(const uint8_t *data, size_t length, char *out, size_t capacity) {
    tendon_reader name;
    if (tendon_ad_find_name_part(data, length, &name) == 0) {
        return TENDON_ERROR_NOT_FOUND;
    }
    return (tendon_status)text_of(&name, out, capacity);
}
