/* SPDX-License-Identifier: MIT */
/* Scripted pairing service. */
#include "test_bytes.h"

#include "tendon/simulate.h"

static unsigned done_count;
static tendon_status done_status;
static uint64_t done_at;

static void on_done(void *context, tendon_status status, uint64_t now) {
    assert_ptr_equal(context, &done_count);
    done_count++;
    done_status = status;
    done_at = now;
}

static tendon_address peer(uint8_t last) {
    return (tendon_address){{0xC0, 0, 0, 0, 0, last}, TENDON_ADDRESS_TYPE_RANDOM};
}

static tendon_status start(tendon_scripted_pairing *pairing, uint8_t last, uint64_t now) {
    tendon_pairing_service service = tendon_scripted_pairing_service(pairing);
    tendon_address address = peer(last);
    done_count = 0;
    return service.start(service.context, &address, on_done, &done_count, now);
}

static bool bonded(tendon_scripted_pairing *pairing, uint8_t last) {
    tendon_pairing_service service = tendon_scripted_pairing_service(pairing);
    tendon_address address = peer(last);
    return service.bonded(service.context, &address);
}

static void success_after_the_delay_keeps_a_bond(void **state) {
    (void)state;
    tendon_scripted_pairing pairing;
    tendon_scripted_pairing_init(&pairing, TENDON_OK, 300);
    assert_int_equal(tendon_scripted_pairing_deadline(&pairing), UINT64_MAX);
    tendon_scripted_pairing_tick(&pairing, UINT64_MAX); /* nothing under way, whatever the time */
    assert_int_equal(start(&pairing, 1, 1000), TENDON_OK);
    assert_int_equal(start(&pairing, 2, 1000), TENDON_ERROR_BUSY);
    assert_int_equal(tendon_scripted_pairing_deadline(&pairing), 1300);
    tendon_scripted_pairing_tick(&pairing, 1299);
    assert_int_equal(done_count, 0);
    assert_false(bonded(&pairing, 1));
    tendon_scripted_pairing_tick(&pairing, 1300);
    assert_int_equal(done_count, 1);
    assert_int_equal(done_status, TENDON_OK);
    assert_int_equal(done_at, 1300);
    assert_true(bonded(&pairing, 1));
    assert_false(bonded(&pairing, 2));
    tendon_scripted_pairing_tick(&pairing, 5000);
    assert_int_equal(done_count, 1);
    assert_int_equal(start(&pairing, 1, 6000), TENDON_OK); /* again: still one bond */
    tendon_scripted_pairing_tick(&pairing, 6300);
    assert_int_equal(pairing.bond_count, 1);
    assert_int_equal(pairing.started, 2);
}

static void failure_keeps_none(void **state) {
    (void)state;
    tendon_scripted_pairing pairing;
    tendon_scripted_pairing_init(&pairing, TENDON_RADIO_ERROR_PAIRING_FAILED, 0);
    assert_int_equal(start(&pairing, 1, 1000), TENDON_OK);
    assert_int_equal(done_count, 0); /* never from within start() */
    tendon_scripted_pairing_tick(&pairing, 1000);
    assert_int_equal(done_count, 1);
    assert_int_equal(done_status, TENDON_RADIO_ERROR_PAIRING_FAILED);
    assert_false(bonded(&pairing, 1));
}

static void cancelled_attempts_are_silent(void **state) {
    (void)state;
    tendon_scripted_pairing pairing;
    tendon_scripted_pairing_init(&pairing, TENDON_OK, 10);
    tendon_pairing_service service = tendon_scripted_pairing_service(&pairing);
    start(&pairing, 1, 1000);
    tendon_address other = peer(2), same = peer(1);
    service.cancel(service.context, &other); /* of another peer: goes on */
    assert_int_equal(tendon_scripted_pairing_deadline(&pairing), 1010);
    service.cancel(service.context, &same);
    tendon_scripted_pairing_tick(&pairing, 2000);
    assert_int_equal(done_count, 0);
    assert_false(bonded(&pairing, 1));
    assert_int_equal(start(&pairing, 2, 2000), TENDON_OK);
}

static void a_full_bond_table_fails_the_pairing(void **state) {
    (void)state;
    tendon_scripted_pairing pairing;
    tendon_scripted_pairing_init(&pairing, TENDON_OK, 0);
    for (uint8_t i = 0; i < 5; i++) {
        start(&pairing, i, 0);
        tendon_scripted_pairing_tick(&pairing, 0);
        assert_int_equal(done_status, i < 4 ? TENDON_OK : TENDON_ERROR_TABLE_FULL);
        assert_int_equal(bonded(&pairing, i), i < 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_after_the_delay_keeps_a_bond),
        cmocka_unit_test(failure_keeps_none),
        cmocka_unit_test(cancelled_attempts_are_silent),
        cmocka_unit_test(a_full_bond_table_fails_the_pairing),
    };
    return cmocka_run_group_tests_name("simulate_pairing", tests, NULL, NULL);
}
