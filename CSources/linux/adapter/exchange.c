/* SPDX-License-Identifier: MIT */
/* Blocking exchanges of one HCI command, used while an adapter is opened; the limits of a controller. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/** H4 type, event code, length, 255 parameters; commands of others are slightly longer. */
#define SLOT 264

/** The return parameters of one Command Complete. */
static tendon_status exchange_reply(const uint8_t *packet, size_t length, uint16_t opcode, uint8_t *reply,
                                    size_t capacity) {
    tendon_hci_event event;
    tendon_hci_parameters parameters;
    if (length < 1 || packet[0] != HCI_EVENT_PKT || tendon_hci_event_decode(packet + 1, length - 1, &event, NULL) < 0 ||
        (event.code != TENDON_HCI_COMMAND_COMPLETE && event.code != TENDON_HCI_COMMAND_STATUS) ||
        tendon_hci_decode(&event, &parameters, NULL) < 0 || parameters.opcode != opcode) {
        return TENDON_ERROR_INCOMPLETE;
    }
    if (event.code == TENDON_HCI_COMMAND_STATUS) {
        return parameters.status != 0 ? TENDON_HCI_ERROR(parameters.status) : TENDON_ERROR_INCOMPLETE;
    }
    if (parameters.length < 1 || parameters.data[0] != 0) {
        return parameters.length < 1 ? TENDON_ERROR_TRUNCATED : TENDON_HCI_ERROR(parameters.data[0]);
    }
    size_t kept = parameters.length - 1 < capacity ? parameters.length - 1 : capacity;
    memcpy(reply, parameters.data + 1, kept);
    return (tendon_status)kept;
}

tendon_status tendon_bluez_await(int fd, uint16_t opcode, uint64_t until, uint8_t *reply, size_t capacity) {
    uint8_t packet[SLOT];
    while (tendon_bluez_wait_readable(fd, until)) {
        ssize_t got = recv(fd, packet, sizeof packet, 0);
        if (got < 0 && errno != EAGAIN && errno != EINTR) {
            return tendon_bluez_socket_status(errno);
        }
        tendon_status status =
            got < 0 ? TENDON_ERROR_INCOMPLETE : exchange_reply(packet, (size_t)got, opcode, reply, capacity);
        if (status != TENDON_ERROR_INCOMPLETE) {
            return status;
        }
    }
    return TENDON_RADIO_ERROR_COMMAND_TIMEOUT;
}

tendon_status tendon_bluez_exchange(int fd, uint16_t opcode, uint8_t *reply, size_t capacity) {
    tendon_bluez_command command;
    command.length = tendon_hci_command_plain(opcode, command.bytes, sizeof command.bytes);
    if (command.length < 0) {
        return command.length;
    }
    if (!tendon_bluez_send_command(fd, &command)) {
        return tendon_bluez_socket_status(errno);
    }
    return tendon_bluez_await(fd, opcode, tendon_monotonic_ms() + TENDON_BLUEZ_COMMAND_TIMEOUT_MS, reply, capacity);
}

tendon_status tendon_bluez_fetch_features(int fd, uint64_t *out) {
    uint8_t features[8] = {0};
    tendon_status status = tendon_bluez_exchange(fd, TENDON_HCI_LE_READ_LOCAL_FEATURES, features, sizeof features);
    tendon_reader reader = tendon_reader_make(features, sizeof features);
    *out = tendon_read_u64le(&reader);
    return status;
}

/** A command that not every LE controller has (Core Spec Vol 4 Part E 3.1): some never answer what they do not have,
 * and each would cost the time of a response. */
static void fetch(int fd, const uint8_t commands[64], uint16_t opcode, uint8_t *reply, size_t capacity) {
    if (tendon_hci_supports(commands, opcode)) {
        (void)tendon_bluez_exchange(fd, opcode, reply, capacity);
    }
}

void tendon_bluez_fetch_limits(int fd, const uint8_t commands[64], tendon_bluez_limits *limits) {
    uint8_t buffers[3] = {0}, states[8] = {0}, length[2] = {0};
    (void)tendon_bluez_exchange(fd, TENDON_HCI_LE_READ_BUFFER_SIZE, buffers, sizeof buffers);
    (void)tendon_bluez_exchange(fd, TENDON_HCI_LE_READ_ACCEPT_LIST_SIZE, &limits->accept_list, 1);
    (void)tendon_bluez_exchange(fd, TENDON_HCI_LE_READ_SUPPORTED_STATES, states, sizeof states);
    fetch(fd, commands, TENDON_HCI_LE_READ_RESOLVING_LIST_SIZE, &limits->resolving_list, 1);
    if ((limits->features & TENDON_BLUEZ_FEATURE_EXTENDED_ADVERTISING) !=
        0) { /* these two belong to the extended set, which must not be mixed with the legacy one */
        fetch(fd, commands, TENDON_HCI_LE_READ_MAXIMUM_ADVERTISING_DATA_LENGTH, length, sizeof length);
        fetch(fd, commands, TENDON_HCI_LE_READ_NUMBER_OF_ADVERTISING_SETS, &limits->advertising_sets, 1);
    }
    tendon_reader reader = tendon_reader_make(buffers, sizeof buffers);
    limits->packet_length = tendon_read_u16le(&reader);
    limits->packets = tendon_read_u8(&reader);
    reader = tendon_reader_make(states, sizeof states);
    limits->states = tendon_read_u64le(&reader);
    reader = tendon_reader_make(length, sizeof length);
    limits->advertising_length = tendon_read_u16le(&reader);
}

tendon_status tendon_bluez_read_limits(uint16_t index, tendon_bluez_limits *out) {
    *out = (tendon_bluez_limits){0};
    tendon_status fd = tendon_bluez_channel_socket(index, HCI_CHANNEL_RAW);
    if (fd < 0) {
        return fd;
    }
    uint8_t commands[64] = {0};
    tendon_status status = tendon_bluez_set_filter(fd);
    if (status >= 0) {
        status = tendon_bluez_exchange(fd, TENDON_HCI_READ_LOCAL_COMMANDS, commands, sizeof commands);
    }
    if (status >= 0) {
        status = tendon_bluez_fetch_features(fd, &out->features);
    }
    if (status >= 0) {
        tendon_bluez_fetch_limits(fd, commands, out);
    }
    close(fd);
    return status < 0 ? status : TENDON_OK;
}

#endif
