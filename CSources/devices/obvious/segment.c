/* SPDX-License-Identifier: MIT */
#include "tendon/devices/obvious_segment.h"

#include "fields.h"
#include "segment.h"
#include <string.h>

enum { ATT_HEADER = 3, CONTROL_FLAGS = TENDON_OBVIOUS_SEGMENT_VERSION | TENDON_OBVIOUS_SEGMENT_CONTROL };

#define OF_CONTROL(member, limit) FIELD_INTEGER(tendon_obvious_control, member, limit)
static const field control_fields[] = {
    OF_CONTROL(msgseq, LIMIT_NONE), OF_CONTROL(type, ONE_OR_MORE + TENDON_OBVIOUS_WAIT),
    OF_CONTROL(reason, LIMIT_NONE), OF_CONTROL(next, LIMIT_NONE),
    OF_CONTROL(bitmap, LIMIT_NONE), OF_CONTROL(credit, LIMIT_NONE),
};
enum { CONTROL_FIELDS = sizeof control_fields / sizeof control_fields[0] };

size_t tendon_obvious_segment_size(size_t mtu) {
    if (mtu < TENDON_OBVIOUS_SEGMENT_MIN + ATT_HEADER) {
        return TENDON_OBVIOUS_SEGMENT_MIN;
    }
    return mtu - ATT_HEADER > TENDON_OBVIOUS_SEGMENT_MAX ? TENDON_OBVIOUS_SEGMENT_MAX : mtu - ATT_HEADER;
}

size_t tendon_obvious_segment_count(size_t length, size_t size) {
    size_t first = size - FIRST_HEADER, other = size - OTHER_HEADER;
    return length <= first ? 1 : 1 + (length - first + other - 1) / other;
}

bool tendon_obvious_segment_requests_ack(size_t index, size_t count, size_t window) {
    size_t half = window > 1 ? window / 2 : 1;
    return index + 1 == count || (index + 1) % half == 0;
}

tendon_status tendon_obvious_encode_segment(const uint8_t *frame, size_t length, size_t size, uint8_t msgseq,
                                            size_t index, bool ack_requested, uint8_t *out) {
    if (length < TENDON_OBVIOUS_FRAME_OVERHEAD || length > TENDON_OBVIOUS_FRAME_MAX ||
        size < TENDON_OBVIOUS_SEGMENT_MIN || size > TENDON_OBVIOUS_SEGMENT_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    size_t count = tendon_obvious_segment_count(length, size);
    if (index >= count) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    size_t start = segment_start(index, size);
    size_t end = index + 1 == count ? length : segment_start(index + 1, size);
    tendon_writer writer = tendon_writer_make(out, size);
    tendon_write_u8(&writer,
                    (uint8_t)(TENDON_OBVIOUS_SEGMENT_VERSION | (index == 0 ? TENDON_OBVIOUS_SEGMENT_FIRST : 0) |
                              (index + 1 == count ? TENDON_OBVIOUS_SEGMENT_LAST : 0) |
                              (ack_requested ? TENDON_OBVIOUS_SEGMENT_ACKREQ : 0)));
    tendon_write_u8(&writer, msgseq);
    tendon_write_u16le(&writer, (uint16_t)index);
    if (index == 0) {
        tendon_write_u16le(&writer, (uint16_t)length);
    }
    tendon_write_bytes(&writer, frame + start, end - start);
    return tendon_writer_result(&writer);
}

tendon_status tendon_obvious_decode_control(const uint8_t *data, size_t length, tendon_obvious_control *out) {
    if (length != TENDON_OBVIOUS_CONTROL_SIZE) {
        return TENDON_OBVIOUS_ERROR_CTL_BAD_LENGTH;
    }
    if (data[0] != CONTROL_FLAGS) {
        return TENDON_OBVIOUS_ERROR_CTL_BAD_FLAGS;
    }
    tendon_reader reader = tendon_reader_make(data + 1, TENDON_OBVIOUS_CONTROL_SIZE - 1);
    tendon_obvious_control control;
    if (!tendon_obvious_take_fields(control_fields, CONTROL_FIELDS, &reader, &control)) {
        return TENDON_OBVIOUS_ERROR_CTL_BAD_TYPE;
    }
    if (control.reason > TENDON_OBVIOUS_REASON_VERSION) {
        control.reason = TENDON_OBVIOUS_REASON_NONE;
    }
    if (control.credit > TENDON_OBVIOUS_CREDIT_MAX) {
        control.credit = TENDON_OBVIOUS_CREDIT_MAX;
    }
    *out = control;
    return TENDON_OK;
}

void tendon_obvious_encode_control(const tendon_obvious_control *control, uint8_t out[TENDON_OBVIOUS_CONTROL_SIZE]) {
    tendon_writer writer = tendon_writer_make(out, TENDON_OBVIOUS_CONTROL_SIZE);
    tendon_write_u8(&writer, CONTROL_FLAGS);
    tendon_obvious_put_fields(control_fields, CONTROL_FIELDS, control, &writer);
}
