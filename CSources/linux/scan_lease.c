/* SPDX-License-Identifier: MIT */
/* Scan leases: one scan of a radio serves all of them; the strongest request decides. */
#include "tendon/linux/radio.h"

enum { SCAN_MIN_MS = 3, SCAN_MAX_MS = 10240, INTERVAL_MS = 60 };

static tendon_status check(const tendon_scan_parameters *parameters, tendon_scan_parameters *out) {
    *out = *parameters;
    out->interval_ms = out->interval_ms == 0 ? INTERVAL_MS : out->interval_ms;
    out->window_ms = out->window_ms == 0 ? out->interval_ms : out->window_ms;
    return out->interval_ms > SCAN_MAX_MS || out->window_ms < SCAN_MIN_MS || out->window_ms > out->interval_ms
               ? TENDON_ERROR_INVALID_ARGUMENT
               : TENDON_OK;
}

/** The larger share of the time; of equal ones the shorter interval. */
static bool scans_more(const tendon_scan_parameters *a, const tendon_scan_parameters *b) {
    uint32_t first = (uint32_t)a->window_ms * b->interval_ms, second = (uint32_t)b->window_ms * a->interval_ms;
    return first > second || (first == second && a->interval_ms < b->interval_ms);
}

static tendon_scan_parameters merge(const tendon_scan_lease *leases) {
    tendon_scan_parameters merged = leases->parameters;
    for (const tendon_scan_lease *lease = leases->next; lease != NULL; lease = lease->next) {
        const tendon_scan_parameters *its = &lease->parameters;
        merged.active = merged.active || its->active;
        merged.coded = merged.coded || its->coded;
        merged.filter_duplicates = merged.filter_duplicates && its->filter_duplicates;
        if (scans_more(its, &merged)) {
            merged.interval_ms = its->interval_ms;
            merged.window_ms = its->window_ms;
        }
    }
    return merged;
}

static bool is_same(const tendon_scan_parameters *a, const tendon_scan_parameters *b) {
    return a->active == b->active && a->filter_duplicates == b->filter_duplicates && a->interval_ms == b->interval_ms &&
           a->window_ms == b->window_ms && a->coded == b->coded;
}

/**
 * Makes the scan that of the leases. A scan that stays the same is not disturbed, unless a user has @p joined: some
 * controllers report a device once per scan, whatever the filter, and would not report it to the new user.
 */
static tendon_status apply(tendon_radio *radio, bool joined) {
    if (radio->leases == NULL) {
        bool scans = radio->scanning;
        radio->scanning = false;
        return scans ? radio->ops->scan_stop(radio) : TENDON_OK;
    }
    tendon_scan_parameters merged = merge(radio->leases);
    if (radio->scanning && is_same(&merged, &radio->scan) && !joined) {
        return TENDON_OK;
    }
    if (radio->scanning) {
        (void)radio->ops->scan_stop(radio);
    }
    tendon_status status = radio->ops->scan_start(radio, &merged);
    radio->scanning = status >= 0;
    radio->scan = merged;
    return status;
}

/** A scan that the radio has ended by itself, and reported, ended all of its leases. */
static void forget_ended(tendon_radio *radio) {
    if (!radio->scanning) {
        radio->leases = NULL;
    }
}

static bool take_out(tendon_radio *radio, const tendon_scan_lease *lease) {
    tendon_scan_lease **place = &radio->leases;
    while (*place != NULL && *place != lease) {
        place = &(*place)->next;
    }
    bool found = *place != NULL;
    if (found) {
        *place = lease->next;
    }
    return found;
}

tendon_status tendon_radio_scan_acquire(tendon_radio *radio, tendon_scan_lease *lease,
                                        const tendon_scan_parameters *parameters) {
    tendon_scan_parameters checked;
    tendon_status status = check(parameters, &checked);
    if (status < 0) {
        return status;
    }
    forget_ended(radio);
    const tendon_scan_lease before = *lease;
    bool had = take_out(radio, lease);
    lease->parameters = checked;
    lease->next = radio->leases;
    radio->leases = lease;
    status = apply(radio, !had);
    if (status < 0) {
        lease->parameters = before.parameters; /* the others keep their scan, and it its earlier part of that */
        if (!had) {
            (void)take_out(radio, lease);
        }
        (void)apply(radio, false);
    }
    return status;
}

tendon_status tendon_radio_scan_release(tendon_radio *radio, tendon_scan_lease *lease) {
    forget_ended(radio);
    tendon_status status = take_out(radio, lease) ? apply(radio, false) : TENDON_OK;
    return status < 0 && radio->leases != NULL ? apply(radio, false) : status; /* the others keep theirs if they can */
}

tendon_status tendon_radio_scan_start(tendon_radio *radio, const tendon_scan_parameters *parameters) {
    forget_ended(radio);
    for (const tendon_scan_lease *lease = radio->leases; lease != NULL; lease = lease->next) {
        if (lease == &radio->own_lease) {
            tendon_scan_parameters checked;
            tendon_status status = check(parameters, &checked);
            return status < 0 ? status : TENDON_RADIO_ERROR_ALREADY_STARTED;
        }
    }
    return tendon_radio_scan_acquire(radio, &radio->own_lease, parameters);
}

tendon_status tendon_radio_scan_stop(tendon_radio *radio) {
    return tendon_radio_scan_release(radio, &radio->own_lease);
}
