/* SPDX-License-Identifier: MIT */
/* Simulated Fjorden grip: its controls, the records of their events, and the notifications to each central. */
#include "fjorden_parts.h"

enum { RECORDS_PER_TICK = 64, DETENTS_MAX = 127, VALUE_VERSION = 1, OTHER_VERSION = 9, CODE_TURN = 0x11 };
enum { CODE_NOBODY_KNOWS = 0xF0, KEY_VOLUME_UP = 0x00E9, HAND_PERIOD_MS = 10000, PARTING_MS = 100 };

/** What the derivation calls an event, and its code in a record. */
static const uint8_t codes[][2] = {
    {TENDON_FJORDEN_SHUTTER_HALF_DOWN, 0x01}, {TENDON_FJORDEN_SHUTTER_DOWN, 0x02},
    {TENDON_FJORDEN_SHUTTER_RELEASED, 0x03},  {TENDON_FJORDEN_DIAL_CW, 0x11},
    {TENDON_FJORDEN_DIAL_CCW, 0x12},          {TENDON_FJORDEN_DIAL_PRESS, 0x13},
    {TENDON_FJORDEN_DIAL_LONG_PRESS, 0x14},   {TENDON_FJORDEN_FN_PRESS, 0x21},
    {TENDON_FJORDEN_FN_LONG_PRESS, 0x22},     {TENDON_FJORDEN_LEVER_LEFT, 0x31},
    {TENDON_FJORDEN_LEVER_RIGHT, 0x32},       {TENDON_FJORDEN_LEVER_HOLD_LEFT, 0x33},
    {TENDON_FJORDEN_LEVER_HOLD_RIGHT, 0x34},  {TENDON_FJORDEN_LEVER_NEUTRAL, 0x35},
};

/** The hand's moves, by time of the script. */
static const struct {
    uint16_t at_ms;
    uint8_t control;
    int8_t value;
} moves[] = {
    {500, TENDON_FJORDEN_CONTROL_SHUTTER, 1},      {800, TENDON_FJORDEN_CONTROL_SHUTTER, 2},
    {1200, TENDON_FJORDEN_CONTROL_SHUTTER, 0},     {2000, TENDON_FJORDEN_CONTROL_DIAL, 2},
    {2500, TENDON_FJORDEN_CONTROL_DIAL, -1},       {3000, TENDON_FJORDEN_CONTROL_DIAL_BUTTON, 1},
    {3100, TENDON_FJORDEN_CONTROL_DIAL_BUTTON, 0}, {4000, TENDON_FJORDEN_CONTROL_FN, 1},
    {4100, TENDON_FJORDEN_CONTROL_FN, 0},          {5000, TENDON_FJORDEN_CONTROL_FN, 1},
    {5800, TENDON_FJORDEN_CONTROL_FN, 0},          {6500, TENDON_FJORDEN_CONTROL_LEVER, -1},
    {6600, TENDON_FJORDEN_CONTROL_LEVER, 0},       {7500, TENDON_FJORDEN_CONTROL_LEVER, 1},
    {8200, TENDON_FJORDEN_CONTROL_LEVER, 0},       {9000, TENDON_FJORDEN_CONTROL_DIAL, 3},
};
enum { MOVES = sizeof moves / sizeof moves[0] };

void tendon_simulated_fjorden_write_state(tendon_simulated_fjorden *device, uint8_t out[STATE_LENGTH]) {
    const tendon_fjorden_gesture_engine *at = &device->gestures;
    uint32_t buttons =
        (at->shutter > 0 ? 1u : 0) | (at->shutter > 1 ? 2u : 0) | (at->dial_button ? 4u : 0) | (at->fn ? 8u : 0);
    bool malformed = device->malformed_next > 0 && device->malformed_kind == TENDON_FJORDEN_MALFORM_STATE;
    device->malformed_next -= malformed;
    device->counters.malformed += malformed;
    tendon_writer writer = tendon_writer_make(out, STATE_LENGTH);
    tendon_write_u8(&writer, malformed ? OTHER_VERSION : VALUE_VERSION);
    tendon_write_u8(&writer, (uint8_t)buttons);
    tendon_write_u8(&writer, (uint8_t)at->lever);
    tendon_write_u8(&writer, 0); /* it has no custom buttons */
    tendon_write_u16le(&writer, (uint16_t)device->dial_position);
}

/* ---- records ---- */

static void put(tendon_simulated_fjorden *device, const uint8_t record[RECORD]) {
    memcpy(device->ring[device->made % TENDON_SIMULATED_FJORDEN_QUEUE], record, RECORD);
    device->made++;
}

