/* SPDX-License-Identifier: MIT
   epoll(7) and timerfd_create(2), which the modules of the C libraries leave out. */
#include <sys/epoll.h>
#include <sys/timerfd.h>
