/* SPDX-License-Identifier: MIT */
/* btsnoop on bytes. All integers are big-endian. */
#include "tendon/tools/capture.h"

#include <string.h>

static const uint8_t magic[8] = {'b', 't', 's', 'n', 'o', 'o', 'p', '\0'};

enum { VERSION = 1, FLAG_INCOMING = 1, FLAG_CONTROL = 2 };

/** Microseconds from the year 0, where btsnoop starts to count, to 1970. */
#define EPOCH_US 0x00DCDDB30F2F8000u

/* Opcodes of the kernel's monitor channel that carry HCI packets (include/net/bluetooth/hci_mon.h). */
static const struct {
    uint8_t opcode, type;
    bool incoming;
} monitor_packets[] = {
    {2, TENDON_HCI_PACKET_COMMAND, false}, {3, TENDON_HCI_PACKET_EVENT, true}, {4, TENDON_HCI_PACKET_ACL, false},
    {5, TENDON_HCI_PACKET_ACL, true},      {6, TENDON_HCI_PACKET_SCO, false},  {7, TENDON_HCI_PACKET_SCO, true},
    {18, TENDON_HCI_PACKET_ISO, false},    {19, TENDON_HCI_PACKET_ISO, true},
};
#define MONITOR_PACKETS (sizeof monitor_packets / sizeof monitor_packets[0])

int tendon_capture_monitor_opcode(uint8_t type, bool incoming) {
    for (size_t i = 0; i < MONITOR_PACKETS; i++) {
        if (monitor_packets[i].type == type && monitor_packets[i].incoming == incoming) {
            return monitor_packets[i].opcode;
        }
    }
    return -1;
}

uint8_t tendon_capture_monitor_type(uint16_t opcode, bool *incoming) {
    for (size_t i = 0; i < MONITOR_PACKETS; i++) {
        if (monitor_packets[i].opcode == opcode) {
            *incoming = monitor_packets[i].incoming;
            return monitor_packets[i].type;
        }
    }
    *incoming = false;
    return 0;
}

static tendon_status fail(size_t *offset, size_t where, tendon_status status) {
    if (offset != NULL) {
        *offset = where;
    }
    return status;
}

tendon_status tendon_capture_encode_header(uint32_t datalink, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, magic, sizeof magic);
    tendon_write_u32be(&writer, VERSION);
    tendon_write_u32be(&writer, datalink);
    return tendon_writer_result(&writer);
}

tendon_status tendon_capture_decode_header(const uint8_t *bytes, size_t length, uint32_t *datalink, size_t *offset) {
    for (size_t i = 0; i < sizeof magic && i < length; i++) {
        if (bytes[i] != magic[i]) {
            return fail(offset, i, TENDON_ERROR_MALFORMED);
        }
    }
    if (length < TENDON_CAPTURE_HEADER_SIZE) {
        return fail(offset, length, TENDON_ERROR_INCOMPLETE);
    }
    tendon_reader reader = tendon_reader_make(bytes + sizeof magic, 8);
    uint32_t version = tendon_read_u32be(&reader);
    *datalink = tendon_read_u32be(&reader);
    if (version != VERSION) {
        return fail(offset, 8, TENDON_ERROR_UNSUPPORTED);
    }
    if (*datalink != TENDON_CAPTURE_H1 && *datalink != TENDON_CAPTURE_H4 && *datalink != TENDON_CAPTURE_MONITOR) {
        return fail(offset, 12, TENDON_ERROR_UNSUPPORTED);
    }
    return TENDON_OK;
}

static bool is_control(uint8_t type) {
    return type == TENDON_HCI_PACKET_COMMAND || type == TENDON_HCI_PACKET_EVENT;
}

