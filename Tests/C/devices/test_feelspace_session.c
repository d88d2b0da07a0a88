/* SPDX-License-Identifier: MIT */
/* A connected belt: what it says, what it is asked, keep-alives, the end. */
#include "feelspace_fixture.h"

/* ---- keep-alive ---- */

static void belt_keep_alive_goes_to_the_head(void **state) {
    belt *b = *state;
    belt_open(b);
    size_t before = b->log_count;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tendon_feelspace_session_signal(&b->session, 0, b->now), TENDON_OK);
    }
    belt_notify(b, H_KEEP_ALIVE, "0001");
    belt_notify(b, H_KEEP_ALIVE, "00");   /* short */
    belt_notify(b, H_KEEP_ALIVE, "0009"); /* no mode */
    belt_notify(b, H_KEEP_ALIVE, "");
    belt_run(b);
    /* the first signal was on the air; then four answers, then the rest */
    static const uint16_t order[] = {H_VIBRATION,  H_KEEP_ALIVE, H_KEEP_ALIVE, H_KEEP_ALIVE,
                                     H_KEEP_ALIVE, H_VIBRATION,  H_VIBRATION,  H_VIBRATION};
    assert_int_equal(b->log_count - before, sizeof order / sizeof order[0]);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        assert_int_equal(b->log[before + i].handle, order[i]);
    }
    belt_expect_write(b, H_KEEP_ALIVE, "00");
    assert_int_equal(b->session.counters.keep_alives, 4);
    assert_int_equal(b->session.counters.rejected, 3);
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_WAIT);
}

static void belt_keep_alive_tells_a_mode(void **state) {
    belt *b = *state;
    belt_open(b);
    belt_notify(b, H_KEEP_ALIVE, "0002");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_MODE), 1);
    assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_MODE)->mode, TENDON_FEELSPACE_MODE_COMPASS);
    belt_notify(b, H_KEEP_ALIVE, "0002");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_MODE), 1);
}

static void belt_keep_alive_failing_does_no_harm(void **state) {
    belt *b = *state;
    belt_open(b);
    b->mute = true;
    belt_notify(b, H_KEEP_ALIVE, "0001");
    for (int i = 0; i < 300; i++) {
        belt_notify(b, H_KEEP_ALIVE, "0001"); /* more than anybody counts */
    }
    belt_advance(b, 1000);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
    b->mute = false;
    belt_run(b);
    assert_int_equal(belt_writes(b, H_KEEP_ALIVE), 255 + 1);
}

/* ---- exclusive callbacks ---- */

static void belt_button_tells_the_mode_alone(void **state) {
    belt *b = *state;
    belt_open(b);
    belt_press(b, TENDON_FEELSPACE_BUTTON_COMPASS, 1, 1, 2);
    belt_mode(b, 2);
    belt_notify(b, H_KEEP_ALIVE, "0002");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_BUTTON), 1);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_MODE), 0);
    const belt_seen *seen = belt_last(b, TENDON_FEELSPACE_EVENT_BUTTON);
    assert_int_equal(seen->mode, 2);
    assert_int_equal(seen->event.press.button, TENDON_FEELSPACE_BUTTON_COMPASS);
    assert_false(seen->event.press.is_long);
    assert_int_equal(seen->event.press.previous_mode, 1);
    assert_int_equal(seen->event.press.new_mode, 2);
}

static void belt_mode_before_its_button_is_told_twice(void **state) {
    belt *b = *state;
    belt_open(b);
    belt_mode(b, 2);
    belt_press(b, TENDON_FEELSPACE_BUTTON_COMPASS, 3, 1, 2);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_MODE), 1);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_BUTTON), 1);
    assert_true(belt_last(b, TENDON_FEELSPACE_EVENT_BUTTON)->event.press.is_long);
}

/* ---- the belt goes off ---- */

