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

/* Both profiles in one formula: (raw - base) * factor + offset. Three numbers, as they travel in registers. */
#define SCALE double base, double factor, double offset
#define BY base, factor, offset

static inline double scaled(int16_t raw, SCALE) {
    return ((double)raw - base) * factor + offset;
}

/* Flipping the sign bit and taking it off again extends the sign, with neither a branch nor a conversion that C leaves
 * to the implementation. */
static inline int16_t i16be_at(const uint8_t *bytes) {
    uint32_t value = (uint32_t)bytes[0] << 8 | bytes[1];
    return (int16_t)((int32_t)(value ^ 0x8000u) - 0x8000);
}

/* Component by component: whole structs would go through the stack and wait for it. */
static inline void take_three(const uint8_t *bytes, SCALE, int16_t raw[3], tendon_bose_vector *out) {
    out->x = scaled(raw[0] = i16be_at(bytes), BY);
    out->y = scaled(raw[1] = i16be_at(bytes + 2), BY);
    out->z = scaled(raw[2] = i16be_at(bytes + 4), BY);
}

/*
 * One function per kind. Each sets every member: clearing the whole sample
 * first would cost as much as the decoding.
 */
static inline void set_header(tendon_bose_sample *sample, const uint8_t *header) {
    sample->sensor_id = header[0];
    sample->timestamp = (uint16_t)((uint32_t)header[1] << 8 | header[2]);
    sample->accuracy = 0;
    sample->has_vector = sample->has_quaternion = sample->has_accuracy = sample->has_bias = false;
    sample->accuracy_unknown = false;
    sample->raw_bias[0] = sample->raw_bias[1] = sample->raw_bias[2] = 0;
    sample->accuracy_raw = 0;
    sample->accuracy_rad = 0.0;
    sample->bias.x = sample->bias.y = sample->bias.z = 0.0;
}

static inline void take_vector(tendon_bose_sample *sample, const uint8_t *payload, SCALE) {
    sample->has_vector = true;
    sample->raw[3] = 0;
    sample->quaternion.w = 0.0; /* beyond the vector in the union */
    take_three(payload, BY, sample->raw, &sample->vector);
}

static inline void take_quaternion(tendon_bose_sample *sample, const uint8_t *payload, SCALE) {
    sample->has_quaternion = true;
    sample->quaternion.x = scaled(sample->raw[0] = i16be_at(payload), BY);
    sample->quaternion.y = scaled(sample->raw[1] = i16be_at(payload + 2), BY);
    sample->quaternion.z = scaled(sample->raw[2] = i16be_at(payload + 4), BY);
    sample->quaternion.w = scaled(sample->raw[3] = i16be_at(payload + 6), BY);
}

/* The record has at least the length of the sensor's layout. False: invalid accuracy. */
static inline bool take_sample(tendon_bose_sample *sample, const uint8_t *header, unsigned kind, SCALE) {
    const uint8_t *payload = header + HEADER_SIZE;
    set_header(sample, header);
    switch (kind) {
    case KIND_QUATERNION:
        take_quaternion(sample, payload, BY);
        return true;
    case KIND_VECTOR:
        sample->has_accuracy = true;
        sample->accuracy = payload[VECTOR_SIZE];
        take_vector(sample, payload, BY);
        return sample->accuracy <= ACCURACY_MAX;
    case KIND_ROTATION:
        take_quaternion(sample, payload, BY);
        sample->has_accuracy = true;
        sample->accuracy_raw = i16be_at(payload + QUATERNION_SIZE);
        sample->accuracy_rad = scaled(sample->accuracy_raw, BY);
        sample->accuracy_unknown = sample->accuracy_raw < 0;
        return true;
    default:
        sample->has_bias = true;
        take_vector(sample, payload, BY);
        take_three(payload + VECTOR_SIZE, BY, sample->raw_bias, &sample->bias);
        return true;
    }
}

static inline bool take_reported(tendon_bose_sample *sample, const uint8_t *header, uint8_t id,
                                 const tendon_bose_sensor_record *record) {
    return take_sample(sample, header, layouts[id].kind, (double)record->raw_min, record->scale,
                       (double)record->scaled_min);
}

