/* SPDX-License-Identifier: MIT */
#ifndef PRIVILEGES_H
#define PRIVILEGES_H

#include <stdint.h>

/** What capget() reports: capabilities, or an errno. By default CAP_NET_ADMIN and CAP_NET_RAW. */
typedef struct privileges {
    uint32_t effective;
    int error;
} privileges;
extern privileges bluez_privileges;

#endif
