/* SPDX-License-Identifier: MIT */
/* A device's requests, one at a time, over GATT. */
#include "tendon/devices/activ5_session.h"

#include <string.h>

enum { STEP_IDLE = 0, STEP_MTU, STEP_PROFILE, STEP_READY };

/* Place of service F0F0 in the table of what was found: that of the unknown characteristic. */
enum { NEW_SERVICE_ROW = TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN };

static void done(void *context, const tendon_gatt_result *result);
static void pump(tendon_activ5_session *session, uint64_t now);

/* ---- operations ---- */

static void starting(tendon_activ5_session *session) {
    session->busy = true;
    session->starting = true;
    session->request = 0;
}

static void started(tendon_activ5_session *session, tendon_status request, uint64_t now) {
    if (!session->starting) {
        return; /* a link in memory answered before the call returned */
    }
    if (request < 0) {
        const tendon_gatt_result refused = {.status = request, .now = now};
        done(session, &refused);
        return;
    }
    session->starting = false;
    session->request = (uint32_t)request;
    (void)tendon_gatt_client_set_deadline(session->client, session->request, now + TENDON_ACTIV5_OPERATION_TIMEOUT_MS);
}

static void fail(tendon_activ5_session *session, tendon_status status) {
    session->reason = status;
    session->disconnecting = true;
    session->deadline = UINT64_MAX;
    session->link.disconnect(session->link.context);
}

/* ---- discovery ---- */

static void profile_done(void *context, tendon_status status, size_t row, uint64_t now) {
    tendon_activ5_session *session = context;
    (void)row;
    if (session->client->closed) {
        return; /* disconnected() says the rest */
    }
    if (status < 0) {
        fail(session, status);
        return;
    }
    session->step = STEP_READY;
    session->deadline = UINT64_MAX;
    /* In the order of their handles: that is the order in which they were found. */
    tendon_activ5_characteristic found[TENDON_ACTIV5_CHARACTERISTIC_COUNT];
    size_t count = 0;
    uint16_t after = 0;
    for (;;) {
        unsigned next = 0;
        for (unsigned which = 1; which < TENDON_ACTIV5_CHARACTERISTIC_COUNT; which++) {
            uint16_t handle = session->found[which].value;
            if (handle > after && (next == 0 || handle < session->found[next].value)) {
                next = which;
            }
        }
        if (next == 0) {
            break;
        }
        after = session->found[next].value;
        found[count] = (tendon_activ5_characteristic)next;
        count++;
    }
    tendon_activ5_device_discovered(session->device, session->found[NEW_SERVICE_ROW].service != 0, found, count, now);
}

static uint8_t row_of(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    (void)context;
    if (row == NEW_SERVICE_ROW) {
        *service = tendon_uuid_from_u16(TENDON_ACTIV5_NEW_SERVICE);
        return 0;
    }
    *characteristic = tendon_uuid_from_u16(tendon_activ5_uuid((tendon_activ5_characteristic)row));
    bool notifies = row == TENDON_ACTIV5_READ || row == TENDON_ACTIV5_FORCE || row == TENDON_ACTIV5_IMU ||
                    row == TENDON_ACTIV5_OLD_FORCE;
    return notifies ? TENDON_PROFILE_ANYWHERE | TENDON_PROFILE_CCCD : TENDON_PROFILE_ANYWHERE;
}

static void find_all(tendon_activ5_session *session, uint64_t now) {
    session->step = STEP_PROFILE;
    tendon_status status = tendon_profile_start(&session->scratch.discovery, session->client, row_of, session->found,
                                                TENDON_ACTIV5_ROWS, profile_done, session, now);
    if (status < 0 && !session->client->closed) {
        fail(session, status);
    }
}

/* ---- the queue ---- */

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
        tendon_activ5_device_value(device, request.characteristic, result->value, result->length, result->now);
    }
    tendon_activ5_device_done(device, &request, result->status < 0 ? result->status : TENDON_OK, result->now);
}

