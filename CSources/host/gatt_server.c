/* SPDX-License-Identifier: MIT */
/* GATT server: building the attribute database. */
#include "gatt_server_parts.h"

void tendon_gatt_server_init(tendon_gatt_server *server, tendon_gatt_attribute *attributes, size_t capacity,
                             const tendon_gatt_handlers *handlers) {
    memset(server, 0, sizeof *server);
    server->attributes = attributes;
    /* Handles are 16 bits and 0xFFFF ends ranges: a longer table would never be used. */
    server->capacity = capacity < 0xFFFEu ? capacity : 0xFFFEu;
    if (handlers != NULL) {
        server->handlers = *handlers;
    }
}

bool tendon_gatt_has_type(const tendon_gatt_attribute *attribute, uint16_t type) {
    uint16_t value;
    return tendon_uuid_as_u16(&attribute->type, &value) && value == type;
}

bool tendon_gatt_is_service(const tendon_gatt_attribute *attribute) {
    return tendon_gatt_has_type(attribute, TENDON_GATT_PRIMARY_SERVICE) ||
           tendon_gatt_has_type(attribute, TENDON_GATT_SECONDARY_SERVICE);
}

tendon_gatt_attribute *tendon_gatt_attribute_at(tendon_gatt_server *server, uint16_t handle) {
    return handle == 0 || handle > server->count ? NULL : &server->attributes[handle - 1u];
}

const tendon_gatt_attribute *tendon_gatt_find_attribute(const tendon_gatt_server *server, uint16_t handle) {
    return handle == 0 || handle > server->count ? NULL : &server->attributes[handle - 1u];
}

static tendon_status fail(tendon_gatt_server *server, tendon_status status) {
    if (server->status == TENDON_OK) {
        server->status = status;
    }
    return server->status;
}

/** True when @p count more attributes may be added; the service they belong to must exist unless @p service. */
static tendon_status reserve(tendon_gatt_server *server, size_t count, bool service) {
    if (server->status != TENDON_OK) {
        return server->status;
    }
    if (!service && server->count == 0) {
        return fail(server, TENDON_ERROR_INVALID_ARGUMENT);
    }
    if (server->capacity - server->count < count) {
        return fail(server, TENDON_ERROR_TABLE_FULL);
    }
    return TENDON_OK;
}

/** The declaration of the service that is being built: the last one. The caller checked that there is one. */
static tendon_gatt_attribute *open_service(tendon_gatt_server *server) {
    size_t index = server->count;
    while (index > 1 && !tendon_gatt_is_service(&server->attributes[index - 1])) {
        index--;
    }
    return &server->attributes[index - 1];
}

/** Room was reserved. */
static tendon_gatt_attribute *append(tendon_gatt_server *server, const tendon_uuid *type, uint8_t permissions) {
    tendon_gatt_attribute *attribute = &server->attributes[server->count];
    memset(attribute, 0, sizeof *attribute);
    server->count++;
    attribute->type = *type;
    attribute->handle = (uint16_t)server->count;
    attribute->permissions = permissions;
    attribute->cccd_index = -1;
    open_service(server)->group_end = attribute->handle;
    return attribute;
}

/** A declaration: its content, made by the caller in inline_value, is fixed. */
static tendon_gatt_attribute *append_declaration(tendon_gatt_server *server, uint16_t type) {
    tendon_uuid uuid = tendon_uuid_from_u16(type);
    tendon_gatt_attribute *attribute = append(server, &uuid, TENDON_GATT_PERMIT_READ);
    attribute->value = attribute->inline_value;
    return attribute;
}

tendon_status tendon_gatt_add_service(tendon_gatt_server *server, const tendon_uuid *uuid, bool primary) {
    tendon_status status = reserve(server, 1, true);
    if (status != TENDON_OK) {
        return status;
    }
    tendon_gatt_attribute *attribute =
        append_declaration(server, primary ? TENDON_GATT_PRIMARY_SERVICE : TENDON_GATT_SECONDARY_SERVICE);
    attribute->length = (uint16_t)tendon_uuid_to_wire(uuid, attribute->inline_value);
    return attribute->handle;
}

tendon_status tendon_gatt_add_include(tendon_gatt_server *server, uint16_t service_handle) {
    tendon_status status = reserve(server, 1, false);
    if (status != TENDON_OK) {
        return status;
    }
    const tendon_gatt_attribute *included = tendon_gatt_find_attribute(server, service_handle);
    const tendon_gatt_attribute *last = &server->attributes[server->count - 1];
    if (included == NULL || !tendon_gatt_is_service(included) || included == open_service(server) ||
        !(tendon_gatt_is_service(last) || tendon_gatt_has_type(last, TENDON_GATT_INCLUDE))) {
        return fail(server, TENDON_ERROR_INVALID_ARGUMENT);
    }
    tendon_gatt_attribute *attribute = append_declaration(server, TENDON_GATT_INCLUDE);
    tendon_writer out = tendon_writer_make(attribute->inline_value, sizeof attribute->inline_value);
    tendon_write_u16le(&out, included->handle);
    tendon_write_u16le(&out, included->group_end);
    if (included->length == 2) { /* a 128-bit UUID is left out (Vol 3 Part G 3.2) */
        tendon_write_bytes(&out, included->inline_value, 2);
    }
    attribute->length = (uint16_t)out.length;
    return attribute->handle;
}

