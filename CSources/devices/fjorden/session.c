/* SPDX-License-Identifier: MIT */
#include "session.h"

void tendon_grip_tell(tendon_fjorden_session *s, tendon_fjorden_session_event_kind kind, tendon_status status,
                      int detail, const void *what) {
    tendon_fjorden_session_event notice = {
        .kind = kind, .status = status, .received_at = tendon_operation_received_at(&s->op)};
    switch (kind) {
    case TENDON_FJORDEN_SESSION_EVENT_OUTPUT:
    case TENDON_FJORDEN_SESSION_EVENT_TARGET:
        notice.output = what;
        break;
    case TENDON_FJORDEN_SESSION_EVENT_EVENT:
        notice.record = what;
        notice.synthesized = detail != 0;
        break;
    case TENDON_FJORDEN_SESSION_EVENT_RESPONSE:
        notice.response = what;
        break;
    case TENDON_FJORDEN_SESSION_EVENT_BATTERY:
        notice.level = (uint8_t)(status < 0 ? 0 : detail);
        notice.cause = status < 0 ? detail : TENDON_OK;
        break;
    default:
        notice.characteristic = (tendon_fjorden_characteristic)detail;
        break;
    }
    s->config.on_event(s->config.context, &notice, s->op.now);
}

/* ---- the link ---- */

static void drop_link(tendon_fjorden_session *s) {
    s->work.connecting = false;
    s->work.answer = 0;
    if (s->work.linked && !s->work.closing) {
        s->work.closing = true;
        s->config.link.disconnect(s->config.link.context);
    }
}

/* Starts the requested connection after the previous one ended. */
static void begin_link(tendon_fjorden_session *s) {
    if (!s->work.connecting || s->work.linked) {
        return;
    }
    s->work.connecting = false;
    tendon_fjorden_output output = {
        .time_ms = s->op.now, .kind = TENDON_FJORDEN_OUT_CONNECT, .state = s->manager.state, .grip = &s->manager.grip};
    s->work.inside = true;
    tendon_grip_tell(s, TENDON_FJORDEN_SESSION_EVENT_TARGET, TENDON_OK, 0, &output);
    s->work.inside = false;
    s->work.linked = true;
    if (s->config.link.connect(s->config.link.context) < 0) {
        s->work.linked = false;
        tendon_grip_answer(s, TENDON_FJORDEN_ON_LINK_DOWN, false);
    }
}

void tendon_grip_pair(tendon_fjorden_session *s) {
    const tendon_session_link *link = &s->config.link;
    tendon_status status = link->pair != NULL ? link->pair(link->context) : TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    if (status < 0) {
        bool inside = s->work.inside;
        s->work.inside = true;
        tendon_grip_tell(s, TENDON_FJORDEN_SESSION_EVENT_PAIRING, status, 0, NULL);
        s->work.inside = inside;
        tendon_grip_answer(s, s->work.retried ? TENDON_FJORDEN_ON_NOTIFY : TENDON_FJORDEN_ON_PAIRING, false);
    }
}

/* ---- the manager ---- */

