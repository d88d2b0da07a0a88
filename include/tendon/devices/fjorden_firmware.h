/* SPDX-License-Identifier: MIT */
/*
 * Fjorden grip: firmware versions, semantic versioning with short forms.
 */
#ifndef TENDON_DEVICES_FJORDEN_FIRMWARE_H
#define TENDON_DEVICES_FJORDEN_FIRMWARE_H

#include "tendon/devices/fjorden_codec.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A view into the parsed text, which must outlive it. */
typedef struct tendon_fjorden_version {
    uint16_t major, minor, patch;
    const char *prerelease, *build; /**< NULL: none; not terminated */
    size_t prerelease_length, build_length;
} tendon_fjorden_version;

/** @return true if @p text is a version; *out is written only then. */
bool tendon_fjorden_version_parse(const char *text, size_t length, tendon_fjorden_version *out);
/** Returns -1, 0 or 1. The build is ignored. */
int tendon_fjorden_version_compare(const tendon_fjorden_version *a, const tendon_fjorden_version *b);
/** Writes the version, for example "1.2.3-rc.1+7", with a terminator. @return its length without the terminator, or
 * TENDON_ERROR_BUFFER_TOO_SMALL. */
tendon_status tendon_fjorden_version_format(const tendon_fjorden_version *version, char *out, size_t capacity);

/**
 * Checks if newer firmware exists. NULL: not known. @return 1 if @p latest is newer, otherwise 0;
 * FJORDEN_ERROR_CONNECTION_TIMEOUT, _NO_FIRMWARE_SERVER (latest) or _NO_FIRMWARE_VERSION (current).
 */
tendon_status tendon_fjorden_firmware_check(bool connected, const tendon_fjorden_version *current,
                                            const tendon_fjorden_version *latest);

#ifdef __cplusplus
}
#endif
#endif
