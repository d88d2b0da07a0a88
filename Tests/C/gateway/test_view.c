/* SPDX-License-Identifier: MIT */
/* Samples as numbers. */
#include "../definition/definition_fixture.h"
#include "gateway_fixture.h"

#include <math.h>

static tendon_view view;

/* "sensor: a=1 g, b=2" */
static const char *shown(void) {
    static char text[1000];
    size_t length = (size_t)snprintf(text, sizeof text, "%s:", view.sensor);
    for (size_t i = 0; i < view.count; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s %s=%g%s%s", i > 0 ? "," : "",
                                   view.channels[i].name, view.values[i], view.channels[i].unit[0] != '\0' ? " " : "",
                                   view.channels[i].unit);
    }
    return text;
}

static int reset(void **state) {
    (void)state;
    memset(&view, 0xA5, sizeof view);
    return 0;
}

static void bose(void **state) {
    (void)state;
    tendon_bose_sample sample = {.sensor_id = TENDON_BOSE_ACCELEROMETER, .has_vector = true, .vector = {1.5, -2, 3}};
    tendon_bose_event event = {
        .kind = TENDON_BOSE_EVENT_SAMPLE, .sample = &sample, .received_at = 9, .sampled_at = 8, .error_us = 7};
    assert_true(tendon_bose_view(&view, &event));
    assert_string_equal(shown(), "accelerometer: x=1.5 g, y=-2 g, z=3 g");
    assert_true(view.received_at == 9 && view.sampled_at == 8 && view.error_us == 7 && view.left_out == 0);
    sample.sensor_id = TENDON_BOSE_GYROSCOPE;
    assert_true(tendon_bose_view(&view, &event));
    assert_string_equal(shown(), "gyroscope: x=1.5 deg/s, y=-2 deg/s, z=3 deg/s");
    sample.sensor_id = TENDON_BOSE_MAGNETOMETER;
    assert_true(tendon_bose_view(&view, &event));
    assert_string_equal(shown(), "magnetometer: x=1.5, y=-2, z=3");
    sample = (tendon_bose_sample){
        .sensor_id = TENDON_BOSE_GAME_ROTATION, .has_quaternion = true, .quaternion = {1, 0, 0, 0}};
    assert_true(tendon_bose_view(&view, &event));
    assert_string_equal(shown(), "game_rotation: x=1, y=0, z=0, w=0, pitch=0 deg, roll=0 deg, yaw=-0 deg");
    sample.quaternion.x = 0.5;
    assert_true(tendon_bose_view(&view, &event));
    assert_true(isnan(view.values[4]) && isnan(view.values[5]) && isnan(view.values[6]));
    sample.has_quaternion = false;
    assert_false(tendon_bose_view(&view, &event));
    sample.has_vector = true;
    for (unsigned kind = 0; kind <= TENDON_BOSE_EVENT_MALFORMED; kind++) {
        event.kind = (tendon_bose_event_kind)kind;
        assert_int_equal(tendon_bose_view(&view, &event), kind == TENDON_BOSE_EVENT_SAMPLE);
    }
}

static void activ5(void **state) {
    (void)state;
    tendon_activ5_message message = {
        .newtons = 12.5, .percent = 80, .imu = {.acceleration = {1, 2, 3}, .gyro = {4, 5, 6}}};
    tendon_activ5_event event = {
        .kind = TENDON_ACTIV5_EVENT_ISOMETRIC, .message = &message, .received_at = 9, .sampled_at = 8, .error_us = 7};
    assert_true(tendon_activ5_view(&view, &event));
    assert_string_equal(shown(), "force: force=12.5 N");
    assert_true(view.received_at == 9 && view.sampled_at == 0 && view.error_us == 0);
    event.kind = TENDON_ACTIV5_EVENT_IMU;
    assert_true(tendon_activ5_view(&view, &event));
    assert_string_equal(shown(), "imu: acceleration_x=1 g, acceleration_y=2 g, acceleration_z=3 g, rotation_x=4 rad/s, "
                                 "rotation_y=5 rad/s, rotation_z=6 rad/s");
    assert_true(view.received_at == 9 && view.sampled_at == 8 && view.error_us == 7);
    event.kind = TENDON_ACTIV5_EVENT_BATTERY;
    assert_true(tendon_activ5_view(&view, &event));
    assert_string_equal(shown(), "battery: battery=80 %");
    event.kind = TENDON_ACTIV5_EVENT_SQUEEZE;
    assert_false(tendon_activ5_view(&view, &event));
}

