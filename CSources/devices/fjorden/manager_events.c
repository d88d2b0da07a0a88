/* SPDX-License-Identifier: MIT */
#include "manager_parts.h"

#define CODE(name) (uint8_t) TENDON_STATUS_CODE(TENDON_FJORDEN_ERROR_##name)

bool tendon_grip_same_identifier(const tendon_fjorden_grip *a, const tendon_fjorden_grip *b) {
    for (size_t i = 0; i < sizeof a->identifier; i++) {
        if (a->identifier[i] != b->identifier[i]) {
            return false;
        }
        if (a->identifier[i] == 0) {
            return true;
        }
    }
    return true;
}

static bool is_bonded_to(const tendon_fjorden_manager *m, const tendon_fjorden_grip *grip) {
    return m->configuration.has_bond && tendon_grip_same_identifier(&m->configuration.bond, grip);
}

/* Searches again after a lost connection or a failed reconnection. The more of them in a row, the later the grip's
 * advertisements count, so that a grip that cannot be connected does not keep the radio busy. */
static void look_again(tendon_fjorden_manager *m) {
    uint64_t pause = TENDON_FJORDEN_RETRY_PAUSE_MS;
    for (unsigned i = 1; i < m->failures && pause < TENDON_FJORDEN_RETRY_PAUSE_MAX_MS; i++) {
        pause *= 2;
    }
    tendon_grip_look_for_bonded(m);
    if (m->failures > 0) {
        m->retry_at = m->now + (pause < TENDON_FJORDEN_RETRY_PAUSE_MAX_MS ? pause : TENDON_FJORDEN_RETRY_PAUSE_MAX_MS);
    }
    m->failures = (uint8_t)(m->failures + (m->failures < UINT8_MAX));
}

/* FAIL(e) of the document. @p answered: by the grip, which would answer the same again. A lost link or a timeout is no
 * answer. */
static void fail(tendon_fjorden_manager *m, tendon_status error, bool disconnect, bool answered) {
    m->has_deadline = false;
    if (disconnect) {
        tendon_grip_do(m, TENDON_FJORDEN_OUT_DISCONNECT);
    }
    if (m->reconnecting && !answered) {
        look_again(m);
        return;
    }
    tendon_grip_set_state(m, TENDON_FJORDEN_READY);
    tendon_grip_end_pending(m, error);
}

void tendon_grip_expire(tendon_fjorden_manager *m) {
    m->has_deadline = false;
    if (m->state == TENDON_FJORDEN_SCANNING_FOR_BONDED) {
        tendon_grip_do(m, TENDON_FJORDEN_OUT_SCAN_STOP);
        tendon_grip_set_state(m, TENDON_FJORDEN_READY);
        tendon_grip_end_pending(m, TENDON_FJORDEN_ERROR_CONNECTION_TIMEOUT);
    } else if (m->state == TENDON_FJORDEN_CONNECTING) {
        fail(m, TENDON_FJORDEN_ERROR_CONNECTION_TIMEOUT, true, false);
    }
}

/* ---- advertisements ---- */

/* A full list loses the grip that was not received for the longest time. */
static void make_room(tendon_fjorden_manager *m) {
    size_t oldest = 0;
    for (size_t i = 1; i < m->grip_count; i++) {
        oldest = m->grips[i].seen_ms < m->grips[oldest].seen_ms ? i : oldest;
    }
    m->grip_count--;
    memmove(&m->grips[oldest], &m->grips[oldest + 1], (m->grip_count - oldest) * sizeof m->grips[0]);
    m->grips_replaced++;
}

static void list_grip(tendon_fjorden_manager *m, const tendon_fjorden_grip *grip) {
    if (m->grip_capacity == 0) {
        return;
    }
    size_t i = 0;
    while (i < m->grip_count && !tendon_grip_same_identifier(&m->grips[i], grip)) {
        i++;
    }
    if (i == m->grip_capacity) {
        make_room(m);
        i = m->grip_count;
    }
    if (i == m->grip_count) {
        m->grips[m->grip_count++] = *grip;
    } else {
        m->grips[i].rssi = grip->rssi;
        if (grip->name[0] != 0) {
            memcpy(m->grips[i].name, grip->name, sizeof grip->name);
        }
    }
    m->grips[i].seen_ms = m->now;
    tendon_grip_do(m, TENDON_FJORDEN_OUT_GRIPS);
}

static void advertised(tendon_fjorden_manager *m, const tendon_fjorden_grip *grip) {
    if (m->state == TENDON_FJORDEN_SCANNING_FOR_GRIPS) {
        list_grip(m, grip);
    } else if (m->state == TENDON_FJORDEN_SCANNING_FOR_BONDED && is_bonded_to(m, grip) && m->now >= m->retry_at) {
        m->grip = *grip;
        if (grip->name[0] == 0) {
            memcpy(m->grip.name, m->configuration.bond.name, sizeof m->grip.name);
        }
        tendon_grip_do(m, TENDON_FJORDEN_OUT_SCAN_STOP);
        tendon_grip_connect(m);
        if (!m->has_deadline) {
            tendon_grip_start_deadline(m);
        }
    }
}

