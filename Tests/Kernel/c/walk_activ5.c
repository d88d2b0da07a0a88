/* SPDX-License-Identifier: MIT */
/* The trainer: every state of a device with every input, over a radio; then the manager's scan. */
#include "activ5_pairs.h"
#include "walk.h"

#define SHORT_MS 300u
/* 5A01 is subscribed; serial number and both ids are read. */
#define OPENING_OPERATIONS 4u

typedef struct gym {
    walk *w;
    tendon_simulated_activ5 trainer;
    tendon_activ5_options options;
    tendon_activ5_device device;
    tendon_activ5_session session;
    unsigned done, link_events, ends;
    tendon_activ5_manager manager;
    tendon_activ5_device entries[2];
    char words[256];
    tendon_ad_report heard;
    uint8_t heard_data[TENDON_AD_LEGACY_MAX];
    unsigned reports;
    bool hears; /* what the radio hears goes to the manager */
} gym;

static void note(gym *g, const char *word) {
    size_t used = strlen(g->words);
    if (strcmp(word, "deviceFound") == 0 && strstr(g->words, word) != NULL) {
        return; /* one for each advertisement, as many as there are */
    }
    snprintf(g->words + used, sizeof g->words - used, "%s%s", used > 0 ? " " : "", word);
}

static void on_event(void *context, const tendon_activ5_event *event, uint64_t now) {
    static const char *const names[] = {"searchCompleted", "deviceFound",
                                        "didChangeBluetoothState:", "bluetoothIsSwitchedOff"};
    gym *g = context;
    (void)now;
    g->done += event->kind == TENDON_ACTIV5_EVENT_DONE;
    g->ends += event->kind == TENDON_ACTIV5_EVENT_CONNECT_FAILED || event->kind == TENDON_ACTIV5_EVENT_DISCONNECTED;
    if (event->kind == TENDON_ACTIV5_EVENT_BLUETOOTH_STATE) {
        note(g, event->on ? "didChangeBluetoothState:on" : "didChangeBluetoothState:off");
    } else if (event->kind <= TENDON_ACTIV5_EVENT_BLUETOOTH_OFF) {
        note(g, names[event->kind]);
    }
}

/* ---- a device: to a place ---- */

static tendon_gatt_connection *link_of(gym *g) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (g->trainer.centrals.places[i].used) {
            return &g->trainer.centrals.places[i].connection;
        }
    }
    return NULL;
}

static bool is_connected(const void *context) {
    return ((const gym *)context)->device.link == TENDON_ACTIV5_LINK_UP;
}

static bool is_discovered(const void *context) {
    return ((const gym *)context)->device.characteristics != 0;
}

static bool is_open(const void *context) {
    return ((const gym *)context)->done >= OPENING_OPERATIONS;
}

/* Text as if the trainer had said so. */
static bool say(gym *g, const char *text) {
    char framed[64];
    unsigned before = (unsigned)g->device.counters.values;
    int length = snprintf(framed, sizeof framed, "\x12%s\x13", text);
    walk_notify(g->w, link_of(g), g->trainer.handles[TENDON_SIMULATED_ACTIV5_TEXT], framed, (size_t)length);
    uint64_t limit = walk_now() + WALK_LIMIT_MS;
    while (g->device.counters.values == before && walk_now() < limit) {
        walk_step(g->w);
    }
    return g->device.counters.values != before;
}

/* A value of a characteristic that is subscribed by this call. */
static bool tell(gym *g, tendon_status (*subscribe)(tendon_activ5_device *device, uint64_t now), int which,
                 const void *value, size_t length) {
    unsigned before = g->done;
    uint64_t values = g->device.counters.values, limit = walk_now() + WALK_LIMIT_MS;
    if (subscribe(&g->device, walk_now()) < 0 || !walk_until_told(g->w, &g->done, before, "a subscription")) {
        return false;
    }
    walk_notify(g->w, link_of(g), g->trainer.handles[which], value, length);
    while (g->device.counters.values == values && walk_now() < limit) {
        walk_step(g->w);
    }
    return g->device.counters.values != values;
}

