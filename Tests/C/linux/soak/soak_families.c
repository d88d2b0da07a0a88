/* SPDX-License-Identifier: MIT */
/* What a program does with a session of each family: open, stream, close. */
#include "soak.h"

#include <string.h>

/* ---- Bose ---- */

static void on_bose(void *context, const tendon_bose_event *event, uint64_t now) {
    soak *s = context;
    (void)now;
    s->ready = s->ready || event->kind == TENDON_BOSE_EVENT_OPENED;
    s->values += event->kind == TENDON_BOSE_EVENT_SAMPLE;
    s->rejected += event->kind == TENDON_BOSE_EVENT_MALFORMED && event->characteristic == TENDON_BOSE_GESTURE_DATA;
}

static void make_bose(soak *s) {
    const tendon_bose_session_config config = {.link = soak_link(s), .context = s, .on_event = on_bose};
    assert_int_equal(tendon_bose_session_init(&s->session.bose, &config), TENDON_OK);
    soak_attach(s, &s->session.bose);
}

static tendon_peripheral_device bose_device(soak *s) {
    tendon_simulated_bose_options options = tendon_simulated_bose_frames();
    options.flat_out = !s->paced;
    options.notification_limit = s->paced ? 0 : 8;
    assert_int_equal(tendon_simulated_bose_init(&s->device.bose, &options), TENDON_OK);
    return tendon_simulated_bose_device(&s->device.bose);
}

static tendon_simulated_centrals *bose_centrals(soak *s) {
    return &s->device.bose.centrals;
}

static tendon_status bose_open(soak *s, uint64_t now) {
    return tendon_bose_session_open(&s->session.bose, now);
}

static tendon_status bose_stream(soak *s, uint64_t now) {
    return tendon_bose_session_enable(&s->session.bose, 0, 20, now);
}

static void bose_close(soak *s, uint64_t now) {
    (void)tendon_bose_session_close(&s->session.bose, now);
}

static bool bose_is_closed(const soak *s) {
    return s->session.bose.state == TENDON_BOSE_CLOSED;
}

/* A handle that was changed on its way can be that of a configuration: its values are events, and have no counter. */
static bool bose_counts(const soak *s, unsigned handle) {
    const tendon_bose_session *session = &s->session.bose;
    return handle == session->kept.found[TENDON_BOSE_SENSOR_DATA].value ||
           handle == session->kept.found[TENDON_BOSE_GESTURE_DATA].value;
}

static bool bose_accounts(const soak *s, uint64_t count) {
    const tendon_bose_counters *c = &s->session.bose.counters;
    return count == c->notifications + c->gestures + c->dropped + s->rejected && s->rejected <= c->malformed;
}

const soak_family soak_bose = {"bose",         &tendon_bose_session_inputs,
                               make_bose,      bose_device,
                               bose_centrals,  bose_open,
                               bose_stream,    bose_close,
                               bose_is_closed, NULL,
                               bose_accounts,  bose_counts};

/* ---- feelSpace ---- */

static void on_feelspace(void *context, const tendon_feelspace_event *event, uint64_t now) {
    soak *s = context;
    (void)now;
    s->ready = s->ready || s->session.feelspace.state == TENDON_FEELSPACE_CONNECTED;
    s->values += event->kind == TENDON_FEELSPACE_EVENT_ORIENTATION;
}

static void make_feelspace(soak *s) {
    const tendon_feelspace_session_config config = {.link = soak_link(s), .context = s, .on_event = on_feelspace};
    assert_int_equal(tendon_feelspace_session_init(&s->session.feelspace, &config), TENDON_OK);
    soak_attach(s, &s->session.feelspace);
}

static tendon_peripheral_device feelspace_device(soak *s) {
    const tendon_simulated_feelspace_options options = {
        .pairing_mode = true, .flat_out = !s->paced, .notification_limit = s->paced ? 0 : 64};
    assert_int_equal(tendon_simulated_feelspace_init(&s->device.feelspace, &options), TENDON_OK);
    return tendon_simulated_feelspace_device(&s->device.feelspace);
}

static tendon_simulated_centrals *feelspace_centrals(soak *s) {
    return &s->device.feelspace.centrals;
}

