/* SPDX-License-Identifier: MIT */
/*
 * feelSpace naviBelt: every packet of the belt, both directions. Stateless. Wire format: docs/protocols/feelspace.md.
 *
 * Encoders return the packet's length, TENDON_ERROR_INVALID_ARGUMENT for arguments that must not be sent to a belt, or
 * TENDON_ERROR_BUFFER_TOO_SMALL. Decoders ignore bytes after the last field, check the length before the values, and
 * write their result only on success. Their offset may be NULL; it receives the offset of the missing or wrong field.
 */
#ifndef TENDON_DEVICES_FEELSPACE_CODEC_H
#define TENDON_DEVICES_FEELSPACE_CODEC_H

#include "tendon/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, code, text). 1 to 31 come from the codec. */
#define TENDON_FEELSPACE_STATUS_LIST(X)                                                                                \
    X(BAD_VALUE, 1, "a field has a value that no belt sends")                                                          \
    X(WRONG_MODE, 2, "the belt ignores the command in its present mode")                                               \
    X(UNSUPPORTED_FIRMWARE, 3, "the firmware of the belt does not support the operation")

/** The layer of the family's statuses. */
#define TENDON_LAYER_FEELSPACE 8

#define TENDON_FEELSPACE_STATUS_ENUM(name, code, text)                                                                 \
    TENDON_FEELSPACE_ERROR_##name = -((int)TENDON_LAYER_FEELSPACE * 256 + (code)),
enum { TENDON_FEELSPACE_STATUS_LIST(TENDON_FEELSPACE_STATUS_ENUM) };
#undef TENDON_FEELSPACE_STATUS_ENUM

/** Returns "FEELSPACE_ERROR_BAD_VALUE" ...; for other layers, the result of tendon_status_name(). Never NULL. */
const char *tendon_feelspace_status_name(tendon_status status);
/** Returns one line about a status; for other layers, the result of tendon_status_text(). Never NULL. */
const char *tendon_feelspace_status_text(tendon_status status);

/* ---- services and characteristics, 16-bit UUIDs ---- */

enum {
    TENDON_FEELSPACE_CONTROL_SERVICE = 0xFE51,
    TENDON_FEELSPACE_SENSOR_SERVICE = 0xFE52,
    TENDON_FEELSPACE_DEBUG_SERVICE = 0xFE53
};

typedef enum tendon_feelspace_characteristic {
    TENDON_FEELSPACE_FIRMWARE_INFO = 0xFE01,
    TENDON_FEELSPACE_KEEP_ALIVE = 0xFE02,
    TENDON_FEELSPACE_VIBRATION_COMMAND = 0xFE03,
    TENDON_FEELSPACE_BUTTON_PRESS = 0xFE04,
    TENDON_FEELSPACE_PARAMETER_REQUEST = 0xFE05,
    TENDON_FEELSPACE_PARAMETER_NOTIFICATION = 0xFE06,
    TENDON_FEELSPACE_BUZZER_COMMAND = 0xFE07,
    TENDON_FEELSPACE_BATTERY_STATUS = 0xFE09,
    TENDON_FEELSPACE_SENSOR_COMMAND = 0xFE0A,
    TENDON_FEELSPACE_SENSOR_NOTIFICATION = 0xFE0B,
    TENDON_FEELSPACE_ORIENTATION_DATA = 0xFE0C,
    TENDON_FEELSPACE_DEBUG_INPUT = 0xFE13,
    TENDON_FEELSPACE_DEBUG_OUTPUT = 0xFE14
} tendon_feelspace_characteristic;

/** Returns true if a local name is that of a belt: it begins with "naviGuertel", in upper or lower case. */
bool tendon_feelspace_is_belt_name(const char *name, size_t length);

/** What an advertiser has sent of what belts send: bits. The UUID is in the advertisement, the name in the scan
 * response. */
typedef enum tendon_feelspace_advertised {
    TENDON_FEELSPACE_ADVERTISED_OLDER = 0x01, /**< tendon_feelspace_advertised_uuid(), also of other products */
    TENDON_FEELSPACE_ADVERTISED_NEWER = 0x02, /**< FE51 */
    TENDON_FEELSPACE_ADVERTISED_NAME = 0x04   /**< tendon_feelspace_is_belt_name() */
} tendon_feelspace_advertised;

/** Returns the bits of an advertisement, of a scan response, or of both one after the other. */
unsigned tendon_feelspace_recognize(const uint8_t *data, size_t length);
/** Returns true if these bits, of all that an advertiser has sent so far, are those of a belt: its name and one of the
 * UUIDs. */
