/* SPDX-License-Identifier: MIT */
/* A connection whose radio is a script and whose jitter is a list, in simulated time. */
#ifndef ATTEMPT_BENCH_H
#define ATTEMPT_BENCH_H

#include "../../../CSources/linux/socket_link.h"
#include "link_fixture.h"

#define NEVER TENDON_HCI_ERROR(0x3E)

/** What becomes of one attempt. */
typedef enum fate {
    NOTHING = 0, /**< the script is over */
    FAILS,       /**< it does not connect */
    REFUSED,     /**< the radio's connect() itself fails */
    VANISHES,    /**< it connects and ends before the peer has said anything */
    LOST,        /**< it connects, the peer answers, and then it ends */
    STAYS
} fate;

typedef struct turn {
    fate fate;
    tendon_status reason;
    uint32_t after_ms; /**< until it fails or connects */
} turn;

typedef struct attempt_bench {
    tendon_loop loop;
    tendon_radio radio;
    tendon_connection connection;
    const turn *turn;
    uint64_t now;
    uint32_t jitter; /**< the next one */
    int connects, connected, closed, session_connected, session_disconnected, scan_changes;
    bool chatty; /**< the session sends more than one PDU before it has an answer */
    tendon_status reason;
    int wire; /**< the other end of the link's socket; -1: none */
    unsigned sent;
    uint8_t pdus[16][8];
    int values;
} attempt_bench;

/** The only device. */
extern const tendon_address attempt_peer;

attempt_bench *attempt_bench_open(const turn *script);
/** Ends the connection; checks that the session and the owner were notified as often as each other. */
void attempt_bench_close(attempt_bench *b);
/** The link of the connection has a socket from now on; the bench keeps its other end. */
void attempt_bench_open_wire(attempt_bench *b);
void attempt_bench_end_link(attempt_bench *b, tendon_status reason);
void attempt_bench_receive(attempt_bench *b, const char *pdu, size_t length);
/** Number of PDUs that were sent so far; bench->pdus has them. */
unsigned attempt_bench_sent(attempt_bench *b);
/** Completion of a request; counts the successful ones in bench->values. */
void attempt_bench_on_done(void *context, const tendon_gatt_result *result);

#endif
