/* SPDX-License-Identifier: MIT */
#include "socket_link.h"
#include "pairing/pairing.h"
#include "reasons.h"
#include "socket_receive.h"
#include "socket_stall.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void link_ready(void *context, uint32_t events, uint64_t now);
static void link_expired(void *context, uint64_t now);

tendon_status tendon_socket_link_reason(int number) {
    return tendon_reason_of_errno(number, TENDON_ERRNO_OF_SOCKET);
}

static tendon_status reason_of(tendon_link *link, int number, bool connecting) {
    return link->hooks->reason != NULL ? link->hooks->reason(link, number, connecting)
                                       : tendon_socket_link_reason(number);
}

/** @param lost of the socket so far, as the kernel counts. */
static void note_lost(tendon_link *link, uint32_t lost) {
    if (lost > link->lost) {
        link->radio->lost += lost - link->lost;
        link->lost = lost;
    }
}

/** Closes the socket. What the kernel has dropped since the last packet is known only until then. */
static void close_socket(tendon_link *link) {
    note_lost(link, link->hooks->lost != NULL ? link->hooks->lost(link) : 0);
    close(link->source.fd);
    link->source.fd = -1;
}

/* Takes the socket away from the loop; the source stays for its deadline. */
void tendon_socket_link_drop(tendon_link *link) {
    if (link->source.fd < 0) {
        return;
    }
    tendon_loop_remove(link->radio->loop, &link->source);
    close_socket(link);
    link->source.interest = 0;
    if (tendon_link_is_connecting(link)) {
        link->state = TENDON_LINK_WAITING;
    }
    (void)tendon_loop_add(link->radio->loop, &link->source); /* without a descriptor it cannot fail */
}

static void leave_radio(tendon_link *link) {
    tendon_link **place = &link->radio->links;
    while (*place != NULL && *place != link) {
        place = &(*place)->next;
    }
    if (*place == link) {
        *place = link->next;
    }
    link->next = NULL;
}

/** The last thing that happens to a link: its memory may be reused in closed(). */
static void finish(tendon_link *link, tendon_status reason, uint64_t now) {
    const tendon_link_callbacks callbacks = link->callbacks;
    bool was_open = tendon_link_was_open(link);
    tendon_radio_note_failure(link, reason, now);
    tendon_pairing_link_ended(link);
    leave_radio(link);
    tendon_loop_remove(link->radio->loop, &link->source);
    if (link->source.fd >= 0) {
        close_socket(link);
    }
    link->state = TENDON_LINK_CLOSED;
    link->blocked = false;
    link->reason = reason;
    if (was_open) {
        tendon_socket_tap(link, TENDON_TAP_CLOSED, NULL, 0);
    } else if (!link->accepted && link->hooks->attempted != NULL) {
        link->hooks->attempted(link, reason);
    }
    if (callbacks.closed != NULL) {
        callbacks.closed(callbacks.context, reason, now);
    }
}

tendon_status tendon_socket_link_begin(tendon_link *link, tendon_radio *radio, const tendon_socket_hooks *hooks,
                                       const tendon_address *peer, bool accepted, uint64_t deadline) {
    if (link->state != TENDON_LINK_CLOSED || link->source.added) {
        return TENDON_ERROR_WRONG_STATE;
    }
    link->radio = radio;
    link->hooks = hooks;
    link->peer = link->identity = *peer;
    link->pairing = (tendon_pairing_attempt){.state = TENDON_PAIRING_NONE};
    link->accepted = accepted;
    link->blocked = link->encrypting = link->encrypted = link->keyed = false;
    link->question = TENDON_PAIRING_NOTHING;
    link->has_identity_key = false;
    link->reason = TENDON_OK;
    link->handle = 0xFFFF;
    link->rssi = TENDON_RSSI_UNKNOWN;
    link->signal_wanted = false;
    link->received = link->sent = link->received_at = 0;
    link->lost = 0;
    link->singles = 0;
    link->error = 0;
    link->deadline = deadline;
    tendon_source_init(&link->source, -1, link, link_ready, link_expired);
    link->source.deadline = deadline;
    tendon_status status = tendon_loop_add(radio->loop, &link->source);
    if (status >= 0) {
        link->state = TENDON_LINK_WAITING;
        link->next = radio->links;
        radio->links = link;
    }
    return status;
}

