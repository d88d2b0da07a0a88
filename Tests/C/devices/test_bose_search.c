/* SPDX-License-Identifier: MIT */
/* Wearables in range: which advertisers count, names, signal strength, and the end of one. */
#include "test_bytes.h"

#include "tendon/devices/bose_search.h"

enum { CAPACITY = 3 };

/* AD structures: 16-bit UUIDs FDD2; FEBE with the mark of old firmware behind company 009E; names. */
#define SENSORS "0303d2fd"
#define OLD "0303befe 05ff9e000109"
#define FRAMES "0709 4672616d6573"
#define SHORT_NAME "0308 4672"

static tendon_bose_found table[CAPACITY];
static tendon_bose_search search;
static const tendon_bose_found *device;

static int setup(void **state) {
    (void)state;
    memset(table, 0xA5, sizeof table);
    tendon_bose_search_init(&search, table, CAPACITY);
    return 0;
}

static tendon_bose_search_change receive(uint8_t who, int8_t rssi, const char *hex, uint64_t now) {
    block data = block_hex(hex);
    const tendon_ad_report report = {.address = {{0xC0, 0, 0, 0, 0, who}, TENDON_ADDRESS_TYPE_RANDOM},
                                     .rssi = rssi,
                                     .data = data.data,
                                     .length = data.length};
    device = NULL;
    tendon_bose_search_change change = tendon_bose_search_on_advertisement(&search, &report, now, &device);
    free(data.data);
    assert_true((change != TENDON_BOSE_SEARCH_NONE) == (device != NULL));
    return change;
}

static void a_wearable_is_found_once(void **state) {
    (void)state;
    assert_int_equal(receive(1, -50, "0201060303 0d18", 1), TENDON_BOSE_SEARCH_NONE); /* a heart rate monitor */
    assert_int_equal(receive(1, -50, FRAMES, 1), TENDON_BOSE_SEARCH_NONE);            /* a name alone */
    assert_int_equal(receive(1, -50, "0303 d2", 1), TENDON_BOSE_SEARCH_NONE);         /* truncated */
    assert_int_equal(receive(1, -50, "", 1), TENDON_BOSE_SEARCH_NONE);
    assert_int_equal(search.count, 0);
    assert_int_equal(receive(1, -50, SENSORS, 1), TENDON_BOSE_SEARCH_FOUND);
    assert_int_equal(device->address.bytes[5], 1);
    assert_int_equal(device->name_length, 0);
    assert_int_equal(device->rssi, -50);
    assert_false(device->old_firmware);
    assert_int_equal(receive(1, -60, SENSORS, 7), TENDON_BOSE_SEARCH_SEEN);
    assert_int_equal(device->rssi, -60);
    assert_int_equal(device->seen_ms, 7);
    assert_int_equal(search.count, 1);
    assert_int_equal(receive(2, -50, SENSORS, 8), TENDON_BOSE_SEARCH_FOUND);
    assert_int_equal(search.count, 2);
}

/* The same 48 bits as a public address are another device. */
static void the_address_type_counts(void **state) {
    (void)state;
    assert_int_equal(receive(1, -50, SENSORS, 1), TENDON_BOSE_SEARCH_FOUND);
    block data = block_hex(SENSORS);
    const tendon_ad_report report = {.address = {{0xC0, 0, 0, 0, 0, 1}, TENDON_ADDRESS_TYPE_PUBLIC},
                                     .rssi = -50,
                                     .data = data.data,
                                     .length = data.length};
    assert_int_equal(tendon_bose_search_on_advertisement(&search, &report, 1, &device), TENDON_BOSE_SEARCH_FOUND);
    free(data.data);
}

static void the_name_comes_with_the_scan_response(void **state) {
    (void)state;
    assert_int_equal(receive(1, -50, SENSORS, 1), TENDON_BOSE_SEARCH_FOUND);
    assert_int_equal(receive(1, -50, SHORT_NAME, 2), TENDON_BOSE_SEARCH_UPDATED);
    assert_int_equal(device->name_length, 2);
    assert_int_equal(receive(1, -50, FRAMES, 3), TENDON_BOSE_SEARCH_UPDATED);
    assert_int_equal(device->name_length, 6);
    assert_memory_equal(device->name, "Frames", 6);
    assert_int_equal(receive(1, -50, FRAMES, 4), TENDON_BOSE_SEARCH_SEEN);
    assert_int_equal(receive(1, -50, SHORT_NAME, 5), TENDON_BOSE_SEARCH_SEEN); /* the complete one stays */
    assert_memory_equal(device->name, "Frames", 6);
    assert_int_equal(receive(1, -50, "0709 4672616d6574", 6), TENDON_BOSE_SEARCH_UPDATED); /* another, as long */
    assert_memory_equal(device->name, "Framet", 6);
}

