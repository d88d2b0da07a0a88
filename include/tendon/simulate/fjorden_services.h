/* SPDX-License-Identifier: MIT */
/* Fjorden grip: values of services that the grip has and no session uses: HID report, firmware management (SMP). */
#ifndef TENDON_SIMULATE_FJORDEN_SERVICES_H
#define TENDON_SIMULATE_FJORDEN_SERVICES_H

#include "tendon/devices/fjorden_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @return the consumer usage, 0 when released, or FJORDEN_ERROR_LENGTH or _RANGE. */
tendon_status tendon_fjorden_decode_hid_report(const uint8_t *data, size_t length);

/* ---- firmware management (SMP) ---- */

#define TENDON_FJORDEN_SMP_HEADER_SIZE 8

typedef struct tendon_fjorden_smp {
    uint8_t operation; /**< 0 read, 1 read response, 2 write, 3 write response */
    uint8_t version, flags;
    uint16_t length;
    uint16_t group;
    uint8_t sequence, command;
    const uint8_t *payload; /**< CBOR, borrowed from the input */
} tendon_fjorden_smp;

typedef enum tendon_fjorden_smp_request {
    TENDON_FJORDEN_SMP_ECHO = 0,
    TENDON_FJORDEN_SMP_RESET,
    TENDON_FJORDEN_SMP_IMAGE_STATE,
    TENDON_FJORDEN_SMP_IMAGE_ERASE
} tendon_fjorden_smp_request;

/** Returns "read", "read_response", "write" or "write_response". Never NULL. */
const char *tendon_fjorden_smp_operation_name(uint8_t operation);
/** Returns the request named "echo", "reset", "imageState" or "imageErase", or -1. */
int tendon_fjorden_smp_request_named(const char *name, size_t length);
/** @p text is used only by echo. @return the length, TENDON_ERROR_BUFFER_TOO_SMALL or _OVERFLOW (text over 65535). */
tendon_status tendon_fjorden_encode_smp(tendon_fjorden_smp_request request, uint8_t sequence, const char *text,
                                        size_t text_length, uint8_t *out, size_t capacity);
/** @return TENDON_OK; FJORDEN_ERROR_SHORT, _OPERATION; TENDON_ERROR_TRUNCATED. Bytes beyond the length are ignored. */
tendon_status tendon_fjorden_decode_smp(const uint8_t *data, size_t length, tendon_fjorden_smp *out);

#ifdef __cplusplus
}
#endif
#endif
