/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening an adapter: a scripted kernel answers each command of the management socket and of the HCI socket. */
#include "bluez_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SOCKETS = 64, READ_LOCAL_COMMANDS = 0x1002, LE_FEATURES = 0x2003 };

/** The kernel as the radio sees it. */
static struct kernel {
    uint16_t indexes[3]; /**< in the order in which the adapters were added */
    size_t count;
    bool exists;     /**< the adapter of the name, also while it is not in the list */
    int listed_from; /**< look-ups before the list contains any adapter */
    uint32_t supported, settings;
    bool stays_off;        /**< Set Powered succeeds, but the adapter is off */
    uint8_t address[6];    /**< as on the wire */
    uint16_t fails, error; /**< this command, with this status */
    bool extended;
    int others; /**< HCI sockets of other programs */
    int peers[SOCKETS];
    uint16_t channels[SOCKETS];
    uint64_t now;
    char log[512]; /**< management commands as "m04", HCI commands as "h1002" */
} kernel;

static void note(const char *format, unsigned value) {
    size_t used = strlen(kernel.log);
    snprintf(kernel.log + used, sizeof kernel.log - used, format, value);
}

/* ---- in the place of the C library ---- */

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC) {
        return (int)syscall(SYS_clock_gettime, clock, time);
    }
    time->tv_sec = (time_t)(kernel.now / 1000);
    time->tv_nsec = (long)(kernel.now % 1000) * 1000000;
    return 0;
}

int usleep(useconds_t us) {
    kernel.now += us / 1000;
    return 0;
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if (strcmp(path, "/proc/net/hci") != 0) {
        return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    }
    static const char text[] = "sk RefCnt Rmem Wmem User Inode Parent\n0 2 0 0 0 1 0\n0 2 0 0 0 2 0\n";
    static const size_t lengths[] = {38, 38 + 15, sizeof text - 1};
    int fd = memfd_create("hci", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, lengths[kernel.others]), (ssize_t)lengths[kernel.others]);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

int socket(int domain, int type, int protocol) {
    int pair[2];
    if (domain != AF_BLUETOOTH) {
        return (int)syscall(SYS_socket, domain, type, protocol);
    }
    if (calls.socket.number != 0 && calls.socket.after-- == 0) {
        errno = calls.socket.number;
        return -1;
    }
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    assert_true(pair[0] < SOCKETS);
    if (kernel.peers[pair[0]] > 0) {
        close(kernel.peers[pair[0]]);
    }
    kernel.peers[pair[0]] = pair[1];
    return calls.fd = pair[0];
}

static bool is_ours(int fd) {
    return fd >= 0 && fd < SOCKETS && kernel.peers[fd] > 0;
}

int bind(int fd, __CONST_SOCKADDR_ARG name, socklen_t length) {
    if (!is_ours(fd) || name.__sockaddr__->sa_family != AF_BLUETOOTH) {
        return (int)syscall(SYS_bind, fd, name, length);
    }
    struct sockaddr_hci hci;
    memcpy(&hci, name.__sockaddr__, sizeof hci);
    kernel.channels[fd] = hci.hci_channel;
    return 0;
}

int hci_devinfo(int index, struct hci_dev_info *info) {
    (void)index;
    memset(info, 0, sizeof *info);
    errno = ENODEV;
    return kernel.exists ? 0 : -1;
}

/* ---- the kernel's answers ---- */

static void put(int fd, const uint8_t *bytes, size_t length) {
    assert_int_equal(syscall(SYS_sendto, kernel.peers[fd], bytes, length, MSG_DONTWAIT, NULL, 0), (long)length);
}

static size_t list(uint8_t *out) {
    size_t count = kernel.listed_from-- > 0 ? 0 : kernel.count;
    out[0] = (uint8_t)count;
    out[1] = 0;
    for (size_t i = 0; i < count; i++) {
        out[2 + 2 * i] = (uint8_t)kernel.indexes[i];
        out[3 + 2 * i] = (uint8_t)(kernel.indexes[i] >> 8);
    }
    return 2 + 2 * count;
}

static void put_settings(uint8_t *out, uint32_t settings) {
    for (int i = 0; i < 4; i++) {
        out[i] = (uint8_t)(settings >> 8 * i);
    }
}

