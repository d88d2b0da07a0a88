/* SPDX-License-Identifier: MIT */
#include "fjorden_fixture.h"

device_fixture *f;
tendon_simulated_fjorden grip;
static device_fixture memory;

void fjorden_connected(const tendon_simulated_fjorden_options *options) {
    assert_int_equal(tendon_simulated_fjorden_init(&grip, options), TENDON_OK);
    f = &memory;
    device_fixture_init(f, tendon_simulated_fjorden_device(&grip));
    assert_int_equal(device_connect(f, 0, 23), TENDON_OK);
}

int fjorden_setup(void **state) {
    const tendon_simulated_fjorden_options options = {.open = true};
    (void)state;
    fjorden_connected(&options);
    return 0;
}

void fjorden_subscribe_events(size_t which) {
    device_exchange(f, which, "12 18 00 01 00", "13");
    device_forget(f, which);
}

void fjorden_subscribe_responses(size_t which) {
    device_exchange(f, which, "12 1e 00 02 00", "13");
    device_forget(f, which);
}
