/* SPDX-License-Identifier: MIT */
/* One table defines the fields of each payload; decoding, encoding and the checks follow it. */
#include "fields.h"
#include "tendon/devices/obvious_payload.h"

#include <string.h>

/* Permitted values of a field. */
enum {
    ANY = LIMIT_NONE,
    NONZERO = ONE_OR_MORE + LIMIT_NONE,
    ZERO = 0,
    BIT = 1,
    UP_TO_2 = 2,
    UP_TO_3 = 3,
    UP_TO_15 = 15,
    ONE = ONE_OR_MORE + 1,
    ONE_TO_2 = ONE_OR_MORE + 2,
    ONE_TO_3 = ONE_OR_MORE + 3,
    ONE_TO_5 = ONE_OR_MORE + 5,
    WINDOW = ONE_OR_MORE + TENDON_OBVIOUS_WINDOW_MAX,
    FRAME_MAX = LIMIT_FRAME_MAX,
    OBJECT_SIZE = ONE_OR_MORE + LIMIT_OBJECT_SIZE,
    VERSION = LIMIT_VERSION,
    VERSION_OR_ABSENT = LIMIT_VERSION_OR_ABSENT,
    BATTERY = LIMIT_BATTERY
};

#define INTEGER(member, limit) FIELD_INTEGER(tendon_obvious_payload, member, limit)
#define POINTER(member, count) FIELD_LENT(tendon_obvious_payload, member, count)

/* What follows the fields. */
enum { NOTHING, ECHO, DATA, MANIFEST, LIST };

/* Opcodes of requests and of events; RESPONSE is added to that of the request. */
enum { REQUESTS = 0, RESPONSE = 0x40, EVENTS = 0x80, CLASS_BITS = 0xC0 };

typedef struct shape {
    uint8_t key, fields, tail; /* fields: their number */
} shape;

/* All payloads, in the order of their fields below. LIST + n: a list whose items have n bytes. */
static const shape shapes[] = {
    {TENDON_OBVIOUS_HELLO, 6, NOTHING},
    {TENDON_OBVIOUS_GET_DEVICE_INFO, 0, NOTHING},
    {TENDON_OBVIOUS_PING, 0, ECHO},
    {TENDON_OBVIOUS_GET_NONCE, 0, NOTHING},
    {TENDON_OBVIOUS_GET_TIME, 0, NOTHING},
    {TENDON_OBVIOUS_SET_TIME, 1, NOTHING},
    {TENDON_OBVIOUS_FEATURE_STATUS, 0, LIST + 2},
    {TENDON_OBVIOUS_FEATURE_TOGGLE, 0, LIST + 3},
    {TENDON_OBVIOUS_FEATURE_COUNTER, 0, NOTHING},
    {TENDON_OBVIOUS_XFER_BEGIN, 7, MANIFEST},
    {TENDON_OBVIOUS_XFER_DATA, 2, DATA},
    {TENDON_OBVIOUS_XFER_STATUS, 1, NOTHING},
    {TENDON_OBVIOUS_XFER_END, 1, NOTHING},
    {TENDON_OBVIOUS_XFER_ABORT, 2, NOTHING},
    {TENDON_OBVIOUS_FW_ACTIVATE, 3, NOTHING},
    {TENDON_OBVIOUS_FW_CONFIRM, 2, NOTHING},
    {TENDON_OBVIOUS_FW_STATE, 0, NOTHING},
    {TENDON_OBVIOUS_REBOOT, 2, NOTHING},
    {TENDON_OBVIOUS_HELLO + RESPONSE, 5, NOTHING},
    {TENDON_OBVIOUS_GET_DEVICE_INFO + RESPONSE, 11, NOTHING},
    {TENDON_OBVIOUS_PING + RESPONSE, 0, ECHO},
    {TENDON_OBVIOUS_GET_NONCE + RESPONSE, 1, NOTHING},
    {TENDON_OBVIOUS_GET_TIME + RESPONSE, 1, NOTHING},
    {TENDON_OBVIOUS_SET_TIME + RESPONSE, 0, NOTHING},
    {TENDON_OBVIOUS_FEATURE_STATUS + RESPONSE, 0, LIST + 4},
    {TENDON_OBVIOUS_FEATURE_TOGGLE + RESPONSE, 0, LIST + 4},
    {TENDON_OBVIOUS_FEATURE_COUNTER + RESPONSE, 2, NOTHING},
    {TENDON_OBVIOUS_XFER_BEGIN + RESPONSE, 4, NOTHING},
    {TENDON_OBVIOUS_XFER_DATA + RESPONSE, 1, NOTHING},
    {TENDON_OBVIOUS_XFER_STATUS + RESPONSE, 7, NOTHING},
    {TENDON_OBVIOUS_XFER_END + RESPONSE, 3, NOTHING},
    {TENDON_OBVIOUS_XFER_ABORT + RESPONSE, 0, NOTHING},
    {TENDON_OBVIOUS_FW_ACTIVATE + RESPONSE, 0, NOTHING},
    {TENDON_OBVIOUS_FW_CONFIRM + RESPONSE, 0, NOTHING},
    {TENDON_OBVIOUS_FW_STATE + RESPONSE, 7, NOTHING},
    {TENDON_OBVIOUS_REBOOT + RESPONSE, 0, NOTHING},
    {TENDON_OBVIOUS_EVT_FEATURE_CHANGED, 0, LIST + 4},
    {TENDON_OBVIOUS_EVT_REBOOTING, 2, NOTHING},
    {TENDON_OBVIOUS_EVT_XFER_PROGRESS, 3, NOTHING},
    {TENDON_OBVIOUS_EVT_FW_TRIAL, 2, NOTHING},
};

