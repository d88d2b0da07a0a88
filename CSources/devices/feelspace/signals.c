/* SPDX-License-Identifier: MIT */
#include "codec_parts.h"
#include "tendon/devices/feelspace_signal.h"

bool tendon_feelspace_degrees(double degrees, uint16_t *out) {
    /* 2^53: beyond it a double cannot represent single degrees. Not a number fails both comparisons. */
    if (!(degrees >= -9007199254740992.0 && degrees <= 9007199254740992.0)) {
        return false;
    }
    int64_t rest = (int64_t)degrees % 360;
    *out = (uint16_t)(rest < 0 ? rest + 360 : rest);
    return true;
}

/* Components of the signals of both interfaces. */
typedef struct rhythm {
    uint16_t period_ms; /* 0: no packet of its own */
    uint8_t pattern;
    int8_t iterations;
    bool directional; /* else motor 0 */
} rhythm;

static tendon_status encode(const rhythm *r, const tendon_feelspace_vibration *v, int32_t direction,
                            tendon_feelspace_channels channels, uint8_t *out, size_t capacity) {
    tendon_feelspace_channel c = {
        .channel = v->channel,
        .pattern = r->pattern,
        .intensity = v->intensity,
        .orientation_type = TENDON_FEELSPACE_ORIENTATION_MOTOR,
        .iterations = r->iterations,
        .period_ms = r->period_ms,
        .clear_others = v->stop_others,
    };
    if (r->directional) {
        c.orientation_type = TENDON_FEELSPACE_ORIENTATION_ANGLE + v->is_bearing;
        c.orientation = direction;
    }
    return tendon_feelspace_encode_channel(&c, channels, out, capacity);
}

/* ---- command manager ---- */

