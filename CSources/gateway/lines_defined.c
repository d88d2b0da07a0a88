/* SPDX-License-Identifier: MIT */
/* Lines of devices that a file defines. */
#include "tendon/gateway/lines.h"

#include "tendon/base/packed.h"

/* ---- the events of a value ---- */

/* Of a characteristic that is read and notified both layouts are the same. */
static uint16_t layout_of(const tendon_definition_row *row) {
    return row->notified != TENDON_DEFINITION_NONE ? row->notified : row->read;
}

static void count(void *context, const tendon_described *value) {
    (void)value;
    ++*(size_t *)context;
}

/** One that lists its members is in a value that has any of them, or is malformed: that is reported. */
static bool is_in(const tendon_definition *definition, size_t at, const tendon_defined_event *event) {
    size_t members = 0;
    return definition->events[at].member_count == 0 ||
           tendon_describe(definition, at, event->bytes, event->length, NULL, count, &members, NULL) < 0 || members > 0;
}

size_t tendon_defined_event_at(const tendon_definition *definition, const tendon_defined_event *event, size_t index) {
    if (event->kind != TENDON_DEFINED_EVENT_VALUE) {
        return definition->event_count;
    }
    uint16_t layout = layout_of(&definition->rows[event->row]);
    size_t at = 0;
    for (; at < definition->event_count; at++) {
        if (definition->events[at].layout == layout && is_in(definition, at, event) && index-- == 0) {
            break;
        }
    }
    return at;
}

void tendon_defined_take_rates(tendon_described_rates *rates, const tendon_definition *definition,
                               const tendon_defined_event *event) {
    size_t first = tendon_defined_event_at(definition, event, 0);
    if (first < definition->event_count) {
        tendon_described_rates_take(rates, definition, first, event->bytes, event->length);
    }
}

/* ---- members ---- */

/** A line that values are added to, and which of its brackets are those of lists: bits, the innermost lowest. */
typedef struct described_line {
    tendon_line *line;
    uint32_t lists;
} described_line;

tendon_cell tendon_described_cell(const tendon_described *value) {
    switch (value->kind) {
    case TENDON_DESCRIBED_FLAG:
        return (tendon_cell){.kind = TENDON_CELL_FLAG};
    case TENDON_DESCRIBED_WORD:
        return (tendon_cell){TENDON_CELL_TEXT, (const uint8_t *)value->text, tendon_string_length(value->text)};
    case TENDON_DESCRIBED_TEXT: {
        size_t length = value->length; /* zeros at its end fill it, as those do that actions write */
        while (length > 0 && value->bytes[length - 1] == 0) {
            length--;
        }
        return (tendon_cell){TENDON_CELL_TEXT, value->bytes, length};
    }
    case TENDON_DESCRIBED_BYTES:
        return (tendon_cell){TENDON_CELL_BYTES, value->bytes, value->length};
    case TENDON_DESCRIBED_NUMBER:
        if (value->is_integer) {
            return (tendon_cell){.kind = TENDON_CELL_INTEGER};
        }
        /* of 64 bits, 2^63 or more */
        if (value->integer < 0 && value->number == (double)(uint64_t)value->integer) {
            return (tendon_cell){.kind = TENDON_CELL_COUNT};
        }
        return (tendon_cell){.kind = TENDON_CELL_NUMBER};
    default:
        return (tendon_cell){.kind = TENDON_CELL_NOTHING};
    }
}

static void put_scalar(tendon_line *line, const tendon_described *value) {
    const tendon_cell cell = tendon_described_cell(value);
    switch (cell.kind) {
    case TENDON_CELL_FLAG:
        tendon_line_bool(line, value->name, value->number != 0);
        break;
    case TENDON_CELL_TEXT:
        tendon_line_text(line, value->name, (const char *)cell.bytes, cell.length);
        break;
    case TENDON_CELL_BYTES:
        tendon_line_bytes(line, value->name, cell.bytes, cell.length);
        break;
    case TENDON_CELL_NOTHING:
        tendon_line_null(line, value->name);
        break;
    case TENDON_CELL_INTEGER:
        tendon_line_integer(line, value->name, value->integer);
        break;
    case TENDON_CELL_COUNT:
        tendon_line_count(line, value->name, (uint64_t)value->integer);
        break;
    default:
        tendon_line_number(line, value->name, value->number, value->decimals);
    }
}