static tendon_status feelspace_open(soak *s, uint64_t now) {
    return tendon_feelspace_session_connect(&s->session.feelspace, &s->connection.peer, NULL, now);
}

static tendon_status feelspace_stream(soak *s, uint64_t now) {
    tendon_status status =
        s->paced ? tendon_feelspace_session_set_orientation_period(&s->session.feelspace, 50, now) : 0;
    return status < 0 ? status : tendon_feelspace_session_start_orientation(&s->session.feelspace, 0, 0, now);
}

static void feelspace_close(soak *s, uint64_t now) {
    tendon_feelspace_session_disconnect(&s->session.feelspace, now);
}

static bool feelspace_is_closed(const soak *s) {
    return s->session.feelspace.state == TENDON_FEELSPACE_NOT_CONNECTED && !s->session.feelspace.work.draining;
}

static bool feelspace_accounts(const soak *s, uint64_t count) {
    const tendon_feelspace_counters *c = &s->session.feelspace.counters;
    return count == c->notifications;
}

const soak_family soak_feelspace = {"feelspace",         &tendon_feelspace_session_inputs,
                                    make_feelspace,      feelspace_device,
                                    feelspace_centrals,  feelspace_open,
                                    feelspace_stream,    feelspace_close,
                                    feelspace_is_closed, NULL,
                                    feelspace_accounts,  NULL};

/* ---- Activ5 ---- */

static void on_activ5(void *context, const tendon_activ5_event *event, uint64_t now) {
    soak *s = context;
    (void)now;
    s->ready = s->ready || event->kind == TENDON_ACTIV5_EVENT_INITIALIZED;
    s->values += event->kind == TENDON_ACTIV5_EVENT_ISOMETRIC;
}

static void make_activ5(soak *s) {
    s->session.activ5.options = tendon_activ5_options_defaults();
    tendon_activ5_device_init(&s->session.activ5.device, &s->session.activ5.options, on_activ5, s, NULL, NULL);
}

static tendon_peripheral_device activ5_device_of(soak *s, bool legacy) {
    const tendon_simulated_activ5_options options = {.legacy = legacy,
                                                     .flat_out = !s->paced,
                                                     .accepts_early = true,
                                                     .force_period_ms = 40,
                                                     .notification_limit = s->paced ? 0 : 8};
    assert_int_equal(tendon_simulated_activ5_init(&s->device.activ5, &options), TENDON_OK);
    return tendon_simulated_activ5_device(&s->device.activ5);
}

static tendon_peripheral_device activ5_device(soak *s) {
    return activ5_device_of(s, false);
}

static tendon_peripheral_device activ5_legacy_device(soak *s) {
    return activ5_device_of(s, true);
}

static tendon_simulated_centrals *activ5_centrals(soak *s) {
    return &s->device.activ5.centrals;
}

static tendon_status activ5_open(soak *s, uint64_t now) {
    const tendon_session_link link = soak_link(s);
    tendon_activ5_device *device = &s->session.activ5.device;
    assert_int_equal(tendon_activ5_session_init(&s->session.activ5.session, &link, device), TENDON_OK);
    soak_attach(s, &s->session.activ5.session);
    return tendon_activ5_device_connect(device, now);
}

static tendon_status activ5_stream(soak *s, uint64_t now) {
    return tendon_activ5_device_start_isometric(&s->session.activ5.device, now);
}

static void activ5_close(soak *s, uint64_t now) {
    (void)tendon_activ5_device_disconnect(&s->session.activ5.device, now);
}

static bool activ5_is_closed(const soak *s) {
    return s->session.activ5.device.link == TENDON_ACTIV5_LINK_NONE;
}

/* Values that were read have the same counter. One Read Response is one value, unless it was doubled on its way. */
static bool activ5_accounts(const soak *s, uint64_t count) {
    const tendon_activ5_counters *c = &s->session.activ5.device.counters;
    return c->values == c->messages + c->errors && count <= c->values && c->values <= count + s->reads &&
           count + s->reads - c->values <= s->surplus;
}

const soak_family soak_activ5 = {"activ5",         &tendon_activ5_session_inputs,
                                 make_activ5,      activ5_device,
                                 activ5_centrals,  activ5_open,
                                 activ5_stream,    activ5_close,
                                 activ5_is_closed, NULL,
                                 activ5_accounts,  NULL};

