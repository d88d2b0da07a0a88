/* SPDX-License-Identifier: MIT */
/*
 * Pairing through the management socket: LE, bonding. The kernel executes the protocol and has the keys. This file
 * starts it, passes its questions to the radio's agent, and stores the keys that the agent is content with.
 *
 * Legacy pairing is rejected by the type of its key, not by Secure Connections Only mode: that is a mode of the whole
 * adapter, for every program.
 */
#include "adapter_parts.h"
#if defined(TENDON_HAVE_BLUEZ)

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/** Sends a command; a response that is needed arrives through the loop. */
static tendon_status mode(tendon_bluez_radio *radio, uint16_t opcode, uint8_t value) {
    return tendon_bluez_management_send(radio, opcode, &value, 1);
}

static tendon_status about(tendon_bluez_radio *radio, uint16_t opcode, const tendon_address *peer, bool has_more,
                           uint8_t more) {
    return tendon_bluez_about(radio, opcode, peer, has_more ? 1 : 0, more);
}

/** The command that rejects what this question was about. */
static uint16_t no_to(uint8_t question) {
    return question == TENDON_PAIRING_ENTER ? TENDON_MANAGEMENT_USER_PASSKEY_NEGATIVE_REPLY
                                            : TENDON_MANAGEMENT_USER_CONFIRM_NEGATIVE_REPLY;
}

/** Whether a procedure of this radio is in progress: without Bondable the kernel makes no key that can be stored. */
static bool is_pairing(const tendon_radio *base) {
    const tendon_link *link = base->links;
    while (link != NULL && link->pairing.state != TENDON_PAIRING_RUNNING) {
        link = link->next;
    }
    return link != NULL;
}

static void settle_bondable(tendon_bluez_radio *radio, bool answers) {
    const tendon_radio *base = &radio->radio;
    tendon_bluez_mode wanted = base->pairable || is_pairing(base) ? TENDON_BLUEZ_MODE_ON
                               : answers                          ? TENDON_BLUEZ_MODE_OFF
                                                                  : TENDON_BLUEZ_MODE_OF_OTHERS;
    if (radio->bondable == TENDON_BLUEZ_MODE_OF_OTHERS) {
        radio->bondable_before = (radio->settings & TENDON_MANAGEMENT_BONDABLE) != 0;
    }
    /* Another program has switched it off meanwhile. What it has switched on is left, or two programs would never end.
     */
    const bool is_lost = wanted == TENDON_BLUEZ_MODE_ON && radio->bondable == TENDON_BLUEZ_MODE_ON &&
                         (radio->settings & TENDON_MANAGEMENT_BONDABLE) == 0;
    if (is_lost) {
        radio->bondable_before = false; /* in the end it is as they want it */
    }
    const bool values[] = {radio->bondable_before, false, true};
    if (values[wanted] != values[radio->bondable] || is_lost) {
        (void)mode(radio, TENDON_MANAGEMENT_SET_BONDABLE, values[wanted]);
        /* The socket that has sent it gets no New Settings. */
        radio->settings = values[wanted] ? radio->settings | TENDON_MANAGEMENT_BONDABLE
                                         : radio->settings & ~(uint32_t)TENDON_MANAGEMENT_BONDABLE;
    }
    radio->bondable = (uint8_t)wanted;
}

/**
 * Two settings of the whole adapter, which other programs use too: they are this radio's while centrals may ask it to
 * pair. The kernel copies the IO capability into each connection as it begins, so that an agent which can show or enter
 * something needs it for what peripherals request, too. Pair Device has its own. What other programs had set as IO
 * capability cannot be read: in the end it is as the kernel begins.
 */
