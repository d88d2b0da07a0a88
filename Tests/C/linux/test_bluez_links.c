/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the radio does about a connect that the kernel has taken and does nothing about. */
#include "bluez_fixture.h"

#include <sys/socket.h>
#include <unistd.h>

static const tendon_address own = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x42}, TENDON_ADDRESS_TYPE_PUBLIC};
static const tendon_address somebody = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x01}, TENDON_ADDRESS_TYPE_PUBLIC};
enum { CREATE_CONNECTION = 0x200D, EXTENDED_CREATE_CONNECTION = 0x2043 };

typedef struct links_bench {
    bluez_bench *b;
    tendon_link link;
} links_bench;

static links_bench the_bench;

static links_bench *connecting(void) {
    links_bench *l = &the_bench;
    l->b = bluez_open(false, &own);
    tendon_link_init(&l->link, NULL);
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &somebody, tendon_now_ms() + 3600000),
                     TENDON_OK);
    assert_int_equal(calls.connects, 1);
    return l;
}

static void end(links_bench *l) {
    tendon_link_close(&l->link);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    assert_int_equal(l->link.state, TENDON_LINK_CLOSED);
    assert_null(l->b->radio.attempts[0].link);
    bluez_close(l->b);
}

/** So much time passes for the attempt, then the timer strikes, if it would. */
static void elapse(links_bench *l, uint64_t ms) {
    tendon_bluez_radio *radio = &l->b->radio;
    radio->attempts[0].begun_at -= ms;
    radio->attempts[0].check_at -= ms;
    if (radio->connects_until != 0 && radio->connects_until != UINT64_MAX) {
        radio->connects_until -= ms;
    }
    assert_true(radio->timer.deadline <= radio->attempts[0].check_at + ms);
    bluez_tick(l->b, tendon_now_ms());
    assert_true(radio->timer.deadline <= radio->attempts[0].check_at); /* it is looked at again */
}

/** The attempt has no socket for a moment, so that the kernel forgets it; then it is @p count th connect. */
static void asked_again(links_bench *l, int count) {
    assert_int_equal(calls.connects, count - 1);
    assert_int_equal(l->link.source.fd, -1);
    assert_int_equal(l->link.state, TENDON_LINK_CONNECTING);
    elapse(l, 60);
    assert_int_equal(calls.connects, count);
    assert_int_equal(l->link.source.fd, calls.fd);
}

/** A command of the kernel's, as the raw socket shows it; answered with @p status where that is a Command Complete. */
static void kernel_sends(links_bench *l, uint16_t opcode, uint8_t parameter) {
    const uint8_t packet[] = {HCI_COMMAND_PKT, (uint8_t)opcode, (uint8_t)(opcode >> 8), 2, parameter, 0};
    assert_int_equal(send(l->b->controller, packet, sizeof packet, 0), sizeof packet);
    bluez_read_controller(l->b);
}

