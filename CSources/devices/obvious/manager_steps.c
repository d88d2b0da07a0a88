/* SPDX-License-Identifier: MIT */
/* The work of each state: what is sent when it is entered, and what its results mean. */
#include "codes.h"
#include "manager_parts.h"
#include "tendon/base/crc.h"

#include <string.h>

enum {
    UPDATE_REJOIN_MS = 60000,
    UPGRADE_REJOIN_MS = 180000,
    ACTIVATIONS_MAX = 2,
    REBOOT_FEATURES = 2,
    DATA_HEADER = 8,
    ACTIVATE_DELAY = 10 /* 1 s */
};

/* Of the states from HELLO to RESTART. */
static const uint8_t opcodes[] = {
    [S_HELLO] = TENDON_OBVIOUS_HELLO,
    [S_INFO] = TENDON_OBVIOUS_GET_DEVICE_INFO,
    [S_FW_STATE] = TENDON_OBVIOUS_FW_STATE,
    [S_NONCE] = TENDON_OBVIOUS_GET_NONCE,
    [S_STATUS] = TENDON_OBVIOUS_FEATURE_STATUS,
    [S_TOGGLE] = TENDON_OBVIOUS_FEATURE_TOGGLE,
    [S_COUNTER] = TENDON_OBVIOUS_FEATURE_COUNTER,
    [S_REBOOT] = TENDON_OBVIOUS_REBOOT,
    [S_ACTIVATE] = TENDON_OBVIOUS_FW_ACTIVATE,
    [S_SELF_TEST] = TENDON_OBVIOUS_GET_DEVICE_INFO,
    [S_CONFIRM] = TENDON_OBVIOUS_FW_CONFIRM,
    [S_REJECT] = TENDON_OBVIOUS_FW_CONFIRM,
    [S_ABORT] = TENDON_OBVIOUS_XFER_ABORT,
    [S_BEGIN] = TENDON_OBVIOUS_XFER_BEGIN,
    [S_DATA] = TENDON_OBVIOUS_XFER_DATA,
    [S_END] = TENDON_OBVIOUS_XFER_END,
    [S_GREET] = TENDON_OBVIOUS_HELLO,
    [S_QUERY] = TENDON_OBVIOUS_XFER_STATUS,
    [S_RESTART] = TENDON_OBVIOUS_XFER_ABORT,
};

static bool is_upgrade(const tendon_obvious_manager *m) {
    return m->operation == TENDON_OBVIOUS_UPGRADE_FIRMWARE;
}

/* ---- journal ---- */

/* An upgrade that may go on later keeps its record: after lost connections, the limit of time, a cancellation, and an
 * XFER_BEGIN that was refused. No other operation ends it. */
static void close_record(tendon_obvious_manager *m) {
    bool good = m->result == TENDON_OBVIOUS_UPDATE_SUCCESS;
    bool resumable = TENDON_STATUS_LAYER(m->status) != TENDON_LAYER_OBVIOUS ||
                     m->status == TENDON_OBVIOUS_ERROR_LINK_ERROR ||
                     (m->transfer == 0 && m->record.state == TENDON_OBVIOUS_JOURNAL_SEND);
    if (is_upgrade(m) && m->obj != 0 && (good || !resumable)) { /* 0: what the device has is not known */
        (void)tendon_obvious_manager_store(m, TENDON_OBVIOUS_JOURNAL_NONE);
    }
}

/* ---- requests ---- */

/* What the payload of the session's request has. */
static tendon_status send(tendon_obvious_manager *m, size_t length) {
    return tendon_obvious_session_send(m->session, opcodes[m->state], length, m->on_response, m, m->now);
}

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
    return send(m, 1 + count * item);
}

static tendon_status send_data(tendon_obvious_manager *m) {
    uint8_t *out = session_payload(m->session);
    uint32_t left = m->size - m->offset;
    m->length = left < m->chunk ? (uint16_t)left : m->chunk;
    m->sent = m->offset + m->length > m->sent ? m->offset + m->length : m->sent;
    tendon_writer writer = tendon_writer_make(out, DATA_HEADER);
    tendon_write_u32le(&writer, m->transfer);
    tendon_write_u32le(&writer, m->offset);
    tendon_status status = tendon_obvious_manager_read(m, m->offset, out + DATA_HEADER, m->length);
    return status < 0 ? status : send(m, DATA_HEADER + (size_t)m->length);
}

