/* SPDX-License-Identifier: MIT */
/*
 * A simulated device of a definition: serves its characteristics with the examples of the file, and notifies them one
 * after the other. It uses the bytes of the examples and not their layouts, so that a layout that is misread shows.
 */
#ifndef TENDON_SIMULATE_DEFINED_H
#define TENDON_SIMULATE_DEFINED_H

#include "tendon/definition/definition.h"
#include "tendon/simulate/device.h"
#include "tendon/simulate/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TENDON_SIMULATED_DEFINED_ATTRIBUTES = 12 + 4 * TENDON_DEFINITION_ROWS };

typedef struct tendon_simulated_defined_options {
    const char *name;            /**< local name; NULL: the one that the definition looks for, or its title */
    uint64_t notification_limit; /**< 0: none */
    uint32_t period_ms;          /**< between notifications of each characteristic; 0: as in the file */
} tendon_simulated_defined_options;

/** The caller's memory. Counters may be read; all else is private. */
typedef struct tendon_simulated_defined {
    uint64_t notifications, writes, refused_writes; /**< counters */
    const tendon_definition *definition;
    tendon_simulated_defined_options options;
    char own_name[32];
    tendon_gatt_server server;
    tendon_gatt_attribute attributes[TENDON_SIMULATED_DEFINED_ATTRIBUTES];
    tendon_simulated_centrals centrals;
    struct {
        uint16_t handle;
        uint16_t next_example;
        uint64_t due;
    } rows[TENDON_DEFINITION_ROWS];
    struct {
        uint8_t row;
        uint16_t length;
        uint8_t bytes[TENDON_DEFINITION_VALUE];
    } written; /**< the latest write; writes counts them */
} tendon_simulated_defined;

/**
 * @param definition borrowed. @param options copied; its name is borrowed.
 * @return TENDON_OK; TENDON_ERROR_TABLE_FULL: more characteristics that notify than a central has slots for.
 */
tendon_status tendon_simulated_defined_init(tendon_simulated_defined *device, const tendon_definition *definition,
                                            const tendon_simulated_defined_options *options);
tendon_peripheral_device tendon_simulated_defined_device(tendon_simulated_defined *device);
/** Command: "notify CHARACTERISTIC HEX" sends these bytes once. */
tendon_scenario_actor tendon_simulated_defined_actor(tendon_simulated_defined *device);

#ifdef __cplusplus
}
#endif
#endif