static tendon_status settle(tendon_bluez_radio *radio) {
    tendon_radio *base = &radio->radio;
    const bool answers = base->pairable || (base->listener != NULL && base->pairable_told);
    const bool has_io = base->bonds != NULL && (answers || base->agent.io != TENDON_PAIRING_NO_INPUT_NO_OUTPUT);
    const uint8_t io = has_io ? base->agent.io : (uint8_t)TENDON_PAIRING_NO_INPUT_NO_OUTPUT;
    tendon_status status = TENDON_OK;
    if (has_io ? !radio->io_set || radio->io != io : radio->io_set && radio->io != io) {
        status = mode(radio, TENDON_MANAGEMENT_SET_IO_CAPABILITY, io);
    }
    radio->io_set = has_io;
    radio->io = io;
    settle_bondable(radio, answers);
    return status;
}

void tendon_bluez_pairing_settle(tendon_bluez_radio *radio) {
    if (radio->opened) {
        (void)settle(radio);
    }
}

void tendon_bluez_pairing_restore(tendon_bluez_radio *radio) {
    radio->radio.pairable = radio->radio.pairable_told = false;
    radio->radio.agent.io = TENDON_PAIRING_NO_INPUT_NO_OUTPUT;
    tendon_bluez_pairing_settle(radio);
}

tendon_status tendon_bluez_set_pairable(tendon_radio *base, bool pairable) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    if (pairable) {
        tendon_bluez_load_missing(radio);
        (void)mode(radio, TENDON_MANAGEMENT_SET_SECURE_CONNECTIONS, 1); /* a controller before 4.2 has none */
    }
    return settle(radio);
}

tendon_status tendon_bluez_set_io(tendon_radio *base) {
    return settle((tendon_bluez_radio *)base);
}

tendon_status tendon_bluez_pair(tendon_radio *base, tendon_link *link) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    (void)mode(radio, TENDON_MANAGEMENT_SET_SECURE_CONNECTIONS, 1);
    (void)settle(radio);
    return about(radio, TENDON_MANAGEMENT_PAIR_DEVICE, &link->identity, true, base->agent.io);
}

/* Of several procedures the kernel may cancel only the latest; the others end at the peer's or the kernel's limit. */
void tendon_bluez_pair_cancel(tendon_radio *base, const tendon_link *link) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    (void)about(radio, TENDON_MANAGEMENT_CANCEL_PAIR_DEVICE, &link->identity, false, 0);
    tendon_bluez_pairing_settle(radio);
}

tendon_status tendon_bluez_unpair(tendon_radio *base, const tendon_address *peer) {
    return about((tendon_bluez_radio *)base, TENDON_MANAGEMENT_UNPAIR_DEVICE, peer, true, 1); /* 1: disconnects too */
}

static tendon_link *open_link_with(const tendon_bluez_radio *radio, uint16_t handle) {
    tendon_link *link = radio->radio.links;
    while (link != NULL && (link->handle != handle || link->state != TENDON_LINK_OPEN)) {
        link = link->next;
    }
    return link;
}

/* The kernel keeps a connection whose encryption was disabled, and a socket for which it was requested. */
void tendon_bluez_encryption_changed(tendon_bluez_radio *radio, uint16_t handle, bool enabled, uint64_t now) {
    tendon_link *link = open_link_with(radio, handle);
    if (link == NULL) {
        return;
    }
    if (!enabled && link->encrypted) {
        tendon_socket_link_end(link, TENDON_RADIO_ERROR_NOT_SECURE);
    } else if (enabled && radio->radio.bonds != NULL && tendon_pairing_trusts(link)) {
        tendon_socket_link_encrypted(link, now);
    }
}

bool tendon_bluez_is_encrypted(const tendon_link *link) {
    struct bt_security security = {0};
    socklen_t size = sizeof security;
    return getsockopt(link->source.fd, SOL_BLUETOOTH, BT_SECURITY, &security, &size) == 0 &&
           security.level >= BT_SECURITY_MEDIUM && tendon_pairing_trusts(link);
}

/* After a request for encryption, a connected ATT socket accepts no PDU until it is encrypted; then it is writable
 * again. */
