/* SPDX-License-Identifier: MIT */
/* The engine: queue, cancel, deadlines, a link that blocks or fails, completions that call back in. */
#include "gatt_client_peer.h"

static void requests_leave_one_at_a_time_in_order(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status read = op_read(p);
    tendon_status write = op_write(p);
    tendon_status pages = op_descriptors(p);
    tendon_status last = op_read_long(p);
    peer_exchange(p, "0A 03 00", "0B 01");
    peer_done_value(p, read, "01");
    peer_exchange(p, "12 07 00 01 02 03", "13");
    peer_done(p, write, TENDON_OK);
    peer_exchange(p, "04 04 00 10 00", "05 01 04 00 02 29"); /* a procedure of many requests is not overtaken */
    peer_exchange(p, "04 05 00 10 00", "01 04 05 00 0A");
    peer_done(p, pages, TENDON_OK);
    peer_exchange(p, "0A 03 00", "0B 02");
    peer_done_value(p, last, "02");
    peer_close(p);
}

static void full_queue_is_refused(void **state) {
    (void)state;
    peer *p = peer_open();
    for (int i = 0; i < PEER_REQUESTS; i++) {
        assert_int_equal(op_read(p), i + 1);
    }
    assert_int_equal(op_read(p), TENDON_GATT_ERROR_QUEUE_FULL);
    assert_int_equal(op_mtu(p), TENDON_GATT_ERROR_QUEUE_FULL);
    assert_int_equal(op_subscribe(p), TENDON_GATT_ERROR_QUEUE_FULL);
    assert_int_equal(p->client.subscription_end, 0);
    peer_exchange(p, "0A 03 00", "0B");
    peer_done(p, 1, TENDON_OK);
    assert_int_equal(op_mtu(p), PEER_REQUESTS + 1);
    p->expected = p->sent;
    free(p);
}

/* The ids have wrapped, and the younger of two older requests is in the earlier slot. */
static void requests_of_before_the_wrap_keep_their_order(void **state) {
    (void)state;
    peer *p = peer_open();
    p->client.next_id = 0x7FFFFFFB;
    tendon_status a = op_read(p);  /* slot 0 */
    tendon_status b = op_read(p);  /* slot 1 */
    tendon_status c = op_write(p); /* slot 2 */
    peer_exchange(p, "0A 03 00", "0B");
    peer_done(p, a, TENDON_OK);
    tendon_status d = op_read(p);  /* slot 0 again */
    tendon_status e = op_write(p); /* the last id */
    tendon_status first = op_read(p);
    assert_int_equal(e, 0x7FFFFFFF);
    assert_int_equal(first, 1);
    peer_exchange(p, "0A 03 00", "0B");
    peer_done(p, b, TENDON_OK);
    peer_exchange(p, "12 07 00 01 02 03", "13");
    peer_done(p, c, TENDON_OK);
    peer_exchange(p, "0A 03 00", "0B");
    peer_done(p, d, TENDON_OK);
    peer_exchange(p, "12 07 00 01 02 03", "13");
    peer_done(p, e, TENDON_OK);
    peer_exchange(p, "0A 03 00", "0B");
    peer_done(p, first, TENDON_OK);
    peer_close(p);
}

static void ids_wrap_and_keep_their_order(void **state) {
    (void)state;
    peer *p = peer_open();
    p->client.next_id = 0x7FFFFFFE;
    tendon_status a = op_read(p);
    tendon_status b = op_write(p);
    tendon_status c = op_read(p);
    tendon_status d = op_write(p);
    assert_int_equal(a, 0x7FFFFFFE);
    assert_int_equal(b, 0x7FFFFFFF);
    assert_int_equal(c, 1);
    assert_int_equal(d, 2);
    peer_exchange(p, "0A 03 00", "0B");
    peer_done(p, a, TENDON_OK);
    peer_exchange(p, "12 07 00 01 02 03", "13");
    peer_done(p, b, TENDON_OK);
    peer_exchange(p, "0A 03 00", "0B");
    peer_done(p, c, TENDON_OK);
    peer_exchange(p, "12 07 00 01 02 03", "13");
    peer_done(p, d, TENDON_OK);
    peer_close(p);
}

