/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "device_family.h"
#include "tendon/base/packed.h"

enum { NOTHING_ASKED = 0, SENSORS_ASKED, GESTURES_ASKED, CONFIGURED };

/* ---- the configuration that the settings ask for ---- */

static tendon_status configure_sensors(tendon_device *device, uint64_t now) {
    tendon_bose_session *session = &device->of.bose.session;
    const tendon_settings_list *wanted = &device->config.settings->sensors;
    tendon_bose_sensor_configuration configuration = session->sensor_configuration;
    const tendon_bose_sensor_information *offered = session->has_sensors ? &session->sensors : NULL;
    size_t count = wanted->all ? configuration.count : wanted->count;
    tendon_bose_disable_all_sensors(&configuration);
    device->of.bose.missing_sensors = 0;
    for (size_t i = 0; i < count; i++) {
        uint8_t id = wanted->all ? configuration.settings[i].sensor_id : wanted->ids[i];
        if (tendon_bose_enable_sensor(&configuration, id, device->config.settings->period_ms, offered) < 0) {
            device->of.bose.sensors[device->of.bose.missing_sensors++] = id;
        }
    }
    return tendon_bose_session_configure_sensors(session, &configuration, now);
}

/** After connecting all gestures are off: without one that is wanted nothing is written. */
static bool wants_gestures(const tendon_device *device) {
    const tendon_bose_session *session = &device->of.bose.session;
    const tendon_settings_list *wanted = &device->config.settings->gestures;
    return (wanted->all || wanted->count > 0) && session->has_gestures && session->gestures.count > 0;
}

static tendon_status configure_gestures(tendon_device *device, uint64_t now) {
    tendon_bose_session *session = &device->of.bose.session;
    const tendon_settings_list *wanted = &device->config.settings->gestures;
    tendon_bose_gesture_configuration configuration = session->gesture_configuration;
    tendon_bose_set_all_gestures(&configuration, wanted->all);
    device->of.bose.missing_gestures = 0;
    for (size_t i = 0; i < wanted->count; i++) {
        if (tendon_bose_set_gesture(&configuration, wanted->ids[i], true) < 0) {
            device->of.bose.gestures[device->of.bose.missing_gestures++] = wanted->ids[i];
        }
    }
    return tendon_bose_session_configure_gestures(session, &configuration, now);
}

static void failed(tendon_device *device, tendon_status status, uint64_t now) {
    device->asked = CONFIGURED;
    device->of.bose.unconfigured = status == TENDON_BOSE_ERROR_SERVICE_UNAVAILABLE;
    if (!device->of.bose.unconfigured && status != TENDON_ERROR_CANCELLED) {
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_CONFIGURATION_FAILED, status, now);
    }
}

static void configured(tendon_device *device, uint64_t now) {
    device->asked = CONFIGURED;
    if (device->of.bose.missing_sensors + device->of.bose.missing_gestures > 0) {
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_MISSING, TENDON_OK, now);
    }
}

static void go_on(tendon_device *device, uint64_t now) {
    if (device->asked == NOTHING_ASKED) {
        device->of.bose.missing_gestures = 0;
        device->asked = SENSORS_ASKED;
        tendon_status status = configure_sensors(device, now);
        if (status < 0) {
            failed(device, status, now);
        }
    }
}

/** The outcome of the configuration that was written last. */
static void written(tendon_device *device, const tendon_bose_event *event, uint64_t now) {
    if (event->configuration == 0 || (device->asked != SENSORS_ASKED && device->asked != GESTURES_ASKED)) {
        return;
    }
    if (event->status < 0) {
        failed(device, event->status, now);
    } else if (device->asked == GESTURES_ASKED || !wants_gestures(device)) {
        configured(device, now);
    } else {
        device->asked = GESTURES_ASKED;
        tendon_status status = configure_gestures(device, now);
        if (status < 0) {
            failed(device, status, now);
        }
    }
}

/* ---- events ---- */

/** What follows from an event, after it was passed on. */
static void follow(tendon_device *device, const tendon_bose_event *event, uint64_t now) {
    switch (event->kind) {
    case TENDON_BOSE_EVENT_OPENED:
        tendon_device_ready(device);
        break;
    case TENDON_BOSE_EVENT_OPEN_FAILED:
    case TENDON_BOSE_EVENT_CLOSED:
        if (event->status < 0) {
            tendon_device_fail(device, event->status);
        } else {
            tendon_device_touch(device);
        }
        break;
    case TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE:
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_PAIRING, TENDON_OK, now);
        break;
    case TENDON_BOSE_EVENT_PAIRING_FINISHED:
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_PAIRED, event->status, now);
        break;
    case TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_WRITTEN:
    case TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED:
    case TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_WRITTEN:
    case TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED:
        written(device, event, now);
        break;
    case TENDON_BOSE_EVENT_RESUMED:
        if (device->of.bose.unconfigured) {
            device->of.bose.unconfigured = false;
            device->asked = NOTHING_ASKED;
            tendon_device_touch(device);
        }
        break;
    default:
        break;
    }
}

