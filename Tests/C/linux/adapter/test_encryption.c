/* SPDX-License-Identifier: MIT */
/* When a connection of the kernel's radio counts as encrypted, and when encryption is requested of the kernel. */
#include "bluez_connecting.h"
#include "pairing_scene.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static void encryption_change(pairing_scene *s, uint8_t status, uint16_t handle, uint8_t enabled) {
    const uint8_t parameters[] = {status, (uint8_t)handle, (uint8_t)(handle >> 8), enabled};
    bluez_event(s->b, TENDON_HCI_ENCRYPTION_CHANGE, parameters, sizeof parameters);
    bluez_read(s->b);
}

/* Core Spec Vol 4 Part E 7.7.8: status, handle, enabled. */
static void the_event_is_for_the_open_link_of_its_handle(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(3);
    tendon_link *links[3];
    for (int i = 0; i < 3; i++) {
        links[i] = &s->ends[i].end.link;
        links[i]->handle = (uint16_t)(0x40 + i);
    }
    encryption_change(s, 0x06, 0x41, 1); /* it failed: the peer has no such key */
    encryption_change(s, 0, 0x41, 0);    /* disabled */
    encryption_change(s, 0, 0x50, 1);    /* of another program */
    assert_false(links[0]->encrypted || links[1]->encrypted || links[2]->encrypted);
    encryption_change(s, 0, 0x41, 1);
    assert_true(links[1]->encrypted);
    assert_false(links[0]->encrypted || links[2]->encrypted);
    encryption_change(s, 0, 0x41, 1); /* with another key */
    assert_true(links[1]->encrypted);
    assert_int_equal(links[1]->state, TENDON_LINK_OPEN);
    encryption_change(s, 0, 0x42, 2); /* AES-CCM, as the list has it */
    assert_true(links[2]->encrypted);
    /* The handle of a link that is no longer open. */
    links[0]->state = TENDON_LINK_ASKED;
    encryption_change(s, 0, 0x40, 1);
    assert_false(links[0]->encrypted);
    links[2]->handle = 0x40; /* it has passed to another link */
    links[2]->encrypted = false;
    links[0]->state = TENDON_LINK_OPEN;
    links[2]->state = TENDON_LINK_ASKED; /* in front of the other in the list */
    encryption_change(s, 0, 0x40, 1);
    assert_true(links[0]->encrypted);
    links[2]->state = TENDON_LINK_OPEN;
    assert_int_equal(s->b->radio.radio.malformed, 0);
    pairing_scene_close(s);
    /* A radio without bonds has no use for it. */
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    const uint8_t parameters[] = {0, 0x40, 0, 1};
    bluez_event(b, TENDON_HCI_ENCRYPTION_CHANGE, parameters, sizeof parameters);
    bluez_read(b);
    assert_int_equal(b->radio.radio.malformed, 0);
    bluez_close(b);
}

/* From BT_SECURITY_MEDIUM on, as the kernel reports it. */
static void the_kernel_knows_whether_a_link_is_encrypted(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    const tendon_link *link = &s->ends[0].end.link;
    static const struct {
        uint8_t level;
        bool encrypted;
    } cases[] = {
        {BT_SECURITY_SDP, false}, {BT_SECURITY_LOW, false}, {BT_SECURITY_MEDIUM, true}, {BT_SECURITY_HIGH, true}};
    for (size_t i = 0; i < 4; i++) {
        fake.security_level = cases[i].level;
        assert_int_equal(tendon_bluez_is_encrypted(link), cases[i].encrypted);
    }
    fake.refuse[FAKE_GET_SECURITY] = (fake_refusal){.number = ENOTCONN};
    assert_false(tendon_bluez_is_encrypted(link));
    s->b->radio.radio.agent.key_size_min = 16; /* no bond says that the key is good enough */
    assert_false(tendon_bluez_is_encrypted(link));
    pairing_scene_close(s);
}

