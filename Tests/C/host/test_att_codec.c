/* SPDX-License-Identifier: MIT */
/* ATT PDUs (Core Spec Vol 3 Part F 3.4), bytes written out. */
#include "tendon/host/att.h"
#include "test_bytes.h"

static tendon_status decode_hex(const char *hex, tendon_att_pdu *out, size_t *offset, block *keep) {
    *keep = block_hex(hex);
    return tendon_att_decode(keep->data, keep->length, out, offset);
}

/* One good PDU per opcode; cut: the lengths below its own that are valid PDUs too start here. */
static const struct {
    const char *hex;
    tendon_att_class kind;
    uint8_t response;
    size_t shortest; /* no shorter cut is valid */
} good[] = {
    {"01 08 0100 0a", TENDON_ATT_CLASS_RESPONSE, 0, 5},
    {"02 f700", TENDON_ATT_CLASS_REQUEST, 0x03, 3},
    {"03 f700", TENDON_ATT_CLASS_RESPONSE, 0, 3},
    {"04 0100 ffff", TENDON_ATT_CLASS_REQUEST, 0x05, 5},
    {"05 01 0300 0229 0400 0129", TENDON_ATT_CLASS_RESPONSE, 0, 6},
    {"06 0100 ffff 0028 d2fd", TENDON_ATT_CLASS_REQUEST, 0x07, 7},
    {"07 0100 0500 0600 0900", TENDON_ATT_CLASS_RESPONSE, 0, 5},
    {"08 0100 ffff 0328", TENDON_ATT_CLASS_REQUEST, 0x09, 7},
    {"09 07 0200 10 0300 002a 0400 10 0500 012a", TENDON_ATT_CLASS_RESPONSE, 0, 9},
    {"0a 0300", TENDON_ATT_CLASS_REQUEST, 0x0B, 3},
    {"0b 414243", TENDON_ATT_CLASS_RESPONSE, 0, 1},
    {"0c 0300 1600", TENDON_ATT_CLASS_REQUEST, 0x0D, 5},
    {"0d 4445", TENDON_ATT_CLASS_RESPONSE, 0, 1},
    {"0e 0300 0500 0700", TENDON_ATT_CLASS_REQUEST, 0x0F, 5},
    {"0f 4142", TENDON_ATT_CLASS_RESPONSE, 0, 1},
    {"10 0100 ffff 0028", TENDON_ATT_CLASS_REQUEST, 0x11, 7},
    {"11 06 0100 0500 0018 0600 0900 0118", TENDON_ATT_CLASS_RESPONSE, 0, 8},
    {"12 0300 aabb", TENDON_ATT_CLASS_REQUEST, 0x13, 3},
    {"13", TENDON_ATT_CLASS_RESPONSE, 0, 1},
    {"16 0300 1200 aabb", TENDON_ATT_CLASS_REQUEST, 0x17, 5},
    {"17 0300 1200 aabb", TENDON_ATT_CLASS_RESPONSE, 0, 5},
    {"18 01", TENDON_ATT_CLASS_REQUEST, 0x19, 2},
    {"19", TENDON_ATT_CLASS_RESPONSE, 0, 1},
    {"1b 0300 0102", TENDON_ATT_CLASS_NOTIFICATION, 0, 3},
    {"1d 0300 0102", TENDON_ATT_CLASS_INDICATION, 0x1E, 3},
    {"1e", TENDON_ATT_CLASS_CONFIRMATION, 0, 1},
    {"20 0300 0500", TENDON_ATT_CLASS_REQUEST, 0x21, 5},
    {"21 0100 aa 0200 bbcc", TENDON_ATT_CLASS_RESPONSE, 0, 3},
    {"23 0300 0100 aa 0500 0200 bbcc", TENDON_ATT_CLASS_NOTIFICATION, 0, 6},
    {"52 0300 aabb", TENDON_ATT_CLASS_COMMAND, 0, 3},
    {"d2 0300 aa 000102030405060708090a0b", TENDON_ATT_CLASS_COMMAND, 0, 15},
};

