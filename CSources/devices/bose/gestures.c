/* SPDX-License-Identifier: MIT */
#include "tendon/devices/bose_codec.h"

enum { CURRENT_SIZE = 3, LEGACY_SIZE = 2, FIRST_ID = 0x80, PAYLOAD_MAX = 255, ENABLED = 0x01 };

/* ---- information ---- */

static tendon_bose_gesture_record read_record(tendon_reader *reader, size_t size) {
    tendon_bose_gesture_record record = {.gesture_id = tendon_read_u8(reader)};
    /* The one little-endian field of the service. */
    record.payload_length = size == CURRENT_SIZE ? tendon_read_u16le(reader) : tendon_read_u8(reader);
    return record;
}

static bool layout_fits(const uint8_t *data, size_t length, size_t size) {
    tendon_reader reader = tendon_reader_make(data, length);
    while (tendon_reader_remaining(&reader) >= size) {
        tendon_bose_gesture_record record = read_record(&reader, size);
        if (record.gesture_id < FIRST_ID || record.payload_length > PAYLOAD_MAX) {
            return false;
        }
    }
    return true;
}

tendon_status tendon_bose_decode_gesture_information(const uint8_t *data, size_t length,
                                                     tendon_bose_gesture_information *out, size_t *offset) {
    bool current = layout_fits(data, length, CURRENT_SIZE);
    bool legacy = length % LEGACY_SIZE == 0 && layout_fits(data, length, LEGACY_SIZE);
    if (!current && !legacy) {
        if (offset != NULL) {
            *offset = 0;
        }
        return TENDON_BOSE_ERROR_BAD_RECORD;
    }
    /* Of two that fit, the one without a remainder: 81 01 is one record of the older form. */
    size_t size = current && (!legacy || length % CURRENT_SIZE == 0) ? CURRENT_SIZE : LEGACY_SIZE;
    memset(out, 0, sizeof *out);
    out->record_size = (uint8_t)size;
    tendon_reader reader = tendon_reader_make(data, length);
    tendon_status status = TENDON_OK;
    while (tendon_reader_remaining(&reader) >= size) {
        if (out->count >= TENDON_BOSE_GESTURES_MAX) {
            status = TENDON_ERROR_TABLE_FULL;
            if (offset != NULL) {
                *offset = reader.position;
            }
            break;
        }
        out->records[out->count++] = read_record(&reader, size);
    }
    out->trailing_bytes = tendon_reader_remaining(&reader);
    return status;
}

/* ---- configuration ---- */

static uint16_t payload_length_of(const tendon_bose_gesture_information *information, uint8_t gesture_id) {
    for (size_t i = 0; information != NULL && i < information->count; i++) {
        if (information->records[i].gesture_id == gesture_id) {
            return information->records[i].payload_length;
        }
    }
    return 1;
}

static tendon_status stop_at(tendon_bose_gesture_configuration *out, size_t start, size_t *offset,
                             tendon_status status) {
    out->length = start;
    if (offset != NULL) {
        *offset = start;
    }
    return status;
}

tendon_status tendon_bose_decode_gesture_configuration(const uint8_t *data, size_t length,
                                                       const tendon_bose_gesture_information *information,
                                                       tendon_bose_gesture_configuration *out, size_t *offset) {
    tendon_reader reader = tendon_reader_make(data, length);
    memset(out, 0, sizeof *out);
    while (tendon_reader_remaining(&reader) > 0) {
        size_t start = reader.position;
        if (out->count >= TENDON_BOSE_GESTURES_MAX) {
            return stop_at(out, start, offset, TENDON_ERROR_TABLE_FULL);
        }
        uint8_t gesture_id = tendon_read_u8(&reader);
        uint16_t payload_length = payload_length_of(information, gesture_id);
        if (tendon_read_bytes(&reader, payload_length) == NULL) {
            return stop_at(out, start, offset, TENDON_ERROR_TRUNCATED);
        }
        size_t payload = start + 1, end = reader.position;
        if (end > sizeof out->bytes) {
            return stop_at(out, start, offset, TENDON_ERROR_BUFFER_TOO_SMALL);
        }
        for (size_t i = start; i < end; i++) {
            out->bytes[i] = data[i];
        }
        out->entries[out->count].gesture_id = gesture_id;
        out->entries[out->count].enabled = payload < end && (data[payload] & ENABLED) != 0;
        out->entries[out->count].payload_offset = (uint16_t)payload;
        out->entries[out->count].payload_length = payload_length;
        out->count++;
    }
    out->length = length;
    return TENDON_OK;
}

tendon_status tendon_bose_encode_gesture_configuration(const tendon_bose_gesture_configuration *configuration,
                                                       uint8_t *out, size_t capacity) {
    if (configuration->length > sizeof configuration->bytes || configuration->count > TENDON_BOSE_GESTURES_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, configuration->bytes, configuration->length);
    if (writer.status != TENDON_OK) {
        return writer.status;
    }
    for (size_t i = 0; i < configuration->count; i++) {
        if (tendon_bose_gesture_known(configuration->entries[i].gesture_id) &&
            configuration->entries[i].payload_length > 0 &&
            configuration->entries[i].payload_offset < configuration->length) {
            out[configuration->entries[i].payload_offset] = configuration->entries[i].enabled ? ENABLED : 0;
        }
    }
    return tendon_writer_result(&writer);
}

tendon_status tendon_bose_set_gesture(tendon_bose_gesture_configuration *configuration, uint8_t gesture_id,
                                      bool enabled) {
    if (!tendon_bose_gesture_known(gesture_id)) {
        return TENDON_BOSE_ERROR_UNKNOWN_GESTURE;
    }
    for (size_t i = 0; i < configuration->count; i++) {
        if (configuration->entries[i].gesture_id == gesture_id) {
            configuration->entries[i].enabled = enabled;
            return TENDON_OK;
        }
    }
    return TENDON_BOSE_ERROR_UNKNOWN_GESTURE;
}

void tendon_bose_set_all_gestures(tendon_bose_gesture_configuration *configuration, bool enabled) {
    for (size_t i = 0; i < configuration->count; i++) {
        if (tendon_bose_gesture_known(configuration->entries[i].gesture_id)) {
            configuration->entries[i].enabled = enabled;
        }
    }
}

/* ---- data ---- */

tendon_status tendon_bose_decode_gesture_data(const uint8_t *data, size_t length, tendon_bose_gesture_data *out,
                                              size_t *offset) {
    tendon_reader reader = tendon_reader_make(data, length);
    tendon_bose_gesture_data gesture = {.gesture_id = tendon_read_u8(&reader)};
    gesture.timestamp = tendon_read_u16be(&reader);
    if (!tendon_reader_ok(&reader)) {
        if (offset != NULL) {
            *offset = reader.error_offset;
        }
        return reader.status;
    }
    gesture.trailing_bytes = tendon_reader_remaining(&reader);
    *out = gesture;
    return TENDON_OK;
}
