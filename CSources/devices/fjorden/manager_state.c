/* SPDX-License-Identifier: MIT */
/* What the manager does, whatever the reason: outputs, states, results, the deadline. */
#include "manager_parts.h"

/* ---- outputs ---- */

static void put(tendon_fjorden_manager *m, const tendon_fjorden_output *output) {
    if (m->handler != NULL) {
        m->handler(m->context, m, output);
    }
}

void tendon_grip_do_grip(tendon_fjorden_manager *m, tendon_fjorden_output_kind kind, const tendon_fjorden_grip *grip) {
    tendon_fjorden_output output = {.time_ms = m->now, .kind = kind, .state = m->state, .grip = grip};
    put(m, &output);
}

void tendon_grip_do(tendon_fjorden_manager *m, tendon_fjorden_output_kind kind) {
    tendon_grip_do_grip(m, kind, NULL);
}

static const tendon_fjorden_grip *grip_of_state(const tendon_fjorden_manager *m) {
    return m->state == TENDON_FJORDEN_CONNECTING || m->state == TENDON_FJORDEN_CONNECTED ? &m->grip : NULL;
}

void tendon_grip_set_state(tendon_fjorden_manager *m, tendon_fjorden_manager_state state) {
    if (state != TENDON_FJORDEN_CONNECTING) {
        m->step = TENDON_FJORDEN_STEP_NONE;
        m->remainder = 0;
        if (state != TENDON_FJORDEN_SCANNING_FOR_BONDED) {
            m->reconnecting = m->reconnecting && state == TENDON_FJORDEN_UNAVAILABLE; /* until the adapter is back */
            m->has_deadline = false;
            m->failures = state == TENDON_FJORDEN_CONNECTED ? m->failures : 0;
        }
    }
    if (m->state != state) {
        m->state = state;
        tendon_grip_do_grip(m, TENDON_FJORDEN_OUT_STATE, grip_of_state(m));
    }
}

void tendon_grip_result(tendon_fjorden_manager *m, tendon_fjorden_input_kind call, tendon_status status) {
    tendon_fjorden_output output = {
        .time_ms = m->now, .kind = TENDON_FJORDEN_OUT_RESULT, .state = m->state, .call = call, .status = status};
    put(m, &output);
}

void tendon_grip_result_state(tendon_fjorden_manager *m, tendon_fjorden_input_kind call) {
    tendon_fjorden_output output = {.time_ms = m->now,
                                    .kind = TENDON_FJORDEN_OUT_RESULT,
                                    .state = m->state,
                                    .call = call,
                                    .gives_state = true,
                                    .grip = grip_of_state(m)};
    put(m, &output);
}

void tendon_grip_set_pending(tendon_fjorden_manager *m, tendon_fjorden_input_kind call) {
    m->has_pending = true;
    m->pending = call;
}

void tendon_grip_end_pending(tendon_fjorden_manager *m, tendon_status status) {
    if (!m->has_pending) {
        return;
    }
    m->has_pending = false;
    if (m->pending == TENDON_FJORDEN_CALL_START || status == TENDON_OK) {
        tendon_grip_result_state(m, m->pending);
    } else {
        tendon_grip_result(m, m->pending, status);
    }
}

/* ---- shared by calls and events ---- */

void tendon_grip_start_deadline(tendon_fjorden_manager *m) {
    m->has_deadline = true;
    m->deadline = m->now + m->configuration.timeout_ms;
}

void tendon_grip_pause_deadline(tendon_fjorden_manager *m, uint64_t now) {
    m->remainder = m->has_deadline && m->deadline > now ? m->deadline - now : 0;
    m->has_deadline = false;
}

void tendon_grip_resume_deadline(tendon_fjorden_manager *m, uint64_t now) {
    m->has_deadline = true;
    m->deadline = now + m->remainder;
}

void tendon_grip_look_for_bonded(tendon_fjorden_manager *m) {
    m->has_deadline = false;
    m->retry_at = 0;
    tendon_grip_do(m, TENDON_FJORDEN_OUT_SCAN_START);
    tendon_grip_set_state(m, TENDON_FJORDEN_SCANNING_FOR_BONDED);
}

void tendon_grip_connect(tendon_fjorden_manager *m) {
    tendon_grip_do_grip(m, TENDON_FJORDEN_OUT_CONNECT, &m->grip);
    m->step = TENDON_FJORDEN_STEP_LINK;
    tendon_grip_set_state(m, TENDON_FJORDEN_CONNECTING);
}
