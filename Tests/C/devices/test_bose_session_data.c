/* SPDX-License-Identifier: MIT */
/* Sensor and gesture data of an open Bose session. */
#include "bose_fixture.h"

#include <stdio.h>

/* ---- data ---- */

static void example_13_two_records(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->event_count = 0;
    f->now += 500;
    fixture_notify(f, H_SENSOR_DATA, "0003e80010ffe0efff03 0103e80003fffd000101");
    assert_int_equal(f->event_count, 4);
    assert_int_equal(f->events[0].kind, TENDON_BOSE_EVENT_SENSOR_DATA);
    assert_int_equal(f->events[0].length, 20);
    assert_int_equal(f->events[1].kind, TENDON_BOSE_EVENT_SAMPLE);
    assert_int_equal(f->events[1].sample.sensor_id, 0);
    assert_int_equal(f->events[1].device_ms, 1000);
    assert_int_equal(f->events[2].sample.sensor_id, 1);
    assert_int_equal(f->events[3].kind, TENDON_BOSE_EVENT_SENSOR_DATA_END);
    assert_int_equal(f->session.counters.notifications, 1);
    assert_int_equal(f->session.counters.samples, 2);
}

/* A notification with one accelerometer record, which the device measured @p late ms ago. */
static const seen *sample_at(fixture *f, uint16_t timestamp, uint64_t late) {
    char text[32];
    f->event_count = 0;
    f->now += late;
    (void)snprintf(text, sizeof text, "00 %04x 00000000f000 03", timestamp);
    fixture_notify(f, H_SENSOR_DATA, text);
    f->now -= late;
    return fixture_last(f, TENDON_BOSE_EVENT_SAMPLE);
}

/* Every 20 ms for 100 s, over a wrap of the 16 bits; then one that was lost for 300 ms, and one after a reconnection.
 */
static void samples_have_the_time_of_their_measurement(void **state) {
    fixture *f = *state;
    fixture_open(f);
    const seen *s = NULL;
    uint64_t began = f->now;
    for (unsigned i = 0; i < 5000; i++) {
        s = sample_at(f, (uint16_t)(0xF000 + f->now - began), 0);
        f->now += 20;
    }
    assert_in_range(s->error_us, 2000, 3000);
    assert_in_range(s->received_at - s->sampled_at, 0, 1000000);
    s = sample_at(f, (uint16_t)(0xF000 + f->now - began), 300);
    assert_in_range(s->received_at - s->sampled_at, 299000000, 301000000);
    assert_in_range(s->error_us, 2000, 3000);
    fixture_notify(f, H_GESTURE_DATA, "c1 8000");
    assert_true(fixture_last(f, TENDON_BOSE_EVENT_GESTURE)->error_us >= 2000);

    f->now += 400;
    fixture_lose(f, TENDON_ERROR_DISCONNECTED);
    f->now += 200000; /* three wraps without a sample */
    f->event_count = 0;
    fixture_open(f);
    s = sample_at(f, (uint16_t)(0xF000 + f->now - began), 40);
    assert_int_equal(s->device_ms, (uint16_t)(0xF000 + f->now - began)); /* begins again, the model does not */
    assert_in_range(s->received_at - s->sampled_at, 35000000, 45000000);
    assert_in_range(s->error_us, 2000, 20000);
}

/* Of the samples of a notification the newest one shows how late it is. */
static void older_samples_of_a_notification(void **state) {
    fixture *f = *state;
    fixture_open(f);
    for (unsigned i = 0; i < 5000; i++) {
        f->event_count = 0;
        char text[64];
        (void)snprintf(text, sizeof text, "00 %04x 00000000f00003 00 %04x 00000000f00003", (uint16_t)(i * 20),
                       (uint16_t)(i * 20 + 10));
        fixture_notify(f, H_SENSOR_DATA, text);
        f->now += 20;
    }
    assert_in_range(f->events[2].received_at - f->events[2].sampled_at, 0, 1000000);
    assert_in_range(f->events[2].sampled_at - f->events[1].sampled_at, 9990000, 10010000);
}

static void example_15_truncated(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->event_count = 0;
    fixture_notify(f, H_SENSOR_DATA, "0003e800000000f00003 0103e900");
    assert_int_equal(f->event_count, 4);
    assert_int_equal(f->events[2].kind, TENDON_BOSE_EVENT_MALFORMED);
    assert_int_equal(f->events[2].status, TENDON_ERROR_TRUNCATED);
    assert_int_equal(f->events[2].characteristic, TENDON_BOSE_SENSOR_DATA);
    assert_int_equal(f->events[2].offset, 10);
    assert_int_equal(f->events[3].kind, TENDON_BOSE_EVENT_SENSOR_DATA_END);
    assert_int_equal(f->session.counters.malformed, 1);
    fixture_notify(f, H_SENSOR_DATA, "0003ea00000000f00003"); /* the next one is taken */
    assert_int_equal(f->session.counters.samples, 2);
}

