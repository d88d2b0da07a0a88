/* SPDX-License-Identifier: MIT */
/* Answers of the cloud (docs/protocols/obvious.md): each call's form, what rejects it, and the limits at their edges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "obvious_cloud.h"

typedef tendon_cloud_status (*decode_function)(tendon_cloud_answer *answer);

static tendon_cloud_status features(tendon_cloud_answer *answer) {
    size_t count;
    return tendon_cloud_features(answer, &count);
}

static tendon_cloud_status package(tendon_cloud_answer *answer) {
    static uint8_t bytes[TENDON_CLOUD_PACKAGE_MAX];
    tendon_cloud_package out;
    return tendon_cloud_decode_package(answer, &out, bytes);
}

static tendon_cloud_status firmware(tendon_cloud_answer *answer) {
    tendon_cloud_firmware out;
    return tendon_cloud_decode_firmware(answer, &out);
}

static tendon_cloud_status items(tendon_cloud_answer *answer) {
    size_t count;
    return tendon_cloud_items(answer, &count);
}

static tendon_cloud_status cart(tendon_cloud_answer *answer) {
    tendon_cloud_cart out;
    return tendon_cloud_decode_cart(answer, &out);
}

static tendon_cloud_status payment(tendon_cloud_answer *answer) {
    tendon_cloud_payment out;
    return tendon_cloud_decode_payment(answer, &out);
}

static tendon_cloud_status error(tendon_cloud_answer *answer) {
    tendon_cloud_error out;
    return tendon_cloud_decode_error(answer, &out);
}

/* In memory of exactly its size, so that the sanitizer sees a read behind its end. */
static tendon_cloud_status decode(const char *text, size_t length, decode_function function,
                                  tendon_cloud_answer *answer) {
    char *exact = malloc(length);
    assert_true(exact != NULL || length == 0);
    if (length > 0) {
        memcpy(exact, text, length);
    }
    tendon_cloud_status status = tendon_cloud_answer_parse(exact, length, answer);
    free(exact);
    return status == TENDON_CLOUD_OK ? function(answer) : status;
}

static void expect(const char *text, decode_function function, tendon_cloud_status expected, const char *member) {
    tendon_cloud_answer answer = {0};
    tendon_cloud_status status = decode(text, strlen(text), function, &answer);
    if (status != expected || (member != NULL && (answer.member == NULL || strcmp(answer.member, member) != 0))) {
        fail_msg("%s: status %d, member %s; expected %d, %s", text, status, answer.member ? answer.member : "-",
                 expected, member ? member : "-");
    }
    tendon_cloud_answer_release(&answer);
}

static void expect_text(tendon_cloud_text text, const char *expected) {
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.data, expected, text.length);
}

#define ZEROS8 "00000000"
#define ZEROS64 ZEROS8 ZEROS8 ZEROS8 ZEROS8 ZEROS8 ZEROS8 ZEROS8 ZEROS8
#define A22 "AAAAAAAAAAAAAAAAAAAAAA"
/* 136 zero bytes. */
#define MANIFEST A22 A22 A22 A22 A22 A22 A22 A22 "AAAAAA=="
#define FIRMWARE(version, size, crc, sha, manifest)                                                                    \
    "{\"versionCode\":" version ",\"size\":" size ",\"crc32\":" crc ",\"sha256\":" sha ",\"manifest\":" manifest       \
    ",\"versionName\":\"1.4.0\",\"url\":\"/x\"}"
#define ITEM(id, price, features)                                                                                      \
    "{\"id\":" id ",\"name\":\"n\",\"itemprice\":" price ",\"currency\":\"USD\",\"featureIds\":" features "}"

