/* SPDX-License-Identifier: MIT */
#include "json.h"

#include "tendon/base/packed.h"

#include <string.h>

enum { DEPTH = 16, MISTAKE_QUOTE = 40 };

typedef struct scanner {
    json *j;
    size_t position;
    unsigned depth;
    json_at open[DEPTH]; /* the objects and arrays around it */
} scanner;

/* Mistakes */

static void locate(const json *j, size_t position) {
    tendon_definition_mistake *mistake = j->mistake;
    mistake->line = 1;
    mistake->column = 1;
    for (size_t i = 0; i < position && i < j->length; i++) {
        mistake->column++;
        if (j->text[i] == '\n') {
            mistake->line++;
            mistake->column = 1;
        }
    }
}

static size_t append(tendon_definition_mistake *mistake, size_t length, const char *text, size_t count) {
    for (size_t i = 0; i < count && length + 1 < sizeof mistake->text; i++) {
        char c = text[i];
        mistake->text[length++] = (char)(c >= ' ' && c <= '~' ? c : '?');
    }
    mistake->text[length] = 0;
    return length;
}

static bool wrong_at(const json *j, size_t position, const char *text) {
    locate(j, position);
    append(j->mistake, 0, text, tendon_string_length(text));
    return false;
}

bool tendon_json_wrong(const json *j, json_at at, const char *before, json_at quoted, const char *after) {
    locate(j, j->tokens[at].start);
    size_t length = append(j->mistake, 0, before, tendon_string_length(before));
    if (quoted != JSON_NOWHERE) {
        size_t size;
        const char *word = tendon_json_raw(j, quoted, &size);
        length = append(j->mistake, length, "'", 1);
        length = append(j->mistake, length, word, size > MISTAKE_QUOTE ? MISTAKE_QUOTE : size);
        length = append(j->mistake, length, "'", 1);
    }
    append(j->mistake, length, after, tendon_string_length(after));
    return false;
}

