/* SPDX-License-Identifier: MIT */
#include "bench_peer.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LINKS = 4 };

/* The virtual radio puts one byte, 0 for a PDU, in front of each. Handle 0x0010, one game rotation record. */
static const uint8_t notification[] = {0x00, 0x1B, 0x10, 0x00, 0x03, 0xFF, 0xFF, 0x2D, 0x41, 0, 0, 0x2D, 0x41, 0, 0};

static int listener;
static atomic_int subscribed[LINKS];
static atomic_uint subscribed_count;
static atomic_uint_fast64_t fill_ns;

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_cpu_ns(void) {
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - atomic_load(&fill_ns);
}

void bench_peer_fill(int link, size_t count) {
    uint64_t started = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < count; i++) {
        if (send(link, notification, sizeof notification, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
            perror("send");
            abort();
        }
    }
    atomic_fetch_add(&fill_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID) - started);
}

#define ANSWER(...)                                                                                                    \
    do {                                                                                                               \
        static const uint8_t bytes[] = {0x00, __VA_ARGS__};                                                            \
        (void)send(link, bytes, sizeof bytes, MSG_NOSIGNAL);                                                           \
        return;                                                                                                        \
    } while (0)

/* One service 0x000D..0x0012, its characteristic declared at 0x000F, value at 0x0010, CCCD at 0x0011. */
static void answer(int link, const uint8_t *pdu, size_t length) {
    unsigned start = length >= 3 ? (unsigned)(pdu[1] | pdu[2] << 8) : 0;
    switch (pdu[0]) {
    case 0x02: /* Exchange MTU */
        ANSWER(0x03, 0xF7, 0x00);
    case 0x10: /* Read By Group Type */
        if (start <= 0x000D) {
            ANSWER(0x11, 0x06, 0x0D, 0x00, 0x12, 0x00, 0x0D, 0x18);
        }
        break;
    case 0x08: /* Read By Type */
        if (start <= 0x000F) {
            ANSWER(0x09, 0x07, 0x0F, 0x00, 0x10, 0x10, 0x00, 0x37, 0x2A);
        }
        break;
    case 0x04: /* Find Information */
        if (start <= 0x0011) {
            ANSWER(0x05, 0x01, 0x11, 0x00, 0x02, 0x29);
        }
        break;
    case 0x12: { /* Write: the CCCD */
        unsigned number = atomic_load(&subscribed_count);
        static const uint8_t done[] = {0x00, 0x13};
        (void)send(link, done, sizeof done, MSG_NOSIGNAL);
        if (start == 0x0011 && length >= 5 && pdu[3] != 0 && number < LINKS) {
            atomic_store(&subscribed[number], link);
            atomic_store(&subscribed_count, number + 1);
        }
        return;
    }
    default:
        if ((pdu[0] & 0x41) != 0) {
            return; /* commands, and what only a client sends to a server */
        }
    }
    const uint8_t refused[] = {0x00, 0x01, pdu[0], (uint8_t)(start & 0xFF), (uint8_t)(start >> 8), 0x0A};
    (void)send(link, refused, sizeof refused, MSG_NOSIGNAL);
}

static void *serve(void *unused) {
    struct pollfd fds[LINKS + 1] = {{.fd = listener, .events = POLLIN}};
    nfds_t count = 1;
    for (;;) {
        if (poll(fds, count, -1) < 0) {
            continue;
        }
        for (nfds_t i = 1; i < count; i++) {
            uint8_t bytes[520];
            ssize_t length = fds[i].revents != 0 ? recv(fds[i].fd, bytes, sizeof bytes, MSG_DONTWAIT) : 0;
            if (length > 1) {
                answer(fds[i].fd, bytes + 1, (size_t)length - 1);
            } else if (fds[i].revents != 0) {
                fds[i].fd = -1; /* left open: others may be sending */
            }
        }
        if (fds[0].revents != 0 && count <= LINKS) {
            fds[count] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
            count++;
        }
    }
    return unused;
}

bool bench_peer_start(const char *directory) {
    struct sockaddr_un path = {.sun_family = AF_UNIX};
    pthread_t thread;
    int length = snprintf(path.sun_path, sizeof path.sun_path, "%s/dev-C00000000001-01.sock", directory);
    if (length < 0 || (size_t)length >= sizeof path.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    return listener >= 0 && bind(listener, (struct sockaddr *)&path, sizeof path) == 0 && listen(listener, 4) == 0 &&
           pthread_create(&thread, NULL, serve, NULL) == 0;
}

int bench_peer_link(unsigned number) {
    while (atomic_load(&subscribed_count) <= number) {
        usleep(1000);
    }
    return atomic_load(&subscribed[number]);
}
