/* SPDX-License-Identifier: MIT */
/*
 * Activ5 isometric trainer: every value of both generations of its interface, both directions. Stateless except for the
 * deframer. Wire format: docs/protocols/activ5.md.
 */
#ifndef TENDON_DEVICES_ACTIV5_CODEC_H
#define TENDON_DEVICES_ACTIV5_CODEC_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The advertised service; contains the text characteristics. */
#define TENDON_ACTIV5_SERVICE 0x5000
/** Present on devices with the new protocol. */
#define TENDON_ACTIV5_NEW_SERVICE 0xF0F0

typedef enum tendon_activ5_characteristic {
    TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN = 0,
    TENDON_ACTIV5_TEXT_OUTPUT,   /**< 5A01: text from the device */
    TENDON_ACTIV5_TEXT_COMMAND,  /**< 5A02: text commands to the device */
    TENDON_ACTIV5_FORCE,         /**< F0FE */
    TENDON_ACTIV5_IMU,           /**< F0F5 */
    TENDON_ACTIV5_TIMESTAMP,     /**< F0F3 */
    TENDON_ACTIV5_UUID1,         /**< F0F7 */
    TENDON_ACTIV5_UUID2,         /**< F0F8 */
    TENDON_ACTIV5_SAMPLE_RATE,   /**< F0FA */
    TENDON_ACTIV5_BATTERY,       /**< 2A19 */
    TENDON_ACTIV5_SERIAL_NUMBER, /**< 2A25 */
    TENDON_ACTIV5_OLD_FORCE,     /**< F0F1: force of an older generation; its values are unknown here, see
                                    tendon_activ5_options.accept_f0f1 */
    TENDON_ACTIV5_CHARACTERISTIC_COUNT
} tendon_activ5_characteristic;

/** The 16 bits of a characteristic; 0 for UNKNOWN. */
uint16_t tendon_activ5_uuid(tendon_activ5_characteristic which);
tendon_activ5_characteristic tendon_activ5_characteristic_of(const tendon_uuid *uuid);

/*
 * Statuses of this layer. X(name, code, word, text): word is the name in the vendor's documents. 1 to 31: values; from
 * 32: calls that cannot be executed.
 */
#define TENDON_ACTIV5_STATUS_LIST(X)                                                                                   \
    X(EMPTY, 1, "EMPTY", "the value contains no text")                                                                 \
    X(BAD_ENCODING, 2, "BAD_ENCODING", "the text is not valid UTF-8")                                                  \
    X(MALFORMED, 3, "MALFORMED", "the text is malformed")                                                              \
    X(TRUNCATED, 4, "TRUNCATED", "the text is truncated")                                                              \
    X(OVERFLOW, 5, "OVERFLOW", "the text is too long")                                                                 \
    X(SHORT, 6, "SHORT", "the value is too short")                                                                     \
    X(LENGTH, 7, "LENGTH", "the value is too long")                                                                    \
    X(RANGE, 8, "RANGE", "the number is out of range")                                                                 \
    X(NOT_READY, 32, "NOT_READY", "the device does not have the characteristic")                                       \
    X(UNSUPPORTED, 33, "UNSUPPORTED", "the device does not support the operation")                                     \
    X(IMU_UNSUPPORTED, 34, "imuUnsupported", "the device has no motion sensor")                                        \
    X(BATTERY_LEVEL_NOT_READABLE, 35, "batteryLevelNotReadable", "the battery level has not been read yet")

/** The layer of the family's statuses. */
#define TENDON_LAYER_ACTIV5 9

#define TENDON_ACTIV5_STATUS_ENUM(name, code, word, text)                                                              \
    TENDON_ACTIV5_ERROR_##name = -((int)TENDON_LAYER_ACTIV5 * 256 + (code)),
enum { TENDON_ACTIV5_STATUS_LIST(TENDON_ACTIV5_STATUS_ENUM) };
#undef TENDON_ACTIV5_STATUS_ENUM

/** Returns "EMPTY", "imuUnsupported" ...; for other layers, the result of tendon_status_name(). Never NULL. */
const char *tendon_activ5_status_name(tendon_status status);
/** Returns one line about a status; for other layers, the result of tendon_status_text(). Never NULL. */
const char *tendon_activ5_status_text(tendon_status status);

/** Returns true if an advertisement contains the service 5000. */
bool tendon_activ5_recognize(const uint8_t *data, size_t length);

/* ---- host to device ---- */

