/* SPDX-License-Identifier: MIT */
/* Reads that are interrupted, that find nothing, and that fail: the first two change nothing, the last is reported. */
#include "bluez_fixture.h"
#include "tendon/tools/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- in the place of the C library ---- */

static bluez_bench *opened(void) {
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    memset(fake.counts, 0, sizeof fake.counts);
    return b;
}

/* ---- the radio's two sockets ---- */

static const struct {
    int number;
    tendon_status failure; /* TENDON_OK: it goes on */
} errors[] = {{EAGAIN, TENDON_OK},
              {EINTR, TENDON_OK},
              {ENODEV, TENDON_RADIO_ERROR_NO_ADAPTER},
              {EPIPE, TENDON_RADIO_ERROR_NO_ADAPTER},
              {ENOMEM, TENDON_SYSTEM_ERROR(ENOMEM)}};

static void a_read_of_the_raw_socket_that_fails(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        bluez_bench *b = opened();
        bluez_start_scan(b);
        (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
        bluez_complete(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
        fake.refuse[FAKE_RECEIVE_MANY] = (fake_refusal){.number = errors[i].number};
        bluez_read(b);
        bluez_expect_nothing(b); /* it was not read */
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
        assert_int_equal(b->failures, errors[i].failure < 0);
        assert_int_equal(b->failure, errors[i].failure);
        if (errors[i].failure == TENDON_OK) {
            bluez_read(b);
            (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_ENABLE);
        }
        bluez_close(b);
    }
}

static void a_read_of_the_management_socket_that_fails(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        bluez_bench *b = opened();
        bluez_settings(b, true);
        fake.refuse[FAKE_RECEIVE] = (fake_refusal){.number = errors[i].number};
        bluez_read(b);
        assert_int_equal(b->radio.settings, TENDON_MANAGEMENT_BONDABLE);
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
        assert_int_equal(b->failures, errors[i].failure < 0);
        assert_int_equal(b->failure, errors[i].failure);
        if (errors[i].failure == TENDON_OK) {
            assert_int_equal(b->radio.settings, 0x201); /* the next step has read it */
        }
        bluez_close(b);
    }
}

/* Lists of keys are longer than anything that is of use here; what follows them is read. */
static void a_management_event_that_is_too_long_is_skipped(void **state) {
    (void)state;
    bluez_bench *b = opened();
    static uint8_t pdu[TENDON_MANAGEMENT_PDU_MAX + 1] = {TENDON_MANAGEMENT_INDEX_REMOVED, 0, 7};
    size_t length = sizeof pdu - 6;
    pdu[4] = (uint8_t)length;
    pdu[5] = (uint8_t)(length >> 8);
    assert_int_equal(send(b->kernel, pdu, sizeof pdu, 0), (ssize_t)sizeof pdu);
    static const uint8_t truncated[] = {TENDON_MANAGEMENT_NEW_SETTINGS, 0, 7, 0, 4, 0, 1};
    assert_int_equal(send(b->kernel, truncated, sizeof truncated, 0), (ssize_t)sizeof truncated);
    static const uint8_t other[] = {TENDON_MANAGEMENT_INDEX_REMOVED, 0, 8, 0, 0, 0}; /* another adapter */
    assert_int_equal(send(b->kernel, other, sizeof other, 0), (ssize_t)sizeof other);
    bluez_settings(b, true);
    bluez_read(b);
    assert_int_equal(b->radio.power.state, TENDON_BLUEZ_POWERED);
    assert_int_equal(b->radio.settings, 0x201);
    bluez_close(b);
}

