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
        assert_in_range(row->layer, TENDON_LAYER_FAMILY_FIRST, TENDON_LAYER_FAMILY_LAST);
        assert_true(row->session_size >= 64 && row->session_size <= 4096);
        for (size_t i = 0; i < count; i++) {
            assert_int_not_equal(tendon_family_at(i)->layer, row->layer);
        }
    }
    assert_true(count >= 4);
    assert_null(tendon_family_at(SIZE_MAX));
}

static void names(void **state) {
    (void)state;
    assert_ptr_equal(tendon_family_find("bose"), &tendon_bose_family);
    assert_ptr_equal(tendon_family_find("belt"), &tendon_feelspace_family);
    assert_ptr_equal(tendon_family_find("activ5"), &tendon_activ5_family);
    assert_ptr_equal(tendon_family_find("grip"), &tendon_fjorden_family);
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
        {TENDON_STATUS(11, 1), "FAMILY_ERROR", "family", NULL}, /* reserved */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_whole),
        cmocka_unit_test(names),
        cmocka_unit_test(statuses_come_from_their_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