static void belt_standby_is_no_loss(void **state) {
    belt *b = *state;
    for (int way = 0; way < 3; way++) {
        b->mode = TENDON_FEELSPACE_MODE_WAIT;
        belt_open(b);
        int disconnects = b->disconnects;
        if (way == 0) {
            belt_press(b, TENDON_FEELSPACE_BUTTON_POWER, 3, 1, 0);
        } else if (way == 1) {
            belt_mode(b, 0);
        } else {
            belt_notify(b, H_KEEP_ALIVE, "0000");
        }
        belt_expect_state(b, TENDON_FEELSPACE_CONNECTED, TENDON_FEELSPACE_NOT_CONNECTED,
                          TENDON_FEELSPACE_CONNECTION_LOST, TENDON_FEELSPACE_POWER_OFF);
        assert_int_equal(b->disconnects, disconnects + 1);
        assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_UNKNOWN);
        belt_lose(b, TENDON_ERROR_CANCELLED);
    }
}

/* The vendor's document: battery, orientation and intensity are unknown while no belt is connected. */
static void values_of_a_belt_end_with_its_connection(void **state) {
    belt *b = *state;
    belt_set(b, H_BATTERY, "02003ff100");
    belt_open(b);
    assert_true(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now) >= 0);
    belt_run(b);
    belt_notify(b, H_ORIENTATION, "02 a6ff d3ff 0200 faff 0500 03030303 00");
    assert_true(b->session.has_battery && b->session.has_orientation);
    assert_true(b->session.battery.level_percent == 63.0);
    assert_int_equal(b->session.orientation.heading, -90);
    assert_int_equal(b->session.default_intensity, 40);
    belt_lose(b, TENDON_HCI_ERROR(0x08));
    assert_false(b->session.has_battery || b->session.has_orientation);
    assert_int_equal(b->session.default_intensity, -1);
    belt_open(b);
    assert_true(b->session.has_battery);
    tendon_feelspace_session_disconnect(&b->session, b->now);
    assert_false(b->session.has_battery);
    belt_lose(b, TENDON_ERROR_CANCELLED);
}

/* Whether the belt announces standby by its answer, before the response or by a keep-alive: the command succeeded. */
static void belt_does_what_standby_requests(void **state) {
    for (int way = 0; way < 4; way++) {
        void *fresh;
        belt_setup(&fresh);
        belt *b = fresh;
        belt_open(b);
        b->silent = way >= 2;
        b->answers_early = way == 1;
        assert_int_equal(tendon_feelspace_session_set_mode(&b->session, TENDON_FEELSPACE_MODE_STANDBY, b->now),
                         TENDON_OK);
        assert_true(tendon_feelspace_session_signal(&b->session, 0, b->now) >= 0);
        if (way == 2) {
            belt_run(b);
        }
        if (way >= 2) {
            belt_notify(b, H_KEEP_ALIVE, "0000");
        }
        belt_run(b);
        belt_expect_state(b, TENDON_FEELSPACE_CONNECTED, TENDON_FEELSPACE_NOT_CONNECTED,
                          TENDON_FEELSPACE_CONNECTION_LOST, TENDON_FEELSPACE_POWER_OFF);
        for (size_t i = 0; i < b->event_count; i++) {
            const tendon_feelspace_event *event = &b->events[i].event;
            if (event->kind == TENDON_FEELSPACE_EVENT_COMMAND && event->command.id == b->session.last_command - 1) {
                assert_int_equal(event->status, TENDON_OK);
                b->hooked++;
            }
        }
        assert_int_equal(b->hooked, 1);
        belt_teardown(&fresh);
    }
    (void)state;
}

static void disconnect_at_standby(belt *b, const tendon_feelspace_event *event) {
    if (event->kind == TENDON_FEELSPACE_EVENT_COMMAND && b->hooked++ == 0) {
        tendon_feelspace_session_disconnect(&b->session, b->now);
    }
}

