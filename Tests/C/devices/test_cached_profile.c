/* SPDX-License-Identifier: MIT */
/* The discovery of a session with a GATT cache, and its operations when the table changes: PDUs on the page. */
#include "../host/gatt_client_peer.h"
#include "tendon/devices/operation.h"

enum { NOTIFIED = 0, WRITTEN = 1, ROWS = 2, KIND = 3, LIMIT = 1000 };

static const tendon_address device = {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM};

/* Read By Type of 2B2A, and what a device answers. */
#define ASK_HASH "08 0100 FFFF 2A2B"
#define HASH_A "09 12 0600 000102030405060708090A0B0C0D0E0F"
#define HASH_B "09 12 0600 F00102030405060708090A0B0C0D0E0F"

typedef struct session {
    tendon_gatt_cache cache;
    tendon_operation op;
    tendon_profile profile;
    tendon_profile_found found[ROWS];
    peer *p;
    unsigned discoveries, calls, values;
    tendon_status discovered, status;
} session;

static bool other_last_row;

static uint8_t row_of(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    const session *s = context;
    assert_ptr_equal(s->op.context, s);
    *service = tendon_uuid_from_u16(0x5000);
    *characteristic = tendon_uuid_from_u16(row == NOTIFIED ? 0x5A01 : other_last_row ? 0x5A03 : 0x5A02);
    return TENDON_PROFILE_REQUIRED | (row == NOTIFIED ? TENDON_PROFILE_CCCD : 0);
}

static void on_discovered(void *context, tendon_status status, size_t row, uint64_t now) {
    session *s = context;
    (void)row, (void)now;
    tendon_operation_reset(&s->op);
    s->discoveries++;
    s->discovered = status;
    memset(&s->profile, 0xA5, sizeof s->profile); /* its memory has another use */
}

static void on_done(void *context, const tendon_gatt_result *result) {
    session *s = context;
    if (tendon_operation_ended(&s->op, result) != 0) {
        s->calls++;
        s->status = result->status;
    }
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    session *s = context;
    (void)value, (void)now;
    s->values++;
}

static const tendon_operation_rules rules = {on_done, on_value, on_discovered, LIMIT, 8};

static void connect(session *s) {
    s->p = peer_open();
    tendon_gatt_client_config config = s->p->client.config;
    config.cache = &s->cache;
    assert_int_equal(tendon_gatt_client_init(&s->p->client, &config), TENDON_OK);
    s->op.client = &s->p->client;
    s->op.now = s->p->now;
    s->discoveries = s->calls = 0;
    tendon_operation_discover(&s->op, KIND, &s->profile, row_of, s->found, ROWS);
}

static void begin(session *s) {
    *s = (session){.op = {.rules = &rules}};
    s->op.context = s;
    tendon_gatt_cache_init(&s->cache, &device, NULL);
    connect(s);
}

/* 1801 at 1 to 6 with Service Changed 3, CCCD 4, hash 6; 5000 from @p first on: its handles are first + 2 and so on. */
static void discovers(peer *p, bool moved) {
    peer_exchange(p, "10 0100 FFFF 0028",
                  moved ? "11 06 0100 0600 0118 2000 2700 0050" : "11 06 0100 0600 0118 1000 1700 0050");
    peer_exchange(p, moved ? "10 2800 FFFF 0028" : "10 1800 FFFF 0028", moved ? "01 10 2800 0A" : "01 10 1800 0A");
    if (moved) {
        peer_exchange(p, "08 2000 2700 0328", "09 07 2100 10 2200 015A 2400 08 2500 025A");
        peer_exchange(p, "08 2500 2700 0328", "01 08 2500 0A");
    } else {
        peer_exchange(p, "08 1000 1700 0328", "09 07 1100 10 1200 015A 1400 08 1500 025A");
        peer_exchange(p, "08 1500 1700 0328", "01 08 1500 0A");
    }
    peer_exchange(p, "08 0100 0600 0328", "09 07 0200 20 0300 052A 0500 02 0600 2A2B");
    if (moved) {
        peer_exchange(p, "04 2300 2300", "05 01 2300 0229");
    } else {
        peer_exchange(p, "04 1300 1300", "05 01 1300 0229");
    }
    peer_exchange(p, "04 0400 0400", "05 01 0400 0229");
}

