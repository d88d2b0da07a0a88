/* SPDX-License-Identifier: MIT */
/*
 * Monitor: the kernel's monitor channel, written to a capture. Present only in builds with TENDON_HAVE_BLUEZ, as
 * tendon/bluez.h; so tendon/tools.h does not include it.
 */
#ifndef TENDON_TOOLS_MONITOR_H
#define TENDON_TOOLS_MONITOR_H

#include "tendon/linux/loop.h"
#include "tendon/tools/capture.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Writes every HCI packet between the kernel and its controllers to a capture. The caller owns the memory. */
typedef struct tendon_bluez_monitor {
    tendon_loop *loop;
    tendon_source source;
    int lease; /**< shows radios that this socket uses no adapter */
    tendon_capture *capture;
    bool all;
    uint16_t index;   /**< the adapter, unless all */
    uint64_t records; /**< written */
} tendon_bluez_monitor;

/**
 * Starts writing to @p capture (borrowed until closed) from the loop. A capture with datalink
 * TENDON_CAPTURE_MONITOR contains all that the kernel reports (adapters added and removed, management messages), one
 * with TENDON_CAPTURE_H4 only the HCI packets. A failed write ends it: capture->status contains the reason.
 * @param name as for tendon_bluez_open(), the index that it has now; NULL: all adapters.
 * @return TENDON_OK, TENDON_RADIO_ERROR_NO_CAP_NET_RAW (CAP_NET_RAW), _NO_KERNEL_SUPPORT, ...
 */
tendon_status tendon_bluez_monitor_open(tendon_bluez_monitor *monitor, tendon_loop *loop, tendon_capture *capture,
                                        const char *name);
/** Returns the number of records that the kernel dropped because the process read too slowly. */
uint32_t tendon_bluez_monitor_lost(const tendon_bluez_monitor *monitor);
/** Writes the packets that wait already, then stops. A second call does nothing. */
void tendon_bluez_monitor_close(tendon_bluez_monitor *monitor);

#ifdef __cplusplus
}
#endif
#endif
