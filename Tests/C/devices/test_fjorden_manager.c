/* SPDX-License-Identifier: MIT */
/* Fjorden manager: every pair of state and input, and where each leads. */
#include "test_bytes.h"

#include "tendon/devices/fjorden.h"

enum { STATES = TENDON_FJORDEN_STATE_COUNT, INPUTS = TENDON_FJORDEN_INPUT_COUNT };

static void count_output(void *context, const tendon_fjorden_manager *manager, const tendon_fjorden_output *output) {
    (void)manager;
    (void)output;
    ++*(unsigned *)context;
}

static tendon_fjorden_input input_of(tendon_fjorden_input_kind kind) {
    tendon_fjorden_input input = {.kind = kind, .ok = true, .text = "1.2.0", .text_length = 5};
    memcpy(input.grip.identifier, "A", 2);
    memcpy(input.grip.name, "Fjorden Grip", 13);
    return input;
}

static void give(tendon_fjorden_manager *m, tendon_fjorden_input_kind kind) {
    tendon_fjorden_input input = input_of(kind);
    tendon_fjorden_manager_input(m, 10, &input);
}

/* Configured, without a bond unless the state needs one. */
static void reach(tendon_fjorden_manager *m, unsigned *outputs, unsigned state) {
    static tendon_fjorden_grip grips[2];
    tendon_fjorden_manager_init(m, count_output, outputs);
    tendon_fjorden_manager_set_table(m, grips, 2);
    tendon_fjorden_configuration c;
    tendon_fjorden_configuration_init(&c);
    tendon_fjorden_input configure = {.kind = TENDON_FJORDEN_CALL_CONFIGURE, .configuration = &c};
    c.has_bond = state == TENDON_FJORDEN_SCANNING_FOR_BONDED;
    c.bond = input_of(TENDON_FJORDEN_CALL_CONNECT).grip;
    tendon_fjorden_manager_input(m, 0, &configure);
    tendon_fjorden_manager_set_environment(m,
                                           state == TENDON_FJORDEN_UNAUTHORIZED ? TENDON_FJORDEN_AUTHORIZATION_DENIED
                                                                                : TENDON_FJORDEN_AUTHORIZATION_ALLOWED,
                                           state != TENDON_FJORDEN_UNAVAILABLE);
    if (state != TENDON_FJORDEN_UNINITIALIZED) {
        give(m, TENDON_FJORDEN_CALL_START);
    }
    if (state == TENDON_FJORDEN_SCANNING_FOR_GRIPS) {
        give(m, TENDON_FJORDEN_CALL_SCAN);
    }
    if (state == TENDON_FJORDEN_CONNECTING || state == TENDON_FJORDEN_CONNECTED) {
        give(m, TENDON_FJORDEN_CALL_CONNECT);
    }
    for (int kind = TENDON_FJORDEN_ON_LINK_UP; state == TENDON_FJORDEN_CONNECTED && kind < TENDON_FJORDEN_ON_TICK;
         kind++) {
        if (kind != TENDON_FJORDEN_ON_LINK_DOWN) {
            give(m, (tendon_fjorden_input_kind)kind);
        }
    }
    assert_int_equal(m->state, state);
}

/* Letters: U uninitialized, R ready, G scanning for grips, B for the bonded one, C connecting, X connected,
 * D unauthorized (denied), O bluetoothUnavailable (off); '.' stays and gives nothing, otherwise the state it ends in.
 */
static const char letters[] = "URGBCXDO";
/* Inputs in order: configure start scan stop connect connectBonded forget | permission power-on advertisement link-up
 * link-down services characteristics pairing firmware notify tick. */
static const char *const table[STATES] = {
    "URU.UUU...........", /* U */
    "RRG.CRR...........", /* R */
    "GGGRCGG..G........", /* G */
    "BBBRBBR..C........", /* B */
    "CCC.CCC...CR......", /* C: a scripted link, nothing answered */
    "XXX.XXR....B......", /* X */
    "DDD.DDD...........", /* D */
    "OOO.OOO.R.........", /* O */
};

static void every_state_and_input(void **state) {
    (void)state;
    for (unsigned s = 0; s < STATES; s++) {
        assert_int_equal(strlen(table[s]), INPUTS);
        for (unsigned i = 0; i < INPUTS; i++) {
            tendon_fjorden_manager m;
            unsigned outputs = 0;
            reach(&m, &outputs, s);
            outputs = 0;
            give(&m, (tendon_fjorden_input_kind)i);
            char expected = table[s][i];
            if (outputs == 0 ? expected != '.' : expected == '.') {
                print_error("state %c input %u: %u outputs, expected %c\n", letters[s], i, outputs, expected);
                fail();
            }
            if (letters[m.state] != (expected == '.' ? letters[s] : expected)) {
                print_error("state %c input %u: ends in %c, expected %c\n", letters[s], i, letters[m.state], expected);
                fail();
            }
        }
    }
}

/* Every step of a connection, its refusal, and the loss of the link in it. */
static void every_step_fails_to_ready(void **state) {
    (void)state;
    static const tendon_fjorden_input_kind order[] = {TENDON_FJORDEN_ON_LINK_UP,         TENDON_FJORDEN_ON_SERVICES,
                                                      TENDON_FJORDEN_ON_CHARACTERISTICS, TENDON_FJORDEN_ON_PAIRING,
                                                      TENDON_FJORDEN_ON_FIRMWARE,        TENDON_FJORDEN_ON_NOTIFY};
    for (size_t step = 0; step < 6; step++) {
        for (int lost = 0; lost < 2; lost++) {
            tendon_fjorden_manager m;
            unsigned outputs = 0;
            reach(&m, &outputs, TENDON_FJORDEN_CONNECTING);
            for (size_t i = 0; i < step; i++) {
                give(&m, order[i]);
            }
            assert_int_equal(m.step, TENDON_FJORDEN_STEP_LINK + step);
            tendon_fjorden_input input = input_of(lost ? TENDON_FJORDEN_ON_LINK_DOWN : order[step]);
            input.ok = false;
            input.text = NULL;
            outputs = 0;
            tendon_fjorden_manager_input(&m, 20, &input);
            bool link = step == 0 && !lost; /* a link that is up cannot be refused */
            assert_int_equal(m.state, link ? TENDON_FJORDEN_CONNECTING : TENDON_FJORDEN_READY);
            assert_int_equal(outputs, link ? 1 : lost ? 2 : 3);
            assert_int_equal(m.has_pending, link);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_state_and_input),
        cmocka_unit_test(every_step_fails_to_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
