/* SPDX-License-Identifier: MIT */
/*
 * Events of a controller that lies, or that are another program's: responses to nothing, connections that nobody asked
 * for, ends of none. The state of the radio and of its links is that of before.
 */
#include "bluez_connecting.h"

#include <sys/socket.h>

/* ---- responses ---- */

static void respond(bluez_bench *b, uint8_t code, const void *parameters, size_t length) {
    bluez_event(b, code, parameters, length);
    bluez_read(b);
}

/* Of commands that were never sent, or that are over; for two at once; with too few bytes. */
static void mal_F02_responses_that_answer_nothing(void **state) {
    (void)state;
    static const uint8_t complete[] = {1, 0x0B, 0x20, 0}, other[] = {1, 0x6D, 0x0C, 0}, none[] = {1, 0, 0, 0},
                         failed[] = {0x0C, 1, 0x6D, 0x0C};
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    for (int sent = 0; sent < 2; sent++) { /* nothing was sent; a command waits, and it is not this one */
        const uint16_t opcode = sent ? TENDON_HCI_LE_SET_SCAN_PARAMETERS : 0;
        if (sent) {
            bluez_start_scan(b);
            (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
        }
        respond(b, TENDON_HCI_COMMAND_COMPLETE, other, sizeof other);
        respond(b, TENDON_HCI_COMMAND_COMPLETE, none, sizeof none);
        respond(b, TENDON_HCI_COMMAND_STATUS, failed, sizeof failed);
        if (!sent) {
            respond(b, TENDON_HCI_COMMAND_COMPLETE, complete, sizeof complete);
        }
        assert_int_equal(b->radio.command.opcode, opcode);
        bluez_expect_nothing(b);
        assert_int_equal(b->radio.radio.malformed, 0);
    }
    /* Without a status it is none, and without an opcode it is no event. */
    for (size_t length = 0; length < sizeof complete; length++) {
        respond(b, TENDON_HCI_COMMAND_COMPLETE, complete, length);
        respond(b, TENDON_HCI_COMMAND_STATUS, failed, length);
        assert_int_equal(b->radio.radio.malformed, 2 * (length + 1));
        assert_int_equal(b->radio.command.opcode, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    }
    /* Two in one wake-up: the second is for a command that is over, not for the one that follows. */
    bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, complete, sizeof complete);
    respond(b, TENDON_HCI_COMMAND_COMPLETE, complete, sizeof complete);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_ENABLE);
    assert_int_equal(b->radio.command.opcode, TENDON_HCI_LE_SET_SCAN_ENABLE);
    assert_true(b->radio.scan.activity.state != TENDON_BLUEZ_ON);
    bluez_answer_pending(b, 0);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    assert_int_equal(b->failures, 0);
    bluez_close(b);
}

/* Core Spec Vol 4 Part E 7.7.14: Command Complete with opcode 0 has no return parameters, and says only that the
 * controller takes commands again. It is the response to none: of ours, or of others. */
static void a_controller_that_takes_commands_again(void **state) {
    (void)state;
    static const uint8_t again[] = {1, 0, 0}, succeeded[] = {1, 0, 0, 0}, failed[] = {0x01, 1, 0, 0};
    for (int way = 0; way < 3; way++) {
        bluez_bench *b = bluez_open(true, &bluez_public_address);
        if (way < 2) {
            respond(b, TENDON_HCI_COMMAND_COMPLETE, way == 0 ? again : succeeded, way == 0 ? 3 : 4);
        } else {
            respond(b, TENDON_HCI_COMMAND_STATUS, failed, sizeof failed);
        }
        assert_int_equal(b->radio.radio.malformed, 0);
        bluez_start_scan(b);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS, 0);
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE, 0)[0], 1);
        bluez_start_advertising(b);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS, 0);
        bluez_close(b);
    }
}

