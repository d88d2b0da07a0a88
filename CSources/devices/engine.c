/* SPDX-License-Identifier: MIT */
#include "tendon/devices/engine.h"

#include <string.h>

enum { STEP = 0x7F /* the job of an operation of the opening */ };

static bool has_next(tendon_engine *engine) {
    return engine->family->next != NULL && engine->family->next(engine);
}

static const tendon_engine_step *step_of(const tendon_engine *engine) {
    return &engine->family->opening[engine->step];
}

bool tendon_engine_is_up(const tendon_engine *engine) {
    return engine->state == TENDON_ENGINE_OPENING || engine->state == TENDON_ENGINE_OPEN;
}

/* A function of the family has returned. What it queued is started when the outermost one has. */
static void leave(tendon_engine *engine) {
    engine->depth--;
    tendon_engine_run(engine);
}

/* ---- what a step, or the family, starts ---- */

static void start(tendon_engine *engine, uint8_t job, tendon_operation_verb verb, size_t row, const uint8_t *bytes,
                  size_t length) {
    engine->row = (uint8_t)row;
    tendon_operation_start(&engine->op, job, verb, engine->op.found[row].value, bytes, length);
}

void tendon_engine_read(tendon_engine *engine, uint8_t job, size_t row) {
    start(engine, job, TENDON_OPERATION_READ_LONG, row, NULL, 0);
}

void tendon_engine_unsubscribe(tendon_engine *engine, uint8_t job, size_t row) {
    start(engine, job, TENDON_OPERATION_UNSUBSCRIBE, row, NULL, 0);
}

void tendon_engine_write(tendon_engine *engine, uint8_t job, size_t row, const uint8_t *bytes, size_t length) {
    start(engine, job, TENDON_OPERATION_WRITE, row, bytes, length);
}

void tendon_engine_on_value(void *session, const tendon_gatt_value *value, uint64_t now) {
    tendon_engine *engine = session;
    size_t row = tendon_profile_row_of(engine->op.found, engine->op.count, value->handle);
    engine->op.now = now;
    if (row < engine->op.count && tendon_engine_is_up(engine)) {
        engine->depth++;
        engine->family->took(engine, row, value->value, value->length);
        leave(engine);
    }
}

void tendon_engine_subscribe(tendon_engine *engine, uint8_t job, size_t row) {
    const tendon_profile_found *found = &engine->op.found[row];
    unsigned kinds = found->properties & (TENDON_GATT_NOTIFY | TENDON_GATT_INDICATE);
    engine->row = (uint8_t)row;
    tendon_operation_subscribe(&engine->op, job, found, kinds == TENDON_GATT_INDICATE);
}

/* ---- the opening ---- */

static void step_ended(tendon_engine *engine, tendon_engine_verb verb, tendon_status status);

static void end_pairing(tendon_engine *engine) {
    if (engine->pairing) {
        engine->pairing = false;
        engine->deadline += engine->op.now;
    }
}

static void pair(tendon_engine *engine) {
    const tendon_session_link *link = engine->link;
    engine->pairing = true;
    engine->deadline -= engine->op.now; /* it rests: a user may have to confirm the pairing */
    tendon_status status = link->pair != NULL ? link->pair(link->context) : TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    if (status < 0) {
        end_pairing(engine);
        step_ended(engine, TENDON_STEP_PAIR, status);
    }
}

static void step_ended(tendon_engine *engine, tendon_engine_verb verb, tendon_status status) {
    const tendon_engine_family *family = engine->family;
    tendon_status verdict = verb == TENDON_STEP_MTU && status != TENDON_ERROR_TIMEOUT ? TENDON_OK : status;
    if (family->judge != NULL) {
        verdict = family->judge(engine, verb, verdict);
    }
    if (verdict == TENDON_ENGINE_WAIT) {
        return;
    }
    end_pairing(engine);
    if (verdict < 0) {
        tendon_engine_close(engine, verdict);
    } else if (tendon_engine_is_up(engine) && verdict == TENDON_ENGINE_PAIR) {
        pair(engine);
    } else if (verb == step_of(engine)->verb) { /* otherwise it is done again, on the paired connection */
        engine->step = (uint8_t)(engine->step + 1 + verdict);
    }
}

