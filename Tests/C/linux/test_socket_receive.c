/* SPDX-License-Identifier: MIT */
/*
 * Reading with few calls: how many there are, each of them failing, and the same results as the simple form, which is
 * one recvmsg() for each packet and stays where the kernel has no recvmmsg().
 */
#include "open_files.h"
#include "socket_fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* In the C library's place. */
static struct {
    unsigned ones, manies;   /**< calls of recvmsg() and of recvmmsg() */
    bool no_recvmmsg;        /**< a kernel without it */
    int packets_until_error; /**< so many packets are read, then one call fails; -1: none does */
    int error;
    uint32_t drops[40]; /**< what the kernel had dropped before each packet; it says nothing where it is 0 */
    unsigned next_drop;
    bool controls;       /**< some call had room for control messages */
    uint64_t stamps[10]; /**< of each packet, CLOCK_REALTIME ns; 0: it has none */
    unsigned next_stamp;
    uint64_t monotonic, real; /**< both clocks, ns; 0: the machine's */
} calls;

int clock_gettime(clockid_t clock, struct timespec *time) {
    const uint64_t at = clock == CLOCK_MONOTONIC ? calls.monotonic : clock == CLOCK_REALTIME ? calls.real : 0;
    if (at == 0) {
        return (int)syscall(SYS_clock_gettime, clock, time);
    }
    *time = (struct timespec){.tv_sec = (time_t)(at / 1000000000u), .tv_nsec = (long)(at % 1000000000u)};
    return 0;
}

/** True: this call fails. Otherwise @p count is how many packets it may bring. An error takes the place of a packet. */
static bool fails(int fd, unsigned *count) {
    char byte;
    if (calls.packets_until_error == 0 &&
        syscall(SYS_recvfrom, fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL) >= 0) {
        calls.packets_until_error = -1;
        errno = calls.error;
        return true;
    }
    if (calls.packets_until_error > 0 && *count > (unsigned)calls.packets_until_error) {
        *count = (unsigned)calls.packets_until_error;
    }
    return false;
}

static void passed(ssize_t count) {
    if (calls.packets_until_error > 0 && count > 0) {
        calls.packets_until_error -= (int)count;
    }
}

static void add_control(struct msghdr *message, size_t room, int type, const void *bytes, size_t size) {
    assert_true(message->msg_controllen + CMSG_SPACE(size) <= room);
    struct cmsghdr *control = (struct cmsghdr *)(void *)((char *)message->msg_control + message->msg_controllen);
    *control = (struct cmsghdr){.cmsg_len = CMSG_LEN(size), .cmsg_level = SOL_SOCKET, .cmsg_type = type};
    memcpy(CMSG_DATA(control), bytes, size);
    message->msg_controllen += CMSG_SPACE(size);
}

/* The stamp first, as the kernel writes them. @p room: what the caller gave. */
static void add_controls(struct msghdr *message, size_t room) {
    const uint64_t at = calls.next_stamp < 10 ? calls.stamps[calls.next_stamp++] : 0;
    const uint32_t drops = calls.next_drop < 40 ? calls.drops[calls.next_drop++] : 0;
    calls.controls = calls.controls || room > 0;
    message->msg_controllen = 0;
    if (room > 0 && at != 0) {
        const struct timespec stamp = {.tv_sec = (time_t)(at / 1000000000u), .tv_nsec = (long)(at % 1000000000u)};
        add_control(message, room, SCM_TIMESTAMPNS, &stamp, sizeof stamp);
    }
    if (room > 0 && drops != 0) {
        add_control(message, room, SO_RXQ_OVFL, &drops, sizeof drops);
    }
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    unsigned count = 1;
    const size_t room = message->msg_controllen;
    calls.ones++;
    if (fails(fd, &count)) {
        return -1;
    }
    ssize_t length = syscall(SYS_recvmsg, fd, message, flags);
    if (length >= 0) {
        add_controls(message, room);
    }
    passed(length >= 0 ? 1 : 0);
    return length;
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    calls.manies++;
    if (calls.no_recvmmsg) {
        errno = ENOSYS;
        return -1;
    }
    if (fails(fd, &count)) {
        return -1;
    }
    const size_t room = messages[0].msg_hdr.msg_controllen;
    int got = (int)syscall(SYS_recvmmsg, fd, messages, count, flags, timeout);
    for (int i = 0; i < got; i++) {
        add_controls(&messages[i].msg_hdr, room);
    }
    passed(got);
    return got;
}

