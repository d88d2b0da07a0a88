/* SPDX-License-Identifier: MIT */
/* The system calls, in the C library's place. Bluetooth sockets are ends of pairs whose other ends are here. */
#include "fake_kernel.h"
#include "../file_tree.h"
#include "privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SOCKETS = 1024, POSTS = 256, PACKET = 1024, ATT = 0x100, NO_INDEX = 0xFFFF };

typedef enum socket_state { BARE, BOUND, WAITING, CONNECTED, ENDED } socket_state;

/** A Bluetooth socket of this process, by its descriptor. */
typedef struct fake_socket {
    int far; /**< the other end; 0: there is no such socket */
    ino_t inode;
    bool scripted; /**< the test is at that end */
    socket_state state;
    int index; /**< of its adapter */
    uint16_t channel;
    uint8_t own[6], peer[6];
    int number; /**< SO_ERROR */
    struct hci_filter filter;
} fake_socket;

typedef struct post {
    uint64_t at;
    uint16_t channel;
    int index, fd, except;
    size_t length;
    uint8_t bytes[PACKET];
} post;

fake_kernel fake;
static fake_socket sockets[SOCKETS];
static int top; /**< above all of them */
static post posts[POSTS];
static unsigned post_count;
static char tree[FILE_TREE_SIZE];

static bool refuses(fake_call call) {
    fake_refusal *refusal = &fake.refuse[call];
    int number = 0;
    fake.counts[call]++;
    if (++fake.made == fake.refuse_at) {
        fake.refused++;
        number = fake.refuse_number;
    } else if (refusal->number != 0 && refusal->after-- <= 0) {
        number = refusal->number;
        refusal->after = 0;
        refusal->times--;
        refusal->number = refusal->times > 0 ? refusal->number : 0;
    }
    errno = number != 0 ? number : errno;
    return number != 0;
}

static fake_socket *find(int fd) {
    return fd >= 0 && fd < SOCKETS && sockets[fd].far > 0 ? &sockets[fd] : NULL;
}

int fake_far(int fd) {
    return find(fd) != NULL ? sockets[fd].far : -1;
}

/* ---- what comes, and when ---- */

void fake_post(uint64_t delay, uint16_t channel, int index, int fd, int except, const uint8_t *packet, size_t length) {
    assert_true(post_count < POSTS && length <= PACKET);
    post *p = &posts[post_count++];
    *p = (post){fake.now + delay, channel, index, fd, except, length, {0}};
    memcpy(p->bytes, packet, length);
}

/** Whether the socket's filter lets this packet through (HCI_FILTER). */
static bool is_wanted(const fake_socket *s, const uint8_t *packet) {
    if (s->channel != HCI_CHANNEL_RAW) {
        return true;
    }
    bool kind = (s->filter.type_mask >> (packet[0] & 31) & 1) != 0;
    return kind &&
           (packet[0] != HCI_EVENT_PKT || (s->filter.event_mask[(packet[1] & 63) / 32] >> (packet[1] & 31) & 1) != 0);
}

