/* SPDX-License-Identifier: MIT */
/* What a device reports and requests, and the calls of the application. */
#include "device_parts.h"
#include "tendon/base/packed.h"

bool tendon_activ5_device_has(const tendon_activ5_device *device, tendon_activ5_characteristic which) {
    unsigned mask = 1u << which;
    if (which == TENDON_ACTIV5_FORCE && device->options->accept_f0f1) {
        mask |= 1u << TENDON_ACTIV5_OLD_FORCE;
    }
    return (device->characteristics & mask) != 0;
}

/* ---- events ---- */

bool tendon_activ5_device_report(tendon_activ5_device *device, unsigned kind, const tendon_activ5_message *message,
                                 int32_t detail) {
    tendon_activ5_event event = {.kind = (tendon_activ5_event_kind)kind,
                                 .device = device,
                                 .received_at = device->received_at,
                                 .status = detail < 0 ? detail : TENDON_OK,
                                 .message = message,
                                 .on = detail > 0};
    if (kind == TENDON_ACTIV5_EVENT_IMU && device->received_at != 0) {
        tendon_clock_time time = tendon_clock_at(&device->model, device->ticks * ACTIV5_TICK_NS, device->received_at);
        event.sampled_at = time.sampled_at;
        event.error_us = time.error_us;
    }
    device->on_event(device->event_context, &event, device->now);
    return device->link == TENDON_ACTIV5_LINK_UP;
}

void tendon_activ5_device_reject(tendon_activ5_device *device, tendon_activ5_characteristic which,
                                 tendon_status status) {
    const tendon_activ5_event event = {.kind = TENDON_ACTIV5_EVENT_ERROR,
                                       .device = device,
                                       .received_at = device->received_at,
                                       .status = status,
                                       .characteristic = which};
    device->on_event(device->event_context, &event, device->now);
}

/* ---- requests ---- */

static tendon_status request_value(tendon_activ5_device *device, tendon_activ5_request_kind kind,
                                   tendon_activ5_characteristic which, const uint8_t *value, size_t length) {
    tendon_activ5_request request = {
        .kind = kind, .device = device, .characteristic = which, .value = value, .length = length};
    if (device->on_request == NULL) {
        return TENDON_ERROR_DISCONNECTED;
    }
    /* A timer that is late has its own time, but what it requests is sent now. */
    uint64_t now = device->now > device->clock ? device->now : device->clock;
    tendon_status status = device->on_request(device->request_context, &request, now);
    return status < 0 ? status : TENDON_OK;
}

tendon_status tendon_activ5_device_request(tendon_activ5_device *device, tendon_activ5_request_kind kind,
                                           tendon_activ5_characteristic which) {
    return request_value(device, kind, which, NULL, 0);
}

void tendon_activ5_device_drop_connection(tendon_activ5_device *device) {
    device->state = TENDON_ACTIV5_STATE_DISCONNECTED;
    device->discovered = device->initialized = false;
    device->starts_force = device->offered = false;
    device->characteristics = 0;
    device->squeeze = (tendon_activ5_squeeze){0};
    tendon_activ5_deframer_reset(&device->deframer);
}

static tendon_status write_text(tendon_activ5_device *device, const char *text, size_t length) {
    uint8_t framed[TENDON_ACTIV5_SEND_MAX + 2];
    if (!tendon_activ5_device_has(device, TENDON_ACTIV5_TEXT_COMMAND)) {
        return TENDON_ACTIV5_ERROR_NOT_READY;
    }
    tendon_status size = tendon_activ5_encode_text(text, length, device->options->terminator, framed, sizeof framed);
    return size < 0
               ? size
               : request_value(device, TENDON_ACTIV5_REQUEST_WRITE, TENDON_ACTIV5_TEXT_COMMAND, framed, (size_t)size);
}

static tendon_status write_command(tendon_activ5_device *device, tendon_activ5_command command) {
    const char *text = tendon_activ5_command_text(command);
    return write_text(device, text, tendon_string_length(text));
}

