/* SPDX-License-Identifier: MIT */
/* One request for a list of attributes, from any handle to any other, with any type and value. */
#include "gatts.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    value_length = Frama_C_interval(0, VALUE);
    //@ split value_length;
    proof_server(TENDON_ATT_MTU_MIN);
    /* From each handle of the table, and from one beyond it. */
    int first = Frama_C_interval(0, ATTRIBUTES + 1);
    //@ split first;
    int which = Frama_C_interval(0, 3);
    //@ split which;
    tendon_att_pdu pdu = {0};
    pdu.opcode = (uint8_t)Frama_C_interval(0, 255);
    pdu.handle = (uint16_t)first;
    pdu.end_handle = (uint16_t)Frama_C_interval(0, 0xFFFF);
    Frama_C_make_unknown((char *)&pdu.type, sizeof pdu.type);
    pdu.data = input;
    pdu.length = length;
    tendon_gatt_transaction t = {&connection, &pdu, {0}, 0, 0};
    t.out = tendon_writer_make(connection.response, TENDON_ATT_MTU_MIN);
    if (which == 0) {
        (void)tendon_gatt_serve_find_information(&t);
    } else if (which == 1) {
        (void)tendon_gatt_serve_find_by_type_value(&t);
    } else if (which == 2) {
        (void)tendon_gatt_serve_read_by_type(&t);
    } else {
        (void)tendon_gatt_serve_read_by_group_type(&t);
    }
    return 0;
}
