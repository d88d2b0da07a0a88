/* SPDX-License-Identifier: MIT */
/* feelSpace: what a client sends: examples, every capacity, round trips, the app-mode rule. */
#include "test_bytes.h"

#include <math.h>

#include "tendon/devices/feelspace_signal.h"
#include "tendon/simulate/feelspace_usb.h"

static const tendon_feelspace_channel left = {.channel = 0,
                                              .pattern = 3,
                                              .intensity = -1,
                                              .orientation_type = 2,
                                              .orientation = 270,
                                              .iterations = 5,
                                              .period_ms = 1000,
                                              .clear_others = true};

static void example_1_and_every_capacity(void **state) {
    (void)state;
    for (size_t capacity = 0; capacity <= 18; capacity++) {
        uint8_t *out = malloc(capacity > 0 ? capacity : 1);
        assert_non_null(out);
        tendon_status status = tendon_feelspace_encode_channel(&left, 4, out, capacity);
        assert_int_equal(status, capacity < 18 ? TENDON_ERROR_BUFFER_TOO_SMALL : 18);
        if (status == 18) {
            assert_hex(out, 18, "00 03 aa aa 00 00 02 0e 01 00 00 05 e8 03 00 00 00 01");
        }
        free(out);
    }
}

static void channels_come_back(void **state) {
    (void)state;
    dice d = {0x62656C74};
    for (unsigned round = 0; round < 20000; round++) {
        tendon_feelspace_channel c = {.channel = (int32_t)(roll(&d) % 6),
                                      .pattern = (int32_t)(roll(&d) % 27),
                                      .intensity = (int32_t)(roll(&d) % 102) - 1,
                                      .orientation_type = 1 + (int32_t)(roll(&d) % 3),
                                      .iterations = 1 + (int32_t)(roll(&d) % 127),
                                      .period_ms = 1 + (int32_t)(roll(&d) % 65535),
                                      .exclusive = roll(&d) % 2 == 0,
                                      .clear_others = roll(&d) % 2 == 0};
        c.orientation = (int32_t)(roll(&d) % (c.orientation_type == 1 ? 16 : 360));
        c.start_ms = (int32_t)(roll(&d) % (uint64_t)c.period_ms);
        uint8_t bytes[18];
        assert_int_equal(tendon_feelspace_encode_channel(&c, TENDON_FEELSPACE_CHANNELS_EXTENDED, bytes, 18), 18);
        tendon_feelspace_channel back = {0};
        assert_int_equal(tendon_feelspace_decode_channel(bytes, 18, &back, NULL), TENDON_OK);
        assert_int_equal(back.channel, c.channel);
        assert_int_equal(back.orientation, c.orientation);
        assert_int_equal(back.intensity, c.intensity);
        assert_int_equal(back.iterations, c.iterations);
        assert_int_equal(back.period_ms, c.period_ms);
        assert_int_equal(back.start_ms, c.start_ms);
        assert_int_equal(back.exclusive, c.exclusive);
        assert_true(tendon_feelspace_belt_accepts(TENDON_FEELSPACE_MODE_APP, bytes, 18));
        assert_int_equal(tendon_feelspace_belt_accepts(TENDON_FEELSPACE_MODE_WAIT, bytes, 18),
                         c.channel == 0 && !c.clear_others);
    }
}

/* All 65536 masks: at most six motors. */
static void masks(void **state) {
    (void)state;
    tendon_feelspace_channel c = left;
    c.orientation_type = TENDON_FEELSPACE_ORIENTATION_MASK;
    uint8_t bytes[18];
    for (int32_t mask = 0; mask < 65536; mask++) {
        unsigned set = 0;
        for (int bit = 0; bit < 16; bit++) {
            set += (unsigned)mask >> bit & 1u;
        }
        c.orientation = mask;
        assert_int_equal(tendon_feelspace_encode_channel(&c, 4, bytes, 18),
                         set > 6 ? TENDON_ERROR_INVALID_ARGUMENT : 18);
    }
    c.orientation = 1;
    for (int32_t pattern = 0; pattern <= 26; pattern++) {
        c.pattern = pattern;
        assert_int_equal(tendon_feelspace_encode_channel(&c, 4, bytes, 18),
                         pattern <= 5 || pattern == 8 ? 18 : TENDON_ERROR_INVALID_ARGUMENT);
    }
}

static void iterations_as_a_belt_reads_them(void **state) {
    (void)state;
    for (int32_t count = -1; count <= 255; count++) {
        tendon_feelspace_channel c = left, back = {0};
        c.iterations = count;
        uint8_t bytes[18];
        assert_int_equal(tendon_feelspace_encode_channel(&c, 4, bytes, 18), 18);
        assert_int_equal(bytes[11], count & 0xFF);
        assert_int_equal(tendon_feelspace_decode_channel(bytes, 18, &back, NULL), TENDON_OK);
        assert_int_equal(back.iterations, count >= 1 && count <= 127 ? count : -1);
        assert_int_equal(tendon_feelspace_iterations_endless(count), back.iterations == -1);
    }
}

