/* SPDX-License-Identifier: MIT */
#include "tendon/definition/session.h"

#include <string.h>

/* Steps of the opening, in this order; IDLE: open. */
enum { AWAY = 0, EXCHANGING, DISCOVERING, SUBSCRIBING, READING, STARTING, IDLE };
/* Kinds of operations. */
enum { OP_MTU = 1, OP_DISCOVER, OP_SUBSCRIBE, OP_READ, OP_WRITE };
enum { NUMBER_MAX = 0x3FFFFFFF, WRITE_HEADER = 3 /* of a Write Request (Vol 3 Part F 3.4.5.1) */ };

static void emit(tendon_defined_session *s, const tendon_defined_event *event) {
    s->on_event(s->context, event, s->op.now);
}

static void emit_value(tendon_defined_session *s, size_t row, const uint8_t *bytes, size_t length, bool is_read) {
    emit(s, &(tendon_defined_event){.kind = TENDON_DEFINED_EVENT_VALUE,
                                    .row = (uint8_t)row,
                                    .is_read = is_read,
                                    .bytes = bytes,
                                    .length = length,
                                    .received_at = tendon_operation_received_at(&s->op)});
}

static void fail(tendon_defined_session *s, tendon_status status) {
    s->failure = status;
    s->link.disconnect(s->link.context);
}

static const tendon_definition_row *row_at(const tendon_defined_session *s, size_t row) {
    return &s->definition->rows[row];
}

bool tendon_defined_session_has(const tendon_defined_session *session, size_t row) {
    return row < session->definition->row_count && session->found[row].value != 0;
}

/* A row refused an operation. A required one is what makes the device. */
static void refused(tendon_defined_session *s, size_t row, tendon_status status) {
    emit(s, &(tendon_defined_event){.kind = TENDON_DEFINED_EVENT_REFUSED, .row = (uint8_t)row, .status = status});
    if ((row_at(s, row)->flags & TENDON_ROW_REQUIRED) != 0 && s->op.client != NULL) {
        fail(s, status);
    }
}

/* The profile */

static uint8_t row_of(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    const tendon_defined_session *s = context;
    const tendon_definition_row *one = row_at(s, row);
    *service = one->service;
    *characteristic = one->uuid;
    uint8_t flags = one->notified != TENDON_DEFINITION_NONE ? TENDON_PROFILE_CCCD : 0;
    return (uint8_t)(flags | ((one->flags & TENDON_ROW_REQUIRED) != 0 ? TENDON_PROFILE_REQUIRED : 0));
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    tendon_defined_session *s = context;
    s->op.now = now;
    size_t row = tendon_profile_row_of(s->found, s->definition->row_count, value->handle);
    if (row < s->definition->row_count) {
        emit_value(s, row, value->value, value->length, false);
    }
}

/* What comes next */

static void written(tendon_defined_session *s, tendon_status status) {
    const tendon_defined_write write = s->writes[s->first];
    s->first = (uint8_t)((s->first + 1) % TENDON_DEFINED_WRITES);
    s->count--;
    if (!write.is_start) {
        emit(s,
             &(tendon_defined_event){.kind = TENDON_DEFINED_EVENT_WRITTEN, .number = write.number, .status = status});
    } else if (status < 0) {
        refused(s, write.row, status);
    }
}

/* A characteristic that takes Write Commands only has no response to wait for. False: the write has ended. */
static bool write_first(tendon_defined_session *s) {
    const tendon_defined_write *write = &s->writes[s->first];
    const tendon_gatt_handles *found = &s->found[write->row];
    if ((found->properties & (TENDON_GATT_WRITE | TENDON_GATT_WRITE_WITHOUT_RESPONSE)) ==
        TENDON_GATT_WRITE_WITHOUT_RESPONSE) {
        written(s, tendon_gatt_write_command(s->op.client, found->value, write->bytes, write->length));
        return false;
    }
    bool is_long = write->length > s->op.client->bearer->mtu - WRITE_HEADER;
    tendon_operation_start(&s->op, OP_WRITE, is_long ? TENDON_OPERATION_WRITE_LONG : TENDON_OPERATION_WRITE,
                           found->value, write->bytes, write->length);
    return true;
}

