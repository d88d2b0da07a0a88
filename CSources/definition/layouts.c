/* SPDX-License-Identifier: MIT */
/* Layouts of a file and their fields. */
#include "date.h"
#include "number.h"
#include "parser.h"
#include "tendon/base/packed.h"

#include <math.h>
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
    F_BIT,
    F_MEMBERS
};

static const char field_shape[] =
    "a field\0" NAME "name\0" STRING "type\0" STRING "unit\0" STRING "title\0" NAME "class\0" ARRAY "values\0" NUMBER
    "factor\0" NUMBER "divisor\0" NUMBER "offset\0" INTEGER "decimals\0" INTEGER "unknown\0" INTEGER "min\0" INTEGER
    "max\0" INTEGER "equals\0" ARRAY "bits\0" STRING "if\0" ANY "length\0" INTEGER "at_least\0" INTEGER "at_most\0" NAME
    "rate\0" NAME "per\0" REFERENCE "records\0" ANY "count\0" NAME "switch\0" OBJECT "cases\0" REFERENCE
    "otherwise\0" STRING "endian\0" BOOLEAN "optional\0" BOOLEAN "hidden\0" STRING "epoch\0" BOOLEAN "local\0" INTEGER
    "bit\0";

/* Which members each kind of field has, beside these. */
#define BIT(member) (1UL << (member))
static const uint32_t common = BIT(F_NAME) | BIT(F_IF) | BIT(F_HIDDEN);
static const uint32_t described = BIT(F_TYPE) | BIT(F_TITLE) | BIT(F_OPTIONAL);
static const uint32_t numbers =
    BIT(F_UNIT) | BIT(F_CLASS) | BIT(F_FACTOR) | BIT(F_DIVISOR) | BIT(F_OFFSET) | BIT(F_DECIMALS) | BIT(F_ENDIAN);
static const uint32_t integers = BIT(F_VALUES) | BIT(F_UNKNOWN) | BIT(F_MIN) | BIT(F_MAX) | BIT(F_EQUALS) | BIT(F_BITS);
static const uint32_t parts = BIT(F_NAME) | BIT(F_BIT) | BIT(F_COUNT) | BIT(F_VALUES) | BIT(F_UNIT) | BIT(F_TITLE) |
                              BIT(F_FACTOR) | BIT(F_OFFSET) | BIT(F_HIDDEN) | BIT(F_UNKNOWN);
static const uint32_t dates = BIT(F_CLASS) | BIT(F_ENDIAN);
static const uint32_t counts =
    BIT(F_EPOCH) | BIT(F_LOCAL) | BIT(F_FACTOR) | BIT(F_DIVISOR) | BIT(F_DECIMALS) | BIT(F_UNKNOWN);

/* The types by their names: first integers, those with a sign begin with 'i'. */
enum { TYPES = 18, INTEGERS = 12 };
static const char type_names[] = "u8\0u16\0u24\0u32\0u48\0u64\0i8\0i16\0i24\0i32\0i48\0i64\0"
                                 "f32\0sfloat\0float\0bytes\0utf8\0datetime";
static const uint8_t type_sizes[TYPES] = {1, 2, 3, 4, 6, 8, 1, 2, 3, 4, 6, 8, 4, 2, 4, 0, 0, 7};
static const uint8_t other_types[TYPES - INTEGERS] = {TENDON_FIELD_FLOAT32, TENDON_FIELD_SFLOAT, TENDON_FIELD_FLOAT,
                                                      TENDON_FIELD_BYTES,   TENDON_FIELD_UTF8,   TENDON_FIELD_DATE};

#define FACTOR_MAX 1e30 /* so that every product is a number */

