/* SPDX-License-Identifier: MIT */
/* Connections on a scripted radio: retries, reasons, pairing, deadlines, nothing re-entered. */
#include "connection_fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void connects_and_closes(void **state) {
    (void)state;
    bench *b = bench_open(false);
    assert_int_equal(b->connection.connect_timeout_ms, 10000); /* our design, unless changed */
    up(b);
    assert_int_equal(b->connection.state, TENDON_CONNECTION_UP);
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_ERROR_WRONG_STATE);
    assert_ptr_equal(b->client, &b->connection.client);
    b->inside = true;
    tendon_connection_close(&b->connection);
    tendon_connection_close(&b->connection);
    b->inside = false;
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->reason, TENDON_ERROR_CANCELLED);
    assert_int_equal(b->told_reason, TENDON_ERROR_CANCELLED);
    bench_close(b);
    assert_int_equal(b->told_closed, 1);
}

/* A session may ask again while it connects: one attempt, one end; not when it closes or the link is up. */
static void a_session_asks_again_while_it_connects(void **state) {
    (void)state;
    bench *b = bench_open(false);
    assert_int_equal(b->link.connect(b->link.context), TENDON_OK);
    assert_int_equal(b->link.connect(b->link.context), TENDON_OK);
    STEP_UNTIL(&b->loop, b->connected == 1);
    assert_int_equal(b->connection.attempt, 1);
    assert_int_equal(b->link.connect(b->link.context), TENDON_ERROR_WRONG_STATE);
    tendon_connection_close(&b->connection);
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->link.connect(b->link.context), TENDON_OK);
    tendon_connection_close(&b->connection);
    assert_int_equal(b->link.connect(b->link.context), TENDON_ERROR_WRONG_STATE);
    STEP_UNTIL(&b->loop, b->told_closed == 2);
    bench_close(b);
    assert_int_equal(b->told_closed, 2);
}

/* Aborted twice, then up; each reason is kept. */
static void attempts_that_a_retry_mends_are_repeated(void **state) {
    (void)state;
    bench *b = bench_open(false);
    b->script[0] = TENDON_HCI_ERROR(0x3E);
    b->script[1] = TENDON_SYSTEM_ERROR(ECONNABORTED);
    b->at_once[1] = true;
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    run_attempts(b);
    assert_int_equal(b->told_connected, 1);
    assert_int_equal(b->disconnected, 0);
    assert_int_equal(b->connection.attempt, 3);
    assert_int_equal(b->connection.attempts[0].reason, TENDON_HCI_ERROR(0x3E));
    assert_int_equal(b->connection.attempts[1].reason, TENDON_SYSTEM_ERROR(ECONNABORTED));
    assert_int_equal(b->connection.attempts[2].reason, TENDON_OK);
    bench_close(b);
}

static void attempts_are_bounded(void **state) {
    (void)state;
    for (uint32_t most = 1; most <= 12; most++) {
        bench *b = bench_open(false);
        b->connection.connect_attempts = most;
        b->connection.connect_timeout_ms = 3600000;
        for (int i = 0; i < 16; i++) {
            b->script[i] = TENDON_RADIO_ERROR_OUT_OF_RANGE;
        }
        assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
        run_attempts(b);
        int expected = most < TENDON_CONNECTION_ATTEMPTS_MAX ? (int)most : TENDON_CONNECTION_ATTEMPTS_MAX;
        assert_int_equal(b->attempts, expected);
        assert_int_equal(b->told_closed, 1);
        assert_int_equal(b->told_reason, TENDON_RADIO_ERROR_OUT_OF_RANGE);
        bench_close(b);
    }
}

