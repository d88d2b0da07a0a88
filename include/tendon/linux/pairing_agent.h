/* SPDX-License-Identifier: MIT */
/*
 * The pairing agent of a radio: who shows and enters passkeys, and which keys are good enough. Set it with
 * tendon_radio_set_pairing_agent() (radio.h).
 *
 * Without an agent a radio pairs with Just Works: the link is encrypted, but a device between the two is not noticed.
 * With any other IO capability than TENDON_PAIRING_NO_INPUT_NO_OUTPUT both sides exchange or compare six digits, if the
 * peer can. Secure Connections is used if both sides can.
 */
#ifndef TENDON_LINUX_PAIRING_AGENT_H
#define TENDON_LINUX_PAIRING_AGENT_H

#include "tendon/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TENDON_PASSKEY_MAX 999999u

/** What a side can show and enter: the IO capability of Core Spec Vol 3 Part H 2.3.2, with its numbers. */
typedef enum tendon_pairing_io {
    TENDON_PAIRING_DISPLAY_ONLY = 0,
    TENDON_PAIRING_DISPLAY_YES_NO = 1,
    TENDON_PAIRING_KEYBOARD_ONLY = 2,
    TENDON_PAIRING_NO_INPUT_NO_OUTPUT = 3,
    TENDON_PAIRING_KEYBOARD_DISPLAY = 4
} tendon_pairing_io;

/** What a pairing needs from the user. */
typedef enum tendon_pairing_question {
    TENDON_PAIRING_NOTHING = 0,
    TENDON_PAIRING_COMPARE, /**< does the peer show this passkey too? Answer yes or no. */
    TENDON_PAIRING_ENTER,   /**< which passkey does the peer show? Answer with it. */
    TENDON_PAIRING_SHOW     /**< the user enters this passkey at the peer; no answer */
} tendon_pairing_question;

/**
 * An agent. Without a user: a passkey (of a label, for example), or a file of passkeys.
 * With one: ask(). For TENDON_PAIRING_ENTER the passkey is used if there is one, then the file if it has the peer, then
 * ask(). A question without an answer is rejected, and the pairing fails.
 */
typedef struct tendon_pairing_agent {
    uint8_t io;                   /**< tendon_pairing_io */
    uint8_t key_size_min;         /**< bytes, 7 to 16; 0: 7 */
    bool authenticated;           /**< rejects Just Works and keys that were made with it */
    bool secure_connections_only; /**< rejects LE Legacy Pairing and its keys */
    bool has_passkey;
    uint32_t passkey; /**< 0 to TENDON_PASSKEY_MAX */
    /**
     * File of passkeys that only its owner can access, at most 8 KiB; borrowed while the agent is set; NULL: none. A
     * line is an address (AA:BB:CC:DD:EE:FF, or * for every other device), spaces, and six digits; # begins a comment.
     * It is read for every question.
     */
    const char *passkey_file;
    void *context;
    /**
     * Asks the user; from the loop. The answer is tendon_radio_answer_pairing(), from within the call or later: the
     * peer waits for at most 30 s. @p passkey is 0 for TENDON_PAIRING_ENTER. May be NULL.
     */
    void (*ask)(void *context, const tendon_address *peer, tendon_pairing_question question, uint32_t passkey,
                uint64_t now);
} tendon_pairing_agent;

/**
 * Whether a radio would take this agent; nothing is set. @return TENDON_OK; TENDON_ERROR_INVALID_ARGUMENT: a member has
 * a value that is not allowed, or the members do not fit each other; an error of the file of passkeys:
 * TENDON_ERROR_NOT_FOUND, _FILE_PERMISSION, _MALFORMED, _OVERFLOW, TENDON_SYSTEM_ERROR(errno).
 */
tendon_status tendon_pairing_agent_check(const tendon_pairing_agent *agent);

/** Accepts Just Works: the default of a radio. */
tendon_pairing_agent tendon_pairing_agent_accept(void);
/** Enters @p passkey when a peer shows one; rejects Just Works. */
tendon_pairing_agent tendon_pairing_agent_passkey(uint32_t passkey);
/** Looks the passkey up in a file; rejects Just Works. @param path borrowed */
tendon_pairing_agent tendon_pairing_agent_file(const char *path);
/** Asks a user who has a keyboard and a display; rejects Just Works. */
tendon_pairing_agent tendon_pairing_agent_ask(void (*ask)(void *context, const tendon_address *peer,
                                                          tendon_pairing_question question, uint32_t passkey,
                                                          uint64_t now),
                                              void *context);

#ifdef __cplusplus
}
#endif
#endif
