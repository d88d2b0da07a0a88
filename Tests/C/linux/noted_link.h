/* SPDX-License-Identifier: MIT */
/* For recorded runs: link ends whose owners note each callback, and are notified of each end exactly once. */
#ifndef NOTED_LINK_H
#define NOTED_LINK_H

#include "../test_recording.h"
#include "tendon/linux.h"

typedef struct noted_link {
    tendon_link link;
    recording *r;
    int number;
    bool used;              /**< connect() or accept() succeeded, and closed() was not called yet */
    bool closes;            /**< the owner closes it in the next callback */
    int started, ended;     /**< so many times; the same once nothing is left */
    int paired, pair_asked; /**< likewise, of pairing procedures: paired may be lower */
} noted_link;

/** Before any other use. */
void noted_link_prepare(noted_link *end, recording *r, int number);
/** The link gets its callbacks, for connect() or accept(). */
tendon_link *noted_link_make(noted_link *end);
/** It was started. */
void noted_link_started(noted_link *end);
tendon_status noted_link_connect(noted_link *end, tendon_radio *radio, const tendon_address *peer, uint64_t deadline);
tendon_status noted_link_pair(noted_link *end, tendon_radio *radio, const tendon_address *peer, uint64_t now);
/** Its state, if it is used. */
void noted_link_note(const noted_link *end);
/** Fails the test if something is left of it. */
void noted_link_expect_closed(const noted_link *end);
/** For radio.tap. */
void noted_link_tap(void *context, const tendon_link *link, tendon_tap_kind kind, const uint8_t *pdu, size_t length);
/** For radio.on_report, radio.on_peer_failure; the context is the recording. */
void noted_report(void *context, const tendon_ad_report *report, uint64_t now);
void noted_peer_failure(void *context, const tendon_address *peer, tendon_status reason, uint64_t now);
/** A time as a note has it; -1: never. */
long long noted_time(uint64_t time);
/** A status whose number is the same on all machines. */
int noted_status(tendon_status status);

#endif
