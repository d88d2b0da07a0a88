/* SPDX-License-Identifier: MIT */
/* What an attempt to connect asks of the kernel, when it is looked at again, and what its end resumes. */
#include "bluez_connecting.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static const tendon_address random_peer = {{0xC0, 0x00, 0x5E, 0x00, 0x53, 0x02}, TENDON_ADDRESS_TYPE_RANDOM};
static const tendon_address public_peer = {{0xC0, 0x00, 0x5E, 0x00, 0x53, 0x02}, TENDON_ADDRESS_TYPE_PUBLIC};

static void connect_to(bluez_bench *b, tendon_link *link, const tendon_address *peer, uint64_t deadline) {
    tendon_link_init(link, NULL);
    assert_int_equal(tendon_radio_connect(&b->radio.radio, link, peer, deadline), TENDON_OK);
}

static void close_links(bluez_bench *b, tendon_link *links, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tendon_link_close(&links[i]);
    }
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
}

/* Our address and the peer's, least significant byte first, on the fixed channel of ATT. */
static void names_of_both_ends(void **state) {
    (void)state;
    static const struct {
        tendon_address peer;
        uint8_t type;
    } cases[] = {
        {{{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM}, BDADDR_LE_RANDOM},
        {{{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM_IDENTITY}, BDADDR_LE_RANDOM},
        {{{0x00, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_PUBLIC}, BDADDR_LE_PUBLIC},
        {{{0x00, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_PUBLIC_IDENTITY}, BDADDR_LE_PUBLIC},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bluez_bench *b = bluez_open(false, i % 2 == 0 ? &bluez_public_address : &bluez_random_address);
        tendon_link link;
        connect_to(b, &link, &cases[i].peer, UINT64_MAX);
        assert_int_equal(fake.bound.l2_family, AF_BLUETOOTH);
        assert_int_equal(fake.bound.l2_cid, htobs(4));
        assert_int_equal(fake.bound.l2_bdaddr_type, i % 2 == 0 ? BDADDR_LE_PUBLIC : BDADDR_LE_RANDOM);
        const uint8_t public_wire[6] = {0x42, 0, 0, 1, 0xAA, 0};
        assert_memory_equal(fake.bound.l2_bdaddr.b, i % 2 == 0 ? public_wire : bluez_random_wire, 6);
        const uint8_t wire[6] = {5, 4, 3, 2, 1, cases[i].peer.bytes[0]};
        assert_int_equal(fake.target.l2_cid, htobs(4));
        assert_int_equal(fake.target.l2_psm, 0);
        assert_memory_equal(fake.target.l2_bdaddr.b, wire, 6);
        assert_int_equal(fake.target.l2_bdaddr_type, cases[i].type);
        close_links(b, &link, 1);
        bluez_close(b);
    }
}

/* Its limit is 40 s by default, which must not expire before that of the attempt. */
static void the_kernel_has_longer_than_the_attempt(void **state) {
    (void)state;
    uint64_t now = tendon_monotonic_ms();
    const struct {
        uint64_t deadline;
        time_t least, most;
    } cases[] = {
        {now + 100000, 104, 105},       {now + 1500, 5, 6}, {now - 1, 5, 5}, {UINT64_MAX, 86400, 86400},
        {now + 90000000, 86400, 86400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        tendon_link link;
        struct timeval limit = {0};
        socklen_t size = sizeof limit;
        connect_to(b, &link, &bluez_peer, cases[i].deadline);
        assert_int_equal(getsockopt(link.source.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &size), 0);
        assert_in_range(limit.tv_sec, cases[i].least, cases[i].most);
        close_links(b, &link, 1);
        bluez_close(b);
    }
}

/* Both the end of an attempt and that of a pause bring the scan back, and forget whom the kernel connects to. */
static void the_end_of_an_attempt_resumes_the_scan(void **state) {
    (void)state;
    for (int connected = 0; connected < 2; connected++) {
        bluez_bench *b = bluez_scanning(false, &bluez_public_address);
        tendon_link link;
        connect_to(b, &link, &bluez_peer, UINT64_MAX);
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
        assert_int_equal(fake.connects, 1);
        bluez_expect_nothing(b);
        b->radio.kernel.creating = TENDON_BLUEZ_CREATES;
        b->radio.kernel.peer = bluez_peer;
        if (connected) {
            bluez_link_ready(b, &link, TENDON_WRITABLE);
            assert_int_equal(link.state, TENDON_LINK_OPEN);
        } else {
            close_links(b, &link, 1);
        }
        assert_int_equal(b->radio.kernel.creating, TENDON_BLUEZ_CREATES_NONE);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0); /* immediately, in the same call */
        assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
        close_links(b, &link, 1);
        bluez_close(b);
    }
}

static void kernel_connects_to(bluez_bench *b, const tendon_address *peer) {
    uint8_t packet[16] = {HCI_COMMAND_PKT, 0x0D, 0x20, 12, 0x60, 0, 0x30, 0, 0, tendon_bluez_is_random(peer)};
    tendon_address_to_wire(peer, packet + 10);
    assert_int_equal(send(b->controller, packet, sizeof packet, 0), (ssize_t)sizeof packet);
    bluez_read(b);
}

/* Of two attempts one ends while the kernel just connects to the other peer: that one is not stuck. */
static void the_end_of_an_attempt_leaves_the_other_one_alone(void **state) {
    (void)state;
    for (int opens = 0; opens < 2; opens++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        tendon_link links[2];
        connect_to(b, &links[0], &bluez_peer, UINT64_MAX);
        connect_to(b, &links[1], &public_peer, UINT64_MAX);
        kernel_connects_to(b, opens ? &bluez_peer : &public_peer);
        if (opens) { /* the kernel reads the features of the first while it connects to the second */
            static const uint8_t done[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE, 0, 0x40, [12] = 0x18, [16] = 0x2A};
            bluez_event(b, TENDON_HCI_LE_META, done, sizeof done);
            bluez_read(b);
            kernel_connects_to(b, &public_peer);
            links[0].source.ready(links[0].source.context, TENDON_WRITABLE, tendon_monotonic_ms());
            assert_int_equal(links[0].state, TENDON_LINK_OPEN);
        } else {
            tendon_link_close(&links[0]);
            links[0].source.expired(links[0].source.context, tendon_monotonic_ms());
            assert_int_equal(links[0].state, TENDON_LINK_CLOSED);
        }
        assert_int_equal(b->radio.kernel.creating, TENDON_BLUEZ_CREATES);
        fake.now += TENDON_BLUEZ_BEGIN_LIMIT_MS(&b->radio);
        bluez_tick(b, fake.now);
        assert_true(links[1].source.fd >= 0);
        assert_int_equal(b->radio.counters.connect_reissues, 0);
        close_links(b, links, 2);
        bluez_close(b);
    }
}

static void a_pause_of_the_scan_ends_with_the_last_hold(void **state) {
    (void)state;
    bluez_bench *b = bluez_scanning(false, &bluez_public_address);
    tendon_radio_pause_scan(&b->radio.radio);
    tendon_radio_pause_scan(&b->radio.radio);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 0);
    assert_int_equal(b->radio.counters.scan_pauses, 1);
    tendon_radio_resume_scan(&b->radio.radio);
    bluez_expect_nothing(b);
    assert_true(b->radio.radio.scanning);
    tendon_radio_resume_scan(&b->radio.radio);
    (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0);
    assert_int_equal(bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0)[0], 1);
    bluez_close(b);
}

/* ---- a connect() that the kernel refuses later than in the call ---- */

static tendon_status closed_reason;

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    (void)context;
    (void)now;
    closed_reason = reason;
}

static void an_attempt_that_fails_when_its_turn_comes(void **state) {
    (void)state;
    static const struct {
        fake_refusal *call;
        int number;
        tendon_status expected;
    } cases[] = {
        {&fake.refuse[FAKE_SOCKET], EMFILE, TENDON_SYSTEM_ERROR(EMFILE)},
        {&fake.refuse[FAKE_BIND], ENODEV, TENDON_RADIO_ERROR_NO_ADAPTER},
        {&fake.refuse[FAKE_CONNECT], ENETDOWN, TENDON_RADIO_ERROR_ADAPTER_DOWN},
        {&fake.refuse[FAKE_EPOLL], ENOSPC, TENDON_SYSTEM_ERROR(ENOSPC)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bluez_bench *b = bluez_scanning(false, &bluez_public_address);
        tendon_link link;
        closed_reason = TENDON_OK;
        tendon_link_init(&link, &(tendon_link_callbacks){.closed = on_closed});
        assert_int_equal(tendon_radio_connect(&b->radio.radio, &link, &bluez_peer, UINT64_MAX), TENDON_OK);
        *cases[i].call = (fake_refusal){.number = cases[i].number};
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_ENABLE, 0); /* the scan is off: now it connects */
        assert_int_equal(closed_reason, TENDON_OK);              /* not from within this call */
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
        assert_int_equal(closed_reason, cases[i].expected);
        assert_null(b->radio.attempts[0].link);
        (void)bluez_answer(b, TENDON_HCI_LE_SET_SCAN_PARAMETERS, 0); /* the scan returns */
        assert_int_equal(fcntl(fake.latest, F_GETFD), -1);
        bluez_close(b);
    }
}

/* ---- one connection after another ---- */

/* Ended by us: the next attempt to the same peer waits until 20 ms after the controller has confirmed it. */
static void a_peer_is_connected_again_when_its_last_connection_has_ended(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    tendon_bluez_radio *radio = &l->b->radio;
    bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
    tendon_link_close(&l->link);
    const uint8_t asked[6] = {0x01, 0x53, 0x00, 0x5E, 0x00, 0x00}; /* whose handle it is */
    assert_memory_equal(fake.asked_peer.b, asked, 6);
    assert_int_equal(fake.asked_type, 0x80);
    assert_memory_equal(bluez_expect(l->b, 0x0406), "\x40\x00\x13", 3);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    uint64_t now = tendon_monotonic_ms();
    tendon_link again, other;
    radio->timer.deadline = UINT64_MAX;
    connect_to(l->b, &again, &bluez_peer, now + 3600000);
    assert_int_equal(fake.connects, 1);
    assert_in_range(radio->timer.deadline, now + 2900, now + 3100); /* it is never confirmed: 3 s */
    connect_to(l->b, &other, &random_peer, now + 3600000);
    assert_int_equal(fake.connects, 2); /* another peer has nothing to wait for */
    radio->timer.deadline = UINT64_MAX;
    const uint8_t elsewhere[] = {0, 0x41, 0, 0x16};
    bluez_event(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, elsewhere, sizeof elsewhere);
    bluez_read(l->b);
    assert_true(radio->leaving[0].until >= now + 2900); /* of another connection */
    const uint8_t gone[] = {0, 0x40, 0, 0x16};
    bluez_event(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, gone, sizeof gone);
    bluez_read(l->b);
    now = tendon_monotonic_ms();
    assert_in_range(radio->leaving[0].until, now - 50, now + 20);
    assert_int_equal(radio->timer.deadline, radio->leaving[0].until); /* it is looked at again by itself */
    radio->leaving[0].until = now;
    bluez_tick(l->b, now);
    assert_int_equal(fake.connects, 3);
    tendon_link_close(&again);
    close_links(l->b, &other, 1);
    bluez_close(l->b);
}

/* The slots of connections that are being ended: a free one, else the oldest. */
static void more_connections_end_than_are_awaited(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    uint64_t before[TENDON_BLUEZ_LEAVING];
    for (uint16_t i = 0; i < TENDON_BLUEZ_LEAVING; i++) {
        fake.connection.handle = i;
        tendon_bluez_end_connection(&b->radio, &bluez_peer, i);
        b->radio.leaving[i].until += i == 5 ? 0 : 1000u + i; /* the sixth is the oldest */
        before[i] = b->radio.leaving[i].until;
        assert_int_equal(b->radio.leaving[i].handle, i);
    }
    fake.connection.handle = 0x100;
    tendon_bluez_end_connection(&b->radio, &bluez_peer, 0x100);
    for (size_t i = 0; i < TENDON_BLUEZ_LEAVING; i++) {
        assert_int_equal(b->radio.leaving[i].handle, i == 5 ? 0x100 : i);
        assert_true(i == 5 || b->radio.leaving[i].until == before[i]);
    }
    bluez_close(b);
}

/* Left behind by a killed process: ended, and looked at again after 50 ms. */
static void a_connection_that_was_left_behind_is_looked_at_again(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_idle();
    fake.old_connections = 1;
    connect_to(l->b, &l->link, &bluez_peer, UINT64_MAX);
    int fd = fake.latest;
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_in_range(l->b->radio.attempts[0].check_at, tendon_monotonic_ms(), tendon_monotonic_ms() + 50);
    assert_true(l->b->radio.timer.deadline <= l->b->radio.attempts[0].check_at);
    l->b->radio.leaving[0].until = 0;
    bluez_tick(l->b, tendon_monotonic_ms());
    assert_int_equal(fake.connects, 1); /* not yet */
    assert_true(l->b->radio.timer.deadline <= l->b->radio.attempts[0].check_at);
    bluez_connecting_close(l);
    /* A socket without a handle has no connection to end: it is taken as it is. */
    l = bluez_connecting_idle();
    fake.old_connections = 1;
    fake.refuse[FAKE_GET_HANDLE] = (fake_refusal){.number = ENOTCONN};
    connect_to(l->b, &l->link, &bluez_peer, UINT64_MAX);
    bluez_expect_nothing(l->b);
    assert_int_equal(l->link.state, TENDON_LINK_CONNECTED);
    bluez_connecting_close(l);
}

/* With one CPU the kernel can have created the connection when connect() returns: no process had it before. */
static void a_connection_that_connect_has_created_is_kept(void **state) {
    (void)state;
    static const uint16_t connecting = 5; /* BT_CONNECT: for another process, which has given up */
    for (int before = 0; before < 2; before++) {
        bluez_connecting *l = bluez_connecting_idle();
        fake.old_connections = 1;
        fake.refuse[FAKE_GET_CONNECTION] =
            before == 0 ? (fake_refusal){.number = ENOENT} : fake.refuse[FAKE_GET_CONNECTION];
        fake.connection.state = connecting;
        connect_to(l->b, &l->link, &bluez_peer, UINT64_MAX);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        bluez_expect_nothing(l->b);
        assert_int_equal(l->link.state, TENDON_LINK_OPEN);
        assert_int_equal(l->link.handle, 0x40);
        assert_int_equal(fake.connects, 1);
        assert_memory_equal(&fake.asked_peer, &fake.target.l2_bdaddr, sizeof fake.asked_peer);
        bluez_connecting_close(l);
    }
}

/* ---- whose attempt failed ---- */

static void kernel_connects(bluez_bench *b, bool extended, bool random) {
    const uint8_t legacy[] = {HCI_COMMAND_PKT, 0x0D, 0x20, 12, 1, 0, 1, 0, 0, random, 0x02, 0x53, 0, 0x5E, 0, 0xC0};
    const uint8_t later[] = {HCI_COMMAND_PKT, 0x43, 0x20, 9, 0, 1, random, 0x02, 0x53, 0, 0x5E, 0, 0xC0};
    size_t size = extended ? sizeof later : sizeof legacy;
    assert_int_equal(send(b->controller, extended ? later : legacy, size, 0), (ssize_t)size);
    bluez_read(b);
}

/* The same six bytes as a public and as a random address are two devices. */
static void a_failure_belongs_to_address_and_type(void **state) {
    (void)state;
    for (int how = 0; how < 4; how++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        tendon_link links[3];
        connect_to(b, &links[0], &random_peer, UINT64_MAX);
        connect_to(b, &links[1], &public_peer, UINT64_MAX);
        connect_to(b, &links[2], &bluez_peer, UINT64_MAX);
        kernel_connects(b, how & 1, how & 2);
        assert_int_equal(b->radio.kernel.creating, TENDON_BLUEZ_CREATES);
        const uint8_t failed[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE, 0x3E};
        bluez_event(b, TENDON_HCI_LE_META, failed, sizeof failed);
        bluez_read(b);
        assert_int_equal(b->radio.kernel.creating, TENDON_BLUEZ_CREATES_NONE);
        assert_int_equal(b->radio.kernel.connections, 0);
        assert_int_equal(tendon_bluez_attempt_failure(&b->radio, &links[0]), how & 2 ? 0x3E : 0);
        assert_int_equal(tendon_bluez_attempt_failure(&b->radio, &links[1]), how & 2 ? 0 : 0x3E);
        assert_int_equal(tendon_bluez_attempt_failure(&b->radio, &links[2]), 0);
        assert_int_equal(tendon_bluez_attempt_failure(&b->radio, &links[how & 2 ? 0 : 1]), 0); /* once */
        close_links(b, links, 3);
        bluez_close(b);
    }
    /* A command that is too short for an address names no device. */
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    tendon_address before = b->radio.kernel.peer;
    static const uint8_t truncated[] = {HCI_COMMAND_PKT, 0x0D, 0x20, 12, 1, 0, 1, 0, 0, 1, 0x02, 0x53};
    assert_int_equal(send(b->controller, truncated, sizeof truncated, 0), (ssize_t)sizeof truncated);
    bluez_read(b);
    assert_memory_equal(&b->radio.kernel.peer, &before, sizeof before);
    bluez_close(b);
}

/* connect() again after a failure that was not asked about: the old code is not that of the new attempt. */
static void a_repeated_connect_has_no_failure_yet(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    l->b->radio.attempts[0].failure = 0x3E;
    bluez_connecting_elapse(l, 310);
    assert_int_equal(l->b->radio.counters.connect_reissues, 1);
    bluez_connecting_elapse(l, 60);
    assert_int_equal(fake.connects, 2);
    assert_int_equal(tendon_bluez_attempt_failure(&l->b->radio, &l->link), 0);
    bluez_connecting_close(l);
}

/* Without CAP_NET_RAW the kernel's commands are not visible: nothing is taken for stuck. */
static void an_unprivileged_attempt_is_not_repeated(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_idle();
    l->b->radio.unprivileged = true;
    connect_to(l->b, &l->link, &bluez_peer, UINT64_MAX);
    bluez_tick(l->b, tendon_monotonic_ms() + 60000);
    l->b->radio.attempts[0].check_at = l->b->radio.attempts[0].begun_at = 0;
    bluez_tick(l->b, tendon_monotonic_ms() + 60000);
    assert_int_equal(fake.connects, 1);
    const tendon_scan_parameters scan = {.active = true};
    const tendon_advertise_parameters advertise = {.length = 0};
    assert_int_equal(tendon_radio_scan_start(&l->b->radio.radio, &scan), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    assert_int_equal(tendon_radio_advertise_start(&l->b->radio.radio, &advertise), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    bluez_connecting_close(l);
}

static void a_link_reports_what_the_kernel_dropped(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    int shown = 0;
    socklen_t size = sizeof shown;
    assert_int_equal(getsockopt(l->link.source.fd, SOL_SOCKET, SO_RXQ_OVFL, &shown, &size), 0);
    assert_int_equal(shown, 1); /* in each packet that follows a dropped one */
    fake.drops = 7;
    assert_int_equal(tendon_bluez_link_lost(&l->link), 7);
    assert_int_equal(l->link.lost, 0); /* no packet has said so */
    tendon_link_close(&l->link);
    assert_int_equal(l->link.lost, 7);
    assert_int_equal(l->b->radio.radio.lost, 7); /* of all links: it stays */
    bluez_connecting_close(l);
    assert_int_equal(tendon_bluez_link_lost(&l->link), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_both_ends),
        cmocka_unit_test(the_kernel_has_longer_than_the_attempt),
        cmocka_unit_test(the_end_of_an_attempt_resumes_the_scan),
        cmocka_unit_test(the_end_of_an_attempt_leaves_the_other_one_alone),
        cmocka_unit_test(a_pause_of_the_scan_ends_with_the_last_hold),
        cmocka_unit_test(an_attempt_that_fails_when_its_turn_comes),
        cmocka_unit_test(a_peer_is_connected_again_when_its_last_connection_has_ended),
        cmocka_unit_test(more_connections_end_than_are_awaited),
        cmocka_unit_test(a_connection_that_was_left_behind_is_looked_at_again),
        cmocka_unit_test(a_connection_that_connect_has_created_is_kept),
        cmocka_unit_test(a_failure_belongs_to_address_and_type),
        cmocka_unit_test(a_repeated_connect_has_no_failure_yet),
        cmocka_unit_test(an_unprivileged_attempt_is_not_repeated),
        cmocka_unit_test(a_link_reports_what_the_kernel_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