/* The layout that is being read. */
typedef struct reading {
    parser *p;
    uint16_t first; /* its fields, up to those of the definition */
    json_at found[F_MEMBERS];
    json_at at;       /* the field */
    bool is_at_end;   /* no bytes are left for it */
    const char *kind; /* what it is, for sentences */
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
    nearest n = {.word = name, .distance = NEAREST_WORD, .length = length <= NEAREST_WORD ? length : 0};
    offer_fields(p->out, r->first, p->out->field_count, &n);
    for (uint16_t layout = p->inside; p->around[layout] != TENDON_DEFINITION_NONE; layout = p->around_layout[layout]) {
        offer_fields(p->out, p->out->layouts[p->around_layout[layout]].first, p->around[layout], &n);
    }
    bool is_alone = n.text == NULL && p->around[p->inside] == TENDON_DEFINITION_NONE;
    return tendon_parse_wrong_word(p, at, " is no integer before this field",
                                   is_alone ? "; a layout with a name sees its own fields only" : "", &n);
}

/* Finds an earlier field by its name; it is kept from now on. */
static bool refer_to(reading *r, json_at at, const char *name, size_t length, uint8_t *kept, uint16_t *which) {
    tendon_definition *d = r->p->out;
    *which = find_field(r, name, length);
    if (*which == TENDON_DEFINITION_NONE) {
        return wrong_field(r, at, name, length);
    }
    tendon_field *field = &d->fields[*which];
    if (field->keep == 0) {
        if (d->kept_count == TENDON_DEFINITION_KEPT) {
            return tendon_parse_full(r->p, at, "fields that others refer to");
        }
        field->keep = (uint8_t)++d->kept_count;
        bool is_shown = field->unit != 0 || field->count != 0 || field->title != 0 || r->p->is_shown[*which];
        field->flags |= is_shown ? 0 : TENDON_FIELD_HIDDEN;
    }
    *kept = field->keep;
    return true;
}

static bool refer(reading *r, json_at at, uint8_t *kept, uint16_t *which) {
    size_t length;
    const char *name = tendon_json_raw(&r->p->j, at, &length);
    return refer_to(r, at, name, length, kept, which);
}

/* Facts */

tendon_fact tendon_fact_of(const tendon_field *field) {
    return (tendon_fact){field->condition_from, field->condition == TENDON_FIELD_IF_SET, field->condition_value};
}

bool tendon_facts_exclude(const tendon_fact *a, const tendon_fact *b) {
    return a->from == b->from && a->from != 0 && !(a->is_other && b->is_other) &&
           (a->number == b->number) == (a->is_other || b->is_other);
}

/* Whether a number can be so. A field that is absent counts as 0. */
static bool is_possible(const tendon_field *field, const tendon_fact *fact) {
    bool has_unknown = (field->flags & TENDON_FIELD_UNKNOWN) != 0;
    if (fact->is_other) {
        return field->low != 0 || field->high != 0 || (has_unknown && field->unknown != 0);
    }
    return (fact->number >= field->low && fact->number <= field->high) ||
           (has_unknown && fact->number == field->unknown) ||
           (field->condition != TENDON_FIELD_ALWAYS && fact->number == 0);
}

/* Refuses what can never be so: by the field, or by what selects the layouts around this one. */
static bool check_fact(const reading *r, json_at at, tendon_fact fact, uint16_t which) {
    parser *p = r->p;
    const tendon_definition *d = p->out;
    bool is_excluded = false;
    if (!is_possible(&d->fields[which], &fact)) {
        return tendon_parse_wrong_range(p, at, " never happens: the field has ", d->fields[which].low,
                                        d->fields[which].high);
    }
    for (uint16_t layout = p->inside; p->around[layout] != TENDON_DEFINITION_NONE; layout = p->around_layout[layout]) {
        const tendon_field *around = &d->fields[p->around[layout]];
        tendon_fact selected = tendon_fact_of(around);
        is_excluded = is_excluded || tendon_facts_exclude(&fact, &selected);
        for (uint16_t i = 0; around->type == TENDON_FIELD_SWITCH && i < around->count; i++) {
            const tendon_case *one = &d->cases[around->first + i];
            selected = (tendon_fact){around->from, false, one->value};
            is_excluded = is_excluded || (one->layout == layout && tendon_facts_exclude(&fact, &selected));
        }
    }
    return !is_excluded || tendon_parse_wrong_this(p, at, " never happens here: this layout is there by another value");
}