static void deliver(const post *p) {
    for (int fd = 0; fd < top; fd++) {
        const fake_socket *s = find(fd);
        bool addressed = p->fd >= 0 ? fd == p->fd
                                    : fd != p->except && s != NULL && !s->scripted &&
                                          (s->channel != HCI_CHANNEL_RAW || s->index == p->index);
        if (s != NULL && s->state == BOUND && s->channel == p->channel && addressed && fd != fake.deaf &&
            is_wanted(s, p->bytes)) {
            (void)syscall(SYS_sendto, s->far, p->bytes, p->length, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
        }
    }
}

static bool deliver_due(void) {
    for (unsigned i = 0; i < post_count; i++) {
        if (posts[i].at <= fake.now) {
            static post due;
            due = posts[i];
            memmove(&posts[i], &posts[i + 1], (--post_count - i) * sizeof posts[0]);
            deliver(&due);
            return true;
        }
    }
    return false;
}

static void forget(int fd) {
    fake_socket s = sockets[fd];
    close(s.far);
    sockets[fd] = (fake_socket){0};
    if (s.channel == ATT && (s.state == WAITING || s.state == CONNECTED)) {
        fake_closed(s.index, s.peer);
    }
}

/** What the process has written to a socket, or that it has closed it. */
static void read_socket(int fd) {
    uint8_t packet[PACKET];
    const fake_socket *s = find(fd);
    ssize_t got = syscall(SYS_recvfrom, s->far, packet, sizeof packet, MSG_DONTWAIT, NULL, NULL);
    if (got <= 0) { /* an error is that something was unread */
        forget(fd);
    } else if (s->channel == HCI_CHANNEL_CONTROL) {
        fake_manage(fd, packet, (size_t)got);
    } else if (s->channel == HCI_CHANNEL_RAW) {
        fake_command(fake_of((uint16_t)s->index), fd, packet, (size_t)got);
    }
}

static bool is_closed(int fd) {
    struct stat info;
    return fstat(fd, &info) != 0 || info.st_ino != sockets[fd].inode;
}

/** @return whether there was something. What is in the way of a socket that waits is not read, nor what a test reads:
 * a test may also have ended the connection, which is no end of the socket. */
static bool read_sockets(void) {
    static struct pollfd far[SOCKETS];
    for (int fd = 0; fd < top; fd++) {
        const fake_socket *s = find(fd);
        bool left = s != NULL && (s->scripted || s->state == WAITING);
        if (left && is_closed(fd)) {
            forget(fd);
        }
        far[fd] = (struct pollfd){.fd = s != NULL && !left ? s->far : -1, .events = POLLIN};
    }
    int ready = (int)syscall(SYS_ppoll, far, top, &(struct timespec){0}, NULL, 0);
    for (int fd = 0; fd < top && ready > 0; fd++) {
        if (far[fd].revents != 0 && find(fd) != NULL) {
            read_socket(fd);
        }
    }
    return ready > 0;
}

/** All that happens now. */
void fake_run(void) {
    for (bool any = true; any;) {
        any = deliver_due();
        any = read_sockets() || any;
        fake_adapters_run();
    }
}

/** To the next moment at which something happens, @p end at the latest. */
static void advance(uint64_t end) {
    uint64_t next = fake_adapters_next();
    for (unsigned i = 0; i < post_count; i++) {
        next = posts[i].at < next ? posts[i].at : next;
    }
    next = next > fake.now ? next : fake.now + 1;
    fake.now = next < end ? next : end;
}

void fake_pass(tendon_loop *loop, uint64_t ms) {
    uint64_t end = fake.now + ms;
    do {
        assert_int_equal(tendon_loop_step(loop, end), TENDON_OK);
    } while (fake.now < end);
    for (int i = 0; i < 4; i++) { /* what the last step has begun at this time */
        assert_int_equal(tendon_loop_step(loop, 0), TENDON_OK);
    }
}

/* ---- the clock and the ways to wait ---- */

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_MONOTONIC) {
        return (int)syscall(SYS_clock_gettime, clock, time);
    }
    time->tv_sec = (time_t)(fake.now / 1000);
    time->tv_nsec = (long)(fake.now % 1000) * 1000000;
    return 0;
}

int epoll_wait(int epoll, struct epoll_event *events, int count, int timeout) {
    uint64_t end = timeout < 0 ? UINT64_MAX : fake.now + (uint64_t)timeout;
    for (;;) {
        fake_run();
        int ready = fake.unwatched ? 0 : epoll_pwait(epoll, events, count, 0, NULL);
        if (ready != 0 || fake.now >= end) {
            return ready;
        }
        advance(end);
    }
}

/** As poll(). */
static int wait_for(struct pollfd *fds, nfds_t count, int timeout) {
    uint64_t begun = fake.now, end = timeout < 0 ? UINT64_MAX : begun + (uint64_t)timeout;
    for (;;) {
        fake_run();
        int ready = (int)syscall(SYS_ppoll, fds, count, &(struct timespec){0}, NULL, 0);
        if (ready != 0 || fake.now >= end) {
            fake.slept += (unsigned)(fake.now - begun);
            return ready;
        }
        advance(end);
    }
}

