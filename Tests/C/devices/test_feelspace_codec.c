/* SPDX-License-Identifier: MIT */
/* feelSpace: what a belt sends, and frames: examples, cuts, hostile input. */
#include "test_bytes.h"

#include "tendon/devices/feelspace_codec.h"
#include "tendon/simulate/feelspace_usb.h"

/* One function per decoder, all of one shape, so that every packet gets every hostile treatment. */
typedef union value {
    tendon_feelspace_channel channel;
    tendon_feelspace_pulse pulse;
    tendon_feelspace_parameter parameter;
    uint8_t mode;
    tendon_feelspace_press press;
    tendon_feelspace_battery battery;
    tendon_feelspace_orientation orientation;
    tendon_feelspace_firmware firmware;
    tendon_feelspace_debug debug;
} value;
typedef tendon_status (*decoder)(const uint8_t *data, size_t length, value *out, size_t *offset);

#define DECODER(name, member)                                                                                          \
    static tendon_status name(const uint8_t *data, size_t length, value *out, size_t *offset) {                        \
        return tendon_feelspace_decode_##name(data, length, &out->member, offset);                                     \
    }
DECODER(channel, channel)
DECODER(pulse, pulse)
DECODER(parameter, parameter)
DECODER(keep_alive, mode)
DECODER(button, press)
DECODER(battery, battery)
DECODER(orientation, orientation)
DECODER(firmware, firmware)
DECODER(debug, debug)

static tendon_status decode(decoder d, const char *hex, value *out, size_t *offset) {
    block b = block_hex(hex);
    tendon_status status = d(b.data, b.length, out, offset);
    free(b.data);
    return status;
}

static const struct packet {
    decoder decode;
    const char *hex;
    size_t needs;
} packets[] = {
    {channel, "00 03 aa aa 00 00 02 0e 01 00 00 05 e8 03 00 00 00 01", 18},
    {pulse, "40 00 02 5a 00 aa 96 00 03 01 f4 01 dc 05 00 00 00", 17},
    {parameter, "01 01 03", 3},
    {parameter, "01 02 28", 3},
    {parameter, "01 03 2d 00", 4},
    {parameter, "10 01 2d 00", 4},
    {parameter, "10 03 00", 3},
    {parameter, "10 0f f4 01", 4},
    {parameter, "10 0a e1 00 a0 00 e1 00 01", 9},
    {parameter, "01 04 41", 3},
    {keep_alive, "00 02", 2},
    {button, "04 01 00 03 03", 5},
    {battery, "01 00 40 f0 00", 5},
    {orientation, "02 a6 ff d3 ff 02 00 fa ff 05 00 03 03 03 03 00", 16},
    {firmware, "2b", 1},
    {debug, "a0 01 02 03 04", 5},
    {debug, "0b 01 00 02 03 00 00 00 04 00 00 00", 12},
    {debug, "0c 01 00 00 00 02 00 00 00 03 00 01", 12},
};
enum { PACKET_COUNT = sizeof packets / sizeof packets[0] };

static void mal_I01_I02_cut_at_every_position(void **state) {
    (void)state;
    for (size_t i = 0; i < PACKET_COUNT; i++) {
        block whole = block_hex(packets[i].hex);
        assert_int_equal(whole.length, packets[i].needs);
        for (size_t length = 0; length <= whole.length; length++) {
            block b = block_copy(whole.data, length);
            value out, before;
            memset(&out, 0x5A, sizeof out);
            before = out;
            size_t offset = 99;
            tendon_status status = packets[i].decode(b.data, b.length, &out, &offset);
            assert_int_equal(status, length < packets[i].needs ? TENDON_ERROR_TRUNCATED : TENDON_OK);
            if (status < 0) {
                assert_true(offset <= length);
                assert_memory_equal(&out, &before, sizeof out);
                assert_int_equal(packets[i].decode(b.data, b.length, &out, NULL), status);
            }
            free(b.data);
        }
        free(whole.data);
    }
}

static void mal_I03_trailing_bytes_are_ignored(void **state) {
    (void)state;
    for (size_t i = 0; i < PACKET_COUNT; i++) {
        char hex[128];
        snprintf(hex, sizeof hex, "%s ff ff ff ff ff ff ff ff", packets[i].hex);
        value out;
        assert_int_equal(decode(packets[i].decode, hex, &out, NULL), TENDON_OK);
    }
}

