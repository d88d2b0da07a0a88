/* SPDX-License-Identifier: MIT */
/* A GATT server as its builder leaves it, with any permissions, and a client's connection in any state. */
#ifndef TENDON_PROOF_GATTS_H
#define TENDON_PROOF_GATTS_H

#include "../views/view.h"
#include "gatt_server_parts.h"

/* One of each kind: a constant value, the device's own, a CCCD, an empty one. */
enum { CONSTANT, DYNAMIC, CCCD, EMPTY, ATTRIBUTES };
#define PREPARED 2
#define VALUE 3

static tendon_gatt_attribute attributes[ATTRIBUTES];
static tendon_gatt_server server;
static tendon_gatt_connection connection;
static tendon_att_bearer bearer;
static uint16_t cccds[1];
static tendon_gatt_prepared prepared[PREPARED];
static uint8_t value[VALUE];
static int value_length;

/* The device's own: a value whose last byte is the last of its array, or an error, or what no device should return. */
static tendon_status read_value(void *context, struct tendon_gatt_connection *of, uint16_t handle, const uint8_t **out,
                                size_t *length) {
    (void)context;
    (void)of;
    (void)handle;
    if (proof_unknown) {
        *length = TENDON_ATT_VALUE_MAX + 1;
        return TENDON_OK;
    }
    *out = value_length > 0 ? value + (VALUE - value_length) : NULL;
    *length = (size_t)value_length;
    return Frama_C_interval(-0x10000, TENDON_OK);
}

static tendon_status write_value(void *context, struct tendon_gatt_connection *of, uint16_t handle, uint16_t offset,
                                 const uint8_t *bytes, size_t length, bool command, uint64_t now) {
    (void)context;
    (void)of;
    (void)handle;
    (void)command;
    (void)now;
    proof_view(bytes, length);
    if (offset > TENDON_ATT_VALUE_MAX || length > TENDON_ATT_VALUE_MAX) {
        proof_fail();
    }
    return Frama_C_interval(-0x10000, TENDON_OK);
}

static void subscribed(void *context, struct tendon_gatt_connection *of, uint16_t handle, uint16_t bits, uint64_t now) {
    (void)context;
    (void)of;
    (void)handle;
    (void)now;
    if (bits > 3) {
        proof_fail();
    }
}

static void proof_server(int mtu) {
    static const uint16_t types[ATTRIBUTES] = {TENDON_GATT_PRIMARY_SERVICE, 0x2A37, TENDON_GATT_CCCD, 0x2A29};
    for (int i = 0; i < ATTRIBUTES; i++) {
        attributes[i].type = tendon_uuid_from_u16(types[i]);
        attributes[i].handle = (uint16_t)(i + 1);
        attributes[i].group_end = ATTRIBUTES;
        attributes[i].permissions = (uint8_t)Frama_C_interval(0, 255);
        attributes[i].properties = (uint8_t)Frama_C_interval(0, 255);
        attributes[i].cccd_index = -1;
        attributes[i].value = attributes[i].inline_value;
        attributes[i].length = sizeof attributes[i].inline_value;
    }
    attributes[DYNAMIC].dynamic = true;
    attributes[CCCD].cccd_index = 0;
    attributes[EMPTY].length = 0;
    attributes[EMPTY].value = NULL;
    server.attributes = attributes;
    server.count = ATTRIBUTES;
    server.capacity = ATTRIBUTES;
    server.cccd_count = 1;
    server.handlers.read = read_value;
    server.handlers.write = write_value;
    server.handlers.subscribed = subscribed;
    bearer.mtu = (uint16_t)mtu;
    bearer.own_mtu = TENDON_ATT_MTU_MAX;
    connection.server = &server;
    connection.bearer = &bearer;
    connection.config.cccds = cccds;
    connection.config.cccd_capacity = 1;
    connection.config.prepared = prepared;
    connection.config.prepared_capacity = PREPARED;
    connection.security = (uint8_t)Frama_C_interval(0, 255);
    connection.key_size = (uint8_t)Frama_C_interval(0, 255);
    connection.minimum_key_size = (uint8_t)Frama_C_interval(0, 255);
    connection.authorized = proof_unknown != 0;
    connection.bonded = proof_unknown != 0;
}

#endif
