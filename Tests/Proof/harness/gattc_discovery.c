/* SPDX-License-Identifier: MIT */
/* One response to any discovery in progress. */
#include "gatt_client_parts.h"
#include "items.h"

#define ROWS 2

static union {
    tendon_gatt_service services[ROWS];
    tendon_gatt_characteristic characteristics[ROWS];
    tendon_gatt_descriptor descriptors[ROWS];
} table;

/* What holds between two responses. */
static bool is_whole(const tendon_gatt_request *request) {
    return request->count <= request->capacity && ((request->flags & GATTC_OPEN) == 0 || request->count > 0) &&
           (request->step == GATTC_STEP_FIRST ||
            (request->step == GATTC_STEP_UUIDS && request->kind == GATTC_INCLUDED && request->cursor < request->count));
}

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    proof_item_length = length;
    Frama_C_make_unknown((char *)&table, sizeof table);

    tendon_gatt_request request;
    Frama_C_make_unknown((char *)&request, sizeof request);
    int kind = Frama_C_interval(GATTC_SERVICES, GATTC_DESCRIPTORS);
    int step = Frama_C_interval(GATTC_STEP_FIRST, GATTC_STEP_UUIDS);
    int count = Frama_C_interval(0, ROWS);
    int flags = Frama_C_interval(0, 3);
    //@ split kind;
    //@ split step;
    //@ split count;
    //@ split flags;
    request.kind = (uint8_t)kind;
    request.step = (uint8_t)step;
    request.count = (uint16_t)count;
    request.capacity = ROWS; /* its relation to the count is what matters */
    /* With the others set no response gets here. */
    request.flags = (uint8_t)(GATTC_STARTED | ((flags & 1) != 0 ? GATTC_FILTER | GATTC_LONG : 0) |
                              ((flags & 2) != 0 ? GATTC_OPEN : 0));
    request.status = Frama_C_interval(-0x10000, TENDON_OK); /* an error that waits for the last page */
    request.borrowed.table = &table;
    if (step == GATTC_STEP_UUIDS) {
        int cursor = Frama_C_interval(0, ROWS);
        //@ split cursor;
        request.cursor = (uint16_t)cursor;
    }
    if (!is_whole(&request)) {
        return 0;
    }
    tendon_att_pdu pdu = {0};
    pdu.opcode = (uint8_t)Frama_C_interval(0, 255);
    pdu.data = input;
    pdu.length = length;
    tendon_status status = proof_unknown ? tendon_gattc_discovery_respond(&request, &pdu)
                                         : tendon_gattc_discovery_refused(&request, Frama_C_interval(-0x10000, -1));
    if (status == GATTC_CONTINUE && !is_whole(&request)) {
        proof_fail();
    }
    return 0;
}
