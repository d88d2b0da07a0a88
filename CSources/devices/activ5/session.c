/* SPDX-License-Identifier: MIT */
/* A device's requests, one at a time, over GATT. */
#include "../rows.h"
#include "tendon/devices/activ5_session.h"

#include <string.h>

enum { STEP_IDLE = 0, STEP_MTU, STEP_PROFILE, STEP_READY };

/* The outstanding operation: one of the queue, or the MTU exchange. */
enum { ON_AIR = 1 };

/* Index of service F0F0 in the table of discovered characteristics: that of the unknown characteristic. */
enum { NEW_SERVICE_ROW = TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN };

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
    session->op.now = now;
    if (session->op.client->closed) {
        return; /* disconnected() reports the rest */
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

uint8_t tendon_activ5_row(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    (void)context;
    if (row == NEW_SERVICE_ROW) {
        *service = tendon_uuid_from_u16(TENDON_ACTIV5_NEW_SERVICE);
        return 0;
    }
    *characteristic = tendon_uuid_from_u16(tendon_activ5_uuid((tendon_activ5_characteristic)row));
    bool notifies = row == TENDON_ACTIV5_TEXT_OUTPUT || row == TENDON_ACTIV5_FORCE || row == TENDON_ACTIV5_IMU ||
                    row == TENDON_ACTIV5_OLD_FORCE;
    return notifies ? TENDON_PROFILE_ANYWHERE | TENDON_PROFILE_CCCD : TENDON_PROFILE_ANYWHERE;
}

static void find_all(tendon_activ5_session *session) {
    session->step = STEP_PROFILE;
    tendon_operation_discover(&session->op, 0, &session->scratch.discovery, tendon_activ5_row, session->found,
                              TENDON_ACTIV5_ROWS, profile_done);
}

/* ---- the queue ---- */

static void take_value(tendon_activ5_session *session, tendon_activ5_characteristic which, const uint8_t *value,
                       size_t length, uint64_t now) {
    tendon_activ5_device *device = session->device;
    device->received_at = tendon_operation_received_at(&session->op);
    device->interval_us = session->op.client->bearer->interval_us;
    tendon_activ5_device_value(device, which, value, length, now);
    device->received_at = 0;
}

static void first_ended(tendon_activ5_session *session, const tendon_gatt_result *result) {
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
        take_value(session, request.characteristic, result->value, result->length, result->now);
    }
    tendon_activ5_device_done(device, &request, result->status < 0 ? result->status : TENDON_OK, result->now);
}

/* Fails the operations that are queued now, in order; operations that handlers add meanwhile stay queued. */
static void fail_queued(tendon_activ5_session *session, tendon_status status, uint64_t now) {
    const tendon_gatt_result failed = {.status = status, .now = now};
    session->failing = true;
    for (unsigned left = session->waiting; left > 0; left--) {
        first_ended(session, &failed);
    }
    session->failing = false;
}

static void operation_done(tendon_activ5_session *session, const tendon_gatt_result *result) {
    if (result->status == TENDON_ERROR_TIMEOUT) {
        /* ATT has one request at a time: the device that left this one open gets none of the others either. */
        fail_queued(session, TENDON_ERROR_TIMEOUT, result->now);
    } else {
        first_ended(session, result);
    }
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    tendon_activ5_session *session = context;
    size_t which = tendon_profile_row_of(session->found, TENDON_ACTIV5_ROWS, value->handle);
    if (which < TENDON_ACTIV5_ROWS && session->device != NULL) {
        take_value(session, (tendon_activ5_characteristic)which, value->value, value->length, now);
    }
}

static void start(tendon_activ5_session *session, const tendon_activ5_operation *operation) {
    static const uint8_t verbs[] = {
        [TENDON_ACTIV5_REQUEST_UNSUBSCRIBE] = TENDON_OPERATION_UNSUBSCRIBE,
        [TENDON_ACTIV5_REQUEST_READ] = TENDON_OPERATION_READ_LONG,
        [TENDON_ACTIV5_REQUEST_WRITE] = TENDON_OPERATION_WRITE, /* the bytes stay in the queue until the response */
    };
    const tendon_profile_found *at = &session->found[operation->characteristic];
    if (operation->kind == TENDON_ACTIV5_REQUEST_SUBSCRIBE) {
        tendon_operation_subscribe(&session->op, ON_AIR, at, false, on_value);
    } else {
        tendon_operation_start(&session->op, ON_AIR, (tendon_operation_verb)verbs[operation->kind], at->value,
                               operation->value, operation->length);
    }
}

