/* SPDX-License-Identifier: MIT */
/* The end of a Bose session: closing, lost links, what is left of an earlier opening. */
#include "bose_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the time of an input ---- */

static void call_enable(fixture *f) {
    assert_int_equal(tendon_bose_session_enable(&f->session, 2, 40, f->now), TENDON_OK);
}

static void call_gestures(fixture *f) {
    assert_int_equal(tendon_bose_session_configure_gestures(&f->session, &f->session.gesture_configuration, f->now),
                     TENDON_OK);
}

static void call_refresh(fixture *f) {
    assert_int_equal(tendon_bose_session_refresh(&f->session, TENDON_BOSE_SENSOR_INFORMATION, f->now), TENDON_OK);
}

static void call_refresh_strings(fixture *f) {
    assert_int_equal(tendon_bose_session_refresh_strings(&f->session, f->now), TENDON_OK);
}

static void call_close(fixture *f) {
    assert_int_equal(tendon_bose_session_close(&f->session, f->now), TENDON_OK);
}

/* What a call sends has its limit from then on, however long nothing happened before: 5 s. */
static void a_request_has_its_limit_from_its_call(void **unused) {
    (void)unused;
    static void (*const calls[])(fixture *) = {call_enable, call_gestures, call_refresh, call_refresh_strings,
                                               call_close};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        void *state = NULL;
        assert_int_equal(fixture_setup(&state), 0);
        fixture *f = state;
        fixture_open(f);
        fixture_configure(f, 2, 40); /* closing has something to disable */
        fixture_run(f);
        assert_int_equal(tendon_gatt_client_deadline(&f->client), UINT64_MAX);
        f->now += 4000;
        calls[i](f);
        assert_int_equal(tendon_gatt_client_deadline(&f->client), f->now + 5000);
        fixture_teardown(&state);
    }
}

/* Events that the link causes have the link's time. */
static void what_the_link_causes_has_its_time(void **state) {
    fixture *f = *state;
    static const struct {
        uint16_t handle;
        const char *value;
        tendon_bose_event_kind kind;
    } values[] = {{H_SENSOR_DATA, "0003e80010ffe0efff03", TENDON_BOSE_EVENT_SAMPLE},
                  {H_GESTURE_DATA, "c12710", TENDON_BOSE_EVENT_GESTURE},
                  {H_SENSOR_CONFIG, "000014 010000 020000 030000", TENDON_BOSE_EVENT_SENSOR_CONFIGURATION}};
    fixture_open(f);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        f->now += 4000;
        fixture_notify(f, values[i].handle, values[i].value);
        assert_int_equal(fixture_last(f, values[i].kind)->at, f->now);
    }
    f->now += 4000;
    fixture_lose(f, TENDON_HCI_ERROR(0x08));
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_CLOSED)->at, f->now);
    fixture_reach(f, TENDON_BOSE_BONDING);
    f->now += 4000;
    tendon_bose_session_inputs.paired(&f->session, TENDON_RADIO_ERROR_PAIRING_FAILED, f->now);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_PAIRING_FINISHED)->at, f->now);
    fixture_disconnect_if_asked(f);
    f->now += 4000;
    fixture_connect(f);
    assert_int_equal(tendon_gatt_client_deadline(&f->client), f->now + 5000);
}

/* ---- callbacks of a lost connection ---- */

static int retries;

/* A program that configures again whatever failed, from the event. */
static void configure_again(fixture *f, const tendon_bose_event *event) {
    bool sensors = event->kind == TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED;
    if ((sensors || event->kind == TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED) && ++retries < 40) {
        (void)(sensors
                   ? tendon_bose_session_enable(&f->session, 2, 40, f->now)
                   : tendon_bose_session_configure_gestures(&f->session, &f->session.gesture_configuration, f->now));
    }
}

/* Outstanding writes fail, then, with the end, what was configured instead: it was never sent. */
static void a_failed_write_is_configured_again(void **unused) {
    (void)unused;
    for (int gestures = 0; gestures < 2; gestures++) {
        void *state = NULL;
        assert_int_equal(fixture_setup(&state), 0);
        fixture *f = state;
        fixture_open(f);
        f->hook = configure_again;
        f->mute = true;
        f->event_count = f->log_count = 0;
        retries = 0;
        if (gestures) {
            fixture_configure_gesture(f, 0x81, true);
        } else {
            fixture_configure(f, 2, 40);
        }
        fixture_lose(f, TENDON_RADIO_ERROR_PEER_CLOSED);
        assert_int_equal(retries, 2);
        assert_int_equal(f->event_count, 3);
        assert_int_equal(f->log_count, 1);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(f->events[i].kind, gestures ? TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED
                                                         : TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED);
            assert_int_equal(f->events[i].configuration, i + 1);
        }
        assert_int_equal(f->events[2].kind, TENDON_BOSE_EVENT_CLOSED);
        assert_int_equal(f->events[2].status, TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE);
        f->hook = NULL;
        f->mute = false;
        fixture_open(f);
        fixture_teardown(&state);
    }
}