/* 65 bytes, the last character of two bytes across the limit: nothing of it is kept. */
static void a_long_name_is_truncated_between_characters(void **state) {
    (void)state;
    char hex[2 * 80];
    size_t at = (size_t)snprintf(hex, sizeof hex, "4209");
    for (int i = 0; i < 63; i++) {
        at += (size_t)snprintf(hex + at, sizeof hex - at, "61");
    }
    (void)snprintf(hex + at, sizeof hex - at, "c3a9");
    assert_int_equal(receive(1, -50, SENSORS, 1), TENDON_BOSE_SEARCH_FOUND);
    assert_int_equal(receive(1, -50, hex, 1), TENDON_BOSE_SEARCH_UPDATED);
    assert_int_equal(device->name_length, 63);
}

/* A name that just fits is kept whole, whatever follows it; one without the beginning of a character is none. */
static void a_name_that_just_fits_is_whole(void **state) {
    (void)state;
    uint8_t data[2 + TENDON_BOSE_NAME_SIZE + 2];
    assert_int_equal(receive(1, -50, SENSORS, 1), TENDON_BOSE_SEARCH_FOUND);
    memset(data, 'n', sizeof data);
    data[0] = TENDON_BOSE_NAME_SIZE + 1;
    data[1] = 0x09;
    data[2 + TENDON_BOSE_NAME_SIZE] = 0x80; /* looks like the rest of a character */
    tendon_ad_report report = {.address = {{0xC0, 0, 0, 0, 0, 1}, TENDON_ADDRESS_TYPE_RANDOM},
                               .rssi = -50,
                               .data = data,
                               .length = sizeof data - 1};
    assert_int_equal(tendon_bose_search_on_advertisement(&search, &report, 2, &device), TENDON_BOSE_SEARCH_UPDATED);
    assert_int_equal(device->name_length, TENDON_BOSE_NAME_SIZE);
    assert_int_equal(receive(2, -50, SENSORS, 1), TENDON_BOSE_SEARCH_FOUND);
    memset(data + 2, 0x80, sizeof data - 2);
    data[0] = TENDON_BOSE_NAME_SIZE + 3;
    report.address.bytes[5] = 2;
    report.length = sizeof data;
    (void)tendon_bose_search_on_advertisement(&search, &report, 2, &device);
    assert_int_equal(search.found[1].name_length, 0);
}

static void old_firmware_until_the_service_is_advertised(void **state) {
    (void)state;
    assert_int_equal(receive(1, -50, OLD, 1), TENDON_BOSE_SEARCH_FOUND);
    assert_true(device->old_firmware);
    assert_int_equal(receive(1, -50, FRAMES, 2),
                     TENDON_BOSE_SEARCH_UPDATED); /* a scan response changes nothing of it */
    assert_true(device->old_firmware);
    assert_int_equal(receive(1, -50, SENSORS, 3), TENDON_BOSE_SEARCH_UPDATED);
    assert_false(device->old_firmware);
    assert_int_equal(receive(1, -50, OLD, 4), TENDON_BOSE_SEARCH_SEEN);
    assert_false(device->old_firmware);
}

static void weaker_than_the_cutoff_is_ignored(void **state) {
    (void)state;
    search.rssi_cutoff = -70;
    assert_int_equal(receive(1, -71, SENSORS, 1), TENDON_BOSE_SEARCH_NONE);
    assert_int_equal(receive(1, -70, SENSORS, 1), TENDON_BOSE_SEARCH_FOUND);
    assert_int_equal(receive(1, -71, SENSORS, 9), TENDON_BOSE_SEARCH_NONE);
    assert_int_equal(search.found[0].seen_ms, 1);
    assert_int_equal(receive(2, TENDON_RSSI_UNKNOWN, SENSORS, 1), TENDON_BOSE_SEARCH_FOUND);
    assert_int_equal(receive(1, TENDON_RSSI_UNKNOWN, SENSORS, 2), TENDON_BOSE_SEARCH_SEEN);
    assert_int_equal(device->rssi, -70); /* the last known one stays */
}

static void the_longest_unseen_is_lost_first(void **state) {
    (void)state;
    tendon_bose_found lost;
    receive(1, -50, SENSORS, 100);
    receive(2, -50, SENSORS, 200);
    assert_true(tendon_bose_search_deadline(&search) == UINT64_MAX); /* no limit set */
    assert_false(tendon_bose_search_take_lost(&search, UINT64_MAX - 1, &lost));
    search.lost_after_ms = 1000;
    receive(1, -50, FRAMES, 300); /* a scan response counts */
    assert_int_equal(tendon_bose_search_deadline(&search), 1200);
    assert_false(tendon_bose_search_take_lost(&search, 1199, &lost));
    assert_true(tendon_bose_search_take_lost(&search, 1200, &lost));
    assert_int_equal(lost.address.bytes[5], 2);
    assert_false(tendon_bose_search_take_lost(&search, 1200, &lost));
    assert_int_equal(search.count, 1);
    assert_int_equal(search.found[0].address.bytes[5], 1);
    assert_true(tendon_bose_search_take_lost(&search, 5000, &lost));
    assert_int_equal(lost.address.bytes[5], 1);
    assert_true(tendon_bose_search_deadline(&search) == UINT64_MAX);
    assert_int_equal(receive(1, -50, SENSORS, 6000), TENDON_BOSE_SEARCH_FOUND); /* found again */
    search.lost_after_ms = UINT64_MAX;
    assert_true(tendon_bose_search_deadline(&search) == UINT64_MAX);
}

