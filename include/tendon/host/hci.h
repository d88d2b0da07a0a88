/* SPDX-License-Identifier: MIT */
/*
 * HCI packets (Core Spec Vol 4 Part E): the events and commands that a central
 * and an advertiser need, and ACL data with its L2CAP frames for captures.
 *
 * Packets do not contain the H4 type byte. Decoders use one table of fields per event (hci_event.c); encoders write
 * opcode, length and parameters in one call.
 */
#ifndef TENDON_HOST_HCI_H
#define TENDON_HOST_HCI_H

#include "tendon/host/advertisement.h"

#ifdef __cplusplus
extern "C" {
#endif

/** H4 packet types: the first byte of a packet on raw sockets and in captures (Vol 4 Part A 2). */
enum {
    TENDON_HCI_PACKET_COMMAND = 1,
    TENDON_HCI_PACKET_ACL = 2,
    TENDON_HCI_PACKET_SCO = 3,
    TENDON_HCI_PACKET_EVENT = 4,
    TENDON_HCI_PACKET_ISO = 5
};

/** Event codes (Vol 4 Part E 7.7) that tendon_hci_decode() knows. */
enum {
    TENDON_HCI_DISCONNECTION_COMPLETE = 0x05,
    TENDON_HCI_ENCRYPTION_CHANGE = 0x08,
    TENDON_HCI_READ_REMOTE_VERSION_COMPLETE = 0x0C,
    TENDON_HCI_COMMAND_COMPLETE = 0x0E,
    TENDON_HCI_COMMAND_STATUS = 0x0F,
    TENDON_HCI_HARDWARE_ERROR = 0x10,
    TENDON_HCI_NUMBER_OF_COMPLETED_PACKETS = 0x13,
    TENDON_HCI_DATA_BUFFER_OVERFLOW = 0x1A,
    TENDON_HCI_ENCRYPTION_KEY_REFRESH = 0x30,
    TENDON_HCI_LE_META = 0x3E,
    TENDON_HCI_ENCRYPTION_CHANGE_V2 = 0x59,
    TENDON_HCI_VENDOR = 0xFF
};

/** Subevents of LE Meta (Vol 4 Part E 7.7.65). */
enum {
    TENDON_HCI_LE_CONNECTION_COMPLETE = 0x01,
    TENDON_HCI_LE_ADVERTISING_REPORT = 0x02,
    TENDON_HCI_LE_CONNECTION_UPDATE_COMPLETE = 0x03,
    TENDON_HCI_LE_READ_REMOTE_FEATURES_COMPLETE = 0x04,
    TENDON_HCI_LE_LONG_TERM_KEY_REQUEST = 0x05,
    TENDON_HCI_LE_REMOTE_PARAMETER_REQUEST = 0x06,
    TENDON_HCI_LE_DATA_LENGTH_CHANGE = 0x07,
    TENDON_HCI_LE_ENHANCED_CONNECTION_COMPLETE = 0x0A,
    TENDON_HCI_LE_PHY_UPDATE_COMPLETE = 0x0C,
    TENDON_HCI_LE_EXTENDED_ADVERTISING_REPORT = 0x0D,
    TENDON_HCI_LE_SCAN_TIMEOUT = 0x11,
    TENDON_HCI_LE_ADVERTISING_SET_TERMINATED = 0x12,
    TENDON_HCI_LE_SCAN_REQUEST_RECEIVED = 0x13,
    TENDON_HCI_LE_CHANNEL_SELECTION = 0x14,
    TENDON_HCI_LE_ENHANCED_CONNECTION_COMPLETE_V2 = 0x29
};

/** Largest connection handle (Vol 4 Part E 5.3.1). */
#define TENDON_HCI_HANDLE_MAX 0x0EFF

/** An event with undecoded parameters. Views point into the packet. */
typedef struct tendon_hci_event {
    uint8_t code;
    uint8_t subevent;    /**< LE Meta only, else 0 */
    const uint8_t *data; /**< parameters, without the subevent code */
    size_t length;       /**< 0 to 255 */
} tendon_hci_event;

/**
 * Decodes the header: code, length, subevent of LE Meta.
 * @param packet from the event code on.
 * @param offset first wrong byte; may be NULL.
 * @return TENDON_OK; TENDON_ERROR_TRUNCATED or TENDON_ERROR_MALFORMED if the length in the header differs from that of
 * the packet, or if an LE Meta event has no subevent.
 */
tendon_status tendon_hci_event_decode(const uint8_t *packet, size_t length, tendon_hci_event *out, size_t *offset);

/** The parameters of an event. Members that the event does not have are 0. */
typedef struct tendon_hci_parameters {
    uint8_t status;   /**< HCI error code, 0: success. As a tendon_status: TENDON_HCI_ERROR(code) */
    uint8_t reason;   /**< Disconnection Complete */
    uint8_t role;     /**< connection complete: 0 central, 1 peripheral */
    uint8_t commands; /**< Command Complete and Status: number of commands that the controller accepts now */
    uint8_t enabled;  /**< Encryption Change: 0 off, 1 AES-CCM (LE), 2 AES-CCM (BR/EDR) */
    uint8_t key_size; /**< Encryption Change v2 */
    uint8_t code;     /**< Hardware Error: the code; Data Buffer Overflow: link type; Channel Selection: algorithm;
                           Read Remote Version: version */
    uint8_t clock;    /**< connection complete: central's clock accuracy */
    uint8_t tx_phy, rx_phy;
    uint8_t set;       /**< advertising handle */
    uint8_t count;     /**< Number Of Completed Packets: entries of 4 bytes in data (handle, packets); Advertising Set
                          Terminated: events sent */
    uint16_t opcode;   /**< Command Complete and Status; 0: none, only `commands` counts */
    uint16_t handle;   /**< connection handle, at most TENDON_HCI_HANDLE_MAX when status is 0 */
    uint16_t interval; /**< 1.25 ms; parameter request: the smallest */
    uint16_t interval_max;                            /**< parameter request, 1.25 ms */
    uint16_t latency;                                 /**< connection events */
    uint16_t timeout;                                 /**< supervision, 10 ms */
    uint16_t manufacturer, subversion;                /**< Read Remote Version */
    tendon_address peer;                              /**< connection complete, scan request */
    tendon_address local_resolvable, peer_resolvable; /**< enhanced connection complete; all 0: none */
    const uint8_t
        *data; /**< the remaining bytes: return parameters, features, random number and diversifier, entries */
    size_t length;
} tendon_hci_parameters;

/**
 * Decodes the parameters of any event of the two lists above except the advertising reports, which have an iterator.
 * @param offset first wrong byte, counted in event->data; may be NULL.
 * Bytes after the known parameters are ignored: later versions of the specification append parameters.
 * @return TENDON_OK, TENDON_ERROR_TRUNCATED, TENDON_ERROR_MALFORMED (an invalid handle or role), or
 * TENDON_ERROR_UNSUPPORTED for other events, which keep their bytes in event->data.
 */
tendon_status tendon_hci_decode(const tendon_hci_event *event, tendon_hci_parameters *out, size_t *offset);

/** Walks the reports of LE Advertising Report and LE Extended Advertising Report. */
typedef struct tendon_hci_reports {
    tendon_reader reader;
    uint8_t left;
    bool extended;
    tendon_status status; /**< at the end: TENDON_OK, or the reason why the other reports were discarded */
    size_t error_offset;  /**< of event->data */
} tendon_hci_reports;

/** Starts a walk over the reports of an event. Another event has no reports and the status TENDON_ERROR_UNSUPPORTED. */
tendon_hci_reports tendon_hci_reports_of(const tendon_hci_event *event);

/**
 * Returns true and the next report; false at the end (see status). Reports before a malformed report are valid.
 *
 * The type of a legacy report is converted to the property bits of the extended report; a reserved type (5 and up) is
 * kept as TENDON_AD_LEGACY | type << 8. Data of a legacy advertisement longer than 31 bytes is malformed. An extended
 * report can be a fragment: tendon_ad_reassembler_feed() reassembles fragments.
 */
bool tendon_hci_reports_next(tendon_hci_reports *reports, tendon_ad_report *out);

/* ---- commands: each returns the length written, or TENDON_ERROR_BUFFER_TOO_SMALL / _INVALID_ARGUMENT ---- */

/** Opcode of a group and command field. */
#define TENDON_HCI_OPCODE(group, command) ((uint16_t)((group) << 10 | (command)))

enum {
    TENDON_HCI_DISCONNECT = TENDON_HCI_OPCODE(0x01, 0x006),
    TENDON_HCI_SET_EVENT_MASK = TENDON_HCI_OPCODE(0x03, 0x001),
    TENDON_HCI_RESET = TENDON_HCI_OPCODE(0x03, 0x003),
    TENDON_HCI_READ_LOCAL_VERSION = TENDON_HCI_OPCODE(0x04, 0x001),
    TENDON_HCI_READ_LOCAL_COMMANDS = TENDON_HCI_OPCODE(0x04, 0x002),
    TENDON_HCI_READ_LOCAL_FEATURES = TENDON_HCI_OPCODE(0x04, 0x003),
    TENDON_HCI_READ_ADDRESS = TENDON_HCI_OPCODE(0x04, 0x009),
    TENDON_HCI_LE_SET_EVENT_MASK = TENDON_HCI_OPCODE(0x08, 0x001),
    TENDON_HCI_LE_READ_BUFFER_SIZE = TENDON_HCI_OPCODE(0x08, 0x002),
    TENDON_HCI_LE_READ_ACCEPT_LIST_SIZE = TENDON_HCI_OPCODE(0x08, 0x00F),
    TENDON_HCI_LE_READ_SUPPORTED_STATES = TENDON_HCI_OPCODE(0x08, 0x01C),
    TENDON_HCI_LE_READ_RESOLVING_LIST_SIZE = TENDON_HCI_OPCODE(0x08, 0x02A),
    TENDON_HCI_LE_READ_LOCAL_FEATURES = TENDON_HCI_OPCODE(0x08, 0x003),
    TENDON_HCI_LE_SET_RANDOM_ADDRESS = TENDON_HCI_OPCODE(0x08, 0x005),
    TENDON_HCI_LE_SET_ADVERTISING_PARAMETERS = TENDON_HCI_OPCODE(0x08, 0x006),
    TENDON_HCI_LE_SET_ADVERTISING_DATA = TENDON_HCI_OPCODE(0x08, 0x008),
    TENDON_HCI_LE_SET_SCAN_RESPONSE_DATA = TENDON_HCI_OPCODE(0x08, 0x009),
    TENDON_HCI_LE_SET_ADVERTISING_ENABLE = TENDON_HCI_OPCODE(0x08, 0x00A),
    TENDON_HCI_LE_SET_SCAN_PARAMETERS = TENDON_HCI_OPCODE(0x08, 0x00B),
    TENDON_HCI_LE_SET_SCAN_ENABLE = TENDON_HCI_OPCODE(0x08, 0x00C),
    TENDON_HCI_LE_CONNECTION_UPDATE = TENDON_HCI_OPCODE(0x08, 0x013),
    TENDON_HCI_LE_SET_DATA_LENGTH = TENDON_HCI_OPCODE(0x08, 0x022),
    TENDON_HCI_LE_READ_PHY = TENDON_HCI_OPCODE(0x08, 0x030),
    TENDON_HCI_LE_SET_PHY = TENDON_HCI_OPCODE(0x08, 0x032),
    TENDON_HCI_LE_SET_ADVERTISING_SET_RANDOM_ADDRESS = TENDON_HCI_OPCODE(0x08, 0x035),
    TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_PARAMETERS = TENDON_HCI_OPCODE(0x08, 0x036),
    TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_DATA = TENDON_HCI_OPCODE(0x08, 0x037),
    TENDON_HCI_LE_SET_EXTENDED_SCAN_RESPONSE_DATA = TENDON_HCI_OPCODE(0x08, 0x038),
    TENDON_HCI_LE_SET_EXTENDED_ADVERTISING_ENABLE = TENDON_HCI_OPCODE(0x08, 0x039),
    TENDON_HCI_LE_READ_MAXIMUM_ADVERTISING_DATA_LENGTH = TENDON_HCI_OPCODE(0x08, 0x03A),
    TENDON_HCI_LE_READ_NUMBER_OF_ADVERTISING_SETS = TENDON_HCI_OPCODE(0x08, 0x03B),
    TENDON_HCI_LE_REMOVE_ADVERTISING_SET = TENDON_HCI_OPCODE(0x08, 0x03C),
    TENDON_HCI_LE_CLEAR_ADVERTISING_SETS = TENDON_HCI_OPCODE(0x08, 0x03D),
    TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS = TENDON_HCI_OPCODE(0x08, 0x041),
    TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE = TENDON_HCI_OPCODE(0x08, 0x042)
};

/** Longest command: opcode, length, 255 bytes of parameters. */
#define TENDON_HCI_COMMAND_MAX 258

/** Encodes any command. @p parameters may be NULL if @p count is 0; at most 255 bytes. */
tendon_status tendon_hci_command(uint16_t opcode, const uint8_t *parameters, size_t count, uint8_t *out,
                                 size_t capacity);

/** Encodes a command without parameters: Reset, the reads, LE Clear Advertising Sets. */
tendon_status tendon_hci_command_plain(uint16_t opcode, uint8_t *out, size_t capacity);

/** Disconnect. @p reason e.g. 0x13. */
tendon_status tendon_hci_command_disconnect(uint16_t handle, uint8_t reason, uint8_t *out, size_t capacity);

/** LE Set Random Address. */
tendon_status tendon_hci_command_random_address(const tendon_address *address, uint8_t *out, size_t capacity);

/** Scan parameters, for both command sets. */
typedef struct tendon_hci_scan {
    bool active;
    bool filter_duplicates;
    bool coded;                /**< extended: also on LE Coded */
    uint8_t own_address;       /**< Own_Address_Type */
    uint8_t filter_policy;     /**< 0: all advertisers */
    uint16_t interval, window; /**< 0.625 ms, 4 to 0x4000; window <= interval */
} tendon_hci_scan;

tendon_status tendon_hci_command_scan_parameters(const tendon_hci_scan *scan, uint8_t *out, size_t capacity);
tendon_status tendon_hci_command_scan_enable(bool enable, bool filter_duplicates, uint8_t *out, size_t capacity);
tendon_status tendon_hci_command_extended_scan_parameters(const tendon_hci_scan *scan, uint8_t *out, size_t capacity);
/** Encodes LE Set Extended Scan Enable without duration and period: until disabled. */
tendon_status tendon_hci_command_extended_scan_enable(bool enable, bool filter_duplicates, uint8_t *out,
                                                      size_t capacity);

/** Advertising parameters, for both command sets. */
typedef struct tendon_hci_advertising {
    uint8_t set;                         /**< extended: advertising handle, 0 to 0xEF */
    uint8_t type;                        /**< legacy: Advertising_Type, 0 ADV_IND */
    uint16_t properties;                 /**< extended: bits of TENDON_AD_...; 0x13 is ADV_IND */
    uint32_t interval_min, interval_max; /**< 0.625 ms; legacy 0x20 to 0x4000 */
    uint8_t channels;                    /**< bits 0 to 2; 0: all three */
    uint8_t own_address;
    tendon_address peer; /**< directed advertising */
    uint8_t filter_policy;
    int8_t tx_power;                    /**< extended: dBm, TENDON_RSSI_UNKNOWN: no preference */
    uint8_t primary_phy, secondary_phy; /**< extended: 0 means LE 1M */
    uint8_t sid;                        /**< extended: 0 to 15 */
} tendon_hci_advertising;

tendon_status tendon_hci_command_advertising_parameters(const tendon_hci_advertising *advertising, uint8_t *out,
                                                        size_t capacity);
tendon_status tendon_hci_command_extended_advertising_parameters(const tendon_hci_advertising *advertising,
                                                                 uint8_t *out, size_t capacity);
/** @p opcode: LE Set Advertising Data or LE Set Scan Response Data; 0 to 31 bytes, padded as the specification
 * requires. */
tendon_status tendon_hci_command_advertising_data(uint16_t opcode, const uint8_t *data, size_t length, uint8_t *out,
                                                  size_t capacity);
/** @p opcode: LE Set Extended Advertising Data or ... Scan Response Data; whole data in one command, 0 to 251 bytes. */
tendon_status tendon_hci_command_extended_advertising_data(uint16_t opcode, uint8_t set, const uint8_t *data,
                                                           size_t length, uint8_t *out, size_t capacity);
tendon_status tendon_hci_command_advertising_enable(bool enable, uint8_t *out, size_t capacity);
/** Enables or disables one advertising set, without a duration. */
tendon_status tendon_hci_command_extended_advertising_enable(bool enable, uint8_t set, uint8_t *out, size_t capacity);
tendon_status tendon_hci_command_advertising_set_random_address(uint8_t set, const tendon_address *address,
                                                                uint8_t *out, size_t capacity);
tendon_status tendon_hci_command_remove_advertising_set(uint8_t set, uint8_t *out, size_t capacity);

/** Returns true if the bit of @p opcode is set in the 64 bytes of Read Local Supported Commands (Vol 4 Part E 6.27);
 * knows those above for LE scans, advertising, extended advertising, and the limits of a controller. */
bool tendon_hci_supports(const uint8_t commands[64], uint16_t opcode);

/* ---- ACL data and L2CAP basic frames, for captures ---- */

/** Packet boundary flags (Vol 4 Part E 5.4.2). */
enum {
    TENDON_ACL_START_HOST = 0,
    TENDON_ACL_CONTINUE = 1,
    TENDON_ACL_START_CONTROLLER = 2,
    TENDON_ACL_COMPLETE = 3 /**< not used on LE */
};

typedef struct tendon_acl {
    uint16_t handle;
    uint8_t boundary;
    uint8_t broadcast;
    const uint8_t *data;
    size_t length;
} tendon_acl;

/** One ACL data packet. The length in the header must be that of the packet. */
tendon_status tendon_acl_decode(const uint8_t *packet, size_t length, tendon_acl *out, size_t *offset);

/** Fixed channels on LE. */
enum { TENDON_L2CAP_CID_ATT = 4, TENDON_L2CAP_CID_SIGNALLING = 5, TENDON_L2CAP_CID_SM = 6 };

/** Longest frame payload that is reassembled; longer frames are counted and skipped. */
#define TENDON_L2CAP_PAYLOAD_MAX 1024
#define TENDON_L2CAP_HEADER_SIZE 4

/** An incomplete frame: one per connection and direction. Opaque. */
typedef struct tendon_l2cap_stream {
    uint16_t handle;
    bool used, incoming, skipping;
    uint64_t touched;
    size_t length; /**< received bytes, including the header */
    uint8_t bytes[TENDON_L2CAP_HEADER_SIZE + TENDON_L2CAP_PAYLOAD_MAX];
} tendon_l2cap_stream;

typedef struct tendon_l2cap_reassembler {
    tendon_l2cap_stream *streams; /**< the caller's */
    size_t capacity;
    uint64_t clock;
    uint32_t frames, malformed; /**< counters; a frame that is truncated by a new start is counted as malformed */
    uint32_t evicted;           /**< incomplete frames dropped because all streams were in use */
} tendon_l2cap_reassembler;

/** One basic frame. Lent until the next feed(). */
typedef struct tendon_l2cap_frame {
    uint16_t handle;
    bool incoming;
    uint16_t cid;
    const uint8_t *data;
    size_t length;
} tendon_l2cap_frame;

/** @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT (no stream). */
tendon_status tendon_l2cap_reassembler_init(tendon_l2cap_reassembler *reassembler, tendon_l2cap_stream *streams,
                                            size_t capacity);

/**
 * Takes one ACL packet.
 * @param incoming from the controller to the host.
 * @return TENDON_OK and a whole frame in *out; TENDON_ERROR_INCOMPLETE; TENDON_ERROR_MALFORMED (continuation without
 *         a start, more bytes than declared, a boundary flag not used on LE); TENDON_ERROR_OVERFLOW (declared longer
 * than TENDON_L2CAP_PAYLOAD_MAX: skipped to its end).
 */
tendon_status tendon_l2cap_feed(tendon_l2cap_reassembler *reassembler, const tendon_acl *acl, bool incoming,
                                tendon_l2cap_frame *out);

/** Discards the incomplete frames of a connection that ended. */
void tendon_l2cap_forget(tendon_l2cap_reassembler *reassembler, uint16_t handle);

#ifdef __cplusplus
}
#endif
#endif
