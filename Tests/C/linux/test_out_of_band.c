/* SPDX-License-Identifier: MIT */
/* Data of Out of Band pairing: AD structures of the Core Specification Supplement (Part A 1.6.2, 1.16, 1.17), their
 * text, and the file of several devices. */
#include "bonds_fixture.h"
#include "test_bytes.h"

#include <sys/stat.h>

#define ADDRESS "08 1b 05 04 03 02 01 c0 01 "
#define ROLE "02 1c 00 "
#define CONFIRM "11 22 000102030405060708090a0b0c0d0e0f "
#define RANDOM "11 23 f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff "
#define TEMPORARY "11 10 101112131415161718191a1b1c1d1e1f "
#define NONE "11 22 00000000000000000000000000000000 "

/* Linux 6.1 on a controller with the public address 00:AA:01:00:00:00: address, role, the two values, flags. */
#define LINUX_DATA                                                                                                     \
    "081b00000001aa0000021c01112263b7391d9efb1197a7229047e0717d1b112351303c30717f6ac704522d2a95db9a04020100"

static tendon_out_of_band found;
static size_t offset;

static tendon_status decode(const char *hex) {
    block data = block_hex(hex);
    memset(&found, 0xEE, sizeof found);
    offset = 999;
    tendon_status status = tendon_out_of_band_decode(data.data, data.length, &found, &offset);
    free(data.data);
    return status;
}

static void assert_device(uint8_t role) {
    static const tendon_address address = {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM};
    assert_true(tendon_address_equal(&found.address, &address));
    assert_int_equal(found.role, role);
    assert_hex(found.confirm, 16, "000102030405060708090a0b0c0d0e0f");
    assert_hex(found.random, 16, "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
}

static void a_device_is_decoded(void **state) {
    (void)state;
    assert_int_equal(decode(ADDRESS ROLE CONFIRM RANDOM), TENDON_OK);
    assert_device(TENDON_LE_ROLE_PERIPHERAL);
    /* in any order; flags and a name are skipped, and zeros at the end */
    assert_int_equal(decode("02 01 06 " RANDOM "04 09 61 62 63 " CONFIRM TEMPORARY ADDRESS "00 00 00"), TENDON_OK);
    assert_device(TENDON_LE_ROLE_UNKNOWN);
    assert_int_equal(decode(ADDRESS "02 1c 17 " CONFIRM RANDOM), TENDON_OK); /* a role of a later specification */
    assert_device(0x17);
    assert_int_equal(decode("08 1b 05 04 03 02 01 c0 00 " CONFIRM RANDOM), TENDON_OK);
    assert_int_equal(found.address.type, TENDON_ADDRESS_TYPE_PUBLIC);
    assert_int_equal(decode("08 1b 05 04 03 02 01 c0 ff " CONFIRM RANDOM), TENDON_OK); /* bits 1 to 7 are reserved */
    assert_int_equal(found.address.type, TENDON_ADDRESS_TYPE_RANDOM);
}

static void the_data_of_linux_are_decoded(void **state) {
    static const tendon_address address = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x00}, TENDON_ADDRESS_TYPE_PUBLIC};
    (void)state;
    assert_int_equal(decode(LINUX_DATA), TENDON_OK);
    assert_true(tendon_address_equal(&found.address, &address));
    assert_int_equal(found.role, TENDON_LE_ROLE_CENTRAL);
    assert_hex(found.confirm, 16, "63b7391d9efb1197a7229047e0717d1b");
    assert_hex(found.random, 16, "51303c30717f6ac704522d2a95db9a04");
}

