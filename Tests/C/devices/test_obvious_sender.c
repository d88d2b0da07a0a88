/* SPDX-License-Identifier: MIT */
/*
 * Obvious: the sender against a scripted peer, under simulated time.
 * The trace: "i" a segment, "i!" with ACKREQ, "RESET", "done", "failed"
 */
#include "obvious_trace.h"

#include "tendon/devices/obvious.h"

static tendon_obvious_sender sender;
static uint8_t message[4096];
static tendon_status write_result;
static unsigned writes_left; /* before WOULD_BLOCK */

static tendon_status write_segment(void *context, const uint8_t *segment, size_t length) {
    (void)context;
    if (length == 12 && segment[0] == 0x44) {
        note("RESET%u ", segment[3]);
        return TENDON_OK;
    }
    if (writes_left == 0) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    writes_left--;
    note("%u%s ", segment[2] | (unsigned)segment[3] << 8, (segment[0] & 8) != 0 ? "!" : "");
    return write_result;
}

static void on_done(void *context, tendon_status status, uint64_t now) {
    (void)context, (void)now;
    note(status == TENDON_OK ? "done " : status == TENDON_OBVIOUS_ERROR_LINK_ERROR ? "failed " : "? ");
}

static const tendon_obvious_sender_handler handler = {write_segment, on_done};

/* A message of @p count segments at MTU 23. */
static void start(size_t count, uint64_t now) {
    memset(&sender, 0xA5, sizeof sender); /* what the memory held before */
    tendon_obvious_sender_init(&sender, &handler, NULL);
    trace[0] = '\0';
    write_result = TENDON_OK;
    writes_left = 1000000;
    assert_int_equal(tendon_obvious_sender_start(&sender, message, 14 + 16 * (count - 1), 23, now), TENDON_OK);
}

static void control(uint8_t type, uint8_t reason, uint16_t next, uint32_t bitmap, uint16_t credit, uint64_t now) {
    const tendon_obvious_control c = {sender.msgseq, type, reason, next, credit, bitmap};
    tendon_obvious_sender_control(&sender, &c, now);
}

static void ack(uint16_t next, uint32_t bitmap, uint64_t now) {
    control(TENDON_OBVIOUS_ACK, 0, next, bitmap, 8, now);
}

static void a_window_at_a_time(void **state) {
    (void)state;
    start(11, 0);
    expect("0 1 2 3! 4 5 6 7! ");
    assert_int_equal(tendon_obvious_sender_start(&sender, message, 14, 23, 0), TENDON_ERROR_BUSY);
    ack(4, 0, 10);
    expect("8 9 10! ");
    ack(8, 0, 20);
    expect("");
    ack(11, 0, 30);
    expect("done ");
    assert_true(tendon_obvious_sender_deadline(&sender) == UINT64_MAX);
    ack(11, 0, 40);
    expect("");
    assert_int_equal(sender.msgseq, 1);
    assert_int_equal(tendon_obvious_sender_start(&sender, message, 13, 23, 0), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_obvious_sender_start(&sender, message, 4097, 23, 0), TENDON_ERROR_INVALID_ARGUMENT);
    tendon_obvious_sender_set_window(&sender, 2);
    assert_int_equal(tendon_obvious_sender_start(&sender, message, 54, 23, 50), TENDON_OK);
    expect("0! 1! ");
}

static void only_what_is_missing_is_repeated(void **state) {
    (void)state;
    start(8, 0);
    expect("0 1 2 3! 4 5 6 7! ");
    ack(0, 0, 10); /* nothing shows a hole: they may be in flight */
    expect("");
    ack(2, 0x0D, 20); /* 0, 1, 3, 5, 6: 2 and 4 are holes, 7 may be in flight */
    expect("2 4! ");
    ack(2, 0x1D, 219); /* 200 ms since the repeat have not passed */
    expect("");
    ack(2, 0x1D, 220);
    expect("2 4! ");
    ack(2, 0x1D, 419);
    expect("");
    ack(2, 0x1F, 420); /* everything except 2 */
    expect("2! ");
    ack(9, 0, 500); /* more than was sent */
    expect("");
    ack(8, 0, 500);
    expect("done ");
}

static void an_ack_of_what_was_not_sent_is_ignored(void **state) {
    (void)state;
    start(20, 0);
    trace[0] = '\0';
    ack(9, 0, 500);
    expect("");
    ack(20, 0, 500);
    expect("");
    ack(8, 0, 500);
    expect("8 9 10 11! 12 13 14 15! ");
}

