/* SPDX-License-Identifier: MIT */
#include "family.h"

static bool recognizes(const tendon_definition *definition, const tendon_uuid *characteristic) {
    (void)definition;
    switch (tendon_replay_number(characteristic)) {
    case TENDON_FEELSPACE_KEEP_ALIVE:
    case TENDON_FEELSPACE_VIBRATION_COMMAND:
    case TENDON_FEELSPACE_BUTTON_PRESS:
    case TENDON_FEELSPACE_PARAMETER_REQUEST:
    case TENDON_FEELSPACE_PARAMETER_NOTIFICATION:
    case TENDON_FEELSPACE_ORIENTATION_DATA:
        return true;
    default:
        return false;
    }
}

/* The name is a parameter, whose first two bytes are its family and its number; 0x80: it is changed. */
size_t tendon_replay_name(const char *family, const tendon_uuid *characteristic, const uint8_t *bytes, size_t length) {
    enum { BASIC = 1, CHANGES = 0x80, NAME_AT = 2 };
    uint16_t which = tendon_replay_number(characteristic);
    bool is_parameter =
        tendon_family_find(family) == &tendon_feelspace_family &&
        (which == TENDON_FEELSPACE_PARAMETER_REQUEST || which == TENDON_FEELSPACE_PARAMETER_NOTIFICATION);
    return is_parameter && length >= NAME_AT && bytes[0] == BASIC &&
                   (bytes[1] & ~CHANGES) == TENDON_FEELSPACE_BASIC_NAME
               ? NAME_AT
               : length;
}

/* ---- lines ---- */

static tendon_status write_event(const tendon_replay_line *one, tendon_line *line, const tendon_line_device *device,
                                 uint64_t wall_us) {
    return tendon_feelspace_line(line, device, wall_us, &one->replay->of.feelspace, one->decoded);
}

static bool view_event(const tendon_replay_line *one, tendon_replay_numbers *out) {
    const tendon_feelspace_event *event = one->decoded;
    return event->kind == TENDON_FEELSPACE_EVENT_ORIENTATION &&
           tendon_feelspace_view(&out->view, &one->replay->of.feelspace, event);
}

static void emit(const replay_taking *to, tendon_feelspace_event_kind kind, const tendon_feelspace_press *press) {
    tendon_feelspace_event event = {.kind = kind};
    if (press != NULL) {
        event.press = *press;
    }
    tendon_replay_emit(to, (tendon_replay_line){.write = write_event, .view = view_event, .decoded = &event});
}

static void put_firmware(const tendon_replay_line *one, tendon_line *line) {
    const tendon_feelspace_firmware *firmware = one->decoded;
    tendon_line_numeral(line, "firmware", firmware->version);
    if (firmware->has_variant) {
        tendon_line_integer(line, "variant", firmware->variant);
    }
}

/* ---- values ---- */

static tendon_status take_orientation(const replay_taking *to, tendon_feelspace_session *belt) {
    tendon_status status =
        tendon_feelspace_decode_orientation(to->value->bytes, to->value->length, &belt->orientation, NULL);
    if (status >= 0 && belt->orientation.sensor_id != TENDON_FEELSPACE_SENSOR_FUSION) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    if (status >= 0) {
        to->replay->notifications++;
        to->replay->samples++;
        emit(to, TENDON_FEELSPACE_EVENT_ORIENTATION, NULL);
    }
    return status;
}

static tendon_status take_parameter(const replay_taking *to, tendon_feelspace_session *belt) {
    tendon_feelspace_parameter parameter;
    tendon_status status = tendon_feelspace_decode_parameter(to->value->bytes, to->value->length, &parameter, NULL);
    if (status < 0) {
        return status;
    }
    switch (parameter.kind) {
    case TENDON_FEELSPACE_PARAMETER_MODE:
        belt->mode = parameter.mode;
        emit(to, TENDON_FEELSPACE_EVENT_MODE, NULL);
        break;
    case TENDON_FEELSPACE_PARAMETER_DEFAULT_INTENSITY:
        belt->default_intensity = parameter.intensity;
        emit(to, TENDON_FEELSPACE_EVENT_DEFAULT_INTENSITY, NULL);
        break;
    case TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET:
        belt->heading_offset = (int16_t)parameter.degrees;
        emit(to, TENDON_FEELSPACE_EVENT_HEADING_OFFSET, NULL);
        break;
    default:
        tendon_replay_tell_bytes(to, "parameter", "parameter", tendon_feelspace_parameter_name(parameter.kind));
    }
    return status;
}

static tendon_status take_reported(const replay_taking *to, uint16_t which) {
    const uint8_t *bytes = to->value->bytes;
    size_t length = to->value->length;
    tendon_feelspace_session *belt = &to->replay->of.feelspace;
    tendon_feelspace_press press;
    tendon_feelspace_firmware firmware;
    uint8_t mode;
    tendon_status status = TENDON_OK;
    switch (which) {
    case TENDON_FEELSPACE_KEEP_ALIVE:
        return tendon_feelspace_decode_keep_alive(bytes, length, &mode, NULL);
    case TENDON_FEELSPACE_ORIENTATION_DATA:
        return take_orientation(to, belt);
    case TENDON_FEELSPACE_PARAMETER_NOTIFICATION:
        return take_parameter(to, belt);
    case TENDON_FEELSPACE_BUTTON_PRESS:
        status = tendon_feelspace_decode_button(bytes, length, &press, NULL);
        if (status >= 0) {
            emit(to, TENDON_FEELSPACE_EVENT_BUTTON, &press);
        }
        return status;
    case TENDON_FEELSPACE_BATTERY_STATUS:
        status = tendon_feelspace_decode_battery(bytes, length, &belt->battery, NULL);
        if (status >= 0) {
            emit(to, TENDON_FEELSPACE_EVENT_BATTERY, NULL);
        }
        return status;
    case TENDON_FEELSPACE_FIRMWARE_INFO:
        status = tendon_feelspace_decode_firmware(bytes, length, &firmware, NULL);
        if (status >= 0) {
            tendon_replay_tell(to, "firmware", put_firmware, &firmware);
        }
        return status;
    default:
        return status;
    }
}

static void take(const replay_taking *to) {
    uint16_t which = tendon_replay_number(to->value->characteristic);
    if (to->value->is_written) {
        static const char digits[] = "0123456789abcdef";
        const char word[] = {digits[which >> 12], digits[which >> 8 & 15], digits[which >> 4 & 15], digits[which & 15],
                             '\0'};
        if (which != TENDON_FEELSPACE_KEEP_ALIVE) {
            tendon_replay_tell_bytes(to, "command", "characteristic", word);
        }
        return;
    }
    tendon_status status = take_reported(to, which);
    if (status == TENDON_ERROR_UNSUPPORTED) {
        to->replay->skipped++;
    } else if (status < 0) {
        tendon_replay_malformed(to, status, 0);
    }
}

const tendon_replay_family tendon_feelspace_replay = {&tendon_feelspace_family, recognizes, NULL, take,
                                                      tendon_replay_put_bytes};