static const field fields[] = {
    /* HELLO */
    INTEGER(hello.proto_min, NONZERO),
    INTEGER(hello.proto_max, ANY),
    INTEGER(hello.max_frame, FRAME_MAX),
    INTEGER(hello.window, WINDOW),
    INTEGER(hello.reserved, ZERO),
    POINTER(hello.nonce, 8),
    /* SET_TIME */
    INTEGER(time.time, ANY),
    /* XFER_BEGIN */
    INTEGER(begin.obj, ONE_TO_3),
    INTEGER(begin.flags, BIT),
    INTEGER(begin.chunk_max, NONZERO),
    INTEGER(begin.size, OBJECT_SIZE),
    INTEGER(begin.crc32, ANY),
    POINTER(begin.sha256, TENDON_OBVIOUS_SHA256_SIZE),
    INTEGER(begin.manifest_length, ANY),
    /* XFER_DATA */
    INTEGER(data.session, ANY),
    INTEGER(data.offset, ANY),
    /* XFER_STATUS, XFER_END, XFER_ABORT */
    INTEGER(session.session, ANY),
    INTEGER(session.session, ANY),
    INTEGER(session.session, ANY),
    INTEGER(session.reason, UP_TO_3),
    /* FW_ACTIVATE */
    INTEGER(activate.version, VERSION),
    INTEGER(activate.mode, ONE),
    INTEGER(activate.delay_100ms, ANY),
    /* FW_CONFIRM */
    INTEGER(confirm.version, VERSION),
    INTEGER(confirm.verdict, BIT),
    /* REBOOT */
    INTEGER(reboot.mode, BIT),
    INTEGER(reboot.reason, ONE_TO_3),
    /* responses: HELLO */
    INTEGER(hello_response.proto, NONZERO),
    INTEGER(hello_response.max_frame, FRAME_MAX),
    INTEGER(hello_response.window, WINDOW),
    INTEGER(hello_response.caps, ANY),
    INTEGER(hello_response.boot_id, ANY),
    /* GET_DEVICE_INFO */
    INTEGER(device_info.product, ANY),
    INTEGER(device_info.serial, ANY),
    INTEGER(device_info.fw, VERSION_OR_ABSENT),
    INTEGER(device_info.bootloader, VERSION_OR_ABSENT),
    INTEGER(device_info.stack, VERSION_OR_ABSENT),
    INTEGER(device_info.sdk, VERSION_OR_ABSENT),
    INTEGER(device_info.counter, ANY),
    INTEGER(device_info.flags, UP_TO_15),
    INTEGER(device_info.battery, BATTERY),
    INTEGER(device_info.hw_rev, ANY),
    INTEGER(device_info.key_id, ANY),
    /* GET_NONCE */
    POINTER(nonce.bytes, TENDON_OBVIOUS_NONCE_SIZE),
    /* GET_TIME */
    INTEGER(time.time, ANY),
    /* FEATURE_COUNTER */
    INTEGER(counter.counter, ANY),
    POINTER(counter.hash8, 8),
    /* XFER_BEGIN */
    INTEGER(begin_response.session, NONZERO),
    INTEGER(begin_response.offset, ANY),
    INTEGER(begin_response.chunk_max, NONZERO),
    INTEGER(begin_response.crc32, ANY),
    /* XFER_DATA */
    INTEGER(next.offset, ANY),
    /* XFER_STATUS */
    INTEGER(transfer.obj, UP_TO_3),
    INTEGER(transfer.state, UP_TO_3),
    INTEGER(transfer.session, ANY),
    INTEGER(transfer.offset, ANY),
    INTEGER(transfer.total, ANY),
    INTEGER(transfer.crc32, ANY),
    POINTER(transfer.sha256, TENDON_OBVIOUS_SHA256_SIZE),
    /* XFER_END */
    INTEGER(end.result, UP_TO_2),
    INTEGER(end.flags, BIT),
    INTEGER(end.detail, ZERO),
    /* FW_STATE */
    INTEGER(firmware.active, VERSION_OR_ABSENT),
    INTEGER(firmware.active_state, ONE_TO_2),
    INTEGER(firmware.staged, VERSION_OR_ABSENT),
    INTEGER(firmware.staged_state, UP_TO_2),
    INTEGER(firmware.rollback, VERSION_OR_ABSENT),
    INTEGER(firmware.epoch, ANY),
    INTEGER(firmware.trial_remaining_s, ANY),
    /* EVT_REBOOTING */
    INTEGER(rebooting.reason, ONE_TO_5),
    INTEGER(rebooting.delay_ms, ANY),
    /* EVT_XFER_PROGRESS */
    INTEGER(progress.session, ANY),
    INTEGER(progress.offset, ANY),
    INTEGER(progress.total, ANY),
    /* EVT_FW_TRIAL */
    INTEGER(trial.version, VERSION),
    INTEGER(trial.remaining_s, ANY),
};