static bool wants_subscription(const tendon_defined_session *s, size_t row) {
    return row_at(s, row)->notified != TENDON_DEFINITION_NONE && s->found[row].cccd != 0 &&
           (s->found[row].properties & (TENDON_GATT_NOTIFY | TENDON_GATT_INDICATE)) != 0;
}

static bool wants_reading(const tendon_defined_session *s, size_t row) {
    return row_at(s, row)->read != TENDON_DEFINITION_NONE && s->found[row].value != 0 &&
           (s->found[row].properties & TENDON_GATT_READ) != 0;
}

/* Starts the operation of the next row of a step; false: there is none. */
static bool start_row(tendon_defined_session *s, bool (*wants)(const tendon_defined_session *s, size_t row),
                      uint8_t op) {
    while (s->row < s->definition->row_count && !wants(s, s->row)) {
        s->row++;
    }
    if (s->row == s->definition->row_count) {
        s->row = 0;
        return false;
    }
    const tendon_gatt_handles *found = &s->found[s->row];
    if (op == OP_SUBSCRIBE) {
        tendon_operation_subscribe(&s->op, op, found, (found->properties & TENDON_GATT_NOTIFY) == 0, on_value);
    } else {
        tendon_operation_start(&s->op, op, TENDON_OPERATION_READ_LONG, found->value, NULL, 0);
    }
    return true;
}

static void enqueue(tendon_defined_session *s, size_t action, bool is_start, const uint8_t *bytes, size_t length) {
    tendon_defined_write *write = &s->writes[(s->first + s->count++) % TENDON_DEFINED_WRITES];
    s->next_number = s->next_number == NUMBER_MAX ? 1 : s->next_number + 1;
    *write = (tendon_defined_write){.row = (uint8_t)s->definition->actions[action].row,
                                    .length = (uint8_t)length,
                                    .is_start = is_start,
                                    .number = s->next_number};
    memcpy(write->bytes, bytes, length);
}

/* Queues the next action of the start whose row the device has; false: there is none. */
static bool queue_start(tendon_defined_session *s) {
    const tendon_definition *d = s->definition;
    for (; s->row < d->action_count; s->row++) {
        const tendon_definition_action *action = &d->actions[s->row];
        uint8_t bytes[TENDON_DEFINITION_VALUE];
        size_t wrong = 0;
        if (!action->at_start || !tendon_defined_session_has(s, action->row)) {
            continue;
        }
        tendon_status length = tendon_action_encode(d, s->row, NULL, 0, bytes, &wrong);
        if (length >= 0) {
            enqueue(s, s->row++, true, bytes, (size_t)length);
            return true;
        }
    }
    return false;
}

/* Starts what is next in the present step; false: the step has nothing more to do. */
static bool go_on_step(tendon_defined_session *s) {
    switch (s->step) {
    case SUBSCRIBING:
        return start_row(s, wants_subscription, OP_SUBSCRIBE);
    case READING:
        return start_row(s, wants_reading, OP_READ);
    default:
        if (s->count == 0 && (s->step != STARTING || !queue_start(s))) {
            return false;
        }
        (void)write_first(s);
        return true;
    }
}

/* Until an operation is outstanding, or nothing is left to do. An event may end the connection. */
static void go_on(tendon_defined_session *s) {
    while (s->op.client != NULL && s->op.kind == 0 && s->step >= SUBSCRIBING && s->failure == TENDON_OK) {
        if (go_on_step(s)) {
            continue;
        }
        if (s->step == IDLE) {
            return;
        }
        s->step++;
        if (s->step == IDLE) {
            emit(s, &(tendon_defined_event){.kind = TENDON_DEFINED_EVENT_OPEN});
        }
    }
}

/* Results */

static void discovered(void *context, tendon_status status, size_t row, uint64_t now) {
    tendon_defined_session *s = context;
    s->op.now = now;
    tendon_operation_reset(&s->op);
    if (s->op.client == NULL) {
        return; /* disconnected() follows */
    }
    if (status < 0) {
        if (status == TENDON_ERROR_NOT_FOUND) {
            emit(s,
                 &(tendon_defined_event){.kind = TENDON_DEFINED_EVENT_REFUSED, .row = (uint8_t)row, .status = status});
        }
        fail(s, status);
        return;
    }
    s->step = SUBSCRIBING;
    s->row = 0;
    go_on(s);
}

