/* SPDX-License-Identifier: MIT */
/* One request to read or write any attribute, of any length, with any parts prepared before. */
#include "gatts.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    value_length = Frama_C_interval(0, VALUE);
    //@ split value_length;
    proof_server(TENDON_ATT_MTU_MIN);
    int which = Frama_C_interval(0, 6);
    int handle = 0;
    int waiting = 0;
    uint16_t offset = (uint16_t)Frama_C_interval(0, 0xFFFF);
    //@ split which;
    if (which == 2 || which == 3) { /* any handles, of the table and beyond */
        for (size_t i = 0; i < length; i++) {
            input[i] = (uint8_t)(i % 2 == 0 ? Frama_C_interval(0, ATTRIBUTES + 1) : 0);
        }
    } else {
        handle = Frama_C_interval(0, ATTRIBUTES + 1);
    }
    //@ split handle;
    if (which == 1) {
        int within = Frama_C_interval(0, VALUE + 1);
        //@ split within;
        offset = (uint16_t)within;
    }
    if (which >= 5) {
        waiting = Frama_C_interval(0, PREPARED);
        //@ split waiting;
        connection.prepared_count = (size_t)waiting;
    }
    for (int i = 0; i < PREPARED; i++) { /* parts of one attribute, which continue each other or not */
        prepared[i].handle = (uint16_t)(handle > 0 && handle <= ATTRIBUTES ? handle : 1);
        prepared[i].offset = (uint16_t)Frama_C_interval(0, 0xFFFF);
        prepared[i].length = (uint16_t)Frama_C_interval(0, sizeof prepared[i].value);
    }
    tendon_att_pdu pdu = {0};
    pdu.opcode = (uint8_t)Frama_C_interval(0, 255);
    pdu.handle = (uint16_t)handle;
    pdu.offset = offset;
    pdu.flags = (uint8_t)Frama_C_interval(0, 255);
    pdu.data = input;
    pdu.length = length;
    tendon_gatt_transaction t = {&connection, &pdu, {0}, 0, 0};
    t.out = tendon_writer_make(connection.response, TENDON_ATT_MTU_MIN);
    switch (which) {
    case 0:
        (void)tendon_gatt_serve_read(&t);
        break;
    case 1:
        (void)tendon_gatt_serve_read_blob(&t);
        break;
    case 2:
        (void)tendon_gatt_serve_read_multiple(&t);
        break;
    case 3:
        (void)tendon_gatt_serve_read_multiple_variable(&t);
        break;
    case 4:
        (void)tendon_gatt_serve_write(&t);
        break;
    case 5:
        (void)tendon_gatt_serve_prepare_write(&t);
        break;
    default:
        (void)tendon_gatt_serve_execute_write(&t);
        break;
    }
    if (connection.prepared_count > PREPARED) {
        proof_fail();
    }
    return 0;
}