static void belt_is_disconnected_when_standby_is_done(void **state) {
    belt *b = *state;
    belt_open(b);
    b->hook = disconnect_at_standby;
    int disconnects = b->disconnects;
    assert_int_equal(tendon_feelspace_session_set_mode(&b->session, TENDON_FEELSPACE_MODE_STANDBY, b->now), TENDON_OK);
    belt_run(b);
    belt_expect_state(b, TENDON_FEELSPACE_CONNECTED, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_CONNECTION_CLOSED,
                      TENDON_FEELSPACE_NO_ERROR);
    assert_int_equal(b->disconnects, disconnects + 1);
}

/* The owner of the connection closes it: as if the session had been disconnected. */
static void belt_is_closed_from_outside(void **state) {
    for (tendon_feelspace_state from = TENDON_FEELSPACE_CONNECTING; from <= TENDON_FEELSPACE_CONNECTED; from++) {
        void *fresh;
        belt_setup(&fresh);
        belt *b = fresh;
        b->config.reconnect = true;
        belt_init(b);
        belt_reach(b, from);
        belt_lose(b, TENDON_ERROR_CANCELLED);
        belt_expect_state(b, from, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_CONNECTION_CLOSED,
                          TENDON_FEELSPACE_NO_ERROR);
        belt_teardown(&fresh);
    }
    (void)state;
}

static void belt_forgets_all_when_it_ends(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_true(tendon_feelspace_session_start_orientation(&b->session, 100, 10, b->now) >= 0);
    belt_run(b);
    belt_notify(b, H_ORIENTATION, "02 a6ff d3ff 0200 faff 0500 03030303 00");
    belt_notify(b, H_PARAMETER, "100303");
    assert_true(b->session.has_orientation && b->session.accuracy_state == 3);
    belt_lose(b, TENDON_HCI_ERROR(0x08));
    belt_expect_state(b, TENDON_FEELSPACE_CONNECTED, TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_CONNECTION_LOST,
                      TENDON_FEELSPACE_UNEXPECTED_DISCONNECTION);
    const tendon_feelspace_session *s = &b->session;
    assert_true(s->mode == 0xFF && s->default_intensity == -1 && s->heading_offset == -1 && s->accuracy_state == -1);
    assert_false(s->has_firmware || s->orientation_enabled);
    assert_int_equal(s->orientation_period_ms, 0);
    assert_int_equal(s->orientation_variation_deg, 0);
}

/* ---- values ---- */

static void belt_values_are_told_when_they_change(void **state) {
    belt *b = *state;
    belt_open(b);
    size_t offsets = belt_count(b, TENDON_FEELSPACE_EVENT_HEADING_OFFSET);
    belt_notify(b, H_PARAMETER, "010228");
    belt_notify(b, H_PARAMETER, "01032d00");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_DEFAULT_INTENSITY), 0);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_HEADING_OFFSET), offsets);
    belt_notify(b, H_PARAMETER, "100032");
    belt_notify(b, H_PARAMETER, "10015a00");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_DEFAULT_INTENSITY), 1);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_HEADING_OFFSET), offsets + 1);
    assert_int_equal(b->session.default_intensity, 50);
    assert_int_equal(b->session.heading_offset, 90);
    belt_notify(b, H_PARAMETER, "100302");
    belt_notify(b, H_PARAMETER, "100302");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_ACCURACY_SIGNAL), 2); /* each one */
    belt_notify(b, H_BATTERY, "010040f000");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_BATTERY), 0);
    static const char *const others[] = {"020040f000", "02003ff000", "02003ff100"};
    for (size_t i = 0; i < 3; i++) {
        belt_notify(b, H_BATTERY, others[i]);
        assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_BATTERY), i + 1);
    }
    belt_notify(b, H_BATTERY, "02003ff100 0cfe"); /* a current is nothing new to tell */
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_BATTERY), 3);
    assert_true(b->session.battery.has_current);
}

