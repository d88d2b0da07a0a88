/* SPDX-License-Identifier: MIT */
#include "../rows.h"
#include "session_parts.h"

/* The standard ones, from TENDON_FJORDEN_CHARACTERISTIC_STRING on. */
static const uint16_t standard[] = {0x2A29, 0x2A24, 0x2A26, 0x2A27, 0x2A25, 0x2A19};
enum { DEVICE_SERVICE = 0x180A, BATTERY_SERVICE = 0x180F, ACCESS_SERVICE = 0x1800, DEVICE_NAME = 0x2A00 };
enum { FIRMWARE_ROW = (int)TENDON_FJORDEN_CHARACTERISTIC_STRING + (int)TENDON_FJORDEN_STRING_FIRMWARE };

static void want(tendon_fjorden_session *s, unsigned operation) {
    s->work.wanted = (uint8_t)(s->work.wanted | 1u << operation);
}

uint8_t tendon_fjorden_row(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    const tendon_fjorden_session *s = context;
    const tendon_fjorden_profile *profile = s->config.profile;
    *service = profile->service;
    switch (row) {
    case TENDON_FJORDEN_CHARACTERISTIC_EVENT:
        *characteristic = profile->event;
        return TENDON_PROFILE_REQUIRED | TENDON_PROFILE_CCCD;
    case TENDON_FJORDEN_CHARACTERISTIC_STATE:
        if (!profile->has_state) {
            return 0;
        }
        *characteristic = profile->state;
        return TENDON_PROFILE_REQUIRED;
    case TENDON_FJORDEN_CHARACTERISTIC_CONTROL:
        if (!profile->has_control) {
            return 0;
        }
        *characteristic = profile->control;
        return TENDON_PROFILE_REQUIRED | TENDON_PROFILE_CCCD;
    default:
        break;
    }
    if (row == TENDON_FJORDEN_CHARACTERISTIC_NAME) {
        *service = tendon_uuid_from_u16(ACCESS_SERVICE);
        *characteristic = tendon_uuid_from_u16(DEVICE_NAME);
        return 0;
    }
    bool battery = row == TENDON_FJORDEN_CHARACTERISTIC_BATTERY;
    *service = tendon_uuid_from_u16(battery ? BATTERY_SERVICE : DEVICE_SERVICE);
    *characteristic = tendon_uuid_from_u16(standard[row - TENDON_FJORDEN_CHARACTERISTIC_STRING]);
    return battery ? TENDON_PROFILE_CCCD : 0;
}

/* ---- the manager ---- */

static void drop_link(tendon_fjorden_session *s) {
    s->work.connecting = false;
    tendon_engine_close(&s->engine, TENDON_OK);
}

/* The grip is connected: what the session asks of it by itself. */
static void begin_operations(tendon_fjorden_session *s) {
    if (s->kept.found[TENDON_FJORDEN_CHARACTERISTIC_CONTROL].cccd != 0) {
        want(s, FJORDEN_DO_SUBSCRIBE_CONTROL);
    }
    if (s->kept.found[TENDON_FJORDEN_CHARACTERISTIC_BATTERY].cccd != 0) {
        want(s, FJORDEN_DO_SUBSCRIBE_BATTERY);
    }
    if (s->work.carried) {
        want(s, FJORDEN_DO_STATE);
    }
}

/* Executes what concerns the connection. The steps of the opening follow from those of the manager: see judge(). */
static void on_output(void *context, const tendon_fjorden_manager *manager, const tendon_fjorden_output *output) {
    tendon_fjorden_session *s = context;
    (void)manager;
    if (output->kind == TENDON_FJORDEN_OUT_CONNECT) {
        s->work.connecting = true;
    } else if (output->kind == TENDON_FJORDEN_OUT_DISCONNECT) {
        drop_link(s);
    } else if (output->kind == TENDON_FJORDEN_OUT_STATE && output->state == TENDON_FJORDEN_UNAVAILABLE) {
        drop_link(s); /* the adapter is off: its links go by themselves, those of memory do not */
    } else if (output->kind == TENDON_FJORDEN_OUT_STATE && output->state == TENDON_FJORDEN_CONNECTED) {
        begin_operations(s);
    }
    tendon_grip_emit(s, TENDON_FJORDEN_SESSION_EVENT_OUTPUT, TENDON_OK, 0, output);
}

