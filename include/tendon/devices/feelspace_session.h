/* SPDX-License-Identifier: MIT */
/*
 * feelSpace naviBelt: connection and commands. Finds belts, opens one (discovery, pairing, handshake), keeps its
 * values, responds to its keep-alives, queues commands. Does no I/O: driven through tendon_feelspace_session_inputs and
 * the calls below. State table: docs/protocols/feelspace.md.
 *
 * Callbacks may call functions of the session. During a callback the session is in the state after the reported change.
 */
#ifndef TENDON_DEVICES_FEELSPACE_SESSION_H
#define TENDON_DEVICES_FEELSPACE_SESSION_H

#include "tendon/devices/feelspace_signal.h"
#include "tendon/devices/operation.h"
#include "tendon/host/advertisement.h"
#include "tendon/host/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- connection: states, and the events of their changes ---- */

typedef enum tendon_feelspace_state {
    TENDON_FEELSPACE_NOT_CONNECTED = 0,
    TENDON_FEELSPACE_SCANNING,
    TENDON_FEELSPACE_CONNECTING,
    TENDON_FEELSPACE_DISCOVERING_SERVICES, /**< pairing included, if no bond exists */
    TENDON_FEELSPACE_HANDSHAKE,
    TENDON_FEELSPACE_CONNECTED,
    TENDON_FEELSPACE_RECONNECTING, /**< between two attempts; only with config.reconnect */
    TENDON_FEELSPACE_STATE_COUNT
} tendon_feelspace_state;

/** Cause of a state change: the vendor's FSConnectionEvent. */
typedef enum tendon_feelspace_connection_event {
    TENDON_FEELSPACE_SCAN_STARTED = 0,
    TENDON_FEELSPACE_SCAN_TIMEOUT,
    TENDON_FEELSPACE_SCAN_FAILED,
    TENDON_FEELSPACE_SCAN_CANCELED,
    TENDON_FEELSPACE_CONNECTION_STARTED,
    TENDON_FEELSPACE_CONNECTION_ESTABLISHED,
    TENDON_FEELSPACE_SERVICES_DISCOVERED,
    TENDON_FEELSPACE_HANDSHAKE_FINISHED,
    TENDON_FEELSPACE_CONNECTION_CLOSED,
    TENDON_FEELSPACE_CONNECTION_LOST,
    TENDON_FEELSPACE_CONNECTION_FAILED,
    TENDON_FEELSPACE_SERVICE_DISCOVERY_FAILED,
    TENDON_FEELSPACE_HANDSHAKE_FAILED,
    TENDON_FEELSPACE_RECONNECTION_STARTED,
    TENDON_FEELSPACE_RECONNECTION_FAILED
} tendon_feelspace_connection_event;

/** Why a connection ended or did not come about: FSConnectionError of the vendor's release 2.2. */
typedef enum tendon_feelspace_connection_error {
    TENDON_FEELSPACE_NO_ERROR = 0,
    TENDON_FEELSPACE_BT_POWERED_OFF,
    TENDON_FEELSPACE_BT_UNAUTHORIZED,
    TENDON_FEELSPACE_BT_UNSUPPORTED,
    TENDON_FEELSPACE_BT_STATE_NOTIFICATION_FAILED,
    TENDON_FEELSPACE_BT_STATE_UNKNOWN,
    TENDON_FEELSPACE_BT_STATE_RESETTING,
    TENDON_FEELSPACE_CONNECTION_TIMEOUT,
    TENDON_FEELSPACE_SERVICE_DISCOVERY_TIMEOUT,
    TENDON_FEELSPACE_HANDSHAKE_TIMEOUT,
    TENDON_FEELSPACE_RECONNECTION_TIMEOUT,
    TENDON_FEELSPACE_CONNECTION_REFUSED, /**< connectionFailed */
    TENDON_FEELSPACE_CONNECTION_LIMIT_REACHED,
    TENDON_FEELSPACE_PERIPHERAL_DISCONNECTED,
    TENDON_FEELSPACE_POWER_OFF, /**< the belt announced standby */
    TENDON_FEELSPACE_UNEXPECTED_DISCONNECTION,
    TENDON_FEELSPACE_PAIRING_FAILED,
    TENDON_FEELSPACE_DISCOVERY_PERMISSION, /**< gattDiscoveryPermissionError */
    TENDON_FEELSPACE_DISCOVERY_ERROR,      /**< serviceDiscoveryFailed */
    TENDON_FEELSPACE_HANDSHAKE_PERMISSION, /**< handshakePermissionError */
    TENDON_FEELSPACE_HANDSHAKE_ERROR       /**< handshakeFailed */
} tendon_feelspace_connection_error;

