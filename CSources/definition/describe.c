/* SPDX-License-Identifier: MIT */
#include "tendon/definition/describe.h"

#include "date.h"
#include "number.h"

#include <string.h>

/** A layout that is being walked. */
typedef struct frame {
    uint16_t field, end; /* the next field, and the one after the last */
    uint16_t layout;
    uint16_t left; /* further records; TO_END: until the value ends */
    size_t limit;  /* of the value around it */
    size_t began;  /* where this record begins */
    bool is_list, is_plain, is_muted;
} frame;

enum { TO_END = 0xFFFF };

typedef struct walker {
    const tendon_definition *definition;
    const tendon_definition_event *event;
    tendon_reader reader;
    tendon_describe_visitor visitor;
    void *context;
    const tendon_described_rates *rates;
    tendon_described_rates *taken; /* rates that take the value; NULL: none do */
    tendon_number last;            /* the integer that parts are of */
    size_t wrong;                  /* offset of the first byte that breaks the layout */
    unsigned depth;
    bool has_ended; /* before an optional field: no record follows */
    frame frames[TENDON_DEFINITION_DEPTH];
    int64_t kept[TENDON_DEFINITION_KEPT];
    bool is_present[TENDON_DEFINITION_KEPT]; /* so are their fields; else they count as 0 */
} walker;

static frame *top(walker *w) {
    return &w->frames[w->depth - 1];
}

/* Reports */

static void emit(walker *w, const tendon_described *value) {
    if (w->visitor != NULL && !top(w)->is_muted) {
        w->visitor(w->context, value);
    }
}

/* Inside of a list the event does not choose. */
static bool is_in_list(const walker *w) {
    for (unsigned i = 0; i < w->depth; i++) {
        if (w->frames[i].is_list) {
            return true;
        }
    }
    return false;
}

bool tendon_definition_shows(const tendon_definition *definition, const tendon_definition_event *event,
                             const tendon_field *field) {
    if (event == NULL || event->member_count == 0) {
        return field->name != 0 && (field->flags & TENDON_FIELD_HIDDEN) == 0;
    }
    for (uint16_t i = 0; i < event->member_count; i++) {
        if (definition->members[event->first_member + i] == field->name) {
            return true;
        }
    }
    return false;
}

static bool is_shown(const walker *w, const tendon_field *field) {
    return w->frames[w->depth - 1].is_plain ||
           tendon_definition_shows(w->definition, is_in_list(w) ? NULL : w->event, field);
}

static const char *name_of(walker *w, const tendon_field *field) {
    return top(w)->is_plain ? NULL : tendon_definition_text(w->definition, field->name);
}

static void emit_bytes(walker *w, const tendon_field *field, tendon_described_kind kind, const uint8_t *bytes,
                       size_t length) {
    if (is_shown(w, field)) {
        emit(w, &(tendon_described){
                    .kind = kind, .name = name_of(w, field), .field = field, .bytes = bytes, .length = length});
    }
}

/* Of a list, or of a record. */
static void emit_mark(walker *w, tendon_described_kind kind) {
    emit(w, &(tendon_described){.kind = kind});
}

static const tendon_word *word_of(const walker *w, const tendon_field *field, int64_t number) {
    for (uint16_t i = 0; i < field->count; i++) {
        const tendon_word *word = &w->definition->words[field->first + i];
        if (word->value == number) {
            return word;
        }
    }
    return NULL;
}

static void emit_number(walker *w, const tendon_field *field, tendon_number raw) {
    if (!is_shown(w, field)) {
        return;
    }
    tendon_described value = {.name = name_of(w, field), .field = field};
    const tendon_word *word = raw.is_integer ? word_of(w, field, raw.integer) : NULL;
    raw = raw.is_nothing || word != NULL ? raw : tendon_number_scaled(raw, field);
    if (raw.is_nothing) {
        value.kind = TENDON_DESCRIBED_NOTHING;
    } else if (word != NULL) {
        value.kind = TENDON_DESCRIBED_WORD;
        value.text = tendon_definition_text(w->definition, word->text);
    } else {
        value.kind =
            field->type == TENDON_FIELD_PART && field->bits == 1 ? TENDON_DESCRIBED_FLAG : TENDON_DESCRIBED_NUMBER;
    }
    value.number = raw.number;
    value.integer = raw.integer;
    value.is_integer = raw.is_integer;
    value.decimals = raw.decimals;
    emit(w, &value);
}