static void give(tendon_fjorden_session *s, const tendon_fjorden_input *input) {
    s->work.inside = true;
    tendon_fjorden_manager_input(&s->manager, s->engine.op.now, input);
    s->work.inside = false;
}

static void give_kind(tendon_fjorden_session *s, tendon_fjorden_input_kind kind, bool ok) {
    tendon_fjorden_input input = {.kind = kind, .ok = ok};
    if (kind == TENDON_FJORDEN_ON_FIRMWARE && ok) { /* the text is what the last operation read */
        input.text = (const char *)s->kept.value;
        input.text_length = s->work.text_length;
    }
    give(s, &input);
}

static void give_link_down(tendon_fjorden_session *s, tendon_status reason) {
    tendon_fjorden_input input = {.kind = TENDON_FJORDEN_ON_LINK_DOWN, .reason = reason};
    give(s, &input);
}

/* An event in which the program must not call the session. */
static void emit_inside(tendon_fjorden_session *s, tendon_fjorden_session_event_kind kind, tendon_status status,
                        const tendon_fjorden_output *output) {
    s->work.inside = true;
    tendon_grip_emit(s, kind, status, 0, output);
    s->work.inside = false;
}

/* Starts the requested connection after the previous one ended. */
static void begin_link(tendon_fjorden_session *s) {
    if (!s->work.connecting || s->engine.state != TENDON_ENGINE_AWAY) {
        return;
    }
    s->work.connecting = false;
    tendon_fjorden_output output = {.time_ms = s->engine.op.now,
                                    .kind = TENDON_FJORDEN_OUT_CONNECT,
                                    .state = s->manager.state,
                                    .grip = &s->manager.grip};
    emit_inside(s, TENDON_FJORDEN_SESSION_EVENT_TARGET, TENDON_OK, &output);
    if (tendon_engine_connect(&s->engine) < 0) {
        give_link_down(s, TENDON_OK);
    }
}

/* ---- the opening ---- */

enum { STEP_EARLY = 2, STEP_NAME = 4 };

static const tendon_engine_step opening[] = {
    {TENDON_STEP_MTU, 0, 0},
    {TENDON_STEP_DISCOVER, 0, 0},
    /* A grip that is not used is not paired: its version comes first. The limit of the manager rests meanwhile. */
    [STEP_EARLY] = {TENDON_STEP_READ, FIRMWARE_ROW, TENDON_STEP_LIMITED},
    {TENDON_STEP_PAIR, 0, 0},
    [STEP_NAME] = {TENDON_STEP_READ, TENDON_FJORDEN_CHARACTERISTIC_NAME, 0},
    {TENDON_STEP_READ, FIRMWARE_ROW, 0},
    {TENDON_STEP_SUBSCRIBE, TENDON_FJORDEN_CHARACTERISTIC_EVENT, 0},
    {TENDON_STEP_OPEN, 0, 0},
};

/* Of a grip whose advertisement had none. */
static bool skips_name(const tendon_fjorden_session *s) {
    return s->manager.grip.name[0] != '\0' || s->kept.found[TENDON_FJORDEN_CHARACTERISTIC_NAME].value == 0;
}

static tendon_status discovered(tendon_fjorden_session *s, tendon_status status) {
    bool service = s->kept.found[TENDON_FJORDEN_CHARACTERISTIC_EVENT].service != 0;
    give_kind(s, TENDON_FJORDEN_ON_SERVICES, service);
    if (service) {
        give_kind(s, TENDON_FJORDEN_ON_CHARACTERISTICS, status >= 0);
    }
    bool bonded = s->manager.step == TENDON_FJORDEN_STEP_FIRMWARE;
    return bonded ? STEP_NAME - STEP_EARLY + skips_name(s) : 0;
}