/* Core Spec Vol 4 Part E 7.8.2: a controller may have no buffers of its own for LE. Replies may also be too short. */
static void mal_F04_buffers_of_length_or_count_zero(void **state) {
    (void)state;
    static const struct {
        uint8_t reply[7];
        size_t length;
        uint16_t packet_length;
        uint8_t packets;
    } cases[] = {{{1, 0x02, 0x20, 0, 0, 0, 0}, 7, 0, 0},
                 {{1, 0x02, 0x20, 0, 0, 0, 8}, 7, 0, 8},
                 {{1, 0x02, 0x20, 0, 251, 0, 0}, 7, 251, 0},
                 {{1, 0x02, 0x20, 0, 251}, 5, 251, 0},
                 {{1, 0x02, 0x20, 0}, 4, 0, 0},
                 {{1, 0x02, 0x20}, 3, 0, 0},
                 {{1, 0x02, 0x20, 0x01}, 4, 0, 0}};
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_bluez_limits limits = {0};
        static const uint16_t opcodes[] = {0x200F, 0x201C, 0x202A};
        bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, cases[i].reply, cases[i].length);
        for (size_t k = 0; k < 3; k++) {
            bluez_complete(b, opcodes[k], 0);
        }
        static const uint8_t all[64] = {[25] = 0xFF, [26] = 0xFF, [28] = 0xFF, [34] = 0xFF};
        tendon_bluez_fetch_limits(b->radio.hci.fd, all, &limits);
        assert_int_equal(limits.packet_length, cases[i].packet_length);
        assert_int_equal(limits.packets, cases[i].packets);
        b->radio.limits = limits;
        bluez_drain_commands(b);
    }
    bluez_start_scan(b); /* and the radio works */
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_close(b);
}

/* The kernel counts its packets; whoever lies about them lies to the kernel. */
static void mal_F05_completed_packets_of_any_connection(void **state) {
    (void)state;
    static const uint8_t unknown[] = {1, 0x99, 0x00, 1, 0}, more[] = {1, 0x40, 0, 0xFF, 0xFF},
                         twice[] = {2, 0x40, 0, 1, 0, 0x40, 0, 1, 0}, none[] = {0}, beyond[] = {2, 0x40, 0, 1, 0};
    bluez_connecting *l = bluez_connecting_connected();
    bluez_settle(l->b);
    const tendon_bluez_radio before = l->b->radio;
    respond(l->b, 0x13, unknown, sizeof unknown);
    respond(l->b, 0x13, more, sizeof more);
    respond(l->b, 0x13, twice, sizeof twice);
    respond(l->b, 0x13, none, sizeof none);
    assert_memory_equal(&l->b->radio, &before, sizeof before);
    respond(l->b, 0x13, beyond, sizeof beyond);
    respond(l->b, 0x13, beyond, 0);
    assert_int_equal(l->b->radio.radio.malformed, 2);
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    bluez_connecting_close(l);
}

/* ---- connections ---- */

static void complete(bluez_bench *b, uint16_t handle, uint8_t role, uint8_t last_byte) {
    uint8_t parameters[19] = {
        TENDON_HCI_LE_CONNECTION_COMPLETE, 0, (uint8_t)handle, (uint8_t)(handle >> 8), role, [12] = 0x18, [16] = 0x2A};
    tendon_address peer = bluez_peer;
    peer.bytes[5] = last_byte;
    tendon_address_to_wire(&peer, parameters + 6);
    respond(b, TENDON_HCI_LE_META, parameters, sizeof parameters);
}

