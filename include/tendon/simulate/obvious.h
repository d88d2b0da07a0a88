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

/* ---- responses ---- */

#define TENDON_SIMULATED_OBVIOUS_RESPONSES 4
/** Longest response that is kept: the status of 64 features. */
#define TENDON_SIMULATED_OBVIOUS_RESPONSE_MAX 271

typedef struct tendon_simulated_obvious_response {
    uint16_t length; /* 0: free */
    uint16_t corr;
    uint8_t opcode;
    uint32_t crc; /* of the request */
    uint8_t frame[TENDON_SIMULATED_OBVIOUS_RESPONSE_MAX];
} tendon_simulated_obvious_response;

/** The last responses, so that a repeated request is not executed again. Zeroed: empty, as after a disconnection. */
typedef struct tendon_simulated_obvious_responses {
    tendon_simulated_obvious_response items[TENDON_SIMULATED_OBVIOUS_RESPONSES];
    uint8_t next; /* to be replaced */
} tendon_simulated_obvious_responses;

/** Keeps the response to a valid request frame; a longer response than RESPONSE_MAX is not kept. */
void tendon_simulated_obvious_keep(tendon_simulated_obvious_responses *responses, const uint8_t *request,
                                   size_t request_length, const uint8_t *response, size_t response_length);
/** Returns the response to a request frame that was executed before, valid until the next keep(); NULL if it was not.
 */
const uint8_t *tendon_simulated_obvious_kept(const tendon_simulated_obvious_responses *responses,
                                             const uint8_t *request, size_t request_length, size_t *response_length);

#ifdef __cplusplus
}
#endif
#endif
