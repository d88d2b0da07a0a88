/* SPDX-License-Identifier: MIT */
/* What is on the air, as all sessions have it: PDUs on the page, a scripted peer. */
#include "../host/gatt_client_peer.h"
#include "tendon/devices/operation.h"

enum { KIND = 3, UNLIMITED = 4 | TENDON_OPERATION_UNLIMITED, LIMIT = 1000 };

typedef struct session {
    tendon_operation op;
    peer *p;
    uint8_t buffer[8];
    unsigned calls, strays;
    uint8_t kind;
    tendon_status status;
    size_t length;
} session;

static void on_done(void *context, const tendon_gatt_result *result) {
    session *s = context;
    uint8_t kind = tendon_operation_ended(&s->op, result);
    if (kind == 0) {
        s->strays++;
        return;
    }
    s->calls++;
    s->kind = kind;
    s->status = result->status;
    s->length = result->length;
    assert_int_equal(s->op.kind, 0);
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    (void)context, (void)value, (void)now;
}

static const tendon_operation_rules rules = {on_done, on_value, NULL, LIMIT, 8};

static void begin(session *s) {
    *s = (session){.p = peer_open()};
    s->op = (tendon_operation){
        .rules = &rules, .client = &s->p->client, .context = s, .buffer = s->buffer, .now = s->p->now};
}

static void ended(const session *s, uint8_t kind, tendon_status status) {
    assert_int_equal(s->calls, 1);
    assert_int_equal(s->kind, kind);
    assert_int_equal(s->status, status);
    assert_int_equal(s->strays, 0);
}

static void each_verb_is_its_request(void **state) {
    (void)state;
    static const struct {
        tendon_operation_verb verb;
        const char *request, *response;
        size_t length;
    } cases[] = {
        {TENDON_OPERATION_MTU, "02 4000", "03 1700", 0},
        {TENDON_OPERATION_READ, "0A 0900", "0B 0102", 2},
        {TENDON_OPERATION_READ_LONG, "0A 0900", "0B 010203", 3},
        {TENDON_OPERATION_WRITE, "12 0900 AABB", "13", 0},
    };
    static const uint8_t bytes[] = {0xAA, 0xBB};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        session s;
        begin(&s);
        tendon_operation_start(&s.op, KIND, cases[i].verb, 9, bytes, sizeof bytes);
        assert_int_equal(s.op.kind, KIND);
        assert_int_equal(s.calls, 0);
        peer_expect(s.p, cases[i].request);
        s.p->now += 5;
        peer_send(s.p, cases[i].response);
        ended(&s, KIND, TENDON_OK);
        assert_int_equal(s.length, cases[i].length);
        assert_int_equal(s.op.now, s.p->now);
        peer_close(s.p);
    }
}

static void a_long_write_is_prepared(void **state) {
    (void)state;
    session s;
    begin(&s);
    static const uint8_t bytes[] = {0xAA, 0xBB};
    tendon_operation_start(&s.op, KIND, TENDON_OPERATION_WRITE_LONG, 9, bytes, sizeof bytes);
    peer_exchange(s.p, "16 0900 0000 AABB", "17 0900 0000 AABB");
    peer_exchange(s.p, "18 01", "19");
    ended(&s, KIND, TENDON_OK);
    peer_close(s.p);
}

static void a_subscription_comes_and_goes(void **state) {
    (void)state;
    session s;
    begin(&s);
    const tendon_profile_found found = {.value = 9, .cccd = 10};
    tendon_operation_subscribe(&s.op, KIND, &found, true);
    peer_exchange(s.p, "12 0A00 0200", "13");
    ended(&s, KIND, TENDON_OK);
    s.calls = 0;
    tendon_operation_start(&s.op, KIND, TENDON_OPERATION_UNSUBSCRIBE, 9, NULL, 0);
    peer_exchange(s.p, "12 0A00 0000", "13");
    ended(&s, KIND, TENDON_OK);
    peer_close(s.p);
}

