/* SPDX-License-Identifier: MIT */
/* The discovery that all sessions share: PDUs on the page, a scripted peer. */
#include "../host/gatt_client_peer.h"
#include "tendon/devices/profile.h"

enum { NOTIFIED = 0, WRITTEN = 1, OPTIONAL = 2, ROWS = 3 };

static uint8_t rows(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    static const struct {
        uint16_t service, characteristic;
        uint8_t flags;
    } table[ROWS] = {
        {0x5000, 0x5A01, TENDON_PROFILE_REQUIRED | TENDON_PROFILE_CCCD},
        {0x5000, 0x5A02, TENDON_PROFILE_REQUIRED},
        {0x180F, 0x2A19, TENDON_PROFILE_CCCD},
    };
    assert_non_null(context);
    assert_true(row < ROWS);
    *service = tendon_uuid_from_u16(table[row].service);
    *characteristic = tendon_uuid_from_u16(table[row].characteristic);
    return table[row].flags;
}

static uint8_t anywhere(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    (void)context;
    (void)service;
    assert_int_equal(row, 0);
    *characteristic = tendon_uuid_from_u16(0xF0FE);
    return TENDON_PROFILE_ANYWHERE | TENDON_PROFILE_REQUIRED;
}

typedef struct run {
    tendon_profile profile;
    tendon_profile_found found[ROWS];
    unsigned calls;
    tendon_status status;
    size_t row;
    uint64_t now;
    bool kept; /* else the profile's memory has another use once it is done */
} run;

static void on_done(void *context, tendon_status status, size_t row, uint64_t now) {
    run *r = context;
    r->calls++;
    r->status = status;
    r->row = row;
    r->now = now;
    if (!r->kept) {
        memset(&r->profile, 0xA5, sizeof r->profile);
    }
}

static void begin(run *r, peer *p, tendon_profile_row table, size_t count) {
    *r = (run){0};
    assert_int_equal(tendon_profile_start(&r->profile, &p->client, table, r->found, count, on_done, r, p->now),
                     TENDON_OK);
    assert_int_equal(r->calls, 0);
}

static void ended(const run *r, const peer *p, tendon_status status, size_t row) {
    assert_int_equal(r->calls, 1);
    assert_int_equal(r->status, status);
    assert_int_equal(r->row, row);
    assert_int_equal(r->now, p->now);
}

static void found(const run *r, size_t row, uint16_t value, uint16_t cccd, uint8_t properties) {
    assert_int_equal(r->found[row].value, value);
    assert_int_equal(r->found[row].cccd, cccd);
    assert_int_equal(r->found[row].properties, properties);
}

/* 1800 at 1 to 5, 5000 at 0B to 14 in its 128-bit form, nothing beyond. */
static void services(peer *p) {
    peer_expect(p, "10 0100 FFFF 0028");
    peer_send(p, "11 06 0100 0500 0018");
    peer_expect(p, "10 0600 FFFF 0028");
    peer_send(p, "11 14 0B00 1400 FB349B5F80000080 00100000 00500000");
    peer_expect(p, "10 1500 FFFF 0028");
    peer_send(p, "01 10 1500 0A");
}

static void characteristics(peer *p) {
    peer_expect(p, "08 0B00 1400 0328");
    peer_send(p, "09 07 0C00 10 0D00 015A 1000 08 1100 025A");
    peer_expect(p, "08 1100 1400 0328");
    peer_send(p, "01 08 1100 0A");
}

static void test_finds_a_service_in_its_128_bit_form_and_the_cccd(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, rows, ROWS);
    services(p);
    characteristics(p);
    peer_expect(p, "04 0E00 0F00");
    p->now += 7;
    peer_send(p, "05 01 0E00 0129 0F00 0229");
    ended(&r, p, TENDON_OK, ROWS);
    found(&r, NOTIFIED, 0x0D, 0x0F, TENDON_GATT_NOTIFY);
    found(&r, WRITTEN, 0x11, 0, TENDON_GATT_WRITE);
    found(&r, OPTIONAL, 0, 0, 0);
    assert_int_equal(r.found[NOTIFIED].service, 0x0B);
    assert_int_equal(r.found[OPTIONAL].service, 0);
    assert_int_equal(tendon_profile_row_of(r.found, ROWS, 0x11), WRITTEN);
    assert_int_equal(tendon_profile_row_of(r.found, ROWS, 0x12), ROWS);
    assert_int_equal(tendon_profile_row_of(r.found, ROWS, 0), ROWS);
    peer_close(p);
}

