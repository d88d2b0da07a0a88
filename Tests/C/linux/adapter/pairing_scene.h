/* SPDX-License-Identifier: MIT */
/* A radio of the kernel's stack with up to three connections, whose pairing procedures are scripted PDU by PDU. */
#ifndef PAIRING_SCENE_H
#define PAIRING_SCENE_H

#include "bluez_fixture.h"

typedef struct pairing_end {
    link_end end;
    int peer, paired;
    tendon_status status;
} pairing_end;

typedef struct pairing_scene {
    bluez_bench *b;
    tendon_bonds bonds;
    const tendon_pairing_service *service;
    pairing_end ends[3];
} pairing_scene;

/** Three peers, of which two differ in the address type alone. */
extern const tendon_address pairing_peers[3];

/** @p links outgoing connections to the first peers. */
pairing_scene *pairing_scene_open(int links);
void pairing_scene_close(pairing_scene *s);
void pairing_scene_add(pairing_scene *s, int i, bool accepted);

tendon_status pairing_scene_pair(pairing_scene *s, int i);
/** The end of a procedure: counted in end->paired, the latest in end->status. */
void pairing_scene_on_paired(void *context, tendon_status status, uint64_t now);
/** Pairs, and expects the commands of it. */
void pairing_scene_begin(pairing_scene *s, int i);

/** A command about a peer, perhaps with one byte more (-1: none). */
void pairing_scene_expect(pairing_scene *s, uint8_t opcode, int peer, int more);
void pairing_scene_expect_nothing(pairing_scene *s);
void pairing_scene_expect_preparation(pairing_scene *s);
/** Discards the commands so far. */
void pairing_scene_drain(pairing_scene *s);

void pairing_scene_kernel_sends(pairing_scene *s, const uint8_t *pdu, size_t length);
/** Command Complete of Pair Device. */
void pairing_scene_complete(pairing_scene *s, int peer, uint8_t status);
void pairing_scene_new_key(pairing_scene *s, int peer, uint8_t key);

#endif