static void kernel_scans(links_bench *l, uint8_t on) {
    kernel_sends(l, TENDON_HCI_LE_SET_SCAN_ENABLE, on);
    bluez_complete(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_read_controller(l->b);
}

static void connection_complete(links_bench *l, uint8_t status, uint8_t role) {
    const uint8_t parameters[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE, status, 0x40, 0, role, [11] = 0x18, [15] = 0x2A};
    bluez_event(l->b, TENDON_HCI_LE_META, parameters, sizeof parameters);
    bluez_read_controller(l->b);
    assert_int_equal(l->b->radio.radio.malformed, 0);
}

static void a_kernel_that_does_not_begin_is_asked_again(void **state) {
    (void)state;
    links_bench *l = connecting();
    elapse(l, 290);
    assert_int_equal(calls.connects, 1);
    for (int again = 2; again < 10; again++) {
        elapse(l, 310);
        asked_again(l, again);
        assert_int_equal(l->b->radio.counters.connect_reissues, again - 1);
    }
    end(l);
}

/* A report that the kernel did not take comes again in a new scan only. */
static void a_kernel_that_scans_has_longer(void **state) {
    (void)state;
    links_bench *l = connecting();
    kernel_scans(l, 1);
    elapse(l, 310);
    elapse(l, 1600);
    assert_int_equal(calls.connects, 1);
    elapse(l, 100);
    asked_again(l, 2);
    kernel_scans(l, 0); /* and begins anew */
    elapse(l, 310);
    asked_again(l, 3);
    end(l);
}

static void a_kernel_that_connects_is_left_alone(void **state) {
    (void)state;
    static const uint16_t opcodes[] = {CREATE_CONNECTION, EXTENDED_CREATE_CONNECTION};
    for (int i = 0; i < 2; i++) {
        links_bench *l = connecting();
        kernel_sends(l, opcodes[i], 0);
        for (int j = 0; j < 20; j++) {
            elapse(l, 1000);
        }
        assert_int_equal(calls.connects, 1);
        connection_complete(l, 0x3E, 0); /* it failed; the socket tells that too, or it does not */
        elapse(l, 310);
        asked_again(l, 2);
        end(l);
    }
}

static void a_refused_connect_command_is_none(void **state) {
    (void)state;
    links_bench *l = connecting();
    kernel_sends(l, CREATE_CONNECTION, 0);
    const uint8_t refused[] = {0x0C, 1, CREATE_CONNECTION & 0xFF, CREATE_CONNECTION >> 8};
    bluez_event(l->b, TENDON_HCI_COMMAND_STATUS, refused, sizeof refused);
    bluez_read_controller(l->b);
    elapse(l, 310);
    asked_again(l, 2);
    end(l);
}

/* The kernel asks the peer for its features before it tells the socket. */
static void a_connection_that_is_made_has_time_to_be_told(void **state) {
    (void)state;
    links_bench *l = connecting();
    kernel_sends(l, CREATE_CONNECTION, 0);
    connection_complete(l, 0, 0);
    for (int i = 0; i < 9; i++) {
        elapse(l, 500);
    }
    assert_int_equal(calls.connects, 1);
    elapse(l, 510);
    asked_again(l, 2);
    end(l);
}

/* A central that connects to us says nothing about our own attempt. */
static void a_connection_of_the_other_role_is_not_ours(void **state) {
    (void)state;
    links_bench *l = connecting();
    connection_complete(l, 0, 1);
    elapse(l, 310);
    asked_again(l, 2);
    end(l);
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

/* The peer refuses and hangs up; the link's end is read first, the answer of Pair Device waits in the other socket. */
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
    links_bench *l = connecting();
    uint8_t sink[64];
    tendon_bonds_init(&bonds);
    assert_int_equal(tendon_radio_use_bonds(&l->b->radio.radio, &bonds), TENDON_OK);
    l->link.callbacks = (tendon_link_callbacks){.context = &paired, .closed = on_closed};
    l->link.source.ready(l->link.source.context, TENDON_WRITABLE, tendon_now_ms()); /* connected */
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    l->link.pairing = (tendon_pairing_attempt){
        .state = TENDON_PAIRING_RUNNING, .deadline = UINT64_MAX, .done = on_paired, .done_context = &paired};
    assert_int_equal(send(l->b->kernel, refused, sizeof refused, 0), sizeof refused);
    close(calls.peer);
    calls.peer = -1;
    l->link.source.ready(l->link.source.context, TENDON_READABLE, tendon_now_ms());
    assert_ptr_equal(paired_before, &paired);
    assert_int_equal(l->link.state, TENDON_LINK_CLOSED);
    assert_int_equal(recv(l->b->kernel, sink, sizeof sink, MSG_DONTWAIT), -1); /* nothing was asked */
    bluez_close(l->b);
}

/* ---- a kernel that takes our scan for a search of its own, and connects to nobody meanwhile (Linux 6.12) ---- */

static void discovering(links_bench *l, uint8_t on) {
    const uint8_t pdu[] = {TENDON_MANAGEMENT_DISCOVERING, 0, 7, 0, 2, 0, 6, on};
    assert_int_equal(send(l->b->kernel, pdu, sizeof pdu, 0), sizeof pdu);
}

static void expect_stop_discovery(links_bench *l) {
    static const uint8_t stop[] = {0x24, 0, 7, 0, 1, 0, 6};
    uint8_t pdu[64];
    assert_int_equal(recv(l->b->kernel, pdu, sizeof pdu, 0), sizeof stop);
    assert_memory_equal(pdu, stop, sizeof stop);
}

static void expect_no_management(links_bench *l) {
    uint8_t pdu[64];
    assert_int_equal(recv(l->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), -1);
}

static links_bench *scanning(void) {
    links_bench *l = &the_bench;
    l->b = bluez_open(false, &own);
    tendon_link_init(&l->link, NULL);
    assert_int_equal(tendon_radio_scan_start(&l->b->radio.radio, &(tendon_scan_parameters){.active = true}), TENDON_OK);
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    return l;
}

static void pause_for_a_connect(links_bench *l) {
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &somebody, tendon_now_ms() + 3600000),
                     TENDON_OK);
    assert_int_equal(bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
}

