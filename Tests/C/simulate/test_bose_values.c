/* SPDX-License-Identifier: MIT */
/*
 * Simulated Bose wearable: table, values and configuration writes against the
 * worked examples of docs/protocols/bose.md 7 (numbers in the names: e07 is
 * example 7).
 */
#include "bose_fixture.h"

static void e01_device_information(void **state) {
    bose_fixture *f = *state;
    const tendon_simulated_bose_options frames = tendon_simulated_bose_frames();
    bose_init(f, &frames);
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "0a 1b 00", "0b 04 00 40 2c 01 00 00 00 0f 00 07 00 0e 08 00 2f 04 00 00");
}

static void device_information_of_options(void **state) {
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.product_id = 0x4024,
                                                   .variant = 7,
                                                   .sensor_mask = 0x8000007F, /* an unknown bit is reported as it is */
                                                   .gesture_mask = 0x0007001F,
                                                   .transmission_period_ms = 20,
                                                   .max_payload = 0x1234,
                                                   .max_active_sensors = 2,
                                                   .pairing_enabled = true};
    bose_init(f, &options);
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "0a 1b 00", "0b 04 00 40 24 07 80 00 00 7f 00 07 00 1f 14 12 34 02 00 01");
}

static void e02_suspension_is_notified_with_its_reason(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "12 1c 00 01 00", "13");
    tendon_simulated_bose_suspend(&f->device, true, 1, f->in.now);
    device_expect_last(&f->in, 0, "1b 1b 00 04 00 40 2c 00 00 00 00 0f 00 07 00 0e 00 00 00 00 10 08");
    tendon_simulated_bose_suspend(&f->device, true, 2, f->in.now);
    device_expect_last(&f->in, 0, "1b 1b 00 04 00 40 2c 00 00 00 00 0f 00 07 00 0e 00 00 00 00 20 08");
    size_t before = f->in.centrals[0].count;
    tendon_simulated_bose_suspend(&f->device, true, 2, f->in.now); /* no change, no notification */
    assert_int_equal(f->in.centrals[0].count, before);
    tendon_simulated_bose_suspend(&f->device, false, 3, f->in.now);
    device_expect_last(&f->in, 0, "1b 1b 00 04 00 40 2c 00 00 00 00 0f 00 07 00 0e 00 00 00 00 00 00");
}

static void e03_pairing_bits(void **state) {
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.pairing_required = true};
    bose_init(f, &options);
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "0a 1b 00", "0b 04 00 40 2c 00 00 00 00 0f 00 07 00 0e 00 00 00 00 00 02");
    bose_exchange(f, 0, "12 1c 00 01 00", "13"); /* characteristic 1 needs no encryption */
    tendon_simulated_bose_set_pairing_mode(&f->device, true, f->in.now);
    device_expect_last(&f->in, 0, "1b 1b 00 04 00 40 2c 00 00 00 00 0f 00 07 00 0e 00 00 00 00 00 03");
    tendon_simulated_bose_paired(&f->device, &f->in.centrals[0].bearer, f->in.now);
    device_expect_last(&f->in, 0, "1b 1b 00 04 00 40 2c 00 00 00 00 0f 00 07 00 0e 00 00 00 00 00 07");
    tendon_simulated_bose_set_pairing_mode(&f->device, false, f->in.now);
    device_expect_last(&f->in, 0, "1b 1b 00 04 00 40 2c 00 00 00 00 0f 00 07 00 0e 00 00 00 00 00 06");
    bose_connect(f, 1, 185); /* another central was not paired */
    bose_exchange(f, 1, "0a 1b 00", "0b 04 00 40 2c 00 00 00 00 0f 00 07 00 0e 00 00 00 00 00 02");
}

static void e04_e05_e06_sensor_information(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "0a 1e 00",
                  "0b 00 ff f8 00 08 80 01 7f ff 00 1f 07 01 f8 30 07 d0 80 01 7f ff 00 1f 07"
                  "02 ff ff 00 01 c0 01 3f ff 00 1f 0a 03 ff ff 00 01 c0 01 3f ff 00 1f 08");
}

