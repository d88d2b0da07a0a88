/* SPDX-License-Identifier: MIT */
/* Actions as bytes. */
#include "definition_fixture.h"

static const tendon_definition *with_action(const char *fields) {
    char text[1024];
    snprintf(text, sizeof text,
             "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': [{'name': 'v', "
             "'service': 'fff0', 'uuid': 'fff1', 'write': [%s]}], 'actions': [{'name': 'act', 'characteristic': 'v'}]}",
             fields);
    return parsed(text);
}

static size_t wrong;

static tendon_status encode(const tendon_definition *d, const tendon_argument *arguments, size_t count, uint8_t *out) {
    wrong = 99;
    return tendon_action_encode(d, 0, arguments, count, out, &wrong);
}

static void numbers(void **state) {
    (void)state;
    static const struct {
        const char *field;
        double number;
        const char *hex; /* NULL: rejected */
    } rows[] = {
        {"{'name': 'x', 'type': 'u8'}", 255, "ff"},
        {"{'name': 'x', 'type': 'u8'}", 256, NULL},
        {"{'name': 'x', 'type': 'u8'}", -1, NULL},
        {"{'name': 'x', 'type': 'i8'}", -128, "80"},
        {"{'name': 'x', 'type': 'i8'}", 128, NULL},
        {"{'name': 'x', 'type': 'u16'}", 4660, "3412"},
        {"{'name': 'x', 'type': 'u16', 'endian': 'big'}", 4660, "1234"},
        {"{'name': 'x', 'type': 'i32'}", -2, "feffffff"},
        {"{'name': 'x', 'type': 'u64'}", 4503599627370495.0, "ffffffffffff0f00"},
        {"{'name': 'x', 'type': 'u64'}", 4503599627370497.0, NULL}, /* a half more is no number */
        {"{'name': 'x', 'type': 'u64'}", 1e17, NULL},               /* no exact integer any more */
        {"{'name': 'x', 'type': 'u8', 'min': 3, 'max': 5}", 3, "03"},
        {"{'name': 'x', 'type': 'u8', 'min': 3, 'max': 5}", 2, NULL},
        {"{'name': 'x', 'type': 'u8', 'min': 3, 'max': 5}", 6, NULL},
        {"{'name': 'x', 'type': 'i16', 'factor': 0.01}", 25.004, "c409"},
        {"{'name': 'x', 'type': 'u8', 'offset': -40}", -40, "00"},
        {"{'name': 'x', 'type': 'u16', 'divisor': 1024}", 1, "0004"},
        {"{'name': 'x', 'type': 'u8'}", 1.5, NULL}, /* none is nearer */
        {"{'name': 'x', 'type': 'f32'}", 1.5, "0000c03f"},
        {"{'name': 'x', 'type': 'f32'}", 1e39, NULL},
        {"{'type': 'u8', 'equals': 7}, {'name': 'x', 'type': 'u8'}", 1, "0701"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tendon_argument argument = {.number = rows[i].number};
        uint8_t out[TENDON_DEFINITION_VALUE];
        tendon_status length = encode(with_action(rows[i].field), &argument, 1, out);
        if (rows[i].hex == NULL) {
            assert_int_equal(length, TENDON_ERROR_INVALID_ARGUMENT);
            assert_int_equal(wrong, 0);
            continue;
        }
        assert_true(length > 0);
        assert_hex(out, (size_t)length, rows[i].hex);
    }
    const double none[] = {0.0 / 0.0, 1.0 / 0.0, -1.0 / 0.0};
    for (size_t i = 0; i < 3; i++) {
        uint8_t out[TENDON_DEFINITION_VALUE];
        const tendon_argument argument = {.number = none[i]};
        assert_int_equal(encode(with_action("{'name': 'x', 'type': 'u8'}"), &argument, 1, out),
                         TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(encode(with_action("{'name': 'x', 'type': 'f32'}"), &argument, 1, out),
                         TENDON_ERROR_INVALID_ARGUMENT);
    }
}

/* A time is text: of a device that counts UTC its zone is taken off, of others it has none. */
static void dates(void **state) {
    (void)state;
    static const struct {
        const char *field, *text, *hex;
    } rows[] = {
        {"'type': 'datetime'", "2026-11-29T13:07:30", "ea070b1d0d071e"},
        {"'type': 'datetime'", "2026-11-29T13:07:30+01:00", NULL}, /* the time of which place? */
        {"'type': 'datetime'", "2026-11-29", "ea070b1d000000"},
        {"'type': 'datetime'", "2026-11-29T13:07", "ea070b1d0d0700"},
        {"'type': 'datetime', 'endian': 'big'", "2026-11-29T13:07:30", "07ea0b1d0d071e"},
        {"'type': 'u32', 'epoch': '1970-01-01'", "2026-11-29T13:07:30", "92230c6b"},
        {"'type': 'u32', 'epoch': '1970-01-01'", "2026-11-29T14:07:30+01:00", "92230c6b"},
        {"'type': 'u32', 'epoch': '1970-01-01'", "2026-11-29T07:37:30-05:30", "92230c6b"},
        {"'type': 'u32', 'epoch': '1970-01-01', 'local': true", "2026-11-29T13:07:30", "92230c6b"},
        {"'type': 'u32', 'epoch': '1970-01-01', 'local': true", "2026-11-29T13:07:30-05:30", NULL},
        {"'type': 'u32', 'epoch': '1970-01-01'", "2026-11-29T13:07:30+1", NULL},
        {"'type': 'u32', 'epoch': '1970-01-01'", "2026-11-29T13:07:30+24:00", NULL},
        {"'type': 'u32', 'epoch': '1970-01-01'", "2026-11-29T13:07:30Zx", NULL},
        {"'type': 'u32', 'epoch': '2000-01-01', 'endian': 'big'", "2000-01-01T00:00:01Z", "00000001"},
        {"'type': 'u48', 'epoch': '1970-01-01', 'factor': 0.001", "1970-01-01T00:00:01", "e80300000000"},
        {"'type': 'u32', 'epoch': '1970-01-01'", "1969-12-31T23:59:59Z", NULL}, /* before */
        {"'type': 'u32', 'epoch': '1970-01-01'", "2106-02-07T06:28:16Z", NULL}, /* 2^32 s */
        {"'type': 'datetime'", "now", NULL},
        {"'type': 'datetime'", "", NULL},
        {"'type': 'datetime'", "2026", NULL},
        {"'type': 'datetime'", "2026-11", NULL},
        {"'type': 'datetime'", "2026-11-31", NULL},
        {"'type': 'datetime'", "2026-11-29T", NULL},
        {"'type': 'datetime'", "2026-11-29T13", NULL},
        {"'type': 'datetime'", "2026-11-29 13:07", NULL},
        {"'type': 'datetime'", "0000-01-01", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char fields[128];
        snprintf(fields, sizeof fields, "{'name': 't', %s}", rows[i].field);
        block text = block_copy((const uint8_t *)rows[i].text, strlen(rows[i].text));
        const tendon_argument argument = {.word = (const char *)text.data, .word_length = text.length};
        uint8_t out[TENDON_DEFINITION_VALUE];
        tendon_status length = encode(with_action(fields), &argument, 1, out);
        free(text.data);
        if (rows[i].hex == NULL) {
            assert_int_equal(length, TENDON_ERROR_INVALID_ARGUMENT);
            assert_int_equal(wrong, 0);
            continue;
        }
        assert_true(length > 0);
        assert_hex(out, (size_t)length, rows[i].hex);
    }
    const tendon_argument number = {.number = 1795957650};
    uint8_t out[TENDON_DEFINITION_VALUE];
    assert_int_equal(encode(with_action("{'name': 't', 'type': 'datetime'}"), &number, 1, out),
                     TENDON_ERROR_INVALID_ARGUMENT);
    /* Current Time (2A2B): day of the week not known, no fractions, a manual update. */
    const tendon_argument time = {.word = "2026-11-29T13:07:30", .word_length = 19};
    tendon_status length = encode(with_action("{'name': 't', 'type': 'datetime'}, {'type': 'u8', 'equals': 0}, "
                                              "{'type': 'u8', 'equals': 0}, {'type': 'u8', 'equals': 1}"),
                                  &time, 1, out);
    assert_true(length > 0);
    assert_hex(out, (size_t)length, "ea070b1d0d071e000001");
}

static void words(void **state) {
    (void)state;
    const tendon_definition *d = with_action("{'name': 'x', 'type': 'u8', 'values': [[0, 'off'], [5, 'on']]}");
    uint8_t out[TENDON_DEFINITION_VALUE];
    tendon_argument argument = {.word = "on!", .word_length = 2};
    assert_int_equal(encode(d, &argument, 1, out), 1);
    assert_hex(out, 1, "05");
    argument.word_length = 3;
    assert_int_equal(encode(d, &argument, 1, out), TENDON_ERROR_INVALID_ARGUMENT);
    argument.word_length = 1;
    assert_int_equal(encode(d, &argument, 1, out), TENDON_ERROR_INVALID_ARGUMENT);
}

static void text_and_bytes(void **state) {
    (void)state;
    static const struct {
        const char *field, *word;
        const char *hex; /* NULL: rejected */
    } rows[] = {
        {"{'name': 'x', 'type': 'utf8'}", "a b", "612062"},
        {"{'name': 'x', 'type': 'utf8'}", "", ""},
        {"{'name': 'x', 'type': 'utf8', 'at_least': 1}", "", NULL},
        {"{'name': 'x', 'type': 'utf8', 'at_most': 3}", "abc", "616263"},
        {"{'name': 'x', 'type': 'utf8', 'at_most': 3}", "abcd", NULL},
        {"{'name': 'x', 'type': 'utf8', 'length': 4}", "ab", "61620000"},
        {"{'name': 'x', 'type': 'utf8', 'length': 4}, {'type': 'u8', 'equals': 9}", "abcd", "6162636409"},
        {"{'name': 'x', 'type': 'utf8', 'length': 4}", "abcde", NULL},
        {"{'name': 'x', 'type': 'utf8', 'length': 1}", "ab", NULL},
        {"{'type': 'u8', 'equals': 1}, {'name': 'x', 'type': 'utf8'}", "7", "0137"},
        {"{'name': 'x', 'type': 'bytes'}", "00ffA5", "00ffa5"},
        {"{'name': 'x', 'type': 'bytes'}", "", ""},
        {"{'name': 'x', 'type': 'bytes'}", "0", NULL},
        {"{'name': 'x', 'type': 'bytes'}", "0g", NULL},
        {"{'name': 'x', 'type': 'bytes', 'length': 2}", "0102", "0102"},
        {"{'name': 'x', 'type': 'bytes', 'length': 2}", "01", NULL},
        {"{'name': 'x', 'type': 'bytes', 'length': 2}", "010203", NULL},
        {"{'name': 'x', 'type': 'bytes', 'at_most': 2}", "010203", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tendon_definition *d = with_action(rows[i].field);
        const tendon_argument argument = {.word = rows[i].word, .word_length = strlen(rows[i].word)};
        const tendon_argument number = {.number = 7};
        uint8_t out[TENDON_DEFINITION_VALUE];
        tendon_status length = encode(d, &argument, 1, out);
        assert_int_equal(encode(d, &number, 1, out), TENDON_ERROR_INVALID_ARGUMENT);
        if (rows[i].hex == NULL) {
            assert_int_equal(length, TENDON_ERROR_INVALID_ARGUMENT);
            assert_int_equal(wrong, 0);
            continue;
        }
        assert_int_equal(encode(d, &argument, 1, out), length);
        assert_hex(out, (size_t)length, rows[i].hex);
    }
}

/* As many bytes as a value has, behind a number. */
static void longest_text(void **state) {
    (void)state;
    const tendon_definition *d = with_action("{'name': 'n', 'type': 'u8'}, {'name': 'x', 'type': 'utf8'}");
    char text[TENDON_DEFINITION_VALUE + 1];
    memset(text, 'x', sizeof text);
    for (size_t length = 0; length <= sizeof text; length++) {
        const tendon_argument arguments[2] = {{.number = 3}, {.word = text, .word_length = length}};
        uint8_t out[TENDON_DEFINITION_VALUE];
        tendon_status status = encode(d, arguments, 2, out);
        assert_int_equal(status,
                         length < TENDON_DEFINITION_VALUE ? (tendon_status)length + 1 : TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(wrong, 1);
    }
}

static void counts(void **state) {
    (void)state;
    const tendon_definition *d = with_action(
        "{'name': 'a', 'type': 'u8'}, {'type': 'u16', 'equals': 258}, {'name': 'b', 'type': 'u8', 'max': 9}");
    uint16_t fields[4] = {0};
    uint8_t out[TENDON_DEFINITION_VALUE];
    const tendon_argument arguments[3] = {{.number = 1}, {.number = 10}, {.number = 3}};
    assert_int_equal(tendon_action_arguments(d, 0, fields, 4), 2);
    assert_int_equal(fields[1] - fields[0], 2);
    assert_int_equal(encode(d, arguments, 1, out), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wrong, 2);
    assert_int_equal(encode(d, arguments, 3, out), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wrong, 2);
    assert_int_equal(encode(d, arguments, 2, out), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(wrong, 1);
    assert_int_equal(encode(d, &arguments[1], 2, out), 4);
    assert_hex(out, 4, "0a 0201 03");
    assert_int_equal(tendon_definition_action_named(d, "act"), 0);
    assert_int_equal(tendon_definition_action_named(d, "ac"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(dates),        cmocka_unit_test(numbers),
                                       cmocka_unit_test(words),        cmocka_unit_test(text_and_bytes),
                                       cmocka_unit_test(longest_text), cmocka_unit_test(counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
