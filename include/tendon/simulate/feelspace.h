/* SPDX-License-Identifier: MIT */
/*
 * Simulated feelSpace naviBelt: a GATT server that obeys
 * docs/protocols/feelspace.md, of either generation. It builds its bytes from
 * the tables of that document, not with the codec of the client, so that a
 * shared misreading shows.
 *
 * Like a belt, it sends keep-alive requests and disconnects if it receives no response. It silently ignores (and
 * counts) the requests that a belt ignores, rejects commands with a wrong length, and serves one central at a time. It
 * records the received commands and the state of the channels and motors, so that a test can check what the wearer
 * would have felt.
 */
#ifndef TENDON_SIMULATE_FEELSPACE_H
#define TENDON_SIMULATE_FEELSPACE_H

#include "tendon/simulate/device.h"
#include "tendon/simulate/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_SIMULATED_FEELSPACE_ATTRIBUTES 48
#define TENDON_SIMULATED_FEELSPACE_CHANNELS 6
#define TENDON_SIMULATED_FEELSPACE_MOTORS 16
#define TENDON_SIMULATED_FEELSPACE_RECORDS 64
#define TENDON_SIMULATED_FEELSPACE_QUEUE 24
#define TENDON_SIMULATED_FEELSPACE_ERRORS 8

/** Hardware generation, which determines the advertising data; see 1.1 of the document. */
typedef enum tendon_simulated_feelspace_generation {
    TENDON_FEELSPACE_GENERATION_COMMERCIAL = 1, /**< advertises the 128-bit UUID; firmware 43 and later */
    TENDON_FEELSPACE_GENERATION_NEWER = 2       /**< advertises FE51; firmware 4, variant 4 */
} tendon_simulated_feelspace_generation;

typedef struct tendon_simulated_feelspace_options {
    uint8_t generation;     /**< 0: commercial */
    uint16_t firmware;      /**< 0: 52, or 4 of the newer generation */
    uint8_t variant;        /**< newer generation only; 0: 4 */
    uint16_t keep_alive_ms; /**< 0: 1000 */
    uint16_t patience_ms;   /**< time without a keep-alive response after which it disconnects; 0: 5000 */
    uint16_t battery_level; /**< % x 256; 0: 80 % */
    bool pairing_required;  /**< all belt characteristics require encryption */
    bool pairing_mode;      /**< permanently, from the start; otherwise a long press of the home button opens it for one
                               minute */
    bool without_debug;     /**< no service FE53 */
    bool unpatched;         /**< the app front range needs the newer generation's patch */
    bool flat_out; /**< sends an orientation whenever the connection can send; the heading advances by one degree per
                      value */
    uint64_t notification_limit; /**< orientations after which they stop; 0: no limit */
    const char *name;            /**< advertised in the scan response only; NULL: "naviGuertel SIM" */
} tendon_simulated_feelspace_options;

typedef enum tendon_simulated_feelspace_outcome {
    TENDON_FEELSPACE_TAKEN = 0,
    TENDON_FEELSPACE_IGNORED_MODE,    /**< not allowed in this mode: silently ignored */
    TENDON_FEELSPACE_IGNORED_VALUE,   /**< a field out of range, or an unknown command: silently ignored */
    TENDON_FEELSPACE_IGNORED_UNKNOWN, /**< unknown parameter, or not in this firmware: silently ignored */
    TENDON_FEELSPACE_REFUSED_LENGTH,  /**< Invalid Attribute Value Length */
    TENDON_FEELSPACE_IGNORED_FAULT    /**< the fault "silent" is active */
} tendon_simulated_feelspace_outcome;

/** "taken", "wrong_mode", "bad_value", "unknown", "bad_length", "silent". Static storage. */
const char *tendon_simulated_feelspace_outcome_name(uint8_t outcome);

/** A write that arrived. */
typedef struct tendon_simulated_feelspace_record {
    uint64_t at;             /**< monotonic ms */
    uint16_t characteristic; /**< 0xFE03 ... */
    uint8_t outcome;         /**< tendon_simulated_feelspace_outcome */
    uint8_t length;          /**< of the write; the first 20 bytes are kept */
    uint8_t bytes[20];
} tendon_simulated_feelspace_record;

