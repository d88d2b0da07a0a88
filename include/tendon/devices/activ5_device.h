/* SPDX-License-Identifier: MIT */
/*
 * Activ5: one device as a state machine: its record, handshake, data state, squeezes, evergreen mode. Does no I/O.
 * Inputs: values, connection changes, time. Outputs: events for the application, and requests for the component that
 * owns the connection. State tables: docs/protocols/activ5.md.
 *
 * tendon_activ5_session carries its requests over GATT; tendon_activ5_manager keeps a list of such devices. An
 * application with one device uses only tendon_activ5_session.
 *
 * Event handlers may call any function of this header, of the manager and of the session except the init() functions.
 * Request handlers only store or send the request; its result arrives later, as an input.
 */
#ifndef TENDON_DEVICES_ACTIV5_DEVICE_H
#define TENDON_DEVICES_ACTIV5_DEVICE_H

#include "tendon/devices/activ5_codec.h"
#include "tendon/devices/activ5_squeeze.h"
#include "tendon/devices/clock.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The SDK's A5DeviceDataState. */
typedef enum tendon_activ5_data_state {
    TENDON_ACTIV5_STATE_DISCONNECTED = 0,
    TENDON_ACTIV5_STATE_CONNECTING,
    TENDON_ACTIV5_STATE_CONNECTED, /**< handshake, in older documents */
    TENDON_ACTIV5_STATE_ISOMETRIC,
    TENDON_ACTIV5_STATE_STOP,
    TENDON_ACTIV5_STATE_COUNT
} tendon_activ5_data_state;

/** Returns "disconnected", "connecting", "connected", "isometric" or "stop". Never NULL. */
const char *tendon_activ5_data_state_name(tendon_activ5_data_state state);

typedef enum tendon_activ5_reconnect {
    TENDON_ACTIV5_RECONNECT_AUTOMATICALLY = 0,
    TENDON_ACTIV5_RECONNECT_MANUALLY
} tendon_activ5_reconnect;

#define TENDON_ACTIV5_SERVICES_MAX 4
#define TENDON_ACTIV5_SEARCH_TIMEOUT_MS 30000u
/** Period of the stop commands in evergreen mode; without them, a device in stop mode switches itself off after 7
 * minutes. */
#define TENDON_ACTIV5_EVERGREEN_MS 60000u
#define TENDON_ACTIV5_SWITCH_OFF_MS 420000u

/** The SDK's A5DeviceManagerOptions. Read at each use, so changes take effect immediately. */
typedef struct tendon_activ5_options {
    tendon_uuid services[TENDON_ACTIV5_SERVICES_MAX]; /**< scan filter: any of them; 5000 */
    uint8_t service_count;
    bool auto_handshake;               /**< true: one handshake per connection is sent without a call */
    bool accept_f0f1;                  /**< false; true: F0F1 is the force where F0FE is absent */
    uint8_t terminator;                /**< of commands; TENDON_ACTIV5_TERMINATOR */
    uint64_t search_timeout_ms;        /**< TENDON_ACTIV5_SEARCH_TIMEOUT_MS */
    tendon_activ5_reconnect reconnect; /**< automatically */
    tendon_activ5_squeeze_config squeeze;
} tendon_activ5_options;

tendon_activ5_options tendon_activ5_options_defaults(void);

typedef struct tendon_activ5_device tendon_activ5_device;

/* ---- requests ---- */

typedef enum tendon_activ5_request_kind {
    TENDON_ACTIV5_REQUEST_SCAN_START = 0, /**< of the manager: for options.services; restarts a scan in progress */
    TENDON_ACTIV5_REQUEST_SCAN_STOP,      /**< of the manager */
    TENDON_ACTIV5_REQUEST_CONNECT,        /**< completed by _link_up() or _link_failed() */
    TENDON_ACTIV5_REQUEST_DISCONNECT,     /**< connection or attempt; completed by _link_down() */
    TENDON_ACTIV5_REQUEST_DISCOVER,       /**< completed by _discovered() */
    TENDON_ACTIV5_REQUEST_SUBSCRIBE,      /**< this and the following: in order, one at a time */
    TENDON_ACTIV5_REQUEST_UNSUBSCRIBE,
    TENDON_ACTIV5_REQUEST_READ, /**< completed by _value() */
    TENDON_ACTIV5_REQUEST_WRITE /**< with response */
} tendon_activ5_request_kind;

