/* SPDX-License-Identifier: MIT */
/*
 * Receiver of OGP/1 messages: puts segments together in the caller's memory, whatever order they arrive in, and
 * acknowledges them. One message at a time. Does no I/O.
 */
#ifndef TENDON_DEVICES_OBVIOUS_RECEIVER_H
#define TENDON_DEVICES_OBVIOUS_RECEIVER_H

#include "tendon/devices/obvious_segment.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Longest pause between two new segments of a message, and longest duration of a message. */
#define TENDON_OBVIOUS_PAUSE_MAX_MS 3000u
#define TENDON_OBVIOUS_MESSAGE_MAX_MS 10000u
/** Shortest time between two ACKs that report a missing segment. */
#define TENDON_OBVIOUS_HOLE_ACK_MS 100u

/** Memory that never limits the window before HELLO: early segments wait in slots of one segment size each. */
#define TENDON_OBVIOUS_RECEIVER_MEMORY 4096

/** Called by the receiver. No function may call the receiver, except on_message(): set_limits(). */
typedef struct tendon_obvious_receiver_handler {
    /**
     * A complete message, lent for the call. Return true to acknowledge it; false if the frame is invalid, which the
     * peer is notified of (NAK, reason FRAME).
     */
    bool (*on_message)(void *context, const uint8_t *frame, size_t length, uint64_t now);
    /** An error of a segment: a SEG or CTL status. SEG_DUP, SEG_STALE and SEG_WINDOW also occur on a lossy radio. */
    void (*on_error)(void *context, tendon_status status);
    /** A valid control segment, for the sender. A RESET was already applied to the receiver. */
    void (*on_control)(void *context, const tendon_obvious_control *control, uint64_t now);
    /** Send a control segment. */
    void (*send)(void *context, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]);
} tendon_obvious_receiver_handler;

/** Caller's memory; all private. */
typedef struct tendon_obvious_receiver {
    bool open, has_done, has_dead;
    bool first_held; /* segment 0 is held: the message is in the memory as it is; before, segments are in slots */
    uint8_t msgseq, done, dead, window;
    uint8_t since_ack;  /* segments stored after the last ACK */
    uint16_t size_max;  /* of a segment, in the open context */
    uint16_t size_next; /* from the next context on */
    uint16_t frame_max, capacity;
    uint16_t next;                           /* lowest index that is not held */
    uint16_t highest;                        /* highest index that is held, plus 1 */
    uint16_t size, count, total, done_count; /* of the message, when segment 0 is held */
    uint32_t held;                           /* bit i: segment next + 1 + i is held */
    uint64_t opened, stored, hole_ack;
    uint8_t *memory;
    const tendon_obvious_receiver_handler *handler;
    void *context;
} tendon_obvious_receiver;

/**
 * Starts with a new connection: ATT MTU 23, window 8, frame_max 4096 (before HELLO).
 * @param memory @p capacity bytes, at least 256: the highest frame_max. With less than 4096 bytes, fewer early segments
 *   than the window can wait at a large MTU; those that cannot are ignored, and sent again by the peer.
 */
void tendon_obvious_receiver_init(tendon_obvious_receiver *receiver, uint8_t *memory, size_t capacity,
                                  const tendon_obvious_receiver_handler *handler, void *context);
/** Sets the ATT MTU. An open message keeps the one that it began with. */
void tendon_obvious_receiver_set_mtu(tendon_obvious_receiver *receiver, size_t mtu);
/** Sets what was announced in HELLO: @p window 1 to 32, @p frame_max at least 256, limited by the capacity. */
void tendon_obvious_receiver_set_limits(tendon_obvious_receiver *receiver, size_t window, size_t frame_max);
/** Forgets the open message and all numbers, as after a RESET. */
void tendon_obvious_receiver_reset(tendon_obvious_receiver *receiver);

/** One value of OGP_DATA. */
void tendon_obvious_receiver_segment(tendon_obvious_receiver *receiver, const uint8_t *data, size_t length,
                                     uint64_t now);
/** Drops an open message whose time limit has passed. */
void tendon_obvious_receiver_tick(tendon_obvious_receiver *receiver, uint64_t now);
/** Returns when the time limit passes; UINT64_MAX if no message is open. */
uint64_t tendon_obvious_receiver_deadline(const tendon_obvious_receiver *receiver);
/** Returns true and the ACK of the open message; false if none is open. */
bool tendon_obvious_receiver_pending_ack(const tendon_obvious_receiver *receiver, tendon_obvious_control *out);

#ifdef __cplusplus
}
#endif
#endif
