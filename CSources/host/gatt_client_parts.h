/* SPDX-License-Identifier: MIT */
/*
 * Internal interface of the GATT client. From the ground up; a file calls only those below it:
 *
 *   gatt_client_discovery.c _reads.c _writes.c   procedures: each builds its next request PDU, processes the response,
 *                                                processes an Error Response; they neither send nor complete
 *   gatt_client_subscriptions.c                  who gets the values of a handle
 *   gatt_client_engine.c                         the queue, and one outstanding request
 *   gatt_client_settle.c _values.c               a response completes or continues its request; values of the peer
 *   gatt_client_security.c _receive.c            refusals for want of security; whatever is received
 *   gatt_client_calls.c gatt_client.c            what a program calls; its time
 */
#ifndef TENDON_HOST_GATT_CLIENT_PARTS_H
#define TENDON_HOST_GATT_CLIENT_PARTS_H

#include "tendon/host/gatt_client.h"

/* Kinds of request; each family of procedures is a range. */
enum {
    GATTC_MTU = 1,
    /* discovery */
    GATTC_SERVICES,
    GATTC_SERVICES_BY_UUID,
    GATTC_INCLUDED,
    GATTC_CHARACTERISTICS,
    GATTC_DESCRIPTORS,
    /* reads */
    GATTC_READ,
    GATTC_READ_LONG,
    GATTC_READ_BY_UUID,
    /* writes */
    GATTC_WRITE,
    GATTC_SUBSCRIBE,
    GATTC_UNSUBSCRIBE,
    GATTC_WRITE_LONG
};

/* Flags of a request. */
enum {
    GATTC_ZOMBIE = 0x01,   /* completed already; its slot waits for the response */
    GATTC_RESTART = 0x02,  /* discovery: the outstanding page is stale */
    GATTC_FILTER = 0x04,   /* characteristics: only those of request->uuid */
    GATTC_OPEN = 0x08,     /* characteristics: the last item's end is not known yet */
    GATTC_HASH = 0x10,     /* read by UUID: the value must have 16 bytes */
    GATTC_LONG = 0x10,     /* services by UUID: requested in its 128-bit form */
    GATTC_INDICATE = 0x20, /* subscribe: write 2 */
    GATTC_IDLE = 0x20,     /* write: sent when no other request is queued */
    GATTC_PREPARED = 0x40, /* the server holds prepared parts */
    GATTC_STARTED = 0x80   /* something was sent */
};

/* Steps of a request. */
enum {
    GATTC_STEP_FIRST = 0, /* all: pages, parts */
    GATTC_STEP_UUIDS = 1, /* included services: 128-bit UUIDs, one by one */
    GATTC_STEP_CCCD = 1,  /* subscribe: looks for the CCCD from cursor to progress */
    GATTC_STEP_EXECUTE = 2,
    GATTC_STEP_ABORT = 3 /* Execute Write (cancel), then complete with request->status */
};

/* Result of a procedure for a response: more requests are required. TENDON_OK and errors end the request. */
#define GATTC_CONTINUE 1

/* Queue (gatt_client_engine.c) */
/* The writes that enable Service Changed and Robust Caching: sent when no other request is queued, and without a
 * completion. */
bool tendon_gattc_is_own_write(const tendon_gatt_request *request);
/* The handles from @p start to @p end name other attributes now: own writes to them are not sent, except @p kept and
 * one that is outstanding. */
void tendon_gattc_drop_own_writes(tendon_gatt_client *client, const tendon_gatt_request *kept, uint16_t start,
                                  uint16_t end);
tendon_gatt_request *tendon_gattc_find(const tendon_gatt_client *client, uint32_t id);
/* Allocates a slot with a new id, or returns NULL with *status set. */
tendon_gatt_request *tendon_gattc_take(tendon_gatt_client *client, uint8_t kind, tendon_gatt_done done, void *context,
                                       tendon_status *status);
void tendon_gattc_release(tendon_gatt_client *client, tendon_gatt_request *request);
/* How many ids ago a request was numbered; survives the wrap of the ids. */
uint32_t tendon_gattc_age_of(const tendon_gatt_client *client, const tendon_gatt_request *request);
/* Sends the new request if nothing else is waiting; returns its id or the error that sending met. */
tendon_status tendon_gattc_start(tendon_gatt_client *client, tendon_gatt_request *request, uint64_t now);
/* Sends the oldest request if no request is outstanding. */
void tendon_gattc_pump(tendon_gatt_client *client, uint64_t now);
/* The result of a completion without data of the peer. */
tendon_gatt_result tendon_gattc_result(const tendon_gatt_client *client, const tendon_gatt_request *request,
                                       tendon_status status);