static bool reach(gym *g, where place, input what) {
    walk *w = g->w;
    walk_rest(w);
    tendon_session_link link = walk_link(w);
    /* It says nothing by itself before the handshake, which is not made. */
    const tendon_simulated_activ5_options options = {.silent = true, .accepts_early = true, .no_script = true};
    (void)tendon_simulated_activ5_init(&g->trainer, &options);
    g->options = tendon_activ5_options_defaults();
    tendon_activ5_device_init(&g->device, &g->options, on_event, g, NULL, NULL);
    (void)tendon_activ5_session_init(&g->session, &link, &g->device);
    walk_attach(w, &tendon_activ5_session_inputs, &g->session);
    g->done = 0;
    bool fails = what == LINK_FAILED;
    /* Unless it succeeds, it is an attempt to a trainer that is out of reach. */
    walk_set_present(w, !fails && (place != AT_CONNECTING || what == LINK_UP));
    w->connection.connect_timeout_ms = fails ? SHORT_MS : TENDON_CONNECTION_TIMEOUT_MS;
    if (place == AT_DISCONNECTED) {
        return true;
    }
    if (tendon_activ5_device_connect(&g->device, walk_now()) < 0) {
        return false;
    }
    if (place == AT_CLOSING && fails) {
        return tendon_activ5_device_disconnect(&g->device, walk_now()) == TENDON_OK;
    }
    if (place == AT_CONNECTING) {
        return true;
    }
    if (what == DISCOVERED) {
        return walk_until(w, is_connected, g, "connected");
    }
    if (!walk_until(w, is_open, g, "open")) {
        return false;
    }
    walk_settle(w);
    switch (place) {
    case AT_ISOMETRIC:
        return say(g, "IS1/IS");
    case AT_STOP: {
        unsigned before = g->done;
        return tendon_activ5_device_stop(&g->device, walk_now()) == TENDON_OK &&
               walk_until_told(w, &g->done, before, "stop");
    }
    case AT_CLOSING:
        return tendon_activ5_device_disconnect(&g->device, walk_now()) == TENDON_OK;
    default:
        return true;
    }
}

/* ---- a device: an input ---- */

static bool reads(gym *g, tendon_activ5_command command) {
    unsigned before = g->done;
    return tendon_activ5_device_send(&g->device, command, walk_now()) >= 0 &&
           walk_until_told(g->w, &g->done, before, "an answer");
}

static bool end(gym *g, bool hang_up) {
    if (hang_up) {
        walk_hang_up(g->w);
    }
    return walk_until_told(g->w, &g->ends, g->ends, "an end");
}

/* What comes over the link. True: it came, and was taken. */
static bool comes(gym *g, where place, input what) {
    static const uint8_t motion[16] = {0}, force[2] = {1, 0};
    walk *w = g->w;
    switch (what) {
    case LINK_UP:
        return walk_until(w, is_connected, g, "a link");
    case LINK_FAILED:
        return end(g, false);
    case LINK_DOWN:
        return end(g, place != AT_CLOSING);
    case DISCOVERED:
        return walk_until(w, is_discovered, g, "discovered");
    case INITIAL:
    case INITIAL_ALONE:
        g->options.auto_handshake = what == INITIAL;
        return say(g, "TC5k;1");
    case FORCE_TEXT:
        return say(g, "IS2/IS");
    case FORCE_BINARY:
        return tell(g, tendon_activ5_device_start_isometric, TENDON_SIMULATED_ACTIV5_FORCE, force, sizeof force);
    case UNKNOWN_TEXT:
        return say(g, "hello");
    case IMU:
        return tell(g, tendon_activ5_device_start_imu, TENDON_SIMULATED_ACTIV5_IMU, motion, sizeof motion);
    case SN1:
        return say(g, "ASN1x");
    case UUID1:
        return say(g, "Aix");
    case SERIAL:
    case BATTERY:
        return reads(g, what == SERIAL ? TENDON_ACTIV5_ASK_SERIAL_NUMBER : TENDON_ACTIV5_ASK_BATTERY);
    case BAD_TEXT:
        return say(g, "ISx/IS");
    case BAD_FORCE:
        return tell(g, tendon_activ5_device_start_isometric, TENDON_SIMULATED_ACTIV5_FORCE, force, 1);
    default:
        return reads(g, TENDON_ACTIV5_ASK_BATTERY);
    }
}

