/* SPDX-License-Identifier: MIT */
/*
 * A listening SOCK_SEQPACKET socket, shared by the virtual radio and the kernel's radio. Internal to linux and
 * linux/adapter.
 */
#ifndef TENDON_SOCKET_LISTENER_H
#define TENDON_SOCKET_LISTENER_H

#include "socket_link.h"

#include <sys/socket.h>

/** Maximum number of centrals that are accepted per wake-up. */
#define TENDON_SOCKET_LISTENER_BATCH 8

/** The differences between radios. Constant. */
typedef struct tendon_socket_acceptor {
    const tendon_socket_hooks *hooks; /**< of the accepted links */
    /** The address of the central. False: the socket belongs to no central, and is closed. */
    bool (*identify)(tendon_radio *radio, const struct sockaddr_storage *name, socklen_t length, tendon_address *peer);
    /** Sets the link's handle; called before the link adopts @p fd. */
    void (*accepted)(tendon_radio *radio, tendon_link *link, int fd);
} tendon_socket_acceptor;

/** Accepts centrals from @p fd, which is bound and listens, until close(). Owns @p fd from here on, also on error. */
tendon_status tendon_socket_listener_open(tendon_listener *listener, tendon_radio *radio, int fd,
                                          const tendon_socket_acceptor *acceptor);
/** Does nothing if the radio listens for another one, or not at all. */
void tendon_socket_listener_close(tendon_listener *listener, tendon_radio *radio);

#endif
