/* SPDX-License-Identifier: MIT */
/* A device of the program's own on a virtual radio: two centrals at once, advertising that pauses, who is who. */
#include "virtual/virtual_fixture.h"

#include <string.h>

enum { CENTRALS = 2, VALUE = 3 };

static struct own {
    tendon_gatt_attribute attributes[4];
    tendon_gatt_server server;
    tendon_gatt_central places[CENTRALS];
    uint16_t cccds[CENTRALS];
    tendon_gatt_device device;
    tendon_peripheral peripheral;
    tendon_address subscriber;
    tendon_peripheral_link *connected[CENTRALS + 1], *disconnected;
    int count, ended, ready;
    tendon_status reason;
    link_end centrals[CENTRALS + 1];
} own;

static void on_subscribed(void *context, tendon_gatt_connection *connection, uint16_t handle, uint16_t value,
                          uint64_t now) {
    (void)context;
    (void)value;
    (void)now;
    assert_int_equal(handle, VALUE);
    own.subscriber = tendon_peripheral_find(&own.peripheral, connection->bearer)->link.peer;
}

static void on_connected(void *context, tendon_peripheral_link *link, uint64_t now) {
    (void)context;
    (void)now;
    own.connected[own.count++] = link;
}

static void on_disconnected(void *context, tendon_peripheral_link *link, tendon_status reason, uint64_t now) {
    (void)context;
    (void)now;
    own.disconnected = link;
    own.reason = reason;
    own.ended++;
}

static void on_ready(void *context, uint64_t now) {
    (void)context;
    (void)now;
    own.ready++;
}

static int setup(void **state) {
    static const uint8_t value[] = {100};
    const tendon_gatt_handlers handlers = {.subscribed = on_subscribed};
    const tendon_peripheral_callbacks callbacks = {.connected = on_connected, .disconnected = on_disconnected};
    const tendon_uuid service = tendon_uuid_from_u16(0x180F), level = tendon_uuid_from_u16(0x2A19);
    int result = world_setup(state);
    world *w = *state;
    memset(&own, 0, sizeof own);
    tendon_gatt_server_init(&own.server, own.attributes, 4, &handlers);
    tendon_gatt_add_service(&own.server, &service, true);
    tendon_gatt_add_characteristic(&own.server, &level, TENDON_GATT_READ | TENDON_GATT_NOTIFY, TENDON_GATT_PERMIT_READ);
    tendon_gatt_set_static(&own.server, VALUE, value, sizeof value);
    const tendon_gatt_device_config config = {
        .advertisement = advertised_flags,
        .advertisement_length = sizeof advertised_flags,
        .centrals = {.places = own.places, .capacity = CENTRALS, .cccds = own.cccds, .cccd_capacity = 1},
        .ready = on_ready};
    assert_int_equal(tendon_gatt_device_init(&own.device, &own.server, &config), TENDON_OK);
    const tendon_peripheral_device served = tendon_gatt_device_peripheral(&own.device);
    tendon_peripheral_init(&own.peripheral, &w->device.radio, &served, &callbacks);
    for (int i = 0; i <= CENTRALS; i++) {
        link_end_init(&own.centrals[i]);
    }
    return result;
}

static int teardown(void **state) {
    world *w = *state;
    for (int i = 0; i <= CENTRALS; i++) {
        tendon_link_close(&own.centrals[i].link);
    }
    tendon_peripheral_close(&own.peripheral);
    for (int i = 0; i < 4; i++) {
        (void)tendon_loop_step(&w->loop, 0);
    }
    return own.peripheral.timer.added ? -1 : world_teardown(state);
}
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void connect_own(world *w, int i) {
    link_end_init(&own.centrals[i]);
    assert_int_equal(
        tendon_radio_connect(&w->central.radio, &own.centrals[i].link, &device_address, tendon_monotonic_ms() + 2000),
        TENDON_OK);
}

static void serve_two(world *w) {
    assert_int_equal(tendon_peripheral_open(&own.peripheral, 20), TENDON_OK);
    for (int i = 0; i < CENTRALS; i++) {
        connect_own(w, i);
        STEP_UNTIL(&w->loop, own.count == i + 1);
    }
}

static void exchange(world *w, int i, const void *pdu, size_t length, const void *answer, size_t answer_length) {
    int before = own.centrals[i].received;
    assert_int_equal(link_end_send(&own.centrals[i], pdu, length), TENDON_OK);
    STEP_UNTIL(&w->loop, own.centrals[i].received == before + 1);
    assert_int_equal(own.centrals[i].last_length, answer_length);
    assert_memory_equal(own.centrals[i].last, answer, answer_length);
}

