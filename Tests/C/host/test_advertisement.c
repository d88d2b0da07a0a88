/* SPDX-License-Identifier: MIT */
/* Advertising data: structures, values, text, builder. Hostile inputs of group G. */
#include "tendon/host/advertisement.h"
#include "test_bytes.h"

/* Flags, one 16-bit UUID, a name, manufacturer data */
#define DEVICE "02 01 06 03 03 d2fd 06 09 426f736521 05 ff 9e00 0109"

static size_t count_structures(const uint8_t *data, size_t length, tendon_status *status) {
    tendon_ad_iterator iterator = tendon_ad_begin(data, length);
    tendon_ad_structure structure;
    size_t count = 0;
    while (tendon_ad_next(&iterator, &structure)) {
        count++;
    }
    *status = iterator.reader.status;
    assert_false(tendon_ad_next(&iterator, &structure));
    return count;
}

static tendon_status decode_one(const char *hex, tendon_ad_value *out, block *keep) {
    tendon_ad_structure structure;
    *keep = block_hex(hex);
    tendon_ad_iterator iterator = tendon_ad_begin(keep->data, keep->length);
    assert_true(tendon_ad_next(&iterator, &structure));
    return tendon_ad_decode(&structure, out);
}

static void walk_and_look_up(void **state) {
    (void)state;
    block b = block_hex(DEVICE);
    tendon_status status;
    tendon_ad_structure s;
    const uint8_t *value;
    size_t length;
    int32_t number;
    char name[32];
    tendon_uuid bose = tendon_uuid_from_u16(0xFDD2), other = tendon_uuid_from_u16(0xFEBE);
    assert_int_equal(count_structures(b.data, b.length, &status), 4);
    assert_int_equal(status, TENDON_OK);
    assert_true(tendon_ad_find(b.data, b.length, TENDON_AD_NAME_COMPLETE, &s) && s.length == 5);
    assert_false(tendon_ad_find(b.data, b.length, TENDON_AD_URI, &s));
    assert_true(tendon_ad_has_uuid(b.data, b.length, &bose));
    assert_false(tendon_ad_has_uuid(b.data, b.length, &other));
    assert_int_equal(tendon_ad_name(b.data, b.length, name, sizeof(name)), 5);
    assert_string_equal(name, "Bose!");
    assert_true(tendon_ad_manufacturer_data(b.data, b.length, 0x009E, &value, &length));
    assert_hex(value, length, "0109");
    assert_false(tendon_ad_manufacturer_data(b.data, b.length, 0x004C, &value, &length));
    assert_true(tendon_ad_number(b.data, b.length, TENDON_AD_FLAGS, &number) && number == 6);
    assert_false(tendon_ad_number(b.data, b.length, TENDON_AD_TX_POWER, &number));
    assert_false(tendon_ad_number(b.data, b.length, TENDON_AD_NAME_COMPLETE, &number));
    static const uint8_t second[] = {1, TENDON_AD_TX_POWER, 2, TENDON_AD_TX_POWER, 5}; /* the first has no value */
    assert_true(tendon_ad_number(second, sizeof second, TENDON_AD_TX_POWER, &number) && number == 5);
    assert_int_equal(tendon_ad_name((const uint8_t *)"", 0, name, sizeof(name)), TENDON_ERROR_NOT_FOUND);
    free(b.data);
}

/* Each cut: the structures that are whole, then the reason and the place of the one that is not. */
static void walk_cut_at_each_byte(void **state) {
    (void)state;
    static const size_t ends[] = {0, 3, 7, 14, 20};
    block whole = block_hex(DEVICE);
    for (size_t length = 0; length <= whole.length; length++) {
        block b = block_copy(whole.data, length);
        tendon_status status;
        size_t complete = 0;
        while (complete < 4 && ends[complete + 1] <= length) {
            complete++;
        }
        assert_int_equal(count_structures(b.data, b.length, &status), complete);
        assert_int_equal(status, ends[complete] == length ? TENDON_OK : TENDON_ERROR_TRUNCATED);
        free(b.data);
    }
    free(whole.data);
}