static void make_record(tendon_simulated_fjorden *device, uint8_t code, int8_t value, uint64_t device_ms) {
    uint8_t record[RECORD];
    tendon_writer out = tendon_writer_make(record, sizeof record);
    tendon_write_u8(&out, device->sequence++);
    tendon_write_u8(&out, code);
    tendon_write_u16le(&out, (uint16_t)(device_ms & 0xFFFFu));
    tendon_write_u8(&out, (uint8_t)value);
    if (device->lose_next > 0) {
        device->lose_next--;
        device->counters.lost++;
        return;
    }
    device->counters.records++;
    put(device, record);
    if (device->double_next > 0) {
        device->double_next--;
        put(device, record);
    }
}

static uint64_t clock_at(const tendon_simulated_fjorden *device, uint64_t now) {
    return now > device->clock_base ? now - device->clock_base : 0;
}

void tendon_simulated_fjorden_event(tendon_simulated_fjorden *device, uint8_t code, int8_t value, uint64_t now) {
    make_record(device, code, value, clock_at(device, now));
    tendon_simulated_fjorden_flush(device, now);
}

static void press_key(tendon_simulated_fjorden *device, uint16_t usage) {
    device->key = usage;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        device->outboxes[i].key = true;
    }
}

static void take_gesture(tendon_simulated_fjorden *device, const tendon_fjorden_gesture_event *gesture) {
    size_t row = 0;
    while (row < sizeof codes / sizeof codes[0] && codes[row][0] != gesture->event) {
        row++;
    }
    if (row == sizeof codes / sizeof codes[0]) {
        tendon_simulated_fjorden_reset_bond(device, gesture->time_ms);
        return;
    }
    if (gesture->event == TENDON_FJORDEN_SHUTTER_DOWN || gesture->event == TENDON_FJORDEN_SHUTTER_RELEASED) {
        press_key(device, gesture->event == TENDON_FJORDEN_SHUTTER_DOWN ? KEY_VOLUME_UP : 0);
    }
    bool turn = gesture->event == TENDON_FJORDEN_DIAL_CW || gesture->event == TENDON_FJORDEN_DIAL_CCW;
    uint32_t left = gesture->count;
    do { /* a turn with more detents than fit in a record is sent as several records */
        uint32_t now = left > DETENTS_MAX ? DETENTS_MAX : left;
        make_record(device, codes[row][1], turn ? (int8_t)now : 0, clock_at(device, gesture->time_ms));
        left -= now;
    } while (turn && left > 0);
}

static tendon_status gestures(tendon_simulated_fjorden *device, tendon_fjorden_control control, int32_t value,
                              uint64_t now) {
    tendon_fjorden_gestures made;
    tendon_status status = tendon_fjorden_gesture_input(&device->gestures, now, control, value, &made);
    for (size_t i = 0; i < made.count; i++) {
        take_gesture(device, &made.events[i]);
    }
    if (status == TENDON_OK && control == TENDON_FJORDEN_CONTROL_DIAL) {
        device->dial_position = (int16_t)(uint16_t)((uint32_t)device->dial_position + (uint32_t)value);
    }
    return status;
}

tendon_status tendon_simulated_fjorden_move(tendon_simulated_fjorden *device, tendon_fjorden_control control,
                                            int32_t value, uint64_t now) {
    tendon_status status = gestures(device, control, value, now);
    tendon_simulated_fjorden_flush(device, now);
    return status;
}

/* ---- on demand ---- */

void tendon_simulated_fjorden_set_battery(tendon_simulated_fjorden *device, uint8_t percent, uint64_t now) {
    bool falls = device->battery >= LOW_BATTERY && percent < LOW_BATTERY;
    device->battery = percent;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        device->outboxes[i].battery = true;
    }
    if (falls) {
        make_record(device, CODE_BATTERY_LOW, (int8_t)percent, clock_at(device, now));
    }
    tendon_simulated_fjorden_flush(device, now);
}

/** Disconnects all centrals after PARTING_MS, so that the last notification is sent; immediately if no central is
 * connected. */
static void go(tendon_simulated_fjorden *device, bool resets, uint64_t now) {
    device->resets = device->resets || resets;
    device->gone_at = device->centrals.count > 0 ? now + PARTING_MS : 0;
    tendon_simulated_fjorden_go_if_due(device, now);
}

void tendon_simulated_fjorden_go_if_due(tendon_simulated_fjorden *device, uint64_t now) {
    if (now < device->gone_at || device->gone_at == UINT64_MAX) {
        return;
    }
    device->gone_at = UINT64_MAX;
    if (device->resets) {
        device->resets = device->bonded = false;
        device->clears_bonds = true;
    }
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (device->centrals.places[i].used) {
            tendon_att_bearer_close(device->centrals.places[i].connection.bearer); /* the host closes it */
        }
    }
}

void tendon_simulated_fjorden_reset_bond(tendon_simulated_fjorden *device, uint64_t now) {
    tendon_simulated_fjorden_event(device, CODE_BOND_RESET, 0, now);
    go(device, true, now);
}

