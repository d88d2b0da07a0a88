/* SPDX-License-Identifier: MIT */
/* Packets that look alike: of this command or of another one, of this connection or of the next, of us or of others. */
#include "bluez_connecting.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- one wake-up ---- */

static const uint8_t one_report[] = {TENDON_HCI_LE_ADVERTISING_REPORT, 1, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0xC4};
static const uint8_t other_event[] = {HCI_EVENT_PKT, TENDON_HCI_HARDWARE_ERROR, 1};

static void close_radio(void *context, const tendon_ad_report *report, uint64_t now) {
    bluez_bench *b = context;
    (void)report;
    (void)now;
    b->reports++;
    tendon_radio_close(&b->radio.radio);
}

/* The owner closes the radio at the first device: nothing that came with it is read any more. */
static void a_radio_that_is_closed_by_a_report_reads_nothing_more(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    b->radio.radio.on_report = close_radio;
    bluez_event(b, TENDON_HCI_LE_META, one_report, sizeof one_report);
    assert_int_equal(send(b->controller, other_event, sizeof other_event, 0), (ssize_t)sizeof other_event);
    bluez_read(b);
    assert_int_equal(b->reports, 1);
    assert_int_equal(b->radio.radio.malformed, 0);
    assert_false(b->radio.opened);
    bluez_close(b);
}

/* The controller rejects the address, which ends the radio: what came behind that is not read. */
static void a_radio_that_fails_reads_nothing_more(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_random_address);
    bluez_start_scan(b);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_RANDOM_ADDRESS);
    bluez_complete(b, TENDON_HCI_LE_SET_RANDOM_ADDRESS, 0x12);
    assert_int_equal(send(b->controller, other_event, sizeof other_event, 0), (ssize_t)sizeof other_event);
    bluez_read(b);
    assert_int_equal(b->failure, TENDON_HCI_ERROR(0x12));
    assert_int_equal(b->radio.radio.malformed, 0);
    bluez_close(b);
}

/* A packet without a byte is none, whatever was at its place before; the one behind it is read. */
static void an_empty_packet_is_skipped(void **state) {
    (void)state;
    static const uint8_t before[][6] = {
        {HCI_EVENT_PKT, TENDON_HCI_HARDWARE_ERROR, 9, 1, 1, 1},
        {HCI_COMMAND_PKT, TENDON_HCI_LE_SET_SCAN_ENABLE & 0xFF, TENDON_HCI_LE_SET_SCAN_ENABLE >> 8, 2, 1, 0}};
    for (size_t i = 0; i < 2; i++) {
        bluez_bench *b = bluez_scanning(false, &bluez_public_address);
        for (int slot = 0; slot < 16; slot++) { /* all of one wake-up */
            assert_int_equal(send(b->controller, before[i], sizeof before[i], 0), (ssize_t)sizeof before[i]);
        }
        bluez_read(b);
        uint64_t malformed = b->radio.radio.malformed;
        b->radio.kernel.opcode = 0;
        assert_int_equal(send(b->controller, "", 0, 0), 0);
        bluez_event(b, TENDON_HCI_LE_META, one_report, sizeof one_report);
        bluez_read(b);
        assert_int_equal(b->radio.radio.malformed, malformed);
        assert_int_equal(b->radio.kernel.opcode, 0);
        assert_int_equal(b->reports, 1);
        bluez_close(b);
    }
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    assert_int_equal(send(b->kernel, "", 0, 0), 0);
    bluez_settings(b, true);
    bluez_read(b);
    assert_int_equal(b->radio.settings, 0x201);
    assert_int_equal(b->failures, 0);
    bluez_close(b);
}

/* Command Complete without return parameters, of a command of another program: what was at the place of the status
 * before, from another packet, is none. */
static void a_response_of_others_without_a_status(void **state) {
    (void)state;
    static const uint8_t rejected[] = {1, 0x01, 0x10, 0x0C}, no_status[] = {1, 0x0C, 0x20};
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    for (int slot = 0; slot < 16; slot++) { /* all of one wake-up */
        bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, rejected, sizeof rejected);
    }
    bluez_read(b);
    bluez_other_sends(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 1);
    bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, no_status, sizeof no_status);
    bluez_read(b);
    assert_true(b->radio.kernel.scans);
    bluez_close(b);
}

