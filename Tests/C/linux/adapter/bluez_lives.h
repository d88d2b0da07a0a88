/* SPDX-License-Identifier: MIT */
/*
 * Lives of a radio over the fake kernel, with links, a listener and a bond store: what happens to it is random, or an
 * input of the fuzzer. Whatever the radio does that can be seen from outside is noted: packets to the controller and to
 * the kernel, callbacks, times, counters. Any of its system calls can be refused.
 */
#ifndef BLUEZ_LIVES_H
#define BLUEZ_LIVES_H

#include "../noted_link.h"
#include "bluez_fixture.h"

enum { WORLD_LINKS = 3, WORLD_CENTRALS = 2, WORLD_ENDS = WORLD_LINKS + WORLD_CENTRALS };

typedef struct world {
    bluez_bench *b;
    recording *r;
    tendon_bonds bonds;
    tendon_listener listener;
    noted_link ends[WORLD_ENDS];
    int ends_reported; /**< calls of on_failure for a radio that has failed */
    int pauses;
    int files; /**< open descriptors of this process before */
} world;

extern const tendon_address world_peers[WORLD_LINKS];
extern const uint16_t world_handles[4];

/** @param r gets the notes. */
world *world_open(recording *r, bool extended, const tendon_address *own);
/** Closes everything; fails the test if something is left, or if an owner was not notified exactly once. */
void world_close(world *w);
/** Notes what has changed since the last call. */
void world_note(world *w);
/** Time passes; deadlines expire in their order. */
void world_pass(world *w, uint64_t ms);

tendon_status world_connect(world *w, int i, uint64_t deadline);
tendon_status world_pair(world *w, int i);
tendon_status world_listen(world *w);
/** A central connects. */
void world_central(world *w);
/** The socket of a link is ready. */
void world_ready(world *w, int i, uint32_t events);
/** The other end of the socket of a link; -1: it has none. */
int world_far_end(const world *w, int i);
/** The controller's response to the command in flight. */
void world_respond(world *w, uint8_t status);
/** The controller reports a connection to a peer with the fixture's handle. */
void world_connected(world *w, int i, uint8_t status, uint8_t role);
/** An event of the management interface for the radio's adapter. */
void world_kernel(world *w, uint8_t code, const uint8_t *data, size_t length);
/** Such an event that begins with a peer, and with @p before bytes of @p data before it. */
void world_kernel_about(world *w, uint8_t code, int i, const uint8_t *data, size_t before, size_t length);

/** Background connections, agents of the user, connection parameters. */
enum { BLUEZ_ACTS = 13 };
extern void (*const bluez_acts[BLUEZ_ACTS])(world *);
/** Notes what these acts change. */
void bluez_acts_note(world *w);

#endif
