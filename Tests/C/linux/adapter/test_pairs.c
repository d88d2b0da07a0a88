/* SPDX-License-Identifier: MIT */
/*
 * Every pair of state and input of the parts of the kernel's radio (docs/bluez-states.md): over its two scripted
 * sockets, and, for the pairs that no controller can produce, with the tables themselves.
 */
#include "bluez_fixture.h"

#include <errno.h>
#include <string.h>

static void remove_adapter(bluez_bench *b) {
    static const uint8_t pdu[] = {TENDON_MANAGEMENT_INDEX_REMOVED, 0, 7, 0, 0, 0};
    ssize_t sent = send(b->kernel, pdu, sizeof pdu, MSG_NOSIGNAL);
    assert_int_equal(sent, b->radio.management.fd < 0 ? -1 : (ssize_t)sizeof pdu);
    bluez_read(b);
}

/* ---- adapter power ---- */

enum { POWERED, FAULTY, RECOVERING, RESETTING, CYCLING, FAILED };

typedef struct power_outcome {
    uint8_t next;
    bool forgets; /**< scanning is off */
    bool sends;   /**< scanning is set up again immediately */
    bool reports; /**< on_failure is called */
    char asks;    /**< Set Powered: '0' off, '1' on; 0: it is not sent */
} power_outcome;

/* Hardware error, switched off, switched on, deadline, lost, stalled. */
static const power_outcome power_table[TENDON_BLUEZ_POWER_STATES][TENDON_BLUEZ_POWER_INPUTS] = {
    [POWERED] = {{FAULTY, true, false, false, 0},
                 {FAILED, false, false, true, 0},
                 {POWERED, false, false, false, 0},
                 {POWERED, false, false, false, 0},
                 {FAILED, false, false, true, 0},
                 {CYCLING, true, false, false, '0'}},
    [FAULTY] = {{FAULTY, true, false, false, 0},
                {RESETTING, true, false, false, 0},
                {FAULTY, true, false, false, 0},
                {RECOVERING, true, true, false, 0},
                {FAILED, true, false, true, 0},
                {FAULTY, true, false, false, 0}},
    [RECOVERING] = {{FAULTY, true, false, false, 0},
                    {RESETTING, true, false, false, 0},
                    {RECOVERING, true, true, false, 0},
                    {POWERED, true, true, false, 0},
                    {FAILED, true, false, true, 0},
                    {CYCLING, true, false, false, '0'}},
    [RESETTING] = {{RESETTING, true, false, false, 0},
                   {RESETTING, true, false, false, 0},
                   {POWERED, true, true, false, 0},
                   {FAILED, true, false, true, 0},
                   {FAILED, true, false, true, 0},
                   {RESETTING, true, false, false, 0}},
    [CYCLING] = {{CYCLING, true, false, false, 0},
                 {RESETTING, true, false, false, '1'},
                 {CYCLING, true, false, false, 0},
                 {FAILED, true, false, true, 0},
                 {FAILED, true, false, true, 0},
                 {CYCLING, true, false, false, 0}},
    [FAILED] = {{FAILED, false, false, false, 0},
                {FAILED, false, false, false, 0},
                {FAILED, false, false, false, 0},
                {FAILED, false, false, false, 0},
                {FAILED, false, false, false, 0},
                {FAILED, false, false, false, 0}},
};

static void stall(bluez_bench *b) {
    fake.programs = 0;
    bluez_privileges.effective = 1u << 12; /* CAP_NET_ADMIN */
    (void)tendon_bluez_cycle(&b->radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT, tendon_monotonic_ms());
}

/** The latest Set Powered: '0' off, '1' on; 0: none. */
static char asked_power(bluez_bench *b) {
    uint8_t pdu[64];
    char asked = 0;
    for (ssize_t got; (got = recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT)) > 0;) {
        static const uint8_t head[] = {0x05, 0, 7, 0, 1, 0};
        asked = got == 7 && memcmp(pdu, head, sizeof head) == 0 ? (char)('0' + pdu[6]) : asked;
    }
    return asked;
}

static void reach_power(bluez_bench *b, int state) {
    bluez_request_scan(b);
    bluez_answer_pending(b, 0);
    bluez_answer_pending(b, 0);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    if (state == CYCLING) {
        stall(b);
        assert_int_equal(asked_power(b), '0');
    } else if (state == FAILED) {
        bluez_power(b, false);
        bluez_tick(b, tendon_monotonic_ms());
        b->failures = 0;
    } else if (state != POWERED) {
        bluez_hardware_error(b);
        if (state == RECOVERING) {
            bluez_tick(b, b->radio.power.deadline);
        } else if (state == RESETTING) {
            bluez_power(b, false);
        }
    }
    assert_int_equal(b->radio.power.state, state);
    if (state == RECOVERING) {
        return; /* its commands are looked at below */
    }
    bluez_drain_commands(b);
}