static const struct row {
    const char *text;
    decode_function function;
    tendon_cloud_status status;
    const char *member;
} rows[] = {
    {"{\"features\":[{\"id\":16,\"name\":\"Led\",\"toggleable\":true,\"more\":{}}],\"more\":1}", features, 0, NULL},
    {"{\"features\":[]}", features, 0, NULL},
    {"{}", features, TENDON_CLOUD_MISSING, "features"},
    {"{\"features\":null}", features, TENDON_CLOUD_WRONG_TYPE, "features"},
    {"{\"features\":{}}", features, TENDON_CLOUD_WRONG_TYPE, "features"},
    {"{\"features\":[1]}", features, TENDON_CLOUD_MISSING, "id"},
    {"{\"features\":[{\"id\":\"1\",\"name\":\"a\",\"toggleable\":true}]}", features, TENDON_CLOUD_WRONG_TYPE, "id"},
    {"{\"features\":[{\"id\":1.0,\"name\":\"a\",\"toggleable\":true}]}", features, TENDON_CLOUD_WRONG_TYPE, "id"},
    {"{\"features\":[{\"id\":0,\"name\":\"a\",\"toggleable\":true}]}", features, TENDON_CLOUD_OUT_OF_RANGE, "id"},
    {"{\"features\":[{\"id\":1025,\"name\":\"a\",\"toggleable\":true}]}", features, TENDON_CLOUD_OUT_OF_RANGE, "id"},
    {"{\"features\":[{\"id\":65552,\"name\":\"a\",\"toggleable\":true}]}", features, TENDON_CLOUD_OUT_OF_RANGE, "id"},
    {"{\"features\":[{\"id\":1,\"name\":\"\",\"toggleable\":true}]}", features, TENDON_CLOUD_OUT_OF_RANGE, "name"},
    {"{\"features\":[{\"id\":1,\"name\":7,\"toggleable\":true}]}", features, TENDON_CLOUD_WRONG_TYPE, "name"},
    {"{\"features\":[{\"id\":1,\"name\":\"a\"}]}", features, TENDON_CLOUD_MISSING, "toggleable"},
    {"{\"features\":[{\"id\":1,\"name\":\"a\",\"toggleable\":1}]}", features, TENDON_CLOUD_WRONG_TYPE, "toggleable"},
    {"{\"features\":[{\"id\":1,\"name\":\"a\",\"toggleable\":true},{\"id\":1,\"name\":\"b\",\"toggleable\":true}]}",
     features, TENDON_CLOUD_DUPLICATE, "id"},
    {"{\"features\":[{\"id\":1,\"name\":\"a\",\"toggleable\":true},{\"id\":2,\"name\":\"a\",\"toggleable\":true}]}",
     features, TENDON_CLOUD_DUPLICATE, "name"},

    {"{\"package\":\"AAEC\",\"counter\":\"18446744073709551615\",\"sha256\":\"" ZEROS64 "\"}", package, 0, NULL},
    {"{\"package\":\"AAEC\",\"counter\":\"18446744073709551616\",\"sha256\":\"" ZEROS64 "\"}", package,
     TENDON_CLOUD_OUT_OF_RANGE, "counter"},
    {"{\"package\":\"AAEC\",\"counter\":42,\"sha256\":\"" ZEROS64 "\"}", package, TENDON_CLOUD_WRONG_TYPE, "counter"},
    {"{\"package\":\"AAEC\",\"counter\":\"-1\",\"sha256\":\"" ZEROS64 "\"}", package, TENDON_CLOUD_OUT_OF_RANGE,
     "counter"},
    {"{\"package\":\"AAEC\",\"counter\":\"\",\"sha256\":\"" ZEROS64 "\"}", package, TENDON_CLOUD_OUT_OF_RANGE,
     "counter"},
    {"{\"package\":\"AAEC\",\"counter\":\"1\",\"sha256\":\"00\"}", package, TENDON_CLOUD_OUT_OF_RANGE, "sha256"},
    {"{\"package\":\"A*EC\",\"counter\":\"1\",\"sha256\":\"" ZEROS64 "\"}", package, TENDON_CLOUD_OUT_OF_RANGE,
     "package"},
    {"{\"counter\":\"1\",\"sha256\":\"" ZEROS64 "\"}", package, TENDON_CLOUD_MISSING, "package"},

    {FIRMWARE("1004000", "65536", "\"114ad5ff\"", "\"" ZEROS64 "\"", "\"" MANIFEST "\""), firmware, 0, NULL},
    {FIRMWARE("-1", "1", "\"114ad5ff\"", "\"" ZEROS64 "\"", "\"" MANIFEST "\""), firmware, TENDON_CLOUD_OUT_OF_RANGE,
     "versionCode"},
    {FIRMWARE("1000000000", "1", "\"114ad5ff\"", "\"" ZEROS64 "\"", "\"" MANIFEST "\""), firmware,
     TENDON_CLOUD_OUT_OF_RANGE, "versionCode"},
    {FIRMWARE("1", "0", "\"114ad5ff\"", "\"" ZEROS64 "\"", "\"" MANIFEST "\""), firmware, TENDON_CLOUD_OUT_OF_RANGE,
     "size"},
    {FIRMWARE("1", "16777217", "\"114ad5ff\"", "\"" ZEROS64 "\"", "\"" MANIFEST "\""), firmware,
     TENDON_CLOUD_OUT_OF_RANGE, "size"},
    {FIRMWARE("1", "16777216", "\"114ad5ff\"", "\"" ZEROS64 "\"", "\"" MANIFEST "\""), firmware, 0, NULL},
    {FIRMWARE("1", "1", "\"114ad5f\"", "\"" ZEROS64 "\"", "\"" MANIFEST "\""), firmware, TENDON_CLOUD_OUT_OF_RANGE,
     "crc32"},
    {FIRMWARE("1", "1", "\"114ad5fg\"", "\"" ZEROS64 "\"", "\"" MANIFEST "\""), firmware, TENDON_CLOUD_OUT_OF_RANGE,
     "crc32"},
    {FIRMWARE("1", "1", "289068543", "\"" ZEROS64 "\"", "\"" MANIFEST "\""), firmware, TENDON_CLOUD_WRONG_TYPE,
     "crc32"},
    {FIRMWARE("1", "1", "\"114ad5ff\"", "\"" ZEROS64 "\"", "\"AAAA\""), firmware, TENDON_CLOUD_OUT_OF_RANGE,
     "manifest"},
    {FIRMWARE("1", "1", "\"114ad5ff\"", "\"" ZEROS64 "\"", "\"" MANIFEST "AAAA\""), firmware, TENDON_CLOUD_OUT_OF_RANGE,
     "manifest"},

    {"{\"items\":[" ITEM("7", "\"4.99\"", "[16]") "," ITEM("8", "\"5\"", "[]") "]}", items, 0, NULL},
    {"{\"items\":[" ITEM("7", "\"4.99\"", "[16]") "," ITEM("7", "\"5\"", "[]") "]}", items, TENDON_CLOUD_DUPLICATE,
     "id"},
    {"{\"items\":[" ITEM("0", "\"4.99\"", "[16]") "]}", items, TENDON_CLOUD_OUT_OF_RANGE, "id"},
    {"{\"items\":[" ITEM("7", "4.99", "[16]") "]}", items, TENDON_CLOUD_WRONG_TYPE, "itemprice"},
    {"{\"items\":[" ITEM("7", "\"\"", "[16]") "]}", items, TENDON_CLOUD_OUT_OF_RANGE, "itemprice"},
    {"{\"items\":[" ITEM("7", "\".5\"", "[16]") "]}", items, TENDON_CLOUD_OUT_OF_RANGE, "itemprice"},
    {"{\"items\":[" ITEM("7", "\"5.\"", "[16]") "]}", items, TENDON_CLOUD_OUT_OF_RANGE, "itemprice"},
    {"{\"items\":[" ITEM("7", "\"-5\"", "[16]") "]}", items, TENDON_CLOUD_OUT_OF_RANGE, "itemprice"},
    {"{\"items\":[" ITEM("7", "\"4.9.9\"", "[16]") "]}", items, TENDON_CLOUD_OUT_OF_RANGE, "itemprice"},
    {"{\"items\":[" ITEM("7", "\"free\"", "[16]") "]}", items, TENDON_CLOUD_OUT_OF_RANGE, "itemprice"},
    {"{\"items\":[" ITEM("7", "\"1234567890\"", "[16]") "]}", items, TENDON_CLOUD_OUT_OF_RANGE, "itemprice"},
    {"{\"items\":[" ITEM("7", "\"4.99\"", "[0]") "]}", items, TENDON_CLOUD_OUT_OF_RANGE, "featureIds"},
    {"{\"items\":[" ITEM("7", "\"4.99\"", "[1025]") "]}", items, TENDON_CLOUD_OUT_OF_RANGE, "featureIds"},
    {"{\"items\":[" ITEM("7", "\"4.99\"", "[\"16\"]") "]}", items, TENDON_CLOUD_WRONG_TYPE, "featureIds"},
    {"{\"items\":[" ITEM("7", "\"4.99\"", "16") "]}", items, TENDON_CLOUD_WRONG_TYPE, "featureIds"},

    {"{\"cartId\":991,\"totalPrice\":499,\"currency\":\"USD\"}", cart, 0, NULL},
    {"{\"cartId\":991,\"totalPrice\":0,\"currency\":\"USD\"}", cart, 0, NULL},
    {"{\"cartId\":0,\"totalPrice\":499,\"currency\":\"USD\"}", cart, TENDON_CLOUD_OUT_OF_RANGE, "cartId"},
    {"{\"cartId\":2147483648,\"totalPrice\":499,\"currency\":\"USD\"}", cart, TENDON_CLOUD_OUT_OF_RANGE, "cartId"},
    {"{\"cartId\":991,\"totalPrice\":-1,\"currency\":\"USD\"}", cart, TENDON_CLOUD_OUT_OF_RANGE, "totalPrice"},
    {"{\"cartId\":991,\"totalPrice\":4.99,\"currency\":\"USD\"}", cart, TENDON_CLOUD_WRONG_TYPE, "totalPrice"},
    {"{\"cartId\":991,\"totalPrice\":499}", cart, TENDON_CLOUD_MISSING, "currency"},

    {"{\"status\":\"succeeded\",\"paymentId\":\"p1\"}", payment, 0, NULL},
    {"{\"status\":\"pending\"}", payment, 0, NULL},
    {"{\"status\":\"failed\",\"code\":\"card_declined\",\"message\":\"no\"}", payment, 0, NULL},
    {"{\"status\":\"Succeeded\"}", payment, TENDON_CLOUD_OUT_OF_RANGE, "status"},
    {"{\"status\":\"succeeded!\"}", payment, TENDON_CLOUD_OUT_OF_RANGE, "status"},
    {"{\"status\":true}", payment, TENDON_CLOUD_WRONG_TYPE, "status"},
    {"{}", payment, TENDON_CLOUD_MISSING, "status"},
    {"{\"status\":\"action_required\",\"actionUrl\":\"u\"}", payment, TENDON_CLOUD_MISSING, "paymentSecret"},
    {"{\"status\":\"action_required\",\"paymentSecret\":\"s\"}", payment, TENDON_CLOUD_MISSING, "actionUrl"},
    {"{\"status\":\"action_required\",\"paymentSecret\":\"s\",\"actionUrl\":\"u\"}", payment, 0, NULL},

    {"{\"code\":\"NOT_PROVISIONED\",\"inField\":true}", error, 0, NULL},
    {"{\"code\":\"X\",\"inField\":1}", error, TENDON_CLOUD_WRONG_TYPE, "inField"},
    {"{\"message\":\"x\"}", error, TENDON_CLOUD_MISSING, "code"},

    {"", error, TENDON_CLOUD_NOT_JSON, NULL},
    {"[]", error, TENDON_CLOUD_NOT_JSON, NULL},
    {"{", error, TENDON_CLOUD_NOT_JSON, NULL},
    {"{}{}", error, TENDON_CLOUD_NOT_JSON, NULL},
    {"{\"code\":\"a\",\"code\":\"b\"}", error, TENDON_CLOUD_NOT_JSON, NULL},
    {"{\"code\":\"\\u0000\"}", error, TENDON_CLOUD_NOT_JSON, NULL},
    {"{\"code\":\"\xff\"}", error, TENDON_CLOUD_NOT_JSON, NULL},
    {"{\"code\":\"\\ud800\"}", error, TENDON_CLOUD_NOT_JSON, NULL},
    {"{\"code\":NaN}", error, TENDON_CLOUD_NOT_JSON, NULL},
    {"{\"code\":1e999}", error, TENDON_CLOUD_NOT_JSON, NULL},
    {"{\"id\":99999999999999999999}", error, TENDON_CLOUD_NOT_JSON, NULL},
};

