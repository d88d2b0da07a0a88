/* SPDX-License-Identifier: MIT */
/*
 * The static random address of an adapter without a public one (Core Spec Vol 6 Part B 1.3.2.1): peers and bonds know
 * us by it. It is made of random bytes once and kept in a file beside the bonds, one per adapter. The kernel receives
 * it while the adapter is off, the controller before it scans or advertises.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "../directory.h"
#include "bluez_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 256

tendon_address tendon_bluez_static_address_from(const uint8_t random[6]) {
    tendon_address address = {.type = TENDON_ADDRESS_TYPE_RANDOM};
    memcpy(address.bytes, random, sizeof address.bytes);
    /* The other 46 bits must be neither all 0 nor all 1; one of the lowest two decides. */
    address.bytes[0] |= 0xC0u;
    address.bytes[5] = (uint8_t)((address.bytes[5] & 0xFCu) | ((address.bytes[5] & 1u) != 0 ? 1u : 2u));
    return address;
}

/** @return TENDON_ERROR_NOT_FOUND: no such file yet. */
static tendon_status load(const char *path, tendon_address *out) {
    char text[TENDON_ADDRESS_STRING_SIZE + 1];
    struct stat state;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return errno == ENOENT ? TENDON_ERROR_NOT_FOUND : TENDON_SYSTEM_ERROR(errno);
    }
    bool ours = fstat(fd, &state) == 0 && state.st_uid == geteuid() && (state.st_mode & 0077) == 0;
    ssize_t length = ours ? read(fd, text, sizeof text) : -1;
    int number = errno;
    close(fd);
    if (length < 0) {
        return ours ? TENDON_SYSTEM_ERROR(number) : TENDON_ERROR_FILE_PERMISSION;
    }
    *out = (tendon_address){.type = TENDON_ADDRESS_TYPE_RANDOM};
    bool valid = length > 1 && text[length - 1] == '\n' &&
                 tendon_address_parse(text, (size_t)length - 1, out, NULL) >= 0 && (out->bytes[0] & 0xC0u) == 0xC0u;
    out->type = TENDON_ADDRESS_TYPE_RANDOM;
    return valid ? TENDON_OK : TENDON_ERROR_MALFORMED;
}

static tendon_status write_new(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    size_t length = strlen(text);
    ssize_t written = write(fd, text, length);
    tendon_status status = written < 0                 ? TENDON_SYSTEM_ERROR(errno)
                           : (size_t)written != length ? TENDON_SYSTEM_ERROR(ENOSPC)
                           : fsync(fd) != 0            ? TENDON_SYSTEM_ERROR(errno)
                                                       : TENDON_OK;
    close(fd);
    if (status < 0) {
        (void)unlink(path);
    }
    return status;
}

/** Makes the file, whole or not at all. If another process is first, its address is used. */
static tendon_status make(const char *path, tendon_address *out) {
    uint8_t random[6];
    char text[TENDON_ADDRESS_STRING_SIZE + 1], temporary[PATH_SIZE + 16];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    tendon_address address = tendon_bluez_static_address_from(random);
    (void)tendon_address_format(&address, text);
    text[17] = '\n'; /* the address type is always the same */
    text[18] = '\0';
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    (void)unlink(temporary); /* of a process with the same number that was killed */
    tendon_status status = write_new(temporary, text);
    if (status < 0) {
        return status;
    }
    if (link(temporary, path) != 0) {
        status = errno == EEXIST ? TENDON_OK : TENDON_SYSTEM_ERROR(errno);
    }
    (void)unlink(temporary);
    return status < 0 ? status : load(path, out);
}

tendon_status tendon_bluez_static_address(uint16_t index, bool make_it, tendon_address *out) {
    char name[24], path[PATH_SIZE];
    snprintf(name, sizeof name, "address-hci%u", index);
    tendon_status status = tendon_directory_state_path(name, path, sizeof path);
    if (status >= 0) {
        status = load(path, out);
    }
    if (status == TENDON_ERROR_NOT_FOUND && make_it) {
        int error = tendon_directory_make_parents(path);
        status = error != 0 ? TENDON_SYSTEM_ERROR(error) : make(path, out);
    }
    return status;
}

/*
 * No interface reports the static address of an adapter, so probe for it: a connect() without a channel always fails,
 * but the kernel first looks up the adapter by our address. Nothing is transmitted.
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

tendon_status tendon_bluez_settle_address(tendon_bluez_radio *radio, tendon_bluez_adapter *adapter,
                                          uint32_t *settings) {
    uint8_t wire[6];
    *settings = adapter->current_settings;
    if (!adapter->static_address) {
        return TENDON_OK;
    }
    tendon_status status = tendon_bluez_static_address(adapter->index, true, &adapter->address);
    if (status < 0) {
        return status;
    }
    bool was_on = (*settings & TENDON_MANAGEMENT_POWERED) != 0;
    if (was_on) {
        if (kernel_uses(&adapter->address)) {
            return TENDON_OK;
        }
        if (tendon_bluez_users(radio) != 0) {
            return TENDON_RADIO_ERROR_ADAPTER_BUSY; /* it is on with another program's address */
        }
        status =
            tendon_bluez_manage_mode(radio->management.fd, TENDON_MANAGEMENT_SET_POWERED, adapter->index, 0, settings);
        if (status < 0) {
            return status;
        }
    }
    tendon_address_to_wire(&adapter->address, wire);
    status = tendon_bluez_manage_settings(radio->management.fd, TENDON_MANAGEMENT_SET_STATIC_ADDRESS, adapter->index,
                                          wire, sizeof wire, settings);
    if (status < 0 && was_on) { /* as it was */
        (void)tendon_bluez_manage_mode(radio->management.fd, TENDON_MANAGEMENT_SET_POWERED, adapter->index, 1,
                                       settings);
    }
    return status;
}

bool tendon_bluez_address_is_random(const tendon_bluez_radio *radio) {
    return radio->radio.address.type == TENDON_ADDRESS_TYPE_RANDOM;
}

bool tendon_bluez_address_next(const tendon_bluez_radio *radio, tendon_bluez_command *out) {
    if (!tendon_bluez_address_is_random(radio) || radio->address_set) {
        return false;
    }
    out->length = tendon_hci_command_random_address(&radio->radio.address, out->bytes, sizeof out->bytes);
    return true;
}

void tendon_bluez_address_done(tendon_bluez_radio *radio, uint8_t status) {
    /* Disallowed: it scans for the kernel or another program. So it has an address, and the kernel's is ours. */
    if (status != 0 && status != HCI_COMMAND_DISALLOWED_ERROR) {
        tendon_bluez_fail(radio, TENDON_HCI_ERROR(status));
        return;
    }
    radio->address_set = true;
    tendon_bluez_connect_waiting(radio);
}

#else
typedef int tendon_bluez_address_nothing; /* ISO C requires a declaration in every file */
#endif
