/* SPDX-License-Identifier: MIT */
/* The last slot of each table, the largest handle, what a killed program has left enabled, and duplicates. */
#include "bluez_connecting.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* docs/bluez-states.md: Command Disallowed, and no other program has the adapter open: disabled once, then retried. */
static void what_a_killed_program_left_enabled_is_disabled_once(void **state) {
    (void)state;
    for (int advertises = 0; advertises < 2; advertises++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        fake.programs = 0;
        uint16_t first = advertises ? bluez_advertising_parameters[0] : bluez_scan_parameters[0];
        uint16_t enable = advertises ? bluez_advertising_enable[0] : bluez_scan_enable[0];
        if (advertises) {
            bluez_start_advertising(b);
        } else {
            bluez_start_scan(b);
        }
        (void)bluez_answer(b, first, HCI_COMMAND_DISALLOWED_ERROR);
        assert_int_equal(bluez_answer(b, enable, 0)[0], 0);
        (void)bluez_answer(b, first, HCI_COMMAND_DISALLOWED_ERROR); /* it was not that */
        bluez_expect_nothing(b);
        bluez_tick(b, tendon_monotonic_ms());
        assert_int_equal(b->failure, TENDON_RADIO_ERROR_ADAPTER_BUSY);
        bluez_close(b);
    }
}

/* A connect waits while the scan may be on, and may go on while the adapter recovers. */
static void a_scan_of_unknown_outcome_blocks_a_connect(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    assert_true(tendon_bluez_scan_idle(&b->radio));
    static const struct {
        uint8_t scan, power;
        bool idle;
    } cases[] = {{TENDON_BLUEZ_OFF, TENDON_BLUEZ_POWERED, true},    {TENDON_BLUEZ_READY, TENDON_BLUEZ_POWERED, true},
                 {TENDON_BLUEZ_ON, TENDON_BLUEZ_POWERED, false},    {TENDON_BLUEZ_STALE, TENDON_BLUEZ_POWERED, false},
                 {TENDON_BLUEZ_OFF, TENDON_BLUEZ_RECOVERING, true}, {TENDON_BLUEZ_OFF, TENDON_BLUEZ_FAULTY, false},
                 {TENDON_BLUEZ_OFF, TENDON_BLUEZ_RESETTING, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        b->radio.scan.activity.state = cases[i].scan;
        b->radio.power.state = cases[i].power;
        assert_int_equal(tendon_bluez_scan_idle(&b->radio), cases[i].idle);
    }
    b->radio.scan.activity.state = TENDON_BLUEZ_OFF;
    b->radio.power.state = TENDON_BLUEZ_POWERED;
    bluez_close(b);
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    (void)now;
    *(tendon_status *)context = reason;
}

static void the_last_slots_are_like_the_others(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_link links[TENDON_BLUEZ_ATTEMPTS];
    tendon_status reasons[TENDON_BLUEZ_ATTEMPTS] = {TENDON_OK};
    uint64_t now = tendon_monotonic_ms();
    b->radio.leaving[TENDON_BLUEZ_LEAVING - 1] =
        (tendon_bluez_pending_disconnect){.peer = bluez_peer, .handle = 0x40, .until = now + 1000};
    for (size_t i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        tendon_address peer = bluez_peer;
        peer.bytes[5] = (uint8_t)(i == 0 ? peer.bytes[5] : i + 100);
        tendon_link_init(&links[i], &(tendon_link_callbacks){.context = &reasons[i], .closed = on_closed});
        assert_int_equal(tendon_radio_connect(&b->radio.radio, &links[i], &peer, UINT64_MAX), TENDON_OK);
        assert_int_equal(fake.connects, i); /* the first waits for the end of its last connection */
    }
    b->radio.leaving[TENDON_BLUEZ_LEAVING - 1].until = now;
    bluez_tick(b, now);
    assert_int_equal(fake.connects, TENDON_BLUEZ_ATTEMPTS);
    tendon_bluez_fail(&b->radio, TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    for (size_t i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        assert_int_equal(reasons[i], TENDON_RADIO_ERROR_NO_ADAPTER);
    }
    bluez_close(b);
}

/* The reason of another connection is not that of this one; a link that has no connection has no handle. */
static void a_reason_belongs_to_its_handle(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
    static const uint8_t other[] = {0, 0x41, 0, 0x08};
    bluez_event(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, other, sizeof other);
    bluez_read(l->b);
    assert_int_equal(tendon_bluez_link_reason(&l->link, 0, false), TENDON_RADIO_ERROR_PEER_CLOSED);
    bluez_connecting_close(l);
}

/* 0x0EFF is the largest handle (Vol 4 Part E 5.4.2). */
static void the_largest_handle_is_one(void **state) {
    (void)state;
    for (uint16_t handle = 0x0EFE; handle <= 0x0F00; handle++) {
        bluez_connecting *l = bluez_connecting_idle();
        fake.old_connections = 1;
        fake.handle = fake.connection.handle = handle;
        tendon_link_init(&l->link, NULL);
        assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &bluez_peer, UINT64_MAX), TENDON_OK);
        if (handle <= 0x0EFF) {
            (void)bluez_expect(l->b, 0x0406);
        } else {
            bluez_expect_nothing(l->b);
        }
        bluez_connecting_close(l);
    }
}

