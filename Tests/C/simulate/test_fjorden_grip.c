/* SPDX-License-Identifier: MIT */
/* Simulated Fjorden grip: advertising, attribute table, what it can lack, its bond. docs/protocols/fjorden.md. */
#include "fjorden_fixture.h"

static void expect_advertisement(const char *hex, const char *response) {
    uint8_t bytes[31];
    block expected = block_hex(hex);
    tendon_status length = f->device.ops->advertisement(f->device.context, bytes, sizeof bytes);
    assert_int_equal(length, expected.length);
    assert_memory_equal(bytes, expected.data, expected.length);
    assert_int_equal(f->device.ops->advertisement(f->device.context, bytes, expected.length - 1),
                     TENDON_ERROR_BUFFER_TOO_SMALL);
    free(expected.data);
    expected = block_hex(response);
    length = f->device.ops->scan_response(f->device.context, bytes, sizeof bytes);
    assert_int_equal(length, expected.length);
    assert_memory_equal(bytes, expected.data, expected.length);
    free(expected.data);
}

/* Flags; the service, most significant byte last; HID; the appearance of a generic HID device. */
static void it_advertises_its_service_and_hid(void **state) {
    (void)state;
    expect_advertisement("02 01 06 11 07 f2 da a8 cb ff ab 91 b5 91 4c de 92 01 00 d8 b3 03 03 12 18 03 19 c0 03",
                         "17 09 46 6a 6f 72 64 65 6e 20 47 72 69 70 20 53 69 6d 75 6c 61 74 6f 72");
    const tendon_simulated_fjorden_options options = {
        .open = true, .name = "G", .lacks = TENDON_SIMULATED_FJORDEN_NO_SERVICE};
    fjorden_connected(&options);
    expect_advertisement("02 01 06 03 03 12 18 03 19 c0 03", "02 09 47");
    assert_string_equal(f->device.ops->name, "fjorden");
}

static void the_whole_table(void **state) {
    (void)state;
    device_exchange(f, 0, "10 01 00 ff ff 00 28", "11 06 01 00 05 00 00 18 06 00 10 00 0a 18 11 00 14 00 0f 18");
    device_exchange(f, 0, "10 15 00 ff ff 00 28", "11 14 15 00 1e 00 f2 da a8 cb ff ab 91 b5 91 4c de 92 01 00 d8 b3");
    device_exchange(f, 0, "10 1f 00 ff ff 00 28", "11 06 1f 00 29 00 12 18");
    static const char *const characteristics[][2] = {
        {"08 02 00 02 00 03 28", "09 07 02 00 02 03 00 00 2a"}, /* read */
        {"08 04 00 04 00 03 28", "09 07 04 00 02 05 00 01 2a"},
        {"08 07 00 07 00 03 28", "09 07 07 00 02 08 00 29 2a"},
        {"08 09 00 09 00 03 28", "09 07 09 00 02 0a 00 24 2a"},
        {"08 0b 00 0b 00 03 28", "09 07 0b 00 02 0c 00 26 2a"},
        {"08 0d 00 0d 00 03 28", "09 07 0d 00 02 0e 00 27 2a"},
        {"08 0f 00 0f 00 03 28", "09 07 0f 00 02 10 00 25 2a"},
        {"08 12 00 12 00 03 28", "09 07 12 00 12 13 00 19 2a"}, /* read, notify */
        {"08 16 00 16 00 03 28", "09 15 16 00 10 17 00 f2 da a8 cb ff ab 91 b5 91 4c de 92 02 00 d8 b3"},
        {"08 19 00 19 00 03 28", "09 15 19 00 12 1a 00 f2 da a8 cb ff ab 91 b5 91 4c de 92 03 00 d8 b3"},
        {"08 1c 00 1c 00 03 28", "09 15 1c 00 28 1d 00 f2 da a8 cb ff ab 91 b5 91 4c de 92 04 00 d8 b3"},
        {"08 20 00 20 00 03 28", "09 07 20 00 02 21 00 4a 2a"},
        {"08 22 00 22 00 03 28", "09 07 22 00 02 23 00 4b 2a"},
        {"08 24 00 24 00 03 28", "09 07 24 00 12 25 00 4d 2a"},
        {"08 28 00 28 00 03 28", "09 07 28 00 04 29 00 4c 2a"}, /* write without response */
    };
    for (size_t i = 0; i < sizeof characteristics / sizeof characteristics[0]; i++) {
        device_exchange(f, 0, characteristics[i][0], characteristics[i][1]);
    }
    static const char *const values[][2] = {
        {"0a 03 00", "0b 46 6a 6f 72 64 65 6e 20 47 72 69 70 20 53 69 6d 75 6c 61 74 6f 72"},
        {"0a 05 00", "0b c0 03"},
        {"0a 08 00", "0b 54 65 6e 64 6f 6e"},
        {"0a 0a 00", "0b 47 72 69 70 20 28 73 69 6d 75 6c 61 74 65 64 29"},
        {"0a 0c 00", "0b 31 2e 32 2e 30"},
        {"0a 0e 00", "0b 31 2e 30"},
        {"0a 10 00", "0b 54 45 4e 44 4f 4e 2d 46 4a 4f 52 44 45 4e 2d 31"},
        {"0a 13 00", "0b 50"},
        {"0a 1a 00", "0b 01 00 00 00 00 00"},
        {"0a 21 00", "0b 11 01 00 02"},
        {"0a 23 00", "0b 05 0c 09 01 a1 01 19 00 2a 9c 02 15 00 26 9c 02 95 01 75 10 81 00"},
        {"0c 23 00 16 00", "0d c0"},
        {"0a 25 00", "0b 00 00"},
        {"0a 27 00", "0b 00 01"},
        {"0a 17 00", "01 0a 17 00 02"}, /* the events cannot be read */
        {"0a 1d 00", "01 0a 1d 00 02"},
        {"12 17 00 00", "01 12 17 00 03"}, /* or written */
        {"12 1a 00 00", "01 12 1a 00 03"}, /* nor can the state be written */
        {"12 13 00 00", "01 12 13 00 03"},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        device_exchange(f, 0, values[i][0], values[i][1]);
    }
    device_forget(f, 0);
    device_send(f, 0, "52 29 00 01"); /* HID: exit suspend; nothing happens */
    assert_int_equal(f->centrals[0].count, 0);
    assert_int_equal(grip.counters.refused_writes, 0);
}

