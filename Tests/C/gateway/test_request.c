/* SPDX-License-Identifier: MIT */
/* Lines of anyone: what is a request, and what is not. */
#include "test_bytes.h"

#include "tendon/gateway/request.h"

#define A "\"address\":\"C4:00:00:00:00:01\""

static tendon_act_mistake mistake;

static tendon_status parse(const char *text, size_t length, tendon_request *out) {
    block line = block_copy(text, length);
    tendon_status status = tendon_request_parse((const char *)line.data, line.length, out, &mistake);
    assert_int_equal(status < 0, mistake.text[0] != '\0');
    free(line.data);
    return status;
}

static void check(const char *text, const char *action, uint8_t type) {
    tendon_request request;
    static const uint8_t bytes[6] = {0xC4, 0, 0, 0, 0, 1};
    if (parse(text, strlen(text), &request) < 0) {
        fail_msg("rejected: %s", text);
    }
    assert_memory_equal(request.address.bytes, bytes, 6);
    assert_int_equal(request.address.type, type);
    assert_int_equal(request.length, strlen(action));
    assert_memory_equal(request.action, action, request.length);
}

static void requests(void **state) {
    (void)state;
    check("{\"address\":\"C4:00:00:00:00:01\",\"action\":\"tare\"}", "tare", TENDON_ADDRESS_TYPE_ANONYMOUS);
    check("{\"address\":\"C4:00:00:00:00:01/random\",\"action\":\"tare\"}", "tare", TENDON_ADDRESS_TYPE_RANDOM);
    check("{\"action\":\"tare\",\"address\":\"C4:00:00:00:00:01/public\"}", "tare", TENDON_ADDRESS_TYPE_PUBLIC);
    check("{\"address\":\"c4:00:00:00:00:01\",\"action\":\"tare\",\"arguments\":[]}", "tare",
          TENDON_ADDRESS_TYPE_ANONYMOUS);
    check(" { \"arguments\" : [ \"blinkFast\" , 500 ] , \"action\" : \"led\" , \"address_type\" : \"random\" , "
          "\"address\" : \"C4:00:00:00:00:01\" } \r",
          "led blinkFast 500", TENDON_ADDRESS_TYPE_RANDOM);
    check("{\"address\":\"C4:00:00:00:00:01\",\"address_type\":\"public\",\"action\":\"set\",\"arguments\":[-1.5e3]}",
          "set -1.5e3", TENDON_ADDRESS_TYPE_PUBLIC);
    check("{\"address\":\"C4:00:00:00:00:01\",\"action\":\"a\\u0062\\/\\\\\\\"\"}", "ab/\\\"",
          TENDON_ADDRESS_TYPE_ANONYMOUS);
    check("{\"address\":\"C4:00:00:00:00:01\",\"action\":\"tare\",\"arguments\":null}", "tare",
          TENDON_ADDRESS_TYPE_ANONYMOUS);
}

