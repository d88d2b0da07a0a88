/* SPDX-License-Identifier: MIT */
#include "bluez_kernel.h"
#include "test_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bluez_kernel kernel;

void bluez_kernel_start(void) {
    kernel = (bluez_kernel){.indexes = {7, 1, 3},
                            .count = 3,
                            .supported = TENDON_MANAGEMENT_LOW_ENERGY | TENDON_MANAGEMENT_POWERED,
                            .settings = TENDON_MANAGEMENT_LOW_ENERGY | TENDON_MANAGEMENT_POWERED,
                            .address = {0x42, 0, 0, 1, 0xAA, 0},
                            .others = 1,
                            .now = 1000};
    calls = (system_calls){.fd = -1, .peer = -1, .central = -1};
}

void bluez_kernel_close(void) {
    for (int fd = 0; fd < SOCKETS; fd++) {
        if (kernel.peers[fd] > 0) {
            close(kernel.peers[fd]);
            kernel.peers[fd] = 0;
        }
    }
}

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

/* Time passes while nothing comes. */
int poll(struct pollfd *fds, nfds_t count, int timeout) {
    struct timespec none = {0};
    if (bluez_call_refused()) {
        return -1;
    }
    int ready = (int)syscall(SYS_ppoll, fds, count, &none, NULL, 0);
    kernel.now += ready == 0 ? (uint64_t)timeout : 0;
    return ready;
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
    if (strcmp(path, "/proc/self/net/hci") != 0) {
        return bluez_open_file(path, flags, mode);
    }
    if (bluez_call_refused()) {
        return -1;
    }
    if (kernel.hidden) {
        errno = EACCES;
        return -1;
    }
    if (bluez_hci_sockets != NULL) {
        return bluez_open_file(path, flags, mode);
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
    if (bluez_call_refused()) {
        return -1;
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
    if (bluez_call_refused()) {
        return -1;
    }
    if (length == sizeof(struct sockaddr_l2)) {
        struct sockaddr_l2 l2;
        memcpy(&l2, name.__sockaddr__, sizeof l2);
        memcpy(kernel.bound, l2.l2_bdaddr.b, sizeof kernel.bound);
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
    if (kernel.silent) {
        return;
    }
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
    uint32_t bit = opcode == TENDON_MANAGEMENT_SET_POWERED                 ? TENDON_MANAGEMENT_POWERED
                   : opcode == TENDON_MANAGEMENT_SET_LOW_ENERGY            ? TENDON_MANAGEMENT_LOW_ENERGY
                   : opcode == TENDON_MANAGEMENT_SET_SECURE_SIMPLE_PAIRING ? TENDON_MANAGEMENT_SECURE_SIMPLE_PAIRING
                   : opcode == TENDON_MANAGEMENT_SET_SECURE_CONNECTIONS    ? TENDON_MANAGEMENT_SECURE_CONNECTIONS
                   : opcode == TENDON_MANAGEMENT_SET_STATIC_ADDRESS        ? TENDON_MANAGEMENT_STATIC_ADDRESS
                                                                           : 0; /* of lists and others */
    assert_true(mode <= 1 || bit == TENDON_MANAGEMENT_STATIC_ADDRESS || bit == 0);
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
    if (bluez_call_refused()) {
        return -1;
    }
    uint16_t opcode = (uint16_t)(pdu[0] | pdu[1] << 8);
    note(" m%02x", opcode);
    if (opcode == TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS || opcode == TENDON_MANAGEMENT_LOAD_IDENTITY_KEYS) {
        note(":%u", pdu[6]); /* keys */
    }
    /* An event of another adapter comes first: it is not the reply. */
    static const uint8_t event[] = {TENDON_MANAGEMENT_INDEX_ADDED, 0, 99, 0, 0, 0};
    if (!kernel.alone) {
        put(fd, event, sizeof event);
    }
    uint8_t reply[6 + 3 + 280] = {TENDON_MANAGEMENT_COMMAND_COMPLETE, 0, pdu[2], pdu[3], 0, 0, pdu[0], pdu[1], 0};
    uint8_t *out = reply + 9;
    size_t size = 0;
    if (opcode == kernel.fails) {
        reply[0] = TENDON_MANAGEMENT_COMMAND_STATUS;
        reply[8] = (uint8_t)kernel.error;
        if (kernel.failures > 0 && --kernel.failures == 0) {
            kernel.fails = 0;
        }
    } else if (opcode == kernel.empty) {
        size = 0;
    } else if (opcode == TENDON_MANAGEMENT_READ_INDEX_LIST) {
        size = list(out);
    } else if (opcode == TENDON_MANAGEMENT_READ_UNCONFIGURED_INDEX_LIST) {
        size = 2;
    } else if (opcode == TENDON_MANAGEMENT_READ_INFORMATION) {
        size = 280;
        memcpy(out, kernel.address, 6);
        out[0] = (uint8_t)(out[0] + (out[4] != 0 ? pdu[2] - 1 : 0)); /* each has its own */
        out[6] = 9;
        put_settings(out + 9, kernel.supported);
        put_settings(out + 13, kernel.settings);
    } else {
        if (opcode == TENDON_MANAGEMENT_SET_STATIC_ADDRESS) {
            memcpy(kernel.static_address, pdu + 6, 6);
        }
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
    if (bluez_call_refused()) {
        return -1;
    }
    note(" h%04x", opcode);
    event[6] = opcode == kernel.fails ? (uint8_t)kernel.error : 0;
    if (opcode == READ_LOCAL_COMMANDS) { /* what the limits are read with */
        event[7 + 25] = 1 << 1;
        event[7 + 26] = 1 << 6;
        event[7 + 28] = 1 << 3;
        event[7 + 34] = 1 << 6;
        event[7 + 36] = kernel.extended ? 0xC0 : 0;
    }
    if (opcode == READ_LOCAL_COMMANDS && kernel.extended) {
        event[7 + 37] = kernel.extended_scan != 0 ? kernel.extended_scan : 0x60; /* parameters, enable */
    } else if (opcode == LE_FEATURES && kernel.extended) {
        event[7 + 1] = 0x19; /* LE Extended Advertising, LE Coded PHY, LE 2M PHY */
    } else if (opcode == TENDON_HCI_LE_READ_BUFFER_SIZE) {
        event[7] = 251;
        event[9] = 8;
    }
    bool empty = opcode == kernel.empty;
    event[2] = empty ? 4 : event[2];
    put(dd, event, empty ? 7 : sizeof event);
    return 0;
}
