/* SPDX-License-Identifier: MIT */
/* Connection parameters: those that the kernel requests for our connections, and those that a connection has. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>

/** Longest payload of a data packet on a new connection (Vol 6 Part B 4.5.10). */
#define INITIAL_OCTETS 27

/** Those of a kernel that was given none. */
static const tendon_connection_parameters kernel_parameters = {.min_interval = 24, .max_interval = 40, .timeout = 42};

/* The list replaces the previous one, so it has the peers of all attempts. The kernel reads it while this call sends
 * it: no response is awaited. Without CAP_NET_ADMIN it is rejected, and the connection has the kernel's parameters.
 * Those are loaded for a device with private addresses, because the kernel keeps its flags with them. */
void tendon_bluez_load_parameters(tendon_bluez_radio *radio) {
    tendon_management_connection_parameters items[TENDON_BLUEZ_SLOTS];
    uint8_t pdu[TENDON_MANAGEMENT_PDU_MAX];
    _Static_assert(TENDON_MANAGEMENT_HEADER_SIZE + 2 + 15 * TENDON_BLUEZ_SLOTS <= sizeof pdu, "all peers in one list");
    size_t count = 0;
    const bool chosen = radio->radio.connection.max_interval != 0;
    for (size_t i = 0; i < TENDON_BLUEZ_SLOTS; i++) {
        const tendon_link *link = radio->attempts[i].link;
        if (link != NULL && (chosen || tendon_bluez_is_resolved(radio, &link->peer))) {
            items[count].peer = link->peer;
            items[count].peer.type =
                tendon_bluez_is_random(&link->peer) ? TENDON_ADDRESS_TYPE_RANDOM : TENDON_ADDRESS_TYPE_PUBLIC;
            items[count++].parameters = chosen ? radio->radio.connection : kernel_parameters;
        }
    }
    if (count == 0) {
        return;
    }
    tendon_status size = tendon_management_encode_connection_parameters(radio->index, items, count, pdu, sizeof pdu);
    (void)tendon_bluez_management_write(radio, pdu, size);
}

/** The slot of this connection; TENDON_BLUEZ_TIMINGS: there is none. */
static size_t slot_of(const tendon_bluez_radio *radio, uint16_t handle) {
    size_t slot = 0;
    while (slot < TENDON_BLUEZ_TIMINGS &&
           (radio->timings[slot].handle != handle || radio->timings[slot].timing.interval == 0)) {
        slot++;
    }
    return slot;
}

/** A slot for a new connection: a free one, or the one that was taken longest ago. */
static size_t take_slot(tendon_bluez_radio *radio) {
    for (size_t i = 0; i < TENDON_BLUEZ_TIMINGS; i++) {
        size_t slot = (radio->next_timing + i) % TENDON_BLUEZ_TIMINGS;
        if (radio->timings[slot].timing.interval == 0) {
            return slot;
        }
    }
    return radio->next_timing;
}

tendon_connection_timing tendon_bluez_timing_of(const tendon_bluez_radio *radio, uint16_t handle) {
    size_t slot = slot_of(radio, handle);
    return slot < TENDON_BLUEZ_TIMINGS ? radio->timings[slot].timing : (tendon_connection_timing){0};
}

/** From now on, also in the link of this connection. */
static void keep(tendon_bluez_radio *radio, uint16_t handle, tendon_connection_timing timing) {
    size_t slot = slot_of(radio, handle);
    if (slot == TENDON_BLUEZ_TIMINGS) {
        slot = take_slot(radio);
        radio->next_timing = (uint8_t)((slot + 1) % TENDON_BLUEZ_TIMINGS);
    }
    radio->timings[slot] = (tendon_bluez_timing){.handle = handle, .timing = timing};
    for (tendon_link *link = radio->radio.links; link != NULL; link = link->next) {
        if (link->handle == handle) {
            link->timing = timing;
        }
    }
}

