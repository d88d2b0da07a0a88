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

#include "test_bytes.h"

#include "tendon/simulate.h"

#define KEPT 4096

typedef struct taken {
    uint16_t length;
    uint8_t bytes[88];
} taken;

typedef struct central {
    tendon_att_bearer bearer;
    tendon_status link; /* what the link answers */
    int room;           /* PDUs it takes before it blocks; -1: no limit */
    size_t count;       /* of all PDUs it took */
    taken pdus[KEPT];
} central;

typedef struct bose_fixture {
    tendon_simulated_bose device;
    central centrals[5];
    uint64_t now;
} bose_fixture;

/** Without options: no limits, four sensors. */
int bose_setup(void **state);
int bose_teardown(void **state);
void bose_init(bose_fixture *f, const tendon_simulated_bose_options *options);

/** Connects and exchanges the MTU (23: none). */
void bose_connect(bose_fixture *f, size_t which, uint16_t mtu);
void bose_disconnect(bose_fixture *f, size_t which);
void bose_send(bose_fixture *f, size_t which, const char *hex);
/** One request, answered by this PDU as the last one. */
void bose_exchange(bose_fixture *f, size_t which, const char *request, const char *response);
/** The PDU number @p index that a central took. */
void bose_expect(const bose_fixture *f, size_t which, size_t index, const char *hex);
void bose_expect_last(const bose_fixture *f, size_t which, const char *hex);
/** Subscribes to sensor data and forgets what was taken so far. */
void bose_listen(bose_fixture *f, size_t which);
/** Ticks at every deadline up to @p until. */
void bose_run(bose_fixture *f, uint64_t until);
void bose_forget(bose_fixture *f, size_t which);

#define bose_test(name) cmocka_unit_test_setup_teardown(name, bose_setup, bose_teardown)

#endif
