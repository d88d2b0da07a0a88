/* SPDX-License-Identifier: MIT */
#ifndef TENDON_HOST_BEARER_PARTS_H
#define TENDON_HOST_BEARER_PARTS_H

#include "tendon/host/bearer.h"

/* Sends the kept Error Response; it is kept only while the link is blocked. */
tendon_status tendon_att_bearer_send_refusal(tendon_att_bearer *bearer);

#endif