static void sensor_information_by_blobs_at_mtu_23(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 23);
    bose_exchange(f, 0, "0a 1e 00", "0b 00 ff f8 00 08 80 01 7f ff 00 1f 07 01 f8 30 07 d0 80 01 7f ff 00");
    bose_exchange(f, 0, "0c 1e 00 16 00", "0d 1f 07 02 ff ff 00 01 c0 01 3f ff 00 1f 0a 03 ff ff 00 01 c0 01 3f");
    bose_exchange(f, 0, "0c 1e 00 2c 00", "0d ff 00 1f 08");
}

static void sensor_information_of_a_mask(void **state) {
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.sensor_mask = 0x0A, .period_mask = 0x7F};
    bose_init(f, &options);
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "0a 1e 00", "0b 01 f8 30 07 d0 80 01 7f ff 00 7f 07 03 ff ff 00 01 c0 01 3f ff 00 7f 08");
    bose_exchange(f, 0, "0a 20 00", "0b 01 00 00 03 00 00");
    const tendon_simulated_bose_options last = {.sensor_mask = 0x41, .period_mask = 0x7F};
    bose_init(f, &last);
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "0a 1e 00", "0b 00 ff f8 00 08 80 01 7f ff 00 7f 07 06 fa ec 05 14 80 01 7f ff 00 7f 0c");
    bose_exchange(f, 0, "0a 20 00", "0b 00 00 00 06 00 00");
}

static void e07_sensor_configuration(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "0a 20 00", "0b 00 00 00 01 00 00 02 00 00 03 00 00");
    bose_exchange(f, 0, "12 20 00 00 00 00 01 00 00 02 00 28 03 00 00", "13");
    bose_exchange(f, 0, "0a 20 00", "0b 00 00 00 01 00 00 02 00 28 03 00 00");
    assert_int_equal(f->device.counters.configuration_writes, 1);
}

static void e08_sensor_configurations_in_turn(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "12 20 00 00 00 50 01 00 50 02 00 50 03 00 00", "13");
    bose_exchange(f, 0, "12 20 00 00 01 40 01 01 40 02 01 40 03 00 00", "13");
    bose_exchange(f, 0, "0a 20 00", "0b 00 01 40 01 01 40 02 01 40 03 00 00");
    bose_exchange(f, 0, "12 20 00 00 00 00 01 00 00 02 00 00 03 00 00", "13");
    bose_exchange(f, 0, "0a 20 00", "0b 00 00 00 01 00 00 02 00 00 03 00 00");
}