void tendon_socket_link_abandon(tendon_link *link) {
    leave_radio(link);
    tendon_socket_link_drop(link);
    tendon_loop_remove(link->radio->loop, &link->source);
    link->state = TENDON_LINK_CLOSED;
}

/** Gives the source a descriptor. Takes the descriptor over, also when it fails. */
static tendon_status watch(tendon_link *link, int fd, uint32_t interest) {
    tendon_socket_link_drop(link);
    tendon_loop_remove(link->radio->loop, &link->source);
    link->source.fd = fd;
    link->source.interest = interest;
    tendon_status status = tendon_loop_add(link->radio->loop, &link->source);
    if (status < 0) {
        close(fd);
        link->source.fd = -1;
        link->source.interest = 0;
        (void)tendon_loop_add(link->radio->loop, &link->source);
    }
    return status;
}

tendon_status tendon_socket_link_adopt(tendon_link *link, int fd) {
    tendon_status status = watch(link, fd, 0);
    if (status >= 0) {
        link->state = TENDON_LINK_CONNECTED;
        link->source.deadline = 0; /* link_expired() notifies the owner */
    }
    return status;
}

tendon_status tendon_socket_link_connecting(tendon_link *link, int fd) {
    tendon_status status = watch(link, fd, TENDON_WRITABLE);
    if (status >= 0) {
        link->state = TENDON_LINK_ASKED;
        link->source.deadline = link->deadline;
    }
    return status;
}

/** 0: the socket may be closed now. */
static uint64_t held_until(const tendon_link *link) {
    if (link->state != TENDON_LINK_ASKED || link->hooks->held_until == NULL) {
        return 0;
    }
    const uint64_t until = link->hooks->held_until(link);
    return until > tendon_monotonic_ms() ? until : 0;
}

void tendon_socket_link_fail(tendon_link *link, tendon_status reason) {
    if (link->state == TENDON_LINK_CLOSED || tendon_link_ends(link)) {
        return;
    }
    uint64_t until = held_until(link);
    if (until == 0 || tendon_loop_update(link->radio->loop, &link->source, 0) < 0) {
        tendon_socket_link_drop(link);
        until = 0;
    }
    link->state = link->state == TENDON_LINK_OPEN ? TENDON_LINK_ENDING : TENDON_LINK_HELD;
    link->reason = reason;
    link->source.deadline = until;
}

void tendon_socket_link_close(tendon_link *link) {
    tendon_socket_link_fail(link, TENDON_ERROR_CANCELLED);
}

void tendon_socket_link_settle(tendon_link *link, uint64_t now) {
    if (tendon_link_ends(link)) {
        finish(link, link->reason, now);
    }
}

static void open_now(tendon_link *link, uint64_t now) {
    tendon_status status = tendon_loop_update(link->radio->loop, &link->source, TENDON_READABLE);
    if (status < 0) {
        finish(link, status, now); /* of an attempt: it was never open */
        return;
    }
    link->state = TENDON_LINK_OPEN;
    link->received_at = now * 1000000u; /* no stamp is older than the connection */
    link->source.deadline = UINT64_MAX;
    if (!link->accepted && link->hooks->attempted != NULL) {
        link->hooks->attempted(link, TENDON_OK);
    }
    tendon_socket_tap(link, TENDON_TAP_OPENED, NULL, 0);
    if (link->hooks->opened != NULL) {
        link->hooks->opened(link, now);
    }
    if (link->callbacks.connected != NULL) {
        link->callbacks.connected(link->callbacks.context, now);
    }
}

void tendon_socket_link_encrypted(tendon_link *link, uint64_t now) {
    if (link->encrypted || link->state != TENDON_LINK_OPEN) {
        return;
    }
    link->encrypted = true;
    link->encrypting = false;
    if (link->callbacks.encrypted != NULL) {
        link->callbacks.encrypted(link->callbacks.context, now);
    }
    tendon_pairing_encrypted(link, now);
}

void tendon_socket_link_end(tendon_link *link, tendon_status reason) {
    if (link->state != TENDON_LINK_CLOSED && !tendon_link_ends(link)) {
        link->radio->ops->link_close(link);
        link->reason = reason;
    }
}

