/* SPDX-License-Identifier: MIT */
/* A discovery over a connection in memory: each response arrives before the call that sends its request returns. */
#include "test_bytes.h"

#include "tendon/devices/profile.h"

typedef struct table {
    tendon_att_bearer bearer;
    tendon_gatt_client client;
    tendon_gatt_request requests[2];
    tendon_gatt_subscription subscriptions[2];
    tendon_profile profile;
    tendon_profile_found found[1];
    unsigned done;
    tendon_status status;
    const char *const *script; /* request, response, ...; NULL at its end */
    bool again;                /* the completion begins another discovery in the same memory */
} table;

static tendon_status send(void *context, const uint8_t *pdu, size_t length) {
    table *t = context;
    assert_non_null(*t->script);
    assert_hex(pdu, length, t->script[0]);
    block response = block_hex(t->script[1]);
    t->script += 2;
    tendon_att_bearer_receive(&t->bearer, response.data, response.length, 1000);
    free(response.data);
    return TENDON_OK;
}

static uint8_t row_of(void *context, size_t row, tendon_uuid *service, tendon_uuid *characteristic) {
    (void)context;
    assert_int_equal(row, 0);
    *service = tendon_uuid_from_u16(0x180F);
    *characteristic = tendon_uuid_from_u16(0x2A19);
    return TENDON_PROFILE_REQUIRED | TENDON_PROFILE_CCCD;
}

static void on_done(void *context, tendon_status status, size_t row, uint64_t now) {
    table *t = context;
    (void)row;
    t->done++;
    t->status = status;
    memset(&t->profile, 0xA5, sizeof t->profile); /* its memory has another use */
    if (t->again) {
        t->again = false;
        assert_int_equal(tendon_profile_start(&t->profile, &t->client, row_of, t->found, 1, on_done, t, now),
                         TENDON_OK);
    }
}

static void start(table *t, const char *const *script, bool again) {
    memset(t, 0, sizeof *t);
    t->script = script;
    t->again = again;
    tendon_att_bearer_init(&t->bearer, (tendon_bearer_io){t, send}, 23);
    const tendon_gatt_client_config config = {.bearer = &t->bearer,
                                              .requests = t->requests,
                                              .request_capacity = 2,
                                              .subscriptions = t->subscriptions,
                                              .subscription_capacity = 2};
    assert_int_equal(tendon_gatt_client_init(&t->client, &config), TENDON_OK);
    (void)tendon_profile_start(&t->profile, &t->client, row_of, t->found, 1, on_done, t, 1000);
}

/* Whatever the completion has put there is still there when the call returns. */
static void expect_untouched(const table *t) {
    for (size_t i = 0; i < sizeof t->profile; i++) {
        assert_int_equal(((const uint8_t *)&t->profile)[i], 0xA5);
    }
}

static const char *const whole[] = {"10 01 00 ff ff 00 28",
                                    "11 06 01 00 04 00 0f 18",
                                    "10 05 00 ff ff 00 28",
                                    "01 10 05 00 0a",
                                    "08 01 00 04 00 03 28",
                                    "09 07 02 00 12 03 00 19 2a",
                                    "08 03 00 04 00 03 28",
                                    "01 08 03 00 0a",
                                    "04 04 00 04 00",
                                    "05 01 04 00 02 29",
                                    NULL};

static void the_memory_of_a_discovery_that_ended_is_not_touched(void **state) {
    (void)state;
    static table t;
    start(&t, whole, false);
    assert_int_equal(t.done, 1);
    assert_int_equal(t.status, TENDON_OK);
    assert_int_equal(t.found[0].value, 3);
    assert_int_equal(t.found[0].cccd, 4);
    assert_null(*t.script);
    expect_untouched(&t);
}

static void an_error_ends_it_within_the_call_too(void **state) {
    (void)state;
    static const char *const nothing[] = {"10 01 00 ff ff 00 28", "01 10 01 00 0a", NULL};
    static const char *const broken[] = {"10 01 00 ff ff 00 28", "01 10 01 00 0e", NULL};
    static table t;
    start(&t, nothing, false);
    assert_int_equal(t.done, 1);
    assert_int_equal(t.status, TENDON_ERROR_NOT_FOUND);
    expect_untouched(&t);
    start(&t, broken, false);
    assert_int_equal(t.done, 1);
    assert_int_equal(t.status, TENDON_ATT_ERROR(0x0E));
    expect_untouched(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_memory_of_a_discovery_that_ended_is_not_touched),
        cmocka_unit_test(an_error_ends_it_within_the_call_too),
    };
    return cmocka_run_group_tests_name("profile_within", tests, NULL, NULL);
}
