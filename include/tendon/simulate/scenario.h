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
 * One event per line: "at TIME COMMAND ARGUMENTS". TIME is measured from the start of the scenario: 250ms, 1.5s, 2m.
 * Times need not be in order; events with the same time are executed in the order of their lines. "#" starts a comment.
 * Commands of the host: "disconnect" (all centrals), "stop" (ends the simulation), "advertise on|off". All other
 * commands are commands of the device. Events point into the text.
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

/** Valid values of one word, as the functions below that read arguments saw them. */
typedef struct tendon_scenario_choice {
    size_t index;      /**< of the word */
    const void *names; /**< for tendon_scenario_choice_name(); static storage */
    size_t stride, count;
    bool number; /**< also a number up to @p maximum */
    uint32_t maximum;
} tendon_scenario_choice;

typedef struct tendon_scenario_event {
    uint64_t at_ms;
    uint32_t line;  /**< from 1 */
    uint8_t action; /**< tendon_scenario_action */
    uint8_t count;  /**< number of words, including the command */
    tendon_scenario_word words[TENDON_SCENARIO_WORDS];
    tendon_scenario_choice *choice; /**< while the event is parsed: what was read last; NULL afterwards */
} tendon_scenario_event;

/** Error in a scenario, with its position. */
typedef struct tendon_scenario_error {
    uint32_t line, column;           /**< from 1 */
    const char *text;                /**< static storage */
    bool of_command;                 /**< the device has no such command */
    tendon_scenario_choice expected; /**< what the device accepts at this position; all zero: nothing, or not known */
} tendon_scenario_error;

/** Returns one of the names that are accepted; NULL from choice->count on. */
const char *tendon_scenario_choice_name(const tendon_scenario_choice *choice, size_t index);

/** Interface of a device for scenarios. Each family exports a function that returns it. */
typedef struct tendon_scenario_actor {
    void *context;
    /**
     * Executes an event, or only checks it if @p dry_run is true.
     * @param wrong receives the index of the wrong word (event->count if a word is missing).
     * @return TENDON_OK, TENDON_ERROR_UNSUPPORTED (no such command), TENDON_ERROR_MALFORMED (wrong argument).
     */
    tendon_status (*perform)(void *context, const tendon_scenario_event *event, bool dry_run, size_t *wrong,
                             uint64_t now);
} tendon_scenario_actor;

/**
 * Parses a scenario into @p events, sorted by time.
 * @param actor checks the commands of the device; NULL: they are not checked.
 * @param error set if the result is negative; may be NULL.
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
/** Returns the next event whose time is at or before @p now, each event once; NULL if there is none. */
const tendon_scenario_event *tendon_scenario_next(tendon_scenario *scenario, uint64_t now);
/** Returns the time of the next event; UINT64_MAX if there is none. */
uint64_t tendon_scenario_deadline(const tendon_scenario *scenario);

/* For actors: reading arguments. */

/** Returns true if word @p index equals @p text. */
bool tendon_scenario_word_is(const tendon_scenario_event *event, size_t index, const char *text);
/** Returns true and the index in @p names if word @p index is one of them. */
bool tendon_scenario_word_among(const tendon_scenario_event *event, size_t index, const char *const *names,
                                size_t count, uint32_t *out);
/** The same for the names in a table of rows: @p first is the name of the first row, @p stride the size of a row. */
bool tendon_scenario_word_in_rows(const tendon_scenario_event *event, size_t index, const char *const *first,
                                  size_t stride, size_t count, uint32_t *out);
/** Returns true and the value if word @p index is a decimal or 0x number of at most @p maximum. */
bool tendon_scenario_word_number(const tendon_scenario_event *event, size_t index, uint32_t maximum, uint32_t *out);

#ifdef __cplusplus
}
#endif
#endif
