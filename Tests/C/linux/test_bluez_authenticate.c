/* SPDX-License-Identifier: MIT */
/* A connection that is encrypted with an unauthenticated key pairs again, over the kernel's sockets, call by call. */
#include "agent_scene.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static const uint8_t io = TENDON_PAIRING_KEYBOARD_ONLY;

/** A connection that is encrypted with the key of a bond of this type, and an agent that can do better. */
static pairing_scene *bonded_with(uint8_t type, const tendon_pairing_agent *agent) {
    pairing_scene *s = scene_with(1, agent);
    const tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                              .initiator = true,
                              .type = type,
                              .key_size = 16,
                              .own = bluez_public_address,
                              .peer = pairing_peers[0],
                              .key = {1, 2, 3}};
    assert_int_equal(tendon_bonds_store(&s->bonds, &bond), TENDON_OK);
    s->ends[0].end.link.encrypted = true;
    calls.security_level = BT_SECURITY_MEDIUM;
    calls.connects = 0;
    return s;
}

static pairing_scene *scene(void) {
    const tendon_pairing_agent agent = {.io = io, .has_passkey = true, .passkey = PASSKEY};
    return bonded_with(2, &agent);
}

static tendon_status authenticate(pairing_scene *s) {
    return s->service->authenticate(s->service->context, &pairing_peers[0], pairing_scene_on_paired, &s->ends[0],
                                    tendon_monotonic_ms());
}

/** No Pair Device. */
static void expect_preparation(pairing_scene *s) {
    pairing_scene_expect_preparation(s);
    pairing_scene_expect_nothing(s);
}

static void start(pairing_scene *s) {
    assert_int_equal(authenticate(s), TENDON_OK);
    expect_preparation(s);
}

/* Authentication Failed: index 7, 8 bytes: C0:01:02:03:04:05, LE random, status. */
static void kernel_fails(pairing_scene *s, uint8_t last, uint8_t type, uint8_t status) {
    const uint8_t pdu[14] = {0x11, 0, 7, 0, 8, 0, last, 4, 3, 2, 1, 0xC0, type, status};
    pairing_scene_kernel_sends(s, pdu, sizeof pdu);
}

static void expect_as_before(pairing_scene *s, tendon_status status) {
    assert_int_equal(s->ends[0].paired, 1);
    assert_int_equal(s->ends[0].status, status);
    assert_int_equal(s->bonds.count, 1);
    assert_int_equal(s->bonds.items[0].type, 2);
    assert_int_equal(s->bonds.items[0].key[0], 1);
    assert_true(s->ends[0].end.link.encrypted);
    assert_int_equal(s->ends[0].end.closed, 0);
}

/* ---- it succeeds ---- */

