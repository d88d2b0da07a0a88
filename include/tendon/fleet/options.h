/* SPDX-License-Identifier: MIT */
/*
 * The options of a fleet, by their names and words: those of `tendon run`, as far as a gateway without Swift has them.
 */
#ifndef TENDON_FLEET_OPTIONS_H
#define TENDON_FLEET_OPTIONS_H

#include "tendon/gateway/device.h"
#include "tendon/gateway/search.h"
#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum number of adapters, of addresses in a list, and of device files. */
#define TENDON_FLEET_RADIOS 4
#define TENDON_FLEET_ADDRESSES 64 /* 32 devices whose types are not known */
#define TENDON_FLEET_DEFINITIONS 16
#define TENDON_FLEET_WORD_SIZE 64
/** A sentence about a mistake, with its terminator; a longer one is cut. */
#define TENDON_FLEET_MISTAKE_SIZE 320

/** Addresses of devices. */
typedef struct tendon_fleet_addresses {
    size_t count;
    tendon_address addresses[TENDON_FLEET_ADDRESSES];
} tendon_fleet_addresses;

/** Has work(of) run on another thread, and done(of) on the loop's when it has returned; neither within this call. */
typedef void (*tendon_fleet_run)(void *context, void (*work)(void *of), void (*done)(void *of), void *of);
/** Called once, from the loop: TENDON_OK, or why there will be no radio, as tendon_fleet_open() returns it. Must not
 * call the fleet. @param context of the fleet. */
typedef void (*tendon_fleet_on_opened)(void *context, tendon_status status);

typedef struct tendon_fleet_options {
    bool is_virtual;       /**< the virtual radio, in the place of adapters */
    bool names_radio;      /**< an option does: TENDON_RADIO does not count */
    bool is_unknown_radio; /**< TENDON_RADIO names neither radio */
    const char *directory; /**< of the virtual radio; NULL: its default; borrowed */
    size_t adapter_count;  /**< 0: the first adapter */
    char adapters[TENDON_FLEET_RADIOS][TENDON_FLEET_WORD_SIZE];
    uint32_t families;           /**< bit of each family, by the numbers of tendon/gateway/search.h */
    uint32_t ignored;            /**< likewise: they are left alone, though they are among the families */
    bool names_families;         /**< a device file that is added later is none of them, unless all are */
    tendon_fleet_addresses only; /**< the devices that are served; none: all of the families */
    tendon_fleet_addresses allowed;
    uint32_t pair_s; /**< time in which every device may pair, in s; UINT32_MAX: no end */
    bool no_reconnect, is_exact, coded, no_gatt_cache;
    tendon_connection_parameters connection; /**< max_interval 0: the kernel's */
    tendon_device_settings settings;
    const tendon_definition *definitions[TENDON_FLEET_DEFINITIONS]; /**< borrowed */
    size_t definition_count;
    /** Where adapters are opened: one that does not respond takes 20 s, in which nothing else of the loop would work.
     * NULL: on the loop. Otherwise tendon_fleet_open() does not wait for them, and on_opened is called when each was
     * tried; the fleet has not ended before. Of the virtual radio neither is called. */
    tendon_fleet_run run;
    void *run_context;
    tendon_fleet_on_opened on_opened; /**< NULL: not called */
} tendon_fleet_options;

/** An option, for help texts and completion. */
typedef struct tendon_fleet_option {
    const char *name;  /**< "adapter" */
    const char *value; /**< "NAME"; NULL: it takes none */
    const char *help;
} tendon_fleet_option;

/**
 * The values without options: the first adapter, or the virtual radio if the environment variable TENDON_RADIO is
 * "virtual"; all families, no pairing with new devices. If the variable is neither that nor "bluez" nor empty, and no
 * option names the radio or an adapter, tendon_fleet_open() fails.
 */
void tendon_fleet_options_init(tendon_fleet_options *options);
/** Returns an option of the fleet, then of the devices' settings, or false beyond the last. */
bool tendon_fleet_option_at(size_t index, tendon_fleet_option *out);
/**
 * Sets an option by its name, without dashes. Lists of families name device files that were added before.
 * @param value with a terminator; NULL: none.
 * @return TENDON_OK; TENDON_ERROR_NOT_FOUND: there is no such option; TENDON_ERROR_INVALID_ARGUMENT: the value is none
 * of it, or it is given too often.
 */
tendon_status tendon_fleet_options_set(tendon_fleet_options *options, const char *name, const char *value);
/**
 * Writes why tendon_fleet_options_set() rejects the value of an option, in words that follow its name: "'0' is not
 * possible: samples per second, 1 to 32767; default: the setting of the device".
 * @param name of an option that exists. @param value NULL: none.
 */
void tendon_fleet_option_mistake(const char *name, const char *value, char text[TENDON_FLEET_MISTAKE_SIZE]);
/** Writes what is wrong with the options together; tendon_fleet_open() then fails with TENDON_ERROR_INVALID_ARGUMENT.
 * Returns false if nothing is. */
bool tendon_fleet_options_mistake(const tendon_fleet_options *options, char text[TENDON_FLEET_MISTAKE_SIZE]);
/** Returns whether devices of a family are served, by its number in tendon/gateway/search.h. */
bool tendon_fleet_options_serve(const tendon_fleet_options *options, uint8_t family);
/**
 * Adds a device file, whose devices are served if the families were not chosen.
 * @param definition borrowed.
 * @return TENDON_OK; TENDON_ERROR_TABLE_FULL; TENDON_ERROR_INVALID_ARGUMENT: there is a family of this name;
 * TENDON_ERROR_MALFORMED: a file that was added before means the same devices.
 */
tendon_status tendon_fleet_options_define(tendon_fleet_options *options, const tendon_definition *definition);

#ifdef __cplusplus
}
#endif
#endif
