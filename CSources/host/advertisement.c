/* SPDX-License-Identifier: MIT */
#include "tendon/host/advertisement.h"

tendon_ad_iterator tendon_ad_begin(const uint8_t *data, size_t length) {
    tendon_ad_iterator iterator = {tendon_reader_make(data, length)};
    return iterator;
}

bool tendon_ad_next(tendon_ad_iterator *iterator, tendon_ad_structure *out) {
    tendon_reader *reader = &iterator->reader;
    if (!tendon_reader_ok(reader) || tendon_reader_remaining(reader) == 0) {
        return false;
    }
    size_t start = reader->position;
    uint8_t length = tendon_read_u8(reader);
    if (length == 0) {
        reader->position = reader->length;
        return false;
    }
    uint8_t type = tendon_read_u8(reader);
    const uint8_t *bytes = tendon_read_bytes(reader, (size_t)length - 1);
    if (bytes == NULL) {
        reader->error_offset = start;
        return false;
    }
    out->type = type;
    out->data = bytes;
    out->length = (size_t)length - 1;
    return true;
}

bool tendon_ad_find(const uint8_t *data, size_t length, uint8_t type, tendon_ad_structure *out) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    tendon_ad_structure structure;
    while (tendon_ad_next(&iterator, &structure)) {
        if (structure.type == type) {
            *out = structure;
            return true;
        }
    }
    return false;
}
