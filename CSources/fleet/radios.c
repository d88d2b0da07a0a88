/* SPDX-License-Identifier: MIT */
/* The radios of a fleet: opened, scanned with, lost, waited for, opened again. */
#include <string.h>

#include "../linux/adapter_wait.h"
#include "fleet_parts.h"

/* ---- opening ---- */

/** NULL: any. */
static const char *adapter_of(const tendon_fleet_radio *radio) {
    const tendon_fleet_options *options = &radio->fleet->options;
    return radio->number < options->adapter_count ? options->adapters[radio->number] : NULL;
}

#if defined(TENDON_HAVE_BLUEZ)

_Static_assert(sizeof(tendon_bluez_radio) <= TENDON_GATEWAY_RADIO_SIZE, "a radio of either kind has room");

/** On another thread: it has this radio's memory, and reads options. */
static void prepare_adapter(void *of) {
    tendon_fleet_radio *radio = of;
    radio->prepared = tendon_bluez_prepare(&radio->memory.bluez_radio, adapter_of(radio), TENDON_BLUEZ_SHARED);
}

static tendon_status attach_adapter(tendon_fleet_radio *radio) {
    tendon_status status = radio->prepared;
    if (status >= 0 && radio->fleet->is_ending) {
        tendon_radio_close(&radio->memory.bluez_radio.radio);
        status = TENDON_ERROR_CANCELLED;
    }
    status = status < 0 ? status : tendon_bluez_attach(&radio->memory.bluez_radio, radio->fleet->loop);
    radio->radio = status < 0 ? NULL : &radio->memory.bluez_radio.radio;
    return status;
}

static bool is_opened_elsewhere(const tendon_fleet_radio *radio) {
    return !radio->fleet->options.is_virtual && radio->fleet->options.run != NULL;
}

static tendon_status open_adapter(tendon_fleet_radio *radio) {
    tendon_status status = tendon_bluez_open(&radio->memory.bluez_radio, radio->fleet->loop, adapter_of(radio));
    radio->radio = status < 0 ? NULL : &radio->memory.bluez_radio.radio;
    return status;
}

#else

static void prepare_adapter(void *of) {
    (void)of;
}

static tendon_status attach_adapter(tendon_fleet_radio *radio) {
    (void)radio;
    return TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT;
}

static bool is_opened_elsewhere(const tendon_fleet_radio *radio) {
    (void)radio;
    return false;
}

static tendon_status open_adapter(tendon_fleet_radio *radio) {
    (void)radio;
    return TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT;
}

#endif

static tendon_status open_virtual(tendon_fleet_radio *radio) {
    tendon_address address = tendon_virtual_radio_default_address();
    tendon_status status = tendon_virtual_radio_open(&radio->memory.virtual_radio, radio->fleet->loop,
                                                     radio->fleet->options.directory, &address);
    radio->radio = status < 0 ? NULL : &radio->memory.virtual_radio.radio;
    return status;
}

/* ---- callbacks of the radio ---- */

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    tendon_fleet_radio *radio = context;
    if (radio->fleet->is_open) {
        tendon_fleet_take_report(radio->fleet, radio->number, report, now);
    }
}

static void on_failure(void *context, tendon_status status, uint64_t now) {
    tendon_fleet_radio *radio = context;
    if (radio->state == TENDON_FLEET_RADIO_OPEN) {
        radio->state = TENDON_FLEET_RADIO_LEAVING;
        tendon_turns_stop_radio(&radio->fleet->turns, radio->number);
        radio->failure = status;
        radio->leave_at = now + TENDON_FLEET_LEAVE_MS;
        tendon_fleet_touch(radio->fleet);
    }
}

static void on_peer_failure(void *context, const tendon_address *peer, tendon_status reason, uint64_t now) {
    tendon_fleet_radio *radio = context;
    (void)now;
    tendon_fleet_note_cause(radio->fleet, peer, reason);
}

/* ---- the life of a radio ---- */

/** Devices pair only if that was requested: a stranger that advertises near a gateway does not become a bonded device.
 */