/* Only events and commands are read; a packet without a byte is none of both. */
static void packets_of_other_types_are_ignored(void **state) {
    (void)state;
    bluez_bench *b = opened();
    static const uint8_t data[] = {HCI_ACLDATA_PKT, 0x10, 0x01, 0x42};
    static const uint8_t unknown_event[] = {HCI_EVENT_PKT, 0xFD, 1, 0};
    static const uint8_t truncated[] = {HCI_EVENT_PKT, TENDON_HCI_HARDWARE_ERROR, 1};
    static const uint8_t short_parameters[] = {HCI_EVENT_PKT, TENDON_HCI_DISCONNECTION_COMPLETE, 2, 0, 0x40};
    assert_int_equal(send(b->controller, data, sizeof data, 0), (ssize_t)sizeof data);
    assert_int_equal(send(b->controller, unknown_event, sizeof unknown_event, 0), (ssize_t)sizeof unknown_event);
    bluez_read(b);
    assert_int_equal(b->radio.radio.malformed, 0);
    assert_int_equal(send(b->controller, truncated, sizeof truncated, 0), (ssize_t)sizeof truncated);
    bluez_read(b);
    assert_int_equal(b->radio.radio.malformed, 1);
    assert_int_equal(send(b->controller, short_parameters, sizeof short_parameters, 0), 5);
    bluez_read(b);
    assert_int_equal(b->radio.radio.malformed, 2);
    assert_int_equal(b->radio.power.state, TENDON_BLUEZ_POWERED);
    bluez_close(b);
}

/* ---- blocking exchanges ---- */

static void an_exchange_goes_on_after_an_interruption(void **state) {
    (void)state;
    static const int numbers[] = {EINTR, EAGAIN};
    for (size_t i = 0; i < 2; i++) {
        bluez_bench *b = opened();
        uint8_t reply[4];
        bluez_complete(b, 0x2002, 0x1F);
        fake.refuse[FAKE_RECEIVE] = (fake_refusal){.number = numbers[i]};
        assert_int_equal(tendon_bluez_exchange(b->radio.hci.fd, 0x2002, reply, 1), TENDON_HCI_ERROR(0x1F));
        assert_int_equal(fake.counts[FAKE_RECEIVE], 2);
        static const uint8_t settings[] = {TENDON_MANAGEMENT_COMMAND_COMPLETE, 0, 7, 0, 7, 0, 5, 0, 0, 1, 2, 0, 0};
        assert_int_equal(send(b->kernel, settings, sizeof settings, 0), (ssize_t)sizeof settings);
        fake.refuse[FAKE_RECEIVE] = (fake_refusal){.number = numbers[i]};
        uint32_t value = 0;
        assert_int_equal(tendon_bluez_manage_mode(b->radio.management.fd, 5, 7, 1, &value), TENDON_OK);
        assert_int_equal(value, 0x201);
        bluez_close(b);
    }
    bluez_bench *b = opened();
    uint8_t reply[4];
    bluez_complete(b, 0x2002, 0);
    bluez_settings(b, true);
    fake.refuse[FAKE_RECEIVE] = (fake_refusal){.number = ENODEV};
    assert_int_equal(tendon_bluez_exchange(b->radio.hci.fd, 0x2002, reply, 1), TENDON_RADIO_ERROR_NO_ADAPTER);
    fake.refuse[FAKE_RECEIVE] = (fake_refusal){.number = ENOMEM};
    assert_int_equal(tendon_bluez_manage(b->radio.management.fd, 3, 7, NULL, 0, reply, sizeof reply),
                     TENDON_SYSTEM_ERROR(ENOMEM));
    bluez_close(b);
}