static void apply_power(bluez_bench *b, int input) {
    uint64_t now = tendon_monotonic_ms();
    switch (input) {
    case TENDON_BLUEZ_HARDWARE_ERROR:
        bluez_hardware_error(b);
        break;
    case TENDON_BLUEZ_SWITCHED_OFF:
    case TENDON_BLUEZ_SWITCHED_ON:
        bluez_power(b, input == TENDON_BLUEZ_SWITCHED_ON);
        break;
    case TENDON_BLUEZ_POWER_DEADLINE:
        now = b->radio.power.deadline != UINT64_MAX ? b->radio.power.deadline : now;
        break;
    case TENDON_BLUEZ_POWER_STALLED:
        stall(b);
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
            bluez_bench *b = bluez_open(false, &bluez_public_address);
            reach_power(b, where);
            apply_power(b, what);
            bool sends = b->radio.command.opcode == TENDON_HCI_LE_SET_SCAN_PARAMETERS;
            bool forgets = b->radio.scan.activity.state == TENDON_BLUEZ_OFF;
            char asks = asked_power(b);
            if (b->radio.power.state != expected->next || asks != expected->asks || sends != expected->sends ||
                b->failures != expected->reports || (expected->next != FAILED && forgets != expected->forgets)) {
                fail_msg("power state %d with input %d: state %d, sends %d, reports %d, forgets %d, asks %d", where,
                         what, b->radio.power.state, sends, b->failures, forgets, asks);
            }
            bluez_close(b);
        }
    }
}

/* ---- command queue ---- */

enum { IDLE, IN_FLIGHT, REFUSED };
enum {
    QUEUE_SENT,
    QUEUE_ADAPTER_OFF,
    QUEUE_NOT_SENT,
    QUEUE_ANSWERED,
    QUEUE_TIMEOUT,
    QUEUE_TIMER,
    QUEUE_RESET,
    QUEUE_INPUTS
};

typedef struct queue_outcome {
    uint8_t next;
    uint8_t packets; /**< that the controller gets */
    bool fails;
} queue_outcome;

/* "Sent", "adapter is off" and "not sent" are what becomes of a further request: in flight, it waits. */
static const queue_outcome queue_table[TENDON_BLUEZ_QUEUE_STATES][QUEUE_INPUTS] = {
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
    case QUEUE_SENT:
        bluez_request_advertising(b);
        break;
    case QUEUE_ADAPTER_OFF:
    case QUEUE_NOT_SENT:
        fake.refuse[FAKE_COMMAND] =
            (fake_refusal){.number = input == QUEUE_ADAPTER_OFF ? ENETDOWN : ENODEV, .times = 1};
        bluez_request_advertising(b);
        fake.refuse[FAKE_COMMAND] = (fake_refusal){0};
        break;
    case QUEUE_ANSWERED:
        bluez_complete(b, b->radio.command.opcode != 0 ? b->radio.command.opcode : TENDON_HCI_LE_SET_SCAN_PARAMETERS,
                       0);
        bluez_read(b);
        break;
    case QUEUE_TIMEOUT:
        b->radio.hci.expired(b->radio.hci.context, tendon_monotonic_ms());
        if (b->radio.timer.deadline == 0) {
            bluez_tick(b, tendon_monotonic_ms());
        }
        break;
    case QUEUE_TIMER:
        bluez_tick(b, tendon_monotonic_ms() + 1000);
        break;
    default:
        bluez_hardware_error(b);
        break;
    }
}

static void queue_with_every_input(void **state) {
    (void)state;
    for (int where = 0; where < TENDON_BLUEZ_QUEUE_STATES; where++) {
        for (int what = 0; what < QUEUE_INPUTS; what++) {
            const queue_outcome *expected = &queue_table[where][what];
            bluez_bench *b = bluez_open(false, &bluez_public_address);
            if (where == REFUSED) {
                fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENETDOWN, .times = 1};
            }
            if (where != IDLE) {
                bluez_request_scan(b);
            }
            assert_int_equal(b->radio.command.state, where);
            bluez_drain_commands(b);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_with_every_input),
        cmocka_unit_test(queue_with_every_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
