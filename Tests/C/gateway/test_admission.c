/* SPDX-License-Identifier: MIT */
/* Which device may connect, and when. Times are milliseconds of a simulated clock. */
#include "test_bytes.h"

#include "admission_turns.h"

static tendon_admission_record records[TENDON_ADMISSION_SLOTS];
static uint32_t random_number;
static const tendon_address device = {.bytes = {0xC0, 0, 0, 0, 0, 1}, .type = TENDON_ADDRESS_TYPE_RANDOM};
static const tendon_address other = {.bytes = {0xC0, 0, 0, 0, 0, 2}, .type = TENDON_ADDRESS_TYPE_RANDOM};
static const tendon_address same_bits = {.bytes = {0xC0, 0, 0, 0, 0, 1}, .type = TENDON_ADDRESS_TYPE_PUBLIC};

static uint32_t next_number(void *context) {
    return *(uint32_t *)context;
}

static tendon_admission begin_sized(size_t slots) {
    tendon_admission a;
    random_number = 0;
    tendon_admission_init(&a, records, slots,
                          &(tendon_admission_random){.context = &random_number, .next = next_number}, 0);
    return a;
}

static tendon_admission begin(void) {
    return begin_sized(64);
}

static bool found(tendon_admission *a, bool awaits_response, uint64_t now) {
    return tendon_admission_received(a, &device,
                                     &(tendon_admission_report){.family = 3, .awaits_response = awaits_response}, now);
}

static void heard(tendon_admission *a, uint8_t radio, uint64_t now) {
    (void)tendon_admission_received(a, &device, &(tendon_admission_report){.radio = radio}, now);
}

static void heard_other(tendon_admission *a, uint8_t radio, uint64_t now) {
    (void)tendon_admission_received(a, &other, &(tendon_admission_report){.radio = radio, .awaits_response = true},
                                    now);
}

/* Gives all turns that are possible. Returns their number, and whether the device had one. */
static unsigned turns(tendon_admission *a, uint64_t now, uint8_t radios, bool *has_device) {
    tendon_address address;
    uint8_t family;
    unsigned count = 0;
    *has_device = false;
    while (tendon_admission_next(a, radios, NULL, NULL, now, &address, &family)) {
        count++;
        *has_device = *has_device || tendon_address_equal(&address, &device);
    }
    return count;
}

static bool device_has_turn(tendon_admission *a, uint64_t now, uint8_t radios) {
    bool has_device;
    (void)turns(a, now, radios, &has_device);
    return has_device;
}

static bool only_device_has_turn(tendon_admission *a, uint64_t now) {
    bool has_device;
    return turns(a, now, 0, &has_device) == 1 && has_device;
}

static bool nothing_has_turn(tendon_admission *a, uint64_t now) {
    bool has_device;
    return turns(a, now, 0, &has_device) == 0;
}

/* Its scan response may say that it is of another family: the next turn is of that one. */
static void a_device_that_waits_has_the_family_of_its_latest_packet(void **state) {
    (void)state;
    tendon_admission a = begin();
    tendon_address address;
    uint8_t family;
    assert_true(found(&a, true, 1000));
    assert_false(tendon_admission_received(&a, &device, &(tendon_admission_report){.family = 4}, 1100));
    assert_true(tendon_admission_next(&a, 0, NULL, NULL, 2100, &address, &family));
    assert_int_equal(family, 4);
}

static void a_device_with_a_name_connects_immediately(void **state) {
    (void)state;
    tendon_admission a = begin();
    assert_true(found(&a, false, 1000));
    tendon_address address;
    uint8_t family;
    assert_true(tendon_admission_next(&a, 0, NULL, NULL, 1000, &address, &family));
    assert_true(tendon_address_equal(&address, &device));
    assert_int_equal(family, 3);
    assert_false(tendon_admission_next(&a, 0, NULL, NULL, 1000, &address, &family));
}

static void a_device_without_a_name_waits_for_its_scan_response(void **state) {
    (void)state;
    tendon_admission a = begin();
    assert_true(found(&a, true, 1000));
    assert_true(nothing_has_turn(&a, 1000));
    assert_true(tendon_admission_responded(&a, &device, 1003));
    assert_true(only_device_has_turn(&a, 1003));
}

