/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/obvious.h"

#include <string.h>

enum { CORR_AT = 4, OPCODE_AT = 6, CRC_SIZE = 4 };

/* What identifies a request: its id, its opcode and its CRC. */
static tendon_simulated_obvious_response key_of(const uint8_t *request, size_t length) {
    tendon_simulated_obvious_response key = {.opcode = request[OPCODE_AT]};
    tendon_reader corr = tendon_reader_make(request + CORR_AT, sizeof key.corr);
    tendon_reader crc = tendon_reader_make(request + length - CRC_SIZE, CRC_SIZE);
    key.corr = tendon_read_u16le(&corr);
    key.crc = tendon_read_u32le(&crc);
    return key;
}

void tendon_simulated_obvious_keep(tendon_simulated_obvious_responses *responses, const uint8_t *request,
                                   size_t request_length, const uint8_t *response, size_t response_length) {
    if (response_length > TENDON_SIMULATED_OBVIOUS_RESPONSE_MAX || request_length < TENDON_OBVIOUS_FRAME_OVERHEAD) {
        return;
    }
    tendon_simulated_obvious_response *item = &responses->items[responses->next];
    *item = key_of(request, request_length);
    item->length = (uint16_t)response_length;
    memcpy(item->frame, response, response_length);
    responses->next = (uint8_t)((responses->next + 1u) % TENDON_SIMULATED_OBVIOUS_RESPONSES);
}

const uint8_t *tendon_simulated_obvious_kept(const tendon_simulated_obvious_responses *responses,
                                             const uint8_t *request, size_t request_length, size_t *response_length) {
    if (request_length < TENDON_OBVIOUS_FRAME_OVERHEAD) {
        return NULL;
    }
    const tendon_simulated_obvious_response key = key_of(request, request_length);
    for (size_t i = 0; i < TENDON_SIMULATED_OBVIOUS_RESPONSES; i++) {
        const tendon_simulated_obvious_response *item = &responses->items[i];
        if (item->length > 0 && item->corr == key.corr && item->opcode == key.opcode && item->crc == key.crc) {
            *response_length = item->length;
            return item->frame;
        }
    }
    return NULL;
}