static void start(bench *b, const tendon_socket_hooks *hooks) {
    memset(&calls, 0, sizeof calls);
    calls.packets_until_error = -1;
    bench_open(b, hooks, true);
    calls.ones = calls.manies = 0;
}

static void send_numbers(bench *b, uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; i++) {
        peer_sends(b, (const uint8_t[4]){(uint8_t)i, (uint8_t)(i >> 8), 0, 0}, 4);
    }
}

/* ---- how many calls ---- */

/* One to learn that there is something, one to read it. */
static void a_packet_costs_two_calls(void **state) {
    (void)state;
    bench b;
    start(&b, &bare);
    uint64_t wakeups = b.loop.wakeups;
    for (uint32_t i = 0; i < 100; i++) {
        send_numbers(&b, i, 1);
        assert_int_equal(tendon_loop_step(&b.loop, UINT64_MAX), TENDON_OK);
        assert_int_equal(b.end.received, (int)i + 1);
        assert_int_equal(calls.ones + calls.manies, i + 1);
    }
    assert_int_equal(b.loop.wakeups - wakeups, 100);
    assert_true(calls.ones > calls.manies * 5); /* the cheaper of the two */
    assert_true(calls.manies > 4);              /* and it asks again whether there are more */
    bench_close(&b);
}

static void a_burst_costs_one_call_for_many(void **state) {
    (void)state;
    static const struct {
        uint32_t packets;
        unsigned calls;
    } rows[] = {{2, 1}, {15, 1}, {16, 2}, {17, 2}, {31, 2}, {32, 2}};
    bench b;
    start(&b, &bare);
    uint32_t sent = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        calls.manies = 0;
        send_numbers(&b, sent, rows[i].packets);
        sent += rows[i].packets;
        assert_int_equal(tendon_loop_step(&b.loop, UINT64_MAX), TENDON_OK);
        assert_int_equal(b.end.received, (int)sent);
        assert_int_equal(calls.manies, rows[i].calls);
        assert_int_equal(calls.ones, 0);
    }
    assert_int_equal(b.end.misordered, 0);
    bench_close(&b);
}

/* After a long time of single packets a burst is read one by one for a while, then with one call. */
static void a_link_that_was_slow_becomes_fast(void **state) {
    (void)state;
    bench b;
    start(&b, &bare);
    for (uint32_t quiet = 0; quiet < 45; quiet++) {
        uint32_t sent = (uint32_t)b.end.received;
        send_numbers(&b, sent, 1);
        assert_int_equal(tendon_loop_step(&b.loop, UINT64_MAX), TENDON_OK);
    }
    send_numbers(&b, 45, 100);
    uint64_t wakeups = b.loop.wakeups;
    while (b.end.received < 145) {
        assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
    }
    assert_true(b.loop.wakeups - wakeups < 25);
    assert_int_equal(b.end.misordered, 0);
    bench_close(&b);
}

/* ---- calls that fail ---- */

/* In the first call, and after some packets of a burst: what was read is delivered, and what follows it too. */
static void each_error_at_each_packet(void **state) {
    (void)state;
    static const struct {
        int error;
        tendon_status reason; /**< TENDON_OK: the link stays */
    } rows[] = {{EAGAIN, TENDON_OK},
                {EINTR, TENDON_OK},
                {ENOBUFS, TENDON_SYSTEM_ERROR(ENOBUFS)},
                {ENOMEM, TENDON_SYSTEM_ERROR(ENOMEM)},
                {ECONNRESET, TENDON_RADIO_ERROR_PEER_CLOSED},
                {ETIMEDOUT, TENDON_RADIO_ERROR_OUT_OF_RANGE}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        for (int kind = 0; kind < 3; kind++) {
            for (int after = 0; after <= 20; after++) {
                bench b;
                start(&b, &bare);
                calls.no_recvmmsg = kind == 1;          /* the simple form */
                b.end.link.singles = kind == 2 ? 4 : 0; /* one by one */
                calls.packets_until_error = after, calls.error = rows[row].error;
                send_numbers(&b, 0, 20);
                for (int i = 0; i < 60 && b.end.closed == 0; i++) {
                    assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
                }
                if (after == 20 && calls.packets_until_error == 0) { /* nothing wakes the loop for it */
                    send_numbers(&b, 20, 1);
                    assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
                }
                assert_int_equal(calls.packets_until_error, -1);
                assert_true(b.end.received >= 20);
                assert_int_equal(b.end.misordered, 0);
                assert_int_equal(b.end.closed, rows[row].reason == TENDON_OK ? 0 : 1);
                assert_int_equal(b.end.reason, rows[row].reason);
                bench_close(&b);
                assert_int_equal(b.end.closed, 1);
            }
        }
    }
}