bool tendon_bluez_secure(tendon_link *link) {
    const struct bt_security security = {.level =
                                             tendon_pairing_is_strict(link) ? BT_SECURITY_HIGH : BT_SECURITY_MEDIUM};
    if (tendon_pairing_key(link->radio, &link->peer) == NULL) {
        return false;
    }
    link->handle = tendon_bluez_handle_of(link->source.fd); /* by which the key of the encryption is found */
    return setsockopt(link->source.fd, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security) == 0;
}

/** Converts the status of Pair Device to the status that is reported to the owner. */
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

/** Keys that could not be stored are removed from the kernel too: the peer is bonded on both sides, or on none. */
static void undo(tendon_bluez_radio *radio, const tendon_link *link) {
    (void)tendon_bonds_remove(radio->radio.bonds, TENDON_BOND_KERNEL, &radio->radio.address, &link->identity);
    (void)about(radio, TENDON_MANAGEMENT_UNPAIR_DEVICE, &link->identity, true, 0);
}

/**
 * Ends a pairing whose key is not good enough, and the connection, which the kernel has encrypted with it. The kernel
 * has the key in place of the one of the same name that the store has: that one is loaded again.
 */
static void refuse_key(tendon_bluez_radio *radio, tendon_link *link, tendon_status reason, uint64_t now) {
    bool running = link->pairing.state == TENDON_PAIRING_RUNNING;
    (void)about(radio, TENDON_MANAGEMENT_UNPAIR_DEVICE, &link->identity, true, 1);
    tendon_bluez_load_again(radio);
    if (!running) {
        tendon_socket_link_fail(link, reason);
    }
    tendon_pairing_finish(link, reason, now); /* may close the link */
}

static void procedure_done(tendon_bluez_radio *radio, tendon_link *link, uint8_t status, uint64_t now) {
    if (status == TENDON_MANAGEMENT_BUSY) {
        tendon_pairing_retry(link,
                             now); /* another program pairs with this peer, or a cancelled procedure has not ended */
        return;
    }
    if (status == TENDON_MANAGEMENT_ALREADY_PAIRED && !link->pairing.key_removed) {
        if (!tendon_radio_may_pair(&radio->radio, &link->peer, now)) {
            tendon_pairing_finish(link, TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED, now);
            return;
        }
        /* The kernel has a key that is not in the store. The key is removed, and the connection stays. */
        link->pairing.key_removed = true;
        (void)about(radio, TENDON_MANAGEMENT_UNPAIR_DEVICE, &link->identity, true, 0);
        (void)about(radio, TENDON_MANAGEMENT_PAIR_DEVICE, &link->identity, true, radio->radio.agent.io);
        return;
    }
    bool refused = link->pairing.kept == TENDON_RADIO_ERROR_PAIRING_TOO_WEAK; /* by us */
    tendon_status result = status == TENDON_MANAGEMENT_SUCCESS || refused ? link->pairing.kept : outcome(status);
    if (result >= 0 && !tendon_pairing_trusts(link)) {
        result = TENDON_RADIO_ERROR_PAIRING_TOO_WEAK; /* the kernel had encrypted with a key that it was given before */
    } else if (result >= 0) {
        tendon_socket_link_encrypted(link, now);
    } else if (status == TENDON_MANAGEMENT_SUCCESS) {
        undo(radio, link);
    }
    if (result < 0 && link->pairing.key_removed) {
        tendon_bluez_load_again(radio); /* of a bond that was too weak for this pairing, not for others */
    }
    tendon_pairing_finish(link, result, now);
}

static tendon_link *first_due(const tendon_bluez_radio *radio) {
    tendon_link *link = radio->radio.links;
    while (link != NULL && !link->pairing.due) {
        link = link->next;
    }
    return link;
}

/**
 * The command was rejected without a look at the peer: that is true of all procedures that have sent it. A callback may
 * start another one, or change the list of links.
 */
