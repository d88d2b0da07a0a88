/* SPDX-License-Identifier: MIT */
/*
 * Bonds as bytes. The file: "TENDBOND", version(1), reserved(1), count(2), CRC-32 of the records(4), then the records:
 *   radio(1) initiator(1) type(1) key size(1) own address(6, wire order) kind(1) peer(7 likewise) diversifier(2)
 *   random(8) key(16) has identity key(1), reserved(1), and in version 2: identity key(16)
 * Version 1 is written as long as no record has an identity key, so that older programs can read the file.
 */
#include "tendon/linux/bonds.h"

#include "tendon/base.h"
#include "tendon/host/management.h"
#include <string.h>

enum { HEADER_SIZE = TENDON_BONDS_HEADER_SIZE, SIZE_MIN = 7, SIZE_MAX_BYTES = 16, KEY_SIZE = 16 };
/** Versions with their record sizes. */
enum { VERSION_1 = 1, VERSION_2 = 2, RECORD_SIZE_1 = 46, RECORD_SIZE_2 = RECORD_SIZE_1 + KEY_SIZE };
enum { KEY_SIZE_AT = 3 }; /* in a record */
_Static_assert(RECORD_SIZE_2 == TENDON_BOND_RECORD_MAX, "the longest record");
static const char magic[8] = {'T', 'E', 'N', 'D', 'B', 'O', 'N', 'D'};

static void write_address(tendon_writer *writer, const tendon_address *address) {
    uint8_t wire[6];
    tendon_address_to_wire(address, wire);
    tendon_write_bytes(writer, wire, sizeof wire);
    tendon_write_u8(writer, address->type);
}

static tendon_address read_address(tendon_reader *reader) {
    const uint8_t *wire = tendon_read_bytes(reader, 6);
    uint8_t kind = tendon_read_u8(reader);
    return wire != NULL ? tendon_address_from_wire(wire, kind) : (tendon_address){.type = 0};
}

static void read_into(tendon_reader *reader, uint8_t *out, size_t length) {
    const uint8_t *bytes = tendon_read_bytes(reader, length);
    if (bytes != NULL) {
        memcpy(out, bytes, length);
    }
}

static bool is_key_size(uint8_t size) {
    return size >= SIZE_MIN && size <= SIZE_MAX_BYTES;
}

static uint8_t version_for(const tendon_bond *items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (items[i].has_identity_key) {
            return VERSION_2;
        }
    }
    return VERSION_1;
}

tendon_status tendon_bonds_encode(const tendon_bond *items, size_t count, uint8_t *out, size_t capacity) {
    if (count > UINT16_MAX) {
        return TENDON_ERROR_OVERFLOW;
    }
    for (size_t i = 0; i < count; i++) {
        if (!is_key_size(items[i].key_size)) { /* a file with it could not be read again */
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
    }
    const uint8_t version = version_for(items, count);
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, magic, sizeof magic);
    tendon_write_u8(&writer, version);
    tendon_write_u8(&writer, 0);
    tendon_write_u16le(&writer, (uint16_t)count);
    tendon_write_u32le(&writer, 0);
    for (size_t i = 0; i < count; i++) {
        const tendon_bond *bond = &items[i];
        tendon_write_u8(&writer, bond->radio);
        tendon_write_u8(&writer, bond->initiator);
        tendon_write_u8(&writer, bond->type);
        tendon_write_u8(&writer, bond->key_size);
        write_address(&writer, &bond->own);
        write_address(&writer, &bond->peer);
        tendon_write_u16le(&writer, bond->diversifier);
        tendon_write_bytes(&writer, bond->random, sizeof bond->random);
        tendon_write_bytes(&writer, bond->key, sizeof bond->key);
        tendon_write_u8(&writer, bond->has_identity_key);
        tendon_write_u8(&writer, 0);
        tendon_write_bytes(&writer, bond->identity_key, version == VERSION_2 ? KEY_SIZE : 0);
    }
    if (writer.status == TENDON_OK) {
        tendon_writer check = tendon_writer_make(out + HEADER_SIZE - 4, 4);
        tendon_write_u32le(&check, tendon_crc32(0, out + HEADER_SIZE, writer.length - HEADER_SIZE));
    }
    return tendon_writer_result(&writer);
}