static void failures_that_no_retry_mends_end_it(void **state) {
    (void)state;
    static const tendon_status reasons[] = {TENDON_RADIO_ERROR_NO_CAP_NET_RAW,
                                            TENDON_RADIO_ERROR_NO_ADAPTER,
                                            TENDON_RADIO_ERROR_ADAPTER_DOWN,
                                            TENDON_ERROR_TIMEOUT,
                                            TENDON_HCI_ERROR(0x05),
                                            TENDON_SYSTEM_ERROR(EMFILE)};
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        bench *b = bench_open(false);
        b->script[0] = reasons[i];
        b->connection.connect_timeout_ms = 5;
        assert_false(tendon_connection_retries(reasons[i]));
        assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
        STEP_UNTIL(&b->loop, b->told_closed == 1);
        assert_int_equal(b->attempts, 1);
        assert_int_equal(b->reason, reasons[i]);
        assert_int_equal(b->connection.attempts[0].reason, reasons[i]);
        bench_close(b);
    }
}

static void first_attempt_that_cannot_start_is_an_error(void **state) {
    (void)state;
    bench *b = bench_open(false);
    b->script[0] = TENDON_RADIO_ERROR_ADAPTER_DOWN;
    b->at_once[0] = true;
    assert_int_equal(b->link.connect(b->link.context), TENDON_RADIO_ERROR_ADAPTER_DOWN);
    assert_int_equal(b->connection.state, TENDON_CONNECTION_IDLE);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    assert_int_equal(b->told_closed + b->disconnected, 0);
    bench_close(b);
}

/* The pause would reach beyond the time for the whole connect: the last reason ends it. */
static void no_attempt_starts_after_the_time_is_up(void **state) {
    (void)state;
    bench *b = bench_open(false);
    b->script[0] = TENDON_HCI_ERROR(0x3E);
    b->connection.connect_timeout_ms = 50;
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->attempts, 1);
    assert_int_equal(b->told_reason, TENDON_HCI_ERROR(0x3E));
    bench_close(b);
}

static void all_attempts_share_one_deadline(void **state) {
    (void)state;
    bench *b = bench_open(false);
    b->script[0] = TENDON_HCI_ERROR(0x3E);
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    uint64_t first = b->deadline;
    run_attempts(b);
    assert_int_equal(b->attempts, 2);
    assert_true(b->deadline == first);
    bench_close(b);
}

static void close_between_attempts(void **state) {
    (void)state;
    bench *b = bench_open(false);
    b->script[0] = TENDON_HCI_ERROR(0x3E);
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    STEP_UNTIL(&b->loop, b->connection.state == TENDON_CONNECTION_WAITING);
    b->inside = true;
    b->link.disconnect(b->link.context);
    b->inside = false;
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->reason, TENDON_ERROR_CANCELLED);
    assert_int_equal(b->attempts, 1);
    bench_close(b);
}

static void close_while_connecting_is_not_retried(void **state) {
    (void)state;
    bench *b = bench_open(false);
    b->script[0] = TENDON_ERROR_TIMEOUT; /* an attempt that goes on */
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    b->link.disconnect(b->link.context);
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->reason, TENDON_ERROR_CANCELLED);
    bench_close(b);
}

static void close_from_within_connected(void **state) {
    (void)state;
    bench *b = bench_open(false);
    b->close_on_connect = true;
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->connected, 1);
    assert_int_equal(b->reason, TENDON_ERROR_CANCELLED);
    bench_close(b);
}

static void close_it(void *context, uint64_t now) {
    (void)now;
    tendon_connection_close(context);
}

/* The program closes it before the session hears of it: the session never does. */
static void a_program_that_closes_in_connected(void **state) {
    (void)state;
    bench *b = bench_open(false);
    b->connection.callbacks = (tendon_connection_callbacks){.context = &b->connection, .connected = close_it};
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    STEP_UNTIL(&b->loop, b->connection.state == TENDON_CONNECTION_IDLE);
    assert_int_equal(b->connected, 0);
    bench_close(b);
}

/* A session may have something to do after the end of its link. */
static void a_session_keeps_its_deadline_after_the_end(void **state) {
    (void)state;
    bench *b = bench_open(false);
    up(b);
    tendon_connection_close(&b->connection);
    STEP_UNTIL(&b->loop, b->disconnected == 1);
    b->session_deadline = tendon_monotonic_ms() + 5;
    tendon_connection_refresh(&b->connection);
    assert_true(b->connection.timer.added);
    STEP_UNTIL(&b->loop, b->ticks == 1);
    assert_false(b->connection.timer.added);
    bench_close(b);
}

