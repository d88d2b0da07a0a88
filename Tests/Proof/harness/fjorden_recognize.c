/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/fjorden_session.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    static tendon_fjorden_profile profile;
    Frama_C_make_unknown((char *)&profile, sizeof profile);
    profile.name_prefix[sizeof profile.name_prefix - 1] = '\0';
    //@ widen_hints global:"all", 31;
    if (proof_unknown) {
        tendon_fjorden_recognize(NULL, input, length);
    } else {
        tendon_fjorden_recognize(&profile, input, length);
    }
    return 0;
}