/* Told at once, or only found in the socket when the scan is off; the command taken, or refused for there is no more.
 */
static void a_search_ends_before_a_connect(void **state) {
    (void)state;
    static const uint8_t done[] = {1, 0, 7, 0, 3, 0, 0x24, 0, 0}, refused[] = {2, 0, 7, 0, 3, 0, 0x24, 0, 0x0B};
    for (int order = 0; order < 4; order++) {
        links_bench *l = scanning();
        discovering(l, 1);
        if ((order & 1) != 0) {
            bluez_read_kernel(l->b);
            expect_no_management(l); /* we scan */
        }
        pause_for_a_connect(l);
        expect_stop_discovery(l);
        assert_int_equal(calls.connects, 0);
        assert_int_equal(send(l->b->kernel, (order & 2) != 0 ? refused : done, sizeof done, 0), sizeof done);
        bluez_read_kernel(l->b);
        assert_int_equal(calls.connects, 1);
        discovering(l, 0); /* tells the same again */
        bluez_read_kernel(l->b);
        expect_no_management(l);
        assert_int_equal(calls.connects, 1);
        end(l);
    }
}

static void without_a_search_a_connect_goes_at_once(void **state) {
    (void)state;
    links_bench *l = scanning();
    pause_for_a_connect(l);
    assert_int_equal(calls.connects, 1);
    expect_no_management(l);
    end(l);
}

static void the_search_of_another_program_is_left_alone(void **state) {
    (void)state;
    links_bench *l = connecting();
    discovering(l, 1);
    bluez_read_kernel(l->b);
    expect_no_management(l);
    assert_false(l->b->radio.discovery.on);
    end(l);
}

static void a_search_ends_with_the_radio(void **state) {
    (void)state;
    links_bench *l = scanning();
    discovering(l, 1);
    int kernel = dup(l->b->kernel);
    bluez_close(l->b);
    l->b->kernel = kernel;
    expect_stop_discovery(l);
    close(kernel);
}

static void a_search_told_in_part_counts_as_malformed(void **state) {
    (void)state;
    links_bench *l = scanning();
    static const uint8_t pdu[] = {TENDON_MANAGEMENT_DISCOVERING, 0, 7, 0, 1, 0, 6};
    assert_int_equal(send(l->b->kernel, pdu, sizeof pdu, 0), sizeof pdu);
    bluez_read_kernel(l->b);
    assert_int_equal(l->b->radio.radio.malformed, 1);
    assert_false(l->b->radio.discovery.on);
    bluez_close(l->b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_does_not_begin_is_asked_again),
        cmocka_unit_test(a_kernel_that_scans_has_longer),
        cmocka_unit_test(a_kernel_that_connects_is_left_alone),
        cmocka_unit_test(a_search_ends_before_a_connect),
        cmocka_unit_test(without_a_search_a_connect_goes_at_once),
        cmocka_unit_test(the_search_of_another_program_is_left_alone),
        cmocka_unit_test(a_search_ends_with_the_radio),
        cmocka_unit_test(a_search_told_in_part_counts_as_malformed),
        cmocka_unit_test(a_refused_connect_command_is_none),
        cmocka_unit_test(a_connection_that_is_made_has_time_to_be_told),
        cmocka_unit_test(a_connection_of_the_other_role_is_not_ours),
        cmocka_unit_test(the_end_of_a_pairing_is_told_before_that_of_its_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
