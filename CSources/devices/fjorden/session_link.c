/* SPDX-License-Identifier: MIT */
#include "../rows.h"
#include "session.h"

/* The standard ones, from TENDON_FJORDEN_CHARACTERISTIC_STRING on. */
static const uint16_t standard[] = {0x2A29, 0x2A24, 0x2A26, 0x2A27, 0x2A25, 0x2A19};
enum { DEVICE_SERVICE = 0x180A, BATTERY_SERVICE = 0x180F, ACCESS_SERVICE = 0x1800, DEVICE_NAME = 0x2A00 };

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

static void discovered(void *context, tendon_status status, size_t row, uint64_t now);

void tendon_grip_want(tendon_fjorden_session *s, unsigned operation) {
    s->work.wanted = (uint16_t)(s->work.wanted | 1u << operation);
}

static void settled(tendon_fjorden_session *s, unsigned operation) {
    s->work.wanted = (uint16_t)(s->work.wanted & ~(1u << operation));
}

static uint16_t handle_of_text(const tendon_fjorden_session *s, unsigned text) {
    return s->kept.found[(unsigned)TENDON_FJORDEN_CHARACTERISTIC_STRING + text].value;
}

/* ---- starting ---- */

uint8_t tendon_fjorden_row(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
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
    if (row == TENDON_FJORDEN_CHARACTERISTIC_NAME) {
        *service = tendon_uuid_from_u16(ACCESS_SERVICE);
        *characteristic = tendon_uuid_from_u16(DEVICE_NAME);
        return 0;
    }
    bool battery = row == TENDON_FJORDEN_CHARACTERISTIC_BATTERY;
    *service = tendon_uuid_from_u16(battery ? BATTERY_SERVICE : DEVICE_SERVICE);
    *characteristic = tendon_uuid_from_u16(standard[row - TENDON_FJORDEN_CHARACTERISTIC_STRING]);
    return battery ? TENDON_PROFILE_CCCD : 0;
}

static void read_text(tendon_fjorden_session *s, uint8_t kind, unsigned text) {
    tendon_operation_start(&s->op, kind, TENDON_OPERATION_READ_LONG, handle_of_text(s, text), NULL, 0);
}

static void begin(tendon_fjorden_session *s, unsigned operation) {
    /* While it connects, the timeout of the manager is the only one; it is paused for the pairing. */
    bool opens = operation <= FJORDEN_DO_SUBSCRIBE_EVENT && !s->work.checking;
    uint8_t kind = (uint8_t)((operation + 1) | (opens ? TENDON_OPERATION_UNLIMITED : 0));
    const tendon_profile_found *found = s->kept.found;
    switch (operation) {
    case FJORDEN_DO_MTU:
        tendon_operation_start(&s->op, kind, TENDON_OPERATION_MTU, 0, NULL, 0);
        break;
    case FJORDEN_DO_DISCOVER:
        tendon_operation_discover(&s->op, kind, &s->kept.scratch.discovery, tendon_fjorden_row, s->kept.found,
                                  TENDON_FJORDEN_CHARACTERISTIC_COUNT, discovered);
        break;
    case FJORDEN_DO_NAME:
        tendon_operation_start(&s->op, kind, TENDON_OPERATION_READ_LONG,
                               found[TENDON_FJORDEN_CHARACTERISTIC_NAME].value, NULL, 0);
        break;
    case FJORDEN_DO_FIRMWARE:
        read_text(s, kind, TENDON_FJORDEN_STRING_FIRMWARE);
        break;
    case FJORDEN_DO_SUBSCRIBE_EVENT:
    case FJORDEN_DO_SUBSCRIBE_CONTROL:
    case FJORDEN_DO_SUBSCRIBE_BATTERY:
        operation -= FJORDEN_DO_SUBSCRIBE_EVENT;
        tendon_operation_subscribe(&s->op, kind, &found[notifying[operation].characteristic],
                                   notifying[operation].indicate, notifying[operation].on_value);
        break;
    case FJORDEN_DO_COMMAND:
        tendon_operation_start(&s->op, kind, TENDON_OPERATION_WRITE, found[TENDON_FJORDEN_CHARACTERISTIC_CONTROL].value,
                               s->kept.command, s->work.command_length);
        break;
    case FJORDEN_DO_STATE:
    case FJORDEN_DO_BATTERY: {
        bool state = operation == FJORDEN_DO_STATE;
        unsigned which = state ? TENDON_FJORDEN_CHARACTERISTIC_STATE : TENDON_FJORDEN_CHARACTERISTIC_BATTERY;
        tendon_operation_start(&s->op, kind, TENDON_OPERATION_READ, found[which].value, NULL, 0);
        break;
    }
    default: /* a missing string fails like a string that cannot be read */
        read_text(s, kind, s->work.index);
        break;
    }
}

