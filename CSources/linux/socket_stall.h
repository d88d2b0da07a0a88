/* SPDX-License-Identifier: MIT */
/* Links that cannot send: whether their PDUs still leave the socket. */
#ifndef TENDON_SOCKET_STALL_H
#define TENDON_SOCKET_STALL_H

#include "socket_link.h"

/** The link cannot send from now on: sets its deadline, if its socket can tell whether PDUs leave it. */
void tendon_socket_watch_stall(tendon_link *link, uint64_t now);
/** At that deadline: nothing has left the socket since the last look. Otherwise it sets the next deadline. */
bool tendon_socket_is_stalled(tendon_link *link, uint64_t now);

#endif
