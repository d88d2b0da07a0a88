/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/obvious_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    const char *input = (const char *)proof_input(length);
    uint32_t code = 0;
    char text[TENDON_OBVIOUS_VERSION_SIZE];
    tendon_obvious_parse_version(input, length, &code);
    Frama_C_make_unknown((char *)&code, sizeof code);
    tendon_obvious_format_version(code, text);
    return 0;
}