/** Lent for the call. */
typedef struct tendon_activ5_request {
    tendon_activ5_request_kind kind;
    tendon_activ5_device *device;                /**< NULL: of the manager */
    tendon_activ5_characteristic characteristic; /**< SUBSCRIBE to WRITE */
    const uint8_t *value;                        /**< WRITE; copy it if it is needed later */
    size_t length;
} tendon_activ5_request;

/** @return TENDON_OK, or the reason why the request cannot be started; the call that caused the request returns this
 * status. */
typedef tendon_status (*tendon_activ5_on_request)(void *context, const tendon_activ5_request *request, uint64_t now);

/* ---- events ---- */

typedef enum tendon_activ5_event_kind {
    TENDON_ACTIV5_EVENT_SEARCH_COMPLETED = 0, /**< searchCompleted: the scan time has passed */
    TENDON_ACTIV5_EVENT_DEVICE_FOUND,         /**< for each advertisement; on: the first of this search, deviceFound */
    TENDON_ACTIV5_EVENT_BLUETOOTH_STATE,      /**< didChangeBluetoothState: on; status: why not */
    TENDON_ACTIV5_EVENT_BLUETOOTH_OFF,        /**< bluetoothIsSwitchedOff: a scan was requested */
    TENDON_ACTIV5_EVENT_CONNECTED,            /**< deviceConnected */
    TENDON_ACTIV5_EVENT_CONNECT_FAILED,       /**< didFailToConnect: status */
    TENDON_ACTIV5_EVENT_DISCONNECTED,         /**< deviceDisconnected: status, CANCELLED if requested */
    TENDON_ACTIV5_EVENT_INITIALIZED,          /**< deviceInitialized: once per connection */
    TENDON_ACTIV5_EVENT_MESSAGE,              /**< didReceiveMessage: message; the ones below follow it */
    TENDON_ACTIV5_EVENT_ISOMETRIC,            /**< didReceiveIsometric: message->newtons */
    TENDON_ACTIV5_EVENT_IMU,                  /**< didReceiveIMUData: message->imu */
    TENDON_ACTIV5_EVENT_SERIAL_NUMBER,        /**< didReceiveSerialNumber: message->text */
    TENDON_ACTIV5_EVENT_BATTERY,              /**< didReceiveBattery: message->percent */
    TENDON_ACTIV5_EVENT_SQUEEZE,              /**< squeezeStateChanged: on is squeezed */
    TENDON_ACTIV5_EVENT_DOUBLE_SQUEEZE,       /**< didDetectDoubleSqeeze */
    TENDON_ACTIV5_EVENT_ERROR,                /**< a value was rejected: status, characteristic */
    TENDON_ACTIV5_EVENT_DONE,                 /**< a request to the device ended: status, request */
    TENDON_ACTIV5_EVENT_READY,                /**< after _open(): status; UNSUPPORTED if it is not an Activ5 device */
    TENDON_ACTIV5_EVENT_COUNT
} tendon_activ5_event_kind;

/** Lent for the callback. Members that the kind does not name are 0. */
typedef struct tendon_activ5_event {
    tendon_activ5_event_kind kind;
    tendon_activ5_device *device; /**< NULL: of the manager */
    uint64_t received_at;         /**< when the PDU arrived that caused it, monotonic nanoseconds; 0: none did */
    uint64_t sampled_at;          /**< IMU: when it was measured, monotonic nanoseconds; 0: not known */
    uint32_t error_us;            /**< bound of the error of sampled_at, see tendon/devices/clock.h */
    tendon_status status;
    tendon_activ5_characteristic characteristic;
    const tendon_activ5_message *message; /**< MESSAGE to BATTERY */
    const tendon_activ5_request *request; /**< DONE; a write's value is not kept, only its length */
    bool on;
} tendon_activ5_event;

