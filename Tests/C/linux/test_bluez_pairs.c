/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every pair of state and input of the parts of the kernel's radio (docs/bluez-states.md): over its two scripted
 * sockets, and, for the pairs that no controller can produce, with the tables themselves.
 */
#include "bluez_fixture.h"

#include <errno.h>
#include <string.h>

static const tendon_address own = {{0x00, 0xAA, 0x01, 0x00, 0x00, 0x42}, TENDON_ADDRESS_TYPE_PUBLIC};
static const uint8_t data[] = {2, 1, 6};

/** The answer to the command in flight, and what comes of it. */
static void answer(bluez_bench *b, uint8_t status) {
    bluez_complete(b, b->radio.command.opcode, status);
    bluez_read_controller(b);
}

static void drain_commands(bluez_bench *b) {
    uint8_t packet[4 + 255];
    while (recv(b->controller, packet, sizeof packet, 0) > 0) {
    }
}

static void request_scan(bluez_bench *b) {
    const tendon_scan_parameters parameters = {.active = true};
    b->radio.radio.scanning = false;
    (void)tendon_radio_scan_start(&b->radio.radio, &parameters);
}

static void request_advertising(bluez_bench *b) {
    const tendon_advertise_parameters parameters = {.data = data, .length = sizeof data};
    (void)tendon_radio_advertise_start(&b->radio.radio, &parameters);
}

static void timeout(bluez_bench *b) {
    b->radio.hci.expired(b->radio.hci.context, tendon_monotonic_ms() + TENDON_BLUEZ_COMMAND_TIMEOUT_MS);
    bluez_tick(b, tendon_monotonic_ms());
}

static void hardware_error(bluez_bench *b) {
    bluez_event(b, TENDON_HCI_HARDWARE_ERROR, "\x42", 1);
    bluez_read_controller(b);
}

static void power(bluez_bench *b, bool on) {
    bluez_settings(b, on);
    bluez_read_kernel(b);
}

static void remove_adapter(bluez_bench *b) {
    static const uint8_t pdu[] = {TENDON_MANAGEMENT_INDEX_REMOVED, 0, 7, 0, 0, 0};
    assert_int_equal(send(b->kernel, pdu, sizeof pdu, 0), sizeof pdu);
    bluez_read_kernel(b);
}

/** A command of another program with one parameter byte; answered. */
static void other_program(bluez_bench *b, uint16_t opcode, uint8_t parameter) {
    const uint8_t packet[] = {HCI_COMMAND_PKT, (uint8_t)opcode, (uint8_t)(opcode >> 8), 2, parameter, 0};
    assert_int_equal(send(b->controller, packet, sizeof packet, 0), sizeof packet);
    bluez_read_controller(b);
    bluez_complete(b, opcode, 0);
    bluez_read_controller(b);
}

/* ---- adapter power ---- */

enum { POWERED, FAULTY, RECOVERING, RESETTING, FAILED };

typedef struct power_outcome {
    uint8_t next;
    bool forgets; /**< scanning is off */
    bool sends;   /**< scanning is set up again at once */
    bool reports; /**< on_failure is called */
} power_outcome;

static const power_outcome power_table[TENDON_BLUEZ_POWER_STATES][TENDON_BLUEZ_POWER_INPUTS] = {
    [POWERED] = {{FAULTY, true, false, false},
                 {FAILED, false, false, true},
                 {POWERED, false, false, false},
                 {POWERED, false, false, false},
                 {FAILED, false, false, true}},
    [FAULTY] = {{FAULTY, true, false, false},
                {RESETTING, true, false, false},
                {FAULTY, true, false, false},
                {RECOVERING, true, true, false},
                {FAILED, true, false, true}},
    [RECOVERING] = {{FAULTY, true, false, false},
                    {RESETTING, true, false, false},
                    {RECOVERING, true, true, false},
                    {POWERED, true, true, false},
                    {FAILED, true, false, true}},
    [RESETTING] = {{RESETTING, true, false, false},
                   {RESETTING, true, false, false},
                   {POWERED, true, true, false},
                   {FAILED, true, false, true},
                   {FAILED, true, false, true}},
    [FAILED] = {{FAILED, false, false, false},
                {FAILED, false, false, false},
                {FAILED, false, false, false},
                {FAILED, false, false, false},
                {FAILED, false, false, false}},
};

static void reach_power(bluez_bench *b, int state) {
    request_scan(b);
    answer(b, 0);
    answer(b, 0);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    if (state == FAILED) {
        power(b, false);
        bluez_tick(b, tendon_monotonic_ms());
        b->failures = 0;
    } else if (state != POWERED) {
        hardware_error(b);
        if (state == RECOVERING) {
            bluez_tick(b, b->radio.power.deadline);
        } else if (state == RESETTING) {
            power(b, false);
        }
    }
    assert_int_equal(b->radio.power.state, state);
    if (state == RECOVERING) {
        return; /* its commands are looked at below */
    }
    drain_commands(b);
}

