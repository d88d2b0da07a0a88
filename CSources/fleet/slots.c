/* SPDX-License-Identifier: MIT */
/* The devices of a fleet: which of them were received, their turns, and how these end. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "fleet_parts.h"

/* ---- slots ---- */

tendon_fleet_slot *tendon_fleet_find_slot(tendon_fleet *fleet, const tendon_address *address) {
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        if (fleet->slots[i].state != TENDON_FLEET_SLOT_FREE &&
            tendon_address_equal(&fleet->slots[i].address, address)) {
            return &fleet->slots[i];
        }
    }
    return NULL;
}

uint8_t tendon_fleet_open_radios(const tendon_fleet *fleet) {
    uint8_t radios = 0;
    for (size_t i = 0; i < fleet->radio_count; i++) {
        radios |= (uint8_t)((fleet->radios[i].state == TENDON_FLEET_RADIO_OPEN ? 1u : 0u) << i);
    }
    return radios;
}

static bool has_turn(const tendon_fleet_slot *slot) {
    return slot->state == TENDON_FLEET_SLOT_TURN || slot->state == TENDON_FLEET_SLOT_ENDED;
}

/** A slot that is free, else that of the device whose turn is longest ago; NULL: all have turns. */
static tendon_fleet_slot *slot_without_turn(tendon_fleet *fleet) {
    tendon_fleet_slot *found = NULL;
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        tendon_fleet_slot *slot = &fleet->slots[i];
        if (slot->state == TENDON_FLEET_SLOT_FREE) {
            return slot;
        }
        if (!has_turn(slot) && (found == NULL || slot->used_at < found->used_at)) {
            found = slot;
        }
    }
    return found;
}

bool tendon_fleet_serves(void *context, const tendon_address *address, uint8_t family) {
    const tendon_fleet *fleet = context;
    const tendon_fleet_addresses *only = &fleet->options.only;
    bool is_meant = only->count == 0;
    for (size_t i = 0; i < only->count && !is_meant; i++) {
        is_meant = tendon_address_equal(&only->addresses[i], address);
    }
    return is_meant && family < 32 && (fleet->options.families >> family & 1u) != 0;
}

/* ---- events of devices ---- */

static void on_device_event(void *context, tendon_device *device, const tendon_device_event *event, uint64_t now) {
    tendon_fleet_slot *slot = context;
    tendon_fleet *fleet = slot->fleet;
    (void)device;
    if (event->kind == TENDON_DEVICE_EVENT_ENDED) {
        slot->ended = *event;
        slot->state = TENDON_FLEET_SLOT_ENDED;
        tendon_fleet_touch(fleet);
        return;
    }
    if (event->kind == TENDON_DEVICE_EVENT_OPENED) {
        fleet->counters.connected++;
        tendon_admission_connected(&fleet->admission, &slot->address, now);
        slot->cause = TENDON_OK;
        fleet->look_pause = 1000;
        fleet->look_at = now + fleet->look_pause;
        tendon_fleet_wake_at(fleet, fleet->look_at);
    }
    tendon_fleet_report_event(slot, event);
}

static void on_connected(void *context, uint64_t now) {
    tendon_fleet_slot *slot = context;
    (void)now;
    tendon_admission_answered(&slot->fleet->admission, &slot->address);
    tendon_fleet_touch(slot->fleet); /* another stranger may be tried now */
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    tendon_fleet_slot *slot = context;
    (void)reason;
    (void)now;
    tendon_fleet_touch(slot->fleet);
}

void tendon_fleet_note_cause(tendon_fleet *fleet, const tendon_address *peer, tendon_status cause) {
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        tendon_fleet_slot *slot = &fleet->slots[i];
        if (has_turn(slot) &&
            (tendon_address_equal(&slot->address, peer) || tendon_address_equal(&slot->body->connection.peer, peer))) {
            slot->cause = cause;
        }
    }
}

/* ---- the begin of a turn ---- */

