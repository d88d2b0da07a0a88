/* SPDX-License-Identifier: MIT */
/*
 * A status: one signed integer that contains a result, or an error and the layer that reported it.
 *
 * A result >= 0 is success (often a count or a length). A result < 0 is an
 * error: its magnitude is layer * 256 + code. ATT, HCI, L2CAP and management
 * codes are the peer's or the kernel's own, so TENDON_STATUS_CODE() of an ATT status is the error code of the Error
 * Response.
 */
#ifndef TENDON_BASE_STATUS_H
#define TENDON_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** >= 0: success or a count. < 0: an error, see TENDON_STATUS_LAYER(). */
typedef int32_t tendon_status;

/** Which layer a negative status came from. */
typedef enum tendon_layer {
    TENDON_LAYER_BASE = 0,
    TENDON_LAYER_ATT = 1,          /**< code = ATT error code, Core Spec Vol 3 Part F 3.4.1.1 */
    TENDON_LAYER_HCI = 2,          /**< code = HCI error code, Core Spec Vol 1 Part F */
    TENDON_LAYER_L2CAP = 3,        /**< code = L2CAP result, Core Spec Vol 3 Part A */
    TENDON_LAYER_MANAGEMENT = 4,   /**< code = status of the kernel's management interface */
    TENDON_LAYER_GATT = 5,         /**< our own GATT client and server */
    TENDON_LAYER_RADIO = 6,        /**< adapters, permissions, the virtual radio */
    TENDON_LAYER_FAMILY_FIRST = 7, /**< device families: each has its own number, see devices/family.h */
    TENDON_LAYER_FAMILY_LAST = 14,
    TENDON_LAYER_SYSTEM = 15 /**< code = errno */
} tendon_layer;

#define TENDON_STATUS(layer, code) ((tendon_status) - ((int32_t)(layer)*256 + (int32_t)(code)))
#define TENDON_STATUS_LAYER(status) ((tendon_layer)((0u - (uint32_t)(status)) >> 8))
#define TENDON_STATUS_CODE(status) ((uint8_t)((0u - (uint32_t)(status)) & 0xFFu))

#define TENDON_ATT_ERROR(code) TENDON_STATUS(TENDON_LAYER_ATT, (code))
#define TENDON_HCI_ERROR(code) TENDON_STATUS(TENDON_LAYER_HCI, (code))
/** An errno. Numbers that do not fit a code (EDQUOT is 1133 on MIPS) become 255, which has no name and no text. */
#define TENDON_SYSTEM_ERROR(number) TENDON_STATUS(TENDON_LAYER_SYSTEM, (number) < 0 || (number) > 255 ? 255 : (number))

/*
 * X(name, layer, code, text): every status that Tendon defines. The codes of the ATT, HCI and management layers are in
 * CSources/base/status_lists.h.
 */