static void init_checks_its_arguments(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_gatt_client client;
    tendon_gatt_client_config config = p->client.config;
    config.request_capacity = 0;
    assert_int_equal(tendon_gatt_client_init(&client, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config = p->client.config;
    config.bearer = NULL;
    assert_int_equal(tendon_gatt_client_init(&client, &config), TENDON_ERROR_INVALID_ARGUMENT);
    config = p->client.config;
    config.subscriptions = NULL;
    assert_int_equal(tendon_gatt_client_init(&client, &config), TENDON_ERROR_INVALID_ARGUMENT);
    peer_close(p);
}

/* Cancel */

static void cancel_in_the_queue(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status first = op_read(p);
    tendon_status second = op_write(p);
    assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)second, p->now), TENDON_OK);
    peer_done(p, second, TENDON_ERROR_CANCELLED);
    assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)second, p->now), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(tendon_gatt_client_cancel(&p->client, 0, p->now), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(tendon_gatt_client_cancel(&p->client, 99, p->now), TENDON_ERROR_NOT_FOUND);
    peer_exchange(p, "0A 03 00", "0B");
    peer_done(p, first, TENDON_OK);
    peer_close(p);
}

static void cancel_on_the_air(void **state) {
    (void)state;
    static const struct {
        peer_operation op;
        const char *out, *in;
    } cases[] = {
        {op_read, "0A 03 00", "0B 01"},
        {op_read, "0A 03 00", "01 0A 03 00 05"},
        {op_read_long, "0A 03 00", "0B 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15"},
        {op_descriptors, "04 04 00 10 00", "05 01 04 00 02 29"},
        {op_services, "10 01 00 FF FF 00 28", "11 06 01 00 05 00 00 18"},
        {op_subscribe, "12 04 00 01 00", "13"},
        {op_write_long, "16 07 00 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11", "01 16 07 00 09"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        peer *p = peer_open();
        tendon_status id = cases[i].op(p);
        peer_expect(p, cases[i].out);
        assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now), TENDON_OK);
        peer_done(p, id, TENDON_ERROR_CANCELLED);
        assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now), TENDON_ERROR_NOT_FOUND);
        assert_int_equal(tendon_gatt_client_set_deadline(&p->client, (uint32_t)id, 1), TENDON_ERROR_NOT_FOUND);
        tendon_status next = op_write(p);
        peer_quiet(p); /* waits for the answer that the peer still owes */
        peer_exchange(p, NULL, cases[i].in);
        peer_not_done(p);
        peer_exchange(p, "12 07 00 01 02 03", "13");
        peer_done(p, next, TENDON_OK);
        assert_int_equal(p->client.queued, 0);
        assert_int_equal(p->client.subscription_end, 0); /* of the cancelled subscription */
        peer_close(p);
    }
}

static void cancelled_request_whose_answer_is_malformed(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_descriptors(p);
    peer_expect(p, "04 04 00 10 00");
    tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now);
    peer_done(p, id, TENDON_ERROR_CANCELLED);
    assert_true(peer_send(p, "05") < 0);
    assert_int_equal(p->bearer.counters.malformed, 1);
    peer_alive(p);
    peer_close(p);
}

static void cancelled_mtu_exchange_still_counts(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_mtu(p);
    peer_expect(p, "02 40 00");
    tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now);
    peer_done(p, id, TENDON_ERROR_CANCELLED);
    peer_exchange(p, NULL, "03 00 02");
    assert_int_equal(p->bearer.mtu, 64); /* the peer uses it from now on */
    assert_int_equal(op_mtu(p), TENDON_ERROR_WRONG_STATE);
    peer_close(p);
    p = peer_open(); /* one that never left can be asked for again */
    tendon_status read = op_read(p);
    id = op_mtu(p);
    tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now);
    peer_done(p, id, TENDON_ERROR_CANCELLED);
    id = op_mtu(p);
    assert_true(id > 0);
    peer_exchange(p, "0A 03 00", "0B");
    peer_done(p, read, TENDON_OK);
    peer_exchange(p, "02 40 00", "03 17 00");
    peer_done(p, id, TENDON_OK);
    peer_close(p);
}

/* The two parts of op_write_long(). */
#define PART_1 "07 00 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11"
#define PART_2 "07 00 12 00 12 13"

