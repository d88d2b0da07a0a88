/* SPDX-License-Identifier: MIT */
/*
 * Bose session: opens a connected device (discovery, serial reading order,
 * pairing), keeps its state, delivers events. Driven through
 * tendon_bose_session_inputs; state table in docs/protocols/bose.md.
 */
#ifndef TENDON_DEVICES_BOSE_SESSION_H
#define TENDON_DEVICES_BOSE_SESSION_H

#include "tendon/devices/bose_codec.h"
#include "tendon/devices/clock.h"
#include "tendon/devices/operation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tendon_bose_state {
    TENDON_BOSE_CLOSED = 0,
    TENDON_BOSE_CONNECTING,
    TENDON_BOSE_DISCOVERING,
    TENDON_BOSE_READING_INFORMATION,
    TENDON_BOSE_WAITING_PAIRING_MODE,
    TENDON_BOSE_BONDING,
    TENDON_BOSE_STARTING,
    TENDON_BOSE_OPEN,
    TENDON_BOSE_SUSPENDED,
    TENDON_BOSE_CLOSING,
    TENDON_BOSE_STATE_COUNT
} tendon_bose_state;

const char *tendon_bose_state_name(tendon_bose_state state);

#define TENDON_BOSE_CONNECT_TIMEOUT_MS 10000u
#define TENDON_BOSE_OPERATION_TIMEOUT_MS 5000u
#define TENDON_BOSE_OPEN_TIMEOUT_MS 30000u

/** Device Information service (0x180A) strings. */
typedef enum tendon_bose_string {
    TENDON_BOSE_STRING_MODEL = 0,    /**< 2A24 */
    TENDON_BOSE_STRING_SERIAL,       /**< 2A25 */
    TENDON_BOSE_STRING_FIRMWARE,     /**< 2A26 */
    TENDON_BOSE_STRING_HARDWARE,     /**< 2A27 */
    TENDON_BOSE_STRING_SOFTWARE,     /**< 2A28 */
    TENDON_BOSE_STRING_MANUFACTURER, /**< 2A29 */
    TENDON_BOSE_STRING_COUNT
} tendon_bose_string;

#define TENDON_BOSE_STRING_SIZE 32

/** Absent characteristics have length 0 and present = false. Longer strings are truncated to TENDON_BOSE_STRING_SIZE.
 */
typedef struct tendon_bose_device_strings {
    struct tendon_bose_device_string {
        char bytes[TENDON_BOSE_STRING_SIZE]; /**< not terminated */
        uint8_t length;
        bool present;
    } strings[TENDON_BOSE_STRING_COUNT];
    uint8_t system_id[8];                        /**< 2A23 */
    uint8_t pnp_id[7];                           /**< 2A50 */
    uint8_t regulatory[TENDON_BOSE_STRING_SIZE]; /**< 2A2A */
    uint8_t regulatory_length;
    bool has_system_id, has_pnp_id, has_regulatory;
} tendon_bose_device_strings;

typedef enum tendon_bose_firmware {
    TENDON_BOSE_FIRMWARE_UNKNOWN = 0,
    TENDON_BOSE_FIRMWARE_UP_TO_DATE,
    TENDON_BOSE_FIRMWARE_UPDATE_AVAILABLE,
    TENDON_BOSE_FIRMWARE_UPDATE_REQUIRED
} tendon_bose_firmware;

/** Pluggable firmware check: called once per opening, from within the session; returns the result in the call. */
typedef struct tendon_bose_firmware_checker {
    void *context;
    tendon_bose_firmware (*check)(void *context, uint16_t product_id, const char *installed, size_t length);
} tendon_bose_firmware_checker;

typedef enum tendon_bose_event_kind {
    TENDON_BOSE_EVENT_OPENED = 0,  /**< sessionDidOpen */
    TENDON_BOSE_EVENT_OPEN_FAILED, /**< didFailToOpen(status) */
    TENDON_BOSE_EVENT_CLOSED,      /**< didClose(status); TENDON_OK if requested */
    TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE,
    TENDON_BOSE_EVENT_PAIRING_STARTED,
    /** status. Follows REQUIRES_PAIRING_MODE and PAIRING_STARTED exactly once, whatever the result. TENDON_OK: paired,
     * or the device no longer requires pairing. */
    TENDON_BOSE_EVENT_PAIRING_FINISHED,
    TENDON_BOSE_EVENT_DEVICE_STRINGS, /**< didUpdateDeviceInformation */
    TENDON_BOSE_EVENT_DEVICE_INFORMATION,
    TENDON_BOSE_EVENT_SENSOR_INFORMATION,
    TENDON_BOSE_EVENT_SENSOR_CONFIGURATION,
    TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_WRITTEN,
    TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED, /**< status */
    TENDON_BOSE_EVENT_SENSOR_DATA,                 /**< whole notification; its samples follow one by one */
    TENDON_BOSE_EVENT_SAMPLE,
    TENDON_BOSE_EVENT_SENSOR_DATA_END, /**< after the last sample; not reported if a callback closed the session */
    TENDON_BOSE_EVENT_GESTURE_INFORMATION,
    TENDON_BOSE_EVENT_GESTURE_CONFIGURATION,
    TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_WRITTEN,
    TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED, /**< status */
    TENDON_BOSE_EVENT_GESTURE,
    TENDON_BOSE_EVENT_SUSPENDED, /**< reason */
    TENDON_BOSE_EVENT_RESUMED,
    TENDON_BOSE_EVENT_MALFORMED /**< a value was rejected: status, characteristic, offset */
} tendon_bose_event_kind;

