/* SPDX-License-Identifier: MIT */
#include "clock_course.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define WARM_UP_MS 60000.0
#define START_MS 1000.0 /* of the machine: nothing is before its clock began */
#define READY_MS 0.3    /* from the sensor to the radio */
#define PACKET_MS 0.6   /* one notification and its acknowledgement, 1M PHY */
#define STAMP_MS 0.2    /* from the air to the kernel's stamp, and on average 0.15 more */
#define STAMP_MORE_MS 0.15

double course_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* What a connection is doing; times are milliseconds of the machine. */
typedef struct air {
    double phase;    /* of the connection events */
    double free_at;  /* end of the last packet: the event goes on while packets follow */
    double quiet_to; /* end of a burst's cause: nothing is sent before */
    double last;     /* arrival of the last packet: they keep their order */
} air;

static double event_from(const air *a, double interval, double at) {
    return ceil((at - a->phase) / interval) * interval + a->phase;
}

static double arrival_of(air *a, const clock_course *course, double sampled, uint64_t *state) {
    if (course_random(state) < course->bursts * course->period_ms / 10000) {
        a->quiet_to = sampled + 100 + 900 * course_random(state);
    }
    double at = fmax(fmax(sampled + READY_MS, a->quiet_to), a->free_at);
    if (at > a->free_at + 0.15) { /* the event before has ended */
        at = event_from(a, course->interval_ms, at);
    }
    while (course_random(state) < course->loss) {
        at = event_from(a, course->interval_ms, at + course->interval_ms / 1000);
    }
    a->free_at = at + PACKET_MS;
    a->last = fmax(a->last, a->free_at + STAMP_MS - STAMP_MORE_MS * log(1 - course_random(state)));
    return a->last;
}

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

clock_result run_course(const clock_course *course) {
    static double errors[COURSE_SECONDS_MAX * 250];
    clock_result result = {0};
    tendon_clock model = {0};
    uint64_t state = course->seed;
    air a = {.phase = course_random(&state) * course->interval_ms};
    const double begin = course_random(&state) * 1000;
    size_t before = 0;
    for (size_t n = 0; (double)n * course->period_ms < course->seconds * 1000.0; n++) {
        double device = (double)n * course->period_ms;
        double sampled = START_MS + device * (1 + course->drift_ppm / 1e6);
        double stated = floor((begin + device) / course->resolution_ms) * course->resolution_ms;
        uint64_t received_at = (uint64_t)(arrival_of(&a, course, sampled, &state) * 1e6);
        tendon_clock_take(&model, (uint64_t)(stated * 1e6), received_at, (uint32_t)(course->interval_ms * 1000));
        tendon_clock_time time = tendon_clock_at(&model, (uint64_t)(stated * 1e6), received_at);
        double error = fabs((double)time.sampled_at / 1e6 - sampled);
        bool over = error * 1000 > time.error_us;
        if (device < WARM_UP_MS) {
            before++;
            result.over_before += over;
            continue;
        }
        errors[result.samples++] = error;
        result.over += over;
        result.bound_ms += time.error_us / 1000.0;
    }
    qsort(errors, result.samples, sizeof errors[0], compare);
    result.p50_ms = errors[result.samples / 2];
    result.p99_ms = errors[result.samples * 99 / 100];
    result.max_ms = errors[result.samples - 1];
    result.over /= (double)result.samples;
    result.over_before /= (double)before;
    result.bound_ms /= (double)result.samples;
    return result;
}
