/* SPDX-License-Identifier: MIT */
#include "session_parts.h"

/* Steps of waiting for pairing mode. */
enum { WAIT_SUBSCRIBE, WAIT_READ, WAIT_LISTEN };

/*
 * Strictly serial, because a configuration requires its information. A value that can change is subscribed before it is
 * read, so no change is missed.
 */
static const struct {
    bool subscribe;
    uint8_t which;
} script[] = {
    {true, TENDON_BOSE_DEVICE_INFORMATION},    {false, TENDON_BOSE_DEVICE_INFORMATION},
    {false, TENDON_BOSE_SENSOR_INFORMATION},   {false, TENDON_BOSE_GESTURE_INFORMATION},
    {true, TENDON_BOSE_SENSOR_CONFIGURATION},  {false, TENDON_BOSE_SENSOR_CONFIGURATION},
    {true, TENDON_BOSE_GESTURE_CONFIGURATION}, {false, TENDON_BOSE_GESTURE_CONFIGURATION},
    {true, TENDON_BOSE_SENSOR_DATA},           {true, TENDON_BOSE_GESTURE_DATA},
};
enum { SCRIPT_COUNT = sizeof script / sizeof script[0] };

/* ---- starting one operation ---- */

static void subscribe(tendon_bose_session *session, uint8_t operation, tendon_bose_characteristic which) {
    tendon_operation_subscribe(&session->op, operation, &session->kept.found[which], false);
}

/* ---- steps ---- */

/* ---- reading ---- */

static void begin_starting(tendon_bose_session *session) {
    session->state = TENDON_BOSE_STARTING;
    memset(&session->strings, 0, sizeof session->strings);
    tendon_bose_go_to(session, BOSE_STEP_STRING);
}

/* The 30 s timeout of the opening is paused while the user puts the device into pairing mode; open_deadline holds the
 * remaining time. */
static void pause(tendon_bose_session *session) {
    session->open_deadline = session->open_deadline > session->op.now ? session->open_deadline - session->op.now : 0;
}

static void resume(tendon_bose_session *session) {
    session->open_deadline += session->op.now;
}

/* The adapter or the pairing service is occupied: a later attempt may succeed. */
static bool is_transient(tendon_status status) {
    return status == TENDON_ERROR_BUSY || status == TENDON_RADIO_ERROR_ADAPTER_BUSY;
}

static void begin_bonding(tendon_bose_session *session) {
    session->state = TENDON_BOSE_BONDING;
    session->work.retries = 0;
    session->work.deadline = UINT64_MAX;
    tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_PAIRING_STARTED, TENDON_OK);
    if (session->state == TENDON_BOSE_BONDING) {
        tendon_bose_opening_pair(session);
    }
}

void tendon_bose_opening_pair(tendon_bose_session *session) {
    session->work.deadline = UINT64_MAX;
    tendon_status status = session->config.link.pair != NULL ? session->config.link.pair(session->config.link.context)
                                                             : TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    if (status < 0) {
        tendon_bose_opening_paired(session, status);
    }
}

/* Device information was read or changed: pairing, waiting for it, or starting. */
static void judge(tendon_bose_session *session) {
    uint16_t status = session->device.status;
    const tendon_session_link *link = &session->config.link;
    bool waiting = session->state == TENDON_BOSE_WAITING_PAIRING_MODE;
    if ((status & TENDON_BOSE_STATUS_PAIRING_REQUIRED) == 0 || (link->bonded != NULL && link->bonded(link->context))) {
        if (waiting) {
            resume(session);
        }
        begin_starting(session);
        if (waiting) {
            tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_PAIRING_FINISHED, TENDON_OK);
        }
    } else if ((status & TENDON_BOSE_STATUS_PAIRING_ENABLED) != 0) {
        if (!waiting) {
            pause(session);
        }
        tendon_bose_go_to(session, BOSE_STEP_WAIT);
        begin_bonding(session);
    } else if (!session->config.pairing_delegate) {
        tendon_bose_fail_open(session, TENDON_BOSE_ERROR_PAIRING_DELEGATE_MISSING);
    } else if (!waiting) {
        pause(session);
        session->state = TENDON_BOSE_WAITING_PAIRING_MODE;
        tendon_bose_go_to(session, BOSE_STEP_WAIT);
        tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE, TENDON_OK);
    }
}

