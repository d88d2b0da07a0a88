/* SPDX-License-Identifier: MIT */
/*
 * Pairing on the virtual radio: the kernel's pairing protocol is replaced by messages between the two processes,
 * in order with the PDUs of the link. Nothing is encrypted: the directory belongs to one user. There are two methods:
 * Just Works, and a passkey that the device shows and the central enters.
 *   central   PAIR key(16) how(1)    how: whether it can enter a passkey, and whether it rejects Just Works
 *   device    ASK                    it shows a passkey
 *   central   ANSWER passkey(4)      NO_PASSKEY: rejected
 *   device    PAIRED | REFUSED | WEAK
 *   central   ENCRYPT key(16)        the first message of a link to a bonded device
 *   device    ENCRYPTED | KEY_MISSING
 */
#include "../pairing/pairing.h"
#include "../socket_link.h"
#include "radio.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum { PAIR = 1, PAIRED, REFUSED, ENCRYPT, ENCRYPTED, KEY_MISSING, ASK, ANSWER, WEAK };
enum { KEY_SIZE = 16, ANSWER_SIZE = 5 };
enum { ENTERS = 1, IS_STRICT = 2 }; /* bits of how */
#define NO_PASSKEY UINT32_MAX

static void send_or_fail(tendon_link *link, const uint8_t *message, size_t length) {
    if (tendon_socket_link_control(link, message, length) < 0) {
        tendon_socket_link_fail(link, TENDON_RADIO_ERROR_PAIRING_FAILED); /* the other side would wait in vain */
    }
}

static void reply(tendon_link *link, uint8_t code) {
    send_or_fail(link, &code, 1);
}

static bool enters(const tendon_link *link) {
    uint8_t io = link->radio->agent.io;
    return io == TENDON_PAIRING_KEYBOARD_ONLY || io == TENDON_PAIRING_KEYBOARD_DISPLAY;
}

static bool shows(const tendon_link *link) {
    uint8_t io = link->radio->agent.io;
    return io != TENDON_PAIRING_KEYBOARD_ONLY && io != TENDON_PAIRING_NO_INPUT_NO_OUTPUT;
}

static tendon_status store(tendon_radio *radio, tendon_link *link, const uint8_t key[KEY_SIZE], bool authenticated,
                           uint64_t now) {
    tendon_bond bond = {.radio = TENDON_BOND_VIRTUAL,
                        .initiator = !link->accepted,
                        .type = authenticated ? 3 : 2,
                        .key_size = KEY_SIZE,
                        .own = tendon_pairing_own(radio, !link->accepted),
                        .peer = link->identity};
    memcpy(bond.key, key, KEY_SIZE);
    tendon_status status = tendon_pairing_judge(link, &bond);
    status = status < 0 ? status : tendon_pairing_store(radio, &bond, link->accepted);
    if (status >= 0) {
        tendon_pairing_stored(link, now);
    }
    return status;
}

/** A central's address changes with its process, so it is known by its key; it keeps the address of its bond. */
static bool knows_key(tendon_link *link, const uint8_t key[KEY_SIZE]) {
    const tendon_radio *radio = link->radio;
    (void)tendon_bonds_refresh(
        radio->bonds); /* if the file cannot be read, the last state that was read remains valid */
    for (size_t i = 0; i < radio->bonds->count; i++) {
        const tendon_bond *bond = &radio->bonds->items[i];
        if (bond->radio == TENDON_BOND_VIRTUAL && !bond->initiator &&
            tendon_address_equal(&bond->own, &radio->address) && memcmp(bond->key, key, KEY_SIZE) == 0 &&
            tendon_pairing_suffices(radio, bond)) {
            link->identity = bond->peer;
            link->keyed = true;
            return true;
        }
    }
    return false;
}

/** Device: the central's key is taken, or not. */
static void finish(tendon_link *link, const uint8_t key[KEY_SIZE], bool good, bool authenticated, uint64_t now) {
    tendon_status status = good ? store(link->radio, link, key, authenticated, now) : TENDON_RADIO_ERROR_PAIRING_FAILED;
    reply(link, status >= 0 ? PAIRED : status == TENDON_RADIO_ERROR_PAIRING_TOO_WEAK ? WEAK : REFUSED);
    if (status >= 0) {
        tendon_socket_link_encrypted(link, now);
    }
}

/** Device: a central requests to pair. A request in the place of another one has its own passkey. */
static void begin(tendon_link *link, const uint8_t *request, uint64_t now) {
    tendon_pairing_attempt *attempt = &link->pairing;
    uint8_t how = request[KEY_SIZE];
    attempt->asked = shows(link) && (how & ENTERS) != 0;
    if (!attempt->asked && (how & IS_STRICT) != 0) {
        reply(link, WEAK);
    } else if (!attempt->asked) {
        finish(link, request, true, false, now);
    } else if (getrandom(&attempt->passkey, sizeof attempt->passkey, 0) != (ssize_t)sizeof attempt->passkey) {
        attempt->asked = false;
        reply(link, REFUSED);
    } else {
        attempt->passkey %= TENDON_PASSKEY_MAX + 1;
        memcpy(attempt->key, request, KEY_SIZE);
        reply(link, ASK);
        tendon_pairing_ask(link, TENDON_PAIRING_SHOW, attempt->passkey, now);
    }
}

