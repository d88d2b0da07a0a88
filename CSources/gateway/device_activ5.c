/* SPDX-License-Identifier: MIT */
#include "device_family.h"

enum { NOTHING_ASKED = 0, STARTED };

static void on_event(void *context, const tendon_activ5_event *event, uint64_t now) {
    tendon_device *device = context;
    tendon_status result;
    bool is_sample = event->kind == TENDON_ACTIV5_EVENT_ISOMETRIC || event->kind == TENDON_ACTIV5_EVENT_IMU;
    device->counters.notifications += is_sample;
    device->counters.malformed += event->kind == TENDON_ACTIV5_EVENT_ERROR;
    if (device->state == TENDON_DEVICE_OPEN) {
        device->counters.samples += is_sample;
        tendon_device_emit(device, &(tendon_device_event){.kind = TENDON_DEVICE_EVENT_SESSION, .of = {.activ5 = event}},
                           now);
    }
    if (device->acting && !device->acted && tendon_activ5_acted(event, &device->progress, &result)) {
        tendon_device_acted(device, result);
    }
    switch (event->kind) {
    case TENDON_ACTIV5_EVENT_READY:
        if (event->status < 0) {
            tendon_device_fail(device, event->status);
        } else {
            tendon_device_ready(device);
        }
        break;
    case TENDON_ACTIV5_EVENT_CONNECT_FAILED:
    case TENDON_ACTIV5_EVENT_DISCONNECTED:
        if (event->status != TENDON_ERROR_CANCELLED) {
            tendon_device_fail(device, event->status);
        }
        break;
    default:
        break;
    }
}

/** Starts what the settings ask for. */
static tendon_status start(tendon_device *device, uint64_t now) {
    const tendon_device_settings *settings = device->config.settings;
    tendon_activ5_device *trainer = &device->of.activ5.device;
    tendon_status status = TENDON_OK;
    device->of.activ5.no_rate = device->of.activ5.no_motion = false;
    if (settings->rate_hz != 0) {
        status = tendon_activ5_device_set_sample_rate(trainer, settings->rate_hz, now);
        device->of.activ5.no_rate = status == TENDON_ACTIV5_ERROR_UNSUPPORTED;
        status = device->of.activ5.no_rate ? TENDON_OK : status;
    }
    if (status >= 0 && settings->force) {
        status = tendon_activ5_device_start_isometric(trainer, now);
    }
    if (status >= 0 && settings->motion) {
        status = tendon_activ5_device_start_imu(trainer, now);
        device->of.activ5.no_motion = status == TENDON_ACTIV5_ERROR_IMU_UNSUPPORTED;
        status = device->of.activ5.no_motion ? TENDON_OK : status;
    }
    if (status >= 0) {
        tendon_activ5_device_set_evergreen(trainer, settings->evergreen, now);
    }
    return status;
}

static void go_on(tendon_device *device, uint64_t now) {
    if (device->asked == STARTED) {
        return;
    }
    device->asked = STARTED;
    tendon_status status = start(device, now);
    if (device->of.activ5.no_rate || device->of.activ5.no_motion) {
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_MISSING, TENDON_OK, now);
    }
    if (status < 0) {
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_CONFIGURATION_FAILED, status, now);
    } else if (device->of.activ5.device.uses_new_protocol) {
        (void)tendon_activ5_device_send(&device->of.activ5.device, TENDON_ACTIV5_ASK_BATTERY, now);
    }
}

/* ---- the family ---- */

static void *session_of(tendon_device *device) {
    return &device->of.activ5.session;
}

static tendon_status init(tendon_device *device) {
    tendon_session_link link = tendon_device_link(device);
    device->of.activ5.options = tendon_activ5_options_defaults();
    tendon_activ5_device_init(&device->of.activ5.device, &device->of.activ5.options, on_event, device, NULL, NULL);
    device->of.activ5.device.peer = device->config.address;
    return tendon_activ5_session_init(&device->of.activ5.session, &link, &device->of.activ5.device);
}

static tendon_status open_session(tendon_device *device, uint64_t now) {
    return tendon_activ5_device_open(&device->of.activ5.device, now);
}

static void close_session(tendon_device *device, uint64_t now) {
    (void)tendon_activ5_device_disconnect(&device->of.activ5.device, now); /* it may be disconnecting already */
}

static tendon_status act(tendon_device *device, tendon_act *one, uint64_t now) {
    return tendon_activ5_act(&device->of.activ5.session, one, &device->progress, now);
}

static tendon_status line_of(const tendon_device *device, const tendon_device_event *event, size_t index,
                             tendon_line *line, const tendon_line_device *label, uint64_t wall_us) {
    (void)device;
    return index > 0 ? 0 : tendon_activ5_line(line, label, wall_us, event->of.activ5);
}

static void identity(const tendon_device *device, tendon_line *line) {
    tendon_activ5_identity(line, &device->of.activ5.device);
}

static void missing(const tendon_device *device, tendon_line *line) {
    if (device->of.activ5.no_rate) {
        tendon_line_word(line, NULL, "sample_rate");
    }
    if (device->of.activ5.no_motion) {
        tendon_line_word(line, NULL, "imu");
    }
}

static bool view(const tendon_device *device, const tendon_device_event *event, size_t index, tendon_view *out) {
    (void)device;
    return index == 0 && tendon_activ5_view(out, event->of.activ5);
}

const device_family tendon_device_activ5 = {
    .inputs = &tendon_activ5_session_inputs,
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
