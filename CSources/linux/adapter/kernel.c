/* SPDX-License-Identifier: MIT */
/*
 * The model of what the kernel and other programs do with the controller. Their commands are seen on the raw socket as
 * they are sent, so a command counts when the controller has accepted it. docs/bluez-states.md describes it.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

void tendon_bluez_kernel_init(tendon_bluez_kernel *kernel) {
    *kernel = (tendon_bluez_kernel){.handle = TENDON_BLUEZ_HANDLE_UNKNOWN};
}

void tendon_bluez_kernel_reset(tendon_bluez_kernel *kernel) {
    kernel->scans = false;
    kernel->opcode = 0;
    kernel->creating = TENDON_BLUEZ_CREATES_NONE;
    kernel->begins_until = 0;
    kernel->connections = 0;
}

/* ---- the scanner ---- */

static bool is_scan_enable(uint16_t opcode) {
    return opcode == TENDON_HCI_LE_SET_SCAN_ENABLE || opcode == TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE;
}

bool tendon_bluez_is_extended_scan(uint16_t opcode) {
    return opcode == TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS || opcode == TENDON_HCI_LE_SET_EXTENDED_SCAN_ENABLE;
}

/* Type, interval (2), window (2), own address type, filter policy. The extended one: own address type, filter policy.
 */
static bool has_filter(uint16_t opcode, tendon_reader *parameters) {
    (void)tendon_read_bytes(parameters, opcode == TENDON_HCI_LE_SET_SCAN_PARAMETERS ? 6 : 1);
    uint8_t policy = tendon_read_u8(parameters);
    return tendon_reader_ok(parameters) && (policy & 1) != 0;
}

bool tendon_bluez_kernel_scan_sent(tendon_bluez_kernel *kernel, uint16_t opcode, tendon_reader *parameters,
                                   uint64_t begin) {
    if (opcode == TENDON_HCI_LE_SET_SCAN_PARAMETERS || opcode == TENDON_HCI_LE_SET_EXTENDED_SCAN_PARAMETERS) {
        kernel->opcode = opcode;
        kernel->value = has_filter(opcode, parameters);
        return true;
    }
    uint8_t value = tendon_read_u8(parameters);
    if (tendon_reader_ok(parameters) && is_scan_enable(opcode)) {
        kernel->opcode = opcode;
        kernel->value = value != 0;
        kernel->begins_until = value == 0 && kernel->scans ? begin : 0;
    }
    return false;
}

tendon_bluez_scan_change tendon_bluez_kernel_scan_done(tendon_bluez_kernel *kernel, uint8_t status) {
    const uint16_t opcode = kernel->opcode;
    kernel->opcode = 0;
    if (status != 0) {
        return TENDON_BLUEZ_SCAN_SAME;
    }
    if (!is_scan_enable(opcode)) {
        kernel->filters = kernel->value;
        return TENDON_BLUEZ_SCAN_CONFIGURED;
    }
    kernel->scans = kernel->value;
    return kernel->scans ? TENDON_BLUEZ_SCAN_BEGAN : TENDON_BLUEZ_SCAN_ENDED;
}

void tendon_bluez_kernel_scans(tendon_bluez_kernel *kernel, bool scans) {
    kernel->scans = scans;
}

/* ---- connections ---- */

bool tendon_bluez_creates(uint16_t opcode) {
    return opcode == TENDON_HCI_OPCODE(0x08, 0x00D) || opcode == TENDON_HCI_OPCODE(0x08, 0x043);
}

bool tendon_bluez_is_same_device(const tendon_address *a, const tendon_address *b) {
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0 && tendon_bluez_is_random(a) == tendon_bluez_is_random(b);
}

/* LE Create Connection: interval (2), window (2), filter policy (1), peer. The extended one: filter policy, own type,
 * peer. */