static void two_centrals_are_served_and_known(void **state) {
    world *w = *state;
    static const uint8_t value[] = {99};
    serve_two(w);
    exchange(w, 0, "\x0A\x03\x00", 3, "\x0B\x64", 2);
    exchange(w, 1, "\x12\x04\x00\x01\x00", 5, "\x13", 1);
    assert_true(tendon_address_equal(&own.subscriber, &central_address));
    assert_int_equal(tendon_gatt_device_notify(&own.device, VALUE, value, 1, NULL), 1);
    STEP_UNTIL(&w->loop, own.centrals[1].received == 2);
    assert_memory_equal(own.centrals[1].last, "\x1B\x03\x00\x63", 4);
    assert_int_equal(own.centrals[0].received, 1);
    for (int i = 0; i < CENTRALS; i++) {
        assert_ptr_equal(tendon_peripheral_find(&own.peripheral, &own.connected[i]->bearer), own.connected[i]);
    }
    const tendon_att_bearer other = {.mtu = 23};
    assert_null(tendon_peripheral_find(&own.peripheral, &other));
    assert_null(tendon_peripheral_find(&own.peripheral, NULL));
    connect_own(w, CENTRALS); /* the peripheral has places, the device has none */
    STEP_UNTIL(&w->loop, own.centrals[CENTRALS].closed == 1 && tendon_peripheral_count(&own.peripheral) == CENTRALS);
    assert_int_equal(own.count, CENTRALS);
    tendon_link_close(&own.centrals[0].link);
    STEP_UNTIL(&w->loop, own.ended == 1);
    assert_ptr_equal(own.disconnected, own.connected[0]);
    assert_int_equal(own.reason, TENDON_RADIO_ERROR_PEER_CLOSED);
    tendon_link_close(&own.connected[1]->link);
    STEP_UNTIL(&w->loop, own.ended == 2);
    assert_int_equal(own.reason, TENDON_ERROR_CANCELLED);
}

static void a_full_connection_is_ready_again(void **state) {
    world *w = *state;
    uint32_t blocked = 0;
    serve_two(w);
    exchange(w, 1, "\x12\x04\x00\x01\x00", 5, "\x13", 1);
    while (tendon_gatt_device_notify(&own.device, VALUE, (const uint8_t *)"\1\2\3\4", 4, &blocked) == 1) {
    }
    assert_int_equal(blocked, 2);
    assert_int_equal(own.ready, 0);
    STEP_UNTIL(&w->loop, own.ready == 1);
    assert_int_equal(tendon_gatt_device_notify(&own.device, VALUE, NULL, 0, &blocked), 1);
    assert_int_equal(blocked, 0);
}

static void advertising_pauses_and_the_connections_stay(void **state) {
    world *w = *state;
    assert_int_equal(tendon_peripheral_pause(&own.peripheral), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(tendon_peripheral_open(&own.peripheral, 20), TENDON_OK);
    connect_own(w, 0);
    STEP_UNTIL(&w->loop, own.count == 1);
    assert_int_equal(tendon_peripheral_pause(&own.peripheral), TENDON_OK);
    assert_int_equal(tendon_peripheral_pause(&own.peripheral), TENDON_OK);
    assert_null(w->device.radio.listener);
    assert_int_equal(entries(w->directory), 0);
    exchange(w, 0, "\x0A\x03\x00", 3, "\x0B\x64", 2);
    /* Another listener has the radio: it stays paused. */
    listen_on(w);
    assert_int_equal(tendon_peripheral_readvertise(&own.peripheral), TENDON_RADIO_ERROR_ALREADY_STARTED);
    assert_true(own.peripheral.paused);
    tendon_radio_unlisten(&w->device.radio, &w->listener);
    /* Another advertisement: it does not listen either. */
    assert_int_equal(advertise(w, 0, 0), TENDON_OK);
    assert_int_equal(tendon_peripheral_readvertise(&own.peripheral), TENDON_RADIO_ERROR_ALREADY_STARTED);
    assert_null(w->device.radio.listener);
    assert_int_equal(tendon_radio_advertise_stop(&w->device.radio), TENDON_OK);
    assert_int_equal(tendon_peripheral_readvertise(&own.peripheral), TENDON_OK);
    connect_own(w, 1);
    STEP_UNTIL(&w->loop, own.count == 2);
    assert_int_equal(tendon_peripheral_pause(&own.peripheral), TENDON_OK);
    listen_on(w); /* what another one does is not ended by closing */
    tendon_peripheral_close(&own.peripheral);
    STEP_UNTIL(&w->loop, own.ended == 2);
    assert_ptr_equal(w->device.radio.listener, &w->listener);
    tendon_radio_unlisten(&w->device.radio, &w->listener);
    assert_int_equal(tendon_peripheral_open(&own.peripheral, 20), TENDON_OK); /* advertises again, not paused */
    assert_false(own.peripheral.paused);
    assert_int_equal(entries(w->directory), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(two_centrals_are_served_and_known),
        TEST(a_full_connection_is_ready_again),
        TEST(advertising_pauses_and_the_connections_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