static void what_is_wrong_has_a_place(void **state) {
    static const struct {
        const char *hex;
        tendon_status status;
        size_t offset;
    } rows[] = {
        {"", TENDON_ERROR_MALFORMED, 0},
        {"02 01 06", TENDON_ERROR_MALFORMED, 3},
        {ROLE CONFIRM RANDOM, TENDON_ERROR_MALFORMED, 39},  /* no address */
        {ADDRESS ROLE RANDOM, TENDON_ERROR_MALFORMED, 30},  /* no confirmation value */
        {ADDRESS ROLE CONFIRM, TENDON_ERROR_MALFORMED, 30}, /* no random value */
        {ADDRESS CONFIRM TEMPORARY, TENDON_ERROR_MALFORMED, 45},
        {ADDRESS ROLE TEMPORARY, TENDON_ERROR_UNSUPPORTED, 30}, /* LE Legacy Pairing */
        {ADDRESS ADDRESS CONFIRM RANDOM, TENDON_ERROR_MALFORMED, 9},
        {ADDRESS ROLE ROLE CONFIRM RANDOM, TENDON_ERROR_MALFORMED, 12},
        {ADDRESS CONFIRM RANDOM CONFIRM, TENDON_ERROR_MALFORMED, 45},
        {ADDRESS RANDOM CONFIRM RANDOM, TENDON_ERROR_MALFORMED, 45},
        {ADDRESS TEMPORARY TEMPORARY CONFIRM RANDOM, TENDON_ERROR_MALFORMED, 27},
        {ADDRESS NONE RANDOM, TENDON_ERROR_MALFORMED, 9}, /* the kernel takes zeros for none */
        {"07 1b 05 04 03 02 01 c0 " CONFIRM RANDOM, TENDON_ERROR_MALFORMED, 0},
        {"09 1b 05 04 03 02 01 c0 01 00 " CONFIRM RANDOM, TENDON_ERROR_MALFORMED, 0},
        {"01 1c " ADDRESS CONFIRM RANDOM, TENDON_ERROR_MALFORMED, 0},
        {"03 1c 00 00 " ADDRESS CONFIRM RANDOM, TENDON_ERROR_MALFORMED, 0},
        {ADDRESS "10 22 000102030405060708090a0b0c0d0e " RANDOM, TENDON_ERROR_MALFORMED, 9},
        {ADDRESS "12 22 000102030405060708090a0b0c0d0e0f10 " RANDOM, TENDON_ERROR_MALFORMED, 9},
        {ADDRESS CONFIRM RANDOM "00 01", TENDON_ERROR_MALFORMED, 45}, /* behind the end */
        {ADDRESS CONFIRM RANDOM "05 09 61", TENDON_ERROR_TRUNCATED, 45},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(decode(rows[i].hex), rows[i].status);
        assert_int_equal(offset, rows[i].offset);
        assert_int_equal(found.role, 0xEE); /* unchanged */
    }
    uint8_t longer[TENDON_OUT_OF_BAND_LENGTH_MAX + 1] = {0};
    assert_int_equal(tendon_out_of_band_decode(longer, sizeof longer, &found, NULL), TENDON_ERROR_OVERFLOW);
}

static void cut_at_every_position_it_is_no_device(void **state) {
    (void)state;
    block whole = block_hex(ADDRESS ROLE CONFIRM RANDOM);
    for (size_t length = 0; length < whole.length; length++) {
        block part = block_copy(whole.data, length);
        tendon_status status = tendon_out_of_band_decode(part.data, length, &found, &offset);
        bool whole_structures = length == 0 || length == 9 || length == 12 || length == 30;
        assert_int_equal(status, whole_structures ? TENDON_ERROR_MALFORMED : TENDON_ERROR_TRUNCATED);
        assert_true(offset <= length);
        free(part.data);
    }
    free(whole.data);
}

static void what_was_decoded_is_encoded(void **state) {
    uint8_t out[TENDON_OUT_OF_BAND_SIZE];
    (void)state;
    assert_int_equal(decode(ADDRESS ROLE CONFIRM RANDOM), TENDON_OK);
    assert_int_equal(tendon_out_of_band_encode(&found, out, sizeof out), 48);
    assert_hex(out, 48, ADDRESS ROLE CONFIRM RANDOM);
    for (size_t capacity = 0; capacity < 48; capacity++) {
        assert_int_equal(tendon_out_of_band_encode(&found, out, capacity), TENDON_ERROR_BUFFER_TOO_SMALL);
    }
    assert_int_equal(decode("08 1b 05 04 03 02 01 c0 00 " CONFIRM RANDOM), TENDON_OK);
    assert_int_equal(tendon_out_of_band_encode(&found, out, sizeof out), 45);
    assert_hex(out, 45, "08 1b 05 04 03 02 01 c0 00 " CONFIRM RANDOM); /* without a role */
}

static tendon_status parse(const char *text) {
    block data = block_copy(text, strlen(text));
    offset = 999;
    tendon_status status = tendon_out_of_band_parse((const char *)data.data, data.length, &found, &offset);
    free(data.data);
    return status;
}

#define TEXT "081b0504030201c001021c001122000102030405060708090a0b0c0d0e0f1123f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"

