/* SPDX-License-Identifier: MIT */
/* Inside the device only. */
#ifndef TENDON_DEVICES_ACTIV5_DEVICE_PARTS_H
#define TENDON_DEVICES_ACTIV5_DEVICE_PARTS_H

#include "tendon/devices/activ5_device.h"

#include <string.h>

/** 30.5 us / 2, see tendon_activ5_to_s(). */
#define ACTIV5_TICK_NS UINT64_C(15250)

/* ---- device_calls.c ---- */

/**
 * Reports an event. @p detail below 0 is a status, 1 is "on". Returns false if the application ended the connection in
 * the handler: nothing more of the present value is reported then.
 */
bool tendon_activ5_device_report(tendon_activ5_device *device, unsigned kind, const tendon_activ5_message *message,
                                 int32_t detail);
/** Reports an error of a characteristic. */
void tendon_activ5_device_reject(tendon_activ5_device *device, tendon_activ5_characteristic which,
                                 tendon_status status);

/** A request without a value. */
tendon_status tendon_activ5_device_request(tendon_activ5_device *device, tendon_activ5_request_kind kind,
                                           tendon_activ5_characteristic which);
/** doHandshake, and the requests for the values that have no characteristic. NOT_READY without 5A02. */
tendon_status tendon_activ5_device_handshake(tendon_activ5_device *device);
/** Resets everything that ends with a connection, except the state of the connection itself. */
void tendon_activ5_device_drop_connection(tendon_activ5_device *device);

/* ---- opening.c: until the device is ready ---- */

/** The device was discovered, or something other than a sample arrived: the silence starts again. */
void tendon_activ5_device_opening_heard(tendon_activ5_device *device);
/* Sends the automatic handshake unless this connection had it; false: it was not sent. */
bool tendon_activ5_device_offer(tendon_activ5_device *device);
/** Reports READY if the device is ready now and the application waits for that. */
void tendon_activ5_device_opening_check(tendon_activ5_device *device);
/** End of the silence; UINT64_MAX if no application waits. */
uint64_t tendon_activ5_device_opening_deadline(const tendon_activ5_device *device);
void tendon_activ5_device_opening_tick(tendon_activ5_device *device, uint64_t due);

/** Saturating. */
static inline uint64_t activ5_after(uint64_t now, uint64_t span) {
    return span < UINT64_MAX - now ? now + span : UINT64_MAX;
}

#endif
