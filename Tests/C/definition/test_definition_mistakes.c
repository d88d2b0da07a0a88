/* SPDX-License-Identifier: MIT */
/* Files with mistakes: each is found at its line and column, and no file crashes the parser. */
#include "definition_fixture.h"

#define HEAD "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']},\n"
#define ROW "'characteristics': [{'name': 'value', 'service': 'fff0', 'uuid': 'fff1', 'notify': [\n"
#define FIELD(field) HEAD ROW field "]}]}"

typedef struct mistake {
    const char *text;
    unsigned line, column;
    const char *says; /* a part of the sentence */
} mistake;

static void check(const mistake *rows, size_t count) {
    static tendon_definition definition;
    for (size_t i = 0; i < count; i++) {
        tendon_definition_mistake found = {0};
        tendon_status status = parse_text(rows[i].text, &definition, &found);
        if (status != TENDON_ERROR_MALFORMED && status != TENDON_ERROR_TABLE_FULL) {
            fail_msg("accepted: %s", rows[i].text);
        }
        if (found.line != rows[i].line || found.column != rows[i].column || strstr(found.text, rows[i].says) == NULL) {
            fail_msg("row %zu: got %u:%u: %s", i, (unsigned)found.line, (unsigned)found.column, found.text);
        }
    }
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))

static void syntax(void **state) {
    (void)state;
    static const mistake rows[] = {
        {"", 1, 1, "a value is expected"},
        {"{", 1, 2, "in quotes is expected"},
        {"{'a'", 1, 5, "':' is missing"},
        {"{'a': 1", 1, 8, "',' or a '}'"},
        {"[1 2]", 1, 4, "',' or a ']'"},
        {"[1,]", 1, 4, "nothing follows"},
        {"{'a': 1,}", 1, 9, "nothing follows"},
        {"{'a': 01}", 1, 7, "a number"},
        {"{'a': 1.}", 1, 7, "a number"},
        {"{'a': -}", 1, 7, "a number"},
        {"{'a': 1e}", 1, 7, "a number"},
        {"{'a': nul}", 1, 7, "a value is expected"},
        {"{'a': 'b\n'}", 1, 7, "a string without an end, or a control character in it"},
        {"{'a': '\\x'}", 1, 8, "an escape"},
        {"{'a': '\\u12g4'}", 1, 8, "an escape"},
        {"{'a': '\x80'}", 1, 8, "not UTF-8"},
        {"{'a': '\xc0\x80'}", 1, 8, "not UTF-8"},
        {"{'a': '\xed\xa0\x80'}", 1, 8, "not UTF-8"},
        {"{'a': '\xf4\x90\x80\x80'}", 1, 8, "not UTF-8"},
        {"{} {}", 1, 4, "nothing may follow"},
        {"[[[[[[[[[[[[[[[[[", 1, 17, "inside of each other"},
    };
    CHECK(rows);
}

static void the_file(void **state) {
    (void)state;
    static const mistake rows[] = {
        {"[]", 1, 1, "the file must be an object"},
        {"{}", 1, 1, "the file has no 'name'"},
        {"{'name': 'toy'}", 1, 1, "has no 'title'"},
        {"{'nam': 'toy'}", 1, 3, "'nam' is not a member of the file; did you mean 'name'?"},
        {"{'name': 'Toy'}", 1, 1, "has no 'title'"},
        {"{'name': 'toy', 'name': 'toy'}", 1, 18, "'name' is there twice"},
        {"{'name': 7}", 1, 10, "must be a name"},
        {HEAD "'characteristics': []}", 2, 20, "'characteristics' is empty"},
        {"{'name': 'Toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': []}", 1, 11, "is no name"},
        {"{'name': 'toy', 'title': 'Toy', 'find': {}, 'characteristics': []}", 1, 41, "'services' or 'name'"},
        {"{'name': 'toy', 'title': 'Toy', 'find': {'name': '*'}, 'characteristics': []}", 1, 51,
         "a '*' stands behind a name"},
        {"{'name': 'toy', 'title': 'Toy', 'find': {'name': 'A*b'}, 'characteristics': []}", 1, 51,
         "a '*' stands behind a name"},
        {"{'name': 'toy', 'title': 'Toy', 'find': {'name': 'A**'}, 'characteristics': []}", 1, 51,
         "a '*' stands behind a name"},
        {"{'name': 'toy', 'title': 'Toy', 'find': {'services': [7]}, 'characteristics': []}", 1, 55,
         "a string is expected here: text in quotes"},
        {HEAD "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'every_ms': 5}]}", 2, 31,
         "'a' has no 'value', 'notify', 'read' or 'write'"},
        {"{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff']}, 'characteristics': []}", 1, 56,
         "is no UUID: 4, 8 or 8-4-4-4-12 hexadecimal digits"},
        {"{'name': 'toy', 'title': 'Toy', 'find': {'name': 'a', 'company': 70000}, 'characteristics': []}", 1, 66,
         "'70000' is out of range: 0 to 65535"},
        {HEAD "'endian': 'middle', 'characteristics': []}", 2, 12, "neither big nor little"},
        {HEAD "'characteristics': [{'name': 'a'}]}", 2, 21, "has no 'service'"},
        {HEAD "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'notify': 'b'}]}", 2, 81,
         "'b' is none of the layouts"},
        {HEAD "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'value': [], 'read': []}]}", 2, 79,
         "has one layout: write 'value' alone"},
        {HEAD "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'notify': [], 'read': []}]}", 2, 92,
         "has one layout: write 'value' alone"},
        {HEAD
         "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'notify': [], 'read_every_ms': 1000}]}",
         2, 101, "'read_every_ms' needs 'read' or 'value'"},
        {HEAD
         "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'read': [], 'read_every_ms': 999}]}",
         2, 99, "'999' is out of range: 1000 to 86400000"},
        {HEAD "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'read': [], 'read_every_ms': "
              "86400001}]}",
         2, 99, "out of range: 1000 to 86400000"},
        {HEAD "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1'},\n"
              "{'name': 'b', 'service': 'fff0', 'uuid': 'fff1'}]}",
         3, 43, "'fff1' is there twice: a service has each UUID once"},
        {HEAD "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1'},\n"
              "{'name': 'b', 'service': '0000fff0-0000-1000-8000-00805f9b34fb', 'uuid': '0xfff1'}]}",
         3, 75, "'0xfff1' is there twice: a service"},
        {HEAD "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1'},\n"
              "{'name': 'a', 'service': 'fff0', 'uuid': 'fff2'}]}",
         3, 11, "'a' is there twice"},
        {HEAD "'layouts': {'x': []}, " ROW "]}]}", 2, 18, "nothing uses this layout"},
        {HEAD "'layouts': {'x': [], 'x': []}, " ROW "]}]}", 2, 23, "is there twice"},
        {HEAD "'layouts': {'x': 3}, "
              "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'notify': 'x'}]}",
         2, 18, "a layout is an array"},
    };
    CHECK(rows);
}

