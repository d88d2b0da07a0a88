/* SPDX-License-Identifier: MIT */
/*
 * Fjorden session: the grip manager's state machine and the connection that it requests. Discovery, pairing, firmware
 * check, events with resynchronization, control point, battery, information. Driven through
 * tendon_fjorden_session_inputs and tendon_fjorden_session_input(). Requests that need more than the connection
 * (scanning, storage, permission) are reported as events.
 *
 * One session has one connection at a time, to the grip that the manager chose. In the event TARGET the application
 * sets the address that its link connects to.
 */
#ifndef TENDON_DEVICES_FJORDEN_SESSION_H
#define TENDON_DEVICES_FJORDEN_SESSION_H

#include "tendon/devices/engine.h"
#include "tendon/devices/fjorden_manager.h"
#include "tendon/devices/fjorden_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Timeout of each operation on a connected grip. While it connects, the timeout of the manager is the only one. */
#define TENDON_FJORDEN_OPERATION_TIMEOUT_MS 5000u

/** Strings of GripInfo, and the serial number. */
typedef enum tendon_fjorden_string {
    TENDON_FJORDEN_STRING_MANUFACTURER = 0, /**< 2A29 */
    TENDON_FJORDEN_STRING_MODEL,            /**< 2A24 */
    TENDON_FJORDEN_STRING_FIRMWARE,         /**< 2A26 */
    TENDON_FJORDEN_STRING_HARDWARE,         /**< 2A27 */
    TENDON_FJORDEN_STRING_SERIAL,           /**< 2A25 */
    TENDON_FJORDEN_STRING_COUNT
} tendon_fjorden_string;

/** Size of a string, including the terminator. A longer string, or a string that is not valid UTF-8, counts as missing.
 */
#define TENDON_FJORDEN_STRING_SIZE 64

typedef struct tendon_fjorden_info {
    char strings[TENDON_FJORDEN_STRING_COUNT][TENDON_FJORDEN_STRING_SIZE]; /**< terminated; empty when not present */
    bool present[TENDON_FJORDEN_STRING_COUNT];
} tendon_fjorden_info;

typedef enum tendon_fjorden_session_event_kind {
    /**
     * An output of the manager. The session has already executed the part that concerns the connection. The application
     * does the rest: scanning, requesting permission, storing the bond, removing it and its keys
     * (tendon_radio_forget()).
     */
    TENDON_FJORDEN_SESSION_EVENT_OUTPUT = 0,
    TENDON_FJORDEN_SESSION_EVENT_TARGET,   /**< link.connect() follows and must connect to output->grip */
    TENDON_FJORDEN_SESSION_EVENT_EVENT,    /**< record; synthesized: after lost records or an automatic reconnection,
                                              from the control state */
    TENDON_FJORDEN_SESSION_EVENT_RESPONSE, /**< a request ended: status, and response if the status is TENDON_OK */
    TENDON_FJORDEN_SESSION_EVENT_BATTERY,  /**< read or notified: status, level. NO_BATTERY_INFO: cause contains the
                                              reason */
    TENDON_FJORDEN_SESSION_EVENT_INFO,     /**< read: status; NO_GRIP_INFO: none of the four could be read */
    TENDON_FJORDEN_SESSION_EVENT_PAIRING,  /**< pairing ended, or was not started: status */
    TENDON_FJORDEN_SESSION_EVENT_REJECTED  /**< a value was rejected: status, characteristic */
} tendon_fjorden_session_event_kind;

typedef enum tendon_fjorden_characteristic {
    TENDON_FJORDEN_CHARACTERISTIC_EVENT = 0,
    TENDON_FJORDEN_CHARACTERISTIC_STATE,
    TENDON_FJORDEN_CHARACTERISTIC_CONTROL,
    TENDON_FJORDEN_CHARACTERISTIC_STRING, /**< the first of tendon_fjorden_string, the others follow */
    TENDON_FJORDEN_CHARACTERISTIC_BATTERY =
        (int)TENDON_FJORDEN_CHARACTERISTIC_STRING + (int)TENDON_FJORDEN_STRING_COUNT,
    TENDON_FJORDEN_CHARACTERISTIC_NAME, /**< 2A00, read when the grip advertised no name */
    TENDON_FJORDEN_CHARACTERISTIC_COUNT
} tendon_fjorden_characteristic;

/** Lent for the callback. Members that the kind does not name are 0. */
typedef struct tendon_fjorden_session_event {
    tendon_fjorden_session_event_kind kind;
    tendon_status status, cause;
    uint64_t received_at; /**< when the PDU arrived that caused it, monotonic nanoseconds; 0: none did */
    const tendon_fjorden_output *output;
    const tendon_fjorden_record *record;
    bool synthesized;
    const tendon_fjorden_response *response;
    uint8_t level; /**< percent */
    tendon_fjorden_characteristic characteristic;
} tendon_fjorden_session_event;

/** Must not call functions of the session, except in the events EVENT, RESPONSE, BATTERY and INFO. */
typedef void (*tendon_fjorden_on_session_event)(void *context, const tendon_fjorden_session_event *notice,
                                                uint64_t now);

typedef struct tendon_fjorden_session_config {
    tendon_session_link link;
    const tendon_fjorden_profile *profile; /**< borrowed */
    tendon_fjorden_grip *grips;            /**< table for the grips of a search; borrowed, may be NULL */
    size_t grip_capacity;
    void *context;
    tendon_fjorden_on_session_event on_event;
} tendon_fjorden_session_config;

