/* SPDX-License-Identifier: MIT */
/* Which attempts to connect are repeated, and the random part of the pauses between them. */
#include "connection_internal.h"
#include "tendon/linux/connection.h"

#include <errno.h>

bool tendon_connection_retries(tendon_status reason) {
    switch (reason) {
    case TENDON_RADIO_ERROR_OUT_OF_RANGE:
    case TENDON_RADIO_ERROR_PEER_CLOSED:
    case TENDON_RADIO_ERROR_COMMAND_TIMEOUT:
    case TENDON_RADIO_ERROR_ADAPTER_BUSY: /* another program's connect or scan is in the way */
    case TENDON_ERROR_BUSY:
    case TENDON_ERROR_DISCONNECTED:
    case TENDON_HCI_ERROR(0x02): /* unknown connection identifier: the controller lost it while it was made */
    case TENDON_HCI_ERROR(0x08): /* connection timeout */
    case TENDON_HCI_ERROR(0x0C): /* command disallowed: the same, of a radio that passes the code on */
    case TENDON_HCI_ERROR(0x3A): /* controller busy */
    case TENDON_HCI_ERROR(0x3E): /* connection failed to be established */
    case TENDON_SYSTEM_ERROR(ECONNABORTED):
    case TENDON_SYSTEM_ERROR(ECONNREFUSED):
    case TENDON_SYSTEM_ERROR(EBUSY):
    case TENDON_SYSTEM_ERROR(EAGAIN):
    case TENDON_SYSTEM_ERROR(EINTR):
    case TENDON_SYSTEM_ERROR(EIO):
        return true;
    default:
        return false;
    }
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