/* What was meant: one or two letters away, or inside of the word. */
static void misspelled_words(void **state) {
    (void)state;
    static const mistake rows[] = {
        {"{'name': 'toy', 'titel': 'Toy'}", 1, 18, "'titel' is not a member of the file; did you mean 'title'?"},
        {"{'name': 'toy', 'characteristic': []}", 1, 18, "did you mean 'characteristics'?"},
        {"{'name': 'toy', 'zzz': []}", 1, 18, "'zzz' is not a member of the file"},
        {FIELD("{'name': 'x', 'typ': 'u8'}"), 3, 16, "did you mean 'type'?"},
        {FIELD("{'name': 'x', 'type': 'u8', 'unti': 'V'}"), 3, 30, "did you mean 'unit'?"},
        {FIELD("{'name': 'x', 'type': 'u8', 'scale': 2}"), 3, 30,
         "'scale' is not a member of a field; did you mean 'factor'?"},
        {FIELD("{'name': 'x', 'type': 'u8', 'multiplier': 2}"), 3, 30, "did you mean 'factor'?"},
        {FIELD("{'name': 'x', 'type': 'u8', 'enum': []}"), 3, 30, "did you mean 'values'?"},
        {FIELD("{'name': 'x', 'type': 'u8'}, {'switch': 'x', 'default': []}"), 3, 47, "did you mean 'otherwise'?"},
        {FIELD("{'name': 'x', 'type': 'u8', 'indicate': 2}"), 3, 30, "'indicate' is not a member of a field"},
        {HEAD "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'indicate': []}]}", 2, 71,
         "'indicate' is not a member of a characteristic; did you mean 'notify'?"},
        {FIELD("{'name': 'x', 'type': 'uint16'}"), 3, 24, "'uint16' is no type; did you mean 'u16'?"},
        {FIELD("{'name': 'x', 'type': 'int8'}"), 3, 24, "did you mean 'i8'?"},
        {FIELD("{'name': 'x', 'type': 'float32'}"), 3, 24, "did you mean 'f32'?"},
        {FIELD("{'name': 'x', 'type': 'f64'}"), 3, 24, "'f64' is no type; known: u8 "}, /* u64 has other values */
        {FIELD("{'name': 'x', 'type': 's16'}"), 3, 24, "'s16' is no type; known: u8 "},
        {FIELD("{'name': 'x', 'type': 'int48'}"), 3, 24, "'int48' is no type; did you mean 'i48'?"},
        {FIELD("{'name': 'x', 'type': 'int40'}"), 3, 24,
         "known: u8 u16 u24 u32 u48 u64 i8 i16 i24 i32 i48 i64 f32 sfloat float bytes utf8 datetime"},
        {FIELD("{'name': 'x', 'type': 'i48', 'min': -140737488355329}"), 3, 37,
         "out of range: -140737488355328 to 140737488355327"},
        {FIELD("{'name': 'x', 'type': 'u16be'}"), 3, 24, "'u16be' is no type; known: u8 "},
        {FIELD("{'name': 'x', 'type': 'date_time'}"), 3, 24, "did you mean 'datetime'?"},
        {FIELD("{'name': 'x', 'type': 'struct'}"), 3, 24, "; known: u8 u16"},
        {FIELD("{'name': 'flags', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': '!flag=1'}"), 3, 69,
         "is no condition"},
        {FIELD("{'name': 'flags', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': '!flag'}"), 3, 69,
         "'!flag' is no integer before this field; did you mean 'flags'?"},
        {FIELD("{'name': 'flags', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': 'flsgs=1'}"), 3, 69,
         "did you mean 'flags'?"},
        {FIELD("{'name': 'kind', 'type': 'u8'}, {'switch': 'kind', 'cases': {'1': [{'type': 'u8', 'if': 'knd'}]}}"), 3,
         90, "did you mean 'kind'?"},
        {HEAD "'layouts': {'value': []}, "
              "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'notify': 'valeu'}]}",
         2, 107, "'valeu' is none of the layouts; did you mean 'value'?"},
        {HEAD "'characteristics': [{'name': 'control', 'service': 'fff0', 'uuid': 'fff1', 'write': []}],\n"
              "'actions': [{'name': 'go', 'characteristic': 'contrl'}]}",
         3, 47, "'contrl' is none of the characteristics; did you mean 'control'?"},
        {HEAD "'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'notify': [{'name': 'speed', "
              "'type': 'u8'}]}],\n"
              "'events': [{'name': 'a', 'members': ['sped']}]}",
         3, 39, "'sped' is no field of the event's layout; did you mean 'speed'?"},
        {FIELD("{'name': 'x', 'ttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt': 1}"),
         3, 16, "is not a member of a field"},
    };
    CHECK(rows);
    /* A case sees the fields around it: the word about layouts with a name would mislead. */
    static tendon_definition definition;
    tendon_definition_mistake found = {0};
    (void)parse_text(FIELD("{'name': 'kind', 'type': 'u8'}, {'switch': 'kind', 'cases': {'1': [{'type': 'u8', "
                           "'if': 'x'}]}}"),
                     &definition, &found);
    assert_string_equal(found.text, "'x' is no integer before this field");
}