static void encryption_is_requested_where_there_is_a_key(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(2);
    tendon_link *link = &s->ends[0].end.link;
    fake.security_level = BT_SECURITY_LOW;
    assert_false(tendon_bluez_secure(link)); /* no key: connected() does not wait */
    assert_int_equal(fake.security_level, BT_SECURITY_LOW);
    pairing_scene_begin(s, 0);
    pairing_scene_new_key(s, 0, 0x11);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    fake.refuse[FAKE_SET_SECURITY] = (fake_refusal){.number = EINVAL};
    assert_false(tendon_bluez_secure(link));
    assert_int_equal(fake.security_level, BT_SECURITY_LOW);
    assert_true(tendon_bluez_secure(link));
    assert_int_equal(fake.security_level, BT_SECURITY_MEDIUM);
    assert_false(tendon_bluez_secure(&s->ends[1].end.link)); /* the same bytes with another address type */
    pairing_scene_close(s);
}

/* The kernel has created the connection within connect(): a bonded device is encrypted before its owner gets it, too.
 */
static void a_connection_that_connect_returns_is_encrypted_first(void **state) {
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        bluez_connecting *l = bluez_connecting_idle();
        tendon_bonds bonds;
        tendon_bonds_init(&bonds);
        const tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                                  .initiator = true,
                                  .type = 2,
                                  .key_size = 16,
                                  .own = bluez_public_address,
                                  .peer = bluez_peer,
                                  .key = {1}};
        assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
        l->b->radio.radio.bonds = &bonds;
        fake.security_level = BT_SECURITY_LOW;
        fake.old_connections = 1;
        fake.refuse[FAKE_GET_CONNECTION] = (fake_refusal){.number = ENOENT};
        uint64_t deadline = tendon_monotonic_ms() + 100000;
        assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &bluez_peer, deadline), TENDON_OK);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        assert_int_equal(fake.security_level, BT_SECURITY_MEDIUM);
        assert_int_equal(l->link.state, TENDON_LINK_SECURING);
        assert_int_equal(l->link.source.deadline, deadline);
        if (fails) {
            l->link.source.expired(l->link.source.context, deadline);
            assert_int_equal(l->link.state, TENDON_LINK_CLOSED);
            assert_int_equal(l->link.reason, TENDON_ERROR_TIMEOUT);
        } else {
            bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
            assert_int_equal(l->link.state, TENDON_LINK_OPEN);
            assert_true(l->link.encrypted);
        }
        l->b->radio.radio.bonds = NULL;
        bluez_connecting_close(l);
    }
}

/* Secure Connections, no input and no output, bondable: while centrals may pair with us. */
static void pairable_is_a_mode_of_the_adapter(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(0);
    s->b->radio.settings = 0;
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
    static const uint8_t expected[4][7] = {
        {0x2D, 0, 7, 0, 1, 0, 1}, {0x18, 0, 7, 0, 1, 0, 3}, {0x09, 0, 7, 0, 1, 0, 1}, {0x09, 0, 7, 0, 1, 0, 0}};
    for (int i = 0; i < 4; i++) {
        uint8_t pdu[16];
        if (i == 3) {
            pairing_scene_expect_nothing(s);
            assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, false), TENDON_OK);
        }
        assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 7);
        assert_memory_equal(pdu, expected[i], 7);
    }
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

static void expect_mode(pairing_scene *s, uint8_t opcode, uint8_t value) {
    const uint8_t expected[7] = {opcode, 0, 7, 0, 1, 0, value};
    uint8_t pdu[16];
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 7);
    assert_memory_equal(pdu, expected, 7);
}

static tendon_link *accept_none(void *context, const tendon_address *peer, uint64_t now) {
    (void)context;
    (void)peer;
    (void)now;
    return NULL;
}

/* What another program switches off while centrals may pair with us is switched on again; what it switches on is left.
 */
