/* SPDX-License-Identifier: MIT */
/* Fjorden codec: the worked examples of docs/protocols/fjorden.md, every cut, every byte where that is possible. */
#include "test_bytes.h"

#include "tendon/devices/fjorden.h"
#include "tendon/simulate/fjorden_services.h"

static void control_state_every_cut_and_byte_i02(void **state) {
    (void)state;
    block whole = block_hex("01 08 ff 00 34 12");
    for (size_t length = 0; length <= whole.length; length++) {
        block b = block_copy(whole.data, length);
        tendon_fjorden_control_state out = {.custom_mask = 77};
        tendon_status status = tendon_fjorden_decode_control_state(b.data, b.length, &out);
        assert_int_equal(status, length < 6 ? TENDON_FJORDEN_ERROR_SHORT : TENDON_OK);
        assert_int_equal(out.custom_mask, length < 6 ? 77 : 0);
        free(b.data);
    }
    for (unsigned value = 0; value <= 0xFF; value++) {
        tendon_fjorden_control_state out;
        uint8_t bytes[6] = {1, (uint8_t)value, 0, 0, 0, 0};
        assert_int_equal(tendon_fjorden_decode_control_state(bytes, 6, &out), TENDON_OK);
        assert_int_equal(out.shutter, (value & 2) != 0 ? 2 : value & 1);
        assert_int_equal(out.dial_pressed, (value & 4) != 0);
        assert_int_equal(out.fn_pressed, (value & 8) != 0);
        uint8_t lever[6] = {1, 0, (uint8_t)value, 0, 0, 0};
        bool fits = value <= 1 || value == 0xFF;
        assert_int_equal(tendon_fjorden_decode_control_state(lever, 6, &out),
                         fits ? TENDON_OK : TENDON_FJORDEN_ERROR_VALUE);
        uint8_t version[6] = {(uint8_t)value, 0, 0, 0, 0, 0};
        assert_int_equal(tendon_fjorden_decode_control_state(version, 6, &out),
                         value == 1 ? TENDON_OK : TENDON_FJORDEN_ERROR_VERSION);
    }
    free(whole.data);
}

static void assert_command(tendon_fjorden_command command, const char *hex) {
    uint8_t out[TENDON_FJORDEN_COMMAND_MAX];
    tendon_status length = tendon_fjorden_encode_command(&command, out, sizeof out);
    assert_true(length > 0);
    assert_hex(out, (size_t)length, hex);
    for (size_t room = 0; room < (size_t)length; room++) {
        assert_int_equal(tendon_fjorden_encode_command(&command, out, room), TENDON_ERROR_BUFFER_TOO_SMALL);
    }
}

static void examples_16_to_19(void **state) {
    (void)state;
    assert_command((tendon_fjorden_command){TENDON_FJORDEN_PING, 1, (const uint8_t *)"\x55", 1, 0, 0, {0, 0, 0}},
                   "01 01 55");
    assert_command(
        (tendon_fjorden_command){
            .opcode = TENDON_FJORDEN_SET_LED, .request_id = 2, .led_mode = 2, .led_duration_ms = 3000},
        "02 02 02 b8 0b");
    assert_command(
        (tendon_fjorden_command){.opcode = TENDON_FJORDEN_SET_CONFIG, .request_id = 3, .config = {500, 400, 1}},
        "04 03 f4 01 90 01 01");
    block b = block_hex("85 04 00 01 01 00 00 00 00");
    for (size_t length = 0; length <= b.length; length++) {
        block cut = block_copy(b.data, length);
        tendon_fjorden_response out;
        tendon_status status = tendon_fjorden_decode_response(cut.data, length, &out);
        assert_int_equal(status, length < 9 ? TENDON_FJORDEN_ERROR_SHORT : TENDON_OK);
        if (status == TENDON_OK) {
            assert_int_equal(out.state.shutter, 1);
        }
        free(cut.data);
    }
    free(b.data);
}

