/* SPDX-License-Identifier: MIT */
#include "tendon/host/advertisement.h"
#include "view.h"

/* One step of the iterator from any position that an earlier step can leave: the view it returns, and the position
 * behind it. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    size_t start = (size_t)Frama_C_interval(0, (int)length);
    //@ split start;
    if (start < length) {
        input[start] = proof_pinned(length);
    }
    tendon_ad_iterator iterator = tendon_ad_begin(input, length);
    iterator.reader.position = start;
    tendon_ad_structure structure;
    if (tendon_ad_next(&iterator, &structure)) {
        proof_view(structure.data, structure.length);
    }
    if (iterator.reader.position > length) {
        proof_fail();
    }
    return 0;
}
