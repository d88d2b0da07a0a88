/* SPDX-License-Identifier: MIT */
/*
 * Scanning. The kernel scans by itself when it connects, and other programs can scan too: the raw socket shows their
 * commands, so that this radio knows who has enabled the scanner. Ours is off while a connection attempt is in
 * progress. While another program scans, ours has joined that scan: the controller sends its reports to all raw
 * sockets, and ours starts when it ends. A scan that receives only the devices of the accept list is taken over.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

/** How long our scan waits after another program disabled it: most likely that program is about to connect. */
#define YIELD_MS 1000u

static bool connecting(const tendon_bluez_radio *radio, uint64_t now) {
    for (size_t i = 0; i < TENDON_BLUEZ_SLOTS; i++) {
        const tendon_bluez_attempt *attempt = &radio->attempts[i];
        if (attempt->link != NULL && (!attempt->parked || tendon_bluez_is_creating(&radio->kernel, now))) {
            return true;
        }
    }
    return radio->radio.scan_pauses != 0;
}

static void encode_parameters(const tendon_bluez_radio *radio, tendon_bluez_command *out) {
    const tendon_scan_parameters *parameters = &radio->scan.parameters;
    /* ms to 0.625 ms; 10240 ms is 0x4000. */
    tendon_hci_scan scan = {.active = parameters->active,
                            .filter_duplicates = parameters->filter_duplicates,
                            .coded = parameters->coded,
                            .own_address = tendon_bluez_address_is_random(radio),
                            .interval = (uint16_t)(parameters->interval_ms * 8u / 5u),
                            .window = (uint16_t)(parameters->window_ms * 8u / 5u)};
    out->length = radio->extended_scan
                      ? tendon_hci_command_extended_scan_parameters(&scan, out->bytes, sizeof out->bytes)
                      : tendon_hci_command_scan_parameters(&scan, out->bytes, sizeof out->bytes);
}

static void encode_enable(const tendon_bluez_radio *radio, bool enable, tendon_bluez_command *out) {
    bool filter = enable && radio->scan.parameters.filter_duplicates;
    out->length = radio->extended_scan
                      ? tendon_hci_command_extended_scan_enable(enable, filter, out->bytes, sizeof out->bytes)
                      : tendon_hci_command_scan_enable(enable, filter, out->bytes, sizeof out->bytes);
}

void tendon_bluez_scan_disable(const tendon_bluez_radio *radio, tendon_bluez_command *out) {
    encode_enable(radio, false, out);
}

/** Another program scans. That was seen, or is concluded from a rejection. */
static void join(tendon_bluez_radio *radio, uint64_t now) {
    tendon_bluez_scan *scan = &radio->scan;
    scan->unseen = (uint8_t)(scan->unseen + (!radio->kernel.scans || scan->unseen > 0));
    tendon_bluez_kernel_scans(&radio->kernel, true);
    if (!scan->joined) {
        scan->joined = true;
        scan->heard_at = scan->unseen > 0 ? now : scan->heard_at; /* from now on it has time to show itself */
        scan->activity.cleared = false;
        radio->counters.scan_joins++;
    }
    scan->activity.unanswered = 0;                                          /* the controller responds */
    tendon_bluez_activity_input(&scan->activity, TENDON_BLUEZ_OVERWRITTEN); /* a check begins with the parameters */
    tendon_bluez_activity_retry(radio, &scan->activity, now + TENDON_BLUEZ_JOIN_CHECK_MS);
}

/**
 * The other scan brings no reports, for it has the filter accept list: the kernel's, for peers that it waits for. It
 * connects to them whichever program has enabled the scanner, so ours takes that over. One whose parameters were not
 * seen counts as such a scan if nothing shows it for TENDON_BLUEZ_JOIN_CHECK_MS.
 */
static bool is_deaf(const tendon_bluez_radio *radio, uint64_t now) {
    const tendon_bluez_scan *scan = &radio->scan;
    bool silent = scan->joined && scan->unseen > 0 && now - scan->heard_at >= TENDON_BLUEZ_JOIN_CHECK_MS;
    return radio->kernel.scans && (radio->kernel.filters || silent);
}