/* Fields */

static bool is_present(const walker *w, const tendon_field *field) {
    if (field->condition == TENDON_FIELD_ALWAYS) {
        return true;
    }
    int64_t number = w->kept[field->condition_from - 1];
    switch (field->condition) {
    case TENDON_FIELD_IF_SET:
        return number != 0;
    case TENDON_FIELD_IF_ZERO:
        return number == 0;
    default:
        return number == field->condition_value;
    }
}

static void keep(walker *w, const tendon_field *field, int64_t number, bool is_present) {
    if (field->keep != 0) {
        w->kept[field->keep - 1] = number;
        w->is_present[field->keep - 1] = is_present;
    }
}

static tendon_status take_number(walker *w, const tendon_field *field) {
    const uint8_t *bytes = tendon_read_bytes(&w->reader, field->size);
    if (bytes == NULL) {
        return TENDON_ERROR_TRUNCATED;
    }
    tendon_number raw = tendon_number_decode(field, bytes);
    if ((field->flags & TENDON_FIELD_LIMITED) != 0 && !raw.is_nothing &&
        (!raw.is_integer || raw.integer < field->low || raw.integer > field->high)) {
        return TENDON_ERROR_MALFORMED;
    }
    w->last = raw;
    keep(w, field, raw.integer, !raw.is_nothing);
    emit_number(w, field, raw);
    return TENDON_OK;
}

static tendon_status take_date(walker *w, const tendon_field *field) {
    char text[TENDON_DATE_SIZE];
    const uint8_t *bytes = tendon_read_bytes(&w->reader, field->size);
    if (bytes == NULL) {
        return TENDON_ERROR_TRUNCATED;
    }
    tendon_status length = tendon_date_decode(field, bytes, text);
    if (length >= 0) {
        emit_bytes(w, field, length > 0 ? TENDON_DESCRIBED_TEXT : TENDON_DESCRIBED_NOTHING, (const uint8_t *)text,
                   (size_t)length);
    }
    return length < 0 ? length : TENDON_OK;
}

static tendon_status take_part(walker *w, const tendon_field *field) {
    uint64_t bits = (uint64_t)w->last.integer >> field->bit;
    if (field->bits < 64) {
        bits &= ((uint64_t)1 << field->bits) - 1;
    }
    tendon_number part = tendon_number_integer(field, bits);
    part.is_nothing = part.is_nothing || w->last.is_nothing;
    keep(w, field, part.integer, !part.is_nothing);
    emit_number(w, field, part);
    return TENDON_OK;
}

/* Counts and times of so many bytes begin again at 0. A count may go back, as that of a wheel does (Cycling Speed and
 * Cadence Service 1.0): half of its range stands for that. */
static double grown(const tendon_field *field, int64_t from, int64_t to, bool may_go_back) {
    unsigned unused = 64U - field->bits;
    uint64_t difference = ((uint64_t)to - (uint64_t)from) << unused;
    double back = -(double)((~difference + 1) >> unused);
    bool goes_back = may_go_back && difference >> 63 != 0;
    return (goes_back ? back : (double)(difference >> unused)) * field->factor / field->divisor;
}

static void take_for_rate(walker *w, const tendon_field *field) {
    const tendon_field *counted = &w->definition->fields[field->first], *timed = &w->definition->fields[field->fixed];
    tendon_described_rates *taken = w->taken;
    const uint8_t at = field->from;
    int64_t count = w->kept[counted->keep - 1], time = w->kept[timed->keep - 1];
    taken->of[at].has_value = w->is_present[counted->keep - 1] && w->is_present[timed->keep - 1];
    if (!taken->of[at].has_value) {
        return;
    }
    double passed = grown(timed, taken->of[at].time, time, false);
    taken->of[at].has_value = taken->of[at].is_known && passed != 0;
    if (taken->of[at].has_value) {
        taken->of[at].value = grown(counted, taken->of[at].count, count, true) / passed;
    }
    taken->of[at].is_known = true;
    taken->of[at].count = count;
    taken->of[at].time = time;
}

