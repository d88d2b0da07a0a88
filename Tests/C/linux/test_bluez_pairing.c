/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairing through the management socket, PDU by PDU: several peers at once, keys of others, questions of the kernel. */
#include "bluez_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static const tendon_address own = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x42}, TENDON_ADDRESS_TYPE_PUBLIC};
static const tendon_address peers[3] = {{{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM},
                                        {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_PUBLIC},
                                        {{0x4A, 1, 2, 3, 4, 6}, TENDON_ADDRESS_TYPE_RANDOM}};
static const tendon_socket_hooks plain = {.header = 0};

/* In the C library's place: a management socket of its own, whose kernel accepts Load Long Term Keys. */
static int loaded_fd = -1, loaded_peer = -1;

int socket(int domain, int type, int protocol) {
    static const uint8_t done[] = {1, 0, 7, 0, 3, 0, 0x13, 0, 0};
    int pair[2];
    if (domain != AF_BLUETOOTH) {
        return (int)syscall(SYS_socket, domain, type, protocol);
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) != 0 ||
        send(pair[1], done, sizeof done, 0) != (ssize_t)sizeof done) {
        return -1;
    }
    loaded_peer = pair[1];
    return loaded_fd = pair[0];
}

int bind(int fd, __CONST_SOCKADDR_ARG name, socklen_t length) {
    return fd == loaded_fd ? 0 : (int)syscall(SYS_bind, fd, name, length);
}

typedef struct end {
    link_end end;
    int peer, paired;
    tendon_status status;
} end;

typedef struct scene {
    bluez_bench *b;
    tendon_bonds bonds;
    const tendon_pairing_service *service;
    end ends[3];
} scene;
static scene the_scene;

static void on_paired(void *context, tendon_status status, uint64_t now) {
    end *e = context;
    (void)now;
    e->paired++;
    e->status = status;
}

static void open_end(scene *s, int i, bool accepted) {
    int pair[2];
    link_end_init(&s->ends[i].end);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    s->ends[i].peer = pair[1];
    tendon_link *link = &s->ends[i].end.link;
    assert_int_equal(tendon_socket_link_begin(link, &s->b->radio.radio, &plain, &peers[i], accepted, UINT64_MAX),
                     TENDON_OK);
    assert_int_equal(tendon_socket_link_adopt(link, pair[0]), TENDON_OK);
    STEP_UNTIL(&s->b->loop, s->ends[i].end.connected == 1);
}

static scene *open_scene(int links) {
    scene *s = &the_scene;
    memset(s, 0, sizeof *s);
    s->b = bluez_open(false, &own);
    tendon_bonds_init(&s->bonds);
    assert_int_equal(tendon_radio_use_bonds(&s->b->radio.radio, &s->bonds), TENDON_OK);
    s->service = tendon_radio_pairing(&s->b->radio.radio);
    for (int i = 0; i < links; i++) {
        open_end(s, i, false);
    }
    return s;
}

static void drain(scene *s) {
    uint8_t pdu[64];
    while (recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT) >= 0) {
    }
}

static void close_scene(scene *s) {
    for (int i = 0; i < 3; i++) {
        tendon_link_close(&s->ends[i].end.link);
        if (s->ends[i].peer > 0) {
            close(s->ends[i].peer);
        }
    }
    assert_int_equal(tendon_loop_step(&s->b->loop, 0), TENDON_OK);
    assert_null(s->b->radio.radio.links);
    assert_false(s->b->radio.radio.pairing_timer.added);
    bluez_close(s->b);
}

/* A command about a peer: code, index 7, length, address in wire order, LE public 1 or random 2, perhaps one byte. */
static void expect(scene *s, uint8_t opcode, int peer, int more) {
    uint8_t pdu[64];
    ssize_t length = recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT);
    assert_int_equal(length, more >= 0 ? 14 : 13);
    const uint8_t *a = peers[peer].bytes;
    const uint8_t wanted[14] = {
        opcode, 0, 7, 0, more >= 0 ? 8 : 7, 0, a[5], a[4], a[3], a[2], a[1], a[0], peer == 1 ? 1 : 2, (uint8_t)more};
    assert_memory_equal(pdu, wanted, (size_t)length);
}

static void expect_nothing(scene *s) {
    uint8_t pdu[64];
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), -1);
}