/* Frees the slot, then calls the completion. */
void tendon_gattc_complete(tendon_gatt_client *client, tendon_gatt_request *request, const tendon_gatt_result *result);
/* The same for a request that ends without a response. */
void tendon_gattc_finish(tendon_gatt_client *client, tendon_gatt_request *request, tendon_status status);
/*
 * Completes or continues a request whose response arrived. @p rejected is the result of decoding it; returned with
 * what the procedure found.
 */
tendon_status tendon_gattc_settle(tendon_gatt_client *client, tendon_gatt_request *request, tendon_status rejected,
                                  const tendon_att_pdu *decoded);
/* An Error Response: true if the request waits for security, and is sent again after it. */
bool tendon_gattc_secures(tendon_gatt_client *client, tendon_gatt_request *request, const tendon_att_pdu *refusal,
                          uint64_t now);
/* The link failed under a send. */
void tendon_gattc_lost(tendon_gatt_client *client, tendon_status reason);

/*
 * Procedures: build fills the next PDU; respond processes a response; refused processes an Error Response, or a
 * response that could not be decoded, as a status. Both return GATTC_CONTINUE, TENDON_OK or the error to complete with.
 */
/* Before the first page, and when the server's attributes have changed. */
void tendon_gattc_discovery_rewind(tendon_gatt_request *request);
tendon_status tendon_gattc_discovery_build(tendon_gatt_request *request, tendon_att_pdu *pdu, uint8_t scratch[16]);
tendon_status tendon_gattc_discovery_respond(tendon_gatt_request *request, const tendon_att_pdu *pdu);
tendon_status tendon_gattc_discovery_refused(tendon_gatt_request *request, tendon_status status);
/* Service Changed: returns true if the request is a discovery in progress in that range. */
bool tendon_gattc_discovery_hit(const tendon_gatt_request *request, uint16_t start, uint16_t end);

tendon_status tendon_gattc_read_build(const tendon_gatt_request *request, tendon_att_pdu *pdu);
tendon_status tendon_gattc_read_respond(const tendon_gatt_client *client, tendon_gatt_request *request,
                                        const tendon_att_pdu *pdu, tendon_gatt_result *result);
tendon_status tendon_gattc_read_refused(tendon_gatt_request *request, tendon_status status);

tendon_status tendon_gattc_write_build(const tendon_gatt_client *client, tendon_gatt_request *request,
                                       tendon_att_pdu *pdu, uint8_t scratch[16]);
tendon_status tendon_gattc_write_respond(tendon_gatt_request *request, const tendon_att_pdu *pdu);
tendon_status tendon_gattc_write_refused(tendon_gatt_request *request, tendon_status status);

/* Values (gatt_client_values.c) */
/* Of the values of a handle; NULL: there is none. */
tendon_gatt_subscription *tendon_gattc_subscription(tendon_gatt_client *client, uint16_t handle);
tendon_status tendon_gattc_take_notification(tendon_gatt_client *client, const uint8_t *pdu, size_t length,
                                             uint64_t now);
tendon_status tendon_gattc_take_indication(tendon_gatt_client *client, const uint8_t *pdu, size_t length, uint64_t now);
tendon_status tendon_gattc_take_multiple(tendon_gatt_client *client, const uint8_t *pdu, size_t length, uint64_t now);
/* Sends pending confirmations; TENDON_ERROR_WOULD_BLOCK if some are still pending. */
tendon_status tendon_gattc_confirm(tendon_gatt_client *client);

/* Subscriptions (gatt_client_subscriptions.c) */
void tendon_gattc_remove_subscription(tendon_gatt_client *client, tendon_gatt_subscription *subscription);
/* The CCCD that a subscribe request found is where its subscription will be ended. */
void tendon_gattc_note_cccd(tendon_gatt_client *client, const tendon_gatt_request *request);
/* Removes the subscription that this request installed, if it is still that one. */
void tendon_gattc_drop_subscription(tendon_gatt_client *client, uint32_t request);

#endif
