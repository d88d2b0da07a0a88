/* SPDX-License-Identifier: MIT */
/*
 * Measures several bodies side by side: every round runs each of them once, so that noise of the machine hits all
 * alike. Prints one JSON object per body: median and minimum time per operation, operations per second, bytes per
 * operation, the ratio to the body that is its limit (median of the ratios of the rounds), system calls per operation,
 * heap calls of all rounds.
 *
 * With --count-only N the bodies run N operations without a clock, for instruction counts (see run.sh).
 */
#ifndef TENDON_BENCH_H
#define TENDON_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bench_body {
    const char *name;
    /** Does @p count operations. */
    void (*run)(void *context, size_t count);
    void *context;
    double bytes; /**< bytes of input per operation, 0: not stated */
    size_t limit; /**< the body it is compared with; 0: that of bench_main() */
} bench_body;

/** Keeps the optimiser from dropping a result. */
static inline void bench_keep(const void *value) {
    __asm__ volatile("" : : "r"(value) : "memory");
}

/** The same bytes, at an address that the optimiser knows nothing about. */
static inline const uint8_t *bench_hide(const uint8_t *bytes) {
    __asm__ volatile("" : "+r"(bytes) : : "memory");
    return bytes;
}

/** Nanoseconds of a monotonic clock. */
uint64_t bench_now_ns(void);

/**
 * Runs and prints. @p question names the benchmark; bodies[limit] is the limit of those that name no other.
 * Command line: [--quick] [--count-only N BODY].
 */
int bench_main(int argc, char **argv, const char *question, const bench_body *bodies, size_t count, size_t limit);

#define BENCH_ROUNDS_MAX 31

/** The line of one result, for a benchmark with rounds of its own. @param limit name of what it is compared with */
void bench_print(const char *question, const bench_body *body, const double *ns, const double *ratios, size_t rounds,
                 const char *limit, double system_calls, uint64_t heap_calls);

/** What lies between the two is neither timed nor counted: making ready what the next operations use up. */
void bench_pause(void);
void bench_resume(void);

/** Heap calls (malloc, calloc, realloc) of this process so far; see heap_counter.c. */
uint64_t bench_heap_calls(void);
/** System calls of the data path so far, but for those while paused; see system_call_counter.c. */
uint64_t bench_system_calls(void);
/** Whether they count from now on. */
void bench_count_system_calls(bool counts);

#endif
