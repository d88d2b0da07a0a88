/* SPDX-License-Identifier: MIT */
/*
 * The static address of an adapter at work: the kernel receives it while the adapter is off, the controller before it
 * scans or advertises.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/** Between two attempts to set the controller's address while it scans for another program, in ms. */
#define ADDRESS_PAUSE_MS 1000u

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

bool tendon_bluez_address_next(const tendon_bluez_radio *radio, const tendon_bluez_activity *activity,
                               tendon_bluez_command *out) {
    const bool advertises = activity == &radio->advertising.activity && !radio->extended_advertising;
    const bool needed = radio->address_state == TENDON_BLUEZ_ADDRESS_UNKNOWN ||
                        (radio->address_state == TENDON_BLUEZ_ADDRESS_OF_OTHERS && advertises);
    if (!tendon_bluez_address_is_random(radio) || !needed) {
        return false;
    }
    out->length = tendon_hci_command_random_address(&radio->radio.address, out->bytes, sizeof out->bytes);
    return true;
}

/* Linux scans actively with an address that it makes up, and sets ours again when it connects. */
void tendon_bluez_address_other_sent(tendon_bluez_radio *radio, tendon_reader *parameters) {
    const uint8_t *wire = tendon_read_bytes(parameters, 6);
    if (wire != NULL) {
        const tendon_address other = tendon_address_from_wire(wire, TENDON_ADDRESS_TYPE_RANDOM);
        radio->address_state = tendon_address_equal(&other, &radio->radio.address) ? TENDON_BLUEZ_ADDRESS_OURS
                                                                                   : TENDON_BLUEZ_ADDRESS_OF_OTHERS;
    }
}

void tendon_bluez_address_done(tendon_bluez_radio *radio, uint8_t status, uint64_t now) {
    if (status != 0 && status != HCI_COMMAND_DISALLOWED_ERROR) {
        tendon_bluez_fail(radio, TENDON_HCI_ERROR(status));
        return;
    }
    /* Disallowed: it scans for the kernel or another program. So it has an address: the kernel's, which is ours, or the
     * one that was seen; then advertising waits for the end of that scan. */
    if (status != 0 && radio->address_state == TENDON_BLUEZ_ADDRESS_OF_OTHERS) {
        tendon_bluez_activity_retry(radio, &radio->advertising.activity, now + ADDRESS_PAUSE_MS);
        return;
    }
    radio->address_state = TENDON_BLUEZ_ADDRESS_OURS;
}

#endif
