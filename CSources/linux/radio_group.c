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

tendon_status tendon_radio_group_add(tendon_radio_group *group, tendon_radio *radio, uint32_t limit) {
    if (find(group, radio) < group->count) {
        return TENDON_ERROR_WRONG_STATE;
    }
    if (group->count == TENDON_RADIO_GROUP_MAX) {
        return TENDON_ERROR_OVERFLOW;
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
    return link->state == TENDON_LINK_OPEN || !link->background || link->connected;
}

static uint32_t connections(const tendon_radio *radio) {
    uint32_t count = 0;
    for (const tendon_link *link = radio->links; link != NULL; link = link->next) {
        count += uses_connection(link);
    }
    return count;
}

static bool has_link_to(const tendon_radio *radio, const tendon_address *peer) {
    for (const tendon_link *link = radio->links; link != NULL; link = link->next) {
        if (tendon_address_equal(&link->peer, peer) || tendon_address_equal(&link->identity, peer)) {
            return true;
        }
    }
    return false;
}

static bool has_room(const tendon_radio_member *member, uint32_t count, uint64_t now) {
    bool full = now < member->full_until && count >= member->refused_at;
    return !full && (member->limit == 0 || count < member->limit);
}

tendon_status tendon_radio_group_choose(const tendon_radio_group *group, const tendon_address *peer, uint64_t now,
                                        tendon_radio **out) {
    uint32_t fewest = UINT32_MAX;
    *out = NULL;
    for (size_t i = 0; i < group->count; i++) {
        if (has_link_to(group->members[i].radio, peer)) {
            *out = group->members[i].radio;
            return TENDON_ERROR_WRONG_STATE;
        }
    }
    for (size_t i = 0; i < group->count; i++) {
        const tendon_radio_member *member = &group->members[i];
        uint32_t count = connections(member->radio);
        if (count < fewest && has_room(member, count, now)) {
            fewest = count;
            *out = member->radio;
        }
    }
    if (*out != NULL) {
        return TENDON_OK;
    }
    return group->count == 0 ? TENDON_RADIO_ERROR_NO_ADAPTER : TENDON_HCI_ERROR(CONNECTION_LIMIT_EXCEEDED);
}

bool tendon_radio_group_refused(tendon_radio_group *group, const tendon_radio *radio, tendon_status reason,
                                uint64_t now) {
    size_t place = find(group, radio);
    if (reason != TENDON_HCI_ERROR(CONNECTION_LIMIT_EXCEEDED) && reason != TENDON_HCI_ERROR(LIMITED_RESOURCES)) {
        return false;
    }
    if (place < group->count) {
        group->members[place].refused_at = connections(radio);
        group->members[place].full_until = now + TENDON_RADIO_GROUP_FULL_MS;
    }
    return true;
}
