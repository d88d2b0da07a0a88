/* SPDX-License-Identifier: MIT */
/* The table of families: every row is whole, and none is in the way of another. */
#include "test_bytes.h"

#include "tendon/devices.h"

static void rows_are_whole(void **state) {
    (void)state;
    size_t count = 0;
    for (const tendon_family *row; (row = tendon_family_at(count)) != NULL; count++) {
        assert_true(strlen(row->title) > 0 && strlen(row->brand) > 0 && strlen(row->summary) > 0);
        assert_ptr_equal(tendon_family_find(row->name), row);
        if (row->alias != NULL) {
            assert_ptr_equal(tendon_family_find(row->alias), row);
        }
        assert_false(row->recognizes(NULL, 0));
        assert_false(row->awaits_name != NULL && row->awaits_name(NULL, 0));
        assert_in_range(row->layer, TENDON_LAYER_FAMILY_FIRST, TENDON_LAYER_FAMILY_LAST);
        assert_true(row->session_size >= 64 && row->session_size <= 4096);
        for (size_t i = 0; i < count; i++) {
            assert_int_not_equal(tendon_family_at(i)->layer, row->layer);
        }
    }
    assert_true(count >= 5);
    assert_null(tendon_family_at(SIZE_MAX));
}

/* By what they advertise, the last row as well as the first. */
static void devices_are_known_by_what_they_advertise(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        const tendon_family *family;
    } rows[] = {{"0303 d2fd", &tendon_bose_family},
                {"0303 0050 0209 61", &tendon_activ5_family},
                {"0d09 466a6f7264656e2047726970", &tendon_fjorden_family}, /* "Fjorden Grip" */
                {"0209 61", NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        block b = block_hex(rows[i].hex);
        assert_ptr_equal(tendon_family_from_advertisement(b.data, b.length), rows[i].family);
        free(b.data);
    }
    size_t count = 0;
    while (tendon_family_at(count) != NULL) {
        count++;
    }
    const tendon_family *last = tendon_family_at(count - 1);
    assert_ptr_equal(last, &tendon_obvious_family);
    block b = block_hex("11 07 35 9f fc d4 02 26 f4 95 20 4e 13 c1 01 00 19 9c"); /* OGP_SERVICE */
    assert_true(last->recognizes(b.data, b.length));
    assert_ptr_equal(tendon_family_from_advertisement(b.data, b.length), last);
    free(b.data);
}

/* A belt's UUIDs without a name; every cut of them is no UUID. With a name, whatever it is, nothing is awaited. */
static void a_belt_awaits_its_name(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        bool awaits;
    } rows[] = {{"11 07 00 a1 0c 20 00 08 9a 9e e2 11 15 a1 33 33 33 65", true},
                {"03 03 51 fe", true},
                {"03 02 51 fe", true},
                {"03 03 51 fe 03 09 6e 61", false},
                {"03 03 51 fe 03 08 6e 61", false},
                {"03 03 52 fe", false},
                {"0303 d2fd", false},
                {"0303 0050", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        block b = block_hex(rows[i].hex);
        assert_ptr_equal(tendon_family_awaiting_name(b.data, b.length),
                         rows[i].awaits ? &tendon_feelspace_family : NULL);
        for (size_t cut = 0; rows[i].awaits && cut < b.length; cut++) {
            assert_null(tendon_family_awaiting_name(b.data, cut));
        }
        free(b.data);
    }
}

/* A device named like a belt is none without the service, and a device with the service is none without the name. */
static void a_belt_has_service_and_name(void **state) {
    (void)state;
    static const char older[] = "11 07 00 a1 0c 20 00 08 9a 9e e2 11 15 a1 33 33 33 65", newer[] = "03 03 51 fe",
                      name[] = "0c 09 6e 61 76 69 47 75 65 72 74 65 6c", other_service[] = "03 03 52 fe",
                      other_name[] = "03 09 6e 61";
    static const struct {
        const char *first, *second;
        const tendon_family *family;
    } rows[] = {{older, name, &tendon_feelspace_family},
                {newer, name, &tendon_feelspace_family},
                {other_service, name, NULL},
                {name, "", NULL},
                {older, "", NULL},
                {newer, other_name, NULL},
                {"0303 d2fd", name, &tendon_bose_family},
                {"0303 0050", other_name, &tendon_activ5_family}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int order = 0; order < 2; order++) {
            char hex[160];
            const char *const parts[] = {rows[i].first, rows[i].second};
            (void)snprintf(hex, sizeof hex, "%s %s", parts[order], parts[!order]);
            block b = block_hex(hex);
            assert_ptr_equal(tendon_family_from_advertisement(b.data, b.length), rows[i].family);
            for (size_t cut = 0; rows[i].family == &tendon_feelspace_family && cut < b.length; cut++) {
                block less = block_copy(b.data, cut);
                assert_null(tendon_family_from_advertisement(less.data, less.length));
                free(less.data);
            }
            free(b.data);
        }
    }
}

static void names(void **state) {
    (void)state;
    assert_ptr_equal(tendon_family_find("bose"), &tendon_bose_family);
    assert_ptr_equal(tendon_family_find("belt"), &tendon_feelspace_family);
    assert_ptr_equal(tendon_family_find("activ5"), &tendon_activ5_family);
    assert_ptr_equal(tendon_family_find("grip"), &tendon_fjorden_family);
    assert_ptr_equal(tendon_family_find("obvious"), &tendon_obvious_family);
    assert_string_equal(tendon_bose_family.title, "Bose wearable");
    assert_int_equal(tendon_fjorden_family.session_size, sizeof(tendon_fjorden_session));
    assert_null(tendon_family_find("bos"));
    assert_null(tendon_family_find("bosee"));
    assert_null(tendon_family_find(""));
    assert_null(tendon_family_find(NULL));
}

