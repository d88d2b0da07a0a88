/* SPDX-License-Identifier: MIT */
#include "tendon/devices/bose_codec.h"

enum { WRAP_MS = 65536, HALF_WRAP_MS = WRAP_MS / 2, REORDER_MS = 1000 };

uint64_t tendon_bose_unwrap(tendon_bose_clock *clock, uint16_t timestamp, uint64_t now) {
    if (!clock->started) {
        *clock = (tendon_bose_clock){true, timestamp, timestamp, now};
        return timestamp;
    }
    uint32_t delta = (uint16_t)(timestamp - clock->last);
    uint64_t host = now > clock->host_ms ? now - clock->host_ms : 0;
    if (delta > WRAP_MS - REORDER_MS && host < HALF_WRAP_MS) {
        /* A little older than the last one: records of two sensors stand in the order they were packed. */
        uint64_t back = WRAP_MS - delta;
        return clock->device_ms > back ? clock->device_ms - back : 0;
    }
    uint64_t elapsed = delta;
    if (host > elapsed) {
        elapsed += (host - elapsed + HALF_WRAP_MS) / WRAP_MS * WRAP_MS;
    }
    clock->device_ms += elapsed;
    clock->last = timestamp;
    clock->host_ms = now;
    return clock->device_ms;
}