/* Of two services with one UUID the first counts, with its own characteristics. */
static void test_the_first_of_two_services_counts(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, rows, ROWS);
    peer_expect(p, "10 0100 FFFF 0028");
    peer_send(p, "11 06 0B00 1400 0050 1500 2000 0050");
    peer_expect(p, "10 2100 FFFF 0028");
    peer_send(p, "01 10 2100 0A");
    characteristics(p);
    peer_expect(p, "04 0E00 0F00");
    peer_send(p, "05 01 0E00 0129 0F00 0229");
    ended(&r, p, TENDON_OK, ROWS);
    assert_int_equal(r.found[NOTIFIED].service, 0x0B);
    assert_int_equal(r.found[NOTIFIED].service_end, 0x14);
    assert_int_equal(tendon_profile_row_of(r.found, ROWS, 0x0D), NOTIFIED);
    peer_close(p);
}

static void test_a_required_service_that_is_missing(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, rows, ROWS);
    peer_expect(p, "10 0100 FFFF 0028");
    peer_send(p, "01 10 0100 0A");
    ended(&r, p, TENDON_ERROR_NOT_FOUND, NOTIFIED);
    assert_int_equal(r.found[NOTIFIED].service, 0);
    peer_close(p);
}

static void test_a_required_characteristic_that_is_missing(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, rows, ROWS);
    services(p);
    peer_expect(p, "08 0B00 1400 0328");
    peer_send(p, "09 07 0C00 10 0D00 015A");
    peer_expect(p, "08 0D00 1400 0328");
    peer_send(p, "01 08 0D00 0A");
    peer_expect(p, "04 0E00 1400");
    peer_send(p, "05 01 0E00 0229");
    peer_expect(p, "04 0F00 1400");
    peer_send(p, "01 04 0F00 0A");
    ended(&r, p, TENDON_ERROR_NOT_FOUND, WRITTEN);
    assert_int_equal(r.found[WRITTEN].service, 0x0B);
    peer_close(p);
}

static void test_a_required_cccd_that_is_missing(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, rows, ROWS);
    services(p);
    characteristics(p);
    peer_expect(p, "04 0E00 0F00");
    peer_send(p, "05 01 0E00 0129 0F00 0429");
    ended(&r, p, TENDON_ERROR_NOT_FOUND, NOTIFIED);
    found(&r, NOTIFIED, 0x0D, 0, TENDON_GATT_NOTIFY);
    peer_close(p);
}

/* No handle is left for a CCCD: nothing is asked. */
static void test_a_characteristic_without_room_for_a_cccd(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, rows, ROWS);
    services(p);
    peer_expect(p, "08 0B00 1400 0328");
    peer_send(p, "09 07 0C00 08 0D00 025A 1300 10 1400 015A");
    ended(&r, p, TENDON_ERROR_NOT_FOUND, NOTIFIED);
    peer_quiet(p);
    peer_close(p);
}

/* No handle is left behind the value, so there is no CCCD: in a row that may lack it, this is no error. */
static void test_a_value_at_the_last_handle_has_no_cccd(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, rows, ROWS);
    peer_expect(p, "10 0100 FFFF 0028");
    peer_send(p, "11 06 0B00 1400 0050 FDFF FFFF 0F18");
    characteristics(p);
    peer_expect(p, "08 FDFF FFFF 0328");
    peer_send(p, "09 07 FEFF 12 FFFF 192A");
    peer_expect(p, "04 0E00 0F00");
    peer_send(p, "05 01 0E00 0129 0F00 0229");
    ended(&r, p, TENDON_OK, ROWS);
    found(&r, NOTIFIED, 0x0D, 0x0F, TENDON_GATT_NOTIFY);
    found(&r, OPTIONAL, 0xFFFF, 0, TENDON_GATT_NOTIFY | TENDON_GATT_READ);
    peer_quiet(p);
    peer_close(p);
}

/* More services and characteristics than a page holds; the last of a full page is asked for again. */
static void test_tables_of_several_pages(void **state) {
    (void)state;
    peer *p = peer_open_mtu(65);
    run r;
    begin(&r, p, rows, ROWS);
    peer_expect(p, "10 0100 FFFF 0028");
    peer_send(p, "11 06 0100 0200 0118 0300 0400 0218 0500 0600 0318 0700 0800 0418 0900 1F00 0050");
    peer_expect(p, "10 0900 FFFF 0028");
    peer_send(p, "11 06 0900 1F00 0050 2000 FFFF 0F18");
    peer_expect(p, "08 0900 1F00 0328");
    peer_send(p, "09 07 0A00 02 0B00 005A 0C00 02 0D00 055A 0E00 02 0F00 065A 1000 08 1100 025A 1200 10 1300 015A");
    peer_expect(p, "08 1000 1F00 0328");
    peer_send(p, "09 07 1000 08 1100 025A 1200 10 1300 015A 1D00 10 1E00 015A");
    peer_expect(p, "08 1E00 1F00 0328");
    peer_send(p, "01 08 1E00 0A");
    peer_expect(p, "08 2000 FFFF 0328");
    peer_send(p, "09 07 2100 12 2200 192A");
    peer_expect(p, "08 2200 FFFF 0328");
    peer_send(p, "01 08 2200 0A");
    peer_expect(p, "04 1400 1C00");
    peer_send(p, "05 01 1400 0129 1500 0429 1600 0529 1700 0629 1800 0229");
    peer_expect(p, "04 1800 1C00");
    peer_send(p, "05 01 1800 0229");
    peer_expect(p, "04 1900 1C00");
    peer_send(p, "01 04 1900 0A");
    peer_expect(p, "04 2300 FFFF");
    peer_send(p, "01 04 2300 0A");
    ended(&r, p, TENDON_OK, ROWS);
    found(&r, NOTIFIED, 0x13, 0x18, TENDON_GATT_NOTIFY); /* the first of two wins */
    found(&r, WRITTEN, 0x11, 0, TENDON_GATT_WRITE);
    found(&r, OPTIONAL, 0x22, 0, TENDON_GATT_READ | TENDON_GATT_NOTIFY);
    peer_close(p);
}

