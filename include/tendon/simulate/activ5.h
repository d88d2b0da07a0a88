/* SPDX-License-Identifier: MIT */
/*
 * Simulated Activ5 trainer, both generations: a GATT server that obeys
 * docs/protocols/activ5.md. It builds its bytes from the tables of that
 * document, not with the codec of the client, so that a shared misreading
 * shows.
 *
 * Device clock: 0 when the first central connects, then host time; in flat_out
 * mode each sample is one period after the one before, whatever the time. The
 * force script and the motion script run on it.
 *
 * Force script: TENDON_SIMULATED_ACTIV5_SCRIPT_MS long, then again. A squeeze
 * at 1.0 s, a double squeeze (8.0 and 9.0 s), and at 14 s a push of 12 N that
 * is none. Its steps are whole quarters of a legacy unit, so that both
 * generations tell the same force.
 *
 * What it refuses (its own choice where no device was measured): a command
 * before the handshake with Write Request Rejected; what is no framed command,
 * and a sample rate outside 1 to 200 Hz, with Value Not Allowed; wrong lengths
 * with Invalid Attribute Value Length. Force and motion wait for the handshake.
 *
 * A sample goes to every central that gets it; the next one is not made before
 * all of them have it. So nothing is lost when a link is full, it is late.
 */
#ifndef TENDON_SIMULATE_ACTIV5_H
#define TENDON_SIMULATE_ACTIV5_H

#include "tendon/simulate/device.h"
#include "tendon/simulate/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_SIMULATED_ACTIV5_ATTRIBUTES 40
#define TENDON_SIMULATED_ACTIV5_SCRIPT_MS 20000
#define TENDON_SIMULATED_ACTIV5_TEXTS 10
#define TENDON_SIMULATED_ACTIV5_PRESSES 4

/** Its characteristics, in the order of the attribute table. */
typedef enum tendon_simulated_activ5_characteristic {
    TENDON_SIMULATED_ACTIV5_TEXT = 0,  /**< 5A01 */
    TENDON_SIMULATED_ACTIV5_COMMAND,   /**< 5A02 */
    TENDON_SIMULATED_ACTIV5_FORCE,     /**< F0FE, or F0F1 */
    TENDON_SIMULATED_ACTIV5_IMU,       /**< F0F5 */
    TENDON_SIMULATED_ACTIV5_TIMESTAMP, /**< F0F3 */
    TENDON_SIMULATED_ACTIV5_ID1,       /**< F0F7 */
    TENDON_SIMULATED_ACTIV5_ID2,       /**< F0F8 */
    TENDON_SIMULATED_ACTIV5_RATE,      /**< F0FA */
    TENDON_SIMULATED_ACTIV5_BATTERY,   /**< 2A19 */
    TENDON_SIMULATED_ACTIV5_SERIAL,    /**< 2A25 */
    TENDON_SIMULATED_ACTIV5_CHARACTERISTICS
} tendon_simulated_activ5_characteristic;

typedef struct tendon_simulated_activ5_options {
    bool legacy;                   /**< text protocol alone: services 1800 and 5000 */
    uint32_t lacks;                /**< bit n: characteristic n is left out; without 5A02 no handshake is wanted */
    bool force_is_f0f1;            /**< the older UUID of the force */
    bool silent;                   /**< its first message only in answer to the handshake */
    bool accepts_early;            /**< commands and streams without a handshake */
    bool stale_tails;              /**< text in fixed buffers of 20 bytes, with what was left in them */
    bool split_frames;             /**< a force text comes in two notifications */
    bool no_script;                /**< only the requested forces */
    bool flat_out;                 /**< samples as fast as the links take them, device clock still one period on each */
    uint16_t force_period_ms;      /**< 0: 100 */
    uint16_t imu_period_ms;        /**< 0: 40 */
    uint32_t switch_off_ms;        /**< without streams; 0: 420,000 (7 min); UINT32_MAX: never */
    uint32_t ticks;                /**< of 15.25 us, where its time begins */
    uint8_t battery;               /**< percent, told as it is; 0: 75 */
    uint64_t notification_limit;   /**< force, motion and time; then the streams stand still; 0: no limit */
    const char *name;              /**< NULL: "ACTIV5-AC-0001" */
    const char *version;           /**< NULL: "1.00" */
    const char *serial1, *serial2; /**< up to 14 characters, NULL: "A5-000", "123"; 2A25 is both */
    const char *id1, *id2;         /**< up to 16; NULL: "00112233", "445566" */
} tendon_simulated_activ5_options;

typedef struct tendon_simulated_activ5_counters {
    uint64_t notifications;  /**< force, motion and time that the links took, malformed ones included */
    uint64_t force;          /**< of these, force (a text in two parts counts once) */
    uint64_t motion;         /**< of these, motion */
    uint64_t malformed;      /**< of these, malformed on demand */
    uint64_t texts;          /**< notifications of other texts */
    uint64_t texts_lost;     /**< a central's queue was full */
    uint64_t blocked;        /**< held back because a link was full (sent later, not lost) */
    uint64_t commands;       /**< commands and sample rates that were taken */
    uint64_t stops;          /**< of these, stop */
    uint64_t refused_writes; /**< refused with an error */
    uint64_t switch_offs;    /**< it went off by itself */
} tendon_simulated_activ5_counters;

typedef struct tendon_simulated_activ5_text {
    uint8_t length, kind; /**< kind: what is counted when it is sent */
    uint8_t bytes[20];
} tendon_simulated_activ5_text;

