/* SPDX-License-Identifier: MIT */
/* How long a device waits for its next turn. Times are milliseconds of a simulated clock. */
#include "test_bytes.h"

#include "admission_turns.h"

static tendon_admission_record records[64];
static uint32_t random_number;
static const tendon_address device = {.bytes = {0xC0, 0, 0, 0, 0, 1}, .type = TENDON_ADDRESS_TYPE_RANDOM};
static const uint64_t pauses[] = {1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000, 60000, 60000, 60000};
#define PAUSES (sizeof pauses / sizeof pauses[0])

static uint32_t next_number(void *context) {
    (void)context;
    return random_number;
}

/* Gives the device a turn, which it must have at this time and not a millisecond before. */
static void turn_at(tendon_admission *a, uint64_t time) {
    for (uint64_t now = time - 1; now <= time; now++) {
        tendon_address address;
        uint8_t family;
        (void)tendon_admission_received(a, &device, &(tendon_admission_report){0}, now);
        assert_int_equal(tendon_admission_next(a, 0, NULL, NULL, now, &address, &family), now == time);
    }
}

static tendon_admission found(uint32_t number) {
    tendon_admission a;
    tendon_address address;
    uint8_t family;
    random_number = number;
    tendon_admission_init(&a, records, 64, &(tendon_admission_random){.next = next_number}, 0);
    assert_true(tendon_admission_received(&a, &device, &(tendon_admission_report){0}, 500));
    assert_true(tendon_admission_next(&a, 0, NULL, NULL, 500, &address, &family));
    return a;
}

static void the_pause_is_doubled_up_to_a_minute(void **state) {
    (void)state;
    tendon_admission a = found(0);
    uint64_t now = 600;
    for (size_t i = 0; i < PAUSES; i++) {
        tendon_admission_answered(&a, &device); /* else the search goes on for longer than a short pause */
        assert_int_equal(turn_fails(&a, &device, 0, now), pauses[i]);
        turn_at(&a, now + pauses[i]);
        now += pauses[i] + 10;
    }
    /* An end that was not the device's, and the series goes on. */
    assert_int_equal(turn_is_released(&a, &device, now), UINT64_MAX);
    turn_at(&a, now + 500);
    tendon_admission_answered(&a, &device);
    assert_int_equal(turn_fails(&a, &device, 0, now + 600), 60000);
}

/* At most half of the pause is random. */
static void a_random_part_is_added(void **state) {
    (void)state;
    static const uint32_t numbers[] = {UINT32_MAX, 500, 250};
    for (size_t n = 0; n < 3; n++) {
        tendon_admission a = found(numbers[n]);
        tendon_admission_answered(&a, &device);
        for (size_t i = 0; i < PAUSES; i++) {
            uint64_t expected = pauses[i] + numbers[n] % (pauses[i] / 2 + 1);
            assert_int_equal(turn_fails(&a, &device, 0, 1000), expected);
            assert_true(expected <= pauses[i] + pauses[i] / 2);
        }
        assert_int_equal(turn_is_released(&a, &device, 1000), UINT64_MAX);
        turn_at(&a, 1500 + numbers[n] % 251);
    }
}

static void gateways_do_not_retry_at_the_same_time(void **state) {
    (void)state;
    bool seen[501] = {false};
    unsigned different = 0;
    for (uint32_t seed = 0; seed < 64; seed++) {
        tendon_admission a;
        tendon_admission_init(&a, records, 64, NULL, seed);
        (void)tendon_admission_received(&a, &device, &(tendon_admission_report){0}, 500);
        uint64_t pause = turn_fails(&a, &device, 0, 600);
        assert_in_range(pause, 1000, 1500);
        different += !seen[pause - 1000];
        seen[pause - 1000] = true;
    }
    assert_true(different > 8);
}

/* A device that connects and is lost again does not come back every half second without end. */
static void a_short_connection_is_like_a_failure(void **state) {
    (void)state;
    tendon_admission a = found(0);
    uint64_t now = 600;
    for (size_t i = 0; i < PAUSES; i++) {
        tendon_admission_connected(&a, &device, now);
        now += i % 2 == 0 ? 0 : 9999;
        assert_int_equal(turn_is_lost(&a, &device, now), pauses[i]);
        turn_at(&a, now + pauses[i]);
        now += pauses[i] + 10;
    }
    /* Failures and short connections are one series, which ends with a connection of ten seconds. */
    assert_int_equal(turn_fails(&a, &device, 0, now), 60000);
    now += 60000;
    turn_at(&a, now);
    tendon_admission_connected(&a, &device, now);
    assert_int_equal(turn_is_lost(&a, &device, now + 10000), 500);
    turn_at(&a, now + 10500);
    assert_int_equal(turn_fails(&a, &device, 0, now + 10600), 1000);
}

/* A user, a new configuration or a lost radio ended it: the next turn comes soon. */
static void a_short_connection_that_was_ended_is_no_setback(void **state) {
    (void)state;
    tendon_admission a = found(0);
    for (uint64_t time = 1000; time <= 3000; time += 1000) {
        tendon_admission_connected(&a, &device, time);
        assert_int_equal(turn_is_released(&a, &device, time + 100), UINT64_MAX);
        turn_at(&a, time + 600);
    }
    tendon_admission_connected(&a, &device, 4000);
    assert_int_equal(turn_is_lost(&a, &device, 4100), 1000);
}

/* The counters of a device that fails for years do not wrap. */
static void failures_without_end(void **state) {
    (void)state;
    tendon_admission a = found(0);
    for (unsigned i = 0; i < 70000; i++) {
        (void)turn_fails(&a, &device, 0, 1000);
    }
    assert_int_equal(turn_fails(&a, &device, 0, 1000), 60000);
    assert_int_equal(tendon_admission_answer_ms(&a, &device), 4000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pause_is_doubled_up_to_a_minute),
        cmocka_unit_test(a_random_part_is_added),
        cmocka_unit_test(gateways_do_not_retry_at_the_same_time),
        cmocka_unit_test(a_short_connection_is_like_a_failure),
        cmocka_unit_test(a_short_connection_that_was_ended_is_no_setback),
        cmocka_unit_test(failures_without_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
