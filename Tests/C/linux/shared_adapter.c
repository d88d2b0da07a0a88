/* SPDX-License-Identifier: MIT */
#include "shared_adapter.h"
#include "fake_clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { REPORT_MS = 100, DISALLOWED = 0x0C, PACKET = 4 + 255 };

shared_adapter adapter;
static char sockets[1024]; /* /proc/self/net/hci */

/* In the C library's place: time passes while nothing comes. */
int poll(struct pollfd *fds, nfds_t count, int timeout) {
    struct timespec none = {0};
    int ready = (int)syscall(SYS_ppoll, fds, count, &none, NULL, 0);
    fake_clock_ms += ready == 0 && timeout > 0 ? (uint64_t)timeout : 0;
    return ready;
}

static unsigned long inode(int fd) {
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    return (unsigned long)info.st_ino;
}

/** The kernel's list has the sockets of all users, and of other programs. */
static void list_sockets(void) {
    int used = snprintf(sockets, sizeof sockets, "sk RefCnt Rmem Wmem User Inode Parent\n");
    for (unsigned i = 0; i < adapter.programs; i++) {
        used += snprintf(sockets + used, sizeof sockets - (size_t)used, "0 2 0 0 0 %u 0\n", i + 1);
    }
    for (int i = 0; i < ADAPTER_USERS; i++) {
        const adapter_user *user = &adapter.users[i];
        if (user->open && user->radio.hci.fd >= 0) {
            used += snprintf(sockets + used, sizeof sockets - (size_t)used, "0 2 0 0 0 %lu 0\n0 2 0 0 0 %lu 0\n",
                             inode(user->radio.hci.fd), inode(user->radio.management.fd));
        }
    }
    bluez_hci_sockets = sockets;
}

void adapter_start(bool extended, bool strict) {
    memset(&adapter, 0, sizeof adapter);
    sends_refused = (refused_sends){0};
    bluez_privileges = (privileges){.effective = ~0u};
    calls = (system_calls){
        .fd = -1, .peer = -1, .central = -1, .handle = 0x40, .kernel_handle = 0x40, .kernel_link_mode = HCI_LM_ENCRYPT};
    adapter.extended = extended;
    adapter.strict = strict;
    adapter.owner = -1;
    assert_int_equal(tendon_loop_init(&adapter.loop), TENDON_OK);
    list_sockets();
}

static void close_ends(adapter_user *user) {
    close(user->controller);
    close(user->kernel);
    user->open = false;
    list_sockets();
}

void adapter_end(void) {
    for (int i = 0; i < ADAPTER_USERS; i++) {
        if (adapter.users[i].open) {
            tendon_radio_close(&adapter.users[i].radio.radio);
            close_ends(&adapter.users[i]);
        }
    }
    if (calls.peer >= 0) {
        close(calls.peer);
    }
    tendon_loop_close(&adapter.loop);
}

static void on_failure(void *context, tendon_status status, uint64_t now) {
    adapter_user *user = context;
    (void)now;
    user->failures++;
    user->failure = status;
}

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)report;
    (void)now;
    ((adapter_user *)context)->reports++;
}

void adapter_open(int index) {
    static const tendon_address own = {.bytes = {0, 0, 0x5E, 0, 0x53, 1}, .type = TENDON_ADDRESS_TYPE_PUBLIC};
    adapter_user *user = &adapter.users[index];
    int hci[2], management[2];
    memset(user, 0, sizeof *user);
    tendon_bluez_init(&user->radio);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, hci), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, management), 0);
    user->radio.hci.fd = hci[0];
    user->controller = hci[1];
    user->radio.management.fd = management[0];
    user->kernel = management[1];
    user->radio.index = ADAPTER_INDEX;
    user->radio.radio.address = own;
    user->radio.extended_scan = user->radio.extended_advertising = adapter.extended;
    user->radio.radio.report_context = user;
    user->radio.radio.on_failure = on_failure;
    user->radio.radio.on_report = on_report;
    user->open = true;
    assert_int_equal(tendon_bluez_begin(&user->radio, &adapter.loop), TENDON_OK);
    list_sockets();
}