/* A stored bond does not mean that this connection is encrypted with its key: then pairing is requested, once. */
static tendon_status subscribed(tendon_fjorden_session *s, tendon_status status) {
    bool insecure = status == TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_AUTHENTICATION) ||
                    status == TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_ENCRYPTION);
    if (insecure && !s->work.retried) {
        s->work.retried = true;
        tendon_grip_pause_deadline(&s->manager, s->engine.op.now);
        return TENDON_ENGINE_PAIR;
    }
    give_kind(s, TENDON_FJORDEN_ON_NOTIFY, status >= 0);
    return TENDON_OK;
}

static tendon_status paired(tendon_fjorden_session *s, tendon_status status) {
    emit_inside(s, TENDON_FJORDEN_SESSION_EVENT_PAIRING, status, NULL);
    if (status == TENDON_ERROR_DISCONNECTED && s->engine.pairing) {
        return TENDON_ENGINE_WAIT; /* the grip refused nothing; disconnected() reports the end */
    }
    if (s->manager.step == TENDON_FJORDEN_STEP_PAIRING) {
        give_kind(s, TENDON_FJORDEN_ON_PAIRING, status >= 0);
        return skips_name(s);
    }
    if (status >= 0) {
        tendon_grip_resume_deadline(&s->manager, s->engine.op.now);
    } else {
        give_kind(s, TENDON_FJORDEN_ON_NOTIFY, false);
    }
    return TENDON_OK;
}

/* The manager decides: what it says about a step that failed is a disconnection, in on_output(). */
static tendon_status judge(void *self, tendon_engine_verb verb, tendon_status status) {
    tendon_fjorden_session *s = self;
    switch (verb) {
    case TENDON_STEP_DISCOVER:
        return discovered(s, status);
    case TENDON_STEP_PAIR:
        return paired(s, status);
    case TENDON_STEP_SUBSCRIBE:
        return subscribed(s, status);
    case TENDON_STEP_READ:
        if (s->engine.step != STEP_NAME) {
            give_kind(s, TENDON_FJORDEN_ON_FIRMWARE, status == TENDON_OK);
        }
        return TENDON_OK;
    default: /* the MTU stays as it is */
        return TENDON_OK;
    }
}

/* ---- values and operations ---- */

static void took(void *self, size_t row, const uint8_t *value, size_t length) {
    tendon_fjorden_session *s = self;
    switch (row) {
    case TENDON_FJORDEN_CHARACTERISTIC_EVENT:
        tendon_grip_take_events(s, value, length);
        if (s->stream.needs_resync && s->kept.found[TENDON_FJORDEN_CHARACTERISTIC_STATE].value != 0) {
            want(s, FJORDEN_DO_STATE);
        }
        break;
    case TENDON_FJORDEN_CHARACTERISTIC_CONTROL:
        tendon_grip_take_response(s, value, length);
        break;
    case TENDON_FJORDEN_CHARACTERISTIC_BATTERY:
        (void)tendon_grip_take_level(s, value, length);
        break;
    case TENDON_FJORDEN_CHARACTERISTIC_NAME:
        (void)tendon_ad_text(value, length, s->manager.grip.name, sizeof s->manager.grip.name);
        break;
    default: /* the firmware, which the opening reads */
        s->work.text_length = (uint8_t)length;
        tendon_grip_take_text(s, TENDON_FJORDEN_STRING_FIRMWARE, value, length);
        break;
    }
}

