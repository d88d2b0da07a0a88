/* SPDX-License-Identifier: MIT */
#include "parser.h"

#include "tendon/base/packed.h"
#include "tendon/definition/spelling.h"

#include <stddef.h>
#include <string.h>

bool tendon_parse_wrong_value(parser *p, json_at at, const char *before, json_at quoted, const char *after) {
    return tendon_json_wrong(&p->j, at, before, quoted, after);
}

bool tendon_parse_wrong_this(parser *p, json_at at, const char *after) {
    return tendon_parse_wrong_value(p, at, "", at, after);
}

bool tendon_parse_wrong(parser *p, json_at at, const char *text) {
    return tendon_parse_wrong_value(p, at, text, JSON_NOWHERE, "");
}

bool tendon_parse_full(parser *p, json_at at, const char *what) {
    p->is_full = true;
    return tendon_parse_wrong_value(p, at, "too many ", JSON_NOWHERE, what);
}

static size_t add_text(char *out, size_t length, size_t capacity, const char *text) {
    while (*text != 0 && length + 1 < capacity) {
        out[length++] = *text++;
    }
    out[length] = 0;
    return length;
}

size_t tendon_parse_add_number(char *out, size_t length, size_t capacity, const char *before, int64_t number) {
    char digits[21];
    size_t first = sizeof digits - 1;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    digits[first] = 0;
    do {
        digits[--first] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    length = add_text(out, length, capacity, before);
    length = add_text(out, length, capacity, number < 0 ? "-" : "");
    return add_text(out, length, capacity, digits + first);
}

/* Words that are misspelled */

nearest tendon_parse_nearest(const parser *p, json_at word) {
    nearest n = {.distance = NEAREST_WORD};
    n.word = tendon_json_raw(&p->j, word, &n.length);
    n.length = n.length <= NEAREST_WORD ? n.length : 0;
    return n;
}

bool tendon_parse_is_inside(const char *known, const nearest *n) {
    size_t found = 0;
    for (size_t i = 0; i < n->length; i++) {
        found += known[found] != 0 && n->word[i] == known[found] ? 1 : 0;
    }
    return known[found] == 0 && n->word[0] == known[0] && found > 0 && n->word[n->length - 1] == known[found - 1];
}

void tendon_parse_offer(nearest *n, const char *known) {
    if (n->length == 0) {
        return;
    }
    unsigned distance = tendon_spelling_distance(n->word, n->length, known, tendon_string_length(known));
    /* Short words have many neighbors. What is inside comes last. */
    unsigned most = n->length < 4 ? 1 : 2;
    if (distance > most) {
        distance = tendon_parse_is_inside(known, n) ? NEAREST_WORD - 1 : NEAREST_WORD;
    }
    if (distance < n->distance) {
        n->distance = distance;
        n->text = known;
    }
}

bool tendon_parse_wrong_word(parser *p, json_at word, const char *after, const char *what, const nearest *n) {
    char text[160];
    size_t length = add_text(text, 0, sizeof text, after);
    length = add_text(text, length, sizeof text, what);
    if (n->text != NULL) {
        length = add_text(text, length, sizeof text, "; did you mean '");
        length = add_text(text, length, sizeof text, n->text);
        add_text(text, length, sizeof text, "'?");
    }
    return tendon_parse_wrong_this(p, word, text);
}

/* Members of objects */

/* The string after one of a literal of strings. */
static const char *after(const char *string) {
    return string + tendon_string_length(string) + 1;
}

static bool is_required(const char *one) {
    return *one == *MUST;
}

static const char *name_of(const char *one) {
    return one + (is_required(one) ? 2 : 1);
}

static bool wrong_member(parser *p, json_at key, const char *shape) {
    nearest n = tendon_parse_nearest(p, key);
    for (const char *one = after(shape); *one != 0; one = after(one)) {
        tendon_parse_offer(&n, name_of(one));
    }
    /* What others call it: pairs, with the word that files have. */
    enum { CALLED = 10 };
    static const char called[] =
        "indicate\0notify\0scale\0factor\0multiplier\0factor\0default\0otherwise\0enum\0values";
    int index = n.text == NULL ? tendon_packed_index(called, CALLED, n.word, n.length) : -1;
    if (index >= 0 && index % 2 == 0) {
        const char *meant = tendon_packed_string(called, NULL, CALLED, (unsigned)index + 1);
        for (const char *one = after(shape); *one != 0; one = after(one)) {
            n.text = tendon_json_is(name_of(one), meant, tendon_string_length(meant)) ? meant : n.text;
        }
    }
    return tendon_parse_wrong_word(p, key, " is not a member of ", shape, &n);
}

static bool check_kind(parser *p, json_at value, unsigned kind) {
    /* Bits of the types that a kind can have. */
    enum { TEXTS = 1 << JSON_STRING, NUMBERS = TEXTS | 1 << JSON_NUMBER, KINDS = 10 };
    static const uint8_t types[KINDS] = {0,
                                         0xFF,
                                         TEXTS,
                                         TEXTS,
                                         NUMBERS,
                                         NUMBERS,
                                         1 << JSON_BOOLEAN,
                                         1 << JSON_ARRAY,
                                         1 << JSON_OBJECT,
                                         TEXTS | 1 << JSON_ARRAY | 1 << JSON_OBJECT};
    static const char names[] = "\0\0a string\0a name in quotes\0a number\0an integer\0true or false\0an array\0"
                                "an object\0a name, an array or an object";
    char text[64];
    size_t length = add_text(text, 0, sizeof text, " must be ");
    add_text(text, length, sizeof text, tendon_packed_string(names, NULL, KINDS, kind));
    return (types[kind] >> tendon_json_type_of(&p->j, value) & 1) != 0 ||
           tendon_parse_wrong_value(p, value, "", value - 1, text); /* its key is before it */
}

bool tendon_parse_members(parser *p, json_at object, const char *shape, json_at *found) {
    const char *members = after(shape);
    size_t place = 0;
    for (const char *one = members; *one != 0; one = after(one)) {
        found[place++] = 0;
    }
    if (tendon_json_type_of(&p->j, object) != JSON_OBJECT) {
        return tendon_parse_wrong_value(p, object, shape, JSON_NOWHERE, " must be an object");
    }
    json_at end = tendon_json_next(&p->j, object), value;
    for (json_at key = tendon_json_first(object); key != end; key = tendon_json_next(&p->j, value)) {
        const char *one = members;
        value = tendon_json_next(&p->j, key);
        for (place = 0; *one != 0 && !tendon_json_equals(&p->j, key, name_of(one)); one = after(one)) {
            place++;
        }
        if (*one == 0) {
            return wrong_member(p, key, shape);
        }
        if (found[place] != 0) {
            return tendon_parse_wrong_this(p, key, " is there twice");
        }
        if (!check_kind(p, value, (unsigned char)name_of(one)[-1])) {
            return false;
        }
        found[place] = value;
    }
    place = 0;
    for (const char *one = members; *one != 0; one = after(one)) {
        if (found[place++] == 0 && is_required(one)) {
            char text[80];
            size_t length = add_text(text, 0, sizeof text, shape);
            length = add_text(text, length, sizeof text, " has no '");
            length = add_text(text, length, sizeof text, name_of(one));
            add_text(text, length, sizeof text, "'");
            return tendon_parse_wrong(p, object, text);
        }
    }
    return true;
}

/* Texts and numbers */

/* Texts end with a terminator, so a text that is the end of another one is not found: it is stored again. */
static bool find_text(const parser *p, const char *text, size_t length, uint16_t *out) {
    for (size_t i = 0; i + length < p->out->text_length; i += 1) {
        bool begins = i == 0 || p->out->text[i - 1] == 0;
        if (begins && memcmp(p->out->text + i, text, length) == 0 && p->out->text[i + length] == 0) {
            *out = (uint16_t)i;
            return true;
        }
    }
    return false;
}

bool tendon_parse_text(parser *p, json_at at, uint16_t *out) {
    tendon_definition *d = p->out;
    char *room = d->text + d->text_length;
    size_t capacity = TENDON_DEFINITION_TEXT - d->text_length - 1U;
    if (at == 0) {
        return true;
    }
    size_t length = tendon_json_string(&p->j, at, room, capacity);
    if (length == capacity) {
        return tendon_parse_full(p, at, "names");
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)room[i] < ' ') {
            return tendon_parse_wrong_this(p, at, " contains a control character");
        }
    }
    if (length == 0) {
        return tendon_parse_wrong(p, at, "this text is empty");
    }
    room[length] = 0;
    if (find_text(p, room, length, out)) {
        return true;
    }
    *out = d->text_length;
    d->text_length = (uint16_t)(d->text_length + length + 1);
    return true;
}

