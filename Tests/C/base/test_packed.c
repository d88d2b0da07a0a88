/* SPDX-License-Identifier: MIT */
#include "tendon/base/packed.h"

#include "test_bytes.h"

static const char strings[] = "one\0\0three\0three and more";
enum { COUNT = 4 };

static void lengths(void **state) {
    (void)state;
    assert_int_equal(tendon_string_length(""), 0);
    assert_int_equal(tendon_string_length(strings), 3);
    assert_int_equal(tendon_string_length("three and more"), 14);
}

static void by_place(void **state) {
    (void)state;
    static const char *const expected[COUNT] = {"one", "", "three", "three and more"};
    for (unsigned i = 0; i < COUNT; i++) {
        assert_string_equal(tendon_packed_string(strings, NULL, COUNT, i), expected[i]);
        assert_string_equal(tendon_packed_name(strings, COUNT, i), expected[i]);
        assert_int_equal(tendon_packed_index(strings, COUNT, expected[i], strlen(expected[i])), i);
    }
    assert_null(tendon_packed_string(strings, NULL, COUNT, COUNT));
    assert_null(tendon_packed_string(strings, NULL, COUNT, ~0u));
    assert_string_equal(tendon_packed_name(strings, COUNT, COUNT), "unknown");
    assert_string_equal(tendon_packed_name(strings, 0, 0), "unknown");
}

static void by_number(void **state) {
    (void)state;
    static const uint16_t numbers[COUNT] = {7, 0xFFFF, 0, 256};
    assert_string_equal(tendon_packed_string(strings, numbers, COUNT, 7), "one");
    assert_string_equal(tendon_packed_string(strings, numbers, COUNT, 0xFFFF), "");
    assert_string_equal(tendon_packed_string(strings, numbers, COUNT, 0), "three");
    assert_string_equal(tendon_packed_string(strings, numbers, COUNT, 256), "three and more");
    assert_null(tendon_packed_string(strings, numbers, COUNT, 1));
    assert_null(tendon_packed_string(strings, numbers, COUNT, 0x10007));
}

/* Whole strings only: neither a beginning of one nor one that goes on, and no byte beyond the length is looked at. */
static void names_are_whole(void **state) {
    (void)state;
    assert_int_equal(tendon_packed_index(strings, COUNT, "on", 2), -1);
    assert_int_equal(tendon_packed_index(strings, COUNT, "ones", 4), -1);
    assert_int_equal(tendon_packed_index(strings, COUNT, "three and mor", 13), -1);
    assert_int_equal(tendon_packed_index(strings, COUNT, "one\0", 4), -1);
    assert_int_equal(tendon_packed_index(strings, 2, "three", 5), -1);
    block exact = block_copy("three", 5);
    assert_int_equal(tendon_packed_index(strings, COUNT, (const char *)exact.data, exact.length), 2);
    free(exact.data);
}

static const char *other(tendon_status status) {
    return status == TENDON_ERROR_TIMEOUT ? "timeout" : "other";
}

static void statuses(void **state) {
    (void)state;
    enum { LAYER = TENDON_LAYER_RADIO * 256 };
    static const uint16_t numbers[] = {LAYER + 1, LAYER + 0xFF};
    static const char texts[] = "first\0last";
    assert_string_equal(tendon_packed_status(texts, numbers, 2, TENDON_STATUS(TENDON_LAYER_RADIO, 1), other), "first");
    assert_string_equal(tendon_packed_status(texts, numbers, 2, TENDON_STATUS(TENDON_LAYER_RADIO, 0xFF), other),
                        "last");
    assert_string_equal(tendon_packed_status(texts, numbers, 2, TENDON_STATUS(TENDON_LAYER_RADIO, 2), other), "other");
    assert_string_equal(tendon_packed_status(texts, numbers, 2, TENDON_ERROR_TIMEOUT, other), "timeout");
    assert_string_equal(tendon_packed_status(texts, numbers, 2, TENDON_OK, other), "other");
    assert_string_equal(tendon_packed_status(texts, numbers, 2, LAYER + 1, other), "other");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths),         cmocka_unit_test(by_place), cmocka_unit_test(by_number),
        cmocka_unit_test(names_are_whole), cmocka_unit_test(statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
