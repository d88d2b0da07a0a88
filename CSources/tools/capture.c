/* SPDX-License-Identifier: MIT */
/* Capture files on descriptors, and traffic of links written as HCI. */
#include "tendon/tools/capture.h"
#include "tendon/linux/time.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* ---- writing ---- */

/** Writes all of both parts; repeats the write after a partial write. */
static tendon_status write_all(tendon_capture *capture, const uint8_t *head, size_t head_length, const uint8_t *body,
                               size_t body_length) {
    struct iovec parts[2] = {{.iov_base = (void *)(uintptr_t)head, .iov_len = head_length},
                             {.iov_base = (void *)(uintptr_t)body, .iov_len = body_length}};
    while (capture->status >= 0 && parts[0].iov_len + parts[1].iov_len > 0) {
        ssize_t written = writev(capture->fd, parts, 2);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            capture->status = TENDON_SYSTEM_ERROR(written < 0 ? errno : ENOSPC);
            break;
        }
        capture->bytes += (uint64_t)written;
        for (int i = 0; i < 2; i++) {
            size_t taken = (size_t)written < parts[i].iov_len ? (size_t)written : parts[i].iov_len;
            parts[i].iov_base = (uint8_t *)parts[i].iov_base + taken;
            parts[i].iov_len -= taken;
            written -= (ssize_t)taken;
        }
    }
    return capture->status;
}

tendon_status tendon_capture_attach(tendon_capture *capture, int fd, uint32_t datalink) {
    uint8_t header[TENDON_CAPTURE_HEADER_SIZE];
    static const uint8_t nothing = 0;
    *capture = (tendon_capture){.fd = fd, .datalink = datalink};
    if (datalink != TENDON_CAPTURE_H4 && datalink != TENDON_CAPTURE_MONITOR) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    (void)tendon_capture_encode_header(datalink, header, sizeof header);
    return write_all(capture, header, sizeof header, &nothing, 0);
}

/** @return a descriptor, or an error; never a regular file behind a symbolic link, which another user may have made. */
static tendon_status open_for_writing(const char *path) {
    struct stat state;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600); /* the data of a device is private */
    bool followed = fd < 0 && errno == ELOOP;
    if (followed) {
        fd = open(path, O_WRONLY | O_CLOEXEC); /* /dev/stdout is a symbolic link */
    }
    if (fd < 0) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    tendon_status status = fd;
    if (fstat(fd, &state) != 0) {
        status = TENDON_SYSTEM_ERROR(errno);
    } else if (S_ISREG(state.st_mode) && followed) {
        status = TENDON_SYSTEM_ERROR(ELOOP);
    } else if (S_ISREG(state.st_mode) && state.st_uid != geteuid()) {
        status = TENDON_ERROR_FILE_PERMISSION;
    } else if (S_ISREG(state.st_mode) && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        status = TENDON_ERROR_BUSY; /* before it is emptied; a file system without locks is written to without one */
    } else if (S_ISREG(state.st_mode)) {
        /* EPERM although the file is ours: a file system without modes. */
        bool closed_to_others = fchmod(fd, 0600) == 0 || errno == EPERM;
        status = closed_to_others && ftruncate(fd, 0) == 0 ? fd : TENDON_SYSTEM_ERROR(errno);
    }
    if (status < 0) {
        close(fd);
    }
    return status;
}

tendon_status tendon_capture_create(tendon_capture *capture, const char *path, uint32_t datalink) {
    tendon_status fd = open_for_writing(path);
    if (fd < 0) {
        *capture = (tendon_capture){.fd = -1, .status = fd};
        return fd;
    }
    tendon_status status = tendon_capture_attach(capture, fd, datalink);
    capture->owned = true;
    if (status < 0) {
        (void)tendon_capture_close(capture);
    }
    return status;
}

tendon_status tendon_capture_close(tendon_capture *capture) {
    if (capture->owned && capture->fd >= 0 && close(capture->fd) != 0 && capture->status >= 0) {
        capture->status = TENDON_SYSTEM_ERROR(errno);
    }
    capture->fd = -1;
    capture->owned = false;
    return capture->status;
}

