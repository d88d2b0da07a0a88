/* SPDX-License-Identifier: MIT */
#include "family.h"

static bool recognizes(const tendon_definition *definition, const tendon_uuid *characteristic) {
    (void)definition;
    switch (tendon_activ5_characteristic_of(characteristic)) {
    case TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN:
    case TENDON_ACTIV5_BATTERY:
    case TENDON_ACTIV5_SERIAL_NUMBER:
        return false;
    default:
        return true;
    }
}

/* ---- lines ---- */

static tendon_status write_event(const tendon_replay_line *one, tendon_line *line, const tendon_line_device *device,
                                 uint64_t wall_us) {
    return tendon_activ5_line(line, device, wall_us, one->decoded);
}

static bool view_event(const tendon_replay_line *one, tendon_replay_numbers *out) {
    const tendon_activ5_event *event = one->decoded;
    if (event->kind == TENDON_ACTIV5_EVENT_IMU) {
        out->device_time_ms = event->message->imu.timestamp * 1000;
    }
    return event->kind != TENDON_ACTIV5_EVENT_BATTERY && tendon_activ5_view(&out->view, event);
}

static void emit(const replay_taking *to, tendon_activ5_event_kind kind, const tendon_activ5_message *message,
                 bool on) {
    tendon_activ5_event event = {.kind = kind, .message = message, .on = on};
    tendon_replay_emit(to, (tendon_replay_line){.write = write_event, .view = view_event, .decoded = &event});
}

static void put_text(const tendon_replay_line *one, tendon_line *line) {
    const tendon_activ5_message *message = one->decoded;
    tendon_line_word(line, "message", tendon_activ5_message_type_name(message->type));
    tendon_line_text(line, "content", (const char *)message->text, message->text_length);
}

/* Without the first byte and the terminator. */
static void put_command(const tendon_replay_line *one, tendon_line *line) {
    size_t length = one->value->length > 2 ? one->value->length - 2 : 0;
    tendon_line_text(line, "command", length > 0 ? (const char *)one->value->bytes + 1 : NULL, length);
}

static void put_rate(const tendon_replay_line *one, tendon_line *line) {
    tendon_reader reader = tendon_reader_make(one->value->bytes, one->value->length);
    tendon_line_integer(line, "rate_hz", (int16_t)tendon_read_u16le(&reader));
}

/* ---- values ---- */

static void take_force(const replay_taking *to, const tendon_activ5_message *message) {
    const tendon_activ5_squeeze_config config = tendon_activ5_squeeze_defaults();
    emit(to, TENDON_ACTIV5_EVENT_ISOMETRIC, message, false);
    unsigned effects =
        tendon_activ5_squeeze_sample(&to->replay->of.activ5.squeeze, &config, message->newtons, to->value->now);
    if ((effects & TENDON_ACTIV5_SQUEEZE_SQUEEZED) != 0) {
        emit(to, TENDON_ACTIV5_EVENT_SQUEEZE, NULL, true);
    }
    if ((effects & TENDON_ACTIV5_SQUEEZE_DEPRESSED) != 0) {
        emit(to, TENDON_ACTIV5_EVENT_SQUEEZE, NULL, false);
    }
    if ((effects & TENDON_ACTIV5_SQUEEZE_DOUBLE) != 0) {
        emit(to, TENDON_ACTIV5_EVENT_DOUBLE_SQUEEZE, NULL, false);
    }
}

static void on_message(void *context, tendon_status status, const tendon_activ5_message *message, uint64_t now) {
    const replay_taking *to = context;
    (void)now;
    if (status < 0) {
        tendon_replay_malformed(to, status, 0);
    } else if (message->type == TENDON_ACTIV5_MESSAGE_ISOMETRIC || message->type == TENDON_ACTIV5_MESSAGE_IMU) {
        to->replay->notifications++;
        to->replay->samples++;
        if (message->type == TENDON_ACTIV5_MESSAGE_IMU) {
            emit(to, TENDON_ACTIV5_EVENT_IMU, message, false);
        } else {
            take_force(to, message);
        }
    } else if (message->type == TENDON_ACTIV5_MESSAGE_BATTERY) {
        emit(to, TENDON_ACTIV5_EVENT_BATTERY, message, false);
    } else {
        tendon_replay_tell(to, "message", put_text, message);
    }
}

static void take(const replay_taking *to) {
    const tendon_replay_value *value = to->value;
    tendon_activ5_characteristic which = tendon_activ5_characteristic_of(value->characteristic);
    if (value->is_written && which == TENDON_ACTIV5_TEXT_COMMAND) {
        tendon_replay_tell(to, "command", put_command, NULL);
    } else if (value->is_written && which == TENDON_ACTIV5_SAMPLE_RATE && value->length == 2) {
        tendon_replay_tell(to, "sample_rate", put_rate, NULL);
    } else if (value->is_written) {
        return;
    } else if (which == TENDON_ACTIV5_TEXT_OUTPUT) {
        tendon_activ5_deframer_feed(&to->replay->of.activ5.deframer, value->bytes, value->length, value->now,
                                    on_message, (void *)to);
    } else {
        tendon_activ5_message message;
        on_message((void *)to, tendon_activ5_parse_value(which, value->bytes, value->length, &message), &message, 0);
    }
}

const tendon_replay_family tendon_activ5_replay = {&tendon_activ5_family, recognizes, NULL, take, NULL};
