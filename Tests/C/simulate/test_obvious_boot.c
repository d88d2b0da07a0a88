/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: activation, trial, confirmation, rollback, restarts. */
#include "obvious_fixture.h"

static uint8_t image[OBVIOUS_IMAGE_MAX], manifest[136];

enum { OLD = 1003000, NEW = 1004000, TRIAL_MS = 300000 };

static void connect_again(void) {
    obvious_disconnect(0);
    obvious_connect(0, 247);
    obvious_hello(0);
    obvious_run(o.now); /* what follows the response */
}

/* Version 1.4.0 is staged. */
static void given(const tendon_simulated_obvious_options *options, size_t length) {
    obvious_new(options);
    obvious_connect(0, 247);
    obvious_hello(0);
    for (size_t i = 0; i < length; i++) {
        image[i] = (uint8_t)(7 * i);
    }
    obvious_manifest(manifest, NEW, 3, image, length);
    assert_int_equal(obvious_transfer(0, 2, image, length, 300, manifest), 0);
}

static uint64_t activate(void) {
    size_t length;
    assert_int_equal(obvious_ask_hex(0, 0x30, "e0 51 0f 00 01 0a"), 0); /* 8.23: after 1 s */
    uint64_t asked = o.now;
    assert_int_equal(obvious_ask(0, 0x32, "", 0), 0); /* until then nothing is on trial */
    const uint8_t *fw_state = obvious_payload(0, &length);
    assert_true(length == 20 && fw_state[4] == 1 && fw_state[18] == 0 && fw_state[19] == 0);
    obvious_run(o.now + 999);
    obvious_expect_event(0, 0x81, "03 e8 03");
    assert_true(o.gateways[0].connected);
    obvious_run(asked + 2000);
    assert_false(o.gateways[0].connected);
    connect_again();
    return asked + 1000 + 300; /* the first boot of the trial */
}

/* The version that runs, and whether it is on trial. */
static void expect_running(uint32_t version, bool trial) {
    size_t length;
    assert_int_equal(obvious_ask(0, 0x32, "", 0), 0);
    const uint8_t *payload = obvious_payload(0, &length);
    assert_int_equal(length, 20);
    assert_int_equal(obvious_u32(payload), version);
    assert_int_equal(payload[4], trial ? 2 : 1);
    assert_int_equal(obvious_ask(0, 0x02, "", 0), 0);
    payload = obvious_payload(0, &length);
    assert_int_equal(obvious_u32(payload + 12), version);
    assert_int_equal((payload[36] & 2) != 0, trial);
}

static void status_flags(const char *value) {
    gateway *g = &o.gateways[0];
    const uint8_t read[3] = {0x0A, (uint8_t)o.device.status_handle, 0};
    g->count = 0;
    (void)tendon_att_bearer_receive(&g->bearer, read, 3, o.now);
    assert_hex(g->queue[0].bytes, g->queue[0].length, value);
    g->count = 0;
}