static void discover(tendon_defined_session *s) {
    s->step = DISCOVERING;
    tendon_operation_discover(&s->op, OP_DISCOVER, &s->discovery, row_of, s->found, s->definition->row_count,
                              discovered);
}

static void done(void *context, const tendon_gatt_result *result) {
    tendon_defined_session *s = context;
    if (s->op.client == NULL) {
        return;
    }
    uint8_t kind = tendon_operation_ended(&s->op, result);
    size_t row = s->row;
    switch (kind) {
    case OP_SUBSCRIBE:
    case OP_READ:
        s->row++;
        if (result->status < 0) {
            refused(s, row, result->status);
        } else if (kind == OP_READ) {
            emit_value(s, row, result->value, result->length, true);
        }
        break;
    case OP_WRITE:
        written(s, result->status);
        break;
    case OP_MTU:
        discover(s);
        return; /* a device without that request has the smallest MTU */
    default:
        break;
    }
    go_on(s);
}

/* Inputs */

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_defined_session *s = context;
    s->op.client = client;
    s->op.now = now;
    s->failure = TENDON_OK;
    s->step = EXCHANGING;
    s->first = s->count = 0;
    tendon_operation_reset(&s->op);
    tendon_operation_start(&s->op, OP_MTU, TENDON_OPERATION_MTU, 0, NULL, 0);
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    tendon_defined_session *s = context;
    s->op.client = NULL;
    s->op.now = now;
    s->step = AWAY;
    s->count = 0;
    tendon_operation_reset(&s->op);
    emit(s,
         &(tendon_defined_event){.kind = TENDON_DEFINED_EVENT_CLOSED, .status = s->failure < 0 ? s->failure : reason});
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)status;
    (void)now;
}

static void on_tick(void *context, uint64_t now) {
    ((tendon_defined_session *)context)->op.now = now;
}

static uint64_t deadline(const void *context) {
    (void)context;
    return UINT64_MAX; /* each operation has the limit of ATT */
}

const tendon_session_inputs tendon_defined_inputs = {.connected = on_connected,
                                                     .disconnected = on_disconnected,
                                                     .paired = on_paired,
                                                     .tick = on_tick,
                                                     .deadline = deadline};

static const tendon_operation_rules rules = {.done = done, .capacity = 512};

void tendon_defined_session_init(tendon_defined_session *session, const tendon_definition *definition,
                                 tendon_session_link link, void *context, tendon_defined_on_event on_event) {
    memset(session, 0, sizeof *session);
    session->definition = definition;
    session->link = link;
    session->context = context;
    session->on_event = on_event;
    session->op.rules = &rules;
    session->op.context = session;
    session->op.buffer = session->buffer;
}

tendon_status tendon_defined_session_write(tendon_defined_session *session, size_t action, const uint8_t *bytes,
                                           size_t length, uint64_t now) {
    session->op.now = now;
    if (session->step != IDLE || session->op.client == NULL) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (length > TENDON_DEFINITION_VALUE) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (!tendon_defined_session_has(session, session->definition->actions[action].row)) {
        return TENDON_ERROR_NOT_FOUND;
    }
    if (session->count == TENDON_DEFINED_WRITES) {
        return TENDON_ERROR_TABLE_FULL;
    }
    enqueue(session, action, false, bytes, length);
    tendon_status number = (tendon_status)session->next_number;
    go_on(session);
    return number;
}

tendon_status tendon_defined_session_act(tendon_defined_session *session, size_t action,
                                         const tendon_argument *arguments, size_t count, size_t *wrong, uint64_t now) {
    uint8_t bytes[TENDON_DEFINITION_VALUE];
    if (session->step != IDLE || session->op.client == NULL) {
        return TENDON_ERROR_WRONG_STATE;
    }
    tendon_status length = tendon_action_encode(session->definition, action, arguments, count, bytes, wrong);
    return length < 0 ? length : tendon_defined_session_write(session, action, bytes, (size_t)length, now);
}
