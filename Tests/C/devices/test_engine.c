/* SPDX-License-Identifier: MIT */
/* The engine of a session: PDUs on the page, a scripted peer, a family that writes down what it is told. */
#include "../host/gatt_client_peer.h"
#include "tendon/devices/engine.h"

enum { VALUE = 0, MISSING = 1, ROWS = 2 };
enum { WRITE = 1, READ, NOTHING, LIMIT = 1000, OPENING = 5000 };

typedef struct session {
    tendon_engine engine;
    tendon_session_link link;
    tendon_profile_found found[ROWS];
    uint8_t buffer[8];
    uint64_t illegal;
    peer *p;
    char words[400];
    uint8_t jobs[8]; /* what next() starts */
    unsigned started, queued;
    tendon_status pairing; /* what the link answers */
    tendon_status verdict; /* of judged_verb, in place of the default */
    tendon_engine_verb judged_verb;
    uint8_t within; /* a job that took() queues */
    bool closes;    /* within the first function of the family that runs */
} session;

static void say(session *s, const char *format, ...) {
    size_t used = strlen(s->words);
    va_list values;
    va_start(values, format);
    (void)vsnprintf(s->words + used, sizeof s->words - used, format, values);
    va_end(values);
}

static void expect(session *s, const char *words) {
    assert_string_equal(s->words, words);
    s->words[0] = 0;
}

/* ---- the link and the family ---- */

static tendon_status link_connect(void *context) {
    say(context, "connect ");
    return ((session *)context)->pairing == TENDON_ERROR_BUSY ? TENDON_ERROR_BUSY : TENDON_OK;
}

static void link_disconnect(void *context) {
    say(context, "disconnect ");
}

static tendon_status link_pair(void *context) {
    say(context, "pair ");
    return ((session *)context)->pairing;
}

static uint8_t row_of(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    assert_ptr_equal(((session *)context)->engine.op.context, context);
    *service = tendon_uuid_from_u16(0x5000);
    *characteristic = tendon_uuid_from_u16(row == VALUE ? 0x5A01 : 0x5A02);
    return row == VALUE ? TENDON_PROFILE_REQUIRED | TENDON_PROFILE_CCCD : 0;
}

static void queue(session *s, uint8_t job) {
    s->jobs[s->queued++] = job;
    tendon_engine_run(&s->engine);
}

static void took(void *self, size_t row, const uint8_t *value, size_t length) {
    session *s = self;
    say(s, "took:%zu:%zu:%02x ", row, length, value[0]);
    if (s->within != 0) {
        queue(s, s->within);
        say(s, "queued ");
    }
}

static tendon_status judge(void *self, tendon_engine_verb verb, tendon_status status) {
    session *s = self;
    say(s, "judge:%d:%s ", (int)verb, tendon_status_name(status));
    if (s->closes) {
        s->closes = false;
        tendon_engine_close(&s->engine, TENDON_OK);
    }
    return s->verdict != 0 && verb == s->judged_verb ? s->verdict : status;
}

static bool next(void *self) {
    static const uint8_t bytes[] = {0xAA};
    session *s = self;
    if (s->started == s->queued) {
        return false;
    }
    uint8_t job = s->jobs[s->started++];
    if (job == WRITE) {
        tendon_engine_write(&s->engine, job, VALUE, bytes, sizeof bytes);
    } else if (job == READ) {
        tendon_engine_read(&s->engine, job, VALUE);
    } else {
        tendon_engine_read(&s->engine, job, MISSING);
    }
    return true;
}

static void done(void *self, uint8_t job, const tendon_gatt_result *result) {
    say(self, "done:%u:%s ", job, tendon_status_name(result->status));
}

static void changed(void *self, tendon_engine_state state, tendon_status why) {
    static const char *const names[] = {"away", "asked", "opening", "open", "closing"};
    session *s = self;
    say(s, "%s:%s ", names[state], tendon_status_name(why));
    assert_int_equal(s->engine.state, state);
}

static const tendon_engine_step opening[] = {
    {TENDON_STEP_MTU, 0, TENDON_STEP_LIMITED},
    {TENDON_STEP_DISCOVER, 0, 0},
    {TENDON_STEP_PAIR, 0, 0},
    {TENDON_STEP_READ, VALUE, 0},
    {TENDON_STEP_SUBSCRIBE, VALUE, 0},
    {TENDON_STEP_WRITE, 0, 0},
    {TENDON_STEP_OPEN, 0, 0},
};

#define FAMILY                                                                                                         \
    .rules = {TENDON_ENGINE_RULES, LIMIT, 8}, .opening_ms = OPENING, .opening = opening,                               \
    .steps = sizeof opening / sizeof opening[0], .row_of = row_of, .took = took, .next = next, .done = done,           \
    .changed = changed

