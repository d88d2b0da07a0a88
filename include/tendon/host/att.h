/* SPDX-License-Identifier: MIT */
/*
 * ATT PDUs (Core Spec Vol 3 Part F 3.4): every opcode, both directions.
 *
 * One flat struct represents all of them. The comment of each member lists the opcodes that use it; the table is in
 * att.c. Views point into the decoded PDU. encode(decode(bytes)) returns the same bytes.
 */
#ifndef TENDON_HOST_ATT_H
#define TENDON_HOST_ATT_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Core Spec Vol 3 Part F 3.4.8, table of opcodes. */
typedef enum tendon_att_opcode {
    TENDON_ATT_ERROR_RESPONSE = 0x01,
    TENDON_ATT_EXCHANGE_MTU_REQUEST = 0x02,
    TENDON_ATT_EXCHANGE_MTU_RESPONSE = 0x03,
    TENDON_ATT_FIND_INFORMATION_REQUEST = 0x04,
    TENDON_ATT_FIND_INFORMATION_RESPONSE = 0x05,
    TENDON_ATT_FIND_BY_TYPE_VALUE_REQUEST = 0x06,
    TENDON_ATT_FIND_BY_TYPE_VALUE_RESPONSE = 0x07,
    TENDON_ATT_READ_BY_TYPE_REQUEST = 0x08,
    TENDON_ATT_READ_BY_TYPE_RESPONSE = 0x09,
    TENDON_ATT_READ_REQUEST = 0x0A,
    TENDON_ATT_READ_RESPONSE = 0x0B,
    TENDON_ATT_READ_BLOB_REQUEST = 0x0C,
    TENDON_ATT_READ_BLOB_RESPONSE = 0x0D,
    TENDON_ATT_READ_MULTIPLE_REQUEST = 0x0E,
    TENDON_ATT_READ_MULTIPLE_RESPONSE = 0x0F,
    TENDON_ATT_READ_BY_GROUP_TYPE_REQUEST = 0x10,
    TENDON_ATT_READ_BY_GROUP_TYPE_RESPONSE = 0x11,
    TENDON_ATT_WRITE_REQUEST = 0x12,
    TENDON_ATT_WRITE_RESPONSE = 0x13,
    TENDON_ATT_PREPARE_WRITE_REQUEST = 0x16,
    TENDON_ATT_PREPARE_WRITE_RESPONSE = 0x17,
    TENDON_ATT_EXECUTE_WRITE_REQUEST = 0x18,
    TENDON_ATT_EXECUTE_WRITE_RESPONSE = 0x19,
    TENDON_ATT_HANDLE_VALUE_NOTIFICATION = 0x1B,
    TENDON_ATT_HANDLE_VALUE_INDICATION = 0x1D,
    TENDON_ATT_HANDLE_VALUE_CONFIRMATION = 0x1E,
    TENDON_ATT_READ_MULTIPLE_VARIABLE_REQUEST = 0x20,
    TENDON_ATT_READ_MULTIPLE_VARIABLE_RESPONSE = 0x21,
    TENDON_ATT_MULTIPLE_HANDLE_VALUE_NOTIFICATION = 0x23,
    TENDON_ATT_WRITE_COMMAND = 0x52,
    TENDON_ATT_SIGNED_WRITE_COMMAND = 0xD2
} tendon_att_opcode;

/** Core Spec Vol 3 Part F 3.4.1.1. As a tendon_status: TENDON_ATT_ERROR(code). */
typedef enum tendon_att_code {
    TENDON_ATT_INVALID_HANDLE = 0x01,
    TENDON_ATT_READ_NOT_PERMITTED = 0x02,
    TENDON_ATT_WRITE_NOT_PERMITTED = 0x03,
    TENDON_ATT_INVALID_PDU = 0x04,
    TENDON_ATT_INSUFFICIENT_AUTHENTICATION = 0x05,
    TENDON_ATT_REQUEST_NOT_SUPPORTED = 0x06,
    TENDON_ATT_INVALID_OFFSET = 0x07,
    TENDON_ATT_INSUFFICIENT_AUTHORIZATION = 0x08,
    TENDON_ATT_PREPARE_QUEUE_FULL = 0x09,
    TENDON_ATT_ATTRIBUTE_NOT_FOUND = 0x0A,
    TENDON_ATT_ATTRIBUTE_NOT_LONG = 0x0B,
    TENDON_ATT_ENCRYPTION_KEY_SIZE_TOO_SHORT = 0x0C,
    TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH = 0x0D,
    TENDON_ATT_UNLIKELY_ERROR = 0x0E,
    TENDON_ATT_INSUFFICIENT_ENCRYPTION = 0x0F,
    TENDON_ATT_UNSUPPORTED_GROUP_TYPE = 0x10,
    TENDON_ATT_INSUFFICIENT_RESOURCES = 0x11,
    TENDON_ATT_DATABASE_OUT_OF_SYNC = 0x12,
    TENDON_ATT_VALUE_NOT_ALLOWED = 0x13,
    TENDON_ATT_CCCD_IMPROPERLY_CONFIGURED = 0xFD,
    TENDON_ATT_PROCEDURE_ALREADY_IN_PROGRESS = 0xFE,
    TENDON_ATT_OUT_OF_RANGE = 0xFF
} tendon_att_code;

