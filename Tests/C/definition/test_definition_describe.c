/* SPDX-License-Identifier: MIT */
/* Layouts and literal bytes. The formats of numbers: Core Specification Vol 3 Part G and GATT Specification
 * Supplement 2. */
#include "definition_fixture.h"

static void integers(void **state) {
    (void)state;
    static const struct {
        const char *type, *hex, *text;
    } rows[] = {
        {"u8", "ff", "x=255"},
        {"i8", "80", "x=-128"},
        {"u16", "3412", "x=4660"},
        {"i16", "feff", "x=-2"},
        {"u24", "563412", "x=1193046"},
        {"i24", "000080", "x=-8388608"},
        {"u32", "ffffffff", "x=4294967295"},
        {"i32", "00000080", "x=-2147483648"},
        {"u48", "ffffffffffff", "x=281474976710655"},
        {"i48", "feffffffffff", "x=-2"},
        {"i48", "ffffffffff7f", "x=140737488355327"},
        {"u64", "ffffffffffffff7f", "x=9223372036854775807"},
        {"u64", "ffffffffffffffff", "x=18446744073709551616"}, /* not exact */
        {"i64", "0000000000000080", "x=-9223372036854775808"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char fields[128];
        snprintf(fields, sizeof fields, "{'name': 'x', 'type': '%s'}", rows[i].type);
        assert_string_equal(described(with_fields(fields), rows[i].hex), rows[i].text);
        block cut = block_hex(rows[i].hex);
        for (size_t length = 0; length < cut.length; length++) {
            size_t offset = 99;
            block part = block_copy(cut.data, length);
            assert_int_equal(tendon_describe(with_fields(fields), 0, part.data, length, NULL, NULL, NULL, &offset),
                             TENDON_ERROR_TRUNCATED);
            assert_int_equal(offset, 0);
            free(part.data);
        }
        free(cut.data);
    }
}

static void endian(void **state) {
    (void)state;
    assert_string_equal(described(with_fields("{'name': 'x', 'type': 'u16', 'endian': 'big'}"), "1234"), "x=4660");
    assert_string_equal(described(with_fields("{'name': 'x', 'type': 'i24', 'endian': 'big'}"), "fffffe"), "x=-2");
    const tendon_definition *d =
        parsed("{'name': 'toy', 'title': 'Toy', 'endian': 'big', 'find': {'name': 'Toy*'}, 'characteristics': ["
               "{'name': 'value', 'service': 'fff0', 'uuid': 'fff1', 'notify': [{'name': 'a', 'type': 'u16'}, "
               "{'name': 'b', 'type': 'u16', 'endian': 'little'}]}]}");
    assert_string_equal(described(d, "12341234"), "a=4660 b=13330");
}

static void floats(void **state) {
    (void)state;
    const tendon_definition *d = with_fields("{'name': 'x', 'type': 'f32'}");
    assert_string_equal(described(d, "0000c03f"), "x=1.500000");
    static const struct {
        const char *bytes, *text;
    } small[] = {{"95bfd633", "x=0.000000100"}, {"5b2a4a38", "x=0.000048200"},
                 {"0ad7a33c", "x=0.02000000"},  {"cdcccc3d", "x=0.1000000"},
                 {"295cab41", "x=21.42000"},    {"65 20 f1 c7", "x=-123456.8"},
                 {"ffff7f4b", "x=16777215"},    {"ec78ad60", "x=100000002004087734272"},
                 {"01000000", "x=0.000000000"}};
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        assert_string_equal(described(d, small[i].bytes), small[i].text);
    }
    assert_string_equal(described(with_fields("{'name': 'x', 'type': 'f32', 'factor': 1e-6}"), "33334142"),
                        "x=0.000048300");
    assert_string_equal(described(d, "0000c07f"), "x=nothing"); /* not a number */
    assert_string_equal(described(d, "000080ff"), "x=nothing"); /* minus infinity */
    /* GATT Specification Supplement 2.4.1: 0x0072 = 114; -3 and 36.4 in the Health Thermometer's examples */
    d = with_fields("{'name': 'x', 'type': 'sfloat'}");
    assert_string_equal(described(d, "7200"), "x=114");
    assert_string_equal(described(d, "6cf1"), "x=36.4");
    assert_string_equal(described(d, "fdff"), "x=-0.3");
    assert_string_equal(described(d, "0510"), "x=50");
    static const char *const special[] = {"ff07", "0008", "fe07", "0208", "0108"};
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        assert_string_equal(described(d, special[i]), "x=nothing");
    }
    assert_string_equal(described(d, "fd07"), "x=2045");
    d = with_fields("{'name': 'x', 'type': 'float'}");
    assert_string_equal(described(d, "6c0100ff"), "x=36.4");
    assert_string_equal(described(d, "ffff7f00"), "x=nothing");
    assert_string_equal(described(d, "00008000"), "x=nothing");
    assert_string_equal(described(d, "010000f0"), "x=0.000000000");
}

