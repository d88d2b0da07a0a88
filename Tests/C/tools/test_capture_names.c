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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_opcode),
    };
    return cmocka_run_group_tests_name("capture_names", tests, NULL, NULL);
}
