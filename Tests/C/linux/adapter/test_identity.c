/* SPDX-License-Identifier: MIT */
/* Peers with a private address: a pairing reveals their identity address, under which their keys are stored. */
#include "pairing_scene.h"

#include <string.h>
#include <sys/socket.h>

/* New Identity Resolving Key: store hint, private address, identity address and type, key. */
static void a_private_address_is_followed_to_its_identity(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(3);
    const uint8_t *rpa = pairing_peers[2].bytes;
    uint8_t pdu[6 + 30] = {0x18,   0,      7,      0, 30, 0, 1, rpa[5], rpa[4], rpa[3],
                           rpa[2], rpa[1], rpa[0], 9, 9,  9, 9, 9,      9,      1};
    memset(pdu + 6 + 14, 0x1D, 16);
    const tendon_address identity = {{9, 9, 9, 9, 9, 9}, TENDON_ADDRESS_TYPE_PUBLIC};
    pairing_scene_begin(s, 2);
    pairing_scene_kernel_sends(s, pdu, sizeof pdu);
    uint8_t key[6 + 37] = {0x0A, 0, 7, 0, 37, 0, 1, 9, 9, 9, 9, 9, 9, 1, 2, 1, 16};
    pairing_scene_kernel_sends(s, key, sizeof key);
    const tendon_bond *bond = tendon_bonds_find(&s->bonds, TENDON_BOND_KERNEL, &bluez_public_address, &identity);
    assert_non_null(bond);
    assert_true(bond->has_identity_key);
    assert_memory_equal(bond->identity_key, pdu + 6 + 14, 16);
    const uint8_t done[16] = {1, 0, 7, 0, 10, 0, 0x19, 0, 0, 9, 9, 9, 9, 9, 9, 1};
    pairing_scene_kernel_sends(s, done, sizeof done);
    assert_int_equal(s->ends[2].paired, 1);
    assert_int_equal(s->ends[2].status, TENDON_OK);
    for (size_t length = 0; length < 30; length++) {
        pdu[4] = (uint8_t)length;
        pairing_scene_kernel_sends(s, pdu, 6 + length);
    }
    assert_int_equal(s->b->radio.radio.malformed, 30);
    pairing_scene_close(s);
}

/* New Identity Resolving Key of the third peer, which has a private address. */
static void reveal(pairing_scene *s, const tendon_address *identity) {
    const uint8_t *a = pairing_peers[2].bytes, *i = identity->bytes;
    uint8_t pdu[6 + 30] = {0x18, 0,    7,    0,    30,   0,    1,    a[5], a[4], a[3],
                           a[2], a[1], a[0], i[5], i[4], i[3], i[2], i[1], i[0], 2};
    pairing_scene_kernel_sends(s, pdu, sizeof pdu);
}

/* Beside another program the kernel gets no keys of us, but it has the one that a pairing has brought. */
/* A key that was stored for one identity does not stand for another one. */
static void a_key_belongs_to_its_identity(void **state) {
    (void)state;
    static const tendon_address first = {{0xC0, 9, 9, 9, 9, 1}, TENDON_ADDRESS_TYPE_RANDOM};
    static const tendon_address second = {{0xC0, 9, 9, 9, 9, 2}, TENDON_ADDRESS_TYPE_RANDOM};
    pairing_scene *s = pairing_scene_open(3);
    tendon_link *link = &s->ends[2].end.link;
    reveal(s, &first);
    link->keyed = true;
    reveal(s, &first);
    assert_true(link->keyed);
    reveal(s, &second);
    assert_false(link->keyed);
    pairing_scene_close(s);
}

static void a_key_of_a_pairing_is_in_the_kernel(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(3);
    static const tendon_address identity = {{0xC0, 9, 9, 9, 9, 9}, TENDON_ADDRESS_TYPE_RANDOM};
    assert_int_equal(tendon_bluez_resolves(&s->b->radio.radio), TENDON_RADIO_ERROR_OTHER_BOND_STORE);
    reveal(s, &identity);
    assert_int_equal(tendon_bluez_resolves(&s->b->radio.radio), TENDON_OK);
    pairing_scene_close(s);
}

