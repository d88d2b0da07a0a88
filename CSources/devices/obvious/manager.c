/* SPDX-License-Identifier: MIT */
/* The table of the manager's states, what moves it, and the calls of the application. */
#include "manager_parts.h"

#include <string.h>

/* Operations of a row. P: the transfer of a provisioning package, which is part of an update. */
enum {
    D = TENDON_OBVIOUS_GET_INFO,
    S = TENDON_OBVIOUS_CHECK_STATUS,
    T = TENDON_OBVIOUS_TOGGLE,
    E = TENDON_OBVIOUS_SET_TOGGLES,
    U = TENDON_OBVIOUS_UPDATE_FEATURES,
    C = TENDON_OBVIOUS_CHECK_FIRMWARE,
    G = TENDON_OBVIOUS_UPGRADE_FIRMWARE,
    P = 0x80,
    X = U | P | G,
    ALL = 0xFF
};

/* Of any state; of the states of a transfer; the state stays. */
enum { ANY = S_COUNT, TRANSFER, SAME };
enum { ANY_INPUT = 31 };

/* What a row reports: an event of provisioning, or of the update. */
enum { NOTHING, STARTS, PROVISIONED, NO_PACKAGE, NOT_WRITTEN, NOT_ALLOWED, TOO_LATE, RESETS, RESET };
enum { UPDATE = 0x10 };
static const uint8_t events[] = {[STARTS] = TENDON_OBVIOUS_PROVISION_START,
                                 [PROVISIONED] = TENDON_OBVIOUS_PROVISION_SUCCESS,
                                 [NO_PACKAGE] = TENDON_OBVIOUS_PROVISION_DOWNLOAD_FAILED,
                                 [NOT_WRITTEN] = TENDON_OBVIOUS_PROVISION_WRITE_FAILED,
                                 [NOT_ALLOWED] = TENDON_OBVIOUS_PROVISION_FAILED,
                                 [TOO_LATE] = TENDON_OBVIOUS_PROVISION_TIMEOUT,
                                 [RESETS] = UPDATE | TENDON_OBVIOUS_UPDATE_SUCCESS_RESETTING,
                                 [RESET] = UPDATE | TENDON_OBVIOUS_UPDATE_RESET_COMPLETE};

/* Results; KEPT: that of an earlier row. */
enum { GOOD, UNPROVISIONED, NO_DOWNLOAD, NO_WRITE, FAILED, LATE, NONE, KEPT };
static const uint8_t results[] = {
    TENDON_OBVIOUS_UPDATE_SUCCESS,      TENDON_OBVIOUS_UPDATE_NOT_PROVISIONED, TENDON_OBVIOUS_UPDATE_DOWNLOAD_FAILED,
    TENDON_OBVIOUS_UPDATE_WRITE_FAILED, TENDON_OBVIOUS_UPDATE_FAILED,          TENDON_OBVIOUS_UPDATE_TIMEOUT,
    TENDON_OBVIOUS_UNAVAILABLE};

enum {
    A_GIVEN = I_ANSWER + TENDON_OBVIOUS_ANSWER_GIVEN,
    A_NOTHING = I_ANSWER + TENDON_OBVIOUS_ANSWER_NOTHING,
    A_REFUSED = I_ANSWER + TENDON_OBVIOUS_ANSWER_REFUSED,
    A_PROVISION = I_ANSWER + TENDON_OBVIOUS_ANSWER_PROVISION,
    A_FAILED = I_ANSWER + TENDON_OBVIOUS_ANSWER_FAILED
};

typedef struct row {
    unsigned state : 6, input : 5, operations : 8, say : 4, next : 6, result : 3;
} row;

