/* SPDX-License-Identifier: MIT */
/* Links that cannot send: of one whose PDUs no longer leave the socket, the end is ours to notice. */
#include "socket_fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static uint32_t in_the_socket;
static int looks;

static uint32_t queued(const tendon_link *link) {
    (void)link;
    looks++;
    return in_the_socket;
}

static const tendon_socket_hooks looked_at = {.header = 0, .queued = queued};
static const tendon_socket_hooks never_looked_at = {.header = 0};

/** Sends until the socket takes no more. @return the time then. */
static uint64_t fill(bench *b) {
    tendon_status status = TENDON_OK;
    uint64_t now = tendon_monotonic_ms();
    while ((status = link_end_send(&b->end, "0123456789", 10)) == TENDON_OK) {
        now = tendon_monotonic_ms();
    }
    assert_int_equal(status, TENDON_ERROR_WOULD_BLOCK);
    assert_true(b->end.link.blocked);
    return now;
}

static void expire(bench *b, uint64_t now) {
    b->end.link.source.expired(b->end.link.source.context, now);
}

static void a_link_without_credit_ends(void **state) {
    (void)state;
    bench b;
    in_the_socket = 4096;
    looks = 0;
    bench_open(&b, &looked_at, false);
    uint64_t now = fill(&b);
    assert_int_equal(looks, 1);
    uint64_t at = b.end.link.source.deadline;
    assert_in_range(at, now + 10000, tendon_monotonic_ms() + 10000);
    /* A slow peer: as long as something leaves the socket, the writer waits. */
    for (uint32_t i = 0; i < 50; i++) {
        in_the_socket += i % 2 == 0 ? 1 : (uint32_t)-1; /* what matters is that it changes */
        expire(&b, at);
        for (int look = 0; look < 3; look++) {
            at += 10000;
            assert_int_equal(b.end.link.source.deadline, at);
            expire(&b, at);
        }
        at += 10000;
        assert_int_equal(b.end.link.source.deadline, at);
        assert_int_equal(b.end.closed, 0);
    }
    expire(&b, at); /* 40 s after the last change */
    assert_int_equal(b.end.closed, 1);
    assert_int_equal(b.end.reason, TENDON_RADIO_ERROR_STALLED);
    assert_int_equal(b.end.link.state, TENDON_LINK_CLOSED);
    assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
    assert_int_equal(b.end.closed, 1);
    bench_close(&b);
}

/* The deadline is that of the wait: nothing is left of it when the link can send again, or has ended. */
static void a_link_that_sends_again_has_no_deadline(void **state) {
    (void)state;
    bench b;
    uint8_t bytes[16];
    bench_open(&b, &looked_at, false);
    for (int i = 0; i < 3; i++) {
        (void)fill(&b);
        while (recv(b.peer, bytes, sizeof bytes, MSG_DONTWAIT) > 0) {
        }
        STEP_UNTIL(&b.loop, b.end.writable == i + 1);
        assert_int_equal(b.end.link.source.deadline, UINT64_MAX);
    }
    expire(&b, UINT64_MAX);
    assert_int_equal(b.end.closed, 0);
    uint64_t now = fill(&b);
    tendon_link_close(&b.end.link);
    expire(&b, now + 40000); /* closed by its owner in the meantime: with the owner's reason, once */
    assert_int_equal(b.end.closed, 1);
    assert_int_equal(b.end.reason, TENDON_ERROR_CANCELLED);
    bench_close(&b);
}

static void a_radio_whose_sender_waits_has_no_limit(void **state) {
    (void)state;
    bench b;
    bench_open(&b, &never_looked_at, false);
    (void)fill(&b);
    assert_int_equal(b.end.link.source.deadline, UINT64_MAX);
    expire(&b, UINT64_MAX - 1);
    assert_int_equal(b.end.closed, 0);
    assert_true(b.end.link.blocked);
    bench_close(&b);
}

static void the_end_of_a_link_has_one_reason(void **state) {
    (void)state;
    bench b;
    bench_open(&b, &looked_at, true);
    tendon_socket_link_end(&b.end.link, TENDON_RADIO_ERROR_NOT_SECURE);
    tendon_socket_link_end(&b.end.link, TENDON_RADIO_ERROR_STALLED);
    assert_int_equal(b.end.closed, 0); /* not from within the call */
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(b.end.reason, TENDON_RADIO_ERROR_NOT_SECURE);
    tendon_socket_link_end(&b.end.link, TENDON_RADIO_ERROR_STALLED);
    assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
    assert_int_equal(b.end.closed, 1);
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_without_credit_ends),
        cmocka_unit_test(a_link_that_sends_again_has_no_deadline),
        cmocka_unit_test(a_radio_whose_sender_waits_has_no_limit),
        cmocka_unit_test(the_end_of_a_link_has_one_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