/* ---- steps of a connection ---- */

static void next(tendon_fjorden_manager *m, tendon_fjorden_step step, tendon_fjorden_output_kind output) {
    m->step = step;
    tendon_grip_do(m, output);
}

static void characteristics_found(tendon_fjorden_manager *m) {
    if (is_bonded_to(m, &m->grip)) {
        next(m, TENDON_FJORDEN_STEP_FIRMWARE, TENDON_FJORDEN_OUT_READ_FIRMWARE);
        return;
    }
    tendon_grip_pause_deadline(m, m->now);
    next(m, TENDON_FJORDEN_STEP_PAIRING, TENDON_FJORDEN_OUT_PAIR);
}

static void paired(tendon_fjorden_manager *m) {
    tendon_grip_resume_deadline(m, m->now);
    next(m, TENDON_FJORDEN_STEP_FIRMWARE, TENDON_FJORDEN_OUT_READ_FIRMWARE);
}

static tendon_status check_firmware(const tendon_fjorden_manager *m, const char *text, size_t length) {
    tendon_fjorden_version version, minimum = {0};
    if (text == NULL || !tendon_fjorden_version_parse(text, length, &version)) {
        return TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION;
    }
    (void)tendon_fjorden_version_parse(m->configuration.minimum_firmware, sizeof m->configuration.minimum_firmware,
                                       &minimum);
    return tendon_fjorden_version_compare(&version, &minimum) < 0 ? TENDON_FJORDEN_ERROR_UNSUPPORTED_FIRMWARE
                                                                  : TENDON_OK;
}

/* Read before the pairing: only a version that is too old counts, the others are read again after it. */
static void firmware_read_early(tendon_fjorden_manager *m, const char *text, size_t length) {
    if (check_firmware(m, text, length) == TENDON_FJORDEN_ERROR_UNSUPPORTED_FIRMWARE) {
        fail(m, TENDON_FJORDEN_ERROR_UNSUPPORTED_FIRMWARE, true, true);
    }
}

static void firmware_read(tendon_fjorden_manager *m, const char *text, size_t length) {
    tendon_status status = check_firmware(m, text, length);
    if (status < 0) {
        fail(m, status, true, true);
        return;
    }
    next(m, TENDON_FJORDEN_STEP_NOTIFY, TENDON_FJORDEN_OUT_ENABLE_NOTIFY);
}

static void subscribed(tendon_fjorden_manager *m) {
    m->has_deadline = m->leaves = false;
    m->connected_at = m->now;
    if (!is_bonded_to(m, &m->grip)) {
        if (m->configuration.has_bond) { /* one bond: that of another grip goes */
            tendon_grip_do_grip(m, TENDON_FJORDEN_OUT_REMOVE_BOND, &m->configuration.bond);
        }
        m->configuration.has_bond = true;
        m->configuration.bond = m->grip;
        tendon_grip_do_grip(m, TENDON_FJORDEN_OUT_STORE_BOND, &m->grip);
    }
    tendon_grip_set_state(m, TENDON_FJORDEN_CONNECTED);
    tendon_grip_end_pending(m, TENDON_OK);
}

/* By step: its result event, and the FJORDEN error codes if it failed (0: it cannot fail) and if the connection was
 * lost. */
static const struct {
    uint8_t kind, failed, lost;
} steps[] = {
    [TENDON_FJORDEN_STEP_NONE] = {0, 0, CODE(CONNECTION_TIMEOUT)},
    [TENDON_FJORDEN_STEP_LINK] = {TENDON_FJORDEN_ON_LINK_UP, 0, CODE(CONNECTION_TIMEOUT)},
    [TENDON_FJORDEN_STEP_SERVICES] = {TENDON_FJORDEN_ON_SERVICES, CODE(NO_SERVICE), CODE(DISCOVERY_CANCELLED)},
    [TENDON_FJORDEN_STEP_CHARACTERISTICS] = {TENDON_FJORDEN_ON_CHARACTERISTICS, CODE(NO_CHARACTERISTICS),
                                             CODE(DISCOVERY_CANCELLED)},
    [TENDON_FJORDEN_STEP_PAIRING] = {TENDON_FJORDEN_ON_PAIRING, CODE(PAIRING_DECLINED), CODE(PAIRING_DECLINED)},
    [TENDON_FJORDEN_STEP_FIRMWARE] = {TENDON_FJORDEN_ON_FIRMWARE, 0, CODE(NO_FIRMWARE_VERSION)},
    [TENDON_FJORDEN_STEP_NOTIFY] = {TENDON_FJORDEN_ON_NOTIFY, CODE(NO_NOTIFY), CODE(NO_NOTIFY)},
};

