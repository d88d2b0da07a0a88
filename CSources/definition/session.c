/* SPDX-License-Identifier: MIT */
#include "tendon/definition/session.h"

#include <string.h>

/* Jobs: two that the opening starts for each row that needs them, in this order; a write; a row that is read again. */
enum { JOB_SUBSCRIBE = 1, JOB_READ, JOB_WRITE, JOB_READ_AGAIN };
enum { NUMBER_MAX = 0x3FFFFFFF };
_Static_assert(TENDON_DEFINITION_ROWS <= 32, "a row has no bit in unread");

static void emit(tendon_defined_session *s, const tendon_defined_event *event) {
    s->on_event(s->context, event, s->engine.op.now);
}

static const tendon_definition_row *row_at(const tendon_defined_session *s, size_t row) {
    return &s->definition->rows[row];
}

bool tendon_defined_session_has(const tendon_defined_session *session, size_t row) {
    return row < session->definition->row_count && session->found[row].value != 0;
}

/* @param of the row, or the number of a write. */
static void emit_status(tendon_defined_session *s, tendon_defined_event_kind kind, uint32_t of, tendon_status status) {
    emit(s, &(tendon_defined_event){.kind = kind, .row = (uint8_t)of, .number = of, .status = status});
}

static void emit_refused(tendon_defined_session *s, size_t row, tendon_status status) {
    emit_status(s, TENDON_DEFINED_EVENT_REFUSED, (uint32_t)row, status);
}

/* A row refused an operation of the opening. A required one is what makes the device. */
static void refused(tendon_defined_session *s, size_t row, tendon_status status) {
    emit_refused(s, row, status);
    if ((row_at(s, row)->flags & TENDON_ROW_REQUIRED) != 0) {
        tendon_engine_close(&s->engine, status);
    }
}

static uint8_t row_of(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    const tendon_defined_session *s = context;
    const tendon_definition_row *one = row_at(s, row);
    *service = one->service;
    *characteristic = one->uuid;
    uint8_t flags = one->notified != TENDON_DEFINITION_NONE ? TENDON_PROFILE_CCCD : 0;
    return (uint8_t)(flags | ((one->flags & TENDON_ROW_REQUIRED) != 0 ? TENDON_PROFILE_REQUIRED : 0));
}

/* ---- what comes next ---- */

static void written(tendon_defined_session *s, tendon_status status) {
    const tendon_defined_write write = s->writes[s->first];
    s->first = (uint8_t)((s->first + 1) % TENDON_DEFINED_WRITES);
    s->count--;
    if (!write.is_start) {
        emit_status(s, TENDON_DEFINED_EVENT_WRITTEN, write.number, status);
    } else if (status < 0) {
        refused(s, write.row, status);
    }
}

/* A characteristic that takes Write Commands only has no response to wait for. */
static void write_first(tendon_defined_session *s) {
    const tendon_defined_write *write = &s->writes[s->first];
    const tendon_gatt_handles *found = &s->found[write->row];
    if ((found->properties & (TENDON_GATT_WRITE | TENDON_GATT_WRITE_WITHOUT_RESPONSE)) ==
        TENDON_GATT_WRITE_WITHOUT_RESPONSE) {
        written(s, tendon_gatt_write_command(s->engine.op.client, found->value, write->bytes, write->length));
    } else {
        tendon_engine_write(&s->engine, JOB_WRITE, write->row, write->bytes, write->length);
    }
}

/* By what the device says of a characteristic. Only of one that the file has notified, a CCCD is known. */
static bool can_notify(const tendon_gatt_handles *found) {
    return found->cccd != 0 && (found->properties & (TENDON_GATT_NOTIFY | TENDON_GATT_INDICATE)) != 0;
}

/* Of a row that is read again, the pause begins with the request: a device that is slow is not asked more often. */
static void read_row(tendon_defined_session *s, uint8_t job, size_t row) {
    uint32_t pause = row_at(s, row)->read_every_ms;
    s->due[row] = pause != 0 ? s->engine.op.now + pause : UINT64_MAX;
    tendon_engine_read(&s->engine, job, row);
}

