/* SPDX-License-Identifier: MIT */
/* Waiting for an adapter: the management socket reports each one that the kernel has set up, or that is switched on. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/** Events that one step of the loop reads. */
#define BATCH 8

/* By another name than its index: each adapter that comes may have it. */
static bool is_wanted(const tendon_bluez_arrival *arrival, uint16_t index) {
    const tendon_bluez_name *name = &arrival->name;
    bool any = name->index < 0 && !name->has_address && name->usb_path[0] == '\0';
    return any || tendon_bluez_index_of(name) == index;
}

/** Whether another program has an HCI socket that may be for this adapter; false as well if that is not known. */
static bool has_user(const tendon_bluez_arrival *arrival, uint16_t index) {
    tendon_bluez_names names;
    int count = tendon_bluez_count_sockets(index, &names);
    return count >= 0 && count > names.elsewhere + (arrival->lease < 0); /* its own is shown, if it could be */
}

/** Whether the adapter is what is waited for. One that is off is looked at again later. */
static bool is_enough(tendon_bluez_arrival *arrival, uint16_t index, uint64_t now) {
    struct hci_dev_info info;
    if (!is_wanted(arrival, index)) {
        return false;
    }
    if (!arrival->usable) {
        return true;
    }
    if (hci_devinfo(index, &info) < 0) {
        return false; /* it went away while it was off; its event follows when it comes back */
    }
    bool off = (info.flags & TENDON_BLUEZ_IS_UP) == 0;
    if (!off || !has_user(arrival, index)) {
        return true;
    }
    arrival->off |= index < 32 ? UINT32_C(1) << index : 0;
    arrival->source.deadline = now + TENDON_BLUEZ_OFF_CHECK_MS;
    return false;
}

/** The response to Read Controller Index List: adapters that were there before. */
static bool lists_enough(tendon_bluez_arrival *arrival, const tendon_management_event *event, uint64_t now) {
    uint16_t indexes[TENDON_BLUEZ_INDEXES_MAX];
    if (event->opcode != TENDON_MANAGEMENT_READ_INDEX_LIST || event->status != TENDON_MANAGEMENT_SUCCESS) {
        return false;
    }
    tendon_status count = tendon_bluez_decode_indexes(event->data, event->length, indexes);
    for (tendon_status i = 0; i < count; i++) {
        if (is_enough(arrival, indexes[i], now)) {
            return true;
        }
    }
    return false;
}

static bool is_arrival(tendon_bluez_arrival *arrival, const tendon_management_event *event, uint64_t now) {
    switch (event->code) {
    case TENDON_MANAGEMENT_INDEX_ADDED:
    case TENDON_MANAGEMENT_NEW_SETTINGS:
        return is_enough(arrival, event->index, now);
    case TENDON_MANAGEMENT_UNCONFIGURED_INDEX_ADDED: /* opening it says what it lacks */
        return is_wanted(arrival, event->index);
    case TENDON_MANAGEMENT_COMMAND_COMPLETE:
        return lists_enough(arrival, event, now);
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
            is_arrival(arrival, &event, now)) {
            finish(arrival, TENDON_OK, now);
            return;
        }
    }
}

/** The programs that could switch the adapters on may have ended, which no event reports. */
static void look_again(void *context, uint64_t now) {
    tendon_bluez_arrival *arrival = context;
    uint32_t off = arrival->off;
    arrival->off = 0;
    arrival->source.deadline = UINT64_MAX;
    for (uint16_t index = 0; off != 0; index++, off >>= 1) {
        if ((off & 1) != 0 && is_enough(arrival, index, now)) {
            finish(arrival, TENDON_OK, now);
            return;
        }
    }
}

static tendon_status await(tendon_bluez_arrival *arrival, tendon_loop *loop, const char *name) {
    arrival->loop = loop;
    tendon_source_init(&arrival->source, -1, arrival, ready, look_again);
    tendon_status valid = tendon_bluez_parse_name(name, &arrival->name);
    if (valid < 0) {
        return valid;
    }
    tendon_status fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    if (fd < 0) {
        return fd;
    }
    arrival->source.fd = fd;
    arrival->lease = tendon_bluez_lease(HCI_DEV_NONE, TENDON_BLUEZ_USE_WATCHER);
    arrival->source.interest = TENDON_READABLE;
    /* Asked once the socket gets events: an adapter is in the list, or its event follows. */
    tendon_status status = tendon_loop_add(loop, &arrival->source);
    if (status >= 0) {
        status = tendon_bluez_manage_later(fd, TENDON_MANAGEMENT_READ_INDEX_LIST, TENDON_MANAGEMENT_NO_INDEX, NULL, 0);
    }
    if (status < 0) {
        tendon_bluez_arrival_close(arrival);
    }
    return status < 0 ? status : TENDON_OK;
}

tendon_status tendon_bluez_await_adapter(tendon_bluez_arrival *arrival, tendon_loop *loop, const char *name,
                                         void *context,
                                         void (*on_adapter)(void *context, tendon_status status, uint64_t now)) {
    *arrival = (tendon_bluez_arrival){.context = context, .on_adapter = on_adapter};
    return await(arrival, loop, name);
}

tendon_status tendon_bluez_await_usable_adapter(tendon_bluez_arrival *arrival, tendon_loop *loop, const char *name,
                                                void *context,
                                                void (*on_adapter)(void *context, tendon_status status, uint64_t now)) {
    *arrival = (tendon_bluez_arrival){.context = context, .on_adapter = on_adapter, .usable = true};
    return await(arrival, loop, name);
}

void tendon_bluez_arrival_close(tendon_bluez_arrival *arrival) {
    if (arrival->source.fd < 0) {
        return;
    }
    tendon_loop_remove(arrival->loop, &arrival->source);
    tendon_bluez_close_watcher(&arrival->source, &arrival->lease);
}

#endif