/* session_link.connect from within disconnected(): answered later from the loop. */
static void reopen_from_within_disconnected(void **state) {
    (void)state;
    bench *b = bench_open(false);
    up(b);
    b->reopen = true;
    close(b->peer);
    STEP_UNTIL(&b->loop, b->connected == 2);
    assert_int_equal(b->told_closed, 1);
    assert_int_equal(b->reason, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(b->attempts, 2);
    bench_close(b);
    assert_int_equal(b->told_closed, 2);
}

static void on_read(void *context, const tendon_gatt_result *result) {
    bench *b = context;
    b->reads++;
    b->read_status = result->status;
}

static void requests_end_with_the_link_before_the_session_is_told(void **state) {
    (void)state;
    bench *b = bench_open(false);
    assert_int_equal(tendon_gatt_read(&b->connection.client, 3, on_read, b, 0), TENDON_ERROR_DISCONNECTED);
    up(b);
    assert_true(tendon_gatt_read(b->client, 3, on_read, b, tendon_monotonic_ms()) > 0);
    assert_int_equal(b->reads, 0);
    close(b->peer);
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->reads, 1);
    assert_int_equal(b->read_status, TENDON_RADIO_ERROR_PEER_CLOSED);
    b->peer = -1;
    bench_close(b);
}

/* A session's outstanding request and one that it cancelled; a program that queues more gives a table. */
static void requests_wait_in_the_table_that_was_given(void **state) {
    (void)state;
    for (size_t given = 0; given < 6; given += 5) {
        tendon_gatt_request table[5];
        bench *b = bench_open(false);
        if (given > 0) {
            tendon_connection_use_requests(&b->connection, table, given);
        }
        up(b);
        for (size_t i = 0; i < (given > 0 ? given : TENDON_CONNECTION_REQUESTS); i++) {
            assert_true(tendon_gatt_read(b->client, 3, NULL, NULL, tendon_monotonic_ms()) > 0);
        }
        assert_int_equal(tendon_gatt_read(b->client, 3, NULL, NULL, tendon_monotonic_ms()),
                         TENDON_GATT_ERROR_QUEUE_FULL);
        bench_close(b);
    }
}

static void response_reaches_its_request(void **state) {
    (void)state;
    bench *b = bench_open(false);
    uint8_t bytes[32];
    up(b);
    assert_true(tendon_gatt_read(b->client, 0x1234, on_read, b, tendon_monotonic_ms()) > 0);
    assert_int_equal(recv(b->peer, bytes, sizeof bytes, 0), 3);
    assert_memory_equal(bytes, "\x0a\x34\x12", 3);
    assert_int_equal(send(b->peer, "\x0b\x01", 2, 0), 2);
    STEP_UNTIL(&b->loop, b->reads == 1);
    assert_int_equal(b->read_status, TENDON_OK);
    bench_close(b);
}

/* A request sent from outside of any callback has its deadline one step later; at 30 s the link goes. */
static void silent_peer_costs_the_link_after_30_s(void **state) {
    (void)state;
    bench *b = bench_open(false);
    up(b);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    assert_true(b->connection.timer.deadline == UINT64_MAX);
    uint64_t now = tendon_monotonic_ms();
    assert_true(tendon_gatt_read(b->client, 3, on_read, b, now) > 0);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    assert_true(b->connection.timer.deadline >= now + TENDON_ATT_TRANSACTION_TIMEOUT_MS);
    assert_true(b->connection.timer.deadline <= tendon_monotonic_ms() + TENDON_ATT_TRANSACTION_TIMEOUT_MS);
    b->connection.timer.expired(b->connection.timer.context, b->connection.timer.deadline); /* 30 s pass */
    assert_int_equal(b->reads, 1);
    assert_int_equal(b->read_status, TENDON_GATT_ERROR_TRANSACTION_TIMEOUT);
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->reason, TENDON_GATT_ERROR_TRANSACTION_TIMEOUT);
    bench_close(b);
}

