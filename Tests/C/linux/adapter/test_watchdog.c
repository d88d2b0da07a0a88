/* SPDX-License-Identifier: MIT */
/* A controller, or a kernel, that does nothing more: what the watchdog does about it, in which order, and how often. */
#include "bluez_connecting.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NET_ADMIN (1u << 12)

static const uint8_t stop_discovery[] = {0x24, 0, 7, 0, 1, 0, 0};

static void expect_set_powered(bluez_bench *b, uint8_t on) {
    const uint8_t expected[] = {0x05, 0, 7, 0, 1, 0, on};
    uint8_t pdu[64];
    assert_int_equal(recv(b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), sizeof expected);
    assert_memory_equal(pdu, expected, sizeof expected);
}

/** Command Complete of Set Powered, with the settings: LE, and on or off. */
static void answer_set_powered(bluez_bench *b, uint8_t on) {
    const uint8_t pdu[] = {1, 0, 7, 0, 7, 0, 0x05, 0, 0, on, 2, 0, 0};
    assert_int_equal(send(b->kernel, pdu, sizeof pdu, 0), sizeof pdu);
    bluez_read(b);
}

/** This process alone uses the adapter, and may power it off. */
static void alone(void) {
    fake.programs = 0;
    bluez_privileges.effective = NET_ADMIN;
}

/** A scan whose commands get no response. */
static bluez_bench *unanswered(void) {
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    alone();
    bluez_start_scan(b);
    return b;
}

static void leave_unanswered(bluez_bench *b) {
    for (int i = 0; i < TENDON_BLUEZ_UNANSWERED_MAX; i++) {
        bluez_expire_command(b);
    }
    bluez_drain_commands(b);
}

static void cycle_ends(bluez_bench *b) {
    expect_set_powered(b, 0);
    bluez_expect_nothing(b); /* nothing is sent until it is on again */
    answer_set_powered(b, 0);
    expect_set_powered(b, 1);
    bluez_expect_nothing(b);
    answer_set_powered(b, 1);
    bluez_tick(b, tendon_monotonic_ms());
    bluez_expect_no_management(b);
}

static void a_silent_controller_is_powered_off_and_on(void **state) {
    (void)state;
    bluez_bench *b = unanswered();
    leave_unanswered(b);
    cycle_ends(b);
    assert_int_equal(b->failures, 0);
    assert_int_equal(b->radio.counters.power_cycles, 1);
    assert_true(b->radio.power.deadline == UINT64_MAX);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0); /* what was started starts again */
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    bluez_power(b, false); /* by another program: that is the reason then, not the controller's silence */
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->failures, 1);
    assert_int_equal(b->failure, tendon_bluez_why_off(b->radio.index));
    bluez_close(b);
}

static void ends(bluez_bench *b) {
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->radio.timer.deadline, UINT64_MAX); /* nothing is left to do */
    assert_int_equal(b->failures, 1);
    assert_int_equal(b->failure, TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->failures, 1); /* told once */
    bluez_close(b);
}

/* Refused, answered in part, not answered in time, not sent; both times that it is asked for. */
static void an_adapter_that_does_not_come_back_ends_the_radio(void **state) {
    (void)state;
    static const uint8_t refused[] = {2, 0, 7, 0, 3, 0, 0x05, 0, TENDON_MANAGEMENT_RFKILLED};
    static const uint8_t part[] = {1, 0, 7, 0, 6, 0, 0x05, 0, 0, 1, 2, 0};
    for (int way = 0; way < 8; way++) {
        bool on = way >= 4;
        bluez_bench *b = unanswered();
        fake.refuse[FAKE_SEND] = (fake_refusal){.number = way == 3 ? ENOBUFS : 0};
        leave_unanswered(b);
        if (on) {
            expect_set_powered(b, 0);
            fake.refuse[FAKE_SEND] = (fake_refusal){.number = way == 7 ? ENOBUFS : 0};
            answer_set_powered(b, 0);
        }
        switch (way % 4) {
        case 0:
            assert_int_equal(send(b->kernel, refused, sizeof refused, 0), sizeof refused);
            bluez_read(b);
            break;
        case 1:
            assert_int_equal(send(b->kernel, part, sizeof part, 0), sizeof part);
            bluez_read(b);
            break;
        case 2:
            assert_in_range(b->radio.power.deadline, tendon_monotonic_ms() + 25000,
                            tendon_monotonic_ms() + TENDON_BLUEZ_COMMAND_TIMEOUT_MS + TENDON_BLUEZ_CYCLE_LIMIT_MS);
            b->radio.power.deadline = 0;
            break;
        default:
            break;
        }
        if (way == 3) { /* the timer has been called */
            assert_int_equal(b->failures, 1);
            b->failures = 0;
            b->radio.power.failure_reported = false;
        }
        ends(b);
    }
}