static void put_described(void *context, const tendon_described *value) {
    described_line *to = context;
    if (value->kind == TENDON_DESCRIBED_LIST) {
        tendon_line_open_array(to->line, value->name);
        to->lists = to->lists << 1 | 1;
    } else if (value->kind == TENDON_DESCRIBED_ITEM) {
        tendon_line_open_object(to->line, NULL);
        to->lists <<= 1;
    } else if (value->kind == TENDON_DESCRIBED_END) {
        if ((to->lists & 1) != 0) {
            tendon_line_close_array(to->line);
        } else {
            tendon_line_close_object(to->line);
        }
        to->lists >>= 1;
    } else {
        put_scalar(to->line, value);
    }
}

static bool is_sample(const tendon_definition *definition, size_t event) {
    return (definition->events[event].flags & TENDON_EVENT_SAMPLE) != 0;
}

void tendon_defined_members(tendon_line *line, const tendon_definition *definition, size_t event, const uint8_t *bytes,
                            size_t length, const tendon_described_rates *rates) {
    described_line to = {.line = line};
    if (is_sample(definition, event)) {
        tendon_line_word(line, "sensor", tendon_definition_text(definition, definition->events[event].name));
    }
    (void)tendon_describe(definition, event, bytes, length, rates, put_described, &to, NULL);
}

/* ---- events ---- */

static const char *row_name(const tendon_definition *definition, const tendon_defined_event *event) {
    return tendon_definition_text(definition, definition->rows[event->row].name);
}

static void put_malformed(tendon_line *line, const tendon_definition *definition, const tendon_defined_event *event,
                          tendon_status status, size_t offset) {
    tendon_line_word(line, "characteristic", row_name(definition, event));
    tendon_line_word(line, "error", tendon_status_name(status));
    tendon_line_count(line, "error_offset", offset);
    tendon_line_reason(line, NULL, status);
    tendon_line_bytes(line, "bytes", event->bytes, event->length);
}

static tendon_status value_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                const tendon_definition *definition, const tendon_described_rates *rates,
                                const tendon_defined_event *event, size_t index) {
    size_t at = tendon_defined_event_at(definition, event, index), offset = 0;
    if (at == definition->event_count) {
        return 0;
    }
    tendon_status status = tendon_describe(definition, at, event->bytes, event->length, NULL, NULL, NULL, &offset);
    if (status < 0) {
        if (index > 0) { /* events of one layout: the first one has said it */
            return 0;
        }
        tendon_line_begin(line, "malformed", wall_us, device);
        put_malformed(line, definition, event, status, offset);
        return tendon_line_end(line);
    }
    const char *name = tendon_definition_text(definition, definition->events[at].name);
    tendon_line_begin(line, is_sample(definition, at) ? "sample" : name, wall_us, device);
    line->is_sample = is_sample(definition, at);
    if (!tendon_line_is_head(line)) {
        tendon_line_times(line, event->received_at, 0, 0);
        tendon_defined_members(line, definition, at, event->bytes, event->length, rates);
    }
    return tendon_line_end(line);
}

static char *add(char *out, const char *text) {
    while (*text != 0) {
        *out++ = *text++;
    }
    *out = 0;
    return out;
}

/* A device of another kind, or another firmware of it. */
static void put_lacking(tendon_line *line, const tendon_definition_row *row) {
    char text[64 + 2 * TENDON_UUID_STRING_SIZE], uuid[TENDON_UUID_STRING_SIZE];
    char *end = add(text, "the device has no characteristic ");
    end = add(end, tendon_uuid_format(&row->uuid, uuid));
    end = add(end, " in a service ");
    (void)add(end, tendon_uuid_format(&row->service, uuid));
    tendon_line_sentence(line, NULL, text);
}

tendon_status tendon_defined_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                  const tendon_definition *definition, const tendon_described_rates *rates,
                                  const tendon_defined_event *event, size_t index) {
    if (event->kind == TENDON_DEFINED_EVENT_VALUE) {
        return value_line(line, device, wall_us, definition, rates, event, index);
    }
    if (event->kind != TENDON_DEFINED_EVENT_REFUSED || index > 0) {
        return 0;
    }
    tendon_line_begin(line, "refused", wall_us, device);
    tendon_line_word(line, "request", row_name(definition, event));
    if (event->status == TENDON_ERROR_NOT_FOUND) {
        put_lacking(line, &definition->rows[event->row]);
    } else {
        tendon_line_reason(line, NULL, event->status);
        tendon_line_error(line, event->status);
    }
    return tendon_line_end(line);
}