int poll(struct pollfd *fds, nfds_t count, int timeout) {
    return refuses(FAKE_POLL) ? -1 : wait_for(fds, count, timeout);
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
    const fake_call call = operation == EPOLL_CTL_ADD ? FAKE_EPOLL : FAKE_EPOLL_MODIFY;
    bool counts = call == FAKE_EPOLL || fake.refuse[call].number != 0;
    return counts && refuses(call) ? -1 : (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

int usleep(useconds_t us) {
    (void)wait_for(NULL, 0, (int)(us / 1000));
    return 0;
}

/* ---- sockets ---- */

static int new_socket(int type, uint16_t channel) {
    struct stat info;
    int pair[2], flags = type & (SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | flags, 0, pair), 0);
    assert_true(pair[0] < SOCKETS);
    top = pair[0] < top ? top : pair[0] + 1;
    if (find(pair[0]) != NULL) {
        forget(pair[0]); /* closed, and the descriptor is used again */
    }
    assert_int_equal(fstat(pair[0], &info), 0);
    assert_int_equal(fcntl(pair[1], F_SETFL, O_NONBLOCK), 0);
    sockets[pair[0]] = (fake_socket){
        .far = pair[1], .inode = info.st_ino, .scripted = fake.scripted, .index = NO_INDEX, .channel = channel};
    return pair[0];
}

int socket(int domain, int type, int protocol) {
    if (domain != AF_BLUETOOTH) {
        return (int)syscall(SYS_socket, domain, type, protocol);
    }
    return refuses(FAKE_SOCKET) ? -1 : (fake.latest = new_socket(type, protocol == BTPROTO_L2CAP ? ATT : 0));
}

int bind(int fd, __CONST_SOCKADDR_ARG name, socklen_t length) {
    fake_socket *s = find(fd);
    if (s == NULL || name.__sockaddr__->sa_family != AF_BLUETOOTH) {
        return (int)syscall(SYS_bind, fd, name, length);
    }
    if (refuses(FAKE_BIND)) {
        return -1;
    }
    if (s->channel == ATT) {
        memcpy(&fake.bound, name.__sockaddr__, sizeof fake.bound);
        memcpy(s->own, fake.bound.l2_bdaddr.b, 6);
        return 0;
    }
    struct sockaddr_hci hci;
    memcpy(&hci, name.__sockaddr__, sizeof hci);
    const fake_adapter *a = hci.hci_dev == HCI_DEV_NONE ? NULL : fake_of(hci.hci_dev);
    if (hci.hci_dev != HCI_DEV_NONE && a == NULL && !s->scripted) {
        errno = ENODEV;
        return -1;
    }
    s->state = BOUND;
    s->index = hci.hci_dev;
    s->channel = hci.hci_channel;
    return 0;
}

int connect(int fd, __CONST_SOCKADDR_ARG name, socklen_t length) {
    static const uint8_t filler[512];
    fake_socket *s = find(fd);
    const struct sockaddr_l2 *to = &fake.target;
    if (s == NULL || s->channel != ATT || name.__sockaddr__->sa_family != AF_BLUETOOTH) {
        return (int)syscall(SYS_connect, fd, name, length);
    }
    fake.connects++;
    memcpy(&fake.target, name.__sockaddr__, sizeof fake.target);
    if (refuses(FAKE_CONNECT)) {
        return -1;
    }
    memcpy(s->peer, to->l2_bdaddr.b, 6);
    if (s->scripted) {
        errno = EINPROGRESS;
        return fake.old_connections > 0 && fake.old_connections-- > 0 ? 0 : -1;
    }
    s->index = fake_route(s->own);
    const fake_device *device = fake_device_of(s->peer);
    errno = s->index < 0 ? EHOSTUNREACH : to->l2_cid == 0 ? EINVAL : device != NULL && device->of_other ? EBUSY : 0;
    if (errno != 0) {
        return -1;
    }
    s->state = device != NULL && device->handle != 0 ? CONNECTED : WAITING;
    if (s->state == CONNECTED) {
        return 0;
    }
    while (syscall(SYS_sendto, fd, filler, sizeof filler, MSG_DONTWAIT, NULL, 0) > 0) { /* not writable until then */
    }
    errno = EINPROGRESS;
    return -1;
}

int listen(int fd, int backlog) {
    if (find(fd) == NULL) {
        return (int)syscall(SYS_listen, fd, backlog);
    }
    return refuses(FAKE_LISTEN) ? -1 : 0;
}

int accept4(int fd, __SOCKADDR_ARG name, socklen_t *length, int flags) {
    static const struct sockaddr_l2 from = {.l2_family = AF_BLUETOOTH,
                                            .l2_bdaddr = {{0x02, 0x53, 0x00, 0x5E, 0x00, 0x00}},
                                            .l2_bdaddr_type = BDADDR_LE_RANDOM};
    if (find(fd) == NULL) {
        return (int)syscall(SYS_accept4, fd, name.__sockaddr__, length, flags);
    }
    if (refuses(FAKE_ACCEPT)) {
        return -1;
    }
    if (fake.centrals == 0) {
        errno = EAGAIN;
        return -1;
    }
    fake.centrals--;
    memcpy(name.__sockaddr__, &from, sizeof from);
    *length = sizeof from;
    return new_socket(SOCK_NONBLOCK, ATT);
}

void fake_sockets_end(int index, const uint8_t peer[6], int number) {
    uint8_t packet[PACKET];
    for (int fd = 0; fd < top; fd++) {
        fake_socket *s = find(fd);
        bool meant = s != NULL && s->channel == ATT && s->index == index && memcmp(s->peer, peer, 6) == 0 &&
                     (s->state == WAITING || (s->state == CONNECTED && number != 0));
        if (!meant) {
            continue;
        }
        while (syscall(SYS_recvfrom, s->far, packet, sizeof packet, MSG_DONTWAIT, NULL, NULL) > 0) {
        }
        s->number = number;
        s->state = number == 0 ? CONNECTED : ENDED;
        if (number != 0) {
            (void)shutdown(s->far, SHUT_RDWR);
        }
    }
}

bool fake_waits(int index, const uint8_t peer[6], bool or_is_connected) {
    for (int fd = 0; fd < top; fd++) {
        const fake_socket *s = find(fd);
        if (s != NULL && s->channel == ATT && s->index == index && memcmp(s->peer, peer, 6) == 0 &&
            (s->state == WAITING || (or_is_connected && s->state == CONNECTED))) {
            return true;
        }
    }
    return false;
}

/* The management interface executes a command in this call, after what was sent before. */
ssize_t send(int fd, const void *bytes, size_t length, int flags) {
    const uint8_t *pdu = bytes;
    if (find(fd) == NULL) {
        return syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
    }
    if (refuses(FAKE_SEND) ||
        (fake.on_send != NULL && !fake.on_send(fd, (uint16_t)(pdu[0] | pdu[1] << 8), pdu, length))) {
        return -1;
    }
    fake_run();
    ssize_t sent = syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
    const int number = errno;
    fake_run();
    errno = number;
    return sent;
}

/* In libbluetooth's place, which repeats a call that was interrupted. */
__attribute__((weak)) int hci_send_cmd(int fd, uint16_t group, uint16_t command, uint8_t length, void *parameters) {
    const uint16_t opcode = cmd_opcode_pack(group, command);
    uint8_t head[4] = {HCI_COMMAND_PKT, (uint8_t)opcode, (uint8_t)(opcode >> 8), length};
    const struct iovec parts[2] = {{head, sizeof head}, {parameters, length}};
    if (refuses(FAKE_COMMAND) || (fake.on_send != NULL && !fake.on_send(fd, opcode, parameters, length))) {
        return -1;
    }
    return syscall(SYS_writev, fd, parts, 2) < 0 ? -1 : 0;
}

/** A system call of a socket, which can be refused if it is one of Bluetooth. */
#define UNLESS_REFUSED(call, ...) (find(fd) != NULL && refuses(call) ? -1 : syscall(__VA_ARGS__))

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    return UNLESS_REFUSED(FAKE_SEND_PDU, SYS_sendmsg, fd, message, flags);
}