void tendon_bose_opening_paired(tendon_bose_session *session, tendon_status status) {
    if (is_transient(status) && session->work.retries < BOSE_PAIRING_RETRIES) {
        session->work.retries++;
        session->work.deadline = session->op.now + BOSE_PAIRING_RETRY_MS;
        return;
    }
    if (status < 0) {
        session->state = TENDON_BOSE_CLOSING; /* PAIRING_FINISHED is emitted here, with its own reason */
        session->work.opening = true;
        session->work.outcome = status == TENDON_ERROR_DISCONNECTED /* reported before the end of the link itself */
                                    ? TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE
                                    : TENDON_BOSE_ERROR_BONDING_FAILED;
        session->work.disconnecting = true;
        tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_PAIRING_FINISHED, status);
        tendon_bose_disconnect(session);
        return;
    }
    resume(session);
    begin_starting(session);
    tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_PAIRING_FINISHED, TENDON_OK);
}

void tendon_bose_waiting_take(tendon_bose_session *session, const uint8_t *data, size_t length) {
    if (tendon_bose_take_value(session, TENDON_BOSE_DEVICE_INFORMATION, data, length) >= 0 &&
        session->state == TENDON_BOSE_WAITING_PAIRING_MODE) {
        judge(session);
    }
}

/* The subscription of device information, then one reading: the mode may have changed before it. */
void tendon_bose_waiting_done(tendon_bose_session *session, const tendon_gatt_result *result) {
    uint8_t what = session->work.index;
    if (session->state == TENDON_BOSE_WAITING_PAIRING_MODE) {
        session->work.index++;
        if (result->status < 0) {
            tendon_bose_fail_operation(session, result->status);
            return;
        }
    }
    if (result->status < 0) {
        return;
    }
    if (what == WAIT_SUBSCRIBE) {
        session->work.subscribed |= 1u << TENDON_BOSE_DEVICE_INFORMATION;
    } else if (tendon_bose_is_opening(session)) {
        tendon_bose_waiting_take(session, result->value, result->length);
    }
}

static void waiting_pump(tendon_bose_session *session) {
    if (session->work.index == WAIT_SUBSCRIBE) {
        subscribe(session, BOSE_WAITING, TENDON_BOSE_DEVICE_INFORMATION);
    } else if (session->work.index == WAIT_READ) {
        tendon_bose_read(session, BOSE_WAITING, session->kept.found[TENDON_BOSE_DEVICE_INFORMATION].value);
    }
}

/* Each string is optional: if it cannot be read, it is absent. Only a device that does not respond ends the opening. */
static void string_read(tendon_bose_session *session, const tendon_gatt_result *result) {
    if (result->status == TENDON_OK) {
        tendon_bose_take_string(session, session->work.index, result->value, result->length);
    } else if (result->status == TENDON_ERROR_TIMEOUT) {
        tendon_bose_fail_operation(session, result->status);
        return;
    }
    session->work.index++;
}

static void serial_read(tendon_bose_session *session, const tendon_gatt_result *result) {
    if (result->status < 0) {
        tendon_bose_fail_operation(session, result->status);
        return;
    }
    tendon_bose_take_string(session, TENDON_BOSE_STRING_SERIAL, result->value, result->length);
    tendon_bose_fail_open(session, tendon_bose_status_of_serial((const char *)result->value, result->length));
}

static void status_read(tendon_bose_session *session, const tendon_gatt_result *result) {
    tendon_status status = result->status;
    if (status == TENDON_OK &&
        tendon_bose_take_value(session, TENDON_BOSE_DEVICE_INFORMATION, result->value, result->length) < 0) {
        status = TENDON_BOSE_ERROR_INVALID_RESPONSE;
    }
    if (session->state != TENDON_BOSE_READING_INFORMATION) {
        return; /* the callback closed the session */
    }
    if (status < 0) {
        tendon_bose_fail_operation(session, status);
    } else {
        judge(session);
    }
}

static void script_done(tendon_bose_session *session, const tendon_gatt_result *result) {
    unsigned which = script[session->work.index].which;
    tendon_status status = result->status;
    if (status >= 0 && script[session->work.index].subscribe) {
        session->work.subscribed |= (uint8_t)(1u << which);
    } else if (status >= 0 &&
               tendon_bose_take_value(session, (tendon_bose_characteristic)which, result->value, result->length) < 0) {
        status = TENDON_BOSE_ERROR_INVALID_RESPONSE;
    }
    if (session->state != TENDON_BOSE_STARTING) {
        return;
    }
    if (status < 0) {
        tendon_bose_fail_operation(session, status);
        return;
    }
    session->work.index++;
}

/* ---- the end ---- */

