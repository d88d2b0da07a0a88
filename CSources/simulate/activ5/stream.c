/* SPDX-License-Identifier: MIT */
/* Simulated Activ5 trainer: samples, sending, and the time after which it switches itself off. */
#include "activ5_parts.h"

/** Sample times that one tick makes at most, so that a link that takes everything does not hold the host. */
#define SAMPLES_PER_TICK 64
#define SWITCH_OFF_MS 420000u /* 7 minutes */

enum {
    SAMPLE_BITS = 1u << TENDON_SIMULATED_ACTIV5_FORCE | 1u << TENDON_SIMULATED_ACTIV5_IMU |
                  1u << TENDON_SIMULATED_ACTIV5_TIMESTAMP
};

uint64_t tendon_simulated_activ5_clock(const tendon_simulated_activ5 *device) {
    if (device->options.flat_out) {
        return device->device_ms;
    }
    return device->now > device->clock_base ? device->now - device->clock_base : 0;
}

bool tendon_simulated_activ5_gets(const tendon_simulated_activ5 *device, size_t central, unsigned characteristic) {
    const tendon_simulated_central *place = &device->centrals.places[central];
    return place->used && tendon_simulated_activ5_has(device, characteristic) &&
           tendon_simulated_activ5_is_open(device, central) &&
           (tendon_gatt_connection_cccd(&place->connection, device->handles[characteristic]) & 1u) != 0;
}

static bool exhausted(const tendon_simulated_activ5 *device) {
    return device->options.notification_limit != 0 &&
           device->counters.notifications >= device->options.notification_limit;
}

static bool streams(const tendon_simulated_activ5 *device) {
    return device->next_force != UINT64_MAX || device->next_imu != UINT64_MAX;
}

static void schedule(uint64_t *next, bool wanted, uint64_t due) {
    if (!wanted) {
        *next = UINT64_MAX;
    } else if (*next == UINT64_MAX) {
        *next = due;
    }
}

void tendon_simulated_activ5_update(tendon_simulated_activ5 *device) {
    bool force = false, imu = false, before = streams(device);
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS && !device->off && !exhausted(device); i++) {
        force = force || device->outboxes[i].isometric ||
                tendon_simulated_activ5_gets(device, i, TENDON_SIMULATED_ACTIV5_FORCE) ||
                tendon_simulated_activ5_gets(device, i, TENDON_SIMULATED_ACTIV5_TIMESTAMP);
        imu = imu || tendon_simulated_activ5_gets(device, i, TENDON_SIMULATED_ACTIV5_IMU);
    }
    uint64_t clock = tendon_simulated_activ5_clock(device);
    schedule(&device->next_force, force, clock + device->force_period);
    schedule(&device->next_imu, imu, clock + device->imu_period);
    if (before && !streams(device)) {
        device->idle_since = device->now;
    }
}

void tendon_simulated_activ5_power(tendon_simulated_activ5 *device, bool on) {
    device->off = !on;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS && !on; i++) {
        if (device->centrals.places[i].used) {
            tendon_att_bearer_close(device->centrals.places[i].connection.bearer); /* the host closes the link */
        }
    }
    tendon_simulated_activ5_update(device);
}

/* ---- samples ---- */

/** Whether this value is to be malformed; counts it off. */
static bool take_malformed(tendon_simulated_activ5 *device, bool imu) {
    bool hit = device->malformed_next > 0 && (device->malformed_kind == TENDON_ACTIV5_MALFORM_SHORT_IMU) == imu;
    device->malformed_next -= hit ? 1 : 0;
    return hit;
}

static void offer(tendon_simulated_activ5 *device, unsigned characteristic) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (tendon_simulated_activ5_gets(device, i, characteristic)) {
            device->outboxes[i].waiting =
                (uint16_t)(device->outboxes[i].waiting | tendon_simulated_activ5_bit(characteristic));
        }
    }
}

