/* SPDX-License-Identifier: MIT */
/* Names for people: every number of a byte, against the Core Specification's and the Assigned Numbers' own. */
#include "test_bytes.h"

#include "tendon/tools/capture.h"

typedef struct named {
    uint8_t number;
    const char *name;
} named;

/* Core Spec Vol 3 Part F 3.4.8. */
static const named opcodes[] = {
    {0x01, "Error Response"},
    {0x02, "Exchange MTU Request"},
    {0x03, "Exchange MTU Response"},
    {0x04, "Find Information Request"},
    {0x05, "Find Information Response"},
    {0x06, "Find By Type Value Request"},
    {0x07, "Find By Type Value Response"},
    {0x08, "Read By Type Request"},
    {0x09, "Read By Type Response"},
    {0x0A, "Read Request"},
    {0x0B, "Read Response"},
    {0x0C, "Read Blob Request"},
    {0x0D, "Read Blob Response"},
    {0x0E, "Read Multiple Request"},
    {0x0F, "Read Multiple Response"},
    {0x10, "Read By Group Type Request"},
    {0x11, "Read By Group Type Response"},
    {0x12, "Write Request"},
    {0x13, "Write Response"},
    {0x16, "Prepare Write Request"},
    {0x17, "Prepare Write Response"},
    {0x18, "Execute Write Request"},
    {0x19, "Execute Write Response"},
    {0x1B, "Handle Value Notification"},
    {0x1D, "Handle Value Indication"},
    {0x1E, "Handle Value Confirmation"},
    {0x20, "Read Multiple Variable Request"},
    {0x21, "Read Multiple Variable Response"},
    {0x23, "Multiple Handle Value Notification"},
    {0x52, "Write Command"},
    {0xD2, "Signed Write Command"},
};

/* Assigned Numbers 2.3: the first and the last, those beside gaps, and one of each kind. */
static const named types[] = {
    {0x01, "Flags"},
    {0x0A, "TX Power Level"},
    {0x0D, "Class of Device"},
    {0x12, "Peripheral Connection Interval Range"},
    {0x14, "List of 16-bit Solicitation UUIDs"},
    {0x21, "Service Data - 128-bit UUID"},
    {0x32, "Periodic Advertising Response Timing Information"},
    {0x34, "Electronic Shelf Label"},
    {0x3D, "3D Information Data"},
    {0xFF, "Manufacturer Specific Data"},
};

static const char *expected(const named *table, size_t count, unsigned number) {
    for (size_t i = 0; i < count; i++) {
        if (table[i].number == number) {
            return table[i].name;
        }
    }
    return "unknown";
}

static void every_opcode(void **state) {
    (void)state;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        assert_string_equal(tendon_att_opcode_name((uint8_t)opcode),
                            expected(opcodes, sizeof opcodes / sizeof opcodes[0], opcode));
    }
}

static void types_and_gaps(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        assert_string_equal(tendon_ad_type_name(types[i].number), types[i].name);
    }
    size_t known = 0;
    for (unsigned type = 0; type < 256; type++) {
        known += strcmp(tendon_ad_type_name((uint8_t)type), "unknown") != 0;
    }
    assert_int_equal(known, 50);
    static const uint8_t gaps[] = {0x00, 0x0B, 0x0C, 0x13, 0x33, 0x35, 0x3C, 0x3E, 0xFE};
    for (size_t i = 0; i < sizeof gaps; i++) {
        assert_string_equal(tendon_ad_type_name(gaps[i]), "unknown");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode),
        cmocka_unit_test(types_and_gaps),
    };
    return cmocka_run_group_tests_name("capture_names", tests, NULL, NULL);
}
