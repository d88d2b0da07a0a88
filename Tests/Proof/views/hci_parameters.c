/* SPDX-License-Identifier: MIT */
#include "tendon/host/hci.h"
#include "view.h"

int main(void) {
    size_t length = proof_length();
    tendon_hci_event event = {0};
    //@ split length;
    event.data = proof_input(length);
    event.length = length;
    int code = Frama_C_interval(0, 255);
    //@ split code;
    event.code = (uint8_t)code;
    event.subevent = (uint8_t)Frama_C_interval(0, 255);
    tendon_hci_parameters parameters;
    size_t offset = 0;
    if (tendon_hci_decode(&event, &parameters, &offset) == TENDON_OK) {
        proof_view(parameters.data, parameters.length);
    } else if (offset > length) {
        proof_fail();
    }
    return 0;
}
