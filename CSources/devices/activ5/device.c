/* SPDX-License-Identifier: MIT */
/* One device: connection, values, timers. The calls of the application are in device_calls.c. */
#include "device_parts.h"
#include "tendon/base/packed.h"

#include <stddef.h>

const char *tendon_activ5_data_state_name(tendon_activ5_data_state state) {
    unsigned number = (unsigned)state < TENDON_ACTIV5_STATE_COUNT ? state : 0;
    return tendon_packed_string("disconnected\0connecting\0connected\0isometric\0stop", NULL, TENDON_ACTIV5_STATE_COUNT,
                                number);
}

tendon_activ5_options tendon_activ5_options_defaults(void) {
    tendon_activ5_options options = {
        .service_count = 1,
        .auto_handshake = true,
        .terminator = TENDON_ACTIV5_TERMINATOR,
        .search_timeout_ms = TENDON_ACTIV5_SEARCH_TIMEOUT_MS,
        .squeeze = tendon_activ5_squeeze_defaults(),
    };
    options.services[0] = tendon_uuid_from_u16(TENDON_ACTIV5_SERVICE);
    return options;
}

void tendon_activ5_device_init(tendon_activ5_device *device, const tendon_activ5_options *options,
                               tendon_activ5_on_event on_event, void *event_context,
                               tendon_activ5_on_request on_request, void *request_context) {
    memset(device, 0, sizeof *device);
    device->options = options;
    device->on_event = on_event;
    device->event_context = event_context;
    device->on_request = on_request;
    device->request_context = request_context;
    device->should_reconnect = true;
}

/* ---- link ---- */

void tendon_activ5_device_link_up(tendon_activ5_device *device, uint64_t now) {
    device->now = now;
    if (device->link != TENDON_ACTIV5_LINK_CONNECTING) {
        device->counters.ignored++;
        return;
    }
    device->link = TENDON_ACTIV5_LINK_UP; /* the end of the connection before has cleared what was of it */
    device->state = TENDON_ACTIV5_STATE_CONNECTED;
    device->evergreen_deadline = activ5_after(now, TENDON_ACTIV5_EVERGREEN_MS);
    tendon_clock_reconnected(&device->model);
    device->uses_new_protocol = false;
    device->version.known = device->serial_number.known = device->sn1.known = device->sn2.known = false;
    device->uuid1.known = device->uuid2.known = device->has_battery = false;
    if (tendon_activ5_device_report(device, TENDON_ACTIV5_EVENT_CONNECTED, NULL, 0)) {
        (void)tendon_activ5_device_request(device, TENDON_ACTIV5_REQUEST_DISCOVER,
                                           TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN);
    }
}

void tendon_activ5_device_link_failed(tendon_activ5_device *device, tendon_status reason, uint64_t now) {
    tendon_activ5_device_link_down(device, reason, now);
}

void tendon_activ5_device_link_down(tendon_activ5_device *device, tendon_status reason, uint64_t now) {
    device->now = now;
    if (device->link == TENDON_ACTIV5_LINK_NONE) {
        device->counters.ignored++;
        return;
    }
    bool attempt = device->link == TENDON_ACTIV5_LINK_CONNECTING;
    tendon_activ5_device_drop_connection(device);
    device->opening = false;
    device->link = TENDON_ACTIV5_LINK_NONE;
    device->rssi = 0;
    (void)tendon_activ5_device_report(
        device, attempt ? TENDON_ACTIV5_EVENT_CONNECT_FAILED : TENDON_ACTIV5_EVENT_DISCONNECTED, NULL, reason);
}

