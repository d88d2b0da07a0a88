/* SPDX-License-Identifier: MIT */
/* connect() with all its attempts, in simulated time: a table of radio results and their outcomes, row by row. */
#include "attempt_bench.h"

#include <errno.h>
#include <string.h>

/** One attempt that the radio took. */
static void play(attempt_bench *b) {
    const turn *its = b->turn++;
    assert_true(its->fate != NOTHING);
    b->now += its->after_ms;
    if (its->fate == FAILS) {
        attempt_bench_end_link(b, its->reason);
        return;
    }
    attempt_bench_open_wire(b);
    b->connection.link.state = TENDON_LINK_OPEN;
    b->connection.link.callbacks.connected(b->connection.link.callbacks.context, b->now);
    assert_int_equal(b->radio.scan_pauses, 0); /* the scan goes on as soon as the link is up */
    if (its->fate == LOST) {
        attempt_bench_receive(b, "\x03\x40\x00", 3); /* Exchange MTU Response */
    }
    if (its->fate != STAYS) {
        b->now += 100;
        attempt_bench_end_link(b, its->reason);
    }
}

/** Until the connection is kept or its end is reported. */
static void run(attempt_bench *b) {
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    b->now = b->connection.connect_began;
    for (int i = 0; i < 40; i++) {
        if (b->connection.state == TENDON_CONNECTION_WAITING) {
            assert_true(b->connection.timer.deadline == b->connection.retry_at && b->connection.retry_at > b->now);
            assert_int_equal(b->radio.scan_pauses, !b->connection.background); /* also between two attempts */
            b->now = b->connection.retry_at;
            b->connection.timer.expired(b->connection.timer.context, b->now);
        } else if (b->connection.state == TENDON_CONNECTION_CONNECTING) {
            play(b);
        } else {
            return;
        }
    }
    fail_msg("it does not end");
}

typedef struct row {
    const char *name;
    turn script[10];
    uint32_t attempts_allowed, timeout_ms; /**< 0: the default */
    bool chatty;
    /* what is to come of it */
    bool up;
    tendon_status told; /**< closed() with this, unless up */
    int connected;      /**< calls of connected() */
    uint32_t attempts;
    tendon_status reasons[TENDON_CONNECTION_ATTEMPTS_MAX];
    uint32_t began_ms[TENDON_CONNECTION_ATTEMPTS_MAX]; /**< pauses: 100 + 7, 200 + 1007 % 101, 400 + 2007 % 201, ... */
} row;

enum { FIRST = 107, SECOND = 298, THIRD = 598 };

