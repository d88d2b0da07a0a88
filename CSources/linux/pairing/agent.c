/* SPDX-License-Identifier: MIT */
/* The agent of a radio: which keys are good enough, and the answers that need no user. */
#include "../store/file.h"
#include "pairing.h"
#include "words.h"

#include <string.h>

enum { FILE_MAX = 8192, DIGITS = 6, KEY_SIZE_MIN = 7, KEY_SIZE_MAX = 16 };

tendon_pairing_agent tendon_pairing_agent_accept(void) {
    return (tendon_pairing_agent){.io = TENDON_PAIRING_NO_INPUT_NO_OUTPUT};
}

tendon_pairing_agent tendon_pairing_agent_passkey(uint32_t passkey) {
    return (tendon_pairing_agent){
        .io = TENDON_PAIRING_KEYBOARD_ONLY, .authenticated = true, .has_passkey = true, .passkey = passkey};
}

tendon_pairing_agent tendon_pairing_agent_file(const char *path) {
    return (tendon_pairing_agent){.io = TENDON_PAIRING_KEYBOARD_ONLY, .authenticated = true, .passkey_file = path};
}

tendon_pairing_agent tendon_pairing_agent_ask(void (*ask)(void *context, const tendon_address *peer,
                                                          tendon_pairing_question question, uint32_t passkey,
                                                          uint64_t now),
                                              void *context) {
    return (tendon_pairing_agent){
        .io = TENDON_PAIRING_KEYBOARD_DISPLAY, .authenticated = true, .context = context, .ask = ask};
}

/* ---- the file of passkeys ---- */

/** Six digits. */
static bool read_passkey(text_span word, uint32_t *out) {
    *out = 0;
    for (size_t i = 0; i < word.length; i++) {
        if (word.at[i] < '0' || word.at[i] > '9') {
            return false;
        }
        *out = *out * 10 + (uint32_t)(word.at[i] - '0');
    }
    return word.length == DIGITS;
}

/** What a line says about a device. */
typedef enum line_result { LINE_OTHER, LINE_DEVICE, LINE_EVERY, LINE_BAD } line_result;

static line_result read_line(const char *at, const char *end, const tendon_address *peer, uint32_t *passkey) {
    text_span who = text_next_word(&at, end), what = text_next_word(&at, end), more = text_next_word(&at, end);
    tendon_address address;
    bool every = who.length == 1 && *who.at == '*';
    if (who.length == 0) {
        return LINE_OTHER;
    }
    if (!read_passkey(what, passkey) || more.length != 0 ||
        (!every && tendon_address_parse(who.at, who.length, &address, NULL) < 0)) {
        return LINE_BAD;
    }
    bool matches = !every && memcmp(address.bytes, peer->bytes, sizeof address.bytes) == 0;
    return every ? LINE_EVERY : matches ? LINE_DEVICE : LINE_OTHER;
}

/** @return 1: *out is the device's; 0: it has none; TENDON_ERROR_MALFORMED: any line is not as it has to be. */
static tendon_status find_passkey(const char *text, size_t length, const tendon_address *peer, uint32_t *out) {
    const char *end = text + length;
    line_result best = LINE_OTHER;
    text_span line;
    while (text_next_line(&text, end, &line)) {
        uint32_t passkey = 0;
        line_result result = read_line(line.at, line.at + line.length, peer, &passkey);
        if (result == LINE_BAD) {
            return TENDON_ERROR_MALFORMED;
        }
        if (result == LINE_DEVICE || (result == LINE_EVERY && best != LINE_DEVICE)) {
            best = result;
            *out = passkey;
        }
    }
    return best != LINE_OTHER;
}

/** @return as find_passkey(); an error of the file, TENDON_ERROR_OVERFLOW if it is too long. */
static tendon_status look_up(const char *path, const tendon_address *peer, uint32_t *out) {
    char text[FILE_MAX + 1];
    struct stat state;
    tendon_status length = tendon_file_read(path, (uint8_t *)text, sizeof text, &state);
    if (length < 0) {
        return length;
    }
    return length > FILE_MAX ? TENDON_ERROR_OVERFLOW : find_passkey(text, (size_t)length, peer, out);
}

static tendon_status check_file(const char *path) {
    static const tendon_address nobody = {.type = TENDON_ADDRESS_TYPE_PUBLIC};
    uint32_t passkey = 0;
    tendon_status status = look_up(path, &nobody, &passkey);
    return status < 0 ? status : TENDON_OK;
}

/* ---- what a key is worth ---- */

bool tendon_pairing_suffices(const tendon_radio *radio, const tendon_bond *bond) {
    const tendon_pairing_agent *agent = &radio->agent;
    return bond->key_size >= agent->key_size_min && (!agent->authenticated || tendon_bond_is_authenticated(bond)) &&
           (!agent->secure_connections_only || tendon_bond_is_secure(bond));
}

bool tendon_pairing_demands(const tendon_radio *radio) {
    const tendon_pairing_agent *agent = &radio->agent;
    return agent->authenticated || agent->secure_connections_only || agent->key_size_min > KEY_SIZE_MIN;
}

bool tendon_pairing_trusts(const tendon_link *link) {
    tendon_radio *radio = link->radio;
    if (radio->bonds == NULL || (!tendon_pairing_demands(radio) && !tendon_pairing_is_strict(link))) {
        return true;
    }
    (void)tendon_bonds_refresh(radio->bonds); /* if it cannot be read, the last state that was read remains valid */
    const tendon_bond *bond = tendon_pairing_bond_of(link);
    return bond != NULL && tendon_pairing_suffices(radio, bond) &&
           (!tendon_pairing_is_strict(link) || tendon_bond_is_authenticated(bond));
}