typedef enum tendon_activ5_command {
    TENDON_ACTIV5_DO_HANDSHAKE = 0,
    TENDON_ACTIV5_START_ISOMETRIC,
    TENDON_ACTIV5_TARE,
    TENDON_ACTIV5_STOP,
    TENDON_ACTIV5_ASK_SN1,
    TENDON_ACTIV5_ASK_SN2,
    TENDON_ACTIV5_ASK_UUID1,
    TENDON_ACTIV5_ASK_UUID2,
    TENDON_ACTIV5_ASK_BATTERY,       /**< no text: a read of 2A19 */
    TENDON_ACTIV5_ASK_SERIAL_NUMBER, /**< no text: a read of 2A25 */
    TENDON_ACTIV5_COMMAND_COUNT
} tendon_activ5_command;

#define TENDON_ACTIV5_TERMINATOR 0x13     /**< used by the device */
#define TENDON_ACTIV5_TERMINATOR_WEB 0x19 /**< used by the vendor's web client */

/** Returns "doHandshake" ...; NULL if the number is not a command. */
const char *tendon_activ5_command_name(tendon_activ5_command command);
/** Returns the text of a command, "TVGTIME" ...; for the two commands that are reads, the characteristic: "2A19". NULL
 * if it is not a command. */
const char *tendon_activ5_command_text(tendon_activ5_command command);
/** Frames any text: 'A', text, terminator. Returns the length, or BUFFER_TOO_SMALL or INVALID_ARGUMENT. */
tendon_status tendon_activ5_encode_text(const char *text, size_t length, uint8_t terminator, uint8_t *out, size_t size);
/** The same for a command. INVALID_ARGUMENT for the two that are reads: tendon_activ5_command_read(). */
tendon_status tendon_activ5_encode_command(tendon_activ5_command command, uint8_t terminator, uint8_t *out,
                                           size_t size);
/** Returns the characteristic that a command reads; UNKNOWN if the command is a text. */
tendon_activ5_characteristic tendon_activ5_command_read(tendon_activ5_command command);
/** Encodes two bytes; RANGE if the rate is not an int16. */
tendon_status tendon_activ5_encode_sample_rate(int64_t rate, uint8_t out[2]);

/* ---- device to host ---- */

typedef enum tendon_activ5_message_type {
    TENDON_ACTIV5_MESSAGE_UNKNOWN = 0,
    TENDON_ACTIV5_MESSAGE_INITIAL,
    TENDON_ACTIV5_MESSAGE_ISOMETRIC,
    TENDON_ACTIV5_MESSAGE_TIMESTAMP,
    TENDON_ACTIV5_MESSAGE_IMU,
    TENDON_ACTIV5_MESSAGE_SN1,
    TENDON_ACTIV5_MESSAGE_SN2,
    TENDON_ACTIV5_MESSAGE_UUID1,
    TENDON_ACTIV5_MESSAGE_UUID2,
    TENDON_ACTIV5_MESSAGE_BATTERY,
    TENDON_ACTIV5_MESSAGE_SERIAL_NUMBER,
    TENDON_ACTIV5_MESSAGE_TYPE_COUNT
} tendon_activ5_message_type;

/** Returns "initialMessage", "isometric", ... */
const char *tendon_activ5_message_type_name(tendon_activ5_message_type type);

/** Longest attribute value. */
#define TENDON_ACTIV5_TEXT_MAX 512
/** Longest content of a text frame. */
#define TENDON_ACTIV5_CONTENT_MAX 128

/** Part of a message's text. */
typedef struct tendon_activ5_field {
    uint16_t offset, length;
    bool present;
} tendon_activ5_field;

typedef struct tendon_activ5_imu {
    int16_t raw_acceleration[3], raw_gyro[3];
    int32_t ticks;
    double acceleration[3]; /**< g */
    double gyro[3];         /**< rad/s */
    double timestamp;       /**< s; becomes negative after 9.1 h; compute intervals with tendon_activ5_tick_delta() */
} tendon_activ5_imu;

/** Content of one value. Members that the type does not use are 0. Only text_length bytes of the text are written. */
typedef struct tendon_activ5_message {
    tendon_activ5_message_type type;
    double raw;                                          /**< ISOMETRIC: the received number */
    double newtons;                                      /**< ISOMETRIC */
    tendon_activ5_imu imu;                               /**< IMU */
    uint32_t ticks;                                      /**< TIMESTAMP */
    double seconds;                                      /**< TIMESTAMP */
    uint8_t percent;                                     /**< BATTERY */
    tendon_activ5_field version, field2, battery_status; /**< INITIAL: parts of text */
    uint16_t text_length;                                /**< SN, UUID, SERIAL_NUMBER; INITIAL: whole content */
    uint8_t text[TENDON_ACTIV5_TEXT_MAX];                /**< UTF-8, not terminated; may contain NULs */
} tendon_activ5_message;

