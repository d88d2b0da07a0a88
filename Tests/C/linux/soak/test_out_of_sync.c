/* SPDX-License-Identifier: MIT */
/*
 * A cached connection of each family to a device whose attribute table changes before one of its requests, at every
 * request in turn. The device answers Database Out Of Sync (Core Spec Vol 3 Part G 2.5.2.1) to the first request that
 * uses a handle, discards commands and sends no values until the client has noticed.
 */
#include "first_sample.h"

static const soak_family *const families[] = {&soak_bose,          &soak_feelspace, &soak_activ5,
                                              &soak_activ5_legacy, &soak_fjorden,   &soak_obvious};
enum { FAMILIES = sizeof families / sizeof families[0] };

static uint32_t change_at;
static uint16_t move_by;

static void change_before(uint32_t number) {
    if (number == change_at && !first.table.changed) {
        moved_table_change(&first.table, move_by);
    }
}

/* The first connection fills the cache; the table changes in the second. @return whether it brought a sample. */
static bool second_connection(const soak_family *family, uint32_t at, uint16_t by, first_sample_result *result) {
    first_sample_make(family, true);
    first_sample_use_cache();
    (void)first_sample_run();
    assert_int_equal(first.cache.state, TENDON_GATT_CACHE_VALID);
    change_at = at;
    move_by = by;
    first.on_request = change_before;
    return first_sample_open(result);
}

static uint32_t requests_of(const soak_family *family) {
    first_sample_result result;
    assert_true(second_connection(family, 0, 0, &result));
    assert_int_equal(first.cache.counters.hits, 1);
    return result.requests;
}

/* The client's own write that enables Service Changed, whose result no session waits for. */
static bool own_write_was_refused(void) {
    return first.table.refused == 1 && first.table.refused_handle == first_sample_server()->service_changed + 1;
}

/* The next connection discovers or not; the one after it does not. */
static void connects_again(const soak_family *family, uint32_t requests) {
    if (first.radio.peer != NULL) {
        first_sample_close();
    }
    assert_true(family->is_closed(&first.s));
    (void)first_sample_run();
    assert_int_equal(first_sample_run().requests, requests);
    assert_int_equal(first.table.refused <= 1, true);
}

/* The handles stay: the request is repeated, and the session does not notice. */
static void a_request_is_repeated_where_no_handle_moved(void **state) {
    (void)state;
    for (size_t i = 0; i < FAMILIES; i++) {
        uint32_t count = requests_of(families[i]), repeated = 0;
        for (uint32_t at = 1; at <= count; at++) {
            first_sample_result result;
            bool sample = second_connection(families[i], at, 0, &result);
            assert_int_equal(sample, !own_write_was_refused());
            assert_int_equal(first.radio.peer == NULL, own_write_was_refused());
            assert_int_equal(first.cache.counters.drops, first.table.refused);
            assert_int_equal(first.cache.counters.mismatches, first.table.refused == 0);
            repeated += first.table.refused == 1 && sample;
            connects_again(families[i], count);
        }
        assert_true(repeated >= 2);
    }
}

/* The handles move: until the first subscription the session continues with the new ones, later it must connect again.
 */
static void moved_handles_are_found_or_the_session_connects_again(void **state) {
    (void)state;
    for (size_t i = 0; i < FAMILIES; i++) {
        uint32_t count = requests_of(families[i]), continued = 0, ended = 0;
        for (uint32_t at = 1; at <= count; at++) {
            first_sample_result result;
            bool sample = second_connection(families[i], at, 16, &result);
            assert_true(sample || first.table.refused == 1);
            assert_int_equal(first.radio.peer == NULL, !sample); /* nobody has to end it */
            continued += sample && first.table.refused == 1;
            ended += !sample;
            connects_again(families[i], count);
        }
        assert_true(continued > 0);
        assert_true(ended > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_repeated_where_no_handle_moved),
        cmocka_unit_test(moved_handles_are_found_or_the_session_connects_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
