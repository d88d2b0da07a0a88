/* SPDX-License-Identifier: MIT */
/*
 * A gateway with eight devices, two of each streaming family, for a long time on a simulated clock: the loop, links,
 * connections and sessions of a program over the sockets of virtual radios. Every fault of simulate/fault.h strikes at
 * random, and devices leave and come back. Each notification that a device sent is in exactly one count: what is
 * unread is looked at whenever nothing is pending, and only a link that ends may leave something, and little. Every
 * device streams again, and neither memory nor descriptors grow. An hour; TENDON_SOAK=1: a week, 10^8 notifications.
 */
#include "../fake_clock.h"
#include "../open_files.h"
#include "soak.h"
#include "test_bytes.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    WEARABLES = 8,
    SECOND = 1000,
    HOUR = 3600 * SECOND,
    PAUSE = SECOND,        /* before a connection is opened again */
    STALLED = 60 * SECOND, /* without a value: the program closes the session, as one with a watchdog would */
    GONE = 180 * SECOND,   /* so long a device stays away */
    LIMIT = 600 * SECOND,  /* without a value, GONE included: never */
    UNREAD = 32            /* PDUs that a link can leave unread: older ones were read by the wake-up before */
};

/* What a device sends on one of its connections: counted before the faults and after them. */
typedef struct lane {
    tendon_fault fault;
    tendon_bearer_filter inner;
    tendon_bearer_io faulted, link;
    uint64_t offered;   /* PDUs that the fault took */
    uint64_t sent;      /* that the link took */
    uint64_t refused;   /* for which the link was closed already */
    uint64_t overtaken; /* delayed until the connection was over */
} lane;

typedef struct wearable {
    soak s;
    lane lanes[TENDON_PERIPHERAL_LINKS];
    uint64_t received, unread;             /* PDUs at the gateway; sent, and not read when the link was closed */
    uint64_t most_unread;                  /* of one link */
    uint64_t notified, unsubscribed, late; /* notifications; without a subscription; PDUs after a time-out of 30 s */
    uint64_t uncounted;                    /* notifications that are an event of the session, and no count of it */
    uint64_t unhandled, after_close;       /* what the library counted of the last two */
    uint64_t values;                       /* that the session had told a second ago */
    uint64_t value_at, told_at, longest, open_at, back_at;
    unsigned opened, closed, stalls, absences;
    bool streams;
} wearable;

static struct {
    tendon_loop loop;
    tendon_virtual_radio gateway, radios[WEARABLES];
    tendon_bonds bonds, their_bonds[WEARABLES];
    wearable wearables[WEARABLES];
    char directory[64];
    dice random;
    bool calm; /* no device leaves */
} place;

/* ---- the device's end ---- */

static tendon_status carry(void *context, const uint8_t *pdu, size_t length) {
    lane *l = context;
    tendon_status status = l->link.send(l->link.context, pdu, length);
    l->sent += status >= 0;
    l->refused += status < 0 && status != TENDON_ERROR_WOULD_BLOCK;
    return status;
}

static tendon_status offer(void *context, const uint8_t *pdu, size_t length) {
    lane *l = context;
    tendon_status status = l->faulted.send(l->faulted.context, pdu, length);
    l->offered += status >= 0;
    return status;
}

static tendon_bearer_io lane_wrap(void *context, tendon_bearer_io link) {
    lane *l = context;
    l->overtaken += l->fault.count;
    l->link = link;
    l->faulted = l->inner.wrap(l->inner.context, (tendon_bearer_io){l, carry});
    return (tendon_bearer_io){l, offer};
}

static void lane_writable(void *context, uint64_t now) {
    lane *l = context;
    l->inner.writable(l->inner.context, now);
}

static void lane_tick(void *context, uint64_t now) {
    lane *l = context;
    l->inner.tick(l->inner.context, now);
}

static uint64_t lane_deadline(const void *context) {
    const lane *l = context;
    return l->inner.deadline(l->inner.context);
}

static bool lane_take_writable(void *context) {
    lane *l = context;
    return l->inner.take_writable(l->inner.context);
}

static bool lane_take_disconnect(void *context) {
    lane *l = context;
    return l->inner.take_disconnect(l->inner.context);
}

/* ---- the gateway's end ---- */

static uint64_t sum_sent(const wearable *w) {
    uint64_t sum = 0;
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        sum += w->lanes[i].sent;
    }
    return sum;
}

/* What is pending: sent, and neither read nor lost with a link. */
static uint64_t pending(const wearable *w) {
    return sum_sent(w) - w->received - w->unread;
}

