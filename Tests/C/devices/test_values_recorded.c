/* SPDX-License-Identifier: MIT */
/* Recorded runs: values of a belt, near those that belts send, every field of them; gestures of a hand that does
 * anything. */
#include "test_recording.h"

#include "tendon/devices/feelspace.h"
#include "tendon/simulate/fjorden_gesture.h"

enum { RUNS = 12, VALUES = 4000 };

static void battery(recording *r, const block *b) {
    tendon_feelspace_battery v = {0};
    size_t offset = 99;
    note(r, "battery %d", tendon_feelspace_decode_battery(b->data, b->length, &v, &offset));
    note(r, "%d %d %d %d %d at %u", v.power_status, v.power_status_raw, (int)(v.level_percent * 256),
         (int)(v.tte_ttf_s * 8), v.saturated, (unsigned)offset);
    note(r, "%d%d%d%d%d%d %d %d %d %d %d %d", v.has_current, v.has_voltage, v.has_temperature, v.has_aux,
         v.has_vsl_power, v.has_vsl_level, v.current_ma, v.voltage_mv, (int)(v.temperature_c * 256),
         (int)(v.aux_percent * 256), v.vsl_power_status, (int)(v.vsl_level_percent * 256));
}

static void orientation(recording *r, const block *b) {
    tendon_feelspace_orientation v = {0};
    size_t offset = 99;
    note(r, "orientation %d", tendon_feelspace_decode_orientation(b->data, b->length, &v, &offset));
    note(r, "%d %d %d %d %d %d %d, %d %d %d %d %d at %u", v.sensor_id, v.heading, v.heading_360, v.box_heading,
         v.box_roll, v.box_pitch, v.accuracy_deg, v.magnetometer_status, v.accelerometer_status, v.gyroscope_status,
         v.fusion_status, v.accurate, (unsigned)offset);
}

static void press(recording *r, const block *b) {
    tendon_feelspace_press v = {0};
    uint8_t mode = 77;
    size_t offset = 99;
    note(r, "press %d", tendon_feelspace_decode_button(b->data, b->length, &v, &offset));
    note(r, "%d %d %d %d %d at %u", v.button, v.press_code, v.is_long, v.previous_mode, v.new_mode, (unsigned)offset);
    note(r, "keep-alive %d", tendon_feelspace_decode_keep_alive(b->data, b->length, &mode, &offset));
    note(r, "%d at %u", mode, (unsigned)offset);
}

static void parameter(recording *r, const block *b) {
    tendon_feelspace_parameter v;
    memset(&v, 0, sizeof v);
    size_t offset = 99;
    tendon_status status = tendon_feelspace_decode_parameter(b->data, b->length, &v, &offset);
    note(r, "parameter %d %d at %u", status, v.kind, (unsigned)offset);
    if (status < 0) {
        return;
    }
    switch (v.kind) {
    case TENDON_FEELSPACE_PARAMETER_NAME:
        note_bytes(r, "name", (const uint8_t *)v.name.text, v.name.length);
        break;
    case TENDON_FEELSPACE_PARAMETER_APP_FRONT_RANGE:
        note(r, "%d %d %d %d", v.front.range[0], v.front.range[1], v.front.range[2], v.front.last);
        break;
    case TENDON_FEELSPACE_PARAMETER_HEADING_OFFSET:
        note(r, "%d", v.degrees);
        break;
    case TENDON_FEELSPACE_PARAMETER_ORIENTATION_PERIOD:
        note(r, "%d", v.period_ms);
        break;
    case TENDON_FEELSPACE_PARAMETER_PAIRING_REQUIRED:
        note(r, "%d", v.required);
        break;
    default:
        note(r, "%d", v.mode);
        break;
    }
}

static void debug(recording *r, const block *b) {
    tendon_feelspace_debug v;
    memset(&v, 0, sizeof v);
    size_t offset = 99;
    note(r, "debug %d", tendon_feelspace_decode_debug(b->data, b->length, &v, &offset));
    note(r, "%d %d %d %d %d %u %d at %u", v.kind, (int)v.error, v.session, v.count, (int)v.last_error,
         (unsigned)v.time_ms, v.more, (unsigned)offset);
}

static void vibration(recording *r, const block *b) {
    tendon_feelspace_channel c;
    tendon_feelspace_pulse p;
    memset(&c, 0, sizeof c);
    memset(&p, 0, sizeof p);
    size_t offset = 99;
    for (uint8_t mode = 0; mode < 8; mode++) {
        note(r, "accepted %d", tendon_feelspace_belt_accepts(mode, b->data, b->length));
    }
    note(r, "channel %d", tendon_feelspace_decode_channel(b->data, b->length, &c, &offset));
    note(r, "%d %d %d %d %d %d %d %d %d %d at %u", c.channel, c.pattern, c.intensity, c.orientation_type, c.orientation,
         c.iterations, c.period_ms, c.start_ms, c.exclusive, c.clear_others, (unsigned)offset);
    note(r, "pulse %d", tendon_feelspace_decode_pulse(b->data, b->length, &p, &offset));
    note(r, "%d %d %d %d %d %d %d %d %d %d %d %d at %u", p.channel, p.orientation_type, p.orientation, p.intensity,
         p.on_ms, p.pulse_period_ms, p.pulse_iterations, p.series_period_ms, p.series_iterations, p.timer_option,
         p.exclusive, p.clear_others, (unsigned)offset);
    uint8_t out[20] = {0};
    tendon_status size = tendon_feelspace_encode_channel(&c, TENDON_FEELSPACE_CHANNELS_EXTENDED, out, sizeof out);
    note(r, "encoded %d", size);
    note_bytes(r, "channel", out, sizeof out);
    size = tendon_feelspace_encode_pulse(&p, out, sizeof out);
    note(r, "encoded %d", size);
    note_bytes(r, "pulse", out, sizeof out);
}

