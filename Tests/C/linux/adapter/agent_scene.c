/* SPDX-License-Identifier: MIT */
#include "agent_scene.h"

#include <string.h>
#include <sys/socket.h>

/* ---- the user ---- */

user me;

void ask(void *context, const tendon_address *peer, tendon_pairing_question question, uint32_t passkey, uint64_t now) {
    user *u = context;
    u->asked++;
    u->question = question;
    u->passkey = passkey;
    if (u->answers) {
        assert_int_equal(tendon_radio_answer_pairing(u->radio, peer, u->accepts, u->says, now), TENDON_OK);
    }
}

pairing_scene *scene_with(int links, const tendon_pairing_agent *agent) {
    pairing_scene *s = pairing_scene_open(links);
    memset(&me, 0, sizeof me);
    me.radio = &s->b->radio.radio;
    assert_int_equal(tendon_radio_set_pairing_agent(me.radio, agent), TENDON_OK);
    const uint8_t wanted[7] = {0x18, 0, 7, 0, 1, 0, agent->io}; /* Set IO Capability, before any connection */
    uint8_t pdu[64];
    if (agent->io != TENDON_PAIRING_NO_INPUT_NO_OUTPUT) {
        assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 7);
        assert_memory_equal(pdu, wanted, 7);
    }
    pairing_scene_expect_nothing(s);
    return s;
}

void begin(pairing_scene *s, int peer, uint8_t io) {
    assert_int_equal(pairing_scene_pair(s, peer), TENDON_OK);
    pairing_scene_expect_preparation(s);
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
void kernel_confirms(pairing_scene *s, int peer, uint8_t hint) {
    const uint8_t more[5] = {hint, 0x40, 0xE2, 0x01, 0};
    kernel_asks(s, CONFIRM, peer, more, 5);
}
void kernel_wants_passkey(pairing_scene *s, int peer) {
    kernel_asks(s, PASSKEY_REQUEST, peer, (const uint8_t *)"", 0);
}
void kernel_shows(pairing_scene *s, int peer, uint8_t entered) {
    const uint8_t more[5] = {0x40, 0xE2, 0x01, 0, entered};
    kernel_asks(s, NOTIFY, peer, more, 5);
}

/** New Long Term Key of this type and size, of a peer that has this address in the event. */
void kernel_stores(pairing_scene *s, const tendon_address *peer, uint8_t type, uint8_t size) {
    const uint8_t *a = peer->bytes;
    uint8_t pdu[6 + 37] = {0x0A, 0,    7,    0,    37,   0,    1,
                           a[5], a[4], a[3], a[2], a[1], a[0], peer->type == TENDON_ADDRESS_TYPE_RANDOM ? 2 : 1,
                           type, 1,    size};
    memset(pdu + 6 + 21, 0x5A, 16);
    pairing_scene_kernel_sends(s, pdu, sizeof pdu);
}

void expect_passkey(pairing_scene *s, int peer, uint32_t passkey) {
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