/* Date Time, GATT Specification Supplement 3.71: year, month, day, hours, minutes, seconds. */
static void dates(void **state) {
    (void)state;
    const tendon_definition *d =
        with_fields("{'name': 't', 'type': 'datetime'}, {'name': 'n', 'type': 'u8', 'optional': true}");
    assert_string_equal(described(d, "ea070b1d0d071e"), "t='2026-11-29T13:07:30'");
    assert_string_equal(described(d, "d0070101000000 05"), "t='2000-01-01T00:00:00' n=5");
    assert_string_equal(described(d, "0000 0b1d0d071e"), "t=nothing"); /* 0 is not known */
    assert_string_equal(described(d, "ea07 001d0d071e"), "t=nothing");
    assert_string_equal(described(d, "ea07 0b000d071e"), "t=nothing");
    static const char *const none[] = {"ea070d1d0d071e", "ea07021d0d071e", "ea070b1f0d071e", "ea070b1d18071e",
                                       "ea070b1d0d3c1e", "ea070b1d0d073c", "10270b1d0d071e"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_string_equal(described(d, none[i]), "!MALFORMED at 0");
    }
    assert_string_equal(described(d, "ea070b1d0d07"), "!TRUNCATED at 0");
    d = with_fields("{'name': 't', 'type': 'datetime', 'endian': 'big'}");
    assert_string_equal(described(d, "07ea0b1d0d071e"), "t='2026-11-29T13:07:30'");
    assert_string_equal(
        described(with_fields("{'name': 't', 'records': [{'name': 'at', 'type': 'datetime'}]}"), "ea070b1d0d071e"),
        "t=[{at='2026-11-29T13:07:30'}]");
}

/* Unix time 1795957650 is 2026-11-29T13:07:30Z. */
static void epochs(void **state) {
    (void)state;
    static const struct {
        const char *field, *hex, *text;
    } rows[] = {
        {"'type': 'u32', 'epoch': '1970-01-01'", "92230c6b", "t='2026-11-29T13:07:30Z'"},
        {"'type': 'u32', 'epoch': '1970-01-01', 'local': true", "92230c6b", "t='2026-11-29T13:07:30'"},
        {"'type': 'u32', 'epoch': '1970-01-01', 'local': false", "00000000", "t='1970-01-01T00:00:00Z'"},
        {"'type': 'u32', 'epoch': '1970-01-01', 'unknown': 0", "00000000", "t=nothing"},
        {"'type': 'u32', 'epoch': '2000-01-01', 'endian': 'big'", "00000001", "t='2000-01-01T00:00:01Z'"},
        {"'type': 'u32', 'epoch': '1980-01-06T00:00:00'", "00000000", "t='1980-01-06T00:00:00Z'"},
        {"'type': 'u32', 'epoch': '2000-01-01T01:00:00+01:00'", "00000000", "t='2000-01-01T00:00:00Z'"},
        {"'type': 'u64', 'epoch': '1970-01-01', 'factor': 0.001", "59f26a27a2010000", "t='2026-11-29T13:07:30.009Z'"},
        {"'type': 'u64', 'epoch': '1970-01-01', 'divisor': 1000", "e703000000000000", "t='1970-01-01T00:00:00.999Z'"},
        {"'type': 'u64', 'epoch': '2000-01-01', 'factor': 1e-9, 'decimals': 3", "000084b667c3c40b",
         "t='2026-11-15T00:24:40.064Z'"},
        {"'type': 'u16', 'epoch': '2000-01-01', 'factor': 86400", "3c00", "t='2000-03-01T00:00:00Z'"}, /* days */
        {"'type': 'i32', 'epoch': '1970-01-01'", "ffffffff", "t='1969-12-31T23:59:59Z'"},
        {"'type': 'i64', 'epoch': '1970-01-01', 'factor': 0.001", "ffffffffffffffff", "t='1969-12-31T23:59:59.999Z'"},
        {"'type': 'u64', 'epoch': '1970-01-01'", "ffffffffffffffff", "t=nothing"},
        {"'type': 'u64', 'epoch': '1970-01-01'", "ffffffffffffff7f", "t=nothing"},
        {"'type': 'i64', 'epoch': '1970-01-01', 'factor': 1e30", "ffffffffffffff7f", "t=nothing"},
        {"'type': 'u48', 'epoch': '1970-01-01'", "ffffff7f3b00", "t=nothing"}, /* 9999 is the last year */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char fields[160];
        snprintf(fields, sizeof fields, "{'name': 't', %s}", rows[i].field);
        assert_string_equal(described(with_fields(fields), rows[i].hex), rows[i].text);
    }
    assert_string_equal(described(with_fields("{'name': 't', 'type': 'u32', 'epoch': '1970-01-01'}"), "92230c"),
                        "!TRUNCATED at 0");
}

