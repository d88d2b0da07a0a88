/* SPDX-License-Identifier: MIT */
/* Messages byte by byte: the examples of the OSC 1.0 specification, and each type. */
#include "test_bytes.h"

#include "tendon/osc.h"

#include <math.h>

/* "/oscillator/4/frequency" with the float 440.0, from the specification's examples. */
#define FREQUENCY "2f6f7363 696c6c61 746f722f 342f6672 65717565 6e637900 2c660000 43dc0000"
/* "/foo" with 1000, -1, "hello", 1.234, 5.678. */
#define FOO "2f666f6f 00000000 2c696973 66660000 000003e8 ffffffff 68656c6c 6f000000 3f9df3b6 40b5b22d"

static void frequency_of_the_specification(void **state) {
    (void)state;
    uint8_t out[32];
    const double value = 440.0;
    assert_int_equal(tendon_osc_sample("/oscillator/4/frequency", &value, 1, out, sizeof out), 32);
    assert_hex(out, 32, FREQUENCY);
}

/* Each length of address and tags: the padding is 1 to 4 bytes. */
static void padding_of_each_length(void **state) {
    (void)state;
    static const char *expected[] = {"2f000000 2c000000", "2f610000 2c660000 3f800000",
                                     "2f616100 2c666600 3f800000 bf000000",
                                     "2f616161 00000000 2c666666 00000000 3f800000 bf000000 7fc00000"};
    static const char *addresses[] = {"/", "/a", "/aa", "/aaa"};
    const double values[] = {1, -0.5, (double)NAN};
    for (size_t i = 0; i < 4; i++) {
        uint8_t out[28];
        tendon_status length = tendon_osc_sample(addresses[i], values, i, out, sizeof out);
        assert_true(length > 0);
        assert_hex(out, (size_t)length, expected[i]);
    }
}

static void addresses_that_are_none(void **state) {
    (void)state;
    char longest[TENDON_OSC_ADDRESS_MAX + 2];
    memset(longest, 'a', sizeof longest);
    longest[0] = '/';
    longest[sizeof longest - 1] = 0;
    const char *const wrong[] = {"", "a", "/a b", "/a\n", "/a#", "/a,b", "/\xc3\xa4", "/\x7f", longest};
    uint8_t out[512];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(tendon_osc_sample(wrong[i], NULL, 0, out, sizeof out), TENDON_ERROR_INVALID_ARGUMENT);
    }
    longest[TENDON_OSC_ADDRESS_MAX] = 0;
    assert_int_equal(tendon_osc_sample(longest, NULL, 0, out, sizeof out), 256 + 4);
}

/* Every capacity that is too small. */
static void buffer_too_small(void **state) {
    (void)state;
    const double values[] = {1.234, 5.678};
    for (size_t capacity = 0; capacity <= 20; capacity++) {
        uint8_t *out = malloc(capacity);
        assert_int_equal(tendon_osc_sample("/foo", values, 2, out, capacity),
                         capacity < 20 ? TENDON_ERROR_BUFFER_TOO_SMALL : 20);
        free(out);
    }
}

typedef struct seen {
    unsigned messages;
    char text[512];
} seen;

static void add(seen *s, const char *format, ...) {
    size_t length = strlen(s->text);
    va_list list;
    va_start(list, format);
    vsnprintf(s->text + length, sizeof s->text - length, format, list);
    va_end(list);
}

static void note(void *context, const tendon_osc_message *message) {
    seen *s = context;
    s->messages++;
    assert_int_equal(strlen(message->address), message->address_length);
    add(s, "%s@%llx", message->address, (unsigned long long)message->time);
    tendon_osc_arguments arguments = tendon_osc_arguments_of(message);
    tendon_osc_argument a;
    while (tendon_osc_next(&arguments, &a)) {
        if (a.bytes != NULL) {
            add(s, " %c:%.*s", a.tag, (int)a.length, (const char *)a.bytes);
        } else if (a.tag == 'f' || a.tag == 'd') {
            add(s, " %c:%g", a.tag, a.number);
        } else {
            add(s, " %c:%lld", a.tag, (long long)a.integer);
        }
    }
    add(s, ";");
}

