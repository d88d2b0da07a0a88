/* SPDX-License-Identifier: MIT */
/* Simulated toy: a level per 20 ms while a central is subscribed. */
#ifndef TENDON_SIMULATE_TOY_H
#define TENDON_SIMULATE_TOY_H

#include "tendon/simulate/device.h"
#include "tendon/simulate/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The caller's memory. */
typedef struct tendon_simulated_toy {
    const char *name;
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[8];
    tendon_simulated_centrals centrals;
    uint16_t level_handle;
    uint8_t sequence;
    uint64_t next;
    uint64_t notifications, limit; /**< 0: no limit */
} tendon_simulated_toy;

/** @p name is borrowed. */
tendon_status tendon_simulated_toy_init(tendon_simulated_toy *device, const char *name, uint64_t limit);
tendon_peripheral_device tendon_simulated_toy_device(tendon_simulated_toy *device);
tendon_scenario_actor tendon_simulated_toy_actor(tendon_simulated_toy *device);

#ifdef __cplusplus
}
#endif
#endif