void tendon_activ5_device_discovered(tendon_activ5_device *device, bool is_new,
                                     const tendon_activ5_characteristic *found, size_t count, uint64_t now) {
    device->now = now;
    if (device->link != TENDON_ACTIV5_LINK_UP) {
        device->counters.ignored++;
        return;
    }
    device->uses_new_protocol = is_new;
    device->discovered = true;
    device->greeting_deadline = activ5_after(now, TENDON_ACTIV5_GREETING_MS);
    for (size_t i = 0; i < count; i++) {
        tendon_activ5_characteristic which = found[i];
        unsigned bit = (unsigned)which < TENDON_ACTIV5_CHARACTERISTIC_COUNT ? 1u << which : 0;
        bool again = (device->characteristics & bit) != 0;
        device->characteristics |= (uint16_t)(bit & ~1u);
        if (again) {
            continue;
        }
        if (which == TENDON_ACTIV5_TEXT_OUTPUT) {
            (void)tendon_activ5_device_request(device, TENDON_ACTIV5_REQUEST_SUBSCRIBE, which);
        } else if (which == TENDON_ACTIV5_SERIAL_NUMBER || which == TENDON_ACTIV5_UUID1 ||
                   which == TENDON_ACTIV5_UUID2) {
            (void)tendon_activ5_device_request(device, TENDON_ACTIV5_REQUEST_READ, which);
        }
    }
    tendon_activ5_device_opening_heard(device);
}

void tendon_activ5_device_done(tendon_activ5_device *device, const tendon_activ5_request *request, tendon_status status,
                               uint64_t now) {
    const tendon_activ5_event event = {.kind = TENDON_ACTIV5_EVENT_DONE,
                                       .device = device,
                                       .status = status,
                                       .characteristic = request->characteristic,
                                       .request = request};
    device->now = now;
    if (device->link >= TENDON_ACTIV5_LINK_UP) {
        tendon_activ5_device_opening_heard(device);
        device->on_event(device->event_context, &event, device->now);
        tendon_activ5_device_opening_check(device);
    }
}

/* ---- values ---- */

/* A text that is too long is truncated between characters. */
static void keep(tendon_activ5_text *out, const uint8_t *text, size_t length) {
    size_t count = length;
    if (count > TENDON_ACTIV5_KEPT_SIZE) {
        count = TENDON_ACTIV5_KEPT_SIZE;
        while (count > 0 && (text[count] & 0xC0) == 0x80) {
            count--;
        }
    }
    memcpy(out->bytes, text, count);
    out->length = (uint8_t)count;
    out->known = true;
}

static void initial_message(tendon_activ5_device *device, const tendon_activ5_message *message) {
    bool again = device->version.known && device->offered;
    keep(&device->version, message->text + message->version.offset, message->version.length);
    if (!again) {
        device->state = tendon_activ5_device_offer(device) ? TENDON_ACTIV5_STATE_STOP : TENDON_ACTIV5_STATE_CONNECTED;
    }
}

_Static_assert(sizeof(tendon_activ5_device) <= UINT16_MAX, "places holds offsets of two bytes");

/* Where a type's text is kept; 0: it has none. */
static const uint16_t places[TENDON_ACTIV5_MESSAGE_TYPE_COUNT] = {
    [TENDON_ACTIV5_MESSAGE_SN1] = offsetof(tendon_activ5_device, sn1),
    [TENDON_ACTIV5_MESSAGE_SN2] = offsetof(tendon_activ5_device, sn2),
    [TENDON_ACTIV5_MESSAGE_UUID1] = offsetof(tendon_activ5_device, uuid1),
    [TENDON_ACTIV5_MESSAGE_UUID2] = offsetof(tendon_activ5_device, uuid2),
    [TENDON_ACTIV5_MESSAGE_SERIAL_NUMBER] = offsetof(tendon_activ5_device, serial_number),
};

static void update(tendon_activ5_device *device, const tendon_activ5_message *message) {
    uint16_t place = places[message->type];
    if (place != 0) {
        keep((tendon_activ5_text *)(void *)((char *)device + place), message->text, message->text_length);
    } else if (message->type == TENDON_ACTIV5_MESSAGE_INITIAL) {
        initial_message(device, message);
    } else if (message->type == TENDON_ACTIV5_MESSAGE_ISOMETRIC) {
        device->state = TENDON_ACTIV5_STATE_ISOMETRIC;
    } else if (message->type == TENDON_ACTIV5_MESSAGE_UNKNOWN) {
        device->state = TENDON_ACTIV5_STATE_STOP; /* the vendor's library does so */
    } else if (message->type == TENDON_ACTIV5_MESSAGE_BATTERY) {
        device->battery = message->percent;
        device->has_battery = true;
    }
}