#define GOOD_COUNT (sizeof(good) / sizeof(good[0]))

static int index_of(uint8_t opcode) {
    for (size_t i = 0; i < GOOD_COUNT; i++) {
        block b = block_hex(good[i].hex);
        uint8_t first = b.data[0];
        free(b.data);
        if (first == opcode) {
            return (int)i;
        }
    }
    return -1;
}

/* All 256 opcodes: class, response. */
static void opcodes_all(void **state) {
    (void)state;
    assert_int_equal(GOOD_COUNT, 31);
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        int i = index_of((uint8_t)opcode);
        assert_int_equal(tendon_att_opcode_class((uint8_t)opcode), i >= 0 ? good[i].kind : TENDON_ATT_CLASS_UNKNOWN);
        assert_int_equal(tendon_att_response_opcode((uint8_t)opcode), i >= 0 ? good[i].response : 0);
    }
}

/* Each decodes, and encodes to the same bytes; into each smaller buffer it does not fit. */
static void good_pdus_there_and_back(void **state) {
    (void)state;
    for (size_t i = 0; i < GOOD_COUNT; i++) {
        tendon_att_pdu pdu;
        block b;
        assert_int_equal(decode_hex(good[i].hex, &pdu, NULL, &b), TENDON_OK);
        for (size_t capacity = 0; capacity <= b.length; capacity++) {
            uint8_t *out = malloc(capacity > 0 ? capacity : 1);
            tendon_status status = tendon_att_encode(&pdu, out, capacity);
            assert_int_equal(status, capacity == b.length ? (tendon_status)b.length : TENDON_ERROR_BUFFER_TOO_SMALL);
            if (status > 0) {
                assert_memory_equal(out, b.data, b.length);
            }
            free(out);
        }
        free(b.data);
    }
}

/* Every cut of every PDU: an error with its place, or again a PDU that encodes to the same bytes. */
static void good_pdus_cut_at_each_byte(void **state) {
    (void)state;
    for (size_t i = 0; i < GOOD_COUNT; i++) {
        block whole = block_hex(good[i].hex);
        for (size_t length = 0; length < whole.length; length++) {
            block b = block_copy(whole.data, length);
            tendon_att_pdu pdu;
            uint8_t out[64];
            size_t offset = 999;
            tendon_status status = tendon_att_decode(b.data, length, &pdu, &offset);
            if (length < good[i].shortest) {
                assert_true(status == TENDON_ERROR_TRUNCATED || status == TENDON_ERROR_MALFORMED);
                assert_true(offset <= length);
            } else if (status == TENDON_OK) {
                assert_int_equal(tendon_att_encode(&pdu, out, sizeof(out)), length);
                assert_memory_equal(out, b.data, length);
            }
            free(b.data);
        }
        free(whole.data);
    }
}

static void members_are_what_stands_in_the_pdu(void **state) {
    (void)state;
    tendon_att_pdu p;
    block b;
    uint16_t type;
    assert_int_equal(decode_hex("01 08 0500 0a", &p, NULL, &b), TENDON_OK);
    assert_true(p.request_opcode == 0x08 && p.handle == 5 && p.error == 0x0A && p.length == 0);
    free(b.data);
    assert_int_equal(decode_hex("06 0100 ffff 0028 d2fd", &p, NULL, &b), TENDON_OK);
    assert_true(p.handle == 1 && p.end_handle == 0xFFFF && tendon_uuid_as_u16(&p.type, &type) && type == 0x2800);
    assert_hex(p.data, p.length, "d2fd");
    free(b.data);
    assert_int_equal(decode_hex("08 0100 0900 fb349b5f8000008000100000 d2fd0000", &p, NULL, &b), TENDON_OK);
    assert_true(tendon_uuid_as_u16(&p.type, &type) && type == 0xFDD2 && p.format == 16);
    free(b.data);
    assert_int_equal(decode_hex("0c 0300 1602", &p, NULL, &b), TENDON_OK);
    assert_true(p.handle == 3 && p.offset == 0x0216);
    free(b.data);
    assert_int_equal(decode_hex("18 00", &p, NULL, &b), TENDON_OK);
    assert_int_equal(p.flags, 0);
    free(b.data);
    assert_int_equal(decode_hex("d2 0300 aabb 000102030405060708090a0b", &p, NULL, &b), TENDON_OK);
    assert_hex(p.data, p.length, "aabb");
    assert_hex(p.signature, 12, "000102030405060708090a0b");
    free(b.data);
    assert_int_equal(decode_hex("13", &p, NULL, &b), TENDON_OK);
    assert_true(p.handle == 0 && p.data == NULL && p.length == 0);
    free(b.data);
}

