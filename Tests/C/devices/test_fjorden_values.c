/* SPDX-License-Identifier: MIT */
/* Fjorden session, connected: events and what is lost of them, control point, battery, texts; hostile values. */
#include "fjorden_fixture.h"

enum { NOTIFICATION = 0x1B, INDICATION = 0x1D };

static uint16_t handle(const fjorden_fixture *f, tendon_fjorden_characteristic which) {
    return f->session.kept.found[which].value;
}

static fjorden_fixture *connected(void) {
    fjorden_fixture *f = fjorden_new(NULL);
    fjorden_reach_connected(f);
    return f;
}

static void events(fjorden_fixture *f, const char *hex) {
    fjorden_tell(f, NOTIFICATION, handle(f, TENDON_FJORDEN_CHARACTERISTIC_EVENT), hex);
}

static tendon_status ask(fjorden_fixture *f, tendon_fjorden_opcode opcode) {
    tendon_fjorden_command command = {.opcode = opcode, .config = {500, 400, 1}};
    return tendon_fjorden_session_request(&f->session, &command, f->now);
}

/* ---- events ---- */

static void examples_1_to_13(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    events(f, "0101e80300 0202600400 0303140500");
    events(f, "0411d00702");
    events(f, "05123408010622a00f000733881300 0835e01500");
    events(f, "0942701700");
    events(f, "0a80581b0f");
    events(f, "0b11002000"); /* 0 detents: seq 11 is used up */
    events(f, "010203");     /* no multiple of 5 */
    events(f, "0c13002100");
    fjorden_assert_events(f, "01 02 03 11 12 22 33 35 42 80 13");
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_EVENT)->record.lost_before, 0);
    assert_int_equal(f->session.counters.rejected, 2);
    assert_int_equal(f->session.counters.notifications, 8);
    free(f);
}

static void mal_I01_to_I03_lengths_of_notifications(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    char text[64] = "";
    for (unsigned length = 0; length <= 12; length++) {
        fjorden_forget(f);
        uint8_t last = f->session.stream.last;
        bool started = f->session.stream.started;
        events(f, text);
        if (length == 0 || length % 5 != 0) {
            assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_REJECTED)->status,
                             TENDON_FJORDEN_ERROR_LENGTH);
            assert_int_equal(f->session.stream.last, last); /* nothing has changed */
            assert_int_equal(f->session.stream.started, started);
            assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_EVENT), 0);
        }
        snprintf(text + strlen(text), sizeof text - strlen(text), "%02x", length + 1);
    }
    fjorden_forget(f);
    f->session.stream.started = false;
    events(f, "0101000000"); /* goes on as if nothing had been */
    fjorden_assert_events(f, "01");
    free(f);
}

static void mal_I05_unknown_codes_are_events(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    events(f, "01f0000000");
    const fjorden_seen *seen = fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_EVENT);
    assert_int_equal(seen->record.event, TENDON_FJORDEN_UNKNOWN);
    assert_int_equal(seen->record.code, 0xF0);
    assert_int_equal(f->session.counters.rejected, 0);
    free(f);
}

static void mal_I06_sequence_and_time_wrap(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    events(f, "fe13ffff00");
    events(f, "ff13000000");
    events(f, "0013050000");
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_EVENT)->record.time_ms, 0x10005);
    assert_int_equal(f->session.stream.lost, 0);
    events(f, "0013050000"); /* duplicate */
    events(f, "f013060000"); /* out of order */
    assert_int_equal(f->session.stream.duplicates, 1);
    assert_int_equal(f->session.stream.out_of_order, 1);
    fjorden_assert_events(f, "13 13 13");
    free(f);
}