static bool next(void *self) {
    static const uint8_t rows[] = {[FJORDEN_DO_SUBSCRIBE_CONTROL] = TENDON_FJORDEN_CHARACTERISTIC_CONTROL,
                                   [FJORDEN_DO_SUBSCRIBE_BATTERY] = TENDON_FJORDEN_CHARACTERISTIC_BATTERY,
                                   [FJORDEN_DO_COMMAND] = TENDON_FJORDEN_CHARACTERISTIC_CONTROL,
                                   [FJORDEN_DO_STATE] = TENDON_FJORDEN_CHARACTERISTIC_STATE,
                                   [FJORDEN_DO_BATTERY] = TENDON_FJORDEN_CHARACTERISTIC_BATTERY,
                                   [FJORDEN_DO_INFO] = TENDON_FJORDEN_CHARACTERISTIC_STRING};
    tendon_fjorden_session *s = self;
    uint8_t job = 0;
    if (s->work.wanted == 0) {
        return false;
    }
    while (((unsigned)s->work.wanted >> job & 1u) == 0) {
        job++;
    }
    if (job <= FJORDEN_DO_SUBSCRIBE_BATTERY) {
        tendon_engine_subscribe(&s->engine, job, rows[job]);
    } else if (job == FJORDEN_DO_COMMAND) {
        s->work.wanted &= (uint8_t) ~(1u << FJORDEN_DO_COMMAND); /* set again: the next command waits */
        memcpy(s->kept.written, s->kept.command, sizeof s->kept.written);
        tendon_engine_write(&s->engine, job, rows[job], s->kept.written, s->work.command_length);
    } else { /* a missing string fails like a string that cannot be read */
        tendon_engine_read(&s->engine, job, rows[job] + (job == FJORDEN_DO_INFO ? s->work.index : 0u));
    }
    return true;
}

/* One text of several: what cannot be read is missing. */
static void text_read(tendon_fjorden_session *s, const tendon_gatt_result *result) {
    unsigned text = s->work.index++;
    bool cut = result->status == TENDON_ERROR_BUFFER_TOO_SMALL;
    if (result->status == TENDON_OK || cut) {
        s->work.info_read = s->work.info_read || text != TENDON_FJORDEN_STRING_SERIAL;
        tendon_grip_take_text(s, text, result->value, cut ? 0 : result->length);
        s->info.present[text] = s->info.present[text] && !cut;
    }
    if (s->work.index < TENDON_FJORDEN_STRING_COUNT) {
        want(s, FJORDEN_DO_INFO);
    } else {
        tendon_grip_info_read(s);
    }
}

static void done(void *self, uint8_t job, const tendon_gatt_result *result) {
    tendon_fjorden_session *s = self;
    if (!tendon_engine_is_up(&s->engine)) {
        return; /* disconnected() reports what has not ended */
    }
    if (job != FJORDEN_DO_COMMAND) {
        s->work.wanted = (uint8_t)(s->work.wanted & ~(1u << job));
    } else if ((s->work.wanted >> FJORDEN_DO_COMMAND & 1u) != 0) {
        return; /* the request ended before its write did, and the next one waits */
    }
    switch (job) {
    case FJORDEN_DO_SUBSCRIBE_CONTROL:
    case FJORDEN_DO_COMMAND:
        if (result->status < 0) { /* no response could come */
            tendon_grip_end_request(s, result->status, NULL);
        }
        break;
    case FJORDEN_DO_STATE:
        tendon_grip_take_state(s, result);
        break;
    case FJORDEN_DO_BATTERY: {
        tendon_status status = result->status;
        status = status < 0 ? status : tendon_grip_take_level(s, result->value, result->length);
        if (status < 0) {
            tendon_grip_battery_failed(s, status);
        }
        break;
    }
    case FJORDEN_DO_INFO:
        text_read(s, result);
        break;
    default: /* a battery that does not notify is read */
        break;
    }
}

/* ---- the link ---- */

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

static void link_up(tendon_fjorden_session *s) {
    begin_stream(s);
    memset(&s->info, 0, sizeof s->info);
    s->has_info = s->has_level = s->work.retried = false;
    give_kind(s, TENDON_FJORDEN_ON_LINK_UP, true);
}