static void expect_found(const session *s, uint16_t notified, uint16_t written) {
    assert_int_equal(s->discoveries, 1);
    assert_int_equal(s->discovered, TENDON_OK);
    assert_int_equal(s->found[NOTIFIED].value, notified);
    assert_int_equal(s->found[NOTIFIED].cccd, notified + 1);
    assert_int_equal(s->found[NOTIFIED].properties, TENDON_GATT_NOTIFY);
    assert_int_equal(s->found[WRITTEN].value, written);
    assert_int_equal(s->found[WRITTEN].cccd, 0);
}

static void enables_service_changed(peer *p) {
    peer_exchange(p, "12 0400 0200", "13");
}

/* A first connection, whole, and its end. */
static void fill(session *s) {
    begin(s);
    peer_exchange(s->p, ASK_HASH, HASH_A);
    discovers(s->p, false);
    expect_found(s, 0x12, 0x15);
    enables_service_changed(s->p);
    assert_int_equal(s->cache.state, TENDON_GATT_CACHE_VALID);
}

static void again(session *s) {
    peer_close(s->p);
    connect(s);
}

static void one_request_instead_of_a_discovery(void **state) {
    (void)state;
    session s;
    fill(&s);
    again(&s);
    peer_exchange(s.p, ASK_HASH, HASH_A);
    expect_found(&s, 0x12, 0x15);
    enables_service_changed(s.p); /* each connection: without a bond the device forgets it (Vol 3 Part G 3.3.3.3) */
    assert_int_equal(s.cache.counters.hits, 1);
    assert_int_equal(s.cache.counters.misses, 1);
    assert_int_equal(peer_send(s.p, "1D 0300 0100 FFFF"), TENDON_OK);
    peer_expect(s.p, "1E");
    assert_int_equal(s.cache.state, TENDON_GATT_CACHE_STALE);
    peer_close(s.p);
}

/* The same device with Client Supported Features at 8: the bit Robust Caching is set, once for each connection, also if
 * the device does not take it (Core Spec Vol 3 Part G 7.2: Value Not Allowed). */
static void robust_caching_is_enabled(void **state) {
    (void)state;
    session s;
    begin(&s);
    peer_exchange(s.p, ASK_HASH, HASH_A);
    peer_exchange(s.p, "10 0100 FFFF 0028", "11 06 0100 0800 0118 1000 1700 0050");
    peer_exchange(s.p, "10 1800 FFFF 0028", "01 10 1800 0A");
    peer_exchange(s.p, "08 1000 1700 0328", "09 07 1100 10 1200 015A 1400 08 1500 025A");
    peer_exchange(s.p, "08 1500 1700 0328", "01 08 1500 0A");
    peer_exchange(s.p, "08 0100 0800 0328", "09 07 0200 20 0300 052A 0500 02 0600 2A2B 0700 0A 0800 292B");
    peer_exchange(s.p, "04 1300 1300", "05 01 1300 0229");
    peer_exchange(s.p, "04 0400 0400", "05 01 0400 0229");
    expect_found(&s, 0x12, 0x15);
    enables_service_changed(s.p);
    peer_exchange(s.p, "12 0800 01", "13");
    assert_int_equal(s.cache.record.count, ROWS + 2);
    again(&s);
    peer_exchange(s.p, ASK_HASH, HASH_A);
    expect_found(&s, 0x12, 0x15);
    enables_service_changed(s.p);
    peer_exchange(s.p, "12 0800 01", "01 12 0800 13");
    tendon_operation_start(&s.op, KIND, TENDON_OPERATION_WRITE, s.found[WRITTEN].value, (const uint8_t[]){0xAA}, 1);
    peer_exchange(s.p, "12 1500 AA", "13");
    assert_int_equal(s.status, TENDON_OK);
    /* A session's request goes first. */
    again(&s);
    peer_expect(s.p, ASK_HASH);
    assert_int_equal(peer_send(s.p, HASH_A), TENDON_OK);
    peer_expect(s.p, "12 0400 0200");
    tendon_operation_start(&s.op, KIND, TENDON_OPERATION_WRITE, s.found[WRITTEN].value, (const uint8_t[]){0xAA}, 1);
    peer_exchange(s.p, NULL, "13");
    peer_exchange(s.p, "12 1500 AA", "13");
    /* As for Service Changed: the device would send no more values. */
    peer_exchange(s.p, "12 0800 01", "01 12 0800 12");
    assert_true(s.p->bearer.closed);
    assert_int_equal(s.cache.state, TENDON_GATT_CACHE_STALE);
    tendon_operation_reset(&s.op);
    free(s.p);
}

