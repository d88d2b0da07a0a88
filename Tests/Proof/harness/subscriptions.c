/* SPDX-License-Identifier: MIT */
#include "../../../CSources/linux/store/subscriptions.h"
#include "proof.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    static tendon_subscription_record record;
    size_t offset = 0;
    if (tendon_subscription_record_decode(input, length, &record, &offset) > 0 ||
        record.count > TENDON_SUBSCRIPTIONS_MAX) {
        proof_fail();
    }
    return 0;
}
