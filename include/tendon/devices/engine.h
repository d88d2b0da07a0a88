/* SPDX-License-Identifier: MIT */
/*
 * The engine of a session: what the sessions of all families do alike. It processes the inputs of the connection, runs
 * the steps of the opening from a table, then one operation at a time (devices/operation.h), and finds the row of each
 * value. A family is one constant: its rows, the table, and five functions.
 *
 * The engine is the first member of its session, so that a pointer to the session is one to its engine: the functions
 * of the family receive it as self, and tendon_engine_on_connected() and the others are inputs of the session.
 *
 *   AWAY --connect()--> ASKED --connected--> OPENING --step OPEN--> OPEN
 *   close(): from ASKED, OPENING, OPEN to CLOSING. disconnected: from all of them to AWAY.
 *
 * None of the functions of a family is called within another, except done() within next(), of an operation that the
 * client rejects. While one of the others runs, no operation starts: what it queues follows. After close() nothing is
 * sent.
 */
#ifndef TENDON_DEVICES_ENGINE_H
#define TENDON_DEVICES_ENGINE_H

#include "tendon/devices/operation.h"
#include "tendon/host/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tendon_engine_verb {
    TENDON_STEP_MTU = 0,   /**< a device that rejects it keeps the smallest MTU: only a timeout is a failure */
    TENDON_STEP_DISCOVER,  /**< the rows of the family */
    TENDON_STEP_PAIR,      /**< also the result of a pairing that TENDON_ENGINE_PAIR caused */
    TENDON_STEP_READ,      /**< the value goes to took() */
    TENDON_STEP_SUBSCRIBE, /**< to notifications; to indications if the characteristic has no others */
    TENDON_STEP_WRITE,     /**< what next() starts, until it starts nothing. Does not fail: done() has the results */
    TENDON_STEP_OPEN       /**< changed(OPEN). Does not fail */
} tendon_engine_verb;

/** Flag of a step: its operation has the limit of an operation. The others of the opening have its limit alone. */
enum { TENDON_STEP_LIMITED = 1 };

/** A step of the opening. */
typedef struct tendon_engine_step {
    uint8_t verb; /**< tendon_engine_verb */
    uint8_t row;  /**< of READ and SUBSCRIBE. A row that was not discovered fails */
    uint8_t flags;
} tendon_engine_step;

typedef enum tendon_engine_state {
    TENDON_ENGINE_AWAY = 0,
    TENDON_ENGINE_ASKED, /**< connecting */
    TENDON_ENGINE_OPENING,
    TENDON_ENGINE_OPEN,
    TENDON_ENGINE_CLOSING /**< close() was called, disconnected() follows */
} tendon_engine_state;

/** Verdicts of judge(), beside statuses. */
enum {
    TENDON_ENGINE_PAIR = 0x100, /**< pair, then do the step again; a refusal of the pairing is judged as PAIR */
    TENDON_ENGINE_WAIT          /**< the pairing has no result yet */
};

/** A family; one constant each. @p self: the session. */
typedef struct tendon_engine_family {
    tendon_operation_rules rules; /**< TENDON_ENGINE_RULES */
    uint32_t opening_ms;          /**< limit of the whole opening without its pairings; 0: none */
    const tendon_engine_step *opening;
    size_t steps;
    tendon_profile_row row_of; /**< its context is the session */
    /** A value of a row arrived: it was notified, or a READ step has read it. Not while CLOSING. */
    void (*took)(void *self, size_t row, const uint8_t *value, size_t length);
    /**
     * A step ended. NULL: its failure ends the connection. engine->row is the first missing row of a discovery that
     * failed with TENDON_ERROR_NOT_FOUND.
     * @return a negative status ends the connection with it; 0: the next step; n: n steps are skipped; a verdict.
     */
    tendon_status (*judge)(void *self, tendon_engine_verb verb, tendon_status status);
    /** Open and idle, or in a WRITE step: starts one operation, or returns false. NULL: there are none. */
    bool (*next)(void *self);
    /** An operation of next() ended, also while CLOSING. */
    void (*done)(void *self, uint8_t job, const tendon_gatt_result *result);
    /** OPENING: connected. OPEN. AWAY: the connection, or the attempt, ended with @p why; the session may be
     * initialized again in this call. */
    void (*changed)(void *self, tendon_engine_state state, tendon_status why);
} tendon_engine_family;