static void values_of_each_kind(void **state) {
    (void)state;
    tendon_ad_value v;
    block b;
    tendon_uuid uuid, expected;
    uint32_t number;
    assert_int_equal(decode_one("02 0a f4", &v, &b), TENDON_OK);
    assert_true(v.kind == TENDON_AD_KIND_NUMBER && v.number == -12);
    free(b.data);
    assert_int_equal(decode_one("03 19 c103", &v, &b), TENDON_OK);
    assert_int_equal(v.number, 0x03C1);
    free(b.data);
    assert_int_equal(decode_one("04 0d 0c025a", &v, &b), TENDON_OK);
    assert_int_equal(v.number, 0x5A020C);
    free(b.data);
    /* CSS Part A 1.6: Class of Device has three bytes, no more and no less. */
    assert_int_equal(decode_one("05 0d 0c025a00", &v, &b), TENDON_ERROR_MALFORMED);
    free(b.data);
    assert_int_equal(decode_one("03 0d 0c02", &v, &b), TENDON_ERROR_TRUNCATED);
    free(b.data);
    assert_int_equal(decode_one("05 12 0600 ffff", &v, &b), TENDON_OK);
    assert_true(v.kind == TENDON_AD_KIND_RANGE && v.minimum == 6 && v.maximum == 0xFFFF);
    free(b.data);
    assert_int_equal(decode_one("05 05 04030281", &v, &b), TENDON_OK);
    assert_true(tendon_ad_uuid_at(&v, 0, &uuid) && tendon_uuid_as_u32(&uuid, &number) && number == 0x81020304u);
    assert_false(tendon_ad_uuid_at(&v, 1, &uuid));
    free(b.data);
    assert_int_equal(decode_one("0d 17 010203040506 111213141516", &v, &b), TENDON_OK);
    assert_true(v.kind == TENDON_AD_KIND_ADDRESSES && v.address.type == TENDON_ADDRESS_TYPE_PUBLIC);
    assert_hex(v.address.bytes, 6, "060504030201");
    assert_int_equal(v.length, 12);
    free(b.data);
    assert_int_equal(decode_one("08 1b 010203040506 01", &v, &b), TENDON_OK);
    assert_true(v.address.type == TENDON_ADDRESS_TYPE_RANDOM && v.length == 6);
    free(b.data);
    assert_int_equal(decode_one("05 16 d2fd 0102", &v, &b), TENDON_OK);
    expected = tendon_uuid_from_u16(0xFDD2);
    assert_true(v.kind == TENDON_AD_KIND_SERVICE_DATA && tendon_uuid_equal(&v.uuid, &expected));
    assert_hex(v.data, v.length, "0102");
    free(b.data);
    assert_int_equal(decode_one("06 20 04030281 aa", &v, &b), TENDON_OK);
    assert_hex(v.data, v.length, "aa");
    free(b.data);
    assert_int_equal(decode_one("03 7e 0102", &v, &b), TENDON_OK); /* unknown types are kept */
    assert_true(v.kind == TENDON_AD_KIND_BYTES && v.type == 0x7E && v.length == 2);
    free(b.data);
    assert_false(tendon_ad_uuid_at(&v, 0, &uuid));
}

static void service_data_in_three_forms(void **state) {
    (void)state;
    static const char *const forms[] = {"04 16 d2fd 77", "06 20 d2fd0000 77",
                                        "12 21 fb349b5f8000008000100000 d2fd0000 77"};
    tendon_uuid bose = tendon_uuid_from_u16(0xFDD2), other = tendon_uuid_from_u16(0xFDD3);
    for (size_t i = 0; i < 3; i++) {
        block b = block_hex(forms[i]);
        const uint8_t *value;
        size_t length;
        assert_true(tendon_ad_service_data(b.data, b.length, &bose, &value, &length));
        assert_hex(value, length, "77");
        assert_false(tendon_ad_service_data(b.data, b.length, &other, &value, &length));
        free(b.data);
    }
}

/* Only service data has it: flags, a name, a list of UUIDs and a manufacturer's data are no data of the UUID 0. */
static void other_structures_are_no_service_data(void **state) {
    (void)state;
    static const tendon_uuid none = {{0}};
    block b = block_hex("020106 0409415342 0303befd 0302befd 05ff9e000102");
    const uint8_t *value;
    size_t length;
    assert_false(tendon_ad_service_data(b.data, b.length, &none, &value, &length));
    free(b.data);
}

static void mal_G01_length_zero(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        size_t count;
    } cases[] = {{"00", 0}, {"02 01 06 00 03 03 d2fd", 1}, {"02 01 06 00 ff", 1}, {"00 00 00 00", 0}};
    for (size_t i = 0; i < 4; i++) {
        block b = block_hex(cases[i].hex);
        tendon_status status;
        assert_int_equal(count_structures(b.data, b.length, &status), cases[i].count);
        assert_int_equal(status, TENDON_OK);
        free(b.data);
    }
}

