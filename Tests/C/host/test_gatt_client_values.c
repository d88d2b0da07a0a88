/* SPDX-License-Identifier: MIT */
/* What the peer sends by itself: GATT/CL/GAN, GAI, and hostile values A18 and D01 to D10. */
#include "gatt_client_peer.h"

static void gatt_cl_gan_bv_01_c_notification(void **state) {
    (void)state;
    peer *p = peer_subscribed(false);
    assert_int_equal(peer_send(p, "1B 03 00 01 02 03"), TENDON_OK);
    peer_value(p, 3, "01 02 03", false);
    assert_int_equal(p->subscriptions[0].received, 1);
    assert_int_equal(p->value.sequence, 1);
    tendon_status id = tendon_gatt_unsubscribe(&p->client, 3, peer_on_done, p, p->now);
    assert_int_equal(peer_send(p, "1B 03 00 01 02 03"), TENDON_ERROR_NOT_FOUND); /* removed immediately */
    peer_exchange(p, "12 04 00 00 00", "13");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(tendon_gatt_unsubscribe(&p->client, 3, peer_on_done, p, p->now), TENDON_ERROR_NOT_FOUND);
    peer_close(p);
}

static void gatt_cl_gai_bv_01_c_indication(void **state) {
    (void)state;
    peer *p = peer_subscribed(true);
    assert_int_equal(peer_send(p, "1D 03 00 01 02 03"), TENDON_OK);
    peer_expect(p, "1E");
    peer_value(p, 3, "01 02 03", true);
    peer_close(p);
}

/* Our reading of the purpose: an indication without a handler is confirmed nevertheless, and is not delivered. */
static void gatt_cl_gai_bi_01_c_indication_without_subscription(void **state) {
    (void)state;
    peer *p = peer_open();
    assert_int_equal(peer_send(p, "1D 03 00 01"), TENDON_ERROR_NOT_FOUND);
    peer_expect(p, "1E");
    assert_int_equal(p->bearer.counters.unhandled_value, 1);
    peer_alive(p);
    peer_close(p);
}

static void mal_A18_values_between_a_read_and_its_response(void **state) {
    (void)state;
    peer *p = peer_subscribed(false);
    tendon_status id = op_read(p); /* of the same handle */
    peer_expect(p, "0A 03 00");
    assert_int_equal(peer_send(p, "1B 03 00 AA"), TENDON_OK);
    peer_value(p, 3, "AA", false);
    peer_not_done(p);
    assert_int_equal(peer_send(p, "0B BB"), TENDON_OK);
    peer_done_value(p, id, "BB");
    assert_int_equal(peer_send(p, "1B 03 00 CC"), TENDON_OK);
    peer_value(p, 3, "CC", false);
    assert_string_equal(p->order, "VDV"); /* the order of arrival */
    peer_close(p);
}

static void mal_D01_value_without_handle(void **state) {
    (void)state;
    static const char *const pdus[] = {"1B", "1B 03", "1D", "1D 03", "23", "23 03", "23 03 00 01"};
    peer *p = peer_subscribed(false);
    for (unsigned i = 0; i < sizeof(pdus) / sizeof(pdus[0]); i++) {
        assert_int_equal(peer_send(p, pdus[i]), TENDON_ERROR_TRUNCATED);
        assert_int_equal(p->bearer.counters.malformed, i + 1);
    }
    assert_int_equal(peer_send(p, "1B 03 00 01"), TENDON_OK);
    peer_value(p, 3, "01", false);
    peer_close(p);
}

