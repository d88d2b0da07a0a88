/* SPDX-License-Identifier: MIT */
/* An open Bose session: configurations, reading again, suspension. */
#include "bose_fixture.h"

#include <stdlib.h>
#include <string.h>

/* ---- configurations ---- */

static void example_07_written_and_read_again(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->event_count = 0;
    f->log_count = 0;
    fixture_configure(f, 2, 40);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000000 010000 020028 030000");
    assert_int_equal(f->event_count, 2);
    assert_int_equal(f->events[0].kind, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_WRITTEN);
    assert_int_equal(f->events[1].kind, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION);
    assert_int_equal(f->log_count, 2);
    assert_int_equal(f->log[0], 0x120017);
    assert_int_equal(f->log[1], 0x0A0017);
    assert_int_equal(f->session.sensor_configuration.settings[2].period_ms, 40);
}

static void example_17_gestures(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->event_count = 0;
    fixture_configure_gesture(f, 0xC1, true);
    fixture_run(f);
    fixture_assert_value(f, H_GESTURE_CONFIG, "8100 8200 8300 c000 c101 c200");
    assert_int_equal(f->events[0].kind, TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_WRITTEN);
    assert_int_equal(f->events[1].kind, TENDON_BOSE_EVENT_GESTURE_CONFIGURATION);
}

/* What the device made of it counts, not what was written. */
static void the_value_read_again_counts(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->keeps_written = false;
    fixture_configure(f, 2, 40);
    fixture_run(f);
    assert_int_equal(f->session.sensor_configuration.settings[2].period_ms, 0);
}

static void example_20_every_application_error(void **unused) {
    (void)unused;
    for (unsigned code = 0; code <= 0xFF; code++) {
        tendon_status status = code < 0x80 || code > 0x9F ? TENDON_ATT_ERROR(code)
                               : code <= 0x86             ? TENDON_STATUS(TENDON_LAYER_BOSE, code)
                                                          : TENDON_BOSE_ERROR_DEVICE_UNKNOWN;
        assert_int_equal(tendon_bose_status_from_att(TENDON_ATT_ERROR(code)), status);
        /* other layers keep their statuses */
        assert_int_equal(tendon_bose_status_from_att(TENDON_SYSTEM_ERROR((int)code)), TENDON_SYSTEM_ERROR((int)code));
        assert_int_equal(tendon_bose_status_from_att((tendon_status)code), code);
    }
    static const struct {
        uint8_t code;
        tendon_status status;
    } cases[] = {{0x80, TENDON_BOSE_ERROR_INVALID_REQUEST_LENGTH},
                 {0x81, TENDON_BOSE_ERROR_INVALID_SAMPLE_PERIOD},
                 {0x82, TENDON_BOSE_ERROR_INVALID_SENSOR_CONFIGURATION},
                 {0x83, TENDON_BOSE_ERROR_CONFIG_EXCEEDS_MAX_THROUGHPUT},
                 {0x84, TENDON_BOSE_ERROR_SERVICE_UNAVAILABLE},
                 {0x85, TENDON_BOSE_ERROR_INVALID_SENSOR},
                 {0x86, TENDON_BOSE_ERROR_DEVICE_TIMEOUT},
                 {0x9F, TENDON_BOSE_ERROR_DEVICE_UNKNOWN},
                 {0x90, TENDON_BOSE_ERROR_DEVICE_UNKNOWN},
                 {0x03, TENDON_ATT_ERROR(0x03)}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int gestures = 0; gestures < 2; gestures++) {
            void *state;
            fixture_setup(&state);
            fixture *f = state;
            fixture_open(f);
            f->event_count = 0;
            f->failure.opcode = 0x12;
            f->failure.handle = gestures ? H_GESTURE_CONFIG : H_SENSOR_CONFIG;
            f->failure.code = cases[i].code;
            if (gestures) {
                fixture_configure_gesture(f, 0x81, true);
            } else {
                fixture_configure(f, 0, 80);
            }
            fixture_run(f);
            assert_int_equal(f->event_count, 1);
            assert_int_equal(f->events[0].kind, gestures ? TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED
                                                         : TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED);
            assert_int_equal(f->events[0].status, cases[i].status);
            assert_int_equal(tendon_bose_enabled_period(&f->session.sensor_configuration), 0); /* unchanged */
            assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
            fixture_teardown(&state);
        }
    }
}