static void the_timer_doubles(void **state) {
    (void)state;
    start(3, 0);
    trace[0] = '\0';
    static const uint64_t times[] = {1000, 3000, 7000, 15000, 31000};
    for (size_t i = 0; i < 5; i++) {
        assert_true(tendon_obvious_sender_deadline(&sender) == times[i]);
        tendon_obvious_sender_tick(&sender, times[i] - 1);
        expect("");
        tendon_obvious_sender_tick(&sender, times[i]);
        expect("0! ");
    }
    tendon_obvious_sender_tick(&sender, 63000);
    expect("RESET5 failed ");
    assert_int_equal(sender.msgseq, 0);
    /* Progress starts it again. */
    start(3, 0);
    tendon_obvious_sender_tick(&sender, 1000);
    ack(1, 0, 1500);
    assert_true(tendon_obvious_sender_deadline(&sender) == 2500);
    ack(1, 0, 2000); /* no progress */
    assert_true(tendon_obvious_sender_deadline(&sender) == 2500);
}

static void a_dropped_message_starts_again(void **state) {
    (void)state;
    for (uint8_t reason = 0; reason <= 5; reason++) {
        start(3, 0);
        expect("0 1 2! ");
        for (unsigned i = 0; i < 3; i++) {
            control(TENDON_OBVIOUS_NAK, reason, 0, 0, 8, 10);
            expect("0 1 2! ");
            assert_int_equal(sender.msgseq, 0);
        }
        control(TENDON_OBVIOUS_NAK, reason, 0, 0, 8, 10);
        expect("RESET5 failed ");
    }
    start(3, 0);
    trace[0] = '\0';
    control(TENDON_OBVIOUS_NAK, TENDON_OBVIOUS_REASON_FRAME, 0, 0, 8, 10);
    expect("0 1 2! ");
    assert_int_equal(sender.msgseq, 1);
    control(TENDON_OBVIOUS_NAK, TENDON_OBVIOUS_REASON_VERSION, 0, 0, 8, 10);
    expect("RESET5 failed ");
    /* A NAK of another message. */
    start(3, 0);
    trace[0] = '\0';
    const tendon_obvious_control other = {9, TENDON_OBVIOUS_NAK, 4, 0, 8, 0};
    tendon_obvious_sender_control(&sender, &other, 10);
    expect("");
}

static void busy_and_window_wait(void **state) {
    (void)state;
    static const struct {
        uint8_t reason;
        uint64_t delay;
    } rows[] = {{TENDON_OBVIOUS_REASON_BUSY, 500}, {TENDON_OBVIOUS_REASON_WINDOW, 100}};
    for (unsigned row = 0; row < 2; row++) {
        start(12, 0);
        ack(4, 0, 0);
        trace[0] = '\0';
        uint64_t now = 1000;
        for (unsigned i = 0; i < 10; i++) {
            control(TENDON_OBVIOUS_NAK, rows[row].reason, 4, 0, 8, now);
            assert_true(tendon_obvious_sender_deadline(&sender) == now + rows[row].delay);
            ack(8, 0, now); /* sent before the NAK */
            tendon_obvious_sender_writable(&sender, now);
            tendon_obvious_sender_tick(&sender, now + rows[row].delay - 1);
            expect("");
            now += rows[row].delay;
            tendon_obvious_sender_tick(&sender, now);
            expect(row == 0 ? "0 1 2 3! 4 5 6 7! " : "4 5 6 7! 8 9 10 11! ");
        }
        control(TENDON_OBVIOUS_NAK, rows[row].reason, 4, 0, 8, now);
        expect("RESET5 failed ");
    }
}

static void credit(void **state) {
    (void)state;
    start(12, 0);
    trace[0] = '\0';
    control(TENDON_OBVIOUS_ACK, 0, 8, 0, 1, 10);
    expect("8! "); /* the last one that the credit permits */
    control(TENDON_OBVIOUS_ACK, 0, 9, 0, 0, 20);
    expect("");
    uint64_t now = 20;
    for (unsigned i = 0; i < 29; i++) {
        now += 1000;
        assert_true(tendon_obvious_sender_deadline(&sender) == now);
        tendon_obvious_sender_tick(&sender, now);
        expect("9! ");
        control(TENDON_OBVIOUS_ACK, 0, 9, 0, 0, now);
    }
    control(TENDON_OBVIOUS_ACK, 0, 9, 0, 8, now); /* resumed */
    expect("10 11! ");
    control(TENDON_OBVIOUS_WAIT, 0, 9, 0, 0, now);
    for (unsigned i = 0; i < 30; i++) {
        now += 1000;
        tendon_obvious_sender_tick(&sender, now);
    }
    assert_non_null(strstr(trace, "RESET5 failed "));
}