/** Without one of these features a controller has LE 1M only. */
static bool has_phys(const tendon_bluez_radio *radio) {
    return (radio->limits.features & (TENDON_BLUEZ_FEATURE_2M | TENDON_BLUEZ_FEATURE_CODED)) != 0;
}

bool tendon_bluez_note_timing(tendon_bluez_radio *radio, const tendon_hci_parameters *parameters) {
    bool is_new = parameters->interval != 0 && slot_of(radio, parameters->handle) == TENDON_BLUEZ_TIMINGS;
    tendon_connection_timing timing = {
        .interval = parameters->interval, .latency = parameters->latency, .timeout = parameters->timeout};
    timing.tx_octets = timing.rx_octets = INITIAL_OCTETS;
    timing.tx_phy = timing.rx_phy = has_phys(radio) ? 0 : TENDON_PHY_1M; /* the event does not have it */
    keep(radio, parameters->handle, timing);
    return is_new;
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

/** Sends a command about a link: its handle, then @p rest. */
static tendon_status send_about(const tendon_link *link, uint16_t opcode, const uint8_t *rest, size_t size) {
    tendon_bluez_command command;
    uint8_t parameters[16] = {(uint8_t)link->handle, (uint8_t)(link->handle >> 8)};
    if (size > 0) {
        memcpy(parameters + 2, rest, size);
    }
    command.length = tendon_hci_command(opcode, parameters, 2 + size, command.bytes, sizeof command.bytes);
    return tendon_bluez_send_command(((tendon_bluez_radio *)link->radio)->hci.fd, &command)
               ? TENDON_OK
               : tendon_bluez_socket_status(errno);
}

static tendon_status ask_timing(const tendon_link *link, const tendon_connection_parameters *wanted) {
    uint8_t rest[12];
    tendon_writer writer = tendon_writer_make(rest, sizeof rest);
    tendon_write_u16le(&writer, wanted->min_interval);
    tendon_write_u16le(&writer, wanted->max_interval);
    tendon_write_u16le(&writer, wanted->latency);
    tendon_write_u16le(&writer, wanted->timeout);
    tendon_write_u32le(&writer, 0); /* length of a connection event: no wish */
    return send_about(link, TENDON_HCI_LE_CONNECTION_UPDATE, rest, sizeof rest);
}

/* Both directions, without a wish for the coding of LE Coded. */
static tendon_status ask_phy(const tendon_link *link, const tendon_connection_parameters *wanted) {
    const uint8_t phys = (uint8_t)(1u << wanted->phy >> 1); /* bit 0: LE 1M */
    const uint8_t rest[] = {0, phys, phys, 0, 0};
    return wanted->phy == 0 ? TENDON_OK : send_about(link, TENDON_HCI_LE_SET_PHY, rest, sizeof rest);
}

/* The longest time that so many octets take (Vol 6 Part B 2.1 and 2.2): on LE 1M, or on LE Coded with eight symbols for
 * a bit. Older controllers reject the latter. */
static tendon_status ask_length(const tendon_link *link, const tendon_connection_parameters *wanted) {
    const unsigned octets = wanted->tx_octets;
    const bool coded = (wanted->phy != 0 ? wanted->phy : link->timing.tx_phy) == TENDON_PHY_CODED;
    const unsigned us = coded ? 400 + (octets + 9) * 64 : (octets + 14) * 8;
    const uint8_t rest[] = {(uint8_t)octets, (uint8_t)(octets >> 8), (uint8_t)us, (uint8_t)(us >> 8)};
    return octets == 0 ? TENDON_OK : send_about(link, TENDON_HCI_LE_SET_DATA_LENGTH, rest, sizeof rest);
}

static bool has_phy(const tendon_bluez_radio *radio, uint8_t phy) {
    static const uint64_t features[] = {
        [TENDON_PHY_2M] = TENDON_BLUEZ_FEATURE_2M, [TENDON_PHY_CODED] = TENDON_BLUEZ_FEATURE_CODED};
    return phy <= TENDON_PHY_1M || (radio->limits.features & features[phy]) != 0;
}

static bool has_length(const tendon_bluez_radio *radio) {
    return (radio->limits.features & TENDON_BLUEZ_FEATURE_DATA_LENGTH) != 0;
}

/* The PHY is read because the event of a new connection does not have it: a device that advertises with the extended
 * commands can have been connected to on another one than LE 1M. A command that is not sent or is refused changes
 * nothing: the connection is as good as it was. */
void tendon_bluez_link_timing(tendon_link *link) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)link->radio;
    const tendon_connection_parameters *wanted = &radio->radio.connection;
    link->timing = tendon_bluez_timing_of(radio, link->handle);
    if (link->handle > TENDON_HCI_HANDLE_MAX) {
        return;
    }
    if (link->timing.tx_phy == 0 && has_phys(radio)) {
        (void)send_about(link, TENDON_HCI_LE_READ_PHY, NULL, 0);
    }
    if (!link->accepted && has_phys(radio) && has_phy(radio, wanted->phy)) {
        (void)ask_phy(link, wanted);
    }
    if (!link->accepted && has_length(radio)) {
        (void)ask_length(link, wanted);
    }
}

