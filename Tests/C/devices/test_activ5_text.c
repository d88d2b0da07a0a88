/* SPDX-License-Identifier: MIT */
/* Activ5 texts: the content of a frame, from literal bytes; numbers in the names are those of the worked examples. */
#include "test_bytes.h"

#include "tendon/devices/activ5.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#define E(name) TENDON_ACTIV5_ERROR_##name

static void near(double value, double expected) {
    double limit = 1e-9 * fmax(fabs(expected), 1e-12);
    if (!(fabs(value - expected) <= limit)) {
        fail_msg("got %.17g, expected %.17g", value, expected);
    }
}

static tendon_activ5_message message;

static tendon_status text(const char *hex) {
    block b = block_hex(hex);
    tendon_status status = tendon_activ5_parse_text(b.data, b.length, &message);
    free(b.data);
    return status;
}

static tendon_status words(const char *content) {
    block b = block_copy(content, strlen(content));
    tendon_status status = tendon_activ5_parse_text(b.data, b.length, &message);
    free(b.data);
    return status;
}

static void said(tendon_activ5_message_type type, const char *expected) {
    assert_int_equal(message.type, type);
    assert_int_equal(message.text_length, strlen(expected));
    assert_memory_equal(message.text, expected, strlen(expected));
}

/* ---- texts ---- */