/* The socket's connect() decides whose connection it is: one to another address opens no link of ours. */
static void mal_F10_a_connection_that_nobody_asked_for(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    fake.refuse[FAKE_SOCKET_ERROR] = (fake_refusal){0};
    complete(l->b, 0x55, 0, 0x99);
    assert_int_equal(l->link.state, TENDON_LINK_ASKED);
    assert_int_equal(l->b->radio.kernel.connections, 1);
    complete(l->b, 0x55, 0, 0x99); /* the handle is in use: the same connection again */
    complete(l->b, 0x55, 1, 0x98);
    assert_int_equal(l->b->radio.kernel.connections, 1);
    assert_int_equal(l->link.state, TENDON_LINK_ASKED);
    assert_int_equal(l->b->radio.radio.malformed, 0);
    complete(l->b, 0x0F00, 0, 0x01); /* no handle, and no role */
    complete(l->b, 0xFFFF, 0, 0x01);
    complete(l->b, 0x56, 2, 0x01);
    complete(l->b, 0x56, 0xFF, 0x01);
    assert_int_equal(l->b->radio.radio.malformed, 4);
    assert_int_equal(l->b->radio.kernel.connections, 1);
    bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    assert_int_equal(l->link.handle, 0x40); /* that of the kernel */
    bluez_connecting_close(l);
}

/* A link with the handle of a new connection to another peer is over, and reports no reason that is not its own. */
static void mal_F10_a_handle_that_is_in_use(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_connected();
    complete(l->b, 0x40, 0, 0x01); /* its own event, read late */
    assert_int_equal(l->link.handle, 0x40);
    complete(l->b, 0x40, 0, 0x99);
    assert_int_equal(l->link.handle, TENDON_BLUEZ_HANDLE_UNKNOWN);
    assert_int_equal(l->link.state, TENDON_LINK_OPEN); /* its socket says when it has ended */
    static const uint8_t ended[] = {0, 0x40, 0, 0x08};
    respond(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, ended, sizeof ended);
    assert_int_equal(tendon_bluez_link_reason(&l->link, 0, false), TENDON_RADIO_ERROR_PEER_CLOSED);
    bluez_connecting_close(l);
}

/* Of an unknown handle, twice, and before its connection: the count of connections goes below none. */
static void mal_F11_ends_of_no_connection(void **state) {
    (void)state;
    static const uint8_t unknown[] = {0, 0x99, 0, 0x13}, ours[] = {0, 0x40, 0, 0x13}, failed[] = {0x02, 0x40, 0, 0x13},
                         impossible[] = {0, 0x00, 0x0F, 0x13};
    bluez_connecting *l = bluez_connecting_open();
    respond(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, ours, sizeof ours); /* before it began */
    assert_int_equal(l->b->radio.kernel.connections, 0);
    assert_int_equal(l->link.state, TENDON_LINK_ASKED);
    complete(l->b, 0x40, 0, 0x01);
    bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    assert_int_equal(l->b->radio.kernel.connections, 1);
    /* What was said before is no reason of this connection. */
    assert_int_equal(tendon_bluez_link_reason(&l->link, 0, false), TENDON_RADIO_ERROR_PEER_CLOSED);
    respond(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, unknown, sizeof unknown);
    respond(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, failed, sizeof failed);
    assert_int_equal(l->b->radio.kernel.connections, 1);
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    assert_int_equal(l->b->radio.radio.malformed, 0);
    respond(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, impossible, sizeof impossible);
    assert_int_equal(l->b->radio.radio.malformed, 1);
    for (int i = 0; i < 3; i++) {
        respond(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, ours, sizeof ours);
        assert_int_equal(l->b->radio.kernel.connections, 0);
    }
    assert_int_equal(l->link.state, TENDON_LINK_OPEN); /* until its socket says so */
    bluez_connecting_close(l);
}

/* ---- advertisements ---- */

static unsigned responses;
static tendon_address advertiser;

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)now;
    ((bluez_bench *)context)->reports++;
    responses += (report->properties & TENDON_AD_SCAN_RESPONSE) != 0;
    advertiser = report->address;
}

static void legacy(bluez_bench *b, uint8_t type, const tendon_address *from) {
    uint8_t report[] = {TENDON_HCI_LE_ADVERTISING_REPORT, 1, type, from->type, 0, 0, 0, 0, 0, 0, 3, 2, 9, 'A', 0xC4};
    tendon_address_to_wire(from, report + 4);
    respond(b, TENDON_HCI_LE_META, report, sizeof report);
}

