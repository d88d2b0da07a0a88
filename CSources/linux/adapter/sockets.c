/* SPDX-License-Identifier: MIT */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/** All receive buffers together may take this part of the machine's memory. */
#define MEMORY_PART 16u
/** Bounds of one receive buffer, in bytes: about 160 and 10,000 notifications of 20 bytes. */
#define BUFFER_MIN (128u * 1024u)
#define BUFFER_MAX (8u * 1024u * 1024u)

tendon_status tendon_bluez_socket_status(int number) {
    switch (number) {
    case EAFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ESOCKTNOSUPPORT:
        return TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT;
    case ENODEV:
    case EPIPE: /* the adapter was removed while the socket was open */
        return TENDON_RADIO_ERROR_NO_ADAPTER;
    case EBUSY:
    case EUSERS: /* an exclusive user of the adapter */
        return TENDON_RADIO_ERROR_ADAPTER_BUSY;
    case ENETDOWN:
        return TENDON_RADIO_ERROR_ADAPTER_DOWN;
    case ERFKILL:
        return TENDON_RADIO_ERROR_RFKILL;
    case EPERM:
    case EACCES:
        return TENDON_RADIO_ERROR_NO_CAP_NET_RAW;
    default:
        return TENDON_SYSTEM_ERROR(number);
    }
}

tendon_status tendon_bluez_channel_socket(uint16_t index, uint16_t channel) {
    int fd = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_HCI);
    if (fd < 0) {
        return tendon_bluez_socket_status(errno);
    }
    struct sockaddr_hci name = {.hci_family = AF_BLUETOOTH, .hci_dev = index, .hci_channel = channel};
    if (bind(fd, (struct sockaddr *)&name, sizeof name) != 0) {
        /* The monitor and the management channel exist since Linux 3.4: EINVAL is a kernel without them. */
        tendon_status status =
            errno == EINVAL ? TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT : tendon_bluez_socket_status(errno);
        close(fd);
        return status;
    }
    return fd;
}

uint64_t tendon_bluez_memory(void) {
    struct sysinfo info;
    return sysinfo(&info) == 0 ? (uint64_t)info.totalram * info.mem_unit : 0;
}

uint32_t tendon_bluez_buffer_size(uint64_t memory, size_t sockets) {
    uint64_t size = memory / MEMORY_PART / (sockets > 0 ? sockets : 1);
    return size < BUFFER_MIN ? BUFFER_MIN : size > BUFFER_MAX ? BUFFER_MAX : (uint32_t)size;
}

void tendon_bluez_set_buffer(int fd, uint32_t size) {
    const int half = (int)(size / 2); /* the kernel doubles it */
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &half, sizeof half) != 0) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &half, sizeof half); /* no CAP_NET_ADMIN: up to rmem_max */
    }
}

void tendon_bluez_share_buffers(const tendon_bluez_radio *radio, int fd) {
    size_t links = 0;
    for (const tendon_link *link = radio->radio.links; link != NULL; link = link->next) {
        links++;
    }
    uint32_t size = tendon_bluez_buffer_size(tendon_bluez_memory(), links);
    for (const tendon_link *link = radio->radio.links; link != NULL; link = link->next) {
        if (link->source.fd >= 0) {
            tendon_bluez_set_buffer(link->source.fd, size);
        }
    }
    tendon_bluez_set_buffer(fd, size);
}

void tendon_bluez_ask_for_details(int fd) {
    const int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);    /* without it: the count at the end of the link */
    (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on); /* without it: the time of the read */
}

uint32_t tendon_bluez_dropped(int fd) {
    uint32_t counters[16] = {0}; /* SK_MEMINFO_...; kernels append to them: one that is missing stays 0 */
    socklen_t size = sizeof counters;
    return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, counters, &size) == 0 ? counters[SK_MEMINFO_DROPS] : 0;
}

bool tendon_bluez_wait_readable(int fd, uint64_t until) {
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    for (;;) {
        uint64_t now = tendon_monotonic_ms();
        if (now >= until) {
            return false;
        }
        int ready = poll(&wait, 1, (int)(until - now));
        if (ready > 0) {
            return true;
        }
        if (ready < 0 && errno != EINTR) {
            return false;
        }
    }
}

/** The events that are read from the raw socket: no other event wakes the process. */
static const uint8_t wanted_events[] = {TENDON_HCI_DISCONNECTION_COMPLETE, TENDON_HCI_ENCRYPTION_CHANGE,
                                        TENDON_HCI_COMMAND_COMPLETE,       TENDON_HCI_COMMAND_STATUS,
                                        TENDON_HCI_HARDWARE_ERROR,         TENDON_HCI_LE_META};

tendon_status tendon_bluez_set_filter(int fd) {
    struct hci_filter filter, kept = {0};
    hci_filter_clear(&filter);
    hci_filter_set_ptype(HCI_EVENT_PKT, &filter);
    hci_filter_set_ptype(HCI_COMMAND_PKT, &filter); /* those of the kernel and of other programs */
    for (size_t i = 0; i < sizeof wanted_events; i++) {
        hci_filter_set_event(wanted_events[i], &filter);
    }
    socklen_t size = sizeof kept;
    if (setsockopt(fd, SOL_HCI, HCI_FILTER, &filter, sizeof filter) != 0 ||
        getsockopt(fd, SOL_HCI, HCI_FILTER, &kept, &size) != 0) {
        return tendon_bluez_socket_status(errno);
    }
    /* Without CAP_NET_RAW the kernel silently removes bits: LE events would never arrive. */
    bool whole = kept.type_mask == filter.type_mask && kept.event_mask[0] == filter.event_mask[0] &&
                 kept.event_mask[1] == filter.event_mask[1];
    return whole ? TENDON_OK : TENDON_RADIO_ERROR_NO_CAP_NET_RAW;
}

bool tendon_bluez_has_unread(const tendon_bluez_radio *radio) {
    struct pollfd wait = {.fd = radio->hci.fd, .events = POLLIN};
    return radio->hci.fd >= 0 && poll(&wait, 1, 0) > 0;
}

void tendon_bluez_close_sockets(tendon_bluez_radio *radio) {
    tendon_source *const sources[] = {&radio->hci, &radio->management};
    /* First: see tendon_bluez_count_sockets(). */
    for (size_t i = 0; i < sizeof radio->leases / sizeof radio->leases[0]; i++) {
        if (radio->leases[i] >= 0) {
            close(radio->leases[i]);
        }
        radio->leases[i] = -1;
    }
    for (size_t i = 0; i < 2; i++) {
        tendon_loop_remove(radio->radio.loop, sources[i]);
        if (sources[i]->fd >= 0) {
            close(sources[i]->fd);
        }
        sources[i]->fd = -1;
    }
}

#endif
