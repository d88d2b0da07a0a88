/* SPDX-License-Identifier: MIT */
/* Receive path: values, and responses to the outstanding request. */
#include "gatt_client_parts.h"

static tendon_status take_response(tendon_gatt_client *client, const uint8_t *pdu, size_t length, uint64_t now) {
    tendon_att_pdu decoded;
    bool is_error = pdu[0] == TENDON_ATT_ERROR_RESPONSE;
    tendon_gatt_request *request = tendon_gattc_find(client, client->in_flight);
    if (request == NULL || (is_error ? length >= 2 && pdu[1] != client->in_flight_opcode
                                     : pdu[0] != tendon_att_response_opcode(client->in_flight_opcode))) {
        client->bearer->counters.unexpected_response++;
        return TENDON_GATT_ERROR_UNEXPECTED_RESPONSE;
    }
    tendon_status rejected = tendon_att_bearer_decode(client->bearer, pdu, length, &decoded);
    if (is_error && length < 2) {
        return rejected; /* contains no request opcode: not a response to our request */
    }
    client->in_flight = 0;
    if (is_error && rejected == TENDON_OK && tendon_gattc_secures(client, request, &decoded, now)) {
        return TENDON_OK;
    }
    rejected = tendon_gattc_settle(client, request, rejected, &decoded);
    tendon_gattc_pump(client, now);
    return rejected;
}

tendon_status tendon_gatt_client_receive(tendon_gatt_client *client, const uint8_t *pdu, size_t length, uint64_t now) {
    tendon_att_bearer *bearer = client->bearer;
    client->now = now;
    if (client->closed) {
        bearer->counters.after_close++;
        return TENDON_ERROR_DISCONNECTED;
    }
    if (length == 0) {
        bearer->counters.malformed++;
        return TENDON_ERROR_TRUNCATED;
    }
    switch (pdu[0]) {
    case TENDON_ATT_HANDLE_VALUE_NOTIFICATION:
        return tendon_gattc_take_notification(client, pdu, length, now);
    case TENDON_ATT_HANDLE_VALUE_INDICATION:
        return tendon_gattc_take_indication(client, pdu, length, now);
    case TENDON_ATT_MULTIPLE_HANDLE_VALUE_NOTIFICATION:
        return tendon_gattc_take_multiple(client, pdu, length, now);
    default:
        return take_response(client, pdu, length, now);
    }
}
