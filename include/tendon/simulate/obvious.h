/* SPDX-License-Identifier: MIT */
/*
 * Device side of OGP/1: the table of features and the cache of responses. The simulated device that uses them follows.
 */
#ifndef TENDON_SIMULATE_OBVIOUS_H
#define TENDON_SIMULATE_OBVIOUS_H

#include "tendon/devices/obvious.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One feature that the device knows. */
typedef struct tendon_simulated_obvious_feature {
    uint16_t id;
    uint8_t enable, toggle;
    uint32_t value;
} tendon_simulated_obvious_feature;

/**
 * Applies a package: fills a new table and leaves the old one alone, so that a device can switch between them in one
 * step. A full or clear package removes the features that it does not list; a provisioning package changes none.
 * @param old @p count features, ordered by id
 * @param out @p capacity features; TENDON_OBVIOUS_FEATURE_MAX always suffice
 * @return the number of features in @p out, ordered by id; TENDON_ERROR_TABLE_FULL if they do not fit
 */
tendon_status tendon_simulated_obvious_apply(const tendon_obvious_package *package,
                                             const tendon_simulated_obvious_feature *old, size_t count,
                                             tendon_simulated_obvious_feature *out, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
