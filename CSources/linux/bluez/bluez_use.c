/* SPDX-License-Identifier: MIT */
/* Who else uses an adapter: sockets of other programs, and how radios of this library show theirs to each other. */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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

/** Returns false if a radio of this library uses this socket for another adapter than @p index; -1: any adapter. */
static bool may_be_for(unsigned long inode, int index) {
    bool other = false;
    for (unsigned i = 0; index >= 0 && i < ADAPTERS && !other; i++) {
        other = i != (unsigned)index && is_published(inode, i, false);
    }
    return !other;
}

/* Every HCI socket of the machine is a line of /proc/net/hci: sk, references, memory, memory, user, inode, parent. */
static int count_sockets(int own_fd, int own_other_fd, int index, bool (*counts)(unsigned long inode, int index)) {
    unsigned long own = 0, own_other = 0;
    bool has_own = inode_of(own_fd, &own), has_own_other = inode_of(own_other_fd, &own_other);
    int fd = open("/proc/net/hci", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    char text[4096];
    ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    if (size < 0) {
        return -1;
    }
    text[size] = '\0';
    int found = 0;
    for (const char *line = strchr(text, '\n'); line != NULL && line[1] != '\0'; line = strchr(line + 1, '\n')) {
        unsigned long inode = 0;
        if (sscanf(line + 1, "%*s %*s %*s %*s %*s %lu", &inode) == 1 && !(has_own && inode == own) &&
            !(has_own_other && inode == own_other)) {
            found += counts(inode, index);
        }
    }
    return found;
}

int tendon_bluez_other_sockets(int own_fd, int own_other_fd, int index) {
    return count_sockets(own_fd, own_other_fd, index, may_be_for);
}

int tendon_bluez_users(const tendon_bluez_radio *radio) {
    return tendon_bluez_other_sockets(radio->hci.fd, radio->management.fd, radio->index);
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

#else
typedef int tendon_bluez_use_nothing; /* ISO C requires a declaration in every file */
#endif
