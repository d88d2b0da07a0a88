/* SPDX-License-Identifier: MIT */
/*
 * Simulated naviBelt: sending. Notifications are queued in order until the connection accepts them. Orientations are
 * made only if the queue is empty, so a full connection delays them and loses none.
 */
#include "feelspace_parts.h"

/** Notifications that one tick makes at most, so that a link that takes everything does not hold the host. */
#define PER_TICK 64
#define RAW_PERIOD_MS 50
/** Between the last notification and the end of the link: both a response and the notification arrive. */
#define LEAVING_MS 50

/** The shortest notification of each characteristic that a client can use. */
static const uint8_t needed[BELT_CHARACTERISTICS] = {
    [BELT_FIRMWARE] = 1, [BELT_KEEP_ALIVE] = 2,  [BELT_BUTTON] = 5,       [BELT_PARAMETER] = 3,
    [BELT_BATTERY] = 5,  [BELT_SENSOR_DATA] = 2, [BELT_ORIENTATION] = 16, [BELT_DEBUG_OUTPUT] = 5,
};

uint16_t tendon_simulated_feelspace_heading(const tendon_simulated_feelspace *belt, uint64_t now) {
    uint64_t turned = now > belt->turn_since ? (now - belt->turn_since) * belt->turn / 1000 : 0;
    uint64_t steps = belt->options.flat_out ? belt->counters.orientations : 0;
    return (uint16_t)((belt->heading + turned + steps) % 360);
}

static void write_battery(const tendon_simulated_feelspace *belt, tendon_writer *out) {
    bool on_battery = belt->power_status == 1;
    tendon_write_u8(out, belt->power_status);
    tendon_write_u16le(out, belt->battery_level);
    tendon_write_u16le(out, belt->battery_time);
    tendon_write_u16le(out, on_battery ? (uint16_t)-120 : 120); /* mA */
    tendon_write_u16le(out, 3900);                              /* mV */
    if (belt->options.generation == TENDON_FEELSPACE_GENERATION_NEWER) {
        tendon_write_u16le(out, 25 * 256 + 128); /* 25.5 degrees C */
        tendon_write_u16le(out, belt->battery_level);
    }
}

size_t tendon_simulated_feelspace_value(const tendon_simulated_feelspace *belt, unsigned characteristic, uint8_t *out,
                                        size_t capacity) {
    tendon_writer writer = tendon_writer_make(out, capacity);
    if (characteristic == BELT_FIRMWARE) {
        tendon_write_u16le(&writer, belt->options.firmware);
        if (belt->options.generation == TENDON_FEELSPACE_GENERATION_NEWER) {
            tendon_write_u8(&writer, belt->options.variant);
        }
    } else if (characteristic == BELT_BATTERY) {
        write_battery(belt, &writer);
    }
    return writer.length;
}

/* ---- the queue ---- */

static tendon_simulated_central *central_of(tendon_simulated_feelspace *belt) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (belt->centrals.places[i].used) {
            return &belt->centrals.places[i];
        }
    }
    return NULL;
}

bool tendon_simulated_feelspace_listens(const tendon_simulated_feelspace *belt, unsigned characteristic) {
    return belt->handles[characteristic] != 0 &&
           tendon_simulated_centrals_subscribed(&belt->centrals, belt->handles[characteristic], 1);
}

void tendon_simulated_feelspace_flush(tendon_simulated_feelspace *belt) {
    tendon_simulated_central *central = central_of(belt);
    while (central != NULL && belt->queue_count > 0) {
        const tendon_simulated_feelspace_outgoing *next = &belt->queue[belt->queue_head];
        tendon_status status =
            tendon_gatt_notify(&central->connection, belt->handles[next->characteristic], next->bytes, next->length);
        if (status == TENDON_ERROR_WOULD_BLOCK) {
            belt->counters.blocked += belt->held ? 0 : 1;
            belt->held = true;
            return;
        }
        if (status == TENDON_OK) { /* else: it unsubscribed, or its link is lost */
            belt->counters.notifications++;
            belt->counters.orientations += next->characteristic == BELT_ORIENTATION ? 1 : 0;
            belt->counters.raw_samples += next->characteristic == BELT_SENSOR_DATA ? 1 : 0;
        }
        belt->queue_head = (uint8_t)((belt->queue_head + 1u) % TENDON_SIMULATED_FEELSPACE_QUEUE);
        belt->queue_count--;
    }
    belt->held = false;
}

