/* SPDX-License-Identifier: MIT */
/*
 * One session of a family and its simulated device in memory, under simulated time: from the connection to the first
 * sample. For the tests that count its requests, and for the benchmark that times them.
 */
#ifndef FIRST_SAMPLE_H
#define FIRST_SAMPLE_H

#include "moved_table.h"
#include "soak.h"

/** Requests of one connection up to its first sample. */
typedef struct first_sample_result {
    uint32_t requests;
    uint32_t subscriptions; /**< of them, those that write a CCCD */
    uint64_t ms;
} first_sample_result;

/** PDUs on the air in one direction. */
typedef struct first_sample_air {
    tendon_bearer_io io; /**< the radio's queue behind it */
    uint16_t first, count;
    bool refused;
    struct {
        uint64_t due;
        uint16_t length;
        uint8_t bytes[TENDON_ATT_MTU_MAX];
    } pdus[TENDON_MEMORY_RADIO_QUEUE];
} first_sample_air;

typedef struct first_sample {
    soak s;
    tendon_memory_radio radio;
    tendon_memory_radio_device device;
    tendon_gatt_cache cache;
    moved_table table;
    uint64_t now, connected;
    uint32_t interval_ms; /**< connection interval; a PDU is received at the next event. 0: immediately */
    uint32_t requests, subscriptions;
    void (*on_request)(uint32_t number); /**< before it is received; may be NULL */
    tendon_peripheral_ops ops;
    const tendon_peripheral_ops *device_ops;
    first_sample_air to_device, to_us;
} first_sample;

/** What soak_link() and soak_attach() belong to. */
extern first_sample first;
extern const tendon_address first_sample_address;

/** The attribute table of the simulated device. */
tendon_gatt_server *first_sample_server(void);
/** A new session and a new device. @param has_hash the device has a Database Hash */
void first_sample_make(const soak_family *family, bool has_hash);
/** Gives the connections a GATT cache that is empty. */
void first_sample_use_cache(void);
/** Simulated time passes until something is due, at most 50 ms. */
void first_sample_step(void);
/** Opens and streams. @return false if the connection ended before a sample came, or none came within 40 s. */
bool first_sample_open(first_sample_result *result);
/** As a program would; returns when the session is closed. */
void first_sample_close(void);
/** One connection, which must bring a sample. */
first_sample_result first_sample_run(void);

#endif
