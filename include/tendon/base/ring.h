/* SPDX-License-Identifier: MIT */
/*
 * Ring of equal-sized elements in the caller's memory. One producer and one
 * consumer on the same thread. What does not fit is dropped and counted.
 */
#ifndef TENDON_BASE_RING_H
#define TENDON_BASE_RING_H

#include "tendon/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which element goes when the ring is full. */
typedef enum tendon_ring_policy {
    TENDON_RING_DROP_NEWEST = 0, /**< the element that arrives */
    TENDON_RING_DROP_OLDEST = 1  /**< the one that waited longest */
} tendon_ring_policy;

typedef struct tendon_ring {
    uint8_t *storage; /**< capacity * element_size bytes, the caller's */
    size_t element_size;
    size_t capacity;
    size_t head; /**< index of the oldest element */
    size_t count;
    uint64_t dropped; /**< elements lost since init */
    tendon_ring_policy policy;
} tendon_ring;

/** @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT (a size of 0). */
tendon_status tendon_ring_init(tendon_ring *ring, void *storage, size_t element_size, size_t capacity,
                               tendon_ring_policy policy);

/** Copies one element in. False when something was dropped (see policy). */
bool tendon_ring_push(tendon_ring *ring, const void *element);

/** Copies the oldest element out. False when empty. */
bool tendon_ring_pop(tendon_ring *ring, void *element);

/** Lends the oldest element until the next call on this ring; NULL when empty. */
const void *tendon_ring_peek(const tendon_ring *ring);

#ifdef __cplusplus
}
#endif
#endif
