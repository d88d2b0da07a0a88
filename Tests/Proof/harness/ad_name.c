/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/host/advertisement.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    static char text[32];
    size_t capacity = (size_t)Frama_C_interval(0, 3);
    if (capacity == 3) {
        capacity = sizeof text;
    }
    //@ split capacity;
    char *out = text + (sizeof text - capacity); /* its end is the end of the array, as that of the input */
    //@ widen_hints global:"all", 0, 1, 31;
    tendon_ad_name(input, length, out, capacity);
    tendon_ad_structure name;
    tendon_ad_find_name(input, length, &name);
    return 0;
}
