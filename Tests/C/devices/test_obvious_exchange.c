/* SPDX-License-Identifier: MIT */
/*
 * Obvious: requests and events between a session and a device, over a radio that loses, duplicates and reorders
 * segments, under simulated time and with several MTUs. Every request ends once, with the response to itself or with
 * the status of the specification, and is executed at most once per request id. TENDON_SOAK=1: 10,000 runs.
 */
#include "obvious_fixture.h"

enum { REQUESTS = 5 };

static struct {
    unsigned started, ended, good, timeouts, lost, events;
    size_t length;
    bool in_progress;
    uint8_t echo[TENDON_OBVIOUS_PING_MAX];
    dice random;
} run_of;

static void on_session_event(obvious_fixture *f, const tendon_obvious_session_event *event) {
    (void)f;
    run_of.events += event->kind == TENDON_OBVIOUS_SESSION_EVENT_DEVICE;
}

static void on_response(void *context, const tendon_obvious_response *response, uint64_t now) {
    (void)context, (void)now;
    assert_true(run_of.in_progress);
    run_of.in_progress = false;
    run_of.ended++;
    if (response->status == TENDON_OK) {
        assert_int_equal(response->payload->echo.length, run_of.length);
        assert_memory_equal(response->payload->echo.data, run_of.echo, run_of.length);
        run_of.good++;
    } else if (response->status == TENDON_ERROR_TIMEOUT) {
        run_of.timeouts++;
    } else {
        assert_int_equal(response->status, TENDON_OBVIOUS_ERROR_LINK_ERROR);
        run_of.lost++;
    }
}

static void start_request(obvious_fixture *f) {
    run_of.length = (size_t)(roll(&run_of.random) >> 8) % (TENDON_OBVIOUS_PING_MAX + 1);
    for (size_t i = 0; i < run_of.length; i++) {
        run_of.echo[i] = (uint8_t)(roll(&run_of.random) >> 16);
    }
    const tendon_obvious_payload payload = {.echo = {run_of.echo, run_of.length}};
    run_of.in_progress = true;
    run_of.started++;
    assert_int_equal(
        tendon_obvious_session_request(&f->session, TENDON_OBVIOUS_PING, &payload, on_response, NULL, f->now),
        TENDON_OK);
}

/* Events of 64 features take several segments at a small MTU. */
static void send_event(obvious_fixture *f) {
    uint8_t list[1 + 64 * 4] = {64};
    for (size_t i = 0; i < 64; i++) {
        list[1 + i * 4] = (uint8_t)(i + 1);
        list[3 + i * 4] = 1;
    }
    if (f->device.bearer != NULL && f->device.queued < 2) {
        fixture_event(f, TENDON_OBVIOUS_EVT_FEATURE_CHANGED, list, sizeof list);
    }
}

static void run(unsigned seed) {
    obvious_fixture *f = seed % 2 == 0 ? fixture_new() : fixture_new_with(512, 1 + seed % 32);
    memset(&run_of, 0, sizeof run_of);
    run_of.random.state = 0x9E3779B97F4A7C15u * (seed + 1u);
    f->quiet = true;
    f->on_session_event = on_session_event;
    fixture_open(f);
    if (seed % 3 != 0) { /* a change applies to the next message */
        f->air.ours.mtu = f->air.theirs.mtu = (uint16_t)(23 + roll(&run_of.random) % 225);
    }
    f->device.random.state = run_of.random.state ^ seed;
    f->device.loss = (unsigned)(roll(&run_of.random) >> 7) % 41;
    f->device.duplication = (unsigned)(roll(&run_of.random) >> 7) % 30;
    f->device.reordering = (unsigned)(roll(&run_of.random) >> 7) % 40;
    unsigned before = f->device.times[TENDON_OBVIOUS_PING], attempts = 0;
    while (run_of.ended < REQUESTS) {
        assert_true(++attempts < 4000);                        /* 1 s each */
        if (f->session.state == TENDON_OBVIOUS_SESSION_IDLE) { /* after LINK_ERROR */
            f->device.loss = 0;
            fixture_open(f);
        } else if (f->session.state == TENDON_OBVIOUS_SESSION_OPEN && !run_of.in_progress) {
            start_request(f);
        }
        if (seed % 3 != 0 && attempts % 7 == 0) {
            uint16_t larger = (uint16_t)(f->air.ours.mtu + roll(&run_of.random) % 20);
            f->air.ours.mtu = f->air.theirs.mtu = larger < TENDON_MEMORY_RADIO_MTU ? larger : TENDON_MEMORY_RADIO_MTU;
        }
        if (attempts % 4 == 0) {
            send_event(f);
        }
        fixture_run(f, 1000);
    }
    assert_int_equal(run_of.started, run_of.ended);
    assert_true(f->device.times[TENDON_OBVIOUS_PING] - before <= run_of.started);
    assert_true(f->device.times[TENDON_OBVIOUS_PING] - before >= run_of.good);
    /* late responses to repeats, messages that took too long: far from the limit that disconnects */
    assert_true(f->session.counters.errors <= 8 * run_of.started + run_of.events);
    fixture_free(f);
}

static void every_request_ends_once(void **state) {
    (void)state;
    unsigned runs = getenv("TENDON_SOAK") != NULL ? 10000 : 200;
    unsigned good = 0, timeouts = 0, lost = 0, events = 0;
    for (unsigned seed = 0; seed < runs; seed++) {
        run(seed);
        good += run_of.good;
        timeouts += run_of.timeouts;
        lost += run_of.lost;
        events += run_of.events;
    }
    printf("# %u runs: %u requests answered, %u timeouts, %u LINK_ERROR; %u events\n", runs, good, timeouts, lost,
           events);
    assert_true(good > runs * REQUESTS / 100 * 90 && events > runs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_ends_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
