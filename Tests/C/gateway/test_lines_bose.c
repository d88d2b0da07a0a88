/* SPDX-License-Identifier: MIT */
/* Lines of Bose wearables: each kind of event has one, or is said to have none. */
#include "gateway_fixture.h"

#include <math.h>

static tendon_bose_session session;
static tendon_bose_event event;

static tendon_status write_event(tendon_line *line, void *context) {
    (void)context;
    static const tendon_line_device device = {.family = "bose"};
    return tendon_bose_line(line, &device, 0, &session, &event);
}

static const char *line(void) {
    return line_of(write_event, NULL);
}

static tendon_status write_identity(tendon_line *out, void *context) {
    (void)context;
    tendon_line_begin(out, "connected", 0, NULL);
    tendon_bose_identity(out, &session);
    return tendon_line_end(out);
}

static int reset(void **state) {
    (void)state;
    session = (tendon_bose_session){0};
    event = (tendon_bose_event){0};
    return 0;
}

static tendon_bose_sample sample;

static void sample_of(tendon_bose_sample one) {
    sample = one;
    event.kind = TENDON_BOSE_EVENT_SAMPLE;
    event.sample = &sample;
    event.device_ms = 70000;
}

static void vectors(void **state) {
    (void)state;
    sample_of((tendon_bose_sample){.sensor_id = TENDON_BOSE_ACCELEROMETER,
                                   .has_vector = true,
                                   .has_accuracy = true,
                                   .accuracy = 3,
                                   .vector = {0.00004, -1.00005, 1.23456}});
    assert_string_equal(line(), "\"sample\",\"family\":\"bose\",\"sensor\":\"accelerometer\",\"device_time_ms\":70000,"
                                "\"acceleration_g\":[0,-1.0001,1.2346],\"accuracy\":\"high\"}");
    sample_of((tendon_bose_sample){.sensor_id = TENDON_BOSE_GYROSCOPE,
                                   .has_vector = true,
                                   .has_bias = true,
                                   .vector = {-100.126, 0, 2000},
                                   .bias = {0.5, 0.25, 0.125}});
    event.received_at = 5000000000;
    event.sampled_at = 4990000000;
    event.error_us = 1500;
    assert_string_equal(line(), "\"sample\",\"family\":\"bose\",\"sensor\":\"gyroscope\",\"device_time_ms\":70000,"
                                "\"received_at\":5,\"sampled_at\":4.99,\"error_ms\":1.5,"
                                "\"rotation_deg_per_s\":[-100.13,0,2000],\"bias_deg_per_s\":[0.5,0.25,0.13]}");
    event.received_at = 0;
    sample_of((tendon_bose_sample){.sensor_id = TENDON_BOSE_MAGNETOMETER,
                                   .has_vector = true,
                                   .has_bias = true,
                                   .has_accuracy = true,
                                   .accuracy = 9,
                                   .vector = {1, 2, 3},
                                   .bias = {4, 5, 6}});
    assert_string_equal(line(), "\"sample\",\"family\":\"bose\",\"sensor\":\"magnetometer\",\"device_time_ms\":70000,"
                                "\"vector\":[1,2,3],\"bias\":[4,5,6],\"accuracy\":\"unknown\"}");
}