static void close_it(fixture *f, const tendon_bose_event *event) {
    if (event->kind == TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED) {
        assert_int_equal(tendon_bose_session_close(&f->session, f->now), TENDON_OK);
    }
}

/* There is nothing to disable any more: it disconnects, and reports its end once. */
static void closed_while_the_connection_is_lost(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_run(f);
    f->hook = close_it;
    f->mute = true;
    fixture_configure_gesture(f, 0x81, true);
    f->event_count = f->log_count = 0;
    f->up = false;
    tendon_gatt_client_disconnected(&f->client, TENDON_RADIO_ERROR_PEER_CLOSED, f->now);
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSING);
    assert_true(f->disconnect_asked);
    fixture_lose(f, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
    assert_int_equal(f->log_count, 0);
    assert_int_equal(f->event_count, 2);
    assert_int_equal(f->events[1].kind, TENDON_BOSE_EVENT_CLOSED);
    assert_int_equal(f->events[1].status, TENDON_OK);
}

/* ---- closing ---- */

static void closing_disables_what_we_enabled(void **state) {
    fixture *f = *state;
    fixture_set(f, H_SENSOR_CONFIG, "000028 010000 020000 030000"); /* sensor 0 is somebody else's */
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_configure_gesture(f, 0x82, true);
    fixture_run(f);
    tendon_bose_session_close(&f->session, f->now);
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSING);
    assert_false(f->disconnect_asked);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000028 010000 020000 030000");
    fixture_assert_value(f, H_GESTURE_CONFIG, "8100 8200 8300 c000 c100 c200");
    assert_true(f->disconnect_asked);
    fixture_disconnect_if_asked(f);
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_CLOSED), 1);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_CLOSED)->status, TENDON_OK);
}

/* The device notifies what was written before it answers the write: it was enabled by this session all the same. */
static void closing_disables_what_was_notified_early(void **state) {
    fixture *f = *state;
    fixture_set(f, H_SENSOR_CONFIG, "000028 010000 020000 030000"); /* sensor 0 is somebody else's */
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_notify(f, H_SENSOR_CONFIG, "000028 010000 020028 030000");
    fixture_run(f);
    fixture_configure_gesture(f, 0x82, true);
    fixture_notify(f, H_GESTURE_CONFIG, "8100 8201 8300 c000 c100 c200");
    fixture_run(f);
    tendon_bose_session_close(&f->session, f->now);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000028 010000 020000 030000");
    fixture_assert_value(f, H_GESTURE_CONFIG, "8100 8200 8300 c000 c100 c200");
    fixture_disconnect_if_asked(f);
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
}

static void closing_goes_on_when_the_device_refuses(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_configure_gesture(f, 0x82, true);
    fixture_run(f);
    f->event_count = 0;
    f->failure.opcode = 0x12;
    f->failure.handle = H_SENSOR_CONFIG;
    f->failure.code = 0x84;
    tendon_bose_session_close(&f->session, f->now);
    fixture_run(f);
    fixture_assert_value(f, H_GESTURE_CONFIG, "8100 8200 8300 c000 c100 c200");
    fixture_disconnect_if_asked(f);
    assert_int_equal(f->event_count, 1);
    assert_int_equal(f->events[0].kind, TENDON_BOSE_EVENT_CLOSED);
}

/* A list whose end is missing is never written back: the device would disable what it does not contain. */
static void closing_writes_no_list_that_it_holds_in_part(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_run(f);
    char hex[2 * 17 * 3 + 1] = "";
    for (int i = 0; i < 17; i++) { /* sensor 2 is enabled, and there is one entry more than the table holds */
        (void)snprintf(hex + strlen(hex), sizeof hex - strlen(hex), "%02x00%s", i, i == 2 ? "28" : "00");
    }
    fixture_notify(f, H_SENSOR_CONFIG, hex);
    assert_false(f->session.has_sensor_configuration);
    size_t writes = fixture_asked(f, 0x12, H_SENSOR_CONFIG);
    tendon_bose_session_close(&f->session, f->now);
    fixture_run(f);
    assert_true(f->disconnect_asked);
    assert_int_equal(fixture_asked(f, 0x12, H_SENSOR_CONFIG), writes);
}

