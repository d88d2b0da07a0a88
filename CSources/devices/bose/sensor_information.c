/* SPDX-License-Identifier: MIT */
#include "tendon/devices/bose_codec.h"

enum { RECORD_SIZE = 12 };

static bool range_is_good(const tendon_bose_sensor_record *record) {
    return record->scaled_min <= record->scaled_max && record->raw_min < record->raw_max;
}

/* The caller has checked that a whole record is left. */
static tendon_bose_sensor_record read_record(tendon_reader *reader) {
    tendon_bose_sensor_record record = {.sensor_id = tendon_read_u8(reader)};
    record.scaled_min = tendon_read_i16be(reader);
    record.scaled_max = tendon_read_i16be(reader);
    record.raw_min = tendon_read_i16be(reader);
    record.raw_max = tendon_read_i16be(reader);
    record.period_mask = tendon_read_u16be(reader);
    record.sample_length = tendon_read_u8(reader);
    int32_t counts = (int32_t)record.raw_max - record.raw_min;
    if (counts > 0) {
        record.scale = (double)(record.scaled_max - record.scaled_min) / (double)counts;
    }
    return record;
}

static tendon_status reject(tendon_bose_sensor_information *out, uint8_t sensor_id, size_t offset) {
    if (out->rejected_count >= TENDON_BOSE_SENSORS_MAX) {
        return TENDON_ERROR_TABLE_FULL;
    }
    tendon_bose_rejected_record *rejected = &out->rejected[out->rejected_count++];
    rejected->offset = (uint16_t)(offset < UINT16_MAX ? offset : UINT16_MAX);
    rejected->sensor_id = sensor_id;
    rejected->status = TENDON_BOSE_ERROR_BAD_RANGE;
    return TENDON_OK;
}

static tendon_status keep(tendon_bose_sensor_information *out, const tendon_bose_sensor_record *record, size_t offset) {
    if (!range_is_good(record)) {
        return reject(out, record->sensor_id, offset);
    }
    if (tendon_bose_find_sensor(out, record->sensor_id) != NULL) {
        out->duplicates++;
        return TENDON_OK;
    }
    if (out->count >= TENDON_BOSE_SENSORS_MAX) {
        return TENDON_ERROR_TABLE_FULL;
    }
    out->records[out->count++] = *record;
    return TENDON_OK;
}

/* Which sensors stand at the place of their id, with the length that their samples have. */
static void note_usual(tendon_bose_sensor_information *out) {
    //@ loop unroll TENDON_BOSE_SENSOR_COUNT;
    for (uint8_t id = 0; id < TENDON_BOSE_SENSOR_COUNT && id < out->count; id++) {
        uint8_t length = tendon_bose_sample_length(id);
        if (out->records[id].sensor_id == id && out->records[id].sample_length == length) {
            out->usual[id] = (uint8_t)(TENDON_BOSE_SAMPLE_HEADER_SIZE + length);
        }
    }
}

tendon_status tendon_bose_decode_sensor_information(const uint8_t *data, size_t length,
                                                    tendon_bose_sensor_information *out, size_t *offset) {
    tendon_reader reader = tendon_reader_make(data, length);
    memset(out, 0, sizeof *out);
    tendon_status status = TENDON_OK;
    while (tendon_reader_remaining(&reader) >= RECORD_SIZE) {
        size_t start = reader.position;
        tendon_bose_sensor_record record = read_record(&reader);
        tendon_status kept = keep(out, &record, start);
        if (kept < 0 && status == TENDON_OK) {
            status = kept;
            if (offset != NULL) {
                *offset = start;
            }
        }
    }
    out->trailing_bytes = tendon_reader_remaining(&reader);
    note_usual(out);
    return status;
}

static const uint16_t periods_ms[] = {320, 160, 80, 40, 20, 10, 5};
enum { PERIOD_COUNT = sizeof periods_ms / sizeof periods_ms[0] };

uint16_t tendon_bose_period_of_bit(unsigned bit) {
    return bit < PERIOD_COUNT ? periods_ms[bit] : 0;
}

int tendon_bose_bit_of_period(uint16_t period_ms) {
    for (int bit = 0; bit < PERIOD_COUNT; bit++) {
        if (periods_ms[bit] == period_ms) {
            return bit;
        }
    }
    return -1;
}
