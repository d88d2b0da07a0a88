/* SPDX-License-Identifier: MIT */
/* Controllers that resolve private addresses: the flag of a bonded device before connect(), and reports of a scan. */
#include "../open_files.h"
#include "bluez_fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const tendon_address peer = {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM};

/** The kernel at the end of the management socket that is opened for these commands. */
static struct {
    uint8_t status;       /**< of the response to Get Device Flags */
    uint8_t flags[8];     /**< supported, current */
    size_t length;        /**< of its return parameters; 15: all */
    bool silent, refused; /**< no response; the command cannot be sent */
    int gets, sets;       /**< commands so far */
    uint8_t set[17];      /**< the last Set Device Flags */
    int connects_at_last; /**< connect() calls before the last command */
} asked;

static void answer(int far, const uint8_t *pdu) {
    static const uint8_t event[] = {TENDON_MANAGEMENT_INDEX_ADDED, 0, 99, 0, 0, 0}; /* not the response */
    uint8_t reply[9 + 15] = {1, 0, pdu[2], pdu[3], 3, 0, pdu[0], pdu[1], asked.status};
    size_t length = pdu[0] == 0x4F ? asked.length : 7;
    reply[4] = (uint8_t)(3 + length);
    memcpy(reply + 9, pdu + 6, 7);
    memcpy(reply + 16, asked.flags, sizeof asked.flags);
    assert_int_equal(send(far, event, sizeof event, 0), (ssize_t)sizeof event);
    assert_int_equal(send(far, reply, 9 + length, 0), (ssize_t)(9 + length));
}

static bool on_send(int fd, uint16_t opcode, const uint8_t *pdu, size_t length) {
    static const uint8_t device[7] = {5, 4, 3, 2, 1, 0xC0, 2};
    if (opcode != 0x4F && opcode != 0x50) {
        return true;
    }
    assert_memory_equal(pdu + 2, "\7\0", 2); /* the adapter */
    assert_memory_equal(pdu + 6, device, sizeof device);
    assert_int_equal(pdu[4], length - 6);
    assert_int_equal(length, pdu[0] == 0x4F ? 13 : 17);
    asked.connects_at_last = fake.connects;
    if (asked.refused) {
        errno = EPERM;
        return false;
    }
    if (pdu[0] == 0x4F) {
        asked.gets++;
    } else {
        asked.sets++;
        memcpy(asked.set, pdu, sizeof asked.set);
    }
    if (!asked.silent) {
        answer(fake_far(fd), pdu);
    }
    return true;
}

typedef struct bench {
    bluez_bench *b;
    tendon_bonds bonds;
    tendon_link link;
} bench;

static bench the_bench;

static void drain(bench *x) {
    uint8_t pdu[64];
    while (recv(x->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT) >= 0) {
    }
}

/** A radio with the bond of the peer; the kernel has its identity key, and knows the flags 0 to 2, none of them set. */
static bench *begin(bool has_key) {
    bench *x = &the_bench;
    memset(x, 0, sizeof *x);
    memset(&asked, 0, sizeof asked);
    asked.length = 15;
    asked.flags[0] = 0x07;
    x->b = bluez_open(false, &bluez_public_address);
    tendon_bonds_init(&x->bonds);
    assert_int_equal(tendon_radio_use_bonds(&x->b->radio.radio, &x->bonds), TENDON_OK);
    const tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                              .initiator = true,
                              .key_size = 16,
                              .own = bluez_public_address,
                              .peer = peer,
                              .has_identity_key = has_key};
    assert_int_equal(tendon_bonds_store(&x->bonds, &bond), TENDON_OK);
    x->b->radio.identities_loaded = true;
    drain(x);
    tendon_link_init(&x->link, NULL);
    return x;
}

static void connect_to_peer(bench *x) {
    fake_run();
    const int before = open_descriptors();
    fake.on_send = on_send;
    assert_int_equal(tendon_radio_connect(&x->b->radio.radio, &x->link, &peer, tendon_monotonic_ms() + 60000),
                     TENDON_OK);
    assert_int_equal(fake.connects, 1);
    assert_int_equal(asked.connects_at_last, 0);
    fake_run();
    assert_int_equal(open_descriptors(), before + 2); /* of the link: its socket, and the test's end of that */
}

static void end(bench *x) {
    tendon_link_close(&x->link);
    assert_int_equal(tendon_loop_step(&x->b->loop, 0), TENDON_OK);
    bluez_close(x->b);
}

/* Index 7; one device: address, LE random 2; intervals 24 to 40, latency 0, supervision timeout 42: the kernel's own.
 */