static void scales(void **state) {
    (void)state;
    assert_string_equal(described(with_fields("{'name': 't', 'type': 'i16', 'factor': 0.01}"), "c409"), "t=25.00");
    assert_string_equal(described(with_fields("{'name': 't', 'type': 'i16', 'factor': 0.01}"), "feff"), "t=-0.02");
    assert_string_equal(described(with_fields("{'name': 't', 'type': 'u16', 'divisor': 1024}"), "0004"), "t=1.0000");
    assert_string_equal(described(with_fields("{'name': 't', 'type': 'u8', 'offset': -40}"), "00"), "t=-40");
    assert_string_equal(described(with_fields("{'name': 't', 'type': 'u8', 'factor': 0.5, 'offset': -40}"), "51"),
                        "t=0.5");
    assert_string_equal(described(with_fields("{'name': 't', 'type': 'u8', 'factor': 10}"), "05"), "t=50");
    assert_string_equal(described(with_fields("{'name': 't', 'type': 'u8', 'factor': 0.5, 'decimals': 3}"), "05"),
                        "t=2.500");
}

/* Those of the step, and of the offset: 24.95 is 298.1 K. A step that is no decimal number has as many as tell its
 * neighbors apart. */
static void usual_decimals(void **state) {
    (void)state;
    static const struct {
        const char *scale, *text;
    } rows[] = {
        {"'factor': 0.1", "x=298.1"},    {"'factor': 0.1, 'offset': -273.15", "x=24.95"},
        {"'divisor': 4", "x=745.25"},    {"'factor': 0.125", "x=372.625"},
        {"'factor': 2.5", "x=7452.5"},   {"'factor': 0.02", "x=59.62"},
        {"'divisor': 16", "x=186.3125"}, {"'divisor': 1024", "x=2.9111"},
        {"'divisor': 3", "x=993.7"},     {"'offset': 0.5", "x=2981.5"},
        {"'offset': -40", "x=2941"},     {"'factor': 1000", "x=2981000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char fields[128];
        snprintf(fields, sizeof fields, "{'name': 'x', 'type': 'u16', %s}", rows[i].scale);
        assert_string_equal(described(with_fields(fields), "a50b"), rows[i].text);
    }
}

/* Decimals that a file states hold, also for floats that resolve more. */
static void decimals(void **state) {
    (void)state;
    const tendon_definition *d = with_fields(
        "{'name': 'a', 'type': 'u16', 'factor': 0.001, 'decimals': 1}, {'name': 'b', 'type': 'f32', 'decimals': 1}, "
        "{'name': 'c', 'type': 'f32'}, {'name': 'd', 'type': 'sfloat', 'decimals': 0}, {'name': 'e', 'type': "
        "'sfloat'}, "
        "{'name': 'f', 'type': 'sfloat', 'decimals': 2}");
    assert_string_equal(described(d, "d204 b81e4541 b81e4541 d2f4 d2f4 d2f4"),
                        "a=1.2 b=12.3 c=12.32000 d=123 e=123.4 f=123.40");
    /* Those of the number, and those of the factor. */
    d = with_fields("{'name': 'a', 'type': 'sfloat', 'factor': 0.01}, {'name': 'b', 'type': 'float', 'factor': 0.001}, "
                    "{'name': 'c', 'type': 'sfloat', 'factor': 0.01, 'decimals': 1}");
    assert_string_equal(described(d, "7bf0 394400fd 7bf0"), "a=0.123 b=0.017465 c=0.1");
}

static void words_and_limits(void **state) {
    (void)state;
    const tendon_definition *d =
        with_fields("{'name': 'x', 'type': 'u8', 'values': [[1, 'on'], [2, 'off']], 'max': 5, 'unknown': 255}");
    assert_string_equal(described(d, "01"), "x=on");
    assert_string_equal(described(d, "02"), "x=off");
    assert_string_equal(described(d, "05"), "x=5");
    assert_string_equal(described(d, "ff"), "x=nothing");
    assert_string_equal(described(d, "06"), "!MALFORMED at 0");
    d = with_fields("{'type': 'u8', 'equals': 7}, {'name': 'x', 'type': 'i8', 'min': -3}");
    assert_string_equal(described(d, "07fd"), "x=-3");
    assert_string_equal(described(d, "07fc"), "!MALFORMED at 1");
    assert_string_equal(described(d, "08fd"), "!MALFORMED at 0");
}

static void parts(void **state) {
    (void)state;
    const tendon_definition *d =
        with_fields("{'name': 'status', 'type': 'u16', 'bits': [{'name': 'a', 'bit': 0}, {'name': 'b', 'bit': 15}, "
                    "{'name': 'c', 'bit': 1, 'count': 3}, {'name': 'd', 'bit': 4, 'count': 2, 'values': [[0, 'low'], "
                    "[3, 'high']]}]}");
    assert_string_equal(described(d, "0000"), "a=no b=no c=0 d=low");
    assert_string_equal(described(d, "ffff"), "a=yes b=yes c=7 d=high");
    assert_string_equal(described(d, "1000"), "a=no b=no c=0 d=1");
    /* The part with the sign, of 12 bits from the top, as an accelerometer has them; the others, and flags, have none.
     */
    static const struct {
        const char *hex, *text;
    } samples[] = {{"f0ff", "x=-1 low=0"}, {"0080", "x=-2048 low=0"}, {"ff7f", "x=2047 low=15"}, {"0000", "x=0 low=0"}};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        d = with_fields(
            "{'type': 'i16', 'bits': [{'name': 'x', 'bit': 4, 'count': 12}, {'name': 'low', 'bit': 0, 'count': 4}]}");
        assert_string_equal(described(d, samples[i].hex), samples[i].text);
    }
    d = with_fields("{'type': 'i8', 'bits': [{'name': 'top', 'bit': 7}, {'name': 'rest', 'bit': 3, 'count': 4}]}");
    assert_string_equal(described(d, "f8"), "top=yes rest=15");
    d = with_fields("{'type': 'i64', 'bits': [{'name': 'all', 'bit': 0, 'count': 64, 'unknown': -1}]}");
    assert_string_equal(described(d, "feffffffffffffff"), "all=-2");
    d = with_fields("{'type': 'u64', 'bits': [{'name': 'all', 'bit': 0, 'count': 64}]}");
    assert_string_equal(described(d, "ffffffffffffffff"), "all=18446744073709551616");
    d = with_fields("{'type': 'u64', 'bits': [{'name': 'top', 'bit': 63}, {'name': 'most', 'bit': 0, 'count': 63}]}");
    assert_string_equal(described(d, "ffffffffffffff7f"), "top=no most=9223372036854775807");
}