static void mal_G02_length_beyond_the_buffer(void **state) {
    (void)state;
    static const char *const cases[] = {"02 01 06 03 03 d2", "02 01 06 ff 09 41", "02 01 06 01", "02 01 06 ff"};
    for (size_t i = 0; i < 4; i++) {
        block b = block_hex(cases[i]);
        tendon_ad_iterator iterator = tendon_ad_begin(b.data, b.length);
        tendon_ad_structure s;
        assert_true(tendon_ad_next(&iterator, &s) && s.type == 1);
        assert_false(tendon_ad_next(&iterator, &s));
        assert_int_equal(iterator.reader.status, TENDON_ERROR_TRUNCATED);
        assert_int_equal(iterator.reader.error_offset, 3);
        free(b.data);
    }
}

/* G03, G04: every type with every length from 0 to 254: a value within the bytes, or a reason. */
static void mal_G03_G04_every_type_and_length(void **state) {
    (void)state;
    for (unsigned type = 0; type < 256; type++) {
        for (unsigned length = 0; length <= 254; length++) {
            block b = {malloc(length > 0 ? length : 1), length};
            memset(b.data, 0xA5, length > 0 ? length : 1);
            tendon_ad_structure s = {(uint8_t)type, b.data, length};
            tendon_ad_value v;
            tendon_uuid uuid;
            tendon_status status = tendon_ad_decode(&s, &v);
            bool list2 = type == 2 || type == 3 || type == 0x14, list4 = type == 4 || type == 5 || type == 0x1F;
            bool list16 = type == 6 || type == 7 || type == 0x15;
            unsigned size = list2 ? 2 : list4 ? 4 : list16 ? 16 : 0;
            assert_true(v.data >= b.data && v.data + v.length <= b.data + length);
            if (size != 0) {
                tendon_status expected = length % size == 0 ? TENDON_OK
                                         : length < size    ? TENDON_ERROR_TRUNCATED
                                                            : TENDON_ERROR_MALFORMED;
                assert_int_equal(status, expected);
                if (status == TENDON_OK) {
                    assert_int_equal(tendon_ad_uuid_at(&v, length / size, &uuid), false);
                    assert_int_equal(length > 0 && tendon_ad_uuid_at(&v, length / size - 1, &uuid), length > 0);
                }
            }
            if (length == 0 && (type == 1 || type == 0x0A || type == 0x12 || type == 0x16 || type == 0x19 ||
                                type == 0x1B || type == 0x1C || type == 0xFF)) {
                assert_int_equal(status, TENDON_ERROR_TRUNCATED);
            }
            free(b.data);
        }
    }
}

/* G04: whole entries of a list that ends in a part of one are found, the part is not. */
static void mal_G04_cut_last_uuid(void **state) {
    (void)state;
    block b = block_hex("04 03 d2fd be");
    tendon_uuid bose = tendon_uuid_from_u16(0xFDD2), part = tendon_uuid_from_u16(0x00BE);
    assert_true(tendon_ad_has_uuid(b.data, b.length, &bose));
    assert_false(tendon_ad_has_uuid(b.data, b.length, &part));
    free(b.data);
}

/* Entries of all widths and of both kinds of list, in their order. */
static void service_uuids_by_index(void **state) {
    (void)state;
    block b = block_hex("02 01 06 05 03 d2fd 0f18 03 02 0a18 05 05 78563412 04 09 414243 04 02 0118 be "
                        "11 07 00112233445566778899aabbccddeeff 05 16 d2fd 0102");
    static const uint32_t expected[] = {0xFDD2, 0x180F, 0x180A, 0x12345678, 0x1801};
    tendon_uuid uuid;
    uint32_t number = 0;
    for (size_t i = 0; i < 5; i++) {
        assert_true(tendon_ad_service_uuid_at(b.data, b.length, i, &uuid));
        assert_true(tendon_uuid_as_u32(&uuid, &number));
        assert_int_equal(number, expected[i]);
    }
    assert_true(tendon_ad_service_uuid_at(b.data, b.length, 5, &uuid));
    assert_false(tendon_uuid_as_u32(&uuid, &number));
    assert_true(tendon_ad_has_uuid(b.data, b.length, &uuid));
    assert_false(tendon_ad_service_uuid_at(b.data, b.length, 6, &uuid));
    assert_false(tendon_ad_service_uuid_at(b.data, b.length, SIZE_MAX, &uuid));
    assert_false(tendon_ad_service_uuid_at(NULL, 0, 0, &uuid));
    free(b.data);
}