/** A send may succeed now. */
static void unblock(tendon_link *link, uint64_t now) {
    link->blocked = false;
    link->source.deadline = UINT64_MAX;
    if (link->callbacks.writable != NULL) {
        link->callbacks.writable(link->callbacks.context, now);
    }
    if (link->state == TENDON_LINK_OPEN && !link->blocked) {
        (void)tendon_loop_update(link->radio->loop, &link->source, TENDON_READABLE);
    }
}

/** Returns true if the connection has to be encrypted before its owner gets it; the socket is writable once it is. */
static bool begins_securing(tendon_link *link) {
    if (link->hooks->secure == NULL || !link->hooks->secure(link)) {
        return false;
    }
    link->state = TENDON_LINK_SECURING;
    return true;
}

/** connect() has returned a connection. */
static void open_adopted(tendon_link *link, uint64_t now) {
    if (link->accepted || !begins_securing(link)) {
        open_now(link, now);
        return;
    }
    link->source.deadline = link->deadline;
    tendon_status status = tendon_loop_update(link->radio->loop, &link->source, TENDON_WRITABLE);
    if (status < 0) {
        finish(link, status, now);
    }
}

/** A link that cannot send has waited: after a lack of memory it tries again. */
static void blocked_expired(tendon_link *link, uint64_t now) {
    link->source.deadline = UINT64_MAX;
    if (!link->blocked) {
        return;
    }
    if ((link->source.interest & TENDON_WRITABLE) == 0) {
        unblock(link, now);
    } else if (tendon_socket_is_stalled(link, now)) {
        tendon_socket_link_end(link, TENDON_RADIO_ERROR_STALLED);
        tendon_socket_link_settle(link, now);
    }
}

/** Everything a link defers ends here: the owner's close, an adopted socket, a retry, the deadline. */
static void link_expired(void *context, uint64_t now) {
    tendon_link *link = context;
    if (tendon_link_ends(link)) {
        tendon_socket_link_settle(link, now);
        return;
    }
    if (link->state == TENDON_LINK_CONNECTED) {
        open_adopted(link, now);
        return;
    }
    if (link->state == TENDON_LINK_OPEN) {
        blocked_expired(link, now);
        return;
    }
    if (now >= link->deadline) {
        tendon_socket_link_fail(link, TENDON_ERROR_TIMEOUT);
        if (link->source.deadline == 0) {
            finish(link, TENDON_ERROR_TIMEOUT, now);
        }
        return;
    }
    link->source.deadline = link->deadline;
    if (link->state == TENDON_LINK_SECURING) {
        (void)tendon_loop_update(link->radio->loop, &link->source, TENDON_WRITABLE);
    }
    if (link->state == TENDON_LINK_WAITING && link->hooks->retry != NULL) {
        tendon_status status = link->hooks->retry(link, now);
        if (status < 0) {
            finish(link, status, now);
        }
    }
}

/** A socket can be writable before the connection is encrypted: the kernel is asked again after this time. */
#define SECURED_CHECK_MS 20u

/** Returns true if the owner may get the link. */
static bool is_secured(tendon_link *link, uint64_t now) {
    const tendon_status status = link->hooks->secured != NULL ? link->hooks->secured(link) : TENDON_OK;
    if (link->state != TENDON_LINK_SECURING) {
        return false;
    }
    if (status == TENDON_ERROR_WOULD_BLOCK) {
        (void)tendon_loop_update(link->radio->loop, &link->source, 0);
        link->source.deadline = now + SECURED_CHECK_MS < link->deadline ? now + SECURED_CHECK_MS : link->deadline;
    } else if (status < 0) {
        finish(link, status, now);
    }
    return status >= 0;
}

static void connect_done(tendon_link *link, uint32_t events, uint64_t now) {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(link->source.fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
        error = errno;
    }
    const bool secures = link->state == TENDON_LINK_SECURING;
    if (error == 0 && secures && (events & TENDON_HANGUP) != 0) {
        error = ENOTCONN;
    }
    if (error != 0) {
        finish(link, reason_of(link, error, true), now);
        return;
    }
    if (secures && !is_secured(link, now)) {
        return;
    }
    link->encrypted = secures;
    if (secures || !begins_securing(link)) {
        open_now(link, now);
    }
}

/** A read of 0 bytes is the end, or an empty PDU if PDUs have no header. The state of the socket distinguishes them. */
static bool at_end(const tendon_link *link) {
    struct pollfd state = {.fd = link->source.fd, .events = POLLIN | POLLRDHUP};
    return link->hooks->header != 0 ||
           (poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLRDHUP | POLLERR)) != 0);
}