#define TENDON_STATUS_LIST(X)                                                                                          \
    X(ERROR_INVALID_ARGUMENT, BASE, 1, "an argument is out of range")                                                  \
    X(ERROR_TRUNCATED, BASE, 2, "the input ends in the middle of a field")                                             \
    X(ERROR_MALFORMED, BASE, 3, "the input violates its format")                                                       \
    X(ERROR_BUFFER_TOO_SMALL, BASE, 4, "the caller's buffer is too small for the result")                              \
    X(ERROR_TABLE_FULL, BASE, 5, "the caller's table is full; it contains the first items")                            \
    X(ERROR_BUSY, BASE, 6, "an operation of this type is in progress")                                                 \
    X(ERROR_WRONG_STATE, BASE, 7, "the operation is not possible in the present state")                                \
    X(ERROR_NOT_FOUND, BASE, 8, "the item does not exist")                                                             \
    X(ERROR_CANCELLED, BASE, 9, "the caller cancelled the operation")                                                  \
    X(ERROR_TIMEOUT, BASE, 10, "the deadline passed")                                                                  \
    X(ERROR_UNSUPPORTED, BASE, 11, "the library, the adapter or the device does not support the operation")            \
    X(ERROR_WOULD_BLOCK, BASE, 12, "nothing can be sent now; try again when writable")                                 \
    X(ERROR_DISCONNECTED, BASE, 13, "the device is not connected")                                                     \
    X(ERROR_INCOMPLETE, BASE, 14, "more bytes are needed")                                                             \
    X(ERROR_OVERFLOW, BASE, 15, "a value is too large or too long for its field")                                      \
    X(ERROR_FILE_PERMISSION, BASE, 16, "the file or directory is not accessible, or is accessible to other users")     \
    X(GATT_ERROR_TRANSACTION_TIMEOUT, GATT, 1, "no response for 30 s; the bearer is closed")                           \
    X(GATT_ERROR_UNEXPECTED_RESPONSE, GATT, 2, "the response belongs to another procedure")                            \
    X(GATT_ERROR_BAD_RESPONSE, GATT, 3, "the response violates the rules of its procedure")                            \
    X(GATT_ERROR_NO_PROGRESS, GATT, 4, "the peer returned handles out of order")                                       \
    X(GATT_ERROR_VALUE_TOO_LONG, GATT, 5, "the attribute value is longer than 512 bytes")                              \
    X(GATT_ERROR_QUEUE_FULL, GATT, 6, "the request queue is full")                                                     \
    X(GATT_ERROR_NOT_SUBSCRIBED, GATT, 8, "the client has not enabled notifications")                                  \
    X(RADIO_ERROR_NO_ADAPTER, RADIO, 1, "the Bluetooth adapter does not exist")                                        \
    X(RADIO_ERROR_NO_KERNEL_SUPPORT, RADIO, 2, "the kernel does not support Bluetooth")                                \
    X(RADIO_ERROR_RFKILL, RADIO, 3, "rfkill blocks the adapter")                                                       \
    X(RADIO_ERROR_NO_CAP_NET_RAW, RADIO, 4, "CAP_NET_RAW is required to scan, advertise and capture")                  \
    X(RADIO_ERROR_ADAPTER_BUSY, RADIO, 5, "another program uses the adapter")                                          \
    X(RADIO_ERROR_ADAPTER_DOWN, RADIO, 6, "the adapter is powered off")                                                \
    X(RADIO_ERROR_ALREADY_STARTED, RADIO, 7, "scanning or advertising is already started")                             \
    X(RADIO_ERROR_OUT_OF_RANGE, RADIO, 8, "the device did not respond")                                                \
    X(RADIO_ERROR_PEER_CLOSED, RADIO, 9, "the device disconnected")                                                    \
    X(RADIO_ERROR_COMMAND_TIMEOUT, RADIO, 10, "the controller did not respond to a command")                           \
    X(RADIO_ERROR_NO_PAIRING_SERVICE, RADIO, 11, "pairing is required, but no pairing service is set")                 \
    X(RADIO_ERROR_PAIRING_FAILED, RADIO, 12, "pairing was rejected or failed")                                         \
    X(RADIO_ERROR_NO_CAP_NET_ADMIN, RADIO, 13, "CAP_NET_ADMIN is required to power on and to pair")                    \
    X(RADIO_ERROR_PAIRING_NOT_ALLOWED, RADIO, 14,                                                                      \
      "the device is not bonded, and pairing with new devices is not enabled")                                         \
    X(RADIO_ERROR_BONDS_FULL, RADIO, 15, "the bond store is full; forget a device")                                    \
    X(RADIO_ERROR_OTHER_BOND_STORE, RADIO, 16, "another program uses this adapter with another bond store")            \
    X(RADIO_ERROR_PAIRING_TOO_WEAK, RADIO, 17, "the device pairs with less security than required")                    \
    X(RADIO_ERROR_IDENTITY_TAKEN, RADIO, 18, "the device claims the identity of another bond; forget that bond first") \
    X(RADIO_ERROR_NOT_SECURE, RADIO, 19, "the connection is not secure enough")                                        \
    X(RADIO_ERROR_STALLED, RADIO, 20, "the controller accepts no more data")                                           \
    X(RADIO_ERROR_UNCONFIGURED, RADIO, 21, "the adapter has no address; set one with 'btmgmt public-addr'")            \
    X(RADIO_ERROR_SAME_ADDRESS, RADIO, 22, "another adapter that is on has the same address")                          \
    X(RADIO_ERROR_DEVICE_IN_USE, RADIO, 23, "another program has a connection to the device")                          \
    X(RADIO_ERROR_UNKNOWN_RADIO, RADIO, 24, "TENDON_RADIO takes bluez or virtual")

#define TENDON_STATUS_ENUM(name, layer, code, text) TENDON_##name = -((int)TENDON_LAYER_##layer * 256 + (code)),
/** All statuses that Tendon defines, except those of the device families, which are in the headers of the families. */
enum { TENDON_OK = 0, TENDON_STATUS_LIST(TENDON_STATUS_ENUM) };
#undef TENDON_STATUS_ENUM

/** Returns the name of a status, e.g. "ERROR_TRUNCATED", "ATT_READ_NOT_PERMITTED", "SYSTEM_EPERM". Never NULL; static
 * storage.
 *
 * The status of a device family is "FAMILY_ERROR" here. tendon_family_status_name() and tendon_family_status_text()
 * (devices/family.h) return its own name and text, and those of all other layers.
 */
const char *tendon_status_name(tendon_status status);

/** Returns one line of plain English about a status: a clause that starts with a lowercase letter. Never NULL; static
 * storage. */
const char *tendon_status_text(tendon_status status);

/** Enough for every status with its longest name and text. */
#define TENDON_STATUS_FORMAT_SIZE 160

/**
 * Writes the cause as one line for people: the text, then in parentheses the name, and the number where others define
 * it, e.g. "the disk has no space left (SYSTEM_ENOSPC, 28)", "the attribute cannot be read (ATT_READ_NOT_PERMITTED,
 * 0x02)", "the deadline passed (ERROR_TIMEOUT)".
 * @param name, text those of a device family's own functions; NULL: tendon_status_name(), tendon_status_text().
 * @return the length without the terminator; TENDON_ERROR_BUFFER_TOO_SMALL: the line was truncated. The result is
 * always terminated unless @p capacity is 0.
 */
tendon_status tendon_status_format(tendon_status status, const char *name, const char *text, char *out,
                                   size_t capacity);

/** Returns the name of the layer of a status: "base", "ATT", "HCI", ... Never NULL; static storage. */
const char *tendon_status_layer_name(tendon_status status);

#ifdef __cplusplus
}
#endif
#endif