static void another_hash_discovers_again(void **state) {
    (void)state;
    session s;
    fill(&s);
    again(&s);
    peer_exchange(s.p, ASK_HASH, HASH_B);
    discovers(s.p, true);
    expect_found(&s, 0x22, 0x25);
    enables_service_changed(s.p);
    assert_int_equal(s.cache.counters.mismatches, 1);
    again(&s);
    peer_exchange(s.p, ASK_HASH, HASH_B);
    expect_found(&s, 0x22, 0x25);
    enables_service_changed(s.p);
    peer_close(s.p);
}

/* Another version of a family has another last row: what was kept is not for it. */
static void other_rows_discover_again(void **state) {
    (void)state;
    session s;
    fill(&s);
    peer_close(s.p);
    other_last_row = true;
    connect(&s);
    peer_exchange(s.p, ASK_HASH, HASH_A);
    peer_expect(s.p, "10 0100 FFFF 0028");
    other_last_row = false;
    peer_close(s.p);
}

static void a_dropped_cache_discovers_again(void **state) {
    (void)state;
    session s;
    fill(&s);
    tendon_gatt_cache_drop(&s.cache);
    again(&s);
    peer_exchange(s.p, ASK_HASH, HASH_A);
    discovers(s.p, false);
    expect_found(&s, 0x12, 0x15);
    enables_service_changed(s.p);
    peer_close(s.p);
}

/* Without a hash nothing is kept, and a second connection of the same process does not ask for one. B20: a hash of
 * another length is none. */
static void a_device_without_a_hash_is_discovered_each_time(void **state) {
    (void)state;
    static const char *const answers[] = {"01 08 0100 0A",
                                          "01 08 0600 02",
                                          "01 08 0600 05",
                                          "09 02 0600",
                                          "09 11 0600 000102030405060708090A0B0C0D0E",
                                          "09 13 0600 000102030405060708090A0B0C0D0E0F10"};
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        session s;
        begin(&s);
        peer_expect(s.p, ASK_HASH);
        (void)peer_send(s.p, answers[i]);
        for (int connection = 0; connection < 2; connection++) {
            peer_exchange(s.p, "10 0100 FFFF 0028", "11 06 1000 1700 0050");
            peer_exchange(s.p, "10 1800 FFFF 0028", "01 10 1800 0A");
            peer_exchange(s.p, "08 1000 1700 0328", "09 07 1100 10 1200 015A 1400 08 1500 025A");
            peer_exchange(s.p, "08 1500 1700 0328", "01 08 1500 0A");
            peer_exchange(s.p, "04 1300 1300", "05 01 1300 0229");
            expect_found(&s, 0x12, 0x15);
            assert_int_equal(s.cache.state, TENDON_GATT_CACHE_EMPTY);
            again(&s);
        }
        tendon_operation_reset(&s.op);
        tendon_profile_cancel(&s.profile, s.p->now);
        free(s.p);
    }
}

static void a_lost_connection_ends_the_discovery(void **state) {
    (void)state;
    session s;
    begin(&s);
    peer_expect(s.p, ASK_HASH);
    tendon_gatt_client_disconnected(&s.p->client, TENDON_RADIO_ERROR_PEER_CLOSED, s.p->now);
    assert_int_equal(s.discoveries, 1);
    assert_int_equal(s.discovered, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(s.cache.state, TENDON_GATT_CACHE_EMPTY);
    peer_close(s.p);
}

static void an_incomplete_device_is_not_kept(void **state) {
    (void)state;
    session s;
    begin(&s);
    peer_exchange(s.p, ASK_HASH, HASH_A);
    peer_exchange(s.p, "10 0100 FFFF 0028", "01 10 0100 0A");
    assert_int_equal(s.discovered, TENDON_ERROR_NOT_FOUND);
    assert_int_equal(s.cache.state, TENDON_GATT_CACHE_FILLING);
    again(&s);
    /* And nothing is enabled on it: Client Supported Features is there, the service of the session is not. */
    peer_exchange(s.p, ASK_HASH, HASH_A);
    peer_exchange(s.p, "10 0100 FFFF 0028", "11 06 0100 0800 0118");
    peer_exchange(s.p, "10 0900 FFFF 0028", "01 10 0900 0A");
    peer_exchange(s.p, "08 0100 0800 0328", "09 07 0700 0A 0800 292B");
    assert_int_equal(s.discovered, TENDON_ERROR_NOT_FOUND);
    peer_quiet(s.p);
    again(&s);
    peer_exchange(s.p, ASK_HASH, HASH_A);
    discovers(s.p, false);
    expect_found(&s, 0x12, 0x15);
    enables_service_changed(s.p);
    peer_close(s.p);
}

/* ---- the table changes while connected ---- */

static const uint8_t bytes[] = {0xAA};

static void out_of_sync_is_repeated_with_the_new_handle(void **state) {
    (void)state;
    session s;
    fill(&s);
    tendon_operation_start(&s.op, KIND, TENDON_OPERATION_WRITE, s.found[WRITTEN].value, bytes, sizeof bytes);
    peer_exchange(s.p, "12 1500 AA", "01 12 1500 12");
    assert_int_equal(s.calls, 0);
    assert_true(s.op.call.repeated);
    peer_exchange(s.p, ASK_HASH, HASH_B);
    discovers(s.p, true);
    peer_expect(s.p, "12 2500 AA");
    assert_int_equal(s.op.kind, KIND);
    assert_int_equal(peer_send(s.p, "13"), TENDON_OK);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.status, TENDON_OK);
    expect_found(&s, 0x22, 0x25);
    peer_exchange(s.p, "12 0400 0200", "13");
    assert_int_equal(s.cache.state, TENDON_GATT_CACHE_VALID);
    assert_memory_equal(s.cache.record.hash, "\xF0\x01\x02", 3);
    peer_close(s.p);
}

