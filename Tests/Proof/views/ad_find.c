/* SPDX-License-Identifier: MIT */
#include "tendon/host/advertisement.h"
#include "view.h"

/* What is found in the first structure; a later one is the same walk, which the view `ad` proves from any position. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    if (length > 0) {
        input[0] = proof_pinned(length);
    }
    size_t first = length > 0 && (size_t)input[0] + 1 < length ? (size_t)input[0] + 1 : length;
    if (first < length) {
        input[first] = 0; /* ends the significant part */
    }
    tendon_ad_structure structure;
    if (tendon_ad_find(input, length, (uint8_t)Frama_C_interval(0, 255), &structure)) {
        proof_view(structure.data, structure.length);
    }
    tendon_uuid uuid;
    Frama_C_make_unknown((char *)&uuid, sizeof uuid);
    const uint8_t *value;
    size_t value_length;
    if (tendon_ad_service_data(input, length, &uuid, &value, &value_length)) {
        proof_view(value, value_length);
    }
    if (tendon_ad_manufacturer_data(input, length, (uint16_t)Frama_C_interval(0, 65535), &value, &value_length)) {
        proof_view(value, value_length);
    }
    return 0;
}
