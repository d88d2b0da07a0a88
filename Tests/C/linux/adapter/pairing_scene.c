/* SPDX-License-Identifier: MIT */
#include "pairing_scene.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const tendon_address pairing_peers[3] = {{{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM},
                                         {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_PUBLIC},
                                         {{0x4A, 1, 2, 3, 4, 6}, TENDON_ADDRESS_TYPE_RANDOM}};
static const tendon_socket_hooks plain = {.header = 0};
static pairing_scene scene;

void pairing_scene_on_paired(void *context, tendon_status status, uint64_t now) {
    pairing_end *e = context;
    (void)now;
    e->paired++;
    e->status = status;
}

void pairing_scene_add(pairing_scene *s, int i, bool accepted) {
    int fd = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_NONBLOCK, BTPROTO_L2CAP);
    link_end_init(&s->ends[i].end);
    s->ends[i].peer = fake_far(fd);
    tendon_link *link = &s->ends[i].end.link;
    assert_int_equal(
        tendon_socket_link_begin(link, &s->b->radio.radio, &plain, &pairing_peers[i], accepted, UINT64_MAX), TENDON_OK);
    assert_int_equal(tendon_socket_link_adopt(link, fd), TENDON_OK);
    STEP_UNTIL(&s->b->loop, s->ends[i].end.connected == 1);
}

pairing_scene *pairing_scene_open(int links) {
    pairing_scene *s = &scene;
    memset(s, 0, sizeof *s);
    s->b = bluez_open(false, &bluez_public_address);
    tendon_bonds_init(&s->bonds);
    assert_int_equal(tendon_radio_use_bonds(&s->b->radio.radio, &s->bonds), TENDON_OK);
    s->service = tendon_radio_pairing(&s->b->radio.radio);
    for (int i = 0; i < links; i++) {
        pairing_scene_add(s, i, false);
    }
    return s;
}

void pairing_scene_drain(pairing_scene *s) {
    uint8_t pdu[64];
    while (recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT) >= 0) {
    }
}

void pairing_scene_close(pairing_scene *s) {
    for (int i = 0; i < 3; i++) {
        tendon_link_close(&s->ends[i].end.link);
    }
    assert_int_equal(tendon_loop_step(&s->b->loop, 0), TENDON_OK);
    assert_null(s->b->radio.radio.links);
    assert_false(s->b->radio.radio.pairing_timer.added);
    bluez_close(s->b);
}

/* A command about a peer: code, index 7, length, address in wire order, LE public 1 or random 2, perhaps one byte. */
void pairing_scene_expect(pairing_scene *s, uint8_t opcode, int peer, int more) {
    uint8_t pdu[64];
    ssize_t length = recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT);
    assert_int_equal(length, more >= 0 ? 14 : 13);
    const uint8_t *a = pairing_peers[peer].bytes;
    const uint8_t wanted[14] = {
        opcode, 0, 7, 0, more >= 0 ? 8 : 7, 0, a[5], a[4], a[3], a[2], a[1], a[0], peer == 1 ? 1 : 2, (uint8_t)more};
    assert_memory_equal(pdu, wanted, (size_t)length);
}

void pairing_scene_expect_nothing(pairing_scene *s) {
    uint8_t pdu[64];
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), -1);
}

/* Set Secure Connections, and no other setting of the adapter. */
void pairing_scene_expect_preparation(pairing_scene *s) {
    static const uint8_t wanted[7] = {0x2D, 0, 7, 0, 1, 0, 1};
    uint8_t pdu[64];
    assert_int_equal(recv(s->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), 7);
    assert_memory_equal(pdu, wanted, 7);
}

void pairing_scene_kernel_sends(pairing_scene *s, const uint8_t *pdu, size_t length) {
    assert_int_equal(send(s->b->kernel, pdu, length, 0), (ssize_t)length);
    bluez_read(s->b);
}

/* Command Complete of Pair Device. */
void pairing_scene_complete(pairing_scene *s, int peer, uint8_t status) {
    const uint8_t *a = pairing_peers[peer].bytes;
    const uint8_t pdu[16] = {1, 0, 7, 0, 10, 0, 0x19, 0, status, a[5], a[4], a[3], a[2], a[1], a[0], peer == 1 ? 1 : 2};
    pairing_scene_kernel_sends(s, pdu, sizeof pdu);
}

/* New Long Term Key: store hint, address, type, key type, central, size, EDIV, Rand, key. */
void pairing_scene_new_key(pairing_scene *s, int peer, uint8_t key) {
    const uint8_t *a = pairing_peers[peer].bytes;
    uint8_t pdu[6 + 37] = {0x0A, 0, 7, 0, 37, 0, 1, a[5], a[4], a[3], a[2], a[1], a[0], peer == 1 ? 1 : 2, 2, 1, 16};
    memset(pdu + 6 + 21, key, 16);
    pairing_scene_kernel_sends(s, pdu, sizeof pdu);
}

tendon_status pairing_scene_pair(pairing_scene *s, int i) {
    return s->service->start(s->service->context, &pairing_peers[i], pairing_scene_on_paired, &s->ends[i],
                             tendon_monotonic_ms());
}

void pairing_scene_begin(pairing_scene *s, int i) {
    assert_int_equal(pairing_scene_pair(s, i), TENDON_OK);
    pairing_scene_expect_preparation(s);
    pairing_scene_expect(s, 0x19, i, 3);
}
