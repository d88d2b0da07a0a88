/* SPDX-License-Identifier: MIT */
#include "codes.h"
#include "fields.h"
#include "tendon/base/crc.h"

enum { FRAME_VERSION = 1, CRC_SIZE = 4, FLAGS_KNOWN = 7 };

static const uint8_t magic[2] = {'O', 'B'};

/* Between version and length. */
#define OF_FRAME(member) FIELD_INTEGER(tendon_obvious_frame, member, LIMIT_NONE)
static const field header_fields[] = {OF_FRAME(flags), OF_FRAME(corr), OF_FRAME(opcode), OF_FRAME(status)};
enum { HEADER_FIELDS = sizeof header_fields / sizeof header_fields[0] };

/* Flags, request id and status, in the order of the checks. */
static unsigned check_header(const tendon_obvious_frame *frame, uint8_t version) {
    bool response = (frame->flags & TENDON_OBVIOUS_RESPONSE) != 0;
    bool event = (frame->flags & TENDON_OBVIOUS_EVENT) != 0;
    bool error = (frame->flags & TENDON_OBVIOUS_ERROR) != 0;
    if (version != FRAME_VERSION) {
        return CODE_FRAME_BAD_VERSION;
    }
    if ((frame->flags & ~FLAGS_KNOWN) != 0 || (response && event)) {
        return CODE_FRAME_RESERVED;
    }
    if ((frame->corr == 0) != event) {
        return CODE_FRAME_BAD_CORR;
    }
    if (error != (frame->status != 0) || (error && !response)) {
        return CODE_FRAME_BAD_STATUS;
    }
    return CODE_OK;
}

static unsigned decode(const uint8_t *data, size_t length, size_t frame_max, tendon_obvious_frame *out) {
    if (length < TENDON_OBVIOUS_FRAME_OVERHEAD || length > frame_max) {
        return CODE_FRAME_BAD_LENGTH;
    }
    tendon_reader reader = tendon_reader_make(data, length);
    if (tendon_read_u8(&reader) != magic[0] || tendon_read_u8(&reader) != magic[1]) {
        return CODE_FRAME_BAD_MAGIC;
    }
    uint8_t version = tendon_read_u8(&reader);
    tendon_obvious_frame frame;
    (void)tendon_obvious_take_fields(header_fields, HEADER_FIELDS, &reader, &frame);
    frame.payload_length = tendon_read_u16le(&reader);
    if (frame.payload_length + TENDON_OBVIOUS_FRAME_OVERHEAD != length) {
        return CODE_FRAME_BAD_LENGTH;
    }
    frame.payload = tendon_read_bytes(&reader, frame.payload_length);
    if (tendon_read_u32le(&reader) != tendon_crc32(0, data, length - CRC_SIZE)) {
        return CODE_FRAME_BAD_CRC;
    }
    unsigned code = check_header(&frame, version);
    if (code == CODE_OK) {
        *out = frame;
    }
    return code;
}

tendon_status tendon_obvious_decode_frame(const uint8_t *data, size_t length, size_t frame_max,
                                          tendon_obvious_frame *out) {
    return status_of(decode(data, length, frame_max, out));
}

tendon_status tendon_obvious_seal_frame(const tendon_obvious_frame *frame, size_t payload_length, uint8_t *buffer,
                                        size_t capacity) {
    if (payload_length > TENDON_OBVIOUS_FRAME_MAX - TENDON_OBVIOUS_FRAME_OVERHEAD) {
        return TENDON_ERROR_BUFFER_TOO_SMALL;
    }
    tendon_writer writer = tendon_writer_make(buffer, capacity);
    tendon_write_bytes(&writer, magic, sizeof magic);
    tendon_write_u8(&writer, FRAME_VERSION);
    tendon_obvious_put_fields(header_fields, HEADER_FIELDS, frame, &writer);
    tendon_write_u16le(&writer, (uint16_t)payload_length);
    /* The payload is there already. */
    if (tendon_writer_reserve(&writer, payload_length) != NULL) {
        tendon_write_u32le(&writer, tendon_crc32(0, buffer, writer.length));
    }
    return tendon_writer_result(&writer);
}