static void mal_G05_manufacturer_data(void **state) {
    (void)state;
    const uint8_t *value;
    size_t length;
    static const char *const short_ones[] = {"01 ff", "02 ff 9e"};
    for (size_t i = 0; i < 2; i++) {
        block b = block_hex(short_ones[i]);
        assert_false(tendon_ad_manufacturer_data(b.data, b.length, 0x009E, &value, &length));
        free(b.data);
    }
    uint8_t longest[255] = {254, 0xFF, 0x9E, 0x00};
    block b = block_copy(longest, sizeof(longest));
    assert_true(tendon_ad_manufacturer_data(b.data, b.length, 0x009E, &value, &length));
    assert_int_equal(length, 251);
    free(b.data);
}

static void mal_G06_service_data_shorter_than_its_uuid(void **state) {
    (void)state;
    static const char *const cases[] = {"01 16", "02 16 d2", "04 20 d2fd00", "10 21 000102030405060708090a0b0c0d0e"};
    tendon_uuid bose = tendon_uuid_from_u16(0xFDD2);
    const uint8_t *value;
    size_t length;
    for (size_t i = 0; i < 4; i++) {
        block b = block_hex(cases[i]);
        tendon_ad_value v;
        block keep;
        assert_false(tendon_ad_service_data(b.data, b.length, &bose, &value, &length));
        assert_int_equal(decode_one(cases[i], &v, &keep), TENDON_ERROR_TRUNCATED);
        free(keep.data);
        free(b.data);
    }
}

static void text_is(const char *hex, size_t capacity, const char *expected) {
    char *out = malloc(capacity > 0 ? capacity : 1);
    block b = block_hex(hex);
    size_t length = tendon_ad_text(b.data, b.length, out, capacity);
    if (capacity > 0) {
        assert_int_equal(length, strlen(expected));
        assert_string_equal(out, expected);
    } else {
        assert_int_equal(length, 0);
    }
    free(b.data);
    free(out);
}

#define BAD "\xEF\xBF\xBD"

static void mal_G07_hostile_names(void **state) {
    (void)state;
    text_is("426f7365", 64, "Bose");
    text_is("c3bc e282ac f09f8ea7", 64, "\xC3\xBC\xE2\x82\xAC\xF0\x9F\x8E\xA7");
    text_is("41 00 42", 64, "A");           /* NUL ends it */
    text_is("1b5b324a 41", 64, BAD "[2JA"); /* terminal escape */
    text_is("410d0a42 07 7f", 64, "A" BAD BAD "B" BAD BAD);
    text_is("c280 c29b", 64, BAD BAD);            /* C1 controls */
    text_is("e280ae 41 e281a6", 64, BAD "A" BAD); /* text direction */
    text_is("e280a8 efbbbf", 64, BAD BAD);
    text_is("80 41 ff fe", 64, BAD "A" BAD BAD);                              /* stray bytes */
    text_is("c0af e08080 f0808080", 64, BAD BAD BAD BAD BAD BAD BAD BAD BAD); /* overlong */
    text_is("eda080", 64, BAD BAD BAD);                                       /* surrogate */
    text_is("f4908080 f5", 64, BAD BAD BAD BAD BAD);                          /* above U+10FFFF */
    text_is("e282", 64, BAD BAD);                                             /* cut character */
    text_is("f09f8e 41", 64, BAD BAD BAD "A");
    for (size_t capacity = 0; capacity <= 4; capacity++) {
        text_is("e282ac 41", capacity, capacity < 4 ? "" : "\xE2\x82\xAC");
        text_is("1b", capacity, capacity < 4 ? "" : BAD);
    }
    uint8_t longest[250] = {249, 0x09};
    char name[300];
    memset(longest + 2, 0x1B, 248);
    assert_int_equal(tendon_ad_name(longest, sizeof(longest), name, sizeof(name)), 297);
    for (size_t i = 0; i < 297; i++) {
        assert_true((uint8_t)name[i] >= 0x20);
    }
}

/* All first bytes with all second bytes: the result is printable and never longer than three bytes for one. */
/* Both ends of each range of code points that move the cursor, end a line or reorder text, and their neighbors. */
static void unsafe_code_points_are_replaced(void **state) {
    (void)state;
    static const struct {
        uint32_t first, last;
    } unsafe[] = {{0x01, 0x1F},     {0x7F, 0x9F},     {0x061C, 0x061C}, {0x200E, 0x200F},
                  {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFEFF, 0xFEFF}, {0xD800, 0xDFFF}};
    for (uint32_t code = 1; code < 0x10000; code++) {
        bool replaced = false;
        for (size_t i = 0; i < sizeof unsafe / sizeof unsafe[0]; i++) {
            replaced = replaced || (code >= unsafe[i].first && code <= unsafe[i].last);
        }
        uint8_t in[3];
        size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
        char out[16];
        in[0] = (uint8_t)(length == 1 ? code : length == 2 ? 0xC0 | code >> 6 : 0xE0 | code >> 12);
        in[length - 1] = (uint8_t)(length == 1 ? code : 0x80 | (code & 0x3F));
        if (length == 3) {
            in[1] = (uint8_t)(0x80 | (code >> 6 & 0x3F));
        }
        size_t written = tendon_ad_text(in, length, out, sizeof out);
        bool same = written == length && memcmp(out, in, length) == 0;
        if (same == replaced || (replaced && memcmp(out, "\xEF\xBF\xBD", 3) != 0)) {
            fail_msg("code point %04X", code);
        }
    }
}