static void bondable_stays_on_while_it_is_needed(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(0);
    static const uint8_t off[] = {TENDON_MANAGEMENT_NEW_SETTINGS, 0, 7, 0, 4, 0, 0x01, 0x02, 0, 0}; /* powered, LE */
    static const uint8_t on[] = {TENDON_MANAGEMENT_NEW_SETTINGS, 0, 7, 0, 4, 0, 0x11, 0x02, 0, 0};
    s->b->radio.settings = TENDON_MANAGEMENT_BONDABLE; /* another program pairs */
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
    pairing_scene_drain(s);
    for (int time = 0; time < 2; time++) {
        pairing_scene_kernel_sends(s, off, sizeof off);
        expect_mode(s, 0x09, 1);
        pairing_scene_expect_nothing(s);
    }
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, false), TENDON_OK);
    expect_mode(s, 0x09, 0);
    for (int time = 0; time < 2; time++) {
        pairing_scene_kernel_sends(s, on, sizeof on);
        pairing_scene_kernel_sends(s, off, sizeof off);
        pairing_scene_expect_nothing(s);
    }
    pairing_scene_close(s);
}

/* New Settings, of what another program changes, has our own value. */
static void bondable_is_in_the_end_as_it_was(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(0);
    tendon_listener listener = {.accept = accept_none};
    s->b->radio.settings = TENDON_MANAGEMENT_BONDABLE;
    assert_int_equal(tendon_radio_listen(&s->b->radio.radio, &listener), TENDON_OK);
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, true), TENDON_OK);
    pairing_scene_drain(s);
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, false), TENDON_OK);
    expect_mode(s, 0x09, 0);
    bluez_settings(s->b, true);
    bluez_read(s->b);
    assert_int_equal(tendon_radio_set_pairable(&s->b->radio.radio, false), TENDON_OK);
    pairing_scene_expect_nothing(s);
    tendon_radio_unlisten(&s->b->radio.radio, &listener);
    expect_mode(s, 0x09, 1);
    pairing_scene_expect_nothing(s);
    assert_int_equal(tendon_radio_listen(&s->b->radio.radio, &listener), TENDON_OK); /* it answers for centrals again */
    expect_mode(s, 0x18, 3);
    expect_mode(s, 0x09, 0);
    pairing_scene_close(s);
}

/* Without Bondable the kernel makes no key that can be stored. */
static void each_pairing_is_bondable(void **state) {
    (void)state;
    static const uint8_t settings[] = {TENDON_MANAGEMENT_NEW_SETTINGS, 0, 7, 0, 4, 0, 0x11, 2, 0, 0}; /* bondable */
    pairing_scene *s = pairing_scene_open(1);
    s->b->radio.settings = 0x201;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pairing_scene_pair(s, 0), TENDON_OK);
        expect_mode(s, 0x2D, 1);
        expect_mode(s, 0x09, 1);
        pairing_scene_expect(s, 0x19, 0, 3);
        pairing_scene_kernel_sends(s, settings, sizeof settings);
        pairing_scene_complete(s, 0, TENDON_MANAGEMENT_REJECTED);
        expect_mode(s, 0x09, 0);
        pairing_scene_expect_nothing(s);
    }
    pairing_scene_close(s);
}

/* Too short for what they announce: counted, nothing stored, nothing answered. */
static void truncated_events_of_pairing_are_counted(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    static const uint8_t events[] = {TENDON_MANAGEMENT_NEW_LONG_TERM_KEY, TENDON_MANAGEMENT_NEW_IDENTITY_KEY,
                                     TENDON_MANAGEMENT_USER_CONFIRM_REQUEST,
                                     TENDON_MANAGEMENT_AUTHENTICATION_FAILED_EVENT, TENDON_MANAGEMENT_PASSKEY_NOTIFY};
    for (size_t i = 0; i < sizeof events; i++) {
        const uint8_t pdu[] = {events[i], 0, 7, 0, 7, 0, 5, 4, 3, 2, 1, 0xC0, 2};
        pairing_scene_kernel_sends(s, pdu, sizeof pdu);
        assert_int_equal(s->b->radio.radio.malformed, i + 1);
    }
    pairing_scene_expect_nothing(s);
    assert_int_equal(s->bonds.count, 0);
    /* Another command of the same length is not the answer to Pair Device. */
    pairing_scene_begin(s, 0);
    static const uint8_t other[] = {
        TENDON_MANAGEMENT_COMMAND_COMPLETE, 0, 7, 0, 10, 0, 0x1B, 0, 0, 5, 4, 3, 2, 1, 0xC0, 2};
    static const uint8_t no_answer[] = {
        TENDON_MANAGEMENT_DISCOVERING, 0, 7, 0, 10, 0, 0x19, 0, 0, 5, 4, 3, 2, 1, 0xC0, 2};
    pairing_scene_kernel_sends(s, other, sizeof other);
    pairing_scene_kernel_sends(s, no_answer, sizeof no_answer);
    assert_int_equal(s->ends[0].paired, 0);
    pairing_scene_complete(s, 0, TENDON_MANAGEMENT_REJECTED);
    assert_int_equal(s->ends[0].paired, 1);
    pairing_scene_close(s);
}

