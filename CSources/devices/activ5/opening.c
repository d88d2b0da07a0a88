/* SPDX-License-Identifier: MIT */
/* From the discovery until the device is ready: its first message, or a silence in which it waits for the handshake. */
#include "device_parts.h"

static bool waits(const tendon_activ5_device *device) {
    return device->opening || device->starts_force;
}

static bool was_greeted(const tendon_activ5_device *device) {
    return device->discovered &&
           (device->version.known || !tendon_activ5_device_has(device, TENDON_ACTIV5_TEXT_COMMAND));
}

bool tendon_activ5_device_is_ready(const tendon_activ5_device *device) {
    return device->initialized && was_greeted(device);
}

/* A device without any of these is not a trainer, whatever it advertises. */
static bool is_activ5(const tendon_activ5_device *device) {
    return tendon_activ5_device_has(device, TENDON_ACTIV5_TEXT_OUTPUT) ||
           tendon_activ5_device_has(device, TENDON_ACTIV5_TEXT_COMMAND) ||
           tendon_activ5_device_has(device, TENDON_ACTIV5_FORCE) || tendon_activ5_device_has(device, TENDON_ACTIV5_IMU);
}

static void start_force(tendon_activ5_device *device) {
    device->starts_force = false;
    tendon_status status = tendon_activ5_device_start_isometric(device, device->now);
    if (status < 0) {
        tendon_activ5_device_reject(device, TENDON_ACTIV5_FORCE, status);
    }
}

static void ready(tendon_activ5_device *device) {
    if (device->opening) {
        device->opening = false;
        tendon_status status = is_activ5(device) ? TENDON_OK : TENDON_ACTIV5_ERROR_UNSUPPORTED;
        (void)tendon_activ5_device_report(device, TENDON_ACTIV5_EVENT_READY, NULL, status);
    }
    if (device->starts_force && device->link == TENDON_ACTIV5_LINK_UP) {
        start_force(device);
    }
}

void tendon_activ5_device_opening_heard(tendon_activ5_device *device) {
    device->silence_deadline = activ5_after(device->now, TENDON_ACTIV5_SILENCE_MS);
}

void tendon_activ5_device_opening_check(tendon_activ5_device *device) {
    if (device->link != TENDON_ACTIV5_LINK_UP || !waits(device)) {
        return;
    }
    if (tendon_activ5_device_is_ready(device)) {
        ready(device);
    } else if (device->starts_force && was_greeted(device)) {
        start_force(device);
    }
}

uint64_t tendon_activ5_device_opening_deadline(const tendon_activ5_device *device) {
    if (!waits(device) || !device->discovered) {
        return UINT64_MAX;
    }
    return device->silence_deadline < device->greeting_deadline ? device->silence_deadline : device->greeting_deadline;
}

/* A device may answer the handshake with its first message: it is not repeated, or both would never end. */
bool tendon_activ5_device_offer(tendon_activ5_device *device) {
    if (!device->offered && device->options->auto_handshake) {
        device->offered = tendon_activ5_device_handshake(device) == TENDON_OK;
    }
    return device->offered;
}

void tendon_activ5_device_opening_tick(tendon_activ5_device *device, uint64_t due) {
    if (tendon_activ5_device_opening_deadline(device) > due) {
        return;
    }
    bool may_offer = !device->offered && due < device->greeting_deadline && !was_greeted(device);
    if (may_offer && tendon_activ5_device_offer(device)) {
        tendon_activ5_device_opening_heard(device);
        return; /* until its response, or another period of silence */
    }
    ready(device);
}

tendon_status tendon_activ5_device_open(tendon_activ5_device *device, uint64_t now) {
    device->now = now;
    tendon_status status = TENDON_OK;
    bool connecting = device->link == TENDON_ACTIV5_LINK_CONNECTING && device->state == TENDON_ACTIV5_STATE_CONNECTING;
    if (device->link != TENDON_ACTIV5_LINK_UP) {
        status = connecting ? TENDON_OK : tendon_activ5_device_connect(device, now);
    } else if (tendon_activ5_device_is_ready(device)) {
        device->silence_deadline = device->greeting_deadline = now; /* no event comes from within this call */
    } else if (device->discovered && !waits(device)) {
        tendon_activ5_device_opening_heard(device);
        device->greeting_deadline = activ5_after(now, TENDON_ACTIV5_GREETING_MS);
    }
    device->opening = device->opening || status == TENDON_OK;
    return status;
}

tendon_status tendon_activ5_device_start_isometric_when_ready(tendon_activ5_device *device, uint64_t now) {
    device->now = now;
    if (device->link == TENDON_ACTIV5_LINK_UP && !was_greeted(device)) {
        if (device->discovered && !waits(device)) {
            tendon_activ5_device_opening_heard(device);
            device->greeting_deadline = activ5_after(now, TENDON_ACTIV5_GREETING_MS);
        }
        device->starts_force = true;
        return TENDON_OK;
    }
    return tendon_activ5_device_start_isometric(device, now);
}
