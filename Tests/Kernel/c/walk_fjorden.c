/* SPDX-License-Identifier: MIT */
/* The grip: every state of the manager with every input, over a radio; then every step of a connection. */
#include "fjorden_pairs.h"
#include "walk.h"

#define SHORT_MS 400u
/* Long enough to reach any step on a slow machine, short enough to be waited for. */
#define BUDGET_MS 4000u

/* How a step ends. */
typedef enum ending { GOES_ON, REFUSED, LOST, EXPIRED, ENDINGS } ending;
static const char *const ending_names[ENDINGS] = {"goes on", "refused", "link lost", "time is over"};

typedef struct hand {
    walk *w;
    tendon_simulated_fjorden grip;
    tendon_simulated_fjorden_options options;
    tendon_fjorden_profile profile;
    tendon_fjorden_configuration configuration;
    tendon_fjorden_grip list[4];
    tendon_fjorden_session session;
    unsigned outputs, results;
    unsigned asked[TENDON_FJORDEN_OUT_REMOVE_BOND + 1];
    tendon_status result;
    bool hears; /* what the radio hears goes to the session */
    tendon_ad_report heard;
    uint8_t heard_data[TENDON_AD_LEGACY_MAX];
    tendon_fjorden_manager_state wanted;
    tendon_fjorden_step step;
} hand;

static void on_event(void *context, const tendon_fjorden_session_event *notice, uint64_t now) {
    hand *h = context;
    (void)now;
    if (notice->kind != TENDON_FJORDEN_SESSION_EVENT_OUTPUT) {
        return;
    }
    h->outputs++;
    h->asked[notice->output->kind]++;
    if (notice->output->kind == TENDON_FJORDEN_OUT_RESULT) {
        h->results++;
        h->result = notice->output->status;
    } else if (notice->output->kind == TENDON_FJORDEN_OUT_SCAN_START) {
        h->w->wrong +=
            tendon_radio_scan_start(h->w->ours.radio, &(tendon_scan_parameters){.active = true}) != TENDON_OK;
    } else if (notice->output->kind == TENDON_FJORDEN_OUT_SCAN_STOP) {
        h->w->wrong += tendon_radio_scan_stop(h->w->ours.radio) != TENDON_OK;
    }
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    hand *h = context;
    if (!tendon_address_equal(&report->address, &h->w->theirs.radio->address) ||
        report->length > sizeof h->heard_data) {
        return;
    }
    if ((report->properties & TENDON_AD_SCAN_RESPONSE) == 0) {
        h->heard = *report;
        memcpy(h->heard_data, report->data, report->length);
        h->heard.data = h->heard_data;
    }
    if (h->hears) {
        (void)tendon_fjorden_session_on_advertisement(&h->session, report, now);
    }
}

/* ---- to a state ---- */

static tendon_fjorden_grip the_grip(const hand *h) {
    tendon_fjorden_grip grip = {.name = "Fjorden Grip"};
    tendon_fjorden_identifier(&h->w->theirs.radio->address, grip.identifier);
    return grip;
}

static void call(hand *h, tendon_fjorden_input_kind kind) {
    const tendon_fjorden_input input = {
        .kind = kind, .ok = true, .grip = the_grip(h), .configuration = &h->configuration};
    (void)tendon_fjorden_session_input(&h->session, &input, walk_now());
}

/* Configured, over a link that is down. */
static void make(hand *h, bool bonded, uint64_t timeout_ms) {
    walk *w = h->w;
    walk_rest(w);
    (void)tendon_simulated_fjorden_init(&h->grip, &h->options);
    tendon_fjorden_profile_init(&h->profile);
    const tendon_fjorden_session_config config = {.link = walk_link(w),
                                                  .profile = &h->profile,
                                                  .grips = h->list,
                                                  .grip_capacity = 4,
                                                  .context = h,
                                                  .on_event = on_event};
    (void)tendon_fjorden_session_init(&h->session, &config);
    walk_attach(w, &tendon_fjorden_session_inputs, &h->session);
    tendon_fjorden_configuration_init(&h->configuration);
    h->configuration.timeout_ms = timeout_ms;
    h->configuration.has_bond = bonded;
    h->configuration.bond = the_grip(h);
    h->hears = false;
    call(h, TENDON_FJORDEN_CALL_CONFIGURE);
    tendon_fjorden_manager_set_environment(&h->session.manager, TENDON_FJORDEN_AUTHORIZATION_ALLOWED, true);
}

static bool is_there(const void *context) {
    const hand *h = context;
    return h->session.manager.state == h->wanted;
}

static bool wait_for(hand *h, tendon_fjorden_manager_state state) {
    h->wanted = state;
    return walk_until(h->w, is_there, h, tendon_fjorden_manager_state_name(state));
}