static const tendon_engine_family judging = {FAMILY, .judge = judge}, plain = {FAMILY};

static session *begin(const tendon_engine_family *family) {
    session *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->p = peer_open();
    s->link =
        (tendon_session_link){.context = s, .connect = link_connect, .disconnect = link_disconnect, .pair = link_pair};
    tendon_engine_init(&s->engine, family, &s->link, s->found, ROWS, s->buffer, &s->illegal);
    s->engine.op.now = s->p->now;
    return s;
}

static void end(session *s) {
    peer_close(s->p);
    free(s);
}

static void connect_it(session *s) {
    assert_int_equal(tendon_engine_connect(&s->engine), TENDON_OK);
    tendon_engine_on_connected(s, &s->p->client, s->p->now);
}

/* Service 5000 from 1 to 5: 5A01 at 3 (read, write, notify), its CCCD at 4. */
static void discover(session *s) {
    peer_exchange(s->p, "02 4000", "03 1700");
    peer_exchange(s->p, "10 0100 FFFF 0028", "11 06 0100 0500 0050");
    peer_exchange(s->p, "10 0600 FFFF 0028", "01 10 0600 0A");
    peer_exchange(s->p, "08 0100 0500 0328", "09 07 0200 1A 0300 015A");
    peer_exchange(s->p, "08 0300 0500 0328", "01 08 0300 0A");
    peer_exchange(s->p, "04 0400 0500", "05 01 0400 0229 0500 0129");
}

/* Until it is open. What was said is forgotten. */
static void open_it(session *s) {
    connect_it(s);
    discover(s);
    tendon_engine_on_paired(s, TENDON_OK, s->p->now);
    peer_exchange(s->p, "0A 0300", "0B 41");
    peer_exchange(s->p, "12 0400 0100", "13");
    assert_int_equal(s->engine.state, TENDON_ENGINE_OPEN);
    s->words[0] = 0;
}

/* ---- the opening ---- */

static void the_steps_follow_each_other(void **state) {
    (void)state;
    session *s = begin(&plain);
    s->jobs[s->queued++] = WRITE;
    connect_it(s);
    expect(s, "connect opening:OK ");
    discover(s);
    expect(s, "pair ");
    peer_quiet(s->p);
    tendon_engine_on_paired(s, TENDON_OK, s->p->now);
    peer_exchange(s->p, "0A 0300", "0B 41");
    expect(s, "took:0:1:41 ");
    peer_exchange(s->p, "12 0400 0100", "13");
    expect(s, "");
    peer_exchange(s->p, "12 0300 AA", "13"); /* of the WRITE step: before OPEN */
    expect(s, "done:1:OK open:OK ");
    assert_int_equal(tendon_engine_deadline(s), UINT64_MAX);
    peer_exchange(s->p, NULL, "1B 0300 42");
    expect(s, "took:0:1:42 ");
    tendon_engine_on_disconnected(s, TENDON_RADIO_ERROR_PEER_CLOSED, s->p->now);
    expect(s, "away:RADIO_ERROR_PEER_CLOSED ");
    assert_false(s->engine.asked);
    assert_int_equal(s->illegal, 0);
    end(s);
}

/* A device may reject the exchange; it is another matter if it does not answer. */
static void only_a_timeout_of_the_mtu_is_a_failure(void **state) {
    (void)state;
    session *s = begin(&plain);
    connect_it(s);
    peer_exchange(s->p, "02 4000", "01 02 0000 06");
    peer_expect(s->p, "10 0100 FFFF 0028");
    end(s);
    s = begin(&plain);
    connect_it(s);
    peer_expect(s->p, "02 4000");
    expect(s, "connect opening:OK ");
    tendon_att_bearer_tick(&s->p->bearer, s->p->now + LIMIT);
    expect(s, "disconnect ");
    tendon_engine_on_disconnected(s, TENDON_ERROR_CANCELLED, s->p->now);
    expect(s, "away:ERROR_TIMEOUT ");
    assert_true(s->engine.asked);
    end(s);
}

static void a_step_that_fails_ends_the_connection(void **state) {
    (void)state;
    session *s = begin(&plain);
    connect_it(s);
    discover(s);
    tendon_engine_on_paired(s, TENDON_OK, s->p->now);
    s->words[0] = 0;
    peer_exchange(s->p, "0A 0300", "01 0A 0300 02");
    expect(s, "disconnect ");
    tendon_engine_on_disconnected(s, TENDON_ERROR_CANCELLED, s->p->now);
    expect(s, "away:ATT_READ_NOT_PERMITTED ");
    end(s);
    s = begin(&judging); /* a pairing that cannot start */
    s->pairing = TENDON_RADIO_ERROR_ADAPTER_BUSY;
    connect_it(s);
    s->words[0] = 0;
    discover(s);
    expect(s, "judge:0:OK judge:1:OK pair judge:2:RADIO_ERROR_ADAPTER_BUSY disconnect ");
    end(s);
}

