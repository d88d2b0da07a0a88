/* SPDX-License-Identifier: MIT */
#include "internal.h"
#include "tendon/devices/feelspace_signal.h"

bool tendon_feelspace_degrees(double degrees, uint16_t *out) {
    /* 2^53: beyond it a double has no degrees to speak of. Not a number fails both comparisons. */
    if (!(degrees >= -9007199254740992.0 && degrees <= 9007199254740992.0)) {
        return false;
    }
    int64_t rest = (int64_t)degrees % 360;
    *out = (uint16_t)(rest < 0 ? rest + 360 : rest);
    return true;
}

static int32_t direction_type(bool is_bearing) {
    return is_bearing ? TENDON_FEELSPACE_ORIENTATION_BEARING : TENDON_FEELSPACE_ORIENTATION_ANGLE;
}

/* ---- command manager ---- */

tendon_status tendon_feelspace_encode_vibration(const tendon_feelspace_vibration *vibration,
                                                tendon_feelspace_channels channels, uint8_t *out, size_t capacity) {
    static const struct {
        uint8_t signal, pattern;
        int8_t iterations;
        bool directional;
        uint16_t period_ms;
    } table[] = {
        {TENDON_FEELSPACE_SIGNAL_CONTINUOUS, TENDON_FEELSPACE_PATTERN_CONTINUOUS, -1, true, 500},
        {TENDON_FEELSPACE_SIGNAL_NAVIGATION, TENDON_FEELSPACE_PATTERN_CONTINUOUS, -1, true, 500},
        {TENDON_FEELSPACE_SIGNAL_DESTINATION_REACHED_REPEATED, TENDON_FEELSPACE_PATTERN_GOAL_REACHED, -1, false, 5000},
        {TENDON_FEELSPACE_SIGNAL_DESTINATION_REACHED, TENDON_FEELSPACE_PATTERN_GOAL_REACHED, 1, false, 2500},
        {TENDON_FEELSPACE_SIGNAL_APPROACHING_DESTINATION, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, -1, true, 1000},
        {TENDON_FEELSPACE_SIGNAL_DIRECTION_NOTIFICATION, TENDON_FEELSPACE_PATTERN_CONTINUOUS, 1, true, 1000},
        {TENDON_FEELSPACE_SIGNAL_ONGOING_TURN, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, -1, true, 750},
    };
    size_t row = 0;
    while (row < sizeof table / sizeof table[0] && table[row].signal != vibration->signal) {
        row++;
    }
    uint16_t degrees = 0;
    if (row == sizeof table / sizeof table[0] || !tendon_feelspace_degrees(vibration->direction, &degrees) ||
        !feelspace_within(vibration->channel, 0, (int32_t)channels - 1)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (vibration->intensity == 0) {
        return tendon_feelspace_encode_stop(vibration->channel, channels, out, capacity);
    }
    tendon_feelspace_channel c = {
        .channel = vibration->channel,
        .pattern = table[row].pattern,
        .intensity = vibration->intensity,
        .orientation_type = TENDON_FEELSPACE_ORIENTATION_MOTOR,
        .iterations = table[row].iterations,
        .period_ms = table[row].period_ms,
        .clear_others = vibration->stop_others,
    };
    if (table[row].directional) {
        c.orientation_type = direction_type(vibration->is_bearing);
        c.orientation = degrees;
    }
    return tendon_feelspace_encode_channel(&c, channels, out, capacity);
}

/* ---- navigation controller ---- */

/* Period 0: no packet of its own. */
static const struct {
    const char *name;
    uint16_t period_ms;
    uint8_t pattern;
    bool repeated, directional;
} navigation[TENDON_FEELSPACE_NAVIGATION_SIGNAL_COUNT] = {
    {"noVibration", 0, 0, true, false},
    {"continuous", 500, TENDON_FEELSPACE_PATTERN_CONTINUOUS, true, true},
    {"navigation", 500, TENDON_FEELSPACE_PATTERN_CONTINUOUS, true, true},
    {"approachingDestination", 500, TENDON_FEELSPACE_PATTERN_SINGLE_SHORT, true, true},
    {"turnOngoing", 750, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, true, true},
    {"directionNotification", 0, 0, false, true},
    {"nextWaypointLongDistance", 3000, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, true, true},
    {"nextWaypointMediumDistance", 1500, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, true, true},
    {"nextWaypointShortDistance", 1000, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, true, true},
    {"nextWaypointAreaReached", 750, TENDON_FEELSPACE_PATTERN_SINGLE_LONG, true, true},
    {"destinationReachedRepeated", 5000, TENDON_FEELSPACE_PATTERN_GOAL_REACHED, true, false},
    {"destinationReachedSingle", 0, 0, false, false},
    {"operationWarning", 0, 0, false, false},
    {"criticalWarning", 0, 0, false, false},
    {"batteryLevel", 0, 0, false, false},
};

static bool is_navigation_signal(int32_t signal) {
    return feelspace_within(signal, 0, TENDON_FEELSPACE_NAVIGATION_SIGNAL_COUNT - 1);
}

const char *tendon_feelspace_navigation_signal_name(int32_t signal) {
    return is_navigation_signal(signal) ? navigation[signal].name : "unknown";
}

int32_t tendon_feelspace_navigation_signal_named(const char *name, size_t length) {
    for (int32_t signal = 0; signal < TENDON_FEELSPACE_NAVIGATION_SIGNAL_COUNT; signal++) {
        const char *known = navigation[signal].name;
        size_t i = 0;
        while (i < length && known[i] != '\0' && known[i] == name[i]) {
            i++;
        }
        if (i == length && known[i] == '\0') {
            return signal;
        }
    }
    return -1;
}

bool tendon_feelspace_navigation_signal_repeated(int32_t signal) {
    return is_navigation_signal(signal) && navigation[signal].repeated;
}

bool tendon_feelspace_navigation_signal_directional(int32_t signal) {
    return is_navigation_signal(signal) && navigation[signal].directional;
}

tendon_status tendon_feelspace_encode_navigation(int32_t signal, int32_t direction, bool is_bearing, uint8_t *out,
                                                 size_t capacity) {
    if (!tendon_feelspace_navigation_signal_repeated(signal)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (signal == TENDON_FEELSPACE_NAVIGATION_NO_VIBRATION) {
        return tendon_feelspace_encode_stop(-1, TENDON_FEELSPACE_CHANNELS_DOCUMENTED, out, capacity);
    }
    tendon_feelspace_channel c = {
        .channel = TENDON_FEELSPACE_NAVIGATION_CHANNEL,
        .pattern = navigation[signal].pattern,
        .intensity = -1,
        .orientation_type = TENDON_FEELSPACE_ORIENTATION_MOTOR,
        .iterations = 0, /* for ever, spelt as the vendor's navigation controller does: 00, not FF */
        .period_ms = navigation[signal].period_ms,
    };
    if (navigation[signal].directional) {
        c.orientation_type = direction_type(is_bearing);
        c.orientation = direction;
    }
    return tendon_feelspace_encode_channel(&c, TENDON_FEELSPACE_CHANNELS_DOCUMENTED, out, capacity);
}

tendon_status tendon_feelspace_encode_direction_notice(int32_t direction, bool is_bearing, uint8_t *out,
                                                       size_t capacity) {
    tendon_feelspace_channel c = {
        .pattern = TENDON_FEELSPACE_PATTERN_CONTINUOUS,
        .intensity = -1,
        .orientation_type = direction_type(is_bearing),
        .orientation = direction,
        .iterations = 1,
        .period_ms = 1000,
    };
    return tendon_feelspace_encode_channel(&c, TENDON_FEELSPACE_CHANNELS_DOCUMENTED, out, capacity);
}

tendon_status tendon_feelspace_encode_warning_notice(bool critical, uint8_t *out, size_t capacity) {
    static const tendon_feelspace_channel notices[] = {
        {.pattern = TENDON_FEELSPACE_PATTERN_SHORT_SHIFT_WAVE,
         .intensity = 25,
         .orientation_type = TENDON_FEELSPACE_ORIENTATION_MOTOR,
         .iterations = 2,
         .period_ms = 500,
         .exclusive = true},
        {.pattern = TENDON_FEELSPACE_PATTERN_SINGLE_LONG,
         .intensity = -1,
         .orientation_type = TENDON_FEELSPACE_ORIENTATION_MASK,
         .orientation = 0x1111, /* front, right, back, left */
         .iterations = 3,
         .period_ms = 700,
         .exclusive = true},
    };
    return tendon_feelspace_encode_channel(&notices[critical], TENDON_FEELSPACE_CHANNELS_DOCUMENTED, out, capacity);
}