static void after_a_loss_only_releases_are_made_up(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    tendon_simulated_fjorden *grip = &f->grips[0];
    tendon_simulated_fjorden_move(grip, TENDON_FJORDEN_CONTROL_SHUTTER, 1, f->now);
    tendon_simulated_fjorden_move(grip, TENDON_FJORDEN_CONTROL_LEVER, -1, f->now);
    fjorden_run(f, 450); /* hold left */
    tendon_simulated_fjorden_lose(grip, 4);
    tendon_simulated_fjorden_move(grip, TENDON_FJORDEN_CONTROL_SHUTTER, 2, f->now);
    tendon_simulated_fjorden_move(grip, TENDON_FJORDEN_CONTROL_SHUTTER, 0, f->now);
    tendon_simulated_fjorden_move(grip, TENDON_FJORDEN_CONTROL_LEVER, 1, f->now); /* neutral is lost */
    tendon_simulated_fjorden_lose(grip, 0);
    tendon_simulated_fjorden_move(grip, TENDON_FJORDEN_CONTROL_DIAL, 1, f->now);
    fjorden_run(f, 20);
    fjorden_assert_events(f, "01 33 11 03* 35*");
    assert_int_equal(f->session.stream.lost, 3);
    assert_int_equal(f->session.counters.resyncs, 1);
    /* Nothing is made up that was not down. */
    fjorden_forget(f);
    tendon_simulated_fjorden_lose(grip, 1);
    tendon_simulated_fjorden_move(grip, TENDON_FJORDEN_CONTROL_SHUTTER, 1, f->now);
    tendon_simulated_fjorden_move(grip, TENDON_FJORDEN_CONTROL_DIAL, 1, f->now);
    fjorden_run(f, 20);
    fjorden_assert_events(f, "11");
    free(f);
}

/* The state is read once for each loss, not again with every event that follows. */
static void a_loss_is_made_good_once(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_DIAL, 1, f->now);
    tendon_simulated_fjorden_lose(&f->grips[0], 1);
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_SHUTTER, 1, f->now);
    for (int i = 0; i < 3; i++) {
        tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_DIAL, 1, f->now);
        fjorden_run(f, 20);
    }
    assert_int_equal(f->session.counters.resyncs, 1);
    assert_false(f->session.stream.needs_resync);
    fjorden_assert_events(f, "11 11 11 11");
    free(f);
}

static void lose_while(fjorden_fixture *f, int shutter, int lever) {
    tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
    fjorden_run(f, 10);
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_SHUTTER, shutter, f->now);
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_LEVER, lever, f->now);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], true, f->now);
    fjorden_run(f, 3000);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
}

/* The events continue over an automatic reconnection: a control that was released meanwhile does not stay pressed. */
static void a_control_released_while_the_grip_was_away_is_released(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_SHUTTER, 2, f->now);
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_LEVER, -1, f->now);
    fjorden_run(f, 450);
    lose_while(f, 2, -1); /* still held */
    fjorden_assert_events(f, "01 02 33");
    lose_while(f, 0, 0);
    fjorden_assert_events(f, "01 02 33 03* 35*");
    assert_int_equal(f->session.counters.resyncs, 2);
    lose_while(f, 0, 0); /* nothing is pressed, nothing is read */
    assert_int_equal(f->session.counters.resyncs, 2);
    fjorden_assert_events(f, "01 02 33 03* 35*");
    /* A connection that the program asks for begins anew. */
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_SHUTTER, 1, f->now);
    fjorden_run(f, 20);
    assert_int_equal(tendon_fjorden_session_disconnect(&f->session, f->now), TENDON_OK);
    fjorden_run(f, 20);
    tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_SHUTTER, 0, f->now);
    fjorden_call(f, TENDON_FJORDEN_CALL_CONNECT_BONDED);
    fjorden_run(f, 1000);
    fjorden_assert_events(f, "01 02 33 03* 35* 01");
    free(f);
}

