/* SPDX-License-Identifier: MIT */
/* A radio that requires security: no session and no program gets a connection without it, and no PDU goes over one. */
#include "../../../CSources/linux/socket_link.h"
#include "connection_fixture.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bench *required(tendon_security security, bool service) {
    bench *b = bench_open(service);
    assert_int_equal(tendon_radio_set_security(&b->radio, security), TENDON_OK);
    return b;
}

/** Connected, but not notified. */
static void begin(bench *b) {
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    STEP_UNTIL(&b->loop, b->connection.state == TENDON_CONNECTION_SECURING);
    assert_non_null(b->pair_done);
}

static void expect_silence(const bench *b) {
    uint8_t bytes[32];
    assert_int_equal(recv(b->peer, bytes, sizeof bytes, MSG_DONTWAIT), -1);
    assert_int_equal(b->told_connected + b->connected, 0);
}

static void pairing_done(bench *b, tendon_status status) {
    b->pair_done(b->pair_context, status, tendon_monotonic_ms());
}

static void expect_end(bench *b, tendon_status reason) {
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->told_connected + b->connected, 0);
    assert_int_equal(b->reason, reason);
    assert_int_equal(b->told_reason, reason);
    assert_int_equal(b->connection.attempts[b->connection.attempt - 1].reason, reason);
}

