/* SPDX-License-Identifier: MIT */
/* Words to actions, and the sentences about words that are none. */
#include "../definition/definition_fixture.h"
#include "gateway_fixture.h"

static tendon_act act;
static tendon_act_mistake mistake;

static tendon_status parse_of(const char *family, const tendon_definition *definition, const char *text) {
    block exact = block_copy(text, strlen(text));
    memset(&act, 0xA5, sizeof act);
    mistake = (tendon_act_mistake){.word = 99};
    tendon_status status =
        tendon_act_parse_text(family, definition, (const char *)exact.data, exact.length, &act, &mistake);
    free(exact.data);
    assert_non_null(memchr(mistake.text, 0, sizeof mistake.text));
    return status;
}

static void right(void **state) {
    (void)state;
    static const struct {
        const char *family, *text;
        tendon_act_kind kind;
        int32_t number;
        uint32_t detail;
    } rows[] = {
        {"activ5", "tare", TENDON_ACT_ACTIV5_TARE, 0, 0},
        {"activ5", "  start\t ", TENDON_ACT_ACTIV5_START, 0, 0},
        {"activ5", "stop", TENDON_ACT_ACTIV5_STOP, 0, 0},
        {"feelspace", "signal goal_reached", TENDON_ACT_FEELSPACE_SIGNAL, TENDON_FEELSPACE_SIGNAL_GOAL_REACHED, 0},
        {"feelspace", "signal warning", TENDON_ACT_FEELSPACE_SIGNAL, TENDON_FEELSPACE_SIGNAL_WARNING, 0},
        {"feelspace", "vibrate -90", TENDON_ACT_FEELSPACE_VIBRATE, -90, 0},
        {"feelspace", "vibrate +90", TENDON_ACT_FEELSPACE_VIBRATE, 90, 0},
        {"feelspace", "vibrate 90.4", TENDON_ACT_FEELSPACE_VIBRATE, 90, 0},
        {"feelspace", "vibrate 90.5", TENDON_ACT_FEELSPACE_VIBRATE, 91, 0},
        {"feelspace", "vibrate -0.5", TENDON_ACT_FEELSPACE_VIBRATE, -1, 0},
        {"feelspace", "vibrate 9e1", TENDON_ACT_FEELSPACE_VIBRATE, 90, 0},
        {"feelspace", "vibrate 2147483647", TENDON_ACT_FEELSPACE_VIBRATE, INT32_MAX, 0},
        {"feelspace", "vibrate -2147483648", TENDON_ACT_FEELSPACE_VIBRATE, INT32_MIN, 0},
        {"feelspace", "mode crossing", TENDON_ACT_FEELSPACE_MODE, TENDON_FEELSPACE_MODE_CROSSING, 0},
        {"feelspace", "mode standby", TENDON_ACT_FEELSPACE_MODE, TENDON_FEELSPACE_MODE_STANDBY, 0},
        {"feelspace", "stop", TENDON_ACT_FEELSPACE_STOP, 0, 0},
        {"fjorden", "led blinkFast 500", TENDON_ACT_FJORDEN_LED, 3, 500},
        {"fjorden", "led off", TENDON_ACT_FJORDEN_LED, 0, 0},
        {"fjorden", "led on 65535", TENDON_ACT_FJORDEN_LED, 1, 65535},
        {"obvious", "toggle 1024 on", TENDON_ACT_OBVIOUS_TOGGLE, 1024, 1},
        {"obvious", "toggle 0x10 off", TENDON_ACT_OBVIOUS_TOGGLE, 16, 2},
        {"obvious", "toggle 1 flip", TENDON_ACT_OBVIOUS_TOGGLE, 1, 0},
        {"obvious", "firmware check", TENDON_ACT_OBVIOUS_FIRMWARE, 0, 0},
        {"obvious", "firmware upgrade", TENDON_ACT_OBVIOUS_FIRMWARE, 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(parse_of(rows[i].family, NULL, rows[i].text), TENDON_OK);
        assert_int_equal(act.kind, rows[i].kind);
        assert_int_equal(act.number, rows[i].number);
        assert_int_equal(act.detail, rows[i].detail);
    }
}

static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *family, *text;
        size_t word;
        const char *mistake;
    } rows[] = {
        {"activ5", "", 0, "the name of an action is missing; known: tare, start, stop"},
        {"activ5", "tara", 0, "unknown action of activ5 'tara'; did you mean 'tare'?"},
        {"activ5", "jump", 0, "unknown action of activ5 'jump'; known: tare, start, stop"},
        {"activ5", "signal", 0, "unknown action of activ5 'signal'; known: tare, start, stop"},
        {"activ5", "stop now", 1, "it takes no arguments, not 'now'"},
        {"bose", "stop", 0, "bose has no actions"},
        {"bose", "", 0, "bose has no actions"},
        {"feelspace", "signal", 1, "signal takes one of: warning, goal_reached, battery"},
        {"feelspace", "signal warning battery", 2, "signal takes one of: warning, goal_reached, battery"},
        {"feelspace", "signal warnign", 1, "unknown signal 'warnign'; did you mean 'warning'?"},
        {"feelspace", "signal loud", 1, "unknown signal 'loud'; known: warning, goal_reached, battery"},
        {"feelspace", "mode calibration", 1,
         "unknown mode 'calibration'; known: standby, wait, compass, app, pause, crossing"},
        {"feelspace", "mode AP", 1, "unknown mode 'AP'; did you mean 'app'?"},
        {"feelspace", "vibrate", 1, "vibrate takes an angle in degrees"},
        {"feelspace", "vibrate 2147483648", 1, "vibrate takes an angle in degrees"},
        {"feelspace", "vibrate 1e999", 1, "vibrate takes an angle in degrees"},
        {"feelspace", "vibrate nan", 1, "vibrate takes an angle in degrees"},
        {"feelspace", "vibrate 1 2", 2, "vibrate takes an angle in degrees"},
        {"feelspace", "vibrate 9223372036854775808", 1, "vibrate takes an angle in degrees"},
        {"feelspace", "vibrate -", 1, "vibrate takes an angle in degrees"},
        {"feelspace", "stop 3", 1, "it takes no arguments, not '3'"},
        {"fjorden", "led", 1, "led takes off, on, blinkSlow or blinkFast, and milliseconds if you like"},
        {"fjorden", "led blink", 1, "led takes off, on, blinkSlow or blinkFast, and milliseconds if you like"},
        {"fjorden", "led on 1 2", 3, "led takes off, on, blinkSlow or blinkFast, and milliseconds if you like"},
        {"fjorden", "led on 65536", 2, "led's milliseconds are a number up to 65535"},
        {"fjorden", "led on -1", 2, "led's milliseconds are a number up to 65535"},
        {"obvious", "toggle", 1, "toggle takes a feature, and on, off or flip"},
        {"obvious", "toggle 5", 2, "toggle takes a feature, and on, off or flip"},
        {"obvious", "toggle 5 maybe", 2, "toggle takes a feature, and on, off or flip"},
        {"obvious", "toggle 5 on off", 3, "toggle takes a feature, and on, off or flip"},
        {"obvious", "toggle 0 on", 1, "'0' is not the number of a feature, 1 to 1024"},
        {"obvious", "toggle 1025 on", 1, "'1025' is not the number of a feature, 1 to 1024"},
        {"obvious", "toggle x\x1B on", 1, "'x\xEF\xBF\xBD' is not the number of a feature, 1 to 1024"},
        {"obvious", "firmware", 1, "firmware takes check or upgrade"},
        {"obvious", "firmware downgrade", 1, "firmware takes check or upgrade"},
        {"obvious", "firmware check now", 2, "firmware takes check or upgrade"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_status status = parse_of(rows[i].family, NULL, rows[i].text);
        assert_string_equal(mistake.text, rows[i].mistake);
        assert_int_equal(mistake.word, rows[i].word);
        assert_int_equal(status, rows[i].word == 0 ? TENDON_ERROR_NOT_FOUND : TENDON_ERROR_INVALID_ARGUMENT);
    }
}

