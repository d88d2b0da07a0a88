/* SPDX-License-Identifier: MIT */
/*
 * A controller that reports no more completed packets (Core Spec Vol 4 Part E 7.7.19) keeps a writer waiting for ever:
 * the connection is alive, so no supervision timeout ends it, and Linux looks for such a controller only when somebody
 * sends more.
 */
#include "socket_stall.h"

/** Longer than the longest supervision timeout, 32 s (Core Spec Vol 4 Part E 7.8.12), which ends a peer that is gone. */
#define STALL_LIMIT_MS 40000u

void tendon_socket_watch_stall(tendon_link *link, uint64_t now) {
    if (link->hooks->queued != NULL) {
        link->queued = link->hooks->queued(link);
        link->source.deadline = now + STALL_LIMIT_MS;
    }
}

bool tendon_socket_is_stalled(tendon_link *link, uint64_t now) {
    const uint32_t before = link->queued;
    tendon_socket_watch_stall(link, now);
    return link->hooks->queued != NULL && link->queued == before;
}
