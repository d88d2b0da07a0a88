/* SPDX-License-Identifier: MIT */
/*
 * How the kernel interprets our scan. Newer kernels (Linux 6.12) take an active scan of a raw socket for a discovery of
 * their own, still assume it when the scan is off, and do not connect until a program stops the discovery. So this
 * radio has the kernel stop it, and with it the scan, before it connects. That needs CAP_NET_ADMIN, and so does the
 * event that reports the discovery: without it, a scan is passive, which the kernel takes for none.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

/** A controller responds within some ms; closing does not wait longer for one that does not. */
#define CLOSE_LIMIT_MS 100u

/** Kinds of devices, Start Discovery in BlueZ's doc/mgmt-api.txt: BR/EDR, LE public, LE random. */
#define ALL_KINDS 0x07u
#define LE_KINDS 0x06u

static bool is_enabling(const tendon_bluez_radio *radio) {
    return tendon_bluez_in_flight(radio, &radio->scan.activity) && radio->command.request == TENDON_BLUEZ_SEND_ENABLE;
}

/** The kernel reports a discovery: whether it means our scan. This event can be read before the response to ours. */
static bool is_ours(const tendon_bluez_radio *radio) {
    return radio->scan.has_scanned && (!radio->kernel.scans || is_enabling(radio));
}

static bool is_on(const tendon_bluez_radio *radio) {
    return radio->kernel.discovery == TENDON_BLUEZ_DISCOVERY_ON;
}

static bool scan_off(const tendon_bluez_radio *radio) {
    bool may_scan = radio->scan.activity.state == TENDON_BLUEZ_ON || radio->scan.activity.state == TENDON_BLUEZ_STALE;
    return !may_scan && !tendon_bluez_in_flight(radio, &radio->scan.activity);
}

bool tendon_bluez_scan_idle(const tendon_bluez_radio *radio) {
    bool powered = radio->power.state == TENDON_BLUEZ_POWERED || radio->power.state == TENDON_BLUEZ_RECOVERING;
    return scan_off(radio) && radio->kernel.discovery == TENDON_BLUEZ_DISCOVERY_OFF && powered;
}

/*
 * The kernel does not know that its scan was taken over: it looks whether it has to scan when the devices change that
 * it scans for. One is added and removed again: the address of the adapter, which no device has. A connect() has the
 * same effect.
 */
void tendon_bluez_scan_restore(tendon_bluez_radio *radio) {
    uint8_t data[TENDON_MANAGEMENT_ADDRESS_SIZE + 1];
    tendon_writer writer = tendon_writer_make(data, sizeof data);
    if (!radio->scan.replaces) {
        return;
    }
    radio->scan.replaces = false;
    tendon_management_write_address(&writer, &radio->radio.address);
    tendon_write_u8(&writer, 0); /* report it while scanning in the background */
    (void)tendon_bluez_management_send(radio, TENDON_MANAGEMENT_ADD_DEVICE, data, sizeof data);
    (void)tendon_bluez_management_send(radio, TENDON_MANAGEMENT_REMOVE_DEVICE, data, TENDON_MANAGEMENT_ADDRESS_SIZE);
}

void tendon_bluez_scan_disabled(tendon_bluez_radio *radio) {
    tendon_bluez_activity *activity = &radio->scan.activity;
    radio->counters.scan_pauses += activity->state == TENDON_BLUEZ_ON && activity->requested;
    tendon_bluez_activity_input(activity, TENDON_BLUEZ_DISABLED);
    if (!activity->requested) {
        tendon_bluez_scan_restore(radio);
    }
}

static bool stop(tendon_bluez_radio *radio, uint64_t now, bool disables) {
    bool asked = tendon_bluez_management_send(radio, TENDON_MANAGEMENT_STOP_DISCOVERY, &radio->kernel.kinds, 1) >= 0;
    tendon_bluez_kernel_stops(&radio->kernel, asked, now + TENDON_BLUEZ_COMMAND_TIMEOUT_MS, disables);
    return asked;
}

/* Stop Discovery with the scan on: its command to the controller takes some time. With the scan off, the kernel can be
 * done before it has noted that the discovery is stopping. It notes that afterwards (seen with Linux 7.3), and never
 * connects until something scans. */
