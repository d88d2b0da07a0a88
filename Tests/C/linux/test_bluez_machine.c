/* SPDX-License-Identifier: MIT */
/* What the radio reads about the machine: rfkill, the HCI sockets of others, bond stores in use. */
#include "bluez_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

static unsigned long inode(int fd) {
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    return (unsigned long)info.st_ino;
}

static void sockets_of_this_adapter_are_counted(void **state) {
    (void)state;
    static char text[1024];
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    int hci = b->radio.hci.fd, management = b->radio.management.fd;
    /* Ours twice, one of a radio of another adapter, one of a radio of this one, one of another program, no socket. */
    snprintf(text, sizeof text,
             "sk RefCnt Rmem Wmem User Inode Parent\n0 2 0 0 0 %lu 0\n0 2 0 0 0 %lu 0\n0 2 0 0 0 %lu 0\n"
             "0 2 0 0 0 %lu 0\n0 2 0 0 0 4000000000 0\nend\n",
             inode(hci), inode(management), inode(b->controller), inode(b->kernel));
    fake_file("/proc/self/net/hci", text);
    int before = open_descriptors();
    int other = tendon_bluez_lease(b->controller, 15), same = tendon_bluez_lease(b->kernel, 7);
    assert_true(other >= 0 && same >= 0);
    assert_int_equal(tendon_bluez_lease(b->controller, 15), -1); /* the name is taken */
    assert_int_equal(tendon_bluez_lease(-1, 7), -1);
    assert_int_equal(open_descriptors(), before + 2);
    assert_int_equal(tendon_bluez_users(&b->radio), 2);
    assert_int_equal(tendon_bluez_other_sockets(hci, management, -1), 3);
    assert_int_equal(tendon_bluez_other_sockets(hci, -1, -1), 4);
    assert_int_equal(tendon_bluez_other_sockets(-1, management, 15), 3);
    assert_int_equal(tendon_bluez_other_sockets(-1, -1, -1), 5);
    assert_int_equal(tendon_bluez_other_sockets(-1, -1, 0), 3);
    assert_int_equal(open_descriptors(), before + 2);
    close(other);
    assert_int_equal(tendon_bluez_users(&b->radio), 3); /* that radio was closed */
    close(same);
    fake_file("/proc/self/net/hci", NULL);
    assert_int_equal(tendon_bluez_users(&b->radio), -1);
    bluez_close(b);
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

/** The name that a radio with this store shows to others. */
static void shown_name(const bluez_bench *b, char *out, size_t size) {
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    assert_int_equal(getsockname(b->radio.leases[2], (struct sockaddr *)&name, &length), 0);
    size_t count = length - sizeof name.ss_family - 1;
    assert_true(count < size);
    memcpy(out, (const char *)&name + sizeof name.ss_family + 1, count);
    out[count] = '\0';
}

static void a_store_of_another_process_is_found(void **state) {
    (void)state;
    enum { FILLER = 3000 };
    static char text[3 * FILLER];
    static const struct {
        const char *store; /* NULL: our own */
        const char *adapter;
        bool other;
    } cases[] = {{"memory-1-1", "hci7", true},
                 {"memory-1-1", "hci77", false},
                 {"memory-1-1", "hci8", false},
                 {NULL, "hci7", false},
                 {"", "hci7", true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int far = 0; far < 5; far++) { /* beyond the first read too, and divided by the end of one */
            bluez_bench *b = bluez_open(false, &bluez_public_address);
            tendon_bonds bonds;
            char own[128];
            add_bond(&bonds);
            b->radio.radio.bonds = &bonds;
            tendon_bluez_keys_stored(&b->radio);
            assert_true(b->radio.leases[2] >= 0);
            shown_name(b, own, sizeof own);
            const char *from = own + strlen("tendon/keys/hci7/");
            assert_int_equal(strncmp(own, "tendon/keys/hci7/", 17), 0);
            int store_length = (int)(strchr(from, '/') - from);
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
            if (cases[i].store != NULL) {
                snprintf(text + used, sizeof text - used, "0: 2 0 0 2 1 5 @tendon/keys/%s/%s/99-4\n", cases[i].adapter,
                         cases[i].store);
            } else {
                snprintf(text + used, sizeof text - used, "0: 2 0 0 2 1 5 @tendon/keys/%s/%.*s/99-4\n",
                         cases[i].adapter, store_length, from);
            }
            fake_file("/proc/self/net/unix", text);
            fake.programs = 0;
            fake.refuse[FAKE_BIND] =
                (fake_refusal){.number = cases[i].other ? 0 : ENODEV}; /* loading, where it comes to that */
            int before = open_descriptors();
            assert_int_equal(use_bonds(b, &bonds),
                             cases[i].other ? TENDON_RADIO_ERROR_OTHER_BOND_STORE : TENDON_RADIO_ERROR_NO_ADAPTER);
            assert_int_equal(b->radio.leases[2], -1); /* nothing was loaded: it is not shown */
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
        int lease = b->radio.leases[2];
        assert_true(lease >= 0);
        tendon_bluez_keys_stored(&b->radio);
        assert_int_equal(b->radio.leases[2], lease);
        shown_name(b, i == 0 ? first : again, sizeof first);
        if (i > 0) {
            assert_int_equal(strcmp(first, again) == 0, i == 1 || i == 3);
        }
        close(lease);
        b->radio.leases[2] = -1;
    }
    /* Without a directory, or in memory, it is a store of this process. */
    static const char *const alone[] = {"", "/proc/nowhere/bonds"};
    for (int i = 0; i < 2; i++) {
        snprintf(bonds.path, sizeof bonds.path, "%s", alone[i]);
        tendon_bluez_keys_stored(&b->radio);
        shown_name(b, again, sizeof again);
        assert_non_null(strstr(again, "/memory-"));
        tendon_bluez_radio second = b->radio; /* the name is taken: it is not shown, and nothing stays open */
        int before = open_descriptors();
        second.leases[2] = -1;
        tendon_bluez_keys_stored(&second);
        assert_int_equal(second.leases[2], -1);
        assert_int_equal(open_descriptors(), before);
        close(b->radio.leases[2]);
        b->radio.leases[2] = -1;
    }
    /* A file name alone is one of the present directory. */
    char present[512];
    assert_non_null(getcwd(present, sizeof present));
    assert_int_equal(chdir(directory), 0);
    snprintf(bonds.path, sizeof bonds.path, "bonds");
    tendon_bluez_keys_stored(&b->radio);
    shown_name(b, again, sizeof again);
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
        cmocka_unit_test(a_store_of_another_process_is_found),
        cmocka_unit_test(each_line_of_a_long_file_is_visited_once),
        cmocka_unit_test(a_store_is_shown_once_by_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
