/* SPDX-License-Identifier: MIT */
#include "parser.h"

#include <string.h>

bool tendon_parse_wrong_value(parser *p, json_at at, const char *before, json_at quoted, const char *after) {
    tendon_json_wrong(&p->j, at, before, quoted, after);
    return false;
}

bool tendon_parse_wrong(parser *p, json_at at, const char *text) {
    return tendon_parse_wrong_value(p, at, text, JSON_NOWHERE, "");
}

bool tendon_parse_full(parser *p, json_at at, const char *what) {
    p->is_full = true;
    return tendon_parse_wrong_value(p, at, "too many ", JSON_NOWHERE, what);
}

static bool is_of_kind(const parser *p, json_at value, member_kind kind) {
    json_type type = tendon_json_type_of(&p->j, value);
    switch (kind) {
    case STRING:
    case NAME:
        return type == JSON_STRING;
    case NUMBER:
    case INTEGER:
        return type == JSON_NUMBER || type == JSON_STRING;
    case BOOLEAN:
        return type == JSON_BOOLEAN;
    case ARRAY:
        return type == JSON_ARRAY;
    case OBJECT:
        return type == JSON_OBJECT;
    case REFERENCE:
        return type == JSON_STRING || type == JSON_ARRAY || type == JSON_OBJECT;
    default:
        return true;
    }
}

static const char *const kinds[] = {[ANY] = "",
                                    [STRING] = " must be a string",
                                    [NAME] = " must be a name in quotes",
                                    [NUMBER] = " must be a number",
                                    [INTEGER] = " must be an integer",
                                    [BOOLEAN] = " must be true or false",
                                    [ARRAY] = " must be an array",
                                    [OBJECT] = " must be an object",
                                    [REFERENCE] = " must be a name, an array or an object"};

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
    size_t length = tendon_json_string(&p->j, word, n.word, sizeof n.word);
    n.length = length < sizeof n.word ? length : 0;
    return n;
}

/* Letters that are added, missing or wrong (Levenshtein). */
static unsigned distance_of(const char *a, size_t length, const char *b) {
    uint8_t row[NEAREST_WORD + 1]; /* of the beginnings of a, to the letters of b so far */
    for (size_t i = 0; i <= length; i++) {
        row[i] = (uint8_t)i;
    }
    for (; *b != 0; b++) {
        unsigned before = row[0]++;
        for (size_t i = 1; i <= length; i++) {
            unsigned best = before + (a[i - 1] == *b ? 0 : 1),
                     change = 1U + (row[i] < row[i - 1] ? row[i] : row[i - 1]);
            before = row[i];
            row[i] = (uint8_t)(best < change ? best : change);
        }
    }
    return row[length];
}

bool tendon_parse_is_inside(const char *known, const char *word, size_t length) {
    size_t found = 0;
    for (size_t i = 0; i < length; i++) {
        found += known[found] != 0 && word[i] == known[found] ? 1 : 0;
    }
    return known[found] == 0 && word[0] == known[0] && found > 0 && word[length - 1] == known[found - 1];
}

void tendon_parse_offer(nearest *n, const char *known) {
    if (n->length == 0) {
        return;
    }
    unsigned distance = distance_of(n->word, n->length, known);
    /* Two letters that changed their places are two; shorter words have many neighbors. What is inside comes last. */
    unsigned most = n->length < 4 ? 1 : 2;
    if (distance > most) {
        distance = tendon_parse_is_inside(known, n->word, n->length) ? NEAREST_WORD - 1 : NEAREST_WORD;
    }
    if (distance < n->distance) {
        n->distance = distance;
        n->text = known;
    }
}

bool tendon_parse_wrong_word(parser *p, json_at word, const char *before, const char *after, const nearest *n,
                             const char *otherwise) {
    char text[160];
    size_t length = add_text(text, 0, sizeof text, after);
    if (n->text != NULL) {
        length = add_text(text, length, sizeof text, "; did you mean '");
        length = add_text(text, length, sizeof text, n->text);
        length = add_text(text, length, sizeof text, "'?");
    }
    add_text(text, length, sizeof text, n->text == NULL ? otherwise : "");
    return tendon_parse_wrong_value(p, word, before, word, text);
}

