/* SPDX-License-Identifier: MIT */
/* Lines of Fjorden grips. */
#include "tendon/gateway/lines.h"

#include "tendon/base/packed.h"

/* ---- members ---- */

static void put_detail(tendon_line *line, const tendon_fjorden_record *record) {
    if (tendon_fjorden_event_is_custom(record->event)) {
        tendon_line_integer(line, "button", record->event & 15);
    } else if (record->event == TENDON_FJORDEN_BATTERY_LOW && record->has_sequence) {
        tendon_line_integer(line, "battery_percent", record->value);
    } else if (!tendon_fjorden_event_known(record->event)) {
        tendon_line_integer(line, "code", record->code);
    }
}

void tendon_fjorden_record_members(tendon_line *line, const tendon_fjorden_record *record, bool is_synthesized,
                                   uint64_t received_at) {
    tendon_line_word(line, "grip_event", tendon_fjorden_event_name(record->event));
    put_detail(line, record);
    tendon_line_integer(line, "count", record->count);
    tendon_line_count(line, "device_time_ms", record->time_ms);
    tendon_line_times(line, received_at, 0, 0);
    if (record->has_sequence) {
        tendon_line_integer(line, "sequence", record->sequence);
    }
    if (record->lost_before > 0) {
        tendon_line_integer(line, "lost_before", record->lost_before);
    }
    if (is_synthesized) {
        tendon_line_bool(line, "synthesized", true);
    }
}

/* ---- events ---- */

static const char *name_of(const tendon_fjorden_session_event *event) {
    switch (event->kind) {
    case TENDON_FJORDEN_SESSION_EVENT_EVENT:
        return "grip";
    case TENDON_FJORDEN_SESSION_EVENT_BATTERY:
        return event->status >= 0 ? "battery" : NULL;
    case TENDON_FJORDEN_SESSION_EVENT_OUTPUT:
        return event->output->kind == TENDON_FJORDEN_OUT_PAIR ? "pairing" : NULL;
    default: /* of the connection, of requests; what is rejected is counted */
        return NULL;
    }
}

tendon_status tendon_fjorden_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                  const tendon_fjorden_session_event *event) {
    const char *name = name_of(event);
    if (name == NULL) {
        return 0;
    }
    tendon_line_begin(line, name, wall_us, device);
    if (event->kind == TENDON_FJORDEN_SESSION_EVENT_EVENT) {
        line->is_sample = true;
        tendon_fjorden_record_members(line, event->record, event->synthesized, event->received_at);
    } else if (event->kind == TENDON_FJORDEN_SESSION_EVENT_BATTERY) {
        tendon_line_integer(line, "battery_percent", event->level);
        tendon_line_bool(line, "battery_low", event->level < TENDON_FJORDEN_BATTERY_LOW_BELOW);
    } else {
        tendon_line_word(line, "state", "wanted");
    }
    return tendon_line_end(line);
}

/* ---- identity ---- */

static void put_string(tendon_line *line, const char *key, const tendon_fjorden_session *session,
                       tendon_fjorden_string which) {
    const char *text = session->info.strings[which];
    if (session->info.present[which]) {
        tendon_line_text(line, key, text, tendon_string_length(text));
    } else {
        tendon_line_null(line, key);
    }
}

/* As it is compared: of "1.2" and "1.2.0" one text. */
static void put_firmware(tendon_line *line, const tendon_fjorden_session *session) {
    const char *text = session->info.strings[TENDON_FJORDEN_STRING_FIRMWARE];
    tendon_fjorden_version version;
    char out[TENDON_FJORDEN_VERSION_SIZE + 8]; /* two numbers of five digits may be added: ".0.0" */
    bool is_known = session->info.present[TENDON_FJORDEN_STRING_FIRMWARE] &&
                    tendon_fjorden_version_parse(text, tendon_string_length(text), &version);
    tendon_status length = is_known ? tendon_fjorden_version_format(&version, out, sizeof out) : -1;
    if (length >= 0) {
        tendon_line_text(line, "firmware", out, (size_t)length);
    } else {
        tendon_line_null(line, "firmware");
    }
}

void tendon_fjorden_identity(tendon_line *line, const tendon_fjorden_session *session) {
    put_firmware(line, session);
    put_string(line, "manufacturer", session, TENDON_FJORDEN_STRING_MANUFACTURER);
    put_string(line, "model", session, TENDON_FJORDEN_STRING_MODEL);
    if (session->has_level) {
        tendon_line_integer(line, "battery_percent", session->level);
    } else {
        tendon_line_null(line, "battery_percent");
    }
}
