/* SPDX-License-Identifier: MIT */
/* What the program requests: any packet, and the named commands, which are encoded, then sent. */
#include "session_parts.h"

/* First bytes on FE05 and FE03; the codec's files have their meaning. */
enum { BASIC = 0x01, CHANGED = 0x80, ADVANCED = 0x10, ADVANCED_CHANGE = 0x11, RESET = 0x12, PULSE = 0x40 };

/* ---- any packet ---- */

/* First bytes of the response to a parameter request; zeros: no response. A renamed belt disconnects instead. */
static void expect_answer(tendon_feelspace_slot *slot) {
    const uint8_t *bytes = slot->bytes; /* zeros after the packet */
    bool basic = bytes[0] == BASIC;
    uint8_t id = bytes[bytes[0] == ADVANCED ? 2 : 1];
    bool is_request = slot->which == FS_REQUEST || (slot->flags & FS_PERIOD) != 0;
    if (is_request && bytes[0] != RESET && !(basic && id == (CHANGED | TENDON_FEELSPACE_BASIC_NAME))) {
        slot->answer[0] = basic ? BASIC : ADVANCED;
        slot->answer[1] = basic ? id & (uint8_t)~CHANGED : id;
    }
}

static tendon_status queue(tendon_feelspace_session *session, uint8_t kind, uint8_t which, uint8_t flags,
                           const uint8_t *bytes, size_t length, uint64_t now) {
    session->op.now = now;
    tendon_feelspace_slot *slot = tendon_feelspace_slot_fill(session, kind, which, flags, bytes, length);
    if (slot == NULL) {
        return TENDON_GATT_ERROR_QUEUE_FULL;
    }
    if (length > 0) {
        expect_answer(slot);
    }
    if (kind == FS_ENABLE || flags == FS_PERIOD) {
        session->work.enables++;
    }
    session->last_command = slot->id;
    tendon_feelspace_pump(session);
    return TENDON_OK;
}

/* The firmware feature that a packet requires; _COUNT: none. */
static tendon_feelspace_feature feature_of(unsigned which, const uint8_t *packet, size_t length) {
    uint8_t first = packet[0], second = length > 1 ? packet[1] : 0, third = length > 2 ? packet[2] : 0;
    if (which == FS_BUZZER) {
        return TENDON_FEELSPACE_FEATURE_BUZZER;
    }
    if (which == FS_VIBRATION && first == PULSE) {
        return TENDON_FEELSPACE_FEATURE_PULSE;
    }
    if (which != FS_REQUEST) {
        return TENDON_FEELSPACE_FEATURE_COUNT;
    }
    if (first == RESET) {
        return TENDON_FEELSPACE_FEATURE_RESET;
    }
    if (first == ADVANCED_CHANGE && second == TENDON_FEELSPACE_ADVANCED_ORIENTATION_PERIOD) {
        return TENDON_FEELSPACE_FEATURE_ORIENTATION_PERIOD;
    }
    if (first == ADVANCED_CHANGE && third != 0) {
        return TENDON_FEELSPACE_FEATURE_PERSISTENT_CHANGE;
    }
    return first == BASIC && second == (CHANGED | TENDON_FEELSPACE_BASIC_MODE) &&
                   third == TENDON_FEELSPACE_MODE_CROSSING
               ? TENDON_FEELSPACE_FEATURE_CROSSING
               : TENDON_FEELSPACE_FEATURE_COUNT;
}

static bool which_of(tendon_feelspace_characteristic characteristic, unsigned *which) {
    static const uint8_t written[] = {FS_VIBRATION, FS_REQUEST, FS_BUZZER, FS_DEBUG_INPUT};
    for (size_t i = 0; i < sizeof written; i++) {
        if (tendon_feelspace_uuid(written[i]) == characteristic) {
            *which = written[i];
            return true;
        }
    }
    return false;
}