ssize_t recv(int fd, void *bytes, size_t length, int flags) {
    return UNLESS_REFUSED(FAKE_RECEIVE, SYS_recvfrom, fd, bytes, length, flags, NULL, NULL);
}

__attribute__((weak)) ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    return UNLESS_REFUSED(FAKE_RECEIVE_RECORD, SYS_recvmsg, fd, message, flags);
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    return (int)UNLESS_REFUSED(FAKE_RECEIVE_MANY, SYS_recvmmsg, fd, messages, count, flags, timeout);
}

/** A capability of a user namespace is none here. */
static bool is_granted(int capability) {
    return !fake.user_namespace && (bluez_privileges.effective >> capability & 1) != 0;
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t size) {
    fake_socket *s = find(fd);
    const bool forces = level == SOL_SOCKET && option == SO_RCVBUFFORCE;
    if (s == NULL || (level == SOL_SOCKET && !forces && option != SO_RCVBUF)) {
        return (int)syscall(SYS_setsockopt, fd, level, option, value, size);
    }
    if (refuses(forces                ? FAKE_FORCE_BUFFER
                : level == SOL_SOCKET ? FAKE_SET_BUFFER
                : level == SOL_HCI    ? FAKE_SET_FILTER
                                      : FAKE_SET_SECURITY)) {
        return -1;
    }
    if (level == SOL_SOCKET) {
        memcpy(&fake.buffer, value, sizeof fake.buffer);
    } else if (level == SOL_BLUETOOTH) {
        fake.security_level = ((const struct bt_security *)value)->level;
    } else {
        uint32_t *words[] = {&s->filter.type_mask, &s->filter.event_mask[0], &s->filter.event_mask[1]};
        memcpy(&s->filter, value, sizeof s->filter);
        for (int i = 0; i < 3; i++) {
            *words[i] &=
                is_granted(CAP_NET_RAW) ? ~0u : (const uint32_t[]){0x10, 0x1000D9FE, 0xB00C}[i]; /* hci_sec_filter */
            *words[i] &= fake.filter_loses == i + 1 ? *words[i] - 1 : ~0u;                       /* its lowest bit */
        }
    }
    return 0;
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *size) {
    const fake_socket *s = find(fd);
    if (s == NULL || (level == SOL_SOCKET && option != SO_MEMINFO && option != SO_ERROR)) {
        return (int)syscall(SYS_getsockopt, fd, level, option, value, size);
    }
    const bool result = level == SOL_SOCKET && option == SO_ERROR; /* of the connect() in progress */
    const bool refused = refuses(result                   ? FAKE_SOCKET_ERROR
                                 : level == SOL_SOCKET    ? FAKE_GET_DROPS
                                 : level == SOL_HCI       ? FAKE_GET_FILTER
                                 : level == SOL_BLUETOOTH ? FAKE_GET_SECURITY
                                                          : FAKE_GET_HANDLE);
    if (refused && !result) {
        return -1;
    }
    const int number = refused ? errno : s->number;
    const fake_device *device = fake_device_of(s->peer);
    const struct l2cap_conninfo info = {.hci_handle = device != NULL ? device->handle : fake.handle};
    memset(value, 0, *size);
    if (result) {
        memcpy(value, &number, sizeof number);
    } else if (level == SOL_HCI) {
        memcpy(value, &s->filter, sizeof s->filter);
    } else if (level == SOL_BLUETOOTH) {
        *(uint8_t *)value = fake.security_level;
    } else if (level == SOL_SOCKET) {
        assert_true(*size > SK_MEMINFO_DROPS * sizeof fake.drops);
        memcpy((uint8_t *)value + SK_MEMINFO_DROPS * sizeof fake.drops, &fake.drops, sizeof fake.drops);
    } else {
        memcpy(value, &info, sizeof info);
    }
    return 0;
}

