/* SPDX-License-Identifier: MIT */
/* The file of the static random address: where it is, and what is left when it cannot be made. tendon/bluez.h. */
#include "../../../../CSources/linux/adapter/adapter_parts.h"
#include "../open_files.h"
#include "../store/failing_disk.h"
#include "test_bytes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- in the place of the C library ---- */

static size_t drawn;      /* so many random bytes; 0: all */
static int no_random;     /* errno */
static uid_t user_offset; /* not 0: another user */

uid_t geteuid(void) {
    return (uid_t)syscall(SYS_geteuid) + user_offset;
}

ssize_t getrandom(void *bytes, size_t length, unsigned flags) {
    assert_int_equal(flags, 0); /* early in the boot it waits: an address must not be guessable */
    errno = no_random;
    return no_random != 0 ? -1 : syscall(SYS_getrandom, bytes, drawn != 0 ? drawn : length, flags);
}

static void store(const char *path, const char *text, mode_t mode) {
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

/* ---- a directory for each test ---- */

static char base[64], directory[128], path[192];

static int setup(void **state) {
    (void)state;
    disk = (struct disk){.piece = 0};
    snprintf(base, sizeof base, "/tmp/tendon-address-XXXXXX");
    assert_non_null(mkdtemp(base));
    snprintf(directory, sizeof directory, "%s/state/tendon", base);
    snprintf(path, sizeof path, "%s/address-hci3", directory);
    char state_home[128];
    snprintf(state_home, sizeof state_home, "%s/state", base);
    return setenv("XDG_STATE_HOME", state_home, 1);
}

static int teardown(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", base);
    return system(command);
}

/* ---- tests ---- */

static bool exists(const char *name) {
    struct stat info;
    return lstat(name, &info) == 0;
}

static void the_address_is_random_and_kept(void **state) {
    (void)state;
    struct stat info;
    tendon_address first, again, other, elsewhere;
    assert_int_equal(tendon_bluez_static_address(3, false, &first), TENDON_ERROR_NOT_FOUND);
    assert_false(exists(directory)); /* asking makes nothing */
    assert_int_equal(tendon_bluez_static_address(3, true, &first), TENDON_OK);
    assert_int_equal(first.type, TENDON_ADDRESS_TYPE_RANDOM);
    assert_int_equal(first.bytes[0] & 0xC0, 0xC0);
    char lock[sizeof path + 8];
    snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(unlink(lock), 0);
    for (int make_it = 0; make_it < 2; make_it++) {
        assert_int_equal(tendon_bluez_static_address(3, make_it, &again), TENDON_OK);
        assert_true(tendon_address_equal(&first, &again));
    }
    assert_false(exists(lock)); /* a directory that cannot be written to does, too */
    assert_int_equal(tendon_bluez_static_address(1, true, &other), TENDON_OK);
    assert_false(tendon_address_equal(&first, &other));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(info.st_size, 18);
    /* Another board with the same image, serial number and machine-id included, has another address. */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(tendon_bluez_static_address(3, true, &elsewhere), TENDON_OK);
    assert_false(tendon_address_equal(&first, &elsewhere));
}

/* After a power cut the same address is there: the name of the file is on the disk, too. */
static void the_directory_is_on_the_disk(void **state) {
    (void)state;
    tendon_address address;
    disk.synced = 0;
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_OK);
    assert_int_equal(disk.synced, 1);
    assert_string_equal(disk.directory, directory);
}

static void a_file_that_cannot_be_made_is_made_later(void **state) {
    (void)state;
    static const struct {
        refused *call;
        refused refusal;
        tendon_status expected;
    } cases[] = {
        {&disk.write, {ENOSPC, 0}, TENDON_SYSTEM_ERROR(ENOSPC)},
        {&disk.write, {EIO, 1}, TENDON_SYSTEM_ERROR(EIO)}, /* after a part of it */
        {&disk.fsync, {EIO, 0}, TENDON_SYSTEM_ERROR(EIO)},
        {&disk.rename, {EPERM, 0}, TENDON_ERROR_FILE_PERMISSION},
        {&disk.open, {EROFS, 2}, TENDON_SYSTEM_ERROR(EROFS)}, /* the lock exists */
    };
    tendon_address address;
    disk.piece = 5;
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        *cases[i].call = cases[i].refusal;
        assert_int_equal(tendon_bluez_static_address(3, true, &address), cases[i].expected);
        assert_false(exists(path));
        assert_int_equal(open_descriptors(), before);
    }
    no_random = ENOSYS;
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_SYSTEM_ERROR(ENOSYS));
    no_random = 0;
    for (drawn = 1; drawn < 6; drawn++) { /* fewer random bytes than were requested */
        assert_true(tendon_bluez_static_address(3, true, &address) < 0);
        assert_false(exists(path));
    }
    drawn = 0;
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_OK);
    assert_true(exists(path));
    assert_int_equal(open_descriptors(), before);
}