/* The filter is one of enabling; disabling has none (Vol 4 Part E 7.8.11). */
static void duplicates_are_filtered_as_the_owner_wants(void **state) {
    (void)state;
    for (int filter = 0; filter < 2; filter++) {
        for (int extended = 0; extended < 2; extended++) {
            bluez_bench *b = bluez_open(extended, &bluez_public_address);
            const tendon_scan_parameters parameters = {.filter_duplicates = filter};
            assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &parameters), TENDON_OK);
            (void)bluez_answer(b, bluez_scan_parameters[extended], 0);
            const uint8_t *sent = bluez_answer(b, bluez_scan_enable[extended], 0);
            assert_int_equal(sent[0], 1);
            assert_int_equal(sent[1], filter);
            assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
            sent = bluez_answer(b, bluez_scan_enable[extended], 0);
            assert_int_equal(sent[0] | sent[1], 0);
            bluez_close(b);
        }
    }
}

/* LE 1M and LE Coded, each with the same times; only with the extended commands and the feature. */
static void le_coded_where_the_controller_has_it(void **state) {
    (void)state;
    static const uint8_t sent[] = {0, 0, 0x05, 1, 160, 0, 80, 0, 1, 160, 0, 80, 0},
                         usual[] = {0, 0, 0x01, 1, 160, 0, 80, 0};
    const tendon_scan_parameters coded = {.active = true, .coded = true, .interval_ms = 100, .window_ms = 50};
    bluez_bench *b = bluez_open(true, &bluez_public_address);
    b->radio.limits.features = TENDON_BLUEZ_FEATURE_CODED;
    assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &coded), TENDON_OK);
    assert_memory_equal(bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS, 0), sent, sizeof sent);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE, 0);
    bluez_close(b);
    for (int i = 0; i < 2; i++) { /* a second user's request does not end the first one's scan */
        b = bluez_open(i == 0, &bluez_public_address);
        b->radio.limits.features = i == 0 ? ~TENDON_BLUEZ_FEATURE_CODED : TENDON_BLUEZ_FEATURE_CODED;
        assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &coded), TENDON_ERROR_UNSUPPORTED);
        assert_false(b->radio.radio.scanning);
        bluez_expect_nothing(b);
        tendon_scan_lease lease = {0};
        tendon_scan_parameters parameters = coded;
        parameters.coded = false;
        assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &parameters), TENDON_OK);
        const uint8_t *scan = bluez_answer(b, bluez_scan_parameters[i == 0], 0);
        if (i == 0) {
            assert_memory_equal(scan, usual, sizeof usual);
        }
        (void)bluez_answer(b, bluez_scan_enable[i == 0], 0);
        assert_int_equal(tendon_radio_scan_acquire(&b->radio.radio, &lease, &coded), TENDON_ERROR_UNSUPPORTED);
        assert_true(b->radio.radio.scanning);
        assert_false(b->radio.radio.scan.coded);
        bluez_close(b);
    }
}

