/* SPDX-License-Identifier: MIT */
/* HCI commands (Core Spec Vol 4 Part E 7), bytes written out. */
#include "tendon/host/hci.h"
#include "test_bytes.h"

static const tendon_address random_address = {{0xC1, 2, 3, 4, 5, 6}, TENDON_ADDRESS_TYPE_RANDOM};

/* Builds one command into `capacity` bytes. */
static tendon_status build(unsigned which, uint8_t *out, size_t capacity) {
    tendon_hci_scan scan = {.active = true, .interval = 0x60, .window = 0x30, .own_address = 1};
    tendon_hci_advertising adv = {.interval_min = 0xA0, .interval_max = 0xF0, .properties = 0x13, .tx_power = 127};
    switch (which) {
    case 0:
        return tendon_hci_command_plain(TENDON_HCI_RESET, out, capacity);
    case 1:
        return tendon_hci_command(TENDON_HCI_SET_EVENT_MASK, (const uint8_t *)"\xFF\xFF\xFF\xFF\xFF\x1F\x00\x20", 8,
                                  out, capacity);
    case 2:
        return tendon_hci_command(TENDON_HCI_LE_SET_EVENT_MASK, (const uint8_t *)"\x1F\0\0\0\0\0\0\0", 8, out,
                                  capacity);
    case 3:
        return tendon_hci_command_disconnect(0x40, 0x13, out, capacity);
    case 4:
        return tendon_hci_command_random_address(&random_address, out, capacity);
    case 5:
        return tendon_hci_command_scan_parameters(&scan, out, capacity);
    case 6:
        return tendon_hci_command_scan_enable(true, false, out, capacity);
    case 7:
        return tendon_hci_command_extended_scan_parameters(&scan, out, capacity);
    case 8:
        scan.coded = true;
        scan.active = false;
        return tendon_hci_command_extended_scan_parameters(&scan, out, capacity);
    case 9:
        return tendon_hci_command_extended_scan_enable(false, true, out, capacity);
    case 10:
        return tendon_hci_command_advertising_parameters(&adv, out, capacity);
    case 11:
        adv.set = 1, adv.sid = 2, adv.channels = 1, adv.secondary_phy = 2, adv.tx_power = -4;
        return tendon_hci_command_extended_advertising_parameters(&adv, out, capacity);
    case 12:
        return tendon_hci_command_advertising_data(TENDON_HCI_LE_SET_ADVERTISING_DATA, (const uint8_t *)"\2\1\6", 3,
                                                   out, capacity);
    case 13:
        return tendon_hci_command_extended_advertising_data(TENDON_HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA, 1,
                                                            (const uint8_t *)"\2\1\6", 3, out, capacity);
    case 14:
        return tendon_hci_command_advertising_enable(true, out, capacity);
    case 15:
        return tendon_hci_command_extended_advertising_enable(true, 1, out, capacity);
    case 16:
        return tendon_hci_command_advertising_set_random_address(1, &random_address, out, capacity);
    case 17:
        return tendon_hci_command_remove_advertising_set(1, out, capacity);
    case 18:
        return tendon_hci_command(TENDON_HCI_LE_READ_BUFFER_SIZE, NULL, 0, out, capacity);
    default:
        return TENDON_ERROR_NOT_FOUND;
    }
}

static const char *const expected[] = {
    "030c 00",
    "010c 08 ffffffffff1f0020",
    "0120 08 1f00000000000000",
    "0604 03 4000 13",
    "0520 06 0605040302c1",
    "0b20 07 01 6000 3000 01 00",
    "0c20 02 01 00",
    "4120 08 01 00 01 01 6000 3000",
    "4120 0d 01 00 05 00 6000 3000 00 6000 3000",
    "4220 06 00 01 0000 0000",
    "0620 0f a000 f000 00 00 00 000000000000 07 00",
    "3620 19 01 1300 a00000 f00000 01 00 00 000000000000 00 fc 01 00 02 02 00",
    "0820 20 03 020106 00000000000000000000000000000000000000000000000000000000",
    "3820 07 01 03 01 03 020106",
    "0a20 01 01",
    "3920 06 01 01 01 0000 00",
    "3520 07 01 0605040302c1",
    "3c20 01 01",
    "0220 00",
};

static void commands_into_every_capacity(void **state) {
    (void)state;
    for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        uint8_t whole[TENDON_HCI_COMMAND_MAX];
        tendon_status length = build(i, whole, sizeof(whole));
        assert_true(length > 0);
        assert_hex(whole, (size_t)length, expected[i]);
        for (size_t capacity = 0; capacity < (size_t)length; capacity++) {
            uint8_t *out = malloc(capacity > 0 ? capacity : 1);
            assert_int_equal(build(i, out, capacity), TENDON_ERROR_BUFFER_TOO_SMALL);
            free(out);
        }
    }
}

