/* SPDX-License-Identifier: MIT */
/*
 * Peripheral: serves a device (host/peripheral.h: a simulated one, or a
 * program's own GATT server) to centrals over a radio. Listens, advertises, owns the connections, and calls the
 * device's tick().
 */
#ifndef TENDON_LINUX_PERIPHERAL_H
#define TENDON_LINUX_PERIPHERAL_H

#include "tendon/host/peripheral.h"
#include "tendon/linux/radio.h"
#include "tendon/linux/subscriptions.h"

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
    tendon_kept_subscriptions kept;
} tendon_peripheral_link;

/** Callbacks of a peripheral, in addition to those of the device. Any member may be NULL. */
typedef struct tendon_peripheral_callbacks {
    void *context;
    void (*connected)(void *context, tendon_peripheral_link *link, uint64_t now);
    void (*disconnected)(void *context, tendon_peripheral_link *link, tendon_status reason, uint64_t now);
    /** Called when the last connection of a closed peripheral ended: its memory may be released here. */
    void (*idle)(void *context, uint64_t now);
} tendon_peripheral_callbacks;

/** A peripheral in the caller's memory, which may be released when the peripheral is closed and
 * tendon_peripheral_count() is 0. */
typedef struct tendon_peripheral {
    tendon_radio *radio;
    tendon_peripheral_device device;
    tendon_peripheral_callbacks callbacks;
    tendon_bearer_filter filters[TENDON_PERIPHERAL_LINKS];
    bool filtered, open, paused;
    uint16_t interval_ms;
    tendon_subscription_store *subscriptions; /**< NULL: they end with the connection */
    tendon_listener listener;
    tendon_source timer;
    tendon_peripheral_link links[TENDON_PERIPHERAL_LINKS];
    uint64_t accepted, refused; /**< centrals */
} tendon_peripheral;

/** @param callbacks copied; may be NULL. */
void tendon_peripheral_init(tendon_peripheral *peripheral, tendon_radio *radio, const tendon_peripheral_device *device,
                            const tendon_peripheral_callbacks *callbacks);
/** Sets one filter per connection, e.g. of simulate/fault.h: TENDON_PERIPHERAL_LINKS filters, copied. Call it before
 * open(). */
void tendon_peripheral_set_filters(tendon_peripheral *peripheral, const tendon_bearer_filter *filters);
/**
 * Keeps what bonded centrals subscribe to (linux/subscriptions.h), of servers with at most TENDON_SUBSCRIPTIONS_MAX
 * CCCDs. The radio needs a store of bonds. The `subscribed` handler of the server is called for what is restored.
 * Call it before open(). @param store borrowed; NULL: they end with the connection, the default.
 */
void tendon_peripheral_keep_subscriptions(tendon_peripheral *peripheral, tendon_subscription_store *store);
/**
 * Starts listening and advertising.
 * @param interval_ms of the advertisement; 0: 100.
 * @return TENDON_OK, or the error of the radio or the device; nothing is started then.
 */
tendon_status tendon_peripheral_open(tendon_peripheral *peripheral, uint16_t interval_ms);
/** Stops both and closes the connections; the loop then calls disconnected() for each. */
void tendon_peripheral_close(tendon_peripheral *peripheral);
/**
 * Stops advertising and listening: no further central connects, the connections stay. tendon_peripheral_readvertise()
 * starts both again. @return TENDON_OK, also if it is paused already; TENDON_ERROR_WRONG_STATE if it is not open; the
 * radio's error, after which it is not paused.
 */
tendon_status tendon_peripheral_pause(tendon_peripheral *peripheral);
/** Restarts advertising with the present data of the device, also after tendon_peripheral_pause(). After an error it
 * does not advertise, and a paused peripheral stays paused. */
tendon_status tendon_peripheral_readvertise(tendon_peripheral *peripheral);
/**
 * Returns the connection of a bearer: of the connection that a handler of a GATT server receives. Its link has the
 * central's address (link.peer), and its index in links[] differs from those of the other connections. NULL: the bearer
 * is not of this peripheral.
 */
tendon_peripheral_link *tendon_peripheral_find(tendon_peripheral *peripheral, const tendon_att_bearer *bearer);
/** Returns the number of connections, including those that are being closed. */
size_t tendon_peripheral_count(const tendon_peripheral *peripheral);
/** Updates the timer. Call this after you use the device outside the loop's callbacks. */
void tendon_peripheral_refresh(tendon_peripheral *peripheral);

#ifdef __cplusplus
}
#endif
#endif
