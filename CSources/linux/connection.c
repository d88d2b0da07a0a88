/* SPDX-License-Identifier: MIT */
#include "tendon/linux/connection.h"
#include "connection_parts.h"
#include "pairing/pairing.h"

#include <string.h>

/** The link was called connected and has never been established (Core Spec Vol 1 Part F 2.62). */
#define NEVER_ESTABLISHED TENDON_HCI_ERROR(0x3E)

/** Sets the timer to expire in this step (from a callback) or in the next one. It calls tick() and sets the next
 * deadline. */
static void touch(tendon_connection *connection) {
    connection->timer.deadline = 0;
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void tendon_connection_refresh(tendon_connection *connection) {
    uint64_t deadline = UINT64_MAX;
    if (connection->closing && connection->state == TENDON_CONNECTION_WAITING) {
        deadline = 0;
    } else if (connection->state == TENDON_CONNECTION_WAITING) {
        deadline = connection->retry_at;
    } else if (connection->state == TENDON_CONNECTION_UP) {
        deadline = tendon_att_bearer_deadline(&connection->bearer);
    }
    if (connection->inputs != NULL) {
        deadline = earlier(deadline, connection->inputs->deadline(connection->session));
    }
    connection->timer.deadline = deadline;
    if (connection->state == TENDON_CONNECTION_IDLE && deadline == UINT64_MAX) {
        tendon_loop_remove(connection->radio->loop, &connection->timer);
    } else if (!connection->timer.added) {
        (void)tendon_loop_add(connection->radio->loop, &connection->timer); /* without a descriptor it cannot fail */
    }
}

static void set_scan_paused(tendon_connection *connection, bool paused) {
    if (connection->pauses_scan != paused) {
        connection->pauses_scan = paused;
        (paused ? tendon_radio_pause_scan : tendon_radio_resume_scan)(connection->radio);
    }
}

static void cancel_pairing(tendon_connection *connection) {
    if (connection->pairing_started) {
        connection->pairing_started = false;
        if (connection->pairing->cancel != NULL) {
            connection->pairing->cancel(connection->pairing->context, &connection->peer);
        }
    }
}

/** Makes the connection idle: notifies the GATT client, then the session, then the application. */
static void finish(tendon_connection *connection, tendon_status reason, uint64_t now) {
    bool was_up = connection->state == TENDON_CONNECTION_UP || connection->again;
    const tendon_connection_callbacks callbacks = connection->callbacks;
    if (connection->close_reason != TENDON_OK) {
        reason = connection->close_reason;
    }
    connection->state = TENDON_CONNECTION_IDLE;
    connection->closing = connection->again = connection->pairing_asked = connection->pairing_needed = false;
    connection->close_reason = TENDON_OK;
    set_scan_paused(connection, false);
    if (was_up) {
        tendon_gatt_client_disconnected(&connection->client, reason, now);
    }
    cancel_pairing(connection);
    if (connection->inputs != NULL) {
        connection->inputs->disconnected(connection->session, reason, now);
    }
    tendon_connection_refresh(connection);
    if (callbacks.closed != NULL) {
        callbacks.closed(callbacks.context, reason, now); /* the connection's memory may be invalid after this call */
    }
}

static void attempt_ended(tendon_connection *connection, tendon_status reason, uint64_t now) {
    tendon_connection_attempt *attempt = &connection->attempts[connection->attempt - 1];
    attempt->reason = reason;
    attempt->lasted_ms = now > connection->attempt_began ? (uint32_t)(now - connection->attempt_began) : 0;
}

static bool has_attempts(const tendon_connection *connection) {
    return connection->background ||
           (connection->attempt < connection->connect_attempts && connection->attempt < TENDON_CONNECTION_ATTEMPTS_MAX);
}

/** Records the reason; returns true if another attempt follows. */
static bool retry_later(tendon_connection *connection, tendon_status reason, uint64_t now) {
    attempt_ended(connection, reason, now);
    if (connection->closing || !tendon_connection_retries(reason) || !has_attempts(connection)) {
        return false;
    }
    uint64_t pause = (uint64_t)TENDON_CONNECTION_PAUSE_MS << (connection->attempt - 1);
    pause += connection->jitter.next(connection->jitter.context) % (pause / 2u + 1u);
    if (now + pause >= connection->connect_deadline) {
        return false;
    }
    connection->state = TENDON_CONNECTION_WAITING;
    connection->retry_at = now + pause;
    tendon_connection_refresh(connection);
    return true;
}

static tendon_status ask_radio(tendon_connection *connection) {
    if (connection->background) {
        return tendon_radio_connect_in_background(connection->radio, &connection->link, &connection->peer);
    }
    return tendon_radio_connect(connection->radio, &connection->link, &connection->peer, connection->connect_deadline);
}

static void begin_attempt(tendon_connection *connection, uint64_t now) {
    connection->attempt_began = now;
    connection->attempts[connection->attempt - 1] =
        (tendon_connection_attempt){.began_ms = (uint32_t)(now - connection->connect_began)};
}

static void attempt_again(tendon_connection *connection, uint64_t now) {
    if (connection->attempt < TENDON_CONNECTION_ATTEMPTS_MAX) {
        connection->attempt++;
    }
    connection->state = TENDON_CONNECTION_CONNECTING;
    begin_attempt(connection, now);
    tendon_status status = ask_radio(connection);
    if (status < 0 && !retry_later(connection, status, now)) {
        finish(connection, status, now);
    }
}

static void timer_expired(void *context, uint64_t now) {
    tendon_connection *connection = context;
    if (connection->state == TENDON_CONNECTION_WAITING && connection->closing) {
        finish(connection, TENDON_ERROR_CANCELLED, now);
        return;
    }
    if (connection->state == TENDON_CONNECTION_WAITING && now >= connection->retry_at) {
        attempt_again(connection, now);
        return;
    }
    if (connection->state == TENDON_CONNECTION_UP) {
        tendon_att_bearer_tick(&connection->bearer, now);
    }
    if (connection->inputs != NULL && connection->inputs->deadline(connection->session) <= now) {
        connection->inputs->tick(connection->session, now);
    }
    tendon_connection_refresh(connection);
}

/** Keeps the PDUs sent before the first PDU of the peer, because they may have to be sent again. */
static void keep_first(tendon_connection *connection, const uint8_t *pdu, size_t length) {
    if (connection->first_length > 0 || length == 0 || length > sizeof connection->first) {
        connection->first_is_not_all = true;
        return;
    }
    connection->first_length = (uint8_t)length;
    memcpy(connection->first, pdu, length);
}

static tendon_status send_pdu(void *context, const uint8_t *pdu, size_t length) {
    tendon_connection *connection = context;
    touch(connection); /* the PDU can be a request, which has a deadline */
    if (connection->again) {
        return TENDON_ERROR_WOULD_BLOCK; /* writable after the reconnection */
    }
    tendon_status status = tendon_link_send(&connection->link, pdu, length);
    if (status >= 0 && connection->link.received == 0) {
        keep_first(connection, pdu, length);
    }
    return status;
}

static void on_service_changed(void *context, uint16_t start, uint16_t end, uint64_t now) {
    tendon_connection *connection = context;
    if (connection->callbacks.service_changed != NULL) {
        connection->callbacks.service_changed(connection->callbacks.context, start, end, now);
    }
}

/** The first reason counts; TENDON_OK: that of the radio. */
static void close_because(tendon_connection *connection, tendon_status reason) {
    if (connection->state == TENDON_CONNECTION_IDLE || connection->closing) {
        return;
    }
    connection->closing = true;
    connection->close_reason = reason;
    if (connection->state == TENDON_CONNECTION_WAITING) {
        touch(connection);
    } else {
        tendon_link_close(&connection->link);
    }
}

static void on_bearer_closed(void *context, uint64_t now) {
    tendon_connection *connection = context;
    (void)now;
    /* After a transaction timeout the client is closed, too. */
    close_because(connection, connection->client.closed ? TENDON_GATT_ERROR_TRANSACTION_TIMEOUT
                                                        : TENDON_ATT_ERROR(TENDON_ATT_DATABASE_OUT_OF_SYNC));
}

static void secured(tendon_connection *connection, tendon_status status, uint64_t now);

static void paired(void *context, tendon_status status, uint64_t now) {
    tendon_connection *connection = context;
    bool asked = connection->pairing_asked;
    if (!connection->pairing_started) {
        return; /* cancelled, or disconnected */
    }
    connection->pairing_started = connection->pairing_asked = connection->pairing_needed = false;
    touch(connection);
    if (connection->state == TENDON_CONNECTION_SECURING) {
        secured(connection, status, now);
        return;
    }
    if (asked && connection->inputs != NULL) {
        connection->inputs->paired(connection->session, status, now);
    }
    if (asked && connection->callbacks.paired != NULL) {
        connection->callbacks.paired(connection->callbacks.context, status, now);
    }
    tendon_gatt_client_secured(&connection->client, status, now);
}

static tendon_status start_pairing(tendon_connection *connection, uint64_t now) {
    const tendon_pairing_service *service = connection->pairing;
    tendon_status status = service->start(service->context, &connection->peer, paired, connection, now);
    connection->pairing_started = status >= 0;
    return status;
}

/** An encrypted connection is as secure as its key: a better one needs a new connection. */
static bool on_insecure(void *context, uint8_t error, uint64_t now) {
    tendon_connection *connection = context;
    bool decided = connection->inputs != NULL && connection->inputs->pairs;
    (void)error;
    if (connection->pairing == NULL || decided || connection->closing || connection->link.encrypted) {
        return false;
    }
    connection->pairing_needed = connection->pairing_started || start_pairing(connection, now) >= 0;
    return connection->pairing_needed;
}

/** A fresh bearer and client for a link. */
static void prepare_client(tendon_connection *connection) {
    tendon_att_bearer_init(&connection->bearer, (tendon_bearer_io){.context = connection, .send = send_pdu},
                           TENDON_ATT_MTU_MAX);
    const tendon_gatt_client_config config = {
        .bearer = &connection->bearer,
        .requests = connection->request_table != NULL ? connection->request_table : connection->requests,
        .request_capacity =
            connection->request_table != NULL ? connection->request_capacity : TENDON_CONNECTION_REQUESTS,
        .subscriptions = connection->subscriptions,
        .subscription_capacity = TENDON_CONNECTION_SUBSCRIPTIONS,
        .cache = connection->cache,
        .context = connection,
        .on_service_changed = on_service_changed,
        .on_bearer_closed = on_bearer_closed,
        .on_insecure = on_insecure,
    };
    (void)tendon_gatt_client_init(&connection->client, &config); /* fails on a NULL or empty table only */
}

/** The same connection for session and application, over a new link. */
static void go_on(tendon_connection *connection, uint64_t now) {
    connection->again = false;
    if (connection->first_length > 0) {
        (void)tendon_link_send(&connection->link, connection->first, connection->first_length);
    }
    tendon_att_bearer_writable(&connection->bearer, now);
}

/** The link has the required security: the session and the application may use it. */
static void established(tendon_connection *connection, uint64_t now) {
    connection->state = TENDON_CONNECTION_UP;
    if (connection->again) {
        go_on(connection, now);
        return;
    }
    connection->first_length = 0;
    connection->first_is_not_all = false;
    prepare_client(connection);
    if (connection->callbacks.connected != NULL) {
        connection->callbacks.connected(connection->callbacks.context, now);
    }
    if (connection->inputs != NULL && !connection->closing) {
        connection->inputs->connected(connection->session, &connection->client, now);
    }
}

static tendon_status no_pairing(const tendon_connection *connection) {
    tendon_status failure = connection->radio->bonds_failure;
    return failure < 0 ? failure : TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
}

/** Encrypts the link, or pairs, once. The next step is paired(). */
static tendon_status begin_securing(tendon_connection *connection, uint64_t now) {
    tendon_status missing = connection->pairing == NULL  ? no_pairing(connection)
                            : connection->link.encrypted ? TENDON_RADIO_ERROR_PAIRING_TOO_WEAK
                                                         : TENDON_OK;
    tendon_radio_note_failure(&connection->link, missing, now);
    return missing < 0 ? missing : start_pairing(connection, now);
}

static void secured(tendon_connection *connection, tendon_status status, uint64_t now) {
    if (connection->closing) {
        return;
    }
    if (status >= 0 && tendon_link_has_security(&connection->link, connection->radio->security)) {
        established(connection, now);
    } else if (status < 0 || begin_securing(connection, now) < 0) {
        close_because(connection, TENDON_RADIO_ERROR_NOT_SECURE);
    }
}

static void link_connected(void *context, uint64_t now) {
    tendon_connection *connection = context;
    connection->state = TENDON_CONNECTION_SECURING;
    connection->peer = connection->link.peer;
    attempt_ended(connection, TENDON_OK, now);
    set_scan_paused(connection, false);
    touch(connection);
    secured(connection, TENDON_OK, now);
}

/* How long a PDU can wait for its turn. An adapter whose events are not received has intervals like others. */
static uint32_t interval_us(const tendon_link *link) {
    if (link->timing.interval != 0) {
        return link->timing.interval * 1250u;
    }
    return link->radio->ops->set_parameters != NULL ? 50000 : 0;
}

static void link_received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    tendon_connection *connection = context;
    if (connection->state != TENDON_CONNECTION_UP) {
        return; /* not from a connection with the required security */
    }
    touch(connection); /* once per batch, not per PDU: the timer expires after the whole batch */
    connection->bearer.interval_us = interval_us(&connection->link);
    (void)tendon_att_bearer_receive_at(&connection->bearer, pdu, length, now, connection->link.received_at);
}

