/* SPDX-License-Identifier: MIT */
/*
 * A model of a device's clock: when a sample was measured, by the clock of this machine, and how wrong that can be.
 *
 * The device states when it measured a sample, by its own clock; the notification has the time of its arrival. Their
 * difference is the offset of the two clocks, which changes slowly, plus a delay, which is never negative: a sample
 * waits for the next connection event, and longer after lost packets. The model keeps the shortest delay of each of the
 * latest spans of time, and the set of all lines that can be the offset: not above a shortest delay, and not further
 * below it than a delay can be short of zero. The estimate is the middle of that set, the bound half of its height.
 * Method, figures and limits: docs/device-clock.md. Our own design.
 *
 * No heap, no I/O: the caller passes both times. One model for each device clock, about 300 bytes.
 */
#ifndef TENDON_DEVICES_CLOCK_H
#define TENDON_DEVICES_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Number of spans: 2 s at first, then 3, 4, ... up to 17 s, and at least 64 samples. */
#define TENDON_CLOCK_POINTS 16

/** The shortest delay of a span. Private. */
typedef struct tendon_clock_point {
    uint32_t at_ms;    /**< device time, since the first sample */
    int32_t delay_us;  /**< beyond that of the first sample */
    uint32_t slack_us; /**< how long that delay can be in truth; 0: not known, as the span has too few samples */
} tendon_clock_point;

/** Caller's memory; all zero is a model without a sample. Private, except started. */
typedef struct tendon_clock {
    bool started;
    bool doubted; /**< tendon_clock_reconnected() was called, and no sample was taken since then */
    uint8_t count, samples;
    uint32_t interval_us;
    uint32_t begun_ms;              /**< begin of the present span */
    uint32_t phases;                /**< parts of the interval in which samples of this span arrived, as bits */
    uint64_t device_ns, host_ns;    /**< of the first sample */
    uint64_t event_at, last_at;     /**< arrival: of the connection event, of the last sample */
    uint64_t late_since;            /**< arrival of the first of the samples that were all late; 0: none was */
    double phase_us, slope, spread; /**< offset at the begin of the span; microseconds for each millisecond */
    double low_us, high_us, low_slope, high_slope; /**< the set of lines, at the time at_ms */
    uint32_t at_ms, last_ms;
    tendon_clock_point points[TENDON_CLOCK_POINTS]; /**< then that of the present span, if it has a sample */
} tendon_clock;

typedef struct tendon_clock_time {
    uint64_t sampled_at; /**< monotonic nanoseconds of this machine; not later than the arrival */
    uint32_t error_us;   /**< bound of its error */
} tendon_clock_time;

/**
 * Takes the newest sample of a notification. The model starts again if the device's clock was set or reset, or if one
 * of the clocks stood still, as that of this machine does in suspend: if a sample arrives before it was measured, or
 * all of them are late for 8 s.
 * @param device_ns when it was measured: the device's clock without wraps, in nanoseconds.
 * @param received_at when the notification arrived, monotonic nanoseconds.
 * @param interval_us connection interval; 0: PDUs do not wait for a connection event, as on the virtual radio.
 */
void tendon_clock_take(tendon_clock *clock, uint64_t device_ns, uint64_t received_at, uint32_t interval_us);

/**
 * The device was connected again. If its first sample is more than 1 s from where the model expects it, the device was
 * restarted, and the model starts again.
 */
void tendon_clock_reconnected(tendon_clock *clock);

/**
 * Returns when a sample was measured: the one that tendon_clock_take() has taken last, or another one of the same
 * notification. The arguments are those of tendon_clock_take().
 */
tendon_clock_time tendon_clock_at(const tendon_clock *clock, uint64_t device_ns, uint64_t received_at);

#ifdef __cplusplus
}
#endif
#endif
