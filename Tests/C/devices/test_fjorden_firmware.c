/* SPDX-License-Identifier: MIT */
/* Fjorden firmware versions at their edges, the check for a newer one, and other small answers in literal bytes. */
#include "test_bytes.h"

#include "tendon/devices/fjorden.h"
#include "tendon/simulate/fjorden_services.h"

#include <sys/mman.h>
#include <unistd.h>

static tendon_fjorden_version version(const char *text) {
    tendon_fjorden_version out;
    assert_true(tendon_fjorden_version_parse(text, strlen(text), &out));
    return out;
}

/* Zeros in front do not count, also where there is nothing else. */
static void a_number_of_zeros_is_zero(void **state) {
    (void)state;
    static const char *const same[] = {"1.2.0-0", "1.2.0-00", "1.2.0-000"};
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) {
            tendon_fjorden_version a = version(same[i]), b = version(same[j]), one = version("1.2.0-01");
            assert_int_equal(tendon_fjorden_version_compare(&a, &b), 0);
            assert_int_equal(tendon_fjorden_version_compare(&a, &one), -1);
            assert_int_equal(tendon_fjorden_version_compare(&one, &b), 1);
        }
    }
}

/* A text may end with zeros; one that has nothing else is none, and what stands in front of it is not looked at. */
static void zeros_end_a_text(void **state) {
    (void)state;
    static const char text[] = "\0\0\0001.2\0\0";
    tendon_fjorden_version out;
    for (size_t length = 0; length <= 2; length++) {
        assert_false(tendon_fjorden_version_parse(text + 1, length, &out));
    }
    assert_true(tendon_fjorden_version_parse(text + 3, 5, &out));
    assert_int_equal(out.major, 1);
    assert_int_equal(out.minor, 2);
}

/* An identifier is a number if each of its characters is a digit; a number comes before a text (semver.org, 11.4.3). */
static void a_letter_at_the_end_makes_it_a_text(void **state) {
    (void)state;
    tendon_fjorden_version number = version("1.0.0-100"), text = version("1.0.0-1a");
    assert_int_equal(tendon_fjorden_version_compare(&number, &text), -1);
    assert_int_equal(tendon_fjorden_version_compare(&text, &number), 1);
}

/* Nothing in front of a text is read: the page before it cannot be. */
static void a_text_of_zeros_at_the_beginning_of_memory(void **state) {
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    tendon_fjorden_version out;
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages, page, PROT_NONE), 0);
    for (size_t length = 0; length <= 2; length++) {
        assert_false(tendon_fjorden_version_parse(pages + page, length, &out));
    }
    memset(pages + page, ' ', 2);
    assert_false(tendon_fjorden_version_parse(pages + page, 2, &out));
    assert_int_equal(munmap(pages, 2 * page), 0);
}

static void a_check_needs_all_it_compares(void **state) {
    (void)state;
    tendon_fjorden_version old = version("1.2.0"), new = version("1.10");
    assert_int_equal(tendon_fjorden_firmware_check(false, &old, &new), TENDON_FJORDEN_ERROR_CONNECTION_TIMEOUT);
    assert_int_equal(tendon_fjorden_firmware_check(false, NULL, NULL), TENDON_FJORDEN_ERROR_CONNECTION_TIMEOUT);
    assert_int_equal(tendon_fjorden_firmware_check(true, &old, NULL), TENDON_FJORDEN_ERROR_NO_FIRMWARE_SERVER);
    assert_int_equal(tendon_fjorden_firmware_check(true, NULL, &new), TENDON_FJORDEN_ERROR_NO_FIRMWARE_VERSION);
    assert_int_equal(tendon_fjorden_firmware_check(true, &old, &new), 1);
    assert_int_equal(tendon_fjorden_firmware_check(true, &new, &old), 0);
    assert_int_equal(tendon_fjorden_firmware_check(true, &new, &new), 0);
}

/* The text back, in exactly as many bytes as it has with its end. */
static void a_version_is_written_where_it_fits(void **state) {
    (void)state;
    static const char text[] = "1.2.3-rc.1+7";
    tendon_fjorden_version v = version(text);
    for (size_t capacity = 0; capacity <= sizeof text; capacity++) {
        char out[sizeof text + 1];
        memset(out, 'x', sizeof out);
        assert_int_equal(tendon_fjorden_version_format(&v, out, capacity),
                         capacity < sizeof text ? TENDON_ERROR_BUFFER_TOO_SMALL : (int)sizeof text - 1);
        assert_int_equal(out[capacity], 'x');
    }
}

static void commands_have_names(void **state) {
    (void)state;
    static const char *const names[] = {"ping",     "setLed",    "getConfig", "setConfig",
                                        "getState", "clearBond", "powerOff"};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(tendon_fjorden_command_named(names[i], strlen(names[i])), TENDON_FJORDEN_PING + i);
    }
    assert_int_equal(tendon_fjorden_command_named("pin", 3), -1);
    assert_int_equal(tendon_fjorden_command_named("", 0), -1);
}

