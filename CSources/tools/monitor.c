/* SPDX-License-Identifier: MIT */
/* The kernel's monitor channel, written to a capture. */
#include "../linux/adapter/adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)
#include "tendon/linux/time.h"
#include "tendon/tools/monitor.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#if !defined(__GLIBC__)
#pragma GCC diagnostic ignored "-Wsign-conversion" /* musl's CMSG_NXTHDR() */
#endif

/** Maximum number of packets written per wake-up. */
#define BATCH 64
/** In front of every packet of the channel: opcode, adapter, length. */
#define HEADER 6u
/** Maximum number of waiting packets that are written when the monitor is closed. */
#define DRAIN_LIMIT 20000

/** When the kernel saw the packet, in microseconds since 1970. */
static uint64_t time_of(struct msghdr *message) {
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMP) {
            struct timeval time;
            memcpy(&time, CMSG_DATA(part), sizeof time);
            return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
        }
    }
    return tendon_realtime_us();
}

static void write_packet(tendon_bluez_monitor *monitor, const uint8_t *packet, size_t length, uint64_t unix_us) {
    tendon_reader reader = tendon_reader_make(packet, length);
    tendon_capture_record record = {.unix_us = unix_us};
    record.opcode = tendon_read_u16le(&reader);
    record.adapter = tendon_read_u16le(&reader);
    record.original_length = tendon_read_u16le(&reader);
    record.length = tendon_reader_remaining(&reader);
    record.data = tendon_read_bytes(&reader, record.length);
    if (!tendon_reader_ok(&reader) ||
        (!monitor->all && record.adapter != monitor->index && record.adapter != HCI_DEV_NONE)) {
        return;
    }
    record.type = tendon_capture_monitor_type(record.opcode, &record.incoming);
    if (record.type == 0 && monitor->capture->datalink != TENDON_CAPTURE_MONITOR) {
        return;
    }
    if (tendon_capture_write(monitor->capture, &record) >= 0) {
        monitor->records++;
    }
}

/** Writes one packet. Returns false if none waits, or if the socket failed. */
static bool take(tendon_bluez_monitor *monitor) {
    uint8_t packet[HEADER + TENDON_CAPTURE_PACKET_MAX];
    union {
        struct cmsghdr align;
        uint8_t bytes[CMSG_SPACE(sizeof(struct timeval))];
    } control;
    struct iovec vector = {.iov_base = packet, .iov_len = sizeof packet};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got = recvmsg(monitor->source.fd, &message, MSG_DONTWAIT);
    if (got < 0) {
        return errno == EINTR;
    }
    write_packet(monitor, packet, (size_t)got, time_of(&message));
    return true;
}

static void stop(tendon_bluez_monitor *monitor) {
    tendon_loop_remove(monitor->loop, &monitor->source);
    tendon_bluez_close_watcher(&monitor->source, &monitor->lease);
}

static void ready(void *context, uint32_t events, uint64_t now) {
    tendon_bluez_monitor *monitor = context;
    (void)events;
    (void)now;
    for (int i = 0; i < BATCH && take(monitor); i++) {
    }
    if (monitor->capture->status < 0) {
        stop(monitor);
    }
}

tendon_status tendon_bluez_monitor_open(tendon_bluez_monitor *monitor, tendon_loop *loop, tendon_capture *capture,
                                        const char *name) {
    tendon_bluez_name adapter;
    tendon_status index = tendon_bluez_parse_name(name, &adapter);
    index = index >= 0 && name != NULL ? tendon_bluez_index_of(&adapter) : index;
    *monitor = (tendon_bluez_monitor){.loop = loop, .capture = capture, .all = name == NULL, .index = (uint16_t)index};
    tendon_source_init(&monitor->source, -1, monitor, ready, NULL);
    if (index < 0) {
        return index;
    }
    tendon_status fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_MONITOR);
    if (fd < 0) {
        return fd;
    }
    const int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_TIMESTAMP, &on, sizeof on);
    tendon_bluez_set_buffer(fd, tendon_bluez_buffer_size(tendon_bluez_memory(), 1));
    monitor->source.fd = fd;
    monitor->lease = tendon_bluez_lease(HCI_DEV_NONE, TENDON_BLUEZ_USE_WATCHER);
    monitor->source.interest = TENDON_READABLE;
    tendon_status status = tendon_loop_add(loop, &monitor->source);
    if (status < 0) {
        tendon_bluez_close_watcher(&monitor->source, &monitor->lease);
    }
    return status;
}

uint32_t tendon_bluez_monitor_lost(const tendon_bluez_monitor *monitor) {
    return monitor->source.fd < 0 ? 0 : tendon_bluez_dropped(monitor->source.fd);
}

void tendon_bluez_monitor_close(tendon_bluez_monitor *monitor) {
    if (monitor->source.fd < 0) {
        return;
    }
    for (int i = 0; i < DRAIN_LIMIT && take(monitor); i++) {
    }
    stop(monitor);
}

#endif
