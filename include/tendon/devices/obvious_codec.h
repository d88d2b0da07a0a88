/* SPDX-License-Identifier: MIT */
/*
 * Obvious codec: statuses, profile, version codes, frames. Stateless.
 *
 * OGP/1 is Tendon's own open protocol. It replaces the closed protocol of the vendor: shipped Obvious devices do not
 * speak it. Formats: docs/protocols/obvious.md. Payloads of frames: obvious_payload.h. Segments: obvious_segment.h.
 */
#ifndef TENDON_DEVICES_OBVIOUS_CODEC_H
#define TENDON_DEVICES_OBVIOUS_CODEC_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- statuses ---- */

/*
 * X(name, code, text). Codes 1 to 26 and 255 are the status codes of OGP/1 responses; the numbers from 27 to 254 that a
 * device may send are INTERNAL. Statuses that only software can cause share one text, as do those of frames (32 to 47)
 * and of segments (48 to 79).
 */
#define TENDON_OBVIOUS_STATUS_LIST(X)                                                                                  \
    X(UNKNOWN_OPCODE, 1, "") /* the opcode is unknown */                                                               \
    X(BAD_LENGTH, 2, "")     /* the length does not fit the content */                                                 \
    X(BAD_PARAM, 3, "")      /* a field is out of its range */                                                         \
    X(BUSY, 4, "device busy")                                                                                          \
    X(NOT_READY, 5, "") /* the device requires HELLO first */                                                          \
    X(NOT_SUPPORTED, 6, "not supported")                                                                               \
    X(NOT_PROVISIONED, 7, "not provisioned")                                                                           \
    X(UNKNOWN_FEATURE, 8, "") /* the device does not know the feature */                                               \
    X(FEATURE_DISABLED, 9, "feature disabled")                                                                         \
    X(TOGGLE_UNSUPPORTED, 10, "without toggle")                                                                        \
    X(SIG_INVALID, 11, "invalid signature")                                                                            \
    X(REPLAY, 12, "counter too low")                                                                                   \
    X(WRONG_DEVICE, 13, "made for another device")                                                                     \
    X(WRONG_PRODUCT, 14, "made for another product")                                                                   \
    X(BAD_FORMAT, 15, "") /* the object violates its format */                                                         \
    X(BAD_OFFSET, 16, "") /* the device expects another offset */                                                      \
    X(TOO_LARGE, 17, "")  /* the object is too large */                                                                \
    X(HASH_MISMATCH, 18, "CRC or hash differs")                                                                        \
    X(DOWNGRADE, 19, "firmware not newer")                                                                             \
    X(NO_SESSION, 20, "") /* no transfer is in progress */                                                             \
    X(FLASH_FAILED, 21, "flash failed")                                                                                \
    X(LOW_POWER, 22, "low battery")                                                                                    \
    X(UNAUTHORIZED, 23, "not encrypted")                                                                               \
    X(UNKNOWN_KEY, 24, "unknown or revoked key")                                                                       \
    X(NONCE_MISMATCH, 25, "wrong or expired nonce")                                                                    \
    X(FW_TOO_OLD, 26, "firmware too old")                                                                              \
    X(FRAME_BAD_LENGTH, 32, "")  /* the frame length is wrong */                                                       \
    X(FRAME_BAD_MAGIC, 33, "")   /* the frame has no magic number */                                                   \
    X(FRAME_BAD_CRC, 34, "")     /* the frame CRC differs */                                                           \
    X(FRAME_BAD_VERSION, 35, "") /* the frame version is unknown */                                                    \
    X(FRAME_RESERVED, 36, "")    /* reserved frame flags are set */                                                    \
    X(FRAME_BAD_CORR, 37, "")    /* the request id does not fit the frame type */                                      \
    X(FRAME_BAD_STATUS, 38, "")  /* the status does not fit the frame type */                                          \
    X(SEG_SHORT, 48, "")         /* the segment is too short */                                                        \
    X(SEG_OVERSIZE, 49, "")      /* the segment is too long */                                                         \
    X(SEG_BAD_VERSION, 50, "")   /* the segment version is unknown */                                                  \
    X(SEG_RESERVED, 51, "")      /* reserved segment flags are set */                                                  \
    X(SEG_DUP, 52, "")           /* the segment is a duplicate */                                                      \
    X(SEG_STALE, 53, "")         /* the segment belongs to an older message */                                         \
    X(SEG_WINDOW, 54, "")        /* the segment is beyond the window */                                                \
    X(SEG_SUPERSEDED, 55, "")    /* a newer message replaced this one */                                               \
    X(SEG_BAD_INDEX, 56, "")     /* the segment index is wrong */                                                      \
    X(SEG_BAD_SIZE, 57, "")      /* the segment size is wrong */                                                       \
    X(SEG_BAD_LEN, 58, "")       /* the message length is out of range */                                              \
    X(SEG_CONFLICT, 59, "")      /* a repeated segment has other content */                                            \
    X(SEG_TIMEOUT, 60, "")       /* the message was not completed in time */                                           \
    X(CTL_BAD_LENGTH, 64, "")    /* the control segment length is not 12 */                                            \
    X(CTL_BAD_FLAGS, 65, "")     /* the control segment flags are wrong */                                             \
    X(CTL_BAD_TYPE, 66, "")      /* the control segment type is unknown */                                             \
    X(LINK_ERROR, 80, "not transferred")                                                                               \
    X(PROTOCOL, 81, "protocol violation")                                                                              \
    X(UNSUPPORTED_PROFILE, 82, "not an OGP/1 device")                                                                  \
    X(UUID_FORMAT, 83, "malformed UUID")                                                                               \
    X(VER_FORMAT, 84, "not like 1.2.3")                                                                                \
    X(VER_RANGE, 85, "version out of range")                                                                           \
    X(INTERNAL, 255, "internal device error")

