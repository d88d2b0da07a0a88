/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/activ5_codec.h"

static void on_text(void *context, tendon_status status, const tendon_activ5_message *message, uint64_t now) {
    (void)context, (void)now;
    if ((status < 0) != (message == NULL) || (message != NULL && message->text_length > TENDON_ACTIV5_TEXT_MAX)) {
        proof_fail();
    }
}

/* One notification after any others: whatever a feed leaves behind, which is checked at the end. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    /* where a walk ends: each length of a run of eight */
    //@ widen_hints global:"all", TENDON_ACTIV5_CONTENT_MAX, MIN, MIN+1, MIN+2, MIN+3, MIN+4, MIN+5, MIN+6, N;
    static tendon_activ5_deframer deframer;
    Frama_C_make_unknown((char *)&deframer, sizeof deframer);
    deframer.collecting = proof_unknown != 0;
    deframer.length = (uint8_t)Frama_C_interval(0, TENDON_ACTIV5_CONTENT_MAX);
    tendon_activ5_deframer_feed(&deframer, input, length, (uint64_t)proof_index(), on_text, NULL);
    if (deframer.length > TENDON_ACTIV5_CONTENT_MAX) {
        proof_fail();
    }
    return 0;
}
