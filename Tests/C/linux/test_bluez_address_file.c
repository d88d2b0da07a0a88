/* SPDX-License-Identifier: MIT */
/* The file of the static random address: where it is, and what is left when it cannot be made. tendon/bluez.h. */
#include "bluez_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- in the place of the C library ---- */

static struct disk {
    refused_call write, fsync, random, link, create;
    size_t written;      /* at most so many bytes of a write; 0: all */
    size_t drawn;        /* so many random bytes; 0: all */
    uid_t user_offset;   /* not 0: another user */
    const char *winner;  /* the address that another process has stored in the meantime */
    char looked_at[512]; /* the latest path under /var/lib or /home that was opened */
} disk;

static bool fails(refused_call *call) {
    errno = call->number;
    bool failed = call->number != 0;
    call->number = 0;
    return failed;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (fails(&disk.write)) {
        return -1;
    }
    return syscall(SYS_write, fd, bytes, disk.written != 0 && disk.written < length ? disk.written : length);
}

int fsync(int fd) {
    return fails(&disk.fsync) ? -1 : (int)syscall(SYS_fsync, fd);
}

uid_t geteuid(void) {
    return (uid_t)syscall(SYS_geteuid) + disk.user_offset;
}

ssize_t getrandom(void *bytes, size_t length, unsigned flags) {
    assert_int_equal(flags, 0); /* early in the boot it waits: an address must not be guessable */
    if (fails(&disk.random)) {
        return -1;
    }
    return syscall(SYS_getrandom, bytes, disk.drawn != 0 ? disk.drawn : length, flags);
}

static void store(const char *path, const char *text, mode_t mode);

int link(const char *from, const char *to) {
    if (disk.winner != NULL) {
        store(to, disk.winner, 0600);
    }
    return fails(&disk.link) ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    if (strncmp(path, "/var/lib/", 9) == 0 || strncmp(path, "/home/", 6) == 0) {
        snprintf(disk.looked_at, sizeof disk.looked_at, "%s", path);
        errno = ENOENT;
        return -1;
    }
    if ((flags & O_EXCL) != 0 && fails(&disk.create)) {
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static void store(const char *path, const char *text, mode_t mode) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    assert_true(fd >= 0);
    assert_int_equal(syscall(SYS_write, fd, text, strlen(text)), (long)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

/* ---- a directory for each test ---- */

static char base[64], directory[128], path[192];

static int setup(void **state) {
    (void)state;
    disk = (struct disk){.written = 0};
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

static int files_of(const char *name) {
    int count = 0;
    DIR *entries = opendir(name);
    for (const struct dirent *entry = entries != NULL ? readdir(entries) : NULL; entry != NULL;
         entry = readdir(entries)) {
        count += entry->d_name[0] != '.';
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return count;
}

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

/* ---- tests ---- */

static void a_file_that_cannot_be_made_leaves_nothing(void **state) {
    (void)state;
    static const struct {
        refused_call *call;
        int number;
        size_t written, drawn;
        tendon_status expected;
    } cases[] = {
        {&disk.write, ENOSPC, 0, 0, TENDON_SYSTEM_ERROR(ENOSPC)},
        {&disk.write, EIO, 0, 0, TENDON_SYSTEM_ERROR(EIO)},
        {NULL, 0, 5, 0, TENDON_SYSTEM_ERROR(ENOSPC)}, /* a part of it */
        {&disk.fsync, EIO, 0, 0, TENDON_SYSTEM_ERROR(EIO)},
        {&disk.random, ENOSYS, 0, 0, TENDON_SYSTEM_ERROR(ENOSYS)},
        {&disk.link, EPERM, 0, 0, TENDON_SYSTEM_ERROR(EPERM)},
        {&disk.link, EXDEV, 0, 0, TENDON_SYSTEM_ERROR(EXDEV)},
        {&disk.create, EROFS, 0, 0, TENDON_SYSTEM_ERROR(EROFS)},
    };
    int before = open_descriptors();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_address address;
        if (cases[i].call != NULL) {
            cases[i].call->number = cases[i].number;
        }
        disk.written = cases[i].written;
        assert_int_equal(tendon_bluez_static_address(3, true, &address), cases[i].expected);
        assert_int_equal(files_of(directory), 0);
        assert_int_equal(open_descriptors(), before);
        disk.written = 0;
    }
    for (size_t drawn = 1; drawn < 6; drawn++) { /* fewer random bytes than were requested */
        tendon_address address;
        disk.drawn = drawn;
        assert_true(tendon_bluez_static_address(3, true, &address) < 0);
        assert_int_equal(files_of(directory), 0);
    }
    disk.drawn = 0;
    tendon_address address;
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_OK); /* the next attempt works */
    assert_int_equal(files_of(directory), 1);
    assert_int_equal(open_descriptors(), before);
}

/* Two processes at the same time: both use the address of the first. */
static void the_first_of_two_processes_decides(void **state) {
    (void)state;
    tendon_address address;
    disk.winner = "C0:11:22:33:44:56\n";
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_OK);
    static const uint8_t bytes[] = {0xC0, 0x11, 0x22, 0x33, 0x44, 0x56};
    assert_memory_equal(address.bytes, bytes, 6);
    assert_int_equal(address.type, TENDON_ADDRESS_TYPE_RANDOM);
    assert_int_equal(files_of(directory), 1);
}

/* A killed process with the same number has left its temporary file. */
static void a_temporary_file_that_was_left_behind_is_replaced(void **state) {
    (void)state;
    char temporary[256];
    tendon_address address, again;
    struct stat info;
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_OK);
    assert_int_equal(unlink(path), 0);
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    store(temporary, "C0", 0600);
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_OK);
    assert_int_equal(files_of(directory), 1);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 18);
    assert_int_equal(tendon_bluez_static_address(3, false, &again), TENDON_OK);
    assert_true(tendon_address_equal(&address, &again));
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
    assert_int_equal(files_of(base), 1);
    assert_int_equal(files_of(parent), 1);
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
    int before = open_descriptors();
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_OK);
    static const mode_t modes[] = {0640, 0620, 0610, 0604, 0602, 0601};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_ERROR_FILE_PERMISSION);
    }
    assert_int_equal(chmod(path, 0600), 0);
    disk.user_offset = 1;
    assert_int_equal(tendon_bluez_static_address(3, true, &address), TENDON_ERROR_FILE_PERMISSION);
    disk.user_offset = 0;
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