static void link_writable(void *context, uint64_t now) {
    tendon_connection *connection = context;
    if (connection->state != TENDON_CONNECTION_UP) {
        return;
    }
    touch(connection);
    tendon_att_bearer_writable(&connection->bearer, now);
}

/** Returns true if the connection was never established, so that it is attempted again without a notification. */
static bool was_never_established(const tendon_connection *connection, tendon_status reason) {
    return connection->state == TENDON_CONNECTION_UP && reason == NEVER_ESTABLISHED && connection->link.received == 0 &&
           !connection->first_is_not_all && !connection->pairing_started;
}

/** The reason for the owner of a link that ended before it could be used. */
static tendon_status reason_of_failure(const tendon_connection *connection, tendon_status reason) {
    bool refused = reason == TENDON_RADIO_ERROR_PAIRING_FAILED || reason == TENDON_RADIO_ERROR_PAIRING_TOO_WEAK ||
                   reason == TENDON_RADIO_ERROR_IDENTITY_TAKEN || reason == TENDON_RADIO_ERROR_OTHER_BOND_STORE;
    if (connection->closing) {
        return connection->close_reason != TENDON_OK ? connection->close_reason : reason;
    }
    if (connection->state == TENDON_CONNECTION_SECURING) { /* devices disconnect, too, where they do not pair */
        refused = reason != NEVER_ESTABLISHED && reason != TENDON_RADIO_ERROR_OUT_OF_RANGE;
    }
    return refused && connection->radio->security != TENDON_SECURITY_NONE ? TENDON_RADIO_ERROR_NOT_SECURE : reason;
}