/** Why a search ended: FSScanTerminationCause. */
typedef enum tendon_feelspace_scan_cause {
    TENDON_FEELSPACE_SCAN_CAUSE_TIMEOUT = 0,
    TENDON_FEELSPACE_SCAN_CAUSE_BT_NOT_AVAILABLE,
    TENDON_FEELSPACE_SCAN_CAUSE_BT_NOT_ACTIVE,
    TENDON_FEELSPACE_SCAN_CAUSE_ALREADY_CONNECTED,
    TENDON_FEELSPACE_SCAN_CAUSE_CANCELED
} tendon_feelspace_scan_cause;

/** State of the Bluetooth adapter. A session starts with ON. */
typedef enum tendon_feelspace_adapter {
    TENDON_FEELSPACE_ADAPTER_ON = 0,
    TENDON_FEELSPACE_ADAPTER_OFF,
    TENDON_FEELSPACE_ADAPTER_ABSENT,
    TENDON_FEELSPACE_ADAPTER_UNAUTHORIZED,
    TENDON_FEELSPACE_ADAPTER_UNKNOWN /**< or resetting: a search waits for the next state */
} tendon_feelspace_adapter;

#define TENDON_FEELSPACE_SCAN_TIMEOUT_MS 15000u
#define TENDON_FEELSPACE_CONNECT_TIMEOUT_MS 20000u      /**< connection, discovery, pairing and handshake */
#define TENDON_FEELSPACE_CONNECT_SHORT_TIMEOUT_MS 7000u /**< for a belt that is known and bonded */
#define TENDON_FEELSPACE_OPERATION_TIMEOUT_MS 1000u     /**< one read or write; the response to a parameter request */
#define TENDON_FEELSPACE_REQUEST_TIMEOUT_MS 250u        /**< the response to the check of the patch */
#define TENDON_FEELSPACE_LOG_TIMEOUT_MS 1500u           /**< the belt's error log */
#define TENDON_FEELSPACE_RECONNECT_PAUSE_MS 2000u
#define TENDON_FEELSPACE_RECONNECT_TIMEOUT_MS 12000u /**< connection 2 s and discovery 10 s, together */
#define TENDON_FEELSPACE_SUPERVISION_MS 6000u /**< silence that counts as a lost connection, with config.reconnect */
#define TENDON_FEELSPACE_DISCONNECT_TIMEOUT_MS 2000u /**< time after which a disconnection counts as completed */

/* ---- events ---- */

typedef enum tendon_feelspace_event_kind {
    TENDON_FEELSPACE_EVENT_STATE = 0,     /**< connection: onConnectionStateChanged; status: reason of the end */
    TENDON_FEELSPACE_EVENT_FOUND,         /**< found: onBeltFound, once per belt and search */
    TENDON_FEELSPACE_EVENT_SCAN_FINISHED, /**< scan: onBeltScanFinished */
    /* From here on only while connected. The values are in the session. */
    TENDON_FEELSPACE_EVENT_MODE,              /**< session->mode changed, not by a button: onBeltModeChanged */
    TENDON_FEELSPACE_EVENT_BUTTON,            /**< press: onBeltButtonPressed; reports a change of mode, too */
    TENDON_FEELSPACE_EVENT_DEFAULT_INTENSITY, /**< session->default_intensity changed */
    TENDON_FEELSPACE_EVENT_HEADING_OFFSET,    /**< session->heading_offset changed */
    TENDON_FEELSPACE_EVENT_BATTERY,           /**< status, level or time of session->battery changed */
    TENDON_FEELSPACE_EVENT_ORIENTATION, /**< session->orientation changed by at least the limits of start_orientation()
                                         */
    TENDON_FEELSPACE_EVENT_ACCURACY_SIGNAL, /**< session->accuracy_state; each notification */
    TENDON_FEELSPACE_EVENT_PARAMETER,       /**< parameter: any accepted FE06 packet, before the events above */
    TENDON_FEELSPACE_EVENT_DEBUG,           /**< packet: an FE14 packet as it is */
    TENDON_FEELSPACE_EVENT_LOG_FINISHED,    /**< status: TENDON_OK, or TENDON_ERROR_TIMEOUT, _CANCELLED */
    TENDON_FEELSPACE_EVENT_COMMAND,         /**< command: a command ended; status */
    TENDON_FEELSPACE_EVENT_REJECTED         /**< packet: malformed and skipped; status, offset. In any state */
} tendon_feelspace_event_kind;

