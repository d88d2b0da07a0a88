/* SPDX-License-Identifier: MIT */
/* Several connections of one adapter at once, each with a stream whose values are numbered. */
#include "radio_check.h"

#include <inttypes.h>

#define MANY 8
#define GRACE_MS 500 /* in which a value too many would still arrive */

typedef struct many many;

typedef struct stream {
    many *all;
    uint8_t number; /**< third byte of each of its values */
    tendon_link link;
    tendon_att_bearer bearer;
    tendon_gatt_client gatt;
    tendon_gatt_request requests[4];
    tendon_gatt_subscription subscription;
    uint32_t got, wrong;
    bool connected, closed;
    uint64_t first, last;
} stream;

struct many {
    check *c;
    uint16_t handle;
    uint32_t wanted;
    unsigned count, connected, whole, closed, most;
    bool complete; /**< each stream had its last value while all were connected */
    stream streams[MANY];
};

/** Bytes of a value: number of the value from 0, 16 bits little endian; number of the device. */
static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    stream *s = context;
    const uint8_t *v = value->value;
    bool good = value->length >= 3 && (uint32_t)(v[0] | v[1] << 8) == s->got && v[2] == s->number;
    s->wrong += !good;
    s->first = s->got == 0 ? now : s->first;
    s->last = now;
    s->got++;
    if (s->got == s->all->wanted && ++s->all->whole == s->all->count) {
        s->all->complete = s->all->connected == s->all->count;
        tendon_loop_stop(&s->all->c->loop);
    }
}

static void on_result(void *context, const tendon_gatt_result *result) {
    stream *s = context;
    if (result->status < 0) {
        printf("link %u gatt: %s\n", s->number, tendon_status_name(result->status));
        tendon_link_close(&s->link);
    }
}

static void on_connected(void *context, uint64_t now) {
    stream *s = context;
    many *all = s->all;
    s->connected = true;
    all->connected++;
    all->most = all->connected > all->most ? all->connected : all->most;
    printf("link %u connected, handle 0x%04x\n", s->number, s->link.handle);
    for (unsigned i = 0; all->connected == all->count && i < all->count; i++) {
        stream *each = &all->streams[i];
        tendon_gatt_exchange_mtu(&each->gatt, on_result, each, now);
        tendon_gatt_subscribe(&each->gatt, all->handle, (uint16_t)(all->handle + 1), false, on_value, each, on_result,
                              each, now);
    }
}

static void on_received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    tendon_att_bearer_receive(&((stream *)context)->bearer, pdu, length, now);
}

static void on_writable(void *context, uint64_t now) {
    tendon_att_bearer_writable(&((stream *)context)->bearer, now);
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    stream *s = context;
    (void)now;
    s->closed = true;
    s->all->connected -= s->connected;
    s->connected = false;
    printf("link %u closed: %s\n", s->number, tendon_status_name(reason));
    if (++s->all->closed == s->all->count || reason != TENDON_ERROR_CANCELLED) {
        tendon_loop_stop(&s->all->c->loop);
    }
}

static tendon_status begin(many *all, const char *text) {
    stream *s = &all->streams[all->count];
    tendon_address peer;
    tendon_status status = tendon_address_parse(text, strlen(text), &peer, NULL);
    if (status < 0) {
        return status;
    }
    s->all = all;
    s->number = (uint8_t)all->count++;
    tendon_link_callbacks callbacks = {
        .context = s, .connected = on_connected, .received = on_received, .writable = on_writable, .closed = on_closed};
    tendon_link_init(&s->link, &callbacks);
    tendon_att_bearer_init(&s->bearer, tendon_link_io(&s->link), 247);
    tendon_gatt_client_config config = {.bearer = &s->bearer,
                                        .requests = s->requests,
                                        .request_capacity = 4,
                                        .subscriptions = &s->subscription,
                                        .subscription_capacity = 1};
    tendon_gatt_client_init(&s->gatt, &config);
    return tendon_radio_connect(&all->c->radio.radio, &s->link, &peer, all->c->until);
}

static bool report(const many *all) {
    bool good = all->complete;
    for (unsigned i = 0; i < all->count; i++) {
        const stream *s = &all->streams[i];
        uint32_t lost = tendon_bluez_link_lost(&s->link);
        printf("link %u: %" PRIu32 " of %" PRIu32 " values, %" PRIu32 " wrong, %" PRIu32 " lost in the kernel, %" PRIu64
               " ms\n",
               i, s->got, all->wanted, s->wrong, lost, s->last - s->first);
        good = good && s->got == all->wanted && s->wrong == 0 && lost == 0;
    }
    printf("%u connections at once\n", all->most);
    return good;
}

/**
 * many ADAPTER MS VALUES HANDLE ADDRESS...: connects to all, and when all are connected enables notifications of HANDLE
 * on each; good when each had so many values, in order and of its own device, with all connections up until the last
 * one.
 */
int run_many(check *c, int argc, char **argv) {
    static many all;
    if (argc < 3 || argc - 2 > MANY) {
        return 2;
    }
    all.c = c;
    all.wanted = (uint32_t)strtoul(argv[0], NULL, 10);
    all.handle = (uint16_t)strtoul(argv[1], NULL, 0);
    for (int i = 2; i < argc; i++) {
        tendon_status status = begin(&all, argv[i]);
        if (status < 0) {
            printf("%s: %s\n", argv[i], tendon_status_name(status));
            return 1;
        }
    }
    tendon_loop_run(&c->loop, c->until);
    if (all.complete) {
        tendon_loop_run(&c->loop, tendon_monotonic_ms() + GRACE_MS);
    }
    bool good = report(&all);
    for (unsigned i = 0; i < all.count; i++) {
        tendon_link_close(&all.streams[i].link);
    }
    while (all.closed < all.count && tendon_monotonic_ms() < c->until) {
        tendon_loop_run(&c->loop, c->until);
    }
    return !(good && all.closed == all.count);
}
