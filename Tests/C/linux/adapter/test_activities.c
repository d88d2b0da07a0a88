/* SPDX-License-Identifier: MIT */
/*
 * Scanning, advertising and attempts to connect of the kernel's radio (docs/bluez-states.md): every pair of state and
 * input, and inputs in any order.
 */
#include "bluez_fixture.h"

#include <errno.h>
#include <string.h>

static void timeout(bluez_bench *b) {
    b->radio.hci.expired(b->radio.hci.context, tendon_monotonic_ms() + TENDON_BLUEZ_COMMAND_TIMEOUT_MS);
    bluez_tick(b, tendon_monotonic_ms());
}

/* ---- scanning and advertising ---- */

enum { OFF, READY, ON, STALE };

static void activity_tables(void **state) {
    (void)state;
    static const uint8_t next[TENDON_BLUEZ_ACTIVITY_STATES][TENDON_BLUEZ_ACTIVITY_INPUTS] = {
        [OFF] = {OFF, READY, ON, OFF, OFF, STALE, OFF, OFF, OFF, OFF},
        [READY] = {READY, READY, ON, OFF, OFF, STALE, OFF, OFF, READY, OFF},
        [ON] = {ON, ON, ON, OFF, ON, STALE, STALE, ON, OFF, OFF},
        [STALE] = {STALE, STALE, STALE, OFF, STALE, STALE, STALE, STALE, STALE, OFF},
    };
    static const uint8_t requests[TENDON_BLUEZ_ACTIVITY_STATES][TENDON_BLUEZ_DEMANDS] = {
        [OFF] = {TENDON_BLUEZ_SEND_NOTHING, TENDON_BLUEZ_SEND_NOTHING, TENDON_BLUEZ_SEND_CONFIGURATION},
        [READY] = {TENDON_BLUEZ_SEND_NOTHING, TENDON_BLUEZ_SEND_NOTHING, TENDON_BLUEZ_SEND_ENABLE},
        [ON] = {TENDON_BLUEZ_SEND_DISABLE, TENDON_BLUEZ_SEND_NOTHING, TENDON_BLUEZ_SEND_NOTHING},
        [STALE] = {TENDON_BLUEZ_SEND_DISABLE, TENDON_BLUEZ_SEND_DISABLE, TENDON_BLUEZ_SEND_DISABLE},
    };
    for (int where = 0; where < TENDON_BLUEZ_ACTIVITY_STATES; where++) {
        for (int what = 0; what < TENDON_BLUEZ_ACTIVITY_INPUTS; what++) {
            tendon_bluez_activity activity = {.state = (uint8_t)where, .step = 2, .retries = 3, .retry_at = 9};
            tendon_bluez_activity_input(&activity, (tendon_bluez_activity_inputs)what);
            if (activity.state != next[where][what]) {
                fail_msg("state %d with input %d: %d", where, what, activity.state);
            }
            /* A configuration starts again with its first command, but for the success of one. */
            bool configured = what == TENDON_BLUEZ_CONFIGURED;
            assert_int_equal(activity.step, configured ? 3 : activity.state == OFF ? 0 : 2);
            bool confirms = what == TENDON_BLUEZ_ENABLED && activity.state == ON;
            assert_int_equal(activity.confirmed, confirms);
            assert_int_equal(activity.retries, confirms ? 0 : 3);
            assert_int_equal(activity.retry_at, confirms ? 0 : 9);
        }
        for (int demand = 0; demand < TENDON_BLUEZ_DEMANDS; demand++) {
            const tendon_bluez_activity activity = {.state = (uint8_t)where};
            assert_int_equal(tendon_bluez_activity_request(&activity, (tendon_bluez_demand)demand),
                             requests[where][demand]);
        }
    }
}

/* What happens to a running radio: the answers, other programs, its owner. */
enum {
    SUCCESS,
    REJECTION,
    TIMEOUT,
    STOP,
    RESTART,
    OTHER_CONFIGURES,
    OTHER_STARTS,
    OTHER_STOPS,
    CENTRAL_CONNECTS,
    RESET,
    HAPPENINGS
};
/* A scan that has joined that of another program is off; CHECKING: it tries whether the scanner is free. */
enum { JOINED = TENDON_BLUEZ_ACTIVITY_STATES, CHECKING, SCAN_STATES };
enum { NONE = 0, PARAMETERS, ENABLE, DISABLE };

