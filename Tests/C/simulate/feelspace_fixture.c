/* SPDX-License-Identifier: MIT */
#include "feelspace_fixture.h"

tendon_simulated_feelspace belt;
device_fixture *f;

void begin(const tendon_simulated_feelspace_options *options) {
    free(f);
    assert_int_equal(tendon_simulated_feelspace_init(&belt, options), TENDON_OK);
    f = device_fixture_new(tendon_simulated_feelspace_device(&belt));
}

void connected_belt(const tendon_simulated_feelspace_options *options) {
    begin(options);
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK);
    device_exchange(f, 0, "12 0e 00 01 00", "13");
    device_exchange(f, 0, "12 13 00 01 00", "13");
    device_exchange(f, 0, belt.handles[6] != 0 ? "12 18 00 01 00" : "12 16 00 01 00", "13"); /* no buzzer */
    device_forget(f, 0);
}

int belt_setup(void **state) {
    (void)state;
    connected_belt(NULL);
    return 0;
}

int belt_teardown(void **state) {
    (void)state;
    free(f);
    f = NULL;
    return 0;
}

void request(const char *hex, const char *notification) {
    char pdu[128];
    device_forget(f, 0);
    snprintf(pdu, sizeof pdu, "12 10 00 %s", hex);
    device_exchange(f, 0, pdu, "13");
    device_run(f, f->now);
    if (notification == NULL) {
        assert_int_equal(f->centrals[0].count, 1);
        return;
    }
    snprintf(pdu, sizeof pdu, "1b 12 00 %s", notification);
    assert_int_equal(f->centrals[0].count, 2);
    device_expect(f, 0, 1, pdu);
}

void refused(const char *hex) {
    char pdu[128];
    snprintf(pdu, sizeof pdu, "12 10 00 %s", hex);
    device_exchange(f, 0, pdu, "01 12 10 00 0d");
}
