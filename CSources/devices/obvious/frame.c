/* SPDX-License-Identifier: MIT */
#include "tendon/base/crc.h"
#include "tendon/base/packed.h"
#include "tendon/devices/obvious_codec.h"

enum { FRAME_VERSION = 1, CRC_SIZE = 4, FLAGS_KNOWN = 7 };

static const uint8_t magic[2] = {'O', 'B'};

const char *tendon_obvious_opcode_name(uint8_t opcode) {
    static const uint16_t opcodes[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x10, 0x11, 0x12, 0x20, 0x21,
                                       0x22, 0x23, 0x24, 0x30, 0x31, 0x32, 0x33, 0x80, 0x81, 0x82, 0x83};
    return tendon_packed_string(
        "HELLO\0GET_DEVICE_INFO\0PING\0GET_NONCE\0GET_TIME\0SET_TIME\0FEATURE_STATUS\0FEATURE_TOGGLE\0FEATURE_COUNTER\0"
        "XFER_BEGIN\0XFER_DATA\0XFER_STATUS\0XFER_END\0XFER_ABORT\0FW_ACTIVATE\0FW_CONFIRM\0FW_STATE\0REBOOT\0"
        "EVT_FEATURE_CHANGED\0EVT_REBOOTING\0EVT_XFER_PROGRESS\0EVT_FW_TRIAL",
        opcodes, sizeof opcodes / sizeof opcodes[0], opcode);
}

/* Flags, request id and status, in the order of the checks. */
static tendon_status check_header(const tendon_obvious_frame *frame, uint8_t version) {
    bool response = (frame->flags & TENDON_OBVIOUS_RESPONSE) != 0;
    bool event = (frame->flags & TENDON_OBVIOUS_EVENT) != 0;
    bool error = (frame->flags & TENDON_OBVIOUS_ERROR) != 0;
    if (version != FRAME_VERSION) {
        return TENDON_OBVIOUS_ERROR_FRAME_BAD_VERSION;
    }
    if ((frame->flags & ~FLAGS_KNOWN) != 0 || (response && event)) {
        return TENDON_OBVIOUS_ERROR_FRAME_RESERVED;
    }
    if ((frame->corr == 0) != event) {
        return TENDON_OBVIOUS_ERROR_FRAME_BAD_CORR;
    }
    if (error != (frame->status != 0) || (error && !response)) {
        return TENDON_OBVIOUS_ERROR_FRAME_BAD_STATUS;
    }
    return TENDON_OK;
}

tendon_status tendon_obvious_decode_frame(const uint8_t *data, size_t length, size_t frame_max,
                                          tendon_obvious_frame *out) {
    if (length < TENDON_OBVIOUS_FRAME_OVERHEAD || length > frame_max) {
        return TENDON_OBVIOUS_ERROR_FRAME_BAD_LENGTH;
    }
    tendon_reader reader = tendon_reader_make(data, length);
    if (tendon_read_u8(&reader) != magic[0] || tendon_read_u8(&reader) != magic[1]) {
        return TENDON_OBVIOUS_ERROR_FRAME_BAD_MAGIC;
    }
    uint8_t version = tendon_read_u8(&reader);
    tendon_obvious_frame frame = {.flags = tendon_read_u8(&reader)};
    frame.corr = tendon_read_u16le(&reader);
    frame.opcode = tendon_read_u8(&reader);
    frame.status = tendon_read_u8(&reader);
    frame.payload_length = tendon_read_u16le(&reader);
    if (frame.payload_length + TENDON_OBVIOUS_FRAME_OVERHEAD != length) {
        return TENDON_OBVIOUS_ERROR_FRAME_BAD_LENGTH;
    }
    frame.payload = tendon_read_bytes(&reader, frame.payload_length);
    if (tendon_read_u32le(&reader) != tendon_crc32(0, data, length - CRC_SIZE)) {
        return TENDON_OBVIOUS_ERROR_FRAME_BAD_CRC;
    }
    tendon_status status = check_header(&frame, version);
    if (status == TENDON_OK) {
        *out = frame;
    }
    return status;
}

tendon_status tendon_obvious_seal_frame(const tendon_obvious_frame *frame, size_t payload_length, uint8_t *buffer,
                                        size_t capacity) {
    if (payload_length > TENDON_OBVIOUS_FRAME_MAX - TENDON_OBVIOUS_FRAME_OVERHEAD) {
        return TENDON_ERROR_BUFFER_TOO_SMALL;
    }
    tendon_writer writer = tendon_writer_make(buffer, capacity);
    tendon_write_bytes(&writer, magic, sizeof magic);
    tendon_write_u8(&writer, FRAME_VERSION);
    tendon_write_u8(&writer, frame->flags);
    tendon_write_u16le(&writer, frame->corr);
    tendon_write_u8(&writer, frame->opcode);
    tendon_write_u8(&writer, frame->status);
    tendon_write_u16le(&writer, (uint16_t)payload_length);
    /* The payload is there already. */
    if (tendon_writer_reserve(&writer, payload_length) != NULL) {
        tendon_write_u32le(&writer, tendon_crc32(0, buffer, writer.length));
    }
    return tendon_writer_result(&writer);
}
