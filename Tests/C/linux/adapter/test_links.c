/* SPDX-License-Identifier: MIT */
/* What the radio does about a connect that the kernel has taken and does nothing about. */
#include "bluez_connecting.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CREATE_CONNECTION = 0x200D, EXTENDED_CREATE_CONNECTION = 0x2043 };

/** The attempt has no socket for a moment, so that the kernel forgets it; then it is @p count th connect. */
static void asked_again(bluez_connecting *l, int count) {
    assert_int_equal(fake.connects, count - 1);
    assert_int_equal(l->link.source.fd, -1);
    assert_int_equal(l->link.state, TENDON_LINK_WAITING);
    bluez_connecting_elapse(l, 60);
    assert_int_equal(fake.connects, count);
    assert_int_equal(l->link.source.fd, fake.latest);
}

static void a_kernel_that_does_not_begin_is_asked_again(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    bluez_connecting_elapse(l, 290);
    assert_int_equal(fake.connects, 1);
    for (int again = 2; again < 10; again++) {
        bluez_connecting_elapse(l, 310);
        asked_again(l, again);
        assert_int_equal(l->b->radio.counters.connect_reissues, again - 1);
    }
    bluez_connecting_close(l);
}

/* The kernel's commands take as long as our own, and it needs several. */
static void a_kernel_with_a_slow_controller_has_longer(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_idle();
    bluez_start_scan(l->b);
    l->b->radio.command.sent_at -= 100; /* the response comes after 100 ms */
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &bluez_peer, tendon_monotonic_ms() + 3600000),
                     TENDON_OK);
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_int_equal(fake.connects, 1);
    bluez_connecting_elapse(l, 700);
    assert_int_equal(fake.connects, 1);
    assert_int_equal(l->link.source.fd, fake.latest);
    bluez_connecting_elapse(l, 300);
    asked_again(l, 2);
    bluez_connecting_close(l);
}

/* A report that the kernel did not take comes again in a new scan only. */
static void a_kernel_that_scans_has_longer(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    bluez_kernel_scans(l, 1);
    bluez_connecting_elapse(l, 310);
    bluez_connecting_elapse(l, 1600);
    assert_int_equal(fake.connects, 1);
    bluez_connecting_elapse(l, 100);
    asked_again(l, 2);
    bluez_kernel_scans(l, 0); /* and starts again */
    bluez_connecting_elapse(l, 310);
    asked_again(l, 3);
    bluez_connecting_close(l);
}

/* It has found the peer: the attempt is looked at again when LE Create Connection should have come. */
static void a_kernel_that_may_be_about_to_connect_has_longer(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    bluez_kernel_scans(l, 1);
    bluez_connecting_elapse(l, 310);
    bluez_connecting_elapse(l, 1600);
    bluez_kernel_scans(l, 0);
    bluez_connecting_elapse(l, 250); /* 2.16 s after the beginning */
    assert_int_equal(fake.connects, 1);
    assert_int_equal(l->link.source.fd, fake.latest);
    bluez_connecting_elapse(l, 60);
    asked_again(l, 2);
    bluez_connecting_close(l);
}

/** The kernel ends its scan, and that is not read yet. */
static void end_scan_unread(const bluez_connecting *l) {
    static const uint8_t packet[] = {
        HCI_COMMAND_PKT, TENDON_HCI_LE_SET_SCAN_ENABLE & 0xFF, TENDON_HCI_LE_SET_SCAN_ENABLE >> 8, 2, 0, 0};
    assert_int_equal(send(l->b->controller, packet, sizeof packet, MSG_NOSIGNAL), (ssize_t)sizeof packet);
}

/* The processor was busy elsewhere: the time is over, and what has come meanwhile is not read yet. */
static void a_connect_is_not_judged_by_what_was_read_long_ago(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    bluez_kernel_scans(l, 1);
    bluez_connecting_elapse(l, 310);
    end_scan_unread(l);
    bluez_connecting_elapse(l, 1710);
    assert_int_equal(fake.connects, 1);
    assert_int_equal(l->link.source.fd, fake.latest);
    bluez_read(l->b);
    bluez_connecting_elapse(l, 250); /* the kernel has found the peer */
    assert_int_equal(l->link.source.fd, fake.latest);
    bluez_connecting_elapse(l, 60);
    asked_again(l, 2);
    bluez_connecting_close(l);
}

/* Nor is it given up then: Linux would keep an attempt that nobody ends. */
static void a_connect_is_given_up_when_all_was_read(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    bluez_kernel_scans(l, 1);
    end_scan_unread(l);
    tendon_link_close(&l->link);
    assert_int_equal(l->link.source.fd, fake.latest);
    assert_true(l->link.source.deadline > tendon_monotonic_ms());
    bluez_read(l->b);
    bluez_close(l->b);
}

static void a_kernel_that_connects_is_left_alone(void **state) {
    (void)state;
    static const uint16_t opcodes[] = {CREATE_CONNECTION, EXTENDED_CREATE_CONNECTION};
    for (int i = 0; i < 2; i++) {
        bluez_connecting *l = bluez_connecting_open();
        bluez_kernel_sends(l, opcodes[i], 0);
        for (int j = 0; j < 20; j++) {
            bluez_connecting_elapse(l, 1000);
        }
        assert_int_equal(fake.connects, 1);
        bluez_connection_complete(l, 0x3E, 0); /* it failed; the socket may report that too, or not */
        bluez_connecting_elapse(l, 310);
        asked_again(l, 2);
        bluez_connecting_close(l);
    }
}