/* A type of 128 bits on the base UUID keeps its long form; format decides when encoding. */
static void type_keeps_its_length(void **state) {
    (void)state;
    static const char *const hex = "10 0100 ffff fb349b5f8000008000100000 00280000";
    tendon_att_pdu p;
    block b;
    uint8_t out[32];
    assert_int_equal(decode_hex(hex, &p, NULL, &b), TENDON_OK);
    assert_hex(out, (size_t)tendon_att_encode(&p, out, sizeof(out)), hex);
    p.format = 0;
    assert_hex(out, (size_t)tendon_att_encode(&p, out, sizeof(out)), "10 0100 ffff 0028");
    free(b.data);
    assert_int_equal(decode_hex("08 0100 ffff 000102030405060708090a0b0c0d0e0f", &p, NULL, &b), TENDON_OK);
    p.format = 0;
    assert_int_equal(tendon_att_encode(&p, out, sizeof(out)), 21);
    p.format = 2;
    assert_int_equal(tendon_att_encode(&p, out, sizeof(out)), TENDON_ERROR_INVALID_ARGUMENT);
    free(b.data);
}

static void encode_rejects(void **state) {
    (void)state;
    uint8_t out[64];
    tendon_att_pdu p = {.opcode = 0x55};
    assert_int_equal(tendon_att_encode(&p, out, sizeof(out)), TENDON_ERROR_INVALID_ARGUMENT);
    p = (tendon_att_pdu){.opcode = TENDON_ATT_WRITE_REQUEST, .handle = 1, .length = 3};
    assert_int_equal(tendon_att_encode(&p, out, sizeof(out)), TENDON_ERROR_INVALID_ARGUMENT);
    p = (tendon_att_pdu){.opcode = TENDON_ATT_SIGNED_WRITE_COMMAND, .handle = 1};
    assert_int_equal(tendon_att_encode(&p, out, sizeof(out)), TENDON_ERROR_INVALID_ARGUMENT);
    p = (tendon_att_pdu){.opcode = TENDON_ATT_READ_BY_TYPE_RESPONSE, .format = 1, .data = out, .length = 1};
    assert_int_equal(tendon_att_encode(&p, out, sizeof(out)), TENDON_ERROR_INVALID_ARGUMENT);
    p = (tendon_att_pdu){.opcode = TENDON_ATT_READ_MULTIPLE_REQUEST, .data = out, .length = 2};
    assert_int_equal(tendon_att_encode(&p, out, sizeof(out)), TENDON_ERROR_INVALID_ARGUMENT);
    p = (tendon_att_pdu){.opcode = TENDON_ATT_FIND_BY_TYPE_VALUE_REQUEST};
    assert_int_equal(tendon_att_encode(&p, out, sizeof(out)), TENDON_ERROR_INVALID_ARGUMENT);
}

static void rejected(const char *hex, tendon_status expected, size_t where) {
    tendon_att_pdu p;
    block b;
    size_t offset = 999;
    tendon_status status = decode_hex(hex, &p, &offset, &b);
    if (status != expected || offset != where) {
        fail_msg("%s: status %s at %zu, expected %s at %zu", hex, tendon_status_name(status), offset,
                 tendon_status_name(expected), where);
    }
    assert_int_equal(tendon_att_decode(b.data, b.length, &p, NULL), expected);
    free(b.data);
}

