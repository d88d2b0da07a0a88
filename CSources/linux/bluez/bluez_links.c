/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ATT links: L2CAP sockets on the fixed channel 4, out and in. */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/** Centrals accepted per wake-up at most. */
#define ACCEPT_BATCH 8
/** How long a listener rests when the process is out of descriptors. */
#define ACCEPT_REST_MS 100u
#define HANDLE_UNKNOWN 0xFFFFu
/** Ends a connection as its user would; the peer sees this code. */
#define REMOTE_USER_TERMINATED 0x13
/** How long a connect waits for the end of the last connection to the same peer. */
#define LEAVING_LIMIT_MS 3000u
/** Connections of others that one attempt ends before it takes what it gets. */
#define STALE_LIMIT 2
/** The raw socket has an event before the kernel itself has acted on it. */
#define KERNEL_PAUSE_MS 20u
/** A kernel that has not begun to scan for a peer by then never does. */
#define BEGIN_LIMIT_MS 300u
/** How long the kernel is left alone before it is asked again: it would only go on with what it has. */
#define NUDGE_PAUSE_MS 50u
/** Controllers report a peer once in a scan of the kernel's: one that was missed is reported in the next scan. */
#define FIND_LIMIT_MS 2000u
/** The kernel asks a new peer for its features before connect() is through. */
#define FEATURES_LIMIT_MS 5000u

static void attempted(tendon_link *link, tendon_status result);
static tendon_status reason(tendon_link *link, int number, bool connecting);
static const tendon_socket_hooks hooks = {.header = 0,
                                          .attempted = attempted,
                                          .reason = reason,
                                          .secure = tendon_bluez_secure,
                                          .is_encrypted = tendon_bluez_is_encrypted};

/** The name of one end of a link. */
static struct sockaddr_l2 name_of(const tendon_address *address) {
    struct sockaddr_l2 name;
    memset(&name, 0, sizeof name);
    name.l2_family = AF_BLUETOOTH;
    name.l2_cid = htobs(TENDON_L2CAP_CID_ATT);
    tendon_address_to_wire(address, name.l2_bdaddr.b);
    bool random = address->type == TENDON_ADDRESS_TYPE_RANDOM || address->type == TENDON_ADDRESS_TYPE_RANDOM_IDENTITY;
    name.l2_bdaddr_type = random ? BDADDR_LE_RANDOM : BDADDR_LE_PUBLIC;
    return name;
}

/** The connection handle, by which HCI events and captures name the link. */
static uint16_t handle_of(int fd) {
    struct l2cap_conninfo info = {0};
    socklen_t size = sizeof info;
    return getsockopt(fd, SOL_L2CAP, L2CAP_CONNINFO, &info, &size) == 0 ? info.hci_handle : HANDLE_UNKNOWN;
}

void tendon_bluez_note_ending(tendon_bluez_radio *radio, uint16_t handle, uint8_t cause, uint64_t now) {
    for (size_t i = 0; i < TENDON_BLUEZ_ENDINGS; i++) {
        if (radio->leaving[i].handle == handle && radio->leaving[i].until > now) {
            radio->leaving[i].until = now + KERNEL_PAUSE_MS;
            tendon_bluez_wake_at(radio, now + KERNEL_PAUSE_MS);
        }
    }
    radio->endings[radio->next_ending] = (tendon_bluez_ending){.handle = handle, .reason = cause};
    radio->next_ending = (uint8_t)((radio->next_ending + 1) % TENDON_BLUEZ_ENDINGS);
}

/** HCI codes that say nothing new are told as what they mean; the others stay as they are. */
static tendon_status status_of_code(uint8_t code) {
    switch (code) {
    case 0x04: /* page timeout */
    case 0x08: /* connection timeout */
    case 0x3C: /* advertising timeout */
        return TENDON_RADIO_ERROR_OUT_OF_RANGE;
    case 0x13: /* ended by the peer's user, for low resources, for power-off */
    case 0x14:
    case 0x15:
        return TENDON_RADIO_ERROR_PEER_CLOSED;
    case HCI_COMMAND_DISALLOWED_ERROR:
        return TENDON_RADIO_ERROR_ADAPTER_BUSY;
    default:
        return TENDON_HCI_ERROR(code);
    }
}

