/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "device_family.h"

enum { NOTHING_ASKED = 0, INFO_ASKED, BATTERY_ASKED, READ };

static void emit_session(tendon_device *device, const tendon_fjorden_session_event *event, uint64_t now) {
    device->counters.samples += event->kind == TENDON_FJORDEN_SESSION_EVENT_EVENT;
    tendon_device_emit(device, &(tendon_device_event){.kind = TENDON_DEVICE_EVENT_SESSION, .of = {.fjorden = event}},
                       now);
}

/** What comes while the grip's information is read follows OPENED. */
static void hold(tendon_device *device, const tendon_fjorden_session_event *event, uint64_t now) {
    if (device->of.fjorden.held == TENDON_DEVICE_HELD_EVENTS) {
        tendon_device_report_opened(device, now);
        return;
    }
    size_t place = device->of.fjorden.held++;
    device->of.fjorden.hold[place].event = *event;
    if (event->record != NULL) {
        device->of.fjorden.hold[place].record = *event->record;
    }
}

static void release(tendon_device *device, uint64_t now) {
    for (size_t i = 0; i < device->of.fjorden.held && device->state == TENDON_DEVICE_OPEN; i++) {
        tendon_fjorden_session_event event = device->of.fjorden.hold[i].event;
        event.record = event.record != NULL ? &device->of.fjorden.hold[i].record : NULL;
        emit_session(device, &event, now);
    }
    device->of.fjorden.held = 0;
}

/** An output of the manager. No call of the session is allowed here. */
static void follow_output(tendon_device *device, const tendon_fjorden_output *output, uint64_t now) {
    const tendon_session_link link = tendon_device_link(device);
    switch (output->kind) {
    case TENDON_FJORDEN_OUT_STATE:
        if (output->state == TENDON_FJORDEN_CONNECTED) {
            tendon_device_ready(device);
        }
        tendon_device_touch(device);
        break;
    case TENDON_FJORDEN_OUT_RESULT:
        if (output->status < 0) {
            tendon_device_fail(device, output->status);
        }
        break;
    case TENDON_FJORDEN_OUT_PAIR:
        if (!link.bonded(link.context)) {
            tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_PAIRING, TENDON_OK, now);
        }
        break;
    default:
        break;
    }
}

static void on_event(void *context, const tendon_fjorden_session_event *event, uint64_t now) {
    tendon_device *device = context;
    tendon_status result;
    const tendon_fjorden_session *grip = &device->of.fjorden.session;
    device->counters.notifications = grip->counters.notifications;
    device->counters.malformed += event->kind == TENDON_FJORDEN_SESSION_EVENT_REJECTED;
    device->counters.skipped = device->of.fjorden.skipped_before + grip->stream.duplicates + grip->stream.out_of_order;
    if (device->acting && !device->acted && tendon_fjorden_acted(event, &device->progress, &result)) {
        tendon_device_acted(device, result);
    }
    if (event->kind == TENDON_FJORDEN_SESSION_EVENT_OUTPUT) {
        follow_output(device, event->output, now);
    } else if (event->kind == TENDON_FJORDEN_SESSION_EVENT_INFO ||
               (event->kind == TENDON_FJORDEN_SESSION_EVENT_BATTERY && device->asked == BATTERY_ASKED)) {
        device->asked = event->kind == TENDON_FJORDEN_SESSION_EVENT_INFO ? device->asked : READ;
        tendon_device_touch(device);
        return; /* an answer to a question of ours: it is a part of the identity */
    }
    if (event->kind == TENDON_FJORDEN_SESSION_EVENT_EVENT && device->state != TENDON_DEVICE_OPEN) {
        hold(device, event, now);
    }
    if (device->state == TENDON_DEVICE_OPEN) {
        release(device, now);
        emit_session(device, event, now);
    }
}

/** One after the other: the strings, then the battery. */
static bool read_identity(tendon_device *device, uint64_t now) {
    tendon_fjorden_session *grip = &device->of.fjorden.session;
    if (device->asked == NOTHING_ASKED) {
        device->asked = INFO_ASKED;
        if (tendon_fjorden_session_read_info(grip, now) >= 0) {
            return false;
        }
    }
    if (device->asked == INFO_ASKED) {
        device->asked = BATTERY_ASKED;
        if (tendon_fjorden_session_read_battery(grip, now) >= 0) {
            return false;
        }
        device->asked = READ;
    }
    return device->asked == READ;
}

