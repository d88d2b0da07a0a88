/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the radio does about a connect that the kernel has taken and does nothing about. */
#include "bluez_fixture.h"

#include <errno.h>
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
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &somebody, tendon_monotonic_ms() + 3600000),
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
    bluez_tick(l->b, tendon_monotonic_ms());
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
    l->link.source.ready(l->link.source.context, TENDON_WRITABLE, tendon_monotonic_ms()); /* connected */
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    l->link.pairing = (tendon_pairing_attempt){
        .state = TENDON_PAIRING_RUNNING, .deadline = UINT64_MAX, .done = on_paired, .done_context = &paired};
    assert_int_equal(send(l->b->kernel, refused, sizeof refused, 0), sizeof refused);
    close(calls.peer);
    calls.peer = -1;
    l->link.source.ready(l->link.source.context, TENDON_READABLE, tendon_monotonic_ms());
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
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &somebody, tendon_monotonic_ms() + 3600000),
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

/* ---- why connections end ---- */

static void disconnected(links_bench *l, uint16_t handle, uint8_t reason) {
    const uint8_t parameters[] = {0, (uint8_t)handle, (uint8_t)(handle >> 8), reason};
    bluez_event(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, parameters, sizeof parameters);
    bluez_read_controller(l->b);
}

/** The attempt's socket is connected. */
static links_bench *connected_link(void) {
    links_bench *l = connecting();
    l->link.source.ready(l->link.source.context, TENDON_WRITABLE, tendon_monotonic_ms());
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    assert_int_equal(l->link.handle, 0x40);
    return l;
}

static void the_reason_of_a_disconnection_is_reported_once(void **state) {
    (void)state;
    links_bench *l = connected_link();
    disconnected(l, 0x40, 0x08);
    assert_int_equal(tendon_bluez_link_reason(&l->link, 0, false), TENDON_RADIO_ERROR_OUT_OF_RANGE);
    /* A later connection with the same handle: nothing is known of its end. */
    assert_int_equal(tendon_bluez_link_reason(&l->link, 0, false), TENDON_RADIO_ERROR_PEER_CLOSED);
    end(l);
}

static void every_reason_has_its_status(void **state) {
    (void)state;
    for (int code = 1; code < 256; code++) {
        links_bench *l = connected_link();
        disconnected(l, 0x40, (uint8_t)code);
        bool range = code == 0x04 || code == 0x08 || code == 0x3C, peer = code >= 0x13 && code <= 0x15;
        tendon_status expected = range          ? TENDON_RADIO_ERROR_OUT_OF_RANGE
                                 : peer         ? TENDON_RADIO_ERROR_PEER_CLOSED
                                 : code == 0x0C ? TENDON_RADIO_ERROR_ADAPTER_BUSY
                                                : TENDON_HCI_ERROR(code);
        assert_int_equal(tendon_bluez_link_reason(&l->link, 0, false), expected);
        end(l);
    }
}

/* As many as the radio keeps; the oldest is replaced, whatever was before. */
static void the_latest_reasons_are_kept(void **state) {
    (void)state;
    links_bench *l = connected_link();
    for (uint16_t i = 0; i < 5 * TENDON_BLUEZ_ENDINGS; i++) {
        disconnected(l, (uint16_t)(0x100 + i), (uint8_t)(0x20 + i));
        assert_true(l->b->radio.next_ending < TENDON_BLUEZ_ENDINGS);
        for (uint16_t back = 0; back < TENDON_BLUEZ_ENDINGS && back <= i; back++) {
            const tendon_bluez_disconnect_reason *found = NULL;
            for (size_t slot = 0; slot < TENDON_BLUEZ_ENDINGS; slot++) {
                const tendon_bluez_disconnect_reason *ending = &l->b->radio.endings[slot];
                found = ending->handle == 0x100 + i - back ? ending : found;
            }
            assert_non_null(found);
            assert_int_equal(found->reason, 0x20 + i - back);
        }
    }
    end(l);
}

