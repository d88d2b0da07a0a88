/* SPDX-License-Identifier: MIT */
/* Commands: their packets, their order, their end; firmware and mode; the error log. */
#include "feelspace_fixture.h"

static tendon_status outcome(const belt *b) {
    return belt_last(b, TENDON_FEELSPACE_EVENT_COMMAND)->event.status;
}

/* ---- packets ---- */

static void belt_gets_each_command(void **state) {
    belt *b = *state;
    tendon_feelspace_session *s = &b->session;
    const tendon_feelspace_vibration east = {.signal = TENDON_FEELSPACE_SIGNAL_CONTINUOUS,
                                             .direction = 90,
                                             .is_bearing = true,
                                             .intensity = -1,
                                             .channel = 1};
    const tendon_feelspace_vibration off = {.signal = TENDON_FEELSPACE_SIGNAL_CONTINUOUS, .channel = 1};
    const tendon_feelspace_channel left = {.pattern = TENDON_FEELSPACE_PATTERN_SINGLE_LONG,
                                           .intensity = -1,
                                           .orientation_type = TENDON_FEELSPACE_ORIENTATION_ANGLE,
                                           .orientation = 270,
                                           .iterations = 5,
                                           .period_ms = 1000,
                                           .clear_others = true};
    const tendon_feelspace_pulse pulse = {.orientation_type = TENDON_FEELSPACE_ORIENTATION_ANGLE,
                                          .orientation = 90,
                                          .intensity = -1,
                                          .on_ms = 150,
                                          .pulse_period_ms = 500,
                                          .pulse_iterations = 3,
                                          .series_period_ms = 1500,
                                          .series_iterations = 1};
    belt_open(b);
    assert_int_equal(tendon_feelspace_session_set_mode(s, TENDON_FEELSPACE_MODE_APP, b->now), TENDON_OK);
    belt_run(b);
    belt_expect_write(b, H_REQUEST, "01810300");
    assert_int_equal(s->mode, TENDON_FEELSPACE_MODE_APP);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_MODE), 1);
#define GETS(call, handle, bytes)                                                                                      \
    do {                                                                                                               \
        assert_int_equal(call, TENDON_OK);                                                                             \
        belt_run(b);                                                                                                   \
        belt_expect_write(b, handle, bytes);                                                                           \
        assert_int_equal(outcome(b), TENDON_OK);                                                                       \
        assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_COMMAND)->event.command.id, s->last_command);             \
        assert_true(tendon_feelspace_session_idle(s));                                                                 \
    } while (0)
    GETS(tendon_feelspace_session_set_default_intensity(s, 2, true, b->now), H_REQUEST, "0182020001");
    assert_int_equal(s->default_intensity, 5); /* as the belt says */
    GETS(tendon_feelspace_session_set_heading_offset(s, 45, b->now), H_REQUEST, "01832d00");
    GETS(tendon_feelspace_session_set_accuracy_signal(s, false, false, false, b->now), H_REQUEST, "11030000");
    GETS(tendon_feelspace_session_set_accuracy_signal(s, true, false, true, b->now), H_REQUEST, "11030102");
    GETS(tendon_feelspace_session_request_accuracy_signal(s, b->now), H_REQUEST, "100103");
    assert_int_equal(s->accuracy_state, 2);
    GETS(tendon_feelspace_session_vibrate(s, &east, b->now), H_VIBRATION, "0101aaaa0000035a000000fff40100000000");
    GETS(tendon_feelspace_session_vibrate(s, &off, b->now), H_VIBRATION, "3001");
    GETS(tendon_feelspace_session_configure_channel(s, &left, b->now), H_VIBRATION,
         "0003aaaa0000020e01000005e80300000001");
    GETS(tendon_feelspace_session_pulse(s, &pulse, b->now), H_VIBRATION, "4000025a00aa96000301f401dc05000000");
    GETS(tendon_feelspace_session_signal(s, TENDON_FEELSPACE_SIGNAL_BATTERY, b->now), H_VIBRATION, "2002");
    GETS(tendon_feelspace_session_stop(s, -1, b->now), H_VIBRATION, "30ff");
    uint8_t packet[20];
    const float seconds = 1.0f, hertz = 1000.0f;
    GETS(tendon_feelspace_session_send(s, TENDON_FEELSPACE_BUZZER_COMMAND, packet,
                                       tendon_feelspace_encode_tone(&seconds, &hertz, 1, packet, 20), b->now),
         H_BUZZER, "01012064");
    GETS(tendon_feelspace_session_send(s, TENDON_FEELSPACE_PARAMETER_REQUEST, packet,
                                       tendon_feelspace_encode_set_name("x", 1, packet, 20), b->now),
         H_REQUEST, "018478");
    GETS(tendon_feelspace_session_send(s, TENDON_FEELSPACE_PARAMETER_REQUEST, packet,
                                       tendon_feelspace_encode_reset(true, false, false, packet, 20), b->now),
         H_REQUEST, "12010000");
    GETS(tendon_feelspace_session_send(s, TENDON_FEELSPACE_PARAMETER_REQUEST, packet,
                                       tendon_feelspace_encode_set_pairing(true, false, packet, 20), b->now),
         H_REQUEST, "11250001");
    GETS(tendon_feelspace_session_send(s, TENDON_FEELSPACE_DEBUG_INPUT, (const uint8_t *)"\x02", 1, b->now),
         H_DEBUG_INPUT, "02");
