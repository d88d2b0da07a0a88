/* SPDX-License-Identifier: MIT */
/* Fjorden session: how a connection attempt ends early and why, the name of the grip, and the radio in memory. */
#include "fjorden_fixture.h"

/* Whatever step the program interrupts, the attempt ends with one error. */
static void disconnecting_cancels_every_step(void **state) {
    (void)state;
    unsigned seen = 0;
    for (uint64_t ms = 0; ms < 40; ms++) {
        fjorden_fixture *f = fjorden_new(NULL);
        f->air.pairing_ms = 10;
        f->air.connect_ms = 5;
        fjorden_call(f, TENDON_FJORDEN_CALL_START);
        fjorden_connect(f, 0);
        fjorden_run(f, ms);
        if (f->session.manager.state == TENDON_FJORDEN_CONNECTING) {
            seen |= 1u << f->session.manager.step;
            assert_int_equal(tendon_fjorden_session_disconnect(&f->session, f->now), TENDON_OK);
            fjorden_assert_result(f, TENDON_FJORDEN_CALL_CONNECT, TENDON_FJORDEN_ERROR_DISCOVERY_CANCELLED);
        }
        free(f);
    }
    assert_int_equal(seen & (1u << TENDON_FJORDEN_STEP_LINK | 1u << TENDON_FJORDEN_STEP_PAIRING),
                     1u << TENDON_FJORDEN_STEP_LINK | 1u << TENDON_FJORDEN_STEP_PAIRING);
}

/* A start that waits for the permission is an attempt, too; the decision then changes no state. */
static void disconnecting_ends_a_start_that_waits(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    tendon_fjorden_manager_set_environment(&f->session.manager, TENDON_FJORDEN_AUTHORIZATION_UNDETERMINED, true);
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_assert_outputs(f, "ask");
    assert_int_equal(tendon_fjorden_session_disconnect(&f->session, f->now), TENDON_OK);
    fjorden_assert_outputs(f, "ask =uninitialized");
    fjorden_call(f, TENDON_FJORDEN_ON_PERMISSION);
    fjorden_run(f, 100);
    fjorden_assert_outputs(f, "ask =uninitialized");
    free(f);
}

/* The grip was reset and has no key: a radio that encrypts by itself ends the connection for that reason. */
static void a_connection_that_cannot_be_encrypted_is_a_pairing_error(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    f->air.connect_ms = 5;
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_run(f, 2000);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
    fjorden_run(f, 10);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_SCANNING_FOR_BONDED);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], true, f->now);
    while (f->session.manager.state != TENDON_FJORDEN_CONNECTING) {
        fjorden_run(f, 1);
    }
    tendon_fjorden_session_inputs.disconnected(&f->session, TENDON_RADIO_ERROR_PAIRING_FAILED, f->now);
    /* No search without an end for a grip that will refuse. */
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_READY);
    f->air.connecting = f->air.connect_asked = false;
    fjorden_forget(f);
    fjorden_call(f, TENDON_FJORDEN_CALL_CONNECT_BONDED);
    while (f->session.manager.state != TENDON_FJORDEN_CONNECTING) {
        fjorden_run(f, 1);
    }
    tendon_fjorden_session_inputs.disconnected(&f->session, TENDON_RADIO_ERROR_PAIRING_FAILED, f->now);
    fjorden_assert_result(f, TENDON_FJORDEN_CALL_CONNECT_BONDED, TENDON_FJORDEN_ERROR_PAIRING_DECLINED);
    assert_non_null(strstr(tendon_fjorden_status_text(TENDON_FJORDEN_ERROR_PAIRING_DECLINED), "forget"));
    free(f);
}

/* ---- automatic reconnection ---- */

static uint64_t attempts[64];
static size_t attempt_count;

static tendon_status refuse(void *context) {
    const fjorden_fixture *f = context;
    assert_true(attempt_count < 64); /* not one an advertisement */
    attempts[attempt_count++] = f->now;
    return TENDON_HCI_ERROR(0x09); /* the controller's limit of connections */
}

static void lose(fjorden_fixture *f) {
    tendon_memory_radio_set_present(&f->air, &f->devices[0], false, f->now);
    fjorden_run(f, 10);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_SCANNING_FOR_BONDED);
    tendon_memory_radio_set_present(&f->air, &f->devices[0], true, f->now);
}

