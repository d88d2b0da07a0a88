/* SPDX-License-Identifier: MIT */
/* A client that only writes commands: nothing that it sends is answered, so no request reaches a limit. */
#include "radio_check.h"

#include <inttypes.h>

enum { VALUE_HANDLE = 3, ROUNDS = 2, FEW = 4 };

typedef struct writer {
    check *c;
    tendon_link link;
    tendon_att_bearer bearer;
    tendon_gatt_client gatt;
    tendon_gatt_request requests[2];
    unsigned round, ends;
    uint64_t sent, blocked_at;
    tendon_status reason;
} writer;

/** In the first round as much as there is room for; in the second one a few, to show that the connection works. */
static void write_on(writer *w, uint64_t now) {
    static const uint8_t value[18];
    tendon_status status = TENDON_OK;
    while (status >= 0 && (w->round == 0 || w->sent < FEW)) {
        status = tendon_gatt_write_command(&w->gatt, VALUE_HANDLE, value, sizeof value);
        w->sent += status >= 0;
    }
    w->blocked_at = now;
    if (status >= 0) {
        tendon_link_close(&w->link);
    }
}

static void on_connected(void *context, uint64_t now) {
    write_on(context, now);
}

static void on_received(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    tendon_att_bearer_receive(&((writer *)context)->bearer, pdu, length, now);
}

static void on_writable(void *context, uint64_t now) {
    write_on(context, now);
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    writer *w = context;
    w->ends++;
    w->reason = reason;
    printf("round %u sent %" PRIu64 " ended %s after %" PRIu64 " s\n", w->round, w->sent, tendon_status_name(reason),
           (now - w->blocked_at + 500) / 1000);
    fflush(stdout);
    tendon_loop_stop(&w->c->loop);
}

/** stall ADAPTER MS ADDRESS: MS for each of the two rounds. */
int run_stall(check *c, int argc, char **argv) {
    static writer w;
    tendon_address peer;
    if (argc < 1 || tendon_address_parse(argv[0], strlen(argv[0]), &peer, NULL) < 0) {
        return 2;
    }
    const uint64_t limit = c->until - tendon_monotonic_ms();
    const tendon_link_callbacks callbacks = {.context = &w,
                                             .connected = on_connected,
                                             .received = on_received,
                                             .writable = on_writable,
                                             .closed = on_closed};
    bool good = true;
    for (unsigned round = 0; round < ROUNDS && good; round++) {
        w = (writer){.c = c, .round = round};
        tendon_link_init(&w.link, &callbacks);
        tendon_att_bearer_init(&w.bearer, tendon_link_io(&w.link), 247);
        const tendon_gatt_client_config config = {.bearer = &w.bearer, .requests = w.requests, .request_capacity = 2};
        tendon_gatt_client_init(&w.gatt, &config);
        if (tendon_radio_connect(&c->radio.radio, &w.link, &peer, tendon_monotonic_ms() + 10000) >= 0) {
            tendon_loop_run(&c->loop, tendon_monotonic_ms() + limit);
        }
        good =
            w.ends == 1 && w.sent > 0 && w.reason == (round == 0 ? TENDON_RADIO_ERROR_STALLED : TENDON_ERROR_CANCELLED);
    }
    return !good;
}
