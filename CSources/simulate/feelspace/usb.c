/* SPDX-License-Identifier: MIT */
/* The same packets over the belt's USB port: fixed handles, one byte of length. */
#include "tendon/simulate/feelspace_usb.h"

#include "tendon/base/reader.h"
#include "tendon/base/writer.h"

enum { LONG_PAYLOAD = 255, PAYLOAD_MAX = 22, RAW_PAYLOAD_MAX = 244 };

/* Of each characteristic FExx: the handle of its declaration. Value and configuration follow. */
static const struct {
    uint8_t number, declaration, configured;
} profile[] = {
    {0x01, 30, 0}, {0x02, 32, 1}, {0x03, 35, 0}, {0x04, 37, 1}, {0x05, 40, 0}, {0x06, 42, 1}, {0x07, 45, 0},
    {0x09, 50, 1}, {0x0A, 54, 0}, {0x0B, 56, 1}, {0x0C, 59, 1}, {0x13, 74, 0}, {0x14, 76, 1},
};
enum { PROFILE_COUNT = sizeof profile / sizeof profile[0], NUMBERS = 0xFE00 };

bool tendon_feelspace_usb_handles(uint16_t characteristic, tendon_feelspace_handles *out) {
    for (size_t i = 0; i < PROFILE_COUNT; i++) {
        if ((NUMBERS | profile[i].number) == characteristic) {
            out->declaration = profile[i].declaration;
            out->value = (uint8_t)(profile[i].declaration + 1);
            out->configuration = profile[i].configured != 0 ? (uint8_t)(profile[i].declaration + 2) : 0;
            return true;
        }
    }
    return false;
}

tendon_status tendon_feelspace_encode_usb_write(uint16_t characteristic, const uint8_t *payload, size_t length,
                                                uint8_t *out, size_t capacity) {
    tendon_feelspace_handles handles;
    if (!tendon_feelspace_usb_handles(characteristic, &handles)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, handles.value);
    tendon_write_u8(&writer, length < LONG_PAYLOAD ? (uint8_t)length : LONG_PAYLOAD);
    tendon_write_bytes(&writer, payload, length);
    return tendon_writer_result(&writer);
}

tendon_status tendon_feelspace_encode_usb_notify(uint16_t characteristic, bool enable, uint8_t *out, size_t capacity) {
    tendon_feelspace_handles handles;
    if (!tendon_feelspace_usb_handles(characteristic, &handles) || handles.configuration == 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    const uint8_t bytes[] = {handles.configuration, 2, enable, 0};
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, bytes, sizeof bytes);
    return tendon_writer_result(&writer);
}

tendon_status tendon_feelspace_encode_usb_read(uint16_t characteristic, uint8_t *out, size_t capacity) {
    return tendon_feelspace_encode_usb_write(characteristic, NULL, 0, out, capacity);
}

/* The characteristic that owns a handle of any kind; 0: none does. */
static uint16_t owner_of(uint8_t handle) {
    for (size_t i = 0; i < PROFILE_COUNT; i++) {
        if (handle >= profile[i].declaration && handle <= profile[i].declaration + 1 + profile[i].configured) {
            return (uint16_t)(NUMBERS | profile[i].number);
        }
    }
    return 0;
}

static tendon_status fail(tendon_status status, size_t at, size_t *offset) {
    if (offset != NULL) {
        *offset = at;
    }
    return status;
}

tendon_status tendon_feelspace_decode_usb_frame(const uint8_t *data, size_t length, tendon_feelspace_usb_frame *out,
                                                size_t *offset) {
    if (length == 0) {
        return fail(TENDON_ERROR_INCOMPLETE, 0, offset);
    }
    uint16_t characteristic = owner_of(data[0]);
    if (characteristic == 0) {
        return fail(TENDON_ERROR_MALFORMED, 0, offset);
    }
    if (length < 2) {
        return fail(TENDON_ERROR_INCOMPLETE, 1, offset);
    }
    size_t most = characteristic == TENDON_FEELSPACE_SENSOR_NOTIFICATION ? RAW_PAYLOAD_MAX : PAYLOAD_MAX;
    size_t payload = data[1];
    if (payload > most) {
        return fail(TENDON_ERROR_MALFORMED, 1, offset);
    }
    if (length - 2 < payload) {
        return fail(TENDON_ERROR_INCOMPLETE, length, offset);
    }
    *out = (tendon_feelspace_usb_frame){characteristic, data + 2, payload};
    return (tendon_status)(2 + payload);
}