/* The first row that fits applies; without one the input is ignored. */
static const row rows[] = {
    /* opening */
    {S_START, I_TIMER, ALL, NOTHING, S_CONNECT, KEPT},
    {S_IDLE, I_OK, ALL, NOTHING, S_CONNECT, KEPT},
    {S_IDLE, I_CLOSED, ALL, NOTHING, S_CONNECT, KEPT},
    {S_CONNECT, I_OPEN, U | C | G, NOTHING, S_HELLO, KEPT},
    {S_CONNECT, I_OPEN, D, NOTHING, S_INFO, KEPT},
    {S_CONNECT, I_OPEN, S | T, NOTHING, S_STATUS, KEPT},
    {S_CONNECT, I_OPEN, E, NOTHING, S_TOGGLE, KEPT},
    {S_HELLO, I_OK, ALL, NOTHING, S_INFO, KEPT},
    {S_INFO, I_OK, D, NOTHING, S_IDLE, GOOD},
    {S_INFO, I_OK, U, NOTHING, S_NONCE, KEPT},
    {S_INFO, I_OK, C | G, NOTHING, S_FW_STATE, KEPT},
    /* features */
    {S_STATUS, I_OK, S | T, NOTHING, S_STATUS, KEPT},
    {S_STATUS, I_ALT, S, NOTHING, S_IDLE, GOOD},
    {S_STATUS, I_ALT, T, NOTHING, S_TOGGLE, KEPT},
    {S_TOGGLE, I_OK, T | E, NOTHING, S_TOGGLE, KEPT},
    {S_TOGGLE, I_ALT, T | E, NOTHING, S_IDLE, GOOD},
    /* the packages of an update */
    {S_NONCE, I_OK, U, NOTHING, S_FETCH, KEPT},
    {S_NONCE, I_ALT, U, STARTS, S_PROVISION, KEPT},
    {S_NONCE, I_SECOND, U, NOTHING, S_PROVISION, KEPT},
    {S_FETCH, A_GIVEN, U, NOTHING, S_BEGIN, KEPT},
    {S_FETCH, A_NOTHING, U, NOTHING, S_IDLE, GOOD},
    {S_FETCH, A_PROVISION, U, STARTS, S_PROVISION, KEPT},
    {S_FETCH, A_REFUSED, U, NOTHING, S_IDLE, UNPROVISIONED},
    {S_FETCH, A_FAILED, U, NOTHING, S_IDLE, NO_DOWNLOAD},
    {S_PROVISION, A_GIVEN, P, NOTHING, S_BEGIN, KEPT},
    {S_PROVISION, A_REFUSED, U, NOT_ALLOWED, S_IDLE, UNPROVISIONED},
    {S_PROVISION, A_FAILED, U, NO_PACKAGE, S_IDLE, FAILED},
    /* transfer */
    {S_BEGIN, I_OK, X, NOTHING, S_PREFIX, KEPT},
    {S_PREFIX, I_TIMER, X, NOTHING, S_PREFIX, KEPT},
    {S_PREFIX, I_OK, X, NOTHING, S_DATA, KEPT},
    {S_PREFIX, I_ALT, X, NOTHING, S_END, KEPT},
    {S_PREFIX, I_SECOND, X, NOTHING, S_RESTART, KEPT},
    {S_RESTART, I_OK, X, NOTHING, S_BEGIN, KEPT},
    {S_RESTART, I_ALT, X, NOTHING, S_INFO, KEPT},
    {S_DATA, I_OK, X, NOTHING, S_DATA, KEPT},
    {S_DATA, I_ALT, X, NOTHING, S_END, KEPT},
    {S_END, I_OK, U, NOTHING, S_IDLE, GOOD},
    {S_END, I_OK, G, NOTHING, S_ACTIVATE, KEPT},
    {S_END, I_ALT, U, PROVISIONED, S_INFO, KEPT},
    {S_END, I_SECOND, G, NOTHING, S_RESTART, KEPT},
    {S_END, I_SECOND, U, RESETS, S_REBOOT, KEPT},
    {S_END, I_THIRD, U, RESETS, S_RESETTING, KEPT},
    {S_END, I_TIMEOUT, X, NOTHING, S_GREET, KEPT},
    {S_GREET, I_OK, X, NOTHING, S_QUERY, KEPT},
    {S_QUERY, I_OK, X, NOTHING, S_BEGIN, KEPT},
    {S_QUERY, I_SECOND, X, NOTHING, S_RESTART, KEPT},
    {S_BACKOFF, I_TIMER, X, NOTHING, S_RECONNECT, KEPT},
    {S_BACKOFF, I_CLOSED, X, NOTHING, SAME, KEPT},
    {S_BACKOFF, I_FAIL, G, NOTHING, S_IDLE, FAILED},
    {S_RECONNECT, I_OPEN, X, NOTHING, S_BEGIN, KEPT},
    {S_RECONNECT, I_ALT, X, NOTHING, S_QUERY, KEPT},
    {S_RECONNECT, I_SECOND, X, NOTHING, S_RESTART, KEPT},
    {TRANSFER, I_CLOSED, X, NOTHING, S_BACKOFF, KEPT},
    {S_RECONNECT, I_UNUSABLE, X, NOTHING, S_BACKOFF, KEPT},
    {S_RECONNECT, I_TIMER, X, NOTHING, S_BACKOFF, KEPT},
    {TRANSFER, I_TIMEOUT, G, NOTHING, S_BACKOFF, KEPT},
    {TRANSFER, I_TIMEOUT, U, NOTHING, S_ABORT, LATE},
    {TRANSFER, I_TIMEOUT, P, TOO_LATE, S_ABORT, FAILED},
    {TRANSFER, I_LIMIT, U, NOTHING, S_ABORT, LATE},
    {TRANSFER, I_LIMIT, P, TOO_LATE, S_ABORT, FAILED},
    {TRANSFER, I_FAIL, U, NOTHING, S_ABORT, NO_WRITE},
    {TRANSFER, I_FAIL, P, NOT_WRITTEN, S_ABORT, FAILED},
    {TRANSFER, I_FAIL, G, NOTHING, S_ABORT, FAILED},
    {TRANSFER, I_CANCEL, P, NOT_ALLOWED, S_ABORT, FAILED},
    {TRANSFER, I_CANCEL, X, NOTHING, S_ABORT, FAILED},
    {S_ABORT, ANY_INPUT, ALL, NOTHING, S_IDLE, KEPT},
    /* after an update that resets the device */
    {S_REBOOT, I_OK, U, NOTHING, S_RESETTING, KEPT},
    {S_REBOOT, I_TIMEOUT, U, NOTHING, S_RESETTING, KEPT},
    {S_REBOOT, I_CLOSED, U, RESET, S_REJOIN, KEPT},
    {S_RESETTING, I_CLOSED, U, RESET, S_REJOIN, KEPT},
    {S_RESETTING, I_TIMER, U, NOTHING, S_DROP, KEPT},
    {S_DROP, I_CLOSED, U, RESET, S_REJOIN, KEPT},
    {S_JOINING, I_OPEN, U, NOTHING, S_COUNTER, KEPT},
    {S_COUNTER, I_OK, U, NOTHING, S_IDLE, GOOD},
    {S_COUNTER, I_CLOSED, U, NOTHING, S_REJOIN, KEPT},
    /* firmware */
    {S_FW_STATE, I_OK, C, NOTHING, S_OFFER, KEPT},
    {S_FW_STATE, I_OK, G, NOTHING, S_DOWNLOAD, KEPT},
    {S_FW_STATE, I_ALT, C | G, NOTHING, S_SELF_TEST, KEPT},
    {S_FW_STATE, I_SECOND, G, NOTHING, S_IDLE, GOOD},
    {S_FW_STATE, I_THIRD, G, NOTHING, S_ACTIVATE, KEPT},
    {S_OFFER, A_GIVEN, C, NOTHING, S_IDLE, GOOD},
    {S_OFFER, A_NOTHING, C, NOTHING, S_IDLE, NONE},
    {S_OFFER, A_REFUSED, C, NOTHING, S_IDLE, NONE},
    {S_OFFER, A_FAILED, C, NOTHING, S_IDLE, NONE},
    {S_DOWNLOAD, A_GIVEN, G, NOTHING, S_BEGIN, KEPT},
    {S_DOWNLOAD, A_NOTHING, G, NOTHING, S_IDLE, NONE},
    {S_DOWNLOAD, A_REFUSED, G, NOTHING, S_IDLE, NO_DOWNLOAD},
    {S_DOWNLOAD, A_FAILED, G, NOTHING, S_IDLE, NO_DOWNLOAD},
    {S_ACTIVATE, I_OK, G, NOTHING, S_DOWN, KEPT},
    {S_ACTIVATE, I_TIMEOUT, G, NOTHING, S_DOWN, KEPT},
    {S_ACTIVATE, I_CLOSED, G, NOTHING, S_REJOIN, KEPT},
    {S_DOWN, I_CLOSED, G, NOTHING, S_REJOIN, KEPT},
    {S_DOWN, I_TIMER, G, NOTHING, S_DROP, KEPT},
    {S_DROP, I_CLOSED, G, NOTHING, S_REJOIN, KEPT},
    {S_JOINING, I_OPEN, G, NOTHING, S_FW_STATE, KEPT},
    {S_REJOIN, I_TIMER, U | G, NOTHING, S_JOINING, KEPT},
    {S_REJOIN, I_CLOSED, U | G, NOTHING, SAME, KEPT},
    {S_JOINING, I_CLOSED, U | G, NOTHING, S_REJOIN, KEPT},
    {S_JOINING, I_UNUSABLE, U | G, NOTHING, S_REJOIN, KEPT},
    {S_SELF_TEST, I_OK, C | G, NOTHING, S_CONFIRM, KEPT},
    {S_SELF_TEST, I_FAIL, C | G, NOTHING, S_REJECT, FAILED},
    {S_SELF_TEST, I_TIMEOUT, C | G, NOTHING, S_REJECT, FAILED},
    {S_CONFIRM, I_OK, G, NOTHING, S_IDLE, GOOD},
    {S_CONFIRM, I_ALT, C, NOTHING, S_OFFER, KEPT},
    {S_CONFIRM, I_TIMEOUT, C | G, NOTHING, S_FW_STATE, KEPT},
    /* a device that leaves between its trial boot and the confirmation comes back */
    {S_FW_STATE, I_CLOSED, P, NOTHING, S_REJOIN, KEPT},
    {S_SELF_TEST, I_CLOSED, P, NOTHING, S_REJOIN, KEPT},
    {S_CONFIRM, I_CLOSED, P, NOTHING, S_REJOIN, KEPT},
    /* everything else ends the operation */
    {ANY, I_LIMIT, U, NOTHING, S_IDLE, LATE},
    {ANY, I_TIMER, U, NOTHING, S_IDLE, LATE},
    {S_REJECT, I_OK, ALL, NOTHING, S_IDLE, KEPT},
    {ANY, I_FAIL, ALL, NOTHING, S_IDLE, FAILED},
    {ANY, I_TIMEOUT, ALL, NOTHING, S_IDLE, FAILED},
    {ANY, I_UNUSABLE, ALL, NOTHING, S_IDLE, FAILED},
    {ANY, I_CLOSED, ALL, NOTHING, S_IDLE, FAILED},
    {ANY, I_TIMER, ALL, NOTHING, S_IDLE, FAILED},
    {ANY, I_LIMIT, ALL, NOTHING, S_IDLE, FAILED},
    {ANY, I_CANCEL, ALL, NOTHING, S_IDLE, FAILED},
};
enum { ROWS_COUNT = sizeof rows / sizeof rows[0] };

