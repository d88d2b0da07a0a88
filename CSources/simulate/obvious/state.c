/* SPDX-License-Identifier: MIT */
/*
 * Simulated Obvious device: the table of features. Its record: flags u8 (1 provisioned, 2 a package was applied), 0,
 * count u16, counter u64, SHA-256 of the last package, features of 8 bytes {id u16, enable u8, toggle u8, value u32}.
 */
#include "obvious_parts.h"

enum { RECORD_HEADER = 44, ROW = 8, PROVISIONED = 1, HAS_LAST = 2 };
enum { ACTIVATED = 1, DEACTIVATED = 2, FLIP = 0x80, RESULT_APPLIED = 0, RESULT_ALREADY = 1, REBOOT_NEEDED = 1 };
enum { REBOOT_DELAY_MS = 1000 };

/* ---- the record ---- */

static tendon_simulated_obvious_feature *current(tendon_simulated_obvious *device) {
    return device->features[device->table];
}

tendon_simulated_obvious_feature *tendon_simulated_obvious_spare(tendon_simulated_obvious *device) {
    return device->features[device->table ^ 1];
}

static void load_new_device(tendon_simulated_obvious *device) {
    const tendon_simulated_obvious_options *options = &device->options;
    device->provisioned = !options->unprovisioned;
    device->has_last = false;
    device->counter = options->counter;
    device->feature_count = (uint16_t)options->feature_count;
    for (size_t i = 0; i < options->feature_count; i++) {
        current(device)[i] = options->features[i];
    }
}

void tendon_simulated_obvious_load_features(tendon_simulated_obvious *device) {
    size_t length;
    const uint8_t *record = tendon_simulated_store_read(&device->feature_store, &length);
    if (record == NULL) {
        load_new_device(device);
        return;
    }
    tendon_reader reader = tendon_reader_make(record, length);
    uint8_t flags = tendon_read_u8(&reader);
    (void)tendon_read_u8(&reader);
    uint16_t count = tendon_read_u16le(&reader);
    uint64_t counter = tendon_read_u64le(&reader);
    const uint8_t *sha256 = tendon_read_bytes(&reader, sizeof device->last_sha256);
    if (sha256 == NULL || count > TENDON_OBVIOUS_FEATURE_MAX ||
        tendon_reader_remaining(&reader) < (size_t)count * ROW) {
        load_new_device(device); /* not a record of this device: the file of the flash memory is the host's */
        return;
    }
    device->provisioned = (flags & PROVISIONED) != 0;
    device->has_last = (flags & HAS_LAST) != 0;
    device->feature_count = count;
    device->counter = counter;
    memcpy(device->last_sha256, sha256, sizeof device->last_sha256);
    for (size_t i = 0; i < device->feature_count; i++) {
        tendon_simulated_obvious_feature *feature = &current(device)[i];
        feature->id = tendon_read_u16le(&reader);
        feature->enable = tendon_read_u8(&reader);
        feature->toggle = tendon_read_u8(&reader);
        feature->value = tendon_read_u32le(&reader);
    }
}

uint8_t tendon_simulated_obvious_commit(tendon_simulated_obvious *device, size_t count, bool provisioned,
                                        uint64_t counter, const uint8_t *sha256) {
    static const uint8_t none[TENDON_OBVIOUS_SHA256_SIZE];
    const tendon_simulated_obvious_feature *table = tendon_simulated_obvious_spare(device);
    tendon_writer writer = tendon_writer_make(device->record, sizeof device->record);
    tendon_write_u8(&writer, (uint8_t)((provisioned ? PROVISIONED : 0) | (sha256 != NULL ? HAS_LAST : 0)));
    tendon_write_u8(&writer, 0);
    tendon_write_u16le(&writer, (uint16_t)count);
    tendon_write_u64le(&writer, counter);
    tendon_write_bytes(&writer, sha256 != NULL ? sha256 : none, TENDON_OBVIOUS_SHA256_SIZE);
    for (size_t i = 0; i < count; i++) {
        tendon_write_u16le(&writer, table[i].id);
        tendon_write_u8(&writer, table[i].enable);
        tendon_write_u8(&writer, table[i].toggle);
        tendon_write_u32le(&writer, table[i].value);
    }
    if (tendon_simulated_store_write(&device->feature_store, device->record, (uint32_t)writer.length) != TENDON_OK) {
        return FLASH_FAILED;
    }
    device->table ^= 1;
    device->feature_count = (uint16_t)count;
    device->provisioned = provisioned;
    device->counter = counter;
    device->has_last = sha256 != NULL;
    if (sha256 != NULL) {
        memmove(device->last_sha256, sha256, sizeof device->last_sha256);
    }
    return OK;
}

