/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/hci.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_hci_parameters parameters = {.data = input, .length = length};
    uint16_t handle;
    uint16_t packets;
    tendon_hci_completed_entry(&parameters, (uint8_t)Frama_C_interval(0, 255), &handle, &packets);
    return 0;
}
