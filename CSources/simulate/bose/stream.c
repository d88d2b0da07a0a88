/* SPDX-License-Identifier: MIT */
/*
 * Simulated Bose wearable: unsolicited notifications. Samples are made one time after the other into one buffer; it is
 * refilled only after every subscribed central has received it, so a blocked connection delays the stream and loses no
 * sample.
 */
#include "bose_parts.h"

/** Sample times that one tick makes at most, so that a link that takes everything does not hold the host. */
#define SAMPLES_PER_TICK 64

uint64_t tendon_simulated_bose_clock(const tendon_simulated_bose *device, uint64_t now) {
    if (device->options.flat_out) {
        return device->device_ms;
    }
    return now > device->clock_base ? now - device->clock_base : 0;
}

static void drop_pending(tendon_simulated_bose *device) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        device->outboxes[i].waiting = false;
    }
    device->pending_length = 0;
    device->pending_samples = 0;
    device->pending_complete = false;
    device->pending_malformed = false;
}

void tendon_simulated_bose_reset(tendon_simulated_bose *device) {
    memset(device->periods, 0, sizeof device->periods);
    memset(device->outboxes, 0, sizeof device->outboxes);
    device->gestures_enabled = 0;
    device->next_sample = UINT64_MAX;
    drop_pending(device);
}

/** Sends the samples made so far to the subscribed centrals. */
static void complete(tendon_simulated_bose *device) {
    device->pending_complete = true;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        const tendon_simulated_central *place = &device->centrals.places[i];
        device->outboxes[i].sent = 0;
        device->outboxes[i].waiting =
            place->used &&
            (tendon_gatt_connection_cccd(&place->connection, device->handles[BOSE_SENSOR_DATA]) & 1u) != 0;
    }
}

void tendon_simulated_bose_update_stream(tendon_simulated_bose *device, bool restart, uint64_t now) {
    uint16_t period = tendon_simulated_bose_period(device);
    bool subscribed = tendon_simulated_centrals_subscribed(&device->centrals, device->handles[BOSE_SENSOR_DATA], 1);
    if (period == 0 || !subscribed || (device->status & STATUS_SUSPENDED) != 0) {
        device->next_sample = UINT64_MAX;
        if (device->pending_samples != 0 && !device->pending_complete) {
            complete(device); /* samples that wait for company go out alone */
        }
    } else if (restart || device->next_sample == UINT64_MAX) {
        device->next_sample = device->options.flat_out ? 0 : now + period;
    }
}

/* ---- malformed notifications ---- */

static uint8_t noise(tendon_simulated_bose *device) {
    uint32_t state = device->noise;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    device->noise = state;
    return (uint8_t)(state >> 24);
}

/** Corrupts the well-formed records of one sample time in @p out. */
static void spoil(tendon_simulated_bose *device, tendon_writer *out) {
    uint8_t *data = device->pending;
    switch (device->malformed_kind) {
    case TENDON_BOSE_MALFORM_EMPTY:
        out->length = 0;
        break;
    case TENDON_BOSE_MALFORM_CUT_HEADER: /* the good records, then two bytes of a header */
        tendon_write_u8(out, 0);
        tendon_write_u8(out, (uint8_t)(device->device_ms >> 8 & 0xFFu));
        break;
    case TENDON_BOSE_MALFORM_CUT_PAYLOAD:
        out->length -= 1;
        break;
    case TENDON_BOSE_MALFORM_UNKNOWN_SENSOR:
        data[0] = 0x7E;
        break;
    case TENDON_BOSE_MALFORM_BAD_ACCURACY: /* an accelerometer record alone */
        out->length = 0;
        tendon_simulated_bose_write_record(out, 0, device->device_ms);
        data[9] = 7;
        break;
    default:
        out->length = 0;
        for (int i = 0; i < 20; i++) {
            tendon_write_u8(out, noise(device));
        }
        break;
    }
}

/* ---- samples ---- */

static void write_sample(const tendon_simulated_bose *device, tendon_writer *out) {
    for (size_t id = 0; id < TENDON_SIMULATED_BOSE_SENSORS; id++) {
        if (device->periods[id] != 0) {
            tendon_simulated_bose_write_record(out, id, device->device_ms);
        }
    }
}

/** One sample time; the stream runs and nothing complete is pending. */
static void make_sample(tendon_simulated_bose *device) {
    uint16_t period = tendon_simulated_bose_period(device);
    if (device->options.flat_out) {
        device->device_ms += period;
    } else {
        device->device_ms = device->next_sample - device->clock_base;
        device->next_sample += period;
    }
    tendon_writer out = tendon_writer_make(device->pending, sizeof device->pending);
    out.length = device->pending_length;
    size_t before = out.length;
    write_sample(device, &out);
    if (device->malformed_next > 0 && before == 0) {
        device->malformed_next--;
        spoil(device, &out);
        device->pending_malformed = true;
    }
    device->pending_samples++;
    device->pending_length = (uint16_t)out.length;
    size_t one = out.length - before;
    if (device->pending_malformed || sizeof device->pending - out.length < one ||
        device->pending_samples >= tendon_simulated_bose_samples_together(device, period)) {
        complete(device);
    }
}

/* ---- sending ---- */

static bool exhausted(const tendon_simulated_bose *device) {
    return device->options.notification_limit != 0 &&
           device->counters.notifications >= device->options.notification_limit;
}

