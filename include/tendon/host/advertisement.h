/* SPDX-License-Identifier: MIT */
/*
 * Advertising data (Core Spec Vol 3 Part C 11, Supplement Part A) and the
 * reports that carry it.
 */
#ifndef TENDON_HOST_ADVERTISEMENT_H
#define TENDON_HOST_ADVERTISEMENT_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Longest advertising data after reassembly (Vol 4 Part E 7.8.54 ff.) and the legacy limit. */
#define TENDON_AD_EXTENDED_MAX 1650
#define TENDON_AD_LEGACY_MAX 31

/** Bits of tendon_ad_report.properties: the Event_Type of an extended report (Vol 4 Part E 7.7.65.13). */
enum {
    TENDON_AD_CONNECTABLE = 0x01,
    TENDON_AD_SCANNABLE = 0x02,
    TENDON_AD_DIRECTED = 0x04,
    TENDON_AD_SCAN_RESPONSE = 0x08,
    TENDON_AD_LEGACY = 0x10
};

/** What RSSI and TX power say when they say nothing. */
#define TENDON_RSSI_UNKNOWN 127

/** One advertisement, or one scan response, as received. Lent for the callback. */
typedef struct tendon_ad_report {
    tendon_address address;
    uint16_t properties;                /**< bits above; reserved bits kept */
    int8_t rssi;                        /**< dBm, TENDON_RSSI_UNKNOWN when not available */
    int8_t tx_power;                    /**< dBm, TENDON_RSSI_UNKNOWN when not available */
    uint8_t primary_phy, secondary_phy; /**< 1 LE 1M, 2 LE 2M, 3 LE Coded, 0 none */
    uint8_t set_id;                     /**< advertising SID, 0xFF: none */
    const uint8_t *data;
    size_t length;  /**< 0 to TENDON_AD_EXTENDED_MAX */
    bool truncated; /**< the controller or the reassembly lost the end */
} tendon_ad_report;

/** One AD structure. */
typedef struct tendon_ad_structure {
    uint8_t type;
    const uint8_t *data;
    size_t length; /**< 0 to 254 */
} tendon_ad_structure;

/** Iterator over AD structures. A length of 0 ends the significant part (Vol 3 Part C 11). */
typedef struct tendon_ad_iterator {
    tendon_reader reader;
} tendon_ad_iterator;

tendon_ad_iterator tendon_ad_begin(const uint8_t *data, size_t length);

/** True and the next structure; false at the end or at a cut structure (iterator->reader.status tells which). */
bool tendon_ad_next(tendon_ad_iterator *iterator, tendon_ad_structure *out);

/**
 * The same, without a pointer of its own: @p value reads in the whole data, from the structure's first byte of data
 * to its last. Reads through it are bounded twice, and Tests/Proof can follow them.
 */
bool tendon_ad_next_part(tendon_ad_iterator *iterator, uint8_t *type, tendon_reader *value);

