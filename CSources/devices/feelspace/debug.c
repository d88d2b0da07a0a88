/* SPDX-License-Identifier: MIT */
/* FE14 debug output and FE0B raw sensor data: development packets. */
#include "internal.h"

tendon_status tendon_feelspace_decode_debug(const uint8_t *data, size_t length, tendon_feelspace_debug *out,
                                            size_t *offset) {
    tendon_reader reader = tendon_reader_make(data, length);
    tendon_feelspace_debug d = {.kind = TENDON_FEELSPACE_DEBUG_OTHER};
    switch (tendon_read_u8(&reader)) {
    case TENDON_FEELSPACE_DEBUG_ERROR:
        d.kind = TENDON_FEELSPACE_DEBUG_ERROR;
        d.error = tendon_read_u32le(&reader);
        break;
    case TENDON_FEELSPACE_DEBUG_LOG_HEADER:
        d.kind = TENDON_FEELSPACE_DEBUG_LOG_HEADER;
        d.session = tendon_read_u16le(&reader);
        d.count = tendon_read_u8(&reader);
        d.error = tendon_read_u32le(&reader);
        d.last_error = tendon_read_u32le(&reader);
        break;
    case TENDON_FEELSPACE_DEBUG_LOG_ENTRY:
        d.kind = TENDON_FEELSPACE_DEBUG_LOG_ENTRY;
        d.error = tendon_read_u32le(&reader);
        d.time_ms = tendon_read_u32le(&reader);
        d.session = tendon_read_u16le(&reader);
        d.more = tendon_read_u8(&reader) != 0;
        break;
    default:
        break;
    }
    if (!tendon_reader_ok(&reader)) {
        return feelspace_fail(TENDON_ERROR_TRUNCATED, reader.error_offset, offset);
    }
    *out = d;
    return TENDON_OK;
}

enum { RAW_HEADER = 2, RAW_RECORD = 7 };

tendon_status tendon_feelspace_raw_count(const uint8_t *data, size_t length, uint8_t *sequence, size_t *offset) {
    if (length < RAW_HEADER) {
        return feelspace_needs(length, RAW_HEADER, offset);
    }
    if (data[0] != 0x01) {
        return feelspace_fail(TENDON_FEELSPACE_ERROR_BAD_VALUE, 0, offset);
    }
    *sequence = data[1];
    return (tendon_status)((length - RAW_HEADER) / RAW_RECORD);
}

bool tendon_feelspace_raw_sample_at(const uint8_t *data, size_t length, size_t index,
                                    tendon_feelspace_raw_sample *out) {
    uint8_t sequence;
    tendon_status count = tendon_feelspace_raw_count(data, length, &sequence, NULL);
    if (count < 0 || index >= (size_t)count) {
        return false;
    }
    tendon_reader reader = tendon_reader_make(data + RAW_HEADER + index * RAW_RECORD, RAW_RECORD);
    out->sensor_id = tendon_read_u8(&reader);
    out->x = tendon_read_i16le(&reader);
    out->y = tendon_read_i16le(&reader);
    out->z = tendon_read_i16le(&reader);
    return true;
}