static void belts_and_grips(void **state) {
    (void)state;
    static tendon_feelspace_session session;
    session.orientation = (tendon_feelspace_orientation){.heading = -17, .accuracy_deg = 12, .accurate = true};
    session.battery.level_percent = 45.5;
    tendon_feelspace_event event = {.kind = TENDON_FEELSPACE_EVENT_ORIENTATION, .received_at = 9};
    assert_true(tendon_feelspace_view(&view, &session, &event));
    assert_string_equal(shown(), "orientation: heading=-17 deg, accurate=1, accuracy=12 deg");
    assert_true(view.received_at == 9);
    event.kind = TENDON_FEELSPACE_EVENT_BATTERY;
    assert_true(tendon_feelspace_view(&view, &session, &event));
    assert_string_equal(shown(), "battery: battery=45.5 %");
    event.kind = TENDON_FEELSPACE_EVENT_MODE;
    assert_false(tendon_feelspace_view(&view, &session, &event));
    tendon_fjorden_session_event grip = {.kind = TENDON_FJORDEN_SESSION_EVENT_BATTERY, .level = 3};
    assert_true(tendon_fjorden_view(&view, &grip));
    assert_string_equal(shown(), "battery: battery=3 %");
    grip.status = TENDON_ERROR_TIMEOUT;
    assert_false(tendon_fjorden_view(&view, &grip));
    grip = (tendon_fjorden_session_event){.kind = TENDON_FJORDEN_SESSION_EVENT_EVENT};
    assert_false(tendon_fjorden_view(&view, &grip));
}

static void defined(void **state) {
    (void)state;
    const tendon_definition *toy = parsed(
        "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': [{'name': 'first', "
        "'service': 'fff0', 'uuid': 'fff1', 'notify': 'one'}], 'layouts': {'one': [{'name': 'temperature', 'type': "
        "'i16', 'factor': 0.01, 'unit': '\\u00b0C', 'unknown': 32767}, {'name': 'flags', 'type': 'u8', 'hidden': true, "
        "'bits': [{'name': 'on', 'bit': 0}]}, {'name': 'mode', 'type': 'u8', 'values': [[1, 'one']]}, {'name': 'list', "
        "'records': [{'name': 'x', 'type': 'u8'}]}]}, 'events': [{'name': 'climate', 'layout': 'one', 'members': "
        "['temperature', 'on', 'mode', 'list']}, {'name': 'word', 'layout': 'one', 'members': ['mode']}]}");
    block value = block_hex("2909 01 01 05 06");
    tendon_defined_event event = {
        .kind = TENDON_DEFINED_EVENT_VALUE, .bytes = value.data, .length = value.length, .received_at = 9};
    assert_true(tendon_defined_view(&view, toy, NULL, &event, 0));
    assert_string_equal(shown(), "climate: temperature=23.45 \xC2\xB0"
                                 "C, on=1, mode=1");
    assert_true(view.received_at == 9);
    assert_true(tendon_defined_view(&view, toy, NULL, &event, 1));
    assert_string_equal(shown(), "word: mode=1");
    assert_false(tendon_defined_view(&view, toy, NULL, &event, 2));
    value.data[0] = 0xFF; /* not known */
    value.data[1] = 0x7F;
    value.data[3] = 7; /* a number without a word */
    assert_true(tendon_defined_view(&view, toy, NULL, &event, 0));
    assert_true(isnan(view.values[0]));
    assert_int_equal(view.count, 3);
    event.length = 1;
    assert_false(tendon_defined_view(&view, toy, NULL, &event, 0));
    event.kind = TENDON_DEFINED_EVENT_OPEN;
    assert_false(tendon_defined_view(&view, toy, NULL, &event, 0));
    free(value.data);
}