/** Whole records from @p sent on that fit into one notification; @p records receives how many. */
static size_t next_chunk(const tendon_simulated_bose *device, size_t sent, size_t room, size_t *records) {
    size_t length = 0;
    *records = 0;
    while (sent + length < device->pending_length) {
        size_t record = 3u + tendon_simulated_bose_sensors[device->pending[sent + length]].length;
        if (length + record > room) {
            break;
        }
        length += record;
        (*records)++;
    }
    return length;
}

/** The pending records to one central. False: its link is full. */
static bool send_records(tendon_simulated_bose *device, tendon_gatt_connection *connection,
                         tendon_simulated_bose_outbox *outbox) {
    while (outbox->waiting) {
        if (exhausted(device)) {
            outbox->waiting = false;
            break;
        }
        size_t records = 0;
        size_t length = device->pending_malformed
                            ? device->pending_length
                            : next_chunk(device, outbox->sent, (size_t)connection->bearer->mtu - 3, &records);
        tendon_status status =
            tendon_gatt_notify(connection, device->handles[BOSE_SENSOR_DATA], device->pending + outbox->sent, length);
        if (status == TENDON_ERROR_WOULD_BLOCK) {
            return false;
        }
        if (status == TENDON_OK) {
            device->counters.notifications++;
            device->counters.samples += records;
            device->counters.malformed += device->pending_malformed ? 1 : 0;
            outbox->sent = (uint16_t)(outbox->sent + length);
        }
        /* any other status: it unsubscribed or its link is lost, the rest is not needed */
        outbox->waiting = status == TENDON_OK && outbox->sent < device->pending_length;
    }
    return true;
}

/** Changed values and gestures to one central. False: its link is full. */
static bool send_events(tendon_simulated_bose *device, tendon_gatt_connection *connection,
                        tendon_simulated_bose_outbox *outbox) {
    for (unsigned bit = 0; bit < BOSE_CHARACTERISTICS; bit++) {
        if (((uint32_t)outbox->dirty >> bit & 1u) == 0) {
            continue;
        }
        uint8_t value[32];
        size_t length = tendon_simulated_bose_value(device, bit, connection->bonded, value, sizeof value);
        if (tendon_gatt_notify(connection, device->handles[bit], value, length) == TENDON_ERROR_WOULD_BLOCK) {
            return false;
        }
        outbox->dirty = (uint8_t)(outbox->dirty & ~(1u << bit));
    }
    while (outbox->gesture_count > 0) {
        tendon_status status =
            tendon_gatt_notify(connection, device->handles[BOSE_GESTURE_DATA], outbox->gestures[0], 3);
        if (status == TENDON_ERROR_WOULD_BLOCK) {
            return false;
        }
        device->counters.gestures += status == TENDON_OK ? 1 : 0;
        outbox->gesture_count--;
        for (size_t i = 0; i < outbox->gesture_count; i++) {
            memcpy(outbox->gestures[i], outbox->gestures[i + 1], 3);
        }
    }
    return true;
}

void tendon_simulated_bose_flush(tendon_simulated_bose *device) {
    bool waiting = false;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        tendon_simulated_central *place = &device->centrals.places[i];
        tendon_simulated_bose_outbox *outbox = &device->outboxes[i];
        if (!place->used) {
            continue;
        }
        bool sent = send_events(device, &place->connection, outbox) && send_records(device, &place->connection, outbox);
        device->counters.blocked += !sent && !outbox->held ? 1 : 0;
        outbox->held = !sent;
        waiting = waiting || outbox->waiting;
    }
    if (device->pending_complete && !waiting) {
        drop_pending(device);
    }
}

void tendon_simulated_bose_announce(tendon_simulated_bose *device, unsigned characteristic, tendon_status except) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (device->centrals.places[i].used && (tendon_status)i != except) {
            device->outboxes[i].dirty = (uint8_t)(device->outboxes[i].dirty | 1u << characteristic);
        }
    }
    tendon_simulated_bose_flush(device);
}

void tendon_simulated_bose_tick(tendon_simulated_bose *device, uint64_t now) {
    tendon_simulated_bose_flush(device);
    for (int i = 0; i < SAMPLES_PER_TICK && !device->pending_complete && device->next_sample <= now; i++) {
        if (exhausted(device)) {
            device->next_sample = UINT64_MAX;
            break;
        }
        make_sample(device);
        tendon_simulated_bose_flush(device);
    }
}

void tendon_simulated_bose_writable(tendon_simulated_bose *device, uint64_t now) {
    tendon_simulated_bose_tick(device, now);
}

/** Complete records wait for links that are full: writable() continues. */
static bool is_blocked(const tendon_simulated_bose *device) {
    bool blocked = false;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        const tendon_simulated_bose_outbox *outbox = &device->outboxes[i];
        bool waiting = device->centrals.places[i].used && outbox->waiting;
        if (waiting && !outbox->held) {
            return false;
        }
        blocked = blocked || waiting;
    }
    return blocked;
}

uint64_t tendon_simulated_bose_deadline(const tendon_simulated_bose *device) {
    if (!device->pending_complete) {
        return device->next_sample;
    }
    return is_blocked(device) ? UINT64_MAX : 0; /* 0: completed by a subscription that has ended, not sent yet */
}