typedef struct activity_outcome {
    uint8_t next;
    uint8_t sent; /**< the command in flight after it */
} activity_outcome;

/* In OFF, READY and STALE, the command in flight is the first of the configuration, enable, and disable. */
static const activity_outcome scan_table[SCAN_STATES][HAPPENINGS] = {
    [OFF] = {[SUCCESS] = {READY, ENABLE},
             [REJECTION] = {OFF, NONE}, /* retried later */
             [TIMEOUT] = {STALE, DISABLE},
             [STOP] = {OFF, PARAMETERS},
             [RESTART] = {STALE, PARAMETERS},
             [OTHER_CONFIGURES] = {OFF, PARAMETERS},
             [OTHER_STARTS] = {OFF, PARAMETERS},
             [OTHER_STOPS] = {OFF, PARAMETERS},
             [CENTRAL_CONNECTS] = {OFF, PARAMETERS},
             [RESET] = {OFF, NONE}},
    [READY] = {[SUCCESS] = {ON, NONE},
               [REJECTION] = {OFF, NONE},
               [TIMEOUT] = {STALE, DISABLE},
               [STOP] = {READY, ENABLE},
               [RESTART] = {STALE, ENABLE},
               [OTHER_CONFIGURES] = {OFF, ENABLE},
               [OTHER_STARTS] = {READY, ENABLE},
               [OTHER_STOPS] = {READY, ENABLE},
               [CENTRAL_CONNECTS] = {READY, ENABLE},
               [RESET] = {OFF, NONE}},
    [ON] = {[SUCCESS] = {ON, NONE},
            [REJECTION] = {ON, NONE},
            [TIMEOUT] = {ON, NONE},
            [STOP] = {ON, DISABLE},
            [RESTART] = {STALE, DISABLE},
            [OTHER_CONFIGURES] = {ON, NONE},
            [OTHER_STARTS] = {ON, NONE},
            [OTHER_STOPS] = {OFF, NONE},
            [CENTRAL_CONNECTS] = {ON, NONE},
            [RESET] = {OFF, NONE}},
    [STALE] = {[SUCCESS] = {OFF, PARAMETERS},
               [REJECTION] = {OFF, PARAMETERS},
               [TIMEOUT] = {STALE, DISABLE},
               [STOP] = {STALE, DISABLE},
               [RESTART] = {STALE, DISABLE},
               [OTHER_CONFIGURES] = {STALE, DISABLE},
               [OTHER_STARTS] = {STALE, DISABLE},
               [OTHER_STOPS] = {STALE, DISABLE},
               [CENTRAL_CONNECTS] = {STALE, DISABLE},
               [RESET] = {OFF, NONE}},
    [JOINED] = {[SUCCESS] = {OFF, NONE}, /* of no command */
                [REJECTION] = {OFF, NONE},
                [TIMEOUT] = {OFF, NONE},
                [STOP] = {OFF, NONE},
                [RESTART] = {OFF, PARAMETERS}, /* checks */
                [OTHER_CONFIGURES] = {OFF, NONE},
                [OTHER_STARTS] = {OFF, NONE},
                [OTHER_STOPS] = {OFF, NONE}, /* ours starts after a pause */
                [CENTRAL_CONNECTS] = {OFF, NONE},
                [RESET] = {OFF, NONE}},
    [CHECKING] = {[SUCCESS] = {READY, ENABLE},
                  [REJECTION] = {OFF, NONE},
                  [TIMEOUT] = {OFF, PARAMETERS}, /* nothing is disabled */
                  [STOP] = {OFF, PARAMETERS},
                  [RESTART] = {STALE, PARAMETERS},
                  [OTHER_CONFIGURES] = {OFF, PARAMETERS},
                  [OTHER_STARTS] = {OFF, PARAMETERS},
                  [OTHER_STOPS] = {OFF, PARAMETERS},
                  [CENTRAL_CONNECTS] = {OFF, PARAMETERS},
                  [RESET] = {OFF, NONE}},
};