static void another_socket_requires_the_level(void **state) {
    (void)state;
    pairing_scene *s = scene();
    start(s);
    static const uint8_t wire[6] = {5, 4, 3, 2, 1, 0xC0};
    uint8_t byte = 0;
    assert_int_equal(calls.connects, 1);
    assert_int_equal(calls.security_level, BT_SECURITY_HIGH);
    assert_memory_equal(calls.target.l2_bdaddr.b, wire, 6);
    assert_int_equal(calls.target.l2_bdaddr_type, BDADDR_LE_RANDOM);
    assert_int_equal(calls.target.l2_cid, 0);
    assert_int_equal(btohs(calls.target.l2_psm), 0x00FF);
    assert_int_equal(calls.bound.l2_psm, 0);
    assert_int_equal(calls.bound.l2_cid, 0);
    assert_int_equal(recv(calls.peer, &byte, 1, MSG_DONTWAIT), 0); /* closed: the peer is asked for no channel */
    assert_int_equal(authenticate(s), TENDON_ERROR_BUSY);
    kernel_wants_passkey(s, 0);
    expect_passkey(s, 0, PASSKEY);
    assert_int_equal(s->ends[0].paired, 0);
    kernel_stores(s, &pairing_peers[0], 3, 16);
    assert_int_equal(s->ends[0].paired, 1);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    assert_int_equal(s->bonds.count, 1);
    assert_int_equal(s->bonds.items[0].type, 3);
    kernel_fails(s, 5, 2, TENDON_MANAGEMENT_AUTHENTICATION_FAILED); /* too late: of nothing */
    assert_int_equal(s->ends[0].paired, 1);
    assert_int_equal(authenticate(s), TENDON_ERROR_UNSUPPORTED);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

/* Legacy pairing (type 1): the key of the other role follows. */
static void both_keys_of_legacy_pairing_are_stored(void **state) {
    (void)state;
    pairing_scene *s = scene();
    start(s);
    kernel_stores(s, &pairing_peers[0], 1, 16);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    kernel_stores(s, &pairing_peers[0], 1, 16);
    assert_int_equal(s->ends[0].paired, 1);
    assert_int_equal(s->bonds.items[0].type, 1);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

static void kernel_stores_for(pairing_scene *s, uint8_t type, uint8_t initiator) {
    uint8_t pdu[6 + 37] = {0x0A, 0, 7, 0, 37, 0, 1, 5, 4, 3, 2, 1, 0xC0, 2, type, initiator, 16, [27] = 0x5A};
    pairing_scene_kernel_sends(s, pdu, sizeof pdu);
}

static bool authenticated_when_done;

static void note_security(void *context, tendon_status status, uint64_t now) {
    pairing_end *end = context;
    pairing_scene_on_paired(context, status, now);
    authenticated_when_done = tendon_link_has_security(&end->end.link, TENDON_SECURITY_AUTHENTICATED);
}

/* Legacy pairing has left two keys. The kernel reports the new ones one after the other, and the first one counts. */
static void the_new_key_counts_beside_an_old_one(void **state) {
    (void)state;
    for (uint8_t type = 1; type <= 3; type += 2) { /* legacy, Secure Connections */
        pairing_scene *s = scene();
        s->bonds.count = 0;
        for (uint8_t initiator = 2; initiator > 0; initiator--) {
            kernel_stores_for(s, 0, initiator - 1);
        }
        assert_int_equal(s->bonds.count, 2);
        s->ends[0].end.link.keyed = false; /* as if that was in another connection */
        authenticated_when_done = false;
        assert_int_equal(s->service->authenticate(s->service->context, &pairing_peers[0], note_security, &s->ends[0],
                                                  tendon_monotonic_ms()),
                         TENDON_OK);
        kernel_stores_for(s, type, type == 1);
        assert_int_equal(s->ends[0].status, TENDON_OK);
        assert_int_equal(s->ends[0].paired, 1);
        assert_true(authenticated_when_done);
        if (type == 1) {
            kernel_stores_for(s, type, 0);
        }
        assert_true(tendon_link_has_security(&s->ends[0].end.link, TENDON_SECURITY_AUTHENTICATED));
        assert_int_equal(s->bonds.count, type == 1 ? 2 : 1);
        pairing_scene_drain(s);
        kernel_stores_for(s, 2, 0); /* Just Works does not replace it */
        pairing_scene_expect(s, 0x1B, 0, 1);
        assert_int_equal(s->bonds.items[s->bonds.count - 1].type, type);
        pairing_scene_drain(s);
        pairing_scene_close(s);
    }
}

/* ---- it cannot begin ---- */

static void without_prospects_nothing_is_sent(void **state) {
    (void)state;
    static const tendon_pairing_agent agents[] = {{.io = 3}, {.io = 2}, {.io = 2, .has_passkey = true}};
    static const struct {
        int agent;
        uint8_t type;
        bool encrypted, keyed;
    } rows[] = {{0, 2, true, false},  /* neither display nor keyboard */
                {1, 2, true, false},  /* nobody answers */
                {2, 3, true, false},  /* the key is authenticated */
                {2, 1, true, false},  /* of legacy pairing too */
                {2, 2, false, false}, /* the key is not in use */
                {2, 2, true, true}};  /* a pairing on this connection has made no better one */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pairing_scene *s = bonded_with(rows[i].type, &agents[rows[i].agent]);
        s->ends[0].end.link.encrypted = rows[i].encrypted;
        s->ends[0].end.link.keyed = rows[i].keyed;
        assert_int_equal(authenticate(s), TENDON_ERROR_UNSUPPORTED);
        pairing_scene_expect_nothing(s);
        assert_int_equal(calls.connects, 0);
        pairing_scene_close(s);
    }
    pairing_scene *s = scene();
    tendon_radio_set_pairing_policy(me.radio, &(tendon_pairing_policy){.restricted = true});
    assert_int_equal(authenticate(s), TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED);
    pairing_scene_expect_nothing(s);
    tendon_link_close(&s->ends[0].end.link);
    assert_int_equal(authenticate(s), TENDON_ERROR_WRONG_STATE);
    pairing_scene_close(s);
}

static void each_call_can_fail(void **state) {
    (void)state;
    refused_call *const refused[] = {&calls.socket, &calls.bind, &calls.set_security, &calls.connect};
    for (size_t i = 0; i < 5; i++) {
        pairing_scene *s = scene();
        if (i < 4) {
            *refused[i] = (refused_call){EINVAL, 0};
        } else {
            calls.old_connections = 1; /* connect() succeeds: the kernel had nothing to raise */
        }
        assert_int_equal(authenticate(s), TENDON_SYSTEM_ERROR(i < 4 ? EINVAL : EISCONN));
        expect_preparation(s);
        assert_int_equal(s->ends[0].paired, 0);
        assert_false(s->b->radio.radio.pairing_timer.added);
        assert_int_equal(authenticate(s), TENDON_OK); /* nothing is left behind */
        pairing_scene_drain(s);
        pairing_scene_close(s);
    }
}

/* ---- it fails ---- */

static void a_failure_leaves_connection_and_bond(void **state) {
    (void)state;
    pairing_scene *s = scene();
    start(s);
    kernel_fails(s, 6, 2, TENDON_MANAGEMENT_AUTHENTICATION_FAILED); /* of another device */
    kernel_fails(s, 5, 1, TENDON_MANAGEMENT_AUTHENTICATION_FAILED);
    assert_int_equal(s->ends[0].paired, 0);
    kernel_fails(s, 5, 2, TENDON_MANAGEMENT_AUTHENTICATION_FAILED);
    expect_as_before(s, TENDON_RADIO_ERROR_PAIRING_FAILED);
    pairing_scene_drain(s); /* the keys are loaded again */
    pairing_scene_close(s);
}

static void note_result(void *context, tendon_status status, uint64_t now) {
    (void)now;
    *(tendon_status *)context = status;
}

/* Who asks for a pairing meanwhile has the key of before: that no better one could be made is no failure for it. */
static void who_only_pairs_has_the_key_of_before(void **state) {
    (void)state;
    for (int encrypted = 0; encrypted < 2; encrypted++) {
        pairing_scene *s = scene();
        tendon_status joined = 1; /* no result yet */
        start(s);
        assert_int_equal(
            s->service->start(s->service->context, &pairing_peers[0], note_result, &joined, tendon_monotonic_ms()),
            TENDON_OK);
        assert_int_equal(joined, 1);
        s->ends[0].end.link.encrypted = encrypted;
        kernel_fails(s, 5, 2, TENDON_MANAGEMENT_AUTHENTICATION_FAILED);
        assert_int_equal(s->ends[0].status, TENDON_RADIO_ERROR_PAIRING_FAILED);
        assert_int_equal(joined, encrypted ? TENDON_OK : TENDON_RADIO_ERROR_PAIRING_FAILED);
        pairing_scene_drain(s);
        pairing_scene_close(s);
    }
}

static void a_failure_cut_at_every_position_ends_nothing(void **state) {
    (void)state;
    pairing_scene *s = scene();
    start(s);
    for (uint8_t length = 0; length < 8; length++) {
        const uint8_t pdu[14] = {0x11, 0, 7, 0, length, 0, 5, 4, 3, 2, 1, 0xC0, 2, 5};
        pairing_scene_kernel_sends(s, pdu, 6u + length);
        assert_int_equal(s->b->radio.radio.malformed, length + 1u);
    }
    assert_int_equal(s->ends[0].paired, 0);
    pairing_scene_close(s);
}

/* Pair Device ends with its response: the event before it is not the result. */
static void an_ordinary_pairing_does_not_end_with_the_event(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    pairing_scene_begin(s, 0);
    kernel_fails(s, 5, 2, TENDON_MANAGEMENT_AUTHENTICATION_FAILED);
    assert_int_equal(s->ends[0].paired, 0);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_AUTHENTICATION_FAILED);
    assert_int_equal(s->ends[0].paired, 1);
    pairing_scene_close(s);
}