/* Malformed packets of every characteristic, at every length: nothing changes, each is counted and told once. */
static void mal_I02_cut_packets_change_nothing(void **state) {
    belt *b = *state;
    static const struct {
        uint16_t handle;
        const char *packet;
        size_t needed;
    } packets[] = {
        {H_KEEP_ALIVE, "0002", 2},
        {H_BUTTON, "0301000102", 5},
        {H_PARAMETER, "010102", 3},
        {H_PARAMETER, "010232", 3},
        {H_PARAMETER, "01035a00", 4},
        {H_PARAMETER, "10015a00", 4},
        {H_PARAMETER, "100302", 3},
        {H_PARAMETER, "100a 0100 0200 0300 04", 9},
        {H_PARAMETER, "100f6400", 4},
        {H_BATTERY, "0200300001", 5},
        {H_ORIENTATION, "02 a6ff d3ff 0200 faff 0500 03030303 00", 16},
        {H_DEBUG_OUTPUT, "a001000000", 5},
        {H_DEBUG_OUTPUT, "0b 0100 00 01000000 02000000", 12},
        {H_DEBUG_OUTPUT, "0c 01000000 02000000 0100 00", 12},
    };
    belt_open(b);
    assert_true(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now) >= 0);
    belt_run(b);
    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++) {
        block packet = block_hex(packets[i].packet);
        for (size_t length = 0; length < packets[i].needed; length++) {
            uint64_t rejected = b->session.counters.rejected;
            b->event_count = 0;
            belt_notify_bytes(b, packets[i].handle, packet.data, length);
            assert_int_equal(b->session.counters.rejected, rejected + 1);
            assert_int_equal(b->event_count, 1);
            const tendon_feelspace_event *event = &b->events[0].event;
            assert_int_equal(event->kind, TENDON_FEELSPACE_EVENT_REJECTED);
            assert_int_equal(event->status, TENDON_ERROR_TRUNCATED);
            assert_int_equal(event->packet.length, length);
            assert_true(event->packet.offset <= length);
            assert_int_equal(event->packet.characteristic, belt_attribute_of(b, packets[i].handle)->type);
            belt_run(b); /* keep-alives are answered */
        }
        free(packet.data);
    }
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_WAIT);
    assert_int_equal(b->session.default_intensity, 40);
    assert_int_equal(b->session.heading_offset, 45);
    assert_int_equal(b->session.accuracy_state, -1);
    assert_false(b->session.has_orientation);
    assert_true(b->session.battery.level_percent == 64.0);
}

static void mal_I03_bytes_behind_the_last_field_are_ignored(void **state) {
    belt *b = *state;
    belt_open(b);
    belt_notify(b, H_KEEP_ALIVE, "0002ff");
    belt_notify(b, H_BUTTON, "0301000201ff");
    belt_notify(b, H_PARAMETER, "010104ffff");
    belt_notify(b, H_PARAMETER, "010232ff");
    assert_int_equal(b->session.counters.rejected, 0);
    assert_int_equal(b->session.mode, 4);
    assert_int_equal(b->session.default_intensity, 50);
}

static void mal_I05_unknown_ids_and_wild_values(void **state) {
    belt *b = *state;
    static const struct {
        uint16_t handle;
        const char *packet;
        bool unsupported;
    } packets[] = {
        {H_KEEP_ALIVE, "0007", false},    {H_KEEP_ALIVE, "00ff", false},    {H_BUTTON, "0001000102", false},
        {H_BUTTON, "0501000102", false},  {H_BUTTON, "0301000702", false},  {H_BUTTON, "0301000107", false},
        {H_PARAMETER, "010107", false},   {H_PARAMETER, "0101ff", false},   {H_PARAMETER, "010265", false},
        {H_PARAMETER, "01036801", false}, {H_PARAMETER, "10016801", false}, {H_PARAMETER, "100304", false},
        {H_PARAMETER, "100065", false},   {H_PARAMETER, "100200", true},    {H_PARAMETER, "10ff00", true},
        {H_PARAMETER, "01ff00", true},    {H_PARAMETER, "000000", true},    {H_PARAMETER, "ffffff", true},
    };
    belt_open(b);
    for (size_t i = 0; i < sizeof packets / sizeof packets[0]; i++) {
        tendon_feelspace_counters before = b->session.counters;
        b->event_count = 0;
        belt_notify(b, packets[i].handle, packets[i].packet);
        assert_int_equal(b->session.counters.rejected, before.rejected + !packets[i].unsupported);
        assert_int_equal(b->session.counters.unsupported, before.unsupported + packets[i].unsupported);
        assert_int_equal(b->event_count, !packets[i].unsupported);
        if (!packets[i].unsupported) {
            assert_int_equal(b->events[0].event.status, TENDON_FEELSPACE_ERROR_BAD_VALUE);
        }
        belt_run(b);
    }
    assert_int_equal(b->session.mode, TENDON_FEELSPACE_MODE_WAIT);
    assert_int_equal(b->session.default_intensity, 40);
    assert_int_equal(b->session.heading_offset, 45);
}