/** Delivers one datagram. False: the link ended, or is being closed; stop. */
static bool deliver(tendon_link *link, const uint8_t *bytes, size_t length, uint64_t now) {
    const uint8_t header = link->hooks->header;
    if (length == 0 && at_end(link)) {
        finish(link, reason_of(link, link->error, false), now);
        return false;
    }
    if (header != 0 && bytes[0] == TENDON_SOCKET_CONTROL && link->hooks->control != NULL) {
        link->hooks->control(link, bytes + header, length - header, now);
        return link->state == TENDON_LINK_OPEN;
    }
    if (header != 0 && bytes[0] != TENDON_SOCKET_PDU) {
        link->radio->malformed++;
        return true;
    }
    link->received++;
    tendon_socket_tap(link, TENDON_TAP_RECEIVED, bytes + header, length - header);
    if (link->callbacks.received != NULL) {
        link->callbacks.received(link->callbacks.context, bytes + header, length - header, now);
    }
    return link->state == TENDON_LINK_OPEN;
}

/** Delivers what one call has read. False: the link ended, or is being closed. */
static bool deliver_all(tendon_link *link, const tendon_socket_packets *packets, uint64_t now) {
    for (uint32_t i = 0; i < packets->count; i++) {
        note_lost(link, packets->lost[i]);
        /* In order, also when the clock of the stamps was set forward between the arrival and the read. */
        link->received_at = packets->arrived[i] > link->received_at ? packets->arrived[i] : link->received_at;
        if (!deliver(link, packets->bytes[i], packets->lengths[i], now)) {
            return false;
        }
    }
    return true;
}

/** Nothing was read. True: ask again. */
static bool read_failed(tendon_link *link, bool ended, uint64_t now) {
    const int number = errno;
    if (number != EAGAIN && number != EINTR && link->error == 0) {
        link->error = number; /* reported once, and before the PDUs that arrived earlier */
        return true;
    }
    if (number == EAGAIN ? ended || link->error != 0 : number != EINTR) {
        finish(link, reason_of(link, link->error, false), now);
    }
    return false;
}

/** Returns false if the owner closed the link in encrypted(). */
static bool check_encryption(tendon_link *link, uint64_t now) {
    if (!link->encrypted && link->accepted && link->radio->bonds != NULL && link->hooks->is_encrypted != NULL &&
        link->hooks->is_encrypted(link)) {
        tendon_socket_link_encrypted(link, now);
    }
    return link->state == TENDON_LINK_OPEN;
}

static void receive_batch(tendon_link *link, bool ended, uint64_t now) {
    tendon_socket_packets packets;
    uint32_t batch =
        link->batch == 0 || link->batch > TENDON_SOCKET_LINK_BATCH ? TENDON_SOCKET_LINK_BATCH : link->batch;
    uint32_t left = batch;
    if (!check_encryption(link, now)) {
        return;
    }
    while (left > 0) {
        const bool ends = ended || link->error != 0; /* by EAGAIN, which a second call has to bring */
        if (!tendon_socket_receive(link, &packets, left, ends)) {
            if (!read_failed(link, ended, now)) {
                return;
            }
            left--;
            continue;
        }
        if (left == batch && link->hooks->heard != NULL) {
            link->hooks->heard(link, now);
        }
        if (!deliver_all(link, &packets, now)) {
            return;
        }
        left -= packets.count;
        if (packets.last && !ends) {
            break;
        }
    }
    tendon_socket_received(link, batch - left);
}

static void link_ready(void *context, uint32_t events, uint64_t now) {
    tendon_link *link = context;
    if (tendon_link_ends(link)) {
        if (link->source.fd >= 0) { /* held, and the kernel has ended the attempt */
            finish(link, link->reason, now);
        }
        return;
    }
    if (link->state == TENDON_LINK_CONNECTED) {
        return; /* link_expired() reports it in this step */
    }
    if (link->state != TENDON_LINK_OPEN) {
        connect_done(link, events, now);
        return;
    }
    if ((events & TENDON_WRITABLE) != 0 && link->blocked) {
        unblock(link, now);
    }
    if (link->state == TENDON_LINK_OPEN && (events & (TENDON_READABLE | TENDON_HANGUP)) != 0) {
        receive_batch(link, (events & TENDON_HANGUP) != 0, now);
    }
}