static void play_values(recording *r, unsigned number) {
    static const char *const batteries[] = {"010040f000", "02003fffff 0100 0200 0300 0400 05 0600", "0300640000 ffff",
                                            "0400700100 ff7f 0080 00ff 0064 ff ff00"};
    static const char *const orientations[] = {"02a6ffd3ff0200faff05000303030300", "025a00d3ff0200faff050003030303 01",
                                               "02b400680110000f00b400ff00010203"};
    static const char *const presses[] = {"0101000102", "0203000201", "0402000403", "0301000000", "0001"};
    static const char *const parameters[] = {
        "010102",   "010232",   "01032d00",  "010441424300", "100301", "100f f401", "10 0a 0100 0200 0300 04",
        "10 25 01", "10 00 32", "10 01 2d00"};
    static const char *const debugs[] = {"a0 01020304", "0b 0102 03 04000000 05000000", "0c 01000000 02000000 0300 01",
                                         "55"};
    static const char *const vibrations[] = {"00 03 aa aa 00 00 02 0e 01 00 00 05 e8 03 00 00 00 01",
                                             "01 01 32 aa 00 00 03 0a 00 00 00 ff f4 01 00 00 01 00",
                                             "40 01 02 2d00 32 6400 c800 02 e803 03 00 00 00",
                                             "30 ff",
                                             "30 01",
                                             "20 00",
                                             "20 02"};
    note(r, "values %u", number);
    for (int i = 0; i < VALUES; i++) {
        block b = changed_value(r, batteries, 4);
        battery(r, &b);
        free(b.data);
        b = changed_value(r, orientations, 3);
        orientation(r, &b);
        free(b.data);
        b = changed_value(r, presses, 5);
        press(r, &b);
        free(b.data);
        b = changed_value(r, parameters, 10);
        parameter(r, &b);
        free(b.data);
        b = changed_value(r, debugs, 4);
        debug(r, &b);
        free(b.data);
        b = changed_value(r, vibrations, 7);
        vibration(r, &b);
        free(b.data);
    }
}

static void play_gestures(recording *r, unsigned number) {
    static const uint8_t controls[] = {TENDON_FJORDEN_CONTROL_SHUTTER,     TENDON_FJORDEN_CONTROL_FN,
                                       TENDON_FJORDEN_CONTROL_DIAL_BUTTON, TENDON_FJORDEN_CONTROL_DIAL,
                                       TENDON_FJORDEN_CONTROL_LEVER,       TENDON_FJORDEN_CONTROL_NONE};
    note(r, "hand %u", number);
    for (int life = 0; life < 40; life++) {
        tendon_fjorden_gesture_engine engine;
        tendon_fjorden_config config = tendon_fjorden_config_default();
        config.dial_divider = (uint8_t)(1 + choose(r, 4));
        memset(&engine, 0xA5, sizeof engine);
        note(r, "init %d", tendon_fjorden_gesture_init(&engine, &config));
        uint64_t now = 100;
        for (int i = 0; i < 200; i++) {
            tendon_fjorden_gestures out;
            unsigned control = controls[choose(r, 6)];
            int32_t value = (int32_t)choose(r, 5) - 1;
            unsigned pause = choose(r, 6);
            now += pause == 0 ? choose(r, 1500) : pause == 1 ? 500 : choose(r, 120);
            tendon_status status =
                tendon_fjorden_gesture_input(&engine, now, (tendon_fjorden_control)control, value, &out);
            note(r, "%u: %d at %u: %d, due %lld", control, value, (unsigned)now, status,
                 (long long)tendon_fjorden_gesture_deadline(&engine));
            for (size_t k = 0; k < out.count; k++) {
                note(r, "event %02x, %u at %u", out.events[k].event, (unsigned)out.events[k].count,
                     (unsigned)out.events[k].time_ms);
            }
        }
    }
}

static void values_of_a_belt_are_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0xC18787AA, 0x5523FE46, 0xB6CF3C3C, 0x24CD1E11, 0x3D114FEC, 0x3B4A6009,
        0xA6274348, 0x1DBD0188, 0xE8B9887E, 0x0FF058E7, 0xFC67DF53, 0x634D15A8,
    };
    compare_recordings(known, RUNS, play_values);
}

static void gestures_are_as_recorded(void **state) {
    (void)state;
    static const uint32_t known[RUNS] = {
        0x8ED164B6, 0x29DD0F93, 0x44CF2B4F, 0x024432DE, 0x97485564, 0xA40FFB2B,
        0xB200974F, 0x9811AD16, 0xA131F21B, 0x850C7DEE, 0x5334CE05, 0x94A606C0,
    };
    compare_recordings(known, RUNS, play_gestures);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_a_belt_are_as_recorded),
        cmocka_unit_test(gestures_are_as_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