/* ---- supervision and reconnection ---- */

static void belt_silence_is_a_loss_when_reconnecting(void **state) {
    belt *b = *state;
    belt_reach(b, TENDON_FEELSPACE_CONNECTED);
    belt_advance(b, 100000);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED); /* without the option nobody cares */
    tendon_feelspace_session_disconnect(&b->session, b->now);
    belt_lose(b, TENDON_ERROR_CANCELLED);
    b->config.reconnect = true;
    belt_init(b);
    belt_open(b);
    belt_advance(b, 5999);
    belt_notify(b, H_BATTERY, "010040f000");
    belt_run(b);
    belt_advance(b, 5999);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
    belt_advance(b, 1);
    belt_expect_state(b, TENDON_FEELSPACE_CONNECTED, TENDON_FEELSPACE_RECONNECTING,
                      TENDON_FEELSPACE_RECONNECTION_STARTED, TENDON_FEELSPACE_UNEXPECTED_DISCONNECTION);
    assert_true(b->session.work.draining);
    belt_lose(b, TENDON_ERROR_CANCELLED);
    int connects = b->connects;
    belt_advance(b, 2000);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTING);
    assert_int_equal(b->connects, connects + 1);
    belt_link_up(b);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
}

static void belt_reconnection_gives_up(void **state) {
    belt *b = *state;
    belt_reach(b, TENDON_FEELSPACE_RECONNECTING);
    for (int attempt = 0; attempt < 2; attempt++) {
        belt_advance(b, 2000);
        assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTING);
        belt_advance(b, 12000);
        if (attempt == 0) {
            assert_int_equal(b->session.state, TENDON_FEELSPACE_RECONNECTING);
            belt_lose(b, TENDON_ERROR_CANCELLED);
        }
    }
    belt_expect_state(b, TENDON_FEELSPACE_CONNECTING, TENDON_FEELSPACE_NOT_CONNECTED,
                      TENDON_FEELSPACE_RECONNECTION_FAILED, TENDON_FEELSPACE_RECONNECTION_TIMEOUT);
}

/* Whatever step of the second attempt takes too long: it is the reconnection that timed out. */
static void belt_reconnection_times_out_in_any_step(void **state) {
    (void)state;
    static const tendon_feelspace_state steps[] = {TENDON_FEELSPACE_CONNECTING, TENDON_FEELSPACE_DISCOVERING_SERVICES,
                                                   TENDON_FEELSPACE_HANDSHAKE};
    for (size_t i = 0; i < 3; i++) {
        void *fresh;
        belt_setup(&fresh);
        belt *b = fresh;
        belt_reach(b, TENDON_FEELSPACE_RECONNECTING);
        for (int attempt = 0; attempt < 2; attempt++) {
            belt_advance(b, 2000);
            assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTING);
            b->silent = true;
            if (steps[i] != TENDON_FEELSPACE_CONNECTING) {
                belt_link_up(b);
                belt_run_until(b, steps[i]);
            }
            b->mute = steps[i] == TENDON_FEELSPACE_DISCOVERING_SERVICES;
            assert_int_equal(b->session.state, steps[i]);
            for (int ms = 0; ms < 12000 && b->session.state == steps[i]; ms += 100) {
                belt_advance(b, 100);
                (void)belt_answer_one(b);
            }
            b->mute = false;
            if (attempt == 0) {
                assert_int_equal(b->session.state, TENDON_FEELSPACE_RECONNECTING);
                belt_lose(b, TENDON_ERROR_CANCELLED);
            }
        }
        belt_expect_state(b, steps[i], TENDON_FEELSPACE_NOT_CONNECTED, TENDON_FEELSPACE_RECONNECTION_FAILED,
                          TENDON_FEELSPACE_RECONNECTION_TIMEOUT);
        belt_teardown(&fresh);
    }
}

