/* SPDX-License-Identifier: MIT */
/* Bonds: the file byte by byte, refusals, processes that are killed, the kernel's lists of keys. */
#include "tendon/linux.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const tendon_address own = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x00}, TENDON_ADDRESS_TYPE_PUBLIC};

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

static int entries(const char *directory) {
    DIR *d = opendir(directory);
    int count = 0;
    assert_non_null(d);
    while (readdir(d) != NULL) {
        count++;
    }
    closedir(d);
    return count;
}

static tendon_bond bond_of(uint8_t number) {
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                        .initiator = true,
                        .type = 2,
                        .key_size = 16,
                        .own = own,
                        .peer = {{0xC0, 1, 2, 3, 4, number}, TENDON_ADDRESS_TYPE_RANDOM},
                        .diversifier = 0x1234};
    memset(bond.random, number, sizeof bond.random);
    memset(bond.key, 0xA0 + number, sizeof bond.key);
    return bond;
}

static void path_in(const char *directory, char out[128]) {
    snprintf(out, 128, "%s/state/tendon/bonds", directory);
}

static int setup(void **state) {
    char *directory = strdup("/tmp/tendon-bonds-XXXXXX");
    *state = directory;
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static int teardown(void **state) {
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    free(*state);
    return system(command);
}

static void the_file_byte_by_byte(void **state) {
    static const uint8_t wanted[16 + 46] = {
        'T',  'E',  'N',  'D',  'B',  'O',  'N',  'D',  1,    0,    1,    0,    0,    0,    0,    0, /* CRC below */
        0,    1,    2,    16,   0x00, 0x00, 0x00, 0x01, 0xAA, 0x00, 0,    0x07, 4,    3,    2,    1,
        0xC0, 1,    0x34, 0x12, 7,    7,    7,    7,    7,    7,    7,    7,    0xA7, 0xA7, 0xA7, 0xA7,
        0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0xA7, 0,    0};
    uint8_t bytes[16 + 46];
    tendon_bond bond = bond_of(7), read;
    (void)state;
    assert_int_equal(tendon_bonds_encode(&bond, 1, bytes, sizeof bytes), (tendon_status)sizeof bytes);
    uint32_t crc = tendon_crc32(0, wanted + 16, 46);
    tendon_reader reader = tendon_reader_make(bytes + 12, 4);
    assert_int_equal(tendon_read_u32le(&reader), crc);
    memset(bytes + 12, 0, 4);
    assert_memory_equal(bytes, wanted, sizeof wanted);
    assert_int_equal(tendon_bonds_encode(&bond, 1, bytes, sizeof bytes), (tendon_status)sizeof bytes);
    assert_int_equal(tendon_bonds_decode(bytes, sizeof bytes, &read, 1, NULL), 1);
    assert_memory_equal(&read.key, &bond.key, sizeof read.key);
    assert_true(tendon_address_equal(&read.peer, &bond.peer) && tendon_address_equal(&read.own, &own));
    assert_int_equal(read.diversifier, 0x1234);
    assert_int_equal(tendon_bonds_encode(&bond, 1, bytes, sizeof bytes - 1), TENDON_ERROR_BUFFER_TOO_SMALL);
}

static void every_cut_and_every_changed_byte_is_refused(void **state) {
    tendon_bond bonds[2] = {bond_of(1), bond_of(2)}, read[2];
    uint8_t bytes[16 + 2 * 46];
    (void)state;
    assert_int_equal(tendon_bonds_encode(bonds, 2, bytes, sizeof bytes), (tendon_status)sizeof bytes);
    for (size_t length = 0; length < sizeof bytes; length++) {
        uint8_t *cut = malloc(length + (length == 0));
        size_t offset = 999;
        memcpy(cut, bytes, length);
        assert_int_equal(tendon_bonds_decode(cut, length, read, 2, &offset), TENDON_ERROR_TRUNCATED);
        assert_true(offset <= length);
        free(cut);
    }
    for (size_t at = 0; at < sizeof bytes; at++) {
        bytes[at] ^= 0x10;
        if (at != 9) { /* reserved */
            assert_true(tendon_bonds_decode(bytes, sizeof bytes, read, 2, NULL) < 0);
        }
        bytes[at] ^= 0x10;
    }
    assert_int_equal(tendon_bonds_decode(bytes, sizeof bytes, read, 1, NULL), TENDON_ERROR_TABLE_FULL);
    assert_int_equal(tendon_bonds_decode(bytes, sizeof bytes, read, 2, NULL), 2);
}

static void stored_found_replaced_removed(void **state) {
    char path[128];
    tendon_bonds a, b;
    struct stat info;
    path_in(*state, path);
    assert_int_equal(tendon_bonds_open(&a, path), TENDON_OK);
    assert_int_equal(access(path, F_OK), -1); /* made with the first bond */
    tendon_bond first = bond_of(1), second = bond_of(2), responder = bond_of(1);
    responder.initiator = false;
    assert_int_equal(tendon_bonds_store(&a, &first), TENDON_OK);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(tendon_bonds_store(&a, &responder), TENDON_OK);
    assert_int_equal(tendon_bonds_open(&b, path), TENDON_OK);
    assert_int_equal(b.count, 2);
    assert_int_equal(tendon_bonds_store(&b, &second), TENDON_OK); /* by another process */
    first.key[0] = 0x55;
    assert_int_equal(tendon_bonds_store(&a, &first), TENDON_OK); /* which does not undo that */
    assert_int_equal(a.count, 3);
    assert_non_null(tendon_bonds_find(&a, TENDON_BOND_KERNEL, &own, &second.peer));
    assert_null(tendon_bonds_find(&a, TENDON_BOND_VIRTUAL, &own, &second.peer));
    assert_null(tendon_bonds_find(&a, TENDON_BOND_KERNEL, &second.peer, &second.peer));
    assert_int_equal(tendon_bonds_remove(&a, TENDON_BOND_KERNEL, &own, &first.peer), 2);
    assert_int_equal(tendon_bonds_remove(&a, TENDON_BOND_KERNEL, &own, &first.peer), 0);
    assert_int_equal(tendon_bonds_open(&b, path), TENDON_OK);
    assert_int_equal(b.count, 1);
    assert_memory_equal(b.items[0].key, second.key, 16);
    assert_int_equal(tendon_bonds_remove(&b, TENDON_BOND_KERNEL, &own, NULL), 1);
    assert_int_equal(b.count, 0);
}

static bool is_number_0(void *context, const tendon_bond *bond) {
    (void)context;
    return bond->peer.bytes[5] == 0;
}

static bool is_any(void *context, const tendon_bond *bond) {
    (void)bond;
    *(int *)context += 1;
    return true;
}

static void a_full_store_is_an_error_and_evicts_only_when_told(void **state) {
    char path[128];
    tendon_bonds bonds;
    path_in(*state, path);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    for (uint8_t i = 0; i < TENDON_BONDS_MAX; i++) {
        tendon_bond bond = bond_of(i);
        bond.initiator = i != 1;
        assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    }
    tendon_bond first = bond_of(0), second = bond_of(1), third = bond_of(2), last = bond_of(TENDON_BONDS_MAX);
    assert_int_equal(tendon_bonds_store(&bonds, &last), TENDON_RADIO_ERROR_BONDS_FULL);
    assert_int_equal(bonds.count, TENDON_BONDS_MAX);
    first.key[0] = 1;
    assert_int_equal(tendon_bonds_store(&bonds, &first), TENDON_OK); /* one that is there is replaced */
    int asked = 0;
    assert_int_equal(tendon_bonds_store_replacing(&bonds, &last, is_any, &asked), TENDON_RADIO_ERROR_BONDS_FULL);
    assert_int_equal(asked, TENDON_BONDS_MAX - 1); /* not the one of the other role */
    assert_int_equal(tendon_bonds_store_replacing(&bonds, &last, is_number_0, NULL), TENDON_OK);
    assert_int_equal(bonds.count, TENDON_BONDS_MAX);
    assert_non_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &own, &first.peer));
    assert_non_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &own, &second.peer));
    assert_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &own, &third.peer));
    assert_non_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &own, &last.peer));
}

