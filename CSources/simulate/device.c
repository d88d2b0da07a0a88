/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/device.h"

static tendon_status place_of(const tendon_simulated_centrals *centrals, const tendon_att_bearer *bearer) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (centrals->places[i].used && centrals->places[i].connection.bearer == bearer) {
            return (tendon_status)i;
        }
    }
    return TENDON_ERROR_NOT_FOUND;
}

tendon_status tendon_simulated_centrals_connect(tendon_simulated_centrals *centrals, tendon_gatt_server *server,
                                                tendon_att_bearer *bearer) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        tendon_simulated_central *place = &centrals->places[i];
        if (place->used) {
            continue;
        }
        const tendon_gatt_connection_config config = {.bearer = bearer,
                                                      .cccds = place->cccds,
                                                      .cccd_capacity = TENDON_SIMULATED_CCCDS,
                                                      .prepared = place->prepared,
                                                      .prepared_capacity = TENDON_SIMULATED_PREPARED};
        tendon_status status = tendon_gatt_connection_init(&place->connection, server, &config);
        if (status < 0) {
            return status;
        }
        place->used = true;
        centrals->count++;
        return (tendon_status)i;
    }
    return TENDON_ERROR_TABLE_FULL;
}

tendon_status tendon_simulated_centrals_disconnect(tendon_simulated_centrals *centrals, tendon_att_bearer *bearer,
                                                   tendon_status reason, uint64_t now) {
    tendon_status index = place_of(centrals, bearer);
    if (index >= 0) {
        tendon_simulated_central *place = &centrals->places[index];
        place->used = false;
        centrals->count--;
        tendon_gatt_connection_closed(&place->connection, reason, now);
    }
    return index;
}

tendon_status tendon_simulated_centrals_paired(tendon_simulated_centrals *centrals, const tendon_att_bearer *bearer) {
    tendon_status index = place_of(centrals, bearer);
    if (index >= 0) {
        tendon_gatt_connection *connection = &centrals->places[index].connection;
        connection->bonded = true;
        if (connection->security < TENDON_GATT_SECURITY_ENCRYPTED) {
            connection->security = TENDON_GATT_SECURITY_ENCRYPTED;
        }
    }
    return index;
}

tendon_status tendon_simulated_centrals_index(const tendon_simulated_centrals *centrals,
                                              const tendon_gatt_connection *connection) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (centrals->places[i].used && &centrals->places[i].connection == connection) {
            return (tendon_status)i;
        }
    }
    return TENDON_ERROR_NOT_FOUND;
}

bool tendon_simulated_centrals_subscribed(const tendon_simulated_centrals *centrals, uint16_t value_handle,
                                          uint16_t bit) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        const tendon_simulated_central *place = &centrals->places[i];
        if (place->used && (tendon_gatt_connection_cccd(&place->connection, value_handle) & bit) != 0) {
            return true;
        }
    }
    return false;
}

tendon_status tendon_simulated_advertisement(uint16_t service, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, 2);
    tendon_write_u8(&writer, 0x01); /* Flags (Supplement Part A 1.3) */
    tendon_write_u8(&writer, 0x06); /* LE General Discoverable, BR/EDR Not Supported */
    tendon_write_u8(&writer, 3);
    tendon_write_u8(&writer, 0x03); /* Complete List of 16-bit Service UUIDs */
    tendon_write_u16le(&writer, service);
    return tendon_writer_result(&writer);
}

size_t tendon_simulated_text_length(const char *text, size_t limit) {
    size_t length = 0;
    while (length < limit && text[length] != 0) {
        length++;
    }
    return length;
}

tendon_status tendon_simulated_scan_response(const char *name, uint8_t *out, size_t capacity) {
    const size_t longest = 29; /* 31 without length and type */
    size_t length = tendon_simulated_text_length(name, longest + 1);
    bool whole = length <= longest;
    length = whole ? length : longest;
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u8(&writer, (uint8_t)(length + 1));
    tendon_write_u8(&writer, whole ? 0x09 : 0x08); /* Complete or Shortened Local Name */
    tendon_write_bytes(&writer, name, length);
    return tendon_writer_result(&writer);
}