/* The shape of a payload and its first field. NULL if the opcode is unknown or does not fit the type of the frame. */
static const shape *shape_of(const tendon_obvious_frame *frame, const field **first) {
    unsigned key = frame->opcode;
    if ((key & CLASS_BITS) != ((frame->flags & TENDON_OBVIOUS_EVENT) != 0 ? EVENTS : REQUESTS)) {
        return NULL;
    }
    key += (frame->flags & TENDON_OBVIOUS_RESPONSE) != 0 ? RESPONSE : 0;
    *first = fields;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (shapes[i].key == key) {
            return &shapes[i];
        }
        *first += shapes[i].fields;
    }
    return NULL;
}

/* ---- decoding ---- */

static bool feature_is_valid(tendon_obvious_feature feature, unsigned item_size) {
    if (feature.id == 0 || feature.id > TENDON_OBVIOUS_FEATURE_MAX) {
        return false;
    }
    bool on_or_off =
        feature.toggle == TENDON_OBVIOUS_TOGGLE_ACTIVATED || feature.toggle == TENDON_OBVIOUS_TOGGLE_DEACTIVATED;
    if (item_size < 4) {
        return item_size < 3 || on_or_off || feature.toggle == TENDON_OBVIOUS_TOGGLE_FLIP;
    }
    return (feature.enable <= TENDON_OBVIOUS_ENABLED || feature.enable == TENDON_OBVIOUS_ENABLE_UNKNOWN) &&
           (on_or_off || feature.toggle == TENDON_OBVIOUS_TOGGLE_UNSUPPORTED ||
            feature.toggle == TENDON_OBVIOUS_TOGGLE_UNKNOWN);
}

