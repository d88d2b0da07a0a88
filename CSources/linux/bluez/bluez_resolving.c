/* SPDX-License-Identifier: MIT */
/*
 * Devices with private addresses, and controllers that resolve those. Linux 7.3, not 6.12, filters with such a
 * controller by the identity address, but gives it the identity key only of a device with the flag Address Resolution:
 * without the flag, the controller ignores the device. The flag is kept with the connection parameters of a device,
 * which exist in the kernel once they were loaded.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

#include <unistd.h>

/** Address Resolution in the flags of a device (doc/mgmt-api.txt, Get Device Flags). */
#define ADDRESS_RESOLUTION (UINT32_C(1) << 2)

enum { FLAGS_SIZE = 4, STATE_SIZE = TENDON_MANAGEMENT_ADDRESS_SIZE + 2 * FLAGS_SIZE };

bool tendon_bluez_is_resolved(const tendon_bluez_radio *radio, const tendon_address *peer) {
    const tendon_bond *bond = radio->identities_loaded ? tendon_bonds_find(radio->radio.bonds, TENDON_BOND_KERNEL,
                                                                           &radio->radio.address, peer)
                                                       : NULL;
    return bond != NULL && bond->has_identity_key;
}

/** Adds the flag to those that the device has, if this kernel knows it with this controller. */
static void add_flag(int fd, uint16_t index, const tendon_address *peer) {
    uint8_t data[TENDON_MANAGEMENT_ADDRESS_SIZE + FLAGS_SIZE], state[STATE_SIZE];
    tendon_writer writer = tendon_writer_make(data, sizeof data);
    tendon_management_write_address(&writer, peer);
    tendon_status got = tendon_bluez_manage_immediately(fd, TENDON_MANAGEMENT_GET_DEVICE_FLAGS, index, data,
                                                        writer.length, state, sizeof state);
    tendon_reader reader = tendon_reader_make(state, got < 0 ? 0 : (size_t)got);
    (void)tendon_read_bytes(&reader, TENDON_MANAGEMENT_ADDRESS_SIZE);
    const uint32_t supported = tendon_read_u32le(&reader), current = tendon_read_u32le(&reader);
    if (!tendon_reader_ok(&reader) || (supported & ~current & ADDRESS_RESOLUTION) == 0) {
        return;
    }
    tendon_write_u32le(&writer, current | ADDRESS_RESOLUTION);
    (void)tendon_bluez_manage_immediately(fd, TENDON_MANAGEMENT_SET_DEVICE_FLAGS, index, data, writer.length, NULL, 0);
}

/* The kernel must know the flag before connect(), and answers each command while it is sent. After an error, only
 * controllers that resolve addresses do not find the device. */
void tendon_bluez_resolve_in_controller(const tendon_bluez_radio *radio, const tendon_address *peer) {
    /* A separate socket: the loop reads the events of the radio's socket. */
    tendon_status fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    if (fd >= 0) {
        add_flag(fd, radio->index, peer);
        close(fd);
    }
}

#else
typedef int tendon_bluez_resolving_nothing; /* ISO C requires a declaration in every file */
#endif