static const uint8_t defaults[] = {0x35, 0, 7, 0, 17, 0, 1, 0, 5, 4, 3, 2, 1, 0xC0, 2, 24, 0, 40, 0, 0, 0, 42, 0};

static void expect_loaded(bench *x, const uint8_t *pdu, size_t length) {
    uint8_t got[64];
    assert_int_equal(recv(x->b->kernel, got, sizeof got, MSG_DONTWAIT), length);
    assert_memory_equal(got, pdu, length);
    bluez_expect_no_management(x->b);
}

/* The kernel keeps the flag with the connection parameters, which are therefore loaded first, also those of the kernel.
 * Other flags stay: Remote Wakeup 0x01, Device Privacy 0x02. */
static void the_flag_is_set_before_the_connect(void **state) {
    (void)state;
    static const tendon_connection_parameters wanted = {
        .min_interval = 6, .max_interval = 12, .latency = 4, .timeout = 600};
    static const uint8_t chosen[] = {0x35, 0, 7, 0, 17, 0, 1, 0, 5, 4, 3, 2, 1, 0xC0, 2, 6, 0, 12, 0, 4, 0, 0x58, 2};
    for (uint8_t current = 0; current < 4; current++) {
        bench *x = begin(true);
        asked.flags[4] = current;
        if (current == 1) {
            assert_int_equal(tendon_radio_set_connection_parameters(&x->b->radio.radio, &wanted), TENDON_OK);
        }
        connect_to_peer(x);
        expect_loaded(x, current == 1 ? chosen : defaults, sizeof defaults);
        const uint8_t set[17] = {0x50, 0, 7, 0, 11, 0, 5, 4, 3, 2, 1, 0xC0, 2, (uint8_t)(current | 4)};
        assert_int_equal(asked.gets, 1);
        assert_int_equal(asked.sets, 1);
        assert_memory_equal(asked.set, set, sizeof set);
        end(x);
    }
}

/* Linux 6.12 logs a warning when a flag is set that it does not know. */
static void a_flag_that_is_unknown_or_set_is_not_set(void **state) {
    (void)state;
    static const uint8_t flags[][2] = {{0x03, 0}, {0, 0}, {0x07, 0x04}, {0x0F, 0x0F}, {0x03, 0x04}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        bench *x = begin(true);
        asked.flags[0] = flags[i][0];
        asked.flags[4] = flags[i][1];
        connect_to_peer(x);
        assert_int_equal(asked.gets, 1);
        assert_int_equal(asked.sets, 0);
        end(x);
    }
}

/* Kernels before 5.8 do not have the command; a response is cut at every position, or does not come at once. */
static void the_connect_does_not_depend_on_it(void **state) {
    (void)state;
    static const uint8_t errors[] = {TENDON_MANAGEMENT_UNKNOWN_COMMAND, TENDON_MANAGEMENT_INVALID_PARAMETERS,
                                     TENDON_MANAGEMENT_PERMISSION_DENIED};
    for (size_t i = 0; i < sizeof errors; i++) {
        bench *x = begin(true);
        asked.status = errors[i];
        connect_to_peer(x);
        assert_int_equal(asked.sets, 0);
        end(x);
    }
    for (size_t length = 0; length < 15; length++) {
        bench *x = begin(true);
        asked.length = length;
        connect_to_peer(x);
        assert_int_equal(asked.gets, 1);
        assert_int_equal(asked.sets, 0);
        end(x);
    }
    bench *x = begin(true);
    asked.silent = true;
    const uint64_t start = tendon_monotonic_ms();
    connect_to_peer(x);
    assert_int_equal(asked.gets, 1);
    assert_int_equal(asked.sets, 0);
    assert_true(tendon_monotonic_ms() - start < TENDON_BLUEZ_MANAGEMENT_TIMEOUT_MS);
    end(x);
    x = begin(true);
    asked.refused = true;
    connect_to_peer(x);
    assert_int_equal(asked.gets, 0);
    end(x);
    for (int refused = 0; refused < 2; refused++) {
        x = begin(true);
        *(refused ? &fake.refuse[FAKE_BIND] : &fake.refuse[FAKE_SOCKET]) = (fake_refusal){.number = EMFILE};
        connect_to_peer(x);
        assert_int_equal(asked.gets, 0);
        end(x);
    }
}

