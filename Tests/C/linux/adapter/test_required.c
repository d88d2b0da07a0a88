/* SPDX-License-Identifier: MIT */
/* A connection that must be encrypted, over the kernel's sockets: nothing goes over the ATT socket before. */
#include "bluez_connecting.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

typedef struct bench {
    bluez_bench *b;
    tendon_bonds bonds;
    tendon_connection connection;
    int connected, closed;
    tendon_status reason;
} bench;

static bench the_bench;

static void on_connected(void *context, uint64_t now) {
    bench *x = context;
    (void)now;
    assert_true(tendon_link_has_security(&x->connection.link, TENDON_SECURITY_ENCRYPTED));
    x->connected++;
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    bench *x = context;
    (void)now;
    x->closed++;
    x->reason = reason;
}

static void drain(bench *x) {
    uint8_t pdu[128];
    while (recv(x->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT) >= 0) {
    }
}

/** Connecting; the socket is not connected yet. */
/* Core Spec Vol 3 Part H D.7: the key, and an address that it resolves. */
static const tendon_address private_address = {{0x70, 0x81, 0x94, 0x0D, 0xFB, 0xAA}, TENDON_ADDRESS_TYPE_RANDOM};

static bench *begin_to(const tendon_address *peer, bool bonded) {
    static const tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                                     .initiator = true,
                                     .type = 2,
                                     .key_size = 16,
                                     .own = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x00}, TENDON_ADDRESS_TYPE_PUBLIC},
                                     .peer = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x01}, TENDON_ADDRESS_TYPE_PUBLIC},
                                     .has_identity_key = true,
                                     .identity_key = {0x9B, 0x7D, 0x39, 0x0A, 0xA6, 0x10, 0x10, 0x34, 0x05, 0xAD, 0xC8,
                                                      0x57, 0xA3, 0x34, 0x02, 0xEC}};
    bench *x = &the_bench;
    memset(x, 0, sizeof *x);
    x->b = bluez_open(false, &bluez_public_address);
    tendon_radio *radio = &x->b->radio.radio;
    x->b->radio.identities_loaded = true;
    tendon_bonds_init(&x->bonds);
    assert_int_equal(tendon_radio_use_bonds(radio, &x->bonds), TENDON_OK);
    if (bonded) {
        tendon_bond own = bond;
        own.own = radio->address;
        assert_int_equal(tendon_bonds_store(&x->bonds, &own), TENDON_OK);
    }
    assert_int_equal(tendon_radio_set_security(radio, TENDON_SECURITY_ENCRYPTED), TENDON_OK);
    tendon_connection_init(
        &x->connection, radio, peer, tendon_radio_pairing(radio),
        &(tendon_connection_callbacks){.context = x, .connected = on_connected, .closed = on_closed});
    drain(x);
    fake.security_level = BT_SECURITY_LOW;
    assert_int_equal(tendon_connection_connect(&x->connection), TENDON_OK);
    assert_int_equal(fake.connects, 1);
    return x;
}

static bench *begin(bool bonded) {
    return begin_to(&bluez_peer, bonded);
}

static void writable(bench *x) {
    x->connection.link.source.ready(x->connection.link.source.context, TENDON_WRITABLE, tendon_monotonic_ms());
}

