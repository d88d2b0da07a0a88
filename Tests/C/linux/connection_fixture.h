/* SPDX-License-Identifier: MIT */
/* For the tests of the connection: a radio by script, a session, a program and a pairing service that note all. */
#ifndef CONNECTION_FIXTURE_H
#define CONNECTION_FIXTURE_H

#include "link_fixture.h"

typedef struct bench {
    tendon_loop loop;
    tendon_radio radio;
    tendon_connection connection;
    tendon_status script[16]; /**< result of each attempt; TENDON_OK: a socket pair */
    bool at_once[16];         /**< it is connect() itself that fails */
    int attempts;
    int peer;
    uint64_t deadline; /**< of the last attempt */
    /* the session */
    int connected, disconnected, paired, ticks, told_connected, told_closed, told_paired, service_changes;
    tendon_status reason, pair_status, told_reason;
    uint64_t session_deadline, timer_when_connected;
    bool inside, reopen, pair_on_connect, close_on_connect;
    tendon_gatt_client *client;
    tendon_session_link link;
    /* the pairing service */
    tendon_status pair_start;
    void (*pair_done)(void *context, tendon_status status, uint64_t now);
    void *pair_context;
    int pair_cancels;
    bool bonded;
    tendon_pairing_service service;
    /* a read */
    int reads;
    tendon_status read_status;
} bench;

bench *bench_open(bool with_pairing);
void bench_close(bench *b);
/** Skips the pause between attempts. */
void skip_pause(bench *b);
/* Until it is connected or given up. */
void run_attempts(bench *b);
void up(bench *b);

#endif
