/* SPDX-License-Identifier: MIT */
/*
 * Pairing on the virtual radio: the kernel's pairing protocol is replaced by messages between the two processes,
 * in order with the PDUs of the link. Nothing is encrypted: the directory belongs to one user.
 *   central   PAIR key(16)                       Just Works: the device takes it when it is pairable
 *   central   PAIR_AS key(16) io(1) strict(1)    its agent has an IO capability; strict: it rejects Just Works
 *   device    ASK io(1) passkey(4)               both sides ask their agents, as Table 2.8 of Vol 3 Part H 2.3.5.1 says
 *   central   ANSWER accepted(1) passkey(4)
 *   device    PAIRED | REFUSED | WEAK
 *   central   ENCRYPT key(16)   the first message of a link to a bonded device
 *   device    ENCRYPTED | KEY_MISSING
 */
#include "pairing.h"
#include "socket_link.h"
#include "virtual_radio.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum { PAIR = 1, PAIRED, REFUSED, ENCRYPT, ENCRYPTED, KEY_MISSING, PAIR_AS, ASK, ANSWER, WEAK };
enum { KEY_SIZE = 16, MESSAGE_MAX = 3 + KEY_SIZE, QUESTION_SIZE = 6 };
enum {
    OURS = 0,
    THEIRS = 1,
    ASKED = 4
}; /* bits of attempt->answers: who has answered, and whether there was a question */

static void reply(tendon_link *link, uint8_t code) {
    if (tendon_socket_link_control(link, &code, 1) < 0) {
        tendon_socket_link_fail(link, TENDON_RADIO_ERROR_PAIRING_FAILED); /* the central would wait in vain */
    }
}

static tendon_status send_key(tendon_link *link, uint8_t code, const uint8_t key[KEY_SIZE]) {
    const tendon_pairing_agent *agent = &link->radio->agent;
    uint8_t message[MESSAGE_MAX] = {code};
    memcpy(message + 1, key, KEY_SIZE);
    message[1 + KEY_SIZE] = agent->io;
    message[2 + KEY_SIZE] = tendon_pairing_is_strict(link);
    return tendon_socket_link_control(link, message, code == PAIR_AS ? MESSAGE_MAX : 1 + KEY_SIZE);
}

static void send_number(tendon_link *link, uint8_t code, uint8_t byte, uint32_t number) {
    uint8_t message[QUESTION_SIZE] = {
        code, byte, (uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16), (uint8_t)(number >> 24)};
    if (tendon_socket_link_control(link, message, sizeof message) < 0) {
        tendon_socket_link_fail(link, TENDON_RADIO_ERROR_PAIRING_FAILED); /* the other side would wait in vain */
    }
}

static uint32_t read_number(const uint8_t bytes[4]) {
    tendon_reader reader = tendon_reader_make(bytes, 4);
    return tendon_read_u32le(&reader);
}

