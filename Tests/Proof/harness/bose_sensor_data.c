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
    /* Each by itself: what is set for a sensor is always the size of its whole record. */
    information.usual[TENDON_BOSE_ACCELEROMETER] = proof_unknown ? 10 : 0;
    information.usual[TENDON_BOSE_GYROSCOPE] = proof_unknown ? 10 : 0;
    information.usual[TENDON_BOSE_ROTATION] = proof_unknown ? 13 : 0;
    information.usual[TENDON_BOSE_GAME_ROTATION] = proof_unknown ? 11 : 0;
    information.usual[TENDON_BOSE_ORIENTATION] = proof_unknown ? 10 : 0;
    information.usual[TENDON_BOSE_MAGNETOMETER] = proof_unknown ? 10 : 0;
    information.usual[TENDON_BOSE_UNCALIBRATED_MAGNETOMETER] = proof_unknown ? 15 : 0;
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