/** Lent for the callback, at most until the callback starts another search. Members of the union that the kind does not
 * name are 0. */
typedef struct tendon_feelspace_event {
    tendon_feelspace_event_kind kind;
    tendon_status status;
    uint64_t received_at; /**< when the PDU arrived that caused it, monotonic nanoseconds; 0: none did */
    union {
        struct {
            tendon_feelspace_state previous, state; /**< equal: a rejected connect() */
            tendon_feelspace_connection_event event;
            tendon_feelspace_connection_error error;
        } connection;
        struct {
            const tendon_address *address;
            const char *name; /**< not terminated */
            size_t name_length;
            int8_t rssi;
            bool newer_hardware; /**< advertises FE51; older belts a 128-bit UUID */
        } found;
        struct {
            tendon_feelspace_scan_cause cause;
            tendon_feelspace_connection_error error; /**< as in the vendor's release 2.2 */
        } scan;
        tendon_feelspace_press press;
        const tendon_feelspace_parameter *parameter;
        struct {
            const uint8_t *data;
            size_t length, offset;
            tendon_feelspace_characteristic characteristic;
        } packet;
        struct {
            uint32_t id; /**< the value of tendon_feelspace_session.last_command after the call */
            tendon_feelspace_characteristic characteristic;
        } command;
    };
} tendon_feelspace_event;

typedef void (*tendon_feelspace_on_event)(void *context, const tendon_feelspace_event *event, uint64_t now);

/* ---- session ---- */

typedef struct tendon_feelspace_session_config {
    tendon_session_link link; /**< connect() connects to session->peer */
    /** Starts or stops scanning; its context is link.context. NULL if the application does not search. */
    tendon_status (*scan)(void *link_context, bool on);
    void *context;
    tendon_feelspace_on_event on_event;
    tendon_feelspace_channels channels; /**< 0: the documented channels */
    bool strict;    /**< commands that the belt ignores in its mode fail with FEELSPACE_ERROR_WRONG_MODE */
    bool reconnect; /**< retry once if connecting fails, twice after a lost connection; a missing keep-alive counts as
                       lost */
    bool skip_pairing; /**< never request pairing */
} tendon_feelspace_session_config;

typedef struct tendon_feelspace_counters {
    uint64_t notifications;        /**< received */
    uint32_t keep_alives;          /**< of them */
    uint32_t rejected;             /**< malformed packets */
    uint32_t unsupported;          /**< parameters unknown to this library */
    uint32_t commands;             /**< completed, with success or an error */
    uint32_t advertisers_left_out; /**< advertisers beyond TENDON_FEELSPACE_ADVERTISERS_MAX in one search */
    uint32_t illegal_inputs;       /**< inputs that the state table does not allow; ignored */
} tendon_feelspace_counters;

typedef enum tendon_feelspace_patch {
    TENDON_FEELSPACE_PATCH_NONE = 0,
    TENDON_FEELSPACE_PATCH_WRITTEN,  /**< "patch 1" */
    TENDON_FEELSPACE_PATCH_CONFIRMED /**< "patch 1 confirmed": the belt had the patch already */
} tendon_feelspace_patch;

