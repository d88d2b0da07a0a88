/* SPDX-License-Identifier: MIT */
#include "tendon/base.h"
#include "test_bytes.h"

/* Against a plain array as model: all policies and capacities 1 to 5, random pushes and pops. */
static void ring_against_a_model(void **state) {
    (void)state;
    dice d = {7};
    for (size_t capacity = 1; capacity <= 5; capacity++) {
        for (int policy = 0; policy <= 1; policy++) {
            uint32_t *storage = malloc(capacity * sizeof(uint32_t));
            uint32_t model[5], next = 1;
            size_t count = 0;
            uint64_t dropped = 0;
            tendon_ring ring;
            assert_int_equal(tendon_ring_init(&ring, storage, 4, capacity, (tendon_ring_policy)policy), TENDON_OK);
            for (int step = 0; step < 2000; step++) {
                if (roll(&d) % 5 < 3) {
                    bool full = count == capacity;
                    assert_int_equal(tendon_ring_push(&ring, &next), !full);
                    if (full && policy == TENDON_RING_DROP_OLDEST) {
                        memmove(model, model + 1, (count - 1) * sizeof(model[0]));
                        model[count - 1] = next;
                    } else if (!full) {
                        model[count++] = next;
                    }
                    dropped += full;
                    next++;
                } else {
                    uint32_t out = 0;
                    const uint32_t *peeked = tendon_ring_peek(&ring);
                    assert_int_equal(peeked != NULL, count > 0);
                    assert_int_equal(tendon_ring_pop(&ring, &out), count > 0);
                    if (count > 0) {
                        assert_int_equal(out, model[0]);
                        memmove(model, model + 1, --count * sizeof(model[0]));
                    }
                }
                assert_int_equal(ring.count, count);
                assert_true(ring.dropped == dropped);
            }
            free(storage);
        }
    }
}

/* G10: 400 senders a second into a bounded table: all beyond it are counted. */
static void mal_G10_bounded_by_the_caller(void **state) {
    (void)state;
    tendon_address storage[32], address = {{0x40}, TENDON_ADDRESS_TYPE_RANDOM};
    tendon_ring ring;
    assert_int_equal(tendon_ring_init(&ring, storage, sizeof(storage[0]), 32, TENDON_RING_DROP_OLDEST), TENDON_OK);
    for (unsigned i = 0; i < 4000; i++) {
        address.bytes[4] = (uint8_t)(i >> 8);
        address.bytes[5] = (uint8_t)i;
        (void)tendon_ring_push(&ring, &address);
    }
    assert_int_equal(ring.count, 32);
    assert_int_equal(ring.dropped, 4000 - 32);
}

static void ring_init_rejects(void **state) {
    (void)state;
    uint8_t storage[4];
    tendon_ring ring;
    assert_int_equal(tendon_ring_init(&ring, NULL, 1, 1, TENDON_RING_DROP_NEWEST), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_ring_init(&ring, storage, 0, 1, TENDON_RING_DROP_NEWEST), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_ring_init(&ring, storage, 1, 0, TENDON_RING_DROP_NEWEST), TENDON_ERROR_INVALID_ARGUMENT);
}

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
        cmocka_unit_test(ring_against_a_model),       cmocka_unit_test(mal_G10_bounded_by_the_caller),
        cmocka_unit_test(ring_init_rejects),          cmocka_unit_test(crc_check_value),
        cmocka_unit_test(crc_against_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
