/* SPDX-License-Identifier: MIT */
/*
 * Segments of OGP/1: a frame is cut into data segments, each of which fits one ATT write or notification; control
 * segments acknowledge them. Stateless; the receiver and the sender are in obvious_receiver.h and obvious_sender.h.
 */
#ifndef TENDON_DEVICES_OBVIOUS_SEGMENT_H
#define TENDON_DEVICES_OBVIOUS_SEGMENT_H

#include "tendon/devices/obvious_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_OBVIOUS_SEGMENT_MIN 20  /**< segment size at the lowest ATT MTU, 23 */
#define TENDON_OBVIOUS_SEGMENT_MAX 512 /**< longest attribute value */
#define TENDON_OBVIOUS_CONTROL_SIZE 12
/** Window before HELLO. */
#define TENDON_OBVIOUS_WINDOW_DEFAULT 8
#define TENDON_OBVIOUS_CREDIT_MAX 32

/** Flags of a segment. */
enum {
    TENDON_OBVIOUS_SEGMENT_VERSION = 0x40,
    TENDON_OBVIOUS_SEGMENT_FIRST = 0x20,
    TENDON_OBVIOUS_SEGMENT_LAST = 0x10,
    TENDON_OBVIOUS_SEGMENT_ACKREQ = 0x08,
    TENDON_OBVIOUS_SEGMENT_CONTROL = 0x04
};

typedef enum tendon_obvious_control_type {
    TENDON_OBVIOUS_ACK = 1,
    TENDON_OBVIOUS_NAK = 2,   /**< the message was dropped */
    TENDON_OBVIOUS_RESET = 3, /**< both directions start again */
    TENDON_OBVIOUS_WAIT = 4   /**< pause */
} tendon_obvious_control_type;

/** Reasons of NAK and RESET. */
enum {
    TENDON_OBVIOUS_REASON_NONE = 0,
    TENDON_OBVIOUS_REASON_BAD_INDEX = 1,
    TENDON_OBVIOUS_REASON_BAD_SIZE = 2,
    TENDON_OBVIOUS_REASON_BAD_LEN = 3,
    TENDON_OBVIOUS_REASON_CONFLICT = 4,
    TENDON_OBVIOUS_REASON_TIMEOUT = 5,
    TENDON_OBVIOUS_REASON_WINDOW = 6,
    TENDON_OBVIOUS_REASON_FRAME = 7,
    TENDON_OBVIOUS_REASON_BUSY = 8,
    TENDON_OBVIOUS_REASON_VERSION = 9
};

/** A control segment. */
typedef struct tendon_obvious_control {
    uint8_t msgseq;  /**< number of a message of the opposite direction */
    uint8_t type;    /**< tendon_obvious_control_type */
    uint8_t reason;  /**< 0 to 9; greater numbers are decoded as 0 */
    uint16_t next;   /**< lowest index that was not received; the number of segments if all were */
    uint16_t credit; /**< number of segments from next on that the receiver can hold, at most 32; 0: pause */
    uint32_t bitmap; /**< bit i: segment next + 1 + i was received */
} tendon_obvious_control;

/** @return TENDON_OK, CTL_BAD_LENGTH, CTL_BAD_FLAGS or CTL_BAD_TYPE, checked in this order. */
tendon_status tendon_obvious_decode_control(const uint8_t *data, size_t length, tendon_obvious_control *out);
void tendon_obvious_encode_control(const tendon_obvious_control *control, uint8_t out[TENDON_OBVIOUS_CONTROL_SIZE]);

/** Returns the longest segment at an ATT MTU: min(mtu - 3, 512), at least 20. */
size_t tendon_obvious_segment_size(size_t mtu);

/** Returns the number of segments of a frame of @p length bytes (14 to 4096) at a segment size of 20 to 512. */
size_t tendon_obvious_segment_count(size_t length, size_t size);

/** True if the sender requests an ACK with segment @p index of @p count. @p window 1 to 32. */
bool tendon_obvious_segment_requests_ack(size_t index, size_t count, size_t window);

/**
 * Writes segment @p index of a frame.
 * @param size the segment size, 20 to 512
 * @param out at least @p size bytes
 * @return the length of the segment; TENDON_ERROR_INVALID_ARGUMENT if the frame, the size or the index is out of range.
 */
tendon_status tendon_obvious_encode_segment(const uint8_t *frame, size_t length, size_t size, uint8_t msgseq,
                                            size_t index, bool ack_requested, uint8_t *out);

#ifdef __cplusplus
}
#endif
#endif