static void run_to_connected(fjorden_fixture *f, uint64_t ms) {
    for (uint64_t end = f->now + ms; f->now < end && f->session.manager.state != TENDON_FJORDEN_CONNECTED;) {
        fjorden_run(f, 10);
    }
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
}

/* A grip advertises every 20 to 100 ms: the pauses are ours, and they grow. */
static void a_reconnection_that_fails_is_tried_ever_later(void **state) {
    (void)state;
    static const uint64_t pauses[] = {500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000};
    enum { COUNT = sizeof pauses / sizeof pauses[0] };
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    f->uncounted = true;
    attempt_count = 0;
    fjorden_reach_connected(f);
    fjorden_run(f, TENDON_FJORDEN_STABLE_MS);
    const tendon_session_link link = f->session.config.link;
    f->session.config.link.connect = refuse;
    f->session.config.link.context = f;
    lose(f);
    uint64_t lost = f->now;
    fjorden_run(f, 150000);
    assert_int_equal(attempt_count, COUNT + 1);
    assert_in_range(attempts[0] - lost, 0, 200); /* at once */
    for (size_t i = 0; i < COUNT; i++) {
        assert_in_range(attempts[i + 1] - attempts[i], pauses[i], pauses[i] + 200);
    }
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_SCANNING_FOR_BONDED);
    f->session.config.link = link;
    run_to_connected(f, 31000);
    fjorden_run(f, TENDON_FJORDEN_STABLE_MS); /* all is well again: the next loss is followed at once */
    lose(f);
    run_to_connected(f, 400);
    free(f);
}

/* A grip that ends each connection soon is no better: what it answers before does not start the pauses anew. */
static void a_grip_that_leaves_soon_is_connected_ever_later(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    f->uncounted = true;
    fjorden_reach_connected(f);
    for (unsigned i = 0; i < 6; i++) {
        uint64_t pause = i == 0 ? 0 : 500u << (i - 1);
        lose(f);
        uint64_t lost = f->now;
        fjorden_run(f, pause > 20 ? pause - 20 : 0);
        assert_int_equal(f->session.manager.state, TENDON_FJORDEN_SCANNING_FOR_BONDED);
        run_to_connected(f, 400);
        assert_in_range(f->now - lost, pause > 20 ? pause - 20 : 0, pause + 400);
    }
    free(f);
}

/* A grip that says that it goes is not connected again at once, while it still advertises. */
static void a_grip_that_says_that_it_goes_has_a_pause(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        fjorden_fixture *f = fjorden_new_bonded(NULL);
        f->uncounted = true;
        fjorden_reach_connected(f);
        fjorden_run(f, TENDON_FJORDEN_STABLE_MS);
        const tendon_fjorden_command command = {.opcode =
                                                    way == 1 ? TENDON_FJORDEN_POWER_OFF : TENDON_FJORDEN_CLEAR_BOND};
        if (way == 0) {
            tendon_simulated_fjorden_power_off(&f->grips[0], f->now);
        } else {
            assert_int_equal(tendon_fjorden_session_request(&f->session, &command, f->now), TENDON_OK);
        }
        for (int i = 0; i < 100 && f->session.manager.state == TENDON_FJORDEN_CONNECTED; i++) {
            fjorden_run(f, 1);
        }
        assert_int_equal(f->session.manager.state, TENDON_FJORDEN_SCANNING_FOR_BONDED);
        fjorden_run(f, TENDON_FJORDEN_RETRY_PAUSE_MS - 10);
        assert_int_equal(f->session.manager.state, TENDON_FJORDEN_SCANNING_FOR_BONDED);
        run_to_connected(f, 3000);
        fjorden_run(f, TENDON_FJORDEN_STABLE_MS);
        lose(f); /* the next loss is one as any other */
        run_to_connected(f, 400);
        free(f);
    }
}

