/* SPDX-License-Identifier: MIT */
/*
 * Pairing over a connection that is encrypted with an unauthenticated key. Pair Device (management) succeeds without a
 * pairing then, and a higher BT_SECURITY on the ATT socket would leave the socket unusable if the pairing failed. So
 * another socket requires the level: in its connect() the kernel begins to pair. The peer receives nothing about that
 * socket: its channel would be requested after the pairing, and it is closed before.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/** Any dynamic one (Core Spec Vol 3 Part A 4.22); it is not requested. */
#define UNUSED_PSM 0x00FFu

static struct sockaddr_l2 name_of(const tendon_address *address, uint16_t psm) {
    struct sockaddr_l2 name = tendon_bluez_name_of(address);
    name.l2_cid = 0;
    name.l2_psm = htobs(psm);
    return name;
}

/** @return 0, or the errno of the call that failed. */
static int raise_security(int fd, const struct sockaddr_l2 *own, const struct sockaddr_l2 *peer) {
    const struct bt_security security = {.level = BT_SECURITY_HIGH};
    if (bind(fd, (const struct sockaddr *)own, sizeof *own) != 0 ||
        setsockopt(fd, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security) != 0) {
        return errno;
    }
    if (connect(fd, (const struct sockaddr *)peer, sizeof *peer) == 0) {
        return EISCONN; /* nothing was to be raised */
    }
    return errno == EINPROGRESS ? 0 : errno;
}

tendon_status tendon_bluez_authenticate(tendon_bluez_radio *radio, const tendon_link *link) {
    int fd = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
    if (fd < 0) {
        return tendon_bluez_socket_status(errno);
    }
    const struct sockaddr_l2 own = name_of(&radio->radio.address, 0), peer = name_of(&link->identity, UNUSED_PSM);
    int number = raise_security(fd, &own, &peer);
    close(fd);
    return number != 0 ? TENDON_SYSTEM_ERROR(number) : TENDON_OK;
}

#else
typedef int tendon_bluez_authenticate_nothing; /* ISO C requires a declaration in every file */
#endif