#undef GETS
}

static void belt_refuses_arguments(void **state) {
    belt *b = *state;
    tendon_feelspace_session *s = &b->session;
    uint8_t packet[24] = {0x20, 0};
    belt_open(b);
    size_t before = b->log_count;
    assert_int_equal(tendon_feelspace_session_set_mode(s, 5, b->now), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_session_set_mode(s, 0xFF, b->now), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_session_set_default_intensity(s, 101, true, b->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_session_set_heading_offset(s, 360, b->now), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_session_signal(s, 3, b->now), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_session_stop(s, 4, b->now), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_session_send(s, TENDON_FEELSPACE_VIBRATION_COMMAND, packet, 0, b->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_session_send(s, TENDON_FEELSPACE_VIBRATION_COMMAND, packet, 21, b->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_feelspace_session_send(s, TENDON_FEELSPACE_BATTERY_STATUS, packet, 2, b->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(b->log_count, before);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 0);
    tendon_feelspace_session_disconnect(s, b->now);
    assert_int_equal(tendon_feelspace_session_set_mode(s, 5, b->now), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(tendon_feelspace_session_start_orientation(s, 0, 0, b->now), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(tendon_feelspace_session_stop_orientation(s, b->now), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(tendon_feelspace_session_set_orientation_period(s, 5, b->now), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(tendon_feelspace_session_request_log(s, b->now), TENDON_ERROR_DISCONNECTED);
}

static void belt_has_more_channels_on_demand(void **state) {
    belt *b = *state;
    b->config.channels = TENDON_FEELSPACE_CHANNELS_EXTENDED;
    belt_init(b);
    belt_open(b);
    assert_true(tendon_feelspace_session_stop(&b->session, 5, b->now) >= 0);
    assert_int_equal(tendon_feelspace_session_stop(&b->session, 6, b->now), TENDON_ERROR_INVALID_ARGUMENT);
}

/* ---- mode and firmware ---- */

static void belt_ignores_what_needs_app_mode(void **state) {
    belt *b = *state;
    for (int strict = 0; strict < 2; strict++) {
        tendon_status ignored = strict ? TENDON_FEELSPACE_ERROR_WRONG_MODE : TENDON_FEELSPACE_WARNING_IGNORED;
        tendon_feelspace_channel c = {
            .pattern = 1, .intensity = -1, .orientation_type = 2, .iterations = 1, .period_ms = 500};
        b->config.strict = strict;
        belt_init(b);
        b->mode = TENDON_FEELSPACE_MODE_WAIT;
        belt_open(b);
        assert_int_equal(tendon_feelspace_session_configure_channel(&b->session, &c, b->now), TENDON_OK);
        c.iterations = -1;
        assert_int_equal(tendon_feelspace_session_configure_channel(&b->session, &c, b->now), ignored);
        c.iterations = 200;
        assert_int_equal(tendon_feelspace_session_configure_channel(&b->session, &c, b->now),
                         strict ? ignored : (tendon_status)(ignored | TENDON_FEELSPACE_WARNING_ENDLESS));
        c.iterations = 1;
        c.clear_others = true;
        assert_int_equal(tendon_feelspace_session_configure_channel(&b->session, &c, b->now), ignored);
        c.clear_others = false;
        c.channel = 1;
        assert_int_equal(tendon_feelspace_session_configure_channel(&b->session, &c, b->now), ignored);
        assert_int_equal(tendon_feelspace_session_signal(&b->session, 0, b->now), TENDON_OK);
        belt_run(b);
        belt_mode(b, TENDON_FEELSPACE_MODE_APP);
        assert_int_equal(tendon_feelspace_session_configure_channel(&b->session, &c, b->now), TENDON_OK);
        c.iterations = 128;
        assert_int_equal(tendon_feelspace_session_configure_channel(&b->session, &c, b->now),
                         TENDON_FEELSPACE_WARNING_ENDLESS);
        tendon_feelspace_session_disconnect(&b->session, b->now);
        belt_lose(b, TENDON_ERROR_CANCELLED);
    }
}

static void belt_firmware_decides(void **state) {
    belt *b = *state;
    static const struct {
        const char *firmware;
        bool change, reset, pulse, crossing, buzzer, period;
    } rows[] = {
        {"2800", false, false, false, false, false, false}, /* 40 */
        {"2900", true, false, false, false, false, false},  /* 41 */
        {"2b00", true, true, false, false, false, false},   /* 43 */
        {"2d00", true, true, true, true, true, false},      /* 45 */
        {"3400", true, true, true, true, true, true},       /* 52 */
        {"28", false, false, false, false, false, false},   {"280003", false, false, false, false, false, false},
        {"040005", true, true, true, true, true, true}, /* newer hardware */
    };
    const tendon_feelspace_pulse pulse = {.on_ms = 1,
                                          .pulse_period_ms = 1,
                                          .pulse_iterations = 1,
                                          .series_period_ms = 1,
                                          .series_iterations = 1,
                                          .orientation_type = 1};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_feelspace_session *s = &b->session;
        uint8_t packet[20];
        belt_set(b, H_FIRMWARE, rows[i].firmware);
        belt_open(b);
#define NEEDS(there, call)                                                                                             \
    assert_int_equal(call, there ? TENDON_OK : TENDON_FEELSPACE_ERROR_UNSUPPORTED_FIRMWARE);                           \
    belt_run(b)
        NEEDS(rows[i].change, tendon_feelspace_session_set_accuracy_signal(s, true, true, true, b->now));
        NEEDS(true, tendon_feelspace_session_set_accuracy_signal(s, true, true, false, b->now));
        NEEDS(rows[i].reset, tendon_feelspace_session_send(
                                 s, TENDON_FEELSPACE_PARAMETER_REQUEST, packet,
                                 tendon_feelspace_encode_reset(true, true, true, packet, sizeof packet), b->now));
        assert_true(tendon_feelspace_session_stop(s, 1, b->now) >= 0); /* a vibration that is no pulse */
        belt_run(b);
        NEEDS(rows[i].pulse, tendon_feelspace_session_pulse(s, &pulse, b->now));
        NEEDS(true, tendon_feelspace_session_set_mode(s, TENDON_FEELSPACE_MODE_COMPASS, b->now));
        NEEDS(rows[i].crossing, tendon_feelspace_session_set_mode(s, TENDON_FEELSPACE_MODE_CROSSING, b->now));
        NEEDS(rows[i].buzzer, tendon_feelspace_session_send(
                                  s, TENDON_FEELSPACE_BUZZER_COMMAND, packet,
                                  tendon_feelspace_encode_tone(NULL, NULL, 0, packet, sizeof packet), b->now));
        NEEDS(rows[i].period, tendon_feelspace_session_set_orientation_period(s, 100, b->now));
#undef NEEDS
        b->mode = TENDON_FEELSPACE_MODE_WAIT;
        tendon_feelspace_session_disconnect(&b->session, b->now);
        belt_lose(b, TENDON_ERROR_CANCELLED);
    }
}

static void belt_lacks_what_is_optional(void **state) {
    belt *b = *state;
    belt_remove(b, 45, 46);
    belt_remove(b, 73, 78);
    belt_open(b);
    assert_int_equal(
        tendon_feelspace_session_send(&b->session, TENDON_FEELSPACE_BUZZER_COMMAND, (const uint8_t *)"\x01", 1, b->now),
        TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(tendon_feelspace_session_request_log(&b->session, b->now), TENDON_ERROR_UNSUPPORTED);
    belt_advance(b, 5000);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_LOG_FINISHED), 0);
}

/* ---- order and end ---- */

static void belt_queue_is_first_in_first_out(void **state) {
    belt *b = *state;
    belt_open(b);
    size_t before = b->log_count;
    for (int i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        assert_true(tendon_feelspace_session_stop(&b->session, i % 4, b->now) >= 0);
    }
    assert_int_equal(tendon_feelspace_session_stop(&b->session, 0, b->now), TENDON_GATT_ERROR_QUEUE_FULL);
    assert_int_equal(tendon_feelspace_session_start_orientation(&b->session, 0, 0, b->now),
                     TENDON_GATT_ERROR_QUEUE_FULL);
    assert_false(b->session.orientation_enabled);
    assert_int_equal(b->log_count, before + 1); /* one at a time */
    belt_run(b);
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        assert_int_equal(b->log[before + i].value[1], i % 4);
    }
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), TENDON_FEELSPACE_COMMANDS_MAX);
    uint32_t last = 0;
    for (size_t i = 0; i < b->event_count; i++) {
        if (b->events[i].event.kind == TENDON_FEELSPACE_EVENT_COMMAND) {
            assert_true(b->events[i].event.command.id > last);
            last = b->events[i].event.command.id;
        }
    }
}

/* The order holds while the ids wrap. */
static void belt_queue_is_first_in_first_out_when_ids_wrap(void **state) {
    belt *b = *state;
    belt_open(b);
    b->session.work.next_id = UINT32_MAX - 5;
    size_t before = b->log_count;
    for (int i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        assert_true(tendon_feelspace_session_stop(&b->session, i % 4, b->now) >= 0);
        assert_int_not_equal(b->session.last_command, 0);
    }
    belt_run(b);
    for (size_t i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        assert_int_equal(b->log[before + i].value[1], i % 4);
    }
}

static void belt_command_times_out_and_the_next_goes_on(void **state) {
    belt *b = *state;
    belt_open(b);
    b->mute = true;
    assert_int_equal(tendon_feelspace_session_signal(&b->session, 0, b->now), TENDON_OK);
    assert_int_equal(tendon_feelspace_session_signal(&b->session, 1, b->now), TENDON_OK);
    belt_advance(b, 999);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 0);
    belt_advance(b, 1);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 1);
    assert_int_equal(outcome(b), TENDON_ERROR_TIMEOUT);
    b->mute = false;
    belt_run(b);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 2);
    assert_int_equal(outcome(b), TENDON_OK);
    belt_expect_write(b, H_VIBRATION, "2001");
    assert_int_equal(b->session.state, TENDON_FEELSPACE_CONNECTED);
}

