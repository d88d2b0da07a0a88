/* SPDX-License-Identifier: MIT */
#include "bluez_fixture.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bluez_bench the_bench;

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
    memset(b, 0, sizeof *b);
    fake_start();
    fake.scripted = true;
    fake.programs = -1;
    fake.refuse[FAKE_IOCTL] = (fake_refusal){.number = EPERM, .times = INT_MAX};
    fake.security_level = 0;
    fake.handle = 0x40;
    fake.connection =
        (struct hci_conn_info){.handle = 0x40, .state = 1 /* BT_CONNECTED */, .link_mode = HCI_LM_ENCRYPT};
    assert_int_equal(tendon_loop_init(&b->loop), TENDON_OK);
    tendon_bluez_init(&b->radio);
    b->radio.hci.fd = tendon_bluez_channel_socket(7, HCI_CHANNEL_RAW);
    b->controller = dup(fake_far(b->radio.hci.fd)); /* to be read when the radio has closed its own end, too */
    b->radio.management.fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    b->kernel = dup(fake_far(b->radio.management.fd));
    assert_true(b->controller >= 0 && b->kernel >= 0);
    fake.latest = -1;
    b->radio.index = 7;
    b->radio.radio.address = *own;
    b->radio.settings = TENDON_MANAGEMENT_BONDABLE; /* as bluetoothd has it */
    b->radio.extended_scan = b->radio.extended_advertising = extended;
    b->radio.radio.report_context = b;
    b->radio.radio.on_failure = on_failure;
    b->radio.radio.on_report = on_report;
    assert_int_equal(tendon_bluez_begin(&b->radio, &b->loop), TENDON_OK);
    return b;
}

void bluez_close(bluez_bench *b) {
    tendon_radio_close(&b->radio.radio);
    close(b->controller);
    close(b->kernel);
    tendon_loop_close(&b->loop);
    fake_end();
}

int bluez_far_end(void) {
    return fake_far(fake.latest);
}

void bluez_settle(bluez_bench *b) {
    uint64_t now = tendon_monotonic_ms();
    if (b->radio.timer.deadline <= now && b->radio.timer.added) {
        b->radio.timer.expired(b->radio.timer.context, now);
    }
}

const uint8_t *bluez_expect(bluez_bench *b, uint16_t opcode) {
    static uint8_t packet[4 + 255];
    bluez_settle(b);
    ssize_t length = recv(b->controller, packet, sizeof packet, 0);
    assert_true(length >= 4);
    assert_int_equal(packet[0], HCI_COMMAND_PKT);
    assert_int_equal(packet[1] | packet[2] << 8, opcode);
    assert_int_equal(packet[3], length - 4);
    return packet + 4;
}

void bluez_expect_nothing(bluez_bench *b) {
    uint8_t packet[4 + 255];
    bluez_settle(b);
    ssize_t length = recv(b->controller, packet, sizeof packet, 0);
    if (b->radio.hci.fd < 0) { /* the radio has ended, and has closed its socket */
        assert_true(length == 0 || (length < 0 && errno == ECONNRESET));
        return;
    }
    assert_int_equal(length, -1);
    assert_int_equal(errno, EAGAIN);
}

void bluez_event(bluez_bench *b, uint8_t code, const void *parameters, size_t length) {
    uint8_t packet[3 + 255] = {HCI_EVENT_PKT, code, (uint8_t)length};
    memcpy(packet + 3, parameters, length);
    ssize_t sent = send(b->controller, packet, 3 + length, MSG_NOSIGNAL);
    assert_int_equal(sent, b->radio.hci.fd < 0 ? -1 : (ssize_t)(3 + length));
}

void bluez_complete(bluez_bench *b, uint16_t opcode, uint8_t status) {
    const uint8_t parameters[] = {1, (uint8_t)opcode, (uint8_t)(opcode >> 8), status};
    bluez_event(b, TENDON_HCI_COMMAND_COMPLETE, parameters, sizeof parameters);
}

void bluez_settings(bluez_bench *b, bool powered) {
    const uint8_t pdu[] = {TENDON_MANAGEMENT_NEW_SETTINGS, 0, 7, 0, 4, 0, powered ? 1 : 0, 2, 0, 0};
    ssize_t sent = send(b->kernel, pdu, sizeof pdu, MSG_NOSIGNAL);
    assert_int_equal(sent, b->radio.management.fd < 0 ? -1 : (ssize_t)sizeof pdu);
}

/* In the order of the loop. */
void bluez_read(bluez_bench *b) {
    uint64_t now = tendon_monotonic_ms();
    b->radio.hci.ready(b->radio.hci.context, TENDON_READABLE, now);
    b->radio.management.ready(b->radio.management.context, TENDON_READABLE, now);
    bluez_settle(b);
}

void bluez_link_ready(bluez_bench *b, tendon_link *link, uint32_t events) {
    uint64_t now = tendon_monotonic_ms();
    b->radio.hci.ready(b->radio.hci.context, TENDON_READABLE, now);
    b->radio.management.ready(b->radio.management.context, TENDON_READABLE, now);
    link->source.ready(link->source.context, events, now);
    bluez_settle(b);
}

const uint8_t *bluez_answer(bluez_bench *b, uint16_t opcode, uint8_t status) {
    const uint8_t *parameters = bluez_expect(b, opcode);
    bluez_complete(b, opcode, status);
    bluez_read(b);
    return parameters;
}

void bluez_tick(bluez_bench *b, uint64_t now) {
    b->radio.timer.expired(b->radio.timer.context, now);
}
