/* SPDX-License-Identifier: MIT */
/* PHY, data length and intervals: what a connection is asked for, and what it reports. */
#include "radio_check.h"

#include <inttypes.h>

typedef struct watched {
    tendon_link link;
    bool opened, closed;
} watched;

static void on_connected(void *context, uint64_t now) {
    static const uint8_t exchange_mtu[] = {0x02, 0x05, 0x02}; /* Linux 6.1 crashes over links without any packet */
    watched *w = context;
    (void)now;
    w->opened = true;
    (void)tendon_link_send(&w->link, exchange_mtu, sizeof exchange_mtu);
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    watched *w = context;
    (void)now;
    w->closed = true;
    printf("closed %s\n", tendon_status_name(reason));
}

/** Runs so long, and prints what the connection has whenever it changes. */
static void watch(check *c, watched *w, tendon_connection_timing *last, unsigned milliseconds) {
    uint64_t until = tendon_monotonic_ms() + milliseconds;
    while (!w->closed && tendon_monotonic_ms() < until) {
        tendon_loop_run(&c->loop, tendon_monotonic_ms() + 10);
        const tendon_connection_timing *t = &w->link.timing;
        if (t->interval != last->interval || t->tx_phy != last->tx_phy || t->rx_phy != last->rx_phy ||
            t->tx_octets != last->tx_octets || t->rx_octets != last->rx_octets) {
            *last = *t;
            printf("has interval %u phy %u %u length %u %u\n", t->interval, t->tx_phy, t->rx_phy, t->tx_octets,
                   t->rx_octets);
            fflush(stdout);
        }
    }
}

/** wishes ADAPTER MS ADDRESS PARAMETERS...: connects with the first, then asks for each of the others. */
int run_wishes(check *c, int argc, char **argv) {
    static watched w;
    tendon_link_callbacks callbacks = {.context = &w, .connected = on_connected, .closed = on_closed};
    tendon_address peer = {.type = TENDON_ADDRESS_TYPE_PUBLIC};
    tendon_connection_parameters wanted;
    tendon_connection_timing last = {0};
    if (argc < 2 || tendon_address_parse(argv[0], strlen(argv[0]), &peer, NULL) < 0 ||
        tendon_connection_parameters_parse(argv[1], strlen(argv[1]), &wanted, NULL) < 0 ||
        tendon_radio_set_connection_parameters(&c->radio.radio, &wanted) < 0) {
        return 2;
    }
    printf("features %016" PRIx64 "\n", c->radio.limits.features);
    tendon_link_init(&w.link, &callbacks);
    tendon_status status = tendon_radio_connect(&c->radio.radio, &w.link, &peer, c->until);
    while (status == TENDON_OK && !w.opened && !w.closed) {
        tendon_loop_run(&c->loop, tendon_monotonic_ms() + 10);
    }
    watch(c, &w, &last, 1500);
    for (int i = 2; i < argc && !w.closed; i++) {
        status = tendon_connection_parameters_parse(argv[i], strlen(argv[i]), &wanted, NULL);
        status = status < 0 ? status : tendon_link_set_parameters(&w.link, &wanted);
        printf("asked for %s: %s\n", argv[i], tendon_status_name(status));
        watch(c, &w, &last, 1500);
    }
    bool good = w.opened && !w.closed;
    tendon_link_close(&w.link);
    while (!w.closed) {
        tendon_loop_run(&c->loop, tendon_monotonic_ms() + 10);
    }
    return !good;
}
