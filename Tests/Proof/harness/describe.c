/* SPDX-License-Identifier: MIT */
/* The walk of a value: each kind of field, by a layout as the parser makes them. */
#include "tendon/definition/describe.h"
#include "proof.h"

enum { EVENT_LAYOUT, RECORD_LAYOUT, CASE_LAYOUT, PLAIN_LAYOUT, NUMBER_LAYOUT, TIME_LAYOUT, LAYOUTS };

static tendon_definition definition = {
    .layout_count = LAYOUTS,
    .event_count = 3,
    .events = {{.layout = EVENT_LAYOUT},
               {.layout = PLAIN_LAYOUT, .first_member = 0, .member_count = 2},
               {.layout = TIME_LAYOUT}},
    .members = {2, 1},
    .layouts = {{.first = 0, .count = 7},
                {.first = 7, .count = 2},
                {.first = 9, .count = 2, .is_exact = true},
                {.first = 11, .count = 3},
                {.first = 14, .count = 1},
                {.first = 15, .count = 4}},
    .cases = {{.value = 1, .layout = CASE_LAYOUT}},
    .words = {{.value = 2, .text = 1}},
    .kept_count = 5,
    .rate_count = 1,
    .text_length = 4,
    .text = "\0a\0",
    .fields =
        {
            {.type = TENDON_FIELD_INTEGER,
             .size = 1,
             .bits = 8,
             .factor = 1,
             .divisor = 1,
             .keep = 1,
             .name = 1,
             .count = 1},
            {.type = TENDON_FIELD_PART, .bit = 7, .bits = 1, .factor = 1, .divisor = 1, .keep = 2, .name = 1},
            {.type = TENDON_FIELD_INTEGER,
             .size = 2,
             .bits = 16,
             .flags = TENDON_FIELD_LIMITED | TENDON_FIELD_SIGNED,
             .factor = 1,
             .divisor = 2,
             .name = 1,
             .condition = TENDON_FIELD_IF_SET,
             .condition_from = 2,
             .low = -5,
             .high = 1000},
            {.type = TENDON_FIELD_SFLOAT,
             .size = 2,
             .bits = 16,
             .flags = TENDON_FIELD_OPTIONAL,
             .factor = 1,
             .divisor = 1,
             .name = 1},
            {.type = TENDON_FIELD_SWITCH, .from = 1, .first = 0, .count = 1, .layout = TENDON_DEFINITION_NONE},
            {.type = TENDON_FIELD_BYTES, .from = 2, .at_most = 3, .name = 1},
            {.type = TENDON_FIELD_RECORDS, .layout = RECORD_LAYOUT, .name = 1},
            {.type = TENDON_FIELD_INTEGER, .size = 1, .bits = 8, .factor = 1, .divisor = 1, .keep = 3, .name = 1},
            {.type = TENDON_FIELD_UTF8, .from = 3, .at_most = 0xFFFF, .name = 1},
            {.type = TENDON_FIELD_INTEGER,
             .size = 2,
             .bits = 16,
             .flags = TENDON_FIELD_BIG_ENDIAN,
             .factor = 1,
             .divisor = 1,
             .name = 1},
            {.type = TENDON_FIELD_FLOAT32,
             .size = 4,
             .bits = 32,
             .factor = 2,
             .divisor = 1,
             .offset = 1,
             .decimals = 7,
             .name = 1},
            {.type = TENDON_FIELD_FLOAT, .size = 4, .bits = 32, .factor = 1, .divisor = 1, .name = 3},
            {.type = TENDON_FIELD_INTEGER,
             .size = 8,
             .bits = 64,
             .flags = TENDON_FIELD_UNKNOWN,
             .factor = 1,
             .divisor = 1,
             .name = 1,
             .unknown = 7,
             .condition = TENDON_FIELD_IF_ZERO,
             .condition_from = 1},
            {.type = TENDON_FIELD_RECORDS, .flags = TENDON_FIELD_PLAIN, .layout = NUMBER_LAYOUT, .name = 1, .fixed = 2},
            {.type = TENDON_FIELD_INTEGER, .size = 1, .bits = 8, .factor = 1, .divisor = 1, .name = 1},
            {.type = TENDON_FIELD_INTEGER,
             .size = 1,
             .bits = 8,
             .flags = TENDON_FIELD_LIMITED,
             .factor = 1,
             .divisor = 1,
             .keep = 4,
             .low = 1,
             .high = 200},
            {.type = TENDON_FIELD_INTEGER, .size = 2, .bits = 16, .factor = 1, .divisor = 1024, .keep = 5, .name = 1},
            {.type = TENDON_FIELD_RATE, .first = 15, .fixed = 16, .name = 1},
            {.type = TENDON_FIELD_INTEGER,
             .size = 1,
             .bits = 8,
             .factor = 1,
             .divisor = 1,
             .name = 1,
             .condition = TENDON_FIELD_IF_EQUAL,
             .condition_from = 4,
             .condition_value = 7},
        },
};

static unsigned values;
static tendon_described_rates rates;

/* What is lent is read by the fuzz target: merged states lose the relation between a view's place and its length. */
static void visit(void *context, const tendon_described *value) {
    (void)context;
    values += value->kind;
}

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    size_t offset = 0;
    size_t event = proof_unknown ? 0 : proof_unknown ? 1 : 2;
    tendon_described_rates_take(&rates, &definition, proof_unknown ? 0 : 2, input, length);
    tendon_status status = tendon_describe(&definition, event, input, length, &rates, visit, NULL, &offset);
    if (status < 0 && offset > length) {
        proof_fail();
    }
    return 0;
}
