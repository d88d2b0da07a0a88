/* SPDX-License-Identifier: MIT */
/* Simulated Fjorden grip: the control point. */
#include "fjorden_parts.h"

enum { OK = 0, UNKNOWN_OPCODE, BAD_LENGTH, BAD_PARAMETER, BUSY, NOT_PERMITTED };
enum { RESPONSE_BIT = 0x80, HEADER = 2, LED_MODES = 4 };

/* Bytes of parameters, by opcode. */
static const struct {
    uint8_t least, most;
} lengths[] = {[PING] = {0, 17},     [SET_LED] = {3, 3},    [GET_CONFIG] = {0, 0}, [SET_CONFIG] = {5, 5},
               [GET_STATE] = {0, 0}, [CLEAR_BOND] = {0, 0}, [POWER_OFF] = {0, 0}};

static bool between(uint32_t value, uint32_t least, uint32_t most) {
    return value >= least && value <= most;
}

static uint8_t set_led(tendon_simulated_fjorden *device, tendon_reader *in) {
    uint8_t mode = tendon_read_u8(in);
    uint16_t duration = tendon_read_u16le(in);
    if (mode >= LED_MODES) {
        return BAD_PARAMETER;
    }
    device->led_mode = mode;
    device->led_ms = duration;
    return OK;
}

static uint8_t set_config(tendon_simulated_fjorden *device, tendon_reader *in) {
    tendon_fjorden_config config;
    config.long_press_ms = tendon_read_u16le(in);
    config.lever_hold_ms = tendon_read_u16le(in);
    config.dial_divider = tendon_read_u8(in);
    if (!between(config.long_press_ms, 200, 2000) || !between(config.lever_hold_ms, 150, 2000) ||
        !between(config.dial_divider, 1, 8)) {
        return BAD_PARAMETER;
    }
    device->gestures.config = config;
    return OK;
}

static uint8_t carry_out(tendon_simulated_fjorden *device, uint8_t opcode, const uint8_t *parameters, size_t length,
                         tendon_writer *out) {
    tendon_reader in = tendon_reader_make(parameters, length);
    uint8_t state[STATE_LENGTH];
    if (opcode == 0 || opcode >= sizeof lengths / sizeof lengths[0]) {
        return UNKNOWN_OPCODE;
    }
    if (!between((uint32_t)length, lengths[opcode].least, lengths[opcode].most)) {
        return BAD_LENGTH;
    }
    switch (opcode) {
    case PING:
        tendon_write_bytes(out, parameters, length);
        return OK;
    case SET_LED:
        return set_led(device, &in);
    case GET_CONFIG:
        tendon_write_u16le(out, device->gestures.config.long_press_ms);
        tendon_write_u16le(out, device->gestures.config.lever_hold_ms);
        tendon_write_u8(out, device->gestures.config.dial_divider);
        return OK;
    case SET_CONFIG:
        return set_config(device, &in);
    case GET_STATE:
        tendon_simulated_fjorden_write_state(device, state);
        tendon_write_bytes(out, state, sizeof state);
        return OK;
    default:
        if (opcode == CLEAR_BOND && !device->bonded) {
            return NOT_PERMITTED;
        }
        device->leaving = opcode;
        return OK;
    }
}

tendon_status tendon_simulated_fjorden_control(tendon_simulated_fjorden *device, tendon_gatt_connection *connection,
                                               const uint8_t *value, size_t length, uint64_t now) {
    tendon_status central = tendon_simulated_centrals_index(&device->centrals, connection);
    if (length < HEADER) {
        return TENDON_ATT_ERROR(TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH);
    }
    if ((tendon_gatt_connection_cccd(connection, device->control_handle) & 2u) == 0) {
        return TENDON_ATT_ERROR(TENDON_ATT_CCCD_IMPROPERLY_CONFIGURED);
    }
    if (central < 0 || device->response_count == TENDON_SIMULATED_FJORDEN_RESPONSES) {
        return TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_RESOURCES);
    }
    uint8_t payload[17];
    tendon_writer out = tendon_writer_make(payload, sizeof payload);
    uint8_t status = BUSY;
    if (device->response_count == 0) {
        status = carry_out(device, value[0], value + HEADER, length - HEADER, &out);
    }
    device->counters.requests += status == OK;
    device->counters.refused_writes += status != OK;
    if (device->options.mute) {
        return TENDON_OK;
    }
    tendon_writer response = tendon_writer_make(device->responses[device->response_count].bytes, 20);
    tendon_write_u8(&response, (uint8_t)(value[0] | RESPONSE_BIT));
    tendon_write_u8(&response, value[1]);
    tendon_write_u8(&response, status);
    tendon_write_bytes(&response, payload, status == OK ? out.length : 0);
    device->responses[device->response_count].central = (uint8_t)central;
    device->responses[device->response_count].length = (uint8_t)response.length;
    device->response_count++;
    (void)now; /* the response follows the write's own, from the next flush */
    return TENDON_OK;
}