/** Disabled first, then it is ours. */
static void take_over(tendon_bluez_radio *radio) {
    tendon_bluez_scan *scan = &radio->scan;
    if (!radio->kernel.filters) {
        tendon_bluez_discovery_suspect(radio);
    }
    tendon_bluez_activity_input(&scan->activity, TENDON_BLUEZ_UNANSWERED);
    scan->joined = false;
    scan->replaces = true;
}

/**
 * Whether the scanner is left to the program that has enabled it. Sets the timer. The end of that scan is seen as a
 * command. A check is for what is not seen: a lost packet, and a program that was killed.
 */
static bool leaves_scanner(tendon_bluez_radio *radio, uint64_t now) {
    tendon_bluez_scan *scan = &radio->scan;
    tendon_bluez_activity *activity = &scan->activity;
    if (!radio->kernel.scans || activity->state == TENDON_BLUEZ_ON) {
        return false;
    }
    if (radio->use != TENDON_BLUEZ_SHARED) {
        if (activity->confirmed) {
            tendon_bluez_activity_retry(radio, activity, now + TENDON_BLUEZ_RETRY_MS);
        }
        return activity->confirmed;
    }
    if (activity->state == TENDON_BLUEZ_STALE) {
        return false; /* it may be ours too */
    }
    if (!scan->joined) {
        join(radio, now);
        return true;
    }
    if (now - scan->heard_at >= TENDON_BLUEZ_JOIN_CHECK_MS || tendon_bluez_users(radio) == 0) {
        return false;
    }
    tendon_bluez_activity_input(activity, TENDON_BLUEZ_OVERWRITTEN); /* a check begins with the parameters */
    tendon_bluez_activity_retry(radio, activity, scan->heard_at + TENDON_BLUEZ_JOIN_CHECK_MS);
    return true;
}

/** Returns the current demand of the scan. Sets the timer for a demand that ends by itself. */
static tendon_bluez_demand demand_of(tendon_bluez_radio *radio, uint64_t now) {
    tendon_bluez_scan *scan = &radio->scan;
    tendon_bluez_activity *activity = &scan->activity;
    if (!activity->requested || connecting(radio, now) || radio->use == TENDON_BLUEZ_OBSERVER) {
        return TENDON_BLUEZ_HALT;
    }
    if (now < activity->retry_at) {
        tendon_bluez_wake_at(radio, activity->retry_at);
        return TENDON_BLUEZ_WAIT;
    }
    if (is_deaf(radio, now) && activity->state != TENDON_BLUEZ_ON) {
        take_over(radio);
        return TENDON_BLUEZ_RUN;
    }
    return leaves_scanner(radio, now) ? TENDON_BLUEZ_WAIT : TENDON_BLUEZ_RUN;
}

tendon_bluez_request tendon_bluez_scan_next(tendon_bluez_radio *radio, uint64_t now, tendon_bluez_command *out) {
    tendon_bluez_activity *activity = &radio->scan.activity;
    if (radio->scan.joined && activity->state == TENDON_BLUEZ_STALE) {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_DISABLED); /* only a check was in flight */
    }
    tendon_bluez_request request = tendon_bluez_activity_request(activity, demand_of(radio, now));
    if (activity->requested) {
        radio->radio.scan_joined = radio->scan.joined;
    }
    switch (request) {
    case TENDON_BLUEZ_SEND_CONFIGURATION:
        tendon_bluez_stop_resolving(radio);
        encode_parameters(radio, out);
        break;
    case TENDON_BLUEZ_SEND_ENABLE:
        radio->scan.has_scanned = true;
        radio->scan.joined = false;
        encode_enable(radio, true, out);
        break;
    case TENDON_BLUEZ_SEND_DISABLE:
        if (tendon_bluez_discovery_disables(radio, now)) {
            return TENDON_BLUEZ_SEND_NOTHING;
        }
        encode_enable(radio, false, out);
        break;
    default:
        break;
    }
    return request;
}

/** The controller has rejected our scan with Command Disallowed. Returns true if another program's scan is the reason.
 */
