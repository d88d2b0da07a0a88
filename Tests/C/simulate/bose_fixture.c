/* SPDX-License-Identifier: MIT */
#include "bose_fixture.h"

void bose_init(bose_fixture *f, const tendon_simulated_bose_options *options) {
    assert_int_equal(tendon_simulated_bose_init(&f->device, options), TENDON_OK);
    assert_int_equal(f->device.server.count, 0x2C);
    device_fixture_init(&f->in, tendon_simulated_bose_device(&f->device));
}

int bose_setup(void **state) {
    bose_fixture *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return -1;
    }
    const tendon_simulated_bose_options options = {0};
    bose_init(f, &options);
    *state = f;
    return 0;
}

int bose_teardown(void **state) {
    free(*state);
    return 0;
}

void bose_connect(bose_fixture *f, size_t which, uint16_t mtu) {
    assert_int_equal(device_connect(&f->in, which, mtu), TENDON_OK);
}

void bose_exchange(bose_fixture *f, size_t which, const char *request, const char *response) {
    size_t before = f->in.centrals[which].count;
    device_exchange(&f->in, which, request, response);
    assert_int_equal(f->in.centrals[which].count, before + 1);
}

void bose_listen(bose_fixture *f, size_t which) {
    bose_exchange(f, which, "12 24 00 01 00", "13");
    device_forget(&f->in, which);
}