bool tendon_parse_name(parser *p, json_at at, uint16_t *out) {
    if (at == 0 || !tendon_parse_text(p, at, out)) {
        return at == 0;
    }
    const char *name = p->out->text + *out;
    bool is_right = *name >= 'a' && *name <= 'z';
    size_t length = 0;
    for (; name[length] != 0; length++) {
        char c = name[length];
        is_right = is_right && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
    }
    return (is_right && length <= 48) ||
           tendon_parse_wrong_this(p, at, " is no name: small letters, digits and '_', at most 48, a letter first");
}

bool tendon_parse_uuid(parser *p, json_at at, tendon_uuid *out) {
    size_t length;
    const char *text = tendon_json_raw(&p->j, at, &length);
    return tendon_uuid_parse(text, length, out, NULL) == TENDON_OK ||
           tendon_parse_wrong_this(p, at, " is no UUID: 4, 8 or 8-4-4-4-12 hexadecimal digits");
}

bool tendon_parse_wrong_range(parser *p, json_at at, const char *after, int64_t low, int64_t high) {
    char range[96];
    size_t length = tendon_parse_add_number(range, 0, sizeof range, after, low);
    (void)tendon_parse_add_number(range, length, sizeof range, " to ", high);
    return tendon_parse_wrong_this(p, at, range);
}