static size_t set(uint16_t opcode, uint8_t mode, uint8_t *out) {
    uint32_t bit = opcode == TENDON_MANAGEMENT_SET_POWERED      ? TENDON_MANAGEMENT_POWERED
                   : opcode == TENDON_MANAGEMENT_SET_LOW_ENERGY ? TENDON_MANAGEMENT_LOW_ENERGY
                                                                : TENDON_MANAGEMENT_STATIC_ADDRESS;
    bool on = mode != 0 && !(kernel.stays_off && bit == TENDON_MANAGEMENT_POWERED);
    kernel.settings = on ? kernel.settings | bit : kernel.settings & ~bit;
    put_settings(out, kernel.settings);
    return 4;
}

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
    const uint8_t *pdu = bytes;
    if (!is_ours(fd) || kernel.channels[fd] != HCI_CHANNEL_CONTROL) {
        return syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
    }
    uint16_t opcode = (uint16_t)(pdu[0] | pdu[1] << 8);
    note(" m%02x", opcode);
    /* An event of another adapter comes first: it is not the reply. */
    static const uint8_t event[] = {TENDON_MANAGEMENT_INDEX_ADDED, 0, 99, 0, 0, 0};
    put(fd, event, sizeof event);
    uint8_t reply[6 + 3 + 280] = {TENDON_MANAGEMENT_COMMAND_COMPLETE, 0, pdu[2], pdu[3], 0, 0, pdu[0], pdu[1], 0};
    uint8_t *out = reply + 9;
    size_t size = 0;
    if (opcode == kernel.fails) {
        reply[0] = TENDON_MANAGEMENT_COMMAND_STATUS;
        reply[8] = (uint8_t)kernel.error;
    } else if (opcode == TENDON_MANAGEMENT_READ_INDEX_LIST) {
        size = list(out);
    } else if (opcode == TENDON_MANAGEMENT_READ_INFORMATION) {
        size = 280;
        memcpy(out, kernel.address, 6);
        out[6] = 9;
        put_settings(out + 9, kernel.supported);
        put_settings(out + 13, kernel.settings);
    } else {
        size = set(opcode, pdu[6], out);
    }
    reply[4] = (uint8_t)(size + 3);
    reply[5] = (uint8_t)((size + 3) >> 8);
    put(fd, reply, 9 + size);
    return (ssize_t)length;
}

int hci_send_cmd(int dd, uint16_t ogf, uint16_t ocf, uint8_t plen, void *param) {
    uint16_t opcode = cmd_opcode_pack(ogf, ocf);
    uint8_t event[3 + 4 + 64] = {HCI_EVENT_PKT,   TENDON_HCI_COMMAND_COMPLETE, 4 + 64, 1,
                                 (uint8_t)opcode, (uint8_t)(opcode >> 8)};
    (void)plen;
    (void)param;
    note(" h%04x", opcode);
    event[6] = opcode == kernel.fails ? (uint8_t)kernel.error : 0;
    if (opcode == READ_LOCAL_COMMANDS && kernel.extended) {
        event[7 + 37] = 0x60; /* LE Set Extended Scan Parameters, Enable */
    } else if (opcode == LE_FEATURES && kernel.extended) {
        event[7 + 1] = 0x10; /* LE Extended Advertising */
    } else if (opcode == TENDON_HCI_LE_READ_BUFFER_SIZE) {
        event[7] = 251;
        event[9] = 8;
    }
    put(dd, event, sizeof event);
    return 0;
}

/* ---- opening ---- */

static tendon_loop loop;
static tendon_bluez_radio radio;

static int start(void **state) {
    (void)state;
    kernel = (struct kernel){.indexes = {7, 1, 3},
                             .count = 3,
                             .supported = TENDON_MANAGEMENT_LOW_ENERGY | TENDON_MANAGEMENT_POWERED,
                             .settings = TENDON_MANAGEMENT_LOW_ENERGY | TENDON_MANAGEMENT_POWERED,
                             .address = {0x42, 0, 0, 1, 0xAA, 0},
                             .others = 1,
                             .now = 1000};
    calls = (system_calls){.fd = -1, .peer = -1, .central = -1};
    return tendon_loop_init(&loop);
}

static int end(void **state) {
    (void)state;
    for (int fd = 0; fd < SOCKETS; fd++) {
        if (kernel.peers[fd] > 0) {
            close(kernel.peers[fd]);
        }
    }
    tendon_loop_close(&loop);
    return 0;
}