/** What the controller said about the end of this link; TENDON_OK: nothing, or it is not read yet. */
static tendon_status controller_reason(tendon_bluez_radio *radio, const tendon_link *link, bool connecting) {
    if (connecting) {
        uint8_t code = radio->connect_failure;
        radio->connect_failure = 0;
        return code != 0 ? status_of_code(code) : TENDON_OK;
    }
    for (size_t i = 0; i < TENDON_BLUEZ_ENDINGS; i++) {
        if (radio->endings[i].handle == link->handle && radio->endings[i].reason != 0) {
            tendon_status status = status_of_code(radio->endings[i].reason);
            radio->endings[i].reason = 0;
            return status;
        }
    }
    return TENDON_OK;
}

/** The kernel makes an errno of the HCI status; this undoes it where that is possible. */
static tendon_status reason(tendon_link *link, int number, bool connecting) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)link->radio;
    if (radio->failed) {
        return radio->failure;
    }
    if (!connecting && link->pairing.state != TENDON_PAIRING_NONE) {
        tendon_bluez_read_management(radio); /* how the pairing ended may wait there; that is told first */
    }
    if (link->securing && (number == ECONNABORTED || number == EACCES || number == EPERM || number == ENOTCONN)) {
        return TENDON_RADIO_ERROR_PAIRING_FAILED; /* the peer has no such key; the kernel ends the link then */
    }
    tendon_status status = controller_reason(radio, link, connecting);
    if (status != TENDON_OK) {
        return status;
    }
    switch (number) {
    case ENOTCONN:
        return connecting ? TENDON_HCI_ERROR(0x02) : TENDON_RADIO_ERROR_PEER_CLOSED;
    case EMLINK:
        return TENDON_HCI_ERROR(0x09);
    case ECONNREFUSED:
        return TENDON_HCI_ERROR(0x0D);
    case ECONNABORTED:
        return TENDON_HCI_ERROR(0x16);
    case ENOSYS: /* every code that the kernel has no errno for; of these the one that happens */
        return TENDON_HCI_ERROR(HCI_FAILED_TO_BE_ESTABLISHED);
    case EACCES:
        return TENDON_RADIO_ERROR_PAIRING_FAILED;
    case EALREADY:
    case EBUSY:
        return TENDON_RADIO_ERROR_ADAPTER_BUSY;
    case EHOSTUNREACH: /* no adapter with our address is up */
    case ENETDOWN:
        return TENDON_RADIO_ERROR_ADAPTER_DOWN;
    default:
        return tendon_socket_link_reason(number);
    }
}

/**
 * The kernel keeps the connection for 2 s after its last socket is closed, and a connect meanwhile gets the old one,
 * with the MTU and the subscriptions that the peer still has for it. So it is ended here, and a connect to the same
 * peer waits for that.
 */
static void end_connection(tendon_bluez_radio *radio, const tendon_address *peer, uint16_t handle) {
    tendon_bluez_command command = {.length = 0};
    tendon_bluez_leaving *leaving = &radio->leaving[0];
    for (size_t i = 1; i < TENDON_BLUEZ_ENDINGS; i++) {
        if (radio->leaving[i].until < leaving->until) {
            leaving = &radio->leaving[i]; /* a free one, else the oldest */
        }
    }
    *leaving = (tendon_bluez_leaving){.peer = *peer, .handle = handle, .until = tendon_now_ms() + LEAVING_LIMIT_MS};
    command.length = tendon_hci_command_disconnect(handle, REMOTE_USER_TERMINATED, command.bytes, sizeof command.bytes);
    tendon_bluez_send_and_forget(radio, &command);
}