static void out_of_sync_is_repeated_once(void **state) {
    (void)state;
    session s;
    fill(&s);
    tendon_operation_start(&s.op, KIND, TENDON_OPERATION_READ, s.found[WRITTEN].value, NULL, 0);
    peer_exchange(s.p, "0A 1500", "01 0A 1500 12");
    peer_exchange(s.p, ASK_HASH, HASH_A);
    discovers(s.p, false);
    peer_exchange(s.p, "0A 1500", "01 0A 1500 12");
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.status, ATT(0x12));
    peer_quiet(s.p); /* Service Changed is not enabled with handles that are stale again */
    peer_close(s.p);
}

/* A subscription is repeated too; the next operation after Service Changed discovers first. */
static void service_changed_discovers_before_the_next_operation(void **state) {
    (void)state;
    session s;
    fill(&s);
    assert_int_equal(peer_send(s.p, "1D 0300 1000 FFFF"), TENDON_OK);
    peer_expect(s.p, "1E");
    tendon_operation_subscribe(&s.op, KIND, &s.found[NOTIFIED], false);
    peer_exchange(s.p, ASK_HASH, HASH_B);
    discovers(s.p, true);
    peer_exchange(s.p, "12 2300 0100", "13");
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.status, TENDON_OK);
    peer_exchange(s.p, "12 0400 0200", "13");
    assert_int_equal(peer_send(s.p, "1B 2200 01"), TENDON_OK);
    assert_int_equal(s.values, 1);
    peer_close(s.p);
}

/* What is subscribed is ended where it was subscribed: nothing is discovered for that. */
static void a_subscription_of_the_old_table_is_ended_at_once(void **state) {
    (void)state;
    session s;
    fill(&s);
    tendon_operation_subscribe(&s.op, KIND, &s.found[NOTIFIED], false);
    peer_exchange(s.p, "12 1300 0100", "13");
    assert_int_equal(peer_send(s.p, "1D 0300 1000 FFFF"), TENDON_OK);
    peer_expect(s.p, "1E");
    tendon_operation_start(&s.op, KIND, TENDON_OPERATION_UNSUBSCRIBE, s.found[NOTIFIED].value, NULL, 0);
    peer_exchange(s.p, "12 1300 0000", "13");
    assert_int_equal(s.calls, 2);
    assert_int_equal(s.status, TENDON_OK);
    peer_close(s.p);
}

static void expect_handles(const session *s, uint16_t notified, uint16_t written) {
    assert_int_equal(s->found[NOTIFIED].value, notified);
    assert_int_equal(s->found[NOTIFIED].cccd, notified + 1);
    assert_int_equal(s->found[WRITTEN].value, written);
}

/* Subscribed, and a write is out of sync. */
static void streams_and_is_out_of_sync(session *s) {
    fill(s);
    tendon_operation_subscribe(&s->op, KIND, &s->found[NOTIFIED], false);
    peer_exchange(s->p, "12 1300 0100", "13");
    s->calls = 0;
    tendon_operation_start(&s->op, KIND, TENDON_OPERATION_WRITE, s->found[WRITTEN].value, bytes, sizeof bytes);
    peer_exchange(s->p, "12 1500 AA", "01 12 1500 12");
}

