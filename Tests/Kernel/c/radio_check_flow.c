/* SPDX-License-Identifier: MIT */
/*
 * A client that does not read for a while: what the kernel drops meanwhile, and how long reading takes afterwards.
 * "simple": with one recv() for each packet, the form that ours is compared with. "bare": by a loop of epoll_wait and
 * recv, with nothing of ours.
 */
#include "radio_check.h"

#include <inttypes.h>
#include <linux/sock_diag.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { VALUE_HANDLE = 3, CCCD_HANDLE = 4, BARE_BATCH = 32, QUIET_MS = 1000, DROPS = 100 };

typedef struct reader {
    check *c;
    tendon_link link;
    tendon_att_bearer bearer;
    tendon_gatt_client gatt;
    tendon_gatt_request requests[4];
    tendon_gatt_subscription subscriptions[2];
    uint8_t count[4]; /* lent to a queued write */
    uint32_t wanted, got, unexplained, pause_ms;
    uint64_t began, last; /* CPU time, ns */
    bool simple, bare, early, closed;
} reader;

static uint64_t cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint32_t read_bare(int fd) {
    uint8_t bytes[519];
    uint32_t got = 0;
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
        return 0;
    }
    while (epoll_wait(epoll, &event, 1, 0) == 1) {
        for (int i = 0; i < BARE_BATCH && recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0; i++) {
            got++;
        }
    }
    close(epoll);
    return got;
}

/*
 * Nothing is read until the receive buffer has neither grown nor dropped anything for a while, or, with "early", until
 * some were dropped while more are to come.
 */
static void wait_until_all_is_sent(const reader *r) {
    const struct timespec pause = {0, 100000000};
    uint32_t before[2] = {0, 0};
    for (uint32_t ms = 0, quiet = 0; ms < r->pause_ms && quiet < QUIET_MS; ms += 100) {
        uint32_t counters[16] = {0};
        socklen_t size = sizeof counters;
        nanosleep(&pause, NULL);
        (void)getsockopt(r->link.source.fd, SOL_SOCKET, SO_MEMINFO, counters, &size);
        const uint32_t after[2] = {counters[SK_MEMINFO_RMEM_ALLOC], counters[SK_MEMINFO_DROPS]};
        quiet = memcmp(before, after, sizeof before) == 0 ? quiet + 100 : 0;
        quiet = r->early && after[1] >= DROPS ? QUIET_MS : quiet;
        memcpy(before, after, sizeof before);
    }
    printf("%" PRIu32 " bytes wait\n", before[0]);
}

/* Each value has its number: what is missing before it must have been counted when it arrives. */
static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    reader *r = context;
    const uint8_t *v = value->value;
    (void)now;
    if (r->got++ == 0) {
        wait_until_all_is_sent(r);
        r->began = cpu_ns();
        r->got += r->bare ? read_bare(r->link.source.fd) : 0;
    } else if (!r->bare) {
        uint32_t number = (uint32_t)v[0] | (uint32_t)v[1] << 8 | (uint32_t)v[2] << 16;
        r->unexplained += value->length != 4 || number + 1 != value->sequence + r->link.lost;
    }
    r->last = cpu_ns();
}

static void done(void *context, const tendon_gatt_result *result) {
    reader *r = context;
    if (result->status < 0) {
        printf("gatt: %s\n", tendon_status_name(result->status));
        tendon_link_close(&r->link);
    }
}

static void connected(void *context, uint64_t now) {
    reader *r = context;
    r->link.singles = r->simple ? UINT8_MAX : 0; /* as on a kernel without recvmmsg() */
    for (int i = 0; i < 3; i++) {
        r->count[i] = (uint8_t)(r->wanted >> (8 * i));
    }
    tendon_gatt_exchange_mtu(&r->gatt, done, r, now);
    tendon_gatt_write(&r->gatt, VALUE_HANDLE, r->count, sizeof r->count, done, r, now);
    tendon_gatt_subscribe(&r->gatt, VALUE_HANDLE, CCCD_HANDLE, false, on_value, r, done, r, now);
}

static void received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    tendon_att_bearer_receive(&((reader *)context)->bearer, pdu, length, now);
}

static void writable(void *context, uint64_t now) {
    tendon_att_bearer_writable(&((reader *)context)->bearer, now);
}

static void closed(void *context, tendon_status reason, uint64_t now) {
    reader *r = context;
    (void)now;
    r->closed = true;
    printf("closed: %s\n", tendon_status_name(reason));
    tendon_loop_stop(&r->c->loop);
}

static void run_for(check *c, uint64_t ms) {
    uint64_t until = tendon_monotonic_ms() + ms;
    tendon_loop_run(&c->loop, until < c->until ? until : c->until);
}

/** flow ADAPTER MS ADDRESS NOTIFICATIONS PAUSE_MS [simple|bare|early]: reads on when all are sent, after PAUSE_MS at
 * most. */
int run_flow(check *c, int argc, char **argv) {
    static reader r;
    tendon_address peer;
    if (argc < 3 || tendon_address_parse(argv[0], strlen(argv[0]), &peer, NULL) < 0) {
        return 2;
    }
    r = (reader){.c = c,
                 .wanted = (uint32_t)strtoul(argv[1], NULL, 10),
                 .pause_ms = (uint32_t)strtoul(argv[2], NULL, 10),
                 .simple = argc > 3 && strcmp(argv[3], "simple") == 0,
                 .early = argc > 3 && strcmp(argv[3], "early") == 0,
                 .bare = argc > 3 && strcmp(argv[3], "bare") == 0};
    tendon_link_callbacks callbacks = {
        .context = &r, .connected = connected, .received = received, .writable = writable, .closed = closed};
    tendon_link_init(&r.link, &callbacks);
    tendon_att_bearer_init(&r.bearer, tendon_link_io(&r.link), 247);
    tendon_gatt_client_config config = {.bearer = &r.bearer,
                                        .requests = r.requests,
                                        .request_capacity = 4,
                                        .subscriptions = r.subscriptions,
                                        .subscription_capacity = 2};
    tendon_gatt_client_init(&r.gatt, &config);
    if (tendon_radio_connect(&c->radio.radio, &r.link, &peer, tendon_monotonic_ms() + 5000) < 0) {
        return 1;
    }
    uint32_t counted = 0;
    while (!r.closed && tendon_monotonic_ms() < c->until && r.got + counted < r.wanted) {
        run_for(c, 100);
        counted = tendon_bluez_link_lost(&r.link);
    }
    const uint32_t with_packets = r.link.lost;
    tendon_link_close(&r.link);
    run_for(c, 1000);
    printf("received %" PRIu32 ", lost %" PRIu32 " (%" PRIu32 " known from a packet) of %" PRIu32 "\n", r.got,
           r.link.lost, with_packets, r.wanted);
    printf("unexplained %" PRIu32 "\n", r.unexplained);
    printf("%" PRIu64 " ns of CPU time each after the pause\n", (r.last - r.began) / (r.got > 1 ? r.got - 1 : 1));
    return r.closed && r.got + r.link.lost == r.wanted && r.unexplained == 0 ? 0 : 1;
}