static void dates(void **state) {
    (void)state;
    static const mistake rows[] = {
        {FIELD("{'name': 'x', 'type': 'datetime', 'factor': 2}"), 3, 36, "'factor' has no meaning for datetime"},
        {FIELD("{'name': 'x', 'type': 'datetime', 'epoch': '1970-01-01'}"), 3, 36, "'epoch' has no meaning"},
        {FIELD("{'name': 'x', 'type': 'u32', 'epoch': '1970'}"), 3, 40, "'1970' is no date, such as '1970-01-01'"},
        {FIELD("{'name': 'x', 'type': 'u32', 'epoch': '1970-13-01'}"), 3, 40, "is no date"},
        {FIELD("{'name': 'x', 'type': 'u32', 'epoch': '1970-02-29'}"), 3, 40, "is no date"},
        {FIELD("{'name': 'x', 'type': 'u32', 'epoch': '1970-01-01T'}"), 3, 40, "is no date"},
        {FIELD("{'name': 'x', 'type': 'u32', 'epoch': '1970-01-01 00:00'}"), 3, 40, "is no date"},
        {FIELD("{'name': 'x', 'type': 'u32', 'epoch': 1970}"), 3, 39, "must be a string"},
        {FIELD("{'name': 'x', 'type': 'u32', 'epoch': '1970-01-01', 'offset': 3}"), 3, 54,
         "'offset' has no meaning for a time with 'epoch'"},
        {FIELD("{'name': 'x', 'type': 'u32', 'epoch': '1970-01-01', 'bits': []}"), 3, 54, "'bits' has no meaning"},
        {FIELD("{'name': 'x', 'type': 'f32', 'epoch': '1970-01-01'}"), 3, 31, "'epoch' has no meaning for f32"},
        {FIELD("{'name': 'x', 'type': 'u32', 'local': true}"), 3, 31, "'local' has no meaning"},
        {FIELD("{'name': 'x', 'type': 'datetime'}, {'name': 'y', 'type': 'u8', 'if': 'x'}"), 3, 71,
         "'x' is no integer before this field"},
    };
    CHECK(rows);
}