static void apply_power(bluez_bench *b, int input) {
    uint64_t now = tendon_monotonic_ms();
    switch (input) {
    case TENDON_BLUEZ_HARDWARE_ERROR:
        hardware_error(b);
        break;
    case TENDON_BLUEZ_SWITCHED_OFF:
    case TENDON_BLUEZ_SWITCHED_ON:
        power(b, input == TENDON_BLUEZ_SWITCHED_ON);
        break;
    case TENDON_BLUEZ_POWER_DEADLINE:
        now = b->radio.power.deadline != UINT64_MAX ? b->radio.power.deadline : now;
        break;
    default:
        remove_adapter(b);
        break;
    }
    if (b->radio.timer.deadline <= now) { /* as the loop does */
        bluez_tick(b, now);
    }
}

static void power_with_every_input(void **state) {
    (void)state;
    for (int where = 0; where < TENDON_BLUEZ_POWER_STATES; where++) {
        for (int what = 0; what < TENDON_BLUEZ_POWER_INPUTS; what++) {
            const power_outcome *expected = &power_table[where][what];
            bluez_bench *b = bluez_open(false, &own);
            reach_power(b, where);
            apply_power(b, what);
            bool sends = b->radio.command.opcode == TENDON_HCI_LE_SET_SCAN_PARAMETERS;
            bool forgets = b->radio.scan.activity.state == TENDON_BLUEZ_OFF;
            if (b->radio.power.state != expected->next || sends != expected->sends ||
                b->failures != expected->reports || (expected->next != FAILED && forgets != expected->forgets)) {
                fail_msg("power state %d with input %d: state %d, sends %d, reports %d, forgets %d", where, what,
                         b->radio.power.state, sends, b->failures, forgets);
            }
            bluez_close(b);
        }
    }
}

/* ---- command queue ---- */

enum { IDLE, IN_FLIGHT, REFUSED };

typedef struct queue_outcome {
    uint8_t next;
    uint8_t packets; /**< that the controller gets */
    bool fails;
} queue_outcome;

/* "Sent", "adapter is off" and "not sent" are what becomes of a further request: in flight, it waits. */
static const queue_outcome queue_table[TENDON_BLUEZ_QUEUE_STATES][TENDON_BLUEZ_QUEUE_INPUTS] = {
    [IDLE] = {{IN_FLIGHT, 1, false},
              {REFUSED, 0, false},
              {IDLE, 0, true},
              {IDLE, 0, false},
              {IDLE, 0, false},
              {IDLE, 0, false},
              {IDLE, 0, false}},
    [IN_FLIGHT] = {{IN_FLIGHT, 0, false},
                   {IN_FLIGHT, 0, false},
                   {IN_FLIGHT, 0, false},
                   {IN_FLIGHT, 1, false}, /* the next one */
                   {IN_FLIGHT, 1, false}, /* the one that leads to a known state */
                   {IN_FLIGHT, 0, false},
                   {IDLE, 0, false}},
    [REFUSED] = {{REFUSED, 0, false},
                 {REFUSED, 0, false},
                 {REFUSED, 0, false},
                 {REFUSED, 0, false},
                 {REFUSED, 0, false},
                 {IN_FLIGHT, 1, false},
                 {IDLE, 0, false}},
};

static void apply_queue(bluez_bench *b, int input) {
    switch (input) {
    case TENDON_BLUEZ_QUEUE_SENT:
        request_advertising(b);
        break;
    case TENDON_BLUEZ_QUEUE_ADAPTER_OFF:
    case TENDON_BLUEZ_QUEUE_NOT_SENT:
        sends_refused = (refused_sends){input == TENDON_BLUEZ_QUEUE_ADAPTER_OFF ? ENETDOWN : ENODEV, 1};
        request_advertising(b);
        sends_refused.times = 0;
        break;
    case TENDON_BLUEZ_QUEUE_ANSWERED:
        bluez_complete(b, b->radio.command.opcode != 0 ? b->radio.command.opcode : TENDON_HCI_LE_SET_SCAN_PARAMETERS,
                       0);
        bluez_read_controller(b);
        break;
    case TENDON_BLUEZ_QUEUE_TIMEOUT:
        b->radio.hci.expired(b->radio.hci.context, tendon_monotonic_ms());
        if (b->radio.timer.deadline == 0) {
            bluez_tick(b, tendon_monotonic_ms());
        }
        break;
    case TENDON_BLUEZ_QUEUE_TIMER:
        bluez_tick(b, tendon_monotonic_ms() + 1000);
        break;
    default:
        hardware_error(b);
        break;
    }
}

