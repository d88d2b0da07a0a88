/* SPDX-License-Identifier: MIT */
/* Devices that a file defines. */
#include "family.h"

/* A characteristic tells that a device is of this kind if it is required, or in a service that is looked for. */
static bool recognizes(const tendon_definition *definition, const tendon_uuid *characteristic) {
    size_t number = tendon_definition_row_of(definition, characteristic);
    if (number == definition->row_count) {
        return false;
    }
    const tendon_definition_row *row = &definition->rows[number];
    bool identifies = (row->flags & TENDON_ROW_REQUIRED) != 0;
    for (size_t i = 0; i < definition->find.service_count; i++) {
        identifies = identifies || tendon_uuid_equal(&definition->find.services[i], &row->service);
    }
    return identifies;
}

static tendon_status write_value(const tendon_replay_line *one, tendon_line *line, const tendon_line_device *device,
                                 uint64_t wall_us) {
    return tendon_defined_line(line, device, wall_us, one->replay->definition, &one->replay->of.rates, one->decoded,
                               one->place);
}

static bool view_value(const tendon_replay_line *one, tendon_replay_numbers *out) {
    return tendon_defined_view(&out->view, one->replay->definition, &one->replay->of.rates, one->decoded, one->place);
}

static void take(const replay_taking *to) {
    const tendon_definition *definition = to->replay->definition;
    const tendon_replay_value *value = to->value;
    size_t row = value->service == NULL ? tendon_definition_row_of(definition, value->characteristic)
                                        : tendon_definition_row_in(definition, value->service, value->characteristic);
    if (row == definition->row_count) {
        return;
    }
    if (value->is_written) {
        tendon_replay_tell_bytes(to, "command", "characteristic",
                                 tendon_definition_text(definition, definition->rows[row].name));
        return;
    }
    const tendon_defined_event event = {
        .kind = TENDON_DEFINED_EVENT_VALUE, .row = (uint8_t)row, .bytes = value->bytes, .length = value->length};
    tendon_replay_line one = {.write = write_value, .decoded = &event};
    to->replay->notifications++;
    tendon_defined_take_rates(&to->replay->of.rates, definition, &event);
    for (tendon_status status = TENDON_OK; status >= 0; one.place++) {
        one.defined_event = tendon_defined_event_at(definition, &event, one.place);
        if (one.defined_event == definition->event_count) {
            break;
        }
        status = tendon_describe(definition, one.defined_event, value->bytes, value->length, NULL, NULL, NULL, NULL);
        one.definition = status >= 0 ? definition : NULL;
        one.view = status >= 0 ? view_value : NULL;
        *(status >= 0 ? &to->replay->samples : &to->replay->malformed) += 1;
        tendon_replay_emit(to, one);
    }
}

const tendon_replay_family tendon_defined_replay = {NULL, recognizes, NULL, take, NULL};
