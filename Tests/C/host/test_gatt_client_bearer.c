/* SPDX-License-Identifier: MIT */
/* Requests and responses of one bearer: GATT/CL/GAC, GAT, and the hostile pairings A03 to A17. */
#include "gatt_client_peer.h"

static void gatt_cl_gac_bv_01_c_exchange_mtu(void **state) {
    (void)state;
    static const struct {
        const char *in;
        uint16_t mtu;
    } cases[] = {{"03 17 00", 23}, {"03 18 00", 24}, {"03 40 00", 64}, {"03 41 00", 64}, {"03 FF FF", 64}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        peer *p = peer_open();
        tendon_status id = op_mtu(p);
        peer_exchange(p, "02 40 00", cases[i].in);
        peer_done(p, id, TENDON_OK);
        assert_int_equal(p->result.mtu, cases[i].mtu);
        assert_int_equal(p->bearer.mtu, cases[i].mtu);
        assert_int_equal(op_mtu(p), TENDON_ERROR_WRONG_STATE);
        peer_alive(p);
        peer_close(p);
    }
}

static void exchange_mtu_refused(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_mtu(p);
    peer_exchange(p, "02 40 00", "01 02 00 00 06");
    peer_done(p, id, ATT(0x06));
    assert_int_equal(p->result.mtu, 23);
    peer_alive(p);
    peer_close(p);
}

static void mal_A14_exchange_mtu_responses(void **state) {
    (void)state;
    static const char *const bad[] = {"03", "03 40", "03 40 00 00", "03 00 00", "03 01 00", "03 16 00"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        peer *p = peer_open();
        tendon_status id = op_mtu(p);
        peer_expect(p, "02 40 00");
        assert_true(peer_send(p, bad[i]) < 0);
        assert_int_equal(p->bearer.counters.malformed, 1);
        peer_done(p, id, TENDON_GATT_ERROR_BAD_RESPONSE);
        assert_int_equal(p->bearer.mtu, 23);
        peer_alive(p);
        peer_close(p);
    }
}

/* No answer for 30 s. */
static void check_timeout(peer_operation op, const char *out) {
    peer *p = peer_open();
    tendon_status first = op(p);
    tendon_status second = op_descriptors(p);
    uint64_t sent = p->now;
    peer_expect(p, out);
    p->now = sent + 29999;
    tendon_att_bearer_tick(&p->bearer, p->now);
    peer_not_done(p);
    assert_false(p->bearer.closed);
    p->now = sent + 30000;
    assert_true(tendon_att_bearer_deadline(&p->bearer) == p->now);
    tendon_att_bearer_tick(&p->bearer, p->now);
    assert_true(p->bearer.closed);
    assert_string_equal(p->order, "DDX"); /* every request, then the bearer */
    assert_true(second > first);
    assert_int_equal(p->result.request, second);
    assert_int_equal(p->result.status, TENDON_GATT_ERROR_TRANSACTION_TIMEOUT);
    p->completions = 0;
    assert_int_equal(op_read(p), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(tendon_gatt_write_command(&p->client, 3, NULL, 0), TENDON_ERROR_DISCONNECTED);
    tendon_att_bearer_tick(&p->bearer, p->now + 60000);
    assert_int_equal(p->deaths, 1);
    peer_close(p);
}

static void gatt_cl_gat_bv_01_c_read_times_out(void **state) {
    (void)state;
    check_timeout(op_read, "0A 03 00");
}

static void gatt_cl_gat_bv_02_c_write_times_out(void **state) {
    (void)state;
    check_timeout(op_write, "12 07 00 01 02 03");
}

static void each_request_of_a_procedure_has_its_own_30_s(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_descriptors(p);
    for (uint8_t handle = 4; handle < 11; handle++) {
        uint8_t page[] = {0x05, 0x01, handle, 0x00, 0x02, 0x29};
        p->now += 29999;
        tendon_att_bearer_tick(&p->bearer, p->now);
        assert_int_equal(peer_send_bytes(p, page, sizeof(page)), TENDON_OK);
    }
    p->expected = p->sent;
    p->now += 30000;
    tendon_att_bearer_tick(&p->bearer, p->now);
    peer_done(p, id, TENDON_GATT_ERROR_TRANSACTION_TIMEOUT);
    assert_int_equal(p->result.count, 7); /* the items before stay */
    peer_close(p);
}

static void mal_A09_response_after_the_transaction_timeout(void **state) {
    (void)state;
    static const char *const late[] = {"0B 01", "01 0A 03 00 05", "1B 03 00 01", "1D 03 00 01", "02 40 00", "13", "FF"};
    peer *p = peer_open();
    tendon_status sub = op_subscribe(p);
    peer_exchange(p, "12 04 00 01 00", "13");
    peer_done(p, sub, TENDON_OK);
    tendon_status id = op_read(p);
    peer_expect(p, "0A 03 00");
    p->now += 30000;
    tendon_att_bearer_tick(&p->bearer, p->now);
    peer_done(p, id, TENDON_GATT_ERROR_TRANSACTION_TIMEOUT);
    for (unsigned i = 0; i < sizeof(late) / sizeof(late[0]); i++) {
        assert_int_equal(peer_send(p, late[i]), TENDON_ERROR_DISCONNECTED);
        assert_int_equal(p->bearer.counters.after_close, i + 1);
    }
    assert_int_equal(p->bearer.counters.malformed, 0);
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, p->now);
    peer_close(p); /* nothing was delivered, nothing sent, no confirmation either */
}