/* 30 s after a request without a response the client ends the bearer (Core Spec Vol 3 Part F 3.3.3). The command that
 * waits behind it ends with the connection, not before. */
static void belt_command_ends_with_the_link_of_a_transaction_that_timed_out(void **state) {
    belt *b = *state;
    belt_open(b);
    b->mute = true;
    assert_int_equal(tendon_feelspace_session_signal(&b->session, 0, b->now), TENDON_OK);
    belt_advance(b, 29500);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 1);
    assert_int_equal(tendon_feelspace_session_signal(&b->session, 1, b->now), TENDON_OK);
    belt_advance(b, 499);
    assert_false(b->client.closed);
    belt_advance(b, 1);
    assert_true(b->client.closed);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 1);
    belt_lose(b, TENDON_GATT_ERROR_TRANSACTION_TIMEOUT);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 2);
}

/* Each place of the queue holds a request that is not answered: all of them end. */
static void belt_answers_no_request_of_a_full_queue(void **state) {
    belt *b = *state;
    belt_open(b);
    b->silent = true;
    for (int i = 0; i < TENDON_FEELSPACE_COMMANDS_MAX; i++) {
        assert_int_equal(tendon_feelspace_session_set_mode(&b->session, TENDON_FEELSPACE_MODE_APP, b->now), TENDON_OK);
    }
    belt_run(b);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 0);
    belt_advance(b, 1000);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), TENDON_FEELSPACE_COMMANDS_MAX);
    assert_int_equal(outcome(b), TENDON_ERROR_TIMEOUT);
    assert_true(tendon_feelspace_session_idle(&b->session));
}

