/* SPDX-License-Identifier: MIT */
#include "tendon/devices/activ5_codec.h"

static const uint16_t uuids[TENDON_ACTIV5_CHARACTERISTIC_COUNT] = {
    [TENDON_ACTIV5_READ] = 0x5A01,          [TENDON_ACTIV5_WRITE] = 0x5A02,       [TENDON_ACTIV5_FORCE] = 0xF0FE,
    [TENDON_ACTIV5_IMU] = 0xF0F5,           [TENDON_ACTIV5_TIMESTAMP] = 0xF0F3,   [TENDON_ACTIV5_UUID1] = 0xF0F7,
    [TENDON_ACTIV5_UUID2] = 0xF0F8,         [TENDON_ACTIV5_SAMPLE_RATE] = 0xF0FA, [TENDON_ACTIV5_BATTERY] = 0x2A19,
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

const char *tendon_activ5_status_name(tendon_status status) {
    switch (status) {
#define NAME(name, code, word, text)                                                                                   \
    case TENDON_ACTIV5_ERROR_##name:                                                                                   \
        return word;
        TENDON_ACTIV5_STATUS_LIST(NAME)
#undef NAME
    default:
        return tendon_status_name(status);
    }
}

const char *tendon_activ5_status_text(tendon_status status) {
    switch (status) {
#define TEXT(name, code, word, text)                                                                                   \
    case TENDON_ACTIV5_ERROR_##name:                                                                                   \
        return text;
        TENDON_ACTIV5_STATUS_LIST(TEXT)
#undef TEXT
    default:
        return tendon_status_text(status);
    }
}

bool tendon_activ5_recognize(const uint8_t *data, size_t length) {
    tendon_uuid uuid = tendon_uuid_from_u16(TENDON_ACTIV5_SERVICE);
    return tendon_ad_has_uuid(data, length, &uuid);
}

/* Texts of one length and no pointer between them: these tables take no relocation. */

const char *tendon_activ5_message_type_name(tendon_activ5_message_type type) {
    static const char names[TENDON_ACTIV5_MESSAGE_TYPE_COUNT][15] = {
        "unknown", "initialMessage", "isometric", "timestamp", "imu",         "sn1",
        "sn2",     "uuid1",          "uuid2",     "battery",   "serialNumber"};
    return names[(unsigned)type < TENDON_ACTIV5_MESSAGE_TYPE_COUNT ? type : 0];
}

/* ---- commands ---- */

static const struct {
    char name[15];
    char text[9];
} commands[TENDON_ACTIV5_COMMAND_COUNT] = {
    [TENDON_ACTIV5_DO_HANDSHAKE] = {"doHandshake", "TVGTIME"},
    [TENDON_ACTIV5_START_ISOMETRIC] = {"startIsometric", "ISOM!"},
    [TENDON_ACTIV5_TARE] = {"tare", "TARE!"},
    [TENDON_ACTIV5_STOP] = {"stop", "STOP!"},
    [TENDON_ACTIV5_ASK_SN1] = {"sn1", "SN1!"},
    [TENDON_ACTIV5_ASK_SN2] = {"sn2", "SN2!"},
    [TENDON_ACTIV5_ASK_UUID1] = {"uuid1", "ID1!"},
    [TENDON_ACTIV5_ASK_UUID2] = {"uuid2", "ID2!"},
    [TENDON_ACTIV5_ASK_BATTERY] = {"battery", "2A19"},
    [TENDON_ACTIV5_ASK_SERIAL_NUMBER] = {"serialNumber", "2A25"},
};

const char *tendon_activ5_command_name(tendon_activ5_command command) {
    return (unsigned)command < TENDON_ACTIV5_COMMAND_COUNT ? commands[command].name : NULL;
}

const char *tendon_activ5_command_text(tendon_activ5_command command) {
    return (unsigned)command < TENDON_ACTIV5_COMMAND_COUNT ? commands[command].text : NULL;
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
    const char *text = commands[command].text;
    size_t length = 0;
    while (text[length] != '\0') {
        length++;
    }
    return tendon_activ5_encode_text(text, length, terminator, out, size);
}

tendon_status tendon_activ5_encode_sample_rate(int64_t rate, uint8_t out[2]) {
    if (rate < INT16_MIN || rate > INT16_MAX) {
        return TENDON_ACTIV5_ERROR_RANGE;
    }
    out[0] = (uint8_t)((uint64_t)rate & 0xFF);
    out[1] = (uint8_t)((uint64_t)rate >> 8 & 0xFF);
    return TENDON_OK;
}