/* A grip whose control state cannot be read counts as at rest. */
static void controls_of_a_grip_without_a_state_are_released(void **state) {
    (void)state;
    for (int refused = 0; refused < 2; refused++) {
        fjorden_fixture *f = fjorden_new(NULL);
        f->profile.has_state = refused != 0;
        fjorden_reach_connected(f);
        tendon_simulated_fjorden_move(&f->grips[0], TENDON_FJORDEN_CONTROL_SHUTTER, 2, f->now);
        fjorden_run(f, 20);
        if (refused != 0) {
            tendon_simulated_fjorden_inject(&f->grips[0], TENDON_FJORDEN_MALFORM_STATE, 1, f->now);
        }
        lose_while(f, 0, 0);
        fjorden_assert_events(f, "01 02 03*");
        assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_REJECTED), refused);
        assert_int_equal(f->session.counters.resyncs, 0);
        free(f);
    }
}

static void a_control_state_that_breaks_its_rules_changes_nothing(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    tendon_simulated_fjorden *grip = &f->grips[0];
    tendon_simulated_fjorden_move(grip, TENDON_FJORDEN_CONTROL_SHUTTER, 2, f->now);
    tendon_simulated_fjorden_inject(grip, TENDON_FJORDEN_MALFORM_STATE, 1, f->now);
    tendon_simulated_fjorden_lose(grip, 1);
    tendon_simulated_fjorden_move(grip, TENDON_FJORDEN_CONTROL_SHUTTER, 0, f->now);
    tendon_simulated_fjorden_move(grip, TENDON_FJORDEN_CONTROL_DIAL, 1, f->now);
    fjorden_run(f, 20);
    fjorden_assert_events(f, "01 02 11");
    const fjorden_seen *seen = fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_REJECTED);
    assert_int_equal(seen->status, TENDON_FJORDEN_ERROR_VERSION);
    assert_int_equal(seen->characteristic, TENDON_FJORDEN_CHARACTERISTIC_STATE);
    free(f);
}

static void forget_on_event(fjorden_fixture *f, const tendon_fjorden_session_event *notice) {
    if (notice->kind == TENDON_FJORDEN_SESSION_EVENT_EVENT) {
        assert_int_equal(fjorden_call(f, TENDON_FJORDEN_CALL_FORGET), TENDON_OK);
    }
}

static void whoever_is_told_an_event_may_end_the_link(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    f->hook = forget_on_event;
    events(f, "0101000000 0202000000 0303000000");
    fjorden_assert_events(f, "01");
    f->hook = NULL;
    fjorden_run(f, 100);
    assert_null(f->air.peer);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_READY);
    free(f);
}

/* ---- control point ---- */

static void every_command_is_answered(void **state) {
    (void)state;
    for (int opcode = TENDON_FJORDEN_PING; opcode <= TENDON_FJORDEN_POWER_OFF; opcode++) {
        fjorden_fixture *f = connected();
        assert_int_equal(ask(f, (tendon_fjorden_opcode)opcode), TENDON_OK);
        assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_ERROR_BUSY);
        fjorden_run(f, 50);
        const fjorden_seen *seen = fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE);
        assert_int_equal(seen->status, TENDON_OK);
        assert_int_equal(seen->response.opcode, opcode);
        assert_int_equal(seen->response.request_id, 1);
        assert_int_equal(seen->response.status, 0);
        if (opcode == TENDON_FJORDEN_GET_CONFIG) {
            assert_int_equal(seen->response.config.long_press_ms, 500);
        }
        if (opcode >= TENDON_FJORDEN_CLEAR_BOND) { /* the grip disconnects afterwards, and is found again */
            fjorden_run(f, 1000);
            assert_int_equal(f->session.manager.state,
                             opcode == TENDON_FJORDEN_POWER_OFF ? TENDON_FJORDEN_CONNECTED : f->session.manager.state);
            assert_int_equal(f->grips[0].bonded, opcode == TENDON_FJORDEN_POWER_OFF || f->devices[0].bonded);
        }
        free(f);
    }
}

