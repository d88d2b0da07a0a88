/* SPDX-License-Identifier: MIT */
/* The record of what a central has subscribed to, byte by byte, and where records are. */
#include "../../../../CSources/linux/store/subscriptions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BOND_AT = 8, HASH_AT = 16, VALUES_AT = 32 };

/** Three CCCDs; the checksum was computed with zlib's crc32() of Python. */
static const uint8_t literal[] = {'T',  'S',  'U',  'B',  1,    3,    1,    0,    1,    2,    3,    4,    5,
                                  6,    7,    8,    0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19,
                                  0x1A, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F, 0,    1,    2,    0xA8, 0xA6, 0x9F, 0x39};

static void a_record_byte_by_byte(void **state) {
    tendon_subscription_record record;
    uint8_t bytes[TENDON_SUBSCRIPTION_RECORD_MAX];
    size_t offset = 99;
    (void)state;
    assert_int_equal(tendon_subscription_record_decode(literal, sizeof literal, &record, &offset), TENDON_OK);
    assert_int_equal(record.count, 3);
    assert_true(record.service_changed);
    assert_memory_equal(record.bond, literal + BOND_AT, 8);
    assert_memory_equal(record.hash, literal + HASH_AT, 16);
    assert_memory_equal(record.values, literal + VALUES_AT, 3);
    assert_int_equal(record.values[3], 0);
    assert_int_equal(tendon_subscription_record_encode(&record, bytes, sizeof bytes), sizeof literal);
    assert_memory_equal(bytes, literal, sizeof literal);
    record.service_changed = false;
    record.count = TENDON_SUBSCRIPTIONS_MAX;
    assert_int_equal(tendon_subscription_record_encode(&record, bytes, sizeof bytes), sizeof bytes);
    assert_int_equal(bytes[6], 0);
    assert_int_equal(tendon_subscription_record_decode(bytes, sizeof bytes, &record, NULL), TENDON_OK);
    assert_int_equal(tendon_subscription_record_encode(&record, bytes, sizeof bytes - 1),
                     TENDON_ERROR_BUFFER_TOO_SMALL);
}

static void expect_refused(const uint8_t *bytes, size_t length, tendon_status status, size_t at) {
    tendon_subscription_record record;
    uint8_t *exact = malloc(length + 1);
    size_t offset = 99;
    memset(&record, 0xA5, sizeof record);
    memcpy(exact, bytes, length);
    exact = realloc(exact, length + (length == 0));
    assert_int_equal(tendon_subscription_record_decode(exact, length, &record, &offset), status);
    assert_int_equal(offset, at);
    for (size_t i = 0; i < sizeof record; i++) {
        assert_int_equal(((const uint8_t *)&record)[i], 0xA5);
    }
    assert_int_equal(tendon_subscription_record_decode(exact, length, &record, NULL), status);
    free(exact);
}

static void repair(uint8_t *bytes, size_t length) {
    tendon_writer writer = tendon_writer_make(bytes + length - 4, 4);
    tendon_write_u32le(&writer, tendon_crc32(0, bytes, length - 4));
}

static void mal_a_record_that_is_cut_or_changed(void **state) {
    uint8_t bytes[sizeof literal + 1] = {0};
    (void)state;
    for (size_t length = 0; length < sizeof literal; length++) {
        expect_refused(literal, length, TENDON_ERROR_TRUNCATED, length);
    }
    memcpy(bytes, literal, sizeof literal);
    expect_refused(bytes, sizeof bytes, TENDON_ERROR_MALFORMED, sizeof literal);
    for (size_t at = 0; at < sizeof literal; at++) {
        static const struct {
            size_t at;
            uint8_t value;
            tendon_status status;
        } wrong[] = {{3, 'X', TENDON_ERROR_MALFORMED},       {4, 0, TENDON_ERROR_UNSUPPORTED},
                     {4, 2, TENDON_ERROR_UNSUPPORTED},       {6, 2, TENDON_ERROR_MALFORMED},
                     {6, 0x81, TENDON_ERROR_MALFORMED},      {7, 1, TENDON_ERROR_MALFORMED},
                     {VALUES_AT, 4, TENDON_ERROR_MALFORMED}, {VALUES_AT + 2, 0x80, TENDON_ERROR_MALFORMED}};
        memcpy(bytes, literal, sizeof literal);
        bytes[at] ^= 0x10;
        size_t where = at < 4 ? 0 : at == 4 ? 4 : at == 5 ? sizeof literal : sizeof literal - 4;
        tendon_status status = at == 4   ? TENDON_ERROR_UNSUPPORTED
                               : at == 5 ? TENDON_ERROR_TRUNCATED
                                         : TENDON_ERROR_MALFORMED;
        expect_refused(bytes, sizeof literal, status, where); /* the checksum tells every other byte */
        if (at < sizeof wrong / sizeof wrong[0]) {
            memcpy(bytes, literal, sizeof literal);
            bytes[wrong[at].at] = wrong[at].value;
            repair(bytes, sizeof literal);
            expect_refused(bytes, sizeof literal, wrong[at].status, wrong[at].at == 3 ? 0 : wrong[at].at);
        }
    }
    memcpy(bytes, literal, sizeof literal);
    bytes[5] = TENDON_SUBSCRIPTIONS_MAX + 1;
    expect_refused(bytes, sizeof literal, TENDON_ERROR_MALFORMED, 5);
    bytes[5] = 2;
    expect_refused(bytes, sizeof literal, TENDON_ERROR_MALFORMED, sizeof literal - 1);
}

static void the_directory_of_a_store(void **state) {
    tendon_subscription_store store;
    char path[300];
    (void)state;
    memset(path, 'a', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    assert_int_equal(tendon_subscription_store_open(&store, ""), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_subscription_store_open(&store, path), TENDON_ERROR_OVERFLOW);
    assert_int_equal(setenv("XDG_STATE_HOME", "/state", 1), 0);
    assert_int_equal(tendon_subscription_store_open(&store, NULL), TENDON_OK);
    assert_string_equal(store.journal.directory, "/state/tendon/subscriptions");
    assert_int_equal(setenv("XDG_STATE_HOME", path, 1), 0);
    assert_int_equal(tendon_subscription_store_open(&store, NULL), TENDON_ERROR_OVERFLOW);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_byte_by_byte),
        cmocka_unit_test(mal_a_record_that_is_cut_or_changed),
        cmocka_unit_test(the_directory_of_a_store),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