static void example_18_gesture(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_notify(f, H_GESTURE_DATA, "c12710");
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_GESTURE)->gesture.gesture_id, 0xC1);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_GESTURE)->device_ms, 10000);
    fixture_notify(f, H_GESTURE_DATA, "e92711ff"); /* unknown, one byte long */
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_GESTURE)->gesture.gesture_id, 0xE9);
    fixture_notify(f, H_GESTURE_DATA, "c127");
    assert_int_equal(f->session.counters.gestures, 2);
    assert_int_equal(f->session.counters.malformed, 1);
}

static void skipped_records_are_counted(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_notify(f, H_SENSOR_DATA, "0003e800000000f00009 0003e800000000f00001 0503e800000000f00001");
    assert_int_equal(f->session.counters.skipped, 2); /* accuracy 9; a sensor without information */
    assert_int_equal(f->session.counters.samples, 1);
    fixture_notify(f, H_SENSOR_DATA, "");
    assert_int_equal(f->session.counters.notifications, 2);
    assert_int_equal(f->session.counters.malformed, 0);
}

static void data_before_information(void **unused) {
    (void)unused;
    for (int fixed = 0; fixed < 2; fixed++) {
        void *state;
        fixture_setup(&state);
        fixture *f = state;
        f->config.fixed_profile = fixed != 0;
        fixture_init(f);
        fixture_set(f, H_SENSORS, "");
        fixture_open(f);
        fixture_notify(f, H_SENSOR_DATA, "0003e800000000f00003");
        assert_int_equal(f->session.counters.dropped, fixed ? 0 : 1);
        assert_int_equal(f->session.counters.samples, fixed ? 1 : 0);
        if (fixed) {
            assert_true(fixture_last(f, TENDON_BOSE_EVENT_SAMPLE)->sample.vector.z == -1.0);
        }
        fixture_teardown(&state);
    }
}

/* Notification before the CCCD write is answered: the session is not open yet, so it is dropped and counted (D09). */
static void data_before_open_mal_D09(void **state) {
    fixture *f = *state;
    fixture_connect(f);
    for (int i = 0; i < 200 && fixture_asked(f, 0x12, 0x1B) == 0; i++) {
        f->answer_limit = 1;
        fixture_run(f);
    }
    fixture_notify(f, H_SENSOR_DATA, "0003e800000000f00003");
    assert_int_equal(f->session.counters.dropped, 1);
    f->answer_limit = -1;
    fixture_run(f);
    assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
}

static void close_in_sample(fixture *f, const tendon_bose_event *event) {
    if (event->kind == TENDON_BOSE_EVENT_SAMPLE) {
        tendon_bose_session_close(&f->session, f->now);
    }
}

static void closed_in_the_middle_of_a_notification(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->hook = close_in_sample;
    fixture_notify(f, H_SENSOR_DATA, "0003e80010ffe0efff03 0103e80003fffd000101");
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SAMPLE), 1);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SENSOR_DATA_END), 0);
    assert_true(f->disconnect_asked);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

/* System ID and PnP ID have one length each (Device Information Service 3.6, 3.9); another one is none of them. */
static void ids_of_another_length_are_absent(void **state) {
    (void)state;
    static const char *const values[] = {
        "", "01", "010203040506", "01020304050607", "0102030405060708", "010203040506070809"};
    for (size_t i = 0; i < 6; i++) {
        for (int pnp = 0; pnp < 2; pnp++) {
            void *fresh;
            fixture_setup(&fresh);
            fixture *f = fresh;
            fixture_remove(f, 0x33, 0x3A); /* one declaration and its value are left */
            attribute *declaration = fixture_attribute(f, 0x31), *value = fixture_attribute(f, H_MODEL);
            const char *type = pnp ? "502a" : "232a";
            (void)unhex(type, declaration->value + 3, 2);
            value->type_length = unhex(type, value->type, sizeof value->type);
            value->length = unhex(values[i], value->value, sizeof value->value);
            fixture_open(f);
            assert_int_equal(f->session.strings.has_system_id, !pnp && i == 4);
            assert_int_equal(f->session.strings.has_pnp_id, pnp && i == 3);
            fixture_teardown(&fresh);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_of_another_length_are_absent),
        T(example_13_two_records),
        T(samples_have_the_time_of_their_measurement),
        T(older_samples_of_a_notification),
        T(example_15_truncated),
        T(example_18_gesture),
        T(skipped_records_are_counted),
        cmocka_unit_test(data_before_information),
        T(data_before_open_mal_D09),
        T(closed_in_the_middle_of_a_notification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
