/* SPDX-License-Identifier: MIT */
/* The time of day, for lines and captures. Everything that waits takes tendon_monotonic_ms() of loop.h. */
#ifndef TENDON_LINUX_TIME_H
#define TENDON_LINUX_TIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the time of CLOCK_REALTIME in microseconds since 1970, the time base of lines and captures. */
uint64_t tendon_realtime_us(void);

/** Size of the text of tendon_local_time(), with its terminator. */
#define TENDON_LOCAL_TIME_SIZE 26
/** Writes the time of this place, by the zone of the environment: "2026-11-29T13:07:30+01:00". Returns @p out. */
char *tendon_local_time(char out[TENDON_LOCAL_TIME_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
