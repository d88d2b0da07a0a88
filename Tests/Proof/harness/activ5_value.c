/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/activ5_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_activ5_characteristic which =
        (tendon_activ5_characteristic)Frama_C_interval(0, TENDON_ACTIV5_CHARACTERISTIC_COUNT);
    tendon_activ5_message message;
    tendon_activ5_parse_value(which, input, length, &message);
    return 0;
}
