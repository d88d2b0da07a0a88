/* SPDX-License-Identifier: MIT */
/*
 * What becomes of the datagrams to one destination: what is counted, when a socket is opened again, and what is worth a
 * sentence for people. The caller has the socket, and says how each attempt ended.
 *
 * A socket that fails is closed: the network may have changed, and another one takes its present addresses. A socket
 * that is older than TENDON_OSC_PAUSE_MS is replaced with the next datagram, a younger one when that time is over: so
 * an error that persists costs one socket in that time, not one for each datagram.
 */
#ifndef TENDON_OSC_DELIVERY_H
#define TENDON_OSC_DELIVERY_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Milliseconds; our design. Between two attempts that fail; and between two sentences about the same, which errors
 * that take turns would repeat without a limit. */
#define TENDON_OSC_PAUSE_MS UINT64_C(10000)
#define TENDON_OSC_QUIET_MS UINT64_C(3600000)

/** How the attempt to send a datagram ended. */
typedef enum tendon_osc_outcome {
    TENDON_OSC_SENT = 0,
    TENDON_OSC_REFUSED, /**< sent; of an earlier one the machine reported that no program listens */
    TENDON_OSC_DROPPED, /**< the socket has no room, or there is no socket */
    TENDON_OSC_FAILED   /**< any other error: close the socket */
} tendon_osc_outcome;

/** What is to be reported. */
typedef enum tendon_osc_notice {
    TENDON_OSC_NOTICE_NONE = 0,
    TENDON_OSC_NOTICE_REFUSED, /**< no program listens */
    TENDON_OSC_NOTICE_FAILED,  /**< there is no socket, or it fails each time; it is tried again */
    TENDON_OSC_NOTICE_UNUSED   /**< by the caller: the destination takes orientations, and no device sends any */
} tendon_osc_notice;

/** Longest sentence, with its terminator; a longer one is cut. */
#define TENDON_OSC_SENTENCE_SIZE 512

/**
 * Writes what is reported, without a full stop, with a terminator.
 * @param endpoint as tendon_osc_endpoint_format() writes it. @param reason of FAILED, a word or a sentence.
 * @return @p out.
 */
const char *tendon_osc_notice_format(tendon_osc_notice notice, const char *endpoint, const char *reason,
                                     char out[TENDON_OSC_SENTENCE_SIZE]);

/** The caller's memory; all zeros is its start. Counters and retry_at are for the caller to read, the rest is private.
 */
typedef struct tendon_osc_delivery {
    uint64_t sent, refused, dropped; /**< datagrams; each is counted once */
    uint64_t retry_at;               /**< while there is no socket: when one is to be opened, ms */
    bool is_open;
    struct {
        bool is_reported, was_reported; /* since the last socket was opened; ever */
        uint64_t at;
    } notices[TENDON_OSC_NOTICE_FAILED + 1];
} tendon_osc_delivery;

/** Whether a socket is to be opened now. @param now monotonic, ms, as of the functions below. */
bool tendon_osc_delivery_wants_socket(const tendon_osc_delivery *delivery, uint64_t now);
/** A socket was opened, or could not be. */
tendon_osc_notice tendon_osc_delivery_opened(tendon_osc_delivery *delivery, bool is_open, uint64_t now);
/** A datagram was sent, or was not. */
tendon_osc_notice tendon_osc_delivery_took(tendon_osc_delivery *delivery, tendon_osc_outcome outcome, uint64_t now);

#ifdef __cplusplus
}
#endif
#endif
