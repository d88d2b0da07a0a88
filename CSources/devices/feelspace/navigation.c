/* SPDX-License-Identifier: MIT */
/* Two tables contain the effect of each mode and of each button on each state. */
#include "codec_parts.h"
#include "tendon/base/packed.h"
#include "tendon/devices/feelspace_navigation.h"

typedef tendon_feelspace_navigation navigation;

/* ---- small steps ---- */

static bool is_connected(const navigation *nav) {
    return nav->config.session->state == TENDON_FEELSPACE_CONNECTED;
}

static bool in_mode(const navigation *nav, uint8_t mode) {
    return is_connected(nav) && nav->config.session->mode == mode;
}

static void tell(navigation *nav, const tendon_feelspace_navigation_event *event) {
    nav->config.on_event(nav->config.context, event, nav->now);
}

static void tell_value(navigation *nav, tendon_feelspace_navigation_event_kind kind, int32_t value) {
    tell(nav, &(tendon_feelspace_navigation_event){.kind = kind, .value = value});
}

/* @return false if the callback changed the state again. */
static bool go(navigation *nav, tendon_feelspace_navigation_state state) {
    nav->state = state;
    nav->pending_mode = TENDON_FEELSPACE_MODE_STANDBY; /* of the state before */
    tell_value(nav, TENDON_FEELSPACE_NAVIGATION_EVENT_STATE, 0);
    return nav->state == state;
}

/* With a full queue: again as soon as a command has ended. */
static void request(navigation *nav, uint8_t mode) {
    tendon_status status = tendon_feelspace_session_set_mode(nav->config.session, mode, nav->now);
    nav->pending_mode = status == TENDON_GATT_ERROR_QUEUE_FULL ? mode : TENDON_FEELSPACE_MODE_STANDBY;
}

/* ---- the signal, at most every 100 ms ---- */

static void wait_for_pace(navigation *nav) {
    nav->has_timer = true;
    nav->timer = nav->now + TENDON_FEELSPACE_NAVIGATION_PACE_MS;
}

static void send(navigation *nav) {
    tendon_feelspace_navigation_signal_at signal = nav->signal;
    nav->sent = nav->now;
    nav->has_sent = true;
    if (nav->config.send != NULL) {
        nav->config.send(nav->config.context, &signal, nav->now);
    } else if (tendon_feelspace_navigation_send(nav, &signal, nav->now) == TENDON_GATT_ERROR_QUEUE_FULL) {
        wait_for_pace(nav);
    }
}

static void send_or_wait(navigation *nav) {
    if (nav->state != TENDON_FEELSPACE_NAVIGATING || !in_mode(nav, TENDON_FEELSPACE_MODE_APP) || nav->has_timer) {
        return;
    }
    if (!nav->has_sent || nav->now - nav->sent >= TENDON_FEELSPACE_NAVIGATION_PACE_MS) {
        send(nav);
    } else {
        wait_for_pace(nav);
    }
}

static void send_or_request(navigation *nav) {
    if (in_mode(nav, TENDON_FEELSPACE_MODE_APP)) {
        send_or_wait(nav);
    } else {
        request(nav, TENDON_FEELSPACE_MODE_APP);
    }
}

void tendon_feelspace_navigation_tick(tendon_feelspace_navigation *nav, uint64_t now) {
    nav->now = now;
    if (nav->has_timer && now >= nav->timer) {
        nav->has_timer = false;
        nav->has_sent = false; /* its time has come, however late the tick before was */
        send_or_wait(nav);
    }
}

uint64_t tendon_feelspace_navigation_deadline(const tendon_feelspace_navigation *nav) {
    return nav->has_timer ? nav->timer : UINT64_MAX;
}

/* ---- events of the belt ---- */

typedef enum action {
    NOTHING,
    REQUEST_WAIT,
    REQUEST_APP,
    REQUEST_PAUSE,
    SEND,
    STOP,
    PAUSE,
    PAUSE_AND_REQUEST,
    RESUME,
    REMEMBER_PAUSE, /* the belt's pause mode is of our making */
    HOME
} action;