static void a_kernel_without_recvmmsg_is_asked_once(void **state) {
    (void)state;
    bench b;
    start(&b, &bare);
    calls.no_recvmmsg = true;
    send_numbers(&b, 0, 100);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
        assert_int_equal(b.end.received, i < 3 ? 32 * (i + 1) : 100);
    }
    assert_int_equal(calls.manies, 1);
    assert_int_equal(b.end.misordered, 0);
    bench_close(&b);
}

/* ---- what the callbacks may do ---- */

typedef struct pair {
    bench a;
    link_end other;
    int other_peer;
    int step; /**< of a step of the loop inside the callback */
} pair;

static pair *both;

static void close_all(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    (void)context, (void)pdu, (void)length, (void)now;
    both->step = tendon_loop_step(&both->a.loop, 0);
    tendon_link_close(&both->a.end.link);
    tendon_link_close(&both->other.link);
}

/* The first packet of either closes both: no other packet is delivered, and each end comes once. */
static void a_callback_closes_its_link_and_another(void **state) {
    (void)state;
    static pair p;
    int sockets[2];
    both = &p;
    start(&p.a, &bare);
    link_end_init(&p.other);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, sockets), 0);
    p.other_peer = sockets[1];
    assert_int_equal(tendon_socket_link_begin(&p.other.link, &p.a.radio, &bare, &somebody, true, UINT64_MAX),
                     TENDON_OK);
    assert_int_equal(tendon_socket_link_adopt(&p.other.link, sockets[0]), TENDON_OK);
    STEP_UNTIL(&p.a.loop, p.other.connected == 1);
    p.a.end.link.callbacks.received = p.other.link.callbacks.received = close_all;
    for (uint32_t i = 0; i < 10; i++) {
        send_numbers(&p.a, i, 1);
        assert_int_equal(send(p.other_peer, "abc", 3, 0), 3);
    }
    p.step = 1;
    uint64_t before = p.a.end.link.received + p.other.link.received;
    STEP_UNTIL(&p.a.loop, p.a.end.closed == 1 && p.other.closed == 1);
    assert_int_equal(before, 0);
    assert_int_equal(p.step, TENDON_ERROR_WRONG_STATE);
    assert_int_equal(calls.manies + calls.ones, 1); /* the other one was not even read */
    close(p.other_peer);
    bench_close(&p.a);
    assert_int_equal(p.a.end.closed, 1);
    assert_int_equal(p.other.closed, 1);
}

/* ---- what the kernel drops ---- */

static uint32_t dropped_in_all;

static uint32_t count_lost(const tendon_link *link) {
    assert_true(link->source.fd >= 0);
    return dropped_in_all;
}

static const tendon_socket_hooks losing = {.header = 0, .lost = count_lost};
static uint32_t seen[40];

static void note_lost(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    link_end *end = context;
    (void)pdu, (void)length, (void)now;
    seen[end->received++] = end->link.lost;
}

static uint32_t lost_at_the_end;

static void note_the_end(void *context, tendon_status reason, uint64_t now) {
    link_end *end = context;
    (void)reason, (void)now;
    lost_at_the_end = end->link.lost;
    end->closed++;
}