static tendon_status take_rate(walker *w, const tendon_field *field) {
    if (w->taken != NULL) {
        take_for_rate(w, field);
        return TENDON_OK;
    }
    tendon_number rate = {.is_nothing = w->rates == NULL || !w->rates->of[field->from].has_value};
    rate.number = rate.is_nothing ? 0 : w->rates->of[field->from].value;
    emit_number(w, field, rate);
    return TENDON_OK;
}

static tendon_status take_bytes(walker *w, const tendon_field *field) {
    size_t rest = tendon_reader_remaining(&w->reader), length = field->size != 0 ? field->size : rest;
    if (field->from != 0) {
        int64_t given = w->kept[field->from - 1];
        length = given < 0 || (uint64_t)given > rest ? rest + 1 : (size_t)given;
    }
    const uint8_t *bytes = tendon_read_bytes(&w->reader, length);
    if (bytes == NULL) {
        return TENDON_ERROR_TRUNCATED;
    }
    if (length < field->at_least || length > field->at_most) {
        return TENDON_ERROR_MALFORMED;
    }
    emit_bytes(w, field, field->type == TENDON_FIELD_UTF8 ? TENDON_DESCRIBED_TEXT : TENDON_DESCRIBED_BYTES, bytes,
               length);
    return TENDON_OK;
}

/* The depth of a definition is checked when it is parsed; a table that was made otherwise must not leave the array. */
static tendon_status enter(walker *w, uint16_t layout, frame below) {
    if (w->depth == TENDON_DEFINITION_DEPTH) {
        return TENDON_ERROR_MALFORMED;
    }
    const tendon_layout *entered = &w->definition->layouts[layout];
    below.layout = layout;
    below.field = entered->first;
    below.end = (uint16_t)(entered->first + entered->count);
    below.began = w->reader.position;
    w->frames[w->depth++] = below;
    if (below.is_list && !below.is_plain) {
        emit_mark(w, TENDON_DESCRIBED_ITEM);
    }
    return TENDON_OK;
}

static tendon_status take_records(walker *w, const tendon_field *field) {
    frame records = {.left = TO_END,
                     .limit = w->reader.length,
                     .is_list = true,
                     .is_plain = (field->flags & TENDON_FIELD_PLAIN) != 0,
                     .is_muted = top(w)->is_muted || !is_shown(w, field)};
    bool is_counted = field->from != 0 || field->fixed != 0;
    int64_t count = field->from != 0 ? w->kept[field->from - 1] : field->fixed;
    if (is_counted && (count < 0 || count >= TO_END)) {
        return TENDON_ERROR_TRUNCATED;
    }
    emit_bytes(w, field, TENDON_DESCRIBED_LIST, NULL, 0);
    if (is_counted ? count == 0 : tendon_reader_remaining(&w->reader) == 0) {
        if (!records.is_muted) {
            emit_mark(w, TENDON_DESCRIBED_END);
        }
        return TENDON_OK;
    }
    if (is_counted) {
        records.left = (uint16_t)(count - 1);
    }
    return enter(w, field->layout, records);
}

static tendon_status take_switch(walker *w, const tendon_field *field) {
    uint16_t layout = field->layout;
    for (uint16_t i = 0; i < field->count; i++) {
        const tendon_case *one = &w->definition->cases[field->first + i];
        if (one->value == w->kept[field->from - 1]) {
            layout = one->layout;
        }
    }
    if (layout == TENDON_DEFINITION_NONE) {
        return TENDON_OK;
    }
    return enter(w, layout, (frame){.limit = w->reader.length, .is_muted = top(w)->is_muted});
}

