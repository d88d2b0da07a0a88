/* SPDX-License-Identifier: MIT */
#include "definition_fixture.h"

static tendon_definition_scratch scratch;

tendon_status parse_text(const char *text, tendon_definition *out, tendon_definition_mistake *mistake) {
    block b = block_copy(text, strlen(text));
    for (size_t i = 0; i < b.length; i++) {
        b.data[i] = b.data[i] == '\'' ? '"' : b.data[i];
    }
    tendon_status status = tendon_definition_parse((const char *)b.data, b.length, out, &scratch, mistake);
    free(b.data);
    return status;
}

const tendon_definition *parsed(const char *text) {
    static tendon_definition definition;
    tendon_definition_mistake mistake;
    if (parse_text(text, &definition, &mistake) < 0) {
        fail_msg("%u:%u: %s", (unsigned)mistake.line, (unsigned)mistake.column, mistake.text);
    }
    return &definition;
}

const tendon_definition *with_fields(const char *fields) {
    char text[4096];
    snprintf(text, sizeof text,
             "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': ["
             "{'name': 'value', 'service': 'fff0', 'uuid': 'fff1', 'notify': [%s]}]}",
             fields);
    return parsed(text);
}

typedef struct line {
    char text[2048];
    size_t length;
    char ends[8];
    size_t depth;
} line;

static void put(line *l, const char *text) {
    size_t length = strlen(text);
    assert_true(l->length + length < sizeof l->text);
    memcpy(l->text + l->length, text, length + 1);
    l->length += length;
}

static void put_value(line *l, const tendon_described *value) {
    char number[64];
    switch (value->kind) {
    case TENDON_DESCRIBED_WORD:
        put(l, value->text);
        break;
    case TENDON_DESCRIBED_NOTHING:
        put(l, "nothing");
        break;
    case TENDON_DESCRIBED_FLAG:
        put(l, value->number != 0 ? "yes" : "no");
        break;
    case TENDON_DESCRIBED_TEXT:
        assert_true(value->length < sizeof number - 2);
        snprintf(number, sizeof number, "'%.*s'", (int)value->length, (const char *)value->bytes);
        put(l, number);
        break;
    case TENDON_DESCRIBED_BYTES:
        for (size_t i = 0; i < value->length; i++) {
            snprintf(number, sizeof number, "%02x", value->bytes[i]);
            put(l, number);
        }
        break;
    default:
        if (value->is_integer) {
            snprintf(number, sizeof number, "%lld", (long long)value->integer);
        } else {
            snprintf(number, sizeof number, "%.*f", value->decimals, value->number);
        }
        put(l, number);
        break;
    }
}

static void visit(void *context, const tendon_described *value) {
    line *l = context;
    if (value->kind == TENDON_DESCRIBED_END) {
        const char end[2] = {l->ends[--l->depth], 0};
        put(l, end);
        return;
    }
    char last = l->length > 0 ? l->text[l->length - 1] : '[';
    if (last != '[' && last != '{') {
        put(l, l->depth > 0 && l->ends[l->depth - 1] == ']' ? "," : " ");
    }
    if (value->name != NULL) {
        put(l, value->name);
        put(l, "=");
    }
    if (value->kind == TENDON_DESCRIBED_LIST || value->kind == TENDON_DESCRIBED_ITEM) {
        put(l, value->kind == TENDON_DESCRIBED_LIST ? "[" : "{");
        l->ends[l->depth++] = value->kind == TENDON_DESCRIBED_LIST ? ']' : '}';
        return;
    }
    put_value(l, value);
}

static const char *describe(const tendon_definition *definition, size_t event, tendon_described_rates *rates,
                            const char *hex) {
    static line l;
    l = (line){0};
    block b = block_hex(hex);
    size_t offset = SIZE_MAX;
    if (rates != NULL) {
        tendon_described_rates_take(rates, definition, event, b.data, b.length);
    }
    tendon_status status = tendon_describe(definition, event, b.data, b.length, rates, visit, &l, &offset);
    free(b.data);
    assert_int_equal(l.depth, 0);
    if (status < 0) {
        assert_int_equal(l.length, 0); /* nothing was reported */
        snprintf(l.text, sizeof l.text, "!%s at %zu", tendon_status_name(status) + strlen("ERROR_"), offset);
    }
    return l.text;
}

const char *described_event(const tendon_definition *definition, size_t event, const char *hex) {
    return describe(definition, event, NULL, hex);
}

const char *described_with(const tendon_definition *definition, tendon_described_rates *rates, const char *hex) {
    return describe(definition, 0, rates, hex);
}

const char *described(const tendon_definition *definition, const char *hex) {
    return describe(definition, 0, NULL, hex);
}
