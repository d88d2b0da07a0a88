/* SPDX-License-Identifier: MIT */
/*
 * One device that a gateway serves, of any family: its session, opened with the gateway's settings, its streams, its
 * actions in their order, and how it ended. A turn is one connection: tendon_device_open() ... ENDED. Whether and when
 * there is another one is decided by admission.
 *
 * No I/O, no heap. It stands between a session and the owner of the connection: attach tendon_device_inputs() to the
 * connection, with the device as the session. After a call of this header, the owner reads the deadline again
 * (tendon_connection_refresh()). Events never come from within a call of this header.
 */
#ifndef TENDON_GATEWAY_DEVICE_H
#define TENDON_GATEWAY_DEVICE_H

#include "tendon/gateway/actions.h"
#include "tendon/gateway/lines.h"
#include "tendon/gateway/settings.h"
#include "tendon/gateway/view.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The first five in the order of tendon_family_at(). */
typedef enum tendon_device_family {
    TENDON_DEVICE_BOSE = 0,
    TENDON_DEVICE_FEELSPACE,
    TENDON_DEVICE_ACTIV5,
    TENDON_DEVICE_FJORDEN,
    TENDON_DEVICE_OBVIOUS,
    TENDON_DEVICE_DEFINED, /**< of a device file */
    TENDON_DEVICE_FAMILIES
} tendon_device_family;

typedef enum tendon_device_state {
    TENDON_DEVICE_CLOSED = 0,
    TENDON_DEVICE_OPENING,
    TENDON_DEVICE_READING, /**< the session is open; what identifies the device is read */
    TENDON_DEVICE_OPEN,
    TENDON_DEVICE_CLOSING
} tendon_device_state;

typedef struct tendon_device tendon_device;

typedef enum tendon_device_event_kind {
    TENDON_DEVICE_EVENT_OPENED = 0, /**< tendon_device_identity() has its members */
    TENDON_DEVICE_EVENT_SESSION,    /**< an event of the session, while open; of Fjorden and device files also what came
                                     * before, in its order */
    TENDON_DEVICE_EVENT_BATTERY,    /**< a belt has reported its battery before it was open */
    TENDON_DEVICE_EVENT_PAIRING,    /**< the device pairs; a user may have to put it into pairing mode */
    TENDON_DEVICE_EVENT_PAIRED,     /**< the pairing ended: status */
    TENDON_DEVICE_EVENT_MISSING,    /**< the device does not have what the settings ask for */
    TENDON_DEVICE_EVENT_CONFIGURATION_FAILED, /**< status */
    TENDON_DEVICE_EVENT_ACTED,                /**< an action ended: action, status */
    TENDON_DEVICE_EVENT_ENDED                 /**< the turn: status, reason, was_open, may_retry. The last event */
} tendon_device_event_kind;

/** Lent for the callback. */
typedef struct tendon_device_event {
    tendon_device_event_kind kind;
    /** Of ENDED: why the session ended, by its own account; TENDON_OK: it was requested, or it gives no reason. */
    tendon_status status;
    tendon_status reason; /**< of ENDED: why the connection, or the attempt, ended */
    bool was_open;        /**< of ENDED: OPENED was reported in this turn */
    bool may_retry;       /**< of ENDED: another attempt may succeed */
    bool was_requested;   /**< of ENDED: by tendon_device_close() */
    const char *action;   /**< of ACTED: as the caller gave it, without a terminator */
    size_t action_length;
    union { /* of SESSION */
        const tendon_bose_event *bose;
        const tendon_feelspace_event *feelspace;
        const tendon_activ5_event *activ5;
        const tendon_fjorden_session_event *fjorden;
        const tendon_obvious_event *obvious;
        const tendon_defined_event *defined;
    } of;
} tendon_device_event;

/** May call any function of this header, but tendon_device_init() only after ENDED, not from within. */
typedef void (*tendon_device_on_event)(void *context, tendon_device *device, const tendon_device_event *event,
                                       uint64_t now);

typedef struct tendon_device_config {
    tendon_device_family family;
    const tendon_definition *definition;    /**< of DEFINED; borrowed */
    const tendon_device_settings *settings; /**< borrowed */
    tendon_address address;                 /**< of the device, which the link connects to */
    tendon_session_link link;               /**< of the owner of the connection */
    uint8_t nonce[8];                       /**< random bytes, for Obvious devices */
    void *context;
    tendon_device_on_event on_event;
} tendon_device_config;

/** Actions that can wait for their turn, and the longest text of one, in bytes. */
#define TENDON_DEVICE_ACTIONS 16
#define TENDON_DEVICE_ACTION_SIZE 160
/** Bytes of values, and events, that are held until OPENED is reported. If there are more, it is reported earlier. */
#define TENDON_DEVICE_HELD_BYTES 1024
#define TENDON_DEVICE_HELD_EVENTS 8
/** Longest message of an Obvious device, in bytes: a status of 64 features fits. */
#define TENDON_DEVICE_FRAME_MAX 1024

/** An action that waits, or is in progress. Private. */
typedef struct tendon_device_action {
    tendon_act act;
    uint8_t length;
    char text[TENDON_DEVICE_ACTION_SIZE];
} tendon_device_action;

