/* SPDX-License-Identifier: MIT */
#include "tendon/base.h"
#include "test_bytes.h"

static uint32_t bitwise(uint32_t crc, const uint8_t *data, size_t length) {
    crc = ~crc;
    for (size_t i = 0; i < length; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        }
    }
    return ~crc;
}

static void crc_check_value(void **state) {
    (void)state;
    assert_int_equal(tendon_crc32(0, (const uint8_t *)"123456789", 9), 0xCBF43926u);
    assert_int_equal(tendon_crc32(0, NULL, 0), 0);
}

/* Against the definition, at every length to 64 and every split; all single bits exercise every table entry. */
static void crc_against_the_definition(void **state) {
    (void)state;
    dice d = {3};
    for (size_t length = 0; length <= 64; length++) {
        block b = block_random(&d, length);
        uint32_t expected = bitwise(0, b.data, length);
        for (size_t split = 0; split <= length; split++) {
            uint32_t crc = tendon_crc32(0, b.data, split);
            assert_int_equal(tendon_crc32(crc, b.data + split, length - split), expected);
        }
        free(b.data);
    }
    for (unsigned position = 0; position < 16; position++) {
        for (unsigned value = 0; value < 256; value++) {
            uint8_t bytes[16] = {0};
            bytes[position] = (uint8_t)value;
            assert_int_equal(tendon_crc32(0, bytes, 16), bitwise(0, bytes, 16));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_check_value),
        cmocka_unit_test(crc_against_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