static void make_force(tendon_simulated_activ5 *device) {
    int32_t raw = tendon_simulated_activ5_raw(device, device->device_ms);
    tendon_writer out = tendon_writer_make(device->force, sizeof device->force);
    tendon_write_u16le(&out, (uint16_t)(int16_t)raw);
    device->force_length = 2;
    device->sample_malformed = take_malformed(device, false);
    if (device->sample_malformed && device->malformed_kind == TENDON_ACTIV5_MALFORM_GARBAGE) {
        device->force_length = sizeof device->force;
        for (size_t i = 0; i < sizeof device->force; i++) {
            device->force[i] = tendon_simulated_activ5_noise(device);
        }
    } else if (device->sample_malformed) {
        device->force_length = device->malformed_kind == TENDON_ACTIV5_MALFORM_EMPTY ? 0 : 1;
    }
    tendon_writer time = tendon_writer_make(device->time, sizeof device->time);
    tendon_write_u32le(&time, tendon_simulated_activ5_ticks(device, device->device_ms));
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (device->outboxes[i].isometric) {
            tendon_simulated_activ5_force_text(device, i, raw);
        }
    }
    offer(device, TENDON_SIMULATED_ACTIV5_FORCE);
    offer(device, TENDON_SIMULATED_ACTIV5_TIMESTAMP);
    device->next_force += device->force_period;
}

static void make_imu(tendon_simulated_activ5 *device) {
    tendon_simulated_activ5_write_imu(device, device->device_ms, device->imu);
    device->imu_length = (uint8_t)(sizeof device->imu - (take_malformed(device, true) ? 1 : 0));
    offer(device, TENDON_SIMULATED_ACTIV5_IMU);
    device->next_imu += device->imu_period;
}

static uint64_t next_sample(const tendon_simulated_activ5 *device) {
    return device->next_force < device->next_imu ? device->next_force : device->next_imu;
}

static void make_sample(tendon_simulated_activ5 *device) {
    device->device_ms = next_sample(device);
    if (device->next_force == device->device_ms) {
        make_force(device);
    }
    if (device->next_imu == device->device_ms) {
        make_imu(device);
    }
}

/* ---- sending ---- */

static void count(tendon_simulated_activ5 *device, unsigned characteristic, unsigned kind) {
    tendon_simulated_activ5_counters *counters = &device->counters;
    if (characteristic == TENDON_SIMULATED_ACTIV5_BATTERY || kind == ACTIV5_PART) {
        return;
    }
    if (characteristic == TENDON_SIMULATED_ACTIV5_TEXT && kind == ACTIV5_REPLY) {
        counters->texts++;
        return;
    }
    bool imu = characteristic == TENDON_SIMULATED_ACTIV5_IMU;
    bool force = characteristic == TENDON_SIMULATED_ACTIV5_FORCE || characteristic == TENDON_SIMULATED_ACTIV5_TEXT;
    counters->notifications++;
    counters->force += force ? 1 : 0;
    counters->motion += imu ? 1 : 0;
    counters->malformed += (force && device->sample_malformed) || (imu && device->imu_length < 16) ? 1 : 0;
}

/** False: the link is full. */
static bool send_texts(tendon_simulated_activ5 *device, tendon_gatt_connection *connection,
                       tendon_simulated_activ5_central *outbox) {
    while (outbox->text_count > 0) {
        const tendon_simulated_activ5_text *text = &outbox->texts[0];
        tendon_status status =
            tendon_gatt_notify(connection, device->handles[TENDON_SIMULATED_ACTIV5_TEXT], text->bytes, text->length);
        if (status == TENDON_ERROR_WOULD_BLOCK) {
            return false;
        }
        if (status == TENDON_OK) {
            count(device, TENDON_SIMULATED_ACTIV5_TEXT, text->kind);
        }
        outbox->text_count--;
        for (size_t i = 0; i < outbox->text_count; i++) {
            outbox->texts[i] = outbox->texts[i + 1];
        }
    }
    return true;
}

