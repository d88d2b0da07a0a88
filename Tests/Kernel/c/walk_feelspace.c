/* SPDX-License-Identifier: MIT */
/* The belt's connection: every situation with every input, over a radio. */
#include "feelspace_pairs.h"
#include "walk.h"

/* Where time is to be over: long enough to reach any situation on a slow machine, short enough to be waited for. */
#define OPEN_MS 4000u
#define SHORT_MS 300u

typedef struct strap {
    walk *w;
    tendon_simulated_feelspace belt;
    tendon_feelspace_session session;
    tendon_ad_report heard; /* of the belt, with its own memory */
    uint8_t heard_data[TENDON_AD_LEGACY_MAX];
    bool hears; /* what the radio hears goes to the session */
    int events; /* changes of state, ends of a search, belts found */
    bool found;
    situation where;
    unsigned strikes; /* before it was waited for time */
    tendon_feelspace_state before;
} strap;

static void on_event(void *context, const tendon_feelspace_event *event, uint64_t now) {
    strap *s = context;
    (void)now;
    s->events += event->kind <= TENDON_FEELSPACE_EVENT_SCAN_FINISHED;
    s->found = s->found || event->kind == TENDON_FEELSPACE_EVENT_FOUND;
}

static tendon_status on_scan(void *context, bool on) {
    walk *w = context;
    return on ? tendon_radio_scan_start(w->ours.radio, &(tendon_scan_parameters){.active = true})
              : tendon_radio_scan_stop(w->ours.radio);
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    strap *s = context;
    if (!tendon_address_equal(&report->address, &s->w->theirs.radio->address)) {
        return;
    }
    if (report->length <= sizeof s->heard_data && (report->properties & TENDON_AD_SCAN_RESPONSE) == 0) {
        s->heard = *report;
        memcpy(s->heard_data, report->data, report->length);
        s->heard.data = s->heard_data;
    }
    if (s->hears) {
        tendon_feelspace_session_advertised(&s->session, report, now);
    }
}

/* ---- to a situation ---- */

static bool is_there(const void *context) {
    const strap *s = context;
    static const tendon_feelspace_state states[SITUATIONS] = {
        [DISCOVERING] = TENDON_FEELSPACE_DISCOVERING_SERVICES,
        [HANDSHAKE] = TENDON_FEELSPACE_HANDSHAKE,
        [CONNECTED] = TENDON_FEELSPACE_CONNECTED,
        [RECONNECTING] = TENDON_FEELSPACE_RECONNECTING,
    };
    if (s->where == PAIRING) {
        return s->w->pairs == 1;
    }
    return s->session.state == states[s->where];
}

static bool is_connected(const void *context) {
    return ((const strap *)context)->session.state == TENDON_FEELSPACE_CONNECTED;
}

static bool open_belt(strap *s) {
    (void)tendon_feelspace_session_connect(&s->session, &s->w->theirs.radio->address, NULL, walk_now());
    return s->where == CONNECTING || walk_until(s->w, is_connected, s, "connected");
}

static void make_session(strap *s, input what) {
    const tendon_feelspace_session_config config = {.link = walk_link(s->w),
                                                    .scan = on_scan,
                                                    .context = s,
                                                    .on_event = on_event,
                                                    .reconnect = s->where == RECONNECTING};
    /* It asks for encryption where there is pairing, and lets itself be paired unless it is to refuse. */
    const tendon_simulated_feelspace_options options = {.pairing_required = s->where == PAIRING,
                                                        .pairing_mode = what != IN_PAIRING_FAILED};
    (void)tendon_simulated_feelspace_init(&s->belt, &options);
    (void)tendon_feelspace_session_init(&s->session, &config);
    walk_attach(s->w, &tendon_feelspace_session_inputs, &s->session);
    s->w->bonded = s->where != PAIRING;
    s->w->hold_pairing = s->where == PAIRING && what != IN_PAIRED && what != IN_PAIRING_FAILED;
    s->w->pairs = 0;
}

