/* SPDX-License-Identifier: MIT */
/*
 * GATT server for simulated devices: an attribute database in the caller's
 * table, served to any number of connections.
 *
 * Handles are assigned in order of the tendon_gatt_add_*() calls, from 1, without gaps. The database must be complete
 * before the first connection is initialized.
 *
 * Order of checks (Vol 3 Part F 3.4, 4; Part C 10.3.1): handle, permission,
 * authentication, encryption, key size, authorization, offset, length.
 *
 * Sequential rule (Vol 3 Part F 3.3.2): while a response is pending because its send would block, a further request is
 * ignored and counted in counters.pipelined. Commands and confirmations are still served. The pending response is sent
 * before any notification, so notifications cannot delay it.
 */
#ifndef TENDON_HOST_GATT_SERVER_H
#define TENDON_HOST_GATT_SERVER_H

#include "tendon/host/bearer.h"
#include "tendon/host/gatt_client.h" /* property bits */

#ifdef __cplusplus
extern "C" {
#endif

struct tendon_gatt_connection;

/** Permissions of an attribute, and the security that a connection must have to read or write it. */
enum {
    TENDON_GATT_PERMIT_READ = 0x01,
    TENDON_GATT_PERMIT_WRITE = 0x02,
    TENDON_GATT_READ_ENCRYPTED = 0x04, /**< otherwise Insufficient Encryption or Insufficient Authentication */
    TENDON_GATT_WRITE_ENCRYPTED = 0x08,
    TENDON_GATT_READ_AUTHENTICATED = 0x10,
    TENDON_GATT_WRITE_AUTHENTICATED = 0x20,
    TENDON_GATT_READ_AUTHORIZED = 0x40,
    TENDON_GATT_WRITE_AUTHORIZED = 0x80
};

/** Security of a connection, as the radio reports it. */
typedef enum tendon_gatt_security {
    TENDON_GATT_SECURITY_NONE = 0,
    TENDON_GATT_SECURITY_ENCRYPTED = 1,
    TENDON_GATT_SECURITY_AUTHENTICATED = 2
} tendon_gatt_security;

/** One attribute. Filled by the add functions. */
typedef struct tendon_gatt_attribute {
    tendon_uuid type;
    uint16_t handle;
    uint16_t group_end; /**< service declarations: last handle of the service */
    uint8_t permissions;
    uint8_t properties;       /**< of the characteristic, on its declaration and value */
    bool dynamic;             /**< value is read and written through the callbacks */
    int16_t cccd_index;       /**< CCCDs: index into each connection's array, else -1 */
    uint8_t inline_value[20]; /**< declarations */
    const uint8_t *value;     /**< static value (borrowed, or inline_value) */
    uint16_t length;
} tendon_gatt_attribute;

/** Callbacks for dynamic values. If one returns TENDON_ATT_ERROR(code), the request is rejected with that code. */
typedef struct tendon_gatt_handlers {
    void *context;
    /** Lends the whole value until the next call on this server. */
    tendon_status (*read)(void *context, struct tendon_gatt_connection *connection, uint16_t handle,
                          const uint8_t **value, size_t *length);
    /** One whole value (@p offset 0), or a part assembled from prepared writes at @p offset. */
    tendon_status (*write)(void *context, struct tendon_gatt_connection *connection, uint16_t handle, uint16_t offset,
                           const uint8_t *value, size_t length, bool command, uint64_t now);
    /** A CCCD changed; value bits: 1 notify, 2 indicate. May be NULL. */
    void (*subscribed)(void *context, struct tendon_gatt_connection *connection, uint16_t value_handle, uint16_t value,
                       uint64_t now);
    /** Called when an indication was confirmed (TENDON_OK), timed out, or the connection ended. May be NULL. */
    void (*confirmed)(void *context, struct tendon_gatt_connection *connection, uint16_t value_handle,
                      tendon_status status, uint64_t now);
} tendon_gatt_handlers;

typedef struct tendon_gatt_server {
    tendon_gatt_attribute *attributes; /**< the caller's */
    size_t capacity, count;
    size_t cccd_count;
    tendon_gatt_handlers handlers;
    uint16_t service_changed;  /**< value handle of Service Changed, 0: none */
    uint8_t database_hash[16]; /**< value of the Database Hash, if it has one */
    tendon_status status;      /**< sticky: TENDON_ERROR_TABLE_FULL or TENDON_ERROR_INVALID_ARGUMENT of an add call */
} tendon_gatt_server;

void tendon_gatt_server_init(tendon_gatt_server *server, tendon_gatt_attribute *attributes, size_t capacity,
                             const tendon_gatt_handlers *handlers);

/* Each returns the new attribute's handle, or a negative status (sticky). */
tendon_status tendon_gatt_add_service(tendon_gatt_server *server, const tendon_uuid *uuid, bool primary);
/** Directly after a service declaration or another include; @p service_handle is a service that is complete. */
tendon_status tendon_gatt_add_include(tendon_gatt_server *server, uint16_t service_handle);
/**
 * Adds a declaration and a value, and a CCCD if @p properties contain notify or indicate. Returns the VALUE handle. The
 * security that @p permissions require for reading is also required for notifications and for writing the CCCD. In
 * addition to the permission, Write Requests require the WRITE property, and Write Commands WRITE_WITHOUT_RESPONSE.
 */
tendon_status tendon_gatt_add_characteristic(tendon_gatt_server *server, const tendon_uuid *uuid, uint8_t properties,
                                             uint8_t permissions);
tendon_status tendon_gatt_add_descriptor(tendon_gatt_server *server, const tendon_uuid *uuid, uint8_t permissions);
/** Sets a static value for a characteristic value or descriptor (borrowed). Without a static value it is dynamic. */
tendon_status tendon_gatt_set_static(tendon_gatt_server *server, uint16_t handle, const uint8_t *value, size_t length);
/**
 * Adds the Generic Access service with Device Name and Appearance, which every peripheral has (Vol 3 Part C 12). It
 * takes five attributes.
 * @param name 0 to 248 bytes of UTF-8, borrowed. @param appearance two bytes, least significant first, borrowed.
 * @return the handle of the service.
 */
tendon_status tendon_gatt_add_generic_access(tendon_gatt_server *server, const char *name, size_t length,
                                             const uint8_t appearance[2]);
/**
 * Adds the Generic Attribute service with Service Changed and Database Hash (Vol 3 Part G 7), as the last service: the
 * hash is that of all attributes at the end of this call. It takes six attributes and one CCCD. Returns the handle of
 * the service.
 */
tendon_status tendon_gatt_add_generic_attribute(tendon_gatt_server *server);
/** Computes the Database Hash (7.3.1), least significant byte first, as it is transmitted. */
void tendon_gatt_server_hash(const tendon_gatt_server *server, uint8_t out[16]);
const tendon_gatt_attribute *tendon_gatt_find_attribute(const tendon_gatt_server *server, uint16_t handle);

/** One prepared write. Opaque: the caller gives an array of them. */
typedef struct tendon_gatt_prepared {
    uint16_t handle, offset, length;
    uint8_t value[TENDON_ATT_MTU_MAX - 5];
} tendon_gatt_prepared;

/** Counters of a connection. The bearer counts malformed PDUs and unexpected confirmations. */
typedef struct tendon_gatt_connection_counters {
    uint32_t requests;         /**< requests served, including those with an Error Response */
    uint32_t errors;           /**< requests with an Error Response */
    uint32_t pipelined;        /**< requests ignored because a response was pending */
    uint32_t commands;         /**< executed Write Commands */
    uint32_t refused_commands; /**< Write Commands dropped because of handle, permission, security or length */
    uint32_t signed_writes; /**< Signed Write Commands; always ignored, because the server has no signing key to verify
                               them */
} tendon_gatt_connection_counters;

typedef struct tendon_gatt_connection_config {
    tendon_att_bearer *bearer; /**< init()ed; its server is set */
    uint16_t *cccds;           /**< cccd_capacity values, zeroed by init */
    size_t cccd_capacity;      /**< at least server->cccd_count */
    tendon_gatt_prepared *prepared;
    size_t prepared_capacity; /**< 0: Prepare Write is rejected with Request Not Supported */
    void *user;               /**< the device's own, see tendon_gatt_connection.user */
} tendon_gatt_connection_config;

/** One client of the server. */
typedef struct tendon_gatt_connection {
    uint8_t security;         /**< tendon_gatt_security; the radio's owner sets it (tendon_peripheral does) */
    uint8_t key_size;         /**< encryption key size in bytes; default 16 */
    uint8_t minimum_key_size; /**< smaller keys are rejected with Encryption Key Size Too Short; default 7 */
    bool authorized;
    bool bonded; /**< a key is stored: an unencrypted request is rejected with Insufficient Encryption, otherwise with
                    Insufficient Authentication */
    bool mtu_exchanged, indication_outstanding, response_pending;
    uint16_t indicated_handle;
    tendon_gatt_server *server;
    tendon_att_bearer *bearer;
    tendon_gatt_connection_config config;
    void *user;
    size_t prepared_count;
    size_t response_length;
    uint64_t indication_deadline;
    tendon_gatt_connection_counters counters;
    uint8_t response[TENDON_ATT_MTU_MAX]; /**< the pending response */
} tendon_gatt_connection;

tendon_status tendon_gatt_connection_init(tendon_gatt_connection *connection, tendon_gatt_server *server,
                                          const tendon_gatt_connection_config *config);
/** Notifies the server that the connection ended: prepared writes are dropped, and an outstanding indication completes
 * with @p reason. */
void tendon_gatt_connection_closed(tendon_gatt_connection *connection, tendon_status reason, uint64_t now);

/** Returns the CCCD value of a characteristic for this connection; 0 if it has no CCCD. */
uint16_t tendon_gatt_connection_cccd(const tendon_gatt_connection *connection, uint16_t value_handle);

/**
 * Sends a notification if the client enabled it. A value longer than MTU-3 is truncated (Vol 3 Part F 3.4.7.1).
 * @return TENDON_OK, TENDON_GATT_ERROR_NOT_SUBSCRIBED, TENDON_ERROR_WOULD_BLOCK (also while a response is pending),
 * TENDON_ATT_ERROR(..) if the connection lacks the security that the characteristic requires, ...
 */
tendon_status tendon_gatt_notify(tendon_gatt_connection *connection, uint16_t value_handle, const uint8_t *value,
                                 size_t length);
/** Sends an indication if the client enabled it. TENDON_ERROR_BUSY while the previous indication is unconfirmed. */
tendon_status tendon_gatt_indicate(tendon_gatt_connection *connection, uint16_t value_handle, const uint8_t *value,
                                   size_t length, uint64_t now);

/**
 * Indicates Service Changed for a range of handles, as tendon_gatt_indicate(). TENDON_ERROR_NOT_FOUND if the server has
 * no Generic Attribute service.
 */
tendon_status tendon_gatt_indicate_service_changed(tendon_gatt_connection *connection, uint16_t first, uint16_t last,
                                                   uint64_t now);

/*
 * Called by the bearer. receive() takes every PDU that the bearer routes to the server, including malformed ones. It
 * returns TENDON_OK, also if it rejected a well-formed request with an Error Response; TENDON_ERROR_TRUNCATED or
 * _MALFORMED (requests are rejected with Invalid PDU); _UNSUPPORTED (unknown opcode; rejected with Request Not
 * Supported unless it is a command); _BUSY (pipelined); or _WRONG_STATE (a confirmation without an outstanding
 * indication).
 */
tendon_status tendon_gatt_connection_receive(tendon_gatt_connection *connection, const uint8_t *pdu, size_t length,
                                             uint64_t now);
void tendon_gatt_connection_writable(tendon_gatt_connection *connection, uint64_t now);
void tendon_gatt_connection_tick(tendon_gatt_connection *connection, uint64_t now);
uint64_t tendon_gatt_connection_deadline(const tendon_gatt_connection *connection);

#ifdef __cplusplus
}
#endif
#endif