/* The grip has changed its services while it was connected: its handles are none of those that were discovered. */
static void a_stale_handle_is_reported(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    f->session.kept.found[TENDON_FJORDEN_CHARACTERISTIC_CONTROL].value = 0x0FFF;
    f->session.kept.found[TENDON_FJORDEN_CHARACTERISTIC_BATTERY].value = 0x0FFE;
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
    assert_int_equal(tendon_fjorden_session_read_battery(&f->session, f->now), TENDON_OK);
    fjorden_run(f, 50);
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->status,
                     TENDON_ATT_ERROR(TENDON_ATT_INVALID_HANDLE));
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_BATTERY)->status,
                     TENDON_FJORDEN_ERROR_NO_BATTERY_INFO);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
    free(f);
}

static void commands_out_of_range_are_not_sent(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    tendon_fjorden_command command = {.opcode = TENDON_FJORDEN_SET_CONFIG, .config = {199, 400, 1}};
    assert_int_equal(tendon_fjorden_session_request(&f->session, &command, f->now), TENDON_FJORDEN_ERROR_RANGE);
    command.opcode = (tendon_fjorden_opcode)9;
    assert_int_equal(tendon_fjorden_session_request(&f->session, &command, f->now), TENDON_ERROR_INVALID_ARGUMENT);
    fjorden_run(f, 50);
    assert_int_equal(f->grips[0].counters.requests + f->grips[0].counters.refused_writes, 0);
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK); /* nothing is outstanding */
    free(f);
}

static void silence(fjorden_fixture *f) {
    while (f->grips[0].counters.requests == 0) {
        f->now++;
        tendon_memory_radio_tick(&f->air, f->now);
    }
    f->grips[0].response_count = 0; /* the grip forgets its answer */
}

static void a_grip_that_does_not_answer_times_out(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    uint64_t start = f->now;
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
    silence(f);
    fjorden_run(f, 1990);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE), 0);
    fjorden_run(f, 100);
    const fjorden_seen *seen = fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE);
    assert_int_equal(seen->status, TENDON_ERROR_TIMEOUT);
    assert_int_equal(seen->at, start + TENDON_FJORDEN_RESPONSE_TIMEOUT_MS);
    fjorden_forget(f);
    fjorden_tell(f, INDICATION, handle(f, TENDON_FJORDEN_CHARACTERISTIC_CONTROL), "810100"); /* late */
    assert_int_equal(f->session.counters.strays, 1);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE), 0);
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
    fjorden_run(f, 50);
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->response.request_id, 2);
    free(f);
}

/* The grip is disconnected while a response is outstanding, and sought again: the earlier limit counts. */
static void the_search_ends_before_the_response_of_a_closing_link(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    f->session.manager.configuration.timeout_ms = 500;
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
    assert_int_equal(tendon_fjorden_session_disconnect(&f->session, f->now), TENDON_OK);
    assert_int_equal(tendon_fjorden_session_inputs.deadline(&f->session), f->now + 2000);
    fjorden_call(f, TENDON_FJORDEN_CALL_CONNECT_BONDED);
    assert_int_equal(tendon_fjorden_session_inputs.deadline(&f->session), f->now + 500);
    free(f);
}

/* "busy" is a response: it is the program's to send the command again, and the session is ready for it. */
static void a_busy_grip_is_reported_and_not_asked_again(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
    silence(f);
    fjorden_tell(f, INDICATION, handle(f, TENDON_FJORDEN_CHARACTERISTIC_CONTROL), "810104");
    const fjorden_seen *seen = fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE);
    assert_int_equal(seen->status, TENDON_OK);
    assert_int_equal(seen->response.status, TENDON_FJORDEN_RESPONSE_BUSY);
    fjorden_run(f, 10000);
    assert_int_equal(f->grips[0].counters.requests, 1);
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
    free(f);
}

