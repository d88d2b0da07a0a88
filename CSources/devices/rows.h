/* SPDX-License-Identifier: MIT */
/* The characteristics that each family's session discovers: its tendon_profile_row. */
#ifndef TENDON_DEVICES_ROWS_H
#define TENDON_DEVICES_ROWS_H

#include "tendon/devices/profile.h"

/** The characteristics of the rows of Generic Attribute, which come before those of a family in a cache. */
enum { TENDON_PROFILE_SERVICE_CHANGED = 0x2A05, TENDON_PROFILE_CLIENT_SUPPORTED_FEATURES = 0x2B29 };

enum { TENDON_OBVIOUS_ROWS = 2 };

/** @param context struct tendon_bose_tag; only its session's config is read. */
uint8_t tendon_bose_row(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic);
/** @param context not used. */
uint8_t tendon_feelspace_row(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic);
/** @param context not used. */
uint8_t tendon_activ5_row(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic);
/** @param context tendon_fjorden_session; only its config is read. */
uint8_t tendon_fjorden_row(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic);
/** @param context tendon_obvious_session; only its config is read. */
uint8_t tendon_obvious_row(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic);

#endif