static void belt_refuses_a_write(void **state) {
    belt *b = *state;
    belt_open(b);
    b->fail_at = (int)b->log_count;
    b->fail_code = 0x0D;
    assert_int_equal(tendon_feelspace_session_signal(&b->session, 0, b->now), TENDON_OK);
    belt_run(b);
    assert_int_equal(outcome(b), TENDON_ATT_ERROR(0x0D));
}

static void belt_does_not_answer_a_parameter(void **state) {
    belt *b = *state;
    belt_open(b);
    b->silent = true;
    assert_int_equal(tendon_feelspace_session_set_mode(&b->session, TENDON_FEELSPACE_MODE_APP, b->now), TENDON_OK);
    assert_int_equal(tendon_feelspace_session_signal(&b->session, 0, b->now), TENDON_OK);
    belt_run(b);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 1); /* the signal does not wait for the mode */
    assert_false(tendon_feelspace_session_idle(&b->session));
    belt_advance(b, 999);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 1);
    belt_advance(b, 1);
    assert_int_equal(outcome(b), TENDON_ERROR_TIMEOUT);
    assert_true(tendon_feelspace_session_idle(&b->session));
    belt_mode(b, TENDON_FEELSPACE_MODE_APP); /* too late for the command, a change all the same */
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 2);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_MODE), 1);
}