static void mal_I05_values_that_no_belt_sends(void **state) {
    (void)state;
    static const struct {
        decoder decode;
        const char *hex;
        size_t offset;
    } cases[] = {
        {keep_alive, "00 07", 1},
        {keep_alive, "00 ff", 1},
        {button, "00 01 00 03 03", 0},
        {button, "05 01 00 03 03", 0},
        {button, "01 01 00 07 03", 3},
        {button, "01 01 00 03 09", 4},
        {parameter, "01 01 07", 2},
        {parameter, "01 02 65", 2},
        {parameter, "10 00 65", 2},
        {parameter, "01 03 68 01", 2},
        {parameter, "10 01 68 01", 2},
        {parameter, "10 03 04", 2},
        {channel, "06 03 aa aa 00 00 02 0e 01 00 00 05 e8 03 00 00 00 01", 0},
        {channel, "00 1b aa aa 00 00 02 0e 01 00 00 05 e8 03 00 00 00 01", 1},
        {channel, "00 03 65 00 00 00 02 0e 01 00 00 05 e8 03 00 00 00 01", 2},
        {channel, "00 03 aa aa 00 00 04 0e 01 00 00 05 e8 03 00 00 00 01", 6},
        {channel, "00 03 aa aa 00 00 02 0e 01 00 00 05 00 00 00 00 00 01", 12},
        {pulse, "41 00 02 5a 00 aa 96 00 03 01 f4 01 dc 05 00 00 00", 0},
        {pulse, "40 06 02 5a 00 aa 96 00 03 01 f4 01 dc 05 00 00 00", 1},
        {pulse, "40 00 04 5a 00 aa 96 00 03 01 f4 01 dc 05 00 00 00", 2},
        {pulse, "40 00 02 5a 00 65 96 00 03 01 f4 01 dc 05 00 00 00", 5},
        {pulse, "40 00 02 5a 00 aa 00 00 03 01 f4 01 dc 05 00 00 00", 6},
        {pulse, "40 00 02 5a 00 aa 96 00 00 01 f4 01 dc 05 00 00 00", 8},
        {pulse, "40 00 02 5a 00 aa 96 00 03 01 00 00 dc 05 00 00 00", 10},
        {pulse, "40 00 02 5a 00 aa 96 00 03 01 f4 01 00 00 00 00 00", 12},
        {pulse, "40 00 02 5a 00 aa 96 00 03 01 f4 01 dc 05 03 00 00", 14},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        value out, before;
        memset(&out, 0x5A, sizeof out);
        before = out;
        size_t offset = 99;
        assert_int_equal(decode(cases[i].decode, cases[i].hex, &out, &offset), TENDON_FEELSPACE_ERROR_BAD_VALUE);
        assert_int_equal(offset, cases[i].offset);
        assert_memory_equal(&out, &before, sizeof out);
    }
}

/* Every family and id: exactly ten are known, all others are for the application to ignore. */
static void mal_I05_unknown_parameters_are_unsupported(void **state) {
    (void)state;
    unsigned known = 0;
    for (unsigned family = 0; family < 256; family++) {
        for (unsigned id = 0; id < 256; id++) {
            const uint8_t bytes[9] = {(uint8_t)family, (uint8_t)id};
            block b = block_copy(bytes, sizeof bytes);
            value out;
            tendon_status status = parameter(b.data, b.length, &out, NULL);
            known += status == TENDON_OK;
            assert_true(status == TENDON_OK || status == TENDON_ERROR_UNSUPPORTED);
            free(b.data);
        }
    }
    assert_int_equal(known, 10);
}

static void noise_is_decoded_or_refused(void **state) {
    (void)state;
    dice d = {0x6665656C};
    for (unsigned round = 0; round < 20000; round++) {
        block b = block_random(&d, (size_t)(roll(&d) % 24));
        for (size_t i = 0; i < PACKET_COUNT; i++) {
            value out;
            size_t offset = 0;
            if (packets[i].decode(b.data, b.length, &out, &offset) < 0) {
                assert_true(offset <= b.length);
            }
        }
        (void)tendon_feelspace_belt_accepts((uint8_t)roll(&d), b.data, b.length);
        free(b.data);
    }
}

