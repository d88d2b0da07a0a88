/* SPDX-License-Identifier: MIT */
/* One response to any write or subscription in progress. */
#include "gatt_client_internal.h"
#include "items.h"

#define PARTS 2
#define ROOM (N + 3)

static uint8_t values[PARTS][ROOM];
static tendon_gatt_write_part parts[PARTS];

/* The outstanding part of a write of prepared parts: bytes count to count + progress of its value. */
static bool is_whole(const tendon_gatt_request *request, size_t length) {
    return request->count + request->progress <= length &&
           (request->kind != GATTC_WRITE_RELIABLE || request->cursor < request->capacity);
}

int main(void) {
    size_t length = proof_length();
    //@ split length;
    proof_item_length = length;

    tendon_gatt_request request;
    Frama_C_make_unknown((char *)&request, sizeof request);
    int kind = Frama_C_interval(GATTC_WRITE, GATTC_WRITE_RELIABLE);
    int step = Frama_C_interval(GATTC_STEP_FIRST, GATTC_STEP_ABORT);
    //@ split kind;
    //@ split step;
    request.kind = (uint8_t)kind;
    request.step = (uint8_t)step;
    request.flags = (uint8_t)Frama_C_interval(0, 255);
    request.status = Frama_C_interval(-0x10000, TENDON_OK);
    bool prepares = kind >= GATTC_WRITE_LONG;
    if (prepares) {
        size_t progress;
        /* The response has as many bytes as were sent, or one more or less. */
        int count = Frama_C_interval(0, 1);
        int rest = Frama_C_interval(0, 1);
        int cursor = Frama_C_interval(0, PARTS - 1);
        int fewer = Frama_C_interval(-1, 1);
        //@ split count;
        //@ split rest;
        //@ split cursor;
        //@ split fewer;
        progress = fewer > (int)length ? 0 : (size_t)((int)length - fewer);
        size_t whole = (size_t)count + progress + (size_t)rest;
        for (size_t i = 0; i < PARTS; i++) {
            parts[i].handle = (uint16_t)Frama_C_interval(1, 0xFFFF);
            parts[i].offset = (uint16_t)Frama_C_interval(0, TENDON_ATT_VALUE_MAX);
            parts[i].value = values[i] + (ROOM - whole);
            parts[i].length = whole;
        }
        request.cursor = (uint16_t)cursor;
        request.count = (uint16_t)count;
        request.progress = (uint16_t)progress;
        request.capacity = PARTS;
        request.length = (uint16_t)whole;
        request.borrowed.data = kind == GATTC_WRITE_RELIABLE ? (const void *)parts : values[0] + (ROOM - whole);
        if (!is_whole(&request, whole)) {
            proof_fail();
        }
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
    if (prepares && status == GATTC_CONTINUE && request.step == GATTC_STEP_FIRST &&
        request.cursor >= request.capacity) {
        proof_fail();
    }
    return 0;
}