static void all_done(tendon_bluez_radio *radio, tendon_status status, uint64_t now) {
    for (tendon_link *link = radio->radio.links; link != NULL; link = link->next) {
        link->pairing.due = link->pairing.state == TENDON_PAIRING_RUNNING;
    }
    for (tendon_link *link = first_due(radio); link != NULL; link = first_due(radio)) {
        link->pairing.due = false;
        tendon_pairing_finish(link, status, now);
    }
}

/** A response to Pair Device: Command Complete with the peer's address, or Command Status without one. */
static void pair_device_done(tendon_bluez_radio *radio, const tendon_management_event *event, uint64_t now) {
    tendon_reader reader = tendon_reader_make(event->data, event->length);
    tendon_address peer;
    (void)tendon_management_read_address(&reader, &peer);
    if (!tendon_reader_ok(&reader)) {
        all_done(radio, outcome(event->status), now);
        return;
    }
    tendon_link *link = tendon_bluez_link_of(radio, &peer);
    if (link != NULL && link->pairing.state == TENDON_PAIRING_RUNNING) {
        procedure_done(radio, link, event->status, now);
    }
}

/** Whether a key of the kernel belongs to a pairing of this radio: one of its links, and one that was permitted. */
static bool is_ours(const tendon_bluez_radio *radio, const tendon_link *link, uint64_t now) {
    if (link == NULL) {
        return false;
    }
    /* A peripheral may start pairing too, by a Security Request. */
    return link->accepted ? radio->radio.pairable
                          : link->pairing.state == TENDON_PAIRING_RUNNING ||
                                tendon_radio_may_pair(&radio->radio, &link->peer, now);
}

/* Every program that pairs through this adapter causes this event. */
static void keep_key(tendon_bluez_radio *radio, const tendon_management_event *event, uint64_t now) {
    tendon_bond bond;
    bool stored = false;
    if (tendon_bond_decode_key(event->data, event->length, &bond, &stored) < 0) {
        radio->radio.malformed++;
        return;
    }
    tendon_link *link = tendon_bluez_link_of(radio, &bond.peer);
    if (!stored || !is_ours(radio, link, now)) {
        return;
    }
    bond.own = radio->radio.address;
    bond.has_identity_key = link->has_identity_key; /* the kernel reports it before the other keys */
    memcpy(bond.identity_key, link->identity_key, sizeof bond.identity_key);
    tendon_status status = tendon_pairing_judge(link, &bond);
    if (status < 0) {
        refuse_key(radio, link, status, now);
        return;
    }
    status = tendon_pairing_store(&radio->radio, &bond, link->accepted);
    tendon_bluez_keys_stored(radio);
    if (status >= 0) {
        tendon_pairing_stored(link, now);
    }
    if (status < 0 && link->pairing.state == TENDON_PAIRING_RUNNING) {
        link->pairing.kept = status; /* paired, but not bonded: reported at the end of the procedure */
    } else if (status < 0) {
        undo(radio, link);
    } else if (link->accepted && tendon_bluez_is_encrypted(link)) {
        tendon_socket_link_encrypted(link, now); /* the encryption did not count before */
    }
}

/** New Identity Resolving Key: the address in the link is a private one; keys are stored under the identity address. */
static void note_identity(tendon_bluez_radio *radio, const tendon_management_event *event) {
    tendon_bond_identity identity;
    if (tendon_bond_decode_identity(event->data, event->length, &identity) < 0) {
        radio->radio.malformed++;
        return;
    }
    radio->identity_received = true;
    tendon_link *link = tendon_bluez_link_of(radio, &identity.private_address);
    link = link != NULL
               ? link
               : tendon_bluez_link_of(radio, &identity.address); /* a peer that does not use its private addresses */
    if (link != NULL) {
        /* A key that was stored under one identity does not permit to replace the bond of another one. */
        link->keyed = link->keyed && tendon_address_equal(&link->identity, &identity.address);
        link->identity = identity.address;
        link->has_identity_key = identity.stored;
        memcpy(link->identity_key, identity.key, sizeof link->identity_key);
    }
}

