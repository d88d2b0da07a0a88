/* SPDX-License-Identifier: MIT */
/* Layouts of a file and their fields. */
#include "date.h"
#include "number.h"
#include "parser.h"

#include <string.h>

enum {
    F_NAME,
    F_TYPE,
    F_UNIT,
    F_TITLE,
    F_CLASS,
    F_VALUES,
    F_FACTOR,
    F_DIVISOR,
    F_OFFSET,
    F_DECIMALS,
    F_UNKNOWN,
    F_MIN,
    F_MAX,
    F_EQUALS,
    F_BITS,
    F_IF,
    F_LENGTH,
    F_AT_LEAST,
    F_AT_MOST,
    F_RATE,
    F_PER,
    F_RECORDS,
    F_COUNT,
    F_SWITCH,
    F_CASES,
    F_OTHERWISE,
    F_ENDIAN,
    F_OPTIONAL,
    F_HIDDEN,
    F_EPOCH,
    F_LOCAL,
    F_MEMBERS
};

static const member field_members[F_MEMBERS] = {
    [F_NAME] = {"name", NAME},
    [F_TYPE] = {"type", STRING},
    [F_UNIT] = {"unit", STRING},
    [F_TITLE] = {"title", STRING},
    [F_CLASS] = {"class", STRING},
    [F_VALUES] = {"values", ARRAY},
    [F_FACTOR] = {"factor", NUMBER},
    [F_DIVISOR] = {"divisor", NUMBER},
    [F_OFFSET] = {"offset", NUMBER},
    [F_DECIMALS] = {"decimals", INTEGER},
    [F_UNKNOWN] = {"unknown", INTEGER},
    [F_MIN] = {"min", INTEGER},
    [F_MAX] = {"max", INTEGER},
    [F_EQUALS] = {"equals", INTEGER},
    [F_BITS] = {"bits", ARRAY},
    [F_IF] = {"if", STRING},
    [F_LENGTH] = {"length", ANY},
    [F_AT_LEAST] = {"at_least", INTEGER},
    [F_AT_MOST] = {"at_most", INTEGER},
    [F_RATE] = {"rate", NAME},
    [F_PER] = {"per", NAME},
    [F_RECORDS] = {"records", REFERENCE},
    [F_COUNT] = {"count", ANY},
    [F_SWITCH] = {"switch", NAME},
    [F_CASES] = {"cases", OBJECT},
    [F_OTHERWISE] = {"otherwise", REFERENCE},
    [F_ENDIAN] = {"endian", STRING},
    [F_OPTIONAL] = {"optional", BOOLEAN},
    [F_HIDDEN] = {"hidden", BOOLEAN},
    [F_EPOCH] = {"epoch", STRING},
    [F_LOCAL] = {"local", BOOLEAN},
};

/* Which members each kind of field has, beside these. */
#define BIT(member) (1UL << (member))
static const uint32_t common = BIT(F_NAME) | BIT(F_IF) | BIT(F_HIDDEN);
static const uint32_t described = BIT(F_TYPE) | BIT(F_TITLE) | BIT(F_OPTIONAL);
static const uint32_t numbers =
    BIT(F_UNIT) | BIT(F_CLASS) | BIT(F_FACTOR) | BIT(F_DIVISOR) | BIT(F_OFFSET) | BIT(F_DECIMALS) | BIT(F_ENDIAN);
static const uint32_t integers = BIT(F_VALUES) | BIT(F_UNKNOWN) | BIT(F_MIN) | BIT(F_MAX) | BIT(F_EQUALS) | BIT(F_BITS);
static const uint32_t dates = BIT(F_CLASS) | BIT(F_ENDIAN);
static const uint32_t counts =
    BIT(F_EPOCH) | BIT(F_LOCAL) | BIT(F_FACTOR) | BIT(F_DIVISOR) | BIT(F_DECIMALS) | BIT(F_UNKNOWN);

