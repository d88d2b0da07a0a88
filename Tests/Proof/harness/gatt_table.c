/* SPDX-License-Identifier: MIT */
#include "tendon/linux/gatt_table.h"
#include "proof.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    static tendon_gatt_table_content content;
    const uint8_t *cache = 0;
    size_t cache_length = 0;
    if (tendon_gatt_table_decode(input, length, &content, &cache, &cache_length) > 0) {
        proof_fail();
    }
    return 0;
}