/* Its event is lost; the response to the request says the same, if it is a success. */
static void a_grip_that_accepts_to_go_has_a_pause(void **state) {
    (void)state;
    static const struct {
        tendon_fjorden_opcode opcode;
        const char *response;
        bool goes;
    } cases[] = {{TENDON_FJORDEN_CLEAR_BOND, "860100", true},
                 {TENDON_FJORDEN_POWER_OFF, "870100", true},
                 {TENDON_FJORDEN_POWER_OFF, "870103", false}, /* busy */
                 {TENDON_FJORDEN_PING, "810100", false}};
    for (size_t n = 0; n < 2 * (sizeof cases / sizeof cases[0]); n++) {
        const size_t i = n / 2;
        fjorden_fixture *f = fjorden_new_bonded(NULL);
        f->uncounted = true;
        fjorden_reach_connected(f);
        fjorden_run(f, n % 2 == 0 ? TENDON_FJORDEN_STABLE_MS : 1000); /* also soon after the connection */
        const tendon_fjorden_command command = {.opcode = cases[i].opcode};
        f->devices[0].silent = true;
        assert_int_equal(tendon_fjorden_session_request(&f->session, &command, f->now), TENDON_OK);
        fjorden_tell(f, 0x1D, f->session.kept.found[TENDON_FJORDEN_CHARACTERISTIC_CONTROL].value, cases[i].response);
        f->devices[0].silent = false;
        lose(f);
        fjorden_run(f, TENDON_FJORDEN_RETRY_PAUSE_MS - 20);
        assert_int_equal(f->session.manager.state == TENDON_FJORDEN_SCANNING_FOR_BONDED, cases[i].goes);
        run_to_connected(f, 3000);
        free(f);
    }
}

/* The kernel reports the end of a pairing before that of the link: the grip went away, it refused nothing. */
static void a_reconnection_lost_while_pairing_goes_on(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    f->air.pairing_ms = 100;
    fjorden_reach_connected(f);
    f->devices[0].bonded = false; /* the link is not encrypted by itself any more */
    lose(f);
    for (uint64_t end = f->now + 1000; f->now < end && !f->session.work.retried;) {
        fjorden_run(f, 1);
    }
    assert_true(f->session.work.retried);
    tendon_fjorden_session_inputs.paired(&f->session, TENDON_ERROR_DISCONNECTED, f->now);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTING);
    lose(f);
    free(f);
}

/* The firmware is read before the pairing: a grip that is not used keeps its only bond for another host. */
static void a_grip_that_is_too_old_is_not_paired(void **state) {
    (void)state;
    const tendon_simulated_fjorden_options options = {.firmware = "0.9.1"};
    fjorden_fixture *f = fjorden_new(&options);
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_connect(f, 0);
    fjorden_run(f, 1000);
    fjorden_assert_result(f, TENDON_FJORDEN_CALL_CONNECT, TENDON_FJORDEN_ERROR_UNSUPPORTED_FIRMWARE);
    assert_false(f->devices[0].bonded || f->grips[0].bonded);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_PAIRING), 0);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_READY);
    free(f);
}

static void fall_silent(fjorden_fixture *f, const tendon_fjorden_session_event *notice) {
    if (notice->kind == TENDON_FJORDEN_SESSION_EVENT_OUTPUT && notice->output->kind == TENDON_FJORDEN_OUT_PAIR) {
        f->devices[0].silent = true;
    }
}

/* The timeout rests for the pairing; the version that is read before it has a limit of its own. */
static void a_grip_that_is_silent_before_the_pairing_is_asked_to_pair(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    f->hook = fall_silent;
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_connect(f, 0);
    fjorden_run(f, TENDON_FJORDEN_OPERATION_TIMEOUT_MS);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_PAIRING), 0);
    fjorden_run(f, 200);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_PAIRING), 1);
    free(f);
}

/* One bond: that of another grip goes, with its keys. */
static void another_grip_replaces_the_bond(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    f->devices[0].present = false;
    f->devices[1].present = true;
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_run(f, 6000); /* the bonded one is not there */
    fjorden_forget(f);
    fjorden_connect(f, 1);
    fjorden_run(f, 1000);
    fjorden_assert_outputs(f,
                           "connect :connecting services characteristics pair firmware notify remove store :connected "
                           "=connected");
    for (size_t i = 0; i < f->count; i++) {
        if (f->seen[i].output.kind == TENDON_FJORDEN_OUT_REMOVE_BOND) {
            assert_string_equal(f->seen[i].grip.identifier, "C1:01:02:03:04:05/random");
        }
    }
    assert_string_equal(f->session.manager.configuration.bond.identifier, "C2:01:02:03:04:05/random");
    free(f);
}

static tendon_status no_pairing(void *context) {
    (void)context;
    return TENDON_SYSTEM_ERROR(28); /* ENOSPC */
}

/* Why pairing did not even begin is reported. */
static void pairing_that_cannot_begin_has_its_cause(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new(NULL);
    f->session.config.link.pair = no_pairing;
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_connect(f, 0);
    fjorden_run(f, 1000);
    fjorden_assert_result(f, TENDON_FJORDEN_CALL_CONNECT, TENDON_FJORDEN_ERROR_PAIRING_DECLINED);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_PAIRING), 1);
    assert_int_equal(fjorden_last(f, TENDON_FJORDEN_SESSION_EVENT_PAIRING)->status, TENDON_SYSTEM_ERROR(28));
    free(f);
}

