/* SPDX-License-Identifier: MIT */
#include "tendon/base.h"
#include "test_bytes.h"

#define LONG "0000fdd2-0000-1000-8000-00805f9b34fb"
#define CUSTOM "65a72c8f-b4c2-4f3e-9a1b-0123456789ab"

static void uuid_forms_are_one(void **state) {
    (void)state;
    static const char *const texts[] = {"fdd2",     "FDD2",       "0xFDD2", "0XfDd2",
                                        "0000fdd2", "0x0000FDD2", LONG,     "0000FDD2-0000-1000-8000-00805F9B34FB"};
    tendon_uuid expected = tendon_uuid_from_u16(0xFDD2);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        tendon_uuid uuid;
        block text = block_copy(texts[i], strlen(texts[i]));
        assert_int_equal(tendon_uuid_parse((const char *)text.data, text.length, &uuid, NULL), TENDON_OK);
        assert_true(tendon_uuid_equal(&uuid, &expected));
        free(text.data);
    }
    char out[TENDON_UUID_STRING_SIZE];
    assert_string_equal(tendon_uuid_format(&expected, out), LONG);
}

static void uuid_wire_forms(void **state) {
    (void)state;
    tendon_uuid uuid;
    uint8_t wire[16];
    uint16_t short_value;
    uint32_t value;
    assert_int_equal(tendon_uuid_from_wire((const uint8_t *)"\xd2\xfd", 2, &uuid), TENDON_OK);
    assert_true(tendon_uuid_as_u16(&uuid, &short_value) && short_value == 0xFDD2);
    assert_int_equal(tendon_uuid_to_wire(&uuid, wire), 2);
    assert_hex(wire, 2, "d2 fd");
    assert_int_equal(tendon_uuid_from_wire((const uint8_t *)"\x04\x03\x02\x81", 4, &uuid), TENDON_OK);
    assert_false(tendon_uuid_as_u16(&uuid, &short_value));
    assert_true(tendon_uuid_as_u32(&uuid, &value) && value == 0x81020304u);
    assert_int_equal(tendon_uuid_to_wire(&uuid, wire), 16);
    assert_hex(wire, 16, "fb349b5f 8000 0080 0010 0000 04030281");
    assert_int_equal(tendon_uuid_from_wire(wire, 16, &uuid), TENDON_OK);
    assert_true(tendon_uuid_as_u32(&uuid, &value) && value == 0x81020304u);
    for (size_t length = 0; length <= 17; length++) {
        bool good = length == 2 || length == 4 || length == 16;
        block b = block_copy("0123456789abcdefg", length);
        assert_int_equal(tendon_uuid_from_wire(b.data, length, &uuid),
                         good ? TENDON_OK : TENDON_ERROR_INVALID_ARGUMENT);
        free(b.data);
    }
    tendon_uuid custom;
    assert_int_equal(tendon_uuid_parse(CUSTOM, 36, &custom, NULL), TENDON_OK);
    assert_false(tendon_uuid_as_u32(&custom, &value));
    char out[TENDON_UUID_STRING_SIZE];
    assert_string_equal(tendon_uuid_format(&custom, out), CUSTOM);
}

/* Every 16-bit value, and 32-bit values by the generator, there and back. */
static void uuid_inverse(void **state) {
    (void)state;
    for (uint32_t v = 0; v <= 0xFFFF; v++) {
        tendon_uuid uuid = tendon_uuid_from_u16((uint16_t)v);
        uint16_t back;
        assert_true(tendon_uuid_as_u16(&uuid, &back) && back == v);
    }
    dice d = {1};
    for (int i = 0; i < 1000; i++) {
        char text[TENDON_UUID_STRING_SIZE];
        block b = block_random(&d, 16);
        tendon_uuid uuid, back;
        assert_int_equal(tendon_uuid_from_wire(b.data, 16, &uuid), TENDON_OK);
        assert_int_equal(tendon_uuid_parse(tendon_uuid_format(&uuid, text), 36, &back, NULL), TENDON_OK);
        assert_true(tendon_uuid_equal(&uuid, &back));
        free(b.data);
    }
}

static void uuid_parse_rejects(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
    } cases[] = {
        {"", 0},
        {"0x", 2},
        {"fdd", 3},
        {"fdd2a", 5},
        {"0xfdd2abcd1", 10},
        {"fdd2abcd9", 8},
        {"xdd2", 0},
        {"fd-2", 2},
        {"fddg", 3},
        {" fdd2", 0},
        {"0000fdd2x0000-1000-8000-00805f9b34fb", 8},
        {"0000fdd2-0000-1000-8000-00805f9b34fg", 35},
        {"0000fdd2-0000-1000-8000000805f9b34fb", 23},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t offset = 99;
        tendon_uuid uuid = tendon_uuid_from_u16(0x1234), before = uuid;
        block text = block_copy(cases[i].text, strlen(cases[i].text));
        assert_int_equal(tendon_uuid_parse((const char *)text.data, text.length, &uuid, &offset),
                         TENDON_ERROR_MALFORMED);
        assert_int_equal(offset, cases[i].offset);
        assert_true(tendon_uuid_equal(&uuid, &before));
        free(text.data);
    }
    /* every cut of a good one: only 4 and 8 digits are UUIDs too */
    for (size_t length = 0; length < 36; length++) {
        tendon_uuid uuid;
        block text = block_copy(LONG, length);
        assert_int_equal(tendon_uuid_parse((const char *)text.data, length, &uuid, NULL),
                         length == 4 || length == 8 ? TENDON_OK : TENDON_ERROR_MALFORMED);
        free(text.data);
    }
}