tendon_status tendon_bluez_set_parameters(tendon_link *link, const tendon_connection_parameters *parameters) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)link->radio;
    if (tendon_bluez_failed(radio)) {
        return radio->power.status;
    }
    if (radio->unprivileged) {
        return TENDON_RADIO_ERROR_NO_CAP_NET_RAW;
    }
    if (link->handle > TENDON_HCI_HANDLE_MAX) {
        return TENDON_ERROR_WRONG_STATE; /* the connection has ended */
    }
    if (!has_phy(radio, parameters->phy) || (parameters->tx_octets != 0 && !has_length(radio))) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    tendon_status status = ask_timing(link, parameters);
    if (status == TENDON_OK && has_phys(radio)) {
        status = ask_phy(link, parameters);
    }
    return status == TENDON_OK ? ask_length(link, parameters) : status;
}

bool tendon_bluez_forget_timing(tendon_bluez_radio *radio, uint16_t handle) {
    size_t slot = slot_of(radio, handle);
    bool known = slot < TENDON_BLUEZ_TIMINGS;
    if (known) {
        radio->timings[slot] = (tendon_bluez_timing){.handle = handle};
    }
    return known;
}

/* ---- LE Coded ---- */

/* Connections on LE Coded: the kernel looks for a device on the PHYs that the adapter is configured for, which do not
 * include LE Coded by default. */

/** LE Coded TX and RX in the PHYs of the management interface (doc/mgmt-api.txt, Get PHY Configuration). */
#define CODED (UINT32_C(1) << 13 | UINT32_C(1) << 14)

/* No response is awaited: without it, only the devices that need LE Coded are out of reach, as before. */
void tendon_bluez_allow_coded(tendon_bluez_radio *radio) {
    (void)tendon_bluez_management_send(radio, TENDON_MANAGEMENT_GET_PHYS, NULL, 0);
}

void tendon_bluez_phys_event(tendon_bluez_radio *radio, const tendon_management_event *event) {
    tendon_reader reader = tendon_reader_make(event->data, event->length);
    (void)tendon_read_u32le(&reader); /* supported */
    const uint32_t configurable = tendon_read_u32le(&reader), selected = tendon_read_u32le(&reader);
    const uint32_t wanted = selected | (configurable & CODED);
    if (!tendon_reader_ok(&reader) || event->status != TENDON_MANAGEMENT_SUCCESS || wanted == selected ||
        !radio->scan.parameters.coded) { /* another program's, or the radio does not want it any more */
        return;
    }
    uint8_t phys[4];
    tendon_writer writer = tendon_writer_make(phys, sizeof phys);
    tendon_write_u32le(&writer, wanted);
    (void)tendon_bluez_management_send(radio, TENDON_MANAGEMENT_SET_PHYS, phys, sizeof phys);
}

#endif