typedef void (*tendon_activ5_on_event)(void *context, const tendon_activ5_event *event, uint64_t now);

/* ---- the device ---- */

#define TENDON_ACTIV5_NAME_SIZE 64
#define TENDON_ACTIV5_KEPT_SIZE 64

/** A text that the device sent, truncated between characters if it is longer. */
typedef struct tendon_activ5_text {
    uint8_t bytes[TENDON_ACTIV5_KEPT_SIZE]; /**< UTF-8, not terminated */
    uint8_t length;
    bool known;
} tendon_activ5_text;

typedef struct tendon_activ5_counters {
    uint64_t values;   /**< values of characteristics that were processed */
    uint64_t messages; /**< parsed */
    uint64_t errors;   /**< values or texts rejected */
    uint64_t squeezes, double_squeezes;
    uint64_t ignored; /**< inputs that do not fit the state of the connection; ignored */
} tendon_activ5_counters;

/** Silence after which a device that sends no first message is offered the handshake. */
#define TENDON_ACTIV5_SILENCE_MS 1500u
/** Maximum time from discovery to READY, if the device never is silent. */
#define TENDON_ACTIV5_GREETING_MS 10000u

/** State of the connection; after disconnect() the data state alone does not indicate it. */
typedef enum tendon_activ5_link_state {
    TENDON_ACTIV5_LINK_NONE = 0,
    TENDON_ACTIV5_LINK_CONNECTING,
    TENDON_ACTIV5_LINK_UP,
    TENDON_ACTIV5_LINK_CLOSING /**< disconnect() was called, the disconnection is not confirmed yet */
} tendon_activ5_link_state;

/**
 * Caller's memory. An application may read all of it, and write should_reconnect,
 * forget and program. Texts and battery stay after the end of a connection until the next.
 */
struct tendon_activ5_device {
    /* Used by a manager. */
    bool listed;     /**< in the manager's list */
    bool reconnects; /**< the connection was lost: the manager connects the device when it is found again */
    bool forget;     /**< forgetAfterDisconnected */
    uint8_t name_length;
    /* State. */
    bool should_reconnect;     /**< written by the application only; true at first */
    bool disconnect_requested; /**< the end of this connection was requested: no reconnection */
    bool uses_new_protocol;
    bool discovered;   /**< discovery completed on this connection */
    bool initialized;  /**< communicationInitialized */
    bool opening;      /**< READY is pending */
    bool offered;      /**< the automatic handshake was sent on this connection */
    bool starts_force; /**< tendon_activ5_device_start_isometric_when_ready() is pending */
    bool evergreen;    /**< kept over connections */
    bool has_battery;
    uint8_t battery;          /**< percent, when has_battery */
    uint16_t characteristics; /**< discovered on this connection: bit 1 << tendon_activ5_characteristic */
    tendon_activ5_data_state state;
    tendon_activ5_link_state link;
    const tendon_activ5_options *options; /**< borrowed */
    tendon_activ5_on_event on_event;
    void *event_context;
    tendon_activ5_on_request on_request; /**< of the session while a session is attached, otherwise as set by init() */
    void *request_context;
    void *program;        /**< for the application; NULL in a new entry */
    uint64_t now;         /**< time of the current input; of a timer that is late, its deadline */
    uint64_t received_at; /**< of the value that is being taken, monotonic nanoseconds; 0: none is */
    uint32_t interval_us; /**< of its connection; 0: values do not wait for their turn */
    uint64_t ticks;       /**< of the last motion sample, without wraps */
    tendon_clock model;   /**< of its clock; kept over connections */
    uint64_t clock;       /**< time of the latest tick: of the requests that a late timer makes */
    uint64_t evergreen_deadline;
    uint64_t silence_deadline, greeting_deadline; /**< while opening or starts_force */
    uint32_t search;                              /**< number of the manager's search that last found it */
    tendon_activ5_counters counters;
    double rssi; /**< dBm; 0: not known */
    tendon_activ5_squeeze squeeze;
    tendon_address peer;                /**< address of the last advertisement */
    char name[TENDON_ACTIV5_NAME_SIZE]; /**< not terminated */
    /* Received from the device. */
    tendon_activ5_text version, serial_number, sn1, sn2, uuid1, uuid2;
    tendon_activ5_deframer deframer;
};

