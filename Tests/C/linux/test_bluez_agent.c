/* SPDX-License-Identifier: MIT */
/* The pairing agent over the management socket, PDU by PDU: questions, answers, keys that are not good enough. */
#include "pairing_scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Parameters of the management interface: two's complement, little endian; see doc/mgmt-api.txt of BlueZ. */
enum {
    CONFIRM = 0x0F,
    PASSKEY_REQUEST = 0x10,
    NOTIFY = 0x17,
    YES = 0x1C,
    NO = 0x1D,
    ENTERED = 0x1E,
    NO_PASSKEY = 0x1F
};
enum { PASSKEY = 123456 }; /* 40 E2 01 00 */

/* ---- the user ---- */

typedef struct user {
    int asked;
    tendon_pairing_question question;
    uint32_t passkey;
    bool answers; /**< from within ask() */
    bool accepts;
    uint32_t says;
    tendon_radio *radio;
} user;
static user me;

static void ask(void *context, const tendon_address *peer, tendon_pairing_question question, uint32_t passkey,
                uint64_t now) {
    user *u = context;
    u->asked++;
    u->question = question;
    u->passkey = passkey;
    if (u->answers) {
        assert_int_equal(tendon_radio_answer_pairing(u->radio, peer, u->accepts, u->says, now), TENDON_OK);
    }
}

static pairing_scene *scene_with(int links, const tendon_pairing_agent *agent) {
    pairing_scene *s = pairing_scene_open(links);
    memset(&me, 0, sizeof me);
    me.radio = &s->b->radio.radio;
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, agent), TENDON_OK);
    const uint8_t wanted[7] = {0x18, 0, 7, 0, 1, 0, agent->io}; /* Set IO Capability, before any connection */
    uint8_t pdu[64];
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 7);
    assert_memory_equal(pdu, wanted, 7);
    pairing_scene_expect_nothing(s);
    return s;
}

static void begin(pairing_scene *s, int peer, uint8_t io) {
    uint8_t pdu[64];
    assert_int_equal(pairing_scene_pair(s, peer), TENDON_OK);
    static const uint8_t codes[3] = {0x2D, 0x18, 0x09};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 7);
        assert_int_equal(pdu[0], codes[i]);
        assert_int_equal(pdu[6], i == 1 ? io : 1);
    }
    pairing_scene_expect(s, 0x19, peer, io);
}

/* ---- the kernel ---- */

/** A question: address and type, then so many bytes of @p more. */
static void kernel_asks(pairing_scene *s, uint8_t code, int peer, const uint8_t *more, uint8_t length) {
    const uint8_t *a = pairing_peers[peer].bytes;
    uint8_t pdu[6 + 7 + 8] = {code, 0,    7,    0,    (uint8_t)(7 + length), 0, a[5], a[4],
                              a[3], a[2], a[1], a[0], peer == 1 ? 1 : 2};
    memcpy(pdu + 13, more, length);
    pairing_scene_kernel_sends(s, pdu, 13u + length);
}
static void kernel_confirms(pairing_scene *s, int peer, uint8_t hint) {
    const uint8_t more[5] = {hint, 0x40, 0xE2, 0x01, 0};
    kernel_asks(s, CONFIRM, peer, more, 5);
}
static void kernel_wants_passkey(pairing_scene *s, int peer) {
    kernel_asks(s, PASSKEY_REQUEST, peer, (const uint8_t *)"", 0);
}
static void kernel_shows(pairing_scene *s, int peer, uint8_t entered) {
    const uint8_t more[5] = {0x40, 0xE2, 0x01, 0, entered};
    kernel_asks(s, NOTIFY, peer, more, 5);
}

/** New Long Term Key of this type and size, of a peer that has this address in the event. */
static void kernel_stores(pairing_scene *s, const tendon_address *peer, uint8_t type, uint8_t size) {
    const uint8_t *a = peer->bytes;
    uint8_t pdu[6 + 37] = {0x0A, 0,    7,    0,    37,   0,    1,
                           a[5], a[4], a[3], a[2], a[1], a[0], peer->type == TENDON_ADDRESS_TYPE_RANDOM ? 2 : 1,
                           type, 1,    size};
    memset(pdu + 6 + 21, 0x5A, 16);
    pairing_scene_kernel_sends(s, pdu, sizeof pdu);
}