void tendon_bluez_answer(tendon_radio *base, tendon_link *link, bool accepted, uint32_t passkey, uint64_t now) {
    tendon_bluez_radio *radio = (tendon_bluez_radio *)base;
    (void)now;
    if (link->question == TENDON_PAIRING_ENTER && accepted) {
        (void)tendon_bluez_about(radio, TENDON_MANAGEMENT_USER_PASSKEY_REPLY, &link->identity, 4, passkey);
    } else {
        (void)about(radio, accepted ? TENDON_MANAGEMENT_USER_CONFIRM_REPLY : no_to(link->question), &link->identity,
                    false, 0);
    }
}

/** Whose a question of the kernel is. */
typedef enum turn { OURS, REFUSED, OF_OTHERS } turn;

/**
 * Every program with a management socket gets each question, and the kernel takes the first answer. So only questions
 * about a pairing of this radio are answered, and those that no other program can answer are rejected: without an
 * answer the peer waits for 30 s, and is disconnected then.
 */
static turn turn_of(const tendon_bluez_radio *radio, const tendon_link *link, uint64_t now) {
    if (link != NULL && link->accepted) {
        return radio->radio.pairable ? OURS : REFUSED; /* no program has begun this one: the mode decides */
    }
    if (link != NULL && link->pairing.state == TENDON_PAIRING_RUNNING) {
        return OURS;
    }
    bool cancelled = link != NULL && link->pairing.result == TENDON_ERROR_CANCELLED && link->pairing.deadline > now;
    bool alone = radio->use == TENDON_BLUEZ_SOLE || tendon_bluez_users(radio) == 0;
    return cancelled || alone ? REFUSED : OF_OTHERS;
}

/** A link that is accepted, and not open yet. */
static tendon_link *first_accepted(const tendon_bluez_radio *radio) {
    tendon_link *link = radio->radio.links;
    while (link != NULL && !(link->accepted && link->state == TENDON_LINK_CONNECTED)) {
        link = link->next;
    }
    return link;
}

/**
 * The link that a question is about; NULL: none. The connection of a central waits in the listener's queue before the
 * kernel asks about its pairing, but the loop may read the question first.
 */
static tendon_link *link_asked_about(tendon_bluez_radio *radio, const tendon_address *peer, uint64_t now) {
    tendon_link *link = tendon_bluez_link_of(radio, peer);
    const tendon_listener *listener = radio->radio.listener;
    if (link != NULL || listener == NULL) {
        return link;
    }
    listener->source.ready(listener->source.context, TENDON_READABLE, now);
    while ((link = first_accepted(radio)) != NULL) {
        link->source.expired(link->source.context, now); /* opens it */
    }
    return tendon_bluez_link_of(radio, peer);
}

/** User Confirmation Request: its Confirm_Hint is set for Just Works; otherwise it is Numeric Comparison. */
static void confirm(tendon_bluez_radio *radio, const tendon_management_event *event, uint64_t now) {
    tendon_reader reader = tendon_reader_make(event->data, event->length);
    tendon_address peer;
    (void)tendon_management_read_address(&reader, &peer);
    bool just_works = tendon_read_u8(&reader) != 0;
    uint32_t passkey = tendon_read_u32le(&reader);
    if (!tendon_reader_ok(&reader)) {
        radio->radio.malformed++;
        return;
    }
    tendon_link *link = link_asked_about(radio, &peer, now);
    const turn whose = turn_of(radio, link, now);
    if (whose == OF_OTHERS) {
        return;
    }
    if (whose == OURS && !just_works) {
        tendon_pairing_ask(link, TENDON_PAIRING_COMPARE, passkey, now);
        return;
    }
    bool good = whose == OURS && !tendon_pairing_is_strict(link);
    if (whose == OURS && !good) {
        link->pairing.kept = TENDON_RADIO_ERROR_PAIRING_TOO_WEAK;
    }
    (void)about(radio, good ? TENDON_MANAGEMENT_USER_CONFIRM_REPLY : TENDON_MANAGEMENT_USER_CONFIRM_NEGATIVE_REPLY,
                &peer, false, 0);
}

