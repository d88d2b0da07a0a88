/* SPDX-License-Identifier: MIT */
/* Tendon: gateway component. What every gateway needs: who may connect and when, events as lines and as numbers,
 * actions by name. Never sees a socket. */
#ifndef TENDON_GATEWAY_H
#define TENDON_GATEWAY_H

#include "tendon/gateway/actions.h"
#include "tendon/gateway/admission.h"
#include "tendon/gateway/device.h"
#include "tendon/gateway/line.h"
#include "tendon/gateway/lines.h"
#include "tendon/gateway/request.h"
#include "tendon/gateway/search.h"
#include "tendon/gateway/settings.h"
#include "tendon/gateway/view.h"

#endif
