/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/tools/capture.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_capture_record record;
    size_t offset = 0;
    int datalink = Frama_C_interval(1000, 2100);
    tendon_capture_decode_record((uint32_t)datalink, input, length, &record, &offset);
    return 0;
}