static void connect_without_a_name(fjorden_fixture *f) {
    tendon_fjorden_input input = {.kind = TENDON_FJORDEN_CALL_CONNECT};
    tendon_fjorden_identifier(&f->devices[0].address, input.grip.identifier);
    assert_int_equal(tendon_fjorden_session_input(&f->session, &input, f->now), TENDON_OK);
}

/* The first list has the advertisement alone; the name is in the scan response, or in the GAP service (2A00). */
static void a_grip_taken_before_its_name_has_it_once_connected(void **state) {
    (void)state;
    for (int searched = 0; searched < 2; searched++) {
        fjorden_fixture *f = fjorden_new(NULL);
        fjorden_call(f, TENDON_FJORDEN_CALL_START);
        if (searched) {
            fjorden_call(f, TENDON_FJORDEN_CALL_SCAN);
            fjorden_run(f, 50);
        }
        connect_without_a_name(f);
        assert_string_equal(f->session.manager.grip.name, searched ? "Fjorden Grip Simulator" : "");
        fjorden_run(f, 1000);
        assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
        assert_string_equal(f->session.manager.grip.name, "Fjorden Grip Simulator");
        assert_string_equal(f->session.manager.configuration.bond.name, "Fjorden Grip Simulator");
        free(f);
    }
}

/* The memory radio: forgetting ends the connection; a bond encrypts it before anything is sent. */
static void the_radio_forgets_and_encrypts(void **state) {
    (void)state;
    fjorden_fixture *f = fjorden_new_bonded(NULL);
    fjorden_reach_connected(f);
    fjorden_forget(f);
    assert_int_equal(tendon_memory_radio_forget(&f->air, &f->devices[0].address), TENDON_OK);
    fjorden_run(f, 1);
    assert_null(f->air.peer);
    fjorden_assert_outputs(f, "scan_start :scanningForBondedGrip scan_stop connect :connecting");
    assert_int_equal(tendon_memory_radio_forget(&f->air, &f->devices[0].address), TENDON_ERROR_NOT_FOUND);
    free(f);
    f = fjorden_new_bonded(NULL);
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_run(f, 1000);
    assert_int_equal(f->session.manager.state, TENDON_FJORDEN_CONNECTED);
    assert_int_equal(fjorden_told(f, TENDON_FJORDEN_SESSION_EVENT_PAIRING), 0);
    free(f);
}

/* More than the radio's queue takes at once: the grip is told when there is space, and nothing is lost. */
static void a_flood_is_delivered_whole(void **state) {
    (void)state;
    static const tendon_simulated_fjorden_options options = {.flat_out = true, .event_limit = 2000};
    fjorden_fixture *f = fjorden_new_bonded(&options);
    f->uncounted = true;
    fjorden_call(f, TENDON_FJORDEN_CALL_START);
    fjorden_run(f, 60000);
    assert_int_equal(f->grips[0].counters.records, 2000);
    assert_int_equal(f->session.counters.events, 2000);
    assert_int_equal(f->session.stream.lost, 0);
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_radio_forgets_and_encrypts),
        cmocka_unit_test(a_flood_is_delivered_whole),
        cmocka_unit_test(disconnecting_cancels_every_step),
        cmocka_unit_test(disconnecting_ends_a_start_that_waits),
        cmocka_unit_test(a_connection_that_cannot_be_encrypted_is_a_pairing_error),
        cmocka_unit_test(a_reconnection_that_fails_is_tried_ever_later),
        cmocka_unit_test(a_grip_that_leaves_soon_is_connected_ever_later),
        cmocka_unit_test(a_grip_that_says_that_it_goes_has_a_pause),
        cmocka_unit_test(a_grip_that_accepts_to_go_has_a_pause),
        cmocka_unit_test(a_reconnection_lost_while_pairing_goes_on),
        cmocka_unit_test(a_grip_that_is_too_old_is_not_paired),
        cmocka_unit_test(a_grip_that_is_silent_before_the_pairing_is_asked_to_pair),
        cmocka_unit_test(another_grip_replaces_the_bond),
        cmocka_unit_test(pairing_that_cannot_begin_has_its_cause),
        cmocka_unit_test(a_grip_taken_before_its_name_has_it_once_connected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