static void mal_I08_answers_nobody_asked_for(void **state) {
    belt *b = *state;
    belt_open(b);
    belt_notify(b, H_PARAMETER, "10250100");
    belt_notify(b, H_PARAMETER, "100f640000");
    belt_notify(b, H_PARAMETER, "100a0100020003000400");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 0);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_PARAMETER), 3 + 1); /* and the offset of the handshake */
    b->silent = true;
    assert_int_equal(tendon_feelspace_session_set_heading_offset(&b->session, 10, b->now), TENDON_OK);
    belt_run(b);
    belt_notify(b, H_PARAMETER, "10010a00"); /* the other family's name of it */
    belt_notify(b, H_PARAMETER, "010228");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 0);
    belt_notify(b, H_PARAMETER, "0103ffff"); /* malformed: no answer */
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 0);
    belt_notify(b, H_PARAMETER, "01030b00");
    assert_int_equal(outcome(b), TENDON_OK);
    assert_int_equal(b->session.heading_offset, 11);
}

static void belt_answers_before_the_response(void **state) {
    belt *b = *state;
    belt_open(b);
    b->answers_early = true;
    assert_int_equal(tendon_feelspace_session_set_mode(&b->session, TENDON_FEELSPACE_MODE_APP, b->now), TENDON_OK);
    belt_run(b);
    assert_int_equal(outcome(b), TENDON_OK);
    assert_true(tendon_feelspace_session_idle(&b->session));
}

static void belt_answers_two_requests_in_order(void **state) {
    belt *b = *state;
    belt_open(b);
    b->silent = true;
    assert_int_equal(tendon_feelspace_session_set_mode(&b->session, 3, b->now), TENDON_OK);
    uint32_t first = b->session.last_command;
    assert_int_equal(tendon_feelspace_session_set_mode(&b->session, 4, b->now), TENDON_OK);
    belt_run(b);
    belt_mode(b, 3);
    assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_COMMAND)->event.command.id, first);
    belt_mode(b, 4);
    assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_COMMAND)->event.command.id, b->session.last_command);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 2);
}

/* On the air, waiting for its turn, waiting for its answer: all are cancelled, before the end is told. */
static void belt_commands_are_cancelled(void **state) {
    belt *b = *state;
    for (int way = 0; way < 2; way++) {
        b->silent = false;
        belt_open(b);
        b->silent = true;
        assert_int_equal(tendon_feelspace_session_set_mode(&b->session, 3, b->now), TENDON_OK);
        belt_run(b);
        assert_int_equal(tendon_feelspace_session_signal(&b->session, 0, b->now), TENDON_OK);
        assert_int_equal(tendon_feelspace_session_signal(&b->session, 1, b->now), TENDON_OK);
        b->event_count = 0;
        if (way == 0) {
            belt_lose(b, TENDON_RADIO_ERROR_PEER_CLOSED);
        } else {
            tendon_feelspace_session_disconnect(&b->session, b->now);
        }
        assert_int_equal(b->event_count, 4);
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(b->events[i].event.kind, TENDON_FEELSPACE_EVENT_COMMAND);
            assert_int_equal(b->events[i].event.status, TENDON_ERROR_CANCELLED);
        }
        assert_int_equal(b->events[3].event.kind, TENDON_FEELSPACE_EVENT_STATE);
        if (way == 1) {
            (void)belt_answer_one(b); /* of the link that goes down */
            belt_lose(b, TENDON_ERROR_CANCELLED);
        }
    }
}

