/* SPDX-License-Identifier: MIT */
/*
 * GATT caches on the disk. A process that changes them is killed in the place of any of its calls to the file system:
 * each record is that of before, none, or the new one, and the next change works. At every call, then 1,000 seeded
 * lives.
 */
#include "../open_files.h"
#include "bonds_fixture.h"
#include "failing_disk.h"
#include "test_bytes.h"

#include "tendon/linux/gatt_store.h"
#include "tendon/linux/gatt_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEVICES = 5, LIVES = 1000, CHANGES = 4, ROWS = 3, PROFILE = 77 };

/* What the store should hold: for each device the first byte of its hash; 0: no record. */
typedef struct model {
    uint8_t hashes[DEVICES];
} model;

typedef struct change {
    uint8_t device, hash; /* hash 0: the record is dropped */
} change;

static tendon_address address_of(uint8_t number) {
    return (tendon_address){{0xC0, 1, 2, 3, 4, number}, TENDON_ADDRESS_TYPE_RANDOM};
}

static void table_of(change c, uint8_t hash[16], tendon_gatt_handles rows[ROWS]) {
    memset(hash, c.device, 16);
    hash[0] = c.hash;
    for (uint16_t i = 0; i < ROWS; i++) {
        rows[i] = (tendon_gatt_handles){(uint16_t)(c.hash + 1), 0xFFFF, (uint16_t)(c.hash + 2 + i),
                                        (uint16_t)(c.hash + 3 + i), 0x10};
    }
}

static void perform(tendon_gatt_store *store, change c) {
    const tendon_gatt_cache_store functions = tendon_gatt_store_functions(store);
    const tendon_address device = address_of(c.device);
    tendon_gatt_cache cache;
    uint8_t hash[16];
    tendon_gatt_handles rows[ROWS];
    table_of(c, hash, rows);
    tendon_gatt_cache_init(&cache, &device, &functions);
    if (c.hash == 0) {
        tendon_gatt_cache_drop(&cache);
    } else if (!tendon_gatt_cache_check(&cache, hash, PROFILE, ROWS)) {
        tendon_gatt_cache_put(&cache, rows, ROWS);
    }
}

/* What the files hold; each is whole, or absent. */
static model read_model(tendon_gatt_store *store) {
    model m = {{0}};
    const tendon_gatt_cache_store functions = tendon_gatt_store_functions(store);
    for (uint8_t i = 0; i < DEVICES; i++) {
        const tendon_address device = address_of(i);
        tendon_gatt_cache cache;
        tendon_gatt_cache_init(&cache, &device, &functions);
        assert_true(cache.state == TENDON_GATT_CACHE_VALID || cache.store_status == TENDON_ERROR_NOT_FOUND);
        if (cache.state == TENDON_GATT_CACHE_VALID) {
            uint8_t hash[16];
            tendon_gatt_handles rows[ROWS];
            table_of((change){i, cache.record.hash[0]}, hash, rows);
            m.hashes[i] = hash[0];
            assert_memory_equal(cache.record.hash, hash, sizeof hash);
            assert_int_equal(cache.record.profile, PROFILE);
            assert_int_equal(cache.record.count, ROWS);
            for (size_t row = 0; row < ROWS; row++) {
                assert_int_equal(cache.record.rows[row].value, rows[row].value);
                assert_int_equal(cache.record.rows[row].cccd, rows[row].cccd);
            }
        }
    }
    return m;
}

static tendon_gatt_store given(const char *home) {
    char path[160];
    tendon_gatt_store store;
    disk = (struct disk){.unsynced = true};
    snprintf(path, sizeof path, "%s/state/gatt", home);
    assert_int_equal(tendon_gatt_store_open(&store, path), TENDON_OK);
    return store;
}