static void on_output(void *context, const tendon_fjorden_manager *manager, const tendon_fjorden_output *output) {
    tendon_fjorden_session *s = context;
    (void)manager;
    switch (output->kind) {
    case TENDON_FJORDEN_OUT_CONNECT:
        s->work.connecting = true;
        break;
    case TENDON_FJORDEN_OUT_DISCONNECT:
        drop_link(s);
        break;
    case TENDON_FJORDEN_OUT_DISCOVER_SERVICES:
        tendon_grip_want(s, FJORDEN_DO_MTU);
        tendon_grip_want(s, FJORDEN_DO_DISCOVER); /* services and characteristics: two results */
        break;
    case TENDON_FJORDEN_OUT_READ_FIRMWARE:
        if (s->manager.grip.name[0] == '\0' && s->kept.found[TENDON_FJORDEN_CHARACTERISTIC_NAME].value != 0) {
            tendon_grip_want(s, FJORDEN_DO_NAME);
        }
        tendon_grip_want(s, FJORDEN_DO_FIRMWARE);
        break;
    case TENDON_FJORDEN_OUT_ENABLE_NOTIFY:
        tendon_grip_want(s, FJORDEN_DO_SUBSCRIBE_EVENT);
        break;
    case TENDON_FJORDEN_OUT_STATE:
        if (output->state == TENDON_FJORDEN_UNAVAILABLE) {
            drop_link(s); /* the adapter is off: its links go by themselves, those of memory do not */
        } else if (output->state == TENDON_FJORDEN_CONNECTED) {
            if (s->kept.found[TENDON_FJORDEN_CHARACTERISTIC_CONTROL].cccd != 0) {
                tendon_grip_want(s, FJORDEN_DO_SUBSCRIBE_CONTROL);
            }
            if (s->kept.found[TENDON_FJORDEN_CHARACTERISTIC_BATTERY].cccd != 0) {
                tendon_grip_want(s, FJORDEN_DO_SUBSCRIBE_BATTERY);
            }
            if (s->work.carried) {
                tendon_grip_want(s, FJORDEN_DO_STATE);
            }
        }
        break;
    default:
        break;
    }
    tendon_grip_tell(s, TENDON_FJORDEN_SESSION_EVENT_OUTPUT, TENDON_OK, 0, output);
    if (output->kind == TENDON_FJORDEN_OUT_PAIR) { /* a grip that is not used is not paired: its version comes first */
        s->work.checking = true;
        tendon_grip_want(s, FJORDEN_DO_FIRMWARE);
    }
}

static void give(tendon_fjorden_session *s, const tendon_fjorden_input *input) {
    s->work.inside = true;
    tendon_fjorden_manager_input(&s->manager, s->op.now, input);
    s->work.inside = false;
}

static void give_kind(tendon_fjorden_session *s, tendon_fjorden_input_kind kind, bool ok) {
    tendon_fjorden_input input = {.kind = kind, .ok = ok};
    if (kind == TENDON_FJORDEN_ON_FIRMWARE && ok) { /* the text is what the last operation read */
        input.text = (const char *)s->kept.scratch.value;
        input.text_length = s->work.text_length;
    }
    give(s, &input);
}

static void give_link_down(tendon_fjorden_session *s, tendon_status reason) {
    tendon_fjorden_input input = {.kind = TENDON_FJORDEN_ON_LINK_DOWN, .reason = reason};
    give(s, &input);
}

void tendon_grip_answer(tendon_fjorden_session *s, tendon_fjorden_input_kind kind, bool ok) {
    s->work.answer = (uint8_t)kind;
    s->work.answer_ok = ok;
}

void tendon_grip_flush(tendon_fjorden_session *s) {
    while (s->work.answer != 0) { /* an input can cause a further one in the same call, each one step further */
        tendon_fjorden_input_kind kind = (tendon_fjorden_input_kind)s->work.answer;
        s->work.answer = 0;
        give_kind(s, kind, s->work.answer_ok);
    }
    tendon_grip_pump(s);
}

bool tendon_grip_enter(tendon_fjorden_session *s, uint64_t now) {
    s->op.now = now;
    return s->op.client != NULL && !s->work.closing;
}

/* ---- inputs from the link ---- */