/* Cancelled: no RESPONSE, the late one is a stray, and the next request goes out at once. */
static void a_cancelled_request_is_forgotten(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
    tendon_fjorden_session_cancel_request(&f->session);
    assert_int_equal(ask(f, TENDON_FJORDEN_GET_STATE), TENDON_OK); /* waits: the write is not acknowledged yet */
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_ERROR_BUSY);
    fjorden_run(f, 50);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE), 1);
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->response.opcode, TENDON_FJORDEN_GET_STATE);
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->response.request_id, 2);
    assert_int_equal(f->grips[0].counters.requests + f->grips[0].counters.refused_writes, 2);
    assert_int_equal(f->session.counters.strays, 1);
    free(f);
}

/* ---- a response before the Write Response ---- */

static void ask_again(fjorden_fixture *f, const tendon_fjorden_session_event *notice) {
    if (notice->kind == TENDON_FJORDEN_SESSION_EVENT_RESPONSE) {
        f->hook = NULL;
        assert_int_equal(ask(f, TENDON_FJORDEN_GET_STATE), TENDON_OK);
    }
}

/* A grip that has written 01 01 (ping) and indicates 81 01 00 before it acknowledges the write; its next command. */
static fjorden_fixture *with_early_response(bool from_the_event) {
    fjorden_fixture *f = connected();
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
    f->hook = from_the_event ? ask_again : NULL;
    fjorden_tell(f, INDICATION, handle(f, TENDON_FJORDEN_CHARACTERISTIC_CONTROL), "810100");
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE), 1);
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->status, TENDON_OK);
    if (!from_the_event) {
        assert_int_equal(ask(f, TENDON_FJORDEN_GET_STATE), TENDON_OK);
    }
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_ERROR_BUSY);
    assert_memory_equal(f->session.kept.written, "\x01\x01", 2); /* borrowed by the write */
    fjorden_forget(f);
    return f;
}

static void the_next_command_waits_for_the_write_response(void **state) {
    (void)state;
    for (int from_the_event = 0; from_the_event < 2; from_the_event++) {
        fjorden_fixture *f = with_early_response(from_the_event != 0);
        fjorden_run(f, 50);
        assert_int_equal(f->grips[0].counters.requests + f->grips[0].counters.refused_writes, 2);
        assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE), 1);
        const fjorden_seen *seen = fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE);
        assert_int_equal(seen->response.opcode, TENDON_FJORDEN_GET_STATE);
        assert_int_equal(seen->response.request_id, 2);
        assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
        fjorden_run(f, 50);
        assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->response.request_id, 3);
        free(f);
    }
}

/* How a write ends is nothing that the command behind it fails with. */
static void a_write_that_fails_after_its_response_ends_nothing_else(void **state) {
    (void)state;
    fjorden_fixture *f = with_early_response(false);
    char error[32];
    uint16_t control = handle(f, TENDON_FJORDEN_CHARACTERISTIC_CONTROL);
    snprintf(error, sizeof error, "01 12 %02x %02x 0e", control & 0xFFu, (unsigned)control >> 8);
    fjorden_inject(f, error);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE), 0);
    assert_memory_equal(f->session.kept.written, "\x05\x02", 2); /* 05: getState */
    fjorden_inject(f, "13");
    fjorden_tell(f, INDICATION, control, "850200010100000000");
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->response.request_id, 2);
    free(f);
}

/* Neither one that is cancelled meanwhile, nor one whose time is over, is written then. */
static void a_command_that_no_longer_waits_is_not_written(void **state) {
    (void)state;
    for (int late = 0; late < 2; late++) {
        fjorden_fixture *f = with_early_response(false);
        if (late) {
            f->now += TENDON_FJORDEN_RESPONSE_TIMEOUT_MS;
            tendon_fjorden_session_inputs.tick(&f->session, f->now);
            assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->status, TENDON_ERROR_TIMEOUT);
        } else {
            tendon_fjorden_session_cancel_request(&f->session);
        }
        fjorden_inject(f, "13");
        assert_memory_equal(f->session.kept.written, "\x01\x01", 2);
        assert_int_equal(f->session.engine.op.kind, 0);
        assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE), late);
        assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
        assert_memory_equal(f->session.kept.written, "\x01\x03", 2);
        free(f);
    }
}

