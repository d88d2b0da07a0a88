/* SPDX-License-Identifier: MIT */
#include "tendon/host/hci.h"
#include "view.h"

int main(void) {
    size_t length = proof_length();
    tendon_hci_event event = {0};
    //@ split length;
    event.data = proof_input(length);
    event.length = length;
    /* The events whose parameters contain bytes, one without, and the rest as one. Split into all 256 codes, this takes
     * 14 s for 10 lengths. */
    static const uint8_t codes[] = {TENDON_HCI_COMMAND_COMPLETE, TENDON_HCI_NUMBER_OF_COMPLETED_PACKETS,
                                    TENDON_HCI_LE_META, TENDON_HCI_DISCONNECTION_COMPLETE};
    int kind = Frama_C_interval(0, 4);
    //@ split kind;
    event.code = kind < 4 ? codes[kind] : (uint8_t)Frama_C_interval(0, 255);
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