/* Reading */

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_letter(char c) {
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

int tendon_json_hex(char c) {
    if (is_digit(c)) {
        return c - '0';
    }
    char small = (char)(c | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

static char at(const json *j, size_t position) {
    return position < j->length ? j->text[position] : 0;
}

static bool add(scanner *s, json_type type, size_t start, size_t end) {
    if (s->j->count == s->j->capacity) {
        return wrong_at(s->j, start, "too many values");
    }
    uint32_t number = s->j->count++;
    s->j->tokens[number].type = (uint8_t)type;
    s->j->tokens[number].start = (uint32_t)start;
    s->j->tokens[number].end = (uint32_t)end;
    s->j->tokens[number].next = number + 1;
    s->j->tokens[number].children = 0;
    if (s->depth > 0) {
        s->j->tokens[s->open[s->depth - 1]].children++;
    }
    return true;
}

/* Length of the UTF-8 character at a position (RFC 3629 section 4), or 0. */
static size_t utf8_length(const json *j, size_t position) {
    unsigned char first = (unsigned char)at(j, position), second = (unsigned char)at(j, position + 1);
    size_t length = first < 0x80                    ? 1
                    : first >= 0xC2 && first < 0xE0 ? 2
                    : first >= 0xE0 && first < 0xF0 ? 3
                    : first >= 0xF0 && first < 0xF5 ? 4
                                                    : 0;
    bool is_wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                    (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
    for (size_t i = 1; i < length; i++) {
        is_wrong = is_wrong || ((unsigned char)at(j, position + i) & 0xC0) != 0x80;
    }
    return is_wrong ? 0 : length;
}

static bool contains(const char *text, size_t length, char c) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == c) {
            return true;
        }
    }
    return false;
}

static bool is_escape(const json *j, size_t position, size_t *length) {
    char c = at(j, position + 1);
    *length = c == 'u' ? 6 : 2;
    for (size_t i = 2; i < *length; i++) {
        if (tendon_json_hex(at(j, position + i)) < 0) {
            return false;
        }
    }
    static const char known[] = "\"\\/bfnrtu";
    return c != 0 && contains(known, sizeof known - 1, c);
}

static bool read_string(scanner *s) {
    size_t start = s->position + 1, i = start;
    while (at(s->j, i) != '"') {
        size_t length = 0;
        if (i >= s->j->length || (unsigned char)at(s->j, i) < ' ') {
            return wrong_at(s->j, s->position, "a string without an end, or a control character in it");
        }
        if (at(s->j, i) == '\\' ? !is_escape(s->j, i, &length) : (length = utf8_length(s->j, i)) == 0) {
            return wrong_at(s->j, i, at(s->j, i) == '\\' ? "an escape that JSON does not have" : "not UTF-8");
        }
        i += length;
    }
    s->position = i + 1;
    return add(s, JSON_STRING, start, i);
}

static size_t digits_at(const json *j, size_t position) {
    size_t count = 0;
    while (is_digit(at(j, position + count))) {
        count++;
    }
    return count;
}

static bool read_number(scanner *s) {
    size_t start = s->position, i = start + (at(s->j, start) == '-' ? 1 : 0);
    size_t whole = digits_at(s->j, i);
    bool is_right = whole == 1 || (whole > 1 && at(s->j, i) != '0');
    i += whole;
    if (at(s->j, i) == '.') {
        size_t decimals = digits_at(s->j, i + 1);
        is_right = is_right && decimals > 0;
        i += 1 + decimals;
    }
    if ((at(s->j, i) | 0x20) == 'e') {
        i += at(s->j, i + 1) == '+' || at(s->j, i + 1) == '-' ? 2 : 1;
        size_t digits = digits_at(s->j, i);
        is_right = is_right && digits > 0;
        i += digits;
    }
    if (!is_right) {
        return wrong_at(s->j, start, "a number that JSON does not have");
    }
    s->position = i;
    return add(s, JSON_NUMBER, start, i);
}

static bool read_word(scanner *s) {
    size_t start = s->position;
    while (is_letter(at(s->j, s->position))) {
        s->position++;
    }
    int word = tendon_packed_index("null\0true\0false", 3, s->j->text + start, s->position - start);
    return word < 0 ? wrong_at(s->j, start, "a value is expected here")
                    : add(s, word > 0 ? JSON_BOOLEAN : JSON_NULL, start, s->position);
}

static bool open_one(scanner *s, json_type type) {
    if (s->depth == DEPTH) {
        return wrong_at(s->j, s->position, "too many values inside of each other");
    }
    json_at number = s->j->count;
    if (!add(s, type, s->position, s->position + 1)) {
        return false;
    }
    s->open[s->depth++] = number;
    s->position++;
    return true;
}

static json_type around(const scanner *s) {
    return (json_type)s->j->tokens[s->open[s->depth - 1]].type;
}

static bool close_one(scanner *s) {
    json_at number = s->open[--s->depth];
    s->position++;
    s->j->tokens[number].end = (uint32_t)s->position;
    s->j->tokens[number].next = s->j->count;
    return true;
}

static void skip_spaces(scanner *s) {
    while (is_space(at(s->j, s->position))) {
        s->position++;
    }
}

static bool read_value(scanner *s) {
    skip_spaces(s);
    switch (at(s->j, s->position)) {
    case '{':
        return open_one(s, JSON_OBJECT);
    case '[':
        return open_one(s, JSON_ARRAY);
    case '"':
        return read_string(s);
    default:
        return is_digit(at(s->j, s->position)) || at(s->j, s->position) == '-' ? read_number(s) : read_word(s);
    }
}

static bool expect(scanner *s, char c, const char *text) {
    skip_spaces(s);
    if (at(s->j, s->position) != c) {
        return wrong_at(s->j, s->position, text);
    }
    s->position++;
    return true;
}

/* One element or member of what is open, with what is before it. */
static bool read_inside(scanner *s) {
    json_type type = around(s);
    char end = type == JSON_OBJECT ? '}' : ']';
    bool is_first = s->j->tokens[s->open[s->depth - 1]].children == 0;
    skip_spaces(s);
    if (at(s->j, s->position) == end) {
        return close_one(s);
    }
    if (!is_first) {
        if (!expect(s, ',', "a ',' or a '}' is missing here")) {
            s->j->mistake->text[sizeof "a ',' or a '" - 1] = end;
            return false;
        }
        skip_spaces(s);
        if (at(s->j, s->position) == end) {
            return wrong_at(s->j, s->position, "nothing follows the last ','");
        }
    }
    if (type == JSON_OBJECT) {
        if (at(s->j, s->position) != '"') {
            return wrong_at(s->j, s->position, "the name of a member in quotes is expected here");
        }
        if (!read_string(s) || !expect(s, ':', "a ':' is missing here")) {
            return false;
        }
    }
    return read_value(s);
}

tendon_status tendon_json_read(json *j) {
    scanner s = {.j = j};
    j->count = 0;
    bool has_mark = j->length >= 3 && memcmp(j->text, "\xEF\xBB\xBF", 3) == 0;
    s.position = has_mark ? 3 : 0;
    bool is_right = read_value(&s);
    while (is_right && s.depth > 0) {
        is_right = read_inside(&s);
    }
    if (!is_right) {
        return TENDON_ERROR_MALFORMED;
    }
    skip_spaces(&s);
    if (s.position < j->length) {
        wrong_at(j, s.position, "nothing may follow the end of the object");
        return TENDON_ERROR_MALFORMED;
    }
    return TENDON_OK;
}

/* Access */

json_type tendon_json_type_of(const json *j, json_at at) {
    return (json_type)j->tokens[at].type;
}

const char *tendon_json_raw(const json *j, json_at at, size_t *length) {
    size_t start = j->tokens[at].start;
    *length = j->tokens[at].end - start;
    return j->text + start;
}

bool tendon_json_is_true(const json *j, json_at at) {
    return j->text[j->tokens[at].start] == 't';
}

bool tendon_json_is(const char *text, const char *word, size_t length) {
    return length == tendon_string_length(text) && memcmp(word, text, length) == 0;
}

bool tendon_json_equals(const json *j, json_at at, const char *text) {
    size_t length;
    const char *word = tendon_json_raw(j, at, &length);
    return tendon_json_is(text, word, length);
}

static uint32_t code_unit(const char *text) {
    uint32_t unit = 0;
    for (size_t i = 0; i < 4; i++) {
        unit = unit << 4 | (uint32_t)tendon_json_hex(text[i]);
    }
    return unit;
}

static size_t put_utf8(uint32_t c, char out[4]) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    out[0] = (char)((0xF0U << (4 - length)) | c);
    return length;
}

