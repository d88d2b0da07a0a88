/* SPDX-License-Identifier: MIT */
/* The same packets over the belt's USB port: fixed handles, one byte of length. */
#include "internal.h"

enum { LONG_PAYLOAD = 255, PAYLOAD_MAX = 22, RAW_PAYLOAD_MAX = 244 };

static const struct {
    uint16_t characteristic;
    tendon_feelspace_handles handles;
} profile[] = {
    {TENDON_FEELSPACE_FIRMWARE_INFO, {30, 31, 0}},     {TENDON_FEELSPACE_KEEP_ALIVE, {32, 33, 34}},
    {TENDON_FEELSPACE_VIBRATION_COMMAND, {35, 36, 0}}, {TENDON_FEELSPACE_BUTTON_PRESS, {37, 38, 39}},
    {TENDON_FEELSPACE_PARAMETER_REQUEST, {40, 41, 0}}, {TENDON_FEELSPACE_PARAMETER_NOTIFICATION, {42, 43, 44}},
    {TENDON_FEELSPACE_BUZZER_COMMAND, {45, 46, 0}},    {TENDON_FEELSPACE_BATTERY_STATUS, {50, 51, 52}},
    {TENDON_FEELSPACE_SENSOR_COMMAND, {54, 55, 0}},    {TENDON_FEELSPACE_SENSOR_NOTIFICATION, {56, 57, 58}},
    {TENDON_FEELSPACE_ORIENTATION_DATA, {59, 60, 61}}, {TENDON_FEELSPACE_DEBUG_INPUT, {74, 75, 0}},
    {TENDON_FEELSPACE_DEBUG_OUTPUT, {76, 77, 78}},
};
enum { PROFILE_COUNT = sizeof profile / sizeof profile[0] };

bool tendon_feelspace_usb_handles(uint16_t characteristic, tendon_feelspace_handles *out) {
    for (size_t i = 0; i < PROFILE_COUNT; i++) {
        if (profile[i].characteristic == characteristic) {
            *out = profile[i].handles;
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
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, handles.configuration);
    tendon_write_u8(&writer, 2);
    tendon_write_u16le(&writer, enable);
    return tendon_writer_result(&writer);
}

tendon_status tendon_feelspace_encode_usb_read(uint16_t characteristic, uint8_t *out, size_t capacity) {
    return tendon_feelspace_encode_usb_write(characteristic, NULL, 0, out, capacity);
}

/* The characteristic that owns a handle of any kind; 0: none does. */
static uint16_t owner_of(uint8_t handle) {
    for (size_t i = 0; handle != 0 && i < PROFILE_COUNT; i++) {
        const tendon_feelspace_handles *h = &profile[i].handles;
        if (handle == h->declaration || handle == h->value || handle == h->configuration) {
            return profile[i].characteristic;
        }
    }
    return 0;
}

tendon_status tendon_feelspace_decode_usb_frame(const uint8_t *data, size_t length, tendon_feelspace_usb_frame *out,
                                                size_t *offset) {
    if (length == 0) {
        return feelspace_fail(TENDON_ERROR_INCOMPLETE, 0, offset);
    }
    uint16_t characteristic = owner_of(data[0]);
    if (characteristic == 0) {
        return feelspace_fail(TENDON_ERROR_MALFORMED, 0, offset);
    }
    if (length < 2) {
        return feelspace_fail(TENDON_ERROR_INCOMPLETE, 1, offset);
    }
    size_t most = characteristic == TENDON_FEELSPACE_SENSOR_NOTIFICATION ? RAW_PAYLOAD_MAX : PAYLOAD_MAX;
    size_t payload = data[1];
    if (payload > most) {
        return feelspace_fail(TENDON_ERROR_MALFORMED, 1, offset);
    }
    if (length - 2 < payload) {
        return feelspace_fail(TENDON_ERROR_INCOMPLETE, length, offset);
    }
    *out = (tendon_feelspace_usb_frame){characteristic, data + 2, payload};
    return (tendon_status)(2 + payload);
}
