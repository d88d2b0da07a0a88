/* SPDX-License-Identifier: MIT */
#include "soak.h"
#include "../open_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nothing takes so long, on no machine: a cycle that hangs fails. */
#define LIMIT_MS 20000u

size_t soak_open_files(void) {
    return (size_t)open_descriptors();
}

static size_t count_sources(const tendon_loop *loop) {
    size_t count = 0;
    for (const tendon_source *source = loop->sources; source != NULL; source = source->next) {
        count++;
    }
    return count;
}

/* ---- the device's end: what it sends is counted ---- */

static tendon_status gate_send(void *context, const uint8_t *pdu, size_t length) {
    soak *s = context;
    bool device_cuts = s->cut == SOAK_LOST || s->cut == SOAK_HUNG_UP;
    if (device_cuts && s->struck) {
        return TENDON_OK; /* into nowhere */
    }
    if (device_cuts && s->passed == s->at) {
        s->struck = s->hang_up = true;
        return s->cut == SOAK_LOST ? TENDON_OK : s->device_link.send(s->device_link.context, pdu, length);
    }
    tendon_status status = s->device_link.send(s->device_link.context, pdu, length);
    s->passed += device_cuts && status >= 0;
    return status;
}

static tendon_bearer_io gate_wrap(void *context, tendon_bearer_io link) {
    soak *s = context;
    s->device_link = link;
    return (tendon_bearer_io){.context = s, .send = gate_send};
}

static void gate_writable(void *context, uint64_t now) {
    (void)now;
    ((soak *)context)->writable = true;
}

static void gate_tick(void *context, uint64_t now) {
    (void)context;
    (void)now;
}

static uint64_t gate_deadline(const void *context) {
    const soak *s = context;
    return s->writable || s->hang_up ? 0 : UINT64_MAX;
}

static bool gate_take_writable(void *context) {
    soak *s = context;
    bool writable = s->writable;
    s->writable = false;
    return writable;
}

static bool gate_take_disconnect(void *context) {
    soak *s = context;
    bool hang_up = s->hang_up;
    s->hang_up = false;
    return hang_up;
}

/* ---- our end: what passes over the link is counted ---- */

static void tap(void *context, const tendon_link *link, tendon_tap_kind kind, const uint8_t *pdu, size_t length) {
    soak *s = context;
    (void)link;
    (void)pdu;
    (void)length;
    bool we_cut = s->cut == SOAK_CLOSED || s->cut == SOAK_DROPPED;
    if (we_cut && (kind == TENDON_TAP_OPENED || kind == TENDON_TAP_RECEIVED || kind == TENDON_TAP_SENT)) {
        s->struck = s->struck || s->passed == s->at;
        s->passed++;
    }
}

static void on_up(void *context, uint64_t now) {
    (void)now;
    ((soak *)context)->ups++;
}

static void on_end(void *context, tendon_status reason, uint64_t now) {
    (void)reason;
    (void)now;
    ((soak *)context)->ends++;
}

/* ---- both ---- */

soak *soak_open(const soak_family *family) {
    static const tendon_address our_address = {{1, 0, 0, 0, 0, 0xC0}, TENDON_ADDRESS_TYPE_RANDOM};
    static const tendon_address their_address = {{2, 0, 0, 0, 0, 0xC0}, TENDON_ADDRESS_TYPE_RANDOM};
    soak *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->family = family;
    strcpy(s->directory, "/tmp/tendon-soak-XXXXXX");
    assert_non_null(mkdtemp(s->directory));
    assert_int_equal(tendon_loop_init(&s->loop), TENDON_OK);
    assert_int_equal(tendon_virtual_radio_open(&s->ours, &s->loop, s->directory, &our_address), TENDON_OK);
    assert_int_equal(tendon_virtual_radio_open(&s->theirs, &s->loop, s->directory, &their_address), TENDON_OK);
    tendon_bonds_init(&s->our_bonds);
    tendon_bonds_init(&s->their_bonds);
    assert_int_equal(tendon_radio_use_bonds(&s->ours.radio, &s->our_bonds), TENDON_OK);
    assert_int_equal(tendon_radio_use_bonds(&s->theirs.radio, &s->their_bonds), TENDON_OK);
    s->ours.radio.tap = tap;
    s->ours.radio.tap_context = s;
    tendon_connection_init(&s->connection, &s->ours.radio, &their_address, tendon_radio_pairing(&s->ours.radio),
                           &(tendon_connection_callbacks){.context = s, .connected = on_up, .closed = on_end});
    family->make(s);
    tendon_peripheral_device device = family->make_device(s);
    tendon_bearer_filter filters[TENDON_PERIPHERAL_LINKS];
    for (size_t i = 0; i < TENDON_PERIPHERAL_LINKS; i++) {
        filters[i] = (tendon_bearer_filter){
            s, gate_wrap, gate_writable, gate_tick, gate_deadline, gate_take_writable, gate_take_disconnect};
    }
    tendon_peripheral_init(&s->peripheral, &s->theirs.radio, &device, NULL);
    tendon_peripheral_set_filters(&s->peripheral, filters);
    assert_int_equal(tendon_peripheral_open(&s->peripheral, 10000), TENDON_OK);
    s->files = soak_open_files();
    s->sources = count_sources(&s->loop);
    return s;
}