static void navigation_signals(void **state) {
    (void)state;
    uint8_t bytes[18];
    assert_int_equal(tendon_feelspace_encode_navigation(1, 90, true, bytes, 18), 18);
    assert_hex(bytes, 18, "02 01 aa aa 00 00 03 5a 00 00 00 00 f4 01 00 00 00 00");
    for (int32_t signal = -1; signal <= TENDON_FEELSPACE_NAVIGATION_SIGNAL_COUNT; signal++) {
        tendon_status status = tendon_feelspace_encode_navigation(signal, 0, false, bytes, 18);
        assert_int_equal(status >= 0, tendon_feelspace_navigation_signal_repeated(signal));
    }
    assert_int_equal(tendon_feelspace_encode_warning_notice(true, bytes, 18), 18);
    assert_hex(bytes, 18, "00 03 aa aa 00 00 00 11 11 00 00 03 bc 02 00 00 01 00");
    assert_int_equal(tendon_feelspace_encode_warning_notice(false, bytes, 18), 18);
    assert_hex(bytes, 18, "00 06 19 00 00 00 01 00 00 00 00 02 f4 01 00 00 01 00");
}

static void usb_frames_cut_and_hostile(void **state) {
    (void)state;
    block whole = block_hex("2b 03 01 01 03");
    tendon_feelspace_usb_frame frame;
    for (size_t length = 0; length <= whole.length; length++) {
        block b = block_copy(whole.data, length);
        assert_int_equal(tendon_feelspace_decode_usb_frame(b.data, b.length, &frame, NULL),
                         length < 5 ? TENDON_ERROR_INCOMPLETE : 5);
        free(b.data);
    }
    assert_int_equal(frame.characteristic, TENDON_FEELSPACE_PARAMETER_NOTIFICATION);
    assert_int_equal(frame.length, 3);
    whole.data[1] = 23;
    assert_int_equal(tendon_feelspace_decode_usb_frame(whole.data, 2, &frame, NULL), TENDON_ERROR_MALFORMED);
    whole.data[0] = 1;
    assert_int_equal(tendon_feelspace_decode_usb_frame(whole.data, 1, &frame, NULL), TENDON_ERROR_MALFORMED);
    free(whole.data);
}

static void tones_of_the_buzzer(void **state) {
    (void)state;
    uint8_t bytes[20];
    const float bad[] = {-0.01f, 2.56f, NAN};
    const float hertz = 100.0f;
    /* 1000 Hz for 1 s, 50 Hz for 20 ms: units of 31.25 Hz and of 10 ms */
    const float tones[] = {1000.0f, 50.0f}, seconds[] = {1.0f, 0.02f};
    assert_int_equal(tendon_feelspace_encode_tone(seconds, tones, 2, bytes, 20), 6);
    assert_hex(bytes, 6, "01 02 20 01 64 02");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tendon_feelspace_encode_tone(&bad[i], &hertz, 1, bytes, 20), TENDON_ERROR_INVALID_ARGUMENT);
    }
}

