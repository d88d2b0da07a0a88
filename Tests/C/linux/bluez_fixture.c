/* SPDX-License-Identifier: MIT */
#include "bluez_fixture.h"

#include <errno.h>
#include <linux/sock_diag.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

refused_sends sends_refused;
system_calls calls;
static bluez_bench the_bench;

bool bluez_call_refused(void) {
    calls.made++;
    if (calls.made != calls.refuse_at) {
        return false;
    }
    calls.refused++;
    errno = calls.refuse_number;
    return true;
}

/* In libbluetooth's place: the same packet, or the refusal that the test asks for. */
__attribute__((weak)) int hci_send_cmd(int dd, uint16_t ogf, uint16_t ocf, uint8_t plen, void *param) {
    uint16_t opcode = cmd_opcode_pack(ogf, ocf);
    uint8_t head[4] = {HCI_COMMAND_PKT, (uint8_t)opcode, (uint8_t)(opcode >> 8), plen};
    if (bluez_call_refused()) {
        return -1;
    }
    if (calls.hci_sends_first > 0) {
        calls.hci_sends_first--;
    } else if (sends_refused.times > 0) {
        sends_refused.times--;
        errno = sends_refused.number;
        return -1;
    }
    struct iovec vectors[2] = {{.iov_base = head, .iov_len = sizeof head}, {.iov_base = param, .iov_len = plen}};
    return writev(dd, vectors, 2) < 0 ? -1 : 0;
}

/*
 * In the C library's place. Bluetooth sockets are ends of pairs that nobody serves; a connect of theirs goes on. A test
 * may define socket() and bind() itself.
 */

/** True: this call is to fail now, with errno set. */
static bool refuses(refused_call *call) {
    if (bluez_call_refused()) {
        return true;
    }
    if (call->number == 0 || call->after-- > 0) {
        return false;
    }
    errno = call->number;
    call->number = 0;
    call->after = 0;
    return true;
}

static bool is_fake(int fd) {
    return fd >= 0 && fd == calls.fd;
}

__attribute__((weak)) int socket(int domain, int type, int protocol) {
    int pair[2];
    if (domain != AF_BLUETOOTH) {
        return (int)syscall(SYS_socket, domain, type, protocol);
    }
    if (refuses(&calls.socket)) {
        return -1;
    }
    if (calls.peer >= 0) {
        close(calls.peer);
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) != 0) {
        return -1;
    }
    calls.peer = pair[1];
    return calls.fd = pair[0];
}

__attribute__((weak)) int bind(int fd, __CONST_SOCKADDR_ARG name, socklen_t length) {
    if (!is_fake(fd)) {
        return (int)syscall(SYS_bind, fd, name, length);
    }
    memcpy(&calls.bound, name.__sockaddr__, length < sizeof calls.bound ? length : sizeof calls.bound);
    return refuses(&calls.bind) ? -1 : 0;
}

int listen(int fd, int backlog) {
    if (!is_fake(fd)) {
        return (int)syscall(SYS_listen, fd, backlog);
    }
    return refuses(&calls.listen) ? -1 : 0;
}

int connect(int fd, __CONST_SOCKADDR_ARG name, socklen_t length) {
    if (!is_fake(fd) || name.__sockaddr__->sa_family != AF_BLUETOOTH) {
        return (int)syscall(SYS_connect, fd, name, length);
    }
    calls.connects++;
    memcpy(&calls.target, name.__sockaddr__, length < sizeof calls.target ? length : sizeof calls.target);
    if (refuses(&calls.connect)) {
        return -1;
    }
    if (calls.old_connections > 0) {
        calls.old_connections--;
        return 0;
    }
    errno = EINPROGRESS;
    return -1;
}