static void examples_17_to_20_parameters(void **state) {
    (void)state;
    value v;
    assert_int_equal(decode(parameter, "010103", &v, NULL), TENDON_OK);
    assert_int_equal(v.parameter.kind, TENDON_FEELSPACE_PARAMETER_MODE);
    assert_int_equal(v.parameter.mode, TENDON_FEELSPACE_MODE_APP);
    assert_int_equal(decode(parameter, "010228", &v, NULL), TENDON_OK);
    assert_int_equal(v.parameter.intensity, 40);
    assert_int_equal(decode(parameter, "01036701", &v, NULL), TENDON_OK);
    assert_int_equal(v.parameter.degrees, 359);
    assert_int_equal(decode(parameter, "100302", &v, NULL), TENDON_OK);
    assert_int_equal(v.parameter.kind, TENDON_FEELSPACE_PARAMETER_ACCURACY_SIGNAL);
    assert_int_equal(v.parameter.accuracy_state, 2);
    assert_int_equal(decode(parameter, "102501", &v, NULL), TENDON_OK);
    assert_true(v.parameter.required);
    block name = block_hex("01 04 4c 61 62");
    assert_int_equal(tendon_feelspace_decode_parameter(name.data, name.length, &v.parameter, NULL), TENDON_OK);
    assert_int_equal(v.parameter.name.length, 3);
    assert_memory_equal(v.parameter.name.text, "Lab", 3);
    free(name.data);
    assert_int_equal(decode(parameter, "100ae100a0006801 01", &v, NULL), TENDON_OK);
    assert_true(tendon_feelspace_patch_needed(&v.parameter));
    assert_int_equal(decode(parameter, "100ae100a000e100 01", &v, NULL), TENDON_OK);
    assert_false(tendon_feelspace_patch_needed(&v.parameter));
}

static void examples_21_and_22_battery(void **state) {
    (void)state;
    value v;
    assert_int_equal(decode(battery, "01 00 40 f0 00 0c fe 3c 0f", &v, NULL), TENDON_OK);
    assert_int_equal(v.battery.power_status, TENDON_FEELSPACE_POWER_ON_BATTERY);
    assert_true(v.battery.level_percent == 64.0);
    assert_true(v.battery.tte_ttf_s == 1350.0);
    assert_int_equal(v.battery.current_ma, -500);
    assert_int_equal(v.battery.voltage_mv, 3900);
    assert_int_equal(decode(battery, "02 cd 58 20 03 78 00 d2 0f", &v, NULL), TENDON_OK);
    assert_true(v.battery.level_percent == 88.80078125);
    assert_true(v.battery.tte_ttf_s == 4500.0);
    assert_int_equal(decode(battery, "09 01 64 ff ff", &v, NULL), TENDON_OK);
    assert_int_equal(v.battery.power_status, 0);
    assert_int_equal(v.battery.power_status_raw, 9);
    assert_true(v.battery.level_percent == 100.0);
    assert_true(v.battery.tte_ttf_s == 368634.375 && v.battery.saturated);
}

static void mal_I02_incomplete_battery_fields_are_absent(void **state) {
    (void)state;
    block whole = block_hex("02 00 32 5e 01 0a ff f8 0f f0 19 00 56 ff 00 64");
    for (size_t length = 5; length <= whole.length; length++) {
        block b = block_copy(whole.data, length);
        value v;
        assert_int_equal(battery(b.data, b.length, &v, NULL), TENDON_OK);
        assert_int_equal(v.battery.has_current, length >= 7);
        assert_int_equal(v.battery.has_voltage, length >= 9);
        assert_int_equal(v.battery.has_temperature, length >= 11);
        assert_int_equal(v.battery.has_aux, length >= 13);
        assert_int_equal(v.battery.has_vsl_power, length >= 14);
        assert_int_equal(v.battery.has_vsl_level, length >= 16);
        if (length == 16) {
            assert_true(v.battery.temperature_c == 25.9375 && v.battery.aux_percent == 86.0);
            assert_int_equal(v.battery.vsl_power_status, -1);
            assert_true(v.battery.vsl_level_percent == 100.0);
        }
        free(b.data);
    }
    free(whole.data);
}

