/* SPDX-License-Identifier: MIT */
/* Bonds on a disk where any one call fails: the file holds what it held, nothing is left beside it, the next works. */
#include "../open_files.h"
#include "bonds_fixture.h"
#include "failing_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void any_call_that_fails_keeps_what_was_there(void **state) {
    static const struct {
        refused *call;
        int number, after;
    } cases[] = {
        {&disk.open, ENFILE, 0},  {&disk.open, EMFILE, 1},  {&disk.open, ENOSPC, 2}, {&disk.flock, ENOLCK, 0},
        {&disk.fchmod, EROFS, 0}, {&disk.write, ENOSPC, 0}, {&disk.write, EIO, 1},   {&disk.fsync, EIO, 0},
        {&disk.close, EDQUOT, 1}, {&disk.rename, EXDEV, 0}, {&disk.fstat, EIO, 0},   {&disk.fstat, ENOMEM, 1},
        {&disk.read, EIO, 0},
    };
    char path[128], folder[128];
    disk = (struct disk){.piece = 0};
    bonds_path_in(*state, path);
    folder_of(path, folder);
    tendon_bonds bonds, again;
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    const tendon_bond first = bonds_item(1), second = bonds_item(2);
    assert_int_equal(tendon_bonds_store(&bonds, &first), TENDON_OK);
    int files = directory_entries(folder), descriptors = open_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int removes = 0; removes < 2; removes++) {
            *cases[i].call = (refused){cases[i].number, cases[i].after};
            disk.piece = cases[i].call == &disk.write ? 5 : 0;
            tendon_status status = removes ? tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &bonds_own, &first.peer)
                                           : tendon_bonds_store(&bonds, &second);
            if (status != TENDON_SYSTEM_ERROR(cases[i].number) || cases[i].call->number != 0) {
                fail_msg("case %zu, %d: %d", i, removes, status);
            }
            assert_int_equal(bonds.count, 1); /* as the file */
            assert_int_equal(bonds.status, TENDON_OK);
            assert_int_equal(directory_entries(folder), files);
            assert_int_equal(open_descriptors(), descriptors);
            assert_int_equal(tendon_bonds_open(&again, path), TENDON_OK);
            assert_int_equal(again.count, 1);
            assert_memory_equal(again.items[0].key, first.key, 16);
        }
    }
    disk.piece = 7;
    assert_int_equal(tendon_bonds_store(&bonds, &second), TENDON_OK);
    assert_int_equal(tendon_bonds_open(&again, path), TENDON_OK);
    assert_int_equal(again.count, 2);
    assert_int_equal(directory_entries(folder), files);
}

/* Found before a pairing, while the device has no key yet: each call that storing its bond needs on the disk. */
static void a_disk_that_is_full_is_found_before_a_pairing(void **state) {
    static const struct {
        refused *call;
        int number, after;
    } cases[] = {
        {&disk.open, EROFS, 0},   {&disk.open, EMFILE, 1},  {&disk.open, ENOSPC, 2},
        {&disk.flock, ENOLCK, 0}, {&disk.fchmod, EROFS, 0}, {&disk.write, ENOSPC, 0},
        {&disk.write, EDQUOT, 1}, {&disk.fsync, ENOSPC, 0}, {&disk.close, EDQUOT, 1},
    };
    char path[128], folder[128];
    disk = (struct disk){.piece = 0};
    bonds_path_in(*state, path);
    folder_of(path, folder);
    tendon_bonds bonds, again;
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    const tendon_bond first = bonds_item(1);
    assert_int_equal(tendon_bonds_store(&bonds, &first), TENDON_OK);
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    int files = directory_entries(folder), descriptors = open_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        *cases[i].call = (refused){cases[i].number, cases[i].after};
        disk.piece = cases[i].call == &disk.write ? 5 : 0;
        tendon_status status = tendon_bonds_may_change(&bonds);
        if (status != TENDON_SYSTEM_ERROR(cases[i].number) || cases[i].call->number != 0) {
            fail_msg("case %zu: %d", i, status);
        }
        assert_int_equal(bonds.status, TENDON_OK);
        assert_int_equal(directory_entries(folder), files);
        assert_int_equal(open_descriptors(), descriptors);
    }
    disk.piece = 0;
    disk.rename = (refused){EIO, 0}; /* the trial renames nothing */
    assert_int_equal(tendon_bonds_may_change(&bonds), TENDON_OK);
    assert_int_equal(disk.rename.number, EIO);
    disk.rename = (refused){0, 0};
    assert_int_equal(directory_entries(folder), files);
    assert_int_equal(open_descriptors(), descriptors);
    assert_int_equal(stat(path, &after), 0);
    assert_true(after.st_ino == before.st_ino && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    assert_int_equal(tendon_bonds_open(&again, path), TENDON_OK);
    assert_int_equal(again.count, 1);
    assert_memory_equal(again.items[0].key, first.key, 16);
}

/* Several devices may pair at a time: there is space for all their bonds, not only for the next one. */
static void the_trial_has_the_largest_size(void **state) {
    char path[128];
    struct rlimit before, narrow;
    disk = (struct disk){.piece = 0};
    bonds_path_in(*state, path);
    tendon_bonds bonds;
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (rlim_t less = 0; less < 2; less++) {
        narrow = before;
        narrow.rlim_cur = 16 + 24 * 62 - less;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &narrow), 0);
        tendon_status status = tendon_bonds_may_change(&bonds);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(status, less == 0 ? TENDON_OK : TENDON_SYSTEM_ERROR(EFBIG));
        assert_int_equal(access(path, F_OK), -1); /* no file of bonds without a bond */
    }
    signal(SIGXFSZ, handler);
}

