/* SPDX-License-Identifier: MIT */
/* Arguments of the GATT client: each wrong one alone is rejected and nothing is sent; the edge before it is taken. */
#include "gatt_client_peer.h"

static peer *p;
static const tendon_status wrong = TENDON_ERROR_INVALID_ARGUMENT;
static uint8_t bytes[600];

static void on_done(void *context, const tendon_gatt_result *result) {
    (void)context;
    (void)result;
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    (void)context;
    (void)value;
    (void)now;
}

static int setup(void **state) {
    (void)state;
    p = peer_open();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    peer_quiet(p);
    tendon_gatt_client_disconnected(&p->client, TENDON_RADIO_ERROR_PEER_CLOSED, p->now); /* ends what was accepted */
    peer_close(p);
    return 0;
}

/** Accepted: the request is on its way, and is given up again. */
static void accepted(tendon_status id, const char *pdu) {
    assert_true(id > 0);
    peer_expect(p, pdu);
    tendon_gatt_client_disconnected(&p->client, TENDON_RADIO_ERROR_PEER_CLOSED, p->now);
    peer_close(p);
    p = peer_open();
}

static void reads(void **state) {
    (void)state;
    tendon_gatt_client *c = &p->client;
    assert_int_equal(tendon_gatt_read(c, 0, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_read_long(c, 0, 0, bytes, 10, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_read_long(c, 3, 513, bytes, 10, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_read_long(c, 3, 0, NULL, 10, on_done, p, 0), wrong);
    const tendon_uuid uuid = tendon_uuid_from_u16(0x2A00);
    assert_int_equal(tendon_gatt_read_by_uuid(c, 0, 5, &uuid, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_read_by_uuid(c, 6, 5, &uuid, on_done, p, 0), wrong);
    peer_quiet(p);
    accepted(tendon_gatt_read_long(c, 3, 512, bytes, 10, on_done, p, 0), "0c 03 00 00 02");
    accepted(tendon_gatt_read_by_uuid(&p->client, 5, 5, &uuid, on_done, p, 0), "08 05 00 05 00 00 2a");
}

static void writes(void **state) {
    (void)state;
    tendon_gatt_client *c = &p->client;
    assert_int_equal(tendon_gatt_write(c, 0, bytes, 1, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_write(c, 3, NULL, 1, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_write_command(c, 0, bytes, 1), wrong);
    assert_int_equal(tendon_gatt_write_command(c, 3, NULL, 1), wrong);
    assert_int_equal(tendon_gatt_write_long(c, 3, 513, bytes, 0, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_write_long(c, 3, 500, bytes, 13, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_write_long(c, 3, 0, bytes, 513, on_done, p, 0), wrong);
    peer_quiet(p);
    accepted(tendon_gatt_write(c, 3, NULL, 0, on_done, p, 0), "12 03 00");
    accepted(tendon_gatt_write_long(&p->client, 3, 512, NULL, 0, on_done, p, 0), "16 03 00 00 02");
    accepted(tendon_gatt_write_long(&p->client, 3, 511, bytes, 1, on_done, p, 0), "16 03 00 ff 01 00");
    assert_int_equal(tendon_gatt_write_command(&p->client, 3, NULL, 0), TENDON_OK);
    peer_expect(p, "52 03 00");
    tendon_gatt_client_disconnected(&p->client, TENDON_RADIO_ERROR_PEER_CLOSED, p->now);
    assert_int_equal(tendon_gatt_write_command(&p->client, 3, bytes, 1), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(tendon_gatt_write_command(&p->client, 3, NULL, 1), wrong); /* wrong in any state */
}

static void subscriptions(void **state) {
    (void)state;
    tendon_gatt_client *c = &p->client;
    assert_int_equal(tendon_gatt_subscribe(c, 0, 4, false, on_value, p, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_subscribe(c, 3, 0, false, on_value, p, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_subscribe(c, 3, 4, false, NULL, p, on_done, p, 0), wrong);
    static const struct {
        uint16_t value, end;
        tendon_status expected;
    } cases[] = {
        {0, 5, TENDON_ERROR_INVALID_ARGUMENT}, {6, 5, TENDON_ERROR_INVALID_ARGUMENT}, {5, 5, TENDON_ERROR_NOT_FOUND}};
    for (size_t i = 0; i < 3; i++) {
        const tendon_gatt_characteristic item = {.value_handle = cases[i].value, .end_handle = cases[i].end};
        assert_int_equal(tendon_gatt_subscribe_characteristic(c, &item, false, on_value, p, on_done, p, 0),
                         cases[i].expected);
    }
    const tendon_gatt_characteristic item = {.value_handle = 4, .end_handle = 5};
    assert_int_equal(tendon_gatt_subscribe_characteristic(c, &item, false, NULL, p, on_done, p, 0), wrong);
    peer_quiet(p);
    accepted(tendon_gatt_subscribe(c, 3, 4, true, on_value, p, on_done, p, 0), "12 04 00 02 00");
    accepted(tendon_gatt_subscribe_characteristic(&p->client, &item, false, on_value, p, on_done, p, 0),
             "04 05 00 05 00");
}

static void discoveries(void **state) {
    (void)state;
    tendon_gatt_client *c = &p->client;
    assert_int_equal(tendon_gatt_discover_services_from(c, 0, p->services, 8, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_discover_services(c, NULL, 8, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_discover_characteristics(c, 0, 5, p->characteristics, 8, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_discover_characteristics(c, 6, 5, p->characteristics, 8, on_done, p, 0), wrong);
    assert_int_equal(tendon_gatt_discover_descriptors(c, 1, 5, NULL, 1, on_done, p, 0), wrong);
    peer_quiet(p);
    accepted(tendon_gatt_discover_services(c, NULL, 0, on_done, p, 0), "10 01 00 ff ff 00 28");
    accepted(tendon_gatt_discover_descriptors(&p->client, 5, 5, p->descriptors, 8, on_done, p, 0), "04 05 00 05 00");
}

static void a_client_needs_its_memory(void **state) {
    (void)state;
    tendon_gatt_client client;
    tendon_gatt_request requests[1];
    tendon_gatt_subscription places[1];
    const tendon_gatt_client_config whole = {.bearer = &p->bearer,
                                             .requests = requests,
                                             .request_capacity = 1,
                                             .subscriptions = places,
                                             .subscription_capacity = 1};
    for (int lacking = 0; lacking < 5; lacking++) {
        tendon_gatt_client_config config = whole;
        config.bearer = lacking == 0 ? NULL : config.bearer;
        config.requests = lacking == 1 ? NULL : config.requests;
        config.request_capacity = lacking == 2 ? 0 : 1;
        config.subscriptions = lacking >= 3 ? NULL : config.subscriptions;
        config.subscription_capacity = lacking == 4 ? 0 : 1;
        tendon_gatt_client *before = p->bearer.client;
        assert_int_equal(tendon_gatt_client_init(&client, &config), lacking == 4 ? TENDON_OK : wrong);
        p->bearer.client = before;
    }
}

#define ARGUMENTS(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        ARGUMENTS(reads),
        ARGUMENTS(writes),
        ARGUMENTS(subscriptions),
        ARGUMENTS(discoveries),
        ARGUMENTS(a_client_needs_its_memory),
    };
    return cmocka_run_group_tests_name("gatt_client_arguments", tests, NULL, NULL);
}