static void strings_and_battery_are_options(void **state) {
    const tendon_simulated_fjorden_options options = {
        .open = true, .name = "Grip", .firmware = "2.0", .serial = "7", .battery = 33};
    (void)state;
    fjorden_connected(&options);
    device_exchange(f, 0, "0a 03 00", "0b 47 72 69 70");
    device_exchange(f, 0, "0a 0c 00", "0b 32 2e 30");
    device_exchange(f, 0, "0a 10 00", "0b 37");
    device_exchange(f, 0, "0a 13 00", "0b 21");
    assert_int_equal(tendon_simulated_fjorden_init(&grip, NULL), TENDON_OK); /* all defaults */
    assert_int_equal(grip.battery, 80);
    assert_false(grip.options.open || grip.bonded);
}

/* What it lacks is not in the table, and nothing else is missing. */
static void any_part_can_be_missing(void **state) {
    enum { GRIP = 1, EVENT = 2, STATE = 4, CONTROL = 8, FIRMWARE = 16, TEXTS = 32, BATTERY = 64 };
    static const struct {
        uint32_t lacks;
        unsigned present;
    } cases[] = {
        {0, 127},
        {TENDON_SIMULATED_FJORDEN_NO_SERVICE, FIRMWARE | TEXTS | BATTERY},
        {TENDON_SIMULATED_FJORDEN_NO_EVENT, 127 & ~EVENT},
        {TENDON_SIMULATED_FJORDEN_NO_STATE, 127 & ~STATE},
        {TENDON_SIMULATED_FJORDEN_NO_CONTROL, 127 & ~CONTROL},
        {TENDON_SIMULATED_FJORDEN_NO_FIRMWARE, 127 & ~FIRMWARE},
        {TENDON_SIMULATED_FJORDEN_NO_INFORMATION, 127 & ~(FIRMWARE | TEXTS)},
        {TENDON_SIMULATED_FJORDEN_NO_BATTERY, 127 & ~BATTERY},
        {TENDON_SIMULATED_FJORDEN_NO_NOTIFY, 127},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tendon_simulated_fjorden_options options = {.open = true, .lacks = cases[i].lacks};
        fjorden_connected(&options);
        unsigned present = 0;
        const uint8_t group[] = {
            0x06, 1,    0,    0xFF, 0xFF, 0,    0x28, 0xF2, 0xDA, 0xA8, 0xCB, 0xFF,
            0xAB, 0x91, 0xB5, 0x91, 0x4C, 0xDE, 0x92, 1,    0,    0xD8, 0xB3}; /* Find By Type Value */
        tendon_att_bearer_receive(&f->centrals[0].bearer, group, sizeof group, f->now);
        present |= f->centrals[0].pdus[0].bytes[0] == 0x07 ? GRIP : 0;
        static const uint16_t types[] = {0x2A26, 0x2A25, 0x2A19};
        for (size_t type = 0; type < 3; type++) { /* Read By Type */
            const uint8_t read[] = {8, 1, 0, 0xFF, 0xFF, (uint8_t)types[type], (uint8_t)(types[type] >> 8)};
            device_forget(f, 0);
            tendon_att_bearer_receive(&f->centrals[0].bearer, read, sizeof read, f->now);
            present |= f->centrals[0].pdus[0].bytes[0] == 0x09 ? (unsigned)FIRMWARE << type : 0;
        }
        present |= grip.event_handle != 0 ? EVENT : 0;
        present |= grip.state_handle != 0 ? STATE : 0;
        present |= grip.control_handle != 0 ? CONTROL : 0;
        assert_int_equal(present, cases[i].present);
        assert_int_equal(grip.battery_handle != 0, (present & BATTERY) != 0);
        device_forget(f, 0);
        tendon_simulated_fjorden_event(&grip, 0x40, 0, f->now); /* no central is connected */
        tendon_simulated_fjorden_set_battery(&grip, 10, f->now);
        assert_int_equal(f->centrals[0].count, 0);
        assert_int_equal(grip.counters.blocked, 0);
    }
}

