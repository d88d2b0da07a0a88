/* SPDX-License-Identifier: MIT */
#include "manager_parts.h"

void tendon_fjorden_configuration_init(tendon_fjorden_configuration *configuration) {
    static const char minimum[] = "1.0.0";
    memset(configuration, 0, sizeof *configuration);
    configuration->timeout_ms = TENDON_FJORDEN_TIMEOUT_MS;
    configuration->auto_reconnect = true;
    memcpy(configuration->minimum_firmware, minimum, sizeof minimum);
}

static bool is_scanning(const tendon_fjorden_manager *m) {
    return m->state == TENDON_FJORDEN_SCANNING_FOR_GRIPS || m->state == TENDON_FJORDEN_SCANNING_FOR_BONDED;
}

void tendon_grip_start_with_permission(tendon_fjorden_manager *m) {
    m->asking = m->has_pending = false;
    if (m->authorization != TENDON_FJORDEN_AUTHORIZATION_ALLOWED) {
        tendon_grip_set_state(m, TENDON_FJORDEN_UNAUTHORIZED);
    } else if (!m->powered) {
        tendon_grip_set_state(m, TENDON_FJORDEN_UNAVAILABLE);
    } else if (m->configuration.has_bond) {
        m->reconnecting = false; /* a search of the program's own, with a timeout */
        tendon_grip_look_for_bonded(m);
        tendon_grip_start_deadline(m);
        tendon_grip_set_pending(m, TENDON_FJORDEN_CALL_START);
        return;
    } else {
        tendon_grip_set_state(m, TENDON_FJORDEN_READY);
    }
    tendon_grip_result_state(m, TENDON_FJORDEN_CALL_START);
}

static void start(tendon_fjorden_manager *m, bool may_ask) {
    switch (m->state) {
    case TENDON_FJORDEN_READY:
    case TENDON_FJORDEN_SCANNING_FOR_GRIPS:
    case TENDON_FJORDEN_CONNECTING:
    case TENDON_FJORDEN_CONNECTED:
        tendon_grip_result_state(m, TENDON_FJORDEN_CALL_START);
        return;
    case TENDON_FJORDEN_SCANNING_FOR_BONDED:
        tendon_grip_result(m, TENDON_FJORDEN_CALL_START, TENDON_FJORDEN_ERROR_ALREADY_SCANNING);
        return;
    case TENDON_FJORDEN_UNINITIALIZED:
    case TENDON_FJORDEN_UNAUTHORIZED:
    case TENDON_FJORDEN_UNAVAILABLE:
    case TENDON_FJORDEN_STATE_COUNT:
        break;
    }
    if (m->authorization != TENDON_FJORDEN_AUTHORIZATION_UNDETERMINED) {
        tendon_grip_start_with_permission(m);
    } else if (may_ask && !m->asking) {
        m->asking = true;
        tendon_grip_set_pending(m, TENDON_FJORDEN_CALL_START);
        tendon_grip_do(m, TENDON_FJORDEN_OUT_REQUEST_PERMISSION);
    } else {
        /* Requesting is not allowed, or a request is pending whose result belongs to the first call. */
        tendon_grip_result_state(m, TENDON_FJORDEN_CALL_START);
    }
}

static void scan(tendon_fjorden_manager *m) {
    tendon_status status = TENDON_OK;
    if (m->state == TENDON_FJORDEN_READY) {
        m->grip_count = 0;
        tendon_grip_do(m, TENDON_FJORDEN_OUT_SCAN_START);
        tendon_grip_set_state(m, TENDON_FJORDEN_SCANNING_FOR_GRIPS);
    } else if (m->state == TENDON_FJORDEN_SCANNING_FOR_BONDED) {
        status = TENDON_FJORDEN_ERROR_ALREADY_SCANNING;
    } else if (m->state != TENDON_FJORDEN_SCANNING_FOR_GRIPS) {
        status = TENDON_FJORDEN_ERROR_INVALID_MANAGER_STATE;
    }
    tendon_grip_result(m, TENDON_FJORDEN_CALL_SCAN, status);
}

static void stop_scanning(tendon_fjorden_manager *m) {
    if (is_scanning(m)) {
        tendon_grip_do(m, TENDON_FJORDEN_OUT_SCAN_STOP);
        tendon_grip_set_state(m, TENDON_FJORDEN_READY);
        tendon_grip_end_pending(m, TENDON_FJORDEN_ERROR_DISCOVERY_CANCELLED);
    }
}

static void connect_grip(tendon_fjorden_manager *m, const tendon_fjorden_grip *grip) {
    if (m->state != TENDON_FJORDEN_READY && m->state != TENDON_FJORDEN_SCANNING_FOR_GRIPS) {
        tendon_grip_result(m, TENDON_FJORDEN_CALL_CONNECT, TENDON_FJORDEN_ERROR_INVALID_MANAGER_STATE);
        return;
    }
    if (m->state == TENDON_FJORDEN_SCANNING_FOR_GRIPS) {
        tendon_grip_do(m, TENDON_FJORDEN_OUT_SCAN_STOP);
    }
    tendon_grip_set_pending(m, TENDON_FJORDEN_CALL_CONNECT);
    m->grip = *grip;
    tendon_grip_connect(m);
    tendon_grip_start_deadline(m);
}

