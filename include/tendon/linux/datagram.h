/* SPDX-License-Identifier: MIT */
/*
 * UDP for outputs: sockets that never block. An address is numeric, of IPv4 or IPv6, the latter with "%INTERFACE" if it
 * is link-local: resolving a name blocks, and belongs to another thread than the loop's.
 */
#ifndef TENDON_LINUX_DATAGRAM_H
#define TENDON_LINUX_DATAGRAM_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of the text of an address and its port, "[fe80::1%eth0]:9000", with the terminator. */
enum { TENDON_DATAGRAM_ADDRESS_SIZE = 80 };

/**
 * Opens a socket that sends to one address, which can be a broadcast address of IPv4.
 * @return its descriptor, which the caller closes with tendon_datagram_close(); TENDON_ERROR_INVALID_ARGUMENT: @p
 * address is no address; TENDON_SYSTEM_ERROR, for example of ENETUNREACH while the network is not up.
 */
tendon_status tendon_datagram_connect(const char *address, uint16_t port);

/** Opens a socket that receives on an address of this machine. @param port 0: any that is free. Errors as above. */
tendon_status tendon_datagram_listen(const char *address, uint16_t port);

/** Returns the port of a socket. */
tendon_status tendon_datagram_port(int descriptor);

/**
 * Sends one datagram.
 * @return TENDON_OK; TENDON_ERROR_WOULD_BLOCK: the socket has no room, the datagram is dropped;
 *   TENDON_SYSTEM_ERROR(ECONNREFUSED): the machine reported that no socket listens there. What it reports is about an
 * earlier datagram, so this one is sent all the same.
 */
tendon_status tendon_datagram_send(int descriptor, const uint8_t *bytes, size_t length);

/**
 * Receives one datagram.
 * @param sender set to the text of its sender; TENDON_DATAGRAM_ADDRESS_SIZE bytes, or NULL.
 * @return its length; TENDON_ERROR_WOULD_BLOCK: there is none; TENDON_ERROR_OVERFLOW: it was longer than @p capacity,
 * and is gone; TENDON_SYSTEM_ERROR.
 */
tendon_status tendon_datagram_receive(int descriptor, uint8_t *out, size_t capacity, char *sender);

void tendon_datagram_close(int descriptor);

/** Like tendon_status_text(), with the system's text of a system error: networks have others than Bluetooth. */
const char *tendon_datagram_status_text(tendon_status status);

#ifdef __cplusplus
}
#endif
#endif
