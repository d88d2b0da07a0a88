/* SPDX-License-Identifier: MIT */
/*
 * Simulated Bose wearable: a GATT server that obeys docs/protocols/bose.md.
 * It builds its bytes from the tables of that document, not with the codec of
 * the client, so that a shared misreading shows.
 */
#ifndef TENDON_SIMULATE_BOSE_H
#define TENDON_SIMULATE_BOSE_H

#include "tendon/host.h"
#include "tendon/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_SIMULATED_BOSE_ATTRIBUTES 64
#define TENDON_SIMULATED_BOSE_CENTRALS 4
#define TENDON_SIMULATED_BOSE_CCCDS 8

typedef struct tendon_simulated_bose_options {
    uint16_t product_id; /**< 0: 0x402C Frames */
    uint8_t variant;
    uint32_t sensor_mask;  /**< 0: 0x0F */
    uint32_t gesture_mask; /**< 0: 0x0007000E */
    uint16_t max_payload;  /**< bytes per transmission period, 0: no limit */
    uint8_t transmission_period_ms;
    uint8_t max_active_sensors;
    bool pairing_required;
    bool pairing_enabled; /**< at start; see tendon_simulated_bose_set_pairing_mode() */
    bool flat_out;        /**< a notification whenever the link takes one, device clock still one period on each */
    bool legacy_gesture_information; /**< 2-byte records (2018) */
    const char *name;                /**< advertised in the scan response only; NULL: "LE-Bose Frames" */
    const char *firmware;            /**< NULL: "1.0.0" */
    const char *serial;              /**< NULL: a fixed one */
} tendon_simulated_bose_options;

/** The true head pose of the motion script: head angles, radians. */
typedef struct tendon_pose {
    double pitch, roll, yaw;
} tendon_pose;

typedef struct tendon_simulated_bose_counters {
    uint64_t notifications; /**< sensor data notifications the link took */
    uint64_t samples;       /**< records in them */
    uint64_t gestures;
    uint64_t blocked; /**< notifications held back because the link was full (sent later, not lost) */
    uint64_t configuration_writes, refused_writes;
} tendon_simulated_bose_counters;

typedef struct tendon_simulated_bose_central {
    bool used;
    tendon_gatt_connection connection;
    uint16_t cccds[TENDON_SIMULATED_BOSE_CCCDS];
    tendon_gatt_prepared prepared[8];
} tendon_simulated_bose_central;

typedef struct tendon_simulated_bose {
    tendon_simulated_bose_options options;
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[TENDON_SIMULATED_BOSE_ATTRIBUTES];
    tendon_simulated_bose_central centrals[TENDON_SIMULATED_BOSE_CENTRALS];
    tendon_simulated_bose_counters counters;
    uint16_t status;
    uint16_t handles[7];
    uint16_t periods[7];         /**< of the sensors present, by sensor id */
    uint8_t gestures_enabled[3]; /**< bits by mask position */
    uint64_t device_ms;          /**< device clock of the next sample */
    uint64_t next_sample;        /**< monotonic ms; UINT64_MAX: nothing enabled */
    uint32_t malformed_next;     /**< malformed notifications to send, see tendon_simulated_bose_inject() */
    uint32_t malformed_kind;
    uint8_t value[512];  /**< lent to readers */
    uint8_t pending[64]; /**< notification the link did not take yet */
    uint16_t pending_length;
} tendon_simulated_bose;

tendon_status tendon_simulated_bose_init(tendon_simulated_bose *device, const tendon_simulated_bose_options *options);

/** Advertising data (FDD2) and scan response (the name); returns the length, up to 31 each. */
tendon_status tendon_simulated_bose_advertisement(const tendon_simulated_bose *device, uint8_t *out, size_t capacity);
tendon_status tendon_simulated_bose_scan_response(const tendon_simulated_bose *device, uint8_t *out, size_t capacity);

/** A central connected: serves @p bearer. TENDON_ERROR_TABLE_FULL when all places are taken. */
tendon_status tendon_simulated_bose_connected(tendon_simulated_bose *device, tendon_att_bearer *bearer, uint64_t now);
/** It went: its subscriptions end; with the last one everything is disabled. */
void tendon_simulated_bose_disconnected(tendon_simulated_bose *device, tendon_att_bearer *bearer, uint64_t now);
/** The central on this link is encrypted now (pairing succeeded). */
void tendon_simulated_bose_paired(tendon_simulated_bose *device, tendon_att_bearer *bearer, uint64_t now);

void tendon_simulated_bose_tick(tendon_simulated_bose *device, uint64_t now);
uint64_t tendon_simulated_bose_deadline(const tendon_simulated_bose *device);
/** The link takes PDUs again. */
void tendon_simulated_bose_writable(tendon_simulated_bose *device, uint64_t now);

/** @param reason wire value 0 to 15, meaningful when @p suspended. Notifies the device information. */
void tendon_simulated_bose_suspend(tendon_simulated_bose *device, bool suspended, uint8_t reason, uint64_t now);
void tendon_simulated_bose_set_pairing_mode(tendon_simulated_bose *device, bool enabled, uint64_t now);
/** Sends a gesture if it is enabled. @return TENDON_OK or TENDON_GATT_ERROR_NOT_SUBSCRIBED. */
tendon_status tendon_simulated_bose_gesture(tendon_simulated_bose *device, uint8_t gesture_id, uint64_t now);

/** Malformed frames on demand, in place of the next @p count sensor data notifications. */
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

/** The motion script: true head pose at a time of the device clock. Smooth, deterministic, period 20 s. */
tendon_pose tendon_simulated_bose_pose(uint64_t device_ms);

#ifdef __cplusplus
}
#endif
#endif
