/* SPDX-License-Identifier: MIT */
/* The file of bonds: disks and permissions that fail, other processes, processes that are killed, paths. */
#include "../open_files.h"
#include "bonds_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* In the C library's place: another user, and a disk that fails. */
static uid_t user_offset;
static int failing_rename, failing_fsync;

uid_t geteuid(void) {
    return (uid_t)syscall(SYS_geteuid) + user_offset;
}

int rename(const char *from, const char *to) {
    errno = EIO;
    return failing_rename-- > 0 ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int fsync(int fd) {
    errno = ENOSPC;
    return failing_fsync-- > 0 ? -1 : (int)syscall(SYS_fsync, fd);
}

/* Pauses between two tries for the lock: none takes time; the lock is released after so many. */
static int pauses, held_lock = -1, release_after;
static long paused_ns;

int nanosleep(const struct timespec *pause, struct timespec *rest) {
    (void)rest;
    paused_ns += pause->tv_nsec;
    if (++pauses == release_after) {
        close(held_lock);
        held_lock = -1;
    }
    return 0;
}

/* A process that was stopped while it writes holds the lock: the loop of another one must not stand still with it. */
static void a_lock_that_is_not_released_is_an_error(void **state) {
    char path[128], lock[160];
    tendon_bonds bonds;
    tendon_bond first = bonds_item(1), second = bonds_item(2);
    bonds_path_in(*state, path);
    snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &first), TENDON_OK);
    int before = open_descriptors();
    held_lock = open(lock, O_RDWR);
    assert_int_equal(flock(held_lock, LOCK_EX), 0);
    pauses = release_after = 0;
    paused_ns = 0;
    assert_int_equal(tendon_bonds_store(&bonds, &second), TENDON_ERROR_BUSY);
    assert_true(paused_ns == 500000000);
    assert_int_equal(tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &bonds_own, NULL), TENDON_ERROR_BUSY);
    assert_int_equal(bonds.status, TENDON_OK);
    assert_int_equal(bonds.count, 1);
    pauses = 0;
    release_after = 3; /* it was only slow */
    assert_int_equal(tendon_bonds_store(&bonds, &second), TENDON_OK);
    assert_int_equal(pauses, 3);
    assert_int_equal(bonds.count, 2);
    assert_int_equal(open_descriptors(), before);
}

/* Leaves so many descriptors free during one call. */
static tendon_status store_with_descriptors(tendon_bonds *bonds, const tendon_bond *bond, int available) {
    struct rlimit before, narrow;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    narrow = before;
    int next = dup(0);
    close(next);
    narrow.rlim_cur = (rlim_t)(next + available);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &narrow), 0);
    tendon_status status = tendon_bonds_store(bonds, bond);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    return status;
}

static void a_transient_error_loses_nothing(void **state) {
    char path[128];
    tendon_bonds bonds;
    tendon_bond first = bonds_item(1), second = bonds_item(2);
    bonds_path_in(*state, path);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &first), TENDON_OK);
    int before = open_descriptors();
    for (int available = 0; available < 2; available++) { /* for the lock, then for the file */
        assert_int_equal(store_with_descriptors(&bonds, &second, available), TENDON_SYSTEM_ERROR(EMFILE));
        assert_int_equal(bonds.status, TENDON_OK);
        assert_int_equal(bonds.count, 1);
        assert_non_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &bonds_own, &first.peer));
        assert_int_equal(open_descriptors(), before); /* the lock is open no more */
    }
    assert_int_equal(tendon_bonds_store(&bonds, &second), TENDON_OK);
    assert_int_equal(bonds.count, 2);
}

static void a_disk_that_fails_leaves_what_was_there(void **state) {
    char path[128], directory[128];
    tendon_bonds bonds, after;
    tendon_bond first = bonds_item(1), second = bonds_item(2);
    bonds_path_in(*state, path);
    snprintf(directory, sizeof directory, "%s/state/tendon", (char *)*state);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &first), TENDON_OK);
    int files = directory_entries(directory), descriptors = open_descriptors();
    for (int i = 0; i < 2; i++) {
        failing_rename = i == 0;
        failing_fsync = i == 1;
        assert_int_equal(tendon_bonds_store(&bonds, &second), TENDON_SYSTEM_ERROR(i == 0 ? EIO : ENOSPC));
        failing_rename = i == 0;
        failing_fsync = i == 1;
        assert_true(tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &bonds_own, &first.peer) < 0);
        failing_rename = failing_fsync = 0;
        assert_int_equal(directory_entries(directory), files); /* no file of keys is left behind */
        assert_int_equal(open_descriptors(), descriptors);
        assert_int_equal(bonds.count, 1); /* what the file holds, and nothing else */
        assert_int_equal(tendon_bonds_open(&after, path), TENDON_OK);
        assert_int_equal(after.count, 1);
        assert_non_null(tendon_bonds_find(&after, TENDON_BOND_KERNEL, &bonds_own, &first.peer));
    }
    assert_int_equal(tendon_bonds_store(&bonds, &second), TENDON_OK);
}