/* Data of a connection whose bytes would be LE Set Scan Enable: only a command is one. */
static void data_is_no_command(void **state) {
    (void)state;
    static const uint8_t data[] = {HCI_ACLDATA_PKT, 0x0C, 0x20, 2, 1, 0};
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    assert_int_equal(send(b->controller, data, sizeof data, 0), (ssize_t)sizeof data);
    bluez_read(b);
    bluez_complete(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_read(b);
    assert_false(b->radio.kernel.scans);
    bluez_close(b);
}

/* The longest event that is read. */
static void a_management_event_of_full_length_is_read(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    static uint8_t pdu[TENDON_MANAGEMENT_PDU_MAX + 1] = {TENDON_MANAGEMENT_INDEX_REMOVED, 0, 7};
    for (size_t size = sizeof pdu; size >= sizeof pdu - 1; size--) { /* one of a byte more is skipped */
        assert_int_equal(b->failures, 0);
        pdu[4] = (uint8_t)(size - 6);
        pdu[5] = (uint8_t)((size - 6) >> 8);
        assert_int_equal(send(b->kernel, pdu, size, 0), (ssize_t)size);
        bluez_read(b);
    }
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    assert_int_equal(b->failure, TENDON_RADIO_ERROR_NO_ADAPTER);
    bluez_close(b);
}

/* Device Connected of another adapter: address, LE public, flags 1, no advertising data. That adapter was not switched
 * on. */
static void a_connection_of_another_adapter_is_none_of_its_settings(void **state) {
    (void)state;
    static const uint8_t pdu[] = {0x0B, 0, 3, 0, 13, 0, 1, 0x53, 0, 0x5E, 0, 0, 1, 1, 0, 0, 0, 0, 0};
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    assert_int_equal(send(b->kernel, pdu, sizeof pdu, 0), (ssize_t)sizeof pdu);
    bluez_read(b);
    bluez_expect_no_management(b);
    bluez_close(b);
}

/* ---- answers ---- */

/* Vol 4 Part E 7.7.15: 0 means that the command is pending; anything else ends it. */
static void a_command_status_ends_a_command_that_failed(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    bluez_start_scan(b);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    const uint8_t pending[] = {0, 1, TENDON_HCI_LE_SET_SCAN_PARAMETERS & 0xFF, TENDON_HCI_LE_SET_SCAN_PARAMETERS >> 8};
    bluez_event(b, TENDON_HCI_COMMAND_STATUS, pending, sizeof pending);
    bluez_read(b);
    bluez_expect_nothing(b);
    assert_int_equal(b->radio.command.opcode, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    const uint8_t unknown[] = {1, 1, TENDON_HCI_LE_SET_SCAN_PARAMETERS & 0xFF, TENDON_HCI_LE_SET_SCAN_PARAMETERS >> 8};
    bluez_event(b, TENDON_HCI_COMMAND_STATUS, unknown, sizeof unknown);
    bluez_read(b);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    assert_int_equal(b->failure, TENDON_HCI_ERROR(0x01));
    assert_false(b->radio.radio.scanning);
    bluez_close(b);
}

/* An owner without on_failure: the radio ends all the same. */
static void a_failure_that_nobody_wants_to_know(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    b->radio.radio.on_failure = NULL;
    b->radio.radio.on_report = NULL;
    bluez_event(b, TENDON_HCI_LE_META, one_report, sizeof one_report);
    bluez_read(b);
    assert_int_equal(b->radio.radio.reports, 1);
    tendon_bluez_fail(&b->radio, TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    assert_true(b->radio.power.failure_reported);
    assert_false(b->radio.radio.scanning);
    bluez_close(b);
}

/* Set Random Address belongs to no activity: its lost answers count by themselves. */
static void a_random_address_that_is_never_answered_ends_the_radio(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_random_address);
    bluez_start_scan(b);
    for (int i = 1; i <= TENDON_BLUEZ_UNANSWERED_MAX; i++) {
        assert_int_equal(b->failures, 0);
        (void)bluez_expect(b, TENDON_HCI_LE_SET_RANDOM_ADDRESS);
        b->radio.hci.expired(b->radio.hci.context, b->radio.hci.deadline);
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    }
    assert_int_equal(b->failure, TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    bluez_close(b);
}

/* ---- connections ---- */

static void connection_complete(bluez_bench *b, uint8_t subevent, uint16_t handle, uint8_t role) {
    bool enhanced = subevent != TENDON_HCI_LE_CONNECTION_COMPLETE;
    uint8_t parameters[31] = {subevent, 0, (uint8_t)handle, (uint8_t)(handle >> 8), role};
    parameters[enhanced ? 24 : 12] = 0x18; /* the interval */
    bluez_event(b, TENDON_HCI_LE_META, parameters, enhanced ? 31 : 19);
    bluez_read(b);
    assert_int_equal(b->radio.radio.malformed, 0);
}

/* Controllers with privacy report a connection with another event (Vol 4 Part E 7.7.65.10). */
static void both_events_of_a_connection_count(void **state) {
    (void)state;
    static const uint8_t subevents[] = {TENDON_HCI_LE_CONNECTION_COMPLETE, TENDON_HCI_LE_ENHANCED_CONNECTION_COMPLETE};
    for (size_t i = 0; i < 2; i++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        bluez_start_advertising(b);
        for (int command = 0; command < 4; command++) {
            bluez_answer_pending(b, 0);
        }
        bluez_drain_commands(b);
        connection_complete(b, subevents[i], 0x41, 1);
        assert_int_equal(b->radio.kernel.connections, 1);
        (void)bluez_expect(b, bluez_advertising_parameters[0]); /* the controller has stopped it */
        bluez_close(b);
    }
}

/* A handle that is used again belongs to the new connection, and what was said about the old one is no reason. */
static void mal_F10_a_new_connection_takes_its_handle_over(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_connected();
    bluez_bench *b = l->b;
    b->radio.next_ending = TENDON_BLUEZ_ENDINGS - 1;
    static const uint8_t ended[] = {0, 0x42, 0, 0x08}, present[] = {0, 0x40, 0, 0x08};
    bluez_event(b, TENDON_HCI_DISCONNECTION_COMPLETE, ended, sizeof ended);
    bluez_read(b);
    assert_int_equal(b->radio.endings[TENDON_BLUEZ_ENDINGS - 1].handle, 0x42);
    connection_complete(b, TENDON_HCI_LE_CONNECTION_COMPLETE, 0x41, 1);
    assert_int_equal(l->link.handle, 0x40);
    assert_int_equal(b->radio.endings[TENDON_BLUEZ_ENDINGS - 1].reason, 0x08);
    l->link.handle = 0x42; /* it is the connection that has the handle next */
    l->link.state = TENDON_LINK_ASKED;
    connection_complete(b, TENDON_HCI_LE_CONNECTION_COMPLETE, 0x42, 1);
    assert_int_equal(l->link.handle, 0x42);
    l->link.state = TENDON_LINK_OPEN;
    assert_int_equal(tendon_bluez_link_reason(&l->link, 0, false), TENDON_RADIO_ERROR_PEER_CLOSED);
    l->link.handle = 0x40;
    b->radio.next_ending = TENDON_BLUEZ_ENDINGS - 1;
    bluez_event(b, TENDON_HCI_DISCONNECTION_COMPLETE, present, sizeof present);
    bluez_read(b);
    assert_int_equal(b->radio.next_ending, 0);
    assert_int_equal(tendon_bluez_link_reason(&l->link, 0, false), TENDON_RADIO_ERROR_OUT_OF_RANGE);
    connection_complete(b, TENDON_HCI_LE_CONNECTION_COMPLETE, 0x40, 1);
    assert_int_equal(l->link.handle, TENDON_BLUEZ_HANDLE_UNKNOWN); /* its own has ended */
    bluez_connecting_close(l);
}

/* The end that a connect() waits for; what other connections do is none of its business. */
static void the_end_that_is_awaited_shortens_the_pause(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    uint64_t now = tendon_monotonic_ms();
    tendon_bluez_pending_disconnect *last = &b->radio.leaving[TENDON_BLUEZ_LEAVING - 1];
    *last = (tendon_bluez_pending_disconnect){.peer = bluez_peer, .handle = 0x40, .until = now + 3000};
    tendon_bluez_note_ending(&b->radio, 0x41, 0x13, now);
    assert_int_equal(last->until, now + 3000);
    tendon_bluez_note_ending(&b->radio, 0x40, 0x13, now);
    assert_int_equal(last->until, now + 20);
    assert_int_equal(b->radio.timer.deadline, now + 20);
    tendon_bluez_note_ending(&b->radio, 0x40, 0x13, now + 20); /* it is over */
    assert_int_equal(last->until, now + 20);
    bluez_close(b);
}

/* While encryption is awaited, the kernel ends the link with one of four errors if the peer lost its key. */
static void a_lost_key_is_told_from_a_lost_link(void **state) {
    (void)state;
    static const struct {
        int number;
        tendon_status securing, without;
    } cases[] = {{ECONNABORTED, TENDON_RADIO_ERROR_PAIRING_FAILED, TENDON_HCI_ERROR(0x16)},
                 {EACCES, TENDON_RADIO_ERROR_PAIRING_FAILED, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {EPERM, TENDON_RADIO_ERROR_PAIRING_FAILED, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
                 {ENOTCONN, TENDON_RADIO_ERROR_PAIRING_FAILED, TENDON_RADIO_ERROR_PEER_CLOSED},
                 {EMLINK, TENDON_HCI_ERROR(0x09), TENDON_HCI_ERROR(0x09)},
                 {EBUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY}};
    static const uint8_t key[16] = {0};
    bluez_connecting *l = bluez_connecting_connected();
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    const tendon_bond bond = {.radio = TENDON_BOND_KERNEL, .key_size = 16};
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    l->b->radio.radio.bonds = &bonds;
    bluez_kernel_encrypts(l->b, 0x40, key, 28);
    bluez_read(l->b);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        l->link.state = TENDON_LINK_SECURING;
        assert_int_equal(tendon_bluez_link_reason(&l->link, cases[i].number, false), cases[i].securing);
        l->link.state = TENDON_LINK_OPEN;
        assert_int_equal(tendon_bluez_link_reason(&l->link, cases[i].number, false), cases[i].without);
    }
    l->b->radio.radio.bonds = NULL;
    bluez_connecting_close(l);
}

/* What the controller said comes before what the kernel made of it. */
static void the_reason_of_the_controller_has_priority(void **state) {
    (void)state;
    static const struct {
        uint8_t code;
        tendon_status expected;
    } cases[] = {{0x04, TENDON_RADIO_ERROR_OUT_OF_RANGE}, {0x08, TENDON_RADIO_ERROR_OUT_OF_RANGE},
                 {0x3C, TENDON_RADIO_ERROR_OUT_OF_RANGE}, {0x13, TENDON_RADIO_ERROR_PEER_CLOSED},
                 {0x14, TENDON_RADIO_ERROR_PEER_CLOSED},  {0x15, TENDON_RADIO_ERROR_PEER_CLOSED},
                 {0x0C, TENDON_RADIO_ERROR_ADAPTER_BUSY}, {0x3D, TENDON_HCI_ERROR(0x3D)}};
    bluez_connecting *l = bluez_connecting_connected();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint8_t ended[] = {0, 0x40, 0, cases[i].code};
        bluez_event(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, ended, sizeof ended);
        bluez_read(l->b);
        assert_int_equal(tendon_bluez_link_reason(&l->link, EMLINK, false), cases[i].expected);
        assert_int_equal(tendon_bluez_link_reason(&l->link, EMLINK, false), TENDON_HCI_ERROR(0x09)); /* once */
    }
    bluez_connecting_close(l);
}

/* The answer to a blocking command is an event; data that looks like it is none. */
static void only_an_event_answers_an_exchange(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    static const uint8_t data[] = {HCI_ACLDATA_PKT, TENDON_HCI_COMMAND_COMPLETE, 5, 1, 0x02, 0x20, 0, 0x11};
    static const uint8_t answer[] = {1, 0x02, 0x20, 0, 0x22};
    uint8_t reply[1] = {0};
    assert_int_equal(send(b->controller, data, sizeof data, 0), (ssize_t)sizeof data);
    bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, answer, sizeof answer);
    assert_int_equal(tendon_bluez_exchange(b->radio.hci.fd, 0x2002, reply, 1), 1);
    assert_int_equal(reply[0], 0x22);
    bluez_close(b);
}

/* Closed by its owner while our scan is still on: nothing is requested of the kernel any more. */
static void a_link_that_is_closed_while_it_waits_is_not_connected(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_idle();
    bluez_start_scan(l->b);
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &bluez_peer, UINT64_MAX), TENDON_OK);
    (void)bluez_expect(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE);
    tendon_link_close(&l->link);
    bluez_answer_pending(l->b, 0);
    assert_int_equal(fake.connects, 0);
    bluez_connecting_close(l);
}