static void expect_passkey(pairing_scene *s, int peer, uint32_t passkey) {
    const uint8_t *a = pairing_peers[peer].bytes;
    const uint8_t wanted[17] = {ENTERED,
                                0,
                                7,
                                0,
                                11,
                                0,
                                a[5],
                                a[4],
                                a[3],
                                a[2],
                                a[1],
                                a[0],
                                peer == 1 ? 1 : 2,
                                (uint8_t)passkey,
                                (uint8_t)(passkey >> 8),
                                (uint8_t)(passkey >> 16),
                                0};
    uint8_t pdu[64];
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 17);
    assert_memory_equal(pdu, wanted, 17);
}

/* ---- questions ---- */

static void a_fixed_passkey_is_entered(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_passkey(PASSKEY);
    pairing_scene *s = scene_with(2, &agent);
    begin(s, 0, TENDON_PAIRING_KEYBOARD_ONLY);
    kernel_wants_passkey(s, 0);
    expect_passkey(s, 0, PASSKEY);
    kernel_wants_passkey(s, 1); /* connected, but it does not pair */
    pairing_scene_expect(s, NO_PASSKEY, 1, -1);
    kernel_wants_passkey(s, 2); /* of another program */
    pairing_scene_expect_nothing(s);
    kernel_stores(s, &pairing_peers[0], 3, 16);
    pairing_scene_complete(s, 0, 0);
    assert_int_equal(s->ends[0].status, TENDON_OK);
    assert_true(s->ends[0].end.link.encrypted);
    assert_int_equal(s->bonds.items[0].type, 3);
    pairing_scene_close(s);
}

static void a_user_answers_at_once_or_later(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_ask(ask, &me);
    static const struct {
        uint8_t event;
        tendon_pairing_question question;
        uint32_t passkey;
        bool accepts;
        int reply; /**< 0: the kernel waits for none */
    } cases[] = {{CONFIRM, TENDON_PAIRING_COMPARE, PASSKEY, true, YES},
                 {CONFIRM, TENDON_PAIRING_COMPARE, PASSKEY, false, NO},
                 {PASSKEY_REQUEST, TENDON_PAIRING_ENTER, 0, true, ENTERED},
                 {PASSKEY_REQUEST, TENDON_PAIRING_ENTER, 0, false, NO_PASSKEY},
                 {NOTIFY, TENDON_PAIRING_SHOW, PASSKEY, true, 0}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        size_t n = i / 2;
        bool later = i % 2 != 0;
        pairing_scene *s = scene_with(1, &agent);
        begin(s, 0, TENDON_PAIRING_KEYBOARD_DISPLAY);
        me.answers = !later && cases[n].reply != 0;
        me.accepts = cases[n].accepts;
        me.says = PASSKEY;
        if (cases[n].event == CONFIRM) {
            kernel_confirms(s, 0, 0);
        } else if (cases[n].event == NOTIFY) {
            kernel_shows(s, 0, 0);
            kernel_shows(s, 0, 1); /* the peer's user enters digits: not shown again */
        } else {
            kernel_wants_passkey(s, 0);
        }
        assert_int_equal(me.asked, 1);
        assert_int_equal(me.question, cases[n].question);
        assert_int_equal(me.passkey, cases[n].passkey);
        if (later && cases[n].reply != 0) {
            pairing_scene_expect_nothing(s);
            assert_int_equal(tendon_radio_answer_pairing(me.radio, &pairing_peers[1], true, 0, 0),
                             TENDON_ERROR_WRONG_STATE); /* another peer */
            tendon_status wrong = tendon_radio_answer_pairing(me.radio, &pairing_peers[0], true, 1000000, 0);
            if (cases[n].question == TENDON_PAIRING_ENTER) {
                assert_int_equal(wrong, TENDON_ERROR_INVALID_ARGUMENT);
                assert_int_equal(tendon_radio_answer_pairing(me.radio, &pairing_peers[0], cases[n].accepts, PASSKEY, 0),
                                 TENDON_OK);
            } else {
                assert_int_equal(wrong, TENDON_OK); /* the number is not part of this answer */
                if (!cases[n].accepts) {
                    pairing_scene_drain(s);
                    pairing_scene_close(s);
                    continue;
                }
            }
        }
        if (cases[n].reply == ENTERED) {
            expect_passkey(s, 0, PASSKEY);
        } else if (cases[n].reply != 0) {
            pairing_scene_expect(s, (uint8_t)cases[n].reply, 0, -1);
        }
        assert_int_equal(tendon_radio_answer_pairing(me.radio, &pairing_peers[0], true, 0, 0),
                         TENDON_ERROR_WRONG_STATE); /* answered */
        pairing_scene_expect_nothing(s);
        pairing_scene_close(s);
    }
}

