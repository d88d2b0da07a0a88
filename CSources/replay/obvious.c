/* SPDX-License-Identifier: MIT */
/* The receiver of the sessions puts the messages of both directions together again; what it would acknowledge is
 * discarded. */
#include "family.h"

#include "tendon/base/packed.h"

const char *tendon_replay_opcode_name(uint8_t opcode) {
    static const uint16_t numbers[] = {TENDON_OBVIOUS_HELLO,
                                       TENDON_OBVIOUS_GET_DEVICE_INFO,
                                       TENDON_OBVIOUS_PING,
                                       TENDON_OBVIOUS_GET_NONCE,
                                       TENDON_OBVIOUS_GET_TIME,
                                       TENDON_OBVIOUS_SET_TIME,
                                       TENDON_OBVIOUS_FEATURE_STATUS,
                                       TENDON_OBVIOUS_FEATURE_TOGGLE,
                                       TENDON_OBVIOUS_FEATURE_COUNTER,
                                       TENDON_OBVIOUS_XFER_BEGIN,
                                       TENDON_OBVIOUS_XFER_DATA,
                                       TENDON_OBVIOUS_XFER_STATUS,
                                       TENDON_OBVIOUS_XFER_END,
                                       TENDON_OBVIOUS_XFER_ABORT,
                                       TENDON_OBVIOUS_FW_ACTIVATE,
                                       TENDON_OBVIOUS_FW_CONFIRM,
                                       TENDON_OBVIOUS_FW_STATE,
                                       TENDON_OBVIOUS_REBOOT,
                                       TENDON_OBVIOUS_EVT_FEATURE_CHANGED,
                                       TENDON_OBVIOUS_EVT_REBOOTING,
                                       TENDON_OBVIOUS_EVT_XFER_PROGRESS,
                                       TENDON_OBVIOUS_EVT_FW_TRIAL};
    return tendon_packed_string("HELLO\0GET_DEVICE_INFO\0PING\0GET_NONCE\0GET_TIME\0SET_TIME\0FEATURE_STATUS\0"
                                "FEATURE_TOGGLE\0FEATURE_COUNTER\0XFER_BEGIN\0XFER_DATA\0XFER_STATUS\0XFER_END\0"
                                "XFER_ABORT\0FW_ACTIVATE\0FW_CONFIRM\0FW_STATE\0REBOOT\0EVT_FEATURE_CHANGED\0"
                                "EVT_REBOOTING\0EVT_XFER_PROGRESS\0EVT_FW_TRIAL",
                                numbers, sizeof numbers / sizeof numbers[0], opcode);
}

static bool recognizes(const tendon_definition *definition, const tendon_uuid *characteristic) {
    (void)definition;
    return tendon_uuid_equal(&tendon_obvious_gatt_ogp.data, characteristic) ||
           tendon_uuid_equal(&tendon_obvious_gatt_ogp.status, characteristic);
}

/* ---- messages ---- */

typedef struct ogp_message {
    tendon_obvious_frame frame;
    tendon_obvious_payload payload;
} ogp_message;

static bool is_response(const ogp_message *message) {
    return (message->frame.flags & TENDON_OBVIOUS_RESPONSE) != 0;
}

static void put_features(tendon_line *line, const tendon_obvious_payload *payload) {
    tendon_line_open_array(line, "features");
    for (size_t i = 0; i < payload->features.count; i++) {
        const tendon_obvious_feature feature = tendon_obvious_feature_at(payload, i);
        tendon_line_open_object(line, NULL);
        if (payload->features.item_size == 4) {
            tendon_obvious_received_members(line, &feature);
        } else {
            tendon_line_integer(line, "feature", feature.id);
        }
        tendon_line_close_object(line);
    }
    tendon_line_close_array(line);
}

/* What people look for in a capture. */
static void put_payload(tendon_line *line, const ogp_message *message) {
    const tendon_obvious_payload *payload = &message->payload;
    bool responds = is_response(message);
    switch (message->frame.opcode) {
    case TENDON_OBVIOUS_FEATURE_STATUS:
    case TENDON_OBVIOUS_FEATURE_TOGGLE:
    case TENDON_OBVIOUS_EVT_FEATURE_CHANGED:
        put_features(line, payload);
        break;
    case TENDON_OBVIOUS_GET_DEVICE_INFO:
        if (responds) {
            tendon_line_numeral(line, "product", payload->device_info.product);
            tendon_obvious_serial_member(line, payload->device_info.serial);
            tendon_obvious_firmware_member(line, payload->device_info.fw);
        }
        break;
    case TENDON_OBVIOUS_XFER_BEGIN:
        if (!responds) {
            tendon_line_integer(line, "total_bytes", payload->begin.size);
        }
        break;
    case TENDON_OBVIOUS_XFER_DATA:
        if (!responds) {
            tendon_line_integer(line, "offset", payload->data.offset);
            tendon_line_count(line, "length", payload->data.length);
        }
        break;
    case TENDON_OBVIOUS_EVT_XFER_PROGRESS:
        tendon_line_integer(line, "offset", payload->progress.offset);
        tendon_line_integer(line, "total_bytes", payload->progress.total);
        break;
    case TENDON_OBVIOUS_FW_STATE:
        if (responds) {
            tendon_obvious_firmware_member(line, payload->firmware.active);
        }
        break;
    default:
        break;
    }
}

