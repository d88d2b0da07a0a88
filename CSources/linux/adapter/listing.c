/* SPDX-License-Identifier: MIT */
/* The adapters of the machine, and what this process may do with them. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)
#include "../store/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/** Entries of an adapter's directory looked at; it has about ten, and one for each connection. */
#define SYSFS_ENTRIES_MAX 256u

/** What an adapter's directory of sysfs contains, and what is known of the adapter. */
typedef struct sysfs_search {
    int directory_fd;
    tendon_bluez_adapter *adapter;
} sysfs_search;

/* Numbers of rfkill are never used again, and all kinds of radio have them: one can be far above 63. */
static bool visit_entry(void *context, const char *name) {
    static const char *const kinds[2] = {"soft", "hard"};
    const sysfs_search *search = context;
    if (strncmp(name, "rfkill", 6) != 0 || strlen(name) > 16) {
        return true;
    }
    for (int kind = 0; kind < 2; kind++) {
        char path[24], text[8];
        snprintf(path, sizeof path, "%.16s/%s", name, kinds[kind]);
        if (tendon_directory_read(search->directory_fd, path, text, sizeof text) > 0 && text[0] == '1') {
            search->adapter->blocked = true;
            search->adapter->hard_blocked |= kind == 1;
        }
    }
    return true;
}

/* "device" leads to an interface of the USB device: ../../../1-1.4:1.0 */
static void read_usb_path(const sysfs_search *search) {
    char target[256];
    ssize_t length = readlinkat(search->directory_fd, "device", target, sizeof target - 1);
    target[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(target, '/'), *path = slash != NULL ? slash + 1 : target;
    path[strcspn(path, ":")] = '\0';
    if (tendon_bluez_is_usb_path(path, strlen(path))) {
        memcpy(search->adapter->usb_path, path, strlen(path) + 1);
    }
}

static void read_sysfs(tendon_bluez_adapter *adapter) {
    char path[40];
    snprintf(path, sizeof path, "/sys/class/bluetooth/hci%u", adapter->index);
    sysfs_search search = {.directory_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .adapter = adapter};
    if (search.directory_fd >= 0) {
        read_usb_path(&search);
        tendon_directory_each(search.directory_fd, SYSFS_ENTRIES_MAX, visit_entry, &search);
        close(search.directory_fd);
    }
}

static tendon_status read_adapter(int fd, uint16_t index, tendon_bluez_adapter *out) {
    uint8_t reply[TENDON_MANAGEMENT_PDU_MAX];
    tendon_status length =
        tendon_bluez_manage(fd, TENDON_MANAGEMENT_READ_INFORMATION, index, NULL, 0, reply, sizeof reply);
    if (length < 0) {
        return length;
    }
    tendon_management_information information;
    tendon_status status = tendon_management_decode_information(reply, (size_t)length, &information, NULL);
    if (status < 0) {
        return status;
    }
    *out = (tendon_bluez_adapter){.index = index, .address = information.address, .version = information.version};
    snprintf(out->name, sizeof out->name, "hci%u", index);
    out->supported_settings = information.supported_settings;
    out->current_settings = information.current_settings;
    static const uint8_t none[6];
    out->static_address = memcmp(information.address.bytes, none, sizeof none) == 0 ||
                          (information.current_settings & TENDON_MANAGEMENT_STATIC_ADDRESS) != 0;
    if (out->static_address && tendon_bluez_static_address(index, false, &out->address) < 0) {
        out->address = (tendon_address){.type = TENDON_ADDRESS_TYPE_RANDOM}; /* made when it is opened */
    }
    out->low_energy = (information.supported_settings & TENDON_MANAGEMENT_LOW_ENERGY) != 0;
    out->powered = (information.current_settings & TENDON_MANAGEMENT_POWERED) != 0;
    read_sysfs(out);
    return TENDON_OK;
}

/** Reads a list of adapters; the kernel has them in the order in which they were added. @return how many there are. */
static tendon_status read_indexes(int fd, uint16_t opcode, uint16_t sorted[TENDON_BLUEZ_INDEXES_MAX]) {
    uint8_t reply[TENDON_MANAGEMENT_PDU_MAX];
    uint16_t indexes[TENDON_BLUEZ_INDEXES_MAX];
    tendon_status length = tendon_bluez_manage(fd, opcode, TENDON_MANAGEMENT_NO_INDEX, NULL, 0, reply, sizeof reply);
    tendon_status count = length < 0 ? length : tendon_bluez_decode_indexes(reply, (size_t)length, indexes);
    for (int i = 0; i < count; i++) {
        int slot = i;
        for (; slot > 0 && sorted[slot - 1] > indexes[i]; slot--) {
            sorted[slot] = sorted[slot - 1];
        }
        sorted[slot] = indexes[i];
    }
    return count;
}

/** Of adapters with one address, each is hidden by one that is on: Linux finds that of a connection by its address. */
static void find_doubles(tendon_bluez_adapter *adapters, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (size_t other = 0; other < count && !adapters[i].static_address; other++) {
            if (other != i && adapters[other].powered &&
                tendon_address_equal(&adapters[i].address, &adapters[other].address)) {
                adapters[i].status = TENDON_RADIO_ERROR_SAME_ADDRESS;
            }
        }
    }
}