static void the_opening_has_its_limit(void **state) {
    (void)state;
    session *s = begin(&plain);
    connect_it(s);
    uint64_t due = s->p->now + OPENING;
    assert_int_equal(tendon_engine_deadline(s), due);
    peer_exchange(s->p, "02 4000", "03 1700");
    peer_expect(s->p, "10 0100 FFFF 0028");
    tendon_engine_on_tick(s, due - 1);
    expect(s, "connect opening:OK ");
    tendon_engine_on_tick(s, due);
    expect(s, "disconnect ");
    peer_exchange(s->p, NULL, "11 06 0100 0500 0050"); /* the discovery was cancelled: nothing follows */
    peer_quiet(s->p);
    tendon_engine_on_disconnected(s, TENDON_ERROR_CANCELLED, due);
    expect(s, "away:ERROR_TIMEOUT ");
    end(s);
}

/* A user may have to confirm it: the connection has the limit of pairing then. */
static void the_limit_rests_while_it_pairs(void **state) {
    (void)state;
    session *s = begin(&plain);
    connect_it(s);
    uint64_t due = s->p->now + OPENING;
    discover(s);
    uint64_t since = s->engine.op.now;
    assert_int_equal(tendon_engine_deadline(s), UINT64_MAX);
    tendon_engine_on_tick(s, since + 9000);
    tendon_engine_on_paired(s, TENDON_OK, since + 9000);
    assert_int_equal(tendon_engine_deadline(s), due + 9000);
    peer_expect(s->p, "0A 0300");
    expect(s, "connect opening:OK pair ");
    tendon_engine_on_tick(s, due + 9000);
    expect(s, "disconnect ");
    end(s);
}

/* ---- verdicts ---- */

static void steps_are_skipped(void **state) {
    (void)state;
    session *s = begin(&judging);
    s->judged_verb = TENDON_STEP_DISCOVER;
    s->verdict = 2; /* PAIR and READ */
    connect_it(s);
    discover(s);
    peer_exchange(s->p, "12 0400 0100", "13");
    expect(s, "connect opening:OK judge:0:OK judge:1:OK judge:4:OK open:OK ");
    end(s);
}

static void a_step_is_done_again_once_paired(void **state) {
    (void)state;
    for (int refused = 0; refused < 2; refused++) {
        session *s = begin(&judging);
        connect_it(s);
        discover(s);
        tendon_engine_on_paired(s, TENDON_OK, s->p->now);
        s->words[0] = 0;
        s->judged_verb = TENDON_STEP_READ;
        s->verdict = TENDON_ENGINE_PAIR;
        peer_exchange(s->p, "0A 0300", "01 0A 0300 05");
        expect(s, "judge:3:ATT_INSUFFICIENT_AUTHENTICATION pair ");
        peer_quiet(s->p);
        s->verdict = 0;
        tendon_engine_on_paired(s, refused != 0 ? TENDON_RADIO_ERROR_PAIRING_FAILED : TENDON_OK, s->p->now);
        if (refused != 0) {
            expect(s, "judge:2:RADIO_ERROR_PAIRING_FAILED disconnect ");
        } else {
            peer_exchange(s->p, "0A 0300", "0B 41");
            expect(s, "judge:2:OK took:0:1:41 judge:3:OK ");
            peer_expect(s->p, "12 0400 0100");
        }
        end(s);
    }
}

static void a_pairing_without_a_result_is_waited_for(void **state) {
    (void)state;
    session *s = begin(&judging);
    connect_it(s);
    discover(s);
    s->words[0] = 0;
    s->judged_verb = TENDON_STEP_PAIR;
    s->verdict = TENDON_ENGINE_WAIT;
    tendon_engine_on_paired(s, TENDON_ERROR_DISCONNECTED, s->p->now);
    expect(s, "judge:2:ERROR_DISCONNECTED ");
    peer_quiet(s->p);
    s->verdict = 0;
    tendon_engine_on_paired(s, TENDON_OK, s->p->now);
    peer_expect(s->p, "0A 0300");
    end(s);
}

static void a_verdict_may_close(void **state) {
    (void)state;
    session *s = begin(&judging);
    s->closes = true;
    connect_it(s);
    peer_exchange(s->p, "02 4000", "03 1700");
    expect(s, "connect opening:OK judge:0:OK disconnect ");
    peer_quiet(s->p);
    end(s);
}

/* ---- operations ---- */

static void one_operation_at_a_time(void **state) {
    (void)state;
    session *s = begin(&plain);
    open_it(s);
    queue(s, WRITE);
    queue(s, READ);
    peer_expect(s->p, "12 0300 AA");
    peer_quiet(s->p);
    peer_send(s->p, "13");
    peer_exchange(s->p, "0A 0300", "0B 43");
    expect(s, "done:1:OK done:2:OK ");
    end(s);
}

