/* SPDX-License-Identifier: MIT */
/*
 * Simulated Activ5 trainer, both generations: a GATT server that obeys docs/protocols/activ5.md. It builds its bytes
 * from the tables of that document, not with the codec of the client, so that a shared misreading shows.
 *
 * Device clock: 0 when the first central connects, then host time; in flat_out mode each sample is one period after the
 * previous one, independent of the host's time. The force script and the motion script run on it.
 *
 * Force script: repeats every TENDON_SIMULATED_ACTIV5_SCRIPT_MS. A squeeze at 1.0 s, a double squeeze (8.0 and 9.0 s),
 * and at 14 s a push of 12 N, which is below the limit of a squeeze. Its steps are whole quarters of a legacy unit, so
 * both generations report the same force.
 *
 * Rejected writes (assumptions where no device was measured): a command before the handshake with Write Request
 * Rejected; a value that is not a framed command, and a sample rate outside 1 to 200 Hz, with Value Not Allowed; wrong
 * lengths with Invalid Attribute Value Length. Force and motion start after the handshake.
 *
 * A sample is sent to every subscribed central; the next sample is made only after all of them have received it. So if
 * a connection cannot send, no sample is lost: the stream is delayed.
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
    bool legacy;        /**< text protocol only: services 1800 and 5000 */
    uint32_t lacks;     /**< bit n: characteristic n is absent; without 5A02 no handshake is required */
    bool force_is_f0f1; /**< the older UUID of the force */
    bool silent;        /**< sends its first message only after the handshake command */
    bool accepts_early; /**< accepts commands and subscriptions without a handshake */
    bool stale_tails;   /**< sends texts in buffers of 20 bytes that still contain the end of the previous text */
    bool split_frames;  /**< splits each force text into two notifications */
    bool no_script;     /**< no force script, only the squeezes that were requested */
    bool flat_out; /**< sends samples as fast as the connections accept them; the device clock advances by one period
                      per sample */
    uint16_t force_period_ms;    /**< 0: 100 */
    uint16_t imu_period_ms;      /**< 0: 40 */
    uint32_t switch_off_ms;      /**< switches itself off after this time without subscriptions; 0: 420,000 (7 min);
                                    UINT32_MAX: never */
    uint32_t ticks;              /**< first timestamp, in ticks of 15.25 us */
    uint8_t battery;             /**< percent, reported without a check; 0: 75 */
    uint64_t notification_limit; /**< number of force, motion and time notifications after which the streams stop; 0: no
                                    limit */
    const char *name;            /**< NULL: "ACTIV5-AC-0001" */
    const char *version;         /**< NULL: "1.00" */
    const char *serial1, *serial2; /**< up to 14 characters, NULL: "A5-000", "123"; 2A25 is both */
    const char *id1, *id2;         /**< up to 16; NULL: "00112233", "445566" */
} tendon_simulated_activ5_options;

typedef struct tendon_simulated_activ5_counters {
    uint64_t notifications;  /**< force, motion and time notifications sent, including malformed ones */
    uint64_t force;          /**< of these, force (a text in two notifications counts once) */
    uint64_t motion;         /**< of these, motion */
    uint64_t malformed;      /**< of these, malformed on demand */
    uint64_t texts;          /**< notifications of other texts */
    uint64_t texts_lost;     /**< dropped because a central's queue was full */
    uint64_t blocked;        /**< delayed because a connection could not send (sent later, not lost) */
    uint64_t commands;       /**< accepted commands and sample rates */
    uint64_t stops;          /**< of these, stop */
    uint64_t refused_writes; /**< rejected with an ATT error */
    uint64_t switch_offs;    /**< switched itself off after inactivity */
} tendon_simulated_activ5_counters;

typedef struct tendon_simulated_activ5_text {
    uint8_t length, kind; /**< kind: the counter to increment when it is sent */
    uint8_t bytes[20];
} tendon_simulated_activ5_text;