/* "name", "!name" or "name=3". */
static bool read_condition(reading *r, tendon_field *field) {
    json_at at = r->found[F_IF];
    size_t length, end = 0;
    uint16_t which;
    if (at == 0) {
        return true;
    }
    const char *text = tendon_json_raw(&r->p->j, at, &length);
    field->condition = TENDON_FIELD_IF_SET;
    if (length > 0 && *text == '!') {
        field->condition = TENDON_FIELD_IF_ZERO;
        text++;
        length--;
    }
    while (end < length &&
           ((text[end] >= 'a' && text[end] <= 'z') || (text[end] >= '0' && text[end] <= '9') || text[end] == '_')) {
        end++;
    }
    if (end < length) {
        bool is_right = field->condition == TENDON_FIELD_IF_SET && text[end] == '=' &&
                        tendon_json_integer_of(text + end + 1, length - end - 1, &field->condition_value);
        field->condition = is_right ? TENDON_FIELD_IF_EQUAL : TENDON_FIELD_ALWAYS;
    }
    if (end == 0 || field->condition == TENDON_FIELD_ALWAYS) {
        return tendon_parse_wrong_this(r->p, at, " is no condition: 'name', '!name' or 'name=3'");
    }
    return refer_to(r, at, text, end, &field->condition_from, &which) &&
           check_fact(r, at, tendon_fact_of(field), which);
}

/* A length or a count: a number, or the name of an earlier field. */
static bool read_measure(reading *r, json_at at, int64_t most, uint8_t *from, int64_t *fixed) {
    uint16_t which;
    return at != 0 && tendon_json_type_of(&r->p->j, at) == JSON_STRING ? refer(r, at, from, &which)
                                                                       : tendon_parse_integer(r->p, at, 1, most, fixed);
}

/* Numbers */

/* Whether an action writes the layout that is being read. */
static bool is_written(const parser *p) {
    uint16_t a = 0;
    while (a < p->out->action_count && p->out->actions[a].layout != p->inside) {
        a++;
    }
    return a < p->out->action_count;
}

static bool read_word(parser *p, json_at pair, tendon_field *field) {
    tendon_definition *d = p->out;
    json_at number = tendon_json_first(pair), name = number + 1;
    if (tendon_json_type_of(&p->j, pair) != JSON_ARRAY || tendon_json_next(&p->j, pair) != name + 1 ||
        tendon_json_type_of(&p->j, name) != JSON_STRING) {
        return tendon_parse_wrong(p, pair, "a value with its name is expected here: [0, \"off\"]");
    }
    if (d->word_count == TENDON_DEFINITION_WORDS) {
        return tendon_parse_full(p, pair, "names of values");
    }
    tendon_word *word = &d->words[d->word_count];
    if (!tendon_parse_integer(p, number, field->low, field->high, &word->value) ||
        !tendon_parse_text(p, name, &word->text)) {
        return false;
    }
    for (uint16_t w = field->first; w < d->word_count; w++) {
        if (d->words[w].value == word->value) {
            return tendon_parse_wrong_this(p, number, " has a name already");
        }
        if (d->words[w].text == word->text && is_written(p)) { /* one text has one place */
            return tendon_parse_wrong_this(p, name, " is there twice");
        }
    }
    d->word_count++;
    field->count++;
    return true;
}