int sysinfo(struct sysinfo *info) {
    *info = (struct sysinfo){.totalram = 16384, .mem_unit = 4096}; /* a router with 64 MB */
    return refuses(FAKE_SYSINFO) ? -1 : 0;
}

/** HCIGETCONNINFO: the kernel's connection to a device. */
static int get_connection(void *argument) {
    const struct hci_conn_info_req *asked = argument;
    struct hci_conn_info info = fake.connection;
    fake.asked_peer = asked->bdaddr;
    fake.asked_type = asked->type;
    if (refuses(FAKE_GET_CONNECTION)) {
        return -1;
    }
    if (!fake.scripted) {
        const fake_device *device = fake_device_of(asked->bdaddr.b);
        info.handle = device != NULL ? device->handle : 0;
        info.state = info.handle != 0;
    }
    errno = ENOENT;
    memcpy((uint8_t *)argument + sizeof *asked, &info, info.state != 0 ? sizeof info : 0);
    return info.state != 0 ? 0 : -1;
}

int ioctl(int fd, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (find(fd) != NULL && request == HCIGETCONNINFO) {
        return get_connection(argument);
    }
    if (find(fd) == NULL || (request != HCIDEVDOWN && request != HCIDEVRESTAT && request != HCIGETDEVINFO)) {
        return (int)syscall(SYS_ioctl, fd, request, argument);
    }
    if (refuses(FAKE_IOCTL)) {
        return -1;
    }
    struct hci_dev_info *info = argument;
    fake_adapter *a = fake_of(request == HCIGETDEVINFO ? info->dev_id : (uint16_t)(uintptr_t)argument);
    errno = request == HCIDEVRESTAT && !is_granted(CAP_NET_ADMIN) ? EPERM : ENODEV;
    if (a == NULL || errno == EPERM) {
        return -1;
    }
    if (request == HCIGETDEVINFO) {
        info->flags = a->powered ? 1 : 0;
    } else if (request == HCIDEVDOWN) {
        (void)wait_for(NULL, 0, (int)fake.down_takes);
        fake_power(a->index, false);
    }
    return 0;
}

