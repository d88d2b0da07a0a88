/* SPDX-License-Identifier: MIT */
/*
 * Thousands of connections of each family, cut at each PDU in turn and in four ways, leave nothing behind.
 * TENDON_SOAK=1: 120,000 of them.
 */
#include "soak.h"

#include <stdlib.h>

/* Each PDU, each way, with a bond and without: so many cycles at least. */
static unsigned long count_for(unsigned pdus) {
    const char *wanted = getenv("TENDON_SOAK");
    unsigned long each = 2ul * SOAK_CUTS * pdus, all = wanted == NULL ? 0 : strtoul(wanted, NULL, 10);
    all = all == 1 ? 20000 : all;
    return all > each ? all : each;
}

static void cycles(const soak_family *family) {
    soak *s = soak_open(family);
    for (int i = 0; i < 4; i++) {
        soak_cycle(s, SOAK_CLOSED, UINT32_MAX); /* a whole one: so many PDUs there are */
    }
    assert_int_equal(s->completed, 4);
    unsigned pdus = s->longest + 2;
    for (unsigned long i = 0, count = count_for(pdus); i < count; i++) {
        soak_cycle(s, (soak_cut)(i / 2 % SOAK_CUTS), (unsigned)(i / 2 / SOAK_CUTS % pdus));
    }
    print_message("%s: %u connections, cut at each of %u PDUs; %u went their whole way\n", family->name, s->cycles,
                  pdus, s->completed);
    /* The last of the PDUs are behind the end of a whole cycle. */
    assert_true(s->completed > SOAK_CUTS && s->completed < s->cycles);
    soak_close(s);
}

static void bose_leaves_nothing_behind(void **state) {
    (void)state;
    cycles(&soak_bose);
}

static void feelspace_leaves_nothing_behind(void **state) {
    (void)state;
    cycles(&soak_feelspace);
}

static void activ5_leaves_nothing_behind(void **state) {
    (void)state;
    cycles(&soak_activ5);
}

static void activ5_legacy_leaves_nothing_behind(void **state) {
    (void)state;
    cycles(&soak_activ5_legacy);
}

static void fjorden_leaves_nothing_behind(void **state) {
    (void)state;
    cycles(&soak_fjorden);
}

static void obvious_leaves_nothing_behind(void **state) {
    (void)state;
    cycles(&soak_obvious);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bose_leaves_nothing_behind),    cmocka_unit_test(feelspace_leaves_nothing_behind),
        cmocka_unit_test(activ5_leaves_nothing_behind),  cmocka_unit_test(activ5_legacy_leaves_nothing_behind),
        cmocka_unit_test(fjorden_leaves_nothing_behind), cmocka_unit_test(obvious_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
