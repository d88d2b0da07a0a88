/* SPDX-License-Identifier: MIT */
#include "tendon/host/hci.h"

tendon_status tendon_acl_decode(const uint8_t *packet, size_t length, tendon_acl *out, size_t *offset) {
    tendon_reader reader = tendon_reader_make(packet, length);
    *out = (tendon_acl){0};
    uint16_t head = tendon_read_u16le(&reader);
    uint16_t stated = tendon_read_u16le(&reader);
    const uint8_t *data = tendon_read_bytes(&reader, stated);
    if (tendon_reader_ok(&reader) && tendon_reader_remaining(&reader) > 0) {
        reader.status = TENDON_ERROR_MALFORMED;
        reader.error_offset = reader.position;
    }
    if (!tendon_reader_ok(&reader)) {
        if (offset != NULL) {
            *offset = reader.error_offset;
        }
        return reader.status;
    }
    out->handle = head & 0x0FFFu;
    out->boundary = head >> 12 & 3u;
    out->broadcast = (uint8_t)(head >> 14);
    out->data = data;
    out->length = stated;
    return TENDON_OK;
}

tendon_status tendon_l2cap_reassembler_init(tendon_l2cap_reassembler *reassembler, tendon_l2cap_stream *streams,
                                            size_t capacity) {
    if (streams == NULL || capacity == 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    *reassembler = (tendon_l2cap_reassembler){streams, capacity, 0, 0, 0, 0};
    for (size_t i = 0; i < capacity; i++) {
        streams[i].used = false;
    }
    return TENDON_OK;
}

static tendon_l2cap_stream *find_stream(tendon_l2cap_reassembler *reassembler, uint16_t handle, bool incoming) {
    for (size_t i = 0; i < reassembler->capacity; i++) {
        tendon_l2cap_stream *stream = &reassembler->streams[i];
        if (stream->used && stream->handle == handle && stream->incoming == incoming) {
            return stream;
        }
    }
    return NULL;
}

/* A free stream, or the one that was touched longest ago. */
static tendon_l2cap_stream *new_stream(tendon_l2cap_reassembler *reassembler) {
    tendon_l2cap_stream *stream = &reassembler->streams[0];
    for (size_t i = 1; i < reassembler->capacity && stream->used; i++) {
        tendon_l2cap_stream *other = &reassembler->streams[i];
        if (!other->used || other->touched < stream->touched) {
            stream = other;
        }
    }
    if (stream->used) {
        reassembler->evicted++;
    }
    return stream;
}

static tendon_l2cap_stream *start_stream(tendon_l2cap_reassembler *reassembler, const tendon_acl *acl, bool incoming) {
    tendon_l2cap_stream *stream = find_stream(reassembler, acl->handle, incoming);
    if (stream == NULL) {
        stream = new_stream(reassembler);
    } else if (!stream->skipping) {
        reassembler->malformed++; /* the incomplete frame never receives its end */
    }
    stream->used = true;
    stream->handle = acl->handle;
    stream->incoming = incoming;
    stream->skipping = false;
    stream->length = 0;
    return stream;
}

static tendon_status drop(tendon_l2cap_reassembler *reassembler, tendon_l2cap_stream *stream, tendon_status why) {
    if (stream != NULL) {
        stream->used = false;
    }
    reassembler->malformed++;
    return why;
}

/* Copies what fits into the stream: all that a valid frame can have. Each place is checked where it is written. */
static void append(tendon_l2cap_stream *stream, const tendon_acl *acl) {
    for (size_t i = 0; i < acl->length && stream->length < sizeof(stream->bytes); i++) {
        stream->bytes[stream->length++] = acl->data[i];
    }
}

tendon_status tendon_l2cap_feed(tendon_l2cap_reassembler *reassembler, const tendon_acl *acl, bool incoming,
                                tendon_l2cap_frame *out) {
    bool begins = acl->boundary == TENDON_ACL_START_HOST || acl->boundary == TENDON_ACL_START_CONTROLLER;
    tendon_l2cap_stream *stream = NULL;
    if (begins && acl->length > 0) {
        stream = start_stream(reassembler, acl, incoming);
    } else if (acl->boundary == TENDON_ACL_CONTINUE) {
        stream = find_stream(reassembler, acl->handle, incoming);
    }
    if (stream == NULL) {
        return drop(reassembler, NULL, TENDON_ERROR_MALFORMED);
    }
    stream->touched = ++reassembler->clock;
    if (stream->skipping) {
        return TENDON_ERROR_INCOMPLETE;
    }
    size_t offered = stream->length + acl->length;
    append(stream, acl);
    if (stream->length < TENDON_L2CAP_HEADER_SIZE) {
        return TENDON_ERROR_INCOMPLETE;
    }
    tendon_reader reader = tendon_reader_make(stream->bytes, stream->length);
    size_t declared = tendon_read_u16le(&reader);
    uint16_t cid = tendon_read_u16le(&reader);
    if (declared > TENDON_L2CAP_PAYLOAD_MAX) {
        stream->skipping = true; /* until the next start */
        reassembler->malformed++;
        return TENDON_ERROR_OVERFLOW;
    }
    if (offered > declared + TENDON_L2CAP_HEADER_SIZE) {
        return drop(reassembler, stream, TENDON_ERROR_MALFORMED);
    }
    if (offered < declared + TENDON_L2CAP_HEADER_SIZE) {
        return TENDON_ERROR_INCOMPLETE;
    }
    stream->used = false;
    reassembler->frames++;
    *out = (tendon_l2cap_frame){acl->handle, incoming, cid, stream->bytes + TENDON_L2CAP_HEADER_SIZE, declared};
    return TENDON_OK;
}

void tendon_l2cap_forget(tendon_l2cap_reassembler *reassembler, uint16_t handle) {
    for (size_t i = 0; i < reassembler->capacity; i++) {
        if (reassembler->streams[i].handle == handle) {
            reassembler->streams[i].used = false;
        }
    }
}