/* Set Secure Connections, Set IO Capability (no input, no output), Set Bondable. */
static void expect_preparation(scene *s) {
    static const uint8_t wanted[3][7] = {{0x2D, 0, 7, 0, 1, 0, 1}, {0x18, 0, 7, 0, 1, 0, 3}, {0x09, 0, 7, 0, 1, 0, 1}};
    for (int i = 0; i < 3; i++) {
        uint8_t pdu[64];
        assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 7);
        assert_memory_equal(pdu, wanted[i], 7);
    }
}

static void kernel_sends(scene *s, const uint8_t *pdu, size_t length) {
    assert_int_equal(send(s->b->kernel, pdu, length, 0), (ssize_t)length);
    bluez_read_kernel(s->b);
}

/* Command Complete of Pair Device. */
static void complete(scene *s, int peer, uint8_t status) {
    const uint8_t *a = peers[peer].bytes;
    const uint8_t pdu[16] = {1, 0, 7, 0, 10, 0, 0x19, 0, status, a[5], a[4], a[3], a[2], a[1], a[0], peer == 1 ? 1 : 2};
    kernel_sends(s, pdu, sizeof pdu);
}

/* New Long Term Key: store hint, address, type, key type, central, size, EDIV, Rand, key. */
static void new_key(scene *s, int peer, uint8_t key) {
    const uint8_t *a = peers[peer].bytes;
    uint8_t pdu[6 + 37] = {0x0A, 0, 7, 0, 37, 0, 1, a[5], a[4], a[3], a[2], a[1], a[0], peer == 1 ? 1 : 2, 2, 1, 16};
    memset(pdu + 6 + 21, key, 16);
    kernel_sends(s, pdu, sizeof pdu);
}

static tendon_status pair(scene *s, int i) {
    return s->service->start(s->service->context, &peers[i], on_paired, &s->ends[i], tendon_monotonic_ms());
}

static void begin(scene *s, int i) {
    assert_int_equal(pair(s, i), TENDON_OK);
    expect_preparation(s);
    expect(s, 0x19, i, 3);
}

static void pass(scene *s, uint64_t time) {
    const tendon_source *timer = &s->b->radio.radio.pairing_timer;
    timer->expired(timer->context, time);
}

static void several_pair_at_once_and_end_in_any_order(void **state) {
    (void)state;
    scene *s = open_scene(3);
    for (int i = 0; i < 3; i++) {
        begin(s, i);
    }
    assert_int_equal(pair(s, 1), TENDON_ERROR_BUSY); /* this peer is pairing */
    static const int order[3] = {2, 0, 1};
    for (int i = 0; i < 3; i++) {
        new_key(s, order[i], (uint8_t)(0x10 + order[i]));
        complete(s, order[i], 0);
        assert_int_equal(s->ends[order[i]].paired, 1);
        assert_int_equal(s->ends[order[i]].status, TENDON_OK);
        assert_true(s->ends[order[i]].end.link.encrypted);
        assert_int_equal(s->bonds.count, i + 1);
        assert_true(s->b->radio.leases[2] >= 0); /* other processes see that this store has keys */
        assert_true(tendon_address_equal(&s->bonds.items[i].peer, &peers[order[i]]));
        assert_int_equal(s->bonds.items[i].key[15], 0x10 + order[i]);
    }
    expect_nothing(s);
    close_scene(s);
}

static void a_silent_peer_is_cancelled_alone(void **state) {
    (void)state;
    scene *s = open_scene(2);
    begin(s, 0);
    uint64_t deadline = s->ends[0].end.link.pairing.deadline;
    begin(s, 1);
    new_key(s, 1, 1);
    complete(s, 1, 0);
    assert_int_equal(s->ends[1].status, TENDON_OK);
    pass(s, deadline);
    expect(s, 0x1A, 0, -1);
    assert_int_equal(s->ends[0].paired, 1);
    assert_int_equal(s->ends[0].status, TENDON_ERROR_TIMEOUT);
    assert_int_equal(s->ends[1].paired, 1);
    complete(s, 0, TENDON_MANAGEMENT_CANCELLED); /* the kernel's answer finds nothing any more */
    assert_int_equal(s->ends[0].paired, 1);
    close_scene(s);
}