/* ---- files ---- */

static int file_with(const char *text) {
    int fd = memfd_create("fake", MFD_CLOEXEC);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

/** /proc/self/net/hci: the sockets of this process, and one of each other program. */
static int list_of_sockets(void) {
    char text[4096] = "sk RefCnt Rmem Wmem User Inode Parent\n";
    int count = fake.programs;
    fake_run(); /* of those that were closed another file may have the descriptor */
    for (int fd = 0; fd < top; fd++) {
        const fake_socket *s = find(fd);
        count += s != NULL && s->channel != ATT;
    }
    for (int i = 0; i < count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "0 2 0 0 0 %d 0\n", i + 1);
    }
    return file_with(text);
}

/** /proc/self/net/unix: the names that this process has bound. */
static int list_of_names(void) {
    char text[4096] = "Num RefCount Protocol Flags Type St Inode Path\n";
    struct sockaddr_un name;
    for (int fd = 0; fd < SOCKETS; fd++) {
        socklen_t length = sizeof name;
        if (getsockname(fd, (struct sockaddr *)&name, &length) == 0 && name.sun_family == AF_UNIX &&
            length > offsetof(struct sockaddr_un, sun_path) + 1) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "0: 2 0 0 2 1 5 @%.*s\n",
                     (int)(length - offsetof(struct sockaddr_un, sun_path) - 1), name.sun_path + 1);
        }
    }
    return file_with(text);
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if (refuses(FAKE_OPEN)) {
        return -1;
    }
    if (fake.on_open != NULL) {
        fake.on_open(path);
    }
    char full[256];
    snprintf(full, sizeof full, "%s%s", tree, path);
    if (strncmp(path, "/sys/", 5) == 0 || (strncmp(path, "/proc/", 6) == 0 && access(full, F_OK) == 0)) {
        return (int)syscall(SYS_openat, AT_FDCWD, full, flags, mode);
    }
    if (strcmp(path, "/proc/self/net/hci") == 0) {
        errno = EACCES;
        return fake.programs < 0 ? -1 : list_of_sockets();
    }
    if (strcmp(path, "/proc/self/net/unix") == 0) {
        return list_of_names();
    }
    if (strcmp(path, "/proc/self/status") == 0) {
        char text[64];
        snprintf(text, sizeof text, "Name:\ttendon\nCapEff:\t%016x\n", bluez_privileges.effective);
        return file_with(text);
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...) {
    return directory == AT_FDCWD ? open(path, flags) : (int)syscall(SYS_openat, directory, path, flags, 0);
}