static void examples_23_to_25_press_orientation_mode(void **state) {
    (void)state;
    value v;
    assert_int_equal(decode(button, "04 02 00 03 03", &v, NULL), TENDON_OK);
    assert_int_equal(v.press.button, TENDON_FEELSPACE_BUTTON_HOME);
    assert_false(v.press.is_long);
    assert_int_equal(decode(button, "03 03 00 01 05", &v, NULL), TENDON_OK);
    assert_true(v.press.is_long);
    assert_int_equal(v.press.previous_mode, TENDON_FEELSPACE_MODE_WAIT);
    assert_int_equal(v.press.new_mode, TENDON_FEELSPACE_MODE_CALIBRATION);
    assert_int_equal(decode(orientation, "02 a6 ff d3 ff 02 00 fa ff 05 00 03 03 03 ff 00", &v, NULL), TENDON_OK);
    assert_int_equal(v.orientation.heading, -90);
    assert_int_equal(v.orientation.heading_360, 270);
    assert_int_equal(v.orientation.box_heading, -45);
    assert_int_equal(v.orientation.box_roll, 2);
    assert_int_equal(v.orientation.box_pitch, -6);
    assert_int_equal(v.orientation.accuracy_deg, 5);
    assert_int_equal(v.orientation.fusion_status, -1);
    assert_true(v.orientation.accurate);
    /* -360: 0, not 360 */
    assert_int_equal(decode(orientation, "02 98 fe d3 ff 02 00 fa ff 05 00 03 03 03 03 02", &v, NULL), TENDON_OK);
    assert_int_equal(v.orientation.heading_360, 0);
    assert_false(v.orientation.accurate);
    assert_int_equal(decode(keep_alive, "00 02", &v, NULL), TENDON_OK);
    assert_int_equal(v.mode, TENDON_FEELSPACE_MODE_COMPASS);
}

static void firmware_features(void **state) {
    (void)state;
    value v;
    assert_int_equal(decode(firmware, "2b", &v, NULL), TENDON_OK);
    assert_int_equal(v.firmware.version, 43);
    assert_int_equal(decode(firmware, "2c 01", &v, NULL), TENDON_OK);
    assert_int_equal(v.firmware.version, 300);
    assert_false(v.firmware.has_variant);
    assert_int_equal(decode(firmware, "04 00 04", &v, NULL), TENDON_OK);
    assert_true(tendon_feelspace_patch_candidate(&v.firmware));
    static const uint8_t first[] = {41, 43, 45, 45, 45, 52};
    for (unsigned f = 0; f < TENDON_FEELSPACE_FEATURE_COUNT; f++) {
        tendon_feelspace_feature feature = (tendon_feelspace_feature)f;
        assert_true(tendon_feelspace_has_feature(&v.firmware, feature));
        tendon_feelspace_firmware old = {.version = first[f]};
        assert_true(tendon_feelspace_has_feature(&old, feature));
        old.version--;
        assert_false(tendon_feelspace_has_feature(&old, feature));
        old.has_variant = true;
        old.variant = 3;
        assert_false(tendon_feelspace_has_feature(&old, feature));
    }
    assert_false(tendon_feelspace_patch_candidate(&(tendon_feelspace_firmware){.version = 4}));
}

static void debug_packets(void **state) {
    (void)state;
    value v;
    assert_int_equal(decode(debug, "0b 0102 03 04000000 05000000", &v, NULL), TENDON_OK);
    assert_int_equal(v.debug.session, 0x0201);
    assert_int_equal(v.debug.count, 3);
    assert_int_equal(v.debug.error, 4);
    assert_int_equal(v.debug.last_error, 5);
    assert_false(v.debug.more);
    assert_int_equal(decode(debug, "0c 01020000 03040000 0506 01", &v, NULL), TENDON_OK);
    assert_int_equal(v.debug.kind, TENDON_FEELSPACE_DEBUG_LOG_ENTRY);
    assert_int_equal(v.debug.error, 0x0201);
    assert_int_equal(v.debug.time_ms, 0x0403);
    assert_int_equal(v.debug.session, 0x0605);
    assert_true(v.debug.more);
    assert_int_equal(decode(debug, "0c 01020000 03040000 0506 00", &v, NULL), TENDON_OK);
    assert_false(v.debug.more);
    assert_int_equal(decode(debug, "a0 01020304", &v, NULL), TENDON_OK);
    assert_int_equal(v.debug.error, 0x04030201);
    assert_int_equal(decode(debug, "55", &v, NULL), TENDON_OK);
    assert_int_equal(v.debug.kind, TENDON_FEELSPACE_DEBUG_OTHER);
}