/* A failed connection event says nothing but its status: it belongs to the peer of the kernel's command. */
static void a_failed_attempt_has_the_reason_of_its_own_peer(void **state) {
    (void)state;
    static const tendon_address other = {{0xC0, 0x00, 0x5E, 0x00, 0x53, 0x02}, TENDON_ADDRESS_TYPE_RANDOM};
    for (int extended = 0; extended < 2; extended++) {
        links_bench *l = connecting();
        tendon_link second;
        tendon_link_init(&second, NULL);
        assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &second, &other, tendon_monotonic_ms() + 3600000),
                         TENDON_OK);
        const uint8_t legacy[] = {
            HCI_COMMAND_PKT, 0x0D, 0x20, 12, 0x60, 0, 0x60, 0, 0, 1, 0x02, 0x53, 0, 0x5E, 0, 0xC0};
        const uint8_t later[] = {HCI_COMMAND_PKT, 0x43, 0x20, 9, 0, 0, 1, 0x02, 0x53, 0, 0x5E, 0, 0xC0};
        const uint8_t *command = extended ? later : legacy;
        size_t size = extended ? sizeof later : sizeof legacy;
        assert_int_equal(send(l->b->controller, command, size, 0), size);
        bluez_read_controller(l->b);
        connection_complete(l, 0x3E, 0);
        assert_int_equal(tendon_bluez_link_reason(&l->link, ETIMEDOUT, true), TENDON_RADIO_ERROR_OUT_OF_RANGE);
        assert_int_equal(tendon_bluez_link_reason(&second, ENOSYS, true), TENDON_HCI_ERROR(0x3E));
        /* Once; and none without a command of the kernel. */
        assert_int_equal(tendon_bluez_link_reason(&second, ETIMEDOUT, true), TENDON_RADIO_ERROR_OUT_OF_RANGE);
        connection_complete(l, 0x08, 0);
        assert_int_equal(tendon_bluez_link_reason(&second, EMLINK, true), TENDON_HCI_ERROR(0x09));
        tendon_link_close(&second);
        end(l);
    }
}

/* ---- ending a connection ---- */

static void a_closed_link_is_disconnected_and_awaited(void **state) {
    (void)state;
    links_bench *l = connected_link();
    tendon_link_close(&l->link);
    const uint8_t *parameters = bluez_expect(l->b, 0x0406);
    assert_memory_equal(parameters, "\x40\x00\x13", 3);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    tendon_link again;
    tendon_link_init(&again, NULL);
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &again, &somebody, tendon_monotonic_ms() + 3600000),
                     TENDON_OK);
    assert_int_equal(calls.connects, 1);
    disconnected(l, 0x40, 0x16);
    l->b->radio.leaving[0].until = 0; /* the kernel has acted on it */
    bluez_tick(l->b, tendon_monotonic_ms());
    assert_int_equal(calls.connects, 2);
    tendon_link_close(&again);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    bluez_close(l->b);
}

/* Another connection has the handle by now, or the kernel knows none. */
static void a_reused_handle_is_not_disconnected(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        links_bench *l = connected_link();
        if (how == 0) {
            calls.kernel_handle = 0x41;
        } else if (how == 1) {
            calls.ioctl = (refused_call){ENOENT, 0};
        } else { /* the controller has reported a new connection with it */
            connection_complete(l, 0, 0);
            assert_int_equal(l->link.handle, TENDON_BLUEZ_HANDLE_UNKNOWN);
        }
        tendon_link_close(&l->link);
        bluez_expect_nothing(l->b);
        assert_int_equal(l->b->radio.leaving[0].until, 0);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        bluez_close(l->b);
    }
}

/* Twice; what it gets then, it takes. */
static void connections_that_were_left_behind_are_ended(void **state) {
    (void)state;
    for (int found = 1; found <= 3; found++) {
        links_bench *l = &the_bench;
        l->b = bluez_open(false, &own);
        calls.old_connections = found;
        tendon_link_init(&l->link, NULL);
        assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &somebody, tendon_monotonic_ms() + 3600000),
                         TENDON_OK);
        for (int i = 0; i < found && i < 2; i++) {
            (void)bluez_expect(l->b, 0x0406);
            assert_int_equal(l->link.source.fd, -1);
            l->b->radio.leaving[0].until = l->b->radio.leaving[1].until = 0;
            l->b->radio.attempts[0].check_at = 0;
            bluez_tick(l->b, tendon_monotonic_ms());
        }
        bluez_expect_nothing(l->b);
        assert_int_equal(calls.connects, found < 3 ? found + 1 : 3);
        assert_int_equal(l->link.connected, found == 3);
        end(l);
    }
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
        cmocka_unit_test(the_reason_of_a_disconnection_is_reported_once),
        cmocka_unit_test(every_reason_has_its_status),
        cmocka_unit_test(the_latest_reasons_are_kept),
        cmocka_unit_test(a_failed_attempt_has_the_reason_of_its_own_peer),
        cmocka_unit_test(a_closed_link_is_disconnected_and_awaited),
        cmocka_unit_test(a_reused_handle_is_not_disconnected),
        cmocka_unit_test(connections_that_were_left_behind_are_ended),
        cmocka_unit_test(the_end_of_a_pairing_is_told_before_that_of_its_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