/* The connection is lost meanwhile: the command that waits fails, once. */
static void a_command_that_waits_fails_with_the_connection(void **state) {
    (void)state;
    fjorden_fixture *f = with_early_response(true);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
    fjorden_run(f, 1);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE), 1);
    assert_true(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->status < 0);
    free(f);
}

/* One that waits behind another operation is not sent at all. */
static void a_request_cancelled_in_time_is_not_sent(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    assert_int_equal(tendon_fjorden_session_read_battery(&f->session, f->now), TENDON_OK);
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
    tendon_fjorden_session_cancel_request(&f->session);
    fjorden_run(f, 50);
    assert_int_equal(f->grips[0].counters.requests, 0);
    assert_int_equal(f->session.counters.strays, 0);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_BATTERY), 1);
    free(f);
}

/* What is no answer to the request leaves it waiting; the right one ends it. */
/* One whose time is over while it waits behind another operation is not sent any more either. */
static void a_request_that_waited_too_long_is_not_sent(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    assert_int_equal(tendon_fjorden_session_read_battery(&f->session, f->now), TENDON_OK);
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
    tendon_fjorden_session_inputs.tick(&f->session, f->now + TENDON_FJORDEN_RESPONSE_TIMEOUT_MS);
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->status, TENDON_ERROR_TIMEOUT);
    fjorden_run(f, 50);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_BATTERY), 1);
    assert_int_equal(f->grips[0].counters.requests, 0);
    free(f);
}

static void mal_I08_responses_to_what_was_not_asked(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        bool stray, rejected;
    } rows[] = {
        {"", false, true},       {"83", false, true},     {"8301", false, true},
        {"030100", false, true}, {"810100", true, false}, {"830201", true, false},
        {"830200", false, true}, {"870100", true, false}, {"ff0105", true, false},
    };
    fjorden_fixture *f = connected();
    assert_int_equal(ask(f, TENDON_FJORDEN_GET_CONFIG), TENDON_OK);
    silence(f);
    uint16_t control = handle(f, TENDON_FJORDEN_CHARACTERISTIC_CONTROL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t strays = f->session.counters.strays, rejected = f->session.counters.rejected;
        fjorden_tell(f, INDICATION, control, rows[i].hex);
        assert_int_equal(f->session.counters.strays - strays, rows[i].stray);
        assert_int_equal(f->session.counters.rejected - rejected, rows[i].rejected);
        assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE), 0);
    }
    fjorden_tell(f, INDICATION, control, "830100 f4019001"); /* a byte short */
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->status, TENDON_FJORDEN_ERROR_LENGTH);
    fjorden_forget(f);
    fjorden_tell(f, INDICATION, control, "830100 f401900101"); /* too late */
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE), 0);
    free(f);
}

static void a_lost_link_ends_what_waits_for_the_grip(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_OK);
    assert_int_equal(tendon_fjorden_session_read_battery(&f->session, f->now), TENDON_OK);
    assert_int_equal(tendon_fjorden_session_read_info(&f->session, f->now), TENDON_OK);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_RESPONSE)->status, TENDON_RADIO_ERROR_OUT_OF_RANGE);
    const fjorden_seen *seen = fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_BATTERY);
    assert_int_equal(seen->status, TENDON_FJORDEN_ERROR_NO_BATTERY_INFO);
    assert_int_equal(seen->cause, TENDON_RADIO_ERROR_OUT_OF_RANGE);
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_INFO)->status, TENDON_FJORDEN_ERROR_NO_GRIP_INFO);
    assert_int_equal(tendon_fjorden_session_read_battery(&f->session, f->now), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(tendon_fjorden_session_read_info(&f->session, f->now), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(ask(f, TENDON_FJORDEN_PING), TENDON_ERROR_WRONG_STATE);
    free(f);
}

/* ---- battery and texts ---- */

/* A grip that leaves a read open: it ends after 5 s, not with the bearer after 30. */
static void a_read_has_its_limit(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    f->devices[0].silent = true;
    assert_int_equal(tendon_fjorden_session_read_battery(&f->session, f->now), TENDON_OK);
    fjorden_run(f, TENDON_FJORDEN_OPERATION_TIMEOUT_MS - 10);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_BATTERY), 0);
    fjorden_run(f, 20);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_BATTERY), 1);
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_BATTERY)->cause, TENDON_ERROR_TIMEOUT);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
    free(f);
}

