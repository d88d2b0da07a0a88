/* SPDX-License-Identifier: MIT */
/* What a link sends, and what becomes of it when the socket has no room. */
#include "socket_link.h"
#include "socket_stall.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

/** A kernel without memory for a packet does not report when it has some again. */
#define NO_BUFFER_PAUSE_MS 20u

tendon_status tendon_socket_link_control(tendon_link *link, const uint8_t *bytes, size_t length) {
    static const uint8_t header = TENDON_SOCKET_CONTROL;
    struct iovec vectors[2] = {{.iov_base = (void *)(uintptr_t)&header, .iov_len = 1},
                               {.iov_base = (void *)(uintptr_t)bytes, .iov_len = length}};
    struct msghdr message = {.msg_iov = vectors, .msg_iovlen = 2};
    if (sendmsg(link->source.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
        return TENDON_OK;
    }
    return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ? TENDON_ERROR_WOULD_BLOCK
                                                                  : TENDON_ERROR_DISCONNECTED;
}

tendon_status tendon_socket_link_send(tendon_link *link, const uint8_t *pdu, size_t length) {
    static const uint8_t header = TENDON_SOCKET_PDU;
    if (length > TENDON_ATT_MTU_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (link->blocked) {
        return TENDON_ERROR_WOULD_BLOCK; /* pending PDUs are sent first */
    }
    struct iovec vectors[2] = {{.iov_base = (void *)(uintptr_t)&header, .iov_len = link->hooks->header},
                               {.iov_base = (void *)(uintptr_t)pdu, .iov_len = length}};
    struct msghdr message = {.msg_iov = vectors, .msg_iovlen = 2};
    if (sendmsg(link->source.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
        link->sent++;
        tendon_socket_tap(link, TENDON_TAP_SENT, pdu, length);
        return TENDON_OK;
    }
    if (errno == ENOBUFS || errno == ENOMEM) {
        /* The socket may count as writable all the while: EPOLLOUT would spin, also that of before. */
        (void)tendon_loop_update(link->radio->loop, &link->source, TENDON_READABLE);
        link->blocked = true;
        link->source.deadline = tendon_monotonic_ms() + NO_BUFFER_PAUSE_MS;
        return TENDON_ERROR_WOULD_BLOCK;
    }
    if (errno == EAGAIN) {
        tendon_status status = tendon_loop_update(link->radio->loop, &link->source, TENDON_READABLE | TENDON_WRITABLE);
        if (status < 0) {
            return status;
        }
        link->blocked = true;
        tendon_socket_watch_stall(link, tendon_monotonic_ms());
        return TENDON_ERROR_WOULD_BLOCK;
    }
    if (errno == EMSGSIZE) {
        return TENDON_ERROR_INVALID_ARGUMENT; /* longer than the peer's MTU on L2CAP */
    }
    link->error = errno; /* the loop detects the end of the connection and calls closed() */
    return TENDON_ERROR_DISCONNECTED;
}