static void do_action(navigation *nav, uint8_t what) {
    switch ((action)what) {
    case NOTHING:
        break;
    case REQUEST_WAIT:
        request(nav, TENDON_FEELSPACE_MODE_WAIT);
        break;
    case REQUEST_APP:
    case REQUEST_PAUSE: /* in the order of the modes */
        request(nav, (uint8_t)(TENDON_FEELSPACE_MODE_APP + what - REQUEST_APP));
        break;
    case SEND:
        send_or_wait(nav);
        break;
    case STOP:
        (void)go(nav, TENDON_FEELSPACE_STOPPED);
        break;
    case PAUSE:
        (void)go(nav, TENDON_FEELSPACE_PAUSED);
        break;
    case PAUSE_AND_REQUEST:
        if (go(nav, TENDON_FEELSPACE_PAUSED)) {
            request(nav, TENDON_FEELSPACE_MODE_PAUSE);
        }
        break;
    case RESUME:
        if (go(nav, TENDON_FEELSPACE_NAVIGATING)) {
            send_or_request(nav);
        }
        break;
    case REMEMBER_PAUSE:
        nav->pause_for_navigation = true;
        break;
    case HOME:
        tell(nav, &(tendon_feelspace_navigation_event){.kind = TENDON_FEELSPACE_NAVIGATION_EVENT_HOME_BUTTON,
                                                       .navigating = nav->state == TENDON_FEELSPACE_NAVIGATING});
        break;
    }
}

static void mode_changed(navigation *nav, uint8_t mode) {
    static const uint8_t table[][TENDON_FEELSPACE_NAVIGATION_STATE_COUNT] = {
        /*                                       stopped       paused          navigating */
        [TENDON_FEELSPACE_MODE_STANDBY] = {NOTHING, NOTHING, NOTHING},
        [TENDON_FEELSPACE_MODE_WAIT] = {NOTHING, STOP, STOP},
        [TENDON_FEELSPACE_MODE_COMPASS] = {NOTHING, NOTHING, PAUSE},
        [TENDON_FEELSPACE_MODE_APP] = {REQUEST_WAIT, REQUEST_PAUSE, SEND},
        [TENDON_FEELSPACE_MODE_PAUSE] = {NOTHING, REMEMBER_PAUSE, PAUSE},
        [TENDON_FEELSPACE_MODE_CALIBRATION] = {NOTHING, NOTHING, PAUSE},
        [TENDON_FEELSPACE_MODE_CROSSING] = {NOTHING, NOTHING, PAUSE},
    };
    nav->pause_for_navigation = false;
    if (mode < sizeof table / sizeof table[0]) {
        do_action(nav, table[mode][nav->state]);
    }
}

static void button_pressed(navigation *nav, const tendon_feelspace_press *press) {
    /* The rows of home and pause without a change of mode: in app mode, in pause mode, in another; then what is left:
     * a change to app mode, and to another. */
    static const uint8_t table[][TENDON_FEELSPACE_NAVIGATION_STATE_COUNT] = {
        {REQUEST_WAIT, RESUME, HOME},        {HOME, NOTHING, REQUEST_APP},
        {HOME, RESUME, REQUEST_APP},         {REQUEST_WAIT, REQUEST_PAUSE, PAUSE_AND_REQUEST},
        {REQUEST_WAIT, RESUME, REQUEST_APP}, {NOTHING, NOTHING, NOTHING},
        {NOTHING, NOTHING, NOTHING},         {NOTHING, NOTHING, PAUSE},
    };
    bool home = press->button == TENDON_FEELSPACE_BUTTON_HOME;
    unsigned row = press->new_mode == TENDON_FEELSPACE_MODE_APP ? 6 : 7;
    if ((home || press->button == TENDON_FEELSPACE_BUTTON_PAUSE) && press->previous_mode == press->new_mode) {
        row = home ? 0 : 3;
        row += press->new_mode == TENDON_FEELSPACE_MODE_APP     ? 0
               : press->new_mode == TENDON_FEELSPACE_MODE_PAUSE ? 1
                                                                : 2;
    }
    nav->pause_for_navigation = false;
    do_action(nav, table[row][nav->state]);
}

/* ---- the connection ---- */

static void connected(navigation *nav) {
    (void)tendon_feelspace_session_start_orientation(nav->config.session, 0, 0, nav->now);
    (void)tendon_feelspace_session_request_accuracy_signal(nav->config.session, nav->now);
    if (nav->state == TENDON_FEELSPACE_NAVIGATING) {
        send_or_request(nav);
    }
}

