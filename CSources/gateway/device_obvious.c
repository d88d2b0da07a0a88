/* SPDX-License-Identifier: MIT */
/* Without a cloud: states and switches of features. Updates and firmware need one, and have none here. */
#include "device_family.h"

enum { NOTHING_ASKED = 0, INFO_ASKED, INFO_READ, STATES_ASKED, STATES_READ };

/** No key verifies anything. */
static const tendon_obvious_key_ring no_keys;

static void on_session_event(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    tendon_device *device = context;
    (void)now;
    switch (event->kind) {
    case TENDON_OBVIOUS_SESSION_EVENT_OPENED:
        tendon_device_ready(device);
        break;
    case TENDON_OBVIOUS_SESSION_EVENT_UNUSABLE:
        tendon_device_fail(device, event->cause < 0 ? event->cause : event->status);
        break;
    case TENDON_OBVIOUS_SESSION_EVENT_CLOSED:
        if (event->status < 0 && event->status != TENDON_ERROR_CANCELLED) {
            tendon_device_fail(device, event->status);
        }
        break;
    default:
        break;
    }
}

/** The operation of a step has ended. */
static void ended(tendon_device *device, const tendon_obvious_event *event, uint64_t now) {
    if (device->asked == INFO_ASKED) {
        device->asked = INFO_READ;
        if (event->status < 0) {
            tendon_device_fail(device, event->status);
        }
    } else if (device->asked == STATES_ASKED) {
        device->asked = STATES_READ;
        if (event->status < 0 && event->status != TENDON_ERROR_CANCELLED) {
            tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_CONFIGURATION_FAILED, event->status, now);
        }
    }
    tendon_device_touch(device);
}

static void on_event(void *context, const tendon_obvious_event *event, uint64_t now) {
    tendon_device *device = context;
    tendon_status result;
    if (device->state == TENDON_DEVICE_OPEN) {
        device->counters.notifications += event->kind == TENDON_OBVIOUS_EVENT_CHANGED;
        device->counters.samples += event->kind == TENDON_OBVIOUS_EVENT_CHANGED ? event->count : 0;
        tendon_device_emit(device,
                           &(tendon_device_event){.kind = TENDON_DEVICE_EVENT_SESSION, .of = {.obvious = event}}, now);
    }
    if (device->acting && !device->acted) {
        if (tendon_obvious_acted(event, &device->progress, &result)) {
            tendon_device_acted(device, result);
        }
    } else if (event->kind == TENDON_OBVIOUS_EVENT_DONE) {
        ended(device, event, now);
    }
}

static bool read_identity(tendon_device *device, uint64_t now) {
    if (device->asked == NOTHING_ASKED && device->config.settings->has_product) {
        device->asked = INFO_ASKED;
        tendon_status status =
            tendon_obvious_manager_start(&device->of.obvious.manager, TENDON_OBVIOUS_GET_INFO, NULL, 0, now);
        if (status < 0) {
            tendon_device_fail(device, status);
        }
        return false;
    }
    return device->asked != INFO_ASKED;
}

static void go_on(tendon_device *device, uint64_t now) {
    const tendon_device_settings *settings = device->config.settings;
    if (device->asked >= STATES_ASKED || settings->feature_count == 0) {
        device->asked = device->asked == STATES_ASKED ? STATES_ASKED : STATES_READ;
        return;
    }
    for (size_t i = 0; i < settings->feature_count; i++) {
        device->of.obvious.features[i] = (tendon_obvious_feature){.id = settings->features[i]};
    }
    device->asked = STATES_ASKED;
    tendon_status status = tendon_obvious_manager_start(&device->of.obvious.manager, TENDON_OBVIOUS_CHECK_STATUS,
                                                        device->of.obvious.features, settings->feature_count, now);
    if (status < 0) {
        device->asked = STATES_READ;
        tendon_device_emit_kind(device, TENDON_DEVICE_EVENT_CONFIGURATION_FAILED, status, now);
    }
}

/* ---- the family ---- */

static void *session_of(tendon_device *device) {
    return &device->of.obvious.manager;
}

static tendon_status init(tendon_device *device) {
    enum { WINDOW = 8, CHUNK_MAX = 512, MIN_BATTERY = 20 };
    tendon_obvious_session_config config = {.link = tendon_device_link(device),
                                            .memory = device->of.obvious.memory,
                                            .frame_max = TENDON_DEVICE_FRAME_MAX,
                                            .window = WINDOW,
                                            .context = device,
                                            .on_event = on_session_event};
    for (size_t i = 0; i < sizeof config.nonce; i++) {
        config.nonce[i] = device->config.nonce[i];
    }
    tendon_status status = tendon_obvious_session_init(&device->of.obvious.session, &config);
    return status < 0 ? status
                      : tendon_obvious_manager_init(
                            &device->of.obvious.manager,
                            &(tendon_obvious_manager_config){.session = &device->of.obvious.session,
                                                             .ring = &no_keys,
                                                             .product = device->config.settings->product,
                                                             .chunk_max = CHUNK_MAX,
                                                             .min_battery = MIN_BATTERY,
                                                             .context = device,
                                                             .on_event = on_event});
}

static tendon_status open_session(tendon_device *device, uint64_t now) {
    return tendon_obvious_session_connect(&device->of.obvious.session, now);
}

static void close_session(tendon_device *device, uint64_t now) {
    tendon_obvious_manager_cancel(&device->of.obvious.manager, now);
    tendon_obvious_session_disconnect(&device->of.obvious.session, now);
}

static tendon_status act(tendon_device *device, tendon_act *one, uint64_t now) {
    if (one->kind == TENDON_ACT_OBVIOUS_FIRMWARE) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    return tendon_obvious_act(&device->of.obvious.manager, one, &device->progress, now);
}

static bool is_busy(const tendon_device *device) {
    return device->asked == STATES_ASKED;
}

/** What another attempt would not change. */
static bool may_retry(tendon_status status) {
    return status != TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE && status != TENDON_OBVIOUS_ERROR_WRONG_PRODUCT;
}

static tendon_status line_of(const tendon_device *device, const tendon_device_event *event, size_t index,
                             tendon_line *line, const tendon_line_device *label, uint64_t wall_us) {
    (void)device;
    return tendon_obvious_line(line, label, wall_us, event->of.obvious, index);
}

static void identity(const tendon_device *device, tendon_line *line) {
    if (device->config.settings->has_product) {
        tendon_obvious_identity(line, &device->of.obvious.manager);
    } else {
        tendon_line_null(line, "product"); /* nothing was read */
    }
}

const device_family tendon_device_obvious = {
    .inputs = &tendon_obvious_manager_inputs,
    .session = session_of,
    .init = init,
    .open = open_session,
    .close = close_session,
    .read = read_identity,
    .go_on = go_on,
    .act = act,
    .is_busy = is_busy,
    .may_retry = may_retry,
    .line = line_of,
    .identity = identity,
};