static void link_closed(void *context, tendon_status reason, uint64_t now) {
    tendon_connection *connection = context;
    bool was_up = connection->state == TENDON_CONNECTION_UP;
    bool failed = !was_up || was_never_established(connection, reason);
    reason = failed ? reason_of_failure(connection, reason) : reason;
    if (failed && retry_later(connection, reason, now)) {
        connection->pairing_started = false; /* it ended with the link */
        connection->again = connection->again || was_up;
        set_scan_paused(connection, !connection->background);
        return;
    }
    finish(connection, reason, now);
}

void tendon_connection_init(tendon_connection *connection, tendon_radio *radio, const tendon_address *peer,
                            const tendon_pairing_service *pairing, const tendon_connection_callbacks *callbacks) {
    memset(connection, 0, sizeof *connection);
    connection->radio = radio;
    connection->peer = *peer;
    connection->pairing = pairing;
    connection->connect_timeout_ms = TENDON_CONNECTION_TIMEOUT_MS;
    connection->connect_attempts = TENDON_CONNECTION_ATTEMPTS;
    connection->jitter = (tendon_connection_jitter){.context = connection, .next = tendon_connection_next_jitter};
    connection->jitter_state = tendon_connection_seed(radio, peer);
    if (callbacks != NULL) {
        connection->callbacks = *callbacks;
    }
    tendon_link_init(&connection->link, &(tendon_link_callbacks){.context = connection,
                                                                 .connected = link_connected,
                                                                 .received = link_received,
                                                                 .writable = link_writable,
                                                                 .closed = link_closed});
    tendon_source_init(&connection->timer, -1, connection, NULL, timer_expired);
    prepare_client(connection);
    tendon_gatt_client_disconnected(&connection->client, TENDON_ERROR_DISCONNECTED, 0); /* calls fail with the reason */
}

