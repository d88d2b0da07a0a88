/* SPDX-License-Identifier: MIT */
/* Waiting for an adapter that did not open, of gateway.c and of the radios of a fleet. */
#ifndef TENDON_ADAPTER_WAIT_INTERNAL_H
#define TENDON_ADAPTER_WAIT_INTERNAL_H

#include "tendon/linux/gateway.h"

/**
 * Nothing is waited for, and the first pause is the shortest.
 * @param on_report called from the loop when the kernel's report has changed retry_at.
 */
void tendon_adapter_wait_init(tendon_adapter_wait *wait, void *context, void (*on_report)(void *context));
/**
 * An attempt has failed: retry_at says when the next one is due. The kernel reports an adapter that is missing, and one
 * that another program has switched off (is_off), which is not tried before: the program may have done it on purpose.
 * @param loop NULL: of a radio that the kernel does not know. @param name as for tendon_bluez_open().
 */
void tendon_adapter_wait_begin(tendon_adapter_wait *wait, tendon_loop *loop, const char *name, tendon_status failure,
                               uint64_t now);
/** The adapter is open, or is given up. A second call does nothing. */
void tendon_adapter_wait_end(tendon_adapter_wait *wait);

#endif
