/* SPDX-License-Identifier: MIT */
#include "socket_fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bench *bench_of(tendon_link *link) {
    return (bench *)((char *)link->radio - offsetof(bench, radio));
}

static tendon_status retry(tendon_link *link, uint64_t now) {
    bench *b = bench_of(link);
    b->retries++;
    if (b->retry_status < 0) {
        return b->retry_status;
    }
    if (b->retry_fd >= 0 && b->retries >= 3) {
        int fd = b->retry_fd;
        b->retry_fd = -1;
        return tendon_socket_link_adopt(link, fd);
    }
    link->source.deadline = now;
    return TENDON_OK;
}

static void attempted(tendon_link *link, tendon_status result) {
    bench *b = bench_of(link);
    b->attempted++;
    b->attempt_result = result;
}

static tendon_status special_reason(tendon_link *link, int number, bool connecting) {
    (void)link;
    return TENDON_STATUS(TENDON_LAYER_L2CAP, (connecting ? 100 : 0) + (number == ECONNREFUSED ? 1 : 2));
}

const tendon_socket_hooks bare = {.header = 0, .retry = retry, .attempted = attempted};
const tendon_socket_hooks framed = {.header = 1, .retry = retry, .attempted = attempted};
const tendon_socket_hooks special = {.header = 0, .reason = special_reason};
const tendon_address somebody = {{1, 2, 3, 4, 5, 6}, TENDON_ADDRESS_TYPE_RANDOM};
const tendon_radio_ops socket_ops = {.name = "test", .link_close = tendon_socket_link_close};

void bench_open(bench *b, const tendon_socket_hooks *hooks, bool accepted) {
    int pair[2];
    memset(b, 0, sizeof *b);
    b->retry_fd = -1;
    assert_int_equal(tendon_loop_init(&b->loop), TENDON_OK);
    b->radio.ops = &socket_ops;
    b->radio.loop = &b->loop;
    link_end_init(&b->end);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    b->peer = pair[1];
    assert_int_equal(tendon_socket_link_begin(&b->end.link, &b->radio, hooks, &somebody, accepted, UINT64_MAX),
                     TENDON_OK);
    assert_int_equal(tendon_socket_link_adopt(&b->end.link, pair[0]), TENDON_OK);
    assert_int_equal(b->end.connected, 0);
    STEP_UNTIL(&b->loop, b->end.connected == 1);
}

void bench_close(bench *b) {
    if (b->peer >= 0) {
        close(b->peer);
    }
    tendon_link_close(&b->end.link);
    for (int i = 0; i < 4; i++) {
        (void)tendon_loop_step(&b->loop, 0);
    }
    tendon_loop_close(&b->loop);
}

void peer_sends(bench *b, const void *bytes, size_t length) {
    assert_int_equal(send(b->peer, bytes, length, MSG_NOSIGNAL), (ssize_t)length);
}