/* Processes the result of a step; the result of another step is ignored. Only while CONNECTING there is a step. */
static void answered(tendon_fjorden_manager *m, const tendon_fjorden_input *input) {
    if (m->step == TENDON_FJORDEN_STEP_PAIRING && input->kind == TENDON_FJORDEN_ON_FIRMWARE) {
        firmware_read_early(m, input->text, input->text_length);
        return;
    }
    if (steps[m->step].kind != input->kind) {
        return;
    }
    if (steps[m->step].failed != 0 && !input->ok) {
        fail(m, TENDON_STATUS(TENDON_LAYER_FJORDEN, steps[m->step].failed), true, true);
        return;
    }
    switch (input->kind) {
    case TENDON_FJORDEN_ON_LINK_UP:
        next(m, TENDON_FJORDEN_STEP_SERVICES, TENDON_FJORDEN_OUT_DISCOVER_SERVICES);
        break;
    case TENDON_FJORDEN_ON_SERVICES:
        next(m, TENDON_FJORDEN_STEP_CHARACTERISTICS, TENDON_FJORDEN_OUT_DISCOVER_CHARACTERISTICS);
        break;
    case TENDON_FJORDEN_ON_CHARACTERISTICS:
        characteristics_found(m);
        break;
    case TENDON_FJORDEN_ON_PAIRING:
        paired(m);
        break;
    case TENDON_FJORDEN_ON_FIRMWARE:
        firmware_read(m, input->text, input->text_length);
        break;
    default:
        subscribed(m);
        break;
    }
}

static tendon_status error_of_loss(const tendon_fjorden_manager *m, tendon_status reason) {
    switch (reason) {
    case TENDON_RADIO_ERROR_PAIRING_FAILED:
        return TENDON_FJORDEN_ERROR_PAIRING_DECLINED;
    case TENDON_ERROR_CANCELLED:
        return TENDON_FJORDEN_ERROR_DISCOVERY_CANCELLED;
    default:
        return TENDON_STATUS(TENDON_LAYER_FJORDEN, steps[m->step].lost);
    }
}

static bool reconnects(const tendon_fjorden_manager *m) {
    return m->configuration.auto_reconnect && m->configuration.has_bond;
}

static void link_lost(tendon_fjorden_manager *m, tendon_status reason) {
    if (m->state == TENDON_FJORDEN_CONNECTING) {
        fail(m, error_of_loss(m, reason), false, reason == TENDON_RADIO_ERROR_PAIRING_FAILED);
    } else if (m->state == TENDON_FJORDEN_CONNECTED) {
        if (reconnects(m)) {
            m->reconnecting = true;
            if (m->now - m->connected_at >= TENDON_FJORDEN_STABLE_MS || m->failures == 0) {
                m->failures = m->leaves; /* a grip that said that it goes has a pause */
            }
            look_again(m);
        } else {
            tendon_grip_set_state(m, TENDON_FJORDEN_READY);
        }
    }
}

/* ---- adapter and permission ---- */

static void power_changed(tendon_fjorden_manager *m, bool on) {
    m->powered = on;
    if (on) {
        if (m->state == TENDON_FJORDEN_UNAVAILABLE && m->reconnecting) {
            look_again(m);
        } else if (m->state == TENDON_FJORDEN_UNAVAILABLE) {
            tendon_grip_set_state(m, TENDON_FJORDEN_READY);
        }
        return;
    }
    if (m->state == TENDON_FJORDEN_UNINITIALIZED || m->state == TENDON_FJORDEN_UNAUTHORIZED) {
        return;
    }
    m->reconnecting = m->reconnecting || (m->state == TENDON_FJORDEN_CONNECTED && reconnects(m));
    tendon_grip_set_state(m, TENDON_FJORDEN_UNAVAILABLE);
    tendon_grip_end_pending(m, TENDON_FJORDEN_ERROR_INVALID_MANAGER_STATE);
}

static void permission_given(tendon_fjorden_manager *m, bool allowed) {
    m->authorization = allowed ? TENDON_FJORDEN_AUTHORIZATION_ALLOWED : TENDON_FJORDEN_AUTHORIZATION_DENIED;
    if (m->asking) {
        tendon_grip_start_with_permission(m);
    }
}

void tendon_grip_event(tendon_fjorden_manager *m, const tendon_fjorden_input *input) {
    switch (input->kind) {
    case TENDON_FJORDEN_ON_PERMISSION:
        permission_given(m, input->ok);
        break;
    case TENDON_FJORDEN_ON_POWER:
        power_changed(m, input->ok);
        break;
    case TENDON_FJORDEN_ON_ADVERTISEMENT:
        advertised(m, &input->grip);
        break;
    case TENDON_FJORDEN_ON_LINK_DOWN:
        link_lost(m, input->reason);
        break;
    case TENDON_FJORDEN_ON_TICK:
        break;
    default:
        answered(m, input);
        break;
    }
}
