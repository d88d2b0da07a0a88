/* SPDX-License-Identifier: MIT */
#include "tendon/osc/orientation.h"
#include <math.h>

#define DEGREES (180.0 / 3.14159265358979323846)
#define NANOSECONDS UINT64_C(1000000000)
/* As far as a norm may be from 1: docs/protocols/bose.md, as the lines of tendon have it. */
#define NORM_TOLERANCE 0.1
/* Nanoseconds: a third of the usual connection interval of 15 ms. Our design. */
#define EARLY_MAX UINT64_C(5000000)
/* Nanoseconds without the absolute sensor after which another one gives the orientation. Our design: 50 of its usual
 * periods. */
#define PATIENCE UINT64_C(1000000000)

static const tendon_quaternion identity = {0, 0, 0, 1};

/* In the middle is m = q * (1, 0, 0, 0) = (w, z, -y, -x): body X right, Y front, Z up. Its front, left and up are Y, -X
 * and Z, for the head as for the world (north, west, up): (z, -w, -y, -x). The other sign is the same rotation, and
 * that of a level head to the north becomes the identity instead of its negative. */
tendon_quaternion tendon_head_from_bose(tendon_quaternion q) {
    return (tendon_quaternion){-q.z, q.w, q.y, q.x};
}

tendon_head_angles tendon_head_angles_of(tendon_quaternion head) {
    /* Right-handed about up, left and front: to the left, down and to the right. */
    tendon_euler e = tendon_euler_rotations(head);
    return (tendon_head_angles){-e.z * DEGREES, -e.y * DEGREES, -e.x * DEGREES};
}

void tendon_orientation_init(tendon_orientation *orientation, tendon_orientation_settings settings) {
    *orientation = (tendon_orientation){.settings = settings, .reference = identity};
}

void tendon_orientation_pause(tendon_orientation *orientation) {
    orientation->has_newest = false;
    orientation->has_sent = false;
}

/* The first of the three turns, so that the yaw is 0 afterwards. The twist about Z of a head that is tilted both ways
 * is not that. */
static tendon_quaternion yaw_of(tendon_quaternion q) {
    double half = tendon_euler_rotations(q).z / 2;
    return (tendon_quaternion){0, 0, sin(half), cos(half)};
}

tendon_status tendon_orientation_recenter(tendon_orientation *orientation) {
    if (!orientation->has_newest) {
        return TENDON_ERROR_WRONG_STATE;
    }
    tendon_quaternion now = orientation->newest;
    orientation->reference = tendon_quaternion_conjugate(orientation->settings.yaw_only ? yaw_of(now) : now);
    /* What was smoothed is the past. */
    orientation->smoothed = now;
    return TENDON_OK;
}

static double dot(tendon_quaternion a, tendon_quaternion b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

/* A low pass of first order, by the implicit form: the step dt / (tau + dt) is stable whatever the gap, and needs no
 * exp(). Along the chord: between two samples of a head the arc differs by nothing that a receiver resolves. */
static void smooth(tendon_orientation *o, tendon_quaternion q, uint64_t time) {
    double step = 1;
    if (o->has_newest && o->settings.smoothing_ms > 0 && time > o->smoothed_at) {
        double dt = (double)(time - o->smoothed_at) / 1e6;
        step = dt / ((double)o->settings.smoothing_ms + dt);
    } else if (o->has_newest && o->settings.smoothing_ms > 0) {
        step = 0;
    }
    double sign = dot(o->smoothed, q) < 0 ? -1 : 1, keep = sign * (1 - step);
    tendon_quaternion between = {keep * o->smoothed.x + step * q.x, keep * o->smoothed.y + step * q.y,
                                 keep * o->smoothed.z + step * q.z, keep * o->smoothed.w + step * q.w};
    if (!o->has_newest || tendon_quaternion_normalize(between, &o->smoothed) != TENDON_OK) {
        o->smoothed = q;
    }
    o->smoothed_at = time;
}

/* A quarter of a period early is in time: samples come with jitter, and a rate that is that of the sensor drops none.
 */
static bool is_time(const tendon_orientation *o, uint64_t time) {
    if (o->settings.rate == 0 || !o->has_sent) {
        return true;
    }
    uint64_t period = NANOSECONDS / o->settings.rate;
    uint64_t early = period / 4 < EARLY_MAX ? period / 4 : EARLY_MAX;
    return time >= o->sent_at + (period - early);
}

/* The next time is counted from when this one was to be sent, unless that is long ago: the mean rate is kept. */
static void sent(tendon_orientation *o, uint64_t time) {
    uint64_t period = o->settings.rate > 0 ? NANOSECONDS / o->settings.rate : 0;
    bool is_steady = o->has_sent && time < o->sent_at + 2 * period;
    o->sent_at = is_steady ? o->sent_at + period : time;
    o->has_sent = true;
}

bool tendon_orientation_take(tendon_orientation *orientation, tendon_quaternion head, uint64_t time,
                             tendon_quaternion *out) {
    tendon_quaternion unit;
    double norm = tendon_quaternion_norm(head);
    /* Negated, so that what is not a number is refused. */
    if (!(fabs(norm - 1) <= NORM_TOLERANCE) || tendon_quaternion_normalize(head, &unit) != TENDON_OK) {
        return false;
    }
    smooth(orientation, unit, time);
    orientation->newest = unit;
    orientation->has_newest = true;
    if (!is_time(orientation, time)) {
        return false;
    }
    sent(orientation, time);
    *out = tendon_quaternion_multiply(orientation->reference, orientation->smoothed);
    return true;
}

void tendon_osc_head_init(tendon_osc_head *head, tendon_orientation_settings settings) {
    *head = (tendon_osc_head){.rotation_at = 0};
    tendon_orientation_init(&head->orientation, settings);
}

bool tendon_osc_head_take(tendon_osc_head *head, bool is_absolute, tendon_quaternion raw, uint64_t time,
                          tendon_quaternion *out) {
    if (is_absolute) {
        head->rotation_at = time;
    } else if (head->rotation_at != 0 && time < head->rotation_at + PATIENCE) {
        return false;
    }
    return tendon_orientation_take(&head->orientation, raw, time, out);
}
