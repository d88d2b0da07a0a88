/* SPDX-License-Identifier: MIT */
/*
 * Bose wearable sensor service: every value of the service, both directions.
 * Stateless. Wire format: docs/protocols/bose.md.
 */
#ifndef TENDON_DEVICES_BOSE_CODEC_H
#define TENDON_DEVICES_BOSE_CODEC_H

#include "tendon/host.h"
#include "tendon/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_BOSE_SERVICE 0xFDD2
#define TENDON_BOSE_BMAP_SERVICE 0xFEBE

/** The seven characteristics, in the order of docs/protocols/bose.md. */
typedef enum tendon_bose_characteristic {
    TENDON_BOSE_DEVICE_INFORMATION = 0,
    TENDON_BOSE_SENSOR_INFORMATION,
    TENDON_BOSE_SENSOR_CONFIGURATION,
    TENDON_BOSE_SENSOR_DATA,
    TENDON_BOSE_GESTURE_INFORMATION,
    TENDON_BOSE_GESTURE_CONFIGURATION,
    TENDON_BOSE_GESTURE_DATA,
    TENDON_BOSE_CHARACTERISTIC_COUNT
} tendon_bose_characteristic;

tendon_uuid tendon_bose_uuid(tendon_bose_characteristic which);

/*
 * Statuses of this layer. X(name, code, text). 1 to 31 come from the codec,
 * 32 to 63 from the session.
 */
#define TENDON_BOSE_STATUS_LIST(X)                                                                                     \
    X(UNKNOWN_SENSOR, 1, "the device does not list the sensor")                                                        \
    X(UNKNOWN_GESTURE, 2, "the device does not list the gesture")                                                      \
    X(INVALID_PERIOD, 3, "the sensor does not support the sample period")                                              \
    X(BAD_RECORD, 4, "the gesture information matches neither of its two layouts")                                     \
    X(BAD_RANGE, 5, "minimum and maximum are in the wrong order")                                                      \
    X(INVALID_ACCURACY, 6, "the accuracy of a vector is greater than 3")                                               \
    X(SHORT_SAMPLE, 7, "the device reports fewer bytes than a sample of the sensor has")                               \
    X(FIRMWARE_UPDATE_REQUIRED, 32, "the firmware is too old for the sensor service")                                  \
    X(UNSUPPORTED_DEVICE, 33, "the Bose device does not have the wearable sensor service")                             \
    X(NO_MATCHING_DEVICE_TYPE, 34, "the device lacks a service that a session requires")                               \
    X(MISSING_CHARACTERISTIC, 35, "the device lacks a characteristic that a session requires")                         \
    X(DISCONNECTED_BY_DEVICE, 36, "the device disconnected")                                                           \
    X(REFRESH_REQUIRED, 37, "the cached attribute table is stale; forget the device and pair again")                   \
    X(BONDING_FAILED, 38, "pairing was rejected or failed")                                                            \
    X(PAIRING_DELEGATE_MISSING, 39, "the device must be put into pairing mode, but no pairing delegate is set")        \
    X(INVALID_RESPONSE, 40, "the device sent a value that cannot be parsed")                                           \
    X(DEVICE_OUT_OF_RANGE, 41, "the device is out of range")                                                           \
    X(DEVICE_NOT_FOUND, 42, "the device was not found")                                                                \
    X(NO_FOCUS, 43, "another program has the focus of the device")                                                     \
    X(MISSING_REQUIRED_DATA, 44, "the configuration has not been read yet")                                            \
    X(INTENTS_CHECK_FAILED, 45, "the device does not support the required sensors, periods or gestures")               \
    X(MISSING_GESTURE_INFORMATION, 46,                                                                                 \
      "the device acknowledged a gesture write before the gesture information was known")                              \
    X(INVALID_REQUEST_LENGTH, 0x80, "the device rejected the length of the configuration")                             \
    X(INVALID_SAMPLE_PERIOD, 0x81, "the device rejected the sample period")                                            \
    X(INVALID_SENSOR_CONFIGURATION, 0x82, "the device rejected the sensor configuration")                              \
    X(CONFIG_EXCEEDS_MAX_THROUGHPUT, 0x83, "the configuration exceeds the throughput of the device")                   \
    X(SERVICE_UNAVAILABLE, 0x84, "the wearable sensor service is suspended")                                           \
    X(INVALID_SENSOR, 0x85, "the device does not have the sensor")                                                     \
    X(DEVICE_TIMEOUT, 0x86, "the device timed out")                                                                    \
    X(DEVICE_UNKNOWN, 0x9F, "the device reported an unknown error")

