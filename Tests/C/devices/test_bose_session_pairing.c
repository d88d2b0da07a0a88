/* SPDX-License-Identifier: MIT */
/* Opening a Bose session: pairing, intents, firmware, and closing from within a callback. */
#include "bose_fixture.h"

#include <string.h>

static void assert_open_failed(fixture *f, tendon_status status) {
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_OPEN_FAILED), 1);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_OPEN_FAILED)->status, status);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_OPENED), 0);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_CLOSED), 0);
}

/* ---- pairing ---- */

static void example_03_pairing_mode_is_awaited(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_WAITING_PAIRING_MODE);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE), 1);
    assert_int_equal(fixture_asked(f, 0x12, 0x13), 1); /* subscribed to the status */
    fixture_advance(f, 3600000);                       /* no time-out */
    assert_int_equal(f->session.state, TENDON_BOSE_WAITING_PAIRING_MODE);
    assert_int_equal(f->pair_calls, 0);
    fixture_status(f, 0x0003);
    assert_int_equal(f->session.state, TENDON_BOSE_BONDING);
    assert_int_equal(f->pair_calls, 1);
    fixture_advance(f, 3600000);
    fixture_status(f, 0x0003); /* it is bonding: nothing else begins */
    assert_int_equal(f->pair_calls, 1);
    assert_int_equal(f->session.state, TENDON_BOSE_BONDING);
    tendon_bose_session_inputs.paired(&f->session, TENDON_OK, f->now);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_PAIRING_FINISHED)->status, TENDON_OK);
    fixture_run(f);
    assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
    assert_int_equal(fixture_asked(f, 0x12, 0x13), 1); /* not subscribed twice */
}

static void close_when_informed(fixture *f, const tendon_bose_event *event) {
    if (event->kind == TENDON_BOSE_EVENT_DEVICE_INFORMATION) {
        tendon_bose_session_close(&f->session, f->now);
    }
}

/* The program closes the session in the event of the value that would have it pair. */
static void closed_before_it_pairs(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_WAITING_PAIRING_MODE);
    f->hook = close_when_informed;
    fixture_status(f, 0x0003);
    assert_int_equal(f->pair_calls, 0);
    assert_int_equal(f->session.state, TENDON_BOSE_CLOSING);
}

static void example_03_pairing_mode_is_on(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_BONDING);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE), 0);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_PAIRING_STARTED), 1);
    tendon_bose_session_inputs.paired(&f->session, TENDON_OK, f->now);
    fixture_run(f);
    assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
}

/* What was left of the 30 s goes on after the waiting. */
static void the_opening_deadline_rests_while_waiting(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_WAITING_PAIRING_MODE);
    fixture_advance(f, 1000000);
    fixture_status(f, 0x0003);
    fixture_advance(f, 1000000);
    f->slow_ms = 4000;
    uint64_t begin = f->now;
    tendon_bose_session_inputs.paired(&f->session, TENDON_OK, f->now);
    fixture_run(f);
    assert_true(f->disconnect_asked);
    assert_int_equal(f->disconnect_asked_at - begin, 30000);
}

static void pairing_refused(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_BONDING);
    tendon_bose_session_inputs.paired(&f->session, TENDON_RADIO_ERROR_PAIRING_FAILED, f->now);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_PAIRING_FINISHED), 1);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_PAIRING_FINISHED)->status, TENDON_RADIO_ERROR_PAIRING_FAILED);
    fixture_disconnect_if_asked(f);
    assert_open_failed(f, TENDON_BOSE_ERROR_BONDING_FAILED);
}

/* The kernel reports the end of the pairing before that of the link: the device went away, it refused nothing. */
static void link_lost_while_pairing(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_BONDING);
    tendon_bose_session_inputs.paired(&f->session, TENDON_ERROR_DISCONNECTED, f->now);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_PAIRING_FINISHED)->status, TENDON_ERROR_DISCONNECTED);
    fixture_disconnect_if_asked(f);
    assert_open_failed(f, TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE);
}

