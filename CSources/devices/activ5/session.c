/* SPDX-License-Identifier: MIT */
/* A device's requests, one at a time, over GATT. Discovery is in session_discover.c. */
#include "session.h"

/* ---- operations ---- */

void activ5_starting(tendon_activ5_session *session) {
    session->busy = true;
    session->starting = true;
    session->request = 0;
}

void activ5_started(tendon_activ5_session *session, tendon_status request) {
    if (!session->starting) {
        return; /* a link in memory answered before the call returned */
    }
    if (request < 0) {
        const tendon_gatt_result refused = {.status = request};
        activ5_done(session, &refused);
        return;
    }
    session->starting = false;
    session->request = (uint32_t)request;
    /* Completions do not tell the time: the next tick, due at once, sets the operation's deadline. */
    session->unstamped = true;
}

static bool link_went(tendon_status status) {
    if (status >= 0) {
        return false;
    }
    switch (TENDON_STATUS_LAYER(status)) {
    case TENDON_LAYER_HCI:
    case TENDON_LAYER_L2CAP:
    case TENDON_LAYER_MANAGEMENT:
    case TENDON_LAYER_RADIO:
    case TENDON_LAYER_SYSTEM:
        return true;
    default:
        return status == TENDON_ERROR_DISCONNECTED || status == TENDON_ERROR_CANCELLED ||
               status == TENDON_GATT_ERROR_TRANSACTION_TIMEOUT;
    }
}

static void operation_done(tendon_activ5_session *session, const tendon_gatt_result *result) {
    tendon_activ5_operation operation = session->queue[session->first];
    session->first = (uint8_t)((session->first + 1u) % TENDON_ACTIV5_QUEUE_SIZE);
    session->waiting--;
    tendon_activ5_device *device = session->device;
    const tendon_activ5_request request = {
        .kind = (tendon_activ5_request_kind)operation.kind,
        .device = device,
        .characteristic = (tendon_activ5_characteristic)operation.characteristic,
        .value = operation.length > 0 ? operation.value : NULL,
        .length = operation.length,
    };
    if (result->status >= 0 && operation.kind == TENDON_ACTIV5_REQUEST_READ) {
        tendon_activ5_device_value(device, request.characteristic, result->value, result->length, session->now);
    }
    tendon_activ5_device_done(device, &request, result->status < 0 ? result->status : TENDON_OK, session->now);
}

void activ5_done(void *context, const tendon_gatt_result *result) {
    tendon_activ5_session *session = context;
    if (!session->busy || session->client == NULL || (!session->starting && result->request != session->request)) {
        return;
    }
    session->busy = session->starting = false;
    session->request = 0;
    if (link_went(result->status)) {
        return; /* disconnected() says the rest */
    }
    if (session->step == ACTIV5_STEP_READY) {
        operation_done(session, result);
    } else {
        activ5_discovery_done(session, result);
    }
    activ5_pump(session);
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    tendon_activ5_session *session = context;
    session->now = now;
    for (unsigned which = 1; which < TENDON_ACTIV5_CHARACTERISTIC_COUNT; which++) {
        if (session->handles[which] == value->handle) {
            tendon_activ5_device_value(session->device, (tendon_activ5_characteristic)which, value->value,
                                       value->length, now);
            return;
        }
    }
}

static tendon_status start(tendon_activ5_session *session) {
    const tendon_activ5_operation *operation = &session->queue[session->first];
    uint16_t handle = session->handles[operation->characteristic];
    switch (operation->kind) {
    case TENDON_ACTIV5_REQUEST_SUBSCRIBE:
        return tendon_gatt_subscribe(session->client, handle, session->cccds[operation->characteristic], false,
                                     on_value, session, activ5_done, session, session->now);
    case TENDON_ACTIV5_REQUEST_UNSUBSCRIBE:
        return tendon_gatt_unsubscribe(session->client, handle, activ5_done, session, session->now);
    case TENDON_ACTIV5_REQUEST_READ:
        return tendon_gatt_read_long(session->client, handle, 0, session->scratch.value, sizeof session->scratch.value,
                                     activ5_done, session, session->now);
    default: /* the bytes stay in the queue until the response */
        return tendon_gatt_write(session->client, handle, operation->value, operation->length, activ5_done, session,
                                 session->now);
    }
}

void activ5_pump(tendon_activ5_session *session) {
    if (session->client == NULL || session->busy || session->disconnecting) {
        return;
    }
    if (session->step != ACTIV5_STEP_READY) {
        activ5_discovery_pump(session);
    } else if (session->waiting > 0) {
        activ5_starting(session);
        activ5_started(session, start(session));
    }
}

void activ5_fail(tendon_activ5_session *session, tendon_status status) {
    session->reason = status;
    session->disconnecting = true;
    session->link.disconnect(session->link.context);
}

/* ---- requests of the device ---- */

