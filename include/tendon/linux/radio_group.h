/* SPDX-License-Identifier: MIT */
/*
 * Several radios of one program, each with an adapter: which of them connects to a device. A controller holds a few
 * connections only, and does not report how many; one more fails with TENDON_HCI_ERROR(0x09) or (0x0D). The group
 * counts the connections of its radios, remembers what was refused, and never chooses a radio for a device that another
 * radio is connected to. It makes no calls of the radios and owns none of them.
 */
#ifndef TENDON_LINUX_RADIO_GROUP_H
#define TENDON_LINUX_RADIO_GROUP_H

#include "tendon/linux/radio.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Maximum number of radios of a group. */
#define TENDON_RADIO_GROUP_MAX 8
/** Time after which a controller that has refused a connection is tried again though none has ended, in ms: other
 * programs have connections, too. */
#define TENDON_RADIO_GROUP_FULL_MS 60000u

typedef struct tendon_radio_member {
    tendon_radio *radio;
    uint32_t limit;      /**< maximum number of connections, by the owner; 0: as many as the controller takes */
    uint32_t refused_at; /**< number of connections when the controller refused one more; valid until full_until */
    uint64_t full_until; /**< monotonic ms; 0: nothing was refused */
    uint32_t assigned;   /**< see tendon_radio_group_assign() */
} tendon_radio_member;

/** Caller's memory; all zeros is a group without radios. */
typedef struct tendon_radio_group {
    tendon_radio_member members[TENDON_RADIO_GROUP_MAX];
    size_t count;
} tendon_radio_group;

/**
 * Adds a radio, borrowed until it is removed: before it is closed.
 * @param limit see tendon_radio_member.
 * @return TENDON_OK, TENDON_ERROR_WRONG_STATE (it is in the group), TENDON_ERROR_OVERFLOW (TENDON_RADIO_GROUP_MAX),
 * TENDON_RADIO_ERROR_SAME_ADDRESS (an adapter of the group has its address).
 */
tendon_status tendon_radio_group_add(tendon_radio_group *group, tendon_radio *radio, uint32_t limit);
/** Removes a radio. Does nothing if it is not in the group. */
void tendon_radio_group_remove(tendon_radio_group *group, const tendon_radio *radio);

/**
 * Chooses the radio for a connection to @p peer: of those with room the one with the fewest connections; among equals
 * the one that was added first. If radios of the group have a bond with the device, only these are considered: a key
 * belongs to one adapter. Attempts to connect count as connections, those in the background do not: they use no
 * resource of the controller. In the pause between two attempts of a tendon_connection no radio has a link to the
 * device: do not choose again while a connection to it exists that is not idle.
 * @param peer its address, or its identity address if it is bonded.
 * @param out TENDON_OK: the radio to connect with; TENDON_ERROR_WRONG_STATE: the radio that has the connection, or the
 * attempt; else NULL.
 * @param members bit i: members[i] is considered, such as those that receive the device; UINT32_MAX: all. All radios
 * are searched for a connection to @p peer and for its bond.
 * @return TENDON_OK; TENDON_ERROR_WRONG_STATE: a radio is connected to it, or is connecting; TENDON_HCI_ERROR(0x09): no
 * radio that is considered has room; TENDON_RADIO_ERROR_NO_ADAPTER: the group has no radio;
 * TENDON_RADIO_ERROR_OUT_OF_RANGE: no radio is considered, or none of those with the bond.
 */
tendon_status tendon_radio_group_choose_among(const tendon_radio_group *group, const tendon_address *peer,
                                              uint32_t members, uint64_t now, tendon_radio **out);

/**
 * Counts a device as one of this radio's connections before the radio has begun to connect: for a program that chooses
 * radios for several devices first. A radio has as many connections as it has links, or as were assigned to it if these
 * are more. Each call needs one of tendon_radio_group_release(), when the device is disconnected or was not connected.
 * Neither does anything if the radio is not in the group.
 */
void tendon_radio_group_assign(tendon_radio_group *group, const tendon_radio *radio);
void tendon_radio_group_release(tendon_radio_group *group, const tendon_radio *radio);

/**
 * Notes how an attempt of a radio of the group ended.
 * @return true: the controller has no room for it; the group chooses another radio until a connection of this one ends,
 * or TENDON_RADIO_GROUP_FULL_MS pass. False: the reason is another one.
 */
bool tendon_radio_group_refused(tendon_radio_group *group, const tendon_radio *radio, tendon_status reason,
                                uint64_t now);

#ifdef __cplusplus
}
#endif
#endif
