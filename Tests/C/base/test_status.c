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
        {TENDON_STATUS(TENDON_LAYER_FAMILY_FIRST, 1), "FAMILY_ERROR", "family"},
        {TENDON_STATUS(TENDON_LAYER_FAMILY_LAST, 255), "FAMILY_ERROR", "family"},
        {TENDON_STATUS(16, 1), "UNKNOWN_ERROR", "unknown"},
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

static void one_line_with_text_name_and_number(void **state) {
    (void)state;
    static const struct {
        tendon_status status;
        const char *name, *text, *line;
    } cases[] = {
        {TENDON_ERROR_TIMEOUT, NULL, NULL, "the deadline passed (ERROR_TIMEOUT)"},
        {TENDON_OK, NULL, NULL, "success (OK)"},
        {TENDON_SYSTEM_ERROR(5), NULL, NULL, "an input or output error occurred (SYSTEM_EIO, 5)"},
        {TENDON_SYSTEM_ERROR(10), NULL, NULL, "unknown system error (SYSTEM_ERROR, 10)"},
        {TENDON_SYSTEM_ERROR(28), NULL, NULL, "the disk has no space left (SYSTEM_ENOSPC, 28)"},
        {TENDON_SYSTEM_ERROR(200), NULL, NULL, "unknown system error (SYSTEM_ERROR, 200)"},
        {TENDON_ATT_ERROR(0x02), NULL, NULL, "the attribute cannot be read (ATT_READ_NOT_PERMITTED, 0x02)"},
        {TENDON_HCI_ERROR(0x3E), NULL, NULL,
         "the connection was not established (HCI_CONNECTION_FAILED_TO_ESTABLISH, 0x3E)"},
        {TENDON_STATUS(TENDON_LAYER_L2CAP, 0xAB), NULL, NULL, "unknown L2CAP error (L2CAP_ERROR, 0xAB)"},
        {TENDON_STATUS(TENDON_LAYER_MANAGEMENT, 0xAB), NULL, NULL,
         "unknown management status (MANAGEMENT_ERROR, 0xAB)"},
        {TENDON_STATUS(TENDON_LAYER_FAMILY_FIRST, 7), "BOSE_ERROR_X", "why", "why (BOSE_ERROR_X)"},
    };
    char line[TENDON_STATUS_FORMAT_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t length = strlen(cases[i].line);
        assert_int_equal(tendon_status_format(cases[i].status, cases[i].name, cases[i].text, line, sizeof line),
                         (tendon_status)length);
        assert_string_equal(line, cases[i].line);
        for (size_t capacity = 0; capacity <= length; capacity++) { /* truncated, terminated, and nothing behind it */
            memset(line, '#', sizeof line);
            assert_int_equal(tendon_status_format(cases[i].status, cases[i].name, cases[i].text, line, capacity),
                             TENDON_ERROR_BUFFER_TOO_SMALL);
            if (capacity > 0) {
                assert_int_equal(strlen(line), capacity - 1);
                assert_memory_equal(line, cases[i].line, capacity - 1);
            }
            assert_int_equal(line[capacity], '#');
        }
    }
    for (int32_t status = 0; status > -17 * 256; status--) {
        assert_true(tendon_status_format(status, NULL, NULL, line, sizeof line) > 0);
    }
}

/* EDQUOT is 1133 on MIPS: its code must not reach into the layer. */
static void a_large_errno_stays_in_its_layer(void **state) {
    (void)state;
    static const int numbers[] = {256, 1133, 4095, INT32_MAX, -1, INT32_MIN};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        tendon_status status = TENDON_SYSTEM_ERROR(numbers[i]);
        assert_int_equal(TENDON_STATUS_LAYER(status), TENDON_LAYER_SYSTEM);
        assert_int_equal(TENDON_STATUS_CODE(status), 255);
        assert_string_equal(tendon_status_name(status), "SYSTEM_ERROR");
    }
    assert_int_equal(TENDON_STATUS_CODE(TENDON_SYSTEM_ERROR(254)), 254);
    assert_int_equal(TENDON_STATUS_CODE(TENDON_SYSTEM_ERROR(EDQUOT)), EDQUOT < 256 ? EDQUOT : 255);
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
        cmocka_unit_test(one_line_with_text_name_and_number),
        cmocka_unit_test(a_large_errno_stays_in_its_layer),
        cmocka_unit_test(version_is_that_of_the_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
