/* SPDX-License-Identifier: MIT */
/* The pairing agent over the management socket, PDU by PDU: keys that are not good enough, and bonds that stay. */
#include "agent_scene.h"

#include <string.h>
#include <sys/socket.h>

/* ---- what is not good enough ---- */

static void just_works_is_rejected_before_there_is_a_key(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_passkey(PASSKEY);
    pairing_scene *s = scene_with(1, &agent);
    begin(s, 0, TENDON_PAIRING_KEYBOARD_ONLY);
    kernel_confirms(s, 0, 1);
    pairing_scene_expect(s, NO, 0, -1);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_AUTHENTICATION_FAILED);
    assert_int_equal(s->ends[0].status, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
    pairing_scene_close(s);
}

/* Types: 0 legacy, 1 legacy with a passkey, 2 and 3 the same of Secure Connections, 4 of the debug key. */
static void each_key_is_worth_what_its_type_and_size_say(void **state) {
    (void)state;
    static const struct {
        bool authenticated, secure;
        uint8_t size_min, type, size;
        bool good;
    } cases[] = {
        {false, false, 0, 0, 7, true},    {true, false, 0, 0, 16, false},  {true, false, 0, 1, 16, true},
        {true, false, 0, 2, 16, false},   {true, false, 0, 3, 16, true},   {false, true, 0, 0, 16, false},
        {false, true, 0, 1, 16, false},   {false, true, 0, 2, 16, true},   {false, true, 0, 3, 16, true},
        {true, true, 0, 1, 16, false},    {true, true, 0, 2, 16, false},   {true, true, 0, 3, 16, true},
        {false, false, 16, 2, 15, false}, {false, false, 16, 2, 16, true}, {false, true, 0, 4, 16, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tendon_pairing_agent agent = {.io = TENDON_PAIRING_KEYBOARD_DISPLAY,
                                            .authenticated = cases[i].authenticated,
                                            .secure_connections_only = cases[i].secure,
                                            .key_size_min = cases[i].size_min};
        pairing_scene *s = scene_with(1, &agent);
        begin(s, 0, TENDON_PAIRING_KEYBOARD_DISPLAY);
        /* The controller encrypts before the key. */
        tendon_bluez_encryption_changed(&s->b->radio, s->ends[0].end.link.handle, true, 1);
        kernel_stores(s, &pairing_peers[0], cases[i].type, cases[i].size);
        if (!cases[i].good) {
            pairing_scene_expect(s, 0x1B, 0, 1); /* Unpair Device, and disconnect */
            assert_false(s->ends[0].end.link.encrypted);
        }
        pairing_scene_complete(s, 0, 0);
        assert_int_equal(s->ends[0].paired, 1);
        assert_int_equal(s->ends[0].status, cases[i].good ? TENDON_OK : TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
        assert_int_equal(s->bonds.count, cases[i].good);
        assert_int_equal(s->ends[0].end.link.encrypted, cases[i].good);
        pairing_scene_expect_nothing(s);
        pairing_scene_close(s);
    }
}

/* Pair Device succeeds at once when the kernel has encrypted already, with a key of whoever. */
static void encryption_without_a_good_key_is_no_pairing(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_passkey(PASSKEY);
    pairing_scene *s = scene_with(1, &agent);
    begin(s, 0, TENDON_PAIRING_KEYBOARD_ONLY);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
    assert_false(s->ends[0].end.link.encrypted);
    pairing_scene_close(s);
}

static void a_bond_that_is_worth_less_is_not_used(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_passkey(PASSKEY);
    pairing_scene *s = scene_with(1, &agent);
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                        .initiator = true,
                        .type = 2,
                        .key_size = 16,
                        .own = bluez_public_address,
                        .peer = pairing_peers[0]};
    assert_int_equal(tendon_bonds_store(&s->bonds, &bond), TENDON_OK);
    assert_false(s->service->bonded(s->service->context, &pairing_peers[0]));
    assert_false(tendon_bluez_secure(&s->ends[0].end.link));
    begin(s, 0, TENDON_PAIRING_KEYBOARD_ONLY); /* it pairs anew, and replaces the key */
    kernel_stores(s, &pairing_peers[0], 3, 16);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    assert_int_equal(s->bonds.count, 1);
    assert_int_equal(s->bonds.items[0].type, 3);
    assert_true(tendon_bluez_secure(&s->ends[0].end.link));
    assert_int_equal(fake.security_level, 3); /* BT_SECURITY_HIGH */
    pairing_scene_close(s);
}

/** A key of Just Works is in the store and in the kernel, and the radio requires an authenticated one. */
static pairing_scene *requiring(const tendon_pairing_agent *agent) {
    pairing_scene *s = scene_with(1, agent);
    fake.programs = 0;
    const tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                              .initiator = true,
                              .type = 2,
                              .key_size = 16,
                              .own = bluez_public_address,
                              .peer = pairing_peers[0],
                              .key = {1, 2, 3}};
    assert_int_equal(tendon_bonds_store(&s->bonds, &bond), TENDON_OK);
    assert_int_equal(tendon_radio_set_security(&s->b->radio.radio, TENDON_SECURITY_AUTHENTICATED), TENDON_OK);
    assert_false(s->service->bonded(s->service->context, &pairing_peers[0]));
    assert_false(tendon_bluez_secure(&s->ends[0].end.link));
    return s;
}