/* RuuviTag, data format 5: 2047 and 31 are not known, and 0xffff is both. */
static void unknown_parts(void **state) {
    (void)state;
    const char *bits = "'bits': [{'name': 'v', 'bit': 5, 'count': 11, 'factor': 0.001, 'offset': 1.6, 'unknown': 2047},"
                       "{'name': 'dbm', 'bit': 0, 'count': 5, 'factor': 2, 'offset': -40, 'unknown': '0x1f'}]";
    char fields[512];
    snprintf(fields, sizeof fields, "{'type': 'u16', 'endian': 'big', %s}", bits);
    const tendon_definition *d = with_fields(fields);
    assert_string_equal(described(d, "ac36"), "v=2.977 dbm=4");
    assert_string_equal(described(d, "ffe0"), "v=nothing dbm=-40");
    assert_string_equal(described(d, "001f"), "v=1.600 dbm=nothing");
    /* Of an integer that is not known, each part; but it decides as before. */
    d = with_fields("{'type': 'u16', 'unknown': 65535, 'max': 999, 'bits': [{'name': 'a', 'bit': 0, 'count': 4}, "
                    "{'name': 'b', 'bit': 4}, {'name': 'c', 'bit': 5, 'values': [[1, 'on']]}]}, "
                    "{'name': 'x', 'type': 'u8', 'if': 'b'}");
    assert_string_equal(described(d, "2f00"), "a=15 c=on");
    assert_string_equal(described(d, "ffff07"), "a=nothing c=nothing x=7");
    assert_string_equal(described(d, "feff07"), "!MALFORMED at 0");
}

static void bytes_and_text(void **state) {
    (void)state;
    const tendon_definition *d =
        with_fields("{'name': 'n', 'type': 'u8'}, {'name': 'text', 'type': 'utf8', 'length': 'n'}, "
                    "{'name': 'two', 'type': 'bytes', 'length': 2}, "
                    "{'name': 'rest', 'type': 'bytes', 'at_most': 3}");
    assert_string_equal(described(d, "02 6869 0102 aabb"), "text='hi' two=0102 rest=aabb");
    assert_string_equal(described(d, "00 0102"), "text='' two=0102 rest=");
    assert_string_equal(described(d, "03 6869"), "!TRUNCATED at 1");
    assert_string_equal(described(d, "02 6869 01"), "!TRUNCATED at 3");
    assert_string_equal(described(d, "00 0102 aabbccdd"), "!MALFORMED at 3");
}