static void usb_handles_are_those_of_the_fixed_profile(void **state) {
    (void)state;
    tendon_feelspace_handles handles;
    uint8_t bytes[20];
    assert_true(tendon_feelspace_usb_handles(0xFE05, &handles));
    assert_int_equal(tendon_feelspace_encode_usb_write(0xFE05, bytes, 0, bytes, 20), 2);
    static const uint16_t unknown[] = {0xFE00, 0xFE08, 0xFE15, 0x2A19, 0x0005};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_false(tendon_feelspace_usb_handles(unknown[i], &handles));
        assert_int_equal(tendon_feelspace_encode_usb_write(unknown[i], bytes, 0, bytes, 20),
                         TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(tendon_feelspace_encode_usb_notify(unknown[i], true, bytes, 20),
                         TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(tendon_feelspace_encode_usb_read(unknown[i], bytes, 20), TENDON_ERROR_INVALID_ARGUMENT);
    }
}

static void a_system_signal_needs_its_second_byte(void **state) {
    (void)state;
    uint8_t bytes[3];
    for (int32_t signal = 0; signal <= TENDON_FEELSPACE_SIGNAL_BATTERY; signal++) {
        assert_int_equal(tendon_feelspace_encode_system_signal(signal, bytes, 3),
                         signal < TENDON_FEELSPACE_SIGNAL_WARNING ? TENDON_ERROR_INVALID_ARGUMENT : 2);
    }
    assert_true(tendon_feelspace_belt_accepts(TENDON_FEELSPACE_MODE_WAIT, bytes, 2));
    assert_false(tendon_feelspace_belt_accepts(TENDON_FEELSPACE_MODE_WAIT, bytes, 1));
    assert_false(tendon_feelspace_belt_accepts(TENDON_FEELSPACE_MODE_WAIT, bytes, 0));
    bytes[1] = TENDON_FEELSPACE_SIGNAL_BATTERY + 1;
    assert_false(tendon_feelspace_belt_accepts(TENDON_FEELSPACE_MODE_WAIT, bytes, 2));
}

/* A stop and an endless vibration need the app mode; channels 0 to 5, or all. */
static void a_belt_stops_in_app_mode_alone(void **state) {
    (void)state;
    uint8_t packet[2];
    for (uint8_t mode = 0; mode < 8; mode++) {
        for (int channel = 0; channel <= 255; channel++) {
            assert_int_equal(tendon_feelspace_encode_stop(0, TENDON_FEELSPACE_CHANNELS_EXTENDED, packet, 2), 2);
            packet[1] = (uint8_t)channel;
            bool app = mode == TENDON_FEELSPACE_MODE_APP;
            assert_int_equal(tendon_feelspace_belt_accepts(mode, packet, 2), app && (channel < 6 || channel == 255));
            assert_false(tendon_feelspace_belt_accepts(mode, packet, 1));
        }
    }
}

/* Declaration, value and, where there is one, configuration: each handle of the table belongs to one characteristic,
 * the others to none. */
static void every_usb_handle_has_its_characteristic(void **state) {
    (void)state;
    static const uint16_t known[] = {0xFE01, 0xFE02, 0xFE03, 0xFE04, 0xFE05, 0xFE06, 0xFE07,
                                     0xFE09, 0xFE0A, 0xFE0B, 0xFE0C, 0xFE13, 0xFE14};
    uint16_t owners[256] = {0};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        tendon_feelspace_handles handles;
        assert_true(tendon_feelspace_usb_handles(known[i], &handles));
        assert_int_equal(handles.value, handles.declaration + 1);
        assert_true(handles.configuration == 0 || handles.configuration == handles.declaration + 2);
        owners[handles.declaration] = owners[handles.value] = known[i];
        if (handles.configuration != 0) {
            owners[handles.configuration] = known[i];
        }
    }
    for (unsigned handle = 0; handle <= 255; handle++) {
        const uint8_t bytes[] = {(uint8_t)handle, 2, 0xAA, 0xBB};
        tendon_feelspace_usb_frame frame;
        tendon_status status = tendon_feelspace_decode_usb_frame(bytes, sizeof bytes, &frame, NULL);
        assert_int_equal(status >= 0, owners[handle] != 0);
        if (status >= 0) {
            assert_int_equal(frame.characteristic, owners[handle]);
        }
    }
}

static void a_name_is_ascii(void **state) {
    (void)state;
    uint8_t bytes[20];
    for (unsigned c = 0; c <= 0xFF; c++) {
        const char name[] = {'b', (char)c};
        assert_int_equal(tendon_feelspace_encode_set_name(name, 2, bytes, 20),
                         c == 0 || c > 0x7F ? TENDON_ERROR_INVALID_ARGUMENT : 4);
    }
    assert_int_equal(tendon_feelspace_encode_set_name("123456789012345678", 18, bytes, 20), 20);
    assert_int_equal(tendon_feelspace_encode_set_name("1234567890123456789", 19, bytes, 20),
                     TENDON_ERROR_INVALID_ARGUMENT);
}

static void degrees_are_truncated_then_taken_modulo_360(void **state) {
    (void)state;
    static const struct {
        double degrees;
        uint16_t expected;
    } cases[] = {{0, 0},     {359.9, 359}, {360, 0},    {-0.9, 0},
                 {-1, 359},  {-360, 0},    {-721, 359}, {9007199254740992.0, 9007199254740992 % 360},
                 {725.5, 5}, {-90.5, 270}};
    uint16_t degrees;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(tendon_feelspace_degrees(cases[i].degrees, &degrees));
        assert_int_equal(degrees, cases[i].expected);
    }
    const double none[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_false(tendon_feelspace_degrees(none[i], &degrees));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_1_and_every_capacity),
        cmocka_unit_test(channels_come_back),
        cmocka_unit_test(masks),
        cmocka_unit_test(iterations_as_a_belt_reads_them),
        cmocka_unit_test(navigation_signals),
        cmocka_unit_test(usb_frames_cut_and_hostile),
        cmocka_unit_test(tones_of_the_buzzer),
        cmocka_unit_test(usb_handles_are_those_of_the_fixed_profile),
        cmocka_unit_test(a_system_signal_needs_its_second_byte),
        cmocka_unit_test(a_belt_stops_in_app_mode_alone),
        cmocka_unit_test(every_usb_handle_has_its_characteristic),
        cmocka_unit_test(a_name_is_ascii),
        cmocka_unit_test(degrees_are_truncated_then_taken_modulo_360),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
