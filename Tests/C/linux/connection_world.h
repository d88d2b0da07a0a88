/* SPDX-License-Identifier: MIT */
/* A connection over a radio by script, with a pairing service, a session and an application whose acts are random. */
#ifndef CONNECTION_WORLD_H
#define CONNECTION_WORLD_H

#include "fake_clock.h"
#include "link_fixture.h"
#include "test_recording.h"

typedef struct connection_world {
    recording *r;
    tendon_loop loop;
    tendon_radio radio;
    tendon_bonds bonds;
    tendon_connection connection;
    tendon_session_link link;
    tendon_pairing_service service;
    int wire; /**< the device's end; -1: the link is not open */
    bool has_session, closes, opens_again, sends, pairs;
    bool full; /**< the socket takes no more */
    uint64_t session_deadline;
    void (*paired)(void *context, tendon_status status, uint64_t now);
    void *paired_context;
    int started, ended, session_ended;
} connection_world;

extern connection_world w;

/** Another one for each number: with and without a session, a pairing service, its functions, required security. */
void connection_world_begin(recording *r, unsigned number);
/** The radio's answer to an attempt, and the end of a link. */
tendon_status connection_status(recording *r);
void connection_note_sent(void);
void connection_open_wire(void);
void connection_end_link(tendon_status reason);
/** The session's next deadline. */
void connection_sets_deadline(void);
/** A request over the GATT client. */
void connection_request(void);
/** What one of them does within the next callbacks. */
void connection_plan(void);
void connection_pairing_ends(void);

#endif
