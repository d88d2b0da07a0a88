/* SPDX-License-Identifier: MIT */
#ifndef TENDON_DEVICES_ACTIV5_CODEC_PARTS_H
#define TENDON_DEVICES_ACTIV5_CODEC_PARTS_H

#include "tendon/devices/activ5_codec.h"

#include <stddef.h>
#include <string.h>

/* All members except the text, which is not read beyond its length: clearing it would cost more than decoding a force.
 */
static inline void activ5_clear(tendon_activ5_message *message) {
    memset(message, 0, offsetof(tendon_activ5_message, text));
}

/* The first such byte from @p at on; @p end: none. */
size_t tendon_activ5_find_byte(const uint8_t *text, size_t at, size_t end, uint8_t wanted);

/* Sets the text, from @p at to @p end, by the type that is set already: the second id part without its NULs. */
void tendon_activ5_put_text(tendon_activ5_message *out, const uint8_t *text, size_t at, size_t end);

/* tendon_activ5_parse_text() of the bytes from @p start to @p end; start <= end. */
tendon_status tendon_activ5_parse_content(const uint8_t *text, size_t start, size_t end, tendon_activ5_message *out);

#endif