static void expect_silence(const bench *x) {
    uint8_t pdu[32];
    assert_int_equal(recv(bluez_far_end(), pdu, sizeof pdu, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(x->connected, 0);
}

static void finish(bench *x, tendon_status reason) {
    tendon_connection_close(&x->connection);
    STEP_UNTIL(&x->b->loop, x->closed == 1);
    assert_int_equal(x->reason, reason);
    bluez_close(x->b);
}

/* Set Secure Connections, then Pair Device: 00:00:5E:00:53:01, LE public, no I/O. */
static void expect_pairing(bench *x) {
    static const uint8_t mode[7] = {0x2D, 0, 7, 0, 1, 0, 1};
    static const uint8_t pair[14] = {0x19, 0, 7, 0, 8, 0, 0x01, 0x53, 0x00, 0x5E, 0x00, 0x00, 1, 3};
    uint8_t pdu[64];
    assert_int_equal(recv(x->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 7);
    assert_memory_equal(pdu, mode, 7);
    assert_int_equal(recv(x->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 14);
    assert_memory_equal(pdu, pair, 14);
}

static void kernel_sends(bench *x, const uint8_t *pdu, size_t length) {
    assert_int_equal(send(x->b->kernel, pdu, length, 0), (ssize_t)length);
    bluez_read(x->b);
}

static void pair_device_ends(bench *x, uint8_t status) {
    const uint8_t pdu[16] = {1, 0, 7, 0, 10, 0, 0x19, 0, status, 0x01, 0x53, 0x00, 0x5E, 0x00, 0x00, 1};
    kernel_sends(x, pdu, sizeof pdu);
}

static void a_new_device_pairs_first(void **state) {
    (void)state;
    bench *x = begin(false);
    writable(x);
    assert_int_equal(x->connection.state, TENDON_CONNECTION_SECURING);
    expect_pairing(x);
    expect_silence(x);
    static const uint8_t key[6 + 37] = {0x0A, 0, 7, 0, 37, 0, 1, 0x01, 0x53, 0x00, 0x5E, 0x00, 0x00, 1, 2, 1, 16};
    kernel_sends(x, key, sizeof key);
    expect_silence(x);
    pair_device_ends(x, TENDON_MANAGEMENT_SUCCESS);
    assert_int_equal(x->connected, 1);
    assert_int_equal(x->bonds.count, 1);
    finish(x, TENDON_ERROR_CANCELLED);
}

static void a_device_that_does_not_pair_is_not_used(void **state) {
    (void)state;
    bench *x = begin(false);
    writable(x);
    expect_pairing(x);
    pair_device_ends(x, TENDON_MANAGEMENT_AUTHENTICATION_FAILED);
    STEP_UNTIL(&x->b->loop, x->closed == 1);
    assert_int_equal(x->connected, 0);
    finish(x, TENDON_RADIO_ERROR_NOT_SECURE);
    x = begin(false);
    tendon_radio_set_pairing_policy(&x->b->radio.radio, &(tendon_pairing_policy){.restricted = true});
    writable(x);
    STEP_UNTIL(&x->b->loop, x->closed == 1);
    assert_int_equal(x->connected, 0);
    finish(x, TENDON_RADIO_ERROR_NOT_SECURE);
}

/* BT_SECURITY before anything else: the kernel encrypts, and the socket is writable again when that is done. */
static void a_bonded_device_is_encrypted_by_the_kernel(void **state) {
    (void)state;
    bench *x = begin(true);
    writable(x);
    assert_int_equal(fake.security_level, BT_SECURITY_MEDIUM);
    assert_int_equal(x->connection.state, TENDON_CONNECTION_CONNECTING);
    expect_silence(x);
    writable(x);
    assert_int_equal(x->connected, 1);
    uint8_t pdu[64];
    assert_int_equal(recv(x->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 23); /* Load Connection Parameters */
    assert_int_equal(pdu[0], 0x35);
    assert_int_equal(recv(x->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), -1); /* no pairing */
    finish(x, TENDON_ERROR_CANCELLED);
    /* The device has lost the key: the kernel ends the link. */
    x = begin(true);
    writable(x);
    fake.refuse[FAKE_SOCKET_ERROR] = (fake_refusal){.number = ECONNABORTED};
    writable(x);
    STEP_UNTIL(&x->b->loop, x->closed == 1);
    assert_int_equal(x->connected, 0);
    finish(x, TENDON_RADIO_ERROR_NOT_SECURE);
}

/* It has paired under this private address, and has another one by now. */
static void a_bonded_device_is_found_by_an_old_private_address(void **state) {
    (void)state;
    static const uint8_t key[16] = {0};
    bench *x = begin_to(&private_address, true);
    uint8_t wire[6];
    tendon_address_to_wire(&bluez_peer, wire);
    assert_memory_equal(fake.target.l2_bdaddr.b, wire, 6);
    assert_true(tendon_address_equal(&x->connection.peer, &private_address));
    writable(x);
    assert_int_equal(fake.security_level, BT_SECURITY_MEDIUM);
    bluez_kernel_encrypts(x->b, fake.connection.handle, key, 28);
    writable(x);
    assert_int_equal(x->connected, 1);
    assert_true(tendon_address_equal(&x->connection.peer, &bluez_peer));
    const tendon_session_link link = tendon_connection_session_link(&x->connection);
    assert_true(link.bonded(link.context));
    finish(x, TENDON_ERROR_CANCELLED);
    assert_true(tendon_address_equal(&x->connection.peer, &bluez_peer));
}

/* The kernel lets the socket send before the connection is encrypted, if the device sends meanwhile: nothing goes over
 * it until the kernel lists the connection as encrypted. */
static void a_writable_socket_is_not_enough(void **state) {
    (void)state;
    enum { ENCRYPTED, REFUSED, HANGUP, HOW };
    for (int how = 0; how < HOW; how++) {
        bench *x = begin(true);
        tendon_source *source = &x->connection.link.source;
        writable(x);
        fake.connection.link_mode = ~(uint32_t)HCI_LM_ENCRYPT;
        fake.refuse[FAKE_GET_CONNECTION] = (fake_refusal){.number = how == REFUSED ? EPERM : 0};
        for (int i = 0; i < 3; i++) {
            uint64_t now = tendon_monotonic_ms();
            writable(x);
            assert_int_equal(source->interest, 0); /* it would be writable without a pause */
            assert_true(source->deadline >= now && source->deadline <= tendon_monotonic_ms() + 20);
            assert_int_equal(x->connection.state, TENDON_CONNECTION_CONNECTING);
            expect_silence(x);
            source->deadline = 0;
            STEP_UNTIL(&x->b->loop, source->interest == TENDON_WRITABLE || source->deadline != 0);
        }
        if (how == HANGUP) {
            source->ready(source->context, TENDON_WRITABLE | TENDON_HANGUP, tendon_monotonic_ms());
            STEP_UNTIL(&x->b->loop, x->closed == 1);
            assert_int_equal(x->connected, 0);
            finish(x, TENDON_RADIO_ERROR_NOT_SECURE);
            continue;
        }
        fake.connection.link_mode = HCI_LM_ENCRYPT;
        fake.refuse[FAKE_GET_CONNECTION] = (fake_refusal){0};
        STEP_UNTIL(&x->b->loop, x->connected == 1);
        finish(x, TENDON_ERROR_CANCELLED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_device_pairs_first),
        cmocka_unit_test(a_device_that_does_not_pair_is_not_used),
        cmocka_unit_test(a_bonded_device_is_encrypted_by_the_kernel),
        cmocka_unit_test(a_bonded_device_is_found_by_an_old_private_address),
        cmocka_unit_test(a_writable_socket_is_not_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