static void test_rows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect(rows[i].text, rows[i].function, rows[i].status, rows[i].member);
    }
}

/* Every accepted answer, truncated at each byte, is rejected; nothing is read behind its end. */
static void test_truncated(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t length = 0; rows[i].status == TENDON_CLOUD_OK && length < strlen(rows[i].text); length++) {
            tendon_cloud_answer answer = {0};
            assert_int_equal(decode(rows[i].text, length, rows[i].function, &answer), TENDON_CLOUD_NOT_JSON);
            tendon_cloud_answer_release(&answer);
        }
    }
}

static void test_values(void **state) {
    (void)state;
    static uint8_t bytes[TENDON_CLOUD_PACKAGE_MAX];
    tendon_cloud_answer answer = {0};
    tendon_cloud_package pack;
    const char *text = "{\"package\":\"AAEC/w==\",\"counter\":\"42\",\"sha256\":\"0123456789aBcDeF" ZEROS8 ZEROS8 ZEROS8
        ZEROS8 ZEROS8 ZEROS8 "\"}";
    assert_int_equal(tendon_cloud_answer_parse(text, strlen(text), &answer), TENDON_CLOUD_OK);
    assert_int_equal(tendon_cloud_decode_package(&answer, &pack, bytes), TENDON_CLOUD_OK);
    assert_int_equal(pack.counter, 42);
    assert_int_equal(pack.length, 4);
    assert_memory_equal(bytes, "\0\1\2\377", 4);
    assert_memory_equal(pack.sha256, "\x01\x23\x45\x67\x89\xab\xcd\xef\0", 9);
    tendon_cloud_answer_release(&answer);

    tendon_cloud_firmware firm;
    text = FIRMWARE("1004000", "65536", "\"114ad5ff\"", "\"" ZEROS64 "\"", "\"" MANIFEST "\"");
    assert_int_equal(tendon_cloud_answer_parse(text, strlen(text), &answer), TENDON_CLOUD_OK);
    assert_int_equal(tendon_cloud_decode_firmware(&answer, &firm), TENDON_CLOUD_OK);
    assert_int_equal(firm.version_code, 1004000);
    assert_int_equal(firm.size, 65536);
    assert_int_equal(firm.crc32, 0x114ad5ff);
    expect_text(firm.version_name, "1.4.0");
    expect_text(firm.release_notes, "");
    expect_text(firm.url, "/x");
    tendon_cloud_answer_release(&answer);

    size_t count = 0;
    text = "{\"items\":[" ITEM("7", "\"4.99\"", "[16,1024]") "]}";
    assert_int_equal(tendon_cloud_answer_parse(text, strlen(text), &answer), TENDON_CLOUD_OK);
    assert_int_equal(tendon_cloud_items(&answer, &count), TENDON_CLOUD_OK);
    assert_int_equal(count, 1);
    tendon_cloud_item item = tendon_cloud_item_at(&answer, 0);
    assert_int_equal(item.id, 7);
    assert_int_equal(item.feature_count, 2);
    assert_int_equal(tendon_cloud_item_feature(&answer, 0, 1), 1024);
    expect_text(item.price, "4.99");
    expect_text(item.thumbnail_url, "");
    tendon_cloud_answer_release(&answer);
}