static const struct {
    const char *name;
    uint8_t type, size, flags;
} types[] = {
    {"u8", TENDON_FIELD_INTEGER, 1, 0},
    {"u16", TENDON_FIELD_INTEGER, 2, 0},
    {"u24", TENDON_FIELD_INTEGER, 3, 0},
    {"u32", TENDON_FIELD_INTEGER, 4, 0},
    {"u48", TENDON_FIELD_INTEGER, 6, 0},
    {"u64", TENDON_FIELD_INTEGER, 8, 0},
    {"i8", TENDON_FIELD_INTEGER, 1, TENDON_FIELD_SIGNED},
    {"i16", TENDON_FIELD_INTEGER, 2, TENDON_FIELD_SIGNED},
    {"i24", TENDON_FIELD_INTEGER, 3, TENDON_FIELD_SIGNED},
    {"i32", TENDON_FIELD_INTEGER, 4, TENDON_FIELD_SIGNED},
    {"i64", TENDON_FIELD_INTEGER, 8, TENDON_FIELD_SIGNED},
    {"f32", TENDON_FIELD_FLOAT32, 4, 0},
    {"sfloat", TENDON_FIELD_SFLOAT, 2, 0},
    {"float", TENDON_FIELD_FLOAT, 4, 0},
    {"bytes", TENDON_FIELD_BYTES, 0, 0},
    {"utf8", TENDON_FIELD_UTF8, 0, 0},
    {"datetime", TENDON_FIELD_DATE, 7, 0},
};

#define FACTOR_MAX 1e30 /* so that every product is a number */

/* The layout that is being read. */
typedef struct reading {
    parser *p;
    uint16_t first; /* its fields, up to those of the definition */
    json_at found[F_MEMBERS];
    json_at at; /* the field */
    bool is_big_endian;
} reading;

/* References to earlier fields */

/* The last field before `end` that is an integer of this name. */
static uint16_t field_before(const tendon_definition *d, uint16_t first, uint16_t end, const char *name,
                             size_t length) {
    for (uint16_t i = end; i > first; i--) {
        const tendon_field *field = &d->fields[i - 1];
        bool is_number = field->type == TENDON_FIELD_INTEGER || field->type == TENDON_FIELD_PART;
        if (is_number && field->name != 0 && tendon_json_is(d->text + field->name, name, length)) {
            return (uint16_t)(i - 1);
        }
    }
    return TENDON_DEFINITION_NONE;
}

/* An earlier field of the layout, or of those in whose place it stands. */
static uint16_t find_field(const reading *r, const char *name, size_t length) {
    const parser *p = r->p;
    uint16_t layout = p->inside, end = p->out->field_count;
    uint16_t found = field_before(p->out, r->first, end, name, length);
    while (found == TENDON_DEFINITION_NONE && p->around[layout] != TENDON_DEFINITION_NONE) {
        end = p->around[layout];
        layout = p->around_layout[layout];
        found = field_before(p->out, p->out->layouts[layout].first, end, name, length);
    }
    return found;
}

/* Offers the integers of a layout before `end`. */
static void offer_fields(const tendon_definition *d, uint16_t first, uint16_t end, nearest *n) {
    for (uint16_t i = first; i < end; i++) {
        const tendon_field *field = &d->fields[i];
        if (field->name != 0 && (field->type == TENDON_FIELD_INTEGER || field->type == TENDON_FIELD_PART)) {
            tendon_parse_offer(n, d->text + field->name);
        }
    }
}

static bool wrong_field(const reading *r, json_at at, const char *name, size_t length) {
    parser *p = r->p;
    nearest n = {.distance = NEAREST_WORD, .length = length <= NEAREST_WORD ? length : 0};
    memcpy(n.word, name, n.length);
    offer_fields(p->out, r->first, p->out->field_count, &n);
    for (uint16_t layout = p->inside; p->around[layout] != TENDON_DEFINITION_NONE; layout = p->around_layout[layout]) {
        offer_fields(p->out, p->out->layouts[p->around_layout[layout]].first, p->around[layout], &n);
    }
    return tendon_parse_wrong_word(
        p, at, "no integer before this one is called ", "", &n,
        p->around[p->inside] == TENDON_DEFINITION_NONE ? "; a layout with a name sees its own fields only" : "");
}

/* Finds an earlier field by its name; it is kept from now on. */
static bool refer(reading *r, json_at at, size_t skipped, uint8_t *kept, uint16_t *which) {
    tendon_definition *d = r->p->out;
    char name[64] = {0};
    size_t length = tendon_json_string(&r->p->j, at, name, sizeof name - 1);
    for (size_t i = 0; name[skipped] != 0 && i + skipped < length; i++) {
        length = name[skipped + i] == '=' ? skipped + i : length;
    }
    uint16_t found = find_field(r, name + skipped, length - skipped);
    if (found == TENDON_DEFINITION_NONE) {
        return wrong_field(r, at, name + skipped, length - skipped);
    }
    tendon_field *field = &d->fields[found];
    if (field->keep == 0) {
        if (d->kept_count == TENDON_DEFINITION_KEPT) {
            return tendon_parse_full(r->p, at, "fields that others refer to");
        }
        field->keep = (uint8_t)++d->kept_count;
        field->flags |= field->unit == 0 && field->count == 0 && field->title == 0 ? TENDON_FIELD_HIDDEN : 0;
    }
    *kept = field->keep;
    if (which != NULL) {
        *which = found;
    }
    return true;
}