/** Makes the notification in @p item malformed in the requested way. */
static void spoil(tendon_simulated_feelspace *belt, tendon_simulated_feelspace_outgoing *item) {
    static const uint8_t wrong_at[BELT_CHARACTERISTICS] = {[BELT_KEEP_ALIVE] = 1, [BELT_PARAMETER] = 2};
    belt->malformed_next--;
    belt->counters.malformed++;
    switch (belt->malformed_kind) {
    case TENDON_FEELSPACE_MALFORM_EMPTY:
        item->length = 0;
        break;
    case TENDON_FEELSPACE_MALFORM_CUT:
        item->length = (uint8_t)(needed[item->characteristic] - 1);
        break;
    case TENDON_FEELSPACE_MALFORM_BAD_VALUE: /* a mode, button or parameter that no belt knows */
        item->bytes[wrong_at[item->characteristic]] = 0xEE;
        break;
    default:
        for (size_t i = 0; i < sizeof item->bytes; i++) {
            item->bytes[i] = (uint8_t)(0x9Du * (i + 1) + 0x35u * belt->counters.malformed);
        }
        item->length = sizeof item->bytes;
        break;
    }
}

void tendon_simulated_feelspace_notify(tendon_simulated_feelspace *belt, unsigned characteristic, const uint8_t *value,
                                       size_t length) {
    if (!tendon_simulated_feelspace_listens(belt, characteristic)) {
        return;
    }
    if (belt->queue_count == TENDON_SIMULATED_FEELSPACE_QUEUE) {
        belt->counters.notifications_lost++;
        return;
    }
    size_t place = ((size_t)belt->queue_head + belt->queue_count) % TENDON_SIMULATED_FEELSPACE_QUEUE;
    tendon_simulated_feelspace_outgoing *item = &belt->queue[place];
    item->characteristic = (uint8_t)characteristic;
    item->length = (uint8_t)(length < sizeof item->bytes ? length : sizeof item->bytes);
    memcpy(item->bytes, value, item->length);
    if (belt->malformed_next > 0) {
        spoil(belt, item);
    }
    belt->queue_count++;
    if (!belt->writing) { /* a notification follows the response to its request: with the next tick */
        tendon_simulated_feelspace_flush(belt);
    }
}

void tendon_simulated_feelspace_tell(tendon_simulated_feelspace *belt, uint8_t parameter) {
    uint8_t bytes[20];
    tendon_writer out = tendon_writer_make(bytes, sizeof bytes);
    tendon_write_u8(&out, BASIC);
    tendon_write_u8(&out, parameter);
    if (parameter == BASIC_MODE) {
        tendon_write_u8(&out, belt->mode);
    } else if (parameter == BASIC_INTENSITY) {
        tendon_write_u8(&out, belt->settings.intensity);
    } else if (parameter == BASIC_HEADING_OFFSET) {
        tendon_write_u16le(&out, belt->settings.heading_offset);
    } else {
        size_t whole = tendon_simulated_text_length(belt->name, sizeof belt->name);
        size_t prefix = whole < PREFIX ? whole : PREFIX;
        size_t suffix = whole - prefix;
        tendon_write_bytes(&out, belt->name + prefix, suffix < NAME_MOST ? suffix : NAME_MOST);
    }
    tendon_simulated_feelspace_notify(belt, BELT_PARAMETER, bytes, out.length);
}

void tendon_simulated_feelspace_hang_up(tendon_simulated_feelspace *belt, uint64_t now) {
    if (belt->centrals.count > 0) {
        belt->leave_at = now + LEAVING_MS;
    }
}

static void leave(tendon_simulated_feelspace *belt) {
    tendon_simulated_central *central = central_of(belt);
    tendon_simulated_feelspace_quiet(belt);
    if (central != NULL) {
        tendon_att_bearer_close(central->connection.bearer); /* the host closes the link */
        belt->counters.disconnects++;
    }
}

/* ---- unsolicited notifications ---- */

void tendon_simulated_feelspace_quiet(tendon_simulated_feelspace *belt) {
    belt->next_keep_alive = belt->next_orientation = belt->next_raw = belt->unanswered_since = UINT64_MAX;
    belt->leave_at = UINT64_MAX;
    belt->queue_head = belt->queue_count = 0;
    belt->held = false;
}

void tendon_simulated_feelspace_subscribed(tendon_simulated_feelspace *belt, unsigned characteristic, bool on,
                                           uint64_t now) {
    if (characteristic == BELT_KEEP_ALIVE) {
        belt->next_keep_alive = on ? now + belt->options.keep_alive_ms : UINT64_MAX;
        belt->unanswered_since = UINT64_MAX;
    } else if (characteristic == BELT_ORIENTATION) {
        uint64_t period = belt->options.flat_out ? 0 : belt->settings.orientation_period_ms;
        belt->next_orientation = on ? now + period : UINT64_MAX;
    } else if (characteristic == BELT_SENSOR_DATA && !on) {
        belt->next_raw = UINT64_MAX;
    }
}

