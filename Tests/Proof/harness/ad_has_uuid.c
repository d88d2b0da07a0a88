/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/advertisement.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_uuid uuid;
    Frama_C_make_unknown((char *)&uuid, sizeof uuid);
    tendon_ad_has_uuid(input, length, &uuid);
    tendon_ad_service_uuid_at(input, length, (size_t)Frama_C_interval(0, N), &uuid);
    return 0;
}
