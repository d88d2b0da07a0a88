/* SPDX-License-Identifier: MIT */
/* Adapters without a public address: the static random address that they are given. */
#include "bluez_fixture.h"

#include <sys/socket.h>

#include <errno.h>
#include <string.h>

/* Core Spec Vol 6 Part B 1.3.2.1: two top bits 1, the other 46 neither all 0 nor all 1. */
static void static_addresses_are_what_the_specification_wants(void **state) {
    (void)state;
    uint64_t random = 0x9E3779B97F4A7C15u;
    for (int i = 0; i < 100000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t value = i == 0 ? 0 : i == 1 ? UINT64_MAX : random;
        uint8_t bytes[6];
        memcpy(bytes, &value, sizeof bytes);
        tendon_address address = tendon_bluez_static_address_from(bytes);
        assert_int_equal(address.type, TENDON_ADDRESS_TYPE_RANDOM);
        assert_int_equal(address.bytes[0] & 0xC0, 0xC0);
        assert_true((address.bytes[5] & 3) == 1 || (address.bytes[5] & 3) == 2);
        assert_memory_equal(address.bytes + 1, bytes + 1, 4);
    }
}

/* The controller has no address until one is set; it rejects scanning with a random address until then. */
static void without_a_public_address_the_scan_uses_a_random_one(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        bluez_bench *b = bluez_open(extended, &bluez_random_address);
        bluez_start_scan(b);
        assert_memory_equal(bluez_answer(b, TENDON_HCI_LE_SET_RANDOM_ADDRESS, 0), bluez_random_wire, 6);
        const uint8_t *parameters = bluez_answer(b, bluez_scan_parameters[extended], 0);
        assert_int_equal(extended ? parameters[0] : parameters[5], 1); /* Own_Address_Type: random */
        (void)bluez_answer(b, bluez_scan_enable[extended], 0);
        /* Once is enough. */
        assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
        assert_int_equal(bluez_answer(b, bluez_scan_enable[extended], 0)[0], 0);
        bluez_start_scan(b);
        (void)bluez_answer(b, bluez_scan_parameters[extended], 0);
        (void)bluez_answer(b, bluez_scan_enable[extended], 0);
        assert_int_equal(b->failures, 0);
        bluez_close(b);
    }
}

static void without_a_public_address_it_advertises_with_a_random_one(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        bluez_bench *b = bluez_open(extended, &bluez_random_address);
        bluez_start_advertising(b);
        assert_memory_equal(bluez_answer(b, TENDON_HCI_LE_SET_RANDOM_ADDRESS, 0), bluez_random_wire, 6);
        const uint8_t *parameters = bluez_answer(b, bluez_advertising_parameters[extended], 0);
        assert_int_equal(extended ? parameters[10] : parameters[5], 1); /* Own_Address_Type: random */
        if (extended) {
            const uint8_t *set = bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_SET_RANDOM_ADDRESS, 0);
            assert_int_equal(set[0], TENDON_BLUEZ_ADVERTISING_SET);
            assert_memory_equal(set + 1, bluez_random_wire, 6);
        }
        (void)bluez_answer(b, bluez_advertising_data[extended], 0);
        (void)bluez_answer(b, bluez_scan_response_data[extended], 0);
        assert_int_equal(bluez_answer(b, bluez_advertising_enable[extended], 0)[0], 1);
        assert_true(b->radio.advertising.activity.state == TENDON_BLUEZ_ON);
        bluez_expect_nothing(b);
        bluez_close(b);
    }
}

/* Alone on the adapter it is set 0, whose end is the end of ours. */
static void alone_it_advertises_with_set_0(void **state) {
    (void)state;
    static const uint8_t others_end[] = {TENDON_HCI_LE_ADVERTISING_SET_TERMINATED, 0, 0x1D, 0x41, 0, 0};
    static const uint8_t our_end[] = {TENDON_HCI_LE_ADVERTISING_SET_TERMINATED, 0, 0, 0x41, 0, 0};
    bluez_bench *b = bluez_open(true, &bluez_random_address);
    fake.programs = 0;
    bluez_start_advertising(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_RANDOM_ADDRESS, 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS, 0)[0], 0);
    const uint8_t *set = bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_SET_RANDOM_ADDRESS, 0);
    assert_int_equal(set[0], 0);
    assert_memory_equal(set + 1, bluez_random_wire, 6);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_DATA, 0)[0], 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA, 0)[0], 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE, 0)[2], 0);
    bluez_event(b, TENDON_HCI_LE_META, others_end, sizeof others_end);
    bluez_read(b);
    bluez_expect_nothing(b);
    bluez_event(b, TENDON_HCI_LE_META, our_end, sizeof our_end);
    bluez_read(b);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS, 0)[0], 0); /* on again */
    bluez_close(b);
}

