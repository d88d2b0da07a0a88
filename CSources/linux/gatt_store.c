/* SPDX-License-Identifier: MIT */
#include "tendon/linux/gatt_store.h"
#include "directory.h"
#include "file.h"
#include "tendon/linux/gatt_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char family[] = "gatt", table_family[] = "table";

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

static tendon_status load(void *context, const tendon_address *device, uint8_t *out, size_t capacity) {
    const tendon_gatt_store *store = context;
    return tendon_journal_load(&store->journal, family, device, out, capacity);
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

static tendon_status load_table(void *context, const tendon_address *device, uint8_t *out, size_t capacity) {
    const tendon_gatt_store *store = context;
    return tendon_journal_load(&store->journal, table_family, device, out, capacity);
}

static tendon_status save_table(void *context, const tendon_address *device, const uint8_t *bytes, size_t length) {
    const tendon_gatt_store *store = context;
    return tendon_journal_store(&store->journal, table_family, device, bytes, length);
}

static tendon_status drop_table(void *context, const tendon_address *device) {
    const tendon_gatt_store *store = context;
    return tendon_journal_remove(&store->journal, table_family, device);
}

tendon_gatt_cache_store tendon_gatt_store_table_functions(tendon_gatt_store *store) {
    return (tendon_gatt_cache_store){.context = store, .load = load_table, .save = save_table, .remove = drop_table};
}

tendon_status tendon_gatt_store_drop(const tendon_gatt_store *store, const tendon_address *device) {
    tendon_status status = tendon_journal_remove(&store->journal, family, device);
    tendon_status other = tendon_journal_remove(&store->journal, table_family, device);
    return status < 0 ? status : other;
}

typedef struct pairs {
    int directory;
    tendon_status count;
} pairs;

static bool count_pair(void *context, const char *name) {
    pairs *p = context;
    const char *device = name + sizeof table_family - 1;
    char other[TENDON_JOURNAL_FAMILY_MAX + 16];
    if (strncmp(name, table_family, sizeof table_family - 1) == 0 && *device == '-' &&
        snprintf(other, sizeof other, "%s%s", family, device) < (int)sizeof other) {
        p->count += faccessat(p->directory, other, F_OK, 0) == 0;
    }
    return true;
}

/* Devices that have a record of both kinds. */
static tendon_status count_pairs(const tendon_gatt_store *store) {
    pairs p = {.directory = open(store->journal.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (p.directory < 0) {
        return errno == ENOENT ? TENDON_OK : tendon_file_status(errno);
    }
    tendon_directory_each(p.directory, SIZE_MAX, count_pair, &p);
    close(p.directory);
    return p.count;
}

tendon_status tendon_gatt_store_clear(const tendon_gatt_store *store) {
    tendon_status both = count_pairs(store);
    tendon_status count = both < 0 ? both : tendon_journal_clear(&store->journal, family);
    tendon_status tables = count < 0 ? count : tendon_journal_clear(&store->journal, table_family);
    return tables < 0 ? tables : count + tables - both;
}
