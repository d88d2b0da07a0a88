/* SPDX-License-Identifier: MIT */
/* One packet; and the arguments of any message, whatever its tags and bytes. What a message lends is in views/. */
#include "proof.h"
#include "tendon/osc/message.h"

enum { TAGS = 3 };

static uint8_t tags[TAGS];
static volatile int sink;

static void take(void *context, const tendon_osc_message *message) {
    (void)context;
    sink = (int)message->tag_count;
}

int main(void) {
    //@ widen_hints global:"all", TENDON_OSC_DEPTH, N;
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    size_t offset = 0;
    (void)tendon_osc_decode(input, length, take, NULL, &offset);
    Frama_C_make_unknown((char *)tags, TAGS);
    tendon_osc_message message = {"/", 1, (const char *)tags, TAGS, input, length, 1};
    tendon_osc_arguments arguments = tendon_osc_arguments_of(&message);
    tendon_osc_argument argument;
    while (tendon_osc_next(&arguments, &argument)) {
        sink = tendon_osc_is_number(&argument);
    }
    return 0;
}
