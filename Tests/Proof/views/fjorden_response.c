/* SPDX-License-Identifier: MIT */
#include "tendon/devices/fjorden_codec.h"
#include "view.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    tendon_fjorden_response decoded;
    if (tendon_fjorden_decode_response(proof_input(length), length, &decoded) >= 0) {
        proof_view(decoded.payload, decoded.payload_length);
    }
    return 0;
}
