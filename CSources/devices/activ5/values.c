/* SPDX-License-Identifier: MIT */
/* Binary and string characteristics. */
#include "codec_parts.h"

enum { PERCENT_MAX = 100 };

/* Bytes that a value has at least. */
static const uint8_t least[TENDON_ACTIV5_CHARACTERISTIC_COUNT] = {
    [TENDON_ACTIV5_FORCE] = 2, [TENDON_ACTIV5_IMU] = 16, [TENDON_ACTIV5_TIMESTAMP] = 4, [TENDON_ACTIV5_BATTERY] = 1};

static void motion(tendon_reader *reader, tendon_activ5_imu *imu) {
    for (int i = 0; i < 3; i++) {
        imu->raw_acceleration[i] = tendon_read_i16le(reader);
        imu->acceleration[i] = tendon_activ5_to_g(imu->raw_acceleration[i]);
    }
    for (int i = 0; i < 3; i++) {
        imu->raw_gyro[i] = tendon_read_i16le(reader);
        imu->gyro[i] = tendon_activ5_to_rad_per_s(imu->raw_gyro[i]);
    }
    uint32_t ticks = tendon_read_u32le(reader);
    imu->ticks = (int32_t)(ticks < 0x80000000u ? (int64_t)ticks : (int64_t)ticks - 0x100000000);
    imu->timestamp = tendon_activ5_to_s(imu->ticks);
}

static tendon_status battery(tendon_reader *reader, tendon_activ5_message *out) {
    uint8_t percent = tendon_read_u8(reader);
    if (tendon_reader_remaining(reader) > 0) {
        return TENDON_ACTIV5_ERROR_LENGTH;
    }
    if (percent > PERCENT_MAX) {
        return TENDON_ACTIV5_ERROR_RANGE;
    }
    out->type = TENDON_ACTIV5_MESSAGE_BATTERY;
    out->percent = percent;
    return TENDON_OK;
}

static tendon_status string(tendon_activ5_message_type type, const uint8_t *data, size_t length,
                            tendon_activ5_message *out) {
    if (length > TENDON_ACTIV5_TEXT_MAX) {
        return TENDON_ACTIV5_ERROR_OVERFLOW;
    }
    if (!tendon_activ5_is_utf8(data, length)) {
        return TENDON_ACTIV5_ERROR_BAD_ENCODING;
    }
    out->type = type;
    tendon_activ5_put_text(out, data, 0, length);
    return TENDON_OK;
}

tendon_status tendon_activ5_parse_value(tendon_activ5_characteristic which, const uint8_t *data, size_t length,
                                        tendon_activ5_message *out) {
    activ5_clear(out);
    if ((unsigned)which >= TENDON_ACTIV5_CHARACTERISTIC_COUNT) {
        return TENDON_OK;
    }
    if (length < least[which]) {
        return TENDON_ACTIV5_ERROR_SHORT;
    }
    tendon_reader reader = tendon_reader_make(data, length);
    switch (which) {
    case TENDON_ACTIV5_FORCE:
        out->type = TENDON_ACTIV5_MESSAGE_ISOMETRIC;
        out->raw = tendon_read_i16le(&reader);
        out->newtons = tendon_activ5_to_newtons(out->raw);
        return TENDON_OK;
    case TENDON_ACTIV5_IMU:
        out->type = TENDON_ACTIV5_MESSAGE_IMU;
        motion(&reader, &out->imu);
        return TENDON_OK;
    case TENDON_ACTIV5_TIMESTAMP:
        out->type = TENDON_ACTIV5_MESSAGE_TIMESTAMP;
        out->ticks = tendon_read_u32le(&reader);
        out->seconds = tendon_activ5_to_s(out->ticks);
        return TENDON_OK;
    case TENDON_ACTIV5_BATTERY:
        return battery(&reader, out);
    case TENDON_ACTIV5_UUID1:
        return string(TENDON_ACTIV5_MESSAGE_UUID1, data, length, out);
    case TENDON_ACTIV5_UUID2:
        return string(TENDON_ACTIV5_MESSAGE_UUID2, data, length, out);
    case TENDON_ACTIV5_SERIAL_NUMBER:
        return string(TENDON_ACTIV5_MESSAGE_SERIAL_NUMBER, data, length, out);
    default:
        return TENDON_OK;
    }
}

tendon_status tendon_activ5_join_uuid(const uint8_t *id1, size_t length1, const uint8_t *id2, size_t length2,
                                      uint8_t *out, size_t size) {
    tendon_writer writer = tendon_writer_make(out, size);
    tendon_write_bytes(&writer, id1, length1);
    for (size_t i = 0; i < length2; i++) {
        if (id2[i] != 0) {
            tendon_write_u8(&writer, id2[i]);
        }
    }
    return tendon_writer_result(&writer);
}