/* Each callback finds the count of its moment; what was dropped last is known at the end. */
static void mal_D07_a_drop_is_counted_before_the_packet_behind_it(void **state) {
    (void)state;
    static const uint32_t wanted[] = {0, 0, 3, 3, 3, 3, 3, 90000, 90000, 90000};
    bench b;
    start(&b, &losing);
    b.end.link.callbacks.received = note_lost;
    b.end.link.callbacks.closed = note_the_end;
    memcpy(calls.drops, (const uint32_t[10]){0, 0, 3, 3, 0, 3, 3, 90000, 90000, 90000}, 10 * sizeof(uint32_t));
    send_numbers(&b, 0, 7);
    STEP_UNTIL(&b.loop, b.end.received == 7);
    send_numbers(&b, 7, 3);
    STEP_UNTIL(&b.loop, b.end.received == 10);
    assert_memory_equal(seen, wanted, sizeof wanted);
    dropped_in_all = 90007;
    for (int by_the_peer = 0; by_the_peer < 2; by_the_peer++) {
        if (by_the_peer == 1) {
            start(&b, &losing);
            b.end.link.callbacks.closed = note_the_end;
            assert_int_equal(b.end.link.lost, 0);
            close(b.peer);
            b.peer = -1;
        } else {
            tendon_link_close(&b.end.link);
        }
        STEP_UNTIL(&b.loop, b.end.closed == 1);
        assert_int_equal(lost_at_the_end, 90007);
        assert_int_equal(b.end.link.lost, 90007);
        assert_int_equal(b.end.link.radio->lost, 90007); /* each packet once, though three places count */
        lost_at_the_end = 0;
        bench_close(&b);
    }
    dropped_in_all = 0;
}

/* 2,101 notifications a second for a minute, and a program that looks ten times a second: the queue is the socket's,
 * and what does not fit is dropped and counted. */
static void mal_D07_a_slow_consumer_loses_what_the_queue_cannot_hold(void **state) {
    (void)state;
    enum { RATE = 2101, SECONDS = 60, LOOKS = 10 };
    bench b;
    start(&b, &losing);
    uint32_t sent = 0, accepted = 0, most = 0;
    dropped_in_all = 0;
    for (unsigned look = 1; look <= SECONDS * LOOKS; look++) {
        for (; sent < look * RATE / LOOKS; sent++) {
            const uint8_t pdu[] = {0x1B, 3, 0, (uint8_t)sent, (uint8_t)(sent >> 8), (uint8_t)(sent >> 16)};
            bool fits = send(b.peer, pdu, sizeof pdu, MSG_DONTWAIT) == (ssize_t)sizeof pdu;
            accepted += fits;
            dropped_in_all += !fits; /* as the kernel does with a socket of a radio */
        }
        uint32_t held = accepted - (uint32_t)b.end.received;
        most = held > most ? held : most;
        assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
    }
    assert_true(dropped_in_all > RATE && most < RATE); /* it was too slow, and less than a second waited at any time */
    STEP_UNTIL(&b.loop, (uint32_t)b.end.received == accepted);
    b.end.link.callbacks.closed = note_the_end;
    tendon_link_close(&b.end.link);
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(sent, RATE * SECONDS);
    assert_int_equal(accepted + lost_at_the_end, sent); /* each was received, or is in the count */
    dropped_in_all = lost_at_the_end = 0;
    bench_close(&b);
}

/* An old kernel that does not know the total: what the packets said stays. */
static void an_unknown_total_takes_nothing_back(void **state) {
    (void)state;
    bench b;
    start(&b, &losing);
    b.end.link.callbacks.closed = note_the_end;
    calls.drops[0] = 5;
    send_numbers(&b, 0, 1);
    STEP_UNTIL(&b.loop, b.end.received == 1);
    tendon_link_close(&b.end.link);
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(lost_at_the_end, 5);
    bench_close(&b);
}

/* ---- when a packet arrived ---- */

static const tendon_socket_hooks stamped = {.header = 0, .stamps = true};
static uint64_t arrivals[10];

static void note_arrival(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    link_end *end = context;
    (void)pdu, (void)length, (void)now;
    arrivals[end->received++] = end->link.received_at;
}

enum { MS = 1000000 };
#define REAL UINT64_C(1764385200123456789)
#define MONOTONIC UINT64_C(5000000000000)

