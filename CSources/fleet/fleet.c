/* SPDX-License-Identifier: MIT */
/* A fleet: its calls, and its one timer. Nothing ticks. */
#include "tendon/fleet/fleet.h"

#include <string.h>
#include <sys/random.h>

#include "fleet_parts.h"
#include "tendon/linux/time.h"

enum { LOOK_PAUSE_MAX_MS = 4000 };

size_t tendon_fleet_size(void) {
    return sizeof(tendon_fleet);
}

size_t tendon_fleet_options_size(void) {
    return sizeof(tendon_fleet_options);
}

/* ---- time ---- */

/** At the parameters of the connections, which are agreed in the seconds after the begin of one. */
static void look(tendon_fleet *fleet, uint64_t now) {
    if (now < fleet->look_at) {
        return;
    }
    fleet->look_pause *= 2;
    fleet->look_at = fleet->look_pause <= LOOK_PAUSE_MAX_MS ? now + fleet->look_pause : UINT64_MAX;
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        tendon_fleet_slot *slot = &fleet->slots[i];
        const tendon_connection_timing *timing = &slot->body->connection.link.timing;
        if (slot->state == TENDON_FLEET_SLOT_TURN && slot->body->device.state == TENDON_DEVICE_OPEN &&
            timing->interval != 0 && memcmp(timing, &slot->timing, sizeof *timing) != 0) {
            slot->timing = *timing;
            tendon_fleet_report_timing(slot);
        }
    }
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/** Sets the timer. */
static void arm(tendon_fleet *fleet, uint64_t now) {
    uint64_t deadline = earlier(earlier(fleet->look_at, fleet->end_at), tendon_turns_deadline(&fleet->turns, now));
    for (size_t i = 0; i < fleet->radio_count; i++) {
        deadline = earlier(deadline, tendon_fleet_radio_deadline(&fleet->radios[i]));
    }
    fleet->timer.deadline = fleet->is_due ? 0 : deadline;
}

static void expired(void *context, uint64_t now) {
    tendon_fleet *fleet = context;
    fleet->is_due = false;
    fleet->timer.deadline = UINT64_MAX;
    look(fleet, now);
    if (now >= fleet->end_at) {
        fleet->end_at = UINT64_MAX;
        tendon_fleet_end_turns(fleet, TENDON_FLEET_RADIOS, true, now);
    }
    tendon_fleet_step_turns(fleet, now);
    for (size_t i = 0; i < fleet->radio_count; i++) {
        tendon_fleet_radio_step(&fleet->radios[i], now);
    }
    arm(fleet, now);
    if (fleet->on_ended != NULL && tendon_fleet_has_ended(fleet)) {
        tendon_fleet_on_ended on_ended = fleet->on_ended;
        fleet->on_ended = NULL;
        on_ended(fleet->context);
    }
}

/* ---- calls ---- */

static void prepare(tendon_fleet *fleet, tendon_loop *loop, const tendon_fleet_options *options,
                    tendon_fleet_on_line on_line, void *context) {
    uint32_t seed = (uint32_t)tendon_monotonic_ms();
    (void)!getrandom(&seed, sizeof seed, GRND_NONBLOCK); /* pauses need no good numbers */
    memset(fleet, 0, offsetof(tendon_fleet, options));
    for (uint8_t i = 0; i < TENDON_FLEET_RADIOS; i++) { /* the rest is used when it is opened */
        memset(&fleet->radios[i], 0, offsetof(tendon_fleet_radio, bonds));
        fleet->radios[i].fleet = fleet;
        fleet->radios[i].number = i;
    }
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        fleet->slots[i] = (tendon_fleet_slot){.fleet = fleet, .body = &fleet->bodies[i]};
    }
    fleet->loop = loop;
    fleet->options = *options;
    fleet->on_line = on_line;
    fleet->context = context;
    fleet->look_at = fleet->end_at = UINT64_MAX;
    fleet->pair_until = options->pair_s == UINT32_MAX ? UINT64_MAX
                        : options->pair_s != 0        ? tendon_monotonic_ms() + options->pair_s * UINT64_C(1000)
                                                      : 0;
    fleet->options.no_gatt_cache = options->no_gatt_cache || tendon_gatt_store_open(&fleet->store, NULL) < 0;
    tendon_turns_init(&fleet->turns, &(tendon_turns_config){.owner = tendon_fleet_turns_owner(fleet),
                                                            .definitions = fleet->options.definitions,
                                                            .definition_count = options->definition_count,
                                                            .records = fleet->records,
                                                            .record_count = TENDON_FLEET_SLOTS,
                                                            .advertisers = fleet->advertisers,
                                                            .advertiser_count = TENDON_SEARCH_ADVERTISERS,
                                                            .seed = seed});
    tendon_source_init(&fleet->timer, -1, fleet, NULL, expired);
}

