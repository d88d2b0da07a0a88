/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/bose_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_bose_gesture_information decoded;
    size_t offset = 0;
    //@ widen_hints global:"all", TENDON_BOSE_GESTURES_MAX;
    tendon_status status = tendon_bose_decode_gesture_information(input, length, &decoded, &offset);
    /* What the proof of the gesture configuration takes for granted; of a value that is refused nothing is kept. */
    if (status != TENDON_BOSE_ERROR_BAD_RECORD && decoded.count > TENDON_BOSE_GESTURES_MAX) {
        proof_fail();
    }
    return 0;
}