/* The next radio scans first: a connection before its scan was ever enabled would keep the scan from it. */
static void after_the_radio_was_lost_a_device_is_received_first(void **state) {
    (void)state;
    tendon_admission a = begin();
    assert_true(found(&a, false, 1000));
    assert_true(only_device_has_turn(&a, 1000));
    tendon_admission_connected(&a, &device, 1000);
    tendon_admission_postpone(&a, &device, 2000);
    tendon_admission_radio_lost(&a, 0);
    assert_true(nothing_has_turn(&a, 4000));
    assert_false(found(&a, false, 5000)); /* it is known */
    assert_true(only_device_has_turn(&a, 5000));
}

/* The radios that receive a device connect to it; after an attempt that failed, another one of them. */
static void radios_take_turns_after_failures(void **state) {
    (void)state;
    tendon_admission a = begin();
    assert_int_equal(tendon_admission_radios(&a, &device), 0);
    heard(&a, 1, 1000);
    assert_int_equal(tendon_admission_radios(&a, &device), 0x02);
    (void)turn_fails(&a, &device, 1, 1100);
    assert_int_equal(tendon_admission_radios(&a, &device), 0x02); /* it is the only one */
    heard(&a, 0, 1200);
    heard(&a, 7, 1200);
    assert_int_equal(tendon_admission_radios(&a, &device), 0x83);
    static const uint8_t steps[][2] = {{0, 0x82}, {7, 0x02}, {1, 0x83}};
    for (size_t i = 0; i < 3; i++) {
        (void)turn_fails(&a, &device, steps[i][0], 1300);
        heard(&a, steps[i][0], 1400);
        assert_int_equal(tendon_admission_radios(&a, &device), steps[i][1]);
    }
    (void)turn_fails(&a, &device, 0, 1500);
    assert_int_equal(tendon_admission_radios(&a, &device), 0x82);
    tendon_admission_connected(&a, &device, 1500);
    assert_int_equal(tendon_admission_radios(&a, &device), 0x83);
    tendon_admission_postpone(&a, &device, 1600);
    assert_int_equal(tendon_admission_radios(&a, &device), 0x83); /* a connection that ended has not failed */
}

/* The first radio that receives two devices does not have both of them. */
static void a_new_device_waits_until_each_radio_receives_it(void **state) {
    (void)state;
    tendon_admission a = begin();
    heard_other(&a, 1, 900);
    heard(&a, 0, 1000);
    bool has_device;
    assert_int_equal(turns(&a, 1000, 3, &has_device), 0);
    heard(&a, 1, 1200);
    assert_int_equal(turns(&a, 1200, 3, &has_device), 1);
    assert_true(has_device);
}

static void a_new_device_waits_for_other_radios_for_a_second(void **state) {
    (void)state;
    tendon_admission a = begin();
    heard_other(&a, 1, 1900);
    heard(&a, 0, 2000);
    assert_false(device_has_turn(&a, 2999, 3));
    assert_true(device_has_turn(&a, 3000, 3));
    tendon_admission_postpone(&a, &device, 3100);
    heard(&a, 0, 4000);
    assert_true(device_has_turn(&a, 4000, 3)); /* it is not new any more */
}

static void a_radio_that_has_received_nothing_is_waited_for_longer(void **state) {
    (void)state;
    tendon_admission a = begin();
    heard(&a, 0, 1000);
    assert_false(device_has_turn(&a, 3999, 3));
    assert_true(device_has_turn(&a, 4000, 3));
    a = begin();
    heard_other(&a, 1, 500);
    tendon_admission_radio_lost(&a, 1);
    heard(&a, 0, 1000);
    assert_false(device_has_turn(&a, 3999, 3)); /* it was opened again */
    assert_true(device_has_turn(&a, 4000, 3));
}

static void a_radio_that_is_not_open_is_not_waited_for(void **state) {
    (void)state;
    tendon_admission a = begin();
    heard(&a, 1, 1000);
    assert_true(device_has_turn(&a, 1000, 2));
}