static void without_an_answer_the_pairing_is_rejected(void **state) {
    (void)state;
    const tendon_pairing_agent agent = {.io = TENDON_PAIRING_KEYBOARD_DISPLAY};
    pairing_scene *s = scene_with(1, &agent);
    begin(s, 0, TENDON_PAIRING_KEYBOARD_DISPLAY);
    kernel_confirms(s, 0, 0);
    pairing_scene_expect(s, NO, 0, -1);
    kernel_wants_passkey(s, 0);
    pairing_scene_expect(s, NO_PASSKEY, 0, -1);
    kernel_shows(s, 0, 0); /* nothing to reject: the peer gives up */
    pairing_scene_expect_nothing(s);
    kernel_confirms(s, 0, 1); /* it accepts Just Works */
    pairing_scene_expect(s, YES, 0, -1);
    pairing_scene_close(s);
}

static void events_cut_at_every_position_ask_nothing(void **state) {
    (void)state;
    const tendon_pairing_agent agent = tendon_pairing_agent_ask(ask, &me);
    static const struct { uint8_t code, length; } events[] = {{CONFIRM, 12}, {PASSKEY_REQUEST, 7}, {NOTIFY, 12}};
    pairing_scene *s = scene_with(1, &agent);
    begin(s, 0, TENDON_PAIRING_KEYBOARD_DISPLAY);
    uint64_t malformed = 0;
    for (size_t e = 0; e < sizeof events / sizeof events[0]; e++) {
        for (uint8_t length = 0; length < events[e].length; length++) {
            const uint8_t *a = pairing_peers[0].bytes;
            uint8_t pdu[6 + 12] = {events[e].code, 0, 7, 0, length, 0, a[5], a[4], a[3], a[2], a[1], a[0], 2};
            pairing_scene_kernel_sends(s, pdu, 6u + length);
            malformed++;
            assert_int_equal(s->b->radio.radio.malformed, malformed);
        }
    }
    assert_int_equal(me.asked, 0);
    pairing_scene_expect_nothing(s);
    pairing_scene_close(s);
}

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
        tendon_bluez_encrypted(&s->b->radio, s->ends[0].end.link.handle,
                               1); /* the controller encrypts before the key */
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
    assert_int_equal(calls.security_level, 3); /* BT_SECURITY_HIGH */
    pairing_scene_close(s);
}

/** Keeps a bond of this peer and type, then pairs with peer 0, whose key is of another type, under another identity. */
static pairing_scene *claimed(uint8_t before, uint8_t type, bool claims) {
    const tendon_pairing_agent agent = tendon_pairing_agent_accept();
    pairing_scene *s = scene_with(1, &agent);
    static const tendon_address other = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x77}, TENDON_ADDRESS_TYPE_PUBLIC};
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

static void mal_H07_the_bond_of_another_device_stays(void **state) {
    (void)state;
    pairing_scene *s = claimed(2, 2, true);
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

/* ---- agents that are none ---- */

static void wrong_agents_change_nothing(void **state) {
    (void)state;
    const tendon_pairing_agent good = tendon_pairing_agent_passkey(PASSKEY);
    static const tendon_pairing_agent wrong[] = {
        {.io = 5},
        {.io = TENDON_PAIRING_NO_INPUT_NO_OUTPUT, .authenticated = true},
        {.io = TENDON_PAIRING_KEYBOARD_ONLY, .key_size_min = 6},
        {.io = TENDON_PAIRING_KEYBOARD_ONLY, .key_size_min = 17},
        {.io = TENDON_PAIRING_KEYBOARD_ONLY, .has_passkey = true, .passkey = 1000000}};
    pairing_scene *s = scene_with(0, &good);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &wrong[i]), TENDON_ERROR_INVALID_ARGUMENT);
        assert_int_equal(me.radio->agent.io, TENDON_PAIRING_KEYBOARD_ONLY);
    }
    pairing_scene_expect_nothing(s);
    calls.send = (refused_call){ENOBUFS, 0};
    assert_true(tendon_radio_set_pairing_agent(me.radio, NULL) < 0); /* the kernel does not take the command */
    assert_int_equal(me.radio->agent.io, TENDON_PAIRING_KEYBOARD_ONLY);
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, NULL), TENDON_OK);
    assert_int_equal(me.radio->agent.io, TENDON_PAIRING_NO_INPUT_NO_OUTPUT);
    pairing_scene_drain(s);
    pairing_scene_close(s);
}

