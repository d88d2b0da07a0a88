/* SPDX-License-Identifier: MIT */
#include "hci_command.h"

#define ALL_CHANNELS 0x07u
#define SET_MAX 0xEFu
#define SID_MAX 0x0Fu
#define INTERVAL_MIN 0x20u
#define LEGACY_INTERVAL_MAX 0x4000u
#define EXTENDED_INTERVAL_MAX 0xFFFFFFu
/** 255 bytes of parameters less handle, operation, fragment preference and length. */
#define EXTENDED_DATA_MAX 251u

static bool intervals_are_valid(const tendon_hci_advertising *advertising, uint32_t max) {
    return advertising->interval_min >= INTERVAL_MIN && advertising->interval_min <= advertising->interval_max &&
           advertising->interval_max <= max;
}

tendon_status tendon_hci_command_advertising_parameters(const tendon_hci_advertising *advertising, uint8_t *out,
                                                        size_t capacity) {
    if (!intervals_are_valid(advertising, LEGACY_INTERVAL_MAX)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_hci_begin(TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS, out, capacity);
    tendon_write_u16le(&writer, (uint16_t)advertising->interval_min);
    tendon_write_u16le(&writer, (uint16_t)advertising->interval_max);
    tendon_write_u8(&writer, advertising->type);
    tendon_write_u8(&writer, advertising->own_address);
    tendon_write_u8(&writer, advertising->peer.type);
    tendon_hci_put_address(&writer, &advertising->peer);
    tendon_write_u8(&writer, advertising->channels != 0 ? advertising->channels : ALL_CHANNELS);
    tendon_write_u8(&writer, advertising->filter_policy);
    return tendon_hci_finish(&writer);
}

tendon_status tendon_hci_command_extended_advertising_parameters(const tendon_hci_advertising *advertising,
                                                                 uint8_t *out, size_t capacity) {
    if (!intervals_are_valid(advertising, EXTENDED_INTERVAL_MAX) || advertising->set > SET_MAX ||
        advertising->sid > SID_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_hci_begin(TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS, out, capacity);
    tendon_write_u8(&writer, advertising->set);
    tendon_write_u16le(&writer, advertising->properties);
    tendon_write_u24le(&writer, advertising->interval_min);
    tendon_write_u24le(&writer, advertising->interval_max);
    tendon_write_u8(&writer, advertising->channels != 0 ? advertising->channels : ALL_CHANNELS);
    tendon_write_u8(&writer, advertising->own_address);
    tendon_write_u8(&writer, advertising->peer.type);
    tendon_hci_put_address(&writer, &advertising->peer);
    tendon_write_u8(&writer, advertising->filter_policy);
    tendon_write_u8(&writer, (uint8_t)advertising->tx_power);
    tendon_write_u8(&writer, advertising->primary_phy != 0 ? advertising->primary_phy : 1);
    tendon_write_u8(&writer, 0); /* auxiliary packets may be skipped: none */
    tendon_write_u8(&writer, advertising->secondary_phy != 0 ? advertising->secondary_phy : 1);
    tendon_write_u8(&writer, advertising->sid);
    tendon_write_u8(&writer, 0); /* no scan request notifications */
    return tendon_hci_finish(&writer);
}

tendon_status tendon_hci_command_advertising_data(uint16_t opcode, const uint8_t *data, size_t length, uint8_t *out,
                                                  size_t capacity) {
    if (length > TENDON_AD_LEGACY_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_hci_begin(opcode, out, capacity);
    tendon_write_u8(&writer, (uint8_t)length);
    tendon_write_bytes(&writer, data, length);
    for (size_t i = length; i < TENDON_AD_LEGACY_MAX; i++) {
        tendon_write_u8(&writer, 0);
    }
    return tendon_hci_finish(&writer);
}

tendon_status tendon_hci_command_extended_advertising_data(uint16_t opcode, uint8_t set, const uint8_t *data,
                                                           size_t length, uint8_t *out, size_t capacity) {
    if (length > EXTENDED_DATA_MAX || set > SET_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_hci_begin(opcode, out, capacity);
    tendon_write_u8(&writer, set);
    tendon_write_u8(&writer, 3); /* complete data */
    tendon_write_u8(&writer, 1); /* the controller should not fragment it */
    tendon_write_u8(&writer, (uint8_t)length);
    tendon_write_bytes(&writer, data, length);
    return tendon_hci_finish(&writer);
}

tendon_status tendon_hci_command_advertising_enable(bool enable, uint8_t *out, size_t capacity) {
    const uint8_t parameter = enable ? 1 : 0;
    return tendon_hci_command(TENDON_HCI_LE_SET_ADVERTISING_ENABLE, &parameter, 1, out, capacity);
}

tendon_status tendon_hci_command_extended_advertising_enable(bool enable, uint8_t set, uint8_t *out, size_t capacity) {
    const uint8_t parameters[] = {enable ? 1 : 0, 1, set, 0, 0, 0}; /* one set, no duration, no event limit */
    return tendon_hci_command(TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE, parameters, sizeof(parameters), out,
                              capacity);
}

tendon_status tendon_hci_command_advertising_set_random_address(uint8_t set, const tendon_address *address,
                                                                uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_hci_begin(TENDON_HCI_LE_SET_ADVERTISING_SET_RANDOM_ADDRESS, out, capacity);
    tendon_write_u8(&writer, set);
    tendon_hci_put_address(&writer, address);
    return tendon_hci_finish(&writer);
}

tendon_status tendon_hci_command_remove_advertising_set(uint8_t set, uint8_t *out, size_t capacity) {
    return tendon_hci_command(TENDON_HCI_LE_REMOVE_ADVERTISING_SET, &set, 1, out, capacity);
}