/* Texts that would be several words, or none, are in quotation marks. */
static void texts(void **state) {
    (void)state;
    static const struct {
        const char *argument, *word;
    } rows[] = {
        {"\"HELLO WORLD\"", "\"HELLO WORLD\""},
        {"\"\"", "\"\""},
        {"\"H\\u00e4llo\"", "H\xC3\xA4llo"},
        {"\"H\xC3\xA4llo\"", "H\xC3\xA4llo"},
        {"\"\\ud83d\\udca1 on\"", "\"\xF0\x9F\x92\xA1 on\""},
        {"\"a\\nb\"", "\"a\\nb\""},
        {"\"\\r\\t\"", "\"\\r\\t\""},
        {"\"\\\"b\\\"\"", "\"\\\"b\\\"\""},
        {"\"5\\\"\"", "5\""},
        {"\"a b\\\\\"", "\"a b\\\\\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char line[200], action[64];
        snprintf(line, sizeof line, "{" A ",\"action\":\"set\",\"arguments\":[1,%s]}", rows[i].argument);
        snprintf(action, sizeof action, "set 1 %s", rows[i].word);
        check(line, action, TENDON_ADDRESS_TYPE_ANONYMOUS);
    }
}

/* What a program is told, and what it can match: the address and the action, if they were understood. */
static void mistakes(void **state) {
    (void)state;
    static const struct {
        const char *line, *text, *action;
        bool has_address;
    } rows[] = {
        {"90", "a request is an object with address and action", "", false},
        {"{" A, "no JSON: a ',' or a '}' is missing here (column 31)", "", false},
        {"{\"action\":\"set\"}", "the line has no address", "", false},
        {"{" A "}", "the line has no action", "", true},
        {"{" A ",\"action\":\"set\",\"arguments\":90}", "arguments is a list like [90]", "set", true},
        {"{" A ",\"action\":\"set\",\"arguments\":[1,[]]}", "an argument is a text or a number of at most 64 bytes",
         "set", true},
        {"{" A ",\"action\":\"set\",\"argument\":[1]}",
         "'argument' is none of address, address_type, action, arguments", "", false},
        {"{" A ",\"action\":\"set\"," A "}", "'address' is there twice", "", false},
        {"{" A ",\"action\":\"a\\u0007\"}", "a text has a control character", "", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tendon_request request;
        assert_int_equal(parse(rows[i].line, strlen(rows[i].line), &request), TENDON_ERROR_MALFORMED);
        assert_string_equal(mistake.text, rows[i].text);
        assert_int_equal(request.length, strlen(rows[i].action));
        assert_memory_equal(request.action, rows[i].action, request.length);
        assert_int_equal(request.has_address, rows[i].has_address);
    }
}

static void what_is_no_request(void **state) {
    (void)state;
    static const char *const lines[] = {
        "",
        "{",
        "{}",
        "[]",
        "null",
        "{" A "}",
        "{\"action\":\"tare\"}",
        "{" A ",\"action\":\"tare\"",
        "{" A ",\"action\":\"tare\"}}",
        "{" A ",\"action\":\"tare\"}{",
        "{" A ",\"action\":\"tare\",}",
        "{" A " \"action\":\"tare\"}",
        "{" A ",\"action\" \"tare\"}",
        "{" A ",\"action\":tare}",
        "{" A ",\"action\":7}",
        "{" A ",\"action\":\"\\u12\"}",
        "{" A ",\"action\":\"\\u0000\"}",
        "{" A ",\"action\":\"\xC3\"}",
        "{" A ",\"action\":\"\xED\xA0\x80\"}",
        "{" A ",\"action\":\"a\",\"arguments\":[01]}",
        "{" A ",\"action\":\"a\",\"arguments\":true}",
        "{" A ",\"action\":\"\\",
        "{" A ",\"action\":\"a\",\"action\":\"b\"}",
        "{" A "," A ",\"action\":\"b\"}",
        "{" A ",\"action\":\"a\",\"more\":1}",
        "{" A ",\"action\":\"a\",\"arguments\":\"x\"}",
        "{" A ",\"action\":\"a\",\"arguments\":[[]]}",
        "{" A ",\"action\":\"a\",\"arguments\":[{}]}",
        "{" A ",\"action\":\"a\",\"arguments\":[true]}",
        "{" A ",\"action\":\"a\",\"arguments\":[1 2]}",
        "{" A ",\"action\":\"a\",\"arguments\":[1,]}",
        "{" A ",\"action\":\"a\",\"arguments\":[,1]}",
        "{" A ",\"action\":\"a\",\"arguments\":[1}",
        "{" A ",\"action\":\"a\",\"address_type\":\"static\"}",
        "{\"address\":\"C4:00:00:00:00\",\"action\":\"a\"}",
        "{\"address\":\"C4:00:00:00:00:01/\",\"action\":\"a\"}",
        "{\"address\":\"C4:00:00:00:00:01/static\",\"action\":\"a\"}",
        "{\"address\":\"C4:00:00:00:00:01/random\",\"action\":\"a\",\"address_type\":\"public\"}",
        "{\"address_type\":\"random\",\"address\":\"C4:00:00:00:00:01/random\",\"action\":\"a\"}",
        "{\"address\":\"G4:00:00:00:00:01\",\"action\":\"a\"}",
        "{\"address\":null,\"action\":\"a\"}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tendon_request request;
        if (parse(lines[i], strlen(lines[i]), &request) != TENDON_ERROR_MALFORMED) {
            fail_msg("accepted: %s", lines[i]);
        }
    }
    tendon_request request;
    static const char zero[] = "{" A ",\"action\":\"a\0b\"}";
    assert_int_equal(parse(zero, sizeof zero - 1, &request), TENDON_ERROR_MALFORMED);
}

/* Words of 64 bytes, 160 bytes together, lines of 1024 bytes. */
static void limits(void **state) {
    (void)state;
    char line[2000];
    char word[200];
    tendon_request request;
    memset(word, 'w', sizeof word);
    for (int length = 63; length <= 65; length++) {
        int size = snprintf(line, sizeof line, "{" A ",\"action\":\"%.*s\"}", length, word);
        assert_int_equal(parse(line, (size_t)size, &request), length <= 64 ? TENDON_OK : TENDON_ERROR_MALFORMED);
        size = snprintf(line, sizeof line, "{" A ",\"action\":\"a\",\"arguments\":[%.*s]}", length,
                        "1111111111222222222233333333334444444444555555555566666666667777777777");
        assert_int_equal(parse(line, (size_t)size, &request), length <= 64 ? TENDON_OK : TENDON_ERROR_MALFORMED);
    }
    for (int length = 28; length <= 31; length++) {
        int size = snprintf(line, sizeof line, "{" A ",\"action\":\"%.64s\",\"arguments\":[\"%.64s\",\"%.*s\"]}", word,
                            word, length, word);
        tendon_status expected = 64 + 1 + 64 + 1 + length <= 160 ? TENDON_OK : TENDON_ERROR_MALFORMED;
        assert_int_equal(parse(line, (size_t)size, &request), expected);
    }
    for (int space = 0; space < 1200; space++) {
        int size = snprintf(line, sizeof line, "{" A ",\"action\":\"a\"}%*s", space, "");
        assert_int_equal(parse(line, (size_t)size, &request), size <= 1024 ? TENDON_OK : TENDON_ERROR_MALFORMED);
        assert_string_equal(mistake.text, size <= 1024 ? "" : "the line is longer than 1024 bytes");
    }
}

/* Each beginning of a request, and each byte of it replaced. */
static void neighbors_of_a_request(void **state) {
    (void)state;
    static const char line[] = "{" A ",\"address_type\":\"random\",\"action\":\"led\",\"arguments\":[\"on\",5]}";
    tendon_request request;
    for (size_t length = 0; length < sizeof line - 1; length++) {
        assert_int_equal(parse(line, length, &request), TENDON_ERROR_MALFORMED);
    }
    for (size_t at = 0; at < sizeof line - 1; at++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            char changed[sizeof line];
            memcpy(changed, line, sizeof line);
            changed[at] = (char)byte;
            if (parse(changed, sizeof line - 1, &request) >= 0) {
                assert_true(request.length > 0 && request.length <= sizeof request.action);
                for (size_t i = 0; i < request.length; i++) {
                    assert_true((uint8_t)request.action[i] >= ' ');
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests),           cmocka_unit_test(texts),  cmocka_unit_test(mistakes),
        cmocka_unit_test(what_is_no_request), cmocka_unit_test(limits), cmocka_unit_test(neighbors_of_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