static void text_is_digits(void **state) {
    char text[TENDON_OUT_OF_BAND_STRING_SIZE], longer[2 * TENDON_OUT_OF_BAND_LENGTH_MAX + 3];
    (void)state;
    assert_int_equal(parse(" \t" TEXT "\r\n"), TENDON_OK);
    assert_device(TENDON_LE_ROLE_PERIPHERAL);
    assert_string_equal(tendon_out_of_band_format(&found, text), TEXT);
    assert_int_equal(strlen(text), TENDON_OUT_OF_BAND_STRING_SIZE - 1);
    assert_int_equal(parse("081B0504030201C001" /* capital letters */
                           "1122000102030405060708090A0B0C0D0E0F1123F0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF"),
                     TENDON_OK);
    assert_device(TENDON_LE_ROLE_UNKNOWN);
    static const struct {
        const char *text;
        tendon_status status;
        size_t offset;
    } rows[] = {{"", TENDON_ERROR_MALFORMED, 0},
                {"  ", TENDON_ERROR_MALFORMED, 2},
                {"08 1b", TENDON_ERROR_MALFORMED, 2}, /* blanks inside */
                {" 081g", TENDON_ERROR_MALFORMED, 4},
                {TEXT "0", TENDON_ERROR_MALFORMED, 97}, /* half a byte */
                {" " TEXT "1122", TENDON_ERROR_TRUNCATED, 97},
                {" 020106" TEXT TEXT, TENDON_ERROR_MALFORMED, 103}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(parse(rows[i].text), rows[i].status);
        assert_int_equal(offset, rows[i].offset);
    }
    memset(longer, '0', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(parse(longer), TENDON_ERROR_OVERFLOW);
    assert_int_equal(offset, 2 * TENDON_OUT_OF_BAND_LENGTH_MAX);
    longer[2 * TENDON_OUT_OF_BAND_LENGTH_MAX] = '\0';
    assert_int_equal(parse(longer), TENDON_ERROR_MALFORMED); /* zeros alone */
}

static const char *write_file(const char *directory, const char *text, mode_t mode) {
    static char path[128];
    snprintf(path, sizeof path, "%s/data", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void a_file_has_a_line_for_each_device(void **state) {
    tendon_out_of_band devices[2];
    char missing[128];
    snprintf(missing, sizeof missing, "%s/missing", (const char *)*state);
    assert_int_equal(tendon_out_of_band_load(missing, devices, 2), TENDON_ERROR_NOT_FOUND);
    const char *path = write_file(*state, "# the belts\n\n " TEXT " # left\r\n" LINUX_DATA, 0600);
    assert_int_equal(tendon_out_of_band_load(path, devices, 2), 2);
    assert_int_equal(devices[0].address.bytes[0], 0xC0);
    assert_int_equal(devices[1].role, TENDON_LE_ROLE_CENTRAL);
    assert_int_equal(tendon_out_of_band_load(path, devices, 1), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(tendon_out_of_band_load(write_file(*state, TEXT "\n", 0640), devices, 2),
                     TENDON_ERROR_FILE_PERMISSION);
    assert_int_equal(tendon_out_of_band_load(write_file(*state, "#\n", 0600), devices, 2), 0);
    assert_int_equal(tendon_out_of_band_load(write_file(*state, TEXT " " TEXT, 0600), devices, 2),
                     TENDON_ERROR_MALFORMED);
    assert_int_equal(tendon_out_of_band_load(write_file(*state, TEXT "\n081b\n", 0600), devices, 2),
                     TENDON_ERROR_TRUNCATED);
    char longer[8194];
    memset(longer, '#', sizeof longer);
    longer[8192] = '\0';
    assert_int_equal(tendon_out_of_band_load(write_file(*state, longer, 0600), devices, 2), 0);
    longer[8192] = '#';
    longer[8193] = '\0';
    assert_int_equal(tendon_out_of_band_load(write_file(*state, longer, 0600), devices, 2), TENDON_ERROR_OVERFLOW);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_decoded),
        cmocka_unit_test(the_data_of_linux_are_decoded),
        cmocka_unit_test(what_is_wrong_has_a_place),
        cmocka_unit_test(cut_at_every_position_it_is_no_device),
        cmocka_unit_test(what_was_decoded_is_encoded),
        cmocka_unit_test(text_is_digits),
        cmocka_unit_test_setup_teardown(a_file_has_a_line_for_each_device, bonds_setup, bonds_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