/* Command Complete with a status, Rfkilled, and settings all the same: they say nothing. */
static void a_refusal_with_settings_is_one(void **state) {
    (void)state;
    static const uint8_t refused[] = {1, 0, 7, 0, 7, 0, 0x05, 0, TENDON_MANAGEMENT_RFKILLED, 0, 2, 0, 0};
    bluez_bench *b = unanswered();
    leave_unanswered(b);
    expect_set_powered(b, 0);
    assert_int_equal(send(b->kernel, refused, sizeof refused, 0), sizeof refused);
    bluez_read(b);
    ends(b);
}

/* Another program would lose its connections; without the right the kernel would refuse. */
static void what_others_use_is_not_powered_off(void **state) {
    (void)state;
    for (int why = 0; why < 4; why++) {
        bluez_bench *b = unanswered();
        fake.programs = why == 0 ? 1 : why == 1 ? -1 : 0;
        bluez_privileges = (privileges){.effective = why == 2 ? ~NET_ADMIN : ~0u, .error = why == 3 ? EPERM : 0};
        leave_unanswered(b);
        bluez_expect_no_management(b);
        assert_int_equal(b->radio.counters.power_cycles, 0);
        assert_int_equal(b->failures, 1);
        assert_int_equal(b->failure, TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
        bluez_close(b);
    }
    bluez_bench *b = unanswered();
    b->radio.unprivileged = true;
    assert_false(tendon_bluez_cycle(&b->radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT, tendon_monotonic_ms()));
    bluez_close(b);
}

static void after_three_times_it_is_given_up(void **state) {
    (void)state;
    uint64_t begin = tendon_monotonic_ms(), since = 0;
    bluez_bench *b = unanswered();
    for (int i = 0; i < TENDON_BLUEZ_CYCLES_MAX; i++) {
        leave_unanswered(b);
        cycle_ends(b);
        since = i == 0 ? b->radio.power.cycled_since : since;
    }
    assert_true(since >= begin && b->radio.power.cycled_since == since); /* the first one of them */
    uint64_t later = since + TENDON_BLUEZ_CYCLES_WINDOW_MS;
    assert_false(tendon_bluez_cycle(&b->radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT, later - 1));
    leave_unanswered(b);
    bluez_expect_no_management(b);
    assert_int_equal(b->failure, TENDON_RADIO_ERROR_COMMAND_TIMEOUT);
    assert_true(tendon_bluez_cycle(&b->radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT, later));
    bluez_close(b);
}

/* The commands of the adapter that was powered off and on have a limit of their own. */
static void the_count_begins_again_with_the_adapter(void **state) {
    (void)state;
    bluez_bench *b = unanswered();
    leave_unanswered(b);
    cycle_ends(b);
    for (int i = 1; i < TENDON_BLUEZ_UNANSWERED_MAX; i++) {
        bluez_expire_command(b);
    }
    bluez_expect_no_management(b);
    assert_int_equal(b->radio.counters.power_cycles, 1);
    bluez_expire_command(b);
    expect_set_powered(b, 0);
    bluez_close(b);
}

/* Another program sets it, or a late response arrives: nobody waits for it. */
static void a_response_that_nobody_waits_for_changes_nothing(void **state) {
    (void)state;
    bluez_bench *b = unanswered();
    answer_set_powered(b, 0);
    assert_int_equal(b->radio.power.state, TENDON_BLUEZ_POWERED);
    bluez_close(b);
}

/* ---- a scanner that falls silent ---- */

/** Of several devices: what one does says nothing about the controller. */
static void report(bluez_bench *b) {
    for (uint8_t i = 0; i < TENDON_BLUEZ_SILENCE_DEVICES; i++) {
        const uint8_t parameters[] = {TENDON_HCI_LE_ADVERTISING_REPORT, 1, 0, 0, i, 5, 4, 3, 2, 1, 0, 0xC0};
        bluez_event(b, TENDON_HCI_LE_META, parameters, sizeof parameters);
    }
    bluez_read(b);
}

/** Nothing is reported for so long; the timer expires as often as it was set for that time. @return whether the radio
 * has done something about it. */
static bool silence(bluez_bench *b, uint64_t ms) {
    tendon_bluez_counters before = b->radio.counters;
    fake.now += ms;
    for (int i = 0; i < 10 && b->radio.timer.deadline <= fake.now; i++) {
        bluez_tick(b, fake.now);
    }
    assert_true(b->radio.timer.deadline > fake.now);
    return b->radio.command.opcode != 0 || memcmp(&before, &b->radio.counters, sizeof before) != 0;
}

static bluez_bench *listening(void) {
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    alone();
    return b;
}

static void scan_starts_again(bluez_bench *b) {
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
}

static void a_silent_scanner_is_started_again_then_powered_off_and_on(void **state) {
    (void)state;
    bluez_bench *b = listening();
    report(b);
    assert_true(silence(b, TENDON_BLUEZ_SILENCE_MS));
    scan_starts_again(b);
    assert_int_equal(b->radio.counters.scan_restarts, 1);
    assert_true(silence(b, TENDON_BLUEZ_SILENCE_MS));
    cycle_ends(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
    assert_false(silence(b, 100 * TENDON_BLUEZ_SILENCE_MS)); /* nothing advertises: believed from here on */
    report(b);
    assert_true(silence(b, TENDON_BLUEZ_SILENCE_MS)); /* and watched again */
    scan_starts_again(b);
    assert_int_equal(b->radio.counters.scan_restarts, 2);
    assert_int_equal(b->radio.counters.power_cycles, 1);
    assert_int_equal(b->failures, 0);
    bluez_close(b);
}

/* Several devices, the reports of which ended within 10 s, fell silent together. */
static void only_devices_that_fall_silent_together_count(void **state) {
    (void)state;
    for (uint64_t more = 0; more < 2; more++) {
        bluez_bench *b = listening();
        const uint64_t now = tendon_monotonic_ms();
        tendon_bluez_scan *scan = &b->radio.scan;
        report(b);
        scan->heard_at = scan->silent_since = now - TENDON_BLUEZ_SILENCE_MS;
        for (size_t i = 0; i < TENDON_BLUEZ_SILENCE_DEVICES; i++) {
            scan->latest[i].at = scan->silent_since - (i == 2 ? TENDON_BLUEZ_SILENCE_AT_ONCE_MS + more : 0);
        }
        scan->restarted = true;
        bluez_tick(b, now);
        assert_int_equal(b->radio.counters.power_cycles, 1 - more);
        bluez_close(b);
    }
}

static void reports_keep_the_watchdog_quiet(void **state) {
    (void)state;
    bluez_bench *b = listening();
    assert_false(silence(b, 100 * TENDON_BLUEZ_SILENCE_MS)); /* no report has ever come */
    for (int i = 0; i < 5; i++) {
        report(b);
        assert_false(silence(b, TENDON_BLUEZ_SILENCE_MS - 1000));
    }
    report(b);
    assert_true(silence(b, TENDON_BLUEZ_SILENCE_MS));
    scan_starts_again(b);
    report(b); /* it was the scan: the next silence begins with the first step again */
    assert_true(silence(b, TENDON_BLUEZ_SILENCE_MS));
    scan_starts_again(b);
    assert_int_equal(b->radio.counters.scan_restarts, 2);
    assert_int_equal(b->radio.counters.power_cycles, 0);
    bluez_close(b);
}

/* Before the first report there is nothing to wait for; the step that starts the scan again waits for its response. */
static void the_timer_is_set_only_for_what_is_to_come(void **state) {
    (void)state;
    bluez_bench *b = listening();
    const uint64_t now = tendon_monotonic_ms();
    bluez_tick(b, now);
    assert_int_equal(b->radio.timer.deadline, UINT64_MAX);
    report(b);
    b->radio.scan.heard_at = now;
    bluez_tick(b, now + 1000);
    assert_int_equal(b->radio.timer.deadline, now + TENDON_BLUEZ_SILENCE_MS);
    bluez_tick(b, now + TENDON_BLUEZ_SILENCE_MS);
    assert_int_equal(b->radio.timer.deadline, UINT64_MAX);
    assert_int_equal(bluez_expect(b, TENDON_HCI_LE_SET_SCAN_ENABLE)[0], 0);
    bluez_close(b);
}

static void a_scan_that_is_stopped_is_not_watched(void **state) {
    (void)state;
    bluez_bench *b = listening();
    report(b);
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    b->radio.scan.heard_at -= TENDON_BLUEZ_SILENCE_MS;
    bluez_tick(b, tendon_monotonic_ms()); /* the controller has not responded yet */
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
    bluez_tick(b, tendon_monotonic_ms());
    bluez_expect_nothing(b);
    assert_int_equal(b->radio.counters.scan_restarts, 0);
    bluez_close(b);
}

/* With a connection, and where it is not ours to do, a silent scanner ends nothing. */
static void silence_ends_no_connection(void **state) {
    (void)state;
    for (int why = 0; why < 2; why++) {
        bluez_bench *b = listening();
        b->radio.kernel.connections = why == 0;
        fake.programs = why == 0 ? 0 : 1;
        report(b);
        assert_true(silence(b, TENDON_BLUEZ_SILENCE_MS));
        scan_starts_again(b);
        assert_false(silence(b, TENDON_BLUEZ_SILENCE_MS));
        bluez_expect_no_management(b);
        bluez_expect_nothing(b);
        assert_int_equal(b->failures, 0);
        assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
        bluez_close(b);
    }
}

/* ---- a controller that stops while a connection is there ---- */

enum { READ_LOCAL_VERSION = 0x1001 };

/** A value arrives; then nothing, for so long. */
static void value_then_silence(bluez_connecting *l, uint64_t ms) {
    static const uint8_t value[] = {0x1B, 0x03, 0x00, 0x2A};
    bluez_bench *b = l->b;
    assert_int_equal(send(bluez_far_end(), value, sizeof value, 0), (ssize_t)sizeof value);
    bluez_link_ready(l->b, &l->link, TENDON_READABLE);
    assert_true(b->radio.timer.deadline <= tendon_monotonic_ms() + TENDON_BLUEZ_DATA_PAUSE_MS);
    b->radio.data_at -= ms;
    bluez_tick(b, tendon_monotonic_ms());
}

static bluez_connecting *streaming(void) {
    bluez_connecting *l = bluez_connecting_connected();
    bluez_drain_commands(l->b);
    alone();
    return l;
}

static void a_controller_that_stops_in_a_stream_is_powered_off_and_on(void **state) {
    (void)state;
    bluez_connecting *l = streaming();
    value_then_silence(l, TENDON_BLUEZ_DATA_PAUSE_MS);
    assert_int_equal(l->b->radio.command.opcode, READ_LOCAL_VERSION);
    bluez_drain_commands(l->b);
    bluez_expire_command(l->b);
    cycle_ends(l->b);
    assert_int_equal(l->b->radio.counters.power_cycles, 1);
    bluez_connecting_close(l);
}

/* The kernel would wait 2 s for the end of each connection. */
static void a_controller_that_stops_is_taken_down_at_once(void **state) {
    (void)state;
    bluez_connecting *l = streaming();
    fake.refuse[FAKE_IOCTL] = (fake_refusal){0};
    fake_add(7, false)->powered = true;
    value_then_silence(l, TENDON_BLUEZ_DATA_PAUSE_MS);
    bluez_drain_commands(l->b);
    bluez_expire_command(l->b);
    assert_int_equal(fake_of(7)->powered_off, 1);
    bluez_expect_no_management(l->b);
    bluez_power(l->b, false);
    expect_set_powered(l->b, 1);
    answer_set_powered(l->b, 1);
    assert_int_equal(l->b->failures, 0);
    assert_int_equal(l->b->radio.power.state, TENDON_BLUEZ_POWERED);
    bluez_connecting_close(l);
}

static void a_device_that_pauses_is_left_alone(void **state) {
    (void)state;
    bluez_connecting *l = streaming();
    value_then_silence(l, TENDON_BLUEZ_DATA_PAUSE_MS - 500);
    bluez_expect_nothing(l->b);
    value_then_silence(l, TENDON_BLUEZ_DATA_PAUSE_MS);
    (void)bluez_answer(l->b, READ_LOCAL_VERSION, 0);
    for (int i = 0; i < 10; i++) { /* asked once */
        l->b->radio.data_at -= TENDON_BLUEZ_DATA_PAUSE_MS;
        bluez_tick(l->b, tendon_monotonic_ms());
    }
    bluez_expect_nothing(l->b);
    bluez_expect_no_management(l->b);
    assert_int_equal(l->b->radio.counters.power_cycles, 0);
    bluez_connecting_close(l);
}

/* Without CAP_NET_RAW no command can be sent, and an observer sends none. */
static void only_a_radio_that_sends_commands_asks_the_controller(void **state) {
    (void)state;
    for (int way = 0; way < 2; way++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        const uint64_t now = tendon_monotonic_ms();
        b->radio.unprivileged = way == 0;
        b->radio.use = way == 1 ? TENDON_BLUEZ_OBSERVER : TENDON_BLUEZ_SHARED;
        tendon_bluez_watch_data(&b->radio, now);
        bluez_tick(b, now + TENDON_BLUEZ_DATA_PAUSE_MS);
        bluez_expect_nothing(b);
        bluez_close(b);
    }
}

/* ---- a controller that reports each device once, until the scan is started again ---- */

static void the_list_of_duplicates_is_cleared(void **state) {
    (void)state;
    for (int filters = 0; filters < 2; filters++) {
        const tendon_scan_parameters parameters = {.filter_duplicates = filters != 0};
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        assert_int_equal(tendon_radio_scan_start(&b->radio.radio, &parameters), TENDON_OK);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[1], filters);
        for (int minute = 1; minute <= 3; minute++) {
            assert_false(silence(b, TENDON_BLUEZ_REFRESH_MS - 1000));
            report(b); /* of another device: makes no difference */
            assert_int_equal(silence(b, 1000), filters);
            if (filters) {
                scan_starts_again(b);
            }
            report(b);
        }
        assert_int_equal(b->radio.counters.scan_refreshes, filters ? 3 : 0);
        assert_int_equal(b->radio.counters.scan_restarts, 0);
        bluez_close(b);
    }
}

/* ---- a kernel that connects to nobody ---- */

static void stuck(bluez_connecting *l, int times) {
    for (int i = 0; i < times; i++) {
        bluez_connecting_elapse(l, 310); /* the socket is closed */
        bluez_connecting_elapse(l, 60);  /* the next connect() */
    }
}

static void a_kernel_that_connects_to_nobody_is_powered_off_and_on(void **state) {
    (void)state;
    uint8_t pdu[64];
    bluez_connecting *l = bluez_connecting_open();
    alone();
    stuck(l, TENDON_BLUEZ_STUCK_DISCOVERY - 1);
    bluez_expect_no_management(l->b);
    stuck(l, 1);
    assert_int_equal(recv(l->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT), sizeof stop_discovery);
    assert_memory_equal(pdu, stop_discovery, sizeof stop_discovery);
    stuck(l, TENDON_BLUEZ_STUCK_MAX - TENDON_BLUEZ_STUCK_DISCOVERY - 1);
    bluez_expect_no_management(l->b);
    l->b->radio.attempts[0].check_at = 0;
    bluez_tick(l->b, tendon_monotonic_ms());
    assert_int_equal(l->link.source.fd, -1);
    int connects = fake.connects;
    l->b->radio.attempts[0].check_at = 0;
    bluez_tick(l->b, tendon_monotonic_ms());
    assert_int_equal(fake.connects, connects); /* not while it is off */
    cycle_ends(l->b);
    assert_int_equal(fake.connects, connects + 1); /* the attempt goes on */
    assert_int_equal(l->link.state, TENDON_LINK_ASKED);
    assert_int_equal(l->b->failures, 0);
    bluez_connecting_close(l);
}

/* Eight attempts at the same time are stuck ten times in no time: the row must also last. */
static void a_row_of_stuck_connects_must_last(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    alone();
    for (int i = 0; i < 1000; i++) {
        tendon_bluez_watch_connects(&b->radio, 100000);
    }
    tendon_bluez_watch_connects(&b->radio, 100000 + TENDON_BLUEZ_STUCK_MS - 1);
    assert_int_equal(b->radio.counters.power_cycles, 0);
    tendon_bluez_watch_connects(&b->radio, 100000 + TENDON_BLUEZ_STUCK_MS);
    assert_int_equal(b->radio.counters.power_cycles, 1);
    bluez_close(b);
}

/* A connection that is there is no sign of life: the kernel may even have lost it. */
static void a_row_of_stuck_connects_beside_connections_lasts_longer(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    alone();
    b->radio.kernel.connections = 1;
    for (uint64_t ms = 0; ms < TENDON_BLUEZ_STUCK_CONNECTED_MS; ms += 500) {
        tendon_bluez_watch_connects(&b->radio, 100000 + ms);
    }
    assert_int_equal(b->radio.counters.power_cycles, 0);
    tendon_bluez_watch_connects(&b->radio, 100000 + TENDON_BLUEZ_STUCK_CONNECTED_MS);
    assert_int_equal(b->radio.counters.power_cycles, 1);
    bluez_close(b);
}

/* While another program scans, none is stuck: the row that begins afterwards is a new one, as is its time. */
static void a_row_of_stuck_connects_begins_again(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    alone();
    tendon_bluez_watch_connects(&b->radio, 100000);
    b->radio.kernel.scans = true;
    tendon_bluez_watch_connects(&b->radio, 100001);
    b->radio.kernel.scans = false;
    const uint64_t later = 100001 + TENDON_BLUEZ_STUCK_MS;
    for (int i = 0; i < 1000; i++) {
        tendon_bluez_watch_connects(&b->radio, later);
    }
    assert_int_equal(b->radio.counters.power_cycles, 0);
    tendon_bluez_watch_connects(&b->radio, later + TENDON_BLUEZ_STUCK_MS);
    assert_int_equal(b->radio.counters.power_cycles, 1);
    bluez_close(b);
}

/* It has not found the peer; or it connects now and then; or there are connections; or other programs. */
static void a_kernel_that_does_something_is_left_on(void **state) {
    (void)state;
    uint8_t pdu[64];
    for (int why = 0; why < 4; why++) {
        bluez_connecting *l = bluez_connecting_open();
        alone();
        l->b->radio.kernel.connections = why == 2;
        fake.programs = why == 3 ? 1 : 0;
        for (int i = 0; i < 3 * TENDON_BLUEZ_STUCK_MAX; i++) {
            l->b->radio.kernel.scans = why == 0;
            if (why == 1 && i % 2 == 0) {
                bluez_kernel_sends(l, 0x200D, 0);
                bluez_connection_complete(l, 0x3E, 0);
            }
            l->b->radio.attempts[0].begun_at = 0;
            stuck(l, 1);
        }
        int stops = 0;
        for (ssize_t got; (got = recv(l->b->kernel, pdu, sizeof pdu, MSG_DONTWAIT)) > 0; stops++) {
            assert_int_equal(got, sizeof stop_discovery);
            assert_memory_equal(pdu, stop_discovery, sizeof stop_discovery);
        }
        assert_int_equal(stops, why == 2 ? 3 : 0);
        assert_int_equal(l->b->radio.counters.power_cycles, 0);
        bluez_connecting_close(l);
    }
}

/* All attempts wait: those that the kernel was given, and those that were about to be. */
static void attempts_outlast_a_silent_controller(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    alone();
    assert_true(tendon_bluez_cycle(&l->b->radio, TENDON_RADIO_ERROR_COMMAND_TIMEOUT, tendon_monotonic_ms()));
    assert_int_equal(l->link.source.fd, -1);
    assert_int_equal(l->link.state, TENDON_LINK_WAITING);
    cycle_ends(l->b);
    assert_int_equal(fake.connects, 2);
    bluez_connecting_close(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_controller_that_stops_in_a_stream_is_powered_off_and_on),
        cmocka_unit_test(a_controller_that_stops_is_taken_down_at_once),
        cmocka_unit_test(a_device_that_pauses_is_left_alone),
        cmocka_unit_test(a_silent_controller_is_powered_off_and_on),
        cmocka_unit_test(an_adapter_that_does_not_come_back_ends_the_radio),
        cmocka_unit_test(a_refusal_with_settings_is_one),
        cmocka_unit_test(what_others_use_is_not_powered_off),
        cmocka_unit_test(after_three_times_it_is_given_up),
        cmocka_unit_test(the_count_begins_again_with_the_adapter),
        cmocka_unit_test(a_response_that_nobody_waits_for_changes_nothing),
        cmocka_unit_test(a_silent_scanner_is_started_again_then_powered_off_and_on),
        cmocka_unit_test(only_devices_that_fall_silent_together_count),
        cmocka_unit_test(reports_keep_the_watchdog_quiet),
        cmocka_unit_test(the_timer_is_set_only_for_what_is_to_come),
        cmocka_unit_test(a_scan_that_is_stopped_is_not_watched),
        cmocka_unit_test(silence_ends_no_connection),
        cmocka_unit_test(only_a_radio_that_sends_commands_asks_the_controller),
        cmocka_unit_test(the_list_of_duplicates_is_cleared),
        cmocka_unit_test(a_kernel_that_connects_to_nobody_is_powered_off_and_on),
        cmocka_unit_test(a_row_of_stuck_connects_must_last),
        cmocka_unit_test(a_row_of_stuck_connects_beside_connections_lasts_longer),
        cmocka_unit_test(a_row_of_stuck_connects_begins_again),
        cmocka_unit_test(a_kernel_that_does_something_is_left_on),
        cmocka_unit_test(attempts_outlast_a_silent_controller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
