/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BODIES_MAX 8

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_now_ns(void) {
    return clock_ns(CLOCK_MONOTONIC);
}

static int ascending(const void *a, const void *b) {
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double median(const double *values, size_t count) {
    double sorted[BENCH_ROUNDS_MAX];
    memcpy(sorted, values, count * sizeof *values);
    qsort(sorted, count, sizeof *sorted, ascending);
    return sorted[count / 2];
}

static double minimum(const double *values, size_t count) {
    double least = values[0];
    for (size_t i = 1; i < count; i++) {
        least = values[i] < least ? values[i] : least;
    }
    return least;
}

static uint64_t paused_at, paused_ns;

void bench_pause(void) {
    paused_at = bench_now_ns();
    bench_count_system_calls(false);
}

void bench_resume(void) {
    bench_count_system_calls(true);
    paused_ns += bench_now_ns() - paused_at;
}

/* The thread's own time, in which other work of the machine does not show; with pauses that of the wall, because asking
 * for the other costs a system call. */
static double time_once(const bench_body *body, size_t operations) {
    paused_ns = 0;
    uint64_t started = bench_now_ns(), own = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    body->run(body->context, operations);
    own = clock_ns(CLOCK_THREAD_CPUTIME_ID) - own;
    uint64_t wall = bench_now_ns() - started - paused_ns;
    return (double)(paused_ns == 0 ? own : wall) / (double)operations;
}

/* So many operations that one round of the body takes about the wanted time. */
static size_t calibrate(const bench_body *body, double wanted_ns) {
    size_t operations = 64;
    double ns = time_once(body, operations);
    while (ns * (double)operations < wanted_ns / 4 && operations < (size_t)1 << 30) {
        operations *= 2;
        ns = time_once(body, operations);
    }
    double estimate = wanted_ns / (ns > 0.01 ? ns : 0.01);
    return estimate < 64 ? 64 : (size_t)estimate;
}

static int count_only(const bench_body *bodies, size_t count, const char *operations, const char *name) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(bodies[i].name, name) == 0) {
            bodies[i].run(bodies[i].context, strtoul(operations, NULL, 10));
            return 0;
        }
    }
    fprintf(stderr, "no body named %s\n", name);
    return 2;
}

void bench_print(const char *question, const bench_body *body, const double *ns, const double *ratios, size_t rounds,
                 const char *limit, double system_calls, uint64_t heap_calls) {
    printf("{\"bench\":\"%s\",\"name\":\"%s\",\"ns\":%.3f,\"ns_min\":%.3f,\"items_per_s\":%.4g,\"bytes\":%g,\"limit\":"
           "\"%s\","
           "\"ratio\":%.3f,\"rounds\":%zu,\"system_calls\":%.4g,\"heap_calls\":%llu}\n",
           question, body->name, median(ns, rounds), minimum(ns, rounds), 1e9 / median(ns, rounds), body->bytes, limit,
           median(ratios, rounds), rounds, system_calls, (unsigned long long)heap_calls);
}

int bench_main(int argc, char **argv, const char *question, const bench_body *bodies, size_t count, size_t limit) {
    static double ns[BODIES_MAX][BENCH_ROUNDS_MAX], ratios[BODIES_MAX][BENCH_ROUNDS_MAX];
    uint64_t heap[BODIES_MAX] = {0}, calls[BODIES_MAX] = {0};
    size_t operations[BODIES_MAX];
    bool quick = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            quick = true;
        } else if (strcmp(argv[i], "--list") == 0) {
            for (size_t body = 0; body < count; body++) {
                puts(bodies[body].name);
            }
            return 0;
        } else if (strcmp(argv[i], "--count-only") == 0 && i + 2 < argc) {
            return count_only(bodies, count, argv[i + 1], argv[i + 2]);
        } else {
            fprintf(stderr, "usage: %s [--quick] [--list] [--count-only N BODY]\n", argv[0]);
            return 2;
        }
    }
    size_t rounds = quick ? 5 : BENCH_ROUNDS_MAX;
    for (size_t i = 0; i < count; i++) {
        operations[i] = calibrate(&bodies[i], quick ? 2e6 : 2e7);
    }
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            uint64_t heap_before = bench_heap_calls(), calls_before = bench_system_calls();
            ns[i][round] = time_once(&bodies[i], operations[i]);
            heap[i] += bench_heap_calls() - heap_before;
            calls[i] += bench_system_calls() - calls_before;
        }
        for (size_t i = 0; i < count; i++) {
            size_t own = bodies[i].limit != 0 ? bodies[i].limit : limit;
            ratios[i][round] = ns[i][round] / ns[own][round];
        }
    }
    for (size_t i = 0; i < count; i++) {
        double operations_of_all = (double)operations[i] * (double)rounds;
        const char *own = bodies[bodies[i].limit != 0 ? bodies[i].limit : limit].name;
        bench_print(question, &bodies[i], ns[i], ratios[i], rounds, own, (double)calls[i] / operations_of_all, heap[i]);
    }
    return 0;
}