/* A legacy device is initialized with its first value; a new device when serial number and ids are known. */
static bool becomes_initialized(tendon_activ5_device *device) {
    bool serial = device->serial_number.known || device->sn1.known || device->sn2.known;
    if (device->initialized || (device->uses_new_protocol && !(serial && device->uuid1.known && device->uuid2.known))) {
        return false;
    }
    device->initialized = true;
    return true;
}

static void tell_squeezes(tendon_activ5_device *device, unsigned what) {
    /* In the order in which they happened: that of the bits. */
    for (unsigned bit = TENDON_ACTIV5_SQUEEZE_RELEASED; bit <= TENDON_ACTIV5_SQUEEZE_DOUBLE; bit <<= 1) {
        if ((what & bit) == 0) {
            continue;
        }
        bool squeezed = bit == TENDON_ACTIV5_SQUEEZE_SQUEEZED, twice = bit == TENDON_ACTIV5_SQUEEZE_DOUBLE;
        device->counters.squeezes += squeezed;
        device->counters.double_squeezes += twice;
        if (!tendon_activ5_device_report(
                device, twice ? TENDON_ACTIV5_EVENT_DOUBLE_SQUEEZE : TENDON_ACTIV5_EVENT_SQUEEZE, NULL, squeezed)) {
            return;
        }
    }
}

/* The type's own callback, if it has one. */
static bool tell_value(tendon_activ5_device *device, const tendon_activ5_message *message) {
    static const uint8_t kinds[TENDON_ACTIV5_MESSAGE_TYPE_COUNT] = {
        [TENDON_ACTIV5_MESSAGE_ISOMETRIC] = TENDON_ACTIV5_EVENT_ISOMETRIC,
        [TENDON_ACTIV5_MESSAGE_IMU] = TENDON_ACTIV5_EVENT_IMU,
        [TENDON_ACTIV5_MESSAGE_SN1] = TENDON_ACTIV5_EVENT_SERIAL_NUMBER,
        [TENDON_ACTIV5_MESSAGE_SN2] = TENDON_ACTIV5_EVENT_SERIAL_NUMBER,
        [TENDON_ACTIV5_MESSAGE_SERIAL_NUMBER] = TENDON_ACTIV5_EVENT_SERIAL_NUMBER,
        [TENDON_ACTIV5_MESSAGE_BATTERY] = TENDON_ACTIV5_EVENT_BATTERY,
    };
    uint8_t kind = kinds[message->type];
    return kind == 0 || tendon_activ5_device_report(device, kind, message, 0);
}

/* A device that was restarted counts from 0, which looks like a wrap: the model notices, as it is 18 hours later. */
static void take_time(tendon_activ5_device *device, uint32_t ticks) {
    device->ticks += ticks - (uint32_t)device->ticks;
    tendon_clock_take(&device->model, device->ticks * ACTIV5_TICK_NS, device->received_at, device->interval_us);
}