static bool read_digits(const char *text, size_t length, int64_t *out) {
    bool is_right = length > 0 && length <= 17;
    for (size_t i = 0; i < length && is_right; i++) {
        is_right = text[i] >= '0' && text[i] <= '9';
        *out = *out * 10 + (text[i] - '0');
    }
    return is_right;
}

/* "name", "!name" or "name=3". */
static bool read_condition(reading *r, tendon_field *field) {
    json_at at = r->found[F_IF];
    char text[64] = {0};
    size_t length = tendon_json_string(&r->p->j, at, text, sizeof text - 1);
    size_t first = text[0] == '!' ? 1 : 0, end = first;
    while ((text[end] >= 'a' && text[end] <= 'z') || (text[end] >= '0' && text[end] <= '9') || text[end] == '_') {
        end++;
    }
    field->condition = first > 0 ? TENDON_FIELD_IF_ZERO : TENDON_FIELD_IF_SET;
    bool is_right = end > first;
    if (end < length) {
        field->condition = TENDON_FIELD_IF_EQUAL;
        is_right = is_right && first == 0 && text[end] == '=' &&
                   read_digits(text + end + 1, length - end - 1, &field->condition_value);
    }
    return is_right ? refer(r, at, first, &field->condition_from, NULL)
                    : tendon_parse_wrong_value(r->p, at, "", at, " is no condition: 'name', '!name' or 'name=3'");
}

/* A length or a count: a number, or the name of an earlier field. */
static bool read_measure(reading *r, json_at at, int64_t most, uint8_t *from, int64_t *fixed) {
    if (tendon_json_type_of(&r->p->j, at) == JSON_STRING) {
        return refer(r, at, 0, from, NULL);
    }
    return tendon_parse_integer(r->p, at, 1, most, fixed);
}

/* Numbers */

static bool read_words(parser *p, json_at at, tendon_field *field) {
    tendon_definition *d = p->out;
    field->first = d->word_count;
    json_at pair = tendon_json_first(&p->j, at);
    for (size_t i = tendon_json_count(&p->j, at); i > 0; i--, pair = tendon_json_next(&p->j, pair)) {
        if (tendon_json_type_of(&p->j, pair) != JSON_ARRAY || tendon_json_count(&p->j, pair) != 2) {
            return tendon_parse_wrong(p, pair, "a value with its name is expected here: [0, \"off\"]");
        }
        if (d->word_count == TENDON_DEFINITION_WORDS) {
            return tendon_parse_full(p, pair, "names of values");
        }
        json_at number = tendon_json_first(&p->j, pair), name = tendon_json_next(&p->j, number);
        tendon_word *word = &d->words[d->word_count];
        if (!tendon_parse_integer(p, number, INT64_MIN, INT64_MAX, &word->value)) {
            return false;
        }
        if (tendon_json_type_of(&p->j, name) != JSON_STRING) {
            return tendon_parse_wrong(p, name, "the name of a value must be a string");
        }
        for (uint16_t w = field->first; w < d->word_count; w++) {
            if (d->words[w].value == word->value) {
                return tendon_parse_wrong_value(p, number, "", number, " has a name already");
            }
        }
        if (!tendon_parse_text(p, name, &word->text)) {
            return false;
        }
        d->word_count++;
        field->count++;
    }
    return true;
}

static bool read_factor(reading *r, size_t member_index, bool may_be_zero, double *out) {
    json_at at = r->found[member_index];
    if (at == 0) {
        return true;
    }
    bool is_number = tendon_json_number(&r->p->j, at, out);
    double size = *out < 0 ? -*out : *out;
    return (is_number && size <= FACTOR_MAX && (size >= 1 / FACTOR_MAX || (size == 0 && may_be_zero))) ||
           tendon_parse_wrong_value(r->p, at, "", at,
                                    may_be_zero ? " must be a number without quotes, up to 1e30"
                                                : " must be a number without quotes, not 0, up to 1e30");
}

