/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairing through the management socket: LE, Just Works, bonding. The kernel runs the protocol and holds the keys; here
 * it is started, its questions are answered, and the keys are kept for the next time.
 */
#if defined(TENDON_HAVE_BLUEZ)
#include "bluez_internal.h"
#include "tendon/linux/doctor.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/** IO capability of Set IO Capability and Pair Device: nothing to show a number on, nobody to compare it. */
enum { NO_INPUT_NO_OUTPUT = 3 };
/** Address types of the management interface. */
enum { ADDRESS_LE_PUBLIC = 1, ADDRESS_LE_RANDOM = 2, ADDRESS_SIZE = 7 };

/** Sends a command; its answer, where anybody waits for it, comes through the loop. */
static tendon_status mode(tendon_bluez_radio *radio, uint16_t opcode, uint8_t value) {
    return tendon_bluez_management_send(radio, opcode, &value, 1);
}

/** A command about one peer: its address, then at most one byte. */
static tendon_status about(tendon_bluez_radio *radio, uint16_t opcode, const tendon_address *peer, bool has_more,
                           uint8_t more) {
    uint8_t data[ADDRESS_SIZE + 1];
    tendon_address_to_wire(peer, data);
    data[6] = peer->type == TENDON_ADDRESS_TYPE_RANDOM ? ADDRESS_LE_RANDOM : ADDRESS_LE_PUBLIC;
    data[7] = more;
    return tendon_bluez_management_send(radio, opcode, data, has_more ? ADDRESS_SIZE + 1u : ADDRESS_SIZE);
}

/** What pairing needs of the adapter, each refused where it cannot be: Secure Connections wants a 4.2 controller. */
static void prepare(tendon_bluez_radio *radio, bool bondable) {
    (void)mode(radio, TENDON_MANAGEMENT_SET_SECURE_CONNECTIONS, 1);
    (void)mode(radio, TENDON_MANAGEMENT_SET_IO_CAPABILITY, NO_INPUT_NO_OUTPUT);
    (void)mode(radio, TENDON_MANAGEMENT_SET_BONDABLE, bondable);
}

/** bluetoothd has loaded the keys that it knows; a list of ours would take their place. */
static bool daemon_runs(void) {
    tendon_finding findings[TENDON_FINDING_COUNT];
    tendon_doctor_examine(NULL, findings);
    return findings[TENDON_FINDING_DAEMON].count > 0;
}

tendon_status tendon_bluez_use_bonds(tendon_radio *base) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    uint8_t keys[2 + 36 * TENDON_BONDS_MAX];
    tendon_status size = tendon_bonds_encode_keys(base->bonds, &base->address, keys, sizeof keys);
    if (size <= 2 || daemon_runs()) {
        return size < 0 ? size : TENDON_OK;
    }
    /* A socket of its own: the events of the radio's one are the loop's. */
    tendon_status fd = tendon_bluez_channel_socket(HCI_DEV_NONE, HCI_CHANNEL_CONTROL);
    if (fd < 0) {
        return fd;
    }
    tendon_status status =
        tendon_bluez_manage(fd, TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS, radio->index, keys, (size_t)size, NULL, 0);
    close(fd);
    return status < 0 ? status : TENDON_OK;
}

tendon_status tendon_bluez_set_pairable(tendon_radio *base, bool pairable) {
    prepare((tendon_bluez_radio *)base, pairable);
    return TENDON_OK;
}

tendon_status tendon_bluez_pair(tendon_radio *base, tendon_link *link) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    radio->pairing_again = false;
    radio->pairing_status = TENDON_OK;
    prepare(radio, true);
    return about(radio, TENDON_MANAGEMENT_PAIR_DEVICE, &link->peer, true, NO_INPUT_NO_OUTPUT);
}

void tendon_bluez_pair_cancel(tendon_radio *base, const tendon_address *peer) {
    (void)about((tendon_bluez_radio *)base, TENDON_MANAGEMENT_CANCEL_PAIR_DEVICE, peer, false, 0);
}

void tendon_bluez_unpair(tendon_radio *base, const tendon_address *peer) {
    (void)about((tendon_bluez_radio *)base, TENDON_MANAGEMENT_UNPAIR_DEVICE, peer, true, 1); /* 1: the link ends too */
}

void tendon_bluez_encrypted(tendon_bluez_radio *radio, uint16_t handle, uint64_t now) {
    for (tendon_link *link = radio->radio.links; link != NULL; link = link->next) {
        if (link->handle == handle && link->state == TENDON_LINK_OPEN) {
            tendon_socket_link_encrypted(link, now);
            return;
        }
    }
}

bool tendon_bluez_is_encrypted(const tendon_link *link) {
    struct bt_security security = {0};
    socklen_t size = sizeof security;
    return getsockopt(link->source.fd, SOL_BLUETOOTH, BT_SECURITY, &security, &size) == 0 &&
           security.level >= BT_SECURITY_MEDIUM;
}