/* The kernel is asked to remove its key, and the devices pair again. The connections of centrals have no such level. */
static void a_required_level_replaces_a_weak_key(void **state) {
    (void)state;
    const tendon_pairing_agent agent = {.io = TENDON_PAIRING_KEYBOARD_ONLY, .has_passkey = true, .passkey = PASSKEY};
    pairing_scene *s = requiring(&agent);
    begin(s, 0, TENDON_PAIRING_KEYBOARD_ONLY);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_ALREADY_PAIRED);
    pairing_scene_expect(s, 0x1B, 0, 0); /* Unpair Device; the connection stays */
    pairing_scene_expect(s, 0x19, 0, TENDON_PAIRING_KEYBOARD_ONLY);
    kernel_wants_passkey(s, 0);
    expect_passkey(s, 0, PASSKEY);
    kernel_stores(s, &pairing_peers[0], 3, 16);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    assert_true(tendon_link_has_security(&s->ends[0].end.link, TENDON_SECURITY_AUTHENTICATED));
    assert_int_equal(s->bonds.count, 1);
    assert_int_equal(s->bonds.items[0].type, 3);
    assert_true(tendon_bluez_secure(&s->ends[0].end.link));
    assert_int_equal(fake.security_level, 3); /* BT_SECURITY_HIGH */
    assert_int_equal(tendon_radio_set_pairable(me.radio, true), TENDON_OK);
    pairing_scene_add(s, 2, true);
    pairing_scene_drain(s);
    kernel_confirms(s, 2, 1); /* Just Works */
    pairing_scene_expect(s, YES, 2, -1);
    pairing_scene_close(s);
}

/** The kernel has no key of the bond any more, which stays: it gets it again. */
static void expect_key_returned(pairing_scene *s) {
    uint8_t pdu[64];
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 6 + 2 + 36);
    assert_int_equal(pdu[0], TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS);
    assert_memory_equal(pdu + 6 + 2 + 20, "\1\2\3", 4);
    assert_int_equal(s->bonds.count, 1);
    assert_int_equal(s->bonds.items[0].type, 2);
    assert_false(s->ends[0].end.link.encrypted);
}

static void mal_H06_just_works_is_not_better(void **state) {
    (void)state;
    const tendon_pairing_agent agent = {.io = TENDON_PAIRING_KEYBOARD_ONLY, .has_passkey = true, .passkey = PASSKEY};
    pairing_scene *s = requiring(&agent);
    begin(s, 0, TENDON_PAIRING_KEYBOARD_ONLY);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_ALREADY_PAIRED);
    pairing_scene_drain(s);
    kernel_confirms(s, 0, 1);
    pairing_scene_expect(s, NO, 0, -1);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_AUTHENTICATION_FAILED);
    assert_int_equal(s->ends[0].status, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
    expect_key_returned(s);
    pairing_scene_close(s);
}

/* An agent without input and output cannot make the key: the kernel keeps the one that it has. */
static void without_prospects_nothing_is_sent(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_accept();
    pairing_scene *s = requiring(&agent);
    assert_int_equal(pairing_scene_pair(s, 0), TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

/* The store is full, and one of its bonds is the one that is to be replaced. */
static void a_weak_bond_in_a_full_store_is_replaced(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_passkey(PASSKEY);
    pairing_scene *s = requiring(&agent);
    while (s->bonds.count < TENDON_BONDS_MAX) {
        tendon_bond other = s->bonds.items[0];
        other.peer.bytes[5] = (uint8_t)(0x80 + s->bonds.count);
        assert_int_equal(tendon_bonds_store(&s->bonds, &other), TENDON_OK);
    }
    begin(s, 0, TENDON_PAIRING_KEYBOARD_ONLY);
    kernel_stores(s, &pairing_peers[0], 3, 16);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    assert_int_equal(s->bonds.count, TENDON_BONDS_MAX);
    pairing_scene_close(s);
}

/** Keeps a bond of this peer and type, then pairs with peer 0, whose key is of another type, under another identity. */
static pairing_scene *claimed(uint8_t before, uint8_t type, bool claims) {
    const tendon_pairing_agent agent = tendon_pairing_agent_accept();
    pairing_scene *s = scene_with(1, &agent);
    static const tendon_address other = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x77}, TENDON_ADDRESS_TYPE_PUBLIC};
    fake.programs = 0;
    const tendon_address *victim = claims ? &other : &pairing_peers[0];
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                        .initiator = true,
                        .type = before,
                        .key_size = 16,
                        .own = bluez_public_address,
                        .peer = *victim,
                        .key = {1, 2, 3}};
    assert_int_equal(tendon_bonds_store(&s->bonds, &bond), TENDON_OK);
    begin(s, 0, TENDON_PAIRING_NO_INPUT_NO_OUTPUT);
    if (claims) { /* New Identity Resolving Key: store hint, private address, identity address, type, key */
        const uint8_t *a = pairing_peers[0].bytes, *v = victim->bytes;
        uint8_t pdu[6 + 30] = {0x18, 0,    7,    0,    30,   0,    1,    a[5], a[4], a[3],
                               a[2], a[1], a[0], v[5], v[4], v[3], v[2], v[1], v[0], 1};
        pairing_scene_kernel_sends(s, pdu, sizeof pdu);
    }
    kernel_stores(s, victim, type, 16);
    return s;
}

