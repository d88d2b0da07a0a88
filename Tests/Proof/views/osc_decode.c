/* SPDX-License-Identifier: MIT */
/* Address, tags and arguments of a message, and the bytes of each argument. */
#include "tendon/osc/message.h"
#include "view.h"

static void take(void *context, const tendon_osc_message *message) {
    (void)context;
    proof_view(message->address, message->address_length + 1);
    proof_view(message->tags, message->tag_count + 1);
    proof_view(message->arguments, message->arguments_length);
    tendon_osc_arguments arguments = tendon_osc_arguments_of(message);
    tendon_osc_argument argument;
    while (tendon_osc_next(&arguments, &argument)) {
        proof_view(argument.bytes, argument.length);
    }
}

int main(void) {
    size_t length = proof_length();
    //@ split length;
    tendon_osc_decode(proof_input(length), length, take, NULL, NULL);
    return 0;
}