static void connect_bonded(tendon_fjorden_manager *m) {
    const tendon_fjorden_input_kind call = TENDON_FJORDEN_CALL_CONNECT_BONDED;
    if (!m->configuration.has_bond) {
        tendon_grip_result(m, call, TENDON_FJORDEN_ERROR_NO_BOND);
    } else if (m->state == TENDON_FJORDEN_SCANNING_FOR_BONDED) {
        tendon_grip_result(m, call, TENDON_FJORDEN_ERROR_ALREADY_SCANNING);
    } else if (m->state == TENDON_FJORDEN_CONNECTED) {
        tendon_grip_result_state(m, call);
    } else if (m->state == TENDON_FJORDEN_READY) {
        tendon_grip_look_for_bonded(m);
        tendon_grip_start_deadline(m);
        tendon_grip_set_pending(m, call);
    } else {
        tendon_grip_result(m, call, TENDON_FJORDEN_ERROR_INVALID_MANAGER_STATE);
    }
}

/* A radio that is off, or not permitted, stays what it is. */
static bool may_be_ready(const tendon_fjorden_manager *m) {
    return m->state != TENDON_FJORDEN_UNAVAILABLE && m->state != TENDON_FJORDEN_UNAUTHORIZED &&
           (m->state != TENDON_FJORDEN_UNINITIALIZED ||
            (m->authorization == TENDON_FJORDEN_AUTHORIZATION_ALLOWED && m->powered));
}

static void forget(tendon_fjorden_manager *m) {
    if (!m->configuration.has_bond) {
        tendon_grip_result(m, TENDON_FJORDEN_CALL_FORGET, TENDON_FJORDEN_ERROR_NO_BOND);
        return;
    }
    if (m->state == TENDON_FJORDEN_SCANNING_FOR_BONDED) {
        tendon_grip_do(m, TENDON_FJORDEN_OUT_SCAN_STOP);
    } else if (m->state == TENDON_FJORDEN_CONNECTING || m->state == TENDON_FJORDEN_CONNECTED) {
        tendon_grip_do(m, TENDON_FJORDEN_OUT_DISCONNECT);
    }
    m->asking = false; /* a start that waits for the permission also ends here */
    m->reconnecting = false;
    m->configuration.has_bond = false;
    tendon_grip_do_grip(m, TENDON_FJORDEN_OUT_REMOVE_BOND, &m->configuration.bond);
    if (may_be_ready(m)) {
        tendon_grip_set_state(m, TENDON_FJORDEN_READY);
    }
    tendon_grip_end_pending(m, TENDON_FJORDEN_ERROR_DISCOVERY_CANCELLED);
    tendon_grip_result(m, TENDON_FJORDEN_CALL_FORGET, TENDON_OK);
}

static void configure(tendon_fjorden_manager *m, const tendon_fjorden_configuration *configuration) {
    if (m->configured) {
        tendon_grip_result(m, TENDON_FJORDEN_CALL_CONFIGURE, TENDON_FJORDEN_ERROR_MANAGER_ALREADY_CONFIGURED);
        return;
    }
    if (configuration != NULL) {
        m->configuration = *configuration;
    } else {
        tendon_fjorden_configuration_init(&m->configuration);
    }
    m->configured = true;
    tendon_grip_result(m, TENDON_FJORDEN_CALL_CONFIGURE, TENDON_OK);
}

void tendon_grip_call(tendon_fjorden_manager *m, const tendon_fjorden_input *input) {
    if (!m->configured && input->kind != TENDON_FJORDEN_CALL_CONFIGURE) {
        if (input->kind != TENDON_FJORDEN_CALL_STOP_SCANNING) { /* which returns nothing */
            tendon_grip_result(m, input->kind, TENDON_FJORDEN_ERROR_MANAGER_NOT_CONFIGURED);
        }
        return;
    }
    switch (input->kind) {
    case TENDON_FJORDEN_CALL_CONFIGURE:
        configure(m, input->configuration);
        break;
    case TENDON_FJORDEN_CALL_START:
        start(m, input->ok);
        break;
    case TENDON_FJORDEN_CALL_SCAN:
        scan(m);
        break;
    case TENDON_FJORDEN_CALL_STOP_SCANNING:
        stop_scanning(m);
        break;
    case TENDON_FJORDEN_CALL_CONNECT:
        connect_grip(m, &input->grip);
        break;
    case TENDON_FJORDEN_CALL_CONNECT_BONDED:
        connect_bonded(m);
        break;
    case TENDON_FJORDEN_CALL_FORGET:
        forget(m);
        break;
    default:
        break;
    }
}
