/* SPDX-License-Identifier: MIT */
#include "socket_receive.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/**
 * Where wake-ups bring one packet each, recv() costs 200 ns less than recvmmsg(), which looks for a second packet. So
 * after this many such wake-ups in a row recv() reads one packet and leaves it to epoll to report another ...
 */
#define SINGLES 4u
/** ... and after so many of those one wake-up asks for all there are, in case the packets come faster now. */
#define PROBE 16u
/** tendon_link.singles: the kernel has no recvmmsg(). */
#define SIMPLE UINT8_MAX

_Static_assert(SINGLES + PROBE < SIMPLE, "the count does not reach the mark");

static bool receive_one(const tendon_link *link, tendon_socket_packets *packets) {
    ssize_t length = recv(link->source.fd, packets->bytes[0], TENDON_SOCKET_SLOT, MSG_DONTWAIT);
    if (length < 0) {
        return false;
    }
    packets->count = 1;
    packets->lengths[0] = (uint32_t)length;
    packets->lost[0] = link->lost;
    return true;
}

/**
 * The kernel's count of what it has dropped comes with a packet, and only when there is one. There is room for this one
 * control message.
 */
static uint32_t lost_before(const struct msghdr *message, uint32_t lost) {
    const struct cmsghdr *control = CMSG_FIRSTHDR(message);
    if (control != NULL && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SO_RXQ_OVFL) {
        memcpy(&lost, CMSG_DATA(control), sizeof lost);
    }
    return lost;
}

/** A Unix socket gets no room for control messages: a peer could send descriptors with them. */
static bool receive_many(const tendon_link *link, tendon_socket_packets *packets, uint32_t room) {
    union {
        char bytes[CMSG_SPACE(sizeof(uint32_t))];
        struct cmsghdr align;
    } controls[TENDON_SOCKET_SLOTS];
    struct iovec vectors[TENDON_SOCKET_SLOTS];
    struct mmsghdr messages[TENDON_SOCKET_SLOTS];
    const bool loses = link->hooks->lost != NULL;
    for (uint32_t i = 0; i < room; i++) {
        vectors[i] = (struct iovec){.iov_base = packets->bytes[i], .iov_len = TENDON_SOCKET_SLOT};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &vectors[i], .msg_iovlen = 1}};
        if (loses) {
            messages[i].msg_hdr.msg_control = &controls[i];
            messages[i].msg_hdr.msg_controllen = sizeof controls[i].bytes;
        }
    }
    int count = recvmmsg(link->source.fd, messages, room, MSG_DONTWAIT, NULL);
    if (count <= 0) {
        return false;
    }
    packets->count = (uint32_t)count;
    packets->last = (uint32_t)count < room;
    uint32_t lost = link->lost;
    for (uint32_t i = 0; i < packets->count; i++) {
        lost = loses ? lost_before(&messages[i].msg_hdr, lost) : lost;
        packets->lengths[i] = messages[i].msg_len;
        packets->lost[i] = lost;
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