bool tendon_parse_integer(parser *p, json_at at, int64_t low, int64_t high, int64_t *out) {
    if (at == 0) {
        return true;
    }
    if (!tendon_json_integer(&p->j, at, out)) {
        return tendon_parse_wrong_this(p, at, " is no integer");
    }
    return (*out >= low && *out <= high) || tendon_parse_wrong_range(p, at, " is out of range: ", low, high);
}

bool tendon_parse_endian(parser *p, json_at at, bool *is_big) {
    if (at == 0) {
        return true;
    }
    *is_big = tendon_json_equals(&p->j, at, "big");
    return *is_big || tendon_json_equals(&p->j, at, "little") ||
           tendon_parse_wrong_this(p, at, " is neither big nor little");
}

/* Tables */

static const struct {
    uint16_t names, row, count, capacity;
    const char *what;
} tables[] = {
#define TABLE(rows, type, count, capacity, what)                                                                       \
    {                                                                                                                  \
        offsetof(tendon_definition, rows) + offsetof(type, name), sizeof(type), offsetof(tendon_definition, count),    \
            capacity, what                                                                                             \
    }
    [ROWS] = TABLE(rows, tendon_definition_row, row_count, TENDON_DEFINITION_ROWS, "characteristics"),
    [LAYOUTS] = TABLE(layouts, tendon_layout, layout_count, TENDON_DEFINITION_LAYOUTS, "layouts"),
    [EVENTS] = TABLE(events, tendon_definition_event, event_count, TENDON_DEFINITION_EVENTS, "events"),
    [ACTIONS] = TABLE(actions, tendon_definition_action, action_count, TENDON_DEFINITION_ACTIONS, "actions"),
};

static uint16_t count_of(const tendon_definition *d, table which) {
    return *(const uint16_t *)((const char *)d + tables[which].count);
}

static uint16_t name_in(const tendon_definition *d, table which, uint16_t row) {
    return *(const uint16_t *)((const char *)d + tables[which].names + (size_t)tables[which].row * row);
}

uint16_t tendon_parse_find(const tendon_definition *d, table which, uint16_t name) {
    for (uint16_t i = 0; i < count_of(d, which); i++) {
        if (name_in(d, which, i) == name) {
            return i;
        }
    }
    return TENDON_DEFINITION_NONE;
}

bool tendon_parse_has_room(parser *p, json_at at, table which) {
    return count_of(p->out, which) < tables[which].capacity || tendon_parse_full(p, at, tables[which].what);
}

bool tendon_parse_new(parser *p, json_at at, table which, uint16_t *name) {
    return tendon_parse_has_room(p, at, which) && tendon_parse_name(p, at, name) &&
           (tendon_parse_find(p->out, which, *name) == TENDON_DEFINITION_NONE ||
            tendon_parse_wrong_this(p, at, " is there twice"));
}

bool tendon_parse_free(parser *p, json_at at, uint16_t name, const char *taken, size_t count, const char *after) {
    const char *text = p->out->text + name;
    return tendon_packed_index(taken, count, text, tendon_string_length(text)) < 0 ||
           tendon_parse_wrong_this(p, at, after);
}

bool tendon_parse_known(parser *p, json_at at, table which, uint16_t *row) {
    uint16_t name = 0;
    if (!tendon_parse_name(p, at, &name)) {
        return false;
    }
    *row = tendon_parse_find(p->out, which, name);
    if (*row != TENDON_DEFINITION_NONE) {
        return true;
    }
    nearest n = tendon_parse_nearest(p, at);
    for (uint16_t i = 0; i < count_of(p->out, which); i++) {
        tendon_parse_offer(&n, p->out->text + name_in(p->out, which, i));
    }
    return tendon_parse_wrong_word(p, at, " is none of the ", tables[which].what, &n);
}