bool tendon_feelspace_is_belt(unsigned advertised);

/** Maximum length of a client's packet, except USB frames. */
#define TENDON_FEELSPACE_PACKET_MAX 20

/* ---- enumerations ---- */

typedef enum tendon_feelspace_mode {
    TENDON_FEELSPACE_MODE_STANDBY = 0,
    TENDON_FEELSPACE_MODE_WAIT = 1,
    TENDON_FEELSPACE_MODE_COMPASS = 2,
    TENDON_FEELSPACE_MODE_APP = 3,
    TENDON_FEELSPACE_MODE_PAUSE = 4,
    TENDON_FEELSPACE_MODE_CALIBRATION = 5,
    TENDON_FEELSPACE_MODE_CROSSING = 6,
    TENDON_FEELSPACE_MODE_UNKNOWN = 0xFF /**< never sent */
} tendon_feelspace_mode;

/** Returns "standby" ..., or "unknown". */
const char *tendon_feelspace_mode_name(uint8_t mode);

typedef enum tendon_feelspace_button {
    TENDON_FEELSPACE_BUTTON_POWER = 1,
    TENDON_FEELSPACE_BUTTON_PAUSE = 2,
    TENDON_FEELSPACE_BUTTON_COMPASS = 3,
    TENDON_FEELSPACE_BUTTON_HOME = 4
} tendon_feelspace_button;

typedef enum tendon_feelspace_orientation_type {
    TENDON_FEELSPACE_ORIENTATION_MASK = 0,
    TENDON_FEELSPACE_ORIENTATION_MOTOR = 1,
    TENDON_FEELSPACE_ORIENTATION_ANGLE = 2,
    TENDON_FEELSPACE_ORIENTATION_BEARING = 3
} tendon_feelspace_orientation_type;

typedef enum tendon_feelspace_pattern {
    TENDON_FEELSPACE_PATTERN_NONE = 0,
    TENDON_FEELSPACE_PATTERN_CONTINUOUS = 1,
    TENDON_FEELSPACE_PATTERN_SINGLE_SHORT = 2,
    TENDON_FEELSPACE_PATTERN_SINGLE_LONG = 3,
    TENDON_FEELSPACE_PATTERN_DOUBLE_SHORT = 4,
    TENDON_FEELSPACE_PATTERN_DOUBLE_LONG = 5,
    TENDON_FEELSPACE_PATTERN_SHORT_SHIFT_WAVE = 6,
    TENDON_FEELSPACE_PATTERN_CIRCULAR_RIGHT = 7,
    TENDON_FEELSPACE_PATTERN_FADE_OUT = 8,
    TENDON_FEELSPACE_PATTERN_GOAL_REACHED = 9,
    TENDON_FEELSPACE_PATTERN_FRONT_CROSS = 10,
    TENDON_FEELSPACE_PATTERN_LAST = 26
} tendon_feelspace_pattern;

/** Returns false for the patterns that are themselves sets of masks. */
bool tendon_feelspace_pattern_takes_mask(uint8_t pattern);

/* ---- FE03: vibration ---- */

#define TENDON_FEELSPACE_CHANNEL_LENGTH 18
#define TENDON_FEELSPACE_PULSE_LENGTH 17
#define TENDON_FEELSPACE_MOTORS_MAX 6 /**< maximum number that vibrate at the same time */

/** Number of channels that an encoder accepts. */
typedef enum tendon_feelspace_channels {
    TENDON_FEELSPACE_CHANNELS_DOCUMENTED = 4, /**< 0 to 3 */
    TENDON_FEELSPACE_CHANNELS_EXTENDED = 6    /**< 0 to 5, as used by the vendor's applications */
} tendon_feelspace_channels;

/** Arguments from an application; the types are wide enough for invalid values, which the encoder rejects. */
typedef struct tendon_feelspace_channel {
    int32_t channel;          /**< 0 to 3; 0 to 5 with TENDON_FEELSPACE_CHANNELS_EXTENDED */
    int32_t pattern;          /**< tendon_feelspace_pattern */
    int32_t intensity;        /**< 0 to 100 %; -1: the belt's default */
    int32_t orientation_type; /**< tendon_feelspace_orientation_type */
    int32_t orientation;      /**< low 16 bits of a mask; motor modulo 16; degrees modulo 360 */
    int32_t iterations;       /**< -1: endless; see tendon_feelspace_iterations_endless() */
    int32_t period_ms;        /**< of one iteration, 1 to 65535 */
    int32_t start_ms;         /**< inside the first iteration; reduced modulo the period */
    bool exclusive;           /**< other channels are suspended while this one is active */
    bool clear_others;        /**< other channels are stopped and cleared */
} tendon_feelspace_channel;