tendon_status tendon_capture_encode_record(uint32_t datalink, const tendon_capture_record *record, uint8_t *out,
                                           size_t capacity) {
    const uint32_t h4 = datalink == TENDON_CAPTURE_H4 ? 1 : 0;
    size_t original = record->original_length > record->length ? record->original_length : record->length;
    uint32_t flags = (record->incoming ? FLAG_INCOMING : 0u) | (is_control(record->type) ? FLAG_CONTROL : 0u);
    if (datalink == TENDON_CAPTURE_MONITOR) {
        int opcode = record->type == 0 ? record->opcode : tendon_capture_monitor_opcode(record->type, record->incoming);
        if (opcode < 0) {
            return TENDON_ERROR_INVALID_ARGUMENT;
        }
        flags = (uint32_t)record->adapter << 16 | (uint32_t)opcode;
    } else if (record->type == 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (original + h4 > TENDON_CAPTURE_PACKET_LIMIT) {
        return TENDON_ERROR_OVERFLOW;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_u32be(&writer, (uint32_t)original + h4);
    tendon_write_u32be(&writer, (uint32_t)record->length + h4);
    tendon_write_u32be(&writer, flags);
    tendon_write_u32be(&writer, record->drops);
    uint64_t time = record->unix_us + EPOCH_US;
    tendon_write_u32be(&writer, (uint32_t)(time >> 32));
    tendon_write_u32be(&writer, (uint32_t)(time & 0xFFFFFFFFu));
    if (h4 != 0) {
        tendon_write_u8(&writer, record->type);
    }
    return tendon_writer_result(&writer);
}

/** Sets the packet type, according to the datalink. */
static void classify(uint32_t datalink, uint32_t flags, tendon_capture_record *out) {
    out->incoming = (flags & FLAG_INCOMING) != 0;
    if (datalink == TENDON_CAPTURE_MONITOR) {
        out->adapter = (uint16_t)(flags >> 16);
        out->opcode = (uint16_t)(flags & 0xFFFFu);
        out->type = tendon_capture_monitor_type(out->opcode, &out->incoming);
    } else if (datalink == TENDON_CAPTURE_H4) {
        /* Controllers and phones log records of their own among the packets: those have type 0. */
        if (out->length == 0 || out->data[0] < TENDON_HCI_PACKET_COMMAND || out->data[0] > TENDON_HCI_PACKET_ISO) {
            return;
        }
        out->type = out->data[0];
        out->data++;
        out->length--;
        out->original_length--;
    } else if ((flags & FLAG_CONTROL) != 0) {
        out->type = out->incoming ? TENDON_HCI_PACKET_EVENT : TENDON_HCI_PACKET_COMMAND;
    } else {
        out->type = TENDON_HCI_PACKET_ACL;
    }
}

tendon_status tendon_capture_decode_record(uint32_t datalink, const uint8_t *bytes, size_t length,
                                           tendon_capture_record *out, size_t *offset) {
    tendon_reader reader = tendon_reader_make(bytes, length);
    memset(out, 0, sizeof *out);
    uint32_t original = tendon_read_u32be(&reader);
    uint32_t included = tendon_read_u32be(&reader);
    uint32_t flags = tendon_read_u32be(&reader);
    out->drops = tendon_read_u32be(&reader);
    uint64_t time = tendon_read_u64be(&reader);
    /* The lengths are looked at as soon as they are there: a wrong one would have us wait for bytes without end. */
    if (length >= 8 && (included > original || original > TENDON_CAPTURE_PACKET_LIMIT)) {
        return fail(offset, included > original ? 4 : 0, TENDON_ERROR_MALFORMED);
    }
    if (!tendon_reader_ok(&reader)) {
        return fail(offset,
                    length >= 8 ? TENDON_CAPTURE_RECORD_HEADER_SIZE + included : TENDON_CAPTURE_RECORD_HEADER_SIZE,
                    TENDON_ERROR_INCOMPLETE);
    }
    out->data = tendon_read_bytes(&reader, included);
    if (out->data == NULL) {
        return fail(offset, TENDON_CAPTURE_RECORD_HEADER_SIZE + included, TENDON_ERROR_INCOMPLETE);
    }
    out->length = included;
    out->original_length = original;
    out->unix_us = time > EPOCH_US ? time - EPOCH_US : 0;
    classify(datalink, flags, out);
    return (tendon_status)reader.position;
}
