/* SPDX-License-Identifier: MIT */
/* Which adapter a name means. Indexes change at each start and replug; addresses and USB ports stay. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <string.h>

/** @return the index of "hciN", or -1. */
static int parse_index(const char *name) {
    if (strncmp(name, "hci", 3) != 0 || name[3] == '\0') {
        return -1;
    }
    int index = 0;
    for (const char *c = name + 3; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || index > 6552) {
            return -1;
        }
        index = index * 10 + (*c - '0');
    }
    return index;
}

/* "1-1.4": the bus, then the port of each hub. */
bool tendon_bluez_is_usb_path(const char *text, size_t length) {
    static const char digits[] = "0123456789";
    const size_t bus = strspn(text, digits);
    size_t at = bus;
    if (bus == 0 || text[bus] != '-' || length >= TENDON_BLUEZ_USB_PATH_SIZE) {
        return false;
    }
    do {
        const size_t port = strspn(text + at + 1, digits);
        if (port == 0) {
            return false;
        }
        at += 1 + port;
    } while (at < length && text[at] == '.');
    return at == length;
}

tendon_status tendon_bluez_parse_name(const char *text, tendon_bluez_name *out) {
    *out = (tendon_bluez_name){.index = -1};
    if (text == NULL) {
        return TENDON_OK;
    }
    const size_t length = strlen(text);
    out->index = parse_index(text);
    out->has_address =
        length == TENDON_ADDRESS_STRING_SIZE - 1 && tendon_address_parse(text, length, &out->address, NULL) >= 0;
    if (tendon_bluez_is_usb_path(text, length)) {
        memcpy(out->usb_path, text, length + 1);
    }
    return out->index >= 0 || out->has_address || out->usb_path[0] != '\0' ? TENDON_OK : TENDON_ERROR_INVALID_ARGUMENT;
}

bool tendon_bluez_is_named(const tendon_bluez_name *name, const tendon_bluez_adapter *adapter) {
    if (name->index >= 0) {
        return adapter->index == name->index;
    }
    if (name->has_address) {
        return memcmp(adapter->address.bytes, name->address.bytes, sizeof name->address.bytes) == 0;
    }
    return name->usb_path[0] == '\0' || strcmp(adapter->usb_path, name->usb_path) == 0;
}

#endif
