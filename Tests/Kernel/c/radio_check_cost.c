/* SPDX-License-Identifier: MIT */
/* What a notification costs at 50 Hz: the library's loop in turns with a bare loop on the same link. */
#include "radio_check.h"

#include <inttypes.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { VALUE_HANDLE = 3, CCCD_HANDLE = 4, ROUNDS = 9, TURN_MS = 3000 };

typedef struct receiver {
    check *c;
    tendon_link link;
    tendon_att_bearer bearer;
    tendon_gatt_client gatt;
    tendon_gatt_request requests[4];
    tendon_gatt_subscription subscriptions[1];
    uint8_t count[4];
    uint32_t got;
    bool closed;
} receiver;

static void done(void *context, const tendon_gatt_result *result) {
    receiver *r = context;
    if (result->status < 0) {
        printf("gatt: %s\n", tendon_status_name(result->status));
        tendon_link_close(&r->link);
    }
}

static void on_notification(void *context, const tendon_gatt_value *value, uint64_t now) {
    (void)value;
    (void)now;
    ((receiver *)context)->got++;
}

static void on_connected(void *context, uint64_t now) {
    receiver *r = context;
    memset(r->count, 0xFF, sizeof r->count);
    tendon_gatt_exchange_mtu(&r->gatt, done, r, now);
    tendon_gatt_write(&r->gatt, VALUE_HANDLE, r->count, sizeof r->count, done, r, now);
    tendon_gatt_subscribe(&r->gatt, VALUE_HANDLE, CCCD_HANDLE, false, on_notification, r, done, r, now);
}

static void on_received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    tendon_att_bearer_receive(&((receiver *)context)->bearer, pdu, length, now);
}

static void on_writable(void *context, uint64_t now) {
    tendon_att_bearer_writable(&((receiver *)context)->bearer, now);
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    receiver *r = context;
    (void)now;
    printf("closed: %s\n", tendon_status_name(reason));
    r->closed = true;
    tendon_loop_stop(&r->c->loop);
}

static uint64_t thread_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/** Waits for the socket and nothing else, and takes what it has: as many notifications as came in @p ms. */
static uint32_t bare_loop(const receiver *r, uint64_t ms) {
    struct epoll_event event = {.events = EPOLLIN};
    uint8_t pdu[517];
    uint32_t got = 0;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, r->link.source.fd, &event) < 0) {
        return 0;
    }
    /* By count, so that it reads no clock. */
    for (const uint32_t wanted = (uint32_t)(ms / 20); got < wanted && epoll_wait(epoll, &event, 1, 2000) == 1;) {
        for (int i = 0; i < 32 && recv(r->link.source.fd, pdu, sizeof pdu, MSG_DONTWAIT) > 0; i++) {
            got++;
        }
    }
    close(epoll);
    return got;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, ascending);
    return values[ROUNDS / 2];
}

/** One turn of each; nanoseconds of this thread for a notification. False: too few came. */
static bool take_turns(receiver *r, double *library, double *bare) {
    uint32_t before = r->got;
    uint64_t start = thread_ns();
    tendon_loop_run(&r->c->loop, tendon_monotonic_ms() + TURN_MS);
    const uint32_t by_library = r->got - before;
    *library = (double)(thread_ns() - start) / (by_library > 0 ? by_library : 1);
    start = thread_ns();
    const uint32_t by_bare = bare_loop(r, TURN_MS);
    *bare = (double)(thread_ns() - start) / (by_bare > 0 ? by_bare : 1);
    return by_library > 50 && by_bare > 50;
}

/** cost ADAPTER MS ADDRESS: `serve ADAPTER MS NAME 20` is the peer. */
int run_cost(check *c, int argc, char **argv) {
    static receiver r;
    tendon_address peer;
    if (argc < 1 || tendon_address_parse(argv[0], strlen(argv[0]), &peer, NULL) < 0) {
        return 2;
    }
    r.c = c;
    const tendon_link_callbacks callbacks = {.context = &r,
                                             .connected = on_connected,
                                             .received = on_received,
                                             .writable = on_writable,
                                             .closed = on_closed};
    tendon_link_init(&r.link, &callbacks);
    tendon_att_bearer_init(&r.bearer, tendon_link_io(&r.link), 247);
    const tendon_gatt_client_config config = {.bearer = &r.bearer,
                                              .requests = r.requests,
                                              .request_capacity = 4,
                                              .subscriptions = r.subscriptions,
                                              .subscription_capacity = 1};
    tendon_gatt_client_init(&r.gatt, &config);
    tendon_status status = tendon_radio_connect(&c->radio.radio, &r.link, &peer, tendon_monotonic_ms() + 10000);
    while (status >= 0 && r.got < 50 && !r.closed && tendon_monotonic_ms() < c->until) {
        tendon_loop_run(&c->loop, tendon_monotonic_ms() + 100);
    }
    double library[ROUNDS], bare[ROUNDS], ratios[ROUNDS];
    bool good = r.got >= 50 && !r.closed;
    for (int i = 0; i < ROUNDS && good; i++) {
        good = take_turns(&r, &library[i], &bare[i]) && !r.closed;
        ratios[i] = library[i] / bare[i];
    }
    if (good) {
        printf("{\"bench\":\"library_cost\",\"name\":\"ours\",\"ns\":%.0f,\"limit\":\"bare\",\"limit_ns\":%.0f,"
               "\"ratio\":%.2f}\n",
               median(library), median(bare), median(ratios));
    }
    tendon_link_close(&r.link);
    return !good;
}
