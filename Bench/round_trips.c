/* SPDX-License-Identifier: MIT */
/*
 * From the connection to the first sample of each family, under simulated time: ATT requests, and milliseconds at a
 * connection interval of 30 ms. The limit of a connection is one request for the Database Hash and one for each CCCD
 * that the family writes; the rest is the family's own protocol (MTU, device information, commands) and the discovery.
 */
#include "../Tests/C/linux/soak/first_sample.h"
#include "bench.h"

#include <stdio.h>

enum { INTERVAL_MS = 30 };

static void report(const char *family, const char *how, const first_sample_result *result, uint64_t heap) {
    uint32_t limit = 1 + result->subscriptions;
    printf(
        "{\"bench\":\"round_trips\",\"name\":\"%s: %s\",\"requests\":%u,\"limit\":\"hash, CCCDs: %u\",\"ratio\":%.2f,"
        "\"ms\":%llu,\"interval_ms\":%d,\"heap_calls\":%llu}\n",
        family, how, result->requests, result->subscriptions, (double)result->requests / limit,
        (unsigned long long)result->ms, INTERVAL_MS, (unsigned long long)heap);
}

static void measure(const soak_family *family, const char *how) {
    uint64_t heap = bench_heap_calls();
    first_sample_result result = first_sample_run();
    heap = bench_heap_calls() - heap;
    if (how != NULL) {
        report(family->name, how, &result, heap);
    }
}

int main(void) {
    static const soak_family *const families[] = {&soak_bose,          &soak_feelspace, &soak_activ5,
                                                  &soak_activ5_legacy, &soak_fjorden,   &soak_obvious};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        first_sample_make(families[i], true);
        first.interval_ms = INTERVAL_MS;
        measure(families[i], NULL); /* some settings of the device are kept */
        measure(families[i], "without a cache");
        first_sample_make(families[i], true);
        first.interval_ms = INTERVAL_MS;
        first_sample_use_cache();
        measure(families[i], "first with one");
        measure(families[i], "cached");
    }
    return 0;
}