/** The radio that connects to the device; NULL: none has room. */
static tendon_fleet_radio *choose_radio(tendon_fleet *fleet, const tendon_address *address, uint64_t now) {
    uint32_t radios = tendon_admission_radios(&fleet->admission, address) & tendon_fleet_open_radios(fleet);
    uint32_t members = 0;
    tendon_radio *chosen = NULL;
    for (size_t i = 0; i < fleet->group.count; i++) {
        for (size_t number = 0; number < fleet->radio_count; number++) {
            if (fleet->group.members[i].radio == fleet->radios[number].radio && (radios >> number & 1u) != 0) {
                members |= 1u << i;
            }
        }
    }
    if (tendon_radio_group_choose_among(&fleet->group, address, members, now, &chosen) < 0) {
        return NULL;
    }
    for (size_t number = 0; number < fleet->radio_count; number++) {
        if (fleet->radios[number].radio == chosen) {
            return &fleet->radios[number];
        }
    }
    return NULL;
}

/** The device is new here, or of another family than before. */
static tendon_status set_up_device(tendon_fleet_slot *slot, uint8_t family) {
    const tendon_fleet_options *options = &slot->fleet->options;
    bool is_defined = family >= TENDON_SEARCH_DEFINED;
    tendon_device_config config = {
        .family = is_defined ? TENDON_DEVICE_DEFINED : (tendon_device_family)family,
        .definition = is_defined ? options->definitions[family - TENDON_SEARCH_DEFINED] : NULL,
        .settings = &options->settings,
        .address = slot->address,
        .link = tendon_connection_session_link(&slot->body->connection),
        .context = slot,
        .on_event = on_device_event,
    };
    if (family == TENDON_DEVICE_OBVIOUS &&
        getrandom(config.nonce, sizeof config.nonce, GRND_NONBLOCK) != (ssize_t)sizeof config.nonce) {
        return TENDON_SYSTEM_ERROR(EAGAIN); /* a machine that has just started; the device's next turn tries again */
    }
    return tendon_device_init(&slot->body->device, &config);
}

static void set_up_connection(tendon_fleet_slot *slot, tendon_radio *radio) {
    tendon_fleet *fleet = slot->fleet;
    tendon_connection *connection = &slot->body->connection;
    const tendon_connection_callbacks callbacks = {.context = slot, .connected = on_connected, .closed = on_closed};
    if (slot->is_set_up) {
        tendon_loop_remove(fleet->loop, &connection->timer); /* the device's deadline can outlast its connection */
    }
    slot->is_set_up = true;
    tendon_connection_init(connection, radio, &slot->address,
                           tendon_device_pairs(&slot->body->device) ? tendon_radio_pairing(radio) : NULL, &callbacks);
    connection->connect_timeout_ms = tendon_admission_answer_ms(&fleet->admission, &slot->address);
    if (!fleet->options.no_gatt_cache) {
        tendon_gatt_cache_store functions = tendon_gatt_store_functions(&fleet->store);
        tendon_gatt_cache_init(&slot->body->cache, &connection->peer, &functions);
        tendon_connection_use_cache(connection, &slot->body->cache);
    }
    tendon_connection_attach(connection, tendon_device_inputs(&slot->body->device), &slot->body->device);
}