tendon_status tendon_fleet_open(tendon_fleet *fleet, tendon_loop *loop, const tendon_fleet_options *options,
                                tendon_fleet_on_line on_line, void *context) {
    char mistake[TENDON_FLEET_MISTAKE_SIZE];
    if (tendon_fleet_options_mistake(options, mistake)) {
        return TENDON_ERROR_INVALID_ARGUMENT;
    }
    prepare(fleet, loop, options, on_line, context);
    size_t wanted = options->is_virtual || options->adapter_count == 0 ? 1 : options->adapter_count;
    tendon_status status = tendon_loop_add(loop, &fleet->timer);
    fleet->radio_count = fleet->untried = (uint8_t)wanted;
    for (size_t i = 0; i < wanted && status >= 0; i++) {
        status = tendon_fleet_radio_open(&fleet->radios[i], tendon_monotonic_ms());
    }
    fleet->is_open = true;
    if (status < 0) {
        tendon_fleet_close(fleet);
        return status;
    }
    arm(fleet, tendon_monotonic_ms());
    return TENDON_OK;
}

void tendon_fleet_end(tendon_fleet *fleet) {
    uint64_t now = tendon_monotonic_ms();
    if (fleet->is_ending) {
        return;
    }
    fleet->is_ending = true;
    tendon_turns_finish(&fleet->turns);
    fleet->end_at = now + TENDON_FLEET_END_MS;
    tendon_fleet_end_turns(fleet, TENDON_FLEET_RADIOS, false, now);
}

void tendon_fleet_end_then(tendon_fleet *fleet, tendon_fleet_on_ended on_ended) {
    fleet->on_ended = on_ended;
    tendon_fleet_end(fleet);
    tendon_fleet_touch(fleet); /* it may have ended before */
}

bool tendon_fleet_has_ended(const tendon_fleet *fleet) {
    return fleet->is_ending && !tendon_fleet_has_turns(fleet, TENDON_FLEET_RADIOS) && !tendon_fleet_is_preparing(fleet);
}

static bool has_connections(const tendon_fleet *fleet) {
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        const tendon_fleet_slot *slot = &fleet->slots[i];
        if (slot->is_set_up && slot->body->connection.state != TENDON_CONNECTION_IDLE) {
            return true;
        }
    }
    return false;
}

void tendon_fleet_close(tendon_fleet *fleet) {
    if (!fleet->is_open) {
        return;
    }
    fleet->is_open = false;
    fleet->is_ending = true;
    tendon_turns_finish(&fleet->turns); /* none begins in the steps below */
    tendon_loop_remove(fleet->loop, &fleet->timer);
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        tendon_fleet_slot *slot = &fleet->slots[i];
        if (slot->is_set_up) {
            tendon_connection_attach(&slot->body->connection, NULL, NULL);
            slot->body->connection.callbacks = (tendon_connection_callbacks){0};
            tendon_connection_close(&slot->body->connection);
        }
    }
    /* Sockets that are closed report it in the next step. After an end there are none: the loop of others is left
     * alone. */
    for (unsigned step = 0; step < 8 && has_connections(fleet); step++) {
        (void)tendon_loop_step(fleet->loop, 0);
    }
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        if (fleet->slots[i].is_set_up) {
            tendon_loop_remove(fleet->loop, &fleet->slots[i].body->connection.timer);
        }
    }
    for (size_t i = 0; i < fleet->radio_count; i++) {
        tendon_fleet_radio_close(&fleet->radios[i]);
    }
}

static tendon_fleet_slot *find_connected(tendon_fleet *fleet, const tendon_address *address) {
    bool of_any_type = address->type == TENDON_ADDRESS_TYPE_ANONYMOUS;
    for (size_t i = 0; i < TENDON_FLEET_DEVICES; i++) {
        tendon_fleet_slot *slot = &fleet->slots[i];
        if (slot->state == TENDON_FLEET_SLOT_TURN &&
            memcmp(slot->address.bytes, address->bytes, sizeof address->bytes) == 0 &&
            (of_any_type || slot->address.type == address->type)) {
            return slot;
        }
    }
    return NULL;
}

