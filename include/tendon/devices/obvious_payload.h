/* SPDX-License-Identifier: MIT */
/*
 * Payloads of OGP/1 frames, decoded and encoded by one table. Pointers in a decoded payload are lent: they point into
 * the bytes of the frame.
 */
#ifndef TENDON_DEVICES_OBVIOUS_PAYLOAD_H
#define TENDON_DEVICES_OBVIOUS_PAYLOAD_H

#include "tendon/devices/obvious_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Highest number of items in a list of features. */
#define TENDON_OBVIOUS_LIST_MAX 64
/** Feature ids are 1 to this. */
#define TENDON_OBVIOUS_FEATURE_MAX 1024
#define TENDON_OBVIOUS_NONCE_SIZE 16
#define TENDON_OBVIOUS_SHA256_SIZE 32
#define TENDON_OBVIOUS_MANIFEST_SIZE 136
#define TENDON_OBVIOUS_PING_MAX 64
/** Highest size of an object that is transferred: 16 MiB. */
#define TENDON_OBVIOUS_OBJECT_MAX 16777216u

enum { TENDON_OBVIOUS_DISABLED = 0, TENDON_OBVIOUS_ENABLED = 1, TENDON_OBVIOUS_ENABLE_UNKNOWN = 255 };

/** Toggles as reported; FLIP only in a request. */
enum {
    TENDON_OBVIOUS_TOGGLE_UNSUPPORTED = 0,
    TENDON_OBVIOUS_TOGGLE_ACTIVATED = 1,
    TENDON_OBVIOUS_TOGGLE_DEACTIVATED = 2,
    TENDON_OBVIOUS_TOGGLE_FLIP = 0x80,
    TENDON_OBVIOUS_TOGGLE_UNKNOWN = 255
};

/** Bits of the capabilities in a HELLO response. */
enum {
    TENDON_OBVIOUS_CAP_FEATURES = 1,
    TENDON_OBVIOUS_CAP_TOGGLE = 2,
    TENDON_OBVIOUS_CAP_FEATURE_UPDATE = 4,
    TENDON_OBVIOUS_CAP_OTA = 8,
    TENDON_OBVIOUS_CAP_RESUME = 16,
    TENDON_OBVIOUS_CAP_TRIAL = 32,
    TENDON_OBVIOUS_CAP_PROVISIONING = 64,
    TENDON_OBVIOUS_CAP_NONCE = 128
};

/** Objects of a transfer. */
enum { TENDON_OBVIOUS_OBJECT_PACKAGE = 1, TENDON_OBVIOUS_OBJECT_FIRMWARE = 2, TENDON_OBVIOUS_OBJECT_PROVISION = 3 };

/** One item of a list of features. */
typedef struct tendon_obvious_feature {
    uint16_t id;
    uint8_t enable; /**< 0 in a request */
    uint8_t toggle; /**< 0 in a FEATURE_STATUS request */
} tendon_obvious_feature;

/** What the fields of a payload are; the opcode and the flags of the frame select the member. */
typedef union tendon_obvious_payload {
    struct {
        uint8_t proto_min, proto_max, window, reserved;
        uint16_t max_frame;
        const uint8_t *nonce; /**< 8 bytes */
    } hello;
    struct {
        uint8_t proto, window;
        uint16_t max_frame;
        uint32_t caps, boot_id;
    } hello_response;
    struct {
        uint32_t product, fw, bootloader, stack, sdk; /**< sdk: version of OGP in the device */
        uint64_t serial, counter;
        uint8_t flags, battery, hw_rev, key_id;
    } device_info;
    struct {
        const uint8_t *data;
        size_t length;
    } echo; /**< PING */
    struct {
        const uint8_t *bytes; /**< 16 bytes */
    } nonce;
    struct {
        uint32_t time; /**< Unix seconds; 0 if not set */
    } time;
    struct {
        const uint8_t *items; /**< tendon_obvious_feature_at() */
        uint8_t count;        /**< 1 to 64 */
        uint8_t item_size;    /**< 2: id; 3: id, toggle; 4: id, enable, toggle */
    } features;
    struct {
        uint64_t counter;
        const uint8_t *hash8; /**< 8 bytes */
    } counter;
    struct {
        uint8_t obj, flags;
        uint16_t chunk_max, manifest_length;
        uint32_t size, crc32;
        const uint8_t *sha256;   /**< 32 bytes */
        const uint8_t *manifest; /**< manifest_length bytes */
    } begin;
    struct {
        uint32_t session, offset, crc32;
        uint16_t chunk_max;
    } begin_response;
    struct {
        uint32_t session, offset;
        const uint8_t *data;
        size_t length;
    } data;
    struct {
        uint32_t offset;
    } next; /**< XFER_DATA response; also a response with BAD_OFFSET: the expected offset */
    struct {
        uint32_t session;
        uint8_t reason;
    } session; /**< XFER_STATUS, XFER_END and XFER_ABORT requests; reason: XFER_ABORT only */
    struct {
        uint8_t obj, state;
        uint32_t session, offset, total, crc32;
        const uint8_t *sha256; /**< 32 bytes */
    } transfer;                /**< XFER_STATUS response */
    struct {
        uint8_t result, flags;
        uint16_t detail;
    } end; /**< XFER_END response */
    struct {
        uint32_t version;
        uint8_t mode, delay_100ms;
    } activate;
    struct {
        uint32_t version;
        uint8_t verdict;
    } confirm;
    struct {
        uint32_t active, staged, rollback, epoch;
        uint8_t active_state, staged_state;
        uint16_t trial_remaining_s;
    } firmware; /**< FW_STATE response */
    struct {
        uint8_t mode, reason;
    } reboot;
    struct {
        uint8_t reason;
        uint16_t delay_ms;
    } rebooting;
    struct {
        uint32_t session, offset, total;
    } progress;
    struct {
        uint32_t version;
        uint16_t remaining_s;
    } trial;
} tendon_obvious_payload;

/**
 * Decodes the payload of a decoded frame. Nothing is written to @p out for a frame without fields.
 * @return TENDON_OK, UNKNOWN_OPCODE, BAD_LENGTH or BAD_PARAM.
 */
tendon_status tendon_obvious_decode_payload(const tendon_obvious_frame *frame, tendon_obvious_payload *out);

/**
 * Encodes a whole frame: header, payload and CRC. A response with a status other than 0 has no fields, except that of
 * BAD_OFFSET. Of a list, @p payload->features.items must be in wire format: tendon_obvious_put_feature().
 * @return the length of the frame; UNKNOWN_OPCODE, BAD_PARAM or BAD_LENGTH if a decoder would reject it;
 *   TENDON_ERROR_BUFFER_TOO_SMALL.
 */
tendon_status tendon_obvious_encode_frame(const tendon_obvious_frame *frame, const tendon_obvious_payload *payload,
                                          uint8_t *out, size_t capacity);

/** Returns item @p index of a decoded list; zeros beyond its end. */
tendon_obvious_feature tendon_obvious_feature_at(const tendon_obvious_payload *payload, size_t index);

/** Writes one item of @p item_size bytes (2, 3 or 4) for the list of a request or response. */
void tendon_obvious_put_feature(tendon_obvious_feature feature, uint8_t item_size, uint8_t *out);

#ifdef __cplusplus
}
#endif
#endif
