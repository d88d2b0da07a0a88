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

/** Value of RSSI and TX power when the controller does not provide them. */
#define TENDON_RSSI_UNKNOWN 127

/** One advertisement, or one scan response, as received. Lent for the callback. */
typedef struct tendon_ad_report {
    /** Of the advertiser. From a radio: its identity address, if a bond has the key that resolves its private one. */
    tendon_address address;
    uint16_t properties;                /**< bits above; reserved bits kept */
    int8_t rssi;                        /**< dBm, TENDON_RSSI_UNKNOWN if not available */
    int8_t tx_power;                    /**< dBm, TENDON_RSSI_UNKNOWN if not available */
    uint8_t primary_phy, secondary_phy; /**< 1 LE 1M, 2 LE 2M, 3 LE Coded, 0 none */
    uint8_t set_id;                     /**< advertising SID, 0xFF: none */
    const uint8_t *data;
    size_t length;  /**< 0 to TENDON_AD_EXTENDED_MAX */
    bool truncated; /**< the controller or the reassembler dropped the end */
    /** The address in the packet, if a bond resolved it (address is the identity address then); otherwise all 0. */
    tendon_address private_address;
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

/** Returns true and the next structure; false at the end or at a truncated structure (see iterator->reader.status). */
bool tendon_ad_next(tendon_ad_iterator *iterator, tendon_ad_structure *out);

/**
 * Like tendon_ad_next(), but without a pointer: @p value reads in the whole advertising data, from the first byte of
 * the structure's value to its last. Reads through it are bounded twice, and Tests/Proof can analyze them.
 */
bool tendon_ad_next_part(tendon_ad_iterator *iterator, uint8_t *type, tendon_reader *value);

/**
 * Checks that data consist of whole structures; a length of 0 ends them.
 * @param offset receives the offset of the first truncated structure, otherwise @p length. May be NULL.
 * @return TENDON_OK or TENDON_ERROR_TRUNCATED.
 */
tendon_status tendon_ad_check(const uint8_t *data, size_t length, size_t *offset);

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

/** Type of a structure's value; selects the members of tendon_ad_value that are used. */
typedef enum tendon_ad_kind {
    TENDON_AD_KIND_BYTES = 0,    /**< data: all types without one of the forms below, and unknown types */
    TENDON_AD_KIND_NUMBER,       /**< number; data keeps the bytes */
    TENDON_AD_KIND_RANGE,        /**< minimum, maximum */
    TENDON_AD_KIND_TEXT,         /**< data: UTF-8 according to the peer; print it with tendon_ad_text() */
    TENDON_AD_KIND_UUIDS,        /**< data: walk with tendon_ad_uuid_at(); uuid_size */
    TENDON_AD_KIND_ADDRESSES,    /**< address is the first; data: 6 bytes each */
    TENDON_AD_KIND_SERVICE_DATA, /**< uuid; data: the bytes after it */
    TENDON_AD_KIND_MANUFACTURER  /**< number: company; data: the bytes after it */
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
 * Decodes the value of a structure according to the table of types in advertisement_value.c.
 * @return TENDON_OK, TENDON_ERROR_TRUNCATED (shorter than its type), or TENDON_ERROR_MALFORMED (a list that is not a
 *         multiple, a fixed value that is too long).
 */
tendon_status tendon_ad_decode(const tendon_ad_structure *structure, tendon_ad_value *out);

/** Returns the UUID at @p index of a KIND_UUIDS value; false past the end. */
bool tendon_ad_uuid_at(const tendon_ad_value *value, size_t index, tendon_uuid *out);

/* Lookups in whole advertising data. They stop at the first truncated structure and use the structures before it. */

/** Finds the first structure of @p type. */
bool tendon_ad_find(const uint8_t *data, size_t length, uint8_t type, tendon_ad_structure *out);

/**
 * Finds the complete name, else the shortened one; @p out has its type. An empty name is none. A device may send the
 * shortened name in its advertisement and the complete one in its scan response: who remembers a complete name keeps
 * it.
 */
bool tendon_ad_find_name(const uint8_t *data, size_t length, tendon_ad_structure *out);
/** Returns true if a list of service UUIDs (complete or not, of any size) contains @p uuid. A truncated last entry is
 * ignored. */
bool tendon_ad_has_uuid(const uint8_t *data, size_t length, const tendon_uuid *uuid);
/** Copies the entry at @p index of all lists of service UUIDs together, in their order; false past the end. A truncated
 * last entry is ignored. */
bool tendon_ad_service_uuid_at(const uint8_t *data, size_t length, size_t index, tendon_uuid *out);
/** Finds the service data of @p uuid in any of its three forms. The value does not contain the UUID. */
bool tendon_ad_service_data(const uint8_t *data, size_t length, const tendon_uuid *uuid, const uint8_t **value,
                            size_t *value_length);
/** Finds the first manufacturer data of @p company. The value does not contain the company identifier. */
bool tendon_ad_manufacturer_data(const uint8_t *data, size_t length, uint16_t company, const uint8_t **value,
                                 size_t *value_length);
/** Finds the first structure of @p type that decodes as a number: flags, TX power, appearance ... */
bool tendon_ad_number(const uint8_t *data, size_t length, uint8_t type, int32_t *out);

/**
 * Makes text from a peer safe for logs and terminals. Invalid UTF-8 and control characters (C0, DEL, C1, the line and
 * paragraph separators, and the marks that reorder text) become U+FFFD. The text ends at a NUL, and is truncated
 * between two characters if it does not fit. The output is always terminated if @p capacity > 0.
 * @return bytes written without the terminator.
 */
size_t tendon_ad_text(const uint8_t *data, size_t length, char *out, size_t capacity);

/** Finds the complete name, else the shortened one, and converts it with tendon_ad_text(). An empty name is none.
 * @return length or TENDON_ERROR_NOT_FOUND. */
tendon_status tendon_ad_name(const uint8_t *data, size_t length, char *out, size_t capacity);

/*
 * ---- builder: appends to a writer whose capacity is 31 or the extended limit; sticky ----
 *
 * The first error stays in writer->status: TENDON_ERROR_BUFFER_TOO_SMALL (the structure does not fit), _OVERFLOW or
 * _INVALID_ARGUMENT. A structure is written whole or not at all, so writer->length is then the offset at which the
 * structure with the error would begin, and the bytes before it are valid.
 */

/** Appends any structure. TENDON_ERROR_OVERFLOW if @p length is greater than 254. */
void tendon_ad_put(tendon_writer *writer, uint8_t type, const void *data, size_t length);
void tendon_ad_put_flags(tendon_writer *writer, uint8_t flags);
void tendon_ad_put_tx_power(tendon_writer *writer, int8_t dbm);
void tendon_ad_put_appearance(tendon_writer *writer, uint16_t appearance);
/** Appends one list of service UUIDs. All have the same size in the packet: that of the first one, 2 or 16 bytes. */
void tendon_ad_put_uuids(tendon_writer *writer, const tendon_uuid *uuids, size_t count, bool complete);
/** Appends the complete name if it fits, else a name shortened between two characters, or nothing if no character fits.
 */
void tendon_ad_put_name(tendon_writer *writer, const char *name, size_t length);
void tendon_ad_put_service_data(tendon_writer *writer, const tendon_uuid *uuid, const void *data, size_t length);
void tendon_ad_put_manufacturer(tendon_writer *writer, uint16_t company, const void *data, size_t length);

/* ---- extended reports in fragments ---- */

/** Data status of an extended report, in its properties (Vol 4 Part E 7.7.65.13). */
enum {
    TENDON_AD_DATA_STATUS = 0x60,
    TENDON_AD_DATA_MORE = 0x20,     /**< more fragments follow */
    TENDON_AD_DATA_TRUNCATED = 0x40 /**< truncated; no fragment follows */
};

/** A chain that is older is discarded: a controller reports the fragments of a chain one directly after the other. */
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
    uint32_t expired;    /**< chains discarded after TENDON_AD_CHAIN_TIMEOUT_MS */
    uint32_t evicted;    /**< chains replaced by a newer one */
} tendon_ad_reassembler;

/** @return TENDON_OK or TENDON_ERROR_INVALID_ARGUMENT (no chain). */
tendon_status tendon_ad_reassembler_init(tendon_ad_reassembler *reassembler, tendon_ad_chain *chains, size_t capacity);

/**
 * Takes one report from the HCI iterator. Address, set and scan response identify a chain.
 * @param out a whole report (or one marked truncated) with the data status bits cleared. Its data is lent until the
 * next call (a report in one fragment keeps its own data).
 * @return true if *out contains a report; false if more fragments follow, or if the chain was discarded.
 */
bool tendon_ad_reassembler_feed(tendon_ad_reassembler *reassembler, const tendon_ad_report *fragment, uint64_t now,
                                tendon_ad_report *out);

#ifdef __cplusplus
}
#endif
#endif