/* The GATT client borrows a command's bytes while the link is blocked: it must have let go of them. */
static void belt_gets_nothing_that_was_cancelled(void **state) {
    belt *b = *state;
    belt_open(b);
    b->blocked = true;
    assert_int_equal(tendon_feelspace_session_signal(&b->session, 0, b->now), TENDON_OK);
    size_t before = b->log_count;
    tendon_feelspace_session_disconnect(&b->session, b->now);
    assert_int_equal(tendon_feelspace_session_scan(&b->session, 0, b->now), TENDON_OK); /* in the same memory */
    b->blocked = false;
    tendon_att_bearer_writable(&b->bearer, b->now);
    assert_int_equal(b->log_count, before);
}

static void refuse_while_ending(belt *b, const tendon_feelspace_event *event) {
    if (event->kind == TENDON_FEELSPACE_EVENT_COMMAND && event->status == TENDON_ERROR_CANCELLED) {
        b->hooked++;
        assert_int_equal(tendon_feelspace_session_connect(&b->session, NULL, NULL, b->now), TENDON_ERROR_WRONG_STATE);
        assert_int_equal(tendon_feelspace_session_scan(&b->session, 0, b->now), TENDON_ERROR_WRONG_STATE);
        assert_int_equal(tendon_feelspace_session_signal(&b->session, 0, b->now), TENDON_ERROR_DISCONNECTED);
    }
}

static void belt_starts_nothing_before_its_end_is_told(void **state) {
    belt *b = *state;
    belt_open(b);
    b->hook = refuse_while_ending;
    assert_int_equal(tendon_feelspace_session_signal(&b->session, 0, b->now), TENDON_OK);
    tendon_feelspace_session_disconnect(&b->session, b->now);
    assert_int_equal(b->hooked, 1);
}

static void more_in_callback(belt *b, const tendon_feelspace_event *event) {
    if (event->kind == TENDON_FEELSPACE_EVENT_COMMAND && b->hooked++ < 5) {
        assert_true(tendon_feelspace_session_signal(&b->session, 1, b->now) >= 0);
    }
}

static void belt_commands_from_callbacks(void **state) {
    belt *b = *state;
    belt_open(b);
    b->hook = more_in_callback;
    assert_int_equal(tendon_feelspace_session_signal(&b->session, 0, b->now), TENDON_OK);
    belt_run(b);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), 6);
    assert_int_equal(belt_writes(b, H_VIBRATION), 6);
}

/* ---- error log ---- */

static void belt_log_is_read_to_its_end(void **state) {
    belt *b = *state;
    belt_open(b);
    assert_int_equal(tendon_feelspace_session_request_log(&b->session, b->now), TENDON_OK);
    assert_int_equal(tendon_feelspace_session_request_log(&b->session, b->now), TENDON_ERROR_BUSY);
    belt_run(b);
    belt_expect_write(b, H_DEBUG_INPUT, "0b");
    belt_notify(b, H_DEBUG_OUTPUT, "0c 01000000 02000000 0100 00"); /* before its header */
    belt_notify(b, H_DEBUG_OUTPUT, "0b 0100 02 01000000 02000000");
    belt_notify(b, H_DEBUG_OUTPUT, "0c 01000000 02000000 0100 01");
    belt_notify(b, H_DEBUG_OUTPUT, "a005000000");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_LOG_FINISHED), 0);
    belt_notify(b, H_DEBUG_OUTPUT, "0c 01000000 02000000 0100 00");
    assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_LOG_FINISHED)->event.status, TENDON_OK);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_DEBUG), 5);
    assert_int_equal(tendon_feelspace_session_request_log(&b->session, b->now), TENDON_OK);
    belt_run(b);
    belt_notify(b, H_DEBUG_OUTPUT, "0b 0100 00 00000000 00000000");
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_LOG_FINISHED), 2); /* an empty one */
    assert_int_equal(tendon_feelspace_session_request_log(&b->session, b->now), TENDON_OK);
    belt_run(b);
    belt_advance(b, 1499);
    assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_LOG_FINISHED), 2);
    belt_advance(b, 1);
    assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_LOG_FINISHED)->event.status, TENDON_ERROR_TIMEOUT);
    assert_int_equal(tendon_feelspace_session_request_log(&b->session, b->now), TENDON_OK);
    tendon_feelspace_session_disconnect(&b->session, b->now);
    assert_int_equal(belt_last(b, TENDON_FEELSPACE_EVENT_LOG_FINISHED)->event.status, TENDON_ERROR_CANCELLED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, belt_setup, belt_teardown)

