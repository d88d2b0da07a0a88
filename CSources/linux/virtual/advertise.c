/* SPDX-License-Identifier: MIT */
/*
 * Scanning and advertising on the virtual radio. A scanner binds a datagram socket "scan-..." in the directory; an
 * advertiser sends one datagram to each of them every interval:
 *   'T' 'A' version(1) address(6, printed order) kind(1) length(2) data length(2) scan response
 * It carries both payloads; a passive scanner takes the first only, as if it had not sent a scan request. Version 2 has
 * the RSSI of this scanner (1, dBm, signed) after the kind, for programs that simulate where devices are.
 */
#include "../pairing/pairing.h"
#include "../socket_link.h"
#include "../store/directory.h"
#include "radio.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    VERSION = 1,
    VERSION_RSSI = 2,
    DATAGRAM_MAX = 3 + 8 + 2 + 2 + 2 * TENDON_AD_EXTENDED_MAX,
    RSSI_DBM = -40,
    RECEIVE_BATCH = 32,  /* datagrams per wake-up */
    ENTRIES_MAX = 1024,  /* directory entries looked at per interval */
    SCANNERS_MAX = 64,   /* scanners served per interval */
    SCAN_NAMES_MAX = 256 /* scanners that one process may have */
};
#define SCAN_PREFIX "scan-"

socklen_t tendon_virtual_path(const tendon_virtual_radio *radio, const char *name, struct sockaddr_un *out) {
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    snprintf(out->sun_path, sizeof out->sun_path, "%s/%s", radio->directory, name); /* sizes: see the header */
    return (socklen_t)sizeof *out;
}

static uint32_t fnv1a(uint32_t hash, const void *bytes, size_t length) {
    const uint8_t *b = bytes;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ b[i]) * 16777619u;
    }
    return hash;
}

/** Works like a controller's duplicate filter: returns true if the same data was reported recently. */
static bool is_duplicate(tendon_virtual_radio *radio, const tendon_ad_report *report) {
    uint32_t hash = fnv1a(2166136261u, report->address.bytes, sizeof report->address.bytes);
    hash = fnv1a(hash, &report->address.type, sizeof report->address.type);
    hash = fnv1a(hash, &report->properties, sizeof report->properties);
    hash = fnv1a(hash, report->data, report->length);
    uint32_t known = radio->seen_count < TENDON_VIRTUAL_DUPLICATES ? radio->seen_count : TENDON_VIRTUAL_DUPLICATES;
    for (uint32_t i = 0; i < known; i++) {
        if (radio->seen[i] == hash) {
            return true;
        }
    }
    radio->seen[radio->seen_count++ % TENDON_VIRTUAL_DUPLICATES] = hash;
    return false;
}

static void report(tendon_virtual_radio *radio, const tendon_ad_report *item, uint64_t now) {
    if (radio->filter_duplicates && is_duplicate(radio, item)) {
        return;
    }
    tendon_radio_report(&radio->radio, item, now);
}