static void mal_D02_value_of_a_handle_that_nobody_asked_for(void **state) {
    (void)state;
    peer *p = peer_subscribed(false);
    tendon_status id = tendon_gatt_subscribe(&p->client, 9, 10, false, peer_on_value, p, NULL, NULL, p->now);
    assert_true(id > 0 && tendon_gatt_unsubscribe(&p->client, 3, NULL, NULL, p->now) > 0); /* leaves a free place */
    peer_exchange(p, "12 0A 00 01 00", "13");
    peer_exchange(p, "12 04 00 00 00", "13");
    assert_int_equal(peer_send(p, "1B 00 00 01"), TENDON_ERROR_NOT_FOUND); /* 0 marks free places */
    assert_int_equal(peer_send(p, "1B 04 00 01"), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(peer_send(p, "1B FF FF 01"), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(p->bearer.counters.unhandled_value, 3);
    assert_int_equal(peer_send(p, "1D 00 00 01"), TENDON_ERROR_NOT_FOUND);
    peer_expect(p, "1E");
    assert_int_equal(p->bearer.counters.unhandled_value, 4);
    assert_int_equal(peer_send(p, "1B 09 00 01"), TENDON_OK);
    peer_value(p, 9, "01", false);
    peer_close(p);
}

static void mal_D03_empty_value_is_delivered(void **state) {
    (void)state;
    peer *p = peer_subscribed(false);
    assert_int_equal(peer_send(p, "1B 03 00"), TENDON_OK);
    peer_value(p, 3, "", false);
    assert_int_equal(peer_send(p, "1D 03 00"), TENDON_OK);
    peer_expect(p, "1E");
    peer_value(p, 3, "", true);
    peer_close(p);
}

/* Both values are handed out, and each indication gets its own confirmation when the link takes them, first of all. */
static void mal_D04_second_indication_before_our_confirmation(void **state) {
    (void)state;
    peer *p = peer_subscribed(true);
    p->link = TENDON_ERROR_WOULD_BLOCK;
    assert_int_equal(peer_send(p, "1D 03 00 01"), TENDON_OK);
    peer_value(p, 3, "01", true);
    assert_int_equal(peer_send(p, "1D 03 00 02"), TENDON_OK);
    peer_value(p, 3, "02", true);
    p->link = TENDON_OK;
    tendon_status id = op_read(p);
    assert_true(id > 0);
    peer_quiet(p); /* no request before the confirmations */
    tendon_att_bearer_writable(&p->bearer, p->now);
    peer_expect(p, "1E");
    peer_expect(p, "1E");
    peer_exchange(p, "0A 03 00", "0B 01");
    peer_done_value(p, id, "01");
    peer_close(p);
}

static void mal_D04_indications_without_end_while_blocked(void **state) {
    (void)state;
    peer *p = peer_subscribed(true);
    p->link = TENDON_ERROR_WOULD_BLOCK;
    for (unsigned i = 0; i < 300; i++) {
        assert_int_equal(peer_send(p, "1D 03 00 01"), i < 255 ? TENDON_OK : TENDON_ERROR_WRONG_STATE);
    }
    assert_int_equal(p->values, 255);
    assert_int_equal(p->bearer.counters.malformed, 45);
    p->values = 0;
    p->link = TENDON_OK;
    tendon_att_bearer_writable(&p->bearer, p->now);
    for (unsigned i = 0; i < 255; i++) {
        peer_expect(p, "1E");
    }
    assert_int_equal(peer_send(p, "1D 03 00 02"), TENDON_OK);
    peer_expect(p, "1E");
    peer_value(p, 3, "02", true);
    peer_close(p);
}

static void mal_D05_confirmation_without_indication(void **state) {
    (void)state;
    peer *p = peer_subscribed(false);
    assert_int_equal(peer_send(p, "1E"), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(p->bearer.counters.unexpected_confirmation, 1);
    peer_alive(p);
    peer_close(p);
}

static void mal_D06_multiple_handle_value_notification(void **state) {
    (void)state;
    static const char *const bad[] = {
        "23",                            /* 0 items */
        "23 03 00 02 00 AA",             /* inner length beyond the end */
        "23 03 00 01 00 AA 03 00 09 00", /* of the second: the first is not delivered either */
        "23 03 00 01 00 AA 03 00 01",    /* 3 trailing bytes */
        "23 03 00 FF FF",
    };
    peer *p = peer_subscribed(false);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_true(peer_send(p, bad[i]) < 0);
        assert_int_equal(p->bearer.counters.malformed, i + 1);
        assert_int_equal(p->values, 0);
    }
    assert_int_equal(peer_send(p, "23 03 00 01 00 AA 03 00 02 00 BB CC"), TENDON_OK);
    assert_int_equal(p->values, 2);
    p->values = 1;
    peer_value(p, 3, "BB CC", false);
    assert_int_equal(peer_send(p, "23 09 00 01 00 AA 03 00 00 00"), TENDON_ERROR_NOT_FOUND); /* one is not for us */
    peer_value(p, 3, "", false);
    assert_int_equal(p->bearer.counters.unhandled_value, 1);
    peer_close(p);
}

/* The client keeps nothing: a value is handed out or counted before receive() returns, whatever the rate. */
static void mal_D07_notifications_at_2101_a_second_for_a_minute(void **state) {
    (void)state;
    peer *p = peer_subscribed(false);
    for (unsigned i = 0; i < 2101u * 60u; i++) {
        p->now = 1000 + i * 1000u / 2101u;
        uint8_t pdu[] = {0x1B, (uint8_t)(i % 3 == 2 ? 5 : 3), 0, (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16)};
        assert_int_equal(peer_send_bytes(p, pdu, sizeof(pdu)), i % 3 == 2 ? TENDON_ERROR_NOT_FOUND : TENDON_OK);
        if (i % 3 != 2) {
            assert_memory_equal(p->value_bytes, pdu + 3, 3);
        }
    }
    assert_int_equal(p->values, 84040);
    assert_int_equal(p->subscriptions[0].received, 84040);
    assert_int_equal(p->value.sequence, 84040);
    assert_int_equal(p->bearer.counters.unhandled_value, 42020);
    p->values = 0;
    peer_alive(p);
    peer_close(p);
}

static void mal_D08_storm_while_a_request_waits(void **state) {
    (void)state;
    peer *p = peer_subscribed(false);
    tendon_status first = op_read(p);
    tendon_status second = op_write(p);
    peer_expect(p, "0A 03 00");
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(peer_send(p, "1B 03 00 01"), TENDON_OK);
    }
    assert_int_equal(peer_send(p, "0B 07"), TENDON_OK);
    peer_done_value(p, first, "07");
    peer_expect(p, "12 07 00 01 02 03");
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(peer_send(p, "1B 03 00 01"), TENDON_OK);
    }
    assert_int_equal(peer_send(p, "13"), TENDON_OK);
    peer_done(p, second, TENDON_OK);
    assert_int_equal(p->values, 2000);
    p->values = 0;
    peer_close(p);
}

