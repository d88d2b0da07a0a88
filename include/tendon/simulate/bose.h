/* SPDX-License-Identifier: MIT */
/*
 * Simulated Bose wearable: a GATT server that obeys docs/protocols/bose.md. It builds its bytes from the tables of that
 * document, not with the codec of the client, so that a shared misreading shows.
 *
 * Device clock: starts at 0 when the first central connects and runs with the host's time. In flat_out mode each sample
 * is one period after the previous one, independent of the host's time. The motion script runs on the device clock, so
 * a client that was connected from the start knows the true pose of every sample. Timestamps are its low 16 bits.
 *
 * A sample is sent to every subscribed central; the next sample is made only after all of them have received it. So if
 * a connection cannot send, no sample is lost or reordered: the stream is delayed and catches up later.
 */
#ifndef TENDON_SIMULATE_BOSE_H
#define TENDON_SIMULATE_BOSE_H

#include "tendon/simulate/device.h"
#include "tendon/simulate/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_SIMULATED_BOSE_ATTRIBUTES 64
#define TENDON_SIMULATED_BOSE_SENSORS 7
#define TENDON_SIMULATED_BOSE_GESTURE_QUEUE 8

typedef struct tendon_simulated_bose_options {
    uint16_t product_id; /**< 0: 0x402C Frames */
    uint8_t variant;
    uint32_t sensor_mask;           /**< 0: 0x0F */
    uint32_t gesture_mask;          /**< 0: 0x0007000E */
    uint16_t max_payload;           /**< bytes per transmission period, 0: no limit */
    uint8_t transmission_period_ms; /**< samples of a shorter period share notifications; 0: each sample is sent
                                       immediately */
    uint8_t max_active_sensors;     /**< 0: no limit */
    uint16_t period_mask;           /**< sample periods offered, bits of docs/protocols/bose.md 2.2; 0: 0x001F */
    bool pairing_required;
    bool pairing_enabled; /**< at start; see tendon_simulated_bose_set_pairing_mode() */
    bool flat_out; /**< sends a notification whenever the connection can send; the device clock advances by one period
                      per sample */
    bool legacy_gesture_information; /**< 2-byte records (2018) */
    uint64_t notification_limit; /**< number of sensor data notifications after which the stream stops; 0: no limit */
    const char *name;            /**< advertised in the scan response only; NULL: "LE-Bose Frames" */
    const char *firmware;        /**< NULL: "1.0.0" */
    const char *serial;          /**< NULL: a fixed one */
} tendon_simulated_bose_options;

/** The true head pose of the motion script: head angles, radians. */
typedef struct tendon_pose {
    double pitch, roll, yaw;
} tendon_pose;

typedef struct tendon_simulated_bose_counters {
    uint64_t notifications; /**< sensor data notifications sent, including malformed ones */
    uint64_t malformed;     /**< of these, malformed on demand */
    uint64_t samples;       /**< records in the others */
    uint64_t gestures;      /**< gesture notifications sent */
    uint64_t gestures_lost; /**< dropped because a central's queue was full */
    uint64_t blocked;       /**< notifications delayed because the connection could not send (sent later, not lost) */
    uint64_t configuration_writes, refused_writes;
} tendon_simulated_bose_counters;

/** Notifications that are pending for one central. */
typedef struct tendon_simulated_bose_outbox {
    bool waiting;  /**< not all pending records were sent to it */
    bool held;     /**< its connection could not send at the last attempt */
    uint16_t sent; /**< number of bytes of the pending records sent to it */
    uint8_t dirty; /**< bit n: notify the current value of characteristic n */
    uint8_t gesture_count;
    uint8_t gestures[TENDON_SIMULATED_BOSE_GESTURE_QUEUE][3];
} tendon_simulated_bose_outbox;

typedef struct tendon_simulated_bose {
    tendon_simulated_bose_options options;
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[TENDON_SIMULATED_BOSE_ATTRIBUTES];
    tendon_simulated_centrals centrals;
    tendon_simulated_bose_outbox outboxes[TENDON_SIMULATED_CENTRALS];
    tendon_simulated_bose_counters counters;
    uint16_t status;     /**< bits 0, 1, 3 and 12 to 15; bit 2 depends on the reader */
    uint16_t handles[7]; /**< value handles of the seven characteristics */
    uint16_t name_handle;
    uint16_t periods[TENDON_SIMULATED_BOSE_SENSORS]; /**< by sensor id; 0: disabled */
    uint32_t gestures_enabled;                       /**< by bit of the gesture mask */
    uint64_t clock_base;                             /**< monotonic ms at which the device clock was 0 */
    uint64_t device_ms;                              /**< device clock of the last sample */
    uint64_t next_sample;                            /**< monotonic ms; UINT64_MAX: no stream */
    uint32_t malformed_next;                         /**< malformed notifications to send */
    uint32_t malformed_kind;
    uint32_t noise;           /**< state of the garbage */
    uint8_t value[512];       /**< lent to readers */
    uint8_t pending[512];     /**< records that were not sent to all centrals yet */
    uint16_t pending_length;  /**< bytes in it */
    uint16_t pending_samples; /**< number of sample times in it, see transmission_period_ms */
    bool pending_complete;    /**< no further samples are added, it is being sent */
    bool pending_malformed;   /**< one malformed notification instead of records */
} tendon_simulated_bose;