/* Probes have one interval, repeats a time that doubles: after each way out of a pause, repeats again. */
static void a_pause_ends_in_each_way(void **state) {
    (void)state;
    enum { BY_CREDIT, BY_NAK, BY_BUSY, WAYS };
    for (int way = 0; way < WAYS; way++) {
        start(3, 0);
        control(TENDON_OBVIOUS_WAIT, 0, 0, 0, 0, 10);
        assert_true(tendon_obvious_sender_deadline(&sender) == 1010);
        if (way == BY_CREDIT) {
            control(TENDON_OBVIOUS_ACK, 0, 1, 0, 8, 20);
        } else if (way == BY_NAK) {
            control(TENDON_OBVIOUS_NAK, TENDON_OBVIOUS_REASON_TIMEOUT, 0, 0, 8, 20);
        } else {
            control(TENDON_OBVIOUS_NAK, TENDON_OBVIOUS_REASON_BUSY, 0, 0, 8, 20);
            assert_true(tendon_obvious_sender_deadline(&sender) == 520);
            tendon_obvious_sender_tick(&sender, 520);
        }
        uint64_t sent = way == BY_BUSY ? 520 : 20;
        assert_true(tendon_obvious_sender_deadline(&sender) == sent + 1000);
        tendon_obvious_sender_tick(&sender, sent + 1000);
        assert_true(tendon_obvious_sender_deadline(&sender) == sent + 3000);
    }
}

static void writes_that_block_or_fail(void **state) {
    (void)state;
    start(6, 0);
    trace[0] = '\0';
    tendon_obvious_sender_cancel(&sender);
    assert_true(tendon_obvious_sender_deadline(&sender) == UINT64_MAX);
    writes_left = 2;
    assert_int_equal(tendon_obvious_sender_start(&sender, message, 94, 23, 0), TENDON_OK);
    expect("0 1 ");
    assert_int_equal(sender.msgseq, 1);
    writes_left = 2;
    tendon_obvious_sender_writable(&sender, 1);
    expect("2 3! ");
    writes_left = 100;
    tendon_obvious_sender_writable(&sender, 2);
    expect("4 5! ");
    tendon_obvious_sender_writable(&sender, 3);
    ack(6, 0, 4);
    expect("done ");
    /* Four failures are losses, a success starts the count again, five fail the message. */
    write_result = TENDON_ERROR_DISCONNECTED;
    assert_int_equal(tendon_obvious_sender_start(&sender, message, 14 + 16 * 3, 23, 10), TENDON_OK);
    expect("0 1 2 3! ");
    write_result = TENDON_OK;
    tendon_obvious_sender_tick(&sender, 1010);
    expect("0! ");
    write_result = TENDON_ERROR_DISCONNECTED;
    ack(1, 0, 1020);
    expect("1 2 3! ");
    assert_int_equal(sender.write_failures, 3);
    tendon_obvious_sender_tick(&sender, 2020);
    tendon_obvious_sender_tick(&sender, 4020);
    expect("1! 1! RESET5 failed ");
}

/* A write blocked and nobody says when it no longer does: after the time limit everything goes on. */
static void the_time_limit_ends_a_block(void **state) {
    (void)state;
    start(8, 0);
    trace[0] = '\0';
    tendon_obvious_sender_cancel(&sender);
    writes_left = 2;
    assert_int_equal(tendon_obvious_sender_start(&sender, message, 14 + 16 * 7, 23, 0), TENDON_OK);
    expect("0 1 ");
    writes_left = 100;
    tendon_obvious_sender_tick(&sender, TENDON_OBVIOUS_ACK_TIMEOUT_MS - 1);
    expect("");
    tendon_obvious_sender_tick(&sender, TENDON_OBVIOUS_ACK_TIMEOUT_MS);
    expect("0! 2 3! 4 5 6 7! ");
    ack(8, 0, TENDON_OBVIOUS_ACK_TIMEOUT_MS + 10);
    expect("done ");
}

static void reset_from_the_peer(void **state) {
    (void)state;
    start(3, 0);
    trace[0] = '\0';
    control(TENDON_OBVIOUS_RESET, 5, 0, 0, 8, 10);
    expect("failed ");
    assert_int_equal(sender.msgseq, 0);
    sender.msgseq = 77;
    control(TENDON_OBVIOUS_RESET, 5, 0, 0, 8, 10);
    expect("");
    assert_int_equal(sender.msgseq, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_at_a_time),
        cmocka_unit_test(only_what_is_missing_is_repeated),
        cmocka_unit_test(an_ack_of_what_was_not_sent_is_ignored),
        cmocka_unit_test(the_timer_doubles),
        cmocka_unit_test(a_dropped_message_starts_again),
        cmocka_unit_test(busy_and_window_wait),
        cmocka_unit_test(credit),
        cmocka_unit_test(a_pause_ends_in_each_way),
        cmocka_unit_test(writes_that_block_or_fail),
        cmocka_unit_test(the_time_limit_ends_a_block),
        cmocka_unit_test(reset_from_the_peer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
