/* SPDX-License-Identifier: MIT */
/* A client of a peer that breaks the rules: connects again and again, and counts what becomes of each link. */
#include "radio_check.h"

#include <inttypes.h>

typedef struct victim {
    check *c;
    tendon_connection connection;
    tendon_session_link link;
    tendon_gatt_client *client;
    unsigned round, connects, ends;
} victim;

/** The second value; while it is read the peer sends what it should not. A refusal starts pairing. */
static void on_second(void *context, const tendon_gatt_result *result) {
    victim *v = context;
    printf("round %u second %s\n", v->round, tendon_status_name(result->status));
    if (result->status == TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_AUTHENTICATION)) {
        tendon_status status = v->link.pair(v->link.context);
        if (status < 0) {
            printf("round %u paired %s\n", v->round, tendon_status_name(status));
        }
    }
}

static void on_first(void *context, const tendon_gatt_result *result) {
    victim *v = context;
    printf("round %u first %s\n", v->round, tendon_status_name(result->status));
    if (result->status >= 0) {
        tendon_gatt_read(v->client, 4, on_second, v, tendon_monotonic_ms());
    }
}

static void on_connected(void *context, tendon_gatt_client *client, uint64_t now) {
    victim *v = context;
    v->client = client;
    v->connects++;
    tendon_gatt_read(client, 3, on_first, v, now);
}

static void on_disconnected(void *context, tendon_status reason, uint64_t now) {
    victim *v = context;
    (void)now;
    v->ends++;
    printf("round %u ended %s\n", v->round, tendon_status_name(reason));
    fflush(stdout);
    tendon_loop_stop(&v->c->loop);
}

static void on_paired(void *context, tendon_status status, uint64_t now) {
    victim *v = context;
    (void)now;
    printf("round %u paired %s\n", v->round, tendon_status_name(status));
}

static const tendon_session_inputs inputs = {.connected = on_connected,
                                             .disconnected = on_disconnected,
                                             .paired = on_paired,
                                             .tick = check_on_tick,
                                             .deadline = check_no_deadline,
                                             .pairs = true};

/* Pages are counted after so many rounds, when each buffer has been used, and again after the last one; as in cycles.
 */
enum { WARM = 10, PAGES = 16 };

/** hostile ADAPTER MS ADDRESS BONDS COUNT: MS for each round. */
int run_hostile(check *c, int argc, char **argv) {
    static victim v;
    static tendon_bonds bonds;
    tendon_address peer;
    if (argc < 3 || tendon_address_parse(argv[0], strlen(argv[0]), &peer, NULL) < 0 || !use_bonds(c, &bonds, argv[1])) {
        return 2;
    }
    uint64_t limit = c->until - tendon_monotonic_ms();
    unsigned count = (unsigned)strtoul(argv[2], NULL, 10);
    check_holdings first = {0}, before = {0};
    v.c = c;
    bool good = true;
    for (v.round = 0; v.round < count && good; v.round++) {
        v.connects = v.ends = 0;
        tendon_connection_init(&v.connection, &c->radio.radio, &peer, tendon_radio_pairing(&c->radio.radio), NULL);
        tendon_connection_attach(&v.connection, &inputs, &v);
        v.link = tendon_connection_session_link(&v.connection);
        if (v.link.connect(v.link.context) >= 0) {
            tendon_loop_run(&c->loop, tendon_monotonic_ms() + limit);
        }
        /* What the peer sent last is delivered, or dropped, now: a second end would be told here. */
        tendon_loop_run(&c->loop, tendon_monotonic_ms() + 20);
        good = v.connects == 1 && v.ends == 1;
        printf("round %u connects %u ends %u\n", v.round, v.connects, v.ends);
        printf("round %u bonds %zu\n", v.round, bonds.count);
        first = v.round == 0 ? check_count_holdings() : first;
        before = v.round == 0 || v.round == WARM ? check_count_holdings() : before;
    }
    const check_holdings after = check_count_holdings();
    printf("rounds %u, descriptors after the first %u, after the last %u, pages %lu and %lu, bonds %zu\n", v.round,
           first.descriptors, after.descriptors, before.pages, after.pages, bonds.count);
    return !good || first.descriptors != after.descriptors || before.pages == 0 || after.pages > before.pages + PAGES ||
           bonds.count != 0;
}
