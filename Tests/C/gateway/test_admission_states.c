/* SPDX-License-Identifier: MIT */
/* Each state with each input: the next state, and what is counted. Times are milliseconds of a simulated clock. */
#include "test_bytes.h"

#include "admission_turns.h"

static const tendon_address device = {.bytes = {0xC0, 0, 0, 0, 0, 1}, .type = TENDON_ADDRESS_TYPE_RANDOM};
static tendon_admission_record records[8];
enum { NOW = 10000 };

static uint32_t zero(void *context) {
    (void)context;
    return 0;
}

typedef enum row { UNKNOWN, RESPONSE, READY, PAUSED, ATTEMPT, SERVED, EXCLUDED, DISMISSED, LEAVING, ROWS } row;
typedef enum input {
    RECEIVED,
    RESPONDED,
    HEARD,
    NEXT,
    ANSWERED,
    CONNECTED,
    POSTPONE,
    RELEASED,
    FAILED,
    LOST,
    UNFIT,
    LAST,
    READMIT,
    FORGET,
    DISMISS,
    RECALL,
    BOND,
    RADIO_LOST,
    INPUTS
} input;

static bool apply(tendon_admission *a, input which, uint64_t now) {
    tendon_address address;
    uint8_t family;
    switch (which) {
    case RECEIVED:
        return tendon_admission_received(a, &device, &(tendon_admission_report){0}, now);
    case RESPONDED:
        return tendon_admission_responded(a, &device, now);
    case HEARD:
        return tendon_admission_heard(a, &device, 0, now, &family);
    case NEXT:
        return tendon_admission_next(a, 1, NULL, NULL, now, &address, &family);
    case ANSWERED:
        tendon_admission_answered(a, &device);
        return false;
    case CONNECTED:
        tendon_admission_connected(a, &device, now);
        return false;
    case POSTPONE:
        tendon_admission_postpone(a, &device, now);
        return false;
    case RELEASED:
        return turn_is_released(a, &device, now) != UINT64_MAX;
    case FAILED:
        return turn_fails(a, &device, 0, now) != UINT64_MAX;
    case LOST:
        return turn_is_lost(a, &device, now) != UINT64_MAX;
    case UNFIT:
        return tendon_admission_end_turn(a, &device, &(tendon_admission_ending){0}, now) != UINT64_MAX;
    case LAST:
        return tendon_admission_end_turn(
                   a, &device, &(tendon_admission_ending){.was_open = true, .was_released = true, .is_last = true},
                   now) != UINT64_MAX;
    case READMIT:
        tendon_admission_readmit(a, &device);
        return false;
    case FORGET:
        tendon_admission_forget(a, &device);
        return false;
    case DISMISS:
        return tendon_admission_dismiss(a, &device, now);
    case RECALL:
        tendon_admission_recall(a, &device);
        return false;
    case BOND:
        return tendon_admission_look_at_bond(a, &device, true, 0);
    case RADIO_LOST:
        tendon_admission_radio_lost(a, 0);
        return false;
    default:
        fail();
        return false;
    }
}

static void go_to(tendon_admission *a, row which) {
    tendon_admission_init(a, records, 8, &(tendon_admission_random){.next = zero}, 0);
    if (which == UNKNOWN) {
        return;
    }
    assert_true(tendon_admission_received(a, &device, &(tendon_admission_report){.awaits_response = which == RESPONSE},
                                          NOW - 100));
    if (which >= PAUSED && which != DISMISSED) {
        assert_true(apply(a, NEXT, NOW - 50));
    }
    if (which == PAUSED) {
        (void)apply(a, POSTPONE, NOW - 20);
    } else if (which == SERVED || which == LEAVING) {
        (void)apply(a, ANSWERED, NOW - 20);
    } else if (which == EXCLUDED) {
        (void)apply(a, UNFIT, NOW - 20);
    }
    if (which == DISMISSED || which == LEAVING) {
        assert_true(apply(a, DISMISS, NOW - 10));
    }
}

/* The next state, U: unknown, W: waiting, A: attempt, S: served, X: excluded, D: dismissed; then + if the input
 * returned true, or a pause. Columns: the inputs in their order. */
