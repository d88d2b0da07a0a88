/* SPDX-License-Identifier: MIT */
/*
 * Attempts in the background: the kernel scans for the peers as long as the sockets exist, a scan of this radio takes
 * the scanner over, and connect() is repeated only when nothing scans any more.
 */
#include "bluez_connecting.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/** The first attempt in the background has this slot. */
enum { FIRST = TENDON_BLUEZ_ATTEMPTS, ACCEPT_ALL = 0, ACCEPT_LIST = 1 };

static tendon_status closed_reason;

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    (void)context;
    (void)now;
    closed_reason = reason;
}

static void wait_for_peer(bluez_bench *b, tendon_link *link, uint8_t last) {
    tendon_address peer = bluez_peer;
    peer.bytes[5] = last;
    tendon_link_init(link, &(tendon_link_callbacks){.closed = on_closed});
    assert_int_equal(tendon_radio_connect_in_background(&b->radio.radio, link, &peer), TENDON_OK);
}

/** The kernel, or another program, sets the parameters of a passive scan. */
static void kernel_configures(bluez_bench *b, bool extended, uint8_t policy) {
    const uint8_t legacy[] = {HCI_COMMAND_PKT, 0x0B, 0x20, 7, 0, 0x60, 0, 0x60, 0, 0, policy};
    const uint8_t later[] = {HCI_COMMAND_PKT, 0x41, 0x20, 8, 0, policy, 1, 0, 0x60, 0, 0x60, 0};
    size_t size = extended ? sizeof later : sizeof legacy;
    assert_int_equal(send(b->controller, extended ? later : legacy, size, 0), (ssize_t)size);
    bluez_complete(b, bluez_scan_parameters[extended], 0);
    bluez_read(b);
}

static void kernel_scans(bluez_bench *b, bool extended, uint8_t policy) {
    kernel_configures(b, extended, policy);
    bluez_other_command(b, bluez_scan_enable[extended], 1);
}

static void kernel_connects(bluez_bench *b, uint8_t last) {
    const uint8_t command[] = {HCI_COMMAND_PKT, 0x0D, 0x20, 12, 1, 0, 1, 0, 0, 0, last, 0x53, 0, 0x5E, 0, 0};
    assert_int_equal(send(b->controller, command, sizeof command, 0), (ssize_t)sizeof command);
    bluez_read(b);
}

/** So much time passes; then the timer fires. */
static void elapse(bluez_bench *b, uint64_t ms) {
    fake.now += ms;
    bluez_tick(b, fake.now);
}

static void end(bluez_bench *b, tendon_link *links, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tendon_link_close(&links[i]);
    }
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(links[i].state, TENDON_LINK_CLOSED);
    }
    for (size_t i = 0; i < TENDON_BLUEZ_SLOTS; i++) {
        assert_null(b->radio.attempts[i].link);
    }
    bluez_close(b);
}

/** Our scan pauses for connect(), the kernel scans, and ours takes over. */
static bluez_bench *scanning_and_waiting(bool extended, tendon_link *link) {
    bluez_bench *b = bluez_scanning(extended, &bluez_public_address);
    wait_for_peer(b, link, 1);
    assert_int_equal(fake.connects, 0);
    assert_int_equal(bluez_answer(b, bluez_scan_enable[extended], 0)[0], 0);
    assert_int_equal(fake.connects, 1);
    bluez_expect_nothing(b); /* the kernel has not begun */
    kernel_scans(b, extended, ACCEPT_LIST);
    assert_int_equal(bluez_answer(b, bluez_scan_enable[extended], 0)[0], 0);
    (void)bluez_answer(b, bluez_scan_parameters[extended], 0);
    assert_int_equal(bluez_answer(b, bluez_scan_enable[extended], 0)[0], 1);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    return b;
}

static void a_scan_goes_on_while_the_kernel_waits_for_the_peer(void **state) {
    (void)state;
    for (int extended = 0; extended < 2; extended++) {
        tendon_link link;
        bluez_bench *b = scanning_and_waiting(extended, &link);
        for (int minute = 0; minute < 50; minute++) {
            elapse(b, 60000);
        }
        bluez_expect_nothing(b);
        assert_int_equal(fake.connects, 1);
        assert_int_equal(b->radio.counters.connect_reissues + b->radio.counters.renewals, 0);
        assert_int_equal(link.state, TENDON_LINK_ASKED);
        tendon_link_close(&link);
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
        assert_int_equal(closed_reason, TENDON_ERROR_CANCELLED);
        bluez_expect_nothing(b); /* the scan does not pause for the end */
        end(b, &link, 1);
    }
}