/* ---- for tests ---- */

void fake_file(const char *path, const char *text) {
    char full[256];
    tree_path(tree, path, full);
    if (text == NULL) {
        tree_remove(full);
    } else if (strcmp(path + strlen(path) - 7, "/device") == 0) {
        assert_int_equal(symlink(text, full), 0);
    } else {
        tree_put(tree, path, text);
    }
}

void fake_sysfs(uint16_t index, const char *name, const char *text) {
    char path[128];
    snprintf(path, sizeof path, "/sys/class/bluetooth/hci%u%s%s", index, text != NULL ? "/" : "",
             text != NULL ? name : "");
    fake_file(path, text);
}

/* That of a test that failed, too. */
static void tree_drop(void) {
    if (tree[0] != '\0') {
        tree_remove(tree);
        tree[0] = '\0';
    }
}

void fake_start(void) {
    fake = (fake_kernel){.now = 100000, .latest = -1, .security_level = BT_SECURITY_LOW};
    bluez_privileges = (privileges){.effective = 1u << CAP_NET_ADMIN | 1u << CAP_NET_RAW};
    for (int i = 0; i < FAKE_ADAPTERS; i++) {
        fake.adapters[i] = (fake_adapter){.creating = -1, .scanner = FAKE_NOBODY};
    }
    for (int fd = 0; fd < top; fd++) { /* what a test that failed has left */
        (void)(find(fd) != NULL && close(sockets[fd].far));
        sockets[fd] = (fake_socket){0};
    }
    post_count = 0;
    tree_drop();
    tree_make(tree);
}

void fake_settled(void) {
    fake_run();
    for (int fd = 0; fd < top; fd++) {
        assert_null(find(fd));
    }
    for (int i = 0; i < FAKE_ADAPTERS; i++) {
        const fake_adapter *a = &fake.adapters[i];
        assert_true(a->scanner == FAKE_NOBODY || a->scanner == FAKE_OTHER || a->awaits);
        assert_false(a->present && a->sets_enabled);
        assert_int_equal(a->creating, -1);
    }
}

void fake_end(void) {
    tree_drop(); /* first: a test that failed fails the rest of this */
    fake_settled();
    for (int call = 0; call < FAKE_CALLS; call++) {
        if (fake.refuse[call].number != 0) {
            fail_msg("a call of kind %d was to be refused, and was not made", call);
        }
    }
}

void fake_note(int index, char kind, uint16_t opcode, int parameter) {
    size_t used = strlen(fake.log);
    snprintf(fake.log + used, sizeof fake.log - used, " %d:%c%04x=%d", index, kind, opcode, parameter);
}

bool fake_sent(const char *entry) {
    return strstr(fake.log, entry) != NULL;
}

void fake_forget_log(void) {
    fake.log[0] = '\0';
}

const char *fake_opcodes(void) {
    static char text[sizeof fake.log];
    text[0] = '\0';
    for (const char *at = fake.log; (at = strchr(at, ':')) != NULL; at++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), " %.5s", at + 1);
    }
    fake_forget_log();
    return text;
}