/* What the program says. True: it was taken. */
static bool call(gym *g, input what) {
    tendon_activ5_device *device = &g->device;
    uint64_t now = walk_now();
    switch (what) {
    case CONNECT:
        return tendon_activ5_device_connect(device, now) == TENDON_OK;
    case DISCONNECT:
        return tendon_activ5_device_disconnect(device, now) == TENDON_OK;
    case CALL_START:
        return tendon_activ5_device_start_isometric(device, now) == TENDON_OK;
    case CALL_STOP:
        return tendon_activ5_device_stop(device, now) == TENDON_OK;
    case COMMAND_STOP:
        return tendon_activ5_device_send(device, TENDON_ACTIV5_STOP, now) == TENDON_OK;
    case CALL_TARE:
        return tendon_activ5_device_tare(device, now) == TENDON_OK;
    default:
        tendon_activ5_device_tick(device, now);
        return true;
    }
}

static bool is_call(input what) {
    return what == CONNECT || what == DISCONNECT || (what >= CALL_START && what <= TICK);
}

/* NULL: it can be. */
static const char *why_not(where place, input what) {
    bool up = place == AT_CONNECTED || place == AT_ISOMETRIC || place == AT_STOP;
    if (is_call(what)) {
        return NULL;
    }
    if (what == LINK_UP && place != AT_CONNECTING) {
        return "a link is told once, when one was asked for and none is there";
    }
    if (what == LINK_FAILED && place != AT_CONNECTING && place != AT_CLOSING) {
        return "no attempt is under way";
    }
    if (what == LINK_DOWN && !up && place != AT_CLOSING) {
        return "there is no link that could end";
    }
    if (what == LINK_UP || what == LINK_FAILED || what == LINK_DOWN) {
        return NULL;
    }
    if (what == UNKNOWN_CHARACTERISTIC) {
        return "only what is known is subscribed or read";
    }
    if (what == TIMESTAMP) {
        return "no call subscribes or reads F0F3";
    }
    if (what == DISCOVERED && place != AT_CONNECTED) {
        return up ? "nothing leads here before the discovery ends" : "no discovery is under way";
    }
    return up ? NULL : "without a link nothing comes";
}

static void take_pair(gym *g, where place, input what) {
    char got[64];
    uint64_t ignored = g->device.counters.ignored;
    bool taken = is_call(what) ? call(g, what) : comes(g, place, what);
    taken = taken && g->device.counters.ignored == ignored;
    snprintf(got, sizeof got, "%s%s", tendon_activ5_data_state_name(g->device.state), taken ? "" : ", refused");
    walk_pair(g->w, place_names[place], input_names[what],
              g->device.state == (expected[what][place] & ~X) && taken == ((expected[what][place] & X) == 0), got);
}

/* ---- the scan ---- */

static tendon_status on_request(void *context, const tendon_activ5_request *request, uint64_t now) {
    gym *g = context;
    (void)now;
    if (request->kind == TENDON_ACTIV5_REQUEST_SCAN_START) {
        note(g, "scan_start");
        return g->w->ours.radio->scanning
                   ? TENDON_OK
                   : tendon_radio_scan_start(g->w->ours.radio, &(tendon_scan_parameters){.active = true});
    }
    note(g, "scan_stop");
    return tendon_radio_scan_stop(g->w->ours.radio);
}

/* Its name, which stands in the scan response, or what stands in the advertisement: none. */
static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    gym *g = context;
    bool response = (report->properties & TENDON_AD_SCAN_RESPONSE) != 0;
    if (!tendon_address_equal(&report->address, &g->w->theirs.radio->address) ||
        report->length > sizeof g->heard_data) {
        return;
    }
    if (response) {
        g->heard = *report;
        memmove(g->heard_data, report->data, report->length);
        g->heard.data = g->heard_data;
    }
    if (!g->hears) {
        return;
    }
    char name[TENDON_ACTIV5_NAME_SIZE];
    tendon_status length = tendon_ad_name(report->data, report->length, name, sizeof name);
    g->reports += !response;
    (void)tendon_activ5_manager_advertised(&g->manager, name, length > 0 ? (size_t)length : 0, &report->address,
                                           report->rssi, now);
}

static scan_place scan_state(const gym *g) {
    return !g->manager.powered ? OFF : g->manager.scanning ? SCANNING : IDLE;
}

