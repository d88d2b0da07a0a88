/* SPDX-License-Identifier: MIT */
/*
 * Data of Out of Band pairing, through the management socket. The kernel uses the data that it has for the address of a
 * peer in every pairing with it, and its own data when the peer has them.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

#include <string.h>
#include <unistd.h>

enum { LE_ADDRESS_TYPES = 0x06, KEY_SIZE = 16 };

/*
 * Add Remote Out Of Band Data: hash and randomizer of P-192, which must be zero for an LE device, then confirmation and
 * random value. Remove Remote Out Of Band Data is refused for an LE device; zeros make the kernel ignore its entry.
 */
tendon_status tendon_bluez_give_out_of_band(tendon_radio *base, const tendon_address *peer,
                                            const tendon_out_of_band *data) {
    uint8_t parameters[TENDON_MANAGEMENT_ADDRESS_SIZE + 4 * KEY_SIZE] = {0};
    tendon_writer writer = tendon_writer_make(parameters, sizeof parameters);
    tendon_management_write_address(&writer, peer);
    if (data != NULL) {
        memcpy(parameters + TENDON_MANAGEMENT_ADDRESS_SIZE + 2 * KEY_SIZE, data->confirm, KEY_SIZE);
        memcpy(parameters + TENDON_MANAGEMENT_ADDRESS_SIZE + 3 * KEY_SIZE, data->random, KEY_SIZE);
    }
    return tendon_bluez_management_send((tendon_bluez_radio *)base, TENDON_MANAGEMENT_ADD_REMOTE_OUT_OF_BAND_DATA,
                                        parameters, sizeof parameters);
}

/** Return parameters of Read Local Out Of Band Extended Data: address types, length, AD structures. */
static tendon_status decode(const uint8_t *reply, size_t length, tendon_out_of_band *out) {
    tendon_reader reader = tendon_reader_make(reply, length);
    (void)tendon_read_u8(&reader);
    size_t size = tendon_read_u16le(&reader);
    const uint8_t *data = tendon_read_bytes(&reader, size);
    return data != NULL ? tendon_out_of_band_decode(data, size, out, NULL) : TENDON_ERROR_TRUNCATED;
}

static tendon_status read_data(int fd, uint16_t index, tendon_out_of_band *out) {
    static const uint8_t types = LE_ADDRESS_TYPES;
    uint8_t reply[TENDON_MANAGEMENT_PDU_MAX];
    uint32_t settings;
    tendon_status status = tendon_bluez_manage_mode(fd, TENDON_MANAGEMENT_SET_SECURE_CONNECTIONS, index, 1, &settings);
    if (status >= 0) {
        status = tendon_bluez_manage(fd, TENDON_MANAGEMENT_READ_LOCAL_OUT_OF_BAND_EXTENDED_DATA, index, &types, 1,
                                     reply, sizeof reply);
    }
    if (status < 0) {
        return status == TENDON_MANAGEMENT_ERROR(TENDON_MANAGEMENT_NOT_SUPPORTED) ? TENDON_ERROR_UNSUPPORTED : status;
    }
    return decode(reply, (size_t)status, out);
}

tendon_status tendon_bluez_read_out_of_band(tendon_radio *base, tendon_out_of_band *out) {
    const tendon_bluez_radio *radio = (const tendon_bluez_radio *)base;
    tendon_out_of_band data;
    /* A separate socket: the loop reads the events of the radio's socket. */
    tendon_status fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    if (fd < 0) {
        return fd;
    }
    tendon_status status = read_data(fd, radio->index, &data);
    close(fd);
    if (status >= 0) {
        *out = data;
        /* The kernel does not know that this radio advertises. */
        out->role = base->listener != NULL ? TENDON_LE_ROLE_PERIPHERAL : TENDON_LE_ROLE_CENTRAL;
    }
    return status;
}

#else
typedef int tendon_bluez_out_of_band_nothing; /* ISO C requires a declaration in every file */
#endif
