/* SPDX-License-Identifier: MIT */
/* Fjorden manager: every pair of state and input, and where each leads. */
#include "fjorden_pairs.h"
#include "test_bytes.h"

typedef struct told {
    unsigned count;
    tendon_status result; /* of the last call */
} told;

static void count_output(void *context, const tendon_fjorden_manager *manager, const tendon_fjorden_output *output) {
    told *t = context;
    (void)manager;
    t->count++;
    t->result = output->kind == TENDON_FJORDEN_OUT_RESULT ? output->status : t->result;
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
static void reach(tendon_fjorden_manager *m, told *outputs, unsigned state) {
    static tendon_fjorden_grip grips[2];
    tendon_fjorden_manager_init(m, count_output, outputs);
    tendon_fjorden_manager_set_table(m, grips, 2);
    tendon_fjorden_configuration c;
    memset(&c, 0xA5, sizeof c); /* what the memory held before */
    tendon_fjorden_configuration_init(&c);
    assert_false(c.has_bond);
    assert_string_equal(c.bond.identifier, "");
    assert_string_equal(c.bond.name, "");
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

static void every_state_and_input(void **state) {
    (void)state;
    for (unsigned s = 0; s < STATES; s++) {
        assert_int_equal(strlen(grip_table[s]), INPUTS);
        for (unsigned i = 0; i < INPUTS; i++) {
            tendon_fjorden_manager m;
            told outputs = {0};
            reach(&m, &outputs, s);
            outputs.count = 0;
            give(&m, (tendon_fjorden_input_kind)i);
            char expected = grip_table[s][i];
            if (outputs.count == 0 ? expected != '.' : expected == '.') {
                print_error("state %c input %u: %u outputs, expected %c\n", grip_letters[s], i, outputs.count,
                            expected);
                fail();
            }
            if (grip_letters[m.state] != (expected == '.' ? grip_letters[s] : expected)) {
                print_error("state %c input %u: ends in %c, expected %c\n", grip_letters[s], i, grip_letters[m.state],
                            expected);
                fail();
            }
        }
    }
}

/* Every step of a connection, its refusal, and the loss of the link in it. */
static void every_step_fails_to_ready(void **state) {
    (void)state;
    for (size_t step = 0; step < STEPS; step++) {
        for (int lost = 0; lost < 2; lost++) {
            tendon_fjorden_manager m;
            told outputs = {0};
            reach(&m, &outputs, TENDON_FJORDEN_CONNECTING);
            for (size_t i = 0; i < step; i++) {
                give(&m, grip_steps[i].answer);
            }
            assert_int_equal(m.step, TENDON_FJORDEN_STEP_LINK + step);
            tendon_fjorden_input input = input_of(lost ? TENDON_FJORDEN_ON_LINK_DOWN : grip_steps[step].answer);
            input.ok = false;
            input.text = NULL;
            outputs.count = 0;
            tendon_fjorden_manager_input(&m, 20, &input);
            bool link = step == 0 && !lost; /* a link that is up cannot be refused */
            assert_int_equal(m.state, link ? TENDON_FJORDEN_CONNECTING : TENDON_FJORDEN_READY);
            assert_int_equal(outputs.count, link ? 1 : lost ? 2 : 3);
            assert_int_equal(m.has_pending, link);
            if (!link) {
                assert_int_equal(outputs.result, lost ? grip_steps[step].lost : grip_steps[step].refused);
            }
        }
    }
}

/* In a reconnection a lost link is no answer of the grip, in whatever step: the search goes on. A link that ended
 * because the grip has no key is one. */
static void every_step_of_a_reconnection_may_be_lost(void **state) {
    (void)state;
    for (size_t step = 0; step < STEPS; step++) {
        for (int refused = 0; refused < 2; refused++) {
            tendon_fjorden_manager m;
            told outputs = {0};
            reach(&m, &outputs, TENDON_FJORDEN_CONNECTING);
            for (size_t i = 0; i < step; i++) {
                give(&m, grip_steps[i].answer);
            }
            m.reconnecting = true;
            tendon_fjorden_input input = input_of(TENDON_FJORDEN_ON_LINK_DOWN);
            input.reason = refused ? TENDON_RADIO_ERROR_PAIRING_FAILED : TENDON_HCI_ERROR(0x08);
            tendon_fjorden_manager_input(&m, 20, &input);
            assert_int_equal(m.state, refused ? TENDON_FJORDEN_READY : TENDON_FJORDEN_SCANNING_FOR_BONDED);
            assert_int_equal(m.reconnecting, !refused);
        }
    }
}

/* ---- a start that waits for the permission ---- */

typedef struct script {
    char words[256];
} script;

/* What belongs to a search or an attempt ends with it, whatever ends it. */
static void a_search_that_ends_leaves_nothing(void **state) {
    (void)state;
    static const unsigned from[] = {TENDON_FJORDEN_SCANNING_FOR_BONDED, TENDON_FJORDEN_CONNECTING};
    for (size_t s = 0; s < 2; s++) {
        for (unsigned i = 0; i < INPUTS; i++) {
            tendon_fjorden_manager m;
            told outputs = {0};
            reach(&m, &outputs, from[s]);
            m.reconnecting = true;
            give(&m, (tendon_fjorden_input_kind)i);
            if (m.state != TENDON_FJORDEN_CONNECTING) {
                assert_int_equal(m.step, TENDON_FJORDEN_STEP_NONE);
                if (m.state != TENDON_FJORDEN_SCANNING_FOR_BONDED) {
                    assert_false(m.reconnecting || m.has_deadline);
                }
            }
        }
    }
}

/* A scan starts where the manager is ready; elsewhere the call says why not. */
static void a_scan_has_a_result_in_each_state(void **state) {
    (void)state;
    for (unsigned s = 0; s <= TENDON_FJORDEN_CONNECTED; s++) {
        tendon_fjorden_manager m;
        told outputs = {0};
        reach(&m, &outputs, s);
        outputs.result = 99;
        give(&m, TENDON_FJORDEN_CALL_SCAN);
        tendon_status expected = s == TENDON_FJORDEN_READY || s == TENDON_FJORDEN_SCANNING_FOR_GRIPS ? TENDON_OK
                                 : s == TENDON_FJORDEN_SCANNING_FOR_BONDED ? TENDON_FJORDEN_ERROR_ALREADY_SCANNING
                                                                           : TENDON_FJORDEN_ERROR_INVALID_MANAGER_STATE;
        assert_int_equal(outputs.result, expected);
    }
}

static void note_scan(void *context, const tendon_fjorden_manager *manager, const tendon_fjorden_output *output) {
    int *scanning = context;
    (void)manager;
    *scanning += (output->kind == TENDON_FJORDEN_OUT_SCAN_START) - (output->kind == TENDON_FJORDEN_OUT_SCAN_STOP);
}

/* Each input that leaves a scanning state stops the scan that it found, once. */
static void a_state_that_does_not_scan_has_stopped_its_scan(void **state) {
    (void)state;
    static const unsigned scans[] = {TENDON_FJORDEN_SCANNING_FOR_BONDED, TENDON_FJORDEN_SCANNING_FOR_GRIPS};
    for (size_t s = 0; s < 2; s++) {
        for (unsigned i = 0; i < INPUTS; i++) {
            tendon_fjorden_manager m;
            told outputs = {0};
            int scanning = 1;
            reach(&m, &outputs, scans[s]);
            m.handler = note_scan;
            m.context = &scanning;
            give(&m, (tendon_fjorden_input_kind)i);
            bool scans_still =
                m.state == TENDON_FJORDEN_SCANNING_FOR_BONDED || m.state == TENDON_FJORDEN_SCANNING_FOR_GRIPS;
            if (scanning != scans_still) {
                fail_msg("state %u, input %u: %d scans", scans[s], i, scanning);
            }
        }
    }
}

static void write_down(void *context, const tendon_fjorden_manager *manager, const tendon_fjorden_output *output) {
    static const char *const words[] = {
        [TENDON_FJORDEN_OUT_STATE] = "state",
        [TENDON_FJORDEN_OUT_RESULT] = "result",
        [TENDON_FJORDEN_OUT_REQUEST_PERMISSION] = "ask",
        [TENDON_FJORDEN_OUT_SCAN_START] = "scan",
        [TENDON_FJORDEN_OUT_CONNECT] = "connect",
        [TENDON_FJORDEN_OUT_REMOVE_BOND] = "remove",
    };
    script *s = context;
    size_t used = strlen(s->words);
    int length = snprintf(s->words + used, sizeof s->words - used, "%s%s", used > 0 ? " " : "", words[output->kind]);
    if (output->kind == TENDON_FJORDEN_OUT_RESULT) {
        snprintf(s->words + used + length, sizeof s->words - used - (size_t)length, ":%u", (unsigned)output->call);
    }
    if (output->kind == TENDON_FJORDEN_OUT_STATE || output->gives_state) {
        snprintf(s->words + strlen(s->words), 3, ":%c", grip_letters[manager->state]);
    }
}

/* Calls and events in order, and all that comes of them. Calls: 1 start, 4 connect, 6 forget. */
static void a_start_that_waits_for_the_permission(void **state) {
    (void)state;
    enum { START = TENDON_FJORDEN_CALL_START, CONNECT = TENDON_FJORDEN_CALL_CONNECT };
    enum { FORGET = TENDON_FJORDEN_CALL_FORGET, ANSWER = TENDON_FJORDEN_ON_PERMISSION, NO = 100, END = 101 };
    static const struct {
        unsigned inputs[6];
        const char *words;
        char ends;
    } rows[] = {
        {{START, ANSWER, END}, "ask scan state:B", 'B'},
        {{START, NO, END}, "ask state:D result:1:D", 'D'},
        /* the second one is told the state, the answer is the first one's */
        {{START, START, NO, END}, "ask result:1:U state:D result:1:D", 'D'},
        /* forget ends it as any start that is under way; the answer finds nobody who waits */
        {{START, FORGET, ANSWER, END}, "ask remove result:1:U result:6", 'U'},
        {{START, FORGET, NO, END}, "ask remove result:1:U result:6", 'U'},
        {{START, FORGET, CONNECT, ANSWER, END}, "ask remove result:1:U result:6 result:4", 'U'},
        {{START, FORGET, CONNECT, NO, START, END}, "ask remove result:1:U result:6 result:4 state:D result:1:D", 'D'},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        tendon_fjorden_manager m;
        script said = {""};
        tendon_fjorden_configuration c;
        tendon_fjorden_manager_init(&m, NULL, NULL);
        tendon_fjorden_configuration_init(&c);
        c.has_bond = true;
        c.bond = input_of(TENDON_FJORDEN_CALL_CONNECT).grip;
        tendon_fjorden_input input = {.kind = TENDON_FJORDEN_CALL_CONFIGURE, .configuration = &c};
        tendon_fjorden_manager_input(&m, 0, &input);
        m.handler = write_down;
        m.context = &said;
        for (const unsigned *next = rows[r].inputs; *next != END; next++) {
            input = input_of(*next == NO ? ANSWER : (tendon_fjorden_input_kind)*next);
            input.ok = *next != NO;
            tendon_fjorden_manager_input(&m, 10, &input);
        }
        assert_string_equal(said.words, rows[r].words);
        assert_int_equal(grip_letters[m.state], rows[r].ends);
        assert_int_equal(m.has_pending, rows[r].ends == 'B' || rows[r].ends == 'C');
        assert_false(m.asking);
    }
}

/* A radio that is off, or not permitted, does not become ready because a bond is removed. */
static void forgetting_makes_ready_only_what_can_be(void **state) {
    (void)state;
    for (unsigned s = 0; s < STATES; s++) {
        for (unsigned permitted = 0; permitted < 3; permitted++) { /* 2: and the radio is off */
            tendon_fjorden_manager m;
            told outputs = {0};
            reach(&m, &outputs, s);
            m.configuration.has_bond = true;
            m.configuration.bond = input_of(TENDON_FJORDEN_CALL_CONNECT).grip;
            if (s == TENDON_FJORDEN_UNINITIALIZED && permitted == 0) {
                m.authorization = TENDON_FJORDEN_AUTHORIZATION_UNDETERMINED;
            }
            m.powered = permitted < 2;
            give(&m, TENDON_FJORDEN_CALL_FORGET);
            assert_int_equal(outputs.result, TENDON_OK);
            assert_false(m.configuration.has_bond);
            bool stays = s == TENDON_FJORDEN_UNAUTHORIZED || s == TENDON_FJORDEN_UNAVAILABLE ||
                         (s == TENDON_FJORDEN_UNINITIALIZED && permitted != 1);
            assert_int_equal(m.state, stays ? s : TENDON_FJORDEN_READY);
        }
    }
}

/* Before configure() every other call fails; stopScanning() has no result. */
static void calls_before_the_configuration(void **state) {
    (void)state;
    for (unsigned call = TENDON_FJORDEN_CALL_START; call <= TENDON_FJORDEN_CALL_FORGET; call++) {
        tendon_fjorden_manager m;
        told outputs = {0};
        tendon_fjorden_manager_init(&m, count_output, &outputs);
        give(&m, (tendon_fjorden_input_kind)call);
        bool silent = call == TENDON_FJORDEN_CALL_STOP_SCANNING;
        assert_int_equal(outputs.count, silent ? 0 : 1);
        assert_int_equal(outputs.result, silent ? TENDON_OK : TENDON_FJORDEN_ERROR_MANAGER_NOT_CONFIGURED);
        assert_int_equal(m.state, TENDON_FJORDEN_UNINITIALIZED);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_before_the_configuration),
        cmocka_unit_test(forgetting_makes_ready_only_what_can_be),
        cmocka_unit_test(every_state_and_input),
        cmocka_unit_test(a_scan_has_a_result_in_each_state),
        cmocka_unit_test(a_search_that_ends_leaves_nothing),
        cmocka_unit_test(every_step_fails_to_ready),
        cmocka_unit_test(every_step_of_a_reconnection_may_be_lost),
        cmocka_unit_test(a_state_that_does_not_scan_has_stopped_its_scan),
        cmocka_unit_test(a_start_that_waits_for_the_permission),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