static bool has_said(const void *context) {
    return ((const gym *)context)->words[0] != 0;
}

static void reach_scan(gym *g, scan_place place, bool short_search) {
    (void)tendon_radio_scan_stop(g->w->ours.radio);
    tendon_activ5_manager_init(&g->manager, g->entries, 2, on_event, on_request, g);
    g->manager.options.search_timeout_ms = short_search ? SHORT_MS : TENDON_ACTIV5_SEARCH_TIMEOUT_MS;
    if (place == OFF) {
        tendon_activ5_manager_set_radio(&g->manager, TENDON_RADIO_ERROR_ADAPTER_DOWN, walk_now());
    } else if (place == SCANNING) {
        (void)tendon_activ5_manager_scan(&g->manager, walk_now());
    }
    g->words[0] = 0;
}

/* Advertisements are received during the search; one that is delivered late changes nothing. */
static void hear(gym *g, scan_place place, bool named) {
    g->hears = true;
    if (place != SCANNING) {
        on_report(g, &g->heard, walk_now());
    } else if (named) {
        (void)walk_until(g->w, has_said, g, "an advertisement");
    } else {
        (void)walk_until_told(g->w, &g->reports, g->reports, "an advertisement");
        g->words[0] = 0; /* what its scan response led to */
    }
    g->hears = false;
}

static void give_scan(gym *g, scan_place place, size_t row) {
    tendon_activ5_manager *m = &g->manager;
    uint64_t now = walk_now();
    switch (row) {
    case 0:
        g->w->wrong +=
            tendon_activ5_manager_scan(m, now) != (place == OFF ? TENDON_RADIO_ERROR_ADAPTER_DOWN : TENDON_OK);
        break;
    case 1:
        tendon_activ5_manager_stop_scanning(m, now);
        break;
    case 2:
        while (tendon_activ5_manager_deadline(m) != UINT64_MAX) {
            tendon_activ5_manager_tick(m, walk_now());
            walk_step(g->w);
        }
        break;
    case 3:
    case 4:
        hear(g, place, row == 3);
        break;
    case 5:
    case 6:
        tendon_activ5_manager_set_radio(m, row == 6 ? TENDON_OK : TENDON_RADIO_ERROR_ADAPTER_DOWN, now);
        break;
    default:
        tendon_activ5_manager_disconnect_all(m, now);
        break;
    }
}

static void walk_scan(gym *g) {
    walk *w = g->w;
    walk_rest(w);
    walk_set_present(w, true);
    w->resting = true; /* the session has no part in it */
    w->ours.radio->report_context = g;
    w->ours.radio->on_report = on_report;
    reach_scan(g, SCANNING, false);
    hear(g, SCANNING, true); /* so that it can also be delivered late */
    for (int place = OFF; place < SCAN_PLACES; place++) {
        for (size_t row = 0; row < SCAN_ROWS; row++) {
            reach_scan(g, (scan_place)place, row == 2);
            give_scan(g, (scan_place)place, row);
            char got[sizeof g->words + 32];
            snprintf(got, sizeof got, "%s: %s", scan_names[scan_state(g)], g->words);
            walk_pair(w, scan_names[place], scan_rows[row].name,
                      scan_state(g) == scan_rows[row].next[place] && strcmp(g->words, scan_rows[row].words[place]) == 0,
                      got);
        }
    }
}

int walk_activ5(walk *w) {
    static gym g;
    g.w = w;
    (void)tendon_simulated_activ5_init(&g.trainer, NULL);
    walk_serve(w, tendon_simulated_activ5_device(&g.trainer));
    for (int place = AT_DISCONNECTED; place < PLACES; place++) {
        for (int what = CONNECT; what < INPUTS; what++) {
            const char *why = why_not((where)place, (input)what);
            if (why != NULL) {
                walk_cannot(w, place_names[place], input_names[what], why);
            } else if (reach(&g, (where)place, (input)what)) {
                take_pair(&g, (where)place, (input)what);
            }
        }
    }
    walk_scan(&g);
    return walk_end_with(w, "activ5",
                         (unsigned)INPUTS * (unsigned)PLACES + (unsigned)SCAN_PLACES * (unsigned)SCAN_ROWS);
}