/* A belt that asks for keep-alives faster than it acknowledges: after eight responses a command has its turn. */
static void keep_alives_do_not_starve_commands(void **state) {
    belt *b = *state;
    belt_open(b);
    b->mute = true; /* nothing is acknowledged yet */
    for (int i = 0; i < 50; i++) {
        belt_notify(b, H_KEEP_ALIVE, "0001");
    }
    assert_true(tendon_feelspace_session_signal(&b->session, TENDON_FEELSPACE_SIGNAL_BATTERY, b->now) >= 0);
    assert_true(tendon_feelspace_session_signal(&b->session, TENDON_FEELSPACE_SIGNAL_BATTERY, b->now) >= 0);
    b->mute = false;
    b->log_count = 0;
    b->event_count = 0;
    for (int i = 0; i < 18; i++) {
        assert_true(belt_answer_one(b));
        belt_notify(b, H_KEEP_ALIVE, "0001");
        assert_int_equal(belt_count(b, TENDON_FEELSPACE_EVENT_COMMAND), (i + 1) / 9);
    }
    belt_run(b);
    assert_int_equal(b->session.counters.keep_alives, 50 + 18);
    assert_int_equal(belt_writes(b, H_KEEP_ALIVE), 50 + 18 - 1); /* one was on the air before */
    assert_int_equal(b->session.work.keep_alives, 0);
}

/* The turn of the others comes to none: the ninth is answered without another reason to send. */
static void a_row_of_keep_alives_is_answered_to_its_end(void **state) {
    belt *b = *state;
    belt_open(b);
    b->log_count = 0;
    b->mute = true;
    for (int i = 0; i < 9; i++) {
        belt_notify(b, H_KEEP_ALIVE, "0001");
    }
    b->mute = false;
    belt_run(b);
    assert_int_equal(belt_writes(b, H_KEEP_ALIVE), 9);
    assert_int_equal(b->session.work.keep_alives, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(belt_gets_each_command),
        TEST(belt_refuses_arguments),
        TEST(belt_has_more_channels_on_demand),
        TEST(belt_ignores_what_needs_app_mode),
        TEST(belt_firmware_decides),
        TEST(belt_lacks_what_is_optional),
        TEST(belt_queue_is_first_in_first_out),
        TEST(belt_queue_is_first_in_first_out_when_ids_wrap),
        TEST(belt_command_times_out_and_the_next_goes_on),
        TEST(belt_command_ends_with_the_link_of_a_transaction_that_timed_out),
        TEST(belt_answers_no_request_of_a_full_queue),
        TEST(belt_refuses_a_write),
        TEST(belt_does_not_answer_a_parameter),
        TEST(mal_I08_answers_nobody_asked_for),
        TEST(belt_answers_before_the_response),
        TEST(belt_answers_two_requests_in_order),
        TEST(belt_commands_are_cancelled),
        TEST(belt_gets_nothing_that_was_cancelled),
        TEST(belt_starts_nothing_before_its_end_is_told),
        TEST(belt_commands_from_callbacks),
        TEST(belt_log_is_read_to_its_end),
        TEST(keep_alives_do_not_starve_commands),
        TEST(a_row_of_keep_alives_is_answered_to_its_end),
    };
    return cmocka_run_group_tests_name("feelspace_queue", tests, NULL, NULL);
}