/* Encrypted, but without a bond: it was forgotten, so the peer is paired again. Bonded and encrypted: nothing to do. */
static void a_bond_and_encryption_are_two_things(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    tendon_link *link = &s->ends[0].end.link;
    link->encrypted = true;
    pairing_scene_begin(s, 0);
    pairing_scene_new_key(s, 0, 0x11);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].paired, 1);
    assert_int_equal(pairing_scene_pair(s, 0), TENDON_OK);
    pairing_scene_expect_nothing(s);
    STEP_UNTIL(&s->b->loop, s->ends[0].paired == 2);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    pairing_scene_close(s);
}

/* Core Spec Vol 4 Part E 7.7.8: encryption that is disabled again. What is secured by it goes no further. */
static void mal_F16_a_connection_that_is_no_longer_encrypted_ends(void **state) {
    (void)state;
    for (int accepted = 0; accepted < 2; accepted++) {
        pairing_scene *s = pairing_scene_open(2);
        for (int i = 0; i < 2; i++) {
            s->ends[i].end.link.handle = (uint16_t)(0x40 + i);
            s->ends[i].end.link.accepted = accepted;
        }
        encryption_change(s, 0, 0x40, 1);
        encryption_change(s, 0, 0x41, 1);
        encryption_change(s, 0x06, 0x40, 0); /* a failure changes nothing */
        encryption_change(s, 0, 0x50, 0);    /* of another program */
        assert_int_equal(tendon_loop_step(&s->b->loop, 0), TENDON_OK);
        assert_true(s->ends[0].end.link.encrypted && s->ends[1].end.link.encrypted);
        assert_int_equal(s->ends[0].end.closed + s->ends[1].end.closed, 0);
        encryption_change(s, 0, 0x41, 0);
        encryption_change(s, 0, 0x41, 0);
        STEP_UNTIL(&s->b->loop, s->ends[1].end.closed == 1);
        assert_int_equal(s->ends[1].end.reason, TENDON_RADIO_ERROR_NOT_SECURE);
        assert_int_equal(s->ends[0].end.closed, 0);
        pairing_scene_close(s);
    }
}

/** A connection to a bonded device waits for its encryption. */
static bluez_connecting *securing(uint8_t key_size, const uint8_t key[16]) {
    static tendon_bonds bonds;
    bluez_connecting *l = bluez_connecting_idle();
    tendon_bonds_init(&bonds);
    tendon_bond bond = {.radio = TENDON_BOND_KERNEL,
                        .initiator = true,
                        .type = 2,
                        .key_size = key_size,
                        .own = bluez_public_address,
                        .peer = bluez_peer};
    memset(bond.key, 9, sizeof bond.key); /* bytes beyond the size of the key are not sent */
    memcpy(bond.key, key, key_size);
    assert_int_equal(tendon_bonds_store(&bonds, &bond), TENDON_OK);
    l->b->radio.radio.bonds = &bonds;
    fake.connection.handle = 0x40;
    fake.security_level = BT_SECURITY_LOW;
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &l->link, &bluez_peer, tendon_monotonic_ms() + 100000),
                     TENDON_OK);
    bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
    assert_int_equal(l->link.state, TENDON_LINK_SECURING);
    return l;
}

/*
 * bluetoothd has loaded its own keys: the kernel pairs with whoever has this address, and calls that encrypted. The key
 * is in the command that it sends, which may stand behind many other packets.
 */
