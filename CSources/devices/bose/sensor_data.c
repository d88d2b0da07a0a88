/* SPDX-License-Identifier: MIT */
/*
 * The path of the most common record has few stores and saves no register, because they determine its time, see
 * Bench/README.md.
 */
#include "tendon/devices/bose_codec.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { HEADER_SIZE = TENDON_BOSE_SAMPLE_HEADER_SIZE, VECTOR_SIZE = 6, QUATERNION_SIZE = 8, ACCURACY_MAX = 3 };

/* Content of a sample. */
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

const tendon_bose_sensor_record *tendon_bose_find_sensor(const tendon_bose_sensor_information *information,
                                                         uint8_t sensor_id) {
    size_t count = information->count;
    /* Devices list their sensors in order: the first look nearly always hits. */
    if (sensor_id < count && information->records[sensor_id].sensor_id == sensor_id) {
        return &information->records[sensor_id];
    }
    for (size_t i = 0; i < count; i++) {
        if (information->records[i].sensor_id == sensor_id) {
            return &information->records[i];
        }
    }
    return NULL;
}

#if defined(__GNUC__)
#define APART __attribute__((noinline)) /* its registers are not saved on the way of the usual record */
#else
#define APART
#endif

/* Both profiles in one formula: (raw - base) * factor + offset. The three of the fixed profile: */
static const tendon_bose_sensor_record fixed_vector = {.scale = 1.0 / 4096.0};
static const tendon_bose_sensor_record fixed_quaternion = {.scale = 1.0 / 16384.0};

static inline double scaled(int16_t raw, const tendon_bose_sensor_record *by) {
    return (double)(raw - by->raw_min) * by->scale + (double)by->scaled_min;
}

/* Flipping the sign bit and taking it off again extends the sign, with neither a branch nor a conversion that C leaves
 * to the implementation. */
static inline int16_t i16be_at(const uint8_t *bytes) {
    uint32_t value = (uint32_t)bytes[0] << 8 | bytes[1];
    return (int16_t)((int32_t)(value ^ 0x8000u) - 0x8000);
}

static inline void take_three(const uint8_t *bytes, const tendon_bose_sensor_record *by, int16_t raw[4],
                              tendon_bose_vector *out) {
    out->x = scaled(raw[0] = i16be_at(bytes), by);
    out->y = scaled(raw[1] = i16be_at(bytes + 2), by);
    out->z = scaled(raw[2] = i16be_at(bytes + 4), by);
    raw[3] = 0;
}

#if defined(__SSE2__)
/* The same as below, in the same order and with the same rounding, two at a time. */
static inline void take_four(const uint8_t *bytes, const tendon_bose_sensor_record *by, int16_t raw[4],
                             tendon_quaternion *out) {
    __m128i wire = _mm_loadl_epi64((const __m128i *)bytes);
    __m128i swapped = _mm_or_si128(_mm_slli_epi16(wire, 8), _mm_srli_epi16(wire, 8));
    _mm_storel_epi64((__m128i *)raw, swapped);
    __m128i wide = _mm_srai_epi32(_mm_unpacklo_epi16(swapped, swapped), 16);
    __m128i counts = _mm_sub_epi32(wide, _mm_set1_epi32(by->raw_min));
    __m128d xy = _mm_cvtepi32_pd(counts), zw = _mm_cvtepi32_pd(_mm_srli_si128(counts, 8));
    __m128d scale = _mm_set1_pd(by->scale), offset = _mm_set1_pd((double)by->scaled_min);
    _mm_storeu_pd(&out->x, _mm_add_pd(_mm_mul_pd(xy, scale), offset));
    _mm_storeu_pd(&out->z, _mm_add_pd(_mm_mul_pd(zw, scale), offset));
}
#else
static inline void take_four(const uint8_t *bytes, const tendon_bose_sensor_record *by, int16_t raw[4],
                             tendon_quaternion *out) {
    out->x = scaled(raw[0] = i16be_at(bytes), by);
    out->y = scaled(raw[1] = i16be_at(bytes + 2), by);
    out->z = scaled(raw[2] = i16be_at(bytes + 4), by);
    out->w = scaled(raw[3] = i16be_at(bytes + 6), by);
}
#endif

/* Clearing the whole sample first would cost as much as the decoding: these members, and then those of the kind. */
static inline void set_header(tendon_bose_sample *sample, uint8_t id, const uint8_t *header, bool vector) {
    sample->sensor_id = id;
    sample->timestamp = (uint16_t)((uint32_t)header[1] << 8 | header[2]);
    sample->has_vector = vector;
    sample->has_quaternion = !vector;
    sample->has_accuracy = sample->has_bias = sample->accuracy_unknown = false;
    sample->accuracy = 0;
    sample->accuracy_raw = 0;
    sample->raw_bias[0] = sample->raw_bias[1] = sample->raw_bias[2] = sample->raw_bias[3] = 0;
    sample->accuracy_rad = 0.0;
    sample->bias.x = sample->bias.y = sample->bias.z = 0.0;
}

