/* SPDX-License-Identifier: MIT */
/*
 * The static random address of an adapter without a public one (Core Spec Vol 6 Part B 1.3.2.1): peers and bonds know
 * us by it. It is made of random bytes once and kept in a file beside the bonds, one per adapter.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)
#include "../store/directory.h"
#include "../store/file.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

/** LINE_SIZE: "C0:11:22:33:44:55" and the end of the line, without a terminator. */
enum { PATH_SIZE = 256, LINE_SIZE = 18 };
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
    char text[LINE_SIZE + 1];
    struct stat version;
    tendon_status length = tendon_file_read(path, (uint8_t *)text, sizeof text, &version);
    if (length < 0) {
        return length;
    }
    *out = (tendon_address){.type = TENDON_ADDRESS_TYPE_RANDOM};
    bool valid = length == LINE_SIZE && text[LINE_SIZE - 1] == '\n' &&
                 tendon_address_parse(text, LINE_SIZE - 1, out, NULL) >= 0 && (out->bytes[0] & 0xC0u) == 0xC0u;
    out->type = TENDON_ADDRESS_TYPE_RANDOM;
    return valid ? TENDON_OK : TENDON_ERROR_MALFORMED;
}

static tendon_status draw(const char *path, tendon_address *out) {
    uint8_t random[6];
    char text[TENDON_ADDRESS_STRING_SIZE];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    *out = tendon_bluez_static_address_from(random);
    (void)tendon_address_format(out, text);
    text[LINE_SIZE - 1] = '\n'; /* the address type is always the same */
    return tendon_file_replace(path, (const uint8_t *)text, LINE_SIZE, NULL);
}

/** Makes the file, which is on the disk then. Of several processes the first decides: a lock lets in one at a time. */
static tendon_status make(const char *path, tendon_address *out) {
    char name[PATH_SIZE + sizeof ".lock"];
    snprintf(name, sizeof name, "%s.lock", path);
    tendon_status fd = tendon_file_lock(name);
    if (fd < 0) {
        return fd;
    }
    tendon_status status = load(path, out);
    status = status == TENDON_ERROR_NOT_FOUND ? draw(path, out) : status;
    close(fd);
    return status;
}

tendon_status tendon_bluez_static_address(uint16_t index, bool make_it, tendon_address *out) {
    char name[24], path[PATH_SIZE];
    snprintf(name, sizeof name, "address-hci%u", index);
    tendon_status status = tendon_directory_state_path(name, path, sizeof path);
    if (status >= 0) {
        status = load(path, out);
    }
    return status == TENDON_ERROR_NOT_FOUND && make_it ? make(path, out) : status;
}

#endif