static void cancel_with_prepared_parts_takes_them_back(void **state) {
    (void)state;
    for (int point = 0; point < 3; point++) {
        peer *p = peer_open();
        tendon_status id = op_write_long(p);
        tendon_status next = op_read(p);
        peer_expect(p, "16 " PART_1);
        if (point > 0) { /* the second part is on the air, or waits for the link */
            p->link = point == 2 ? TENDON_ERROR_WOULD_BLOCK : TENDON_OK;
            peer_exchange(p, NULL, "17 " PART_1);
        }
        if (point == 1) {
            peer_expect(p, "16 " PART_2);
        }
        assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now), TENDON_OK);
        peer_done(p, id, TENDON_ERROR_CANCELLED);
        peer_quiet(p);
        if (point == 2) {
            p->link = TENDON_OK;
            tendon_att_bearer_writable(&p->bearer, p->now);
        } else {
            peer_exchange(p, NULL, point == 0 ? "17 " PART_1 : "01 16 07 00 09");
        }
        peer_exchange(p, "18 00", "19");
        peer_not_done(p);
        peer_exchange(p, "0A 03 00", "0B");
        peer_done(p, next, TENDON_OK);
        peer_close(p);
    }
}

static void cancel_while_execute_is_on_the_air(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_write_long(p);
    peer_exchange(p, "16 " PART_1, "17 " PART_1);
    peer_exchange(p, "16 " PART_2, "17 " PART_2);
    peer_expect(p, "18 01");
    tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now);
    peer_done(p, id, TENDON_ERROR_CANCELLED);
    peer_exchange(p, NULL, "19"); /* too late to take back: nothing follows */
    peer_alive(p);
    peer_close(p);
}

/* Deadlines */

static void deadline_of_a_request(void **state) {
    (void)state;
    peer *p = peer_open();
    assert_true(tendon_att_bearer_deadline(&p->bearer) == UINT64_MAX);
    tendon_status first = op_read(p);
    tendon_status second = op_write(p);
    assert_true(tendon_att_bearer_deadline(&p->bearer) == p->now + 30000);
    assert_int_equal(tendon_gatt_client_set_deadline(&p->client, (uint32_t)first, p->now + 500), TENDON_OK);
    assert_int_equal(tendon_gatt_client_set_deadline(&p->client, (uint32_t)second, p->now + 200), TENDON_OK);
    assert_int_equal(tendon_gatt_client_set_deadline(&p->client, 77, p->now), TENDON_ERROR_NOT_FOUND);
    assert_true(tendon_att_bearer_deadline(&p->bearer) == p->now + 200);
    tendon_att_bearer_tick(&p->bearer, p->now + 199);
    peer_not_done(p);
    tendon_att_bearer_tick(&p->bearer, p->now + 200);
    peer_done(p, second, TENDON_ERROR_TIMEOUT);
    assert_int_equal(p->result.now, p->now + 200);
    assert_true(tendon_att_bearer_deadline(&p->bearer) == p->now + 500);
    tendon_att_bearer_tick(&p->bearer, p->now + 500);
    peer_done(p, first, TENDON_ERROR_TIMEOUT); /* on the air: its place waits for the answer, and so do others */
    assert_true(tendon_att_bearer_deadline(&p->bearer) == p->now + 30000);
    tendon_status third = op_write(p);
    peer_exchange(p, "0A 03 00", "0B 01");
    peer_exchange(p, "12 07 00 01 02 03", "13");
    peer_done(p, third, TENDON_OK);
    peer_close(p);
}

static void start_late(peer *p, const tendon_gatt_result *result) {
    (void)result;
    tendon_status id = op_write(p);
    tendon_gatt_client_set_deadline(&p->client, (uint32_t)id, 0);
    p->on_done = start_late;
}

static void deadlines_in_the_past_do_not_hold_the_tick(void **state) {
    (void)state;
    peer *p = peer_open();
    assert_true(op_read(p) > 0);
    tendon_gatt_client_set_deadline(&p->client, 1, 0);
    p->on_done = start_late;
    tendon_att_bearer_tick(&p->bearer, p->now);
    assert_true(p->completions <= PEER_REQUESTS);
    assert_true(tendon_att_bearer_deadline(&p->bearer) == 0); /* the next tick is due immediately */
    free(p);
}

