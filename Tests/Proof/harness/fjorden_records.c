/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/fjorden_stream.h"

/* A whole connection's notifications are any stream state before one of them. */
int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    static tendon_fjorden_profile profile;
    Frama_C_make_unknown((char *)&profile, sizeof profile);
    profile.has_state = proof_unknown != 0;
    profile.has_control = proof_unknown != 0;
    static tendon_fjorden_stream stream;
    Frama_C_make_unknown((char *)&stream, sizeof stream);
    stream.started = proof_unknown != 0;
    stream.needs_resync = proof_unknown != 0;
    tendon_fjorden_records records;
    tendon_fjorden_stream_begin(&stream, &records, &profile, input, length);
    bool more;
    do {
        tendon_fjorden_record record;
        more = tendon_fjorden_stream_next(&stream, &records, &record);
    } while (more);
    return 0;
}
