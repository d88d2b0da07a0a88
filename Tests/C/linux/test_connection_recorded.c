/* SPDX-License-Identifier: MIT */
/*
 * Recorded runs of a connection: a radio, a device, a pairing service, a session and an application that do anything,
 * in simulated time. Each connect() ends exactly once for the session and for the application, and nothing is left.
 */
#include "connection_world.h"

enum { RUNS = 16, LIVES = 60, STEPS = 90 };

static void program_connects(void) {
    recording *r = w.r;
    tendon_connection *c = &w.connection;
    static const uint16_t timeouts[] = {0, 150, 1500, 10000, 60000};
    uint8_t before = c->state;
    bool again = false;
    if (before == TENDON_CONNECTION_IDLE) {
        c->background = choose(r, 4) == 0;
        c->connect_attempts = choose(r, 10);
        c->connect_timeout_ms = timeouts[choose(r, 5)];
    }
    tendon_status status;
    if (choose(r, 2) == 0) {
        status = w.link.connect(w.link.context);
        again = status >= 0 && before != TENDON_CONNECTION_IDLE;
    } else {
        status = tendon_connection_connect(c);
    }
    note(r, "connect %d", status);
    w.started += status >= 0 && !again;
    connection_sets_deadline(); /* as a session does that has called connect() */
}

static void program_acts(void) {
    recording *r = w.r;
    switch (choose(r, 8)) {
    case 0:
        note(r, "closes");
        tendon_connection_close(&w.connection);
        if (choose(r, 2) == 0) {
            tendon_connection_refresh(&w.connection);
        }
        break;
    case 1:
        w.link.disconnect(w.link.context);
        break;
    case 2:
        note(r, "pair %d", w.link.pair(w.link.context));
        break;
    case 3:
        note(r, "bonded %d, forget %d", w.link.bonded(w.link.context), w.link.forget(w.link.context));
        break;
    case 4:
        connection_sets_deadline();
        tendon_connection_refresh(&w.connection);
        break;
    default:
        connection_request();
        break;
    }
}

/* ---- the link and the device ---- */

static void link_changes(void) {
    recording *r = w.r;
    tendon_link *link = &w.connection.link;
    connection_plan();
    if (link->state == TENDON_LINK_CLOSED) {
        return;
    }
    if (link->state >= TENDON_LINK_HELD) {
        connection_end_link(choose(r, 4) == 0 ? connection_status(r) : TENDON_ERROR_CANCELLED);
    } else if (link->state == TENDON_LINK_ASKED && choose(r, 3) != 0) {
        link->state = TENDON_LINK_OPEN;
        link->encrypted = choose(r, 3) == 0;
        link->keyed = link->encrypted;
        connection_open_wire();
        link->callbacks.connected(link->callbacks.context, fake_clock_ms);
    } else if (link->state == TENDON_LINK_ASKED || choose(r, 3) == 0) {
        connection_end_link(connection_status(r));
    } else {
        w.full = choose(r, 3) == 0;
        link->blocked = false;
        link->callbacks.writable(link->callbacks.context, fake_clock_ms);
    }
}

static void device_sends(void) {
    recording *r = w.r;
    tendon_link *link = &w.connection.link;
    static const char *const pdus[] = {
        "03 4000",       "0B 010203",  "13",         "01 0A 0300 05", "01 0A 0300 0F", "01 12 0400 05", "01 0A 0300 0A",
        "01 08 0100 0A", "1B 0300 07", "1D 0300 09", "02 1700",       "01 0A 0300 12", "01 12 0300 05", "01 12 0300 12",
        "0A 0300",       "FF"};
    if (link->state != TENDON_LINK_OPEN) {
        return;
    }
    connection_plan();
    block pdu = block_hex(pdus[choose(r, sizeof pdus / sizeof pdus[0])]);
    link->received++;
    link->received_at = fake_clock_ms * UINT64_C(1000000) - 7;
    link->callbacks.received(link->callbacks.context, pdu.data, pdu.length, fake_clock_ms);
    free(pdu.data);
}

