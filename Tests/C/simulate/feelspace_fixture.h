/* SPDX-License-Identifier: MIT */
/*
 * Simulated naviBelt with a central. Handles: 01 service 1800 (03 name), 04 service FE51:
 *   06 FE01   08 FE02, 09   0B FE03   0D FE04, 0E   10 FE05   12 FE06, 13   15 FE07   17 FE09, 18
 * 19 service FE52: 1B FE0A   1D FE0B, 1E   20 FE0C, 21      22 service FE53: 24 FE13   26 FE14, 27
 */
#ifndef SIMULATE_FEELSPACE_FIXTURE_H
#define SIMULATE_FEELSPACE_FIXTURE_H

#include "device_fixture.h"

extern tendon_simulated_feelspace belt;
extern device_fixture *f;

/** A belt without a connection. */
void begin(const tendon_simulated_feelspace_options *options);
/** Connected, with the notifications that a client enables before its handshake. */
void connected_belt(const tendon_simulated_feelspace_options *options);
/** One request, its response, and the notification that then comes; NULL: none does. */
void request(const char *hex, const char *notification);
/** A request whose length the belt refuses. */
void refused(const char *hex);
/** connected_belt() without options. */
int belt_setup(void **state);
int belt_teardown(void **state);

#define belt_test(name) cmocka_unit_test_setup_teardown(name, belt_setup, belt_teardown)

#endif