/* As long as another radio receives a device, it may have its turn. */
static void one_of_two_radios_is_lost(void **state) {
    (void)state;
    tendon_admission a = begin();
    heard(&a, 0, 1000);
    heard(&a, 1, 1000);
    tendon_admission_radio_lost(&a, 0);
    assert_int_equal(tendon_admission_radios(&a, &device), 2);
    assert_true(only_device_has_turn(&a, 1500));
    tendon_admission_postpone(&a, &device, 1500);
    tendon_admission_radio_lost(&a, 1);
    assert_int_equal(tendon_admission_radios(&a, &device), 0);
    assert_true(nothing_has_turn(&a, 4000));
    heard(&a, 0, 5000);
    assert_int_equal(tendon_admission_radios(&a, &device), 1);
    assert_true(only_device_has_turn(&a, 5000));
}

/* Later advertisements without a response do not prolong it. */
static void the_scan_response_is_waited_for_a_limited_time(void **state) {
    (void)state;
    tendon_admission a = begin();
    assert_true(found(&a, true, 1000));
    assert_false(found(&a, true, 1900));
    assert_int_equal(tendon_admission_deadline(&a, 1900), 2000);
    assert_true(nothing_has_turn(&a, 1999));
    assert_true(only_device_has_turn(&a, 2000));
}

/* The response wakes those that wait, once, and nobody else. */
static void a_scan_response_of_another_device_or_later_ones_change_nothing(void **state) {
    (void)state;
    tendon_admission a = begin();
    assert_false(tendon_admission_responded(&a, &device, 900));
    assert_true(found(&a, true, 1000));
    assert_false(tendon_admission_responded(&a, &other, 1001));
    assert_false(tendon_admission_responded(&a, &same_bits, 1001));
    assert_true(nothing_has_turn(&a, 1001));
    assert_true(tendon_admission_responded(&a, &device, 1002));
    assert_false(tendon_admission_responded(&a, &device, 1003));
}

/* An advertisement makes a look at all devices necessary only if its own device may be next. */
static void only_a_device_that_is_ready_can_be_next(void **state) {
    (void)state;
    tendon_admission a = begin();
    assert_false(tendon_admission_may_be_next(&a, &device, 0, 1000)); /* it is not known */
    assert_true(found(&a, true, 1000));
    assert_false(tendon_admission_may_be_next(&a, &device, 0, 1999)); /* its scan response is waited for */
    assert_true(tendon_admission_may_be_next(&a, &device, 0, 2000));
    assert_true(only_device_has_turn(&a, 2000));
    assert_false(tendon_admission_may_be_next(&a, &device, 0, 2001)); /* it is served */
    tendon_admission_postpone(&a, &device, 3000);
    assert_false(tendon_admission_may_be_next(&a, &device, 0, 3499));
    assert_true(tendon_admission_may_be_next(&a, &device, 0, 3500));   /* after its pause */
    assert_false(tendon_admission_may_be_next(&a, &device, 0, 20000)); /* it was not received for long */
}

