/* SPDX-License-Identifier: MIT */
#include "socket_listener.h"

#include <errno.h>
#include <unistd.h>

/** Pause of a listener when the process has no free descriptor. */
#define PAUSE_MS 100u

/** Stops reading, so that the loop does not spin: for a while, or until the listener is closed. */
static void accept_failed(tendon_listener *listener, int number, uint64_t now) {
    if (number == EAGAIN || number == EINTR || number == ECONNABORTED) {
        return;
    }
    if (number == EMFILE || number == ENFILE || number == ENOBUFS || number == ENOMEM) {
        listener->source.deadline = now + PAUSE_MS; /* the central waits in the queue of the socket */
    }
    (void)tendon_loop_update(listener->radio->loop, &listener->source, 0);
}

/** @return false if there is nothing more to accept, or if accept() closed this listener. */
static bool accept_one(tendon_listener *listener, uint64_t now) {
    tendon_radio *radio = listener->radio;
    const tendon_socket_acceptor *acceptor = listener->acceptor;
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    int fd = accept4(listener->source.fd, (struct sockaddr *)&name, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        accept_failed(listener, errno, now);
        return false;
    }
    tendon_address peer;
    if (!acceptor->identify(radio, &name, length, &peer)) {
        close(fd);
        return true;
    }
    tendon_link *link = listener->accept(listener->context, &peer, now);
    if (link == NULL || tendon_socket_link_begin(link, radio, acceptor->hooks, &peer, true, UINT64_MAX) < 0) {
        close(fd);
    } else {
        acceptor->accepted(radio, link, fd);
        tendon_status status = tendon_socket_link_adopt(link, fd);
        if (status < 0) {
            tendon_socket_link_fail(link, status); /* closed() follows: the owner has given this link away */
        }
    }
    return radio->listener == listener;
}

static void ready(void *context, uint32_t events, uint64_t now) {
    (void)events;
    for (int i = 0; i < TENDON_SOCKET_LISTENER_BATCH && accept_one(context, now); i++) {
    }
}

static void expired(void *context, uint64_t now) {
    tendon_listener *listener = context;
    (void)now;
    listener->source.deadline = UINT64_MAX;
    (void)tendon_loop_update(listener->radio->loop, &listener->source, TENDON_READABLE);
}

tendon_status tendon_socket_listener_open(tendon_listener *listener, tendon_radio *radio, int fd,
                                          const tendon_socket_acceptor *acceptor) {
    tendon_source_init(&listener->source, fd, listener, ready, expired);
    listener->source.interest = TENDON_READABLE;
    tendon_status status = tendon_loop_add(radio->loop, &listener->source);
    if (status < 0) {
        close(fd);
        return status;
    }
    listener->acceptor = acceptor;
    listener->radio = radio;
    radio->listener = listener;
    return TENDON_OK;
}

void tendon_socket_listener_close(tendon_listener *listener, tendon_radio *radio) {
    if (listener == NULL || radio->listener != listener) {
        return;
    }
    tendon_loop_remove(radio->loop, &listener->source);
    close(listener->source.fd);
    listener->source.fd = -1;
    radio->listener = NULL;
}