static void a_record_outlives_its_process(void **state) {
    tendon_gatt_store store = given(*state);
    model m = read_model(&store); /* a directory that is not there is empty */
    assert_int_equal(m.hashes[1], 0);
    perform(&store, (change){1, 0x51});
    perform(&store, (change){2, 0x52});
    perform(&store, (change){3, 0x53});
    perform(&store, (change){2, 0});
    m = read_model(&store);
    assert_int_equal(m.hashes[1], 0x51);
    assert_int_equal(m.hashes[2], 0);
    assert_int_equal(m.hashes[3], 0x53);
    const tendon_address third = address_of(3);
    assert_int_equal(tendon_gatt_store_drop(&store, &third), TENDON_OK);
    assert_int_equal(tendon_gatt_store_drop(&store, &third), TENDON_OK); /* there is nothing to do */
    assert_int_equal(read_model(&store).hashes[3], 0);
}

static void one_call_drops_all(void **state) {
    tendon_gatt_store store = given(*state);
    static const uint8_t bytes[] = {1};
    const tendon_address device = address_of(9);
    assert_int_equal(tendon_gatt_store_clear(&store), 0); /* no directory */
    for (uint8_t i = 0; i < DEVICES; i++) {
        const tendon_address both = address_of(i);
        perform(&store, (change){i, 0x60});
        assert_int_equal(tendon_journal_store(&store.journal, "table", &both, bytes, 1), TENDON_OK);
    }
    assert_int_equal(tendon_journal_store(&store.journal, "obvious", &device, bytes, 1), TENDON_OK);
    int descriptors = open_descriptors();
    disk.unlink = (refused){EROFS, 2};
    assert_int_equal(tendon_gatt_store_clear(&store), TENDON_SYSTEM_ERROR(EROFS));
    disk.open = (refused){ENFILE, 0};
    assert_int_equal(tendon_gatt_store_clear(&store), TENDON_SYSTEM_ERROR(ENFILE));
    disk.flock = (refused){ENOLCK, 0};
    assert_int_equal(tendon_gatt_store_clear(&store), TENDON_SYSTEM_ERROR(ENOLCK));
    assert_int_equal(open_descriptors(), descriptors);
    assert_true(tendon_gatt_store_clear(&store) > 0); /* what the failures have left */
    const model none = {{0}}, m = read_model(&store);
    assert_memory_equal(&m, &none, sizeof m);
    assert_int_equal(tendon_journal_store(&store.journal, "table", &device, bytes, 1), TENDON_OK);
    assert_int_equal(tendon_gatt_store_clear(&store), 0);
    uint8_t out[4]; /* what is not a cache stays */
    assert_int_equal(tendon_journal_load(&store.journal, "table", &device, out, sizeof out), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(tendon_journal_load(&store.journal, "obvious", &device, out, sizeof out), 1);
    assert_int_equal(tendon_journal_clear(&store.journal, "../x"), TENDON_ERROR_INVALID_ARGUMENT);
}

static const tendon_gatt_table_question all_services = {TENDON_GATT_TABLE_SERVICES, 1, 0xFFFF, {{0}}};

/** A program of its own: does it find the services, after the hash of the device was compared? */
static bool finds(tendon_gatt_store *store, tendon_gatt_table *table) {
    const tendon_gatt_cache_store functions = tendon_gatt_store_table_functions(store);
    const tendon_address device = address_of(1);
    tendon_gatt_service found[2];
    tendon_gatt_table_init(table, &device, &functions);
    assert_int_equal(table->cache.store_status, TENDON_OK);
    assert_int_equal(table->cache.state, TENDON_GATT_CACHE_VALID);
    (void)tendon_gatt_table_checked(table, TENDON_OK);
    return tendon_gatt_table_find(table, &all_services, found, 2) == 1;
}

/* A session and a program have one record, which neither takes from the other. */
static void one_record_has_rows_and_answers(void **state) {
    tendon_gatt_store store = given(*state);
    static tendon_gatt_table table;
    const tendon_gatt_service service = {tendon_uuid_from_u16(0x1801), 1, 6, 0};
    perform(&store, (change){1, 0x51});
    assert_false(finds(&store, &table)); /* the record of a session alone */
    tendon_gatt_table_keep(&table, table.generation, &all_services, &service, 1);
    assert_int_equal(table.cache.store_status, TENDON_OK);
    assert_true(finds(&store, &table));
    assert_int_equal(read_model(&store).hashes[1], 0x51); /* the session reads its rows, and discovers nothing */
    perform(&store, (change){1, 0x51});
    assert_true(finds(&store, &table));
    assert_int_equal(directory_entries(store.journal.directory), 4); /* ".", "..", the lock */
    perform(&store, (change){1, 0x52});                              /* another table: neither is valid any more */
    assert_false(finds(&store, &table));
}

/* Answers were in a file of their own: it is not read, no error, and removed with the record. */
static void the_former_records_are_skipped(void **state) {
    tendon_gatt_store store = given(*state);
    static tendon_gatt_table table, former;
    const tendon_address device = address_of(1);
    const tendon_gatt_service service = {tendon_uuid_from_u16(0x1801), 1, 6, 0};
    uint8_t cache[TENDON_GATT_CACHE_RECORD_MAX], record[TENDON_GATT_TABLE_RECORD_MAX];
    for (int drops = 0; drops < 2; drops++) {
        perform(&store, (change){1, 0x51});
        assert_false(finds(&store, &former));
        tendon_gatt_table_keep(&former, former.generation, &all_services, &service, 1);
        tendon_status length = tendon_gatt_cache_encode(&former.cache.record, cache, sizeof cache);
        length = tendon_gatt_table_encode(&former.content, cache, (size_t)length, record, sizeof record);
        assert_int_equal(tendon_journal_store(&store.journal, "table", &device, record, (size_t)length), TENDON_OK);
        assert_int_equal(tendon_journal_remove(&store.journal, "gatt", &device), TENDON_OK);
        perform(&store, (change){1, 0x51}); /* as a session has written it */
        assert_false(finds(&store, &table));
        assert_int_equal(read_model(&store).hashes[1], 0x51);
        tendon_status status = drops ? tendon_gatt_store_drop(&store, &device) : tendon_gatt_store_clear(&store);
        assert_int_equal(status, drops ? TENDON_OK : 1);
        assert_int_equal(directory_entries(store.journal.directory), 3); /* ".", "..", the lock */
    }
}

/* A file of another user's making, or one that was cut, is no record; the next discovery replaces it. */
static void what_is_no_record_counts_as_none(void **state) {
    tendon_gatt_store store = given(*state);
    char path[TENDON_JOURNAL_PATH_SIZE + 32];
    perform(&store, (change){1, 0x51});
    snprintf(path, sizeof path, "%s/gatt-c00102030401-1", store.journal.directory);
    assert_int_equal(truncate(path, 40), 0);
    const tendon_gatt_cache_store functions = tendon_gatt_store_functions(&store);
    const tendon_address device = address_of(1);
    tendon_gatt_cache cache;
    tendon_gatt_cache_init(&cache, &device, &functions);
    assert_int_equal(cache.store_status, TENDON_ERROR_TRUNCATED);
    assert_int_equal(cache.state, TENDON_GATT_CACHE_EMPTY);
    assert_int_equal(chmod(path, 0640), 0);
    tendon_gatt_cache_init(&cache, &device, &functions);
    assert_int_equal(cache.store_status, TENDON_ERROR_FILE_PERMISSION);
    perform(&store, (change){1, 0x52});
    assert_int_equal(read_model(&store).hashes[1], 0x52);
    struct stat found;
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0600);
}

