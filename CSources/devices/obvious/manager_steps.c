/* SPDX-License-Identifier: MIT */
/* The work of each state: what is sent when it is entered, and what its results
 * mean. */
#include "manager.h"

#include <string.h>

enum { REJOIN_MS = 60000, REBOOT_FEATURES = 2, DATA_HEADER = 8 };

/* Of the states from HELLO to RESTART. */
static const uint8_t opcodes[] = {
    [S_HELLO] = TENDON_OBVIOUS_HELLO,           [S_INFO] = TENDON_OBVIOUS_GET_DEVICE_INFO,
    [S_NONCE] = TENDON_OBVIOUS_GET_NONCE,       [S_STATUS] = TENDON_OBVIOUS_FEATURE_STATUS,
    [S_TOGGLE] = TENDON_OBVIOUS_FEATURE_TOGGLE, [S_COUNTER] = TENDON_OBVIOUS_FEATURE_COUNTER,
    [S_REBOOT] = TENDON_OBVIOUS_REBOOT,         [S_ABORT] = TENDON_OBVIOUS_XFER_ABORT,
    [S_BEGIN] = TENDON_OBVIOUS_XFER_BEGIN,      [S_DATA] = TENDON_OBVIOUS_XFER_DATA,
    [S_END] = TENDON_OBVIOUS_XFER_END,          [S_GREET] = TENDON_OBVIOUS_HELLO,
    [S_QUERY] = TENDON_OBVIOUS_XFER_STATUS,     [S_RESTART] = TENDON_OBVIOUS_XFER_ABORT,
};

uint8_t tendon_obvious_manager_fail(tendon_obvious_manager *m, tendon_status status) {
    m->status = m->status == TENDON_OK ? status : m->status;
    return I_FAIL;
}

/* ---- requests ---- */

/* The next group of features; the ids, or ids and toggles. */
static tendon_status send_features(tendon_obvious_manager *m, uint8_t item) {
    uint8_t *out = session_payload(m->session);
    size_t room = ((size_t)m->session->frame_max - TENDON_OBVIOUS_FRAME_OVERHEAD - 1) / 4; /* of the response */
    size_t count = m->feature_count - m->feature_at;
    count = count < TENDON_OBVIOUS_LIST_MAX ? count : TENDON_OBVIOUS_LIST_MAX;
    count = count < room ? count : room;
    out[0] = (uint8_t)count;
    m->length = (uint16_t)count;
    for (size_t i = 0; i < count; i++) {
        tendon_obvious_put_feature(m->features[m->feature_at + i], item, out + 1 + i * item);
    }
    return tendon_obvious_session_send(m->session, opcodes[m->state], 1 + count * item, tendon_obvious_manager_response,
                                       m, m->now);
}

static tendon_status send_data(tendon_obvious_manager *m) {
    uint8_t *out = session_payload(m->session);
    uint32_t left = m->size - m->offset;
    m->length = left < m->chunk ? (uint16_t)left : m->chunk;
    m->sent = m->offset + m->length > m->sent ? m->offset + m->length : m->sent;
    tendon_writer writer = tendon_writer_make(out, DATA_HEADER);
    tendon_write_u32le(&writer, m->transfer);
    tendon_write_u32le(&writer, m->offset);
    memcpy(out + DATA_HEADER, m->answer.data + m->offset, m->length);
    return tendon_obvious_session_send(m->session, TENDON_OBVIOUS_XFER_DATA, DATA_HEADER + (size_t)m->length,
                                       tendon_obvious_manager_response, m, m->now);
}

static void fill(const tendon_obvious_manager *m, tendon_obvious_payload *out) {
    memset(out, 0, sizeof *out);
    switch (opcodes[m->state]) {
    case TENDON_OBVIOUS_REBOOT:
        out->reboot.reason = REBOOT_FEATURES;
        break;
    case TENDON_OBVIOUS_XFER_BEGIN:
        out->begin.obj = m->obj;
        out->begin.flags = m->resumes && (m->session->caps & TENDON_OBVIOUS_CAP_RESUME) != 0;
        out->begin.chunk_max = m->config.chunk_max;
        out->begin.size = m->size;
        out->begin.crc32 = m->crc32;
        out->begin.sha256 = m->sha256;
        break;
    default:
        out->session.session = m->transfer;
        out->session.reason = m->reason;
        break;
    }
}

