/* SPDX-License-Identifier: MIT */
#include "tendon/devices/bose_codec.h"

enum { HEADER_SIZE = 3, VECTOR_SIZE = 6, QUATERNION_SIZE = 8, ACCURACY_MAX = 3 };

/* What stands in a sample. */
typedef enum sample_kind {
    KIND_VECTOR,     /* vector, accuracy u8 */
    KIND_ROTATION,   /* quaternion, accuracy i16 */
    KIND_QUATERNION, /* quaternion */
    KIND_BIASED      /* vector, bias vector */
} sample_kind;

static const struct {
    uint8_t length, kind;
} layouts[TENDON_BOSE_SENSOR_COUNT] = {
    [TENDON_BOSE_ACCELEROMETER] = {7, KIND_VECTOR},
    [TENDON_BOSE_GYROSCOPE] = {7, KIND_VECTOR},
    [TENDON_BOSE_ROTATION] = {10, KIND_ROTATION},
    [TENDON_BOSE_GAME_ROTATION] = {8, KIND_QUATERNION},
    [TENDON_BOSE_ORIENTATION] = {7, KIND_VECTOR},
    [TENDON_BOSE_MAGNETOMETER] = {7, KIND_VECTOR},
    [TENDON_BOSE_UNCALIBRATED_MAGNETOMETER] = {12, KIND_BIASED},
};

uint8_t tendon_bose_sample_length(uint8_t sensor_id) {
    return sensor_id < TENDON_BOSE_SENSOR_COUNT ? layouts[sensor_id].length : 0;
}

/* Both profiles in one formula: (raw - base) * factor + offset. */
typedef struct scale {
    int32_t base;
    double factor, offset;
} scale;

static inline double scaled(scale by, int16_t raw) {
    return (double)(raw - by.base) * by.factor + by.offset;
}

static inline int16_t i16be_at(const uint8_t *bytes) {
    return tendon_i16_from_u16((uint16_t)((uint32_t)bytes[0] << 8 | bytes[1]));
}

static inline scale scale_of(const tendon_bose_sensor_record *record, tendon_bose_profile profile, unsigned kind) {
    if (profile == TENDON_BOSE_PROFILE_REPORTED) {
        return (scale){record->raw_min, record->scale, (double)record->scaled_min};
    }
    bool vector = kind == KIND_VECTOR || kind == KIND_BIASED;
    return (scale){0, vector ? 1.0 / 4096.0 : 1.0 / 16384.0, 0.0};
}

static inline void take_vector(const uint8_t *payload, scale by, tendon_bose_sample *sample) {
    sample->has_vector = true;
    for (int i = 0; i < 3; i++) {
        sample->raw[i] = i16be_at(payload + 2 * i);
    }
    sample->vector.x = scaled(by, sample->raw[0]);
    sample->vector.y = scaled(by, sample->raw[1]);
    sample->vector.z = scaled(by, sample->raw[2]);
}

static inline void take_bias(const uint8_t *payload, scale by, tendon_bose_sample *sample) {
    sample->has_bias = true;
    for (int i = 0; i < 3; i++) {
        sample->raw_bias[i] = i16be_at(payload + 2 * i);
    }
    sample->bias.x = scaled(by, sample->raw_bias[0]);
    sample->bias.y = scaled(by, sample->raw_bias[1]);
    sample->bias.z = scaled(by, sample->raw_bias[2]);
}

static inline void take_quaternion(const uint8_t *payload, scale by, tendon_bose_sample *sample) {
    sample->has_quaternion = true;
    for (int i = 0; i < 4; i++) {
        sample->raw[i] = i16be_at(payload + 2 * i);
    }
    sample->quaternion.x = scaled(by, sample->raw[0]);
    sample->quaternion.y = scaled(by, sample->raw[1]);
    sample->quaternion.z = scaled(by, sample->raw[2]);
    sample->quaternion.w = scaled(by, sample->raw[3]);
}