/** What one central is, and still has to get. */
typedef struct tendon_simulated_activ5_central {
    bool greeted, shaken; /**< first message sent; handshake done */
    bool isometric;       /**< force as text */
    bool held;            /**< its link was full at the last try */
    uint16_t waiting;     /**< bit n: characteristic n's present value */
    uint8_t text_count;
    tendon_simulated_activ5_text texts[TENDON_SIMULATED_ACTIV5_TEXTS];
    uint8_t buffer[20]; /**< what its texts left behind */
} tendon_simulated_activ5_central;

/** A requested squeeze, in time of the device clock. */
typedef struct tendon_simulated_activ5_press {
    uint64_t start, end;
    int32_t peak;
} tendon_simulated_activ5_press;

typedef struct tendon_simulated_activ5 {
    tendon_simulated_activ5_options options;
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[TENDON_SIMULATED_ACTIV5_ATTRIBUTES];
    tendon_simulated_centrals centrals;
    tendon_simulated_activ5_central outboxes[TENDON_SIMULATED_CENTRALS];
    tendon_simulated_activ5_counters counters;
    uint16_t handles[TENDON_SIMULATED_ACTIV5_CHARACTERISTICS]; /**< value handles; 0: lacking */
    bool off;                                                  /**< switched off: refuses connections */
    uint64_t now;                                              /**< time of the latest input */
    uint64_t clock_base;                                       /**< monotonic ms at which the device clock was 0 */
    uint64_t device_ms;                                        /**< device clock of the last sample */
    uint64_t next_force, next_imu;                             /**< device clock; UINT64_MAX: nobody gets it */
    uint64_t idle_since;                                       /**< monotonic ms; the 7 minutes run from here */
    uint16_t force_period, imu_period;
    int32_t load, zero; /**< raw: what lies on it; what tare took for nothing */
    tendon_simulated_activ5_press presses[TENDON_SIMULATED_ACTIV5_PRESSES];
    size_t next_press;
    uint32_t malformed_next, malformed_kind;
    uint32_t noise;        /**< state of the garbage */
    bool sample_malformed; /**< the present force */
    uint8_t force[20];     /**< present values as they are notified */
    uint8_t force_length;
    uint8_t imu[16];
    uint8_t imu_length;
    uint8_t time[4];
    uint8_t battery;
    char serial[29]; /**< of 2A25 */
    uint8_t id2[16];
} tendon_simulated_activ5;

/** @param options copied; the strings are borrowed for the life of the device. NULL: a new trainer, all defaults. */
tendon_status tendon_simulated_activ5_init(tendon_simulated_activ5 *device,
                                           const tendon_simulated_activ5_options *options);

/** The seam for hosts of any device. */
tendon_peripheral_device tendon_simulated_activ5_device(tendon_simulated_activ5 *device);

/**
 * Scenario commands: squeeze [MS [RAW]], double_squeeze, load RAW, battery PERCENT, power on|off,
 * malformed KIND [COUNT], stale_tails on|off, split_frames on|off. RAW: quarters of a legacy unit (0.27156 N).
 */
tendon_scenario_actor tendon_simulated_activ5_actor(tendon_simulated_activ5 *device);

/** A squeeze from now on, @p peak raw high, with ramps of 100 ms; over the script. TENDON_ERROR_TABLE_FULL: too many.
 */
tendon_status tendon_simulated_activ5_squeeze(tendon_simulated_activ5 *device, uint32_t length_ms, int32_t peak,
                                              uint64_t now);
/** Two of 400 ms, 600 ms apart. */
tendon_status tendon_simulated_activ5_double_squeeze(tendon_simulated_activ5 *device, uint64_t now);
/** What lies on it all the time, raw; a tare takes it away. */
void tendon_simulated_activ5_load(tendon_simulated_activ5 *device, int32_t raw);
/** Told to those who subscribed, when it is a change. */
void tendon_simulated_activ5_set_battery(tendon_simulated_activ5 *device, uint8_t percent);
/** Off: all links end, and none is taken until it is on again. */
void tendon_simulated_activ5_power(tendon_simulated_activ5 *device, bool on);

/** Malformed values on demand, in place of the next @p count forces (of motion: short_imu). */
typedef enum tendon_simulated_activ5_malformation {
    TENDON_ACTIV5_MALFORM_EMPTY = 0, /**< an empty notification */
    TENDON_ACTIV5_MALFORM_SHORT,     /**< one byte; a text without its end */
    TENDON_ACTIV5_MALFORM_NO_SLASH,  /**< texts from here on; one byte of the binary force */
    TENDON_ACTIV5_MALFORM_BAD_NUMBER,
    TENDON_ACTIV5_MALFORM_BAD_ENCODING,
    TENDON_ACTIV5_MALFORM_LONG,      /**< 139 bytes without an end, in seven notifications */
    TENDON_ACTIV5_MALFORM_UNKNOWN,   /**< a well-framed text that means nothing */
    TENDON_ACTIV5_MALFORM_GARBAGE,   /**< 20 random bytes */
    TENDON_ACTIV5_MALFORM_SHORT_IMU, /**< 15 bytes of motion */
    TENDON_ACTIV5_MALFORM_COUNT
} tendon_simulated_activ5_malformation;
void tendon_simulated_activ5_inject(tendon_simulated_activ5 *device, tendon_simulated_activ5_malformation kind,
                                    uint32_t count);

/** The force script, raw, at a time of the device clock. */
int32_t tendon_simulated_activ5_script(uint64_t device_ms);
/** Newtons of a raw value. */
double tendon_simulated_activ5_newtons(int32_t raw);
/** The motion script: how far it is rolled about its x axis, radians. Smooth, period 10 s. */
double tendon_simulated_activ5_roll(uint64_t device_ms);

#ifdef __cplusplus
}
#endif
#endif