/* Neither the operation that is asked for within a function of the family, nor the end of one that the client refuses
 * at once, comes before that function has returned. */
static void functions_do_not_nest(void **state) {
    (void)state;
    session *s = begin(&plain);
    open_it(s);
    s->within = NOTHING;
    peer_exchange(s->p, NULL, "1B 0300 42");
    expect(s, "took:0:1:42 queued done:3:ERROR_INVALID_ARGUMENT ");
    s->within = WRITE;
    peer_exchange(s->p, NULL, "1B 0300 42");
    expect(s, "took:0:1:42 queued ");
    peer_exchange(s->p, "12 0300 AA", "13");
    expect(s, "done:1:OK ");
    end(s);
}

static void nothing_is_started_while_closing(void **state) {
    (void)state;
    session *s = begin(&plain);
    open_it(s);
    queue(s, WRITE);
    queue(s, READ);
    peer_expect(s->p, "12 0300 AA");
    tendon_engine_close(&s->engine, TENDON_OK);
    tendon_engine_close(&s->engine, TENDON_ERROR_TIMEOUT); /* has no effect */
    expect(s, "disconnect ");
    peer_send(s->p, "13");
    peer_exchange(s->p, NULL, "1B 0300 42");
    peer_quiet(s->p);
    expect(s, "done:1:OK ");
    assert_int_equal(tendon_engine_connect(&s->engine), TENDON_ERROR_WRONG_STATE);
    tendon_engine_on_disconnected(s, TENDON_ERROR_CANCELLED, s->p->now);
    expect(s, "away:ERROR_CANCELLED ");
    tendon_engine_close(&s->engine, TENDON_OK);
    expect(s, "");
    end(s);
}

/* ---- inputs at a wrong time ---- */

static void inputs_at_a_wrong_time_are_counted(void **state) {
    (void)state;
    session *s = begin(&plain);
    tendon_engine_on_connected(s, &s->p->client, s->p->now);
    tendon_engine_on_disconnected(s, TENDON_ERROR_DISCONNECTED, s->p->now);
    tendon_engine_on_paired(s, TENDON_OK, s->p->now);
    tendon_engine_on_done(s, &(tendon_gatt_result){.request = 1});
    assert_int_equal(s->illegal, 4);
    expect(s, "");
    open_it(s);
    tendon_engine_on_connected(s, &s->p->client, s->p->now);
    tendon_engine_on_paired(s, TENDON_OK, s->p->now);
    assert_int_equal(s->illegal, 6);
    expect(s, "");
    end(s);
}

static void an_attempt_that_is_taken_back(void **state) {
    (void)state;
    session *s = begin(&plain);
    s->pairing = TENDON_ERROR_BUSY; /* the link */
    assert_int_equal(tendon_engine_connect(&s->engine), TENDON_ERROR_BUSY);
    assert_int_equal(s->engine.state, TENDON_ENGINE_AWAY);
    s->pairing = TENDON_OK;
    assert_int_equal(tendon_engine_connect(&s->engine), TENDON_OK);
    tendon_engine_close(&s->engine, TENDON_OK);
    expect(s, "connect connect disconnect ");
    tendon_engine_on_connected(s, &s->p->client, s->p->now); /* it came up meanwhile */
    peer_quiet(s->p);
    expect(s, "");
    tendon_engine_on_disconnected(s, TENDON_ERROR_CANCELLED, s->p->now);
    expect(s, "away:ERROR_CANCELLED ");
    tendon_engine_expect(&s->engine); /* the program connects by itself */
    tendon_engine_on_connected(s, &s->p->client, s->p->now);
    peer_expect(s->p, "02 4000");
    expect(s, "opening:OK ");
    assert_int_equal(s->illegal, 0);
    end(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_steps_follow_each_other),
        cmocka_unit_test(only_a_timeout_of_the_mtu_is_a_failure),
        cmocka_unit_test(a_step_that_fails_ends_the_connection),
        cmocka_unit_test(the_opening_has_its_limit),
        cmocka_unit_test(the_limit_rests_while_it_pairs),
        cmocka_unit_test(steps_are_skipped),
        cmocka_unit_test(a_step_is_done_again_once_paired),
        cmocka_unit_test(a_pairing_without_a_result_is_waited_for),
        cmocka_unit_test(a_verdict_may_close),
        cmocka_unit_test(one_operation_at_a_time),
        cmocka_unit_test(functions_do_not_nest),
        cmocka_unit_test(nothing_is_started_while_closing),
        cmocka_unit_test(inputs_at_a_wrong_time_are_counted),
        cmocka_unit_test(an_attempt_that_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