/* A cancelled procedure that the kernel has not ended, or another program that pairs with this peer. */
static void a_busy_kernel_is_asked_again(void **state) {
    (void)state;
    scene *s = open_scene(1);
    begin(s, 0);
    complete(s, 0, TENDON_MANAGEMENT_BUSY);
    assert_int_equal(s->ends[0].paired, 0);
    uint64_t again = s->ends[0].end.link.pairing.retry_at;
    assert_true(again >= tendon_monotonic_ms() + 400 && again <= tendon_monotonic_ms() + 500);
    assert_true(s->b->radio.radio.pairing_timer.deadline == again);
    pass(s, again - 1);
    expect_nothing(s);
    pass(s, again);
    expect_preparation(s);
    expect(s, 0x19, 0, 3);
    new_key(s, 0, 1);
    complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    close_scene(s);
}

static void keys_of_others_are_not_stored(void **state) {
    (void)state;
    scene *s = open_scene(0);
    tendon_bond mine = {.radio = TENDON_BOND_KERNEL, .initiator = true, .key_size = 16, .own = own, .peer = peers[2]};
    assert_int_equal(tendon_bonds_store(&s->bonds, &mine), TENDON_OK);
    for (int i = 0; i < TENDON_BONDS_MAX; i++) {
        uint8_t pdu[6 + 37] = {0x0A, 0, 7, 0, 37, 0, 1, (uint8_t)i, 1, 2, 3, 4, 5, 1, 2, 0, 16};
        kernel_sends(s, pdu, sizeof pdu);
    }
    assert_int_equal(s->bonds.count, 1);
    assert_non_null(tendon_bonds_find(&s->bonds, TENDON_BOND_KERNEL, &own, &peers[2]));
    open_end(s, 0, false); /* a peripheral that starts pairing by itself */
    uint8_t unkept[6 + 37] = {0x0A, 0, 7, 0, 37, 0, 0, 5, 4, 3, 2, 1, 0xC0, 2, 2, 1, 16}; /* store hint 0 */
    kernel_sends(s, unkept, sizeof unkept);
    assert_int_equal(s->bonds.count, 1);
    tendon_radio_set_pairing_policy(&s->b->radio.radio, &(tendon_pairing_policy){.restricted = true});
    new_key(s, 0, 1);
    assert_int_equal(s->bonds.count, 1);
    tendon_radio_set_pairing_policy(&s->b->radio.radio, NULL);
    new_key(s, 0, 1);
    assert_int_equal(s->bonds.count, 2);
    open_end(s, 1, true); /* a central, and we are not in pairing mode */
    new_key(s, 1, 1);
    assert_int_equal(s->bonds.count, 2);
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
    new_key(s, 1, 1);
    assert_int_equal(s->bonds.count, 3);
    drain(s);
    close_scene(s);
}

/* User Confirmation Request: address, type, Confirm_Hint, value. */
static void question(scene *s, int peer, uint8_t hint) {
    const uint8_t *a = peers[peer].bytes;
    const uint8_t pdu[6 + 12] = {0x0F, 0,    7,    0,    12, 0, a[5], a[4], a[3], a[2], a[1], a[0], peer == 1 ? 1 : 2,
                                 hint, 0x40, 0xE2, 0x01, 0};
    kernel_sends(s, pdu, sizeof pdu);
}

static void only_just_works_of_a_pairing_of_ours_is_confirmed(void **state) {
    (void)state;
    scene *s = open_scene(2);
    begin(s, 0);
    question(s, 0, 1);
    expect(s, 0x1C, 0, -1);
    question(s, 0, 0); /* Numeric Comparison */
    expect(s, 0x1D, 0, -1);
    question(s, 1, 1); /* the same 48 bits, another type; connected, but it does not pair */
    expect(s, 0x1D, 1, -1);
    question(s, 2, 1); /* nobody we know */
    expect(s, 0x1D, 2, -1);
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
    drain(s);
    question(s, 2, 1);
    expect(s, 0x1C, 2, -1);
    question(s, 2, 0);
    expect(s, 0x1D, 2, -1);
    static const uint8_t short_question[6 + 7] = {0x0F, 0, 7, 0, 7, 0, 5, 4, 3, 2, 1, 0xC0, 2};
    kernel_sends(s, short_question, sizeof short_question);
    expect_nothing(s);
    assert_int_equal(s->b->radio.radio.malformed, 1);
    close_scene(s);
}

