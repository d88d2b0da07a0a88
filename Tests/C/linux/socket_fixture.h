/* SPDX-License-Identifier: MIT */
/* For the tests of links over sockets: a link, and the bare socket at its other end. */
#ifndef SOCKET_FIXTURE_H
#define SOCKET_FIXTURE_H

#include "../../../CSources/linux/socket_link.h"
#include "link_fixture.h"

typedef struct bench {
    tendon_loop loop;
    tendon_radio radio;
    link_end end;
    int peer; /**< the other side, a bare socket */
    int attempted;
    tendon_status attempt_result;
    int retries;
    int retry_fd;
    tendon_status retry_status;
} bench;

extern const tendon_socket_hooks bare, framed, special;
extern const tendon_address somebody;
extern const tendon_radio_ops socket_ops;
/* A link that is up. */
void bench_open(bench *b, const tendon_socket_hooks *hooks, bool accepted);
void bench_close(bench *b);
void peer_sends(bench *b, const void *bytes, size_t length);

#endif