static void the_path_of_the_directory(void **state) {
    tendon_gatt_store store;
    char path[TENDON_JOURNAL_PATH_SIZE + 1], home[128];
    memset(path, 'p', sizeof path);
    path[sizeof path - 1] = '\0';
    assert_int_equal(tendon_gatt_store_open(&store, ""), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_gatt_store_open(&store, path), TENDON_ERROR_OVERFLOW);
    snprintf(home, sizeof home, "%s/tendon/gatt", (char *)*state);
    assert_int_equal(setenv("XDG_STATE_HOME", *state, 1), 0);
    assert_int_equal(tendon_gatt_store_open(&store, NULL), TENDON_OK);
    assert_string_equal(store.journal.directory, home);
    unsetenv("XDG_STATE_HOME");
}

/* ---- killed ---- */

typedef struct life {
    const tendon_gatt_store *store;
    const change *changes;
    size_t count;
} life;

static bool make_changes(const void *context) {
    const life *l = context;
    tendon_gatt_store store = *l->store;
    for (size_t i = 0; i < l->count; i++) {
        perform(&store, l->changes[i]);
    }
    return true;
}

static bool clear_all(const void *context) {
    const life *l = context;
    return tendon_gatt_store_clear(l->store) >= 0;
}

/* A record that is replaced is removed first: a table whose hash differs is not used by anybody. */
static bool is_on_the_way(const model *found, const model *before, change c) {
    model m = *before;
    if (memcmp(found, &m, sizeof m) == 0) {
        return true;
    }
    m.hashes[c.device] = 0;
    if (memcmp(found, &m, sizeof m) == 0) {
        return true;
    }
    m.hashes[c.device] = c.hash;
    return memcmp(found, &m, sizeof m) == 0;
}

