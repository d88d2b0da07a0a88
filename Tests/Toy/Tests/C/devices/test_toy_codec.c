/* SPDX-License-Identifier: MIT */
#include "test_bytes.h"

#include "tendon/devices.h"

static void levels(void **state) {
    (void)state;
    tendon_toy_level level = {7, 7};
    assert_int_equal(tendon_toy_decode_level((const uint8_t *)"\x01\x64", 2, &level), TENDON_OK);
    assert_int_equal(level.sequence, 1);
    assert_int_equal(level.percent, 100);
    assert_int_equal(tendon_toy_decode_level((const uint8_t *)"\x01\x65", 2, &level), TENDON_TOY_ERROR_RANGE);
    assert_int_equal(tendon_toy_decode_level((const uint8_t *)"\x02\x00\x00", 3, &level), TENDON_TOY_ERROR_LENGTH);
    assert_int_equal(level.percent, 100);
}

static void the_family(void **state) {
    (void)state;
    assert_ptr_equal(tendon_family_find("plaything"), &tendon_toy_family);
    assert_ptr_equal(tendon_family_from_advertisement((const uint8_t *)"\x03\x03\xf0\xff", 4), &tendon_toy_family);
    assert_string_equal(tendon_family_status_name(TENDON_TOY_ERROR_RANGE), "TOY_ERROR_RANGE");
    assert_string_equal(tendon_family_layer_name(TENDON_TOY_ERROR_RANGE), "Toy");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(levels), cmocka_unit_test(the_family)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
