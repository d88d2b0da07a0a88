/* SPDX-License-Identifier: MIT */
/*
 * Recognition: what makes a device one of a family can be in its advertisement and its scan response together, which
 * come one after the other. Sans I/O.
 */
#ifndef TENDON_LINUX_RECOGNITION_H
#define TENDON_LINUX_RECOGNITION_H

#include "tendon/host/advertisement.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Advertisers whose latest packet is kept (our design); a new one takes the place of the one that came first. */
#define TENDON_RECOGNITION_ADVERTISERS 16

/** Zero, except recognizes, which the caller sets. All other members are private. */
typedef struct tendon_recognition {
    /** Whether these bytes are of such a device, for example that of a tendon_family. */
    bool (*recognizes)(const uint8_t *data, size_t length);
    struct {
        tendon_address address;
        bool response;
        uint8_t length; /**< 0: none */
        uint8_t data[TENDON_AD_LEGACY_MAX];
    } latest[TENDON_RECOGNITION_ADVERTISERS];
    size_t next;
} tendon_recognition;

/** Returns true if the packet is of such a device: by itself, or after its advertiser's latest one of the other kind.
 * Keeps it. An extended advertisement has all in one packet. */
bool tendon_recognition_take(tendon_recognition *recognition, const tendon_ad_report *report);

#ifdef __cplusplus
}
#endif
#endif