/** @return 18. */
tendon_status tendon_feelspace_encode_channel(const tendon_feelspace_channel *channel,
                                              tendon_feelspace_channels channels, uint8_t *out, size_t capacity);
/** Decodes a packet as the belt does: iterations of 0 and of 128 to 255 become -1. */
tendon_status tendon_feelspace_decode_channel(const uint8_t *data, size_t length, tendon_feelspace_channel *out,
                                              size_t *offset);
/** Returns true if the vibration would never end: the belt reads the count as signed, so 128 to 255, which the encoder
 * accepts, are endless. */
bool tendon_feelspace_iterations_endless(int32_t iterations);

/** Series of pulses; firmware 45 and later. */
typedef struct tendon_feelspace_pulse {
    int32_t channel; /**< 0 to 5 */
    int32_t orientation_type, orientation;
    int32_t intensity;         /**< 0 to 100 %; -1: the belt's default */
    int32_t on_ms;             /**< of one pulse, 1 to 65535 */
    int32_t pulse_period_ms;   /**< 1 to 65535 */
    int32_t pulse_iterations;  /**< pulses of a series, 1 to 255 */
    int32_t series_period_ms;  /**< 1 to 65535 */
    int32_t series_iterations; /**< 1 to 127; -1 and 0: endless */
    int32_t timer_option;      /**< 0 reset, 1 reset when the period differs, 2 keep */
    bool exclusive, clear_others;
} tendon_feelspace_pulse;

/** @return 17. */
tendon_status tendon_feelspace_encode_pulse(const tendon_feelspace_pulse *pulse, uint8_t *out, size_t capacity);
tendon_status tendon_feelspace_decode_pulse(const uint8_t *data, size_t length, tendon_feelspace_pulse *out,
                                            size_t *offset);

typedef enum tendon_feelspace_system_signal {
    TENDON_FEELSPACE_SIGNAL_WARNING = 0,
    TENDON_FEELSPACE_SIGNAL_GOAL_REACHED = 1,
    TENDON_FEELSPACE_SIGNAL_BATTERY = 2
} tendon_feelspace_system_signal;

/** @return 2. */
tendon_status tendon_feelspace_encode_system_signal(int32_t signal, uint8_t *out, size_t capacity);
/** Encodes a stop of one channel; -1: all channels. @return 2. */
tendon_status tendon_feelspace_encode_stop(int32_t channel, tendon_feelspace_channels channels, uint8_t *out,
                                           size_t capacity);

/**
 * Returns true if a belt in @p mode executes this FE03 packet; it silently ignores other packets. App mode accepts
 * every well-formed packet. Other modes accept system signals, and on channel 0 vibrations that end by themselves and
 * do not clear other channels.
 */
bool tendon_feelspace_belt_accepts(uint8_t mode, const uint8_t *packet, size_t length);

/* ---- FE05: parameter requests ---- */

typedef enum tendon_feelspace_basic_parameter {
    TENDON_FEELSPACE_BASIC_MODE = 0x01,
    TENDON_FEELSPACE_BASIC_DEFAULT_INTENSITY = 0x02,
    TENDON_FEELSPACE_BASIC_HEADING_OFFSET = 0x03,
    TENDON_FEELSPACE_BASIC_NAME = 0x04
} tendon_feelspace_basic_parameter;

typedef enum tendon_feelspace_advanced_parameter {
    TENDON_FEELSPACE_ADVANCED_DEFAULT_INTENSITY = 0x00,
    TENDON_FEELSPACE_ADVANCED_HEADING_OFFSET = 0x01,
    TENDON_FEELSPACE_ADVANCED_ACCURACY_SIGNAL = 0x03,
    TENDON_FEELSPACE_ADVANCED_APP_FRONT_RANGE = 0x0A,
    TENDON_FEELSPACE_ADVANCED_ORIENTATION_PERIOD = 0x0F,
    TENDON_FEELSPACE_ADVANCED_PAIRING_REQUIRED = 0x25
} tendon_feelspace_advanced_parameter;

/** 10 01 id. @return 3. */
tendon_status tendon_feelspace_encode_read_advanced(int32_t parameter, uint8_t *out, size_t capacity);
/** Modes 0 to 4 and 6; calibration can be started only on the belt. @return 4. */
tendon_status tendon_feelspace_encode_set_mode(int32_t mode, uint8_t *out, size_t capacity);
/** 0 to 100 (the belt raises to 5); @p feedback: a short vibration at the new level. @return 5. */
tendon_status tendon_feelspace_encode_set_default_intensity(int32_t intensity, bool feedback, uint8_t *out,
                                                            size_t capacity);