/** A vibration channel as last configured. */
typedef struct tendon_simulated_feelspace_channel {
    bool active, exclusive, pulses; /**< pulses: configured by a pulse command */
    uint8_t pattern, intensity;     /**< intensity 0 to 100; 0xAA: the belt's default */
    uint8_t orientation_type;
    uint16_t orientation;
    int16_t iterations; /**< -1: endless */
    uint16_t period_ms, on_ms, pulse_period_ms;
    uint8_t pulse_count;
    uint64_t started; /**< monotonic ms, minus the start position */
} tendon_simulated_feelspace_channel;

/** Settings that a belt stores, or keeps until it is switched off. */
typedef struct tendon_simulated_feelspace_settings {
    uint8_t intensity, accuracy, buzzer, pairing;
    uint16_t heading_offset, orientation_period_ms;
    uint8_t front_range[7];
} tendon_simulated_feelspace_settings;

typedef struct tendon_simulated_feelspace_counters {
    uint64_t orientations; /**< orientation notifications sent */
    uint64_t raw_samples;  /**< raw sensor notifications sent */
    uint64_t notifications;
    uint64_t notifications_lost; /**< the queue was full */
    uint64_t malformed;          /**< of these, malformed on demand */
    uint64_t blocked;            /**< delayed because the connection could not send (sent later, not lost) */
    uint64_t keep_alives, answers;
    uint64_t disconnects; /**< connections that the belt ended */
    uint64_t writes, taken, ignored, refused_writes;
    uint64_t vibrations, signals; /**< of the accepted writes */
} tendon_simulated_feelspace_counters;

typedef struct tendon_simulated_feelspace_outgoing {
    uint8_t characteristic, length; /**< index into handles */
    uint8_t bytes[20];
} tendon_simulated_feelspace_outgoing;

/** Malformed notifications on demand, in place of well-formed ones. */
typedef enum tendon_simulated_feelspace_malformation {
    TENDON_FEELSPACE_MALFORM_EMPTY = 0,
    TENDON_FEELSPACE_MALFORM_CUT, /**< the last needed byte is missing */
    TENDON_FEELSPACE_MALFORM_BAD_VALUE,
    TENDON_FEELSPACE_MALFORM_GARBAGE,
    TENDON_FEELSPACE_MALFORM_COUNT
} tendon_simulated_feelspace_malformation;

typedef enum tendon_simulated_feelspace_press {
    TENDON_FEELSPACE_PRESS_SHORT = 0,
    TENDON_FEELSPACE_PRESS_LONG,
    TENDON_FEELSPACE_PRESS_DOUBLE
} tendon_simulated_feelspace_press;

typedef struct tendon_simulated_feelspace {
    tendon_simulated_feelspace_options options;
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[TENDON_SIMULATED_FEELSPACE_ATTRIBUTES];
    tendon_simulated_centrals centrals;
    tendon_simulated_feelspace_counters counters;
    uint16_t handles[13]; /**< value handles; 0: absent */
    uint8_t mode, mode_before_pause;
    tendon_simulated_feelspace_settings settings, stored;
    char name[32];
    /* sensor and battery state */
    uint8_t power_status;
    uint16_t battery_level, battery_time; /**< % x 256, units of 5.625 s */
    bool inaccurate;
    uint16_t heading; /**< 0 to 359 at turn_since */
    uint16_t turn;    /**< degrees per second, clockwise */
    uint64_t turn_since;
    uint16_t crossing_heading;
    tendon_simulated_feelspace_channel channels[TENDON_SIMULATED_FEELSPACE_CHANNELS];
    uint8_t last_signal; /**< 0xFF: none so far */
    /* notifications */
    uint64_t next_keep_alive, next_orientation, next_raw, unanswered_since, leave_at; /**< UINT64_MAX: never */
    uint64_t pairing_until;                                                           /**< 0: not in pairing mode */
    uint8_t raw_sequence;
    bool held;    /**< the connection could not send at the last attempt */
    bool writing; /**< a write is being processed: responses are delayed */
    uint8_t queue_head, queue_count;
    tendon_simulated_feelspace_outgoing queue[TENDON_SIMULATED_FEELSPACE_QUEUE];
    /* faults */
    bool silent, swapped, deaf; /**< deaf: keep-alives are not sent */
    uint32_t malformed_next, malformed_kind;
    /* errors raised */
    uint8_t error_count;
    struct {
        uint32_t code, ms;
    } errors[TENDON_SIMULATED_FEELSPACE_ERRORS];
    /* received writes */
    uint64_t
        recorded; /**< number of received writes; the last are in records[index % TENDON_SIMULATED_FEELSPACE_RECORDS] */
    tendon_simulated_feelspace_record records[TENDON_SIMULATED_FEELSPACE_RECORDS];
    uint8_t value[20]; /**< lent to readers */
} tendon_simulated_feelspace;

