/* SPDX-License-Identifier: MIT */
/* GATT server: permissions, reading and writing values (Vol 3 Part F 3.4.4 to 3.4.6). */
#include "gatt_server_parts.h"

/* ---- checks ---- */

/** @p required: the READ_ security bits. Authentication, encryption, key size, authorization, in that order. */
static uint8_t check_security(const tendon_gatt_connection *connection, uint32_t required) {
    bool encryption = (required & (TENDON_GATT_READ_ENCRYPTED | TENDON_GATT_READ_AUTHENTICATED)) != 0;
    if (encryption && connection->security == TENDON_GATT_SECURITY_NONE) {
        /* Vol 3 Part C 10.3.1: without a key the client must pair, with one it must start encryption. */
        return connection->bonded ? TENDON_ATT_INSUFFICIENT_ENCRYPTION : TENDON_ATT_INSUFFICIENT_AUTHENTICATION;
    }
    if ((required & TENDON_GATT_READ_AUTHENTICATED) != 0 && connection->security < TENDON_GATT_SECURITY_AUTHENTICATED) {
        return TENDON_ATT_INSUFFICIENT_AUTHENTICATION;
    }
    if (encryption && connection->key_size < connection->minimum_key_size) {
        return TENDON_ATT_ENCRYPTION_KEY_SIZE_TOO_SHORT;
    }
    if ((required & TENDON_GATT_READ_AUTHORIZED) != 0 && !connection->authorized) {
        return TENDON_ATT_INSUFFICIENT_AUTHORIZATION;
    }
    return 0;
}

uint8_t tendon_gatt_check_read_security(const tendon_gatt_connection *connection,
                                        const tendon_gatt_attribute *attribute) {
    return check_security(connection, attribute->permissions);
}

uint8_t tendon_gatt_check_read(const tendon_gatt_connection *connection, const tendon_gatt_attribute *attribute) {
    if ((attribute->permissions & TENDON_GATT_PERMIT_READ) == 0) {
        return TENDON_ATT_READ_NOT_PERMITTED;
    }
    return tendon_gatt_check_read_security(connection, attribute);
}

uint8_t tendon_gatt_check_write(const tendon_gatt_connection *connection, const tendon_gatt_attribute *attribute,
                                uint8_t property) {
    bool value_of_characteristic = attribute->properties != 0;
    bool writable = attribute->dynamic || attribute->cccd_index >= 0; /* static values are borrowed and const */
    if ((attribute->permissions & TENDON_GATT_PERMIT_WRITE) == 0 || !writable ||
        (value_of_characteristic && (attribute->properties & property) == 0)) {
        return TENDON_ATT_WRITE_NOT_PERMITTED;
    }
    /* each WRITE_ bit stands one above its READ_ bit */
    return check_security(connection, (uint32_t)attribute->permissions >> 1);
}

/* ---- values ---- */

/** The result of the device's handler, as an ATT error code. */
static uint8_t code_of(tendon_status status) {
    if (status >= 0) {
        return 0;
    }
    bool att = TENDON_STATUS_LAYER(status) == TENDON_LAYER_ATT && TENDON_STATUS_CODE(status) != 0;
    return att ? TENDON_STATUS_CODE(status) : TENDON_ATT_UNLIKELY_ERROR;
}

uint8_t tendon_gatt_value_of(tendon_gatt_connection *connection, const tendon_gatt_attribute *attribute,
                             uint8_t scratch[2], const uint8_t **value, size_t *length) {
    if (attribute->cccd_index >= 0) {
        tendon_writer out = tendon_writer_make(scratch, 2);
        tendon_write_u16le(&out, connection->config.cccds[attribute->cccd_index]);
        *value = scratch;
        *length = 2;
        return 0;
    }
    if (!attribute->dynamic) {
        *value = attribute->length != 0 ? attribute->value : scratch;
        *length = attribute->length;
        return 0;
    }
    const tendon_gatt_handlers *handlers = &connection->server->handlers;
    if (handlers->read == NULL) {
        return TENDON_ATT_READ_NOT_PERMITTED;
    }
    *value = NULL;
    *length = 0;
    uint8_t code = code_of(handlers->read(handlers->context, connection, attribute->handle, value, length));
    bool impossible = *length > TENDON_ATT_VALUE_MAX || (*value == NULL && *length != 0);
    if (*length == 0) {
        *value = scratch; /* never NULL: callers add offsets */
    }
    return code == 0 && impossible ? TENDON_ATT_UNLIKELY_ERROR : code;
}

