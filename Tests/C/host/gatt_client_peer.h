/* SPDX-License-Identifier: MIT */
/*
 * GATT client tests: a client and the scripted peer that it talks to. PDUs are
 * written as hex on the page; what the peer sends lies in a heap block of its
 * exact size, so that the sanitizer sees every byte read beyond it.
 */
#ifndef GATT_CLIENT_PEER_H
#define GATT_CLIENT_PEER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tendon/host.h"

#define PEER_REQUESTS 6
#define PEER_SUBSCRIPTIONS 4
#define PEER_OUT_MAX 1100
#define PEER_OUT_SIZE 66 /* the largest MTU of these tests is 65 */

typedef struct peer peer;

struct peer {
    tendon_att_bearer bearer;
    tendon_gatt_client client;
    tendon_gatt_request requests[PEER_REQUESTS];
    tendon_gatt_subscription subscriptions[PEER_SUBSCRIPTIONS];
    uint64_t now;

    tendon_status link; /* what send() answers */
    struct {
        uint8_t bytes[PEER_OUT_SIZE];
        size_t length;
    } out[PEER_OUT_MAX]; /* what the client sent */
    size_t sent, expected;

    unsigned completions; /* since the last peer_done() */
    tendon_gatt_result result;
    uint8_t result_value[TENDON_ATT_VALUE_MAX];
    void (*on_done)(peer *p, const tendon_gatt_result *result); /* what the completion does, once */

    unsigned values;
    tendon_gatt_value value;
    uint8_t value_bytes[TENDON_ATT_MTU_MAX];
    void (*on_value)(peer *p, const tendon_gatt_value *value);

    unsigned changes, deaths;
    uint16_t change_start, change_end;
    char order[256]; /* V value, D completion, S service changed, X death */

    /* memory that requests borrow */
    tendon_gatt_service services[8];
    tendon_gatt_characteristic characteristics[8];
    tendon_gatt_descriptor descriptors[8];
    uint8_t buffer[600];
    size_t buffer_capacity;
};

size_t peer_hex(const char *hex, uint8_t *out, size_t capacity);

/** A connected client; MTU 23, ready to receive 64. */
peer *peer_open(void);
/** As above, and the MTU already at @p mtu. */
peer *peer_open_mtu(uint16_t mtu);
/** Checks that nothing is left to say, and frees. */
void peer_close(peer *p);

/** The next PDU that the client sent is this one. */
void peer_expect(peer *p, const char *hex);
/** The client has sent nothing more. */
void peer_quiet(peer *p);
tendon_status peer_send_bytes(peer *p, const uint8_t *bytes, size_t length);
tendon_status peer_send(peer *p, const char *hex);
/** @p hex reaches the client, is taken, and @p out leaves; each may be NULL. */
void peer_exchange(peer *p, const char *out, const char *in);

/** Exactly one completion since the last call: this id and this status. */
void peer_done(peer *p, tendon_status id, tendon_status status);
/** As above for a value. */
void peer_done_value(peer *p, tendon_status id, const char *hex);
void peer_not_done(peer *p);
/** Exactly one value since the last call. */
void peer_value(peer *p, uint16_t handle, const char *hex, bool indication);

/** A Read of 0x0003 that goes well: the client is as alive as before. */
void peer_alive(peer *p);

/** A client that has subscribed to 0x0003: op_subscribe() or op_subscribe_indicate(). */
peer *peer_subscribed(bool indicate);

/** Callbacks; context is the peer. */
void peer_on_done(void *context, const tendon_gatt_result *result);
void peer_on_value(void *context, const tendon_gatt_value *value, uint64_t now);

/** Operations that the tables of the tests name; each starts with arguments fixed beside it in the source. */
typedef tendon_status (*peer_operation)(peer *p);
tendon_status op_mtu(peer *p);
tendon_status op_services(peer *p);                /* all */
tendon_status op_services_by_uuid(peer *p);        /* 180A */
tendon_status op_included(peer *p);                /* 0001 to 0010 */
tendon_status op_characteristics(peer *p);         /* 0001 to 0010 */
tendon_status op_characteristics_by_uuid(peer *p); /* 0001 to 0010, 2A29 */
tendon_status op_descriptors(peer *p);             /* 0004 to 0010 */
tendon_status op_read(peer *p);                    /* 0003 */
tendon_status op_read_long(peer *p);               /* 0003 from 0 into buffer_capacity bytes */
tendon_status op_read_long_from_100(peer *p);      /* 0003 from 100 */
tendon_status op_read_by_uuid(peer *p);            /* 0001 to 0010, 2A29 */
tendon_status op_write(peer *p);                   /* 0007: 01 02 03 */
tendon_status op_write_long(peer *p);              /* 0007: 20 bytes 00 to 13 */
tendon_status op_subscribe(peer *p);               /* 0003, CCCD 0004, notify */
tendon_status op_subscribe_indicate(peer *p);      /* 0003, CCCD 0004, indicate */

#define RUN(name) cmocka_unit_test(name)
#define ATT(code) TENDON_ATT_ERROR(code)

#endif
