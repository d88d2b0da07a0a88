/* SPDX-License-Identifier: MIT */
/* The toy of docs/adding-a-device.md: one service, one characteristic, one value. Stateless. */
#ifndef TENDON_DEVICES_TOY_CODEC_H
#define TENDON_DEVICES_TOY_CODEC_H

#include "tendon/host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_TOY_SERVICE 0xFFF0
#define TENDON_TOY_LEVEL 0xFFF1 /* notifies: sequence u8, level u8 in percent */

#define TENDON_TOY_STATUS_LIST(X)                                                                                      \
    X(LENGTH, 1, "the value does not have 2 bytes")                                                                    \
    X(RANGE, 2, "the level is more than 100 percent")

/** The layer of its statuses. */
#define TENDON_LAYER_TOY 14

#define TENDON_TOY_STATUS_ENUM(name, code, text) TENDON_TOY_ERROR_##name = -((int)TENDON_LAYER_TOY * 256 + (code)),
enum { TENDON_TOY_STATUS_LIST(TENDON_TOY_STATUS_ENUM) };
#undef TENDON_TOY_STATUS_ENUM

const char *tendon_toy_status_name(tendon_status status);
const char *tendon_toy_status_text(tendon_status status);

typedef struct tendon_toy_level {
    uint8_t sequence;
    uint8_t percent;
} tendon_toy_level;

/** @return TENDON_OK, TOY_ERROR_LENGTH or _RANGE; *out is written only on success. */
tendon_status tendon_toy_decode_level(const uint8_t *data, size_t length, tendon_toy_level *out);
/** True if the advertisement lists the toy's service. */
bool tendon_toy_recognize(const uint8_t *data, size_t length);

#ifdef __cplusplus
}
#endif
#endif
