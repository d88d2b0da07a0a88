/* SPDX-License-Identifier: MIT */
/*
 * The orientation of a head as a quaternion in one frame, whatever device it comes from: **X to the front, Y to the
 * left, Z up**, right-handed, for the head and for the world. It turns head vectors into world vectors; the identity
 * looks to the world's front (of a compass: north) with a level head. It is the frame of Ambisonics and of ADM (Rec.
 * ITU-R BS.2076 has azimuth to the left and elevation up), so that receivers differ from it only in signs and order.
 *
 * Angles are yaw, then pitch, then roll about the turned axes (intrinsic z-y'-x''), in degrees, with the signs of
 * tendon_euler_head(): yaw to the right, pitch up, roll to the left shoulder positive. Their order is not that of
 * tendon_euler_head(), which turns by roll before pitch: both are equal while two of the three angles are 0.
 */
#ifndef TENDON_OSC_ORIENTATION_H
#define TENDON_OSC_ORIENTATION_H

#include "tendon/motion.h"

#ifdef __cplusplus
extern "C" {
#endif

/** From the raw quaternion of a Bose device (docs/protocols/bose.md: body X right, Y back, Z down; world X east, Y
 * north, Z up). Exact: components change their places and signs only. */
tendon_quaternion tendon_head_from_bose(tendon_quaternion q);

/** Degrees; yaw and roll -180 to 180, pitch -90 to 90. */
typedef struct tendon_head_angles {
    double yaw, pitch, roll;
} tendon_head_angles;

tendon_head_angles tendon_head_angles_of(tendon_quaternion head);

typedef struct tendon_orientation_settings {
    uint32_t rate;         /**< most orientations per second; 0: all of them */
    uint32_t smoothing_ms; /**< time constant of a low pass of first order; 0: none */
    bool yaw_only;         /**< recentering changes the yaw alone; pitch and roll stay those of gravity */
} tendon_orientation_settings;

/** The caller's memory. Private. */
typedef struct tendon_orientation {
    tendon_orientation_settings settings;
    tendon_quaternion reference; /**< conjugate: what turns the world */
    tendon_quaternion newest;    /**< as it came */
    tendon_quaternion smoothed;
    uint64_t smoothed_at, sent_at; /**< ns */
    bool has_newest, has_sent;
} tendon_orientation;

/** Nothing is recentered: the front is the front of the world. */
void tendon_orientation_init(tendon_orientation *orientation, tendon_orientation_settings settings);

/**
 * Takes one orientation.
 * @param head of any norm that is not 0; what is no rotation (norm not within 0.1 of 1, or not finite) is ignored.
 * @param time when it was measured or received, in nanoseconds, by any clock that does not go back.
 * @param out set to the orientation to send: smoothed, and seen from the reference.
 * @return false if nothing is to be sent: the rate is used up, or @p head is no rotation.
 */
bool tendon_orientation_take(tendon_orientation *orientation, tendon_quaternion head, uint64_t time,
                             tendon_quaternion *out);

/** Makes the newest orientation the reference: the head that is held so looks to the front from now on, and with it,
 * not with yaw_only, is level. TENDON_ERROR_WRONG_STATE if there was none yet. */
tendon_status tendon_orientation_recenter(tendon_orientation *orientation);

/** What a device forgets when it disconnects: the newest orientation and smoothing. The reference stays. */
void tendon_orientation_pause(tendon_orientation *orientation);

/** The head of a device whose sensors have different fronts. Private; the caller's memory. */
typedef struct tendon_osc_head {
    tendon_orientation orientation;
    uint64_t rotation_at; /**< when a rotation came, ns */
} tendon_osc_head;

void tendon_osc_head_init(tendon_osc_head *head, tendon_orientation_settings settings);

/**
 * Takes an orientation as tendon_orientation_take() does, unless another sensor gives it: that with the absolute front
 * (`rotation` of a Bose wearable) counts while it comes, and another one when it has not come for a second.
 * @param is_absolute the sensor's front is that of the world, not that of its start.
 */
bool tendon_osc_head_take(tendon_osc_head *head, bool is_absolute, tendon_quaternion raw, uint64_t time,
                          tendon_quaternion *out);

/** What a map can send. */
typedef enum tendon_osc_term {
    TENDON_OSC_TERM_W = 0, /**< of the quaternion */
    TENDON_OSC_TERM_X,
    TENDON_OSC_TERM_Y,
    TENDON_OSC_TERM_Z,
    TENDON_OSC_TERM_YAW, /**< degrees */
    TENDON_OSC_TERM_PITCH,
    TENDON_OSC_TERM_ROLL,
    TENDON_OSC_TERM_ZERO
} tendon_osc_term;

enum { TENDON_OSC_TERMS = 8 };

/** The numbers of a message: which, in which order, with which sign. */
typedef struct tendon_osc_map {
    uint8_t count;
    bool is_inverse; /**< of the inverse rotation: how the scene turns about a head that holds still */
    struct {
        uint8_t term; /**< tendon_osc_term */
        bool is_negative;
    } terms[TENDON_OSC_TERMS];
} tendon_osc_map;

/**
 * Reads a map: terms with commas between them, "w,-x,-y,-z" or "-yaw,pitch,-roll", each with "-" in front if it changes
 * its sign; "scene:" before the first takes all of them of the inverse rotation. Blanks around a term are skipped.
 * @param offset set to the first character that is wrong, on an error; may be NULL.
 * @return the number of terms; TENDON_ERROR_MALFORMED; TENDON_ERROR_TABLE_FULL beyond TENDON_OSC_TERMS.
 */
tendon_status tendon_osc_map_parse(const char *text, size_t length, tendon_osc_map *out, size_t *offset);

/** Computes the numbers of an orientation: map->count of them. */
void tendon_osc_map_values(const tendon_osc_map *map, tendon_quaternion head, double out[TENDON_OSC_TERMS]);

#ifdef __cplusplus
}
#endif
#endif