static bool read_scale(reading *r, tendon_field *field) {
    int64_t decimals = 0;
    if (!read_factor(r, F_FACTOR, false, &field->factor) || !read_factor(r, F_DIVISOR, false, &field->divisor) ||
        !read_factor(r, F_OFFSET, true, &field->offset)) {
        return false;
    }
    bool is_scaled = field->factor != 1 || field->divisor != 1;
    field->decimals = is_scaled ? tendon_number_decimals(field->factor / field->divisor) : 0;
    uint8_t of_offset =
        tendon_number_decimals(field->offset - (double)(int64_t)(field->offset < 1e15 ? field->offset : 0));
    field->decimals = field->offset != 0 && of_offset < 4 && of_offset > field->decimals ? of_offset : field->decimals;
    if (r->found[F_DECIMALS] != 0) {
        if (!tendon_parse_integer(r->p, r->found[F_DECIMALS], 0, 9, &decimals)) {
            return false;
        }
        field->decimals = (uint8_t)decimals;
    }
    return true;
}

/* The numbers that so many bits can have. */
static void span(const tendon_field *field, int64_t *low, int64_t *high) {
    bool is_signed = (field->flags & TENDON_FIELD_SIGNED) != 0;
    unsigned bits = field->type == TENDON_FIELD_PART ? field->bits : 8U * field->size - (is_signed ? 1 : 0);
    *high = bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
    *low = is_signed ? -*high - 1 : 0;
}

static bool read_limits(reading *r, tendon_field *field) {
    int64_t low, high;
    span(field, &low, &high);
    field->low = low;
    field->high = high;
    json_at equals = r->found[F_EQUALS];
    if (equals != 0 && (r->found[F_MIN] != 0 || r->found[F_MAX] != 0)) {
        return tendon_parse_wrong(r->p, equals, "'equals' beside 'min' or 'max'");
    }
    json_at min = equals != 0 ? equals : r->found[F_MIN], max = equals != 0 ? equals : r->found[F_MAX];
    if ((min != 0 && !tendon_parse_integer(r->p, min, low, high, &field->low)) ||
        (max != 0 && !tendon_parse_integer(r->p, max, low, high, &field->high))) {
        return false;
    }
    if (field->low > field->high) {
        return tendon_parse_wrong(r->p, max, "'max' is less than 'min'");
    }
    field->flags |= min != 0 || max != 0 ? TENDON_FIELD_LIMITED : 0;
    if (r->found[F_UNKNOWN] != 0) {
        field->flags |= TENDON_FIELD_UNKNOWN;
        return tendon_parse_integer(r->p, r->found[F_UNKNOWN], low, high, &field->unknown);
    }
    return true;
}

/* Adding fields */

static tendon_field *add_field(reading *r, json_at at) {
    tendon_definition *d = r->p->out;
    if (d->field_count == TENDON_DEFINITION_FIELDS) {
        tendon_parse_full(r->p, at, "fields");
        return NULL;
    }
    tendon_field *field = &d->fields[d->field_count];
    memset(field, 0, sizeof *field);
    field->factor = 1;
    field->divisor = 1;
    field->layout = TENDON_DEFINITION_NONE;
    field->at_most = 0xFFFF;
    return field;
}

static bool read_name(reading *r, json_at at, tendon_field *field) {
    static const char *const taken[] = {"time", "event",       "family",     "address", "address_type",
                                        "name", "received_at", "sampled_at", "error_ms"};
    tendon_definition *d = r->p->out;
    if (at == 0) {
        return true;
    }
    if (!tendon_parse_name(r->p, at, &field->name)) {
        return false;
    }
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        if (tendon_json_equals(&r->p->j, at, taken[i])) {
            return tendon_parse_wrong_value(r->p, at, "", at, " is a member of every line; choose another name");
        }
    }
    for (uint16_t i = r->first; i < d->field_count; i++) {
        const tendon_field *other = &d->fields[i];
        /* The same under two conditions: 8 bits or 16, for example. */
        if (other->name == field->name && (other->condition == 0 || r->found[F_IF] == 0)) {
            return tendon_parse_wrong_value(r->p, at, "", at,
                                            " is there twice; two fields of one name need an 'if' each");
        }
    }
    return true;
}

static bool read_texts(reading *r, tendon_field *field) {
    return (r->found[F_UNIT] == 0 || tendon_parse_text(r->p, r->found[F_UNIT], &field->unit)) &&
           (r->found[F_TITLE] == 0 || tendon_parse_text(r->p, r->found[F_TITLE], &field->title)) &&
           (r->found[F_CLASS] == 0 || tendon_parse_name(r->p, r->found[F_CLASS], &field->kind));
}