static void mal_G07_text_exhaustive_pairs(void **state) {
    (void)state;
    for (unsigned first = 0; first < 256; first++) {
        for (unsigned second = 0; second < 256; second++) {
            uint8_t in[2] = {(uint8_t)first, (uint8_t)second};
            char out[16], again[16];
            size_t length = tendon_ad_text(in, 2, out, sizeof(out));
            assert_true(length <= 6);
            for (size_t i = 0; i < length; i++) {
                assert_true((uint8_t)out[i] >= 0x20 && (uint8_t)out[i] != 0x7F);
            }
            assert_int_equal(tendon_ad_text((const uint8_t *)out, length, again, sizeof(again)), length);
            assert_memory_equal(again, out, length); /* safe text stays as it is */
        }
    }
}

static void mal_G08_many_structures(void **state) {
    (void)state;
    uint8_t data[TENDON_AD_EXTENDED_MAX];
    tendon_writer w = tendon_writer_make(data, sizeof(data));
    tendon_status status;
    for (unsigned i = 0; i < 50; i++) {
        tendon_ad_put(&w, TENDON_AD_NAME_COMPLETE, &(char){(char)('a' + i % 26)}, 1);
    }
    assert_int_equal(count_structures(data, w.length, &status), 50);
    char name[8];
    assert_int_equal(tendon_ad_name(data, w.length, name, sizeof(name)), 1);
    assert_string_equal(name, "a"); /* the first one counts */
    memset(data, 1, sizeof(data));
    assert_int_equal(count_structures(data, sizeof(data), &status), 825);
    assert_int_equal(status, TENDON_OK);
}

static void complete_name_before_shortened(void **state) {
    (void)state;
    char name[16];
    block b = block_hex("03 08 4141 03 09 4242");
    assert_int_equal(tendon_ad_name(b.data, b.length, name, sizeof(name)), 2);
    assert_string_equal(name, "BB");
    free(b.data);
    b = block_hex("03 08 4141");
    assert_int_equal(tendon_ad_name(b.data, b.length, name, sizeof(name)), 2);
    assert_string_equal(name, "AA");
    free(b.data);
    /* An empty one is none, and hides nothing. */
    b = block_hex("01 09 03 08 4141");
    tendon_ad_structure found;
    assert_int_equal(tendon_ad_name(b.data, b.length, name, sizeof(name)), 2);
    assert_string_equal(name, "AA");
    assert_true(tendon_ad_find_name(b.data, b.length, &found));
    assert_int_equal(found.type, TENDON_AD_NAME_SHORTENED);
    assert_hex(found.data, found.length, "4141");
    free(b.data);
    b = block_hex("01 09 01 08");
    assert_int_equal(tendon_ad_name(b.data, b.length, name, sizeof(name)), TENDON_ERROR_NOT_FOUND);
    assert_false(tendon_ad_find_name(b.data, b.length, &found));
    free(b.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walk_and_look_up),
        cmocka_unit_test(walk_cut_at_each_byte),
        cmocka_unit_test(values_of_each_kind),
        cmocka_unit_test(service_data_in_three_forms),
        cmocka_unit_test(other_structures_are_no_service_data),
        cmocka_unit_test(mal_G01_length_zero),
        cmocka_unit_test(mal_G02_length_beyond_the_buffer),
        cmocka_unit_test(mal_G03_G04_every_type_and_length),
        cmocka_unit_test(mal_G04_cut_last_uuid),
        cmocka_unit_test(service_uuids_by_index),
        cmocka_unit_test(mal_G05_manufacturer_data),
        cmocka_unit_test(mal_G06_service_data_shorter_than_its_uuid),
        cmocka_unit_test(mal_G07_hostile_names),
        cmocka_unit_test(unsafe_code_points_are_replaced),
        cmocka_unit_test(mal_G07_text_exhaustive_pairs),
        cmocka_unit_test(mal_G08_many_structures),
        cmocka_unit_test(complete_name_before_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