tendon_status tendon_activ5_device_handshake(tendon_activ5_device *device) {
    tendon_status status = write_command(device, TENDON_ACTIV5_DO_HANDSHAKE);
    if (status == TENDON_OK && !tendon_activ5_device_has(device, TENDON_ACTIV5_UUID1) &&
        !tendon_activ5_device_has(device, TENDON_ACTIV5_UUID2)) {
        (void)write_command(device, TENDON_ACTIV5_ASK_UUID1);
        (void)write_command(device, TENDON_ACTIV5_ASK_UUID2);
    }
    if (status == TENDON_OK && !tendon_activ5_device_has(device, TENDON_ACTIV5_SERIAL_NUMBER)) {
        (void)write_command(device, TENDON_ACTIV5_ASK_SN1);
        (void)write_command(device, TENDON_ACTIV5_ASK_SN2);
    }
    return status;
}

/* ---- link ---- */

tendon_status tendon_activ5_device_connect(tendon_activ5_device *device, uint64_t now) {
    device->now = now;
    tendon_activ5_link_state link = device->link;
    tendon_activ5_data_state state = device->state;
    if (link > TENDON_ACTIV5_LINK_CONNECTING) {
        return TENDON_ERROR_WRONG_STATE;
    }
    device->state = TENDON_ACTIV5_STATE_CONNECTING;
    device->link = TENDON_ACTIV5_LINK_CONNECTING;
    device->forget = device->reconnects = device->disconnect_requested = false;
    device->listed = true; /* also one that was lost, when the program itself connects it again */
    tendon_status status =
        tendon_activ5_device_request(device, TENDON_ACTIV5_REQUEST_CONNECT, TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN);
    if (status < 0) { /* an attempt in progress continues */
        device->state = state;
        device->link = link;
    }
    return status;
}

tendon_status tendon_activ5_device_disconnect(tendon_activ5_device *device, uint64_t now) {
    device->now = now;
    if (device->link == TENDON_ACTIV5_LINK_NONE) {
        return TENDON_ERROR_WRONG_STATE;
    }
    device->disconnect_requested = true;
    if (device->link == TENDON_ACTIV5_LINK_CLOSING) {
        return TENDON_OK;
    }
    tendon_activ5_device_drop_connection(device);
    device->opening = false;
    device->link = TENDON_ACTIV5_LINK_CLOSING;
    return tendon_activ5_device_request(device, TENDON_ACTIV5_REQUEST_DISCONNECT, TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN);
}

/* ---- commands ---- */

tendon_status tendon_activ5_device_send(tendon_activ5_device *device, tendon_activ5_command command, uint64_t now) {
    device->now = now;
    if ((unsigned)command >= TENDON_ACTIV5_COMMAND_COUNT) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_activ5_characteristic read = tendon_activ5_command_read(command);
    if (read != TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN) {
        return tendon_activ5_device_has(device, read)
                   ? tendon_activ5_device_request(device, TENDON_ACTIV5_REQUEST_READ, read)
                   : TENDON_ACTIV5_ERROR_NOT_READY;
    }
    if (command == TENDON_ACTIV5_DO_HANDSHAKE) {
        return tendon_activ5_device_handshake(device);
    }
    tendon_status status = write_command(device, command);
    if (status == TENDON_OK && command == TENDON_ACTIV5_STOP) {
        device->state = TENDON_ACTIV5_STATE_STOP;
    }
    return status;
}

tendon_status tendon_activ5_device_send_text(tendon_activ5_device *device, const char *text, size_t length,
                                             uint64_t now) {
    device->now = now;
    return write_text(device, text, length);
}

/* Enables or disables notifications of the force. UNKNOWN if the device has no such characteristic. */
static tendon_status force(tendon_activ5_device *device, tendon_activ5_request_kind kind) {
    bool newer = (device->characteristics >> TENDON_ACTIV5_FORCE & 1u) != 0;
    return tendon_activ5_device_request(device, kind, newer ? TENDON_ACTIV5_FORCE : TENDON_ACTIV5_OLD_FORCE);
}

tendon_status tendon_activ5_device_start_isometric(tendon_activ5_device *device, uint64_t now) {
    device->now = now;
    if (tendon_activ5_device_has(device, TENDON_ACTIV5_FORCE)) {
        return force(device, TENDON_ACTIV5_REQUEST_SUBSCRIBE);
    }
    return write_command(device, TENDON_ACTIV5_START_ISOMETRIC);
}

