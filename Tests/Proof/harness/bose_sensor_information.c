/* SPDX-License-Identifier: MIT */
#include "proof.h"
#include "tendon/devices/bose_codec.h"

int main(void) {
    size_t length = proof_length();
    //@ split length;
    uint8_t *input = proof_input(length);
    tendon_bose_sensor_information decoded;
    size_t offset = 0;
    //@ widen_hints global:"all", TENDON_BOSE_SENSORS_MAX;
    tendon_bose_decode_sensor_information(input, length, &decoded, &offset);
    /* What the proof of sensor data takes for granted. */
    if (decoded.count > TENDON_BOSE_SENSORS_MAX) {
        proof_fail();
    }
    for (size_t i = 0; i < TENDON_BOSE_SENSORS_MAX; i++) {
        double scale = decoded.records[i].scale;
        if (!(scale >= -65535.0 && scale <= 65535.0)) {
            proof_fail();
        }
    }
    static const uint8_t usual[] = {10, 10, 13, 11, 10, 10, 15};
    //@ loop unroll 7;
    for (size_t i = 0; i < sizeof usual; i++) {
        if (decoded.usual[i] != 0 && decoded.usual[i] != usual[i]) {
            proof_fail();
        }
    }
    return 0;
}
