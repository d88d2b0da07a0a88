/* SPDX-License-Identifier: MIT */
/* What advertisements and scan responses say together. Times are milliseconds of a simulated clock. */
#include "test_bytes.h"

#include "tendon/gateway/search.h"

static tendon_search_advertiser advertisers[8];
static tendon_search search;
static tendon_definition named, unnamed;
static const tendon_definition *const definitions[] = {&unnamed, &named};

/* fff0, one with the name "Toy", one with any */
static void parse(const char *find, tendon_definition *out) {
    static tendon_definition_scratch scratch;
    tendon_definition_mistake mistake;
    char text[512];
    int length = snprintf(text, sizeof text,
                          "{\"name\":\"%s\",\"title\":\"Toy\",\"find\":{%s},\"characteristics\":[{\"name\":\"level\","
                          "\"service\":\"fff0\",\"uuid\":\"fff1\",\"notify\":[{\"name\":\"x\",\"type\":\"u8\"}]}]}",
                          out == &named ? "named" : "unnamed", find);
    assert_int_equal(tendon_definition_parse(text, (size_t)length, out, &scratch, &mistake), TENDON_OK);
}

static void start(size_t definition_count) {
    tendon_search_init(&search, advertisers, 8, definitions, definition_count);
}

enum { RESPONSE = TENDON_AD_SCAN_RESPONSE | TENDON_AD_SCANNABLE | TENDON_AD_LEGACY };
enum { ADVERTISEMENT = TENDON_AD_SCANNABLE | TENDON_AD_LEGACY, NOT_SCANNABLE = TENDON_AD_LEGACY };

static tendon_search_found take(uint8_t number, uint16_t properties, const char *hex, uint64_t now) {
    block data = block_hex(hex);
    tendon_ad_report report = {.address = {.bytes = {0xC0, 0, 0, 0, 0, number}, .type = TENDON_ADDRESS_TYPE_RANDOM},
                               .properties = properties,
                               .rssi = -50,
                               .data = data.data,
                               .length = data.length};
    tendon_search_found found = tendon_search_take(&search, &report, now);
    free(data.data);
    return found;
}

static void ask(uint8_t number, uint64_t now) {
    const tendon_address address = {.bytes = {0xC0, 0, 0, 0, 0, number}, .type = TENDON_ADDRESS_TYPE_RANDOM};
    tendon_search_ask(&search, &address, now);
}

/* Core Specification Supplement, Part A: 03 of 16-bit UUIDs, 09 complete name, 08 shortened name. */
#define TOY_SERVICE "0303f0ff"
#define NAME_TOY "0409546f79"
#define NAME_OTHER "03096162"
#define NAME_SHORT                                                                                                     \
    "0208"                                                                                                             \
    "54"

static void a_family_by_its_advertisement(void **state) {
    (void)state;
    start(0);
    /* An Activ5 trainer: service 5000. */
    tendon_search_found found = take(1, ADVERTISEMENT, "03030050", 100);
    assert_int_equal(found.family, 2);
    assert_true(found.awaits_response);
    assert_null(found.name);
    found = take(1, RESPONSE,
                 "0a09414354495635"
                 "2d4143",
                 110);
    assert_int_equal(found.family, 2);
    assert_true(found.is_response);
    assert_false(found.awaits_response);
    assert_int_equal(found.name_length, 9);
    assert_memory_equal(found.name, "ACTIV5-AC", 9);
    /* The next advertisement has no name, and it is known. */
    found = take(1, ADVERTISEMENT, "03030050", 200);
    assert_int_equal(found.name_length, 9);
    assert_false(found.awaits_response);
    found = take(2, NOT_SCANNABLE, "03030050", 200);
    assert_int_equal(found.family, 2);
    assert_false(found.awaits_response);
    found = take(3, ADVERTISEMENT, "03030f18", 200);
    assert_int_equal(found.family, TENDON_SEARCH_NO_FAMILY);
    assert_false(found.awaits_response); /* other people's devices are not asked */
}

/* A complete name stays; a shortened one is replaced. */
static void names(void **state) {
    (void)state;
    start(0);
    assert_memory_equal(take(1, ADVERTISEMENT, NAME_SHORT, 100).name, "T", 1);
    assert_memory_equal(take(1, RESPONSE, NAME_TOY, 100).name, "Toy", 3);
    tendon_search_found found = take(1, ADVERTISEMENT, NAME_SHORT, 100);
    assert_int_equal(found.name_length, 3);
    assert_int_equal(take(1, RESPONSE, NAME_OTHER, 100).name_length, 2);
}