/* What is not provably impossible is accepted. */
static void possible(void **state) {
    (void)state;
    const tendon_definition *d =
        with_fields("{'name': 'kind', 'type': 'u8', 'min': 1, 'max': 3, 'unknown': 255}, "
                    "{'name': 'x', 'type': 'u8', 'if': 'kind=3'}, {'name': 'x', 'type': 'u16', 'if': 'kind=255'}, "
                    "{'switch': 'kind', 'cases': {'255': [{'name': 'y', 'type': 'u8', 'if': 'kind'}]}, 'otherwise': "
                    "[{'name': 'y', 'type': 'u16', 'if': 'kind=2'}]}");
    assert_string_equal(described(d, "03 07"), "x=7");
    assert_string_equal(described(d, "ff 0700 09"), "x=7 y=9");
    assert_string_equal(described(d, "02 0900"), "y=9");
    /* A field that is absent is 0. */
    d = with_fields("{'name': 'a', 'type': 'u8'}, {'name': 'b', 'type': 'u8', 'min': 1, 'if': 'a'}, "
                    "{'name': 'c', 'type': 'u8', 'if': '!b'}");
    assert_string_equal(described(d, "00 05"), "c=5");
    /* Two conditions that do not meet: a name may be of both; of different fields nobody knows. */
    d = with_fields(
        "{'name': 'a', 'type': 'u8'}, {'name': 'b', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': 'a=1'}, "
        "{'name': 'x', 'type': 'u8', 'if': 'a=2'}, {'name': 'x', 'type': 'u8', 'if': '!a'}, {'name': 'x', "
        "'type': 'u8', 'if': 'b=7'}");
    assert_string_equal(described(d, "02 00 05"), "x=5");
    /* Members of a list, and arguments, are not members of the line; cases of one switch do not meet. */
    d = with_fields(
        "{'name': 'list', 'count': 1, 'records': [{'name': 'time', 'type': 'u8'}, {'name': 'k', 'type': 'u8'}]}, "
        "{'name': 'k', 'type': 'u8'}, {'switch': 'k', 'cases': {'1': [{'name': 'x', 'type': 'u8'}], "
        "'2': [{'name': 'x', 'type': 'u16'}]}}, {'name': 'turns', 'rate': 'k', 'per': 'k'}");
    assert_string_equal(described(d, "05 06 02 0700"), "list=[{time=5 k=6}] x=7 turns=nothing");
    (void)parsed("{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': ["
                 "{'name': 'value', 'service': 'fff0', 'uuid': 'fff1', 'write': [{'name': 'time', 'type': 'u8'}]}], "
                 "'actions': [{'name': 'a', 'characteristic': 'value'}]}");
    /* 512 bytes. */
    (void)with_fields("{'name': 'x', 'records': [{'type': 'u64'}], 'count': 64}");
    /* The rest can end before what is absent. */
    (void)with_fields("{'name': 'a', 'type': 'u8'}, {'name': 'rest', 'type': 'bytes', 'if': 'a'}, "
                      "{'name': 'b', 'type': 'u8', 'if': '!a'}");
}

static void conditions(void **state) {
    (void)state;
    const tendon_definition *d =
        with_fields("{'type': 'u8', 'bits': [{'name': 'wide', 'bit': 0}, {'name': 'kind', 'bit': 4, 'count': 2}]}, "
                    "{'name': 'x', 'type': 'u8', 'if': '!wide'}, {'name': 'x', 'type': 'u16', 'if': 'wide'}, "
                    "{'name': 'y', 'type': 'u8', 'if': 'kind=2'}");
    assert_string_equal(described(d, "00 05"), "x=5");
    assert_string_equal(described(d, "01 0501"), "x=261");
    assert_string_equal(described(d, "20 05 07"), "x=5 y=7");
    assert_string_equal(described(d, "10 05 07"), "x=5");
    assert_string_equal(described(d, "21 0501"), "!TRUNCATED at 3");
    /* A field that is absent counts as 0 for those that refer to it. */
    d = with_fields("{'type': 'u8', 'bits': [{'name': 'a', 'bit': 0}]}, {'name': 'b', 'type': 'u8', 'if': 'a'}, "
                    "{'name': 'c', 'type': 'u8', 'if': 'b'}");
    assert_string_equal(described(d, "00"), "");
    assert_string_equal(described(d, "01 00"), "");
    assert_string_equal(described(d, "01 02 03"), "c=3");
}

/* As in all places of a file. */
static void conditions_on_any_integer(void **state) {
    (void)state;
    const tendon_definition *d = with_fields(
        "{'name': 'k', 'type': 'i16', 'hidden': false}, {'name': 'a', 'type': 'u8', 'if': 'k=-3'}, {'name': 'b', "
        "'type': 'u8', 'if': 'k=0xaF'}, {'switch': 'k', 'cases': {'-2': [{'name': 'c', 'type': 'u8'}], "
        "'0x10': [{'name': 'd', 'type': 'u8'}], '-0X20': [{'name': 'e', 'type': 'u8'}]}}");
    assert_string_equal(described(d, "fdff 07"), "k=-3 a=7");
    assert_string_equal(described(d, "af00 07"), "k=175 b=7");
    assert_string_equal(described(d, "feff 07"), "k=-2 c=7");
    assert_string_equal(described(d, "1000 07"), "k=16 d=7");
    assert_string_equal(described(d, "e0ff 07"), "k=-32 e=7");
}