static void example_02_initial_message(void **state) {
    (void)state;
    assert_int_equal(words("TC5k;1.00;04;BATOK"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_INITIAL, "TC5k;1.00;04;BATOK");
    assert_memory_equal(message.text + message.version.offset, "1.00", message.version.length);
    assert_int_equal(message.version.length, 4);
    assert_memory_equal(message.text + message.field2.offset, "04", 2);
    assert_memory_equal(message.text + message.battery_status.offset, "BATOK", 5);
    assert_int_equal(message.battery_status.length, 5);
    assert_int_equal(words("TC5k;1.00"), TENDON_OK);
    assert_false(message.field2.present);
    assert_false(message.battery_status.present);
    assert_int_equal(words("TC5kplus;"), TENDON_OK);
    assert_true(message.version.present);
    assert_int_equal(message.version.length, 0);
    assert_int_equal(words("TC5k;1;;;x"), TENDON_OK);
    assert_true(message.field2.present && message.battery_status.present);
    assert_int_equal(message.field2.length + message.battery_status.length, 0);
    assert_int_equal(words("TC5k 1.00"), E(MALFORMED));
    assert_int_equal(words("TC5k"), E(MALFORMED));
}

static void examples_03_and_04_isometric_text(void **state) {
    (void)state;
    static const struct {
        const char *content;
        double raw; /* NAN: MALFORMED */
    } cases[] = {
        {"IS9/IS", 9},       {"IS20/IS", 20},     {"IS100/", 100},     {"IS-3/IS", -3},       {"IS+9/x", 9},
        {"IS0.5/IS", 0.5},   {"IS12.75/", 12.75}, {"IS007/IS", 7},     {"IS1IS2/IS", 12},     {"IS-0/IS", 0},
        {"ISIS5/IS", 5},     {"IS5/IS;junk", 5},  {"IS5/5/5", 5},      {"IS999999/", 999999}, {"IS3000.125/", 3000.125},
        {"ISx/IS", NAN},     {"IS5", NAN},        {"IS", NAN},         {"IS/IS", NAN},        {"IS /IS", NAN},
        {"IS 5/IS", NAN},    {"IS5 /IS", NAN},    {"IS5./IS", NAN},    {"IS.5/IS", NAN},      {"IS+/IS", NAN},
        {"IS1e3/IS", NAN},   {"IS0x10/IS", NAN},  {"ISinf/IS", NAN},   {"ISnan/IS", NAN},     {"IS4,5/IS", NAN},
        {"IS1.2.3/IS", NAN}, {"IS+-1/IS", NAN},   {"ISN1123456", NAN}, {"IS5;/IS", NAN},      {"ISI5/IS", NAN},
        {"IS+.5/IS", NAN},   {"IS5S/IS", NAN},    {"IS--1/IS", NAN},   {"IS1-/IS", NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_status status = words(cases[i].content);
        if (isnan(cases[i].raw)) {
            if (status != E(MALFORMED)) {
                fail_msg("%s: %d", cases[i].content, status);
            }
        } else {
            assert_int_equal(status, TENDON_OK);
            assert_int_equal(message.type, TENDON_ACTIV5_MESSAGE_ISOMETRIC);
            near(message.raw, cases[i].raw);
            near(message.newtons, cases[i].raw * 1.08625263633);
        }
    }
    assert_int_equal(words("IS9/IS"), TENDON_OK);
    near(message.newtons, 9.77627372697);
    assert_int_equal(words("IS20/IS"), TENDON_OK);
    near(message.newtons, 21.7250527266);
}

static void the_longest_number_does_not_run_over(void **state) {
    (void)state;
    char content[TENDON_ACTIV5_CONTENT_MAX + 2];
    memset(content, '9', sizeof content);
    memcpy(content, "IS", 2);
    content[TENDON_ACTIV5_CONTENT_MAX - 1] = '/';
    content[TENDON_ACTIV5_CONTENT_MAX] = 0;
    assert_int_equal(words(content), TENDON_OK);
    assert_true(isfinite(message.newtons) && message.newtons > 1e120);
    content[3] = '.';
    assert_int_equal(words(content), TENDON_OK);
    assert_true(fabs(message.raw - 10) < 1e-9);
    content[TENDON_ACTIV5_CONTENT_MAX] = '9';
    content[TENDON_ACTIV5_CONTENT_MAX + 1] = 0;
    assert_int_equal(words(content), E(OVERFLOW));
}

static void examples_06_07_and_08_parts_of_serial_and_id(void **state) {
    (void)state;
    assert_int_equal(words("ASN1A5-123"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_SN1, "A5-123");
    assert_int_equal(words("?SN2"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_SN2, "");
    assert_int_equal(words("Ai00112233"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_UUID1, "00112233");
    assert_int_equal(text("41 49 34 34 35 35 00 36 36 00"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_UUID2, "445566");
    assert_int_equal(text("41 69 30 00 31 00"), TENDON_OK); /* the first part keeps its NULs */
    assert_int_equal(message.text_length, 4);
    assert_int_equal(words("hello"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_UNKNOWN, "");
    assert_int_equal(words("Hi there"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_UUID1, " there");
    assert_int_equal(words("IIS5/IS"), TENDON_OK); /* no isometric: its first character is skipped */
    said(TENDON_ACTIV5_MESSAGE_UUID2, "S5/IS");
    assert_int_equal(words("Ai;1"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_UUID1, "");
    assert_int_equal(words("ASN3x"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_UNKNOWN, "");
    assert_int_equal(words("A"), TENDON_OK);
    said(TENDON_ACTIV5_MESSAGE_UNKNOWN, "");
    assert_int_equal(words("\xC2\xB0i7"), TENDON_OK); /* one character of two bytes */
    said(TENDON_ACTIV5_MESSAGE_UUID1, "7");
}

static void order_of_the_checks(void **state) {
    (void)state;
    assert_int_equal(words(""), E(EMPTY));
    assert_int_equal(words(";TC5k;1"), E(EMPTY));
    assert_int_equal(words(";"), E(EMPTY));
    assert_int_equal(text("3B FF"), E(BAD_ENCODING));
    assert_int_equal(text("54 43 35 6B FF"), E(BAD_ENCODING));
    assert_int_equal(tendon_activ5_parse_text(NULL, 0, &message), E(EMPTY));
}

static void utf8_is_strict(void **state) {
    (void)state;
    static const struct {
        const char *hex;
        bool good;
    } cases[] = {
        {"41", true},
        {"7F", true},
        {"00", true},
        {"80", false},
        {"BF", false},
        {"C0 80", false},
        {"C1 BF", false},
        {"C2 80", true},
        {"C2", false},
        {"C2 C2", false},
        {"C3 28", false},
        {"DF BF", true},
        {"E0 9F BF", false},
        {"E0 A0 80", true},
        {"E0 A0", false},
        {"ED 9F BF", true},
        {"ED A0 80", false},
        {"EF BF BF", true},
        {"F0 8F BF BF", false},
        {"F0 90 80 80", true},
        {"F0 90 80", false},
        {"F4 8F BF BF", true},
        {"F4 90 80 80", false},
        {"F5 80 80 80", false},
        {"FE", false},
        {"FF", false},
        {"41 C2", false},
        {"E2 82 AC 41", true},
        {"E2 82 41", false},
        {"F0 90 80 41", false},
        {"", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        block b = block_hex(cases[i].hex);
        if (tendon_activ5_is_utf8(b.data, b.length) != cases[i].good) {
            fail_msg("%s", cases[i].hex);
        }
        free(b.data);
    }
}

/* Any cut of a text is a text or an error, and never reads on. */
static void mal_I02_every_text_cut_at_every_position(void **state) {
    (void)state;
    static const char *const texts[] = {
        "TC5k;1.00;04;BATOK", "IS100/IS", "IS5IS", "ASN1A5-123", "Ai00112233", "AI445566", "\xE2\x82\xACi\xC2\xB0"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (size_t length = 0; length < strlen(texts[i]); length++) {
            block b = block_copy(texts[i], length);
            tendon_status status = tendon_activ5_parse_text(b.data, b.length, &message);
            assert_true(status == TENDON_OK || status == E(EMPTY) || status == E(MALFORMED) ||
                        status == E(BAD_ENCODING));
            free(b.data);
        }
    }
}

static void classify_goes_by_the_first_field_alone(void **state) {
    (void)state;
    static const struct {
        const char *field;
        tendon_activ5_message_type type;
    } cases[] = {{"TC5k", TENDON_ACTIV5_MESSAGE_INITIAL}, {"TC5", TENDON_ACTIV5_MESSAGE_UNKNOWN},
                 {"IS", TENDON_ACTIV5_MESSAGE_ISOMETRIC}, {"ISN1", TENDON_ACTIV5_MESSAGE_ISOMETRIC},
                 {"Ai", TENDON_ACTIV5_MESSAGE_UUID1},     {"AI", TENDON_ACTIV5_MESSAGE_UUID2},
                 {"ASN1", TENDON_ACTIV5_MESSAGE_SN1},     {"ASN2", TENDON_ACTIV5_MESSAGE_SN2},
                 {"", TENDON_ACTIV5_MESSAGE_UNKNOWN},     {"A", TENDON_ACTIV5_MESSAGE_UNKNOWN},
                 {"SN1", TENDON_ACTIV5_MESSAGE_UNKNOWN},  {"TS", TENDON_ACTIV5_MESSAGE_UNKNOWN},
                 {"AIM", TENDON_ACTIV5_MESSAGE_UUID2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        block b = block_copy(cases[i].field, strlen(cases[i].field));
        assert_int_equal(tendon_activ5_classify(b.data, b.length), cases[i].type);
        free(b.data);
    }
}

/* The last page of memory ends with the text: a read of one byte more ends the program. */
static void nothing_behind_a_text_is_read(void **state) {
    (void)state;
    static const char *const texts[] = {"IS1.25/2I",    "IS1I",     "I", "IS", "IS-", "IS1.", "IS1.2/", "ISI",
                                        "TC5k;1.0;I",   "TC5",      "i", "iS", "SN",  "S",    "SN1",    "SN2x",
                                        "\xC3\xA9SN1I", "IS12\xC3", ";I"};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (size_t length = 0; length <= strlen(texts[i]); length++) {
            uint8_t *end = pages + page;
            memcpy(end - length, texts[i], length);
            (void)tendon_activ5_parse_text(end - length, length, &message);
            (void)tendon_activ5_classify(end - length, length);
            (void)tendon_activ5_is_utf8(end - length, length);
        }
    }
    assert_int_equal(munmap(pages, 2 * page), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_behind_a_text_is_read),
        cmocka_unit_test(example_02_initial_message),
        cmocka_unit_test(examples_03_and_04_isometric_text),
        cmocka_unit_test(the_longest_number_does_not_run_over),
        cmocka_unit_test(examples_06_07_and_08_parts_of_serial_and_id),
        cmocka_unit_test(order_of_the_checks),
        cmocka_unit_test(utf8_is_strict),
        cmocka_unit_test(mal_I02_every_text_cut_at_every_position),
        cmocka_unit_test(classify_goes_by_the_first_field_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
