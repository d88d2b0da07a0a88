/* SPDX-License-Identifier: MIT */
/*
 * GATT server: internal interface of its files. One request is one transaction: the serve functions write the response
 * into out, or return an ATT error code.
 */
#ifndef TENDON_HOST_GATT_SERVER_PARTS_H
#define TENDON_HOST_GATT_SERVER_PARTS_H

#include "tendon/host/gatt_server.h"

#define TENDON_GATT_PRIMARY_SERVICE 0x2800
#define TENDON_GATT_SECONDARY_SERVICE 0x2801
#define TENDON_GATT_INCLUDE 0x2802
#define TENDON_GATT_CHARACTERISTIC 0x2803
#define TENDON_GATT_CCCD 0x2902

typedef struct tendon_gatt_transaction {
    tendon_gatt_connection *connection;
    const tendon_att_pdu *pdu;
    tendon_writer out;     /**< over connection->response, capacity: the MTU */
    uint16_t error_handle; /**< for the Error Response */
    uint64_t now;
} tendon_gatt_transaction;

/** True when @p attribute is a service declaration. */
bool tendon_gatt_is_service(const tendon_gatt_attribute *attribute);
/** True when @p attribute has this 16-bit type. */
bool tendon_gatt_has_type(const tendon_gatt_attribute *attribute, uint16_t type);
tendon_gatt_attribute *tendon_gatt_attribute_at(tendon_gatt_server *server, uint16_t handle);

/* Checks; an ATT error code, 0: allowed. The security check is the part after the permission. */
uint8_t tendon_gatt_check_read(const tendon_gatt_connection *connection, const tendon_gatt_attribute *attribute);
uint8_t tendon_gatt_check_read_security(const tendon_gatt_connection *connection,
                                        const tendon_gatt_attribute *attribute);
uint8_t tendon_gatt_check_write(const tendon_gatt_connection *connection, const tendon_gatt_attribute *attribute,
                                uint8_t property);

/**
 * Lends an attribute's value without any check; an ATT error code, 0: lent.
 * @param scratch holds a CCCD's value.
 */
uint8_t tendon_gatt_value_of(tendon_gatt_connection *connection, const tendon_gatt_attribute *attribute,
                             uint8_t scratch[2], const uint8_t **value, size_t *length);
/** Stores a value, without checks of permission. @return an ATT error code, 0: stored. */
uint8_t tendon_gatt_store(tendon_gatt_connection *connection, const tendon_gatt_attribute *attribute, uint16_t offset,
                          const uint8_t *value, size_t length, bool command, uint64_t now);

/* One per request; an ATT error code, 0: the response is in out. */
uint8_t tendon_gatt_serve_find_information(tendon_gatt_transaction *transaction);
uint8_t tendon_gatt_serve_find_by_type_value(tendon_gatt_transaction *transaction);
uint8_t tendon_gatt_serve_read_by_type(tendon_gatt_transaction *transaction);
uint8_t tendon_gatt_serve_read_by_group_type(tendon_gatt_transaction *transaction);
uint8_t tendon_gatt_serve_read(tendon_gatt_transaction *transaction);
uint8_t tendon_gatt_serve_read_blob(tendon_gatt_transaction *transaction);
uint8_t tendon_gatt_serve_read_multiple(tendon_gatt_transaction *transaction);
uint8_t tendon_gatt_serve_read_multiple_variable(tendon_gatt_transaction *transaction);
uint8_t tendon_gatt_serve_write(tendon_gatt_transaction *transaction);
uint8_t tendon_gatt_serve_prepare_write(tendon_gatt_transaction *transaction);
uint8_t tendon_gatt_serve_execute_write(tendon_gatt_transaction *transaction);

/** Writes as many of the bytes as fit: ATT truncates a value that is longer than the PDU. */
void tendon_gatt_write_cut(tendon_writer *out, const uint8_t *bytes, size_t length);

#endif
