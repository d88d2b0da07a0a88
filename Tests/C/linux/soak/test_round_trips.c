/* SPDX-License-Identifier: MIT */
/*
 * Requests from the connection to the first sample, of each family, under simulated time: without a cache, with an
 * empty one, and with one that an earlier connection filled. An ATT client has one request outstanding, so each is a
 * round trip.
 */
#include "first_sample.h"

static const struct expectation {
    const soak_family *family;
    uint32_t plain;   /* the device has no Database Hash */
    uint32_t without; /* it has one, and the connection no cache; the second connection: some settings are kept */
    uint32_t filling, cached;
} expectations[] = {
    {&soak_bose, 36, 36, 40, 25},          {&soak_feelspace, 31, 32, 36, 14}, {&soak_activ5, 20, 20, 24, 9},
    {&soak_activ5_legacy, 13, 14, 18, 10}, {&soak_fjorden, 21, 20, 25, 7},    {&soak_obvious, 8, 10, 14, 5},
};

/* The rows of the cache, against the types of the device's attributes at these handles. */
static void rows_are_those_of_the_device(const char *family) {
    tendon_uuid uuids[TENDON_GATT_CACHE_ROWS];
    const tendon_gatt_cache_record *record = &first.cache.record;
    const tendon_family *found = tendon_family_from_cache(record, uuids);
    assert_non_null(found);
    assert_memory_equal(family, found->name, strlen(found->name)); /* "activ5_legacy" */
    size_t present = 0;
    for (size_t row = 0; row < record->count; row++) {
        if (record->rows[row].value != 0) {
            const tendon_gatt_attribute *value =
                tendon_gatt_find_attribute(first_sample_server(), record->rows[row].value);
            assert_non_null(value);
            assert_true(tendon_uuid_equal(&value->type, &uuids[row]));
            present++;
        }
    }
    assert_true(present >= 3);
}

static void requests_to_the_first_sample(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        const struct expectation *e = &expectations[i];
        first_sample_make(e->family, false);
        uint32_t plain = first_sample_run().requests;
        first_sample_make(e->family, true);
        (void)first_sample_run();
        uint32_t without = first_sample_run().requests;
        first_sample_make(e->family, true);
        first_sample_use_cache();
        uint32_t filling = first_sample_run().requests, cached = first_sample_run().requests;
        assert_int_equal(first.cache.counters.hits, 1);
        rows_are_those_of_the_device(e->family->name);
        print_message("# {\"bench\":\"round_trips\",\"name\":\"%s\",\"plain\":%u,\"without\":%u,\"filling\":%u,"
                      "\"cached\":%u}\n",
                      e->family->name, plain, without, filling, cached);
        assert_int_equal(plain, e->plain);
        assert_int_equal(without, e->without);
        assert_int_equal(filling, e->filling);
        assert_int_equal(cached, e->cached);
    }
}

/* The device indicates Service Changed while it streams: the next connection discovers again. */
static void service_changed_is_enabled_and_drops_the_cache(void **state) {
    (void)state;
    first_sample_make(&soak_fjorden, true);
    first_sample_use_cache();
    assert_int_equal(first_sample_run().requests, 25); /* it pairs: the firmware is read twice */
    first.s.ready = false;
    first.s.values = 0;
    assert_true(first.s.family->open(&first.s, first.now) >= 0);
    for (int i = 0; i < 20000 && first.s.values == 0; i++) {
        first_sample_step();
    }
    for (int i = 0; i < 20; i++) {
        first_sample_step();
    }
    tendon_gatt_connection *connection = &first.s.family->centrals(&first.s)->places[0].connection;
    assert_int_equal(tendon_gatt_indicate_service_changed(connection, 1, 0xFFFF, first.now), TENDON_OK);
    first_sample_step();
    first_sample_step();
    assert_int_equal(first.cache.state, TENDON_GATT_CACHE_STALE);
    assert_int_equal(first.cache.counters.drops, 1);
    first.s.family->close(&first.s, first.now);
    for (int i = 0; i < 20000 && first.radio.peer != NULL; i++) {
        first_sample_step();
    }
    assert_int_equal(first_sample_run().requests, 24);
    assert_int_equal(first_sample_run().requests, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_to_the_first_sample),
        cmocka_unit_test(service_changed_is_enabled_and_drops_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