static void address_and_type_identify_a_device(void **state) {
    tendon_bonds bonds;
    tendon_bond random = bond_of(1), public = bond_of(1);
    (void)state;
    public.peer.type = TENDON_ADDRESS_TYPE_PUBLIC;
    tendon_bonds_init(&bonds);
    assert_int_equal(tendon_bonds_store(&bonds, &random), TENDON_OK);
    assert_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &own, &public.peer));
    assert_int_equal(tendon_bonds_store(&bonds, &public), TENDON_OK);
    assert_int_equal(bonds.count, 2);
    assert_int_equal(tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &own, &random.peer), 1);
    assert_non_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &own, &public.peer));
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
    tendon_bond first = bond_of(1), second = bond_of(2);
    path_in(*state, path);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &first), TENDON_OK);
    int before = entries("/proc/self/fd");
    for (int available = 0; available < 2; available++) { /* for the lock, then for the file */
        assert_int_equal(store_with_descriptors(&bonds, &second, available), TENDON_SYSTEM_ERROR(EMFILE));
        assert_int_equal(bonds.status, TENDON_OK);
        assert_int_equal(bonds.count, 1);
        assert_non_null(tendon_bonds_find(&bonds, TENDON_BOND_KERNEL, &own, &first.peer));
        assert_int_equal(entries("/proc/self/fd"), before); /* the lock is open no more */
    }
    assert_int_equal(tendon_bonds_store(&bonds, &second), TENDON_OK);
    assert_int_equal(bonds.count, 2);
}

