/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/bose_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    static tendon_bose_gesture_information information;
    Frama_C_make_unknown((char *)&information, sizeof information);
    information.count = (size_t)Frama_C_interval(0, TENDON_BOSE_GESTURES_MAX);
    tendon_bose_gesture_configuration decoded;
    size_t offset = 0;
    //@ widen_hints global:"all", TENDON_BOSE_GESTURES_MAX;
    tendon_bose_decode_gesture_configuration(input, length, proof_unknown ? &information : NULL, &decoded, &offset);
    return 0;
}
