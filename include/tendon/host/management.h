/* SPDX-License-Identifier: MIT */
/*
 * PDUs of the Linux kernel's Bluetooth management interface (doc/mgmt-api.txt of BlueZ): commands to an adapter,
 * replies and events from it. Does no I/O; the socket is in the component linux/adapter.
 *
 * Every PDU is code, adapter index and length, 16 bits each, little endian, then as many bytes of parameters.
 */
#ifndef TENDON_HOST_MANAGEMENT_H
#define TENDON_HOST_MANAGEMENT_H

#include "tendon/base.h"
#include "tendon/host/connection_parameters.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Index of commands that concern no adapter. */
#define TENDON_MANAGEMENT_NO_INDEX 0xFFFFu
#define TENDON_MANAGEMENT_HEADER_SIZE 6u
/** Longest PDU that is sent or decoded (Read Controller Information returns 280 bytes). */
#define TENDON_MANAGEMENT_PDU_MAX 512u

/**
 * A device in parameters: address and address type (0 BR/EDR, 1 LE public, 2 LE random). The pair of functions below
 * writes and reads it; a reader or writer that has failed stays as it is.
 */
#define TENDON_MANAGEMENT_ADDRESS_SIZE 7u
/** Writes an LE device: a random address as LE random, every other as LE public. */
void tendon_management_write_address(tendon_writer *writer, const tendon_address *address);
/**
 * Reads a device. @p out becomes a random address if it is LE random, otherwise a public one; all zero if bytes are
 * missing. @return true if it is an LE device.
 */
bool tendon_management_read_address(tendon_reader *reader, tendon_address *out);

/** Commands, with their parameters. */
typedef enum tendon_management_opcode {
    TENDON_MANAGEMENT_READ_VERSION = 0x0001,
    TENDON_MANAGEMENT_READ_INDEX_LIST = 0x0003,
    TENDON_MANAGEMENT_READ_INFORMATION = 0x0004,
    TENDON_MANAGEMENT_SET_POWERED = 0x0005,               /**< mode */
    TENDON_MANAGEMENT_SET_CONNECTABLE = 0x0007,           /**< mode */
    TENDON_MANAGEMENT_SET_BONDABLE = 0x0009,              /**< mode */
    TENDON_MANAGEMENT_SET_SECURE_SIMPLE_PAIRING = 0x000B, /**< mode */
    TENDON_MANAGEMENT_SET_LOW_ENERGY = 0x000D,            /**< mode */
    TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS = 0x0013,
    TENDON_MANAGEMENT_LOAD_IDENTITY_KEYS = 0x0030,
    TENDON_MANAGEMENT_DISCONNECT = 0x0014,         /**< address, address type */
    TENDON_MANAGEMENT_SET_IO_CAPABILITY = 0x0018,  /**< 3: no input, no output */
    TENDON_MANAGEMENT_PAIR_DEVICE = 0x0019,        /**< address, address type, IO capability */
    TENDON_MANAGEMENT_CANCEL_PAIR_DEVICE = 0x001A, /**< address, address type */
    TENDON_MANAGEMENT_UNPAIR_DEVICE = 0x001B,      /**< address, address type, 1: disconnect too */
    TENDON_MANAGEMENT_USER_CONFIRM_REPLY = 0x001C, /**< address, address type */
    TENDON_MANAGEMENT_USER_CONFIRM_NEGATIVE_REPLY = 0x001D,
    TENDON_MANAGEMENT_USER_PASSKEY_REPLY = 0x001E,          /**< address, address type, passkey(4) */
    TENDON_MANAGEMENT_USER_PASSKEY_NEGATIVE_REPLY = 0x001F, /**< address, address type */
    TENDON_MANAGEMENT_ADD_REMOTE_OUT_OF_BAND_DATA = 0x0021,
    TENDON_MANAGEMENT_STOP_DISCOVERY = 0x0024,             /**< address types, from the Discovering event */
    TENDON_MANAGEMENT_SET_ADVERTISING = 0x0029,            /**< mode */
    TENDON_MANAGEMENT_SET_BREDR = 0x002A,                  /**< mode */
    TENDON_MANAGEMENT_SET_STATIC_ADDRESS = 0x002B,         /**< address; while the adapter is off */
    TENDON_MANAGEMENT_SET_SECURE_CONNECTIONS = 0x002D,     /**< mode */
    TENDON_MANAGEMENT_GET_CONNECTION_INFORMATION = 0x0031, /**< address, address type */
    TENDON_MANAGEMENT_ADD_DEVICE = 0x0033,                 /**< address, address type, action */
    TENDON_MANAGEMENT_REMOVE_DEVICE = 0x0034,              /**< address, address type */
    TENDON_MANAGEMENT_LOAD_CONNECTION_PARAMETERS = 0x0035,
    TENDON_MANAGEMENT_READ_UNCONFIGURED_INDEX_LIST = 0x0036,
    TENDON_MANAGEMENT_READ_LOCAL_OUT_OF_BAND_EXTENDED_DATA = 0x003B, /**< address types */
    TENDON_MANAGEMENT_GET_PHYS = 0x0044,         /**< response: supported(4), configurable(4), selected(4) */
    TENDON_MANAGEMENT_SET_PHYS = 0x0045,         /**< selected(4) */
    TENDON_MANAGEMENT_GET_DEVICE_FLAGS = 0x004F, /**< address, address type; response: them, supported(4), current(4) */
    TENDON_MANAGEMENT_SET_DEVICE_FLAGS = 0x0050  /**< address, address type, current(4) */
} tendon_management_opcode;

