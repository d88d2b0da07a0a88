/* SPDX-License-Identifier: MIT */
/* The table of attempts to connect; what ends them, and what happens to those in the background. */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

uint8_t tendon_bluez_attempt_stage(const tendon_bluez_attempt *attempt) {
    return attempt->link != NULL ? attempt->link->state : TENDON_LINK_CLOSED;
}

tendon_bluez_attempt *tendon_bluez_attempt_of(tendon_bluez_radio *radio, const tendon_link *link) {
    for (size_t i = 0; i < TENDON_BLUEZ_SLOTS; i++) {
        if (radio->attempts[i].link == link) {
            return &radio->attempts[i];
        }
    }
    return NULL;
}

uint8_t tendon_bluez_attempt_failure(tendon_bluez_radio *radio, const tendon_link *link) {
    tendon_bluez_attempt *attempt = tendon_bluez_attempt_of(radio, link);
    uint8_t code = attempt != NULL ? attempt->failure : 0;
    if (attempt != NULL) {
        attempt->failure = 0;
    }
    return code;
}

void tendon_bluez_attempt_over(tendon_bluez_radio *radio, const tendon_link *link) {
    tendon_bluez_attempt *attempt = tendon_bluez_attempt_of(radio, link);
    if (attempt != NULL) {
        attempt->link = NULL;
    }
    tendon_bluez_kernel_attempt_over(&radio->kernel, &link->peer);
    tendon_bluez_wake_at(radio, 0); /* resumes the scan */
}

void tendon_bluez_attempts_wait(tendon_bluez_radio *radio) {
    for (size_t i = 0; i < TENDON_BLUEZ_SLOTS; i++) {
        if (tendon_bluez_attempt_stage(&radio->attempts[i]) == TENDON_LINK_ASKED) {
            tendon_socket_link_drop(radio->attempts[i].link);
            radio->attempts[i].check_at = 0;
            radio->attempts[i].parked = false;
        }
    }
}

void tendon_bluez_release_held(tendon_bluez_radio *radio) {
    tendon_bluez_kernel_begins_none(&radio->kernel);
    for (size_t i = 0; i < TENDON_BLUEZ_SLOTS; i++) {
        tendon_link *link = radio->attempts[i].link;
        if (link != NULL && link->state == TENDON_LINK_HELD) {
            tendon_socket_link_drop(link);
            link->source.deadline = 0;
        }
    }
}

/*
 * Attempts in the background. The kernel keeps the peers of all connect() calls in the controller's filter accept list
 * and scans passively for them (hci_connect_le_scan() in net/bluetooth/hci_conn.c of Linux), for as long as the socket
 * exists. It connects to a peer whose report it receives, whichever program has enabled the scanner: so once its own
 * scan was seen, a scan of this radio may take the scanner over. When that ends, nothing scans for the peer: connect()
 * is repeated.
 */

static bool is_requested(const tendon_bluez_attempt *attempt) {
    return attempt->link != NULL && attempt->link->background &&
           tendon_bluez_attempt_stage(attempt) == TENDON_LINK_ASKED;
}

void tendon_bluez_background_scans(tendon_bluez_radio *radio, bool on, uint64_t now) {
    for (size_t i = TENDON_BLUEZ_ATTEMPTS; i < TENDON_BLUEZ_SLOTS; i++) {
        tendon_bluez_attempt *attempt = &radio->attempts[i];
        if (is_requested(attempt)) {
            attempt->parked = attempt->parked || on;
            attempt->check_at =
                now + TENDON_BLUEZ_BEGIN_LIMIT_MS(radio); /* the kernel may be about to scan or to connect */
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

#endif