static void no_pairing_service(void **state) {
    fixture *f = *state;
    f->pair_result = TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    fixture_set(f, H_DEVICE, "0400402c010000000f0007000e08002f040003");
    fixture_connect(f);
    fixture_run(f);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_PAIRING_FINISHED)->status,
                     TENDON_RADIO_ERROR_NO_PAIRING_SERVICE);
    fixture_disconnect_if_asked(f);
    assert_open_failed(f, TENDON_BOSE_ERROR_BONDING_FAILED);
}

static void link_without_pairing(void **state) {
    fixture *f = *state;
    f->config.link.pair = NULL;
    f->config.link.bonded = NULL;
    fixture_init(f);
    fixture_set(f, H_DEVICE, "0400402c010000000f0007000e08002f040003");
    fixture_connect(f);
    fixture_run(f);
    fixture_disconnect_if_asked(f);
    assert_open_failed(f, TENDON_BOSE_ERROR_BONDING_FAILED);
}

/* Nothing to ask of the wearer: the device is in pairing mode already. */
static void pairing_mode_is_on_without_a_delegate(void **state) {
    fixture *f = *state;
    f->config.pairing_delegate = false;
    fixture_init(f);
    fixture_reach(f, TENDON_BOSE_BONDING);
    assert_int_equal(f->pair_calls, 1);
    tendon_bose_session_inputs.paired(&f->session, TENDON_OK, f->now);
    fixture_run(f);
    assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
}

static void no_pairing_delegate(void **state) {
    fixture *f = *state;
    f->config.pairing_delegate = false;
    fixture_init(f);
    fixture_set(f, H_DEVICE, "0400402c010000000f0007000e08002f040002");
    fixture_connect(f);
    fixture_run(f);
    fixture_disconnect_if_asked(f);
    assert_open_failed(f, TENDON_BOSE_ERROR_PAIRING_DELEGATE_MISSING);
    assert_int_equal(f->pair_calls, 0);
}

static void bonded_already(void **state) {
    fixture *f = *state;
    f->is_bonded = true;
    f->config.pairing_delegate = false;
    fixture_init(f);
    fixture_set(f, H_DEVICE, "0400402c010000000f0007000e08002f040002");
    fixture_open(f);
    assert_int_equal(f->pair_calls, 0);
}

static void pairing_is_required_no_longer(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_WAITING_PAIRING_MODE);
    fixture_status(f, 0x0000);
    fixture_run(f);
    assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
    assert_int_equal(f->pair_calls, 0);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_PAIRING_FINISHED), 1); /* the prompt ends */
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_PAIRING_FINISHED)->status, TENDON_OK);
}

/* A prompt never stays up: whatever ends the waiting, PAIRING_FINISHED comes before OPEN_FAILED. */
static void ended_while_waiting_for_pairing_mode(void **unused) {
    (void)unused;
    enum { CLOSED, LOST, BAD_READ, ENDS };
    for (int end = 0; end < ENDS; end++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        tendon_status status = TENDON_ERROR_CANCELLED;
        if (end == BAD_READ) { /* the second reading of the device information fails */
            fixture_set(f, H_DEVICE, "0400402c010000000f0007000e08002f040002");
            fixture_connect(f);
            fixture_run_until(f, TENDON_BOSE_WAITING_PAIRING_MODE);
            f->failure.opcode = 0x0A;
            f->failure.handle = H_DEVICE;
            f->failure.code = 0x0E;
            fixture_run(f);
            fixture_disconnect_if_asked(f);
            status = TENDON_ATT_ERROR(0x0E);
        } else {
            fixture_reach(f, TENDON_BOSE_WAITING_PAIRING_MODE);
        }
        if (end == CLOSED) {
            tendon_bose_session_close(&f->session, f->now);
            fixture_disconnect_if_asked(f);
        } else if (end == LOST) {
            fixture_lose(f, TENDON_RADIO_ERROR_PEER_CLOSED);
            status = TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE;
        }
        assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE), 1);
        assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_PAIRING_FINISHED), 1);
        assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_PAIRING_FINISHED)->status, status);
        assert_int_equal(f->events[f->event_count - 1].kind, TENDON_BOSE_EVENT_OPEN_FAILED);
        assert_open_failed(f, status);
        fixture_teardown(&state);
    }
}

