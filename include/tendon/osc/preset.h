/* SPDX-License-Identifier: MIT */
/*
 * What receivers of orientations expect, by name, and the packet of a destination. docs/osc.md has the reasons for each
 * sign. Sources, read in November 2026:
 *
 * - iem, iem-ypr: IEM Plug-in Suite, SceneRotator (interceptOSCMessage, calcRotationMatrix, updateQuaternions): the
 *   quaternion w x y z, or the angles, turn the scene; frame X front, Y left, Z up; default order roll, pitch, yaw
 * about the axes that hold still.
 * - sparta: SPARTA ambiBIN (oscMessageReceived) and euler2rotationMatrix() of its framework: degrees, "yaw-pitch-roll";
 *   the matrices turn the frame, so the angles are those of the head, right-handed: yaw to the left, pitch down, roll
 * to the right positive. Port 9000.
 * - adm: ADM-OSC 1.0, "Listener messages" and "Six Degrees of Freedom": degrees; yaw to the left, pitch up, roll to the
 *   right positive.
 * - virtuoso: APL Virtuoso, closed: by the profile of Supperware's Bridgehead, the quaternion w x y z of the head. Port
 *   8000. Not tried with the program.
 * - opentrack: tracker-udp of opentrack: six doubles, least significant byte first, x y z in centimeters, yaw pitch
 * roll in degrees; signs as those of its SteamVR input, whose frame is known: yaw to the right, pitch up, roll to the
 * left positive. Port 4242.
 */
#ifndef TENDON_OSC_PRESET_H
#define TENDON_OSC_PRESET_H

#include "tendon/osc/message.h"
#include "tendon/osc/orientation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tendon_osc_format {
    TENDON_OSC_RAW = 0,     /**< each sample of each sensor, by an address of its own: tendon_osc_sample() */
    TENDON_OSC_ORIENTATION, /**< a message with the numbers of a map as floats */
    TENDON_OSC_OPENTRACK    /**< a packet of OpenTrack; the map has yaw, pitch and roll of opentrack */
} tendon_osc_format;

typedef struct tendon_osc_preset {
    const char *name;
    const char *summary; /**< for people */
    const char *address; /**< NULL of RAW and OPENTRACK */
    const char *map;     /**< NULL of RAW */
    tendon_osc_format format;
} tendon_osc_preset;

/** Returns the preset with that index, or NULL after the last one. Static. */
const tendon_osc_preset *tendon_osc_preset_at(size_t index);
/** Returns the preset, or NULL. @param name of @p length bytes. */
const tendon_osc_preset *tendon_osc_preset_named(const char *name, size_t length);

enum { TENDON_OPENTRACK_SIZE = 48 };

/** Writes a packet of OpenTrack. @param pose x, y, z in centimeters, yaw, pitch, roll in degrees. */
void tendon_opentrack_encode(const double pose[6], uint8_t out[TENDON_OPENTRACK_SIZE]);

/** The longest packet of tendon_osc_orientation(). */
enum { TENDON_OSC_ORIENTATION_MAX = 256 + 12 + 4 * TENDON_OSC_TERMS };

/**
 * Encodes an orientation for a destination.
 * @param format ORIENTATION or OPENTRACK.
 * @param address of ORIENTATION, as of tendon_osc_sample().
 * @param map of OPENTRACK with 3 terms.
 * @return the length; TENDON_ERROR_INVALID_ARGUMENT, TENDON_ERROR_BUFFER_TOO_SMALL.
 */
tendon_status tendon_osc_orientation(tendon_osc_format format, const char *address, const tendon_osc_map *map,
                                     tendon_quaternion head, uint8_t *out, size_t capacity);

/** The most numbers of one sample that tendon_osc_sample() sends. */
enum { TENDON_OSC_SAMPLE_MAX = 64 };

/**
 * Encodes the numbers of a sample as floats. NaN stands for what the device does not know, and is sent as NaN.
 * @param address with a terminator: "/" and printable ASCII without blank, "#" and ",", at most TENDON_OSC_ADDRESS_MAX.
 * @param count at most TENDON_OSC_SAMPLE_MAX. Errors as above.
 */
tendon_status tendon_osc_sample(const char *address, const double *values, size_t count, uint8_t *out, size_t capacity);

/** Appends one level to an address: a "/" and the text, where each byte that an address cannot have, or that is part of
 * a pattern, becomes "_". Returns the new length without the terminator, which is written;
 * TENDON_ERROR_BUFFER_TOO_SMALL. */
tendon_status tendon_osc_append_level(char *address, size_t length, size_t capacity, const char *text,
                                      size_t text_length);

#ifdef __cplusplus
}
#endif
#endif