/* The kernel has removed the refused key, and with it the one of the same name: it gets the store's again. */
static void expect_keys_loaded_again(pairing_scene *s) {
    uint8_t pdu[64];
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 6 + 8);
    assert_int_equal(pdu[0], TENDON_MANAGEMENT_UNPAIR_DEVICE);
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 6 + 2 + 36);
    assert_int_equal(pdu[0], TENDON_MANAGEMENT_LOAD_LONG_TERM_KEYS);
    assert_int_equal(pdu[6], 1);
    assert_memory_equal(pdu + 6 + 2 + 20, "\1\2\3", 4);
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 6 + 2 + 23); /* of no device: the first */
    assert_int_equal(pdu[0], TENDON_MANAGEMENT_LOAD_IDENTITY_KEYS);
    pairing_scene_expect_nothing(s);
}

static void mal_H07_the_bond_of_another_device_stays(void **state) {
    (void)state;
    pairing_scene *s = claimed(2, 2, true);
    expect_keys_loaded_again(s);
    assert_int_equal(s->ends[0].paired, 1);
    assert_int_equal(s->ends[0].status, TENDON_RADIO_ERROR_IDENTITY_TAKEN);
    assert_int_equal(s->bonds.count, 1);
    assert_int_equal(s->bonds.items[0].key[1], 2);
    assert_false(s->ends[0].end.link.encrypted);
    pairing_scene_close(s);
}

static void mal_H06_a_better_bond_stays(void **state) {
    (void)state;
    static const struct {
        uint8_t before, now;
        tendon_status status;
    } cases[] = {{3, 2, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK},
                 {1, 0, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK},
                 {3, 1, TENDON_OK}, /* a passkey too */
                 {2, 2, TENDON_OK}, /* the device was reset */
                 {0, 3, TENDON_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pairing_scene *s = claimed(cases[i].before, cases[i].now, false);
        if (cases[i].status == TENDON_OK) {
            pairing_scene_complete(s, 0, 0);
        }
        assert_int_equal(s->ends[0].status, cases[i].status);
        assert_int_equal(s->bonds.count, 1);
        assert_int_equal(s->bonds.items[0].type, cases[i].status < 0 ? cases[i].before : cases[i].now);
        pairing_scene_close(s);
    }
}

/* Legacy pairing brings a key for each role: the second one replaces nothing of another device. */
static void both_keys_of_one_pairing_are_stored(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_accept();
    pairing_scene *s = scene_with(1, &agent);
    static const tendon_address identity = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x78}, TENDON_ADDRESS_TYPE_PUBLIC};
    begin(s, 0, TENDON_PAIRING_NO_INPUT_NO_OUTPUT);
    s->ends[0].end.link.identity = identity;
    kernel_stores(s, &identity, 0, 16);
    kernel_stores(s, &identity, 0, 16);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    assert_true(s->ends[0].end.link.keyed);
    pairing_scene_close(s);
}

/* A central that has connected to us: its link ends, for there is no procedure that could say why. */
static void a_central_with_a_weak_key_is_disconnected(void **state) {
    (void)state;
    const tendon_pairing_agent agent = {.io = TENDON_PAIRING_DISPLAY_ONLY, .authenticated = true};
    pairing_scene *s = scene_with(0, &agent);
    assert_int_equal(tendon_radio_set_pairable(me.radio, true), TENDON_OK);
    pairing_scene_add(s, 2, true);
    pairing_scene_drain(s);
    kernel_stores(s, &pairing_peers[2], 2, 16);
    pairing_scene_expect(s, 0x1B, 2, 1);
    STEP_UNTIL(&s->b->loop, s->ends[2].end.closed == 1);
    assert_int_equal(s->ends[2].end.reason, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
    assert_int_equal(s->bonds.count, 0);
    pairing_scene_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(just_works_is_rejected_before_there_is_a_key),
        cmocka_unit_test(each_key_is_worth_what_its_type_and_size_say),
        cmocka_unit_test(encryption_without_a_good_key_is_no_pairing),
        cmocka_unit_test(a_bond_that_is_worth_less_is_not_used),
        cmocka_unit_test(a_required_level_replaces_a_weak_key),
        cmocka_unit_test(mal_H06_just_works_is_not_better),
        cmocka_unit_test(without_prospects_nothing_is_sent),
        cmocka_unit_test(a_weak_bond_in_a_full_store_is_replaced),
        cmocka_unit_test(mal_H07_the_bond_of_another_device_stays),
        cmocka_unit_test(mal_H06_a_better_bond_stays),
        cmocka_unit_test(both_keys_of_one_pairing_are_stored),
        cmocka_unit_test(a_central_with_a_weak_key_is_disconnected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
