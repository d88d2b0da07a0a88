/* SPDX-License-Identifier: MIT */
/* Management socket: blocking exchanges, for opening, and commands whose answers are events. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

/** Repetitions of a command that the kernel is busy with for another program: for 5 s, in which controllers power on.
 */
#define BUSY_TRIES 250
#define BUSY_PAUSE_MS 20

tendon_status tendon_bluez_management_status(uint8_t status) {
    switch (status) {
    case TENDON_MANAGEMENT_SUCCESS:
        return TENDON_OK;
    case TENDON_MANAGEMENT_BUSY:
        return TENDON_RADIO_ERROR_ADAPTER_BUSY;
    case TENDON_MANAGEMENT_INVALID_INDEX:
        return TENDON_RADIO_ERROR_NO_ADAPTER;
    case TENDON_MANAGEMENT_RFKILLED:
        return TENDON_RADIO_ERROR_RFKILL;
    case TENDON_MANAGEMENT_PERMISSION_DENIED:
        return TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN;
    default:
        return TENDON_MANAGEMENT_ERROR(status);
    }
}

/** The reply to a command, among the events that every socket receives. */
static bool is_reply(const tendon_management_event *event, uint16_t opcode, uint16_t index) {
    return (event->code == TENDON_MANAGEMENT_COMMAND_COMPLETE || event->code == TENDON_MANAGEMENT_COMMAND_STATUS) &&
           event->opcode == opcode && event->index == index;
}

tendon_status tendon_bluez_manage_later(int fd, uint16_t opcode, uint16_t index, const uint8_t *data, size_t length) {
    uint8_t pdu[2 * TENDON_MANAGEMENT_PDU_MAX]; /* lists of keys are longer than anything that is read */
    tendon_status size = tendon_management_encode(opcode, index, data, length, pdu, sizeof pdu);
    if (size < 0) {
        return size;
    }
    return send(fd, pdu, (size_t)size, MSG_NOSIGNAL) < 0 ? tendon_bluez_socket_status(errno) : TENDON_OK;
}

/** Reads what has come, then waits for more until @p until; 0: does not wait. */
static tendon_status read_reply(int fd, uint16_t opcode, uint16_t index, uint64_t until, uint8_t *reply,
                                size_t capacity) {
    uint8_t pdu[TENDON_MANAGEMENT_PDU_MAX];
    for (;;) {
        ssize_t got = recv(fd, pdu, sizeof pdu, 0);
        tendon_management_event event;
        if (got < 0 && errno != EAGAIN && errno != EINTR) {
            return tendon_bluez_socket_status(errno);
        }
        if (got < 0 || tendon_management_decode(pdu, (size_t)got, &event, NULL) < 0 ||
            !is_reply(&event, opcode, index)) {
            bool goes_on =
                got < 0 ? tendon_bluez_wait_readable(fd, until) : until == 0 || tendon_monotonic_ms() < until;
            if (!goes_on) {
                return TENDON_RADIO_ERROR_COMMAND_TIMEOUT;
            }
            continue;
        }
        if (event.status != TENDON_MANAGEMENT_SUCCESS) {
            return tendon_bluez_management_status(event.status);
        }
        size_t kept = event.length < capacity ? event.length : capacity;
        if (kept > 0) {
            memcpy(reply, event.data, kept);
        }
        return (tendon_status)kept;
    }
}

tendon_status tendon_bluez_manage(int fd, uint16_t opcode, uint16_t index, const uint8_t *data, size_t length,
                                  uint8_t *reply, size_t capacity) {
    tendon_status status = tendon_bluez_manage_later(fd, opcode, index, data, length);
    return status < 0 ? status
                      : read_reply(fd, opcode, index, tendon_monotonic_ms() + TENDON_BLUEZ_MANAGEMENT_TIMEOUT_MS, reply,
                                   capacity);
}

tendon_status tendon_bluez_manage_immediately(int fd, uint16_t opcode, uint16_t index, const uint8_t *data,
                                              size_t length, uint8_t *reply, size_t capacity) {
    tendon_status status = tendon_bluez_manage_later(fd, opcode, index, data, length);
    return status < 0 ? status : read_reply(fd, opcode, index, 0, reply, capacity);
}

tendon_status tendon_bluez_management_send(const tendon_bluez_radio *radio, uint16_t opcode, const uint8_t *data,
                                           size_t length) {
    uint8_t pdu[TENDON_MANAGEMENT_HEADER_SIZE + TENDON_BLUEZ_PARAMETERS_MAX];
    return tendon_bluez_management_write(radio, pdu,
                                         tendon_management_encode(opcode, radio->index, data, length, pdu, sizeof pdu));
}

tendon_status tendon_bluez_management_write(const tendon_bluez_radio *radio, const uint8_t *pdu, tendon_status size) {
    if (size < 0) {
        return size;
    }
    return send(radio->management.fd, pdu, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0
               ? tendon_bluez_socket_status(errno)
               : TENDON_OK;
}

tendon_status tendon_bluez_manage_settings(int fd, uint16_t opcode, uint16_t index, const uint8_t *data, size_t length,
                                           uint32_t *settings) {
    uint8_t reply[4];
    tendon_status got = tendon_bluez_manage(fd, opcode, index, data, length, reply, sizeof reply);
    if (got < 0) {
        return got;
    }
    tendon_reader reader = tendon_reader_make(reply, (size_t)got);
    uint32_t value = tendon_read_u32le(&reader);
    if (!tendon_reader_ok(&reader)) {
        return TENDON_ERROR_TRUNCATED;
    }
    *settings = value;
    return TENDON_OK;
}

/* Busy: the kernel changes this for another program, for example at the start of the machine, when two power it on. */
tendon_status tendon_bluez_manage_mode(int fd, uint16_t opcode, uint16_t index, uint8_t mode, uint32_t *settings) {
    tendon_status status = tendon_bluez_manage_settings(fd, opcode, index, &mode, 1, settings);
    for (int i = 0; i < BUSY_TRIES && status == TENDON_RADIO_ERROR_ADAPTER_BUSY; i++) {
        (void)usleep(BUSY_PAUSE_MS * 1000);
        status = tendon_bluez_manage_settings(fd, opcode, index, &mode, 1, settings);
    }
    return status;
}

tendon_status tendon_bluez_decode_indexes(const uint8_t *data, size_t length,
                                          uint16_t indexes[TENDON_BLUEZ_INDEXES_MAX]) {
    tendon_status count = tendon_management_decode_index_list(data, length, indexes, TENDON_BLUEZ_INDEXES_MAX, NULL);
    return count < TENDON_BLUEZ_INDEXES_MAX ? count : TENDON_BLUEZ_INDEXES_MAX;
}

uint32_t tendon_bluez_effective_capabilities(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct data[2] = {{0}};
    return syscall(SYS_capget, &header, data) == 0 ? data[0].effective : 0;
}

bool tendon_bluez_may_administer(void) {
    return (tendon_bluez_effective_capabilities() & 1u << CAP_NET_ADMIN) != 0;
}

#endif
