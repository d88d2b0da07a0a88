/* SPDX-License-Identifier: MIT */
/*
 * One notification, indication or list of notifications on any table of subscriptions, and the view that its handler
 * gets. Sending and the end of a link are replaced by what they may do.
 */
#include "../views/view.h"
#include "gatt_client_parts.h"
#include "items.h"

#define ROWS 2

static tendon_gatt_client client;
static tendon_att_bearer bearer;
static tendon_gatt_subscription subscriptions[ROWS];
static tendon_gatt_request requests[ROWS];

tendon_status tendon_att_bearer_decode(tendon_att_bearer *used, const uint8_t *pdu, size_t length,
                                       tendon_att_pdu *out) {
    (void)used;
    *out = (tendon_att_pdu){0};
    out->data = pdu;
    out->length = length;
    return proof_unknown ? TENDON_OK : TENDON_ERROR_TRUNCATED;
}

tendon_status tendon_att_bearer_send(tendon_att_bearer *used, const uint8_t *pdu, size_t length) {
    (void)used;
    proof_view(pdu, length);
    return Frama_C_interval(-0x10000, TENDON_OK);
}

void tendon_gattc_lost(tendon_gatt_client *lost, tendon_status reason) {
    (void)reason;
    lost->closed = true;
    lost->confirmations = 0;
}

bool tendon_gattc_discovery_hit(const tendon_gatt_request *request, uint16_t start, uint16_t end) {
    (void)request;
    return start <= end && proof_unknown != 0;
}

void tendon_gattc_drop_own_writes(tendon_gatt_client *of, const tendon_gatt_request *kept, uint16_t start,
                                  uint16_t end) {
    (void)of;
    (void)kept;
    if (start == 0 || end == 0) {
        proof_fail();
    }
}

void tendon_gatt_cache_drop(tendon_gatt_cache *cache) {
    (void)cache;
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    (void)context;
    (void)now;
    proof_view(value->value, value->length);
    client.closed = proof_unknown != 0; /* a handler may end the link */
}

static void on_service_changed(void *context, uint16_t start, uint16_t end, uint64_t now) {
    (void)context;
    (void)now;
    if (start == 0 || end == 0) {
        proof_fail();
    }
}

int main(void) {
    size_t length = proof_length();
    //@ split length;
    proof_item_length = length;
    uint8_t *pdu = proof_input(length);
    int end = Frama_C_interval(0, ROWS);
    int last = Frama_C_interval(0, ROWS);
    //@ split end;
    //@ split last;
    for (int i = 0; i < ROWS; i++) {
        subscriptions[i].value_handle = (uint16_t)Frama_C_interval(0, 0xFFFF);
        subscriptions[i].on_value = on_value;
        requests[i].id = (uint32_t)Frama_C_interval(0, 1);
    }
    bearer.mtu = TENDON_ATT_MTU_MIN;
    client.bearer = &bearer;
    client.config.subscriptions = subscriptions;
    client.config.subscription_capacity = ROWS;
    client.config.requests = requests;
    client.config.request_capacity = ROWS;
    client.config.on_service_changed = on_service_changed;
    client.subscription_end = (size_t)end;
    client.last_subscription = (size_t)last;
    client.service_changed_handle = (uint16_t)Frama_C_interval(0, 0xFFFF);
    client.confirmations = (uint8_t)Frama_C_interval(0, UINT8_MAX);
    int which = Frama_C_interval(0, 2);
    if (which == 0) {
        (void)tendon_gattc_take_notification(&client, pdu, length, 0);
    } else if (which == 1) {
        (void)tendon_gattc_take_indication(&client, pdu, length, 0);
    } else {
        (void)tendon_gattc_take_multiple(&client, pdu, length, 0);
    }
    return 0;
}