static void a_disk_that_fails_leaves_what_was_there(void **state) {
    char path[128], directory[128];
    tendon_bonds bonds, after;
    tendon_bond first = bond_of(1), second = bond_of(2);
    path_in(*state, path);
    snprintf(directory, sizeof directory, "%s/state/tendon", (char *)*state);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &first), TENDON_OK);
    int files = entries(directory), descriptors = entries("/proc/self/fd");
    for (int i = 0; i < 2; i++) {
        failing_rename = i == 0;
        failing_fsync = i == 1;
        assert_int_equal(tendon_bonds_store(&bonds, &second), TENDON_SYSTEM_ERROR(i == 0 ? EIO : ENOSPC));
        failing_rename = i == 0;
        failing_fsync = i == 1;
        assert_true(tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &own, &first.peer) < 0);
        failing_rename = failing_fsync = 0;
        assert_int_equal(entries(directory), files); /* no file of keys is left behind */
        assert_int_equal(entries("/proc/self/fd"), descriptors);
        assert_int_equal(bonds.count, 1); /* what the file holds, and nothing else */
        assert_int_equal(tendon_bonds_open(&after, path), TENDON_OK);
        assert_int_equal(after.count, 1);
        assert_non_null(tendon_bonds_find(&after, TENDON_BOND_KERNEL, &own, &first.peer));
    }
    assert_int_equal(tendon_bonds_store(&bonds, &second), TENDON_OK);
}