/* The next part of what the device says that it has: others are served before the one after it. `sent` is the place. */
static tendon_status sum_prefix(tendon_obvious_manager *m) {
    uint8_t *buffer = session_payload(m->session);
    uint32_t step = (uint32_t)m->session->frame_max - TENDON_OBVIOUS_FRAME_OVERHEAD, left = m->offset - m->sent;
    step = left < step ? left : step;
    tendon_status status = tendon_obvious_manager_read(m, m->sent, buffer, step);
    m->sum = tendon_crc32(m->sum, buffer, step);
    m->sent += step;
    m->deadline = m->now;
    return status;
}

static void fill(const tendon_obvious_manager *m, tendon_obvious_payload *out) {
    memset(out, 0, sizeof *out);
    switch (opcodes[m->state]) {
    case TENDON_OBVIOUS_REBOOT:
        out->reboot.reason = REBOOT_FEATURES;
        break;
    case TENDON_OBVIOUS_FW_ACTIVATE:
        out->activate.version = m->record.version;
        out->activate.mode = 1;
        out->activate.delay_100ms = ACTIVATE_DELAY;
        break;
    case TENDON_OBVIOUS_FW_CONFIRM:
        out->confirm.version = m->active;
        out->confirm.verdict = m->state == S_CONFIRM;
        break;
    case TENDON_OBVIOUS_XFER_BEGIN:
        out->begin.obj = m->obj;
        out->begin.flags = m->resumes && (m->session->caps & TENDON_OBVIOUS_CAP_RESUME) != 0;
        out->begin.chunk_max = m->config.chunk_max;
        out->begin.size = m->size;
        out->begin.crc32 = m->crc32;
        out->begin.sha256 = m->sha256;
        out->begin.manifest = m->answer.data;
        out->begin.manifest_length = m->obj == TENDON_OBVIOUS_OBJECT_FIRMWARE ? TENDON_OBVIOUS_MANIFEST_SIZE : 0;
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
    case S_PREFIX:
        return sum_prefix(m);
    default:
        break;
    }
    tendon_obvious_payload payload;
    fill(m, &payload);
    return tendon_obvious_session_request(session, opcodes[m->state], &payload, m->on_response, m, m->now);
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
    bool may = (m->operation & (TENDON_OBVIOUS_UPDATE_FEATURES | TENDON_OBVIOUS_UPGRADE_FIRMWARE)) != 0;
    tendon_status status = may ? tendon_obvious_session_connect(session, m->now) : TENDON_ERROR_DISCONNECTED;
    if (status >= 0) {
        m->connects = true;
        return I_NONE;
    }
    m->status = m->state == S_CONNECT ? status : m->status;
    return I_CLOSED;
}

/* The pause before the next attempt; 1, 2, 4 s for a package, 8 and 15 s more for firmware. */
static uint8_t back_off(tendon_obvious_manager *m) {
    static const uint8_t seconds[] = {1, 2, 4, 8, 15};
    if (m->tries == (is_upgrade(m) ? 5 : 3)) {
        m->status = TENDON_OBVIOUS_ERROR_LINK_ERROR;
        return I_FAIL;
    }
    m->deadline = m->now + seconds[m->tries] * 1000u;
    m->tries++;
    m->status = TENDON_OK;
    tendon_obvious_session_disconnect(m->session, m->now);
    return I_NONE;
}

static uint8_t rejoin(tendon_obvious_manager *m) {
    tendon_status status = TENDON_OK;
    if (!m->rejoining) {
        m->rejoining = true;
        m->limit = m->now + (is_upgrade(m) ? UPGRADE_REJOIN_MS : UPDATE_REJOIN_MS);
        status = is_upgrade(m) ? tendon_obvious_manager_store(m, TENDON_OBVIOUS_JOURNAL_REJOIN) : TENDON_OK;
    }
    m->status = TENDON_OK;
    tendon_obvious_session_disconnect(m->session, m->now);
    return status < 0 ? tendon_obvious_manager_fail(m, status) : I_NONE;
}

