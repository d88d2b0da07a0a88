/* SPDX-License-Identifier: MIT */
/* Connection parameters: those that the kernel requests for our connections, and those that a connection has. */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

/* The list replaces the previous one, so it has the peers of all attempts. The kernel reads it while this call sends
 * it: no response is awaited. Without CAP_NET_ADMIN it is rejected, and the connection has the kernel's parameters. */
void tendon_bluez_load_parameters(tendon_bluez_radio *radio) {
    tendon_management_connection_parameters items[TENDON_BLUEZ_SLOTS];
    uint8_t pdu[TENDON_MANAGEMENT_PDU_MAX];
    _Static_assert(TENDON_MANAGEMENT_HEADER_SIZE + 2 + 15 * TENDON_BLUEZ_SLOTS <= sizeof pdu, "all peers in one list");
    size_t count = 0;
    if (radio->radio.connection.max_interval == 0) {
        return;
    }
    for (size_t i = 0; i < TENDON_BLUEZ_SLOTS; i++) {
        const tendon_link *link = radio->attempts[i].link;
        if (link != NULL) {
            items[count].peer = link->peer;
            items[count].peer.type =
                tendon_bluez_is_random(&link->peer) ? TENDON_ADDRESS_TYPE_RANDOM : TENDON_ADDRESS_TYPE_PUBLIC;
            items[count++].parameters = radio->radio.connection;
        }
    }
    tendon_status size = tendon_management_encode_connection_parameters(radio->index, items, count, pdu, sizeof pdu);
    (void)tendon_bluez_management_write(radio, pdu, size);
}

/** The slot of this connection; @p otherwise: there is none. */
static size_t slot_of(const tendon_bluez_radio *radio, uint16_t handle, size_t otherwise) {
    for (size_t i = 0; i < TENDON_BLUEZ_TIMINGS; i++) {
        if (radio->timings[i].handle == handle && radio->timings[i].timing.interval != 0) {
            return i;
        }
    }
    return otherwise;
}

tendon_connection_timing tendon_bluez_timing_of(const tendon_bluez_radio *radio, uint16_t handle) {
    size_t slot = slot_of(radio, handle, TENDON_BLUEZ_TIMINGS);
    return slot < TENDON_BLUEZ_TIMINGS ? radio->timings[slot].timing : (tendon_connection_timing){0};
}

void tendon_bluez_note_timing(tendon_bluez_radio *radio, const tendon_hci_parameters *parameters) {
    const tendon_connection_timing timing = {
        .interval = parameters->interval, .latency = parameters->latency, .timeout = parameters->timeout};
    if (parameters->status != 0) {
        return; /* an update that was refused: the connection keeps what it has */
    }
    size_t slot = slot_of(radio, parameters->handle, radio->next_timing);
    radio->timings[slot] = (tendon_bluez_timing){.handle = parameters->handle, .timing = timing};
    radio->next_timing = (uint8_t)((slot + 1) % TENDON_BLUEZ_TIMINGS);
    for (tendon_link *link = radio->radio.links; link != NULL; link = link->next) {
        if (link->handle == parameters->handle && link->state == TENDON_LINK_OPEN) {
            link->timing = timing;
        }
    }
}

void tendon_bluez_forget_timing(tendon_bluez_radio *radio, uint16_t handle) {
    size_t slot = slot_of(radio, handle, TENDON_BLUEZ_TIMINGS);
    if (slot < TENDON_BLUEZ_TIMINGS) {
        radio->timings[slot] = (tendon_bluez_timing){.handle = handle};
        radio->next_timing = (uint8_t)slot;
    }
}

#else
typedef int tendon_bluez_timing_nothing; /* ISO C requires a declaration in every file */
#endif
