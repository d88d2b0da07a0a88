/* SPDX-License-Identifier: MIT */
/* ATT connections: L2CAP sockets on the fixed channel 4. How they end, and why. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)
#include "../reasons.h"
#include "../socket_listener.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/** Disconnects as its user would; the peer receives this code. */
#define REMOTE_USER_TERMINATED 0x13
/** The raw socket has an event before the kernel itself has acted on it. */
#define KERNEL_PAUSE_MS 20u
/** So long the kernel continues with an attempt whose end it did not recognize: 4 s of its own, and a margin. */
#define KERNEL_LIMIT_MS 5000u
/** Between two looks at whether it does. */
#define KERNEL_CHECK_MS 100u

static void heard(tendon_link *link, uint64_t now);
static uint64_t held_until(const tendon_link *link);
static void attempted(tendon_link *link, tendon_status result);
static bool is_connecting(const tendon_bluez_radio *radio, const tendon_address *peer);
static tendon_status is_secured(tendon_link *link);
static uint32_t queued(const tendon_link *link);
const tendon_socket_hooks tendon_bluez_link_hooks = {.header = 0,
                                                     .heard = heard,
                                                     .held_until = held_until,
                                                     .attempted = attempted,
                                                     .reason = tendon_bluez_link_reason,
                                                     .secure = tendon_bluez_secure,
                                                     .secured = is_secured,
                                                     .is_encrypted = tendon_bluez_is_encrypted,
                                                     .lost = tendon_bluez_link_lost,
                                                     .stamps = true,
                                                     .queued = queued};

/*
 * A socket that is closed between the end of the kernel's scan and LE Create Connection leaves Linux 6.1.192 with an
 * attempt that is cancelled and connected at the same time: the kernel connects to this peer no more. Linux 6.12.117
 * connects to no device any more. What was not read yet may show the end of that scan.
 */
static uint64_t held_until(const tendon_link *link) {
    const tendon_bluez_radio *radio = (const tendon_bluez_radio *)link->radio;
    return tendon_bluez_has_unread(radio) ? tendon_monotonic_ms() + TENDON_BLUEZ_BEGIN_LIMIT_MS(radio)
                                          : radio->kernel.begins_until;
}

static void heard(tendon_link *link, uint64_t now) {
    tendon_bluez_watch_data((tendon_bluez_radio *)link->radio, now);
}

/** The connection of the kernel's latest LE Create Connection. */
static void end_latest(tendon_bluez_radio *radio) {
    tendon_bluez_command command = {.length = 0};
    command.length = tendon_hci_command_disconnect(radio->kernel.handle, REMOTE_USER_TERMINATED, command.bytes,
                                                   sizeof command.bytes);
    tendon_bluez_kernel_disconnected(&radio->kernel, radio->kernel.handle);
    tendon_bluez_kernel_creates_none(&radio->kernel);
    tendon_bluez_send_and_forget(radio, &command);
}

static void attempted(tendon_link *link, tendon_status result) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)link->radio;
    if (result == TENDON_OK) {
        link->handle = tendon_bluez_handle_of(link->source.fd);
        tendon_bluez_link_timing(link);
    } else if (radio->kernel.handle != TENDON_BLUEZ_HANDLE_UNKNOWN &&
               tendon_bluez_is_same_device(&link->peer, &radio->kernel.peer) &&
               !tendon_bluez_is_connected(radio, &link->peer)) {
        end_latest(radio); /* Linux 6.12.117 ignores it while it cancels an attempt of before: no one else would */
    } else if (is_connecting(radio, &link->peer)) {
        tendon_bluez_await_kernel(radio, &link->peer, tendon_monotonic_ms());
    }
    tendon_bluez_attempt_over(radio, link);
}

struct sockaddr_l2 tendon_bluez_name_of(const tendon_address *address) {
    struct sockaddr_l2 name = {.l2_family = AF_BLUETOOTH,
                               .l2_cid = htobs(TENDON_L2CAP_CID_ATT),
                               .l2_bdaddr_type = tendon_bluez_is_random(address) ? BDADDR_LE_RANDOM : BDADDR_LE_PUBLIC};
    tendon_address_to_wire(address, name.l2_bdaddr.b);
    return name;
}

