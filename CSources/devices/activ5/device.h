/* SPDX-License-Identifier: MIT */
/* Inside the device only. */
#ifndef TENDON_CSOURCES_ACTIV5_DEVICE_H
#define TENDON_CSOURCES_ACTIV5_DEVICE_H

#include "tendon/devices/activ5_device.h"

#include <string.h>

/** A request without a value. */
tendon_status activ5_request(tendon_activ5_device *device, tendon_activ5_request_kind kind,
                             tendon_activ5_characteristic which);
/** doHandshake, and the requests for what the device has no characteristic for. NOT_READY without 5A02. */
tendon_status activ5_handshake(tendon_activ5_device *device);
/** All that ends with a connection, but the link itself. */
void activ5_drop_connection(tendon_activ5_device *device);

/** Saturating. */
static inline uint64_t activ5_after(uint64_t now, uint64_t span) {
    return span < UINT64_MAX - now ? now + span : UINT64_MAX;
}

#endif