typedef enum tendon_management_event_code {
    TENDON_MANAGEMENT_COMMAND_COMPLETE = 0x0001,
    TENDON_MANAGEMENT_COMMAND_STATUS = 0x0002,
    TENDON_MANAGEMENT_CONTROLLER_ERROR = 0x0003,
    TENDON_MANAGEMENT_INDEX_ADDED = 0x0004,
    TENDON_MANAGEMENT_INDEX_REMOVED = 0x0005,
    TENDON_MANAGEMENT_NEW_SETTINGS = 0x0006,
    TENDON_MANAGEMENT_NEW_LONG_TERM_KEY = 0x000A,
    TENDON_MANAGEMENT_DEVICE_CONNECTED = 0x000B,
    TENDON_MANAGEMENT_DEVICE_DISCONNECTED = 0x000C,
    TENDON_MANAGEMENT_CONNECT_FAILED = 0x000D,
    TENDON_MANAGEMENT_USER_CONFIRM_REQUEST = 0x000F,
    TENDON_MANAGEMENT_USER_PASSKEY_REQUEST = 0x0010,        /**< address, address type */
    TENDON_MANAGEMENT_AUTHENTICATION_FAILED_EVENT = 0x0011, /**< address, address type, status */
    TENDON_MANAGEMENT_DISCOVERING = 0x0013,                 /**< kinds of addresses, 1: on */
    TENDON_MANAGEMENT_PASSKEY_NOTIFY = 0x0017,              /**< address, address type, passkey(4), digits entered */
    TENDON_MANAGEMENT_UNCONFIGURED_INDEX_ADDED = 0x001D,
    TENDON_MANAGEMENT_NEW_IDENTITY_KEY = 0x0018 /**< store hint, random address, identity address and type, key */
} tendon_management_event_code;

/** Status bytes; as a tendon_status: TENDON_MANAGEMENT_ERROR(code). */
typedef enum tendon_management_status {
    TENDON_MANAGEMENT_SUCCESS = 0x00,
    TENDON_MANAGEMENT_UNKNOWN_COMMAND = 0x01,
    TENDON_MANAGEMENT_NOT_CONNECTED = 0x02,
    TENDON_MANAGEMENT_FAILED = 0x03,
    TENDON_MANAGEMENT_CONNECT_FAILURE = 0x04,
    TENDON_MANAGEMENT_AUTHENTICATION_FAILED = 0x05,
    TENDON_MANAGEMENT_NOT_PAIRED = 0x06,
    TENDON_MANAGEMENT_NO_RESOURCES = 0x07,
    TENDON_MANAGEMENT_TIMEOUT = 0x08,
    TENDON_MANAGEMENT_ALREADY_CONNECTED = 0x09,
    TENDON_MANAGEMENT_BUSY = 0x0A,
    TENDON_MANAGEMENT_REJECTED = 0x0B,
    TENDON_MANAGEMENT_NOT_SUPPORTED = 0x0C,
    TENDON_MANAGEMENT_INVALID_PARAMETERS = 0x0D,
    TENDON_MANAGEMENT_DISCONNECTED = 0x0E,
    TENDON_MANAGEMENT_NOT_POWERED = 0x0F,
    TENDON_MANAGEMENT_CANCELLED = 0x10,
    TENDON_MANAGEMENT_INVALID_INDEX = 0x11,
    TENDON_MANAGEMENT_RFKILLED = 0x12,
    TENDON_MANAGEMENT_ALREADY_PAIRED = 0x13,
    TENDON_MANAGEMENT_PERMISSION_DENIED = 0x14
} tendon_management_status;

