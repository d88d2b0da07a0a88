/* SPDX-License-Identifier: MIT */
/* Simulated Obvious device: power, bootloader and restarts. */
#include "obvious_parts.h"

enum { REASON_FIRMWARE = 3, DRAIN_MS = 1000, REBOOT_DELAY_MS = 100, MODE_TRIAL = 1 };

/* ---- the bootloader ---- */

static bool is_valid(tendon_simulated_obvious *device, uint8_t slot) {
    const tendon_simulated_obvious_slot *image = &device->boot.slots[slot];
    const tendon_obvious_crypto *crypto = &device->options.keys->crypto;
    uint8_t hash[TENDON_OBVIOUS_SHA256_SIZE];
    if (image->state == SLOT_EMPTY || image->size > device->options.image_max) {
        return false;
    }
    crypto->sha256(crypto->context,
                   device->options.flash->memory + (size_t)device->slot_page[slot] * device->options.flash->page_size,
                   image->size, hash);
    return memcmp(hash, image->sha256, sizeof hash) == 0;
}

/* The image that was on trial is not booted again. */
static uint8_t roll_back(tendon_simulated_obvious *device) {
    tendon_simulated_obvious_boot boot = device->boot;
    boot.trial = 0;
    boot.boots = 0;
    boot.trial_since = 0;
    boot.slots[boot.active ^ 1].state = SLOT_EMPTY;
    device->counters.rollbacks++;
    return tendon_simulated_obvious_write_boot(device, &boot);
}

/* Counts a boot of the image on trial. True if it may be booted. */
static bool may_try(tendon_simulated_obvious *device, uint64_t now) {
    tendon_simulated_obvious_boot boot = device->boot;
    if (boot.trial == 0) {
        return false;
    }
    if (boot.trial_since > now) { /* the host's clock has started again */
        boot.trial_since = device->boot.trial_since = now;
    }
    bool failed =
        boot.boots >= TENDON_SIMULATED_OBVIOUS_TRIAL_BOOTS || tendon_simulated_obvious_is_expired(device, now) ||
        (boot.boots > 0 && device->cause == TENDON_SIMULATED_OBVIOUS_WATCHDOG) || !is_valid(device, boot.active ^ 1u);
    if (failed) {
        (void)roll_back(device); /* if it is not written, the next boot does it; this one is of the old image */
        return false;
    }
    boot.trial_since = boot.boots == 0 ? now : boot.trial_since;
    boot.boots++;
    return tendon_simulated_obvious_write_boot(device, &boot) == OK;
}

/* The active image is damaged: the confirmed one before it, else the recovery image. */
static void fall_back(tendon_simulated_obvious *device) {
    tendon_simulated_obvious_boot boot = device->boot;
    uint8_t other = boot.active ^ 1u;
    device->recovery = boot.slots[other].state != SLOT_CONFIRMED || !is_valid(device, other);
    if (!device->recovery) {
        boot.slots[boot.active].state = SLOT_EMPTY;
        boot.active = device->slot = other;
        if (tendon_simulated_obvious_write_boot(device, &boot) != OK) {
            device->boot = boot;
        }
    }
}

static void choose_image(tendon_simulated_obvious *device, uint64_t now) {
    device->recovery = device->next_recovery;
    device->next_recovery = false;
    device->slot = device->boot.active;
    if (device->recovery) {
        return;
    }
    if (may_try(device, now)) {
        device->slot ^= 1;
    } else if (!is_valid(device, device->slot)) {
        fall_back(device);
    }
}

static void boot(tendon_simulated_obvious *device, uint64_t now) {
    tendon_simulated_flash *flash = device->options.flash;
    flash->off = false;
    device->counters.boots++;
    tendon_simulated_obvious_load_slots(device);
    choose_image(device, now);
    tendon_simulated_obvious_load_features(device);
    tendon_simulated_obvious_load_session(device, now);
    if (flash->off) { /* the power was cut again */
        device->counters.power_cuts++;
        device->cause = TENDON_SIMULATED_OBVIOUS_POWER;
        device->down_until = now + device->options.boot_ms;
        return;
    }
    uint32_t former = device->boot_id;
    do {
        device->boot_id = tendon_simulated_obvious_random(device);
    } while (device->boot_id == former);
    device->running = true;
    device->reboot_needed = false;
    device->reboot_at = UINT64_MAX;
    device->announce = 0;
    device->time = 0;
    device->pause_until = 0;
}