static void link_ended(tendon_fjorden_session *s, tendon_status reason) {
    unsigned unfinished = s->work.wanted;
    s->work.wanted = 0;
    if (!s->engine.asked) {
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

static void changed(void *self, tendon_engine_state state, tendon_status why) {
    if (state == TENDON_ENGINE_OPENING) {
        link_up(self);
    } else if (state == TENDON_ENGINE_AWAY) {
        link_ended(self, why);
    }
}

/* While it connects, the timeout of the manager is the only one; it is paused for the pairing. */
static const tendon_engine_family grip_family = {
    .rules = {TENDON_ENGINE_RULES, TENDON_FJORDEN_OPERATION_TIMEOUT_MS, TENDON_FJORDEN_STRING_SIZE},
    .opening = opening,
    .steps = sizeof opening / sizeof opening[0],
    .row_of = tendon_fjorden_row,
    .took = took,
    .judge = judge,
    .next = next,
    .done = done,
    .changed = changed};

static void on_tick(void *context, uint64_t now) {
    tendon_fjorden_session *s = context;
    s->engine.op.now = now;
    give_kind(s, TENDON_FJORDEN_ON_TICK, false);
    begin_link(s);
    if (s->work.requested && now >= s->work.response_deadline) {
        tendon_grip_end_request(s, TENDON_ERROR_TIMEOUT, NULL);
    }
}

static uint64_t deadline_of(const void *context) {
    const tendon_fjorden_session *s = context;
    uint64_t deadline = tendon_fjorden_manager_deadline(&s->manager);
    if (s->work.connecting && s->engine.state == TENDON_ENGINE_AWAY) {
        deadline = s->engine.op.now;
    }
    return s->work.requested && s->work.response_deadline < deadline ? s->work.response_deadline : deadline;
}

const tendon_session_inputs tendon_fjorden_session_inputs = {
    .connected = tendon_engine_on_connected,
    .disconnected = tendon_engine_on_disconnected,
    .paired = tendon_engine_on_paired,
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
    tendon_engine_init(&session->engine, &grip_family, &session->config.link, session->kept.found,
                       TENDON_FJORDEN_CHARACTERISTIC_COUNT, session->kept.value, &session->counters.illegal_inputs);
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
    session->engine.op.now = now;
    if (input->kind == TENDON_FJORDEN_CALL_CONNECT && input->grip.name[0] == '\0') {
        tendon_fjorden_input named = *input;
        take_listed_name(&session->manager, &named.grip);
        give(session, &named);
    } else {
        give(session, input);
    }
    begin_link(session);
    tendon_engine_run(&session->engine);
    return TENDON_OK;
}

tendon_status tendon_fjorden_session_disconnect(tendon_fjorden_session *session, uint64_t now) {
    tendon_fjorden_manager *m = &session->manager;
    if (session->work.inside) {
        return TENDON_ERROR_BUSY;
    }
    session->engine.op.now = now;
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
    return s->manager.state == TENDON_FJORDEN_CONNECTED && tendon_engine_is_up(&s->engine);
}

tendon_status tendon_fjorden_session_request(tendon_fjorden_session *session, const tendon_fjorden_command *command,
                                             uint64_t now) {
    if (!is_connected(session)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (session->kept.found[TENDON_FJORDEN_CHARACTERISTIC_CONTROL].value == 0) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    if (session->work.requested) {
        return TENDON_ERROR_BUSY;
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
    session->engine.op.now = now;
    want(session, FJORDEN_DO_COMMAND);
    tendon_engine_run(&session->engine);
    return TENDON_OK;
}

void tendon_fjorden_session_cancel_request(tendon_fjorden_session *session) {
    session->work.requested = false;
    session->work.wanted &= (uint8_t) ~(1u << FJORDEN_DO_COMMAND);
}

tendon_status tendon_fjorden_session_read_battery(tendon_fjorden_session *session, uint64_t now) {
    if (!is_connected(session)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (session->kept.found[TENDON_FJORDEN_CHARACTERISTIC_BATTERY].value == 0) {
        return TENDON_FJORDEN_ERROR_NO_BATTERY_INFO;
    }
    session->engine.op.now = now;
    want(session, FJORDEN_DO_BATTERY);
    tendon_engine_run(&session->engine);
    return TENDON_OK;
}

tendon_status tendon_fjorden_session_read_info(tendon_fjorden_session *session, uint64_t now) {
    if (!is_connected(session)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    session->engine.op.now = now;
    if ((session->work.wanted >> FJORDEN_DO_INFO & 1u) == 0) { /* stays set until the last string */
        session->work.index = 0;
        session->work.info_read = false;
        want(session, FJORDEN_DO_INFO);
    }
    tendon_engine_run(&session->engine);
    return TENDON_OK;
}