/** False: the device has no turn now. */
static bool begin_turn(tendon_fleet *fleet, const tendon_address *address, uint8_t family, uint64_t now) {
    tendon_fleet_slot *slot = tendon_fleet_find_slot(fleet, address);
    tendon_fleet_radio *radio = choose_radio(fleet, address, now);
    slot = slot != NULL ? slot : slot_without_turn(fleet);
    if (radio == NULL || slot == NULL || has_turn(slot)) {
        return false;
    }
    bool is_new = slot->state == TENDON_FLEET_SLOT_FREE || !tendon_address_equal(&slot->address, address);
    if (is_new || slot->family != family) {
        slot->name_length = is_new ? 0 : slot->name_length;
        slot->address = *address;
        slot->family = family;
        slot->state = TENDON_FLEET_SLOT_FREE;
        if (set_up_device(slot, family) < 0) {
            return false;
        }
        fleet->counters.devices += is_new;
    }
    set_up_connection(slot, radio->radio);
    tendon_radio_group_assign(&fleet->group, radio->radio);
    slot->state = TENDON_FLEET_SLOT_TURN;
    slot->radio = radio->number;
    slot->is_assigned = true;
    slot->must_close = false;
    slot->cause = TENDON_OK;
    slot->used_at = now;
    slot->timing = (tendon_connection_timing){0};
    (void)tendon_device_open(&slot->body->device, now); /* it is closed: that it fails is reported by ENDED */
    (void)tendon_loop_add(fleet->loop, &slot->body->connection.timer);
    tendon_connection_refresh(&slot->body->connection);
    return true;
}

/** Names are learned by the search, which forgets them. */
static void keep_name(tendon_fleet *fleet, const tendon_address *address) {
    tendon_fleet_slot *slot = tendon_fleet_find_slot(fleet, address);
    size_t length;
    const char *name = tendon_search_name(&fleet->search, address, &length);
    if (slot != NULL && name != NULL) {
        slot->name_length = (uint8_t)length;
        memcpy(slot->name, name, length);
    }
}

void tendon_fleet_begin_turns(tendon_fleet *fleet, uint64_t now) {
    uint8_t radios = tendon_fleet_open_radios(fleet);
    tendon_address address;
    uint8_t family;
    while (!fleet->is_ending && radios != 0 &&
           tendon_admission_next(&fleet->admission, radios, tendon_fleet_serves, fleet, now, &address, &family)) {
        if (begin_turn(fleet, &address, family, now)) {
            keep_name(fleet, &address);
        } else {
            tendon_admission_postpone(&fleet->admission, &address, now);
        }
    }
}

/* ---- bonds ---- */

/** Returns whether the device has a bond. A bond that another program has removed is noticed when the device
 * advertises, and when its turn has ended: it is left alone until it is paired again. */
static bool look_at_bond(tendon_fleet *fleet, const tendon_address *address, uint8_t radio, uint64_t now) {
    tendon_radio *it = fleet->radios[radio].radio;
    const tendon_pairing_service *pairing = it != NULL ? tendon_radio_pairing(it) : NULL;
    if (pairing == NULL) {
        return false;
    }
    bool is_bonded = pairing->bonded(pairing->context, address);
    if (tendon_admission_look_at_bond(&fleet->admission, address, is_bonded, radio)) {
        tendon_fleet_slot *slot = tendon_fleet_find_slot(fleet, address);
        (void)tendon_admission_dismiss(&fleet->admission, address, now);
        if (slot != NULL && has_turn(slot)) {
            slot->must_close = true;
            tendon_fleet_touch(fleet);
        }
    }
    return is_bonded;
}

/* ---- the end of a turn ---- */

static void finish_turn(tendon_fleet_slot *slot, uint64_t now) {
    tendon_fleet *fleet = slot->fleet;
    tendon_fleet_radio *radio = &fleet->radios[slot->radio];
    const tendon_device_event *ended = &slot->ended;
    const tendon_admission_ending ending = {.radio = slot->radio,
                                            .was_open = ended->was_open,
                                            .was_released =
                                                ended->was_requested || radio->state != TENDON_FLEET_RADIO_OPEN,
                                            .may_retry = ended->may_retry,
                                            .is_last = fleet->options.no_reconnect};
    uint64_t pause = tendon_admission_end_turn(&fleet->admission, &slot->address, &ending, now);
    fleet->counters.malformed += slot->body->device.counters.malformed;
    slot->body->device.counters.malformed = 0;
    if (ended->was_open || !ended->was_requested) {
        tendon_fleet_report_end(slot, pause);
    }
    if (slot->is_assigned && radio->radio != NULL) {
        tendon_radio_group_release(&fleet->group, radio->radio);
        (void)tendon_radio_group_refused(&fleet->group, radio->radio, slot->cause, now);
    }
    slot->is_assigned = false;
    slot->state = TENDON_FLEET_SLOT_IDLE;
    slot->used_at = now;
    (void)look_at_bond(fleet, &slot->address, slot->radio, now);
}

