/* SPDX-License-Identifier: MIT */
/* Delays are differences of the two clocks since the first sample; they contain the offset, which is a line. */
#include "tendon/devices/clock.h"

#include <string.h>

/* Chosen with the simulation of docs/device-clock.md, except where the specification is named. */
enum {
    FIRST_MS = 2000, /* of the first span: longer than most pauses of a connection */
    MORE_MS = 1000,  /* by which each span is longer than the one before */
    ENOUGH = 64,     /* samples of a span, so that one of each phase was not lost */
    PARTS = 32       /* of a connection interval: the bits of phases */
};
/* Below the lowest line: one of the clocks was set, or stood still. */
#define EARLY_US 50000.0
/* Above the highest line: a packet that was sent again and again does not show the offset. */
#define LATE_US 100000.0
/* Above it, so that it can be a clock that was set back as well as a packet that is late. */
#define DOUBT_US 1000000.0
/* Of a shortest delay: the resolution of the device's clock, and the way from the air to the stamp. */
#define NOISE_US 700.0
#define ROUNDING_US 2000.0 /* of an estimate: the same, and the way from the sensor to the air */
#define START_US 100000.0  /* of the first samples, which can all have been sent again */
#define NARROW_US 600.0    /* a lower set of lines is due to a delay that was longer than the slack allows */
#define STEP_US 1000.0     /* by which the slack is widened then */
#define WIDEST_US 64000.0
#define SLOPE_MAX 0.5     /* microseconds for each millisecond: 500 ppm, the worst sleep clock (Vol 6 Part B 4.2.2) */
#define EVENT_NS 3000000u /* packets of one event are closer together; events are at least 7.5 ms apart (4.5.1) */
#define FAR_US 1e15
#define LATE_NS 8000000000u /* so long all samples were late: it is the clock */

static double lower(double a, double b) {
    return a < b ? a : b;
}

static double higher(double a, double b) {
    return a > b ? a : b;
}

static double ms_since(uint32_t from, uint32_t at) {
    return (double)(int32_t)(at - from);
}

/* ---- the set of lines ---- */

static double low_at(const tendon_clock *clock, uint32_t at) {
    return clock->low_us + clock->low_slope * ms_since(clock->at_ms, at);
}

static double high_at(const tendon_clock *clock, uint32_t at) {
    return clock->high_us + clock->high_slope * ms_since(clock->at_ms, at);
}

static double middle(const tendon_clock *clock, uint32_t at) {
    return (low_at(clock, at) + high_at(clock, at)) / 2;
}

/* Half of its height; before at_ms that of at_ms, as the two lines are outermost only from there on. */
static double half(const tendon_clock *clock, uint32_t at) {
    uint32_t from = ms_since(clock->at_ms, at) < 0 ? clock->at_ms : at;
    return (high_at(clock, from) - low_at(clock, from)) / 2;
}

/*
 * The phases of sampling in the connection interval, relative to the offset: where sampling is in step with the
 * connection they are few. Whatever the offset is, one of them is within the longest gap of it: so long the shortest
 * delay can be.
 */
static uint32_t slack_of(const tendon_clock *clock) {
    uint32_t longest = 0, run = 0;
    for (uint32_t i = 0; i < 2 * PARTS && clock->phases != 0; i++) {
        run = (clock->phases >> i % PARTS & 1u) != 0 ? 0 : run + 1;
        longest = run > longest ? run : longest;
    }
    double gap = (double)clock->interval_us * (longest + 1) / (double)PARTS;
    return (uint32_t)(NOISE_US + gap + clock->spread * ms_since(clock->begun_ms, clock->last_ms));
}

/* Slopes for which no line is above one point and too far below another one. A pair of points limits both. */
static bool find_slopes(tendon_clock *clock, const tendon_clock_point *points, size_t count, double more) {
    clock->low_slope = -SLOPE_MAX;
    clock->high_slope = SLOPE_MAX;
    for (size_t j = 1; j < count; j++) {
        for (size_t i = 0; i < j; i++) {
            double ms = ms_since(points[i].at_ms, points[j].at_ms);
            double rise = (double)points[j].delay_us - points[i].delay_us;
            if (points[i].slack_us != 0 && ms > 0) {
                clock->high_slope = lower(clock->high_slope, (rise + points[i].slack_us + more) / ms);
            }
            if (points[j].slack_us != 0 && ms > 0) {
                clock->low_slope = higher(clock->low_slope, (rise - points[j].slack_us - more) / ms);
            }
        }
    }
    return clock->low_slope <= clock->high_slope;
}

/* The highest and the lowest line at the last point, and from there on. */
static bool find_lines(tendon_clock *clock, const tendon_clock_point *points, size_t count, double more) {
    if (!find_slopes(clock, points, count, more)) {
        return false;
    }
    clock->at_ms = points[count - 1].at_ms;
    clock->high_us = FAR_US;
    clock->low_us = -FAR_US;
    for (size_t i = 0; i < count; i++) {
        double ms = ms_since(points[i].at_ms, clock->at_ms);
        clock->high_us = lower(clock->high_us, points[i].delay_us + clock->high_slope * ms);
        if (points[i].slack_us != 0) {
            double bottom = (double)points[i].delay_us - points[i].slack_us - more;
            clock->low_us = higher(clock->low_us, bottom + clock->low_slope * ms);
        }
    }
    return clock->low_us + NARROW_US <= clock->high_us;
}

/* If there is no line, a delay was longer than the slack allows: it is widened until there is one, and then doubled,
 * because the true line need not be the first one. */