static void another_process_is_seen(void **state) {
    char path[128];
    tendon_bonds a, b;
    tendon_bond first = bonds_item(1);
    bonds_path_in(*state, path);
    assert_int_equal(tendon_bonds_open(&a, path), TENDON_OK);
    assert_int_equal(tendon_bonds_open(&b, path), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&a, &first), TENDON_OK);
    assert_int_equal(tendon_bonds_refresh(&b), TENDON_OK);
    assert_non_null(tendon_bonds_find(&b, TENDON_BOND_KERNEL, &bonds_own, &first.peer));
    b.items[0].key[0] ^= 1;
    assert_int_equal(tendon_bonds_refresh(&b), TENDON_OK); /* an unchanged file is not read */
    assert_int_not_equal(b.items[0].key[0], first.key[0]);
    b.version.device ^= 1; /* as if it had been of another file system */
    assert_int_equal(tendon_bonds_refresh(&b), TENDON_OK);
    assert_int_equal(b.items[0].key[0], first.key[0]);
    assert_int_equal(tendon_bonds_remove(&a, TENDON_BOND_KERNEL, &bonds_own, NULL), 1);
    assert_int_equal(tendon_bonds_refresh(&b), TENDON_OK);
    assert_int_equal(b.count, 0);
    assert_int_equal(tendon_bonds_store(&a, &first), TENDON_OK);
    a.items[0].key[0] ^= 1;
    assert_int_equal(tendon_bonds_refresh(&a), TENDON_OK); /* nor one that this process has changed itself */
    assert_int_not_equal(a.items[0].key[0], first.key[0]);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(tendon_bonds_refresh(&a), TENDON_OK);
    assert_int_equal(a.count, 0);
}

static void a_file_that_becomes_readable_to_others_is_not_used(void **state) {
    char path[128];
    tendon_bonds bonds;
    tendon_bond first = bonds_item(1), second = bonds_item(2);
    bonds_path_in(*state, path);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &first), TENDON_OK);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(tendon_bonds_refresh(&bonds), TENDON_ERROR_FILE_PERMISSION);
    assert_int_equal(tendon_bonds_store(&bonds, &second), TENDON_ERROR_FILE_PERMISSION);
    assert_int_equal(bonds.count, 1); /* what was read while it was ours alone */
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(tendon_bonds_refresh(&bonds), TENDON_OK);
    assert_int_equal(bonds.status, TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &second), TENDON_OK);
    user_offset = 1; /* it belongs to somebody else, whatever its mode */
    tendon_bonds other;
    assert_int_equal(tendon_bonds_refresh(&bonds), TENDON_ERROR_FILE_PERMISSION);
    tendon_status opened = tendon_bonds_open(&other, path);
    user_offset = 0;
    assert_int_equal(opened, TENDON_ERROR_FILE_PERMISSION);
    assert_int_equal(other.count, 0);
}

static void write_file(const char *path, const char *text, mode_t mode) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(path, mode);
}

static void what_is_no_file_of_ours_is_left_alone(void **state) {
    char path[128], text[16] = "";
    tendon_bonds bonds;
    tendon_bond bond = bonds_item(1);
    snprintf(path, sizeof path, "%s/other", (char *)*state);
    write_file(path, "0123456789abcdef", 0600);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_ERROR_MALFORMED);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_ERROR_MALFORMED);
    assert_int_equal(tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &bonds_own, NULL), TENDON_ERROR_MALFORMED);
    FILE *file = fopen(path, "r");
    assert_int_equal(fread(text, 1, 10, file), 10);
    fclose(file);
    assert_string_equal(text, "0123456789");
    chmod(path, 0640);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_ERROR_FILE_PERMISSION);
    unlink(path);
    assert_int_equal(symlink("/etc/hostname", path), 0);
    assert_int_equal(TENDON_STATUS_LAYER(tendon_bonds_open(&bonds, path)), TENDON_LAYER_SYSTEM);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0); /* nobody writes to it: an open would wait */
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_ERROR_FILE_PERMISSION);
    unlink(path);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    snprintf(text, sizeof text, "%s", ".new");
    strcat(path, text);
    int theirs = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666); /* another user has it open */
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    assert_int_equal(read(theirs, text, sizeof text), 0);
    close(theirs);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &bonds_own, NULL), 1);
    char longest[TENDON_BONDS_PATH_SIZE + 1];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(tendon_bonds_open(&bonds, longest), TENDON_ERROR_OVERFLOW);
}