static void test_a_characteristic_in_any_service(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, anywhere, 1);
    peer_expect(p, "10 0100 FFFF 0028");
    peer_send(p, "11 06 0100 FFFF 0A18");
    peer_expect(p, "08 0100 FFFF 0328");
    peer_send(p, "09 07 0200 10 0300 FEF0");
    peer_expect(p, "08 0300 FFFF 0328");
    peer_send(p, "01 08 0300 0A");
    ended(&r, p, TENDON_OK, 1);
    found(&r, 0, 3, 0, TENDON_GATT_NOTIFY);
    peer_close(p);
}

static void test_an_error_of_the_peer_ends_it(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, rows, ROWS);
    peer_expect(p, "10 0100 FFFF 0028");
    peer_send(p, "01 10 0100 0E");
    ended(&r, p, TENDON_ATT_ERROR(TENDON_ATT_UNLIKELY_ERROR), 0);
    peer_close(p);
}

static void test_the_end_of_the_link_ends_it_once(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, rows, ROWS);
    r.kept = true;
    peer_expect(p, "10 0100 FFFF 0028");
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, p->now);
    ended(&r, p, TENDON_ERROR_DISCONNECTED, 0);
    tendon_profile_cancel(&r.profile, p->now);
    assert_int_equal(r.calls, 1);
    assert_int_equal(tendon_profile_start(&r.profile, &p->client, rows, r.found, ROWS, on_done, &r, p->now),
                     TENDON_ERROR_DISCONNECTED);
    assert_int_equal(r.calls, 1);
    peer_close(p);
}

static void test_each_request_has_its_limit(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, rows, ROWS);
    tendon_profile_limit(&r.profile, 1000, p->now);
    uint64_t start = p->now;
    p->now += 999;
    services(p);
    tendon_att_bearer_tick(&p->bearer, start + 1998);
    assert_int_equal(r.calls, 0);
    peer_expect(p, "08 0B00 1400 0328");
    p->now = start + 1999;
    tendon_att_bearer_tick(&p->bearer, p->now);
    ended(&r, p, TENDON_ERROR_TIMEOUT, 0);
    peer_send(p, "01 08 0B00 0A");
    assert_int_equal(r.calls, 1);
    peer_close(p);
}

static void test_cancelled_it_says_nothing_and_can_start_again(void **state) {
    (void)state;
    peer *p = peer_open();
    run r;
    begin(&r, p, anywhere, 1);
    peer_expect(p, "10 0100 FFFF 0028");
    tendon_profile_cancel(&r.profile, p->now);
    assert_int_equal(r.calls, 0);
    assert_int_equal(tendon_profile_start(&r.profile, &p->client, anywhere, r.found, 1, on_done, &r, p->now),
                     TENDON_OK);
    peer_quiet(p);
    peer_send(p, "01 10 0100 0A"); /* the answer to the first */
    assert_int_equal(r.calls, 0);
    peer_expect(p, "10 0100 FFFF 0028");
    peer_send(p, "01 10 0100 0A");
    peer_expect(p, "08 0100 FFFF 0328");
    peer_send(p, "01 08 0100 0A");
    ended(&r, p, TENDON_ERROR_NOT_FOUND, 0);
    peer_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_a_service_in_its_128_bit_form_and_the_cccd),
        cmocka_unit_test(test_the_first_of_two_services_counts),
        cmocka_unit_test(test_a_required_service_that_is_missing),
        cmocka_unit_test(test_a_required_characteristic_that_is_missing),
        cmocka_unit_test(test_a_required_cccd_that_is_missing),
        cmocka_unit_test(test_a_characteristic_without_room_for_a_cccd),
        cmocka_unit_test(test_a_value_at_the_last_handle_has_no_cccd),
        cmocka_unit_test(test_tables_of_several_pages),
        cmocka_unit_test(test_a_characteristic_in_any_service),
        cmocka_unit_test(test_an_error_of_the_peer_ends_it),
        cmocka_unit_test(test_the_end_of_the_link_ends_it_once),
        cmocka_unit_test(test_each_request_has_its_limit),
        cmocka_unit_test(test_cancelled_it_says_nothing_and_can_start_again),
    };
    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