static void mal_A01_empty(void **state) {
    (void)state;
    rejected("", TENDON_ERROR_TRUNCATED, 0);
}

/* A02: only the opcodes whose PDU is one byte, or whose value may be empty, are PDUs alone. */
static void mal_A02_opcode_alone(void **state) {
    (void)state;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        uint8_t byte = (uint8_t)opcode;
        block b = block_copy(&byte, 1);
        tendon_att_pdu p;
        int i = index_of(byte);
        tendon_status expected = i < 0                   ? TENDON_ERROR_UNSUPPORTED
                                 : good[i].shortest == 1 ? TENDON_OK
                                                         : TENDON_ERROR_TRUNCATED;
        assert_int_equal(tendon_att_decode(b.data, 1, &p, NULL), expected);
        assert_int_equal(p.opcode, opcode);
        free(b.data);
    }
}

static void mal_A03_error_response_lengths(void **state) {
    (void)state;
    rejected("01", TENDON_ERROR_TRUNCATED, 1);
    rejected("01 08", TENDON_ERROR_TRUNCATED, 2);
    rejected("01 08 01", TENDON_ERROR_TRUNCATED, 2);
    rejected("01 08 0100", TENDON_ERROR_TRUNCATED, 4);
    rejected("01 08 0100 0a 00", TENDON_ERROR_MALFORMED, 5);
    rejected("01 08 0100 0a 000000000000", TENDON_ERROR_MALFORMED, 5);
}

/* A04, codec part: the request it names is kept, known or not. A05: so is every code. */
static void mal_A04_A05_error_response_keeps_what_it_says(void **state) {
    (void)state;
    for (unsigned value = 0; value < 256; value++) {
        uint8_t bytes[] = {0x01, (uint8_t)value, 0x34, 0x12, (uint8_t)(255 - value)};
        block b = block_copy(bytes, sizeof(bytes));
        tendon_att_pdu p;
        assert_int_equal(tendon_att_decode(b.data, b.length, &p, NULL), TENDON_OK);
        assert_true(p.request_opcode == value && p.error == 255 - value && p.handle == 0x1234);
        free(b.data);
    }
}

static void mal_A14_exchange_mtu(void **state) {
    (void)state;
    rejected("03 17", TENDON_ERROR_TRUNCATED, 1);
    rejected("03 1700 00", TENDON_ERROR_MALFORMED, 3);
    rejected("02 1700 00", TENDON_ERROR_MALFORMED, 3);
    static const uint16_t values[] = {0, 1, 22, 23, 65535};
    for (size_t i = 0; i < 5; i++) {
        uint8_t bytes[] = {0x03, (uint8_t)values[i], (uint8_t)(values[i] >> 8)};
        tendon_att_pdu p;
        assert_int_equal(tendon_att_decode(bytes, 3, &p, NULL), TENDON_OK);
        assert_int_equal(p.mtu, values[i]);
    }
}

static void mal_A16_short_signed_write(void **state) {
    (void)state;
    for (size_t length = 1; length < 15; length++) {
        uint8_t bytes[15] = {0xD2, 3, 0};
        block b = block_copy(bytes, length);
        tendon_att_pdu p;
        assert_int_equal(tendon_att_decode(b.data, length, &p, NULL), TENDON_ERROR_TRUNCATED);
        assert_null(p.signature);
        free(b.data);
    }
}

static void mal_B01_B03_find_information(void **state) {
    (void)state;
    rejected("05", TENDON_ERROR_TRUNCATED, 1);              /* B01 */
    rejected("05 00 0300 0229", TENDON_ERROR_MALFORMED, 1); /* B02 */
    rejected("05 03 0300 0229", TENDON_ERROR_MALFORMED, 1);
    rejected("05 ff 0300 0229", TENDON_ERROR_MALFORMED, 1);
    rejected("05 01", TENDON_ERROR_TRUNCATED, 2);
    rejected("05 02", TENDON_ERROR_TRUNCATED, 2);
    rejected("05 02 0300 000102030405060708090a0b0c0d0e", TENDON_ERROR_TRUNCATED, 2);
    rejected("05 01 0300 02", TENDON_ERROR_TRUNCATED, 2); /* B03 */
    rejected("05 01 0300 0229 04", TENDON_ERROR_MALFORMED, 6);
    rejected("05 01 0300 0229 0400 01", TENDON_ERROR_MALFORMED, 6);
    rejected("05 02 0300 000102030405060708090a0b0c0d0e0f 0400", TENDON_ERROR_MALFORMED, 20);
}