static void take_datagram(tendon_virtual_radio *radio, const uint8_t *bytes, size_t length, uint64_t now) {
    tendon_reader reader = tendon_reader_make(bytes, length);
    uint8_t magic0 = tendon_read_u8(&reader), magic1 = tendon_read_u8(&reader), version = tendon_read_u8(&reader);
    const uint8_t *address = tendon_read_bytes(&reader, 6);
    tendon_ad_report item = {.rssi = RSSI_DBM, .tx_power = TENDON_RSSI_UNKNOWN, .primary_phy = 1, .set_id = 0xFF};
    item.address.type = tendon_read_u8(&reader);
    if (version == VERSION_RSSI) {
        item.rssi = (int8_t)tendon_read_u8(&reader);
    }
    item.length = tendon_read_u16le(&reader);
    item.data = tendon_read_bytes(&reader, item.length);
    size_t response_length = tendon_read_u16le(&reader);
    const uint8_t *response = tendon_read_bytes(&reader, response_length);
    if (!tendon_reader_ok(&reader) || tendon_reader_remaining(&reader) != 0 || magic0 != 'T' || magic1 != 'A' ||
        (version != VERSION && version != VERSION_RSSI) || item.length > TENDON_AD_EXTENDED_MAX ||
        response_length > TENDON_AD_EXTENDED_MAX) {
        radio->radio.malformed++;
        return;
    }
    memcpy(item.address.bytes, address, 6);
    if (tendon_address_equal(&item.address, &radio->radio.address)) {
        return; /* a radio does not receive its own advertisements */
    }
    bool legacy = item.length <= TENDON_AD_LEGACY_MAX && response_length <= TENDON_AD_LEGACY_MAX;
    item.properties = legacy ? TENDON_AD_CONNECTABLE | TENDON_AD_SCANNABLE | TENDON_AD_LEGACY : TENDON_AD_CONNECTABLE;
    item.secondary_phy = legacy ? 0 : 1;
    report(radio, &item, now);
    if (radio->active_scan && radio->radio.scanning && legacy) {
        item.properties |= TENDON_AD_SCAN_RESPONSE;
        item.data = response;
        item.length = response_length;
        report(radio, &item, now);
    }
}

/** A controller does not scan for us while it connects, see tendon_radio_connect(). */
static bool connecting(const tendon_virtual_radio *radio) {
    const tendon_link *link = radio->radio.links;
    while (link != NULL && (link->accepted || tendon_link_was_open(link))) {
        link = link->next;
    }
    return link != NULL;
}