/* The kernel encrypts for its own reasons; a radio without bonds has not asked for it. */
static void without_bonds_encryption_is_not_told(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_connected();
    static const uint8_t encrypted[] = {0, 0x40, 0, 1};
    bluez_event(l->b, TENDON_HCI_ENCRYPTION_CHANGE, encrypted, sizeof encrypted);
    bluez_read(l->b);
    assert_false(l->link.encrypted);
    bluez_connecting_close(l);
}

/* ---- other programs ---- */

static void a_scan_of_another_program_is_seen_with_both_commands(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        bluez_bench *b = bluez_open(extended, &bluez_public_address);
        bluez_other_command(b, bluez_scan_enable[extended], 1);
        assert_true(b->radio.kernel.scans);
        bluez_other_command(b, bluez_scan_enable[extended], 0);
        assert_false(b->radio.kernel.scans);
        bluez_close(b);
    }
}

/* The kernel disables its scan before it connects. Ours was off for that attempt, and restarts immediately when it
 * ends. */
static void a_scan_that_was_off_does_not_yield(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_idle();
    bluez_start_scan(l->b);
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &bluez_peer, UINT64_MAX), TENDON_OK);
    (void)bluez_answer(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_other_command(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 1);
    bluez_other_command(l->b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_expect_nothing(l->b);
    l->b->radio.kernel.begins_until = 0; /* the kernel has not begun to connect */
    tendon_link_close(&l->link);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    (void)bluez_expect(l->b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    bluez_close(l->b);
}

/* It is not ours to disable: another program may have enabled its own since. */
static void a_scan_that_another_program_disabled_is_not_disabled_at_the_end(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_OFF);
    tendon_radio_close(&b->radio.radio);
    uint8_t packet[64];
    assert_true(recv(b->controller, packet, sizeof packet, MSG_DONTWAIT) <= 0);
    bluez_close(b);
}

/* ---- stopped while a command is in flight ---- */

/* Advertising that was stopped is not retried, with or without connections. */
static void advertising_that_was_stopped_is_not_retried(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    bluez_start_advertising(b);
    for (int command = 0; command < 4; command++) {
        bluez_answer_pending(b, 0);
    }
    connection_complete(b, TENDON_HCI_LE_CONNECTION_COMPLETE, 0x41, 1);
    assert_int_equal(b->radio.command.opcode, bluez_advertising_parameters[0]);
    assert_int_equal(tendon_radio_advertise_stop(&b->radio.radio), TENDON_OK);
    bluez_answer_pending(b, HCI_COMMAND_DISALLOWED_ERROR);
    assert_true(b->radio.timer.deadline == UINT64_MAX);
    assert_int_equal(b->failures, 0);
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_radio_that_is_closed_by_a_report_reads_nothing_more),
        cmocka_unit_test(a_radio_that_fails_reads_nothing_more),
        cmocka_unit_test(an_empty_packet_is_skipped),
        cmocka_unit_test(a_response_of_others_without_a_status),
        cmocka_unit_test(data_is_no_command),
        cmocka_unit_test(a_management_event_of_full_length_is_read),
        cmocka_unit_test(a_connection_of_another_adapter_is_none_of_its_settings),
        cmocka_unit_test(a_command_status_ends_a_command_that_failed),
        cmocka_unit_test(a_failure_that_nobody_wants_to_know),
        cmocka_unit_test(a_random_address_that_is_never_answered_ends_the_radio),
        cmocka_unit_test(both_events_of_a_connection_count),
        cmocka_unit_test(mal_F10_a_new_connection_takes_its_handle_over),
        cmocka_unit_test(the_end_that_is_awaited_shortens_the_pause),
        cmocka_unit_test(a_lost_key_is_told_from_a_lost_link),
        cmocka_unit_test(the_reason_of_the_controller_has_priority),
        cmocka_unit_test(only_an_event_answers_an_exchange),
        cmocka_unit_test(a_link_that_is_closed_while_it_waits_is_not_connected),
        cmocka_unit_test(without_bonds_encryption_is_not_told),
        cmocka_unit_test(a_scan_of_another_program_is_seen_with_both_commands),
        cmocka_unit_test(a_scan_that_was_off_does_not_yield),
        cmocka_unit_test(a_scan_that_another_program_disabled_is_not_disabled_at_the_end),
        cmocka_unit_test(advertising_that_was_stopped_is_not_retried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