/* Whatever can change a deadline of the client or the session lets the timer expire, which asks them for the new one.
 */
static void the_timer_expires_after_each_input(void **state) {
    (void)state;
    bench *b = bench_open(true);
    const tendon_link_callbacks *link = &b->connection.link.callbacks;
    uint64_t *timer = &b->connection.timer.deadline;
    b->script[0] = TENDON_HCI_ERROR(0x3E);
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    assert_int_equal(*timer, 0);
    STEP_UNTIL(&b->loop, b->connection.state == TENDON_CONNECTION_WAITING);
    assert_true(*timer > 0);
    tendon_connection_close(&b->connection);
    assert_int_equal(*timer, 0);
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    *timer = UINT64_MAX;
    STEP_UNTIL(&b->loop, b->connected == 1);
    assert_int_equal(b->timer_when_connected, 0);
    *timer = UINT64_MAX;
    link->received(link->context, (const uint8_t *)"\x1b\x03\x00", 3, 9);
    assert_int_equal(*timer, 0);
    *timer = UINT64_MAX;
    link->writable(link->context, 9);
    assert_int_equal(*timer, 0);
    assert_int_equal(b->link.pair(b->link.context), TENDON_OK);
    *timer = UINT64_MAX;
    b->pair_done(b->pair_context, TENDON_OK, 9);
    assert_int_equal(*timer, 0);
    *timer = UINT64_MAX;
    assert_true(tendon_gatt_read(b->client, 3, on_read, b, 9) > 0);
    assert_int_equal(*timer, 0);
    bench_close(b);
}

static void session_deadline_is_kept(void **state) {
    (void)state;
    bench *b = bench_open(false);
    up(b);
    b->session_deadline = tendon_monotonic_ms() + 5;
    tendon_connection_refresh(&b->connection);
    assert_true(b->connection.timer.deadline == b->session_deadline);
    STEP_UNTIL(&b->loop, b->ticks == 1);
    assert_true(b->connection.timer.deadline == UINT64_MAX);
    uint64_t wakeups = b->loop.wakeups;
    assert_int_equal(tendon_loop_run(&b->loop, tendon_monotonic_ms() + 20), TENDON_OK);
    assert_int_equal(b->loop.wakeups, wakeups + 1); /* idle: nothing but the end of the run */
    bench_close(b);
}

static void service_changed_is_passed_on(void **state) {
    (void)state;
    bench *b = bench_open(false);
    uint8_t confirmation = 0;
    up(b);
    tendon_gatt_client_set_service_changed(b->client, 0x0010);
    assert_int_equal(send(b->peer, "\x1d\x10\x00\x01\x00\xff\xff", 7, 0), 7);
    STEP_UNTIL(&b->loop, b->service_changes == 1);
    assert_int_equal(recv(b->peer, &confirmation, 1, 0), 1);
    assert_int_equal(confirmation, 0x1E);
    bench_close(b);
}

static void pairing_without_a_service_is_refused(void **state) {
    (void)state;
    bench *b = bench_open(false);
    b->pair_on_connect = true;
    up(b);
    assert_int_equal(b->pair_status, TENDON_RADIO_ERROR_NO_PAIRING_SERVICE);
    assert_false(b->link.bonded(b->link.context));
    assert_int_equal(b->link.forget(b->link.context), TENDON_RADIO_ERROR_NO_PAIRING_SERVICE);
    /* A device that may be used without pairing tells the two apart. */
    b->connection.radio->bonds_failure = TENDON_ERROR_FILE_PERMISSION;
    assert_int_equal(b->link.pair(b->link.context), TENDON_ERROR_FILE_PERMISSION);
    bench_close(b);
}

