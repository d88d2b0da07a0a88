/* SPDX-License-Identifier: MIT */
#include "names.h"
#include "tendon/base/packed.h"

enum {
    STATE_VERSION = 1,
    SHUTTER_HALF = 1,
    SHUTTER_FULL = 2,
    DIAL_PRESSED = 4,
    FN_PRESSED = 8,
    RESPONSE = 0x80,
    RESPONSE_SIZE = 3,
    CONFIG_SIZE = 5,
    LED_MODES = 4,
    STATUSES = 6
};

tendon_status tendon_fjorden_decode_control_state(const uint8_t *data, size_t length,
                                                  tendon_fjorden_control_state *out) {
    if (length < TENDON_FJORDEN_CONTROL_STATE_SIZE) {
        return TENDON_FJORDEN_ERROR_SHORT;
    }
    tendon_reader reader = tendon_reader_make(data, length);
    if (tendon_read_u8(&reader) != STATE_VERSION) {
        return TENDON_FJORDEN_ERROR_VERSION;
    }
    uint8_t bits = tendon_read_u8(&reader);
    tendon_fjorden_control_state state = {
        .shutter = (bits & SHUTTER_FULL) != 0   ? 2
                   : (bits & SHUTTER_HALF) != 0 ? 1
                                                : 0,
        .dial_pressed = (bits & DIAL_PRESSED) != 0,
        .fn_pressed = (bits & FN_PRESSED) != 0,
        .lever = tendon_read_i8(&reader),
    };
    if (state.lever < -1 || state.lever > 1) {
        return TENDON_FJORDEN_ERROR_VALUE;
    }
    state.custom_mask = tendon_read_u8(&reader);
    state.dial_position = tendon_read_i16le(&reader);
    *out = state;
    return TENDON_OK;
}

/* ---- commands ---- */

int tendon_fjorden_command_named(const char *name, size_t length) {
    static const char words[] = "ping\0setLed\0getConfig\0setConfig\0getState\0clearBond\0powerOff";
    int index = tendon_packed_index(words, TENDON_FJORDEN_POWER_OFF, name, length);
    return index < 0 ? -1 : index + TENDON_FJORDEN_PING;
}

int tendon_fjorden_led_mode_named(const char *name, size_t length) {
    return tendon_packed_index("off\0on\0blinkSlow\0blinkFast", LED_MODES, name, length);
}

static const char *config_fault(const tendon_fjorden_config *config) {
    if (config->long_press_ms < 200 || config->long_press_ms > 2000) {
        return "longPress: 200 to 2000 ms";
    }
    if (config->lever_hold_ms < 150 || config->lever_hold_ms > 2000) {
        return "leverHold: 150 to 2000 ms";
    }
    return config->dial_divider < 1 || config->dial_divider > 8 ? "dialDivider: 1 to 8" : NULL;
}

const char *tendon_fjorden_command_fault(const tendon_fjorden_command *command) {
    switch (command->opcode) {
    case TENDON_FJORDEN_PING:
        return command->payload_length > TENDON_FJORDEN_PING_MAX ? "payload: at most 17 bytes" : NULL;
    case TENDON_FJORDEN_SET_LED:
        return command->led_mode >= LED_MODES ? "mode: 0 to 3" : NULL;
    case TENDON_FJORDEN_SET_CONFIG:
        return config_fault(&command->config);
    case TENDON_FJORDEN_GET_CONFIG:
    case TENDON_FJORDEN_GET_STATE:
    case TENDON_FJORDEN_CLEAR_BOND:
    case TENDON_FJORDEN_POWER_OFF:
        return NULL;
    }
    return "opcode: 1 to 7";
}

static tendon_status check(const tendon_fjorden_command *command) {
    if (tendon_fjorden_command_fault(command) == NULL) {
        return TENDON_OK;
    }
    switch (command->opcode) {
    case TENDON_FJORDEN_PING:
        return TENDON_FJORDEN_ERROR_LENGTH;
    case TENDON_FJORDEN_SET_LED:
    case TENDON_FJORDEN_SET_CONFIG:
        return TENDON_FJORDEN_ERROR_RANGE;
    default:
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
}

tendon_status tendon_fjorden_encode_command(const tendon_fjorden_command *command, uint8_t *out, size_t capacity) {
    tendon_status status = check(command);
    if (status < 0) {
        return status;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, (uint8_t)command->opcode);
    tendon_write_u8(&writer, command->request_id);
    if (command->opcode == TENDON_FJORDEN_PING) {
        tendon_write_bytes(&writer, command->payload, command->payload_length);
    } else if (command->opcode == TENDON_FJORDEN_SET_LED) {
        tendon_write_u8(&writer, command->led_mode);
        tendon_write_u16le(&writer, command->led_duration_ms);
    } else if (command->opcode == TENDON_FJORDEN_SET_CONFIG) {
        tendon_write_u16le(&writer, command->config.long_press_ms);
        tendon_write_u16le(&writer, command->config.lever_hold_ms);
        tendon_write_u8(&writer, command->config.dial_divider);
    }
    return tendon_writer_result(&writer);
}

/* ---- responses ---- */

const char *tendon_fjorden_response_status_name(uint8_t status) {
    static const char words[] = "ok\0unknownOpcode\0badLength\0badParameter\0busy\0notPermitted";
    return tendon_packed_string(words, NULL, STATUSES, status);
}

tendon_status tendon_fjorden_decode_response(const uint8_t *data, size_t length, tendon_fjorden_response *out) {
    if (length < RESPONSE_SIZE) {
        return TENDON_FJORDEN_ERROR_SHORT;
    }
    tendon_reader reader = tendon_reader_make(data, length);
    uint8_t first = tendon_read_u8(&reader);
    if ((first & RESPONSE) == 0) {
        return TENDON_FJORDEN_ERROR_NOT_A_RESPONSE;
    }
    tendon_fjorden_response response = {.opcode = first & 0x7F, .request_id = tendon_read_u8(&reader)};
    response.status = tendon_read_u8(&reader);
    response.payload_length = tendon_reader_remaining(&reader);
    response.payload = data + RESPONSE_SIZE;
    if (response.status == 0 && response.opcode == TENDON_FJORDEN_GET_CONFIG) {
        if (response.payload_length != CONFIG_SIZE) {
            return TENDON_FJORDEN_ERROR_LENGTH;
        }
        response.config.long_press_ms = tendon_read_u16le(&reader);
        response.config.lever_hold_ms = tendon_read_u16le(&reader);
        response.config.dial_divider = tendon_read_u8(&reader);
    } else if (response.status == 0 && response.opcode == TENDON_FJORDEN_GET_STATE) {
        tendon_status status =
            tendon_fjorden_decode_control_state(response.payload, response.payload_length, &response.state);
        if (status < 0) {
            return status;
        }
    }
    *out = response;
    return TENDON_OK;
}
