/* SPDX-License-Identifier: MIT */
#include "tendon/linux/gatt_store.h"
#include "directory.h"

static const char family[] = "gatt";

_Static_assert((int)TENDON_GATT_CACHE_RECORD_MAX <= TENDON_JOURNAL_RECORD_MAX, "a record fits a file");

tendon_status tendon_gatt_store_open(tendon_gatt_store *store, const char *directory) {
    char path[TENDON_JOURNAL_PATH_SIZE];
    if (directory == NULL) {
        tendon_status status = tendon_directory_state_path("gatt", path, sizeof path);
        return status < 0 ? status : tendon_journal_open(&store->journal, path);
    }
    return tendon_journal_open(&store->journal, directory);
}

static tendon_status load(void *context, const tendon_address *device, uint8_t *out, size_t capacity) {
    const tendon_gatt_store *store = context;
    return tendon_journal_load(&store->journal, family, device, out, capacity);
}

static tendon_status save(void *context, const tendon_address *device, const uint8_t *bytes, size_t length) {
    const tendon_gatt_store *store = context;
    return tendon_journal_store(&store->journal, family, device, bytes, length);
}

static tendon_status drop(void *context, const tendon_address *device) {
    return tendon_gatt_store_drop(context, device);
}

tendon_gatt_cache_store tendon_gatt_store_functions(tendon_gatt_store *store) {
    return (tendon_gatt_cache_store){.context = store, .load = load, .save = save, .remove = drop};
}

tendon_status tendon_gatt_store_drop(const tendon_gatt_store *store, const tendon_address *device) {
    return tendon_journal_remove(&store->journal, family, device);
}

tendon_status tendon_gatt_store_clear(const tendon_gatt_store *store) {
    return tendon_journal_clear(&store->journal, family);
}