static bool reach(strap *s, situation where, input what) {
    walk *w = s->w;
    walk_rest(w);
    walk_set_present(w, where != CONNECTING || what == IN_CONNECTED);
    s->where = where;
    s->hears = s->found = false;
    make_session(s, what);
    tendon_feelspace_connect_options options = {.timeout_ms = what == IN_DEADLINE ? OPEN_MS : 0};
    switch (where) {
    case IDLE:
        return true;
    case SCANNING:
        s->hears = what == IN_ADVERTISED;
        return tendon_feelspace_session_scan(&s->session, what == IN_DEADLINE ? SHORT_MS : 0, walk_now()) == TENDON_OK;
    case DRAINING:
    case AWAITING:
        if (!open_belt(s)) {
            return false;
        }
        tendon_feelspace_session_disconnect(&s->session, walk_now());
        return where == DRAINING || tendon_feelspace_session_connect(&s->session, NULL, NULL, walk_now()) == TENDON_OK;
    case CONNECTING:
        /* Unless it succeeds, it is an attempt to a belt that is out of reach. */
        w->connection.connect_timeout_ms = what == IN_DISCONNECTED ? SHORT_MS : TENDON_CONNECTION_TIMEOUT_MS;
        options.timeout_ms = what == IN_DEADLINE ? SHORT_MS : 0;
        return tendon_feelspace_session_connect(&s->session, &w->theirs.radio->address, &options, walk_now()) ==
               TENDON_OK;
    case RECONNECTING:
        if (!open_belt(s)) {
            return false;
        }
        walk_hang_up(w);
        return walk_until(w, is_there, s, "reconnecting");
    default:
        (void)tendon_feelspace_session_connect(&s->session, &w->theirs.radio->address, &options, walk_now());
        if (!walk_until(w, is_there, s, situation_names[where])) {
            return false;
        }
        w->shut = what != IN_PAIRED && what != IN_PAIRING_FAILED; /* no step further */
        if (w->shut) {
            walk_settle(w);
        }
        return true;
    }
}

/* ---- an input ---- */

static bool has_found(const void *context) {
    return ((const strap *)context)->found;
}

static bool has_struck(const void *context) {
    const strap *s = context;
    return s->w->strikes != s->strikes || s->session.state != s->before;
}

/* What the link, the air and time tell: waited for. */
static void await(strap *s, input what) {
    walk *w = s->w;
    switch (what) {
    case IN_CONNECTED:
        (void)walk_until_told(w, &w->told_connected, w->told_connected, "a link");
        break;
    case IN_DISCONNECTED:
        if (s->where >= DISCOVERING) {
            walk_hang_up(w);
        }
        (void)walk_until_told(w, &w->told_disconnected, w->told_disconnected, "the end of a link");
        break;
    case IN_PAIRED:
    case IN_PAIRING_FAILED:
        (void)walk_until_told(w, &w->told_paired, w->told_paired, "the end of pairing");
        if ((w->reason >= 0) != (what == IN_PAIRED)) {
            printf("not ok pairing: %s\n", tendon_status_name(w->reason));
            w->wrong++;
        }
        break;
    case IN_DEADLINE:
        /* Some times are the session's own, some those of an operation on the air. */
        s->strikes = w->strikes;
        s->before = s->session.state;
        (void)walk_until(w, has_struck, s, "time");
        break;
    default:
        (void)walk_until(w, has_found, s, "an advertisement");
        break;
    }
}

static bool comes_by_itself(const strap *s, input what) {
    return what <= IN_PAIRING_FAILED || what == IN_DEADLINE || (what == IN_ADVERTISED && s->where == SCANNING);
}

/* What the program says, and what it may say at any time. */
static void call(strap *s, input what) {
    static const tendon_feelspace_adapter adapters[] = {TENDON_FEELSPACE_ADAPTER_ON, TENDON_FEELSPACE_ADAPTER_OFF,
                                                        TENDON_FEELSPACE_ADAPTER_UNKNOWN};
    tendon_feelspace_session *session = &s->session;
    uint64_t now = walk_now();
    switch (what) {
    case IN_TICK:
        tendon_feelspace_session_inputs.tick(session, now);
        break;
    case IN_SCAN:
        (void)tendon_feelspace_session_scan(session, 0, now);
        break;
    case IN_STOP_SCAN:
        tendon_feelspace_session_stop_scan(session, now);
        break;
    case IN_CONNECT:
        (void)tendon_feelspace_session_connect(session, &s->w->theirs.radio->address, NULL, now);
        break;
    case IN_DISCONNECT:
        tendon_feelspace_session_disconnect(session, now);
        break;
    case IN_ADVERTISED: /* received during the search, and delivered late */
        tendon_feelspace_session_advertised(session, &s->heard, now);
        break;
    case IN_COMMAND: {
        tendon_status wanted = session->state == TENDON_FEELSPACE_CONNECTED ? TENDON_OK : TENDON_ERROR_DISCONNECTED;
        s->w->wrong += tendon_feelspace_session_set_mode(session, TENDON_FEELSPACE_MODE_APP, now) != wanted;
        break;
    }
    default:
        tendon_feelspace_session_adapter(session, adapters[what - IN_ADAPTER_ON], now);
        break;
    }
}

