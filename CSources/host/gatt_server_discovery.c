/* SPDX-License-Identifier: MIT */
/* GATT server: the four discovery requests (Vol 3 Part F 3.4.3, 3.4.4.1, 3.4.4.9). */
#include "gatt_server_parts.h"

/** Longest item length that the one length byte of a list response can state. */
#define ITEM_LENGTH_MAX 255u

/** The range rule that all four share. */
static uint8_t check_range(tendon_gatt_transaction *t) {
    t->error_handle = t->pdu->handle;
    return t->pdu->handle == 0 || t->pdu->handle > t->pdu->end_handle ? TENDON_ATT_INVALID_HANDLE : 0;
}

/** The next attribute of the range from @p *handle on; NULL at its end. Advances by one handle at least. */
static const tendon_gatt_attribute *next_in_range(const tendon_gatt_transaction *t, uint32_t *handle) {
    const tendon_gatt_server *server = t->connection->server;
    if (*handle > t->pdu->end_handle || *handle > server->count) {
        return NULL;
    }
    const tendon_gatt_attribute *attribute = &server->attributes[*handle - 1u];
    (*handle)++;
    return attribute;
}

static size_t room(const tendon_gatt_transaction *t) {
    return t->out.capacity - t->out.length;
}

uint8_t tendon_gatt_serve_find_information(tendon_gatt_transaction *t) {
    uint8_t code = check_range(t);
    if (code != 0) {
        return code;
    }
    const tendon_gatt_attribute *attribute;
    size_t uuid_length = 0;
    for (uint32_t handle = t->pdu->handle; (attribute = next_in_range(t, &handle)) != NULL;) {
        uint8_t uuid[16];
        size_t length = tendon_uuid_to_wire(&attribute->type, uuid);
        if (uuid_length == 0) { /* the first decides the format; the list ends where it changes */
            uuid_length = length;
            tendon_write_u8(&t->out, TENDON_ATT_FIND_INFORMATION_RESPONSE);
            tendon_write_u8(&t->out, length == 2 ? 1 : 2);
        }
        if (length != uuid_length || room(t) < 2 + length) {
            break;
        }
        tendon_write_u16le(&t->out, attribute->handle);
        tendon_write_bytes(&t->out, uuid, length);
    }
    return uuid_length == 0 ? TENDON_ATT_ATTRIBUTE_NOT_FOUND : 0;
}

/** Compares only values that this connection may read, because the response would reveal the value. */
static bool value_matches(const tendon_gatt_transaction *t, const tendon_gatt_attribute *attribute) {
    const uint8_t *value;
    size_t length;
    uint8_t scratch[2];
    return tendon_uuid_equal(&attribute->type, &t->pdu->type) &&
           tendon_gatt_check_read(t->connection, attribute) == 0 &&
           tendon_gatt_value_of(t->connection, attribute, scratch, &value, &length) == 0 && length == t->pdu->length &&
           (length == 0 || memcmp(value, t->pdu->data, length) == 0);
}

uint8_t tendon_gatt_serve_find_by_type_value(tendon_gatt_transaction *t) {
    uint8_t code = check_range(t);
    if (code != 0) {
        return code;
    }
    const tendon_gatt_attribute *attribute;
    tendon_write_u8(&t->out, TENDON_ATT_FIND_BY_TYPE_VALUE_RESPONSE);
    for (uint32_t handle = t->pdu->handle; (attribute = next_in_range(t, &handle)) != NULL && room(t) >= 4;) {
        if (value_matches(t, attribute)) {
            tendon_write_u16le(&t->out, attribute->handle);
            tendon_write_u16le(&t->out, tendon_gatt_is_service(attribute) ? attribute->group_end : attribute->handle);
        }
    }
    return t->out.length == 1 ? TENDON_ATT_ATTRIBUTE_NOT_FOUND : 0;
}

/** A list of attributes with values of one length: Read By Type, and with end handles Read By Group Type. */
static uint8_t read_list(tendon_gatt_transaction *t, uint8_t response, bool groups) {
    const size_t head = groups ? 4 : 2;
    const tendon_gatt_attribute *attribute;
    size_t item = 0; /* full length of the first value decides */
    for (uint32_t handle = t->pdu->handle; (attribute = next_in_range(t, &handle)) != NULL;) {
        if (!tendon_uuid_equal(&attribute->type, &t->pdu->type)) {
            continue;
        }
        const uint8_t *value;
        size_t length;
        uint8_t scratch[2];
        uint8_t code = tendon_gatt_check_read(t->connection, attribute);
        if (code == 0) {
            code = tendon_gatt_value_of(t->connection, attribute, scratch, &value, &length);
        }
        if (code != 0) { /* an error only for the first match, otherwise the list ends before it (3.4.4.1) */
            t->error_handle = item == 0 ? attribute->handle : t->error_handle;
            return item == 0 ? code : 0;
        }
        size_t longest = t->out.capacity - 2 < ITEM_LENGTH_MAX ? t->out.capacity - 2 : ITEM_LENGTH_MAX;
        size_t kept = head + length < longest ? head + length : longest;
        if (item == 0) {
            item = kept;
            tendon_write_u8(&t->out, response);
            tendon_write_u8(&t->out, (uint8_t)item);
        }
        if (kept != item || room(t) < item) {
            break;
        }
        tendon_write_u16le(&t->out, attribute->handle);
        if (groups) {
            tendon_write_u16le(&t->out, attribute->group_end);
        }
        tendon_write_bytes(&t->out, value, item - head);
    }
    return item == 0 ? TENDON_ATT_ATTRIBUTE_NOT_FOUND : 0;
}

uint8_t tendon_gatt_serve_read_by_type(tendon_gatt_transaction *t) {
    uint8_t code = check_range(t);
    return code != 0 ? code : read_list(t, TENDON_ATT_READ_BY_TYPE_RESPONSE, false);
}

uint8_t tendon_gatt_serve_read_by_group_type(tendon_gatt_transaction *t) {
    uint8_t code = check_range(t);
    if (code != 0) {
        return code;
    }
    uint16_t type; /* GATT groups by service only: characteristic declarations are not allowed (Vol 3 Part G 2.5.3) */
    if (!tendon_uuid_as_u16(&t->pdu->type, &type) ||
        (type != TENDON_GATT_PRIMARY_SERVICE && type != TENDON_GATT_SECONDARY_SERVICE)) {
        return TENDON_ATT_UNSUPPORTED_GROUP_TYPE;
    }
    return read_list(t, TENDON_ATT_READ_BY_GROUP_TYPE_RESPONSE, true);
}