static void send_orientation(tendon_simulated_feelspace *belt, uint64_t now) {
    uint8_t bytes[16];
    tendon_writer out = tendon_writer_make(bytes, sizeof bytes);
    uint16_t heading = tendon_simulated_feelspace_heading(belt, now);
    int signed_heading = heading > 180 ? heading - 360 : heading;
    uint16_t on_wire = (uint16_t)signed_heading;
    tendon_write_u8(&out, 2); /* the fusion's */
    tendon_write_u16le(&out, on_wire);
    tendon_write_u16le(&out, (uint16_t)(signed_heading - belt->settings.heading_offset)); /* of the control box */
    tendon_write_u16le(&out, 2);                                                          /* its roll */
    tendon_write_u16le(&out, (uint16_t)-6);                                               /* and pitch */
    tendon_write_u16le(&out, belt->inaccurate ? 40 : 5);
    for (int i = 0; i < 4; i++) {
        tendon_write_u8(&out, belt->inaccurate ? 1 : 3);
    }
    tendon_write_u8(&out, belt->inaccurate ? 1 : 0);
    tendon_simulated_feelspace_notify(belt, BELT_ORIENTATION, bytes, out.length);
}

static bool exhausted(const tendon_simulated_feelspace *belt) {
    return belt->options.notification_limit != 0 && belt->counters.orientations >= belt->options.notification_limit;
}

static void make_orientations(tendon_simulated_feelspace *belt, uint64_t now) {
    for (int i = 0; i < PER_TICK && belt->queue_count == 0 && belt->next_orientation <= now; i++) {
        if (exhausted(belt)) {
            belt->next_orientation = UINT64_MAX;
            return;
        }
        uint64_t due = belt->options.flat_out ? now : belt->next_orientation;
        belt->next_orientation += belt->options.flat_out ? 0 : belt->settings.orientation_period_ms;
        send_orientation(belt, due);
    }
}

/** Two records of the raw stream: an acceleration and a magnetic field. */
static void send_raw(tendon_simulated_feelspace *belt, uint64_t now) {
    uint8_t bytes[16];
    tendon_writer out = tendon_writer_make(bytes, sizeof bytes);
    tendon_write_u8(&out, 0x01);
    tendon_write_u8(&out, belt->raw_sequence);
    belt->raw_sequence = (uint8_t)(belt->raw_sequence + 1u);
    for (uint8_t sensor = 0; sensor < 2; sensor++) {
        tendon_write_u8(&out, sensor);
        tendon_write_u16le(&out, tendon_simulated_feelspace_heading(belt, now));
        tendon_write_u16le(&out, 0);
        tendon_write_u16le(&out, 1000);
    }
    belt->next_raw = now + RAW_PERIOD_MS;
    tendon_simulated_feelspace_notify(belt, BELT_SENSOR_DATA, bytes, out.length);
}

static void send_keep_alive(tendon_simulated_feelspace *belt, uint64_t now) {
    const uint8_t bytes[2] = {0x00, belt->mode};
    belt->next_keep_alive = now + belt->options.keep_alive_ms;
    if (belt->deaf) {
        return;
    }
    belt->counters.keep_alives++;
    if (belt->unanswered_since == UINT64_MAX) {
        belt->unanswered_since = now;
    }
    tendon_simulated_feelspace_notify(belt, BELT_KEEP_ALIVE, bytes, sizeof bytes);
}

static uint64_t given_up_at(const tendon_simulated_feelspace *belt) {
    return belt->unanswered_since == UINT64_MAX ? UINT64_MAX : belt->unanswered_since + belt->options.patience_ms;
}

void tendon_simulated_feelspace_tick(tendon_simulated_feelspace *belt, uint64_t now) {
    tendon_simulated_feelspace_flush(belt);
    if (now >= belt->pairing_until) {
        belt->pairing_until = 0;
    }
    if (now >= belt->leave_at || now >= given_up_at(belt)) {
        leave(belt);
        return;
    }
    if (now >= belt->next_keep_alive) {
        send_keep_alive(belt, now);
    }
    if (now >= belt->next_raw) {
        send_raw(belt, now);
    }
    make_orientations(belt, now);
}

uint64_t tendon_simulated_feelspace_deadline(const tendon_simulated_feelspace *belt) {
    if (belt->queue_count > 0 && !belt->held) {
        return 0;
    }
    /* What is held is there only because the link is full: writable() continues with it, and with orientations. */
    uint64_t due = belt->held ? UINT64_MAX : belt->next_orientation;
    const uint64_t pairing_until = belt->pairing_until != 0 ? belt->pairing_until : UINT64_MAX;
    const uint64_t others[] = {pairing_until, belt->next_keep_alive, belt->next_raw, belt->leave_at, given_up_at(belt)};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        due = others[i] < due ? others[i] : due;
    }
    return due;
}