/** Lent for the callback. Members that the kind does not name are 0. */
typedef struct tendon_bose_event {
    tendon_bose_event_kind kind;
    tendon_status status;
    uint64_t received_at; /**< when the PDU arrived that caused it, monotonic nanoseconds; 0: none did */
    uint64_t sampled_at;  /**< SAMPLE, GESTURE: when it was measured, monotonic nanoseconds; 0: not known */
    uint32_t error_us;    /**< bound of the error of sampled_at, see tendon/devices/clock.h */
    tendon_bose_characteristic characteristic; /**< MALFORMED */
    size_t offset;                             /**< MALFORMED */
    tendon_uuid service_uuid,
        characteristic_uuid; /**< OPEN_FAILED with MISSING_CHARACTERISTIC / NO_MATCHING_DEVICE_TYPE */
    tendon_bose_suspension_reason reason;
    const tendon_bose_sample *sample;
    uint64_t device_ms; /**< SAMPLE, GESTURE: unwrapped device clock */
    tendon_bose_gesture_data gesture;
    const uint8_t *value; /**< SENSOR_DATA: the notification */
    size_t length;
    const tendon_bose_intent_check *intents; /**< OPEN_FAILED with INTENTS_CHECK_FAILED */
    /** CONFIGURATION_WRITTEN, CONFIGURATION_FAILED: the number of the last configuration of this kind whose outcome
     * this is, see configure_sensors(). 0: an outcome of no write, when the configuration could not be read again. */
    uint16_t configuration;
} tendon_bose_event;

typedef void (*tendon_bose_on_event)(void *context, const tendon_bose_event *event, uint64_t now);

typedef struct tendon_bose_counters {
    uint64_t notifications; /**< sensor data notifications decoded */
    uint64_t samples, gestures;
    uint64_t skipped;        /**< skipped records */
    uint64_t malformed;      /**< values rejected, whole or from an offset on */
    uint64_t dropped;        /**< sensor data before sensor information */
    uint64_t illegal_inputs; /**< inputs that the state table does not allow; harmless */
} tendon_bose_counters;

typedef struct tendon_bose_session_config {
    tendon_session_link link;
    void *context;
    tendon_bose_on_event on_event;
    /** The application prompts the user to put the device into pairing mode. If false, opening a device that requires
     * pairing and is not in pairing mode fails with PAIRING_DELEGATE_MISSING. A device in pairing mode needs none. */
    bool pairing_delegate;
    bool fixed_profile; /**< decode with the fixed profile while sensor information is not known */
    /** The device advertises old firmware (TENDON_BOSE_ADVERTISED_OLD_FIRMWARE): opening reads the serial number and
     * fails with the status that tendon_bose_status_of_serial() returns. */
    bool old_firmware;
    const tendon_bose_intent *intent;      /**< copied; NULL: none. Checked at every opening. */
    tendon_bose_firmware_checker firmware; /**< check may be NULL: unknown */
} tendon_bose_session_config;

/** Maximum length of a value that a session reads. */
#define TENDON_BOSE_VALUE_MAX 256

/** Number of characteristics that a session discovers: those of FDD2, and the strings of Device Information. */
#define TENDON_BOSE_ROWS ((int)TENDON_BOSE_CHARACTERISTIC_COUNT + (int)TENDON_BOSE_STRING_COUNT + 3)

/**
 * Caller's memory. An application may read state, strings, device, sensors, sensor_configuration, gestures,
 * gesture_configuration, their has_ flags, configurations, firmware, intents and counters; all other members are
 * private. The values remain after closing until the next opening reads them again.
 */