/* 30 s after a request without a response the client ends the bearer (Core Spec Vol 3 Part F 3.3.3). What waits behind
 * it ends too: the link is lost, and is not disconnected again. */
static void a_transaction_that_times_out_is_a_lost_link(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_run(f);
    f->mute = true;
    call_refresh(f);
    fixture_advance(f, 28000);
    call_close(f);
    fixture_advance(f, 2500);
    assert_true(f->client.closed);
    assert_false(f->disconnect_asked);
    fixture_lose(f, TENDON_GATT_ERROR_TRANSACTION_TIMEOUT);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_CLOSED), 1);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_CLOSED)->status, TENDON_OK); /* as requested */
}

static void closing_a_device_that_is_mute(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_run(f);
    f->mute = true;
    tendon_bose_session_close(&f->session, f->now);
    fixture_advance(f, 4999);
    assert_false(f->disconnect_asked);
    fixture_advance(f, 1);
    assert_true(f->disconnect_asked);
    fixture_advance(f, 5000); /* and the link never says that it ended */
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
}

static void writes_end_with_the_session(void **unused) {
    (void)unused;
    for (int closed = 0; closed < 2; closed++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        fixture_open(f);
        f->event_count = 0;
        f->mute = true;
        fixture_configure(f, 0, 20);              /* on the air */
        fixture_configure_gesture(f, 0x81, true); /* waits */
        if (closed) {
            tendon_bose_session_close(&f->session, f->now);
            f->mute = false;
            fixture_run(f);
            fixture_disconnect_if_asked(f);
            assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED)->status,
                             TENDON_ERROR_CANCELLED);
            assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_WRITTEN), 1);
            fixture_assert_value(f, H_SENSOR_CONFIG, "000000 010000 020000 030000"); /* and was taken back */
        } else {
            fixture_lose(f, TENDON_RADIO_ERROR_OUT_OF_RANGE);
            assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED), 1);
            assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED)->status,
                             TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE);
        }
        assert_int_equal(f->events[f->event_count - 1].kind, TENDON_BOSE_EVENT_CLOSED);
        fixture_teardown(&state);
    }
}

static void why_a_link_was_lost(void **unused) {
    (void)unused;
    static const struct {
        tendon_status reason, status;
    } cases[] = {
        {TENDON_RADIO_ERROR_PEER_CLOSED, TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE},
        {TENDON_ERROR_DISCONNECTED, TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE},
        {TENDON_HCI_ERROR(0x13), TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE},
        {TENDON_RADIO_ERROR_OUT_OF_RANGE, TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE},
        {TENDON_HCI_ERROR(0x08), TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE},
        {TENDON_HCI_ERROR(0x22), TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE},
        {TENDON_HCI_ERROR(0x3E), TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE},
        {TENDON_GATT_ERROR_TRANSACTION_TIMEOUT, TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE},
        {TENDON_ERROR_TIMEOUT, TENDON_BOSE_ERROR_DEVICE_OUT_OF_RANGE},
        {TENDON_RADIO_ERROR_ADAPTER_DOWN, TENDON_RADIO_ERROR_ADAPTER_DOWN},
        {TENDON_ERROR_CANCELLED, TENDON_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        fixture_open(f);
        fixture_lose(f, cases[i].reason);
        assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_CLOSED)->status, cases[i].status);
        fixture_teardown(&state);
    }
}

/* The end is reported to the session before its client: a response that is still received starts no further request. */
static void a_discovery_ends_with_the_session(void **state) {
    fixture *f = *state;
    f->answer_limit = 2; /* the MTU, the first page of services */
    fixture_connect(f);
    fixture_run(f);
    assert_int_equal(f->session.state, TENDON_BOSE_DISCOVERING);
    assert_true(f->pending_length > 0);
    tendon_bose_session_inputs.disconnected(&f->session, TENDON_RADIO_ERROR_PEER_CLOSED, f->now);
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
    size_t requests = f->log_count;
    f->answer_limit = -1;
    fixture_run(f);
    assert_int_equal(f->log_count, requests);
    assert_int_equal(f->session.counters.illegal_inputs, 0);
}

/* ---- opened again ---- */

