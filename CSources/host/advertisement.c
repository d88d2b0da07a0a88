/* SPDX-License-Identifier: MIT */
#include "advertisement_part.h"

tendon_ad_iterator tendon_ad_begin(const uint8_t *data, size_t length) {
    tendon_ad_iterator iterator = {tendon_reader_make(data, length)};
    return iterator;
}

bool tendon_ad_next_part(tendon_ad_iterator *iterator, uint8_t *type, tendon_reader *value) {
    tendon_reader *reader = &iterator->reader;
    size_t start = reader->position;
    *type = 0;
    *value = *reader;
    if (!tendon_reader_ok(reader) || tendon_reader_remaining(reader) == 0) {
        return false;
    }
    uint8_t length = tendon_read_u8(reader);
    if (length == 0) {
        reader->position = reader->length;
        return false;
    }
    *type = tendon_read_u8(reader);
    value->position = reader->position;
    if (tendon_read_bytes(reader, (size_t)length - 1) == NULL) {
        reader->error_offset = start;
        return false;
    }
    value->length = reader->position;
    return true;
}

static void make_structure(uint8_t type, const tendon_reader *value, tendon_ad_structure *out) {
    out->type = type;
    out->data = value->data + value->position;
    out->length = tendon_reader_remaining(value);
}

bool tendon_ad_next(tendon_ad_iterator *iterator, tendon_ad_structure *out) {
    uint8_t type;
    tendon_reader value;
    bool found = tendon_ad_next_part(iterator, &type, &value);
    if (found) {
        make_structure(type, &value, out);
    }
    return found;
}

tendon_status tendon_ad_check(const uint8_t *data, size_t length, size_t *offset) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    tendon_reader value;
    uint8_t type;
    while (tendon_ad_next_part(&iterator, &type, &value)) {
    }
    if (offset != NULL) {
        *offset = tendon_reader_ok(&iterator.reader) ? length : iterator.reader.error_offset;
    }
    return iterator.reader.status;
}

bool tendon_ad_find_part(const uint8_t *data, size_t length, uint8_t type, tendon_reader *value) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    uint8_t found;
    while (tendon_ad_next_part(&iterator, &found, value)) {
        if (found == type) {
            return true;
        }
    }
    return false;
}

static bool has_name(const uint8_t *data, size_t length, uint8_t type, tendon_reader *value) {
    return tendon_ad_find_part(data, length, type, value) && tendon_reader_remaining(value) > 0;
}

uint8_t tendon_ad_find_name_part(const uint8_t *data, size_t length, tendon_reader *value) {
    if (has_name(data, length, TENDON_AD_NAME_COMPLETE, value)) {
        return TENDON_AD_NAME_COMPLETE;
    }
    return has_name(data, length, TENDON_AD_NAME_SHORTENED, value) ? TENDON_AD_NAME_SHORTENED : 0;
}

bool tendon_ad_find_name(const uint8_t *data, size_t length, tendon_ad_structure *out) {
    tendon_reader value;
    uint8_t type = tendon_ad_find_name_part(data, length, &value);
    if (type != 0) {
        make_structure(type, &value, out);
    }
    return type != 0;
}

bool tendon_ad_find(const uint8_t *data, size_t length, uint8_t type, tendon_ad_structure *out) {
    tendon_reader value;
    bool found = tendon_ad_find_part(data, length, type, &value);
    if (found) {
        make_structure(type, &value, out);
    }
    return found;
}
