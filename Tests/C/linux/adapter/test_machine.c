/* SPDX-License-Identifier: MIT */
/* What the radio reads about the machine: rfkill, the HCI sockets of others, bond stores in use. */
#include "bluez_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- in the place of the C library ---- */

static int open_descriptors(void) {
    int count = 0;
    for (int fd = 0; fd < 256; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void an_adapter_that_is_switched_off_has_its_reason(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        fake.refuse[FAKE_IOCTL] = (fake_refusal){0};
        if (how < 2) {
            fake_add(7, false);
        }
        if (how == 1) {
            fake_sysfs(7, "rfkill3/soft", "1\n");
        }
        bluez_settings(b, false);
        bluez_read(b);
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
        assert_int_equal(b->failures, 1);
        static const tendon_status expected[] = {TENDON_RADIO_ERROR_ADAPTER_DOWN, TENDON_RADIO_ERROR_RFKILL,
                                                 TENDON_RADIO_ERROR_NO_ADAPTER};
        assert_int_equal(b->failure, expected[how]);
        bluez_close(b);
    }
}

/* ---- HCI sockets of others ---- */

/** /proc/self/net/hci as Linux has it, with so many sockets. */
static void list_sockets(int count) {
    char text[1024] = "sk               RefCnt Rmem   Wmem   User   Inode  Parent\n";
    for (int i = 0; i < count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%p 2      0      0      0      %d  0     \n",
                 (void *)0x100, 4000 + i);
    }
    fake_file("/proc/self/net/hci", text);
}

enum { NAMES = 4 };

/** /proc/self/net/unix with these names in the abstract namespace, of sockets that were not there before, one of a
 * program that is none of ours, and a path. */
static void list_names(const char *const names[NAMES]) {
    static int inode;
    static const char line[] = "0000000000000000: 00000002 00000000 00000000 0002 01 2";
    char text[2048];
    snprintf(
        text, sizeof text,
        "Num       RefCount Protocol Flags    Type St Inode Path\n%s0 /tmp/@tendon/hci7/radio/0\n%s1\n%s2 @/tmp/x\n",
        line, line, line);
    for (int i = 0; i < NAMES && names[i] != NULL; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d %s\n", line, inode++, names[i]);
    }
    fake_file("/proc/self/net/unix", text);
}

/* docs/bluez-states.md, "Other programs": a radio has two sockets, a capture and a program that waits have one. */
static void sockets_of_this_adapter_are_counted(void **state) {
    static const struct {
        int sockets;
        const char *names[NAMES];
        int users, programs; /* of this adapter; that are not of this library */
    } rows[] = {{2, {"@tendon/hci7/radio/0"}, 0, 0},
                {2, {"@tendon/hci7/sole/0"}, 0, 0},
                {3, {"@tendon/hci7/radio/0"}, 1, 1},
                {4, {"@tendon/hci7/radio/0", "@tendon/hci7/radio/1"}, 2, 0},
                {4, {"@tendon/hci7/radio/0", "@tendon/hci7/sole/0"}, 2, 0},
                {6, {"@tendon/hci7/radio/0", "@tendon/hci7/radio/63"}, 4, 2},
                {4, {"@tendon/hci7/radio/0", "@tendon/hci15/radio/0"}, 0, 0},
                {4, {"@tendon/hci77/sole/0", "@tendon/hci7/radio/0"}, 0, 0},
                {7, {"@tendon/hci7/radio/0", "@tendon/hci0/radio/0", "@tendon/hci0/radio/1"}, 1, 1},
                {3, {"@tendon/hci7/radio/0", "@tendon/hci65535/watcher/0"}, 0, 0},
                {4, {"@tendon/hci7/radio/0", "@tendon/hci65535/watcher/0", "@tendon/hci65535/watcher/1"}, 0, 0},
                {2, {"@tendon/hci7/radio/0", "@tendon/hci7/keys-fe-1-2/0", "@tendon/hci8/keys-fe-1-2/0"}, 0, 0},
                {4, {"@tendon/hci7/radio/0", "@tendon/hci15/later/0"}, 2, 2}, /* it says nothing to this version */
                {4, {"@tendon/hci7/radio/0", "@tendon/hci15"}, 2, 2},
                {3, {"@tendon/hci7/radio/0", "@tendon/hci15/radio/0"}, -1, -1}}; /* more than there are */
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    b->radio.leases[0] = tendon_bluez_lease(7, "radio");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        list_sockets(rows[i].sockets);
        list_names(rows[i].names);
        assert_int_equal(tendon_bluez_users(&b->radio), rows[i].users);
        assert_int_equal(tendon_bluez_programs(&b->radio), rows[i].programs);
    }
    /* One that could not show itself knows its own sockets. */
    close(b->radio.leases[0]);
    b->radio.leases[0] = -1;
    list_sockets(5);
    list_names((const char *const[NAMES]){"@tendon/hci15/radio/0"});
    assert_int_equal(tendon_bluez_users(&b->radio), 1);
    assert_int_equal(tendon_bluez_programs(&b->radio), 1);
    fake_file("/proc/self/net/hci", NULL);
    assert_int_equal(tendon_bluez_users(&b->radio), -1); /* fake.programs: nobody may read it */
    assert_int_equal(tendon_bluez_programs(&b->radio), -1);
    bluez_close(b);
}

