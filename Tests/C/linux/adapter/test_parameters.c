/* SPDX-License-Identifier: MIT */
/* Parameters that another program sets, and how much one wake-up reads. */
#include "bluez_fixture.h"

#include <sys/socket.h>

/* Both command sets: the parameters in the controller are not ours any more, so they are sent again. */
static void scan_parameters_of_another_program_replace_ours(void **state) {
    (void)state;
    for (int theirs = 0; theirs < 2; theirs++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        bluez_start_scan(b);
        (void)bluez_answer(b, bluez_scan_parameters[0], 0);
        (void)bluez_expect(b, bluez_scan_enable[0]);
        assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_READY);
        const uint8_t packet[] = {HCI_COMMAND_PKT, (uint8_t)bluez_scan_parameters[theirs],
                                  (uint8_t)(bluez_scan_parameters[theirs] >> 8), 0};
        assert_int_equal(send(b->controller, packet, sizeof packet, 0), (ssize_t)sizeof packet);
        bluez_read(b);
        assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_OFF);
        bluez_complete(b, bluez_scan_parameters[theirs], 0);
        bluez_read(b);
        assert_false(b->radio.kernel.scans); /* it enables nothing */
        assert_int_equal(b->radio.command.opcode, bluez_scan_enable[0]);
        bluez_close(b);
    }
    /* Another command is none of our business; an enable command without its parameter says nothing. */
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    static const uint8_t others[][5] = {{HCI_COMMAND_PKT, 0x06, 0x20, 1, 0}, {HCI_COMMAND_PKT, 0x03, 0x0C, 1, 0}};
    static const uint8_t bare[] = {HCI_COMMAND_PKT, 0x0C, 0x20, 0};
    assert_int_equal(send(b->controller, others[0], 5, 0), 5);
    assert_int_equal(send(b->controller, others[1], 5, 0), 5);
    assert_int_equal(send(b->controller, bare, sizeof bare, 0), (ssize_t)sizeof bare);
    bluez_read(b);
    assert_int_equal(b->radio.kernel.opcode, 0);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    bluez_close(b);
}

/* ---- one wake-up ---- */

static int accepts;

static tendon_link *reject(void *context, const tendon_address *peer, uint64_t now) {
    (void)context;
    (void)peer;
    (void)now;
    accepts++;
    return NULL;
}

/* Others have their turn in between; what is left wakes the loop again. */
static void a_wake_up_is_bounded(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_listener listener = {.accept = reject};
    assert_int_equal(tendon_radio_listen(&b->radio.radio, &listener), TENDON_OK);
    accepts = 0;
    fake.centrals = 9;
    listener.source.ready(listener.source.context, TENDON_READABLE, 1);
    assert_int_equal(accepts, 8);
    listener.source.ready(listener.source.context, TENDON_READABLE, 1);
    assert_int_equal(accepts, 9);
    for (int i = 0; i < 20; i++) { /* malformed ones count */
        static const uint8_t truncated[] = {HCI_EVENT_PKT, TENDON_HCI_HARDWARE_ERROR, 1};
        assert_int_equal(send(b->controller, truncated, sizeof truncated, 0), (ssize_t)sizeof truncated);
    }
    bluez_read(b);
    assert_int_equal(b->radio.radio.malformed, 20);
    for (int i = 0; i < 8; i++) {
        bluez_settings(b, true);
    }
    static const uint8_t removed[] = {TENDON_MANAGEMENT_INDEX_REMOVED, 0, 7, 0, 0, 0};
    assert_int_equal(send(b->kernel, removed, sizeof removed, 0), (ssize_t)sizeof removed);
    bluez_read(b);
    assert_int_equal(b->radio.power.state, TENDON_BLUEZ_POWERED);
    bluez_read(b);
    assert_int_equal(b->radio.power.state, TENDON_BLUEZ_FAILED);
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_parameters_of_another_program_replace_ours),
        cmocka_unit_test(a_wake_up_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
