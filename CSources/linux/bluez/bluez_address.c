/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The static random address of an adapter that has no public one (Core Spec Vol 6 Part B 1.3.2.1). It is made of what
 * tells this machine from others, so that every process, and every start, has the same one: peers and bonds know us by
 * it. The kernel is told while the adapter is off, the controller before it scans or advertises.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/** FNV-1a, 64 bits: offset basis and prime. */
#define HASH_START 0xCBF29CE484222325u
#define HASH_PRIME 0x100000001B3u

static uint64_t hash_byte(uint64_t hash, uint8_t byte) {
    return (hash ^ byte) * HASH_PRIME;
}

/** @return whether the file was there and not empty. */
static bool hash_file(uint64_t *hash, const char *path) {
    uint8_t text[128];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t length = read(fd, text, sizeof text);
    close(fd);
    for (ssize_t i = 0; i < length; i++) {
        *hash = hash_byte(*hash, text[i]);
    }
    return length > 0;
}

tendon_address tendon_bluez_static_address_from(uint64_t hash, uint16_t index) {
    static const uint8_t salt[] = "tendon";
    tendon_address address = {.type = TENDON_ADDRESS_TYPE_RANDOM};
    for (size_t i = 0; i < sizeof salt; i++) {
        hash = hash_byte(hash, salt[i]);
    }
    hash = hash_byte(hash_byte(hash, (uint8_t)index), (uint8_t)(index >> 8));
    hash ^= hash >> 32; /* the upper half is mixed best */
    for (size_t i = 0; i < sizeof address.bytes; i++) {
        address.bytes[i] = (uint8_t)(hash >> (8 * i));
    }
    /* The other 46 bits must be neither all 0 nor all 1; one of the lowest two decides. */
    address.bytes[0] |= 0xC0u;
    address.bytes[5] = (uint8_t)((address.bytes[5] & 0xFCu) | ((address.bytes[5] & 1u) != 0 ? 1u : 2u));
    return address;
}

tendon_address tendon_bluez_static_address(uint16_t index) {
    uint64_t hash = HASH_START;
    /* Boards that were made from one image share their machine-id; the serial number keeps them apart. */
    bool serial = hash_file(&hash, "/sys/firmware/devicetree/base/serial-number");
    bool machine = hash_file(&hash, "/etc/machine-id");
    if (!serial && !machine) {
        (void)hash_file(&hash, "/proc/sys/kernel/random/boot_id"); /* until the next start */
    }
    return tendon_bluez_static_address_from(hash, index);
}

/*
 * Nothing tells which static address an adapter has. A connect() that cannot be, for it names no channel, is refused by
 * the kernel after it has looked for the adapter with our address: before anything is sent.
 */
static bool kernel_uses(const tendon_address *own) {
    int fd = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, BTPROTO_L2CAP);
    if (fd < 0) {
        return false;
    }
    struct sockaddr_l2 name = {.l2_family = AF_BLUETOOTH, .l2_bdaddr_type = BDADDR_LE_RANDOM};
    struct sockaddr_l2 nobody = name;
    tendon_address_to_wire(own, name.l2_bdaddr.b);
    bool found = bind(fd, (struct sockaddr *)&name, sizeof name) == 0 &&
                 connect(fd, (struct sockaddr *)&nobody, sizeof nobody) != 0 && errno == EINVAL;
    close(fd);
    return found;
}

tendon_status tendon_bluez_settle_address(tendon_bluez_radio *radio, const tendon_bluez_adapter *adapter,
                                          uint32_t *settings) {
    uint8_t wire[6];
    *settings = adapter->current_settings;
    if (!adapter->static_address) {
        return TENDON_OK;
    }
    if ((*settings & TENDON_MANAGEMENT_POWERED) != 0) {
        if (kernel_uses(&adapter->address)) {
            return TENDON_OK;
        }
        if (tendon_bluez_users(radio) != 0) {
            return TENDON_RADIO_ERROR_ADAPTER_BUSY; /* it is on with an address of somebody else's */
        }
        tendon_status status =
            tendon_bluez_manage_mode(radio->management.fd, TENDON_MANAGEMENT_SET_POWERED, adapter->index, 0, settings);
        if (status < 0) {
            return status;
        }
    }
    tendon_address_to_wire(&adapter->address, wire);
    return tendon_bluez_manage_settings(radio->management.fd, TENDON_MANAGEMENT_SET_STATIC_ADDRESS, adapter->index,
                                        wire, sizeof wire, settings);
}

bool tendon_bluez_address_is_random(const tendon_bluez_radio *radio) {
    return radio->radio.address.type == TENDON_ADDRESS_TYPE_RANDOM;
}

void tendon_bluez_address_next(const tendon_bluez_radio *radio, tendon_bluez_command *out) {
    if (out->length > 0 && tendon_bluez_address_is_random(radio) && !radio->address_set) {
        out->length = tendon_hci_command_random_address(&radio->radio.address, out->bytes, sizeof out->bytes);
    }
}

void tendon_bluez_address_done(tendon_bluez_radio *radio, uint8_t status) {
    /* Disallowed: it scans already, for the kernel or another program. So it has an address, and the kernel's is ours.
     */
    if (status != 0 && status != HCI_COMMAND_DISALLOWED_ERROR) {
        tendon_bluez_fail(radio, TENDON_HCI_ERROR(status));
        return;
    }
    radio->address_set = true;
    tendon_bluez_step(radio);
    tendon_bluez_connect_waiting(radio);
}

#else
typedef int tendon_bluez_address_nothing; /* ISO C wants a declaration in every file */
#endif