/* The events continue over an automatic reconnection: of the controls that were down then, the state is read. */
static void begin_stream(tendon_fjorden_session *s) {
    const tendon_fjorden_control_state rest = {0};
    uint8_t events[2], shutter = s->stream.last_shutter, lever = s->stream.last_lever;
    memset(&s->stream, 0, sizeof s->stream);
    if (s->manager.reconnecting) {
        s->stream.last_shutter = shutter;
        s->stream.last_lever = lever;
    }
    s->work.carried = tendon_fjorden_resync(s->stream.last_shutter, s->stream.last_lever, &rest, events) > 0;
}

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_fjorden_session *s = context;
    s->op.now = now;
    if (!s->work.linked || s->op.client != NULL) {
        s->counters.illegal_inputs++;
        return;
    }
    s->op.client = client;
    if (s->work.closing) {
        return; /* it came up while it was taken back: its end follows */
    }
    memset(s->kept.found, 0, sizeof s->kept.found);
    begin_stream(s);
    memset(&s->info, 0, sizeof s->info);
    s->has_info = s->has_level = s->work.retried = s->work.checking = false;
    tendon_operation_reset(&s->op);
    give_kind(s, TENDON_FJORDEN_ON_LINK_UP, true);
    tendon_grip_flush(s);
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    tendon_fjorden_session *s = context;
    s->op.now = now;
    if (!s->work.linked) {
        s->counters.illegal_inputs++;
        return;
    }
    bool asked = s->work.closing;
    unsigned unfinished = s->work.wanted;
    s->op.client = NULL;
    tendon_operation_reset(&s->op);
    s->work.linked = s->work.closing = false;
    s->work.answer = 0;
    s->work.wanted = 0;
    if (!asked) {
        give_link_down(s, reason);
    }
    /* The caller that waits for the grip is notified last, when the state of the manager is final. */
    reason = reason < 0 ? reason : TENDON_ERROR_DISCONNECTED;
    tendon_grip_end_request(s, reason, NULL);
    if ((unfinished >> FJORDEN_DO_BATTERY & 1u) != 0) {
        tendon_grip_battery_failed(s, reason);
    }
    if ((unfinished >> FJORDEN_DO_INFO & 1u) != 0) {
        s->work.info_read = false;
        tendon_grip_info_read(s);
    }
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    tendon_fjorden_session *s = context;
    bool present = tendon_grip_enter(s, now);
    bool again = s->work.retried && s->manager.step == TENDON_FJORDEN_STEP_NOTIFY;
    if (!present || (!again && s->manager.step != TENDON_FJORDEN_STEP_PAIRING)) {
        s->counters.illegal_inputs++;
        return;
    }
    s->work.inside = true;
    tendon_grip_tell(s, TENDON_FJORDEN_SESSION_EVENT_PAIRING, status, 0, NULL);
    s->work.inside = false;
    if (status == TENDON_ERROR_DISCONNECTED) {
        return; /* the grip refused nothing; disconnected() reports the end */
    }
    if (!again) {
        tendon_grip_answer(s, TENDON_FJORDEN_ON_PAIRING, status >= 0);
    } else if (status >= 0) {
        tendon_grip_resume_deadline(&s->manager, now);
        tendon_grip_want(s, FJORDEN_DO_SUBSCRIBE_EVENT);
    } else {
        tendon_grip_answer(s, TENDON_FJORDEN_ON_NOTIFY, false);
    }
    tendon_grip_flush(s);
}

static void on_tick(void *context, uint64_t now) {
    tendon_fjorden_session *s = context;
    (void)tendon_grip_enter(s, now);
    give_kind(s, TENDON_FJORDEN_ON_TICK, false);
    begin_link(s);
    tendon_grip_flush(s);
    if (s->work.requested && now >= s->work.response_deadline) {
        tendon_grip_end_request(s, TENDON_ERROR_TIMEOUT, NULL);
    }
}

static uint64_t deadline_of(const void *context) {
    const tendon_fjorden_session *s = context;
    uint64_t deadline = tendon_fjorden_manager_deadline(&s->manager);
    if (s->work.connecting && !s->work.linked) {
        deadline = s->op.now;
    }
    return s->work.requested && s->work.response_deadline < deadline ? s->work.response_deadline : deadline;
}

const tendon_session_inputs tendon_fjorden_session_inputs = {
    .connected = on_connected,
    .disconnected = on_disconnected,
    .paired = on_paired,
    .tick = on_tick,
    .deadline = deadline_of,
    .pairs = true,
};