/** What this side asks its owner if the other has the capability @p other; NOTHING: Just Works. */
static tendon_pairing_question question_of(uint8_t own, uint8_t other) {
    bool own_confirms = own == TENDON_PAIRING_DISPLAY_YES_NO || own == TENDON_PAIRING_KEYBOARD_DISPLAY;
    bool other_confirms = other == TENDON_PAIRING_DISPLAY_YES_NO || other == TENDON_PAIRING_KEYBOARD_DISPLAY;
    if (own == TENDON_PAIRING_NO_INPUT_NO_OUTPUT || other == TENDON_PAIRING_NO_INPUT_NO_OUTPUT) {
        return TENDON_PAIRING_NOTHING;
    }
    if (own_confirms && other_confirms) {
        return TENDON_PAIRING_COMPARE;
    }
    if (own == TENDON_PAIRING_KEYBOARD_ONLY ||
        (own == TENDON_PAIRING_KEYBOARD_DISPLAY && other == TENDON_PAIRING_DISPLAY_ONLY)) {
        return TENDON_PAIRING_ENTER;
    }
    return other == TENDON_PAIRING_KEYBOARD_ONLY || other == TENDON_PAIRING_KEYBOARD_DISPLAY ? TENDON_PAIRING_SHOW
                                                                                             : TENDON_PAIRING_NOTHING;
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

/** Device: both answers were given. Only from the loop. */
static void compare(void *context, tendon_status status, uint64_t now) {
    tendon_link *link = context;
    const tendon_pairing_attempt *attempt = &link->pairing;
    bool good =
        attempt->accepted[OURS] && attempt->accepted[THEIRS] && attempt->passkeys[OURS] == attempt->passkeys[THEIRS];
    (void)status;
    if (!link->closing) {
        finish(link, attempt->key, good, true, now);
    }
}

/** Device: one of the two answers. */
static void note_answer(tendon_link *link, int who, bool accepted, uint32_t passkey, uint64_t now) {
    tendon_pairing_attempt *attempt = &link->pairing;
    uint8_t bit = (uint8_t)(1u << who);
    if ((attempt->answers & ASKED) == 0 || (attempt->answers & bit) != 0) {
        return; /* of no question, or of one that is answered */
    }
    attempt->accepted[who] = accepted;
    attempt->passkeys[who] = passkey;
    attempt->answers |= bit;
    if (attempt->answers != (ASKED | 1u << OURS | 1u << THEIRS)) {
        return;
    }
    attempt->answers = 0;
    if (who == OURS) {
        tendon_pairing_end_later(link, compare, link); /* the owner gives this answer in a call */
    } else {
        compare(link, TENDON_OK, now);
    }
}

/** Device: a central with an IO capability requests to pair. */
static void begin(tendon_link *link, const uint8_t *request, uint64_t now) {
    tendon_pairing_attempt *attempt = &link->pairing;
    uint8_t io = request[KEY_SIZE];
    tendon_pairing_question question = question_of(link->radio->agent.io, io);
    if (io > TENDON_PAIRING_KEYBOARD_DISPLAY ||
        getrandom(&attempt->passkey, sizeof attempt->passkey, 0) != (ssize_t)sizeof attempt->passkey) {
        reply(link, REFUSED);
    } else if (question == TENDON_PAIRING_NOTHING && request[KEY_SIZE + 1] != 0) {
        reply(link, WEAK);
    } else if (question == TENDON_PAIRING_NOTHING) {
        finish(link, request, true, false, now);
    } else {
        attempt->passkey %= TENDON_PASSKEY_MAX + 1;
        attempt->answers = ASKED;
        memcpy(attempt->key, request, KEY_SIZE);
        send_number(link, ASK, link->radio->agent.io, attempt->passkey);
        if (question == TENDON_PAIRING_SHOW) {
            note_answer(link, OURS, true, attempt->passkey, now);
        }
        tendon_pairing_ask(link, question, question == TENDON_PAIRING_ENTER ? 0 : attempt->passkey, now);
    }
}

/** Messages of a central. */
static void serve(tendon_link *link, uint8_t code, const uint8_t *bytes, uint64_t now) {
    tendon_radio *radio = link->radio;
    if (link->pairing.state == TENDON_PAIRING_ENDED) {
        tendon_pairing_finish(link, TENDON_OK, now); /* the answers are to the request before this message */
        if (link->closing) {
            return;
        }
    }
    bool good = radio->bonds != NULL && (code == ENCRYPT || radio->pairable);
    if (code == ANSWER) {
        if (good) {
            note_answer(link, THEIRS, bytes[0] != 0, read_number(bytes + 1), now);
        }
    } else if (code == ENCRYPT) {
        good = good && knows_key(link, bytes);
        reply(link, good ? ENCRYPTED : KEY_MISSING);
        if (good) {
            tendon_socket_link_encrypted(link, now);
        }
    } else if (!good) {
        reply(link, REFUSED);
    } else if (code == PAIR) {
        finish(link, bytes, true, false, now);
    } else {
        begin(link, bytes, now);
    }
}

/** Central: the device has asked its owner; now we ask ours. */
static void take_question(tendon_link *link, const uint8_t *bytes, uint64_t now) {
    tendon_pairing_attempt *attempt = &link->pairing;
    tendon_pairing_question question = question_of(link->radio->agent.io, bytes[0]);
    attempt->passkey = read_number(bytes + 1);
    if (bytes[0] > TENDON_PAIRING_KEYBOARD_DISPLAY || question == TENDON_PAIRING_NOTHING ||
        attempt->passkey > TENDON_PASSKEY_MAX) {
        send_number(link, ANSWER, 0, 0);
        return;
    }
    attempt->answers = ASKED; /* a question was asked: the key will be an authenticated one */
    if (question == TENDON_PAIRING_SHOW) {
        send_number(link, ANSWER, 1, attempt->passkey);
    }
    tendon_pairing_ask(link, question, question == TENDON_PAIRING_ENTER ? 0 : attempt->passkey, now);
}

void tendon_virtual_answer(tendon_radio *radio, tendon_link *link, bool accepted, uint32_t passkey, uint64_t now) {
    uint32_t said = link->question == TENDON_PAIRING_ENTER ? passkey : link->pairing.passkey;
    (void)radio;
    if (link->accepted) {
        note_answer(link, OURS, accepted, said, now);
    } else {
        send_number(link, ANSWER, accepted, said);
    }
}

/** Handles a message of a device. */
static void take_answer(tendon_link *link, uint8_t code, const uint8_t *bytes, uint64_t now) {
    bool waiting = link->pairing.state == TENDON_PAIRING_RUNNING;
    if (code == KEY_MISSING) {
        tendon_socket_link_fail(link, TENDON_RADIO_ERROR_PAIRING_FAILED);
    } else if (code == ENCRYPTED) {
        tendon_socket_link_encrypted(link, now);
    } else if (waiting && code == ASK) {
        take_question(link, bytes, now);
    } else if (waiting && code != PAIRED) {
        tendon_pairing_finish(
            link, code == WEAK ? TENDON_RADIO_ERROR_PAIRING_TOO_WEAK : TENDON_RADIO_ERROR_PAIRING_FAILED, now);
    } else if (waiting) {
        tendon_status status = store(link->radio, link, link->pairing.key, link->pairing.answers != 0, now);
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
    } messages[] = {[PAIR] = {1 + KEY_SIZE, true},    [PAIRED] = {1, false},
                    [REFUSED] = {1, false},           [ENCRYPT] = {1 + KEY_SIZE, true},
                    [ENCRYPTED] = {1, false},         [KEY_MISSING] = {1, false},
                    [PAIR_AS] = {MESSAGE_MAX, true},  [ASK] = {QUESTION_SIZE, false},
                    [ANSWER] = {QUESTION_SIZE, true}, [WEAK] = {1, false}};
    uint8_t code = length > 0 ? bytes[0] : 0;
    if (code >= sizeof messages / sizeof messages[0] || length == 0 || length != messages[code].size ||
        messages[code].of_central != link->accepted) {
        link->radio->malformed++;
    } else if (link->accepted) {
        serve(link, code, bytes + 1, now);
    } else {
        take_answer(link, code, bytes + 1, now);
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
    if (getrandom(link->pairing.key, KEY_SIZE, 0) != (ssize_t)KEY_SIZE) {
        return TENDON_SYSTEM_ERROR(errno);
    }
    bool plain = radio->agent.io == TENDON_PAIRING_NO_INPUT_NO_OUTPUT;
    return send_key(link, plain ? PAIR : PAIR_AS, link->pairing.key);
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
