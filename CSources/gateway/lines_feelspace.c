/* SPDX-License-Identifier: MIT */
/* Lines of feelSpace belts. */
#include "tendon/gateway/lines.h"

#include "tendon/base/packed.h"

/* 0xFFFF in units of 5.625 s: "at least this time", which is not known then. */
#define TIME_LEFT_LONGEST (65535 * 5.625)

static const char *button_name(uint8_t button) {
    return tendon_packed_string("power\0pause\0compass\0home", NULL, TENDON_FEELSPACE_BUTTON_HOME,
                                (unsigned)button - TENDON_FEELSPACE_BUTTON_POWER);
}

/* ---- members ---- */

void tendon_feelspace_button_members(tendon_line *line, const tendon_feelspace_press *press) {
    const char *name = button_name(press->button);
    tendon_line_word(line, "button", name != NULL ? name : "unknown");
    tendon_line_word(line, "press", press->is_long ? "long" : "short");
    tendon_line_word(line, "previous_mode", tendon_feelspace_mode_name(press->previous_mode));
    tendon_line_word(line, "mode", tendon_feelspace_mode_name(press->new_mode));
}

void tendon_feelspace_battery_members(tendon_line *line, const tendon_feelspace_battery *battery) {
    tendon_line_number(line, "battery_percent", battery->level_percent, 1);
    tendon_line_word(line, "power_status",
                     tendon_packed_name("unknown\0onBattery\0charging\0externalPower",
                                        TENDON_FEELSPACE_POWER_EXTERNAL + 1, battery->power_status));
    if (battery->tte_ttf_s >= 0 && battery->tte_ttf_s < TIME_LEFT_LONGEST) {
        tendon_line_number(line, "time_left_s", battery->tte_ttf_s, 0);
    } else {
        tendon_line_null(line, "time_left_s");
    }
}

void tendon_feelspace_orientation_members(tendon_line *line, const tendon_feelspace_orientation *orientation,
                                          uint64_t received_at) {
    tendon_line_word(line, "sensor", "orientation");
    tendon_line_times(line, received_at, 0, 0);
    tendon_line_integer(line, "heading_deg", orientation->heading);
    tendon_line_bool(line, "accurate", orientation->accurate);
    tendon_line_integer(line, "accuracy_deg", orientation->accuracy_deg);
}

static void put_rejected(tendon_line *line, const tendon_feelspace_event *event) {
    tendon_line_bytes(line, "bytes", event->packet.data, event->packet.length);
    tendon_line_word(line, "error", tendon_feelspace_status_name(event->status));
    tendon_line_reason(line, NULL, event->status);
}

/* ---- events ---- */

static const char *name_of(const tendon_feelspace_session *session, const tendon_feelspace_event *event) {
    switch (event->kind) {
    case TENDON_FEELSPACE_EVENT_MODE:
        return "mode";
    case TENDON_FEELSPACE_EVENT_BUTTON:
        return button_name(event->press.button) != NULL ? "button" : NULL;
    case TENDON_FEELSPACE_EVENT_DEFAULT_INTENSITY:
        return "default_intensity";
    case TENDON_FEELSPACE_EVENT_HEADING_OFFSET:
        return "heading_offset";
    case TENDON_FEELSPACE_EVENT_BATTERY:
        return "battery";
    case TENDON_FEELSPACE_EVENT_ORIENTATION:
        return "sample";
    case TENDON_FEELSPACE_EVENT_ACCURACY_SIGNAL:
        return session->accuracy_state >= 0 ? "accuracy_signal" : NULL;
    case TENDON_FEELSPACE_EVENT_DEBUG:
        return "debug";
    case TENDON_FEELSPACE_EVENT_REJECTED:
        return "malformed";
    default: /* of searches and connections; parameters, which come again as one of the above; commands */
        return NULL;
    }
}

static void put_members(tendon_line *line, const tendon_feelspace_session *session,
                        const tendon_feelspace_event *event) {
    switch (event->kind) {
    case TENDON_FEELSPACE_EVENT_MODE:
        tendon_line_word(line, "mode", tendon_feelspace_mode_name(session->mode));
        break;
    case TENDON_FEELSPACE_EVENT_BUTTON:
        tendon_feelspace_button_members(line, &event->press);
        break;
    case TENDON_FEELSPACE_EVENT_DEFAULT_INTENSITY:
        tendon_line_integer(line, "intensity_percent", session->default_intensity);
        break;
    case TENDON_FEELSPACE_EVENT_HEADING_OFFSET:
        tendon_line_integer(line, "offset_deg", session->heading_offset);
        break;
    case TENDON_FEELSPACE_EVENT_BATTERY:
        tendon_feelspace_battery_members(line, &session->battery);
        break;
    case TENDON_FEELSPACE_EVENT_ORIENTATION:
        tendon_feelspace_orientation_members(line, &session->orientation, event->received_at);
        break;
    case TENDON_FEELSPACE_EVENT_ACCURACY_SIGNAL:
        tendon_line_bool(line, "in_app", (session->accuracy_state & 2) != 0);
        tendon_line_bool(line, "in_compass", (session->accuracy_state & 1) != 0);
        break;
    case TENDON_FEELSPACE_EVENT_DEBUG:
        tendon_line_bytes(line, "bytes", event->packet.data, event->packet.length);
        break;
    default:
        put_rejected(line, event);
    }
}

tendon_status tendon_feelspace_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                    const tendon_feelspace_session *session, const tendon_feelspace_event *event) {
    const char *name = name_of(session, event);
    if (name == NULL) {
        return 0;
    }
    tendon_line_begin(line, name, wall_us, device);
    line->is_sample = event->kind == TENDON_FEELSPACE_EVENT_ORIENTATION;
    if (!tendon_line_is_head(line)) {
        put_members(line, session, event);
    }
    return tendon_line_end(line);
}

tendon_status tendon_feelspace_battery_line(tendon_line *line, const tendon_line_device *device, uint64_t wall_us,
                                            const tendon_feelspace_session *session) {
    const tendon_feelspace_event event = {.kind = TENDON_FEELSPACE_EVENT_BATTERY};
    return session->has_battery ? tendon_feelspace_line(line, device, wall_us, session, &event) : 0;
}

/* ---- identity ---- */

void tendon_feelspace_identity(tendon_line *line, const tendon_feelspace_session *session) {
    if (session->has_firmware) {
        tendon_line_numeral(line, "firmware", session->firmware.version);
    } else {
        tendon_line_word(line, "firmware", "-1");
    }
    if (session->has_firmware && session->firmware.has_variant) {
        tendon_line_integer(line, "variant", session->firmware.variant);
    } else {
        tendon_line_null(line, "variant");
    }
    tendon_line_word(line, "mode", tendon_feelspace_mode_name(session->mode));
    tendon_line_integer(line, "intensity_percent", session->default_intensity);
}