static void a_refusal_is_told_like_an_answer(void **state) {
    (void)state;
    session s;
    begin(&s);
    tendon_operation_start(&s.op, KIND, TENDON_OPERATION_READ, 0, NULL, 0);
    ended(&s, KIND, TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(s.op.now, s.p->now);
    peer_close(s.p);
}

static void an_operation_has_its_time_unless_it_says_otherwise(void **state) {
    (void)state;
    static const uint8_t kinds[] = {KIND, UNLIMITED};
    for (size_t i = 0; i < sizeof kinds; i++) {
        session s;
        begin(&s);
        uint64_t start = s.p->now;
        tendon_operation_start(&s.op, kinds[i], TENDON_OPERATION_READ, 9, NULL, 0);
        peer_expect(s.p, "0A 0900");
        tendon_att_bearer_tick(&s.p->bearer, start + LIMIT - 1);
        assert_int_equal(s.calls, 0);
        tendon_att_bearer_tick(&s.p->bearer, start + LIMIT);
        if (kinds[i] == KIND) {
            ended(&s, KIND, TENDON_ERROR_TIMEOUT);
        } else {
            assert_int_equal(s.calls, 0);
            peer_send(s.p, "0B 01");
            ended(&s, UNLIMITED, TENDON_OK);
        }
        peer_close(s.p);
    }
}

static bool on_insecure(void *context, uint8_t error, uint64_t now) {
    (void)context, (void)error, (void)now;
    return true;
}

/* The owner of the connection pairs, which takes as long as a user takes; what follows has the time of ATT. */
static void the_time_ends_with_a_pairing(void **state) {
    (void)state;
    for (int answered = 0; answered < 2; answered++) {
        session s;
        begin(&s);
        s.p->client.config.on_insecure = on_insecure;
        const tendon_profile_found found = {.value = 9, .cccd = 10};
        tendon_operation_subscribe(&s.op, KIND, &found, false);
        s.p->now += LIMIT - 100;
        peer_exchange(s.p, "12 0A00 0100", "01 12 0A00 05");
        assert_int_equal(tendon_gatt_client_deadline(&s.p->client), UINT64_MAX);
        s.p->now += 35000;
        tendon_att_bearer_tick(&s.p->bearer, s.p->now);
        assert_int_equal(s.calls, 0);
        tendon_gatt_client_secured(&s.p->client, TENDON_OK, s.p->now);
        peer_expect(s.p, "12 0A00 0100");
        assert_int_equal(tendon_gatt_client_deadline(&s.p->client), s.p->now + TENDON_ATT_TRANSACTION_TIMEOUT_MS);
        if (answered != 0) {
            peer_send(s.p, "13");
        } else {
            tendon_att_bearer_tick(&s.p->bearer, s.p->now + TENDON_ATT_TRANSACTION_TIMEOUT_MS);
        }
        ended(&s, KIND, answered != 0 ? TENDON_OK : TENDON_GATT_ERROR_TRANSACTION_TIMEOUT);
        peer_close(s.p);
    }
}

/* So has what begins while the connection pairs. */
static void what_waits_for_a_pairing_has_no_limit(void **state) {
    (void)state;
    session s;
    begin(&s);
    s.p->client.config.on_insecure = on_insecure;
    assert_true(tendon_gatt_read(&s.p->client, 3, NULL, NULL, s.p->now) > 0);
    peer_exchange(s.p, "0A 0300", "01 0A 0300 05");
    s.p->now += 20000;
    s.op.now = s.p->now;
    tendon_operation_start(&s.op, KIND, TENDON_OPERATION_READ, 9, NULL, 0);
    s.p->now += 20000;
    tendon_att_bearer_tick(&s.p->bearer, s.p->now);
    tendon_gatt_client_secured(&s.p->client, TENDON_OK, s.p->now);
    peer_exchange(s.p, "0A 0300", "0B 01");
    peer_exchange(s.p, "0A 0900", "0B 01");
    ended(&s, KIND, TENDON_OK);
    peer_close(s.p);
}

static void what_is_not_on_the_air_is_no_end(void **state) {
    (void)state;
    session s;
    begin(&s);
    tendon_operation_start(&s.op, KIND, TENDON_OPERATION_READ, 9, NULL, 0);
    peer_expect(s.p, "0A 0900");
    const tendon_gatt_result other = {.request = s.op.request + 1, .now = s.op.now + 9};
    assert_int_equal(tendon_operation_ended(&s.op, &other), 0);
    assert_int_equal(s.op.now, s.p->now);
    assert_int_equal(s.op.kind, KIND);
    tendon_operation_reset(&s.op);
    peer_send(s.p, "0B 01");
    assert_int_equal(s.calls, 0);
    assert_int_equal(s.strays, 1);
    peer_close(s.p);
}

static uint8_t battery_level(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    (void)context, (void)row;
    *service = tendon_uuid_from_u16(0x180F);
    *characteristic = tendon_uuid_from_u16(0x2A19);
    return 0;
}

/* The table changed while a request was outstanding: every error but Database Out Of Sync is the request's own. */
static void only_out_of_sync_discovers_again(void **state) {
    (void)state;
    for (uint8_t code = 1; code <= TENDON_ATT_DATABASE_OUT_OF_SYNC; code++) {
        session s;
        tendon_gatt_cache cache;
        const tendon_address device = {{1, 2, 3, 4, 5, 0xC0}, TENDON_ADDRESS_TYPE_RANDOM};
        tendon_profile_found found = {.value = 9};
        char response[16];
        begin(&s);
        tendon_gatt_cache_init(&cache, &device, NULL);
        s.p->client.config.cache = &cache;
        s.op.found = &found;
        s.op.count = 1;
        s.op.row_of = battery_level;
        tendon_operation_start(&s.op, KIND, TENDON_OPERATION_READ, 9, NULL, 0);
        peer_expect(s.p, "0A 0900");
        cache.state = TENDON_GATT_CACHE_STALE;
        (void)snprintf(response, sizeof response, "01 0A 0900 %02X", code);
        peer_send(s.p, response);
        if (code == TENDON_ATT_DATABASE_OUT_OF_SYNC) {
            peer_expect(s.p, "10 0100 FFFF 0028");
            assert_int_equal(s.calls, 0);
            assert_int_equal(s.op.kind, KIND);
            assert_true(s.op.call.rediscovering);
            tendon_operation_reset(&s.op);
        } else {
            ended(&s, KIND, TENDON_ATT_ERROR(code));
        }
        peer_close(s.p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_verb_is_its_request),
        cmocka_unit_test(a_long_write_is_prepared),
        cmocka_unit_test(a_subscription_comes_and_goes),
        cmocka_unit_test(a_refusal_is_told_like_an_answer),
        cmocka_unit_test(an_operation_has_its_time_unless_it_says_otherwise),
        cmocka_unit_test(the_time_ends_with_a_pairing),
        cmocka_unit_test(what_waits_for_a_pairing_has_no_limit),
        cmocka_unit_test(what_is_not_on_the_air_is_no_end),
        cmocka_unit_test(only_out_of_sync_discovers_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