static void silent_from_the_firmware_on(fjorden_fixture *f, const tendon_fjorden_session_event *notice) {
    if (notice->output != NULL && notice->output->kind == TENDON_FJORDEN_OUT_READ_FIRMWARE) {
        f->devices[0].silent = true;
    }
}

/* While it connects, the manager's timeout is the only one: an operation that takes long is no answer of the grip. */
static void opening_has_the_managers_timeout_alone(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    f->session.manager.configuration.timeout_ms = 15000;
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    f->hook = silent_from_the_firmware_on;
    fjorden_run(f, 10000);
    assert_int_equal(f->session.manager.step, TENDON_FJORDEN_STEP_FIRMWARE);
    fjorden_run(f, 6000);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_READY);
    free(f);
}

static void battery_is_read_and_notified(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    assert_false(f->session.has_level);
    assert_int_equal(tendon_fjorden_session_read_battery(&f->session, f->now), TENDON_OK);
    fjorden_run(f, 20);
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_BATTERY)->level, 80);
    uint16_t battery = handle(f, TENDON_FJORDEN_CHARACTERISTIC_BATTERY);
    fjorden_tell(f, NOTIFICATION, battery, "1c");
    assert_int_equal(f->session.level, 28);
    static const uint8_t ends[] = {0, 100}; /* empty and full are levels too */
    for (size_t i = 0; i < 2; i++) {
        fjorden_forget(f);
        fjorden_tell(f, NOTIFICATION, battery, i == 0 ? "00" : "64");
        assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_BATTERY)->level, ends[i]);
        assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_REJECTED), 0);
    }
    fjorden_tell(f, NOTIFICATION, battery, "1c");
    static const char *const bad[] = {"", "1c1c", "65", "ff"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        fjorden_forget(f);
        fjorden_tell(f, NOTIFICATION, battery, bad[i]);
        assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_REJECTED), 1);
        assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_BATTERY), 0);
        assert_int_equal(f->session.level, 28);
    }
    free(f);
}

static void mal_I10_texts_that_are_none(void **state) {
    (void)state;
    static const struct {
        const char *serial, *kept;
    } rows[] = {
        {"SN-1", "SN-1"},
        {"\xC3\x86gir", "\xC3\x86gir"},
        {"\xC3", ""},
        {"a\x1B[31m", ""}, /* would move a terminal's cursor */
        {"0123456789012345678901234567890123456789012345678901234567890123", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_simulated_fjorden_options options = {.serial = rows[i].serial};
        fjorden_fixture *f = fjorden_new(&options);
        fjorden_reach_connected(f);
        assert_int_equal(tendon_fjorden_session_read_info(&f->session, f->now), TENDON_OK);
        fjorden_run(f, 50);
        assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_INFO)->status, TENDON_OK);
        assert_true(f->session.has_info);
        assert_string_equal(f->session.info.strings[TENDON_FJORDEN_STRING_SERIAL], rows[i].kept);
        assert_int_equal(f->session.info.present[TENDON_FJORDEN_STRING_SERIAL], rows[i].kept[0] != 0);
        assert_string_equal(f->session.info.strings[TENDON_FJORDEN_STRING_MANUFACTURER], "Tendon");
        free(f);
    }
}

