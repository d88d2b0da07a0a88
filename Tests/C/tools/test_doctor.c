/* SPDX-License-Identifier: MIT */
/* The doctor on made-up machines: trees of /proc and /sys in a temporary directory. */
#include "../linux/file_tree.h"
#include "../linux/open_files.h"
#include "tendon/linux/virtual_radio.h"
#include "tendon/tools/doctor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In the C library's place: another user. */
static uid_t user_offset;

uid_t geteuid(void) {
    return (uid_t)syscall(SYS_geteuid) + user_offset;
}

typedef struct machine {
    char root[FILE_TREE_SIZE];
    tendon_doctor_options options;
    tendon_finding findings[TENDON_FINDING_COUNT];
} machine;

static int machine_setup(void **state) {
    machine *m = calloc(1, sizeof *m);
    *state = m;
    m->options.root = m->root;
    tree_make(m->root);
    return 0;
}

static int machine_teardown(void **state) {
    machine *m = *state;
    tree_remove(m->root);
    free(m);
    return 0;
}

static void put(machine *m, const char *path, const char *text) {
    tree_put(m->root, path, text);
}

static const tendon_finding *examine(machine *m, tendon_finding_kind kind) {
    tendon_doctor_examine(&m->options, m->findings);
    for (int i = 0; i < TENDON_FINDING_COUNT; i++) {
        assert_int_equal(m->findings[i].kind, i);
        assert_true(m->findings[i].text[0] != '\0');
        assert_null(strchr(m->findings[i].text, '\n'));
        /* what is lacking has a status and a remedy; what is not has no status */
        bool lacking = m->findings[i].state == TENDON_FINDING_LACKING;
        assert_int_equal(m->findings[i].status < 0, lacking);
        assert_true(!lacking || m->findings[i].remedy[0] != '\0');
        assert_true(m->findings[i].state != TENDON_FINDING_GOOD || m->findings[i].remedy[0] == '\0');
    }
    return &m->findings[kind];
}

#define SOCKETS_LIST                                                                                                   \
    "protocol  size sockets  memory press maxhdr  slab module     cl co di ac\n"                                       \
    "HCI       1080      2      -1   NI       0   no   bluetooth   n  n  n\n"                                          \
    "L2CAP     1304      0      -1   NI       0   no   bluetooth   n  n  n\n"
#define STATUS_OF(effective)                                                                                           \
    "Name:\ttendon\nCapInh:\t0000000000000000\nCapPrm:\t000001ffffffffff\nCapEff:\t" effective "\nCapBnd:\t0\n"