/** 0 to 359. @return 4. */
tendon_status tendon_feelspace_encode_set_heading_offset(int32_t degrees, uint8_t *out, size_t capacity);
/** Up to 18 ASCII characters; the belt disconnects. @return 2 + length. */
tendon_status tendon_feelspace_encode_set_name(const char *suffix, size_t length, uint8_t *out, size_t capacity);
/** @return 4. */
tendon_status tendon_feelspace_encode_set_accuracy_signal(bool in_app, bool in_compass, bool persistent, uint8_t *out,
                                                          size_t capacity);
/** @return 4. */
tendon_status tendon_feelspace_encode_set_pairing(bool required, bool persistent, uint8_t *out, size_t capacity);
/** 20 to 65535 ms; switch FE0C notifications off before and on after. @return 5. */
tendon_status tendon_feelspace_encode_set_orientation_period(int32_t period_ms, uint8_t *out, size_t capacity);
/** Factory reset of these parts. @return 4. */
tendon_status tendon_feelspace_encode_reset(bool parameters, bool bluetooth, bool sensors, uint8_t *out,
                                            size_t capacity);

/* ---- FE06: parameter notifications ---- */

typedef enum tendon_feelspace_parameter_kind {
    TENDON_FEELSPACE_PARAMETER_MODE = 0,
    TENDON_FEELSPACE_PARAMETER_DEFAULT_INTENSITY,
    TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET,
    TENDON_FEELSPACE_PARAMETER_NAME,
    TENDON_FEELSPACE_PARAMETER_ACCURACY_SIGNAL,
    TENDON_FEELSPACE_PARAMETER_APP_FRONT_RANGE,
    TENDON_FEELSPACE_PARAMETER_ORIENTATION_PERIOD,
    TENDON_FEELSPACE_PARAMETER_PAIRING_REQUIRED
} tendon_feelspace_parameter_kind;

/** Returns "mode", "default_intensity" ..., spelled as in the test vectors. */
const char *tendon_feelspace_parameter_name(tendon_feelspace_parameter_kind kind);

typedef struct tendon_feelspace_parameter {
    tendon_feelspace_parameter_kind kind;
    union {
        uint8_t mode;
        uint8_t intensity;      /**< % */
        uint16_t degrees;       /**< heading offset */
        uint8_t accuracy_state; /**< bit 0: in compass and crossing mode, bit 1: in app mode */
        uint16_t period_ms;     /**< orientation period */
        bool required;          /**< pairing */
        struct {
            uint16_t range[3];
            uint8_t last;
        } front;
        struct {
            const char *text; /**< borrowed from the notification, not terminated */
            size_t length;
        } name;
    };
} tendon_feelspace_parameter;

/** @return TENDON_OK, _TRUNCATED, FEELSPACE_ERROR_BAD_VALUE, or TENDON_ERROR_UNSUPPORTED: an unknown id, to be ignored.
 */
tendon_status tendon_feelspace_decode_parameter(const uint8_t *data, size_t length, tendon_feelspace_parameter *out,
                                                size_t *offset);

/* ---- notifications ---- */

tendon_status tendon_feelspace_decode_keep_alive(const uint8_t *data, size_t length, uint8_t *mode, size_t *offset);

typedef struct tendon_feelspace_press {
    uint8_t button;     /**< tendon_feelspace_button */
    uint8_t press_code; /**< raw */
    bool is_long;
    uint8_t previous_mode, new_mode;
} tendon_feelspace_press;

tendon_status tendon_feelspace_decode_button(const uint8_t *data, size_t length, tendon_feelspace_press *out,
                                             size_t *offset);

typedef enum tendon_feelspace_power {
    TENDON_FEELSPACE_POWER_UNKNOWN = 0,
    TENDON_FEELSPACE_POWER_ON_BATTERY = 1,
    TENDON_FEELSPACE_POWER_CHARGING = 2,
    TENDON_FEELSPACE_POWER_EXTERNAL = 3
} tendon_feelspace_power;

typedef struct tendon_feelspace_battery {
    uint8_t power_status;     /**< tendon_feelspace_power; 0 for unknown values */
    uint8_t power_status_raw; /**< as sent */
    double level_percent;     /**< at most 100 */
    double tte_ttf_s;         /**< time to full while charging, otherwise time to empty */
    bool saturated;           /**< the time is at least this value */
    bool has_current, has_voltage, has_temperature, has_aux, has_vsl_power, has_vsl_level;
    int16_t current_ma;
    uint16_t voltage_mv;
    double temperature_c;
    double aux_percent;
    int8_t vsl_power_status;
    double vsl_level_percent;
} tendon_feelspace_battery;