/* Those by which devices say that they do not know a number of 64 bits. */
static void long_integers(void **state) {
    (void)state;
    const tendon_definition *d =
        with_fields("{'name': 'a', 'type': 'i64', 'unknown': -9223372036854775808}, "
                    "{'name': 'b', 'type': 'i64', 'unknown': 9223372036854775807}, "
                    "{'name': 'c', 'type': 'u64', 'unknown': '0x7fffffffffffffff', 'max': 1000000000000000001}");
    assert_string_equal(described(d, "0000000000000080 ffffffffffffff7f ffffffffffffff7f"),
                        "a=nothing b=nothing c=nothing");
    assert_string_equal(described(d, "ffffffffffffff7f 0000000000000080 010064a7b3b6e00d"),
                        "a=9223372036854775807 b=-9223372036854775808 c=1000000000000000001");
    assert_string_equal(described(d, "0000000000000000 0000000000000000 020064a7b3b6e00d"), "!MALFORMED at 16");
    d = with_fields("{'name': 'a', 'type': 'u64', 'unknown': '0xffffffffffffffff'}, "
                    "{'name': 'b', 'type': 'i64', 'unknown': '0x8000000000000000'}");
    assert_string_equal(described(d, "ffffffffffffffff 0000000000000080"), "a=nothing b=nothing");
    assert_string_equal(described(d, "ffffffffffffff7f 0100000000000080"),
                        "a=9223372036854775807 b=-9223372036854775807");
}

static void optional(void **state) {
    (void)state;
    const tendon_definition *d =
        with_fields("{'name': 'a', 'type': 'u8'}, {'name': 'b', 'type': 'u16', 'optional': true}, "
                    "{'name': 'c', 'type': 'u8'}");
    assert_string_equal(described(d, "01"), "a=1");
    assert_string_equal(described(d, "01 0200 03"), "a=1 b=2 c=3");
    assert_string_equal(described(d, "01 02"), "!TRUNCATED at 1");
    assert_string_equal(described(d, "01 0200"), "!TRUNCATED at 3");
    /* With all after it: what stands around a case or a list, too. */
    d = with_fields("{'name': 'k', 'type': 'u8'}, {'switch': 'k', 'cases': {'1': [{'name': 'a', 'type': 'u8', "
                    "'optional': true}]}}, {'name': 'z', 'type': 'u8'}");
    assert_string_equal(described(d, "01"), "");
    assert_string_equal(described(d, "01 07"), "!TRUNCATED at 2");
    assert_string_equal(described(d, "01 07 08"), "a=7 z=8");
    assert_string_equal(described(d, "02"), "!TRUNCATED at 1");
    d = with_fields("{'name': 'list', 'count': 2, 'records': [{'name': 'a', 'type': 'u8'}, {'name': 'b', 'type': 'u8', "
                    "'optional': true}]}, {'name': 'z', 'type': 'u8'}");
    assert_string_equal(described(d, "01"), "list=[{a=1}]");
    assert_string_equal(described(d, "01 02 03"), "list=[{a=1 b=2},{a=3}]");
    assert_string_equal(described(d, "01 02 03 04"), "!TRUNCATED at 4");
    assert_string_equal(described(d, "01 02 03 04 05"), "list=[{a=1 b=2},{a=3 b=4}] z=5");
    d = with_fields("{'name': 'list', 'count': 3, 'records': [{'name': 'a', 'type': 'u8', 'optional': true}, {'name': "
                    "'b', 'type': 'u8'}]}, {'name': 'z', 'type': 'u8'}");
    assert_string_equal(described(d, "01 02"), "list=[{a=1 b=2},{}]");
    assert_string_equal(described(d, ""), "list=[{}]");
    d = with_fields("{'name': 'plain', 'count': 3, 'records': [{'type': 'u8', 'optional': true}]}");
    assert_string_equal(described(d, "01 02"), "plain=[1,2]");
}

static void records(void **state) {
    (void)state;
    const tendon_definition *d = with_fields("{'name': 'n', 'type': 'u8'}, {'name': 'list', 'count': 'n', "
                                             "'records': [{'name': 'a', 'type': 'u8'}, {'name': 'b', 'type': 'u8'}]}, "
                                             "{'name': 'rest', 'records': [{'type': 'u8', 'name': 'c'}]}");
    assert_string_equal(described(d, "02 0102 0304 05 06"), "list=[{a=1 b=2},{a=3 b=4}] rest=[5,6]");
    assert_string_equal(described(d, "00"), "list=[] rest=[]");
    assert_string_equal(described(d, "02 0102 03"), "!TRUNCATED at 4");
    d = with_fields("{'name': 'two', 'count': 2, 'records': [{'type': 'i16', 'divisor': 100}]}");
    assert_string_equal(described(d, "6400 9cff"), "two=[1.00,-1.00]");
    assert_string_equal(described(d, "6400 9c"), "!TRUNCATED at 2");
}

