/* SPDX-License-Identifier: MIT */
#include "bluez_fixture.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bluez_bench the_bench;

const tendon_address bluez_public_address = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x42}, TENDON_ADDRESS_TYPE_PUBLIC};
const tendon_address bluez_random_address = {{0xC5, 0x11, 0x22, 0x33, 0x44, 0x56}, TENDON_ADDRESS_TYPE_RANDOM};
const uint8_t bluez_random_wire[6] = {0x56, 0x44, 0x33, 0x22, 0x11, 0xC5};
const uint16_t bluez_scan_parameters[2] = {TENDON_HCI_LE_SET_SCAN_PARAMETERS,
                                           TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS};
const uint16_t bluez_scan_enable[2] = {TENDON_HCI_LE_SET_SCAN_ENABLE, TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE};
const uint16_t bluez_advertising_parameters[2] = {TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS,
                                                  TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS};
const uint16_t bluez_advertising_data[2] = {TENDON_HCI_LE_SET_ADVERTISING_DATA,
                                            TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_DATA};
const uint16_t bluez_scan_response_data[2] = {TENDON_HCI_LE_SET_SCAN_RESPONSE_DATA,
                                              TENDON_HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA};
const uint16_t bluez_advertising_enable[2] = {TENDON_HCI_LE_SET_ADVERTISING_ENABLE,
                                              TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE};

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
    fake.refuse[FAKE_IOCTL] = (fake_refusal){0};
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

/* ---- sequences ---- */

void bluez_start_scan(bluez_bench *b) {
    const tendon_scan_parameters parameters = {.active = true};
    assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &parameters), TENDON_OK);
}

void bluez_start_advertising(bluez_bench *b) {
    static const uint8_t data[] = {2, 1, 6}, response[] = {2, 9, 'T'};
    const tendon_advertise_parameters parameters = {
        .data = data, .length = sizeof data, .scan_response = response, .scan_response_length = sizeof response};
    assert_int_equal(tendon_radio_advertise_start(&b->radio.radio, &parameters), TENDON_OK);
}

bluez_bench *bluez_scanning(bool extended, const tendon_address *own) {
    bluez_bench *b = bluez_open(extended, own);
    bluez_start_scan(b);
    if (own->type == TENDON_ADDRESS_TYPE_RANDOM) {
        (void)bluez_answer(b, TENDON_HCI_LE_SET_RANDOM_ADDRESS, 0);
    }
    (void)bluez_answer(b, bluez_scan_parameters[extended], 0);
    assert_int_equal(bluez_answer(b, bluez_scan_enable[extended], 0)[0], 1);
    bluez_expect_nothing(b);
    assert_true(b->radio.scan.activity.state == TENDON_BLUEZ_ON);
    return b;
}

void bluez_answer_pending(bluez_bench *b, uint8_t status) {
    bluez_complete(b, b->radio.command.opcode, status);
    bluez_read(b);
}

void bluez_expect_no_management(bluez_bench *b) {
    uint8_t pdu[64];
    bluez_settle(b);
    assert_int_equal(recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), b->radio.management.fd < 0 ? 0 : -1);
}

void bluez_expire_command(bluez_bench *b) {
    b->radio.hci.expired(b->radio.hci.context, tendon_monotonic_ms() + TENDON_BLUEZ_COMMAND_TIMEOUT_MS);
    bluez_tick(b, tendon_monotonic_ms());
}

void bluez_drain_commands(bluez_bench *b) {
    uint8_t packet[4 + 255];
    bluez_settle(b);
    while (recv(b->controller, packet, sizeof packet, 0) > 0) {
    }
}

void bluez_request_scan(bluez_bench *b) {
    const tendon_scan_parameters parameters = {.active = true};
    b->radio.radio.scanning = false;
    (void)tendon_radio_scan_start(&b->radio.radio, &parameters);
}

void bluez_request_advertising(bluez_bench *b) {
    static const uint8_t data[] = {2, 1, 6};
    const tendon_advertise_parameters parameters = {.data = data, .length = sizeof data};
    (void)tendon_radio_advertise_start(&b->radio.radio, &parameters);
}

void bluez_hardware_error(bluez_bench *b) {
    bluez_event(b, TENDON_HCI_HARDWARE_ERROR, "\x42", 1);
    bluez_read(b);
}

void bluez_power(bluez_bench *b, bool on) {
    bluez_settings(b, on);
    bluez_read(b);
}

void bluez_other_sends(bluez_bench *b, uint16_t opcode, uint8_t parameter) {
    const uint8_t packet[] = {HCI_COMMAND_PKT, (uint8_t)opcode, (uint8_t)(opcode >> 8), 2, parameter, 0};
    ssize_t sent = send(b->controller, packet, sizeof packet, MSG_NOSIGNAL);
    assert_int_equal(sent, b->radio.hci.fd < 0 ? -1 : (ssize_t)sizeof packet);
    bluez_read(b);
}

/* Core Spec Vol 4 Part E 7.8.24: handle, random number (8), diversifier (2), key. */
void bluez_kernel_encrypts(bluez_bench *b, uint16_t handle, const uint8_t key[16], size_t length) {
    uint8_t packet[4 + 28] = {HCI_COMMAND_PKT, 0x19, 0x20, (uint8_t)length, (uint8_t)handle, (uint8_t)(handle >> 8)};
    memcpy(packet + 4 + 12, key, 16);
    assert_int_equal(send(b->controller, packet, 4 + length, MSG_NOSIGNAL), (ssize_t)(4 + length));
}

void bluez_other_command(bluez_bench *b, uint16_t opcode, uint8_t parameter) {
    bluez_other_sends(b, opcode, parameter);
    bluez_complete(b, opcode, 0);
    bluez_read(b);
}

void bluez_discovering(bluez_bench *b, uint8_t on) {
    const uint8_t pdu[] = {TENDON_MANAGEMENT_DISCOVERING, 0, 7, 0, 2, 0, 6, on};
    ssize_t sent = send(b->kernel, pdu, sizeof pdu, MSG_NOSIGNAL);
    assert_int_equal(sent, b->radio.management.fd < 0 ? -1 : (ssize_t)sizeof pdu);
}

static bool stops_discovery(bluez_bench *b, uint8_t kinds) {
    const uint8_t stop[] = {0x24, 0, 7, 0, 1, 0, kinds};
    uint8_t pdu[64];
    ssize_t got = recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT);
    return got == (ssize_t)sizeof stop && memcmp(pdu, stop, sizeof stop) == 0;
}

bool bluez_stops_discovery(bluez_bench *b) {
    return stops_discovery(b, 6);
}

void bluez_has_no_discovery(bluez_bench *b) {
    static const uint8_t refused[] = {2, 0, 7, 0, 3, 0, 0x24, 0, 0x0B};
    for (uint8_t kinds = 7; kinds >= 6; kinds--) {
        bluez_expect_nothing(b);
        assert_true(stops_discovery(b, kinds));
        assert_int_equal(send(b->kernel, refused, sizeof refused, 0), sizeof refused);
        bluez_read(b);
    }
    bluez_expect_no_management(b);
}
