/* SPDX-License-Identifier: MIT */
/* Simulated Activ5 trainer: internal interface of its files. Formats: docs/protocols/activ5.md. */
#ifndef TENDON_SIMULATE_ACTIV5_ACTIV5_PARTS_H
#define TENDON_SIMULATE_ACTIV5_ACTIV5_PARTS_H

#include "tendon/simulate/activ5.h"

/** The counter to increment when a text is sent. */
enum { ACTIV5_REPLY = 0, ACTIV5_FORCE_TEXT, ACTIV5_PART, ACTIV5_MALFORMED };

static inline bool tendon_simulated_activ5_has(const tendon_simulated_activ5 *device, unsigned characteristic) {
    return device->handles[characteristic] != 0;
}

/** Whether this central may use the device already. */
static inline bool tendon_simulated_activ5_is_open(const tendon_simulated_activ5 *device, size_t central) {
    return device->outboxes[central].shaken || device->options.accepts_early ||
           !tendon_simulated_activ5_has(device, TENDON_SIMULATED_ACTIV5_COMMAND);
}

/** Bit of @p waiting. */
static inline uint16_t tendon_simulated_activ5_bit(unsigned characteristic) {
    return (uint16_t)(1u << characteristic);
}

/* script.c */
/** Returns the measured force at a time of the device clock: script, requested squeezes and load, minus the tare. */
int32_t tendon_simulated_activ5_raw(const tendon_simulated_activ5 *device, uint64_t device_ms);
/** The 16 bytes of F0F5. */
void tendon_simulated_activ5_write_imu(const tendon_simulated_activ5 *device, uint64_t device_ms, uint8_t out[16]);
/** Device time in ticks of 15.25 us. */
uint32_t tendon_simulated_activ5_ticks(const tendon_simulated_activ5 *device, uint64_t device_ms);

/* text.c */
/** One framed text to a central: address, content, end. */
void tendon_simulated_activ5_reply(tendon_simulated_activ5 *device, size_t central, const char *head,
                                   const void *content, size_t length);
/** A force as text, or what stands in its place. */
void tendon_simulated_activ5_force_text(tendon_simulated_activ5 *device, size_t central, int32_t raw);
/** The garbage's next byte. */
uint8_t tendon_simulated_activ5_noise(tendon_simulated_activ5 *device);

/* stream.c */
/** True when a central gets the notifications of a characteristic. */
bool tendon_simulated_activ5_gets(const tendon_simulated_activ5 *device, size_t central, unsigned characteristic);
/** Returns the device clock at the time of the latest input. */
uint64_t tendon_simulated_activ5_clock(const tendon_simulated_activ5 *device);
/** Starts or stops the streams after a change of their conditions. */
void tendon_simulated_activ5_update(tendon_simulated_activ5 *device);
/** Sends pending notifications to each connection until it is full. */
void tendon_simulated_activ5_flush(tendon_simulated_activ5 *device);
void tendon_simulated_activ5_tick(tendon_simulated_activ5 *device, uint64_t now);
uint64_t tendon_simulated_activ5_deadline(const tendon_simulated_activ5 *device);

/* activ5.c */
tendon_status tendon_simulated_activ5_connected(tendon_simulated_activ5 *device, tendon_att_bearer *bearer,
                                                uint64_t now);
void tendon_simulated_activ5_disconnected(tendon_simulated_activ5 *device, tendon_att_bearer *bearer,
                                          tendon_status reason, uint64_t now);

#endif