/* NULL: it can be. */
static const char *why_not(situation where, input what) {
    bool link = where == DRAINING || where == AWAITING || (where >= CONNECTING && where <= CONNECTED);
    if (what == IN_CONNECTED && where != CONNECTING) {
        return "a link is told once, when one was asked for and none is there";
    }
    if (what == IN_DISCONNECTED && !link) {
        return "there is none that could end";
    }
    if ((what == IN_PAIRED || what == IN_PAIRING_FAILED) && where != PAIRING) {
        return "pairing that nobody asked for has no answer";
    }
    if (what == IN_DEADLINE && (where == IDLE || where == CONNECTED)) {
        return "no time runs";
    }
    if (what == IN_DEADLINE && (where == DRAINING || where == AWAITING)) {
        return "the kernel tells the end of a link that we close at once";
    }
    return NULL;
}

static void take_pair(strap *s, situation where, input what) {
    walk *w = s->w;
    const outcome *expected = &table[where][what];
    int connects = (int)w->connects, disconnects = (int)w->disconnects;
    uint32_t illegal = s->session.counters.illegal_inputs;
    s->events = 0;
    if (comes_by_itself(s, what)) {
        await(s, what);
    } else {
        call(s, what);
    }
    int asks = (int)w->connects - connects, ends = (int)w->disconnects - disconnects;
    bool is_illegal = s->session.counters.illegal_inputs != illegal;
    char got[128];
    snprintf(got, sizeof got, "state %d, %d told, %d asked for, %d ended%s", s->session.state, s->events, asks, ends,
             is_illegal ? ", illegal" : "");
    walk_pair(w, situation_names[where], input_names[what],
              s->session.state == expected->next && s->events == expected->events && asks == expected->asks &&
                  ends == expected->hangs_up && is_illegal == expected->illegal,
              got);
}

/* True if this input changes nothing, so that the next one can follow immediately. */
static bool stays(const strap *s, situation where, input what) {
    static const tendon_feelspace_state scanning = TENDON_FEELSPACE_SCANNING;
    const outcome *o = &table[where][what];
    return !comes_by_itself(s, what) && o->asks == 0 && o->hangs_up == 0 && s->session.state == o->next &&
           (where != SCANNING || o->next == scanning) && what != IN_SCAN && what != IN_CONNECT &&
           what != IN_DISCONNECT && what != IN_COMMAND && what != IN_ADAPTER_OFF && what != IN_STOP_SCAN;
}

int walk_feelspace(walk *w) {
    static strap s;
    s.w = w;
    (void)tendon_simulated_feelspace_init(&s.belt, NULL);
    w->ours.radio->report_context = &s;
    w->ours.radio->on_report = on_report;
    walk_serve(w, tendon_simulated_feelspace_device(&s.belt));
    /* Received first, so that it can be delivered late. */
    if (!reach(&s, SCANNING, IN_ADVERTISED) || !walk_until(w, has_found, &s, "an advertisement")) {
        return 1;
    }
    for (int where = 0; where < SITUATIONS; where++) {
        bool there = false;
        for (int what = 0; what < INPUTS; what++) {
            const char *why = why_not((situation)where, (input)what);
            if (why != NULL) {
                walk_cannot(w, situation_names[where], input_names[what], why);
                continue;
            }
            there = there && !comes_by_itself(&s, (input)what);
            if (there || reach(&s, (situation)where, (input)what)) {
                take_pair(&s, (situation)where, (input)what);
                there = stays(&s, (situation)where, (input)what);
            }
        }
    }
    walk_rest(w);
    return walk_end_with(w, "feelspace", (unsigned)SITUATIONS * (unsigned)INPUTS);
}