/* Length of tendon_local_time() for a field: without its zone if the device counts the time of its place. */
static size_t length_of_time(const tendon_field *field) {
    enum { ZONE = 6 };
    bool is_of_place = field->type == TENDON_FIELD_DATE || (field->flags & TENDON_FIELD_LOCAL) != 0;
    return TENDON_LOCAL_TIME_SIZE - 1 - (is_of_place ? ZONE : 0);
}

/** Of a device file: the word `now` of a time becomes this time. Returns the length; 0: the action stays as it is. */
static size_t put_time(const tendon_definition *definition, const char *action, size_t length,
                       char out[TENDON_DEVICE_ACTION_SIZE]) {
    char name[TENDON_DEVICE_ACTION_SIZE] = "", now[TENDON_LOCAL_TIME_SIZE];
    uint16_t fields[TENDON_DEFINITION_VALUE];
    tendon_act_word word;
    size_t at = tendon_act_next_word(action, length, 0, &word), used = at, count = 0;
    bool has_now = false;
    if (length >= sizeof name || word.length == 0) {
        return 0;
    }
    memcpy(name, word.text, word.length);
    size_t which = tendon_definition_action_named(definition, name);
    count = which < definition->action_count
                ? tendon_action_arguments(definition, which, fields, TENDON_DEFINITION_VALUE)
                : 0;
    memcpy(out, action, used);
    at = tendon_act_next_word(action, length, at, &word);
    for (size_t i = 0; word.length > 0; i++, at = tendon_act_next_word(action, length, at, &word)) {
        const tendon_field *field = i < count ? &definition->fields[fields[i]] : NULL;
        bool is_now = field != NULL && (field->type == TENDON_FIELD_DATE || field->type == TENDON_FIELD_EPOCH) &&
                      word.length == 3 && memcmp(word.text, "now", 3) == 0;
        has_now = has_now || is_now;
        word = is_now ? (tendon_act_word){tendon_local_time(now), length_of_time(field)} : word;
        if (used + 1 + word.length > TENDON_DEVICE_ACTION_SIZE) {
            return 0;
        }
        out[used++] = ' ';
        memcpy(out + used, word.text, word.length);
        used += word.length;
    }
    return has_now ? used : 0;
}

tendon_status tendon_fleet_act(tendon_fleet *fleet, const tendon_address *address, const char *action, size_t length) {
    tendon_fleet_slot *slot = find_connected(fleet, address);
    char timed[TENDON_DEVICE_ACTION_SIZE];
    tendon_act_mistake mistake = {0};
    if (slot == NULL) {
        tendon_fleet_report_action(fleet, NULL, address, action, length, "the device is not connected",
                                   TENDON_ERROR_NOT_FOUND);
        return TENDON_ERROR_NOT_FOUND;
    }
    const tendon_device_config *config = &slot->body->device.config;
    size_t with_time =
        config->family == TENDON_DEVICE_DEFINED ? put_time(config->definition, action, length, timed) : 0;
    action = with_time > 0 ? timed : action;
    length = with_time > 0 ? with_time : length;
    tendon_status status = tendon_device_act(&slot->body->device, action, length, &mistake, tendon_monotonic_ms());
    if (status < 0) {
        const char *text = mistake.text[0] != '\0'               ? mistake.text
                           : status == TENDON_ERROR_DISCONNECTED ? "the device is not connected"
                                                                 : tendon_status_text(status);
        tendon_fleet_report_action(fleet, slot, address, action, length, text, status);
        return status;
    }
    tendon_connection_refresh(&slot->body->connection);
    return TENDON_OK;
}

bool tendon_fleet_withdraw(tendon_fleet *fleet, const tendon_address *address, size_t index) {
    tendon_fleet_slot *slot = find_connected(fleet, address);
    return slot != NULL && tendon_device_withdraw(&slot->body->device, index);
}

bool tendon_fleet_was_open(const tendon_fleet *fleet) {
    for (size_t i = 0; i < fleet->radio_count; i++) {
        if (fleet->radios[i].was_open) {
            return true;
        }
    }
    return false;
}

void tendon_fleet_acted(tendon_fleet *fleet, const tendon_address *address, const char *action, size_t length,
                        const char *failure) {
    const tendon_fleet_slot *slot = address != NULL ? find_connected(fleet, address) : NULL;
    tendon_fleet_report_action(fleet, slot, address, action, length, failure,
                               failure != NULL ? TENDON_ERROR_WRONG_STATE : TENDON_OK);
}