tendon_status tendon_capture_write(tendon_capture *capture, const tendon_capture_record *record) {
    uint8_t head[TENDON_CAPTURE_RECORD_HEADER_SIZE + 1];
    static const uint8_t nothing = 0;
    if (capture->fd < 0 || capture->status < 0) {
        return capture->status < 0 ? capture->status : TENDON_ERROR_WRONG_STATE;
    }
    tendon_status length = tendon_capture_encode_record(capture->datalink, record, head, sizeof head);
    if (length < 0) {
        return length;
    }
    tendon_status status =
        write_all(capture, head, (size_t)length, record->length > 0 ? record->data : &nothing, record->length);
    capture->records += status >= 0 ? 1 : 0;
    return status;
}

/** Adapter 0 has the advertisements, each connection an adapter of its own: Wireshark has one table of attributes and
 * one list of outstanding requests per adapter, so it would take the handles of one device for those of another. */
enum { ADAPTER_OF_REPORTS = 0 };

static tendon_status write_packet(tendon_capture *capture, uint16_t adapter, uint8_t type, bool incoming,
                                  const tendon_writer *packet, uint64_t unix_us) {
    if (packet->status < 0) {
        return packet->status;
    }
    return tendon_capture_write(capture, &(tendon_capture_record){.unix_us = unix_us,
                                                                  .type = type,
                                                                  .incoming = incoming,
                                                                  .adapter = adapter,
                                                                  .data = packet->data,
                                                                  .length = packet->length});
}

tendon_status tendon_capture_connected(tendon_capture *capture, uint16_t handle, const tendon_address *peer,
                                       bool peripheral, uint64_t unix_us) {
    uint8_t bytes[32], wire[6];
    tendon_writer writer = tendon_writer_make(bytes, sizeof bytes);
    tendon_address_to_wire(peer, wire);
    tendon_write_u8(&writer, TENDON_HCI_LE_META);
    tendon_write_u8(&writer, 19);
    tendon_write_u8(&writer, TENDON_HCI_LE_CONNECTION_COMPLETE);
    tendon_write_u8(&writer, 0); /* status */
    tendon_write_u16le(&writer, handle);
    tendon_write_u8(&writer, peripheral ? 1 : 0);
    tendon_write_u8(&writer, peer->type);
    tendon_write_bytes(&writer, wire, sizeof wire);
    tendon_write_u16le(&writer, 24); /* interval 30 ms, latency 0, supervision timeout 2 s: plausible, not measured */
    tendon_write_u16le(&writer, 0);
    tendon_write_u16le(&writer, 200);
    tendon_write_u8(&writer, 0);
    return write_packet(capture, handle, TENDON_HCI_PACKET_EVENT, true, &writer, unix_us);
}

static uint8_t hci_reason(tendon_status reason) {
    switch (reason) {
    case TENDON_ERROR_CANCELLED:
        return 0x16; /* terminated by local host */
    case TENDON_RADIO_ERROR_OUT_OF_RANGE:
        return 0x08; /* connection timeout */
    default:
        return reason < 0 && TENDON_STATUS_LAYER(reason) == TENDON_LAYER_HCI ? TENDON_STATUS_CODE(reason) : 0x13;
    }
}

tendon_status tendon_capture_disconnected(tendon_capture *capture, uint16_t handle, tendon_status reason,
                                          uint64_t unix_us) {
    uint8_t bytes[8];
    tendon_writer writer = tendon_writer_make(bytes, sizeof bytes);
    tendon_write_u8(&writer, TENDON_HCI_DISCONNECTION_COMPLETE);
    tendon_write_u8(&writer, 4);
    tendon_write_u8(&writer, 0);
    tendon_write_u16le(&writer, handle);
    tendon_write_u8(&writer, hci_reason(reason));
    return write_packet(capture, handle, TENDON_HCI_PACKET_EVENT, true, &writer, unix_us);
}

