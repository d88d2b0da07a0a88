/* SPDX-License-Identifier: MIT */
/* Simulated Bose wearable: internal interface of its files. Section numbers are those of docs/protocols/bose.md. */
#ifndef TENDON_SIMULATE_BOSE_BOSE_PARTS_H
#define TENDON_SIMULATE_BOSE_BOSE_PARTS_H

#include "tendon/simulate/bose.h"

/** The seven characteristics: index into handles and bit of dirty. */
enum {
    BOSE_DEVICE_INFORMATION = 0,
    BOSE_SENSOR_INFORMATION,
    BOSE_SENSOR_CONFIGURATION,
    BOSE_SENSOR_DATA,
    BOSE_GESTURE_INFORMATION,
    BOSE_GESTURE_CONFIGURATION,
    BOSE_GESTURE_DATA,
    BOSE_CHARACTERISTICS
};

/** Bits of the device status (2.1). */
enum { STATUS_PAIRING_ENABLED = 1, STATUS_PAIRING_REQUIRED = 2, STATUS_ALREADY_PAIRED = 4, STATUS_SUSPENDED = 8 };

/** A row of 2.2. */
typedef struct tendon_simulated_bose_sensor {
    int16_t scaled_min, scaled_max, raw_min, raw_max;
    uint8_t length; /**< of a sample, without the header */
} tendon_simulated_bose_sensor;

extern const tendon_simulated_bose_sensor tendon_simulated_bose_sensors[TENDON_SIMULATED_BOSE_SENSORS];

#define GESTURE_BITS 8
/** Bit of the gesture mask and gesture id (2.1). */
typedef struct tendon_simulated_bose_gesture_row {
    uint8_t bit, id;
    const char *name;
} tendon_simulated_bose_gesture_row;

extern const tendon_simulated_bose_gesture_row tendon_simulated_bose_gestures[GESTURE_BITS];

static inline bool tendon_simulated_bose_has_sensor(const tendon_simulated_bose *device, size_t id) {
    return id < TENDON_SIMULATED_BOSE_SENSORS && (device->options.sensor_mask >> id & 1u) != 0;
}

static inline bool tendon_simulated_bose_has_gesture(const tendon_simulated_bose *device, size_t row) {
    return (device->options.gesture_mask >> tendon_simulated_bose_gestures[row].bit & 1u) != 0;
}

/* values.c: the values that are read. @p paired: the reading central was paired before. */
size_t tendon_simulated_bose_value(tendon_simulated_bose *device, unsigned characteristic, bool paired, uint8_t *out,
                                   size_t capacity);

/* configuration.c: writes; TENDON_OK or a TENDON_ATT_ERROR(). Nothing changes unless TENDON_OK. */
tendon_status tendon_simulated_bose_write_sensors(tendon_simulated_bose *device, const uint8_t *value, size_t length);
tendon_status tendon_simulated_bose_write_gestures(tendon_simulated_bose *device, const uint8_t *value, size_t length);
/** Sample times that share a notification at this sample period. */
uint32_t tendon_simulated_bose_samples_together(const tendon_simulated_bose *device, uint32_t period);
/** The period that all enabled sensors have; 0: none is enabled. */
uint16_t tendon_simulated_bose_period(const tendon_simulated_bose *device);

/* motion.c: one record of a sensor at a time of the device clock, header included. */
void tendon_simulated_bose_write_record(tendon_writer *out, size_t sensor, uint64_t device_ms);

/* stream.c */
/** Device clock at @p now. */
uint64_t tendon_simulated_bose_clock(const tendon_simulated_bose *device, uint64_t now);
/** Starts or stops the stream after a change of its conditions. */
void tendon_simulated_bose_update_stream(tendon_simulated_bose *device, bool restart, uint64_t now);
/** Everything disabled, nothing waiting. */
void tendon_simulated_bose_reset(tendon_simulated_bose *device);
/** Marks a characteristic's value as to be notified to all centrals but @p except (-1: to all), and tries. */
void tendon_simulated_bose_announce(tendon_simulated_bose *device, unsigned characteristic, tendon_status except);
/** Sends pending notifications to each connection until it is full. */
void tendon_simulated_bose_flush(tendon_simulated_bose *device);

#endif
