/* SPDX-License-Identifier: MIT */
/* What advertisements and scan responses say together. Times are milliseconds of a simulated clock. */
#include "test_bytes.h"

#include "tendon/gateway/search.h"

static tendon_search_advertiser advertisers[8];
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
static tendon_search search;
static tendon_definition named, unnamed, belt_like;
static const tendon_definition *definitions[] = {&unnamed, &named};

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

static uint32_t served; /* a bit for each family */

static bool serves(void *context, const tendon_address *address, uint8_t family) {
    assert_ptr_equal(context, &served);
    assert_non_null(address);
    return (served >> family & 1u) != 0;
}

static void start(size_t definition_count) {
    served = UINT32_MAX;
    tendon_search_init(
        &search, advertisers, COUNT(advertisers),
        &(tendon_search_scope){
            .definitions = definitions, .definition_count = definition_count, .context = &served, .serves = serves});
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

/* Core Specification Supplement, Part A: 03 of 16-bit UUIDs, 09 complete name, 08 shortened name. */
#define TOY_SERVICE "0303f0ff"
#define ACTIV5_SERVICE "03030050"
#define BELT_SERVICE "030351fe"
#define BELT_NAME                                                                                                      \
    "0f096e617669477565727465"                                                                                         \
    "6c203132"
#define NAME_TOY "0409546f79"
#define NAME_OTHER "03096162"
#define NAME_SHORT                                                                                                     \
    "0208"                                                                                                             \
    "54"

static void a_family_by_its_advertisement(void **state) {
    (void)state;
    start(0);
    /* An Activ5 trainer: service 5000. */
    tendon_search_found found = take(1, ADVERTISEMENT, ACTIV5_SERVICE, 100);
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
    found = take(1, ADVERTISEMENT, ACTIV5_SERVICE, 200);
    assert_int_equal(found.name_length, 9);
    assert_false(found.awaits_response);
    found = take(2, NOT_SCANNABLE, ACTIV5_SERVICE, 200);
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
    (void)take(1, RESPONSE, "", 100);
    assert_int_equal(take(1, ADVERTISEMENT, NAME_SHORT, 100).name_length, 2);
}

static void a_name_is_found_by_its_address(void **state) {
    (void)state;
    const tendon_address one = {.bytes = {0xC0, 0, 0, 0, 0, 1}, .type = TENDON_ADDRESS_TYPE_RANDOM};
    size_t length = 1;
    start(0);
    assert_null(tendon_search_name(&search, &one, &length));
    assert_int_equal(length, 0);
    (void)take(1, ADVERTISEMENT, ACTIV5_SERVICE, 100);
    assert_null(tendon_search_name(&search, &one, &length));
    (void)take(1, RESPONSE, NAME_TOY, 100);
    assert_memory_equal(tendon_search_name(&search, &one, &length), "Toy", 3);
    assert_int_equal(length, 3);
}

/* Of an extended advertisement: what fits, and no half character. */
static void a_long_name(void **state) {
    (void)state;
    start(0);
    /* 30 times "a", then U+00E9, then 10 times "b" */
    tendon_search_found found = take(1, 0,
                                     "2b09"
                                     "616161616161616161616161616161616161616161616161616161616161"
                                     "c3a9"
                                     "62626262626262626262",
                                     100);
    assert_int_equal(found.name_length, 30);
    assert_int_equal(found.name[29], 'a');
    /* 31 times "a", then "b" */
    found = take(1, 0, "2109616161616161616161616161616161616161616161616161616161616161616262", 100);
    assert_int_equal(found.name_length, 31);
}

/* The service is in one packet and the name in another one, neither of which is a scan response. */
static void a_name_of_an_earlier_advertisement(void **state) {
    (void)state;
    start(0);
    assert_int_equal(take(1, NOT_SCANNABLE, BELT_NAME, 100).family, TENDON_SEARCH_NO_FAMILY);
    assert_int_equal(take(1, NOT_SCANNABLE, BELT_SERVICE, 110).family, 1);
    assert_int_equal(take(1, ADVERTISEMENT, BELT_SERVICE, 110).family, 1);
    /* A shortened one hides no complete one. */
    (void)take(2, RESPONSE, BELT_NAME, 100);
    (void)take(2, RESPONSE, NAME_SHORT, 100);
    assert_int_equal(take(2, ADVERTISEMENT, BELT_SERVICE, 110).family, 1);
}

/* Padding, or a truncated structure, ends the packet, not what is known of the device. */
static void a_packet_with_padding(void **state) {
    (void)state;
    static const char *const endings[] = {"0000000000", "09ff01", "1f"};
    for (size_t i = 0; i < COUNT(endings); i++) {
        char advertisement[64];
        (void)snprintf(advertisement, sizeof advertisement, "%s%s", BELT_SERVICE, endings[i]);
        start(0);
        (void)take(1, ADVERTISEMENT, advertisement, 100);
        tendon_search_found found = take(1, RESPONSE, BELT_NAME, 110);
        assert_int_equal(found.family, 1);
        assert_int_equal(found.name_length, 14);
    }
}

/* The name decides, if it can come. */
static void device_files(void **state) {
    (void)state;
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

/* A response without a name: the device does not come and go with each of its packets. It may be asked again. */
static void a_device_without_a_name(void **state) {
    (void)state;
    start(2);
    (void)take(1, ADVERTISEMENT, TOY_SERVICE, 100);
    assert_int_equal(take(1, RESPONSE, "020a00", 110).family, TENDON_SEARCH_DEFINED);
    for (uint64_t now = 200; now < 120000; now += 1000) {
        tendon_search_found found = take(1, ADVERTISEMENT, TOY_SERVICE, now);
        assert_int_equal(found.family, TENDON_SEARCH_DEFINED);
        assert_true(found.awaits_response);
    }
}

/* A definition without a name has the service of belts. */
static void a_belt_or_a_defined_device(void **state) {
    (void)state;
    const tendon_definition *saved = definitions[0];
    definitions[0] = &belt_like;
    start(1);
    tendon_search_found found = take(1, ADVERTISEMENT, BELT_SERVICE, 100);
    assert_int_equal(found.family, TENDON_SEARCH_NO_FAMILY);
    assert_true(found.awaits_response);
    assert_int_equal(take(1, RESPONSE, BELT_NAME, 110).family, 1);
    (void)take(2, ADVERTISEMENT, BELT_SERVICE, 100);
    assert_int_equal(take(2, RESPONSE, NAME_TOY, 110).family, TENDON_SEARCH_DEFINED);
    assert_int_equal(take(2, ADVERTISEMENT, BELT_SERVICE, 120).family, TENDON_SEARCH_DEFINED);
    definitions[0] = saved;
}

/* The scan is active for 3 s, or until the response; a minute later the device is asked again. */
static void who_is_asked(void **state) {
    (void)state;
    start(0);
    assert_int_equal(tendon_search_deadline(&search, 0), UINT64_MAX);
    (void)take(3, ADVERTISEMENT, "03030f18", 1000); /* other people's device */
    assert_false(tendon_search_is_active(&search, 1000));
    (void)take(1, ADVERTISEMENT, ACTIV5_SERVICE, 1000);
    (void)take(1, ADVERTISEMENT, ACTIV5_SERVICE, 1500);
    assert_true(tendon_search_is_active(&search, 3999));
    assert_int_equal(tendon_search_deadline(&search, 1500), 4000);
    assert_false(tendon_search_is_active(&search, 4000));
    (void)take(1, ADVERTISEMENT, ACTIV5_SERVICE, 60999);
    assert_false(tendon_search_is_active(&search, 60999));
    (void)take(1, ADVERTISEMENT, ACTIV5_SERVICE, 61000);
    assert_true(tendon_search_is_active(&search, 61000));
    (void)take(2, ADVERTISEMENT, ACTIV5_SERVICE, 62000);
    assert_int_equal(tendon_search_deadline(&search, 62000), 65000);
    (void)take(2, RESPONSE, "", 62010);
    assert_int_equal(tendon_search_deadline(&search, 62010), 64000);
    (void)take(4, RESPONSE, "", 62010); /* one that was not asked */
    assert_int_equal(tendon_search_deadline(&search, 62010), 64000);
    (void)take(1, RESPONSE, NAME_TOY, 62020);
    assert_int_equal(tendon_search_deadline(&search, 62020), UINT64_MAX);
    /* It has no name: it is asked again, although it has responded. */
    (void)take(2, ADVERTISEMENT, ACTIV5_SERVICE, 121999);
    assert_false(tendon_search_is_active(&search, 121999));
    (void)take(2, ADVERTISEMENT, ACTIV5_SERVICE, 122000);
    assert_true(tendon_search_is_active(&search, 122000));
}

/* Only devices that are served, or may be. */
static void what_is_not_served_is_not_asked(void **state) {
    (void)state;
    start(2);
    served = 1u << 2;
    tendon_search_found found = take(1, ADVERTISEMENT, BELT_SERVICE, 100);
    assert_false(found.awaits_response);
    assert_int_equal(take(1, RESPONSE, BELT_NAME, 110).family, 1);
    assert_false(take(1, ADVERTISEMENT, BELT_SERVICE, 120).is_served);
    found = take(2, ADVERTISEMENT, TOY_SERVICE, 100);
    assert_int_equal(found.family, TENDON_SEARCH_NO_FAMILY);
    assert_false(found.awaits_response || tendon_search_is_active(&search, 100));
    /* Without a name it is of the family that is served. */
    served = 1u << TENDON_SEARCH_DEFINED;
    assert_true(take(2, ADVERTISEMENT, TOY_SERVICE, 200).awaits_response);
    served = 1u << (TENDON_SEARCH_DEFINED + 1);
    assert_true(take(3, ADVERTISEMENT, TOY_SERVICE, 200).awaits_response);
    found = take(3, RESPONSE, NAME_OTHER, 200);
    assert_int_equal(found.family, TENDON_SEARCH_DEFINED);
    assert_false(found.is_served);
    assert_true(tendon_search_is_active(&search, 200)); /* for the former */
    served = 1u << 2;
    found = take(4, ADVERTISEMENT, ACTIV5_SERVICE, 200);
    assert_true(found.is_served && found.awaits_response);
}

/* A service that only the scan response has, and a name whose end it has. */
static void what_a_response_adds(void **state) {
    (void)state;
    start(2);
    tendon_search_found found = take(1, ADVERTISEMENT, NAME_TOY, 100);
    assert_int_equal(found.family, TENDON_SEARCH_NO_FAMILY);
    assert_true(found.awaits_response && tendon_search_is_active(&search, 100));
    assert_int_equal(take(1, RESPONSE, TOY_SERVICE, 110).family, TENDON_SEARCH_DEFINED + 1);
    assert_false(tendon_search_is_active(&search, 110));
    found = take(1, ADVERTISEMENT, NAME_TOY, 120);
    assert_int_equal(found.family, TENDON_SEARCH_DEFINED + 1);
    assert_false(found.awaits_response);
    found = take(2, ADVERTISEMENT, TOY_SERVICE NAME_SHORT, 200);
    assert_true(found.family == TENDON_SEARCH_NO_FAMILY && found.awaits_response);
    assert_int_equal(take(2, RESPONSE, NAME_TOY, 210).family, TENDON_SEARCH_DEFINED + 1);
    /* One that has the name of another device is asked until it has responded. */
    assert_true(take(3, ADVERTISEMENT, NAME_TOY, 300).awaits_response);
    (void)take(3, RESPONSE, ACTIV5_SERVICE, 310);
    (void)take(4, ADVERTISEMENT, NAME_TOY, 320);
    (void)take(4, RESPONSE, "03030f18", 330);
    assert_false(take(4, ADVERTISEMENT, NAME_TOY, 340).awaits_response);
    assert_false(take(5, NOT_SCANNABLE, NAME_TOY, 400).awaits_response);
}

/* Of two files with one service, that without a name has the device if its name does not come in time. */
static void a_response_that_does_not_come(void **state) {
    (void)state;
    start(2);
    assert_int_equal(take(1, ADVERTISEMENT, TOY_SERVICE, 1000).family, TENDON_SEARCH_NO_FAMILY);
    assert_int_equal(take(1, ADVERTISEMENT, TOY_SERVICE, 1000 + TENDON_SEARCH_ASK_MS - 1).family,
                     TENDON_SEARCH_NO_FAMILY);
    assert_int_equal(take(1, ADVERTISEMENT, TOY_SERVICE, 1000 + TENDON_SEARCH_ASK_MS).family, TENDON_SEARCH_DEFINED);
    /* And keeps it when it is asked again. */
    assert_int_equal(take(1, ADVERTISEMENT, TOY_SERVICE, 1000 + TENDON_SEARCH_PAUSE_MS).family, TENDON_SEARCH_DEFINED);
    assert_true(tendon_search_is_active(&search, 1000 + TENDON_SEARCH_PAUSE_MS));
    assert_int_equal(take(1, ADVERTISEMENT, TOY_SERVICE, 1001 + TENDON_SEARCH_PAUSE_MS).family, TENDON_SEARCH_DEFINED);
    assert_int_equal(take(1, RESPONSE, NAME_TOY, 70000).family, TENDON_SEARCH_DEFINED + 1);
    /* One that cannot have it is not waited for. */
    assert_int_equal(take(2, NOT_SCANNABLE, TOY_SERVICE, 1000).family, TENDON_SEARCH_DEFINED);
}

/* What meets all that its file demands, its name too, does not wait for what another file demands. */
static void a_file_with_a_name_decides(void **state) {
    (void)state;
    static const tendon_definition *const both[] = {&belt_like, &named};
    parse("\"services\":[\"fff7\"],\"name\":\"T*\"", &belt_like);
    start(2);
    search.scope.definitions = both;
    tendon_search_found found = take(1, ADVERTISEMENT, TOY_SERVICE NAME_TOY, 100);
    assert_int_equal(found.family, TENDON_SEARCH_DEFINED + 1);
    assert_false(found.awaits_response || tendon_search_is_active(&search, 100));
}

/* Strangers make room, those that were received longest ago first; then devices that are served. */
static void a_full_table(void **state) {
    (void)state;
    start(0);
    (void)take(1, ADVERTISEMENT, ACTIV5_SERVICE, 10);
    (void)take(1, RESPONSE, NAME_TOY, 10);
    for (unsigned i = 0; i < 1000; i++) {
        (void)take((uint8_t)(2 + i % 200), ADVERTISEMENT, "03030f18", 20 + i);
    }
    assert_int_equal(take(1, ADVERTISEMENT, ACTIV5_SERVICE, 2000).name_length, 3);
    for (uint8_t i = 0; i < 20; i++) {
        (void)take((uint8_t)(100 + i), ADVERTISEMENT, ACTIV5_SERVICE, 3000 + i);
    }
    assert_int_equal(take(1, ADVERTISEMENT, ACTIV5_SERVICE, 4000).name_length, 0);
}

/* In a crowd it is remembered who was asked: a device without a name does not keep the scan active. */
static void a_crowd(void **state) {
    (void)state;
    uint64_t active = 0;
    start(0);
    served = 1u << 1;
    for (uint64_t now = 0; now < 60000; now += 100) {
        (void)take(1, ADVERTISEMENT, BELT_SERVICE, now);
        for (unsigned i = 0; i < 20; i++) {
            (void)take((uint8_t)(2 + (now / 100 + i) % 200), ADVERTISEMENT, ACTIV5_SERVICE, now);
        }
        active += tendon_search_is_active(&search, now) ? 100 : 0;
    }
    assert_int_equal(active, TENDON_SEARCH_ASK_MS);
}

/* A large table: a device can be in a few slots, and those that are served keep theirs. */
static void a_large_table(void **state) {
    (void)state;
    static tendon_search_advertiser many[256];
    tendon_search large;
    tendon_search_init(&large, many, COUNT(many), NULL);
    const uint8_t trainer[] = {3, 3, 0x00, 0x50, 4, 9, 'T', 'o', 'y'};
    const uint8_t other[] = {3, 3, 0x0F, 0x18};
    size_t length;
    for (unsigned i = 0; i < 20000; i++) {
        bool is_trainer = i < 100;
        tendon_ad_report report = {.address = {.bytes = {(uint8_t)i, (uint8_t)(i >> 8)}},
                                   .properties = NOT_SCANNABLE,
                                   .data = is_trainer ? trainer : other,
                                   .length = is_trainer ? sizeof trainer : sizeof other};
        (void)tendon_search_take(&large, &report, i);
    }
    for (unsigned i = 0; i < 100; i++) {
        const tendon_address address = {.bytes = {(uint8_t)i}};
        assert_non_null(tendon_search_name(&large, &address, &length));
    }
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
        free(data.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_by_its_advertisement),
        cmocka_unit_test(names),
        cmocka_unit_test(a_name_is_found_by_its_address),
        cmocka_unit_test(a_long_name),
        cmocka_unit_test(a_name_of_an_earlier_advertisement),
        cmocka_unit_test(a_packet_with_padding),
        cmocka_unit_test(device_files),
        cmocka_unit_test(a_device_without_a_name),
        cmocka_unit_test(a_belt_or_a_defined_device),
        cmocka_unit_test(who_is_asked),
        cmocka_unit_test(what_is_not_served_is_not_asked),
        cmocka_unit_test(what_a_response_adds),
        cmocka_unit_test(a_response_that_does_not_come),
        cmocka_unit_test(a_file_with_a_name_decides),
        cmocka_unit_test(a_full_table),
        cmocka_unit_test(a_crowd),
        cmocka_unit_test(a_large_table),
        cmocka_unit_test(any_bytes),
    };
    parse("\"services\":[\"fff0\"]", &unnamed);
    parse("\"services\":[\"fff0\"],\"name\":\"Toy\"", &named);
    parse("\"services\":[\"fe51\"]", &belt_like);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