static void mal_H06_just_works_is_not_better(void **state) {
    (void)state;
    pairing_scene *s = scene();
    start(s);
    kernel_confirms(s, 0, 1);
    pairing_scene_expect(s, NO, 0, -1);
    kernel_fails(s, 5, 2, TENDON_MANAGEMENT_AUTHENTICATION_FAILED);
    expect_as_before(s, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
    pairing_scene_drain(s);
    pairing_scene_close(s);
    /* A key of it all the same: the kernel has it in place of ours. */
    s = scene();
    start(s);
    kernel_stores(s, &pairing_peers[0], 2, 16);
    pairing_scene_expect(s, 0x1B, 0, 1); /* Unpair Device, and disconnect */
    expect_as_before(s, TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
    pairing_scene_drain(s);
    pairing_scene_close(s);
}

static void a_key_that_cannot_be_stored_is_removed(void **state) {
    (void)state;
    pairing_scene *s = scene();
    start(s);
    strcpy(s->bonds.path, "/proc/nowhere/bonds");
    kernel_stores(s, &pairing_peers[0], 3, 16);
    pairing_scene_expect(s, 0x1B, 0, 0);
    assert_int_equal(s->ends[0].paired, 1);
    assert_true(s->ends[0].status < 0);
    memset(s->bonds.path, 0, sizeof s->bonds.path);
    pairing_scene_close(s);
}

/* ---- it is cancelled, or takes too long ---- */

static void cancelled_its_question_is_rejected(void **state) {
    (void)state;
    static const uint8_t rejections[] = {0, NO, NO_PASSKEY};
    const tendon_pairing_agent agent = {.io = io, .ask = ask, .context = &me};
    for (size_t i = 0; i < 6; i++) {
        pairing_scene *s = bonded_with(0, &agent);
        start(s);
        if (i % 3 == 1) {
            kernel_confirms(s, 0, 0);
        } else if (i % 3 == 2) {
            kernel_wants_passkey(s, 0);
        }
        if (i < 3) {
            s->service->cancel(s->service->context, &pairing_peers[0]);
        } else {
            s->ends[0].end.link.pairing.deadline = 0;
            s->b->radio.radio.pairing_timer.deadline = 0;
            STEP_UNTIL(&s->b->loop, s->ends[0].paired == 1);
            assert_int_equal(s->ends[0].status, TENDON_ERROR_TIMEOUT);
        }
        if (i % 3 != 0) {
            pairing_scene_expect(s, rejections[i % 3], 0, -1);
        }
        pairing_scene_expect_nothing(s);
        assert_int_equal(s->bonds.items[0].type, 0);
        assert_true(s->ends[0].end.link.encrypted);
        pairing_scene_close(s);
    }
}

/* ---- a second pairing on one connection ---- */

/* The first key permits the keys of its own identity alone, and no worse ones. */
static void mal_H07_a_second_pairing_replaces_no_other_bond(void **state) {
    (void)state;
    static const tendon_address other = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x77}, TENDON_ADDRESS_TYPE_PUBLIC};
    const tendon_pairing_agent agent = {.io = io, .has_passkey = true, .passkey = PASSKEY};
    for (int claims = 0; claims < 2; claims++) {
        pairing_scene *s = scene_with(1, &agent);
        const tendon_bond victim = {.radio = TENDON_BOND_KERNEL,
                                    .initiator = true,
                                    .type = 2,
                                    .key_size = 16,
                                    .own = bluez_public_address,
                                    .peer = other,
                                    .key = {7}};
        assert_int_equal(tendon_bonds_store(&s->bonds, &victim), TENDON_OK);
        begin(s, 0, io);
        kernel_stores(s, &pairing_peers[0], 3, 16);
        pairing_scene_complete(s, 0, 0);
        assert_int_equal(s->bonds.count, 2);
        if (claims) { /* New Identity Resolving Key: store hint, private address, identity address, type, key */
            static const uint8_t identity[6 + 30] = {0x18, 0, 7,    0,    30,   0,    1,    5,    4, 3,
                                                     2,    1, 0xC0, 0x77, 0x53, 0x00, 0x5E, 0x00, 0, 1};
            pairing_scene_kernel_sends(s, identity, sizeof identity);
        }
        kernel_stores(s, claims ? &other : &pairing_peers[0], claims ? 3 : 2, 16);
        STEP_UNTIL(&s->b->loop, s->ends[0].end.closed == 1);
        assert_int_equal(s->ends[0].end.reason,
                         claims ? TENDON_RADIO_ERROR_IDENTITY_TAKEN : TENDON_RADIO_ERROR_PAIRING_TOO_WEAK);
        assert_int_equal(s->bonds.count, 2);
        for (size_t i = 0; i < 2; i++) {
            const tendon_bond *bond = &s->bonds.items[i];
            bool is_victim = tendon_address_equal(&bond->peer, &other);
            assert_int_equal(bond->type, is_victim ? 2 : 3);
            assert_int_equal(bond->key[0], is_victim ? 7 : 0x5A);
        }
        pairing_scene_drain(s);
        pairing_scene_close(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_socket_requires_the_level),
        cmocka_unit_test(both_keys_of_legacy_pairing_are_stored),
        cmocka_unit_test(the_new_key_counts_beside_an_old_one),
        cmocka_unit_test(without_prospects_nothing_is_sent),
        cmocka_unit_test(each_call_can_fail),
        cmocka_unit_test(a_failure_leaves_connection_and_bond),
        cmocka_unit_test(who_only_pairs_has_the_key_of_before),
        cmocka_unit_test(a_failure_cut_at_every_position_ends_nothing),
        cmocka_unit_test(an_ordinary_pairing_does_not_end_with_the_event),
        cmocka_unit_test(mal_H06_just_works_is_not_better),
        cmocka_unit_test(a_key_that_cannot_be_stored_is_removed),
        cmocka_unit_test(cancelled_its_question_is_rejected),
        cmocka_unit_test(mal_H07_a_second_pairing_replaces_no_other_bond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