/* A file that was none of ours and is repaired is used again. */
static void a_repaired_file_is_used_again(void **state) {
    char path[128], other[128];
    tendon_bonds bonds, good;
    tendon_bond bond = bonds_item(1);
    snprintf(path, sizeof path, "%s/bonds", (char *)*state);
    snprintf(other, sizeof other, "%s/good", (char *)*state);
    write_file(path, "0123456789abcdef", 0600);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_ERROR_MALFORMED);
    assert_int_equal(tendon_bonds_open(&good, other), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&good, &bond), TENDON_OK);
    assert_int_equal(rename(other, path), 0);
    assert_int_equal(tendon_bonds_refresh(&bonds), TENDON_OK);
    assert_int_equal(bonds.status, TENDON_OK);
    assert_int_equal(bonds.count, 1);
}

/* A default path that is too long is not used up to where it fits. */
static void a_path_that_is_too_long_is_not_truncated(void **state) {
    tendon_bonds bonds;
    tendon_bond bond = bonds_item(1);
    char home[TENDON_BONDS_PATH_SIZE + 8];
    (void)state;
    memset(home, 'x', sizeof home);
    home[0] = '/';
    home[TENDON_BONDS_PATH_SIZE - 8] = '\0';
    setenv("XDG_STATE_HOME", home, 1);
    assert_int_equal(tendon_bonds_open(&bonds, NULL), TENDON_ERROR_OVERFLOW);
    unsetenv("XDG_STATE_HOME");
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_ERROR_OVERFLOW);
    assert_int_equal(tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &bonds_own, NULL), TENDON_ERROR_OVERFLOW);
    assert_int_equal(tendon_bonds_refresh(&bonds), TENDON_ERROR_OVERFLOW);
    assert_int_equal(bonds.count, 0);
    assert_string_equal(bonds.path, "");
}

static void the_default_path(void **state) {
    tendon_bonds bonds;
    char wanted[128];
    setenv("XDG_STATE_HOME", *state, 1);
    assert_int_equal(tendon_bonds_open(&bonds, NULL), TENDON_OK);
    snprintf(wanted, sizeof wanted, "%s/tendon/bonds", (char *)*state);
    assert_string_equal(bonds.path, wanted);
    setenv("XDG_STATE_HOME", "relative", 1);
    setenv("HOME", *state, 1);
    assert_int_equal(tendon_bonds_open(&bonds, NULL), TENDON_OK);
    snprintf(wanted, sizeof wanted, "%s/.local/state/tendon/bonds", (char *)*state);
    assert_string_equal(bonds.path, wanted);
    unsetenv("XDG_STATE_HOME");
    unsetenv("HOME");
    (void)tendon_bonds_open(&bonds, NULL);
    assert_string_equal(bonds.path, "/var/lib/tendon/bonds");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_transient_error_loses_nothing, bonds_setup, bonds_teardown),
        cmocka_unit_test_setup_teardown(a_lock_that_is_not_released_is_an_error, bonds_setup, bonds_teardown),
        cmocka_unit_test_setup_teardown(a_disk_that_fails_leaves_what_was_there, bonds_setup, bonds_teardown),
        cmocka_unit_test_setup_teardown(another_process_is_seen, bonds_setup, bonds_teardown),
        cmocka_unit_test_setup_teardown(a_file_that_becomes_readable_to_others_is_not_used, bonds_setup,
                                        bonds_teardown),
        cmocka_unit_test_setup_teardown(what_is_no_file_of_ours_is_left_alone, bonds_setup, bonds_teardown),
        cmocka_unit_test_setup_teardown(a_repaired_file_is_used_again, bonds_setup, bonds_teardown),
        cmocka_unit_test(a_path_that_is_too_long_is_not_truncated),
        cmocka_unit_test_setup_teardown(the_default_path, bonds_setup, bonds_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