void tendon_bluez_note_ending(tendon_bluez_radio *radio, uint16_t handle, uint8_t cause, uint64_t now) {
    tendon_bluez_kernel_disconnected(&radio->kernel, handle);
    for (size_t i = 0; i < TENDON_BLUEZ_LEAVING; i++) {
        if (radio->leaving[i].handle == handle && radio->leaving[i].until > now) {
            radio->leaving[i].until = now + KERNEL_PAUSE_MS;
            tendon_bluez_wake_at(radio, now + KERNEL_PAUSE_MS);
        }
    }
    radio->endings[radio->next_ending] = (tendon_bluez_disconnect_reason){.handle = handle, .reason = cause};
    radio->next_ending = (uint8_t)((radio->next_ending + 1) % TENDON_BLUEZ_ENDINGS);
}

/** The loop has served the link's socket before it read this event about its connection. */
static bool is_own_event(const tendon_link *link, const tendon_hci_parameters *event) {
    return link->timing.interval == 0 && link->accepted == (event->role == 1) &&
           tendon_address_equal(&link->peer, &event->peer);
}

void tendon_bluez_note_new_handle(tendon_bluez_radio *radio, const tendon_hci_parameters *event) {
    const uint16_t handle = event->handle;
    tendon_bluez_forget_key(radio, handle);
    for (size_t i = 0; i < TENDON_BLUEZ_ENDINGS; i++) {
        if (radio->endings[i].handle == handle) {
            radio->endings[i].reason = 0; /* of the connection that had this handle before */
        }
    }
    for (tendon_link *link = radio->radio.links; link != NULL; link = link->next) {
        if (link->handle == handle && tendon_link_was_open(link) && !is_own_event(link, event)) {
            link->handle = TENDON_BLUEZ_HANDLE_UNKNOWN; /* its own connection has ended */
        }
    }
}

/** The reason that the controller reported for the end of this connection; TENDON_OK: none, or it is not read yet. */
static tendon_status controller_reason(tendon_bluez_radio *radio, const tendon_link *link, bool connecting) {
    if (connecting) {
        uint8_t code = tendon_bluez_attempt_failure(radio, link);
        return code != 0 ? tendon_reason_of_code(code) : TENDON_OK;
    }
    for (size_t i = 0; i < TENDON_BLUEZ_ENDINGS; i++) {
        if (radio->endings[i].handle == link->handle && radio->endings[i].reason != 0) {
            tendon_status status = tendon_reason_of_code(radio->endings[i].reason);
            radio->endings[i].reason = 0;
            return status;
        }
    }
    return TENDON_OK;
}

/** The kernel ends the connections of an adapter that is removed before it reports the removal. */
static bool is_removed(const tendon_bluez_radio *radio) {
    struct hci_dev_info info = {.dev_id = radio->index};
    return ioctl(radio->hci.fd, (tendon_ioctl_request)HCIGETDEVINFO, &info) != 0 && errno == ENODEV;
}

/* The controller's own event has the code that the kernel has converted to this errno. */
tendon_status tendon_bluez_link_reason(tendon_link *link, int number, bool connecting) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)link->radio;
    if (tendon_bluez_failed(radio)) {
        return radio->power.status;
    }
    if (link->state == TENDON_LINK_SECURING &&
        (number == ECONNABORTED || number == EACCES || number == EPERM || number == ENOTCONN)) {
        return tendon_bluez_why_not_encrypted(radio, link);
    }
    tendon_status status = controller_reason(radio, link, connecting);
    if (status != TENDON_OK) {
        return status;
    }
    if (is_removed(radio)) {
        return TENDON_RADIO_ERROR_NO_ADAPTER;
    }
    return tendon_reason_of_errno(number, connecting ? TENDON_ERRNO_OF_CONNECT : TENDON_ERRNO_OF_LINK);
}

/** What the kernel knows of a connection to @p peer; false: it has none. */
static bool connection_to(int hci, const tendon_address *peer, struct hci_conn_info *info) {
    enum { LE_LINK_TYPE = 0x80 };
    union { /* the request, followed by the data that the kernel writes */
        struct hci_conn_info_req request;
        uint8_t bytes[sizeof(struct hci_conn_info_req) + sizeof(struct hci_conn_info)];
    } query;
    memset(&query, 0, sizeof query);
    tendon_address_to_wire(peer, query.request.bdaddr.b);
    query.request.type = LE_LINK_TYPE;
    if (ioctl(hci, (tendon_ioctl_request)HCIGETCONNINFO, &query) != 0) {
        return false;
    }
    memcpy(info, query.bytes + sizeof query.request, sizeof *info);
    return true;
}