/* A connected ATT socket that is asked for encryption takes nothing until it has it; then it is writable again. */
bool tendon_bluez_secure(tendon_link *link) {
    const struct bt_security security = {.level = BT_SECURITY_MEDIUM};
    return tendon_pairing_key(link->radio, &link->peer) != NULL &&
           setsockopt(link->source.fd, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security) == 0;
}

/** The status of Pair Device, as the owner is told it. */
static tendon_status outcome(uint8_t status) {
    switch (status) {
    case TENDON_MANAGEMENT_AUTHENTICATION_FAILED:
    case TENDON_MANAGEMENT_FAILED:
    case TENDON_MANAGEMENT_TIMEOUT:
    case TENDON_MANAGEMENT_REJECTED:
    case TENDON_MANAGEMENT_CANCELLED:
        return TENDON_RADIO_ERROR_PAIRING_FAILED;
    case TENDON_MANAGEMENT_NOT_CONNECTED:
    case TENDON_MANAGEMENT_CONNECT_FAILURE:
    case TENDON_MANAGEMENT_DISCONNECTED:
        return TENDON_ERROR_DISCONNECTED;
    default:
        return tendon_bluez_management_status(status);
    }
}

static void pair_device_done(tendon_bluez_radio *radio, uint8_t status, uint64_t now) {
    tendon_radio *base = &radio->radio;
    const tendon_address peer = base->attempt.peer;
    if (status == TENDON_MANAGEMENT_ALREADY_PAIRED && !radio->pairing_again) {
        /* The kernel has a key that is in no file of ours. It goes, and the link stays. */
        radio->pairing_again = true;
        (void)about(radio, TENDON_MANAGEMENT_UNPAIR_DEVICE, &peer, true, 0);
        (void)about(radio, TENDON_MANAGEMENT_PAIR_DEVICE, &peer, true, NO_INPUT_NO_OUTPUT);
        return;
    }
    tendon_status result = status == TENDON_MANAGEMENT_SUCCESS ? radio->pairing_status : outcome(status);
    for (tendon_link *link = base->links; link != NULL && result >= 0; link = link->next) {
        if (!link->accepted && tendon_address_equal(&link->peer, &peer)) {
            tendon_socket_link_encrypted(link, now);
        }
    }
    tendon_pairing_finish(base, result, now);
}

static void keep_key(tendon_bluez_radio *radio, const tendon_management_event *event) {
    tendon_bond bond;
    bool stored = false;
    if (tendon_bond_decode_key(event->data, event->length, &bond, &stored) < 0) {
        radio->radio.malformed++;
        return;
    }
    bond.own = radio->radio.address;
    tendon_status status = stored ? tendon_bonds_store(radio->radio.bonds, &bond) : TENDON_OK;
    if (status < 0) {
        radio->pairing_status = status; /* paired, but not bonded: the owner is to know */
    }
}

/** A question that only its wish to be asked has made: yes. A number that nobody can compare: no. */
static void confirm(tendon_bluez_radio *radio, const tendon_management_event *event) {
    tendon_reader reader = tendon_reader_make(event->data, event->length);
    const uint8_t *wire = tendon_read_bytes(&reader, 6);
    uint8_t type = tendon_read_u8(&reader);
    bool just_works = tendon_read_u8(&reader) != 0;
    if (!tendon_reader_ok(&reader)) {
        radio->radio.malformed++;
        return;
    }
    tendon_address peer = tendon_address_from_wire(wire, type == ADDRESS_LE_RANDOM ? TENDON_ADDRESS_TYPE_RANDOM
                                                                                   : TENDON_ADDRESS_TYPE_PUBLIC);
    bool ours = radio->radio.attempt.busy && tendon_address_equal(&radio->radio.attempt.peer, &peer);
    bool good = just_works && (ours || radio->radio.pairable);
    (void)about(radio, good ? TENDON_MANAGEMENT_USER_CONFIRM_REPLY : TENDON_MANAGEMENT_USER_CONFIRM_NEGATIVE_REPLY,
                &peer, false, 0);
}

void tendon_bluez_pairing_event(tendon_bluez_radio *radio, const tendon_management_event *event, uint64_t now) {
    bool answer = event->code == TENDON_MANAGEMENT_COMMAND_COMPLETE || event->code == TENDON_MANAGEMENT_COMMAND_STATUS;
    if (answer && event->opcode == TENDON_MANAGEMENT_PAIR_DEVICE && radio->radio.attempt.busy) {
        pair_device_done(radio, event->status, now);
    } else if (event->code == TENDON_MANAGEMENT_NEW_LONG_TERM_KEY) {
        keep_key(radio, event);
    } else if (event->code == TENDON_MANAGEMENT_USER_CONFIRM_REQUEST) {
        confirm(radio, event);
    }
}

#else
typedef int tendon_bluez_pairing_nothing; /* ISO C wants a declaration in every file */
#endif