typedef struct tendon_fjorden_session_counters {
    uint64_t notifications; /**< event notifications, including those with a wrong length */
    uint64_t events;        /**< reported events; a record with several detents counts once */
    uint64_t rejected;      /**< rejected values */
    uint64_t strays;        /**< responses without an outstanding request */
    uint64_t resyncs;       /**< control states read after lost records or a reconnection */
    uint64_t illegal_inputs;
} tendon_fjorden_session_counters;

/**
 * Caller's memory. An application may read manager, stream, info, has_info, level, has_level, profile and counters; all
 * other members are private.
 */
typedef struct tendon_fjorden_session {
    tendon_engine engine;
    bool has_info, has_level;
    uint8_t level;
    /* Owned by CSources/devices/fjorden/session*.c. */
    struct {
        uint8_t index;   /**< index of the string that is read next */
        bool inside;     /**< a call of the manager is in progress */
        bool connecting; /**< connect as soon as the previous connection has ended */
        bool retried;    /**< pairing was started because the grip rejected the subscription */
        bool requested;  /**< a response is outstanding */
        bool info_read;  /**< at least one of the four strings was read */
        bool carried;    /**< a control was down when the connection before this one was lost */
        uint8_t wanted;  /**< pending operations, as bits */
        uint8_t opcode, request_id, command_length, text_length;
        uint64_t response_deadline;
    } work;
    struct {
        uint8_t command[TENDON_FJORDEN_COMMAND_MAX]; /**< of the outstanding request */
        uint8_t written[TENDON_FJORDEN_COMMAND_MAX]; /**< borrowed by a write, which may outlive its request */
        uint8_t value[TENDON_FJORDEN_STRING_SIZE];   /**< of a long read */
        tendon_profile_found found[TENDON_FJORDEN_CHARACTERISTIC_COUNT];
    } kept;
    tendon_fjorden_session_config config;
    tendon_fjorden_manager manager;
    tendon_fjorden_stream stream; /**< of this connection, or of the last; last_shutter and last_lever outlive an
                                     automatic reconnection */
    tendon_fjorden_session_counters counters;
    tendon_fjorden_info info; /**< firmware after connecting, the other strings after they were read */
} tendon_fjorden_session;

/** The inputs of a session, for tendon_connection_attach() and for tests. */
extern const tendon_session_inputs tendon_fjorden_session_inputs;

/** @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT (no callback, profile, connect or disconnect). */
tendon_status tendon_fjorden_session_init(tendon_fjorden_session *session, const tendon_fjorden_session_config *config);

/**
 * Passes a call or an event that does not come from the connection to the manager: all kinds up to ON_ADVERTISEMENT.
 * The results of calls are reported as events. Kinds that the session produces from the connection are invalid here.
 * @return TENDON_OK, TENDON_ERROR_INVALID_ARGUMENT (kind), TENDON_ERROR_BUSY (from within an event that does not allow
 * it).
 */
tendon_status tendon_fjorden_session_input(tendon_fjorden_session *session, const tendon_fjorden_input *input,
                                           uint64_t now);
/** Processes an advertisement or a scan response. Ignores data that is not from a grip, and scan responses of grips
 * that are known already. */
tendon_status tendon_fjorden_session_on_advertisement(tendon_fjorden_session *session, const tendon_ad_report *report,
                                                      uint64_t now);

/**
 * Ends the search or the connection; the bond stays, and no search follows. A pending connect ends with
 * TENDON_FJORDEN_ERROR_DISCOVERY_CANCELLED, a pending start with the state, also one that waits for the permission.
 * @return TENDON_OK or TENDON_ERROR_BUSY, as above.
 */
tendon_status tendon_fjorden_session_disconnect(tendon_fjorden_session *session, uint64_t now);

/**
 * Sends a command to the control point; its request id is set by the session. RESPONSE follows, after
 * TENDON_FJORDEN_RESPONSE_TIMEOUT_MS with TENDON_ERROR_TIMEOUT. From RESPONSE on the next command can be sent: it waits
 * for the acknowledgment of the previous write.
 * @return TENDON_OK, TENDON_ERROR_WRONG_STATE (not connected), _BUSY (one is outstanding), _UNSUPPORTED (the grip has
 *         no control point), or an error of tendon_fjorden_encode_command().
 */
tendon_status tendon_fjorden_session_request(tendon_fjorden_session *session, const tendon_fjorden_command *command,
                                             uint64_t now);
/**
 * Stops waiting for the response to the outstanding request: no RESPONSE follows for it. A response that arrives later
 * is counted in strays.
 */
void tendon_fjorden_session_cancel_request(tendon_fjorden_session *session);
/** Reads the battery level; BATTERY follows. TENDON_ERROR_WRONG_STATE. If a read is in progress, its result also
 * completes this call. */
tendon_status tendon_fjorden_session_read_battery(tendon_fjorden_session *session, uint64_t now);
/** Reads the strings; INFO follows. TENDON_ERROR_WRONG_STATE; a read in progress also completes this call. */
tendon_status tendon_fjorden_session_read_info(tendon_fjorden_session *session, uint64_t now);

/* ---- advertisements ---- */

/** Returns true if the data contains the grip service or a name with the prefix. @p profile NULL: the reference
 * profile. */
bool tendon_fjorden_recognize(const tendon_fjorden_profile *profile, const uint8_t *data, size_t length);
/** Writes the identifier of a grip: its address "AA:BB:CC:DD:EE:FF", followed by "/random" if the address is random. */
void tendon_fjorden_identifier(const tendon_address *address, char out[TENDON_FJORDEN_IDENTIFIER_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