/** Maximum number of pending commands; the next one fails with TENDON_GATT_ERROR_QUEUE_FULL. */
#define TENDON_FEELSPACE_COMMANDS_MAX 16
/** Maximum number of advertisers that one search distinguishes. */
#define TENDON_FEELSPACE_ADVERTISERS_MAX 16
/** Characteristics that a session uses. */
#define TENDON_FEELSPACE_CHARACTERISTIC_COUNT 11

/** One command. Opaque. */
typedef struct tendon_feelspace_slot {
    uint64_t deadline; /* of the response */
    uint32_t id;       /* 0: free */
    uint8_t kind, which, flags, length;
    uint8_t answer[2]; /* first bytes of the expected response on FE06; 0: no response is expected */
    uint8_t bytes[TENDON_FEELSPACE_PACKET_MAX];
} tendon_feelspace_slot;

/** One advertiser. Opaque. */
typedef struct tendon_feelspace_advertiser {
    tendon_address address;
    uint8_t seen, name_length;
    char name[29]; /* at most the length of a legacy scan response */
} tendon_feelspace_advertiser;

/**
 * Caller's memory. An application may read peer, state, the values received from the belt, the orientation limits,
 * last_command and counters; all other members are private. Received values are cleared when the connection ends.
 */
typedef struct tendon_feelspace_session {
    uint8_t mode;          /**< tendon_feelspace_mode; 0xFF unknown */
    int8_t accuracy_state; /**< bit 0 compass, bit 1 app; -1 unknown */
    bool has_firmware;
    bool has_battery, has_orientation;
    bool orientation_enabled;           /**< requested; see tendon_feelspace_session_start_orientation() */
    int16_t default_intensity;          /**< -1 unknown */
    int16_t heading_offset;             /**< -1 unknown */
    uint16_t orientation_variation_deg; /**< minimum change between two reported orientations */
    /* Owned by CSources/devices/feelspace/session*.c, as is kept below. Small members first: short instructions. */
    struct {
        uint8_t step, index, slot, keep_alives, attempts, adapter, patching, enables;
        uint8_t answered; /**< responses to keep-alives in a row */
        bool draining, ending, was_lost, known, told, logging, scan_on;
        int16_t told_heading, log_left;
        uint32_t generation, next_id;
        tendon_status period_status; /* result of the write between notifications off and on */
    } work;
    tendon_feelspace_state state;
    tendon_operation op; /**< client, time, outstanding request */
    uint32_t orientation_period_ms;
    tendon_feelspace_session_config config;
    uint32_t last_command; /**< id of the newest command */
    tendon_feelspace_patch patch;
    tendon_feelspace_firmware firmware;
    tendon_address peer;
    tendon_feelspace_counters counters;
    tendon_feelspace_battery battery;
    tendon_feelspace_orientation orientation; /**< last value of the sensor fusion, reported or not */
    struct {
        uint64_t deadline;       /* scanning, opening, pause before a reconnection */
        uint64_t drain_deadline; /* deadline of an older connection that is closing */
        uint64_t patch_deadline, log_deadline, heard, told_at, timeout_ms;
        tendon_profile_found found[TENDON_FEELSPACE_CHARACTERISTIC_COUNT];
        union {
            tendon_feelspace_advertiser advertisers[TENDON_FEELSPACE_ADVERTISERS_MAX]; /* scanning */
            tendon_profile profile;                                                    /* discovery */
            tendon_feelspace_slot slots[TENDON_FEELSPACE_COMMANDS_MAX];                /* from the handshake on */
        };
    } kept;
} tendon_feelspace_session;

/** Returns the service UUID that older belts advertise. Newer belts advertise TENDON_FEELSPACE_CONTROL_SERVICE. */
tendon_uuid tendon_feelspace_advertised_uuid(void);

/** The inputs of a session, for tendon_connection_attach() and for tests. */
extern const tendon_session_inputs tendon_feelspace_session_inputs;

/** @return TENDON_OK, or TENDON_ERROR_INVALID_ARGUMENT if a mandatory callback is missing. */
tendon_status tendon_feelspace_session_init(tendon_feelspace_session *session,
                                            const tendon_feelspace_session_config *config);