/** The layer of the family's statuses. */
#define TENDON_LAYER_BOSE 7

#define TENDON_BOSE_STATUS_ENUM(name, code, text) TENDON_BOSE_ERROR_##name = -((int)TENDON_LAYER_BOSE * 256 + (code)),
enum { TENDON_BOSE_STATUS_LIST(TENDON_BOSE_STATUS_ENUM) };
#undef TENDON_BOSE_STATUS_ENUM

/** Maps ATT application errors 0x80 to 0x9F to this layer; returns other statuses unchanged. */
tendon_status tendon_bose_status_from_att(tendon_status status);
/** Returns "BOSE_ERROR_UNKNOWN_SENSOR" ...; for other layers, the result of tendon_status_name(). Never NULL. */
const char *tendon_bose_status_name(tendon_status status);
/** Returns one line about a status; for other layers, the result of tendon_status_text(). Never NULL. */
const char *tendon_bose_status_text(tendon_status status);

/* ---- device information, 19 bytes ---- */

typedef enum tendon_bose_suspension_reason {
    TENDON_BOSE_SUSPENSION_UNKNOWN = 0,
    TENDON_BOSE_SUSPENSION_VOICE_ASSISTANT = 1,
    TENDON_BOSE_SUSPENSION_MULTIPOINT = 2,
    TENDON_BOSE_SUSPENSION_MUSIC_SHARE = 3,
    TENDON_BOSE_SUSPENSION_OTA_FIRMWARE_UPDATE = 4
} tendon_bose_suspension_reason;

typedef struct tendon_bose_device_information {
    uint8_t major, minor;
    uint16_t product_id;
    uint8_t variant;
    uint32_t sensor_mask;           /**< bit n = sensor id n; unknown bits kept */
    uint32_t gesture_mask;          /**< see tendon_bose_gesture_bit() */
    uint8_t transmission_period_ms; /**< 0: immediately */
    uint16_t max_payload;           /**< bytes per transmission period, 0: no limit */
    uint8_t max_active_sensors;     /**< 0: no limit */
    uint16_t status;                /**< raw */
    size_t trailing_bytes;
} tendon_bose_device_information;

enum {
    TENDON_BOSE_STATUS_PAIRING_ENABLED = 0x01,
    TENDON_BOSE_STATUS_PAIRING_REQUIRED = 0x02,
    TENDON_BOSE_STATUS_ALREADY_PAIRED = 0x04,
    TENDON_BOSE_STATUS_SUSPENDED = 0x08
};

tendon_status tendon_bose_decode_device_information(const uint8_t *data, size_t length,
                                                    tendon_bose_device_information *out, size_t *offset);
/** Returns bit TENDON_BOSE_STATUS_SUSPENDED of a raw status. */
bool tendon_bose_suspended(uint16_t status);
/** Returns the suspension reason of a raw status; valid only if suspended; 5 to 15 are unknown. */
tendon_bose_suspension_reason tendon_bose_suspension_reason_of(uint16_t status);
/** Returns "unknown", "voice_assistant", "multipoint_connection", "music_share" or "ota_firmware_update", spelled as in
 * the test vectors. */
const char *tendon_bose_suspension_reason_name(tendon_bose_suspension_reason reason);
/** Returns "Bose Frames" ..., or "unknown". */
const char *tendon_bose_product_name(uint16_t product_id);
const char *tendon_bose_variant_name(uint16_t product_id, uint8_t variant);

/* ---- sensors ---- */