static void quaternions(void **state) {
    (void)state;
    tendon_bose_sample one = {.sensor_id = TENDON_BOSE_ROTATION,
                              .has_quaternion = true,
                              .has_accuracy = true,
                              .accuracy_rad = 0.12345,
                              .quaternion = {0, 0, 0.70710678118654752, 0.70710678118654752}};
    sample_of(one);
    assert_string_equal(line(), "\"sample\",\"family\":\"bose\",\"sensor\":\"rotation\",\"device_time_ms\":70000,"
                                "\"quaternion\":[0,0,0.70711,0.70711],\"pitch_deg\":180,\"roll_deg\":0,\"yaw_deg\":-90,"
                                "\"accuracy_rad\":0.1235}");
    /* an accuracy that is not known has no member */
    one.accuracy_unknown = true;
    sample_of(one);
    assert_null(strstr(line(), "accuracy"));
    one.accuracy_unknown = false;
    one.accuracy_rad = 1.0 / 0.0;
    sample_of(one);
    assert_null(strstr(line(), "accuracy"));
    /* no rotation: there are no angles */
    one.quaternion = (tendon_quaternion){0, 0, 0.5, 0.5};
    one.has_accuracy = false;
    sample_of(one);
    assert_string_equal(line(), "\"sample\",\"family\":\"bose\",\"sensor\":\"rotation\",\"device_time_ms\":70000,"
                                "\"quaternion\":[0,0,0.5,0.5],\"pitch_deg\":null,\"roll_deg\":null,\"yaw_deg\":null,"
                                "\"norm\":0.70711}");
    /* looking straight up */
    one.quaternion = (tendon_quaternion){0, 0.70710678118654752, 0, 0.70710678118654752};
    sample_of(one);
    assert_non_null(strstr(line(), "\"near_gimbal_lock\":true}"));
    assert_non_null(strstr(whole_line(write_event, NULL, true), "\"quaternion\":[0.0,0.7071067811865476,0.0,"));
}

/* Where a vector of the head points in the world: X east, Y north, Z up. */
static tendon_quaternion turned(tendon_quaternion q, double x, double y, double z) {
    const tendon_quaternion vector = {x, y, z, 0};
    return tendon_quaternion_multiply(tendon_quaternion_multiply(q, vector), tendon_quaternion_conjugate(q));
}

/* What docs/events.md says about quaternion and signs of angles. The head has X to the right, Y to the back, Z down. */
static void which_way_positive_turns(void **state) {
    (void)state;
    const double s = 0.70710678118654752, half = 0.25881904510252074,
                 rest = 0.96592582628906831; /* 90 and 30 degrees */
    const tendon_quaternion north = {1, 0, 0, 0}, east = {s, -s, 0, 0};
    const tendon_quaternion up = tendon_quaternion_multiply((tendon_quaternion){half, 0, 0, rest}, north);
    const tendon_quaternion left = tendon_quaternion_multiply((tendon_quaternion){0, -half, 0, rest}, north);
    tendon_angles angles;
    assert_true(turned(north, 0, -1, 0).y > 0.999 && turned(north, 0, 0, -1).z > 0.999);
    assert_true(tendon_bose_head(&north, &angles));
    assert_true(fabs(angles.yaw) + fabs(angles.pitch) + fabs(angles.roll) < 1e-9);
    assert_true(turned(east, 0, -1, 0).x > 0.999 && turned(east, 0, 0, -1).z > 0.999);
    assert_true(tendon_bose_head(&east, &angles));
    assert_true(fabs(angles.yaw - 90) + fabs(angles.pitch) + fabs(angles.roll) < 1e-9);
    assert_true(turned(up, 0, -1, 0).z > 0.499); /* the front looks up */
    assert_true(tendon_bose_head(&up, &angles));
    assert_true(fabs(angles.yaw) + fabs(angles.pitch - 30) + fabs(angles.roll) < 1e-9);
    assert_true(turned(left, 0, 0, -1).x < -0.499); /* the top leans to the west, which is left */
    assert_true(tendon_bose_head(&left, &angles));
    assert_true(fabs(angles.yaw) + fabs(angles.pitch) + fabs(angles.roll - 30) < 1e-9);
}

static void samples_may_be_missed(void **state) {
    (void)state;
    char out[400];
    tendon_line one;
    tendon_line_init(&one, out, sizeof out, false);
    sample_of((tendon_bose_sample){.sensor_id = TENDON_BOSE_ACCELEROMETER, .has_vector = true});
    assert_true(write_event(&one, NULL) > 0);
    assert_true(one.is_sample);
    event = (tendon_bose_event){.kind = TENDON_BOSE_EVENT_RESUMED};
    assert_true(write_event(&one, NULL) > 0);
    assert_false(one.is_sample);
}