static const row rows[] = {
    {.name = "at once", .script = {{STAYS, 0, 40}}, .up = true, .connected = 1, .attempts = 1},
    {.name = "0x3E once",
     .script = {{FAILS, NEVER, 60}, {STAYS, 0, 40}},
     .up = true,
     .connected = 1,
     .attempts = 2,
     .reasons = {NEVER},
     .began_ms = {0, 60 + FIRST}},
    {.name = "every reason that a retry mends",
     .script = {{FAILS, TENDON_HCI_ERROR(0x02), 10},
                {FAILS, TENDON_SYSTEM_ERROR(ECONNABORTED), 20},
                {REFUSED, TENDON_ERROR_BUSY, 0},
                {STAYS, 0, 40}},
     .up = true,
     .connected = 1,
     .attempts = 4,
     .reasons = {TENDON_HCI_ERROR(0x02), TENDON_SYSTEM_ERROR(ECONNABORTED), TENDON_ERROR_BUSY},
     .began_ms = {0, 10 + FIRST, 10 + FIRST + 20 + SECOND, 10 + FIRST + 20 + SECOND + THIRD}},
    {.name = "as often as is allowed",
     .script = {{FAILS, NEVER, 0}, {FAILS, NEVER, 0}, {FAILS, NEVER, 0}, {FAILS, TENDON_HCI_ERROR(0x08), 0}},
     .told = TENDON_HCI_ERROR(0x08),
     .attempts = 4,
     .reasons = {NEVER, NEVER, NEVER, TENDON_HCI_ERROR(0x08)},
     .began_ms = {0, FIRST, FIRST + SECOND, FIRST + SECOND + THIRD}},
    {.name = "one is allowed",
     .script = {{FAILS, NEVER, 5}},
     .attempts_allowed = 1,
     .told = NEVER,
     .attempts = 1,
     .reasons = {NEVER}},
    {.name = "what no retry mends",
     .script = {{FAILS, NEVER, 5}, {FAILS, TENDON_RADIO_ERROR_NO_CAP_NET_RAW, 5}},
     .told = TENDON_RADIO_ERROR_NO_CAP_NET_RAW,
     .attempts = 2,
     .reasons = {NEVER, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
     .began_ms = {0, 5 + FIRST}},
    {.name = "refused by the radio itself, and what no retry mends",
     .script = {{FAILS, NEVER, 5}, {REFUSED, TENDON_RADIO_ERROR_NO_CAP_NET_RAW, 0}},
     .told = TENDON_RADIO_ERROR_NO_CAP_NET_RAW,
     .attempts = 2,
     .reasons = {NEVER, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
     .began_ms = {0, 5 + FIRST}},
    {.name = "no time for another",
     .script = {{FAILS, NEVER, 5}, {FAILS, NEVER, 5}},
     .timeout_ms = 300,
     .told = NEVER,
     .attempts = 2,
     .reasons = {NEVER, NEVER},
     .began_ms = {0, 5 + FIRST}},
    {.name = "0x3E after connected: nobody is told",
     .script = {{VANISHES, NEVER, 30}, {VANISHES, NEVER, 30}, {STAYS, 0, 40}},
     .up = true,
     .connected = 1,
     .attempts = 3,
     .reasons = {NEVER, NEVER},
     .began_ms = {0, 130 + FIRST, 260 + FIRST + SECOND}},
    {.name = "0x3E after connected, then other failures",
     .script = {{VANISHES, NEVER, 30}, {FAILS, TENDON_RADIO_ERROR_OUT_OF_RANGE, 70}, {STAYS, 0, 40}},
     .up = true,
     .connected = 1,
     .attempts = 3,
     .reasons = {NEVER, TENDON_RADIO_ERROR_OUT_OF_RANGE},
     .began_ms = {0, 130 + FIRST, 200 + FIRST + SECOND}},
    {.name = "0x3E after connected, each time",
     .script = {{VANISHES, NEVER, 0}, {VANISHES, NEVER, 0}, {VANISHES, NEVER, 0}, {VANISHES, NEVER, 0}},
     .told = NEVER,
     .connected = 1,
     .attempts = 4,
     .reasons = {NEVER, NEVER, NEVER, NEVER},
     .began_ms = {0, 100 + FIRST, 200 + FIRST + SECOND, 300 + FIRST + SECOND + THIRD}},
    {.name = "0x3E after connected, then what no retry mends",
     .script = {{VANISHES, NEVER, 0}, {FAILS, TENDON_RADIO_ERROR_ADAPTER_DOWN, 0}},
     .told = TENDON_RADIO_ERROR_ADAPTER_DOWN,
     .connected = 1,
     .attempts = 2,
     .reasons = {NEVER, TENDON_RADIO_ERROR_ADAPTER_DOWN},
     .began_ms = {0, 100 + FIRST}},
    {.name = "0x3E when the peer has answered: the link was there",
     .script = {{LOST, NEVER, 30}},
     .told = NEVER,
     .connected = 1,
     .attempts = 1},
    {.name = "any other end right after connected",
     .script = {{VANISHES, TENDON_RADIO_ERROR_OUT_OF_RANGE, 30}},
     .told = TENDON_RADIO_ERROR_OUT_OF_RANGE,
     .connected = 1,
     .attempts = 1},
    {.name = "0x3E after connected, more was sent than can be sent again",
     .script = {{VANISHES, NEVER, 30}},
     .chatty = true,
     .told = NEVER,
     .connected = 1,
     .attempts = 1},
};

static void attempts_by_table(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const row *r = &rows[i];
        attempt_bench *b = attempt_bench_open(r->script);
        print_message("# %s\n", r->name);
        b->chatty = r->chatty;
        if (r->attempts_allowed != 0) {
            b->connection.connect_attempts = r->attempts_allowed;
        }
        if (r->timeout_ms != 0) {
            b->connection.connect_timeout_ms = r->timeout_ms;
        }
        run(b);
        assert_int_equal(b->turn->fate, NOTHING); /* the whole script was played */
        assert_int_equal(b->connection.state, r->up ? TENDON_CONNECTION_UP : TENDON_CONNECTION_IDLE);
        assert_int_equal(b->connected, r->connected);
        assert_int_equal(b->closed, !r->up);
        assert_int_equal(b->reason, r->told);
        assert_int_equal(b->connects, r->attempts);
        assert_int_equal(b->connection.attempt, r->attempts);
        for (size_t n = 0; n < r->attempts; n++) {
            assert_int_equal(b->connection.attempts[n].reason, r->reasons[n]);
            assert_int_equal(b->connection.attempts[n].began_ms, r->began_ms[n]);
        }
        attempt_bench_close(b);
    }
}

/* Neither the number of attempts nor their time ends it, the scan goes on, and the pause has an upper bound. */
static void in_the_background_attempts_do_not_end(void **state) {
    (void)state;
    enum { FAILURES = 30 };
    turn script[FAILURES + 3] = {{0}};
    for (size_t i = 0; i < FAILURES; i++) {
        script[i] = (turn){i % 3 == 2 ? VANISHES : FAILS, NEVER, 60000};
    }
    script[FAILURES] = (turn){STAYS, 0, 3600000};
    attempt_bench *b = attempt_bench_open(script);
    b->connection.background = true;
    b->connection.connect_attempts = 1;
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    assert_true(b->connection.connect_deadline == UINT64_MAX);
    b->now = b->connection.connect_began;
    for (unsigned n = 1; n <= FAILURES; n++) {
        play(b);
        unsigned attempt = n < TENDON_CONNECTION_ATTEMPTS_MAX ? n : TENDON_CONNECTION_ATTEMPTS_MAX;
        uint64_t pause = (uint64_t)TENDON_CONNECTION_PAUSE_MS << (attempt - 1);
        assert_int_equal(b->connection.state, TENDON_CONNECTION_WAITING);
        assert_int_equal(b->connection.attempt, attempt);
        assert_int_equal(b->connection.attempts[attempt - 1].reason, NEVER);
        assert_in_range(b->connection.retry_at, b->now + pause, b->now + pause + pause / 2);
        b->now = b->connection.retry_at;
        b->connection.timer.expired(b->connection.timer.context, b->now);
    }
    play(b);
    assert_int_equal(b->connection.state, TENDON_CONNECTION_UP);
    assert_int_equal(b->connects, FAILURES + 1);
    assert_int_equal(b->scan_changes, 0);
    assert_int_equal(b->closed, 0);
    attempt_bench_end_link(b, TENDON_RADIO_ERROR_OUT_OF_RANGE); /* the end of a connection is reported */
    assert_int_equal(b->closed, 1);
    attempt_bench_close(b);
}

/* Cancelled in an attempt, and between two; what no retry mends ends it as ever. */
static void in_the_background_there_are_two_ends(void **state) {
    (void)state;
    static const turn scripts[3][3] = {
        {{STAYS, 0, 0}}, {{FAILS, NEVER, 10}}, {{FAILS, TENDON_RADIO_ERROR_ADAPTER_DOWN, 10}}};
    for (int i = 0; i < 3; i++) {
        attempt_bench *b = attempt_bench_open(scripts[i]);
        b->connection.background = true;
        assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
        b->now = b->connection.connect_began;
        if (i > 0) {
            play(b);
        }
        attempt_bench_close(b);
        assert_int_equal(b->closed, 1);
        assert_int_equal(b->reason, i < 2 ? TENDON_ERROR_CANCELLED : TENDON_RADIO_ERROR_ADAPTER_DOWN);
    }
}

/* Each transient reason is tried again, and no other one is: all codes of the layers that a radio reports. */
static void every_transient_reason_is_tried_again(void **state) {
    (void)state;
    static const tendon_status transient[] = {TENDON_RADIO_ERROR_OUT_OF_RANGE,
                                              TENDON_RADIO_ERROR_PEER_CLOSED,
                                              TENDON_RADIO_ERROR_COMMAND_TIMEOUT,
                                              TENDON_RADIO_ERROR_ADAPTER_BUSY,
                                              TENDON_ERROR_BUSY,
                                              TENDON_ERROR_DISCONNECTED,
                                              TENDON_HCI_ERROR(0x02),
                                              TENDON_HCI_ERROR(0x03),
                                              TENDON_HCI_ERROR(0x04),
                                              TENDON_HCI_ERROR(0x08),
                                              TENDON_HCI_ERROR(0x0B),
                                              TENDON_HCI_ERROR(0x0C),
                                              TENDON_HCI_ERROR(0x0D),
                                              TENDON_HCI_ERROR(0x10),
                                              TENDON_HCI_ERROR(0x13),
                                              TENDON_HCI_ERROR(0x14),
                                              TENDON_HCI_ERROR(0x15),
                                              TENDON_HCI_ERROR(0x16),
                                              TENDON_HCI_ERROR(0x22),
                                              TENDON_HCI_ERROR(0x28),
                                              TENDON_HCI_ERROR(0x3A),
                                              TENDON_HCI_ERROR(0x3C),
                                              TENDON_HCI_ERROR(0x3E),
                                              TENDON_SYSTEM_ERROR(ECONNABORTED),
                                              TENDON_SYSTEM_ERROR(ECONNREFUSED),
                                              TENDON_SYSTEM_ERROR(EBUSY),
                                              TENDON_SYSTEM_ERROR(EAGAIN),
                                              TENDON_SYSTEM_ERROR(EINTR),
                                              TENDON_SYSTEM_ERROR(EIO)};
    const size_t count = sizeof transient / sizeof transient[0];
    for (tendon_status reason = -1; reason > -16 * 256; reason--) {
        bool expected = false;
        for (size_t i = 0; i < count; i++) {
            expected = expected || transient[i] == reason;
        }
        assert_int_equal(tendon_connection_retries(reason), expected);
    }
    for (size_t i = 0; i < count; i++) {
        const turn script[] = {{FAILS, transient[i], 10}, {STAYS, 0, 40}, {NOTHING, 0, 0}};
        attempt_bench *b = attempt_bench_open(script);
        run(b);
        assert_int_equal(b->connection.state, TENDON_CONNECTION_UP);
        assert_int_equal(b->connects, 2);
        attempt_bench_close(b);
    }
}

/* The request of the link that never was is answered over the next one; what is asked meanwhile follows. */
static void what_was_sent_is_sent_again(void **state) {
    (void)state;
    static const turn script[] = {{VANISHES, NEVER, 30}, {STAYS, 0, 40}, {NOTHING, 0, 0}};
    attempt_bench *b = attempt_bench_open(script);
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    b->now = b->connection.connect_began;
    play(b);
    assert_int_equal(attempt_bench_sent(b), 1);
    assert_int_equal(b->connection.state, TENDON_CONNECTION_WAITING);
    assert_true(tendon_gatt_read(&b->connection.client, 0x0007, attempt_bench_on_done, b, b->now) > 0);
    assert_int_equal(tendon_gatt_write_command(&b->connection.client, 3, (const uint8_t *)"x", 1),
                     TENDON_ERROR_WOULD_BLOCK);
    b->now = b->connection.retry_at;
    b->connection.timer.expired(b->connection.timer.context, b->now);
    play(b);
    assert_int_equal(b->connection.state, TENDON_CONNECTION_UP);
    assert_int_equal(attempt_bench_sent(b), 2);
    assert_int_equal(b->pdus[0][0], 0x02); /* Exchange MTU Request */
    assert_memory_equal(b->pdus[0], b->pdus[1], 3);
    attempt_bench_receive(b, "\x03\x40\x00", 3);
    assert_int_equal(b->values, 1);
    assert_int_equal(attempt_bench_sent(b), 3);
    assert_memory_equal(b->pdus[2], "\x0a\x07\x00", 3);
    attempt_bench_receive(b, "\x0b\x2a", 2);
    assert_int_equal(b->values, 2);
    assert_int_equal(b->closed, 0);
    /* From now on its end is an end. */
    attempt_bench_end_link(b, NEVER);
    assert_int_equal(b->closed, 1);
    attempt_bench_close(b);
}

/* Each connection keeps the first PDU of its own. */
static void a_second_connection_is_repeated_too(void **state) {
    (void)state;
    static const turn script[] = {
        {VANISHES, NEVER, 30}, {STAYS, 0, 40}, {VANISHES, NEVER, 30}, {STAYS, 0, 40}, {NOTHING, 0, 0}};
    attempt_bench *b = attempt_bench_open(script);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
        b->now = b->connection.connect_began;
        play(b);
        assert_int_equal(b->connection.state, TENDON_CONNECTION_WAITING);
        b->now = b->connection.retry_at;
        b->connection.timer.expired(b->connection.timer.context, b->now);
        play(b);
        assert_int_equal(b->connection.state, TENDON_CONNECTION_UP);
        assert_int_equal(attempt_bench_sent(b), 2 * i + 2);
        attempt_bench_receive(b, "\x03\x40\x00", 3);
        attempt_bench_end_link(b, NEVER);
        assert_int_equal(b->closed, i + 1);
    }
    attempt_bench_close(b);
}