/* A layout is a value at one place, and a record at another: now, and what was before. */
static void a_layout_that_is_a_record_too(void **state) {
    (void)state;
    const tendon_definition *d =
        parsed("{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': ["
               "{'name': 'now', 'service': 'fff0', 'uuid': 'fff1', 'notify': 'one'}, "
               "{'name': 'old', 'service': 'fff0', 'uuid': 'fff2', 'read': [{'name': 'one', 'records': 'one'}]}], "
               "'layouts': {'one': [{'name': 'x', 'type': 'u8', 'unit': 's'}]}, "
               "'events': [{'name': 'now', 'layout': 'one', 'members': ['x']}]}");
    assert_string_equal(described_event(d, 0, "05"), "x=5");
    assert_string_equal(described_event(d, 1, "05 06"), "one=[5,6]");
    d = with_fields("{'name': 'k', 'type': 'u8'}, {'name': 'first', 'count': 1, 'records': [{'type': 'u8'}]}, "
                    "{'name': 'second', 'records': [{'name': 'first', 'type': 'u8'}]}");
    assert_string_equal(described(d, "01 02 03"), "k=1 first=[2] second=[3]");
}

static void records_without_bytes(void **state) {
    (void)state;
    /* Both would go on for as long as the peer likes. */
    const tendon_definition *d = with_fields(
        "{'name': 'n', 'type': 'u16'}, {'name': 'list', 'count': 'n', 'records': [{'name': 'a', 'type': 'bytes'}]}");
    assert_string_equal(described(d, "ffff"), "!TRUNCATED at 2");
    assert_string_equal(described(d, "0200"), "!MALFORMED at 2");
    assert_string_equal(described(d, "0100 aa"), "list=[{a=aa}]");
    d = with_fields(
        "{'name': 'n', 'type': 'u8'}, {'name': 'list', 'records': [{'type': 'u8', 'name': 'f', 'optional': true}, "
        "{'name': 'x', 'type': 'u8', 'if': 'f'}]}");
    assert_string_equal(described(d, "01 00 01 05"), "n=1 list=[{},{x=5}]");
}

static void switches(void **state) {
    (void)state;
    const tendon_definition *d = with_fields(
        "{'name': 'kind', 'type': 'u8', 'title': 'Kind'}, {'switch': 'kind', 'cases': {"
        "'1': [{'name': 'a', 'type': 'u8'}], '2': {'fields': [{'name': 'b', 'type': 'u16'}], 'exact': true}}, "
        "'otherwise': [{'name': 'raw', 'type': 'bytes'}]}");
    assert_string_equal(described(d, "01 07"), "kind=1 a=7");
    assert_string_equal(described(d, "02 0700"), "kind=2 b=7");
    assert_string_equal(described(d, "02 0700 00"), "!MALFORMED at 3");
    assert_string_equal(described(d, "03 0102"), "kind=3 raw=0102");
    d = with_fields(
        "{'name': 'kind', 'type': 'u8'}, {'switch': 'kind', 'cases': {'1': [{'name': 'a', 'type': 'u8'}]}}, "
        "{'name': 'z', 'type': 'u8'}");
    assert_string_equal(described(d, "01 07 08"), "a=7 z=8");
    assert_string_equal(described(d, "02 08"), "z=8");
}

static void rates(void **state) {
    (void)state;
    const tendon_definition *d = with_fields(
        "{'name': 'flags', 'type': 'u8'}, {'name': 'turns', 'type': 'u16', 'if': 'flags'}, {'name': 'turn_time', "
        "'type': 'u16', 'divisor': 1024, 'if': 'flags'}, {'name': 'cadence', 'rate': 'turns', 'per': 'turn_time', "
        "'factor': 60, 'unit': '1/min', 'if': 'flags'}");
    tendon_described_rates of = {0};
    assert_string_equal(described_with(d, &of, "01 0100 0004"), "cadence=nothing"); /* the first */
    assert_string_equal(described_with(d, &of, "01 0200 0008"), "cadence=60.0");
    assert_string_equal(described_with(d, &of, "01 0500 000a"), "cadence=360.0");
    assert_string_equal(described_with(d, &of, "01 0500 000a"), "cadence=nothing"); /* no time has passed */
    assert_string_equal(described_with(d, &of, "00"), "");
    assert_string_equal(described_with(d, &of, "01 0500 000e"), "cadence=0.0");
    /* A value that breaks its layout changes nothing. */
    assert_string_equal(described_with(d, &of, "01 0900 00"), "!TRUNCATED at 3");
    assert_string_equal(described_with(d, &of, "01 0600 0012"), "cadence=60.0");
    /* Both begin again at 0. */
    assert_string_equal(described_with(d, &of, "01 ffff 00fe"), "cadence=-7.1");
    assert_string_equal(described_with(d, &of, "01 0100 0002"), "cadence=120.0");
    assert_string_equal(described(d, "01 0100 0002"), "cadence=nothing"); /* without a memory */
}

