/* SPDX-License-Identifier: MIT */
/* Who else uses an adapter: sockets of other programs, and how radios of this library show theirs to each other. */
#include "adapter.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/** Maximum number of adapters whose leases are checked. */
#define ADAPTERS 16u

static bool inode_of(int fd, unsigned long *inode) {
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        return false;
    }
    *inode = (unsigned long)info.st_ino;
    return true;
}

/*
 * The kernel does not report which adapter an HCI socket is bound to. So a radio publishes it: while the radio is open,
 * an abstract address exists that contains the socket's inode and the adapter's index; for sole use a second one.
 */
static socklen_t lease_name(struct sockaddr_un *name, unsigned long inode, unsigned index, bool sole) {
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "tendon/hci%u/%lu%s", index, inode,
                          sole ? "/sole" : "");
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int publish(int fd, uint16_t index, bool sole) {
    struct sockaddr_un name;
    unsigned long inode = 0;
    int lease = inode_of(fd, &inode) ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (lease >= 0 && bind(lease, (struct sockaddr *)&name, lease_name(&name, inode, index, sole)) != 0) {
        const int number = errno;
        close(lease);
        errno = number;
        lease = -1;
    }
    return lease;
}

int tendon_bluez_lease(int fd, uint16_t index) {
    return publish(fd, index, false);
}

void tendon_bluez_close_watcher(tendon_source *source, int *lease) {
    close(source->fd);
    source->fd = -1;
    if (*lease >= 0) {
        close(*lease);
    }
    *lease = -1;
}

/** Returns true if a radio of this library has published this. */
static bool is_published(unsigned long inode, unsigned index, bool sole) {
    struct sockaddr_un name;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool found = fd >= 0 && connect(fd, (struct sockaddr *)&name, lease_name(&name, inode, index, sole)) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return found;
}

static bool is_sole(unsigned long inode, int index) {
    return is_published(inode, (unsigned)index, true);
}

/** Returns true if a radio of this library uses this socket, for an adapter that is not @p except, or for none. */
static bool is_of_radio(unsigned long inode, int except) {
    bool found = except != HCI_DEV_NONE && is_published(inode, HCI_DEV_NONE, false);
    for (unsigned i = 0; i < ADAPTERS && !found; i++) {
        found = (int)i != except && is_published(inode, i, false);
    }
    return found;
}

static bool may_be_for(unsigned long inode, int index) {
    return index < 0 || !is_of_radio(inode, index);
}

static bool is_of_program(unsigned long inode, int index) {
    (void)index;
    return !is_of_radio(inode, -1);
}

bool tendon_bluez_each_line(const char *path, void (*visit)(void *context, const char *line), void *context) {
    char text[4096];
    size_t length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : 0;
    while (fd >= 0 && (got = read(fd, text + length, sizeof text - 1 - length)) > 0) {
        length += (size_t)got;
        text[length] = '\0';
        char *line = text, *end = NULL;
        while ((end = strchr(line, '\n')) != NULL) {
            *end = '\0';
            visit(context, line);
            line = end + 1;
        }
        length = line == text ? 0 : strlen(line);
        memmove(text, line, length);
    }
    if (fd >= 0) {
        close(fd);
    }
    return got == 0;
}

typedef struct socket_count {
    unsigned long own[2]; /* 0: none */
    int index, found;
    bool (*counts)(unsigned long inode, int index);
} socket_count;

/* Every HCI socket of the machine is a line: sk, references, memory, memory, user, inode, parent. */
static void count_line(void *context, const char *line) {
    socket_count *count = context;
    unsigned long inode = 0;
    if (sscanf(line, "%*s %*s %*s %*s %*s %lu", &inode) == 1 && inode != count->own[0] && inode != count->own[1]) {
        count->found += count->counts(inode, count->index);
    }
}

/* By the directory of this process: it is there if procfs shows no other one, and nothing else (systemd's
 * ProtectProc=invisible and ProcSubset=pid). */
static int count_sockets(int own_fd, int own_other_fd, int index, bool (*counts)(unsigned long inode, int index)) {
    socket_count count = {.index = index, .counts = counts};
    (void)inode_of(own_fd, &count.own[0]);
    (void)inode_of(own_other_fd, &count.own[1]);
    return tendon_bluez_each_line("/proc/self/net/hci", count_line, &count) ? count.found : -1;
}

int tendon_bluez_other_sockets(int own_fd, int own_other_fd, int index) {
    return count_sockets(own_fd, own_other_fd, index, may_be_for);
}