/* What help prints is what parses: each name of the table with the first of its words. */
static void help(void **state) {
    (void)state;
    size_t count = 0;
    for (const tendon_act_help *one = tendon_act_at(0); one != NULL; one = tendon_act_at(++count)) {
        assert_non_null(tendon_family_find(one->family));
        char text[100];
        snprintf(text, sizeof text, "%s %s", one->name, one->arguments);
        for (char *at = text; *at != '\0'; at++) {
            if (*at == '|' || *at == '[') { /* the rest of the choices, and what is optional */
                char *rest = strchr(at, ' ');
                memmove(at, rest != NULL ? rest : at + strlen(at), strlen(rest != NULL ? rest : "") + 1);
            }
        }
        const char *const names[][2] = {{"ANGLE", "45   "}, {"MODE", "wait"}, {"FEATURE", "7      "}, {"MS]", "   "}};
        for (size_t i = 0; i < 4; i++) {
            char *place = strstr(text, names[i][0]);
            if (place != NULL) {
                memcpy(place, names[i][1], strlen(names[i][0]));
            }
        }
        assert_int_equal(parse_of(one->family, NULL, text), TENDON_OK);
        assert_int_equal(act.kind, one->kind);
    }
    assert_int_equal(count, TENDON_ACT_DEFINED - 1);
}

