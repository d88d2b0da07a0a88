/* SPDX-License-Identifier: MIT */
/*
 * One PDU at a client with any two requests: to which one it goes, what the completion gets, what is sent next. The
 * procedures are replaced by what they may return: the rows gattc_discovery, gattc_reads, gattc_writes and gattc_values
 * prove them. Completions do not call the client; the tests do.
 */
#include "../views/view.h"
#include "gatt_client_parts.h"

#define REQUESTS 2

static tendon_gatt_client client;
static tendon_att_bearer bearer;
static tendon_gatt_request requests[REQUESTS];
static uint8_t table[4];

static tendon_status any_result(void) {
    return Frama_C_interval(-0x10000, GATTC_CONTINUE);
}

tendon_status tendon_att_bearer_decode(tendon_att_bearer *used, const uint8_t *pdu, size_t length,
                                       tendon_att_pdu *out) {
    (void)used;
    *out = (tendon_att_pdu){0};
    if (proof_unknown) {
        return TENDON_ERROR_TRUNCATED;
    }
    out->opcode = pdu[0];
    out->error = (uint8_t)Frama_C_interval(0, 255);
    out->handle = (uint16_t)Frama_C_interval(0, 0xFFFF);
    out->mtu = (uint16_t)Frama_C_interval(0, 0xFFFF);
    out->data = pdu + length;
    return TENDON_OK;
}

tendon_status tendon_att_bearer_send(tendon_att_bearer *used, const uint8_t *pdu, size_t length) {
    (void)used;
    proof_view(pdu, length);
    return Frama_C_interval(-0x10000, TENDON_OK);
}

void tendon_att_bearer_close(tendon_att_bearer *used) {
    used->closed = true;
}

tendon_status tendon_att_encode(const tendon_att_pdu *pdu, uint8_t *out, size_t capacity) {
    if (capacity > TENDON_ATT_MTU_MAX) {
        proof_fail();
    }
    Frama_C_make_unknown((char *)out, TENDON_ATT_MTU_MIN);
    out[0] = pdu->opcode;
    return proof_unknown ? TENDON_ERROR_BUFFER_TOO_SMALL : Frama_C_interval(1, TENDON_ATT_MTU_MIN);
}

uint8_t tendon_att_response_opcode(uint8_t request_opcode) {
    (void)request_opcode;
    return (uint8_t)Frama_C_interval(0, 255);
}

static tendon_status build(tendon_gatt_request *request, tendon_att_pdu *pdu, uint8_t scratch[16]) {
    scratch[15] = 0;
    request->flags = (uint8_t)Frama_C_interval(0, 255);
    pdu->opcode = (uint8_t)Frama_C_interval(0, 255);
    return Frama_C_interval(-0x10000, TENDON_OK);
}

tendon_status tendon_gattc_discovery_build(tendon_gatt_request *request, tendon_att_pdu *pdu, uint8_t scratch[16]) {
    return build(request, pdu, scratch);
}

tendon_status tendon_gattc_read_build(const tendon_gatt_request *request, tendon_att_pdu *pdu) {
    pdu->opcode = request->kind;
    return Frama_C_interval(-0x10000, TENDON_OK);
}

tendon_status tendon_gattc_write_build(const tendon_gatt_client *of, tendon_gatt_request *request, tendon_att_pdu *pdu,
                                       uint8_t scratch[16]) {
    (void)of;
    return build(request, pdu, scratch);
}

tendon_status tendon_gattc_discovery_respond(tendon_gatt_request *request, const tendon_att_pdu *pdu) {
    proof_view(pdu->data, pdu->length);
    request->count = (uint16_t)Frama_C_interval(0, 0xFFFF);
    return any_result();
}

tendon_status tendon_gattc_discovery_refused(tendon_gatt_request *request, tendon_status status) {
    (void)request;
    return proof_unknown ? status : any_result();
}

tendon_status tendon_gattc_read_respond(const tendon_gatt_client *of, tendon_gatt_request *request,
                                        const tendon_att_pdu *pdu, tendon_gatt_result *result) {
    (void)of;
    (void)request;
    result->value = pdu->data;
    result->length = pdu->length;
    return any_result();
}

