/* SPDX-License-Identifier: MIT */
#include "session.h"

/* The standard ones, from TENDON_FJORDEN_CHARACTERISTIC_TEXT on. */
static const uint16_t standard[] = {0x2A29, 0x2A24, 0x2A26, 0x2A27, 0x2A25, 0x2A19};
enum { DEVICE_SERVICE = 0x180A, BATTERY_SERVICE = 0x180F };

/* From FJORDEN_DO_SUBSCRIBE_EVENT on. */
static const struct {
    uint8_t characteristic;
    bool indicate;
    tendon_gatt_on_value on_value;
} notifying[] = {
    {TENDON_FJORDEN_CHARACTERISTIC_EVENT, false, tendon_grip_on_event},
    {TENDON_FJORDEN_CHARACTERISTIC_CONTROL, true, tendon_grip_on_response},
    {TENDON_FJORDEN_CHARACTERISTIC_BATTERY, false, tendon_grip_on_battery},
};

static void done(void *context, const tendon_gatt_result *result);
static void discovered(void *context, tendon_status status, size_t row, uint64_t now);

void tendon_grip_want(tendon_fjorden_session *s, unsigned operation) {
    s->work.wanted = (uint16_t)(s->work.wanted | 1u << operation);
}

static void settled(tendon_fjorden_session *s, unsigned operation) {
    s->work.wanted = (uint16_t)(s->work.wanted & ~(1u << operation));
}

static uint16_t handle_of_text(const tendon_fjorden_session *s, unsigned text) {
    return s->work.found[(unsigned)TENDON_FJORDEN_CHARACTERISTIC_TEXT + text].value;
}

/* ---- starting ---- */

static uint8_t row_of(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    const tendon_fjorden_session *s = context;
    const tendon_fjorden_profile *profile = s->config.profile;
    *service = profile->service;
    switch (row) {
    case TENDON_FJORDEN_CHARACTERISTIC_EVENT:
        *characteristic = profile->event;
        return TENDON_PROFILE_REQUIRED | TENDON_PROFILE_CCCD;
    case TENDON_FJORDEN_CHARACTERISTIC_STATE:
        if (!profile->has_state) {
            return 0;
        }
        *characteristic = profile->state;
        return TENDON_PROFILE_REQUIRED;
    case TENDON_FJORDEN_CHARACTERISTIC_CONTROL:
        if (!profile->has_control) {
            return 0;
        }
        *characteristic = profile->control;
        return TENDON_PROFILE_REQUIRED | TENDON_PROFILE_CCCD;
    default:
        break;
    }
    bool battery = row == TENDON_FJORDEN_CHARACTERISTIC_BATTERY;
    *service = tendon_uuid_from_u16(battery ? BATTERY_SERVICE : DEVICE_SERVICE);
    *characteristic = tendon_uuid_from_u16(standard[row - TENDON_FJORDEN_CHARACTERISTIC_TEXT]);
    return battery ? TENDON_PROFILE_CCCD : 0;
}

static tendon_status discover(tendon_fjorden_session *s) {
    return tendon_profile_start(&s->work.scratch.discovery, s->work.client, row_of, s->work.found,
                                TENDON_FJORDEN_CHARACTERISTIC_COUNT, discovered, s, s->work.now);
}

static tendon_status subscribe(tendon_fjorden_session *s, unsigned which) {
    const tendon_profile_found *found = &s->work.found[notifying[which].characteristic];
    return tendon_gatt_subscribe(s->work.client, found->value, found->cccd, notifying[which].indicate,
                                 notifying[which].on_value, s, done, s, s->work.now);
}

static tendon_status read_text(tendon_fjorden_session *s, unsigned text) {
    uint16_t handle = handle_of_text(s, text);
    return handle == 0 ? TENDON_ERROR_NOT_FOUND
                       : tendon_gatt_read_long(s->work.client, handle, 0, s->work.scratch.value,
                                               sizeof s->work.scratch.value, done, s, s->work.now);
}

static tendon_status begin(tendon_fjorden_session *s, unsigned operation) {
    tendon_gatt_client *client = s->work.client;
    uint64_t now = s->work.now;
    switch (operation) {
    case FJORDEN_DO_MTU:
        return tendon_gatt_exchange_mtu(client, done, s, now);
    case FJORDEN_DO_DISCOVER:
        return discover(s);
    case FJORDEN_DO_FIRMWARE:
        return read_text(s, TENDON_FJORDEN_TEXT_FIRMWARE);
    case FJORDEN_DO_SUBSCRIBE_EVENT:
    case FJORDEN_DO_SUBSCRIBE_CONTROL:
    case FJORDEN_DO_SUBSCRIBE_BATTERY:
        return subscribe(s, operation - FJORDEN_DO_SUBSCRIBE_EVENT);
    case FJORDEN_DO_COMMAND:
        return tendon_gatt_write(client, s->work.found[TENDON_FJORDEN_CHARACTERISTIC_CONTROL].value, s->work.command,
                                 s->work.command_length, done, s, now);
    case FJORDEN_DO_STATE:
        return tendon_gatt_read(client, s->work.found[TENDON_FJORDEN_CHARACTERISTIC_STATE].value, done, s, now);
    case FJORDEN_DO_BATTERY:
        return tendon_gatt_read(client, s->work.found[TENDON_FJORDEN_CHARACTERISTIC_BATTERY].value, done, s, now);
    default:
        return read_text(s, s->work.index);
    }
}

