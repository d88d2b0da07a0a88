/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/advertisement.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_ad_structure structure = {(uint8_t)Frama_C_interval(0, 255), input, length};
    tendon_ad_value value;
    tendon_status status = tendon_ad_decode(&structure, &value);
    if (status == TENDON_OK && value.kind == TENDON_AD_KIND_UUIDS) {
        uint8_t size = value.uuid_size;
        //@ split size;
        value.uuid_size = size;
        tendon_uuid uuid;
        tendon_ad_uuid_at(&value, (size_t)Frama_C_interval(0, N), &uuid);
    }
    return 0;
}