/** @param options borrowed as long as the device lives. */
void tendon_activ5_device_init(tendon_activ5_device *device, const tendon_activ5_options *options,
                               tendon_activ5_on_event on_event, void *event_context,
                               tendon_activ5_on_request on_request, void *request_context);

/** Returns the SDK's `connected`: true in all states except disconnected and connecting. */
static inline bool tendon_activ5_device_connected(const tendon_activ5_device *device) {
    return device->state >= TENDON_ACTIV5_STATE_CONNECTED;
}
/** Returns true if the characteristic was discovered on this connection. FORCE also for F0F1 if options.accept_f0f1 is
 * set. */
bool tendon_activ5_device_has(const tendon_activ5_device *device, tendon_activ5_characteristic which);

/* ---- calls of the application ---- */

/**
 * Requests the connection; requests it again if an attempt is in progress, even if the attempt has not ended yet after
 * the adapter was switched off. TENDON_ERROR_WRONG_STATE if the device is connected or closing, or the error of the
 * request.
 */
tendon_status tendon_activ5_device_connect(tendon_activ5_device *device, uint64_t now);
/**
 * Connects if the device is not connected, and reports READY once: after the device has sent its first message and the
 * handshake was exchanged. A device that is silent for TENDON_ACTIV5_SILENCE_MS after discovery is offered the
 * handshake if options.auto_handshake is set; READY follows its response, or another period of silence. CONNECT_FAILED
 * or DISCONNECTED without READY: the device could not be opened. A device that is ready already reports READY with the
 * next tick.
 * @return as tendon_activ5_device_connect(); WRONG_STATE while the connection is closing.
 */
tendon_status tendon_activ5_device_open(tendon_activ5_device *device, uint64_t now);
/** Returns true if communication is initialized and the device has sent its first message (a device without 5A02 sends
 * none). */
bool tendon_activ5_device_is_ready(const tendon_activ5_device *device);
/** Disconnects: the state becomes disconnected immediately, DISCONNECTED is reported when the connection has ended. No
 * reconnection follows. WRONG_STATE without a connection. */
tendon_status tendon_activ5_device_disconnect(tendon_activ5_device *device, uint64_t now);
/**
 * Writes a command (NOT_READY without 5A02) or reads its characteristic (NOT_READY without it). Stop sets the state;
 * doHandshake is followed by the requests for ids and serials that the device has no characteristic for.
 */
tendon_status tendon_activ5_device_send(tendon_activ5_device *device, tendon_activ5_command command, uint64_t now);
/** Frames and writes any text of up to TENDON_ACTIV5_SEND_MAX bytes. */
#define TENDON_ACTIV5_SEND_MAX 18
tendon_status tendon_activ5_device_send_text(tendon_activ5_device *device, const char *text, size_t length,
                                             uint64_t now);
/** Subscribes to F0FE; without F0FE, writes startIsometric; otherwise returns NOT_READY. */
tendon_status tendon_activ5_device_start_isometric(tendon_activ5_device *device, uint64_t now);
/**
 * Does the same, and may be called in the event CONNECTED, as in the vendor's document: the request is kept until the
 * discovery and the handshake are completed, then it is sent. If it cannot be sent then, ERROR reports the reason
 * (characteristic FORCE). stop() and the end of the connection discard the request. NOT_READY without a connection.
 */