typedef struct tendon_engine {
    tendon_operation op; /**< client, time, outstanding operation, rows */
    const tendon_engine_family *family;
    const tendon_session_link *link;
    uint8_t state; /**< tendon_engine_state */
    uint8_t step;  /**< of the opening */
    uint8_t row;   /**< of the operation that was started last */
    uint8_t depth; /**< functions of the family that run: private */
    bool pairing;  /**< paired() follows */
    bool asked;    /**< the latest end followed close() */
    tendon_status reason;
    uint64_t deadline; /**< of the opening; while it pairs: the time that is left */
    uint64_t *illegal_inputs;
} tendon_engine;

/**
 * Clears the engine. It is AWAY.
 * @param link borrowed, as are the others. @param found for @p rows rows. @param buffer for the capacity of the rules.
 * @param illegal_inputs counts inputs and results that came at a wrong time, and were ignored.
 */
void tendon_engine_init(tendon_engine *engine, const tendon_engine_family *family, const tendon_session_link *link,
                        tendon_profile_found *found, size_t rows, uint8_t *buffer, uint64_t *illegal_inputs);

/** Starts connecting. @return that of the link; TENDON_ERROR_WRONG_STATE: the connection before has not ended. */
tendon_status tendon_engine_connect(tendon_engine *engine);
/** The program calls link.connect() itself: from now on the engine takes its result. */
void tendon_engine_expect(tendon_engine *engine);
/** Disconnects, or ends the attempt. changed(AWAY) follows, with @p why if that is negative. Nothing is sent meanwhile.
 * Does nothing if AWAY or CLOSING. */
void tendon_engine_close(tendon_engine *engine, tendon_status why);
/** True while OPENING or OPEN. */
bool tendon_engine_is_up(const tendon_engine *engine);
/** True if an operation may start: up, the client is open, nothing is outstanding. */
bool tendon_engine_is_idle(const tendon_engine *engine);
/** Starts what next() has, if nothing is outstanding. Call it after something was queued. */
void tendon_engine_run(tendon_engine *engine);

/** For next(): each starts one operation. @p job: from 1 to 0x7E, for done(). @p bytes: lent until done(). */
void tendon_engine_read(tendon_engine *engine, uint8_t job, size_t row);
void tendon_engine_subscribe(tendon_engine *engine, uint8_t job, size_t row);
void tendon_engine_unsubscribe(tendon_engine *engine, uint8_t job, size_t row);
void tendon_engine_write(tendon_engine *engine, uint8_t job, size_t row, const uint8_t *bytes, size_t length);

/* The inputs of a session: the functions of its tendon_session_inputs, and those of its tendon_operation_rules. A
 * family with time of its own has its own tick() and deadline(), which call these. */
void tendon_engine_on_connected(void *session, tendon_gatt_client *client, uint64_t now);
void tendon_engine_on_disconnected(void *session, tendon_status reason, uint64_t now);
void tendon_engine_on_paired(void *session, tendon_status status, uint64_t now);
void tendon_engine_on_tick(void *session, uint64_t now);
uint64_t tendon_engine_deadline(const void *session);
void tendon_engine_on_done(void *session, const tendon_gatt_result *result);
void tendon_engine_on_value(void *session, const tendon_gatt_value *value, uint64_t now);
void tendon_engine_on_discovered(void *session, tendon_status status, size_t row, uint64_t now);
/** The first members of the rules of a family. */
#define TENDON_ENGINE_RULES tendon_engine_on_done, tendon_engine_on_value, tendon_engine_on_discovered

#ifdef __cplusplus
}
#endif
#endif
