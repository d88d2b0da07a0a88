/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/hci.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_hci_event event = {(uint8_t)Frama_C_interval(0, 255), (uint8_t)Frama_C_interval(0, 255), input, length};
    tendon_hci_parameters parameters;
    size_t offset = 0;
    tendon_hci_decode(&event, &parameters, &offset);
    return 0;
}
