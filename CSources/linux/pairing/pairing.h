/* SPDX-License-Identifier: MIT */
/* Pairing over a radio: the part that all radios share. Internal to the components linux and linux/adapter. */
#ifndef TENDON_PAIRING_INTERNAL_H
#define TENDON_PAIRING_INTERNAL_H

#include "tendon/linux/radio.h"

/** Ends the pairing procedure of a link; does nothing if none is in progress. Only from the loop. */
void tendon_pairing_finish(tendon_link *link, tendon_status status, uint64_t now);
/** The peer was busy: ops->pair() is called again after a pause, until the procedure's deadline. */
void tendon_pairing_retry(tendon_link *link, uint64_t now);
/** The link is encrypted: ends a procedure that waits for the encryption with the stored key. */
void tendon_pairing_encrypted(tendon_link *link, uint64_t now);
/** The link is about to be closed: its procedure ends without a result. */
void tendon_pairing_link_ended(tendon_link *link);
/** The address under which this radio keeps its own bonds: as the central, or as a peripheral. */
tendon_address tendon_pairing_own(const tendon_radio *radio, bool central);
/**
 * The address under which the keys of the peer of this link are stored: its identity address, if a key has shown that
 * it is. An address that a device only claims stands for nothing.
 */
const tendon_address *tendon_pairing_name(const tendon_link *link);
/** The key for a link to @p peer that this radio starts, from the store as it is now; NULL: none that suffices for the
 * agent and for the security that the radio requires. */
const tendon_bond *tendon_pairing_key(const tendon_radio *radio, const tendon_address *peer);
/** Stores the key of a peer that may pair; if @p replaces, in the entry of a bond that is not in use when none is free.
 */
tendon_status tendon_pairing_store(tendon_radio *radio, const tendon_bond *bond, bool replaces);
/** The key of a pairing in this connection is stored. */
void tendon_pairing_stored(tendon_link *link, uint64_t now);
/** Whether the radio's agent is content with a key. */
bool tendon_pairing_suffices(const tendon_radio *radio, const tendon_bond *bond);
/** Whether the radio's agent is not content with every key. */
bool tendon_pairing_demands(const tendon_radio *radio);
/** The bond of the peer of this link, encrypted or not; NULL: the store has none. */
const tendon_bond *tendon_pairing_bond_of(const tendon_link *link);
/** The bond whose key encrypts this link; NULL: the link is not encrypted, or the store does not have the key (yet). */
const tendon_bond *tendon_pairing_bond_in_use(const tendon_link *link);
/** Whether the encryption of this link counts: the agent is content with every key, or with the stored one. */
bool tendon_pairing_trusts(const tendon_link *link);
/**
 * Whether a new key may be stored. TENDON_RADIO_ERROR_PAIRING_TOO_WEAK: for the agent, or in place of a better one;
 * TENDON_RADIO_ERROR_IDENTITY_TAKEN: in place of one of another device.
 */
tendon_status tendon_pairing_judge(const tendon_link *link, const tendon_bond *bond);
/** Whether the pairing of this link may not be Just Works: the agent rejects it, or the radio requires a better key. */
bool tendon_pairing_is_strict(const tendon_link *link);
/** The pairing of this link needs the user, or the agent in place of one: ops->answer() follows, now or later. */
void tendon_pairing_ask(tendon_link *link, tendon_pairing_question question, uint32_t passkey, uint64_t now);
/** The radio is closed: all procedures end without a result. */
void tendon_pairing_close(tendon_radio *radio);

/** The identity address of a bonded peer with this private address; NULL: it has none, or is not known. Valid until the
 * bonds change. */
const tendon_address *tendon_radio_identity_of(tendon_radio *radio, const tendon_address *address, uint64_t now);
/** Counts a report, and passes it on with the identity of its device. */
void tendon_radio_report(tendon_radio *radio, const tendon_ad_report *report, uint64_t now);

/** Notifies on_peer_failure() of a negative @p reason that is not TENDON_ERROR_CANCELLED. */
void tendon_radio_note_failure(const tendon_link *link, tendon_status reason, uint64_t now);

#endif