/* Which speaks by text alone. */
const soak_family soak_activ5_legacy = {"activ5, legacy", &tendon_activ5_session_inputs,
                                        make_activ5,      activ5_legacy_device,
                                        activ5_centrals,  activ5_open,
                                        activ5_stream,    activ5_close,
                                        activ5_is_closed, NULL,
                                        activ5_accounts,  NULL};

/* ---- Fjorden ---- */

static void on_fjorden(void *context, const tendon_fjorden_session_event *notice, uint64_t now) {
    soak *s = context;
    (void)now;
    s->ready = s->ready || s->session.fjorden.manager.state == TENDON_FJORDEN_CONNECTED;
    s->values += notice->kind == TENDON_FJORDEN_SESSION_EVENT_EVENT;
}

static tendon_status fjorden_call(soak *s, tendon_fjorden_input_kind kind, uint64_t now) {
    tendon_fjorden_configuration configuration;
    tendon_fjorden_configuration_init(&configuration);
    configuration.auto_reconnect = false;
    tendon_fjorden_input input = {.kind = kind, .ok = true, .configuration = &configuration};
    tendon_fjorden_identifier(&s->connection.peer, input.grip.identifier);
    memcpy(input.grip.name, "Grip", 5);
    return tendon_fjorden_session_input(&s->session.fjorden, &input, now);
}

static void make_fjorden(soak *s) {
    tendon_fjorden_profile_init(&s->profile);
    const tendon_fjorden_session_config config = {
        .link = soak_link(s), .profile = &s->profile, .context = s, .on_event = on_fjorden};
    assert_int_equal(tendon_fjorden_session_init(&s->session.fjorden, &config), TENDON_OK);
    soak_attach(s, &s->session.fjorden);
    assert_int_equal(fjorden_call(s, TENDON_FJORDEN_CALL_CONFIGURE, 0), TENDON_OK);
    tendon_fjorden_manager_set_environment(&s->session.fjorden.manager, TENDON_FJORDEN_AUTHORIZATION_ALLOWED, true);
    assert_int_equal(fjorden_call(s, TENDON_FJORDEN_CALL_START, 0), TENDON_OK);
}

static tendon_peripheral_device fjorden_device(soak *s) {
    const tendon_simulated_fjorden_options options = {
        .flat_out = !s->paced, .hand = s->paced, .event_limit = s->paced ? 0 : 64};
    assert_int_equal(tendon_simulated_fjorden_init(&s->device.fjorden, &options), TENDON_OK);
    return tendon_simulated_fjorden_device(&s->device.fjorden);
}

static tendon_simulated_centrals *fjorden_centrals(soak *s) {
    return &s->device.fjorden.centrals;
}

static tendon_status fjorden_open(soak *s, uint64_t now) {
    return fjorden_call(s, TENDON_FJORDEN_CALL_CONNECT, now);
}

static tendon_status fjorden_stream(soak *s, uint64_t now) {
    (void)s; /* its events come by themselves */
    (void)now;
    return TENDON_OK;
}

static void fjorden_close(soak *s, uint64_t now) {
    assert_int_equal(tendon_fjorden_session_disconnect(&s->session.fjorden, now), TENDON_OK);
}

static bool fjorden_is_closed(const soak *s) {
    return s->session.fjorden.manager.state == TENDON_FJORDEN_READY;
}

static void fjorden_forget(soak *s, uint64_t now) {
    if (s->session.fjorden.manager.configuration.has_bond) {
        assert_int_equal(fjorden_call(s, TENDON_FJORDEN_CALL_FORGET, now), TENDON_OK);
    }
}

static bool fjorden_accounts(const soak *s, uint64_t count) {
    const tendon_fjorden_session_counters *c = &s->session.fjorden.counters;
    return count == c->notifications;
}

const soak_family soak_fjorden = {"fjorden",         &tendon_fjorden_session_inputs,
                                  make_fjorden,      fjorden_device,
                                  fjorden_centrals,  fjorden_open,
                                  fjorden_stream,    fjorden_close,
                                  fjorden_is_closed, fjorden_forget,
                                  fjorden_accounts,  NULL};