/** Returns the message type that the first field of a text indicates, even if the rest is malformed. UNKNOWN also for
 * an empty field. */
tendon_activ5_message_type tendon_activ5_classify(const uint8_t *field, size_t length);
/** Parses the content of one text frame, without start and end. Errors: BAD_ENCODING, EMPTY, MALFORMED, OVERFLOW. */
tendon_status tendon_activ5_parse_text(const uint8_t *content, size_t length, tendon_activ5_message *out);
/**
 * Parses one value of a binary or string characteristic. Errors: SHORT, LENGTH, RANGE, BAD_ENCODING, OVERFLOW. A value
 * of any other characteristic, including the two of the text protocol, becomes a message of unknown type.
 */
tendon_status tendon_activ5_parse_value(tendon_activ5_characteristic which, const uint8_t *data, size_t length,
                                        tendon_activ5_message *out);
/** Returns true if the text is strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool tendon_activ5_is_utf8(const uint8_t *text, size_t length);
/** Writes id 1, then id 2 without its NULs. Returns the length or BUFFER_TOO_SMALL. */
tendon_status tendon_activ5_join_uuid(const uint8_t *id1, size_t length1, const uint8_t *id2, size_t length2,
                                      uint8_t *out, size_t size);

/* ---- text frames over notifications ---- */

#define TENDON_ACTIV5_FRAGMENT_TIMEOUT_MS 500u

/** Caller's memory, initialized with zeros. All members are private. */
typedef struct tendon_activ5_deframer {
    uint8_t buffer[TENDON_ACTIV5_CONTENT_MAX];
    uint8_t length;
    bool collecting;
    uint64_t last; /**< when the last fragment was received */
} tendon_activ5_deframer;

/** One message (status TENDON_OK) or one error (message NULL). Lent for the call. */
typedef void (*tendon_activ5_on_text)(void *context, tendon_status status, const tendon_activ5_message *message,
                                      uint64_t now);

/** Processes one notification of 5A01. An expired timeout is processed first, with its deadline as the time. */
void tendon_activ5_deframer_feed(tendon_activ5_deframer *deframer, const uint8_t *data, size_t length, uint64_t now,
                                 tendon_activ5_on_text on_text, void *context);
/** Processes an expired timeout, reported with its deadline as the time. */
void tendon_activ5_deframer_tick(tendon_activ5_deframer *deframer, uint64_t now, tendon_activ5_on_text on_text,
                                 void *context);
/** Reports the collected fragment immediately, as at a timeout. */
void tendon_activ5_deframer_flush(tendon_activ5_deframer *deframer, uint64_t now, tendon_activ5_on_text on_text,
                                  void *context);
/** The connection has ended: drops the collected fragment. */
void tendon_activ5_deframer_reset(tendon_activ5_deframer *deframer);
/** When the timeout expires; UINT64_MAX if no fragment is collected. */
uint64_t tendon_activ5_deframer_deadline(const tendon_activ5_deframer *deframer);

/* ---- conversions; the order of operations is the vendor's ---- */

double tendon_activ5_to_g(double raw);
double tendon_activ5_to_rad_per_s(double raw);
double tendon_activ5_to_s(double ticks);
/** Towards zero; saturating; NaN gives 0. */
int64_t tendon_activ5_from_g(double g);
int64_t tendon_activ5_from_rad_per_s(double rad_per_s);
int64_t tendon_activ5_from_s(double seconds);
double tendon_activ5_to_newtons(double raw);
double tendon_activ5_to_newtons_legacy(double raw);
float tendon_activ5_to_lbf(double raw);
float tendon_activ5_to_lbf_legacy(double raw);
/** Gyro times 1.15, the vendor's correction for its orientation filter. */
tendon_activ5_imu tendon_activ5_scaled(const tendon_activ5_imu *imu);
/** Returns the ticks from one timestamp to a later one, across the 32-bit wraparound. */
static inline uint32_t tendon_activ5_tick_delta(uint32_t earlier, uint32_t later) {
    return later - earlier;
}

#ifdef __cplusplus
}
#endif
#endif
