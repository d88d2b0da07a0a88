/* SPDX-License-Identifier: MIT */
/*
 * One PDU at a server's connection in any state, whatever its first byte: requests, commands, confirmations, and what
 * only servers send. The requests themselves are replaced by what they may do: the rows gatts_lists and gatts_values
 * prove them.
 */
#include "gatts.h"

tendon_status tendon_att_decode(const uint8_t *pdu, size_t length, tendon_att_pdu *out, size_t *offset) {
    (void)offset;
    *out = (tendon_att_pdu){0};
    out->opcode = pdu[0];
    if (proof_unknown) {
        return proof_unknown ? TENDON_ERROR_UNSUPPORTED : TENDON_ERROR_TRUNCATED;
    }
    out->handle = (uint16_t)Frama_C_interval(0, ATTRIBUTES + 1);
    out->mtu = (uint16_t)Frama_C_interval(0, 0xFFFF);
    out->data = pdu + length;
    return TENDON_OK;
}

tendon_att_class tendon_att_opcode_class(uint8_t opcode) {
    (void)opcode;
    return (tendon_att_class)Frama_C_interval(TENDON_ATT_CLASS_UNKNOWN, TENDON_ATT_CLASS_CONFIRMATION);
}

tendon_status tendon_att_bearer_send(tendon_att_bearer *used, const uint8_t *pdu, size_t length) {
    if (length > used->mtu) {
        proof_fail();
    }
    proof_view(pdu, length);
    return Frama_C_interval(-0x10000, TENDON_OK);
}

void tendon_att_bearer_close(tendon_att_bearer *used) {
    used->closed = true;
}

static uint8_t served(tendon_gatt_transaction *t) {
    t->error_handle = t->pdu->handle;
    t->out.length = (size_t)Frama_C_interval(0, (int)t->out.capacity);
    return (uint8_t)Frama_C_interval(0, 255);
}

#define SERVED(name)                                                                                                   \
    uint8_t tendon_gatt_serve_##name(tendon_gatt_transaction *t) {                                                     \
        return served(t);                                                                                              \
    }
SERVED(find_information)
SERVED(find_by_type_value)
SERVED(read_by_type)
SERVED(read_by_group_type)
SERVED(read)
SERVED(read_blob)
SERVED(read_multiple)
SERVED(read_multiple_variable)
SERVED(write)
SERVED(prepare_write)
SERVED(execute_write)

uint8_t tendon_gatt_check_write(const tendon_gatt_connection *of, const tendon_gatt_attribute *attribute,
                                uint8_t property) {
    (void)of;
    return attribute->properties == property ? 0 : (uint8_t)Frama_C_interval(0, 255);
}

uint8_t tendon_gatt_store(tendon_gatt_connection *of, const tendon_gatt_attribute *attribute, uint16_t offset,
                          const uint8_t *bytes, size_t length, bool command, uint64_t now) {
    (void)of;
    (void)attribute;
    (void)offset;
    (void)command;
    (void)now;
    proof_view(bytes, length);
    return (uint8_t)Frama_C_interval(0, 255);
}

static void confirmed(void *context, struct tendon_gatt_connection *of, uint16_t handle, tendon_status status,
                      uint64_t now) {
    (void)context;
    (void)of;
    (void)handle;
    (void)status;
    (void)now;
}

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *pdu = proof_input(length);
    int mtu = proof_unknown ? TENDON_ATT_MTU_MIN : TENDON_ATT_MTU_MAX;
    //@ split mtu;
    proof_server(mtu);
    server.handlers.confirmed = confirmed;
    connection.mtu_exchanged = proof_unknown != 0;
    connection.indication_outstanding = proof_unknown != 0;
    connection.response_pending = proof_unknown != 0;
    (void)tendon_gatt_connection_receive(&connection, pdu, length, 0);
    if (bearer.mtu < TENDON_ATT_MTU_MIN || bearer.mtu > TENDON_ATT_MTU_MAX ||
        connection.response_length > sizeof connection.response) {
        proof_fail();
    }
    return 0;
}