/* ---- limits ---- */

static char *repeated(const char *open, const char *unit, size_t count, const char *close, size_t *length) {
    size_t size = strlen(unit);
    char *text = malloc(strlen(open) + size * count + strlen(close) + 1);
    assert_non_null(text);
    strcpy(text, open);
    char *at = text + strlen(open);
    for (size_t i = 0; i < count; i++, at += size) {
        memcpy(at, unit, size);
    }
    strcpy(at, close);
    *length = strlen(text);
    return text;
}

static void expect_limit(const char *open, const char *unit, size_t count, const char *close,
                         tendon_cloud_status expected) {
    size_t length;
    char *text = repeated(open, unit, count, close, &length);
    assert_int_equal(tendon_cloud_check_limits(text, length), expected);
    free(text);
}

static void test_limits(void **state) {
    (void)state;
    expect_limit("", " ", TENDON_CLOUD_BODY_MAX, "", TENDON_CLOUD_OK);
    expect_limit("", " ", TENDON_CLOUD_BODY_MAX + 1, "", TENDON_CLOUD_TOO_LARGE);
    expect_limit("", "[", 16, "", TENDON_CLOUD_OK);
    expect_limit("", "[", 17, "", TENDON_CLOUD_TOO_DEEP);
    expect_limit("", "{\"a\":", 16, "", TENDON_CLOUD_OK);
    expect_limit("", "{\"a\":", 17, "", TENDON_CLOUD_TOO_DEEP);
    expect_limit("", "[]", 1000, "", TENDON_CLOUD_OK);
    expect_limit("", "]", 1000, "[[[", TENDON_CLOUD_OK);
    expect_limit("[\"", "[", 100, "\"]", TENDON_CLOUD_OK);
    expect_limit("[", "0,", 2047, "0]", TENDON_CLOUD_OK);
    expect_limit("[", "0,", 2048, "0]", TENDON_CLOUD_TOO_MANY_ITEMS);
    expect_limit("[[", "0,", 2047, "0],0,0]", TENDON_CLOUD_OK);
    expect_limit("[[", "0,", 2048, "0]]", TENDON_CLOUD_TOO_MANY_ITEMS);
    expect_limit("[\"", ",", 3000, "\"]", TENDON_CLOUD_OK);
    expect_limit("\"", "a", TENDON_CLOUD_STRING_MAX, "\"", TENDON_CLOUD_OK);
    expect_limit("\"", "a", TENDON_CLOUD_STRING_MAX + 1, "\"", TENDON_CLOUD_STRING_TOO_LONG);
    expect_limit("\"", "\\\"", TENDON_CLOUD_STRING_MAX / 2, "\"", TENDON_CLOUD_OK);
    expect_limit("\"", "\\\"", TENDON_CLOUD_STRING_MAX / 2 + 1, "\"", TENDON_CLOUD_STRING_TOO_LONG);
    expect_limit("\"\\", "\\\\", 5, "", TENDON_CLOUD_OK);
    expect_limit("\"", "", 0, "", TENDON_CLOUD_OK);
}

