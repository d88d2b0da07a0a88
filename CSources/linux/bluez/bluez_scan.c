/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scanning. The kernel scans by itself when it connects, and other programs
 * may scan too: their commands are seen on the raw socket, so that this side
 * knows who has the scanner on. Ours is off while a connect is under way.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"

/** How often a scan that is to be restored is tried, and after what pause. */
enum { RETRIES = 40, RETRY_MS = 250 };
/** How long a scan rests that another user of the adapter switched off: most likely it is about to connect. */
#define YIELD_MS 1000u

static bool is_enable(uint16_t opcode) {
    return opcode == TENDON_HCI_LE_SET_SCAN_ENABLE || opcode == TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE;
}

static bool connecting(const tendon_bluez_radio *radio) {
    for (size_t i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        if (radio->attempts[i] != NULL) {
            return true;
        }
    }
    return radio->radio.scan_holds != 0;
}

bool tendon_bluez_scan_idle(const tendon_bluez_radio *radio) {
    return !radio->scan.on && !radio->discovery.on && !radio->reset_down &&
           (radio->command == 0 || radio->command_advertises);
}

static void retry_in(tendon_bluez_radio *radio, uint64_t now, uint64_t pause) {
    radio->scan.retry_at = now + pause;
    tendon_bluez_wake_at(radio, radio->scan.retry_at);
}

static void encode_parameters(const tendon_bluez_radio *radio, tendon_bluez_command *out) {
    const tendon_scan_parameters *wanted = &radio->scan.parameters;
    /* ms to 0.625 ms; 10240 ms is 0x4000. */
    tendon_hci_scan scan = {.active = wanted->active,
                            .filter_duplicates = wanted->filter_duplicates,
                            .own_address = tendon_bluez_address_is_random(radio),
                            .interval = (uint16_t)(wanted->interval_ms * 8u / 5u),
                            .window = (uint16_t)(wanted->window_ms * 8u / 5u)};
    out->length = radio->extended_scan
                      ? tendon_hci_command_extended_scan_parameters(&scan, out->bytes, sizeof out->bytes)
                      : tendon_hci_command_scan_parameters(&scan, out->bytes, sizeof out->bytes);
}

static void encode_enable(const tendon_bluez_radio *radio, bool enable, tendon_bluez_command *out) {
    bool filter = enable && radio->scan.parameters.filter_duplicates;
    out->value = enable;
    out->length = radio->extended_scan
                      ? tendon_hci_command_extended_scan_enable(enable, filter, out->bytes, sizeof out->bytes)
                      : tendon_hci_command_scan_enable(enable, filter, out->bytes, sizeof out->bytes);
}

void tendon_bluez_scan_disable(const tendon_bluez_radio *radio, tendon_bluez_command *out) {
    encode_enable(radio, false, out);
}

void tendon_bluez_scan_next(tendon_bluez_radio *radio, uint64_t now, tendon_bluez_command *out) {
    tendon_bluez_scan *scan = &radio->scan;
    if (scan->clearing || (scan->on && (!scan->wanted || connecting(radio)))) {
        radio->counters.scan_pauses += scan->on && scan->wanted;
        encode_enable(radio, false, out);
        return;
    }
    if (!scan->wanted || scan->on || connecting(radio)) {
        return;
    }
    if (scan->retry_at != UINT64_MAX && now < scan->retry_at) {
        tendon_bluez_wake_at(radio, scan->retry_at);
        return;
    }
    if (scan->foreign && scan->proven) {
        retry_in(radio, now, RETRY_MS); /* wait for the other user; its reports reach us as well */
        return;
    }
    if (scan->configured) {
        radio->discovery.expected = true;
        encode_enable(radio, true, out);
    } else {
        encode_parameters(radio, out);
    }
}

/** The scan that was asked for cannot be; the rest of the radio goes on. */
static void give_up(tendon_bluez_radio *radio, uint8_t status) {
    radio->scan.wanted = false;
    radio->scan.refusal = tendon_bluez_refusal(status);
    tendon_bluez_wake_at(radio, 0);
}

static void refused(tendon_bluez_radio *radio, uint8_t status, uint64_t now) {
    tendon_bluez_scan *scan = &radio->scan;
    scan->configured = false;
    if (!scan->wanted) {
        return;
    }
    if (scan->proven && scan->retries < RETRIES) {
        scan->retries++; /* it worked before: the kernel is still busy with a connect */
        retry_in(radio, now, RETRY_MS);
        return;
    }
    if (status == HCI_COMMAND_DISALLOWED_ERROR && !scan->proven && scan->retries == 0 && !scan->foreign &&
        tendon_bluez_users(radio) == 0) {
        scan->retries++; /* nobody else has the adapter open: a program that died left it scanning */
        scan->clearing = true;
        return;
    }
    give_up(radio, status);
}

