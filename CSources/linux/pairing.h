/* SPDX-License-Identifier: MIT */
/* Pairing over a radio: what its kinds share. Internal to room linux (and linux/bluez). */
#ifndef TENDON_PAIRING_INTERNAL_H
#define TENDON_PAIRING_INTERNAL_H

#include "tendon/linux/radio.h"

/** The pairing under way is over; nothing happens when there is none. From the loop alone. */
void tendon_pairing_finish(tendon_radio *radio, tendon_status status, uint64_t now);
/** The same, told by the loop soon. */
void tendon_pairing_finish_later(tendon_radio *radio, tendon_status status);
/** The address under which this radio keeps its own bonds: as the central, or as a peripheral. */
tendon_address tendon_pairing_own(const tendon_radio *radio, bool central);
/** The key for a link of ours to @p peer; NULL: none. */
const tendon_bond *tendon_pairing_key(const tendon_radio *radio, const tendon_address *peer);
/** Forgets what is under way: the radio is closed. */
void tendon_pairing_close(tendon_radio *radio);

#endif
