/* SPDX-License-Identifier: MIT */
/* The connection of a session: opened step by step, kept alive, ended. */
#include "../rows.h"
#include "session_parts.h"
#include "tendon/host/advertisement.h"

#include <string.h>

/* ---- opening ---- */

static void step(tendon_obvious_session *s, uint8_t next);

uint8_t tendon_obvious_row(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    const tendon_obvious_session *s = context;
    const tendon_obvious_gatt *gatt = s->config.gatt != NULL ? s->config.gatt : &tendon_obvious_gatt_ogp;
    *service = gatt->service;
    *characteristic = row == DATA ? gatt->data : gatt->status;
    return row == DATA ? TENDON_PROFILE_REQUIRED | TENDON_PROFILE_CCCD : TENDON_PROFILE_REQUIRED;
}

/* The link is encrypted before anything of OGP is read or written: a device that does not require it may be another
 * one. With a stored key pairing ends immediately. @p cause: why it has to be done again. */
static void pair(tendon_obvious_session *s, tendon_status cause) {
    const tendon_session_link *link = &s->config.link;
    s->work.step = STEP_PAIR;
    if (s->work.pairings < TENDON_OBVIOUS_PAIRING_ATTEMPTS) {
        s->work.pairings++;
        cause = link->pair != NULL ? link->pair(link->context) : TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    }
    if (cause < 0) {
        tendon_obvious_session_give_up(s, TENDON_OBVIOUS_ERROR_UNAUTHORIZED, cause);
    }
}

static void discovered(void *context, tendon_status status, size_t row, uint64_t now) {
    tendon_obvious_session *s = context;
    (void)row;
    s->op.now = now;
    tendon_operation_reset(&s->op);
    if (s->op.client->closed || s->work.step != STEP_DISCOVER) {
        return;
    }
    const uint8_t writes = TENDON_GATT_WRITE | TENDON_GATT_WRITE_WITHOUT_RESPONSE;
    const uint8_t notifies = TENDON_GATT_NOTIFY | TENDON_GATT_INDICATE;
    uint8_t properties = s->found[DATA].properties;
    if (status < 0 || (properties & writes) == 0 || (properties & notifies) == 0) {
        tendon_obvious_session_give_up(s, TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE, status);
        return;
    }
    s->work.deadline = UINT64_MAX;
    pair(s, TENDON_OK);
}

static void step(tendon_obvious_session *s, uint8_t next) {
    s->work.step = next;
    switch (next) {
    case STEP_MTU:
        tendon_operation_start(&s->op, STEP_MTU, TENDON_OPERATION_MTU, 0, NULL, 0);
        break;
    case STEP_DISCOVER:
        s->work.deadline = s->op.now + TENDON_OBVIOUS_DISCOVERY_TIMEOUT_MS;
        tendon_operation_discover(&s->op, STEP_DISCOVER, &s->scratch.discovery, tendon_obvious_row, s->found,
                                  TENDON_OBVIOUS_ROWS);
        break;
    case STEP_STATUS:
        tendon_operation_start(&s->op, STEP_STATUS, TENDON_OPERATION_READ, s->found[STATUS].value, NULL, 0);
        break;
    case STEP_SUBSCRIBE:
        tendon_operation_subscribe(&s->op, STEP_SUBSCRIBE, &s->found[DATA],
                                   (s->found[DATA].properties & TENDON_GATT_NOTIFY) == 0);
        break;
    default:
        (void)tendon_obvious_session_start(s, TENDON_OBVIOUS_HELLO, NULL, NULL, NULL, s->op.now);
        break;
    }
}

/* Pairs again if that is what the device requires. */
static bool pairs(tendon_obvious_session *s, tendon_status status) {
    bool insecure = status == TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_AUTHENTICATION) ||
                    status == TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_ENCRYPTION);
    if (insecure) {
        pair(s, status);
    }
    return insecure;
}

static void status_read(tendon_obvious_session *s, const tendon_gatt_result *result) {
    if (pairs(s, result->status)) {
        return;
    }
    if (result->status < 0 || tendon_obvious_decode_profile(result->value, result->length, &s->flags) != TENDON_OK) {
        tendon_obvious_session_give_up(s, TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE, result->status);
        return;
    }
    step(s, STEP_SUBSCRIBE);
}

static void subscribed(tendon_obvious_session *s, tendon_status status) {
    if (status >= 0) {
        step(s, STEP_HELLO);
    } else if (!pairs(s, status)) {
        s->work.tries++;
        if (s->work.tries == TENDON_OBVIOUS_SUBSCRIBE_ATTEMPTS) {
            tendon_obvious_session_give_up(s, status, status);
        } else {
            step(s, STEP_SUBSCRIBE);
        }
    }
}