static void another_process_is_seen(void **state) {
    char path[128];
    tendon_bonds a, b;
    tendon_bond first = bond_of(1);
    path_in(*state, path);
    assert_int_equal(tendon_bonds_open(&a, path), TENDON_OK);
    assert_int_equal(tendon_bonds_open(&b, path), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&a, &first), TENDON_OK);
    assert_int_equal(tendon_bonds_refresh(&b), TENDON_OK);
    assert_non_null(tendon_bonds_find(&b, TENDON_BOND_KERNEL, &own, &first.peer));
    b.items[0].key[0] ^= 1;
    assert_int_equal(tendon_bonds_refresh(&b), TENDON_OK); /* an unchanged file is not read */
    assert_int_not_equal(b.items[0].key[0], first.key[0]);
    assert_int_equal(tendon_bonds_remove(&a, TENDON_BOND_KERNEL, &own, NULL), 1);
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
    tendon_bond first = bond_of(1), second = bond_of(2);
    path_in(*state, path);
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
    tendon_bond bond = bond_of(1);
    snprintf(path, sizeof path, "%s/other", (char *)*state);
    write_file(path, "0123456789abcdef", 0600);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_ERROR_MALFORMED);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_ERROR_MALFORMED);
    assert_int_equal(tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &own, NULL), TENDON_ERROR_MALFORMED);
    FILE *file = fopen(path, "r");
    assert_int_equal(fread(text, 1, 10, file), 10);
    fclose(file);
    assert_string_equal(text, "0123456789");
    chmod(path, 0640);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_ERROR_FILE_PERMISSION);
    unlink(path);
    assert_int_equal(symlink("/etc/hostname", path), 0);
    assert_int_equal(TENDON_STATUS_LAYER(tendon_bonds_open(&bonds, path)), TENDON_LAYER_SYSTEM);
    char longest[TENDON_BONDS_PATH_SIZE + 1];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(tendon_bonds_open(&bonds, longest), TENDON_ERROR_OVERFLOW);
}

/* A file that was none of ours and is repaired is used again. */
static void a_repaired_file_is_used_again(void **state) {
    char path[128], other[128];
    tendon_bonds bonds, good;
    tendon_bond bond = bond_of(1);
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
    tendon_bond bond = bond_of(1);
    char home[TENDON_BONDS_PATH_SIZE + 8];
    (void)state;
    memset(home, 'x', sizeof home);
    home[0] = '/';
    home[TENDON_BONDS_PATH_SIZE - 8] = '\0';
    setenv("XDG_STATE_HOME", home, 1);
    assert_int_equal(tendon_bonds_open(&bonds, NULL), TENDON_ERROR_OVERFLOW);
    unsetenv("XDG_STATE_HOME");
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_ERROR_OVERFLOW);
    assert_int_equal(tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &own, NULL), TENDON_ERROR_OVERFLOW);
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

/* A process that writes without pause is killed again and again: the file is whole each time. */
static void kill_9_leaves_a_whole_file(void **state) {
    char path[128];
    tendon_bonds bonds;
    tendon_bond kept = bond_of(200);
    path_in(*state, path);
    assert_int_equal(tendon_bonds_open(&bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &kept), TENDON_OK);
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();
        if (child == 0) {
            for (uint8_t i = 0;; i = (uint8_t)((i + 1) % 20)) {
                tendon_bond bond = bond_of(i);
                (void)tendon_bonds_store(&bonds, &bond);
                (void)tendon_bonds_remove(&bonds, TENDON_BOND_KERNEL, &own, &bond.peer);
            }
        }
        usleep(1000 + (useconds_t)(round * 300));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        tendon_bonds after;
        assert_int_equal(tendon_bonds_open(&after, path), TENDON_OK);
        assert_non_null(tendon_bonds_find(&after, TENDON_BOND_KERNEL, &own, &kept.peer));
        assert_true(after.count <= 2 + (size_t)round);
    }
    tendon_bond more = bond_of(201); /* the lock of a dead process holds nobody up */
    assert_int_equal(tendon_bonds_store(&bonds, &more), TENDON_OK);
}