static void a_key_that_is_in_no_file_is_removed_once(void **state) {
    (void)state;
    scene *s = open_scene(1);
    begin(s, 0);
    complete(s, 0, TENDON_MANAGEMENT_ALREADY_PAIRED);
    expect(s, 0x1B, 0, 0); /* unpaired, and stays connected */
    expect(s, 0x19, 0, 3);
    assert_int_equal(s->ends[0].paired, 0);
    complete(s, 0, TENDON_MANAGEMENT_ALREADY_PAIRED);
    assert_int_equal(s->ends[0].status, TENDON_MANAGEMENT_ERROR(TENDON_MANAGEMENT_ALREADY_PAIRED));
    begin(s, 0);
    tendon_radio_set_pairing_policy(&s->b->radio.radio, &(tendon_pairing_policy){.restricted = true});
    complete(s, 0, TENDON_MANAGEMENT_ALREADY_PAIRED);
    expect_nothing(s);
    assert_int_equal(s->ends[0].status, TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED);
    close_scene(s);
}

/* New Identity Resolving Key: store hint, private address, identity address and type, key. */
static void a_private_address_is_followed_to_its_identity(void **state) {
    (void)state;
    scene *s = open_scene(3);
    const uint8_t *rpa = peers[2].bytes;
    uint8_t pdu[6 + 30] = {0x18,   0,      7,      0, 30, 0, 1, rpa[5], rpa[4], rpa[3],
                           rpa[2], rpa[1], rpa[0], 9, 9,  9, 9, 9,      9,      1};
    const tendon_address identity = {{9, 9, 9, 9, 9, 9}, TENDON_ADDRESS_TYPE_PUBLIC};
    begin(s, 2);
    kernel_sends(s, pdu, sizeof pdu);
    uint8_t key[6 + 37] = {0x0A, 0, 7, 0, 37, 0, 1, 9, 9, 9, 9, 9, 9, 1, 2, 1, 16};
    kernel_sends(s, key, sizeof key);
    assert_non_null(tendon_bonds_find(&s->bonds, TENDON_BOND_KERNEL, &own, &identity));
    const uint8_t done[16] = {1, 0, 7, 0, 10, 0, 0x19, 0, 0, 9, 9, 9, 9, 9, 9, 1};
    kernel_sends(s, done, sizeof done);
    assert_int_equal(s->ends[2].paired, 1);
    assert_int_equal(s->ends[2].status, TENDON_OK);
    for (size_t length = 0; length < 30 - 16; length++) {
        pdu[4] = (uint8_t)length;
        kernel_sends(s, pdu, 6 + length);
    }
    assert_int_equal(s->b->radio.radio.malformed, 30 - 16);
    close_scene(s);
}

static void keys_that_cannot_be_stored_are_removed_from_the_kernel(void **state) {
    (void)state;
    scene *s = open_scene(1);
    begin(s, 0);
    strcpy(s->bonds.path, "/proc/nowhere/bonds");
    new_key(s, 0, 1);
    complete(s, 0, 0);
    assert_true(s->ends[0].status < 0);
    assert_int_equal(s->bonds.count, 0);
    expect(s, 0x1B, 0, 0);
    memset(s->bonds.path, 0, sizeof s->bonds.path);
    close_scene(s);
}

/* The peripheral pairs by itself, and the disk is full. */
static void a_key_without_a_procedure_is_removed_too(void **state) {
    (void)state;
    scene *s = open_scene(1);
    strcpy(s->bonds.path, "/proc/nowhere/bonds");
    new_key(s, 0, 1);
    expect(s, 0x1B, 0, 0);
    memset(s->bonds.path, 0, sizeof s->bonds.path);
    close_scene(s);
}