int accept4(int fd, __SOCKADDR_ARG name, socklen_t *length, int flags) {
    static const uint8_t central[6] = {0x02, 0x53, 0x00, 0x5E, 0x00, 0x00};
    struct sockaddr_l2 from = {.l2_family = AF_BLUETOOTH, .l2_bdaddr_type = BDADDR_LE_RANDOM};
    int pair[2];
    (void)fd;
    (void)flags;
    if (refuses(&calls.accept)) {
        return -1;
    }
    if (calls.centrals == 0) {
        errno = EAGAIN;
        return -1;
    }
    calls.centrals--;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    memcpy(from.l2_bdaddr.b, central, sizeof central);
    memcpy(name.__sockaddr__, &from, sizeof from);
    *length = sizeof from;
    if (calls.central >= 0) {
        close(calls.central);
    }
    calls.central = pair[1];
    return pair[0];
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t size) {
    if (level == SOL_SOCKET && option == SO_SNDTIMEO) {
        calls.send_limit = *(const struct timeval *)value;
    }
    if (level == SOL_SOCKET && (option == SO_RCVBUFFORCE || option == SO_RCVBUF)) {
        if (option == SO_RCVBUFFORCE && refuses(&calls.force_buffer)) {
            return -1;
        }
        memcpy(&calls.buffer, value, sizeof calls.buffer);
        calls.buffer_option = option;
        calls.buffers_set++;
        return 0;
    }
    if (level == SOL_SOCKET && option == SO_RXQ_OVFL) {
        memcpy(&calls.drops_shown, value, sizeof calls.drops_shown);
        return 0;
    }
    if (level == SOL_BLUETOOTH && option == BT_SECURITY) {
        if (refuses(&calls.set_security)) {
            return -1;
        }
        calls.security_level = ((const struct bt_security *)value)->level;
        return 0;
    }
    if (level == SOL_HCI && option == HCI_FILTER) {
        if (refuses(&calls.filter)) {
            return -1;
        }
        memcpy(&calls.filter_set, value, sizeof calls.filter_set);
        return 0;
    }
    return (int)syscall(SYS_setsockopt, fd, level, option, value, size);
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *size) {
    if (level == SOL_HCI && option == HCI_FILTER) {
        if (refuses(&calls.get_filter)) {
            return -1;
        }
        uint32_t *words[] = {NULL, &calls.filter_set.type_mask, &calls.filter_set.event_mask[0],
                             &calls.filter_set.event_mask[1]};
        if (calls.filter_loses != 0) {
            *words[calls.filter_loses] &= *words[calls.filter_loses] - 1; /* its lowest bit */
        }
        memcpy(value, &calls.filter_set, sizeof calls.filter_set);
        return 0;
    }
    if (level == SOL_SOCKET && option == SO_MEMINFO) {
        if (refuses(&calls.meminfo)) {
            return -1;
        }
        assert_true(*size > SK_MEMINFO_DROPS * sizeof calls.drops);
        memcpy((uint8_t *)value + SK_MEMINFO_DROPS * sizeof calls.drops, &calls.drops, sizeof calls.drops);
        return 0;
    }
    if (level == SOL_BLUETOOTH && option == BT_SECURITY) {
        const struct bt_security security = {.level = calls.security_level};
        if (refuses(&calls.security)) {
            return -1;
        }
        memcpy(value, &security, sizeof security);
        return 0;
    }
    if (level == SOL_SOCKET && option == SO_ERROR && refuses(&calls.socket_error)) {
        const int number = errno; /* of the connect() in progress */
        memcpy(value, &number, sizeof number);
        return 0;
    }
    if (level == SOL_L2CAP && option == L2CAP_CONNINFO) {
        if (refuses(&calls.conninfo)) {
            return -1;
        }
        const struct l2cap_conninfo info = {.hci_handle = calls.handle};
        memcpy(value, &info, sizeof info);
        return 0;
    }
    return (int)syscall(SYS_getsockopt, fd, level, option, value, size);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
    if ((operation == EPOLL_CTL_ADD && refuses(&calls.epoll_add)) ||
        (operation == EPOLL_CTL_MOD && calls.epoll_modify.number != 0 && refuses(&calls.epoll_modify))) {
        return -1;
    }
    return (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

__attribute__((weak)) ssize_t send(int fd, const void *bytes, size_t length, int flags) {
    if (refuses(&calls.send)) {
        return -1;
    }
    return syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
}

/* HCIGETCONNINFO: the kernel has this handle for any peer. */
int ioctl(int fd, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (request == HCIGETDEVINFO && calls.unplugged) {
        errno = ENODEV;
        return -1;
    }
    struct hci_dev_info *adapter = argument;
    if (request == HCIGETDEVINFO && adapter->dev_id < 32 && (calls.adapters_on >> adapter->dev_id & 1) != 0) {
        adapter->flags = 1;
        return 0;
    }
    if (request == HCIDEVDOWN && calls.can_take_down) {
        calls.taken_down++;
        return 0;
    }
    if (request != HCIGETCONNINFO) {
        return (int)syscall(SYS_ioctl, fd, request, argument);
    }
    const struct hci_conn_info_req *asked = argument;
    calls.asked_peer = asked->bdaddr;
    calls.asked_type = asked->type;
    if (refuses(&calls.ioctl)) {
        return -1;
    }
    struct hci_conn_info *info = (struct hci_conn_info *)((uint8_t *)argument + sizeof(struct hci_conn_info_req));
    info->handle = calls.kernel_handle;
    info->state = calls.kernel_state;
    info->link_mode = calls.kernel_link_mode;
    return 0;
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
    bluez_hci_sockets = NULL;
    bluez_privileges = (privileges){.effective = 1u << 12 | 1u << 13}; /* CAP_NET_ADMIN, CAP_NET_RAW */
    calls = (system_calls){.fd = -1,
                           .peer = -1,
                           .central = -1,
                           .handle = 0x40,
                           .kernel_handle = 0x40,
                           .kernel_state = 1, /* BT_CONNECTED */
                           .kernel_link_mode = HCI_LM_ENCRYPT};
    assert_int_equal(tendon_loop_init(&b->loop), TENDON_OK);
    tendon_bluez_init(&b->radio);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, hci), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, management), 0);
    b->radio.hci.fd = hci[0];
    b->controller = hci[1];
    b->radio.management.fd = management[0];
    b->kernel = management[1];
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
    if (calls.peer >= 0) {
        close(calls.peer);
    }
    if (calls.central >= 0) {
        close(calls.central);
    }
    tendon_loop_close(&b->loop);
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
