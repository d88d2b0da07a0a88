/* SPDX-License-Identifier: MIT */
/* Activ5 values of both generations, from literal bytes; numbers in the names are those of the worked examples. */
#include "test_bytes.h"

#include "tendon/devices/activ5.h"

#include <float.h>
#include <math.h>

#define E(name) TENDON_ACTIV5_ERROR_##name

static void near(double value, double expected) {
    double limit = 1e-9 * fmax(fabs(expected), 1e-12);
    if (!(fabs(value - expected) <= limit)) {
        fail_msg("got %.17g, expected %.17g", value, expected);
    }
}

static tendon_activ5_message message;

static tendon_status value(tendon_activ5_characteristic which, const char *hex) {
    block b = block_hex(hex);
    tendon_status status = tendon_activ5_parse_value(which, b.data, b.length, &message);
    free(b.data);
    return status;
}

static void said(tendon_activ5_message_type type, const char *expected) {
    assert_int_equal(message.type, type);
    assert_int_equal(message.text_length, strlen(expected));
    assert_memory_equal(message.text, expected, strlen(expected));
}

/* ---- host to device ---- */

static void example_01_commands_with_both_terminators(void **state) {
    (void)state;
    static const char *const expected[TENDON_ACTIV5_COMMAND_COUNT] = {
        "41 54 56 47 54 49 4D 45 13", "41 49 53 4F 4D 21 13", "41 54 41 52 45 21 13", "41 53 54 4F 50 21 13",
        "41 53 4E 31 21 13",          "41 53 4E 32 21 13",    "41 49 44 31 21 13",    "41 49 44 32 21 13",
    };
    for (unsigned c = 0; c < TENDON_ACTIV5_ASK_BATTERY; c++) {
        uint8_t out[16];
        tendon_status length =
            tendon_activ5_encode_command((tendon_activ5_command)c, TENDON_ACTIV5_TERMINATOR, out, sizeof out);
        assert_true(length > 0);
        assert_hex(out, (size_t)length, expected[c]);
        /* no room: nothing beyond the buffer */
        for (size_t size = 0; size < (size_t)length; size++) {
            uint8_t *small = malloc(size + 1);
            assert_int_equal(tendon_activ5_encode_command((tendon_activ5_command)c, 0x13, small, size),
                             TENDON_ERROR_BUFFER_TOO_SMALL);
            free(small);
        }
        assert_int_equal(tendon_activ5_command_read((tendon_activ5_command)c), TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN);
    }
    uint8_t out[7];
    assert_int_equal(tendon_activ5_encode_command(TENDON_ACTIV5_STOP, TENDON_ACTIV5_TERMINATOR_WEB, out, sizeof out),
                     7);
    assert_hex(out, 7, "41 53 54 4F 50 21 19");
}

static void commands_that_are_reads_have_no_text(void **state) {
    (void)state;
    uint8_t out[16];
    assert_int_equal(tendon_activ5_command_read(TENDON_ACTIV5_ASK_BATTERY), TENDON_ACTIV5_BATTERY);
    assert_int_equal(tendon_activ5_command_read(TENDON_ACTIV5_ASK_SERIAL_NUMBER), TENDON_ACTIV5_SERIAL_NUMBER);
    assert_int_equal(tendon_activ5_encode_command(TENDON_ACTIV5_ASK_BATTERY, 0x13, out, sizeof out),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_activ5_encode_command(TENDON_ACTIV5_ASK_SERIAL_NUMBER, 0x13, out, sizeof out),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_activ5_encode_command(TENDON_ACTIV5_COMMAND_COUNT, 0x13, out, sizeof out),
                     TENDON_ERROR_INVALID_ARGUMENT);
    assert_string_equal(tendon_activ5_command_text(TENDON_ACTIV5_ASK_BATTERY), "2A19");
    assert_string_equal(tendon_activ5_command_text(TENDON_ACTIV5_ASK_SERIAL_NUMBER), "2A25");
    assert_string_equal(tendon_activ5_command_text(TENDON_ACTIV5_DO_HANDSHAKE), "TVGTIME");
    assert_null(tendon_activ5_command_text(TENDON_ACTIV5_COMMAND_COUNT));
    assert_null(tendon_activ5_command_name(TENDON_ACTIV5_COMMAND_COUNT));
}