static void at_any_call_a_record_is_whole_or_absent(void **state) {
    static const change changes[] = {{1, 0x51}, {0, 0x77}, {0, 0}}; /* a new device, another hash, no record */
    tendon_gatt_store store = given(*state);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        bool whole = false;
        unsigned calls = 0;
        while (!whole) {
            assert_true(tendon_gatt_store_clear(&store) >= 0);
            perform(&store, (change){0, 0x33});
            const model before = {{0x33}};
            whole = live_until(make_changes, &(life){&store, &changes[i], 1}, ++calls);
            model found = read_model(&store);
            assert_true(is_on_the_way(&found, &before, changes[i]));
            assert_true(!whole || found.hashes[changes[i].device] == changes[i].hash);
            perform(&store, (change){4, 0x99}); /* what the process left behind is in nobody's way */
            assert_int_equal(read_model(&store).hashes[4], 0x99);
        }
        assert_true(calls > 8);
    }
    for (unsigned calls = 1, whole = 0; whole == 0; calls++) {
        for (uint8_t device = 0; device < DEVICES; device++) {
            perform(&store, (change){device, 0x33});
        }
        whole = live_until(clear_all, &(life){&store, NULL, 0}, calls);
        model found = read_model(&store);
        for (uint8_t device = 0; device < DEVICES; device++) {
            assert_true(found.hashes[device] == 0 || (found.hashes[device] == 0x33 && whole == 0));
        }
    }
}

static void a_thousand_lives(void **state) {
    tendon_gatt_store store = given(*state);
    dice d = {12};
    model now = {{0}};
    unsigned killed = 0, moved = 0;
    for (int i = 0; i < LIVES; i++) {
        change changes[CHANGES];
        for (size_t k = 0; k < CHANGES; k++) {
            uint64_t lot = roll(&d) >> 16;
            changes[k] = (change){(uint8_t)(lot % DEVICES), (uint8_t)(lot / DEVICES % 3 == 0 ? 0 : 1 + lot / 64 % 255)};
        }
        disk.piece = roll(&d) >> 20 & 1 ? 0 : 1 + (size_t)(roll(&d) >> 20) % 40;
        bool whole = live_until(make_changes, &(life){&store, changes, CHANGES}, 1 + (unsigned)(roll(&d) >> 20) % 120);
        const model before = now;
        now = read_model(&store);
        model m = before;
        size_t k = 0;
        while (k < CHANGES && (whole || !is_on_the_way(&now, &m, changes[k]))) {
            m.hashes[changes[k].device] = changes[k].hash;
            k++;
        }
        if (k == CHANGES && memcmp(&now, &m, sizeof m) != 0) {
            fail_msg("life %d: the store is none of the states that it went through", i);
        }
        killed += !whole;
        moved += memcmp(&now, &before, sizeof now) != 0;
    }
    assert_true(killed > LIVES / 4 && killed < LIVES && moved > LIVES / 4);
    print_message("# %u of %u processes killed, %u changed the store, %d files in the directory\n", killed, LIVES,
                  moved, directory_entries(store.journal.directory));
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, bonds_setup, bonds_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        STORE_TEST(a_record_outlives_its_process),           STORE_TEST(one_call_drops_all),
        STORE_TEST(what_is_no_record_counts_as_none),        STORE_TEST(the_path_of_the_directory),
        STORE_TEST(at_any_call_a_record_is_whole_or_absent), STORE_TEST(a_thousand_lives),
        STORE_TEST(one_record_has_rows_and_answers),         STORE_TEST(the_former_records_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