typedef enum tendon_bose_sensor {
    TENDON_BOSE_ACCELEROMETER = 0, /**< g */
    TENDON_BOSE_GYROSCOPE = 1,     /**< degrees per second */
    TENDON_BOSE_ROTATION = 2,      /**< quaternion, magnetic north */
    TENDON_BOSE_GAME_ROTATION = 3, /**< quaternion, arbitrary heading */
    TENDON_BOSE_ORIENTATION = 4,
    TENDON_BOSE_MAGNETOMETER = 5,
    TENDON_BOSE_UNCALIBRATED_MAGNETOMETER = 6,
    TENDON_BOSE_SENSOR_COUNT = 7
} tendon_bose_sensor;

/** Size of the id and the timestamp before each sample. */
#define TENDON_BOSE_SAMPLE_HEADER_SIZE 3
/** Returns "accelerometer" ..., or "unknown". */
const char *tendon_bose_sensor_name(uint8_t sensor_id);
/** Returns the length of a known sensor's sample, from the table of docs/protocols/bose.md; 0 for unknown sensors. */
uint8_t tendon_bose_sample_length(uint8_t sensor_id);
/** Returns "unreliable", "low", "medium" or "high"; "unknown" above 3. */
const char *tendon_bose_accuracy_name(uint8_t accuracy);

/** Maximum number of sensors that a device can list; more result in TENDON_ERROR_TABLE_FULL. */
#define TENDON_BOSE_SENSORS_MAX 16
#define TENDON_BOSE_GESTURES_MAX 16

typedef struct tendon_bose_sensor_record {
    uint8_t sensor_id;
    int16_t scaled_min, scaled_max;
    int16_t raw_min, raw_max;
    uint16_t period_mask;
    uint8_t sample_length; /**< without the header */
    double scale;          /**< (scaled_max - scaled_min) / (raw_max - raw_min) */
} tendon_bose_sensor_record;

typedef struct tendon_bose_rejected_record {
    uint16_t offset; /**< start of the record; 65535 also for larger offsets */
    uint8_t sensor_id;
    tendon_status status; /**< TENDON_BOSE_ERROR_BAD_RANGE */
} tendon_bose_rejected_record;

typedef struct tendon_bose_sensor_information {
    tendon_bose_sensor_record records[TENDON_BOSE_SENSORS_MAX];
    size_t count;
    /** Length of a whole record of sensor n if records[n] describes it with the length of the table, otherwise 0. Set
     * by the decoder. An application that fills the list itself can leave it 0; decoding samples is then slower. */
    uint8_t usual[8];
    tendon_bose_rejected_record rejected[TENDON_BOSE_SENSORS_MAX];
    size_t rejected_count;
    size_t duplicates; /**< records with an id that occurred before; the first record is used */
    size_t trailing_bytes;
} tendon_bose_sensor_information;

/** @return TENDON_OK, or TENDON_ERROR_TABLE_FULL with the first records. */
tendon_status tendon_bose_decode_sensor_information(const uint8_t *data, size_t length,
                                                    tendon_bose_sensor_information *out, size_t *offset);
const tendon_bose_sensor_record *tendon_bose_find_sensor(const tendon_bose_sensor_information *information,
                                                         uint8_t sensor_id);

/** Returns 320, 160, 80, 40, 20, 10 or 5 for bits 0 to 6; 0 for others. */
uint16_t tendon_bose_period_of_bit(unsigned bit);
/** Returns the bit of one of the seven periods, or -1. */
int tendon_bose_bit_of_period(uint16_t period_ms);

typedef struct tendon_bose_sensor_setting {
    uint8_t sensor_id;
    uint16_t period_ms; /**< 0: disabled; unknown values are kept */
} tendon_bose_sensor_setting;

/** The whole list, in wire order; it is always written back completely. */
typedef struct tendon_bose_sensor_configuration {
    tendon_bose_sensor_setting settings[TENDON_BOSE_SENSORS_MAX];
    size_t count;
    size_t trailing_bytes;
} tendon_bose_sensor_configuration;

tendon_status tendon_bose_decode_sensor_configuration(const uint8_t *data, size_t length,
                                                      tendon_bose_sensor_configuration *out, size_t *offset);
/** @return the length: 3 bytes per setting. */
tendon_status tendon_bose_encode_sensor_configuration(const tendon_bose_sensor_configuration *configuration,
                                                      uint8_t *out, size_t capacity);

