/* SPDX-License-Identifier: MIT */
/* Inside the Obvious family only. */
#ifndef TENDON_DEVICES_OBVIOUS_SESSION_PARTS_H
#define TENDON_DEVICES_OBVIOUS_SESSION_PARTS_H

#include "tendon/devices/obvious_session.h"

/* TENDON_OK if a request could be sent now; else the status of tendon_obvious_session_request(). */
tendon_status tendon_obvious_session_ready(const tendon_obvious_session *session);
/* Place of the payload of the next request; valid if ready() is TENDON_OK. */
static inline uint8_t *session_payload(const tendon_obvious_session *session) {
    return session->config.memory + TENDON_OBVIOUS_FRAME_HEADER;
}
/* Sends a request whose payload is in place. */
tendon_status tendon_obvious_session_send(tendon_obvious_session *session, uint8_t opcode, size_t length,
                                          tendon_obvious_on_response on_response, void *context, uint64_t now);

/* The functions of tendon_obvious_session_inputs. */
void tendon_obvious_session_connected(void *session, tendon_gatt_client *client, uint64_t now);
void tendon_obvious_session_disconnected(void *session, tendon_status reason, uint64_t now);
void tendon_obvious_session_paired(void *session, tendon_status status, uint64_t now);
void tendon_obvious_session_tick(void *session, uint64_t now);
uint64_t tendon_obvious_session_deadline(const void *session);

/* ---- between session.c and session_open.c ---- */

/* Steps of opening; those up to SUBSCRIBE are also kinds of operations, and WRITE is one. */
enum { STEP_NONE = 0, STEP_MTU, STEP_DISCOVER, STEP_STATUS, STEP_SUBSCRIBE, STEP_PAIR, STEP_HELLO, WRITE };

/* Rows of the discovery. */
enum { DATA = 0, STATUS };

/* Prepares receiver, sender and requests for a new connection. */
void tendon_obvious_session_prepare(tendon_obvious_session *session);
void tendon_obvious_session_tell(tendon_obvious_session *session, tendon_obvious_session_event_kind kind,
                                 tendon_status status);
/* Disconnects for a reason that CLOSED reports; TENDON_OK: that of the radio. */
void tendon_obvious_session_close(tendon_obvious_session *session, tendon_status reason);
void tendon_obvious_session_give_up(tendon_obvious_session *session, tendon_status status, tendon_status cause);
/* Segments can be written again. */
void tendon_obvious_session_writable(void *session, uint64_t now);
/* A value of OGP_DATA. */
void tendon_obvious_session_value(void *session, const tendon_gatt_value *value, uint64_t now);
/* Sends a request also before the session is open. */
tendon_status tendon_obvious_session_start(tendon_obvious_session *session, uint8_t opcode,
                                           const tendon_obvious_payload *payload,
                                           tendon_obvious_on_response on_response, void *context, uint64_t now);

#endif