static void any_text_is_framed(void **state) {
    (void)state;
    uint8_t out[TENDON_ACTIV5_TEXT_MAX];
    assert_int_equal(tendon_activ5_encode_text("", 0, 0x13, out, sizeof out), 2);
    assert_hex(out, 2, "41 13");
    char longest[TENDON_ACTIV5_TEXT_MAX] = {0};
    assert_int_equal(tendon_activ5_encode_text(longest, TENDON_ACTIV5_TEXT_MAX - 2, 0x13, out, sizeof out),
                     TENDON_ACTIV5_TEXT_MAX);
    assert_int_equal(tendon_activ5_encode_text(longest, TENDON_ACTIV5_TEXT_MAX - 1, 0x13, out, sizeof out),
                     TENDON_ERROR_INVALID_ARGUMENT);
}

static void example_15_sample_rate_is_an_int16(void **state) {
    (void)state;
    static const struct {
        int64_t rate;
        const char *hex; /* NULL: RANGE */
    } cases[] = {{25, "19 00"}, {0, "00 00"},   {-1, "FF FF"},     {32767, "FF 7F"},  {-32768, "00 80"}, {416, "A0 01"},
                 {32768, NULL}, {-32769, NULL}, {INT64_MAX, NULL}, {INT64_MIN, NULL}, {1000000, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t out[2] = {0xAA, 0xAA};
        tendon_status status = tendon_activ5_encode_sample_rate(cases[i].rate, out);
        assert_int_equal(status, cases[i].hex != NULL ? TENDON_OK : E(RANGE));
        assert_hex(out, 2, cases[i].hex != NULL ? cases[i].hex : "AA AA");
    }
}

/* ---- binary values ---- */

static void mal_I01_I02_I03_examples_11_and_12_force(void **state) {
    (void)state;
    assert_int_equal(value(TENDON_ACTIV5_FORCE, "00 FF"), TENDON_OK);
    near(message.raw, -256);
    near(message.newtons, -69.52016872704);
    assert_int_equal(value(TENDON_ACTIV5_FORCE, "2C 01"), TENDON_OK);
    near(message.newtons, 81.468947727);
    assert_int_equal(value(TENDON_ACTIV5_FORCE, "64 00 FF"), TENDON_OK); /* bytes behind it mean nothing */
    near(message.newtons, 27.156315909);
    assert_int_equal(value(TENDON_ACTIV5_FORCE, "2C"), E(SHORT));
    assert_int_equal(value(TENDON_ACTIV5_FORCE, ""), E(SHORT));
    assert_int_equal(value(TENDON_ACTIV5_OLD_FORCE, "2C 01"), TENDON_OK); /* not asked for: unknown */
    assert_int_equal(message.type, TENDON_ACTIV5_MESSAGE_UNKNOWN);
    for (int raw = -32768; raw <= 32767; raw++) {
        uint8_t bytes[2] = {(uint8_t)(raw & 0xFF), (uint8_t)(raw >> 8 & 0xFF)};
        assert_int_equal(tendon_activ5_parse_value(TENDON_ACTIV5_FORCE, bytes, 2, &message), TENDON_OK);
        assert_true(message.raw == raw && message.type == TENDON_ACTIV5_MESSAGE_ISOMETRIC);
    }
}

static void mal_I02_I03_examples_13_and_14_motion(void **state) {
    (void)state;
    static const char frame[] = "FF 0F FE 1F FF 07 FF 0F FE 1F FF 07 92 09 09 07";
    assert_int_equal(value(TENDON_ACTIV5_IMU, frame), TENDON_OK);
    assert_int_equal(message.type, TENDON_ACTIV5_MESSAGE_IMU);
    const double g[3] = {1.0, 2.0, 2047 / 4095.0};
    const double w[3] = {4.363323129985823, 8.726646259971647, 2.181128802705978};
    for (int i = 0; i < 3; i++) {
        near(message.imu.acceleration[i], g[i]);
        assert_true(fabs(message.imu.gyro[i] - w[i]) < 1e-9);
        near(tendon_activ5_scaled(&message.imu).gyro[i], message.imu.gyro[i] * 1.15);
        near(tendon_activ5_scaled(&message.imu).acceleration[i], g[i]);
    }
    assert_true(fabs(message.imu.timestamp - 1799.9999865) < 1e-6);
    assert_int_equal(value(TENDON_ACTIV5_IMU, "3E 00 F2 FE AB 10 F6 FF DE FC EC FF E2 2A 16 00 AA"), TENDON_OK);
    assert_true(fabs(message.imu.acceleration[1] + 0.0659340659341) < 1e-9);
    assert_true(fabs(message.imu.gyro[1] + 0.8545507082414) < 1e-9);
    near(message.imu.timestamp, 22.1547425);
    assert_int_equal(value(TENDON_ACTIV5_IMU, "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 80"), TENDON_OK);
    assert_int_equal(message.imu.ticks, INT32_MIN);
    near(message.imu.timestamp, -32749.125632);
    block b = block_hex(frame);
    for (size_t length = 0; length < b.length; length++) {
        block cut = block_copy(b.data, length);
        assert_int_equal(tendon_activ5_parse_value(TENDON_ACTIV5_IMU, cut.data, cut.length, &message), E(SHORT));
        assert_int_equal(message.type, TENDON_ACTIV5_MESSAGE_UNKNOWN);
        free(cut.data);
    }
    free(b.data);
}

static void mal_I02_I06_timestamps_and_the_time_between_them(void **state) {
    (void)state;
    assert_int_equal(value(TENDON_ACTIV5_TIMESTAMP, "26 00 01 00"), TENDON_OK);
    assert_int_equal(message.ticks, 65574);
    near(message.seconds, 1.0000035);
    assert_int_equal(value(TENDON_ACTIV5_TIMESTAMP, "00 28 6B EE FF"), TENDON_OK);
    near(message.seconds, 61000);
    for (int length = 0; length < 4; length++) {
        assert_int_equal(value(TENDON_ACTIV5_TIMESTAMP, &"01 02 03"[9 - 3 * length > 8 ? 8 : 9 - 3 * length]),
                         E(SHORT));
    }
    assert_int_equal(tendon_activ5_tick_delta(4294967000u, 500), 796);
    assert_int_equal(tendon_activ5_tick_delta(7, 7), 0);
    assert_int_equal(tendon_activ5_tick_delta(0, 4294967295u), 4294967295u);
}

static void mal_I01_I03_example_16_battery(void **state) {
    (void)state;
    for (unsigned percent = 0; percent < 256; percent++) {
        uint8_t byte = (uint8_t)percent;
        tendon_status status = tendon_activ5_parse_value(TENDON_ACTIV5_BATTERY, &byte, 1, &message);
        assert_int_equal(status, percent <= 100 ? TENDON_OK : E(RANGE));
        assert_int_equal(message.percent, percent <= 100 ? percent : 0);
    }
    assert_int_equal(value(TENDON_ACTIV5_BATTERY, ""), E(SHORT));
    assert_int_equal(value(TENDON_ACTIV5_BATTERY, "4B 00"), E(LENGTH));
    assert_int_equal(value(TENDON_ACTIV5_BATTERY, "FF FF"), E(LENGTH));
}

static void serial_and_ids_are_whole_values(void **state) {
    (void)state;
    assert_int_equal(value(TENDON_ACTIV5_SERIAL_NUMBER, "4e c2 b0 37"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_SERIAL_NUMBER, "N\xC2\xB0"
                                              "7");
    assert_int_equal(value(TENDON_ACTIV5_UUID1, "61 00 62"), TENDON_OK);
    assert_int_equal(message.text_length, 3);
    assert_int_equal(value(TENDON_ACTIV5_UUID2, "00 61 00 62 00"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_UUID2, "ab");
    assert_int_equal(value(TENDON_ACTIV5_UUID2, ""), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_UUID2, "");
    assert_int_equal(value(TENDON_ACTIV5_UUID1, "fe"), E(BAD_ENCODING));
    uint8_t *longest = calloc(1, TENDON_ACTIV5_TEXT_MAX + 1);
    assert_int_equal(tendon_activ5_parse_value(TENDON_ACTIV5_SERIAL_NUMBER, longest, TENDON_ACTIV5_TEXT_MAX, &message),
                     TENDON_OK);
    assert_int_equal(message.text_length, TENDON_ACTIV5_TEXT_MAX);
    assert_int_equal(
        tendon_activ5_parse_value(TENDON_ACTIV5_SERIAL_NUMBER, longest, TENDON_ACTIV5_TEXT_MAX + 1, &message),
        E(OVERFLOW));
    free(longest);
}

static void what_is_not_known_is_unknown_and_no_error(void **state) {
    (void)state;
    static const tendon_activ5_characteristic others[] = {TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN,
                                                          TENDON_ACTIV5_TEXT_OUTPUT,
                                                          TENDON_ACTIV5_TEXT_COMMAND,
                                                          TENDON_ACTIV5_SAMPLE_RATE,
                                                          TENDON_ACTIV5_OLD_FORCE,
                                                          TENDON_ACTIV5_CHARACTERISTIC_COUNT,
                                                          (tendon_activ5_characteristic)200};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_int_equal(value(others[i], "41 42"), TENDON_OK);
        assert_int_equal(message.type, TENDON_ACTIV5_MESSAGE_UNKNOWN);
        assert_int_equal(value(others[i], ""), TENDON_OK);
    }
}

static void ids_are_joined_without_padding(void **state) {
    (void)state;
    uint8_t out[8];
    const uint8_t first[] = {'a', 'b'}, second[] = {'c', 0, 'd', 0};
    assert_int_equal(tendon_activ5_join_uuid(first, 2, second, 4, out, sizeof out), 4);
    assert_memory_equal(out, "abcd", 4);
    for (size_t size = 0; size < 4; size++) {
        assert_int_equal(tendon_activ5_join_uuid(first, 2, second, 4, out, size), TENDON_ERROR_BUFFER_TOO_SMALL);
    }
    assert_int_equal(tendon_activ5_join_uuid(NULL, 0, second, 4, out, sizeof out), 2);
}

/* ---- conversions ---- */

static void conversions(void **state) {
    (void)state;
    near(tendon_activ5_to_g(-1), -0.0002442002442002442);
    near(tendon_activ5_to_rad_per_s(32767), 34.91404371190366);
    near(tendon_activ5_to_s(65574), 1.0000035);
    near(tendon_activ5_to_newtons(4), 1.08625263636);
    near(tendon_activ5_to_newtons_legacy(3000), 3258.75790899);
    assert_true(fabs((double)tendon_activ5_to_lbf(100) - 6.10498269896194) < 6e-6);
    assert_true(fabs((double)tendon_activ5_to_lbf_legacy(100) - 24.419930795) < 2.4e-5);
    assert_int_equal(tendon_activ5_from_g(2.0002), 8190);
    assert_int_equal(tendon_activ5_from_g(-2.0002), -8190);
    assert_int_equal(tendon_activ5_from_rad_per_s(4.3633231299858), 4094);
    assert_int_equal(tendon_activ5_from_s(1), 65573);
    for (int raw = -32768; raw <= 32767; raw++) {
        int64_t back = tendon_activ5_from_rad_per_s(tendon_activ5_to_rad_per_s(raw));
        assert_true(llabs(back - raw) <= 1 && llabs(back) <= llabs((int64_t)raw)); /* truncation: one lower at most */
    }
}

static void conversions_saturate_and_nan_is_0(void **state) {
    (void)state;
    int64_t (*const from[])(double) = {tendon_activ5_from_g, tendon_activ5_from_rad_per_s, tendon_activ5_from_s};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(from[i](NAN), 0);
        assert_true(from[i](INFINITY) == INT64_MAX && from[i](-INFINITY) == INT64_MIN);
        assert_true(from[i](DBL_MAX) == INT64_MAX && from[i](-DBL_MAX) == INT64_MIN);
        assert_int_equal(from[i](0.0), 0);
        assert_true(from[i](1e18) == INT64_MAX);
    }
}

/* ---- names ---- */

static void names_and_numbers(void **state) {
    (void)state;
    static const uint16_t uuids[] = {0,      0x5A01, 0x5A02, 0xF0FE, 0xF0F5, 0xF0F3,
                                     0xF0F7, 0xF0F8, 0xF0FA, 0x2A19, 0x2A25, 0xF0F1};
    for (unsigned i = 0; i < TENDON_ACTIV5_CHARACTERISTIC_COUNT; i++) {
        assert_int_equal(tendon_activ5_uuid((tendon_activ5_characteristic)i), uuids[i]);
        tendon_uuid uuid = tendon_uuid_from_u16(uuids[i]);
        assert_int_equal(tendon_activ5_characteristic_of(&uuid), i);
        uuid.bytes[15] ^= 1;
        assert_int_equal(tendon_activ5_characteristic_of(&uuid), TENDON_ACTIV5_CHARACTERISTIC_UNKNOWN);
    }
    assert_int_equal(tendon_activ5_uuid((tendon_activ5_characteristic)99), 0);
    assert_int_equal(tendon_activ5_uuid(TENDON_ACTIV5_CHARACTERISTIC_COUNT), 0);
    assert_string_equal(tendon_activ5_message_type_name(TENDON_ACTIV5_MESSAGE_INITIAL), "initialMessage");
    assert_string_equal(tendon_activ5_message_type_name(TENDON_ACTIV5_MESSAGE_SERIAL_NUMBER), "serialNumber");
    assert_string_equal(tendon_activ5_message_type_name((tendon_activ5_message_type)77), "unknown");
    assert_string_equal(tendon_activ5_command_name(TENDON_ACTIV5_ASK_UUID2), "uuid2");
    assert_string_equal(tendon_activ5_status_name(E(EMPTY)), "EMPTY");
    assert_string_equal(tendon_activ5_status_name(E(IMU_UNSUPPORTED)), "imuUnsupported");
    assert_string_equal(tendon_activ5_status_name(E(BATTERY_LEVEL_NOT_READABLE)), "batteryLevelNotReadable");
    assert_string_equal(tendon_activ5_status_name(TENDON_ERROR_TIMEOUT), "ERROR_TIMEOUT");
    assert_string_equal(tendon_activ5_status_text(E(RANGE)), "the number is out of range");
    assert_string_equal(tendon_activ5_status_text(TENDON_ERROR_TIMEOUT), "the deadline passed");
    assert_string_equal(tendon_activ5_press_name(TENDON_ACTIV5_PRESS_FIRST_COMPLETED), "firstPressCompleted");
    assert_string_equal(tendon_activ5_data_state_name(TENDON_ACTIV5_STATE_STOP), "stop");
}

static void an_advertisement_names_the_service(void **state) {
    (void)state;
    block ours = block_hex("02 01 06 03 03 00 50");
    block others = block_hex("02 01 06 03 03 01 50");
    block cut = block_hex("02 01 06 03 03 00");
    assert_true(tendon_activ5_recognize(ours.data, ours.length));
    assert_false(tendon_activ5_recognize(others.data, others.length));
    assert_false(tendon_activ5_recognize(cut.data, cut.length));
    free(ours.data);
    free(others.data);
    free(cut.data);
}

static bool is_documented(tendon_status status, const tendon_status *documented, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (documented[i] == status) {
            return true;
        }
    }
    return false;
}