/* One character of a string, from *i on. */
static size_t decode_one(const char *text, size_t end, size_t *i, char out[4]) {
    static const char escapes[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    if (text[*i] != '\\') {
        out[0] = text[(*i)++];
        return 1;
    }
    char kind = text[*i + 1];
    if (kind != 'u') {
        for (size_t e = 0; escapes[e] != 0; e += 2) {
            out[0] = escapes[e] == kind ? escapes[e + 1] : out[0];
        }
        *i += 2;
        return 1;
    }
    uint32_t unit = code_unit(text + *i + 2);
    *i += 6;
    if (unit >= 0xD800 && unit < 0xE000) { /* half of a pair (RFC 8259 section 7) */
        bool is_pair = unit < 0xDC00 && end - *i >= 6 && text[*i] == '\\' && text[*i + 1] == 'u';
        uint32_t low = is_pair ? code_unit(text + *i + 2) : 0;
        if (low < 0xDC00 || low >= 0xE000) {
            return put_utf8(0xFFFD, out);
        }
        *i += 6;
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    }
    return put_utf8(unit, out);
}

size_t tendon_json_string(const json *j, json_at at, char *out, size_t capacity) {
    size_t i = j->tokens[at].start, end = j->tokens[at].end, length = 0;
    while (i < end) {
        char one[4] = {0};
        size_t count = decode_one(j->text, end, &i, one);
        if (length + count > capacity) {
            return capacity;
        }
        memcpy(out + length, one, count);
        length += count;
    }
    return length;
}

bool tendon_json_integer_of(const char *text, size_t length, int64_t *out) {
    size_t sign = length > 0 && text[0] == '-' ? 1 : 0, i = sign;
    unsigned base = 10;
    if (length > i + 2 && text[i] == '0' && (text[i + 1] | 0x20) == 'x') {
        base = 16;
        i += 2;
    }
    bool is_right = i < length;
    uint64_t number = 0;
    for (; i < length; i++) {
        unsigned digit = (unsigned)tendon_json_hex(text[i]); /* what is none is beyond every base */
        is_right = is_right && digit < base && number >> 60 == 0;
        number = number * base + digit;
    }
    *out = (int64_t)(sign != 0 ? 0 - number : number);
    return is_right && (base == 16 || number <= (uint64_t)INT64_MAX + sign);
}

bool tendon_json_integer(const json *j, json_at at, int64_t *out) {
    size_t length;
    const char *text = tendon_json_raw(j, at, &length);
    json_type type = tendon_json_type_of(j, at);
    return (type == JSON_NUMBER || (type == JSON_STRING && (text[1] | 0x20) == 'x')) &&
           tendon_json_integer_of(text, length, out);
}

bool tendon_json_number(const json *j, json_at at, double *out) {
    size_t length;
    const char *text = tendon_json_raw(j, at, &length);
    if (tendon_json_type_of(j, at) != JSON_NUMBER) {
        int64_t integer = 0;
        bool is_integer = tendon_json_integer(j, at, &integer);
        *out = (double)integer;
        return is_integer;
    }
    bool is_negative = text[0] == '-', is_small = false;
    uint64_t digits = 0; /* without the point; those beyond the 18th only count */
    int exponent = 0, stated = 0, behind = 0;
    size_t i = is_negative;
    for (; i < length && (text[i] | 0x20) != 'e'; i++) {
        if (text[i] == '.') {
            behind = 1;
        } else if (digits < 100000000000000000ULL) {
            digits = digits * 10 + (uint64_t)(text[i] - '0');
            exponent -= behind;
        } else {
            exponent += 1 - behind;
        }
    }
    for (i++; i < length && stated < 1000; i++) {
        is_small = is_small || text[i] == '-';
        stated = is_digit(text[i]) ? stated * 10 + (text[i] - '0') : 0;
    }
    exponent += is_small ? -stated : stated;
    double scale = 1; /* exact up to 10^22 */
    for (int left = exponent < 0 ? -exponent : exponent; left > 0 && scale < 1e300; left--) {
        scale *= 10;
    }
    double value = exponent < 0 ? (double)digits / scale : (double)digits * scale;
    *out = is_negative ? -value : value;
    return value < 1e300 && scale < 1e300;
}