/* Returns the event that precedes the new state of the connection; CONNECTION if there is none. */
static tendon_feelspace_navigation_event_kind warning_of(const tendon_feelspace_event *event) {
    switch (event->connection.event) {
    case TENDON_FEELSPACE_CONNECTION_LOST:
    case TENDON_FEELSPACE_RECONNECTION_FAILED: /* that a belt is switched off is no loss: the user meant it */
        return event->connection.error == TENDON_FEELSPACE_POWER_OFF ? TENDON_FEELSPACE_NAVIGATION_EVENT_CONNECTION
                                                                     : TENDON_FEELSPACE_NAVIGATION_EVENT_LOST;
    case TENDON_FEELSPACE_CONNECTION_FAILED:
    case TENDON_FEELSPACE_SERVICE_DISCOVERY_FAILED:
    case TENDON_FEELSPACE_HANDSHAKE_FAILED:
        return TENDON_FEELSPACE_NAVIGATION_EVENT_FAILED;
    default:
        return TENDON_FEELSPACE_NAVIGATION_EVENT_CONNECTION;
    }
}

static void connection_changed(navigation *nav, const tendon_feelspace_event *event,
                               tendon_feelspace_navigation_event *told) {
    told->connection = event->connection.state;
    told->error = event->connection.error;
    nav->pause_for_navigation = false;
    nav->pending_mode = TENDON_FEELSPACE_MODE_STANDBY;
    if (event->connection.event == TENDON_FEELSPACE_HANDSHAKE_FINISHED) {
        connected(nav);
    }
    told->kind = warning_of(event);
    if (told->kind != TENDON_FEELSPACE_NAVIGATION_EVENT_CONNECTION) {
        tell(nav, told);
        told->kind = TENDON_FEELSPACE_NAVIGATION_EVENT_CONNECTION;
    }
}

static void scan_finished(navigation *nav, tendon_feelspace_scan_cause cause) {
    /* Already connected and cancelled are not reported: the application caused them. */
    static const uint8_t kinds[] = {TENDON_FEELSPACE_NAVIGATION_EVENT_NO_BELT,
                                    TENDON_FEELSPACE_NAVIGATION_EVENT_NOT_AVAILABLE,
                                    TENDON_FEELSPACE_NAVIGATION_EVENT_POWERED_OFF};
    nav->connect_first = false;
    if (cause < sizeof kinds) {
        tell_value(nav, (tendon_feelspace_navigation_event_kind)kinds[cause], 0);
    }
}

void tendon_feelspace_navigation_on_event(void *context, const tendon_feelspace_event *event, uint64_t now) {
    navigation *nav = context;
    const tendon_feelspace_session *session = nav->config.session;
    tendon_feelspace_navigation_event told = {0};
    nav->now = now;
    switch (event->kind) {
    case TENDON_FEELSPACE_EVENT_MODE:
        mode_changed(nav, session->mode);
        return;
    case TENDON_FEELSPACE_EVENT_BUTTON:
        button_pressed(nav, &event->press);
        return;
    case TENDON_FEELSPACE_EVENT_COMMAND:
        if (nav->pending_mode != TENDON_FEELSPACE_MODE_STANDBY) {
            request(nav, nav->pending_mode);
        }
        return;
    case TENDON_FEELSPACE_EVENT_STATE:
        connection_changed(nav, event, &told);
        break;
    case TENDON_FEELSPACE_EVENT_FOUND:
        told.kind = TENDON_FEELSPACE_NAVIGATION_EVENT_FOUND;
        told.found = event;
        break;
    case TENDON_FEELSPACE_EVENT_SCAN_FINISHED:
        scan_finished(nav, event->scan.cause);
        told.kind = TENDON_FEELSPACE_NAVIGATION_EVENT_SEARCHED;
        break;
    case TENDON_FEELSPACE_EVENT_DEFAULT_INTENSITY:
        told.kind = TENDON_FEELSPACE_NAVIGATION_EVENT_INTENSITY;
        told.value = session->default_intensity;
        break;
    case TENDON_FEELSPACE_EVENT_ORIENTATION:
        told.kind = TENDON_FEELSPACE_NAVIGATION_EVENT_ORIENTATION;
        told.value = session->orientation.heading;
        told.accurate = session->orientation.accurate;
        break;
    case TENDON_FEELSPACE_EVENT_BATTERY:
        told.kind = TENDON_FEELSPACE_NAVIGATION_EVENT_BATTERY;
        told.value = tendon_feelspace_navigation_battery_level(nav);
        told.power = session->battery.power_status;
        break;
    case TENDON_FEELSPACE_EVENT_ACCURACY_SIGNAL:
        told.kind = TENDON_FEELSPACE_NAVIGATION_EVENT_ACCURACY;
        told.enabled = session->accuracy_state > 0;
        break;
    default:
        return;
    }
    tell(nav, &told);
    if (told.found != NULL && nav->connect_first) {
        nav->connect_first = false;
        (void)tendon_feelspace_session_connect(nav->config.session, event->found.address, NULL, now);
    }
}

