/* SPDX-License-Identifier: MIT */
/*
 * Attempts that end while the kernel may be about to connect: their sockets stay open until LE Create Connection should
 * have been sent.
 */
#include "bluez_connecting.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CREATE_CONNECTION = 0x200D };

static struct {
    int calls;
    tendon_status reason;
} closed;

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    (void)context;
    (void)now;
    closed.calls++;
    closed.reason = reason;
}

/** An attempt for which the kernel scans. */
static bluez_connecting *searching(void) {
    bluez_connecting *l = bluez_connecting_open();
    l->link.callbacks.closed = on_closed;
    closed.calls = 0;
    bluez_kernel_scans(l, 1);
    return l;
}

/** The kernel ends its scan, and has so long to connect; here an hour longer, for a test that is interrupted. */
static void kernel_has_found(bluez_connecting *l) {
    const uint64_t before = tendon_monotonic_ms(), hour = 3600000;
    bluez_kernel_scans(l, 0);
    assert_in_range(l->b->radio.kernel.begins_until, before + TENDON_BLUEZ_BEGIN_LIMIT_MS(&l->b->radio),
                    tendon_monotonic_ms() + TENDON_BLUEZ_BEGIN_LIMIT_MS(&l->b->radio));
    l->b->radio.kernel.begins_until += hour;
}

static bool is_open(int fd) {
    return fcntl(fd, F_GETFD) != -1;
}

static void step(bluez_connecting *l) {
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
}

static void expect_held(bluez_connecting *l) {
    assert_int_equal(closed.calls, 0);
    assert_int_equal(l->link.state, TENDON_LINK_HELD);
    assert_int_equal(l->link.source.fd, fake.latest);
    assert_int_equal(l->link.source.interest, 0);
    assert_true(is_open(fake.latest));
    assert_int_equal(l->link.source.deadline, l->b->radio.kernel.begins_until);
}

static void expect_closed(bluez_connecting *l, tendon_status reason) {
    assert_int_equal(closed.calls, 1);
    assert_int_equal(closed.reason, reason);
    assert_int_equal(l->link.state, TENDON_LINK_CLOSED);
    assert_null(l->b->radio.attempts[0].link);
    assert_false(is_open(fake.latest));
    step(l);
    assert_int_equal(closed.calls, 1);
}

/** The owner gives up, or the deadline of the attempt passes. */
static tendon_status give_up(bluez_connecting *l, bool expires) {
    if (expires) {
        l->link.deadline = tendon_monotonic_ms();
        l->link.source.expired(l->link.source.context, l->link.deadline);
        return TENDON_ERROR_TIMEOUT;
    }
    tendon_link_close(&l->link);
    step(l);
    return TENDON_ERROR_CANCELLED;
}

static void a_socket_is_held_while_the_kernel_may_begin(void **state) {
    (void)state;
    for (int expires = 0; expires < 2; expires++) {
        bluez_connecting *l = searching();
        kernel_has_found(l);
        const tendon_status reason = give_up(l, expires);
        expect_held(l);
        tendon_link_close(&l->link); /* once more changes nothing */
        step(l);
        expect_held(l);
        l->link.source.expired(l->link.source.context, l->link.source.deadline);
        expect_closed(l, reason);
        bluez_close(l->b);
    }
}

/* Otherwise an end is immediate, as it always was. */
static void a_socket_is_closed_at_once(void **state) {
    (void)state;
    enum { SCANS, CONNECTS, SCANS_AGAIN, LONG_AGO, SITUATIONS };
    for (int situation = 0; situation < SITUATIONS * 2; situation++) {
        bluez_connecting *l = searching();
        const int what = situation / 2;
        if (what != SCANS) {
            kernel_has_found(l);
        }
        if (what == CONNECTS) {
            bluez_kernel_sends(l, CREATE_CONNECTION, 0);
        } else if (what == SCANS_AGAIN) {
            bluez_kernel_scans(l, 1);
        } else if (what == LONG_AGO) {
            l->b->radio.kernel.begins_until = tendon_monotonic_ms();
        }
        const tendon_status reason = give_up(l, situation % 2 != 0);
        expect_closed(l, reason);
        bluez_close(l->b);
    }
}