/* The limits hold for what the parser gets: an answer beyond one is not parsed. */
static void test_limits_come_first(void **state) {
    (void)state;
    size_t length;
    tendon_cloud_answer answer = {0};
    char *text = repeated("{\"a\":", "[", 100000, "", &length);
    assert_int_equal(tendon_cloud_answer_parse(text, length, &answer), TENDON_CLOUD_TOO_DEEP);
    assert_null(answer.root);
    tendon_cloud_answer_release(&answer);
    free(text);
}

/* RFC 4648 section 10, and what is malformed. */
static void test_base64(void **state) {
    (void)state;
    static const struct {
        const char *text;
        ptrdiff_t length;
        const char *bytes;
    } cases[] = {{"", 0, ""},
                 {"Zg==", 1, "f"},
                 {"Zm8=", 2, "fo"},
                 {"Zm9v", 3, "foo"},
                 {"Zm9vYmFy", 6, "foobar"},
                 {"+/+/", 3, "\xfb\xff\xbf"},
                 {"Z", -1, NULL},
                 {"Zg=", -1, NULL},
                 {"Zg", -1, NULL},
                 {"Z===", -1, NULL},
                 {"====", -1, NULL},
                 {"Zh==", -1, NULL},
                 {"Zm9=", -1, NULL},
                 {"Zg==Zg==", -1, NULL},
                 {"Zm9 ", -1, NULL},
                 {"Zm9\n", -1, NULL},
                 {"Zm-_", -1, NULL},
                 {"=Zm9", -1, NULL},
                 {"Zm9vYmFyZg==", -1, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t out[6];
        assert_int_equal(tendon_cloud_base64(cases[i].text, strlen(cases[i].text), out, sizeof out), cases[i].length);
        if (cases[i].length > 0) {
            assert_memory_equal(out, cases[i].bytes, (size_t)cases[i].length);
        }
    }
}

static void test_status_texts(void **state) {
    (void)state;
    for (int status = TENDON_CLOUD_OK; status <= TENDON_CLOUD_NO_MEMORY; status++) {
        for (int other = TENDON_CLOUD_OK; other < status; other++) {
            assert_string_not_equal(tendon_cloud_status_text((tendon_cloud_status)status),
                                    tendon_cloud_status_text((tendon_cloud_status)other));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_truncated),         cmocka_unit_test(test_values),
        cmocka_unit_test(test_limits),       cmocka_unit_test(test_limits_come_first), cmocka_unit_test(test_base64),
        cmocka_unit_test(test_status_texts),
    };
    return cmocka_run_group_tests_name("cloud_answers", tests, NULL, NULL);
}