/* BT_CONNECTED and BT_CONNECT, hci_conn_info.state */
enum { CONNECTED = 1, CONNECTING = 5 };

static bool is_connecting(const tendon_bluez_radio *radio, const tendon_address *peer) {
    struct hci_conn_info info;
    return connection_to(radio->hci.fd, peer, &info) && info.state == CONNECTING;
}

bool tendon_bluez_is_connected(const tendon_bluez_radio *radio, const tendon_address *peer) {
    struct hci_conn_info info;
    return connection_to(radio->hci.fd, peer, &info) && info.state == CONNECTED;
}

/*
 * Linux 6.1.192 lets a socket send again when the peer sends something while the encryption is in progress: the first
 * PDUs would be unencrypted. And it pairs by itself if it does not have the key of the bond.
 */
static tendon_status is_secured(tendon_link *link) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)link->radio;
    struct hci_conn_info info;
    if (!connection_to(radio->hci.fd, &link->peer, &info) || (info.link_mode & HCI_LM_ENCRYPT) == 0) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    return tendon_bluez_key_of(radio, info.handle) == TENDON_BLUEZ_OTHER_KEY ? TENDON_RADIO_ERROR_OTHER_BOND_STORE
                                                                             : TENDON_OK;
}

/** Of the send buffer, in bytes. A kernel that does not tell: always the same. */
static uint32_t queued(const tendon_link *link) {
    int room = 0;
    return ioctl(link->source.fd, TIOCOUTQ, &room) == 0 ? (uint32_t)room : 0;
}

/** The pending end of a connection, in the place of a past one, or of the oldest. */
static void await_end(tendon_bluez_radio *radio, const tendon_address *peer, uint16_t handle, uint64_t until) {
    tendon_bluez_pending_disconnect *leaving = &radio->leaving[0];
    for (size_t i = 1; i < TENDON_BLUEZ_LEAVING; i++) {
        if (radio->leaving[i].until < leaving->until) {
            leaving = &radio->leaving[i];
        }
    }
    *leaving = (tendon_bluez_pending_disconnect){.peer = *peer, .handle = handle, .until = until};
}

void tendon_bluez_await_kernel(tendon_bluez_radio *radio, const tendon_address *peer, uint64_t now) {
    await_end(radio, peer, TENDON_BLUEZ_HANDLE_UNKNOWN, now + KERNEL_LIMIT_MS);
}

/*
 * The attempt was given up, and connected before the kernel had cancelled it. bluetoothd, which listens for ATT, gets
 * such a connection from Linux 6.12.117 and keeps it: its device does not advertise.
 */
void tendon_bluez_end_given_up(tendon_bluez_radio *radio, uint64_t now) {
    for (size_t i = 0; i < TENDON_BLUEZ_LEAVING; i++) {
        tendon_bluez_pending_disconnect *leaving = &radio->leaving[i];
        if (leaving->until > now && leaving->handle == TENDON_BLUEZ_HANDLE_UNKNOWN &&
            tendon_bluez_is_same_device(&leaving->peer, &radio->kernel.peer)) {
            leaving->handle = radio->kernel.handle;
            leaving->until = now + TENDON_BLUEZ_LEAVING_LIMIT_MS;
            end_latest(radio);
            return;
        }
    }
}

/*
 * A command that another program sends while the kernel waits for the controller's event can make Linux 6.1.192 miss
 * it: the attempt fails after 4 s, and the connection remains. No program would ever end it, and its device does not
 * advertise.
 */
void tendon_bluez_connect_failed_event(tendon_bluez_radio *radio, const tendon_management_event *event) {
    if (event->code != TENDON_MANAGEMENT_CONNECT_FAILED || radio->kernel.handle == TENDON_BLUEZ_HANDLE_UNKNOWN ||
        radio->use == TENDON_BLUEZ_OBSERVER || !tendon_bluez_is_same_device(&event->peer, &radio->kernel.peer)) {
        return;
    }
    end_latest(radio);
}

uint64_t tendon_bluez_free_at(tendon_bluez_radio *radio, const tendon_address *peer, uint64_t now) {
    uint64_t time = 0;
    for (size_t i = 0; i < TENDON_BLUEZ_LEAVING; i++) {
        tendon_bluez_pending_disconnect *leaving = &radio->leaving[i];
        uint64_t until = leaving->until;
        if (until <= now || !tendon_bluez_is_same_device(&leaving->peer, peer)) {
            continue;
        }
        if (leaving->handle == TENDON_BLUEZ_HANDLE_UNKNOWN) {
            if (!is_connecting(radio, peer)) {
                leaving->until = 0;
                continue;
            }
            until = until < now + KERNEL_CHECK_MS ? until : now + KERNEL_CHECK_MS;
        }
        time = until > time ? until : time;
    }
    return time;
}

