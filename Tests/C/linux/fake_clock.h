/* SPDX-License-Identifier: MIT */
/*
 * Simulated time for a program with a real loop: the monotonic clock is a variable, and a loop that waits and has
 * nothing to read moves it on. To be linked into a test; it stands in the place of the C library's functions.
 */
#ifndef FAKE_CLOCK_H
#define FAKE_CLOCK_H

#include <stdint.h>

extern uint64_t fake_clock_ms;

#endif