/* ---- calls of the program ---- */

tendon_status tendon_fjorden_session_init(tendon_fjorden_session *session,
                                          const tendon_fjorden_session_config *config) {
    if (config->on_event == NULL || config->profile == NULL || config->link.connect == NULL ||
        config->link.disconnect == NULL) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    memset(session, 0, sizeof *session);
    session->config = *config;
    session->op.rules = &tendon_grip_rules;
    session->op.context = session;
    session->op.buffer = session->kept.scratch.value;
    tendon_fjorden_manager_init(&session->manager, on_output, session);
    tendon_fjorden_manager_set_table(&session->manager, config->grips, config->grip_capacity);
    return TENDON_OK;
}

/* A scan response may have brought the name after the caller took the grip from the list. */
static void take_listed_name(const tendon_fjorden_manager *m, tendon_fjorden_grip *grip) {
    for (size_t i = 0; i < m->grip_count; i++) {
        if (tendon_grip_same_identifier(&m->grips[i], grip)) {
            memcpy(grip->name, m->grips[i].name, sizeof grip->name);
        }
    }
}

tendon_status tendon_fjorden_session_input(tendon_fjorden_session *session, const tendon_fjorden_input *input,
                                           uint64_t now) {
    if ((unsigned)input->kind > TENDON_FJORDEN_ON_ADVERTISEMENT) {
        session->counters.illegal_inputs++;
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    if (session->work.inside) {
        return TENDON_ERROR_BUSY;
    }
    (void)tendon_grip_enter(session, now);
    if (input->kind == TENDON_FJORDEN_CALL_CONNECT && input->grip.name[0] == '\0') {
        tendon_fjorden_input named = *input;
        take_listed_name(&session->manager, &named.grip);
        give(session, &named);
    } else {
        give(session, input);
    }
    begin_link(session);
    tendon_grip_flush(session);
    return TENDON_OK;
}

tendon_status tendon_fjorden_session_disconnect(tendon_fjorden_session *session, uint64_t now) {
    tendon_fjorden_manager *m = &session->manager;
    if (session->work.inside) {
        return TENDON_ERROR_BUSY;
    }
    (void)tendon_grip_enter(session, now);
    give_kind(session, TENDON_FJORDEN_CALL_STOP_SCANNING, false);
    if (m->asking) { /* a start that waits for the permission */
        session->work.inside = true;
        m->asking = false;
        tendon_grip_end_pending(m, TENDON_FJORDEN_ERROR_DISCOVERY_CANCELLED);
        session->work.inside = false;
    }
    bool again = m->configuration.auto_reconnect;
    m->configuration.auto_reconnect = m->reconnecting = false;
    drop_link(session);
    give_link_down(session, TENDON_ERROR_CANCELLED);
    m->configuration.auto_reconnect = again;
    return TENDON_OK;
}

/** What is known of an advertiser: the bonded grip that is searched for, or one of the list. NULL: nothing. */
static const tendon_fjorden_grip *known(const tendon_fjorden_manager *m, const tendon_fjorden_grip *grip) {
    if (m->state == TENDON_FJORDEN_SCANNING_FOR_BONDED) {
        return tendon_grip_same_identifier(&m->configuration.bond, grip) ? &m->configuration.bond : NULL;
    }
    for (size_t i = 0; i < m->grip_count; i++) {
        if (tendon_grip_same_identifier(&m->grips[i], grip)) {
            return &m->grips[i];
        }
    }
    return NULL;
}

/* An advertisement may have the shortened name and its scan response the complete one: a shortened name replaces none.
 */
static void take_name(const tendon_ad_report *report, const tendon_fjorden_grip *before, tendon_fjorden_grip *grip) {
    tendon_ad_structure name;
    bool has_name = before != NULL && before->name[0] != 0;
    if (tendon_ad_find_name(report->data, report->length, &name) &&
        (name.type == TENDON_AD_NAME_COMPLETE || !has_name)) {
        (void)tendon_ad_name(report->data, report->length, grip->name, sizeof grip->name);
    }
}

tendon_status tendon_fjorden_session_on_advertisement(tendon_fjorden_session *session, const tendon_ad_report *report,
                                                      uint64_t now) {
    const tendon_fjorden_manager *m = &session->manager;
    tendon_fjorden_input input = {.kind = TENDON_FJORDEN_ON_ADVERTISEMENT};
    if (m->state != TENDON_FJORDEN_SCANNING_FOR_GRIPS && m->state != TENDON_FJORDEN_SCANNING_FOR_BONDED) {
        return TENDON_OK;
    }
    tendon_fjorden_identifier(&report->address, input.grip.identifier);
    const tendon_fjorden_grip *before = known(m, &input.grip);
    if (before == NULL && !tendon_fjorden_recognize(session->config.profile, report->data, report->length)) {
        return TENDON_OK;
    }
    take_name(report, before, &input.grip);
    input.grip.rssi = report->rssi;
    return tendon_fjorden_session_input(session, &input, now);
}

static bool is_connected(const tendon_fjorden_session *s) {
    return s->manager.state == TENDON_FJORDEN_CONNECTED && s->op.client != NULL && !s->work.closing;
}

tendon_status tendon_fjorden_session_request(tendon_fjorden_session *session, const tendon_fjorden_command *command,
                                             uint64_t now) {
    if (!is_connected(session)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (session->kept.found[TENDON_FJORDEN_CHARACTERISTIC_CONTROL].value == 0) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    if (session->work.requested || session->op.kind == FJORDEN_DO_COMMAND + 1) {
        return TENDON_ERROR_BUSY; /* an outstanding write borrows its bytes, also after its timeout */
    }
    tendon_fjorden_command numbered = *command;
    numbered.request_id = (uint8_t)(session->work.request_id + 1);
    tendon_status length =
        tendon_fjorden_encode_command(&numbered, session->kept.command, sizeof session->kept.command);
    if (length < 0) {
        return length;
    }
    session->work.request_id = numbered.request_id;
    session->work.opcode = (uint8_t)numbered.opcode;
    session->work.command_length = (uint8_t)length;
    session->work.requested = true;
    session->work.response_deadline = now + TENDON_FJORDEN_RESPONSE_TIMEOUT_MS;
    session->op.now = now;
    tendon_grip_want(session, FJORDEN_DO_COMMAND);
    tendon_grip_pump(session);
    return TENDON_OK;
}

void tendon_fjorden_session_cancel_request(tendon_fjorden_session *session) {
    session->work.requested = false;
    if (session->op.kind != FJORDEN_DO_COMMAND + 1) {
        session->work.wanted &= (uint16_t) ~(1u << FJORDEN_DO_COMMAND);
    }
}

tendon_status tendon_fjorden_session_read_battery(tendon_fjorden_session *session, uint64_t now) {
    if (!is_connected(session)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (session->kept.found[TENDON_FJORDEN_CHARACTERISTIC_BATTERY].value == 0) {
        return TENDON_FJORDEN_ERROR_NO_BATTERY_INFO;
    }
    session->op.now = now;
    tendon_grip_want(session, FJORDEN_DO_BATTERY);
    tendon_grip_pump(session);
    return TENDON_OK;
}

tendon_status tendon_fjorden_session_read_info(tendon_fjorden_session *session, uint64_t now) {
    if (!is_connected(session)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    session->op.now = now;
    if ((session->work.wanted >> FJORDEN_DO_INFO & 1u) == 0) { /* stays set until the last string */
        session->work.index = 0;
        session->work.info_read = false;
        tendon_grip_want(session, FJORDEN_DO_INFO);
    }
    tendon_grip_pump(session);
    return TENDON_OK;
}