tendon_status tendon_capture_att(tendon_capture *capture, uint16_t handle, bool incoming, const uint8_t *pdu,
                                 size_t length, uint64_t unix_us) {
    uint8_t bytes[4 + TENDON_L2CAP_HEADER_SIZE + TENDON_ATT_MTU_MAX + 2];
    tendon_writer writer = tendon_writer_make(bytes, sizeof bytes);
    uint32_t boundary = incoming ? TENDON_ACL_START_CONTROLLER : TENDON_ACL_START_HOST;
    tendon_write_u16le(&writer, (uint16_t)((handle & 0x0FFFu) | boundary << 12));
    tendon_write_u16le(&writer, (uint16_t)(length + TENDON_L2CAP_HEADER_SIZE));
    tendon_write_u16le(&writer, (uint16_t)length);
    tendon_write_u16le(&writer, TENDON_L2CAP_CID_ATT);
    tendon_write_bytes(&writer, pdu, length);
    return write_packet(capture, handle, TENDON_HCI_PACKET_ACL, incoming, &writer, unix_us);
}

tendon_status tendon_capture_report(tendon_capture *capture, const tendon_ad_report *report, uint64_t unix_us) {
    uint8_t bytes[2 + 1 + 1 + 1 + 1 + 6 + 1 + TENDON_AD_LEGACY_MAX + 1], wire[6];
    if (report->length > TENDON_AD_LEGACY_MAX) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    uint8_t type = (report->properties & TENDON_AD_SCAN_RESPONSE) != 0 ? 4
                   : (report->properties & TENDON_AD_DIRECTED) != 0    ? 1
                   : (report->properties & TENDON_AD_CONNECTABLE) != 0 ? 0
                   : (report->properties & TENDON_AD_SCANNABLE) != 0   ? 2
                                                                       : 3;
    tendon_writer writer = tendon_writer_make(bytes, sizeof bytes);
    tendon_address_to_wire(&report->address, wire);
    tendon_write_u8(&writer, TENDON_HCI_LE_META);
    tendon_write_u8(&writer, (uint8_t)(12 + report->length));
    tendon_write_u8(&writer, TENDON_HCI_LE_ADVERTISING_REPORT);
    tendon_write_u8(&writer, 1);
    tendon_write_u8(&writer, type);
    tendon_write_u8(&writer, report->address.type);
    tendon_write_bytes(&writer, wire, sizeof wire);
    tendon_write_u8(&writer, (uint8_t)report->length);
    tendon_write_bytes(&writer, report->data, report->length);
    tendon_write_u8(&writer, (uint8_t)report->rssi);
    return write_packet(capture, ADAPTER_OF_REPORTS, TENDON_HCI_PACKET_EVENT, true, &writer, unix_us);
}

/** When the PDU arrived that was received last. @param now UNIX microseconds. */
static uint64_t arrival_of(const tendon_link *link, uint64_t now) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    const uint64_t monotonic = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    return link->received_at > 0 && link->received_at < monotonic ? now - (monotonic - link->received_at) / 1000u : now;
}

void tendon_capture_tap(void *context, const tendon_link *link, tendon_tap_kind kind, const uint8_t *pdu,
                        size_t length) {
    tendon_capture *capture = context;
    uint64_t now = tendon_realtime_us();
    switch (kind) {
    case TENDON_TAP_OPENED:
        (void)tendon_capture_connected(capture, link->handle, &link->peer, link->accepted, now);
        break;
    case TENDON_TAP_CLOSED:
        (void)tendon_capture_disconnected(capture, link->handle, link->reason, now);
        break;
    case TENDON_TAP_RECEIVED:
        (void)tendon_capture_att(capture, link->handle, true, pdu, length, arrival_of(link, now));
        break;
    default:
        (void)tendon_capture_att(capture, link->handle, false, pdu, length, now);
        break;
    }
}

/* ---- reading ---- */

/** Fills the buffer with at least @p wanted bytes, if the file has as many. */
static tendon_status fill(tendon_capture_reader *reader, size_t wanted) {
    if (reader->end - reader->start >= wanted) {
        return TENDON_OK;
    }
    memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
    reader->end -= reader->start;
    reader->start = 0;
    while (reader->end < wanted) {
        ssize_t got = read(reader->fd, reader->buffer + reader->end, sizeof reader->buffer - reader->end);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return TENDON_SYSTEM_ERROR(errno);
        }
        if (got == 0) {
            return TENDON_OK;
        }
        reader->end += (size_t)got;
    }
    return TENDON_OK;
}