static void mal_B06_B07_read_by_type(void **state) {
    (void)state;
    rejected("09", TENDON_ERROR_TRUNCATED, 1);
    rejected("09 07", TENDON_ERROR_TRUNCATED, 2);
    rejected("09 00 0200", TENDON_ERROR_MALFORMED, 1); /* B06 */
    rejected("09 01 0200", TENDON_ERROR_MALFORMED, 1);
    rejected("09 07 0200 10 0300 00", TENDON_ERROR_TRUNCATED, 2); /* B07 */
    rejected("09 ff 0200 10 0300 002a", TENDON_ERROR_TRUNCATED, 2);
    rejected("09 07 0200 10 0300 002a 04", TENDON_ERROR_MALFORMED, 9);
    rejected("09 07 0200 10 0300 002a 0400 10 0500 01", TENDON_ERROR_MALFORMED, 9);
}

/* B12: item lengths 0 to 3 cannot hold two handles; which of the others a service can have is the client's to say. */
static void mal_B12_read_by_group_type(void **state) {
    (void)state;
    rejected("11", TENDON_ERROR_TRUNCATED, 1);
    rejected("11 06", TENDON_ERROR_TRUNCATED, 2);
    for (unsigned size = 0; size < 256; size++) {
        uint8_t bytes[2 + 255] = {0x11, (uint8_t)size};
        block b = block_copy(bytes, 2 + size);
        tendon_att_pdu p;
        tendon_status expected = size == 0 || size >= 4 ? TENDON_OK : TENDON_ERROR_MALFORMED;
        assert_int_equal(tendon_att_decode(b.data, b.length, &p, NULL), size == 0 ? TENDON_ERROR_MALFORMED : expected);
        free(b.data);
    }
    rejected("11 06 0100 0500 00", TENDON_ERROR_TRUNCATED, 2);
    rejected("11 06 0100 0500 0018 06", TENDON_ERROR_MALFORMED, 8);
}

static void mal_B14_find_by_type_value(void **state) {
    (void)state;
    rejected("07", TENDON_ERROR_TRUNCATED, 1);
    rejected("07 0100 05", TENDON_ERROR_TRUNCATED, 1);
    rejected("07 0100 0500 06", TENDON_ERROR_MALFORMED, 5);
    rejected("07 0100 0500 0600 09", TENDON_ERROR_MALFORMED, 5);
}

static void mal_lists_of_handles(void **state) {
    (void)state;
    rejected("0e", TENDON_ERROR_TRUNCATED, 1);
    rejected("0e 0300", TENDON_ERROR_TRUNCATED, 3);
    rejected("0e 0300 05", TENDON_ERROR_TRUNCATED, 3);
    rejected("20 0300 0500 07", TENDON_ERROR_TRUNCATED, 5);
}

static void mal_C10_trailing_bytes(void **state) {
    (void)state;
    rejected("13 00", TENDON_ERROR_MALFORMED, 1);
    rejected("19 00", TENDON_ERROR_MALFORMED, 1);
    rejected("1e 00", TENDON_ERROR_MALFORMED, 1);
    rejected("18 01 00", TENDON_ERROR_MALFORMED, 2);
    rejected("0a 0300 00", TENDON_ERROR_MALFORMED, 3);
    rejected("0c 0300 0000 00", TENDON_ERROR_MALFORMED, 5);
    rejected("04 0100 ffff 00", TENDON_ERROR_MALFORMED, 5);
    rejected("08 0100 ffff 0328 00", TENDON_ERROR_TRUNCATED, 5);
    rejected("08 0100 ffff 000102030405060708090a0b0c0d0e0f 00", TENDON_ERROR_MALFORMED, 21);
}

