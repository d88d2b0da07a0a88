/* SPDX-License-Identifier: MIT */
/*
 * The ATT PDU table (Core Spec Vol 3 Part F 3.4.8): one row per opcode, from
 * which decoder, encoder and classifier work.
 */
#ifndef TENDON_HOST_ATT_TABLE_H
#define TENDON_HOST_ATT_TABLE_H

#include "tendon/host/att.h"

/** The fields after the opcode, in order. A field of type rest contains the remaining bytes of the PDU. */
typedef enum tendon_att_field {
    TENDON_ATT_FIELD_NONE = 0,
    TENDON_ATT_FIELD_REQUEST_OPCODE,
    TENDON_ATT_FIELD_ERROR,
    TENDON_ATT_FIELD_FORMAT,
    TENDON_ATT_FIELD_FLAGS,
    TENDON_ATT_FIELD_HANDLE,
    TENDON_ATT_FIELD_END_HANDLE,
    TENDON_ATT_FIELD_MTU,
    TENDON_ATT_FIELD_OFFSET,
    TENDON_ATT_FIELD_TYPE16, /**< a 16-bit UUID */
    TENDON_ATT_FIELD_TYPE,   /**< the rest: a UUID of 16 or 128 bits */
    TENDON_ATT_FIELD_VALUE,  /**< the rest, may be empty */
    TENDON_ATT_FIELD_SIGNED, /**< the rest: a value and 12 bytes of signature */
    TENDON_ATT_FIELD_LIST    /**< the rest: items, see list */
} tendon_att_field;

/** Shape of the items of a list. */
typedef enum tendon_att_list {
    TENDON_ATT_LIST_NONE = 0,
    TENDON_ATT_LIST_INFORMATION, /**< format 1: handle and 2 bytes; format 2: handle and 16 bytes */
    TENDON_ATT_LIST_RANGES,      /**< handle, end handle */
    TENDON_ATT_LIST_BY_TYPE,     /**< items of `format` bytes: handle, value */
    TENDON_ATT_LIST_BY_GROUP,    /**< items of `format` bytes: handle, end handle, value */
    TENDON_ATT_LIST_HANDLES,     /**< at least two handles */
    TENDON_ATT_LIST_VARIABLE,    /**< length, value; the last value may be cut */
    TENDON_ATT_LIST_VALUES       /**< handle, length, value */
} tendon_att_list;

typedef struct tendon_att_row {
    uint8_t opcode;
    uint8_t class_;   /**< tendon_att_class */
    uint8_t response; /**< opcode of the response, 0: none */
    uint8_t list;     /**< tendon_att_list */
    uint8_t fields[3];
} tendon_att_row;

#define TENDON_ATT_SIGNATURE_SIZE 12

/** The row of an opcode, or NULL. */
const tendon_att_row *tendon_att_row_of(uint8_t opcode);

/** Bytes of each item of a list of equal items; 0: the format is not valid, or items differ in length. */
size_t tendon_att_item_size(uint8_t list, uint8_t format);

/**
 * Checks the list of a PDU of @p opcode.
 * @param offset set to the first wrong byte, counted from @p data, when the result is an error.
 */
tendon_status tendon_att_check_list(uint8_t opcode, uint8_t list, uint8_t format, const uint8_t *data, size_t length,
                                    size_t *offset);

#endif
