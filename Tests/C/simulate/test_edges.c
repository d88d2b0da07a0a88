/* SPDX-License-Identifier: MIT */
/* Simulated devices at the edges: full tables, the largest and the first values beyond, what must not greet. */
#include "device_fixture.h"

static tendon_simulated_activ5 trainer;
static tendon_simulated_feelspace belt;
static device_fixture f;

static void a_heading_is_less_than_a_circle(void **state) {
    (void)state;
    assert_int_equal(tendon_simulated_feelspace_init(&belt, NULL), TENDON_OK);
    for (uint16_t heading = 0; heading < 1440; heading++) {
        tendon_simulated_feelspace_set_heading(&belt, heading, 0, 1000);
        assert_int_equal(belt.heading, heading % 360);
    }
}

static void squeezes_fit_into_a_table(void **state) {
    (void)state;
    for (int used = 0; used <= TENDON_SIMULATED_ACTIV5_PRESSES; used++) {
        assert_int_equal(tendon_simulated_activ5_init(&trainer, NULL), TENDON_OK);
        device_fixture_init(&f, tendon_simulated_activ5_device(&trainer));
        assert_int_equal(device_connect(&f, 0, 23), TENDON_OK);
        for (int i = 0; i < used; i++) {
            assert_int_equal(tendon_simulated_activ5_squeeze(&trainer, 300, 100, f.now), TENDON_OK);
        }
        bool one = used + 1 <= TENDON_SIMULATED_ACTIV5_PRESSES, two = used + 2 <= TENDON_SIMULATED_ACTIV5_PRESSES;
        assert_int_equal(tendon_simulated_activ5_double_squeeze(&trainer, f.now),
                         two ? TENDON_OK : TENDON_ERROR_TABLE_FULL);
        if (!one) {
            assert_int_equal(tendon_simulated_activ5_squeeze(&trainer, 300, 100, f.now), TENDON_ERROR_TABLE_FULL);
        }
        f.now += 299; /* none has ended */
        if (used == TENDON_SIMULATED_ACTIV5_PRESSES) {
            assert_int_equal(tendon_simulated_activ5_squeeze(&trainer, 300, 100, f.now), TENDON_ERROR_TABLE_FULL);
        }
        f.now += 1; /* all of them have, but for those of the double one */
        if (used > 0) {
            assert_int_equal(tendon_simulated_activ5_squeeze(&trainer, 300, 100, f.now), TENDON_OK);
        }
    }
}

/* The greeting is a text: only who has enabled the texts gets it, and when it has. */
static void only_a_subscriber_of_texts_is_greeted(void **state) {
    (void)state;
    static const char *const others[] = {"12 0d 00 01 00", "12 10 00 01 00", "12 13 00 01 00"};
    assert_int_equal(tendon_simulated_activ5_init(&trainer, NULL), TENDON_OK);
    device_fixture_init(&f, tendon_simulated_activ5_device(&trainer));
    assert_int_equal(device_connect(&f, 0, 185), TENDON_OK);
    for (size_t i = 0; i < 3; i++) {
        device_exchange(&f, 0, others[i], "13");
        uint16_t waiting = trainer.outboxes[0].text_count;
        assert_int_equal(waiting, 0);
    }
    device_exchange(&f, 0, "12 07 00 01 00", "13");
    device_forget(&f, 0);
    device_run(&f, f.now + 1000);
    assert_true(f.centrals[0].count > 0);
    assert_int_equal(f.centrals[0].pdus[0].bytes[1], 0x06);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heading_is_less_than_a_circle),
        cmocka_unit_test(squeezes_fit_into_a_table),
        cmocka_unit_test(only_a_subscriber_of_texts_is_greeted),
    };
    return cmocka_run_group_tests_name("simulate_edges", tests, NULL, NULL);
}