static void mal_D01_notification_without_handle(void **state) {
    (void)state;
    rejected("1b", TENDON_ERROR_TRUNCATED, 1);
    rejected("1b 03", TENDON_ERROR_TRUNCATED, 1);
    rejected("1d", TENDON_ERROR_TRUNCATED, 1);
    rejected("1d 03", TENDON_ERROR_TRUNCATED, 1);
}

static void mal_D03_empty_value_is_valid(void **state) {
    (void)state;
    tendon_att_pdu p;
    block b;
    assert_int_equal(decode_hex("1b 0300", &p, NULL, &b), TENDON_OK);
    assert_true(p.handle == 3 && p.length == 0 && p.data != NULL);
    free(b.data);
}

static void mal_D06_multiple_handle_values(void **state) {
    (void)state;
    rejected("23", TENDON_ERROR_TRUNCATED, 1); /* 0 items */
    rejected("23 0300 0200 aa", TENDON_ERROR_TRUNCATED, 5);
    rejected("23 0300 ffff aa", TENDON_ERROR_TRUNCATED, 5);
    rejected("23 0300 0100 aa 0500 01", TENDON_ERROR_TRUNCATED, 8); /* 3 trailing bytes */
    rejected("23 0300 0100 aa 05", TENDON_ERROR_TRUNCATED, 6);
}

/* All PDUs of up to 3 bytes with every first byte; longer ones at random: what decodes encodes to itself. */
static void decode_encode_inverse_on_random_input(void **state) {
    (void)state;
    dice d = {11};
    unsigned decoded = 0;
    for (int round = 0; round < 200000; round++) {
        block b = block_random(&d, (size_t)(roll(&d) % 40));
        if (b.length > 1 && round % 2 == 0) {
            block known = block_hex(good[(size_t)round / 2 % GOOD_COUNT].hex);
            b.data[0] = known.data[0];
            b.data[1] = (uint8_t)(round % 4 == 0 ? known.length > 1 ? known.data[1] : 0 : b.data[1]);
            free(known.data);
        }
        tendon_att_pdu p;
        uint8_t out[64];
        size_t offset = 0;
        if (tendon_att_decode(b.data, b.length, &p, &offset) == TENDON_OK) {
            decoded++;
            assert_int_equal(tendon_att_encode(&p, out, sizeof(out)), b.length);
            assert_memory_equal(out, b.data, b.length);
        } else {
            assert_true(offset <= b.length);
        }
        free(b.data);
    }
    assert_true(decoded > 20000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opcodes_all),
        cmocka_unit_test(good_pdus_there_and_back),
        cmocka_unit_test(good_pdus_cut_at_each_byte),
        cmocka_unit_test(members_are_what_stands_in_the_pdu),
        cmocka_unit_test(type_keeps_its_length),
        cmocka_unit_test(encode_rejects),
        cmocka_unit_test(mal_A01_empty),
        cmocka_unit_test(mal_A02_opcode_alone),
        cmocka_unit_test(mal_A03_error_response_lengths),
        cmocka_unit_test(mal_A04_A05_error_response_keeps_what_it_says),
        cmocka_unit_test(mal_A14_exchange_mtu),
        cmocka_unit_test(mal_A16_short_signed_write),
        cmocka_unit_test(mal_B01_B03_find_information),
        cmocka_unit_test(mal_B06_B07_read_by_type),
        cmocka_unit_test(mal_B12_read_by_group_type),
        cmocka_unit_test(mal_B14_find_by_type_value),
        cmocka_unit_test(mal_lists_of_handles),
        cmocka_unit_test(mal_C10_trailing_bytes),
        cmocka_unit_test(mal_D01_notification_without_handle),
        cmocka_unit_test(mal_D03_empty_value_is_valid),
        cmocka_unit_test(mal_D06_multiple_handle_values),
        cmocka_unit_test(decode_encode_inverse_on_random_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