static void gestures(void **state) {
    (void)state;
    event = (tendon_bose_event){.kind = TENDON_BOSE_EVENT_GESTURE,
                                .device_ms = 12,
                                .received_at = 1500000,
                                .gesture.gesture_id = TENDON_BOSE_DOUBLE_TAP};
    assert_string_equal(line(), "\"gesture\",\"family\":\"bose\",\"gesture\":\"double_tap\",\"gesture_id\":129,"
                                "\"device_time_ms\":12,\"received_at\":0.0015}");
}

static void configurations(void **state) {
    (void)state;
    event.kind = TENDON_BOSE_EVENT_SENSOR_CONFIGURATION;
    assert_string_equal(line(), ""); /* nothing was read yet */
    session.has_sensor_configuration = true;
    session.sensor_configuration =
        (tendon_bose_sensor_configuration){.settings = {{0, 0}, {1, 20}, {3, 20}}, .count = 3};
    assert_string_equal(line(), "\"sensor_configuration\",\"family\":\"bose\",\"enabled\":[\"gyroscope\","
                                "\"game_rotation\"],\"period_ms\":20}");
    session.sensor_configuration.count = 1;
    assert_string_equal(line(), "\"sensor_configuration\",\"family\":\"bose\",\"enabled\":[],\"period_ms\":null}");
    session.sensor_configuration = (tendon_bose_sensor_configuration){.settings = {{0, 33}}, .count = 1};
    assert_string_equal(line(), "\"sensor_configuration\",\"family\":\"bose\",\"enabled\":[\"accelerometer\"],"
                                "\"period_ms\":33}"); /* no period of the document: it is shown as it came */
    event.kind = TENDON_BOSE_EVENT_GESTURE_CONFIGURATION;
    assert_string_equal(line(), "");
    session.has_gesture_configuration = true;
    session.gesture_configuration.count = 2;
    session.gesture_configuration.entries[0].gesture_id = TENDON_BOSE_HEAD_NOD;
    session.gesture_configuration.entries[1].gesture_id = TENDON_BOSE_INPUT;
    session.gesture_configuration.entries[1].enabled = true;
    assert_string_equal(line(), "\"gesture_configuration\",\"family\":\"bose\",\"enabled\":[\"input\"]}");
}

static void failures(void **state) {
    (void)state;
    event = (tendon_bose_event){.kind = TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_FAILED,
                                .status = TENDON_BOSE_ERROR_INVALID_SAMPLE_PERIOD};
    assert_string_equal(line(), "\"configuration_failed\",\"family\":\"bose\","
                                "\"text\":\"the device rejected the sample period\"}");
    event.kind = TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_FAILED;
    event.status = TENDON_ERROR_TIMEOUT;
    assert_string_equal(line(), "\"configuration_failed\",\"family\":\"bose\","
                                "\"text\":\"write: the deadline passed (ERROR_TIMEOUT)\"}");
    /* it is configured when it resumes; the program has ended it */
    event.status = TENDON_BOSE_ERROR_SERVICE_UNAVAILABLE;
    assert_string_equal(line(), "");
    event.status = TENDON_ERROR_CANCELLED;
    assert_string_equal(line(), "");
    event = (tendon_bose_event){.kind = TENDON_BOSE_EVENT_MALFORMED, .status = TENDON_ERROR_TRUNCATED};
    assert_string_equal(line(), "\"malformed\",\"family\":\"bose\",\"error\":\"ERROR_TRUNCATED\","
                                "\"text\":\"the input ends in the middle of a field\"}");
}

static void pairing(void **state) {
    (void)state;
    event.kind = TENDON_BOSE_EVENT_REQUIRES_PAIRING_MODE;
    assert_string_equal(line(), "\"pairing\",\"family\":\"bose\",\"state\":\"wanted\"}");
    event.kind = TENDON_BOSE_EVENT_PAIRING_FINISHED;
    assert_string_equal(line(), "\"pairing\",\"family\":\"bose\",\"state\":\"done\"}");
    event.status = TENDON_RADIO_ERROR_PAIRING_FAILED;
    assert_string_equal(line(), "\"pairing\",\"family\":\"bose\",\"state\":\"failed\",\"text\":\"pair: pairing was "
                                "rejected or failed (RADIO_ERROR_PAIRING_FAILED)\"}");
    event.status = TENDON_BOSE_ERROR_BONDING_FAILED;
    assert_string_equal(line(), "\"pairing\",\"family\":\"bose\",\"state\":\"failed\",\"text\":\"pairing was rejected "
                                "or failed\"}");
}

