/* SPDX-License-Identifier: MIT */
#include "bearer_parts.h"

void tendon_att_bearer_init(tendon_att_bearer *bearer, tendon_bearer_io io, uint16_t own_mtu) {
    *bearer = (tendon_att_bearer){0};
    bearer->io = io;
    bearer->mtu = TENDON_ATT_MTU_MIN;
    bearer->own_mtu = own_mtu < TENDON_ATT_MTU_MIN   ? TENDON_ATT_MTU_MIN
                      : own_mtu > TENDON_ATT_MTU_MAX ? TENDON_ATT_MTU_MAX
                                                     : own_mtu;
}

tendon_status tendon_att_bearer_decode(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length,
                                       tendon_att_pdu *out) {
    tendon_status status = tendon_att_decode(pdu, length, out, NULL);
    if (status != TENDON_OK) {
        bearer->counters.malformed++;
    }
    return status;
}

void tendon_att_bearer_close(tendon_att_bearer *bearer) {
    bearer->closed = true;
}

tendon_status tendon_att_bearer_send(tendon_att_bearer *bearer, const uint8_t *pdu, size_t length) {
    if (bearer->closed) {
        return TENDON_ERROR_DISCONNECTED;
    }
    tendon_status status = bearer->io.send(bearer->io.context, pdu, length);
    if (status >= 0) {
        bearer->counters.sent++;
        return TENDON_OK;
    }
    return status;
}

tendon_status tendon_att_bearer_send_refusal(tendon_att_bearer *bearer) {
    bearer->refusal_pending = false; /* before the send: the next request can come within it, and be refused */
    tendon_status status = tendon_att_bearer_send(bearer, bearer->refusal, sizeof(bearer->refusal));
    if (status != TENDON_ERROR_WOULD_BLOCK) {
        return status;
    }
    bearer->refusal_pending = true;
    return TENDON_OK;
}

tendon_status tendon_att_bearer_refuse(tendon_att_bearer *bearer, uint8_t request_opcode, uint16_t handle,
                                       uint8_t error) {
    if (bearer->refusal_pending) {
        return TENDON_OK;
    }
    tendon_writer writer = tendon_writer_make(bearer->refusal, sizeof(bearer->refusal));
    tendon_write_u8(&writer, TENDON_ATT_ERROR_RESPONSE);
    tendon_write_u8(&writer, request_opcode);
    tendon_write_u16le(&writer, handle);
    tendon_write_u8(&writer, error);
    return tendon_att_bearer_send_refusal(bearer);
}