static void each_result_of_the_kernel_has_a_meaning(void **state) {
    (void)state;
    static const struct {
        uint8_t status;
        tendon_status result;
    } cases[] = {{TENDON_MANAGEMENT_AUTHENTICATION_FAILED, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {TENDON_MANAGEMENT_FAILED, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {TENDON_MANAGEMENT_TIMEOUT, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {TENDON_MANAGEMENT_REJECTED, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {TENDON_MANAGEMENT_CANCELLED, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {TENDON_MANAGEMENT_NOT_CONNECTED, TENDON_ERROR_DISCONNECTED},
                 {TENDON_MANAGEMENT_CONNECT_FAILURE, TENDON_ERROR_DISCONNECTED},
                 {TENDON_MANAGEMENT_DISCONNECTED, TENDON_ERROR_DISCONNECTED},
                 {TENDON_MANAGEMENT_NOT_POWERED, TENDON_MANAGEMENT_ERROR(TENDON_MANAGEMENT_NOT_POWERED)}};
    scene *s = open_scene(1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(s, 0);
        complete(s, 0, cases[i].status);
        assert_int_equal(s->ends[0].paired, (int)i + 1);
        assert_int_equal(s->ends[0].status, cases[i].result);
        assert_false(s->ends[0].end.link.encrypted);
    }
    close_scene(s);
}

/* Closed, cancelled or forgotten: the kernel is told to stop, and no result follows. */
static void a_procedure_that_nobody_waits_for_is_cancelled(void **state) {
    (void)state;
    scene *s = open_scene(3);
    for (int i = 0; i < 3; i++) {
        begin(s, i);
    }
    s->service->cancel(s->service->context, &peers[0]);
    expect(s, 0x1A, 0, -1);
    assert_int_equal(tendon_radio_forget(&s->b->radio.radio, &peers[1]), TENDON_ERROR_NOT_FOUND);
    expect(s, 0x1A, 1, -1);
    expect(s, 0x1B, 1, 1);
    tendon_link_close(&s->ends[2].end.link);
    assert_int_equal(pair(s, 2), TENDON_ERROR_WRONG_STATE); /* it is about to close */
    for (int i = 0; i < 3; i++) {
        complete(s, i, 0);
        assert_int_equal(s->ends[i].paired, 0);
    }
    assert_int_equal(tendon_loop_step(&s->b->loop, 0), TENDON_OK);
    assert_int_equal(s->ends[2].end.closed, 1);
    expect(s, 0x1A, 2, -1);
    close_scene(s);
}

/* A stranger with the address of a bonded device: it has no key, and gets none without permission. */
static void a_bond_that_does_not_encrypt_is_no_permission(void **state) {
    (void)state;
    scene *s = open_scene(1);
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL, .initiator = true, .key_size = 16, .own = own, .peer = peers[0]};
    assert_int_equal(tendon_bonds_store(&s->bonds, &bond), TENDON_OK);
    tendon_radio_set_pairing_policy(&s->b->radio.radio, &(tendon_pairing_policy){.restricted = true});
    assert_int_equal(pair(s, 0), TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED);
    expect_nothing(s);
    close_scene(s);
}

static void forgetting_all_reports_the_kernels_error(void **state) {
    (void)state;
    scene *s = open_scene(0);
    tendon_bonds other;
    char path[] = "/tmp/tendon-bonds-XXXXXX", lock[64];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(tendon_bonds_open(&s->bonds, path), TENDON_OK);
    assert_int_equal(tendon_bonds_open(&other, path), TENDON_OK);
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL, .initiator = true, .key_size = 16, .own = own, .peer = peers[0]};
    assert_int_equal(tendon_bonds_store(&other, &bond), TENDON_OK); /* by another process, since the last look-up */
    assert_int_equal(tendon_radio_forget_all(&s->b->radio.radio), 1);
    expect(s, 0x1B, 0, 1);
    assert_int_equal(tendon_bonds_store(&other, &bond), TENDON_OK);
    assert_int_equal(shutdown(s->b->radio.management.fd, SHUT_WR), 0);
    assert_true(tendon_radio_forget_all(&s->b->radio.radio) < 0);
    unlink(path);
    unlink(lock);
    close_scene(s);
}

static void a_command_without_an_address_in_its_answer_ends_all(void **state) {
    (void)state;
    static const uint8_t denied[] = {2, 0, 7, 0, 3, 0, 0x19, 0, TENDON_MANAGEMENT_PERMISSION_DENIED};
    scene *s = open_scene(2);
    begin(s, 0);
    begin(s, 1);
    kernel_sends(s, denied, sizeof denied);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(s->ends[i].paired, 1);
        assert_int_equal(s->ends[i].status, TENDON_RADIO_ERROR_NO_CAP_NET_ADMIN);
    }
    close_scene(s);
}

static void forgetting_is_one_step(void **state) {
    (void)state;
    scene *s = open_scene(1);
    begin(s, 0);
    new_key(s, 0, 1);
    complete(s, 0, 0);
    strcpy(s->bonds.path, "/proc/nowhere/bonds");
    assert_true(tendon_radio_forget(&s->b->radio.radio, &peers[0]) < 0);
    expect_nothing(s); /* the kernel keeps the key too */
    memset(s->bonds.path, 0, sizeof s->bonds.path);
    assert_int_equal(s->bonds.count, 1);
    assert_int_equal(tendon_radio_forget(&s->b->radio.radio, &peers[0]), TENDON_OK);
    expect(s, 0x1B, 0, 1);
    assert_int_equal(shutdown(s->b->radio.management.fd, SHUT_WR), 0);   /* the kernel takes no more commands */
    assert_true(tendon_radio_forget(&s->b->radio.radio, &peers[0]) < 0); /* it may still have the key */
    assert_int_not_equal(tendon_radio_forget(&s->b->radio.radio, &peers[0]), TENDON_ERROR_NOT_FOUND);
    close_scene(s);
}

/* Another process at the adapter of this index, with another store. */
static int other_program(const char *text) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    strcpy(name.sun_path + 1, text);
    assert_int_equal(
        bind(fd, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(text))), 0);
    return fd;
}

