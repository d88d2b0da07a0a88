/* SPDX-License-Identifier: MIT */
/*
 * Sender of OGP/1 messages: one at a time, with a window, selective repeats, credit and back-off. Does no I/O.
 */
#ifndef TENDON_DEVICES_OBVIOUS_SENDER_H
#define TENDON_DEVICES_OBVIOUS_SENDER_H

#include "tendon/devices/obvious_segment.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_OBVIOUS_ACK_TIMEOUT_MS 1000u /**< of the first wait for an ACK; doubled each time */
#define TENDON_OBVIOUS_ACK_TIMEOUTS 5u      /**< that are answered with a repeat; the next one fails the message */
#define TENDON_OBVIOUS_REPEAT_MS 200u       /**< shortest time between two repeats of one segment */
#define TENDON_OBVIOUS_RESTARTS 3u          /**< of a message that the peer dropped */
#define TENDON_OBVIOUS_BUSY_MS 500u         /**< pause after a NAK with reason BUSY */
#define TENDON_OBVIOUS_WINDOW_MS 100u       /**< pause after a NAK with reason WINDOW */
#define TENDON_OBVIOUS_PAUSES 10u           /**< after a NAK with reason BUSY or WINDOW, per message */
#define TENDON_OBVIOUS_PROBE_MS 1000u       /**< interval of the probes while the credit is 0 */
#define TENDON_OBVIOUS_PROBES_MS 30000u     /**< longest time with a credit of 0 */
#define TENDON_OBVIOUS_WRITE_FAILURES 5u    /**< failed writes in a row that fail the message */

/** Called by the sender. */
typedef struct tendon_obvious_sender_handler {
    /**
     * Writes a segment (data or control), which is lent for the call. Must not call the sender.
     * @return TENDON_OK; TENDON_ERROR_WOULD_BLOCK if nothing can be written now: tendon_obvious_sender_writable()
     *   continues; any other status if the segment is lost.
     */
    tendon_status (*write)(void *context, const uint8_t *segment, size_t length);
    /** The message was acknowledged as a whole (TENDON_OK), or failed (LINK_ERROR). May start the next message. */
    void (*on_done)(void *context, tendon_status status, uint64_t now);
} tendon_obvious_sender_handler;

/** Caller's memory; all private. */
typedef struct tendon_obvious_sender {
    bool active, paused, blocked, waiting; /* paused: no credit; waiting: a pause after NAK */
    uint8_t msgseq, window, credit;
    uint8_t restarts, pauses, timeouts, write_failures;
    uint16_t size, count, length;
    uint16_t next;     /* lowest index that is not acknowledged */
    uint16_t sent;     /* indexes below were sent */
    uint16_t progress; /* highest next so far */
    uint32_t held;     /* bit i: segment next + 1 + i is acknowledged */
    uint32_t repeated; /* bit i: the last segment with index i modulo 32 was sent more than once */
    uint64_t now, deadline, paused_at;
    uint32_t sent_at[TENDON_OBVIOUS_WINDOW_MAX]; /* low bits of the time, by index modulo 32 */
    const uint8_t *message;
    const tendon_obvious_sender_handler *handler;
    void *context;
} tendon_obvious_sender;

/** Starts with a new connection: msgseq 0, window 8. */
void tendon_obvious_sender_init(tendon_obvious_sender *sender, const tendon_obvious_sender_handler *handler,
                                void *context);
/** Sets the window that the peer announced in HELLO, 1 to 32. */
void tendon_obvious_sender_set_window(tendon_obvious_sender *sender, size_t window);

/**
 * Starts a message. Segments are written within the call, and on_done() is called within it if five writes fail.
 * @param message lent until on_done() or tendon_obvious_sender_cancel()
 * @param mtu ATT MTU; a message keeps the one that it began with
 * @return TENDON_OK; TENDON_ERROR_BUSY if a message is in progress; TENDON_ERROR_INVALID_ARGUMENT if the length is not
 * 14 to 4096.
 */
tendon_status tendon_obvious_sender_start(tendon_obvious_sender *sender, const uint8_t *message, size_t length,
                                          size_t mtu, uint64_t now);
/** Gives up the message in progress; on_done() is not called. The next message replaces it in the peer. */
void tendon_obvious_sender_cancel(tendon_obvious_sender *sender);

/** A control segment from the peer. */
void tendon_obvious_sender_control(tendon_obvious_sender *sender, const tendon_obvious_control *control, uint64_t now);
/** Continues after TENDON_ERROR_WOULD_BLOCK. */
void tendon_obvious_sender_writable(tendon_obvious_sender *sender, uint64_t now);
void tendon_obvious_sender_tick(tendon_obvious_sender *sender, uint64_t now);
/** Returns the time of the next tick; UINT64_MAX if none is required. */
uint64_t tendon_obvious_sender_deadline(const tendon_obvious_sender *sender);

#ifdef __cplusplus
}
#endif
#endif
