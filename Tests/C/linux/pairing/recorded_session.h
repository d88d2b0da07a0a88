/* SPDX-License-Identifier: MIT */
/* A device session that records its inputs, and has no deadline. */
#ifndef RECORDED_SESSION_H
#define RECORDED_SESSION_H

#include "../link_fixture.h"

typedef struct recorded_session {
    int connected, disconnected, paired; /**< calls */
    tendon_status reason, pair_status;   /**< of the latest ones */
    bool inside;                         /**< the session's own call runs: no result of pairing may come */
    tendon_gatt_client *client;          /**< NULL: not connected */
} recorded_session;

/** For tendon_connection_attach() with a recorded_session. */
extern const tendon_session_inputs recorded_session_inputs;

#endif