/* What the connection counted, before the next one counts from zero. A link takes what its socket holds with it. */
static void close_accounts(wearable *w) {
    const tendon_connection *c = &w->s.connection;
    uint64_t lost = pending(w);
    w->unhandled += c->bearer.counters.unhandled_value;
    w->after_close += c->bearer.counters.after_close;
    w->most_unread = lost > w->most_unread ? lost : w->most_unread;
    w->unread += lost;
    w->s.surplus += c->bearer.counters.unexpected_response;
    w->closed++;
}

static bool is_subscribed(const tendon_connection *c, unsigned handle) {
    for (size_t i = 0; i < TENDON_CONNECTION_SUBSCRIPTIONS; i++) {
        if (c->subscriptions[i].value_handle != 0 && c->subscriptions[i].value_handle == handle) {
            return true;
        }
    }
    return false;
}

static void account(wearable *w, const uint8_t *pdu, size_t length) {
    const tendon_connection *c = &w->s.connection;
    bool notification = length >= 3 && (pdu[0] == 0x1B || pdu[0] == 0x1D);
    w->received++;
    bool late = c->bearer.closed || c->client.closed;
    w->late += late;
    if (notification && !late) {
        unsigned handle = pdu[1] | (unsigned)pdu[2] << 8;
        bool subscribed = is_subscribed(c, handle);
        w->notified++;
        w->unsubscribed += !subscribed;
        w->uncounted += subscribed && w->s.family->counts != NULL && !w->s.family->counts(&w->s, handle);
    }
    w->s.reads += length > 0 && pdu[0] == 0x0B && !late;
}

static void tap(void *context, const tendon_link *link, tendon_tap_kind kind, const uint8_t *pdu, size_t length) {
    (void)context;
    for (size_t i = 0; i < WEARABLES; i++) {
        wearable *w = &place.wearables[i];
        if (link != &w->s.connection.link) {
            continue;
        }
        if (kind == TENDON_TAP_RECEIVED) {
            account(w, pdu, length);
        } else if (kind == TENDON_TAP_CLOSED) {
            close_accounts(w);
        }
    }
}

static void on_up(void *context, uint64_t now) {
    (void)now;
    ((wearable *)context)->s.ups++;
}

static void on_end(void *context, tendon_status reason, uint64_t now) {
    wearable *w = context;
    (void)reason;
    w->s.ends++;
    w->open_at = now + PAUSE;
}

/* ---- what a program does, once a second ---- */

static void watch(wearable *w) {
    soak *s = &w->s;
    uint64_t now = fake_clock_ms;
    if (s->values != w->values) {
        w->values = s->values;
        w->longest = now - w->told_at > w->longest ? now - w->told_at : w->longest;
        w->value_at = w->told_at = now;
    }
    if (w->back_at != 0 && now >= w->back_at && tendon_peripheral_count(&s->peripheral) == 0) {
        w->back_at = 0;
        assert_int_equal(tendon_peripheral_open(&s->peripheral, 100), TENDON_OK);
    } else if (w->back_at == 0 && !place.calm && roll(&place.random) >> 32 < UINT32_MAX / (6 * 3600)) {
        w->back_at = now + GONE; /* every sixth hour on average */
        w->absences++;
        tendon_peripheral_close(&s->peripheral);
    }
    if (s->connection.state == TENDON_CONNECTION_IDLE && now >= w->open_at && s->family->is_closed(s)) {
        s->ready = w->streams = false;
        w->opened++;
        assert_int_equal(s->family->open(s, now), TENDON_OK);
    } else if (s->connection.state == TENDON_CONNECTION_UP && now - w->value_at > STALLED) {
        w->stalls++;
        w->value_at = now;
        s->family->close(s, now);
    } else if (s->ready && !w->streams) {
        w->streams = s->family->stream(s, now) >= 0; /* not with a sensor list that was changed on its way */
    }
    tendon_connection_refresh(&s->connection);
    tendon_peripheral_refresh(&s->peripheral);
}

static void pass(uint64_t ms) {
    for (uint64_t end = fake_clock_ms + ms; fake_clock_ms < end;) {
        for (uint64_t second = fake_clock_ms + SECOND; fake_clock_ms < second;) {
            assert_int_equal(tendon_loop_step(&place.loop, second), TENDON_OK);
        }
        for (size_t i = 0; i < WEARABLES; i++) {
            watch(&place.wearables[i]);
        }
    }
}

static bool is_any_pending(void) {
    uint64_t sum = 0;
    for (size_t i = 0; i < WEARABLES; i++) {
        sum += pending(&place.wearables[i]);
    }
    return sum != 0;
}

/* No time passes: what was sent arrives, and the responses to it. Then each PDU was read, or was lost
 * with a link: one that was neither stays pending. */
static void expect_nothing_lost(void) {
    for (int i = 0; i < 2000 && is_any_pending(); i++) {
        assert_int_equal(tendon_loop_step(&place.loop, fake_clock_ms), TENDON_OK);
    }
    assert_false(is_any_pending());
}