static void a_bonded_device_must_have_the_key_of_its_bond(void **state) {
    (void)state;
    static const uint8_t ours[16] = {1, 2, 3, 4, 5, 6, 7}, other[16] = {1, 2, 3, 4, 5, 6, 8};
    static const struct {
        const uint8_t *keys[2]; /* of the connection before, and of this one */
        uint16_t handle;
        uint8_t length;
        tendon_status reason;
    } cases[] = {{{ours, ours}, 0x40, 28, TENDON_OK},
                 {{other, ours}, 0x40, 28, TENDON_OK},
                 {{ours, other}, 0x40, 28, TENDON_RADIO_ERROR_OTHER_BOND_STORE},
                 {{other, other}, 0x40, 28, TENDON_RADIO_ERROR_OTHER_BOND_STORE},
                 {{ours, other}, 0x41, 28, TENDON_OK}, /* of another connection */
                 {{ours, other}, 0x40, 27, TENDON_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bluez_connecting *l = securing(7, ours);
        bluez_kernel_encrypts(l->b, 0x40, cases[i].keys[0], 28);
        for (int packets = 0; packets < 40; packets++) {
            bluez_event(l->b, TENDON_HCI_COMMAND_STATUS, "\0\1\x19\x20", 4);
        }
        bluez_kernel_encrypts(l->b, cases[i].handle, cases[i].keys[1], cases[i].length);
        bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
        assert_int_equal(l->link.state, cases[i].reason < 0 ? TENDON_LINK_CLOSED : TENDON_LINK_OPEN);
        assert_int_equal(l->link.reason, cases[i].reason);
        assert_int_equal(l->link.encrypted, cases[i].reason == TENDON_OK);
        l->b->radio.radio.bonds = NULL;
        bluez_connecting_close(l);
    }
}

/* As many connections as are set up at once, and one more: the oldest is forgotten. A radio without bonds notes none.
 */
static void keys_are_noted_by_connection(void **state) {
    (void)state;
    static const uint8_t key[16] = {1};
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    bluez_kernel_encrypts(b, 1, key, 28);
    bluez_read(b);
    assert_int_equal(tendon_bluez_key_of(&b->radio, 1), TENDON_BLUEZ_NO_KEY);
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    b->radio.radio.bonds = &bonds;
    const tendon_bond no_keys[] = {{.key_size = 0},
                                   {.key_size = 6, .key = {1}},
                                   {.key_size = 17, .key = {1}},
                                   {.radio = TENDON_BOND_VIRTUAL, .key_size = 16, .key = {1}}};
    memcpy(bonds.items, no_keys, sizeof no_keys);
    bonds.count = TENDON_BONDS_MAX;
    /* LE Enable Encryption with a byte behind the key: it is no part of a key of 17 bytes. */
    static const uint8_t longer[] = {HCI_COMMAND_PKT, 0x19, 0x20, 29, 0xFF, 0x0E, [16] = 1, [32] = 0};
    assert_int_equal(send(b->controller, longer, sizeof longer, 0), (ssize_t)sizeof longer);
    bluez_read(b);
    assert_int_equal(tendon_bluez_key_of(&b->radio, 0x0EFF), TENDON_BLUEZ_OTHER_KEY);
    for (uint16_t handle = 0; handle <= TENDON_BLUEZ_SLOTS; handle++) {
        assert_int_equal(tendon_bluez_key_of(&b->radio, handle), TENDON_BLUEZ_NO_KEY);
        bluez_kernel_encrypts(b, handle, key, 28);
        bluez_read(b);
        assert_int_equal(tendon_bluez_key_of(&b->radio, handle), TENDON_BLUEZ_OTHER_KEY);
    }
    assert_int_equal(tendon_bluez_key_of(&b->radio, 0), TENDON_BLUEZ_NO_KEY);
    assert_int_equal(tendon_bluez_key_of(&b->radio, 1), TENDON_BLUEZ_OTHER_KEY);
    /* LE Connection Complete: the handle is that of a new connection. */
    const uint8_t parameters[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE, 0, 1, 0, [12] = 0x18, [16] = 0x2A};
    bluez_event(b, TENDON_HCI_LE_META, parameters, sizeof parameters);
    bluez_read(b);
    assert_int_equal(tendon_bluez_key_of(&b->radio, 1), TENDON_BLUEZ_NO_KEY);
    assert_int_equal(tendon_bluez_key_of(&b->radio, 2), TENDON_BLUEZ_OTHER_KEY);
    b->radio.radio.bonds = NULL;
    bluez_close(b);
}

/*
 * The connection is lost while it is encrypted: either the device does not have the key, or the kernel has not, and its
 * own pairing was rejected. Only a raw socket shows which.
 */
static void who_does_not_have_the_key_is_told(void **state) {
    (void)state;
    static const uint8_t ours[16] = {1}, other[16] = {2};
    static const struct {
        const uint8_t *key;
        bool unprivileged;
        tendon_status reason;
    } cases[] = {{ours, false, TENDON_RADIO_ERROR_PAIRING_FAILED},
                 {other, false, TENDON_RADIO_ERROR_OTHER_BOND_STORE},
                 {NULL, false, TENDON_RADIO_ERROR_OTHER_BOND_STORE},
                 {NULL, true, TENDON_RADIO_ERROR_PAIRING_FAILED}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        bluez_connecting *l = securing(16, ours);
        if (cases[i / 2].key != NULL) {
            bluez_kernel_encrypts(l->b, 0x40, cases[i / 2].key, 28);
        }
        l->b->radio.unprivileged = cases[i / 2].unprivileged;
        if (i % 2 == 0) {
            fake.refuse[FAKE_SOCKET_ERROR] = (fake_refusal){.number = ECONNABORTED};
            bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
        } else { /* Authentication Failed: the kernel keeps the connection */
            uint8_t pdu[14] = {0x11, 0, 7, 0, 8, 0, 0x02, 0x53, 0, 0x5E, 0, 0, 1, 5};
            assert_int_equal(send(l->b->kernel, pdu, sizeof pdu, 0), sizeof pdu);
            bluez_read(l->b);
            assert_int_equal(l->link.state, TENDON_LINK_SECURING); /* of another device */
            pdu[6] = 0x01;
            assert_int_equal(send(l->b->kernel, pdu, sizeof pdu, 0), sizeof pdu);
            assert_int_equal(send(l->b->kernel, pdu, sizeof pdu, 0), sizeof pdu);
            bluez_read(l->b);
            bluez_read(l->b);
            STEP_UNTIL(&l->b->loop, l->link.state == TENDON_LINK_CLOSED);
        }
        assert_int_equal(l->link.state, TENDON_LINK_CLOSED);
        assert_int_equal(l->link.reason, cases[i / 2].reason);
        l->b->radio.radio.bonds = NULL;
        bluez_connecting_close(l);
    }
}

/* Its owner has closed it: nothing is reported about it any more. */
static void a_link_that_is_closing_is_not_encrypted(void **state) {
    (void)state;
    pairing_scene *s = pairing_scene_open(1);
    tendon_link *link = &s->ends[0].end.link;
    tendon_link_close(link);
    assert_int_equal(link->state, TENDON_LINK_ENDING);
    tendon_socket_link_encrypted(link, tendon_monotonic_ms());
    assert_false(link->encrypted);
    pairing_scene_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_event_is_for_the_open_link_of_its_handle),
        cmocka_unit_test(the_kernel_knows_whether_a_link_is_encrypted),
        cmocka_unit_test(encryption_is_requested_where_there_is_a_key),
        cmocka_unit_test(a_connection_that_connect_returns_is_encrypted_first),
        cmocka_unit_test(bondable_stays_on_while_it_is_needed),
        cmocka_unit_test(pairable_is_a_mode_of_the_adapter),
        cmocka_unit_test(bondable_is_in_the_end_as_it_was),
        cmocka_unit_test(each_pairing_is_bondable),
        cmocka_unit_test(truncated_events_of_pairing_are_counted),
        cmocka_unit_test(a_bond_and_encryption_are_two_things),
        cmocka_unit_test(mal_F16_a_connection_that_is_no_longer_encrypted_ends),
        cmocka_unit_test(a_bonded_device_must_have_the_key_of_its_bond),
        cmocka_unit_test(keys_are_noted_by_connection),
        cmocka_unit_test(who_does_not_have_the_key_is_told),
        cmocka_unit_test(a_link_that_is_closing_is_not_encrypted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