static bool send_values(tendon_simulated_activ5 *device, tendon_gatt_connection *connection,
                        tendon_simulated_activ5_central *outbox) {
    for (unsigned c = 0; c < TENDON_SIMULATED_ACTIV5_CHARACTERISTICS; c++) {
        bool sample = (SAMPLE_BITS >> c & 1u) != 0;
        if ((outbox->waiting & tendon_simulated_activ5_bit(c)) == 0) {
            continue;
        }
        const uint8_t *value = &device->battery;
        size_t length = 1;
        if (c == TENDON_SIMULATED_ACTIV5_FORCE) {
            value = device->force;
            length = device->force_length;
        } else if (c == TENDON_SIMULATED_ACTIV5_IMU) {
            value = device->imu;
            length = device->imu_length;
        } else if (c == TENDON_SIMULATED_ACTIV5_TIMESTAMP) {
            value = device->time;
            length = sizeof device->time;
        }
        if (!sample || !exhausted(device)) {
            tendon_status status = tendon_gatt_notify(connection, device->handles[c], value, length);
            if (status == TENDON_ERROR_WOULD_BLOCK) {
                return false;
            }
            if (status == TENDON_OK) {
                count(device, c, ACTIV5_FORCE_TEXT);
            }
        }
        outbox->waiting = (uint16_t)(outbox->waiting & ~tendon_simulated_activ5_bit(c));
    }
    return true;
}

void tendon_simulated_activ5_flush(tendon_simulated_activ5 *device) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        tendon_simulated_central *place = &device->centrals.places[i];
        tendon_simulated_activ5_central *outbox = &device->outboxes[i];
        if (place->used) {
            bool sent =
                send_texts(device, &place->connection, outbox) && send_values(device, &place->connection, outbox);
            device->counters.blocked += !sent && !outbox->held ? 1 : 0;
            outbox->held = !sent;
        }
    }
}

/** True while a central has not got all of the last sample. */
static bool pending(const tendon_simulated_activ5 *device) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        const tendon_simulated_activ5_central *outbox = &device->outboxes[i];
        if (device->centrals.places[i].used && (outbox->text_count > 0 || (outbox->waiting & SAMPLE_BITS) != 0)) {
            return true;
        }
    }
    return false;
}

/* ---- time ---- */

/** Returns the time at which it switches itself off. */
static uint64_t switch_off_time(const tendon_simulated_activ5 *device) {
    uint32_t wait = device->options.switch_off_ms != 0 ? device->options.switch_off_ms : SWITCH_OFF_MS;
    bool counts = device->centrals.count > 0 && !device->off && !streams(device) && wait != UINT32_MAX;
    return counts ? device->idle_since + wait : UINT64_MAX;
}

static uint64_t sample_time(const tendon_simulated_activ5 *device) {
    uint64_t next = next_sample(device);
    if (next == UINT64_MAX || pending(device)) { /* pending: a link is full, writable() continues */
        return UINT64_MAX;
    }
    return device->options.flat_out ? 0 : device->clock_base + next;
}

void tendon_simulated_activ5_tick(tendon_simulated_activ5 *device, uint64_t now) {
    device->now = now;
    tendon_simulated_activ5_flush(device);
    if (switch_off_time(device) <= now) {
        device->counters.switch_offs++;
        tendon_simulated_activ5_power(device, false);
    }
    for (int i = 0; i < SAMPLES_PER_TICK && sample_time(device) <= now; i++) {
        if (exhausted(device)) {
            tendon_simulated_activ5_update(device);
            break;
        }
        make_sample(device);
        tendon_simulated_activ5_flush(device);
    }
}

/** Returns true while a PDU is pending that no blocked connection delays: texts follow the response to the command that
 * requested them. */
static bool unsent(const tendon_simulated_activ5 *device) {
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        const tendon_simulated_activ5_central *outbox = &device->outboxes[i];
        if (device->centrals.places[i].used && !outbox->held && (outbox->text_count > 0 || outbox->waiting != 0)) {
            return true;
        }
    }
    return false;
}

uint64_t tendon_simulated_activ5_deadline(const tendon_simulated_activ5 *device) {
    if (unsent(device)) {
        return 0;
    }
    uint64_t sample = sample_time(device), off = switch_off_time(device);
    return sample < off ? sample : off;
}