/* The spare table as it is, with what belongs to it now. */
static uint8_t commit_changes(tendon_simulated_obvious *device) {
    return tendon_simulated_obvious_commit(device, device->feature_count, device->provisioned, device->counter,
                                           device->has_last ? device->last_sha256 : NULL);
}

static void copy_to_spare(tendon_simulated_obvious *device) {
    memcpy(tendon_simulated_obvious_spare(device), current(device),
           device->feature_count * sizeof(tendon_simulated_obvious_feature));
}

/* ---- features ---- */

static tendon_simulated_obvious_feature *find(tendon_simulated_obvious_feature *table, size_t count, uint16_t id) {
    for (size_t i = 0; i < count; i++) {
        if (table[i].id == id) {
            return &table[i];
        }
    }
    return NULL;
}

/* A feature that a package removed is disabled; it is still one that the firmware implements. */
static bool is_implemented(const tendon_simulated_obvious *device, uint16_t id) {
    for (size_t i = 0; i < device->options.feature_count; i++) {
        if (device->options.features[i].id == id) {
            return true;
        }
    }
    return false;
}

bool tendon_simulated_obvious_get(const tendon_simulated_obvious *device, uint16_t id,
                                  tendon_simulated_obvious_feature *out) {
    *out = (tendon_simulated_obvious_feature){.id = id};
    for (size_t i = 0; i < device->feature_count; i++) {
        if (device->features[device->table][i].id == id) {
            *out = device->features[device->table][i];
            return true;
        }
    }
    return is_implemented(device, id);
}

static void write_feature(const tendon_simulated_obvious *device, uint16_t id, tendon_writer *out) {
    tendon_simulated_obvious_feature feature;
    bool known = tendon_simulated_obvious_get(device, id, &feature);
    tendon_write_u16le(out, id);
    tendon_write_u8(out, known ? feature.enable : TENDON_OBVIOUS_ENABLE_UNKNOWN);
    tendon_write_u8(out, known ? feature.toggle : TENDON_OBVIOUS_TOGGLE_UNKNOWN);
}

tendon_status tendon_simulated_obvious_change(tendon_simulated_obvious *device, uint16_t id, uint8_t enable,
                                              uint8_t toggle) {
    copy_to_spare(device);
    tendon_simulated_obvious_feature *feature = find(tendon_simulated_obvious_spare(device), device->feature_count, id);
    if (feature == NULL) {
        return TENDON_ERROR_NOT_FOUND;
    }
    feature->enable = enable;
    feature->toggle = toggle;
    if (commit_changes(device) != OK) {
        return TENDON_OBVIOUS_ERROR_FLASH_FAILED;
    }
    uint8_t payload[5] = {1};
    tendon_writer writer = tendon_writer_make(payload + 1, sizeof payload - 1);
    write_feature(device, id, &writer);
    tendon_simulated_obvious_event(device, EVT_FEATURE_CHANGED, payload, sizeof payload, NULL);
    return TENDON_OK;
}

/* ---- requests ---- */

/* The length of a list of items of @p size bytes. Reads the count. */
static uint8_t check_list(obvious_request *r, size_t size, uint8_t *count) {
    *count = tendon_read_u8(&r->in);
    if (*count == 0 || *count > LIST_MAX) {
        return BAD_PARAM;
    }
    return r->length == 1 + *count * size ? OK : BAD_LENGTH;
}

static bool is_id(uint16_t id) {
    return id >= 1 && id <= FEATURE_ID_MAX;
}

static void write_list(obvious_request *r, const uint16_t *ids, uint8_t count) {
    tendon_write_u8(&r->out, count);
    for (size_t i = 0; i < count; i++) {
        write_feature(r->device, ids[i], &r->out);
    }
}

uint8_t tendon_simulated_obvious_feature_status(obvious_request *r) {
    uint16_t ids[LIST_MAX];
    uint8_t count, status = check_list(r, 2, &count);
    for (size_t i = 0; i < count && status == OK; i++) {
        ids[i] = tendon_read_u16le(&r->in);
        status = is_id(ids[i]) ? OK : BAD_PARAM;
    }
    if (status == OK) {
        write_list(r, ids, count);
    }
    return status;
}

/* One item of a list of toggles, in the spare table. */
static uint8_t toggle(tendon_simulated_obvious *device, uint16_t id, uint8_t to) {
    tendon_simulated_obvious_feature *feature = find(tendon_simulated_obvious_spare(device), device->feature_count, id);
    if (feature == NULL) {
        return is_implemented(device, id) ? FEATURE_DISABLED : UNKNOWN_FEATURE;
    }
    if (feature->enable != 1) {
        return FEATURE_DISABLED;
    }
    if (feature->toggle != ACTIVATED && feature->toggle != DEACTIVATED) {
        return TOGGLE_UNSUPPORTED;
    }
    uint8_t other = feature->toggle == ACTIVATED ? DEACTIVATED : ACTIVATED;
    feature->toggle = to == FLIP ? other : to;
    return OK;
}