static void new_key_of(pairing_scene *s, const tendon_address *identity) {
    const uint8_t *i = identity->bytes;
    const uint8_t pdu[6 + 37] = {0x0A, 0, 7, 0, 37, 0, 1, i[5], i[4], i[3], i[2], i[1], i[0], 2, 2, 0, 16};
    pairing_scene_kernel_sends(s, pdu, sizeof pdu);
}

/** The next command is this one, about this peer. */
static void expect_about(pairing_scene *s, uint8_t opcode, const tendon_address *peer) {
    const uint8_t *a = peer->bytes, wire[6] = {a[5], a[4], a[3], a[2], a[1], a[0]};
    uint8_t pdu[64];
    assert_true(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT) >= 13);
    assert_int_equal(pdu[0], opcode);
    assert_memory_equal(pdu + 6, wire, sizeof wire);
}

static const tendon_address revealed = {{0xC0, 9, 9, 9, 9, 9}, TENDON_ADDRESS_TYPE_RANDOM};

/** The third peer has paired under its private address, as a peripheral or a central. */
static pairing_scene *paired_under_a_private_address(bool accepted) {
    pairing_scene *s = pairing_scene_open(accepted ? 0 : 3);
    if (accepted) {
        pairing_scene_add(s, 2, true);
        assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
    } else {
        pairing_scene_begin(s, 2);
    }
    reveal(s, &revealed);
    new_key_of(s, &revealed);
    if (!accepted) {
        const uint8_t done[16] = {1, 0, 7, 0, 10, 0, 0x19, 0, 0, 9, 9, 9, 9, 9, 0xC0, 2};
        pairing_scene_kernel_sends(s, done, sizeof done);
        assert_int_equal(s->ends[2].paired, 1);
        assert_int_equal(s->ends[2].status, TENDON_OK);
        assert_true(s->ends[2].end.link.encrypted);
    }
    assert_int_equal(s->bonds.count, 1);
    pairing_scene_drain(s);
    return s;
}

/* In the connection in which the peer has paired, its bond is found by both addresses. */
static void a_private_address_stands_for_its_identity(void **state) {
    (void)state;
    for (int by_identity = 0; by_identity < 2; by_identity++) {
        pairing_scene *s = paired_under_a_private_address(false);
        const tendon_address *peer = by_identity ? &revealed : &pairing_peers[2];
        void *const context = s->service->context;
        assert_true(s->service->bonded(context, peer));
        assert_int_equal(s->service->start(context, peer, pairing_scene_on_paired, &s->ends[2], tendon_monotonic_ms()),
                         TENDON_OK);
        STEP_UNTIL(&s->b->loop, s->ends[2].paired == 2);
        assert_int_equal(s->ends[2].status, TENDON_OK);
        pairing_scene_expect_nothing(s); /* it is paired */
        assert_int_equal(s->service->forget(context, peer), TENDON_OK);
        assert_int_equal(s->bonds.count, 0);
        expect_about(s, 0x1B, &revealed);
        assert_false(s->service->bonded(context, peer));
        assert_int_equal(s->service->start(context, peer, pairing_scene_on_paired, &s->ends[2], tendon_monotonic_ms()),
                         TENDON_OK);
        pairing_scene_expect_preparation(s);
        expect_about(s, 0x19, &revealed); /* the kernel has the connection under this address */
        s->service->cancel(context, peer);
        expect_about(s, 0x1A, &revealed);
        pairing_scene_close(s);
    }
}

