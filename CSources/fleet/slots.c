/* SPDX-License-Identifier: MIT */
/* The devices of a fleet: their sessions, from the begin of a turn to its end. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "fleet_parts.h"

_Static_assert(TENDON_DEFINITION_ROWS < TENDON_CONNECTION_SUBSCRIPTIONS, "each characteristic can notify");

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
        tendon_turns_connected(&fleet->turns, &slot->address, slot->radio, now);
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
    slot->is_answered = true;
    tendon_admission_answered(&slot->fleet->turns.admission, &slot->address);
    tendon_fleet_touch(slot->fleet); /* another stranger may be tried now */
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
    const tendon_connection_callbacks callbacks = {.context = slot, .connected = on_connected};
    if (slot->is_set_up) {
        tendon_loop_remove(fleet->loop, &connection->timer); /* the device's deadline can outlast its connection */
    }
    slot->is_set_up = true;
    tendon_connection_init(connection, radio, &slot->address,
                           tendon_device_pairs(&slot->body->device) ? tendon_radio_pairing(radio) : NULL, &callbacks);
    connection->connect_timeout_ms = tendon_admission_answer_ms(&fleet->turns.admission, &slot->address);
    if (!fleet->options.no_gatt_cache) {
        tendon_gatt_cache_store functions = tendon_gatt_store_functions(&fleet->store);
        tendon_gatt_cache_init(&slot->body->cache, &connection->peer, &functions);
        tendon_connection_use_cache(connection, &slot->body->cache);
    }
    tendon_connection_attach(connection, tendon_device_inputs(&slot->body->device), &slot->body->device);
}

/** False: the device has no turn now. */
static bool begin_turn(tendon_fleet *fleet, const tendon_address *address, uint8_t family, uint8_t radio,
                       uint64_t now) {
    tendon_fleet_slot *slot = tendon_fleet_find_slot(fleet, address);
    slot = slot != NULL ? slot : slot_without_turn(fleet);
    if (slot == NULL || has_turn(slot)) {
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
    set_up_connection(slot, fleet->radios[radio].radio);
    slot->state = TENDON_FLEET_SLOT_TURN;
    slot->radio = radio;
    slot->must_close = slot->is_answered = false;
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
    const char *name = tendon_search_name(&fleet->turns.search, address, &length);
    if (slot != NULL && name != NULL) {
        slot->name_length = (uint8_t)length;
        memcpy(slot->name, name, length);
    }
}

/* ---- what turns ask ---- */

static bool is_meant(const tendon_fleet_addresses *only, const tendon_address *address) {
    for (size_t i = 0; i < only->count; i++) {
        if (tendon_address_equal(&only->addresses[i], address)) {
            return true;
        }
    }
    return only->count == 0;
}

static bool serves(void *context, const tendon_address *address, uint8_t family) {
    const tendon_fleet_options *options = &((const tendon_fleet *)context)->options;
    return is_meant(&options->only, address) && tendon_fleet_options_serve(options, family);
}

static bool expects(void *context, const tendon_address *address) {
    const tendon_fleet *fleet = context;
    (void)address; /* no other one is served */
    return fleet->options.only.count > 0;
}

static bool begin(void *context, const tendon_address *address, uint8_t family, uint8_t radio, uint64_t now) {
    bool has_begun = begin_turn(context, address, family, radio, now);
    if (has_begun) {
        keep_name(context, address);
    }
    return has_begun;
}

static void bond_removed(void *context, const tendon_address *address) {
    tendon_fleet_slot *slot = tendon_fleet_find_slot(context, address);
    if (slot != NULL && has_turn(slot)) {
        slot->must_close = true;
        tendon_fleet_touch(context);
    }
}

tendon_turns_owner tendon_fleet_turns_owner(tendon_fleet *fleet) {
    return (tendon_turns_owner){
        .context = fleet, .serves = serves, .expects = expects, .begin = begin, .bond_removed = bond_removed};
}

/* ---- the end of a turn ---- */

static void finish_turn(tendon_fleet_slot *slot, uint64_t now) {
    tendon_fleet *fleet = slot->fleet;
    const tendon_device_event *ended = &slot->ended;
    const tendon_admission_ending ending = {.radio = slot->radio,
                                            .was_open = ended->was_open,
                                            .was_released = ended->was_requested,
                                            .may_retry = ended->may_retry,
                                            .is_last = fleet->options.no_reconnect};
    slot->state = TENDON_FLEET_SLOT_IDLE;
    slot->used_at = now;
    uint64_t pause = tendon_turns_end(&fleet->turns, &slot->address, &ending, slot->cause, now);
    fleet->counters.malformed += slot->body->device.counters.malformed;
    slot->body->device.counters.malformed = 0;
    if (ended->was_open || !ended->was_requested) {
        tendon_fleet_report_end(slot, pause);
    }
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
    tendon_turns_step(&fleet->turns, now);
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

void tendon_fleet_take_report(tendon_fleet *fleet, uint8_t radio, const tendon_ad_report *report, uint64_t now) {
    const tendon_turns_taken taken = tendon_turns_take(&fleet->turns, radio, report, now);
    if (taken.is_connected) {
        return;
    }
    if (taken.is_new) {
        fleet->counters.found++;
        tendon_fleet_report_found(fleet, &report->address, &taken, report->rssi);
    }
    if (taken.is_served) {
        keep_name(fleet, &report->address);
    }
    tendon_fleet_wake_at(fleet, tendon_turns_follow(&fleet->turns, &report->address, &taken, now));
}
