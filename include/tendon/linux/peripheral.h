/* SPDX-License-Identifier: MIT */
/*
 * Peripheral: serves a device (host/peripheral.h: a simulated one, or a
 * program's own GATT server) to centrals over a radio. Listens, advertises,
 * keeps the links, and gives the device its time.
 */
#ifndef TENDON_LINUX_PERIPHERAL_H
#define TENDON_LINUX_PERIPHERAL_H

#include "tendon/host/peripheral.h"
#include "tendon/linux/radio.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_PERIPHERAL_LINKS 4

struct tendon_peripheral;

typedef struct tendon_peripheral_link {
    struct tendon_peripheral *owner;
    tendon_link link;
    tendon_att_bearer bearer;
    bool used, served;
} tendon_peripheral_link;

/** Told beside the device. Any member may be NULL. */
typedef struct tendon_peripheral_callbacks {
    void *context;
    void (*connected)(void *context, tendon_peripheral_link *link, uint64_t now);
    void (*disconnected)(void *context, tendon_peripheral_link *link, tendon_status reason, uint64_t now);
    /** The last link of a closed peripheral has ended: its memory may be given back here. */
    void (*idle)(void *context, uint64_t now);
} tendon_peripheral_callbacks;

/** The caller's memory; to be given back when closed and tendon_peripheral_count() is 0. */
typedef struct tendon_peripheral {
    tendon_radio *radio;
    tendon_peripheral_device device;
    tendon_peripheral_callbacks callbacks;
    tendon_bearer_filter filters[TENDON_PERIPHERAL_LINKS];
    bool filtered, open;
    uint16_t interval_ms;
    tendon_listener listener;
    tendon_source timer;
    tendon_peripheral_link links[TENDON_PERIPHERAL_LINKS];
    uint64_t accepted, refused; /**< centrals */
} tendon_peripheral;

/** @param callbacks copied; may be NULL. */
void tendon_peripheral_init(tendon_peripheral *peripheral, tendon_radio *radio, const tendon_peripheral_device *device,
                            const tendon_peripheral_callbacks *callbacks);
/** Puts a filter on each link, e.g. faults: TENDON_PERIPHERAL_LINKS of them, copied. Before open(). */
void tendon_peripheral_set_filters(tendon_peripheral *peripheral, const tendon_bearer_filter *filters);
/**
 * Listens and advertises from now on.
 * @param interval_ms of the advertisement; 0: 100.
 * @return TENDON_OK, or why the radio or the device refused; nothing runs then.
 */
tendon_status tendon_peripheral_open(tendon_peripheral *peripheral, uint16_t interval_ms);
/** Stops both and closes the links, whose ends follow from the loop. */
void tendon_peripheral_close(tendon_peripheral *peripheral);
/** Advertises anew with what the device says now. */
tendon_status tendon_peripheral_readvertise(tendon_peripheral *peripheral);
/** Links that are there, those that are about to end included. */
size_t tendon_peripheral_count(const tendon_peripheral *peripheral);
/** Call after the device was used from outside of the loop's callbacks: its deadline may have changed. */
void tendon_peripheral_refresh(tendon_peripheral *peripheral);

#ifdef __cplusplus
}
#endif
#endif