/* Nothing is sent, and the timer rests until connect() is renewed. */
static void without_a_scan_of_its_own_the_radio_rests(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_link link;
    wait_for_peer(b, &link, 1);
    assert_int_equal(fake.connects, 1);
    kernel_scans(b, false, ACCEPT_LIST);
    elapse(b, 600000);
    elapse(b, 600000);
    bluez_expect_nothing(b);
    assert_int_equal(fake.connects, 1);
    assert_int_equal(b->radio.timer.deadline, b->radio.attempts[FIRST].begun_at + TENDON_BLUEZ_RENEWAL_MS);
    end(b, &link, 1);
}

/* The kernel believes that it still scans: only another connect() makes it. One is enough for all peers. */
static void the_end_of_our_scan_makes_the_kernel_scan_again(void **state) {
    (void)state;
    tendon_link links[3];
    bluez_bench *b = scanning_and_waiting(false, links);
    for (uint8_t i = 1; i < 3; i++) {
        wait_for_peer(b, &links[i], (uint8_t)(i + 1));
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
        kernel_scans(b, false, ACCEPT_LIST);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    }
    assert_int_equal(fake.connects, 3);
    for (int time = 0; time < TENDON_BLUEZ_STUCK_MAX + 2; time++) {
        assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
        assert_int_equal(fake.connects, 3 + time); /* it may be about to */
        assert_true(b->radio.timer.deadline <= b->radio.attempts[FIRST].check_at);
        elapse(b, TENDON_BLUEZ_BEGIN_LIMIT_MS(&b->radio));
        assert_int_equal(b->radio.counters.renewals, time + 1);
        elapse(b, 60);
        assert_int_equal(fake.connects, 4 + time);
        kernel_scans(b, false, ACCEPT_LIST);
        elapse(b, 60000);
        assert_int_equal(fake.connects, 4 + time);
        bluez_start_scan(b);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
    }
    assert_int_equal(b->radio.counters.connect_reissues, 0); /* the kernel has done all that it was asked */
    assert_int_equal(b->radio.stuck_connects, 0);
    end(b, links, 3);
}

static void a_kernel_that_never_scans_is_asked_again(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_link link;
    wait_for_peer(b, &link, 1);
    assert_true(b->radio.timer.deadline <= b->radio.attempts[FIRST].check_at);
    elapse(b, TENDON_BLUEZ_BEGIN_LIMIT_MS(&b->radio));
    assert_int_equal(b->radio.counters.connect_reissues, 1);
    assert_int_equal(b->radio.stuck_connects, 1);
    elapse(b, 60);
    assert_int_equal(fake.connects, 2);
    end(b, &link, 1);
}

