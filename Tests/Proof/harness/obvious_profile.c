/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/obvious_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    uint16_t flags;
    tendon_obvious_decode_profile(input, length, &flags);
    tendon_obvious_gatt gatt = tendon_obvious_gatt_defaults();
    tendon_obvious_discovered found[2];
    Frama_C_make_unknown((char *)found, sizeof found);
    tendon_obvious_select_profile(&gatt, found, 2, input, length, &flags);
    return 0;
}
