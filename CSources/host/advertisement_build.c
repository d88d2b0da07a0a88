/* SPDX-License-Identifier: MIT */
#include "tendon/host/advertisement.h"

#define STRUCTURE_MAX 254

/* Length and type of a structure with `length` bytes of data; false when it cannot be. */
static bool put_head(tendon_writer *writer, uint8_t type, size_t length) {
    if (writer->status == TENDON_OK && length > STRUCTURE_MAX) {
        writer->status = TENDON_ERROR_OVERFLOW;
    }
    if (writer->status == TENDON_OK && length + 2 > writer->capacity - writer->length) {
        writer->status = TENDON_ERROR_BUFFER_TOO_SMALL;
    }
    if (writer->status != TENDON_OK) {
        return false;
    }
    tendon_write_u8(writer, (uint8_t)(length + 1));
    tendon_write_u8(writer, type);
    return true;
}

void tendon_ad_put(tendon_writer *writer, uint8_t type, const void *data, size_t length) {
    if (put_head(writer, type, length)) {
        tendon_write_bytes(writer, data, length);
    }
}

void tendon_ad_put_flags(tendon_writer *writer, uint8_t flags) {
    tendon_ad_put(writer, TENDON_AD_FLAGS, &flags, 1);
}

void tendon_ad_put_tx_power(tendon_writer *writer, int8_t dbm) {
    tendon_ad_put(writer, TENDON_AD_TX_POWER, &dbm, 1);
}

void tendon_ad_put_appearance(tendon_writer *writer, uint16_t appearance) {
    if (put_head(writer, TENDON_AD_APPEARANCE, 2)) {
        tendon_write_u16le(writer, appearance);
    }
}

void tendon_ad_put_uuids(tendon_writer *writer, const tendon_uuid *uuids, size_t count, bool complete) {
    uint8_t wire[16];
    if (count == 0 || writer->status != TENDON_OK) {
        return;
    }
    size_t size = tendon_uuid_to_wire(&uuids[0], wire);
    for (size_t i = 1; i < count; i++) {
        if (tendon_uuid_to_wire(&uuids[i], wire) != size) {
            writer->status = TENDON_ERROR_INVALID_ARGUMENT;
            return;
        }
    }
    uint8_t type = size == 2 ? (complete ? TENDON_AD_UUID16_COMPLETE : TENDON_AD_UUID16_INCOMPLETE)
                             : (complete ? TENDON_AD_UUID128_COMPLETE : TENDON_AD_UUID128_INCOMPLETE);
    if (!put_head(writer, type, count * size)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        (void)tendon_uuid_to_wire(&uuids[i], wire);
        tendon_write_bytes(writer, wire, size);
    }
}

void tendon_ad_put_name(tendon_writer *writer, const char *name, size_t length) {
    if (writer->status != TENDON_OK) {
        return;
    }
    size_t room = writer->capacity - writer->length;
    size_t fits = room < 2 ? 0 : room - 2 < STRUCTURE_MAX ? room - 2 : STRUCTURE_MAX;
    if (length <= fits) {
        if (room >= 2) {
            tendon_ad_put(writer, TENDON_AD_NAME_COMPLETE, name, length);
        }
        return;
    }
    /* back to the start of the character that would be cut: bytes 10xxxxxx continue one */
    while (fits > 0 && ((uint8_t)name[fits] & 0xC0u) == 0x80u) {
        fits--;
    }
    if (fits > 0) {
        tendon_ad_put(writer, TENDON_AD_NAME_SHORTENED, name, fits);
    }
}

void tendon_ad_put_service_data(tendon_writer *writer, const tendon_uuid *uuid, const void *data, size_t length) {
    uint8_t wire[16];
    size_t size = tendon_uuid_to_wire(uuid, wire);
    uint8_t type = size == 2 ? TENDON_AD_SERVICE_DATA_16 : TENDON_AD_SERVICE_DATA_128;
    if (put_head(writer, type, length > STRUCTURE_MAX ? length : size + length)) {
        tendon_write_bytes(writer, wire, size);
        tendon_write_bytes(writer, data, length);
    }
}

void tendon_ad_put_manufacturer(tendon_writer *writer, uint16_t company, const void *data, size_t length) {
    if (put_head(writer, TENDON_AD_MANUFACTURER, length > STRUCTURE_MAX ? length : length + 2)) {
        tendon_write_u16le(writer, company);
        tendon_write_bytes(writer, data, length);
    }
}
