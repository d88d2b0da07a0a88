/* SPDX-License-Identifier: MIT */
/* Lines of anyone: what is a request, and what is not. */
#include "test_bytes.h"

#include "tendon/gateway/request.h"

static tendon_status parse(const char *text, size_t length, tendon_request *out) {
    const char *mistake = NULL;
    block line = block_copy(text, length);
    tendon_status status = tendon_request_parse((const char *)line.data, line.length, out, &mistake);
    assert_true((status < 0) == (mistake != NULL));
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
}

static void what_is_no_request(void **state) {
    (void)state;
#define A "\"address\":\"C4:00:00:00:00:01\""
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
        "{" A ",\"action\":\"\"}",
        "{" A ",\"action\":7}",
        "{" A ",\"action\":\"two words\"}",
        "{" A ",\"action\":\"tab\\t\"}",
        "{" A ",\"action\":\"\\u0020\"}",
        "{" A ",\"action\":\"\\u00e9\"}",
        "{" A ",\"action\":\"\\u12\"}",
        "{" A ",\"action\":\"\\",
        "{" A ",\"action\":\"\xC3\xA9\"}",
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
        "{" A ",\"action\":\"a\",\"arguments\":[\"\"]}",
        "{" A ",\"action\":\"a\",\"arguments\":[\"\\\"b\\\"\"]}",
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
                    assert_in_range(request.action[i], ' ', '~');
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests),
        cmocka_unit_test(what_is_no_request),
        cmocka_unit_test(limits),
        cmocka_unit_test(neighbors_of_a_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