static void closed_by_its_owner_while_it_is_made_anew(void **state) {
    (void)state;
    static const turn script[] = {{VANISHES, NEVER, 30}, {NOTHING, 0, 0}};
    attempt_bench *b = attempt_bench_open(script);
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    b->now = b->connection.connect_began;
    play(b);
    assert_int_equal(b->connection.state, TENDON_CONNECTION_WAITING);
    attempt_bench_close(b);
    assert_int_equal(b->closed, 1);
    assert_int_equal(b->reason, TENDON_ERROR_CANCELLED);
    assert_int_equal(b->connects, 1);
}

/* Without a jitter of the program's: the pauses of two peers, or of two starts, differ; each is within its bounds. */
static void the_own_jitter_spreads(void **state) {
    (void)state;
    static const turn script[] = {{FAILS, NEVER, 0}, {FAILS, NEVER, 0}, {FAILS, NEVER, 0}, {FAILS, NEVER, 0}};
    unsigned seen = 0, different = 0;
    uint32_t first = 0;
    for (uint8_t i = 0; i < 50; i++) {
        attempt_bench *b = attempt_bench_open(script);
        tendon_connection_jitter none = {0};
        tendon_address peer = attempt_peer;
        peer.bytes[5] = i;
        tendon_connection_init(&b->connection, &b->radio, &peer, NULL, NULL);
        assert_memory_not_equal(&b->connection.jitter, &none, sizeof none);
        for (unsigned n = 0; n < 20; n++) {
            uint32_t value = b->connection.jitter.next(b->connection.jitter.context) % 51;
            first = seen == 0 ? value : first;
            different += value != first;
            seen++;
        }
        tendon_loop_close(&b->loop);
    }
    assert_true(different > seen / 2);
}

/* Two simultaneous attempts: the scan continues when both have ended. */
static void holds_are_counted(void **state) {
    (void)state;
    static const turn script[] = {{STAYS, 0, 40}, {NOTHING, 0, 0}};
    attempt_bench *b = attempt_bench_open(script);
    tendon_radio_pause_scan(&b->radio);
    tendon_radio_pause_scan(&b->radio);
    assert_int_equal(b->scan_changes, 1);
    tendon_radio_resume_scan(&b->radio);
    assert_int_equal(b->scan_changes, 1);
    tendon_radio_resume_scan(&b->radio);
    assert_int_equal(b->scan_changes, 2);
    run(b);
    assert_int_equal(b->scan_changes, 4);
    attempt_bench_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attempts_by_table),
        cmocka_unit_test(in_the_background_attempts_do_not_end),
        cmocka_unit_test(in_the_background_there_are_two_ends),
        cmocka_unit_test(every_transient_reason_is_tried_again),
        cmocka_unit_test(what_was_sent_is_sent_again),
        cmocka_unit_test(a_second_connection_is_repeated_too),
        cmocka_unit_test(closed_by_its_owner_while_it_is_made_anew),
        cmocka_unit_test(the_own_jitter_spreads),
        cmocka_unit_test(holds_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