/* Whether a packet may be queued now. @return TENDON_OK, a warning, or the first error that the header lists. */
static tendon_status check(const tendon_feelspace_session *session, tendon_feelspace_characteristic characteristic,
                           const uint8_t *packet, tendon_status length, unsigned *which) {
    if (session->state != TENDON_FEELSPACE_CONNECTED) {
        return TENDON_ERROR_DISCONNECTED;
    }
    if (length < 0) {
        return length;
    }
    if (!which_of(characteristic, which) || length == 0 || length > TENDON_FEELSPACE_PACKET_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_feelspace_feature feature = feature_of(*which, packet, (size_t)length);
    if (feature != TENDON_FEELSPACE_FEATURE_COUNT && session->has_firmware &&
        !tendon_feelspace_has_feature(&session->firmware, feature)) {
        return TENDON_FEELSPACE_ERROR_UNSUPPORTED_FIRMWARE;
    }
    bool ignored = *which == FS_VIBRATION && !tendon_feelspace_belt_accepts(session->mode, packet, (size_t)length);
    if (ignored && session->config.strict) {
        return TENDON_FEELSPACE_ERROR_WRONG_MODE;
    }
    if (session->kept.found[*which].value == 0) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    return ignored ? TENDON_FEELSPACE_WARNING_IGNORED : TENDON_OK;
}

tendon_status tendon_feelspace_session_send(tendon_feelspace_session *session,
                                            tendon_feelspace_characteristic characteristic, const uint8_t *packet,
                                            tendon_status length, uint64_t now) {
    unsigned which;
    tendon_status checked = check(session, characteristic, packet, length, &which);
    if (checked < 0) {
        return checked;
    }
    tendon_status status = queue(session, FS_WRITE, (uint8_t)which, 0, packet, (size_t)length, now);
    return status < 0 ? status : checked;
}

/* ---- orientation ---- */

/* Nothing changes when the queue is full. */
static tendon_status switch_orientation(tendon_feelspace_session *session, uint8_t kind, uint32_t period_ms,
                                        uint16_t variation_deg, uint64_t now) {
    if (tendon_feelspace_slot_free(session) == NULL) {
        return TENDON_GATT_ERROR_QUEUE_FULL;
    }
    session->orientation_enabled = kind == FS_ENABLE;
    session->orientation_period_ms = period_ms;
    session->orientation_variation_deg = variation_deg;
    session->work.told = false;
    return queue(session, kind, FS_ORIENTATION, 0, NULL, 0, now);
}

tendon_status tendon_feelspace_session_start_orientation(tendon_feelspace_session *session, uint32_t period_ms,
                                                         uint16_t variation_deg, uint64_t now) {
    if (session->state != TENDON_FEELSPACE_CONNECTED) {
        return TENDON_ERROR_DISCONNECTED;
    }
    if (variation_deg > 180) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (!session->orientation_enabled) {
        return switch_orientation(session, FS_ENABLE, period_ms, variation_deg, now);
    }
    session->orientation_period_ms = period_ms;
    session->orientation_variation_deg = variation_deg;
    return TENDON_OK;
}

tendon_status tendon_feelspace_session_stop_orientation(tendon_feelspace_session *session, uint64_t now) {
    if (session->state != TENDON_FEELSPACE_CONNECTED) {
        return TENDON_ERROR_DISCONNECTED;
    }
    return session->orientation_enabled ? switch_orientation(session, FS_DISABLE, 0, 0, now) : TENDON_OK;
}

tendon_status tendon_feelspace_session_set_orientation_period(tendon_feelspace_session *session, int32_t period_ms,
                                                              uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    unsigned which;
    tendon_status length = tendon_feelspace_encode_set_orientation_period(period_ms, packet, sizeof packet);
    tendon_status status = check(session, TENDON_FEELSPACE_PARAMETER_REQUEST, packet, length, &which);
    if (status < 0) {
        return status;
    }
    bool enabled = session->orientation_enabled;
    return queue(session, enabled ? FS_DISABLE : FS_WRITE, enabled ? FS_ORIENTATION : FS_REQUEST,
                 enabled ? FS_PERIOD : 0, packet, (size_t)length, now);
}

tendon_status tendon_feelspace_session_request_log(tendon_feelspace_session *session, uint64_t now) {
    static const uint8_t request[] = {TENDON_FEELSPACE_DEBUG_ERROR_LOG};
    if (session->work.logging) {
        return TENDON_ERROR_BUSY;
    }
    session->work.log_left = -1; /* the header contains their number */
    session->kept.log_deadline = now + TENDON_FEELSPACE_LOG_TIMEOUT_MS;
    session->work.logging = true;
    tendon_status status =
        tendon_feelspace_session_send(session, TENDON_FEELSPACE_DEBUG_INPUT, request, sizeof request, now);
    session->work.logging = session->work.logging && status >= 0;
    return status;
}

/* ---- named commands ---- */

static tendon_status request(tendon_feelspace_session *session, const uint8_t *packet, tendon_status length,
                             uint64_t now) {
    return tendon_feelspace_session_send(session, TENDON_FEELSPACE_PARAMETER_REQUEST, packet, length, now);
}

static tendon_status vibration(tendon_feelspace_session *session, const uint8_t *packet, tendon_status length,
                               uint64_t now) {
    return tendon_feelspace_session_send(session, TENDON_FEELSPACE_VIBRATION_COMMAND, packet, length, now);
}

tendon_status tendon_feelspace_session_set_mode(tendon_feelspace_session *session, int32_t mode, uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    return request(session, packet, tendon_feelspace_encode_set_mode(mode, packet, sizeof packet), now);
}

tendon_status tendon_feelspace_session_set_default_intensity(tendon_feelspace_session *session, int32_t intensity,
                                                             bool feedback, uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    return request(session, packet,
                   tendon_feelspace_encode_set_default_intensity(intensity, feedback, packet, sizeof packet), now);
}

tendon_status tendon_feelspace_session_set_heading_offset(tendon_feelspace_session *session, int32_t degrees,
                                                          uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    return request(session, packet, tendon_feelspace_encode_set_heading_offset(degrees, packet, sizeof packet), now);
}

tendon_status tendon_feelspace_session_set_accuracy_signal(tendon_feelspace_session *session, bool in_app,
                                                           bool in_compass, bool persistent, uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    tendon_status length =
        tendon_feelspace_encode_set_accuracy_signal(in_app, in_compass, persistent, packet, sizeof packet);
    return request(session, packet, length, now);
}

tendon_status tendon_feelspace_session_request_accuracy_signal(tendon_feelspace_session *session, uint64_t now) {
    static const uint8_t packet[] = {0x10, 0x01, TENDON_FEELSPACE_ADVANCED_ACCURACY_SIGNAL};
    return request(session, packet, sizeof packet, now);
}

tendon_status tendon_feelspace_session_vibrate(tendon_feelspace_session *session,
                                               const tendon_feelspace_vibration *wanted, uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    return vibration(session, packet,
                     tendon_feelspace_encode_vibration(wanted, session->config.channels, packet, sizeof packet), now);
}

tendon_status tendon_feelspace_session_configure_channel(tendon_feelspace_session *session,
                                                         const tendon_feelspace_channel *channel, uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    tendon_status status =
        vibration(session, packet,
                  tendon_feelspace_encode_channel(channel, session->config.channels, packet, sizeof packet), now);
    return status >= 0 && channel->iterations > 127 ? status | TENDON_FEELSPACE_WARNING_ENDLESS : status;
}

tendon_status tendon_feelspace_session_pulse(tendon_feelspace_session *session, const tendon_feelspace_pulse *pulse,
                                             uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    return vibration(session, packet, tendon_feelspace_encode_pulse(pulse, packet, sizeof packet), now);
}

tendon_status tendon_feelspace_session_signal(tendon_feelspace_session *session, int32_t signal, uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    return vibration(session, packet, tendon_feelspace_encode_system_signal(signal, packet, sizeof packet), now);
}

tendon_status tendon_feelspace_session_stop(tendon_feelspace_session *session, int32_t channel, uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    return vibration(session, packet,
                     tendon_feelspace_encode_stop(channel, session->config.channels, packet, sizeof packet), now);
}