/* What is off already does not end. */
static void a_scan_that_was_not_on(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    l->link.callbacks.closed = on_closed;
    closed.calls = 0;
    bluez_kernel_scans(l, 0);
    expect_closed(l, give_up(l, false));
    bluez_close(l->b);
}

/* The kernel's own end of the attempt needs no more waiting, and does not come again. */
static void the_kernel_ends_an_attempt_that_is_held(void **state) {
    (void)state;
    bluez_connecting *l = searching();
    kernel_has_found(l);
    const tendon_status reason = give_up(l, false);
    expect_held(l);
    bluez_link_ready(l->b, &l->link, TENDON_HANGUP);
    expect_closed(l, reason);
    bluez_close(l->b);
}

/* The kernel has connected: to the link of its owner, to one that its owner gets in the next step, to one that must be
 * encrypted first. */
static void what_is_connected_is_not_held(void **state) {
    (void)state;
    enum { OPENED, ADOPTED, SECURING, STAGES };
    for (int stage = 0; stage < STAGES; stage++) {
        bluez_connecting *l = searching();
        if (stage == OPENED) {
            bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
            assert_int_equal(l->link.state, TENDON_LINK_OPEN);
        }
        if (stage != OPENED) {
            l->link.state = stage == SECURING ? TENDON_LINK_SECURING : TENDON_LINK_CONNECTED;
        }
        kernel_has_found(l);
        expect_closed(l, give_up(l, false));
        bluez_close(l->b);
    }
}

/* The adapter is gone: what is held is closed, and what goes on is not held. */
static void a_radio_that_fails_holds_nothing(void **state) {
    (void)state;
    for (int held = 0; held < 2; held++) {
        bluez_connecting *l = searching();
        kernel_has_found(l);
        tendon_status reason = TENDON_RADIO_ERROR_NO_ADAPTER;
        if (held) {
            reason = give_up(l, false);
            expect_held(l);
        }
        tendon_bluez_fail(&l->b->radio, TENDON_RADIO_ERROR_NO_ADAPTER);
        assert_false(is_open(fake.latest));
        step(l);
        expect_closed(l, reason);
        bluez_close(l->b);
    }
}

static void a_socket_that_is_held_does_not_outlive_its_radio(void **state) {
    (void)state;
    bluez_connecting *l = searching();
    kernel_has_found(l);
    const tendon_status reason = give_up(l, false);
    expect_held(l);
    tendon_radio_close(&l->b->radio.radio);
    assert_false(is_open(fake.latest));
    step(l);
    expect_closed(l, reason);
    bluez_close(l->b);
}

/* It is its owner's, who has still to close it. */
static void an_attempt_that_goes_on_outlives_its_radio(void **state) {
    (void)state;
    bluez_connecting *l = searching();
    tendon_radio_close(&l->b->radio.radio);
    assert_null(l->b->radio.attempts[0].link);
    assert_int_equal(l->link.state, TENDON_LINK_ASKED);
    assert_true(is_open(fake.latest));
    assert_int_equal(closed.calls, 0);
    expect_closed(l, give_up(l, false));
    bluez_close(l->b);
}

/* The loop has no room: closed, as without the rule. */
static void a_loop_that_refuses(void **state) {
    (void)state;
    bluez_connecting *l = searching();
    kernel_has_found(l);
    fake.refuse[FAKE_EPOLL_MODIFY] = (fake_refusal){.number = ENOMEM};
    expect_closed(l, give_up(l, false));
    fake.refuse[FAKE_EPOLL_MODIFY] = (fake_refusal){0};
    bluez_close(l->b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_socket_is_held_while_the_kernel_may_begin),
        cmocka_unit_test(a_socket_is_closed_at_once),
        cmocka_unit_test(a_scan_that_was_not_on),
        cmocka_unit_test(the_kernel_ends_an_attempt_that_is_held),
        cmocka_unit_test(what_is_connected_is_not_held),
        cmocka_unit_test(a_radio_that_fails_holds_nothing),
        cmocka_unit_test(a_socket_that_is_held_does_not_outlive_its_radio),
        cmocka_unit_test(an_attempt_that_goes_on_outlives_its_radio),
        cmocka_unit_test(a_loop_that_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