/*
 * A belt at the edge of range is lost again while it is connected again: it was connected before, whatever the options
 * of connect() knew, so it dropped nobody for want of a bond, and both attempts are made.
 */
static void belt_lost_again_in_a_reconnection_is_tried_twice(void **state) {
    static const struct {
        tendon_status reason;
        tendon_feelspace_connection_error error;
    } ends[] = {{TENDON_RADIO_ERROR_PEER_CLOSED, TENDON_FEELSPACE_PERIPHERAL_DISCONNECTED},
                {TENDON_HCI_ERROR(0x08), TENDON_FEELSPACE_UNEXPECTED_DISCONNECTION}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        bool pairing = i >= 2;
        void *fresh;
        belt_setup(&fresh);
        belt *b = fresh;
        b->config.reconnect = true;
        belt_init(b);
        belt_reach(b, TENDON_FEELSPACE_RECONNECTING);
        b->is_bonded = !pairing; /* this side lost its key */
        for (int attempt = 0; attempt < 2; attempt++) {
            belt_advance(b, 2000);
            belt_link_up(b);
            if (pairing) {
                belt_run(b);
                assert_int_equal(b->pairs, attempt + 1);
            }
            if (pairing && i == 2) { /* the kernel reports the end of the pairing before that of the link */
                tendon_feelspace_session_inputs.paired(&b->session, TENDON_ERROR_DISCONNECTED, b->now);
                belt_lose(b, TENDON_ERROR_CANCELLED);
            } else {
                belt_lose(b, ends[i % 2].reason);
            }
            tendon_feelspace_connection_error error =
                i == 2 ? TENDON_FEELSPACE_UNEXPECTED_DISCONNECTION : ends[i % 2].error;
            if (attempt == 0) {
                belt_expect_state(b, TENDON_FEELSPACE_DISCOVERING_SERVICES, TENDON_FEELSPACE_RECONNECTING,
                                  TENDON_FEELSPACE_RECONNECTION_STARTED, error);
            } else {
                belt_expect_state(b, TENDON_FEELSPACE_DISCOVERING_SERVICES, TENDON_FEELSPACE_NOT_CONNECTED,
                                  TENDON_FEELSPACE_RECONNECTION_FAILED, error);
            }
        }
        belt_teardown(&fresh);
    }
}

static void belt_first_connection_is_tried_twice(void **state) {
    belt *b = *state;
    b->config.reconnect = true;
    belt_init(b);
    belt_reach(b, TENDON_FEELSPACE_CONNECTING);
    belt_lose(b, TENDON_RADIO_ERROR_OUT_OF_RANGE);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_RECONNECTING);
    belt_advance(b, 2000);
    belt_lose(b, TENDON_RADIO_ERROR_OUT_OF_RANGE);
    belt_expect_state(b, TENDON_FEELSPACE_CONNECTING, TENDON_FEELSPACE_NOT_CONNECTED,
                      TENDON_FEELSPACE_CONNECTION_FAILED, TENDON_FEELSPACE_CONNECTION_REFUSED);
    belt_open(b); /* what was meant is not lost, so there is no third */
    belt_press(b, TENDON_FEELSPACE_BUTTON_POWER, 3, 1, 0);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_NOT_CONNECTED);
}