/* Whatever a grip sends, the session stays connected and the next event comes. */
static void noise_on_every_characteristic(void **state) {
    (void)state;
    fjorden_fixture *f = connected();
    dice d = {0x464A4F52};
    static const uint8_t which[] = {TENDON_FJORDEN_CHARACTERISTIC_EVENT, TENDON_FJORDEN_CHARACTERISTIC_CONTROL,
                                    TENDON_FJORDEN_CHARACTERISTIC_BATTERY};
    for (int round = 0; round < 3000; round++) {
        uint8_t pdu[40];
        uint16_t to = handle(f, (tendon_fjorden_characteristic)which[roll(&d) % 3]);
        size_t length = (size_t)(3 + roll(&d) % 30);
        for (size_t i = 0; i < length; i++) {
            pdu[i] = (uint8_t)(roll(&d) >> 16);
        }
        pdu[0] = (roll(&d) & 1) != 0 ? NOTIFICATION : INDICATION;
        pdu[1] = (uint8_t)to;
        pdu[2] = (uint8_t)(to >> 8);
        block copy = block_copy(pdu, length);
        (void)tendon_att_bearer_receive(&f->air.ours, copy.data, copy.length, f->now);
        free(copy.data);
        if (round % 7 == 0) {
            (void)ask(f, TENDON_FJORDEN_PING);
        }
        fjorden_run(f, 5);
        fjorden_forget(f);
    }
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
    f->session.stream.started = false;
    events(f, "0101000000");
    fjorden_assert_events(f, "01");
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_1_to_13),
        cmocka_unit_test(mal_I01_to_I03_lengths_of_notifications),
        cmocka_unit_test(mal_I05_unknown_codes_are_events),
        cmocka_unit_test(mal_I06_sequence_and_time_wrap),
        cmocka_unit_test(after_a_loss_only_releases_are_made_up),
        cmocka_unit_test(a_loss_is_made_good_once),
        cmocka_unit_test(a_control_released_while_the_grip_was_away_is_released),
        cmocka_unit_test(controls_of_a_grip_without_a_state_are_released),
        cmocka_unit_test(a_control_state_that_breaks_its_rules_changes_nothing),
        cmocka_unit_test(whoever_is_told_an_event_may_end_the_link),
        cmocka_unit_test(every_command_is_answered),
        cmocka_unit_test(a_stale_handle_is_reported),
        cmocka_unit_test(commands_out_of_range_are_not_sent),
        cmocka_unit_test(a_grip_that_does_not_answer_times_out),
        cmocka_unit_test(the_search_ends_before_the_response_of_a_closing_link),
        cmocka_unit_test(a_busy_grip_is_reported_and_not_asked_again),
        cmocka_unit_test(a_cancelled_request_is_forgotten),
        cmocka_unit_test(the_next_command_waits_for_the_write_response),
        cmocka_unit_test(a_write_that_fails_after_its_response_ends_nothing_else),
        cmocka_unit_test(a_command_that_no_longer_waits_is_not_written),
        cmocka_unit_test(a_command_that_waits_fails_with_the_connection),
        cmocka_unit_test(a_request_cancelled_in_time_is_not_sent),
        cmocka_unit_test(a_request_that_waited_too_long_is_not_sent),
        cmocka_unit_test(mal_I08_responses_to_what_was_not_asked),
        cmocka_unit_test(a_lost_link_ends_what_waits_for_the_grip),
        cmocka_unit_test(a_read_has_its_limit),
        cmocka_unit_test(opening_has_the_managers_timeout_alone),
        cmocka_unit_test(battery_is_read_and_notified),
        cmocka_unit_test(mal_I10_texts_that_are_none),
        cmocka_unit_test(noise_on_every_characteristic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