static void on_event(void *context, const tendon_bose_event *event, uint64_t now) {
    tendon_device *device = context;
    const tendon_bose_counters *counters = &device->of.bose.session.counters;
    device->counters.notifications += event->kind == TENDON_BOSE_EVENT_SENSOR_DATA;
    device->counters.malformed += event->kind == TENDON_BOSE_EVENT_MALFORMED;
    device->counters.skipped = counters->skipped + counters->dropped;
    if (device->state == TENDON_DEVICE_OPEN) {
        device->counters.samples += event->kind == TENDON_BOSE_EVENT_SAMPLE;
        tendon_device_emit(device, &(tendon_device_event){.kind = TENDON_DEVICE_EVENT_SESSION, .of = {.bose = event}},
                           now);
    }
    follow(device, event, now);
}

/* ---- the family ---- */

static void *session_of(tendon_device *device) {
    return &device->of.bose.session;
}

static tendon_status init(tendon_device *device) {
    device->of.bose.unconfigured = false;
    return tendon_bose_session_init(
        &device->of.bose.session,
        &(tendon_bose_session_config){
            .link = tendon_device_link(device), .context = device, .on_event = on_event, .pairing_delegate = true});
}

static tendon_status open_session(tendon_device *device, uint64_t now) {
    device->of.bose.unconfigured = false;
    return tendon_bose_session_open(&device->of.bose.session, now);
}

static void close_session(tendon_device *device, uint64_t now) {
    (void)tendon_bose_session_close(&device->of.bose.session, now); /* it may be closing by itself */
}

/** What another attempt would not change. A gateway looks for no old firmware, and judges none. */
static bool may_retry(tendon_status status) {
    return status != TENDON_BOSE_ERROR_NO_MATCHING_DEVICE_TYPE && status != TENDON_BOSE_ERROR_MISSING_CHARACTERISTIC &&
           status != TENDON_BOSE_ERROR_PAIRING_DELEGATE_MISSING;
}

/** The device reports it in an event of its own. */
static bool is_reported(const tendon_bose_event *event) {
    return event->kind == TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE ||
           event->kind == TENDON_BOSE_EVENT_PAIRING_FINISHED ||
           event->kind == TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED ||
           event->kind == TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED;
}

static tendon_status line_of(const tendon_device *device, const tendon_device_event *event, size_t index,
                             tendon_line *line, const tendon_line_device *label, uint64_t wall_us) {
    const tendon_bose_event *of = event->of.bose;
    return index > 0 || is_reported(of) ? 0 : tendon_bose_line(line, label, wall_us, &device->of.bose.session, of);
}

static void identity(const tendon_device *device, tendon_line *line) {
    tendon_bose_identity(line, &device->of.bose.session);
}

static size_t append(char *text, size_t length, const char *word) {
    size_t more = tendon_string_length(word);
    memcpy(text + length, word, more);
    return length + more;
}

/** Below 1000. */
static size_t append_number(char *text, size_t length, unsigned number) {
    for (unsigned power = 100; power > 0; power /= 10) {
        if (number >= power || power == 1) {
            text[length++] = (char)('0' + number / power % 10);
        }
    }
    return length;
}

/** "rotation at 20 ms"; of a number that has no name "sensor 200 at 20 ms". @param period 0: none. */
static void write_missing(tendon_line *line, const char *kind, unsigned id, const char *name, unsigned period) {
    char text[64];
    size_t length = append(text, 0, name != NULL ? name : kind);
    if (name == NULL) {
        length = append_number(text, length, id);
    }
    if (period > 0) {
        length = append(text, append_number(text, append(text, length, " at "), period), " ms");
    }
    tendon_line_text(line, NULL, text, length);
}

static void missing(const tendon_device *device, tendon_line *line) {
    for (size_t i = 0; i < device->of.bose.missing_sensors; i++) {
        uint8_t id = device->of.bose.sensors[i];
        write_missing(line, "sensor ", id, id < TENDON_BOSE_SENSOR_COUNT ? tendon_bose_sensor_name(id) : NULL,
                      device->config.settings->period_ms);
    }
    for (size_t i = 0; i < device->of.bose.missing_gestures; i++) {
        uint8_t id = device->of.bose.gestures[i];
        write_missing(line, "gesture ", id, tendon_bose_gesture_known(id) ? tendon_bose_gesture_name(id) : NULL, 0);
    }
}

static bool view(const tendon_device *device, const tendon_device_event *event, size_t index, tendon_view *out) {
    (void)device;
    return index == 0 && tendon_bose_view(out, event->of.bose);
}

const device_family tendon_device_bose = {
    .inputs = &tendon_bose_session_inputs,
    .session = session_of,
    .init = init,
    .open = open_session,
    .close = close_session,
    .go_on = go_on,
    .may_retry = may_retry,
    .line = line_of,
    .identity = identity,
    .missing = missing,
    .view = view,
};