static void longest_command(void **state) {
    (void)state;
    uint8_t parameters[256] = {0}, out[TENDON_HCI_COMMAND_MAX];
    assert_int_equal(tendon_hci_command(0xFC01, parameters, 255, out, sizeof(out)), 258);
    assert_int_equal(out[2], 255);
    assert_int_equal(tendon_hci_command(0xFC01, parameters, 256, out, sizeof(out)), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_hci_command(0xFC01, NULL, 1, out, sizeof(out)), TENDON_ERROR_INVALID_ARGUMENT);
}

static void arguments_out_of_range(void **state) {
    (void)state;
    uint8_t out[300], data[300] = {0};
    static const uint16_t scans[][2] = {{3, 3}, {0x4001, 0x10}, {0x10, 0x11}, {0x10, 3}, {0, 0}};
    for (size_t i = 0; i < 5; i++) {
        tendon_hci_scan scan = {.interval = scans[i][0], .window = scans[i][1]};
        assert_int_equal(tendon_hci_command_scan_parameters(&scan, out, 300), TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(tendon_hci_command_extended_scan_parameters(&scan, out, 300), TENDON_ERROR_INVALID_ARGUMENT);
    }
    static const uint16_t edges[][2] = {{4, 4}, {0x4000, 4}, {0x4000, 0x4000}}; /* Vol 4 Part E 7.8.10 */
    for (size_t i = 0; i < 3; i++) {
        tendon_hci_scan scan = {.interval = edges[i][0], .window = edges[i][1]};
        assert_true(tendon_hci_command_scan_parameters(&scan, out, 300) > 0);
        assert_true(tendon_hci_command_extended_scan_parameters(&scan, out, 300) > 0);
    }
    static const uint32_t intervals[][2] = {{0x1F, 0x40}, {0x40, 0x3F}, {0x40, 0x1000000}};
    for (size_t i = 0; i < 3; i++) {
        tendon_hci_advertising adv = {.interval_min = intervals[i][0], .interval_max = intervals[i][1]};
        assert_int_equal(tendon_hci_command_advertising_parameters(&adv, out, 300), TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(tendon_hci_command_extended_advertising_parameters(&adv, out, 300),
                         TENDON_ERROR_INVALID_ARGUMENT);
    }
    tendon_hci_advertising adv = {.interval_min = 0x40, .interval_max = 0x4001};
    assert_int_equal(tendon_hci_command_advertising_parameters(&adv, out, 300), TENDON_ERROR_INVALID_ARGUMENT);
    assert_true(tendon_hci_command_extended_advertising_parameters(&adv, out, 300) > 0);
    adv.set = 0xF0;
    assert_int_equal(tendon_hci_command_extended_advertising_parameters(&adv, out, 300), TENDON_ERROR_INVALID_ARGUMENT);
    adv.set = 0, adv.sid = 16;
    assert_int_equal(tendon_hci_command_extended_advertising_parameters(&adv, out, 300), TENDON_ERROR_INVALID_ARGUMENT);
    uint16_t opcode = TENDON_HCI_LE_SET_ADVERTISING_DATA;
    assert_int_equal(tendon_hci_command_advertising_data(opcode, data, 32, out, 300), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_hci_command_advertising_data(opcode, data, 31, out, 300), 35);
    opcode = TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_DATA;
    assert_int_equal(tendon_hci_command_extended_advertising_data(opcode, 0, data, 252, out, 300),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_hci_command_extended_advertising_data(opcode, 0, data, 251, out, 300), 258);
    assert_int_equal(tendon_hci_command_disconnect(0x0F00, 0x13, out, 300), TENDON_ERROR_INVALID_ARGUMENT);
}

/* Each bit alone says yes to at most one command. */
static void supported_commands(void **state) {
    (void)state;
    uint8_t commands[64] = {0};
    commands[37] = 0x60;
    assert_true(tendon_hci_supports(commands, TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS));
    assert_true(tendon_hci_supports(commands, TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE));
    assert_false(tendon_hci_supports(commands, TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE));
    unsigned found = 0;
    for (unsigned bit = 0; bit < 512; bit++) {
        memset(commands, 0, sizeof(commands));
        commands[bit / 8] = (uint8_t)(1u << bit % 8);
        unsigned yes = 0;
        for (unsigned opcode = 0; opcode < 0x10000; opcode += opcode == 0 ? 0x2000 : 1) {
            if (opcode > 0x20FF) {
                break;
            }
            yes += tendon_hci_supports(commands, (uint16_t)opcode);
        }
        assert_true(yes <= 1);
        found += yes;
    }
    assert_int_equal(found, 18);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_into_every_capacity),
        cmocka_unit_test(longest_command),
        cmocka_unit_test(arguments_out_of_range),
        cmocka_unit_test(supported_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