static void a_trial_that_is_confirmed_stays(void **state) {
    (void)state;
    given(NULL, 1000);
    uint32_t boot_id = o.device.boot_id;
    uint64_t began = activate();
    assert_int_not_equal(o.device.boot_id, boot_id);
    uint16_t left = (uint16_t)((began + TRIAL_MS - o.now) / 1000);
    assert_int_equal(o.gateways[0].events, 1); /* EVT_FW_TRIAL after HELLO */
    char event[24];
    snprintf(event, sizeof event, "e0 51 0f 00 %02x %02x", left & 0xFF, left >> 8);
    obvious_expect_event(0, 0x83, event);
    assert_int_equal(obvious_ask(0, 0x32, "", 0), 0); /* 8.24, epoch not raised yet */
    char text[80];
    snprintf(text, sizeof text, "e0510f00 02 ffffffff 00 f84d0f00 00000000 %02x%02x", left & 0xFF, left >> 8);
    obvious_expect(0, text);
    expect_running(NEW, true);
    status_flags("0b 4f 47 50 01 02 00");
    assert_int_equal(obvious_begin(0, 2, 0, image, 1000, manifest), 4); /* the other slot is needed */
    assert_int_equal(obvious_ask_hex(0, 0x31, "f8 4d 0f 00 01"), 3);    /* another version */
    assert_int_equal(obvious_ask_hex(0, 0x31, "e0 51 0f 00 01"), 0);
    assert_int_equal(obvious_ask(0, 0x32, "", 0), 0);
    obvious_expect(0, "e0510f00 01 ffffffff 00 f84d0f00 03000000 0000");
    status_flags("0b 4f 47 50 01 00 00");
    assert_int_equal(obvious_ask_hex(0, 0x31, "e0 51 0f 00 01"), 0); /* again */
    obvious_run(began + 2 * TRIAL_MS);
    expect_running(NEW, false);
    tendon_simulated_obvious_power_cut(&o.device, o.now);
    obvious_run(o.now + 1000);
    connect_again();
    expect_running(NEW, false);
    size_t length;
    assert_int_equal(obvious_ask_hex(0, 0x22, "00 00 00 00"), 0);
    assert_int_equal(obvious_payload(0, &length)[1], 3);                      /* the transfer is applied */
    assert_int_equal(obvious_transfer(0, 2, image, 1000, 300, manifest), 19); /* not newer now */
    assert_int_equal(o.device.counters.rollbacks, 0);
}

static void a_trial_ends_after_300_s(void **state) {
    (void)state;
    given(NULL, 1000);
    uint64_t began = activate();
    obvious_run(began + TRIAL_MS - 1);
    expect_running(NEW, true);
    obvious_run(began + TRIAL_MS);
    obvious_expect_event(0, 0x81, "04 00 00");
    obvious_run(began + TRIAL_MS + 500);
    assert_false(o.gateways[0].connected);
    connect_again();
    expect_running(OLD, false);
    assert_int_equal(obvious_ask(0, 0x32, "", 0), 0);
    obvious_expect(0, "f84d0f00 01 ffffffff 00 ffffffff 00000000 0000");
    assert_int_equal(obvious_ask_hex(0, 0x30, "e0 51 0f 00 01 00"), 20); /* it is not tried again by itself */
    /* It can be staged again: its bytes are still there. */
    uint64_t bytes = o.device.counters.data_bytes;
    assert_int_equal(obvious_transfer(0, 2, image, 1000, 300, manifest), 0);
    assert_int_equal(o.device.counters.data_bytes, bytes);
    (void)activate();
    expect_running(NEW, true);
}

static void a_confirmation_after_the_rollback_is_too_late(void **state) {
    (void)state;
    given(NULL, 1000);
    (void)activate();
    assert_int_equal(obvious_ask_hex(0, 0x31, "e0 51 0f 00 00"), 0);
    assert_int_equal(obvious_ask_hex(0, 0x31, "e0 51 0f 00 01"), 20);
    assert_int_equal(obvious_ask_hex(0, 0x31, "e0 51 0f 00 00"), 20);
    obvious_run(o.now + 2000);
    connect_again();
    expect_running(OLD, false);
    assert_int_equal(o.device.counters.rollbacks, 1);
}

static void a_trial_ends_after_three_boots(void **state) {
    (void)state;
    given(NULL, 1000);
    (void)activate();
    for (unsigned boots = 1; boots <= 3; boots++) {
        expect_running(NEW, true);
        tendon_simulated_obvious_power_cut(&o.device, o.now);
        obvious_run(o.now + 1000);
        connect_again();
    }
    expect_running(OLD, false);
    assert_int_equal(o.device.counters.rollbacks, 1);
}

static void a_watchdog_ends_a_trial(void **state) {
    (void)state;
    given(NULL, 1000);
    tendon_simulated_obvious_watchdog(&o.device, o.now); /* not on trial yet: no matter */
    obvious_run(o.now + 1000);
    connect_again();
    expect_running(OLD, false);
    (void)activate();
    expect_running(NEW, true);
    tendon_simulated_obvious_watchdog(&o.device, o.now);
    obvious_run(o.now + 1000);
    connect_again();
    expect_running(OLD, false);
}