/* A scan response is reported as one, whether its advertisement was received or not: it waits for none. */
static void mal_G08_a_scan_response_without_an_advertisement(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    b->radio.radio.on_report = on_report;
    responses = 0;
    legacy(b, 4, &bluez_peer);
    legacy(b, 4, &bluez_peer);
    assert_int_equal(b->reports, 2);
    assert_int_equal(responses, 2);
    legacy(b, 0, &bluez_peer);
    assert_int_equal(b->reports, 3);
    assert_int_equal(responses, 2);
    assert_int_equal(b->radio.radio.malformed, 0);
    bluez_close(b);
}

/* One in our own name is reported like others: a controller does not receive itself, so it is somebody else. */
static void mal_G09_an_advertiser_with_our_address(void **state) {
    (void)state;
    static const tendon_address zero = {{0}, TENDON_ADDRESS_TYPE_RANDOM},
                                ones = {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, TENDON_ADDRESS_TYPE_RANDOM};
    const tendon_address *const all[] = {&bluez_public_address, &bluez_random_address, &zero, &ones};
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    b->radio.radio.on_report = on_report;
    for (size_t i = 0; i < 4; i++) {
        legacy(b, 0, all[i]);
        assert_int_equal(b->reports, i + 1);
        assert_true(tendon_address_equal(&advertiser, all[i]));
    }
    assert_int_equal(b->radio.radio.malformed, 0);
    bluez_close(b);
}

/* ---- the identity of a peer ---- */

/* A peer whose identity is our own address: it is known by it, as any other peer is by its own, and nothing else is. */
static void mal_G09_an_identity_address_that_is_ours(void **state) {
    (void)state;
    static const tendon_address private_address = {{0x4A, 1, 2, 3, 4, 6}, TENDON_ADDRESS_TYPE_RANDOM};
    bluez_connecting *l = bluez_connecting_connected();
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    assert_int_equal(tendon_radio_use_bonds(&l->b->radio.radio, &bonds), TENDON_OK);
    l->link.peer = l->link.identity = private_address;
    uint8_t pdu[6 + 30] = {TENDON_MANAGEMENT_NEW_IDENTITY_KEY, 0, 7, 0, 30, 0, 1};
    tendon_address_to_wire(&private_address, pdu + 7);
    tendon_address_to_wire(&bluez_public_address, pdu + 13);
    pdu[19] = 1; /* LE public */
    assert_int_equal(send(l->b->kernel, pdu, sizeof pdu, 0), (ssize_t)sizeof pdu);
    bluez_read(l->b);
    assert_true(tendon_address_equal(&l->link.identity, &bluez_public_address));
    assert_true(tendon_address_equal(&l->link.peer, &private_address)); /* the address of the connection */
    assert_true(tendon_address_equal(&l->b->radio.radio.address, &bluez_public_address));
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    assert_int_equal(bonds.count, 0); /* an identity is no bond */
    assert_int_equal(l->b->failures, 0);
    bluez_connecting_close(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mal_F02_responses_that_answer_nothing),
        cmocka_unit_test(a_controller_that_takes_commands_again),
        cmocka_unit_test(mal_F04_buffers_of_length_or_count_zero),
        cmocka_unit_test(mal_F05_completed_packets_of_any_connection),
        cmocka_unit_test(mal_F10_a_connection_that_nobody_asked_for),
        cmocka_unit_test(mal_F10_a_handle_that_is_in_use),
        cmocka_unit_test(mal_F11_ends_of_no_connection),
        cmocka_unit_test(mal_G08_a_scan_response_without_an_advertisement),
        cmocka_unit_test(mal_G09_an_advertiser_with_our_address),
        cmocka_unit_test(mal_G09_an_identity_address_that_is_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