static void levels_are_those_of_the_specification(void **state) {
    (void)state;
    bench *b = bench_open(true);
    assert_int_equal(tendon_radio_set_security(&b->radio, (tendon_security)3), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_radio_set_security(&b->radio, (tendon_security)-1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(b->radio.security, TENDON_SECURITY_NONE);
    up(b); /* nothing is required: notified without a pairing */
    assert_null(b->pair_done);
    tendon_link *link = &b->connection.link;
    static const bool has[2][3] = {{true, false, false}, {true, true, false}};
    for (int encrypted = 0; encrypted < 2; encrypted++) {
        link->encrypted = encrypted != 0;
        for (int level = 0; level < 3; level++) {
            assert_int_equal(tendon_link_has_security(link, (tendon_security)level), has[encrypted][level]);
        }
    }
    bench_close(b);
}

/* Core Spec Vol 3 Part F 3.4.7.1: a Handle Value Notification, 3.4.2.1: an Exchange MTU Request. */
static void before_it_is_encrypted_nothing_passes(void **state) {
    (void)state;
    bench *b = required(TENDON_SECURITY_ENCRYPTED, true);
    begin(b);
    assert_int_equal(send(b->peer, "\x1b\x34\x12\x01", 4, 0), 4);
    assert_int_equal(send(b->peer, "\x02\x00\x02", 3, 0), 3);
    STEP_UNTIL(&b->loop, b->connection.link.received == 2);
    expect_silence(b);
    assert_int_equal(b->link.pair(b->link.context), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(b->link.connect(b->link.context), TENDON_OK); /* one attempt for all callers */
    assert_int_equal(b->attempts, 1);
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_ERROR_WRONG_STATE);
    b->connection.link.encrypted = true;
    pairing_done(b, TENDON_OK);
    assert_int_equal(b->told_connected, 1);
    assert_int_equal(b->connected, 1);
    assert_int_equal(b->paired, 0); /* the session has not asked for it */
    uint8_t bytes[32];
    assert_int_equal(recv(b->peer, bytes, sizeof bytes, MSG_DONTWAIT), -1); /* what came before is not answered */
    assert_int_equal(send(b->peer, "\x02\x00\x02", 3, 0), 3);
    STEP_UNTIL(&b->loop, b->connection.link.received == 3);
    assert_true(recv(b->peer, bytes, sizeof bytes, MSG_DONTWAIT) > 0);
    bench_close(b);
}

static tendon_status noted;

static void note(void *context, const tendon_address *peer, tendon_status reason, uint64_t now) {
    (void)context;
    (void)peer;
    (void)now;
    noted = reason;
}

/* One error, whatever the cause; on_peer_failure has the cause where no pairing has reported it. */
static void each_failure_is_the_same_error(void **state) {
    (void)state;
    static const struct {
        bool service, encrypted;
        tendon_security security;
        tendon_status start, done, noted;
    } rows[] = {
        {false, false, 1, 0, 0, TENDON_RADIO_ERROR_NO_PAIRING_SERVICE},
        {true, false, 1, TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED, 0, 0},
        {true, false, 1, TENDON_RADIO_ERROR_BONDS_FULL, 0, 0},
        {true, false, 1, 0, TENDON_RADIO_ERROR_PAIRING_FAILED, 0},
        {true, false, 1, 0, TENDON_ERROR_TIMEOUT, 0},
        {true, true, 2, 0, 0, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK},  /* by whoever: not with a key of that level */
        {true, false, 2, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK, 0, 0}, /* the agent has neither input nor output */
        {true, false, 2, 0, TENDON_RADIO_ERROR_PAIRING_FAILED, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench *b = required(rows[i].security, rows[i].service);
        bool runs = rows[i].service && rows[i].start == TENDON_OK && rows[i].noted == 0;
        noted = TENDON_OK;
        b->radio.on_peer_failure = note;
        b->pair_start = rows[i].start;
        assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
        STEP_UNTIL(&b->loop, b->connection.link.source.fd >= 0);
        assert_int_equal(b->connection.link.state, TENDON_LINK_CONNECTED);
        b->connection.link.encrypted = rows[i].encrypted; /* by the radio, before connected() */
        if (runs) {
            STEP_UNTIL(&b->loop, b->pair_done != NULL);
            expect_silence(b);
            pairing_done(b, rows[i].done);
        }
        expect_end(b, TENDON_RADIO_ERROR_NOT_SECURE);
        assert_int_equal(b->attempts, 1); /* a repetition would not resolve it */
        if (rows[i].noted != 0) {
            assert_int_equal(noted, rows[i].noted);
        }
        bench_close(b);
    }
}

/* One pairing: if its key is not authenticated, the connection ends. */
static void a_key_that_is_not_authenticated_is_the_end(void **state) {
    (void)state;
    bench *b = required(TENDON_SECURITY_AUTHENTICATED, true);
    noted = TENDON_OK;
    b->radio.on_peer_failure = note;
    begin(b);
    b->connection.link.encrypted = true;
    pairing_done(b, TENDON_OK);
    expect_end(b, TENDON_RADIO_ERROR_NOT_SECURE);
    assert_int_equal(noted, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
    assert_int_equal(b->attempts, 1);
    bench_close(b);
}

/* ---- it ends, or is ended, while the devices pair ---- */

static void the_end_of_a_link_is_a_failure_of_its_security(void **state) {
    (void)state;
    static const struct {
        tendon_status reason, told;
        int attempts;
    } rows[] = {{TENDON_RADIO_ERROR_PEER_CLOSED, TENDON_RADIO_ERROR_NOT_SECURE, 1},
                {TENDON_HCI_ERROR(0x05), TENDON_RADIO_ERROR_NOT_SECURE, 1},
                {TENDON_RADIO_ERROR_OUT_OF_RANGE, TENDON_RADIO_ERROR_OUT_OF_RANGE, 2},
                {TENDON_HCI_ERROR(0x3E), TENDON_HCI_ERROR(0x3E), 2}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench *b = required(TENDON_SECURITY_ENCRYPTED, true);
        b->connection.connect_attempts = 2;
        b->script[1] = rows[i].reason;
        begin(b);
        tendon_socket_link_fail(&b->connection.link, rows[i].reason);
        if (rows[i].attempts == 2) {
            STEP_UNTIL(&b->loop, b->connection.state == TENDON_CONNECTION_WAITING);
            assert_false(b->connection.pairing_started);
            pairing_done(b, TENDON_OK); /* too late */
            assert_int_equal(b->connection.state, TENDON_CONNECTION_WAITING);
            skip_pause(b);
        }
        expect_end(b, rows[i].told);
        assert_int_equal(b->attempts, rows[i].attempts);
        assert_int_equal(b->pair_cancels, rows[i].attempts == 1);
        bench_close(b);
    }
}

/* The radio encrypts with the key of the bond before connected(): the device has lost it. */
static void a_key_that_the_device_has_lost(void **state) {
    (void)state;
    for (int level = 0; level < 2; level++) {
        bench *b = required((tendon_security)level, true);
        b->script[0] = TENDON_RADIO_ERROR_PAIRING_FAILED;
        assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
        expect_end(b, level == 0 ? TENDON_RADIO_ERROR_PAIRING_FAILED : TENDON_RADIO_ERROR_NOT_SECURE);
        bench_close(b);
    }
}

static void it_can_be_cancelled(void **state) {
    (void)state;
    for (int late = 0; late < 2; late++) {
        bench *b = required(TENDON_SECURITY_ENCRYPTED, true);
        begin(b);
        tendon_connection_close(&b->connection);
        if (late) {
            b->connection.link.encrypted = true;
            pairing_done(b, TENDON_OK); /* between the call and its end */
        }
        expect_end(b, TENDON_ERROR_CANCELLED);
        assert_int_equal(b->pair_cancels, !late);
        bench_close(b);
    }
}

/* A connection that was never established (0x3E) is made again without a notification: it must be as secure again. */
static void a_repeated_connection_must_be_secure_too(void **state) {
    (void)state;
    bench *b = required(TENDON_SECURITY_ENCRYPTED, true);
    begin(b);
    b->connection.link.encrypted = true;
    pairing_done(b, TENDON_OK);
    assert_int_equal(b->connected, 1);
    tendon_socket_link_fail(&b->connection.link, TENDON_HCI_ERROR(0x3E));
    STEP_UNTIL(&b->loop, b->connection.state == TENDON_CONNECTION_WAITING);
    b->pair_done = NULL;
    close(b->peer);
    skip_pause(b);
    STEP_UNTIL(&b->loop, b->connection.state == TENDON_CONNECTION_SECURING);
    assert_non_null(b->pair_done);
    uint8_t bytes[32];
    assert_int_equal(recv(b->peer, bytes, sizeof bytes, MSG_DONTWAIT), -1);
    pairing_done(b, TENDON_RADIO_ERROR_PAIRING_FAILED);
    STEP_UNTIL(&b->loop, b->told_closed == 1);
    assert_int_equal(b->connected, 1);
    assert_int_equal(b->reason, TENDON_RADIO_ERROR_NOT_SECURE);
    bench_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_those_of_the_specification),
        cmocka_unit_test(before_it_is_encrypted_nothing_passes),
        cmocka_unit_test(each_failure_is_the_same_error),
        cmocka_unit_test(a_key_that_is_not_authenticated_is_the_end),
        cmocka_unit_test(the_end_of_a_link_is_a_failure_of_its_security),
        cmocka_unit_test(a_key_that_the_device_has_lost),
        cmocka_unit_test(it_can_be_cancelled),
        cmocka_unit_test(a_repeated_connection_must_be_secure_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
