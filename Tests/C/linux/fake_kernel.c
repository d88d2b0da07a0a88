/* SPDX-License-Identifier: MIT */
/* The system calls, in the C library's place. Bluetooth sockets are ends of pairs whose other ends are here. */
#include "fake_kernel.h"
#include "file_tree.h"
#include "privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { SOCKETS = 1024, POSTS = 256, PACKET = 1024, ATT = 0x100, NO_INDEX = 0xFFFF };

typedef enum socket_state { BARE, BOUND, WAITING, CONNECTED, ENDED } socket_state;

/** A Bluetooth socket of this process, by its descriptor. */
typedef struct fake_socket {
    int far; /**< the other end; 0: there is no such socket */
    socket_state state;
    int index; /**< of its adapter */
    uint16_t channel;
    uint8_t own[6], peer[6];
    int number; /**< SO_ERROR */
    struct hci_filter filter;
    fake_sent_counts *counts; /**< NULL: of no interest */
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
static char tree[sizeof FILE_TREE];

static bool refuses(fake_call call) {
    fake_refusal *refusal = &fake.refuse[call];
    int number = 0;
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
        bool addressed = p->fd >= 0
                             ? fd == p->fd
                             : fd != p->except && s != NULL && (s->channel != HCI_CHANNEL_RAW || s->index == p->index);
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
    ssize_t got =
        s->state == WAITING ? 0 : syscall(SYS_recvfrom, s->far, packet, sizeof packet, MSG_DONTWAIT, NULL, NULL);
    if (got <= 0) { /* an error is that something was unread */
        forget(fd);
    } else if (s->channel == HCI_CHANNEL_CONTROL) {
        fake_manage(fd, packet, (size_t)got);
    } else if (s->channel == HCI_CHANNEL_RAW) {
        fake_command(fake_of((uint16_t)s->index), fd, packet, (size_t)got, s->counts);
    }
}

/** @return whether there was something. What is in the way of a socket that waits is not read. */
static bool read_sockets(void) {
    static struct pollfd far[SOCKETS];
    for (int fd = 0; fd < top; fd++) {
        const fake_socket *s = find(fd);
        far[fd] =
            (struct pollfd){.fd = s != NULL ? s->far : -1, .events = s != NULL && s->state == WAITING ? 0 : POLLIN};
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
static void run(void) {
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
        run();
        int ready = epoll_pwait(epoll, events, count, 0, NULL);
        if (ready != 0 || fake.now >= end) {
            return ready;
        }
        advance(end);
    }
}

int poll(struct pollfd *fds, nfds_t count, int timeout) {
    uint64_t begun = fake.now, end = timeout < 0 ? UINT64_MAX : begun + (uint64_t)timeout;
    for (;;) {
        run();
        int ready = (int)syscall(SYS_ppoll, fds, count, &(struct timespec){0}, NULL, 0);
        if (ready != 0 || fake.now >= end) {
            fake.slept += (unsigned)(fake.now - begun);
            return ready;
        }
        advance(end);
    }
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
    return operation == EPOLL_CTL_ADD && refuses(FAKE_EPOLL) ? -1
                                                             : (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

int usleep(useconds_t us) {
    (void)poll(NULL, 0, (int)(us / 1000));
    return 0;
}

/* ---- sockets ---- */

int socket(int domain, int type, int protocol) {
    int pair[2];
    if (domain != AF_BLUETOOTH) {
        return (int)syscall(SYS_socket, domain, type, protocol);
    }
    if (refuses(FAKE_SOCKET)) {
        return -1;
    }
    int flags = type & (SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | flags, 0, pair), 0);
    assert_true(pair[0] < SOCKETS);
    top = pair[0] < top ? top : pair[0] + 1;
    if (find(pair[0]) != NULL) {
        forget(pair[0]); /* closed, and the descriptor is used again */
    }
    sockets[pair[0]] = (fake_socket){.far = pair[1], .index = NO_INDEX, .channel = protocol == BTPROTO_L2CAP ? ATT : 0};
    assert_int_equal(fcntl(pair[1], F_SETFL, O_NONBLOCK), 0);
    return pair[0];
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
        struct sockaddr_l2 l2;
        memcpy(&l2, name.__sockaddr__, sizeof l2);
        memcpy(s->own, l2.l2_bdaddr.b, 6);
        return 0;
    }
    struct sockaddr_hci hci;
    memcpy(&hci, name.__sockaddr__, sizeof hci);
    const fake_adapter *a = hci.hci_dev == HCI_DEV_NONE ? NULL : fake_of(hci.hci_dev);
    if (hci.hci_dev != HCI_DEV_NONE && a == NULL) {
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
    struct sockaddr_l2 l2;
    if (s == NULL || s->channel != ATT || name.__sockaddr__->sa_family != AF_BLUETOOTH) {
        return (int)syscall(SYS_connect, fd, name, length);
    }
    if (refuses(FAKE_CONNECT)) {
        return -1;
    }
    memcpy(&l2, name.__sockaddr__, sizeof l2);
    memcpy(s->peer, l2.l2_bdaddr.b, 6);
    s->index = fake_route(s->own);
    const fake_device *device = fake_device_of(s->peer);
    errno = s->index < 0 ? EHOSTUNREACH : l2.l2_cid == 0 ? EINVAL : device != NULL && device->of_other ? EBUSY : 0;
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

ssize_t send(int fd, const void *bytes, size_t length, int flags) {
    const fake_socket *s = find(fd);
    if (s != NULL && refuses(FAKE_SEND)) {
        return -1;
    }
    bool manages =
        s != NULL && s->channel == HCI_CHANNEL_CONTROL; /* executed in this call, after what was sent before */
    if (manages) {
        run();
    }
    ssize_t sent = syscall(SYS_sendto, fd, bytes, length, flags, NULL, 0);
    const int number = errno;
    if (manages) {
        run();
    }
    errno = number;
    return sent;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    return find(fd) != NULL && refuses(FAKE_SEND) ? -1 : syscall(SYS_writev, fd, parts, count);
}

/** A capability of a user namespace is none here. */
static bool is_granted(int capability) {
    return !fake.user_namespace && (bluez_privileges.effective >> capability & 1) != 0;
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t size) {
    fake_socket *s = find(fd);
    if (s == NULL) {
        return (int)syscall(SYS_setsockopt, fd, level, option, value, size);
    }
    if (refuses(FAKE_OPTION)) {
        return -1;
    }
    if (level == SOL_SOCKET && option == SO_RCVBUFFORCE && s->channel == HCI_CHANNEL_RAW) {
        memcpy(&fake.buffer, value, sizeof fake.buffer);
    }
    if (level == SOL_HCI && option == HCI_FILTER) {
        memcpy(&s->filter, value, sizeof s->filter);
        if (!is_granted(CAP_NET_RAW)) { /* hci_sec_filter */
            s->filter.type_mask &= 0x10;
            s->filter.event_mask[0] &= 0x1000D9FE;
            s->filter.event_mask[1] &= 0x0000B00C;
        }
    }
    return 0;
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *size) {
    const fake_socket *s = find(fd);
    if (s == NULL) {
        return (int)syscall(SYS_getsockopt, fd, level, option, value, size);
    }
    memset(value, 0, *size);
    if (level == SOL_HCI && option == HCI_FILTER) {
        memcpy(value, &s->filter, sizeof s->filter);
    } else if (level == SOL_SOCKET && option == SO_ERROR) {
        memcpy(value, &s->number, sizeof s->number);
    } else if (level == SOL_BLUETOOTH && option == BT_SECURITY) {
        *(uint8_t *)value = BT_SECURITY_LOW;
    } else if (level == SOL_L2CAP && option == L2CAP_CONNINFO) {
        const fake_device *device = fake_device_of(s->peer);
        const struct l2cap_conninfo info = {.hci_handle = device != NULL ? device->handle : 0};
        memcpy(value, &info, sizeof info);
    }
    return 0;
}

int ioctl(int fd, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (find(fd) == NULL) {
        return (int)syscall(SYS_ioctl, fd, request, argument);
    }
    if (refuses(FAKE_IOCTL)) {
        return -1;
    }
    if (request == HCIDEVDOWN) {
        (void)poll(NULL, 0, (int)fake.down_takes);
        fake_power((uint16_t)(uintptr_t)argument, false);
        return 0;
    }
    if (request == HCIDEVRESTAT && !is_granted(CAP_NET_ADMIN)) {
        errno = EPERM;
        return -1;
    }
    errno = ENODEV;
    if (request == HCIDEVRESTAT) {
        return fake_of((uint16_t)(uintptr_t)argument) != NULL ? 0 : -1;
    }
    if (request == HCIGETDEVINFO) {
        struct hci_dev_info *info = argument;
        const fake_adapter *a = fake_of(info->dev_id);
        info->flags = a != NULL && a->powered ? 1 : 0;
        return a != NULL ? 0 : -1;
    }
    if (request == HCIGETCONNINFO) {
        const struct hci_conn_info_req *asked = argument;
        const fake_device *device = fake_device_of(asked->bdaddr.b);
        const struct hci_conn_info info = {.handle = device != NULL ? device->handle : 0, .state = 1};
        errno = ENOENT;
        memcpy((uint8_t *)argument + sizeof *asked, &info, info.handle != 0 ? sizeof info : 0);
        return info.handle != 0 ? 0 : -1;
    }
    return 0; /* nothing is queued */
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
    struct stat info;
    run(); /* of those that were closed another file may have the descriptor */
    for (int fd = 0; fd < top; fd++) {
        const fake_socket *s = find(fd);
        if (s != NULL && s->channel != ATT && s->state == BOUND && fstat(fd, &info) == 0) {
            snprintf(text + strlen(text), sizeof text - strlen(text), "0 2 0 0 0 %lu 0\n", (unsigned long)info.st_ino);
        }
    }
    for (int i = 0; i < fake.programs; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "0 2 0 0 0 %d 0\n", i + 1);
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
    if (strcmp(path, "/proc/self/net/hci") == 0) {
        errno = EACCES;
        return fake.programs < 0 ? -1 : list_of_sockets();
    }
    if (strcmp(path, "/proc/self/net/unix") == 0) {
        return file_with("");
    }
    if (strcmp(path, "/proc/self/status") == 0) {
        char text[64];
        snprintf(text, sizeof text, "Name:\ttendon\nCapEff:\t%016x\n", bluez_privileges.effective);
        return file_with(text);
    }
    char full[256];
    snprintf(full, sizeof full, "%s%s", strncmp(path, "/sys/", 5) == 0 ? tree : "", path);
    return (int)syscall(SYS_openat, AT_FDCWD, full, flags, mode);
}

int openat(int directory, const char *path, int flags, ...) {
    return directory == AT_FDCWD ? open(path, flags) : (int)syscall(SYS_openat, directory, path, flags, 0);
}

/* ---- for tests ---- */

void fake_sysfs(uint16_t index, const char *name, const char *text) {
    char path[128];
    if (text == NULL) {
        snprintf(path, sizeof path, "%s/sys/class/bluetooth/hci%u", tree, index);
        tree_remove(path);
        return;
    }
    snprintf(path, sizeof path, "/sys/class/bluetooth/hci%u/%s", index, name);
    if (strcmp(name, "device") == 0) {
        char full[256];
        tree_path(tree, path, full);
        assert_int_equal(symlink(text, full), 0);
        return;
    }
    tree_put(tree, path, text);
}

void fake_start(void) {
    fake = (fake_kernel){.now = 100000};
    bluez_privileges = (privileges){.effective = 1u << CAP_NET_ADMIN | 1u << CAP_NET_RAW};
    for (int i = 0; i < FAKE_ADAPTERS; i++) {
        fake.adapters[i] = (fake_adapter){.creating = -1, .scanner = FAKE_NOBODY};
    }
    for (int fd = 0; fd < top; fd++) { /* what a test that failed has left */
        (void)(find(fd) != NULL && close(sockets[fd].far));
        sockets[fd] = (fake_socket){0};
    }
    post_count = 0;
    assert_non_null(mkdtemp(strcpy(tree, FILE_TREE)));
}

void fake_settled(void) {
    run();
    for (int fd = 0; fd < top; fd++) {
        assert_null(find(fd));
    }
    for (int i = 0; i < FAKE_ADAPTERS; i++) {
        const fake_adapter *a = &fake.adapters[i];
        assert_true(a->scanner < 0);
        assert_false(a->present && a->sets_enabled);
        assert_int_equal(a->creating, -1);
    }
}

void fake_end(void) {
    fake_settled();
    tree_remove(tree);
}

void fake_note(int index, char kind, uint16_t opcode, int parameter) {
    size_t used = strlen(fake.log);
    snprintf(fake.log + used, sizeof fake.log - used, " %d:%c%04x=%d", index, kind, opcode, parameter);
}

void fake_count(int fd, fake_sent_counts *counts) {
    assert_non_null(find(fd));
    *counts = (fake_sent_counts){0};
    sockets[fd].counts = counts;
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
