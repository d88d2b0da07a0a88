/* SPDX-License-Identifier: MIT */
/* Who else uses an adapter: sockets of other programs, and how radios of this library show theirs to each other. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/** Adapters of which exclusive ones are looked for: hci0 to hci15. */
#define ADAPTERS 16u
/** Maximum number of equal names that differ in their last number. */
#define NAMES_MAX 64u
/** Sockets of a radio (raw, management) and of a program that only watches. */
#define SOCKETS_OF_RADIO 2
#define SOCKETS_OF_WATCHER 1
/** How often the sockets are counted if names come and go meanwhile. */
#define COUNTS_MAX 3

/*
 * The kernel lists the HCI sockets of all programs, and not what they are for. So each radio shows itself by a name in
 * the abstract namespace of sockets, which belongs to the network namespace, and so does Bluetooth: @tendon/hciN/USE/K.
 * K is the first number that is free. One name for an adapter would be too few: it has one owner, and is gone with it,
 * while other radios still use the adapter.
 */
int tendon_bluez_lease(uint16_t index, const char *use) {
    int lease = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (unsigned i = 0; lease >= 0 && i < NAMES_MAX; i++) {
        struct sockaddr_un name = {.sun_family = AF_UNIX};
        int length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "tendon/hci%u/%s/%u", index, use, i);
        if (bind(lease, (struct sockaddr *)&name,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0) {
            return lease;
        }
    }
    if (lease >= 0) {
        close(lease); /* errno stays that of bind() */
    }
    return -1;
}

/* The name goes first: as long as it is there, its sockets are. */
void tendon_bluez_close_watcher(tendon_source *source, int *lease) {
    if (*lease >= 0) {
        close(*lease);
    }
    *lease = -1;
    close(source->fd);
    source->fd = -1;
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

/** A line of /proc/self/net/unix; those of others than radios say nothing. */
static void read_name(void *context, const char *line) {
    tendon_bluez_names *names = context;
    unsigned index = 0;
    char use[TENDON_BLUEZ_USE_SIZE];
    const char *name = strstr(line, " @tendon/hci");
    if (name == NULL || sscanf(name, " @tendon/hci%u/%63[^/]/", &index, use) != 2) {
        return;
    }
    const bool is_here = index == names->index, is_sole = strcmp(use, TENDON_BLUEZ_USE_SOLE) == 0;
    int sockets = is_sole || strcmp(use, TENDON_BLUEZ_USE_RADIO) == 0 ? SOCKETS_OF_RADIO
                  : strcmp(use, TENDON_BLUEZ_USE_WATCHER) == 0        ? SOCKETS_OF_WATCHER
                                                                      : 0;
    names->here += is_here ? sockets : 0;
    names->elsewhere += is_here ? 0 : sockets;
    names->sole = names->sole || (is_here && is_sole);
    names->other_store =
        names->other_store || (is_here && strncmp(use, TENDON_BLUEZ_USE_KEYS, strlen(TENDON_BLUEZ_USE_KEYS)) == 0 &&
                               strcmp(use, names->store) != 0);
    names->crc = tendon_crc32(names->crc, (const uint8_t *)line, strlen(line));
}

bool tendon_bluez_read_names(uint16_t index, const char *store, tendon_bluez_names *out) {
    *out = (tendon_bluez_names){.index = index, .store = store};
    return tendon_bluez_each_line("/proc/self/net/unix", read_name, out);
}

/* Every HCI socket of the machine is a line, below a first one with the names of the columns. */
static void count_line(void *context, const char *line) {
    *(int *)context += strncmp(line, "sk ", 3) != 0;
}

/*
 * By the directory of this process: it is there if procfs shows no other one, and nothing else (systemd's
 * ProtectProc=invisible and ProcSubset=pid). A name comes after its sockets and goes before them, so those of a name
 * that is there before and after the sockets are counted are among them.
 */
int tendon_bluez_count_sockets(uint16_t index, tendon_bluez_names *out) {
    for (int i = 0; i < COUNTS_MAX; i++) {
        tendon_bluez_names before;
        int count = 0;
        if (!tendon_bluez_read_names(index, "", &before) ||
            !tendon_bluez_each_line("/proc/self/net/hci", count_line, &count) ||
            !tendon_bluez_read_names(index, "", out)) {
            return -1;
        }
        if (before.crc == out->crc && out->here + out->elsewhere <= count) {
            return count;
        }
    }
    return -1;
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

/** Without programs that have another adapter for themselves. */
static int without_exclusive(const tendon_bluez_radio *radio, int found) {
    int exclusive = found > 0 ? exclusive_adapters(radio) : 0;
    return found > 0 && found < exclusive ? 0 : found - exclusive;
}

/** A radio that has failed has none. */
static int own_sockets(const tendon_bluez_radio *radio) {
    return (radio->hci.fd >= 0) + (radio->management.fd >= 0);
}

int tendon_bluez_users(const tendon_bluez_radio *radio) {
    tendon_bluez_names names;
    int count = tendon_bluez_count_sockets(radio->index, &names);
    return count < 0 ? -1 : without_exclusive(radio, count - names.elsewhere - own_sockets(radio));
}

int tendon_bluez_programs(const tendon_bluez_radio *radio) {
    tendon_bluez_names names;
    int count = tendon_bluez_count_sockets(radio->index, &names);
    int own = radio->leases[0] < 0 ? own_sockets(radio) : 0; /* not among those that are shown */
    return count < 0 ? -1 : without_exclusive(radio, count - names.elsewhere - names.here - own);
}

/*
 * A radio shows its own use first, then looks at the others. Of two that open the adapter at the same time at least one
 * sees the other, whatever the order.
 */
tendon_status tendon_bluez_claim(tendon_bluez_radio *radio) {
    tendon_bluez_names names;
    const bool sole = radio->use == TENDON_BLUEZ_SOLE;
    radio->leases[0] = tendon_bluez_lease(radio->index, sole ? TENDON_BLUEZ_USE_SOLE : TENDON_BLUEZ_USE_RADIO);
    if (sole && radio->leases[0] < 0) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    if (sole) {
        int users = tendon_bluez_users(radio);
        return users > 0 ? TENDON_RADIO_ERROR_ADAPTER_BUSY : users < 0 ? TENDON_ERROR_UNSUPPORTED : TENDON_OK;
    }
    return radio->use == TENDON_BLUEZ_SHARED && tendon_bluez_read_names(radio->index, "", &names) && names.sole
               ? TENDON_RADIO_ERROR_ADAPTER_BUSY
               : TENDON_OK;
}

#endif
