/* SPDX-License-Identifier: MIT */
/*
 * Counts the system calls that a data path can make, by standing in for the C library's functions. Linked into the
 * benchmarks only. Of the calls that libtendon imports these are all that a connected link and its loop use
 * (clock_gettime is none: the kernel maps it into the process).
 */
#include "bench.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t calls;
static bool is_off;

uint64_t bench_system_calls(void) {
    return calls;
}

void bench_count_system_calls(bool counts) {
    is_off = !counts;
}

static void count(void) {
    calls += is_off ? 0 : 1;
}

int epoll_wait(int epoll_fd, struct epoll_event *events, int capacity, int timeout) {
    count();
    return (int)syscall(SYS_epoll_pwait, epoll_fd, events, capacity, timeout, NULL, (size_t)8);
}

int epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event) {
    count();
    return (int)syscall(SYS_epoll_ctl, epoll_fd, operation, fd, event);
}

ssize_t recv(int fd, void *bytes, size_t length, int flags) {
    count();
    return syscall(SYS_recvfrom, fd, bytes, length, flags, NULL, NULL);
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
    count();
    return syscall(SYS_sendto, fd, bytes, length, flags, NULL, (size_t)0);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    count();
    return syscall(SYS_recvmsg, fd, message, flags);
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned length, int flags, struct timespec *timeout) {
    count();
    return (int)syscall(SYS_recvmmsg, fd, messages, length, flags, timeout);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    count();
    return syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t read(int fd, void *bytes, size_t length) {
    count();
    return syscall(SYS_read, fd, bytes, length);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    count();
    return syscall(SYS_write, fd, bytes, length);
}

int poll(struct pollfd *fds, nfds_t length, int timeout) {
    struct timespec wait = {timeout / 1000, (long)(timeout % 1000) * 1000000};
    count();
    return (int)syscall(SYS_ppoll, fds, length, timeout < 0 ? NULL : &wait, NULL, (size_t)0);
}