static void statuses_come_from_their_family(void **state) {
    (void)state;
    static const struct {
        tendon_status status;
        const char *name, *layer;
        const tendon_family *family;
    } rows[] = {
        {TENDON_BOSE_ERROR_DEVICE_TIMEOUT, "BOSE_ERROR_DEVICE_TIMEOUT", "Bose", &tendon_bose_family},
        {TENDON_FEELSPACE_ERROR_BAD_VALUE, "FEELSPACE_ERROR_BAD_VALUE", "feelSpace", &tendon_feelspace_family},
        {TENDON_ACTIV5_ERROR_EMPTY, "EMPTY", "Activ5", &tendon_activ5_family},
        {TENDON_FJORDEN_ERROR_NO_BOND, "bondDoesNotExists", "Fjorden", &tendon_fjorden_family},
        {TENDON_STATUS(TENDON_LAYER_FJORDEN, 255), "FAMILY_ERROR", "Fjorden", &tendon_fjorden_family},
        {TENDON_OBVIOUS_ERROR_REPLAY, "REPLAY", "Obvious", &tendon_obvious_family},
        {TENDON_STATUS(12, 1), "FAMILY_ERROR", "family", NULL}, /* reserved */
        {TENDON_ERROR_TIMEOUT, "ERROR_TIMEOUT", "base", NULL},
        {TENDON_ATT_ERROR(1), "ATT_INVALID_HANDLE", "ATT", NULL},
        {0, "OK", "base", NULL},
        {7 * 256, "OK", "base", NULL},
        {INT32_MIN, "UNKNOWN_ERROR", "unknown", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(tendon_family_status_name(rows[i].status), rows[i].name);
        assert_string_equal(tendon_family_layer_name(rows[i].status), rows[i].layer);
        assert_ptr_equal(tendon_family_from_status(rows[i].status), rows[i].family);
    }
    assert_string_equal(tendon_family_status_text(TENDON_FJORDEN_ERROR_NO_BOND), "no grip is bonded");
    assert_string_equal(tendon_family_status_text(TENDON_ERROR_TIMEOUT), tendon_status_text(TENDON_ERROR_TIMEOUT));
}

/* "TGAC", version 1, four rows, C0:00:00:00:00:01 (random), the hash, the number of the rows: CRC-32 of service UUID,
 * characteristic UUID and flags, of OGP_DATA (required, CCCD) and OGP_STATUS (required). Then Service Changed, an
 * absent Client Supported Features, OGP_DATA, OGP_STATUS, and the CRC-32 of all. */
static const char record_of_obvious[] =
    "54474143 01 04 0100000000C0 01 00 000102030405060708090A0B0C0D0E0F 6B2B5043 "
    "0100 0500 0300 0400 20 0000 0000 0000 0000 00 0600 0B00 0800 0900 1C 0600 0B00 0B00 0000 02 4AED868E";

static void a_cache_is_of_the_family_that_filled_it(void **state) {
    (void)state;
    static const char *const names[] = {"2a05", "2b29", "9c190002-c113-4e20-95f4-2602d4fc9f35",
                                        "9c190003-c113-4e20-95f4-2602d4fc9f35"};
    tendon_gatt_cache_record record;
    tendon_uuid found[TENDON_GATT_CACHE_ROWS], expected;
    block b = block_hex(record_of_obvious);
    assert_int_equal(tendon_gatt_cache_decode(b.data, b.length, &record, NULL), TENDON_OK);
    free(b.data);
    assert_ptr_equal(tendon_family_from_cache(&record, found), &tendon_obvious_family);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(tendon_uuid_parse(names[i], strlen(names[i]), &expected, NULL), TENDON_OK);
        assert_true(tendon_uuid_equal(&found[i], &expected));
    }
    /* Of no session: other rows, or fewer or more of them. */
    record.profile ^= 1;
    assert_null(tendon_family_from_cache(&record, found));
    record.profile ^= 1;
    for (record.count = 0; record.count <= TENDON_GATT_CACHE_ROWS; record.count++) {
        const tendon_family *expected_family = record.count == 4 ? &tendon_obvious_family : NULL;
        assert_ptr_equal(tendon_family_from_cache(&record, found), expected_family);
    }
}

/* The same rows of a Bose wearable with other flags, CRC-32 computed apart: for firmware without FDD2 none is required.
 */
static void a_cache_of_old_firmware_is_known(void **state) {
    (void)state;
    tendon_uuid found[TENDON_GATT_CACHE_ROWS];
    tendon_gatt_cache_record record = {.count = 18, .profile = 0x89E4BD26};
    assert_ptr_equal(tendon_family_from_cache(&record, found), &tendon_bose_family);
    record.profile = 0x0AC19746;
    memset(found, 0, sizeof found);
    assert_ptr_equal(tendon_family_from_cache(&record, found), &tendon_bose_family);
    tendon_uuid gesture_data = tendon_bose_uuid(TENDON_BOSE_GESTURE_DATA), regulatory = tendon_uuid_from_u16(0x2A2A);
    assert_true(tendon_uuid_equal(&found[8], &gesture_data));
    assert_true(tendon_uuid_equal(&found[17], &regulatory));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(devices_are_known_by_what_they_advertise),
        cmocka_unit_test(a_belt_awaits_its_name),
        cmocka_unit_test(a_belt_has_service_and_name),
        cmocka_unit_test(names),
        cmocka_unit_test(statuses_come_from_their_family),
        cmocka_unit_test(a_cache_is_of_the_family_that_filled_it),
        cmocka_unit_test(a_cache_of_old_firmware_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