/* P is set for what is transferred, and for an upgrade after its trial boot. */
static uint8_t mask_of(const tendon_obvious_manager *m) {
    bool confirming = m->operation == G && m->rejoining && m->state >= S_FW_STATE && m->state <= S_CONFIRM;
    return m->obj == TENDON_OBVIOUS_OBJECT_PROVISION ? P : confirming ? P | G : m->operation;
}

static const row *find(const tendon_obvious_manager *m, uint8_t input) {
    uint8_t mask = mask_of(m);
    bool transfer = m->state >= S_BEGIN && m->state <= S_RECONNECT;
    for (size_t i = 0; i < ROWS_COUNT; i++) {
        const row *r = &rows[i];
        bool state = r->state == m->state || r->state == ANY || (r->state == TRANSFER && transfer);
        if (state && (r->input == input || r->input == ANY_INPUT) && (r->operations & mask) != 0) {
            return r;
        }
    }
    return NULL;
}

/* Results of an upgrade. What the device cannot do at all, and a failed pairing, have their own. */
static int upgrade_result(const tendon_obvious_manager *m) {
    switch (m->result) {
    case TENDON_OBVIOUS_UPDATE_SUCCESS:
        return TENDON_OBVIOUS_UPGRADE_SUCCESS;
    case TENDON_OBVIOUS_UPDATE_DOWNLOAD_FAILED:
        return TENDON_OBVIOUS_UPGRADE_DOWNLOAD_FAILED;
    case TENDON_OBVIOUS_UNAVAILABLE:
        return TENDON_OBVIOUS_UPGRADE_UNAVAILABLE;
    default:
        break;
    }
    if (m->obj != 0) { /* it had begun */
        return TENDON_OBVIOUS_UPGRADE_FAILED;
    }
    bool unable =
        m->status == TENDON_OBVIOUS_ERROR_UNSUPPORTED_PROFILE || m->status == TENDON_OBVIOUS_ERROR_NOT_SUPPORTED;
    return unable                                           ? TENDON_OBVIOUS_UPGRADE_UNAVAILABLE
           : m->status == TENDON_OBVIOUS_ERROR_UNAUTHORIZED ? TENDON_OBVIOUS_UPGRADE_BOND_CANCELLED
                                                            : TENDON_OBVIOUS_UPGRADE_FAILED;
}

