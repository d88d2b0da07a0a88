/* SPDX-License-Identifier: MIT */
#include "tendon/motion.h"

void tendon_euler_rotations_batch(const tendon_quaternion *q, tendon_euler *out, size_t count) {
    for (size_t i = 0; i < count; i++) {
        out[i] = tendon_euler_rotations(q[i]);
    }
}