static void a_central_is_forgotten_by_its_private_address(void **state) {
    (void)state;
    for (int by_identity = 0; by_identity < 2; by_identity++) {
        pairing_scene *s = paired_under_a_private_address(true);
        const tendon_address *peer = by_identity ? &revealed : &pairing_peers[2];
        assert_true(s->service->bonded(s->service->context, peer));
        assert_int_equal(tendon_radio_forget(&s->b->radio.radio, peer), TENDON_OK);
        assert_int_equal(s->bonds.count, 0);
        expect_about(s, 0x1B, &revealed);
        pairing_scene_close(s);
    }
}

/* An identity without a key is what a device says: its connection does not stand for the bond of another one. */
static void a_claimed_identity_stands_for_nothing(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(3);
    const tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                              .initiator = true,
                              .type = 2,
                              .key_size = 16,
                              .own = bluez_public_address,
                              .peer = pairing_peers[0]};
    assert_int_equal(tendon_bonds_store(&s->bonds, &bond), TENDON_OK);
    pairing_scene_begin(s, 2);
    reveal(s, &pairing_peers[0]);
    assert_false(s->service->bonded(s->service->context, &pairing_peers[2]));
    assert_int_equal(tendon_radio_forget(&s->b->radio.radio, &pairing_peers[2]), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(s->bonds.count, 1);
    pairing_scene_drain(s);
    pairing_scene_begin(s, 0); /* the connection to the device itself */
    assert_int_equal(s->ends[0].end.link.pairing.state, TENDON_PAIRING_RUNNING);
    pairing_scene_close(s);
}

/* The kernel knows the connection by the identity address, and would keep it for 2 s after its socket. */
static void a_connection_is_ended_by_its_identity(void **state) {
    (void)state;
    for (int accepted = 0; accepted < 2; accepted++) {
        pairing_scene *s = paired_under_a_private_address(accepted != 0);
        static const uint8_t wire[6] = {9, 9, 9, 9, 9, 0xC0};
        s->ends[2].end.link.handle = fake.connection.handle;
        tendon_link_close(&s->ends[2].end.link);
        assert_memory_equal(fake.asked_peer.b, wire, sizeof wire);
        const uint8_t *disconnect = bluez_expect(s->b, TENDON_HCI_OPCODE(0x01, 0x006));
        assert_int_equal(disconnect[0], fake.connection.handle);
        assert_true(tendon_bluez_free_at(&s->b->radio, &revealed, tendon_monotonic_ms()) > tendon_monotonic_ms());
        pairing_scene_close(s);
    }
}

/* The private address is all zero: the peer does not use one, and its identity key is kept. With store hint 0 it is
 * not. */
static void an_identity_key_of_a_peer_without_a_private_address(void **state) {
    (void)state;
    for (uint8_t hint = 0; hint < 2; hint++) {
        pairing_scene *s = pairing_scene_open(1);
        const uint8_t *a = pairing_peers[0].bytes;
        uint8_t pdu[6 + 30] = {0x18, 0, 7, 0, 30, 0, hint, 0, 0, 0, 0, 0, 0, a[5], a[4], a[3], a[2], a[1], a[0], 2, 7};
        pairing_scene_begin(s, 0);
        pairing_scene_kernel_sends(s, pdu, sizeof pdu);
        pairing_scene_new_key(s, 0, 1);
        assert_int_equal(s->bonds.count, 1);
        assert_int_equal(s->bonds.items[0].has_identity_key, hint);
        pairing_scene_complete(s, 0, 0);
        assert_int_equal(s->ends[0].status, TENDON_OK);
        pairing_scene_close(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_private_address_is_followed_to_its_identity),
        cmocka_unit_test(a_key_belongs_to_its_identity),
        cmocka_unit_test(a_key_of_a_pairing_is_in_the_kernel),
        cmocka_unit_test(a_private_address_stands_for_its_identity),
        cmocka_unit_test(a_central_is_forgotten_by_its_private_address),
        cmocka_unit_test(a_claimed_identity_stands_for_nothing),
        cmocka_unit_test(a_connection_is_ended_by_its_identity),
        cmocka_unit_test(an_identity_key_of_a_peer_without_a_private_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