static void timeout_of_a_cancelled_request(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_read(p);
    peer_expect(p, "0A 03 00");
    tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now);
    peer_done(p, id, TENDON_ERROR_CANCELLED);
    tendon_att_bearer_tick(&p->bearer, p->now + 30000);
    assert_int_equal(p->deaths, 1);
    peer_close(p);
}

/* A rejected PDU while a read waits: counted in one place, nothing completes, the true answer is still taken. */
static void check_ignored(const char *pdu, tendon_status status, size_t counter) {
    peer *p = peer_open();
    tendon_status id = op_read(p);
    peer_expect(p, "0A 03 00");
    tendon_bearer_counters before = p->bearer.counters;
    tendon_gatt_client client = p->client;
    assert_int_equal(peer_send(p, pdu), status);
    before.received++;
    *(uint32_t *)((uint8_t *)&before + counter) += 1;
    assert_memory_equal(&before, &p->bearer.counters, sizeof(before));
    assert_memory_equal(&client, &p->client, sizeof(client));
    peer_not_done(p);
    peer_exchange(p, NULL, "0B 01");
    peer_done_value(p, id, "01");
    peer_close(p);
}

#define UNEXPECTED TENDON_GATT_ERROR_UNEXPECTED_RESPONSE, offsetof(tendon_bearer_counters, unexpected_response)

static void mal_A03_error_response_that_names_no_request(void **state) {
    (void)state;
    check_ignored("01", TENDON_ERROR_TRUNCATED, offsetof(tendon_bearer_counters, malformed));
}

static void mal_A03_error_response_of_a_wrong_length(void **state) {
    (void)state;
    static const char *const bad[] = {"01 0A", "01 0A 03", "01 0A 03 00", "01 0A 03 00 05 00", "01 0A 03 00 05 00 00"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        peer *p = peer_open();
        tendon_status id = op_read(p);
        peer_expect(p, "0A 03 00");
        assert_true(peer_send(p, bad[i]) < 0);
        assert_int_equal(p->bearer.counters.malformed, 1);
        peer_done(p, id, TENDON_GATT_ERROR_BAD_RESPONSE); /* it names our request: that transaction is over */
        peer_alive(p);
        peer_close(p);
    }
}

static void mal_A04_error_response_of_another_request(void **state) {
    (void)state;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        char pdu[32];
        snprintf(pdu, sizeof(pdu), "01 %02X 03 00 05", opcode);
        if (opcode != 0x0A) {
            check_ignored(pdu, UNEXPECTED);
        }
    }
    check_ignored("01 0C", UNEXPECTED);
}

static void mal_A05_every_error_code(void **state) {
    (void)state;
    peer *p = peer_open();
    for (unsigned code = 0; code < 256; code++) {
        uint8_t pdu[] = {0x01, 0x0A, 0x03, 0x00, (uint8_t)code};
        tendon_status id = op_read(p);
        peer_expect(p, "0A 03 00");
        assert_int_equal(peer_send_bytes(p, pdu, sizeof(pdu)), TENDON_OK);
        peer_done(p, id, ATT(code));
        assert_true(p->result.status < 0);
        assert_int_equal(TENDON_STATUS_CODE(p->result.status), code);
        assert_int_equal(TENDON_STATUS_LAYER(p->result.status), TENDON_LAYER_ATT);
        assert_non_null(tendon_status_name(p->result.status));
    }
    peer_alive(p);
    peer_close(p);
}