/** Returns the capabilities of Frames: example 1 of docs/protocols/bose.md 7 (period 8 ms, payload 47, 4 sensors). */
tendon_simulated_bose_options tendon_simulated_bose_frames(void);

/** @param options copied; the strings are borrowed for the life of the device. NULL: tendon_simulated_bose_frames(). */
tendon_status tendon_simulated_bose_init(tendon_simulated_bose *device, const tendon_simulated_bose_options *options);

/** Writes the advertising data (FDD2) and the scan response (the name); returns the length, at most 31 each. */
tendon_status tendon_simulated_bose_advertisement(const tendon_simulated_bose *device, uint8_t *out, size_t capacity);
tendon_status tendon_simulated_bose_scan_response(const tendon_simulated_bose *device, uint8_t *out, size_t capacity);

/** A central connected: serves @p bearer. TENDON_ERROR_TABLE_FULL if no slot is free. */
tendon_status tendon_simulated_bose_connected(tendon_simulated_bose *device, tendon_att_bearer *bearer, uint64_t now);
/** A central disconnected: its subscriptions end. After the last central, all sensors and gestures are disabled. */
void tendon_simulated_bose_disconnected(tendon_simulated_bose *device, tendon_att_bearer *bearer, tendon_status reason,
                                        uint64_t now);
/** The connection of this central is encrypted (pairing succeeded). */
void tendon_simulated_bose_paired(tendon_simulated_bose *device, tendon_att_bearer *bearer, uint64_t now);

void tendon_simulated_bose_tick(tendon_simulated_bose *device, uint64_t now);
uint64_t tendon_simulated_bose_deadline(const tendon_simulated_bose *device);
/** The connection can send again. */
void tendon_simulated_bose_writable(tendon_simulated_bose *device, uint64_t now);

/** @param reason wire value 0 to 15, meaningful when @p suspended. Notifies the device information. */
void tendon_simulated_bose_suspend(tendon_simulated_bose *device, bool suspended, uint8_t reason, uint64_t now);
void tendon_simulated_bose_set_pairing_mode(tendon_simulated_bose *device, bool enabled, uint64_t now);
/**
 * Sends a gesture. @return TENDON_OK; TENDON_ERROR_NOT_FOUND: the device does not support it; TENDON_ERROR_WRONG_STATE:
 * it is disabled or the service is suspended; TENDON_GATT_ERROR_NOT_SUBSCRIBED: no central is subscribed.
 */
tendon_status tendon_simulated_bose_gesture(tendon_simulated_bose *device, uint8_t gesture_id, uint64_t now);

/** Malformed frames on demand: they replace the next @p count sensor data notifications. */
typedef enum tendon_simulated_bose_malformation {
    TENDON_BOSE_MALFORM_EMPTY = 0,
    TENDON_BOSE_MALFORM_CUT_HEADER,
    TENDON_BOSE_MALFORM_CUT_PAYLOAD,
    TENDON_BOSE_MALFORM_UNKNOWN_SENSOR,
    TENDON_BOSE_MALFORM_BAD_ACCURACY,
    TENDON_BOSE_MALFORM_GARBAGE,
    TENDON_BOSE_MALFORM_COUNT
} tendon_simulated_bose_malformation;
void tendon_simulated_bose_inject(tendon_simulated_bose *device, tendon_simulated_bose_malformation kind,
                                  uint32_t count);

/** Returns the interface that hosts of any device use. */
tendon_peripheral_device tendon_simulated_bose_device(tendon_simulated_bose *device);

/**
 * Scenario commands: suspend REASON|0..15, resume, gesture NAME|ID, malformed KIND [COUNT], pairing_mode on|off.
 * Reasons: unknown, voice_assistant, multipoint_connection, music_share, ota_firmware_update. Gestures: single_tap,
 * double_tap, head_nod, head_shake, touch_and_hold, input, affirmative, negative. Kinds: empty, cut_header,
 * cut_payload, unknown_sensor, bad_accuracy, garbage.
 */
tendon_scenario_actor tendon_simulated_bose_actor(tendon_simulated_bose *device);

/** Returns the true head pose of the motion script at a time of the device clock. Smooth, deterministic, period 20 s.
 */
tendon_pose tendon_simulated_bose_pose(uint64_t device_ms);
/** Computes the rotation that a device at this pose reports: x, y, z, w (docs/protocols/bose.md 3.1 and 3.5). */
void tendon_simulated_bose_quaternion(tendon_pose pose, double out[4]);

#ifdef __cplusplus
}
#endif
#endif
