/* SPDX-License-Identifier: MIT */
#include "tendon/host/gatt_cache.h"
#include "proof.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    static tendon_gatt_cache_record record;
    size_t offset = 0;
    if (tendon_gatt_cache_decode(input, length, &record, &offset) > 0 || record.count > TENDON_GATT_CACHE_ROWS) {
        proof_fail();
    }
    return 0;
}