static const char *const responses[] = {"01 0A 03 00 05",
                                        "03 40 00",
                                        "05 01 04 00 02 29",
                                        "07 01 00 05 00",
                                        "09 03 01 00 02",
                                        "0B 01",
                                        "0D 01",
                                        "0F 01",
                                        "11 06 01 00 05 00 00 18",
                                        "13",
                                        "17 07 00 00 00 01",
                                        "19",
                                        "21 01 00 01"};

static void mal_A06_response_with_nothing_outstanding(void **state) {
    (void)state;
    peer *p = peer_open();
    for (unsigned i = 0; i < sizeof(responses) / sizeof(responses[0]); i++) {
        assert_int_equal(peer_send(p, responses[i]), TENDON_GATT_ERROR_UNEXPECTED_RESPONSE);
        assert_int_equal(p->bearer.counters.unexpected_response, i + 1);
    }
    assert_int_equal(p->bearer.mtu, 23);
    peer_alive(p);
    peer_close(p);
}

static void mal_A07_response_of_another_procedure(void **state) {
    (void)state;
    for (unsigned i = 1; i < sizeof(responses) / sizeof(responses[0]); i++) {
        if (strncmp(responses[i], "0B", 2) != 0) {
            check_ignored(responses[i], UNEXPECTED);
        }
    }
}

static void mal_A08_two_responses_to_one_request(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status first = op_read(p);
    tendon_status second = op_write(p);
    peer_exchange(p, "0A 03 00", "0B 01");
    peer_done_value(p, first, "01");
    peer_expect(p, "12 07 00 01 02 03");
    assert_int_equal(peer_send(p, "0B 01"), TENDON_GATT_ERROR_UNEXPECTED_RESPONSE);
    assert_int_equal(peer_send(p, "01 0A 03 00 05"), TENDON_GATT_ERROR_UNEXPECTED_RESPONSE);
    assert_int_equal(p->bearer.counters.unexpected_response, 2);
    peer_not_done(p);
    peer_exchange(p, NULL, "13");
    peer_done(p, second, TENDON_OK);
    assert_int_equal(peer_send(p, "13"), TENDON_GATT_ERROR_UNEXPECTED_RESPONSE);
    peer_alive(p);
    peer_close(p);
}

static void mal_A12_second_request_of_the_peer(void **state) {
    (void)state;
    peer *p = peer_open(); /* with no server: each is refused; our own request is not held up */
    tendon_status id = op_read(p);
    peer_expect(p, "0A 03 00");
    assert_int_equal(peer_send(p, "0A 01 00"), TENDON_ERROR_UNSUPPORTED);
    peer_expect(p, "01 0A 00 00 06");
    p->link = TENDON_ERROR_WOULD_BLOCK;
    assert_int_equal(peer_send(p, "0A 01 00"), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(peer_send(p, "10 01 00 FF FF 00 28"), TENDON_ERROR_UNSUPPORTED); /* before the first is answered */
    assert_int_equal(p->bearer.counters.refused_requests, 3);
    p->link = TENDON_OK;
    tendon_att_bearer_writable(&p->bearer, p->now);
    peer_expect(p, "01 0A 00 00 06");
    peer_quiet(p);
    peer_exchange(p, NULL, "0B 01");
    peer_done_value(p, id, "01");
    peer_close(p);
}

static void mal_A15_mtu_request_in_the_middle_of_a_long_read(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_read_long(p);
    peer_exchange(p, "0A 03 00", "0B 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15");
    peer_expect(p, "0C 03 00 16 00");
    assert_int_equal(peer_send(p, "02 40 00"), TENDON_ERROR_UNSUPPORTED); /* no server here */
    peer_expect(p, "01 02 00 00 06");
    assert_int_equal(peer_send(p, "02 40 00"), TENDON_ERROR_UNSUPPORTED); /* nor for the second */
    peer_expect(p, "01 02 00 00 06");
    /* With a server the MTU grows here. What the request was built with decides whether the part is full. */
    p->bearer.mtu = 64;
    peer_exchange(p, NULL, "0D 16 17 18 19 1A 1B 1C 1D 1E 1F 20 21 22 23 24 25 26 27 28 29 2A 2B");
    peer_exchange(p, "0C 03 00 2C 00", "0D 2C");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.length, 45);
    for (uint8_t i = 0; i < 45; i++) {
        assert_int_equal(p->buffer[i], i);
    }
    peer_close(p);
}