/* Numbers of doc/mgmt-api.txt: Get PHY Configuration 0x0044, Set PHY Configuration 0x0045, LE Coded TX bit 13, RX bit
 * 14. Index 7; PHYs are sets of 32 bits: supported, configurable, selected. */
static void le_coded_is_added_to_the_phys_of_the_adapter(void **state) {
    (void)state;
    enum { LACKS, LACKS_TX, HAS, FIXED, REFUSED, CUT, NOT_WANTED, CASES };
    static const uint8_t get[] = {0x44, 0, 7, 0, 0, 0}, set[] = {0x45, 0, 7, 0, 4, 0, 0xFF, 0x67, 0, 0};
    for (int i = 0; i < CASES; i++) {
        bluez_bench *b = bluez_open(true, &bluez_public_address);
        b->radio.limits.features = TENDON_BLUEZ_FEATURE_CODED;
        const tendon_scan_parameters coded = {.coded = true}, usual = {0};
        uint8_t pdu[32];
        assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &usual), TENDON_OK);
        bluez_expect_no_management(b);
        assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
        assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &coded), TENDON_OK);
        assert_int_equal(recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), sizeof get);
        assert_memory_equal(pdu, get, sizeof get);
        uint8_t answer[] = {1, 0, 7, 0, 15, 0, 0x44, 0, 0, 0xFF, 0x7F, 0, 0, 0xFE, 0x79, 0, 0, 0xFF, 7, 0, 0};
        answer[18] = i == HAS ? 0x67 : i == LACKS_TX ? 0x47 : 7;
        answer[14] = i == FIXED ? 0x19 : 0x79;
        answer[8] = i == REFUSED ? 0x0B : 0;
        size_t length = i == CUT ? sizeof answer - 1 : sizeof answer;
        answer[4] = (uint8_t)(length - 6);
        if (i == NOT_WANTED) {
            assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
            assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &usual), TENDON_OK);
        }
        assert_int_equal(send(b->kernel, answer, length, 0), (ssize_t)length);
        bluez_read(b);
        if (i == LACKS || i == LACKS_TX) {
            assert_int_equal(recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), sizeof set);
            assert_memory_equal(pdu, set, sizeof set);
        }
        bluez_expect_no_management(b);
        bluez_close(b);
    }
}

/* The send of the first command fails: the call says so. */
static void a_start_that_ends_the_radio_says_why(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    static const uint8_t data[] = {2, 1, 6};
    const tendon_advertise_parameters parameters = {.data = data, .length = sizeof data};
    fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENODEV, .times = 1};
    assert_int_equal(tendon_radio_advertise_start(&b->radio.radio, &parameters), TENDON_RADIO_ERROR_NO_ADAPTER);
    tendon_radio_close(&b->radio.radio);
    uint8_t pdu[16];
    assert_true(recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT) <= 0); /* no discovery, so none is stopped */
    bluez_close(b);
    b = bluez_open(false, &bluez_public_address);
    tendon_radio_close(&b->radio.radio);
    assert_true(recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT) <= 0);
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_killed_program_left_enabled_is_disabled_once),
        cmocka_unit_test(a_scan_of_unknown_outcome_blocks_a_connect),
        cmocka_unit_test(the_last_slots_are_like_the_others),
        cmocka_unit_test(a_reason_belongs_to_its_handle),
        cmocka_unit_test(the_largest_handle_is_one),
        cmocka_unit_test(duplicates_are_filtered_as_the_owner_wants),
        cmocka_unit_test(le_coded_where_the_controller_has_it),
        cmocka_unit_test(le_coded_is_added_to_the_phys_of_the_adapter),
        cmocka_unit_test(a_start_that_ends_the_radio_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
