/* SPDX-License-Identifier: MIT */
/* Units: of counts, of ticks. */
#include "codec_parts.h"

#if defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART
#endif

/* Both sensors count to 4095: 1 g, 250 degrees a second. */
static const double full_scale = 4095.0;

static const double pi = 3.14159265358979323846;

double tendon_activ5_to_g(double raw) {
    return raw / full_scale;
}

double tendon_activ5_to_rad_per_s(double raw) {
    return ((raw * (250.0 / full_scale)) * pi) / 180.0;
}

double tendon_activ5_to_s(double ticks) {
    return ((ticks * 30.5) / 1000000.0) / 2.0;
}

/* A conversion that is out of range is undefined in C, so the range is checked first. Towards zero; saturating; NaN is
 * 0. */
APART static int64_t truncate(double value) {
    if (value != value) {
        return 0;
    }
    if (value >= 9223372036854775808.0) {
        return INT64_MAX;
    }
    return value <= -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

int64_t tendon_activ5_from_g(double g) {
    return truncate(g * full_scale);
}

int64_t tendon_activ5_from_rad_per_s(double rad_per_s) {
    return truncate(rad_per_s / ((250.0 / full_scale) * (pi / 180.0)));
}

int64_t tendon_activ5_from_s(double seconds) {
    return truncate(((seconds / 30.5) * 1000000.0) * 2.0);
}

double tendon_activ5_to_newtons(double raw) {
    return raw * 0.27156315909;
}

double tendon_activ5_to_newtons_legacy(double raw) {
    return raw * 1.08625263633;
}

float tendon_activ5_to_lbf(double raw) {
    return (float)raw * 0.0610498269896194f;
}

float tendon_activ5_to_lbf_legacy(double raw) {
    return (float)raw * 0.24419930795f;
}

tendon_activ5_imu tendon_activ5_scaled(const tendon_activ5_imu *imu) {
    tendon_activ5_imu scaled = *imu;
    for (int i = 0; i < 3; i++) {
        scaled.gyro[i] = imu->gyro[i] * 1.15;
    }
    return scaled;
}