/* ---- searching ---- */

/**
 * Searches for belts. @p timeout_ms 0: TENDON_FEELSPACE_SCAN_TIMEOUT_MS; UINT64_MAX: until stop_scan(). A failure is
 * also reported by SCAN_FINISHED.
 * @return TENDON_OK; TENDON_ERROR_WRONG_STATE: connected or connecting (ALREADY_CONNECTED is reported), or searching
 * already; the radio's error.
 */
tendon_status tendon_feelspace_session_scan(tendon_feelspace_session *session, uint64_t timeout_ms, uint64_t now);
/** Stops a search. Does nothing if no search is in progress. */
void tendon_feelspace_session_stop_scan(tendon_feelspace_session *session, uint64_t now);
/** Takes an advertisement or a scan response. A belt is found once both its UUID and its name were received. */
void tendon_feelspace_session_advertised(tendon_feelspace_session *session, const tendon_ad_report *report,
                                         uint64_t now);
void tendon_feelspace_session_adapter(tendon_feelspace_session *session, tendon_feelspace_adapter adapter,
                                      uint64_t now);

/* ---- connecting ---- */

typedef struct tendon_feelspace_connect_options {
    uint64_t timeout_ms; /**< 0: TENDON_FEELSPACE_CONNECT_TIMEOUT_MS; UINT64_MAX: never */
    bool known; /**< this belt was connected before: a connection lost during discovery is not reported as failed
                   pairing */
} tendon_feelspace_connect_options;

/**
 * Ends a search and connects, after an older connection has closed.
 * @param peer copied to session->peer; NULL: session->peer stays unchanged. @param options may be NULL.
 * @return TENDON_OK; TENDON_ERROR_WRONG_STATE: connected or connecting, reported by a STATE event with
 * CONNECTION_FAILED and no change of state. A radio that fails in this call is reported by an event.
 */
tendon_status tendon_feelspace_session_connect(tendon_feelspace_session *session, const tendon_address *peer,
                                               const tendon_feelspace_connect_options *options, uint64_t now);
/** Ends a connection or an attempt: NOT_CONNECTED with CONNECTION_CLOSED is reported in this call, the disconnection
 * completes later. Does nothing when not connected. Does not end a search. In a callback of a command or of the log
 * that ends with a lost connection: the connection is not made again, and CONNECTION_LOST is reported afterwards. */
void tendon_feelspace_session_disconnect(tendon_feelspace_session *session, uint64_t now);

/* ---- commands ---- */

/*
 * All return >= 0 when the command was queued, with the warnings below as bits; session->last_command is then its id,
 * and EVENT_COMMAND reports its result: the write completed and, for parameters, the belt responded
 * (TENDON_ERROR_TIMEOUT: no response). Errors, in this order: TENDON_ERROR_DISCONNECTED unless connected,
 * TENDON_ERROR_INVALID_ARGUMENT, FEELSPACE_ERROR_UNSUPPORTED_FIRMWARE, FEELSPACE_ERROR_WRONG_MODE (config.strict),
 * TENDON_ERROR_UNSUPPORTED (the belt lacks the characteristic), TENDON_GATT_ERROR_QUEUE_FULL.
 */
enum {
    TENDON_FEELSPACE_WARNING_ENDLESS = 1, /**< 128 to 255 iterations: the vibration never ends */
    TENDON_FEELSPACE_WARNING_IGNORED = 2  /**< the belt ignores this command in its current mode */
};

/** Requests a mode: TENDON_FEELSPACE_MODE_STANDBY to _PAUSE, or _CROSSING. EVENT_MODE reports that the belt has it. */
tendon_status tendon_feelspace_session_set_mode(tendon_feelspace_session *session, int32_t mode, uint64_t now);
tendon_status tendon_feelspace_session_set_default_intensity(tendon_feelspace_session *session, int32_t intensity,
                                                             bool feedback, uint64_t now);
tendon_status tendon_feelspace_session_set_heading_offset(tendon_feelspace_session *session, int32_t degrees,
                                                          uint64_t now);