static void tell_held(tendon_obvious_manager *m) {
    if (m->held_count > 0) {
        tendon_obvious_manager_tell(m, TENDON_OBVIOUS_EVENT_CHANGED, 0);
        m->held_count = 0;
    }
}

static void finish(tendon_obvious_manager *m) {
    int code = m->result;
    bool good = code == TENDON_OBVIOUS_UPDATE_SUCCESS, clears = m->package_kind == TENDON_OBVIOUS_PACKAGE_CLEAR;
    bool writes = m->obj != 0 && (m->operation == G || good);
    if (good) {
        m->status = TENDON_OK;
    }
    if (clears && code == TENDON_OBVIOUS_UPDATE_WRITE_FAILED) {
        code = TENDON_OBVIOUS_UPDATE_CLEAR_FAILED;
    } else if (clears && good) {
        tendon_obvious_manager_tell(m, TENDON_OBVIOUS_EVENT_UPDATE, TENDON_OBVIOUS_UPDATE_CLEAR_SUCCESS);
    }
    if (m->operation == G) {
        code = upgrade_result(m);
    }
    if (writes) {
        tendon_obvious_manager_tell(m, TENDON_OBVIOUS_EVENT_NEED, TENDON_OBVIOUS_NEED_REPORT);
    }
    m->deadline = m->limit = UINT64_MAX;
    m->session->keep_alive = false;
    tendon_obvious_manager_tell(m, TENDON_OBVIOUS_EVENT_DONE, code);
    tell_held(m);
}