static uint8_t store_cccd(tendon_gatt_connection *connection, const tendon_gatt_attribute *attribute, uint16_t offset,
                          const uint8_t *value, size_t length, uint64_t now) {
    if (offset > 2) {
        return TENDON_ATT_INVALID_OFFSET;
    }
    if (offset != 0 || length != 2) {
        return TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH;
    }
    tendon_reader reader = tendon_reader_make(value, length);
    uint16_t bits = tendon_read_u16le(&reader);
    uint16_t value_handle = (uint16_t)(attribute->handle - 1u);
    uint8_t properties = tendon_gatt_attribute_at(connection->server, value_handle)->properties;
    uint32_t allowed =
        ((properties & TENDON_GATT_NOTIFY) != 0 ? 1u : 0u) | ((properties & TENDON_GATT_INDICATE) != 0 ? 2u : 0u);
    if ((bits & ~allowed) != 0) {
        return TENDON_ATT_VALUE_NOT_ALLOWED;
    }
    uint16_t *stored = &connection->config.cccds[attribute->cccd_index];
    if (*stored != bits) {
        *stored = bits;
        const tendon_gatt_handlers *handlers = &connection->server->handlers;
        if (handlers->subscribed != NULL) {
            handlers->subscribed(handlers->context, connection, value_handle, bits, now);
        }
    }
    return 0;
}

uint8_t tendon_gatt_store(tendon_gatt_connection *connection, const tendon_gatt_attribute *attribute, uint16_t offset,
                          const uint8_t *value, size_t length, bool command, uint64_t now) {
    if (offset > TENDON_ATT_VALUE_MAX) {
        return TENDON_ATT_INVALID_OFFSET;
    }
    if (length > (size_t)(TENDON_ATT_VALUE_MAX - offset)) {
        return TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH;
    }
    if (attribute->cccd_index >= 0) {
        return store_cccd(connection, attribute, offset, value, length, now);
    }
    const tendon_gatt_handlers *handlers = &connection->server->handlers;
    if (handlers->write == NULL) {
        return TENDON_ATT_WRITE_NOT_PERMITTED;
    }
    return code_of(
        handlers->write(handlers->context, connection, attribute->handle, offset, value, length, command, now));
}

void tendon_gatt_write_cut(tendon_writer *out, const uint8_t *bytes, size_t length) {
    size_t room = out->capacity - out->length;
    tendon_write_bytes(out, bytes, length < room ? length : room);
}

/* ---- reads ---- */

/** The common first steps of every read: handle, checks, value. */
static uint8_t lend(tendon_gatt_transaction *t, uint16_t handle, uint8_t scratch[2], const uint8_t **value,
                    size_t *length) {
    t->error_handle = handle;
    const tendon_gatt_attribute *attribute = tendon_gatt_find_attribute(t->connection->server, handle);
    if (attribute == NULL) {
        return TENDON_ATT_INVALID_HANDLE;
    }
    uint8_t code = tendon_gatt_check_read(t->connection, attribute);
    return code != 0 ? code : tendon_gatt_value_of(t->connection, attribute, scratch, value, length);
}

uint8_t tendon_gatt_serve_read(tendon_gatt_transaction *t) {
    const uint8_t *value;
    size_t length;
    uint8_t scratch[2];
    uint8_t code = lend(t, t->pdu->handle, scratch, &value, &length);
    if (code == 0) {
        tendon_write_u8(&t->out, TENDON_ATT_READ_RESPONSE);
        tendon_gatt_write_cut(&t->out, value, length);
    }
    return code;
}

uint8_t tendon_gatt_serve_read_blob(tendon_gatt_transaction *t) {
    const uint8_t *value;
    size_t length;
    uint8_t scratch[2];
    uint8_t code = lend(t, t->pdu->handle, scratch, &value, &length);
    if (code == 0 && t->pdu->offset > length) {
        code = TENDON_ATT_INVALID_OFFSET;
    }
    if (code == 0) { /* a value that is not long is served too: 3.4.4.5 leaves Attribute Not Long to the server */
        tendon_write_u8(&t->out, TENDON_ATT_READ_BLOB_RESPONSE);
        tendon_gatt_write_cut(&t->out, value + t->pdu->offset, length - t->pdu->offset);
    }
    return code;
}

/** One value of Read Multiple, cut where the response is full; the variable form has its length in front. */
static uint8_t append_value(tendon_gatt_transaction *t, uint16_t handle, bool variable) {
    const uint8_t *value;
    size_t length;
    uint8_t scratch[2], code;
    //@ split handle;
    code = lend(t, handle, scratch, &value, &length);
    if (code == 0 && variable) {
        tendon_write_u16le(&t->out, (uint16_t)length); /* never divided: after a failed write the writer stays full */
    }
    if (code == 0) {
        tendon_gatt_write_cut(&t->out, value, length);
    }
    return code;
}

/** Read Multiple: all handles are checked and read, also those whose values no longer fit (3.4.4.7). */
static uint8_t read_multiple(tendon_gatt_transaction *t, bool variable) {
    tendon_reader handles = tendon_reader_make(t->pdu->data, t->pdu->length);
    tendon_write_u8(&t->out, variable ? TENDON_ATT_READ_MULTIPLE_VARIABLE_RESPONSE : TENDON_ATT_READ_MULTIPLE_RESPONSE);
    uint8_t code = 0;
    while (code == 0 && tendon_reader_remaining(&handles) >= 2) { /* each pass takes two bytes of the PDU */
        code = append_value(t, tendon_read_u16le(&handles), variable);
    }
    return code;
}

uint8_t tendon_gatt_serve_read_multiple(tendon_gatt_transaction *t) {
    return read_multiple(t, false);
}

