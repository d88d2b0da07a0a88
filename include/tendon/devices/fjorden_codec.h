/* SPDX-License-Identifier: MIT */
/*
 * Fjorden camera grip: every value of the reference profile, both directions. Stateless. The vendor publishes no wire
 * format: this is Tendon's own design, see docs/protocols/fjorden.md; UUIDs, codes and format of the events are data of
 * a profile.
 */
#ifndef TENDON_DEVICES_FJORDEN_CODEC_H
#define TENDON_DEVICES_FJORDEN_CODEC_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Statuses of this layer. X(name, code, word, text). 1 to 31 come from the codec, those from 32 are the SDK's errors;
 * word is the name in the vendor's documents.
 */
#define TENDON_FJORDEN_STATUS_LIST(X)                                                                                  \
    X(LENGTH, 1, "LENGTH", "the value has a wrong length")                                                             \
    X(VALUE, 2, "VALUE", "a field is out of its range")                                                                \
    X(SHORT, 3, "SHORT", "the value is truncated")                                                                     \
    X(VERSION, 4, "VERSION", "the version is unknown")                                                                 \
    X(NOT_A_RESPONSE, 5, "NOT_A_RESPONSE", "the value is not a response")                                              \
    X(RANGE, 6, "RANGE", "a number is out of its range")                                                               \
    X(OPERATION, 7, "OPERATION", "the operation is unknown")                                                           \
    X(MANAGER_NOT_CONFIGURED, 32, "managerNotConfigured", "the manager is not configured; configure it first")         \
    X(MANAGER_ALREADY_CONFIGURED, 33, "managerAlreadyConfigured", "the manager is already configured")                 \
    X(INVALID_MANAGER_STATE, 34, "invalidManagerState", "the operation is not possible in the present state")          \
    X(ALREADY_SCANNING, 35, "alreadyScanningForBondedGrip", "the manager already scans for the bonded grip")           \
    X(NO_BOND, 36, "bondDoesNotExists", "no grip is bonded")                                                           \
    X(CONNECTION_TIMEOUT, 37, "connectionTimeout", "the grip was not connected in time")                               \
    X(DISCOVERY_CANCELLED, 38, "gripDiscoveryCancelled", "the search or the connection attempt was cancelled")         \
    X(PAIRING_DECLINED, 39, "gripPairingRequestDeclined",                                                              \
      "pairing failed: the user or the grip declined, or the grip was reset; if so, forget the grip and pair again")   \
    X(NO_SERVICE, 40, "gripUnableToDiscoverService", "the grip's service was not found")                               \
    X(NO_CHARACTERISTICS, 41, "gripUnableToDiscoverCharacteristics", "a characteristic was not found")                 \
    X(NO_NOTIFY, 42, "gripUnableToEnableNotify", "the notifications of the grip could not be enabled")                 \
    X(NO_BATTERY_INFO, 43, "gripUnableToReadBatteryInfo", "the battery level could not be read")                       \
    X(NO_FIRMWARE_VERSION, 44, "gripUnableToReadFirmwareVersion", "the firmware version could not be read")            \
    X(NO_GRIP_INFO, 45, "gripUnableToReadGripInfo", "the grip's information could not be read")                        \
    X(UNSUPPORTED_FIRMWARE, 46, "gripUnsupportedFirmwareVersion", "the grip's firmware is too old")                    \
    X(NO_FIRMWARE_SERVER, 47, "unableToReachFirmwareServer", "the latest firmware version is not known")               \
    X(UNKNOWN, 48, "unknown", "an unknown error occurred")

/** The layer of the family's statuses. */
#define TENDON_LAYER_FJORDEN 10

#define TENDON_FJORDEN_STATUS_ENUM(name, code, word, text)                                                             \
    TENDON_FJORDEN_ERROR_##name = -((int)TENDON_LAYER_FJORDEN * 256 + (code)),
enum { TENDON_FJORDEN_STATUS_LIST(TENDON_FJORDEN_STATUS_ENUM) };
#undef TENDON_FJORDEN_STATUS_ENUM

/** Returns "LENGTH", "connectionTimeout" ...; for other layers, the result of tendon_status_name(). Never NULL. */
const char *tendon_fjorden_status_name(tendon_status status);
/** Returns one line about a status; for other layers, the result of tendon_status_text(). Never NULL. */
const char *tendon_fjorden_status_text(tendon_status status);

/* ---- events ---- */

/** Events of a grip; the numbers are the codes of the default profile. */
typedef enum tendon_fjorden_event {
    TENDON_FJORDEN_UNKNOWN = 0x00,
    TENDON_FJORDEN_SHUTTER_HALF_DOWN = 0x01,
    TENDON_FJORDEN_SHUTTER_DOWN = 0x02,
    TENDON_FJORDEN_SHUTTER_RELEASED = 0x03,
    TENDON_FJORDEN_DIAL_CW = 0x11,
    TENDON_FJORDEN_DIAL_CCW = 0x12,
    TENDON_FJORDEN_DIAL_PRESS = 0x13,
    TENDON_FJORDEN_DIAL_LONG_PRESS = 0x14,
    TENDON_FJORDEN_FN_PRESS = 0x21,
    TENDON_FJORDEN_FN_LONG_PRESS = 0x22,
    TENDON_FJORDEN_LEVER_LEFT = 0x31,
    TENDON_FJORDEN_LEVER_RIGHT = 0x32,
    TENDON_FJORDEN_LEVER_HOLD_LEFT = 0x33,
    TENDON_FJORDEN_LEVER_HOLD_RIGHT = 0x34,
    TENDON_FJORDEN_LEVER_NEUTRAL = 0x35,
    TENDON_FJORDEN_CUSTOM_PRESS = 0x40,      /**< to 0x4F: button in the low four bits */
    TENDON_FJORDEN_CUSTOM_LONG_PRESS = 0x50, /**< to 0x5F */
    TENDON_FJORDEN_BATTERY_LOW = 0x80,
    TENDON_FJORDEN_POWERING_OFF = 0x81,
    TENDON_FJORDEN_BOND_RESET = 0x82
} tendon_fjorden_event;

