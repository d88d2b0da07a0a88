/* SPDX-License-Identifier: MIT */
/*
 * Fjorden grip: the grip manager's state machine. Does no I/O: inputs carry the time; outputs are passed to one
 * callback, in the documented order. The state table is in docs/protocols/fjorden.md.
 */
#ifndef TENDON_DEVICES_FJORDEN_MANAGER_H
#define TENDON_DEVICES_FJORDEN_MANAGER_H

#include "tendon/devices/fjorden_firmware.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_FJORDEN_TIMEOUT_MS 5000
/**
 * An automatic reconnection is tried again until it succeeds: immediately after a lost connection, then after a pause
 * that doubles with each failure, from the first to the second of these. Only a connection that lasted
 * TENDON_FJORDEN_STABLE_MS is followed without a pause again.
 */
#define TENDON_FJORDEN_RETRY_PAUSE_MS 500u
#define TENDON_FJORDEN_RETRY_PAUSE_MAX_MS 30000u
#define TENDON_FJORDEN_STABLE_MS 10000u
/** Recommended number of entries for grips in range. */
#define TENDON_FJORDEN_GRIPS_MAX 16
#define TENDON_FJORDEN_IDENTIFIER_SIZE 40
#define TENDON_FJORDEN_NAME_SIZE 64
#define TENDON_FJORDEN_VERSION_SIZE 64

typedef enum tendon_fjorden_manager_state {
    TENDON_FJORDEN_UNINITIALIZED = 0,
    TENDON_FJORDEN_READY,
    TENDON_FJORDEN_SCANNING_FOR_GRIPS,
    TENDON_FJORDEN_SCANNING_FOR_BONDED,
    TENDON_FJORDEN_CONNECTING,
    TENDON_FJORDEN_CONNECTED,
    TENDON_FJORDEN_UNAUTHORIZED,
    TENDON_FJORDEN_UNAVAILABLE,
    TENDON_FJORDEN_STATE_COUNT
} tendon_fjorden_manager_state;

/** Step of the connection procedure. */
typedef enum tendon_fjorden_step {
    TENDON_FJORDEN_STEP_NONE = 0,
    TENDON_FJORDEN_STEP_LINK,
    TENDON_FJORDEN_STEP_SERVICES,
    TENDON_FJORDEN_STEP_CHARACTERISTICS,
    TENDON_FJORDEN_STEP_PAIRING,
    TENDON_FJORDEN_STEP_FIRMWARE,
    TENDON_FJORDEN_STEP_NOTIFY
} tendon_fjorden_step;

typedef enum tendon_fjorden_authorization {
    TENDON_FJORDEN_AUTHORIZATION_UNDETERMINED = 0,
    TENDON_FJORDEN_AUTHORIZATION_DENIED,
    TENDON_FJORDEN_AUTHORIZATION_ALLOWED
} tendon_fjorden_authorization;

typedef struct tendon_fjorden_grip {
    char identifier[TENDON_FJORDEN_IDENTIFIER_SIZE];
    char name[TENDON_FJORDEN_NAME_SIZE];
    double rssi;
    uint64_t seen_ms; /**< of a grip of the list: its latest advertisement */
} tendon_fjorden_grip;

typedef enum tendon_fjorden_input_kind {
    /* calls */
    TENDON_FJORDEN_CALL_CONFIGURE = 0,
    TENDON_FJORDEN_CALL_START,
    TENDON_FJORDEN_CALL_SCAN,
    TENDON_FJORDEN_CALL_STOP_SCANNING,
    TENDON_FJORDEN_CALL_CONNECT,
    TENDON_FJORDEN_CALL_CONNECT_BONDED,
    TENDON_FJORDEN_CALL_FORGET,
    /* events */
    TENDON_FJORDEN_ON_PERMISSION,
    TENDON_FJORDEN_ON_POWER,
    TENDON_FJORDEN_ON_ADVERTISEMENT,
    TENDON_FJORDEN_ON_LINK_UP,
    TENDON_FJORDEN_ON_LINK_DOWN,
    TENDON_FJORDEN_ON_SERVICES,
    TENDON_FJORDEN_ON_CHARACTERISTICS,
    TENDON_FJORDEN_ON_PAIRING,
    TENDON_FJORDEN_ON_FIRMWARE,
    TENDON_FJORDEN_ON_NOTIFY,
    TENDON_FJORDEN_ON_TICK,
    TENDON_FJORDEN_INPUT_COUNT
} tendon_fjorden_input_kind;

typedef struct tendon_fjorden_configuration {
    uint64_t timeout_ms;
    bool auto_reconnect;
    bool has_bond;
    tendon_fjorden_grip bond;
    char minimum_firmware[TENDON_FJORDEN_VERSION_SIZE]; /**< terminated; an invalid version counts as 0.0.0 */
} tendon_fjorden_configuration;