/* Advertising, likewise; other programs' scans do not concern it. */
static activity_outcome advertising_expects(int where, int what) {
    if (what == OTHER_CONFIGURES || what == OTHER_STARTS || what == OTHER_STOPS) {
        static const activity_outcome same[] = {
            [OFF] = {OFF, PARAMETERS}, [READY] = {READY, ENABLE}, [ON] = {ON, NONE}, [STALE] = {STALE, DISABLE}};
        return same[where];
    }
    if (what == CENTRAL_CONNECTS && where == ON) {
        return (activity_outcome){OFF, PARAMETERS}; /* advertises again immediately */
    }
    if (where == OFF && what == SUCCESS) {
        return (activity_outcome){OFF, PARAMETERS}; /* the next command of the configuration: data */
    }
    return scan_table[where][what];
}

static void reach_activity(bluez_bench *b, bool advertises, int where) {
    tendon_bluez_activity *activity = advertises ? &b->radio.advertising.activity : &b->radio.scan.activity;
    (advertises ? bluez_request_advertising : bluez_request_scan)(b);
    if (where >= JOINED) {
        bluez_answer_pending(b, HCI_COMMAND_DISALLOWED_ERROR);
        assert_true(b->radio.scan.joined);
        b->radio.scan.unseen = 0; /* a command has shown the other scan: test_joined_ends.c has the other case */
        b->radio.scan.heard_at = 0;
        if (where == CHECKING) {
            activity->retry_at = 0; /* the pause passes */
            bluez_tick(b, tendon_monotonic_ms());
        }
        bluez_drain_commands(b);
        return;
    }
    activity->confirmed = true; /* rejections are retried */
    for (int i = 0; i < 8 && activity->state != where && where != STALE; i++) {
        bluez_answer_pending(b, 0);
    }
    if (where == STALE) {
        timeout(b);
    }
    assert_int_equal(activity->state, where);
    bluez_drain_commands(b);
}

static void apply_activity(bluez_bench *b, bool advertises, int what) {
    static const uint8_t central[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE, 0, 0x41, 0, 1, [12] = 0x18, [16] = 0x2A};
    switch (what) {
    case SUCCESS:
    case REJECTION:
        if (b->radio.command.opcode != 0) {
            bluez_answer_pending(b, what == SUCCESS ? 0 : HCI_COMMAND_DISALLOWED_ERROR);
        }
        break;
    case TIMEOUT:
        if (b->radio.command.opcode != 0) {
            timeout(b);
        }
        break;
    case STOP:
    case RESTART:
        (void)(advertises ? tendon_radio_advertise_stop : tendon_radio_scan_stop)(&b->radio.radio);
        if (what == RESTART) {
            (advertises ? bluez_request_advertising : bluez_request_scan)(b);
        }
        break;
    case OTHER_CONFIGURES: /* as it is sent; were it answered here, that would answer ours */
    {
        const uint8_t packet[] = {HCI_COMMAND_PKT, 0x0B, 0x20, 2, 1, 0};
        assert_int_equal(send(b->controller, packet, sizeof packet, 0), sizeof packet);
        bluez_read(b);
        break;
    }
    case OTHER_STARTS:
    case OTHER_STOPS:
        bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, what == OTHER_STARTS);
        break;
    case CENTRAL_CONNECTS:
        bluez_event(b, TENDON_HCI_LE_META, central, sizeof central);
        bluez_read(b);
        break;
    default:
        bluez_hardware_error(b);
        break;
    }
}

static uint8_t kind_in_flight(const bluez_bench *b) {
    if (b->radio.command.opcode == 0) {
        return NONE;
    }
    return b->radio.command.request == TENDON_BLUEZ_SEND_ENABLE    ? ENABLE
           : b->radio.command.request == TENDON_BLUEZ_SEND_DISABLE ? DISABLE
                                                                   : PARAMETERS;
}