void tendon_connection_attach(tendon_connection *connection, const tendon_session_inputs *inputs, void *session) {
    connection->inputs = inputs;
    connection->session = session;
}

void tendon_connection_use_requests(tendon_connection *connection, tendon_gatt_request *table, size_t capacity) {
    connection->request_table = table;
    connection->request_capacity = capacity;
}

void tendon_connection_use_cache(tendon_connection *connection, tendon_gatt_cache *cache) {
    connection->cache = cache;
}

tendon_status tendon_connection_connect(tendon_connection *connection) {
    /* Without a radio: the search for the device failed, and its result was not looked at. */
    if (connection->radio == NULL || connection->state != TENDON_CONNECTION_IDLE) {
        return TENDON_ERROR_WRONG_STATE;
    }
    connection->attempt = 1;
    memset(connection->attempts, 0, sizeof connection->attempts);
    connection->connect_began = tendon_monotonic_ms();
    connection->connect_deadline =
        connection->background ? UINT64_MAX : connection->connect_began + connection->connect_timeout_ms;
    begin_attempt(connection, connection->connect_began);
    set_scan_paused(connection, !connection->background);
    connection->state = TENDON_CONNECTION_CONNECTING;
    tendon_status status = ask_radio(connection);
    if (status < 0 && !retry_later(connection, status, connection->connect_began)) {
        connection->state = TENDON_CONNECTION_IDLE;
        set_scan_paused(connection, false);
        return status;
    }
    tendon_connection_refresh(connection);
    touch(connection); /* the session that called us sets its deadline after this returns */
    return TENDON_OK;
}

