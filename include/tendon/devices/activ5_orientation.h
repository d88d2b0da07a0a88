/* SPDX-License-Identifier: MIT */
/*
 * Activ5: how a trainer is held, from its motion: what the vendor's add-on for it does, with a filter of our own. Rates
 * of turn are integrated; towards gravity the result is pulled within a second or so. Heading drifts: nothing in the
 * trainer knows North.
 */
#ifndef TENDON_DEVICES_ACTIV5_ORIENTATION_H
#define TENDON_DEVICES_ACTIV5_ORIENTATION_H

#include "tendon/devices/activ5_codec.h"
#include "tendon/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The caller's. */
typedef struct tendon_activ5_orientation {
    tendon_quaternion q; /**< from the trainer's axes to the room's, whose Z points up; norm 1 */
    double offset[3];    /**< rad/s, taken off each rate after its correction */
    double sum[3];       /**< of the tare that runs */
    double left_s;       /**< until it ends */
    double timestamp;    /**< of the last sample that was taken */
    uint32_t count;      /**< samples of the tare */
    bool taring, started;
} tendon_activ5_orientation;

void tendon_activ5_orientation_init(tendon_activ5_orientation *orientation);

/** Heading 0 with the next sample; offsets stay. */
void tendon_activ5_orientation_reset(tendon_activ5_orientation *orientation);

/** From now on for @p duration_s seconds (1 is usual) the trainer lies still: the mean of its rates is their offset. */
void tendon_activ5_orientation_tare(tendon_activ5_orientation *orientation, double duration_s);

/**
 * One sample, as it was decoded: the vendor's correction of the rates is done here. After a gap of more than a second
 * only the direction of gravity is taken from it. False, and nothing changes: its time runs backwards, or something in
 * it is no number.
 */
bool tendon_activ5_orientation_update(tendon_activ5_orientation *orientation, const tendon_activ5_imu *imu);

/** Radians between two orientations of norm 1: 2 acos of the real part of a * inverse of b, 0 to 2 pi. */
double tendon_activ5_orientation_difference(tendon_quaternion a, tendon_quaternion b);

#ifdef __cplusplus
}
#endif
#endif