void tendon_engine_on_discovered(void *session, tendon_status status, size_t row, uint64_t now) {
    tendon_engine *engine = session;
    engine->op.now = now;
    engine->row = (uint8_t)row;
    tendon_operation_reset(&engine->op);
    if (tendon_engine_is_up(engine) && !engine->op.client->closed) {
        engine->depth++;
        step_ended(engine, TENDON_STEP_DISCOVER, status);
        leave(engine);
    }
}

static void start_step(tendon_engine *engine) {
    const tendon_engine_step *step = step_of(engine);
    const tendon_engine_family *family = engine->family;
    uint8_t job = (step->flags & TENDON_STEP_LIMITED) != 0 ? STEP : STEP | TENDON_OPERATION_UNLIMITED;
    switch (step->verb) {
    case TENDON_STEP_MTU:
        tendon_operation_start(&engine->op, job, TENDON_OPERATION_MTU, 0, NULL, 0);
        break;
    case TENDON_STEP_DISCOVER: /* in the memory of a repetition, which there is none of before */
        tendon_operation_discover(&engine->op, job, &engine->op.again, family->row_of, engine->op.found,
                                  engine->op.count);
        break;
    case TENDON_STEP_PAIR:
        pair(engine);
        break;
    case TENDON_STEP_READ:
        tendon_engine_read(engine, job, step->row);
        break;
    case TENDON_STEP_SUBSCRIBE:
        tendon_engine_subscribe(engine, job, step->row);
        break;
    case TENDON_STEP_WRITE:
        if (!has_next(engine)) {
            engine->step++;
        }
        break;
    default:
        engine->step++;
        engine->state = TENDON_ENGINE_OPEN;
        engine->deadline = UINT64_MAX;
        family->changed(engine, TENDON_ENGINE_OPEN, TENDON_OK);
        break;
    }
}

bool tendon_engine_is_idle(const tendon_engine *engine) {
    return tendon_engine_is_up(engine) && !engine->op.client->closed && engine->op.kind == 0 && !engine->pairing;
}

void tendon_engine_run(tendon_engine *engine) {
    if (engine->depth > 0) {
        return;
    }
    engine->depth = 1;
    bool more = true;
    while (more && tendon_engine_is_idle(engine)) {
        if (engine->step < engine->family->steps) {
            start_step(engine);
        } else {
            more = has_next(engine);
        }
    }
    engine->depth = 0;
}

/* ---- inputs ---- */

void tendon_engine_on_done(void *session, const tendon_gatt_result *result) {
    tendon_engine *engine = session;
    const tendon_engine_family *family = engine->family;
    unsigned job = engine->op.client != NULL ? tendon_operation_ended(&engine->op, result) : 0;
    if (job == 0) {
        *engine->illegal_inputs += !engine->op.call.repeated;
        return;
    }
    if (engine->op.client->closed) {
        return; /* disconnected() follows */
    }
    engine->depth++;
    if ((job & STEP) != STEP) {
        family->done(engine, (uint8_t)job, result);
    } else if (tendon_engine_is_up(engine)) {
        uint8_t verb = step_of(engine)->verb;
        if (verb == TENDON_STEP_READ && result->status >= 0) {
            family->took(engine, engine->row, result->value, result->length);
        }
        step_ended(engine, (tendon_engine_verb)verb, result->status);
    }
    leave(engine);
}