/* Linux management interface: New Long Term Key, Load Long Term Keys. */
static const uint8_t new_key[37] = {1,
                                    0x07,
                                    4,
                                    3,
                                    2,
                                    1,
                                    0xC0,
                                    2 /* LE random */,
                                    2 /* P-256 */,
                                    1,
                                    16,
                                    0x34,
                                    0x12,
                                    7,
                                    7,
                                    7,
                                    7,
                                    7,
                                    7,
                                    7,
                                    7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7,
                                    0xA7};

static void the_kernels_keys(void **state) {
    tendon_bond bond, wanted = bond_of(7);
    bool stored = false;
    (void)state;
    assert_int_equal(tendon_bond_decode_key(new_key, sizeof new_key, &bond, &stored), TENDON_OK);
    assert_true(stored && bond.initiator);
    assert_true(tendon_address_equal(&bond.peer, &wanted.peer));
    assert_memory_equal(bond.key, wanted.key, 16);
    for (size_t length = 0; length < sizeof new_key; length++) {
        uint8_t *cut = malloc(length + (length == 0));
        memcpy(cut, new_key, length);
        assert_int_equal(tendon_bond_decode_key(cut, length, &bond, &stored), TENDON_ERROR_TRUNCATED);
        free(cut);
    }
    for (unsigned value = 0; value < 256; value++) {
        uint8_t changed[37];
        memcpy(changed, new_key, sizeof changed);
        changed[7] = (uint8_t)value;
        bool good = value == 1 || value == 2;
        assert_int_equal(tendon_bond_decode_key(changed, sizeof changed, &bond, &stored),
                         good ? TENDON_OK : TENDON_ERROR_MALFORMED);
        changed[7] = 1;
        changed[10] = (uint8_t)value;
        good = value >= 7 && value <= 16;
        assert_int_equal(tendon_bond_decode_key(changed, sizeof changed, &bond, &stored),
                         good ? TENDON_OK : TENDON_ERROR_MALFORMED);
    }
    tendon_bonds bonds;
    uint8_t list[2 + 2 * 36];
    tendon_bonds_init(&bonds);
    tendon_bond other = bond_of(1), virtual_one = bond_of(2);
    other.own.bytes[0] = 0x77;
    virtual_one.radio = TENDON_BOND_VIRTUAL;
    assert_int_equal(tendon_bonds_store(&bonds, &other), TENDON_OK);
    assert_int_equal(tendon_bonds_store(&bonds, &virtual_one), TENDON_OK);
    assert_int_equal(tendon_bonds_encode_keys(&bonds, &own, list, sizeof list), 2);
    assert_int_equal(list[0] | list[1], 0);
    assert_int_equal(tendon_bonds_store(&bonds, &wanted), TENDON_OK);
    assert_int_equal(tendon_bonds_encode_keys(&bonds, &own, list, sizeof list), 2 + 36);
    assert_int_equal(list[0], 1);
    assert_memory_equal(list + 2, new_key + 1, 36); /* as it came, so it goes back */
    assert_int_equal(tendon_bonds_encode_keys(&bonds, &own, list, 37), TENDON_ERROR_BUFFER_TOO_SMALL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_byte_by_byte),
        cmocka_unit_test(every_cut_and_every_changed_byte_is_refused),
        cmocka_unit_test_setup_teardown(stored_found_replaced_removed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_store_is_an_error_and_evicts_only_when_told, setup, teardown),
        cmocka_unit_test(address_and_type_identify_a_device),
        cmocka_unit_test_setup_teardown(a_transient_error_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_disk_that_fails_leaves_what_was_there, setup, teardown),
        cmocka_unit_test_setup_teardown(another_process_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_becomes_readable_to_others_is_not_used, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_file_of_ours_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_repaired_file_is_used_again, setup, teardown),
        cmocka_unit_test(a_path_that_is_too_long_is_not_truncated),
        cmocka_unit_test_setup_teardown(the_default_path, setup, teardown),
        cmocka_unit_test_setup_teardown(kill_9_leaves_a_whole_file, setup, teardown),
        cmocka_unit_test(the_kernels_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
