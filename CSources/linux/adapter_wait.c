/* SPDX-License-Identifier: MIT */
/* An adapter that did not open is tried again when the kernel reports it, or after a pause that doubles. */
#include "adapter_wait.h"

void tendon_adapter_wait_init(tendon_adapter_wait *wait, void *context, void (*on_report)(void *context)) {
    *wait = (tendon_adapter_wait){.pause_ms = TENDON_GATEWAY_PAUSE_MS, .context = context, .on_report = on_report};
}

#if defined(TENDON_HAVE_BLUEZ)

_Static_assert(sizeof(tendon_bluez_arrival) <= TENDON_GATEWAY_ARRIVAL_SIZE, "the union must not grow with its members");

/** Between the kernel's report and the attempt: an adapter that comes and goes costs at most ten attempts per second.
 */
#define ARRIVAL_PAUSE_MS 100u

static void arrived(void *context, tendon_status status, uint64_t now) {
    tendon_adapter_wait *wait = context;
    const uint64_t after_pause = now + wait->pause_ms;
    wait->is_asked = wait->is_off = false;
    if (status >= 0) {
        wait->retry_at = now + ARRIVAL_PAUSE_MS;
    } else if (after_pause < wait->retry_at) {
        wait->retry_at = after_pause; /* no report can follow: the next attempt finds it */
    }
    wait->on_report(wait->context);
}

static void ask_kernel(tendon_adapter_wait *wait, tendon_loop *loop, const char *name, tendon_status failure) {
    bool is_missing = failure == TENDON_RADIO_ERROR_NO_ADAPTER || failure == TENDON_RADIO_ERROR_UNCONFIGURED;
    if (loop != NULL && !wait->is_asked && (is_missing || wait->is_off)) {
        tendon_status status = (wait->is_off ? tendon_bluez_await_usable_adapter
                                             : tendon_bluez_await_adapter)(&wait->arrival, loop, name, wait, arrived);
        wait->is_asked = status >= 0;
    }
}

static void forget_kernel(tendon_adapter_wait *wait) {
    if (wait->is_asked) {
        tendon_bluez_arrival_close(&wait->arrival);
    }
}

#else

static void ask_kernel(tendon_adapter_wait *wait, tendon_loop *loop, const char *name, tendon_status failure) {
    (void)wait;
    (void)loop;
    (void)name;
    (void)failure;
}

static void forget_kernel(tendon_adapter_wait *wait) {
    (void)wait;
}

#endif

void tendon_adapter_wait_begin(tendon_adapter_wait *wait, tendon_loop *loop, const char *name, tendon_status failure,
                               uint64_t now) {
    const uint64_t after_pause = now + wait->pause_ms;
    wait->pause_ms =
        wait->pause_ms < TENDON_GATEWAY_PAUSE_MAX_MS / 2 ? 2 * wait->pause_ms : TENDON_GATEWAY_PAUSE_MAX_MS;
    ask_kernel(wait, loop, name, failure);
    wait->is_off = wait->is_off && wait->is_asked;
    wait->retry_at = wait->is_off ? UINT64_MAX : after_pause;
}

void tendon_adapter_wait_end(tendon_adapter_wait *wait) {
    forget_kernel(wait);
    wait->is_asked = wait->is_off = false;
    wait->pause_ms = TENDON_GATEWAY_PAUSE_MS;
}