static tendon_status fail(tendon_status status, size_t at, size_t *offset) {
    if (offset != NULL) {
        *offset = at;
    }
    return status;
}

static void read_record(tendon_reader *reader, uint8_t version, tendon_bond *out) {
    memset(out, 0, sizeof *out);
    out->radio = tendon_read_u8(reader);
    out->initiator = tendon_read_u8(reader) != 0;
    out->type = tendon_read_u8(reader);
    out->key_size = tendon_read_u8(reader);
    out->own = read_address(reader);
    out->peer = read_address(reader);
    out->diversifier = tendon_read_u16le(reader);
    read_into(reader, out->random, sizeof out->random);
    read_into(reader, out->key, sizeof out->key);
    bool has_identity_key = tendon_read_u8(reader) != 0;
    (void)tendon_read_u8(reader);
    if (version == VERSION_2) {
        out->has_identity_key = has_identity_key;
        read_into(reader, out->identity_key, KEY_SIZE);
    }
}

tendon_status tendon_bonds_decode(const uint8_t *bytes, size_t length, tendon_bond *items, size_t capacity,
                                  size_t *offset) {
    tendon_reader reader = tendon_reader_make(bytes, length);
    const uint8_t *found = tendon_read_bytes(&reader, sizeof magic);
    uint8_t version = tendon_read_u8(&reader);
    (void)tendon_read_u8(&reader);
    size_t count = tendon_read_u16le(&reader);
    uint32_t crc = tendon_read_u32le(&reader);
    if (!tendon_reader_ok(&reader)) {
        return fail(reader.status, reader.error_offset, offset);
    }
    if (memcmp(found, magic, sizeof magic) != 0) {
        return fail(TENDON_ERROR_MALFORMED, 0, offset);
    }
    if (version != VERSION_1 && version != VERSION_2) {
        return fail(TENDON_ERROR_UNSUPPORTED, sizeof magic, offset);
    }
    const size_t record = version == VERSION_2 ? RECORD_SIZE_2 : RECORD_SIZE_1, records = count * record;
    if (tendon_reader_remaining(&reader) < records) {
        return fail(TENDON_ERROR_TRUNCATED, length, offset);
    }
    if (tendon_reader_remaining(&reader) > records) {
        return fail(TENDON_ERROR_MALFORMED, HEADER_SIZE + records, offset);
    }
    if (tendon_crc32(0, bytes + HEADER_SIZE, length - HEADER_SIZE) != crc) {
        return fail(TENDON_ERROR_MALFORMED, HEADER_SIZE - 4, offset);
    }
    if (count > capacity) {
        return fail(TENDON_ERROR_TABLE_FULL, sizeof magic + 2, offset);
    }
    for (size_t at = HEADER_SIZE + KEY_SIZE_AT; at < length; at += record) {
        if (!is_key_size(bytes[at])) {
            return fail(TENDON_ERROR_MALFORMED, at, offset);
        }
    }
    for (size_t i = 0; i < count; i++) {
        read_record(&reader, version, &items[i]);
    }
    return (tendon_status)count;
}

/* ---- the kernel's: address(6) type(1), key type(1), central(1), size(1), EDIV(2), Rand(8), key(16) ---- */

