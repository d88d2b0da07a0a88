/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections that centrals make to us: a listening L2CAP socket on the fixed channel 4. */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/** Maximum number of centrals accepted per wake-up. */
#define ACCEPT_BATCH 8
/** Pause of a listener when the process has no free descriptor. */
#define ACCEPT_PAUSE_MS 100u

static bool accept_one(tendon_listener *listener, uint64_t now) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)listener->radio;
    struct sockaddr_l2 name;
    memset(&name, 0, sizeof name);
    socklen_t size = sizeof name;
    int fd = accept4(listener->source.fd, (struct sockaddr *)&name, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* The central waits in the queue; without the pause the loop would spin. */
            (void)tendon_loop_update(radio->radio.loop, &listener->source, 0);
            listener->source.deadline = now + ACCEPT_PAUSE_MS;
        } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
            /* The adapter is off or removed; the management socket reports it too. */
            (void)tendon_loop_update(radio->radio.loop, &listener->source, 0);
        }
        return false;
    }
    tendon_address peer = tendon_address_from_wire(name.l2_bdaddr.b, name.l2_bdaddr_type == BDADDR_LE_RANDOM
                                                                         ? TENDON_ADDRESS_TYPE_RANDOM
                                                                         : TENDON_ADDRESS_TYPE_PUBLIC);
    tendon_link *link = listener->accept(listener->context, &peer, now);
    if (link == NULL ||
        tendon_socket_link_begin(link, &radio->radio, &tendon_bluez_link_hooks, &peer, true, UINT64_MAX) < 0) {
        close(fd);
    } else {
        link->handle = tendon_bluez_handle_of(fd);
        tendon_bluez_share_buffers(radio, fd);
        tendon_status status = tendon_socket_link_adopt(link, fd);
        if (status < 0) {
            tendon_socket_link_fail(link, status); /* closed() follows: the owner has given this link away */
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
    if (tendon_bluez_failed(radio)) {
        return radio->power.status;
    }
    if (radio->listener != NULL) {
        return TENDON_RADIO_ERROR_ALREADY_STARTED;
    }
    int fd = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
    if (fd < 0) {
        return tendon_bluez_socket_status(errno);
    }
    struct sockaddr_l2 own = tendon_bluez_name_of(&base->address);
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
typedef int tendon_bluez_listen_nothing; /* ISO C wants a declaration in every file */
#endif