static void fields(void **state) {
    (void)state;
    static const mistake rows[] = {
        {FIELD("3"), 3, 1, "must be an object"},
        {FIELD("{'name': 'x'}"), 3, 1, "one of 'type', 'rate', 'records' and 'switch'"},
        {FIELD("{'name': 'x', 'rate': 'y'}"), 3, 1, "a rate has no 'per'"},
        {FIELD("{'name': 'x', 'rate': 'y', 'per': 'z'}"), 3, 24, "'y' is no integer before this field"},
        {FIELD("{'name': 'x', 'type': 'u9'}"), 3, 24, "'u9' is no type; known"},
        {FIELD("{'name': 'x', 'type': 'u8', 'values': [[256, 'a']]}"), 3, 41, "'256' is out of range: 0 to 255"},
        {FIELD("{'name': 'x', 'type': 'i8', 'values': [[200, 'a']]}"), 3, 41, "'200' is out of range: -128 to 127"},
        {FIELD("{'name': 'x', 'type': 'u8'}, {'name': 'x', 'type': 'u8'}"), 3, 40, "there twice"},
        {FIELD("{'name': 'x', 'type': 'u8', 'factor': 0}"), 3, 39, "'0' must not be 0"},
        {FIELD("{'name': 'x', 'type': 'u8', 'factor': 1e31}"), 3, 39, "without quotes, 1e-30 to 1e30"},
        {FIELD("{'name': 'x', 'type': 'u8', 'divisor': -1e-31}"), 3, 40, "without quotes, 1e-30 to 1e30"},
        {FIELD("{'name': 'x', 'type': 'u8', 'offset': 1e-400}"), 3, 39, "without quotes, 1e-30 to 1e30"},
        {FIELD("{'name': 'x', 'type': 'u8', 'factor': '2'}"), 3, 40, "'2' must be a number without quotes"},
        {FIELD("{'name': 'x', 'type': 'u8', 'offset': '2'}"), 3, 40,
         "'2' must be a number without quotes, 1e-30 to 1e30"},
        {FIELD("{'name': 'x', 'type': 'i64', 'min': '0x1ffffffffffffffff'}"), 3, 38, "is no integer"},
        {FIELD("{'name': 'x', 'type': 'i16', 'min': -32769}"), 3, 37, "'-32769' is out of range: -32768 to 32767"},
        {FIELD("{'name': 'x', 'type': 'u8', 'max': 256}"), 3, 36, "'256' is out of range: 0 to 255"},
        {FIELD("{'name': 'x', 'type': 'u8', 'max': 1.5}"), 3, 36, "is no integer"},
        {FIELD("{'name': 'x', 'type': 'u8', 'max': '0x00000000000000001ff'}"), 3, 37, "out of range: 0 to 255"},
        {FIELD("{'name': 'x', 'type': 'i64', 'max': 9223372036854775808}"), 3, 37, "is no integer"},
        {FIELD("{'name': 'x', 'type': 'i64', 'max': 18446744073709551617}"), 3, 37, "is no integer"},
        {FIELD("{'name': 'x', 'type': 'i64', 'min': -9223372036854775809}"), 3, 37, "is no integer"},
        {FIELD("{'name': 'x', 'type': 'u64', 'min': '0x8000000000000000'}"), 3, 38, "is out of range: 0 to 9223"},
        {FIELD("{'name': 'x', 'type': 'u32', 'unknown': '0xffffffffffffffff'}"), 3, 42,
         "is out of range: 0 to 4294967295"},
        {FIELD("{'name': 'x', 'type': 'i64', 'min': '12'}"), 3, 38, "is no integer"},
        {FIELD("{'name': 'k', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': 'k=0x100'}"), 3, 65,
         "'k=0x100' never happens: the field has 0 to 255"},
        {FIELD("{'name': 'k', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': 'k=0x'}"), 3, 65, "is no condition"},
        {FIELD("{'name': 'k', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': 'k=-'}"), 3, 65, "is no condition"},
        {FIELD("{'name': 'k', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': 'k=1a'}"), 3, 65, "is no condition"},
        {FIELD("{'name': 'k', 'type': 'u8'}, {'switch': 'k', 'cases': {'16': [], '0x10': []}}"), 3, 67,
         "'0x10' is there twice"},
        {FIELD("{'name': 'x', 'type': 'u8', 'min': 5, 'max': 4}"), 3, 46, "less than 'min'"},
        {FIELD("{'name': 'x', 'type': 'u8', 'min': 5, 'equals': 4}"), 3, 49, "'equals' beside 'min'"},
        {FIELD("{'name': 'x', 'type': 'f32', 'max': 4}"), 3, 31, "'max' has no meaning for f32"},
        {FIELD("{'name': 'x', 'type': 'bytes', 'unit': 'V'}"), 3, 33, "'unit' has no meaning for bytes"},
        {FIELD("{'name': 'x', 'type': 'u8', 'if': 'y'}"), 3, 36, "'y' is no integer before this field"},
        {FIELD("{'name': 'x', 'type': 'u8', 'if': 'x'}"), 3, 36, "'x' is no integer before this field"},
        {FIELD("{'name': 'y', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': 'y&&z'}"), 3, 65, "no condition"},
        {FIELD("{'name': 'y', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': ''}"), 3, 65, "no condition"},
        {FIELD("{'name': 'y', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': '!'}"), 3, 65, "no condition"},
        {FIELD("{'name': 'y', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': 'y=a'}"), 3, 65, "no condition"},
        {FIELD("{'name': 'x', 'type': 'u8', 'values': [1]}"), 3, 40, "a value with its name"},
        {FIELD("{'name': 'x', 'type': 'u8', 'values': [[1, 2]]}"), 3, 40, "a value with its name"},
        {FIELD("{'name': 'x', 'type': 'u8', 'values': [[1, 'a'], [1, 'b']]}"), 3, 51, "has a name already"},
        {FIELD("{'name': 'x', 'type': 'u8', 'max': 3, 'values': [[3, 'a'], [5, 'b']]}"), 3, 61,
         "'5' is out of range: 0 to 3"},
        {FIELD("{'type': 'u8', 'bits': [{'name': 'a', 'bit': 8}]}"), 3, 46, "'8' is out of range: 0 to 7"},
        {FIELD("{'type': 'u8', 'bits': [{'name': 'a', 'bit': 7, 'count': 2}]}"), 3, 58, "out of range: 1 to 1"},
        {FIELD("{'type': 'u8', 'bits': [{'name': 'a'}]}"), 3, 25, "a part of bits has a 'name' and a 'bit'"},
        {FIELD("{'type': 'u8', 'bits': [{'bit': 1}]}"), 3, 25, "a part of bits has a 'name' and a 'bit'"},
        {FIELD("{'type': 'u8', 'bits': [{'name': 'a', 'bit': 1, 'min': 1}]}"), 3, 50, "no meaning for a part of bits"},
        {FIELD("{'type': 'u8', 'bits': [{'name': 'a', 'bit': 1, 'count': 'b'}]}"), 3, 59, "'b' is no integer"},
        {FIELD("{'type': 'u8', 'bits': [{'name': 'a', 'bit': 0, 'values': [[2, 'b']]}]}"), 3, 61,
         "'2' is out of range: 0 to 1"},
        {FIELD("{'type': 'u8', 'bits': [{'name': 'a', 'bit': 3, 'count': 2}, {'name': 'b', 'bit': 2},\n"
               "{'name': 'c', 'bit': 4}]}"),
         4, 1, "a part before it has a bit of this one"},
        {FIELD("{'type': 'u8', 'bits': [{'name': 'a', 'bit': 3}, {'name': 'b', 'bit': 0, 'count': 4}]}"), 3, 50,
         "a part before it has a bit of this one"},
        {FIELD("{'name': 'x', 'records': 'y'}"), 3, 27, "'y' is none of the layouts"},
        {FIELD("{'name': 'x', 'records': []}"), 3, 26, "takes no bytes"},
        {FIELD("{'name': 'x', 'records': [{'type': 'u8'}], 'count': 0}"), 3, 53, "out of range: 1 to"},
        {FIELD("{'records': [{'name': 'a', 'type': 'u8'}, {'name': 'r', 'rate': 'a', 'per': 'a'}]}"), 3, 53,
         "a rate is of one characteristic, and of no record"},
        {FIELD("{'name': 'k', 'type': 'u8'}, {'records': [{'switch': 'k', 'cases': {'1': [{'name': 'r', 'rate': 'k', "
               "'per': 'k'}]}}, {'type': 'u8'}]}"),
         3, 85, "a rate is of one characteristic, and of no record"},
        {HEAD "'layouts': {'l': [{'name': 'k', 'type': 'u8'},\n{'name': 'r', 'rate': 'k', 'per': 'k'}]}, "
              "'characteristics': [{'name': 'now', 'service': 'fff0', 'uuid': 'fff1', 'notify': 'l'}, {'name': 'old', "
              "'service': 'fff0', 'uuid': 'fff2', 'read': [{'name': 'all', 'records': 'l'}]}]}",
         3, 11, "a rate is of one characteristic, and of no record"},
        {HEAD "'layouts': {'l': [{'name': 'k', 'type': 'u8'},\n{'name': 'r', 'rate': 'k', 'per': 'k'}]}, "
              "'characteristics': [{'name': 'left', 'service': 'fff0', 'uuid': 'fff1', 'notify': 'l'}, {'name': "
              "'right', 'service': 'fff0', 'uuid': 'fff2', 'value': 'l'}]}",
         3, 11, "a rate is of one characteristic, and of no record"},
        {FIELD("{'switch': 'x', 'cases': {}}"), 3, 13, "'x' is no integer before this field"},
        {FIELD("{'name': 'x', 'type': 'u8'}, {'switch': 'x'}"), 3, 30, "has no 'cases'"},
        {FIELD("{'name': 'x', 'type': 'u8'}, {'switch': 'x', 'cases': {'a': []}}"), 3, 57, "'a' is no number"},
    };
    CHECK(rows);
}

