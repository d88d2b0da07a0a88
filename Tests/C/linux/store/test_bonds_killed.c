/* SPDX-License-Identifier: MIT */
/*
 * A process that changes the bond store is killed in the place of any of its calls to the file system: the file is that
 * of before the change or of after it, and the next change works. At every call, then 1,000 seeded lives.
 */
#include "../open_files.h"
#include "bonds_fixture.h"
#include "failing_disk.h"
#include "test_bytes.h"

#include <string.h>
#include <unistd.h>

enum { PEERS = 6, CHANGES = 4, TRIAL = 0xFF };

/* What a store should hold: for each peer the first byte of its key; 0: no bond. */
typedef struct model {
    uint8_t keys[PEERS];
} model;

typedef struct change {
    uint8_t peer, key; /* key 0: the bond is removed; TRIAL: whether it could be stored */
} change;

static tendon_bond bond_of(change c) {
    tendon_bond bond = bonds_item(c.peer);
    bond.key[0] = c.key;
    return bond;
}

static tendon_status perform(tendon_bonds *bonds, change c) {
    const tendon_bond bond = bond_of(c);
    if (c.key == TRIAL) {
        return tendon_bonds_may_change(bonds);
    }
    return c.key != 0 ? tendon_bonds_store(bonds, &bond)
                      : tendon_bonds_remove(bonds, TENDON_BOND_KERNEL, &bonds_own, &bond.peer);
}

static model after(model m, change c) {
    m.keys[c.peer] = c.key == TRIAL ? m.keys[c.peer] : c.key;
    return m;
}

/* What the file holds; it must be whole. */
static model read_model(const char *path) {
    model m = {{0}};
    tendon_bonds bonds;
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    for (uint8_t peer = 0; peer < PEERS; peer++) {
        const tendon_bond expected = bonds_item(peer);
        const tendon_bond *found = tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &bonds_own, &expected.peer);
        if (found != NULL) {
            m.keys[peer] = found->key[0];
            assert_memory_equal(found->key + 1, expected.key + 1, sizeof expected.key - 1);
        }
    }
    return m;
}

typedef struct life {
    const char *path;
    const change *changes;
    size_t count;
} life;

static bool make_changes(const void *context) {
    const life *l = context;
    tendon_bonds bonds;
    bool done = tendon_bonds_open(&bonds, l->path) == TENDON_OK;
    disk.calls = 0;
    for (size_t i = 0; i < l->count && done; i++) {
        done = perform(&bonds, l->changes[i]) >= 0;
    }
    return done;
}

/* Makes the changes in a process of its own. @return false: it was killed on the way. */
static bool live(const char *path, const change *changes, size_t count, unsigned killed_at) {
    return live_until(make_changes, &(life){path, changes, count}, killed_at);
}

static bool same(const model *a, const model *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static void at_any_call_the_store_is_that_of_before_or_of_after(void **state) {
    static const change changes[] = {
        {1, 0x51}, {0, 0x77}, {0, 0}, {0, TRIAL}}; /* a new bond, another key, no bond, none */
    char path[128], folder[128];
    disk = (struct disk){.unsynced = true};
    bonds_path_in(*state, path);
    folder_of(path, folder);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        bool whole = false;
        unsigned calls = 0, old = 0, new = 0;
        int files = 0;
        while (!whole) {
            tendon_bonds bonds;
            unlink(path);
            assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
            assert_int_equal(perform(&bonds, (change){0, 0x33}), TENDON_OK);
            const model before = {{0x33}}, wanted = after(before, changes[i]);
            whole = live(path, &changes[i], 1, ++calls);
            model found = read_model(path);
            assert_true(same(&found, &before) || same(&found, &wanted));
            assert_true(!whole || same(&found, &wanted));
            old += same(&found, &before);
            new += same(&found, &wanted);
            /* What the process left behind, its lock and its temporary file, is in nobody's way. */
            assert_int_equal(perform(&bonds, (change){5, 0x99}), TENDON_OK);
            found = read_model(path);
            assert_int_equal(found.keys[5], 0x99);
            files = files == 0 ? directory_entries(folder) : files;
            assert_int_equal(directory_entries(folder), files);
        }
        assert_true(old >= 5 && new >= 2); /* calls before the file is replaced, and after */
    }
}

static void a_thousand_lives(void **state) {
    char path[128], folder[128];
    dice d = {11};
    model now = {{0}};
    unsigned killed = 0, moved = 0;
    disk = (struct disk){.unsynced = true};
    bonds_path_in(*state, path);
    folder_of(path, folder);
    const unsigned lives = whole_or_part(1000, 250);
    for (unsigned i = 0; i < lives; i++) {
        change changes[CHANGES];
        model models[CHANGES + 1] = {now};
        for (size_t k = 0; k < CHANGES; k++) {
            uint64_t lot = roll(&d) >> 16;
            changes[k] = (change){(uint8_t)(lot % PEERS), (uint8_t)(lot / PEERS % 3 == 0 ? 0 : 1 + lot / 64 % 255)};
            models[k + 1] = after(models[k], changes[k]);
        }
        disk.piece = roll(&d) >> 20 & 1 ? 0 : 1 + (size_t)(roll(&d) >> 20) % 90;
        bool whole = live(path, changes, CHANGES, 1 + (unsigned)(roll(&d) >> 20) % 140);
        now = read_model(path);
        size_t k = whole ? CHANGES : 0;
        while (k <= CHANGES && !same(&now, &models[k])) {
            k++;
        }
        if (k > CHANGES) {
            fail_msg("life %u: the store is none of the states that it went through", i);
        }
        killed += !whole;
        moved += k > 0;
    }
    assert_true(killed > lives / 4 && killed < lives && moved > lives / 4);
    print_message("# %u of %u processes killed, %u changed the store, %d files in the directory\n", killed, lives,
                  moved, directory_entries(folder));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(at_any_call_the_store_is_that_of_before_or_of_after, bonds_setup,
                                        bonds_teardown),
        cmocka_unit_test_setup_teardown(a_thousand_lives, bonds_setup, bonds_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
