/* SPDX-License-Identifier: MIT */
#include "tendon/simulate/device.h"

static tendon_gatt_centrals view(tendon_simulated_centrals *centrals) {
    return (tendon_gatt_centrals){.places = centrals->places,
                                  .capacity = TENDON_SIMULATED_CENTRALS,
                                  .cccds = centrals->cccds,
                                  .cccd_capacity = TENDON_SIMULATED_CCCDS,
                                  .prepared = centrals->prepared,
                                  .prepared_capacity = TENDON_SIMULATED_PREPARED};
}

tendon_status tendon_simulated_centrals_connect(tendon_simulated_centrals *centrals, tendon_gatt_server *server,
                                                tendon_att_bearer *bearer) {
    const tendon_gatt_centrals all = view(centrals);
    tendon_status index = tendon_gatt_centrals_connect(&all, server, bearer);
    centrals->count += index >= 0 ? 1 : 0;
    return index;
}

tendon_status tendon_simulated_centrals_disconnect(tendon_simulated_centrals *centrals, tendon_att_bearer *bearer,
                                                   tendon_status reason, uint64_t now) {
    const tendon_gatt_centrals all = view(centrals);
    centrals->count--; /* before the end of an indication is reported: the device counts who is left */
    tendon_status index = tendon_gatt_centrals_disconnect(&all, bearer, reason, now);
    centrals->count += index < 0 ? 1 : 0;
    return index;
}

tendon_status tendon_simulated_centrals_paired(tendon_simulated_centrals *centrals, const tendon_att_bearer *bearer) {
    const tendon_gatt_centrals all = view(centrals);
    return tendon_gatt_centrals_paired(&all, bearer);
}

tendon_status tendon_simulated_centrals_index(const tendon_simulated_centrals *centrals,
                                              const tendon_gatt_connection *connection) {
    return tendon_gatt_centrals_index(centrals->places, TENDON_SIMULATED_CENTRALS, connection);
}

bool tendon_simulated_centrals_subscribed(const tendon_simulated_centrals *centrals, uint16_t value_handle,
                                          uint16_t bit) {
    return tendon_gatt_centrals_subscribed(centrals->places, TENDON_SIMULATED_CENTRALS, value_handle, bit);
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

uint16_t tendon_simulated_handle(tendon_status result) {
    return result > 0 ? (uint16_t)result : 0;
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
