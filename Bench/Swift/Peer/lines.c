/* SPDX-License-Identifier: MIT */
/* The limit of BenchLines: printf of the same line. */
#include "bench_peer.h"

#include <stdio.h>
#include <time.h>

size_t bench_printf_lines(const uint8_t *members, size_t length, size_t count) {
    static char buffer[65536];
    size_t used = 0, total = 0;
    for (size_t i = 0; i < count; i++) {
        struct timespec now;
        struct tm parts;
        clock_gettime(CLOCK_REALTIME, &now);
        gmtime_r(&now.tv_sec, &parts);
        if (used > 60000) {
            total += used;
            used = 0;
        }
        double turn = (double)i * 1e-5;
        int written = snprintf(
            buffer + used, sizeof buffer - used,
            "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ\",\"event\":\"sample\"%.*s,\"sensor\":\"rotation\","
            "\"device_time_ms\":%zu,\"quaternion\":[%.17g,%.17g,%.17g,%.17g],\"pitch_deg\":%.17g,\"roll_deg\":%.17g,"
            "\"yaw_deg\":%.17g,\"accuracy_rad\":%.17g}\n",
            parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
            now.tv_nsec / 1000, (int)length, (const char *)members, i, 0.9999389611182323 - turn, -0.00701947140328385,
            0.005371421595556258, turn, 0.6758096043667802 + turn, 0.610780166252172, 0.8080025447244517,
            0.010010376609900451);
        used += (size_t)written;
    }
    return total + used;
}