void tendon_simulated_fjorden_power_off(tendon_simulated_fjorden *device, uint64_t now) {
    tendon_simulated_fjorden_event(device, CODE_POWERING_OFF, 0, now);
    go(device, false, now);
}

void tendon_simulated_fjorden_lose(tendon_simulated_fjorden *device, uint32_t count) {
    device->lose_next = count;
}

void tendon_simulated_fjorden_duplicate(tendon_simulated_fjorden *device, uint32_t count) {
    device->double_next = count;
}

void tendon_simulated_fjorden_inject(tendon_simulated_fjorden *device, tendon_simulated_fjorden_malformation kind,
                                     uint32_t count, uint64_t now) {
    bool record = kind == TENDON_FJORDEN_MALFORM_VALUE || kind == TENDON_FJORDEN_MALFORM_UNKNOWN;
    for (uint32_t i = 0; record && i < count && i < TENDON_SIMULATED_FJORDEN_QUEUE; i++) {
        uint8_t code = kind == TENDON_FJORDEN_MALFORM_VALUE ? CODE_TURN : CODE_NOBODY_KNOWS;
        make_record(device, code, 0, clock_at(device, now));
        device->counters.malformed++;
    }
    if (!record) {
        device->malformed_kind = (uint32_t)kind;
        device->malformed_next = count;
    }
    tendon_simulated_fjorden_flush(device, now);
}

/* ---- responses of the control point: one is outstanding at a time, because they are indications ---- */

static void remove_response(tendon_simulated_fjorden *device, uint8_t index) {
    device->response_count--;
    for (uint8_t i = index; i < device->response_count; i++) {
        device->responses[i] = device->responses[i + 1];
    }
}

static void leave(tendon_simulated_fjorden *device, uint64_t now) {
    uint8_t opcode = device->leaving;
    device->leaving = 0;
    if (opcode == CLEAR_BOND) {
        tendon_simulated_fjorden_reset_bond(device, now);
    } else if (opcode == POWER_OFF) {
        tendon_simulated_fjorden_power_off(device, now);
    }
}

void tendon_simulated_fjorden_responded(tendon_simulated_fjorden *device, uint64_t now) {
    device->confirming = false;
    if (device->response_count > 0) {
        remove_response(device, 0);
    }
    leave(device, now);
}

void tendon_simulated_fjorden_drop_responses(tendon_simulated_fjorden *device, uint8_t central, uint64_t now) {
    for (uint8_t i = device->response_count; i > 0; i--) {
        if (device->responses[i - 1].central == central) {
            device->confirming = device->confirming && i > 1;
            remove_response(device, (uint8_t)(i - 1));
        }
    }
    if (device->response_count == 0) {
        leave(device, now);
    }
}

static void respond(tendon_simulated_fjorden *device, uint64_t now) {
    if (device->confirming || device->response_count == 0) {
        return;
    }
    tendon_simulated_central *place = &device->centrals.places[device->responses[0].central];
    tendon_status status = tendon_gatt_indicate(&place->connection, device->control_handle, device->responses[0].bytes,
                                                device->responses[0].length, now);
    if (status == TENDON_OK) {
        device->confirming = true;
    } else if (status == TENDON_ERROR_WOULD_BLOCK) {
        device->outboxes[device->responses[0].central].held = true; /* writable() continues */
    } else if (status != TENDON_ERROR_BUSY) {
        tendon_simulated_fjorden_responded(device, now); /* unsubscribed meanwhile: not sent */
    }
}

/* ---- sending ---- */

/** False: the link is full. */
static bool took(tendon_simulated_fjorden *device, tendon_status status) {
    device->counters.notifications += status == TENDON_OK;
    return status != TENDON_ERROR_WOULD_BLOCK;
}

/** Malformed notifications go between the others, so that no record is lost by them. */
static bool send_malformed(tendon_simulated_fjorden *device, tendon_gatt_connection *connection) {
    static const uint8_t cut[] = {1, 2, 3};
    while (device->malformed_next > 0 && device->malformed_kind <= TENDON_FJORDEN_MALFORM_LENGTH) {
        size_t length = device->malformed_kind == TENDON_FJORDEN_MALFORM_EMPTY ? 0 : sizeof cut;
        if (!took(device, tendon_gatt_notify(connection, device->event_handle, cut, length))) {
            return false;
        }
        device->malformed_next--;
        device->counters.malformed++;
    }
    return true;
}