static tendon_address stranger(uint32_t number) {
    return (tendon_address){
        .bytes = {0xC1, 0, (uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number},
        .type = TENDON_ADDRESS_TYPE_RANDOM};
}

/* Addresses that somebody makes up: those that were received longest ago make room, and not what is served. */
static void strangers_without_end(void **state) {
    (void)state;
    static const size_t sizes[] = {TENDON_ADMISSION_SLOTS, 64, 4};
    for (size_t i = 0; i < 3; i++) {
        tendon_admission a = begin_sized(sizes[i]);
        assert_true(found(&a, false, 1000));
        assert_true(only_device_has_turn(&a, 1000));
        for (uint32_t number = 0; number < 20000; number++) {
            tendon_address address = stranger(number);
            assert_true(tendon_admission_received(&a, &address, &(tendon_admission_report){0}, 2000 + number));
            assert_true(a.count <= sizes[i] / 4 * 3);
        }
        assert_int_equal(tendon_admission_radios(&a, &device), 1); /* it is served */
        tendon_address latest = stranger(19999);
        tendon_address first = stranger(0);
        assert_int_equal(tendon_admission_radios(&a, &latest), 1);
        assert_int_equal(tendon_admission_radios(&a, &first), 0); /* long ago */
    }
}

/* The table is a hash table: what it contains does not depend on what was removed. */
static void the_table_finds_what_it_keeps(void **state) {
    (void)state;
    tendon_admission a = begin_sized(61);
    bool kept[300] = {false};
    uint32_t number = 12345;
    for (unsigned step = 0; step < 20000; step++) {
        number = number * 1664525u + 1013904223u;
        uint32_t which = (number >> 8) % 300;
        tendon_address address = stranger(which);
        if (kept[which]) {
            tendon_admission_forget(&a, &address);
            kept[which] = false;
        } else if (a.count < 45) {
            assert_true(tendon_admission_received(&a, &address, &(tendon_admission_report){.radio = 2}, step));
            kept[which] = true;
        }
        which = (number >> 20) % 300;
        address = stranger(which);
        assert_int_equal(tendon_admission_radios(&a, &address), kept[which] ? 4 : 0);
    }
    for (uint32_t i = 0; i < 300; i++) {
        tendon_address address = stranger(i);
        assert_int_equal(tendon_admission_radios(&a, &address), kept[i] ? 4 : 0);
    }
}

/* All places have turns: a new device is not known, and nothing is lost. */
static void a_table_of_served_devices(void **state) {
    (void)state;
    tendon_admission a = begin_sized(8);
    a.unproven_max = 100;
    bool has_device;
    for (uint32_t i = 0; i < 6; i++) {
        tendon_address address = stranger(i);
        assert_true(tendon_admission_received(&a, &address, &(tendon_admission_report){0}, 10));
    }
    assert_int_equal(turns(&a, 10, 0, &has_device), 6);
    assert_false(found(&a, false, 11));
    assert_false(tendon_admission_dismiss(&a, &device, 11));
    assert_int_equal(tendon_admission_state_of(&a, &device), TENDON_ADMISSION_UNKNOWN);
    tendon_address one = stranger(3);
    (void)turn_fails(&a, &one, 0, 12);
    assert_true(found(&a, false, 13));
    assert_int_equal(tendon_admission_state_of(&a, &one), TENDON_ADMISSION_UNKNOWN);
}

/* The pause after a failure is not shortened by a scan response. */
static void a_scan_response_does_not_end_a_pause(void **state) {
    (void)state;
    tendon_admission a = begin();
    assert_true(found(&a, true, 1000));
    assert_true(only_device_has_turn(&a, 2000));
    assert_int_equal(turn_fails(&a, &device, 0, 3000), 1000);
    assert_false(tendon_admission_responded(&a, &device, 3010));
    assert_true(nothing_has_turn(&a, 3010));
    assert_false(found(&a, true, 5499));
    /* The pause has ended; the search goes on for as long as the attempt might take. */
    assert_true(nothing_has_turn(&a, 5499));
    assert_int_equal(tendon_admission_deadline(&a, 5499), 5500);
    assert_true(only_device_has_turn(&a, 5500));
}

/* ---- limits and order ---- */

static void at_most_eight_strangers_and_32_devices(void **state) {
    (void)state;
    tendon_admission a = begin_sized(256);
    tendon_address address;
    uint8_t family;
    for (uint32_t i = 0; i < 40; i++) {
        address = stranger(i);
        (void)tendon_admission_received(&a, &address, &(tendon_admission_report){.preferred = i >= 10}, 100 + i);
    }
    bool has_device;
    assert_int_equal(turns(&a, 200, 0, &has_device), 32); /* the 30 preferred ones, and two strangers */
    assert_int_equal(a.unproven, 2);
    for (uint32_t i = 10; i < 40; i++) {
        address = stranger(i);
        tendon_admission_postpone(&a, &address, 300);
    }
    assert_int_equal(a.served, 2);
    assert_int_equal(turns(&a, 300, 0, &has_device), 6);
    assert_int_equal(a.unproven, 8);
    /* One of them answers: it is no stranger's attempt any more, and the next one begins. */
    assert_false(tendon_admission_next(&a, 0, NULL, NULL, 300, &address, &family));
    address = stranger(0);
    tendon_admission_answered(&a, &address);
    assert_int_equal(a.unproven, 7);
    assert_true(tendon_admission_next(&a, 0, NULL, NULL, 300, &address, &family));
}

static void preferred_then_known_then_least_tried(void **state) {
    (void)state;
    tendon_admission a = begin();
    tendon_address address;
    uint8_t family;
    for (uint32_t i = 0; i < 5; i++) {
        address = stranger(i);
        (void)tendon_admission_received(&a, &address, &(tendon_admission_report){.preferred = i == 3}, 100 + i);
    }
    address = stranger(1);
    tendon_admission_connected(&a, &address, 110); /* has connected, as at an earlier turn */
    address = stranger(2);
    (void)turn_fails(&a, &address, 0, 110);
    for (uint32_t i = 0; i < 5; i++) {
        address = stranger(i);
        (void)tendon_admission_received(&a, &address, &(tendon_admission_report){0}, 5000);
    }
    /* Of the two equal ones, 0 and 4, the newest and the oldest take turns: two turns were given before. */
    static const uint8_t order[] = {3, 1, 0, 4, 2};
    for (size_t i = 0; i < 5; i++) {
        assert_true(tendon_admission_next(&a, 0, NULL, NULL, 5000, &address, &family));
        assert_int_equal(address.bytes[5], order[i]);
    }
}

static void the_newest_and_the_oldest_take_turns(void **state) {
    (void)state;
    tendon_admission a = begin();
    tendon_address address;
    uint8_t family;
    for (uint32_t i = 0; i < 5; i++) {
        address = stranger(i);
        (void)tendon_admission_received(&a, &address, &(tendon_admission_report){0}, 100 + i);
    }
    static const uint8_t order[] = {0, 4, 1, 3, 2};
    for (size_t i = 0; i < 5; i++) {
        assert_true(tendon_admission_next(&a, 0, NULL, NULL, 200, &address, &family));
        assert_int_equal(address.bytes[5], order[i]);
    }
}

static bool is_not_device(void *context, const tendon_address *address, uint8_t family) {
    (void)family;
    ++*(unsigned *)context;
    return !tendon_address_equal(address, &device);
}

static void a_filter_leaves_a_device_waiting(void **state) {
    (void)state;
    tendon_admission a = begin();
    tendon_address address;
    uint8_t family;
    unsigned calls = 0;
    assert_true(found(&a, false, 100));
    assert_false(tendon_admission_next(&a, 0, is_not_device, &calls, 100, &address, &family));
    assert_int_equal(calls, 1);
    assert_true(tendon_admission_has_waiting(&a, 100));
    assert_false(tendon_admission_has_waiting(&a, 20000));
    assert_true(tendon_admission_next(&a, 0, NULL, NULL, 100, &address, &family));
    assert_false(tendon_admission_has_waiting(&a, 100));
    tendon_admission_postpone(&a, &device, 100);
    assert_false(tendon_admission_has_waiting(&a, 100)); /* its pause is not over */
    assert_true(tendon_admission_has_waiting(&a, 9000));
}

static void time_for_an_answer(void **state) {
    (void)state;
    tendon_admission a = begin();
    assert_int_equal(tendon_admission_answer_ms(&a, &device), 0);
    assert_true(found(&a, false, 100));
    static const uint32_t limits[] = {2500, 4000, 4000, 4000};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(tendon_admission_answer_ms(&a, &device), limits[i]);
        (void)turn_fails(&a, &device, 0, 200);
    }
    tendon_admission_connected(&a, &device, 300);
    assert_int_equal(tendon_admission_answer_ms(&a, &device), 4000);
}

