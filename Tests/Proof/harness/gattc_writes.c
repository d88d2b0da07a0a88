/* SPDX-License-Identifier: MIT */
/* One response to any write or subscription in progress. */
#include "gatt_client_parts.h"
#include "items.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    proof_item_length = length;

    tendon_gatt_request request;
    Frama_C_make_unknown((char *)&request, sizeof request);
    int kind = Frama_C_interval(GATTC_WRITE, GATTC_WRITE_LONG);
    int step = Frama_C_interval(GATTC_STEP_FIRST, GATTC_STEP_ABORT);
    //@ split kind;
    //@ split step;
    request.kind = (uint8_t)kind;
    request.step = (uint8_t)step;
    request.flags = (uint8_t)Frama_C_interval(0, 255);
    request.status = Frama_C_interval(-0x10000, TENDON_OK);
    bool prepares = kind == GATTC_WRITE_LONG;
    if (prepares) {
        /* The outstanding part of the value has bytes before and behind it, or none. */
        int count = Frama_C_interval(0, 1);
        int rest = Frama_C_interval(0, 1);
        //@ split count;
        //@ split rest;
        request.count = (uint16_t)count;
        request.progress = (uint16_t)length;
        request.length = (uint16_t)((size_t)count + length + (size_t)rest);
    }
    tendon_att_pdu pdu = {0};
    pdu.opcode = (uint8_t)(prepares ? TENDON_ATT_PREPARE_WRITE_RESPONSE : Frama_C_interval(0, 255));
    pdu.handle = (uint16_t)Frama_C_interval(0, 0xFFFF);
    pdu.offset = (uint16_t)Frama_C_interval(0, 0xFFFF);
    pdu.data = proof_input(length);
    pdu.length = length;
    if (proof_unknown) {
        (void)tendon_gattc_write_refused(&request, Frama_C_interval(-0x10000, -1));
        return 0;
    }
    tendon_status status = tendon_gattc_write_respond(&request, &pdu);
    if (prepares && step == GATTC_STEP_FIRST && status == GATTC_CONTINUE && request.step == GATTC_STEP_EXECUTE &&
        request.count < request.length) {
        proof_fail();
    }
    return 0;
}
