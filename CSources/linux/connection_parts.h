/* SPDX-License-Identifier: MIT */
/* What the files of connection.h share. */
#ifndef TENDON_LINUX_CONNECTION_PARTS_H
#define TENDON_LINUX_CONNECTION_PARTS_H

#include "tendon/linux/connection.h"

/** Default of tendon_connection_jitter. @param context the connection */
uint32_t tendon_connection_next_jitter(void *context);
/** The generator's first state: never 0, and another one for each pair of addresses and start. */
uint32_t tendon_connection_seed(const tendon_radio *radio, const tendon_address *peer);

#endif