/** Every Bluetooth socket was closed: its other end reads the end of the data. */
static void assert_all_closed(void) {
    uint8_t bytes[512];
    for (int fd = 0; fd < SOCKETS; fd++) {
        if (kernel.peers[fd] > 0) {
            ssize_t got = 1;
            while (got > 0) {
                got = recv(kernel.peers[fd], bytes, sizeof bytes, MSG_DONTWAIT);
            }
            assert_true(got == 0 || errno == ECONNRESET);
        }
    }
}

#define LIMITS_LEGACY " h2002 h200f h201c h202a"
#define LIMITS_EXTENDED LIMITS_LEGACY " h203a h203b"

static void opens_the_first_adapter_and_powers_it_on(void **state) {
    static const struct {
        uint32_t settings;
        bool extended;
        int others;
        const char *log;
    } cases[] = {
        {3, false, 1, " h1002 h2003" LIMITS_LEGACY},
        {3, true, 1, " h1002 h2003" LIMITS_EXTENDED},
        {1, false, 1, " m0d h1002 h2003" LIMITS_LEGACY},
        {2, false, 1, " m05 h1002 h2003" LIMITS_LEGACY},
        {0, false, 1, " m0d m05 h1002 h2003" LIMITS_LEGACY},
        {3, false, 0, " h1002 h2003" LIMITS_LEGACY " m24"}, /* a killed program may have left a discovery on */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)start(state);
        kernel.settings = (cases[i].settings & 1 ? TENDON_MANAGEMENT_POWERED : 0) |
                          (cases[i].settings & 2 ? TENDON_MANAGEMENT_LOW_ENERGY : 0);
        kernel.extended = cases[i].extended;
        kernel.others = cases[i].others;
        assert_int_equal(tendon_bluez_open(&radio, &loop, NULL), TENDON_OK);
        char log[128];
        snprintf(log, sizeof log, " m03 m04 m04 m04%s", cases[i].log);
        assert_string_equal(kernel.log, log);
        assert_int_equal(radio.index, 1);
        static const uint8_t address[] = {0, 0xAA, 1, 0, 0, 0x42};
        assert_memory_equal(radio.radio.address.bytes, address, 6);
        assert_int_equal(radio.radio.address.type, TENDON_ADDRESS_TYPE_PUBLIC);
        assert_int_equal(radio.extended_scan, cases[i].extended);
        assert_int_equal(radio.extended_advertising, cases[i].extended);
        assert_int_equal(radio.limits.packet_length, 251);
        assert_int_equal(radio.limits.packets, 8);
        assert_int_equal(kernel.settings, TENDON_MANAGEMENT_POWERED | TENDON_MANAGEMENT_LOW_ENERGY);
        tendon_radio_close(&radio.radio);
        assert_all_closed();
        (void)end(state);
    }
}