/** Caller's memory, about 9 KiB. A program may read state, config.family and counters. */
struct tendon_device {
    uint8_t state; /**< tendon_device_state */
    struct {
        uint64_t notifications; /**< values with samples; of grips with events, of device files all */
        uint64_t samples;       /**< samples in them that were reported; of device files, each event of a value */
        uint64_t malformed;     /**< values that the session has rejected, or that break their layout */
        uint64_t skipped;       /**< values, or parts of them, that it did not use */
    } counters;                 /**< since tendon_device_init() */
    tendon_device_config config;
    /* Private. */
    bool linked;   /**< disconnected() follows */
    bool due;      /**< step() has something to do */
    bool is_ready; /**< the session is open */
    bool was_open, closing;
    bool failing;  /**< the session is of no use: it is to be closed */
    uint8_t asked; /**< steps of the family */
    uint8_t first_action, action_count;
    bool acting, acted;
    tendon_status acted_status;
    tendon_status start_failure; /**< connect() failed: disconnected() is called by the next tick */
    tendon_status status;        /**< why the session failed */
    tendon_act_progress progress;
    tendon_device_action actions[TENDON_DEVICE_ACTIONS]; /**< ring; the first one is in progress if acting */
    union {
        struct {
            tendon_bose_session session;
            bool unconfigured; /**< the device is suspended: it is configured when it resumes */
            uint8_t missing_sensors, missing_gestures;
            uint8_t sensors[TENDON_BOSE_SENSORS_MAX], gestures[TENDON_BOSE_GESTURES_MAX];
        } bose;
        tendon_feelspace_session feelspace;
        struct {
            tendon_activ5_device device;
            tendon_activ5_session session;
            tendon_activ5_options options;
            bool no_rate, no_motion;
        } activ5;
        struct {
            tendon_fjorden_session session;
            uint64_t skipped_before; /**< on earlier connections */
            uint8_t held;
            struct {
                tendon_fjorden_session_event event;
                tendon_fjorden_record record;
            } hold[TENDON_DEVICE_HELD_EVENTS];
        } fjorden;
        struct {
            tendon_obvious_session session;
            tendon_obvious_manager manager;
            tendon_obvious_feature features[TENDON_SETTINGS_FEATURES];
            uint8_t memory[TENDON_OBVIOUS_SESSION_MEMORY(TENDON_DEVICE_FRAME_MAX)];
        } obvious;
        struct {
            tendon_defined_session session;
            tendon_described_rates rates;
            size_t held;
            uint8_t hold[TENDON_DEVICE_HELD_BYTES];
        } defined;
    } of;
};

/** Prepares a device that is closed, or new memory. @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT. */
tendon_status tendon_device_init(tendon_device *device, const tendon_device_config *config);
/** The inputs of the device, for tendon_connection_attach(): with it as the session. Static storage. */
const tendon_session_inputs *tendon_device_inputs(const tendon_device *device);
/** The device takes part in pairing: its connection needs the pairing service of the radio. */
bool tendon_device_pairs(const tendon_device *device);

/** Begins a turn; ENDED follows. TENDON_ERROR_WRONG_STATE unless it is closed. */
tendon_status tendon_device_open(tendon_device *device, uint64_t now);
/** Ends the turn; a session may need some seconds to switch the device's streams off. Does nothing if it is closed. */
void tendon_device_close(tendon_device *device, uint64_t now);

/**
 * Has an open device do something, after what was asked before; ACTED follows.
 * @param text the action with its arguments, separated by spaces: "vibrate 90"; copied.
 * @param mistake set if the words are no action of the device; may not be NULL.
 * @return TENDON_OK; an error of tendon_act_parse_text(), or TENDON_ERROR_OVERFLOW: the text is too long;
 * TENDON_ERROR_DISCONNECTED: it is not open; TENDON_ERROR_TABLE_FULL: TENDON_DEVICE_ACTIONS wait.
 */
tendon_status tendon_device_act(tendon_device *device, const char *text, size_t length, tendon_act_mistake *mistake,
                                uint64_t now);
/** The same of an action that was parsed, for a program that knows what it has requested: ACTED has no text.
 * @param act copied; its definition is borrowed. */
tendon_status tendon_device_perform(tendon_device *device, const tendon_act *act, uint64_t now);
/**
 * Takes back an action that waits for others: ACTED does not follow.
 * @param index of the actions that have not ended, in the order of their calls: 0 is the first.
 * @return false: it is in progress, or there is none.
 */
bool tendon_device_withdraw(tendon_device *device, size_t index);

/* ---- lines ---- */

/** Returns the name of the family, or of the device file. */
const char *tendon_device_family_name(const tendon_device *device);
/** The members of `connected`. */
void tendon_device_identity(const tendon_device *device, tendon_line *line);
/**
 * Writes the lines of an event, all but ENDED, in its callback.
 * @param index 0, 1 ... until the result is 0. @return as for the functions of lines.h.
 */
tendon_status tendon_device_line(const tendon_device *device, const tendon_device_event *event, size_t index,
                                 tendon_line *line, const tendon_line_device *label, uint64_t wall_us);
/** The numbers of an event of the session. @param index 0, 1 ... until the result is false. */
bool tendon_device_view(const tendon_device *device, const tendon_device_event *event, size_t index, tendon_view *out);

#ifdef __cplusplus
}
#endif
#endif
