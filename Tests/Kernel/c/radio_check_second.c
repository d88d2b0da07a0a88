/* SPDX-License-Identifier: MIT */
/* A second connection beside one that is in use: what becomes of both. */
#include "radio_check.h"

#include <inttypes.h>

enum { VALUE_HANDLE = 3, PERIOD_MS = 50, AFTER_MS = 1000 };

typedef struct first_link {
    check *c;
    tendon_connection connection;
    tendon_session_link link;
    tendon_gatt_client *client; /**< NULL: not connected */
    unsigned values, failed, ends;
    uint64_t next;
} first_link;

typedef struct second_link {
    check *c;
    tendon_link link;
    bool opened;
    unsigned ends;
    uint64_t begun;
} second_link;

static void on_value(void *context, const tendon_gatt_result *result) {
    first_link *f = context;
    *(result->status >= 0 ? &f->values : &f->failed) += 1;
    f->next = tendon_monotonic_ms() + PERIOD_MS;
}

static void on_first_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    first_link *f = context;
    printf("first: connected\n");
    f->client = client;
    f->next = now;
    tendon_loop_stop(&f->c->loop);
}

static void on_first_disconnected(void *context, tendon_status reason, uint64_t now) {
    first_link *f = context;
    (void)now;
    f->client = NULL;
    f->ends++;
    printf("first: ended %s\n", tendon_status_name(reason));
}

static void on_tick(void *context, uint64_t now) {
    first_link *f = context;
    if (f->client != NULL && now >= f->next) {
        f->next = UINT64_MAX;
        tendon_gatt_read(f->client, VALUE_HANDLE, on_value, f, now);
    }
}

static uint64_t deadline(const void *context) {
    const first_link *f = context;
    return f->client != NULL ? f->next : UINT64_MAX;
}

static void on_second_connected(void *context, uint64_t now) {
    second_link *s = context;
    (void)now;
    s->opened = true;
    printf("second: connected\n");
}

static void on_second_closed(void *context, tendon_status reason, uint64_t now) {
    second_link *s = context;
    s->ends++;
    printf("second: ended %s after %" PRIu64 " ms\n", tendon_status_name(reason), now - s->begun);
    tendon_loop_stop(&s->c->loop);
}

/** second ADAPTER MS FIRST SECOND DEADLINE_MS: the first link reads a value all the time; the second must not open. */
int run_second(check *c, int argc, char **argv) {
    static const tendon_session_inputs inputs = {
        .connected = on_first_connected, .disconnected = on_first_disconnected, .tick = on_tick, .deadline = deadline};
    static first_link f;
    static second_link s;
    tendon_address first, second;
    if (argc < 3 || tendon_address_parse(argv[0], strlen(argv[0]), &first, NULL) < 0 ||
        tendon_address_parse(argv[1], strlen(argv[1]), &second, NULL) < 0) {
        return 2;
    }
    f.c = s.c = c;
    tendon_connection_init(&f.connection, &c->radio.radio, &first, tendon_radio_pairing(&c->radio.radio), NULL);
    tendon_connection_attach(&f.connection, &inputs, &f);
    f.link = tendon_connection_session_link(&f.connection);
    if (f.link.connect(f.link.context) < 0) {
        return 1;
    }
    tendon_loop_run(&c->loop, c->until);
    const tendon_link_callbacks callbacks = {
        .context = &s, .connected = on_second_connected, .closed = on_second_closed};
    tendon_link_init(&s.link, &callbacks);
    s.begun = tendon_monotonic_ms();
    tendon_status status =
        tendon_radio_connect(&c->radio.radio, &s.link, &second, s.begun + strtoul(argv[2], NULL, 10));
    if (status == TENDON_OK) {
        tendon_loop_run(&c->loop, c->until);
    }
    const unsigned values = f.values;
    tendon_loop_run(&c->loop, tendon_monotonic_ms() + AFTER_MS);
    printf("first: %u values, %u after that, %u failed, %" PRIu64 " connect_reissues\n", values, f.values - values,
           f.failed, c->radio.counters.connect_reissues);
    bool good = status == TENDON_OK && !s.opened && s.ends == 1 && f.client != NULL && f.ends == 0 && f.failed == 0 &&
                f.values >= values + 5;
    f.link.disconnect(f.link.context);
    tendon_loop_run(&c->loop, tendon_monotonic_ms() + 200);
    return !(good && f.ends == 1);
}