void tendon_bluez_link_close(tendon_link *link) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)link->radio;
    bool ends =
        link->state == TENDON_LINK_OPEN && link->handle <= TENDON_HCI_HANDLE_MAX && radio->opened && !radio->failed;
    /* First the socket: Linux 6.1.192 stops when one is closed whose connection has ended meanwhile. */
    tendon_socket_link_close(link);
    if (ends) {
        end_connection(radio, &link->peer, link->handle);
    }
}

/** When a connect to @p peer may start; 0: at once. */
static uint64_t free_at(const tendon_bluez_radio *radio, const tendon_address *peer, uint64_t now) {
    uint64_t time = 0;
    for (size_t i = 0; i < TENDON_BLUEZ_ENDINGS; i++) {
        const tendon_bluez_leaving *leaving = &radio->leaving[i];
        if (leaving->until > now && leaving->until > time && tendon_address_equal(&leaving->peer, peer)) {
            time = leaving->until;
        }
    }
    return time;
}

/** Where an attempt stands in the table; TENDON_BLUEZ_ATTEMPTS: nowhere. */
static size_t slot_of(const tendon_bluez_radio *radio, const tendon_link *link) {
    size_t slot = 0;
    while (slot < TENDON_BLUEZ_ATTEMPTS && radio->attempts[slot] != link) {
        slot++;
    }
    return slot;
}

static void look_at(tendon_bluez_radio *radio, size_t slot, uint64_t time) {
    radio->check_at[slot] = time;
    tendon_bluez_wake_at(radio, time);
}

static void forget_attempt(tendon_bluez_radio *radio, const tendon_link *link) {
    size_t slot = slot_of(radio, link);
    if (slot < TENDON_BLUEZ_ATTEMPTS) {
        radio->attempts[slot] = NULL;
    }
}

static void attempted(tendon_link *link, tendon_status result) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)link->radio;
    if (result == TENDON_OK) {
        link->handle = handle_of(link->source.fd);
    }
    forget_attempt(radio, link);
    radio->connects_until = 0;
    tendon_bluez_step(radio); /* restores the scan */
}

uint32_t tendon_bluez_link_lost(const tendon_link *link) {
    return link->source.fd < 0 ? 0 : tendon_bluez_dropped(link->source.fd);
}

