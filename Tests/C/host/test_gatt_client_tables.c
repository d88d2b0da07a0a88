/* SPDX-License-Identifier: MIT */
/* The last places of the client's tables, and what is just beside a range or a limit. */
#include "gatt_client_peer.h"

/* Every place of the table times out, the last one as well; all in one call. */
static void every_place_times_out(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status ids[PEER_REQUESTS];
    for (size_t i = 0; i < PEER_REQUESTS; i++) {
        ids[i] = op_read(p);
        assert_true(ids[i] > 0);
    }
    peer_expect(p, "0A 03 00");
    uint64_t last = p->now + 100;
    assert_int_equal(tendon_gatt_client_set_deadline(&p->client, (uint32_t)ids[PEER_REQUESTS - 1], last), TENDON_OK);
    assert_int_equal(tendon_gatt_client_deadline(&p->client), last);
    p->now = last;
    tendon_gatt_client_tick(&p->client, p->now);
    peer_done(p, ids[PEER_REQUESTS - 1], TENDON_ERROR_TIMEOUT);
    ids[PEER_REQUESTS - 1] = op_read(p);
    for (size_t i = 0; i < PEER_REQUESTS; i++) {
        assert_int_equal(tendon_gatt_client_set_deadline(&p->client, (uint32_t)ids[i], last + 1), TENDON_OK);
    }
    p->now = last + 1;
    tendon_gatt_client_tick(&p->client, p->now);
    assert_int_equal(p->completions, PEER_REQUESTS);
    assert_int_equal(p->result.status, TENDON_ERROR_TIMEOUT);
    p->completions = 0;
    assert_int_equal(peer_send(p, "0B 11"), TENDON_OK); /* the answer of the first, which was on the air */
    peer_not_done(p);
    peer_alive(p);
    peer_close(p);
}

/* A change of handles in front of a discovery, or behind it, restarts nothing; one that touches either end does. */
static void a_change_beside_a_discovery_restarts_nothing(void **state) {
    (void)state;
    static const struct {
        const char *change;
        bool restarts;
    } cases[] = {{"1D 42 00 01 00 03 00", false}, /* in front of 0004 */
                 {"1D 42 00 01 00 04 00", true},
                 {"1D 42 00 10 00 10 00", true},
                 {"1D 42 00 11 00 FF FF", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        peer *p = peer_open();
        tendon_gatt_client_set_service_changed(&p->client, 0x42);
        tendon_status id = op_descriptors(p); /* 0004 to 0010 */
        peer_exchange(p, "04 04 00 10 00", cases[i].change);
        peer_expect(p, "1E");
        assert_int_equal(p->changes, 1);
        assert_int_equal(peer_send(p, "05 01 04 00 02 29"), TENDON_OK);
        peer_exchange(p, cases[i].restarts ? "04 04 00 10 00" : "04 05 00 10 00", "01 04 05 00 0A");
        peer_done(p, id, TENDON_OK);
        assert_int_equal(p->result.count, cases[i].restarts ? 0 : 1);
        peer_close(p);
    }
}

/* A client that subscribes to nothing has no table. */
static void a_client_without_subscriptions_takes_values(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_gatt_client_config config = p->client.config;
    config.subscriptions = NULL;
    config.subscription_capacity = 0;
    assert_int_equal(tendon_gatt_client_init(&p->client, &config), TENDON_OK);
    assert_int_equal(peer_send(p, "1B 03 00 01"), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(p->bearer.counters.unhandled_value, 1);
    assert_int_equal(op_subscribe(p), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(peer_send(p, "1D 03 00 01"), TENDON_ERROR_NOT_FOUND);
    peer_expect(p, "1E");
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, p->now);
    peer_close(p);
}

/* A result has the time of the call that caused it, and not of the one before. */
static void a_result_has_the_time_of_its_cause(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status first = op_read(p), second = op_read(p);
    peer_expect(p, "0A 03 00");
    p->now += 5;
    assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)second, p->now), TENDON_OK);
    peer_done(p, second, TENDON_ERROR_CANCELLED);
    assert_int_equal(p->result.now, p->now);
    p->now += 5;
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, p->now);
    peer_done(p, first, TENDON_ERROR_DISCONNECTED);
    assert_int_equal(p->result.now, p->now);
    peer_close(p);
}

static void a_pdu_without_a_byte_is_truncated(void **state) {
    (void)state;
    peer *p = peer_open();
    assert_int_equal(peer_send_bytes(p, (const uint8_t *)"", 0), TENDON_ERROR_TRUNCATED);
    assert_int_equal(p->bearer.counters.malformed, 1);
    peer_alive(p);
    peer_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(every_place_times_out),
        RUN(a_change_beside_a_discovery_restarts_nothing),
        RUN(a_client_without_subscriptions_takes_values),
        RUN(a_result_has_the_time_of_its_cause),
        RUN(a_pdu_without_a_byte_is_truncated),
    };
    return cmocka_run_group_tests_name("host_gatt_client_tables", tests, NULL, NULL);
}