/* A link that blocks or fails */

static void blocked_request_waits_for_writable(void **state) {
    (void)state;
    peer *p = peer_open();
    p->link = TENDON_ERROR_WOULD_BLOCK;
    tendon_status first = op_read(p);
    tendon_status second = op_write(p);
    assert_true(first > 0 && second > 0);
    assert_true(tendon_att_bearer_deadline(&p->bearer) == UINT64_MAX); /* the transaction has not begun */
    tendon_att_bearer_writable(&p->bearer, p->now);                    /* still not */
    tendon_gatt_client_cancel(&p->client, (uint32_t)first, p->now);
    peer_done(p, first, TENDON_ERROR_CANCELLED);
    p->link = TENDON_OK;
    p->now += 40000;
    tendon_att_bearer_tick(&p->bearer, p->now);
    assert_false(p->bearer.closed);
    tendon_att_bearer_writable(&p->bearer, p->now);
    peer_exchange(p, "12 07 00 01 02 03", "13");
    peer_done(p, second, TENDON_OK);
    peer_close(p);
}

static void link_that_fails_at_once_is_told_to_the_caller(void **state) {
    (void)state;
    static const peer_operation ops[] = {op_mtu, op_services, op_read, op_write, op_write_long, op_subscribe};
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        peer *p = peer_open();
        p->link = TENDON_RADIO_ERROR_PEER_CLOSED;
        assert_int_equal(ops[i](p), TENDON_RADIO_ERROR_PEER_CLOSED);
        peer_not_done(p);
        assert_int_equal(ops[i](p), TENDON_ERROR_DISCONNECTED);
        assert_int_equal(p->client.queued, 0);
        assert_int_equal(p->client.subscription_end, 0);
        tendon_gatt_client_disconnected(&p->client, TENDON_RADIO_ERROR_PEER_CLOSED, p->now);
        peer_close(p);
    }
}

static void link_that_fails_later_completes_all(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status first = op_read_long(p);
    tendon_status second = op_write(p);
    peer_expect(p, "0A 03 00");
    p->link = TENDON_RADIO_ERROR_PEER_CLOSED;
    peer_send(p, "0B 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15");
    assert_int_equal(p->completions, 2);
    assert_int_equal(p->result.request, second);
    assert_int_equal(p->result.status, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_true(second > first);
    p->completions = 0;
    assert_int_equal(op_read(p), TENDON_ERROR_DISCONNECTED);
    peer_close(p);
}

static void lost_confirmation_ends_the_link(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_subscribe(p);
    peer_exchange(p, "12 04 00 01 00", NULL);
    p->link = TENDON_RADIO_ERROR_PEER_CLOSED;
    assert_int_equal(peer_send(p, "1D 03 00 01"), TENDON_RADIO_ERROR_PEER_CLOSED);
    peer_done(p, id, TENDON_RADIO_ERROR_PEER_CLOSED);
    peer_close(p);
}

static void disconnected_completes_in_order_and_once(void **state) {
    (void)state;
    peer *p = peer_open();
    assert_true(op_subscribe(p) > 0);
    assert_true(op_read(p) > 0);
    assert_true(op_write_long(p) > 0);
    p->expected = p->sent;
    tendon_gatt_client_disconnected(&p->client, TENDON_OK, p->now); /* not an error: one is made of it */
    assert_int_equal(p->completions, 3);
    assert_int_equal(p->result.request, 3);
    assert_int_equal(p->result.status, TENDON_ERROR_DISCONNECTED);
    p->completions = 0;
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_CANCELLED, p->now);
    tendon_att_bearer_tick(&p->bearer, UINT64_MAX - 1);
    tendon_att_bearer_writable(&p->bearer, p->now);
    assert_true(tendon_att_bearer_deadline(&p->bearer) == UINT64_MAX);
    assert_int_equal(tendon_gatt_write_command(&p->client, 3, NULL, 0), TENDON_ERROR_DISCONNECTED);
    peer_close(p);
}

/* Completions that call back in */

static void start_another(peer *p, const tendon_gatt_result *result) {
    (void)result;
    assert_true(op_write(p) > 0);
}

