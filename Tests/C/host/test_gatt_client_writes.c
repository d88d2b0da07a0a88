/* SPDX-License-Identifier: MIT */
/* Writes: modelled on test purposes GATT/CL/GAW, and hostile answers C07 to C14. */
#include "gatt_client_peer.h"

/* The two parts that 20 bytes take at MTU 23. */
#define PART_1 "07 00 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11"
#define PART_2 "07 00 12 00 12 13"

/* X(name, operation, request, Error Response, code): the first request is refused, and nothing else leaves. */
#define REFUSALS(X)                                                                                                    \
    X(gatt_cl_gaw_bi_02_c, op_write, "12 07 00 01 02 03", "01 12 07 00 01", 0x01)                                      \
    X(gatt_cl_gaw_bi_03_c, op_write, "12 07 00 01 02 03", "01 12 07 00 03", 0x03)                                      \
    X(gatt_cl_gaw_bi_04_c, op_write, "12 07 00 01 02 03", "01 12 07 00 08", 0x08)                                      \
    X(gatt_cl_gaw_bi_05_c, op_write, "12 07 00 01 02 03", "01 12 07 00 05", 0x05)                                      \
    X(gatt_cl_gaw_bi_06_c, op_write, "12 07 00 01 02 03", "01 12 07 00 0C", 0x0C)                                      \
    X(gatt_cl_gaw_bi_07_c, op_write_long, "16 " PART_1, "01 16 07 00 01", 0x01)                                        \
    X(gatt_cl_gaw_bi_08_c, op_write_long, "16 " PART_1, "01 16 07 00 03", 0x03)                                        \
    X(gatt_cl_gaw_bi_09_c, op_write_long, "16 " PART_1, "01 16 07 00 07", 0x07)                                        \
    X(gatt_cl_gaw_bi_11_c, op_write_long, "16 " PART_1, "01 16 07 00 08", 0x08)                                        \
    X(gatt_cl_gaw_bi_12_c, op_write_long, "16 " PART_1, "01 16 07 00 05", 0x05)                                        \
    X(gatt_cl_gaw_bi_13_c, op_write_long, "16 " PART_1, "01 16 07 00 0C", 0x0C)                                        \
    X(gatt_cl_gaw_bi_20_c, op_subscribe, "12 04 00 01 00", "01 12 04 00 01", 0x01)                                     \
    X(gatt_cl_gaw_bi_21_c, op_subscribe, "12 04 00 01 00", "01 12 04 00 03", 0x03)                                     \
    X(gatt_cl_gaw_bi_22_c, op_subscribe, "12 04 00 01 00", "01 12 04 00 08", 0x08)                                     \
    X(gatt_cl_gaw_bi_23_c, op_subscribe, "12 04 00 01 00", "01 12 04 00 05", 0x05)                                     \
    X(gatt_cl_gaw_bi_24_c, op_subscribe, "12 04 00 01 00", "01 12 04 00 0C", 0x0C)                                     \
    X(gatt_cl_gaw_bi_25_c, op_write_long, "16 " PART_1, "01 16 07 00 01", 0x01)                                        \
    X(gatt_cl_gaw_bi_26_c, op_write_long, "16 " PART_1, "01 16 07 00 03", 0x03)                                        \
    X(gatt_cl_gaw_bi_29_c, op_write_long, "16 " PART_1, "01 16 07 00 08", 0x08)                                        \
    X(gatt_cl_gaw_bi_30_c, op_write_long, "16 " PART_1, "01 16 07 00 05", 0x05)                                        \
    X(gatt_cl_gaw_bi_31_c, op_write_long, "16 " PART_1, "01 16 07 00 0C", 0x0C)                                        \
    /* Their purposes are not in public unit tests; ours: a value of a wrong length, refused. */                       \
    X(gatt_cl_gaw_bi_33_c, op_write, "12 07 00 01 02 03", "01 12 07 00 0D", 0x0D)                                      \
    X(gatt_cl_gaw_bi_34_c, op_write_long, "16 " PART_1, "01 16 07 00 0D", 0x0D)

static void check_refusal(peer_operation op, const char *out, const char *in, uint8_t code) {
    peer *p = peer_open();
    tendon_status id = op(p);
    peer_exchange(p, out, in);
    peer_done(p, id, ATT(code));
    peer_alive(p);
    peer_close(p);
}

#define DEFINE(name, op, out, in, code)                                                                                \
    static void name(void **state) {                                                                                   \
        (void)state;                                                                                                   \
        check_refusal(op, out, in, code);                                                                              \
    }
REFUSALS(DEFINE)