tendon_status tendon_gattc_read_refused(tendon_gatt_request *request, tendon_status status) {
    (void)request;
    return proof_unknown ? status : TENDON_OK;
}

tendon_status tendon_gattc_write_respond(tendon_gatt_request *request, const tendon_att_pdu *pdu) {
    proof_view(pdu->data, pdu->length);
    request->step = (uint8_t)Frama_C_interval(GATTC_STEP_FIRST, GATTC_STEP_ABORT);
    return any_result();
}

tendon_status tendon_gattc_write_refused(tendon_gatt_request *request, tendon_status status) {
    (void)request;
    return proof_unknown ? status : any_result();
}

tendon_status tendon_gattc_take_notification(tendon_gatt_client *to, const uint8_t *pdu, size_t length, uint64_t now) {
    (void)to;
    (void)now;
    proof_view(pdu, length);
    return any_result();
}

tendon_status tendon_gattc_take_indication(tendon_gatt_client *to, const uint8_t *pdu, size_t length, uint64_t now) {
    return tendon_gattc_take_notification(to, pdu, length, now);
}

tendon_status tendon_gattc_take_multiple(tendon_gatt_client *to, const uint8_t *pdu, size_t length, uint64_t now) {
    return tendon_gattc_take_notification(to, pdu, length, now);
}

tendon_status tendon_gattc_confirm(tendon_gatt_client *to) {
    (void)to;
    return any_result();
}

void tendon_gattc_note_cccd(tendon_gatt_client *to, const tendon_gatt_request *request) {
    (void)to;
    (void)request;
}

void tendon_gattc_drop_subscription(tendon_gatt_client *to, uint32_t request) {
    (void)to;
    (void)request;
}

void tendon_gatt_cache_drop(tendon_gatt_cache *cache) {
    (void)cache;
}

static void on_done(void *context, const tendon_gatt_result *result) {
    (void)context;
    proof_view(result->value, result->length);
}

static bool on_insecure(void *context, uint8_t error, uint64_t now) {
    (void)context;
    (void)error;
    (void)now;
    return proof_unknown != 0;
}

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *pdu = proof_input(length);
    int kind = Frama_C_interval(GATTC_MTU, GATTC_WRITE_LONG);
    int queued = Frama_C_interval(0, REQUESTS);
    //@ split kind;
    //@ split queued;
    for (int i = 0; i < queued; i++) {
        requests[i].id = (uint32_t)(i + 1);
        requests[i].kind = (uint8_t)kind;
        requests[i].flags = (uint8_t)Frama_C_interval(0, 255);
        requests[i].step = (uint8_t)Frama_C_interval(GATTC_STEP_FIRST, GATTC_STEP_ABORT);
        requests[i].done = on_done;
        requests[i].borrowed.table = table;
        requests[i].length = (uint16_t)Frama_C_interval(0, sizeof table);
    }
    bearer.mtu = (uint16_t)Frama_C_interval(TENDON_ATT_MTU_MIN, TENDON_ATT_MTU_MAX);
    bearer.own_mtu = (uint16_t)Frama_C_interval(TENDON_ATT_MTU_MIN, TENDON_ATT_MTU_MAX);
    client.bearer = &bearer;
    client.config.requests = requests;
    client.config.request_capacity = REQUESTS;
    client.config.on_insecure = on_insecure;
    client.queued = (size_t)queued;
    client.next_id = REQUESTS + 1;
    client.in_flight = (uint32_t)Frama_C_interval(0, REQUESTS + 1);
    client.in_flight_opcode = (uint8_t)Frama_C_interval(0, 255);
    client.refused = (uint32_t)Frama_C_interval(0, REQUESTS);
    client.closed = proof_unknown != 0;
    client.blocked = proof_unknown != 0;
    client.securing = proof_unknown != 0;
    (void)tendon_gatt_client_receive(&client, pdu, length, 0);
    if (proof_unknown) {
        tendon_gatt_client_secured(&client, Frama_C_interval(-0x10000, TENDON_OK), 0);
    }
    if (bearer.mtu < TENDON_ATT_MTU_MIN || bearer.mtu > TENDON_ATT_MTU_MAX) {
        proof_fail();
    }
    return 0;
}
