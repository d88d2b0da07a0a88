/* SPDX-License-Identifier: MIT */
#include "tendon/host/hci.h"
#include "view.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    tendon_acl acl;
    size_t offset = 0;
    if (tendon_acl_decode(proof_input(length), length, &acl, &offset) == TENDON_OK) {
        proof_view(acl.data, acl.length);
    } else if (offset > length) {
        proof_fail();
    }
    return 0;
}
