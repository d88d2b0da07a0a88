/* SPDX-License-Identifier: MIT */
#include "tendon/linux/radio_group.h"

#include <string.h>

/** HCI error codes (Core Spec Vol 1 Part F). */
enum { CONNECTION_LIMIT_EXCEEDED = 0x09, LIMITED_RESOURCES = 0x0D };

static size_t find(const tendon_radio_group *group, const tendon_radio *radio) {
    size_t i = 0;
    while (i < group->count && group->members[i].radio != radio) {
        i++;
    }
    return i;
}

/** Linux would make the connections of one of these adapters over the other one. */
static bool has_address_of(const tendon_radio *a, const tendon_radio *b) {
    return a->ops != NULL && a->ops == b->ops && a->ops->bond_radio == TENDON_BOND_KERNEL &&
           tendon_address_equal(&a->address, &b->address);
}

tendon_status tendon_radio_group_add(tendon_radio_group *group, tendon_radio *radio, uint32_t limit) {
    if (find(group, radio) < group->count) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (group->count == TENDON_RADIO_GROUP_MAX) {
        return TENDON_ERROR_OVERFLOW;
    }
    for (size_t i = 0; i < group->count; i++) {
        if (has_address_of(group->members[i].radio, radio)) {
            return TENDON_RADIO_ERROR_SAME_ADDRESS;
        }
    }
    group->members[group->count++] = (tendon_radio_member){.radio = radio, .limit = limit};
    return TENDON_OK;
}

void tendon_radio_group_remove(tendon_radio_group *group, const tendon_radio *radio) {
    size_t place = find(group, radio);
    if (place == group->count) {
        return;
    }
    group->count--;
    memmove(&group->members[place], &group->members[place + 1], (group->count - place) * sizeof group->members[0]);
}

/** Uses a connection of the controller, or is about to. */
static bool uses_connection(const tendon_link *link) {
    return !link->background || (link->state >= TENDON_LINK_CONNECTED && link->state != TENDON_LINK_HELD);
}

static uint32_t links(const tendon_radio *radio) {
    uint32_t count = 0;
    for (const tendon_link *link = radio->links; link != NULL; link = link->next) {
        count += uses_connection(link);
    }
    return count;
}

static uint32_t connections(const tendon_radio_member *member) {
    uint32_t count = links(member->radio);
    return count > member->assigned ? count : member->assigned;
}

static bool has_link_to(const tendon_radio *radio, const tendon_address *peer) {
    for (const tendon_link *link = radio->links; link != NULL; link = link->next) {
        if (tendon_address_equal(&link->peer, peer) || tendon_address_equal(&link->identity, peer)) {
            return true;
        }
    }
    return false;
}

/** A key is of one adapter: over another radio the device would have to pair again, and many keep one bond only. */
static bool has_bond_with(tendon_radio *radio, const tendon_address *peer) {
    const tendon_pairing_service *pairing = tendon_radio_pairing(radio);
    return pairing != NULL && pairing->bonded(pairing->context, peer);
}

static bool has_room(const tendon_radio_member *member, uint32_t count, uint64_t now) {
    bool full = now < member->full_until && count >= member->refused_at;
    return !full && (member->limit == 0 || count < member->limit);
}

/** True if a radio has a connection to the peer, or attempts it; it is *out then. */
static bool find_connected(const tendon_radio_group *group, const tendon_address *peer, tendon_radio **out) {
    for (size_t i = 0; i < group->count; i++) {
        if (has_link_to(group->members[i].radio, peer)) {
            *out = group->members[i].radio;
            return true;
        }
    }
    return false;
}

/** Without the radios that have no bond with the peer, if others have one. */
static uint32_t with_bond(const tendon_radio_group *group, const tendon_address *peer, uint32_t members) {
    uint32_t bonded = 0;
    for (size_t i = 0; i < group->count; i++) {
        bonded |= (uint32_t)has_bond_with(group->members[i].radio, peer) << i;
    }
    return bonded != 0 ? members & bonded : members;
}

tendon_status tendon_radio_group_choose_among(const tendon_radio_group *group, const tendon_address *peer,
                                              uint32_t members, uint64_t now, tendon_radio **out) {
    uint32_t fewest = UINT32_MAX;
    *out = NULL;
    if (group->count == 0) {
        return TENDON_RADIO_ERROR_NO_ADAPTER;
    }
    if (find_connected(group, peer, out)) {
        return TENDON_ERROR_WRONG_STATE;
    }
    members = with_bond(group, peer, members) & ((1u << group->count) - 1);
    for (size_t i = 0; i < group->count; i++) {
        const tendon_radio_member *member = &group->members[i];
        uint32_t count = connections(member);
        if ((members >> i & 1) != 0 && count < fewest && has_room(member, count, now)) {
            fewest = count;
            *out = member->radio;
        }
    }
    if (*out != NULL) {
        return TENDON_OK;
    }
    return members == 0 ? TENDON_RADIO_ERROR_OUT_OF_RANGE : TENDON_HCI_ERROR(CONNECTION_LIMIT_EXCEEDED);
}

void tendon_radio_group_assign(tendon_radio_group *group, const tendon_radio *radio) {
    size_t place = find(group, radio);
    if (place < group->count) {
        group->members[place].assigned++;
    }
}

void tendon_radio_group_release(tendon_radio_group *group, const tendon_radio *radio) {
    size_t place = find(group, radio);
    if (place < group->count && group->members[place].assigned > 0) {
        group->members[place].assigned--;
    }
}

bool tendon_radio_group_refused(tendon_radio_group *group, const tendon_radio *radio, tendon_status reason,
                                uint64_t now) {
    size_t place = find(group, radio);
    if (reason != TENDON_HCI_ERROR(CONNECTION_LIMIT_EXCEEDED) && reason != TENDON_HCI_ERROR(LIMITED_RESOURCES)) {
        return false;
    }
    if (place < group->count) {
        group->members[place].refused_at = links(radio);
        group->members[place].full_until = now + TENDON_RADIO_GROUP_FULL_MS;
    }
    return true;
}
