/* SPDX-License-Identifier: MIT */
/*
 * Our description of the kernel's sockets against libbluetooth's headers: every size, offset and constant that the
 * library uses; and the two calls that it has instead of libbluetooth's, over system calls that this file defines.
 */
#include "test_bytes.h"

#include "../../../../CSources/linux/adapter/kernel_sockets.h"
#include "socket_abi.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
    int socket_number, ioctl_number, writes_refused, write_number; /* errno; 0: the call succeeds */
    int domain, kind, protocol, opened, closed;
    unsigned long request;
    uint16_t asked;
    int parts;
    uint8_t sent[300];
    size_t length;
} calls;

static int setup(void **state) {
    (void)state;
    memset(&calls, 0, sizeof calls);
    return 0;
}

static int result(int number, int good) {
    errno = number;
    return number != 0 ? -1 : good;
}

int socket(int domain, int kind, int protocol) {
    calls.domain = domain;
    calls.kind = kind;
    calls.protocol = protocol;
    calls.opened += calls.socket_number == 0;
    return result(calls.socket_number, 77);
}

int close(int fd) {
    calls.closed += fd == 77;
    return result(EIO, 0);
}

int ioctl(int fd, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    struct hci_dev_info *info = va_arg(arguments, struct hci_dev_info *);
    va_end(arguments);
    assert_int_equal(fd, 77);
    calls.request = request;
    calls.asked = info->dev_id;
    if (calls.ioctl_number == 0) {
        memcpy(info->name, "hci5", 5);
    }
    return result(calls.ioctl_number, 0);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    assert_int_equal(fd, 5);
    if (calls.writes_refused > 0) {
        calls.writes_refused--;
        return result(calls.write_number, 0);
    }
    calls.parts = count;
    for (int i = 0; i < count; i++) {
        memcpy(calls.sent + calls.length, parts[i].iov_base, parts[i].iov_len);
        calls.length += parts[i].iov_len;
    }
    return (ssize_t)calls.length;
}

static void every_number_is_libbluetooths(void **state) {
    (void)state;
    assert_int_equal(own_count, library_count);
    assert_true(own_count > 80);
    for (size_t i = 0; i < own_count; i++) {
        assert_string_equal(own_numbers[i].name, library_numbers[i].name);
        if (own_numbers[i].value != library_numbers[i].value) {
            fail_msg("%s is %#lx, in libbluetooth %#lx", own_numbers[i].name, own_numbers[i].value,
                     library_numbers[i].value);
        }
    }
}

static void every_bit_of_a_filter(void **state) {
    (void)state;
    for (int kind = 0; kind < 32; kind++) {
        for (int event = 0; event < 64; event++) {
            filter_bits own, library;
            own_filter(kind, event, &own);
            library_filter(kind, event, &library);
            assert_memory_equal(&own, &library, sizeof own);
        }
    }
}

static void an_adapter_is_looked_up(void **state) {
    (void)state;
    struct hci_dev_info info;
    memset(&info, 0xA5, sizeof info);
    assert_int_equal(hci_devinfo(5, &info), 0);
    assert_int_equal(calls.domain, 31);
    assert_int_equal(calls.kind, SOCK_RAW | SOCK_CLOEXEC);
    assert_int_equal(calls.protocol, 1);
    assert_int_equal(calls.request, 0x800448D3); /* _IOR('H', 211, int) on a machine with 32-bit int */
    assert_int_equal(calls.asked, 5);
    assert_string_equal(info.name, "hci5");
    assert_int_equal(info.flags, 0);
    assert_int_equal(calls.closed, 1);
}

static void the_lookups_error_is_kept(void **state) {
    (void)state;
    struct hci_dev_info info;
    calls.ioctl_number = ENODEV;
    assert_int_equal(hci_devinfo(5, &info), -1);
    assert_int_equal(errno, ENODEV); /* and not that of close() */
    assert_int_equal(calls.closed, 1);
    calls.socket_number = EAFNOSUPPORT;
    assert_int_equal(hci_devinfo(5, &info), -1);
    assert_int_equal(errno, EAFNOSUPPORT);
    assert_int_equal(calls.closed, 1);
}

static void a_command_is_one_packet(void **state) {
    (void)state;
    uint8_t parameters[255];
    memset(parameters, 0x42, sizeof parameters);
    assert_int_equal(hci_send_cmd(5, 0x08, 0x000C, 2, parameters), 0);
    assert_int_equal(calls.length, 6);
    assert_memory_equal(calls.sent, "\x01\x0C\x20\x02\x42\x42", 6);
    calls.length = 0;
    assert_int_equal(hci_send_cmd(5, 0x03, 0x0003, 0, NULL), 0);
    assert_int_equal(calls.parts, 1);
    assert_memory_equal(calls.sent, "\x01\x03\x0C\x00", 4);
    calls.length = 0;
    assert_int_equal(hci_send_cmd(5, 0x3F, 0x03FF, 255, parameters), 0);
    assert_int_equal(calls.length, 259);
    assert_memory_equal(calls.sent, "\x01\xFF\xFF\xFF\x42", 5);
}

static void an_interrupted_command_is_sent_again_and_a_refused_one_is_not(void **state) {
    (void)state;
    calls.writes_refused = 2;
    calls.write_number = EINTR;
    assert_int_equal(hci_send_cmd(5, 0x03, 0x0003, 0, NULL), 0);
    assert_int_equal(calls.length, 4);
    static const int numbers[] = {EAGAIN, ENOBUFS, ENETDOWN, EPERM, EIO};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        setup(NULL);
        calls.writes_refused = 1;
        calls.write_number = numbers[i];
        assert_int_equal(hci_send_cmd(5, 0x03, 0x0003, 0, NULL), -1);
        assert_int_equal(errno, numbers[i]);
        assert_int_equal(calls.length, 0);
    }
}

#define T(name) cmocka_unit_test_setup(name, setup)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(every_number_is_libbluetooths), T(every_bit_of_a_filter),
        T(an_adapter_is_looked_up),       T(the_lookups_error_is_kept),
        T(a_command_is_one_packet),       T(an_interrupted_command_is_sent_again_and_a_refused_one_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