/*
 * The kernel keeps the connection for 2 s after its last socket is closed. A connect() in this time gets the old one,
 * with its MTU and the subscriptions that the peer still has for it. So the connection is ended here, and a connect to
 * the same peer waits for that.
 */
void tendon_bluez_end_connection(tendon_bluez_radio *radio, const tendon_address *peer, uint16_t handle) {
    tendon_bluez_command command = {.length = 0};
    struct hci_conn_info info;
    if (!connection_to(radio->hci.fd, peer, &info) || info.handle != handle) {
        return; /* handles are reused: one that another peer has by now must not be disconnected */
    }
    await_end(radio, peer, handle, tendon_monotonic_ms() + TENDON_BLUEZ_LEAVING_LIMIT_MS);
    command.length = tendon_hci_command_disconnect(handle, REMOTE_USER_TERMINATED, command.bytes, sizeof command.bytes);
    tendon_bluez_send_and_forget(radio, &command);
}

void tendon_bluez_link_close(tendon_link *link) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)link->radio;
    bool ends = link->state == TENDON_LINK_OPEN && link->handle <= TENDON_HCI_HANDLE_MAX && radio->opened &&
                !tendon_bluez_failed(radio);
    /* First the socket: Linux 6.1.192 crashes when a socket is closed whose connection has ended in the meantime. */
    tendon_socket_link_close(link);
    if (ends) { /* the kernel knows a connection by the identity address once a pairing has revealed it */
        tendon_bluez_end_connection(radio, &link->identity, link->handle);
    }
}

uint32_t tendon_bluez_link_lost(const tendon_link *link) {
    return link->source.fd < 0 ? 0 : tendon_bluez_dropped(link->source.fd);
}

/* ---- accepted links ---- */

/* Connections that centrals make to us: a listening L2CAP socket on the fixed channel 4. */

/** Connections that the kernel makes before they are accepted. */
#define BACKLOG 8

static bool identify(tendon_radio *radio, const struct sockaddr_storage *name, socklen_t length, tendon_address *peer) {
    struct sockaddr_l2 central;
    (void)radio;
    (void)length;
    memcpy(&central, name, sizeof central);
    *peer = tendon_address_from_wire(central.l2_bdaddr.b, central.l2_bdaddr_type == BDADDR_LE_RANDOM
                                                              ? TENDON_ADDRESS_TYPE_RANDOM
                                                              : TENDON_ADDRESS_TYPE_PUBLIC);
    return true;
}

static void accepted(tendon_radio *radio, tendon_link *link, int fd) {
    link->handle = tendon_bluez_handle_of(fd);
    tendon_bluez_link_timing(link);
    tendon_bluez_share_buffers((tendon_bluez_radio *)radio, fd);
    tendon_bluez_ask_for_details(fd);
}

static const tendon_socket_acceptor acceptor = {
    .hooks = &tendon_bluez_link_hooks, .identify = identify, .accepted = accepted};

tendon_status tendon_bluez_listen(tendon_radio *base, tendon_listener *listener) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    if (tendon_bluez_failed(radio)) {
        return radio->power.status;
    }
    if (base->listener != NULL) {
        return TENDON_RADIO_ERROR_ALREADY_STARTED;
    }
    int fd = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
    if (fd < 0) {
        return tendon_bluez_socket_status(errno);
    }
    struct sockaddr_l2 own = tendon_bluez_name_of(&base->address);
    if (bind(fd, (struct sockaddr *)&own, sizeof own) != 0 || listen(fd, BACKLOG) != 0) {
        tendon_status status =
            errno == EADDRINUSE ? TENDON_RADIO_ERROR_ADAPTER_BUSY : tendon_bluez_socket_status(errno);
        close(fd);
        return status;
    }
    tendon_status status = tendon_socket_listener_open(listener, base, fd, &acceptor);
    tendon_bluez_pairing_settle(radio);
    return status;
}

void tendon_bluez_unlisten(tendon_radio *base, tendon_listener *listener) {
    tendon_socket_listener_close(listener, base);
    tendon_bluez_pairing_settle((tendon_bluez_radio *)base);
}

#endif
