/* SPDX-License-Identifier: MIT */
/*
 * What the time of a sample costs: both clocks of a read that has the kernel's stamp, beside one; and the model of the
 * device's clock, for each sample of a steady stream.
 */
#include "bench.h"

#include "tendon/devices/clock.h"

#include <time.h>

static uint64_t read_clock(clockid_t which) {
    struct timespec time;
    clock_gettime(which, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void one_clock(void *context, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        uint64_t now = read_clock(CLOCK_MONOTONIC);
        bench_keep(&now);
    }
}

static void two_clocks(void *context, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        uint64_t age = read_clock(CLOCK_REALTIME) - 1;
        uint64_t arrived = read_clock(CLOCK_MONOTONIC) - age;
        bench_keep(&arrived);
    }
}

static void device_clock(void *context, size_t count) {
    static uint64_t device = 1000000000u, host = 5000000000u;
    for (size_t i = 0; i < count; i++) {
        device += 20000000;
        host += 20001000;
        uint64_t arrival = host + i % 7 * 4000000;
        tendon_clock_take(context, device, arrival, 30000);
        tendon_clock_time time = tendon_clock_at(context, device, arrival);
        bench_keep(&time);
    }
}

int main(int argc, char **argv) {
    static tendon_clock clock;
    const bench_body bodies[] = {
        {.name = "one clock", .run = one_clock},
        {.name = "both clocks of a read", .run = two_clocks},
        {.name = "device clock, a sample", .run = device_clock, .context = &clock},
    };
    return bench_main(argc, argv, "arrival", bodies, sizeof bodies / sizeof bodies[0], 0);
}