static inline bool take_fixed(tendon_bose_sample *sample, const uint8_t *header, uint8_t id) {
    unsigned kind = layouts[id].kind;
    bool vector = kind == KIND_VECTOR || kind == KIND_BIASED;
    return take_sample(sample, header, kind, 0.0, vector ? 1.0 / 4096.0 : 1.0 / 16384.0, 0.0);
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

#if defined(__GNUC__)
#define APART __attribute__((noinline)) /* its registers are not saved on the way of the ordinary record */
#else
#define APART
#endif

/* Any record: everything is checked; what is reported first is what a reader of the bytes meets first. */
static APART tendon_bose_step next_of_any_kind(tendon_bose_sensor_data *data, tendon_bose_sample *sample,
                                               tendon_bose_skipped *skipped) {
    size_t start = data->reader.position, end = data->reader.length;
    if (start == end) {
        return TENDON_BOSE_STEP_END;
    }
    if (start + HEADER_SIZE > end) {
        return stop(data, TENDON_ERROR_TRUNCATED, start);
    }
    uint8_t id = data->reader.data[start];
    const tendon_bose_sensor_record *record =
        data->information != NULL ? tendon_bose_find_sensor(data->information, id) : NULL;
    bool known = id < TENDON_BOSE_SENSOR_COUNT, reported = data->profile == TENDON_BOSE_PROFILE_REPORTED;
    if (record == NULL && !known) {
        return stop(data, TENDON_BOSE_ERROR_UNKNOWN_SENSOR, start);
    }
    size_t length = record != NULL ? record->sample_length : layouts[id].length;
    tendon_status status = TENDON_BOSE_ERROR_UNKNOWN_SENSOR;
    if (known && (record != NULL || !reported)) {
        //@ split id;
        status = length < layouts[id].length ? TENDON_BOSE_ERROR_SHORT_SAMPLE : TENDON_OK;
    }
    if (length > end - start - HEADER_SIZE) {
        return stop(data, TENDON_ERROR_TRUNCATED, start);
    }
    data->reader.position = start + HEADER_SIZE + length;
    if (status != TENDON_OK) {
        return skip(skipped, start, id, status);
    }
    const uint8_t *header = data->reader.data + start;
    bool taken = reported ? take_reported(sample, header, id, record) : take_fixed(sample, header, id);
    return taken ? TENDON_BOSE_STEP_SAMPLE : skip(skipped, start, id, TENDON_BOSE_ERROR_INVALID_ACCURACY);
}

/*
 * The ordinary record: a known sensor, described at the place of its id with
 * the length of the table, whole, reported profile. NULL: some other record.
 */
static inline const tendon_bose_sensor_record *ordinary(const tendon_bose_sensor_data *data, uint8_t id) {
    const tendon_bose_sensor_information *information = data->information;
    if (information == NULL || id >= information->count || data->profile != TENDON_BOSE_PROFILE_REPORTED) {
        return NULL;
    }
    const tendon_bose_sensor_record *record = &information->records[id];
    return record->sensor_id == id && record->sample_length == layouts[id].length ? record : NULL;
}

tendon_bose_step tendon_bose_sensor_data_next(tendon_bose_sensor_data *data, tendon_bose_sample *sample,
                                              tendon_bose_skipped *skipped) {
    size_t start = data->reader.position, end = data->reader.length;
    uint8_t id = start + HEADER_SIZE <= end ? data->reader.data[start] : TENDON_BOSE_SENSOR_COUNT;
    if (id < TENDON_BOSE_SENSOR_COUNT) {
        //@ split id;
        const tendon_bose_sensor_record *record = ordinary(data, id);
        if (record != NULL && start + HEADER_SIZE + layouts[id].length <= end) {
            data->reader.position = start + HEADER_SIZE + layouts[id].length;
            if (take_reported(sample, data->reader.data + start, id, record)) {
                return TENDON_BOSE_STEP_SAMPLE;
            }
            return skip(skipped, start, id, TENDON_BOSE_ERROR_INVALID_ACCURACY);
        }
    }
    return next_of_any_kind(data, sample, skipped);
}