static bool may_join(const tendon_bluez_radio *radio) {
    const tendon_bluez_scan *scan = &radio->scan;
    const tendon_bluez_activity *activity = &scan->activity;
    if (radio->use != TENDON_BLUEZ_SHARED || !activity->requested) {
        return false;
    }
    if (radio->kernel.scans && scan->unseen == 0) { /* without a program, one that was killed has left it enabled */
        return !scan->joined || tendon_bluez_users(radio) != 0;
    }
    if (activity->confirmed && !scan->joined && activity->retries < TENDON_BLUEZ_RETRIES) {
        return false; /* most likely the kernel is busy with a connection */
    }
    return scan->unseen < TENDON_BLUEZ_JOIN_CHECKS && tendon_bluez_users(radio) != 0;
}

static void rejected(tendon_bluez_radio *radio, uint8_t status, uint64_t now) {
    tendon_bluez_scan *scan = &radio->scan;
    if (is_deaf(radio, now)) {
        tendon_bluez_activity_retry(radio, &scan->activity, now + TENDON_BLUEZ_RETRY_MS); /* the kernel was faster */
        return;
    }
    if (scan->activity.state != TENDON_BLUEZ_OFF) {
        return;
    }
    bool disallowed = status == HCI_COMMAND_DISALLOWED_ERROR;
    if (disallowed && may_join(radio)) {
        join(radio, now);
        return;
    }
    if (disallowed && (scan->joined || scan->unseen > 0)) { /* as before the first start */
        tendon_bluez_kernel_scans(&radio->kernel, false);
        scan->joined = scan->activity.confirmed = false;
        scan->unseen = 0;
    }
    tendon_bluez_activity_rejected(radio, &scan->activity, status, radio->kernel.scans, now);
}

/** Our scan was enabled after another program's: a controller that accepts that has changed nothing. */
static bool is_second(const tendon_bluez_radio *radio, tendon_bluez_request request) {
    return request == TENDON_BLUEZ_SEND_ENABLE && radio->use == TENDON_BLUEZ_SHARED && radio->kernel.scans;
}

/** Not for a scan that only the extended commands know, nor while another program's scan explains the rejection. */
static bool changes_set(tendon_bluez_radio *radio, tendon_bluez_request request, uint8_t *status) {
    bool explained =
        request != TENDON_BLUEZ_SEND_DISABLE && radio->kernel.scans && *status == HCI_COMMAND_DISALLOWED_ERROR;
    return tendon_bluez_activity_changes_set(&radio->scan.activity, &radio->extended_scan, status,
                                             !radio->scan.parameters.coded && !explained);
}

void tendon_bluez_scan_done(tendon_bluez_radio *radio, tendon_bluez_request request, uint8_t status, uint64_t now) {
    tendon_bluez_activity *activity = &radio->scan.activity;
    if (changes_set(radio, request, &status)) {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_REJECTED);
        return;
    }
    if (request == TENDON_BLUEZ_SEND_DISABLE) {
        tendon_bluez_scan_disabled(radio); /* rejected: it was off already */
        tendon_bluez_kernel_scans(&radio->kernel, false);
        tendon_bluez_background_scans(radio, false, now);
    } else if (status != 0) {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_REJECTED);
        rejected(radio, status, now);
    } else if (is_second(radio, request)) {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_DISABLED);
        tendon_bluez_kernel_discovers(
            &radio->kernel, false, false,
            radio->kernel.kinds); /* what the kernel has reported meanwhile is the other scan */
        rejected(radio, HCI_COMMAND_DISALLOWED_ERROR, now);
    } else if (request == TENDON_BLUEZ_SEND_ENABLE) {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_ENABLED);
        tendon_bluez_kernel_scans(&radio->kernel, false);
        radio->scan.unseen = 0;
        tendon_bluez_watch_enabled(radio, now);
    } else {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_CONFIGURED_ALL);
        tendon_bluez_kernel_scans(&radio->kernel, false); /* parameters are rejected while the scanner is enabled */
    }
}

