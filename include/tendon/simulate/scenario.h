/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: timed events for a simulated device, as lines of text.
 *
 *     # what a commuter does
 *     at 3s    gesture double_tap
 *     at 4s    malformed cut_payload 3
 *     at 5s    suspend voice_assistant
 *     at 7s    resume
 *     at 9.5s  disconnect
 *     at 10s   pairing_mode on
 *
 * One event a line: "at TIME COMMAND ARGUMENTS". TIME counts from the start of
 * the scenario: 250ms, 1.5s, 2m. Times need not be in order; events of one
 * time happen in the order of their lines. "#" starts a comment. Commands of
 * the host: "disconnect" (all links), "stop" (end of the simulation),
 * "advertise on|off", all others are the device's. Events point into the text.
 */
#ifndef TENDON_SIMULATE_SCENARIO_H
#define TENDON_SIMULATE_SCENARIO_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_SCENARIO_WORDS 6
/** Longest time: a day. */
#define TENDON_SCENARIO_TIME_MAX_MS 86400000u

typedef struct tendon_scenario_word {
    const char *text; /**< not terminated; in the scenario's text */
    uint16_t length;
    uint16_t column; /**< from 1, in bytes */
} tendon_scenario_word;

typedef enum tendon_scenario_action {
    TENDON_SCENARIO_DEVICE = 0, /**< for the device's actor */
    TENDON_SCENARIO_DISCONNECT,
    TENDON_SCENARIO_STOP,
    TENDON_SCENARIO_ADVERTISE_ON,
    TENDON_SCENARIO_ADVERTISE_OFF
} tendon_scenario_action;

typedef struct tendon_scenario_event {
    uint64_t at_ms;
    uint32_t line;  /**< from 1 */
    uint8_t action; /**< tendon_scenario_action */
    uint8_t count;  /**< words, the command included */
    tendon_scenario_word words[TENDON_SCENARIO_WORDS];
} tendon_scenario_event;

/** What is wrong and where. */
typedef struct tendon_scenario_error {
    uint32_t line, column; /**< from 1 */
    const char *text;      /**< static storage */
} tendon_scenario_error;

/** A device as scenarios see it. Each family exports a function that gives its own. */
typedef struct tendon_scenario_actor {
    void *context;
    /**
     * Carries an event out, or only checks it (@p dry_run: nothing changes).
     * @param wrong receives the index of the word that is wrong (event->count: one is missing).
     * @return TENDON_OK, TENDON_ERROR_UNSUPPORTED (no such command), TENDON_ERROR_MALFORMED (wrong argument).
     */
    tendon_status (*perform)(void *context, const tendon_scenario_event *event, bool dry_run, size_t *wrong,
                             uint64_t now);
} tendon_scenario_actor;

/**
 * Parses a scenario into @p events, sorted by time.
 * @param actor checks the device's commands; NULL: they are taken as they are.
 * @param error set when the result is negative; may be NULL.
 * @return the number of events, TENDON_ERROR_MALFORMED, or TENDON_ERROR_TABLE_FULL.
 */
tendon_status tendon_scenario_parse(const char *text, size_t length, const tendon_scenario_actor *actor,
                                    tendon_scenario_event *events, size_t capacity, tendon_scenario_error *error);

/** Plays parsed events. */
typedef struct tendon_scenario {
    const tendon_scenario_event *events;
    size_t count, next;
    uint64_t start;
} tendon_scenario;

void tendon_scenario_start(tendon_scenario *scenario, const tendon_scenario_event *events, size_t count, uint64_t now);
/** The next event that is due at @p now, each once; NULL: none. */
const tendon_scenario_event *tendon_scenario_next(tendon_scenario *scenario, uint64_t now);
/** When the next event is due; UINT64_MAX: none is left. */
uint64_t tendon_scenario_deadline(const tendon_scenario *scenario);

/* For actors: reading arguments. */

/** True when word @p index is @p text. */
bool tendon_scenario_word_is(const tendon_scenario_event *event, size_t index, const char *text);
/** True and the place in @p names when word @p index is one of them. */
bool tendon_scenario_word_among(const tendon_scenario_event *event, size_t index, const char *const *names,
                                size_t count, uint32_t *out);
/** True and the value when word @p index is a decimal or 0x number up to @p maximum. */
bool tendon_scenario_word_number(const tendon_scenario_event *event, size_t index, uint32_t maximum, uint32_t *out);

#ifdef __cplusplus
}
#endif
#endif