static void command_ranges(void **state) {
    (void)state;
    uint8_t out[32];
    tendon_fjorden_command c = {.opcode = TENDON_FJORDEN_SET_CONFIG};
    for (uint32_t value = 0; value <= 0xFFFF; value++) {
        c.config = (tendon_fjorden_config){(uint16_t)value, 400, 1};
        bool fits = value >= 200 && value <= 2000;
        assert_int_equal(tendon_fjorden_encode_command(&c, out, 32), fits ? 7 : TENDON_FJORDEN_ERROR_RANGE);
        c.config = (tendon_fjorden_config){500, (uint16_t)value, 1};
        fits = value >= 150 && value <= 2000;
        assert_int_equal(tendon_fjorden_encode_command(&c, out, 32), fits ? 7 : TENDON_FJORDEN_ERROR_RANGE);
    }
    for (unsigned value = 0; value <= 0xFF; value++) {
        c.config = (tendon_fjorden_config){500, 400, (uint8_t)value};
        bool fits = value >= 1 && value <= 8;
        assert_int_equal(tendon_fjorden_encode_command(&c, out, 32), fits ? 7 : TENDON_FJORDEN_ERROR_RANGE);
        tendon_fjorden_command led = {.opcode = TENDON_FJORDEN_SET_LED, .led_mode = (uint8_t)value};
        assert_int_equal(tendon_fjorden_encode_command(&led, out, 32), value < 4 ? 5 : TENDON_FJORDEN_ERROR_RANGE);
    }
    uint8_t payload[18] = {0};
    tendon_fjorden_command ping = {.opcode = TENDON_FJORDEN_PING, .payload = payload, .payload_length = 18};
    assert_int_equal(tendon_fjorden_encode_command(&ping, out, 32), TENDON_FJORDEN_ERROR_LENGTH);
}