static void the_whole(void **state) {
    (void)state;
    static const mistake rows[] = {
        {HEAD "'layouts': {'a': [{'records': 'b'}],\n'b': [{'records': 'a'}]}, 'characteristics': [{'name': 'v', "
              "'service': 'fff0', 'uuid': 'fff1', 'notify': 'a'}]}",
         2, 18, "contain each other"},
        {HEAD "'layouts': {'a': [{'records': 'a'}]}, 'characteristics': [{'name': 'v', 'service': 'fff0', "
              "'uuid': 'fff1', 'notify': 'a'}]}",
         2, 18, "contain each other"},
        /* Seven, by the first case of a switch. */
        {HEAD "'layouts': {'a': [{'name': 'k', 'type': 'u8'}, {'switch': 'k', 'cases': {'1': 'b', '2': 'g'}}],\n"
              "'b': [{'records': 'c'}], 'c': [{'records': 'd'}], 'd': [{'records': 'e'}], 'e': [{'records': 'f'}], "
              "'f': [{'records': 'g'}], 'g': [{'name': 'x', 'type': 'u8'}]}, 'characteristics': [{'name': 'v', "
              "'service': 'fff0', 'uuid': 'fff1', 'notify': 'a'}]}",
         2, 18, "more than 6 deep"},
        {HEAD
         "'characteristics': [{'name': 'v', 'service': 'fff0', 'uuid': 'fff1', 'examples': ['01', '0102',\n'02 '], "
         "'notify': [{'name': 'x', 'type': 'u8', 'max': 1}]}]}",
         3, 2, "breaks its layout at byte 0"},
        {HEAD "'characteristics': [{'name': 'v', 'service': 'fff0', 'uuid': 'fff1', 'examples': ['0'], 'notify': []}]}",
         2, 84, "two hexadecimal digits"},
        {HEAD "'characteristics': [{'name': 'v', 'service': 'fff0', 'uuid': 'fff1', 'examples': [1], 'notify': []}]}",
         2, 83, "a string is expected here"},
        {HEAD "'events': [{'name': 'e', 'layout': 'v', 'members': ['y']}], " ROW "]}]}", 2, 37,
         "'v' is none of the layouts"},
        {HEAD "'events': [{'name': 'e', 'layout': 'value', 'members': ['y']}], " ROW "{'name': 'x', 'type': 'u8'}]}]}",
         2, 58, "'y' is no field of the event's layout; did you mean 'x'?"},
        {HEAD "'events': [{'name': 'connected', 'layout': 'value'}], " ROW "]}]}", 2, 22, "an event that Tendon has"},
        {HEAD "'characteristics': [{'name': 'connected', 'service': 'fff0', 'uuid': 'fff1', 'notify': [{'type': 'u8', "
              "'name': 'x'}]}]}",
         2, 31, "an event that Tendon has"},
        {HEAD "'characteristics': [{'name': 'write', 'service': 'fff0', 'uuid': 'fff1', 'read': [{'type': 'u8', "
              "'name': 'x'}]}]}",
         2, 31, "an event that Tendon has"},
        {HEAD "'events': [{'name': 'value'}, {'name': 'value'}], " ROW "]}]}", 2, 41, "is there twice"},
        {HEAD "'actions': [{'name': 'recenter', 'characteristic': 'value'}], " ROW "]}]}", 2, 23,
         "'recenter' is a word of MQTT; call it otherwise"},
        {HEAD "'actions': [{'name': 'transaction', 'characteristic': 'value'}], " ROW "]}]}", 2, 23, "a word of MQTT"},
        {HEAD
         "'actions': [{'name': 'a', 'characteristic': 'value', 'write': [{'name': 'x', 'type': 'u8', 'values': [[1, "
         "'on'], [2, 'on']]}]}], " ROW "]}]}",
         2, 119, "'on' is there twice"},
        {HEAD "'actions': [{'name': 'a', 'characteristic': 'x'}], " ROW "]}]}", 2, 46,
         "'x' is none of the characteristics"},
        {HEAD "'actions': [{'name': 'a', 'characteristic': 'value'}], " ROW "]}]}", 2, 13, "needs 'write'"},
        {HEAD "'actions': [{'name': 'a', 'characteristic': 'value', 'write': [{'name': 'x', 'type': 'bytes'}, {'type': "
              "'u8', 'equals': 1}]}], " ROW "]}]}",
         2, 96, "nothing is left for this field"},
        {HEAD "'actions': [{'name': 'a', 'characteristic': 'value', 'write': [{'name': 'x', 'type': 'sfloat'}]}], " ROW
              "]}]}",
         2, 63, "an action writes integers, f32, datetime, utf8 and bytes"},
        {HEAD
         "'actions': [{'name': 'a', 'characteristic': 'value', 'write': [{'name': 'n', 'type': 'u8'}, {'name': 'x', "
         "'type': 'utf8', 'length': 'n'}]}], " ROW "]}]}",
         2, 63, "no 'length' by a field"},
        {HEAD
         "'actions': [{'name': 'a', 'characteristic': 'value', 'write': [{'name': 'x', 'type': 'utf8', 'at_least': "
         "65}]}], " ROW "]}]}",
         2, 63, "at most 64 bytes"},
        {HEAD "'actions': [{'name': 'a', 'characteristic': 'value', 'write': [{'type': 'u8'}]}], " ROW "]}]}", 2, 63,
         "a field of an action has a 'name', as an argument, or 'equals'"},
        {HEAD "'actions': [{'name': 'a', 'characteristic': 'value', 'at_start': true, 'write': [{'name': 'x', 'type': "
              "'u8'}]}], " ROW "]}]}",
         2, 81, "has no arguments"},
    };
    CHECK(rows);
}