/* The name decides, if it can come. */
static void device_files(void **state) {
    (void)state;
    parse("\"services\":[\"fff0\"]", &unnamed);
    parse("\"services\":[\"fff0\"],\"name\":\"Toy\"", &named);
    start(2);
    tendon_search_found found = take(1, ADVERTISEMENT, TOY_SERVICE, 100);
    assert_int_equal(found.family, TENDON_SEARCH_NO_FAMILY);
    assert_true(found.awaits_response);
    assert_int_equal(take(1, RESPONSE, NAME_TOY, 110).family, TENDON_SEARCH_DEFINED + 1);
    assert_int_equal(take(1, ADVERTISEMENT, TOY_SERVICE, 120).family, TENDON_SEARCH_DEFINED + 1);
    (void)take(2, ADVERTISEMENT, TOY_SERVICE, 100);
    assert_int_equal(take(2, RESPONSE, NAME_OTHER, 110).family, TENDON_SEARCH_DEFINED);
    assert_int_equal(take(3, NOT_SCANNABLE, TOY_SERVICE, 100).family, TENDON_SEARCH_DEFINED);
    /* The response comes first. */
    (void)take(4, RESPONSE, NAME_TOY, 100);
    assert_int_equal(take(4, ADVERTISEMENT, TOY_SERVICE, 110).family, TENDON_SEARCH_DEFINED + 1);
}

/* The scan is active for 3 s, or until the response; a minute later the device is asked again. */
static void who_is_asked(void **state) {
    (void)state;
    start(0);
    assert_int_equal(tendon_search_deadline(&search, 0), UINT64_MAX);
    ask(1, 100); /* not known */
    assert_false(tendon_search_is_active(&search, 100));
    (void)take(1, ADVERTISEMENT, "03030050", 1000);
    ask(1, 1000);
    ask(1, 1500);
    assert_true(tendon_search_is_active(&search, 3999));
    assert_int_equal(tendon_search_deadline(&search, 1500), 4000);
    assert_false(tendon_search_is_active(&search, 4000));
    ask(1, 60999);
    assert_false(tendon_search_is_active(&search, 60999));
    ask(1, 61000);
    assert_true(tendon_search_is_active(&search, 61000));
    (void)take(2, ADVERTISEMENT, "03030050", 62000);
    ask(2, 62000);
    assert_int_equal(tendon_search_deadline(&search, 62000), 65000);
    (void)take(2, RESPONSE, "", 62010);
    assert_int_equal(tendon_search_deadline(&search, 62010), 64000);
    (void)take(1, RESPONSE, NAME_TOY, 62020);
    assert_int_equal(tendon_search_deadline(&search, 62020), UINT64_MAX);
}

/* Strangers make room, those that were received longest ago first; then devices of families. */
static void a_full_table(void **state) {
    (void)state;
    start(0);
    (void)take(1, ADVERTISEMENT, "03030050", 10);
    (void)take(1, RESPONSE, NAME_TOY, 10);
    for (unsigned i = 0; i < 1000; i++) {
        (void)take((uint8_t)(2 + i % 200), ADVERTISEMENT, "03030f18", 20 + i);
    }
    assert_int_equal(take(1, ADVERTISEMENT, "03030050", 2000).name_length, 3);
    for (uint8_t i = 0; i < 20; i++) {
        (void)take((uint8_t)(100 + i), ADVERTISEMENT, "03030050", 3000 + i);
    }
    assert_int_equal(take(1, ADVERTISEMENT, "03030050", 4000).name_length, 0);
}

/* Any bytes, of any length: each alone and after each other. */
static void any_bytes(void **state) {
    (void)state;
    uint32_t number = 1;
    start(2);
    for (unsigned step = 0; step < 20000; step++) {
        uint8_t bytes[TENDON_AD_EXTENDED_MAX];
        number = number * 1664525u + 1013904223u;
        size_t length = (number >> 8) % ((number >> 28) == 0 ? sizeof bytes : 40);
        for (size_t i = 0; i < length; i++) {
            number = number * 1664525u + 1013904223u;
            bytes[i] = (uint8_t)((number >> 24) & ((number & 3) == 0 ? 0xFF : 0x0B));
        }
        block data = block_copy(bytes, length);
        tendon_ad_report report = {.address = {.bytes = {(uint8_t)(number >> 16)}},
                                   .properties = (uint16_t)((number >> 4) & 0x1F),
                                   .data = data.data,
                                   .length = data.length};
        tendon_search_found found = tendon_search_take(&search, &report, step);
        assert_true(found.family == TENDON_SEARCH_NO_FAMILY || found.family < TENDON_SEARCH_DEFINED + 2);
        assert_true(found.name_length <= TENDON_AD_LEGACY_MAX);
        tendon_search_ask(&search, &report.address, step);
        free(data.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_by_its_advertisement),
        cmocka_unit_test(names),
        cmocka_unit_test(device_files),
        cmocka_unit_test(who_is_asked),
        cmocka_unit_test(a_full_table),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