/** Bit N: another adapter hciN is on. */
static uint32_t others_on(const tendon_bluez_radio *radio) {
    uint32_t on = 0;
    for (uint16_t i = 0; i < ADAPTERS; i++) {
        struct hci_dev_info info = {.dev_id = i};
        if (i != radio->index && ioctl(radio->hci.fd, (tendon_ioctl_request)HCIGETDEVINFO, &info) == 0 &&
            (info.flags & TENDON_BLUEZ_IS_UP) != 0) {
            on |= UINT32_C(1) << i;
        }
    }
    return on;
}

/**
 * Other adapters in the exclusive use of a program without the kernel's stack: on, and not in the list of adapters.
 * Such a program has one socket for each, which is for nothing else.
 */
static int exclusive_adapters(const tendon_bluez_radio *radio) {
    uint8_t reply[2 + 2 * TENDON_BLUEZ_INDEXES_MAX];
    uint16_t listed[TENDON_BLUEZ_INDEXES_MAX];
    uint32_t on = others_on(radio);
    tendon_status fd = on == 0 ? TENDON_OK : tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    if (on == 0 || fd < 0) {
        return 0;
    }
    tendon_status got = tendon_bluez_manage_immediately(fd, TENDON_MANAGEMENT_READ_INDEX_LIST,
                                                        TENDON_MANAGEMENT_NO_INDEX, NULL, 0, reply, sizeof reply);
    close(fd);
    tendon_status count = got < 0 ? got : tendon_bluez_decode_indexes(reply, (size_t)got, listed);
    for (tendon_status i = 0; i < count; i++) {
        on &= listed[i] < ADAPTERS ? ~(UINT32_C(1) << listed[i]) : UINT32_MAX;
    }
    return count < 0 ? 0 : __builtin_popcount(on);
}

static int count_others(const tendon_bluez_radio *radio, bool (*counts)(unsigned long inode, int index)) {
    int found = count_sockets(radio->hci.fd, radio->management.fd, radio->index, counts);
    int exclusive = found > 0 ? exclusive_adapters(radio) : 0;
    return found > 0 && found < exclusive ? 0 : found - exclusive;
}

int tendon_bluez_users(const tendon_bluez_radio *radio) {
    return count_others(radio, may_be_for);
}

int tendon_bluez_programs(const tendon_bluez_radio *radio) {
    return count_others(radio, is_of_program);
}

/*
 * A radio publishes its own use first, then looks at the others. Of two that open the adapter at the same time at least
 * one sees the other, whatever the order.
 */
tendon_status tendon_bluez_claim(tendon_bluez_radio *radio) {
    if (radio->use == TENDON_BLUEZ_SHARED) {
        int owners = count_sockets(radio->hci.fd, radio->management.fd, radio->index, is_sole);
        return owners > 0 ? TENDON_RADIO_ERROR_ADAPTER_BUSY : TENDON_OK;
    }
    if (radio->use == TENDON_BLUEZ_SOLE) {
        radio->leases[3] = publish(radio->hci.fd, radio->index, true);
        if (radio->leases[3] < 0) {
            return TENDON_SYSTEM_ERROR(errno);
        }
        int users = tendon_bluez_users(radio);
        return users > 0 ? TENDON_RADIO_ERROR_ADAPTER_BUSY : users < 0 ? TENDON_ERROR_UNSUPPORTED : TENDON_OK;
    }
    return TENDON_OK;
}

/* ---- an observer ---- */

static tendon_status refuse_advertising(tendon_radio *radio, const tendon_advertise_parameters *parameters) {
    (void)radio;
    (void)parameters;
    return TENDON_ERROR_UNSUPPORTED;
}

static tendon_status stop_nothing(tendon_radio *radio) {
    (void)radio;
    return TENDON_OK;
}

static tendon_status refuse_connect(tendon_radio *radio, tendon_link *link, const tendon_address *peer,
                                    uint64_t deadline) {
    (void)radio;
    (void)link;
    (void)peer;
    (void)deadline;
    return TENDON_ERROR_UNSUPPORTED;
}

static tendon_status refuse_listen(tendon_radio *radio, tendon_listener *listener) {
    (void)radio;
    (void)listener;
    return TENDON_ERROR_UNSUPPORTED;
}

static void nothing_to_unlisten(tendon_radio *radio, tendon_listener *listener) {
    (void)radio;
    (void)listener;
}

const tendon_radio_ops tendon_bluez_observer_ops = {.name = "bluez",
                                                    .scan_start = tendon_bluez_scan_start,
                                                    .scan_stop = tendon_bluez_scan_stop,
                                                    .advertise_start = refuse_advertising,
                                                    .advertise_stop = stop_nothing,
                                                    .connect = refuse_connect,
                                                    .listen = refuse_listen,
                                                    .unlisten = nothing_to_unlisten,
                                                    .link_close = tendon_bluez_link_close,
                                                    .close = tendon_bluez_close};

#endif