/* A signal does not end a write, nor the wait for the lock. */
static void interruptions_are_nothing(void **state) {
    char path[128];
    disk = (struct disk){.piece = 10};
    bonds_path_in(*state, path);
    tendon_bonds bonds, again;
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    const tendon_bond bond = bonds_item(1);
    disk.write = (refused){EINTR, 2};
    disk.flock = (refused){EINTR, 0};
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    assert_int_equal(disk.write.number + disk.flock.number, 0);
    disk.read = (refused){EINTR, 0};
    assert_int_equal(tendon_bonds_open(&again, path), TENDON_OK);
    assert_int_equal(again.count, 1);
    assert_memory_equal(&again.items[0], &bonds.items[0], sizeof again.items[0]);
}

/* The same file, rewritten by a program that does not rename: only its time tells that it is another one. */
static void a_file_is_read_again_when_its_time_changes(void **state) {
    char path[128];
    disk = (struct disk){.piece = 0};
    bonds_path_in(*state, path);
    tendon_bonds bonds;
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    const tendon_bond bond = bonds_item(1);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    static const struct {
        time_t seconds;
        long nanoseconds;
    } times[] = {{1000000, 5}, {1000000, 6}, {1000001, 6}, {1000001, 6}};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const struct timespec both[2] = {{.tv_sec = 1}, {times[i].seconds, times[i].nanoseconds}};
        bonds.items[0].key[0] = 0xEE; /* what the file does not hold */
        assert_int_equal(utimensat(AT_FDCWD, path, both, 0), 0);
        assert_int_equal(tendon_bonds_refresh(&bonds), TENDON_OK);
        assert_int_equal(bonds.items[0].key[0] == 0xEE, i == 3); /* the last time is the one before it */
    }
    assert_int_equal(truncate(path, 0), 0);
    const struct timespec both[2] = {{.tv_sec = 1}, {1000001, 6}};
    assert_int_equal(utimensat(AT_FDCWD, path, both, 0), 0);
    assert_int_not_equal(tendon_bonds_refresh(&bonds), TENDON_OK); /* its size tells too */
}

/* The new name is on the disk when the call returns: its directory was synchronized too. */
static void the_directory_of_the_file_is_synchronized(void **state) {
    char path[128], folder[128], present[256];
    const char *home = *state;
    const tendon_bond bond = bonds_item(1);
    tendon_bonds bonds;
    disk = (struct disk){.piece = 0};
    bonds_path_in(home, path);
    folder_of(path, folder);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    assert_string_equal(disk.directory, folder);
    assert_int_equal(disk.synced, 1);
    assert_non_null(getcwd(present, sizeof present));
    assert_int_equal(chdir(home), 0);
    assert_int_equal(tendon_bonds_open(&bonds, "bonds"), TENDON_OK); /* a name alone */
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    assert_string_equal(disk.directory, ".");
    assert_int_equal(disk.synced, 2);
    assert_int_equal(chdir(present), 0);
    const tendon_bond other = bonds_item(2);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    disk.open = (refused){EMFILE, 3}; /* the directory cannot be opened: the bond is stored all the same */
    assert_int_equal(tendon_bonds_store(&bonds, &other), TENDON_OK);
    assert_int_equal(disk.open.number, 0);
    assert_int_equal(bonds.count, 2);
}

static bool nobody(void *context, const tendon_bond *bond) {
    (void)context;
    (void)bond;
    return false;
}

static bool is_first(void *context, const tendon_bond *bond) {
    (void)context;
    return bond->peer.bytes[5] == 0;
}

/* The oldest one that may go: of the same radio, adapter and role, and not in use. */
static void a_full_store_replaces_the_oldest_unused(void **state) {
    (void)state;
    static tendon_bonds bonds;
    for (int how = 0; how < 5; how++) {
        disk = (struct disk){.piece = 0};
        tendon_bonds_init(&bonds);
        for (uint8_t i = 0; i < TENDON_BONDS_MAX; i++) {
            tendon_bond bond = bonds_item(i);
            bond.initiator = how == 2 && i == 0;
            bond.radio = how == 3 && i == 0 ? TENDON_BOND_VIRTUAL : TENDON_BOND_KERNEL;
            bond.own.bytes[5] = how == 4 && i == 0 ? 9 : bond.own.bytes[5];
            assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
        }
        tendon_bond bond = bonds_item(200);
        bond.initiator = false;
        if (how != 3) {
            assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_RADIO_ERROR_BONDS_FULL);
        }
        assert_int_equal(tendon_bonds_store_replacing(&bonds, &bond, how == 1 ? is_first : nobody, NULL), TENDON_OK);
        assert_int_equal(bonds.count, TENDON_BONDS_MAX);
        assert_int_equal(bonds.items[0].peer.bytes[5], how == 0 ? 1 : 0); /* the first is left where it may not go */
        assert_int_equal(bonds.items[1].peer.bytes[5], 2);
        assert_int_equal(bonds.items[TENDON_BONDS_MAX - 1].peer.bytes[5], 200);
    }
}

#define DISK_TEST(name) cmocka_unit_test_setup_teardown(name, bonds_setup, bonds_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        DISK_TEST(any_call_that_fails_keeps_what_was_there),       DISK_TEST(interruptions_are_nothing),
        DISK_TEST(a_file_is_read_again_when_its_time_changes),     DISK_TEST(the_directory_of_the_file_is_synchronized),
        DISK_TEST(a_disk_that_is_full_is_found_before_a_pairing),  DISK_TEST(the_trial_has_the_largest_size),
        cmocka_unit_test(a_full_store_replaces_the_oldest_unused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