tendon_status tendon_capture_open_fd(tendon_capture_reader *reader, int fd) {
    memset(reader, 0, sizeof *reader);
    reader->fd = fd;
    tendon_status status = fill(reader, TENDON_CAPTURE_HEADER_SIZE);
    if (status < 0) {
        return status;
    }
    size_t offset = 0;
    status = tendon_capture_decode_header(reader->buffer, reader->end, &reader->datalink, &offset);
    if (status < 0) {
        reader->offset = offset;
        return status == TENDON_ERROR_INCOMPLETE ? TENDON_ERROR_TRUNCATED : status;
    }
    reader->offset = reader->start = TENDON_CAPTURE_HEADER_SIZE;
    return TENDON_OK;
}

tendon_status tendon_capture_open(tendon_capture_reader *reader, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        tendon_status status = TENDON_SYSTEM_ERROR(errno);
        memset(reader, 0, sizeof *reader);
        reader->fd = -1;
        return status;
    }
    tendon_status status = tendon_capture_open_fd(reader, fd);
    reader->owned = true;
    if (status < 0) {
        tendon_capture_reader_close(reader);
    }
    return status;
}

/** Skips a record that is too long for the buffer. */
static tendon_status skip(tendon_capture_reader *reader, size_t length) {
    size_t left = length;
    while (left > 0) {
        size_t piece = left < TENDON_CAPTURE_PACKET_MAX ? left : TENDON_CAPTURE_PACKET_MAX;
        tendon_status status = fill(reader, piece);
        if (status < 0) {
            return status;
        }
        size_t here = reader->end - reader->start < piece ? reader->end - reader->start : piece;
        if (here == 0) {
            reader->offset += length - left;
            return TENDON_ERROR_TRUNCATED;
        }
        reader->start += here;
        left -= here;
    }
    reader->offset += length;
    reader->skipped++;
    return TENDON_OK;
}

/** Returns 1 for a record, 0 at the end, < 0 for an error. TENDON_ERROR_BUSY: a record was skipped; call it again. */
static tendon_status next_record(tendon_capture_reader *reader, tendon_capture_record *out) {
    size_t wanted = TENDON_CAPTURE_RECORD_HEADER_SIZE;
    tendon_status status = TENDON_ERROR_INCOMPLETE;
    size_t offset = 0;
    for (int pass = 0; pass < 2 && status == TENDON_ERROR_INCOMPLETE; pass++) { /* the header, then all of it */
        status = fill(reader, wanted);
        if (status < 0) {
            return status;
        }
        status = tendon_capture_decode_record(reader->datalink, reader->buffer + reader->start,
                                              reader->end - reader->start, out, &offset);
        wanted = status > 0 ? (size_t)status : offset;
        if (status != TENDON_ERROR_MALFORMED &&
            wanted > TENDON_CAPTURE_RECORD_HEADER_SIZE + TENDON_CAPTURE_PACKET_MAX) {
            status = skip(reader, wanted); /* also one that is in the buffer by chance */
            return status < 0 ? status : TENDON_ERROR_BUSY;
        }
    }
    if (status == TENDON_ERROR_INCOMPLETE) {
        size_t left = reader->end - reader->start;
        reader->offset += left;
        return left == 0 ? 0 : TENDON_ERROR_TRUNCATED;
    }
    if (status < 0) {
        reader->offset += offset;
        return status;
    }
    reader->start += (size_t)status;
    reader->offset += (uint64_t)status;
    if (out->type == 0 && reader->datalink == TENDON_CAPTURE_H4) {
        reader->foreign++;
        return TENDON_ERROR_BUSY;
    }
    return 1;
}

tendon_status tendon_capture_next(tendon_capture_reader *reader, tendon_capture_record *out) {
    tendon_status status = reader->status;
    if (status < 0) {
        return status;
    }
    do {
        status = next_record(reader, out);
    } while (status == TENDON_ERROR_BUSY); /* ends: each turn takes bytes off the file */
    reader->status = status < 0 ? status : TENDON_OK;
    return status;
}

void tendon_capture_reader_close(tendon_capture_reader *reader) {
    if (reader->owned && reader->fd >= 0) {
        close(reader->fd);
    }
    reader->fd = -1;
    reader->owned = false;
}