static void an_adapter_that_cannot_be_opened_leaves_nothing_open(void **state) {
    enum { LIST = TENDON_MANAGEMENT_READ_INDEX_LIST, LE = TENDON_MANAGEMENT_SET_LOW_ENERGY };
    enum { POWER = TENDON_MANAGEMENT_SET_POWERED };
    static const struct {
        const char *name;
        uint16_t fails, error;
        tendon_status expected;
    } cases[] = {
        {"hci9", 0, 0, TENDON_RADIO_ERROR_NO_ADAPTER},
        {"usb0", 0, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {"usb1", 0, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {"hci", 0, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {"hci1x", 0, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {"", 0, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {"hci3", LIST, TENDON_MANAGEMENT_BUSY, TENDON_RADIO_ERROR_ADAPTER_BUSY},
        {"hci3", LE, TENDON_MANAGEMENT_REJECTED, TENDON_RADIO_ERROR_ADAPTER_DOWN},
        {"hci3", LE, TENDON_MANAGEMENT_PERMISSION_DENIED, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN},
        {"hci3", POWER, TENDON_MANAGEMENT_FAILED, TENDON_RADIO_ERROR_ADAPTER_DOWN},
        {"hci3", POWER, TENDON_MANAGEMENT_RFKILLED, TENDON_RADIO_ERROR_RFKILL},
        {"hci3", POWER, TENDON_MANAGEMENT_PERMISSION_DENIED, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN},
        {"hci3", READ_LOCAL_COMMANDS, 0x01, TENDON_HCI_ERROR(0x01)},
        {"hci3", LE_FEATURES, 0x1F, TENDON_HCI_ERROR(0x1F)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)start(state);
        kernel.settings = 0;
        kernel.fails = cases[i].fails;
        kernel.error = cases[i].error;
        assert_int_equal(tendon_bluez_open(&radio, &loop, cases[i].name), cases[i].expected);
        assert_all_closed();
        (void)end(state);
    }
    for (int i = 0; i < 5; i++) {
        static const tendon_status expected[] = {TENDON_RADIO_ERROR_ADAPTER_DOWN, TENDON_ERROR_UNSUPPORTED,
                                                 TENDON_SYSTEM_ERROR(EMFILE), TENDON_SYSTEM_ERROR(ENOSPC),
                                                 TENDON_RADIO_ERROR_NO_CAP_NET_RAW};
        (void)start(state);
        kernel.settings = i == 0 ? 0 : kernel.settings;
        kernel.stays_off = i == 0;
        kernel.supported = i == 1 ? TENDON_MANAGEMENT_POWERED : kernel.supported;
        calls.socket = (refused_call){i == 2 ? EMFILE : 0, 1};
        calls.epoll_add = (refused_call){i == 3 ? ENOSPC : 0, 1};
        calls.filter_loses = i == 4 ? 2 : 0;
        assert_int_equal(tendon_bluez_open(&radio, &loop, "hci3"), expected[i]);
        calls.socket.number = 0;
        assert_all_closed();
        (void)end(state);
    }
}

/* Connections alone: the controller gets no command, and bits of the filter may be missing. */
static void without_cap_net_raw_it_opens_for_connections(void **state) {
    (void)state;
    calls.filter_loses = 2;
    kernel.others = 0;
    assert_int_equal(tendon_bluez_open_unprivileged(&radio, &loop, "hci3"), TENDON_OK);
    assert_string_equal(kernel.log, " m03 m04 m04 m04");
    tendon_radio_close(&radio.radio);
    kernel.log[0] = '\0';
    calls.filter = (refused_call){EINVAL, 0};
    assert_int_equal(tendon_bluez_open_unprivileged(&radio, &loop, "hci3"), TENDON_SYSTEM_ERROR(EINVAL));
    assert_all_closed();
}

static void an_adapter_that_has_just_appeared_is_awaited(void **state) {
    (void)state;
    kernel.exists = true;
    kernel.listed_from = 5;
    assert_int_equal(tendon_bluez_open(&radio, &loop, "hci7"), TENDON_OK);
    assert_int_equal(radio.index, 7);
    assert_int_equal(kernel.now, 1000 + 5 * 20);
    tendon_radio_close(&radio.radio);
    /* One that another program uses exclusively is never in the list: 2 s. */
    kernel.listed_from = 1000000;
    kernel.now = 1000;
    assert_int_equal(tendon_bluez_open(&radio, &loop, "hci7"), TENDON_RADIO_ERROR_ADAPTER_BUSY);
    assert_int_equal(kernel.now, 3000);
    assert_all_closed();
}

/* ---- static address ---- */

static void an_adapter_without_an_address_gets_a_static_one(void **state) {
    char directory[] = "/tmp/tendon-open-XXXXXX", command[64];
    static const struct {
        bool powered;
        int connect_error; /* of the probe: EINVAL if the kernel uses our address */
        int others;
        tendon_status expected;
        const char *log;
    } cases[] = {
        {false, 0, 1, TENDON_OK, " m03 m04 m04 m04 m2b m05 h1002 h2003" LIMITS_LEGACY},
        {true, EINVAL, 1, TENDON_OK, " m03 m04 m04 m04 h1002 h2003" LIMITS_LEGACY},
        {true, EHOSTUNREACH, 0, TENDON_OK, " m03 m04 m04 m04 m05 m2b m05 h1002 h2003" LIMITS_LEGACY " m24"},
        {true, EHOSTUNREACH, 1, TENDON_RADIO_ERROR_ADAPTER_BUSY, " m03 m04 m04 m04"},
    };
    assert_non_null(mkdtemp(directory));
    assert_int_equal(setenv("XDG_STATE_HOME", directory, 1), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)start(state);
        memset(kernel.address, 0, 6);
        kernel.settings &= cases[i].powered ? UINT32_MAX : ~(uint32_t)TENDON_MANAGEMENT_POWERED;
        kernel.others = cases[i].others;
        calls.connect = (refused_call){cases[i].connect_error, 0};
        assert_int_equal(tendon_bluez_open(&radio, &loop, "hci3"), cases[i].expected);
        assert_string_equal(kernel.log, cases[i].log);
        if (cases[i].expected == TENDON_OK) {
            assert_int_equal(radio.radio.address.type, TENDON_ADDRESS_TYPE_RANDOM);
            assert_int_equal(radio.radio.address.bytes[0] & 0xC0, 0xC0);
            tendon_radio_close(&radio.radio);
        }
        assert_all_closed();
        (void)end(state);
    }
    (void)start(state);
    memset(kernel.address, 0, 6);
    calls.socket = (refused_call){EMFILE, 2}; /* the probe's: the kernel may use another address */
    assert_int_equal(tendon_bluez_open(&radio, &loop, "hci3"), TENDON_RADIO_ERROR_ADAPTER_BUSY);
    assert_all_closed();
    (void)end(state);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
}

/* ---- lists and capabilities ---- */

static void the_list_is_in_order_of_the_index(void **state) {
    (void)state;
    tendon_bluez_adapter adapters[3];
    kernel.settings = TENDON_MANAGEMENT_LOW_ENERGY;
    kernel.supported |= TENDON_MANAGEMENT_STATIC_ADDRESS;
    assert_int_equal(tendon_bluez_list(adapters, 3), 3);
    static const char *const names[] = {"hci1", "hci3", "hci7"};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(adapters[i].name, names[i]);
        assert_int_equal(adapters[i].index, names[i][3] - '0');
        assert_int_equal(adapters[i].supported_settings, kernel.supported);
        assert_int_equal(adapters[i].current_settings, kernel.settings);
        assert_true(adapters[i].low_energy && !adapters[i].powered && !adapters[i].static_address);
        assert_int_equal(adapters[i].version, 9);
    }
    kernel.indexes[1] = 0; /* the first index */
    memset(adapters, 0xFF, sizeof adapters);
    assert_int_equal(tendon_bluez_list(adapters, 1), 3);
    assert_int_equal(adapters[0].index, 0);
    assert_int_equal(adapters[1].index, 0xFFFF);       /* only the first is stored */
    kernel.fails = TENDON_MANAGEMENT_READ_INFORMATION; /* removed since the list was made */
    kernel.error = TENDON_MANAGEMENT_INVALID_INDEX;
    assert_int_equal(tendon_bluez_list(adapters, 3), 0);
    kernel.count = 0;
    kernel.fails = 0;
    assert_int_equal(tendon_bluez_list(adapters, 3), 0);
    assert_int_equal(tendon_bluez_open(&radio, &loop, NULL), TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_all_closed();
}

static void the_limits_are_read_with_the_commands_of_the_controller(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        tendon_bluez_limits limits;
        kernel.extended = extended;
        kernel.log[0] = '\0';
        assert_int_equal(tendon_bluez_read_limits(3, &limits), TENDON_OK);
        assert_string_equal(kernel.log, extended ? " h2003" LIMITS_EXTENDED : " h2003" LIMITS_LEGACY);
        assert_int_equal(limits.packet_length, 251);
        assert_int_equal(limits.packets, 8);
    }
    tendon_bluez_limits limits;
    kernel.fails = LE_FEATURES;
    kernel.error = 0x01;
    assert_int_equal(tendon_bluez_read_limits(3, &limits), TENDON_HCI_ERROR(0x01));
    assert_all_closed();
}

static void the_probe_counts_the_sockets_of_others(void **state) {
    (void)state;
    for (int others = 0; others <= 2; others++) {
        tendon_bluez_capabilities rights;
        memset(&rights, 0xFF, sizeof rights);
        kernel.others = others;
        tendon_bluez_get_capabilities(&rights);
        assert_int_equal(rights.other_sockets, others);
        assert_true(rights.kernel_support);
        calls.socket = (refused_call){EAFNOSUPPORT, 0};
        tendon_bluez_get_capabilities(&rights);
        assert_false(rights.kernel_support);
        calls.socket = (refused_call){0, 0};
    }
    assert_all_closed();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_the_first_adapter_and_powers_it_on),
        cmocka_unit_test(an_adapter_that_cannot_be_opened_leaves_nothing_open),
        cmocka_unit_test_setup_teardown(without_cap_net_raw_it_opens_for_connections, start, end),
        cmocka_unit_test_setup_teardown(an_adapter_that_has_just_appeared_is_awaited, start, end),
        cmocka_unit_test(an_adapter_without_an_address_gets_a_static_one),
        cmocka_unit_test_setup_teardown(the_list_is_in_order_of_the_index, start, end),
        cmocka_unit_test_setup_teardown(the_limits_are_read_with_the_commands_of_the_controller, start, end),
        cmocka_unit_test_setup_teardown(the_probe_counts_the_sockets_of_others, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