static bool fit(tendon_clock *clock) {
    const size_t count = clock->samples > 0 ? clock->count + 1u : clock->count;
    if (clock->samples >= ENOUGH || count == 1) {
        clock->points[clock->count].slack_us = slack_of(clock);
    }
    double more = 0;
    while (!find_lines(clock, clock->points, count, more)) {
        if (more > WIDEST_US) {
            return false;
        }
        more = 2 * more + STEP_US;
    }
    return more == 0 || find_lines(clock, clock->points, count, 2 * more);
}

/* ---- the points ---- */

static void end_span(tendon_clock *clock, uint32_t at) {
    clock->points[clock->count].slack_us = slack_of(clock);
    if (clock->count < TENDON_CLOCK_POINTS - 1) {
        clock->count++;
    } else {
        memmove(&clock->points[0], &clock->points[1], sizeof clock->points - sizeof clock->points[0]);
    }
    clock->samples = 0;
    clock->phases = 0;
    clock->phase_us += clock->slope * ms_since(clock->begun_ms, at);
    clock->slope = (clock->low_slope + clock->high_slope) / 2;
    clock->spread = (clock->high_slope - clock->low_slope) / 2;
    clock->begun_ms = at;
}

/* By how much the machine's clock advanced further than the device's since the first sample, in microseconds. */
static double delay_of(const tendon_clock *clock, uint64_t device_ns, uint64_t received_at) {
    return (double)(int64_t)(received_at - clock->host_ns - (device_ns - clock->device_ns)) / 1000;
}

static uint32_t ms_of(const tendon_clock *clock, uint64_t device_ns) {
    return (uint32_t)((int64_t)(device_ns - clock->device_ns) / 1000000);
}

/* Packets of one event wait for each other, which is no phase: they count as of its first one. */
static void note_phase(tendon_clock *clock, uint64_t device_ns, uint64_t received_at) {
    if (received_at - clock->last_at > EVENT_NS) {
        clock->event_at = received_at;
    }
    clock->last_at = received_at;
    if (clock->interval_us > 0) {
        double line = clock->phase_us + clock->slope * ms_since(clock->begun_ms, ms_of(clock, device_ns));
        int64_t us = (int64_t)(delay_of(clock, device_ns, clock->event_at) - line) % clock->interval_us;
        us += us < 0 ? clock->interval_us : 0;
        clock->phases |= 1u << (uint32_t)(us * PARTS / clock->interval_us);
    }
}

static void start(tendon_clock *clock, uint64_t device_ns, uint64_t received_at, uint32_t interval_us) {
    *clock = (tendon_clock){.started = true,
                            .samples = 1,
                            .interval_us = interval_us,
                            .spread = SLOPE_MAX,
                            .device_ns = device_ns,
                            .host_ns = received_at};
    note_phase(clock, device_ns, received_at);
    (void)fit(clock); /* one point has lines */
}

/* Whether the model cannot hold for this sample; notes late ones. */
static bool is_foreign(tendon_clock *clock, double above, double most, uint64_t received_at) {
    bool doubted = clock->doubted;
    clock->doubted = false;
    bool late = above > most + LATE_US;
    clock->late_since = !late ? 0 : clock->late_since == 0 ? received_at : clock->late_since;
    return above < -most - EARLY_US || (doubted && above > most + DOUBT_US) ||
           (late && received_at - clock->late_since > LATE_NS);
}

void tendon_clock_take(tendon_clock *clock, uint64_t device_ns, uint64_t received_at, uint32_t interval_us) {
    double delay = delay_of(clock, device_ns, received_at);
    const uint32_t at = ms_of(clock, device_ns);
    double above = delay - middle(clock, at), most = half(clock, at);
    if (!clock->started || device_ns < clock->device_ns || delay > INT32_MAX || delay < INT32_MIN ||
        is_foreign(clock, above, most, received_at)) {
        start(clock, device_ns, received_at, interval_us);
        return;
    }
    if (interval_us != clock->interval_us) {
        clock->interval_us = interval_us;
        clock->phases = 0;
    }
    note_phase(clock, device_ns, received_at);
    clock->last_ms = at;
    if (clock->late_since != 0) {
        return;
    }
    bool ends = ms_since(clock->begun_ms, at) >= FIRST_MS + MORE_MS * clock->count && clock->samples >= ENOUGH;
    if (ends) {
        end_span(clock, at);
    }
    tendon_clock_point *least = &clock->points[clock->count];
    if (clock->samples == 0 || above < least->delay_us - middle(clock, least->at_ms)) {
        *least = (tendon_clock_point){at, (int32_t)delay, 0};
    }
    clock->samples = clock->samples < ENOUGH ? (uint8_t)(clock->samples + 1) : ENOUGH;
    if ((ends || above < 0) && !fit(clock)) {
        start(clock, device_ns, received_at, interval_us);
    }
}

void tendon_clock_reconnected(tendon_clock *clock) {
    clock->doubted = true;
}

tendon_clock_time tendon_clock_at(const tendon_clock *clock, uint64_t device_ns, uint64_t received_at) {
    const uint32_t at = ms_of(clock, device_ns);
    double above = delay_of(clock, device_ns, received_at) - middle(clock, at);
    double error = half(clock, at) + ROUNDING_US;
    if (clock->count == 0 && clock->samples < ENOUGH) {
        error += START_US;
    }
    if (above > error + DOUBT_US) {
        error = above;
    }
    double before = lower(higher(above, 0) * 1000, (double)(received_at / 2)); /* this machine did not run longer */
    return (tendon_clock_time){received_at - (uint64_t)before, (uint32_t)lower(error, UINT32_MAX)};
}
