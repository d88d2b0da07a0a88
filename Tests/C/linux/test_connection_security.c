/* SPDX-License-Identifier: MIT */
/* A device refuses requests for lack of security: the connection pairs, once, and the request is sent once more. */
#include "connection_fixture.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void on_read(void *context, const tendon_gatt_result *result) {
    bench *b = context;
    b->reads++;
    b->read_status = result->status;
}

/** The device receives a Read Request of 0x1234, and responds. */
static void respond(bench *b, const char *response, size_t length) {
    uint8_t bytes[32];
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    assert_int_equal(recv(b->peer, bytes, sizeof bytes, MSG_DONTWAIT), 3);
    assert_memory_equal(bytes, "\x0a\x34\x12", 3);
    assert_int_equal(send(b->peer, response, length, 0), (ssize_t)length);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
}

static void expect_no_request(bench *b) {
    uint8_t bytes[32];
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    assert_int_equal(recv(b->peer, bytes, sizeof bytes, MSG_DONTWAIT), -1);
}

static void refuse(bench *b, uint8_t error) {
    const char response[] = {1, 0x0A, 0x34, 0x12, (char)error};
    respond(b, response, sizeof response);
}

static void start_read(bench *b) {
    assert_true(tendon_gatt_read(b->client, 0x1234, on_read, b, tendon_monotonic_ms()) > 0);
}

static void pairing_done(bench *b, tendon_status status) {
    b->pair_done(b->pair_context, status, tendon_monotonic_ms());
}

static void the_request_is_sent_once_more(void **state) {
    (void)state;
    static const struct {
        uint8_t first, second; /* 0: it succeeds */
    } rows[] = {{0x05, 0}, {0x0F, 0}, {0x05, 0x05}, {0x0F, 0x0C}, {0x05, 0x0F}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench *b = bench_open(true);
        up(b);
        start_read(b);
        refuse(b, rows[i].first);
        assert_non_null(b->pair_done);
        expect_no_request(b);
        assert_int_equal(b->reads, 0);
        pairing_done(b, TENDON_OK);
        if (rows[i].second == 0) {
            respond(b, "\x0b\x01", 2);
        } else {
            refuse(b, rows[i].second);
        }
        assert_int_equal(b->reads, 1);
        assert_int_equal(b->read_status, rows[i].second == 0 ? TENDON_OK : TENDON_ATT_ERROR(rows[i].second));
        assert_int_equal(b->paired, 0); /* the session has asked for nothing */
        pairing_done(b, TENDON_OK);     /* a second result is none */
        expect_no_request(b);
        bench_close(b);
        assert_int_equal(b->pair_cancels, 0);
    }
}

static void a_failed_pairing_is_the_last_one(void **state) {
    (void)state;
    bench *b = bench_open(true);
    up(b);
    start_read(b);
    refuse(b, 0x05);
    pairing_done(b, TENDON_RADIO_ERROR_PAIRING_FAILED);
    assert_int_equal(b->reads, 1);
    assert_int_equal(b->read_status, TENDON_ATT_ERROR(0x05));
    b->pair_done = NULL;
    start_read(b);
    refuse(b, 0x05);
    assert_int_equal(b->reads, 2);
    assert_null(b->pair_done);
    bench_close(b);
}

typedef void (*change)(bench *b);

static void no_change(bench *b) {
    (void)b;
}

static void not_allowed(bench *b) {
    b->pair_start = TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED;
}

/** A better key needs a new connection. */
static void encrypted(bench *b) {
    b->connection.link.encrypted = true;
}

static void closing(bench *b) {
    b->connection.closing = true;
}

static void nobody_pairs(void **state) {
    (void)state;
    static const struct {
        bool service, session_pairs;
        change change;
        uint8_t error;
    } rows[] = {{false, false, no_change, 0x05}, {true, true, no_change, 0x05}, {true, false, not_allowed, 0x05},
                {true, false, encrypted, 0x05},  {true, false, closing, 0x0F},  {true, false, no_change, 0x0C},
                {true, false, encrypted, 0x0F},  {true, true, encrypted, 0x05}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench *b = bench_open(rows[i].service);
        tendon_session_inputs inputs = *b->connection.inputs;
        inputs.pairs = rows[i].session_pairs;
        tendon_connection_attach(&b->connection, &inputs, b);
        up(b);
        start_read(b);
        rows[i].change(b);
        refuse(b, rows[i].error);
        assert_int_equal(b->reads, 1);
        assert_int_equal(b->read_status, TENDON_ATT_ERROR(rows[i].error));
        assert_int_equal(b->pair_done != NULL, rows[i].change == not_allowed);
        assert_false(b->connection.pairing_started);
        b->connection.closing = false;
        bench_close(b);
    }
}

/* The session has asked for what the connection has: its answer is not waited for. */
static void a_session_that_asks_again_changes_nothing(void **state) {
    (void)state;
    bench *b = bench_open(true);
    up(b);
    b->connection.link.encrypted = true;
    assert_int_equal(b->link.pair(b->link.context), TENDON_OK);
    start_read(b);
    refuse(b, 0x05);
    assert_int_equal(b->read_status, TENDON_ATT_ERROR(0x05));
    pairing_done(b, TENDON_OK);
    assert_int_equal(b->paired, 1);
    bench_close(b);
}