static bool reach(hand *h, unsigned state, unsigned input) {
    h->options = (tendon_simulated_fjorden_options){0};
    make(h, state == TENDON_FJORDEN_SCANNING_FOR_BONDED, WALK_LIMIT_MS);
    /* Unless it succeeds, it is an attempt to a grip that is out of reach. */
    walk_set_present(h->w, state != TENDON_FJORDEN_CONNECTING || input == TENDON_FJORDEN_ON_LINK_UP);
    if (state == TENDON_FJORDEN_UNAUTHORIZED) {
        tendon_fjorden_manager_set_environment(&h->session.manager, TENDON_FJORDEN_AUTHORIZATION_DENIED, true);
    } else if (state == TENDON_FJORDEN_UNAVAILABLE) {
        tendon_fjorden_manager_set_environment(&h->session.manager, TENDON_FJORDEN_AUTHORIZATION_ALLOWED, false);
    }
    if (state != TENDON_FJORDEN_UNINITIALIZED) {
        call(h, TENDON_FJORDEN_CALL_START);
    }
    if (state == TENDON_FJORDEN_SCANNING_FOR_GRIPS) {
        call(h, TENDON_FJORDEN_CALL_SCAN);
    } else if (state == TENDON_FJORDEN_CONNECTING || state == TENDON_FJORDEN_CONNECTED) {
        bool fails = state == TENDON_FJORDEN_CONNECTING && input == TENDON_FJORDEN_ON_LINK_DOWN;
        h->w->connection.connect_timeout_ms = fails ? SHORT_MS : TENDON_CONNECTION_TIMEOUT_MS;
        call(h, TENDON_FJORDEN_CALL_CONNECT);
    }
    bool there = wait_for(h, (tendon_fjorden_manager_state)state);
    walk_settle(h->w);
    return there;
}

/* ---- an input ---- */

static void give(hand *h, unsigned state, unsigned input) {
    walk *w = h->w;
    bool searches = state == TENDON_FJORDEN_SCANNING_FOR_GRIPS || state == TENDON_FJORDEN_SCANNING_FOR_BONDED;
    switch (input) {
    case TENDON_FJORDEN_ON_ADVERTISEMENT:
        if (searches) {
            h->hears = true;
            (void)walk_until_told(w, &h->outputs, h->outputs, "an advertisement");
            h->hears = false;
        } else { /* received during the search, and delivered late */
            (void)tendon_fjorden_session_on_advertisement(&h->session, &h->heard, walk_now());
        }
        break;
    case TENDON_FJORDEN_ON_LINK_UP:
        (void)walk_until_told(w, &w->told_connected, w->told_connected, "a link");
        break;
    case TENDON_FJORDEN_ON_LINK_DOWN:
        if (state == TENDON_FJORDEN_CONNECTED) {
            walk_hang_up(w);
        }
        (void)walk_until_told(w, &w->told_disconnected, w->told_disconnected, "the end of a link");
        break;
    case TENDON_FJORDEN_ON_TICK:
        tendon_fjorden_session_inputs.tick(&h->session, walk_now());
        break;
    default:
        call(h, (tendon_fjorden_input_kind)input);
        break;
    }
}

/* NULL: it can be. */
static const char *why_not(unsigned state, unsigned input) {
    if (input >= TENDON_FJORDEN_ON_SERVICES && input <= TENDON_FJORDEN_ON_NOTIFY) {
        return state == TENDON_FJORDEN_CONNECTING ? "nothing was asked of the grip; see the steps"
                                                  : "nothing is asked of a grip";
    }
    if (input == TENDON_FJORDEN_ON_LINK_UP && state != TENDON_FJORDEN_CONNECTING) {
        return "a link is told once, when one was asked for and none is there";
    }
    if (input == TENDON_FJORDEN_ON_LINK_DOWN && state != TENDON_FJORDEN_CONNECTING &&
        state != TENDON_FJORDEN_CONNECTED) {
        return "there is none that could end";
    }
    return NULL;
}

static void take_pair(hand *h, unsigned state, unsigned input) {
    char expected = grip_table[state][input];
    h->outputs = 0;
    give(h, state, input);
    unsigned outputs = h->outputs;
    const tendon_fjorden_manager *m = &h->session.manager;
    char got[96];
    snprintf(got, sizeof got, "%s, %u told", tendon_fjorden_manager_state_name(m->state), outputs);
    walk_pair(h->w, tendon_fjorden_manager_state_name((tendon_fjorden_manager_state)state), grip_input_names[input],
              (outputs == 0) == (expected == '.') &&
                  grip_letters[m->state] == (expected == '.' ? grip_letters[state] : expected),
              got);
}

/* ---- the steps of a connection ---- */

static bool is_at_step(const void *context) {
    const hand *h = context;
    return h->session.manager.step == h->step;
}

static bool has_result(const void *context) {
    return ((const hand *)context)->results != 0;
}

