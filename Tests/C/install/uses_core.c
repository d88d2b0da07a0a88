/* SPDX-License-Identifier: MIT */
/* A program that brings its own transport: links libtendon-core alone and decodes one notification. */
#include <math.h>
#include <stdio.h>
#include <tendon/devices.h>

int main(void) {
    /* Game rotation, t = 65535, head tilted left by 90 degrees. */
    static const uint8_t value[] = {0x03, 0xFF, 0xFF, 0x2D, 0x41, 0x00, 0x00, 0x2D, 0x41, 0x00, 0x00};
    tendon_bose_sensor_data data = tendon_bose_sensor_data_begin(value, sizeof value, NULL, TENDON_BOSE_PROFILE_FIXED);
    tendon_bose_sample sample;

    if (tendon_bose_sensor_data_next(&data, &sample, NULL) != TENDON_BOSE_STEP_SAMPLE || sample.timestamp != 65535) {
        return 1;
    }
    tendon_angles head = tendon_euler_head(sample.quaternion);
    printf("# roll %.1f degrees\n", head.roll * 180.0 / 3.14159265358979323846);
    return fabs(head.roll - 1.5707963) < 0.01 ? 0 : 1;
}