tendon_status tendon_feelspace_decode_battery(const uint8_t *data, size_t length, tendon_feelspace_battery *out,
                                              size_t *offset);

typedef struct tendon_feelspace_orientation {
    uint8_t sensor_id;    /**< 2: sensor fusion, the only one for applications */
    int16_t heading;      /**< degrees from magnetic north, clockwise */
    uint16_t heading_360; /**< the same in 0 to 359 */
    int16_t box_heading, box_roll, box_pitch;
    uint16_t accuracy_deg;
    int8_t magnetometer_status, accelerometer_status, gyroscope_status, fusion_status;
    bool accurate;
} tendon_feelspace_orientation;

#define TENDON_FEELSPACE_SENSOR_FUSION 2
tendon_status tendon_feelspace_decode_orientation(const uint8_t *data, size_t length, tendon_feelspace_orientation *out,
                                                  size_t *offset);

/* ---- FE01: firmware ---- */

typedef struct tendon_feelspace_firmware {
    uint16_t version; /**< not comparable between hardware generations */
    bool has_variant;
    uint8_t variant;
} tendon_feelspace_firmware;

tendon_status tendon_feelspace_decode_firmware(const uint8_t *data, size_t length, tendon_feelspace_firmware *out,
                                               size_t *offset);

typedef enum tendon_feelspace_feature {
    TENDON_FEELSPACE_FEATURE_PERSISTENT_CHANGE = 0,
    TENDON_FEELSPACE_FEATURE_RESET,
    TENDON_FEELSPACE_FEATURE_CROSSING,
    TENDON_FEELSPACE_FEATURE_PULSE,
    TENDON_FEELSPACE_FEATURE_BUZZER,
    TENDON_FEELSPACE_FEATURE_ORIENTATION_PERIOD,
    TENDON_FEELSPACE_FEATURE_COUNT
} tendon_feelspace_feature;

bool tendon_feelspace_has_feature(const tendon_feelspace_firmware *firmware, tendon_feelspace_feature feature);
/** Returns true if the front range of this firmware must be read, and patched if tendon_feelspace_patch_needed(). */
bool tendon_feelspace_patch_candidate(const tendon_feelspace_firmware *firmware);
/** Returns true if the received front range requires the patch that the session sends. */
bool tendon_feelspace_patch_needed(const tendon_feelspace_parameter *front_range);

/* ---- FE07: tones; firmware 45 and later ---- */

#define TENDON_FEELSPACE_TONE_STEPS 9
/** Steps of @p seconds at @p hertz (0: silence). Single precision, like the vendor's code. @return 2 + 2 * count. */
tendon_status tendon_feelspace_encode_tone(const float *seconds, const float *hertz, size_t count, uint8_t *out,
                                           size_t capacity);

/* ---- FE13, FE14: debug ---- */

enum { TENDON_FEELSPACE_DEBUG_SELF_TEST = 0x02, TENDON_FEELSPACE_DEBUG_ERROR_LOG = 0x0B };

typedef enum tendon_feelspace_debug_kind {
    TENDON_FEELSPACE_DEBUG_OTHER = 0, /**< passed to the application without decoding */
    TENDON_FEELSPACE_DEBUG_ERROR = 0xA0,
    TENDON_FEELSPACE_DEBUG_LOG_HEADER = 0x0B,
    TENDON_FEELSPACE_DEBUG_LOG_ENTRY = 0x0C
} tendon_feelspace_debug_kind;

typedef struct tendon_feelspace_debug {
    tendon_feelspace_debug_kind kind;
    uint32_t error;      /**< ERROR, LOG_ENTRY: the code. LOG_HEADER: the session's first error */
    uint32_t last_error; /**< LOG_HEADER */
    uint16_t session;    /**< LOG_HEADER: the current one. LOG_ENTRY: the entry's */
    uint8_t count;       /**< LOG_HEADER: entries that follow */
    uint32_t time_ms;    /**< LOG_ENTRY */
    bool more;           /**< LOG_ENTRY */
} tendon_feelspace_debug;

tendon_status tendon_feelspace_decode_debug(const uint8_t *data, size_t length, tendon_feelspace_debug *out,
                                            size_t *offset);

#ifdef __cplusplus
}
#endif
#endif