/* ---- whoever hears may call ---- */

static void reconnect_at_once(belt *b, const tendon_feelspace_event *event) {
    if (event->kind == TENDON_FEELSPACE_EVENT_STATE && event->connection.state == TENDON_FEELSPACE_NOT_CONNECTED &&
        b->hooked++ == 0) {
        assert_int_equal(tendon_feelspace_session_connect(&b->session, NULL, NULL, b->now), TENDON_OK);
    }
}

static void belt_is_reconnected_from_the_callback(void **state) {
    belt *b = *state;
    b->hook = reconnect_at_once;
    belt_open(b);
    int connects = b->connects;
    tendon_feelspace_session_disconnect(&b->session, b->now);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTING);
    assert_int_equal(b->connects, connects); /* the old link first */
    belt_lose(b, TENDON_ERROR_CANCELLED);
    assert_int_equal(b->connects, connects + 1);
    belt_link_up(b);
    belt_run(b);
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
}

static void disconnect_at_nth(belt *b, const tendon_feelspace_event *event) {
    (void)event;
    if (b->hooked-- == 0) {
        tendon_feelspace_session_disconnect(&b->session, b->now);
    }
}

static void belt_is_disconnected_from_every_callback(void **state) {
    (void)state;
    for (int nth = 0; nth < 12; nth++) {
        void *fresh = NULL;
        belt_setup(&fresh);
        belt *b = fresh;
        b->hook = disconnect_at_nth;
        b->hooked = nth;
        (void)tendon_feelspace_session_connect(&b->session, &belt_address, NULL, b->now);
        if (b->session.state == TENDON_FEELSPACE_CONNECTING) {
            belt_link_up(b);
        }
        belt_run(b);
        if (b->session.state == TENDON_FEELSPACE_CONNECTED) {
            (void)tendon_feelspace_session_set_mode(&b->session, TENDON_FEELSPACE_MODE_APP, b->now);
            (void)tendon_feelspace_session_signal(&b->session, 0, b->now);
            belt_run(b);
            belt_press(b, 3, 1, 1, 2);
            belt_notify(b, H_BATTERY, "02003ff100");
            belt_notify(b, H_PARAMETER, "010203");
            belt_run(b);
        }
        assert_int_equal(b->session.state, TENDON_FEELSPACE_NOT_CONNECTED);
        assert_null(b->session.op.client);
        belt_teardown(&fresh);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, belt_setup, belt_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(belt_keep_alive_goes_to_the_head),
        TEST(belt_keep_alive_tells_a_mode),
        TEST(belt_keep_alive_failing_does_no_harm),
        TEST(belt_button_tells_the_mode_alone),
        TEST(belt_mode_before_its_button_is_told_twice),
        TEST(belt_standby_is_no_loss),
        TEST(values_of_a_belt_end_with_its_connection),
        TEST(belt_does_what_standby_requests),
        TEST(belt_is_disconnected_when_standby_is_done),
        TEST(belt_is_closed_from_outside),
        TEST(belt_forgets_all_when_it_ends),
        TEST(belt_values_are_told_when_they_change),
        TEST(mal_I02_cut_packets_change_nothing),
        TEST(mal_I03_bytes_behind_the_last_field_are_ignored),
        TEST(mal_I05_unknown_ids_and_wild_values),
        TEST(belt_silence_is_a_loss_when_reconnecting),
        TEST(belt_reconnection_gives_up),
        TEST(belt_reconnection_times_out_in_any_step),
        TEST(belt_lost_again_in_a_reconnection_is_tried_twice),
        TEST(belt_first_connection_is_tried_twice),
        TEST(belt_is_reconnected_from_the_callback),
        TEST(belt_is_disconnected_from_every_callback),
    };
    return cmocka_run_group_tests_name("feelspace_session", tests, NULL, NULL);
}