static void activities_with_everything_that_happens(void **state) {
    (void)state;
    for (int advertises = 0; advertises < 2; advertises++) {
        for (int where = 0; where < (advertises ? TENDON_BLUEZ_ACTIVITY_STATES : SCAN_STATES); where++) {
            for (int what = 0; what < HAPPENINGS; what++) {
                activity_outcome expected = advertises ? advertising_expects(where, what) : scan_table[where][what];
                bluez_bench *b = bluez_open(false, &bluez_public_address);
                const tendon_bluez_activity *activity =
                    advertises ? &b->radio.advertising.activity : &b->radio.scan.activity;
                reach_activity(b, advertises, where);
                apply_activity(b, advertises, what);
                uint8_t sent = kind_in_flight(b);
                if (activity->state != expected.next || sent != expected.sent) {
                    fail_msg("%s, state %d, happening %d: state %d, command %d", advertises ? "advertising" : "scan",
                             where, what, activity->state, sent);
                }
                bluez_close(b);
            }
        }
    }
}

/* ---- in any order ---- */

static void settle(bluez_bench *b) {
    for (int i = 0; i < 40; i++) {
        b->radio.scan.activity.retry_at = b->radio.advertising.activity.retry_at = 0;
        b->radio.scan.heard_at = 0;
        if (b->radio.kernel.disables_until != 0) {
            b->radio.kernel.disables_until = 1; /* the kernel does not respond */
        }
        if (b->radio.command.opcode != 0) {
            bluez_answer_pending(b, 0);
        } else {
            bluez_tick(b, tendon_monotonic_ms() + 20000);
        }
    }
    bluez_drain_commands(b);
}

static void random_inputs_leave_a_radio_that_works(void **state) {
    (void)state;
    uint32_t random = 0x5EED;
    for (int round = 0; round < 500; round++) {
        bluez_bench *b = bluez_open(round % 2 == 0, &bluez_public_address);
        for (int i = 0; i < 60 && b->radio.power.state != TENDON_BLUEZ_FAILED; i++) {
            random ^= random << 13;
            random ^= random >> 17;
            random ^= random << 5;
            bool advertises = (random >> 8 & 1) != 0;
            int what = (int)(random % (HAPPENINGS + 4));
            const uint8_t last = TENDON_BLUEZ_UNANSWERED_MAX - 1;
            if (what == TIMEOUT && (b->radio.command.unanswered == last || b->radio.scan.activity.unanswered == last ||
                                    b->radio.advertising.activity.unanswered == last)) {
                continue; /* that would be the end, as it is to be */
            }
            if (what < HAPPENINGS) {
                apply_activity(b, advertises, what);
            } else if (what == HAPPENINGS) {
                (advertises ? bluez_request_advertising : bluez_request_scan)(b);
            } else if (what == HAPPENINGS + 1 && b->radio.power.state != TENDON_BLUEZ_POWERED) {
                bluez_power(b, advertises);
            } else {
                bluez_tick(b, tendon_monotonic_ms() + (random >> 16) % 1000);
            }
            bluez_drain_commands(b);
        }
        if (b->radio.power.state == TENDON_BLUEZ_RESETTING) {
            bluez_power(b, true);
        }
        assert_true(b->radio.power.state != TENDON_BLUEZ_FAILED);
        (void)tendon_radio_scan_stop(&b->radio.radio);
        (void)tendon_radio_advertise_stop(&b->radio.radio);
        settle(b);
        assert_true(b->radio.scan.activity.state == OFF || b->radio.scan.activity.state == READY);
        assert_true(b->radio.advertising.activity.state == OFF || b->radio.advertising.activity.state == READY);
        bluez_request_scan(b);
        bluez_request_advertising(b);
        settle(b);
        assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
        assert_int_equal(b->radio.advertising.activity.state, TENDON_BLUEZ_ON);
        bluez_close(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activity_tables),
        cmocka_unit_test(activities_with_everything_that_happens),
        cmocka_unit_test(random_inputs_leave_a_radio_that_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
