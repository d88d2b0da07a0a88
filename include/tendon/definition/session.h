/* SPDX-License-Identifier: MIT */
/*
 * Session of a device that a definition describes. It discovers the characteristics of the definition; subscribes to
 * those with a layout for notifications; reads those with a layout for reading; writes the actions of the start; then
 * it is open. A characteristic that is not required may be missing, or refuse: that is reported, and the session goes
 * on. While it is open, it reads again what the definition says; of a row that refuses then, the first failure is
 * reported, until it is read.
 *
 * Bytes are passed on as they came: tendon_describe() says what they mean. Driven through tendon_defined_inputs.
 */
#ifndef TENDON_DEFINITION_SESSION_H
#define TENDON_DEFINITION_SESSION_H

#include "tendon/definition/describe.h"
#include "tendon/devices/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Number of writes that can wait. */
enum { TENDON_DEFINED_WRITES = 8 };

typedef enum tendon_defined_event_kind {
    TENDON_DEFINED_EVENT_OPEN = 0, /**< subscribed, read, started: values follow, and writes are accepted */
    TENDON_DEFINED_EVENT_VALUE,    /**< bytes of a row, notified or read (is_read). Also before OPEN */
    TENDON_DEFINED_EVENT_REFUSED,  /**< a row was not subscribed to, not read, or not written at the start: status */
    TENDON_DEFINED_EVENT_WRITTEN,  /**< a write has ended: number, status */
    TENDON_DEFINED_EVENT_CLOSED    /**< the connection, or the attempt, ended: status */
} tendon_defined_event_kind;

/** Pointers are lent. */
typedef struct tendon_defined_event {
    tendon_defined_event_kind kind;
    tendon_status status;
    uint8_t row; /**< of VALUE, REFUSED */
    bool is_read;
    uint32_t number; /**< of WRITTEN: what tendon_defined_session_write() returned */
    const uint8_t *bytes;
    size_t length;
    uint64_t received_at; /**< of VALUE: when its PDU arrived, monotonic nanoseconds */
} tendon_defined_event;

typedef void (*tendon_defined_on_event)(void *context, const tendon_defined_event *event, uint64_t now);

/** A write that waits. Private. */
typedef struct tendon_defined_write {
    uint8_t row, length;
    bool is_start;
    uint32_t number;
    uint8_t bytes[TENDON_DEFINITION_VALUE];
} tendon_defined_write;

/** The caller's memory, about 2 KiB. Private. */
typedef struct tendon_defined_session {
    tendon_engine engine;
    const tendon_definition *definition;
    tendon_session_link link;
    void *context;
    tendon_defined_on_event on_event;
    tendon_profile_found found[TENDON_DEFINITION_ROWS];
    uint8_t job, row;     /**< of the opening: what comes next; then the next action of the start */
    uint8_t first, count; /**< of the writes, a ring */
    uint32_t next_number;
    uint32_t unread;                      /**< bits of the rows whose last reading again failed */
    uint64_t illegal_inputs;              /**< of the connection, at a wrong time */
    uint64_t due[TENDON_DEFINITION_ROWS]; /**< when a row is read again */
    tendon_defined_write writes[TENDON_DEFINED_WRITES];
    uint8_t buffer[512]; /**< of a long read */
} tendon_defined_session;

extern const tendon_session_inputs tendon_defined_inputs;

/** @param definition borrowed as long as the session is used. */
void tendon_defined_session_init(tendon_defined_session *session, const tendon_definition *definition,
                                 tendon_session_link link, void *context, tendon_defined_on_event on_event);

/**
 * Writes an action to the device; WRITTEN follows, unless the connection ends first.
 * @param action index. @param bytes what tendon_action_encode() has made of its arguments; copied.
 * @return the number of the write, 1 or more; TENDON_ERROR_WRONG_STATE: not open; TENDON_ERROR_NOT_FOUND: no action has
 *   this index, or the device does not have its characteristic; TENDON_ERROR_TABLE_FULL: too many writes wait;
 * TENDON_ERROR_INVALID_ARGUMENT: longer than a value.
 */
tendon_status tendon_defined_session_write(tendon_defined_session *session, size_t action, const uint8_t *bytes,
                                           size_t length, uint64_t now);

/** Returns whether the connected device has a row. */
bool tendon_defined_session_has(const tendon_defined_session *session, size_t row);

#ifdef __cplusplus
}
#endif
#endif
