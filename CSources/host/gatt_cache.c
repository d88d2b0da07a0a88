/* SPDX-License-Identifier: MIT */
#include "tendon/host/gatt_cache.h"

#include <string.h>

/* A random address names a device only if it is static (Core Spec Vol 6 Part B 1.3.2.1: both top bits are 1). */
static bool is_identity(const tendon_address *device) {
    bool random = device->type == TENDON_ADDRESS_TYPE_RANDOM || device->type == TENDON_ADDRESS_TYPE_RANDOM_IDENTITY;
    return device->type <= TENDON_ADDRESS_TYPE_RANDOM_IDENTITY && (!random || (device->bytes[0] & 0xC0u) == 0xC0u);
}

static void load(tendon_gatt_cache *cache) {
    uint8_t bytes[TENDON_GATT_CACHE_RECORD_MAX];
    tendon_gatt_cache_record record;
    tendon_status length = cache->store.load(cache->store.context, &cache->record.device, bytes, sizeof bytes);
    if (length >= 0) {
        length = tendon_gatt_cache_decode(bytes, (size_t)length, &record, NULL);
    }
    cache->store_status = length;
    if (length == TENDON_OK && tendon_address_equal(&record.device, &cache->record.device)) {
        cache->record = record;
        cache->state = TENDON_GATT_CACHE_VALID;
    }
}

void tendon_gatt_cache_init(tendon_gatt_cache *cache, const tendon_address *device,
                            const tendon_gatt_cache_store *store) {
    memset(cache, 0, sizeof *cache);
    cache->identity = is_identity(device);
    cache->record.device = *device;
    cache->record.device.type &= TENDON_ADDRESS_TYPE_RANDOM;
    if (store != NULL && cache->identity) {
        cache->store = *store;
        load(cache);
    }
}

void tendon_gatt_cache_begin(tendon_gatt_cache *cache) {
    if (cache->state != TENDON_GATT_CACHE_VALID) {
        cache->state = TENDON_GATT_CACHE_EMPTY;
    }
}

static void invalidate(tendon_gatt_cache *cache) {
    bool stored = cache->state == TENDON_GATT_CACHE_VALID;
    cache->state = TENDON_GATT_CACHE_STALE;
    if (stored && cache->store.remove != NULL) {
        cache->store_status = cache->store.remove(cache->store.context, &cache->record.device);
    }
}

void tendon_gatt_cache_drop(tendon_gatt_cache *cache) {
    cache->counters.drops++;
    cache->without_hash = false;
    invalidate(cache);
}

bool tendon_gatt_cache_check(tendon_gatt_cache *cache, const uint8_t hash[TENDON_GATT_HASH_SIZE], uint32_t profile,
                             size_t count) {
    bool equal = memcmp(cache->record.hash, hash, TENDON_GATT_HASH_SIZE) == 0;
    if (cache->state == TENDON_GATT_CACHE_VALID && equal && cache->record.profile == profile &&
        cache->record.count == count) {
        cache->counters.hits++;
        return true;
    }
    if (cache->state == TENDON_GATT_CACHE_VALID && !equal) {
        cache->counters.mismatches++;
    } else {
        cache->counters.misses++;
    }
    invalidate(cache);
    memcpy(cache->record.hash, hash, TENDON_GATT_HASH_SIZE);
    cache->record.profile = profile;
    cache->state = TENDON_GATT_CACHE_FILLING;
    return false;
}

void tendon_gatt_cache_without_hash(tendon_gatt_cache *cache) {
    cache->counters.misses++;
    invalidate(cache);
    cache->without_hash = true;
    cache->state = TENDON_GATT_CACHE_EMPTY;
}

void tendon_gatt_cache_put(tendon_gatt_cache *cache, const tendon_gatt_handles *rows, size_t count) {
    uint8_t bytes[TENDON_GATT_CACHE_RECORD_MAX];
    if (cache->state != TENDON_GATT_CACHE_FILLING || count > TENDON_GATT_CACHE_ROWS) {
        return;
    }
    memcpy(cache->record.rows, rows, count * sizeof rows[0]);
    cache->record.count = (uint8_t)count;
    cache->state = TENDON_GATT_CACHE_VALID;
    if (cache->store.save != NULL) {
        tendon_status length = tendon_gatt_cache_encode(&cache->record, bytes, sizeof bytes);
        cache->store_status = cache->store.save(cache->store.context, &cache->record.device, bytes, (size_t)length);
    }
}