static bool make_one(const void *context) {
    tendon_address address;
    (void)context;
    return tendon_bluez_static_address(3, true, &address) == TENDON_OK;
}

/* In the place of each call: the file is there whole, or not at all, and the next process is content with it. */
static void a_process_that_is_killed_leaves_no_part(void **state) {
    (void)state;
    tendon_address address, again;
    bool survived = false;
    for (unsigned at = 1; !survived; at++) {
        (void)unlink(path);
        disk.piece = 5;
        survived = live_until(make_one, NULL, at);
        tendon_status found = tendon_bluez_static_address(3, false, &address);
        assert_true(found == TENDON_OK || (found == TENDON_ERROR_NOT_FOUND && !survived));
        assert_int_equal(tendon_bluez_static_address(3, true, &again), TENDON_OK);
        assert_true(found != TENDON_OK || tendon_address_equal(&address, &again));
    }
}

/* Processes at the same time: all use the address of the first. */
static void the_first_of_several_processes_decides(void **state) {
    enum { PROCESSES = 4, ROUNDS = 8 };
    (void)state;
    disk.unsynced = true; /* on a slow disk the lock is held for longer than the others wait */
    for (int round = 0; round < ROUNDS; round++) {
        int ends[2];
        tendon_address first, next;
        (void)unlink(path);
        assert_int_equal(pipe(ends), 0);
        for (int i = 0; i < PROCESSES; i++) {
            if (fork() == 0) {
                tendon_status status = tendon_bluez_static_address(3, true, &next);
                _exit(status == TENDON_OK && write(ends[1], &next, sizeof next) == (ssize_t)sizeof next ? 0 : 1);
            }
        }
        for (int i = 0; i < PROCESSES; i++) {
            int status = 0;
            assert_true(wait(&status) > 0);
            assert_int_equal(status, 0);
            assert_int_equal(read(ends[0], &next, sizeof next), sizeof next);
            first = i == 0 ? next : first;
            assert_true(tendon_address_equal(&first, &next));
        }
        close(ends[0]);
        close(ends[1]);
    }
}

static void directories_are_for_their_owner_alone(void **state) {
    (void)state;
    tendon_address address;
    struct stat info;
    mode_t mask = umask(0);
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_OK);
    umask(mask);
    char parent[128];
    snprintf(parent, sizeof parent, "%s/state", base);
    assert_int_equal(stat(parent, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(stat(directory, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    /* A file in the place of a directory. */
    char state_home[192];
    snprintf(state_home, sizeof state_home, "%s", path);
    assert_int_equal(setenv("XDG_STATE_HOME", state_home, 1), 0);
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_SYSTEM_ERROR(ENOTDIR));
}

/* Each bit of others is one too many; so is a file of somebody else, a symbolic link, and a directory. */
static void a_file_that_others_can_change_is_refused(void **state) {
    (void)state;
    tendon_address address;
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_OK);
    int before = open_descriptors();
    static const mode_t modes[] = {0640, 0620, 0610, 0604, 0602, 0601};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_ERROR_FILE_PERMISSION);
    }
    assert_int_equal(chmod(path, 0600), 0);
    user_offset = 1;
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_ERROR_FILE_PERMISSION);
    user_offset = 0;
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_OK);
    char other[256];
    snprintf(other, sizeof other, "%s/elsewhere", directory);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_SYSTEM_ERROR(ELOOP));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_SYSTEM_ERROR(EISDIR));
    assert_int_equal(open_descriptors(), before);
}