/* One write on the air; of those that wait, the latest. Each characteristic by itself. */
static void the_latest_waiting_write_replaces(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->event_count = 0;
    f->log_count = 0;
    f->mute = true;
    f->session.configurations = UINT16_MAX; /* 0 is no number */
    fixture_configure(f, 0, 320);
    assert_int_equal(f->session.configurations, 1);
    fixture_configure(f, 1, 160);
    fixture_configure_gesture(f, 0x81, true);
    fixture_configure(f, 2, 80);
    fixture_configure_gesture(f, 0x82, true);
    assert_int_equal(f->session.configurations, 5);
    assert_int_equal(f->log_count, 1);
    f->mute = false;
    fixture_run(f);
    assert_int_equal(fixture_asked(f, 0x12, H_SENSOR_CONFIG), 2);
    assert_int_equal(fixture_asked(f, 0x12, H_GESTURE_CONFIG), 1);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000000 010000 020050 030000");
    fixture_assert_value(f, H_GESTURE_CONFIG, "8100 8201 8300 c000 c100 c200");
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_WRITTEN), 2);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION), 2);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_WRITTEN), 1);
    /* each outcome has the number of its configuration */
    uint32_t numbers[3] = {0};
    size_t count = 0;
    for (size_t i = 0; i < f->event_count; i++) {
        bool written = f->events[i].kind == TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_WRITTEN ||
                       f->events[i].kind == TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_WRITTEN;
        assert_true(written || f->events[i].configuration == 0);
        if (written && count < 3) {
            numbers[count++] = f->events[i].configuration;
        }
    }
    assert_int_equal(numbers[0], 1);
    assert_int_equal(numbers[1], 4);
    assert_int_equal(numbers[2], 5);
}

/* Closing: first the outcome of what waits, then of what is in flight. */
static void closing_decides_all(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->mute = true;
    fixture_configure(f, 0, 320);
    fixture_configure(f, 1, 160);
    fixture_configure_gesture(f, 0x81, true);
    (void)tendon_bose_session_close(&f->session, f->now);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED)->configuration, 2);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED)->configuration, 3);
    fixture_advance(f, 20000);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED), 2);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED)->configuration, 1);
}

static void a_write_without_an_answer(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->mute = true;
    fixture_configure(f, 0, 320);
    fixture_advance(f, 4999);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED), 0);
    fixture_advance(f, 1);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED)->status, TENDON_ERROR_TIMEOUT);
    assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
}

static void a_long_list_at_mtu_23(void **state) {
    fixture *f = *state;
    f->mtu = 23;
    fixture_set(f, H_SENSOR_CONFIG, "000000 010000 020000 030000 040000 050000 060000");
    fixture_open(f);
    fixture_configure(f, 6, 20);
    fixture_run(f);
    assert_int_equal(fixture_asked(f, 0x12, H_SENSOR_CONFIG), 0);
    assert_true(fixture_asked(f, 0x16, H_SENSOR_CONFIG) > 0);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000000 010000 020000 030000 040000 050000 060014");
}

static void a_reread_that_cannot_be_parsed(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->event_count = 0;
    f->keeps_written = false;
    fixture_set(f, H_GESTURE_CONFIG, "810082");
    fixture_configure_gesture(f, 0x81, true);
    fixture_run(f);
    assert_int_equal(f->events[0].kind, TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_WRITTEN);
    assert_int_equal(f->events[1].kind, TENDON_BOSE_EVENT_MALFORMED);
    assert_int_equal(f->events[2].kind, TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED);
    assert_int_equal(f->events[2].status, TENDON_BOSE_ERROR_INVALID_RESPONSE);
}