void tendon_simulated_obvious_wake(tendon_simulated_obvious *device, uint64_t now) {
    if (device->running && device->options.flash->off) {
        device->counters.power_cuts++;
        tendon_simulated_obvious_go_down(device, TENDON_SIMULATED_OBVIOUS_POWER, now);
    }
    if (!device->running && now >= device->down_until) {
        boot(device, now);
    }
}

void tendon_simulated_obvious_go_down(tendon_simulated_obvious *device, uint8_t cause, uint64_t now) {
    device->running = false;
    device->cause = cause;
    device->down_until = now + device->options.boot_ms;
    device->reboot_at = UINT64_MAX;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (device->centrals.places[i].used) {
            tendon_gatt_connection *connection = &device->centrals.places[i].connection;
            tendon_att_bearer_close(connection->bearer);
            tendon_simulated_obvious_link_open(&device->links[i], device, connection);
        }
    }
}

/* ---- restarts ---- */

void tendon_simulated_obvious_restart(tendon_simulated_obvious *device, uint8_t reason, uint16_t delay_ms,
                                      uint64_t now) {
    uint8_t payload[3];
    tendon_writer writer = tendon_writer_make(payload, sizeof payload);
    tendon_write_u8(&writer, reason);
    tendon_write_u16le(&writer, delay_ms);
    tendon_simulated_obvious_event(device, EVT_REBOOTING, payload, sizeof payload, NULL);
    device->reboot_at = now + delay_ms;
    device->cause = reason;
}

/* It waits for its gateways to receive the announcement, but not long. */
static bool is_drained(const tendon_simulated_obvious *device) {
    bool drained = true;
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        drained = drained && (!device->centrals.places[i].used || !device->links[i].ready ||
                              tendon_simulated_obvious_link_idle(&device->links[i]));
    }
    return drained;
}

void tendon_simulated_obvious_boot_tick(tendon_simulated_obvious *device, uint64_t now) {
    if (tendon_simulated_obvious_in_trial(device) && device->boot.trial != 0 &&
        tendon_simulated_obvious_is_expired(device, now)) {
        if (roll_back(device) == OK) {
            tendon_simulated_obvious_restart(device, TENDON_SIMULATED_OBVIOUS_ROLLBACK, 0, now);
        } else { /* the next boot rolls back */
            tendon_simulated_obvious_go_down(device, TENDON_SIMULATED_OBVIOUS_WATCHDOG, now);
        }
    }
    if (now >= device->reboot_at && (is_drained(device) || now >= device->reboot_at + DRAIN_MS)) {
        tendon_simulated_obvious_go_down(device, device->cause, now);
    }
}

uint64_t tendon_simulated_obvious_boot_deadline(const tendon_simulated_obvious *device) {
    if (!device->running) {
        return device->down_until;
    }
    if (device->options.flash->off) {
        return 0;
    }
    uint64_t reboot_at = device->reboot_at;
    if (reboot_at != UINT64_MAX && !is_drained(device)) {
        reboot_at += DRAIN_MS;
    }
    bool trial = tendon_simulated_obvious_in_trial(device) && device->boot.trial != 0;
    uint64_t trial_end = trial ? device->boot.trial_since + TENDON_SIMULATED_OBVIOUS_TRIAL_MS : UINT64_MAX;
    return reboot_at < trial_end ? reboot_at : trial_end;
}

/* ---- requests ---- */

uint8_t tendon_simulated_obvious_fw_activate(obvious_request *r) {
    tendon_simulated_obvious *device = r->device;
    uint32_t version = tendon_read_u32le(&r->in);
    uint8_t mode = tendon_read_u8(&r->in), delay = tendon_read_u8(&r->in);
    tendon_simulated_obvious_boot boot = device->boot;
    const tendon_simulated_obvious_slot *staged = &boot.slots[boot.active ^ 1];
    if (version > VERSION_MAX || mode != MODE_TRIAL) {
        return BAD_PARAM;
    }
    if (staged->state != SLOT_COMPLETE || boot.trial != 0) {
        return boot.trial != 0 ? BUSY : NO_SESSION;
    }
    if (staged->version != version) {
        return BAD_PARAM;
    }
    if (device->battery < BATTERY_LOW) {
        return LOW_POWER;
    }
    boot.trial = 1;
    boot.boots = 0;
    boot.trial_since = 0;
    uint8_t status = tendon_simulated_obvious_write_boot(device, &boot);
    if (status == OK) {
        device->announce = REASON_FIRMWARE;
        device->announce_ms = (uint16_t)(delay * 100u);
    }
    return status;
}

