/* SPDX-License-Identifier: MIT */
/*
 * Session tables over a radio: a session on one controller, its simulated device on another, both in one loop. A
 * family's walk brings its session into each state over a real link, gives each input, and compares what happens with
 * the table of the C tests. What the link tells comes from the radio; a device that says nothing more is one whose
 * answers are swallowed.
 */
#ifndef WALK_H
#define WALK_H

#include "tendon/tendon.h"
#ifdef TENDON_HAVE_BLUEZ
#include "tendon/bluez.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Nothing takes so long, on no machine: it is only how long a walk that goes nowhere lasts. */
#define WALK_LIMIT_MS 60000u

/**
 * So old is a link before it is closed: Linux 6.1 corrupts a list of its own (in hci_chan_del) when an ATT socket is
 * closed in the moment that its link has come up.
 */
#define WALK_SETTLE_MS 250u

/** The kernel keeps a connection for 2 s after its last socket: so long a device that has gone can still be reached. */
#define WALK_LINGER_MS 2500u

/** One controller. */
typedef struct walk_end {
    union {
        tendon_virtual_radio virtual_radio;
#ifdef TENDON_HAVE_BLUEZ
        tendon_bluez_radio bluez;
#endif
    } memory;
    tendon_radio *radio;
    tendon_bonds bonds;
} walk_end;

typedef struct walk {
    tendon_loop loop;
    walk_end ours, theirs;
    /* the client's end */
    tendon_connection connection;
    const tendon_session_inputs *session_inputs;
    void *session;
    bool resting;      /**< the session receives no further input: its connection ends */
    bool hold_pairing; /**< pairing is asked for, and goes on for ever */
    bool bonded;       /**< reported to the session, unless a bond exists */
    unsigned connects, disconnects, pairs;
    uint64_t up_since, settle_ms;
    bool lingers; /**< a connection existed since the device was last stopped */
    unsigned exchanged;
    unsigned told_connected, told_disconnected, told_paired, strikes; /**< inputs from the link; ticks that were due */
    tendon_status reason;                                             /**< of told_disconnected, or told_paired */
    /* the device's end */
    tendon_peripheral peripheral;
    bool shut; /**< what the device sends is swallowed */
    struct walk_gate {
        struct walk *walk;
        tendon_bearer_io link;
        bool writable;
    } gates[TENDON_PERIPHERAL_LINKS];
    /* what came of it */
    unsigned walked, wrong, impossible;
} walk;

/** "hci0": the kernel's controller; else a directory of the virtual radio. Returns false and prints why if it cannot be
 * opened. */
bool walk_open(walk *w, const char *ours, const char *theirs);
/** Ends with 0 when every pair was right. @param pairs in the table: all of them are to be walked or impossible. */
int walk_end_with(walk *w, const char *family, unsigned pairs);

/** The device is served from now on. */
void walk_serve(walk *w, tendon_peripheral_device device);
/** In reach, or gone: it neither advertises nor listens. */
void walk_set_present(walk *w, bool present);
/** The device ends its links. */
void walk_hang_up(walk *w);
/** A value from the device, with any content. @param connection NULL: not connected, which is reported. */
void walk_notify(walk *w, tendon_gatt_connection *connection, uint16_t handle, const void *value, size_t length);

/** A session to be driven. */
void walk_attach(walk *w, const tendon_session_inputs *inputs, void *session);
/** The calls for the session: the connection's, counted. */
tendon_session_link walk_link(walk *w);
/** Disconnects, if connected; both sides are notified, and no bond is left. The session may then be initialized again.
 */
void walk_rest(walk *w);
/** A link that is up becomes old enough to be closed. */
void walk_settle(walk *w);
/** Reads the deadlines again and runs all that have expired. */
void walk_step(walk *w);
/** Runs until the condition is true. Returns false and prints it if it never is. */
bool walk_until(walk *w, bool (*reached)(const void *context), const void *context, const char *what);
/** Until one of the counters has changed. */
bool walk_until_told(walk *w, const unsigned *counter, unsigned before, const char *what);
uint64_t walk_now(void);

/** A pair that was walked: @p got is printed. */
void walk_pair(walk *w, const char *state, const char *input, bool good, const char *got);
/** A pair that cannot be over a link, and why. */
void walk_cannot(walk *w, const char *state, const char *input, const char *why);

int walk_feelspace(walk *w);
int walk_activ5(walk *w);
int walk_fjorden(walk *w);

#endif