/* Layouts that no value can have, and events that never come. */
static void impossible(void **state) {
    (void)state;
#define KIND "{'name': 'kind', 'type': 'u8', 'min': 1, 'max': 3, 'unknown': 255},\n"
    static const mistake rows[] = {
        {FIELD(KIND "{'name': 'x', 'type': 'u8', 'if': 'kind=4'}"), 4, 36,
         "'kind=4' never happens: the field has 1 to 3"},
        {FIELD(KIND "{'name': 'x', 'type': 'u8', 'if': '!kind'}"), 4, 36,
         "'!kind' never happens: the field has 1 to 3"},
        {FIELD("{'name': 'z', 'type': 'u8', 'equals': 0},\n{'name': 'x', 'type': 'u8', 'if': 'z'}"), 4, 36,
         "'z' never happens: the field has 0 to 0"},
        {FIELD("{'type': 'u8', 'bits': [{'name': 'b', 'bit': 6, 'count': 2}]},\n"
               "{'name': 'x', 'type': 'u8', 'if': 'b=4'}"),
         4, 36, "'b=4' never happens: the field has 0 to 3"},
        {FIELD("{'name': 'k', 'type': 'i8'},\n{'name': 'x', 'type': 'u8', 'if': 'k=128'}"), 4, 36,
         "'k=128' never happens: the field has -128 to 127"},
        {FIELD(KIND "{'switch': 'kind', 'cases': {'1': [], '4': []}}"), 4, 40,
         "'4' never happens: the field has 1 to 3"},
        {FIELD(KIND "{'switch': 'kind', 'cases': {'1': [], '01': []}}"), 4, 40, "'01' is there twice"},
        {FIELD(KIND "{'switch': 'kind', 'cases': {'1': [{'type': 'u8', 'if': 'kind=2'}]}}"), 4, 58,
         "'kind=2' never happens here: this layout is there by another value"},
        {FIELD(KIND "{'switch': 'kind', 'if': 'kind=2', 'cases': {'2': [{'type': 'u8', 'if': 'kind=1'}]}}"), 4, 74,
         "'kind=1' never happens here"},
        {FIELD("{'name': 'a', 'type': 'u8'},\n{'records': [{'type': 'u8', 'if': 'a'}], 'if': '!a'}"), 4, 36,
         "'a' never happens here"},
        {FIELD(KIND "{'switch': 'kind', 'cases': {'1': [{'switch': 'kind', 'cases': {'2': []}}]}}"), 4, 66,
         "'2' never happens here"},
        {FIELD(KIND "{'switch': 'kind', 'cases': {'1': [{'records': [{'type': 'u8', 'if': 'kind=2'}]}]}}"), 4, 71,
         "'kind=2' never happens here"},
        {FIELD("{'name': 'x', 'records': [{'type': 'u64'}], 'count': 65}"), 2, 84,
         "this layout takes more than 512 bytes"},
        {FIELD("{'name': 'n', 'type': 'u8'}, {'name': 'a', 'type': 'utf8', 'at_least': 512}"), 2, 84, "512 bytes"},
        {FIELD(KIND
               "{'switch': 'kind', 'cases': {'1': [{'name': 'a', 'type': 'bytes', 'at_least': 512}]}, 'otherwise': "
               "[{'name': 'b', 'type': 'bytes', 'at_least': 512}]}"),
         2, 84, "512 bytes"},
        {FIELD("{'name': 'a', 'type': 'bytes'},\n{'name': 'b', 'type': 'u8'}"), 4, 1, "one before it takes the rest"},
        {FIELD("{'name': 'a', 'type': 'bytes', 'length': 'rest'},\n{'name': 'b', 'type': 'u8', 'optional': true}"), 4,
         1, "one before it takes the rest"},
        {FIELD("{'name': 'a', 'records': [{'name': 'c', 'type': 'u8'}]},\n{'records': [{'type': 'u8'}]}"), 4, 1,
         "one before it takes the rest"},
        {FIELD("{'name': 'a', 'count': 2, 'records': [{'name': 'c', 'type': 'u8'}, {'name': 'd', 'type': 'bytes'}]}"),
         3, 38, "the first of these records takes the rest of the value"},
        {FIELD("{'name': 'x', 'type': 'bytes', 'length': 4, 'at_least': 5}"), 3, 57,
         "'at_least' is more than 'length'"},
        {HEAD
         "'layouts': {'v': [{'name': 'k', 'type': 'u8'}, {'switch': 'k', 'cases': {'1': 'c'}}], 'c': []},\n"
         "'events': [{'name': 'c'}], 'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': 'fff1', 'notify': "
         "'v'}]}",
         3, 22, "'c' is no layout of a 'notify', 'read' or 'value'"},
        {HEAD "'layouts': {'v': []},\n"
              "'events': [{'name': 'e', 'layout': 'v'}], 'characteristics': [{'name': 'a', 'service': 'fff0', 'uuid': "
              "'fff1', 'write': 'v'}]}",
         3, 37, "'v' is no layout of a 'notify'"},
    };
    CHECK(rows);
}