static void assert_decodes(const char *hex, int messages, const char *text) {
    block packet = block_hex(hex);
    seen s = {0};
    size_t offset = 0;
    assert_int_equal(tendon_osc_decode(packet.data, packet.length, note, &s, &offset), messages);
    assert_int_equal(s.messages, messages);
    assert_string_equal(s.text, text);
    free(packet.data);
}

static void messages_are_read(void **state) {
    (void)state;
    assert_decodes(FREQUENCY, 1, "/oscillator/4/frequency@1 f:440;");
    assert_decodes(FOO, 1, "/foo@1 i:1000 i:-1 s:hello f:1.234 f:5.678;");
    assert_decodes("2f610000 2c685464 465b7462 5d4e5349 63720000 fffffffffffffffe bfe0000000000000 83aa7e8080000000"
                   "00000005 41424344 45000000 00000000 00000078 81020304",
                   1,
                   "/a@1 h:-2 T:1 d:-0.5 F:0 [:0 t:-8959209418331783168 b:ABCDE ]:0 N:0 S: I:0 c:120 r:-2130574588;");
    assert_decodes("2f610000", 1, "/a@1;");                      /* no tags, as old senders do */
    assert_decodes("2f610000 2c000000", 1, "/a@1;");             /* no arguments */
    assert_decodes("2f610000 2c620000 00000000", 1, "/a@1 b:;"); /* an empty blob */
    assert_decodes("2f610000 2c690000 80000000", 1, "/a@1 i:-2147483648;");
    assert_decodes("2f610000 2c680000 8000000000000000", 1, "/a@1 h:-9223372036854775808;");
}

static void bundles_are_read(void **state) {
    (void)state;
    assert_decodes("2362756e646c6500 0000000000000001", 0, ""); /* an empty one is allowed */
    assert_decodes("2362756e646c6500 00000000000000ff 00000004 2f610000 00000008 2f620000 2c540000", 2,
                   "/a@ff;/b@ff T:1;");
    /* a bundle in a bundle, and a message after it: that one has the time of the outer one */
    assert_decodes("2362756e646c6500 0000000000000002 00000018 2362756e646c6500 0000000000000003 00000004 2f610000"
                   "00000004 2f620000",
                   2, "/a@3;/b@2;");
    /* as deep as is allowed; the ends of all are the same byte */
    assert_decodes("2362756e646c6500 0000000000000001 00000040 2362756e646c6500 0000000000000002 0000002c "
                   "2362756e646c6500 0000000000000003 00000018 2362756e646c6500 0000000000000004 00000004 2f610000",
                   1, "/a@4;");
}

static void numbers_are_numbers(void **state) {
    (void)state;
    static const char tags[] = "ihfdcTF";
    for (const char *tag = tags; *tag != 0; tag++) {
        tendon_osc_argument a = {*tag, 0, 0, NULL, 0};
        assert_true(tendon_osc_is_number(&a));
    }
    static const char others[] = "sSbtrmNI[]";
    for (const char *tag = others; *tag != 0; tag++) {
        tendon_osc_argument a = {*tag, 0, 0, NULL, 0};
        assert_false(tendon_osc_is_number(&a));
    }
    tendon_osc_argument none = {0};
    assert_false(tendon_osc_is_number(&none));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequency_of_the_specification),
        cmocka_unit_test(padding_of_each_length),
        cmocka_unit_test(addresses_that_are_none),
        cmocka_unit_test(buffer_too_small),
        cmocka_unit_test(messages_are_read),
        cmocka_unit_test(bundles_are_read),
        cmocka_unit_test(numbers_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
