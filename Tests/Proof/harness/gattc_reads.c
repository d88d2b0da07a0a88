/* SPDX-License-Identifier: MIT */
/* One response to any read in progress, and the view of the value that the completion gets. */
#include "../views/view.h"
#include "gatt_client_parts.h"
#include "items.h"

#define ROOM 20

static uint8_t buffer[ROOM];

int main(void) {
    size_t length = proof_length();
    //@ split length;
    proof_item_length = length;

    tendon_att_bearer bearer = {0};
    bearer.mtu = (uint16_t)Frama_C_interval(TENDON_ATT_MTU_MIN, TENDON_ATT_MTU_MAX);
    tendon_gatt_client client = {0};
    client.bearer = &bearer;
    client.sent_mtu = (uint16_t)Frama_C_interval(TENDON_ATT_MTU_MIN, TENDON_ATT_MTU_MAX);

    tendon_gatt_request request;
    Frama_C_make_unknown((char *)&request, sizeof request);
    int kind = Frama_C_interval(GATTC_READ, GATTC_READ_BY_UUID);
    int capacity = Frama_C_interval(0, ROOM);
    //@ split kind;
    //@ split capacity;
    request.kind = (uint8_t)kind;
    request.capacity = (uint16_t)capacity;
    request.length = (uint16_t)Frama_C_interval(0, capacity);
    request.offset = (uint16_t)Frama_C_interval(0, TENDON_ATT_VALUE_MAX);
    request.borrowed.table = buffer + (ROOM - capacity); /* a byte too far is outside */

    tendon_att_pdu pdu = {0};
    pdu.opcode = (uint8_t)Frama_C_interval(0, 255);
    pdu.data = proof_input(length);
    pdu.length = length;
    tendon_gatt_result result = {0};
    if (tendon_gattc_read_respond(&client, &request, &pdu, &result) == TENDON_OK) {
        proof_view(result.value, result.length);
    }
    if (request.length > capacity) {
        proof_fail();
    }
    (void)tendon_gattc_read_refused(&request, Frama_C_interval(-0x10000, -1));
    return 0;
}