static void hide(reading *r, tendon_field *field) {
    if (r->found[F_HIDDEN] != 0) {
        bool is_hidden = tendon_json_is_true(&r->p->j, r->found[F_HIDDEN]);
        field->flags = (uint8_t)(is_hidden ? field->flags | TENDON_FIELD_HIDDEN : field->flags & ~TENDON_FIELD_HIDDEN);
    }
}

static bool allow(reading *r, uint32_t members) {
    for (size_t i = 0; i < F_MEMBERS; i++) {
        if (r->found[i] != 0 && (members & BIT(i)) == 0) {
            char before[48] = "'";
            size_t length = 1;
            for (size_t c = 0; field_members[i].name[c] != 0; c++) {
                before[length++] = field_members[i].name[c];
            }
            memcpy(before + length, "' has no meaning for ", 22);
            bool is_time = r->found[F_EPOCH] != 0 && i != F_EPOCH;
            bool is_typed = r->found[F_TYPE] != 0 && !is_time;
            return tendon_parse_wrong_value(r->p, r->found[i], before, is_typed ? r->found[F_TYPE] : JSON_NOWHERE,
                                            is_typed  ? ""
                                            : is_time ? "a time with 'epoch'"
                                                      : "this field");
        }
    }
    return true;
}

static bool read_part(reading *r, json_at at, const tendon_field *whole) {
    enum { NAME_, BIT_, COUNT_, VALUES_, TITLE_, UNIT_, HIDDEN_, FACTOR_, OFFSET_, MEMBERS_ };
    static const member members[MEMBERS_] = {{"name", NAME},      {"bit", INTEGER},   {"count", INTEGER},
                                             {"values", ARRAY},   {"title", STRING},  {"unit", STRING},
                                             {"hidden", BOOLEAN}, {"factor", NUMBER}, {"offset", NUMBER}};
    json_at found[MEMBERS_];
    int64_t bit = 0, count = 1, width = 8 * whole->size;
    if (!tendon_parse_members(r->p, at, "a part of bits", members, MEMBERS_, found) ||
        !tendon_parse_require(r->p, at, "a part of bits", members, found, NAME_) ||
        !tendon_parse_require(r->p, at, "a part of bits", members, found, BIT_)) {
        return false;
    }
    uint16_t condition = whole->condition;
    tendon_field *part = add_field(r, at);
    if (part == NULL || !tendon_parse_integer(r->p, found[BIT_], 0, width - 1, &bit) ||
        (found[COUNT_] != 0 && !tendon_parse_integer(r->p, found[COUNT_], 1, width - bit, &count))) {
        return false;
    }
    part->type = TENDON_FIELD_PART;
    part->bit = (uint8_t)bit;
    part->bits = (uint8_t)count;
    part->condition = (uint8_t)condition;
    part->condition_from = whole->condition_from;
    part->condition_value = whole->condition_value;
    memset(r->found, 0, sizeof r->found);
    r->found[F_TITLE] = found[TITLE_];
    r->found[F_UNIT] = found[UNIT_];
    r->found[F_HIDDEN] = found[HIDDEN_];
    r->found[F_FACTOR] = found[FACTOR_];
    r->found[F_OFFSET] = found[OFFSET_];
    r->found[F_IF] = condition != 0 ? at : 0;
    if (!read_name(r, found[NAME_], part) || !read_texts(r, part) || !read_scale(r, part) ||
        (found[VALUES_] != 0 && !read_words(r->p, found[VALUES_], part))) {
        return false;
    }
    hide(r, part);
    r->p->out->field_count++;
    return true;
}

static bool read_parts(reading *r, json_at bits) {
    const tendon_field whole = r->p->out->fields[r->p->out->field_count - 1];
    json_at at = tendon_json_first(&r->p->j, bits);
    for (size_t i = tendon_json_count(&r->p->j, bits); i > 0; i--, at = tendon_json_next(&r->p->j, at)) {
        if (!read_part(r, at, &whole)) {
            return false;
        }
    }
    return true;
}

static bool read_endian(parser *p, json_at at, bool *is_big) {
    *is_big = tendon_json_equals(&p->j, at, "big");
    return *is_big || tendon_json_equals(&p->j, at, "little") ||
           tendon_parse_wrong_value(p, at, "", at, " is neither big nor little");
}