void tendon_bluez_kernel_creates(tendon_bluez_kernel *kernel, uint16_t opcode, tendon_reader *parameters) {
    kernel->creating = TENDON_BLUEZ_CREATES;
    kernel->begins_until = 0;
    kernel->handle = TENDON_BLUEZ_HANDLE_UNKNOWN;
    (void)tendon_read_bytes(parameters, opcode == TENDON_HCI_OPCODE(0x08, 0x00D) ? 5 : 2);
    uint8_t type = tendon_read_u8(parameters);
    const uint8_t *wire = tendon_read_bytes(parameters, 6);
    if (tendon_reader_ok(parameters)) {
        kernel->peer = tendon_address_from_wire(wire, type);
    }
}

void tendon_bluez_kernel_begins_none(tendon_bluez_kernel *kernel) {
    kernel->begins_until = 0;
}

void tendon_bluez_kernel_creates_none(tendon_bluez_kernel *kernel) {
    kernel->creating = TENDON_BLUEZ_CREATES_NONE;
}

/* Not if the kernel just connects to another peer: that attempt would count as one that the kernel ignores. */
void tendon_bluez_kernel_attempt_over(tendon_bluez_kernel *kernel, const tendon_address *peer) {
    if (kernel->creating != TENDON_BLUEZ_CREATES || tendon_bluez_is_same_device(peer, &kernel->peer)) {
        kernel->creating = TENDON_BLUEZ_CREATES_NONE;
    }
}

void tendon_bluez_kernel_connected(tendon_bluez_kernel *kernel, uint16_t handle, uint64_t until) {
    kernel->handle = handle;
    kernel->creating = until != 0 ? TENDON_BLUEZ_EXAMINES : TENDON_BLUEZ_CREATES_NONE;
    kernel->examines_until = until;
}

void tendon_bluez_kernel_disconnected(tendon_bluez_kernel *kernel, uint16_t handle) {
    if (kernel->handle == handle) {
        kernel->handle = TENDON_BLUEZ_HANDLE_UNKNOWN;
    }
}

void tendon_bluez_kernel_counts(tendon_bluez_kernel *kernel, int change) {
    kernel->connections = (uint16_t)(kernel->connections + change);
}

bool tendon_bluez_is_creating(const tendon_bluez_kernel *kernel, uint64_t now) {
    return kernel->creating == TENDON_BLUEZ_CREATES ||
           (kernel->creating == TENDON_BLUEZ_EXAMINES && now < kernel->examines_until);
}

/* ---- discovery ---- */

void tendon_bluez_kernel_discovers(tendon_bluez_kernel *kernel, bool on, bool ours, uint8_t kinds) {
    kernel->kinds = kinds;
    if (!on) {
        kernel->discovery = TENDON_BLUEZ_DISCOVERY_OFF;
    } else if (kernel->discovery != TENDON_BLUEZ_DISCOVERY_STOPPING) {
        kernel->discovery = ours ? TENDON_BLUEZ_DISCOVERY_ON : TENDON_BLUEZ_DISCOVERY_OFF;
    }
}

void tendon_bluez_kernel_suspects(tendon_bluez_kernel *kernel, uint8_t kinds) {
    kernel->kinds = kinds;
    kernel->discovery = TENDON_BLUEZ_DISCOVERY_ON;
}

void tendon_bluez_kernel_stops(tendon_bluez_kernel *kernel, bool asked, uint64_t until, bool disables) {
    kernel->discovery = asked ? TENDON_BLUEZ_DISCOVERY_STOPPING : TENDON_BLUEZ_DISCOVERY_OFF;
    kernel->stops_until = until;
    kernel->disables_until = asked && disables ? until : 0;
}

bool tendon_bluez_kernel_disabled(tendon_bluez_kernel *kernel) {
    bool was_expected = kernel->disables_until != 0;
    kernel->disables_until = 0;
    return was_expected;
}

void tendon_bluez_kernel_forget_discovery(tendon_bluez_kernel *kernel) {
    kernel->discovery = TENDON_BLUEZ_DISCOVERY_OFF;
    kernel->disables_until = 0;
}

#endif