uint8_t tendon_gatt_serve_read_multiple_variable(tendon_gatt_transaction *t) {
    return read_multiple(t, true);
}

/* ---- writes ---- */

uint8_t tendon_gatt_serve_write(tendon_gatt_transaction *t) {
    t->error_handle = t->pdu->handle;
    const tendon_gatt_attribute *attribute = tendon_gatt_find_attribute(t->connection->server, t->pdu->handle);
    if (attribute == NULL) {
        return TENDON_ATT_INVALID_HANDLE;
    }
    uint8_t code = tendon_gatt_check_write(t->connection, attribute, TENDON_GATT_WRITE);
    if (code == 0) {
        code = tendon_gatt_store(t->connection, attribute, 0, t->pdu->data, t->pdu->length, false, t->now);
    }
    if (code == 0) {
        tendon_write_u8(&t->out, TENDON_ATT_WRITE_RESPONSE);
    }
    return code;
}

uint8_t tendon_gatt_serve_prepare_write(tendon_gatt_transaction *t) {
    tendon_gatt_connection *connection = t->connection;
    const tendon_att_pdu *pdu = t->pdu;
    t->error_handle = pdu->handle;
    if (connection->config.prepared_capacity == 0) {
        return TENDON_ATT_REQUEST_NOT_SUPPORTED;
    }
    const tendon_gatt_attribute *attribute = tendon_gatt_find_attribute(connection->server, pdu->handle);
    if (attribute == NULL) {
        return TENDON_ATT_INVALID_HANDLE;
    }
    uint8_t code = tendon_gatt_check_write(connection, attribute, TENDON_GATT_WRITE);
    if (code != 0) {
        return code;
    }
    if (connection->prepared_count >= connection->config.prepared_capacity) {
        return TENDON_ATT_PREPARE_QUEUE_FULL;
    }
    tendon_gatt_prepared *prepared = &connection->config.prepared[connection->prepared_count];
    if (pdu->length > sizeof prepared->value) {
        return TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH;
    }
    prepared->handle = pdu->handle;
    prepared->offset = pdu->offset; /* offset and length are checked when executed (3.4.6.1) */
    prepared->length = (uint16_t)pdu->length;
    if (pdu->length != 0) {
        memcpy(prepared->value, pdu->data, pdu->length);
    }
    connection->prepared_count++;
    tendon_write_u8(&t->out, TENDON_ATT_PREPARE_WRITE_RESPONSE);
    tendon_write_u16le(&t->out, pdu->handle);
    tendon_write_u16le(&t->out, pdu->offset);
    tendon_write_bytes(&t->out, pdu->data, pdu->length);
    return 0;
}

/**
 * Stores the prepared writes from @p first on that continue each other, as one value. @return how many, or a negative
 * ATT error.
 */
static tendon_status execute_run(tendon_gatt_transaction *t, size_t first) {
    tendon_gatt_connection *connection = t->connection;
    const tendon_gatt_prepared *prepared = connection->config.prepared;
    uint8_t whole[TENDON_ATT_VALUE_MAX];
    tendon_writer out = tendon_writer_make(whole, sizeof whole);
    uint16_t handle = prepared[first].handle;
    size_t next = first;
    do {
        tendon_write_bytes(&out, prepared[next].value, prepared[next].length);
        next++;
    } while (next < connection->prepared_count && prepared[next].handle == handle &&
             prepared[next].offset == prepared[first].offset + out.length);
    t->error_handle = handle;
    if (out.status != TENDON_OK) {
        return TENDON_ATT_ERROR(TENDON_ATT_INVALID_ATTRIBUTE_VALUE_LENGTH);
    }
    const tendon_gatt_attribute *attribute = tendon_gatt_find_attribute(connection->server, handle);
    uint8_t code = tendon_gatt_check_write(connection, attribute, TENDON_GATT_WRITE); /* security may have changed */
    if (code == 0) {
        code = tendon_gatt_store(connection, attribute, prepared[first].offset, whole, out.length, false, t->now);
    }
    return code != 0 ? TENDON_ATT_ERROR(code) : (tendon_status)(next - first);
}

uint8_t tendon_gatt_serve_execute_write(tendon_gatt_transaction *t) {
    tendon_gatt_connection *connection = t->connection;
    if (connection->config.prepared_capacity == 0) {
        return TENDON_ATT_REQUEST_NOT_SUPPORTED;
    }
    if (t->pdu->flags > 1) {
        return TENDON_ATT_INVALID_PDU;
    }
    tendon_status status = TENDON_OK;
    if (t->pdu->flags == 1) {
        for (size_t first = 0; first < connection->prepared_count && status >= 0;) {
            status = execute_run(t, first);
            first += status > 0 ? (size_t)status : 0;
        }
    }
    connection->prepared_count = 0; /* cleared in each case, after an error too (3.4.6.3) */
    if (status < 0) {
        return TENDON_STATUS_CODE(status);
    }
    tendon_write_u8(&t->out, TENDON_ATT_EXECUTE_WRITE_RESPONSE);
    return 0;
}