static inline void take_quaternion(tendon_bose_sample *sample, uint8_t id, const uint8_t *header,
                                   const tendon_bose_sensor_record *by) {
    set_header(sample, id, header, false);
    take_four(header + HEADER_SIZE, by, sample->raw, &sample->quaternion);
}

/* A sample of any kind; the record has at least the length of its layout. False: invalid accuracy. */
static bool take_sample(tendon_bose_sample *sample, uint8_t id, const uint8_t *header,
                        const tendon_bose_sensor_record *by) {
    const uint8_t *payload = header + HEADER_SIZE;
    switch (layouts[id].kind) {
    case KIND_QUATERNION:
        take_quaternion(sample, id, header, by);
        return true;
    case KIND_ROTATION:
        take_quaternion(sample, id, header, by);
        sample->has_accuracy = true;
        sample->accuracy_raw = i16be_at(payload + QUATERNION_SIZE);
        sample->accuracy_rad = scaled(sample->accuracy_raw, by);
        sample->accuracy_unknown = sample->accuracy_raw < 0;
        return true;
    default:
        set_header(sample, id, header, true);
        sample->quaternion.w = 0.0; /* beyond the vector in the union */
        take_three(payload, by, sample->raw, &sample->vector);
        if (layouts[id].kind == KIND_BIASED) {
            sample->has_bias = true;
            take_three(payload + VECTOR_SIZE, by, sample->raw_bias, &sample->bias);
            return true;
        }
        sample->has_accuracy = true;
        sample->accuracy = payload[VECTOR_SIZE];
        return sample->accuracy <= ACCURACY_MAX;
    }
}

static tendon_bose_step stop(tendon_bose_sensor_data *data, tendon_status status, size_t start) {
    data->status = status;
    data->error_offset = start;
    data->position = data->length;
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

/* Decodes any record with all checks; errors are reported in the order of the bytes. */
static APART tendon_bose_step next_of_any_kind(tendon_bose_sensor_data *data, tendon_bose_sample *sample,
                                               tendon_bose_skipped *skipped) {
    size_t start = data->position, end = data->length;
    if (start == end) {
        return TENDON_BOSE_STEP_END;
    }
    if (start + HEADER_SIZE > end) {
        return stop(data, TENDON_ERROR_TRUNCATED, start);
    }
    uint8_t id = data->data[start];
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
    data->position = start + HEADER_SIZE + length;
    if (status != TENDON_OK) {
        return skip(skipped, start, id, status);
    }
    bool vector = layouts[id].kind == KIND_VECTOR || layouts[id].kind == KIND_BIASED;
    const tendon_bose_sensor_record *by = reported ? record : vector ? &fixed_vector : &fixed_quaternion;
    return take_sample(sample, id, data->data + start, by)
               ? TENDON_BOSE_STEP_SAMPLE
               : skip(skipped, start, id, TENDON_BOSE_ERROR_INVALID_ACCURACY);
}

/* A record of a sensor that the list describes as the table does; else any. */
static APART tendon_bose_step next_usual(tendon_bose_sensor_data *data, tendon_bose_sample *sample,
                                         tendon_bose_skipped *skipped) {
    size_t start = data->position, end = data->length;
    uint8_t id = start + HEADER_SIZE <= end ? data->data[start] : TENDON_BOSE_SENSOR_COUNT;
    const tendon_bose_sensor_information *information = data->information;
    if (id < TENDON_BOSE_SENSOR_COUNT && information != NULL && data->profile == TENDON_BOSE_PROFILE_REPORTED) {
        //@ split id;
        size_t size = information->usual[id];
        if (size != 0 && start + size <= end) {
            data->position = start + size;
            return take_sample(sample, id, data->data + start, &information->records[id])
                       ? TENDON_BOSE_STEP_SAMPLE
                       : skip(skipped, start, id, TENDON_BOSE_ERROR_INVALID_ACCURACY);
        }
    }
    //@ merge id;
    return next_of_any_kind(data, sample, skipped);
}

/* First the record that most programs stream, head motion. */
tendon_bose_step tendon_bose_sensor_data_take(tendon_bose_sensor_data *data, tendon_bose_sample *sample,
                                              tendon_bose_skipped *skipped) {
    enum { ID = TENDON_BOSE_GAME_ROTATION, SIZE = HEADER_SIZE + QUATERNION_SIZE };
    const tendon_bose_sensor_information *information = data->information;
    size_t start = data->position;
    if (start + SIZE > data->length || data->data[start] != ID || information == NULL ||
        information->usual[ID] != SIZE || data->profile != TENDON_BOSE_PROFILE_REPORTED) {
        return next_usual(data, sample, skipped);
    }
    data->position = start + SIZE;
    take_quaternion(sample, ID, data->data + start, &information->records[ID]);
    return TENDON_BOSE_STEP_SAMPLE;
}