/* Rejected as an ATT server without the right key does, with and without a bond. */
static void a_grip_that_rejects_every_subscription(void **state) {
    const tendon_simulated_fjorden_options options = {.lacks = TENDON_SIMULATED_FJORDEN_NO_NOTIFY};
    (void)state;
    fjorden_connected(&options);
    device_exchange(f, 0, "12 18 00 01 00", "01 12 18 00 05");
    f->device.ops->paired(f->device.context, &f->centrals[0].bearer, f->now);
    device_exchange(f, 0, "12 18 00 01 00", "01 12 18 00 05");
    device_exchange(f, 0, "12 1b 00 01 00", "13"); /* the state, however */
}

static void without_encryption_it_says_little(void **state) {
    const tendon_simulated_fjorden_options options = {.name = "G"};
    (void)state;
    fjorden_connected(&options);
    device_exchange(f, 0, "0a 03 00", "0b 47"); /* name, texts and battery are for everybody */
    device_exchange(f, 0, "0a 0c 00", "0b 31 2e 32 2e 30");
    device_exchange(f, 0, "0a 13 00", "0b 50");
    static const char *const refused[] = {"0a 1a 00", "12 1d 00 01 01", "12 18 00 01 00", "12 1e 00 02 00",
                                          "0a 21 00", "0a 23 00",       "0a 25 00",       "12 26 00 01 00"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        device_send(f, 0, refused[i]);
        const device_taken *t = &f->centrals[0].pdus[(f->centrals[0].count - 1) % DEVICE_KEPT];
        assert_int_equal(t->bytes[0], 0x01);
        assert_int_equal(t->bytes[4], 0x05); /* without a key: Insufficient Authentication */
    }
    assert_int_equal(f->device.ops->pairing(f->device.context), TENDON_PERIPHERAL_PAIRABLE);
    f->device.ops->paired(f->device.context, &f->centrals[0].bearer, f->now);
    device_exchange(f, 0, "0a 1a 00", "0b 01 00 00 00 00 00");
    device_exchange(f, 0, "12 18 00 01 00", "13");
    device_exchange(f, 0, "0a 21 00", "0b 11 01 00 02");
}

