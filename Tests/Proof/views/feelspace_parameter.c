/* SPDX-License-Identifier: MIT */
#include "tendon/devices/feelspace_codec.h"
#include "view.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    tendon_feelspace_parameter parameter;
    size_t offset = 0;
    tendon_status status = tendon_feelspace_decode_parameter(proof_input(length), length, &parameter, &offset);
    if (status == TENDON_OK && parameter.kind == TENDON_FEELSPACE_PARAMETER_NAME) {
        proof_view(parameter.name.text, parameter.name.length);
    } else if (offset > length) {
        proof_fail();
    }
    return 0;
}