/*
 * Changes in place. @p information may be NULL (any of the seven periods is
 * allowed then). On error nothing is changed: BOSE_ERROR_UNKNOWN_SENSOR,
 * BOSE_ERROR_INVALID_PERIOD. All enabled sensors share one period.
 */
tendon_status tendon_bose_enable_sensor(tendon_bose_sensor_configuration *configuration, uint8_t sensor_id,
                                        uint16_t period_ms, const tendon_bose_sensor_information *information);
tendon_status tendon_bose_disable_sensor(tendon_bose_sensor_configuration *configuration, uint8_t sensor_id);
void tendon_bose_disable_all_sensors(tendon_bose_sensor_configuration *configuration);
/** Sets the period of the enabled sensors; 0 disables them all. */
tendon_status tendon_bose_set_sensor_period(tendon_bose_sensor_configuration *configuration, uint16_t period_ms,
                                            const tendon_bose_sensor_information *information);
/** Returns the period of the first enabled entry; 0 if none is enabled. */
uint16_t tendon_bose_enabled_period(const tendon_bose_sensor_configuration *configuration);

/* ---- sensor data ---- */

/** Converts one raw count with the reported profile: (raw - raw_min) * scale + scaled_min. */
static inline double tendon_bose_scale_reported(const tendon_bose_sensor_record *record, int16_t raw) {
    return (double)(raw - record->raw_min) * record->scale + (double)record->scaled_min;
}
/** The fixed profile: vector components. For the gyroscope this is not deg/s. */
static inline double tendon_bose_scale_fixed_vector(int16_t raw) {
    return (double)raw / 4096.0;
}
/** The fixed profile: quaternion components (and the accuracy of the rotation sensor). */
static inline double tendon_bose_scale_fixed_quaternion(int16_t raw) {
    return (double)raw / 16384.0;
}

typedef struct tendon_bose_vector {
    double x, y, z;
} tendon_bose_vector;

/** Conversion of raw counts to values. */
typedef enum tendon_bose_profile {
    TENDON_BOSE_PROFILE_REPORTED = 0, /**< with the device's sensor information; this is the normative profile */
    TENDON_BOSE_PROFILE_FIXED = 1     /**< 1/4096 and 1/16384; not deg/s for the gyroscope */
} tendon_bose_profile;

/** One sample. Members that the sensor does not have are 0. */
typedef struct tendon_bose_sample {
    uint8_t sensor_id;
    uint16_t timestamp; /**< device clock, ms, wraps */
    bool has_vector, has_quaternion, has_accuracy, has_bias;
    bool accuracy_unknown; /**< rotation: the accuracy was negative */
    uint8_t accuracy;      /**< vector sensors: 0 unreliable to 3 high */
    int16_t accuracy_raw;  /**< rotation */
    int16_t raw[4];        /**< x, y, z(, w) */
    int16_t raw_bias[4];   /**< x, y, z, 0 */
    union {
        tendon_bose_vector vector;
        tendon_quaternion quaternion;
    };
    double accuracy_rad; /**< rotation: estimated error, by the same profile; see accuracy_unknown */
    tendon_bose_vector bias;
} tendon_bose_sample;

/** Reason why a record was skipped. */
typedef struct tendon_bose_skipped {
    size_t offset;
    uint8_t sensor_id;
    tendon_status reason; /**< BOSE_ERROR_UNKNOWN_SENSOR, _INVALID_ACCURACY or _SHORT_SAMPLE */
} tendon_bose_skipped;

/** Walks the records of a sensor data notification, without a copy. */
typedef struct tendon_bose_sensor_data {
    const uint8_t *data;
    size_t length, position;
    size_t error_offset;  /**< start of the record at which the walk stopped */
    tendon_status status; /**< TENDON_OK, TENDON_ERROR_TRUNCATED or BOSE_ERROR_UNKNOWN_SENSOR after it stopped early */
    tendon_bose_profile profile;
    const tendon_bose_sensor_information *information; /**< may be NULL with the fixed profile */
} tendon_bose_sensor_data;

typedef enum tendon_bose_step {
    TENDON_BOSE_STEP_END = 0,
    TENDON_BOSE_STEP_SAMPLE,
    TENDON_BOSE_STEP_SKIPPED
} tendon_bose_step;