/* ---- the place ---- */

static void prepare(size_t i) {
    static const soak_family *const families[] = {&soak_bose, &soak_feelspace, &soak_activ5, &soak_fjorden};
    const tendon_address address = {{(uint8_t)(2 + i), 0, 0, 0, 0, 0xC0}, TENDON_ADDRESS_TYPE_RANDOM};
    wearable *w = &place.wearables[i];
    soak *s = &w->s;
    s->family = families[i % 4];
    s->paced = true;
    tendon_radio *radio = &place.radios[i].radio;
    assert_int_equal(tendon_virtual_radio_open(&place.radios[i], &place.loop, place.directory, &address), TENDON_OK);
    tendon_bonds_init(&place.their_bonds[i]);
    assert_int_equal(tendon_radio_use_bonds(radio, &place.their_bonds[i]), TENDON_OK);
    tendon_connection_init(&s->connection, &place.gateway.radio, &address, tendon_radio_pairing(&place.gateway.radio),
                           &(tendon_connection_callbacks){.context = w, .connected = on_up, .closed = on_end});
    s->family->make(s);
    tendon_peripheral_device device = s->family->make_device(s);
    tendon_bearer_filter filters[TENDON_PERIPHERAL_LINKS];
    for (size_t k = 0; k < TENDON_PERIPHERAL_LINKS; k++) {
        lane *l = &w->lanes[k];
        const tendon_fault_options options = {.seed = (uint32_t)(1 + i * TENDON_PERIPHERAL_LINKS + k)};
        tendon_fault_init(&l->fault, &options);
        l->inner = tendon_fault_filter(&l->fault);
        filters[k] = (tendon_bearer_filter){
            l, lane_wrap, lane_writable, lane_tick, lane_deadline, lane_take_writable, lane_take_disconnect};
    }
    tendon_peripheral_init(&s->peripheral, radio, &device, NULL);
    tendon_peripheral_set_filters(&s->peripheral, filters);
    assert_int_equal(tendon_peripheral_open(&s->peripheral, 100), TENDON_OK);
    w->value_at = fake_clock_ms;
}

static void begin(void) {
    static const tendon_address address = {{1, 0, 0, 0, 0, 0xC0}, TENDON_ADDRESS_TYPE_RANDOM};
    memset(&place, 0, sizeof place);
    place.random = (dice){7};
    place.calm = true;
    strcpy(place.directory, "/tmp/tendon-week-XXXXXX");
    assert_non_null(mkdtemp(place.directory));
    assert_int_equal(tendon_loop_init(&place.loop), TENDON_OK);
    assert_int_equal(tendon_virtual_radio_open(&place.gateway, &place.loop, place.directory, &address), TENDON_OK);
    tendon_bonds_init(&place.bonds);
    assert_int_equal(tendon_radio_use_bonds(&place.gateway.radio, &place.bonds), TENDON_OK);
    place.gateway.radio.tap = tap;
    for (size_t i = 0; i < WEARABLES; i++) {
        prepare(i);
    }
}

/* And whether devices leave. */
static void set_faults(const char *faults) {
    tendon_fault_options options = {0};
    assert_int_equal(tendon_fault_parse(&options, faults, strlen(faults), NULL), TENDON_OK);
    place.calm = true;
    for (size_t kind = 0; kind < TENDON_FAULT_COUNT; kind++) {
        place.calm = place.calm && options.rate_ppm[kind] == 0;
    }
    for (size_t i = 0; i < WEARABLES; i++) {
        for (size_t k = 0; k < TENDON_PERIPHERAL_LINKS; k++) {
            memcpy(place.wearables[i].lanes[k].fault.options.rate_ppm, options.rate_ppm, sizeof options.rate_ppm);
        }
    }
}

static void end(void) {
    for (size_t i = 0; i < WEARABLES; i++) {
        tendon_connection_close(&place.wearables[i].s.connection);
        tendon_connection_refresh(&place.wearables[i].s.connection);
        tendon_peripheral_close(&place.wearables[i].s.peripheral);
    }
    for (int i = 0; i < 100; i++) {
        assert_int_equal(tendon_loop_step(&place.loop, fake_clock_ms + 20), TENDON_OK);
    }
    for (size_t i = 0; i < WEARABLES; i++) {
        assert_int_equal(place.wearables[i].s.connection.state, TENDON_CONNECTION_IDLE);
        tendon_radio_close(&place.radios[i].radio);
    }
    tendon_radio_close(&place.gateway.radio);
    tendon_loop_close(&place.loop);
    assert_int_equal(rmdir(place.directory), 0);
}

static size_t resident_pages(void) {
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu %lu", &size, &resident), 2);
    fclose(file);
    return resident;
}

/* ---- what is asked ---- */

