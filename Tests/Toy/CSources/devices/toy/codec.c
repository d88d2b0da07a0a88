/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"
#include "tendon/devices/toy_codec.h"

#define NUMBER(name, code, text) TENDON_LAYER_TOY * 256 + (code),
#define NAME(name, code, text) "TOY_ERROR_" #name "\0"
#define TEXT(name, code, text) text "\0"

static const uint16_t numbers[] = {TENDON_TOY_STATUS_LIST(NUMBER)};
enum { COUNT = sizeof numbers / sizeof numbers[0], LEVEL_SIZE = 2, PERCENT_MAX = 100 };

const char *tendon_toy_status_name(tendon_status status) {
    return tendon_packed_status(TENDON_TOY_STATUS_LIST(NAME), numbers, COUNT, status, tendon_status_name);
}

const char *tendon_toy_status_text(tendon_status status) {
    return tendon_packed_status(TENDON_TOY_STATUS_LIST(TEXT), numbers, COUNT, status, tendon_status_text);
}

tendon_status tendon_toy_decode_level(const uint8_t *data, size_t length, tendon_toy_level *out) {
    if (length != LEVEL_SIZE) {
        return TENDON_TOY_ERROR_LENGTH;
    }
    tendon_reader reader = tendon_reader_make(data, length);
    tendon_toy_level level = {.sequence = tendon_read_u8(&reader)};
    level.percent = tendon_read_u8(&reader);
    if (level.percent > PERCENT_MAX) {
        return TENDON_TOY_ERROR_RANGE;
    }
    *out = level;
    return TENDON_OK;
}

bool tendon_toy_recognize(const uint8_t *data, size_t length) {
    const tendon_uuid service = tendon_uuid_from_u16(TENDON_TOY_SERVICE);
    return tendon_ad_has_uuid(data, length, &service);
}
