/* SPDX-License-Identifier: MIT */
#include "tendon/linux/gatt_store.h"
#include "directory.h"
#include "tendon/linux/gatt_table.h"

#include <string.h>

static const char family[] = "gatt";
/** Answers of discoveries, before they were in the record of the cache. Not read any more. */
static const char former_family[] = "table";

_Static_assert((int)TENDON_GATT_CACHE_RECORD_MAX <= TENDON_JOURNAL_RECORD_MAX, "a record fits a file");
_Static_assert((int)TENDON_GATT_TABLE_RECORD_MAX <= TENDON_JOURNAL_RECORD_MAX, "a record fits a file");

tendon_status tendon_gatt_store_open(tendon_gatt_store *store, const char *directory) {
    char path[TENDON_JOURNAL_PATH_SIZE];
    if (directory == NULL) {
        tendon_status status = tendon_directory_state_path("gatt", path, sizeof path);
        return status < 0 ? status : tendon_journal_open(&store->journal, path);
    }
    return tendon_journal_open(&store->journal, directory);
}

static tendon_status load_all(void *context, const tendon_address *device, uint8_t *out, size_t capacity) {
    const tendon_gatt_store *store = context;
    return tendon_journal_load(&store->journal, family, device, out, capacity);
}

/* Without the answers: a cache alone has no use for them. */
static tendon_status load(void *context, const tendon_address *device, uint8_t *out, size_t capacity) {
    uint8_t bytes[TENDON_GATT_TABLE_RECORD_MAX];
    const uint8_t *cache;
    tendon_status length = load_all(context, device, bytes, sizeof bytes);
    if (length < 0) {
        return length;
    }
    size_t size = tendon_gatt_table_cache_of(bytes, (size_t)length, &cache);
    if (size > capacity) {
        return TENDON_ERROR_BUFFER_TOO_SMALL;
    }
    memcpy(out, cache, size);
    return (tendon_status)size;
}

static tendon_status save(void *context, const tendon_address *device, const uint8_t *bytes, size_t length) {
    const tendon_gatt_store *store = context;
    return tendon_journal_store(&store->journal, family, device, bytes, length);
}

static tendon_status drop(void *context, const tendon_address *device) {
    const tendon_gatt_store *store = context;
    return tendon_journal_remove(&store->journal, family, device);
}

tendon_gatt_cache_store tendon_gatt_store_functions(tendon_gatt_store *store) {
    return (tendon_gatt_cache_store){.context = store, .load = load, .save = save, .remove = drop};
}

tendon_gatt_cache_store tendon_gatt_store_table_functions(tendon_gatt_store *store) {
    return (tendon_gatt_cache_store){.context = store, .load = load_all, .save = save, .remove = drop};
}

tendon_status tendon_gatt_store_drop(const tendon_gatt_store *store, const tendon_address *device) {
    tendon_status status = tendon_journal_remove(&store->journal, family, device);
    tendon_status former = tendon_journal_remove(&store->journal, former_family, device);
    return status < 0 ? status : former;
}

tendon_status tendon_gatt_store_clear(const tendon_gatt_store *store) {
    tendon_status count = tendon_journal_clear(&store->journal, family);
    tendon_status former = count < 0 ? count : tendon_journal_clear(&store->journal, former_family);
    return former < 0 ? former : count;
}
