/* SPDX-License-Identifier: MIT */
/* Advertising data that is built: what fits, what is shortened, and what fails first. */
#include "tendon/host/advertisement.h"
#include "test_bytes.h"

static void builder_makes_what_is_read(void **state) {
    (void)state;
    uint8_t out[64];
    tendon_uuid uuids[2] = {tendon_uuid_from_u16(0xFDD2), tendon_uuid_from_u16(0x180A)};
    tendon_uuid wide = tendon_uuid_from_u32(0x12345678);
    tendon_writer w = tendon_writer_make(out, sizeof(out));
    tendon_ad_put_flags(&w, 6);
    tendon_ad_put_uuids(&w, uuids, 2, true);
    tendon_ad_put_uuids(&w, uuids, 0, true);
    tendon_ad_put_tx_power(&w, -4);
    tendon_ad_put_appearance(&w, 0x03C1);
    tendon_ad_put_service_data(&w, &uuids[0], "\x01", 1);
    tendon_ad_put_manufacturer(&w, 0x009E, "\x01\x09", 2);
    tendon_ad_put_name(&w, "Bose", 4);
    assert_hex(out, (size_t)tendon_writer_result(&w),
               "02 01 06 05 03 d2fd0a18 02 0a fc 03 19 c103 04 16 d2fd 01 05 ff 9e000109 05 09 426f7365");
    w = tendon_writer_make(out, sizeof(out));
    tendon_ad_put_uuids(&w, &wide, 1, false);
    tendon_ad_put_service_data(&w, &wide, NULL, 0);
    assert_hex(out, (size_t)tendon_writer_result(&w),
               "11 06 fb349b5f8000008000100000 78563412 11 21 fb349b5f8000008000100000 78563412");
}

static void builder_keeps_to_its_room(void **state) {
    (void)state;
    uint8_t out[31];
    uint8_t big[300] = {0};
    tendon_uuid mixed[2] = {tendon_uuid_from_u16(0xFDD2), tendon_uuid_from_u32(0x12345678)};
    tendon_uuid many[128] = {{{0}}};
    tendon_writer w = tendon_writer_make(out, sizeof(out));
    tendon_ad_put(&w, TENDON_AD_MANUFACTURER, big, 255);
    assert_int_equal(tendon_writer_result(&w), TENDON_ERROR_OVERFLOW);
    tendon_ad_put_flags(&w, 6);
    tendon_ad_put_name(&w, "x", 1);
    tendon_ad_put_uuids(&w, mixed, 1, true);
    assert_true(tendon_writer_result(&w) == TENDON_ERROR_OVERFLOW && w.length == 0);
    w = tendon_writer_make(out, sizeof(out));
    tendon_ad_put(&w, TENDON_AD_MANUFACTURER, big, 30);
    assert_int_equal(tendon_writer_result(&w), TENDON_ERROR_BUFFER_TOO_SMALL);
    w = tendon_writer_make(out, sizeof(out));
    tendon_ad_put(&w, TENDON_AD_MANUFACTURER, big, 29);
    assert_int_equal(tendon_writer_result(&w), 31);
    w = tendon_writer_make(out, sizeof(out));
    tendon_ad_put_uuids(&w, mixed, 2, true);
    assert_int_equal(tendon_writer_result(&w), TENDON_ERROR_INVALID_ARGUMENT);
    w = tendon_writer_make(out, sizeof(out));
    tendon_ad_put_uuids(&w, many, 128, true);
    assert_int_equal(tendon_writer_result(&w), TENDON_ERROR_OVERFLOW);
    w = tendon_writer_make(out, sizeof(out));
    tendon_ad_put_manufacturer(&w, 1, big, SIZE_MAX);
    assert_int_equal(tendon_writer_result(&w), TENDON_ERROR_OVERFLOW);
    w = tendon_writer_make(out, sizeof(out));
    tendon_ad_put_service_data(&w, &mixed[0], big, 253);
    assert_int_equal(tendon_writer_result(&w), TENDON_ERROR_OVERFLOW);
}