/* Starts what the next row of the opening needs; false: nothing is left. */
static bool start_row(tendon_defined_session *s) {
    for (; s->job < JOB_WRITE; s->job++, s->row = 0) {
        while (s->row < s->definition->row_count) {
            size_t row = s->row++;
            const tendon_definition_row *one = row_at(s, row);
            const tendon_gatt_handles *found = &s->found[row];
            if (s->job == JOB_SUBSCRIBE) {
                if (can_notify(found)) {
                    tendon_engine_subscribe(&s->engine, JOB_SUBSCRIBE, row);
                    return true;
                }
            } else if (one->read != TENDON_DEFINITION_NONE && (found->properties & TENDON_GATT_READ) != 0) {
                read_row(s, JOB_READ, row);
                return true;
            } else if ((one->read & one->notified) != TENDON_DEFINITION_NONE && found->value != 0 &&
                       !can_notify(found)) {
                refused(s, row, TENDON_ERROR_UNSUPPORTED);
                return true;
            }
        }
    }
    return false;
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

/* Queues the next action of the start whose row the device has. */
static void queue_start(tendon_defined_session *s) {
    const tendon_definition *d = s->definition;
    while (s->count == 0 && s->row < d->action_count) {
        size_t action = s->row++, wrong = 0;
        uint8_t bytes[TENDON_DEFINITION_VALUE];
        if (d->actions[action].at_start && tendon_defined_session_has(s, d->actions[action].row)) {
            tendon_status length = tendon_action_encode(d, action, NULL, 0, bytes, &wrong);
            if (length >= 0) {
                enqueue(s, action, true, bytes, (size_t)length);
            }
        }
    }
}

/* The row that is read again next. */
static size_t next_reading(const tendon_defined_session *s) {
    size_t next = 0;
    for (size_t row = 1; row < s->definition->row_count; row++) {
        next = s->due[row] < s->due[next] ? row : next;
    }
    return next;
}

static bool read_again(tendon_defined_session *s) {
    size_t row = next_reading(s);
    if (s->due[row] > s->engine.op.now) {
        return false;
    }
    read_row(s, JOB_READ_AGAIN, row);
    return true;
}

static bool next(void *self) {
    tendon_defined_session *s = self;
    if (start_row(s)) {
        return true;
    }
    if (s->engine.state == TENDON_ENGINE_OPENING) {
        queue_start(s);
    }
    if (s->count != 0) {
        write_first(s);
        return true;
    }
    return s->engine.state == TENDON_ENGINE_OPEN && read_again(s);
}

/* ---- results ---- */

static void emit_value(tendon_defined_session *s, size_t row, const uint8_t *bytes, size_t length, bool is_read) {
    emit(s, &(tendon_defined_event){.kind = TENDON_DEFINED_EVENT_VALUE,
                                    .row = (uint8_t)row,
                                    .is_read = is_read,
                                    .bytes = bytes,
                                    .length = length,
                                    .received_at = tendon_operation_received_at(&s->engine.op)});
}

static void took(void *self, size_t row, const uint8_t *value, size_t length) {
    emit_value(self, row, value, length, false);
}

/* Of the opening, only the discovery can fail. */
static tendon_status judge(void *self, tendon_engine_verb verb, tendon_status status) {
    tendon_defined_session *s = self;
    if (status == TENDON_ERROR_NOT_FOUND) {
        bool is_there = s->found[s->engine.row].value != 0; /* without what its use needs */
        refused(s, s->engine.row, is_there ? TENDON_ERROR_UNSUPPORTED : status);
    }
    return verb == TENDON_STEP_DISCOVER ? status : TENDON_OK;
}

static void done(void *self, uint8_t job, const tendon_gatt_result *result) {
    tendon_defined_session *s = self;
    size_t row = s->engine.row;
    uint32_t before = s->unread, bit = UINT32_C(1) << row;
    if (job == JOB_WRITE) {
        written(s, result->status);
    } else if (result->status >= 0) {
        s->unread = before & ~bit;
        if (job != JOB_SUBSCRIBE) {
            emit_value(s, row, result->value, result->length, true);
        }
    } else if (job != JOB_READ_AGAIN) {
        refused(s, row, result->status);
    } else if ((before & bit) == 0) { /* the first failure in a row; the next reading may succeed */
        s->unread = before | bit;
        emit_refused(s, row, result->status);
    }
}

static void changed(void *self, tendon_engine_state state, tendon_status why) {
    tendon_defined_session *s = self;
    s->row = s->first = s->count = 0;
    s->job = JOB_SUBSCRIBE;
    if (state == TENDON_ENGINE_OPEN) {
        s->job = JOB_WRITE;
        emit_status(s, TENDON_DEFINED_EVENT_OPEN, 0, TENDON_OK);
        return;
    }
    s->unread = 0;
    memset(s->due, 0xFF, sizeof s->due);
    if (state == TENDON_ENGINE_AWAY) {
        tendon_engine_expect(&s->engine);
        emit_status(s, TENDON_DEFINED_EVENT_CLOSED, 0, why);
    }
}

static const tendon_engine_step opening[] = {
    {TENDON_STEP_MTU, 0, 0}, {TENDON_STEP_DISCOVER, 0, 0}, {TENDON_STEP_WRITE, 0, 0}, {TENDON_STEP_OPEN, 0, 0}};

/* Without limits: each operation has the limit of ATT. */
static const tendon_engine_family defined_family = {.rules = {TENDON_ENGINE_RULES, .capacity = 512},
                                                    .opening = opening,
                                                    .steps = sizeof opening / sizeof opening[0],
                                                    .row_of = row_of,
                                                    .took = took,
                                                    .judge = judge,
                                                    .next = next,
                                                    .done = done,
                                                    .changed = changed};

static void on_tick(void *session, uint64_t now) {
    tendon_engine_on_tick(session, now);
    tendon_engine_run(session);
}

/* What is outstanding comes before the next reading. */
static uint64_t deadline(const void *session) {
    const tendon_defined_session *s = session;
    return tendon_engine_is_idle(&s->engine) ? s->due[next_reading(s)] : tendon_engine_deadline(session);
}

const tendon_session_inputs tendon_defined_inputs = {.connected = tendon_engine_on_connected,
                                                     .disconnected = tendon_engine_on_disconnected,
                                                     .paired = tendon_engine_on_paired,
                                                     .tick = on_tick,
                                                     .deadline = deadline};

void tendon_defined_session_init(tendon_defined_session *session, const tendon_definition *definition,
                                 tendon_session_link link, void *context, tendon_defined_on_event on_event) {
    memset(session, 0, sizeof *session);
    session->definition = definition;
    session->link = link;
    session->context = context;
    session->on_event = on_event;
    tendon_engine_init(&session->engine, &defined_family, &session->link, session->found, definition->row_count,
                       session->buffer, &session->illegal_inputs);
    tendon_engine_expect(&session->engine);
}

tendon_status tendon_defined_session_write(tendon_defined_session *session, size_t action, const uint8_t *bytes,
                                           size_t length, uint64_t now) {
    session->engine.op.now = now;
    if (session->engine.state != TENDON_ENGINE_OPEN) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (length > TENDON_DEFINITION_VALUE) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (action >= session->definition->action_count ||
        !tendon_defined_session_has(session, session->definition->actions[action].row)) {
        return TENDON_ERROR_NOT_FOUND;
    }
    if (session->count == TENDON_DEFINED_WRITES) {
        return TENDON_ERROR_TABLE_FULL;
    }
    enqueue(session, action, false, bytes, length);
    tendon_status number = (tendon_status)session->next_number;
    tendon_engine_run(&session->engine);
    return number;
}