/* A limit that is paused is no deadline: the loop would spin on one that has passed. */
static void no_deadline_while_paused(void **unused) {
    (void)unused;
    static const tendon_bose_state states[] = {TENDON_BOSE_WAITING_PAIRING_MODE, TENDON_BOSE_BONDING};
    for (size_t i = 0; i < 2; i++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        fixture_reach(f, states[i]);
        assert_true(tendon_bose_session_inputs.deadline(&f->session) == UINT64_MAX);
        fixture_teardown(&state);
    }
}

/* A pairing service that is busy with another device is tried again; it is not the end. */
static void a_busy_pairing_service_is_tried_again(void **unused) {
    (void)unused;
    static const tendon_status busy[] = {TENDON_ERROR_BUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY};
    for (int later = 0; later < 2; later++) { /* reported by the call, or by paired() */
        for (size_t i = 0; i < 2; i++) {
            void *state;
            fixture_setup(&state);
            fixture *f = state;
            f->pair_result = later ? TENDON_OK : busy[i];
            fixture_reach(f, TENDON_BOSE_BONDING);
            if (later) {
                tendon_bose_session_inputs.paired(&f->session, busy[i], f->now);
            }
            assert_int_equal(f->session.state, TENDON_BOSE_BONDING);
            fixture_advance(f, 999);
            assert_int_equal(f->pair_calls, 1);
            f->pair_result = TENDON_OK;
            fixture_advance(f, 1);
            assert_int_equal(f->pair_calls, 2);
            fixture_advance(f, 100000);
            assert_int_equal(f->pair_calls, 2); /* in progress: not started twice */
            assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_PAIRING_STARTED), 1);
            assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_PAIRING_FINISHED), 0);
            tendon_bose_session_inputs.paired(&f->session, TENDON_OK, f->now);
            fixture_run(f);
            assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
            fixture_teardown(&state);
        }
    }
}

static void a_pairing_service_that_stays_busy(void **state) {
    fixture *f = *state;
    f->pair_result = TENDON_ERROR_BUSY;
    fixture_reach(f, TENDON_BOSE_BONDING);
    uint64_t begin = f->now;
    fixture_advance(f, 36000);
    assert_int_equal(f->pair_calls, 36);
    assert_true(f->disconnect_asked);
    assert_int_equal(f->disconnect_asked_at - begin, 35000);
    fixture_disconnect_if_asked(f);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_PAIRING_FINISHED)->status, TENDON_ERROR_BUSY);
    assert_open_failed(f, TENDON_BOSE_ERROR_BONDING_FAILED);
    fixture_reach(f, TENDON_BOSE_BONDING); /* and each opening has all its attempts */
    fixture_advance(f, 36000);
    assert_int_equal(f->pair_calls, 72);
}

static void ended_while_bonding(void **unused) {
    (void)unused;
    for (int closed = 0; closed < 2; closed++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        fixture_reach(f, TENDON_BOSE_BONDING);
        if (closed) {
            tendon_bose_session_close(&f->session, f->now);
            fixture_disconnect_if_asked(f);
        } else {
            fixture_lose(f, TENDON_RADIO_ERROR_PEER_CLOSED);
        }
        assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_PAIRING_FINISHED), 1);
        assert_true(fixture_last(f, TENDON_BOSE_EVENT_PAIRING_FINISHED)->status < 0);
        assert_open_failed(f, closed ? TENDON_ERROR_CANCELLED : TENDON_BOSE_ERROR_DISCONNECTED_BY_DEVICE);
        fixture_teardown(&state);
    }
}

