/* SPDX-License-Identifier: MIT */
/* What only the whole definition shows. */
#include "number.h"
#include "parser.h"
#include "tendon/base/packed.h"
#include "tendon/definition/describe.h"

#include <string.h>

static const tendon_field *field_at(const tendon_definition *d, const tendon_layout *layout, uint16_t i) {
    return &d->fields[layout->first + i];
}

/* Layouts inside of layouts */

typedef struct measure {
    unsigned depth;
    uint32_t least; /* bytes */
} measure;

/* Of one field. Of the cases of a switch, the shortest counts, which may be none. */
static measure measure_of(const tendon_definition *d, const tendon_field *field, const measure *layouts) {
    bool is_switch = field->type == TENDON_FIELD_SWITCH;
    measure all = {0};
    if (field->layout != TENDON_DEFINITION_NONE) {
        all = layouts[field->layout];
    }
    for (uint16_t i = 0; is_switch && i < field->count; i++) {
        const measure *one = &layouts[d->cases[field->first + i].layout];
        all.depth = one->depth > all.depth ? one->depth : all.depth;
        all.least = one->least < all.least ? one->least : all.least;
    }
    if (!is_switch) {
        all.least = all.least * field->fixed + (field->size > field->at_least ? field->size : field->at_least);
    }
    all.least = field->condition == TENDON_FIELD_ALWAYS ? all.least : 0;
    return all;
}

/*
 * Measures grow until they are stable, or too large: that is so for layouts that contain each other as well. A value of
 * an attribute has at most 512 bytes (Core Specification Vol 3 Part F 3.2.9): no value has a layout that needs more.
 */
static bool check_measures(parser *p) {
    enum { VALUE_MAX = 512 };
    const tendon_definition *d = p->out;
    measure known[TENDON_DEFINITION_LAYOUTS] = {0};
    bool has_grown = true;
    while (has_grown) {
        has_grown = false;
        for (uint16_t i = 0; i < d->layout_count; i++) {
            measure all = {0};
            bool is_optional = false;
            for (uint16_t f = 0; f < d->layouts[i].count; f++) {
                const tendon_field *field = field_at(d, &d->layouts[i], f);
                measure one = measure_of(d, field, known);
                is_optional = is_optional || (field->flags & TENDON_FIELD_OPTIONAL) != 0;
                all.depth = one.depth > all.depth ? one.depth : all.depth;
                all.least += is_optional ? 0 : one.least;
            }
            if (++all.depth > TENDON_DEFINITION_DEPTH) {
                return tendon_parse_wrong(p, p->layout_tokens[i], "layouts contain each other, or more than 6 deep");
            }
            if (all.least > VALUE_MAX) {
                return tendon_parse_wrong(p, p->layout_tokens[i], "this layout takes more than 512 bytes");
            }
            has_grown = has_grown || known[i].depth != all.depth || known[i].least != all.least;
            known[i] = all;
        }
    }
    return true;
}

/* A record with one number is that number. */
static void mark_plain_records(tendon_definition *d) {
    for (uint16_t i = 0; i < d->field_count; i++) {
        tendon_field *records = &d->fields[i];
        if (records->type != TENDON_FIELD_RECORDS || d->layouts[records->layout].count != 1) {
            continue;
        }
        tendon_field *only = &d->fields[d->layouts[records->layout].first];
        if (only->type <= TENDON_FIELD_FLOAT && (only->flags & TENDON_FIELD_HIDDEN) == 0) {
            records->flags |= TENDON_FIELD_PLAIN;
            records->unit = records->unit != 0 ? records->unit : only->unit;
        }
    }
}

/* Members of lines */

/* The layouts whose fields are members of one line: this one, and those that its switches select. */
typedef struct line {
    bool has[TENDON_DEFINITION_LAYOUTS];
} line;

static void make_line(const parser *p, uint16_t layout, line *all) {
    const tendon_definition *d = p->out;
    memset(all, 0, sizeof *all);
    all->has[layout] = true;
    for (unsigned depth = 1; depth < TENDON_DEFINITION_DEPTH; depth++) {
        for (uint16_t i = 0; i < d->field_count; i++) {
            const tendon_field *field = &d->fields[i];
            if (field->type != TENDON_FIELD_SWITCH || !all->has[p->field_layouts[i]]) {
                continue;
            }
            if (field->layout != TENDON_DEFINITION_NONE) {
                all->has[field->layout] = true;
            }
            for (uint16_t c = 0; c < field->count; c++) {
                all->has[d->cases[field->first + c].layout] = true;
            }
        }
    }
}

/* Whether a layout and the field are of one line. */
static bool has_field(const parser *p, uint16_t layout, uint16_t field) {
    line all;
    make_line(p, layout, &all);
    return all.has[p->field_layouts[field]];
}

