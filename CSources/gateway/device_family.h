/* SPDX-License-Identifier: MIT */
/* What a family's part of a device does; device.c drives it. Functions with the name of a step may leave it empty. */
#ifndef TENDON_GATEWAY_DEVICE_FAMILY_H
#define TENDON_GATEWAY_DEVICE_FAMILY_H

#include "tendon/gateway/device.h"

typedef struct device_family {
    const tendon_session_inputs *inputs;
    void *(*session)(tendon_device *device); /**< context of the inputs */
    tendon_status (*init)(tendon_device *device);
    /** Has the session connect: in this call, or as soon as it can. */
    tendon_status (*open)(tendon_device *device, uint64_t now);
    /** Has the session disconnect; disconnected() follows if the device is linked. */
    void (*close)(tendon_device *device, uint64_t now);
    /** The session is open: reads what identifies the device. True when that has ended; called again after events. */
    bool (*read)(tendon_device *device, uint64_t now);
    /** OPENED was reported: starts the streams; called again after events. */
    void (*go_on)(tendon_device *device, uint64_t now);
    tendon_status (*act)(tendon_device *device, tendon_act *act, uint64_t now); /**< NULL: it has no actions */
    /** An operation of its own is in progress, and actions wait; its end touches the device. NULL: never. */
    bool (*is_busy)(const tendon_device *device);
    bool (*may_retry)(tendon_status status); /**< NULL: always */
    tendon_status (*line)(const tendon_device *device, const tendon_device_event *event, size_t index,
                          tendon_line *line, const tendon_line_device *label, uint64_t wall_us);
    void (*identity)(const tendon_device *device, tendon_line *line);
    void (*missing)(const tendon_device *device, tendon_line *line); /**< elements of an array */
    bool (*view)(const tendon_device *device, const tendon_device_event *event, size_t index, tendon_view *out);
} device_family;

extern const device_family tendon_device_bose, tendon_device_feelspace, tendon_device_activ5, tendon_device_fjorden,
    tendon_device_obvious, tendon_device_defined;

/* ---- for the families' callbacks ---- */

/** Of the session's own link: device.c stands between it and the owner of the connection. */
tendon_session_link tendon_device_link(tendon_device *device);
/** Something has changed: the next tick looks at it. */
void tendon_device_touch(tendon_device *device);
/** The session is open. */
void tendon_device_ready(tendon_device *device);
/** The session is of no use, or was not opened: it is closed by the next tick, unless it closes itself. The first
 * reason counts. */
void tendon_device_fail(tendon_device *device, tendon_status status);
/** The action in progress has ended. */
void tendon_device_acted(tendon_device *device, tendon_status status);
/** Reports OPENED now, because more cannot be held back. */
void tendon_device_report_opened(tendon_device *device, uint64_t now);
void tendon_device_emit(tendon_device *device, const tendon_device_event *event, uint64_t now);
void tendon_device_emit_kind(tendon_device *device, tendon_device_event_kind kind, tendon_status status, uint64_t now);

#endif
