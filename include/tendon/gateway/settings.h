/* SPDX-License-Identifier: MIT */
/*
 * What a gateway has its devices do: the options of `tendon run` for the families, by their names and words.
 */
#ifndef TENDON_GATEWAY_SETTINGS_H
#define TENDON_GATEWAY_SETTINGS_H

#include "tendon/devices.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most entries of a list of sensors or gestures, and of features. */
#define TENDON_SETTINGS_LIST 16
#define TENDON_SETTINGS_FEATURES 32

/** Sensors, or gestures. */
typedef struct tendon_settings_list {
    bool all; /**< those that the device has; ids are not used */
    uint8_t count;
    uint8_t ids[TENDON_SETTINGS_LIST];
} tendon_settings_list;

/** Caller's memory. */
typedef struct tendon_device_settings {
    tendon_settings_list sensors, gestures; /**< of Bose wearables */
    uint16_t period_ms;                     /**< 5, 10, 20, 40, 80, 160 or 320 */
    bool force, motion;                     /**< what Activ5 trainers measure */
    bool evergreen;                         /**< they do not switch themselves off */
    uint16_t rate_hz;                       /**< 1 to 32767; 0: the trainer's */
    uint16_t orientation_period_ms;         /**< of belts: 20 to 65535; 0: the belt's */
    uint8_t default_intensity;              /**< of belts: 5 to 100 percent; 0: the belt's */
    uint32_t opening_ms; /**< of belts: limit of connecting, with discovery and pairing; 0: that of the session. A user
                          * who has to enter a passkey needs more */
    tendon_fjorden_profile profile; /**< of grips */
    bool has_product;               /**< of Obvious devices: without it nothing is read of them */
    uint32_t product;
    uint8_t feature_count; /**< whose states are read */
    uint16_t features[TENDON_SETTINGS_FEATURES];
} tendon_device_settings;

/** The values of `tendon run` without options: rotation and all gestures every 20 ms, force. */
void tendon_device_settings_init(tendon_device_settings *settings);

/** An option, for help texts and completion. */
typedef struct tendon_settings_option {
    const char *name;  /**< "sensors" */
    const char *value; /**< "LIST"; NULL: it takes none */
    const char *help;
    uint8_t family; /**< index for tendon_family_at() */
} tendon_settings_option;

/** Returns the option at an index, or NULL beyond the last. Static storage. */
const tendon_settings_option *tendon_settings_option_at(size_t index);

/**
 * Sets an option by its name, without dashes.
 * @param value with a terminator; NULL: none. Lists are separated by commas; sensors and gestures also take all, none.
 * @return TENDON_OK; TENDON_ERROR_NOT_FOUND: there is no such option; TENDON_ERROR_INVALID_ARGUMENT: the value is none
 * of it. Then nothing has changed.
 */
tendon_status tendon_device_settings_set(tendon_device_settings *settings, const char *name, const char *value);

#ifdef __cplusplus
}
#endif
#endif