/* One input, and those that it causes. */
static void feed(tendon_obvious_manager *m, uint8_t input) {
    while (input != I_NONE && m->operation != 0) {
        const row *r = find(m, input);
        if (r == NULL) {
            m->illegal_inputs++;
            return;
        }
        if (r->result != KEPT) {
            m->result = results[r->result];
        }
        if (r->say != NOTHING) {
            uint8_t code = events[r->say];
            bool update = (code & UPDATE) != 0;
            tendon_obvious_manager_tell(m, update ? TENDON_OBVIOUS_EVENT_UPDATE : TENDON_OBVIOUS_EVENT_PROVISIONING,
                                        code & 0x0F);
        }
        if (r->next == SAME) {
            return;
        }
        m->state = r->next;
        input = tendon_obvious_manager_enter(m);
        if (m->state == S_IDLE) {
            finish(m);
            return;
        }
    }
}

/* A request that ended with its connection: the end of the connection follows as an input of its own. */
static void on_response(void *context, const tendon_obvious_response *response, uint64_t now) {
    tendon_obvious_manager *m = context;
    m->now = now;
    if (m->session->state != TENDON_OBVIOUS_SESSION_OPEN || m->operation == 0) {
        return;
    }
    /* Idle: of an operation that was cancelled, whatever the response is; the next one can begin. */
    if (response->status == TENDON_OK || m->state == S_IDLE) {
        feed(m, tendon_obvious_manager_judge(m, response->payload));
        return;
    }
    (void)tendon_obvious_manager_fail(m, response->status);
    feed(m, tendon_obvious_manager_judge_error(m, response));
}

