/* SPDX-License-Identifier: MIT */
/* A device's requests, one at a time, over GATT. */
#include "../rows.h"
#include "tendon/devices/activ5_session.h"

#include <string.h>

/* The job of the engine: the first operation of the queue. */
enum { FIRST = 1 };

/* Index of service F0F0 in the table of discovered characteristics: that of the unknown characteristic. */
enum { NEW_SERVICE_ROW = TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN };

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

/* In the order of their handles: that is the order in which they were found. */
static void report_found(tendon_activ5_session *session) {
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
    tendon_activ5_device_discovered(session->device, session->found[NEW_SERVICE_ROW].service != 0, found, count,
                                    session->engine.op.now);
}

/* ---- the queue ---- */

static void took(void *self, size_t row, const uint8_t *value, size_t length) {
    tendon_activ5_session *session = self;
    tendon_activ5_device *device = session->device;
    const tendon_operation *op = &session->engine.op;
    device->received_at = tendon_operation_received_at(op);
    device->interval_us = op->client->bearer->interval_us;
    tendon_activ5_device_value(device, (tendon_activ5_characteristic)row, value, length, op->now);
    device->received_at = 0;
}

static void first_ended(tendon_activ5_session *session, const tendon_gatt_result *result) {
    tendon_activ5_operation operation = session->queue[session->first];
    session->first = (uint8_t)((session->first + 1u) % TENDON_ACTIV5_QUEUE_SIZE);
    session->waiting--;
    const tendon_activ5_request request = {
        .kind = (tendon_activ5_request_kind)operation.kind,
        .device = session->device,
        .characteristic = (tendon_activ5_characteristic)operation.characteristic,
        .value = operation.length > 0 ? operation.value : NULL,
        .length = operation.length,
    };
    if (result->status >= 0 && operation.kind == TENDON_ACTIV5_REQUEST_READ) {
        took(session, operation.characteristic, result->value, result->length);
    }
    tendon_activ5_device_done(session->device, &request, result->status < 0 ? result->status : TENDON_OK,
                              session->engine.op.now);
}

/* Fails the operations that are queued now, in order; operations that handlers add meanwhile stay queued. */
static void fail_queued(tendon_activ5_session *session, tendon_status status) {
    const tendon_gatt_result failed = {.status = status};
    for (unsigned left = session->waiting; left > 0; left--) {
        first_ended(session, &failed);
    }
}

static tendon_status enqueue(tendon_activ5_session *session, const tendon_activ5_request *request) {
    if (!tendon_engine_is_up(&session->engine)) {
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
    tendon_engine_run(&session->engine);
    return TENDON_OK;
}

/* ---- the engine ---- */

static bool next(void *self) {
    tendon_activ5_session *session = self;
    const tendon_activ5_operation *operation = &session->queue[session->first];
    if (session->waiting == 0) {
        return false;
    }
    switch (operation->kind) {
    case TENDON_ACTIV5_REQUEST_SUBSCRIBE:
        tendon_engine_subscribe(&session->engine, FIRST, operation->characteristic);
        break;
    case TENDON_ACTIV5_REQUEST_UNSUBSCRIBE:
        tendon_engine_unsubscribe(&session->engine, FIRST, operation->characteristic);
        break;
    case TENDON_ACTIV5_REQUEST_READ:
        tendon_engine_read(&session->engine, FIRST, operation->characteristic);
        break;
    default: /* the bytes stay in the queue until the response */
        tendon_engine_write(&session->engine, FIRST, operation->characteristic, operation->value, operation->length);
        break;
    }
    return true;
}

static void done(void *self, uint8_t job, const tendon_gatt_result *result) {
    tendon_activ5_session *session = self;
    (void)job;
    if (result->status == TENDON_ERROR_TIMEOUT) {
        /* ATT has one request at a time: the device that left this one open gets none of the others either. */
        fail_queued(session, TENDON_ERROR_TIMEOUT);
    } else {
        first_ended(session, result);
    }
}

static void link_ended(tendon_activ5_session *session, tendon_status reason) {
    tendon_activ5_device *device = session->device;
    uint64_t now = session->engine.op.now;
    fail_queued(session, reason);
    session->first = session->waiting = 0;
    if (session->saved_request != NULL) {
        device->on_request = session->saved_request;
        device->request_context = session->saved_context;
        session->device = NULL; /* from here on the session may be used for another device */
    }
    tendon_activ5_device_link_down(device, reason, now);
}

static void changed(void *self, tendon_engine_state state, tendon_status why) {
    tendon_activ5_session *session = self;
    if (state == TENDON_ENGINE_OPENING) {
        tendon_activ5_device_link_up(session->device, session->engine.op.now);
    } else if (state == TENDON_ENGINE_OPEN) {
        report_found(session);
    } else {
        link_ended(session, why);
    }
}

static const tendon_engine_step opening[] = {
    {TENDON_STEP_MTU, 0, TENDON_STEP_LIMITED}, {TENDON_STEP_DISCOVER, 0, 0}, {TENDON_STEP_OPEN, 0, 0}};

static const tendon_engine_family trainer_family = {
    .rules = {TENDON_ENGINE_RULES, TENDON_ACTIV5_OPERATION_TIMEOUT_MS, TENDON_ACTIV5_VALUE_MAX},
    .opening_ms = TENDON_ACTIV5_DISCOVERY_TIMEOUT_MS,
    .opening = opening,
    .steps = sizeof opening / sizeof opening[0],
    .row_of = tendon_activ5_row,
    .took = took,
    .next = next,
    .done = done,
    .changed = changed};

/* ---- requests of the device ---- */

static tendon_status on_request(void *context, const tendon_activ5_request *request, uint64_t now) {
    tendon_activ5_session *session = context;
    session->engine.op.now = now;
    switch (request->kind) {
    case TENDON_ACTIV5_REQUEST_CONNECT:
        return tendon_engine_connect(&session->engine);
    case TENDON_ACTIV5_REQUEST_DISCONNECT:
        tendon_engine_close(&session->engine, TENDON_OK);
        return TENDON_OK;
    case TENDON_ACTIV5_REQUEST_DISCOVER:
        return TENDON_OK; /* the engine does so, once connected */
    default:
        return enqueue(session, request);
    }
}

static void on_tick(void *context, uint64_t now) {
    tendon_activ5_session *session = context;
    tendon_engine_on_tick(session, now);
    if (session->device != NULL) {
        tendon_activ5_device_tick(session->device, now);
    }
}

static uint64_t deadline_of(const void *context) {
    const tendon_activ5_session *session = context;
    uint64_t deadline = session->device != NULL ? tendon_activ5_device_deadline(session->device) : UINT64_MAX;
    uint64_t opening_ends = tendon_engine_deadline(session);
    return opening_ends < deadline ? opening_ends : deadline;
}

const tendon_session_inputs tendon_activ5_session_inputs = {
    .connected = tendon_engine_on_connected,
    .disconnected = tendon_engine_on_disconnected,
    .paired = tendon_engine_on_paired,
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
    tendon_engine_init(&session->engine, &trainer_family, &session->link, session->found, TENDON_ACTIV5_ROWS,
                       session->value, &session->illegal_inputs);
    tendon_engine_expect(&session->engine); /* a manager's program connects by itself */
    session->saved_request = device->on_request;
    session->saved_context = device->request_context;
    device->on_request = on_request;
    device->request_context = session;
    return TENDON_OK;
}