/* A count of seconds, or of parts of them, since a date. */
static bool read_epoch(reading *r, tendon_field *field) {
    enum { MICROSECONDS = 6 };
    char text[40];
    json_at at = r->found[F_EPOCH];
    if (at == 0) {
        return true;
    }
    int64_t seconds = 0;
    size_t length = tendon_json_string(&r->p->j, at, text, sizeof text);
    if (length == sizeof text || !tendon_date_parse(text, length, true, &seconds)) {
        return tendon_parse_wrong_value(r->p, at, "", at, " is no date, such as '1970-01-01'");
    }
    field->offset = (double)seconds;
    field->type = TENDON_FIELD_EPOCH;
    field->flags |= r->found[F_LOCAL] != 0 && tendon_json_is_true(&r->p->j, r->found[F_LOCAL]) ? TENDON_FIELD_LOCAL : 0;
    field->decimals = field->decimals < MICROSECONDS ? field->decimals : MICROSECONDS;
    return true;
}

/* Which members it may have. */
static uint32_t members_of(const reading *r, const tendon_field *field) {
    if (field->type == TENDON_FIELD_DATE) {
        return common | described | dates;
    }
    bool is_integer = field->type == TENDON_FIELD_INTEGER;
    if (is_integer && r->found[F_EPOCH] != 0) {
        return common | described | dates | counts;
    }
    return common | described | numbers | (is_integer ? integers : 0);
}

static bool read_number_field(reading *r, tendon_field *field) {
    bool is_big = r->is_big_endian;
    json_at bits = r->found[F_BITS];
    if (!allow(r, members_of(r, field)) ||
        (r->found[F_ENDIAN] != 0 && !read_endian(r->p, r->found[F_ENDIAN], &is_big)) || !read_scale(r, field) ||
        !read_limits(r, field) || !read_epoch(r, field) ||
        (r->found[F_VALUES] != 0 && !read_words(r->p, r->found[F_VALUES], field))) {
        return false;
    }
    field->flags |= (uint8_t)(is_big ? TENDON_FIELD_BIG_ENDIAN : 0);
    field->flags |= (uint8_t)(bits != 0 ? TENDON_FIELD_HIDDEN : 0); /* its parts are shown */
    hide(r, field);
    r->p->out->field_count++;
    return bits == 0 || read_parts(r, bits);
}

static bool read_bytes_field(reading *r, tendon_field *field) {
    int64_t length = 0, at_least = 0, at_most = 0xFFFF;
    json_at at = r->found[F_LENGTH];
    bool is_rest =
        at == 0 || (tendon_json_type_of(&r->p->j, at) == JSON_STRING && tendon_json_equals(&r->p->j, at, "rest"));
    if (!allow(r, common | described | BIT(F_LENGTH) | BIT(F_AT_LEAST) | BIT(F_AT_MOST)) ||
        (!is_rest && !read_measure(r, at, 255, &field->from, &length)) ||
        (r->found[F_AT_LEAST] != 0 && !tendon_parse_integer(r->p, r->found[F_AT_LEAST], 0, 512, &at_least)) ||
        (r->found[F_AT_MOST] != 0 && !tendon_parse_integer(r->p, r->found[F_AT_MOST], at_least, 512, &at_most))) {
        return false;
    }
    field->size = (uint8_t)length;
    field->at_least = (uint16_t)at_least;
    field->at_most = (uint16_t)at_most;
    hide(r, field);
    r->p->out->field_count++;
    return true;
}

static bool read_typed(reading *r, tendon_field *field) {
    json_at type = r->found[F_TYPE];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (tendon_json_equals(&r->p->j, type, types[i].name)) {
            field->type = types[i].type;
            field->size = types[i].size;
            field->flags = types[i].flags;
            bool is_optional = r->found[F_OPTIONAL] != 0 && tendon_json_is_true(&r->p->j, r->found[F_OPTIONAL]);
            field->flags |= (uint8_t)(is_optional ? TENDON_FIELD_OPTIONAL : 0);
            bool has_bytes = field->type == TENDON_FIELD_BYTES || field->type == TENDON_FIELD_UTF8;
            return read_texts(r, field) && (has_bytes ? read_bytes_field(r, field) : read_number_field(r, field));
        }
    }
    nearest n = tendon_parse_nearest(r->p, type);
    /* What is only near has other values: "f64" is no u64, "float32" no float. */
    for (size_t i = 0; i < sizeof types / sizeof types[0] && n.length > 3; i++) {
        n.text = tendon_parse_is_inside(types[i].name, n.word, n.length) ? types[i].name : n.text;
    }
    return tendon_parse_wrong_word(
        r->p, type, "no type is called ", "", &n,
        "; known: u8 u16 u24 u32 u48 u64 i8 i16 i24 i32 i64 f32 sfloat float bytes utf8 datetime");
}