static tendon_status take_list(tendon_reader *reader, unsigned item_size, tendon_obvious_payload *out) {
    uint8_t count = tendon_read_u8(reader);
    if (!tendon_reader_ok(reader)) {
        return TENDON_OBVIOUS_ERROR_BAD_LENGTH;
    }
    if (count == 0 || count > TENDON_OBVIOUS_LIST_MAX) {
        return TENDON_OBVIOUS_ERROR_BAD_PARAM;
    }
    //@ split count;
    out->features.count = count;
    out->features.item_size = (uint8_t)item_size;
    out->features.items = tendon_read_bytes(reader, count * (size_t)item_size);
    if (!tendon_reader_ok(reader) || tendon_reader_remaining(reader) != 0) {
        return TENDON_OBVIOUS_ERROR_BAD_LENGTH;
    }
    for (size_t i = 0; i < count; i++) {
        if (!feature_is_valid(tendon_obvious_feature_at(out, i), item_size)) {
            return TENDON_OBVIOUS_ERROR_BAD_PARAM;
        }
    }
    return TENDON_OK;
}

/* What follows the fields. False if the length is wrong. */
static bool take_tail(uint8_t tail, tendon_reader *reader, tendon_obvious_payload *out) {
    size_t left = tendon_reader_remaining(reader);
    switch (tail) {
    case ECHO:
        out->echo.length = left;
        out->echo.data = tendon_read_bytes(reader, left);
        return left <= TENDON_OBVIOUS_PING_MAX;
    case DATA:
        out->data.length = left;
        out->data.data = tendon_read_bytes(reader, left);
        return left > 0;
    case MANIFEST:
        out->begin.manifest = tendon_read_bytes(reader, out->begin.manifest_length);
        break;
    default:
        break;
    }
    return tendon_reader_remaining(reader) == 0;
}

/* Rules for more than one field. */
static bool is_consistent(uint8_t key, const tendon_obvious_payload *out) {
    switch (key) {
    case TENDON_OBVIOUS_HELLO:
        return out->hello.proto_min <= out->hello.proto_max;
    case TENDON_OBVIOUS_XFER_BEGIN:
        return out->begin.manifest_length ==
               (out->begin.obj == TENDON_OBVIOUS_OBJECT_FIRMWARE ? TENDON_OBVIOUS_MANIFEST_SIZE : 0);
    case TENDON_OBVIOUS_XFER_STATUS + RESPONSE:
        return out->transfer.offset <= out->transfer.total;
    case TENDON_OBVIOUS_EVT_XFER_PROGRESS:
        return out->progress.offset <= out->progress.total;
    default:
        return true;
    }
}

/* The payload of a response that reports an error. */
static tendon_status take_error(const tendon_obvious_frame *frame, tendon_reader *reader, tendon_obvious_payload *out) {
    if (TENDON_STATUS(TENDON_LAYER_OBVIOUS, frame->status) == TENDON_OBVIOUS_ERROR_BAD_OFFSET) {
        out->next.offset = tendon_read_u32le(reader);
    }
    return tendon_reader_ok(reader) && tendon_reader_remaining(reader) == 0 ? TENDON_OK
                                                                            : TENDON_OBVIOUS_ERROR_BAD_LENGTH;
}

