/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bluez_fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

refused_sends sends_refused;
static bluez_bench the_bench;

/* In libbluetooth's place: the same packet, or the refusal that the test asks for. */
int hci_send_cmd(int dd, uint16_t ogf, uint16_t ocf, uint8_t plen, void *param) {
    uint16_t opcode = cmd_opcode_pack(ogf, ocf);
    uint8_t head[4] = {HCI_COMMAND_PKT, (uint8_t)opcode, (uint8_t)(opcode >> 8), plen};
    if (sends_refused.times > 0) {
        sends_refused.times--;
        errno = sends_refused.number;
        return -1;
    }
    struct iovec vectors[2] = {{.iov_base = head, .iov_len = sizeof head}, {.iov_base = param, .iov_len = plen}};
    return writev(dd, vectors, 2) < 0 ? -1 : 0;
}

static void on_failure(void *context, tendon_status status, uint64_t now) {
    bluez_bench *b = context;
    (void)now;
    b->failures++;
    b->failure = status;
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)report;
    (void)now;
    ((bluez_bench *)context)->reports++;
}

bluez_bench *bluez_open(bool extended, const tendon_address *own) {
    bluez_bench *b = &the_bench;
    int hci[2], management[2];
    memset(b, 0, sizeof *b);
    sends_refused = (refused_sends){0};
    assert_int_equal(tendon_loop_init(&b->loop), TENDON_OK);
    tendon_bluez_prepare(&b->radio, &b->loop);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, hci), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, management), 0);
    b->radio.hci.fd = hci[0];
    b->controller = hci[1];
    b->radio.management.fd = management[0];
    b->kernel = management[1];
    b->radio.index = 7;
    b->radio.radio.address = *own;
    b->radio.extended_scan = b->radio.extended_advertising = extended;
    b->radio.radio.report_context = b;
    b->radio.radio.on_failure = on_failure;
    b->radio.radio.on_report = on_report;
    assert_int_equal(tendon_bluez_begin(&b->radio), TENDON_OK);
    return b;
}

void bluez_close(bluez_bench *b) {
    tendon_radio_close(&b->radio.radio);
    close(b->controller);
    close(b->kernel);
    tendon_loop_close(&b->loop);
}

const uint8_t *bluez_expect(bluez_bench *b, uint16_t opcode) {
    static uint8_t packet[4 + 255];
    ssize_t length = recv(b->controller, packet, sizeof packet, 0);
    assert_true(length >= 4);
    assert_int_equal(packet[0], HCI_COMMAND_PKT);
    assert_int_equal(packet[1] | packet[2] << 8, opcode);
    assert_int_equal(packet[3], length - 4);
    return packet + 4;
}

void bluez_expect_nothing(bluez_bench *b) {
    uint8_t packet[4 + 255];
    assert_int_equal(recv(b->controller, packet, sizeof packet, 0), -1);
    assert_int_equal(errno, EAGAIN);
}

void bluez_event(bluez_bench *b, uint8_t code, const void *parameters, size_t length) {
    uint8_t packet[3 + 255] = {HCI_EVENT_PKT, code, (uint8_t)length};
    memcpy(packet + 3, parameters, length);
    assert_int_equal(send(b->controller, packet, 3 + length, 0), 3 + length);
}

void bluez_complete(bluez_bench *b, uint16_t opcode, uint8_t status) {
    const uint8_t parameters[] = {1, (uint8_t)opcode, (uint8_t)(opcode >> 8), status};
    bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, parameters, sizeof parameters);
}

void bluez_settings(bluez_bench *b, bool powered) {
    const uint8_t pdu[] = {TENDON_MANAGEMENT_NEW_SETTINGS, 0, 7, 0, 4, 0, powered ? 1 : 0, 2, 0, 0};
    assert_int_equal(send(b->kernel, pdu, sizeof pdu, 0), sizeof pdu);
}

void bluez_read_controller(bluez_bench *b) {
    b->radio.hci.ready(b->radio.hci.context, TENDON_READABLE, tendon_now_ms());
}

void bluez_read_kernel(bluez_bench *b) {
    b->radio.management.ready(b->radio.management.context, TENDON_READABLE, tendon_now_ms());
}

const uint8_t *bluez_answer(bluez_bench *b, uint16_t opcode, uint8_t status) {
    const uint8_t *parameters = bluez_expect(b, opcode);
    bluez_complete(b, opcode, status);
    bluez_read_controller(b);
    return parameters;
}

void bluez_tick(bluez_bench *b, uint64_t now) {
    b->radio.timer.expired(b->radio.timer.context, now);
}