/* How fast a count grows: both are earlier integers. */
static bool read_rate(reading *r, tendon_field *field) {
    tendon_definition *d = r->p->out;
    uint8_t kept = 0;
    field->type = TENDON_FIELD_RATE;
    field->decimals = 1;
    if (!allow(r, common | BIT(F_RATE) | BIT(F_PER) | BIT(F_UNIT) | BIT(F_TITLE) | BIT(F_CLASS) | BIT(F_FACTOR) |
                      BIT(F_DECIMALS)) ||
        !tendon_parse_require(r->p, r->at, "a rate", field_members, r->found, F_PER) || !read_texts(r, field) ||
        !read_scale(r, field) || !refer(r, r->found[F_RATE], 0, &kept, &field->first) ||
        !refer(r, r->found[F_PER], 0, &kept, &field->fixed)) {
        return false;
    }
    if (d->rate_count == TENDON_DEFINITION_RATES) {
        return tendon_parse_full(r->p, r->at, "rates");
    }
    field->decimals = field->decimals == 0 && r->found[F_DECIMALS] == 0 ? 1 : field->decimals;
    field->from = (uint8_t)d->rate_count++;
    hide(r, field);
    d->field_count++;
    return true;
}

/* A field that is not complete yet has its place, so that a layout inside of it comes behind it. */
static bool read_records(reading *r, tendon_field *field) {
    int64_t count = 0;
    uint16_t layout = 0;
    json_at records = r->found[F_RECORDS];
    field->type = TENDON_FIELD_RECORDS;
    if (!allow(r, common | BIT(F_RECORDS) | BIT(F_COUNT) | BIT(F_TITLE) | BIT(F_UNIT)) || !read_texts(r, field) ||
        (r->found[F_COUNT] != 0 && !read_measure(r, r->found[F_COUNT], 1024, &field->from, &count))) {
        return false;
    }
    field->fixed = (uint16_t)count;
    if (!tendon_parse_layout_reference(r->p, records, field->name, &layout)) {
        return false;
    }
    field->layout = layout;
    field->name = field->name != 0 ? field->name : r->p->out->layouts[layout].name;
    hide(r, field);
    r->p->out->field_count++;
    return true;
}

static bool read_case(reading *r, json_at key, json_at value, tendon_field *field) {
    tendon_definition *d = r->p->out;
    char digits[24];
    int64_t number = 0;
    if (!read_digits(digits, tendon_json_string(&r->p->j, key, digits, sizeof digits), &number)) {
        return tendon_parse_wrong_value(r->p, key, "", key, " is no number");
    }
    if (d->case_count == TENDON_DEFINITION_CASES) {
        return tendon_parse_full(r->p, key, "cases");
    }
    tendon_case *one = &d->cases[d->case_count];
    one->value = number;
    field->count++;
    d->case_count++;
    uint16_t layout = 0;
    if (!tendon_parse_layout_reference(r->p, value, 0, &layout)) {
        return false;
    }
    one->layout = layout;
    return true;
}

static bool read_switch(reading *r, tendon_field *field) {
    json_at cases = r->found[F_CASES], otherwise = r->found[F_OTHERWISE];
    field->type = TENDON_FIELD_SWITCH;
    field->first = r->p->out->case_count;
    if (!allow(r, common | BIT(F_SWITCH) | BIT(F_CASES) | BIT(F_OTHERWISE)) ||
        !tendon_parse_require(r->p, r->at, "a switch", field_members, r->found, F_CASES) ||
        !refer(r, r->found[F_SWITCH], 0, &field->from, NULL)) {
        return false;
    }
    json_at key = tendon_json_first(&r->p->j, cases);
    for (size_t i = tendon_json_count(&r->p->j, cases); i > 0; i--) {
        json_at value = tendon_json_next(&r->p->j, key);
        if (!read_case(r, key, value, field)) {
            return false;
        }
        key = tendon_json_next(&r->p->j, value);
    }
    if (otherwise != 0 && !tendon_parse_layout_reference(r->p, otherwise, 0, &field->layout)) {
        return false;
    }
    r->p->out->field_count++;
    return true;
}