/* What the value does not have has not grown, and is not what the next value has grown from. */
static void rates_of_what_is_absent(void **state) {
    (void)state;
    const tendon_definition *d = with_fields(
        "{'name': 'k', 'type': 'u8', 'hidden': true}, {'name': 'n', 'type': 'u16', 'if': 'k', 'hidden': true}, "
        "{'name': 't', 'type': 'u16', 'optional': true, 'hidden': true}, {'name': 'r', 'rate': 'n', 'per': 't'}");
    tendon_described_rates of = {0};
    assert_string_equal(described_with(d, &of, "01 0a00 0a00"), "r=nothing");
    assert_string_equal(described_with(d, &of, "01 0c00 1400"), "r=0.2");
    assert_string_equal(described_with(d, &of, "00 1e00"), "r=nothing");
    assert_string_equal(described_with(d, &of, "01 0f00"), ""); /* nothing after it */
    assert_string_equal(described_with(d, &of, "01 1000 1c00"), "r=0.5");
    /* What the device does not know, as a number or in some of its bits, is no count. */
    d = with_fields(
        "{'name': 'n', 'type': 'u16', 'unknown': 65535, 'hidden': true}, {'type': 'u8', 'unknown': 255, "
        "'bits': [{'name': 't', 'bit': 0, 'count': 8, 'hidden': true}]}, {'name': 'r', 'rate': 'n', 'per': 't'}");
    memset(&of, 0, sizeof of);
    assert_string_equal(described_with(d, &of, "0c00 02"), "r=nothing");
    assert_string_equal(described_with(d, &of, "ffff 03"), "r=nothing");
    assert_string_equal(described_with(d, &of, "0d00 ff"), "r=nothing");
    assert_string_equal(described_with(d, &of, "0e00 04"), "r=1.0");
}

static void rates_of_parts_and_long_counts(void **state) {
    (void)state;
    const tendon_definition *d =
        with_fields("{'name': 'all', 'type': 'u32', 'bits': [{'name': 'n', 'bit': 4, 'count': 16, 'hidden': true}]}, "
                    "{'name': 't', 'type': 'u8', 'hidden': true}, {'name': 'r', 'rate': 'n', 'per': 't'}");
    tendon_described_rates of = {0};
    assert_string_equal(described_with(d, &of, "e0ff0f00 01"), "r=nothing");
    assert_string_equal(described_with(d, &of, "20001000 02"), "r=4.0"); /* 65534, 2 */
    of = (tendon_described_rates){0};
    d = with_fields("{'name': 'n', 'type': 'u64', 'hidden': true}, {'name': 't', 'type': 'u8', 'hidden': true}, "
                    "{'name': 'r', 'rate': 'n', 'per': 't'}");
    assert_string_equal(described_with(d, &of, "0000000000000000 01"), "r=nothing");
    assert_string_equal(described_with(d, &of, "0000000000000080 02"), "r=-9223372036854775808.0");
}

/* What only decides is not shown, unless an event lists it. */
static void members(void **state) {
    (void)state;
    const tendon_definition *d = parsed(
        "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': ["
        "{'name': 'value', 'service': 'fff0', 'uuid': 'fff1', 'notify': 'both'}], 'layouts': {'both': ["
        "{'name': 'n', 'type': 'u8'}, {'name': 'list', 'count': 'n', 'records': [{'name': 'a', 'type': 'u8'}, "
        "{'name': 'b', 'type': 'u8'}]}, {'name': 'x', 'type': 'u8'}, {'name': 'y', 'type': 'u8', 'hidden': true}]}, "
        "'events': [{'name': 'all', 'layout': 'both'}, {'name': 'some', 'layout': 'both', 'members': ['n', 'y']}, "
        "{'name': 'lists', 'layout': 'both', 'members': ['list'], 'sample': true}]}");
    assert_int_equal(d->event_count, 3);
    assert_string_equal(described_event(d, 0, "01 0102 03 04"), "list=[{a=1 b=2}] x=3");
    assert_string_equal(described_event(d, 1, "01 0102 03 04"), "n=1 y=4");
    assert_string_equal(described_event(d, 2, "01 0102 03 04"), "list=[{a=1 b=2}]");
    assert_int_equal(d->events[0].flags, TENDON_EVENT_STATE);
    assert_int_equal(d->events[2].flags, TENDON_EVENT_SAMPLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(integers),
                                       cmocka_unit_test(endian),
                                       cmocka_unit_test(floats),
                                       cmocka_unit_test(dates),
                                       cmocka_unit_test(epochs),
                                       cmocka_unit_test(scales),
                                       cmocka_unit_test(usual_decimals),
                                       cmocka_unit_test(decimals),
                                       cmocka_unit_test(words_and_limits),
                                       cmocka_unit_test(parts),
                                       cmocka_unit_test(unknown_parts),
                                       cmocka_unit_test(bytes_and_text),
                                       cmocka_unit_test(possible),
                                       cmocka_unit_test(conditions),
                                       cmocka_unit_test(conditions_on_any_integer),
                                       cmocka_unit_test(long_integers),
                                       cmocka_unit_test(optional),
                                       cmocka_unit_test(records),
                                       cmocka_unit_test(a_layout_that_is_a_record_too),
                                       cmocka_unit_test(records_without_bytes),
                                       cmocka_unit_test(switches),
                                       cmocka_unit_test(members),
                                       cmocka_unit_test(rates),
                                       cmocka_unit_test(rates_of_what_is_absent),
                                       cmocka_unit_test(rates_of_parts_and_long_counts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