static void names_of_members(void **state) {
    (void)state;
    static const mistake rows[] = {
        {FIELD("{'name': 'time', 'type': 'u8'}"), 3, 11, "'time' is a member that lines have; choose another"},
        {FIELD("{'name': 'received_at', 'type': 'u8'}"), 3, 11, "'received_at' is a member that lines have"},
        {FIELD("{'name': 'sensor', 'type': 'u8'}"), 3, 11, "'sensor' is a member that lines have"},
        {FIELD("{'name': 'device_time_ms', 'type': 'u8'}"), 3, 11, "'device_time_ms' is a member that lines have"},
        {FIELD("{'name': 'message_id', 'type': 'u8'}"), 3, 11, "'message_id' is a member that lines have"},
        {FIELD("{'name': 'time', 'records': [{'type': 'u8'}]}"), 3, 11, "'time' is a member that lines have"},
        {FIELD("{'name': 'k', 'type': 'u8'}, {'switch': 'k', 'cases': {'1': [{'name': 'event', 'type': 'u8'}]}}"), 3,
         72, "'event' is a member that lines have"},
        {FIELD("{'type': 'u8', 'bits': [{'name': 'name', 'bit': 1}]}"), 3, 35, "'name' is a member that lines have"},
        {HEAD "'layouts': {'time': [{'type': 'u8'}]},\n" ROW "{'records': 'time'}]}]}", 4, 14,
         "'time' is a member that lines have"},
        {FIELD("{'name': 'x', 'type': 'u8'}, {'name': 'x', 'type': 'u8'}"), 3, 40, "there twice"},
        {FIELD("{'name': 'a', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': 'a'}, {'name': 'x', 'type': 'u8'}"), 3,
         80, "there twice"},
        {FIELD(
             "{'name': 'a', 'type': 'u8'}, {'name': 'x', 'type': 'u8', 'if': 'a'}, {'name': 'x', 'type': 'u16', 'if': "
             "'a=3'}"),
         3, 80, "there twice"},
        {FIELD("{'type': 'u8', 'bits': [{'name': 'x', 'bit': 1}]}, {'name': 'x', 'type': 'u8'}"), 3, 62, "there twice"},
        {FIELD("{'name': 'x', 'type': 'u8'}, {'switch': 'x', 'cases': {'1': [{'name': 'x', 'type': 'u8'}]}}"), 3, 72,
         "there twice"},
        {HEAD "'layouts': {'c': [{'name': 'x', 'type': 'u8'}], 'b': [{'name': 'i', 'type': 'u8'},\n"
              "{'switch': 'i', 'cases': {'2': 'c'}}]}, " ROW
              "{'name': 'x', 'type': 'u8'}, {'switch': 'x', 'cases': {'1': 'b'}}]}]}",
         4, 11, "there twice"},
    };
    CHECK(rows);
}