static void gatt_cl_gaw_bv_01_c_write_without_response(void **state) {
    (void)state;
    static const uint8_t value[21] = {1, 2, 3};
    peer *p = peer_open();
    tendon_status id = op_read(p); /* commands pass the request that waits */
    peer_expect(p, "0A 03 00");
    assert_int_equal(tendon_gatt_write_command(&p->client, 7, value, 3), TENDON_OK);
    peer_expect(p, "52 07 00 01 02 03");
    assert_int_equal(tendon_gatt_write_command(&p->client, 7, NULL, 0), TENDON_OK);
    peer_expect(p, "52 07 00");
    assert_int_equal(tendon_gatt_write_command(&p->client, 7, value, 20), TENDON_OK);
    peer_expect(p, "52 07 00 01 02 03 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
    assert_int_equal(tendon_gatt_write_command(&p->client, 7, value, 21), TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(tendon_gatt_write_command(&p->client, 0, value, 1), TENDON_ERROR_INVALID_ARGUMENT);
    p->link = TENDON_ERROR_WOULD_BLOCK;
    assert_int_equal(tendon_gatt_write_command(&p->client, 7, value, 3), TENDON_ERROR_WOULD_BLOCK);
    p->link = TENDON_OK;
    peer_exchange(p, NULL, "0B 01");
    peer_done_value(p, id, "01");
    peer_close(p);
}

static void gatt_cl_gaw_bv_03_c_write(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_write(p);
    peer_exchange(p, "12 07 00 01 02 03", "13");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.handle, 7);
    peer_close(p);
}

static void write_that_does_not_fit(void **state) {
    (void)state;
    static const uint8_t value[513] = {0};
    peer *p = peer_open();
    assert_int_equal(tendon_gatt_write(&p->client, 7, value, 21, peer_on_done, p, p->now),
                     TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_int_equal(tendon_gatt_write(&p->client, 7, value, 513, peer_on_done, p, p->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    peer_not_done(p);
    /* Queued behind another it completes with the error instead, and an MTU exchange before it can make it fit. */
    tendon_status mtu = op_mtu(p);
    tendon_status fits = tendon_gatt_write(&p->client, 7, value, 21, peer_on_done, p, p->now);
    tendon_status does_not = tendon_gatt_write(&p->client, 7, value, 62, peer_on_done, p, p->now);
    peer_exchange(p, "02 40 00", "03 40 00");
    peer_done(p, mtu, TENDON_OK);
    peer_expect(p, "12 07 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
    assert_int_equal(peer_send(p, "13"), TENDON_OK);
    assert_int_equal(p->completions, 2); /* the write, and the one after it that cannot be sent */
    assert_int_equal(p->result.request, does_not);
    assert_int_equal(p->result.status, TENDON_ERROR_BUFFER_TOO_SMALL);
    assert_true(does_not > fits);
    p->completions = 0;
    peer_alive(p);
    peer_close(p);
}

static void gatt_cl_gaw_bv_05_c_write_long(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_write_long(p);
    peer_exchange(p, "16 " PART_1, "17 " PART_1);
    peer_exchange(p, "16 " PART_2, "17 " PART_2);
    peer_exchange(p, "18 01", "19");
    peer_done(p, id, TENDON_OK);
    static const uint8_t value[] = {0xAA};
    id = tendon_gatt_write_long(&p->client, 7, 511, value, 1, peer_on_done, p, p->now);
    peer_exchange(p, "16 07 00 FF 01 AA", "17 07 00 FF 01 AA");
    peer_exchange(p, "18 01", "19");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(tendon_gatt_write_long(&p->client, 7, 512, value, 1, peer_on_done, p, p->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    id = tendon_gatt_write_long(&p->client, 7, 0, NULL, 0, peer_on_done, p, p->now); /* an empty value */
    peer_exchange(p, "16 07 00 00 00", "17 07 00 00 00");
    peer_exchange(p, "18 01", "19");
    peer_done(p, id, TENDON_OK);
    peer_close(p);
}

static void gatt_cl_gaw_bv_08_c_write_descriptor(void **state) {
    (void)state;
    static const uint8_t value[] = {'a'};
    peer *p = peer_open();
    tendon_status id = tendon_gatt_write(&p->client, 5, value, 1, peer_on_done, p, p->now);
    peer_exchange(p, "12 05 00 61", "13");
    peer_done(p, id, TENDON_OK);
    peer_close(p);
}

static void gatt_cl_gaw_bv_09_c_write_long_descriptor(void **state) {
    (void)state;
    static const uint8_t value[19] = {0x61, 0x62};
    peer *p = peer_open();
    tendon_status id = tendon_gatt_write_long(&p->client, 5, 0, value, 19, peer_on_done, p, p->now);
    peer_exchange(p, "16 05 00 00 00 61 62 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00",
                  "17 05 00 00 00 61 62 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
    peer_exchange(p, "16 05 00 12 00 00", "17 05 00 12 00 00");
    peer_exchange(p, "18 01", "19");
    peer_done(p, id, TENDON_OK);
    peer_close(p);
}

/* A long write does not look at what comes back (Core Spec Vol 3 Part G 4.9.4): its progress is what it sent. */
static void mal_C07_prepare_write_response_differs(void **state) {
    (void)state;
    static const char *const responses[] = {
        "17 08 00 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11", /* other handle */
        "17 07 00 01 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11", /* other offset */
        "17 07 00 00 00 FF 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11", /* other value */
        "17 07 00 00 00 00 01 02",                                              /* shorter */
        "17 07 00 00 00",                                                       /* empty */
    };
    for (size_t i = 0; i < sizeof(responses) / sizeof(responses[0]); i++) {
        peer *p = peer_open();
        tendon_status id = op_write_long(p);
        peer_exchange(p, "16 " PART_1, responses[i]);
        peer_exchange(p, "16 " PART_2, "17 " PART_2);
        peer_exchange(p, "18 01", "19");
        peer_done(p, id, TENDON_OK);
        assert_int_equal(p->bearer.counters.malformed, 0);
        peer_alive(p);
        peer_close(p);
    }
}

static void mal_C08_prepare_write_response_that_looks_split(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_write_long(p);
    peer_exchange(p, "16 " PART_1, "17 07 00 00 00 00 01 02 03");
    peer_exchange(p, "16 " PART_2, "17 07 00 FF FF");
    peer_exchange(p, "18 01", "19");
    peer_done(p, id, TENDON_OK);
    id = op_write_long(p); /* the rest of a response that was split comes after Execute Write is sent */
    peer_exchange(p, "16 " PART_1, "17 07 00 00 00 00 01");
    peer_exchange(p, "16 " PART_2, "17 " PART_2);
    peer_expect(p, "18 01");
    assert_int_equal(peer_send(p, "17 07 00 02 00 02 03"), TENDON_GATT_ERROR_UNEXPECTED_RESPONSE);
    assert_int_equal(p->bearer.counters.unexpected_response, 1);
    peer_exchange(p, NULL, "19");
    peer_done(p, id, TENDON_OK);
    id = op_write_long(p); /* shorter than a header: the server may hold the part all the same */
    peer_expect(p, "16 " PART_1);
    assert_int_equal(peer_send(p, "17 07 00 00"), TENDON_ERROR_TRUNCATED);
    peer_not_done(p);
    unsigned malformed = p->bearer.counters.malformed;
    peer_exchange(p, "18 00", "19");
    peer_done(p, id, TENDON_GATT_ERROR_BAD_RESPONSE);
    assert_int_equal(p->bearer.counters.malformed, malformed); /* counted once */
    id = op_write_long(p); /* the same for one that was cancelled: it completes once, and is taken back */
    peer_expect(p, "16 " PART_1);
    assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now), TENDON_OK);
    peer_done(p, id, TENDON_ERROR_CANCELLED);
    assert_int_equal(peer_send(p, "17 07 00 00"), TENDON_ERROR_TRUNCATED);
    peer_exchange(p, "18 00", "19");
    peer_not_done(p);
    peer_alive(p);
    peer_close(p);
}

static void mal_C09_prepare_queue_full(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_write_long(p); /* on the first part: nothing to take back */
    peer_exchange(p, "16 " PART_1, "01 16 07 00 09");
    peer_done(p, id, ATT(0x09));
    id = op_write_long(p); /* on the second */
    peer_exchange(p, "16 " PART_1, "17 " PART_1);
    peer_exchange(p, "16 " PART_2, "01 16 07 00 09");
    peer_not_done(p);
    peer_exchange(p, "18 00", "19");
    peer_done(p, id, ATT(0x09));
    id = op_write_long(p); /* and the cancel refused as well: the first error stands */
    peer_exchange(p, "16 " PART_1, "17 " PART_1);
    peer_exchange(p, "16 " PART_2, "01 16 07 00 09");
    peer_exchange(p, "18 00", "01 18 00 00 0E");
    peer_done(p, id, ATT(0x09));
    peer_alive(p);
    peer_close(p);
}

static void mal_C10_write_response_with_trailing_bytes(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_write(p);
    peer_expect(p, "12 07 00 01 02 03");
    assert_int_equal(peer_send(p, "13 00"), TENDON_ERROR_MALFORMED);
    assert_int_equal(p->bearer.counters.malformed, 1);
    peer_done(p, id, TENDON_GATT_ERROR_BAD_RESPONSE);
    peer_alive(p);
    peer_close(p);
}

static void mal_C11_execute_write_refused_after_accepted_parts(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_write_long(p);
    peer_exchange(p, "16 " PART_1, "17 " PART_1);
    peer_exchange(p, "16 " PART_2, "17 " PART_2);
    peer_exchange(p, "18 01", "01 18 07 00 0D");
    peer_done(p, id, ATT(0x0D)); /* the server's queue is empty after any Execute Write */
    assert_int_equal(p->result.handle, 7);
    peer_alive(p);
    peer_close(p);
}

/* The client itself never tries again: each call gets one answer, however often the caller calls. */
static void mal_C12_security_that_is_never_enough(void **state) {
    (void)state;
    static const struct {
        const char *in;
        uint8_t code;
    } cases[] = {{"01 0A 03 00 05", 0x05}, {"01 0A 03 00 0F", 0x0F}, {"01 0A 03 00 0C", 0x0C}};
    peer *p = peer_open();
    for (unsigned i = 0; i < 300; i++) {
        tendon_status id = op_read(p);
        peer_exchange(p, "0A 03 00", cases[i % 3].in);
        peer_done(p, id, ATT(cases[i % 3].code));
        peer_quiet(p);
    }
    assert_int_equal(p->sent, 300);
    peer_alive(p);
    peer_close(p);
}

static void mal_C13_link_lost_between_prepare_and_execute(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = op_write_long(p);
    tendon_status next = op_read(p);
    peer_exchange(p, "16 " PART_1, "17 " PART_1);
    peer_expect(p, "16 " PART_2);
    tendon_gatt_client_disconnected(&p->client, TENDON_RADIO_ERROR_PEER_CLOSED, p->now);
    assert_int_equal(p->completions, 2);
    assert_int_equal(p->result.request, next);
    assert_int_equal(p->result.status, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_true(id > 0);
    p->completions = 0;
    peer_quiet(p); /* no Execute on a dead link */
    assert_int_equal(op_read(p), TENDON_ERROR_DISCONNECTED);
    peer_close(p);
}

/* A server that is kept busy for ever: each procedure ends within its bound of requests, whatever is answered. */
static void mal_C14_every_procedure_is_bounded(void **state) {
    (void)state;
    static const struct {
        peer_operation op;
        const char *in;
        unsigned bound;
    } cases[] = {
        {op_read_long, "0D 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15", 24},
        {op_write_long, "17 07 00 00 00 00", 3},
        {op_services, "11 06 01 00 05 00 00 18", 2},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        peer *p = peer_open();
        assert_true(cases[i].op(p) > 0);
        unsigned rounds = 0;
        while (p->completions == 0) {
            assert_true(++rounds <= cases[i].bound);
            uint8_t opcode = p->client.in_flight_opcode;
            const char *answer = opcode == 0x0A ? "0B 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15"
                                 : opcode == 0x18 ? "19"
                                                  : cases[i].in;
            peer_send(p, answer);
        }
        assert_int_equal(rounds, cases[i].bound);
        assert_int_equal(p->sent, cases[i].bound);
        p->completions = 0;
        p->expected = p->sent;
        peer_alive(p);
        peer_close(p);
    }
}

#define LIST(name, op, out, in, code) RUN(name),

int main(void) {
    const struct CMUnitTest tests[] = {
        REFUSALS(LIST) RUN(gatt_cl_gaw_bv_01_c_write_without_response),
        RUN(gatt_cl_gaw_bv_03_c_write),
        RUN(write_that_does_not_fit),
        RUN(gatt_cl_gaw_bv_05_c_write_long),
        RUN(gatt_cl_gaw_bv_08_c_write_descriptor),
        RUN(gatt_cl_gaw_bv_09_c_write_long_descriptor),
        RUN(mal_C07_prepare_write_response_differs),
        RUN(mal_C08_prepare_write_response_that_looks_split),
        RUN(mal_C09_prepare_queue_full),
        RUN(mal_C10_write_response_with_trailing_bytes),
        RUN(mal_C11_execute_write_refused_after_accepted_parts),
        RUN(mal_C12_security_that_is_never_enough),
        RUN(mal_C13_link_lost_between_prepare_and_execute),
        RUN(mal_C14_every_procedure_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
