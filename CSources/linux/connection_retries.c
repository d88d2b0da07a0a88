/* SPDX-License-Identifier: MIT */
/* Why connections fail, which attempts are repeated, and the random part of the pauses between them. */
#include "connection_parts.h"
#include "reasons.h"
#include "tendon/linux/connection.h"

#include <errno.h>

enum {
    SOCKET = TENDON_ERRNO_OF_SOCKET,
    LINK = TENDON_ERRNO_OF_LINK,
    CONNECT = TENDON_ERRNO_OF_CONNECT,
    BLUETOOTH = LINK | CONNECT,
    ANY = SOCKET | BLUETOOTH,
    NO_CODE = 0x100,
    NO_ERRNO = -1
};

/*
 * Linux turns an HCI error code into an errno (bt_to_errno() in net/bluetooth/lib.c), several codes into one. The first
 * row with an errno is what that errno alone is taken for; the controller's own event has the code. The codes are in
 * Core Spec Vol 1 Part F.
 */
static const struct row {
    uint16_t code; /* NO_CODE: the controller has none for it */
    int16_t number;
    uint8_t of; /* the sockets whose errno it is */
    bool retried;
    tendon_status reason;
} table[] = {
    /* The peer does not answer, or no more. */
    {0x08, ETIMEDOUT, ANY, true, TENDON_RADIO_ERROR_OUT_OF_RANGE}, /* connection timeout */
    {0x10, ETIMEDOUT, ANY, true, TENDON_RADIO_ERROR_OUT_OF_RANGE}, /* connection accept timeout */
    {0x04, EHOSTDOWN, ANY, true, TENDON_RADIO_ERROR_OUT_OF_RANGE}, /* page timeout */
    {0x3C, EHOSTDOWN, ANY, true, TENDON_RADIO_ERROR_OUT_OF_RANGE}, /* advertising timeout */
    {NO_CODE, EHOSTUNREACH, SOCKET, true, TENDON_RADIO_ERROR_OUT_OF_RANGE},
    {0x3E, ENOSYS, BLUETOOTH, true, TENDON_HCI_ERROR(0x3E)}, /* failed to be established; of all without an errno */
    {0x22, ENOSYS, BLUETOOTH, true, TENDON_HCI_ERROR(0x22)}, /* LL response timeout */
    {0x28, ENOSYS, BLUETOOTH, true, TENDON_HCI_ERROR(0x28)}, /* instant passed */
    /* The peer ends the connection: by its user, for low resources, for power-off. */
    {0x13, ECONNRESET, ANY, true, TENDON_RADIO_ERROR_PEER_CLOSED},
    {0x14, ECONNRESET, ANY, true, TENDON_RADIO_ERROR_PEER_CLOSED},
    {0x15, ECONNRESET, ANY, true, TENDON_RADIO_ERROR_PEER_CLOSED},
    {0x02, ENOTCONN, CONNECT, true, TENDON_HCI_ERROR(0x02)}, /* unknown identifier: it was lost while it was made */
    {NO_CODE, ENOTCONN, SOCKET | LINK, true, TENDON_RADIO_ERROR_PEER_CLOSED},
    {NO_CODE, EPIPE, ANY, true, TENDON_RADIO_ERROR_PEER_CLOSED},
    {NO_CODE, 0, ANY, true, TENDON_RADIO_ERROR_PEER_CLOSED},
    {NO_CODE, NO_ERRNO, 0, true, TENDON_ERROR_DISCONNECTED},
    /* This side ends it, or rejects it for now. */
    {0x16, ECONNABORTED, BLUETOOTH, true, TENDON_HCI_ERROR(0x16)},   /* by the local host: the controller was reset */
    {0x0D, ECONNREFUSED, BLUETOOTH, true, TENDON_HCI_ERROR(0x0D)},   /* limited resources: until a connection ends */
    {0x0C, EBUSY, BLUETOOTH, true, TENDON_RADIO_ERROR_ADAPTER_BUSY}, /* command disallowed: another connect or scan */
    {0x0B, EALREADY, BLUETOOTH, true, TENDON_RADIO_ERROR_ADAPTER_BUSY}, /* connection exists: of another program */
    {0x3A, NO_ERRNO, 0, true, TENDON_HCI_ERROR(0x3A)},                  /* controller busy */
    {0x03, EIO, BLUETOOTH, true, TENDON_HCI_ERROR(0x03)},               /* hardware failure */
    {NO_CODE, EIO, SOCKET, true, TENDON_SYSTEM_ERROR(EIO)},
    {NO_CODE, EBUSY, SOCKET, true, TENDON_SYSTEM_ERROR(EBUSY)},
    {NO_CODE, ECONNABORTED, SOCKET, true, TENDON_SYSTEM_ERROR(ECONNABORTED)},
    {NO_CODE, ECONNREFUSED, SOCKET, true, TENDON_SYSTEM_ERROR(ECONNREFUSED)},
    {NO_CODE, EAGAIN, ANY, true, TENDON_SYSTEM_ERROR(EAGAIN)},
    {NO_CODE, EINTR, ANY, true, TENDON_SYSTEM_ERROR(EINTR)},
    {NO_CODE, NO_ERRNO, 0, true, TENDON_RADIO_ERROR_COMMAND_TIMEOUT},
    {NO_CODE, NO_ERRNO, 0, true, TENDON_ERROR_BUSY},
    /* Another attempt ends in the same way. */
    {0x0E, ECONNREFUSED, BLUETOOTH, false, TENDON_HCI_ERROR(0x0E)}, /* rejected: security */
    {0x0F, ECONNREFUSED, BLUETOOTH, false, TENDON_HCI_ERROR(0x0F)}, /* rejected: this address */
    {0x09, EMLINK, BLUETOOTH, false, TENDON_HCI_ERROR(0x09)},       /* connection limit: the caller ends another one */
    {NO_CODE, EACCES, BLUETOOTH, false, TENDON_RADIO_ERROR_PAIRING_FAILED},
    {NO_CODE, EACCES, SOCKET, false, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
    {NO_CODE, EPERM, ANY, false, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
    {NO_CODE, EHOSTUNREACH, BLUETOOTH, false, TENDON_RADIO_ERROR_ADAPTER_DOWN}, /* no adapter with our address is on */
    {NO_CODE, ENETDOWN, BLUETOOTH, false, TENDON_RADIO_ERROR_ADAPTER_DOWN},
};
enum { ROWS = sizeof table / sizeof table[0] };

tendon_status tendon_reason_of_errno(int number, tendon_errno_of which) {
    for (size_t i = 0; i < ROWS; i++) {
        if (table[i].number == number && (table[i].of & which) != 0) {
            return table[i].reason;
        }
    }
    return TENDON_SYSTEM_ERROR(number);
}

tendon_status tendon_reason_of_code(uint8_t code) {
    for (size_t i = 0; i < ROWS; i++) {
        if (table[i].code == code) {
            return table[i].reason;
        }
    }
    return TENDON_HCI_ERROR(code);
}

/* A radio may report the code itself, too. */
bool tendon_connection_retries(tendon_status reason) {
    for (size_t i = 0; i < ROWS; i++) {
        if (table[i].reason == reason || (table[i].code != NO_CODE && reason == TENDON_HCI_ERROR(table[i].code))) {
            return table[i].retried;
        }
    }
    return false;
}

/* xorshift, 32 bits: any sequence does that is not that of the next gateway. */
uint32_t tendon_connection_next_jitter(void *context) {
    tendon_connection *connection = context;
    uint32_t x = connection->jitter_state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return connection->jitter_state = x;
}

uint32_t tendon_connection_seed(const tendon_radio *radio, const tendon_address *peer) {
    uint32_t value = (uint32_t)tendon_monotonic_ms();
    for (size_t i = 0; i < sizeof peer->bytes; i++) {
        value = value * 33u + peer->bytes[i] * 257u + radio->address.bytes[i];
    }
    return value | 1u;
}
