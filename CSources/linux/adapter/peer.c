/* SPDX-License-Identifier: MIT */
/* What is known of one peer and its connection, and commands of the management socket about it. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

tendon_status tendon_bluez_about(tendon_bluez_radio *radio, uint16_t opcode, const tendon_address *peer, size_t size,
                                 uint32_t more) {
    uint8_t data[TENDON_MANAGEMENT_ADDRESS_SIZE + 4];
    tendon_writer writer = tendon_writer_make(data, sizeof data);
    tendon_management_write_address(&writer, peer);
    for (size_t i = 0; i < size; i++) {
        tendon_write_u8(&writer, (uint8_t)(more >> (8 * i)));
    }
    return tendon_bluez_management_send(radio, opcode, data, writer.length);
}

tendon_link *tendon_bluez_link_of(const tendon_bluez_radio *radio, const tendon_address *peer) {
    tendon_link *link = radio->radio.links;
    while (link != NULL && (link->state != TENDON_LINK_OPEN || (!tendon_address_equal(&link->peer, peer) &&
                                                                !tendon_address_equal(&link->identity, peer)))) {
        link = link->next;
    }
    return link;
}

static tendon_status ask_now(tendon_bluez_radio *radio, tendon_link *link) {
    tendon_status status =
        tendon_bluez_about(radio, TENDON_MANAGEMENT_GET_CONNECTION_INFORMATION, &link->identity, 0, 0);
    link->signal_wanted = false;
    radio->signal_until = status >= 0 ? tendon_monotonic_ms() + TENDON_BLUEZ_SIGNAL_LIMIT_MS : 0;
    return status;
}

/* One at a time: the kernel waits 2 s for a controller that has stopped, for each of them, and powers the adapter off
 * after those that it has. Its answer is lost if the receive buffer is full. */
tendon_status tendon_bluez_ask_signal(tendon_radio *base, tendon_link *link) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    link->signal_wanted = tendon_monotonic_ms() < radio->signal_until;
    return link->signal_wanted ? TENDON_OK : ask_now(radio, link);
}

static void ask_next(tendon_bluez_radio *radio) {
    radio->signal_until = 0;
    for (tendon_link *link = radio->radio.links; link != NULL && radio->signal_until == 0; link = link->next) {
        if (link->signal_wanted && link->state == TENDON_LINK_OPEN) {
            (void)ask_now(radio, link);
        }
    }
}

/* Address, type, RSSI, two values of the transmitted power. Another program's question is answered to that program. */
void tendon_bluez_signal_event(tendon_bluez_radio *radio, const tendon_management_event *event) {
    tendon_reader reader = tendon_reader_make(event->data, event->length);
    tendon_address peer;
    (void)tendon_management_read_address(&reader, &peer);
    ask_next(radio);
    if (!tendon_reader_ok(&reader)) {
        return; /* rejected without a look at the peer */
    }
    tendon_link *link = tendon_bluez_link_of(radio, &peer);
    int8_t rssi = (int8_t)tendon_read_u8(&reader);
    if (link != NULL) {
        link->rssi =
            event->status == TENDON_MANAGEMENT_SUCCESS && tendon_reader_ok(&reader) ? rssi : TENDON_RSSI_UNKNOWN;
    }
}

uint16_t tendon_bluez_handle_of(int fd) {
    struct l2cap_conninfo info = {0};
    socklen_t size = sizeof info;
    return getsockopt(fd, SOL_L2CAP, L2CAP_CONNINFO, &info, &size) == 0 ? info.hci_handle : TENDON_BLUEZ_HANDLE_UNKNOWN;
}

/* The kernel ends a connection whose peer does not have the key of the bond. It pairs by itself if it does not have
 * that key: then another program has replaced the keys. */
tendon_status tendon_bluez_why_not_encrypted(tendon_bluez_radio *radio, const tendon_link *link) {
    return radio->unprivileged || tendon_bluez_key_of(radio, link->handle) == TENDON_BLUEZ_BOND_KEY
               ? TENDON_RADIO_ERROR_PAIRING_FAILED
               : TENDON_RADIO_ERROR_OTHER_BOND_STORE;
}

#endif