void tendon_grip_pump(tendon_fjorden_session *s) {
    if (s->op.client == NULL || s->op.client->closed || s->work.closing || s->work.inside || s->op.kind != 0 ||
        s->work.wanted == 0) {
        return;
    }
    unsigned operation = 0;
    while (((unsigned)s->work.wanted >> operation & 1u) == 0) {
        operation++;
    }
    begin(s, operation);
}

/* ---- results ---- */

/* An operation completed. Returns false if the result is irrelevant, because the device is disconnecting;
 * disconnected() follows. */
static bool finished(tendon_fjorden_session *s, unsigned operation) {
    if (s->op.client == NULL || s->work.closing || s->op.client->closed) {
        return false;
    }
    settled(s, operation);
    return true;
}

static void discovered(void *context, tendon_status status, size_t row, uint64_t now) {
    tendon_fjorden_session *s = context;
    (void)row;
    s->op.now = now;
    tendon_operation_reset(&s->op);
    if (!finished(s, FJORDEN_DO_DISCOVER)) {
        return;
    }
    bool service = s->kept.found[TENDON_FJORDEN_CHARACTERISTIC_EVENT].service != 0;
    tendon_grip_answer(s, TENDON_FJORDEN_ON_SERVICES, service);
    tendon_grip_flush(s);
    if (service) {
        tendon_grip_answer(s, TENDON_FJORDEN_ON_CHARACTERISTICS, status >= 0);
        tendon_grip_flush(s);
    }
}

static void name_read(tendon_fjorden_session *s, const tendon_gatt_result *result) {
    if (result->status == TENDON_OK) {
        (void)tendon_ad_text(result->value, result->length, s->manager.grip.name, sizeof s->manager.grip.name);
    }
}

static void firmware_read(tendon_fjorden_session *s, const tendon_gatt_result *result) {
    s->work.text_length = (uint8_t)result->length;
    if (result->status == TENDON_OK) {
        tendon_grip_take_text(s, TENDON_FJORDEN_STRING_FIRMWARE, result->value, result->length);
    }
    bool before_pairing = s->work.checking && s->manager.step == TENDON_FJORDEN_STEP_PAIRING;
    s->work.checking = false;
    tendon_grip_answer(s, TENDON_FJORDEN_ON_FIRMWARE, result->status == TENDON_OK);
    if (before_pairing) {
        tendon_grip_flush(s);
        if (s->manager.step == TENDON_FJORDEN_STEP_PAIRING && !s->work.closing) {
            tendon_grip_pair(s);
        }
    }
}

/* A stored bond does not mean that this connection is encrypted with its key: then pairing is requested, once. */
static void event_subscribed(tendon_fjorden_session *s, tendon_status status) {
    bool insecure = status == TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_AUTHENTICATION) ||
                    status == TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_ENCRYPTION);
    if (insecure && !s->work.retried) {
        s->work.retried = true;
        tendon_grip_pause_deadline(&s->manager, s->op.now);
        tendon_grip_pair(s);
    } else {
        tendon_grip_answer(s, TENDON_FJORDEN_ON_NOTIFY, status >= 0);
    }
}

/* One text of several: what cannot be read is missing. */
static void text_read(tendon_fjorden_session *s, const tendon_gatt_result *result) {
    unsigned text = s->work.index++;
    bool cut = result->status == TENDON_ERROR_BUFFER_TOO_SMALL;
    if (result->status == TENDON_OK || cut) {
        s->work.info_read = s->work.info_read || text != TENDON_FJORDEN_STRING_SERIAL;
        tendon_grip_take_text(s, text, result->value, cut ? 0 : result->length);
        s->info.present[text] = s->info.present[text] && !cut;
    }
    if (s->work.index < TENDON_FJORDEN_STRING_COUNT) {
        tendon_grip_want(s, FJORDEN_DO_INFO);
    } else {
        tendon_grip_info_read(s);
    }
}

static void done(void *context, const tendon_gatt_result *result) {
    tendon_fjorden_session *s = context;
    unsigned kind = s->op.client != NULL ? tendon_operation_ended(&s->op, result) : 0;
    if (kind == 0) {
        s->counters.illegal_inputs += !s->op.call.repeated;
        return;
    }
    unsigned operation = (kind & ~(unsigned)TENDON_OPERATION_UNLIMITED) - 1;
    if (!finished(s, operation)) {
        return;
    }
    switch (operation) {
    case FJORDEN_DO_NAME:
        name_read(s, result);
        break;
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

const tendon_operation_rules tendon_grip_rules = {
    .done = done, .limit = TENDON_FJORDEN_OPERATION_TIMEOUT_MS, .capacity = TENDON_FJORDEN_STRING_SIZE};