/* ---- the file of passkeys ---- */

static void write_file(const char *path, const char *text, mode_t mode) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void the_file_answers_for_its_devices(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int peer;
        int64_t passkey; /**< -1: rejected */
    } cases[] = {
        {"C0:01:02:03:04:05 123456\n", 0, 123456},
        {"# a comment\n\n  c0:01:02:03:04:05\t000001 # of the label\r\n", 0, 1},
        {"4A:01:02:03:04:06 111111\nC0:01:02:03:04:05 222222", 0, 222222}, /* without a newline at the end */
        {"4A:01:02:03:04:06 111111\n", 0, -1},
        {"* 333333\n4A:01:02:03:04:06 111111\n", 0, 333333},
        {"C0:01:02:03:04:05 222222\n* 333333\n", 0, 222222},
        {"* 333333\nC0:01:02:03:04:05 222222\n", 0, 222222},
        {"", 0, -1},
    };
    char path[] = "/tmp/tendon-passkeys-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_file(path, cases[i].text, 0600);
        const tendon_pairing_agent agent = tendon_pairing_agent_file(path);
        pairing_scene *s = scene_with(1, &agent);
        begin(s, 0, TENDON_PAIRING_KEYBOARD_ONLY);
        kernel_wants_passkey(s, 0);
        if (cases[i].passkey < 0) {
            pairing_scene_expect(s, NO_PASSKEY, 0, -1);
        } else {
            expect_passkey(s, 0, (uint32_t)cases[i].passkey);
        }
        pairing_scene_close(s);
    }
    unlink(path);
}

static void a_file_that_is_none_is_an_error_at_once(void **state) {
    (void)state;
    static const char *const malformed[] = {
        "C0:01:02:03:04:05",     "C0:01:02:03:04:05 12345",    "C0:01:02:03:04:05 1234567", "C0:01:02:03:04:05 12345x",
        "C0:01:02:03:04 123456", "C0:01:02:03:04:05 123456 7", "* 123456\nnonsense\n"};
    const tendon_pairing_agent good = tendon_pairing_agent_passkey(PASSKEY);
    char path[] = "/tmp/tendon-passkeys-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const tendon_pairing_agent agent = tendon_pairing_agent_file(path);
    pairing_scene *s = scene_with(0, &good);
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        write_file(path, malformed[i], 0600);
        assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &agent), TENDON_ERROR_MALFORMED);
    }
    write_file(path, "* 123456\n", 0644);
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &agent), TENDON_ERROR_FILE_PERMISSION);
    static char longer[8194];
    memset(longer, '\n', sizeof longer - 1);
    write_file(path, longer, 0600);
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &agent), TENDON_ERROR_OVERFLOW);
    longer[8192] = '\0';
    write_file(path, longer, 0600);
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &agent), TENDON_OK);
    unlink(path);
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, &agent), TENDON_ERROR_NOT_FOUND);
    pairing_scene_drain(s);
    pairing_scene_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fixed_passkey_is_entered),
        cmocka_unit_test(a_user_answers_at_once_or_later),
        cmocka_unit_test(without_an_answer_the_pairing_is_rejected),
        cmocka_unit_test(events_cut_at_every_position_ask_nothing),
        cmocka_unit_test(just_works_is_rejected_before_there_is_a_key),
        cmocka_unit_test(each_key_is_worth_what_its_type_and_size_say),
        cmocka_unit_test(encryption_without_a_good_key_is_no_pairing),
        cmocka_unit_test(a_bond_that_is_worth_less_is_not_used),
        cmocka_unit_test(mal_H07_the_bond_of_another_device_stays),
        cmocka_unit_test(mal_H06_a_better_bond_stays),
        cmocka_unit_test(both_keys_of_one_pairing_are_stored),
        cmocka_unit_test(a_central_with_a_weak_key_is_disconnected),
        cmocka_unit_test(wrong_agents_change_nothing),
        cmocka_unit_test(the_file_answers_for_its_devices),
        cmocka_unit_test(a_file_that_is_none_is_an_error_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
