/* SPDX-License-Identifier: MIT */
/*
 * Capture files: btsnoop (the format that Wireshark and BlueZ's btmon read).
 */
#ifndef TENDON_LINUX_CAPTURE_H
#define TENDON_LINUX_CAPTURE_H

#include "tendon/linux/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Designed by the owner of the linux room. */

#ifdef __cplusplus
}
#endif
#endif
