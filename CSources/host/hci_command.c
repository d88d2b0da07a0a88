/* SPDX-License-Identifier: MIT */
#include "hci_command.h"

tendon_writer tendon_hci_begin(uint16_t opcode, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u16le(&writer, opcode);
    tendon_write_u8(&writer, 0);
    return writer;
}

tendon_status tendon_hci_finish(tendon_writer *writer) {
    if (writer->status == TENDON_OK) {
        writer->data[2] = (uint8_t)(writer->length - 3);
    }
    return tendon_writer_result(writer);
}

tendon_status tendon_hci_command(uint16_t opcode, const uint8_t *parameters, size_t count, uint8_t *out,
                                 size_t capacity) {
    if (count > UINT8_MAX || (count > 0 && parameters == NULL)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_hci_begin(opcode, out, capacity);
    tendon_write_bytes(&writer, parameters, count);
    return tendon_hci_finish(&writer);
}

tendon_status tendon_hci_command_plain(uint16_t opcode, uint8_t *out, size_t capacity) {
    return tendon_hci_command(opcode, NULL, 0, out, capacity);
}

tendon_status tendon_hci_command_disconnect(uint16_t handle, uint8_t reason, uint8_t *out, size_t capacity) {
    if (handle > TENDON_HCI_HANDLE_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_hci_begin(TENDON_HCI_DISCONNECT, out, capacity);
    tendon_write_u16le(&writer, handle);
    tendon_write_u8(&writer, reason);
    return tendon_hci_finish(&writer);
}

void tendon_hci_put_address(tendon_writer *writer, const tendon_address *address) {
    uint8_t wire[6];
    tendon_address_to_wire(address, wire);
    tendon_write_bytes(writer, wire, sizeof(wire));
}

tendon_status tendon_hci_command_random_address(const tendon_address *address, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_hci_begin(TENDON_HCI_LE_SET_RANDOM_ADDRESS, out, capacity);
    tendon_hci_put_address(&writer, address);
    return tendon_hci_finish(&writer);
}

static bool scan_is_valid(const tendon_hci_scan *scan) {
    return scan->interval >= 4 && scan->interval <= 0x4000 && scan->window >= 4 && scan->window <= scan->interval;
}

tendon_status tendon_hci_command_scan_parameters(const tendon_hci_scan *scan, uint8_t *out, size_t capacity) {
    if (!scan_is_valid(scan)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_hci_begin(TENDON_HCI_LE_SET_SCAN_PARAMETERS, out, capacity);
    tendon_write_u8(&writer, scan->active ? 1 : 0);
    tendon_write_u16le(&writer, scan->interval);
    tendon_write_u16le(&writer, scan->window);
    tendon_write_u8(&writer, scan->own_address);
    tendon_write_u8(&writer, scan->filter_policy);
    return tendon_hci_finish(&writer);
}

tendon_status tendon_hci_command_scan_enable(bool enable, bool filter_duplicates, uint8_t *out, size_t capacity) {
    const uint8_t parameters[] = {enable ? 1 : 0, filter_duplicates ? 1 : 0};
    return tendon_hci_command(TENDON_HCI_LE_SET_SCAN_ENABLE, parameters, sizeof(parameters), out, capacity);
}

tendon_status tendon_hci_command_extended_scan_parameters(const tendon_hci_scan *scan, uint8_t *out, size_t capacity) {
    if (!scan_is_valid(scan)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_hci_begin(TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS, out, capacity);
    tendon_write_u8(&writer, scan->own_address);
    tendon_write_u8(&writer, scan->filter_policy);
    tendon_write_u8(&writer, scan->coded ? 0x05 : 0x01); /* PHYs: bit 0 LE 1M, bit 2 LE Coded */
    for (int phy = 0; phy < (scan->coded ? 2 : 1); phy++) {
        tendon_write_u8(&writer, scan->active ? 1 : 0);
        tendon_write_u16le(&writer, scan->interval);
        tendon_write_u16le(&writer, scan->window);
    }
    return tendon_hci_finish(&writer);
}

tendon_status tendon_hci_command_extended_scan_enable(bool enable, bool filter_duplicates, uint8_t *out,
                                                      size_t capacity) {
    const uint8_t parameters[] = {enable ? 1 : 0, filter_duplicates ? 1 : 0, 0, 0, 0, 0};
    return tendon_hci_command(TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE, parameters, sizeof(parameters), out, capacity);
}

/* Octet and bit of Supported_Commands, Vol 4 Part E 6.27. */
static const struct {
    uint16_t opcode;
    uint8_t octet, bit;
} supported[] = {
    {TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS, 25, 5},
    {TENDON_HCI_LE_SET_ADVERTISING_DATA, 25, 7},
    {TENDON_HCI_LE_SET_SCAN_RESPONSE_DATA, 26, 0},
    {TENDON_HCI_LE_SET_ADVERTISING_ENABLE, 26, 1},
    {TENDON_HCI_LE_SET_SCAN_PARAMETERS, 26, 2},
    {TENDON_HCI_LE_SET_SCAN_ENABLE, 26, 3},
    {TENDON_HCI_LE_READ_RESOLVING_LIST_SIZE, 34, 6},
    {TENDON_HCI_LE_SET_ADVERTISING_SET_RANDOM_ADDRESS, 36, 1},
    {TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS, 36, 2},
    {TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_DATA, 36, 3},
    {TENDON_HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA, 36, 4},
    {TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE, 36, 5},
    {TENDON_HCI_LE_READ_MAXIMUM_ADVERTISING_DATA_LENGTH, 36, 6},
    {TENDON_HCI_LE_READ_NUMBER_OF_ADVERTISING_SETS, 36, 7},
    {TENDON_HCI_LE_REMOVE_ADVERTISING_SET, 37, 0},
    {TENDON_HCI_LE_CLEAR_ADVERTISING_SETS, 37, 1},
    {TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS, 37, 5},
    {TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE, 37, 6},
};

bool tendon_hci_supports(const uint8_t commands[64], uint16_t opcode) {
    for (size_t i = 0; i < sizeof(supported) / sizeof(supported[0]); i++) {
        if (supported[i].opcode == opcode) {
            return (commands[supported[i].octet] >> supported[i].bit & 1u) != 0;
        }
    }
    return false;
}
