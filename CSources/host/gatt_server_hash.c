/* SPDX-License-Identifier: MIT */
/* The services that every server has: Generic Access (Core Spec Vol 3 Part C 12), and Generic Attribute with its
 * Database Hash (Part G 7). */
#include "gatt_server_parts.h"

enum {
    GENERIC_ACCESS = 0x1800,
    DEVICE_NAME = 0x2A00,
    DEVICE_NAME_MAX = 248, /* Part C 12.1 */
    APPEARANCE = 0x2A01,
    GENERIC_ATTRIBUTE = 0x1801,
    SERVICE_CHANGED = 0x2A05,
    DATABASE_HASH = 0x2B2A,
    EXTENDED_PROPERTIES = 0x2900,
    USER_DESCRIPTION = 0x2901,
    AGGREGATE_FORMAT = 0x2905
};

/* 7.3.1: of declarations and extended properties handle, type and value; of the other standard descriptors handle and
 * type; of values nothing. */
static void hash_attribute(tendon_cmac *cmac, const tendon_gatt_attribute *attribute) {
    uint16_t type = 0;
    bool standard = tendon_uuid_as_u16(&attribute->type, &type);
    bool whole =
        (type >= TENDON_GATT_PRIMARY_SERVICE && type <= TENDON_GATT_CHARACTERISTIC) || type == EXTENDED_PROPERTIES;
    if (!standard || (!whole && (type < USER_DESCRIPTION || type > AGGREGATE_FORMAT))) {
        return;
    }
    const uint8_t head[] = {(uint8_t)(attribute->handle & 0xFFu), (uint8_t)(attribute->handle >> 8),
                            (uint8_t)(type & 0xFFu), (uint8_t)(type >> 8)};
    tendon_cmac_update(cmac, head, sizeof head);
    if (whole && attribute->value != NULL) {
        tendon_cmac_update(cmac, attribute->value, attribute->length);
    }
}

void tendon_gatt_server_hash(const tendon_gatt_server *server, uint8_t out[16]) {
    static const uint8_t key[16];
    uint8_t code[16];
    tendon_cmac cmac;
    tendon_cmac_init(&cmac, key);
    for (size_t i = 0; i < server->count; i++) {
        hash_attribute(&cmac, &server->attributes[i]);
    }
    tendon_cmac_finish(&cmac, code);
    for (size_t i = 0; i < 16; i++) {
        out[i] = code[15 - i];
    }
}

/** A characteristic that can be read, with a fixed value. */
static void add_fixed(tendon_gatt_server *server, uint16_t type, const uint8_t *value, size_t length) {
    const tendon_uuid uuid = tendon_uuid_from_u16(type);
    tendon_status handle = tendon_gatt_add_characteristic(server, &uuid, TENDON_GATT_READ, TENDON_GATT_PERMIT_READ);
    (void)tendon_gatt_set_static(server, (uint16_t)(handle < 0 ? 0 : handle), value, length);
}

tendon_status tendon_gatt_add_generic_access(tendon_gatt_server *server, const char *name, size_t length,
                                             const uint8_t appearance[2]) {
    const tendon_uuid service = tendon_uuid_from_u16(GENERIC_ACCESS);
    tendon_status handle = tendon_gatt_add_service(server, &service, true);
    if (length > DEVICE_NAME_MAX && server->status >= 0) {
        server->status = TENDON_ERROR_INVALID_ARGUMENT;
    }
    add_fixed(server, DEVICE_NAME, (const uint8_t *)name, length);
    add_fixed(server, APPEARANCE, appearance, 2);
    return server->status < 0 ? server->status : handle;
}

tendon_status tendon_gatt_add_generic_attribute(tendon_gatt_server *server) {
    const tendon_uuid service = tendon_uuid_from_u16(GENERIC_ATTRIBUTE);
    const tendon_uuid changed = tendon_uuid_from_u16(SERVICE_CHANGED);
    tendon_status handle = tendon_gatt_add_service(server, &service, true);
    tendon_status value = tendon_gatt_add_characteristic(server, &changed, TENDON_GATT_INDICATE, 0);
    server->service_changed = (uint16_t)(value < 0 ? 0 : value);
    add_fixed(server, DATABASE_HASH, server->database_hash, sizeof server->database_hash);
    tendon_gatt_server_hash(server, server->database_hash);
    return server->status < 0 ? server->status : handle;
}

tendon_status tendon_gatt_indicate_service_changed(tendon_gatt_connection *connection, uint16_t first, uint16_t last,
                                                   uint64_t now) {
    const uint8_t range[] = {(uint8_t)(first & 0xFFu), (uint8_t)(first >> 8), (uint8_t)(last & 0xFFu),
                             (uint8_t)(last >> 8)};
    uint16_t handle = connection->server->service_changed;
    return handle == 0 ? TENDON_ERROR_NOT_FOUND : tendon_gatt_indicate(connection, handle, range, sizeof range, now);
}