/** State of one central, and the notifications that are pending for it. */
typedef struct tendon_simulated_activ5_central {
    bool greeted, shaken; /**< first message sent; handshake done */
    bool isometric;       /**< force as text */
    bool held;            /**< its connection could not send at the last attempt */
    uint16_t waiting;     /**< bit n: the value of characteristic n is pending */
    uint8_t text_count;
    tendon_simulated_activ5_text texts[TENDON_SIMULATED_ACTIV5_TEXTS];
    uint8_t buffer[20]; /**< buffer of its texts; keeps the end of the previous text */
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
    uint16_t handles[TENDON_SIMULATED_ACTIV5_CHARACTERISTICS]; /**< value handles; 0: absent */
    bool off;                                                  /**< switched off: rejects connections */
    uint64_t now;                                              /**< time of the latest input */
    uint64_t clock_base;                                       /**< monotonic ms at which the device clock was 0 */
    uint64_t device_ms;                                        /**< device clock of the last sample */
    uint64_t next_force, next_imu; /**< device clock; UINT64_MAX: no central is subscribed */
    uint64_t idle_since;           /**< monotonic ms; start of the 7 minutes */
    uint16_t force_period, imu_period;
    int32_t load, zero; /**< raw: constant load; offset that the last tare stored */
    tendon_simulated_activ5_press presses[TENDON_SIMULATED_ACTIV5_PRESSES];
    size_t next_press;
    uint32_t malformed_next, malformed_kind;
    uint32_t noise;        /**< state of the garbage */
    bool sample_malformed; /**< the pending force is malformed */
    uint8_t force[20];     /**< current value, as notified */
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

/** Returns the interface that hosts of any device use. */
tendon_peripheral_device tendon_simulated_activ5_device(tendon_simulated_activ5 *device);

/**
 * Scenario commands: squeeze [MS [RAW]], double_squeeze, load RAW, battery PERCENT, power on|off,
 * malformed KIND [COUNT], stale_tails on|off, split_frames on|off. RAW: quarters of a legacy unit (0.27156 N).
 */
tendon_scenario_actor tendon_simulated_activ5_actor(tendon_simulated_activ5 *device);

/** Starts a squeeze with a maximum of @p peak (raw) and ramps of 100 ms, in place of the script.
 * TENDON_ERROR_TABLE_FULL if too many squeezes are pending.
 */
tendon_status tendon_simulated_activ5_squeeze(tendon_simulated_activ5 *device, uint32_t length_ms, int32_t peak,
                                              uint64_t now);
/** Starts two squeezes of 400 ms, 600 ms apart. */
tendon_status tendon_simulated_activ5_double_squeeze(tendon_simulated_activ5 *device, uint64_t now);
/** Sets a constant load, raw; a tare removes it from the values. */
void tendon_simulated_activ5_load(tendon_simulated_activ5 *device, int32_t raw);
/** Sets the battery level, and notifies the subscribed centrals if it changed. */
void tendon_simulated_activ5_set_battery(tendon_simulated_activ5 *device, uint8_t percent);
/** Switches the device on or off. Off disconnects all centrals and rejects connections. */
void tendon_simulated_activ5_power(tendon_simulated_activ5 *device, bool on);

/** Malformed values on demand: they replace the next @p count force values (SHORT_IMU: motion values). */
typedef enum tendon_simulated_activ5_malformation {
    TENDON_ACTIV5_MALFORM_EMPTY = 0, /**< an empty notification */
    TENDON_ACTIV5_MALFORM_SHORT,     /**< one byte; for texts: no end byte */
    TENDON_ACTIV5_MALFORM_NO_SLASH,  /**< from here to LONG: texts; for binary force: one byte */
    TENDON_ACTIV5_MALFORM_BAD_NUMBER,
    TENDON_ACTIV5_MALFORM_BAD_ENCODING,
    TENDON_ACTIV5_MALFORM_LONG,      /**< 139 bytes without an end byte, in seven notifications */
    TENDON_ACTIV5_MALFORM_UNKNOWN,   /**< a well-framed text with an unknown content */
    TENDON_ACTIV5_MALFORM_GARBAGE,   /**< 20 random bytes */
    TENDON_ACTIV5_MALFORM_SHORT_IMU, /**< 15 bytes of motion */
    TENDON_ACTIV5_MALFORM_COUNT
} tendon_simulated_activ5_malformation;
void tendon_simulated_activ5_inject(tendon_simulated_activ5 *device, tendon_simulated_activ5_malformation kind,
                                    uint32_t count);

/** Returns the raw value of the force script at a time of the device clock. */
int32_t tendon_simulated_activ5_script(uint64_t device_ms);
/** Converts a raw value to newtons. */
double tendon_simulated_activ5_newtons(int32_t raw);
/** Returns the motion script's rotation about the x axis, in radians, at a time of the device clock. Smooth, period 10
 * s. */
double tendon_simulated_activ5_roll(uint64_t device_ms);

#ifdef __cplusplus
}
#endif
#endif