tendon_status tendon_activ5_device_start_isometric_when_ready(tendon_activ5_device *device, uint64_t now);
/** Unsubscribes from F0FE; without F0FE, writes stop; otherwise returns NOT_READY. The state becomes stop. */
tendon_status tendon_activ5_device_stop(tendon_activ5_device *device, uint64_t now);
/** Sets the current load as zero; the device must not be pressed. NOT_READY without 5A02. */
tendon_status tendon_activ5_device_tare(tendon_activ5_device *device, uint64_t now);
/** Starts motion data. NOT_READY before the discovery is completed, IMU_UNSUPPORTED without F0F5. */
tendon_status tendon_activ5_device_start_imu(tendon_activ5_device *device, uint64_t now);
tendon_status tendon_activ5_device_stop_imu(tendon_activ5_device *device, uint64_t now);
/** Writes the sample rate. NOT_READY before the discovery is completed, UNSUPPORTED without F0FA, RANGE if the rate is
 * not an int16. */
tendon_status tendon_activ5_device_set_sample_rate(tendon_activ5_device *device, int64_t rate, uint64_t now);
/** Returns the battery level in percent. If it is unknown, requests a read of 2A19 (if present) and returns
 * BATTERY_LEVEL_NOT_READABLE. */
tendon_status tendon_activ5_device_get_battery(tendon_activ5_device *device, uint64_t now);
/** Returns the length of serial_number; 0 if 2A25 is absent; NOT_READY before it is read, or known to be absent. */
tendon_status tendon_activ5_device_get_serial_number(const tendon_activ5_device *device);
/** Writes id 1 followed by id 2 and returns the length; NOT_READY until both are known; BUFFER_TOO_SMALL if @p size is
 * too small (2 x KEPT_SIZE is always enough). */
tendon_status tendon_activ5_device_get_uuid(const tendon_activ5_device *device, uint8_t *out, size_t size);
/** Enables evergreen mode and restarts its period, or disables it. A new connection keeps the setting and restarts the
 * period. */
void tendon_activ5_device_set_evergreen(tendon_activ5_device *device, bool on, uint64_t now);

/* ---- inputs from the owner of the connection ---- */

void tendon_activ5_device_link_up(tendon_activ5_device *device, uint64_t now);
/** The attempt ended without a connection. Reports DISCONNECTED after disconnect(), otherwise CONNECT_FAILED. */
void tendon_activ5_device_link_failed(tendon_activ5_device *device, tendon_status reason, uint64_t now);
void tendon_activ5_device_link_down(tendon_activ5_device *device, tendon_status reason, uint64_t now);
/**
 * @param is_new service F0F0 is present. @param found the known characteristics in the order they were found;
 * duplicates and unknown characteristics are ignored.
 */
void tendon_activ5_device_discovered(tendon_activ5_device *device, bool is_new,
                                     const tendon_activ5_characteristic *found, size_t count, uint64_t now);
/** Processes a notification or the response to a read. Expired timers are processed first, each with its own deadline
 * as the time. */
void tendon_activ5_device_value(tendon_activ5_device *device, tendon_activ5_characteristic which, const uint8_t *data,
                                size_t length, uint64_t now);
/** A SUBSCRIBE, UNSUBSCRIBE, READ or WRITE ended: reported as DONE. Must be called exactly once for each accepted
 * request. */
void tendon_activ5_device_done(tendon_activ5_device *device, const tendon_activ5_request *request, tendon_status status,
                               uint64_t now);
/** Processes all expired timers in the order of their deadlines, each with its deadline as the time. */
void tendon_activ5_device_tick(tendon_activ5_device *device, uint64_t now);
/** UINT64_MAX: never. */
uint64_t tendon_activ5_device_deadline(const tendon_activ5_device *device);

#ifdef __cplusplus
}
#endif
#endif