/* What a value leaves out has its channel, and is not a number: a receiver of OSC finds each number at its place. */
static void left_out(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *shown;
    } rows[] = {
        {"00 01", "reading: mode=0, b=nan, c=nan, x=1, y=nan, z=nan, late=nan"},
        {"02 01 05", "reading: mode=2, b=nan, c=nan, x=nan, y=1, z=5, late=nan"},
        {"82 07 08 01 05 09", "reading: mode=2, b=7, c=8, x=nan, y=1, z=5, late=9"},
        {"40 03 04", "reading: mode=0, b=nan, c=3, x=4, y=nan, z=nan, late=nan"},
        {"03 04", "reading: mode=3, b=nan, c=nan, x=nan, y=nan, z=4, late=nan"},
    };
    const tendon_definition *toy = parsed(
        "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': [{'name': 'first', "
        "'service': 'fff0', 'uuid': 'fff1', 'notify': 'one'}], 'events': [{'name': 'reading', 'layout': 'one'}], "
        "'layouts': {'one': [{'name': 'flags', 'type': 'u8', 'hidden': true, 'bits': [{'name': 'has_b', 'bit': 7, "
        "'hidden': true}, {'name': 'has_c', 'bit': 6, 'hidden': true}, {'name': 'mode', 'bit': 0, 'count': 4, "
        "'hidden': false}]}, "
        "{'name': 'b', 'type': 'u8', 'if': 'has_b'}, "
        "{'name': 'c', 'type': 'u8', 'if': 'has_b'}, {'name': 'c', 'type': 'u8', 'if': 'has_c'}, {'switch': 'mode', "
        "'cases': {'0': 'no', '2': 'two'}, 'otherwise': 'other'}, "
        "{'name': 'late', 'type': 'u8', 'optional': true}], 'no': [{'name': 'x', 'type': 'u8'}], 'two': [{'name': 'y', "
        "'type': 'u8'}, {'name': 'z', 'type': 'u8'}], 'other': [{'name': 'z', 'type': 'u8'}]}}");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        block value = block_hex(rows[i].bytes);
        const tendon_defined_event event = {
            .kind = TENDON_DEFINED_EVENT_VALUE, .bytes = value.data, .length = value.length};
        assert_true(tendon_defined_view(&view, toy, NULL, &event, 0));
        assert_string_equal(shown(), rows[i].shown);
        assert_int_equal(view.left_out, 0);
        free(value.data);
    }
}

/* More numbers than channels: they are counted. */
static void many(void **state) {
    (void)state;
    char fields[2000] = "", text[3000];
    for (unsigned i = 0; i < 30; i++) {
        char one[60];
        snprintf(one, sizeof one, "%s{'name': 'n%u', 'type': 'u8'}", i > 0 ? ", " : "", i);
        strcat(fields, one);
    }
    snprintf(text, sizeof text,
             "{'name': 'toy', 'title': 'Toy', 'find': {'services': ['fff0']}, 'characteristics': [{'name': 'first', "
             "'service': 'fff0', 'uuid': 'fff1', 'notify': [%s]}], 'events': [{'name': 'many', 'layout': 'first'}]}",
             fields);
    const tendon_definition *toy = parsed(text);
    const uint8_t bytes[30] = {[23] = 7, [24] = 9};
    const tendon_defined_event event = {.kind = TENDON_DEFINED_EVENT_VALUE, .bytes = bytes, .length = sizeof bytes};
    assert_true(tendon_defined_view(&view, toy, NULL, &event, 0));
    assert_int_equal(view.count, TENDON_VIEW_CHANNELS);
    assert_int_equal(view.left_out, 30 - TENDON_VIEW_CHANNELS);
    assert_true(view.values[TENDON_VIEW_CHANNELS - 1] == 7);
    assert_string_equal(view.channels[TENDON_VIEW_CHANNELS - 1].name, "n23");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(bose, reset),
        cmocka_unit_test_setup(activ5, reset),
        cmocka_unit_test_setup(belts_and_grips, reset),
        cmocka_unit_test_setup(defined, reset),
        cmocka_unit_test_setup(left_out, reset),
        cmocka_unit_test_setup(many, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