/* Nothing is sent for a device whose identity key the kernel does not have from this radio. */
static void other_devices_are_left_alone(void **state) {
    (void)state;
    bench *x = begin(false); /* bonded without an identity key */
    connect_to_peer(x);
    assert_int_equal(asked.gets, 0);
    bluez_expect_no_management(x->b);
    end(x);
    x = begin(true);
    x->b->radio.identities_loaded = false; /* the keys of another store, or of bluetoothd */
    connect_to_peer(x);
    assert_int_equal(asked.gets, 0);
    bluez_expect_no_management(x->b);
    end(x);
    x = begin(true);
    assert_int_equal(tendon_bonds_remove(&x->bonds, TENDON_BOND_KERNEL, &bluez_public_address, &peer), 1);
    connect_to_peer(x);
    assert_int_equal(asked.gets, 0);
    bluez_expect_no_management(x->b);
    end(x);
}

/* The parameters of one attempt: another one to a device without a key does not load them. */
static void only_devices_with_a_key_get_the_kernels_parameters(void **state) {
    (void)state;
    static const tendon_address other = {{0xC0, 9, 9, 9, 9, 9}, TENDON_ADDRESS_TYPE_RANDOM};
    tendon_link second;
    bench *x = begin(true);
    connect_to_peer(x);
    expect_loaded(x, defaults, sizeof defaults);
    tendon_link_init(&second, NULL);
    assert_int_equal(tendon_radio_connect(&x->b->radio.radio, &second, &other, tendon_monotonic_ms() + 60000),
                     TENDON_OK);
    expect_loaded(x, defaults, sizeof defaults); /* of the first, which still waits */
    assert_int_equal(asked.gets, 1);
    tendon_link_close(&second);
    end(x);
}

/* ---- scans ---- */

enum { SET_RESOLUTION = 0x202D };

/** Another program's command, or the kernel's, as the raw socket shows it. */
static void other_sets_resolution(bluez_bench *b, const uint8_t *parameters, uint8_t length) {
    uint8_t packet[8] = {HCI_COMMAND_PKT, SET_RESOLUTION & 0xFF, SET_RESOLUTION >> 8, length};
    memcpy(packet + 4, parameters, length);
    assert_int_equal(send(b->controller, packet, 4u + length, 0), (ssize_t)(4u + length));
    bluez_read(b);
}

/** A scan that starts now turns the resolution off first, or does not; then it is stopped. */
static void scan_once(bluez_bench *b, bool turns_off) {
    bluez_request_scan(b);
    if (turns_off) {
        assert_int_equal(bluez_expect(b, SET_RESOLUTION)[0], 0);
    }
    (void)bluez_answer(b, bluez_scan_parameters[0], 0);
    (void)bluez_answer(b, bluez_scan_enable[0], 0);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    (void)bluez_answer(b, bluez_scan_enable[0], 0);
    bluez_expect_nothing(b);
}

/* The kernel leaves it on after it has connected: reports would have the identity addresses of forgotten bonds. */
static void a_scan_reports_the_addresses_that_are_advertised(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    b->radio.limits.resolving_list = 4;
    other_sets_resolution(b, (const uint8_t[]){0}, 1);
    scan_once(b, true); /* not known whether it is on: another program's command may be rejected */
    scan_once(b, false);
    other_sets_resolution(b, (const uint8_t[]){0}, 1);
    scan_once(b, false);
    other_sets_resolution(b, (const uint8_t[]){1}, 1);
    scan_once(b, true);
    other_sets_resolution(b, (const uint8_t[]){1}, 0);
    scan_once(b, true);
    bluez_complete(b, SET_RESOLUTION, 0);
    bluez_read(b);
    scan_once(b, false);
    bluez_complete(b, SET_RESOLUTION, 0x0C); /* Command Disallowed: it advertises, or connects */
    bluez_read(b);
    scan_once(b, true);
    bluez_close(b);
}

static void a_controller_that_cannot_resolve_is_told_nothing(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    assert_int_equal(b->radio.limits.resolving_list, 0);
    scan_once(b, false);
    other_sets_resolution(b, (const uint8_t[]){1}, 1);
    scan_once(b, false);
    bluez_close(b);
}

/* The scan does not depend on it; the next one tries again. */
static void a_refused_command_is_sent_again(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    b->radio.limits.resolving_list = 4;
    fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENOBUFS, .times = 1};
    scan_once(b, false);
    scan_once(b, true);
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_flag_is_set_before_the_connect),
        cmocka_unit_test(a_flag_that_is_unknown_or_set_is_not_set),
        cmocka_unit_test(the_connect_does_not_depend_on_it),
        cmocka_unit_test(other_devices_are_left_alone),
        cmocka_unit_test(only_devices_with_a_key_get_the_kernels_parameters),
        cmocka_unit_test(a_scan_reports_the_addresses_that_are_advertised),
        cmocka_unit_test(a_controller_that_cannot_resolve_is_told_nothing),
        cmocka_unit_test(a_refused_command_is_sent_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