static void put_message(const tendon_replay_line *one, tendon_line *line) {
    const ogp_message *message = one->decoded;
    bool is_event = (message->frame.flags & TENDON_OBVIOUS_EVENT) != 0;
    const char *name = tendon_replay_opcode_name(message->frame.opcode);
    tendon_line_word(line, "opcode", name != NULL ? name : "");
    tendon_line_word(line, "kind", is_event ? "event" : is_response(message) ? "response" : "request");
    tendon_line_integer(line, "corr", message->frame.corr);
    if (is_response(message)) {
        tendon_status status = tendon_obvious_status_from_wire(message->frame.status);
        tendon_line_word(line, "status", status < 0 ? tendon_obvious_status_name(status) : "OK");
    }
    if (message->frame.status == 0) {
        put_payload(line, message);
    }
}

static void put_feature(const tendon_replay_line *one, tendon_line *line) {
    tendon_obvious_feature_members(line, one->decoded);
}

/* Features whose states the device reports. */
static void tell_features(const replay_taking *to, const ogp_message *message) {
    const tendon_obvious_payload *payload = &message->payload;
    bool is_of_device = (message->frame.flags & (TENDON_OBVIOUS_RESPONSE | TENDON_OBVIOUS_EVENT)) != 0;
    switch (message->frame.opcode) {
    case TENDON_OBVIOUS_FEATURE_STATUS:
    case TENDON_OBVIOUS_FEATURE_TOGGLE:
    case TENDON_OBVIOUS_EVT_FEATURE_CHANGED:
        for (size_t i = 0; is_of_device && message->frame.status == 0 && payload->features.item_size == 4 &&
                           i < payload->features.count;
             i++) {
            const tendon_obvious_feature feature = tendon_obvious_feature_at(payload, i);
            tendon_replay_tell(to, "feature", put_feature, &feature);
        }
        break;
    default:
        break;
    }
}

/* ---- the receiver ---- */

static void on_error(void *context, tendon_status status) {
    tendon_replay *replay = context;
    switch (status) {
    case TENDON_OBVIOUS_ERROR_SEG_DUP: /* a lossy radio repeats and reorders */
    case TENDON_OBVIOUS_ERROR_SEG_STALE:
    case TENDON_OBVIOUS_ERROR_SEG_WINDOW:
        replay->skipped++;
        break;
    default:
        tendon_replay_malformed(replay->taking, status, 0);
    }
}

static bool on_message(void *context, const uint8_t *frame, size_t length, uint64_t now) {
    tendon_replay *replay = context;
    ogp_message message;
    (void)now;
    memset(&message, 0, sizeof message);
    tendon_status status = tendon_obvious_decode_frame(frame, length, TENDON_OBVIOUS_FRAME_MAX, &message.frame);
    if (status >= 0) {
        status = tendon_obvious_decode_payload(&message.frame, &message.payload);
    }
    if (status < 0) {
        on_error(replay, status);
        return true;
    }
    replay->samples++;
    tendon_replay_tell(replay->taking, "ogp", put_message, &message);
    tell_features(replay->taking, &message);
    return true;
}

static void on_control(void *context, const tendon_obvious_control *control, uint64_t now) {
    (void)context;
    (void)control;
    (void)now;
}

static void discard(void *context, const uint8_t control[TENDON_OBVIOUS_CONTROL_SIZE]) {
    (void)context;
    (void)control;
}

/* The capture's own limits are not known. */
static void init(tendon_replay *replay) {
    static const tendon_obvious_receiver_handler handler = {on_message, on_error, on_control, discard};
    for (size_t i = 0; i < 2; i++) {
        tendon_obvious_receiver *receiver = &replay->of.obvious[i].receiver;
        tendon_obvious_receiver_init(receiver, replay->of.obvious[i].memory, TENDON_OBVIOUS_RECEIVER_MEMORY, &handler,
                                     replay);
        tendon_obvious_receiver_set_mtu(receiver, 517);
        tendon_obvious_receiver_set_limits(receiver, TENDON_OBVIOUS_WINDOW_MAX, TENDON_OBVIOUS_FRAME_MAX);
    }
}

/* ---- values ---- */

static void put_flags(const tendon_replay_line *one, tendon_line *line) {
    tendon_line_word(line, "protocol", "OGP/1");
    tendon_line_integer(line, "flags", *(const uint16_t *)one->decoded);
}

static void put_battery(const tendon_replay_line *one, tendon_line *line) {
    tendon_line_integer(line, "battery_percent", one->value->bytes[0]);
}

static void take(const replay_taking *to) {
    const tendon_replay_value *value = to->value;
    if (tendon_uuid_equal(&tendon_obvious_gatt_ogp.data, value->characteristic)) {
        to->replay->notifications++;
        tendon_obvious_receiver_segment(&to->replay->of.obvious[value->is_written].receiver, value->bytes,
                                        value->length, value->now);
    } else if (tendon_uuid_equal(&tendon_obvious_gatt_ogp.status, value->characteristic)) {
        uint16_t flags;
        tendon_status status = tendon_obvious_decode_profile(value->bytes, value->length, &flags);
        if (status < 0) {
            on_error(to->replay, status);
        } else {
            tendon_replay_tell(to, "protocol", put_flags, &flags);
        }
    } else if (tendon_replay_number(value->characteristic) == REPLAY_BATTERY_LEVEL && value->length > 0) {
        tendon_replay_tell(to, "battery", put_battery, NULL);
    }
}

const tendon_replay_family tendon_obvious_replay = {&tendon_obvious_family, recognizes, init, take, NULL};