static const char *const table[ROWS] = {
    /*             rcv  rsp  hrd  nxt  ans  con  pos  rel  fai  los  unf  las  rea  fgt  dis  rec  bon  rad */
    [UNKNOWN] = "  W+   U    U    U    U    U    U    U    U    U    U    U    U    U    D+   U    U    U   ",
    [RESPONSE] = " W    W+   W    W    W    W    W    W    W+   W+   X    X    W    U    D+   W    W    W   ",
    [READY] = "    W    W    W    A+   W    W    W    W    W+   W+   X    X    W    U    D+   W    W    W   ",
    [PAUSED] = "   W    W    W    W    W    W    W    W    W+   W+   X    X    W    U    D+   W    W    W   ",
    [ATTEMPT] = "  A    A    A    A    S    S    W    W    W+   W+   X    X    A    A    D+   A    A    A   ",
    [SERVED] = "   S    S    S+   S    S    S    W    W    W+   W+   X    X    S    S    D+   S    S    S   ",
    [EXCLUDED] = " X    X    X    X    X    X    X    X    X+   X+   X    X    W    U    D+   X    X    X   ",
    [DISMISSED] = "D    D    D    D    D    D    D    D    D+   D+   D    D    D    D    D    U    U    D   ",
    [LEAVING] = "  D    D    D+   D    D    D    D    D    D+   D+   D    D    D    D    D    S    D    D   ",
};

static char letter(tendon_admission_state state) {
    return "UWASXD"[state];
}

static void each_state_with_each_input(void **state) {
    (void)state;
    for (int from = 0; from < ROWS; from++) {
        const char *cell = table[from];
        for (int which = 0; which < INPUTS; which++) {
            tendon_admission a;
            go_to(&a, (row)from);
            cell += strspn(cell, " ");
            bool result = apply(&a, (input)which, NOW);
            char now = letter(tendon_admission_state_of(&a, &device));
            if (now != cell[0] || result != (cell[1] == '+')) {
                fail_msg("state %d, input %d: %c%s, not %.2s", from, which, now, result ? "+" : "", cell);
            }
            cell += 1 + (cell[1] == '+');
            /* What is counted is what the table has. */
            bool has_turn = records[0].state == TENDON_ADMISSION_ATTEMPT;
            unsigned turns = 0;
            unsigned used = 0;
            unsigned attempts = 0;
            for (int i = 0; i < 8; i++) {
                has_turn = records[i].state == TENDON_ADMISSION_ATTEMPT;
                attempts += has_turn;
                turns += has_turn || records[i].state == TENDON_ADMISSION_SERVED;
                used += records[i].state != TENDON_ADMISSION_UNKNOWN;
            }
            assert_int_equal(a.served, turns);
            assert_int_equal(a.unproven, attempts);
            assert_int_equal(a.count, used);
        }
        assert_int_equal(strspn(cell, " "), strlen(cell));
    }
}

/* A dismissed device is left alone, however long it advertises, and is new afterwards. */
static void a_dismissed_device_is_left_alone(void **state) {
    (void)state;
    tendon_admission a;
    go_to(&a, SERVED);
    assert_true(apply(&a, DISMISS, NOW));
    assert_int_equal(tendon_admission_radios(&a, &device), 1); /* its turn goes on */
    (void)turn_is_released(&a, &device, NOW);
    assert_false(tendon_admission_look_at_bond(&a, &device, false, 0)); /* as each end of a turn does */
    for (uint64_t now = NOW; now < NOW + 100000; now += 100) {
        assert_false(apply(&a, RECEIVED, now));
        assert_false(tendon_admission_may_be_next(&a, &device, 1, now));
        assert_false(apply(&a, NEXT, now));
        assert_int_equal(tendon_admission_deadline(&a, now), UINT64_MAX);
    }
    assert_false(apply(&a, BOND, NOW + 100000)); /* it is paired */
    assert_true(apply(&a, RECEIVED, NOW + 100000));
    assert_true(apply(&a, NEXT, NOW + 100000));
}

