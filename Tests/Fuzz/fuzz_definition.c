/* SPDX-License-Identifier: MIT */
/* A device file, then values of its device: what parses is walked with any bytes, and has names inside of its text. */
#include "fuzz.h"
#include "tendon/definition.h"

static tendon_definition definition;
static tendon_definition_scratch scratch;
static tendon_described_rates rates;

typedef struct seen {
    unsigned depth;
    size_t values;
} seen;

static void visit(void *context, const tendon_described *value) {
    seen *s = context;
    s->values++;
    if (value->name != NULL) {
        FUZZ_CHECK(value->name >= definition.text && value->name < definition.text + sizeof definition.text);
        (void)fuzz_touch(value->name, strlen(value->name));
    }
    if (value->kind == TENDON_DESCRIBED_LIST || value->kind == TENDON_DESCRIBED_ITEM) {
        s->depth++;
    } else if (value->kind == TENDON_DESCRIBED_END) {
        FUZZ_CHECK(s->depth > 0);
        s->depth--;
    } else if (value->kind == TENDON_DESCRIBED_TEXT || value->kind == TENDON_DESCRIBED_BYTES) {
        (void)fuzz_touch(value->bytes, value->length);
    } else if (value->kind == TENDON_DESCRIBED_WORD) {
        (void)fuzz_touch(value->text, strlen(value->text));
    }
}

static void walk(const uint8_t *bytes, size_t length) {
    for (size_t event = 0; event < definition.event_count; event++) {
        seen s = {0};
        tendon_described_rates_take(&rates, &definition, event, bytes, length);
        size_t offset = 0;
        tendon_status status = tendon_describe(&definition, event, bytes, length, &rates, visit, &s, &offset);
        FUZZ_CHECK(status == TENDON_OK ? s.depth == 0 : s.values == 0 && offset <= length);
    }
    (void)tendon_definition_means(&definition, bytes, length);
}

static void act(const uint8_t *bytes, size_t length) {
    for (size_t action = 0; action < definition.action_count; action++) {
        tendon_argument arguments[TENDON_DEFINITION_VALUE] = {0};
        uint8_t out[TENDON_DEFINITION_VALUE];
        size_t count = tendon_action_arguments(&definition, action, NULL, 0), wrong = 0;
        FUZZ_CHECK(count <= TENDON_DEFINITION_VALUE);
        for (size_t i = 0; i < count; i++) {
            arguments[i].number = length > 0 ? (double)bytes[i % length] * 1000 - 100 : 0;
            arguments[i].word = length % 2 == 0 ? (const char *)bytes : NULL; /* text, or hexadecimal digits */
            arguments[i].word_length = length;
        }
        FUZZ_CHECK(tendon_action_encode(&definition, action, arguments, count, out, &wrong) <= TENDON_DEFINITION_VALUE);
    }
}

/* The file up to the first byte 0, then values with their length before them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size > 0 ? memchr(data, 0, size) : NULL;
    fuzz_input input = {data, size};
    fuzz_block text = fuzz_take(&input, end != NULL ? (size_t)(end - data) : size);
    tendon_definition_mistake mistake;
    tendon_status status =
        tendon_definition_parse((const char *)text.data, text.length, &definition, &scratch, &mistake);
    free(text.data);
    if (status < 0) {
        FUZZ_CHECK(mistake.line >= 1 && mistake.column >= 1 && mistake.text[0] != 0);
        return 0;
    }
    (void)fuzz_u8(&input);
    do {
        fuzz_block value = fuzz_block_of(&input);
        walk(value.data, value.length);
        act(value.data, value.length);
        free(value.data);
    } while (input.left > 0);
    return 0;
}