static void e20_refused_writes_change_nothing(void **state) {
    static const struct {
        const char *write, *refusal;
    } cases[] = {
        {"12 20 00", "01 12 20 00 80"},
        {"12 20 00 00 00 14", "01 12 20 00 80"},
        {"12 20 00 00 00 14 01 00 00 02 00 00 03 00", "01 12 20 00 80"},
        {"12 20 00 00 00 14 01 00 00 02 00 00 03 00 00 00", "01 12 20 00 80"},
        {"12 20 00 00 00 15 01 00 00 02 00 00 03 00 00", "01 12 20 00 81"}, /* no such period */
        {"12 20 00 00 00 0a 01 00 00 02 00 00 03 00 00", "01 12 20 00 81"}, /* 10 ms: not in the mask */
        {"12 20 00 00 00 00 01 00 00 02 ff ff 03 00 00", "01 12 20 00 81"},
        {"12 20 00 00 00 14 01 00 28 02 00 00 03 00 00", "01 12 20 00 82"}, /* two periods */
        {"12 20 00 01 00 00 00 00 00 02 00 00 03 00 00", "01 12 20 00 82"}, /* out of order */
        {"12 20 00 00 00 00 00 00 00 02 00 00 03 00 00", "01 12 20 00 82"}, /* twice */
        {"12 20 00 00 00 00 01 00 00 02 00 00 04 00 00", "01 12 20 00 85"}, /* not this device's */
        {"12 20 00 ff 00 00 01 00 00 02 00 00 03 00 00", "01 12 20 00 85"},
        {"12 28 00", "01 12 28 00 80"},
        {"12 28 00 81 00 82 00 83 00 c0 00 c1 00 c2", "01 12 28 00 80"},
        {"12 28 00 82 00 81 00 83 00 c0 00 c1 00 c2 00", "01 12 28 00 82"},
        {"12 28 00 80 00 82 00 83 00 c0 00 c1 00 c2 00", "01 12 28 00 82"},
    };
    bose_fixture *f = *state;
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "12 20 00 00 00 14 01 00 00 02 00 14 03 00 00", "13");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bose_exchange(f, 0, cases[i].write, cases[i].refusal);
        bose_exchange(f, 0, "0a 20 00", "0b 00 00 14 01 00 00 02 00 14 03 00 00");
        bose_exchange(f, 0, "0a 28 00", "0b 81 00 82 00 83 00 c0 00 c1 00 c2 00");
        assert_int_equal(f->device.counters.refused_writes, i + 1);
    }
    tendon_simulated_bose_suspend(&f->device, true, 1, f->in.now); /* before all other reasons */
    bose_exchange(f, 0, "12 20 00", "01 12 20 00 84");
    bose_exchange(f, 0, "12 20 00 00 00 00 01 00 00 02 00 00 03 00 00", "01 12 20 00 84");
    bose_exchange(f, 0, "12 28 00 81 00 82 00 83 00 c0 00 c1 00 c2 00", "01 12 28 00 84");
    tendon_simulated_bose_suspend(&f->device, false, 0, f->in.now);
    bose_exchange(f, 0, "0a 20 00", "0b 00 00 14 01 00 00 02 00 14 03 00 00"); /* kept through suspension */
}

static void every_length_of_a_configuration_write(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 185);
    for (size_t length = 0; length <= 64; length++) {
        uint8_t pdu[3 + 64] = {0x12, 0x20, 0x00};
        for (size_t i = 0; i < length; i++) {
            pdu[3 + i] = i % 3 == 0 ? (uint8_t)(i / 3) : 0;
        }
        block exact = block_copy(pdu, 3 + length);
        tendon_att_bearer_receive(&f->in.centrals[0].bearer, exact.data, exact.length, f->in.now);
        free(exact.data);
        device_expect_last(&f->in, 0, length == 12 ? "13" : "01 12 20 00 80");
    }
}

static void throughput_and_number_of_sensors(void **state) {
    bose_fixture *f = *state;
    tendon_simulated_bose_options options = {.max_payload = 23, .max_active_sensors = 2};
    bose_init(f, &options);
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "12 20 00 00 00 14 01 00 00 02 00 14 03 00 00", "13");             /* 10 + 13 */
    bose_exchange(f, 0, "12 20 00 00 00 00 01 00 00 02 00 14 03 00 14", "01 12 20 00 83"); /* 13 + 11 */
    bose_exchange(f, 0, "12 20 00 00 00 14 01 00 14 02 00 14 03 00 00", "01 12 20 00 82"); /* three */
    options.transmission_period_ms = 40; /* two samples of 20 ms a period */
    bose_init(f, &options);
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "12 20 00 00 00 14 01 00 00 02 00 00 03 00 00", "13");             /* 2 * 10 */
    bose_exchange(f, 0, "12 20 00 00 00 00 01 00 00 02 00 14 03 00 00", "01 12 20 00 83"); /* 2 * 13 */
    bose_exchange(f, 0, "12 20 00 00 00 00 01 00 00 02 00 28 03 00 00", "13");             /* 1 * 13 */
}