static bool read_field(reading *r, json_at at) {
    r->at = at;
    if (!tendon_parse_members(r->p, at, "a field", field_members, F_MEMBERS, r->found)) {
        return false;
    }
    static const uint8_t kinds[] = {F_TYPE, F_RATE, F_RECORDS, F_SWITCH};
    unsigned count = 0;
    for (size_t i = 0; i < sizeof kinds; i++) {
        count += r->found[kinds[i]] != 0 ? 1 : 0;
    }
    if (count != 1) {
        return tendon_parse_wrong(r->p, at, "a field has one of 'type', 'rate', 'records' and 'switch'");
    }
    tendon_field *field = add_field(r, at);
    if (field == NULL || !read_name(r, r->found[F_NAME], field) || (r->found[F_IF] != 0 && !read_condition(r, field))) {
        return false;
    }
    if (r->found[F_TYPE] != 0) {
        return read_typed(r, field);
    }
    if (r->found[F_RATE] != 0) {
        return read_rate(r, field);
    }
    return r->found[F_RECORDS] != 0 ? read_records(r, field) : read_switch(r, field);
}

/* Layouts */

static bool add_layout(parser *p, json_at at, uint16_t name, uint16_t *out) {
    tendon_definition *d = p->out;
    if (d->layout_count == TENDON_DEFINITION_LAYOUTS) {
        return tendon_parse_full(p, at, "layouts");
    }
    *out = d->layout_count++;
    d->layouts[*out] = (tendon_layout){.name = name};
    p->layout_tokens[*out] = at;
    p->around[*out] = p->inside == TENDON_DEFINITION_NONE ? TENDON_DEFINITION_NONE : d->field_count;
    p->around_layout[*out] = p->inside;
    return true;
}

bool tendon_parse_layout_names(parser *p, json_at layouts) {
    json_at key = tendon_json_first(&p->j, layouts);
    for (size_t i = tendon_json_count(&p->j, layouts); i > 0; i--) {
        json_at value = tendon_json_next(&p->j, key);
        uint16_t name = 0, number = 0;
        if (!tendon_parse_name(p, key, &name)) {
            return false;
        }
        for (uint16_t other = 0; other < p->out->layout_count; other++) {
            if (p->out->layouts[other].name == name) {
                return tendon_parse_wrong_value(p, key, "the layout ", key, " is there twice");
            }
        }
        if (!add_layout(p, value, name, &number)) {
            return false;
        }
        key = tendon_json_next(&p->j, value);
    }
    return true;
}

bool tendon_parse_layout_reference(parser *p, json_at at, uint16_t name, uint16_t *out) {
    if (tendon_json_type_of(&p->j, at) != JSON_STRING) {
        return add_layout(p, at, name, out);
    }
    uint16_t wanted = 0;
    if (!tendon_parse_name(p, at, &wanted)) {
        return false;
    }
    for (uint16_t i = 0; i < p->out->layout_count; i++) {
        if (p->out->layouts[i].name == wanted) {
            *out = i;
            return true;
        }
    }
    nearest n = tendon_parse_nearest(p, at);
    for (uint16_t i = 0; i < p->out->layout_count; i++) {
        tendon_parse_offer(&n, p->out->text + p->out->layouts[i].name);
    }
    return tendon_parse_wrong_word(p, at, "no layout is called ", "", &n, "");
}

static bool read_layout(parser *p, uint16_t number) {
    static const member members[] = {{"fields", ARRAY}, {"exact", BOOLEAN}};
    tendon_layout *layout = &p->out->layouts[number];
    json_at at = p->layout_tokens[number], found[2] = {0};
    json_at fields = at;
    if (tendon_json_type_of(&p->j, at) == JSON_OBJECT) {
        if (!tendon_parse_members(p, at, "a layout", members, 2, found) ||
            !tendon_parse_require(p, at, "a layout", members, found, 0)) {
            return false;
        }
        fields = found[0];
        layout->is_exact = found[1] != 0 && tendon_json_is_true(&p->j, found[1]);
    } else if (tendon_json_type_of(&p->j, at) != JSON_ARRAY) {
        return tendon_parse_wrong(p, at, "a layout is an array of fields, or an object with 'fields'");
    }
    reading r = {.p = p, .first = p->out->field_count};
    r.is_big_endian = p->is_big_endian;
    layout->first = r.first;
    json_at field = tendon_json_first(&p->j, fields);
    for (size_t i = tendon_json_count(&p->j, fields); i > 0; i--, field = tendon_json_next(&p->j, field)) {
        if (!read_field(&r, field)) {
            return false;
        }
    }
    layout->count = (uint16_t)(p->out->field_count - layout->first);
    return true;
}

/* Layouts that are written in the place of a name come at the end, while this goes on. */
bool tendon_parse_layouts(parser *p) {
    for (uint16_t i = 0; i < p->out->layout_count; i++) {
        p->inside = i;
        if (!read_layout(p, i)) {
            return false;
        }
    }
    return true;
}
