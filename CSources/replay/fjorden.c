/* SPDX-License-Identifier: MIT */
#include "family.h"

static void init(tendon_replay *replay) {
    tendon_fjorden_profile_init(&replay->of.fjorden.profile);
}

static bool is_one_of(const tendon_fjorden_profile *profile, const tendon_uuid *characteristic) {
    return tendon_uuid_equal(&profile->event, characteristic) || tendon_uuid_equal(&profile->state, characteristic) ||
           tendon_uuid_equal(&profile->control, characteristic);
}

static bool recognizes(const tendon_definition *definition, const tendon_uuid *characteristic) {
    (void)definition;
    tendon_fjorden_profile profile;
    tendon_fjorden_profile_init(&profile);
    return is_one_of(&profile, characteristic);
}

/* ---- lines ---- */

static tendon_status write_event(const tendon_replay_line *one, tendon_line *line, const tendon_line_device *device,
                                 uint64_t wall_us) {
    return tendon_fjorden_line(line, device, wall_us, one->decoded);
}

static void emit(const replay_taking *to, const tendon_fjorden_session_event *event) {
    tendon_replay_emit(to, (tendon_replay_line){.write = write_event, .decoded = event});
}

static void put_state(const tendon_replay_line *one, tendon_line *line) {
    const tendon_fjorden_control_state *state = one->decoded;
    tendon_line_word(line, "shutter", tendon_packed_name("released\0half\0full", 3, state->shutter));
    tendon_line_bool(line, "dial_pressed", state->dial_pressed);
    tendon_line_bool(line, "fn_pressed", state->fn_pressed);
    tendon_line_word(line, "lever", state->lever < 0 ? "left" : state->lever > 0 ? "right" : "neutral");
    tendon_line_integer(line, "dial_position", state->dial_position);
}

/* ---- values ---- */

static tendon_status take_events(const replay_taking *to) {
    tendon_fjorden_stream *stream = &to->replay->of.fjorden.stream;
    tendon_fjorden_records records;
    tendon_fjorden_record record;
    uint64_t skipped = stream->duplicates + stream->out_of_order;
    tendon_status status = tendon_fjorden_stream_begin(stream, &records, &to->replay->of.fjorden.profile,
                                                       to->value->bytes, to->value->length);
    if (status < 0) {
        return status;
    }
    to->replay->notifications++;
    while (tendon_fjorden_stream_next(stream, &records, &record)) {
        const tendon_fjorden_session_event event = {.kind = TENDON_FJORDEN_SESSION_EVENT_EVENT, .record = &record};
        if (record.status < 0) {
            tendon_replay_malformed(to, record.status, 0);
        } else {
            to->replay->samples++;
            emit(to, &event);
        }
    }
    to->replay->skipped += stream->duplicates + stream->out_of_order - skipped;
    return status;
}

static tendon_status take_state(const replay_taking *to) {
    tendon_fjorden_control_state state;
    tendon_status status = tendon_fjorden_decode_control_state(to->value->bytes, to->value->length, &state);
    if (status >= 0) {
        tendon_replay_tell(to, "control_state", put_state, &state);
    }
    return status;
}

static tendon_status take_battery(const replay_taking *to) {
    tendon_status level = tendon_fjorden_decode_battery(to->value->bytes, to->value->length);
    if (level >= 0) {
        emit(to,
             &(tendon_fjorden_session_event){.kind = TENDON_FJORDEN_SESSION_EVENT_BATTERY, .level = (uint8_t)level});
    }
    return level;
}

static void take(const replay_taking *to) {
    const tendon_fjorden_profile *profile = &to->replay->of.fjorden.profile;
    const tendon_uuid *characteristic = to->value->characteristic;
    tendon_status status = TENDON_OK;
    if (tendon_replay_number(characteristic) == REPLAY_BATTERY_LEVEL) {
        status = take_battery(to);
    } else if (tendon_uuid_equal(&profile->event, characteristic)) {
        status = take_events(to);
    } else if (tendon_uuid_equal(&profile->state, characteristic)) {
        status = take_state(to);
    } else if (tendon_uuid_equal(&profile->control, characteristic)) {
        tendon_replay_tell_bytes(to, to->value->is_written ? "command" : "response", NULL, NULL);
    }
    if (status < 0) {
        tendon_replay_malformed(to, status, 0);
    }
}

const tendon_replay_family tendon_fjorden_replay = {&tendon_fjorden_family, recognizes, init, take, NULL};