void tendon_bluez_scan_done(tendon_bluez_radio *radio, uint16_t opcode, uint8_t status, uint64_t now) {
    tendon_bluez_scan *scan = &radio->scan;
    if (is_enable(opcode) && radio->command_value == 0) {
        /* Refused: it was off already. */
        scan->on = scan->clearing = scan->configured = false;
        if (radio->discovery.expected) {
            tendon_bluez_read_management(radio); /* which may still tell that the scan was taken for a discovery */
            tendon_bluez_discovery_settle(radio);
        }
    } else if (status != 0) {
        refused(radio, status, now);
    } else if (is_enable(opcode)) {
        scan->on = scan->proven = true;
        scan->foreign = false;
        scan->retries = 0;
        scan->retry_at = UINT64_MAX;
    } else {
        scan->configured = true;
    }
    tendon_bluez_step(radio);
    tendon_bluez_connect_waiting(radio);
}

void tendon_bluez_scan_foreign_sent(tendon_bluez_radio *radio, const uint8_t *packet, size_t length) {
    tendon_reader reader = tendon_reader_make(packet, length);
    uint16_t opcode = tendon_read_u16le(&reader);
    (void)tendon_read_u8(&reader);
    if (opcode == TENDON_HCI_LE_SET_SCAN_PARAMETERS || opcode == TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS) {
        radio->scan.configured = false;
    }
    uint8_t value = tendon_read_u8(&reader);
    if (tendon_bluez_connects(opcode)) {
        radio->connects_until = UINT64_MAX;
    }
    if (tendon_reader_ok(&reader) && is_enable(opcode)) {
        radio->foreign_command = opcode;
        radio->foreign_value = value;
    }
}

void tendon_bluez_scan_foreign_done(tendon_bluez_radio *radio, uint8_t status, uint64_t now) {
    tendon_bluez_scan *scan = &radio->scan;
    if (status != 0) {
        return;
    }
    scan->foreign = radio->foreign_value != 0;
    if (radio->foreign_value == 0 && scan->on) {
        scan->on = scan->configured = false;
        retry_in(radio, now, YIELD_MS);
    }
}

void tendon_bluez_scan_reports(tendon_bluez_radio *radio, const tendon_hci_event *event, uint64_t now) {
    if (!radio->scan.wanted) {
        return; /* of somebody else's scan */
    }
    tendon_hci_reports reports = tendon_hci_reports_of(event);
    tendon_ad_report fragment, whole;
    while (radio->scan.wanted && tendon_hci_reports_next(&reports, &fragment)) {
        if (!tendon_ad_reassembler_feed(&radio->reassembler, &fragment, now, &whole)) {
            continue;
        }
        radio->radio.reports++;
        if (radio->radio.on_report != NULL) {
            radio->radio.on_report(radio->radio.report_context, &whole, now);
        }
    }
    radio->radio.malformed += reports.status < 0;
}

void tendon_bluez_scan_forget(tendon_bluez_radio *radio) {
    radio->scan.on = radio->scan.configured = radio->scan.foreign = radio->scan.clearing = false;
}

tendon_status tendon_bluez_scan_start(tendon_radio *base, const tendon_scan_parameters *parameters) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    if (radio->failed || radio->unprivileged) {
        return radio->failed ? radio->failure : TENDON_RADIO_ERROR_NO_CAP_NET_RAW;
    }
    radio->scan.parameters = *parameters;
    radio->scan.wanted = true;
    radio->scan.proven = false;
    radio->scan.configured = false;
    radio->scan.retries = 0;
    radio->scan.retry_at = UINT64_MAX;
    radio->scan.refusal = TENDON_OK;
    tendon_bluez_step(radio);
    return radio->failed ? radio->failure : TENDON_OK;
}

void tendon_bluez_scan_held(tendon_radio *base) {
    tendon_bluez_step((tendon_bluez_radio *)base);
}

tendon_status tendon_bluez_scan_stop(tendon_radio *base) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    radio->scan.wanted = false;
    tendon_bluez_step(radio);
    return TENDON_OK;
}

#else
typedef int tendon_bluez_scan_nothing; /* ISO C wants a declaration in every file */
#endif