/* With each way to read. A clock that was set is noticed by an age that cannot be, or by the order of the packets. */
static void the_stamp_of_the_kernel_is_the_time_of_arrival(void **state) {
    (void)state;
    static const uint64_t stamps[] = {REAL - 9 * MS, REAL - 7 * MS, 0, REAL + 1, /* set back after it */
                                      REAL - 3600000ull * MS};                   /* set forward by an hour */
    static const uint64_t wanted[] = {MONOTONIC - 9 * MS, MONOTONIC - 7 * MS, MONOTONIC, MONOTONIC, MONOTONIC};
    for (int kind = 0; kind < 3; kind++) {
        bench b;
        start(&b, &stamped);
        b.end.link.received_at = MONOTONIC - 10 * MS; /* the connection */
        b.end.link.callbacks.received = note_arrival;
        calls.no_recvmmsg = kind == 1;
        b.end.link.singles = kind == 2 ? 4 : 0;
        calls.real = REAL, calls.monotonic = MONOTONIC;
        memcpy(calls.stamps, stamps, sizeof stamps);
        send_numbers(&b, 0, 5);
        STEP_UNTIL(&b.loop, b.end.received == 5);
        assert_memory_equal(arrivals, wanted, sizeof wanted);
        calls.next_stamp = 0;
        calls.stamps[0] = REAL - 2 * MS;
        calls.real = REAL, calls.monotonic = MONOTONIC + 20 * MS;
        send_numbers(&b, 5, 1);
        STEP_UNTIL(&b.loop, b.end.received == 6);
        assert_true(arrivals[5] == MONOTONIC + 18 * MS);
        calls.real = calls.monotonic = 0;
        bench_close(&b);
    }
}

static void no_arrival_is_before_the_connection(void **state) {
    (void)state;
    bench b;
    start(&b, &stamped);
    b.end.link.callbacks.received = note_arrival;
    const uint64_t opened = b.end.link.received_at;
    assert_true(opened > 0 && opened % MS == 0); /* that of the step of the loop in which it was opened */
    calls.real = REAL, calls.monotonic = opened + 5 * MS;
    calls.stamps[0] = REAL - 10 * MS;
    send_numbers(&b, 0, 1);
    STEP_UNTIL(&b.loop, b.end.received == 1);
    assert_true(arrivals[0] == opened);
    calls.real = calls.monotonic = 0;
    bench_close(&b);
}

/* The radio of simulated devices. */
static void without_stamps_it_is_the_time_of_the_read(void **state) {
    (void)state;
    bench b;
    start(&b, &bare);
    b.end.link.callbacks.received = note_arrival;
    calls.stamps[0] = REAL - 9 * MS;
    calls.real = REAL, calls.monotonic = b.end.link.received_at + 7 * MS;
    send_numbers(&b, 0, 1);
    STEP_UNTIL(&b.loop, b.end.received == 1);
    assert_true(arrivals[0] == calls.monotonic);
    calls.real = calls.monotonic = 0;
    bench_close(&b);
}

/* A Unix socket can carry descriptors; nobody asked for them, so none is installed. */
static void a_peer_cannot_send_descriptors(void **state) {
    (void)state;
    bench b;
    start(&b, &bare);
    int open = open_descriptors();
    for (int i = 0; i < 40; i++) {
        union {
            char bytes[CMSG_SPACE(sizeof(int))];
            struct cmsghdr align;
        } room = {{0}};
        struct iovec vector = {.iov_base = (void *)(uintptr_t) "abc", .iov_len = 3};
        struct msghdr message = {
            .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = CMSG_LEN(sizeof(int))};
        room.align =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&room.align), &b.peer, sizeof(int));
        assert_int_equal(sendmsg(b.peer, &message, 0), 3);
        if (i % 4 == 3) {
            assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
        }
    }
    assert_int_equal(b.end.received, 40);
    assert_false(calls.controls);
    assert_int_equal(open_descriptors(), open);
    bench_close(&b);
}

/* ---- the same as the simple form ---- */

enum { RUNS = 400, PACKETS_MAX = 200 };

