/* SPDX-License-Identifier: MIT */
/*
 * What a GATT procedure may take for granted of tendon_att_items, instead of its code: any number of items, each with
 * any handles, and a value of any length whose last byte is the last of the input. The rows att_items prove the code:
 * a value lies within the list.
 */
#ifndef TENDON_PROOF_ITEMS_H
#define TENDON_PROOF_ITEMS_H

#include "proof.h"
#include "tendon/host/att.h"

static size_t proof_item_length;

tendon_att_items tendon_att_items_of(const tendon_att_pdu *pdu) {
    tendon_att_items items = {{0}, 0, 0};
    items.opcode = pdu->opcode;
    return items;
}

bool tendon_att_items_next(tendon_att_items *items, tendon_att_item *out) {
    (void)items;
    if (proof_unknown) {
        return false;
    }
    out->handle = (uint16_t)Frama_C_interval(0, 0xFFFF);
    out->end_handle = (uint16_t)Frama_C_interval(0, 0xFFFF);
    out->value = proof_input(proof_item_length);
    out->length = proof_item_length;
    out->full_length = (size_t)Frama_C_interval(0, 0xFFFF);
    return true;
}

#endif
