/* SPDX-License-Identifier: MIT */
/* Waiting for an adapter: the management socket reports each one that the kernel has set up. */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/** Events that one step of the loop reads. */
#define BATCH 8

static bool is_wanted(const tendon_bluez_arrival *arrival, uint16_t index) {
    return arrival->index < 0 || arrival->index == index;
}

/** The response to Read Controller Index List: adapters that were there before. */
static bool lists_wanted(const tendon_bluez_arrival *arrival, const tendon_management_event *event) {
    uint16_t indexes[64];
    if (event->opcode != TENDON_MANAGEMENT_READ_INDEX_LIST || event->status != TENDON_MANAGEMENT_SUCCESS) {
        return false;
    }
    tendon_status count = tendon_management_decode_index_list(event->data, event->length, indexes, 64, NULL);
    for (tendon_status i = 0; i < count && i < 64; i++) {
        if (is_wanted(arrival, indexes[i])) {
            return true;
        }
    }
    return false;
}

static bool is_arrival(const tendon_bluez_arrival *arrival, const tendon_management_event *event) {
    switch (event->code) {
    case TENDON_MANAGEMENT_INDEX_ADDED:
        return is_wanted(arrival, event->index);
    case TENDON_MANAGEMENT_COMMAND_COMPLETE:
        return lists_wanted(arrival, event);
    default:
        return false;
    }
}

/** The last thing that happens to it: its memory may be reused in on_adapter(). */
static void finish(tendon_bluez_arrival *arrival, tendon_status status, uint64_t now) {
    void *context = arrival->context;
    void (*on_adapter)(void *context, tendon_status status, uint64_t now) = arrival->on_adapter;
    tendon_bluez_arrival_close(arrival);
    on_adapter(context, status, now);
}

static void ready(void *context, uint32_t events, uint64_t now) {
    tendon_bluez_arrival *arrival = context;
    (void)events;
    for (int i = 0; i < BATCH; i++) {
        uint8_t pdu[TENDON_MANAGEMENT_PDU_MAX];
        tendon_management_event event;
        ssize_t got = recv(arrival->source.fd, pdu, sizeof pdu, MSG_TRUNC);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (got < 0) {
            finish(arrival, tendon_bluez_socket_status(errno), now);
            return;
        }
        if ((size_t)got <= sizeof pdu && tendon_management_decode(pdu, (size_t)got, &event, NULL) == TENDON_OK &&
            is_arrival(arrival, &event)) {
            finish(arrival, TENDON_OK, now);
            return;
        }
    }
}

tendon_status tendon_bluez_await_adapter(tendon_bluez_arrival *arrival, tendon_loop *loop, const char *name,
                                         void *context,
                                         void (*on_adapter)(void *context, tendon_status status, uint64_t now)) {
    const int index = name != NULL ? tendon_bluez_parse_name(name) : -1;
    *arrival = (tendon_bluez_arrival){.loop = loop, .index = index, .context = context, .on_adapter = on_adapter};
    tendon_source_init(&arrival->source, -1, arrival, ready, NULL);
    if (name != NULL && index < 0) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    tendon_status fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    if (fd < 0) {
        return fd;
    }
    arrival->source.fd = fd;
    arrival->lease = tendon_bluez_lease(fd, HCI_DEV_NONE);
    arrival->source.interest = TENDON_READABLE;
    /* Asked once the socket gets events: an adapter is in the list, or its event follows. */
    uint8_t pdu[TENDON_MANAGEMENT_HEADER_SIZE];
    tendon_status size = tendon_management_encode(TENDON_MANAGEMENT_READ_INDEX_LIST, TENDON_MANAGEMENT_NO_INDEX, NULL,
                                                  0, pdu, sizeof pdu);
    tendon_status status = size < 0 ? size : tendon_loop_add(loop, &arrival->source);
    if (status >= 0 && send(fd, pdu, (size_t)size, MSG_NOSIGNAL) < 0) {
        status = tendon_bluez_socket_status(errno);
    }
    if (status < 0) {
        tendon_bluez_arrival_close(arrival);
    }
    return status < 0 ? status : TENDON_OK;
}

void tendon_bluez_arrival_close(tendon_bluez_arrival *arrival) {
    if (arrival->source.fd < 0) {
        return;
    }
    tendon_loop_remove(arrival->loop, &arrival->source);
    tendon_bluez_close_watcher(&arrival->source, &arrival->lease);
}

#else
typedef int tendon_bluez_arrival_nothing; /* ISO C requires a declaration in every file */
#endif