/* One bond: no other central can pair. The bond outlives the connection; the encryption does not. */
static void it_takes_one_bond(void **state) {
    const tendon_simulated_fjorden_options options = {.name = "G"};
    (void)state;
    fjorden_connected(&options);
    tendon_att_bearer stranger;
    tendon_att_bearer_init(&stranger, (tendon_bearer_io){&f->centrals[1], NULL}, 23);
    f->device.ops->paired(f->device.context, &stranger, f->now); /* of a central that is not connected */
    assert_int_equal(f->device.ops->pairing(f->device.context), TENDON_PERIPHERAL_PAIRABLE);
    f->device.ops->paired(f->device.context, &f->centrals[0].bearer, f->now);
    assert_int_equal(f->device.ops->pairing(f->device.context), 0);
    f->device.ops->disconnected(f->device.context, &stranger, TENDON_OK, f->now);
    device_exchange(f, 0, "0a 1a 00", "0b 01 00 00 00 00 00");
    device_disconnect(f, 0);
    assert_int_equal(f->device.ops->pairing(f->device.context), 0);
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK);
    device_send(f, 0, "0a 1a 00");
    assert_int_equal(f->centrals[0].pdus[0].bytes[0], 0x01);
    const tendon_simulated_fjorden_options refuses = {.rejects_pairing = true};
    fjorden_connected(&refuses);
    assert_int_equal(f->device.ops->pairing(f->device.context), 0);
}

static void four_centrals_fit(void **state) {
    (void)state;
    for (size_t i = 1; i < TENDON_SIMULATED_CENTRALS; i++) {
        assert_int_equal(device_connect(f, i, 23), TENDON_OK);
        device_exchange(f, i, "0a 13 00", "0b 50");
    }
    assert_int_equal(device_connect(f, TENDON_SIMULATED_CENTRALS, 23), TENDON_ERROR_TABLE_FULL);
    device_disconnect(f, 2);
    assert_int_equal(device_connect(f, TENDON_SIMULATED_CENTRALS, 23), TENDON_OK);
    device_exchange(f, TENDON_SIMULATED_CENTRALS, "0a 13 00", "0b 50");
    tendon_simulated_fjorden_power_off(&grip, 5000); /* it ends them all */
    device_run(f, 5100);
    for (size_t i = 0; i <= TENDON_SIMULATED_CENTRALS; i++) {
        assert_true(i == 2 || f->centrals[i].bearer.closed);
    }
}

/* Without a connection there is nothing to wait for. */
static void a_reset_takes_effect_immediately_if_nobody_is_connected(void **state) {
    const tendon_simulated_fjorden_options options = {.open = true, .bonded = true};
    (void)state;
    fjorden_connected(&options);
    device_disconnect(f, 0);
    tendon_simulated_fjorden_power_off(&grip, f->now);
    assert_int_equal(f->device.ops->pairing(f->device.context), 0);
    tendon_simulated_fjorden_reset_bond(&grip, f->now);
    assert_int_equal(f->device.ops->deadline(f->device.context), UINT64_MAX);
    assert_int_equal(f->device.ops->pairing(f->device.context),
                     TENDON_PERIPHERAL_PAIRABLE | TENDON_PERIPHERAL_CLEAR_BONDS);
    /* Power-off does not undo a reset that is about to happen. */
    fjorden_connected(&options);
    tendon_simulated_fjorden_reset_bond(&grip, 5000);
    tendon_simulated_fjorden_power_off(&grip, 5050);
    device_run(f, 5149);
    assert_false(f->centrals[0].bearer.closed);
    device_run(f, 5150);
    assert_true(f->centrals[0].bearer.closed);
    assert_int_equal(f->device.ops->pairing(f->device.context),
                     TENDON_PERIPHERAL_PAIRABLE | TENDON_PERIPHERAL_CLEAR_BONDS);
    /* It happens once: the next bond stays. */
    device_disconnect(f, 0);
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK);
    f->device.ops->paired(f->device.context, &f->centrals[0].bearer, f->now);
    tendon_simulated_fjorden_power_off(&grip, f->now);
    device_run(f, f->now + 200);
    assert_true(f->centrals[0].bearer.closed);
    assert_int_equal(f->device.ops->pairing(f->device.context), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_advertises_its_service_and_hid, fjorden_setup),
        cmocka_unit_test_setup(the_whole_table, fjorden_setup),
        cmocka_unit_test(strings_and_battery_are_options),
        cmocka_unit_test(any_part_can_be_missing),
        cmocka_unit_test(a_grip_that_rejects_every_subscription),
        cmocka_unit_test(without_encryption_it_says_little),
        cmocka_unit_test(it_takes_one_bond),
        cmocka_unit_test_setup(four_centrals_fit, fjorden_setup),
        cmocka_unit_test(a_reset_takes_effect_immediately_if_nobody_is_connected),
    };
    return cmocka_run_group_tests_name("simulate_fjorden_grip", tests, NULL, NULL);
}