/** AD types of the Assigned Numbers, section 2.3. */
typedef enum tendon_ad_type {
    TENDON_AD_FLAGS = 0x01,
    TENDON_AD_UUID16_INCOMPLETE = 0x02,
    TENDON_AD_UUID16_COMPLETE = 0x03,
    TENDON_AD_UUID32_INCOMPLETE = 0x04,
    TENDON_AD_UUID32_COMPLETE = 0x05,
    TENDON_AD_UUID128_INCOMPLETE = 0x06,
    TENDON_AD_UUID128_COMPLETE = 0x07,
    TENDON_AD_NAME_SHORTENED = 0x08,
    TENDON_AD_NAME_COMPLETE = 0x09,
    TENDON_AD_TX_POWER = 0x0A,
    TENDON_AD_CLASS_OF_DEVICE = 0x0D,
    TENDON_AD_PAIRING_HASH_192 = 0x0E,
    TENDON_AD_PAIRING_RANDOMIZER_192 = 0x0F,
    TENDON_AD_DEVICE_ID = 0x10,
    TENDON_AD_SECURITY_FLAGS = 0x11,
    TENDON_AD_CONNECTION_INTERVAL = 0x12,
    TENDON_AD_SOLICIT_UUID16 = 0x14,
    TENDON_AD_SOLICIT_UUID128 = 0x15,
    TENDON_AD_SERVICE_DATA_16 = 0x16,
    TENDON_AD_PUBLIC_TARGET = 0x17,
    TENDON_AD_RANDOM_TARGET = 0x18,
    TENDON_AD_APPEARANCE = 0x19,
    TENDON_AD_ADVERTISING_INTERVAL = 0x1A,
    TENDON_AD_DEVICE_ADDRESS = 0x1B,
    TENDON_AD_ROLE = 0x1C,
    TENDON_AD_PAIRING_HASH_256 = 0x1D,
    TENDON_AD_PAIRING_RANDOMIZER_256 = 0x1E,
    TENDON_AD_SOLICIT_UUID32 = 0x1F,
    TENDON_AD_SERVICE_DATA_32 = 0x20,
    TENDON_AD_SERVICE_DATA_128 = 0x21,
    TENDON_AD_SECURE_CONFIRMATION = 0x22,
    TENDON_AD_SECURE_RANDOM = 0x23,
    TENDON_AD_URI = 0x24,
    TENDON_AD_INDOOR_POSITIONING = 0x25,
    TENDON_AD_TRANSPORT_DISCOVERY = 0x26,
    TENDON_AD_SUPPORTED_FEATURES = 0x27,
    TENDON_AD_CHANNEL_MAP_UPDATE = 0x28,
    TENDON_AD_PB_ADV = 0x29,
    TENDON_AD_MESH_MESSAGE = 0x2A,
    TENDON_AD_MESH_BEACON = 0x2B,
    TENDON_AD_BIG_INFO = 0x2C,
    TENDON_AD_BROADCAST_CODE = 0x2D,
    TENDON_AD_RESOLVABLE_SET = 0x2E,
    TENDON_AD_ADVERTISING_INTERVAL_LONG = 0x2F,
    TENDON_AD_BROADCAST_NAME = 0x30,
    TENDON_AD_ENCRYPTED_DATA = 0x31,
    TENDON_AD_RESPONSE_TIMING = 0x32,
    TENDON_AD_ELECTRONIC_SHELF_LABEL = 0x34,
    TENDON_AD_3D_INFORMATION = 0x3D,
    TENDON_AD_MANUFACTURER = 0xFF
} tendon_ad_type;

/** Bits of the Flags structure. */
enum { TENDON_AD_FLAG_LIMITED = 0x01, TENDON_AD_FLAG_GENERAL = 0x02, TENDON_AD_FLAG_NO_BREDR = 0x04 };

/** What a structure's value is; decides which members of tendon_ad_value are used. */
typedef enum tendon_ad_kind {
    TENDON_AD_KIND_BYTES = 0,    /**< data: of a type without a form of its own here, unknown types included */
    TENDON_AD_KIND_NUMBER,       /**< number; data keeps the bytes */
    TENDON_AD_KIND_RANGE,        /**< minimum, maximum */
    TENDON_AD_KIND_TEXT,         /**< data: UTF-8 as the peer says; print through tendon_ad_text() */
    TENDON_AD_KIND_UUIDS,        /**< data: walk with tendon_ad_uuid_at(); uuid_size */
    TENDON_AD_KIND_ADDRESSES,    /**< address is the first; data: 6 bytes each */
    TENDON_AD_KIND_SERVICE_DATA, /**< uuid; data: what follows */
    TENDON_AD_KIND_MANUFACTURER  /**< number: company; data: what follows */
} tendon_ad_kind;

/** A decoded AD structure. Members that its kind does not use are 0. */
typedef struct tendon_ad_value {
    uint8_t type; /**< tendon_ad_type; unknown types are kept */
    uint8_t kind; /**< tendon_ad_kind */
    uint8_t uuid_size;
    int32_t number;            /**< flags, dBm, appearance, 0.625 ms, role, company ... little endian */
    uint16_t minimum, maximum; /**< connection interval, 1.25 ms; 0xFFFF: none stated */
    tendon_address address;
    tendon_uuid uuid;
    const uint8_t *data;
    size_t length;
} tendon_ad_value;

/**
 * Decodes the value of a structure by the table of types in advertisement_value.c.
 * @return TENDON_OK, TENDON_ERROR_TRUNCATED (shorter than its type), or TENDON_ERROR_MALFORMED (a list that is not a
 *         multiple, a fixed value that is too long).
 */
tendon_status tendon_ad_decode(const tendon_ad_structure *structure, tendon_ad_value *out);

/** The UUID at @p index of a KIND_UUIDS value; false past the end. */
bool tendon_ad_uuid_at(const tendon_ad_value *value, size_t index, tendon_uuid *out);

/* Look-ups in whole advertising data. They stop at the first cut structure; what stands before it counts. */