static void reset(tendon_activ5_session *session) {
    session->step = ACTIV5_STEP_IDLE;
    session->busy = session->starting = session->unstamped = session->disconnecting = session->is_new = false;
    session->request = 0;
    session->reason = TENDON_OK;
    session->first = session->waiting = session->found_count = session->index = 0;
    session->deadline = UINT64_MAX;
    memset(session->handles, 0, sizeof session->handles);
    memset(session->cccds, 0, sizeof session->cccds);
}

static tendon_status enqueue(tendon_activ5_session *session, const tendon_activ5_request *request) {
    if (session->client == NULL || session->disconnecting) {
        return TENDON_ERROR_DISCONNECTED;
    }
    if (session->waiting == TENDON_ACTIV5_QUEUE_SIZE) {
        return TENDON_GATT_ERROR_QUEUE_FULL;
    }
    tendon_activ5_operation *operation =
        &session->queue[(session->first + (unsigned)session->waiting) % TENDON_ACTIV5_QUEUE_SIZE];
    if (request->length > sizeof operation->value) {
        return TENDON_ERROR_NO_ROOM;
    }
    operation->kind = (uint8_t)request->kind;
    operation->characteristic = (uint8_t)request->characteristic;
    operation->length = (uint8_t)request->length;
    if (request->length > 0) {
        memcpy(operation->value, request->value, request->length);
    }
    session->waiting++;
    activ5_pump(session);
    return TENDON_OK;
}

static tendon_status on_request(void *context, const tendon_activ5_request *request, uint64_t now) {
    tendon_activ5_session *session = context;
    session->now = now;
    switch (request->kind) {
    case TENDON_ACTIV5_REQUEST_CONNECT:
        reset(session);
        return session->link.connect(session->link.context);
    case TENDON_ACTIV5_REQUEST_DISCONNECT:
        session->disconnecting = true;
        session->link.disconnect(session->link.context);
        return TENDON_OK;
    case TENDON_ACTIV5_REQUEST_DISCOVER:
        session->step = ACTIV5_STEP_MTU;
        session->deadline = now + TENDON_ACTIV5_DISCOVERY_TIMEOUT_MS;
        activ5_pump(session);
        return TENDON_OK;
    default:
        return enqueue(session, request);
    }
}

/* ---- inputs from the link ---- */

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_activ5_session *session = context;
    session->now = now;
    if (session->device != NULL) {
        session->client = client;
        tendon_activ5_device_link_up(session->device, now);
    }
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    tendon_activ5_session *session = context;
    tendon_activ5_device *device = session->device;
    if (device == NULL) {
        return;
    }
    bool was_up = session->client != NULL;
    reason = session->reason < 0 ? session->reason : reason;
    session->now = now;
    session->client = NULL;
    reset(session);
    if (session->saved_request != NULL) {
        device->on_request = session->saved_request;
        device->request_context = session->saved_context;
        session->device = NULL; /* from here on the session may be used for another device */
    }
    if (was_up) {
        tendon_activ5_device_link_down(device, reason, now);
    } else {
        tendon_activ5_device_link_failed(device, reason, now);
    }
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    tendon_activ5_session *session = context; /* never asked for */
    (void)status;
    session->now = now;
}

static void on_tick(void *context, uint64_t now) {
    tendon_activ5_session *session = context;
    session->now = now;
    if (session->unstamped) {
        session->unstamped = false;
        if (session->busy && session->client != NULL) {
            (void)tendon_gatt_client_set_deadline(session->client, session->request,
                                                  now + TENDON_ACTIV5_OPERATION_TIMEOUT_MS);
        }
    }
    if (now >= session->deadline) {
        session->deadline = UINT64_MAX;
        activ5_fail(session, TENDON_ERROR_TIMEOUT);
    }
    if (session->device != NULL) {
        tendon_activ5_device_tick(session->device, now);
    }
}

static uint64_t deadline_of(const void *context) {
    const tendon_activ5_session *session = context;
    if (session->unstamped) {
        return session->now;
    }
    uint64_t deadline = session->device != NULL ? tendon_activ5_device_deadline(session->device) : UINT64_MAX;
    return session->deadline < deadline ? session->deadline : deadline;
}

const tendon_session_inputs tendon_activ5_session_inputs = {
    .connected = on_connected,
    .disconnected = on_disconnected,
    .paired = on_paired,
    .tick = on_tick,
    .deadline = deadline_of,
};

tendon_status tendon_activ5_session_init(tendon_activ5_session *session, const tendon_session_link *link,
                                         tendon_activ5_device *device) {
    if (link->connect == NULL || link->disconnect == NULL || device->link >= TENDON_ACTIV5_LINK_UP) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    memset(session, 0, sizeof *session);
    session->link = *link;
    session->device = device;
    reset(session);
    session->saved_request = device->on_request;
    session->saved_context = device->request_context;
    device->on_request = on_request;
    device->request_context = session;
    return TENDON_OK;
}