static void address_forms(void **state) {
    (void)state;
    tendon_address a, b;
    char out[TENDON_ADDRESS_STRING_SIZE];
    uint8_t wire[6];
    assert_int_equal(tendon_address_parse("C0:ff:EE:01:02:03", 17, &a, NULL), TENDON_OK);
    assert_int_equal(a.type, TENDON_ADDRESS_TYPE_PUBLIC);
    assert_string_equal(tendon_address_format(&a, out), "C0:FF:EE:01:02:03");
    tendon_address_to_wire(&a, wire);
    assert_hex(wire, 6, "03 02 01 ee ff c0");
    b = tendon_address_from_wire(wire, TENDON_ADDRESS_TYPE_PUBLIC);
    assert_true(tendon_address_equal(&a, &b));
    b.type = TENDON_ADDRESS_TYPE_RANDOM;
    assert_false(tendon_address_equal(&a, &b));
    assert_int_equal(tendon_address_parse("C0:FF:EE:01:02:03/Random", 24, &a, NULL), TENDON_OK);
    assert_true(tendon_address_equal(&a, &b));
    assert_int_equal(tendon_address_parse("C0:FF:EE:01:02:03/public", 24, &a, NULL), TENDON_OK);
    assert_int_equal(a.type, TENDON_ADDRESS_TYPE_PUBLIC);
}

static void address_parse_rejects(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
    } cases[] = {
        {"", 0},
        {"C0-FF:EE:01:02:03", 2},
        {"C0:FF:EE:01:02:0", 16},
        {"C0:FF:EE:01:02:0G", 16},
        {"C0:FF:EE:01:02:03 ", 17},
        {"C0:FF:EE:01:02:03/", 17},
        {"C0:FF:EE:01:02:03/rand", 17},
        {"C0:FF:EE:01:02:03/randoms", 17},
        {"C0:FF:EE:01:02:03/publix", 17},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t offset = 99;
        tendon_address a = {{9, 9, 9, 9, 9, 9}, 7}, before = a;
        block text = block_copy(cases[i].text, strlen(cases[i].text));
        assert_int_equal(tendon_address_parse((const char *)text.data, text.length, &a, &offset),
                         TENDON_ERROR_MALFORMED);
        assert_int_equal(offset, cases[i].offset);
        assert_true(tendon_address_equal(&a, &before));
        free(text.data);
    }
}

static void address_kinds_by_top_bits(void **state) {
    (void)state;
    for (unsigned top = 0; top < 256; top++) {
        tendon_address a = {{(uint8_t)top}, TENDON_ADDRESS_TYPE_RANDOM};
        assert_int_equal(tendon_address_is_resolvable(&a), top >= 0x40 && top < 0x80);
        a.type = TENDON_ADDRESS_TYPE_PUBLIC;
        assert_false(tendon_address_is_resolvable(&a));
    }
}

/* G09: all-zero and all-ones addresses are values like others, of any kind. */
static void mal_G09_extreme_addresses(void **state) {
    (void)state;
    char out[TENDON_ADDRESS_STRING_SIZE];
    for (unsigned kind = 0; kind < 256; kind++) {
        tendon_address zero = tendon_address_from_wire((const uint8_t *)"\0\0\0\0\0", (uint8_t)kind);
        tendon_address ones = tendon_address_from_wire((const uint8_t *)"\xff\xff\xff\xff\xff\xff", (uint8_t)kind);
        assert_int_equal(zero.type, kind);
        assert_false(tendon_address_equal(&zero, &ones));
        assert_string_equal(tendon_address_format(&ones, out), "FF:FF:FF:FF:FF:FF");
        assert_false(tendon_address_is_resolvable(&zero) || tendon_address_is_resolvable(&ones));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uuid_forms_are_one),
        cmocka_unit_test(uuid_wire_forms),
        cmocka_unit_test(uuid_inverse),
        cmocka_unit_test(uuid_parse_rejects),
        cmocka_unit_test(address_forms),
        cmocka_unit_test(address_parse_rejects),
        cmocka_unit_test(address_kinds_by_top_bits),
        cmocka_unit_test(mal_G09_extreme_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
