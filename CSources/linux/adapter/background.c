/* SPDX-License-Identifier: MIT */
/*
 * Attempts in the background. The kernel keeps the peers of all connect() calls in the controller's filter accept list
 * and scans passively for them (hci_connect_le_scan() in net/bluetooth/hci_conn.c of Linux), for as long as the socket
 * exists. It connects to a peer whose report it receives, whichever program has enabled the scanner: so once its own
 * scan was seen, a scan of this radio may take the scanner over. When that ends, nothing scans for the peer: connect()
 * is repeated.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "adapter.h"

static bool is_requested(const tendon_bluez_attempt *attempt) {
    return attempt->link != NULL && attempt->link->background &&
           tendon_bluez_attempt_stage(attempt) == TENDON_BLUEZ_ATTEMPT_REQUESTED;
}

void tendon_bluez_background_scans(tendon_bluez_radio *radio, bool on, uint64_t now) {
    for (size_t i = TENDON_BLUEZ_ATTEMPTS; i < TENDON_BLUEZ_SLOTS; i++) {
        tendon_bluez_attempt *attempt = &radio->attempts[i];
        if (is_requested(attempt)) {
            attempt->parked = attempt->parked || on;
            attempt->check_at =
                now + TENDON_BLUEZ_BEGIN_LIMIT_MS(radio); /* the kernel may be about to scan or to connect */
            tendon_bluez_wake_at(radio, on ? UINT64_MAX : attempt->check_at);
        }
    }
}

bool tendon_bluez_background_due(tendon_bluez_radio *radio, const tendon_bluez_attempt *attempt, uint64_t now) {
    if (!is_requested(attempt)) {
        return false;
    }
    tendon_bluez_wake_at(radio, attempt->begun_at + TENDON_BLUEZ_RENEWAL_MS);
    return now >= attempt->begun_at + TENDON_BLUEZ_RENEWAL_MS;
}

bool tendon_bluez_background_renews(tendon_bluez_radio *radio, tendon_bluez_attempt *attempt, uint64_t now) {
    bool parked = attempt->parked;
    attempt->parked = false;
    if (attempt->link->background) {
        tendon_bluez_background_scans(radio, false, now); /* for all: one repetition makes the kernel scan for all */
    }
    return parked;
}

#else
typedef int tendon_bluez_background_nothing; /* ISO C requires a declaration in every file */
#endif
