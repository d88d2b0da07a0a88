/* SPDX-License-Identifier: MIT */
/*
 * Simulated Bose wearable with several centrals; what each link took is kept.
 *
 * Handles: 01 service 1800 (03 name), 06 service 180A (08 2A23 ... 18 2A50), 19 service FDD2:
 *   1B device information, 1C CCCD   1E sensor information   20 sensor configuration, 21 CCCD
 *   23 sensor data, 24 CCCD          26 gesture information  28 gesture configuration, 29 CCCD
 *   2B gesture data, 2C CCCD
 */
#ifndef SIMULATE_BOSE_FIXTURE_H
#define SIMULATE_BOSE_FIXTURE_H

#include "device_fixture.h"

typedef struct bose_fixture {
    tendon_simulated_bose device;
    device_fixture in; /**< what it is in: time, and the centrals */
} bose_fixture;

/** Without options: no limits, four sensors. */
int bose_setup(void **state);
int bose_teardown(void **state);
void bose_init(bose_fixture *f, const tendon_simulated_bose_options *options);

/** Connects and exchanges the MTU (23: none). */
void bose_connect(bose_fixture *f, size_t which, uint16_t mtu);
/** One request, answered by this PDU and nothing else. */
void bose_exchange(bose_fixture *f, size_t which, const char *request, const char *response);
/** Subscribes to sensor data and forgets what was taken so far. */
void bose_listen(bose_fixture *f, size_t which);

#define bose_test(name) cmocka_unit_test_setup_teardown(name, bose_setup, bose_teardown)

#endif