/* Its scan begins and ends while this program reads nothing: it has scanned all the same. */
static void a_scan_of_the_kernel_that_has_ended_counts(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_link link;
    wait_for_peer(b, &link, 1);
    for (uint8_t on = 2; on-- > 0;) {
        const uint8_t packet[] = {HCI_COMMAND_PKT, 0x0C, 0x20, 2, on, 0};
        assert_int_equal(send(b->controller, packet, sizeof packet, 0), sizeof packet);
        bluez_complete(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    }
    bluez_read(b);
    elapse(b, TENDON_BLUEZ_BEGIN_LIMIT_MS(&b->radio));
    assert_int_equal(b->radio.counters.renewals, 1);
    assert_int_equal(b->radio.counters.connect_reissues, 0);
    end(b, &link, 1);
}

/* A program that searches without the list is left alone; the kernel uses what it receives. */
static void the_search_of_another_program_is_not_taken_over(void **state) {
    (void)state;
    static const uint8_t policies[] = {ACCEPT_ALL, 2};
    for (size_t i = 0; i < sizeof policies; i++) {
        tendon_link link;
        bluez_bench *b = scanning_and_waiting(false, &link);
        bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
        kernel_scans(b, false, policies[i]);
        b->radio.scan.activity.retry_at = 0;
        elapse(b, 2000);
        bluez_expect_nothing(b);
        assert_int_equal(fake.connects, 1);
        end(b, &link, 1);
    }
    /* With the list it is taken over, whoever waits. */
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    kernel_scans(b, false, ACCEPT_LIST);
    b->radio.scan.activity.retry_at = 0;
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(bluez_answer(b, bluez_scan_enable[0], 0)[0], 0);
    (void)bluez_expect(b, bluez_scan_parameters[0]);
    bluez_close(b);
}

/* On a controller that accepts commands that change nothing, a scan that is on stays as it is. */
static void a_scan_that_is_on_takes_nothing_over(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    kernel_scans(b, false, ACCEPT_LIST);
    bluez_expect_nothing(b);
    assert_int_equal(b->radio.scan.activity.state, TENDON_BLUEZ_ON);
    bluez_close(b);
}

/* A scan that had joined another program's is its own again as soon as it takes the kernel's over. */
static void a_joined_scan_that_takes_over_has_joined_no_more(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    kernel_scans(b, false, ACCEPT_ALL);
    b->radio.scan.activity.retry_at = 0;
    bluez_tick(b, tendon_monotonic_ms());
    assert_true(b->radio.radio.scan_joined);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    kernel_scans(b, false, ACCEPT_LIST);
    b->radio.scan.activity.retry_at = 0;
    bluez_tick(b, tendon_monotonic_ms());
    assert_false(b->radio.radio.scan_joined);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
    (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
    assert_false(b->radio.radio.scan_joined);
    bluez_close(b);
}

/* Parameters that end before the policy have none. */
static void truncated_parameters_name_no_list(void **state) {
    (void)state;
    static const uint8_t truncated[] = {HCI_COMMAND_PKT, 0x0B, 0x20, 7, 0, 0x60, 0, 0x60, 0, 0};
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    kernel_configures(b, false, ACCEPT_LIST);
    assert_true(b->radio.kernel.filters);
    assert_int_equal(send(b->controller, truncated, sizeof truncated, 0), (ssize_t)sizeof truncated);
    bluez_complete(b, bluez_scan_parameters[0], 0);
    bluez_read(b);
    assert_false(b->radio.kernel.filters);
    bluez_close(b);
}

/* The first start of a scan, while the kernel scans for a peer: it takes over, and a kernel that is faster is no error.
 */
static void a_scan_that_starts_later_takes_over(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_link link;
    wait_for_peer(b, &link, 1);
    kernel_scans(b, false, ACCEPT_LIST);
    bluez_start_scan(b);
    for (int time = 0; time < 3; time++) {
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
        (void)bluez_expect(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS);
        kernel_scans(b, false, ACCEPT_LIST);
        bluez_complete(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, HCI_COMMAND_DISALLOWED_ERROR);
        bluez_read(b);
        bluez_expect_nothing(b); /* after a pause */
        b->radio.scan.activity.retry_at = 0;
        bluez_tick(b, tendon_monotonic_ms());
    }
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(b->failures, 0);
    end(b, &link, 1);
}

/* The peer is back: the kernel disables our scan and connects. Ours waits for that, and then returns. */
static void the_peer_comes_back(void **state) {
    (void)state;
    tendon_link links[2];
    bluez_bench *b = scanning_and_waiting(false, links);
    wait_for_peer(b, &links[1], 2);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    kernel_scans(b, false, ACCEPT_LIST);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0);
    kernel_connects(b, 1);
    b->radio.scan.activity.retry_at = 0;
    elapse(b, 5000);
    bluez_expect_nothing(b);
    assert_int_equal(fake.connects, 2);
    bluez_connecting l = {.b = b};
    bluez_connection_complete(&l, 0, 0);
    elapse(b, 200);
    bluez_expect_nothing(b); /* the kernel reads the peer's features */
    links[0].source.ready(links[0].source.context, TENDON_WRITABLE, tendon_monotonic_ms());
    assert_int_equal(links[0].state, TENDON_LINK_OPEN);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
    assert_int_equal(links[1].state, TENDON_LINK_ASKED);
    assert_int_equal(fake.connects, 2); /* our scan serves the other one */
    tendon_link_close(&links[1]);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    tendon_link_close(&links[0]);
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    bluez_close(b);
}

/* Another device connects while one is awaited: that is none of its business, unless the address may be anybody's. */
static void the_connection_of_another_device_pauses_no_scan(void **state) {
    (void)state;
    static const struct {
        uint8_t last, type, first;
        bool waits;
    } cases[] = {{1, TENDON_ADDRESS_TYPE_PUBLIC, 0x00, true},
                 {9, TENDON_ADDRESS_TYPE_PUBLIC, 0x00, false},
                 {1, TENDON_ADDRESS_TYPE_PUBLIC, 0x40, false},
                 {1, TENDON_ADDRESS_TYPE_RANDOM, 0x40, true},
                 {1, TENDON_ADDRESS_TYPE_RANDOM, 0xC0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tendon_link link;
        bluez_bench *b = scanning_and_waiting(false, &link);
        bluez_connecting l = {.b = b};
        kernel_connects(b, cases[i].last);
        b->radio.kernel.peer.type = cases[i].type;
        b->radio.kernel.peer.bytes[0] = cases[i].first;
        bluez_connection_complete(&l, 0, 0);
        assert_int_equal(b->radio.kernel.creating != TENDON_BLUEZ_CREATES_NONE, cases[i].waits);
        bluez_drain_commands(b); /* the scan paused for the connection */
        end(b, &link, 1);
    }
}

/* Before the kernel's own limit, whoever scans; also where the kernel's commands cannot be seen. */
static void connect_is_renewed_once_an_hour(void **state) {
    (void)state;
    for (int unprivileged = 0; unprivileged < 2; unprivileged++) {
        tendon_link link, other;
        bluez_bench *b = unprivileged ? bluez_open(false, &bluez_public_address) : scanning_and_waiting(false, &link);
        if (unprivileged) {
            b->radio.unprivileged = true;
            wait_for_peer(b, &link, 1);
        }
        elapse(b, TENDON_BLUEZ_RENEWAL_MS - 60000);
        assert_int_equal(fake.connects, 1);
        assert_int_equal(link.state, TENDON_LINK_ASKED);
        assert_true(b->radio.timer.deadline <= b->radio.attempts[FIRST].begun_at + TENDON_BLUEZ_RENEWAL_MS);
        if (unprivileged) { /* an attempt with a deadline, in a slot of the others, has the kernel's limit for that */
            tendon_link_init(&other, NULL);
            tendon_address peer = bluez_peer;
            peer.bytes[5] = 2;
            assert_int_equal(tendon_radio_connect(&b->radio.radio, &other, &peer, UINT64_MAX), TENDON_OK);
            b->radio.attempts[0].begun_at -= TENDON_BLUEZ_RENEWAL_MS;
            bluez_tick(b, tendon_monotonic_ms());
            assert_int_equal(fake.connects, 2);
            assert_int_equal(other.state, TENDON_LINK_ASKED);
            tendon_link_close(&other);
            other.source.expired(other.source.context, tendon_monotonic_ms());
            fake.connects = 1;
        }
        elapse(b, 60000);
        elapse(b, 60);
        if (!unprivileged) {
            assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
        }
        assert_int_equal(fake.connects, 2);
        bluez_drain_commands(b);
        end(b, &link, 1);
    }
}

static void attempts_in_the_background_have_slots_of_their_own(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_link links[TENDON_BLUEZ_SLOTS], one_more;
    for (uint8_t i = 0; i < TENDON_BLUEZ_BACKGROUND; i++) {
        wait_for_peer(b, &links[i], i);
    }
    tendon_link_init(&one_more, NULL);
    assert_int_equal(tendon_radio_connect_in_background(&b->radio.radio, &one_more, &bluez_peer),
                     TENDON_ERROR_TABLE_FULL);
    for (uint8_t i = 0; i < TENDON_BLUEZ_ATTEMPTS; i++) {
        tendon_link_init(&links[TENDON_BLUEZ_BACKGROUND + i], NULL);
        tendon_address peer = bluez_peer;
        peer.bytes[5] = (uint8_t)(100 + i);
        assert_int_equal(tendon_radio_connect(&b->radio.radio, &links[TENDON_BLUEZ_BACKGROUND + i], &peer, UINT64_MAX),
                         TENDON_OK);
        assert_false(links[TENDON_BLUEZ_BACKGROUND + i].background);
    }
    assert_int_equal(tendon_radio_connect(&b->radio.radio, &one_more, &bluez_peer, UINT64_MAX),
                     TENDON_ERROR_TABLE_FULL);
    tendon_link_close(&links[3]);
    links[3].source.expired(links[3].source.context, tendon_monotonic_ms());
    assert_int_equal(tendon_radio_connect(&b->radio.radio, &one_more, &bluez_peer, UINT64_MAX),
                     TENDON_ERROR_TABLE_FULL);
    wait_for_peer(b, &links[3], 3);
    kernel_scans(b, false, 1);
    for (size_t i = FIRST; i < TENDON_BLUEZ_SLOTS; i++) {
        assert_true(b->radio.attempts[i].parked); /* the last one too */
    }
    end(b, links, TENDON_BLUEZ_SLOTS);
}

/* Ours goes on while all of them wait for the kernel's scan; it pauses for one more, in the last slot too. */
static void the_last_slot_is_as_any_other(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_link links[TENDON_BLUEZ_BACKGROUND];
    for (uint8_t i = 0; i < TENDON_BLUEZ_BACKGROUND; i++) {
        wait_for_peer(b, &links[i], i);
    }
    kernel_scans(b, false, ACCEPT_LIST);
    bluez_start_scan(b);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
    for (size_t i = FIRST; i < TENDON_BLUEZ_SLOTS; i++) {
        b->radio.attempts[i].check_at = 0;
    }
    assert_int_equal(tendon_radio_scan_stop(&b->radio.radio), TENDON_OK);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
    assert_int_equal(b->radio.counters.renewals, 0); /* the kernel has time to scan again for each of them */
    bluez_start_scan(b);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
    tendon_link *last = &links[TENDON_BLUEZ_BACKGROUND - 1];
    tendon_link_close(last);
    last->source.expired(last->source.context, tendon_monotonic_ms());
    bluez_expect_nothing(b);
    wait_for_peer(b, last, 100);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
    assert_int_equal(last->state, TENDON_LINK_ASKED);
    kernel_connects(b, 100);
    bluez_connecting l = {.b = b};
    bluez_connection_complete(&l, 0x3E, 0);
    assert_int_equal(tendon_bluez_link_reason(last, ETIMEDOUT, true), TENDON_HCI_ERROR(0x3E));
    kernel_connects(b, 100);
    bluez_connection_complete(&l, 0, 0);
    assert_int_equal(b->radio.kernel.creating, TENDON_BLUEZ_EXAMINES); /* one waits for it */
    tendon_bluez_attempts_wait(&b->radio);
    for (size_t i = 0; i < TENDON_BLUEZ_BACKGROUND; i++) {
        assert_int_equal(links[i].state, TENDON_LINK_WAITING);
    }
    tendon_bluez_connect_waiting(&b->radio);
    kernel_scans(b, false, ACCEPT_LIST);
    bluez_other_command(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0); /* and may be about to connect */
    assert_int_equal(last->state, TENDON_LINK_ASKED);
    tendon_link_close(last);
    assert_true(last->state == TENDON_LINK_HELD && last->source.fd >= 0);
    tendon_bluez_release_held(&b->radio);
    assert_int_equal(last->source.fd, -1);
    end(b, links, TENDON_BLUEZ_BACKGROUND);
}

/* The adapter is gone: that is the end of each of them, in whichever slot. */
static void a_radio_that_fails_ends_all_attempts(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_link links[TENDON_BLUEZ_BACKGROUND];
    for (uint8_t i = 0; i < TENDON_BLUEZ_BACKGROUND; i++) {
        wait_for_peer(b, &links[i], i);
    }
    tendon_bluez_fail(&b->radio, TENDON_RADIO_ERROR_NO_ADAPTER);
    for (size_t i = 0; i < TENDON_BLUEZ_BACKGROUND; i++) {
        assert_int_equal(links[i].state, TENDON_LINK_HELD);
        assert_int_equal(links[i].reason, TENDON_RADIO_ERROR_NO_ADAPTER);
    }
    end(b, links, TENDON_BLUEZ_BACKGROUND);
}

/* The adapter is reset: what the kernel was asked is forgotten there, and asked again. */
static void a_reset_adapter_waits_for_the_peer_again(void **state) {
    (void)state;
    tendon_link link;
    bluez_bench *b = scanning_and_waiting(false, &link);
    tendon_bluez_attempts_wait(&b->radio);
    assert_false(b->radio.attempts[FIRST].parked);
    assert_int_equal(link.source.fd, -1);
    bluez_tick(b, tendon_monotonic_ms());
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
    assert_int_equal(fake.connects, 2);
    end(b, &link, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scan_goes_on_while_the_kernel_waits_for_the_peer),
        cmocka_unit_test(without_a_scan_of_its_own_the_radio_rests),
        cmocka_unit_test(the_end_of_our_scan_makes_the_kernel_scan_again),
        cmocka_unit_test(a_kernel_that_never_scans_is_asked_again),
        cmocka_unit_test(a_scan_of_the_kernel_that_has_ended_counts),
        cmocka_unit_test(the_search_of_another_program_is_not_taken_over),
        cmocka_unit_test(a_scan_that_is_on_takes_nothing_over),
        cmocka_unit_test(a_joined_scan_that_takes_over_has_joined_no_more),
        cmocka_unit_test(truncated_parameters_name_no_list),
        cmocka_unit_test(a_scan_that_starts_later_takes_over),
        cmocka_unit_test(the_peer_comes_back),
        cmocka_unit_test(the_connection_of_another_device_pauses_no_scan),
        cmocka_unit_test(connect_is_renewed_once_an_hour),
        cmocka_unit_test(attempts_in_the_background_have_slots_of_their_own),
        cmocka_unit_test(the_last_slot_is_as_any_other),
        cmocka_unit_test(a_radio_that_fails_ends_all_attempts),
        cmocka_unit_test(a_reset_adapter_waits_for_the_peer_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