/** Returns the SDK's name without a button number: "shutterButtonDown", "customButtonPress" ...; or "unknown". Never
 * NULL. */
const char *tendon_fjorden_event_name(uint8_t event);
/** Returns the event with a name of @p length characters ("customButtonPress(2)" includes the button number), or -1. */
int tendon_fjorden_event_named(const char *name, size_t length);
bool tendon_fjorden_event_known(uint8_t event);
bool tendon_fjorden_event_is_custom(uint8_t event);

/* ---- control state ---- */

#define TENDON_FJORDEN_CONTROL_STATE_SIZE 6

typedef struct tendon_fjorden_control_state {
    uint8_t shutter; /**< 0 released, 1 half, 2 full */
    bool dial_pressed, fn_pressed;
    int8_t lever; /**< -1 left, 0 neutral, 1 right */
    uint8_t custom_mask;
    int16_t dial_position; /**< detents since power-on, wraps */
} tendon_fjorden_control_state;

/** @return TENDON_OK, FJORDEN_ERROR_SHORT, _VERSION or _VALUE; *out is written only on success. */
tendon_status tendon_fjorden_decode_control_state(const uint8_t *data, size_t length,
                                                  tendon_fjorden_control_state *out);

/* ---- control point ---- */

typedef enum tendon_fjorden_opcode {
    TENDON_FJORDEN_PING = 1,
    TENDON_FJORDEN_SET_LED,
    TENDON_FJORDEN_GET_CONFIG,
    TENDON_FJORDEN_SET_CONFIG,
    TENDON_FJORDEN_GET_STATE,
    TENDON_FJORDEN_CLEAR_BOND,
    TENDON_FJORDEN_POWER_OFF
} tendon_fjorden_opcode;

#define TENDON_FJORDEN_PING_MAX 17
#define TENDON_FJORDEN_COMMAND_MAX 19
#define TENDON_FJORDEN_RESPONSE_TIMEOUT_MS 2000

/** Limits of the grip's own gesture derivation. */
typedef struct tendon_fjorden_config {
    uint16_t long_press_ms; /**< 200 to 2000 */
    uint16_t lever_hold_ms; /**< 150 to 2000 */
    uint8_t dial_divider;   /**< 1 to 8 */
} tendon_fjorden_config;

typedef struct tendon_fjorden_command {
    tendon_fjorden_opcode opcode;
    uint8_t request_id;
    const uint8_t *payload; /**< ping; borrowed */
    size_t payload_length;
    uint8_t led_mode; /**< set LED: 0 off, 1 on, 2 blink slow, 3 blink fast */
    uint16_t led_duration_ms;
    tendon_fjorden_config config; /**< set config */
} tendon_fjorden_command;

/** Returns the opcode named "ping", "setLed" ..., or -1. */
int tendon_fjorden_command_named(const char *name, size_t length);
/** Returns the mode named "off", "on", "blinkSlow" or "blinkFast", or -1. */
int tendon_fjorden_led_mode_named(const char *name, size_t length);
/** Returns the first parameter that is out of range, with its range: "dialDivider: 1 to 8". NULL if there is none. */
const char *tendon_fjorden_command_fault(const tendon_fjorden_command *command);
/** @return the length; FJORDEN_ERROR_RANGE or _LENGTH (ping); TENDON_ERROR_BUFFER_TOO_SMALL, _INVALID_ARGUMENT
 * (opcode). */
tendon_status tendon_fjorden_encode_command(const tendon_fjorden_command *command, uint8_t *out, size_t capacity);

/** Status of a response. Other values are reserved and are reported unchanged. */
typedef enum tendon_fjorden_response_status {
    TENDON_FJORDEN_RESPONSE_OK = 0,
    TENDON_FJORDEN_RESPONSE_UNKNOWN_OPCODE,
    TENDON_FJORDEN_RESPONSE_BAD_LENGTH,
    TENDON_FJORDEN_RESPONSE_BAD_PARAMETER,
    TENDON_FJORDEN_RESPONSE_BUSY,
    TENDON_FJORDEN_RESPONSE_NOT_PERMITTED
} tendon_fjorden_response_status;

typedef struct tendon_fjorden_response {
    uint8_t opcode, request_id;
    uint8_t status;         /**< tendon_fjorden_response_status */
    const uint8_t *payload; /**< borrowed from the input */
    size_t payload_length;
    tendon_fjorden_config config;       /**< get config, status 0 */
    tendon_fjorden_control_state state; /**< get state, status 0 */
} tendon_fjorden_response;

/** @return TENDON_OK; FJORDEN_ERROR_SHORT, _NOT_A_RESPONSE, _LENGTH (config), or an error of
 * tendon_fjorden_decode_control_state(). */
tendon_status tendon_fjorden_decode_response(const uint8_t *data, size_t length, tendon_fjorden_response *out);
/** Returns "ok", "busy" ...; NULL for numbers without a name. */
const char *tendon_fjorden_response_status_name(uint8_t status);

/* ---- standard values ---- */

#define TENDON_FJORDEN_BATTERY_LOW_BELOW 30

/** @return the level 0 to 100, or FJORDEN_ERROR_LENGTH or _RANGE. */
tendon_status tendon_fjorden_decode_battery(const uint8_t *data, size_t length);

#ifdef __cplusplus
}
#endif
#endif
