/* SPDX-License-Identifier: MIT */
/*
 * Pairing on the virtual radio: the kernel's pairing protocol is replaced by messages between the two processes,
 * in order with the PDUs of the link. Nothing is encrypted: the directory belongs to one user.
 *   central   PAIR key(16)      the device takes it when it is pairable
 *   device    PAIRED | REFUSED
 *   central   ENCRYPT key(16)   the first message of a link to a bonded device
 *   device    ENCRYPTED | KEY_MISSING
 */
#include "pairing.h"
#include "socket_link.h"
#include "virtual_radio.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum { PAIR = 1, PAIRED, REFUSED, ENCRYPT, ENCRYPTED, KEY_MISSING };
enum { KEY_SIZE = 16, MESSAGE_MAX = 1 + KEY_SIZE };

static void reply(tendon_link *link, uint8_t code) {
    if (tendon_socket_link_control(link, &code, 1) < 0) {
        tendon_socket_link_fail(link, TENDON_RADIO_ERROR_PAIRING_FAILED); /* the central would wait in vain */
    }
}

static tendon_status send_key(tendon_link *link, uint8_t code, const uint8_t key[KEY_SIZE]) {
    uint8_t message[MESSAGE_MAX] = {code};
    memcpy(message + 1, key, KEY_SIZE);
    return tendon_socket_link_control(link, message, sizeof message);
}

static tendon_status store(tendon_radio *radio, const tendon_link *link, const uint8_t key[KEY_SIZE]) {
    tendon_bond bond = {.radio = TENDON_BOND_VIRTUAL,
                        .initiator = !link->accepted,
                        .type = 2,
                        .key_size = KEY_SIZE,
                        .own = tendon_pairing_own(radio, !link->accepted),
                        .peer = link->peer};
    memcpy(bond.key, key, KEY_SIZE);
    return tendon_pairing_store(radio, &bond, link->accepted);
}

/** A central's address changes with its process, so it is known by its key; it keeps the address of its bond. */
static bool knows_key(tendon_link *link, const uint8_t key[KEY_SIZE]) {
    const tendon_radio *radio = link->radio;
    (void)tendon_bonds_refresh(
        radio->bonds); /* if the file cannot be read, the last state that was read remains valid */
    for (size_t i = 0; i < radio->bonds->count; i++) {
        const tendon_bond *bond = &radio->bonds->items[i];
        if (bond->radio == TENDON_BOND_VIRTUAL && !bond->initiator &&
            tendon_address_equal(&bond->own, &radio->address) && memcmp(bond->key, key, KEY_SIZE) == 0) {
            link->identity = bond->peer;
            return true;
        }
    }
    return false;
}

/** Messages of a central. */
static void serve(tendon_link *link, uint8_t code, const uint8_t *key, uint64_t now) {
    tendon_radio *radio = link->radio;
    bool good = radio->bonds != NULL;
    if (good && code == PAIR) {
        good = radio->pairable && store(radio, link, key) >= 0;
    } else if (good) {
        good = knows_key(link, key);
    }
    if (good) {
        reply(link, code == PAIR ? PAIRED : ENCRYPTED);
        tendon_socket_link_encrypted(link, now);
    } else {
        reply(link, code == PAIR ? REFUSED : KEY_MISSING);
    }
}

/** Handles a message of a device. */
static void take_answer(tendon_link *link, uint8_t code, uint64_t now) {
    bool waiting = link->pairing.state == TENDON_PAIRING_RUNNING;
    if (code == KEY_MISSING) {
        tendon_socket_link_fail(link, TENDON_RADIO_ERROR_PAIRING_FAILED);
    } else if (code == ENCRYPTED) {
        tendon_socket_link_encrypted(link, now);
    } else if (waiting && code == REFUSED) {
        tendon_pairing_finish(link, TENDON_RADIO_ERROR_PAIRING_FAILED, now);
    } else if (waiting) {
        tendon_status status = store(link->radio, link, link->pairing.key);
        if (status >= 0) {
            tendon_socket_link_encrypted(link, now);
        }
        tendon_pairing_finish(link, status, now);
    }
}

void tendon_virtual_control(tendon_link *link, const uint8_t *bytes, size_t length, uint64_t now) {
    uint8_t code = length > 0 ? bytes[0] : 0;
    bool has_key = code == PAIR || code == ENCRYPT;
    if (code < PAIR || code > KEY_MISSING || length != (has_key ? (size_t)MESSAGE_MAX : 1u) ||
        has_key != link->accepted) {
        link->radio->malformed++;
    } else if (link->accepted) {
        serve(link, code, bytes + 1, now);
    } else {
        take_answer(link, code, now);
    }
}

void tendon_virtual_opened(tendon_link *link, uint64_t now) {
    const tendon_bond *bond = link->accepted ? NULL : tendon_pairing_key(link->radio, &link->peer);
    (void)now;
    if (bond != NULL) {
        link->securing = true;
        (void)send_key(link, ENCRYPT, bond->key); /* the first message fits, or the link is closed already */
    }
}

tendon_status tendon_virtual_use_bonds(tendon_radio *radio) {
    (void)radio;
    return TENDON_OK;
}

tendon_status tendon_virtual_set_pairable(tendon_radio *radio, bool pairable) {
    (void)radio;
    (void)pairable;
    return TENDON_OK;
}

tendon_status tendon_virtual_pair(tendon_radio *radio, tendon_link *link) {
    (void)radio;
    if (getrandom(link->pairing.key, KEY_SIZE, 0) != (ssize_t)KEY_SIZE) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    return send_key(link, PAIR, link->pairing.key);
}

void tendon_virtual_pair_cancel(tendon_radio *radio, const tendon_link *link) {
    (void)radio;
    (void)link; /* a response that still arrives finds no procedure in progress */
}

tendon_status tendon_virtual_unpair(tendon_radio *radio, const tendon_address *peer) {
    for (tendon_link *link = radio->links; link != NULL; link = link->next) {
        if (tendon_address_equal(&link->identity, peer) && link->state == TENDON_LINK_OPEN) {
            tendon_socket_link_close(link);
        }
    }
    return TENDON_OK;
}