static bool check_records(parser *p) {
    const tendon_definition *d = p->out;
    for (uint16_t i = 0; i < d->field_count; i++) {
        const tendon_field *field = &d->fields[i];
        if (field->type != TENDON_FIELD_RECORDS) {
            continue;
        }
        json_at at = p->layout_tokens[field->layout];
        if (d->layouts[field->layout].count == 0) {
            return tendon_parse_wrong(p, at, "a record without fields takes no bytes");
        }
        if (field->fixed > 1 && p->takes_rest[field->layout]) {
            return tendon_parse_wrong(p, at, "the first of these records takes the rest of the value");
        }
    }
    return true;
}

/* A rate knows one value before it: of one characteristic, and of no record. */
static bool check_rates(parser *p) {
    const tendon_definition *d = p->out;
    for (uint16_t f = 0; f < d->field_count; f++) {
        unsigned places = 0;
        if (d->fields[f].type != TENDON_FIELD_RATE) {
            continue;
        }
        for (size_t r = 0; r < d->row_count; r++) {
            uint16_t layout = d->rows[r].notified & d->rows[r].read; /* one of them is NONE, or they are the same */
            places += layout != TENDON_DEFINITION_NONE && has_field(p, layout, f);
        }
        for (uint16_t i = 0; i < d->field_count; i++) {
            bool is_list = d->fields[i].type == TENDON_FIELD_RECORDS;
            places += is_list && has_field(p, d->fields[i].layout, f) ? 2 : 0;
        }
        if (places != 1) {
            return tendon_parse_wrong(p, p->field_tokens[f], "a rate is of one characteristic, and of no record");
        }
    }
    return true;
}

static bool has_name(const parser *p, uint16_t field) {
    return p->out->fields[field].name != 0 && p->out->fields[field].type != TENDON_FIELD_SWITCH;
}

/* Whether each line that has the second field has the first. */
static bool is_beside(const parser *p, uint16_t first, uint16_t second) {
    return p->out->fields[first].condition == TENDON_FIELD_ALWAYS && has_field(p, p->field_layouts[first], second);
}

/* Whether one line can have both. By their conditions 8 bits and 16 do not meet; nor do the cases of a switch. */
static bool meet(const parser *p, uint16_t a, uint16_t b) {
    tendon_fact first = tendon_fact_of(&p->out->fields[a]), second = tendon_fact_of(&p->out->fields[b]);
    return is_beside(p, a, b) || is_beside(p, b, a) ||
           (p->field_layouts[a] == p->field_layouts[b] && first.from == second.from &&
            !tendon_facts_exclude(&first, &second));
}

static bool check_names(parser *p) {
    const tendon_definition *d = p->out;
    for (uint16_t b = 0; b < d->field_count; b++) {
        for (uint16_t a = 0; a < b; a++) {
            if (d->fields[a].name == d->fields[b].name && has_name(p, a) && has_name(p, b) && meet(p, a, b)) {
                return tendon_parse_wrong_this(p, p->field_tokens[b],
                                               " is there twice; two fields of one name need an 'if' each");
            }
        }
    }
    return true;
}

/* Of a line. */
static bool check_member(parser *p, uint16_t field) {
    enum { TAKEN = 12 };
    static const char taken[] = "time\0event\0family\0address\0address_type\0name\0received_at\0sampled_at\0error_ms\0"
                                "sensor\0device_time_ms\0message_id";
    return tendon_parse_free(p, p->field_tokens[field], p->out->fields[field].name, taken, TAKEN,
                             " is a member that lines have; choose another name");
}

/* A field that an event lists. */
static bool check_listed(parser *p, const line *shown, uint16_t name, json_at at) {
    const tendon_definition *d = p->out;
    nearest n = tendon_parse_nearest(p, at);
    for (uint16_t i = 0; i < d->field_count; i++) {
        if (shown->has[p->field_layouts[i]] && has_name(p, i)) {
            if (d->fields[i].name == name) {
                return true;
            }
            tendon_parse_offer(&n, d->text + d->fields[i].name);
        }
    }
    return tendon_parse_wrong_word(p, at, " is no field of the event's layout", "", &n);
}

static bool check_events(parser *p) {
    const tendon_definition *d = p->out;
    for (uint16_t i = 0; i < d->event_count; i++) {
        const tendon_definition_event *event = &d->events[i];
        line shown;
        make_line(p, event->layout, &shown);
        for (uint16_t f = 0; f < d->field_count; f++) {
            if (shown.has[p->field_layouts[f]] && has_name(p, f) && !check_member(p, f)) {
                return false;
            }
        }
        for (uint16_t m = event->first_member; m < event->first_member + event->member_count; m++) {
            if (!check_listed(p, &shown, d->members[m], p->member_tokens[m])) {
                return false;
            }
        }
    }
    return true;
}

