/* SPDX-License-Identifier: MIT */
/* What a bearer receives, and when it acts: its client and its server have it. */
#include "bearer_parts.h"
#include "tendon/host/gatt_client.h"
#include "tendon/host/gatt_server.h"

/* Vol 3 Part F 3.3.1: bit 6 of an opcode marks a command. */
#define COMMAND_BIT 0x40u

static tendon_status take_unknown(tendon_att_bearer *bearer, uint8_t opcode) {
    bearer->counters.unknown_opcode++;
    if ((opcode & COMMAND_BIT) == 0) {
        (void)tendon_att_bearer_refuse(bearer, opcode, 0, TENDON_ATT_REQUEST_NOT_SUPPORTED);
    }
    return TENDON_ERROR_UNSUPPORTED;
}

static tendon_status to_client(tendon_att_bearer *bearer, tendon_att_class class_, const uint8_t *pdu, size_t length,
                               uint64_t now) {
    if (bearer->client != NULL) {
        return tendon_gatt_client_receive(bearer->client, pdu, length, now);
    }
    if (class_ == TENDON_ATT_CLASS_RESPONSE) {
        bearer->counters.unexpected_response++;
        return TENDON_GATT_ERROR_UNEXPECTED_RESPONSE;
    }
    /* An indication is not confirmed, because no client has received its value. */
    bearer->counters.unhandled_value++;
    return TENDON_ERROR_NOT_FOUND;
}

static tendon_status to_server(tendon_att_bearer *bearer, tendon_att_class class_, const uint8_t *pdu, size_t length,
                               uint64_t now) {
    if (bearer->server != NULL) {
        return tendon_gatt_connection_receive(bearer->server, pdu, length, now);
    }
    if (class_ == TENDON_ATT_CLASS_REQUEST) {
        bearer->counters.refused_requests++;
        (void)tendon_att_bearer_refuse(bearer, pdu[0], 0, TENDON_ATT_REQUEST_NOT_SUPPORTED);
        return TENDON_ERROR_UNSUPPORTED;
    }
    if (class_ == TENDON_ATT_CLASS_CONFIRMATION) {
        bearer->counters.unexpected_confirmation++;
        return TENDON_ERROR_WRONG_STATE;
    }
    bearer->counters.ignored_commands++;
    return TENDON_ERROR_UNSUPPORTED;
}

static tendon_status route(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length, uint64_t now) {
    /* Almost all PDUs of a wearable are notifications: they skip the table. */
    if (pdu[0] == TENDON_ATT_HANDLE_VALUE_NOTIFICATION && bearer->client != NULL) {
        return tendon_gatt_client_receive(bearer->client, pdu, length, now);
    }
    tendon_att_class class_ = tendon_att_opcode_class(pdu[0]);
    switch (class_) {
    case TENDON_ATT_CLASS_RESPONSE:
    case TENDON_ATT_CLASS_NOTIFICATION:
    case TENDON_ATT_CLASS_INDICATION:
        return to_client(bearer, class_, pdu, length, now);
    case TENDON_ATT_CLASS_REQUEST:
    case TENDON_ATT_CLASS_COMMAND:
    case TENDON_ATT_CLASS_CONFIRMATION:
        return to_server(bearer, class_, pdu, length, now);
    case TENDON_ATT_CLASS_UNKNOWN:
    default:
        return take_unknown(bearer, pdu[0]);
    }
}

tendon_status tendon_att_bearer_receive_at(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length, uint64_t now,
                                           uint64_t received_at) {
    bearer->counters.received++;
    if (bearer->closed) {
        bearer->counters.after_close++;
        return TENDON_ERROR_DISCONNECTED;
    }
    if (length == 0 || length > bearer->own_mtu) {
        bearer->counters.malformed++;
        return length == 0 ? TENDON_ERROR_TRUNCATED : TENDON_ERROR_MALFORMED;
    }
    /* Not 0 within the handler of a PDU that has sent over a transport that responds immediately. */
    const uint64_t outer = bearer->received_at;
    bearer->received_at = received_at;
    tendon_status status = route(bearer, pdu, length, now);
    bearer->received_at = outer;
    return status;
}

tendon_status tendon_att_bearer_receive(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length, uint64_t now) {
    return tendon_att_bearer_receive_at(bearer, pdu, length, now, now * 1000000u);
}

void tendon_att_bearer_writable(tendon_att_bearer *bearer, uint64_t now) {
    if (bearer->refusal_pending) {
        (void)tendon_att_bearer_send_refusal(bearer);
    }
    if (bearer->client != NULL) {
        tendon_gatt_client_writable(bearer->client, now);
    }
    if (bearer->server != NULL) {
        tendon_gatt_connection_writable(bearer->server, now);
    }
}

void tendon_att_bearer_tick(tendon_att_bearer *bearer, uint64_t now) {
    if (bearer->client != NULL) {
        tendon_gatt_client_tick(bearer->client, now);
    }
    if (bearer->server != NULL) {
        tendon_gatt_connection_tick(bearer->server, now);
    }
}

uint64_t tendon_att_bearer_deadline(const tendon_att_bearer *bearer) {
    uint64_t client = bearer->client != NULL ? tendon_gatt_client_deadline(bearer->client) : UINT64_MAX;
    uint64_t server = bearer->server != NULL ? tendon_gatt_connection_deadline(bearer->server) : UINT64_MAX;
    return client < server ? client : server;
}