/* ---- calls ---- */

tendon_status tendon_feelspace_navigation_init(navigation *nav, const tendon_feelspace_navigation_config *config) {
    if (config->session == NULL || config->on_event == NULL) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    *nav = (navigation){.config = *config};
    return TENDON_OK;
}

tendon_status tendon_feelspace_navigation_search(navigation *nav, uint64_t now) {
    tendon_feelspace_session_disconnect(nav->config.session, now);
    tendon_feelspace_session_stop_scan(nav->config.session, now); /* an older search has already reported its belts */
    return tendon_feelspace_session_scan(nav->config.session, 0, now);
}

tendon_status tendon_feelspace_navigation_search_and_connect(navigation *nav, uint64_t now) {
    tendon_status status = tendon_feelspace_navigation_search(nav, now);
    nav->connect_first = status >= 0 && nav->config.session->state == TENDON_FEELSPACE_SCANNING;
    return status;
}

tendon_status tendon_feelspace_navigation_connect(navigation *nav, const tendon_address *belt, uint64_t now) {
    return tendon_feelspace_session_connect(nav->config.session, belt, NULL, now);
}

void tendon_feelspace_navigation_disconnect(navigation *nav, uint64_t now) {
    tendon_feelspace_session_stop_scan(nav->config.session, now);
    tendon_feelspace_session_disconnect(nav->config.session, now);
}

static bool store(navigation *nav, int32_t direction, bool is_bearing, int32_t signal) {
    bool repeated = tendon_feelspace_navigation_signal_repeated(signal);
    if (repeated) {
        nav->signal = (tendon_feelspace_navigation_signal_at){direction, is_bearing, signal};
    }
    return repeated;
}

bool tendon_feelspace_navigation_start(navigation *nav, int32_t direction, bool is_bearing, int32_t signal,
                                       uint64_t now) {
    if (!store(nav, direction, is_bearing, signal)) {
        return false;
    }
    nav->now = now;
    do_action(nav, nav->state == TENDON_FEELSPACE_NAVIGATING ? SEND : RESUME);
    return true;
}

bool tendon_feelspace_navigation_update(navigation *nav, int32_t direction, bool is_bearing, int32_t signal,
                                        uint64_t now) {
    if (nav->state != TENDON_FEELSPACE_NAVIGATING || !store(nav, direction, is_bearing, signal)) {
        return false;
    }
    nav->now = now;
    send_or_wait(nav);
    return true;
}

void tendon_feelspace_navigation_pause(navigation *nav, uint64_t now) {
    nav->now = now;
    if (nav->state == TENDON_FEELSPACE_NAVIGATING && go(nav, TENDON_FEELSPACE_PAUSED) &&
        in_mode(nav, TENDON_FEELSPACE_MODE_APP)) {
        request(nav, TENDON_FEELSPACE_MODE_PAUSE);
    }
}

void tendon_feelspace_navigation_stop(navigation *nav, uint64_t now) {
    nav->now = now;
    if (nav->state != TENDON_FEELSPACE_STOPPED && go(nav, TENDON_FEELSPACE_STOPPED) &&
        (in_mode(nav, TENDON_FEELSPACE_MODE_APP) ||
         (in_mode(nav, TENDON_FEELSPACE_MODE_PAUSE) && nav->pause_for_navigation))) {
        request(nav, TENDON_FEELSPACE_MODE_WAIT);
    }
}

