/* SPDX-License-Identifier: MIT */
#include "adapter_fixture.h"

#include <string.h>

adapter_fixture own;

static void on_report(void *context, const tendon_ad_report *report, uint64_t now) {
    (void)context;
    (void)report;
    (void)now;
    own.reports++;
}

static void on_failure(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)now;
    own.failures++;
    own.failure = status;
}

static void on_connected(void *context, uint64_t now) {
    (void)context;
    (void)now;
    own.connected++;
}

static void on_closed(void *context, tendon_status status, uint64_t now) {
    (void)context;
    (void)now;
    own.closed++;
    own.reason = status;
}

int adapter_setup(void **state) {
    (void)state;
    fake_start();
    memset(&own, 0, sizeof own);
    assert_int_equal(tendon_loop_init(&own.loop), TENDON_OK);
    return 0;
}

int adapter_teardown(void **state) {
    (void)state;
    tendon_radio_close(&own.radio.radio);
    tendon_loop_close(&own.loop);
    fake_end();
    return 0;
}

void adapter_open(const char *name) {
    assert_int_equal(tendon_bluez_open(&own.radio, &own.loop, name), TENDON_OK);
    own.radio.radio.on_report = on_report;
    own.radio.radio.on_failure = on_failure;
}

tendon_status adapter_open_as(int kind) {
    switch (kind) {
    case ADAPTER_UNPRIVILEGED:
        return tendon_bluez_open_as(&own.radio, &own.loop, "hci7", TENDON_BLUEZ_CONNECTIONS_ONLY);
    case ADAPTER_SOLE:
        return tendon_bluez_open_as(&own.radio, &own.loop, NULL, TENDON_BLUEZ_SOLE);
    case ADAPTER_OBSERVER:
        return tendon_bluez_open_as(&own.radio, &own.loop, NULL, TENDON_BLUEZ_OBSERVER);
    default:
        return tendon_bluez_open(&own.radio, &own.loop, NULL);
    }
}

void adapter_scan(void) {
    const tendon_scan_parameters parameters = {.active = true};
    assert_int_equal(tendon_radio_scan_start(&own.radio.radio, &parameters), TENDON_OK);
}

void adapter_advertise(void) {
    static const uint8_t data[] = {2, 1, 6};
    const tendon_advertise_parameters parameters = {.data = data, .length = sizeof data};
    assert_int_equal(tendon_radio_advertise_start(&own.radio.radio, &parameters), TENDON_OK);
    fake_pass(&own.loop, 100);
}

tendon_status adapter_connect(tendon_link *link, const fake_device *device) {
    static const tendon_link_callbacks callbacks = {.connected = on_connected, .closed = on_closed};
    const tendon_address peer = fake_address(device);
    tendon_link_init(link, &callbacks);
    return tendon_radio_connect(&own.radio.radio, link, &peer, fake.now + 5000);
}