/* ---- events of the device ---- */

static void hold(tendon_obvious_manager *m, tendon_obvious_feature feature) {
    size_t at = 0;
    while (at < m->held_count && m->held[at].id != feature.id) {
        at++;
    }
    if (at == TENDON_OBVIOUS_LIST_MAX) { /* full: nothing is lost */
        tell_held(m);
        at = 0;
    }
    m->held[at] = feature;
    if (at == m->held_count) {
        m->held_count++;
    }
}

static void on_session_event(void *context, const tendon_obvious_session_event *event, uint64_t now) {
    _Static_assert(I_UNUSABLE - I_OPEN == TENDON_OBVIOUS_SESSION_EVENT_UNUSABLE &&
                       I_CLOSED - I_OPEN == TENDON_OBVIOUS_SESSION_EVENT_CLOSED,
                   "in the order of the events");
    tendon_obvious_manager *m = context;
    m->now = now;
    if (m->next_event != NULL) {
        m->next_event(m->next_context, event, now);
    }
    if (event->kind != TENDON_OBVIOUS_SESSION_EVENT_DEVICE) {
        uint8_t input = (uint8_t)(I_OPEN + event->kind);
        if (input == I_OPEN) {
            m->announced = false; /* what it announced before has happened */
            input = tendon_obvious_manager_judge_open(m);
        } else if (m->state != S_IDLE) { /* else it was of the connection before */
            input = event->status == TENDON_OBVIOUS_ERROR_PROTOCOL ? I_FAIL : input;
            m->status = m->status == TENDON_OK ? event->status : m->status;
        }
        if (m->operation != 0) {
            feed(m, input);
        }
    } else if (event->opcode == TENDON_OBVIOUS_EVT_REBOOTING) {
        m->announced = true;
    } else if (event->opcode == TENDON_OBVIOUS_EVT_FEATURE_CHANGED) {
        for (size_t i = 0; i < event->payload->features.count; i++) {
            hold(m, tendon_obvious_feature_at(event->payload, i));
        }
        if (m->operation == 0) {
            tell_held(m);
        }
    }
}

/* ---- inputs from the connection, and time ---- */

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_obvious_session_connected(((tendon_obvious_manager *)context)->session, client, now);
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    tendon_obvious_session_disconnected(((tendon_obvious_manager *)context)->session, reason, now);
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    tendon_obvious_session_paired(((tendon_obvious_manager *)context)->session, status, now);
}

static void on_tick(void *context, uint64_t now) {
    tendon_obvious_manager *m = context;
    m->now = now;
    tendon_obvious_session_tick(m->session, now);
    if (m->operation == 0) {
        return;
    }
    if (m->answered) {
        m->answered = false;
        m->deadline = UINT64_MAX;
        feed(m, tendon_obvious_manager_judge_answer(m));
    } else if (now >= m->limit || now >= m->deadline) {
        bool late = now >= m->limit;
        m->deadline = UINT64_MAX;
        if (late) {
            m->limit = UINT64_MAX;
            m->status = m->cancelled ? TENDON_ERROR_CANCELLED : TENDON_ERROR_TIMEOUT;
        }
        feed(m, !late ? I_TIMER : m->cancelled ? I_CANCEL : I_LIMIT);
    }
}