static void time_passes(void) {
    static const uint16_t times[] = {0, 1, 50, 99, 100, 101, 149, 150, 200, 400, 1000, 5000, 30000};
    fake_clock_ms += times[choose(w.r, sizeof times / sizeof times[0])];
}

/* ---- a life ---- */

static long long time_of(uint64_t time) {
    return time == UINT64_MAX ? -1 : (long long)time;
}

static void note_all(void) {
    const tendon_connection *c = &w.connection;
    connection_note_sent();
    note(w.r, "at %u: state %d%d%d%d%d%d, reason %d, attempt %u, retry %lld, timer %d %lld, pauses %u",
         (unsigned)fake_clock_ms, c->state, c->again, c->closing, c->pairing_started, c->pairing_asked, c->pauses_scan,
         c->close_reason, (unsigned)c->attempt, time_of(c->retry_at), c->timer.added, time_of(c->timer.deadline),
         (unsigned)w.radio.scan_pauses);
    for (uint32_t i = 0; i < c->attempt + 1 && i < TENDON_CONNECTION_ATTEMPTS_MAX; i++) {
        const tendon_connection_attempt *a = &c->attempts[i];
        note(w.r, "began %u, lasted %u: %d", (unsigned)a->began_ms, (unsigned)a->lasted_ms, a->reason);
    }
    note(w.r, "first %u%s", c->first_length, c->first_is_not_all ? " and more" : "");
}

static void step(void) {
    static void (*const actors[])(void) = {program_connects,
                                           program_acts,
                                           program_acts,
                                           connection_pairing_ends,
                                           connection_pairing_ends,
                                           link_changes,
                                           link_changes,
                                           link_changes,
                                           device_sends,
                                           device_sends,
                                           device_sends,
                                           time_passes,
                                           time_passes};
    unsigned actor = choose(w.r, sizeof actors / sizeof actors[0]);
    note(w.r, "actor %u", actor);
    actors[actor]();
    note_all();
    connection_plan();
    assert_int_equal(tendon_loop_step(&w.loop, fake_clock_ms), TENDON_OK);
    note_all();
}

static void live(recording *r, unsigned number) {
    connection_world_begin(r, number);
    for (int i = 0; i < STEPS; i++) {
        step();
    }
    w.opens_again = false;
    tendon_connection_close(&w.connection);
    w.session_deadline = UINT64_MAX;
    for (int i = 0; i < 4 && w.connection.state != TENDON_CONNECTION_IDLE; i++) {
        w.sends = w.pairs = w.closes = w.opens_again = false;
        if (w.connection.link.state != TENDON_LINK_CLOSED) {
            connection_end_link(TENDON_ERROR_CANCELLED);
        }
        assert_int_equal(tendon_loop_step(&w.loop, fake_clock_ms), TENDON_OK);
    }
    w.session_deadline = UINT64_MAX;
    tendon_connection_refresh(&w.connection);
    note_all();
    assert_int_equal(w.connection.state, TENDON_CONNECTION_IDLE);
    assert_int_equal(w.started, w.ended);
    assert_int_equal(w.radio.scan_pauses, 0);
    assert_false(w.connection.timer.added);
    tendon_loop_close(&w.loop);
}

static void play(recording *r, unsigned number) {
    play_lives(r, number, LIVES, live);
}

static void runs_are_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x156CCF2C, 0x445099F1, 0x8202EA16, 0x5AA60FDD, 0x2D431D03, 0x417957C6, 0x7F35291E, 0xCEE7308A,
        0xF32D6410, 0xE86011A3, 0x4FF8E558, 0xA0605BB6, 0x51826E9A, 0xA3954A2B, 0x669FA34B, 0x6694E5F5,
    };
    compare_recordings(known, RUNS, play);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_are_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
