/* SPDX-License-Identifier: MIT */
/*
 * A controller that reports no more completed packets (Core Spec Vol 4 Part E 7.7.19) keeps a writer waiting without a
 * limit: the connection is alive, so no supervision timeout ends it, and Linux looks for such a controller only when
 * more is sent.
 */
#include "socket_stall.h"

/** Longer than the longest supervision timeout, 32 s (Core Spec Vol 4 Part E 7.8.12), which ends a peer that is gone.
 */
#define STALL_LIMIT_MS 40000u
/** Between two looks: a link that stands still after a while ends at most so much later. */
#define LOOK_MS 10000u

static void look(tendon_link *link, uint32_t queued, uint64_t now) {
    if (queued != link->queued) {
        link->queued = queued;
        link->stalled_at = now + STALL_LIMIT_MS;
    }
    link->source.deadline = now + LOOK_MS < link->stalled_at ? now + LOOK_MS : link->stalled_at;
}

void tendon_socket_watch_stall(tendon_link *link, uint64_t now) {
    if (link->hooks->queued != NULL) {
        link->queued = link->hooks->queued(link);
        link->stalled_at = now + STALL_LIMIT_MS;
        look(link, link->queued, now);
    }
}

bool tendon_socket_is_stalled(tendon_link *link, uint64_t now) {
    if (link->hooks->queued == NULL) {
        return false;
    }
    look(link, link->hooks->queued(link), now);
    return now >= link->stalled_at;
}