/* A device may reject the MTU exchange. Early segments wait in the receiver's memory: the window is what it holds. */
static void mtu_exchanged(tendon_obvious_session *s) {
    size_t mtu = s->op.client->bearer->mtu, size = tendon_obvious_segment_size(mtu);
    size_t fits = s->config.frame_max / size;
    fits = fits == 0 ? 1 : fits;
    s->window = fits < s->config.window ? (uint8_t)fits : s->config.window;
    tendon_obvious_receiver_set_mtu(&s->receiver, mtu);
    step(s, STEP_DISCOVER);
}

static void done(void *context, const tendon_gatt_result *result) {
    tendon_obvious_session *s = context;
    uint8_t kind = s->op.client != NULL ? tendon_operation_ended(&s->op, result) : STEP_NONE;
    if (kind == WRITE) {
        if (!s->work.inside) {
            tendon_obvious_session_writable(s, result->now);
        }
    } else if (kind != STEP_NONE && kind == s->work.step && !s->op.client->closed) {
        switch (kind) {
        case STEP_MTU:
            mtu_exchanged(s);
            break;
        case STEP_STATUS:
            status_read(s, result);
            break;
        default:
            subscribed(s, result->status);
            break;
        }
    }
}

static const tendon_operation_rules rules = {.done = done,
                                             .value = tendon_obvious_session_value,
                                             .discovered = discovered,
                                             .limit = TENDON_OBVIOUS_OPERATION_TIMEOUT_MS};

/* ---- inputs from the connection ---- */

void tendon_obvious_session_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_obvious_session *s = context;
    s->op.now = now;
    if (s->op.client != NULL || s->state == TENDON_OBVIOUS_SESSION_IDLE) {
        s->counters.illegal_inputs++;
        return;
    }
    s->op.client = client;
    if (s->state == TENDON_OBVIOUS_SESSION_CLOSING) {
        return;
    }
    s->state = TENDON_OBVIOUS_SESSION_OPENING;
    tendon_gatt_client_set_on_writable(client, tendon_obvious_session_writable, s);
    step(s, STEP_MTU);
}

static void reset(tendon_obvious_session *s) {
    const uint64_t banned_until = s->work.banned_until;
    memset(&s->work, 0, sizeof s->work);
    s->work.banned_until = banned_until;
    s->work.deadline = UINT64_MAX;
    s->status = TENDON_OK;
    s->has_serial = false;
    s->frame_max = s->config.frame_max;
    s->request.frame = s->ping.frame = NULL;
    tendon_operation_reset(&s->op);
    tendon_obvious_session_prepare(s);
}

void tendon_obvious_session_disconnected(void *context, tendon_status reason, uint64_t now) {
    tendon_obvious_session *s = context;
    s->op.now = now;
    if (s->state == TENDON_OBVIOUS_SESSION_IDLE) {
        s->counters.illegal_inputs++;
        return;
    }
    if (s->work.step == STEP_DISCOVER) {
        tendon_profile_cancel(&s->scratch.discovery, now);
    }
    if (s->work.reason < 0) {
        reason = s->work.reason;
    }
    s->op.client = NULL;
    s->work.step = STEP_NONE;
    s->state = TENDON_OBVIOUS_SESSION_CLOSING; /* requests that are made by completions fail */
    tendon_obvious_requests_fail(&s->requests, reason, now);
    reset(s);
    s->state = TENDON_OBVIOUS_SESSION_IDLE;
    tendon_obvious_session_tell(s, TENDON_OBVIOUS_SESSION_EVENT_CLOSED, reason);
}

void tendon_obvious_session_paired(void *context, tendon_status status, uint64_t now) {
    tendon_obvious_session *s = context;
    s->op.now = now;
    if (s->work.step != STEP_PAIR) {
        s->counters.illegal_inputs++;
        return;
    }
    if (status >= 0) {
        step(s, STEP_STATUS);
    } else if (status != TENDON_ERROR_DISCONNECTED) { /* disconnected() follows */
        pair(s, status);
    }
}

/* ---- time ---- */

/* A device that does not answer a PING has its limits of time in the operation that is open. */
static void on_pong(void *context, tendon_obvious_request *request, const tendon_obvious_response *response,
                    uint64_t now) {
    tendon_obvious_session *s = context;
    (void)request, (void)response;
    s->op.now = now;
    s->work.active_at = now;
}

static void keep_alive(tendon_obvious_session *s, uint64_t now) {
    s->ping.opcode = TENDON_OBVIOUS_PING;
    s->ping.frame = s->ping_frame; /* without payload; the header is written when it is sent */
    s->ping.payload_length = 0;
    s->ping.on_done = on_pong;
    s->ping.context = s;
    (void)tendon_obvious_requests_add(&s->requests, &s->ping, now);
}

