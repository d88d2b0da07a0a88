/* SPDX-License-Identifier: MIT */
/* Connections that centrals make to us: a listening L2CAP socket on the fixed channel 4. */
#if defined(TENDON_HAVE_BLUEZ)
#include "../socket_listener.h"
#include "adapter.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

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
    tendon_bluez_count_dropped(fd);
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

#else
typedef int tendon_bluez_listen_nothing; /* ISO C requires a declaration in every file */
#endif
