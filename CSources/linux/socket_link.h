/* SPDX-License-Identifier: MIT */
/*
 * A link over any SOCK_SEQPACKET socket, shared by the virtual radio and the L2CAP radio. Internal to component linux
 * (and linux/adapter).
 *
 * A radio fills link->radio through tendon_socket_link_begin(), gives a socket when it has one, and uses
 * tendon_socket_link_close as its op. All callbacks of the link come from the loop, closed() exactly once after every
 * begin() that returned TENDON_OK.
 */
#ifndef TENDON_SOCKET_LINK_H
#define TENDON_SOCKET_LINK_H

#include "tendon/linux/radio.h"

/** An attempt that has not ended. */
static inline bool tendon_link_is_connecting(const tendon_link *link) {
    return link->state >= TENDON_LINK_WAITING && link->state <= TENDON_LINK_SECURING;
}
/** closed() is pending. */
static inline bool tendon_link_ends(const tendon_link *link) {
    return link->state == TENDON_LINK_HELD || link->state == TENDON_LINK_ENDING;
}
/** connected() was called, or is pending, and closed() was not called. */
static inline bool tendon_link_was_open(const tendon_link *link) {
    return link->state == TENDON_LINK_OPEN || link->state == TENDON_LINK_ENDING;
}

/** The differences between radios. Constant; any function may be NULL. */
typedef struct tendon_socket_hooks {
    uint8_t header; /**< bytes in front of each PDU: 0, or 1 (value 0; 1: control(); others are counted and dropped) */
    /** A message that is no PDU, without its first byte. It may end the link by _fail(). */
    void (*control)(tendon_link *link, const uint8_t *bytes, size_t length, uint64_t now);
    /**
     * connect() has completed. Returns true if connected() must wait for encryption: the socket becomes writable again
     * when the connection is encrypted; the link is SECURING until then.
     */
    bool (*secure)(tendon_link *link);
    /**
     * The connection is encrypted, as far as the kernel knows; asked while the link is SECURING.
     * TENDON_ERROR_WOULD_BLOCK: not yet; another error ends the attempt with this status. May end the link itself.
     * NULL: it is when the socket is writable.
     */
    tendon_status (*secured)(tendon_link *link);
    /** The link is open; called before connected(). */
    void (*opened)(tendon_link *link, uint64_t now);
    /** PDUs were received in this call of the loop. NULL: not reported. */
    void (*heard)(tendon_link *link, uint64_t now);
    /** Called before PDUs of an accepted link are read while it counts as not encrypted, if bonds exist. */
    bool (*is_encrypted)(const tendon_link *link);
    /**
     * Called from the loop when link->source.deadline (set by the hook itself or before) is reached while the link has
     * no socket and its own deadline has not passed: try again with _adopt() or _connecting(), or set a new
     * link->source.deadline. An error ends the attempt with this status.
     */
    tendon_status (*retry)(tendon_link *link, uint64_t now);
    /**
     * The time, monotonic ms, until which the socket of an attempt that ends must stay open; one in the past: none. The
     * end is reported then. NULL: none.
     */
    uint64_t (*held_until)(const tendon_link *link);
    /**
     * The attempt has ended, with success (TENDON_OK: open) or an error; called before connected() or closed(). Restore
     * a scan here. Also called when the owner cancels. Not called for accepted links. Must not free or close the link.
     */
    void (*attempted)(tendon_link *link, tendon_status result);
    /**
     * Status for an errno: SO_ERROR of a connect that failed (@p connecting), or of a link that broke.
     * NULL: tendon_socket_link_reason().
     */
    tendon_status (*reason)(tendon_link *link, int number, bool connecting);
    /**
     * PDUs that the kernel has dropped because the socket's receive buffer was full. The socket has SO_RXQ_OVFL then.
     * NULL: nothing is lost, the sender waits.
     */
    uint32_t (*lost)(const tendon_link *link);
    /** The socket gives the time of arrival of each PDU, by CLOCK_REALTIME (SO_TIMESTAMPNS). */
    bool stamps;
    /**
     * A number that changes as long as the socket gets rid of its PDUs. A link that cannot send for 40 s, while this
     * stays the same, ends with TENDON_RADIO_ERROR_STALLED. NULL: the sender waits without a limit.
     */
    uint32_t (*queued)(const tendon_link *link);
} tendon_socket_hooks;

/** Header bytes on radios that have one. */
#define TENDON_SOCKET_PDU 0u
#define TENDON_SOCKET_CONTROL 1u

static inline void tendon_socket_tap(const tendon_link *link, tendon_tap_kind kind, const uint8_t *pdu, size_t length) {
    if (link->radio->tap != NULL) {
        link->radio->tap(link->radio->tap_context, link, kind, pdu, length);
    }
}

/** PDUs read per wake-up at most, see tendon_link.batch. */
#define TENDON_SOCKET_LINK_BATCH 32u

/**
 * Starts an attempt or an accepted link: state CONNECTING, registered with the loop, without a socket yet.
 * link->source.deadline = @p deadline. @return TENDON_ERROR_WRONG_STATE unless the link is closed.
 */
tendon_status tendon_socket_link_begin(tendon_link *link, tendon_radio *radio, const tendon_socket_hooks *hooks,
                                       const tendon_address *peer, bool accepted, uint64_t deadline);
/** Undoes begin() in the same call that made it: no callback follows. */
void tendon_socket_link_abandon(tendon_link *link);

/** Closes the socket of an attempt; the attempt continues without a socket. */
void tendon_socket_link_drop(tendon_link *link);
/** The socket is connected: connected() follows from the loop. Owns @p fd from here on, also on error (closed). */
tendon_status tendon_socket_link_adopt(tendon_link *link, int fd);
/** connect() gave EINPROGRESS: waits for EPOLLOUT, then SO_ERROR. Owns @p fd as above. */
tendon_status tendon_socket_link_connecting(tendon_link *link, int fd);
/** Ends the link from within the radio (adapter removed, ...): closes the socket; closed(reason) follows from the loop.
 */
void tendon_socket_link_fail(tendon_link *link, tendon_status reason);

/** Calls encrypted() of the owner, the first time. */
void tendon_socket_link_encrypted(tendon_link *link, uint64_t now);
/** A message for the peer's control(); @return TENDON_ERROR_WOULD_BLOCK: nothing was sent. */
tendon_status tendon_socket_link_control(tendon_link *link, const uint8_t *bytes, size_t length);

/** tendon_link_send() of an open link. */
tendon_status tendon_socket_link_send(tendon_link *link, const uint8_t *pdu, size_t length);
/** For tendon_radio_ops. */
void tendon_socket_link_close(tendon_link *link);
/** Closes an open link as its owner would, but with this reason; closed(reason) follows from the loop. */
void tendon_socket_link_end(tendon_link *link, tendon_status reason);
/** If the link was closed, its owner is notified now and not after the events of this step. */
void tendon_socket_link_settle(tendon_link *link, uint64_t now);

/** The usual meaning of an errno: EPIPE, ECONNRESET, ENOTCONN: PEER_CLOSED; ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH:
 * OUT_OF_RANGE; EACCES, EPERM: PERMISSION; others: TENDON_SYSTEM_ERROR. 0: PEER_CLOSED. */
tendon_status tendon_socket_link_reason(int number);

#endif
