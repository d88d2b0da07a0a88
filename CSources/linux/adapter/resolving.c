/* SPDX-License-Identifier: MIT */
/*
 * Devices with private addresses, and controllers that resolve those. Linux 7.3, not 6.12, filters with such a
 * controller by the identity address, but gives it the identity key only of a device with the flag Address Resolution:
 * without the flag, the controller ignores the device. The flag is kept with the connection parameters of a device,
 * which exist in the kernel once they were loaded.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <unistd.h>

/** LE Set Address Resolution Enable (Core Spec Vol 4 Part E 7.8.44); parameters: 0 off, 1 on. */
#define SET_RESOLUTION TENDON_HCI_OPCODE(0x08, 0x02D)

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

/* The kernel leaves the resolution on, and its keys in the controller, after it has connected: the reports of a scan
 * would have identity addresses of bonds that were forgotten, or of another store, and never a private address. Its own
 * active scans have it off, too. The controller rejects the command while it advertises, scans or connects: then they
 * do. */
void tendon_bluez_stop_resolving(tendon_bluez_radio *radio) {
    if (radio->limits.resolving_list == 0 || radio->unresolved) {
        return;
    }
    static const tendon_bluez_command off = {.length = 4, .bytes = {SET_RESOLUTION & 0xFF, SET_RESOLUTION >> 8, 1, 0}};
    radio->unresolved = tendon_bluez_send_command(radio->hci.fd, &off);
}

bool tendon_bluez_sets_resolution(uint16_t opcode) {
    return opcode == SET_RESOLUTION;
}

void tendon_bluez_note_resolution(tendon_bluez_radio *radio, tendon_reader *parameters) {
    const uint8_t enable = tendon_read_u8(parameters);
    radio->unresolved = radio->unresolved && tendon_reader_ok(parameters) && enable == 0;
}

#endif
