/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/bose_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    static tendon_bose_sensor_information information;
    Frama_C_make_unknown((char *)information.records, sizeof information.records);
    //@ loop unroll TENDON_BOSE_SENSORS_MAX;
    for (size_t i = 0; i < TENDON_BOSE_SENSORS_MAX; i++) {
        information.records[i].scale = Frama_C_double_interval(-65535.0, 65535.0);
    }
    information.count = (size_t)Frama_C_interval(0, TENDON_BOSE_SENSORS_MAX);
    tendon_bose_sensor_data walk = tendon_bose_sensor_data_begin(input, length, proof_unknown ? &information : NULL,
                                                                 (tendon_bose_profile)Frama_C_interval(0, 1));
    tendon_bose_step step;
    do {
        tendon_bose_sample sample; /* of this turn alone, or the analysis would follow its values through all of them */
        tendon_bose_skipped skipped;
        step = tendon_bose_sensor_data_next(&walk, &sample, &skipped);
    } while (step != TENDON_BOSE_STEP_END);
    return 0;
}