/* The answer of the same command for another adapter, or of another command for this one, is not the reply. */
static void only_the_reply_to_this_command_is_taken(void **state) {
    (void)state;
    bluez_bench *b = opened();
    uint8_t reply[4] = {0};
    static const uint8_t pdus[][10] = {
        {TENDON_MANAGEMENT_COMMAND_COMPLETE, 0, 8, 0, 4, 0, 5, 0, 0, 0x11},
        {TENDON_MANAGEMENT_COMMAND_COMPLETE, 0, 7, 0, 4, 0, 6, 0, 0, 0x22},
        {TENDON_MANAGEMENT_DISCOVERING, 0, 7, 0, 4, 0, 5, 0, 0, 0x33},
        {TENDON_MANAGEMENT_COMMAND_COMPLETE, 0, 7, 0, 4, 0, 5, 0, 0, 0x44},
    };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(send(b->kernel, pdus[i], sizeof pdus[i], 0), (ssize_t)sizeof pdus[i]);
    }
    assert_int_equal(tendon_bluez_manage(b->radio.management.fd, 5, 7, NULL, 0, reply, sizeof reply), 1);
    assert_int_equal(reply[0], 0x44);
    /* A settings reply without its four bytes is no settings. */
    static const uint8_t settings[] = {TENDON_MANAGEMENT_COMMAND_COMPLETE, 0, 7, 0, 6, 0, 5, 0, 0, 1, 2, 0};
    assert_int_equal(send(b->kernel, settings, sizeof settings, 0), (ssize_t)sizeof settings);
    uint32_t value = 0x55;
    assert_int_equal(tendon_bluez_manage_mode(b->radio.management.fd, 5, 7, 1, &value), TENDON_ERROR_TRUNCATED);
    assert_int_equal(value, 0x55);
    bluez_close(b);
}