/* Before the first boot of the trial, a reset is only the restart that was announced. */
static void a_watchdog_before_the_trial_starts_it(void **state) {
    (void)state;
    given(NULL, 1000);
    assert_int_equal(obvious_ask_hex(0, 0x30, "e0 51 0f 00 01 0a"), 0);
    tendon_simulated_obvious_watchdog(&o.device, o.now);
    obvious_run(o.now + 1000);
    connect_again();
    expect_running(NEW, true);
}

/* A host may be late to report the end of a connection: nothing of it is left after the boot. */
static void a_connection_does_not_outlive_the_power(void **state) {
    (void)state;
    given(NULL, 1000);
    tendon_simulated_obvious_power_cut(&o.device, o.now);
    assert_true(o.gateways[0].bearer.closed);
    o.seam.ops->tick(o.seam.context, o.now + 300);
    assert_true(o.device.running);
    assert_false(o.device.links[0].ready);
    assert_int_equal(tendon_simulated_obvious_set(&o.device, 16, 1, 2, o.now + 300), TENDON_OK);
    assert_int_equal(o.device.links[0].frame_count, 0);
}

static void a_rejected_trial_is_rolled_back(void **state) {
    (void)state;
    given(NULL, 1000);
    (void)activate();
    assert_int_equal(obvious_ask_hex(0, 0x31, "e0 51 0f 00 00"), 0);
    obvious_run(o.now + 50);
    obvious_expect_event(0, 0x81, "04 64 00");
    obvious_run(o.now + 1000);
    connect_again();
    expect_running(OLD, false);
}

/* The features and the counter are the same in both directions. */
static void features_and_counter_survive(void **state) {
    (void)state;
    uint8_t package[132];
    given(NULL, 1000);
    assert_int_equal(obvious_ask_hex(0, 0x11, "01 10 00 02"), 0);
    (void)activate();
    assert_int_equal(obvious_ask_hex(0, 0x10, "02 10 00 11 00"), 0);
    obvious_expect(0, "02 10 00 01 02 11 00 01 02");
    size_t length = obvious_package(package, 2, 0, 50, (const uint8_t *)"\x11\x00\x01\x01\x00\x00\x00\x00", 1);
    assert_int_equal(obvious_transfer(0, 1, package, length, 60, NULL), 0);
    assert_int_equal(obvious_ask_hex(0, 0x31, "e0 51 0f 00 00"), 0);
    obvious_run(o.now + 2000);
    connect_again();
    expect_running(OLD, false);
    assert_int_equal(obvious_ask_hex(0, 0x10, "02 10 00 11 00"), 0);
    obvious_expect(0, "02 10 00 01 02 11 00 01 01");
    assert_int_equal(obvious_ask(0, 0x12, "", 0), 0);
    assert_int_equal(obvious_payload(0, &length)[0], 50);
}

/* An epoch counts from the confirmation on. */
static void the_epoch_is_raised_by_the_confirmation(void **state) {
    (void)state;
    for (unsigned confirms = 0; confirms < 2; confirms++) {
        given(NULL, 1000);
        (void)activate();
        assert_int_equal(obvious_ask_hex(0, 0x31, confirms != 0 ? "e0 51 0f 00 01" : "e0 51 0f 00 00"), 0);
        obvious_run(o.now + 2000);
        connect_again();
        assert_int_equal(o.device.boot.epoch, confirms != 0 ? 3 : 0);
        obvious_manifest(manifest, 1005000, 2, image, 1000);
        assert_int_equal(obvious_transfer(0, 2, image, 1000, 300, manifest), confirms != 0 ? 19 : 0);
    }
}

static void activation_requires_an_image_and_a_battery(void **state) {
    (void)state;
    given(NULL, 1000);
    assert_int_equal(obvious_ask_hex(0, 0x30, "e0 51 0f 00 00 0a"), 3);
    assert_int_equal(obvious_ask_hex(0, 0x30, "e1 51 0f 00 01 0a"), 3);
    tendon_simulated_obvious_set_battery(&o.device, 19, o.now);
    assert_int_equal(obvious_ask_hex(0, 0x30, "e0 51 0f 00 01 0a"), 22);
    tendon_simulated_obvious_set_battery(&o.device, 20, o.now);
    o.flash.fail_next = 1;
    assert_int_equal(obvious_ask_hex(0, 0x30, "e0 51 0f 00 01 0a"), 21);
    assert_int_equal(obvious_ask_hex(0, 0x30, "e0 51 0f 00 01 ff"), 0);
    assert_int_equal(obvious_ask_hex(0, 0x30, "e0 51 0f 00 01 00"), 4); /* pending */
    obvious_run(o.now + 25000);
    assert_true(o.gateways[0].connected);
    obvious_run(o.now + 1500);
    assert_false(o.gateways[0].connected);
}