void adapter_kill(int index) {
    adapter_user *user = &adapter.users[index];
    tendon_bluez_fail(&user->radio, TENDON_RADIO_ERROR_NO_ADAPTER); /* nothing is sent */
    tendon_radio_close(&user->radio.radio);
    close_ends(user);
    adapter.owner = adapter.owner == index ? -1 : adapter.owner;
}

tendon_bluez_radio *adapter_radio(int user) {
    return &adapter.users[user].radio;
}

void adapter_scan(int user, bool active, uint16_t interval_ms) {
    const tendon_scan_parameters parameters = {.active = active, .interval_ms = interval_ms};
    assert_int_equal(tendon_radio_scan_start(&adapter.users[user].radio.radio, &parameters), TENDON_OK);
}

void adapter_stop(int user) {
    assert_int_equal(tendon_radio_scan_stop(&adapter.users[user].radio.radio), TENDON_OK);
}

static void deliver(int index, const uint8_t *packet, size_t length) {
    adapter_user *user = &adapter.users[index];
    if (user->open && user->radio.opened && !user->deaf && !tendon_bluez_failed(&user->radio)) {
        assert_int_equal(send(user->controller, packet, length, 0), (ssize_t)length);
    }
}

void adapter_event(uint8_t code, const uint8_t *parameters, uint8_t length) {
    uint8_t packet[PACKET] = {HCI_EVENT_PKT, code, length};
    memcpy(packet + 3, parameters, length);
    for (int i = 0; i < ADAPTER_USERS; i++) {
        deliver(i, packet, 3u + length);
    }
}

void adapter_kernel_event(const uint8_t *pdu, size_t length) {
    for (int i = 0; i < ADAPTER_USERS; i++) {
        if (adapter.users[i].open) {
            assert_int_equal(send(adapter.users[i].kernel, pdu, length, 0), (ssize_t)length);
        }
    }
}

static uint8_t enable(bool on, int by) {
    if (adapter.scans == on) {
        return adapter.strict ? DISALLOWED : 0;
    }
    /* What a program that is gone has left enabled is nobody's. */
    adapter.wronged += !on && adapter.owner != by && (adapter.owner >= 0 || adapter.programs > 0);
    adapter.scans = on;
    adapter.owner = on ? by : -1;
    return 0;
}

/** @return the HCI error code. @param by the user; -1: another program. */
static uint8_t execute(uint16_t opcode, const uint8_t *parameters, int by) {
    if (adapter.rejects != 0) {
        return adapter.rejects;
    }
    if (opcode == bluez_scan_parameters[0] || opcode == bluez_scan_parameters[1]) {
        bool later = opcode == bluez_scan_parameters[1];
        if (!adapter.scans) {
            adapter.filters = (parameters[later ? 1 : 6] & 1) != 0;
        }
        return adapter.scans ? DISALLOWED : 0;
    }
    bool enables = opcode == bluez_scan_enable[0] || opcode == bluez_scan_enable[1];
    return enables ? enable(parameters[0] != 0, by) : 0;
}

static void run(const uint8_t *packet, size_t length, int by) {
    uint16_t opcode = (uint16_t)(packet[1] | packet[2] << 8);
    for (int i = 0; i < ADAPTER_USERS; i++) {
        if (i != by) {
            deliver(i, packet, length);
        }
    }
    if (!adapter.silent) {
        const uint8_t complete[] = {1, packet[1], packet[2], execute(opcode, packet + 4, by)};
        adapter_event(TENDON_HCI_COMMAND_COMPLETE, complete, sizeof complete);
    }
}

static void count(adapter_user *user, const uint8_t *packet) {
    uint16_t opcode = (uint16_t)(packet[1] | packet[2] << 8);
    user->commands++;
    if (opcode == bluez_scan_enable[adapter.extended]) {
        *(packet[4] != 0 ? &user->enables : &user->disables) += 1;
    } else if (opcode == bluez_scan_parameters[adapter.extended]) {
        const uint8_t *scan = packet + 4 + (adapter.extended ? 3 : 0);
        user->active = scan[0];
        user->interval = (uint16_t)(scan[1] | scan[2] << 8);
    }
}

