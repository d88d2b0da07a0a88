/* SPDX-License-Identifier: MIT */
/* feelSpace belt: its packets over the USB port, which no session uses. */
#ifndef TENDON_SIMULATE_FEELSPACE_USB_H
#define TENDON_SIMULATE_FEELSPACE_USB_H

#include "tendon/devices/feelspace_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Handles of the fixed profile; 0: none. */
typedef struct tendon_feelspace_handles {
    uint8_t declaration, value, configuration;
} tendon_feelspace_handles;

/** @return false if it is not a characteristic of the belt. */
bool tendon_feelspace_usb_handles(uint16_t characteristic, tendon_feelspace_handles *out);
tendon_status tendon_feelspace_encode_usb_write(uint16_t characteristic, const uint8_t *payload, size_t length,
                                                uint8_t *out, size_t capacity);
/** @return 4. */
tendon_status tendon_feelspace_encode_usb_notify(uint16_t characteristic, bool enable, uint8_t *out, size_t capacity);
/** @return 2. */
tendon_status tendon_feelspace_encode_usb_read(uint16_t characteristic, uint8_t *out, size_t capacity);

typedef struct tendon_feelspace_usb_frame {
    uint16_t characteristic;
    const uint8_t *payload; /**< borrowed */
    size_t length;
} tendon_feelspace_usb_frame;

/**
 * Decodes the frame at the start of the bytes from a belt. @return the number of bytes consumed;
 * TENDON_ERROR_INCOMPLETE: more bytes are required; TENDON_ERROR_MALFORMED: unknown handle or length; discard the input
 * and start again.
 */
tendon_status tendon_feelspace_decode_usb_frame(const uint8_t *data, size_t length, tendon_feelspace_usb_frame *out,
                                                size_t *offset);

#ifdef __cplusplus
}
#endif
#endif