static void full_tables(void **state) {
    (void)state;
    static tendon_definition definition;
    static char text[70000];
    tendon_definition_mistake found;
    strcpy(text, HEAD ROW);
    size_t length = strlen(text);
    for (unsigned i = 0; i <= TENDON_DEFINITION_FIELDS; i++) {
        length += (size_t)sprintf(text + length, "%s{'name': 'f%u', 'type': 'u8'}", i > 0 ? ",\n" : "", i);
    }
    strcpy(text + length, "]}]}");
    assert_int_equal(parse_text(text, &definition, &found), TENDON_ERROR_TABLE_FULL);
    assert_string_equal(found.text, "too many fields");
    assert_int_equal(found.line, 3 + TENDON_DEFINITION_FIELDS);
    memset(text, ' ', sizeof text);
    text[TENDON_DEFINITION_FILE_MAX + 1] = 0;
    assert_int_equal(parse_text(text, &definition, &found), TENDON_ERROR_TABLE_FULL);
    strcpy(text, "[");
    for (length = 1; length < 60000; length += 2) {
        memcpy(text + length, "1,", 2);
    }
    strcpy(text + length, "1]");
    assert_true(parse_text(text, &definition, &found) < 0);
    assert_string_equal(found.text, "too many values");
}

/* Examples and names share one memory; up to its last byte they stay inside of it. */
static void full_texts(void **state) {
    (void)state;
    static tendon_definition definition;
    static char text[70000];
    tendon_definition_mistake found;
    /* "", "toy", "Toy", "value", "x", with their terminators; then examples, and the name behind them with its own. */
    const size_t before = 1 + 4 + 4 + 6, name = 40, most = TENDON_DEFINITION_TEXT - 1 - before - (name + 1);
    for (int more = -2; more <= (int)name + 3; more++) {
        size_t left = (size_t)((int)most + more), length = 0;
        length +=
            (size_t)sprintf(text, "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': ["
                                  "{'name': 'value', 'service': 'fff0', 'uuid': 'fff1', 'examples': [");
        while (left > 0) {
            size_t piece = left < 513 ? left : left - 513 == 1 ? 512 : 513;
            length += (size_t)sprintf(text + length, "%s'", text[length - 1] == '[' ? "" : ", ");
            for (size_t i = 0; i + 1 < piece; i++) {
                length += (size_t)sprintf(text + length, "61");
            }
            length += (size_t)sprintf(text + length, "'");
            left -= piece;
        }
        sprintf(text + length,
                "], 'value': [{'type': 'u8'}]}, {'name': '%.*s', 'service': 'fff0', 'uuid': 'fff2', "
                "'examples': [''], 'value': [{'type': 'u8', 'optional': true}]}]}",
                (int)name, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
        tendon_status status = parse_text(text, &definition, &found);
        assert_true(definition.text_length < TENDON_DEFINITION_TEXT);
        const char *full = more < 0 ? "" : more == 0 || more > (int)name + 1 ? "too many examples" : "too many names";
        assert_int_equal(status, more < 0 ? TENDON_OK : TENDON_ERROR_TABLE_FULL);
        assert_string_equal(more < 0 ? "" : found.text, full);
    }
}

/* A whole file, cut everywhere: never accepted in part. Other changes are those of the fuzz target. */
static void cut_everywhere(void **state) {
    (void)state;
    static const char whole[] =
        "{'name': 'toy', 'title': 'T\\u00e9\\ud83d\\ude00y', 'find': {'services': ['fff0'], 'name': 'T*', 'company': "
        "'0x59'}, "
        "'characteristics': [{'name': 'value', 'service': 'fff0', 'uuid': 'fff1', 'value': 'v', 'examples': ['01 05'], "
        "'every_ms': 20, 'read_every_ms': 5000}, "
        "{'name': 'c', 'service': 'fff0', 'uuid': 'fff2', 'write': [{'type': 'u8', 'equals': 1}]}], "
        "'layouts': {'v': [{'type': 'u8', 'bits': [{'name': 'a', 'bit': 0}]}, {'name': 'x', 'type': 'u8', 'if': 'a', "
        "'factor': 1.5e-1, 'unit': 'V'}, {'switch': 'a', 'cases': {'0': [{'name': 'l', 'records': [{'type': "
        "'i8'}]}]}}]}, "
        "'events': [{'name': 'e', 'layout': 'v', 'members': ['x', 'l'], 'sample': true}], "
        "'actions': [{'name': 'go', 'characteristic': 'c', 'at_start': true}]}";
    static tendon_definition definition;
    tendon_definition_mistake found;
    (void)parsed(whole);
    static char text[sizeof whole];
    for (size_t length = 0; length + 1 < sizeof whole; length++) {
        memcpy(text, whole, length);
        text[length] = 0;
        assert_true(parse_text(text, &definition, &found) < 0);
        assert_true(found.line == 1 && found.column <= length + 1 && found.text[0] != 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syntax),     cmocka_unit_test(the_file),         cmocka_unit_test(misspelled_words),
        cmocka_unit_test(dates),      cmocka_unit_test(fields),           cmocka_unit_test(the_whole),
        cmocka_unit_test(impossible), cmocka_unit_test(names_of_members), cmocka_unit_test(full_tables),
        cmocka_unit_test(full_texts), cmocka_unit_test(cut_everywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