static int changes;

/** A radio of hci15 is closed, names first, while the sockets of all are counted; the next time it has come back. */
static void comes_and_goes(const char *path) {
    static const char *const names[2][NAMES] = {{"@tendon/hci7/radio/0"},
                                                {"@tendon/hci7/radio/0", "@tendon/hci15/radio/0"}};
    if (strcmp(path, "/proc/self/net/hci") == 0 && changes > 0) {
        changes--;
        list_sockets(4);
        list_names(names[changes % 2]);
    }
}

/* What is counted then belongs to no moment: bluetoothd's two sockets for those of that radio. */
static void sockets_are_counted_again_if_names_change(void **state) {
    (void)state;
    static const char *const two[NAMES] = {"@tendon/hci7/radio/0", "@tendon/hci15/radio/0"};
    static const int expected[] = {2, 2, 2, -1, -1};
    for (int count = 0; count < 5; count++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        list_sockets(6);
        list_names(two);
        fake.on_open = comes_and_goes;
        changes = count;
        assert_int_equal(tendon_bluez_users(&b->radio), expected[count]);
        fake.on_open = NULL;
        bluez_close(b);
    }
}

/* The first number that is free, of 64; that of one that has ended is free again. */
static void a_use_is_shown_by_a_name_of_its_own(void **state) {
    (void)state;
    int leases[64], before = open_descriptors();
    for (int i = 0; i < 64; i++) {
        struct sockaddr_un name;
        char expected[64];
        socklen_t length = sizeof name;
        int size = snprintf(expected, sizeof expected, "%ctendon/hci7/sole/%d", 0, i);
        leases[i] = tendon_bluez_lease(7, "sole");
        assert_int_equal(getsockname(leases[i], (struct sockaddr *)&name, &length), 0);
        assert_int_equal(length - offsetof(struct sockaddr_un, sun_path), size);
        assert_memory_equal(name.sun_path, expected, (size_t)size);
    }
    assert_int_equal(tendon_bluez_lease(7, "sole"), -1);
    assert_int_equal(errno, EADDRINUSE);
    assert_int_equal(open_descriptors(), before + 64);
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max}), 0);
    assert_int_equal(tendon_bluez_lease(8, "sole"), -1);
    assert_int_equal(errno, EMFILE);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    close(leases[5]);
    leases[5] = tendon_bluez_lease(7, "sole");
    int other = tendon_bluez_lease(8, "sole");
    assert_true(leases[5] >= 0 && other >= 0);
    close(other);
    for (int i = 0; i < 64; i++) {
        close(leases[i]);
    }
    assert_int_equal(open_descriptors(), before);
}

/* ---- bond stores of other processes ---- */

static tendon_status use_bonds(bluez_bench *b, tendon_bonds *bonds) {
    b->radio.radio.bonds = bonds;
    return tendon_bluez_use_bonds(&b->radio.radio);
}