static tendon_status take(walker *w, const tendon_field *field) {
    switch (field->type) {
    case TENDON_FIELD_PART:
        return take_part(w, field);
    case TENDON_FIELD_RATE:
        return take_rate(w, field);
    case TENDON_FIELD_BYTES:
    case TENDON_FIELD_UTF8:
        return take_bytes(w, field);
    case TENDON_FIELD_DATE:
    case TENDON_FIELD_EPOCH:
        return take_date(w, field);
    case TENDON_FIELD_RECORDS:
        return take_records(w, field);
    case TENDON_FIELD_SWITCH:
        return take_switch(w, field);
    default:
        return take_number(w, field);
    }
}

/* The walk */

/* A layout has ended: the next record, or what is around it. */
static tendon_status leave(walker *w) {
    frame *ended = top(w);
    bool is_exact = w->definition->layouts[ended->layout].is_exact && !ended->is_list;
    if (is_exact && tendon_reader_remaining(&w->reader) != 0) {
        return TENDON_ERROR_MALFORMED;
    }
    if (!ended->is_list) {
        w->reader.length = ended->limit;
        w->depth--;
        return TENDON_OK;
    }
    if (w->reader.position == ended->began && !w->has_ended) { /* would go on without an end */
        return TENDON_ERROR_MALFORMED;
    }
    if (!ended->is_plain) {
        emit_mark(w, TENDON_DESCRIBED_END);
    }
    bool goes_on = ended->left == TO_END ? tendon_reader_remaining(&w->reader) != 0 : ended->left != 0;
    frame next = *ended;
    w->depth--;
    if (goes_on) {
        next.left = (uint16_t)(next.left == TO_END ? TO_END : next.left - 1);
        return enter(w, next.layout, next);
    }
    w->reader.length = next.limit;
    if (!next.is_muted) {
        emit_mark(w, TENDON_DESCRIBED_END);
    }
    return TENDON_OK;
}

static tendon_status step(walker *w) {
    frame *inside = top(w);
    w->wrong = w->reader.position; /* if this step fails */
    if (inside->field == inside->end) {
        return leave(w);
    }
    const tendon_field *field = &w->definition->fields[inside->field++];
    if (!is_present(w, field)) {
        keep(w, field, 0, false);
        return TENDON_OK;
    }
    if ((field->flags & TENDON_FIELD_OPTIONAL) != 0 && tendon_reader_remaining(&w->reader) == 0) {
        for (frame *all = w->frames; all <= inside; all++) { /* of what is around it, nothing can follow either */
            all->field = all->end;
            all->left = 0;
        }
        w->has_ended = true;
        return TENDON_OK;
    }
    return take(w, field);
}

static tendon_status walk(walker *w, const uint8_t *bytes, size_t length) {
    w->reader = tendon_reader_make(bytes, length);
    w->depth = 0;
    w->has_ended = false;
    memset(w->kept, 0, sizeof w->kept);
    memset(w->is_present, 0, sizeof w->is_present);
    tendon_status status = enter(w, w->event->layout, (frame){.limit = length});
    while (status == TENDON_OK && w->depth > 0) {
        status = step(w);
    }
    return status;
}

tendon_status tendon_describe(const tendon_definition *definition, size_t event, const uint8_t *bytes, size_t length,
                              const tendon_described_rates *rates, tendon_describe_visitor visitor, void *context,
                              size_t *offset) {
    walker w = {.definition = definition, .event = &definition->events[event]};
    tendon_status status = walk(&w, bytes, length);
    if (status < 0) {
        if (offset != NULL) {
            *offset = w.wrong;
        }
        return status;
    }
    if (visitor != NULL) {
        w.visitor = visitor;
        w.context = context;
        w.rates = rates;
        (void)walk(&w, bytes, length);
    }
    return TENDON_OK;
}

void tendon_described_rates_take(tendon_described_rates *rates, const tendon_definition *definition, size_t event,
                                 const uint8_t *bytes, size_t length) {
    walker w = {.definition = definition, .event = &definition->events[event]};
    if (walk(&w, bytes, length) == TENDON_OK) {
        w.taken = rates;
        (void)walk(&w, bytes, length);
    }
}