void soak_close(soak *s) {
    tendon_peripheral_close(&s->peripheral);
    tendon_radio_close(&s->ours.radio);
    tendon_radio_close(&s->theirs.radio);
    assert_null(s->loop.sources == &s->loop.wake ? s->loop.sources->next : s->loop.sources);
    tendon_loop_close(&s->loop);
    assert_int_equal(rmdir(s->directory), 0);
    free(s);
}

tendon_session_link soak_link(soak *s) {
    return tendon_connection_session_link(&s->connection);
}

void soak_attach(soak *s, void *session) {
    s->attached = session;
    tendon_connection_attach(&s->connection, s->family->inputs, session);
}

static void step(soak *s) {
    tendon_connection_refresh(&s->connection);
    tendon_peripheral_refresh(&s->peripheral);
    assert_int_equal(tendon_loop_step(&s->loop, tendon_monotonic_ms() + 20), TENDON_OK);
}

static bool at_rest(soak *s) {
    return s->connection.state == TENDON_CONNECTION_IDLE && tendon_peripheral_count(&s->peripheral) == 0 &&
           s->family->is_closed(s);
}

/* Nothing is left: no link, no place in a table, no timer, no descriptor. */
static void expect_nothing_left(soak *s) {
    const tendon_connection *c = &s->connection;
    assert_int_equal(s->ends, 1);
    assert_true(s->ups <= 1);
    assert_false(c->timer.added);
    assert_false(c->link.source.added);
    assert_null(s->ours.radio.links);
    assert_null(s->theirs.radio.links);
    assert_false(s->ours.radio.pairing_timer.added);
    assert_int_equal(s->ours.radio.scan_pauses, 0);
    assert_int_equal(c->client.in_flight, 0);
    assert_int_equal(c->client.queued, 0);
    for (size_t i = 0; i < TENDON_CONNECTION_REQUESTS; i++) {
        assert_int_equal(c->requests[i].id, 0);
    }
    for (size_t i = 0; i < TENDON_CONNECTION_SUBSCRIPTIONS; i++) {
        assert_int_equal(c->subscriptions[i].value_handle, 0);
    }
    assert_int_equal(s->family->centrals(s)->count, 0);
    assert_true(s->family->inputs->deadline(s->attached) == UINT64_MAX);
    assert_int_equal(count_sources(&s->loop), s->sources);
    assert_int_equal(soak_open_files(), s->files);
}

void soak_cycle(soak *s, soak_cut cut, unsigned at) {
    uint64_t limit = tendon_monotonic_ms() + LIMIT_MS;
    s->cut = cut;
    s->at = at;
    s->passed = s->ups = s->ends = s->values = 0;
    s->struck = s->hang_up = s->writable = s->ready = false;
    (void)s->family->make_device(s);
    if (s->cycles % 2 == 0) { /* every second one pairs again */
        (void)tendon_radio_forget(&s->ours.radio, &s->connection.peer);
        (void)tendon_radio_forget_all(&s->theirs.radio);
        if (s->family->forget != NULL) {
            s->family->forget(s, tendon_monotonic_ms());
        }
    }
    assert_int_equal(s->family->open(s, tendon_monotonic_ms()), TENDON_OK);
    bool streams = false, closes = false;
    while (!at_rest(s)) {
        if (tendon_monotonic_ms() > limit) {
            fail_msg("%s: cut %d at PDU %u: not at rest (connection %d, %zu links of the device, ready %d, %u values)",
                     s->family->name, (int)cut, at, (int)s->connection.state, tendon_peripheral_count(&s->peripheral),
                     s->ready, s->values);
        }
        step(s);
        if (s->ready && !streams && !s->struck && !closes) {
            streams = true;
            assert_int_equal(s->family->stream(s, tendon_monotonic_ms()), TENDON_OK);
        }
        bool whole = s->values >= SOAK_VALUES;
        if (closes || s->connection.state == TENDON_CONNECTION_IDLE || !(whole || (s->struck && cut >= SOAK_CLOSED))) {
            continue;
        }
        closes = true;
        s->completed += whole;
        s->longest = whole && s->passed > s->longest ? s->passed : s->longest;
        if (cut == SOAK_DROPPED) {
            tendon_connection_close(&s->connection);
        } else {
            s->family->close(s, tendon_monotonic_ms());
        }
    }
    expect_nothing_left(s);
    s->cycles++;
}
