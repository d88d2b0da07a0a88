/* SPDX-License-Identifier: MIT */
/*
 * A sample as numbers, for outputs that want numbers: OSC, LSL, recordings. The same values as the line has, with the
 * digits that they have.
 */
#ifndef TENDON_GATEWAY_VIEW_H
#define TENDON_GATEWAY_VIEW_H

#include "tendon/definition.h"
#include "tendon/devices.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most channels of a sample. Of a device file, further numbers are left out. */
#define TENDON_VIEW_CHANNELS 24

/** One number of a sample. Names are not copied: they are static, or of the definition. */
typedef struct tendon_view_channel {
    const char *name; /**< "pitch", "x" ...; of a device file, the name of its field */
    const char *unit; /**< "g", "deg", "deg/s", "rad/s", "N", "%"; "" has none */
} tendon_view_channel;

/** The caller's memory. */
typedef struct tendon_view {
    const char *sensor;                  /**< as `sensor` of the line; the name of the event where the line has none */
    const tendon_view_channel *channels; /**< those of a family are static; of a device file they are @p own */
    size_t count;
    double values[TENDON_VIEW_CHANNELS]; /**< not a number: not known */
    uint64_t received_at, sampled_at;    /**< monotonic nanoseconds; 0: not known */
    uint32_t error_us;                   /**< bound of the error of sampled_at */
    size_t left_out;                     /**< numbers without a channel */
    tendon_view_channel own[TENDON_VIEW_CHANNELS];
} tendon_view;

/* Each returns false if the event has no numbers, or is malformed; *out is not defined then. */

/** SAMPLE; of a rotation the quaternion and the angles of the head. */
bool tendon_bose_view(tendon_view *out, const tendon_bose_event *event);
/** ISOMETRIC, IMU, BATTERY. */
bool tendon_activ5_view(tendon_view *out, const tendon_activ5_event *event);
/** ORIENTATION, BATTERY. */
bool tendon_feelspace_view(tendon_view *out, const tendon_feelspace_session *session,
                           const tendon_feelspace_event *event);
/** BATTERY. */
bool tendon_fjorden_view(tendon_view *out, const tendon_fjorden_session_event *event);
/**
 * VALUE. Numbers, flags (0 and 1) and the numbers of words, outside of lists: a channel for each that the event can
 * have, in the order of the layout, all cases of a switch at its place. What this value does not have is not a number.
 * There may be no channel.
 * @param index 0, 1 ... until the result is false, as for tendon_defined_line().
 */
bool tendon_defined_view(tendon_view *out, const tendon_definition *definition, const tendon_described_rates *rates,
                         const tendon_defined_event *event, size_t index);

#ifdef __cplusplus
}
#endif
#endif