/* What a grip must be like, or must not, so that a step ends like that. */
static void prepare_step(hand *h, unsigned step, ending how) {
    static const uint32_t lacks[STEPS] = {[1] = TENDON_SIMULATED_FJORDEN_NO_SERVICE,
                                          [2] = TENDON_SIMULATED_FJORDEN_NO_EVENT,
                                          [4] = TENDON_SIMULATED_FJORDEN_NO_FIRMWARE,
                                          [5] = TENDON_SIMULATED_FJORDEN_NO_NOTIFY};
    bool refuses = how == REFUSED;
    h->options =
        (tendon_simulated_fjorden_options){.lacks = refuses ? lacks[step] : 0, .rejects_pairing = refuses && step == 3};
    make(h, false, how != EXPIRED ? WALK_LIMIT_MS : step == 0 ? SHORT_MS : BUDGET_MS);
    bool absent = step == 0 && how != GOES_ON;
    walk_set_present(h->w, !absent);
    h->w->connection.connect_timeout_ms = absent && how != EXPIRED ? SHORT_MS : TENDON_CONNECTION_TIMEOUT_MS;
    h->w->hold_pairing = step == 3 && how != REFUSED && how != GOES_ON;
    h->results = 0;
    memset(h->asked, 0, sizeof h->asked);
}

/* What follows when a step goes well. */
static bool went_on(const hand *h, unsigned step) {
    static const tendon_fjorden_output_kind next[STEPS] = {TENDON_FJORDEN_OUT_DISCOVER_SERVICES,
                                                           TENDON_FJORDEN_OUT_DISCOVER_CHARACTERISTICS,
                                                           TENDON_FJORDEN_OUT_PAIR,
                                                           TENDON_FJORDEN_OUT_READ_FIRMWARE,
                                                           TENDON_FJORDEN_OUT_ENABLE_NOTIFY,
                                                           TENDON_FJORDEN_OUT_STORE_BOND};
    return h->asked[next[step]] == 1 && h->result == TENDON_OK && h->session.manager.state == TENDON_FJORDEN_CONNECTED;
}

static void take_step(hand *h, unsigned step, ending how) {
    walk *w = h->w;
    prepare_step(h, step, how);
    call(h, TENDON_FJORDEN_CALL_START);
    h->results = 0;
    call(h, TENDON_FJORDEN_CALL_CONNECT);
    h->step = (tendon_fjorden_step)(TENDON_FJORDEN_STEP_LINK + step);
    if (how == LOST || how == EXPIRED) {
        if (!walk_until(w, is_at_step, h, grip_steps[step].name)) {
            return;
        }
        w->shut = true; /* no step further */
        walk_settle(w);
        if (how == LOST) {
            walk_hang_up(w);
        }
    }
    (void)walk_until(w, has_result, h, "the end of connect");
    tendon_status expected = how == LOST      ? grip_steps[step].lost
                             : how == EXPIRED ? TENDON_FJORDEN_ERROR_CONNECTION_TIMEOUT
                                              : grip_steps[step].refused;
    char got[96];
    snprintf(got, sizeof got, "%s, %s", tendon_fjorden_manager_state_name(h->session.manager.state),
             tendon_status_name(h->result));
    walk_pair(w, grip_steps[step].name, ending_names[how],
              how == GOES_ON ? went_on(h, step)
                             : h->result == expected && h->session.manager.state == TENDON_FJORDEN_READY,
              got);
}

/* NULL: it can be. */
static const char *why_no_step(unsigned step, ending how) {
    if (step == 0 && how == LOST) {
        return "there is none yet; an attempt fails";
    }
    if (step == 2 && (how == LOST || how == EXPIRED)) {
        return "one discovery finds both, services and characteristics";
    }
    if (step == 3 && how == EXPIRED) {
        return "the time rests while pairing is shown";
    }
    return NULL;
}

int walk_fjorden(walk *w) {
    static hand h;
    h.w = w;
    (void)tendon_simulated_fjorden_init(&h.grip, NULL);
    w->ours.radio->report_context = &h;
    w->ours.radio->on_report = on_report;
    walk_serve(w, tendon_simulated_fjorden_device(&h.grip));
    /* Received first, so that it can be delivered late. */
    if (!reach(&h, TENDON_FJORDEN_SCANNING_FOR_GRIPS, 0)) {
        return 1;
    }
    give(&h, TENDON_FJORDEN_SCANNING_FOR_GRIPS, TENDON_FJORDEN_ON_ADVERTISEMENT);
    for (unsigned state = 0; state < STATES; state++) {
        const char *name = tendon_fjorden_manager_state_name((tendon_fjorden_manager_state)state);
        for (unsigned input = 0; input < INPUTS; input++) {
            const char *why = why_not(state, input);
            if (why != NULL) {
                walk_cannot(w, name, grip_input_names[input], why);
            } else if (reach(&h, state, input)) {
                take_pair(&h, state, input);
            }
        }
    }
    for (unsigned step = 0; step < STEPS; step++) {
        for (ending how = GOES_ON; how < ENDINGS; how++) {
            const char *why = why_no_step(step, how);
            if (why != NULL) {
                walk_cannot(w, grip_steps[step].name, ending_names[how], why);
            } else {
                take_step(&h, step, how);
            }
        }
    }
    walk_rest(w);
    return walk_end_with(w, "fjorden", (unsigned)STATES * (unsigned)INPUTS + (unsigned)STEPS * (unsigned)ENDINGS);
}