static bool read_words(parser *p, json_at at, tendon_field *field) {
    field->first = p->out->word_count;
    for (json_at pair = tendon_json_first(at); at != 0 && pair != tendon_json_next(&p->j, at);
         pair = tendon_json_next(&p->j, pair)) {
        if (!read_word(p, pair, field)) {
            return false;
        }
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
    if (is_number && size == 0 && !may_be_zero) {
        return tendon_parse_wrong_this(r->p, at, " must not be 0");
    }
    return (is_number && size <= FACTOR_MAX && (may_be_zero || size >= 1 / FACTOR_MAX)) ||
           tendon_parse_wrong_this(r->p, at, " must be a number without quotes, 1e-30 to 1e30");
}

static bool read_scale(reading *r, tendon_field *field) {
    if (!read_factor(r, F_FACTOR, false, &field->factor) || !read_factor(r, F_DIVISOR, false, &field->divisor) ||
        !read_factor(r, F_OFFSET, true, &field->offset)) {
        return false;
    }
    bool is_scaled = field->factor != 1 || field->divisor != 1;
    int64_t decimals = is_scaled ? tendon_number_decimals(field->factor / field->divisor) : 0;
    double fraction = fabs(field->offset) < 1e15 ? field->offset - (double)(int64_t)field->offset : 0;
    uint8_t of_offset = tendon_number_decimals(fraction);
    decimals = of_offset < 4 && of_offset > decimals ? of_offset : decimals;
    bool is_right = tendon_parse_integer(r->p, r->found[F_DECIMALS], 0, 9, &decimals);
    field->decimals = (uint8_t)decimals;
    field->is_rounded = r->found[F_DECIMALS] != 0;
    return is_right;
}

static bool read_limits(reading *r, tendon_field *field) {
    int64_t low, high;
    tendon_number_span(field, &low, &high);
    field->low = low;
    field->high = high;
    json_at equals = r->found[F_EQUALS];
    if (equals != 0 && (r->found[F_MIN] != 0 || r->found[F_MAX] != 0)) {
        return tendon_parse_wrong(r->p, equals, "'equals' beside 'min' or 'max'");
    }
    json_at min = equals != 0 ? equals : r->found[F_MIN], max = equals != 0 ? equals : r->found[F_MAX];
    if (!tendon_parse_integer(r->p, min, low, high, &field->low) ||
        !tendon_parse_integer(r->p, max, low, high, &field->high)) {
        return false;
    }
    if (field->low > field->high) {
        return tendon_parse_wrong(r->p, max, "'max' is less than 'min'");
    }
    field->flags |= min != 0 || max != 0 ? TENDON_FIELD_LIMITED : 0;
    field->flags |= r->found[F_UNKNOWN] != 0 ? TENDON_FIELD_UNKNOWN : 0;
    /* Numbers beyond 2^63 are kept as their bits. */
    return tendon_parse_integer(r->p, r->found[F_UNKNOWN], field->bits == 64 ? INT64_MIN : low, high, &field->unknown);
}

/* Adding fields */

static tendon_field *add_field(reading *r, json_at at) {
    tendon_definition *d = r->p->out;
    if (d->field_count == TENDON_DEFINITION_FIELDS) {
        tendon_parse_full(r->p, r->at, "fields");
        return NULL;
    }
    tendon_field *field = &d->fields[d->field_count];
    r->p->field_tokens[d->field_count] = at;
    r->p->field_layouts[d->field_count] = (uint8_t)r->p->inside;
    memset(field, 0, sizeof *field);
    field->factor = 1;
    field->divisor = 1;
    field->layout = TENDON_DEFINITION_NONE;
    field->at_most = 0xFFFF;
    return field;
}

static bool read_texts(reading *r, tendon_field *field) {
    return tendon_parse_name(r->p, r->found[F_NAME], &field->name) &&
           tendon_parse_text(r->p, r->found[F_UNIT], &field->unit) &&
           tendon_parse_text(r->p, r->found[F_TITLE], &field->title) &&
           tendon_parse_name(r->p, r->found[F_CLASS], &field->kind);
}

static void hide(reading *r, tendon_field *field) {
    if (r->found[F_HIDDEN] != 0) {
        bool is_hidden = tendon_json_is_true(&r->p->j, r->found[F_HIDDEN]);
        r->p->is_shown[r->p->out->field_count] = !is_hidden;
        field->flags = (uint8_t)(is_hidden ? field->flags | TENDON_FIELD_HIDDEN : field->flags & ~TENDON_FIELD_HIDDEN);
    }
}

static bool allow(reading *r, uint32_t members) {
    for (size_t i = 0; i < F_MEMBERS; i++) {
        if (r->found[i] != 0 && (members & BIT(i)) == 0) {
            bool is_time = r->found[F_EPOCH] != 0 && i != F_EPOCH;
            return tendon_parse_wrong_word(r->p, r->found[i] - 1, " has no meaning for ",
                                           is_time ? "a time with 'epoch'" : r->kind, &(nearest){0});
        }
    }
    return true;
}

static bool read_part(reading *r, json_at at, const tendon_field *whole) {
    int64_t bit = 0, count = 1, width = 8 * whole->size;
    r->kind = "a part of bits";
    if (!tendon_parse_members(r->p, at, field_shape, r->found) || !allow(r, parts)) {
        return false;
    }
    if (r->found[F_NAME] == 0 || r->found[F_BIT] == 0) {
        return tendon_parse_wrong(r->p, at, "a part of bits has a 'name' and a 'bit'");
    }
    tendon_field *part = add_field(r, r->found[F_NAME]);
    if (part == NULL || !tendon_parse_integer(r->p, r->found[F_BIT], 0, width - 1, &bit) ||
        !tendon_parse_integer(r->p, r->found[F_COUNT], 1, width - bit, &count)) {
        return false;
    }
    part->type = TENDON_FIELD_PART;
    part->bit = (uint8_t)bit;
    part->bits = (uint8_t)count;
    if (bit + count == width && count > 1) { /* it has the sign, if there is one */
        part->flags |= whole->flags & TENDON_FIELD_SIGNED;
    }
    part->condition = whole->condition;
    part->condition_from = whole->condition_from;
    part->condition_value = whole->condition_value;
    for (const tendon_field *other = whole + 1; other < part; other++) {
        if (bit < other->bit + other->bits && other->bit < bit + count) {
            return tendon_parse_wrong(r->p, at, "a part before it has a bit of this one");
        }
    }
    if (!read_texts(r, part) || !read_scale(r, part) || !read_limits(r, part) ||
        !read_words(r->p, r->found[F_VALUES], part)) {
        return false;
    }
    hide(r, part);
    r->p->out->field_count++;
    return true;
}

static bool read_parts(reading *r, json_at bits) {
    const tendon_field *whole = &r->p->out->fields[r->p->out->field_count - 1];
    for (json_at at = tendon_json_first(bits); bits != 0 && at != tendon_json_next(&r->p->j, bits);
         at = tendon_json_next(&r->p->j, at)) {
        if (!read_part(r, at, whole)) {
            return false;
        }
    }
    return true;
}

/* A count of seconds, or of parts of them, since a date. */
static bool read_epoch(reading *r, tendon_field *field) {
    enum { MICROSECONDS = 6 };
    json_at at = r->found[F_EPOCH];
    if (at == 0) {
        return true;
    }
    int64_t seconds = 0;
    size_t length;
    const char *text = tendon_json_raw(&r->p->j, at, &length);
    if (!tendon_date_parse(text, length, true, &seconds)) {
        return tendon_parse_wrong_this(r->p, at, " is no date, such as '1970-01-01'");
    }
    field->offset = (double)seconds;
    field->type = TENDON_FIELD_EPOCH;
    field->flags |= tendon_json_is_true(&r->p->j, r->found[F_LOCAL]) ? TENDON_FIELD_LOCAL : 0;
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
    if (!allow(r, members_of(r, field)) || !tendon_parse_endian(r->p, r->found[F_ENDIAN], &is_big) ||
        !read_scale(r, field) || !read_limits(r, field) || !read_epoch(r, field) ||
        !read_words(r->p, r->found[F_VALUES], field)) {
        return false;
    }
    field->flags |= (uint8_t)(is_big ? TENDON_FIELD_BIG_ENDIAN : 0);
    field->flags |= (uint8_t)(r->found[F_BITS] != 0 ? TENDON_FIELD_HIDDEN : 0); /* its parts are shown */
    return true;
}

static bool read_bytes_field(reading *r, tendon_field *field) {
    int64_t length = 0, at_least = 0, at_most = 0xFFFF;
    json_at at = r->found[F_LENGTH];
    bool is_rest = tendon_json_type_of(&r->p->j, at) == JSON_STRING && tendon_json_equals(&r->p->j, at, "rest");
    if (!allow(r, common | described | BIT(F_LENGTH) | BIT(F_AT_LEAST) | BIT(F_AT_MOST)) ||
        (!is_rest && !read_measure(r, at, 255, &field->from, &length)) ||
        !tendon_parse_integer(r->p, r->found[F_AT_LEAST], 0, 512, &at_least) ||
        !tendon_parse_integer(r->p, r->found[F_AT_MOST], at_least, 512, &at_most)) {
        return false;
    }
    if (length != 0 && at_least > length) {
        return tendon_parse_wrong(r->p, r->found[F_AT_LEAST], "'at_least' is more than 'length'");
    }
    field->size = (uint8_t)length;
    field->at_least = (uint16_t)at_least;
    field->at_most = (uint16_t)at_most;
    return true;
}

static bool is_bytes(const tendon_field *field) {
    return field->type == TENDON_FIELD_BYTES || field->type == TENDON_FIELD_UTF8;
}

static bool wrong_type(reading *r, json_at type) {
    nearest n = tendon_parse_nearest(r->p, type);
    char known[128] = "; known:";
    size_t length = tendon_string_length(known);
    for (unsigned i = 0; i < TYPES; i++) {
        const char *name = tendon_packed_string(type_names, NULL, TYPES, i);
        /* What is only near has other values: "f64" is no u64, "float32" no float. */
        n.text = n.length > 3 && tendon_parse_is_inside(name, &n) ? name : n.text;
        known[length++] = ' ';
        while (*name != 0) {
            known[length++] = *name++;
        }
    }
    known[length] = 0;
    return tendon_parse_wrong_word(r->p, type, " is no type", n.text == NULL ? known : "", &n);
}

static bool read_typed(reading *r, tendon_field *field) {
    json_at type = r->found[F_TYPE];
    size_t length;
    const char *word = tendon_json_raw(&r->p->j, type, &length);
    int index = tendon_packed_index(type_names, TYPES, word, length);
    if (index < 0) {
        return wrong_type(r, type);
    }
    r->kind = tendon_packed_string(type_names, NULL, TYPES, (unsigned)index);
    field->type = index < INTEGERS ? TENDON_FIELD_INTEGER : other_types[index - INTEGERS];
    field->size = type_sizes[index];
    field->bits = (uint8_t)(8 * field->size);
    field->flags = *word == 'i' ? TENDON_FIELD_SIGNED : 0;
    field->flags |= tendon_json_is_true(&r->p->j, r->found[F_OPTIONAL]) ? TENDON_FIELD_OPTIONAL : 0;
    return is_bytes(field) ? read_bytes_field(r, field) : read_number_field(r, field);
}

/* How fast a count grows: both are earlier integers. */
static bool read_rate(reading *r, tendon_field *field) {
    tendon_definition *d = r->p->out;
    uint8_t kept = 0;
    field->type = TENDON_FIELD_RATE;
    field->decimals = 1;
    if (r->found[F_PER] == 0) {
        return tendon_parse_wrong(r->p, r->at, "a rate has no 'per'");
    }
    if (!allow(r, common | BIT(F_RATE) | BIT(F_PER) | BIT(F_UNIT) | BIT(F_TITLE) | BIT(F_CLASS) | BIT(F_FACTOR) |
                      BIT(F_DECIMALS)) ||
        !read_scale(r, field) || !refer(r, r->found[F_RATE], &kept, &field->first) ||
        !refer(r, r->found[F_PER], &kept, &field->fixed)) {
        return false;
    }
    if (d->rate_count == TENDON_DEFINITION_RATES) {
        return tendon_parse_full(r->p, r->at, "rates");
    }
    field->decimals = field->decimals == 0 && r->found[F_DECIMALS] == 0 ? 1 : field->decimals;
    field->from = (uint8_t)d->rate_count++;
    return true;
}

/* A field that is not complete yet has its place, so that a layout inside of it comes behind it. */
static bool read_records(reading *r, tendon_field *field) {
    int64_t count = 0;
    uint16_t layout = 0;
    json_at records = r->found[F_RECORDS];
    field->type = TENDON_FIELD_RECORDS;
    if (!allow(r, common | BIT(F_RECORDS) | BIT(F_COUNT) | BIT(F_TITLE) | BIT(F_UNIT)) ||
        !read_measure(r, r->found[F_COUNT], 1024, &field->from, &count)) {
        return false;
    }
    field->fixed = (uint16_t)count;
    if (!tendon_parse_layout_reference(r->p, records, field->name, &layout)) {
        return false;
    }
    field->layout = layout;
    field->name = field->name != 0 ? field->name : r->p->out->layouts[layout].name;
    return true;
}

static bool read_case(reading *r, json_at key, tendon_field *field, uint16_t selector) {
    tendon_definition *d = r->p->out;
    size_t length;
    const char *digits = tendon_json_raw(&r->p->j, key, &length);
    int64_t number = 0;
    if (!tendon_json_integer_of(digits, length, &number)) {
        return tendon_parse_wrong_this(r->p, key, " is no number");
    }
    for (uint16_t i = 0; i < field->count; i++) {
        if (d->cases[field->first + i].value == number) {
            return tendon_parse_wrong_this(r->p, key, " is there twice");
        }
    }
    if (!check_fact(r, key, (tendon_fact){field->from, false, number}, selector)) {
        return false;
    }
    if (d->case_count == TENDON_DEFINITION_CASES) {
        return tendon_parse_full(r->p, key, "cases");
    }
    tendon_case *one = &d->cases[d->case_count++];
    field->count++;
    one->value = number;
    return tendon_parse_layout_reference(r->p, key + 1, 0, &one->layout);
}

static bool read_switch(reading *r, tendon_field *field) {
    json_at cases = r->found[F_CASES];
    uint16_t which;
    field->type = TENDON_FIELD_SWITCH;
    field->first = r->p->out->case_count;
    if (cases == 0) {
        return tendon_parse_wrong(r->p, r->at, "a switch has no 'cases'");
    }
    if (!allow(r, common | BIT(F_SWITCH) | BIT(F_CASES) | BIT(F_OTHERWISE)) ||
        !refer(r, r->found[F_SWITCH], &field->from, &which)) {
        return false;
    }
    for (json_at key = tendon_json_first(cases); key != tendon_json_next(&r->p->j, cases);
         key = tendon_json_next(&r->p->j, key + 1)) {
        if (!read_case(r, key, field, which)) {
            return false;
        }
    }
    return tendon_parse_layout_reference(r->p, r->found[F_OTHERWISE], 0, &field->layout);
}

static bool takes_rest(const tendon_field *field) {
    bool may = is_bytes(field) || field->type == TENDON_FIELD_RECORDS;
    return may && field->size == 0 && field->from == 0 && field->fixed == 0 && field->condition == TENDON_FIELD_ALWAYS;
}

static bool read_field(reading *r, json_at at) {
    r->at = at;
    r->kind = "this field";
    if (!tendon_parse_members(r->p, at, field_shape, r->found)) {
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
    /* Records without a name have that of their layout. */
    tendon_field *field = add_field(r, r->found[r->found[F_NAME] != 0 ? F_NAME : F_RECORDS]);
    if (field == NULL || !read_texts(r, field) || !read_condition(r, field)) {
        return false;
    }
    if (r->is_at_end && (r->found[F_TYPE] != 0 || r->found[F_RECORDS] != 0)) {
        return tendon_parse_wrong(r->p, at, "nothing is left for this field: one before it takes the rest");
    }
    bool is_read = r->found[F_TYPE] != 0      ? read_typed(r, field)
                   : r->found[F_RATE] != 0    ? read_rate(r, field)
                   : r->found[F_RECORDS] != 0 ? read_records(r, field)
                                              : read_switch(r, field);
    if (!is_read) {
        return false;
    }
    r->is_at_end = r->is_at_end || takes_rest(field);
    hide(r, field);
    r->p->out->field_count++;
    return read_parts(r, r->found[F_BITS]);
}

/* Layouts */

static bool add_layout(parser *p, json_at at, uint16_t name, uint16_t *out) {
    tendon_definition *d = p->out;
    if (!tendon_parse_has_room(p, at, LAYOUTS)) {
        return false;
    }
    *out = d->layout_count++;
    d->layouts[*out] = (tendon_layout){.name = name};
    p->layout_tokens[*out] = at;
    p->around[*out] = p->inside == TENDON_DEFINITION_NONE ? TENDON_DEFINITION_NONE : d->field_count;
    p->around_layout[*out] = p->inside;
    return true;
}

bool tendon_parse_layout_names(parser *p, json_at layouts) {
    for (json_at key = tendon_json_first(layouts); layouts != 0 && key != tendon_json_next(&p->j, layouts);
         key = tendon_json_next(&p->j, key + 1)) {
        uint16_t name = 0, number;
        if (!tendon_parse_new(p, key, LAYOUTS, &name) || !add_layout(p, key + 1, name, &number)) {
            return false;
        }
    }
    return true;
}

bool tendon_parse_layout_reference(parser *p, json_at at, uint16_t name, uint16_t *out) {
    if (at == 0) {
        return true;
    }
    bool is_name = tendon_json_type_of(&p->j, at) == JSON_STRING;
    if (!(is_name ? tendon_parse_known(p, at, LAYOUTS, out) : add_layout(p, at, name, out))) {
        return false;
    }
    p->is_used[*out] = true;
    return true;
}

static bool read_layout(parser *p, uint16_t number) {
    static const char shape[] = "a layout\0" MUST ARRAY "fields\0" BOOLEAN "exact\0";
    tendon_layout *layout = &p->out->layouts[number];
    json_at at = p->layout_tokens[number], found[2] = {0};
    json_at fields = at;
    if (tendon_json_type_of(&p->j, at) == JSON_OBJECT) {
        if (!tendon_parse_members(p, at, shape, found)) {
            return false;
        }
        fields = found[0];
        layout->is_exact = tendon_json_is_true(&p->j, found[1]);
    } else if (tendon_json_type_of(&p->j, at) != JSON_ARRAY) {
        return tendon_parse_wrong(p, at, "a layout is an array of fields, or an object with 'fields'");
    }
    reading r = {.p = p, .first = p->out->field_count};
    r.is_big_endian = p->is_big_endian;
    layout->first = r.first;
    for (json_at field = tendon_json_first(fields); field != tendon_json_next(&p->j, fields);
         field = tendon_json_next(&p->j, field)) {
        if (!read_field(&r, field)) {
            return false;
        }
    }
    layout->count = (uint16_t)(p->out->field_count - layout->first);
    p->takes_rest[number] = r.is_at_end;
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