/** @p data (may be NULL when @p length is 0) and @p information are borrowed for as long as the walk lasts. */
static inline tendon_bose_sensor_data tendon_bose_sensor_data_begin(const uint8_t *data, size_t length,
                                                                    const tendon_bose_sensor_information *information,
                                                                    tendon_bose_profile profile) {
    tendon_bose_sensor_data walk = {data, length, 0, 0, TENDON_OK, profile, information}; /* C++ reads it too */
    return walk;
}

/** Implementation of tendon_bose_sensor_data_next(), which calls it while bytes are left. */
tendon_bose_step tendon_bose_sensor_data_take(tendon_bose_sensor_data *data, tendon_bose_sample *sample,
                                              tendon_bose_skipped *skipped);

/** Reads the next record: a sample in *sample, or a skipped record in *skipped (may be NULL). At END, see status. */
static inline tendon_bose_step tendon_bose_sensor_data_next(tendon_bose_sensor_data *data, tendon_bose_sample *sample,
                                                            tendon_bose_skipped *skipped) {
    if (data->position == data->length) {
        return TENDON_BOSE_STEP_END;
    }
    return tendon_bose_sensor_data_take(data, sample, skipped);
}

/** Maximum length of a notification value that a session keeps: the maximum of MTU 517. */
#define TENDON_BOSE_SENSOR_DATA_MAX 514

/** Device clock unwrapped to 64 bits. */
typedef struct tendon_bose_clock {
    bool started;
    uint16_t last;
    uint64_t device_ms; /**< unwrapped, starts at the first timestamp */
    uint64_t host_ms;   /**< monotonic time of the last one */
} tendon_bose_clock;

/** Unwraps a timestamp; a gap over 65.5 s is resolved by the host's time. Returns device milliseconds. */
uint64_t tendon_bose_unwrap(tendon_bose_clock *clock, uint16_t timestamp, uint64_t now);

/* ---- gestures ---- */

typedef enum tendon_bose_gesture {
    TENDON_BOSE_SINGLE_TAP = 0x80,
    TENDON_BOSE_DOUBLE_TAP = 0x81,
    TENDON_BOSE_HEAD_NOD = 0x82,
    TENDON_BOSE_HEAD_SHAKE = 0x83,
    TENDON_BOSE_TOUCH_AND_HOLD = 0x84,
    TENDON_BOSE_INPUT = 0xC0,
    TENDON_BOSE_AFFIRMATIVE = 0xC1,
    TENDON_BOSE_NEGATIVE = 0xC2
} tendon_bose_gesture;

/** Returns "double_tap" ..., or "unknown". */
const char *tendon_bose_gesture_name(uint8_t gesture_id);
bool tendon_bose_gesture_known(uint8_t gesture_id);
/** Returns the bit of a gesture in the gesture mask of the device information, or -1. */
int tendon_bose_gesture_bit(uint8_t gesture_id);
/** Returns the gesture id of a mask bit, or -1. */
int tendon_bose_gesture_of_bit(unsigned bit);

typedef struct tendon_bose_gesture_record {
    uint8_t gesture_id;
    uint16_t payload_length;
} tendon_bose_gesture_record;

typedef struct tendon_bose_gesture_information {
    tendon_bose_gesture_record records[TENDON_BOSE_GESTURES_MAX];
    size_t count;
    uint8_t record_size; /**< 3, or 2 on 2018 firmware */
    size_t trailing_bytes;
} tendon_bose_gesture_information;

/** @return TENDON_OK, TENDON_ERROR_TABLE_FULL, or BOSE_ERROR_BAD_RECORD when neither layout fits. */
tendon_status tendon_bose_decode_gesture_information(const uint8_t *data, size_t length,
                                                     tendon_bose_gesture_information *out, size_t *offset);

/** Longest gesture configuration value. */
#define TENDON_BOSE_GESTURE_CONFIGURATION_MAX 64

/** The raw value and the offsets of its entries; unknown gestures are written back unchanged. */
typedef struct tendon_bose_gesture_configuration {
    uint8_t bytes[TENDON_BOSE_GESTURE_CONFIGURATION_MAX];
    size_t length;
    struct tendon_bose_gesture_entry {
        uint8_t gesture_id;
        bool enabled;
        uint16_t payload_offset, payload_length;
    } entries[TENDON_BOSE_GESTURES_MAX];
    size_t count;
} tendon_bose_gesture_configuration;