static void done(void *context, const tendon_gatt_result *result) {
    tendon_activ5_session *session = context;
    if (!session->busy || session->client == NULL || (!session->starting && result->request != session->request)) {
        return;
    }
    session->busy = session->starting = false;
    session->request = 0;
    if (session->client->closed) {
        return; /* disconnected() says the rest */
    }
    if (session->step == STEP_READY) {
        operation_done(session, result);
        pump(session, result->now);
    } else if (result->status == TENDON_ERROR_TIMEOUT) {
        fail(session, result->status);
    } else if (!session->disconnecting) {
        find_all(session, result->now); /* a device may refuse the exchange of the MTU; the default serves too */
    }
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    tendon_activ5_session *session = context;
    size_t which = tendon_profile_row_of(session->found, TENDON_ACTIV5_ROWS, value->handle);
    if (which < TENDON_ACTIV5_ROWS && session->device != NULL) {
        tendon_activ5_device_value(session->device, (tendon_activ5_characteristic)which, value->value, value->length,
                                   now);
    }
}

static tendon_status start(tendon_activ5_session *session, uint64_t now) {
    const tendon_activ5_operation *operation = &session->queue[session->first];
    const tendon_profile_found *at = &session->found[operation->characteristic];
    switch (operation->kind) {
    case TENDON_ACTIV5_REQUEST_SUBSCRIBE:
        return tendon_gatt_subscribe(session->client, at->value, at->cccd, false, on_value, session, done, session,
                                     now);
    case TENDON_ACTIV5_REQUEST_UNSUBSCRIBE:
        return tendon_gatt_unsubscribe(session->client, at->value, done, session, now);
    case TENDON_ACTIV5_REQUEST_READ:
        return tendon_gatt_read_long(session->client, at->value, 0, session->scratch.value,
                                     sizeof session->scratch.value, done, session, now);
    default: /* the bytes stay in the queue until the response */
        return tendon_gatt_write(session->client, at->value, operation->value, operation->length, done, session, now);
    }
}

static void pump(tendon_activ5_session *session, uint64_t now) {
    if (session->client != NULL && session->step == STEP_READY && !session->busy && !session->disconnecting &&
        session->waiting > 0) {
        starting(session);
        started(session, start(session, now), now);
    }
}

/* ---- requests of the device ---- */

static void reset(tendon_activ5_session *session) {
    session->step = STEP_IDLE;
    session->busy = session->starting = session->disconnecting = false;
    session->request = 0;
    session->reason = TENDON_OK;
    session->first = session->waiting = 0;
    session->deadline = UINT64_MAX;
    memset(session->found, 0, sizeof session->found);
}

static tendon_status enqueue(tendon_activ5_session *session, const tendon_activ5_request *request, uint64_t now) {
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
    pump(session, now);
    return TENDON_OK;
}

static tendon_status on_request(void *context, const tendon_activ5_request *request, uint64_t now) {
    tendon_activ5_session *session = context;
    switch (request->kind) {
    case TENDON_ACTIV5_REQUEST_CONNECT:
        reset(session);
        return session->link.connect(session->link.context);
    case TENDON_ACTIV5_REQUEST_DISCONNECT:
        session->disconnecting = true;
        session->link.disconnect(session->link.context);
        return TENDON_OK;
    case TENDON_ACTIV5_REQUEST_DISCOVER:
        session->step = STEP_MTU;
        session->deadline = now + TENDON_ACTIV5_DISCOVERY_TIMEOUT_MS;
        starting(session);
        started(session, tendon_gatt_exchange_mtu(session->client, done, session, now), now);
        return TENDON_OK;
    default:
        return enqueue(session, request, now);
    }
}

/* ---- inputs from the link ---- */

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_activ5_session *session = context;
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
    (void)context; /* never asked for */
    (void)status;
    (void)now;
}

static void on_tick(void *context, uint64_t now) {
    tendon_activ5_session *session = context;
    if (now >= session->deadline) {
        if (session->step == STEP_PROFILE) {
            tendon_profile_cancel(&session->scratch.discovery, now);
        }
        fail(session, TENDON_ERROR_TIMEOUT);
    }
    if (session->device != NULL) {
        tendon_activ5_device_tick(session->device, now);
    }
}

static uint64_t deadline_of(const void *context) {
    const tendon_activ5_session *session = context;
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