static uint64_t keep_alive_at(const tendon_obvious_session *s) {
    bool idle = s->state == TENDON_OBVIOUS_SESSION_OPEN && s->keep_alive && s->requests.count == 0;
    return idle ? s->work.active_at + TENDON_OBVIOUS_KEEP_ALIVE_MS : UINT64_MAX;
}

void tendon_obvious_session_tick(void *context, uint64_t now) {
    tendon_obvious_session *s = context;
    s->op.now = now;
    if (s->state == TENDON_OBVIOUS_SESSION_IDLE || s->state == TENDON_OBVIOUS_SESSION_CLOSING) {
        return;
    }
    if (s->work.lost) {
        s->work.lost = false;
        tendon_obvious_session_close(s, TENDON_OBVIOUS_ERROR_LINK_ERROR);
        tendon_obvious_requests_fail(&s->requests, TENDON_OBVIOUS_ERROR_LINK_ERROR, now);
        return;
    }
    if (now >= s->work.deadline) {
        tendon_profile_cancel(&s->scratch.discovery, now);
        tendon_operation_reset(&s->op);
        tendon_obvious_session_give_up(s, TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE, TENDON_ERROR_TIMEOUT);
    }
    tendon_obvious_receiver_tick(&s->receiver, now);
    tendon_obvious_sender_tick(&s->sender, now);
    tendon_obvious_requests_tick(&s->requests, now);
    if (now >= keep_alive_at(s)) {
        keep_alive(s, now);
    }
}

uint64_t tendon_obvious_session_deadline(const void *context) {
    const tendon_obvious_session *s = context;
    if (s->state == TENDON_OBVIOUS_SESSION_IDLE || s->state == TENDON_OBVIOUS_SESSION_CLOSING) {
        return UINT64_MAX;
    }
    const uint64_t times[] = {
        s->work.lost ? 0 : s->work.deadline, keep_alive_at(s), tendon_obvious_receiver_deadline(&s->receiver),
        tendon_obvious_sender_deadline(&s->sender), tendon_obvious_requests_deadline(&s->requests)};
    uint64_t due = UINT64_MAX;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        due = times[i] < due ? times[i] : due;
    }
    return due;
}

const tendon_session_inputs tendon_obvious_session_inputs = {
    .connected = tendon_obvious_session_connected,
    .disconnected = tendon_obvious_session_disconnected,
    .paired = tendon_obvious_session_paired,
    .tick = tendon_obvious_session_tick,
    .deadline = tendon_obvious_session_deadline,
    .pairs = true,
};

/* ---- calls of the application ---- */

tendon_status tendon_obvious_session_init(tendon_obvious_session *s, const tendon_obvious_session_config *config) {
    if (config->link.connect == NULL || config->link.disconnect == NULL || config->on_event == NULL ||
        config->memory == NULL || config->frame_max < TENDON_OBVIOUS_FRAME_MAX_LOWEST ||
        config->frame_max > TENDON_OBVIOUS_FRAME_MAX || config->window == 0 ||
        config->window > TENDON_OBVIOUS_WINDOW_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    memset(s, 0, sizeof *s);
    s->config = *config;
    s->op.rules = &rules;
    s->op.context = s;
    reset(s);
    return TENDON_OK;
}

tendon_status tendon_obvious_session_connect(tendon_obvious_session *s, uint64_t now) {
    if (s->state != TENDON_OBVIOUS_SESSION_IDLE) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (now < s->work.banned_until) {
        return TENDON_OBVIOUS_ERROR_PROTOCOL;
    }
    s->op.now = now;
    s->state = TENDON_OBVIOUS_SESSION_CONNECTING;
    tendon_status status = s->config.link.connect(s->config.link.context);
    if (status < 0) {
        s->state = TENDON_OBVIOUS_SESSION_IDLE;
    }
    return status;
}

void tendon_obvious_session_disconnect(tendon_obvious_session *s, uint64_t now) {
    s->op.now = now;
    if (s->state != TENDON_OBVIOUS_SESSION_IDLE && s->state != TENDON_OBVIOUS_SESSION_CLOSING) {
        tendon_obvious_session_close(s, TENDON_OK);
    }
}

bool tendon_obvious_recognize(const tendon_obvious_gatt *gatt, const uint8_t *data, size_t length) {
    gatt = gatt != NULL ? gatt : &tendon_obvious_gatt_ogp;
    return tendon_ad_has_uuid(data, length, &gatt->service);
}