/* What is subscribed cannot move: the connection ends with that reason. Handles that stay do no harm. */
static void a_moved_subscription_ends_the_connection(void **state) {
    (void)state;
    for (int moved = 0; moved < 2; moved++) {
        session s;
        streams_and_is_out_of_sync(&s);
        peer_exchange(s.p, ASK_HASH, HASH_B);
        discovers(s.p, moved != 0);
        if (moved == 0) {
            peer_exchange(s.p, "12 1500 AA", "13");
            peer_exchange(s.p, "12 0400 0200", "13");
        }
        peer_quiet(s.p);
        assert_int_equal(s.calls, 1);
        assert_int_equal(s.status, moved != 0 ? ATT(0x12) : TENDON_OK);
        assert_int_equal(s.p->bearer.closed, moved);
        assert_int_equal(s.p->deaths, moved);
        peer_close(s.p);
    }
}

/* Only what is subscribed matters: the handle of a write moves alone. */
static void a_moved_handle_without_a_subscription_does_no_harm(void **state) {
    (void)state;
    session s;
    streams_and_is_out_of_sync(&s);
    peer_exchange(s.p, ASK_HASH, HASH_B);
    peer_exchange(s.p, "10 0100 FFFF 0028", "11 06 0100 0600 0118 1000 1A00 0050");
    peer_exchange(s.p, "10 1B00 FFFF 0028", "01 10 1B00 0A");
    peer_exchange(s.p, "08 1000 1A00 0328", "09 07 1100 10 1200 015A 1700 08 1800 025A");
    peer_exchange(s.p, "08 1800 1A00 0328", "01 08 1800 0A");
    peer_exchange(s.p, "08 0100 0600 0328", "09 07 0200 20 0300 052A 0500 02 0600 2A2B");
    peer_exchange(s.p, "04 1300 1600", "05 01 1300 0229");
    peer_exchange(s.p, "04 1400 1600", "01 04 1400 0A");
    peer_exchange(s.p, "04 0400 0400", "05 01 0400 0229");
    peer_exchange(s.p, "12 1800 AA", "13");
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.status, TENDON_OK);
    assert_false(s.p->bearer.closed);
    expect_handles(&s, 0x12, 0x18);
    peer_exchange(s.p, "12 0400 0200", "13");
    peer_close(s.p);
}

/* The value stays, and the descriptor that enables it has moved: the device sends it no more. */
static void a_moved_descriptor_ends_the_connection(void **state) {
    (void)state;
    session s;
    streams_and_is_out_of_sync(&s);
    peer_exchange(s.p, ASK_HASH, HASH_B);
    peer_exchange(s.p, "10 0100 FFFF 0028", "11 06 0100 0600 0118 1000 1A00 0050");
    peer_exchange(s.p, "10 1B00 FFFF 0028", "01 10 1B00 0A");
    peer_exchange(s.p, "08 1000 1A00 0328", "09 07 1100 10 1200 015A 1700 08 1800 025A");
    peer_exchange(s.p, "08 1800 1A00 0328", "01 08 1800 0A");
    peer_exchange(s.p, "08 0100 0600 0328", "09 07 0200 20 0300 052A 0500 02 0600 2A2B");
    peer_exchange(s.p, "04 1300 1600", "05 01 1300 0129 1400 0229");
    peer_exchange(s.p, "04 1500 1600", "01 04 1500 0A");
    peer_exchange(s.p, "04 0400 0400", "05 01 0400 0229");
    peer_quiet(s.p);
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.status, ATT(0x12));
    assert_true(s.p->bearer.closed);
    assert_int_equal(s.p->deaths, 1);
    peer_close(s.p);
}

/* The table in use stays until the new one is complete, and after one that fails: values are known by their handles
 * meanwhile, and the next operation discovers again. */