typedef struct tendon_bose_session {
    bool has_intent, has_device, has_sensors, has_sensor_configuration, has_gestures, has_gesture_configuration;
    uint16_t configurations; /**< number of the configuration that was accepted last, of sensors or gestures */
    tendon_bose_state state;
    uint32_t generation; /**< incremented by every opening; identifies stale completions */
    /* Owned by CSources/devices/bose/session*.c. Small, frequently used members come first: shorter instructions. */
    struct {
        uint8_t step, index, subscribed, retries;
        bool opening, disconnecting, reapply;
        uint8_t reason, missing_service, missing_characteristic; /**< missing_...: index + 1; 0: none */
        uint16_t sensor_next_length, gesture_next_length, write_length;
        uint16_t sensors_ours, gestures_ours;                 /**< enabled by us, and still enabled: bits by id */
        uint16_t sensors_written, written_period;             /**< by our latest write, whatever the device shows now */
        uint16_t sensor_number, gesture_number, write_number; /**< of configurations: accepted last; being written */
        uint16_t write_before;                                /**< enabled as the write began: bits by id */
        uint32_t pending;                                     /**< pending operations while open, as bits */
        tendon_status outcome;
        /* Contexts of completions and subscriptions. Two openings never share a context, which identifies stale
         * completions. */
        struct tendon_bose_tag {
            struct tendon_bose_session *session;
        } tags[2];
        uint64_t deadline; /**< connecting: of the attempt; bonding: of the next attempt; closing: of the step */
    } work;
    tendon_operation op; /**< link, time, outstanding operation */
    struct {
        tendon_profile_found found[TENDON_BOSE_ROWS];
        union {
            tendon_profile discovery;
            uint8_t value[TENDON_BOSE_VALUE_MAX];
        } scratch; /**< discovery, long reads or the outstanding write: one at a time */
        uint8_t sensor_next[TENDON_BOSE_SENSORS_MAX * 3], gesture_next[TENDON_BOSE_GESTURE_CONFIGURATION_MAX];
    } kept;
    uint64_t open_deadline;
    tendon_bose_counters counters;
    tendon_bose_clock clock;
    tendon_bose_clock model_clock; /**< goes on in the next opening, as does the device's */
    tendon_clock model;
    tendon_bose_session_config config;
    tendon_bose_intent intent;
    tendon_bose_firmware firmware;
    tendon_bose_device_strings strings;
    tendon_bose_device_information device;
    tendon_bose_sensor_information sensors;
    tendon_bose_sensor_configuration sensor_configuration;
    tendon_bose_gesture_information gestures;
    tendon_bose_gesture_configuration gesture_configuration;
    tendon_bose_intent_check intents;
} tendon_bose_session;

/** The inputs of a session, for tendon_connection_attach() and for tests. */
extern const tendon_session_inputs tendon_bose_session_inputs;

tendon_status tendon_bose_session_init(tendon_bose_session *session, const tendon_bose_session_config *config);

/** Starts opening: closed -> connecting. TENDON_ERROR_WRONG_STATE unless closed. A session can be opened any number of
 * times. */
tendon_status tendon_bose_session_open(tendon_bose_session *session, uint64_t now);
/** Disables the sensors and gestures that the session enabled, then disconnects. CLOSED (TENDON_OK) follows, or
 * OPEN_FAILED (CANCELLED) while opening. */
tendon_status tendon_bose_session_close(tendon_bose_session *session, uint64_t now);

/**
 * Writes a whole configuration. The result is reported by events: _WRITTEN followed by the configuration that was read
 * back, or _FAILED. One write is in progress at a time; a newer write is pending, and replaces a pending one. Accepted
 * configurations are numbered from 1 to 65535, then from 1 again: when this returns TENDON_OK, session->configurations
 * is the number of this one (or a later number, if the callback configures). Its result is the event of sensors with
 * that number, or the first one with a later number. @return TENDON_OK, BOSE_ERROR_MISSING_REQUIRED_DATA if no
 * configuration was read yet, TENDON_ERROR_WRONG_STATE.
 */
tendon_status tendon_bose_session_configure_sensors(tendon_bose_session *session,
                                                    const tendon_bose_sensor_configuration *configuration,
                                                    uint64_t now);
/** Enables one sensor at @p period_ms in the last known configuration and writes the configuration. Returns the errors
 * above and those of tendon_bose_enable_sensor(). */
tendon_status tendon_bose_session_enable(tendon_bose_session *session, uint8_t sensor_id, uint16_t period_ms,
                                         uint64_t now);
tendon_status tendon_bose_session_configure_gestures(tendon_bose_session *session,
                                                     const tendon_bose_gesture_configuration *configuration,
                                                     uint64_t now);
/** Reads one characteristic again (not the two data characteristics). Its update event or MALFORMED follows; neither
 * follows if the connection is lost. */
tendon_status tendon_bose_session_refresh(tendon_bose_session *session, tendon_bose_characteristic which, uint64_t now);
/** Reads the strings of service 180A again; DEVICE_STRINGS follows. TENDON_ERROR_NOT_FOUND if the device has no
 * strings. */
tendon_status tendon_bose_session_refresh_strings(tendon_bose_session *session, uint64_t now);

#ifdef __cplusplus
}
#endif
#endif