/** The kernel's own limit for a connect, 40 s unless told, must not come before ours. */
static void set_limit(int fd, uint64_t deadline) {
    const uint64_t longest = 24u * 3600u;
    uint64_t now = tendon_now_ms(), seconds = deadline > now ? (deadline - now) / 1000u + 5u : 5u;
    struct timeval limit = {.tv_sec = (time_t)(seconds < longest ? seconds : longest)};
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/**
 * connect() never succeeds at once but over a connection that is there already, with nobody on its ATT channel: one
 * that a process which died has left, for 2 s. See end_connection(). True when it is being ended.
 */
static bool end_stale(tendon_bluez_radio *radio, const tendon_link *link, int fd) {
    uint16_t handle = handle_of(fd);
    size_t slot = slot_of(radio, link);
    if (slot == TENDON_BLUEZ_ATTEMPTS || radio->stale[slot] == STALE_LIMIT || handle > TENDON_HCI_HANDLE_MAX) {
        return false;
    }
    radio->stale[slot]++;
    end_connection(radio, &link->peer, handle);
    tendon_bluez_wake_at(radio, tendon_now_ms() + LEAVING_LIMIT_MS);
    return true;
}

static tendon_status connect_socket(tendon_bluez_radio *radio, tendon_link *link) {
    int fd = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
    if (fd < 0) {
        return tendon_bluez_socket_status(errno);
    }
    struct sockaddr_l2 own = name_of(&radio->radio.address), peer = name_of(&link->peer);
    set_limit(fd, link->deadline);
    tendon_bluez_set_buffer(fd);
    radio->connect_failure = 0;
    if (bind(fd, (struct sockaddr *)&own, sizeof own) != 0) {
        tendon_status status = tendon_bluez_socket_status(errno);
        close(fd);
        return status;
    }
    if (connect(fd, (struct sockaddr *)&peer, sizeof peer) == 0) {
        if (!end_stale(radio, link, fd)) {
            return tendon_socket_link_adopt(link, fd);
        }
        close(fd);
        return TENDON_OK; /* connect_waiting() tries again */
    }
    if (errno != EINPROGRESS) {
        tendon_status status = reason(link, errno, true);
        close(fd);
        return status;
    }
    size_t slot = slot_of(radio, link);
    radio->begun_at[slot] = tendon_now_ms();
    look_at(radio, slot, radio->begun_at[slot] + BEGIN_LIMIT_MS);
    return tendon_socket_link_connecting(link, fd);
}

void tendon_bluez_note_connected(tendon_bluez_radio *radio, uint64_t now) {
    bool waits = false; /* else the link was told before this event was read */
    for (size_t i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        waits = waits || (radio->attempts[i] != NULL && radio->attempts[i]->source.fd >= 0);
    }
    radio->connects_until = waits ? now + FEATURES_LIMIT_MS : 0;
}

/**
 * Linux may take a connect and do nothing about it until it times out: when it has not yet noticed that our own scan is
 * off, a controller refuses to have it switched off once more, and that ends its work on the connect (seen with 6.1:
 * "stop background scanning failed"). Its commands are seen on the raw socket, so that this is noticed, and it is asked
 * again. True: look at the attempt later, it is as it should be.
 */
static bool connect_is_progressing(tendon_bluez_radio *radio, size_t slot, uint64_t now) {
    if (radio->unprivileged) {
        return true; /* its commands are not seen */
    }
    if (now < radio->check_at[slot]) {
        tendon_bluez_wake_at(radio, radio->check_at[slot]);
        return true;
    }
    if (now < radio->connects_until) { /* to this peer or to another one: one at a time */
        look_at(radio, slot, now + BEGIN_LIMIT_MS);
        return true;
    }
    if (radio->scan.foreign && now < radio->begun_at[slot] + FIND_LIMIT_MS) {
        look_at(radio, slot, radio->begun_at[slot] + FIND_LIMIT_MS);
        return true;
    }
    radio->counters.connect_reissues++;
    return false;
}

void tendon_bluez_connect_waiting(tendon_bluez_radio *radio) {
    if (!tendon_bluez_scan_idle(radio)) {
        return;
    }
    uint64_t now = tendon_now_ms();
    for (size_t i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        tendon_link *link = radio->attempts[i];
        if (link == NULL || link->closing || link->connected || link->securing) {
            continue;
        }
        if (link->source.fd >= 0) {
            if (connect_is_progressing(radio, i, now)) {
                continue;
            }
            tendon_socket_link_drop(link);
            radio->check_at[i] = now + NUDGE_PAUSE_MS;
        }
        if (now < radio->check_at[i]) {
            tendon_bluez_wake_at(radio, radio->check_at[i]);
            continue;
        }
        uint64_t wait = free_at(radio, &link->peer, now);
        if (wait != 0) {
            tendon_bluez_wake_at(radio, wait);
            continue;
        }
        tendon_status status = connect_socket(radio, link);
        if (status < 0) {
            tendon_socket_link_fail(link, status);
        }
    }
}

tendon_status tendon_bluez_connect(tendon_radio *base, tendon_link *link, const tendon_address *peer,
                                   uint64_t deadline) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    size_t slot = 0;
    if (radio->failed) {
        return radio->failure;
    }
    while (slot < TENDON_BLUEZ_ATTEMPTS && radio->attempts[slot] != NULL) {
        slot++;
    }
    if (slot == TENDON_BLUEZ_ATTEMPTS) {
        return TENDON_ERROR_TABLE_FULL;
    }
    tendon_status status = tendon_socket_link_begin(link, base, &hooks, peer, false, deadline);
    if (status < 0) {
        return status;
    }
    radio->attempts[slot] = link;
    radio->stale[slot] = 0;
    radio->check_at[slot] = 0;
    tendon_bluez_step(radio); /* switches a scan off */
    uint64_t wait = free_at(radio, peer, tendon_now_ms());
    if (wait != 0 || !tendon_bluez_scan_idle(radio)) {
        tendon_bluez_wake_at(radio, wait != 0 ? wait : UINT64_MAX);
        return TENDON_OK; /* connect_waiting() follows */
    }
    status = connect_socket(radio, link);
    if (status < 0) {
        forget_attempt(radio, link);
        tendon_socket_link_abandon(link);
    }
    return status;
}