/* The payload has at least the length of the sensor's layout. False: invalid accuracy. */
static inline bool take_sample(const uint8_t *payload, unsigned kind, scale by, tendon_bose_sample *sample) {
    switch (kind) {
    case KIND_VECTOR:
        sample->accuracy = payload[VECTOR_SIZE];
        sample->has_accuracy = true;
        take_vector(payload, by, sample);
        return sample->accuracy <= ACCURACY_MAX;
    case KIND_ROTATION:
        take_quaternion(payload, by, sample);
        sample->has_accuracy = true;
        sample->accuracy_raw = i16be_at(payload + QUATERNION_SIZE);
        sample->accuracy_rad = scaled(by, sample->accuracy_raw);
        sample->accuracy_unknown = sample->accuracy_raw < 0;
        return true;
    case KIND_QUATERNION:
        take_quaternion(payload, by, sample);
        return true;
    default:
        take_vector(payload, by, sample);
        take_bias(payload + VECTOR_SIZE, by, sample);
        return true;
    }
}

tendon_bose_sensor_data tendon_bose_sensor_data_begin(const uint8_t *data, size_t length,
                                                      const tendon_bose_sensor_information *information,
                                                      tendon_bose_profile profile) {
    tendon_bose_sensor_data walk = {tendon_reader_make(data, length), information, profile, TENDON_OK, 0};
    return walk;
}

static tendon_bose_step stop(tendon_bose_sensor_data *data, tendon_status status, size_t start) {
    data->status = status;
    data->error_offset = start;
    data->reader.position = data->reader.length;
    return TENDON_BOSE_STEP_END;
}

static tendon_bose_step skip(tendon_bose_skipped *skipped, size_t start, uint8_t sensor_id, tendon_status reason) {
    if (skipped != NULL) {
        skipped->offset = start;
        skipped->sensor_id = sensor_id;
        skipped->reason = reason;
    }
    return TENDON_BOSE_STEP_SKIPPED;
}

tendon_bose_step tendon_bose_sensor_data_next(tendon_bose_sensor_data *data, tendon_bose_sample *sample,
                                              tendon_bose_skipped *skipped) {
    size_t start = data->reader.position;
    if (start == data->reader.length) {
        return TENDON_BOSE_STEP_END;
    }
    const uint8_t *header = tendon_read_bytes(&data->reader, HEADER_SIZE);
    if (header == NULL) {
        return stop(data, TENDON_ERROR_TRUNCATED, start);
    }
    uint8_t id = header[0];
    bool known = id < TENDON_BOSE_SENSOR_COUNT;
    const tendon_bose_sensor_record *record =
        data->information != NULL ? tendon_bose_find_sensor(data->information, id) : NULL;
    if (record == NULL && !known) {
        return stop(data, TENDON_BOSE_ERROR_UNKNOWN_SENSOR, start);
    }
    size_t length = record != NULL ? record->sample_length : layouts[id].length;
    const uint8_t *payload = tendon_read_bytes(&data->reader, length);
    if (payload == NULL) {
        return stop(data, TENDON_ERROR_TRUNCATED, start);
    }
    if (!known || (record == NULL && data->profile == TENDON_BOSE_PROFILE_REPORTED)) {
        return skip(skipped, start, id, TENDON_BOSE_ERROR_UNKNOWN_SENSOR);
    }
    if (length < layouts[id].length) {
        return skip(skipped, start, id, TENDON_BOSE_ERROR_SHORT_SAMPLE);
    }
    *sample = (tendon_bose_sample){
        .sensor_id = id,
        .timestamp = (uint16_t)((uint32_t)header[1] << 8 | header[2]),
    };
    if (!take_sample(payload, layouts[id].kind, scale_of(record, data->profile, layouts[id].kind), sample)) {
        return skip(skipped, start, id, TENDON_BOSE_ERROR_INVALID_ACCURACY);
    }
    return TENDON_BOSE_STEP_SAMPLE;
}
