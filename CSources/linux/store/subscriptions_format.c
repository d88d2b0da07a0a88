/* SPDX-License-Identifier: MIT */
/*
 * The subscriptions of a central as bytes, little endian: "TSUB", version(1), count(1), flags(1): 1 Service Changed,
 * reserved(1), bond(8), hash(16), the CCCDs: 1 notify, 2 indicate (1 each); then the CRC-32 of all before it(4).
 */
#include "subscriptions.h"

#include <string.h>

enum { VERSION = 1, HEADER_SIZE = 32, CRC_SIZE = 4, VERSION_AT = 4, COUNT_AT = 5, FLAGS_AT = 6, RESERVED_AT = 7 };
enum { SERVICE_CHANGED = 1, CCCD_BITS = 3 };
static const uint8_t magic[4] = {'T', 'S', 'U', 'B'};

_Static_assert((int)TENDON_SUBSCRIPTION_RECORD_MAX == HEADER_SIZE + TENDON_SUBSCRIPTIONS_MAX + CRC_SIZE, "its sum");
_Static_assert((int)TENDON_SUBSCRIPTION_RECORD_MAX <= TENDON_JOURNAL_RECORD_MAX, "a record fits a file");

tendon_status tendon_subscription_record_encode(const tendon_subscription_record *record, uint8_t *out,
                                                size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, magic, sizeof magic);
    tendon_write_u8(&writer, VERSION);
    tendon_write_u8(&writer, record->count);
    tendon_write_u8(&writer, record->service_changed ? SERVICE_CHANGED : 0);
    tendon_write_u8(&writer, 0);
    tendon_write_bytes(&writer, record->bond, sizeof record->bond);
    tendon_write_bytes(&writer, record->hash, sizeof record->hash);
    tendon_write_bytes(&writer, record->values, record->count);
    if (writer.status == TENDON_OK) {
        tendon_write_u32le(&writer, tendon_crc32(0, out, writer.length));
    }
    return tendon_writer_result(&writer);
}

/** The first byte that is wrong in a record whose length and checksum are right; @p length: none. */
static size_t find_wrong(const uint8_t *bytes, size_t length) {
    if ((bytes[FLAGS_AT] & ~SERVICE_CHANGED) != 0) {
        return FLAGS_AT;
    }
    if (bytes[RESERVED_AT] != 0) {
        return RESERVED_AT;
    }
    size_t at = HEADER_SIZE;
    while (at < length - CRC_SIZE && bytes[at] <= CCCD_BITS) {
        at++;
    }
    return at < length - CRC_SIZE ? at : length;
}

/** Sets @p at to the first wrong byte. @return the number of CCCDs or an error. */
static tendon_status check(const uint8_t *bytes, size_t length, size_t *at) {
    *at = 0;
    if (length < HEADER_SIZE + CRC_SIZE) {
        *at = length;
        return TENDON_ERROR_TRUNCATED;
    }
    if (memcmp(bytes, magic, sizeof magic) != 0) {
        return TENDON_ERROR_MALFORMED;
    }
    if (bytes[VERSION_AT] != VERSION) {
        *at = VERSION_AT;
        return TENDON_ERROR_UNSUPPORTED;
    }
    uint8_t count = bytes[COUNT_AT];
    size_t whole = HEADER_SIZE + (size_t)count + CRC_SIZE;
    if (count > TENDON_SUBSCRIPTIONS_MAX || length != whole) {
        *at = count > TENDON_SUBSCRIPTIONS_MAX ? COUNT_AT : length < whole ? length : whole;
        return *at == length ? TENDON_ERROR_TRUNCATED : TENDON_ERROR_MALFORMED;
    }
    tendon_reader reader = tendon_reader_make(bytes + whole - CRC_SIZE, CRC_SIZE);
    if (tendon_read_u32le(&reader) != tendon_crc32(0, bytes, whole - CRC_SIZE)) {
        *at = whole - CRC_SIZE;
        return TENDON_ERROR_MALFORMED;
    }
    *at = find_wrong(bytes, length);
    return *at == length ? count : TENDON_ERROR_MALFORMED;
}

tendon_status tendon_subscription_record_decode(const uint8_t *bytes, size_t length, tendon_subscription_record *record,
                                                size_t *offset) {
    size_t at;
    tendon_status count = check(bytes, length, &at);
    if (count < 0) {
        if (offset != NULL) {
            *offset = at;
        }
        return count;
    }
    memset(record, 0, sizeof *record);
    record->count = (uint8_t)count;
    record->service_changed = bytes[FLAGS_AT] == SERVICE_CHANGED;
    memcpy(record->bond, bytes + RESERVED_AT + 1, sizeof record->bond);
    memcpy(record->hash, bytes + HEADER_SIZE - sizeof record->hash, sizeof record->hash);
    memcpy(record->values, bytes + HEADER_SIZE, (size_t)count);
    return TENDON_OK;
}
