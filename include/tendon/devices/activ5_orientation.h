/* SPDX-License-Identifier: MIT */
/*
 * Activ5: orientation of a trainer, computed from its motion like the vendor's add-on, but with a different filter.
 * Angular rates are integrated; the acceleration corrects the result towards gravity within about one second. The
 * heading drifts, because the trainer has no magnetometer.
 */
#ifndef TENDON_DEVICES_ACTIV5_ORIENTATION_H
#define TENDON_DEVICES_ACTIV5_ORIENTATION_H

#include "tendon/devices/activ5_codec.h"
#include "tendon/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Caller's memory. */
typedef struct tendon_activ5_orientation {
    tendon_quaternion q; /**< rotation from the trainer's axes to fixed axes whose Z points up; norm 1 */
    double offset[3];    /**< rad/s, subtracted from each rate after its correction */
    double sum[3];       /**< of the tare in progress */
    double left_s;       /**< remaining time of the tare */
    double timestamp;    /**< of the last accepted sample */
    uint32_t count;      /**< samples of the tare */
    bool taring, started;
} tendon_activ5_orientation;

void tendon_activ5_orientation_init(tendon_activ5_orientation *orientation);

/** Sets the heading to 0 with the next sample; keeps the offsets. */
void tendon_activ5_orientation_reset(tendon_activ5_orientation *orientation);

/** Starts a tare: the trainer must lie still for @p duration_s seconds (usually 1). The mean of its rates becomes their
 * offset. */
void tendon_activ5_orientation_tare(tendon_activ5_orientation *orientation, double duration_s);

/**
 * Processes one decoded sample; applies the vendor's correction of the rates. After a gap of more than one second, only
 * the direction of gravity is used. Returns false, without a change, if the time runs backwards or a value is not a
 * number.
 */
bool tendon_activ5_orientation_update(tendon_activ5_orientation *orientation, const tendon_activ5_imu *imu);

/** Returns the angle between two orientations of norm 1, in radians: 2 acos of the real part of a * inverse of b, 0 to
 * 2 pi. */
double tendon_activ5_orientation_difference(tendon_quaternion a, tendon_quaternion b);

#ifdef __cplusplus
}
#endif
#endif
