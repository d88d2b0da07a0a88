/* SPDX-License-Identifier: MIT */
/*
 * Capture files: btsnoop (the format that Wireshark and BlueZ's btmon read).
 *
 * Three layers: the codec of the format (sans I/O); a writer and a reader on a descriptor; and a decoder (sans I/O)
 * that converts records to connections, ATT PDUs and advertisements, for replays.
 */
#ifndef TENDON_TOOLS_CAPTURE_H
#define TENDON_TOOLS_CAPTURE_H

#include "tendon/linux/radio.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Datalink types: content of the records of a file. */
enum {
    TENDON_CAPTURE_H1 = 1001,     /**< HCI packets, whose type is in the flags (only for reading) */
    TENDON_CAPTURE_H4 = 1002,     /**< HCI packets with an H4 type byte */
    TENDON_CAPTURE_MONITOR = 2001 /**< records of the kernel's monitor channel; flags are adapter << 16 | opcode */
};

#define TENDON_CAPTURE_HEADER_SIZE 16
#define TENDON_CAPTURE_RECORD_HEADER_SIZE 24
/** Maximum length of the packet of a record: an ACL packet with its H4 byte. */
#define TENDON_CAPTURE_PACKET_LIMIT 65540u
/** Longest packet that the reader lends; longer packets are skipped and counted. */
#define TENDON_CAPTURE_PACKET_MAX 4096u

/** One record. */
typedef struct tendon_capture_record {
    uint64_t unix_us; /**< microseconds since 1970; 0 for times before */
    uint8_t type;  /**< TENDON_HCI_PACKET_...; 0: not an HCI packet: MONITOR: see opcode; H4: another type, or none */
    bool incoming; /**< from the controller to the host */
    uint16_t adapter;       /**< MONITOR: index; else 0 */
    uint16_t opcode;        /**< MONITOR: the record's opcode; else 0 */
    uint32_t drops;         /**< number of records lost since the capture began, from the file */
    size_t original_length; /**< greater than length if the record was truncated when it was captured */
    const uint8_t *data;    /**< without the H4 byte, unless type is 0; borrowed */
    size_t length;
} tendon_capture_record;

/** Encodes the 16 bytes of the file header. @return 16, or TENDON_ERROR_BUFFER_TOO_SMALL. */
tendon_status tendon_capture_encode_header(uint32_t datalink, uint8_t *out, size_t capacity);
/**
 * @param offset first wrong byte; may be NULL.
 * @return TENDON_OK; TENDON_ERROR_INCOMPLETE (fewer than 16 bytes, correct so far); TENDON_ERROR_MALFORMED;
 *         TENDON_ERROR_UNSUPPORTED for another version or datalink (*datalink is set).
 */
tendon_status tendon_capture_decode_header(const uint8_t *bytes, size_t length, uint32_t *datalink, size_t *offset);

/** Encodes the bytes before record->data: the record header and the H4 byte. @return its length, or an error. */
tendon_status tendon_capture_encode_record(uint32_t datalink, const tendon_capture_record *record, uint8_t *out,
                                           size_t capacity);
/**
 * Decodes the record at the start of @p bytes.
 * @param offset first wrong byte; may be NULL.
 * @return bytes used (> 0); TENDON_ERROR_INCOMPLETE (*offset: bytes needed, as far as known); TENDON_ERROR_MALFORMED.
 */
tendon_status tendon_capture_decode_record(uint32_t datalink, const uint8_t *bytes, size_t length,
                                           tendon_capture_record *out, size_t *offset);

/** Convert between the type of an HCI packet and its monitor opcode; -1 or 0 if no such opcode or type exists. */
int tendon_capture_monitor_opcode(uint8_t type, bool incoming);
uint8_t tendon_capture_monitor_type(uint16_t opcode, bool *incoming);

/* ---- writing ---- */

/** A capture that is being written. The caller's memory. */
typedef struct tendon_capture {
    int fd;
    bool owned;
    uint32_t datalink;
    tendon_status status; /**< sticky: the first write that failed; later ones do nothing */
    uint64_t records, bytes;
} tendon_capture;

/**
 * Creates a file that only its owner can read, for a capture may contain keys. An existing file is emptied, and other
 * users lose their access. Devices, pipes and symbolic links to them are written to as they are.
 * @return TENDON_OK; TENDON_ERROR_FILE_PERMISSION: an existing file belongs to another user; TENDON_ERROR_BUSY: another
 * capture that is not closed writes to the file, which stays as it is;
 * TENDON_SYSTEM_ERROR(ELOOP): a symbolic link to a file; TENDON_SYSTEM_ERROR(errno). Nothing stays open after an error.
 */
tendon_status tendon_capture_create(tendon_capture *capture, const char *path, uint32_t datalink);
/** Writes to an open descriptor, which stays the caller's. */
tendon_status tendon_capture_attach(tendon_capture *capture, int fd, uint32_t datalink);
/**
 * Ends the capture. TENDON_OK means that the kernel accepted every record. If a write failed (for example because the
 * disk is full), the file ends within or after a record, and this function returns the error of that write.
 * @return the sticky status, or the error of the close. A second call does nothing.
 */
tendon_status tendon_capture_close(tendon_capture *capture);

/** Writes one record. The kernel has the record when this function returns, so a crash of the process does not lose it.
 */
tendon_status tendon_capture_write(tendon_capture *capture, const tendon_capture_record *record);

/* Writers for traffic without HCI (the virtual radio, L2CAP sockets): they synthesize HCI packets that Wireshark
 * decodes. In a MONITOR file each connection has an adapter index of its own, equal to its handle, because Wireshark
 * has one table of attributes per adapter: in an H4 file it confuses the characteristics of simultaneous connections.
 */
