/* SPDX-License-Identifier: MIT */
/* GATT server: one client's link: routing of PDUs, responses that wait, notifications, indications. */
#include "gatt_server_parts.h"

tendon_status tendon_gatt_connection_init(tendon_gatt_connection *connection, tendon_gatt_server *server,
                                          const tendon_gatt_connection_config *config) {
    if (server->status != TENDON_OK) {
        return server->status;
    }
    if (config->bearer == NULL || config->cccd_capacity < server->cccd_count ||
        (config->cccds == NULL && server->cccd_count != 0) ||
        (config->prepared == NULL && config->prepared_capacity != 0)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    memset(connection, 0, sizeof *connection);
    connection->server = server;
    connection->bearer = config->bearer;
    connection->config = *config;
    connection->user = config->user;
    connection->key_size = 16;
    connection->minimum_key_size = 7;
    connection->indication_deadline = UINT64_MAX;
    if (server->cccd_count != 0) {
        memset(config->cccds, 0, server->cccd_count * sizeof config->cccds[0]);
    }
    config->bearer->server = connection;
    return TENDON_OK;
}

static void end_indication(tendon_gatt_connection *connection, tendon_status status, uint64_t now) {
    if (!connection->indication_outstanding) {
        return;
    }
    connection->indication_outstanding = false;
    connection->indication_deadline = UINT64_MAX;
    const tendon_gatt_handlers *handlers = &connection->server->handlers;
    if (handlers->confirmed != NULL) {
        handlers->confirmed(handlers->context, connection, connection->indicated_handle, status, now);
    }
}

void tendon_gatt_connection_closed(tendon_gatt_connection *connection, tendon_status reason, uint64_t now) {
    connection->prepared_count = 0;
    connection->response_pending = false;
    if (connection->bearer->server == connection) {
        connection->bearer->server = NULL;
    }
    if (connection->server->cccd_count != 0) {
        memset(connection->config.cccds, 0, connection->server->cccd_count * sizeof connection->config.cccds[0]);
    }
    end_indication(connection, reason, now);
}

/* ---- requests ---- */

static uint8_t serve_mtu(tendon_gatt_transaction *t) {
    tendon_gatt_connection *connection = t->connection;
    if (connection->mtu_exchanged) {
        return TENDON_ATT_REQUEST_NOT_SUPPORTED; /* once per connection (3.4.2.1); the MTU stays */
    }
    if (t->pdu->mtu < TENDON_ATT_MTU_MIN) {
        return TENDON_ATT_INVALID_PDU;
    }
    tendon_att_bearer *bearer = connection->bearer;
    tendon_write_u8(&t->out, TENDON_ATT_EXCHANGE_MTU_RESPONSE);
    tendon_write_u16le(&t->out, bearer->own_mtu);
    connection->mtu_exchanged = true;
    bearer->mtu = t->pdu->mtu < bearer->own_mtu ? t->pdu->mtu : bearer->own_mtu;
    return 0;
}

static uint8_t serve(tendon_gatt_transaction *t) {
    switch (t->pdu->opcode) {
    case TENDON_ATT_EXCHANGE_MTU_REQUEST:
        return serve_mtu(t);
    case TENDON_ATT_FIND_INFORMATION_REQUEST:
        return tendon_gatt_serve_find_information(t);
    case TENDON_ATT_FIND_BY_TYPE_VALUE_REQUEST:
        return tendon_gatt_serve_find_by_type_value(t);
    case TENDON_ATT_READ_BY_TYPE_REQUEST:
        return tendon_gatt_serve_read_by_type(t);
    case TENDON_ATT_READ_BY_GROUP_TYPE_REQUEST:
        return tendon_gatt_serve_read_by_group_type(t);
    case TENDON_ATT_READ_REQUEST:
        return tendon_gatt_serve_read(t);
    case TENDON_ATT_READ_BLOB_REQUEST:
        return tendon_gatt_serve_read_blob(t);
    case TENDON_ATT_READ_MULTIPLE_REQUEST:
        return tendon_gatt_serve_read_multiple(t);
    case TENDON_ATT_READ_MULTIPLE_VARIABLE_REQUEST:
        return tendon_gatt_serve_read_multiple_variable(t);
    case TENDON_ATT_WRITE_REQUEST:
        return tendon_gatt_serve_write(t);
    case TENDON_ATT_PREPARE_WRITE_REQUEST:
        return tendon_gatt_serve_prepare_write(t);
    case TENDON_ATT_EXECUTE_WRITE_REQUEST:
        return tendon_gatt_serve_execute_write(t);
    default:
        return TENDON_ATT_REQUEST_NOT_SUPPORTED;
    }
}

/** Sends the response, or keeps it until the link takes it. */
static void send_response(tendon_gatt_connection *connection) {
    connection->response_pending = false; /* before the send: the next request can come within it, and be kept */
    tendon_status status =
        tendon_att_bearer_send(connection->bearer, connection->response, connection->response_length);
    if (status == TENDON_ERROR_WOULD_BLOCK) { /* any other error: the link is lost */
        connection->response_pending = true;
    }
}

static void respond(tendon_gatt_connection *connection, const tendon_att_pdu *pdu, uint8_t code, uint64_t now) {
    size_t mtu = connection->bearer->mtu;
    size_t capacity = mtu < sizeof connection->response ? mtu : sizeof connection->response;
    tendon_gatt_transaction t = {connection, pdu, tendon_writer_make(connection->response, capacity), 0, now};
    connection->counters.requests++;
    code = code != 0 ? code : serve(&t);
    if (code != 0) {
        connection->counters.errors++;
        t.out = tendon_writer_make(connection->response, capacity); /* a new writer, because the old one has failed */
        tendon_write_u8(&t.out, TENDON_ATT_ERROR_RESPONSE);
        tendon_write_u8(&t.out, pdu->opcode);
        tendon_write_u16le(&t.out, t.error_handle);
        tendon_write_u8(&t.out, code);
    }
    connection->response_length = t.out.length;
    send_response(connection);
}

static void take_command(tendon_gatt_connection *connection, const tendon_att_pdu *pdu, uint64_t now) {
    if (pdu->opcode == TENDON_ATT_SIGNED_WRITE_COMMAND) {
        connection->counters.signed_writes++;
        return;
    }
    const tendon_gatt_attribute *attribute = tendon_gatt_find_attribute(connection->server, pdu->handle);
    bool stored = attribute != NULL &&
                  tendon_gatt_check_write(connection, attribute, TENDON_GATT_WRITE_WITHOUT_RESPONSE) == 0 &&
                  tendon_gatt_store(connection, attribute, 0, pdu->data, pdu->length, true, now) == 0;
    if (stored) {
        connection->counters.commands++;
    } else {
        connection->counters.refused_commands++;
    }
}

/** Decodes; a PDU longer than the MTU breaks the bearer's rules whatever it holds (Vol 3 Part F 3.2.8). */
static tendon_status decode(tendon_gatt_connection *connection, const uint8_t *pdu, size_t length,
                            tendon_att_pdu *out) {
    tendon_att_bearer *bearer = connection->bearer;
    if (length == 0 || length > bearer->mtu) {
        memset(out, 0, sizeof *out);
        bearer->counters.malformed++;
        return length == 0 ? TENDON_ERROR_TRUNCATED : TENDON_ERROR_MALFORMED;
    }
    tendon_status status = tendon_att_decode(pdu, length, out, NULL);
    if (status == TENDON_ERROR_UNSUPPORTED) {
        bearer->counters.unknown_opcode++;
    } else if (status != TENDON_OK) {
        bearer->counters.malformed++;
    }
    return status;
}

/** All that is no request; it decoded. */
static tendon_status take_other(tendon_gatt_connection *connection, tendon_att_class kind, const tendon_att_pdu *pdu,
                                uint64_t now) {
    if (kind == TENDON_ATT_CLASS_COMMAND) {
        take_command(connection, pdu, now);
        return TENDON_OK;
    }
    if (kind == TENDON_ATT_CLASS_CONFIRMATION && connection->indication_outstanding) {
        end_indication(connection, TENDON_OK, now);
        return TENDON_OK;
    }
    if (kind == TENDON_ATT_CLASS_CONFIRMATION) {
        connection->bearer->counters.unexpected_confirmation++;
    }
    return TENDON_ERROR_WRONG_STATE; /* a confirmation of nothing, or a PDU that servers send */
}

tendon_status tendon_gatt_connection_receive(tendon_gatt_connection *connection, const uint8_t *pdu, size_t length,
                                             uint64_t now) {
    uint8_t opcode = length != 0 ? pdu[0] : 0;
    tendon_att_class kind = tendon_att_opcode_class(opcode);
    bool unknown_request = kind == TENDON_ATT_CLASS_UNKNOWN && (opcode & 0x40u) == 0 && length != 0;
    bool request = kind == TENDON_ATT_CLASS_REQUEST || unknown_request;
    if (request && connection->response_pending) {
        connection->counters.pipelined++;
        return TENDON_ERROR_BUSY;
    }
    tendon_att_pdu decoded;
    tendon_status status = decode(connection, pdu, length, &decoded);
    if (request) {
        uint8_t refusal = unknown_request ? TENDON_ATT_REQUEST_NOT_SUPPORTED : TENDON_ATT_INVALID_PDU;
        respond(connection, &decoded, status == TENDON_OK ? 0 : refusal, now);
        return status;
    }
    return status == TENDON_OK ? take_other(connection, kind, &decoded, now) : status;
}

/* ---- notifications and indications ---- */

uint16_t tendon_gatt_connection_cccd(const tendon_gatt_connection *connection, uint16_t value_handle) {
    const tendon_gatt_server *server = connection->server;
    const tendon_gatt_attribute *cccd = tendon_gatt_find_attribute(server, (uint16_t)(value_handle + 1u));
    return cccd == NULL || cccd->cccd_index < 0 ? 0 : connection->config.cccds[cccd->cccd_index];
}

/** Sends one notification or indication. @p bit: the CCCD bit that it needs. */
static tendon_status send_value(tendon_gatt_connection *connection, uint8_t opcode, uint16_t bit, uint16_t value_handle,
                                const uint8_t *value, size_t length) {
    if (value == NULL && length != 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if ((tendon_gatt_connection_cccd(connection, value_handle) & bit) == 0) {
        return TENDON_GATT_ERROR_NOT_SUBSCRIBED;
    }
    uint8_t code =
        tendon_gatt_check_read_security(connection, tendon_gatt_find_attribute(connection->server, value_handle));
    if (code != 0) {
        return TENDON_ATT_ERROR(code); /* subscribed before the link lost its security, or with less of it */
    }
    if (connection->response_pending) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    uint8_t pdu[TENDON_ATT_MTU_MAX];
    size_t mtu = connection->bearer->mtu;
    tendon_writer out = tendon_writer_make(pdu, mtu < sizeof pdu ? mtu : sizeof pdu);
    tendon_write_u8(&out, opcode);
    tendon_write_u16le(&out, value_handle);
    tendon_gatt_write_cut(&out, value, length);
    return tendon_att_bearer_send(connection->bearer, pdu, out.length);
}

tendon_status tendon_gatt_notify(tendon_gatt_connection *connection, uint16_t value_handle, const uint8_t *value,
                                 size_t length) {
    return send_value(connection, TENDON_ATT_HANDLE_VALUE_NOTIFICATION, 1, value_handle, value, length);
}

tendon_status tendon_gatt_indicate(tendon_gatt_connection *connection, uint16_t value_handle, const uint8_t *value,
                                   size_t length, uint64_t now) {
    if (connection->indication_outstanding) {
        return TENDON_ERROR_BUSY;
    }
    /* Before the send: a connection in memory may confirm from within it. */
    connection->indication_outstanding = true;
    connection->indicated_handle = value_handle;
    connection->indication_deadline = now + TENDON_ATT_TRANSACTION_TIMEOUT_MS;
    tendon_status status = send_value(connection, TENDON_ATT_HANDLE_VALUE_INDICATION, 2, value_handle, value, length);
    if (status < 0) {
        connection->indication_outstanding = false;
        connection->indication_deadline = UINT64_MAX;
    }
    return status;
}

void tendon_gatt_connection_writable(tendon_gatt_connection *connection, uint64_t now) {
    (void)now;
    if (connection->response_pending) {
        send_response(connection);
    }
}

void tendon_gatt_connection_tick(tendon_gatt_connection *connection, uint64_t now) {
    if (connection->indication_outstanding && now >= connection->indication_deadline) {
        tendon_att_bearer_close(connection->bearer); /* 3.3.3: no further PDUs on this bearer */
        end_indication(connection, TENDON_GATT_ERROR_TRANSACTION_TIMEOUT, now);
    }
}

uint64_t tendon_gatt_connection_deadline(const tendon_gatt_connection *connection) {
    return connection->indication_deadline;
}
