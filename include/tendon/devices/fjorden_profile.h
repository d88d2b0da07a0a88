/* SPDX-License-Identifier: MIT */
/*
 * Fjorden grip: the profile descriptor. The vendor does not publish UUIDs, codes and format, so they are data: fill in
 * those of a real grip here.
 */
#ifndef TENDON_DEVICES_FJORDEN_PROFILE_H
#define TENDON_DEVICES_FJORDEN_PROFILE_H

#include "tendon/devices/fjorden_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_FJORDEN_NAME_PREFIX "Fjorden Grip"
#define TENDON_FJORDEN_MINIMUM_FIRMWARE "1.0.0"

typedef enum tendon_fjorden_event_format {
    TENDON_FJORDEN_RECORD5 = 0, /**< records of sequence, code, time, value */
    TENDON_FJORDEN_CODE8        /**< each byte is a code */
} tendon_fjorden_event_format;

typedef struct tendon_fjorden_profile {
    char name_prefix[32];
    tendon_uuid service, event, state, control;
    bool has_state, has_control;
    tendon_fjorden_event_format format;
    uint8_t codes[256]; /**< code on the wire -> tendon_fjorden_event; 0: unknown */
} tendon_fjorden_profile;

/** Sets the reference profile. Single entries can be replaced or added. */
void tendon_fjorden_profile_init(tendon_fjorden_profile *profile);
/** Returns true if a local name of @p length characters is that of a grip. */
bool tendon_fjorden_profile_matches_name(const tendon_fjorden_profile *profile, const char *name, size_t length);

#ifdef __cplusplus
}
#endif
#endif