/* Before its first page is erased, the slot is empty. */
static void another_image_replaces_a_staged_one(void **state) {
    (void)state;
    given(NULL, 1000);
    obvious_manifest(manifest, 1005000, 3, image, 999);
    assert_int_equal(obvious_begin(0, 2, 0, image, 999, manifest), 0);
    assert_int_equal(obvious_ask(0, 0x32, "", 0), 0);
    obvious_expect(0, "f84d0f00 01 c8550f00 01 ffffffff 00000000 0000");
    assert_int_equal(obvious_ask_hex(0, 0x30, "e0 51 0f 00 01 00"), 20);
    assert_int_equal(o.device.boot.slots[1].state, 0);
    assert_int_equal(obvious_ask_hex(0, 0x24, "00 00 00 00 00"), 0);
    assert_int_equal(obvious_ask(0, 0x32, "", 0), 0);
    obvious_expect(0, "f84d0f00 01 ffffffff 00 ffffffff 00000000 0000");
}

/* The slot of the staged image changes after its check: the bootloader looks again. */
static void a_damaged_image_is_not_booted(void **state) {
    (void)state;
    given(NULL, 1000);
    uint8_t *slot = o.memory + o.device.slot_page[1] * OBVIOUS_PAGE;
    slot[500] ^= 1;
    assert_int_equal(obvious_ask_hex(0, 0x30, "e0 51 0f 00 01 00"), 0);
    obvious_run(o.now + 2000);
    connect_again();
    expect_running(OLD, false);
    assert_int_equal(o.device.counters.rollbacks, 1);
}

static void a_damaged_active_image_falls_back(void **state) {
    (void)state;
    given(NULL, 1000);
    (void)activate();
    assert_int_equal(obvious_ask_hex(0, 0x31, "e0 51 0f 00 01"), 0);
    o.memory[o.device.slot_page[1] * OBVIOUS_PAGE + 500] ^= 1;
    tendon_simulated_obvious_power_cut(&o.device, o.now);
    obvious_run(o.now + 1000);
    connect_again();
    expect_running(OLD, false);
    assert_int_equal(obvious_ask(0, 0x32, "", 0), 0);
    obvious_expect(0, "f84d0f00 01 ffffffff 00 ffffffff 03000000 0000"); /* nothing to go back to */
    o.memory[o.device.slot_page[0] * OBVIOUS_PAGE] ^= 1;                 /* now both: the recovery image */
    tendon_simulated_obvious_power_cut(&o.device, o.now);
    obvious_run(o.now + 1000);
    connect_again();
    status_flags("0b 4f 47 50 01 01 00");
    /* It takes a firmware. */
    assert_int_equal(obvious_transfer(0, 2, image, 1000, 300, manifest), 0);
    (void)activate();
    expect_running(NEW, true);
    assert_int_equal(obvious_ask_hex(0, 0x31, "e0 51 0f 00 01"), 0);
    tendon_simulated_obvious_power_cut(&o.device, o.now);
    obvious_run(o.now + 1000);
    connect_again();
    expect_running(NEW, false);
}

static void the_recovery_image_on_request(void **state) {
    (void)state;
    given(NULL, 1000);
    assert_int_equal(obvious_ask_hex(0, 0x33, "01 01"), 0);
    obvious_run(o.now + 50);
    obvious_expect_event(0, 0x81, "01 64 00");
    obvious_run(o.now + 1000);
    connect_again();
    status_flags("0b 4f 47 50 01 01 00");
    assert_int_equal(obvious_ask_hex(0, 0x10, "01 10 00"), 6);
    assert_int_equal(obvious_ask_hex(0, 0x33, "00 01"), 0);
    obvious_run(o.now + 2000);
    connect_again();
    status_flags("0b 4f 47 50 01 00 00");
    assert_int_equal(obvious_ask_hex(0, 0x10, "01 10 00"), 0);
}

