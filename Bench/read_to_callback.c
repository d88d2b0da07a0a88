/* SPDX-License-Identifier: MIT */
/*
 * How long does a notification take from the socket to the subscriber's callback? Limit: a bare loop over a socket of
 * the same kind: epoll_wait, then recv up to 32 times or until EAGAIN. Filling the queue is not timed.
 *
 * Built three times: for a queue that is never empty while it is timed, and with PER_WAKE_UP 8 and 1 for as many
 * packets a wake-up.
 */
#include "bench.h"
#include "socket_link.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <tendon/linux.h>
#include <unistd.h>

#define BATCH 32u
#ifndef PER_WAKE_UP
#define PER_WAKE_UP 0 /* as many as the socket holds */
#endif

/* Handle 0x0010, one game rotation record. */
static const uint8_t notification[] = {0x1B, 0x10, 0x00, 0x03, 0xFF, 0xFF, 0x2D, 0x41, 0, 0, 0x2D, 0x41, 0, 0};

static int bare[2], ours[2];
static int bare_epoll;
static uint64_t bare_received, received;
static size_t capacity;

static tendon_loop loop;
static tendon_radio radio;
static tendon_link link_under_test;
static tendon_att_bearer bearer;
static tendon_gatt_client client;
static tendon_gatt_request requests[2];
static tendon_gatt_subscription subscriptions[8];

static void fill(int fd, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (send(fd, notification, sizeof notification, 0) < 0) {
            abort();
        }
    }
}

static size_t next_fill(uint64_t left) {
    return left < capacity ? (size_t)left : capacity;
}

static void bare_loop(void *context, size_t count) {
    (void)context;
    uint8_t buffer[517];
    uint64_t until = bare_received + count;
    while (bare_received < until) {
        uint64_t target = bare_received + next_fill(until - bare_received);
        bench_pause();
        fill(bare[1], (size_t)(target - bare_received));
        bench_resume();
        while (bare_received < target) {
            struct epoll_event event;
            if (epoll_wait(bare_epoll, &event, 1, -1) != 1) {
                abort();
            }
            for (unsigned i = 0; i < BATCH; i++) {
                ssize_t length = recv(bare[0], buffer, sizeof buffer, MSG_DONTWAIT);
                if (length < 0) {
                    break;
                }
                bench_keep(buffer);
                bare_received++;
            }
        }
    }
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    (void)context, (void)now;
    bench_keep(value->value);
    received++;
}

static void tendon_path(void *context, size_t count) {
    (void)context;
    uint64_t until = received + count;
    while (received < until) {
        uint64_t target = received + next_fill(until - received);
        bench_pause();
        fill(ours[1], (size_t)(target - received));
        bench_resume();
        while (received < target) {
            if (tendon_loop_step(&loop, UINT64_MAX) < 0) {
                abort();
            }
        }
    }
}

static void on_received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    (void)context;
    tendon_att_bearer_receive(&bearer, pdu, length, now);
}

static void on_done(void *context, const tendon_gatt_result *result) {
    (void)context, (void)result;
}

static void connect_ours(void) {
    static const tendon_radio_ops ops = {.name = "bench", .link_close = tendon_socket_link_close};
    static const tendon_socket_hooks hooks = {0};
    static const uint8_t accepted[] = {0x13};
    tendon_link_callbacks callbacks = {.received = on_received};
    tendon_gatt_client_config config = {.bearer = &bearer,
                                        .requests = requests,
                                        .request_capacity = 2,
                                        .subscriptions = subscriptions,
                                        .subscription_capacity = 8};
    tendon_address peer = {{0xC0, 0, 0, 0, 0, 1}, TENDON_ADDRESS_TYPE_RANDOM};

    if (tendon_loop_init(&loop) < 0) {
        abort();
    }
    radio = (tendon_radio){.ops = &ops, .loop = &loop};
    tendon_link_init(&link_under_test, &callbacks);
    link_under_test.batch = BATCH;
    if (tendon_socket_link_begin(&link_under_test, &radio, &hooks, &peer, true, UINT64_MAX) < 0 ||
        tendon_socket_link_adopt(&link_under_test, ours[0]) < 0) {
        abort();
    }
    tendon_att_bearer_init(&bearer, tendon_link_io(&link_under_test), 247);
    if (tendon_gatt_client_init(&client, &config) < 0 || tendon_loop_step(&loop, 0) < 0) {
        abort();
    }
    if (tendon_gatt_subscribe(&client, 0x0010, 0x0011, false, on_value, NULL, on_done, NULL, 0) < 0) {
        abort();
    }
    tendon_att_bearer_receive(&bearer, accepted, sizeof accepted, 0);
}

int main(int argc, char **argv) {
    const char *question = PER_WAKE_UP == 1   ? "one_a_wake_up"
                           : PER_WAKE_UP == 8 ? "eight_a_wake_up"
                                              : "read_to_callback";
    static const bench_body bodies[] = {
        {"bare_loop", bare_loop, NULL, sizeof notification, 0},
        {"read_to_callback", tendon_path, NULL, sizeof notification, 0},
    };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, bare) < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ours) < 0) {
        return 1;
    }
    /* As many as the kernel queues on one socket, in whole batches. */
    while (send(bare[1], notification, sizeof notification, 0) > 0) {
        capacity++;
    }
    uint8_t drop[sizeof notification];
    while (recv(bare[0], drop, sizeof drop, 0) > 0) {
    }
    capacity = PER_WAKE_UP != 0 ? PER_WAKE_UP : capacity / BATCH * BATCH;
    bare_epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    if (capacity == 0 || epoll_ctl(bare_epoll, EPOLL_CTL_ADD, bare[0], &event) < 0) {
        return 1;
    }
    connect_ours();
    return bench_main(argc, argv, question, bodies, 2, 0);
}
