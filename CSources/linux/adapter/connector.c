/* SPDX-License-Identifier: MIT */
/*
 * Attempts to connect: an L2CAP connect() each, once our scan is off and the last connection to the peer has ended. The
 * kernel can accept a connect() and never act on it; its commands show whether it does. docs/bluez-states.md has the
 * states.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/** Maximum number of connections of ended processes that one attempt disconnects; the next connection is used. */
#define OLD_CONNECTIONS_MAX 2
/** Pause before connect() is repeated: without it the kernel would continue with its present state. */
#define REISSUE_PAUSE_MS 50u
/** Controllers report a peer once per scan of the kernel: one that was missed is reported in the next scan. */
#define FIND_LIMIT_MS 2000u
/** The kernel reads the features of a new peer before connect() completes. */
#define FEATURES_LIMIT_MS 5000u

static void check_at(tendon_bluez_radio *radio, tendon_bluez_attempt *attempt, uint64_t time) {
    attempt->check_at = time;
    tendon_bluez_wake_at(radio, time);
}

/** The kernel's own limit for a connect(), 40 s by default, must not expire before ours. */
static void set_limit(int fd, uint64_t deadline) {
    const uint64_t longest = 24u * 3600u;
    uint64_t now = tendon_monotonic_ms(), seconds = deadline > now ? (deadline - now) / 1000u + 5u : 5u;
    struct timeval limit = {.tv_sec = (time_t)(seconds < longest ? seconds : longest)};
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/**
 * connect() succeeds over an existing connection whose ATT channel no process uses: the connection of a killed process,
 * which exists for 2 s. Returns true if that connection is being ended: see tendon_bluez_end_connection().
 */
static bool end_old_connection(tendon_bluez_radio *radio, tendon_bluez_attempt *attempt, int fd) {
    uint16_t handle = tendon_bluez_handle_of(fd);
    if (attempt->old_connections == OLD_CONNECTIONS_MAX || handle > TENDON_HCI_HANDLE_MAX) {
        return false;
    }
    attempt->old_connections++;
    tendon_bluez_end_connection(radio, &attempt->link->peer, handle);
    check_at(radio, attempt, tendon_monotonic_ms() + REISSUE_PAUSE_MS);
    return true;
}

/** Calls connect(). The attempt waits again if it got an old connection. */
static tendon_status ask_kernel(tendon_bluez_radio *radio, tendon_bluez_attempt *attempt) {
    tendon_link *link = attempt->link;
    tendon_bluez_load_parameters(radio);
    if (tendon_bluez_is_resolved(radio, &link->peer)) {
        tendon_bluez_resolve_in_controller(radio, &link->peer);
    }
    int fd = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
    if (fd < 0) {
        return tendon_bluez_socket_status(errno);
    }
    struct sockaddr_l2 own = tendon_bluez_name_of(&radio->radio.address), peer = tendon_bluez_name_of(&link->peer);
    set_limit(fd, link->deadline);
    tendon_bluez_share_buffers(radio, fd);
    tendon_bluez_ask_for_details(fd);
    attempt->failure = 0;
    if (bind(fd, (struct sockaddr *)&own, sizeof own) != 0) {
        tendon_status status = tendon_bluez_socket_status(errno);
        close(fd);
        return status;
    }
    /* Without one, the kernel has created the connection within connect(), as it can on a machine with one CPU. */
    bool has_connection = tendon_bluez_is_connected(radio, &link->peer);
    if (connect(fd, (struct sockaddr *)&peer, sizeof peer) == 0) {
        if (!has_connection || !end_old_connection(radio, attempt, fd)) {
            return tendon_socket_link_adopt(link, fd);
        }
        close(fd);
        return TENDON_OK;
    }
    if (errno != EINPROGRESS) {
        /* Busy is the channel ATT of that connection; without one, the kernel, which connects to another device. */
        tendon_status status = errno == EBUSY && has_connection ? TENDON_RADIO_ERROR_DEVICE_IN_USE
                                                                : tendon_bluez_link_reason(link, errno, true);
        close(fd);
        return status;
    }
    attempt->parked = false;
    attempt->begun_at = tendon_monotonic_ms();
    check_at(radio, attempt, attempt->begun_at + TENDON_BLUEZ_BEGIN_LIMIT_MS(radio));
    return tendon_socket_link_connecting(link, fd);
}

/* The parameters of a failed connection are undefined, except the status; the kernel creates one connection at a time.
 * Linux 6.1.192 looks for its attempt by the address in them: one that it does not find continues until its own limit,
 * and a connect() to that peer in this time gets no connection, or crashes the kernel when it is given up. */
void tendon_bluez_note_connect_failure(tendon_bluez_radio *radio, const tendon_hci_parameters *parameters,
                                       uint64_t now) {
    bool is_awaited = radio->kernel.creating != TENDON_BLUEZ_CREATES_NONE;
    if (!tendon_bluez_is_same_device(&parameters->peer, &radio->kernel.peer)) {
        tendon_bluez_await_kernel(radio, &radio->kernel.peer, now);
    }
    tendon_bluez_kernel_creates_none(&radio->kernel);
    for (size_t i = 0; i < TENDON_BLUEZ_SLOTS && is_awaited; i++) {
        tendon_bluez_attempt *attempt = &radio->attempts[i];
        if (attempt->link != NULL && tendon_bluez_is_same_device(&attempt->link->peer, &radio->kernel.peer)) {
            attempt->failure = parameters->status;
        }
    }
}

/** A parked attempt waits for hours: the connection is to its peer, or to a resolvable private address, whose owner is
 * not known here. */
static bool may_be_connected(const tendon_bluez_radio *radio, const tendon_bluez_attempt *attempt) {
    enum { KIND = 0xC0, RESOLVABLE = 0x40 }; /* Core Spec Vol 6 Part B 1.3.2.2 */
    const tendon_address *peer = &radio->kernel.peer;
    bool is_private = tendon_bluez_is_random(peer) && (peer->bytes[0] & KIND) == RESOLVABLE;
    return !attempt->parked || is_private || tendon_bluez_is_same_device(&attempt->link->peer, peer);
}

void tendon_bluez_note_connected(tendon_bluez_radio *radio, uint16_t handle, uint64_t now) {
    bool waits = false;   /* else the link was notified before this event was read */
    bool is_ours = false; /* an attempt to this peer has a socket */
    for (size_t i = 0; i < TENDON_BLUEZ_SLOTS; i++) {
        const tendon_bluez_attempt *attempt = &radio->attempts[i];
        const tendon_link *link = attempt->link;
        if (link != NULL && link->source.fd >= 0) {
            waits = waits || may_be_connected(radio, attempt);
            is_ours = is_ours || tendon_bluez_is_same_device(&link->peer, &radio->kernel.peer);
        }
    }
    tendon_bluez_kernel_connected(&radio->kernel, handle, waits ? now + FEATURES_LIMIT_MS : 0);
    if (!is_ours && radio->use != TENDON_BLUEZ_OBSERVER) {
        tendon_bluez_end_given_up(radio, now);
    }
}

/** Nothing is in the way of connect(). Sets the timer for what ends by itself. */
static bool is_clear(tendon_bluez_radio *radio, const tendon_bluez_attempt *attempt, uint64_t now) {
    if (!tendon_bluez_scan_idle(radio)) {
        return false;
    }
    uint64_t free = tendon_bluez_free_at(radio, &attempt->link->peer, now);
    uint64_t time = attempt->check_at > free ? attempt->check_at : free;
    if (now < time) {
        tendon_bluez_wake_at(radio, time);
    }
    return now >= time;
}

/** When the kernel's progress with this connect() is to be looked at again; 0: it does nothing for it. */
static uint64_t next_look(const tendon_bluez_radio *radio, const tendon_bluez_attempt *attempt, uint64_t now) {
    if (tendon_bluez_is_creating(&radio->kernel, now)) { /* to this peer or to another one: one at a time */
        return now + TENDON_BLUEZ_BEGIN_LIMIT_MS(radio);
    }
    if (now < radio->kernel.begins_until) {
        return radio->kernel.begins_until;
    }
    if (radio->kernel.scans && now < attempt->begun_at + FIND_LIMIT_MS) {
        return attempt->begun_at + FIND_LIMIT_MS;
    }
    return tendon_bluez_has_unread(radio) ? now + 1 : 0; /* what the kernel has begun may be in there */
}

/**
 * Linux can accept a connect() and not act on it until it times out: if the kernel has not seen that our scan is
 * already off, it disables scanning again; a controller rejects that command, and the kernel drops the connect() (seen
 * with 6.1: "stop background scanning failed"). The raw socket shows the kernel's commands, so that this is detected.
 */
static bool is_stuck(tendon_bluez_radio *radio, tendon_bluez_attempt *attempt, uint64_t now) {
    if (tendon_bluez_background_due(radio, attempt, now)) {
        return true;
    }
    if (radio->unprivileged || !tendon_bluez_scan_idle(radio)) { /* without a capability its commands are not visible */
        return false;
    }
    if (attempt->link->background && radio->kernel.scans) {
        if (!attempt->parked) {
            attempt->parked = true;         /* for as long as it takes */
            tendon_bluez_wake_at(radio, 0); /* our scan goes on */
        }
        return false;
    }
    if (now >= attempt->check_at) {
        attempt->check_at = next_look(radio, attempt, now);
    }
    if (attempt->check_at != 0) {
        tendon_bluez_wake_at(radio, attempt->check_at);
    }
    return attempt->check_at == 0;
}

static void ask_again(tendon_bluez_radio *radio, tendon_bluez_attempt *attempt, uint64_t now) {
    tendon_socket_link_drop(attempt->link);
    if (tendon_bluez_background_renews(radio, attempt, now)) {
        radio->counters.renewals++;
    } else {
        radio->counters.connect_reissues++;
        tendon_bluez_watch_connects(radio, now);
    }
    check_at(radio, attempt, now + REISSUE_PAUSE_MS);
}

/** @return the error of connect(); TENDON_OK: nothing failed. */
static tendon_status advance(tendon_bluez_radio *radio, tendon_bluez_attempt *attempt, uint64_t now) {
    const uint8_t state = tendon_bluez_attempt_stage(attempt);
    if (state == TENDON_LINK_WAITING && is_clear(radio, attempt, now)) {
        return ask_kernel(radio, attempt);
    }
    if (state == TENDON_LINK_ASKED && is_stuck(radio, attempt, now)) {
        ask_again(radio, attempt, now);
    }
    return TENDON_OK;
}

void tendon_bluez_connect_waiting(tendon_bluez_radio *radio) {
    uint64_t now = tendon_monotonic_ms();
    for (size_t i = 0; i < TENDON_BLUEZ_SLOTS; i++) {
        tendon_link *link = radio->attempts[i].link;
        tendon_status status = advance(radio, &radio->attempts[i], now);
        if (status < 0) {
            tendon_socket_link_fail(link, status);
        }
    }
}

static tendon_bluez_attempt *free_slot(tendon_bluez_radio *radio, bool background) {
    size_t end = background ? TENDON_BLUEZ_SLOTS : TENDON_BLUEZ_ATTEMPTS;
    for (size_t i = background ? TENDON_BLUEZ_ATTEMPTS : 0; i < end; i++) {
        if (radio->attempts[i].link == NULL) {
            return &radio->attempts[i];
        }
    }
    return NULL;
}

tendon_status tendon_bluez_connect(tendon_radio *base, tendon_link *link, const tendon_address *peer,
                                   uint64_t deadline) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    if (tendon_bluez_failed(radio)) {
        return radio->power.status;
    }
    tendon_bluez_attempt *attempt = free_slot(radio, link->background);
    if (attempt == NULL) {
        return TENDON_ERROR_TABLE_FULL;
    }
    tendon_status status = tendon_socket_link_begin(link, base, &tendon_bluez_link_hooks, peer, false, deadline);
    if (status < 0) {
        return status;
    }
    *attempt = (tendon_bluez_attempt){.link = link};
    tendon_bluez_load_missing(radio);
    return TENDON_OK;
}

tendon_status tendon_bluez_connect_now(tendon_bluez_radio *radio, tendon_link *link) {
    tendon_bluez_attempt *attempt = tendon_bluez_attempt_of(radio, link);
    tendon_status status = attempt != NULL ? advance(radio, attempt, tendon_monotonic_ms()) : TENDON_OK;
    if (status < 0) {
        attempt->link = NULL;
        tendon_socket_link_abandon(link);
    }
    return status;
}

#endif