/** What a successful result promises about its text. */
static void assert_text_of(const tendon_activ5_message *m) {
    assert_true(m->text_length <= sizeof m->text);
    assert_true(tendon_activ5_is_utf8(m->text, m->text_length));
}

static void random_bytes_end_with_a_documented_status(void **state) {
    (void)state;
    static const tendon_status of_text[] = {TENDON_OK, E(BAD_ENCODING), E(EMPTY), E(MALFORMED), E(OVERFLOW)};
    static const tendon_status of_value[] = {TENDON_OK, E(SHORT), E(LENGTH), E(RANGE), E(BAD_ENCODING), E(OVERFLOW)};
    dice d = {0x5EED5EED1234};
    for (int i = 0; i < 20000; i++) {
        block b = block_random(&d, (size_t)(roll(&d) % 140));
        tendon_status status = tendon_activ5_parse_text(b.data, b.length, &message);
        assert_true(is_documented(status, of_text, sizeof of_text / sizeof of_text[0]));
        if (status == TENDON_OK) {
            assert_text_of(&message);
        }
        for (unsigned which = 0; which < TENDON_ACTIV5_CHARACTERISTIC_COUNT; which++) {
            status = tendon_activ5_parse_value((tendon_activ5_characteristic)which, b.data, b.length, &message);
            assert_true(is_documented(status, of_value, sizeof of_value / sizeof of_value[0]));
            if (status == TENDON_OK) {
                assert_text_of(&message);
            }
        }
        free(b.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_01_commands_with_both_terminators),
        cmocka_unit_test(commands_that_are_reads_have_no_text),
        cmocka_unit_test(any_text_is_framed),
        cmocka_unit_test(example_15_sample_rate_is_an_int16),
        cmocka_unit_test(mal_I01_I02_I03_examples_11_and_12_force),
        cmocka_unit_test(mal_I02_I03_examples_13_and_14_motion),
        cmocka_unit_test(mal_I02_I06_timestamps_and_the_time_between_them),
        cmocka_unit_test(mal_I01_I03_example_16_battery),
        cmocka_unit_test(serial_and_ids_are_whole_values),
        cmocka_unit_test(what_is_not_known_is_unknown_and_no_error),
        cmocka_unit_test(ids_are_joined_without_padding),
        cmocka_unit_test(conversions),
        cmocka_unit_test(conversions_saturate_and_nan_is_0),
        cmocka_unit_test(names_and_numbers),
        cmocka_unit_test(an_advertisement_names_the_service),
        cmocka_unit_test(random_bytes_end_with_a_documented_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