static bool accept_one(tendon_listener *listener, uint64_t now) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)listener->radio;
    struct sockaddr_l2 name;
    memset(&name, 0, sizeof name);
    socklen_t size = sizeof name;
    int fd = accept4(listener->source.fd, (struct sockaddr *)&name, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* The central waits in the queue; without this the loop would spin. */
            (void)tendon_loop_update(radio->radio.loop, &listener->source, 0);
            listener->source.deadline = now + ACCEPT_REST_MS;
        } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
            /* The adapter is off or gone; the management socket tells it too. */
            (void)tendon_loop_update(radio->radio.loop, &listener->source, 0);
        }
        return false;
    }
    tendon_address peer = tendon_address_from_wire(name.l2_bdaddr.b, name.l2_bdaddr_type == BDADDR_LE_RANDOM
                                                                         ? TENDON_ADDRESS_TYPE_RANDOM
                                                                         : TENDON_ADDRESS_TYPE_PUBLIC);
    tendon_link *link = listener->accept(listener->context, &peer, now);
    if (link == NULL || tendon_socket_link_begin(link, &radio->radio, &hooks, &peer, true, UINT64_MAX) < 0) {
        close(fd);
    } else {
        link->handle = handle_of(fd);
        tendon_bluez_set_buffer(fd);
        tendon_status status = tendon_socket_link_adopt(link, fd);
        if (status < 0) {
            tendon_socket_link_fail(link, status); /* its owner has given it away: closed() follows */
        }
    }
    return radio->listener == listener;
}

static void listener_ready(void *context, uint32_t events, uint64_t now) {
    (void)events;
    for (int i = 0; i < ACCEPT_BATCH && accept_one(context, now); i++) {
    }
}

static void listener_expired(void *context, uint64_t now) {
    tendon_listener *listener = context;
    (void)now;
    listener->source.deadline = UINT64_MAX;
    (void)tendon_loop_update(listener->radio->loop, &listener->source, TENDON_READABLE);
}

tendon_status tendon_bluez_listen(tendon_radio *base, tendon_listener *listener) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    if (radio->failed) {
        return radio->failure;
    }
    if (radio->listener != NULL) {
        return TENDON_RADIO_ERROR_ALREADY_STARTED;
    }
    int fd = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
    if (fd < 0) {
        return tendon_bluez_socket_status(errno);
    }
    struct sockaddr_l2 own = name_of(&base->address);
    tendon_status status = TENDON_OK;
    if (bind(fd, (struct sockaddr *)&own, sizeof own) != 0 || listen(fd, ACCEPT_BATCH) != 0) {
        status = errno == EADDRINUSE ? TENDON_RADIO_ERROR_ADAPTER_BUSY : tendon_bluez_socket_status(errno);
    } else {
        tendon_source_init(&listener->source, fd, listener, listener_ready, listener_expired);
        listener->source.interest = TENDON_READABLE;
        status = tendon_loop_add(base->loop, &listener->source);
    }
    if (status < 0) {
        close(fd);
        return status;
    }
    listener->radio = base;
    radio->listener = listener;
    return TENDON_OK;
}

void tendon_bluez_unlisten(tendon_radio *base, tendon_listener *listener) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    if (listener == NULL || radio->listener != listener) {
        return;
    }
    tendon_loop_remove(base->loop, &listener->source);
    close(listener->source.fd);
    listener->source.fd = -1;
    radio->listener = NULL;
}

#else
typedef int tendon_bluez_links_nothing; /* ISO C wants a declaration in every file */
#endif
