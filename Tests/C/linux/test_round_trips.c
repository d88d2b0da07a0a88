/* SPDX-License-Identifier: MIT */
/*
 * Requests from the connection to the first sample, of each family, under simulated time: without a cache, with an
 * empty one, and with one that an earlier connection filled. An ATT client has one request outstanding, so each is a
 * round trip.
 */
#include "soak.h"

#include <stdio.h>
#include <string.h>

static const tendon_address address = {{0xC0, 0, 0, 0, 0, 1}, TENDON_ADDRESS_TYPE_RANDOM};

static struct bench {
    soak s;
    tendon_memory_radio radio;
    tendon_memory_radio_device device;
    tendon_gatt_cache cache;
    uint64_t now;
} b;

/* The families' sessions on a radio in memory: these are called by soak_families.c. */
tendon_session_link soak_link(soak *s) {
    (void)s;
    return tendon_memory_radio_link(&b.radio);
}

void soak_attach(soak *s, void *session) {
    s->attached = session;
    tendon_memory_radio_attach(&b.radio, s->family->inputs, session);
}

static tendon_gatt_server *server_of(soak *s) {
    return s->family == &soak_bose        ? &s->device.bose.server
           : s->family == &soak_feelspace ? &s->device.feelspace.server
           : s->family == &soak_fjorden   ? &s->device.fjorden.server
           : s->family == &soak_obvious   ? &s->device.obvious.server
                                          : &s->device.activ5.server;
}

static uint32_t requests(soak *s) {
    const tendon_simulated_centrals *centrals = s->family->centrals(s);
    assert_int_equal(centrals->count, 1);
    for (size_t i = 0; i < TENDON_SIMULATED_CENTRALS; i++) {
        if (centrals->places[i].used) {
            return centrals->places[i].connection.counters.requests;
        }
    }
    return 0;
}

static void make(const soak_family *family, bool has_hash) {
    memset(&b, 0, sizeof b);
    b.now = 1000;
    b.s.family = family;
    b.s.paced = true;
    b.s.connection.peer = address;
    b.device = (tendon_memory_radio_device){.device = family->make_device(&b.s), .address = address, .present = true};
    if (has_hash) {
        assert_true(tendon_gatt_add_generic_attribute(server_of(&b.s)) > 0);
    }
    tendon_memory_radio_init(&b.radio, &b.device, 1);
    tendon_memory_radio_set_target(&b.radio, &address);
    family->make(&b.s);
}

static void step(void) {
    uint64_t next = tendon_memory_radio_deadline(&b.radio);
    b.now = next == UINT64_MAX || next > b.now + 50 ? b.now + 50 : next > b.now ? next : b.now + 1;
    tendon_memory_radio_tick(&b.radio, b.now);
}

/* One connection. @return its requests up to the first sample. */
static uint32_t first_sample(void) {
    bool streams = false;
    uint32_t count = 0;
    b.s.ready = false;
    b.s.values = 0;
    assert_true(b.s.family->open(&b.s, b.now) >= 0);
    for (int i = 0; i < 20000 && b.s.values == 0; i++) {
        step();
        if (b.s.ready && !streams) {
            streams = true;
            assert_true(b.s.family->stream(&b.s, b.now) >= 0);
        }
    }
    assert_true(b.s.values > 0);
    count = requests(&b.s);
    for (int i = 0; i < 20; i++) { /* what waited until nothing else was to be sent */
        step();
    }
    b.s.family->close(&b.s, b.now);
    for (int i = 0; i < 20000 && b.radio.peer != NULL; i++) {
        step();
    }
    assert_true(b.s.family->is_closed(&b.s));
    return count;
}

static const struct expectation {
    const soak_family *family;
    uint32_t plain;   /* the device has no Database Hash */
    uint32_t without; /* it has one, and the connection no cache; the second connection: some settings are kept */
    uint32_t filling, cached;
} expectations[] = {
    {&soak_bose, 36, 36, 40, 25},          {&soak_feelspace, 31, 32, 36, 14}, {&soak_activ5, 20, 20, 24, 9},
    {&soak_activ5_legacy, 13, 14, 18, 10}, {&soak_fjorden, 20, 20, 24, 7},    {&soak_obvious, 9, 10, 15, 5},
};

static void requests_to_the_first_sample(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof expectations[0]; i++) {
        const struct expectation *e = &expectations[i];
        make(e->family, false);
        uint32_t plain = first_sample();
        make(e->family, true);
        (void)first_sample();
        uint32_t without = first_sample();
        make(e->family, true);
        tendon_gatt_cache_init(&b.cache, &address, NULL);
        b.radio.cache = &b.cache;
        uint32_t filling = first_sample(), cached = first_sample();
        assert_int_equal(b.cache.counters.hits, 1);
        print_message("# {\"bench\":\"round_trips\",\"name\":\"%s\",\"plain\":%u,\"without\":%u,\"filling\":%u,"
                      "\"cached\":%u}\n",
                      e->family->name, plain, without, filling, cached);
        assert_int_equal(plain, e->plain);
        assert_int_equal(without, e->without);
        assert_int_equal(filling, e->filling);
        assert_int_equal(cached, e->cached);
    }
}

/* The device indicates Service Changed while it streams: the next connection discovers again. */
static void service_changed_is_enabled_and_drops_the_cache(void **state) {
    (void)state;
    make(&soak_fjorden, true);
    tendon_gatt_cache_init(&b.cache, &address, NULL);
    b.radio.cache = &b.cache;
    assert_int_equal(first_sample(), 24);
    b.s.ready = false;
    b.s.values = 0;
    assert_true(b.s.family->open(&b.s, b.now) >= 0);
    for (int i = 0; i < 20000 && b.s.values == 0; i++) {
        step();
    }
    for (int i = 0; i < 20; i++) {
        step();
    }
    tendon_gatt_connection *connection = &b.s.family->centrals(&b.s)->places[0].connection;
    assert_int_equal(tendon_gatt_indicate_service_changed(connection, 1, 0xFFFF, b.now), TENDON_OK);
    step();
    step();
    assert_int_equal(b.cache.state, TENDON_GATT_CACHE_STALE);
    assert_int_equal(b.cache.counters.drops, 1);
    b.s.family->close(&b.s, b.now);
    for (int i = 0; i < 20000 && b.radio.peer != NULL; i++) {
        step();
    }
    assert_int_equal(first_sample(), 24);
    assert_int_equal(first_sample(), 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_to_the_first_sample),
        cmocka_unit_test(service_changed_is_enabled_and_drops_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