static void finish_opening(tendon_bose_session *session) {
    if (session->has_intent) {
        tendon_status status = tendon_bose_check_intent(&session->intent, &session->device, &session->sensors,
                                                        &session->gestures, &session->intents);
        if (status < 0) {
            tendon_bose_fail_open(session, status);
            return;
        }
    }
    const tendon_bose_firmware_checker *checker = &session->config.firmware;
    session->firmware = TENDON_BOSE_FIRMWARE_UNKNOWN;
    if (checker->check != NULL) {
        session->firmware = checker->check(checker->context, session->device.product_id,
                                           session->strings.strings[TENDON_BOSE_STRING_FIRMWARE].bytes,
                                           session->strings.strings[TENDON_BOSE_STRING_FIRMWARE].length);
    }
    if (session->firmware == TENDON_BOSE_FIRMWARE_UPDATE_REQUIRED) {
        tendon_bose_fail_open(session, TENDON_BOSE_ERROR_FIRMWARE_UPDATE_REQUIRED);
        return;
    }
    session->state = TENDON_BOSE_OPEN;
    tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_OPENED, TENDON_OK);
    if (session->state == TENDON_BOSE_OPEN && tendon_bose_suspended(session->device.status)) {
        tendon_bose_suspend(session);
    }
}

static void script_pump(tendon_bose_session *session) {
    while (session->work.index < SCRIPT_COUNT && script[session->work.index].subscribe &&
           (session->work.subscribed >> script[session->work.index].which & 1) != 0) {
        session->work.index++; /* subscribed already, while waiting for pairing mode */
    }
    if (session->work.index == SCRIPT_COUNT) {
        finish_opening(session);
        return;
    }
    tendon_bose_characteristic which = (tendon_bose_characteristic)script[session->work.index].which;
    if (script[session->work.index].subscribe) {
        subscribe(session, BOSE_OPENING, which);
    } else {
        tendon_bose_read(session, BOSE_OPENING, session->kept.found[which].value);
    }
}

static void string_pump(tendon_bose_session *session) {
    while (session->work.index < BOSE_STRING_HANDLES &&
           session->kept.found[BOSE_STRING_ROW + session->work.index].value == 0) {
        session->work.index++;
    }
    if (session->work.index < BOSE_STRING_HANDLES) {
        tendon_bose_read(session, BOSE_OPENING, session->kept.found[BOSE_STRING_ROW + session->work.index].value);
        return;
    }
    tendon_bose_go_to(session, BOSE_STEP_SCRIPT);
    tendon_bose_emit_kind(session, TENDON_BOSE_EVENT_DEVICE_STRINGS, TENDON_OK);
    if (session->work.step == BOSE_STEP_SCRIPT && session->state == TENDON_BOSE_STARTING) {
        script_pump(session); /* unless the callback closed the session */
    }
}

void tendon_bose_opening_pump(tendon_bose_session *session) {
    switch (session->work.step) {
    case BOSE_STEP_MTU:
        tendon_operation_start(&session->op, BOSE_OPENING, TENDON_OPERATION_MTU, 0, NULL, 0);
        break;
    case BOSE_STEP_DISCOVERY:
        tendon_bose_discover(session);
        break;
    case BOSE_STEP_SERIAL:
        tendon_bose_read(session, BOSE_OPENING, session->kept.found[BOSE_STRING_ROW + TENDON_BOSE_STRING_SERIAL].value);
        break;
    case BOSE_STEP_STATUS:
        tendon_bose_read(session, BOSE_OPENING, session->kept.found[TENDON_BOSE_DEVICE_INFORMATION].value);
        break;
    case BOSE_STEP_WAIT:
        if (session->state == TENDON_BOSE_WAITING_PAIRING_MODE) {
            waiting_pump(session);
        }
        break;
    case BOSE_STEP_STRING:
        string_pump(session);
        break;
    default:
        script_pump(session);
        break;
    }
}

void tendon_bose_opening_done(tendon_bose_session *session, const tendon_gatt_result *result) {
    if (!tendon_bose_is_opening(session)) {
        return;
    }
    switch (session->work.step) {
    case BOSE_STEP_MTU:
        /* A device may reject the exchange; the default MTU works as well. */
        if (result->status == TENDON_ERROR_TIMEOUT) {
            tendon_bose_fail_operation(session, result->status);
        } else {
            tendon_bose_go_to(session, BOSE_STEP_DISCOVERY);
        }
        break;
    case BOSE_STEP_SERIAL:
        serial_read(session, result);
        break;
    case BOSE_STEP_STATUS:
        status_read(session, result);
        break;
    case BOSE_STEP_STRING:
        string_read(session, result);
        break;
    case BOSE_STEP_SCRIPT:
        script_done(session, result);
        break;
    default:
        break;
    }
}