void tendon_grip_pump(tendon_fjorden_session *s) {
    if (s->work.client == NULL || s->work.closing || s->work.inside || s->work.operation != 0 || s->work.wanted == 0) {
        return;
    }
    unsigned operation = 0;
    while (((unsigned)s->work.wanted >> operation & 1u) == 0) {
        operation++;
    }
    s->work.operation = (uint8_t)(operation + 1);
    s->work.request = 0;
    s->work.starting = true;
    tendon_status request = begin(s, operation);
    if (!s->work.starting) {
        return; /* a link in memory answered before the call returned */
    }
    if (request >= 0) {
        s->work.starting = false;
        s->work.request = (uint32_t)request;
    } else if (operation == FJORDEN_DO_DISCOVER) {
        discovered(s, request, 0, s->work.now);
    } else {
        done(s, &(tendon_gatt_result){.status = request, .now = s->work.now});
    }
}

/* ---- what was answered ---- */

/* Ends the operation on the air. False: it tells nothing, for the link is going; disconnected() says the rest. */
static bool finished(tendon_fjorden_session *s, uint64_t now) {
    if (!tendon_grip_enter(s, now) || s->work.client->closed) {
        return false;
    }
    settled(s, s->work.operation - 1u);
    s->work.operation = 0;
    s->work.starting = false;
    return true;
}

static void discovered(void *context, tendon_status status, size_t row, uint64_t now) {
    tendon_fjorden_session *s = context;
    (void)row;
    if (!finished(s, now)) {
        return;
    }
    bool service = s->work.found[TENDON_FJORDEN_CHARACTERISTIC_EVENT].service != 0;
    tendon_grip_answer(s, TENDON_FJORDEN_ON_SERVICES, service);
    tendon_grip_flush(s);
    if (service) {
        tendon_grip_answer(s, TENDON_FJORDEN_ON_CHARACTERISTICS, status >= 0);
        tendon_grip_flush(s);
    }
}

static void firmware_read(tendon_fjorden_session *s, const tendon_gatt_result *result) {
    s->work.text_length = (uint8_t)result->length;
    if (result->status == TENDON_OK) {
        tendon_grip_take_text(s, TENDON_FJORDEN_TEXT_FIRMWARE, result->value, result->length);
    }
    tendon_grip_answer(s, TENDON_FJORDEN_ON_FIRMWARE, result->status == TENDON_OK);
}

/* A bond that our side knows of does not mean that this link is encrypted with its key: then the link is asked, once.
 */
static void event_subscribed(tendon_fjorden_session *s, tendon_status status) {
    bool insecure = status == TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_AUTHENTICATION) ||
                    status == TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_ENCRYPTION);
    if (insecure && !s->work.retried) {
        s->work.retried = true;
        tendon_grip_pair(s);
    } else {
        tendon_grip_answer(s, TENDON_FJORDEN_ON_NOTIFY, status >= 0);
    }
}

/* One text of several: what cannot be read is missing. */
static void text_read(tendon_fjorden_session *s, const tendon_gatt_result *result) {
    unsigned text = s->work.index++;
    bool cut = result->status == TENDON_ERROR_NO_ROOM;
    if (result->status == TENDON_OK || cut) {
        s->work.info_read = s->work.info_read || text != TENDON_FJORDEN_TEXT_SERIAL;
        tendon_grip_take_text(s, text, result->value, cut ? 0 : result->length);
        s->info.present[text] = s->info.present[text] && !cut;
    }
    if (s->work.index < TENDON_FJORDEN_TEXT_COUNT) {
        tendon_grip_want(s, FJORDEN_DO_INFO);
    } else {
        tendon_grip_info_read(s);
    }
}

static void done(void *context, const tendon_gatt_result *result) {
    tendon_fjorden_session *s = context;
    bool ours = s->work.starting || result->request == s->work.request;
    if (s->work.client == NULL || s->work.operation == 0 || !ours) {
        s->counters.illegal_inputs++;
        return;
    }
    unsigned operation = s->work.operation - 1u;
    if (!finished(s, result->now)) {
        return;
    }
    switch (operation) {
    case FJORDEN_DO_FIRMWARE:
        firmware_read(s, result);
        break;
    case FJORDEN_DO_SUBSCRIBE_EVENT:
        event_subscribed(s, result->status);
        break;
    case FJORDEN_DO_SUBSCRIBE_CONTROL:
    case FJORDEN_DO_COMMAND:
        if (result->status < 0) { /* no response could come */
            tendon_grip_end_request(s, result->status, NULL);
        }
        break;
    case FJORDEN_DO_STATE:
        tendon_grip_take_state(s, result);
        break;
    case FJORDEN_DO_BATTERY:
        tendon_grip_take_battery(s, result);
        break;
    case FJORDEN_DO_INFO:
        text_read(s, result);
        break;
    default: /* the MTU stays as it is; a battery that does not notify is read */
        break;
    }
    tendon_grip_flush(s);
}
