/* SPDX-License-Identifier: MIT */
#include "obvious_cloud.h"
#include "proof.h"

enum { ROOM = 48 };

static uint8_t out[ROOM];

/* Into exactly as many bytes as the caller says there are. */
int main(void) {
    size_t length = proof_length();
    size_t size = (size_t)Frama_C_interval(0, ROOM);
    const char *text;
    //@ split length;
    text = (const char *)proof_input(length);
    //@ split size;
    tendon_cloud_base64(text, length, out + (ROOM - size), size);
    return 0;
}