/** The layer of its statuses. */
#define TENDON_LAYER_OBVIOUS 11

#define TENDON_OBVIOUS_STATUS_ENUM(name, code, text)                                                                   \
    TENDON_OBVIOUS_ERROR_##name = -((int)TENDON_LAYER_OBVIOUS * 256 + (code)),
enum { TENDON_OBVIOUS_STATUS_LIST(TENDON_OBVIOUS_STATUS_ENUM) };
#undef TENDON_OBVIOUS_STATUS_ENUM

/** Returns "SEG_SHORT", "REPLAY" ...; statuses of other layers as tendon_status_name() does. Never NULL. */
const char *tendon_obvious_status_name(tendon_status status);
/** Returns one line about a status; other layers as tendon_status_text() does. Never NULL. */
const char *tendon_obvious_status_text(tendon_status status);
/** Returns the status of the status byte of a response: TENDON_OK for 0, INTERNAL for unknown numbers. */
tendon_status tendon_obvious_status_from_wire(uint8_t status);

/* ---- profile ---- */

/** The UUIDs of the OGP service and its characteristics. */
typedef struct tendon_obvious_gatt {
    tendon_uuid service;
    tendon_uuid data;   /**< segments, in both directions */
    tendon_uuid status; /**< tendon_obvious_decode_profile() */
} tendon_obvious_gatt;

/** Flags of the OGP_STATUS value. For display: unknown flags are reported, and no decision depends on them. */
enum { TENDON_OBVIOUS_FLAG_RECOVERY = 1, TENDON_OBVIOUS_FLAG_TRIAL = 2 };

/** Tendon's own UUIDs: 9c190001-c113-4e20-95f4-2602d4fc9f35 and the two that follow. */
extern const tendon_obvious_gatt tendon_obvious_gatt_ogp;
/** Returns a copy of them, to be changed. */
static inline tendon_obvious_gatt tendon_obvious_gatt_defaults(void) {
    return tendon_obvious_gatt_ogp;
}
/** Parses a configured UUID: 4, 8 or 36 characters, any case. @return TENDON_OK or UUID_FORMAT. */
tendon_status tendon_obvious_parse_uuid(const char *text, size_t length, tendon_uuid *out);
/** Decodes the OGP_STATUS value. @return TENDON_OK and the flags, or UNSUPPORTED_PROFILE. */
tendon_status tendon_obvious_decode_profile(const uint8_t *value, size_t length, uint16_t *flags);

/* ---- version codes ---- */

/** Highest version code: 999.999.999. */
#define TENDON_OBVIOUS_VERSION_MAX 999999999u
/** A version that the device cannot read, on the wire. */
#define TENDON_OBVIOUS_VERSION_ABSENT 0xFFFFFFFFu
/** Longest text of a version with its terminator. */
#define TENDON_OBVIOUS_VERSION_SIZE 12