static void set_pairing_policy(tendon_fleet_radio *radio) {
    const tendon_fleet *fleet = radio->fleet;
    tendon_radio_set_pairing_policy(radio->radio,
                                    &(tendon_pairing_policy){.restricted = true,
                                                             .allowed = fleet->options.allowed.addresses,
                                                             .allowed_count = fleet->options.allowed.count,
                                                             .window_until = fleet->pair_until});
}

/** What an open radio needs before it can be used. */
static tendon_status prepare(tendon_fleet_radio *radio) {
    tendon_fleet *fleet = radio->fleet;
    tendon_radio *it = radio->radio;
    it->report_context = radio;
    it->on_report = on_report;
    it->on_failure = on_failure;
    it->on_peer_failure = on_peer_failure;
    (void)tendon_radio_open_bonds(it, &radio->bonds, NULL); /* without them devices that do not pair connect */
    set_pairing_policy(radio);
    if (fleet->options.connection.max_interval != 0) {
        (void)tendon_radio_set_connection_parameters(it, &fleet->options.connection);
    }
    tendon_status status = tendon_turns_use_radio(&fleet->turns, radio->number, it);
    memset(&radio->scan, 0, sizeof radio->scan);
    if (status >= 0) {
        status = tendon_radio_scan_acquire(it, &radio->scan, &(tendon_scan_parameters){.coded = fleet->options.coded});
    }
    return status;
}

static void close_radio(tendon_fleet_radio *radio) {
    tendon_fleet *fleet = radio->fleet;
    if (radio->radio != NULL) {
        fleet->counters.lost_packets += radio->radio->lost;
        tendon_turns_stop_radio(&fleet->turns, radio->number);
        tendon_radio_close(radio->radio);
        radio->radio = NULL;
        tendon_turns_lose_radio(&fleet->turns, radio->number);
    }
}

/** @param status of its opening. */
static tendon_status use_radio(tendon_fleet_radio *radio, tendon_status status) {
    if (status >= 0) {
        status = prepare(radio);
    }
    if (status < 0) {
        radio->failure = status;
        radio->state = TENDON_FLEET_RADIO_WAITING;
        close_radio(radio);
        return status;
    }
    tendon_adapter_wait_end(&radio->wait);
    radio->was_open = true;
    radio->state = TENDON_FLEET_RADIO_OPEN;
    radio->failure = TENDON_OK;
    return TENDON_OK;
}

static tendon_status try_to_open(tendon_fleet_radio *radio) {
    return use_radio(radio, radio->fleet->options.is_virtual ? open_virtual(radio) : open_adapter(radio));
}

/** Until the kernel reports the adapter, or the pause has passed. Each reason is reported once. */
static void wait_for_adapter(tendon_fleet_radio *radio, uint64_t now) {
    const tendon_fleet *fleet = radio->fleet;
    tendon_adapter_wait_begin(&radio->wait, fleet->options.is_virtual ? NULL : fleet->loop, adapter_of(radio),
                              radio->failure, now);
    if (radio->failure != radio->reported) {
        radio->reported = radio->failure;
        tendon_fleet_report_radio(radio, "radio_waiting");
    }
}

/** Nor is a kernel waited for that has no Bluetooth, as the command does, whose user can see that it waits. */
static bool is_final(tendon_status status) {
    return tendon_adapter_absence_of(status) == TENDON_ADAPTER_UNUSABLE ||
           status == TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT;
}

/** An attempt elsewhere has this result; a later one that is like the first is not reported. */
static void take_attempt(tendon_fleet_radio *radio, tendon_status status, uint64_t now) {
    tendon_fleet *fleet = radio->fleet;
    bool is_first = !radio->was_tried;
    radio->was_tried = true;
    if (status >= 0 && !is_first) {
        radio->reported = TENDON_OK;
        tendon_fleet_report_restored(radio);
    } else if (status < 0 && is_first && is_final(status)) {
        radio->wait.retry_at = UINT64_MAX;
        fleet->first_failure = status;
    } else if (status < 0 && !fleet->is_ending) {
        wait_for_adapter(radio, now);
    }
    if (is_first && --fleet->untried == 0 && fleet->options.on_opened != NULL) {
        fleet->options.on_opened(fleet->context, fleet->first_failure);
    }
}