static void pump(tendon_activ5_session *session) {
    if (session->op.client != NULL && session->step == STEP_READY && session->op.kind == 0 && !session->disconnecting &&
        !session->failing && session->waiting > 0) {
        start(session, &session->queue[session->first]);
    }
}

static void done(void *context, const tendon_gatt_result *result) {
    tendon_activ5_session *session = context;
    if (session->op.client == NULL || tendon_operation_ended(&session->op, result) == 0 || session->op.client->closed) {
        return; /* the connection is closed: disconnected() reports the rest */
    }
    if (session->step == STEP_READY) {
        operation_done(session, result);
        pump(session);
    } else if (result->status == TENDON_ERROR_TIMEOUT) {
        fail(session, result->status);
    } else if (!session->disconnecting) {
        find_all(session); /* a device may reject the MTU exchange; the default MTU works as well */
    }
}

static const tendon_operation_rules rules = {done, TENDON_ACTIV5_OPERATION_TIMEOUT_MS, TENDON_ACTIV5_VALUE_MAX};

/* ---- requests of the device ---- */

static void reset(tendon_activ5_session *session) {
    session->step = STEP_IDLE;
    session->disconnecting = false;
    tendon_operation_reset(&session->op);
    session->reason = TENDON_OK;
    session->first = session->waiting = 0;
    session->deadline = UINT64_MAX;
}

static tendon_status enqueue(tendon_activ5_session *session, const tendon_activ5_request *request) {
    if (session->op.client == NULL || session->disconnecting) {
        return TENDON_ERROR_DISCONNECTED;
    }
    if (session->waiting == TENDON_ACTIV5_QUEUE_SIZE) {
        return TENDON_GATT_ERROR_QUEUE_FULL;
    }
    tendon_activ5_operation *operation =
        &session->queue[(session->first + (unsigned)session->waiting) % TENDON_ACTIV5_QUEUE_SIZE];
    if (request->length > sizeof operation->value) {
        return TENDON_ERROR_BUFFER_TOO_SMALL;
    }
    operation->kind = (uint8_t)request->kind;
    operation->characteristic = (uint8_t)request->characteristic;
    operation->length = (uint8_t)request->length;
    if (request->length > 0) {
        memcpy(operation->value, request->value, request->length);
    }
    session->waiting++;
    pump(session);
    return TENDON_OK;
}

static tendon_status on_request(void *context, const tendon_activ5_request *request, uint64_t now) {
    tendon_activ5_session *session = context;
    session->op.now = now;
    switch (request->kind) {
    case TENDON_ACTIV5_REQUEST_CONNECT:
        if (session->op.client != NULL) {
            return TENDON_ERROR_WRONG_STATE; /* the link's own end is still to come: what is queued ends with it */
        }
        reset(session);
        return session->link.connect(session->link.context);
    case TENDON_ACTIV5_REQUEST_DISCONNECT:
        session->disconnecting = true;
        if (session->failing && session->op.client == NULL) {
            return TENDON_OK; /* within disconnected() */
        }
        session->link.disconnect(session->link.context);
        return TENDON_OK;
    case TENDON_ACTIV5_REQUEST_DISCOVER:
        session->step = STEP_MTU;
        session->deadline = now + TENDON_ACTIV5_DISCOVERY_TIMEOUT_MS;
        tendon_operation_start(&session->op, ON_AIR, TENDON_OPERATION_MTU, 0, NULL, 0);
        return TENDON_OK;
    default:
        return enqueue(session, request);
    }
}

/* ---- inputs from the connection ---- */

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_activ5_session *session = context;
    if (session->device != NULL) {
        session->op.client = client;
        tendon_activ5_device_link_up(session->device, now);
    }
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    tendon_activ5_session *session = context;
    tendon_activ5_device *device = session->device;
    if (device == NULL) {
        return;
    }
    bool was_up = session->op.client != NULL;
    reason = session->reason < 0 ? session->reason : reason;
    if (session->step == STEP_PROFILE) {
        tendon_profile_cancel(&session->scratch.discovery, now);
    }
    session->op.client = NULL;
    fail_queued(session, reason, now);
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
    (void)context; /* never requested */
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
    session->op.rules = &rules;
    session->op.context = session;
    session->op.buffer = session->scratch.value;
    reset(session);
    session->saved_request = device->on_request;
    session->saved_context = device->request_context;
    device->on_request = on_request;
    device->request_context = session;
    return TENDON_OK;
}
