/* SPDX-License-Identifier: MIT */
#include "obvious_cloud.h"
#include "proof.h"

/* What a hostile cloud's text meets first. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    const char *text = (const char *)proof_input(length);
    tendon_cloud_check_limits(text, length);
    return 0;
}
