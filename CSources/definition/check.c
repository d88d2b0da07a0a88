/* SPDX-License-Identifier: MIT */
/* What only the whole definition shows. */
#include "number.h"
#include "parser.h"
#include "tendon/definition/describe.h"

#include <string.h>

static const tendon_field *field_at(const tendon_definition *d, const tendon_layout *layout, uint16_t i) {
    return &d->fields[layout->first + i];
}

/* Layouts inside of layouts */

static unsigned deepest(const tendon_definition *d, const tendon_field *field, const uint8_t *depths) {
    unsigned most = field->layout != TENDON_DEFINITION_NONE ? depths[field->layout] : 0;
    if (field->type == TENDON_FIELD_SWITCH) {
        for (uint16_t i = 0; i < field->count; i++) {
            unsigned depth = depths[d->cases[field->first + i].layout];
            most = depth > most ? depth : most;
        }
    }
    return most;
}

/* Depths grow until they are stable, or too large: that is so for layouts that contain each other as well. */
static bool check_depths(parser *p) {
    const tendon_definition *d = p->out;
    uint8_t depths[TENDON_DEFINITION_LAYOUTS] = {0};
    bool has_grown = true;
    while (has_grown) {
        has_grown = false;
        for (uint16_t i = 0; i < d->layout_count; i++) {
            unsigned depth = 0;
            for (uint16_t f = 0; f < d->layouts[i].count; f++) {
                unsigned inside = deepest(d, field_at(d, &d->layouts[i], f), depths);
                depth = inside > depth ? inside : depth;
            }
            if (depth + 1 > TENDON_DEFINITION_DEPTH) {
                return tendon_parse_wrong(p, p->layout_tokens[i], "layouts contain each other, or more than 6 deep");
            }
            has_grown = has_grown || depths[i] != depth + 1;
            depths[i] = (uint8_t)(depth + 1);
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
            only->name = records->name;
            records->unit = records->unit != 0 ? records->unit : only->unit;
        }
    }
}

static bool check_records(parser *p) {
    const tendon_definition *d = p->out;
    for (uint16_t i = 0; i < d->layout_count; i++) {
        for (uint16_t f = 0; f < d->layouts[i].count; f++) {
            const tendon_field *field = field_at(d, &d->layouts[i], f);
            if (field->type == TENDON_FIELD_RECORDS && d->layouts[field->layout].count == 0) {
                return tendon_parse_wrong(p, p->layout_tokens[field->layout], "a record without fields takes no bytes");
            }
        }
    }
    return true;
}

/* Events */

/* Whether a layout shows a field of this name: of its own, or of the layouts that its switches select. Their names are
 * offered. */
static bool shows(const tendon_definition *d, uint16_t layout, uint16_t name, nearest *n) {
    uint16_t open[TENDON_DEFINITION_LAYOUTS];
    bool seen[TENDON_DEFINITION_LAYOUTS] = {false};
    size_t count = 1;
    open[0] = layout;
    seen[layout] = true;
    while (count > 0) {
        const tendon_layout *one = &d->layouts[open[--count]];
        for (uint16_t i = 0; i < one->count; i++) {
            const tendon_field *field = field_at(d, one, i);
            if (field->name == name && field->type != TENDON_FIELD_SWITCH) {
                return true;
            }
            if (n != NULL && field->name != 0 && field->type != TENDON_FIELD_SWITCH) {
                tendon_parse_offer(n, d->text + field->name);
            }
            for (uint16_t c = 0; field->type == TENDON_FIELD_SWITCH && c <= field->count; c++) {
                uint16_t inside = c < field->count ? d->cases[field->first + c].layout : field->layout;
                if (inside != TENDON_DEFINITION_NONE && !seen[inside]) {
                    seen[inside] = true;
                    open[count++] = inside;
                }
            }
        }
    }
    return false;
}

static bool check_events(parser *p) {
    const tendon_definition *d = p->out;
    for (uint16_t i = 0; i < d->event_count; i++) {
        const tendon_definition_event *event = &d->events[i];
        for (uint16_t m = event->first_member; m < event->first_member + event->member_count; m++) {
            if (!shows(d, event->layout, d->members[m], NULL)) {
                nearest n = tendon_parse_nearest(p, p->member_tokens[m]);
                (void)shows(d, event->layout, d->members[m], &n);
                return tendon_parse_wrong_word(p, p->member_tokens[m], " is no field of the event's layout", "", &n);
            }
        }
    }
    return true;
}

/* Actions */

static bool is_bytes(const tendon_field *field) {
    return field->type == TENDON_FIELD_BYTES || field->type == TENDON_FIELD_UTF8;
}

/* Text and bytes of any length are what is left: nothing can follow them. */
static bool can_be_written(const tendon_field *field, bool is_last) {
    bool has_length = is_bytes(field) && field->from == 0 && (field->size > 0 || is_last);
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
        if (!can_be_written(field, i + 1 == layout->count)) {
            return tendon_parse_wrong(p, at,
                                      "an action writes integers, f32, datetime, and utf8 or bytes with a fixed "
                                      "'length' or at the end, without 'bits' and 'if'");
        }
        if (is_argument && action->at_start) {
            return tendon_parse_wrong(p, at, "an action at the start has no arguments, only 'equals'");
        }
        if (is_argument && field->name == 0) {
            return tendon_parse_wrong(p, at, "a field of an action has a 'name', as an argument, or 'equals'");
        }
        length += is_bytes(field) && field->size == 0 ? field->at_least : field->size;
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

/* Examples */

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

static bool check_examples(parser *p) {
    const tendon_definition *d = p->out;
    for (size_t r = 0; r < d->row_count; r++) {
        const tendon_definition_row *row = &d->rows[r];
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
    const tendon_definition *d = p->out;
    bool used[TENDON_DEFINITION_LAYOUTS] = {false};
    for (size_t i = 0; i < d->row_count; i++) {
        const uint16_t all[] = {d->rows[i].notified, d->rows[i].read, d->rows[i].written};
        for (size_t a = 0; a < 3; a++) {
            used[all[a] != TENDON_DEFINITION_NONE ? all[a] : 0] |= all[a] != TENDON_DEFINITION_NONE;
        }
    }
    for (size_t i = 0; i < d->action_count; i++) {
        used[d->actions[i].layout] = true;
    }
    for (size_t i = 0; i < d->field_count; i++) {
        if (d->fields[i].layout != TENDON_DEFINITION_NONE) {
            used[d->fields[i].layout] = true;
        }
    }
    for (size_t i = 0; i < d->case_count; i++) {
        used[d->cases[i].layout] = true;
    }
    for (uint16_t i = 0; i < d->layout_count; i++) {
        if (!used[i]) {
            return tendon_parse_wrong(p, p->layout_tokens[i], "nothing uses this layout");
        }
    }
    return true;
}

bool tendon_parse_check(parser *p) {
    if (!check_depths(p)) {
        return false;
    }
    mark_plain_records(p->out);
    return check_records(p) && check_events(p) && check_actions(p) && check_used(p) && check_examples(p);
}
