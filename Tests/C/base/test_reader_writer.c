/* SPDX-License-Identifier: MIT */
#include "tendon/base.h"
#include "test_bytes.h"

static void reader_reads_both_orders(void **state) {
    (void)state;
    block b = block_hex("80 0102 0102 01020304 01020304 0102030405060708 0102030405060708 ff fffe fffe");
    tendon_reader r = tendon_reader_make(b.data, b.length);
    assert_int_equal(tendon_read_u8(&r), 0x80);
    assert_int_equal(tendon_read_u16le(&r), 0x0201);
    assert_int_equal(tendon_read_u16be(&r), 0x0102);
    assert_int_equal(tendon_read_u32le(&r), 0x04030201);
    assert_int_equal(tendon_read_u32be(&r), 0x01020304);
    assert_true(tendon_read_u64le(&r) == 0x0807060504030201u);
    assert_true(tendon_read_u64be(&r) == 0x0102030405060708u);
    assert_int_equal(tendon_read_i8(&r), -1);
    assert_int_equal(tendon_read_i16le(&r), -257);
    assert_int_equal(tendon_read_i16be(&r), -2);
    assert_int_equal(tendon_reader_remaining(&r), 0);
    assert_int_equal(r.status, TENDON_OK);
    free(b.data);
}

/* The first field that does not fit is kept; later reads change nothing. */
static void reader_is_sticky_at_every_cut(void **state) {
    (void)state;
    for (size_t length = 0; length <= 7; length++) {
        block b = block_copy("\1\2\3\4\5\6\7", length);
        tendon_reader r = tendon_reader_make(b.data, length);
        (void)tendon_read_u8(&r);
        (void)tendon_read_u16le(&r);
        uint32_t last = tendon_read_u32le(&r);
        if (length == 7) {
            assert_int_equal(r.status, TENDON_OK);
            assert_int_equal(last, 0x07060504);
        } else {
            assert_int_equal(r.status, TENDON_ERROR_TRUNCATED);
            assert_int_equal(r.error_offset, length < 1 ? 0 : length < 3 ? 1 : 3);
            assert_int_equal(last, 0);
            size_t position = r.position;
            assert_null(tendon_read_bytes(&r, 0));
            assert_int_equal(tendon_read_u8(&r), 0);
            assert_int_equal(r.position, position);
        }
        free(b.data);
    }
}

static void reader_lends_an_empty_view(void **state) {
    (void)state;
    tendon_reader r = tendon_reader_make(NULL, 0);
    assert_non_null(tendon_read_bytes(&r, 0));
    assert_null(tendon_read_bytes(&r, SIZE_MAX));
    assert_int_equal(r.status, TENDON_ERROR_TRUNCATED);
}

static void i16_of_all_values(void **state) {
    (void)state;
    for (uint32_t v = 0; v <= 0xFFFF; v++) {
        assert_int_equal(tendon_i16_from_u16((uint16_t)v), v < 0x8000 ? (int)v : (int)v - 65536);
    }
}

static void writer_is_sticky_at_every_capacity(void **state) {
    (void)state;
    for (size_t capacity = 0; capacity <= 38; capacity++) {
        uint8_t *out = malloc(capacity > 0 ? capacity : 1);
        tendon_writer w = tendon_writer_make(out, capacity);
        tendon_write_u8(&w, 0x01);
        tendon_write_u16le(&w, 0x0302);
        tendon_write_u16be(&w, 0x0405);
        tendon_write_u24le(&w, 0x080706);
        tendon_write_u32le(&w, 0x0C0B0A09);
        tendon_write_u32be(&w, 0x0D0E0F10);
        tendon_write_u64le(&w, 0x1817161514131211u);
        tendon_write_u64be(&w, 0x191A1B1C1D1E1F20u);
        tendon_write_bytes(&w, "\x21\x22\x23\x24\x25\x26", 6);
        if (capacity == 38) {
            assert_int_equal(tendon_writer_result(&w), 38);
            for (size_t i = 0; i < 38; i++) {
                assert_int_equal(out[i], i + 1);
            }
        } else {
            assert_int_equal(tendon_writer_result(&w), TENDON_ERROR_BUFFER_TOO_SMALL);
            size_t length = w.length;
            tendon_write_u8(&w, 0xEE);
            assert_int_equal(w.length, length);
        }
        free(out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reader_reads_both_orders),           cmocka_unit_test(reader_is_sticky_at_every_cut),
        cmocka_unit_test(reader_lends_an_empty_view),         cmocka_unit_test(i16_of_all_values),
        cmocka_unit_test(writer_is_sticky_at_every_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