static void with_a_public_address_no_other_is_given(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        bluez_bench *b = bluez_open(extended, &bluez_public_address);
        bluez_start_advertising(b);
        const uint8_t *parameters = bluez_answer(b, bluez_advertising_parameters[extended], 0);
        assert_int_equal(extended ? parameters[10] : parameters[5], 0);
        (void)bluez_answer(b, bluez_advertising_data[extended], 0);
        (void)bluez_answer(b, bluez_scan_response_data[extended], 0);
        (void)bluez_answer(b, bluez_advertising_enable[extended], 0);
        bluez_start_scan(b);
        parameters = bluez_answer(b, bluez_scan_parameters[extended], 0);
        assert_int_equal(extended ? parameters[0] : parameters[5], 0);
        bluez_close(b);
    }
}

/* Another program, or the kernel for a scan, gives the controller another address (LE Set Random Address): a set of the
 * extended commands has one of its own. */
static void a_set_keeps_its_address(void **state) {
    (void)state;
    static const uint8_t other[] = {HCI_COMMAND_PKT, 0x05, 0x20, 6, 1, 2, 3, 4, 5, 0xC0};
    for (int extended = 0; extended < 2; extended++) {
        bluez_bench *b = bluez_open(extended, &bluez_random_address);
        assert_int_equal(send(b->controller, other, sizeof other - 1, 0), (ssize_t)sizeof other - 1); /* truncated */
        assert_int_equal(send(b->controller, other, sizeof other, 0), (ssize_t)sizeof other);
        bluez_read(b);
        bluez_start_advertising(b);
        (void)bluez_expect(b, extended ? TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS
                                       : TENDON_HCI_LE_SET_RANDOM_ADDRESS);
        bluez_close(b);
    }
}

/* It scans for somebody else: then it has an address. Any other refusal leaves no way to go on. */
static void a_refused_random_address(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_random_address);
    bluez_start_advertising(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_RANDOM_ADDRESS, HCI_COMMAND_DISALLOWED_ERROR);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS, 0);
    assert_int_equal(b->failures, 0);
    bluez_close(b);
    b = bluez_open(false, &bluez_random_address);
    bluez_start_advertising(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_RANDOM_ADDRESS, 0x01);
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->failure, TENDON_HCI_ERROR(0x01));
    bluez_close(b);
}

/* The scan that sends it has priority; with its answer the connect goes on, and the scan waits for the connect. */
static void a_connect_waits_for_the_random_address(void **state) {
    (void)state;
    static const tendon_address peer = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x01}, TENDON_ADDRESS_TYPE_PUBLIC};
    bluez_bench *b = bluez_open(false, &bluez_random_address);
    tendon_link link;
    tendon_link_init(&link, NULL);
    bluez_start_scan(b);
    assert_int_equal(tendon_radio_connect(&b->radio.radio, &link, &peer, UINT64_MAX), TENDON_OK);
    assert_int_equal(fake.connects, 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_RANDOM_ADDRESS, 0);
    assert_int_equal(fake.connects, 1);
    bluez_expect_nothing(b);
    assert_int_equal(b->radio.counters.scan_pauses, 0); /* it was not on yet */
    tendon_link_close(&link);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    bluez_close(b);
}

static void after_a_reset_the_random_address_is_given_again(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_random_address);
    bluez_event(b, TENDON_HCI_HARDWARE_ERROR, "\x42", 1);
    bluez_settings(b, false);
    bluez_read(b);
    bluez_settings(b, true);
    bluez_read(b);
    bluez_tick(b, tendon_monotonic_ms());
    assert_memory_equal(bluez_answer(b, TENDON_HCI_LE_SET_RANDOM_ADDRESS, 0), bluez_random_wire, 6);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(static_addresses_are_what_the_specification_wants),
        cmocka_unit_test(without_a_public_address_the_scan_uses_a_random_one),
        cmocka_unit_test(without_a_public_address_it_advertises_with_a_random_one),
        cmocka_unit_test(alone_it_advertises_with_set_0),
        cmocka_unit_test(with_a_public_address_no_other_is_given),
        cmocka_unit_test(a_set_keeps_its_address),
        cmocka_unit_test(a_refused_random_address),
        cmocka_unit_test(a_connect_waits_for_the_random_address),
        cmocka_unit_test(after_a_reset_the_random_address_is_given_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