static void all_are_recalled(void **state) {
    (void)state;
    tendon_admission a;
    go_to(&a, UNKNOWN);
    for (uint8_t i = 0; i < 6; i++) {
        tendon_address address = device;
        address.bytes[5] = i;
        assert_true(tendon_admission_dismiss(&a, &address, NOW));
    }
    tendon_address more = device;
    more.bytes[5] = 6;
    assert_true(tendon_admission_dismiss(&a, &more, NOW)); /* another one of them makes room */
    assert_int_equal(a.count, 6);
    tendon_admission_recall(&a, NULL);
    assert_int_equal(a.count, 0);
}

/* A bond that this radio had and has no more was removed by another program; one that another radio had, was not. */
static void a_bond_that_was_removed(void **state) {
    (void)state;
    tendon_admission a;
    go_to(&a, SERVED);
    assert_false(tendon_admission_look_at_bond(&a, &device, false, 1));
    assert_false(tendon_admission_look_at_bond(&a, &device, true, 1));
    assert_false(tendon_admission_look_at_bond(&a, &device, false, 0));
    assert_true(tendon_admission_look_at_bond(&a, &device, false, 1));
    assert_false(tendon_admission_look_at_bond(&a, &device, false, 1));
}

/* Forgotten while it is connected: its bond is removed when the turn has ended, and does not bring it back until then.
 * A bond that is made afterwards, by another program, does. */
static void a_bond_that_is_being_removed(void **state) {
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        tendon_admission a;
        bool was_known = (kind & 1) != 0;
        go_to(&a, SERVED);
        assert_false(was_known && tendon_admission_look_at_bond(&a, &device, true, 1));
        assert_true(tendon_admission_dismiss(&a, &device, NOW));
        assert_false(tendon_admission_look_at_bond(&a, &device, true, 1));
        assert_int_equal(tendon_admission_state_of(&a, &device), TENDON_ADMISSION_DISMISSED);
        (void)apply(&a, RELEASED, NOW);
        for (int look = 0; look < 3; look++) {
            assert_false(tendon_admission_look_at_bond(&a, &device, true, 1));
            assert_int_equal(tendon_admission_state_of(&a, &device), TENDON_ADMISSION_DISMISSED);
        }
        assert_false(tendon_admission_look_at_bond(&a, &device, false, 0)); /* another radio never had it */
        assert_false(tendon_admission_look_at_bond(&a, &device, true, 1));
        assert_int_equal(tendon_admission_state_of(&a, &device), TENDON_ADMISSION_DISMISSED);
        assert_false(
            tendon_admission_look_at_bond(&a, &device, false, 1)); /* not said to be removed by another program */
        uint8_t radio = (kind & 2) != 0 ? 0 : 1;
        assert_false(tendon_admission_look_at_bond(&a, &device, true, radio));
        assert_int_equal(tendon_admission_state_of(&a, &device), TENDON_ADMISSION_UNKNOWN);
    }
}

/* The adapter that takes the place of another one has its own bonds. */
static void bonds_of_a_radio_that_was_lost(void **state) {
    (void)state;
    tendon_admission a;
    go_to(&a, SERVED);
    assert_false(tendon_admission_look_at_bond(&a, &device, true, 1));
    tendon_admission_radio_lost(&a, 0);
    assert_true(tendon_admission_look_at_bond(&a, &device, false, 1));
    assert_false(tendon_admission_look_at_bond(&a, &device, true, 1));
    tendon_admission_radio_lost(&a, 1);
    assert_false(tendon_admission_look_at_bond(&a, &device, false, 1));
    assert_false(tendon_admission_look_at_bond(&a, &device, true, 1));
    assert_true(tendon_admission_look_at_bond(&a, &device, false, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_with_each_input),   cmocka_unit_test(a_dismissed_device_is_left_alone),
        cmocka_unit_test(a_bond_that_is_being_removed), cmocka_unit_test(all_are_recalled),
        cmocka_unit_test(a_bond_that_was_removed),      cmocka_unit_test(bonds_of_a_radio_that_was_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