/** Of two programs that begin together, the one that was overwritten lets the other one enable the scan: without a
 * pause each would send its parameters again as soon as it has seen those of the other, and neither would enable it. */
#define CROSSED_PAUSE_MS 20u

void tendon_bluez_scan_other_sent(tendon_bluez_radio *radio, uint16_t opcode, tendon_reader *parameters) {
    const uint64_t now = tendon_monotonic_ms();
    tendon_bluez_activity *activity = &radio->scan.activity;
    if (!tendon_bluez_kernel_scan_sent(&radio->kernel, opcode, parameters, now + TENDON_BLUEZ_BEGIN_LIMIT_MS(radio))) {
        return;
    }
    if (activity->state == TENDON_BLUEZ_READY) {
        tendon_bluez_activity_retry(radio, activity, now + CROSSED_PAUSE_MS);
    }
    tendon_bluez_activity_input(activity, TENDON_BLUEZ_OVERWRITTEN);
}

void tendon_bluez_scan_other_done(tendon_bluez_radio *radio, uint8_t status, uint64_t now) {
    tendon_bluez_activity *activity = &radio->scan.activity;
    bool extended = tendon_bluez_is_extended_scan(radio->kernel.opcode);
    tendon_bluez_scan_change change = tendon_bluez_kernel_scan_done(&radio->kernel, status);
    if (change != TENDON_BLUEZ_SCAN_SAME && radio->extended_scan && activity->set != TENDON_BLUEZ_SET_PROVEN) {
        activity->set = TENDON_BLUEZ_SET_PROVEN; /* the set that the kernel uses is right */
        radio->extended_scan = extended;
    }
    if (change != TENDON_BLUEZ_SCAN_BEGAN && change != TENDON_BLUEZ_SCAN_ENDED) {
        return;
    }
    radio->scan.unseen = 0;
    tendon_bluez_background_scans(radio, change == TENDON_BLUEZ_SCAN_BEGAN, now);
    if (change == TENDON_BLUEZ_SCAN_BEGAN || tendon_bluez_discovery_disabled(radio)) {
        return;
    }
    if (activity->state == TENDON_BLUEZ_ON || radio->scan.joined) {
        tendon_bluez_activity_input(activity, TENDON_BLUEZ_STOPPED);
        tendon_bluez_activity_retry(radio, activity, now + YIELD_MS);
    }
}

void tendon_bluez_scan_reports(tendon_bluez_radio *radio, const tendon_hci_event *event, uint64_t now) {
    if (!radio->scan.activity.requested) {
        return; /* of another program's scan */
    }
    radio->scan.unseen = 0;
    tendon_hci_reports reports = tendon_hci_reports_of(event);
    tendon_ad_report fragment, whole;
    while (radio->scan.activity.requested && tendon_hci_reports_next(&reports, &fragment)) {
        tendon_bluez_watch_heard(radio, &fragment.address, now);
        if (!tendon_ad_reassembler_feed(&radio->reassembler, &fragment, now, &whole)) {
            continue;
        }
        tendon_radio_report(&radio->radio, &whole, now);
    }
    radio->radio.malformed += reports.status < 0;
}

tendon_status tendon_bluez_scan_start(tendon_radio *base, const tendon_scan_parameters *parameters) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    if (tendon_bluez_failed(radio)) {
        return radio->power.status;
    }
    if (radio->unprivileged) {
        return TENDON_RADIO_ERROR_NO_CAP_NET_RAW;
    }
    if (parameters->coded && (!radio->extended_scan || (radio->limits.features & TENDON_BLUEZ_FEATURE_CODED) == 0)) {
        return TENDON_ERROR_UNSUPPORTED;
    }
    radio->scan.parameters = *parameters;
    base->scan_passive = parameters->active && !tendon_bluez_may_administer();
    if (base->scan_passive) {
        radio->scan.parameters.active = false; /* the kernel would connect to nothing afterwards: discovery.c */
    }
    if (parameters->coded) {
        tendon_bluez_allow_coded(radio);
    }
    tendon_bluez_activity_start(radio, &radio->scan.activity);
    return TENDON_OK;
}

#endif