static void adapter_prepared(void *of) {
    tendon_fleet_radio *radio = of;
    radio->state = TENDON_FLEET_RADIO_WAITING;
    take_attempt(radio, use_radio(radio, attach_adapter(radio)), tendon_monotonic_ms());
    tendon_fleet_touch(radio->fleet);
}

static void open_elsewhere(tendon_fleet_radio *radio) {
    const tendon_fleet_options *options = &radio->fleet->options;
    radio->state = TENDON_FLEET_RADIO_PREPARING;
    options->run(options->run_context, prepare_adapter, adapter_prepared, radio);
}

bool tendon_fleet_is_preparing(const tendon_fleet *fleet) {
    for (size_t i = 0; i < fleet->radio_count; i++) {
        if (fleet->radios[i].state == TENDON_FLEET_RADIO_PREPARING) {
            return true;
        }
    }
    return false;
}

static void adapter_reported(void *context) {
    tendon_fleet_touch(context);
}

tendon_status tendon_fleet_radio_open(tendon_fleet_radio *radio, uint64_t now) {
    tendon_adapter_wait_init(&radio->wait, radio->fleet, adapter_reported);
    if (is_opened_elsewhere(radio)) {
        open_elsewhere(radio);
        return TENDON_OK;
    }
    tendon_status status = try_to_open(radio);
    if (status >= 0) {
        return TENDON_OK;
    }
    if (radio->fleet->options.is_virtual || is_final(status)) {
        return status;
    }
    wait_for_adapter(radio, now);
    return TENDON_OK;
}

/** Its connections have ended: it is closed, and waited for. */
static void leave(tendon_fleet_radio *radio, uint64_t now) {
    close_radio(radio);
    radio->state = TENDON_FLEET_RADIO_WAITING;
    radio->reported = radio->failure;
    tendon_fleet_report_radio(radio, "radio_lost");
    radio->wait.is_off = tendon_adapter_absence_of(radio->failure) == TENDON_ADAPTER_OFF;
    wait_for_adapter(radio, now);
}

void tendon_fleet_radio_step(tendon_fleet_radio *radio, uint64_t now) {
    tendon_fleet *fleet = radio->fleet;
    switch (radio->state) {
    case TENDON_FLEET_RADIO_OPEN:
    case TENDON_FLEET_RADIO_PREPARING:
        break;
    case TENDON_FLEET_RADIO_LEAVING:
        if (!tendon_fleet_has_turns(fleet, radio->number)) {
            leave(radio, now);
        } else if (now >= radio->leave_at) {
            radio->leave_at = UINT64_MAX;
            tendon_fleet_end_turns(fleet, radio->number, true, now);
        }
        break;
    default:
        if (now < radio->wait.retry_at || fleet->is_ending) {
            break;
        }
        if (is_opened_elsewhere(radio)) {
            open_elsewhere(radio);
        } else if (try_to_open(radio) < 0) {
            wait_for_adapter(radio, now);
        } else {
            radio->reported = TENDON_OK;
            tendon_fleet_report_restored(radio);
        }
        break;
    }
}

uint64_t tendon_fleet_radio_deadline(const tendon_fleet_radio *radio) {
    switch (radio->state) {
    case TENDON_FLEET_RADIO_OPEN:
    case TENDON_FLEET_RADIO_PREPARING:
        return UINT64_MAX;
    case TENDON_FLEET_RADIO_LEAVING:
        return radio->leave_at;
    default:
        return radio->fleet->is_ending ? UINT64_MAX : radio->wait.retry_at;
    }
}

void tendon_fleet_radio_close(tendon_fleet_radio *radio) {
    tendon_adapter_wait_end(&radio->wait);
    close_radio(radio);
}
