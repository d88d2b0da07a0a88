/* SPDX-License-Identifier: MIT */
#include "fake_clock.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t fake_clock_ms = 100000;

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC) {
        return (int)syscall(SYS_clock_gettime, clock, time);
    }
    time->tv_sec = (time_t)(fake_clock_ms / 1000);
    time->tv_nsec = (long)(fake_clock_ms % 1000) * 1000000;
    return 0;
}

int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout) {
    int ready = epoll_pwait(epoll, events, count, 0, NULL);
    fake_clock_ms += ready == 0 && timeout > 0 ? (uint64_t)timeout : 0;
    return ready;
}