static void a_stale_subscription_does_not_fire(void **state) {
    fixture *f = *state;
    fixture_open(f);
    tendon_gatt_subscription old = {0};
    for (size_t i = 0; i < sizeof f->subscriptions / sizeof f->subscriptions[0]; i++) {
        if (f->subscriptions[i].value_handle == H_SENSOR_DATA) {
            old = f->subscriptions[i];
        }
    }
    assert_non_null(old.on_value);
    fixture_lose(f, TENDON_RADIO_ERROR_PEER_CLOSED);
    static const uint8_t record[] = {0x00, 0x03, 0xE8, 0x00, 0x00, 0x00, 0x00, 0xF0, 0x00, 0x03};
    tendon_gatt_value value = {.handle = H_SENSOR_DATA, .value = record, .length = sizeof record};
    old.on_value(old.context, &value, f->now);
    assert_int_equal(f->session.counters.illegal_inputs, 1);
    fixture_open(f);
    old.on_value(old.context, &value, f->now);
    assert_int_equal(f->session.counters.illegal_inputs, 2);
    assert_int_equal(f->session.counters.samples, 0);
    fixture_notify(f, H_SENSOR_DATA, "0003e800000000f00003"); /* the new one does */
    assert_int_equal(f->session.counters.samples, 1);
}

/* I08: the answer to an operation of an earlier opening, whose id is in use again. */
static void i08_a_stale_completion_does_not_fire(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->mute = true;
    fixture_configure(f, 0, 20);
    tendon_gatt_request old = {0};
    for (size_t i = 0; i < sizeof f->requests / sizeof f->requests[0]; i++) {
        if (f->requests[i].id != 0) {
            old = f->requests[i];
        }
    }
    assert_non_null(old.done);
    fixture_lose(f, TENDON_RADIO_ERROR_PEER_CLOSED);
    f->mute = false;
    fixture_open(f);
    f->mute = true;
    fixture_configure(f, 1, 40);
    f->event_count = 0;
    tendon_gatt_result result = {.request = f->session.op.request, .status = TENDON_OK};
    old.done(old.context, &result);
    assert_int_equal(f->event_count, 0);
    assert_int_equal(f->session.counters.illegal_inputs, 1);
    f->mute = false;
    fixture_run(f);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_WRITTEN), 1);
}

static void opens_a_hundred_times(void **state) {
    fixture *f = *state;
    for (int i = 0; i < 100; i++) {
        f->event_count = 0;
        fixture_open(f);
        fixture_notify(f, H_SENSOR_DATA, "00 0000 00000000f000 03");
        assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_SAMPLE)->device_ms, 0); /* the clock begins anew */
        fixture_notify(f, H_SENSOR_DATA, "00 8000 00000000f000 03");
        tendon_bose_session_close(&f->session, f->now);
        fixture_run(f);
        fixture_disconnect_if_asked(f);
        assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
    }
    assert_int_equal(f->session.counters.illegal_inputs, 0);
}

static tendon_status refuse_to_send(void *context, const uint8_t *pdu, size_t length) {
    (void)context;
    (void)pdu;
    (void)length;
    return TENDON_ERROR_DISCONNECTED;
}

static void a_send_that_fails(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->bearer.io.send = refuse_to_send;
    f->event_count = 0;
    tendon_bose_sensor_configuration configuration = fixture_enabled(f, 0, 20);
    (void)tendon_bose_session_configure_sensors(&f->session, &configuration, f->now);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED), 1);
    fixture_lose(f, TENDON_ERROR_DISCONNECTED);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED), 1);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_CLOSED)->status, TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE);
}

static void memory_budget(void **state) {
    (void)state;
    assert_true(sizeof(tendon_bose_session) <= 2648);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_has_its_limit_from_its_call),
        T(what_the_link_causes_has_its_time),
        cmocka_unit_test(a_failed_write_is_configured_again),
        T(closed_while_the_connection_is_lost),
        T(closing_disables_what_we_enabled),
        T(closing_disables_what_was_notified_early),
        T(closing_goes_on_when_the_device_refuses),
        T(closing_writes_no_list_that_it_holds_in_part),
        T(a_transaction_that_times_out_is_a_lost_link),
        T(closing_a_device_that_is_mute),
        cmocka_unit_test(writes_end_with_the_session),
        cmocka_unit_test(why_a_link_was_lost),
        T(a_discovery_ends_with_the_session),
        T(a_stale_subscription_does_not_fire),
        T(i08_a_stale_completion_does_not_fire),
        T(opens_a_hundred_times),
        T(a_send_that_fails),
        cmocka_unit_test(memory_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
