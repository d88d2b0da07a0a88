/* SPDX-License-Identifier: MIT */
/* Lists in ATT PDUs. */
#include "tendon/host/att.h"
#include "test_bytes.h"

typedef struct expectation {
    uint16_t handle, end_handle;
    const char *value;
    size_t full_length;
} expectation;

static void walk(const char *hex, const expectation *expected, size_t count) {
    block b = block_hex(hex);
    tendon_att_pdu pdu;
    tendon_att_item item;
    assert_int_equal(tendon_att_decode(b.data, b.length, &pdu, NULL), TENDON_OK);
    tendon_att_items items = tendon_att_items_of(&pdu);
    for (size_t i = 0; i < count; i++) {
        assert_true(tendon_att_items_next(&items, &item));
        assert_int_equal(item.handle, expected[i].handle);
        assert_int_equal(item.end_handle, expected[i].end_handle);
        assert_int_equal(item.full_length, expected[i].full_length);
        assert_hex(item.value, item.length, expected[i].value);
    }
    assert_false(tendon_att_items_next(&items, &item));
    assert_int_equal(items.reader.status, TENDON_OK);
    assert_true(item.handle == 0 && item.length == 0 && item.value == NULL);
    free(b.data);
}

static void every_kind_of_list(void **state) {
    (void)state;
    walk("05 01 0300 0229 0400 0129", (expectation[]){{3, 0, "0229", 2}, {4, 0, "0129", 2}}, 2);
    walk("05 02 0300 000102030405060708090a0b0c0d0e0f", (expectation[]){{3, 0, "000102030405060708090a0b0c0d0e0f", 16}},
         1);
    walk("07 0100 0500 0600 ffff", (expectation[]){{1, 5, "", 0}, {6, 0xFFFF, "", 0}}, 2);
    walk("09 03 0200 aa 0400 bb", (expectation[]){{2, 0, "aa", 1}, {4, 0, "bb", 1}}, 2);
    walk("09 02 0200 0400", (expectation[]){{2, 0, "", 0}, {4, 0, "", 0}}, 2);
    walk("11 06 0100 0500 0018", (expectation[]){{1, 5, "0018", 2}}, 1);
    walk("21 0100 aa 0000 0200 bbcc", (expectation[]){{0, 0, "aa", 1}, {0, 0, "", 0}, {0, 0, "bbcc", 2}}, 3);
    walk("23 0300 0100 aa 0500 0000", (expectation[]){{3, 0, "aa", 1}, {5, 0, "", 0}}, 2);
}

/* The last value of a Read Multiple Variable Response may be cut to the MTU. */
static void variable_list_may_be_cut(void **state) {
    (void)state;
    walk("21 0100 aa 0500 bbcc", (expectation[]){{0, 0, "aa", 1}, {0, 0, "bbcc", 5}}, 2);
    walk("21 ffff", (expectation[]){{0, 0, "", 0xFFFF}}, 1);
}

static void other_pdus_have_no_items(void **state) {
    (void)state;
    walk("0b 0300 0100 aa", NULL, 0);
    walk("0e 0300 0500", NULL, 0);
    walk("1b 0300 0100", NULL, 0);
    walk("13", NULL, 0);
}

/* A PDU that did not come from decode: the walk stops by itself, with a reason. */
static void mal_B06_walk_of_an_unchecked_list(void **state) {
    (void)state;
    static const struct {
        uint8_t opcode, format;
        size_t length;
        tendon_status status;
        unsigned items;
        size_t offset; /* of the item that is wrong; of the field in a list of values */
    } cases[] = {
        {0x09, 0, 4, TENDON_ERROR_MALFORMED, 0, 0},
        {0x09, 1, 4, TENDON_ERROR_MALFORMED, 0, 0},
        {0x09, 3, 4, TENDON_ERROR_TRUNCATED, 1, 3},
        {0x09, 3, 7, TENDON_ERROR_TRUNCATED, 2, 6},
        {0x11, 3, 4, TENDON_ERROR_MALFORMED, 0, 0},
        {0x05, 7, 4, TENDON_ERROR_MALFORMED, 0, 0},
        {0x07, 0, 7, TENDON_ERROR_TRUNCATED, 1, 4},
        {0x23, 0, 3, TENDON_ERROR_TRUNCATED, 0, 2},
        {0x21, 0, 1, TENDON_ERROR_TRUNCATED, 0, 0},
        {0x55, 0, 4, TENDON_OK, 0, 0},
        {0x09, 2, 0, TENDON_OK, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t zeros[8] = {0};
        block b = block_copy(zeros, cases[i].length);
        tendon_att_pdu pdu = {.opcode = cases[i].opcode, .format = cases[i].format, .data = b.data, .length = b.length};
        tendon_att_items items = tendon_att_items_of(&pdu);
        tendon_att_item item;
        unsigned count = 0;
        while (tendon_att_items_next(&items, &item)) {
            count++;
        }
        assert_int_equal(count, cases[i].items);
        assert_int_equal(items.reader.status, cases[i].status);
        if (cases[i].status < 0) {
            assert_int_equal(items.reader.error_offset, cases[i].offset);
        }
        assert_false(tendon_att_items_next(&items, &item));
        free(b.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_list),
        cmocka_unit_test(variable_list_may_be_cut),
        cmocka_unit_test(other_pdus_have_no_items),
        cmocka_unit_test(mal_B06_walk_of_an_unchecked_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