static bool is_changed(tendon_simulated_obvious *device) {
    const tendon_simulated_obvious_feature *a = current(device), *b = tendon_simulated_obvious_spare(device);
    bool changed = false;
    for (size_t i = 0; i < device->feature_count; i++) {
        changed = changed || a[i].toggle != b[i].toggle;
    }
    return changed;
}

uint8_t tendon_simulated_obvious_feature_toggle(obvious_request *r) {
    tendon_simulated_obvious *device = r->device;
    uint16_t ids[LIST_MAX];
    uint8_t toggles[LIST_MAX], count, status = check_list(r, 3, &count);
    for (size_t i = 0; i < count && status == OK; i++) {
        ids[i] = tendon_read_u16le(&r->in);
        toggles[i] = tendon_read_u8(&r->in);
        bool good = toggles[i] == ACTIVATED || toggles[i] == DEACTIVATED || toggles[i] == FLIP;
        status = is_id(ids[i]) && good ? OK : BAD_PARAM;
    }
    if (status == OK && 1u + 4u * count + FRAME_SIZE_MIN > r->link->frame_max) {
        status = TOO_LARGE; /* of the response: nothing may have changed then */
    }
    if (status == OK) {
        copy_to_spare(device);
    }
    for (size_t i = 0; i < count && status == OK; i++) {
        status = toggle(device, ids[i], toggles[i]);
    }
    bool changed = status == OK && is_changed(device);
    if (changed) {
        status = commit_changes(device);
    }
    if (status != OK) {
        return status;
    }
    write_list(r, ids, count);
    if (changed) { /* the other gateways: the response is the list of the event */
        tendon_simulated_obvious_event(device, EVT_FEATURE_CHANGED, r->out.data, r->out.length, r->link);
    }
    return OK;
}

uint8_t tendon_simulated_obvious_feature_counter(obvious_request *r) {
    static const uint8_t none[8];
    tendon_write_u64le(&r->out, r->device->counter);
    tendon_write_bytes(&r->out, r->device->has_last ? r->device->last_sha256 : none, sizeof none);
    return OK;
}

/* ---- packages ---- */

static void announce_reboot(tendon_simulated_obvious *device) {
    if (!device->options.waits_for_reboot && device->reboot_at == UINT64_MAX) {
        device->announce = TENDON_SIMULATED_OBVIOUS_FEATURES;
        device->announce_ms = REBOOT_DELAY_MS;
    }
}

static uint8_t apply(tendon_simulated_obvious *device, const tendon_obvious_package *package) {
    tendon_status count =
        tendon_simulated_obvious_apply(package, current(device), device->feature_count,
                                       tendon_simulated_obvious_spare(device), TENDON_OBVIOUS_FEATURE_MAX);
    if (count < 0) {
        return INTERNAL;
    }
    bool provisioned = device->provisioned || package->kind == TENDON_OBVIOUS_PACKAGE_PROVISION;
    return tendon_simulated_obvious_commit(device, (size_t)count, provisioned, package->counter, package->sha256);
}

uint8_t tendon_simulated_obvious_apply_package(obvious_request *r, const uint8_t *data, size_t length, uint8_t obj,
                                               uint8_t *result, uint8_t *flags) {
    tendon_simulated_obvious *device = r->device;
    const tendon_obvious_package_state state = {.product = device->options.product,
                                                .fw = tendon_simulated_obvious_version(device),
                                                .serial = device->options.serial,
                                                .counter = device->counter,
                                                .last_sha256 = device->has_last ? device->last_sha256 : NULL,
                                                .nonce = tendon_obvious_nonce_get(&r->link->nonce, r->now)};
    tendon_obvious_package package;
    tendon_status verified = tendon_obvious_verify_package(data, length, device->options.keys, &state, &package);
    if (package.nonce_used) {
        r->link->nonce.outstanding = false;
    }
    if (verified < 0) {
        return TENDON_STATUS_CODE(verified);
    }
    if ((package.kind == TENDON_OBVIOUS_PACKAGE_PROVISION) != (obj == OBJ_PROVISION)) {
        return BAD_FORMAT;
    }
    *result = verified == TENDON_OBVIOUS_ALREADY_APPLIED ? RESULT_ALREADY : RESULT_APPLIED;
    if (verified == TENDON_OK) {
        uint8_t status = apply(device, &package);
        if (status != OK) {
            return status;
        }
        device->counters.packages++;
        device->reboot_needed = (package.flags & TENDON_OBVIOUS_PACKAGE_REBOOTS) != 0;
    }
    if (device->reboot_needed) {
        *flags = REBOOT_NEEDED;
        announce_reboot(device);
    }
    return OK;
}
