/* SPDX-License-Identifier: MIT */
/* The two that `for await` is compared with: a bare loop, and the path to a callback in C. */
#include "bench_peer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <tendon/linux.h>
#include <unistd.h>

enum { BATCH = 32, VALUE_HANDLE = 0x0010, CCCD_HANDLE = 0x0011 };

static void require(bool condition) {
    if (!condition) {
        abort();
    }
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

void bench_bare_loop(size_t count, size_t fill) {
    static int pair[2] = {-1, -1}, epoll_fd = -1;
    uint8_t buffer[518];
    if (epoll_fd < 0) {
        struct epoll_event event = {.events = EPOLLIN};
        require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
        epoll_fd = epoll_create1(EPOLL_CLOEXEC);
        require(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pair[0], &event) == 0);
    }
    for (size_t done = 0, filled; done < count; done += filled) {
        filled = least(fill, count - done);
        bench_peer_fill(pair[1], filled);
        for (size_t left = filled; left > 0;) {
            struct epoll_event event;
            require(epoll_wait(epoll_fd, &event, 1, -1) == 1);
            for (int i = 0; i < BATCH && recv(pair[0], buffer, sizeof buffer, MSG_DONTWAIT) >= 0; i++) {
                __asm__ volatile("" : : "r"(buffer) : "memory");
                left--;
            }
        }
    }
}

typedef struct c_side {
    tendon_loop loop;
    tendon_virtual_radio radio;
    tendon_connection connection;
    size_t received;
    int peer;
    bool ready;
} c_side;

static c_side side;

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    (void)context, (void)now;
    __asm__ volatile("" : : "r"(value->value) : "memory");
    side.received++;
}

static void on_subscribed(void *context, const tendon_gatt_result *result) {
    (void)context;
    require(result->status >= 0);
    side.ready = true;
}

static void on_connected(void *context, uint64_t now) {
    (void)context;
    require(tendon_gatt_subscribe(&side.connection.client, VALUE_HANDLE, CCCD_HANDLE, false, on_value, NULL,
                                  on_subscribed, NULL, now) >= 0);
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    (void)context, (void)reason, (void)now;
    abort();
}

static void connect_side(const char *directory) {
    static unsigned links;
    tendon_address own = {{0xC0, 0x7E, 0, 0, 0, 2}, TENDON_ADDRESS_TYPE_RANDOM};
    tendon_address peer = {{0xC0, 0, 0, 0, 0, 1}, TENDON_ADDRESS_TYPE_RANDOM};
    tendon_connection_callbacks callbacks = {.connected = on_connected, .closed = on_closed};
    require(tendon_loop_init(&side.loop) >= 0);
    require(tendon_virtual_radio_open(&side.radio, &side.loop, directory, &own) >= 0);
    tendon_connection_init(&side.connection, &side.radio.radio, &peer, NULL, &callbacks);
    require(tendon_connection_connect(&side.connection) >= 0);
    while (!side.ready) {
        require(tendon_loop_step(&side.loop, UINT64_MAX) >= 0);
    }
    side.peer = bench_peer_link(links++);
}

void bench_c_callback(const char *directory, size_t count, size_t fill) {
    if (!side.ready) {
        connect_side(directory); /* the first to subscribe */
    }
    for (size_t done = 0, filled; done < count; done += filled) {
        filled = least(fill, count - done);
        size_t target = side.received + filled;
        bench_peer_fill(side.peer, filled);
        while (side.received < target) {
            require(tendon_loop_step(&side.loop, UINT64_MAX) >= 0);
        }
    }
}