tendon_status tendon_feelspace_encode_vibration(const tendon_feelspace_vibration *vibration,
                                                tendon_feelspace_channels channels, uint8_t *out, size_t capacity) {
    static const uint8_t signals[] = {
        TENDON_FEELSPACE_SIGNAL_CONTINUOUS,
        TENDON_FEELSPACE_SIGNAL_NAVIGATION,
        TENDON_FEELSPACE_SIGNAL_DESTINATION_REACHED_REPEATED,
        TENDON_FEELSPACE_SIGNAL_DESTINATION_REACHED,
        TENDON_FEELSPACE_SIGNAL_APPROACHING_DESTINATION,
        TENDON_FEELSPACE_SIGNAL_DIRECTION_NOTIFICATION,
        TENDON_FEELSPACE_SIGNAL_ONGOING_TURN,
    };
    static const rhythm rhythms[sizeof signals] = {
        {500, TENDON_FEELSPACE_PATTERN_CONTINUOUS, -1, true},
        {500, TENDON_FEELSPACE_PATTERN_CONTINUOUS, -1, true},
        {5000, TENDON_FEELSPACE_PATTERN_GOAL_REACHED, -1, false},
        {2500, TENDON_FEELSPACE_PATTERN_GOAL_REACHED, 1, false},
        {1000, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, -1, true},
        {1000, TENDON_FEELSPACE_PATTERN_CONTINUOUS, 1, true},
        {750, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, -1, true},
    };
    size_t row = 0;
    while (row < sizeof signals && signals[row] != vibration->signal) {
        row++;
    }
    uint16_t degrees = 0;
    if (row == sizeof signals || !tendon_feelspace_degrees(vibration->direction, &degrees) || vibration->channel < 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    return vibration->intensity == 0 ? tendon_feelspace_encode_stop(vibration->channel, channels, out, capacity)
                                     : encode(&rhythms[row], vibration, degrees, channels, out, capacity);
}

/* ---- navigation controller ---- */

/* Endless is 0 here, and 00 in the packet, as in the vendor's navigation controller; -1 would be FF. */
static const rhythm navigation[TENDON_FEELSPACE_NAVIGATION_SIGNAL_COUNT] = {
    [TENDON_FEELSPACE_NAVIGATION_CONTINUOUS] = {500, TENDON_FEELSPACE_PATTERN_CONTINUOUS, 0, true},
    [TENDON_FEELSPACE_NAVIGATION_NAVIGATION] = {500, TENDON_FEELSPACE_PATTERN_CONTINUOUS, 0, true},
    [TENDON_FEELSPACE_NAVIGATION_APPROACHING_DESTINATION] = {500, TENDON_FEELSPACE_PATTERN_SINGLE_SHORT, 0, true},
    [TENDON_FEELSPACE_NAVIGATION_TURN_ONGOING] = {750, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, 0, true},
    [TENDON_FEELSPACE_NAVIGATION_DIRECTION_NOTIFICATION] = {0, TENDON_FEELSPACE_PATTERN_CONTINUOUS, 0, true},
    [TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_LONG_DISTANCE] = {3000, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, 0, true},
    [TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_MEDIUM_DISTANCE] = {1500, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, 0, true},
    [TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_SHORT_DISTANCE] = {1000, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, 0, true},
    [TENDON_FEELSPACE_NAVIGATION_NEXT_WAYPOINT_AREA_REACHED] = {750, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, 0, true},
    [TENDON_FEELSPACE_NAVIGATION_DESTINATION_REACHED_REPEATED] = {5000, TENDON_FEELSPACE_PATTERN_GOAL_REACHED, 0,
                                                                  false},
};

static bool is_navigation_signal(int32_t signal) {
    return feelspace_within(signal, 0, TENDON_FEELSPACE_NAVIGATION_SIGNAL_COUNT - 1);
}

bool tendon_feelspace_navigation_signal_repeated(int32_t signal) {
    return signal == TENDON_FEELSPACE_NAVIGATION_NO_VIBRATION ||
           (is_navigation_signal(signal) && navigation[signal].period_ms != 0);
}

bool tendon_feelspace_navigation_signal_directional(int32_t signal) {
    return is_navigation_signal(signal) && navigation[signal].directional;
}

tendon_status tendon_feelspace_encode_navigation(int32_t signal, int32_t direction, bool is_bearing, uint8_t *out,
                                                 size_t capacity) {
    const tendon_feelspace_vibration v = {
        .channel = TENDON_FEELSPACE_NAVIGATION_CHANNEL, .intensity = -1, .is_bearing = is_bearing};
    if (signal == TENDON_FEELSPACE_NAVIGATION_NO_VIBRATION) {
        return tendon_feelspace_encode_stop(-1, TENDON_FEELSPACE_CHANNELS_DOCUMENTED, out, capacity);
    }
    return is_navigation_signal(signal) /* signals without a period are rejected with it */
               ? encode(&navigation[signal], &v, direction, TENDON_FEELSPACE_CHANNELS_DOCUMENTED, out, capacity)
               : TENDON_ERROR_INVALID_ARGUMENT;
}

tendon_status tendon_feelspace_encode_direction_notice(int32_t direction, bool is_bearing, uint8_t *out,
                                                       size_t capacity) {
    static const rhythm once = {1000, TENDON_FEELSPACE_PATTERN_CONTINUOUS, 1, true};
    const tendon_feelspace_vibration v = {.intensity = -1, .is_bearing = is_bearing};
    return encode(&once, &v, direction, TENDON_FEELSPACE_CHANNELS_DOCUMENTED, out, capacity);
}

tendon_status tendon_feelspace_encode_warning_notice(bool critical, uint8_t *out, size_t capacity) {
    /* Short shift wave at 25 %, twice, 500 ms; long pulses in front, right, back and left, three times, 700 ms. */
    static const uint8_t packets[2][TENDON_FEELSPACE_CHANNEL_LENGTH] = {
        {0, 0x06, 0x19, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0xF4, 0x01, 0, 0, 1, 0},
        {0, 0x03, 0xAA, 0xAA, 0, 0, 0, 0x11, 0x11, 0, 0, 3, 0xBC, 0x02, 0, 0, 1, 0},
    };
    return tendon_feelspace_put(packets[critical], TENDON_FEELSPACE_CHANNEL_LENGTH, out, capacity);
}