static const tendon_definition *toy(const char *fields) {
    char text[2048];
    snprintf(text, sizeof text,
             "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': [{'name': 'v', "
             "'service': 'fff0', 'uuid': 'fff1', 'write': [%s]}], 'actions': [{'name': 'set_it', 'characteristic': "
             "'v'}]}",
             fields);
    return parsed(text);
}

static void defined(void **state) {
    (void)state;
    static const struct {
        const char *fields, *text;
        const char *hex; /* NULL: a mistake */
        const char *mistake;
    } rows[] = {
        {"{'name': 'rate_hz', 'type': 'u8'}", "set_it 100", "64", NULL},
        {"{'name': 'rate_hz', 'type': 'u16', 'factor': 0.01}", "set_it 1.5e1", "dc05", NULL},
        {"{'name': 'rate_hz', 'type': 'f32'}", "set_it -.5", "000000bf", NULL},
        {"{'name': 'on', 'type': 'u8', 'values': [[0, 'off'], [5, 'on']]}", "set_it on", "05", NULL},
        {"{'type': 'u8', 'equals': 7}, {'name': 'key', 'type': 'bytes', 'length': 2}", "set_it 00Ff", "0700ff", NULL},
        {"{'name': 'pin', 'type': 'utf8', 'length': 4}", "set_it 12", "31320000", NULL},
        {"{'name': 'at', 'type': 'datetime'}", "set_it 2026-11-29T13:07:30", "ea070b1d0d071e", NULL},
        {"{'name': 'at', 'type': 'datetime'}", "set_it 2026-11-29T13:07:30+01:00", NULL,
         "at takes now or a time of the place, without a zone, such as 2026-11-29T13:07:30, not "
         "'2026-11-29T13:07:30+01:00'"},
        {"{'name': 'at', 'type': 'u32', 'epoch': '1970-01-01', 'local': true}", "set_it 2026-11-29T13:07:30Z", NULL,
         "at takes now or a time of the place, without a zone, such as 2026-11-29T13:07:30, not "
         "'2026-11-29T13:07:30Z'"},
        {"{'name': 'at', 'type': 'u32', 'epoch': '1970-01-01'}", "set_it 2026-11-29T14:07:30+01:00", "92230c6b", NULL},
        {"{'name': 'at', 'type': 'u32', 'epoch': '1970-01-01'}", "set_it 1795957650", NULL,
         "at takes now or a time such as 2026-11-29T13:07:30, not '1795957650'"},
        {"{'type': 'u8', 'equals': 7}", "set_it", "07", NULL},
        /* a name that is a number: the name, which a choice in Home Assistant sends */
        {"{'name': 'range', 'type': 'u8', 'values': [[0, '2'], [1, '4'], [2, '8']]}", "set_it 2", "00", NULL},
        {"{'name': 'range', 'type': 'u8', 'values': [[0, '2'], [1, '4'], [2, '8']]}", "set_it 4.0", "04", NULL},
        {"{'name': 'range', 'type': 'u8', 'values': [[0, '2'], [1, '4'], [2, '8']]}", "set_it 9", "09", NULL},
        {"{'name': 'range', 'type': 'u8', 'values': [[0, '2'], [1, '4'], [2, '8']]}", "set_it 256", NULL,
         "unknown range '256'; known: 2, 4, 8"},
        {"{'name': 'rate_hz', 'type': 'u16'}", "set_it 0x1F4", "f401", NULL},
        {"{'name': 'x', 'type': 'u64'}", "set_it 9007199254740991", "ffffffffffff1f00", NULL},
        {"{'name': 'x', 'type': 'u64'}", "set_it 9007199254740993", "0100000000002000", NULL},
        {"{'name': 'x', 'type': 'i64'}", "set_it -9223372036854775808", "0000000000000080", NULL},
        {"{'name': 'x', 'type': 'i64'}", "set_it -9223372036854775807", "0100000000000080", NULL},
        {"{'name': 'x', 'type': 'i64'}", "set_it 9223372036854775807", "ffffffffffffff7f", NULL},
        {"{'name': 'x', 'type': 'i64'}", "set_it 9223372036854775808", NULL,
         "x takes a whole number from -9223372036854775808 to 9223372036854775807, not '9223372036854775808'"},
        {"{'name': 'x', 'type': 'u64', 'max': 7}", "set_it 8", NULL, "x takes a whole number from 0 to 7, not '8'"},
        {"{'name': 'x', 'type': 'i64'}", "set_it 1.5", NULL,
         "x takes a whole number from -9223372036854775808 to 9223372036854775807, not '1.5'"},
        {"{'name': 'x', 'type': 'i16'}", "set_it 2.0", "0200", NULL},
        {"{'name': 'x', 'type': 'i16', 'factor': 0.1}", "set_it 0.26", "0300", NULL}, /* the nearest step */
        {"{'name': 'x', 'type': 'u8', 'factor': -0.5, 'offset': 100}", "set_it 101", NULL,
         "x takes a number from -27.5 to 100, not '101'"},
        {"{'name': 'x', 'type': 'f32'}", "set_it 1e39", NULL, "x takes a number that 32 bits can have, not '1e39'"},
        {"{'name': 'x', 'type': 'u48', 'factor': 0.5}", "set_it 9007199254740993", NULL,
         "x takes a number from 0 to 140737488355327.5, not '9007199254740993'"},
        {"{'type': 'u8', 'equals': 7}", "set_it 1", NULL, "it takes no arguments"},
        {"{'name': 'rate_hz', 'type': 'u8'}, {'name': 'on', 'type': 'u8', 'values': [[0, 'off'], [5, 'on']]}",
         "set_it 1", NULL, "it takes 2: RATE_HZ off|on"},
        {"{'name': 'rate_hz', 'type': 'u8', 'min': 1, 'max': 99}", "set_it 100", NULL,
         "rate_hz takes a whole number from 1 to 99, not '100'"},
        {"{'name': 'rate_hz', 'type': 'i8', 'factor': 0.5}", "set_it fast", NULL,
         "rate_hz takes a number from -64 to 63.5, not 'fast'"},
        {"{'name': 'on', 'type': 'u8', 'values': [[0, 'off'], [5, 'on']]}", "set_it onn", NULL,
         "unknown on 'onn'; did you mean 'on'?"},
        {"{'name': 'key', 'type': 'bytes', 'length': 2}", "set_it 00f", NULL,
         "key takes 2 bytes as hexadecimal digits, not '00f'"},
        {"{'name': 'pin', 'type': 'utf8', 'length': 4}", "set_it 12345", NULL,
         "pin takes text of at most 4 bytes, not '12345'"},
        {"{'type': 'u16', 'equals': 7}, {'name': 'pin', 'type': 'utf8'}",
         "set_it 1234567890123456789012345678901234567890123456789012345678901234", NULL,
         "pin takes text of at most 62 bytes, not '1234567890123456789012345678901234567890123456789012345678901234'"},
        {"{'type': 'u16', 'equals': 7}, {'name': 'key', 'type': 'bytes', 'at_most': 63}", "set_it 0", NULL,
         "key takes at most 62 bytes as hexadecimal digits, not '0'"},
        {"{'type': 'u8', 'equals': 7}", "set", NULL, "unknown action of toy 'set'; known: set_it"},
        {"{'type': 'u8', 'equals': 7}", "", NULL, "the name of an action is missing; known: set_it"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tendon_definition *definition = toy(rows[i].fields);
        tendon_status status = parse_of("ignored", definition, rows[i].text);
        if (rows[i].hex == NULL) {
            assert_true(status < 0);
            assert_string_equal(mistake.text, rows[i].mistake);
            continue;
        }
        assert_int_equal(status, TENDON_OK);
        assert_int_equal(act.kind, TENDON_ACT_DEFINED);
        assert_ptr_equal(act.defined, definition);
        assert_hex(act.bytes, act.length, rows[i].hex);
    }
}

/* What is written is read as the same word. */
static void quotation_marks(void **state) {
    (void)state;
    static const struct {
        const char *word, *written;
    } rows[] = {
        {"go", "go"},       {"", "\"\""},          {"a b", "\"a b\""},         {"a\tb", "\"a\\tb\""},
        {"\"", "\"\\\"\""}, {"a\"\\", "a\"\\"},    {"\"a\\", "\"\\\"a\\\\\""}, {"a \n\"\\", "\"a \\n\\\"\\\\\""},
        {"\r", "\"\\r\""},  {"a\nb", "\"a\\nb\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = strlen(rows[i].word), own = 0;
        char out[32], back[32];
        size_t written = tendon_act_quote(rows[i].word, length, out);
        assert_in_range(written, 1, 2 * length + 2);
        assert_int_equal(written, strlen(rows[i].written));
        assert_memory_equal(out, rows[i].written, written);
        tendon_act_word word;
        assert_int_equal(tendon_act_next_word(out, written, 0, &word), written);
        assert_int_equal(word.length, written);
        if (out[0] == '"') {
            assert_int_equal(tendon_act_unquote(out, written, back, &own), written);
            assert_int_equal(own, length);
            assert_memory_equal(back, rows[i].word, length);
            assert_int_equal(tendon_act_unquote(out, written - 1, back, &own), 0);
        }
    }
    size_t own = 0;
    char back[8];
    assert_int_equal(tendon_act_unquote("\"a\\nb\" c", 8, back, &own), 6);
    assert_memory_equal(back, "a\nb", own);
    assert_int_equal(tendon_act_unquote("a", 1, back, &own), 0);
}

static void quoted(void **state) {
    (void)state;
    static const char text[] = "{'name': 'text', 'type': 'utf8'}";
    static const char choice[] = "{'name': 'x', 'type': 'u8', 'values': [[7, 'all off'], [8, 'all on']]}";
    static const struct {
        const char *fields, *text, *hex; /* NULL: a mistake */
    } rows[] = {
        {text, "set_it \"HELLO WORLD\"", "48454c4c4f20574f524c44"},
        {text, "set_it LED1.set()\n", "4c4544312e73657428290a"}, /* a newline separates no words */
        {text, "set_it \"LED1.set()\\n\" ", "4c4544312e73657428290a"},
        {text, "set_it \"\\r\\t\\\"\\\\x\n\"", "0d09225c780a"},
        {text, "set_it \"\\x\"", NULL},
        {text, "set_it \"\"", ""},
        {text, "set_it a\"b", "612262"},
        {choice, "set_it \"all on\"", "08"},
        {choice, "set_it all on", NULL},
        {text, "set_it \"a", NULL},
        {text, "set_it \"", NULL},
        {text, "set_it \"a\"b", NULL},
        {text, "set_it \"a\\\"", NULL},
        {text, "set_it \"a\\", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_status status = parse_of("ignored", toy(rows[i].fields), rows[i].text);
        assert_int_equal(status, rows[i].hex != NULL ? TENDON_OK : TENDON_ERROR_INVALID_ARGUMENT);
        if (rows[i].hex != NULL) {
            assert_hex(act.bytes, act.length, rows[i].hex);
        } else if (rows[i].fields == text) {
            assert_string_equal(mistake.text, "a word in quotation marks is too long, not closed at its end, or has "
                                              "another escape than \\n \\r \\t \\\" \\\\");
            assert_int_equal(mistake.word, 1);
        }
    }
    /* more than there is room for */
    char many[600] = "set_it";
    for (size_t i = 0; i < 60; i++) {
        strcat(many, " \"abcd\"");
    }
    assert_int_equal(parse_of("ignored", toy(text), many), TENDON_ERROR_INVALID_ARGUMENT);
}

/* Numbers as people type them: near enough to what the C library of this machine reads. */
static void numbers(void **state) {
    (void)state;
    static const char *const right[] = {"0",
                                        "-0",
                                        "1",
                                        "1.",
                                        ".5",
                                        "-1.25",
                                        "1e3",
                                        "1E-3",
                                        "+2e+2",
                                        "123456789012345678901234567890",
                                        "0.000000000000000000000123",
                                        "1e308",
                                        "5e-324",
                                        "1e-400",
                                        "0e999",
                                        "3.4028234e38"};
    static const char *const wrong[] = {"",    ".",  "-",   "e5", "1e",  "1e+", "1.2.3",
                                        "1,5", "0x", "0xg", "1 ", "nan", "inf"};
    const tendon_definition *definition = toy("{'name': 'x', 'type': 'f32'}");
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        char text[60];
        snprintf(text, sizeof text, "set_it %s", right[i]);
        float expected = (float)strtod(right[i], NULL);
        tendon_status status = parse_of("", definition, text);
        if (expected - expected != 0) { /* larger than a float */
            assert_true(status < 0);
            continue;
        }
        assert_int_equal(status, TENDON_OK);
        uint32_t bits;
        memcpy(&bits, &expected, sizeof bits);
        const uint8_t bytes[] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16), (uint8_t)(bits >> 24)};
        assert_memory_equal(act.bytes, bytes, sizeof bytes);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const tendon_act_word words[] = {{"set_it", 6}, {wrong[i], strlen(wrong[i])}};
        assert_int_equal(tendon_act_parse("", definition, words, 2, &act, &mistake), TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(mistake.word, 1);
    }
}

/* A sentence that does not fit ends between two characters. */
static void long_words(void **state) {
    (void)state;
    char text[1000];
    for (size_t length = 1; length < 400; length++) {
        snprintf(text, sizeof text, "toggle ");
        for (size_t i = 0; i < length; i++) {
            memcpy(text + 7 + 2 * i, "\xC3\xA9", 2);
        }
        memcpy(text + 7 + 2 * length, " on", 4);
        assert_int_equal(parse_of("obvious", NULL, text), TENDON_ERROR_INVALID_ARGUMENT);
        size_t end = strlen(mistake.text);
        assert_true(end < sizeof mistake.text);
        assert_true(((uint8_t)mistake.text[end - 1] & 0xC0) != 0xC0);
    }
    /* more words than any action has */
    memset(text, ' ', sizeof text);
    for (size_t i = 0; i + 1 < sizeof text; i += 2) {
        text[i] = 'a';
    }
    memcpy(text, "tare ", 5);
    text[sizeof text - 1] = '\0';
    assert_int_equal(parse_of("activ5", NULL, text), TENDON_ERROR_INVALID_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right),   cmocka_unit_test(mistakes),   cmocka_unit_test(help),
        cmocka_unit_test(defined), cmocka_unit_test(quoted),     cmocka_unit_test(quotation_marks),
        cmocka_unit_test(numbers), cmocka_unit_test(long_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