static void completion_starts_a_request(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_read(p);
    tendon_status queued = op_read_by_uuid(p);
    p->on_done = start_another;
    peer_exchange(p, "0A 03 00", "0B 01");
    peer_done_value(p, id, "01");
    peer_exchange(p, "08 01 00 10 00 29 2A", "09 03 05 00 07"); /* behind what waited already */
    peer_done_value(p, queued, "07");
    peer_exchange(p, "12 07 00 01 02 03", "13");
    peer_done(p, 3, TENDON_OK);
    peer_close(p);
}

static void cancel_the_next(peer *p, const tendon_gatt_result *result) {
    p->completions = 0;
    assert_int_equal(tendon_gatt_client_cancel(&p->client, result->request + 1, p->now), TENDON_OK);
    peer_done(p, (tendon_status)result->request + 1, TENDON_ERROR_CANCELLED);
}

static void completion_cancels_another(void **state) {
    (void)state;
    peer *p = peer_open();
    assert_true(op_read(p) > 0);
    assert_true(op_write(p) > 0);
    assert_true(op_descriptors(p) > 0);
    p->on_done = cancel_the_next;
    peer_exchange(p, "0A 03 00", "0B 01");
    peer_not_done(p);
    peer_exchange(p, "04 04 00 10 00", "05 01 10 00 02 29");
    peer_done(p, 3, TENDON_OK);
    peer_close(p);
}

static void end_the_link(peer *p, const tendon_gatt_result *result) {
    (void)result;
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_CANCELLED, p->now);
    assert_int_equal(op_read(p), TENDON_ERROR_DISCONNECTED);
}

static void completion_ends_the_link(void **state) {
    (void)state;
    peer *p = peer_open();
    assert_true(op_read(p) > 0);
    assert_true(op_write(p) > 0);
    p->on_done = end_the_link;
    peer_exchange(p, "0A 03 00", "0B 01");
    assert_int_equal(p->completions, 2);
    p->completions = 0;
    assert_int_equal(p->client.queued, 0);
    peer_close(p);
    p = peer_open(); /* and from within disconnected() itself */
    assert_true(op_read(p) > 0);
    assert_true(op_write(p) > 0);
    p->expected = p->sent;
    p->on_done = end_the_link;
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, p->now);
    assert_int_equal(p->completions, 2);
    p->completions = 0;
    peer_close(p);
}

static void lose_the_link(peer *p, const tendon_gatt_value *value) {
    (void)value;
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, p->now);
}

static void value_handler_ends_the_link(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_subscribe(p);
    peer_exchange(p, "12 04 00 01 00", "13");
    peer_done(p, id, TENDON_OK);
    p->on_value = lose_the_link;
    assert_int_equal(peer_send(p, "23 03 00 01 00 01 03 00 01 00 02"), TENDON_OK);
    peer_value(p, 3, "01", false); /* the second item found no client any more */
    assert_int_equal(peer_send(p, "1D 03 00 01"), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(p->bearer.counters.after_close, 1);
    peer_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(requests_leave_one_at_a_time_in_order),
        RUN(full_queue_is_refused),
        RUN(ids_wrap_and_keep_their_order),
        RUN(requests_of_before_the_wrap_keep_their_order),
        RUN(init_checks_its_arguments),
        RUN(cancel_in_the_queue),
        RUN(cancel_on_the_air),
        RUN(cancelled_request_whose_answer_is_malformed),
        RUN(cancelled_mtu_exchange_still_counts),
        RUN(cancel_with_prepared_parts_takes_them_back),
        RUN(cancel_while_execute_is_on_the_air),
        RUN(deadline_of_a_request),
        RUN(deadlines_in_the_past_do_not_hold_the_tick),
        RUN(blocked_request_waits_for_writable),
        RUN(link_that_fails_at_once_is_told_to_the_caller),
        RUN(link_that_fails_later_completes_all),
        RUN(lost_confirmation_ends_the_link),
        RUN(disconnected_completes_in_order_and_once),
        RUN(completion_starts_a_request),
        RUN(completion_cancels_another),
        RUN(completion_ends_the_link),
        RUN(value_handler_ends_the_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