/**
 * @p information may be NULL: then every payload is one byte.
 * @return TENDON_OK; TENDON_ERROR_TRUNCATED or TENDON_ERROR_TABLE_FULL (*offset = the entry; earlier ones are valid;
 *         no base for a write); TENDON_ERROR_BUFFER_TOO_SMALL: longer than TENDON_BOSE_GESTURE_CONFIGURATION_MAX.
 */
tendon_status tendon_bose_decode_gesture_configuration(const uint8_t *data, size_t length,
                                                       const tendon_bose_gesture_information *information,
                                                       tendon_bose_gesture_configuration *out, size_t *offset);
tendon_status tendon_bose_encode_gesture_configuration(const tendon_bose_gesture_configuration *configuration,
                                                       uint8_t *out, size_t capacity);
/** Enables or disables a gesture. BOSE_ERROR_UNKNOWN_GESTURE if it is not in the list, or its payload has an unknown
 * format. */
tendon_status tendon_bose_set_gesture(tendon_bose_gesture_configuration *configuration, uint8_t gesture_id,
                                      bool enabled);
/** Enables or disables all known gestures. */
void tendon_bose_set_all_gestures(tendon_bose_gesture_configuration *configuration, bool enabled);

typedef struct tendon_bose_gesture_data {
    uint8_t gesture_id; /**< unknown ids are delivered */
    uint16_t timestamp;
    size_t trailing_bytes;
} tendon_bose_gesture_data;

tendon_status tendon_bose_decode_gesture_data(const uint8_t *data, size_t length, tendon_bose_gesture_data *out,
                                              size_t *offset);

/* ---- intents ---- */

/** Requirements of an application; an empty set requires nothing. */
typedef struct tendon_bose_intent {
    uint32_t sensors;  /**< bit n = sensor id n */
    uint16_t periods;  /**< bits as in sensor information */
    uint32_t gestures; /**< bits as in device information */
} tendon_bose_intent;

typedef struct tendon_bose_intent_check {
    uint32_t missing_sensors;
    uint16_t missing_periods;
    uint32_t missing_gestures;
    bool too_many_sensors; /**< warning: more than max active sensors */
    bool over_payload;     /**< warning: more bytes than one transmission period can carry */
} tendon_bose_intent_check;

/** @return TENDON_OK (warnings may be set) or BOSE_ERROR_INTENTS_CHECK_FAILED. */
tendon_status tendon_bose_check_intent(const tendon_bose_intent *intent, const tendon_bose_device_information *device,
                                       const tendon_bose_sensor_information *sensors,
                                       const tendon_bose_gesture_information *gestures, tendon_bose_intent_check *out);

/* ---- advertisements ---- */

/** Type of a Bose advertisement. */
typedef enum tendon_bose_advertised {
    TENDON_BOSE_ADVERTISED_NOTHING = 0,
    TENDON_BOSE_ADVERTISED_SENSOR_SERVICE, /**< FDD2 */
    TENDON_BOSE_ADVERTISED_OLD_FIRMWARE    /**< FEBE without FDD2, manufacturer data 01 09: read the serial number */
} tendon_bose_advertised;

tendon_bose_advertised tendon_bose_recognize(const uint8_t *data, size_t length);
/** Returns the status of a device with old firmware: FIRMWARE_UPDATE_REQUIRED if the serial number ends with "AZ",
 * otherwise UNSUPPORTED_DEVICE. */
tendon_status tendon_bose_status_of_serial(const char *serial, size_t length);

typedef enum tendon_bose_signal {
    TENDON_BOSE_SIGNAL_WEAK,
    TENDON_BOSE_SIGNAL_MODERATE,
    TENDON_BOSE_SIGNAL_STRONG,
    TENDON_BOSE_SIGNAL_FULL
} tendon_bose_signal;
/** Classifies a signal strength: > -35 full, > -45 strong, > -55 moderate, otherwise weak. */
tendon_bose_signal tendon_bose_signal_of(int8_t rssi);

#ifdef __cplusplus
}
#endif
#endif