/* What is in the file of another program, or of another version, is not overwritten. */
static void a_file_with_something_else_is_refused_and_kept(void **state) {
    (void)state;
    static const struct {
        const char *text;
        tendon_status expected;
    } cases[] = {
        {"C5:11:22:33:44:56\n", TENDON_OK},
        {"", TENDON_ERROR_MALFORMED},
        {"\n", TENDON_ERROR_MALFORMED},
        {"C5:11:22:33:44:56", TENDON_ERROR_MALFORMED}, /* truncated */
        {"C5:11:22:33:44\n", TENDON_ERROR_MALFORMED},
        {"C5:11:22:33:44:567\n", TENDON_ERROR_MALFORMED},
        {"45:11:22:33:44:56\n", TENDON_ERROR_MALFORMED}, /* resolvable, not static */
    };
    tendon_address address;
    struct stat info;
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        store(path, cases[i].text, 0600);
        assert_int_equal(tendon_bluez_static_address(3, true, &address), cases[i].expected);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_size, strlen(cases[i].text));
    }
}

static void where_the_file_is(void **state) {
    (void)state;
    tendon_address made, found;
    char state_home[192], home[128];
    snprintf(home, sizeof home, "%s/home", base);
    snprintf(state_home, sizeof state_home, "%s/home/.local/state", base);
    assert_int_equal(setenv("XDG_STATE_HOME", state_home, 1), 0);
    assert_int_equal(tendon_bluez_static_address(12, true, &made), TENDON_OK);
    const char *kept = getenv("HOME");
    snprintf(path, sizeof path, "%s", kept != NULL ? kept : "");
    assert_int_equal(setenv("HOME", home, 1), 0);
    static const char *const none[] = {NULL, "", "state"}; /* relative: XDG ignores it */
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(none[i] != NULL ? setenv("XDG_STATE_HOME", none[i], 1) : unsetenv("XDG_STATE_HOME"), 0);
        assert_int_equal(tendon_bluez_static_address(12, false, &found), TENDON_OK);
        assert_true(tendon_address_equal(&made, &found));
    }
    assert_int_equal(setenv("HOME", path, 1), 0);
}

/* 255 bytes is the longest path. */
static void a_path_that_is_too_long(void **state) {
    (void)state;
    char long_home[300];
    for (int length = 230; length < 260; length++) {
        tendon_address address;
        memset(long_home, 'a', sizeof long_home);
        memcpy(long_home, "/home/", 6);
        long_home[length] = '\0';
        assert_int_equal(setenv("XDG_STATE_HOME", long_home, 1), 0);
        bool fits = (size_t)length + strlen("/tendon/address-hci3") <= 255;
        assert_int_equal(tendon_bluez_static_address(3, false, &address),
                         fits ? TENDON_ERROR_NOT_FOUND : TENDON_ERROR_OVERFLOW);
    }
}

/* All 46 bits are random, but for one that the rule decides. */
static void the_random_bits_are_kept(void **state) {
    (void)state;
    for (unsigned value = 0; value < 256; value++) {
        const uint8_t random[6] = {(uint8_t)value, 0x11, 0x22, 0x33, 0x44, (uint8_t)value};
        tendon_address address = tendon_bluez_static_address_from(random);
        assert_int_equal(address.bytes[0], value | 0xC0);
        assert_memory_equal(address.bytes + 1, random + 1, 4);
        assert_int_equal(address.bytes[5] & 0xFD, value & 0xFD);
        assert_int_equal(address.bytes[5] & 2, (value & 1) != 0 ? 0 : 2);
    }
}

#define ADDRESS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ADDRESS_TEST(the_address_is_random_and_kept),
        ADDRESS_TEST(the_directory_is_on_the_disk),
        ADDRESS_TEST(a_file_that_cannot_be_made_is_made_later),
        ADDRESS_TEST(a_process_that_is_killed_leaves_no_part),
        ADDRESS_TEST(the_first_of_several_processes_decides),
        ADDRESS_TEST(a_file_with_something_else_is_refused_and_kept),
        ADDRESS_TEST(directories_are_for_their_owner_alone),
        ADDRESS_TEST(a_file_that_others_can_change_is_refused),
        ADDRESS_TEST(where_the_file_is),
        ADDRESS_TEST(a_path_that_is_too_long),
        cmocka_unit_test(the_random_bits_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