static void queue_with_every_input(void **state) {
    (void)state;
    for (int where = 0; where < TENDON_BLUEZ_QUEUE_STATES; where++) {
        for (int what = 0; what < TENDON_BLUEZ_QUEUE_INPUTS; what++) {
            const queue_outcome *expected = &queue_table[where][what];
            bluez_bench *b = bluez_open(false, &own);
            if (where == REFUSED) {
                sends_refused = (refused_sends){ENETDOWN, 1};
            }
            if (where != IDLE) {
                request_scan(b);
            }
            assert_int_equal(b->radio.command.state, where);
            drain_commands(b);
            apply_queue(b, what);
            int packets = 0;
            for (uint8_t packet[4 + 255]; recv(b->controller, packet, sizeof packet, 0) > 0; packets++) {
            }
            bool failed = b->radio.power.state == TENDON_BLUEZ_FAILED;
            if (b->radio.command.state != expected->next || packets != expected->packets || failed != expected->fails) {
                fail_msg("queue state %d with input %d: state %d, %d packets, failed %d", where, what,
                         b->radio.command.state, packets, failed);
            }
            assert_true((b->radio.command.opcode != 0) == (b->radio.command.state == IN_FLIGHT));
            assert_true((b->radio.hci.deadline != UINT64_MAX) == (b->radio.command.state == IN_FLIGHT));
            bluez_close(b);
        }
    }
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
enum { SUCCESS, REJECTION, TIMEOUT, STOP, RESTART, OTHER_CONFIGURES, OTHER_STOPS, CENTRAL_CONNECTS, RESET, HAPPENINGS };
enum { NONE = 0, PARAMETERS, ENABLE, DISABLE };

typedef struct activity_outcome {
    uint8_t next;
    uint8_t sent; /**< the command in flight after it */
} activity_outcome;

/* In OFF, READY and STALE, the command in flight is the first of the configuration, enable, and disable. */
static const activity_outcome scan_table[TENDON_BLUEZ_ACTIVITY_STATES][HAPPENINGS] = {
    [OFF] = {[SUCCESS] = {READY, ENABLE},
             [REJECTION] = {OFF, NONE}, /* retried later */
             [TIMEOUT] = {STALE, DISABLE},
             [STOP] = {OFF, PARAMETERS},
             [RESTART] = {STALE, PARAMETERS},
             [OTHER_CONFIGURES] = {OFF, PARAMETERS},
             [OTHER_STOPS] = {OFF, PARAMETERS},
             [CENTRAL_CONNECTS] = {OFF, PARAMETERS},
             [RESET] = {OFF, NONE}},
    [READY] = {[SUCCESS] = {ON, NONE},
               [REJECTION] = {OFF, NONE},
               [TIMEOUT] = {STALE, DISABLE},
               [STOP] = {READY, ENABLE},
               [RESTART] = {STALE, ENABLE},
               [OTHER_CONFIGURES] = {OFF, ENABLE},
               [OTHER_STOPS] = {READY, ENABLE},
               [CENTRAL_CONNECTS] = {READY, ENABLE},
               [RESET] = {OFF, NONE}},
    [ON] = {[SUCCESS] = {ON, NONE},
            [REJECTION] = {ON, NONE},
            [TIMEOUT] = {ON, NONE},
            [STOP] = {ON, DISABLE},
            [RESTART] = {STALE, DISABLE},
            [OTHER_CONFIGURES] = {ON, NONE},
            [OTHER_STOPS] = {OFF, NONE},
            [CENTRAL_CONNECTS] = {ON, NONE},
            [RESET] = {OFF, NONE}},
    [STALE] = {[SUCCESS] = {OFF, PARAMETERS},
               [REJECTION] = {OFF, PARAMETERS},
               [TIMEOUT] = {STALE, DISABLE},
               [STOP] = {STALE, DISABLE},
               [RESTART] = {STALE, DISABLE},
               [OTHER_CONFIGURES] = {STALE, DISABLE},
               [OTHER_STOPS] = {STALE, DISABLE},
               [CENTRAL_CONNECTS] = {STALE, DISABLE},
               [RESET] = {OFF, NONE}},
};

/* Advertising, likewise; other programs' scans do not concern it. */
static activity_outcome advertising_expects(int where, int what) {
    if (what == OTHER_CONFIGURES || what == OTHER_STOPS) {
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
    (advertises ? request_advertising : request_scan)(b);
    activity->confirmed = true; /* rejections are retried */
    for (int i = 0; i < 8 && activity->state != where && where != STALE; i++) {
        answer(b, 0);
    }
    if (where == STALE) {
        timeout(b);
    }
    assert_int_equal(activity->state, where);
    drain_commands(b);
}

static void apply_activity(bluez_bench *b, bool advertises, int what) {
    static const uint8_t central[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE, 0, 0x41, 0, 1, [11] = 0x18, [15] = 0x2A};
    switch (what) {
    case SUCCESS:
    case REJECTION:
        if (b->radio.command.opcode != 0) {
            answer(b, what == SUCCESS ? 0 : HCI_COMMAND_DISALLOWED_ERROR);
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
            (advertises ? request_advertising : request_scan)(b);
        }
        break;
    case OTHER_CONFIGURES: /* as it is sent; were it answered here, that would answer ours */
    {
        const uint8_t packet[] = {HCI_COMMAND_PKT, 0x0B, 0x20, 2, 1, 0};
        assert_int_equal(send(b->controller, packet, sizeof packet, 0), sizeof packet);
        bluez_read_controller(b);
        break;
    }
    case OTHER_STOPS:
        other_program(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
        break;
    case CENTRAL_CONNECTS:
        bluez_event(b, TENDON_HCI_LE_META, central, sizeof central);
        bluez_read_controller(b);
        break;
    default:
        hardware_error(b);
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
        for (int where = 0; where < TENDON_BLUEZ_ACTIVITY_STATES; where++) {
            for (int what = 0; what < HAPPENINGS; what++) {
                activity_outcome expected = advertises ? advertising_expects(where, what) : scan_table[where][what];
                bluez_bench *b = bluez_open(false, &own);
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

/* ---- attempts to connect ---- */

static void attempts_with_every_prospect(void **state) {
    (void)state;
    static const uint8_t table[TENDON_BLUEZ_ATTEMPT_STATES][TENDON_BLUEZ_PROSPECTS] = {
        [TENDON_BLUEZ_ATTEMPT_WAITING][TENDON_BLUEZ_CLEAR] = TENDON_BLUEZ_ASK_KERNEL,
        [TENDON_BLUEZ_ATTEMPT_ASKED][TENDON_BLUEZ_STUCK] = TENDON_BLUEZ_ASK_AGAIN,
    };
    for (int where = 0; where < TENDON_BLUEZ_ATTEMPT_STATES; where++) {
        for (int what = 0; what < TENDON_BLUEZ_PROSPECTS; what++) {
            assert_int_equal(tendon_bluez_attempt_next((tendon_bluez_attempt_state)where, (tendon_bluez_prospect)what),
                             table[where][what]);
        }
    }
}

/* ---- in any order ---- */

static void settle(bluez_bench *b) {
    for (int i = 0; i < 40; i++) {
        b->radio.scan.activity.retry_at = b->radio.advertising.activity.retry_at = 0;
        if (b->radio.command.opcode != 0) {
            answer(b, 0);
        } else {
            bluez_tick(b, tendon_monotonic_ms() + 20000);
        }
    }
    drain_commands(b);
}

static void random_inputs_leave_a_radio_that_works(void **state) {
    (void)state;
    uint32_t random = 0x5EED;
    for (int round = 0; round < 500; round++) {
        bluez_bench *b = bluez_open(round % 2 == 0, &own);
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
                (advertises ? request_advertising : request_scan)(b);
            } else if (what == HAPPENINGS + 1 && b->radio.power.state != TENDON_BLUEZ_POWERED) {
                power(b, advertises);
            } else {
                bluez_tick(b, tendon_monotonic_ms() + (random >> 16) % 1000);
            }
            drain_commands(b);
        }
        if (b->radio.power.state == TENDON_BLUEZ_RESETTING) {
            power(b, true);
        }
        assert_true(b->radio.power.state != TENDON_BLUEZ_FAILED);
        (void)tendon_radio_scan_stop(&b->radio.radio);
        (void)tendon_radio_advertise_stop(&b->radio.radio);
        settle(b);
        assert_true(b->radio.scan.activity.state == OFF || b->radio.scan.activity.state == READY);
        assert_true(b->radio.advertising.activity.state == OFF || b->radio.advertising.activity.state == READY);
        request_scan(b);
        request_advertising(b);
        settle(b);
        assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
        assert_int_equal(b->radio.advertising.activity.state, TENDON_BLUEZ_ON);
        bluez_close(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_with_every_input),
        cmocka_unit_test(queue_with_every_input),
        cmocka_unit_test(activity_tables),
        cmocka_unit_test(activities_with_everything_that_happens),
        cmocka_unit_test(attempts_with_every_prospect),
        cmocka_unit_test(random_inputs_leave_a_radio_that_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