tendon_address tendon_pairing_own(const tendon_radio *radio, bool central) {
    static const tendon_address nobody = {.type = TENDON_ADDRESS_TYPE_PUBLIC};
    /* A program's address on the virtual radio differs from one start to the next. */
    return central && radio->ops->bond_radio == TENDON_BOND_VIRTUAL ? nobody : radio->address;
}

const tendon_bond *tendon_pairing_bond_of(const tendon_link *link) {
    const tendon_radio *radio = link->radio;
    if (radio->bonds == NULL) {
        return NULL;
    }
    const tendon_address own = tendon_pairing_own(radio, !link->accepted);
    return tendon_bonds_find(radio->bonds, (tendon_bond_radio)radio->ops->bond_radio, &own, &link->identity);
}

const tendon_bond *tendon_pairing_bond_in_use(const tendon_link *link) {
    return link->encrypted ? tendon_pairing_bond_of(link) : NULL;
}

bool tendon_pairing_is_strict(const tendon_link *link) {
    const tendon_radio *radio = link->radio;
    return radio->agent.authenticated || (!link->accepted && radio->security == TENDON_SECURITY_AUTHENTICATED);
}

tendon_status tendon_pairing_judge(const tendon_link *link, const tendon_bond *bond) {
    const tendon_radio *radio = link->radio;
    if (!tendon_pairing_suffices(radio, bond) ||
        (tendon_pairing_is_strict(link) && !tendon_bond_is_authenticated(bond))) {
        return TENDON_RADIO_ERROR_PAIRING_TOO_WEAK;
    }
    const tendon_bond *before =
        tendon_bonds_find(radio->bonds, (tendon_bond_radio)bond->radio, &bond->own, &bond->peer);
    if (before == NULL) {
        return TENDON_OK;
    }
    if (!link->keyed && !tendon_address_equal(&bond->peer, &link->peer)) {
        return TENDON_RADIO_ERROR_IDENTITY_TAKEN;
    }
    return tendon_bond_is_authenticated(before) && !tendon_bond_is_authenticated(bond)
               ? TENDON_RADIO_ERROR_PAIRING_TOO_WEAK
               : TENDON_OK;
}

/* ---- questions ---- */

static void answer(tendon_link *link, bool accepted, uint32_t passkey, uint64_t now) {
    link->radio->ops->answer(link->radio, link, accepted, passkey, now);
    link->question = TENDON_PAIRING_NOTHING;
}

void tendon_pairing_ask(tendon_link *link, tendon_pairing_question question, uint32_t passkey, uint64_t now) {
    const tendon_pairing_agent agent = link->radio->agent;
    uint32_t known = agent.passkey;
    link->question = (uint8_t)question;
    if (question == TENDON_PAIRING_SHOW) {
        link->question = TENDON_PAIRING_NOTHING;
    } else if (question == TENDON_PAIRING_ENTER &&
               (agent.has_passkey ||
                (agent.passkey_file != NULL && look_up(agent.passkey_file, &link->peer, &known) > 0))) {
        answer(link, true, known, now);
        return;
    } else if (agent.ask == NULL) {
        answer(link, false, 0, now);
        return;
    }
    if (agent.ask != NULL) {
        agent.ask(agent.context, &link->peer, question, passkey, now); /* may close the link */
    }
}

tendon_status tendon_radio_answer_pairing(tendon_radio *radio, const tendon_address *peer, bool accepted,
                                          uint32_t passkey, uint64_t now) {
    tendon_link *link = radio->links;
    while (link != NULL && (link->question == TENDON_PAIRING_NOTHING || link->state != TENDON_LINK_OPEN ||
                            !tendon_address_equal(&link->peer, peer))) {
        link = link->next;
    }
    if (link == NULL) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (accepted && link->question == TENDON_PAIRING_ENTER && passkey > TENDON_PASSKEY_MAX) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    answer(link, accepted, passkey, now);
    return TENDON_OK;
}

static bool is_valid(const tendon_pairing_agent *agent) {
    bool sized =
        agent->key_size_min == 0 || (agent->key_size_min >= KEY_SIZE_MIN && agent->key_size_min <= KEY_SIZE_MAX);
    return agent->io <= TENDON_PAIRING_KEYBOARD_DISPLAY && sized &&
           (!agent->has_passkey || agent->passkey <= TENDON_PASSKEY_MAX) &&
           (!agent->authenticated || agent->io != TENDON_PAIRING_NO_INPUT_NO_OUTPUT);
}

tendon_status tendon_pairing_agent_check(const tendon_pairing_agent *agent) {
    if (!is_valid(agent)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    return agent->passkey_file != NULL ? check_file(agent->passkey_file) : TENDON_OK;
}

tendon_status tendon_radio_set_pairing_agent(tendon_radio *radio, const tendon_pairing_agent *agent) {
    const tendon_pairing_agent before = radio->agent;
    const tendon_pairing_agent wanted = agent != NULL ? *agent : tendon_pairing_agent_accept();
    if (radio->bonds == NULL) {
        return TENDON_RADIO_ERROR_NO_PAIRING_SERVICE;
    }
    tendon_status status = tendon_pairing_agent_check(&wanted);
    if (status < 0) {
        return status;
    }
    radio->agent = wanted;
    status = radio->ops->set_io != NULL ? radio->ops->set_io(radio) : TENDON_OK;
    if (status < 0) {
        radio->agent = before;
    }
    return status;
}
