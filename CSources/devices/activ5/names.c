/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"
#include "tendon/devices/activ5_codec.h"

static const uint16_t uuids[TENDON_ACTIV5_CHARACTERISTIC_COUNT] = {
    [TENDON_ACTIV5_TEXT_OUTPUT] = 0x5A01,   [TENDON_ACTIV5_TEXT_COMMAND] = 0x5A02, [TENDON_ACTIV5_FORCE] = 0xF0FE,
    [TENDON_ACTIV5_IMU] = 0xF0F5,           [TENDON_ACTIV5_TIMESTAMP] = 0xF0F3,    [TENDON_ACTIV5_UUID1] = 0xF0F7,
    [TENDON_ACTIV5_UUID2] = 0xF0F8,         [TENDON_ACTIV5_SAMPLE_RATE] = 0xF0FA,  [TENDON_ACTIV5_BATTERY] = 0x2A19,
    [TENDON_ACTIV5_SERIAL_NUMBER] = 0x2A25, [TENDON_ACTIV5_OLD_FORCE] = 0xF0F1,
};

uint16_t tendon_activ5_uuid(tendon_activ5_characteristic which) {
    return (unsigned)which < TENDON_ACTIV5_CHARACTERISTIC_COUNT ? uuids[which] : 0;
}

tendon_activ5_characteristic tendon_activ5_characteristic_of(const tendon_uuid *uuid) {
    uint16_t value = 0;
    if (tendon_uuid_as_u16(uuid, &value)) {
        for (unsigned i = 1; i < TENDON_ACTIV5_CHARACTERISTIC_COUNT; i++) {
            if (uuids[i] == value) {
                return (tendon_activ5_characteristic)i;
            }
        }
    }
    return TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN;
}

#define NUMBER(name, code, word, text) TENDON_LAYER_ACTIV5 * 256 + (code),
#define WORD(name, code, word, text) word "\0"
#define TEXT(name, code, word, text) text "\0"

static const uint16_t numbers[] = {TENDON_ACTIV5_STATUS_LIST(NUMBER)};
enum { NUMBER_COUNT = sizeof numbers / sizeof numbers[0] };

const char *tendon_activ5_status_name(tendon_status status) {
    return tendon_packed_status(TENDON_ACTIV5_STATUS_LIST(WORD), numbers, NUMBER_COUNT, status, tendon_status_name);
}

const char *tendon_activ5_status_text(tendon_status status) {
    return tendon_packed_status(TENDON_ACTIV5_STATUS_LIST(TEXT), numbers, NUMBER_COUNT, status, tendon_status_text);
}

bool tendon_activ5_recognize(const uint8_t *data, size_t length) {
    tendon_uuid uuid = tendon_uuid_from_u16(TENDON_ACTIV5_SERVICE);
    return tendon_ad_has_uuid(data, length, &uuid);
}

const char *tendon_activ5_message_type_name(tendon_activ5_message_type type) {
    static const char names[] = "unknown\0initialMessage\0isometric\0timestamp\0imu\0sn1\0sn2\0uuid1\0uuid2\0"
                                "battery\0serialNumber";
    return tendon_packed_name(names, TENDON_ACTIV5_MESSAGE_TYPE_COUNT, type);
}

/* ---- commands ---- */

const char *tendon_activ5_command_name(tendon_activ5_command command) {
    return tendon_packed_string(
        "doHandshake\0startIsometric\0tare\0stop\0sn1\0sn2\0uuid1\0uuid2\0battery\0serialNumber", NULL,
        TENDON_ACTIV5_COMMAND_COUNT, command);
}

const char *tendon_activ5_command_text(tendon_activ5_command command) {
    return tendon_packed_string("TVGTIME\0ISOM!\0TARE!\0STOP!\0SN1!\0SN2!\0ID1!\0ID2!\0"
                                "2A19\0"
                                "2A25",
                                NULL, TENDON_ACTIV5_COMMAND_COUNT, command);
}

tendon_activ5_characteristic tendon_activ5_command_read(tendon_activ5_command command) {
    switch (command) {
    case TENDON_ACTIV5_ASK_BATTERY:
        return TENDON_ACTIV5_BATTERY;
    case TENDON_ACTIV5_ASK_SERIAL_NUMBER:
        return TENDON_ACTIV5_SERIAL_NUMBER;
    default:
        return TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN;
    }
}

tendon_status tendon_activ5_encode_text(const char *text, size_t length, uint8_t terminator, uint8_t *out,
                                        size_t size) {
    if (length > TENDON_ACTIV5_TEXT_MAX - 2) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_writer_make(out, size);
    tendon_write_u8(&writer, 'A');
    tendon_write_bytes(&writer, text, length);
    tendon_write_u8(&writer, terminator);
    return tendon_writer_result(&writer);
}

tendon_status tendon_activ5_encode_command(tendon_activ5_command command, uint8_t terminator, uint8_t *out,
                                           size_t size) {
    if ((unsigned)command >= TENDON_ACTIV5_COMMAND_COUNT ||
        tendon_activ5_command_read(command) != TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const char *text = tendon_activ5_command_text(command);
    return tendon_activ5_encode_text(text, tendon_string_length(text), terminator, out, size);
}

tendon_status tendon_activ5_encode_sample_rate(int64_t rate, uint8_t out[2]) {
    if (rate < INT16_MIN || rate > INT16_MAX) {
        return TENDON_ACTIV5_ERROR_RANGE;
    }
    out[0] = (uint8_t)((uint64_t)rate & 0xFF);
    out[1] = (uint8_t)((uint64_t)rate >> 8 & 0xFF);
    return TENDON_OK;
}
