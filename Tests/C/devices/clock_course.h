/* SPDX-License-Identifier: MIT */
/* A simulated course: a device samples by a clock that drifts, and sends over a connection. For tests and Bench. */
#ifndef TENDON_TEST_CLOCK_COURSE_H
#define TENDON_TEST_CLOCK_COURSE_H

#include "tendon/devices/clock.h"

#include <stddef.h>

typedef struct clock_course {
    double period_ms;     /**< of the sensor, by the device's clock */
    double interval_ms;   /**< of the connection, by the machine's clock */
    double drift_ppm;     /**< by how much the device's clock is slow */
    double loss;          /**< probability that a packet is sent again in the next event */
    double bursts;        /**< times in 10 s at which nothing is sent for 0.1 to 1 s */
    double resolution_ms; /**< of the device's timestamps */
    unsigned seconds;     /**< at most COURSE_SECONDS_MAX */
    uint64_t seed;
} clock_course;

#define COURSE_SECONDS_MAX 360

/** Of the samples after the first 60 s, but for over_before. */
typedef struct clock_result {
    size_t samples;
    double p50_ms, p99_ms, max_ms; /**< of the error's amount */
    double bound_ms;               /**< mean of the bounds */
    double over, over_before;      /**< part of the samples whose error is over its bound; of the first 60 s */
} clock_result;

/** Uniform, from 0 to 1; the state is the caller's. */
double course_random(uint64_t *state);

/** Runs a whole course through one model. Not reentrant. */
clock_result run_course(const clock_course *course);

#endif