/* Actions */

static bool is_bytes(const tendon_field *field) {
    return field->type == TENDON_FIELD_BYTES || field->type == TENDON_FIELD_UTF8;
}

static bool can_be_written(const tendon_field *field) {
    bool has_length = is_bytes(field) && field->from == 0;
    bool has_size = field->type == TENDON_FIELD_INTEGER || field->type == TENDON_FIELD_FLOAT32 ||
                    field->type == TENDON_FIELD_DATE || field->type == TENDON_FIELD_EPOCH;
    return (has_size || has_length) && field->condition == TENDON_FIELD_ALWAYS;
}

static bool check_action(parser *p, const tendon_definition_action *action) {
    const tendon_definition *d = p->out;
    const tendon_layout *layout = &d->layouts[action->layout];
    json_at at = p->layout_tokens[action->layout];
    size_t length = 0;
    for (uint16_t i = 0; i < layout->count; i++) {
        const tendon_field *field = field_at(d, layout, i);
        bool is_argument = !tendon_number_is_fixed(field);
        if (!can_be_written(field)) {
            return tendon_parse_wrong(
                p, at,
                "an action writes integers, f32, datetime, utf8 and bytes; no 'bits', no 'if', no "
                "'length' by a field");
        }
        if (is_argument && action->at_start) {
            return tendon_parse_wrong(p, at, "an action at the start has no arguments, only 'equals'");
        }
        if (is_argument && field->name == 0) {
            return tendon_parse_wrong(p, at, "a field of an action has a 'name', as an argument, or 'equals'");
        }
        length += field->size != 0       ? field->size
                  : field->at_least != 0 ? field->at_least
                                         : 1U; /* an argument has a byte */
    }
    return length <= TENDON_DEFINITION_VALUE || tendon_parse_wrong(p, at, "what an action writes has at most 64 bytes");
}

static bool check_actions(parser *p) {
    for (uint16_t a = 0; a < p->out->action_count; a++) {
        if (!check_action(p, &p->out->actions[a])) {
            return false;
        }
    }
    return true;
}

/* Characteristics, and their examples */

static bool check_example(parser *p, size_t example, uint16_t layout) {
    const tendon_definition *d = p->out;
    const tendon_definition_example *one = &d->examples[example];
    for (uint16_t i = 0; i < d->event_count; i++) {
        size_t offset = 0;
        tendon_status status =
            d->events[i].layout != layout
                ? TENDON_OK
                : tendon_describe(d, i, (const uint8_t *)d->text + one->place, one->length, NULL, NULL, NULL, &offset);
        if (status < 0) {
            char after[48];
            (void)tendon_parse_add_number(after, 0, sizeof after, " breaks its layout at byte ", (int64_t)offset);
            return tendon_parse_wrong_value(p, p->example_tokens[example],
                                            status == TENDON_ERROR_TRUNCATED ? "too short: the example "
                                                                             : "the example ",
                                            p->example_tokens[example], after);
        }
    }
    return true;
}

/* Its value is read, notified or written; or it only has to be there. */
static bool is_row_used(const tendon_definition *d, size_t r) {
    const tendon_definition_row *row = &d->rows[r];
    bool is_used =
        (row->notified & row->read & row->written) != TENDON_DEFINITION_NONE || (row->flags & TENDON_ROW_REQUIRED) != 0;
    for (uint16_t a = 0; a < d->action_count; a++) {
        is_used = is_used || d->actions[a].row == r;
    }
    return is_used;
}

static bool check_rows(parser *p) {
    const tendon_definition *d = p->out;
    for (size_t r = 0; r < d->row_count; r++) {
        const tendon_definition_row *row = &d->rows[r];
        if (!is_row_used(d, r)) {
            return tendon_parse_wrong_this(p, p->row_names[r], " has no 'value', 'notify', 'read' or 'write'");
        }
        uint16_t layout = row->notified != TENDON_DEFINITION_NONE ? row->notified : row->read;
        for (uint16_t i = 0; i < row->example_count; i++) {
            if (!check_example(p, row->first_example + i, layout)) {
                return false;
            }
        }
    }
    return true;
}

static bool check_used(parser *p) {
    for (uint16_t i = 0; i < p->out->layout_count; i++) {
        if (!p->is_used[i]) {
            return tendon_parse_wrong(p, p->layout_tokens[i], "nothing uses this layout");
        }
    }
    return true;
}

bool tendon_parse_check(parser *p) {
    if (!check_measures(p)) {
        return false;
    }
    if (!check_records(p) || !check_rates(p) || !check_names(p)) {
        return false;
    }
    mark_plain_records(p->out);
    return check_events(p) && check_actions(p) && check_used(p) && check_rows(p);
}
