/* SPDX-License-Identifier: MIT */
#include "socket_receive.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#if !defined(__GLIBC__)
#pragma GCC diagnostic ignored "-Wsign-conversion" /* musl's CMSG_NXTHDR() */
#endif

/**
 * Where wake-ups bring one packet each, recvmsg() costs 200 ns less than recvmmsg(), which looks for a second packet.
 * So after this many such wake-ups in a row recvmsg() reads one packet and leaves it to epoll to report another ...
 */
#define SINGLES 4u
/** ... and after so many of those one wake-up asks for all there are, in case the packets come faster now. */
#define PROBE 16u
/** tendon_link.singles: the kernel has no recvmmsg(). */
#define SIMPLE UINT8_MAX

_Static_assert(SINGLES + PROBE < SIMPLE, "the count does not reach the mark");

/* Room for what the kernel says of a packet: what it has dropped, and when the packet arrived. */
typedef union controls {
    char bytes[CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(struct timespec))];
    struct cmsghdr align;
} controls;

/**
 * The kernel's stamps are of CLOCK_REALTIME, which a program can set at any time. Both clocks are read after the
 * packets, so a stamp is an age, and only a clock that was set between arrival and read makes it wrong: see arrival().
 */
typedef struct clocks {
    uint64_t monotonic, real; /**< ns */
} clocks;

static uint64_t read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/** In monotonic time. A stamp of the future is none: the clock was set back after it. */
static uint64_t arrival(const struct timespec *stamp, const clocks *read) {
    const uint64_t at = (uint64_t)stamp->tv_sec * 1000000000u + (uint64_t)stamp->tv_nsec;
    const uint64_t age = at < read->real ? read->real - at : 0;
    return age < read->monotonic ? read->monotonic - age : read->monotonic;
}

/** @param lost the count before; it comes with a packet, and only when it is not 0. */
static void take_controls(struct msghdr *message, tendon_socket_packets *packets, uint32_t i, uint32_t lost,
                          const clocks *read) {
    packets->lost[i] = lost;
    packets->arrived[i] = read->monotonic;
    for (struct cmsghdr *control = CMSG_FIRSTHDR(message); control != NULL; control = CMSG_NXTHDR(message, control)) {
        struct timespec stamp;
        if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SO_RXQ_OVFL) {
            memcpy(&packets->lost[i], CMSG_DATA(control), sizeof lost);
        } else if (control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_TIMESTAMPNS) {
            memcpy(&stamp, CMSG_DATA(control), sizeof stamp);
            packets->arrived[i] = arrival(&stamp, read);
        }
    }
}

static clocks read_clocks(const tendon_link *link) {
    return (clocks){.monotonic = read_clock(CLOCK_MONOTONIC),
                    .real = link->hooks->stamps ? read_clock(CLOCK_REALTIME) : 0};
}

/** A Unix socket gets no room for control messages: a peer could send descriptors with them. */
static bool has_controls(const tendon_link *link) {
    return link->hooks->lost != NULL || link->hooks->stamps;
}

static bool receive_one(const tendon_link *link, tendon_socket_packets *packets) {
    controls space;
    struct iovec vector = {.iov_base = packets->bytes[0], .iov_len = TENDON_SOCKET_SLOT};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (has_controls(link)) {
        message.msg_control = &space;
        message.msg_controllen = sizeof space.bytes;
    }
    ssize_t length = recvmsg(link->source.fd, &message, MSG_DONTWAIT);
    if (length < 0) {
        return false;
    }
    const clocks read = read_clocks(link);
    packets->count = 1;
    packets->lengths[0] = (uint32_t)length;
    take_controls(&message, packets, 0, link->lost, &read);
    return true;
}

static bool receive_many(const tendon_link *link, tendon_socket_packets *packets, uint32_t room) {
    controls spaces[TENDON_SOCKET_SLOTS];
    struct iovec vectors[TENDON_SOCKET_SLOTS];
    struct mmsghdr messages[TENDON_SOCKET_SLOTS];
    for (uint32_t i = 0; i < room; i++) {
        vectors[i] = (struct iovec){.iov_base = packets->bytes[i], .iov_len = TENDON_SOCKET_SLOT};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &vectors[i], .msg_iovlen = 1}};
        if (has_controls(link)) {
            messages[i].msg_hdr.msg_control = &spaces[i];
            messages[i].msg_hdr.msg_controllen = sizeof spaces[i].bytes;
        }
    }
    int count = recvmmsg(link->source.fd, messages, room, MSG_DONTWAIT, NULL);
    if (count <= 0) {
        return false;
    }
    const clocks read = read_clocks(link);
    packets->count = (uint32_t)count;
    packets->last = (uint32_t)count < room;
    uint32_t lost = link->lost;
    for (uint32_t i = 0; i < packets->count; i++) {
        packets->lengths[i] = messages[i].msg_len;
        take_controls(&messages[i].msg_hdr, packets, i, lost, &read);
        lost = packets->lost[i];
    }
    return true;
}

bool tendon_socket_receive(tendon_link *link, tendon_socket_packets *packets, uint32_t room, bool ended) {
    packets->last = false;
    if (link->singles != SIMPLE && link->singles >= SINGLES && !ended) {
        packets->last = true;
        return receive_one(link, packets);
    }
    if (link->singles != SIMPLE && room > 1) {
        if (receive_many(link, packets, room < TENDON_SOCKET_SLOTS ? room : TENDON_SOCKET_SLOTS)) {
            return true;
        }
        if (errno != ENOSYS) {
            return false;
        }
        link->singles = SIMPLE;
    }
    return receive_one(link, packets);
}

void tendon_socket_received(tendon_link *link, uint32_t count) {
    if (link->singles == SIMPLE) {
        return;
    }
    if (count > 1) {
        link->singles = 0;
    } else if (link->singles < SINGLES + PROBE) {
        link->singles++;
    } else {
        link->singles = SINGLES - 1;
    }
}