/* A device that has connected is no stranger any more, however often it failed before. */
static void a_connection_ends_the_failures(void **state) {
    (void)state;
    tendon_admission a = begin();
    assert_true(found(&a, false, 100));
    for (unsigned i = 0; i < 3; i++) {
        (void)turn_fails(&a, &device, 0, 200);
    }
    tendon_admission_connected(&a, &device, 300);
    (void)turn_is_lost(&a, &device, 20000);
    heard_other(&a, 0, 20000);
    a.search_until = 100000;
    assert_false(found(&a, false, 21000));
    assert_true(only_device_has_turn(&a, 21000)); /* strangers wait for the search */
}

/* A device that is connected goes on advertising. */
static void the_short_way_of_a_served_device(void **state) {
    (void)state;
    tendon_admission a = begin();
    uint8_t family = 0;
    assert_false(tendon_admission_heard(&a, &device, 1, 90, &family));
    assert_true(found(&a, false, 100));
    assert_false(tendon_admission_heard(&a, &device, 1, 101, &family));
    assert_true(only_device_has_turn(&a, 102));
    assert_false(tendon_admission_heard(&a, &device, 1, 103, &family)); /* an attempt */
    tendon_admission_answered(&a, &device);
    assert_true(tendon_admission_heard(&a, &device, 1, 104, &family));
    assert_int_equal(family, 3);
    assert_int_equal(tendon_admission_radios(&a, &device), 3);
}