static void scan_ready(void *context, uint32_t events, uint64_t now) {
    tendon_virtual_radio *radio = context;
    (void)events;
    for (int i = 0; i < RECEIVE_BATCH && radio->scan_source.fd >= 0; i++) {
        uint8_t bytes[DATAGRAM_MAX + 1];
        ssize_t length = recv(radio->scan_source.fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (length < 0) {
            return;
        }
        if (!connecting(radio)) {
            take_datagram(radio, bytes, (size_t)length, now);
        }
    }
}

static tendon_status bind_scanner(tendon_virtual_radio *radio, int fd) {
    for (unsigned number = 0; number < SCAN_NAMES_MAX; number++) {
        struct sockaddr_un path;
        snprintf(radio->scan_name, sizeof radio->scan_name, SCAN_PREFIX "%d-%u", (int)getpid(), number);
        socklen_t length = tendon_virtual_path(radio, radio->scan_name, &path);
        if (bind(fd, (struct sockaddr *)&path, length) == 0) {
            return TENDON_OK;
        }
        if (errno != EADDRINUSE) {
            break;
        }
    }
    return TENDON_SYSTEM_ERROR(errno);
}

tendon_status tendon_virtual_scan_start(tendon_radio *base, const tendon_scan_parameters *parameters) {
    tendon_virtual_radio *radio = (tendon_virtual_radio *)base;
    if (parameters->coded) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    tendon_status status = bind_scanner(radio, fd);
    if (status >= 0) {
        radio->active_scan = parameters->active;
        radio->filter_duplicates = parameters->filter_duplicates;
        radio->seen_count = 0;
        tendon_source_init(&radio->scan_source, fd, radio, scan_ready, NULL);
        radio->scan_source.interest = TENDON_READABLE;
        status = tendon_loop_add(base->loop, &radio->scan_source);
        if (status < 0) {
            (void)unlinkat(radio->directory_fd, radio->scan_name, 0);
        }
    }
    if (status < 0) {
        radio->scan_source.fd = -1;
        close(fd);
    }
    return status;
}

tendon_status tendon_virtual_scan_stop(tendon_radio *base) {
    tendon_virtual_radio *radio = (tendon_virtual_radio *)base;
    if (radio->scan_source.fd >= 0) {
        (void)unlinkat(radio->directory_fd, radio->scan_name, 0);
        tendon_loop_remove(base->loop, &radio->scan_source);
        close(radio->scan_source.fd);
        radio->scan_source.fd = -1;
    }
    return TENDON_OK;
}

static tendon_status datagram(const tendon_virtual_radio *radio, uint8_t *out, size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    tendon_write_bytes(&writer, "TA", 2);
    tendon_write_u8(&writer, VERSION);
    tendon_write_bytes(&writer, radio->radio.address.bytes, 6);
    tendon_write_u8(&writer, radio->radio.address.type);
    tendon_write_u16le(&writer, radio->data_length);
    tendon_write_bytes(&writer, radio->data, radio->data_length);
    tendon_write_u16le(&writer, radio->scan_response_length);
    tendon_write_bytes(&writer, radio->scan_response, radio->scan_response_length);
    return tendon_writer_result(&writer);
}

/** Returns false if the scanner has not read the previous data yet. */
static bool send_to_scanner(const tendon_virtual_radio *radio, const char *name, const uint8_t *bytes, size_t length) {
    struct sockaddr_un path;
    socklen_t path_length = tendon_virtual_path(radio, name, &path);
    ssize_t sent =
        sendto(radio->advertise_fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&path, path_length);
    if (sent < 0 && errno == ECONNREFUSED) {
        (void)unlinkat(radio->directory_fd, name, 0); /* its process was killed */
    }
    return sent >= 0;
}

typedef struct round_state {
    const tendon_virtual_radio *radio;
    const uint8_t *bytes;
    size_t length;
    int served;
} round_state;

static bool visit_entry(void *context, const char *name) {
    round_state *state = context;
    if (strncmp(name, SCAN_PREFIX, sizeof SCAN_PREFIX - 1) == 0 && strlen(name) < TENDON_VIRTUAL_NAME_SIZE) {
        state->served += send_to_scanner(state->radio, name, state->bytes, state->length) ? 1 : 0;
    }
    return state->served < SCANNERS_MAX;
}

static void advertise_expired(void *context, uint64_t now) {
    tendon_virtual_radio *radio = context;
    uint8_t bytes[DATAGRAM_MAX];
    radio->advertise_source.deadline = now + radio->interval_ms;
    tendon_status length = datagram(radio, bytes, sizeof bytes);
    if (length >= 0) {
        round_state state = {.radio = radio, .bytes = bytes, .length = (size_t)length};
        tendon_directory_each(radio->directory_fd, ENTRIES_MAX, visit_entry, &state);
    }
}

tendon_status tendon_virtual_advertise_start(tendon_radio *base, const tendon_advertise_parameters *parameters) {
    tendon_virtual_radio *radio = (tendon_virtual_radio *)base;
    if (radio->advertise_fd >= 0) {
        return TENDON_RADIO_ERROR_ALREADY_STARTED;
    }
    if (parameters->scan_response_length > TENDON_AD_LEGACY_MAX ||
        (parameters->length > TENDON_AD_LEGACY_MAX && parameters->scan_response_length != 0)) {
        return TENDON_ERROR_INVALID_ARGUMENT; /* extended advertising is connectable or scannable, not both */
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    radio->data_length = (uint16_t)parameters->length;
    radio->scan_response_length = (uint16_t)parameters->scan_response_length;
    if (parameters->length != 0) {
        memcpy(radio->data, parameters->data, parameters->length);
    }
    if (parameters->scan_response_length != 0) {
        memcpy(radio->scan_response, parameters->scan_response, parameters->scan_response_length);
    }
    radio->interval_ms = parameters->interval_ms;
    tendon_source_init(&radio->advertise_source, -1, radio, NULL, advertise_expired);
    radio->advertise_source.deadline = 0;
    tendon_status status = tendon_loop_add(base->loop, &radio->advertise_source);
    if (status < 0) {
        close(fd);
        return status;
    }
    radio->advertise_fd = fd;
    return TENDON_OK;
}

tendon_status tendon_virtual_advertise_stop(tendon_radio *base) {
    tendon_virtual_radio *radio = (tendon_virtual_radio *)base;
    if (radio->advertise_fd >= 0) {
        tendon_loop_remove(base->loop, &radio->advertise_source);
        close(radio->advertise_fd);
        radio->advertise_fd = -1;
    }
    return TENDON_OK;
}