/** Device: what the central's owner has entered. */
static void take_passkey(tendon_link *link, const uint8_t *bytes, uint64_t now) {
    tendon_pairing_attempt *attempt = &link->pairing;
    tendon_reader reader = tendon_reader_make(bytes, ANSWER_SIZE - 1);
    if (attempt->asked) { /* else of no question, or of one that is answered */
        attempt->asked = false;
        finish(link, attempt->key, tendon_read_u32le(&reader) == attempt->passkey, true, now);
    }
}

/** Messages of a central. */
static void serve(tendon_link *link, uint8_t code, const uint8_t *bytes, uint64_t now) {
    tendon_radio *radio = link->radio;
    bool good = radio->bonds != NULL && (code == ENCRYPT || radio->pairable);
    if (code == ENCRYPT) {
        good = good && knows_key(link, bytes);
        reply(link, good ? ENCRYPTED : KEY_MISSING);
        if (good) {
            tendon_socket_link_encrypted(link, now);
        }
    } else if (!good) {
        reply(link, REFUSED);
    } else if (code == PAIR) {
        begin(link, bytes, now);
    } else {
        take_passkey(link, bytes, now);
    }
}

void tendon_virtual_answer(tendon_radio *radio, tendon_link *link, bool accepted, uint32_t passkey, uint64_t now) {
    uint8_t message[ANSWER_SIZE];
    tendon_writer writer = tendon_writer_make(message, sizeof message);
    (void)radio;
    (void)now;
    tendon_write_u8(&writer, ANSWER);
    tendon_write_u32le(&writer, accepted ? passkey : NO_PASSKEY);
    send_or_fail(link, message, sizeof message);
}

/** Handles a message of a device. */
static void take_answer(tendon_link *link, uint8_t code, uint64_t now) {
    bool waiting = link->pairing.state == TENDON_PAIRING_RUNNING;
    if (code == KEY_MISSING) {
        tendon_socket_link_fail(link, TENDON_RADIO_ERROR_PAIRING_FAILED);
    } else if (code == ENCRYPTED) {
        tendon_socket_link_encrypted(link, now);
    } else if (waiting && code == ASK && !enters(link)) {
        tendon_virtual_answer(link->radio, link, false, 0, now);
    } else if (waiting && code == ASK) {
        link->pairing.asked = true; /* the key will be an authenticated one */
        tendon_pairing_ask(link, TENDON_PAIRING_ENTER, 0, now);
    } else if (waiting && code != PAIRED) {
        tendon_pairing_finish(
            link, code == WEAK ? TENDON_RADIO_ERROR_PAIRING_TOO_WEAK : TENDON_RADIO_ERROR_PAIRING_FAILED, now);
    } else if (waiting) {
        tendon_status status = store(link->radio, link, link->pairing.key, link->pairing.asked, now);
        if (status >= 0) {
            tendon_socket_link_encrypted(link, now);
        }
        tendon_pairing_finish(link, status, now);
    }
}

void tendon_virtual_control(tendon_link *link, const uint8_t *bytes, size_t length, uint64_t now) {
    static const struct {
        uint8_t size;
        bool of_central;
    } messages[] = {[PAIR] = {2 + KEY_SIZE, true},
                    [PAIRED] = {1, false},
                    [REFUSED] = {1, false},
                    [ENCRYPT] = {1 + KEY_SIZE, true},
                    [ENCRYPTED] = {1, false},
                    [KEY_MISSING] = {1, false},
                    [ASK] = {1, false},
                    [ANSWER] = {ANSWER_SIZE, true},
                    [WEAK] = {1, false}};
    uint8_t code = length > 0 ? bytes[0] : 0;
    if (code >= sizeof messages / sizeof messages[0] || length == 0 || length != messages[code].size ||
        messages[code].of_central != link->accepted) {
        link->radio->malformed++;
    } else if (link->accepted) {
        serve(link, code, bytes + 1, now);
    } else {
        take_answer(link, code, now);
    }
}

/** The code, the key and a byte more: PAIR, or ENCRYPT without it. */
static tendon_status send_key(tendon_link *link, uint8_t code, const uint8_t key[KEY_SIZE]) {
    uint8_t message[2 + KEY_SIZE] = {code};
    memcpy(message + 1, key, KEY_SIZE);
    message[1 + KEY_SIZE] = (uint8_t)((enters(link) ? ENTERS : 0) | (tendon_pairing_is_strict(link) ? IS_STRICT : 0));
    return tendon_socket_link_control(link, message, code == PAIR ? 2 + KEY_SIZE : 1 + KEY_SIZE);
}

void tendon_virtual_opened(tendon_link *link, uint64_t now) {
    const tendon_bond *bond = link->accepted ? NULL : tendon_pairing_key(link->radio, &link->peer);
    (void)now;
    if (bond != NULL) {
        link->encrypting = true;
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
