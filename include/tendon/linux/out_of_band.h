/* SPDX-License-Identifier: MIT */
/*
 * The data that two devices exchange by another way than Bluetooth LE before they pair (Out of Band; Core Spec Vol 3
 * Part H 2.3.5.6.4): by NFC, a QR code or a file. It proves which device has the public key of a pairing, so the key
 * that the pairing makes is authenticated, without a display or a keyboard.
 *
 * The bytes are AD structures (Core Specification Supplement, Part A 1.6.2, 1.16, 1.17), as in the NFC record
 * "application/vnd.bluetooth.le.oob". As text they are hexadecimal digits. Only LE Secure Connections is supported:
 * data of LE Legacy Pairing (a Temporary Key) is not.
 *
 * Get the own data with tendon_radio_read_out_of_band(), and use the data of other devices with
 * tendon_pairing_agent_out_of_band() (radio.h, pairing_agent.h). Who knows the random value of a device can pair with
 * it as if it were in the place of the expected device: keep it as secret as a passkey.
 */
#ifndef TENDON_LINUX_OUT_OF_BAND_H
#define TENDON_LINUX_OUT_OF_BAND_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** LE Role (Core Specification Supplement, Part A 1.17). */
typedef enum tendon_le_role {
    TENDON_LE_ROLE_PERIPHERAL = 0,
    TENDON_LE_ROLE_CENTRAL = 1,
    TENDON_LE_ROLE_BOTH_PERIPHERAL_PREFERRED = 2,
    TENDON_LE_ROLE_BOTH_CENTRAL_PREFERRED = 3,
    TENDON_LE_ROLE_UNKNOWN = 0xFF /**< the data have no role */
} tendon_le_role;

/** Data of one device. */
typedef struct tendon_out_of_band {
    tendon_address address; /**< with which it advertises or connects; public or random */
    uint8_t role;           /**< tendon_le_role; other values are kept */
    uint8_t confirm[16];    /**< LE Secure Connections Confirmation Value, least significant byte first; not all 0 */
    uint8_t random[16];     /**< LE Secure Connections Random Value, likewise */
} tendon_out_of_band;

/** Size of the AD structures that tendon_out_of_band_encode() writes: address, role, confirmation and random value. */
#define TENDON_OUT_OF_BAND_SIZE 48
/** Size of their text, with the NUL. */
#define TENDON_OUT_OF_BAND_STRING_SIZE 97
/** Longest data that are decoded, in bytes. Structures of other types (flags, a name) are skipped. */
#define TENDON_OUT_OF_BAND_LENGTH_MAX 512
/** Maximum number of devices of an agent, and of a file. */
#define TENDON_OUT_OF_BAND_MAX 24

/**
 * Decodes the data of one device.
 * @param offset where the wrong structure begins, @p length if one is missing; may be NULL.
 * @return TENDON_OK; TENDON_ERROR_TRUNCATED; TENDON_ERROR_MALFORMED: a structure has another length, is there twice, is
 * all 0 or is missing, or something follows their end; TENDON_ERROR_UNSUPPORTED: only data of LE Legacy Pairing;
 * TENDON_ERROR_OVERFLOW: longer than TENDON_OUT_OF_BAND_LENGTH_MAX. After an error @p out is unchanged.
 */
tendon_status tendon_out_of_band_decode(const uint8_t *data, size_t length, tendon_out_of_band *out, size_t *offset);
/** Encodes the data of one device, without the role if it is unknown. @return the length, or
 * TENDON_ERROR_BUFFER_TOO_SMALL. */
tendon_status tendon_out_of_band_encode(const tendon_out_of_band *data, uint8_t *out, size_t capacity);
/**
 * Decodes text: two hexadecimal digits for each byte, blanks only around them.
 * @param offset the character where it is wrong; may be NULL.
 * @return like tendon_out_of_band_decode().
 */
tendon_status tendon_out_of_band_parse(const char *text, size_t length, tendon_out_of_band *out, size_t *offset);
/** Writes that text. @return @p out. */
char *tendon_out_of_band_format(const tendon_out_of_band *data, char out[TENDON_OUT_OF_BAND_STRING_SIZE]);
/**
 * Reads a file of at most 8 KiB that only its owner can access: one line of text for each device; # begins a comment.
 * @return the number of devices, at most @p capacity; TENDON_ERROR_NOT_FOUND, TENDON_ERROR_FILE_PERMISSION,
 * TENDON_ERROR_OVERFLOW (the file is too long), TENDON_ERROR_TABLE_FULL (it has more devices), TENDON_SYSTEM_ERROR; the
 * error of the first line that is wrong.
 */
tendon_status tendon_out_of_band_load(const char *path, tendon_out_of_band *devices, size_t capacity);

#ifdef __cplusplus
}
#endif
#endif
