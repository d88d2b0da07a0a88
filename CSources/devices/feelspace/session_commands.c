/* SPDX-License-Identifier: MIT */
/* The named commands: encoded, then sent. */
#include "session_internal.h"

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