/* A program without a session. */
static void without_a_session(void **state) {
    (void)state;
    bench *b = bench_open(true);
    tendon_connection_attach(&b->connection, NULL, NULL);
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    STEP_UNTIL(&b->loop, b->told_connected == 1);
    b->client = &b->connection.client;
    start_read(b);
    refuse(b, 0x05);
    pairing_done(b, TENDON_OK);
    respond(b, "\x0b\x01", 2);
    assert_int_equal(b->reads, 1);
    assert_int_equal(b->read_status, TENDON_OK);
    assert_int_equal(tendon_connection_pair(&b->connection), TENDON_OK);
    pairing_done(b, TENDON_OK);
    assert_int_equal(b->told_paired, 1);
    tendon_connection_close(&b->connection);
    for (int i = 0; i < 4; i++) {
        b->disconnected = 1; /* the fixture expects the session to be told first */
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    }
    assert_int_equal(b->told_closed, 1);
    bench_close(b);
}

/* One pairing for the request and the session, whichever comes first. */
static void the_session_pairs_at_the_same_time(void **state) {
    (void)state;
    for (int session_first = 0; session_first < 2; session_first++) {
        bench *b = bench_open(true);
        up(b);
        if (session_first) {
            assert_int_equal(b->link.pair(b->link.context), TENDON_OK);
            b->pair_start = TENDON_ERROR_BUSY; /* the service would be, if it were asked again */
        }
        start_read(b);
        refuse(b, 0x05);
        b->pair_start = TENDON_ERROR_BUSY;
        if (!session_first) {
            assert_int_equal(b->link.pair(b->link.context), TENDON_OK);
        }
        assert_int_equal(b->link.pair(b->link.context), TENDON_ERROR_BUSY);
        expect_no_request(b);
        pairing_done(b, TENDON_OK);
        assert_int_equal(b->paired, 1);
        assert_int_equal(b->pair_status, TENDON_OK);
        respond(b, "\x0b\x01", 2);
        assert_int_equal(b->read_status, TENDON_OK);
        bench_close(b);
    }
}

/* The call of a program joins the pairing of a request, and may leave it. */
static void a_program_joins_the_pairing_of_a_request(void **state) {
    (void)state;
    for (int leaves = 0; leaves < 2; leaves++) {
        bench *b = bench_open(true);
        tendon_connection *connection = &b->connection;
        assert_int_equal(tendon_connection_pair(connection), TENDON_ERROR_WRONG_STATE);
        up(b);
        start_read(b);
        refuse(b, 0x05);
        b->pair_start = TENDON_ERROR_BUSY; /* the service would be, if it were asked again */
        b->inside = true;
        assert_int_equal(tendon_connection_pair(connection), TENDON_OK);
        assert_int_equal(tendon_connection_pair(connection), TENDON_ERROR_BUSY);
        if (leaves) {
            tendon_connection_leave_pairing(connection);
            tendon_connection_leave_pairing(connection);
        }
        b->inside = false;
        assert_int_equal(b->pair_cancels, 0);
        pairing_done(b, TENDON_OK);
        assert_int_equal(b->told_paired, !leaves);
        respond(b, "\x0b\x01", 2);
        assert_int_equal(b->read_status, TENDON_OK);
        b->pair_start = TENDON_OK; /* alone: with its caller the pairing ends */
        assert_int_equal(tendon_connection_pair(connection), TENDON_OK);
        if (leaves) {
            tendon_connection_leave_pairing(connection);
        }
        assert_int_equal(b->pair_cancels, leaves);
        pairing_done(b, TENDON_RADIO_ERROR_PAIRING_FAILED);
        assert_int_equal(b->told_paired, leaves ? 0 : 2);
        assert_int_equal(b->pair_status, leaves ? TENDON_OK : TENDON_RADIO_ERROR_PAIRING_FAILED);
        bench_close(b);
    }
}

/* ---- it ends while the devices pair ---- */

static void by_peer(bench *b) {
    close(b->peer);
    b->peer = -1;
    STEP_UNTIL(&b->loop, b->told_closed == 1);
}

static void by_close(bench *b) {
    tendon_connection_close(&b->connection);
    STEP_UNTIL(&b->loop, b->told_closed == 1);
}

static void the_link_ends_while_they_pair(void **state) {
    (void)state;
    static const struct {
        change end;
        tendon_status reason;
    } rows[] = {{by_peer, TENDON_RADIO_ERROR_PEER_CLOSED}, {by_close, TENDON_ERROR_CANCELLED}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench *b = bench_open(true);
        up(b);
        start_read(b);
        refuse(b, 0x05);
        rows[i].end(b);
        assert_int_equal(b->pair_cancels, 1);
        assert_int_equal(b->reads, 1);
        assert_int_equal(b->read_status, rows[i].reason);
        assert_int_equal(b->reason, rows[i].reason);
        pairing_done(b, TENDON_OK); /* too late */
        assert_int_equal(b->paired, 0);
        assert_int_equal(b->reads, 1);
        bench_close(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_request_is_sent_once_more),
        cmocka_unit_test(a_failed_pairing_is_the_last_one),
        cmocka_unit_test(nobody_pairs),
        cmocka_unit_test(a_session_that_asks_again_changes_nothing),
        cmocka_unit_test(without_a_session),
        cmocka_unit_test(the_session_pairs_at_the_same_time),
        cmocka_unit_test(a_program_joins_the_pairing_of_a_request),
        cmocka_unit_test(the_link_ends_while_they_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
