/* SPDX-License-Identifier: MIT */
#include "tendon/linux/time.h"

#include <stddef.h>
#include <stdio.h>
#include <time.h>

uint64_t tendon_realtime_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_nsec / 1000u;
}

char *tendon_local_time(char out[TENDON_LOCAL_TIME_SIZE]) {
    time_t now = (time_t)(tendon_realtime_us() / 1000000u); /* time() can be a tick behind that clock */
    struct tm local;
    localtime_r(&now, &local);
    unsigned zone = (unsigned)(local.tm_gmtoff < 0 ? -local.tm_gmtoff : local.tm_gmtoff) / 60;
    const unsigned parts[] = {(unsigned)local.tm_mon + 1,
                              (unsigned)local.tm_mday,
                              (unsigned)local.tm_hour,
                              (unsigned)local.tm_min,
                              (unsigned)local.tm_sec,
                              zone / 60,
                              zone % 60};
    static const char before[] = "--T::+:";
    size_t length = (size_t)snprintf(out, TENDON_LOCAL_TIME_SIZE, "%04u", (unsigned)(local.tm_year + 1900) % 10000);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        out[length++] = before[i] == '+' && local.tm_gmtoff < 0 ? '-' : before[i];
        out[length++] = (char)('0' + (char)(parts[i] / 10 % 10));
        out[length++] = (char)('0' + (char)(parts[i] % 10));
    }
    out[length] = '\0';
    return out;
}