bool tendon_bluez_discovery_disables(tendon_bluez_radio *radio, uint64_t now) {
    tendon_bluez_kernel *kernel = &radio->kernel;
    if (kernel->disables_until != 0 && now >= kernel->disables_until) {
        tendon_bluez_kernel_forget_discovery(kernel);
    } else if (is_on(radio)) {
        (void)stop(radio, now, true);
    }
    if (kernel->disables_until != 0) {
        tendon_bluez_wake_at(radio, kernel->disables_until);
    }
    return kernel->disables_until != 0;
}

bool tendon_bluez_discovery_disabled(tendon_bluez_radio *radio) {
    bool disables = tendon_bluez_kernel_disabled(&radio->kernel);
    if (disables) {
        tendon_bluez_scan_disabled(radio);
    }
    return disables;
}

/* Not while our command that disables the scan is in flight: the kernel would disable it as well, and a controller that
 * rejects the second command leaves the kernel's discovery neither on nor off, with which it never connects. */
void tendon_bluez_discovery_settle(tendon_bluez_radio *radio, uint64_t now) {
    tendon_bluez_kernel *kernel = &radio->kernel;
    if (is_on(radio) && scan_off(radio)) {
        (void)stop(radio, now, false);
    }
    if (kernel->discovery != TENDON_BLUEZ_DISCOVERY_STOPPING) {
        return;
    }
    if (now >= kernel->stops_until) { /* an answer is lost if the receive buffer is full */
        tendon_bluez_kernel_forget_discovery(kernel);
    } else {
        tendon_bluez_wake_at(radio, kernel->stops_until);
    }
}

/** The kernel disables the scan with its discovery, so that one command does it; our own is waited for. */
bool tendon_bluez_discovery_close(tendon_bluez_radio *radio) {
    if (!is_on(radio)) {
        return radio->kernel.disables_until != 0;
    }
    if (tendon_bluez_in_flight(radio, &radio->scan.activity)) {
        (void)tendon_bluez_await(radio->hci.fd, radio->command.opcode, tendon_monotonic_ms() + CLOSE_LIMIT_MS,
                                 (uint8_t[1]){0}, 1);
    }
    return stop(radio, tendon_monotonic_ms(), false);
}

/* A scan that shows nothing can be another program's discovery that began before this radio was opened. A raw command
 * that disables it also cancels the timer that would end the discovery: the kernel would consider it on permanently,
 * and connect to no device (seen with Linux 6.12). So the kernel is asked to stop it, for each set of kinds that a
 * daemon discovers; it rejects the wrong ones, and all of them if the scan is none. */
void tendon_bluez_discovery_suspect(tendon_bluez_radio *radio) {
    tendon_bluez_kernel_suspects(&radio->kernel, ALL_KINDS);
}

void tendon_bluez_discovery_recover(tendon_bluez_radio *radio) {
    const uint8_t kinds = 0; /* as the kernel counts a raw scan, if no daemon has discovered devices before */
    (void)tendon_bluez_management_send(radio, TENDON_MANAGEMENT_STOP_DISCOVERY, &kinds, 1);
}

void tendon_bluez_discovery_event(tendon_bluez_radio *radio, const tendon_management_event *event) {
    if (event->opcode == TENDON_MANAGEMENT_STOP_DISCOVERY) { /* only an answer has an opcode */
        const uint8_t state = radio->scan.activity.state;
        if (event->status == 0 && state == TENDON_BLUEZ_ON) {
            (void)tendon_bluez_discovery_disabled(radio); /* the raw socket shows that too, perhaps later */
        }
        const bool other_kinds = event->status != 0 && state == TENDON_BLUEZ_STALE &&
                                 radio->kernel.disables_until != 0 && radio->kernel.kinds == ALL_KINDS;
        tendon_bluez_kernel_forget_discovery(&radio->kernel); /* rejected: there was nothing to stop */
        if (other_kinds) {
            tendon_bluez_kernel_suspects(&radio->kernel, LE_KINDS);
        }
    } else if (event->code == TENDON_MANAGEMENT_DISCOVERING) {
        tendon_reader reader = tendon_reader_make(event->data, event->length);
        uint8_t kinds = tendon_read_u8(&reader);
        bool on = tendon_read_u8(&reader) != 0;
        if (!tendon_reader_ok(&reader)) {
            radio->radio.malformed++;
            return;
        }
        tendon_bluez_kernel_discovers(&radio->kernel, on, is_ours(radio), kinds);
    }
}

#endif