void tendon_engine_on_connected(void *session, tendon_gatt_client *client, uint64_t now) {
    tendon_engine *engine = session;
    engine->op.now = now;
    if (engine->state == TENDON_ENGINE_AWAY || engine->op.client != NULL) {
        ++*engine->illegal_inputs;
        return;
    }
    engine->op.client = client;
    if (engine->state == TENDON_ENGINE_CLOSING) {
        return; /* it came up while it was taken back: its end follows */
    }
    engine->state = TENDON_ENGINE_OPENING;
    engine->step = 0;
    engine->deadline = engine->family->opening_ms != 0 ? now + engine->family->opening_ms : UINT64_MAX;
    memset(engine->op.found, 0, engine->op.count * sizeof engine->op.found[0]);
    engine->depth++;
    engine->family->changed(engine, TENDON_ENGINE_OPENING, TENDON_OK);
    leave(engine);
}

void tendon_engine_on_disconnected(void *session, tendon_status reason, uint64_t now) {
    tendon_engine *engine = session;
    engine->op.now = now;
    if (engine->state == TENDON_ENGINE_AWAY) {
        ++*engine->illegal_inputs;
        return;
    }
    tendon_operation_reset(&engine->op);
    tendon_profile_cancel(&engine->op.again, now);
    engine->op.client = NULL;
    engine->asked = engine->state == TENDON_ENGINE_CLOSING;
    engine->state = TENDON_ENGINE_AWAY;
    engine->pairing = false;
    engine->deadline = UINT64_MAX;
    reason = engine->reason < 0 ? engine->reason : reason;
    engine->reason = TENDON_OK;
    engine->family->changed(engine, TENDON_ENGINE_AWAY, reason);
}

void tendon_engine_on_paired(void *session, tendon_status status, uint64_t now) {
    tendon_engine *engine = session;
    engine->op.now = now;
    if (!engine->pairing || !tendon_engine_is_up(engine)) {
        ++*engine->illegal_inputs;
        return;
    }
    engine->depth++;
    step_ended(engine, TENDON_STEP_PAIR, status);
    leave(engine);
}

void tendon_engine_on_tick(void *session, uint64_t now) {
    tendon_engine *engine = session;
    engine->op.now = now;
    if (now >= tendon_engine_deadline(engine)) {
        tendon_engine_close(engine, TENDON_ERROR_TIMEOUT);
    }
}

uint64_t tendon_engine_deadline(const void *session) {
    const tendon_engine *engine = session;
    return engine->pairing ? UINT64_MAX : engine->deadline;
}

/* ---- calls of the family ---- */

tendon_status tendon_engine_connect(tendon_engine *engine) {
    uint8_t before = engine->state;
    if (engine->op.client != NULL) {
        return TENDON_ERROR_WRONG_STATE;
    }
    engine->state = TENDON_ENGINE_ASKED;
    engine->reason = TENDON_OK;
    tendon_status status = engine->link->connect(engine->link->context);
    if (status < 0) {
        engine->state = before;
    }
    return status;
}

void tendon_engine_expect(tendon_engine *engine) {
    engine->state = TENDON_ENGINE_ASKED;
}

void tendon_engine_close(tendon_engine *engine, tendon_status why) {
    if (engine->state == TENDON_ENGINE_AWAY || engine->state == TENDON_ENGINE_CLOSING) {
        return;
    }
    engine->state = TENDON_ENGINE_CLOSING;
    engine->reason = why;
    engine->deadline = UINT64_MAX;
    tendon_profile_cancel(&engine->op.again, engine->op.now);
    engine->link->disconnect(engine->link->context);
}

void tendon_engine_init(tendon_engine *engine, const tendon_engine_family *family, const tendon_session_link *link,
                        tendon_profile_found *found, size_t rows, uint8_t *buffer, uint64_t *illegal_inputs) {
    memset(engine, 0, sizeof *engine);
    engine->family = family;
    engine->link = link;
    engine->illegal_inputs = illegal_inputs;
    engine->deadline = UINT64_MAX;
    engine->op.rules = &family->rules;
    engine->op.context = engine;
    engine->op.row_of = family->row_of;
    engine->op.found = found;
    engine->op.count = rows;
    engine->op.buffer = buffer;
}
