/* SPDX-License-Identifier: MIT */
/* What ends under a gateway that waits for something: its radio, its loop, a connection that comes back at once. */
#include "file_tree.h"
#include "link_fixture.h"
#include "open_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tendon_address device_address = {{0xC1, 2, 3, 4, 5, 0xD1}, TENDON_ADDRESS_TYPE_RANDOM};
static const uint8_t flags[] = {2, 1, 6};

/* A gateway, and a device of the same loop that advertises and accepts one central. */
static struct {
    char directory[FILE_TREE_SIZE];
    tendon_gateway gateway;
    tendon_virtual_radio device;
    tendon_listener listener;
    link_end end;
    int before; /* open descriptors */
    int accepted, looks, failures, closed;
    tendon_status reason;
} w;

static tendon_link *on_accept(void *context, const tendon_address *peer, uint64_t now) {
    (void)context;
    (void)peer;
    (void)now;
    if (w.end.link.state != TENDON_LINK_CLOSED) {
        return NULL;
    }
    w.accepted++;
    link_end_init(&w.end);
    return &w.end.link;
}

static int setup(void **state) {
    (void)state;
    memset(&w, 0, sizeof w);
    w.before = open_descriptors();
    tree_make(w.directory);
    assert_int_equal(tendon_gateway_open(&w.gateway, w.directory), TENDON_OK);
    assert_int_equal(tendon_virtual_radio_open(&w.device, &w.gateway.loop, w.directory, &device_address), TENDON_OK);
    const tendon_advertise_parameters parameters = {.data = flags, .length = sizeof flags, .interval_ms = 20};
    assert_int_equal(tendon_radio_advertise_start(&w.device.radio, &parameters), TENDON_OK);
    w.listener = (tendon_listener){.accept = on_accept};
    assert_int_equal(tendon_radio_listen(&w.device.radio, &w.listener), TENDON_OK);
    link_end_init(&w.end);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (w.gateway.radio != NULL) {
        tendon_link_close(&w.end.link);
        (void)tendon_loop_step(&w.gateway.loop, 0);
        tendon_radio_close(&w.device.radio);
        assert_int_equal(tendon_gateway_close(&w.gateway), TENDON_OK);
    }
    return rmdir(w.directory);
}

/* ---- a search ---- */

static bool closes_the_radio(const uint8_t *data, size_t length) {
    (void)data;
    (void)length;
    w.looks++;
    tendon_radio_close(w.gateway.radio);
    return false;
}

static bool closes_the_radio_that_has_found(const uint8_t *data, size_t length) {
    return !closes_the_radio(data, length);
}

static bool stops_the_loop(const uint8_t *data, size_t length) {
    (void)data;
    (void)length;
    w.looks++;
    tendon_loop_stop(&w.gateway.loop);
    return false;
}

static void on_failure(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)status;
    (void)now;
    w.failures++;
}

/** Without a radio nothing is found any more: nobody waits for the end of the time. */
static void the_radio_is_closed_during_a_search(void **state) {
    (void)state;
    w.gateway.radio->on_failure = on_failure;
    const uint64_t start = tendon_monotonic_ms();
    assert_int_equal(tendon_gateway_find(&w.gateway, closes_the_radio, 20000), TENDON_ERROR_CANCELLED);
    assert_true(tendon_monotonic_ms() < start + 10000);
    assert_in_range(w.looks, 1, 16);
    assert_int_equal(w.failures, 0);
    assert_null(w.gateway.radio->on_report);
    assert_ptr_equal(w.gateway.radio->on_failure, on_failure);
    assert_int_equal(w.gateway.connection.state, TENDON_CONNECTION_IDLE);
}

/** What was found is found. */
static void the_radio_is_closed_when_the_device_is_found(void **state) {
    (void)state;
    tendon_address found = {.type = TENDON_ADDRESS_TYPE_PUBLIC};
    assert_int_equal(tendon_radio_find(w.gateway.radio, closes_the_radio_that_has_found, 20000, &found), TENDON_OK);
    assert_true(tendon_address_equal(&found, &device_address));
    assert_int_equal(w.looks, 1);
}

/** As tendon_gateway_await_adapter() does: the request is not there for the next loop. */
static void the_loop_is_stopped_during_a_search(void **state) {
    (void)state;
    const uint64_t start = tendon_monotonic_ms();
    assert_int_equal(tendon_gateway_find(&w.gateway, stops_the_loop, 20000), TENDON_ERROR_CANCELLED);
    assert_true(tendon_monotonic_ms() < start + 10000);
    assert_in_range(w.looks, 1, 16); /* what one step reads */
    assert_false(w.gateway.radio->scanning);
    assert_int_equal(tendon_gateway_run(&w.gateway, 1), TENDON_ERROR_TIMEOUT);
}

/* ---- the end of a gateway ---- */

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    (void)context;
    (void)now;
    w.closed++;
    w.reason = reason;
}

static void on_closed_again(void *context, tendon_status reason, uint64_t now) {
    on_closed(context, reason, now);
    (void)tendon_connection_connect(&w.gateway.connection);
}

static void is_open(void (*closed)(void *context, tendon_status reason, uint64_t now)) {
    tendon_connection_callbacks callbacks = {.closed = closed};
    tendon_connection_init(&w.gateway.connection, w.gateway.radio, &device_address, NULL, &callbacks);
    assert_int_equal(tendon_connection_connect(&w.gateway.connection), TENDON_OK);
    STEP_UNTIL(&w.gateway.loop, w.gateway.connection.state == TENDON_CONNECTION_UP && w.end.connected == 1);
}

static void an_open_connection_ends_with_its_gateway(void **state) {
    (void)state;
    is_open(on_closed);
    tendon_link_close(&w.end.link); /* the device's own end, of the same loop */
    tendon_radio_close(&w.device.radio);
    assert_int_equal(tendon_gateway_close(&w.gateway), TENDON_OK);
    assert_int_equal(w.closed, 1);
    assert_int_equal(w.gateway.connection.state, TENDON_CONNECTION_IDLE);
    assert_null(w.gateway.radio);
}

/** The owner connects again in closed(), however often: its link ends, and its descriptor is closed. */
static void a_connection_that_comes_back_ends_with_its_gateway(void **state) {
    (void)state;
    is_open(on_closed_again);
    tendon_link_close(&w.end.link);
    tendon_radio_close(&w.device.radio);
    assert_int_equal(tendon_gateway_close(&w.gateway), TENDON_OK);
    assert_true(w.closed >= 1);
    assert_null(w.gateway.radio);
    assert_int_equal(w.gateway.connection.state, TENDON_CONNECTION_IDLE);
    assert_int_equal(w.gateway.connection.link.state, TENDON_LINK_CLOSED);
    assert_int_equal(open_descriptors(), w.before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_radio_is_closed_during_a_search, setup, teardown),
        cmocka_unit_test_setup_teardown(the_radio_is_closed_when_the_device_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(the_loop_is_stopped_during_a_search, setup, teardown),
        cmocka_unit_test_setup_teardown(an_open_connection_ends_with_its_gateway, setup, teardown),
        cmocka_unit_test_setup_teardown(a_connection_that_comes_back_ends_with_its_gateway, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
