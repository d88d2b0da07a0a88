/* SPDX-License-Identifier: MIT */
/*
 * The watchdog: a controller, or a kernel, that does nothing more although it reports no error. What is done about it
 * begins with the least, and is bounded: docs/bluez-states.md.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

void tendon_bluez_watch_commands(tendon_bluez_radio *radio, uint64_t now) {
    if (!tendon_bluez_cycle(radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT, now)) {
        tendon_bluez_fail(radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    }
}

void tendon_bluez_watch_enabled(tendon_bluez_radio *radio, uint64_t now) {
    radio->scan.heard_at = radio->scan.enabled_at = now;
}

static void note_device(tendon_bluez_scan *scan, const tendon_address *peer, uint64_t now) {
    tendon_bluez_heard *place = &scan->latest[0]; /* its own, or that of the one whose report is oldest */
    for (size_t i = 0; i < TENDON_BLUEZ_SILENCE_DEVICES; i++) {
        tendon_bluez_heard *heard = &scan->latest[i];
        if (tendon_address_equal(&heard->peer, peer)) {
            place = heard;
            break;
        }
        place = heard->at < place->at ? heard : place;
    }
    *place = (tendon_bluez_heard){.peer = *peer, .at = now};
}

/** Whether several devices fell silent together: one that leaves says nothing about the controller. */
static bool were_several(const tendon_bluez_scan *scan) {
    for (size_t i = 0; i < TENDON_BLUEZ_SILENCE_DEVICES; i++) {
        if (scan->latest[i].at == 0 || scan->silent_since - scan->latest[i].at > TENDON_BLUEZ_SILENCE_AT_ONCE_MS) {
            return false;
        }
    }
    return true;
}

void tendon_bluez_watch_heard(tendon_bluez_radio *radio, const tendon_address *peer, uint64_t now) {
    tendon_bluez_scan *scan = &radio->scan;
    note_device(scan, peer, now);
    if (!scan->heard) { /* later the timer finds the time of the latest report by itself */
        tendon_bluez_wake_at(radio, now + TENDON_BLUEZ_SILENCE_MS);
    }
    scan->heard_at = now;
    scan->heard = true;
    scan->restarted = false;
}

/** True: it is time to clear the controller's list of duplicates. */
static bool is_stale(tendon_bluez_radio *radio, uint64_t now) {
    const tendon_bluez_scan *scan = &radio->scan;
    bool stale = now - scan->enabled_at >= TENDON_BLUEZ_REFRESH_MS;
    if (scan->parameters.filter_duplicates && !stale) {
        tendon_bluez_wake_at(radio, scan->enabled_at + TENDON_BLUEZ_REFRESH_MS);
    }
    return scan->parameters.filter_duplicates && stale;
}

static bool is_silent(tendon_bluez_radio *radio, uint64_t now) {
    const tendon_bluez_scan *scan = &radio->scan;
    bool silent = now - scan->heard_at >= TENDON_BLUEZ_SILENCE_MS;
    if (scan->heard && !silent) {
        tendon_bluez_wake_at(radio, scan->heard_at + TENDON_BLUEZ_SILENCE_MS);
    }
    return scan->heard && silent;
}

/* No report can also mean that nothing advertises: after both steps, silence is believed until a report comes. */
static void watch_scan(tendon_bluez_radio *radio, uint64_t now) {
    tendon_bluez_scan *scan = &radio->scan;
    if (!scan->activity.requested || scan->activity.state != TENDON_BLUEZ_ON) {
        return;
    }
    bool silent = is_silent(radio, now), stale = is_stale(radio, now);
    if (silent && scan->restarted) {
        scan->heard = scan->restarted = false;
        if (radio->kernel.connections == 0 && were_several(scan)) {
            (void)tendon_bluez_cycle(radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT, now);
        }
    } else if (silent || stale) {
        scan->restarted = silent;
        scan->silent_since = silent ? scan->heard_at : scan->silent_since;
        *(silent ? &radio->counters.scan_restarts : &radio->counters.scan_refreshes) += 1;
        tendon_bluez_activity_input(&scan->activity, TENDON_BLUEZ_RESTARTED);
    }
}

/* A controller that has stopped reports no end of its connections: neither the kernel nor a link notices while they
 * wait. A device that pauses looks the same, so the controller is asked, once for each pause. */
void tendon_bluez_watch_data(tendon_bluez_radio *radio, uint64_t now) {
    radio->data_at = now;
    if (!radio->data_watched && !radio->unprivileged && radio->use != TENDON_BLUEZ_OBSERVER) {
        radio->data_watched = true;
        tendon_bluez_wake_at(radio, now + TENDON_BLUEZ_DATA_PAUSE_MS);
    }
}

static void watch_pause(tendon_bluez_radio *radio, uint64_t now) {
    if (!radio->data_watched) {
        return;
    }
    if (now - radio->data_at < TENDON_BLUEZ_DATA_PAUSE_MS) {
        tendon_bluez_wake_at(radio, radio->data_at + TENDON_BLUEZ_DATA_PAUSE_MS);
        return;
    }
    radio->data_watched = false;
    radio->probe_requested = true;
}

void tendon_bluez_watch(tendon_bluez_radio *radio, uint64_t now) {
    watch_scan(radio, now);
    watch_pause(radio, now);
}

/* A kernel that scans has not found the peer: that is no fault of its own. One that does nothing for an attempt does
 * nothing for the next ones either; connections that it has do not change that, and the controller can have one that
 * the kernel has lost. */
void tendon_bluez_watch_connects(tendon_bluez_radio *radio, uint64_t now) {
    if (radio->kernel.scans) {
        radio->stuck_connects = 0;
        return;
    }
    if (radio->stuck_connects == 0) {
        radio->stuck_since = now;
    }
    if (radio->stuck_connects < UINT8_MAX) {
        radio->stuck_connects++;
    }
    const uint64_t least = radio->kernel.connections == 0 ? TENDON_BLUEZ_STUCK_MS : TENDON_BLUEZ_STUCK_CONNECTED_MS;
    if (radio->stuck_connects % TENDON_BLUEZ_STUCK_MAX == TENDON_BLUEZ_STUCK_DISCOVERY &&
        tendon_bluez_users(radio) == 0) {
        tendon_bluez_discovery_recover(radio);
    } else if (radio->stuck_connects >= TENDON_BLUEZ_STUCK_MAX && now - radio->stuck_since >= least) {
        radio->stuck_connects = 0;
        (void)tendon_bluez_cycle(radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT, now);
    }
}

#endif