static void events_of_others_do_not_prolong_a_wait(void **state) {
    (void)state;
    bluez_bench *b = opened();
    static const uint8_t event[] = {TENDON_MANAGEMENT_INDEX_ADDED, 0, 99, 0, 0, 0};
    const uint64_t begun = fake.now;
    for (unsigned second = 1; second <= TENDON_BLUEZ_MANAGEMENT_TIMEOUT_MS / 1000 + 5; second++) {
        fake_post(1000 * second, HCI_CHANNEL_CONTROL, 99, b->radio.management.fd, FAKE_NOBODY, event, sizeof event);
    }
    assert_int_equal(tendon_bluez_manage(b->radio.management.fd, 5, 7, NULL, 0, NULL, 0),
                     TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    assert_int_equal(fake.now - begun, TENDON_BLUEZ_MANAGEMENT_TIMEOUT_MS);
    assert_true(fake.counts[FAKE_RECEIVE] >= TENDON_BLUEZ_MANAGEMENT_TIMEOUT_MS / 1000 - 1);
    bluez_close(b);
}

static void waiting_ends_with_its_time_or_with_an_error(void **state) {
    (void)state;
    bluez_bench *b = opened();
    int fd = b->radio.hci.fd;
    assert_false(tendon_bluez_wait_readable(fd, tendon_monotonic_ms())); /* it is over before it begins */
    assert_int_equal(fake.counts[FAKE_POLL], 0);
    uint64_t until = tendon_monotonic_ms() + 5;
    assert_false(tendon_bluez_wait_readable(fd, until));
    assert_true(tendon_monotonic_ms() >= until);
    fake.refuse[FAKE_POLL] = (fake_refusal){.number = EINVAL};
    assert_false(tendon_bluez_wait_readable(fd, tendon_monotonic_ms() + 60000));
    bluez_complete(b, 0x2002, 0);
    fake.counts[FAKE_POLL] = 0;
    fake.refuse[FAKE_POLL] = (fake_refusal){.number = EINTR};
    assert_true(tendon_bluez_wait_readable(fd, tendon_monotonic_ms() + 60000));
    assert_int_equal(fake.counts[FAKE_POLL], 2);
    bluez_close(b);
}

/* ---- the monitor ---- */

static const uint8_t hardware_error[] = {3, 0, 7, 0, 3, 0, 0x10, 1, 0x42};

static void send_packets(int count) {
    for (int i = 0; i < count; i++) {
        assert_int_equal(send(bluez_far_end(), hardware_error, sizeof hardware_error, 0),
                         (ssize_t)sizeof hardware_error);
    }
}

static void the_monitor_reads_what_waits_once(void **state) {
    (void)state;
    bluez_bench *b = opened();
    tendon_capture capture;
    tendon_bluez_monitor monitor;
    assert_int_equal(tendon_capture_create(&capture, "/dev/null", TENDON_CAPTURE_MONITOR), TENDON_OK);
    assert_int_equal(tendon_bluez_monitor_open(&monitor, &b->loop, &capture, NULL), TENDON_OK);
    assert_int_equal(fake.buffer, tendon_bluez_buffer_size(tendon_bluez_memory(), 1) / 2);
    send_packets(3);
    fake.refuse[FAKE_RECEIVE_RECORD] = (fake_refusal){.number = EINTR, .after = 1}; /* behind the first */
    monitor.source.ready(monitor.source.context, TENDON_READABLE, 1);
    assert_int_equal(monitor.records, 3);
    assert_int_equal(fake.counts[FAKE_RECEIVE_RECORD],
                     5); /* the last one found nothing, and it is not asked for more */
    send_packets(3);
    fake.refuse[FAKE_RECEIVE_RECORD] = (fake_refusal){.number = EAGAIN, .after = 1};
    monitor.source.ready(monitor.source.context, TENDON_READABLE, 1);
    assert_int_equal(monitor.records, 4);
    send_packets(64); /* one wake-up takes 64 */
    monitor.source.ready(monitor.source.context, TENDON_READABLE, 1);
    assert_int_equal(monitor.records, 68);
    assert_true(monitor.source.added);
    fake.drops = 5;
    assert_int_equal(tendon_bluez_monitor_lost(&monitor), 5);
    fake.refuse[FAKE_GET_DROPS] = (fake_refusal){.number = ENOPROTOOPT}; /* an old kernel */
    assert_int_equal(tendon_bluez_monitor_lost(&monitor), 0);
    tendon_bluez_monitor_close(&monitor);
    assert_int_equal(monitor.records, 70); /* what waited */
    assert_int_equal(tendon_bluez_monitor_lost(&monitor), 0);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    bluez_close(b);
}

/* What only the kernel's own format has is left out of one of HCI packets; what both have is written to both. */
static void a_capture_of_packets_has_packets_alone(void **state) {
    (void)state;
    static const uint8_t note[] = {12, 0, 7, 0, 2, 0, 'h', 'i'};      /* System Note */
    static const uint8_t reset[] = {2, 0, 7, 0, 3, 0, 0x03, 0x0C, 0}; /* a command */
    const uint32_t kinds[] = {TENDON_CAPTURE_MONITOR, TENDON_CAPTURE_H4};
    for (size_t i = 0; i < 2; i++) {
        bluez_bench *b = opened();
        tendon_capture capture;
        tendon_bluez_monitor monitor;
        assert_int_equal(tendon_capture_create(&capture, "/dev/null", kinds[i]), TENDON_OK);
        assert_int_equal(tendon_bluez_monitor_open(&monitor, &b->loop, &capture, NULL), TENDON_OK);
        assert_int_equal(send(bluez_far_end(), reset, sizeof reset, 0), (ssize_t)sizeof reset);
        assert_int_equal(send(bluez_far_end(), note, sizeof note, 0), (ssize_t)sizeof note);
        send_packets(1);
        monitor.source.ready(monitor.source.context, TENDON_READABLE, 1);
        assert_int_equal(monitor.records, kinds[i] == TENDON_CAPTURE_MONITOR ? 3 : 2);
        tendon_bluez_monitor_close(&monitor);
        assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
        bluez_close(b);
    }
}

/* A packet without a byte is no end: what follows it is written in the same wake-up. */
static void the_monitor_passes_over_an_empty_packet(void **state) {
    (void)state;
    bluez_bench *b = opened();
    tendon_capture capture;
    tendon_bluez_monitor monitor;
    assert_int_equal(tendon_capture_create(&capture, "/dev/null", TENDON_CAPTURE_MONITOR), TENDON_OK);
    assert_int_equal(tendon_bluez_monitor_open(&monitor, &b->loop, &capture, NULL), TENDON_OK);
    assert_int_equal(send(bluez_far_end(), "", 0, 0), 0);
    send_packets(2);
    monitor.source.ready(monitor.source.context, TENDON_READABLE, 1);
    assert_int_equal(monitor.records, 2);
    tendon_bluez_monitor_close(&monitor);
    assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
    bluez_close(b);
}

static void a_capture_that_cannot_be_written_ends_the_monitor(void **state) {
    (void)state;
    for (int closes = 0; closes < 2; closes++) {
        bluez_bench *b = opened();
        tendon_capture capture;
        tendon_bluez_monitor monitor;
        assert_int_equal(tendon_capture_create(&capture, "/dev/null", TENDON_CAPTURE_MONITOR), TENDON_OK);
        int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
        assert_true(full >= 0);
        assert_true(dup2(full, capture.fd) >= 0);
        close(full);
        assert_int_equal(tendon_bluez_monitor_open(&monitor, &b->loop, &capture, "hci7"), TENDON_OK);
        int fd = monitor.source.fd;
        send_packets(1);
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
        assert_int_equal(capture.status, TENDON_SYSTEM_ERROR(ENOSPC));
        assert_int_equal(monitor.records, 0);
        assert_false(monitor.source.added);
        assert_int_equal(monitor.source.fd, -1);
        assert_int_equal(fcntl(fd, F_GETFD), -1);
        if (closes) {
            tendon_bluez_monitor_close(&monitor);
        }
        assert_int_equal(tendon_capture_close(&capture), TENDON_SYSTEM_ERROR(ENOSPC));
        bluez_close(b);
    }
}

/* Type H4: the HCI packets alone. What the kernel says about adapters has no place in it. */
static void a_capture_of_hci_packets_has_nothing_else(void **state) {
    (void)state;
    static const uint8_t new_index[] = {0, 0, 7, 0, 0, 0};
    static const uint32_t links[] = {TENDON_CAPTURE_H4, TENDON_CAPTURE_MONITOR};
    for (size_t i = 0; i < 2; i++) {
        bluez_bench *b = opened();
        tendon_capture capture;
        tendon_bluez_monitor monitor;
        char path[] = "/tmp/tendon-monitor-XXXXXX";
        int file = mkstemp(path);
        assert_true(file >= 0);
        close(file);
        assert_int_equal(tendon_capture_create(&capture, path, links[i]), TENDON_OK);
        assert_int_equal(tendon_bluez_monitor_open(&monitor, &b->loop, &capture, NULL), TENDON_OK);
        assert_int_equal(send(bluez_far_end(), new_index, sizeof new_index, 0), (ssize_t)sizeof new_index);
        send_packets(1);
        tendon_bluez_monitor_close(&monitor);
        assert_int_equal(monitor.records, i + 1);
        assert_int_equal(tendon_capture_close(&capture), TENDON_OK);
        static tendon_capture_reader reader;
        tendon_capture_record record;
        assert_int_equal(tendon_capture_open(&reader, path), TENDON_OK);
        for (size_t skipped = 0; skipped <= i; skipped++) {
            assert_true(tendon_capture_next(&reader, &record) >= 0);
        }
        assert_int_equal(record.type, HCI_EVENT_PKT);
        assert_true(record.incoming);
        tendon_capture_reader_close(&reader);
        unlink(path);
        bluez_close(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_of_the_raw_socket_that_fails),
        cmocka_unit_test(a_read_of_the_management_socket_that_fails),
        cmocka_unit_test(a_management_event_that_is_too_long_is_skipped),
        cmocka_unit_test(packets_of_other_types_are_ignored),
        cmocka_unit_test(an_exchange_goes_on_after_an_interruption),
        cmocka_unit_test(only_the_reply_to_this_command_is_taken),
        cmocka_unit_test(events_of_others_do_not_prolong_a_wait),
        cmocka_unit_test(waiting_ends_with_its_time_or_with_an_error),
        cmocka_unit_test(the_monitor_reads_what_waits_once),
        cmocka_unit_test(a_capture_of_packets_has_packets_alone),
        cmocka_unit_test(the_monitor_passes_over_an_empty_packet),
        cmocka_unit_test(a_capture_that_cannot_be_written_ends_the_monitor),
        cmocka_unit_test(a_capture_of_hci_packets_has_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