static void suspension(void **state) {
    (void)state;
    event.kind = TENDON_BOSE_EVENT_SUSPENDED;
    event.reason = TENDON_BOSE_SUSPENSION_MUSIC_SHARE;
    assert_string_equal(line(), "\"suspended\",\"family\":\"bose\",\"reason\":\"music_share\"}");
    event.kind = TENDON_BOSE_EVENT_RESUMED;
    assert_string_equal(line(), "\"resumed\",\"family\":\"bose\"}");
}

static void all_others_have_none(void **state) {
    (void)state;
    static const tendon_bose_event_kind none[] = {
        TENDON_BOSE_EVENT_OPENED,
        TENDON_BOSE_EVENT_OPEN_FAILED,
        TENDON_BOSE_EVENT_CLOSED,
        TENDON_BOSE_EVENT_PAIRING_STARTED,
        TENDON_BOSE_EVENT_DEVICE_STRINGS,
        TENDON_BOSE_EVENT_DEVICE_INFORMATION,
        TENDON_BOSE_EVENT_SENSOR_INFORMATION,
        TENDON_BOSE_EVENT_SENSOR_CONFIGURATION_WRITTEN,
        TENDON_BOSE_EVENT_SENSOR_DATA,
        TENDON_BOSE_EVENT_SENSOR_DATA_END,
        TENDON_BOSE_EVENT_GESTURE_INFORMATION,
        TENDON_BOSE_EVENT_GESTURE_CONFIGURATION_WRITTEN,
    };
    unsigned without = 0;
    session.has_sensor_configuration = session.has_gesture_configuration = true;
    for (unsigned kind = 0; kind <= TENDON_BOSE_EVENT_MALFORMED; kind++) {
        sample_of((tendon_bose_sample){0});
        event.kind = (tendon_bose_event_kind)kind;
        bool has_line = line()[0] != '\0';
        bool is_listed = without < sizeof none / sizeof none[0] && none[without] == event.kind;
        without += is_listed ? 1 : 0;
        assert_int_equal(has_line, !is_listed);
    }
    assert_int_equal(without, sizeof none / sizeof none[0]);
}

static void identity(void **state) {
    (void)state;
    assert_string_equal(line_of(write_identity, NULL),
                        "\"connected\",\"product\":null,\"firmware\":null,\"sensors\":[],\"gestures\":[]}");
    session.has_device = session.has_sensors = session.has_gestures = true;
    session.device.product_id = 0x402C;
    memcpy(session.strings.strings[TENDON_BOSE_STRING_FIRMWARE].bytes, "1.0\n2", 5);
    session.strings.strings[TENDON_BOSE_STRING_FIRMWARE].length = 5;
    session.strings.strings[TENDON_BOSE_STRING_FIRMWARE].present = true;
    session.sensors.count = 2;
    session.sensors.records[1].sensor_id = TENDON_BOSE_GYROSCOPE;
    session.gestures.count = 1;
    session.gestures.records[0].gesture_id = 0x33;
    assert_string_equal(line_of(write_identity, NULL),
                        "\"connected\",\"product\":\"Bose Frames\",\"firmware\":\"1.0\\u000a2\","
                        "\"sensors\":[\"accelerometer\",\"gyroscope\"],\"gestures\":[\"unknown\"]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(vectors, reset),     cmocka_unit_test_setup(quaternions, reset),
        cmocka_unit_test(which_way_positive_turns), cmocka_unit_test_setup(samples_may_be_missed, reset),
        cmocka_unit_test_setup(gestures, reset),    cmocka_unit_test_setup(configurations, reset),
        cmocka_unit_test_setup(failures, reset),    cmocka_unit_test_setup(pairing, reset),
        cmocka_unit_test_setup(suspension, reset),  cmocka_unit_test_setup(all_others_have_none, reset),
        cmocka_unit_test_setup(identity, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
