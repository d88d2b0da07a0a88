/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "device_family.h"
#include "tendon/base/packed.h"

enum { NOTHING_ASKED = 0, STARTED };

/** Events of one layout are malformed together: the first one decides. */
static void count_value(tendon_device *device, const tendon_defined_event *event) {
    const tendon_definition *definition = device->config.definition;
    size_t count = 0, first = tendon_defined_event_at(definition, event, 0);
    while (tendon_defined_event_at(definition, event, count) < definition->event_count) {
        count++;
    }
    device->counters.notifications += event->kind == TENDON_DEFINED_EVENT_VALUE;
    if (count > 0 && tendon_describe(definition, first, event->bytes, event->length, NULL, NULL, NULL, NULL) < 0) {
        device->counters.malformed++;
    } else {
        device->counters.samples += count;
    }
}

static void emit_session(tendon_device *device, const tendon_defined_event *event, uint64_t now) {
    count_value(device, event);
    tendon_defined_take_rates(&device->of.defined.rates, device->config.definition, event);
    tendon_device_emit(device, &(tendon_device_event){.kind = TENDON_DEVICE_EVENT_SESSION, .of = {.defined = event}},
                       now);
}

/** False: there is no room for it. */
static bool hold(tendon_device *device, const tendon_defined_event *event) {
    tendon_defined_event header = *event; /* its bytes follow */
    uint8_t *place = &device->of.defined.hold[device->of.defined.held];
    if (sizeof header + event->length > TENDON_DEVICE_HELD_BYTES - device->of.defined.held) {
        return false;
    }
    memcpy(place, &header, sizeof header);
    if (event->length > 0) {
        memcpy(place + sizeof header, event->bytes, event->length);
    }
    device->of.defined.held += sizeof header + event->length;
    return true;
}

static bool lacks_rows(const tendon_device *device) {
    for (size_t row = 0; row < device->config.definition->row_count; row++) {
        if (!tendon_defined_session_has(&device->of.defined.session, row)) {
            return true;
        }
    }
    return false;
}

/** After OPENED: what is missing, then what came before. */
static void begin(tendon_device *device, uint64_t now) {
    size_t end = device->of.defined.held;
    if (device->asked == STARTED) {
        return;
    }
    device->asked = STARTED;
    if (lacks_rows(device)) {
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_MISSING, TENDON_OK, now);
    }
    for (size_t at = 0; at < end && device->state == TENDON_DEVICE_OPEN;) {
        tendon_defined_event header;
        memcpy(&header, &device->of.defined.hold[at], sizeof header);
        header.bytes = &device->of.defined.hold[at + sizeof header];
        at += sizeof header + header.length;
        emit_session(device, &header, now);
    }
    device->of.defined.held = 0;
}

/** A row without which the device is none of this kind: the session ends, and this says why. */
static bool is_end(const tendon_device *device, const tendon_defined_event *event) {
    return event->kind == TENDON_DEFINED_EVENT_REFUSED && device->state != TENDON_DEVICE_OPEN &&
           (device->config.definition->rows[event->row].flags & TENDON_ROW_REQUIRED) != 0;
}

static void on_event(void *context, const tendon_defined_event *event, uint64_t now) {
    tendon_device *device = context;
    tendon_status result;
    bool is_report = event->kind == TENDON_DEFINED_EVENT_VALUE || event->kind == TENDON_DEFINED_EVENT_REFUSED;
    if (device->acting && !device->acted && tendon_defined_acted(event, &device->progress, &result)) {
        tendon_device_acted(device, result);
    }
    if (is_end(device, event)) {
        emit_session(device, event, now);
        return;
    }
    if (event->kind == TENDON_DEFINED_EVENT_OPEN) {
        tendon_device_ready(device);
    } else if (event->kind == TENDON_DEFINED_EVENT_CLOSED && event->status != TENDON_ERROR_CANCELLED) {
        tendon_device_fail(device, event->status);
    } else if (is_report && device->state != TENDON_DEVICE_OPEN && !hold(device, event)) {
        tendon_device_report_opened(device, now);
    } else if (is_report && device->state != TENDON_DEVICE_OPEN) {
        return;
    }
    if (is_report && device->state == TENDON_DEVICE_OPEN) {
        begin(device, now);
        emit_session(device, event, now);
    }
}

/* ---- the family ---- */

static void *session_of(tendon_device *device) {
    return &device->of.defined.session;
}

static tendon_status init(tendon_device *device) {
    tendon_defined_session_init(&device->of.defined.session, device->config.definition, tendon_device_link(device),
                                device, on_event);
    return TENDON_OK;
}

static tendon_status open_session(tendon_device *device, uint64_t now) {
    const tendon_session_link link = tendon_device_link(device);
    (void)now;
    device->of.defined.held = 0;
    device->of.defined.rates = (tendon_described_rates){0};
    return link.connect(link.context);
}

static void close_session(tendon_device *device, uint64_t now) {
    const tendon_session_link link = tendon_device_link(device);
    (void)now;
    link.disconnect(link.context);
}

static tendon_status act(tendon_device *device, tendon_act *one, uint64_t now) {
    return tendon_defined_act(&device->of.defined.session, one, &device->progress, now);
}

static tendon_status line_of(const tendon_device *device, const tendon_device_event *event, size_t index,
                             tendon_line *line, const tendon_line_device *label, uint64_t wall_us) {
    return tendon_defined_line(line, label, wall_us, device->config.definition, &device->of.defined.rates,
                               event->of.defined, index);
}

static void identity(const tendon_device *device, tendon_line *line) {
    const tendon_definition *definition = device->config.definition;
    const char *title = tendon_definition_text(definition, definition->title);
    tendon_line_text(line, "model", title, tendon_string_length(title));
}

static void missing(const tendon_device *device, tendon_line *line) {
    const tendon_definition *definition = device->config.definition;
    for (size_t row = 0; row < definition->row_count; row++) {
        if (!tendon_defined_session_has(&device->of.defined.session, row)) {
            tendon_line_word(line, NULL, tendon_definition_text(definition, definition->rows[row].name));
        }
    }
}

static bool view(const tendon_device *device, const tendon_device_event *event, size_t index, tendon_view *out) {
    return tendon_defined_view(out, device->config.definition, &device->of.defined.rates, event->of.defined, index);
}

const device_family tendon_device_defined = {
    .inputs = &tendon_defined_inputs,
    .session = session_of,
    .init = init,
    .open = open_session,
    .close = close_session,
    .go_on = begin,
    .act = act,
    .line = line_of,
    .identity = identity,
    .missing = missing,
    .view = view,
};