/** The CCCD after a value: always readable, written with the security that reading the value requires. */
static void append_cccd(tendon_gatt_server *server, uint8_t value_permissions) {
    tendon_uuid uuid = tendon_uuid_from_u16(TENDON_GATT_CCCD);
    uint32_t security = ((uint32_t)value_permissions &
                         (TENDON_GATT_READ_ENCRYPTED | TENDON_GATT_READ_AUTHENTICATED | TENDON_GATT_READ_AUTHORIZED))
                        << 1; /* each WRITE_ bit stands one above its READ_ bit */
    tendon_gatt_attribute *attribute =
        append(server, &uuid, (uint8_t)(TENDON_GATT_PERMIT_READ | TENDON_GATT_PERMIT_WRITE | security));
    attribute->cccd_index = (int16_t)server->cccd_count;
    server->cccd_count++;
}

/** Declarations and CCCDs have separate functions. */
static bool is_reserved(const tendon_uuid *uuid) {
    uint16_t type;
    return tendon_uuid_as_u16(uuid, &type) &&
           ((type >= TENDON_GATT_PRIMARY_SERVICE && type <= TENDON_GATT_CHARACTERISTIC) || type == TENDON_GATT_CCCD);
}

tendon_status tendon_gatt_add_characteristic(tendon_gatt_server *server, const tendon_uuid *uuid, uint8_t properties,
                                             uint8_t permissions) {
    bool subscribable = (properties & (TENDON_GATT_NOTIFY | TENDON_GATT_INDICATE)) != 0;
    tendon_status status = reserve(server, subscribable ? 3 : 2, false);
    if (status == TENDON_OK && subscribable && server->cccd_count >= (size_t)INT16_MAX) {
        status = fail(server, TENDON_ERROR_TABLE_FULL);
    }
    if (status != TENDON_OK) {
        return status;
    }
    if (is_reserved(uuid)) {
        return fail(server, TENDON_ERROR_INVALID_ARGUMENT);
    }
    tendon_gatt_attribute *declaration = append_declaration(server, TENDON_GATT_CHARACTERISTIC);
    tendon_gatt_attribute *value = append(server, uuid, permissions);
    tendon_writer out = tendon_writer_make(declaration->inline_value, sizeof declaration->inline_value);
    uint8_t wire[16];
    tendon_write_u8(&out, properties);
    tendon_write_u16le(&out, value->handle);
    tendon_write_bytes(&out, wire, tendon_uuid_to_wire(uuid, wire));
    declaration->length = (uint16_t)out.length;
    declaration->properties = properties;
    value->properties = properties;
    value->dynamic = true;
    if (subscribable) {
        append_cccd(server, permissions);
    }
    return value->handle;
}

tendon_status tendon_gatt_add_descriptor(tendon_gatt_server *server, const tendon_uuid *uuid, uint8_t permissions) {
    tendon_status status = reserve(server, 1, false);
    if (status != TENDON_OK) {
        return status;
    }
    /* A descriptor belongs to a characteristic. */
    const tendon_gatt_attribute *last = &server->attributes[server->count - 1];
    if (is_reserved(uuid) || tendon_gatt_is_service(last) || tendon_gatt_has_type(last, TENDON_GATT_INCLUDE)) {
        return fail(server, TENDON_ERROR_INVALID_ARGUMENT);
    }
    tendon_gatt_attribute *attribute = append(server, uuid, permissions);
    attribute->dynamic = true;
    return attribute->handle;
}

tendon_status tendon_gatt_set_static(tendon_gatt_server *server, uint16_t handle, const uint8_t *value, size_t length) {
    if (server->status != TENDON_OK) {
        return server->status;
    }
    tendon_gatt_attribute *attribute = tendon_gatt_attribute_at(server, handle);
    bool fixed = attribute != NULL && (attribute->value == attribute->inline_value || attribute->cccd_index >= 0);
    if (attribute == NULL || fixed || length > TENDON_ATT_VALUE_MAX || (value == NULL && length != 0)) {
        return fail(server, TENDON_ERROR_INVALID_ARGUMENT);
    }
    attribute->dynamic = false;
    attribute->value = value;
    attribute->length = (uint16_t)length;
    return TENDON_OK;
}