static tendon_status send_request(tendon_obvious_manager *m) {
    tendon_obvious_session *session = m->session;
    tendon_status status = tendon_obvious_session_ready(session);
    if (status != TENDON_OK) {
        return status;
    }
    switch (m->state) {
    case S_STATUS:
        return send_features(m, 2);
    case S_TOGGLE:
        return send_features(m, 3);
    case S_DATA:
        return send_data(m);
    default:
        break;
    }
    tendon_obvious_payload payload;
    fill(m, &payload);
    return tendon_obvious_session_request(session, opcodes[m->state], &payload, tendon_obvious_manager_response, m,
                                          m->now);
}

/* ---- entering ---- */

/* Connects, or takes the connection as it is. */
static uint8_t join(tendon_obvious_manager *m) {
    tendon_obvious_session *session = m->session;
    switch (session->state) {
    case TENDON_OBVIOUS_SESSION_OPEN:
        return tendon_obvious_manager_judge_open(m);
    case TENDON_OBVIOUS_SESSION_UNUSABLE:
        return m->status = session->status, (uint8_t)I_UNUSABLE;
    case TENDON_OBVIOUS_SESSION_IDLE:
        break;
    default:
        return I_NONE;
    }
    bool may = m->operation == TENDON_OBVIOUS_UPDATE_FEATURES;
    tendon_status status = may ? tendon_obvious_session_connect(session, m->now) : TENDON_ERROR_DISCONNECTED;
    if (status >= 0) {
        return I_NONE;
    }
    m->status = m->state == S_CONNECT ? status : m->status;
    return I_CLOSED;
}

/* The pause before the next attempt. */
static uint8_t back_off(tendon_obvious_manager *m) {
    static const uint8_t seconds[] = {1, 2, 4};
    if (m->tries == sizeof seconds) {
        m->status = TENDON_OBVIOUS_ERROR_LINK_ERROR;
        return I_FAIL;
    }
    m->deadline = m->now + seconds[m->tries] * 1000u;
    m->tries++;
    m->resumes = true;
    m->status = TENDON_OK;
    tendon_obvious_session_disconnect(m->session, m->now);
    return I_NONE;
}

static uint8_t rejoin(tendon_obvious_manager *m) {
    if (!m->rejoining) {
        m->rejoining = true;
        m->limit = m->now + REJOIN_MS;
    }
    m->status = TENDON_OK;
    tendon_obvious_session_disconnect(m->session, m->now);
    return I_NONE;
}

static uint8_t need(tendon_obvious_manager *m) {
    tendon_obvious_manager_tell(m, TENDON_OBVIOUS_EVENT_NEED,
                                m->state == S_FETCH ? TENDON_OBVIOUS_NEED_PACKAGE : TENDON_OBVIOUS_NEED_PROVISION);
    return I_NONE;
}

/* How long a state waits, in units of 100 ms. 0: as long as the operation may.
 */
static const uint16_t waits[S_COUNT] = {[S_CONNECT] = 300, [S_RECONNECT] = 300, [S_RESETTING] = 150, [S_REJOIN] = 10};

uint8_t tendon_obvious_manager_enter(tendon_obvious_manager *m) {
    m->deadline = waits[m->state] != 0 ? m->now + waits[m->state] * 100u : UINT64_MAX;
    switch (m->state) {
    case S_CONNECT:
    case S_RECONNECT:
    case S_JOINING:
        return join(m);
    case S_FETCH:
    case S_PROVISION:
        return need(m);
    case S_BACKOFF:
        return back_off(m);
    case S_IDLE:
    case S_RESETTING:
        return I_NONE;
    case S_REJOIN:
        return rejoin(m);
    case S_DROP:
        tendon_obvious_session_disconnect(m->session, m->now);
        return I_NONE;
    case S_REBOOT:
        m->boot_id = m->session->boot_id;
        break;
    case S_NONCE:
        if ((m->session->caps & TENDON_OBVIOUS_CAP_NONCE) == 0) {
            return tendon_obvious_manager_judge(m, NULL);
        }
        break;
    case S_ABORT:
        if (m->transfer == 0) {
            return I_OK;
        }
        break;
    case S_BEGIN:
        m->end_sent = false;
        break;
    case S_END:
        m->end_sent = true;
        break;
    default:
        break;
    }
    tendon_status status = send_request(m);
    if (status >= 0 || (status == TENDON_ERROR_DISCONNECTED && m->state != S_ABORT)) {
        return I_NONE; /* the end of the connection is an input of its own */
    }
    return tendon_obvious_manager_fail(m, status);
}
