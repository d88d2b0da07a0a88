/* SPDX-License-Identifier: MIT */
/*
 * Ring buffer of equal-sized elements in the caller's memory. One producer and one consumer on the same thread.
 * Elements that do not fit are dropped and counted.
 */
#ifndef TENDON_BASE_RING_H
#define TENDON_BASE_RING_H

#include "tendon/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The element that is dropped if the ring is full. */
typedef enum tendon_ring_policy {
    TENDON_RING_DROP_NEWEST = 0, /**< the new element */
    TENDON_RING_DROP_OLDEST = 1  /**< the oldest element in the ring */
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

/** Copies one element into the ring. Returns false if an element was dropped (see policy). */
bool tendon_ring_push(tendon_ring *ring, const void *element);

/** Copies the oldest element out of the ring and removes it. Returns false if the ring is empty. */
bool tendon_ring_pop(tendon_ring *ring, void *element);

/** Lends the oldest element until the next call on this ring. Returns NULL if the ring is empty. */
const void *tendon_ring_peek(const tendon_ring *ring);

#ifdef __cplusplus
}
#endif
#endif