tendon_status tendon_bluez_read_adapters(int fd, tendon_bluez_adapter *adapters, size_t capacity) {
    uint16_t indexes[TENDON_BLUEZ_INDEXES_MAX];
    tendon_status count = read_indexes(fd, TENDON_MANAGEMENT_READ_INDEX_LIST, indexes);
    size_t found = 0;
    for (int i = 0; i < count; i++) {
        tendon_bluez_adapter adapter;
        if (read_adapter(fd, indexes[i], &adapter) == TENDON_OK) { /* else it was removed in the meantime */
            if (found < capacity) {
                adapters[found] = adapter;
            }
            found++;
        }
    }
    find_doubles(adapters, found < capacity ? found : capacity);
    return count < 0 ? count : (tendon_status)found;
}

/* A kernel before Linux 3.17 has none. */
tendon_status tendon_bluez_append_unconfigured(int fd, tendon_status found, tendon_bluez_adapter *adapters,
                                               size_t capacity) {
    uint16_t indexes[TENDON_BLUEZ_INDEXES_MAX];
    tendon_status count = read_indexes(fd, TENDON_MANAGEMENT_READ_UNCONFIGURED_INDEX_LIST, indexes);
    for (int i = 0; i < count; i++, found++) {
        if ((size_t)found < capacity) {
            tendon_bluez_adapter *adapter = &adapters[found];
            *adapter = (tendon_bluez_adapter){.index = indexes[i], .status = TENDON_RADIO_ERROR_UNCONFIGURED};
            snprintf(adapter->name, sizeof adapter->name, "hci%u", indexes[i]);
            read_sysfs(adapter);
        }
    }
    return found;
}

tendon_status tendon_bluez_list(tendon_bluez_adapter *adapters, size_t capacity) {
    tendon_status fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    if (fd < 0) {
        return fd;
    }
    tendon_status count = tendon_bluez_read_adapters(fd, adapters, capacity);
    count = count < 0 ? count : tendon_bluez_append_unconfigured(fd, count, adapters, capacity);
    close(fd);
    return count;
}

tendon_status tendon_bluez_index_of(const tendon_bluez_name *name) {
    tendon_bluez_adapter adapters[TENDON_BLUEZ_ADAPTERS_MAX];
    if (name->index >= 0) {
        return name->index;
    }
    tendon_status count = tendon_bluez_list(adapters, TENDON_BLUEZ_ADAPTERS_MAX);
    const int looked_at = count < TENDON_BLUEZ_ADAPTERS_MAX ? count : TENDON_BLUEZ_ADAPTERS_MAX;
    for (int i = 0; i < looked_at; i++) {
        if (tendon_bluez_is_named(name, &adapters[i])) {
            return adapters[i].index;
        }
    }
    return count < 0 ? count : TENDON_RADIO_ERROR_NO_ADAPTER;
}

/** An adapter that is unplugged is powered off first; by then the kernel's list does not contain it any more. */
tendon_status tendon_bluez_why_off(uint16_t index) {
    struct hci_dev_info info;
    if (hci_devinfo(index, &info) < 0 && errno == ENODEV) {
        return TENDON_RADIO_ERROR_NO_ADAPTER;
    }
    tendon_bluez_adapter adapter = {.index = index};
    read_sysfs(&adapter);
    return adapter.blocked ? TENDON_RADIO_ERROR_RFKILL : TENDON_RADIO_ERROR_ADAPTER_DOWN;
}

/* The kernel removes bits of the filter without CAP_NET_RAW; of an adapter that does not exist nothing can be reset. */
void tendon_bluez_get_capabilities(tendon_bluez_capabilities *out) {
    *out = (tendon_bluez_capabilities){.net_raw = (tendon_bluez_effective_capabilities() & 1u << CAP_NET_RAW) != 0,
                                       .net_admin = tendon_bluez_may_administer()};
    int fd = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
    out->kernel_support = fd >= 0;
    tendon_bluez_names names;
    const int others = tendon_bluez_count_sockets(HCI_DEV_NONE, &names) - (fd >= 0);
    out->other_sockets = others > 0 ? (uint32_t)others : 0;
    if (fd >= 0) {
        out->net_raw = tendon_bluez_set_filter(fd) == TENDON_OK;
        out->net_admin =
            ioctl(fd, (tendon_ioctl_request)HCIDEVRESTAT, (unsigned long)HCI_DEV_NONE) == 0 || errno != EPERM;
        close(fd);
    }
}

#endif