tendon_status tendon_capture_connected(tendon_capture *capture, uint16_t handle, const tendon_address *peer,
                                       bool peripheral, uint64_t unix_us);
/** Writes a Disconnection Complete event. @param reason of the disconnection; an HCI code, or a status that is
 * converted to the closest HCI code. */
tendon_status tendon_capture_disconnected(tendon_capture *capture, uint16_t handle, tendon_status reason,
                                          uint64_t unix_us);
tendon_status tendon_capture_att(tendon_capture *capture, uint16_t handle, bool incoming, const uint8_t *pdu,
                                 size_t length, uint64_t unix_us);
/** Writes a legacy advertising report; TENDON_ERROR_UNSUPPORTED if the data is longer than 31 bytes. */
tendon_status tendon_capture_report(tendon_capture *capture, const tendon_ad_report *report, uint64_t unix_us);

/** Function for tendon_radio.tap; tap_context is the tendon_capture. */
void tendon_capture_tap(void *capture, const tendon_link *link, tendon_tap_kind kind, const uint8_t *pdu,
                        size_t length);

/* ---- reading ---- */

typedef struct tendon_capture_reader {
    int fd;
    bool owned;
    uint32_t datalink;
    tendon_status status; /**< sticky: the first error */
    uint64_t offset;      /**< file offset of the next record; after an error, of the first wrong byte */
    uint64_t skipped;     /**< records longer than TENDON_CAPTURE_PACKET_MAX */
    uint64_t foreign;     /**< H4: records of other types than HCI packets, or without a type; skipped */
    size_t start, end;
    uint8_t buffer[2 * (TENDON_CAPTURE_RECORD_HEADER_SIZE + TENDON_CAPTURE_PACKET_MAX)];
} tendon_capture_reader;

/** @return TENDON_OK, TENDON_SYSTEM_ERROR(errno), TENDON_ERROR_TRUNCATED, _MALFORMED or _UNSUPPORTED (not a capture).
 */
tendon_status tendon_capture_open(tendon_capture_reader *reader, const char *path);
/** Reads from an open descriptor (a pipe will do), which stays the caller's. */
tendon_status tendon_capture_open_fd(tendon_capture_reader *reader, int fd);
/**
 * Reads the next record; lent until the next call. What is no HCI packet of an H4 file is skipped and counted.
 * @return 1; 0 at the end of the file; TENDON_ERROR_TRUNCATED if the file ends within a record; TENDON_ERROR_MALFORMED;
 * TENDON_SYSTEM_ERROR(errno). After an error, every call returns the same error.
 */
tendon_status tendon_capture_next(tendon_capture_reader *reader, tendon_capture_record *out);
void tendon_capture_reader_close(tendon_capture_reader *reader);
/** Returns the first bytes of a file that is no capture, *length of them, for a message about what it is instead.
 * Borrowed.
 */
static inline const uint8_t *tendon_capture_beginning(const tendon_capture_reader *reader, size_t *length) {
    *length = reader->end;
    return reader->buffer;
}

/* ---- decoding ---- */

#define TENDON_CAPTURE_CONNECTIONS 16

typedef enum tendon_capture_kind {
    TENDON_CAPTURE_CONNECTED = 0, /**< handle, peer, peripheral */
    TENDON_CAPTURE_DISCONNECTED,  /**< handle, peer, reason */
    TENDON_CAPTURE_ATT,           /**< handle, peer, incoming, pdu, length */
    TENDON_CAPTURE_REPORT         /**< report */
} tendon_capture_kind;

/** Lent until the next call on the decoder. */
typedef struct tendon_capture_item {
    tendon_capture_kind kind;
    uint64_t unix_us;
    uint16_t adapter, handle;
    tendon_address peer; /**< type TENDON_ADDRESS_TYPE_ANONYMOUS: connected before the capture started */
    bool peripheral;     /**< the capturing side is the peripheral */
    bool incoming;
    tendon_status reason;
    const uint8_t *pdu;
    size_t length;
    tendon_ad_report report;
} tendon_capture_item;

typedef struct tendon_capture_connection {
    bool used, peripheral;
    uint16_t adapter, handle;
    tendon_address peer;
} tendon_capture_connection;

/** A decoder in the caller's memory, about 20 KB. Opaque except for the counters. */
typedef struct tendon_capture_decoder {
    tendon_l2cap_reassembler reassembler;
    tendon_l2cap_stream streams[TENDON_CAPTURE_CONNECTIONS];
    tendon_capture_connection connections[TENDON_CAPTURE_CONNECTIONS];
    size_t next_connection;
    tendon_capture_item item;
    bool ready, reporting;
    tendon_hci_reports reports;
    uint64_t malformed; /**< HCI packets and frames that are malformed; skipped */
    uint64_t other;     /**< records that contain no item */
} tendon_capture_decoder;

void tendon_capture_decoder_init(tendon_capture_decoder *decoder);
/** Takes one record, borrowed until tendon_capture_decoder_next() returns false. */
void tendon_capture_decoder_feed(tendon_capture_decoder *decoder, const tendon_capture_record *record);
/** Returns true and the next item of the record; false if there is none. */
bool tendon_capture_decoder_next(tendon_capture_decoder *decoder, tendon_capture_item *out);

/** Returns "Read Blob Request" ..., in static storage; "unknown" otherwise. It is not in the host component, because
 * only programs that print need it. */
const char *tendon_att_opcode_name(uint8_t opcode);

#ifdef __cplusplus
}
#endif
#endif