static void where_the_file_is(void **state) {
    (void)state;
    tendon_address address;
    static const struct {
        const char *state_home, *home, *expected;
    } cases[] = {
        {"/home/a/state", "/home/b", "/home/a/state/tendon/address-hci12"},
        {NULL, "/home/b", "/home/b/.local/state/tendon/address-hci12"},
        {"state", "/home/b", "/home/b/.local/state/tendon/address-hci12"}, /* relative: XDG ignores it */
        {"", "/home/b", "/home/b/.local/state/tendon/address-hci12"},
        {NULL, NULL, "/var/lib/tendon/address-hci12"},
        {NULL, "b", "/var/lib/tendon/address-hci12"},
        {NULL, "", "/var/lib/tendon/address-hci12"},
    };
    const char *home = getenv("HOME");
    char kept[256];
    snprintf(kept, sizeof kept, "%s", home != NULL ? home : "");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(cases[i].state_home != NULL ? setenv("XDG_STATE_HOME", cases[i].state_home, 1)
                                                     : unsetenv("XDG_STATE_HOME"),
                         0);
        assert_int_equal(cases[i].home != NULL ? setenv("HOME", cases[i].home, 1) : unsetenv("HOME"), 0);
        assert_int_equal(tendon_bluez_static_address(12, false, &address), TENDON_ERROR_NOT_FOUND);
        assert_string_equal(disk.looked_at, cases[i].expected);
    }
    assert_int_equal(setenv("HOME", kept, 1), 0);
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
        disk.looked_at[0] = '\0';
        bool fits = (size_t)length + strlen("/tendon/address-hci3") <= 255;
        assert_int_equal(tendon_bluez_static_address(3, false, &address),
                         fits ? TENDON_ERROR_NOT_FOUND : TENDON_ERROR_OVERFLOW);
        assert_int_equal(strlen(disk.looked_at), fits ? (size_t)length + 20 : 0);
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
        ADDRESS_TEST(a_file_that_cannot_be_made_leaves_nothing),
        ADDRESS_TEST(the_first_of_two_processes_decides),
        ADDRESS_TEST(a_temporary_file_that_was_left_behind_is_replaced),
        ADDRESS_TEST(directories_are_for_their_owner_alone),
        ADDRESS_TEST(a_file_that_others_can_change_is_refused),
        ADDRESS_TEST(where_the_file_is),
        ADDRESS_TEST(a_path_that_is_too_long),
        cmocka_unit_test(the_random_bits_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