static uint64_t deadline_of(const void *context) {
    const tendon_obvious_manager *m = context;
    uint64_t due = tendon_obvious_session_deadline(m->session);
    due = m->deadline < due ? m->deadline : due;
    return m->limit < due ? m->limit : due;
}

const tendon_session_inputs tendon_obvious_manager_inputs = {
    .connected = on_connected,
    .disconnected = on_disconnected,
    .paired = on_paired,
    .tick = on_tick,
    .deadline = deadline_of,
    .pairs = true,
};

/* ---- calls ---- */

tendon_status tendon_obvious_manager_init(tendon_obvious_manager *m, const tendon_obvious_manager_config *config) {
    if (config->session == NULL || config->on_event == NULL || config->ring == NULL || config->chunk_max == 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    memset(m, 0, sizeof *m);
    m->config = *config;
    m->session = config->session;
    m->deadline = m->limit = UINT64_MAX;
    m->on_response = on_response;
    m->next_event = config->session->config.on_event;
    m->next_context = config->session->config.context;
    config->session->config.on_event = on_session_event;
    config->session->config.context = m;
    return TENDON_OK;
}

/* True if the list fits the operation. */
static bool fits(unsigned operation, const tendon_obvious_feature *features, size_t count) {
    if ((operation & (S | T | E)) == 0) {
        return count == 0;
    }
    if (count == 0 || (operation == T && count != 1)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bool toggle = features[i].toggle == TENDON_OBVIOUS_TOGGLE_ACTIVATED ||
                      features[i].toggle == TENDON_OBVIOUS_TOGGLE_DEACTIVATED;
        if (features[i].id == 0 || features[i].id > TENDON_OBVIOUS_FEATURE_MAX || (operation == E && !toggle)) {
            return false;
        }
    }
    return true;
}

tendon_status tendon_obvious_manager_start(tendon_obvious_manager *m, tendon_obvious_operation operation,
                                           tendon_obvious_feature *features, size_t count, uint64_t now) {
    enum { STATUS_LIMIT_MS = 30000, LIMIT_MS = 1800000 };
    unsigned number = operation;
    if (number == 0 || number > G || (number & (number - 1)) != 0 || !fits(number, features, count) ||
        (number == G && m->config.read == NULL)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (m->operation != 0) {
        return TENDON_ERROR_BUSY;
    }
    m->operation = (uint8_t)number;
    memset(&m->obj, 0, offsetof(tendon_obvious_manager, features) - offsetof(tendon_obvious_manager, obj));
    m->other_trial = false;
    m->percent = -1;
    m->nonce.outstanding = false;
    m->features = features;
    m->feature_count = count;
    m->feature_at = 0;
    m->session->keep_alive = true;
    m->state = S_IDLE; /* until a request of the operation before, or the connection before, has ended */
    if (tendon_obvious_session_ready(m->session) != TENDON_ERROR_BUSY &&
        m->session->state != TENDON_OBVIOUS_SESSION_CLOSING) {
        m->state = S_START;
        m->deadline = now;
    }
    m->limit = now + ((number & (D | S | T | E)) != 0 ? STATUS_LIMIT_MS : LIMIT_MS);
    return TENDON_OK;
}

void tendon_obvious_manager_cancel(tendon_obvious_manager *m, uint64_t now) {
    if (m->operation != 0 && !m->cancelled) {
        m->cancelled = true;
        m->answered = false;
        m->limit = now;
    }
}

tendon_status tendon_obvious_manager_give(tendon_obvious_manager *m, const tendon_obvious_answer *answer,
                                          uint64_t now) {
    bool needs = m->operation != 0 && m->state >= S_FETCH && m->state <= S_DOWNLOAD && !m->answered;
    if ((unsigned)answer->kind >= TENDON_OBVIOUS_ANSWER_COUNT ||
        (answer->kind == TENDON_OBVIOUS_ANSWER_GIVEN && answer->data == NULL)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (!needs) {
        return TENDON_ERROR_WRONG_STATE;
    }
    m->answer = *answer;
    m->answered = true;
    m->deadline = now;
    return TENDON_OK;
}