tendon_status tendon_activ5_device_stop(tendon_activ5_device *device, uint64_t now) {
    device->now = now;
    device->starts_force = false;
    if (!tendon_activ5_device_has(device, TENDON_ACTIV5_FORCE)) {
        return tendon_activ5_device_send(device, TENDON_ACTIV5_STOP, now);
    }
    tendon_status status = force(device, TENDON_ACTIV5_REQUEST_UNSUBSCRIBE);
    if (status == TENDON_OK) {
        device->state = TENDON_ACTIV5_STATE_STOP;
    }
    return status;
}

tendon_status tendon_activ5_device_tare(tendon_activ5_device *device, uint64_t now) {
    device->now = now;
    return write_command(device, TENDON_ACTIV5_TARE);
}

static tendon_status imu(tendon_activ5_device *device, tendon_activ5_request_kind kind) {
    if (!device->discovered) {
        return TENDON_ACTIV5_ERROR_NOT_READY;
    }
    return tendon_activ5_device_has(device, TENDON_ACTIV5_IMU)
               ? tendon_activ5_device_request(device, kind, TENDON_ACTIV5_IMU)
               : TENDON_ACTIV5_ERROR_IMU_UNSUPPORTED;
}

tendon_status tendon_activ5_device_start_imu(tendon_activ5_device *device, uint64_t now) {
    device->now = now;
    return imu(device, TENDON_ACTIV5_REQUEST_SUBSCRIBE);
}

tendon_status tendon_activ5_device_stop_imu(tendon_activ5_device *device, uint64_t now) {
    device->now = now;
    return imu(device, TENDON_ACTIV5_REQUEST_UNSUBSCRIBE);
}

tendon_status tendon_activ5_device_set_sample_rate(tendon_activ5_device *device, int64_t rate, uint64_t now) {
    device->now = now;
    uint8_t value[2];
    if (!tendon_activ5_device_has(device, TENDON_ACTIV5_SAMPLE_RATE)) {
        return device->discovered ? TENDON_ACTIV5_ERROR_UNSUPPORTED : TENDON_ACTIV5_ERROR_NOT_READY;
    }
    tendon_status status = tendon_activ5_encode_sample_rate(rate, value);
    return status < 0
               ? status
               : request_value(device, TENDON_ACTIV5_REQUEST_WRITE, TENDON_ACTIV5_SAMPLE_RATE, value, sizeof value);
}

void tendon_activ5_device_set_evergreen(tendon_activ5_device *device, bool on, uint64_t now) {
    device->evergreen = on;
    device->evergreen_deadline = activ5_after(now, TENDON_ACTIV5_EVERGREEN_MS);
}

/* ---- known values ---- */

tendon_status tendon_activ5_device_get_battery(tendon_activ5_device *device, uint64_t now) {
    device->now = now;
    if (device->has_battery) {
        return device->battery;
    }
    if (tendon_activ5_device_has(device, TENDON_ACTIV5_BATTERY)) {
        (void)tendon_activ5_device_request(device, TENDON_ACTIV5_REQUEST_READ, TENDON_ACTIV5_BATTERY);
    }
    return TENDON_ACTIV5_ERROR_BATTERY_LEVEL_NOT_READABLE;
}

tendon_status tendon_activ5_device_get_serial_number(const tendon_activ5_device *device) {
    if (device->serial_number.known) {
        return device->serial_number.length;
    }
    bool absent = device->discovered && !tendon_activ5_device_has(device, TENDON_ACTIV5_SERIAL_NUMBER);
    return absent ? 0 : TENDON_ACTIV5_ERROR_NOT_READY;
}

tendon_status tendon_activ5_device_get_uuid(const tendon_activ5_device *device, uint8_t *out, size_t size) {
    if (!device->uuid1.known || !device->uuid2.known) {
        return TENDON_ACTIV5_ERROR_NOT_READY;
    }
    return tendon_activ5_join_uuid(device->uuid1.bytes, device->uuid1.length, device->uuid2.bytes, device->uuid2.length,
                                   out, size);
}