static void other_lists_are_refused(void **state) {
    fixture *f = *state;
    fixture_open(f);
    tendon_bose_sensor_configuration sensors = f->session.sensor_configuration;
    sensors.count--;
    assert_int_equal(tendon_bose_session_configure_sensors(&f->session, &sensors, f->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    sensors = f->session.sensor_configuration;
    sensors.settings[0].sensor_id = 5;
    assert_int_equal(tendon_bose_session_configure_sensors(&f->session, &sensors, f->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    tendon_bose_gesture_configuration gestures = f->session.gesture_configuration;
    gestures.entries[1].gesture_id = 0x84;
    assert_int_equal(tendon_bose_session_configure_gestures(&f->session, &gestures, f->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    gestures = f->session.gesture_configuration;
    gestures.length--;
    assert_int_equal(tendon_bose_session_configure_gestures(&f->session, &gestures, f->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    gestures = f->session.gesture_configuration;
    sensors = f->session.sensor_configuration; /* what stands behind a list is not part of it */
    sensors.settings[sensors.count].sensor_id ^= 1;
    assert_int_equal(tendon_bose_session_configure_sensors(&f->session, &sensors, f->now), TENDON_OK);
    gestures.entries[gestures.count].gesture_id ^= 1;
    assert_int_equal(tendon_bose_session_configure_gestures(&f->session, &gestures, f->now), TENDON_OK);
    gestures.count--; /* the same bytes, read as fewer entries */
    assert_int_equal(tendon_bose_session_configure_gestures(&f->session, &gestures, f->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
}

static void one_sensor_is_enabled_in_the_last_list(void **state) {
    fixture *f = *state;
    assert_int_equal(tendon_bose_session_enable(&f->session, 2, 40, f->now), TENDON_ERROR_WRONG_STATE);
    fixture_open(f);
    assert_int_equal(tendon_bose_session_enable(&f->session, 9, 40, f->now), TENDON_BOSE_ERROR_UNKNOWN_SENSOR);
    assert_int_equal(tendon_bose_session_enable(&f->session, 2, 41, f->now), TENDON_BOSE_ERROR_INVALID_PERIOD);
    assert_int_equal(tendon_bose_session_enable(&f->session, 2, 40, f->now), TENDON_OK);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000000010000020028030000");
}

/* 17 entries are more than our table: they are shown in part and never written. */
static void a_list_that_we_hold_in_part(void **state) {
    fixture *f = *state;
    attribute *a = fixture_attribute(f, H_SENSOR_CONFIG);
    a->length = 17 * 3;
    memset(a->value, 0, a->length);
    fixture_open(f);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_MALFORMED)->status, TENDON_ERROR_TABLE_FULL);
    assert_int_equal(tendon_bose_session_configure_sensors(&f->session, &f->session.sensor_configuration, f->now),
                     TENDON_BOSE_ERROR_MISSING_REQUIRED_DATA);
    f->session.has_gesture_configuration = false;
    assert_int_equal(tendon_bose_session_configure_gestures(&f->session, &f->session.gesture_configuration, f->now),
                     TENDON_BOSE_ERROR_MISSING_REQUIRED_DATA);
}

static void somebody_else_changes_the_configuration(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_notify(f, H_SENSOR_CONFIG, "000014 010000 020000 030000");
    assert_int_equal(f->session.sensor_configuration.settings[0].period_ms, 20);
    fixture_notify(f, H_GESTURE_CONFIG, "8101 8200 8300 c000 c100 c200");
    assert_true(f->session.gesture_configuration.entries[0].enabled);
    /* A malformed one changes nothing, is counted and told. */
    fixture_notify(f, H_GESTURE_CONFIG, "8100 82");
    assert_true(f->session.gesture_configuration.entries[0].enabled);
    assert_int_equal(f->session.counters.malformed, 1);
    /* So is what they disabled of ours and enabled again. */
    fixture_configure(f, 2, 40);
    fixture_configure_gesture(f, 0x82, true);
    fixture_run(f);
    fixture_notify(f, H_SENSOR_CONFIG, "000014 010000 020000 030000");
    fixture_notify(f, H_SENSOR_CONFIG, "000014 010000 020014 030000");
    fixture_notify(f, H_GESTURE_CONFIG, "8101 8200 8300 c000 c100 c200");
    fixture_notify(f, H_GESTURE_CONFIG, "8101 8201 8300 c000 c100 c200");
    /* What they enabled is theirs: closing leaves it alone. */
    f->log_count = 0;
    tendon_bose_session_close(&f->session, f->now);
    fixture_run(f);
    assert_int_equal(f->log_count, 0);
    assert_true(f->disconnect_asked);
}

static void refresh_reads_again(void **state) {
    fixture *f = *state;
    fixture_open(f);
    static const struct {
        tendon_bose_characteristic which;
        uint16_t handle;
        tendon_bose_event_kind kind;
    } cases[] = {
        {TENDON_BOSE_DEVICE_INFORMATION, H_DEVICE, TENDON_BOSE_EVENT_DEVICE_INFORMATION},
        {TENDON_BOSE_SENSOR_INFORMATION, H_SENSORS, TENDON_BOSE_EVENT_SENSOR_INFORMATION},
        {TENDON_BOSE_SENSOR_CONFIGURATION, H_SENSOR_CONFIG, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION},
        {TENDON_BOSE_GESTURE_INFORMATION, H_GESTURES, TENDON_BOSE_EVENT_GESTURE_INFORMATION},
        {TENDON_BOSE_GESTURE_CONFIGURATION, H_GESTURE_CONFIG, TENDON_BOSE_EVENT_GESTURE_CONFIGURATION},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->event_count = 0;
        f->log_count = 0;
        assert_int_equal(tendon_bose_session_refresh(&f->session, cases[i].which, f->now), TENDON_OK);
        fixture_run(f);
        assert_int_equal(fixture_asked(f, 0x0A, cases[i].handle), 1);
        assert_int_equal(f->event_count, 1);
        assert_int_equal(f->events[0].kind, cases[i].kind);
        f->failure.opcode = 0x0A;
        f->failure.handle = cases[i].handle;
        f->failure.code = 0x84;
        assert_int_equal(tendon_bose_session_refresh(&f->session, cases[i].which, f->now), TENDON_OK);
        fixture_run(f);
        assert_int_equal(f->event_count, 2);
        assert_int_equal(f->events[1].kind, TENDON_BOSE_EVENT_MALFORMED);
        assert_int_equal(f->events[1].status, TENDON_BOSE_ERROR_SERVICE_UNAVAILABLE);
        f->failure.opcode = 0;
    }
    assert_int_equal(tendon_bose_session_refresh(&f->session, TENDON_BOSE_SENSOR_DATA, f->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_bose_session_refresh(&f->session, TENDON_BOSE_GESTURE_DATA, f->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_bose_session_refresh(&f->session, TENDON_BOSE_CHARACTERISTIC_COUNT, f->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
}

/* The strings of 180A, all that the device has, and one event after the last one. */
static void texts_are_read_again(void **state) {
    fixture *f = *state;
    fixture_open(f);
    size_t there = 0;
    for (size_t row = TENDON_BOSE_CHARACTERISTIC_COUNT; row < (size_t)TENDON_BOSE_ROWS; row++) {
        there += f->session.kept.found[row].value != 0;
    }
    assert_true(there > 0);
    memset(&f->session.strings.strings[TENDON_BOSE_STRING_FIRMWARE], 0, sizeof f->session.strings.strings[0]);
    f->event_count = 0;
    f->log_count = 0;
    assert_int_equal(tendon_bose_session_refresh_strings(&f->session, f->now), TENDON_OK);
    fixture_run(f);
    for (size_t row = TENDON_BOSE_CHARACTERISTIC_COUNT; row < (size_t)TENDON_BOSE_ROWS; row++) {
        if (f->session.kept.found[row].value != 0) {
            assert_int_equal(fixture_asked(f, 0x0A, f->session.kept.found[row].value), 1);
        }
    }
    assert_int_equal(f->event_count, 1);
    assert_int_equal(f->events[0].kind, TENDON_BOSE_EVENT_DEVICE_STRINGS);
    assert_true(f->session.strings.strings[TENDON_BOSE_STRING_FIRMWARE].present);
    for (size_t row = TENDON_BOSE_CHARACTERISTIC_COUNT; row < (size_t)TENDON_BOSE_ROWS; row++) {
        f->session.kept.found[row].value = 0;
    }
    assert_int_equal(tendon_bose_session_refresh_strings(&f->session, f->now), TENDON_ERROR_NOT_FOUND);
}

/* ---- suspension ---- */

static void suspended_already_at_opening(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_SUSPENDED);
    assert_int_equal(f->events[f->event_count - 2].kind, TENDON_BOSE_EVENT_OPENED);
    assert_int_equal(f->events[f->event_count - 1].kind, TENDON_BOSE_EVENT_SUSPENDED);
    assert_int_equal(f->events[f->event_count - 1].reason, TENDON_BOSE_SUSPENSION_VOICE_ASSISTANT);
}

static void suspended_resumed_and_another_reason(void **state) {
    fixture *f = *state;
    fixture_open(f);
    f->event_count = 0;
    fixture_status(f, 0x1008);
    fixture_status(f, 0x1008); /* nothing new */
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SUSPENDED), 1);
    fixture_status(f, 0x2008);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SUSPENDED), 2);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_SUSPENDED)->reason, TENDON_BOSE_SUSPENSION_MULTIPOINT);
    fixture_status(f, 0x3000);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_RESUMED), 1);
    fixture_run(f);
    assert_int_equal(f->session.state, TENDON_BOSE_OPEN);
    assert_int_equal(fixture_count(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION), 0); /* nothing to apply again */
}

static void what_was_cleared_is_applied_again(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_run(f);
    fixture_status(f, 0x1008);
    fixture_set(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    fixture_notify(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    f->log_count = 0;
    fixture_run(f);
    assert_int_equal(f->log_count, 0); /* not while suspended */
    fixture_status(f, 0x0000);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000000 010000 020028 030000");
    assert_int_equal(fixture_asked(f, 0x12, H_SENSOR_CONFIG), 1);
}

/* The device clears #3 before it reports the suspension: what we wrote counts, not what it shows. */
static void what_was_cleared_before_the_suspension_is_applied_again(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_run(f);
    fixture_set(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    fixture_notify(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    fixture_status(f, 0x1008);
    fixture_run(f);
    fixture_status(f, 0x0000);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000000 010000 020028 030000");
}

/* The device notifies what was written before it answers the write. */
static void what_was_notified_before_the_response_is_applied_again(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_notify(f, H_SENSOR_CONFIG, "000000 010000 020028 030000");
    fixture_run(f);
    fixture_status(f, 0x1008);
    fixture_set(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    fixture_notify(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    fixture_run(f);
    fixture_status(f, 0x0000);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000000 010000 020028 030000");
}

/* Sensors are known by their id, whatever the order of the device's list is. */
static void a_list_in_another_order_moves_nothing(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_run(f);
    fixture_status(f, 0x1008);
    fixture_set(f, H_SENSOR_CONFIG, "030000 020000 010000 000000");
    fixture_notify(f, H_SENSOR_CONFIG, "030000 020000 010000 000000");
    fixture_status(f, 0x0000);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "030000 020028 010000 000000");
    fixture_set(f, H_SENSOR_CONFIG, "020028 030028 010000 000000"); /* 3 is of another central */
    fixture_notify(f, H_SENSOR_CONFIG, "020028 030028 010000 000000");
    assert_int_equal(tendon_bose_session_close(&f->session, f->now), TENDON_OK);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "020000 030028 010000 000000");
}

/* Seven sensors and the default MTU: a notification has 20 of 21 bytes. The list is read again before it is written. */
static void a_truncated_list_is_no_base_for_a_write(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_set(f, H_SENSOR_CONFIG, "000000 010000 020000 030014");
    fixture_notify(f, H_SENSOR_CONFIG, "000000 010000 020000 0300");
    assert_int_equal(tendon_bose_session_enable(&f->session, 0, 20, f->now), TENDON_BOSE_ERROR_MISSING_REQUIRED_DATA);
    fixture_run(f);
    assert_int_equal(tendon_bose_session_enable(&f->session, 0, 20, f->now), TENDON_OK);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000014 010000 020000 030014");
}

static void what_was_not_cleared_is_left_alone(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_run(f);
    fixture_status(f, 0x1008);
    f->log_count = 0;
    fixture_status(f, 0x0000);
    fixture_run(f);
    assert_int_equal(fixture_asked(f, 0x12, H_SENSOR_CONFIG), 0);
    assert_int_equal(fixture_asked(f, 0x0A, H_SENSOR_CONFIG), 1);
}

/* Suspended again before the reading that was to decide: what we had is not forgotten. */
static void suspended_again_at_once(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 1, 20);
    fixture_run(f);
    fixture_status(f, 0x1008);
    fixture_set(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    fixture_notify(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    f->mute = true;
    fixture_status(f, 0x0000);
    fixture_status(f, 0x1008);
    f->mute = false;
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    fixture_status(f, 0x0000);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000000 010014 020000 030000");
}

/* What is enabled while the service is suspended counts as ours: it is enabled again after the suspension. */
static void enabled_while_suspended(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_SUSPENDED);
    fixture_configure(f, 0, 20);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000014 010000 020000 030000");
    fixture_set(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    fixture_notify(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    fixture_status(f, 0x0000);
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000014 010000 020000 030000");
}

/* Applied again once: what the program disables afterwards stays disabled. */
static void disabled_after_a_suspension(void **state) {
    fixture *f = *state;
    fixture_open(f);
    fixture_configure(f, 2, 40);
    fixture_run(f);
    fixture_status(f, 0x1008);
    fixture_status(f, 0x0000);
    fixture_run(f);
    tendon_bose_sensor_configuration configuration = f->session.sensor_configuration;
    configuration.settings[2].period_ms = 0;
    assert_int_equal(tendon_bose_session_configure_sensors(&f->session, &configuration, f->now), TENDON_OK);
    f->log_count = 0;
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    fixture_notify(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    fixture_run(f);
    fixture_assert_value(f, H_SENSOR_CONFIG, "000000 010000 020000 030000");
    assert_int_equal(f->session.work.pending, 0);
}

static void a_write_while_suspended(void **state) {
    fixture *f = *state;
    fixture_reach(f, TENDON_BOSE_SUSPENDED);
    f->failure.opcode = 0x12;
    f->failure.handle = H_SENSOR_CONFIG;
    f->failure.code = 0x84;
    fixture_configure(f, 0, 20);
    fixture_run(f);
    assert_int_equal(fixture_last(f, TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED)->status,
                     TENDON_BOSE_ERROR_SERVICE_UNAVAILABLE);
    assert_int_equal(f->session.state, TENDON_BOSE_SUSPENDED);
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(example_07_written_and_read_again),
        T(example_17_gestures),
        T(the_value_read_again_counts),
        cmocka_unit_test(example_20_every_application_error),
        T(the_latest_waiting_write_replaces),
        T(closing_decides_all),
        T(a_write_without_an_answer),
        T(a_long_list_at_mtu_23),
        T(a_reread_that_cannot_be_parsed),
        T(other_lists_are_refused),
        T(one_sensor_is_enabled_in_the_last_list),
        T(a_list_that_we_hold_in_part),
        T(somebody_else_changes_the_configuration),
        T(refresh_reads_again),
        T(texts_are_read_again),
        T(suspended_already_at_opening),
        T(suspended_resumed_and_another_reason),
        T(what_was_cleared_is_applied_again),
        T(what_was_cleared_before_the_suspension_is_applied_again),
        T(what_was_notified_before_the_response_is_applied_again),
        T(a_list_in_another_order_moves_nothing),
        T(a_truncated_list_is_no_base_for_a_write),
        T(what_was_not_cleared_is_left_alone),
        T(suspended_again_at_once),
        T(enabled_while_suspended),
        T(disabled_after_a_suspension),
        T(a_write_while_suspended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