static void a_repetition_that_fails_leaves_the_table(void **state) {
    (void)state;
    static const char *const failures[] = {"01 10 0100 0E", "11 06 0100", "01 10 0100 0A", NULL};
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        session s;
        streams_and_is_out_of_sync(&s);
        expect_handles(&s, 0x12, 0x15);
        peer_exchange(s.p, ASK_HASH, HASH_B);
        peer_expect(s.p, "10 0100 FFFF 0028");
        expect_handles(&s, 0x12, 0x15);
        if (failures[i] != NULL) {
            (void)peer_send(s.p, failures[i]);
        } else {
            s.p->now += LIMIT;
            tendon_att_bearer_tick(&s.p->bearer, s.p->now);
            assert_int_equal(peer_send(s.p, "01 10 0100 0A"), TENDON_OK); /* too late */
        }
        assert_int_equal(s.calls, 1);
        assert_true(s.status < 0);
        expect_handles(&s, 0x12, 0x15);
        assert_int_equal(s.cache.state, TENDON_GATT_CACHE_STALE);
        s.op.now = s.p->now;
        tendon_operation_start(&s.op, KIND, TENDON_OPERATION_WRITE, s.found[WRITTEN].value, bytes, sizeof bytes);
        peer_exchange(s.p, ASK_HASH, HASH_B);
        discovers(s.p, false);
        peer_exchange(s.p, "12 1500 AA", "13");
        assert_int_equal(s.calls, 2);
        assert_int_equal(s.status, TENDON_OK);
        assert_int_equal(s.cache.state, TENDON_GATT_CACHE_VALID);
        peer_exchange(s.p, "12 0400 0200", "13");
        peer_close(s.p);
    }
}

/* The end of the connection, of the session, or of the time during the repetition is the end of the operation. */
static void a_repetition_ends_with_the_operation(void **state) {
    (void)state;
    static const struct {
        int how;
        unsigned calls;
        tendon_status status;
    } cases[] = {
        {0, 1, TENDON_RADIO_ERROR_PEER_CLOSED}, {1, 0, TENDON_OK}, {2, 1, TENDON_ERROR_TIMEOUT}, {3, 0, TENDON_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        session s;
        fill(&s);
        tendon_operation_start(&s.op, KIND, TENDON_OPERATION_WRITE, s.found[WRITTEN].value, bytes, sizeof bytes);
        peer_exchange(s.p, "12 1500 AA", "01 12 1500 12");
        peer_expect(s.p, ASK_HASH);
        if (cases[i].how == 0) {
            tendon_gatt_client_disconnected(&s.p->client, TENDON_RADIO_ERROR_PEER_CLOSED, s.p->now);
        } else if (cases[i].how == 1) {
            tendon_operation_reset(&s.op);
            assert_int_equal(peer_send(s.p, HASH_A), TENDON_OK);
        } else if (cases[i].how == 3) { /* the hash is known, and the table is not complete */
            assert_int_equal(peer_send(s.p, HASH_B), TENDON_OK);
            peer_expect(s.p, "10 0100 FFFF 0028");
            tendon_operation_reset(&s.op);
        } else {
            tendon_att_bearer_tick(&s.p->bearer, s.p->now + LIMIT);
        }
        assert_int_equal(s.calls, cases[i].calls);
        assert_int_equal(s.status, cases[i].status);
        assert_int_equal(s.op.kind, 0);
        assert_int_equal(s.cache.state, TENDON_GATT_CACHE_STALE);
        peer_close(s.p);
    }
}

static void without_a_cache_the_error_is_the_result(void **state) {
    (void)state;
    session s;
    fill(&s);
    s.p->client.config.cache = NULL;
    tendon_operation_start(&s.op, KIND, TENDON_OPERATION_WRITE, s.found[WRITTEN].value, bytes, sizeof bytes);
    peer_exchange(s.p, "12 1500 AA", "01 12 1500 12");
    assert_int_equal(s.calls, 1);
    assert_int_equal(s.status, ATT(0x12));
    peer_close(s.p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(one_request_instead_of_a_discovery),
        RUN(robust_caching_is_enabled),
        RUN(another_hash_discovers_again),
        RUN(other_rows_discover_again),
        RUN(a_dropped_cache_discovers_again),
        RUN(a_device_without_a_hash_is_discovered_each_time),
        RUN(a_lost_connection_ends_the_discovery),
        RUN(an_incomplete_device_is_not_kept),
        RUN(out_of_sync_is_repeated_with_the_new_handle),
        RUN(out_of_sync_is_repeated_once),
        RUN(service_changed_discovers_before_the_next_operation),
        RUN(a_subscription_of_the_old_table_is_ended_at_once),
        RUN(a_moved_subscription_ends_the_connection),
        RUN(a_moved_descriptor_ends_the_connection),
        RUN(a_moved_handle_without_a_subscription_does_no_harm),
        RUN(a_repetition_that_fails_leaves_the_table),
        RUN(a_repetition_ends_with_the_operation),
        RUN(without_a_cache_the_error_is_the_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