static tendon_status use(bluez_bench *b, tendon_bonds *bonds) {
    b->radio.radio.bonds = NULL;
    return tendon_radio_use_bonds(&b->radio.radio, bonds);
}

/* One list of keys per adapter: loading ours would remove those of a program with another store. */
static void keys_of_another_store_are_not_unloaded(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &own);
    tendon_bonds none, some;
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL, .initiator = true, .key_size = 16, .own = own, .peer = peers[0]};
    uint8_t pdu[128];
    tendon_bonds_init(&none);
    tendon_bonds_init(&some);
    assert_int_equal(tendon_bonds_store(&some, &bond), TENDON_OK);
    int dummies[40];
    for (int i = 0; i < 40; i++) { /* lines before and behind the one that counts */
        char text[40];
        snprintf(text, sizeof text, "tendon-test-%d-%d", (int)getpid(), i);
        dummies[i] = other_program(text);
    }
    int other = -1, another_adapter = other_program("tendon/keys/hci77/1-2/4");
    for (int i = 0; i < 16; i++) { /* wherever the kernel lists it */
        char text[40];
        snprintf(text, sizeof text, "tendon/keys/hci7/1-2-3/4-%d", i);
        close(other);
        other = other_program(text);
        assert_int_equal(use(b, &some), TENDON_RADIO_ERROR_OTHER_BOND_STORE);
    }
    assert_null(tendon_radio_pairing(&b->radio.radio));
    assert_int_equal(loaded_fd, -1); /* nothing was loaded */
    assert_int_equal(b->radio.leases[2], -1);
    assert_int_equal(use(b, &none), TENDON_OK); /* no keys: nothing to load */
    assert_int_equal(b->radio.leases[2], -1);
    close(other);
    tendon_status status = use(b, &some);
    if (status >= 0) { /* bluetoothd does not run here */
        assert_int_equal(recv(loaded_peer, pdu, sizeof pdu, 0), 6 + 2 + 36);
        assert_int_equal(pdu[0], TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS);
        assert_int_equal(pdu[6], 1);
    }
    assert_int_equal(status, TENDON_OK);
    close(loaded_peer);
    close(another_adapter);
    for (int i = 0; i < 40; i++) {
        close(dummies[i]);
    }
    bluez_close(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_pair_at_once_and_end_in_any_order),
        cmocka_unit_test(a_silent_peer_is_cancelled_alone),
        cmocka_unit_test(a_busy_kernel_is_asked_again),
        cmocka_unit_test(keys_of_others_are_not_stored),
        cmocka_unit_test(only_just_works_of_a_pairing_of_ours_is_confirmed),
        cmocka_unit_test(a_key_that_is_in_no_file_is_removed_once),
        cmocka_unit_test(a_private_address_is_followed_to_its_identity),
        cmocka_unit_test(keys_that_cannot_be_stored_are_removed_from_the_kernel),
        cmocka_unit_test(a_key_without_a_procedure_is_removed_too),
        cmocka_unit_test(each_result_of_the_kernel_has_a_meaning),
        cmocka_unit_test(a_procedure_that_nobody_waits_for_is_cancelled),
        cmocka_unit_test(a_bond_that_does_not_encrypt_is_no_permission),
        cmocka_unit_test(forgetting_all_reports_the_kernels_error),
        cmocka_unit_test(a_command_without_an_address_in_its_answer_ends_all),
        cmocka_unit_test(forgetting_is_one_step),
        cmocka_unit_test(keys_of_another_store_are_not_unloaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
