/* SPDX-License-Identifier: MIT */
/* An adapter that did not open is tried again when the kernel reports it, or after a pause that doubles. */
#include "adapter_wait.h"

void tendon_adapter_wait_init(tendon_adapter_wait *wait, void *context, void (*on_report)(void *context)) {
    *wait = (tendon_adapter_wait){.pause_ms = TENDON_GATEWAY_PAUSE_MS, .context = context, .on_report = on_report};
}

tendon_adapter_absence tendon_adapter_absence_of(tendon_status failure) {
    switch (failure) {
    case TENDON_RADIO_ERROR_NO_ADAPTER:
    case TENDON_RADIO_ERROR_UNCONFIGURED:
        return TENDON_ADAPTER_MISSING;
    case TENDON_RADIO_ERROR_ADAPTER_DOWN:
    case TENDON_RADIO_ERROR_RFKILL:
        return TENDON_ADAPTER_OFF;
    case TENDON_RADIO_ERROR_NO_CAP_NET_RAW:
    case TENDON_RADIO_ERROR_UNKNOWN_RADIO:
    case TENDON_ERROR_INVALID_ARGUMENT:
        return TENDON_ADAPTER_UNUSABLE;
    default:
        return TENDON_ADAPTER_FAILING;
    }
}

#if defined(TENDON_HAVE_BLUEZ)

_Static_assert(sizeof(tendon_bluez_arrival) <= TENDON_GATEWAY_ARRIVAL_SIZE, "the union must not grow with its members");

static void arrived(void *context, tendon_status status, uint64_t now) {
    tendon_adapter_wait *wait = context;
    const uint64_t after_pause = now + wait->pause_ms;
    wait->is_asked = wait->is_off = false;
    if (status >= 0) {
        wait->retry_at = now + TENDON_GATEWAY_ARRIVAL_MS;
    } else if (after_pause < wait->retry_at) {
        wait->retry_at = after_pause; /* no report can follow: the next attempt finds it */
    }
    wait->on_report(wait->context);
}

static void ask_kernel(tendon_adapter_wait *wait, tendon_loop *loop, const char *name, tendon_status failure) {
    bool is_missing = tendon_adapter_absence_of(failure) == TENDON_ADAPTER_MISSING;
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