/* The parameter that is out of its range is named. */
static void command_faults(void **state) {
    (void)state;
    static const struct {
        tendon_fjorden_command command;
        const char *fault;
    } rows[] = {
        {{.opcode = TENDON_FJORDEN_PING, .payload_length = 17}, NULL},
        {{.opcode = TENDON_FJORDEN_PING, .payload_length = 18}, "payload: at most 17 bytes"},
        {{.opcode = TENDON_FJORDEN_SET_LED, .led_mode = 3}, NULL},
        {{.opcode = TENDON_FJORDEN_SET_LED, .led_mode = 4}, "mode: 0 to 3"},
        {{.opcode = TENDON_FJORDEN_SET_CONFIG, .config = {2000, 150, 8}}, NULL},
        {{.opcode = TENDON_FJORDEN_SET_CONFIG, .config = {199, 400, 1}}, "longPress: 200 to 2000 ms"},
        {{.opcode = TENDON_FJORDEN_SET_CONFIG, .config = {500, 2001, 1}}, "leverHold: 150 to 2000 ms"},
        {{.opcode = TENDON_FJORDEN_SET_CONFIG, .config = {500, 400, 0}}, "dialDivider: 1 to 8"},
        {{.opcode = TENDON_FJORDEN_POWER_OFF}, NULL},
        {{.opcode = (tendon_fjorden_opcode)8}, "opcode: 1 to 7"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *fault = tendon_fjorden_command_fault(&rows[i].command);
        assert_int_equal(fault == NULL, rows[i].fault == NULL);
        if (fault != NULL) {
            assert_string_equal(fault, rows[i].fault);
        }
    }
}

static void stream_every_gap_i05(void **state) {
    (void)state;
    tendon_fjorden_profile profile;
    tendon_fjorden_profile_init(&profile);
    for (unsigned next = 0; next <= 0xFF; next++) {
        uint8_t first[5] = {100, 0x01, 0xFA, 0xFF, 0}, second[5] = {(uint8_t)next, 0x03, 5, 0, 0};
        tendon_fjorden_stream stream = {0};
        tendon_fjorden_records walk;
        tendon_fjorden_record record;
        assert_int_equal(tendon_fjorden_stream_begin(&stream, &walk, &profile, first, 5), TENDON_OK);
        assert_true(tendon_fjorden_stream_next(&stream, &walk, &record));
        assert_int_equal(tendon_fjorden_stream_begin(&stream, &walk, &profile, second, 5), TENDON_OK);
        unsigned gap = (next - 101u) & 0xFFu;
        bool accepted = gap < 128;
        assert_int_equal(tendon_fjorden_stream_next(&stream, &walk, &record), accepted);
        assert_int_equal(stream.duplicates, next == 100);
        assert_int_equal(stream.out_of_order, !accepted && next != 100);
        assert_int_equal(stream.lost, accepted ? gap : 0);
        assert_int_equal(stream.needs_resync, accepted && gap > 0);
        assert_int_equal(stream.time_ms, accepted ? 65541 : 65530);
    }
}

static void notification_lengths_and_values(void **state) {
    (void)state;
    tendon_fjorden_profile profile;
    tendon_fjorden_profile_init(&profile);
    for (size_t length = 0; length <= 25; length++) {
        uint8_t zeros[25] = {0};
        block b = block_copy(zeros, length);
        tendon_fjorden_records walk;
        tendon_fjorden_record record;
        bool fits = length > 0 && length % 5 == 0;
        assert_int_equal(tendon_fjorden_records_begin(&walk, &profile, b.data, length),
                         fits ? TENDON_OK : TENDON_FJORDEN_ERROR_LENGTH);
        size_t count = 0;
        while (tendon_fjorden_records_next(&walk, &record)) {
            count++;
        }
        assert_int_equal(count, fits ? length / 5 : 0);
        free(b.data);
    }
    for (unsigned value = 0; value <= 0xFF; value++) {
        uint8_t bytes[10] = {1, 0x11, 0, 0, (uint8_t)value, 2, 0x80, 0, 0, (uint8_t)value};
        tendon_fjorden_records walk;
        tendon_fjorden_record record;
        assert_int_equal(tendon_fjorden_records_begin(&walk, &profile, bytes, 10), TENDON_OK);
        assert_true(tendon_fjorden_records_next(&walk, &record));
        assert_int_equal(record.status, value >= 1 && value <= 127 ? TENDON_OK : TENDON_FJORDEN_ERROR_VALUE);
        assert_true(tendon_fjorden_records_next(&walk, &record));
        assert_int_equal(record.status, value <= 100 ? TENDON_OK : TENDON_FJORDEN_ERROR_VALUE);
    }
}

static void resync_makes_up_releases_only(void **state) {
    (void)state;
    for (unsigned shutter = 0; shutter <= 3; shutter++) {
        for (unsigned lever = 0x30; lever <= 0x35; lever++) {
            for (unsigned now = 0; now < 9; now++) {
                tendon_fjorden_control_state s = {.shutter = (uint8_t)(now / 3), .lever = (int8_t)((int)(now % 3) - 1)};
                int side = lever == 0x31 || lever == 0x33 ? -1 : lever == 0x32 || lever == 0x34 ? 1 : 0;
                bool release = (shutter == 1 || shutter == 2) && s.shutter == 0, neutral = side != 0 && s.lever != side;
                uint8_t events[2] = {0, 0};
                size_t count = tendon_fjorden_resync((uint8_t)shutter, (uint8_t)lever, &s, events);
                assert_int_equal(count, release + neutral);
                assert_int_equal(events[0], release ? 0x03 : neutral ? 0x35 : 0);
            }
        }
    }
}

static void firmware_order(void **state) {
    (void)state;
    static const char *const rising[] = {"1.1.2",         "1.2.0-1",    "1.2.0-2", "1.2.0-11", "1.2.0-alpha",
                                         "1.2.0-alpha.1", "1.2.0-rc.1", "v1.2",    "1.10",     "2"};
    enum { COUNT = sizeof rising / sizeof rising[0] };
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < COUNT; j++) {
            tendon_fjorden_version a, b;
            assert_true(tendon_fjorden_version_parse(rising[i], strlen(rising[i]), &a));
            assert_true(tendon_fjorden_version_parse(rising[j], strlen(rising[j]), &b));
            assert_int_equal(tendon_fjorden_version_compare(&a, &b), i < j ? -1 : i > j);
        }
    }
    static const char *const wrong[] = {"",       "v",    "1.",   "1.2.x", "1.2.3.4", "65536", "000001",        "1-",
                                        "1-a..b", "1-.a", "1-a.", "1+",    "1 2",     "-1",    "1.2.3-\xc3\xa9"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        block b = block_copy(wrong[i], strlen(wrong[i]));
        tendon_fjorden_version v;
        assert_false(tendon_fjorden_version_parse((const char *)b.data, b.length, &v));
        free(b.data);
    }
}