/** First structure of @p type. */
bool tendon_ad_find(const uint8_t *data, size_t length, uint8_t type, tendon_ad_structure *out);
/** True when a list of service UUIDs (complete or not, of any size) holds @p uuid. A cut last entry is passed over. */
bool tendon_ad_has_uuid(const uint8_t *data, size_t length, const tendon_uuid *uuid);
/** Service data of @p uuid in any of its three forms, without the UUID. */
bool tendon_ad_service_data(const uint8_t *data, size_t length, const tendon_uuid *uuid, const uint8_t **value,
                            size_t *value_length);
/** First manufacturer data of @p company, without the company. */
bool tendon_ad_manufacturer_data(const uint8_t *data, size_t length, uint16_t company, const uint8_t **value,
                                 size_t *value_length);
/** First structure of @p type that decodes as a number: flags, TX power, appearance ... */
bool tendon_ad_number(const uint8_t *data, size_t length, uint8_t type, int32_t *out);

/**
 * Makes text of a peer safe for logs and terminals: what is not valid UTF-8, control characters (C0, DEL, C1, the
 * line and paragraph separators, and the marks that reorder text) become U+FFFD; it ends at a NUL, and is cut between
 * characters to fit. Always terminated when @p capacity > 0.
 * @return bytes written without the terminator.
 */
size_t tendon_ad_text(const uint8_t *data, size_t length, char *out, size_t capacity);

/** The complete name, else the shortened one, through tendon_ad_text(). @return length or TENDON_ERROR_NOT_FOUND. */
tendon_status tendon_ad_name(const uint8_t *data, size_t length, char *out, size_t capacity);

/* ---- builder: appends to a writer whose capacity is 31 or the extended limit; sticky ---- */

/** Any structure; more than 254 bytes is TENDON_ERROR_OVERFLOW. */
void tendon_ad_put(tendon_writer *writer, uint8_t type, const void *data, size_t length);
void tendon_ad_put_flags(tendon_writer *writer, uint8_t flags);
void tendon_ad_put_tx_power(tendon_writer *writer, int8_t dbm);
void tendon_ad_put_appearance(tendon_writer *writer, uint16_t appearance);
/** One list of service UUIDs that are all of one size on the wire (2 or 16 bytes, the first decides). */
void tendon_ad_put_uuids(tendon_writer *writer, const tendon_uuid *uuids, size_t count, bool complete);
/** Complete when it fits in what is left, else shortened between characters (nothing when not even one fits). */
void tendon_ad_put_name(tendon_writer *writer, const char *name, size_t length);
void tendon_ad_put_service_data(tendon_writer *writer, const tendon_uuid *uuid, const void *data, size_t length);
void tendon_ad_put_manufacturer(tendon_writer *writer, uint16_t company, const void *data, size_t length);

/* ---- extended reports that come in parts ---- */

/** Data status of an extended report, in its properties (Vol 4 Part E 7.7.65.13). */
enum {
    TENDON_AD_DATA_STATUS = 0x60,
    TENDON_AD_DATA_MORE = 0x20,     /**< more will come */
    TENDON_AD_DATA_TRUNCATED = 0x40 /**< cut, no more will come */
};

/** A chain older than this is given up: controllers hand its parts out back to back. */
#define TENDON_AD_CHAIN_TIMEOUT_MS 2000u

/** One chain. Opaque: the caller gives an array of them. */
typedef struct tendon_ad_chain {
    tendon_address address;
    uint8_t set_id;
    bool used, scan_response, skipping;
    uint64_t touched;
    size_t length;
    uint8_t data[TENDON_AD_EXTENDED_MAX];
} tendon_ad_chain;

typedef struct tendon_ad_reassembler {
    tendon_ad_chain *chains; /**< the caller's */
    size_t capacity;
    uint32_t overflowed; /**< chains longer than TENDON_AD_EXTENDED_MAX: reported once, truncated */
    uint32_t expired;    /**< chains given up after TENDON_AD_CHAIN_TIMEOUT_MS */
    uint32_t evicted;    /**< chains given up for a newer one */
} tendon_ad_reassembler;

/** @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT (no chain). */
tendon_status tendon_ad_reassembler_init(tendon_ad_reassembler *reassembler, tendon_ad_chain *chains, size_t capacity);

/**
 * Takes one report as the HCI iterator gave it. Chains are told apart by address, set and scan response.
 * @param out a whole report (or one marked truncated), data status bits cleared; its data is lent until the next call
 *            (a report in one part keeps its own data).
 * @return true when *out holds a report; false when more is to come, or a part of a chain that was given up.
 */
bool tendon_ad_reassembler_feed(tendon_ad_reassembler *reassembler, const tendon_ad_report *fragment, uint64_t now,
                                tendon_ad_report *out);

#ifdef __cplusplus
}
#endif
#endif
