/* SPDX-License-Identifier: MIT */
#include "fields.h"
#include "tendon/base/crc.h"
#include "tendon/devices/obvious_manager.h"

#include <string.h>

static const uint8_t magic[3] = {'T', 'O', 'J'};

enum { VERSION_AT = sizeof magic, VERSION = 2, CRC_AT = TENDON_OBVIOUS_RECORD_SIZE - 4 };

#define OF_RECORD(member, limit) FIELD_INTEGER(tendon_obvious_record, member, limit)
static const field record_fields[] = {
    OF_RECORD(state, TENDON_OBVIOUS_JOURNAL_REJOIN),
    OF_RECORD(serial, LIMIT_NONE),
    OF_RECORD(counter, LIMIT_NONE),
    OF_RECORD(before, LIMIT_NONE),
    OF_RECORD(version, LIMIT_NONE),
    OF_RECORD(caps, LIMIT_NONE),
    FIELD_BYTES(tendon_obvious_record, sha256),
};
enum { RECORD_FIELDS = sizeof record_fields / sizeof record_fields[0] };

/* Version 1, of the same size: state, serial, one counter, version, offset, caps, boot id, hash. Offset and boot id
 * have no use. */
static void take_old(tendon_obvious_record *record) {
    record->caps = record->version;
    record->version = (uint32_t)record->before;
    record->before = record->counter;
}

void tendon_obvious_encode_record(const tendon_obvious_record *record, uint8_t out[TENDON_OBVIOUS_RECORD_SIZE]) {
    tendon_writer writer = tendon_writer_make(out, TENDON_OBVIOUS_RECORD_SIZE);
    tendon_write_bytes(&writer, magic, sizeof magic);
    tendon_write_u8(&writer, VERSION);
    tendon_obvious_put_fields(record_fields, RECORD_FIELDS, record, &writer);
    tendon_write_u32le(&writer, tendon_crc32(0, out, CRC_AT));
}

tendon_status tendon_obvious_decode_record(const uint8_t *data, size_t length, tendon_obvious_record *out) {
    if (length < TENDON_OBVIOUS_RECORD_SIZE) {
        return TENDON_ERROR_TRUNCATED;
    }
    tendon_reader reader = tendon_reader_make(data + VERSION_AT, length - VERSION_AT);
    tendon_obvious_record record;
    uint8_t version = tendon_read_u8(&reader);
    bool permitted = (version == 1 || version == VERSION) &&
                     tendon_obvious_take_fields(record_fields, RECORD_FIELDS, &reader, &record);
    if (length != TENDON_OBVIOUS_RECORD_SIZE || memcmp(data, magic, sizeof magic) != 0 || !permitted ||
        tendon_read_u32le(&reader) != tendon_crc32(0, data, CRC_AT)) {
        return TENDON_ERROR_MALFORMED;
    }
    if (version == 1) {
        take_old(&record);
    }
    *out = record;
    return TENDON_OK;
}
