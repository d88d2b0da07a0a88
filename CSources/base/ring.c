/* SPDX-License-Identifier: MIT */
#include "tendon/base/ring.h"
#include <string.h>

static uint8_t *slot(const tendon_ring *ring, size_t index) {
    return ring->storage + index * ring->element_size;
}

tendon_status tendon_ring_init(tendon_ring *ring, void *storage, size_t element_size, size_t capacity,
                               tendon_ring_policy policy) {
    if (storage == NULL || element_size == 0 || capacity == 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    *ring = (tendon_ring){storage, element_size, capacity, 0, 0, 0, policy};
    return TENDON_OK;
}

bool tendon_ring_push(tendon_ring *ring, const void *element) {
    bool full = ring->count == ring->capacity;
    if (full) {
        ring->dropped++;
        if (ring->policy == TENDON_RING_DROP_NEWEST) {
            return false;
        }
        ring->head = ring->head + 1 == ring->capacity ? 0 : ring->head + 1;
        ring->count--;
    }
    /* head + count without overflow, whatever the capacity */
    size_t left = ring->capacity - ring->head;
    size_t tail = ring->count < left ? ring->head + ring->count : ring->count - left;
    memcpy(slot(ring, tail), element, ring->element_size);
    ring->count++;
    return !full;
}

bool tendon_ring_pop(tendon_ring *ring, void *element) {
    if (ring->count == 0) {
        return false;
    }
    memcpy(element, slot(ring, ring->head), ring->element_size);
    ring->head = ring->head + 1 == ring->capacity ? 0 : ring->head + 1;
    ring->count--;
    return true;
}

const void *tendon_ring_peek(const tendon_ring *ring) {
    return ring->count == 0 ? NULL : slot(ring, ring->head);
}