static void deadlines_of_what_is_waited_for(void **state) {
    (void)state;
    tendon_admission a = begin();
    assert_int_equal(tendon_admission_deadline(&a, 0), UINT64_MAX);
    assert_true(found(&a, true, 1000));
    assert_int_equal(tendon_admission_deadline_of(&a, &device, 1000), 2000); /* scan response, other radios */
    assert_int_equal(tendon_admission_deadline_of(&a, &device, 2000), 4000); /* a radio that received nothing */
    assert_int_equal(tendon_admission_deadline_of(&a, &device, 4000), UINT64_MAX);
    assert_int_equal(tendon_admission_deadline_of(&a, &other, 1000), UINT64_MAX);
    assert_true(only_device_has_turn(&a, 4000));
    assert_int_equal(tendon_admission_deadline(&a, 4000), UINT64_MAX);
    tendon_admission_answered(&a, &device);
    (void)turn_fails(&a, &device, 0, 5000);
    assert_int_equal(tendon_admission_deadline(&a, 5000), 6000);
    tendon_admission_radio_lost(&a, 0);
    assert_int_equal(tendon_admission_deadline(&a, 5000), UINT64_MAX); /* not before it is received again */
    /* A pause that ends after it counts as gone. */
    assert_false(found(&a, false, 5000));
    for (unsigned i = 0; i < 5; i++) {
        (void)turn_fails(&a, &device, 0, 5000);
    }
    assert_int_equal(tendon_admission_deadline(&a, 5000), UINT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_waits_has_the_family_of_its_latest_packet),
        cmocka_unit_test(a_device_with_a_name_connects_immediately),
        cmocka_unit_test(a_device_without_a_name_waits_for_its_scan_response),
        cmocka_unit_test(after_the_radio_was_lost_a_device_is_received_first),
        cmocka_unit_test(radios_take_turns_after_failures),
        cmocka_unit_test(a_new_device_waits_until_each_radio_receives_it),
        cmocka_unit_test(a_new_device_waits_for_other_radios_for_a_second),
        cmocka_unit_test(a_radio_that_has_received_nothing_is_waited_for_longer),
        cmocka_unit_test(a_radio_that_is_not_open_is_not_waited_for),
        cmocka_unit_test(one_of_two_radios_is_lost),
        cmocka_unit_test(the_scan_response_is_waited_for_a_limited_time),
        cmocka_unit_test(a_scan_response_of_another_device_or_later_ones_change_nothing),
        cmocka_unit_test(only_a_device_that_is_ready_can_be_next),
        cmocka_unit_test(strangers_without_end),
        cmocka_unit_test(the_table_finds_what_it_keeps),
        cmocka_unit_test(a_table_of_served_devices),
        cmocka_unit_test(a_scan_response_does_not_end_a_pause),
        cmocka_unit_test(at_most_eight_strangers_and_32_devices),
        cmocka_unit_test(preferred_then_known_then_least_tried),
        cmocka_unit_test(the_newest_and_the_oldest_take_turns),
        cmocka_unit_test(a_filter_leaves_a_device_waiting),
        cmocka_unit_test(time_for_an_answer),
        cmocka_unit_test(a_connection_ends_the_failures),
        cmocka_unit_test(the_short_way_of_a_served_device),
        cmocka_unit_test(deadlines_of_what_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