tendon_status tendon_obvious_decode_payload(const tendon_obvious_frame *frame, tendon_obvious_payload *out) {
    const field *first = NULL;
    const shape *form = shape_of(frame, &first);
    if (form == NULL) {
        return TENDON_OBVIOUS_ERROR_UNKNOWN_OPCODE;
    }
    tendon_reader reader = tendon_reader_make(frame->payload, frame->payload_length);
    if (frame->status != 0) {
        return take_error(frame, &reader, out);
    }
    if (form->tail > LIST) {
        return take_list(&reader, form->tail - (unsigned)LIST, out);
    }
    bool permitted = tendon_obvious_take_fields(first, form->fields, &reader, out);
    if (!tendon_reader_ok(&reader) || !take_tail(form->tail, &reader, out) || !tendon_reader_ok(&reader)) {
        return TENDON_OBVIOUS_ERROR_BAD_LENGTH;
    }
    return permitted && is_consistent(form->key, out) ? TENDON_OK : TENDON_OBVIOUS_ERROR_BAD_PARAM;
}

tendon_obvious_feature tendon_obvious_feature_at(const tendon_obvious_payload *payload, size_t index) {
    tendon_obvious_feature feature = {0, 0, 0};
    unsigned size = payload->features.item_size;
    if (index < payload->features.count) {
        const uint8_t *item = payload->features.items + index * size;
        feature.id = (uint16_t)(item[0] | (unsigned)item[1] << 8);
        feature.enable = size > 3 ? item[2] : 0;
        feature.toggle = size > 2 ? item[size - 1] : 0;
    }
    return feature;
}

/* ---- encoding ---- */

void tendon_obvious_put_feature(tendon_obvious_feature feature, uint8_t item_size, uint8_t *out) {
    out[0] = (uint8_t)(feature.id & 0xFFu);
    out[1] = (uint8_t)(feature.id >> 8);
    if (item_size > 3) {
        out[2] = feature.enable;
    }
    if (item_size > 2) {
        out[item_size - 1] = feature.toggle;
    }
}

static void put_tail(uint8_t tail, const tendon_obvious_payload *payload, tendon_writer *writer) {
    if (tail > LIST) {
        tendon_write_u8(writer, payload->features.count);
        tendon_write_bytes(writer, payload->features.items, payload->features.count * ((size_t)tail - LIST));
    } else if (tail == ECHO) {
        tendon_write_bytes(writer, payload->echo.data, payload->echo.length);
    } else if (tail == DATA) {
        tendon_write_bytes(writer, payload->data.data, payload->data.length);
    } else if (tail == MANIFEST) {
        tendon_write_bytes(writer, payload->begin.manifest, payload->begin.manifest_length);
    }
}

tendon_status tendon_obvious_encode_frame(const tendon_obvious_frame *frame, const tendon_obvious_payload *payload,
                                          uint8_t *out, size_t capacity) {
    const field *first = NULL;
    const shape *form = shape_of(frame, &first);
    if (form == NULL) {
        return TENDON_OBVIOUS_ERROR_UNKNOWN_OPCODE;
    }
    tendon_writer writer = tendon_writer_make(out, capacity);
    (void)tendon_writer_reserve(&writer, TENDON_OBVIOUS_FRAME_HEADER);
    if (frame->status == 0) {
        tendon_obvious_put_fields(first, form->fields, payload, &writer);
        put_tail(form->tail, payload, &writer);
    } else if (TENDON_STATUS(TENDON_LAYER_OBVIOUS, frame->status) == TENDON_OBVIOUS_ERROR_BAD_OFFSET) {
        tendon_write_u32le(&writer, payload->next.offset);
    }
    if (writer.status != TENDON_OK) {
        return writer.status;
    }
    /* What was written must be what a decoder accepts. */
    tendon_obvious_frame made = *frame;
    tendon_obvious_payload again;
    made.payload = out + TENDON_OBVIOUS_FRAME_HEADER;
    made.payload_length = writer.length - TENDON_OBVIOUS_FRAME_HEADER;
    tendon_status status = tendon_obvious_decode_payload(&made, &again);
    return status < 0 ? status : tendon_obvious_seal_frame(frame, made.payload_length, out, capacity);
}