static void a_refused_connect_command_is_none(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    bluez_kernel_sends(l, CREATE_CONNECTION, 0);
    const uint8_t refused[] = {0x0C, 1, CREATE_CONNECTION & 0xFF, CREATE_CONNECTION >> 8};
    bluez_event(l->b, TENDON_HCI_COMMAND_STATUS, refused, sizeof refused);
    bluez_read(l->b);
    bluez_connecting_elapse(l, 310);
    asked_again(l, 2);
    bluez_connecting_close(l);
}

/* The kernel requests the features of the peer before the socket is connected. */
static void a_connection_that_is_made_has_time_to_be_told(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    bluez_kernel_sends(l, CREATE_CONNECTION, 0);
    bluez_connection_complete(l, 0, 0);
    for (int i = 0; i < 9; i++) {
        bluez_connecting_elapse(l, 500);
    }
    assert_int_equal(fake.connects, 1);
    bluez_connecting_elapse(l, 510);
    asked_again(l, 2);
    bluez_connecting_close(l);
}

static void the_time_of_a_connection_ends(void **state) {
    (void)state;
    tendon_bluez_kernel kernel;
    tendon_bluez_kernel_init(&kernel);
    tendon_bluez_kernel_connected(&kernel, 0x40, 1000);
    assert_true(tendon_bluez_is_creating(&kernel, 999));
    assert_false(tendon_bluez_is_creating(&kernel, 1000));
}

/* A central that connects to us says nothing about our own attempt. */
static void a_connection_of_the_other_role_is_not_ours(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    bluez_connection_complete(l, 0, 1);
    bluez_connecting_elapse(l, 310);
    asked_again(l, 2);
    bluez_connecting_close(l);
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    (void)now;
    *(tendon_status *)context = status;
}

static tendon_status *paired_before;

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    (void)reason;
    (void)now;
    paired_before = context;
    assert_int_equal(*paired_before, TENDON_RADIO_ERROR_PAIRING_FAILED);
}

/* The peer rejects pairing and disconnects. The loop finds the end of the link first; it serves the management socket,
 * which has the result of Pair Device, before. */
static void the_end_of_a_pairing_is_told_before_that_of_its_link(void **state) {
    (void)state;
    static const uint8_t refused[] = {TENDON_MANAGEMENT_COMMAND_COMPLETE,
                                      0,
                                      7,
                                      0,
                                      10,
                                      0,
                                      TENDON_MANAGEMENT_PAIR_DEVICE,
                                      0,
                                      TENDON_MANAGEMENT_AUTHENTICATION_FAILED,
                                      0x01,
                                      0x53,
                                      0x00,
                                      0x5E,
                                      0x00,
                                      0x00,
                                      1};
    tendon_status paired = TENDON_OK;
    tendon_bonds bonds;
    bluez_connecting *l = bluez_connecting_open();
    uint8_t sink[64];
    tendon_bonds_init(&bonds);
    assert_int_equal(tendon_radio_use_bonds(&l->b->radio.radio, &bonds), TENDON_OK);
    l->link.callbacks = (tendon_link_callbacks){.context = &paired, .closed = on_closed};
    bluez_link_ready(l->b, &l->link, TENDON_WRITABLE); /* connected */
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    l->link.pairing = (tendon_pairing_attempt){
        .state = TENDON_PAIRING_RUNNING, .deadline = UINT64_MAX, .done = on_paired, .done_context = &paired};
    assert_int_equal(shutdown(bluez_far_end(), SHUT_RDWR), 0);
    assert_int_equal(send(l->b->kernel, refused, sizeof refused, 0), sizeof refused);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    assert_ptr_equal(paired_before, &paired);
    assert_int_equal(l->link.state, TENDON_LINK_CLOSED);
    assert_int_equal(recv(l->b->kernel, sink, sizeof sink, MSG_DONTWAIT), -1); /* nothing was asked */
    bluez_close(l->b);
}

/* What the kernel says of the send buffer: data leaves it slowly, then no more. */
static void a_peer_that_takes_something_is_waited_for(void **state) {
    (void)state;
    uint8_t pdu[20] = {0x52};
    bluez_connecting *l = bluez_connecting_connected();
    tendon_source *source = &l->link.source;
    while (tendon_link_send(&l->link, pdu, sizeof pdu) == TENDON_OK) {
    }
    for (int i = 0; i < 10; i++) {
        assert_int_equal(recv(bluez_far_end(), pdu, sizeof pdu, 0), sizeof pdu);
        fake.now += 10000;
        source->expired(source->context, fake.now);
        assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(l->link.state, TENDON_LINK_OPEN);
        fake.now += 10000;
        source->expired(source->context, fake.now);
    }
    assert_int_equal(l->link.state, TENDON_LINK_CLOSED);
    bluez_close(l->b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_that_takes_something_is_waited_for),
        cmocka_unit_test(a_kernel_that_does_not_begin_is_asked_again),
        cmocka_unit_test(a_kernel_with_a_slow_controller_has_longer),
        cmocka_unit_test(a_kernel_that_scans_has_longer),
        cmocka_unit_test(a_kernel_that_may_be_about_to_connect_has_longer),
        cmocka_unit_test(a_connect_is_not_judged_by_what_was_read_long_ago),
        cmocka_unit_test(a_connect_is_given_up_when_all_was_read),
        cmocka_unit_test(a_kernel_that_connects_is_left_alone),
        cmocka_unit_test(a_refused_connect_command_is_none),
        cmocka_unit_test(a_connection_that_is_made_has_time_to_be_told),
        cmocka_unit_test(the_time_of_a_connection_ends),
        cmocka_unit_test(a_connection_of_the_other_role_is_not_ours),
        cmocka_unit_test(the_end_of_a_pairing_is_told_before_that_of_its_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