/* Errors 0x05, 0x08 and 0x0F of a protected characteristic go through as they are. */
static void protected_characteristic(void **unused) {
    (void)unused;
    static const uint8_t codes[] = {0x05, 0x08, 0x0F};
    for (size_t i = 0; i < sizeof codes; i++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        f->failure.opcode = 0x0A;
        f->failure.handle = H_SENSORS;
        f->failure.code = codes[i];
        fixture_connect(f);
        fixture_run(f);
        fixture_disconnect_if_asked(f);
        assert_open_failed(f, TENDON_ATT_ERROR(codes[i]));
        fixture_teardown(&state);
    }
}

/* ---- intents, firmware ---- */

static void intents_are_checked(void **state) {
    fixture *f = *state;
    tendon_bose_intent intent = {.sensors = 0x21, .periods = 0x50, .gestures = 0x10};
    f->config.intent = &intent;
    fixture_init(f);
    intent.sensors = 0; /* it was copied */
    fixture_connect(f);
    fixture_run(f);
    fixture_disconnect_if_asked(f);
    assert_open_failed(f, TENDON_BOSE_ERROR_INTENTS_CHECK_FAILED);
    const seen *event = fixture_last(f, TENDON_BOSE_EVENT_OPEN_FAILED);
    assert_int_equal(event->intents.missing_sensors, 0x20);
    assert_int_equal(event->intents.missing_periods, 0x40);
    assert_int_equal(event->intents.missing_gestures, 0x10);
}

static void intents_that_the_device_meets(void **state) {
    fixture *f = *state;
    tendon_bose_intent intent = {.sensors = 0x0F, .periods = 0x1F, .gestures = 0x7000E};
    f->config.intent = &intent;
    fixture_init(f);
    fixture_open(f);
}

static tendon_bose_firmware verdict;

static tendon_bose_firmware check(void *context, uint16_t product_id, const char *installed, size_t length) {
    assert_ptr_equal(context, &verdict);
    assert_int_equal(product_id, 0x402C);
    assert_int_equal(length, 5);
    assert_memory_equal(installed, "1.0.0", 5);
    return verdict;
}

static void firmware_checker(void **unused) {
    (void)unused;
    for (int v = TENDON_BOSE_FIRMWARE_UNKNOWN; v <= TENDON_BOSE_FIRMWARE_UPDATE_REQUIRED; v++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        verdict = (tendon_bose_firmware)v;
        f->config.firmware = (tendon_bose_firmware_checker){&verdict, check};
        fixture_init(f);
        fixture_connect(f);
        fixture_run(f);
        assert_int_equal(f->session.firmware, v);
        if (v == TENDON_BOSE_FIRMWARE_UPDATE_REQUIRED) {
            fixture_disconnect_if_asked(f);
            assert_open_failed(f, TENDON_BOSE_ERROR_FIRMWARE_UPDATE_REQUIRED);
        } else {
            assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
        }
        fixture_teardown(&state);
    }
}

