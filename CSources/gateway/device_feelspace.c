/* SPDX-License-Identifier: MIT */
#include "device_family.h"

enum { NOTHING_ASKED = 0, STARTED };

/** A change of the connection's state. */
static void follow_state(tendon_device *device, const tendon_feelspace_event *event) {
    if (event->connection.state == TENDON_FEELSPACE_CONNECTED) {
        tendon_device_ready(device);
    } else if (event->connection.state == TENDON_FEELSPACE_NOT_CONNECTED && event->status < 0 &&
               event->status != TENDON_ERROR_CANCELLED) {
        tendon_device_fail(device, event->status);
    } else if (event->connection.state == TENDON_FEELSPACE_NOT_CONNECTED) {
        tendon_device_touch(device);
    }
}

static void on_event(void *context, const tendon_feelspace_event *event, uint64_t now) {
    tendon_device *device = context;
    tendon_status result;
    bool is_sample = event->kind == TENDON_FEELSPACE_EVENT_ORIENTATION;
    device->counters.notifications += is_sample;
    device->counters.malformed += event->kind == TENDON_FEELSPACE_EVENT_REJECTED;
    device->counters.skipped = device->of.feelspace.counters.unsupported;
    if (device->state == TENDON_DEVICE_OPEN) {
        device->counters.samples += is_sample;
        tendon_device_emit(
            device, &(tendon_device_event){.kind = TENDON_DEVICE_EVENT_SESSION, .of = {.feelspace = event}}, now);
    }
    if (device->acting && !device->acted &&
        tendon_feelspace_acted(&device->of.feelspace, event, &device->progress, &result, now)) {
        tendon_device_acted(device, result);
    }
    if (event->kind == TENDON_FEELSPACE_EVENT_STATE) {
        follow_state(device, event);
    }
}

static void go_on(tendon_device *device, uint64_t now) {
    const tendon_device_settings *settings = device->config.settings;
    tendon_feelspace_session *belt = &device->of.feelspace;
    if (device->asked == STARTED) {
        return;
    }
    device->asked = STARTED;
    if (belt->has_battery) {
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_BATTERY, TENDON_OK, now);
    }
    if (settings->orientation_period_ms != 0 &&
        tendon_feelspace_session_set_orientation_period(belt, settings->orientation_period_ms, now) < 0) {
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_MISSING, TENDON_OK, now);
    }
    if (settings->default_intensity != 0 && settings->default_intensity != belt->default_intensity) {
        /* Without the signal of the belt: its wearer did not change it. */
        (void)tendon_feelspace_session_set_default_intensity(belt, settings->default_intensity, false, now);
    }
    tendon_status status = tendon_feelspace_session_start_orientation(belt, 0, 0, now);
    if (status < 0) {
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_CONFIGURATION_FAILED, status, now);
    }
}

/* ---- the family ---- */

static void *session_of(tendon_device *device) {
    return &device->of.feelspace;
}

static tendon_status init(tendon_device *device) {
    return tendon_feelspace_session_init(
        &device->of.feelspace, &(tendon_feelspace_session_config){
                                   .link = tendon_device_link(device), .context = device, .on_event = on_event});
}

static tendon_status open_session(tendon_device *device, uint64_t now) {
    const tendon_feelspace_connect_options options = {.timeout_ms = device->config.settings->opening_ms};
    return tendon_feelspace_session_connect(&device->of.feelspace, &device->config.address, &options, now);
}

static void close_session(tendon_device *device, uint64_t now) {
    tendon_feelspace_session_disconnect(&device->of.feelspace, now);
}

static tendon_status act(tendon_device *device, tendon_act *one, uint64_t now) {
    return tendon_feelspace_act(&device->of.feelspace, one, &device->progress, now);
}

static tendon_status line_of(const tendon_device *device, const tendon_device_event *event, size_t index,
                             tendon_line *line, const tendon_line_device *label, uint64_t wall_us) {
    const tendon_feelspace_session *belt = &device->of.feelspace;
    if (index > 0) {
        return 0;
    }
    return event->kind == TENDON_DEVICE_EVENT_BATTERY
               ? tendon_feelspace_battery_line(line, label, wall_us, belt)
               : tendon_feelspace_line(line, label, wall_us, belt, event->of.feelspace);
}

static void identity(const tendon_device *device, tendon_line *line) {
    tendon_feelspace_identity(line, &device->of.feelspace);
}

/** All that a belt can lack: with firmware before 52. */
static void missing(const tendon_device *device, tendon_line *line) {
    (void)device;
    tendon_line_word(line, NULL, "orientation_period");
}

static bool view(const tendon_device *device, const tendon_device_event *event, size_t index, tendon_view *out) {
    return index == 0 && tendon_feelspace_view(out, &device->of.feelspace, event->of.feelspace);
}

const device_family tendon_device_feelspace = {
    .inputs = &tendon_feelspace_session_inputs,
    .session = session_of,
    .init = init,
    .open = open_session,
    .close = close_session,
    .go_on = go_on,
    .act = act,
    .line = line_of,
    .identity = identity,
    .missing = missing,
    .view = view,
};