static uint8_t confirm(tendon_simulated_obvious *device) {
    tendon_simulated_obvious_boot boot = device->boot;
    boot.active = device->slot;
    boot.trial = 0;
    boot.boots = 0;
    boot.trial_since = 0;
    boot.slots[device->slot].state = SLOT_CONFIRMED;
    boot.epoch = boot.slots[device->slot].epoch > boot.epoch ? boot.slots[device->slot].epoch : boot.epoch;
    uint8_t status = tendon_simulated_obvious_write_boot(device, &boot);
    tendon_simulated_obvious_settle_session(device);
    return status;
}

uint8_t tendon_simulated_obvious_fw_confirm(obvious_request *r) {
    tendon_simulated_obvious *device = r->device;
    uint32_t version = tendon_read_u32le(&r->in);
    uint8_t verdict = tendon_read_u8(&r->in);
    if (version > VERSION_MAX || verdict > 1 || version != tendon_simulated_obvious_version(device)) {
        return BAD_PARAM;
    }
    bool trial = tendon_simulated_obvious_in_trial(device);
    if (trial && device->boot.trial == 0) {
        return NO_SESSION; /* rolled back, not restarted yet */
    }
    if (verdict == 1) {
        return trial ? confirm(device) : OK;
    }
    if (!trial) {
        return NO_SESSION;
    }
    uint8_t status = roll_back(device);
    if (status == OK) {
        device->announce = TENDON_SIMULATED_OBVIOUS_ROLLBACK;
        device->announce_ms = REBOOT_DELAY_MS;
    }
    return status;
}

/* The image that is complete or arrives, and its state. */
static uint32_t staged_version(tendon_simulated_obvious *device, uint64_t now, uint8_t *state) {
    const tendon_simulated_obvious_session *session = tendon_simulated_obvious_current(device, now);
    const tendon_simulated_obvious_slot *other = &device->boot.slots[device->slot ^ 1];
    *state = 0;
    if (other->state == SLOT_COMPLETE) {
        *state = 2;
        return other->version;
    }
    if (session->state == STATE_RECEIVING && session->obj == OBJ_FIRMWARE) {
        tendon_reader version = tendon_reader_make(session->manifest + 12, 4);
        *state = 1;
        return tendon_read_u32le(&version);
    }
    return VERSION_ABSENT;
}

uint8_t tendon_simulated_obvious_fw_state(obvious_request *r) {
    tendon_simulated_obvious *device = r->device;
    const tendon_simulated_obvious_slot *other = &device->boot.slots[device->slot ^ 1];
    uint8_t staged_state;
    uint32_t staged = staged_version(device, r->now, &staged_state);
    tendon_write_u32le(&r->out, tendon_simulated_obvious_version(device));
    tendon_write_u8(&r->out, tendon_simulated_obvious_in_trial(device) ? 2 : 1);
    tendon_write_u32le(&r->out, staged);
    tendon_write_u8(&r->out, staged_state);
    tendon_write_u32le(&r->out, other->state == SLOT_CONFIRMED ? other->version : VERSION_ABSENT);
    tendon_write_u32le(&r->out, device->boot.epoch);
    tendon_write_u16le(&r->out, tendon_simulated_obvious_trial_left(device, r->now));
    return OK;
}

uint8_t tendon_simulated_obvious_reboot_request(obvious_request *r) {
    uint8_t mode = tendon_read_u8(&r->in), reason = tendon_read_u8(&r->in);
    if (mode > 1 || reason == 0 || reason > REASON_FIRMWARE) {
        return BAD_PARAM;
    }
    r->device->next_recovery = mode == 1;
    r->device->announce = reason;
    r->device->announce_ms = REBOOT_DELAY_MS;
    return OK;
}