/* Each PDU of the device is in exactly one count. @param all the faults that struck, of all devices so far. */
static void balance(const wearable *w, uint64_t all[TENDON_FAULT_COUNT]) {
    uint64_t struck[TENDON_FAULT_COUNT] = {0}, sent = 0, refused = 0;
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        const lane *l = &w->lanes[i];
        uint64_t taken = l->fault.passed;
        for (size_t kind = 0; kind < TENDON_FAULT_COUNT; kind++) {
            taken += l->fault.struck[kind];
            struck[kind] += l->fault.struck[kind];
        }
        assert_true(l->offered == taken);
        uint64_t gone = l->fault.struck[TENDON_FAULT_DROP] + l->fault.struck[TENDON_FAULT_DISCONNECT];
        assert_true(l->sent + l->refused + l->overtaken + l->fault.count ==
                    taken - gone + l->fault.struck[TENDON_FAULT_DUPLICATE]);
        sent += l->sent;
        refused += l->refused;
    }
    assert_true(sent == w->received + w->unread);
    assert_true(w->most_unread <= UNREAD && w->unread <= (uint64_t)UNREAD * w->closed);
    assert_true(w->unsubscribed == w->unhandled);
    assert_true(w->late == w->after_close);
    assert_true(w->s.family->accounts(&w->s, w->notified - w->unsubscribed - w->uncounted));
    assert_true(w->longest <= LIMIT);
    print_message(
        "%-10s %9llu PDUs, %9llu notifications, %9u values; %4u connections, %3u without values for a minute, "
        "%2u absences; faults",
        w->s.family->name, (unsigned long long)w->received, (unsigned long long)w->notified, w->s.values, w->opened,
        w->stalls, w->absences);
    for (size_t kind = 0; kind < TENDON_FAULT_COUNT; kind++) {
        print_message(" %llu", (unsigned long long)struck[kind]);
        all[kind] += struck[kind];
    }
    print_message("; unread %llu, of one link %llu; uncounted %llu, rejected %llu, refused %llu\n",
                  (unsigned long long)w->unread, (unsigned long long)w->most_unread, (unsigned long long)w->uncounted,
                  (unsigned long long)w->s.rejected, (unsigned long long)refused);
}

static void a_gateway_with_eight_devices_and_every_fault(void **state) {
    (void)state;
    bool week = getenv("TENDON_SOAK") != NULL;
    uint64_t quarters = week ? 7 * 24 * 4 : whole_or_part(4, 2);
    int files = open_descriptors();
    time_t started = time(NULL);
    begin();
    pass(60 * SECOND);
    int descriptors = open_descriptors();
    set_faults(week ? "drop=0.0001,delay=0.0001,duplicate=0.0001,truncate=0.0001,garbage=0.0001,disconnect=0.0001"
                    : "drop=0.002,delay=0.002,duplicate=0.002,truncate=0.002,garbage=0.002,disconnect=0.002");
    pass(HOUR / 4);
    size_t pages = resident_pages();
    for (uint64_t quarter = 1; quarter < quarters; quarter++) {
        pass(HOUR / 4);
        expect_nothing_lost();
    }
    /* Without faults each device comes back, and streams. */
    set_faults("drop=0");
    pass(LIMIT);
    for (size_t i = 0; i < WEARABLES; i++) {
        assert_true(fake_clock_ms - place.wearables[i].value_at < 10 * SECOND);
    }
    expect_nothing_lost();
    unsigned closed[WEARABLES];
    for (size_t i = 0; i < WEARABLES; i++) {
        closed[i] = place.wearables[i].closed;
    }
    pass(60 * SECOND);
    expect_nothing_lost();
    for (size_t i = 0; i < WEARABLES; i++) { /* so no link took anything with it */
        assert_int_equal(place.wearables[i].closed, closed[i]);
    }
    assert_true(resident_pages() <= pages + 1024); /* an emulator's own memory grows a little */
    assert_int_equal(open_descriptors(), descriptors);
    end();
    uint64_t notified = 0, struck[TENDON_FAULT_COUNT] = {0};
    unsigned absences = 0;
    for (size_t i = 0; i < WEARABLES; i++) {
        balance(&place.wearables[i], struck);
        notified += place.wearables[i].notified;
        absences += place.wearables[i].absences;
    }
    for (size_t kind = 0; kind < TENDON_FAULT_COUNT; kind++) {
        assert_true(struck[kind] > 0);
    }
    assert_true(!week || absences > 0);
    print_message("# %llu notifications in %.1f simulated hours, %ld s\n", (unsigned long long)notified,
                  (double)quarters / 4, (long)(time(NULL) - started));
    assert_true(notified >= (week ? 100000000u : 125000u * quarters));
    assert_int_equal(open_descriptors(), files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gateway_with_eight_devices_and_every_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