void tendon_connection_close(tendon_connection *connection) {
    close_because(connection, TENDON_OK);
}

/* A call during an attempt has no effect: the attempt has one result for all callers. */
static tendon_status session_connect(void *context) {
    const tendon_connection *connection = context;
    bool connecting = connection->state != TENDON_CONNECTION_IDLE && connection->state != TENDON_CONNECTION_UP;
    return connecting && !connection->closing ? TENDON_OK : tendon_connection_connect(context);
}

static void session_disconnect(void *context) {
    tendon_connection_close(context);
}

tendon_status tendon_connection_pair(tendon_connection *connection) {
    bool is_up = connection->state == TENDON_CONNECTION_UP;
    if (connection->pairing == NULL) {
        if (is_up) {
            tendon_radio_note_failure(&connection->link, connection->radio->bonds_failure, tendon_monotonic_ms());
        }
        return no_pairing(connection);
    }
    if (!is_up) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (connection->pairing_asked) {
        return TENDON_ERROR_BUSY;
    }
    tendon_status status = connection->pairing_started ? TENDON_OK : start_pairing(connection, tendon_monotonic_ms());
    connection->pairing_asked = status >= 0;
    return status;
}

void tendon_connection_leave_pairing(tendon_connection *connection) {
    if (connection->pairing_asked && !connection->pairing_needed) {
        cancel_pairing(connection);
    }
    connection->pairing_asked = false;
}

static tendon_status session_pair(void *context) {
    return tendon_connection_pair(context);
}

static bool session_bonded(void *context) {
    const tendon_connection *connection = context;
    return connection->pairing != NULL && connection->pairing->bonded != NULL &&
           connection->pairing->bonded(connection->pairing->context, &connection->peer);
}

static tendon_status session_forget(void *context) {
    const tendon_connection *connection = context;
    if (connection->pairing == NULL || connection->pairing->forget == NULL) {
        return TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    }
    return connection->pairing->forget(connection->pairing->context, &connection->peer);
}

tendon_session_link tendon_connection_session_link(tendon_connection *connection) {
    return (tendon_session_link){.context = connection,
                                 .connect = session_connect,
                                 .disconnect = session_disconnect,
                                 .pair = session_pair,
                                 .bonded = session_bonded,
                                 .forget = session_forget};
}