static void examples_20_to_24(void **state) {
    (void)state;
    for (unsigned value = 0; value <= 0xFF; value++) {
        uint8_t byte = (uint8_t)value;
        assert_int_equal(tendon_fjorden_decode_battery(&byte, 1),
                         value <= 100 ? (int)value : TENDON_FJORDEN_ERROR_RANGE);
    }
    assert_int_equal(tendon_fjorden_decode_hid_report((const uint8_t *)"\xe9\x00", 2), 0xE9);
    assert_int_equal(tendon_fjorden_decode_hid_report((const uint8_t *)"\x9d\x02", 2), TENDON_FJORDEN_ERROR_RANGE);
    uint8_t out[16];
    assert_int_equal(tendon_fjorden_encode_smp(TENDON_FJORDEN_SMP_ECHO, 7, "hi", 2, out, 16), 14);
    assert_hex(out, 14, "02 00 00 06 00 00 07 00 a1 61 64 62 68 69");
    for (size_t length = 0; length <= 14; length++) {
        block b = block_copy(out, length);
        tendon_fjorden_smp smp;
        assert_int_equal(tendon_fjorden_decode_smp(b.data, length, &smp), length < 8    ? TENDON_FJORDEN_ERROR_SHORT
                                                                          : length < 14 ? TENDON_ERROR_TRUNCATED
                                                                                        : TENDON_OK);
        free(b.data);
    }
    for (uint8_t first = 0; first <= 7; first++) { /* read, its response, write, its response; others are none */
        tendon_fjorden_smp smp;
        out[0] = first;
        assert_int_equal(tendon_fjorden_decode_smp(out, 14, &smp),
                         first <= 3 ? TENDON_OK : TENDON_FJORDEN_ERROR_OPERATION);
    }
}

/* The length in the header of the management protocol: every one, with bodies that are shorter and longer. */
static void mal_I04_a_body_of_another_length(void **state) {
    (void)state;
    for (size_t body = 0; body <= 40; body++) {
        for (unsigned stated = 0; stated <= 0xFFFF; stated += stated < 64 ? 1 : 251) {
            uint8_t bytes[48] = {3, 0, (uint8_t)(stated >> 8), (uint8_t)stated, 0, 1, 7, 5};
            block b = block_copy(bytes, 8 + body);
            tendon_fjorden_smp smp = {0};
            tendon_status status = tendon_fjorden_decode_smp(b.data, b.length, &smp);
            assert_int_equal(status, stated > body ? TENDON_ERROR_TRUNCATED : TENDON_OK);
            if (status == TENDON_OK) {
                assert_true(smp.length == stated && smp.payload + stated <= b.data + b.length);
            }
            free(b.data);
        }
    }
}

/* A name has the whole prefix; nothing behind its end is read. */
static void names_of_grips(void **state) {
    (void)state;
    tendon_fjorden_profile profile;
    tendon_fjorden_profile_init(&profile);
    size_t prefix = strlen(profile.name_prefix);
    assert_true(prefix > 1);
    char name[64];
    snprintf(name, sizeof name, "%s Grip", profile.name_prefix);
    for (size_t length = 0; length <= strlen(name); length++) {
        assert_int_equal(tendon_fjorden_profile_matches_name(&profile, name, length), length >= prefix);
    }
    name[prefix - 1]++;
    assert_false(tendon_fjorden_profile_matches_name(&profile, name, strlen(name)));
}

/* Notifications of a wrong length, and nothing else, are counted as bad. */
static void bad_notifications_are_counted(void **state) {
    (void)state;
    tendon_fjorden_profile profile;
    tendon_fjorden_profile_init(&profile);
    tendon_fjorden_stream stream = {0};
    tendon_fjorden_records walk;
    static const uint8_t bytes[11] = {1, TENDON_FJORDEN_SHUTTER_DOWN, 0, 0, 0, 2, TENDON_FJORDEN_SHUTTER_RELEASED};
    unsigned bad = 0;
    for (size_t length = 0; length <= sizeof bytes; length++) {
        bool fits = length == 5 || length == 10;
        bad += !fits;
        assert_int_equal(tendon_fjorden_stream_begin(&stream, &walk, &profile, bytes, length),
                         fits ? TENDON_OK : TENDON_FJORDEN_ERROR_LENGTH);
        assert_int_equal(stream.bad_notifications, bad);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_state_every_cut_and_byte_i02),
        cmocka_unit_test(examples_16_to_19),
        cmocka_unit_test(command_ranges),
        cmocka_unit_test(command_faults),
        cmocka_unit_test(stream_every_gap_i05),
        cmocka_unit_test(notification_lengths_and_values),
        cmocka_unit_test(resync_makes_up_releases_only),
        cmocka_unit_test(firmware_order),
        cmocka_unit_test(examples_20_to_24),
        cmocka_unit_test(mal_I04_a_body_of_another_length),
        cmocka_unit_test(names_of_grips),
        cmocka_unit_test(bad_notifications_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