static bool send_records(tendon_simulated_fjorden *device, tendon_gatt_connection *connection,
                         tendon_simulated_fjorden_outbox *outbox) {
    if (device->event_handle == 0 || tendon_gatt_connection_cccd(connection, device->event_handle) == 0) {
        outbox->next = device->made;
        return true;
    }
    if (!send_malformed(device, connection)) {
        return false;
    }
    if (device->made - outbox->next > TENDON_SIMULATED_FJORDEN_QUEUE) {
        uint64_t oldest = device->made - TENDON_SIMULATED_FJORDEN_QUEUE;
        device->counters.overwritten += oldest - outbox->next;
        outbox->next = oldest;
    }
    size_t most = device->options.flat_out ? 1 : (size_t)(connection->bearer->mtu - 3) / RECORD;
    while (outbox->next < device->made) {
        uint8_t value[TENDON_SIMULATED_FJORDEN_QUEUE * RECORD];
        size_t count = 0;
        while (count < most && outbox->next + count < device->made) {
            memcpy(value + count * RECORD, device->ring[(outbox->next + count) % TENDON_SIMULATED_FJORDEN_QUEUE],
                   RECORD);
            count++;
        }
        tendon_status status = tendon_gatt_notify(connection, device->event_handle, value, count * RECORD);
        if (!took(device, status)) {
            return false;
        }
        device->counters.sent += status == TENDON_OK ? count : 0;
        outbox->next += count;
    }
    return true;
}

static bool send_values(tendon_simulated_fjorden *device, tendon_gatt_connection *connection,
                        tendon_simulated_fjorden_outbox *outbox) {
    uint8_t key[2] = {(uint8_t)(device->key & 0xFFu), (uint8_t)(device->key >> 8)};
    if (outbox->battery && device->battery_handle != 0 &&
        tendon_gatt_notify(connection, device->battery_handle, &device->battery, 1) == TENDON_ERROR_WOULD_BLOCK) {
        return false;
    }
    outbox->battery = false;
    if (outbox->key &&
        tendon_gatt_notify(connection, device->key_handle, key, sizeof key) == TENDON_ERROR_WOULD_BLOCK) {
        return false;
    }
    outbox->key = false;
    return true;
}

void tendon_simulated_fjorden_flush(tendon_simulated_fjorden *device, uint64_t now) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        tendon_simulated_central *place = &device->centrals.places[i];
        tendon_simulated_fjorden_outbox *outbox = &device->outboxes[i];
        if (!place->used || place->connection.bearer->closed) {
            continue;
        }
        bool sent = send_records(device, &place->connection, outbox) && send_values(device, &place->connection, outbox);
        device->counters.blocked += !sent && !outbox->held;
        outbox->held = !sent;
    }
    respond(device, now);
}

/* ---- time ---- */

static bool exhausted(const tendon_simulated_fjorden *device) {
    return device->options.event_limit != 0 && device->counters.records >= device->options.event_limit;
}

/** Returns true if at least one central receives events, and every such central has received all of them. */
static bool may_go_on(const tendon_simulated_fjorden *device) {
    bool heard = false;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        const tendon_simulated_central *place = &device->centrals.places[i];
        if (place->used && device->event_handle != 0 &&
            tendon_gatt_connection_cccd(&place->connection, device->event_handle) != 0) {
            heard = true;
            if (device->outboxes[i].next < device->made || device->outboxes[i].held) {
                return false;
            }
        }
    }
    return heard && !exhausted(device);
}

static uint64_t next_move(const tendon_simulated_fjorden *device) {
    bool moves_on = device->options.hand && device->centrals.count > 0 && !exhausted(device);
    return moves_on ? device->clock_base + (uint64_t)(device->move / MOVES) * HAND_PERIOD_MS +
                          moves[device->move % MOVES].at_ms
                    : UINT64_MAX;
}

void tendon_simulated_fjorden_tick(tendon_simulated_fjorden *device, uint64_t now) {
    tendon_simulated_fjorden_go_if_due(device, now);
    (void)gestures(device, TENDON_FJORDEN_CONTROL_NONE, 0, now);
    uint64_t at = next_move(device);
    for (int i = 0; i < MOVES && at <= now; i++, at = next_move(device)) {
        (void)gestures(device, (tendon_fjorden_control)moves[device->move % MOVES].control,
                       moves[device->move % MOVES].value, at);
        device->move++;
    }
    tendon_simulated_fjorden_flush(device, now);
    for (int i = 0; i < RECORDS_PER_TICK && device->options.flat_out && may_go_on(device); i++) {
        make_record(device, CODE_TURN, 1, device->counters.records);
        tendon_simulated_fjorden_flush(device, now);
    }
}

uint64_t tendon_simulated_fjorden_deadline(const tendon_simulated_fjorden *device) {
    uint64_t due = tendon_fjorden_gesture_deadline(&device->gestures);
    uint64_t at = next_move(device);
    due = at < due ? at : due;
    due = device->gone_at < due ? device->gone_at : due;
    if (device->options.flat_out && may_go_on(device)) {
        due = 0;
    }
    if (device->response_count > 0 && !device->confirming && !device->outboxes[device->responses[0].central].held) {
        due = 0;
    }
    return due;
}
