/* SPDX-License-Identifier: MIT */
#include "tendon/devices/fjorden_stream.h"

#include "names.h"
#include "tendon/base/packed.h"

enum { OUT_OF_ORDER_FROM = 128 };

/* ---- profile ---- */

/* b3d8XXXX-92de-4c91-b591-abffcba8daf2 */
static tendon_uuid grip_uuid(uint16_t number) {
    tendon_uuid uuid = {{0xb3, 0xd8, (uint8_t)(number >> 8), (uint8_t)(number & 0xFF), 0x92, 0xde, 0x4c, 0x91, 0xb5,
                         0x91, 0xab, 0xff, 0xcb, 0xa8, 0xda, 0xf2}};
    return uuid;
}

void tendon_grip_profile_identity(tendon_fjorden_profile *profile) {
    memcpy(profile->name_prefix, TENDON_FJORDEN_NAME_PREFIX, sizeof TENDON_FJORDEN_NAME_PREFIX);
    profile->service = grip_uuid(1);
}

void tendon_fjorden_profile_init(tendon_fjorden_profile *profile) {
    memset(profile, 0, sizeof *profile);
    tendon_grip_profile_identity(profile);
    profile->event = grip_uuid(2);
    profile->state = grip_uuid(3);
    profile->control = grip_uuid(4);
    profile->has_state = profile->has_control = true;
    profile->format = TENDON_FJORDEN_RECORD5;
    for (unsigned code = 1; code < sizeof profile->codes; code++) {
        profile->codes[code] = tendon_fjorden_event_known((uint8_t)code) ? (uint8_t)code : TENDON_FJORDEN_UNKNOWN;
    }
}

bool tendon_fjorden_profile_matches_name(const tendon_fjorden_profile *profile, const char *name, size_t length) {
    size_t prefix = tendon_string_length(profile->name_prefix);
    return prefix > 0 && length >= prefix && memcmp(name, profile->name_prefix, prefix) == 0;
}

/* ---- records ---- */

tendon_status tendon_fjorden_records_begin(tendon_fjorden_records *records, const tendon_fjorden_profile *profile,
                                           const uint8_t *data, size_t length) {
    bool fits = length > 0 && (profile->format == TENDON_FJORDEN_CODE8 || length % TENDON_FJORDEN_RECORD_SIZE == 0);
    records->profile = profile;
    records->reader = tendon_reader_make(data, fits ? length : 0);
    return fits ? TENDON_OK : TENDON_FJORDEN_ERROR_LENGTH;
}

static bool is_dial(uint8_t event) {
    return event == TENDON_FJORDEN_DIAL_CW || event == TENDON_FJORDEN_DIAL_CCW;
}

static bool value_fits(uint8_t event, int8_t value) {
    if (is_dial(event)) {
        return value >= 1;
    }
    return event != TENDON_FJORDEN_BATTERY_LOW || (value >= 0 && value <= 100);
}

bool tendon_fjorden_records_next(tendon_fjorden_records *records, tendon_fjorden_record *out) {
    tendon_reader *reader = &records->reader;
    if (tendon_reader_remaining(reader) == 0) {
        return false;
    }
    tendon_fjorden_record record = {.count = 1, .has_sequence = records->profile->format == TENDON_FJORDEN_RECORD5};
    if (record.has_sequence) {
        record.sequence = tendon_read_u8(reader);
    }
    record.code = tendon_read_u8(reader);
    record.event = records->profile->codes[record.code];
    if (record.has_sequence) {
        record.time_ms = tendon_read_u16le(reader);
        record.value = tendon_read_i8(reader);
        if (!value_fits(record.event, record.value)) {
            record.status = TENDON_FJORDEN_ERROR_VALUE;
        } else if (is_dial(record.event)) {
            record.count = (uint8_t)record.value;
        }
    }
    *out = record;
    return true;
}

/* ---- stream ---- */

tendon_status tendon_fjorden_stream_begin(tendon_fjorden_stream *stream, tendon_fjorden_records *records,
                                          const tendon_fjorden_profile *profile, const uint8_t *data, size_t length) {
    tendon_status status = tendon_fjorden_records_begin(records, profile, data, length);
    stream->bad_notifications += status < 0;
    return status;
}

/* The sequence rule: whether the record counts. */
static bool accept(tendon_fjorden_stream *stream, tendon_fjorden_record *record) {
    if (stream->started) {
        if (record->sequence == stream->last) {
            stream->duplicates++;
            return false;
        }
        uint8_t gap = (uint8_t)(record->sequence - stream->last - 1);
        if (gap >= OUT_OF_ORDER_FROM) {
            stream->out_of_order++;
            return false;
        }
        record->lost_before = gap;
        stream->lost += gap;
        stream->needs_resync = stream->needs_resync || gap > 0;
        stream->time_ms += (uint16_t)(record->time_ms - stream->time_ms);
    } else {
        stream->time_ms = record->time_ms;
    }
    stream->started = true;
    stream->last = record->sequence;
    record->time_ms = stream->time_ms;
    return true;
}

static void remember(tendon_fjorden_stream *stream, uint8_t event) {
    if (event >= TENDON_FJORDEN_SHUTTER_HALF_DOWN && event <= TENDON_FJORDEN_SHUTTER_RELEASED) {
        stream->last_shutter = event;
    } else if (event >= TENDON_FJORDEN_LEVER_LEFT && event <= TENDON_FJORDEN_LEVER_NEUTRAL) {
        stream->last_lever = event;
    }
}

bool tendon_fjorden_stream_next(tendon_fjorden_stream *stream, tendon_fjorden_records *records,
                                tendon_fjorden_record *out) {
    tendon_fjorden_record record;
    while (tendon_fjorden_records_next(records, &record)) {
        if (record.has_sequence && !accept(stream, &record)) {
            continue;
        }
        if (record.status < 0) {
            stream->bad_values++;
        } else {
            remember(stream, record.event);
        }
        *out = record;
        return true;
    }
    return false;
}

static int side_of(uint8_t event) {
    switch (event) {
    case TENDON_FJORDEN_LEVER_LEFT:
    case TENDON_FJORDEN_LEVER_HOLD_LEFT:
        return -1;
    case TENDON_FJORDEN_LEVER_RIGHT:
    case TENDON_FJORDEN_LEVER_HOLD_RIGHT:
        return 1;
    default:
        return 0;
    }
}

size_t tendon_fjorden_resync(uint8_t last_shutter, uint8_t last_lever, const tendon_fjorden_control_state *state,
                             uint8_t events[2]) {
    size_t count = 0;
    bool pressed = last_shutter == TENDON_FJORDEN_SHUTTER_HALF_DOWN || last_shutter == TENDON_FJORDEN_SHUTTER_DOWN;
    if (state->shutter == 0 && pressed) {
        events[count++] = TENDON_FJORDEN_SHUTTER_RELEASED;
    }
    int side = side_of(last_lever);
    if (side != 0 && state->lever != side) {
        events[count++] = TENDON_FJORDEN_LEVER_NEUTRAL;
    }
    return count;
}

size_t tendon_fjorden_stream_resync(tendon_fjorden_stream *stream, const tendon_fjorden_control_state *state,
                                    uint8_t events[2]) {
    size_t count = tendon_fjorden_resync(stream->last_shutter, stream->last_lever, state, events);
    for (size_t i = 0; i < count; i++) {
        remember(stream, events[i]);
    }
    stream->needs_resync = false;
    return count;
}