static void add_bond(tendon_bonds *bonds) {
    static const tendon_bond bond = {.own = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x42}, TENDON_ADDRESS_TYPE_PUBLIC},
                                     .peer = {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM},
                                     .radio = TENDON_BOND_KERNEL,
                                     .key_size = 16,
                                     .initiator = true};
    tendon_bonds_init(bonds);
    assert_int_equal(tendon_bonds_store(bonds, &bond), TENDON_OK);
}

/** The name that a radio with this store shows to others, without the number at its end. */
static void shown_name(const tendon_bluez_radio *radio, char *out, size_t size) {
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    assert_int_equal(getsockname(radio->leases[1], (struct sockaddr *)&name, &length), 0);
    size_t count = length - sizeof name.ss_family - 1;
    assert_true(count < size);
    memcpy(out, (const char *)&name + sizeof name.ss_family + 1, count);
    out[count] = '\0';
    *strrchr(out, '/') = '\0';
}

static void a_store_of_another_process_is_found(void **state) {
    (void)state;
    enum { FILLER = 3000 };
    static char text[3 * FILLER];
    static const struct {
        const char *store; /* NULL: our own */
        const char *adapter;
        bool other;
    } cases[] = {{"keys-1-1-1", "hci7", true},  {"keys-1-1-1", "hci77", false},
                 {"keys-1-1-1", "hci8", false}, {NULL, "hci7", false},
                 {"keys-", "hci7", true},       {"later", "hci7", false}}; /* it says nothing to this version */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int far = 0; far < 5; far++) { /* beyond the first read too, and divided by the end of one */
            bluez_bench *b = bluez_open(false, &bluez_public_address);
            tendon_bonds bonds;
            char own[128];
            add_bond(&bonds);
            b->radio.radio.bonds = &bonds;
            tendon_bluez_keys_stored(&b->radio);
            assert_true(b->radio.leases[1] >= 0);
            shown_name(&b->radio, own, sizeof own);
            const char *store = cases[i].store != NULL ? cases[i].store : own + strlen("tendon/hci7/");
            assert_int_equal(strncmp(own, "tendon/hci7/keys-", 17), 0);
            size_t used = (size_t)snprintf(text, sizeof text, "Num RefCount Protocol Flags Type St Inode Path\n");
            for (int line = 0; far == 1 && line < FILLER / 30; line++) {
                used += (size_t)snprintf(text + used, sizeof text - used, "0000: 00000002 0 0002 01 %d /run/x\n", line);
            }
            if (far > 1) { /* a read ends in the middle of the name */
                size_t wanted = 4095 - 10 * (size_t)far;
                memset(text + used, 'x', sizeof text - used);
                used = used < wanted ? wanted : used;
                text[used - 1] = '\n';
            }
            snprintf(text + used, sizeof text - used, "0: 2 0 0 2 1 5 @tendon/%s/%s/4\n", cases[i].adapter, store);
            fake_file("/proc/self/net/unix", text);
            fake.programs = 0;
            fake.refuse[FAKE_BIND] =
                (fake_refusal){.number = cases[i].other ? 0 : ENODEV}; /* loading, where it comes to that */
            int before = open_descriptors();
            assert_int_equal(use_bonds(b, &bonds),
                             cases[i].other ? TENDON_RADIO_ERROR_OTHER_BOND_STORE : TENDON_RADIO_ERROR_NO_ADAPTER);
            assert_int_equal(b->radio.leases[1], -1); /* nothing was loaded: it is not shown */
            fake_run();
            assert_int_equal(open_descriptors(), before - 1);
            bluez_close(b);
        }
    }
}