/* While it is off, there is nobody to connect with. */
static void it_is_not_connectable_while_it_boots(void **state) {
    (void)state;
    tendon_att_bearer bearer;
    given(NULL, 1000);
    tendon_simulated_obvious_power_cut(&o.device, o.now);
    obvious_disconnect(0);
    tendon_att_bearer_init(&bearer, (tendon_bearer_io){0}, 23);
    assert_int_equal(o.seam.ops->connected(o.seam.context, &bearer, o.now + 299), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(o.seam.ops->deadline(o.seam.context), o.now + 300);
    assert_int_equal(o.seam.ops->connected(o.seam.context, &bearer, o.now + 300), TENDON_OK);
    assert_int_equal(o.device.counters.boots, 2);
}

/* A process that starts again may have another clock: a trial does not end early, and does not last for ever. */
static void a_trial_in_a_new_process(void **state) {
    (void)state;
    given(NULL, 1000);
    (void)activate();
    o.now = 1000; /* before the trial began */
    obvious_again();
    connect_again();
    expect_running(NEW, true);
    obvious_run(1000 + TRIAL_MS + 1000);
    connect_again();
    expect_running(OLD, false);
}

/* The flash memory can be a file of the host: a record with the right CRC holds any bytes, and any number of them. */
static void records_that_no_device_wrote(void **state) {
    (void)state;
    enum { LONGEST = 200, TURNS = 4000 };
    dice d = {0x0B710005u};
    for (unsigned turn = 0; turn < TURNS; turn++) {
        tendon_simulated_store *const stores[] = {&o.device.feature_store, &o.device.boot_store,
                                                  &o.device.session_store, &o.device.progress_store};
        uint8_t record[LONGEST];
        if (turn % 50 == 0) {
            obvious_new(NULL);
            obvious_run(o.now + 1000);
        }
        size_t which = (size_t)(roll(&d) % 4), length = (size_t)(roll(&d) % (which == 3 ? 60 : LONGEST));
        bool small = roll(&d) % 2 == 0; /* numbers that are nearly right */
        for (size_t i = 0; i < length; i++) {
            record[i] = (uint8_t)(small ? roll(&d) % 3 : roll(&d));
        }
        assert_int_equal(tendon_simulated_store_write(stores[which], record, (uint32_t)length), TENDON_OK);
        obvious_again();
        obvious_run(o.now + 1000);
        assert_true(o.device.feature_count <= TENDON_OBVIOUS_FEATURE_MAX);
        assert_true(o.device.slot <= 1 && o.device.boot.active <= 1 && o.device.session.slot <= 1);
        assert_true(o.device.session.offset <= o.device.session.size);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_that_no_device_wrote),
        cmocka_unit_test(a_trial_that_is_confirmed_stays),
        cmocka_unit_test(a_trial_ends_after_300_s),
        cmocka_unit_test(a_confirmation_after_the_rollback_is_too_late),
        cmocka_unit_test(a_trial_ends_after_three_boots),
        cmocka_unit_test(a_watchdog_ends_a_trial),
        cmocka_unit_test(a_watchdog_before_the_trial_starts_it),
        cmocka_unit_test(a_connection_does_not_outlive_the_power),
        cmocka_unit_test(a_rejected_trial_is_rolled_back),
        cmocka_unit_test(features_and_counter_survive),
        cmocka_unit_test(the_epoch_is_raised_by_the_confirmation),
        cmocka_unit_test(activation_requires_an_image_and_a_battery),
        cmocka_unit_test(another_image_replaces_a_staged_one),
        cmocka_unit_test(a_damaged_image_is_not_booted),
        cmocka_unit_test(a_damaged_active_image_falls_back),
        cmocka_unit_test(the_recovery_image_on_request),
        cmocka_unit_test(it_is_not_connectable_while_it_boots),
        cmocka_unit_test(a_trial_in_a_new_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