static void pairing_is_answered_by_paired(void **state) {
    (void)state;
    bench *b = bench_open(true);
    assert_int_equal(b->link.pair(b->link.context), TENDON_ERROR_WRONG_STATE);
    b->pair_on_connect = true;
    up(b);
    assert_int_equal(b->pair_status, TENDON_OK);
    assert_int_equal(b->link.pair(b->link.context), TENDON_ERROR_BUSY);
    assert_int_equal(b->paired, 0);
    b->pair_done(b->pair_context, TENDON_RADIO_ERROR_PAIRING_FAILED, 5);
    assert_int_equal(b->paired, 1);
    assert_int_equal(b->pair_status, TENDON_RADIO_ERROR_PAIRING_FAILED);
    b->pair_done(b->pair_context, TENDON_OK, 6); /* a second answer is none */
    assert_int_equal(b->paired, 1);
    b->pair_start = TENDON_ERROR_BUSY;
    assert_int_equal(b->link.pair(b->link.context), TENDON_ERROR_BUSY);
    b->pair_done(b->pair_context, TENDON_OK, 7);
    assert_int_equal(b->paired, 1);
    b->bonded = true;
    assert_true(b->link.bonded(b->link.context));
    bench_close(b);
    assert_int_equal(b->pair_cancels, 0);
}

static void pairing_ends_with_the_link(void **state) {
    (void)state;
    bench *b = bench_open(true);
    b->pair_on_connect = true;
    up(b);
    close(b->peer);
    b->peer = -1;
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->pair_cancels, 1);
    b->pair_done(b->pair_context, TENDON_OK, 9); /* too late */
    assert_int_equal(b->paired, 0);
    bench_close(b);
}

/* The write that enables Service Changed is out of sync: nothing further would come, so the connection ends. */
static void service_changed_that_is_out_of_sync_ends_the_connection(void **state) {
    (void)state;
    bench *b = bench_open(false);
    uint8_t bytes[32];
    up(b);
    assert_true(tendon_gatt_enable_service_changed(b->client, 9, 10, tendon_monotonic_ms()) > 0);
    assert_int_equal(recv(b->peer, bytes, sizeof bytes, 0), 5);
    assert_memory_equal(bytes, "\x12\x0a\x00\x02\x00", 5);
    assert_int_equal(send(b->peer, "\x01\x12\x0a\x00\x12", 5, 0), 5);
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->reason, TENDON_ATT_ERROR(TENDON_ATT_DATABASE_OUT_OF_SYNC));
    bench_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connects_and_closes),
        cmocka_unit_test(a_session_asks_again_while_it_connects),
        cmocka_unit_test(attempts_that_a_retry_mends_are_repeated),
        cmocka_unit_test(attempts_are_bounded),
        cmocka_unit_test(failures_that_no_retry_mends_end_it),
        cmocka_unit_test(first_attempt_that_cannot_start_is_an_error),
        cmocka_unit_test(no_attempt_starts_after_the_time_is_up),
        cmocka_unit_test(all_attempts_share_one_deadline),
        cmocka_unit_test(close_between_attempts),
        cmocka_unit_test(close_while_connecting_is_not_retried),
        cmocka_unit_test(close_from_within_connected),
        cmocka_unit_test(a_program_that_closes_in_connected),
        cmocka_unit_test(a_session_keeps_its_deadline_after_the_end),
        cmocka_unit_test(reopen_from_within_disconnected),
        cmocka_unit_test(requests_end_with_the_link_before_the_session_is_told),
        cmocka_unit_test(requests_wait_in_the_table_that_was_given),
        cmocka_unit_test(response_reaches_its_request),
        cmocka_unit_test(silent_peer_costs_the_link_after_30_s),
        cmocka_unit_test(service_changed_that_is_out_of_sync_ends_the_connection),
        cmocka_unit_test(the_timer_expires_after_each_input),
        cmocka_unit_test(session_deadline_is_kept),
        cmocka_unit_test(service_changed_is_passed_on),
        cmocka_unit_test(pairing_without_a_service_is_refused),
        cmocka_unit_test(pairing_is_answered_by_paired),
        cmocka_unit_test(pairing_ends_with_the_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
