/* SPDX-License-Identifier: MIT */
/* Inside the session only. */
#ifndef TENDON_CSOURCES_ACTIV5_SESSION_H
#define TENDON_CSOURCES_ACTIV5_SESSION_H

#include "tendon/devices/activ5_session.h"

#include <string.h>

enum {
    ACTIV5_STEP_IDLE = 0,
    ACTIV5_STEP_MTU,
    ACTIV5_STEP_SERVICE,
    ACTIV5_STEP_CHARACTERISTICS,
    ACTIV5_STEP_CCCD,
    ACTIV5_STEP_READY
};

/* Around a call that starts a GATT operation; the second takes what it returned. */
void activ5_starting(tendon_activ5_session *session);
void activ5_started(tendon_activ5_session *session, tendon_status request);
/** Completion of every operation. */
void activ5_done(void *context, const tendon_gatt_result *result);
/** Starts what is next, if nothing is under way. */
void activ5_pump(tendon_activ5_session *session);
/** The device cannot be used: the link is closed, @p status is told as the reason. */
void activ5_fail(tendon_activ5_session *session, tendon_status status);

void activ5_discovery_pump(tendon_activ5_session *session);
void activ5_discovery_done(tendon_activ5_session *session, const tendon_gatt_result *result);

#endif
