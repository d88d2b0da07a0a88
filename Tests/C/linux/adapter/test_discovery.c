/* SPDX-License-Identifier: MIT */
/* A kernel that takes our scan for a discovery of its own, and connects to nobody meanwhile (Linux 6.12). */
#include "bluez_connecting.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static void discovering(bluez_bench *b, uint8_t on) {
    bluez_discovering(b, on);
    bluez_read(b);
}

static bluez_connecting *scanning(void) {
    bluez_connecting *l = bluez_connecting_idle();
    assert_int_equal(tendon_radio_scan_start(&l->b->radio.radio, &(tendon_scan_parameters){.active = true}), TENDON_OK);
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    return l;
}

static void begin_connect(bluez_connecting *l) {
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &bluez_peer, tendon_monotonic_ms() + 3600000),
                     TENDON_OK);
}

static void pause_for_a_connect(bluez_connecting *l) {
    begin_connect(l);
    assert_int_equal(bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
}

static const uint8_t done[] = {1, 0, 7, 0, 3, 0, 0x24, 0, 0}, refused[] = {2, 0, 7, 0, 3, 0, 0x24, 0, 0x0B};

static void kernel_answers(bluez_bench *b, const uint8_t answer[sizeof done]) {
    assert_int_equal(send(b->kernel, answer, sizeof done, 0), sizeof done);
    bluez_read(b);
}

/* Found in the socket only when the scan is off; the command taken, or refused for there is no more. */
static void a_search_ends_before_a_connect(void **state) {
    (void)state;
    for (int is_refused = 0; is_refused < 2; is_refused++) {
        bluez_connecting *l = scanning();
        bluez_discovering(l->b, 1);
        pause_for_a_connect(l);
        assert_true(bluez_stops_discovery(l->b));
        assert_int_equal(fake.connects, 0);
        kernel_answers(l->b, is_refused ? refused : done);
        assert_int_equal(fake.connects, 1);
        discovering(l->b, 0); /* reports the same again */
        bluez_expect_no_management(l->b);
        assert_int_equal(fake.connects, 1);
        bluez_connecting_close(l);
    }
}

/** Scans, which the kernel takes for a discovery; a connect has asked the kernel to end both. */
static bluez_connecting *stopping(void) {
    bluez_connecting *l = scanning();
    discovering(l->b, 1);
    bluez_expect_no_management(l->b); /* we scan */
    begin_connect(l);
    assert_true(bluez_stops_discovery(l->b));
    bluez_expect_nothing(l->b); /* the kernel disables the scan */
    assert_int_equal(fake.connects, 0);
    return l;
}

/* The raw socket shows the kernel's command before the answer, or after it. A scan that another program disables waits
 * for 1 s; this one does not. */
static void a_search_ends_with_our_scan(void **state) {
    (void)state;
    for (int answered_first = 0; answered_first < 2; answered_first++) {
        bluez_connecting *l = stopping();
        if (answered_first) {
            kernel_answers(l->b, done);
            assert_int_equal(fake.connects, 1);
        }
        bluez_other_command(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
        assert_int_equal(l->b->radio.scan.activity.state, TENDON_BLUEZ_OFF);
        assert_int_equal(l->b->radio.scan.activity.retry_at, 0);
        if (!answered_first) {
            assert_int_equal(fake.connects, 0);
            kernel_answers(l->b, done);
        }
        assert_int_equal(fake.connects, 1);
        discovering(l->b, 0);
        bluez_tick(l->b, tendon_monotonic_ms());
        bluez_expect_nothing(l->b);
        bluez_expect_no_management(l->b);
        assert_int_equal(l->b->radio.counters.scan_pauses, 1);
        tendon_link_close(&l->link);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        (void)bluez_expect(l->b, TENDON_HCI_LE_SET_SCAN_PARAMETERS); /* it goes on at once */
        bluez_close(l->b);
    }
}

/* The kernel refuses, or does not answer in time: the scan is disabled by a command of our own. */
static void without_the_kernel_our_scan_is_disabled_by_us(void **state) {
    (void)state;
    for (int is_refused = 0; is_refused < 2; is_refused++) {
        bluez_connecting *l = stopping();
        assert_true(l->b->radio.timer.deadline <= l->b->radio.kernel.disables_until);
        bluez_tick(l->b, l->b->radio.timer.deadline);
        if (is_refused) {
            bluez_expect_nothing(l->b);
            kernel_answers(l->b, refused);
        } else {
            l->b->radio.kernel.disables_until = 1; /* 3 s have passed */
        }
        bluez_tick(l->b, tendon_monotonic_ms());
        assert_int_equal(bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
        assert_int_equal(fake.connects, 1);
        bluez_expect_no_management(l->b);
        assert_int_equal(l->b->radio.counters.scan_pauses, 1);
        bluez_connecting_close(l);
    }
}

/* Other parameters, for example: the command of before can be the kernel's. It starts when the kernel has disabled it;
 * the outcome is not certain if the command was not seen. */
static void a_scan_that_starts_again_waits_for_the_kernel(void **state) {
    (void)state;
    for (int is_seen = 0; is_seen < 2; is_seen++) {
        bluez_bench *b = bluez_scanning(false, &bluez_public_address);
        discovering(b, 1);
        bluez_request_scan(b);
        assert_true(bluez_stops_discovery(b));
        bluez_expect_nothing(b);
        if (is_seen) {
            bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
        } else {
            kernel_answers(b, done);
            bluez_tick(b, tendon_monotonic_ms());
            assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
        }
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
        if (is_seen) {
            kernel_answers(b, done); /* of the scan before: this one is on */
        }
        assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
        bluez_expect_nothing(b);
        bluez_close(b);
    }
}

/* The kernel is about to disable the scan: a second command would leave it between the two. */
static void a_radio_that_is_closed_meanwhile_disables_nothing(void **state) {
    (void)state;
    bluez_connecting *l = stopping();
    tendon_link_close(&l->link);
    tendon_radio_close(&l->b->radio.radio);
    assert_int_equal(recv(l->b->controller, &(uint8_t){0}, 1, 0), 0);
    assert_int_equal(recv(l->b->kernel, &(uint8_t){0}, 1, MSG_DONTWAIT), 0);
    bluez_close(l->b);
}

/* Powered off and on, nothing is stopped any more. */
static void a_reset_ends_the_wait_for_the_kernel(void **state) {
    (void)state;
    bluez_connecting *l = stopping();
    tendon_bluez_kernel_forget_discovery(&l->b->radio.kernel);
    assert_false(tendon_bluez_discovery_disables(&l->b->radio, 0));
    assert_false(tendon_bluez_discovery_disabled(&l->b->radio));
    bluez_connecting_close(l);
}

static void without_a_search_a_connect_goes_at_once(void **state) {
    (void)state;
    bluez_connecting *l = scanning();
    pause_for_a_connect(l);
    assert_int_equal(fake.connects, 1);
    bluez_expect_no_management(l->b);
    bluez_connecting_close(l);
}

static void the_search_of_another_program_is_left_alone(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    discovering(l->b, 1);
    bluez_expect_no_management(l->b);
    assert_int_equal(l->b->radio.kernel.discovery, TENDON_BLUEZ_DISCOVERY_OFF);
    bluez_connecting_close(l);
}

static void a_search_ends_with_the_radio(void **state) {
    (void)state;
    bluez_connecting *l = scanning();
    bluez_discovering(l->b, 1);
    int kernel = dup(l->b->kernel);
    bluez_close(l->b);
    l->b->kernel = kernel;
    assert_true(bluez_stops_discovery(l->b));
    close(kernel);
}

static void a_search_told_in_part_counts_as_malformed(void **state) {
    (void)state;
    bluez_connecting *l = scanning();
    static const uint8_t pdu[] = {TENDON_MANAGEMENT_DISCOVERING, 0, 7, 0, 1, 0, 6};
    assert_int_equal(send(l->b->kernel, pdu, sizeof pdu, 0), sizeof pdu);
    bluez_read(l->b);
    assert_int_equal(l->b->radio.radio.malformed, 1);
    assert_int_equal(l->b->radio.kernel.discovery, TENDON_BLUEZ_DISCOVERY_OFF);
    bluez_close(l->b);
}

/* Our scan is off: what the last command was, or that advertising is just being enabled, is no reason to wait. */
static void a_discovery_is_stopped_once_our_scan_is_off(void **state) {
    (void)state;
    for (int advertises = 0; advertises < 2; advertises++) {
        bluez_bench *b = bluez_scanning(false, &bluez_public_address);
        if (advertises) {
            bluez_start_advertising(b);
            for (int command = 0; command < 3; command++) {
                bluez_answer_pending(b, 0);
            }
            assert_int_equal(b->radio.command.opcode, bluez_advertising_enable[0]);
        }
        bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
        discovering(b, 1);
        assert_true(bluez_stops_discovery(b));
        discovering(b, 1); /* once is enough */
        assert_false(bluez_stops_discovery(b));
        discovering(b, 0); /* it has ended, and another one begins */
        discovering(b, 1);
        assert_true(bluez_stops_discovery(b));
        bluez_close(b);
    }
}

/* The answer to Stop Discovery is lost in a full receive buffer: attempts do not wait for it for ever. */
static void an_answer_that_is_lost_is_not_waited_for(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    discovering(b, 1);
    assert_true(bluez_stops_discovery(b));
    assert_false(tendon_bluez_scan_idle(&b->radio));
    uint64_t asked = fake.now;
    while (!tendon_bluez_scan_idle(&b->radio) && fake.now < asked + 60000) {
        assert_int_equal(tendon_loop_step(&b->loop, fake.now + 100), TENDON_OK);
    }
    assert_int_equal(fake.now - asked, TENDON_BLUEZ_COMMAND_TIMEOUT_MS);
    bluez_close(b);
}

/* The scan is stopped and started again: it is on until its command is answered. Two programs that disable one scan
 * confuse the kernel if the controller rejects the second command: its discovery never ends, and it never connects. */
static void a_discovery_is_not_stopped_while_our_scan_is_being_disabled(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    assert_int_equal(bluez_expect(b, TENDON_HCI_LE_SET_SCAN_ENABLE)[0], 0);
    bluez_start_scan(b);
    discovering(b, 1);
    assert_false(bluez_stops_discovery(b));
    bluez_complete(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_read(b);
    assert_true(bluez_stops_discovery(b));
    bluez_close(b);
}

/* Another program has disabled our scan: the discovery that the kernel still assumes would keep it from connecting. */
static void a_discovery_is_stopped_when_another_program_disables_our_scan(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    discovering(b, 1);
    assert_false(bluez_stops_discovery(b));
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_true(bluez_stops_discovery(b));
    bluez_close(b);
}

/* While another program scans, the discovery is its own; an answer to any other command says nothing about it. */
static void a_discovery_is_ours_or_not(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    discovering(b, 1);
    static const uint8_t powered[] = {TENDON_MANAGEMENT_COMMAND_COMPLETE, 0, 7, 0, 3, 0, 0x05, 0, 0};
    assert_int_equal(send(b->kernel, powered, sizeof powered, 0), (ssize_t)sizeof powered);
    bluez_read(b);
    assert_int_equal(b->radio.kernel.discovery, TENDON_BLUEZ_DISCOVERY_ON);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 1);
    discovering(b, 1);
    assert_int_equal(b->radio.kernel.discovery, TENDON_BLUEZ_DISCOVERY_OFF);
    bluez_close(b);
}

/* The kernel scanned for a connection. Its two sockets are read in any order: that it discovers can be read before the
 * response of the command that made it do so. */
static void a_discovery_told_before_the_response_to_our_scan_is_ours(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    b->radio.use = TENDON_BLUEZ_SOLE; /* a shared radio joins the other scan */
    bluez_start_scan(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(bluez_expect(b, TENDON_HCI_LE_SET_SCAN_ENABLE)[0], 1);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 1);
    discovering(b, 1);
    bluez_complete(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_read(b);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    assert_true(bluez_stops_discovery(b));
    bluez_close(b);
}

/* The other program was first, and a controller that accepts both commands has changed nothing: what the kernel has
 * reported between them is the other program's, and goes on. */
static void a_discovery_of_the_program_that_was_first_goes_on(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    bluez_start_scan(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(bluez_expect(b, TENDON_HCI_LE_SET_SCAN_ENABLE)[0], 1);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 1);
    discovering(b, 1);
    bluez_complete(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_read(b);
    assert_true(b->radio.scan.joined);
    bluez_expect_no_management(b);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    bluez_expect_no_management(b);
    bluez_close(b);
}

/* The kernel takes an active scan for a discovery, and connects to nothing until that is stopped: by a command that
 * needs CAP_NET_ADMIN. A passive scan is none. */
static void without_the_capability_a_scan_is_passive(void **state) {
    (void)state;
    static const privileges rights[] = {
        {.effective = 1u << 13}, {.effective = 1u << 12 | 1u << 13}, {.effective = ~0u, .error = EPERM}};
    for (int i = 0; i < 12; i++) {
        bool extended = i % 2 != 0, active = i % 4 < 2, capable = i / 4 == 1;
        bluez_bench *b = bluez_open(extended, &bluez_public_address);
        bluez_privileges = rights[i / 4];
        const tendon_scan_parameters parameters = {.active = active};
        assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &parameters), TENDON_OK);
        const uint8_t *sent = bluez_answer(b, bluez_scan_parameters[extended], 0);
        assert_int_equal(sent[extended ? 3 : 0], active && capable);
        assert_int_equal(b->radio.radio.scan_passive, active && !capable);
        (void)bluez_answer(b, bluez_scan_enable[extended], 0);
        assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
        (void)bluez_answer(b, bluez_scan_enable[extended], 0);
        bluez_privileges = rights[1]; /* as another user */
        bluez_request_scan(b);
        assert_false(b->radio.radio.scan_passive);
        bluez_close(b);
    }
}

/* Between the parameters and the command that enables it, a scan is off for a moment only. */
static void the_discovery_of_a_scan_that_begins_goes_on(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
    bluez_start_scan(b);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    bluez_discovering(b, 1);
    bluez_complete(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    bluez_read(b);
    bluez_expect_no_management(b);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
    bluez_expect_no_management(b);
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_discovery_of_a_scan_that_begins_goes_on),
        cmocka_unit_test(without_the_capability_a_scan_is_passive),
        cmocka_unit_test(a_search_ends_before_a_connect),
        cmocka_unit_test(a_search_ends_with_our_scan),
        cmocka_unit_test(without_the_kernel_our_scan_is_disabled_by_us),
        cmocka_unit_test(a_scan_that_starts_again_waits_for_the_kernel),
        cmocka_unit_test(a_radio_that_is_closed_meanwhile_disables_nothing),
        cmocka_unit_test(a_reset_ends_the_wait_for_the_kernel),
        cmocka_unit_test(without_a_search_a_connect_goes_at_once),
        cmocka_unit_test(the_search_of_another_program_is_left_alone),
        cmocka_unit_test(a_search_ends_with_the_radio),
        cmocka_unit_test(a_search_told_in_part_counts_as_malformed),
        cmocka_unit_test(a_discovery_is_stopped_once_our_scan_is_off),
        cmocka_unit_test(an_answer_that_is_lost_is_not_waited_for),
        cmocka_unit_test(a_discovery_is_not_stopped_while_our_scan_is_being_disabled),
        cmocka_unit_test(a_discovery_is_stopped_when_another_program_disables_our_scan),
        cmocka_unit_test(a_discovery_is_ours_or_not),
        cmocka_unit_test(a_discovery_of_the_program_that_was_first_goes_on),
        cmocka_unit_test(a_discovery_told_before_the_response_to_our_scan_is_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