/* What failed first is what is reported, whatever is put behind it. */
static void builder_keeps_its_first_failure(void **state) {
    (void)state;
    static uint8_t large[300];
    uint8_t out[600];
    tendon_writer writer = tendon_writer_make(out, 4);
    tendon_ad_put(&writer, 0xFF, large, 3);
    assert_int_equal(writer.status, TENDON_ERROR_BUFFER_TOO_SMALL);
    tendon_ad_put(&writer, 0xFF, large, 255);
    assert_int_equal(writer.status, TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(writer.length, 0);
    writer = tendon_writer_make(out, 2);
    tendon_ad_put_name(&writer, "", 0); /* it just fits */
    assert_int_equal(writer.length, 2);
    assert_memory_equal(out, "\x01\x09", 2);
    writer = tendon_writer_make(out, sizeof out);
    tendon_ad_put(&writer, 0xFF, large, 254); /* the longest: 255 with its type */
    assert_int_equal(writer.status, TENDON_OK);
    assert_int_equal(writer.length, 256);
    tendon_ad_put(&writer, 0xFF, large, 255);
    assert_int_equal(writer.status, TENDON_ERROR_OVERFLOW);
}

/* The name takes the room that is left, cut between characters. */
static void builder_shortens_a_name(void **state) {
    (void)state;
    static const char name[] = "ab\xC3\xBC\xE2\x82\xAC"; /* a b ü € */
    static const size_t fits[] = {0, 0, 0, 1, 2, 2, 4, 4, 4, 7};
    for (size_t room = 0; room < 10; room++) {
        uint8_t out[16];
        tendon_writer w = tendon_writer_make(out, room);
        tendon_ad_put_name(&w, name, 7);
        assert_int_equal(tendon_writer_result(&w), fits[room] == 0 ? 0 : fits[room] + 2);
        if (fits[room] > 0) {
            assert_int_equal(out[1], fits[room] == 7 ? TENDON_AD_NAME_COMPLETE : TENDON_AD_NAME_SHORTENED);
        }
    }
    static const char broken[] = "\x80\x80\x80\x80"; /* no character begins here: nothing of it is kept */
    uint8_t out[4];
    tendon_writer w = tendon_writer_make(out, sizeof out);
    tendon_ad_put_name(&w, broken, 4);
    assert_int_equal(tendon_writer_result(&w), 0);
}

/* A structure has 254 bytes of data at most, the company and the UUID included; a longer one leaves nothing behind. */
static void the_longest_structures(void **state) {
    (void)state;
    static const uint8_t data[300] = {0x5A};
    const tendon_uuid uuid = tendon_uuid_from_u16(0x180F);
    for (size_t length = 250; length <= 257; length++) {
        for (int kind = 0; kind < 3; kind++) {
            uint8_t out[600];
            tendon_writer writer = tendon_writer_make(out, sizeof out);
            size_t most = kind == 0 ? 254 : 252;
            if (kind == 0) {
                tendon_ad_put(&writer, TENDON_AD_NAME_COMPLETE, data, length);
            } else if (kind == 1) {
                tendon_ad_put_manufacturer(&writer, 0x009E, data, length);
            } else {
                tendon_ad_put_service_data(&writer, &uuid, data, length);
            }
            if (length > most) {
                assert_int_equal(writer.status, TENDON_ERROR_OVERFLOW);
            } else {
                size_t head = kind == 0 ? 0 : 2;
                assert_int_equal(tendon_writer_result(&writer), length + head + 2);
                assert_int_equal(out[0], length + head + 1);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builder_makes_what_is_read),      cmocka_unit_test(builder_keeps_to_its_room),
        cmocka_unit_test(builder_keeps_its_first_failure), cmocka_unit_test(builder_shortens_a_name),
        cmocka_unit_test(the_longest_structures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
