/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/tools/capture.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    uint32_t datalink;
    size_t offset = 0;
    tendon_capture_decode_header(input, length, &datalink, &offset);
    return 0;
}