static void took(tendon_activ5_device *device, tendon_activ5_characteristic which, tendon_status status,
                 const tendon_activ5_message *message) {
    if (device->link != TENDON_ACTIV5_LINK_UP) {
        return; /* ended by the program in a callback before */
    }
    if (status < 0) {
        device->counters.errors++;
        tendon_activ5_device_reject(device, which, status);
        return;
    }
    device->counters.messages++;
    if (message->type == TENDON_ACTIV5_MESSAGE_IMU && device->received_at != 0) {
        take_time(device, (uint32_t)message->imu.ticks);
    }
    update(device, message);
    if (message->type != TENDON_ACTIV5_MESSAGE_ISOMETRIC && message->type != TENDON_ACTIV5_MESSAGE_IMU) {
        tendon_activ5_device_opening_heard(device);
    }
    if (becomes_initialized(device) && !tendon_activ5_device_report(device, TENDON_ACTIV5_EVENT_INITIALIZED, NULL, 0)) {
        return;
    }
    if (tendon_activ5_device_report(device, TENDON_ACTIV5_EVENT_MESSAGE, message, 0) && tell_value(device, message) &&
        message->type == TENDON_ACTIV5_MESSAGE_ISOMETRIC) {
        tell_squeezes(device, tendon_activ5_squeeze_sample(&device->squeeze, &device->options->squeeze,
                                                           message->newtons, device->now));
    }
    tendon_activ5_device_opening_check(device);
}

static void on_text(void *context, tendon_status status, const tendon_activ5_message *message, uint64_t now) {
    tendon_activ5_device *device = context;
    device->now = now;
    took(device, TENDON_ACTIV5_TEXT_OUTPUT, status, message);
}

void tendon_activ5_device_value(tendon_activ5_device *device, tendon_activ5_characteristic which, const uint8_t *data,
                                size_t length, uint64_t now) {
    tendon_activ5_device_tick(device, now);
    if (device->link != TENDON_ACTIV5_LINK_UP) {
        device->counters.ignored++;
        return;
    }
    device->counters.values++;
    if (which == TENDON_ACTIV5_TEXT_OUTPUT) {
        tendon_activ5_deframer_feed(&device->deframer, data, length, now, on_text, device);
        return;
    }
    if (which == TENDON_ACTIV5_OLD_FORCE && device->options->accept_f0f1 &&
        (device->characteristics >> TENDON_ACTIV5_FORCE & 1u) == 0) {
        which = TENDON_ACTIV5_FORCE;
    }
    tendon_activ5_message message;
    tendon_status status = tendon_activ5_parse_value(which, data, length, &message);
    took(device, which, status, &message);
}

/* ---- timers ---- */

static uint64_t evergreen_deadline(const tendon_activ5_device *device) {
    return device->evergreen && device->link == TENDON_ACTIV5_LINK_UP ? device->evergreen_deadline : UINT64_MAX;
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t tendon_activ5_device_deadline(const tendon_activ5_device *device) {
    uint64_t values =
        earlier(tendon_activ5_deframer_deadline(&device->deframer), tendon_activ5_squeeze_deadline(&device->squeeze));
    return earlier(values, earlier(evergreen_deadline(device), tendon_activ5_device_opening_deadline(device)));
}

/* Stop, again: it restarts the device's 7 minutes. A period with another activity is skipped, and so are those that a
 * late tick has missed. */
static void evergreen(tendon_activ5_device *device, uint64_t due) {
    uint64_t missed = (device->clock - due) / TENDON_ACTIV5_EVERGREEN_MS;
    device->evergreen_deadline = activ5_after(due + missed * TENDON_ACTIV5_EVERGREEN_MS, TENDON_ACTIV5_EVERGREEN_MS);
    if (device->state == TENDON_ACTIV5_STATE_STOP || device->state == TENDON_ACTIV5_STATE_CONNECTED) {
        (void)tendon_activ5_device_send(device, TENDON_ACTIV5_STOP, due);
    }
}

void tendon_activ5_device_tick(tendon_activ5_device *device, uint64_t now) {
    uint64_t due;
    device->clock = now > device->clock ? now : device->clock;
    while ((due = tendon_activ5_device_deadline(device)) <= now && due != UINT64_MAX) {
        device->now = due;
        /* Each of them does nothing before its time. */
        tendon_activ5_deframer_tick(&device->deframer, due, on_text, device);
        tell_squeezes(device, tendon_activ5_squeeze_tick(&device->squeeze, &device->options->squeeze, due));
        tendon_activ5_device_opening_tick(device, due);
        if (evergreen_deadline(device) <= due) {
            evergreen(device, due);
        }
    }
    device->now = now;
}