tendon_status tendon_bond_decode_key(const uint8_t *parameters, size_t length, tendon_bond *out, bool *stored) {
    tendon_reader reader = tendon_reader_make(parameters, length);
    tendon_bond bond = {0};
    bool wanted = tendon_read_u8(&reader) != 0;
    bool low_energy = tendon_management_read_address(&reader, &bond.peer);
    bond.type = tendon_read_u8(&reader);
    bond.initiator = tendon_read_u8(&reader) != 0;
    bond.key_size = tendon_read_u8(&reader);
    bond.diversifier = tendon_read_u16le(&reader);
    read_into(&reader, bond.random, sizeof bond.random);
    read_into(&reader, bond.key, sizeof bond.key);
    if (!tendon_reader_ok(&reader)) {
        return reader.status;
    }
    if (!low_energy || !is_key_size(bond.key_size)) {
        return TENDON_ERROR_MALFORMED;
    }
    bond.radio = TENDON_BOND_KERNEL;
    *out = bond;
    *stored = wanted;
    return TENDON_OK;
}

static bool is_kernels(const tendon_bond *bond, const tendon_address *own) {
    return bond->radio == TENDON_BOND_KERNEL && tendon_address_equal(&bond->own, own);
}

/* ---- identity keys: address(6) type(1), key(16); in the event after store hint(1) and private address(6) ---- */

tendon_status tendon_bond_decode_identity(const uint8_t *parameters, size_t length, tendon_bond_identity *out) {
    tendon_reader reader = tendon_reader_make(parameters, length);
    tendon_bond_identity identity = {0};
    identity.stored = tendon_read_u8(&reader) != 0;
    const uint8_t *wire = tendon_read_bytes(&reader, 6);
    bool low_energy = tendon_management_read_address(&reader, &identity.address);
    read_into(&reader, identity.key, sizeof identity.key);
    if (!tendon_reader_ok(&reader)) {
        return reader.status;
    }
    if (!low_energy) {
        return TENDON_ERROR_MALFORMED;
    }
    identity.private_address = tendon_address_from_wire(wire, TENDON_ADDRESS_TYPE_RANDOM);
    *out = identity;
    return TENDON_OK;
}

/** Whether the identity key of a bond is loaded: of two keys of one peer the later one, which is the newer. */
static bool is_loaded(const tendon_bonds *bonds, size_t index, const tendon_address *own) {
    const tendon_bond *bond = &bonds->items[index];
    bool loaded = bond->has_identity_key && is_kernels(bond, own);
    for (size_t i = index + 1; i < bonds->count && loaded; i++) {
        const tendon_bond *later = &bonds->items[i];
        loaded =
            !later->has_identity_key || !is_kernels(later, own) || !tendon_address_equal(&later->peer, &bond->peer);
    }
    return loaded;
}

tendon_status tendon_bonds_encode_identities(const tendon_bonds *bonds, const tendon_address *own, uint8_t *out,
                                             size_t capacity) {
    uint16_t count = 0;
    for (size_t i = 0; i < bonds->count; i++) {
        count = (uint16_t)(count + is_loaded(bonds, i, own));
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u16le(&writer, count);
    for (size_t i = 0; i < bonds->count; i++) {
        if (is_loaded(bonds, i, own)) {
            tendon_management_write_address(&writer, &bonds->items[i].peer);
            tendon_write_bytes(&writer, bonds->items[i].identity_key, KEY_SIZE);
        }
    }
    return tendon_writer_result(&writer);
}

tendon_status tendon_bonds_encode_keys(const tendon_bonds *bonds, const tendon_address *own, uint8_t *out,
                                       size_t capacity) {
    uint16_t count = 0;
    for (size_t i = 0; i < bonds->count; i++) {
        count = (uint16_t)(count + is_kernels(&bonds->items[i], own));
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u16le(&writer, count);
    for (size_t i = 0; i < bonds->count; i++) {
        const tendon_bond *bond = &bonds->items[i];
        if (!is_kernels(bond, own)) {
            continue;
        }
        tendon_management_write_address(&writer, &bond->peer);
        tendon_write_u8(&writer, bond->type);
        tendon_write_u8(&writer, bond->initiator);
        tendon_write_u8(&writer, bond->key_size);
        tendon_write_u16le(&writer, bond->diversifier);
        tendon_write_bytes(&writer, bond->random, sizeof bond->random);
        tendon_write_bytes(&writer, bond->key, sizeof bond->key);
    }
    return tendon_writer_result(&writer);
}