/* The length byte of a frame over USB: every one, with every number of bytes behind it. */
static void mal_I04_a_length_that_lies(void **state) {
    (void)state;
    static const struct {
        uint8_t handle;
        size_t most;
    } rows[] = {{0x24, 22}, {0x33, 22}, {0x39, 244}};
    for (size_t i = 0; i < 3; i++) {
        for (unsigned stated = 0; stated < 256; stated++) {
            for (size_t length = 2; length <= 258; length += 1 + length / 16) {
                uint8_t bytes[258] = {rows[i].handle, (uint8_t)stated};
                block b = block_copy(bytes, length);
                tendon_feelspace_usb_frame frame = {0};
                size_t offset = 999;
                tendon_status status = tendon_feelspace_decode_usb_frame(b.data, length, &frame, &offset);
                if (stated > rows[i].most) {
                    assert_int_equal(status, TENDON_ERROR_MALFORMED);
                    assert_int_equal(offset, 1);
                } else if (stated > length - 2) {
                    assert_int_equal(status, TENDON_ERROR_INCOMPLETE);
                    assert_int_equal(offset, length);
                } else {
                    assert_int_equal(status, stated + 2);
                    assert_int_equal(frame.length, stated);
                }
                free(b.data);
            }
        }
    }
}

/* The belt's name ends with its parameter, and not with a zero. */
static void mal_I10_a_name_without_an_end(void **state) {
    (void)state;
    uint8_t bytes[64] = {0x01, 0x04};
    memset(bytes + 2, 'x', sizeof bytes - 2);
    for (size_t length = 0; length <= sizeof bytes; length++) {
        block b = block_copy(bytes, length);
        tendon_feelspace_parameter found;
        tendon_status status = tendon_feelspace_decode_parameter(b.data, b.length, &found, NULL);
        if (status == TENDON_OK) { /* no more than is there */
            assert_int_equal(found.name.length, length - 2);
            assert_ptr_equal(found.name.text, b.data + 2);
        }
        assert_int_equal(status, length < 3 ? TENDON_ERROR_TRUNCATED : TENDON_OK);
        free(b.data);
    }
}

static void names(void **state) {
    (void)state;
    assert_true(tendon_feelspace_is_belt_name("NaviGuertel_4711", 16));
    assert_true(tendon_feelspace_is_belt_name("naviGuertel", 11));
    assert_false(tendon_feelspace_is_belt_name("naviGuerte", 10));
    assert_false(tendon_feelspace_is_belt_name("xnaviGuertel", 12));
    assert_string_equal(tendon_feelspace_status_name(TENDON_FEELSPACE_ERROR_BAD_VALUE), "FEELSPACE_ERROR_BAD_VALUE");
    assert_string_equal(tendon_feelspace_mode_name(6), "crossing");
    assert_string_equal(tendon_feelspace_mode_name(7), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mal_I01_I02_cut_at_every_position),
        cmocka_unit_test(mal_I03_trailing_bytes_are_ignored),
        cmocka_unit_test(mal_I05_values_that_no_belt_sends),
        cmocka_unit_test(mal_I05_unknown_parameters_are_unsupported),
        cmocka_unit_test(noise_is_decoded_or_refused),
        cmocka_unit_test(mal_I02_incomplete_battery_fields_are_absent),
        cmocka_unit_test(examples_17_to_20_parameters),
        cmocka_unit_test(examples_21_and_22_battery),
        cmocka_unit_test(examples_23_to_25_press_orientation_mode),
        cmocka_unit_test(firmware_features),
        cmocka_unit_test(debug_packets),
        cmocka_unit_test(mal_I04_a_length_that_lies),
        cmocka_unit_test(mal_I10_a_name_without_an_end),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