void tendon_fleet_step_turns(tendon_fleet *fleet, uint64_t now) {
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        tendon_fleet_slot *slot = &fleet->slots[i];
        if (slot->state == TENDON_FLEET_SLOT_TURN && slot->must_close) {
            slot->must_close = false;
            tendon_device_close(&slot->body->device, now);
            tendon_connection_refresh(&slot->body->connection);
        }
        if (slot->state == TENDON_FLEET_SLOT_ENDED && slot->body->connection.state == TENDON_CONNECTION_IDLE) {
            finish_turn(slot, now);
        }
    }
    tendon_fleet_begin_turns(fleet, now);
}

bool tendon_fleet_has_turns(const tendon_fleet *fleet, uint8_t number) {
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        const tendon_fleet_slot *slot = &fleet->slots[i];
        if (has_turn(slot) && (number == TENDON_FLEET_RADIOS || slot->radio == number)) {
            return true;
        }
    }
    return false;
}

void tendon_fleet_end_turns(tendon_fleet *fleet, uint8_t number, bool hard, uint64_t now) {
    (void)now;
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        tendon_fleet_slot *slot = &fleet->slots[i];
        if (has_turn(slot) && (number == TENDON_FLEET_RADIOS || slot->radio == number)) {
            slot->must_close = true;
            if (hard) {
                tendon_connection_close(&slot->body->connection);
            }
        }
    }
    tendon_fleet_touch(fleet);
}

/* ---- what is received ---- */

/** Of a family that is served. */
static void take_device(tendon_fleet *fleet, uint8_t radio, const tendon_ad_report *report,
                        const tendon_search_found *found, uint64_t now) {
    const tendon_address *address = &report->address;
    bool is_bonded = look_at_bond(fleet, address, radio, now);
    if (tendon_admission_received(&fleet->admission, address,
                                  &(tendon_admission_report){.family = found->family,
                                                             .radio = radio,
                                                             .preferred = is_bonded || fleet->options.only.count > 0,
                                                             .awaits_response = found->awaits_response},
                                  now)) {
        fleet->counters.found++;
        tendon_fleet_report_found(fleet, address, found, report->rssi);
    }
    keep_name(fleet, address);
}

void tendon_fleet_take_report(tendon_fleet *fleet, uint8_t radio, const tendon_ad_report *report, uint64_t now) {
    uint8_t family;
    if (tendon_admission_heard(&fleet->admission, &report->address, radio, now, &family)) {
        (void)look_at_bond(fleet, &report->address, radio, now);
        return; /* it goes on advertising while it is connected */
    }
    tendon_search_found found = tendon_search_take(&fleet->search, report, now);
    bool is_awaited = found.is_response && tendon_admission_responded(&fleet->admission, &report->address, now);
    if (tendon_search_is_active(&fleet->search, now) != fleet->radios[radio].is_active) {
        tendon_fleet_touch(fleet);
    }
    if (!found.is_served) {
        return;
    }
    take_device(fleet, radio, report, &found, now);
    if (is_awaited ||
        tendon_admission_may_be_next(&fleet->admission, &report->address, tendon_fleet_open_radios(fleet), now)) {
        tendon_fleet_begin_turns(fleet, now);
    }
    uint64_t deadline = tendon_admission_deadline_of(&fleet->admission, &report->address, now);
    uint64_t earliest = fleet->due_at + 20; /* of many devices a look at all takes long */
    tendon_fleet_wake_at(fleet, deadline > earliest ? deadline : earliest);
}