tendon_status tendon_feelspace_session_set_accuracy_signal(tendon_feelspace_session *session, bool in_app,
                                                           bool in_compass, bool persistent, uint64_t now);
tendon_status tendon_feelspace_session_request_accuracy_signal(tendon_feelspace_session *session, uint64_t now);
/** Vibrates with a signal. Set the mode TENDON_FEELSPACE_MODE_APP before, and call this when EVENT_MODE has reported
 * it: otherwise TENDON_FEELSPACE_WARNING_IGNORED for most vibrations. */
tendon_status tendon_feelspace_session_vibrate(tendon_feelspace_session *session,
                                               const tendon_feelspace_vibration *vibration, uint64_t now);
tendon_status tendon_feelspace_session_configure_channel(tendon_feelspace_session *session,
                                                         const tendon_feelspace_channel *channel, uint64_t now);
tendon_status tendon_feelspace_session_pulse(tendon_feelspace_session *session, const tendon_feelspace_pulse *pulse,
                                             uint64_t now);
tendon_status tendon_feelspace_session_signal(tendon_feelspace_session *session, int32_t signal, uint64_t now);
/** Stops the vibration of a channel; -1: all channels. */
tendon_status tendon_feelspace_session_stop(tendon_feelspace_session *session, int32_t channel, uint64_t now);

/**
 * Sends a packet of the codec's encoders (rename, pairing, reset, tones, parameter reads and changes ...) to FE03,
 * FE05, FE07 or FE13; up to TENDON_FEELSPACE_PACKET_MAX bytes, copied. @p length may be the result of an encoder: if it
 * is negative, it is returned (unless the result is TENDON_ERROR_DISCONNECTED).
 */
tendon_status tendon_feelspace_session_send(tendon_feelspace_session *session,
                                            tendon_feelspace_characteristic characteristic, const uint8_t *packet,
                                            tendon_status length, uint64_t now);
/**
 * Sets the period of the orientation notifications, 20 to 65535 ms. If orientation is on, this is one command of three
 * steps in one slot of the queue: notifications off, the period, notifications on. The last step is sent even if an
 * earlier step fails. If the result is an error, nothing was sent.
 */
tendon_status tendon_feelspace_session_set_orientation_period(tendon_feelspace_session *session, int32_t period_ms,
                                                              uint64_t now);

/**
 * Starts orientation notifications; the belt's default period is 500 ms. The first value is reported. A later value is
 * reported only if at least @p period_ms have passed and the heading has changed by at least @p variation_deg (0 to
 * 180) since the last reported value. If orientation is started already, only these limits change.
 */
tendon_status tendon_feelspace_session_start_orientation(tendon_feelspace_session *session, uint32_t period_ms,
                                                         uint16_t variation_deg, uint64_t now);
/** Stops orientation notifications; session->orientation keeps the last value. Does nothing if they are not started. */
tendon_status tendon_feelspace_session_stop_orientation(tendon_feelspace_session *session, uint64_t now);

/** Reads the belt's error log: DEBUG events, then LOG_FINISHED. TENDON_ERROR_BUSY while the log is being read. */
tendon_status tendon_feelspace_session_request_log(tendon_feelspace_session *session, uint64_t now);

/** Returns true if no command is pending. */
bool tendon_feelspace_session_idle(const tendon_feelspace_session *session);

/* ---- belts that were connected ---- */

#define TENDON_FEELSPACE_KNOWN_MAX 10

/** Belts that were connected, most recent first. Caller's memory, initialized with zeros. */
typedef struct tendon_feelspace_known {
    tendon_address belts[TENDON_FEELSPACE_KNOWN_MAX];
    size_t count;
} tendon_feelspace_known;

/** Adds a belt, or moves it, to the first position. The oldest entry is removed if there are more than ten. */
void tendon_feelspace_known_add(tendon_feelspace_known *known, const tendon_address *belt);
bool tendon_feelspace_known_has(const tendon_feelspace_known *known, const tendon_address *belt);

#ifdef __cplusplus
}
#endif
#endif