static void a_long_write_of_seven_sensors_at_mtu_23(void **state) {
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.sensor_mask = 0x7F};
    bose_init(f, &options);
    bose_connect(f, 0, 23);
    bose_exchange(f, 0, "16 20 00 00 00 00 00 14 01 00 14 02 00 14 03 00 14 04 00 14 05 00 14",
                  "17 20 00 00 00 00 00 14 01 00 14 02 00 14 03 00 14 04 00 14 05 00 14");
    bose_exchange(f, 0, "16 20 00 12 00 06 00 14", "17 20 00 12 00 06 00 14");
    bose_exchange(f, 0, "18 01", "19");
    assert_int_equal(f->device.periods[6], 20);
    bose_exchange(f, 0, "16 20 00 03 00 01 00 14", "17 20 00 03 00 01 00 14"); /* a part in the middle */
    bose_exchange(f, 0, "18 01", "01 18 20 00 07");
}

static void e16_gesture_information(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "0a 26 00", "0b 81 01 00 82 01 00 83 01 00 c0 01 00 c1 01 00 c2 01 00");
    const tendon_simulated_bose_options legacy = {.legacy_gesture_information = true, .gesture_mask = 0x1F};
    bose_init(f, &legacy);
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "0a 26 00", "0b 80 01 81 01 82 01 83 01 84 01");
    bose_exchange(f, 0, "12 28 00 80 01 81 00 82 00 83 00 84 01", "13");
    bose_exchange(f, 0, "0a 28 00", "0b 80 01 81 00 82 00 83 00 84 01");
}

static void e17_gesture_configuration(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "0a 28 00", "0b 81 00 82 00 83 00 c0 00 c1 00 c2 00");
    bose_exchange(f, 0, "12 28 00 81 00 82 00 83 00 c0 00 c1 01 c2 00", "13");
    bose_exchange(f, 0, "0a 28 00", "0b 81 00 82 00 83 00 c0 00 c1 01 c2 00");
    bose_exchange(f, 0, "12 28 00 81 ff 82 fe 83 00 c0 00 c1 00 c2 00", "13"); /* only bit 0 counts */
    bose_exchange(f, 0, "0a 28 00", "0b 81 01 82 00 83 00 c0 00 c1 00 c2 00");
}

