/* SPDX-License-Identifier: MIT */
/*
 * feelSpace naviBelt: the signals of the two programming interfaces, as packets for FE03. The two interfaces have
 * signals with the same name but different rhythms; use each set only with its own interface. Tables:
 * docs/protocols/feelspace.md.
 */
#ifndef TENDON_DEVICES_FEELSPACE_SIGNAL_H
#define TENDON_DEVICES_FEELSPACE_SIGNAL_H

#include "tendon/devices/feelspace_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Converts to degrees as the belt expects them, 0 to 359: truncated toward zero, then modulo 360. @return false if not
 * a number. */
bool tendon_feelspace_degrees(double degrees, uint16_t *out);

/* ---- command manager ---- */

/** Signals of vibrateAtAngle and vibrateAtMagneticBearing. */
typedef enum tendon_feelspace_signal {
    TENDON_FEELSPACE_SIGNAL_CONTINUOUS = 0x01,
    TENDON_FEELSPACE_SIGNAL_NAVIGATION = 0x81,
    TENDON_FEELSPACE_SIGNAL_DESTINATION_REACHED_REPEATED = 0x82,
    TENDON_FEELSPACE_SIGNAL_DESTINATION_REACHED = 0x83,
    TENDON_FEELSPACE_SIGNAL_APPROACHING_DESTINATION = 0x84,
    TENDON_FEELSPACE_SIGNAL_DIRECTION_NOTIFICATION = 0x85,
    TENDON_FEELSPACE_SIGNAL_ONGOING_TURN = 0x86
} tendon_feelspace_signal;

/** One of the signals on a channel. A belt executes it in app mode; in other modes only on channel 0, if the signal
 * ends by itself (DESTINATION_REACHED, DIRECTION_NOTIFICATION) and does not stop others. */
typedef struct tendon_feelspace_vibration {
    int32_t signal;    /**< tendon_feelspace_signal; 0 is none, and invalid */
    double direction;  /**< degrees, clockwise: 90 is right or east; reduced by tendon_feelspace_degrees() */
    bool is_bearing;   /**< from magnetic north; otherwise from the front of the belt */
    int32_t intensity; /**< 1 to 100 %; -1: the belt's default; 0 stops the channel */
    int32_t channel;   /**< 0 to 3; 0 to 5 with TENDON_FEELSPACE_CHANNELS_EXTENDED */
    bool stop_others;  /**< the other channels are stopped and cleared */
} tendon_feelspace_vibration;

/** @return 18; 2 if intensity 0 makes it a stop command; TENDON_ERROR_INVALID_ARGUMENT: a member is out of its range.
 */
tendon_status tendon_feelspace_encode_vibration(const tendon_feelspace_vibration *vibration,
                                                tendon_feelspace_channels channels, uint8_t *out, size_t capacity);

/* ---- navigation controller ---- */

#define TENDON_FEELSPACE_NAVIGATION_CHANNEL 2

typedef enum tendon_feelspace_navigation_signal {
    TENDON_FEELSPACE_NAVIGATION_NO_VIBRATION = 0,
    TENDON_FEELSPACE_NAVIGATION_CONTINUOUS,
    TENDON_FEELSPACE_NAVIGATION_NAVIGATION,
    TENDON_FEELSPACE_NAVIGATION_APPROACHING_DESTINATION,
    TENDON_FEELSPACE_NAVIGATION_TURN_ONGOING,
    TENDON_FEELSPACE_NAVIGATION_DIRECTION_NOTIFICATION,
    TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_LONG_DISTANCE,
    TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_MEDIUM_DISTANCE,
    TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_SHORT_DISTANCE,
    TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_AREA_REACHED,
    TENDON_FEELSPACE_NAVIGATION_DESTINATION_REACHED_REPEATED,
    TENDON_FEELSPACE_NAVIGATION_DESTINATION_REACHED_SINGLE,
    TENDON_FEELSPACE_NAVIGATION_OPERATION_WARNING,
    TENDON_FEELSPACE_NAVIGATION_CRITICAL_WARNING,
    TENDON_FEELSPACE_NAVIGATION_BATTERY_LEVEL,
    TENDON_FEELSPACE_NAVIGATION_SIGNAL_COUNT
} tendon_feelspace_navigation_signal;

/** Repeated signals can be navigated with, the others are temporary. */
bool tendon_feelspace_navigation_signal_repeated(int32_t signal);
bool tendon_feelspace_navigation_signal_directional(int32_t signal);

/** @return 18, or 2 for no vibration; TENDON_ERROR_INVALID_ARGUMENT for temporary signals. */
tendon_status tendon_feelspace_encode_navigation(int32_t signal, int32_t direction, bool is_bearing, uint8_t *out,
                                                 size_t capacity);
/** Encodes a vibration of one second in a direction, for any mode of the belt. @return 18. */
tendon_status tendon_feelspace_encode_direction_notice(int32_t direction, bool is_bearing, uint8_t *out,
                                                       size_t capacity);
/** Encodes the warning of the application, for any mode of the belt. @return 18. */
tendon_status tendon_feelspace_encode_warning_notice(bool critical, uint8_t *out, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