/** @param options copied; the name is borrowed until init returns. NULL: all 0. */
tendon_status tendon_simulated_feelspace_init(tendon_simulated_feelspace *belt,
                                              const tendon_simulated_feelspace_options *options);

/** Returns the interface that hosts of any device use. The belt accepts one central; connected() of a second one
 * returns TENDON_ERROR_TABLE_FULL. */
tendon_peripheral_device tendon_simulated_feelspace_device(tendon_simulated_feelspace *belt);

/** Returns write number @p index (from 0), or NULL if it was not received yet or was overwritten. */
const tendon_simulated_feelspace_record *tendon_simulated_feelspace_recorded(const tendon_simulated_feelspace *belt,
                                                                             uint64_t index);

/**
 * Computes the intensities of the motors in %, 0 if a motor is off. At most 6 motors vibrate (firmware 43: 4), those of
 * lower channels first. @return the number of vibrating motors.
 */
unsigned tendon_simulated_feelspace_motors(const tendon_simulated_feelspace *belt, uint64_t now,
                                           uint8_t out[TENDON_SIMULATED_FEELSPACE_MOTORS]);

/** Presses a button; modes and intensity change as on the belt. @param button 1 power, 2 pause, 3 compass, 4 home. */
void tendon_simulated_feelspace_press_button(tendon_simulated_feelspace *belt, uint8_t button,
                                             tendon_simulated_feelspace_press press, uint64_t now);
/** Notifies a button press with arbitrary values, for cases that the tables do not contain. */
void tendon_simulated_feelspace_report_press(tendon_simulated_feelspace *belt, uint8_t button, uint8_t press_code,
                                             uint8_t previous_mode, uint8_t new_mode, uint64_t now);
/** Changes the mode as the belt itself does. 0 switches it off and disconnects. */
void tendon_simulated_feelspace_change_mode(tendon_simulated_feelspace *belt, uint8_t mode, uint64_t now);
/** @param level_percent 0 to 100. */
void tendon_simulated_feelspace_set_battery(tendon_simulated_feelspace *belt, uint8_t power_status,
                                            uint8_t level_percent, uint64_t now);
/** @param heading 0 to 359. @param turn degrees per second from now on. */
void tendon_simulated_feelspace_set_heading(tendon_simulated_feelspace *belt, uint16_t heading, uint16_t turn,
                                            uint64_t now);
void tendon_simulated_feelspace_set_accurate(tendon_simulated_feelspace *belt, bool accurate);
/** Logs an error and reports it in the debug output. */
void tendon_simulated_feelspace_raise_error(tendon_simulated_feelspace *belt, uint32_t code, uint64_t now);
void tendon_simulated_feelspace_inject(tendon_simulated_feelspace *belt, tendon_simulated_feelspace_malformation kind,
                                       uint32_t count);

/**
 * Scenario commands: press power|pause|compass|home [short|long|double], mode NAME|0..6, battery PERCENT
 * [unknown|on_battery|charging|external], heading DEGREES, turn DEGREES_PER_SECOND, accurate on|off, error CODE,
 * malformed KIND [COUNT], and the faults silent on|off (requests get no response), swapped on|off (a mode is notified
 * before its button), deaf on|off (no keep-alives). Kinds: empty, cut, bad_value, garbage.
 */
tendon_scenario_actor tendon_simulated_feelspace_actor(tendon_simulated_feelspace *belt);

#ifdef __cplusplus
}
#endif
#endif