static void old_firmware_is_judged_by_its_serial(void **unused) {
    (void)unused;
    static const struct {
        const char *serial;
        bool has_serial, has_service;
        tendon_status status;
    } cases[] = {
        {"3035415a", true, true, TENDON_BOSE_ERROR_FIRMWARE_UPDATE_REQUIRED},
        {"30354142", true, true, TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE},
        {"", true, true, TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE},
        {"", false, true, TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE},
        {"", false, false, TENDON_BOSE_ERROR_UNSUPPORTED_DEVICE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        f->config.old_firmware = true;
        fixture_init(f);
        fixture_set(f, H_SERIAL, cases[i].serial);
        fixture_remove(f, 0x10, 0x23);
        if (!cases[i].has_serial) {
            fixture_remove(f, 0x33, 0x34);
        }
        if (!cases[i].has_service) {
            fixture_remove(f, 0x30, 0x3A);
        }
        fixture_connect(f);
        fixture_run(f);
        fixture_disconnect_if_asked(f);
        assert_open_failed(f, cases[i].status);
        fixture_teardown(&state);
    }
}

static void init_refuses_what_cannot_work(void **state) {
    fixture *f = *state;
    tendon_bose_session_config config = f->config;
    config.on_event = NULL;
    assert_int_equal(tendon_bose_session_init(&f->session, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config = f->config;
    config.link.connect = NULL;
    assert_int_equal(tendon_bose_session_init(&f->session, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config = f->config;
    config.link.disconnect = NULL;
    assert_int_equal(tendon_bose_session_init(&f->session, &config), TENDON_ERROR_INVALID_ARGUMENT);
}

/* The program closes from within each event of an opening. */
static tendon_bose_event_kind close_in;

static void close_in_callback(fixture *f, const tendon_bose_event *event) {
    if (event->kind == close_in && f->session.state != TENDON_BOSE_CLOSED) {
        tendon_bose_session_close(&f->session, f->now);
    }
}

static void closed_in_every_callback(void **unused) {
    (void)unused;
    static const tendon_bose_event_kind kinds[] = {
        TENDON_BOSE_EVENT_DEVICE_INFORMATION,
        TENDON_BOSE_EVENT_DEVICE_STRINGS,
        TENDON_BOSE_EVENT_SENSOR_INFORMATION,
        TENDON_BOSE_EVENT_GESTURE_INFORMATION,
        TENDON_BOSE_EVENT_SENSOR_CONFIGURATION,
        TENDON_BOSE_EVENT_GESTURE_CONFIGURATION,
        TENDON_BOSE_EVENT_OPENED,
        TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE,
        TENDON_BOSE_EVENT_PAIRING_STARTED,
        TENDON_BOSE_EVENT_PAIRING_FINISHED,
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        close_in = kinds[i];
        f->hook = close_in_callback;
        bool pairing =
            kinds[i] >= TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE && kinds[i] <= TENDON_BOSE_EVENT_PAIRING_FINISHED;
        fixture_set(f, H_DEVICE,
                    kinds[i] == TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE ? "0400402c010000000f0007000e08002f040002"
                    : pairing                                           ? "0400402c010000000f0007000e08002f040003"
                                                                        : "0400402c010000000f0007000e08002f040000");
        fixture_connect(f);
        fixture_run(f);
        if (kinds[i] == TENDON_BOSE_EVENT_PAIRING_FINISHED) {
            tendon_bose_session_inputs.paired(&f->session, TENDON_OK, f->now);
            fixture_run(f);
        }
        assert_true(f->disconnect_asked);
        fixture_disconnect_if_asked(f);
        assert_int_equal(f->session.state, TENDON_BOSE_CLOSED);
        if (kinds[i] == TENDON_BOSE_EVENT_OPENED) {
            assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_CLOSED)->status, TENDON_OK);
        } else {
            assert_open_failed(f, TENDON_ERROR_CANCELLED);
        }
        fixture_teardown(&state);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(example_03_pairing_mode_is_awaited),
        T(closed_before_it_pairs),
        T(example_03_pairing_mode_is_on),
        T(the_opening_deadline_rests_while_waiting),
        T(pairing_refused),
        T(link_lost_while_pairing),
        T(no_pairing_service),
        T(link_without_pairing),
        T(pairing_mode_is_on_without_a_delegate),
        T(no_pairing_delegate),
        T(bonded_already),
        T(pairing_is_required_no_longer),
        cmocka_unit_test(ended_while_waiting_for_pairing_mode),
        cmocka_unit_test(no_deadline_while_paused),
        cmocka_unit_test(a_busy_pairing_service_is_tried_again),
        T(a_pairing_service_that_stays_busy),
        cmocka_unit_test(ended_while_bonding),
        cmocka_unit_test(protected_characteristic),
        T(intents_are_checked),
        T(intents_that_the_device_meets),
        cmocka_unit_test(firmware_checker),
        cmocka_unit_test(old_firmware_is_judged_by_its_serial),
        T(init_refuses_what_cannot_work),
        cmocka_unit_test(closed_in_every_callback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