/* Any number of advertisers: the table keeps those that were seen last, and each new one is reported. */
static void a_full_table_keeps_the_last_seen(void **state) {
    (void)state;
    tendon_bose_found lost;
    for (uint8_t who = 1; who <= CAPACITY; who++) {
        assert_int_equal(receive(who, -50, SENSORS, who), TENDON_BOSE_SEARCH_FOUND);
    }
    receive(1, -50, SENSORS, 10);
    assert_int_equal(receive(9, -50, SENSORS, 11), TENDON_BOSE_SEARCH_FOUND);
    assert_int_equal(search.count, CAPACITY);
    assert_int_equal(search.replaced_count, 1);
    assert_int_equal(tendon_bose_search_deadline(&search), 0);
    assert_true(tendon_bose_search_take_lost(&search, 11, &lost));
    assert_int_equal(lost.address.bytes[5], 2);
    assert_false(tendon_bose_search_take_lost(&search, 11, &lost));
    static const uint8_t rest[CAPACITY] = {1, 3, 9};
    for (size_t i = 0; i < CAPACITY; i++) {
        assert_int_equal(search.found[i].address.bytes[5], rest[i]);
    }
    assert_int_equal(device->address.bytes[5], 9);
}

/* One of 400 devices, each with a new resolvable private address every second. */
static tendon_bose_search_change rotating(unsigned who, unsigned second, const char *hex) {
    block data = block_hex(hex);
    uint32_t number = second * 400 + who;
    const tendon_ad_report report = {
        .address = {{0x40, 0, 0, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number},
                    TENDON_ADDRESS_TYPE_RANDOM},
        .rssi = -40,
        .data = data.data,
        .length = data.length};
    device = NULL;
    tendon_bose_search_change change =
        tendon_bose_search_on_advertisement(&search, &report, second * 1000 + who * 2, &device);
    free(data.data);
    return change;
}

/* Strangers take no place; wearables take those that there are, each loss is reported, and what it costs is counted. */
static void mal_G10_addresses_that_change_every_second(void **state) {
    (void)state;
    tendon_bose_found lost;
    assert_int_equal(receive(1, -70, SENSORS, 0), TENDON_BOSE_SEARCH_FOUND);
    for (unsigned second = 0; second < 60; second++) {
        for (unsigned who = 0; who < 400; who++) {
            assert_int_equal(rotating(who, second, FRAMES), TENDON_BOSE_SEARCH_NONE);
        }
        assert_int_equal(receive(1, -70, SENSORS, second * 1000 + 999), TENDON_BOSE_SEARCH_SEEN);
    }
    assert_int_equal(search.count, 1);
    unsigned losses = 0;
    for (unsigned second = 60; second < 70; second++) {
        for (unsigned who = 0; who < 400; who++) {
            assert_int_equal(rotating(who, second, SENSORS), TENDON_BOSE_SEARCH_FOUND);
            assert_true(search.count <= CAPACITY);
            while (tendon_bose_search_take_lost(&search, second * 1000 + who * 2, &lost)) {
                losses++;
            }
        }
    }
    assert_int_equal(search.count, CAPACITY);
    assert_int_equal(losses, 1 + 4000 - CAPACITY);
    assert_int_equal(search.replaced_count, 1 + 4000 - CAPACITY);
}

static void the_strongest(void **state) {
    (void)state;
    assert_null(tendon_bose_search_strongest(&search));
    receive(1, -20, OLD, 1);
    assert_int_equal(tendon_bose_search_strongest(&search)->address.bytes[5], 1);
    receive(2, TENDON_RSSI_UNKNOWN, SENSORS, 1); /* weaker than anything known, but with the service */
    assert_int_equal(tendon_bose_search_strongest(&search)->address.bytes[5], 2);
    receive(3, -128 + 1, SENSORS, 1);
    assert_int_equal(tendon_bose_search_strongest(&search)->address.bytes[5], 3);
}

#define T(name) cmocka_unit_test_setup(name, setup)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_wearable_is_found_once),
        T(the_address_type_counts),
        T(the_name_comes_with_the_scan_response),
        T(a_name_that_just_fits_is_whole),
        T(a_long_name_is_truncated_between_characters),
        T(old_firmware_until_the_service_is_advertised),
        T(weaker_than_the_cutoff_is_ignored),
        T(the_longest_unseen_is_lost_first),
        T(a_full_table_keeps_the_last_seen),
        T(mal_G10_addresses_that_change_every_second),
        T(the_strongest),
    };
    return cmocka_run_group_tests_name("bose_search", tests, NULL, NULL);
}