static void a_store_is_shown_once_by_its_file(void **state) {
    (void)state;
    char directory[] = "/tmp/tendon-keys-XXXXXX", path[64], first[128], again[128];
    assert_non_null(mkdtemp(directory));
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_bonds bonds;
    add_bond(&bonds);
    b->radio.radio.bonds = &bonds;
    static const char *const names[] = {"bonds", "bonds", "other", "./bonds", "bond"};
    for (int i = 0; i < 5; i++) { /* the same file by any path to its directory; another file is another store */
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        snprintf(bonds.path, sizeof bonds.path, "%s", path);
        tendon_bluez_keys_stored(&b->radio);
        int lease = b->radio.leases[1];
        assert_true(lease >= 0);
        tendon_bluez_keys_stored(&b->radio);
        assert_int_equal(b->radio.leases[1], lease);
        shown_name(&b->radio, i == 0 ? first : again, sizeof first);
        if (i > 0) {
            assert_int_equal(strcmp(first, again) == 0, i == 1 || i == 3);
        }
        close(lease);
        b->radio.leases[1] = -1;
    }
    /* Without a directory, or in memory, it is a store of this radio. */
    static const char *const alone[] = {"", "/proc/nowhere/bonds"};
    for (int i = 0; i < 2; i++) {
        snprintf(bonds.path, sizeof bonds.path, "%s", alone[i]);
        tendon_bluez_keys_stored(&b->radio);
        shown_name(&b->radio, again, sizeof again);
        assert_string_not_equal(again, first);
        tendon_bluez_radio second = b->radio; /* of another process, where the descriptors may have the same numbers */
        char other[128];
        second.management.fd = b->radio.hci.fd;
        second.leases[1] = -1;
        tendon_bluez_keys_stored(&second);
        shown_name(&second, other, sizeof other);
        assert_string_not_equal(again, other);
        close(second.leases[1]);
        close(b->radio.leases[1]);
        b->radio.leases[1] = -1;
    }
    /* A file name alone is one of the present directory. */
    char present[512];
    assert_non_null(getcwd(present, sizeof present));
    assert_int_equal(chdir(directory), 0);
    snprintf(bonds.path, sizeof bonds.path, "bonds");
    tendon_bluez_keys_stored(&b->radio);
    shown_name(&b->radio, again, sizeof again);
    assert_string_equal(again, first);
    assert_int_equal(chdir(present), 0);
    assert_int_equal(rmdir(directory), 0);
    bluez_close(b);
}

static void count_numbered(void *context, const char *line) {
    int *count = context, number = -1;
    assert_int_equal(sscanf(line, "line %d", &number), 1);
    assert_int_equal(number, *count);
    ++*count;
}

/** A file whose reads get a part each: 300 bytes and 50 in turns, as those of procfs give what they have. */
static int parts_of(const char *text) {
    int ends[2];
    size_t length = strlen(text);
    assert_int_equal(pipe2(ends, O_DIRECT | O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) > 0);
    for (size_t i = 0, part = 300; i < length; i += part, part = 350 - part) {
        part = part < length - i ? part : length - i;
        assert_int_equal(write(ends[1], text + i, part), (ssize_t)part);
    }
    close(ends[1]);
    return ends[0];
}

static int whole(const char *text) {
    int fd = memfd_create("file", MFD_CLOEXEC);
    size_t length = strlen(text);
    assert_int_equal(write(fd, text, length), (ssize_t)length);
    return fd;
}

/* Longer than the buffer, in whatever parts: each line once, and nothing of what the reads before have left there. */
static void each_line_of_a_long_file_is_visited_once(void **state) {
    (void)state;
    enum { LINES = 1000 };
    static char text[LINES * 16];
    for (int lines = 1; lines <= LINES; lines += 37) {
        size_t length = 0;
        for (int i = 0; i < lines; i++) {
            length += (size_t)snprintf(text + length, sizeof text - length, "line %d\n", i);
        }
        char path[32];
        int count = 0, fd = lines % 2 == 0 ? parts_of(text) : whole(text);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        assert_true(tendon_bluez_each_line(path, count_numbered, &count));
        assert_int_equal(count, lines);
        close(fd);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_adapter_that_is_switched_off_has_its_reason),
        cmocka_unit_test(sockets_of_this_adapter_are_counted),
        cmocka_unit_test(sockets_are_counted_again_if_names_change),
        cmocka_unit_test(a_use_is_shown_by_a_name_of_its_own),
        cmocka_unit_test(a_store_of_another_process_is_found),
        cmocka_unit_test(each_line_of_a_long_file_is_visited_once),
        cmocka_unit_test(a_store_is_shown_once_by_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