#define TENDON_MANAGEMENT_ERROR(code) TENDON_STATUS(TENDON_LAYER_MANAGEMENT, (code))

/** Bits of supported and current settings. */
enum {
    TENDON_MANAGEMENT_POWERED = 0x00000001,
    TENDON_MANAGEMENT_CONNECTABLE = 0x00000002,
    TENDON_MANAGEMENT_BONDABLE = 0x00000010,
    TENDON_MANAGEMENT_SECURE_SIMPLE_PAIRING = 0x00000040,
    TENDON_MANAGEMENT_BREDR = 0x00000080,
    TENDON_MANAGEMENT_LOW_ENERGY = 0x00000200,
    TENDON_MANAGEMENT_ADVERTISING = 0x00000400,
    TENDON_MANAGEMENT_SECURE_CONNECTIONS = 0x00000800,
    TENDON_MANAGEMENT_PRIVACY = 0x00002000,
    TENDON_MANAGEMENT_STATIC_ADDRESS = 0x00008000
};

/** A decoded event. Members that the event does not use are 0. */
typedef struct tendon_management_event {
    uint16_t code;       /**< tendon_management_event_code; unknown ones are kept */
    uint16_t index;      /**< adapter, or TENDON_MANAGEMENT_NO_INDEX */
    uint16_t opcode;     /**< Command Complete, Command Status: the command */
    uint8_t status;      /**< Command Complete, Command Status, Connect Failed; Controller Error: its code */
    uint8_t reason;      /**< Device Disconnected: 0 unspecified, 1 timeout, 2 by us, 3 by the peer, 4 authentication, 5
                            suspend */
    uint32_t settings;   /**< New Settings; Device Connected: flags */
    tendon_address peer; /**< Device Connected, Disconnected, Connect Failed */
    bool low_energy;     /**< the peer is an LE device */
    const uint8_t *data; /**< return parameters, advertising data, or the parameters of an unknown event; borrowed */
    size_t length;
} tendon_management_event;

/**
 * Decodes one PDU as it is read from the management socket.
 * @param offset where the first wrong field starts; may be NULL.
 * @return TENDON_OK, TENDON_ERROR_TRUNCATED, or TENDON_ERROR_MALFORMED (bytes after the stated length).
 */
tendon_status tendon_management_decode(const uint8_t *pdu, size_t length, tendon_management_event *out, size_t *offset);

/** Properties of an adapter: return parameters of Read Controller Information. */
typedef struct tendon_management_information {
    tendon_address address;
    uint8_t version; /**< of the Core Specification, as HCI numbers it: 6 is 4.0, 9 is 5.0 */
    uint16_t manufacturer;
    uint32_t supported_settings, current_settings;
    uint8_t device_class[3];
    const uint8_t *name;       /**< 249 bytes with a terminator; borrowed */
    const uint8_t *short_name; /**< 11 bytes with a terminator; borrowed */
} tendon_management_information;

/** @p data: of a Command Complete of Read Controller Information. */
tendon_status tendon_management_decode_information(const uint8_t *data, size_t length,
                                                   tendon_management_information *out, size_t *offset);

/**
 * Indexes of the adapters, from a Command Complete of Read Controller Index List.
 * @return the number of adapters (only the first @p capacity are stored), or an error.
 */
tendon_status tendon_management_decode_index_list(const uint8_t *data, size_t length, uint16_t *indexes,
                                                  size_t capacity, size_t *offset);

/** Encodes any command. @return the PDU's length, TENDON_ERROR_BUFFER_TOO_SMALL, or TENDON_ERROR_OVERFLOW (@p length >
 * 65535).
 */
tendon_status tendon_management_encode(uint16_t opcode, uint16_t index, const uint8_t *data, size_t length,
                                       uint8_t *out, size_t capacity);

/** Connection parameters that the kernel requests when it connects to @p peer. */
typedef struct tendon_management_connection_parameters {
    tendon_address peer; /**< public or random */
    tendon_connection_parameters parameters;
} tendon_management_connection_parameters;

/**
 * Encodes Load Connection Parameters, which replaces the loaded parameters.
 * @return the PDU's length, TENDON_ERROR_BUFFER_TOO_SMALL, or TENDON_ERROR_INVALID_ARGUMENT: an address of another
 * type, or tendon_connection_parameters_valid() is false.
 */
tendon_status tendon_management_encode_connection_parameters(uint16_t index,
                                                             const tendon_management_connection_parameters *items,
                                                             size_t count, uint8_t *out, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
