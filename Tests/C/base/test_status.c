/* SPDX-License-Identifier: MIT */
#include "tendon/base.h"
#include "tendon/version.h"
#include "test_bytes.h"
#include <errno.h>

static void names_of_our_own(void **state) {
    (void)state;
#define CHECK(name, layer, code, text)                                                                                 \
    assert_string_equal(tendon_status_name(TENDON_##name), #name);                                                     \
    assert_string_equal(tendon_status_text(TENDON_##name), text);                                                      \
    assert_int_equal(TENDON_STATUS_LAYER(TENDON_##name), TENDON_LAYER_##layer);                                        \
    assert_int_equal(TENDON_STATUS_CODE(TENDON_##name), code);
    TENDON_STATUS_LIST(CHECK)
#undef CHECK
}

static void names_of_other_layers(void **state) {
    (void)state;
    static const struct {
        tendon_status status;
        const char *name, *layer;
    } cases[] = {
        {TENDON_OK, "OK", "base"},
        {517, "OK", "base"},
        {TENDON_ATT_ERROR(0x01), "ATT_INVALID_HANDLE", "ATT"},
        {TENDON_ATT_ERROR(0x13), "ATT_VALUE_NOT_ALLOWED", "ATT"},
        {TENDON_ATT_ERROR(0x84), "ATT_APPLICATION_ERROR", "ATT"},
        {TENDON_ATT_ERROR(0xFF), "ATT_OUT_OF_RANGE", "ATT"},
        {TENDON_HCI_ERROR(0x08), "HCI_CONNECTION_TIMEOUT", "HCI"},
        {TENDON_HCI_ERROR(0x13), "HCI_REMOTE_USER_TERMINATED", "HCI"},
        {TENDON_HCI_ERROR(0x3E), "HCI_CONNECTION_FAILED_TO_ESTABLISH", "HCI"},
        {TENDON_HCI_ERROR(0xEE), "HCI_ERROR", "HCI"},
        {TENDON_STATUS(TENDON_LAYER_L2CAP, 2), "L2CAP_ERROR", "L2CAP"},
        {TENDON_STATUS(TENDON_LAYER_MANAGEMENT, 0x12), "MANAGEMENT_RFKILLED", "management"},
        {TENDON_SYSTEM_ERROR(EPERM), "SYSTEM_EPERM", "system"},
        {TENDON_SYSTEM_ERROR(ENODEV), "SYSTEM_ENODEV", "system"},
        {TENDON_SYSTEM_ERROR(ECONNRESET), "SYSTEM_ECONNRESET", "system"},
        {TENDON_SYSTEM_ERROR(255), "SYSTEM_ERROR", "system"},
        {TENDON_STATUS(TENDON_LAYER_GATT, 200), "GATT_ERROR", "GATT"},
        {TENDON_STATUS(TENDON_LAYER_RADIO, 200), "RADIO_ERROR", "radio"},
        {TENDON_STATUS(TENDON_LAYER_BOSE, 1), "BOSE_ERROR", "Bose"},
        {TENDON_STATUS(TENDON_LAYER_FEELSPACE, 1), "FEELSPACE_ERROR", "feelSpace"},
        {TENDON_STATUS(TENDON_LAYER_ACTIV5, 1), "ACTIV5_ERROR", "Activ5"},
        {TENDON_STATUS(TENDON_LAYER_FJORDEN, 1), "FJORDEN_ERROR", "Fjorden"},
        {TENDON_STATUS(TENDON_LAYER_OBVIOUS, 1), "OBVIOUS_ERROR", "Obvious"},
        {TENDON_STATUS(13, 1), "UNKNOWN_ERROR", "unknown"},
        {INT32_MIN, "UNKNOWN_ERROR", "unknown"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(tendon_status_name(cases[i].status), cases[i].name);
        assert_string_equal(tendon_status_layer_name(cases[i].status), cases[i].layer);
    }
}

/* A05: every code of every layer maps to a name; none indexes a table. */
static void mal_A05_every_code_has_a_name(void **state) {
    (void)state;
    for (int32_t status = 0; status > -17 * 256; status--) {
        assert_true(strlen(tendon_status_name(status)) > 0);
        assert_true(strlen(tendon_status_text(status)) > 0);
        assert_true(strlen(tendon_status_layer_name(status)) > 0);
    }
    assert_string_equal(tendon_status_name(TENDON_ATT_ERROR(0x00)), "ATT_RESERVED_ERROR");
    for (int code = 0x14; code <= 0x7F; code++) {
        assert_string_equal(tendon_status_name(TENDON_ATT_ERROR(code)), "ATT_RESERVED_ERROR");
    }
    for (int code = 0xE0; code <= 0xFB; code++) {
        assert_string_equal(tendon_status_name(TENDON_ATT_ERROR(code)), "ATT_RESERVED_ERROR");
    }
}

static void version_is_that_of_the_header(void **state) {
    (void)state;
    char text[32];
    snprintf(text, sizeof(text), "%d.%d.%d", TENDON_VERSION_MAJOR, TENDON_VERSION_MINOR, TENDON_VERSION_PATCH);
    assert_string_equal(tendon_version(), TENDON_VERSION);
    assert_string_equal(tendon_version(), text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_our_own),
        cmocka_unit_test(names_of_other_layers),
        cmocka_unit_test(mal_A05_every_code_has_a_name),
        cmocka_unit_test(version_is_that_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