typedef struct outcome {
    uint32_t digest;
    int received, closed;
    uint64_t malformed;
    tendon_status reason;
} outcome;

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static uint32_t digest_of;
static int close_at;

static void digest(void *context, const uint8_t *pdu, size_t length, uint64_t now) {
    link_end *end = context;
    (void)now;
    for (size_t i = 0; i < length; i++) {
        digest_of = (digest_of ^ pdu[i]) * 16777619u;
    }
    digest_of = (digest_of ^ (uint32_t)length) * 16777619u;
    if (++end->received == close_at) {
        link_end_close(end);
    }
}

/** Packets of any length and content in groups of any size, an error at any of them, and an end from either side. */
static outcome play(uint32_t seed, bool simple) {
    static const int errors[] = {EAGAIN, EINTR, ENOBUFS, ECONNRESET, EIO};
    bench b;
    uint8_t bytes[600];
    outcome result = {0};
    start(&b, (seed & 1u) != 0 ? &framed : &bare);
    calls.no_recvmmsg = simple;
    b.end.link.callbacks.received = digest;
    b.end.link.batch = next_random(&seed) % 3 == 0 ? next_random(&seed) % 40 : 0;
    close_at = next_random(&seed) % 4 == 0 ? (int)(next_random(&seed) % PACKETS_MAX) : -1;
    if (next_random(&seed) % 3 == 0) {
        calls.packets_until_error = (int)(next_random(&seed) % 100);
        calls.error = errors[next_random(&seed) % 5];
    }
    const bool slow = next_random(&seed) % 2 == 0;
    for (int packets = 0; packets < PACKETS_MAX;) {
        int group = (int)(slow ? 1 : 1 + next_random(&seed) % 60);
        for (int i = 0; i < group && b.end.closed == 0 && b.end.link.state == TENDON_LINK_OPEN; i++, packets++) {
            size_t length = 1 + next_random(&seed) % (next_random(&seed) % 8 == 0 ? sizeof bytes - 1 : 30);
            memset(bytes, (int)next_random(&seed), length);
            bytes[0] = next_random(&seed) % 16 == 0 ? 7 : 0;
            peer_sends(&b, bytes, length);
        }
        for (int i = 0; i < 80; i++) {
            assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
        }
        packets += b.end.closed != 0 || b.end.link.error != 0 ? PACKETS_MAX : 0; /* the kernel hangs up */
    }
    close(b.peer);
    b.peer = -1;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
    }
    result = (outcome){digest_of, b.end.received, b.end.closed, b.radio.malformed, b.end.reason};
    bench_close(&b);
    digest_of = 0;
    return result;
}

static void both_forms_give_the_same(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < RUNS; seed++) {
        outcome fast = play(seed, false), simple = play(seed, true);
        assert_int_equal(fast.received, simple.received);
        assert_int_equal(fast.digest, simple.digest);
        assert_int_equal(fast.malformed, simple.malformed);
        assert_int_equal(fast.closed, 1);
        assert_int_equal(simple.closed, 1);
        assert_int_equal(fast.reason, simple.reason);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_costs_two_calls),
        cmocka_unit_test(a_burst_costs_one_call_for_many),
        cmocka_unit_test(a_link_that_was_slow_becomes_fast),
        cmocka_unit_test(each_error_at_each_packet),
        cmocka_unit_test(a_kernel_without_recvmmsg_is_asked_once),
        cmocka_unit_test(a_callback_closes_its_link_and_another),
        cmocka_unit_test(mal_D07_a_drop_is_counted_before_the_packet_behind_it),
        cmocka_unit_test(mal_D07_a_slow_consumer_loses_what_the_queue_cannot_hold),
        cmocka_unit_test(an_unknown_total_takes_nothing_back),
        cmocka_unit_test(the_stamp_of_the_kernel_is_the_time_of_arrival),
        cmocka_unit_test(no_arrival_is_before_the_connection),
        cmocka_unit_test(without_stamps_it_is_the_time_of_the_read),
        cmocka_unit_test(a_peer_cannot_send_descriptors),
        cmocka_unit_test(both_forms_give_the_same),
    };
    return cmocka_run_group_tests_name("linux/socket_receive", tests, NULL, NULL);
}
