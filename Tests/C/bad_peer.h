/* SPDX-License-Identifier: MIT */
/*
 * For recorded runs: a simulated device whose PDUs are damaged on their way. A response becomes an error, is cut,
 * changed, lost or comes twice. And inputs of a session that nothing has requested.
 */
#ifndef BAD_PEER_H
#define BAD_PEER_H

#include "test_recording.h"

#include "tendon/host/peripheral.h"
#include "tendon/host/session.h"

typedef struct bad_peer {
    tendon_peripheral_ops ops;
    const tendon_peripheral_ops *good;
    tendon_bearer_io io;
    recording *r;
    unsigned every; /**< about one PDU in so many */
} bad_peer;

static bad_peer the_bad_peer;

static tendon_status bad_send(void *context, const uint8_t *pdu, size_t length) {
    bad_peer *b = context;
    recording *r = b->r;
    uint8_t bytes[520];
    bool is_response = (pdu[0] & 1) != 0 && pdu[0] != 0x01 && pdu[0] != 0x1B && pdu[0] != 0x1D;
    if (length > sizeof bytes || choose(r, b->every) != 0) {
        return b->io.send(b->io.context, pdu, length);
    }
    memcpy(bytes, pdu, length);
    unsigned way = choose(r, 6);
    if (way == 0) {
        return TENDON_OK; /* lost */
    }
    if (way == 1) {
        (void)b->io.send(b->io.context, pdu, length);
    } else if (way == 2) {
        length -= choose(r, (unsigned)length);
    } else if (way == 3 || !is_response) {
        bytes[choose(r, (unsigned)length)] = (uint8_t)choose(r, choose(r, 2) == 0 ? 4 : 256);
    } else {
        const uint8_t error[5] = {0x01, (uint8_t)(pdu[0] - 1), 1, 0, (uint8_t)(1 + choose(r, 0x13))};
        memcpy(bytes, error, sizeof error);
        length = sizeof error;
    }
    note_bytes(r, "damaged", bytes, length);
    return b->io.send(b->io.context, bytes, length);
}

static tendon_status bad_connected(void *device, tendon_att_bearer *bearer, uint64_t now) {
    the_bad_peer.io = bearer->io;
    bearer->io = (tendon_bearer_io){&the_bad_peer, bad_send};
    return the_bad_peer.good->connected(device, bearer, now);
}

/** @p device, damaged. All devices of a test have the same type. */
static inline tendon_peripheral_device bad_peer_of(recording *r, tendon_peripheral_device device, unsigned every) {
    the_bad_peer = (bad_peer){.ops = *device.ops, .good = device.ops, .r = r, .every = every};
    the_bad_peer.ops.connected = bad_connected;
    return (tendon_peripheral_device){.ops = &the_bad_peer.ops, .context = device.context};
}

/** The result of a pairing that nobody awaits, or a timer that fires early. */
static inline void stray_input(recording *r, const tendon_session_inputs *inputs, void *session, uint64_t now) {
    static const tendon_status results[] = {TENDON_OK, TENDON_RADIO_ERROR_PAIRING_FAILED, TENDON_ERROR_CANCELLED,
                                            TENDON_RADIO_ERROR_ADAPTER_BUSY};
    unsigned what = choose(r, 3);
    note(r, "stray %u", what);
    if (what == 0) {
        inputs->tick(session, now);
    } else if (inputs->paired != NULL) {
        inputs->paired(session, results[choose(r, 4)], now);
    }
}

#endif