/** Smallest and default ATT_MTU on LE (Vol 3 Part G 5.2.1), and the largest MTU that Tendon requests. */
#define TENDON_ATT_MTU_MIN 23
#define TENDON_ATT_MTU_MAX 517
/** Longest attribute value (Vol 3 Part F 3.2.9). */
#define TENDON_ATT_VALUE_MAX 512
/** Transaction timeout (Vol 3 Part F 3.3.3). */
#define TENDON_ATT_TRANSACTION_TIMEOUT_MS 30000u

/** A decoded PDU. Members that the opcode does not use are 0. */
typedef struct tendon_att_pdu {
    uint8_t opcode;           /**< tendon_att_opcode */
    uint8_t request_opcode;   /**< Error Response: the request that failed */
    uint8_t error;            /**< Error Response: tendon_att_code */
    uint8_t format;           /**< Find Information Response: 1 or 2; Read By (Group) Type Response: item length;
                                   Read By (Group) Type Request: bytes of the type, 2 or 16 (0 to encode: the shorter) */
    uint8_t flags;            /**< Execute Write Request: 0 cancel, 1 write */
    uint16_t handle;          /**< attribute handle, or starting handle of a range */
    uint16_t end_handle;      /**< ending handle of a range */
    uint16_t mtu;             /**< Exchange MTU */
    uint16_t offset;          /**< Read Blob, Prepare Write */
    tendon_uuid type;         /**< attribute type of Find By Type Value, Read By Type, Read By Group Type requests */
    const uint8_t *data;      /**< value, handle list or item list: the rest of the PDU (signature excluded) */
    size_t length;            /**< bytes at data */
    const uint8_t *signature; /**< Signed Write Command: 12 bytes */
} tendon_att_pdu;

/**
 * Decodes one PDU. Checks every rule that does not depend on state: lengths, item
 * lengths, list multiples, non-empty lists, known opcode.
 * @param offset where the first wrong field starts; may be NULL.
 * @return TENDON_OK, TENDON_ERROR_TRUNCATED, TENDON_ERROR_MALFORMED, or
 *         TENDON_ERROR_UNSUPPORTED for an unknown opcode (out->opcode is set).
 */
tendon_status tendon_att_decode(const uint8_t *pdu, size_t length, tendon_att_pdu *out, size_t *offset);

/** Encodes one PDU. @return its length, TENDON_ERROR_BUFFER_TOO_SMALL, or TENDON_ERROR_INVALID_ARGUMENT. */
tendon_status tendon_att_encode(const tendon_att_pdu *pdu, uint8_t *out, size_t capacity);

/** Type of a PDU (Vol 3 Part F 3.3). */
typedef enum tendon_att_class {
    TENDON_ATT_CLASS_UNKNOWN = 0,
    TENDON_ATT_CLASS_REQUEST,
    TENDON_ATT_CLASS_RESPONSE,
    TENDON_ATT_CLASS_COMMAND,
    TENDON_ATT_CLASS_NOTIFICATION,
    TENDON_ATT_CLASS_INDICATION,
    TENDON_ATT_CLASS_CONFIRMATION
} tendon_att_class;

tendon_att_class tendon_att_opcode_class(uint8_t opcode);

/** Returns the response opcode of a request; 0 if the opcode has no response. */
uint8_t tendon_att_response_opcode(uint8_t request_opcode);

/** One item of a list response. Members that the list does not have are 0. */
typedef struct tendon_att_item {
    uint16_t handle;
    uint16_t end_handle;  /**< Find By Type Value, Read By Group Type */
    const uint8_t *value; /**< UUID bytes (Find Information), value (others); borrowed from the PDU */
    size_t length;        /**< bytes at value; of a truncated last item of a variable list: the bytes received */
    size_t full_length;   /**< variable lists: the length the peer stated */
} tendon_att_item;

/** Walks the list of a decoded response or of a Multiple Handle Value Notification. */
typedef struct tendon_att_items {
    tendon_reader reader;
    uint8_t opcode;
    uint8_t format;
} tendon_att_items;

/** Starts a walk over the list of a Find Information, Find By Type Value, Read By (Group) Type or Read Multiple
 * Variable response, or of a Multiple Handle Value Notification. The list of any other PDU is empty. */
tendon_att_items tendon_att_items_of(const tendon_att_pdu *pdu);

/** Returns true and the next item; false at the end or at a malformed item (see items->reader.status). */
bool tendon_att_items_next(tendon_att_items *items, tendon_att_item *out);

#ifdef __cplusplus
}
#endif
#endif
