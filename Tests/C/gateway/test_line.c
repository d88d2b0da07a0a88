/* SPDX-License-Identifier: MIT */
/* One line of JSON, member by member. */
#include "gateway_fixture.h"

#include <math.h>

static void times(void **state) {
    (void)state;
    static const struct {
        uint64_t microseconds;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00.000000Z"},
        {999999, "1970-01-01T00:00:00.999999Z"},
        {1000000, "1970-01-01T00:00:01.000000Z"},
        {951782399000001, "2000-02-28T23:59:59.000001Z"},
        {951782400000010, "2000-02-29T00:00:00.000010Z"},
        {951868800000000, "2000-03-01T00:00:00.000000Z"},
        {1709164800000000, "2024-02-29T00:00:00.000000Z"},
        {1767225599123456, "2025-12-31T23:59:59.123456Z"},
        {1767225600000000, "2026-01-01T00:00:00.000000Z"},
        {4107542399999999, "2100-02-28T23:59:59.999999Z"},
        {4107542400900000, "2100-03-01T00:00:00.900000Z"},
        {253402300799999999, "9999-12-31T23:59:59.999999Z"},
        {253402300800000000, "9999-12-31T23:59:59.999999Z"},
        {UINT64_MAX, "9999-12-31T23:59:59.999999Z"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char out[100], expected[100];
        tendon_line line;
        tendon_line_init(&line, out, sizeof out, false);
        tendon_line_begin(&line, "sample", rows[i].microseconds, NULL);
        assert_int_equal(line.begun, strlen("{\"time\":\"\",\"event\":\"sample\"") + TENDON_LINE_TIME_SIZE);
        tendon_status length = tendon_line_end(&line);
        snprintf(expected, sizeof expected, "{\"time\":\"%s\",\"event\":\"sample\"}\n", rows[i].text);
        char alone[TENDON_LINE_TIME_SIZE];
        tendon_line_time(rows[i].microseconds, alone);
        assert_memory_equal(alone, rows[i].text, sizeof alone);
        assert_int_equal(length, strlen(expected));
        assert_memory_equal(out, expected, (size_t)length);
    }
}

/* Each day of 400 years, by counting. */
static void days(void **state) {
    (void)state;
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 1970, month = 1, day = 1;
    for (uint64_t days = 0; days < 146097; days++) {
        char out[100], expected[40];
        tendon_line line;
        tendon_line_init(&line, out, sizeof out, false);
        tendon_line_begin(&line, "e", days * 86400 * 1000000, NULL);
        snprintf(expected, sizeof expected, "%04d-%02d-%02dT", year, month, day);
        assert_memory_equal(out + strlen("{\"time\":\""), expected, 11);
        bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        day++;
        if (day > lengths[month - 1] + (month == 2 && is_leap ? 1 : 0)) {
            day = 1;
            month = month % 12 + 1;
            year += month == 1 ? 1 : 0;
        }
    }
}

static tendon_status every_member(tendon_line *line, void *context) {
    (void)context;
    static const double vector[] = {1.5, -2.5, 3.125};
    static const uint8_t bytes[] = {0x00, 0xAB, 0xFF};
    tendon_line_begin(line, "all", 0, NULL);
    tendon_line_integer(line, "i", -7);
    tendon_line_integer(line, "least", INT64_MIN);
    tendon_line_integer(line, "most", INT64_MAX);
    tendon_line_count(line, "count", UINT64_MAX);
    tendon_line_count(line, "zero", 0);
    tendon_line_bool(line, "yes", true);
    tendon_line_bool(line, "no", false);
    tendon_line_null(line, "nothing");
    tendon_line_word(line, "word", "ready");
    tendon_line_text(line, "text", "a\"b\\c", 5);
    tendon_line_text(line, "empty", NULL, 0);
    tendon_line_string(line, "string", "a\"\\\n\x01\x1F\x7F\xC3\xA9", 9);
    tendon_line_bytes(line, "bytes", bytes, sizeof bytes);
    tendon_line_number(line, "x", 0.126, 2);
    tendon_line_vector(line, "v", vector, 3, 2);
    tendon_line_vector(line, "none", NULL, 0, 2);
    tendon_line_open_array(line, "list");
    tendon_line_integer(line, NULL, 1);
    tendon_line_open_object(line, NULL);
    tendon_line_word(line, "a", "b");
    tendon_line_open_array(line, "inside");
    tendon_line_close_array(line);
    tendon_line_integer(line, "after", 2);
    tendon_line_close_object(line);
    tendon_line_open_object(line, NULL);
    tendon_line_close_object(line);
    tendon_line_null(line, NULL);
    tendon_line_close_array(line);
    tendon_line_integer(line, "last", 9);
    return tendon_line_end(line);
}

static void members(void **state) {
    (void)state;
    assert_string_equal(
        line_of(every_member, NULL),
        "\"all\",\"i\":-7,\"least\":-9223372036854775808,\"most\":9223372036854775807,\"count\":18446744073709551615,"
        "\"zero\":0,\"yes\":true,\"no\":false,\"nothing\":null,\"word\":\"ready\",\"text\":\"a\\\"b\\\\c\","
        "\"empty\":\"\",\"string\":\"a\\\"\\\\\\u000a\\u0001\\u001f\x7F\xC3\xA9\",\"bytes\":\"00abff\",\"x\":0.13,"
        "\"v\":[1.5,-2.5,3.13],\"none\":[],\"list\":[1,{\"a\":\"b\","
        "\"inside\":[],\"after\":2},{},null],\"last\":9}");
}

static const char *number(double value, unsigned decimals, bool is_exact) {
    static char out[120];
    tendon_line line;
    tendon_line_init(&line, out, sizeof out, is_exact);
    tendon_line_begin(&line, "e", 0, NULL);
    tendon_line_number(&line, "n", value, decimals);
    tendon_status length = tendon_line_end(&line);
    assert_true(length > 2);
    out[length - 2] = '\0';
    return strstr(out, "\"n\":") + 4;
}

static void numbers(void **state) {
    (void)state;
    static const struct {
        double value;
        unsigned decimals;
        const char *text;
    } rows[] = {
        {0, 3, "0"},
        {1, 3, "1"},
        {1.5, 3, "1.5"},
        {-1.25, 2, "-1.25"},
        {0.05, 2, "0.05"},
        {0.005, 2, "0.01"},
        {0.004, 2, "0"},
        {-0.004, 2, "0"},
        {-0.006, 2, "-0.01"},
        {9.999, 2, "10"},
        {10.10, 2, "10.1"},
        {7.6, 0, "8"},
        {2.5, 0, "3"},
        {-2.5, 0, "-3"},
        {0.49999999999999994, 0, "0"},
        {999999999.5, 1, "999999999.5"},
        {0.000001, 6, "0.000001"},
        {0.0000004, 6, "0"},
        {123456.000000789, 9, "123456.000000789"},
        {0.1234567891, 12, "0.123456789"}, /* at most 9 */
        {1e9, 2, "1000000000"},
        {1234567890.1000001, 1, "1234567890.1"},
        {1700000000.1230001, 3, "1700000000.123"},
        {1764539412.302, 0, "1764539412"},
        {1000000.1000000001, 9, "1000000.1"},
        {100000000, 7, "100000000"},
        {123456789012.3456, 9, "123456789012.3456"},
        {9999999999999.98, 2, "9999999999999.98"},
        {10000000000000.1, 2, "10000000000000.1"},
        {9007199254740993.0, 0, "9007199254740992.0"},
        {999999999999999.0, 0, "999999999999999"},
        {-1e18, 2, "-1e+18"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_string_equal(number(rows[i].value, rows[i].decimals, false), rows[i].text);
    }
    assert_string_equal(number(0.1 + 0.2, 2, true), "0.30000000000000004");
    assert_string_equal(number(5, 2, true), "5.0");
    for (int exact = 0; exact < 2; exact++) {
        assert_string_equal(number(INFINITY, 2, exact != 0), "null");
        assert_string_equal(number(-INFINITY, 2, exact != 0), "null");
        assert_string_equal(number(NAN, 2, exact != 0), "null");
    }
}

static const char *text(const char *bytes, size_t length) {
    static char out[2000];
    tendon_line line;
    block exact = block_copy(bytes, length);
    tendon_line_init(&line, out, sizeof out, false);
    tendon_line_begin(&line, "e", 0, NULL);
    tendon_line_text(&line, "t", (const char *)exact.data, exact.length);
    tendon_status written = tendon_line_end(&line);
    free(exact.data);
    assert_true(written > 3);
    out[written - 3] = '\0';
    return strstr(out, "\"t\":\"") + 5;
}

#define TEXT(literal) text(literal, sizeof(literal) - 1)
#define LOST "\xEF\xBF\xBD"

static void texts(void **state) {
    (void)state;
    assert_string_equal(TEXT("a\"b\\c/\xC3\xA9\xF0\x9F\x98\x80"), "a\\\"b\\\\c/\xC3\xA9\xF0\x9F\x98\x80");
    /* control characters, of both sets, and marks that reorder a terminal's line: kept, by their numbers */
    assert_string_equal(TEXT("a\nb\x7F\xC2\x85\xE2\x80\xAE."), "a\\u000ab\\u007f\\u0085\\u202e.");
    assert_string_equal(TEXT("A,1.5\r\n\t\xE2\x80\xA8\xEF\xBB\xBF"), "A,1.5\\u000d\\u000a\\u0009\\u2028\\ufeff");
    assert_string_equal(TEXT("a\0b\0\0c"), "a\\u0000b\\u0000\\u0000c");
    assert_string_equal(TEXT("\xEF\xBF\xBD"), LOST);
    /* no UTF-8: a byte alone, overlong, a surrogate, too large, truncated */
    assert_string_equal(TEXT("\x80"), LOST);
    assert_string_equal(TEXT("\xC0\xAF"), LOST LOST);
    assert_string_equal(TEXT("\xED\xA0\x80"), LOST LOST LOST);
    assert_string_equal(TEXT("\xF4\x90\x80\x80"), LOST LOST LOST LOST);
    assert_string_equal(TEXT("x\xE2\x82"), "x" LOST LOST);
    /* a terminator, or another character, in the place of a continuation */
    assert_string_equal(TEXT("\xC2\0"), LOST "\\u0000");
    assert_string_equal(TEXT("\xE2\x80\0"), LOST LOST "\\u0000");
    assert_string_equal(TEXT("\xE2\n\xA8"), LOST "\\u000a" LOST);
}

/* Characters at each place of a longer text, so that none is cut in two inside. */
static void long_texts(void **state) {
    (void)state;
    for (size_t before = 0; before < 140; before++) {
        char bytes[200], expected[300];
        memset(bytes, 'x', before);
        memcpy(bytes + before, "\xF0\x9F\x98\x80\xE2\x82\xAC\xC3\xA9\"", 10);
        memcpy(expected, bytes, before + 9);
        memcpy(expected + before + 9, "\\\"", 3);
        assert_string_equal(text(bytes, before + 10), expected);
        /* only bytes that continue something: each is lost */
        memset(bytes, 0x80, before);
        const char *lost = text(bytes, before);
        assert_int_equal(strlen(lost), 3 * before);
    }
}

static tendon_status about_device(tendon_line *line, void *context) {
    tendon_line_begin(line, "resumed", 0, context);
    return tendon_line_end(line);
}

static void devices(void **state) {
    (void)state;
    tendon_address address = {.bytes = {0xC0, 0x01, 0x02, 0x03, 0x04, 0xFF}, .type = TENDON_ADDRESS_TYPE_RANDOM};
    tendon_line_device device = {.family = "bose", .address = &address, .name = "A \"B\"", .name_length = 5};
    assert_string_equal(line_of(about_device, &device),
                        "\"resumed\",\"family\":\"bose\",\"address\":\"C0:01:02:03:04:FF\",\"address_type\":\"random\","
                        "\"name\":\"A \\\"B\\\"\"}");
    device.name_length = 0;
    device.family = NULL;
    address.type = TENDON_ADDRESS_TYPE_RANDOM_IDENTITY;
    assert_string_equal(line_of(about_device, &device),
                        "\"resumed\",\"address\":\"C0:01:02:03:04:FF\",\"address_type\":\"random_identity\"}");
    device = (tendon_line_device){.family = "toy", .name = "not of a device", .name_length = 15};
    assert_string_equal(line_of(about_device, &device), "\"resumed\",\"family\":\"toy\"}");
    assert_string_equal(line_of(about_device, NULL), "\"resumed\"}");
    assert_string_equal(tendon_line_address_type(TENDON_ADDRESS_TYPE_PUBLIC), "public");
    assert_string_equal(tendon_line_address_type(TENDON_ADDRESS_TYPE_PUBLIC_IDENTITY), "public_identity");
    assert_string_equal(tendon_line_address_type(TENDON_ADDRESS_TYPE_ANONYMOUS), "anonymous");
    assert_string_equal(tendon_line_address_type(9), "unknown");
}

static tendon_status with_times(tendon_line *line, void *context) {
    const uint64_t *values = context;
    tendon_line_begin(line, "e", 0, NULL);
    tendon_line_times(line, values[0], values[1], (uint32_t)values[2]);
    return tendon_line_end(line);
}

static void sample_times(void **state) {
    (void)state;
    uint64_t values[] = {0, 5, 6};
    assert_string_equal(line_of(with_times, values), "\"e\"}");
    values[0] = 1234567890123;
    values[1] = 0;
    assert_string_equal(line_of(with_times, values), "\"e\",\"received_at\":1234.56789}");
    values[1] = 1234000000499;
    values[2] = 12345;
    assert_string_equal(line_of(with_times, values),
                        "\"e\",\"received_at\":1234.56789,\"sampled_at\":1234,\"error_ms\":12.3}");
}

static tendon_status with_error(tendon_line *line, void *context) {
    tendon_line_begin(line, "e", 0, NULL);
    tendon_line_error(line, *(tendon_status *)context);
    return tendon_line_end(line);
}

static void errors(void **state) {
    (void)state;
    static const struct {
        tendon_status status;
        const char *line;
    } rows[] = {
        {TENDON_ERROR_TIMEOUT, "\"e\",\"error\":\"ERROR_TIMEOUT\"}"},
        {TENDON_ATT_ERROR(0x02), "\"e\",\"error\":\"ATT_READ_NOT_PERMITTED\",\"error_number\":2}"},
        {TENDON_HCI_ERROR(0x3E), "\"e\",\"error\":\"HCI_CONNECTION_FAILED_TO_ESTABLISH\",\"error_number\":62}"},
        {TENDON_SYSTEM_ERROR(1), "\"e\",\"error\":\"SYSTEM_EPERM\",\"error_number\":1}"},
        {TENDON_RADIO_ERROR_OUT_OF_RANGE, "\"e\",\"error\":\"RADIO_ERROR_OUT_OF_RANGE\"}"},
        {TENDON_BOSE_ERROR_SERVICE_UNAVAILABLE, "\"e\",\"error\":\"BOSE_ERROR_SERVICE_UNAVAILABLE\"}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_status status = rows[i].status;
        assert_string_equal(line_of(with_error, &status), rows[i].line);
    }
}

/* A line that was given up does not spoil the next one. */
static void used_again(void **state) {
    (void)state;
    char out[60];
    tendon_line line;
    tendon_line_init(&line, out, sizeof out, false);
    line.is_sample = true;
    tendon_line_begin(&line, "a name that is too long for it", 0, NULL);
    assert_int_equal(tendon_line_end(&line), TENDON_ERROR_BUFFER_TOO_SMALL);
    tendon_line_begin(&line, "e", 0, NULL);
    assert_false(line.is_sample);
    assert_int_equal(tendon_line_end(&line), 51);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),      cmocka_unit_test(days),         cmocka_unit_test(members),
        cmocka_unit_test(numbers),    cmocka_unit_test(texts),        cmocka_unit_test(long_texts),
        cmocka_unit_test(devices),    cmocka_unit_test(sample_times), cmocka_unit_test(errors),
        cmocka_unit_test(used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