static void e18_gesture_data(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 185);
    assert_int_equal(tendon_simulated_bose_gesture(&f->device, 0xC1, f->in.now), TENDON_ERROR_WRONG_STATE);
    bose_exchange(f, 0, "12 28 00 81 00 82 00 83 00 c0 00 c1 01 c2 00", "13");
    assert_int_equal(tendon_simulated_bose_gesture(&f->device, 0xC1, f->in.now), TENDON_GATT_ERROR_NOT_SUBSCRIBED);
    bose_exchange(f, 0, "12 2c 00 01 00", "13");
    assert_int_equal(tendon_simulated_bose_gesture(&f->device, 0xC1, f->in.now + 10000), TENDON_OK);
    device_expect_last(&f->in, 0, "1b 2b 00 c1 27 10"); /* the clock started with the connection */
    assert_int_equal(tendon_simulated_bose_gesture(&f->device, 0xC2, f->in.now), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(tendon_simulated_bose_gesture(&f->device, 0x80, f->in.now), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(tendon_simulated_bose_gesture(&f->device, 0x12, f->in.now), TENDON_ERROR_NOT_FOUND);
    tendon_simulated_bose_suspend(&f->device, true, 0, f->in.now);
    assert_int_equal(tendon_simulated_bose_gesture(&f->device, 0xC1, f->in.now), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(f->device.counters.gestures, 1);
}

static void gestures_wait_for_the_link(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 185);
    bose_exchange(f, 0, "12 28 00 81 00 82 00 83 00 c0 01 c1 01 c2 00", "13");
    bose_exchange(f, 0, "12 2c 00 01 00", "13");
    device_forget(&f->in, 0);
    f->in.centrals[0].room = 0;
    for (uint64_t i = 0; i < 9; i++) {
        tendon_simulated_bose_gesture(&f->device, i % 2 == 0 ? 0xC0 : 0xC1, f->in.now + i);
    }
    assert_int_equal(f->device.counters.gestures_lost, 1);
    assert_int_equal(tendon_simulated_bose_deadline(&f->device), UINT64_MAX);
    f->in.centrals[0].room = -1;
    tendon_simulated_bose_writable(&f->device, f->in.now);
    assert_int_equal(f->in.centrals[0].count, 8);
    device_expect(&f->in, 0, 0, "1b 2b 00 c0 00 00");
    device_expect(&f->in, 0, 1, "1b 2b 00 c1 00 01");
    device_expect(&f->in, 0, 7, "1b 2b 00 c1 00 07");
    assert_int_equal(f->device.counters.gestures, 8);
}

static void services_as_a_client_finds_them(void **state) {
    bose_fixture *f = *state;
    bose_connect(f, 0, 247);
    bose_exchange(f, 0, "10 01 00 ff ff 00 28", "11 06 01 00 05 00 00 18 06 00 18 00 0a 18 19 00 2c 00 d2 fd");
    bose_exchange(f, 0, "06 01 00 ff ff 00 28 d2 fd", "07 19 00 2c 00");
    bose_exchange(f, 0, "08 1a 00 1c 00 03 28", "09 15 1a 00 12 1b 00 43 dd 7b ab b2 ef ab a0 33 43 1c 04 83 ad 61 7b");
    bose_exchange(f, 0, "08 1d 00 1e 00 03 28", "09 15 1d 00 02 1e 00 c1 21 22 2a b3 40 fc 80 a6 42 ff 98 e7 b3 5c 85");
    bose_exchange(f, 0, "08 1f 00 21 00 03 28", "09 15 1f 00 1a 20 00 0b 89 80 75 f7 07 46 9b 4b 40 0e 00 f6 8a f3 5a");
    bose_exchange(f, 0, "08 22 00 24 00 03 28", "09 15 22 00 10 23 00 3d 95 4a d5 d1 fb 52 a7 c8 4c 88 49 b8 2a a7 56");
    bose_exchange(f, 0, "08 25 00 26 00 03 28", "09 15 25 00 02 26 00 ad 2d c9 ee 9c 7b 98 b8 cd 4b 5a f9 52 4f 38 a0");
    bose_exchange(f, 0, "08 27 00 29 00 03 28", "09 15 27 00 1a 28 00 d7 f1 96 32 98 1f 34 93 7b 47 80 f7 af 50 e5 21");
    bose_exchange(f, 0, "08 2a 00 2c 00 03 28", "09 15 2a 00 10 2b 00 74 ac 85 3b 4d 89 75 a2 02 48 ba 79 4e dd 14 90");
    bose_exchange(f, 0, "08 06 00 18 00 03 28",
                  "09 07 07 00 02 08 00 23 2a 09 00 02 0a 00 24 2a 0b 00 02 0c 00 25 2a 0d 00 02 0e 00 26 2a"
                  "0f 00 02 10 00 27 2a 11 00 02 12 00 28 2a 13 00 02 14 00 29 2a 15 00 02 16 00 2a 2a"
                  "17 00 02 18 00 50 2a");
    bose_exchange(f, 0, "0a 0e 00", "0b 31 2e 30 2e 30");                            /* firmware 1.0.0 */
    bose_exchange(f, 0, "0a 03 00", "0b 4c 45 2d 42 6f 73 65 20 46 72 61 6d 65 73"); /* LE-Bose Frames */
    bose_exchange(f, 0, "0a 23 00", "01 0a 23 00 02");                               /* data is only notified */
    bose_exchange(f, 0, "0a 2b 00", "01 0a 2b 00 02");
    device_send(&f->in, 0, "52 20 00 00 00 14 01 00 00 02 00 00 03 00 00"); /* writes need a response */
    assert_int_equal(f->device.periods[0], 0);
}

static void protected_until_paired(void **state) {
    static const struct {
        const char *request, *refused, *after;
    } cases[] = {
        {"0a 1e 00", "01 0a 1e 00 05", NULL},
        {"0a 20 00", "01 0a 20 00 05", "0b 00 00 00 01 00 00 02 00 00 03 00 00"},
        {"12 20 00 00 00 00 01 00 00 02 00 00 03 00 00", "01 12 20 00 05", "13"},
        {"12 21 00 01 00", "01 12 21 00 05", "13"},
        {"12 24 00 01 00", "01 12 24 00 05", "13"},
        {"0a 26 00", "01 0a 26 00 05", NULL},
        {"0a 28 00", "01 0a 28 00 05", NULL},
        {"12 28 00 81 00 82 00 83 00 c0 00 c1 00 c2 00", "01 12 28 00 05", "13"},
        {"12 29 00 01 00", "01 12 29 00 05", "13"},
        {"12 2c 00 01 00", "01 12 2c 00 05", "13"},
    };
    bose_fixture *f = *state;
    const tendon_simulated_bose_options options = {.pairing_required = true};
    bose_init(f, &options);
    bose_connect(f, 0, 185);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bose_exchange(f, 0, cases[i].request, cases[i].refused);
    }
    device_send(&f->in, 0, "0a 0e 00");
    assert_int_equal(f->in.centrals[0].pdus[f->in.centrals[0].count - 1].bytes[0], 0x0B); /* 180A is open */
    f->device.centrals.places[0].connection.bonded = true;
    bose_exchange(f, 0, "0a 20 00", "01 0a 20 00 0f"); /* a bond without encryption */
    tendon_simulated_bose_paired(&f->device, &f->in.centrals[0].bearer, f->in.now);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        device_send(&f->in, 0, cases[i].request);
        if (cases[i].after != NULL) {
            device_expect_last(&f->in, 0, cases[i].after);
        }
    }
}