/** Parses "1.2.3": three groups of one to three ASCII digits. @return TENDON_OK or VER_FORMAT. */
tendon_status tendon_obvious_parse_version(const char *text, size_t length, uint32_t *code);
/** Writes the shortest text and a terminator. @return its length without the terminator, or VER_RANGE. */
tendon_status tendon_obvious_format_version(uint32_t code, char out[TENDON_OBVIOUS_VERSION_SIZE]);

/* ---- frames ---- */

#define TENDON_OBVIOUS_FRAME_OVERHEAD 14 /**< header of 10 bytes, CRC of 4 bytes */
#define TENDON_OBVIOUS_FRAME_HEADER 10
#define TENDON_OBVIOUS_FRAME_MAX_LOWEST 256 /**< lowest frame_max that HELLO permits */
#define TENDON_OBVIOUS_FRAME_MAX 4096       /**< highest frame_max; the one that applies before HELLO */

/** Highest window of HELLO, in segments. */
#define TENDON_OBVIOUS_WINDOW_MAX 32

/** Flags of a frame. */
enum { TENDON_OBVIOUS_RESPONSE = 1, TENDON_OBVIOUS_EVENT = 2, TENDON_OBVIOUS_ERROR = 4 };

typedef enum tendon_obvious_opcode {
    TENDON_OBVIOUS_HELLO = 0x01,
    TENDON_OBVIOUS_GET_DEVICE_INFO = 0x02,
    TENDON_OBVIOUS_PING = 0x03,
    TENDON_OBVIOUS_GET_NONCE = 0x04,
    TENDON_OBVIOUS_GET_TIME = 0x05,
    TENDON_OBVIOUS_SET_TIME = 0x06,
    TENDON_OBVIOUS_FEATURE_STATUS = 0x10,
    TENDON_OBVIOUS_FEATURE_TOGGLE = 0x11,
    TENDON_OBVIOUS_FEATURE_COUNTER = 0x12,
    TENDON_OBVIOUS_XFER_BEGIN = 0x20,
    TENDON_OBVIOUS_XFER_DATA = 0x21,
    TENDON_OBVIOUS_XFER_STATUS = 0x22,
    TENDON_OBVIOUS_XFER_END = 0x23,
    TENDON_OBVIOUS_XFER_ABORT = 0x24,
    TENDON_OBVIOUS_FW_ACTIVATE = 0x30,
    TENDON_OBVIOUS_FW_CONFIRM = 0x31,
    TENDON_OBVIOUS_FW_STATE = 0x32,
    TENDON_OBVIOUS_REBOOT = 0x33,
    TENDON_OBVIOUS_EVT_FEATURE_CHANGED = 0x80,
    TENDON_OBVIOUS_EVT_REBOOTING = 0x81,
    TENDON_OBVIOUS_EVT_XFER_PROGRESS = 0x82,
    TENDON_OBVIOUS_EVT_FW_TRIAL = 0x83
} tendon_obvious_opcode;

/** One message. */
typedef struct tendon_obvious_frame {
    uint8_t flags;          /**< TENDON_OBVIOUS_RESPONSE, _EVENT, _ERROR */
    uint8_t opcode;         /**< also a number that tendon_obvious_opcode does not have */
    uint8_t status;         /**< as on the wire */
    uint16_t corr;          /**< id of the request; 0 for an event */
    const uint8_t *payload; /**< lent: part of the decoded bytes */
    size_t payload_length;
} tendon_obvious_frame;

/**
 * Decodes a frame; the payload is checked by tendon_obvious_decode_payload().
 * @param frame_max highest length that is accepted
 * @return TENDON_OK, or the FRAME status of the first check that fails.
 */
tendon_status tendon_obvious_decode_frame(const uint8_t *data, size_t length, size_t frame_max,
                                          tendon_obvious_frame *out);

/**
 * Completes a frame in place: writes the header and the CRC around a payload that is already at
 * buffer + TENDON_OBVIOUS_FRAME_HEADER. The pointer and length in @p frame are not used.
 * @return the length of the frame, or TENDON_ERROR_BUFFER_TOO_SMALL.
 */
tendon_status tendon_obvious_seal_frame(const tendon_obvious_frame *frame, size_t payload_length, uint8_t *buffer,
                                        size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