/* docs/protocols/fjorden.md: long press, lever hold (16 bits each), dial divider. */
static void a_configuration_is_read_whole(void **state) {
    (void)state;
    tendon_fjorden_response response;
    const uint8_t bytes[] = {0x80 | TENDON_FJORDEN_GET_CONFIG, 9, 0, 0xF4, 0x01, 0x2C, 0x01, 3};
    assert_int_equal(tendon_fjorden_decode_response(bytes, sizeof bytes, &response), TENDON_OK);
    assert_int_equal(response.request_id, 9);
    assert_int_equal(response.config.long_press_ms, 500);
    assert_int_equal(response.config.lever_hold_ms, 300);
    assert_int_equal(response.config.dial_divider, 3);
    assert_int_equal(tendon_fjorden_decode_response(bytes, sizeof bytes - 1, &response), TENDON_FJORDEN_ERROR_LENGTH);
}

/* A CBOR map without entries is one byte. */
static void a_reset_has_an_empty_map(void **state) {
    (void)state;
    uint8_t out[16];
    assert_int_equal(tendon_fjorden_encode_smp(TENDON_FJORDEN_SMP_RESET, 7, NULL, 0, out, sizeof out), 9);
    assert_hex(out, 9, "02 00 00 01 00 00 07 05 a0");
    /* The length of the body has 16 bits: 3 bytes of the map, 3 of the head of the text. */
    static char text[0xFFFF];
    static uint8_t large[0x10010];
    assert_int_equal(tendon_fjorden_encode_smp(TENDON_FJORDEN_SMP_ECHO, 7, text, 0xFFFF - 6, large, sizeof large),
                     8 + 0xFFFF);
    assert_int_equal(tendon_fjorden_encode_smp(TENDON_FJORDEN_SMP_ECHO, 7, text, 0xFFFF - 5, large, sizeof large),
                     TENDON_ERROR_OVERFLOW);
    /* The text is that of an echo alone. */
    assert_int_equal(tendon_fjorden_encode_smp(TENDON_FJORDEN_SMP_RESET, 7, text, sizeof text, out, sizeof out), 9);
    assert_int_equal(tendon_fjorden_encode_smp(TENDON_FJORDEN_SMP_RESET, 7, NULL, 0, out, 8),
                     TENDON_ERROR_BUFFER_TOO_SMALL);
}

/* A profile of one-byte codes: any length but none. */
static void a_code_of_one_byte_is_a_record(void **state) {
    (void)state;
    tendon_fjorden_profile profile;
    tendon_fjorden_records walk;
    tendon_fjorden_record record;
    static const uint8_t codes[] = {1, 2};
    tendon_fjorden_profile_init(&profile);
    profile.format = TENDON_FJORDEN_CODE8;
    assert_int_equal(tendon_fjorden_records_begin(&walk, &profile, codes, 0), TENDON_FJORDEN_ERROR_LENGTH);
    for (size_t length = 1; length <= 2; length++) {
        assert_int_equal(tendon_fjorden_records_begin(&walk, &profile, codes, length), TENDON_OK);
        for (size_t i = 0; i < length; i++) {
            assert_true(tendon_fjorden_records_next(&walk, &record));
        }
        assert_false(tendon_fjorden_records_next(&walk, &record));
    }
    /* Without numbers there is nothing to compare: the same code twice is two events. */
    tendon_fjorden_stream stream;
    memset(&stream, 0, sizeof stream);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tendon_fjorden_stream_begin(&stream, &walk, &profile, codes, 1), TENDON_OK);
        assert_true(tendon_fjorden_stream_next(&stream, &walk, &record));
        assert_false(tendon_fjorden_stream_next(&stream, &walk, &record));
    }
}

/* The list is the caller's; another one begins empty. */
static void a_new_list_is_empty(void **state) {
    (void)state;
    tendon_fjorden_manager m;
    tendon_fjorden_grip grips[2];
    tendon_fjorden_manager_init(&m, NULL, NULL);
    tendon_fjorden_manager_set_table(&m, grips, 2);
    m.grip_count = 2;
    tendon_fjorden_manager_set_table(&m, grips, 1);
    assert_int_equal(m.grip_count, 0);
    assert_int_equal(m.grip_capacity, 1);
    tendon_fjorden_manager_set_table(&m, NULL, 2);
    assert_int_equal(m.grip_capacity, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_of_zeros_is_zero),
        cmocka_unit_test(zeros_end_a_text),
        cmocka_unit_test(a_check_needs_all_it_compares),
        cmocka_unit_test(a_version_is_written_where_it_fits),
        cmocka_unit_test(commands_have_names),
        cmocka_unit_test(a_configuration_is_read_whole),
        cmocka_unit_test(a_reset_has_an_empty_map),
        cmocka_unit_test(a_code_of_one_byte_is_a_record),
        cmocka_unit_test(a_new_list_is_empty),
        cmocka_unit_test(a_letter_at_the_end_makes_it_a_text),
        cmocka_unit_test(a_text_of_zeros_at_the_beginning_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