static tendon_status send_packet(navigation *nav, const uint8_t *packet, tendon_status length, uint64_t now) {
    return tendon_feelspace_session_send(nav->config.session, TENDON_FEELSPACE_VIBRATION_COMMAND, packet, length, now);
}

tendon_status tendon_feelspace_navigation_send(navigation *nav, const tendon_feelspace_navigation_signal_at *signal,
                                               uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    return send_packet(nav, packet,
                       tendon_feelspace_encode_navigation(signal->signal, signal->direction, signal->is_bearing, packet,
                                                          sizeof packet),
                       now);
}

tendon_status tendon_feelspace_navigation_notify_destination(navigation *nav, bool stop, uint64_t now) {
    if (stop) {
        tendon_feelspace_navigation_stop(nav, now);
    }
    return tendon_feelspace_session_signal(nav->config.session, TENDON_FEELSPACE_SIGNAL_GOAL_REACHED, now);
}

tendon_status tendon_feelspace_navigation_notify_direction(navigation *nav, int32_t direction, bool is_bearing,
                                                           uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    return send_packet(nav, packet,
                       tendon_feelspace_encode_direction_notice(direction, is_bearing, packet, sizeof packet), now);
}

tendon_status tendon_feelspace_navigation_notify_warning(navigation *nav, bool critical, uint64_t now) {
    uint8_t packet[TENDON_FEELSPACE_PACKET_MAX];
    return send_packet(nav, packet, tendon_feelspace_encode_warning_notice(critical, packet, sizeof packet), now);
}

tendon_status tendon_feelspace_navigation_notify_battery(navigation *nav, uint64_t now) {
    return tendon_feelspace_session_signal(nav->config.session, TENDON_FEELSPACE_SIGNAL_BATTERY, now);
}

tendon_status tendon_feelspace_navigation_set_intensity(navigation *nav, int32_t intensity, bool feedback,
                                                        uint64_t now) {
    if (is_connected(nav) && !feelspace_within(intensity, 5, 100)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    return tendon_feelspace_session_set_default_intensity(nav->config.session, intensity, feedback, now);
}

tendon_status tendon_feelspace_navigation_set_accuracy_signal(navigation *nav, bool enable, bool persistent,
                                                              uint64_t now) {
    return tendon_feelspace_session_set_accuracy_signal(nav->config.session, enable, enable, persistent, now);
}

/* ---- values ---- */

int32_t tendon_feelspace_navigation_heading(const navigation *nav) {
    return nav->config.session->has_orientation ? nav->config.session->orientation.heading_360 : -1;
}

int32_t tendon_feelspace_navigation_accurate(const navigation *nav) {
    return nav->config.session->has_orientation ? nav->config.session->orientation.accurate : -1;
}

int32_t tendon_feelspace_navigation_battery_level(const navigation *nav) {
    return nav->config.session->has_battery ? (int32_t)nav->config.session->battery.level_percent : -1;
}

int32_t tendon_feelspace_navigation_accuracy_signal(const navigation *nav) {
    int32_t state = nav->config.session->accuracy_state;
    return state > 0 ? 1 : state;
}

/* ---- driven as one ---- */

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    tendon_feelspace_session_inputs.connected(((navigation *)context)->config.session, client, now);
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    tendon_feelspace_session_inputs.disconnected(((navigation *)context)->config.session, reason, now);
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    tendon_feelspace_session_inputs.paired(((navigation *)context)->config.session, status, now);
}

static void on_tick(void *context, uint64_t now) {
    tendon_feelspace_session_inputs.tick(((navigation *)context)->config.session, now);
    tendon_feelspace_navigation_tick(context, now);
}

static uint64_t deadline_of(const void *context) {
    const navigation *nav = context;
    uint64_t ours = tendon_feelspace_navigation_deadline(nav);
    uint64_t due = tendon_feelspace_session_inputs.deadline(nav->config.session);
    return ours < due ? ours : due;
}

const tendon_session_inputs tendon_feelspace_navigation_inputs = {
    .connected = on_connected,
    .disconnected = on_disconnected,
    .paired = on_paired,
    .tick = on_tick,
    .deadline = deadline_of,
    .pairs = true,
};