/** User Passkey Request, or Passkey Notify, which has no answer. */
static void take_passkey(tendon_bluez_radio *radio, const tendon_management_event *event, uint64_t now) {
    bool shows = event->code == TENDON_MANAGEMENT_PASSKEY_NOTIFY;
    tendon_reader reader = tendon_reader_make(event->data, event->length);
    tendon_address peer;
    (void)tendon_management_read_address(&reader, &peer);
    uint32_t passkey = shows ? tendon_read_u32le(&reader) : 0;
    uint8_t entered = shows ? tendon_read_u8(&reader) : 0;
    if (!tendon_reader_ok(&reader)) {
        radio->radio.malformed++;
        return;
    }
    tendon_link *link = link_asked_about(radio, &peer, now);
    const turn whose = turn_of(radio, link, now);
    if (whose == OURS && entered == 0) {
        tendon_pairing_ask(link, shows ? TENDON_PAIRING_SHOW : TENDON_PAIRING_ENTER, passkey, now);
    } else if (whose == REFUSED && !shows) {
        (void)about(radio, TENDON_MANAGEMENT_USER_PASSKEY_NEGATIVE_REPLY, &peer, false, 0);
    }
}

/** An attempt to connect to a bonded peer that waits for the encryption. */
static tendon_link *securing_link_to(const tendon_bluez_radio *radio, const tendon_address *peer) {
    tendon_link *link = radio->radio.links;
    while (link != NULL && !(link->state == TENDON_LINK_SECURING && tendon_address_equal(&link->peer, peer))) {
        link = link->next;
    }
    return link;
}

/** Authentication Failed: the only event about an encryption that no command has started. */
static void note_failure(tendon_bluez_radio *radio, const tendon_management_event *event) {
    tendon_reader reader = tendon_reader_make(event->data, event->length);
    tendon_address peer;
    (void)tendon_management_read_address(&reader, &peer);
    (void)tendon_read_u8(&reader); /* the status of the Security Manager */
    if (!tendon_reader_ok(&reader)) {
        radio->radio.malformed++;
        return;
    }
    tendon_link *link = securing_link_to(radio, &peer);
    if (link != NULL) { /* the kernel keeps the connection, and the socket would wait until the deadline */
        tendon_socket_link_fail(link, tendon_bluez_why_not_encrypted(radio, link));
    }
}

void tendon_bluez_pairing_event(tendon_bluez_radio *radio, const tendon_management_event *event, uint64_t now) {
    if (event->opcode == TENDON_MANAGEMENT_PAIR_DEVICE) { /* only an answer has an opcode */
        pair_device_done(radio, event, now);
    } else if (event->code == TENDON_MANAGEMENT_NEW_LONG_TERM_KEY) {
        keep_key(radio, event, now);
    } else if (event->code == TENDON_MANAGEMENT_NEW_IDENTITY_KEY) {
        note_identity(radio, event);
    } else if (event->code == TENDON_MANAGEMENT_AUTHENTICATION_FAILED_EVENT) {
        note_failure(radio, event);
    } else if (event->code == TENDON_MANAGEMENT_USER_CONFIRM_REQUEST) {
        confirm(radio, event, now);
    } else if (event->code == TENDON_MANAGEMENT_USER_PASSKEY_REQUEST ||
               event->code == TENDON_MANAGEMENT_PASSKEY_NOTIFY) {
        take_passkey(radio, event, now);
    }
    tendon_bluez_pairing_settle(radio);
}

#endif