/** One command of each user. @return whether there was one. */
static bool run_commands(void) {
    bool any = false;
    for (int i = 0; i < ADAPTER_USERS; i++) {
        uint8_t packet[PACKET];
        ssize_t length =
            adapter.users[i].open ? recv(adapter.users[i].controller, packet, sizeof packet, MSG_DONTWAIT) : -1;
        if (length > 0) {
            any = true;
            count(&adapter.users[i], packet);
            run(packet, (size_t)length, i);
        }
    }
    return any;
}

static void advertise(void) {
    static const uint8_t legacy[] = {TENDON_HCI_LE_ADVERTISING_REPORT, 1, 0, 0, 6, 5, 4, 3, 2, 1, 0, 0xC0};
    /* Connectable and scannable, legacy; complete. */
    static const uint8_t later[26] = {TENDON_HCI_LE_EXTENDED_ADVERTISING_REPORT,
                                      1,
                                      0x13,
                                      0,
                                      0,
                                      6,
                                      5,
                                      4,
                                      3,
                                      2,
                                      1,
                                      [11] = 1,
                                      [13] = 0xFF,
                                      [14] = 0x7F,
                                      [15] = 0xC0};
    if (adapter.scans && !adapter.quiet && !adapter.filters) {
        adapter_event(TENDON_HCI_LE_META, adapter.extended ? later : legacy,
                      adapter.extended ? sizeof later : sizeof legacy);
    }
}

void adapter_programs(unsigned count) {
    adapter.programs = count;
    list_sockets();
}

void adapter_step(void) {
    (void)run_commands();
    assert_int_equal(tendon_loop_step(&adapter.loop, 0), TENDON_OK);
}

void adapter_pass(uint64_t ms) {
    uint64_t end = fake_clock_ms + ms;
    do {
        uint64_t next = (fake_clock_ms / REPORT_MS + 1) * REPORT_MS;
        while (run_commands()) {
            assert_int_equal(tendon_loop_step(&adapter.loop, 0), TENDON_OK);
        }
        uint64_t before = fake_clock_ms;
        assert_int_equal(tendon_loop_step(&adapter.loop, next < end ? next : end), TENDON_OK);
        if (before < next && fake_clock_ms >= next) {
            advertise();
        }
    } while (fake_clock_ms < end);
    while (run_commands()) {
        assert_int_equal(tendon_loop_step(&adapter.loop, 0), TENDON_OK);
    }
}

bool adapter_heard(int user) {
    bool heard = adapter.users[user].reports > 0;
    adapter.users[user].reports = 0;
    return heard;
}

void adapter_other(uint16_t opcode, const uint8_t *parameters, uint8_t length) {
    uint8_t packet[PACKET] = {HCI_COMMAND_PKT, (uint8_t)opcode, (uint8_t)(opcode >> 8), length};
    memcpy(packet + 4, parameters, length);
    run(packet, 4u + length, -1);
    assert_int_equal(tendon_loop_step(&adapter.loop, 0), TENDON_OK);
}

void adapter_other_scans(bool filters) {
    const uint8_t legacy[7] = {0, 0x60, 0, 0x60, 0, 0, filters}, later[8] = {0, filters, 1, 0, 0x60, 0, 0x60, 0};
    static const uint8_t on[6] = {1};
    adapter_other(bluez_scan_parameters[adapter.extended], adapter.extended ? later : legacy, adapter.extended ? 8 : 7);
    adapter_other(bluez_scan_enable[adapter.extended], on, adapter.extended ? 6 : 2);
}

void adapter_other_stops(void) {
    static const uint8_t off[6] = {0};
    adapter_other(bluez_scan_enable[adapter.extended], off, adapter.extended ? 6 : 2);
}
