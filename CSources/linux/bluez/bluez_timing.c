/* SPDX-License-Identifier: MIT */
/* Connection parameters: those that the kernel requests for our connections, and those that a connection has. */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

/** Longest payload of a data packet on a new connection (Vol 6 Part B 4.5.10). */
#define INITIAL_OCTETS 27

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

/** From now on, also in the link of this connection. */
static void keep(tendon_bluez_radio *radio, uint16_t handle, tendon_connection_timing timing) {
    size_t slot = slot_of(radio, handle, radio->next_timing);
    radio->timings[slot] = (tendon_bluez_timing){.handle = handle, .timing = timing};
    radio->next_timing = (uint8_t)((slot + 1) % TENDON_BLUEZ_TIMINGS);
    for (tendon_link *link = radio->radio.links; link != NULL; link = link->next) {
        if (link->handle == handle && link->state == TENDON_LINK_OPEN) {
            link->timing = timing;
        }
    }
}

/** Without one of these features a controller has LE 1M only. */
static bool has_phys(const tendon_bluez_radio *radio) {
    return (radio->limits.features & (TENDON_BLUEZ_FEATURE_2M | TENDON_BLUEZ_FEATURE_CODED)) != 0;
}

void tendon_bluez_note_timing(tendon_bluez_radio *radio, const tendon_hci_parameters *parameters) {
    tendon_connection_timing timing = {
        .interval = parameters->interval, .latency = parameters->latency, .timeout = parameters->timeout};
    timing.tx_octets = timing.rx_octets = INITIAL_OCTETS;
    timing.tx_phy = timing.rx_phy = has_phys(radio) ? 0 : TENDON_PHY_1M; /* the event does not have it */
    keep(radio, parameters->handle, timing);
}

static uint8_t known_phy(uint8_t phy) {
    return phy <= TENDON_PHY_CODED ? phy : 0;
}

void tendon_bluez_note_change(tendon_bluez_radio *radio, uint8_t subevent, const tendon_hci_parameters *parameters) {
    tendon_connection_timing timing = tendon_bluez_timing_of(radio, parameters->handle);
    if (parameters->status != 0) {
        return; /* an update that was refused: the connection keeps what it has */
    }
    if (subevent == TENDON_HCI_LE_CONNECTION_UPDATE_COMPLETE) {
        timing.interval = parameters->interval;
        timing.latency = parameters->latency;
        timing.timeout = parameters->timeout;
    } else if (subevent == TENDON_HCI_LE_PHY_UPDATE_COMPLETE) {
        timing.tx_phy = known_phy(parameters->tx_phy);
        timing.rx_phy = known_phy(parameters->rx_phy);
    } else if (subevent == TENDON_HCI_LE_DATA_LENGTH_CHANGE) {
        tendon_reader reader = tendon_reader_make(parameters->data, parameters->length);
        timing.tx_octets = tendon_read_u16le(&reader);
        (void)tendon_read_u16le(&reader); /* the time that this takes */
        timing.rx_octets = tendon_read_u16le(&reader);
    } else {
        return;
    }
    if (timing.interval != 0) { /* otherwise a connection that is not known */
        keep(radio, parameters->handle, timing);
    }
}

/* Status, handle, TX PHY, RX PHY. */
void tendon_bluez_phy_read(tendon_bluez_radio *radio, const uint8_t *data, size_t length) {
    tendon_reader reader = tendon_reader_make(data, length);
    tendon_hci_parameters answer = {.status = tendon_read_u8(&reader)};
    answer.handle = tendon_read_u16le(&reader);
    answer.tx_phy = tendon_read_u8(&reader);
    answer.rx_phy = tendon_read_u8(&reader);
    if (tendon_reader_ok(&reader)) {
        tendon_bluez_note_change(radio, TENDON_HCI_LE_PHY_UPDATE_COMPLETE, &answer);
    }
}

/* A device that advertises with the extended commands can have been connected to on another PHY than LE 1M. */
void tendon_bluez_link_timing(tendon_link *link) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)link->radio;
    link->timing = tendon_bluez_timing_of(radio, link->handle);
    if (link->timing.tx_phy == 0 && has_phys(radio) && link->handle <= TENDON_HCI_HANDLE_MAX) {
        const uint8_t handle[] = {(uint8_t)link->handle, (uint8_t)(link->handle >> 8)};
        tendon_bluez_command command;
        command.length =
            tendon_hci_command(TENDON_HCI_LE_READ_PHY, handle, sizeof handle, command.bytes, sizeof command.bytes);
        tendon_bluez_send_and_forget(radio, &command);
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