static void go_on(tendon_device *device, uint64_t now) {
    release(device, now);
}

/* ---- the family ---- */

static void *session_of(tendon_device *device) {
    return &device->of.fjorden.session;
}

static tendon_status init(tendon_device *device) {
    device->of.fjorden.held = 0;
    device->of.fjorden.skipped_before = 0;
    return tendon_fjorden_session_init(&device->of.fjorden.session,
                                       &(tendon_fjorden_session_config){.link = tendon_device_link(device),
                                                                        .profile = &device->config.settings->profile,
                                                                        .context = device,
                                                                        .on_event = on_event});
}

/** The manager is made ready once. Its bond is not used: with one it would search before it connects. */
static tendon_status make_ready(tendon_device *device, uint64_t now) {
    enum { CONNECT_MS = 10000 };
    tendon_fjorden_session *grip = &device->of.fjorden.session;
    tendon_fjorden_configuration configuration;
    if (grip->manager.configured) {
        return TENDON_OK;
    }
    tendon_fjorden_configuration_init(&configuration);
    configuration.timeout_ms = CONNECT_MS;
    configuration.auto_reconnect = false;
    tendon_fjorden_manager_set_environment(&grip->manager, TENDON_FJORDEN_AUTHORIZATION_ALLOWED, true);
    tendon_status status = tendon_fjorden_session_input(
        grip, &(tendon_fjorden_input){.kind = TENDON_FJORDEN_CALL_CONFIGURE, .configuration = &configuration}, now);
    return status < 0
               ? status
               : tendon_fjorden_session_input(grip, &(tendon_fjorden_input){.kind = TENDON_FJORDEN_CALL_START}, now);
}

static tendon_status open_session(tendon_device *device, uint64_t now) {
    tendon_fjorden_input input = {.kind = TENDON_FJORDEN_CALL_CONNECT};
    tendon_status status = make_ready(device, now);
    device->of.fjorden.held = 0;
    device->of.fjorden.skipped_before = device->counters.skipped;
    device->of.fjorden.session.stream = (tendon_fjorden_stream){0};
    tendon_fjorden_identifier(&device->config.address, input.grip.identifier);
    return status < 0 ? status : tendon_fjorden_session_input(&device->of.fjorden.session, &input, now);
}

static void close_session(tendon_device *device, uint64_t now) {
    (void)tendon_fjorden_session_disconnect(&device->of.fjorden.session, now);
}

static tendon_status act(tendon_device *device, tendon_act *one, uint64_t now) {
    return tendon_fjorden_act(&device->of.fjorden.session, one, &device->progress, now);
}

/** What another attempt would not change. */
static bool may_retry(tendon_status status) {
    return status != TENDON_FJORDEN_ERROR_NO_SERVICE && status != TENDON_FJORDEN_ERROR_NO_CHARACTERISTICS &&
           status != TENDON_FJORDEN_ERROR_UNSUPPORTED_FIRMWARE && status != TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION;
}

static tendon_status line_of(const tendon_device *device, const tendon_device_event *event, size_t index,
                             tendon_line *line, const tendon_line_device *label, uint64_t wall_us) {
    (void)device;
    return index > 0 ? 0 : tendon_fjorden_line(line, label, wall_us, event->of.fjorden);
}

static void identity(const tendon_device *device, tendon_line *line) {
    tendon_fjorden_identity(line, &device->of.fjorden.session);
}

static bool view(const tendon_device *device, const tendon_device_event *event, size_t index, tendon_view *out) {
    (void)device;
    return index == 0 && tendon_fjorden_view(out, event->of.fjorden);
}

const device_family tendon_device_fjorden = {
    .inputs = &tendon_fjorden_session_inputs,
    .session = session_of,
    .init = init,
    .open = open_session,
    .close = close_session,
    .read = read_identity,
    .go_on = go_on,
    .act = act,
    .may_retry = may_retry,
    .line = line_of,
    .identity = identity,
    .view = view,
};