/* Tendon opens no enhanced bearers; the equivalent on this one: an invalid request, then the channel is closed
 * immediately. */
static void mal_A17_invalid_request_then_disconnect(void **state) {
    (void)state;
    static const char *const requests[] = {"02", "04 01", "0A", "18", "0E 01 00", "3F", "20"};
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        peer *p = peer_open();
        tendon_status id = op_read(p);
        p->link = TENDON_ERROR_WOULD_BLOCK; /* our refusal cannot leave any more */
        assert_true(peer_send(p, requests[i]) < 0);
        tendon_gatt_client_disconnected(&p->client, TENDON_RADIO_ERROR_PEER_CLOSED, p->now);
        peer_done(p, id, TENDON_RADIO_ERROR_PEER_CLOSED);
        p->link = TENDON_ERROR_DISCONNECTED;
        tendon_att_bearer_writable(&p->bearer, p->now);
        tendon_att_bearer_tick(&p->bearer, p->now + 100000);
        assert_false(p->bearer.closed);
        p->expected = p->sent;
        peer_close(p);
    }
}

static unsigned told;
static uint64_t told_at;

static void on_writable(void *context, uint64_t now) {
    assert_ptr_equal(context, &told);
    told++;
    told_at = now;
}

/* The owner is told that there is room only when the client's own PDUs have left, and the client is open. */
static void room_is_told_after_our_own_pdus(void **state) {
    (void)state;
    peer *p = peer_open();
    told = 0;
    tendon_gatt_client_writable(&p->client, 1); /* nobody asked */
    tendon_gatt_client_set_on_writable(&p->client, on_writable, &told);
    p->link = TENDON_ERROR_WOULD_BLOCK;
    tendon_status id = op_read(p);
    assert_true(id > 0);
    peer_quiet(p);
    tendon_gatt_client_writable(&p->client, 5); /* still no room for the request */
    assert_int_equal(told, 0);
    p->link = TENDON_OK;
    tendon_gatt_client_writable(&p->client, 7);
    assert_int_equal(told, 1);
    assert_int_equal(told_at, 7);
    peer_exchange(p, "0A 03 00", "0B 01");
    peer_done_value(p, id, "01");
    tendon_gatt_client_set_on_writable(&p->client, NULL, NULL);
    tendon_gatt_client_writable(&p->client, 9);
    assert_int_equal(told, 1);
    tendon_gatt_client_set_on_writable(&p->client, on_writable, &told);
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, 10);
    tendon_gatt_client_writable(&p->client, 11);
    assert_int_equal(told, 1);
    free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(gatt_cl_gac_bv_01_c_exchange_mtu),
        RUN(exchange_mtu_refused),
        RUN(mal_A14_exchange_mtu_responses),
        RUN(gatt_cl_gat_bv_01_c_read_times_out),
        RUN(gatt_cl_gat_bv_02_c_write_times_out),
        RUN(each_request_of_a_procedure_has_its_own_30_s),
        RUN(mal_A09_response_after_the_transaction_timeout),
        RUN(timeout_of_a_cancelled_request),
        RUN(mal_A03_error_response_that_names_no_request),
        RUN(mal_A03_error_response_of_a_wrong_length),
        RUN(mal_A04_error_response_of_another_request),
        RUN(mal_A05_every_error_code),
        RUN(mal_A06_response_with_nothing_outstanding),
        RUN(mal_A07_response_of_another_procedure),
        RUN(mal_A08_two_responses_to_one_request),
        RUN(mal_A12_second_request_of_the_peer),
        RUN(mal_A15_mtu_request_in_the_middle_of_a_long_read),
        RUN(mal_A17_invalid_request_then_disconnect),
        RUN(room_is_told_after_our_own_pdus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
