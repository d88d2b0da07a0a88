/* SPDX-License-Identifier: MIT */
/*
 * How packets get out of the socket of a link. Internal to component linux.
 *
 * Two forms with the same result. The simple one is recvmsg() for each packet, and again to find that there is none;
 * it is the reference that the other is tested against, and what remains where the kernel has no recvmmsg(). The other
 * reads many packets with one call and does not ask a second time: epoll reports what is left.
 */
#ifndef TENDON_SOCKET_RECEIVE_H
#define TENDON_SOCKET_RECEIVE_H

#include "socket_link.h"

/** One byte more than the longest PDU, so that the bearer sees that a longer one was too long. */
#define TENDON_SOCKET_SLOT (1u + TENDON_ATT_MTU_MAX + 1u)
/** Packets of one call at most. */
#define TENDON_SOCKET_SLOTS 16u

/**
 * The packets of one call. On the stack of the loop's thread: only one link reads at a time, so all links share it, and
 * a callback may close or release any of them.
 */
typedef struct tendon_socket_packets {
    uint32_t count;
    bool last;                             /**< the socket has no more: no second call is needed */
    uint64_t arrived[TENDON_SOCKET_SLOTS]; /**< monotonic ns, by the kernel's stamp; without one, of the read */
    uint32_t lengths[TENDON_SOCKET_SLOTS];
    uint32_t lost[TENDON_SOCKET_SLOTS]; /**< tendon_link.lost when the packet arrived */
    uint8_t bytes[TENDON_SOCKET_SLOTS][TENDON_SOCKET_SLOT];
} tendon_socket_packets;

/**
 * One call, for @p room packets at most. @return false: none, errno says why (EAGAIN: there is none).
 * @param ended the peer has closed: no need to save a call.
 */
bool tendon_socket_receive(tendon_link *link, tendon_socket_packets *packets, uint32_t room, bool ended);
/** What a wake-up has brought, which decides how the next one reads. */
void tendon_socket_received(tendon_link *link, uint32_t count);

#endif