static void mal_D09_notification_before_the_cccd_write_is_answered(void **state) {
    (void)state;
    peer *p = peer_open();
    p->link = TENDON_ERROR_WOULD_BLOCK; /* even before the write has left */
    tendon_status id = op_subscribe(p);
    assert_int_equal(peer_send(p, "1B 03 00 01"), TENDON_OK);
    peer_value(p, 3, "01", false);
    p->link = TENDON_OK;
    tendon_att_bearer_writable(&p->bearer, p->now);
    peer_expect(p, "12 04 00 01 00");
    assert_int_equal(peer_send(p, "1B 03 00 02"), TENDON_OK);
    peer_value(p, 3, "02", false);
    assert_int_equal(peer_send(p, "13"), TENDON_OK);
    peer_done(p, id, TENDON_OK);
    peer_close(p);
}

/* The server's rule; on our side: a refused subscription has no handler, so what comes in spite of it goes nowhere. */
static void mal_D10_values_of_a_refused_subscription(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_subscribe(p);
    peer_exchange(p, "12 04 00 01 00", "01 12 04 00 0F");
    peer_done(p, id, ATT(0x0F));
    assert_int_equal(peer_send(p, "1B 03 00 01"), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(p->bearer.counters.unhandled_value, 1);
    id = op_subscribe(p); /* its place is free again */
    peer_exchange(p, "12 04 00 01 00", "13");
    peer_done(p, id, TENDON_OK);
    peer_close(p);
}

static tendon_status subscribe_to(peer *p, uint16_t handle) {
    return tendon_gatt_subscribe(&p->client, handle, (uint16_t)(handle + 1), false, peer_on_value, p, peer_on_done, p,
                                 p->now);
}

static void subscriptions_fill_their_table(void **state) {
    (void)state;
    peer *p = peer_open();
    for (uint16_t i = 0; i < PEER_SUBSCRIPTIONS; i++) {
        assert_true(subscribe_to(p, (uint16_t)(0x10 + 2 * i)) > 0);
    }
    assert_int_equal(subscribe_to(p, 0x50), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(p->client.queued, PEER_SUBSCRIPTIONS);
    assert_int_equal(peer_send(p, "13"), TENDON_OK);
    peer_done(p, 1, TENDON_OK);
    assert_true(subscribe_to(p, 0x10) > 0); /* again: the same place */
    for (uint16_t i = 0; i < PEER_SUBSCRIPTIONS; i++) {
        assert_int_equal(peer_send(p, "13"), TENDON_OK);
        peer_done(p, (tendon_status)p->result.request, TENDON_OK);
    }
    for (uint8_t i = 0; i < PEER_SUBSCRIPTIONS; i++) {
        uint8_t pdu[] = {0x1B, (uint8_t)(0x10 + 2 * i), 0};
        assert_int_equal(peer_send_bytes(p, pdu, sizeof(pdu)), TENDON_OK);
        peer_value(p, (uint16_t)(0x10 + 2 * i), "", false);
    }
    assert_true(tendon_gatt_unsubscribe(&p->client, 0x12, NULL, NULL, p->now) > 0);
    assert_int_equal(peer_send(p, "13"), TENDON_OK);
    assert_true(subscribe_to(p, 0x50) > 0);
    assert_int_equal(peer_send(p, "1B 50 00"), TENDON_OK);
    peer_value(p, 0x50, "", false);
    p->expected = p->sent;
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, p->now);
    peer_done(p, (tendon_status)p->result.request, TENDON_ERROR_DISCONNECTED);
    peer_close(p);
}

/* A refusal that arrives after the handler was replaced leaves the newer one alone. */
/* An entry in the middle of the table is used again: those behind it still receive their values. */
static void a_free_entry_is_used_again(void **state) {
    (void)state;
    peer *p = peer_open();
    for (uint16_t i = 0; i < 3; i++) {
        tendon_status id = subscribe_to(p, (uint16_t)(0x10 + 2 * i));
        assert_int_equal(peer_send(p, "13"), TENDON_OK);
        peer_done(p, id, TENDON_OK);
    }
    assert_true(tendon_gatt_unsubscribe(&p->client, 0x10, NULL, NULL, p->now) > 0);
    assert_int_equal(peer_send(p, "13"), TENDON_OK);
    tendon_status id = subscribe_to(p, 0x50);
    assert_int_equal(peer_send(p, "13"), TENDON_OK);
    peer_done(p, id, TENDON_OK);
    assert_int_equal(peer_send(p, "1B 14 00 07"), TENDON_OK);
    peer_value(p, 0x14, "07", false);
    assert_int_equal(peer_send(p, "1B 50 00 08"), TENDON_OK);
    peer_value(p, 0x50, "08", false);
    p->expected = p->sent;
    peer_close(p);
}

static void refused_subscription_leaves_its_successor(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status first = op_subscribe(p);
    tendon_status second = op_subscribe_indicate(p);
    peer_exchange(p, "12 04 00 01 00", "01 12 04 00 0E");
    peer_done(p, first, ATT(0x0E));
    assert_int_equal(peer_send(p, "1B 03 00 01"), TENDON_OK);
    peer_value(p, 3, "01", false);
    peer_exchange(p, "12 04 00 02 00", "13");
    peer_done(p, second, TENDON_OK);
    peer_close(p);
}

/* A connection in memory: the peer sends its next indication before the sending call returns. */
static tendon_status indicate_within(void *context, const uint8_t *pdu, size_t length) {
    static const uint8_t indication[] = {0x1D, 3, 0, 2};
    peer *p = context;
    assert_int_equal(length, 1);
    assert_int_equal(pdu[0], 0x1E);
    return ++p->sent == 2 ? tendon_att_bearer_receive(&p->bearer, indication, sizeof indication, p->now) : TENDON_OK;
}

static void an_indication_within_the_confirmation_of_another(void **state) {
    (void)state;
    peer *p = peer_subscribed(true);
    assert_int_equal(p->sent, 1); /* the CCCD */
    p->bearer.io = (tendon_bearer_io){p, indicate_within};
    assert_int_equal(peer_send(p, "1D 03 00 01"), TENDON_OK);
    assert_int_equal(p->sent, 3);
    assert_int_equal(p->client.confirmations, 0);
    assert_int_equal(p->values, 2);
    p->values = 0;
    p->expected = p->sent;
    peer_close(p);
}

static void unsubscribe_and_read(peer *p, const tendon_gatt_value *value) {
    assert_true(tendon_gatt_unsubscribe(&p->client, value->handle, NULL, NULL, p->now) > 0);
    assert_true(op_read(p) > 0);
}

static void handler_may_unsubscribe_itself(void **state) {
    (void)state;
    peer *p = peer_subscribed(false);
    p->on_value = unsubscribe_and_read;
    assert_int_equal(peer_send(p, "23 03 00 01 00 01 03 00 01 00 02"), TENDON_ERROR_NOT_FOUND);
    peer_value(p, 3, "01", false);
    assert_int_equal(p->bearer.counters.unhandled_value, 1); /* the second of the two */
    peer_exchange(p, "12 04 00 00 00", "13");
    peer_exchange(p, "0A 03 00", "0B 09");
    peer_done_value(p, (tendon_status)p->result.request, "09");
    peer_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(gatt_cl_gan_bv_01_c_notification),
        RUN(gatt_cl_gai_bv_01_c_indication),
        RUN(gatt_cl_gai_bi_01_c_indication_without_subscription),
        RUN(mal_A18_values_between_a_read_and_its_response),
        RUN(mal_D01_value_without_handle),
        RUN(mal_D02_value_of_a_handle_that_nobody_asked_for),
        RUN(mal_D03_empty_value_is_delivered),
        RUN(mal_D04_second_indication_before_our_confirmation),
        RUN(mal_D04_indications_without_end_while_blocked),
        RUN(an_indication_within_the_confirmation_of_another),
        RUN(mal_D05_confirmation_without_indication),
        RUN(mal_D06_multiple_handle_value_notification),
        RUN(mal_D07_notifications_at_2101_a_second_for_a_minute),
        RUN(mal_D08_storm_while_a_request_waits),
        RUN(mal_D09_notification_before_the_cccd_write_is_answered),
        RUN(mal_D10_values_of_a_refused_subscription),
        RUN(subscriptions_fill_their_table),
        RUN(a_free_entry_is_used_again),
        RUN(refused_subscription_leaves_its_successor),
        RUN(handler_may_unsubscribe_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
