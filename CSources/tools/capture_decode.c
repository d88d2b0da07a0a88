/* SPDX-License-Identifier: MIT */
/* Records of a capture to connections, ATT PDUs and advertisements. */
#include "tendon/tools/capture.h"

#include <string.h>

void tendon_capture_decoder_init(tendon_capture_decoder *decoder) {
    memset(decoder, 0, sizeof *decoder);
    (void)tendon_l2cap_reassembler_init(&decoder->reassembler, decoder->streams, TENDON_CAPTURE_CONNECTIONS);
}

static tendon_capture_connection *find(tendon_capture_decoder *decoder, uint16_t adapter, uint16_t handle) {
    for (size_t i = 0; i < TENDON_CAPTURE_CONNECTIONS; i++) {
        tendon_capture_connection *connection = &decoder->connections[i];
        if (connection->used && connection->handle == handle && connection->adapter == adapter) {
            return connection;
        }
    }
    return NULL;
}

/** Returns the slot for a new connection: its previous slot, a free slot, or the slot that was used longest ago. */
static tendon_capture_connection *place(tendon_capture_decoder *decoder, uint16_t adapter, uint16_t handle) {
    tendon_capture_connection *connection = find(decoder, adapter, handle);
    for (size_t i = 0; connection == NULL && i < TENDON_CAPTURE_CONNECTIONS; i++) {
        if (!decoder->connections[i].used) {
            connection = &decoder->connections[i];
        }
    }
    if (connection == NULL) {
        connection = &decoder->connections[decoder->next_connection];
        decoder->next_connection = (decoder->next_connection + 1) % TENDON_CAPTURE_CONNECTIONS;
    }
    return connection;
}

/** Handles are of one adapter; the reassembler has the four bits above them free for its number. */
static uint16_t stream_key(uint16_t adapter, uint16_t handle) {
    return (uint16_t)((uint32_t)adapter << 12 | (handle & 0x0FFFu));
}

static void describe_peer(tendon_capture_decoder *decoder) {
    tendon_capture_item *item = &decoder->item;
    const tendon_capture_connection *connection = find(decoder, item->adapter, item->handle);
    if (connection != NULL) {
        item->peer = connection->peer;
        item->peripheral = connection->peripheral;
    } else {
        item->peer = (tendon_address){.type = TENDON_ADDRESS_TYPE_ANONYMOUS};
    }
}

static void take_connected(tendon_capture_decoder *decoder, const tendon_hci_parameters *parameters) {
    tendon_capture_item *item = &decoder->item;
    if (parameters->status != 0) {
        decoder->other++; /* an attempt that failed */
        return;
    }
    tendon_capture_connection *connection = place(decoder, item->adapter, parameters->handle);
    *connection = (tendon_capture_connection){.used = true,
                                              .peripheral = parameters->role == 1,
                                              .adapter = item->adapter,
                                              .handle = parameters->handle,
                                              .peer = parameters->peer};
    item->kind = TENDON_CAPTURE_CONNECTED;
    item->handle = parameters->handle;
    describe_peer(decoder);
    decoder->ready = true;
}

static void take_disconnected(tendon_capture_decoder *decoder, const tendon_hci_parameters *parameters) {
    tendon_capture_item *item = &decoder->item;
    if (parameters->status != 0) {
        decoder->other++;
        return;
    }
    item->kind = TENDON_CAPTURE_DISCONNECTED;
    item->handle = parameters->handle;
    item->reason = TENDON_HCI_ERROR(parameters->reason);
    describe_peer(decoder);
    tendon_capture_connection *connection = find(decoder, item->adapter, item->handle);
    if (connection != NULL) {
        connection->used = false;
    }
    tendon_l2cap_forget(&decoder->reassembler, stream_key(item->adapter, item->handle));
    decoder->ready = true;
}

static void take_event(tendon_capture_decoder *decoder, const tendon_capture_record *record) {
    tendon_hci_event event;
    tendon_hci_parameters parameters;
    if (tendon_hci_event_decode(record->data, record->length, &event, NULL) < 0) {
        decoder->malformed++;
        return;
    }
    if (event.code == TENDON_HCI_LE_META && (event.subevent == TENDON_HCI_LE_ADVERTISING_REPORT ||
                                             event.subevent == TENDON_HCI_LE_EXTENDED_ADVERTISING_REPORT)) {
        decoder->reports = tendon_hci_reports_of(&event);
        decoder->reporting = true;
        return;
    }
    bool connected =
        event.code == TENDON_HCI_LE_META && (event.subevent == TENDON_HCI_LE_CONNECTION_COMPLETE ||
                                             event.subevent == TENDON_HCI_LE_ENHANCED_CONNECTION_COMPLETE ||
                                             event.subevent == TENDON_HCI_LE_ENHANCED_CONNECTION_COMPLETE_V2);
    if (!connected && event.code != TENDON_HCI_DISCONNECTION_COMPLETE) {
        decoder->other++;
    } else if (tendon_hci_decode(&event, &parameters, NULL) < 0) {
        decoder->malformed++;
    } else if (connected) {
        take_connected(decoder, &parameters);
    } else {
        take_disconnected(decoder, &parameters);
    }
}

static void take_acl(tendon_capture_decoder *decoder, const tendon_capture_record *record) {
    tendon_acl acl;
    tendon_l2cap_frame frame;
    if (tendon_acl_decode(record->data, record->length, &acl, NULL) < 0) {
        decoder->malformed++;
        return;
    }
    acl.handle = stream_key(record->adapter, acl.handle);
    tendon_status status = tendon_l2cap_feed(&decoder->reassembler, &acl, record->incoming, &frame);
    if (status == TENDON_ERROR_INCOMPLETE) {
        return;
    }
    if (status < 0) {
        decoder->malformed++;
        return;
    }
    if (frame.cid != TENDON_L2CAP_CID_ATT) {
        decoder->other++;
        return;
    }
    tendon_capture_item *item = &decoder->item;
    item->kind = TENDON_CAPTURE_ATT;
    item->handle = frame.handle & 0x0FFFu;
    item->incoming = frame.incoming;
    item->pdu = frame.data;
    item->length = frame.length;
    describe_peer(decoder);
    decoder->ready = true;
}

void tendon_capture_decoder_feed(tendon_capture_decoder *decoder, const tendon_capture_record *record) {
    decoder->ready = decoder->reporting = false;
    decoder->item = (tendon_capture_item){.unix_us = record->unix_us, .adapter = record->adapter};
    if (record->type == TENDON_HCI_PACKET_EVENT) {
        take_event(decoder, record);
    } else if (record->type == TENDON_HCI_PACKET_ACL) {
        take_acl(decoder, record);
    } else {
        decoder->other++;
    }
}

bool tendon_capture_decoder_next(tendon_capture_decoder *decoder, tendon_capture_item *out) {
    if (decoder->ready) {
        decoder->ready = false;
        *out = decoder->item;
        return true;
    }
    if (!decoder->reporting) {
        return false;
    }
    decoder->item.kind = TENDON_CAPTURE_REPORT;
    if (tendon_hci_reports_next(&decoder->reports, &decoder->item.report)) {
        *out = decoder->item;
        return true;
    }
    decoder->reporting = false;
    decoder->malformed += decoder->reports.status < 0 ? 1 : 0;
    return false;
}
