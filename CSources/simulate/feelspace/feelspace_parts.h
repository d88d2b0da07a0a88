/* SPDX-License-Identifier: MIT */
/* Simulated naviBelt: internal interface of its files. */
#ifndef TENDON_SIMULATE_FEELSPACE_FEELSPACE_PARTS_H
#define TENDON_SIMULATE_FEELSPACE_FEELSPACE_PARTS_H

#include "tendon/simulate/feelspace.h"

/** The characteristics: index into handles. */
enum {
    BELT_FIRMWARE = 0,
    BELT_KEEP_ALIVE,
    BELT_VIBRATION,
    BELT_BUTTON,
    BELT_REQUEST,
    BELT_PARAMETER,
    BELT_BUZZER,
    BELT_BATTERY,
    BELT_SENSOR_COMMAND,
    BELT_SENSOR_DATA,
    BELT_ORIENTATION,
    BELT_DEBUG_INPUT,
    BELT_DEBUG_OUTPUT,
    BELT_CHARACTERISTICS
};

enum { MODE_STANDBY = 0, MODE_WAIT, MODE_COMPASS, MODE_APP, MODE_PAUSE, MODE_CALIBRATION, MODE_CROSSING, MODE_COUNT };
enum { BUTTON_POWER = 1, BUTTON_PAUSE, BUTTON_COMPASS, BUTTON_HOME };
enum { INTENSITY_LOWEST = 5, INTENSITY_DEFAULT = 0xAA };
/** Parameters of the basic family, whose code is BASIC. */
enum { BASIC = 1, BASIC_MODE = 1, BASIC_INTENSITY, BASIC_HEADING_OFFSET, BASIC_NAME };
/** Bytes: of the name that an application can choose, and of what is before it. */
enum { NAME_MOST = 18, PREFIX = 11 };

/** Firmware numbers of the first generation from which on a belt has a feature. */
enum { SINCE_PERSISTENT = 41, SINCE_RESET = 43, SINCE_PULSE = 45, SINCE_PERIOD = 52 };

/** The newer generation has everything. */
static inline bool belt_has(const tendon_simulated_feelspace *belt, uint16_t since) {
    return belt->options.generation == TENDON_FEELSPACE_GENERATION_NEWER || belt->options.firmware >= since;
}

/** Heading of the front, 0 to 359, heading offset applied. */
uint16_t tendon_simulated_feelspace_heading(const tendon_simulated_feelspace *belt, uint64_t now);

/* commands.c: a write; TENDON_OK or a TENDON_ATT_ERROR(). Recorded in any case. */
tendon_status tendon_simulated_feelspace_write(tendon_simulated_feelspace *belt, unsigned characteristic,
                                               const uint8_t *value, size_t length, uint64_t now);
tendon_simulated_feelspace_settings tendon_simulated_feelspace_factory(const tendon_simulated_feelspace *belt);

/* parameters.c: FE05. */
tendon_simulated_feelspace_outcome
tendon_simulated_feelspace_request(tendon_simulated_feelspace *belt, const uint8_t *value, size_t length, uint64_t now);

/* belt.c: enters a mode without telling. */
void tendon_simulated_feelspace_enter(tendon_simulated_feelspace *belt, uint8_t mode, uint64_t now);
void tendon_simulated_feelspace_set_intensity(tendon_simulated_feelspace *belt, int intensity);

/* send.c */
/** FE01 or FE09. */
size_t tendon_simulated_feelspace_value(const tendon_simulated_feelspace *belt, unsigned characteristic, uint8_t *out,
                                        size_t capacity);
/** Queues a notification (corrupted if requested) and tries to send it. Dropped if no central is subscribed. */
void tendon_simulated_feelspace_notify(tendon_simulated_feelspace *belt, unsigned characteristic, const uint8_t *value,
                                       size_t length);
/** Notifies a parameter of the basic family. */
void tendon_simulated_feelspace_tell(tendon_simulated_feelspace *belt, uint8_t parameter);
void tendon_simulated_feelspace_flush(tendon_simulated_feelspace *belt);
/** A subscription changed: keep-alives, orientations and raw samples start or stop. */
void tendon_simulated_feelspace_subscribed(tendon_simulated_feelspace *belt, unsigned characteristic, bool on,
                                           uint64_t now);
void tendon_simulated_feelspace_quiet(tendon_simulated_feelspace *belt);
void tendon_simulated_feelspace_tick(tendon_simulated_feelspace *belt, uint64_t now);
uint64_t tendon_simulated_feelspace_deadline(const tendon_simulated_feelspace *belt);
/** Ends the link, a moment later. */
void tendon_simulated_feelspace_hang_up(tendon_simulated_feelspace *belt, uint64_t now);
bool tendon_simulated_feelspace_listens(const tendon_simulated_feelspace *belt, unsigned characteristic);

#endif