typedef struct tendon_fjorden_input {
    tendon_fjorden_input_kind kind;
    bool ok;          /**< permission, power, services, characteristics, pairing, notify; start: may ask */
    const char *text; /**< firmware, NULL: missing; borrowed */
    size_t text_length;
    tendon_fjorden_grip grip; /**< connect, advertisement (of a grip; empty name: the advertisement has no name) */
    const tendon_fjorden_configuration *configuration; /**< configure; borrowed */
    /**
     * Link down: the reason. While connecting, TENDON_RADIO_ERROR_PAIRING_FAILED ends the attempt with PAIRING_DECLINED
     * (the grip has no key of ours), TENDON_ERROR_CANCELLED with DISCOVERY_CANCELLED, in every step. Other reasons, 0
     * included, end it with the error of the step.
     */
    tendon_status reason;
} tendon_fjorden_input;

typedef enum tendon_fjorden_output_kind {
    TENDON_FJORDEN_OUT_STATE = 0,
    TENDON_FJORDEN_OUT_RESULT, /**< result of a call: status; and the state if the status is 0 and the call returns a
                                  state */
    TENDON_FJORDEN_OUT_REQUEST_PERMISSION,
    TENDON_FJORDEN_OUT_SCAN_START,
    TENDON_FJORDEN_OUT_SCAN_STOP,
    TENDON_FJORDEN_OUT_GRIPS,   /**< the whole list: manager->grips */
    TENDON_FJORDEN_OUT_CONNECT, /**< to grip */
    TENDON_FJORDEN_OUT_DISCONNECT,
    TENDON_FJORDEN_OUT_DISCOVER_SERVICES,
    TENDON_FJORDEN_OUT_DISCOVER_CHARACTERISTICS,
    TENDON_FJORDEN_OUT_PAIR,
    TENDON_FJORDEN_OUT_READ_FIRMWARE,
    TENDON_FJORDEN_OUT_ENABLE_NOTIFY,
    TENDON_FJORDEN_OUT_STORE_BOND, /**< grip */
    TENDON_FJORDEN_OUT_REMOVE_BOND /**< grip */
} tendon_fjorden_output_kind;

typedef struct tendon_fjorden_output {
    uint64_t time_ms;
    tendon_fjorden_output_kind kind;
    tendon_fjorden_manager_state state;
    tendon_fjorden_input_kind call;
    tendon_status status;
    bool gives_state;                /**< the result is the state, not only "ok" */
    const tendon_fjorden_grip *grip; /**< of state, connect, bond; NULL: none; valid during the call */
} tendon_fjorden_output;

typedef struct tendon_fjorden_manager tendon_fjorden_manager;
typedef void (*tendon_fjorden_manager_handler)(void *context, const tendon_fjorden_manager *manager,
                                               const tendon_fjorden_output *output);

struct tendon_fjorden_manager {
    bool configured;
    bool powered;
    bool asking;       /**< start() waits for the permission */
    bool reconnecting; /**< reconnecting automatically after a lost connection, also while the adapter is off */
    bool has_pending;
    bool has_deadline;
    bool leaves;      /**< set by the session: the grip announced the end of this connection */
    uint8_t failures; /**< lost connections and failed reconnections in a row */
    tendon_fjorden_manager_state state;
    tendon_fjorden_step step;
    tendon_fjorden_input_kind pending; /**< start, connect or connect bonded */
    tendon_fjorden_authorization authorization;
    tendon_fjorden_manager_handler handler;
    void *context;
    uint64_t now; /**< time of the current input */
    uint64_t deadline, remainder;
    uint64_t connected_at;
    uint64_t retry_at;          /**< advertisements of the bonded grip are ignored before */
    tendon_fjorden_grip *grips; /**< the caller's, see tendon_fjorden_manager_set_table() */
    size_t grip_capacity, grip_count;
    uint64_t grips_replaced;                    /**< grips that left a full list, see set_table() */
    tendon_fjorden_grip grip;                   /**< connecting, connected */
    tendon_fjorden_configuration configuration; /**< has_bond and bond are kept up to date */
};

/** Sets the defaults: 5000 ms, automatic reconnection, no bond, minimum firmware 1.0.0. */
void tendon_fjorden_configuration_init(tendon_fjorden_configuration *configuration);
void tendon_fjorden_manager_init(tendon_fjorden_manager *manager, tendon_fjorden_manager_handler handler,
                                 void *context);
/**
 * Sets the table for the grips that a search finds; without a table it finds none. In a full table a new grip replaces
 * the one that was not received for the longest time, so that any number of advertisers cannot hide a grip. Call it
 * before the first search.
 */
void tendon_fjorden_manager_set_table(tendon_fjorden_manager *manager, tendon_fjorden_grip *grips, size_t capacity);
/** Returns the time for the input TENDON_FJORDEN_ON_TICK; UINT64_MAX: never. */
uint64_t tendon_fjorden_manager_deadline(const tendon_fjorden_manager *manager);
/** Sets permission and power before start; later changes are inputs. */
void tendon_fjorden_manager_set_environment(tendon_fjorden_manager *manager, tendon_fjorden_authorization authorization,
                                            bool powered);
/** Processes expired deadlines first, then the input. The handler must not call functions of the manager. */
void tendon_fjorden_manager_input(tendon_fjorden_manager *manager, uint64_t now, const tendon_fjorden_input *input);
/** Returns the SDK's name of a state: "ready", "connecting" ... Never NULL. */
const char *tendon_fjorden_manager_state_name(tendon_fjorden_manager_state state);

#ifdef __cplusplus
}
#endif
#endif