static void empty_machine_lacks_everything(void **state) {
    machine *m = *state;
    assert_int_equal(examine(m, TENDON_FINDING_KERNEL)->status, TENDON_RADIO_ERROR_NO_KERNEL_SUPPORT);
    assert_string_equal(m->findings[TENDON_FINDING_KERNEL].remedy, "sudo modprobe bluetooth");
    assert_int_equal(m->findings[TENDON_FINDING_CAPABILITIES].status, TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    assert_int_equal(m->findings[TENDON_FINDING_ADAPTERS].status, TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(m->findings[TENDON_FINDING_RFKILL].state, TENDON_FINDING_GOOD);
    assert_int_equal(m->findings[TENDON_FINDING_DAEMON].state, TENDON_FINDING_GOOD);
}

static void good_machine_lacks_nothing(void **state) {
    machine *m = *state;
    char directory[64];
    put(m, "/proc/self/net/protocols", SOCKETS_LIST);
    put(m, "/proc/self/status", STATUS_OF("0000000000003000"));
    put(m, "/sys/class/bluetooth/hci0/uevent", "");
    put(m, "/sys/class/bluetooth/hci1/uevent", "");
    put(m, "/sys/class/bluetooth/hci0:64/uevent", ""); /* a connection, no adapter */
    put(m, "/sys/class/bluetooth/hci/uevent", "");
    put(m, "/sys/class/rfkill/rfkill0/type", "bluetooth\n");
    put(m, "/sys/class/rfkill/rfkill0/soft", "0\n");
    put(m, "/sys/class/rfkill/rfkill0/hard", "0\n");
    put(m, "/proc/1/comm", "init\n");
    put(m, "/proc/700/comm", "bluetoothd-not\n");
    snprintf(directory, sizeof directory, "%s/run", m->root);
    m->options.directory = directory;
    (void)examine(m, TENDON_FINDING_KERNEL);
    for (int i = 0; i < TENDON_FINDING_COUNT; i++) {
        assert_int_equal(m->findings[i].state, TENDON_FINDING_GOOD);
    }
    assert_int_equal(m->findings[TENDON_FINDING_ADAPTERS].count, 2);
    assert_non_null(strstr(m->findings[TENDON_FINDING_ADAPTERS].text, "hci0"));
    assert_non_null(strstr(m->findings[TENDON_FINDING_ADAPTERS].text, "hci1"));
}

static void each_capability_is_named(void **state) {
    machine *m = *state;
    static const struct {
        const char *status;
        tendon_finding_state finding;
        bool raw, admin; /* named as missing */
    } cases[] = {
        {STATUS_OF("0000000000000000"), TENDON_FINDING_LACKING, true, true},
        {STATUS_OF("0000000000001000"), TENDON_FINDING_LACKING, true, false},
        {STATUS_OF("0000000000002000"), TENDON_FINDING_NOTE, false, true},
        {STATUS_OF("000001ffffffffff"), TENDON_FINDING_GOOD, false, false},
        {STATUS_OF("0000000000000c00"), TENDON_FINDING_LACKING, true, true}, /* the bits beside */
        {STATUS_OF("000000000000c000"), TENDON_FINDING_LACKING, true, true},
        {"", TENDON_FINDING_LACKING, true, true},
        {"garbage", TENDON_FINDING_LACKING, true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put(m, "/proc/self/status", cases[i].status);
        m->options.program = i % 2 == 0 ? "/usr/bin/tendon" : NULL;
        const tendon_finding *finding = examine(m, TENDON_FINDING_CAPABILITIES);
        assert_int_equal(finding->state, cases[i].finding);
        if (finding->state != TENDON_FINDING_GOOD) {
            assert_int_equal(strstr(finding->text, "cap_net_raw") != NULL, cases[i].raw);
            assert_int_equal(strstr(finding->text, "cap_net_admin") != NULL, cases[i].admin);
            assert_int_equal(strstr(finding->text, "links to known addresses") != NULL, cases[i].raw);
            assert_string_equal(finding->remedy,
                                i % 2 == 0 ? "sudo setcap cap_net_raw,cap_net_admin+eip /usr/bin/tendon"
                                           : "sudo setcap cap_net_raw,cap_net_admin+eip \"$(command -v tendon)\"");
        }
    }
}

static void rfkill_soft_and_hard(void **state) {
    machine *m = *state;
    put(m, "/sys/class/rfkill/rfkill0/type", "wlan\n");
    put(m, "/sys/class/rfkill/rfkill0/soft", "1\n");
    assert_int_equal(examine(m, TENDON_FINDING_RFKILL)->state, TENDON_FINDING_GOOD);
    put(m, "/sys/class/rfkill/rfkill1/type", "bluetooth\n");
    put(m, "/sys/class/rfkill/rfkill1/soft", "1\n");
    put(m, "/sys/class/rfkill/rfkill1/hard", "0\n");
    const tendon_finding *finding = examine(m, TENDON_FINDING_RFKILL);
    assert_int_equal(finding->status, TENDON_RADIO_ERROR_RFKILL);
    assert_int_equal(finding->count, 1);
    assert_string_equal(finding->remedy, "rfkill unblock bluetooth");
    /* a hardware switch is what stands in the way, whichever is read first */
    put(m, "/sys/class/rfkill/rfkill2/type", "bluetooth\n");
    put(m, "/sys/class/rfkill/rfkill2/hard", "1\n");
    put(m, "/sys/class/rfkill/rfkill3/type", "bluetooth\n");
    put(m, "/sys/class/rfkill/rfkill3/soft", "1\n");
    finding = examine(m, TENDON_FINDING_RFKILL);
    assert_int_equal(finding->count, 3);
    assert_non_null(strstr(finding->text, "hardware"));
}

static void running_daemon_is_a_note(void **state) {
    machine *m = *state;
    put(m, "/proc/42/comm", "bluetoothd\n");
    put(m, "/proc/self/net/protocols", SOCKETS_LIST);
    const tendon_finding *finding = examine(m, TENDON_FINDING_DAEMON);
    assert_int_equal(finding->state, TENDON_FINDING_NOTE);
    assert_int_equal(finding->count, 1);
    assert_non_null(strstr(finding->text, "42"));
    assert_string_equal(finding->remedy, "sudo systemctl stop bluetooth");
    assert_int_equal(m->findings[TENDON_FINDING_KERNEL].state, TENDON_FINDING_GOOD);
}

static void directory_cases(void **state) {
    machine *m = *state;
    char path[64], remedy[128], far[200];
    snprintf(path, sizeof path, "%s/run", m->root);
    m->options.directory = path;
    assert_non_null(strstr(examine(m, TENDON_FINDING_DIRECTORY)->text, "will be created"));
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(examine(m, TENDON_FINDING_DIRECTORY)->state, TENDON_FINDING_GOOD);
    assert_int_equal(chmod(path, 0755), 0);
    const tendon_finding *finding = examine(m, TENDON_FINDING_DIRECTORY);
    assert_int_equal(finding->status, TENDON_ERROR_FILE_PERMISSION);
    snprintf(remedy, sizeof remedy, "chmod 700 %s", path);
    assert_string_equal(finding->remedy, remedy);
    assert_int_equal(system(finding->remedy), 0); /* the remedy mends it */
    assert_int_equal(examine(m, TENDON_FINDING_DIRECTORY)->state, TENDON_FINDING_GOOD);
    user_offset = 1;
    finding = examine(m, TENDON_FINDING_DIRECTORY);
    user_offset = 0;
    assert_non_null(strstr(finding->text, "is not a directory of this user"));
    assert_int_equal(rmdir(path), 0);
    put(m, "/run", "a file");
    assert_int_equal(chmod(path, 0600), 0); /* private, and still no directory */
    assert_int_equal(examine(m, TENDON_FINDING_DIRECTORY)->status, TENDON_ERROR_FILE_PERMISSION);
    snprintf(path, sizeof path, "%s/absent/deeper", m->root);
    assert_int_equal(examine(m, TENDON_FINDING_DIRECTORY)->status, TENDON_ERROR_FILE_PERMISSION);
    memset(far, 'a', sizeof far - 1);
    far[0] = '/';
    far[sizeof far - 1] = '\0';
    m->options.directory = far;
    const tendon_finding *long_one = examine(m, TENDON_FINDING_DIRECTORY);
    assert_int_equal(long_one->status, TENDON_ERROR_OVERFLOW);
    assert_memory_equal(long_one->text, far, TENDON_VIRTUAL_PATH_SIZE - 1);
    char rest[TENDON_FINDING_TEXT_SIZE];
    snprintf(rest, sizeof rest, "...: the path of the virtual radio's directory has %zu bytes; 1 to 79 are possible",
             sizeof far - 1);
    assert_string_equal(long_one->text + TENDON_VIRTUAL_PATH_SIZE - 1, rest);
    assert_string_equal(long_one->remedy, "export XDG_RUNTIME_DIR=/run/user/$(id -u)");
    m->options.directory = "";
    assert_int_equal(examine(m, TENDON_FINDING_DIRECTORY)->status, TENDON_ERROR_OVERFLOW);
}

/* Entries that are none, before and behind those that count, whatever their order on the disk is. */
static void what_is_none_ends_no_search(void **state) {
    machine *m = *state;
    char path[96];
    for (int i = 0; i < 12; i++) {
        snprintf(path, sizeof path, "/sys/class/bluetooth/hci%d:64/uevent", i);
        put(m, path, "");
        snprintf(path, sizeof path, "/sys/class/bluetooth/hci%d/uevent", i);
        put(m, path, "");
        snprintf(path, sizeof path, "/sys/class/rfkill/other%d/type", i);
        put(m, path, "bluetooth\n");
        snprintf(path, sizeof path, "/sys/class/rfkill/rfkill1%d/type", i);
        put(m, path, "wlan\n");
        snprintf(path, sizeof path, "/sys/class/rfkill/rfkill2%d/type", i);
        put(m, path, "bluetooth\n"); /* nothing blocks this one */
        snprintf(path, sizeof path, "/sys/class/rfkill/rfkill3%d/type", i);
        put(m, path, "bluetooth\n");
        snprintf(path, sizeof path, "/sys/class/rfkill/rfkill3%d/soft", i);
        put(m, path, "1\n");
        snprintf(path, sizeof path, "/proc/%d/comm", 100 + i);
        put(m, path, i % 2 == 0 ? "bluetoothd\n" : "init\n");
        snprintf(path, sizeof path, "/proc/x%d/comm", i);
        put(m, path, "bluetoothd\n");
    }
    /* The longest name that is looked at has 32 characters. */
    put(m, "/sys/class/rfkill/rfkill78901234567890123456789012/type", "bluetooth\n");
    put(m, "/sys/class/rfkill/rfkill78901234567890123456789012/hard", "1\n");
    put(m, "/sys/class/rfkill/rfkill789012345678901234567890123/type", "bluetooth\n");
    put(m, "/sys/class/rfkill/rfkill789012345678901234567890123/hard", "1\n");
    assert_int_equal(examine(m, TENDON_FINDING_ADAPTERS)->count, 12);
    assert_int_equal(m->findings[TENDON_FINDING_RFKILL].count, 12 + 1);
    assert_int_equal(m->findings[TENDON_FINDING_DAEMON].count, 6);
}

static void hostile_trees_do_no_harm(void **state) {
    machine *m = *state;
    char text[20000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    put(m, "/proc/self/status", text);
    put(m, "/proc/self/net/protocols", text);
    put(m, "/proc/7/comm", text);
    put(m, "/sys/class/rfkill/rfkill0/type", text);
    put(m, "/sys/class/rfkill/rfkill-with-a-name-that-is-longer-than-any-of-the-kernel/type", "bluetooth");
    for (int i = 0; i < 60; i++) { /* more adapters than the line has room for */
        char path[64];
        snprintf(path, sizeof path, "/sys/class/bluetooth/hci%d/uevent", 100000000 + i);
        put(m, path, "");
    }
    assert_int_equal(examine(m, TENDON_FINDING_ADAPTERS)->count, 60);
    assert_true(strlen(m->findings[TENDON_FINDING_ADAPTERS].text) < TENDON_FINDING_TEXT_SIZE);
}

/* In the C library's place: a kernel with Bluetooth, or without. */
static int socket_error = -1;

int socket(int domain, int type, int protocol) {
    if (domain != 31 || socket_error < 0) {
        return (int)syscall(SYS_socket, domain, type, protocol);
    }
    errno = socket_error;
    return socket_error == 0 ? dup(0) : -1;
}

/* The socket is closed again; an error that is no lack of support is none of the kernel's. */
static void the_kernel_is_asked_for_a_socket(void **state) {
    (void)state;
    static const struct {
        int error;
        tendon_finding_state state;
    } cases[] = {{0, TENDON_FINDING_GOOD},
                 {EPERM, TENDON_FINDING_GOOD},
                 {EAFNOSUPPORT, TENDON_FINDING_LACKING},
                 {EPROTONOSUPPORT, TENDON_FINDING_LACKING}};
    tendon_finding findings[TENDON_FINDING_COUNT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int before = open_descriptors();
        socket_error = cases[i].error;
        tendon_doctor_examine(NULL, findings);
        assert_int_equal(findings[TENDON_FINDING_KERNEL].state, cases[i].state);
        assert_int_equal(open_descriptors(), before);
    }
    socket_error = -1;
}

/* In the C library's place: the adapters of a tree, while the rest is of this machine. */
static const char *adapters_root;

int open(const char *path, int flags, ...) {
    char full[256];
    va_list arguments;
    va_start(arguments, flags);
    int mode = (flags & O_CREAT) != 0 ? va_arg(arguments, int) : 0;
    va_end(arguments);
    bool is_moved = adapters_root != NULL && strncmp(path, "/sys/", 5) == 0;
    snprintf(full, sizeof full, "%s%s", is_moved ? adapters_root : "", path);
    return (int)syscall(SYS_openat, AT_FDCWD, is_moved ? full : path, flags, mode);
}

/* The kernel refuses to say more about an adapter than that it is there: nothing is wrong with it. */
static void an_adapter_that_cannot_be_asked_lacks_nothing(void **state) {
    machine *m = *state;
    put(m, "/sys/class/bluetooth/hci0/uevent", "");
    adapters_root = m->root;
    socket_error = EPERM;
    tendon_doctor_examine(NULL, m->findings);
    socket_error = -1;
    adapters_root = NULL;
    assert_string_equal(m->findings[TENDON_FINDING_ADAPTERS].text, "found hci0");
    assert_int_equal(m->findings[TENDON_FINDING_ADAPTERS].state, TENDON_FINDING_GOOD);
}

static void this_machine_can_be_examined(void **state) {
    (void)state;
    tendon_finding findings[TENDON_FINDING_COUNT];
    tendon_doctor_examine(NULL, findings);
    for (int i = 0; i < TENDON_FINDING_COUNT; i++) {
        assert_true(findings[i].text[0] != '\0');
        assert_string_not_equal(tendon_finding_name((tendon_finding_kind)i), "unknown");
    }
    assert_string_equal(tendon_finding_name(TENDON_FINDING_COUNT), "unknown");
}

#define ON_MACHINE(test) cmocka_unit_test_setup_teardown(test, machine_setup, machine_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ON_MACHINE(empty_machine_lacks_everything),
        ON_MACHINE(good_machine_lacks_nothing),
        ON_MACHINE(each_capability_is_named),
        ON_MACHINE(rfkill_soft_and_hard),
        ON_MACHINE(running_daemon_is_a_note),
        ON_MACHINE(directory_cases),
        ON_MACHINE(what_is_none_ends_no_search),
        ON_MACHINE(hostile_trees_do_no_harm),
        cmocka_unit_test(this_machine_can_be_examined),
        cmocka_unit_test(the_kernel_is_asked_for_a_socket),
        ON_MACHINE(an_adapter_that_cannot_be_asked_lacks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