static bool wrong_member(parser *p, json_at key, const char *what, const member *known, size_t count) {
    char text[80];
    size_t length = add_text(text, 0, sizeof text, " is not a member of ");
    add_text(text, length, sizeof text, what);
    nearest n = tendon_parse_nearest(p, key);
    for (size_t i = 0; i < count; i++) {
        tendon_parse_offer(&n, known[i].name);
    }
    return tendon_parse_wrong_word(p, key, "", text, &n, "");
}

bool tendon_parse_members(parser *p, json_at object, const char *what, const member *known, size_t count,
                          json_at *found) {
    memset(found, 0, count * sizeof *found);
    if (tendon_json_type_of(&p->j, object) != JSON_OBJECT) {
        return tendon_parse_wrong_value(p, object, what, JSON_NOWHERE, " must be an object");
    }
    json_at key = tendon_json_first(&p->j, object);
    for (size_t i = tendon_json_count(&p->j, object); i > 0; i--) {
        json_at value = tendon_json_next(&p->j, key);
        size_t place = 0;
        while (place < count && !tendon_json_equals(&p->j, key, known[place].name)) {
            place++;
        }
        if (place == count) {
            return wrong_member(p, key, what, known, count);
        }
        if (found[place] != 0) {
            return tendon_parse_wrong_value(p, key, "", key, " is there twice");
        }
        if (!is_of_kind(p, value, known[place].kind)) {
            return tendon_parse_wrong_value(p, value, "", key, kinds[known[place].kind]);
        }
        found[place] = value;
        key = tendon_json_next(&p->j, value);
    }
    return true;
}

bool tendon_parse_require(parser *p, json_at object, const char *what, const member *known, const json_at *found,
                          size_t index) {
    char text[80];
    if (found[index] != 0) {
        return true;
    }
    size_t length = add_text(text, 0, sizeof text, what);
    length = add_text(text, length, sizeof text, " has no '");
    length = add_text(text, length, sizeof text, known[index].name);
    add_text(text, length, sizeof text, "'");
    return tendon_parse_wrong(p, object, text);
}

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
    size_t length = tendon_json_string(&p->j, at, room, capacity);
    if (length == capacity) {
        return tendon_parse_full(p, at, "names");
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)room[i] < ' ') {
            return tendon_parse_wrong_value(p, at, "", at, " contains a control character");
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
    if (!tendon_parse_text(p, at, out)) {
        return false;
    }
    const char *name = p->out->text + *out;
    bool is_right = *name >= 'a' && *name <= 'z';
    size_t length = 0;
    for (; name[length] != 0; length++) {
        char c = name[length];
        is_right = is_right && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
    }
    return (is_right && length <= 48) ||
           tendon_parse_wrong_value(p, at, "", at,
                                    " is no name: small letters, digits and '_', at most 48, a letter first");
}

bool tendon_parse_uuid(parser *p, json_at at, tendon_uuid *out) {
    char text[40];
    size_t length = tendon_json_string(&p->j, at, text, sizeof text);
    return (length < sizeof text && tendon_uuid_parse(text, length, out, NULL) == TENDON_OK) ||
           tendon_parse_wrong_value(p, at, "", at, " is no UUID: 4, 8 or 32 hexadecimal digits");
}

bool tendon_parse_integer(parser *p, json_at at, int64_t low, int64_t high, int64_t *out) {
    if (!tendon_json_integer(&p->j, at, out)) {
        return tendon_parse_wrong_value(p, at, "", at, " is no integer");
    }
    if (*out >= low && *out <= high) {
        return true;
    }
    char range[64];
    size_t length = tendon_parse_add_number(range, 0, sizeof range, " is out of range: ", low);
    (void)tendon_parse_add_number(range, length, sizeof range, " to ", high);
    return tendon_parse_wrong_value(p, at, "", at, range);
}
