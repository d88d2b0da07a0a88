/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/hci.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_acl acl;
    size_t offset = 0;
    tendon_acl_decode(input, length, &acl, &offset);
    return 0;
}