static tendon_status activate(tendon_obvious_manager *m) {
    if (m->activations == ACTIVATIONS_MAX) {
        return TENDON_OBVIOUS_ERROR_INTERNAL;
    }
    m->activations++;
    tendon_status status = tendon_obvious_manager_store(m, TENDON_OBVIOUS_JOURNAL_ACTIVATE);
    if (status >= 0) {
        tendon_obvious_manager_progress(m, 100);
        tendon_obvious_manager_tell(m, TENDON_OBVIOUS_EVENT_PROGRESS, TENDON_OBVIOUS_PROGRESS_RESETTING);
    }
    return status;
}

static uint8_t need(tendon_obvious_manager *m) {
    static const uint8_t needs[] = {TENDON_OBVIOUS_NEED_PACKAGE, TENDON_OBVIOUS_NEED_PROVISION,
                                    TENDON_OBVIOUS_NEED_FIRMWARE, TENDON_OBVIOUS_NEED_IMAGE};
    tendon_obvious_manager_tell(m, TENDON_OBVIOUS_EVENT_NEED, needs[m->state - S_FETCH]);
    return I_NONE;
}

/* How many seconds a state waits, of those from RECONNECT on. 0, and all others: as long as the operation may. */
static const uint8_t waits[S_COUNT - S_RECONNECT] = {[0] = 30,
                                                     [S_CONNECT - S_RECONNECT] = 30,
                                                     [S_RESETTING - S_RECONNECT] = 15,
                                                     [S_DOWN - S_RECONNECT] = 5,
                                                     [S_REJOIN - S_RECONNECT] = 1};

uint8_t tendon_obvious_manager_enter(tendon_obvious_manager *m) {
    tendon_status status = TENDON_OK;
    uint8_t wait = m->state >= S_RECONNECT ? waits[m->state - S_RECONNECT] : 0;
    m->deadline = wait != 0 ? m->now + wait * 1000u : UINT64_MAX;
    switch (m->state) {
    case S_IDLE:
        if (m->connects && m->session->state == TENDON_OBVIOUS_SESSION_CONNECTING) { /* without a purpose from now on */
            tendon_obvious_session_disconnect(m->session, m->now);
        }
        close_record(m);
        return I_NONE;
    case S_CONNECT:
    case S_RECONNECT:
    case S_JOINING:
        return join(m);
    case S_FETCH:
    case S_PROVISION:
    case S_OFFER:
    case S_DOWNLOAD:
        return need(m);
    case S_BACKOFF:
        return back_off(m);
    case S_RESETTING:
    case S_DOWN:
        return I_NONE;
    case S_REJOIN:
        return rejoin(m);
    case S_DROP:
        tendon_obvious_session_disconnect(m->session, m->now);
        return I_NONE;
    case S_REBOOT:
        m->boot_id = m->session->boot_id; /* after an answer that was lost, another one than that of END */
        break;
    case S_NONCE:
        if ((m->session->caps & TENDON_OBVIOUS_CAP_NONCE) == 0) {
            return tendon_obvious_manager_judge(m, NULL);
        }
        break;
    case S_ACTIVATE:
        status = activate(m);
        break;
    case S_ABORT:
        if (m->transfer == 0) {
            return I_OK;
        }
        break;
    case S_BEGIN:
        m->end_sent = false;
        m->transfer = 0; /* if the device refuses it, what it has of another connection stays */
        if (is_upgrade(m)) {
            status = tendon_obvious_manager_store(m, TENDON_OBVIOUS_JOURNAL_SEND);
            if (m->percent < 0) {
                tendon_obvious_manager_progress(m, 0);
            }
        }
        break;
    case S_PREFIX:
        if (m->sent == m->offset) {
            return tendon_obvious_manager_judge_prefix(m);
        }
        break;
    case S_END:
        m->end_sent = true;
        m->boot_id = m->session->boot_id;
        break;
    default:
        break;
    }
    status = status < 0 ? status : send_request(m);
    if (status >= 0) {
        return I_NONE;
    }
    if (status == TENDON_ERROR_DISCONNECTED && m->state != S_ABORT) {
        /* The end of the connection is an input of its own. It was reported if it led to this state. */
        return m->session->state == TENDON_OBVIOUS_SESSION_IDLE ? I_CLOSED : I_NONE;
    }
    return tendon_obvious_manager_fail(m, status);
}