static void advertisement_and_scan_response(void **state) {
    bose_fixture *f = *state;
    uint8_t out[31];
    tendon_peripheral_device device = tendon_simulated_bose_device(&f->device);
    assert_int_equal(device.ops->advertisement(device.context, out, 31), 7);
    const uint8_t expected[] = {0x02, 0x01, 0x06, 0x03, 0x03, 0xD2, 0xFD};
    assert_memory_equal(out, expected, 7);
    assert_int_equal(device.ops->advertisement(device.context, out, 6), TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(device.ops->scan_response(device.context, out, 31), 16);
    assert_memory_equal(out, "\x0f\x09LE-Bose Frames", 16);
    const tendon_simulated_bose_options just = {.name = "01234567890123456789012345678"};
    bose_init(f, &just);
    assert_int_equal(device.ops->scan_response(device.context, out, 31), 31);
    assert_int_equal(out[1], 0x09); /* 29 bytes: whole */
    const tendon_simulated_bose_options named = {.name = "0123456789012345678901234567890"};
    bose_init(f, &named);
    assert_int_equal(device.ops->scan_response(device.context, out, 31), 31);
    assert_memory_equal(out,
                        "\x1e\x08"
                        "01234567890123456789012345678",
                        31);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        bose_test(e01_device_information),
        bose_test(device_information_of_options),
        bose_test(e02_suspension_is_notified_with_its_reason),
        bose_test(e03_pairing_bits),
        bose_test(e04_e05_e06_sensor_information),
        bose_test(sensor_information_by_blobs_at_mtu_23),
        bose_test(sensor_information_of_a_mask),
        bose_test(e07_sensor_configuration),
        bose_test(e08_sensor_configurations_in_turn),
        bose_test(e20_refused_writes_change_nothing),
        bose_test(every_length_of_a_configuration_write),
        bose_test(throughput_and_number_of_sensors),
        bose_test(a_long_write_of_seven_sensors_at_mtu_23),
        bose_test(e16_gesture_information),
        bose_test(e17_gesture_configuration),
        bose_test(e18_gesture_data),
        bose_test(gestures_wait_for_the_link),
        bose_test(services_as_a_client_finds_them),
        bose_test(protected_until_paired),
        bose_test(advertisement_and_scan_response),
    };
    return cmocka_run_group_tests_name("simulate_bose_values", tests, NULL, NULL);
}
