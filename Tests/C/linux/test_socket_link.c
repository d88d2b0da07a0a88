/* SPDX-License-Identifier: MIT */
/* Links over socket pairs: the part that the virtual and the kernel's radio share. */
#include "open_files.h"
#include "socket_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* In the C library's place: calls that fail so many times. */
static int failing_epoll, failing_sends, send_error, empty_receives;

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event) {
    errno = ENOMEM;
    return operation == EPOLL_CTL_ADD && failing_epoll-- > 0 ? -1
                                                             : (int)syscall(SYS_epoll_ctl, epoll, operation, fd, event);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    errno = send_error;
    return failing_sends-- > 0 ? -1 : (ssize_t)syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    errno = EAGAIN;
    return empty_receives-- > 0 ? -1 : (ssize_t)syscall(SYS_recvmsg, fd, message, flags);
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout) {
    errno = EAGAIN;
    return empty_receives-- > 0 ? -1 : (int)syscall(SYS_recvmmsg, fd, messages, count, flags, timeout);
}

static void every_length_passes_both_ways(void **state) {
    (void)state;
    bench b;
    uint8_t bytes[TENDON_ATT_MTU_MAX + 1], back[TENDON_ATT_MTU_MAX + 8];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 7);
    }
    bytes[0] = 0; /* the header */
    bench_open(&b, &framed, false);
    assert_int_equal(b.attempted, 1);
    assert_int_equal(b.attempt_result, TENDON_OK);
    for (size_t length = 0; length <= TENDON_ATT_MTU_MAX; length++) {
        peer_sends(&b, bytes, length + 1);
        assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
        assert_int_equal(b.end.received, (int)length + 1);
        assert_int_equal(b.end.last_length, length);
        assert_memory_equal(b.end.last, bytes + 1, length);
        assert_int_equal(link_end_send(&b.end, bytes + 1, length), TENDON_OK);
        assert_int_equal(recv(b.peer, back, sizeof back, 0), (ssize_t)length + 1);
        assert_int_equal(back[0], 0);
        assert_memory_equal(back + 1, bytes + 1, length);
    }
    assert_int_equal(link_end_send(&b.end, bytes, TENDON_ATT_MTU_MAX + 1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(b.end.link.received, TENDON_ATT_MTU_MAX + 1);
    assert_int_equal(b.end.link.sent, TENDON_ATT_MTU_MAX + 1);
    bench_close(&b);
    assert_int_equal(b.end.closed, 1);
}

/* A PDU longer than any MTU arrives as one byte too many, so that the bearer above rejects it; nothing overflows. */
static void mal_oversize_pdu_shows_as_too_long(void **state) {
    (void)state;
    const tendon_socket_hooks *kinds[2] = {&bare, &framed};
    for (int kind = 0; kind < 2; kind++) {
        bench b;
        uint8_t bytes[4000];
        memset(bytes, 0, sizeof bytes);
        bench_open(&b, kinds[kind], true);
        assert_int_equal(b.attempted, 0);
        peer_sends(&b, bytes, sizeof bytes);
        peer_sends(&b, "\0\1", 2);
        STEP_UNTIL(&b.loop, b.end.received == 2);
        assert_int_equal(b.end.last_length, kind == 0 ? 2 : 1);
        assert_int_equal(b.end.closed, 0);
        bench_close(&b);
    }
}

static void oversize_length_is_above_the_mtu(void **state) {
    (void)state;
    bench b;
    uint8_t bytes[TENDON_ATT_MTU_MAX + 2] = {0};
    bench_open(&b, &framed, true);
    peer_sends(&b, bytes, sizeof bytes);
    STEP_UNTIL(&b.loop, b.end.received == 1);
    assert_int_equal(b.end.last_length, TENDON_ATT_MTU_MAX + 1);
    bench_close(&b);
}

static void mal_other_header_bytes_are_counted_and_dropped(void **state) {
    (void)state;
    bench b;
    bench_open(&b, &framed, true);
    for (int header = 1; header < 256; header++) {
        uint8_t bytes[2] = {(uint8_t)header, 0x0B};
        peer_sends(&b, bytes, header % 2 == 0 ? 1 : 2);
        assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
    }
    assert_int_equal(b.end.received, 0);
    assert_int_equal(b.radio.malformed, 255);
    peer_sends(&b, "\0x", 2);
    STEP_UNTIL(&b.loop, b.end.received == 1);
    bench_close(&b);
}

/* Without a header an empty PDU reads like the end of the link; the state of the socket distinguishes them. */
static void mal_empty_pdu_is_not_the_end(void **state) {
    (void)state;
    bench b;
    bench_open(&b, &bare, false);
    peer_sends(&b, "", 0);
    peer_sends(&b, "a", 1);
    STEP_UNTIL(&b.loop, b.end.received == 2);
    assert_int_equal(b.end.closed, 0);
    close(b.peer);
    b.peer = -1;
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(b.end.reason, TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(b.end.received, 2);
    bench_close(&b);
    assert_int_equal(b.end.closed, 1);
}

/* PDUs that the peer sent before it closed are delivered, then the end, once. */
static void last_words_come_before_the_end(void **state) {
    (void)state;
    const tendon_socket_hooks *kinds[2] = {&bare, &framed};
    for (int kind = 0; kind < 2; kind++) {
        bench b;
        bench_open(&b, kinds[kind], true);
        for (int i = 0; i < 40; i++) {
            peer_sends(&b, "\0\1\2", 3);
        }
        close(b.peer);
        b.peer = -1;
        assert_int_equal(link_end_send(&b.end, "x", 1), TENDON_ERROR_DISCONNECTED);
        assert_int_equal(b.end.closed, 0);
        STEP_UNTIL(&b.loop, b.end.closed == 1);
        assert_int_equal(b.end.received, 40);
        assert_int_equal(b.end.reason, TENDON_RADIO_ERROR_PEER_CLOSED);
        bench_close(&b);
    }
}

static void batch_leaves_others_their_turn(void **state) {
    (void)state;
    static const uint32_t batches[] = {1, 5, 32, 0, 1000};
    for (size_t k = 0; k < sizeof batches / sizeof batches[0]; k++) {
        bench b;
        bench_open(&b, &bare, true);
        b.end.link.batch = batches[k];
        for (uint8_t i = 0; i < 70; i++) {
            peer_sends(&b, (const uint8_t[4]){i, 0, 0, 0}, 4);
        }
        int most = batches[k] == 0 || batches[k] > 32 ? 32 : (int)batches[k], before = 0;
        while (b.end.received < 70) {
            before = b.end.received;
            assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
            assert_int_equal(b.end.received, before + most < 70 ? before + most : 70);
        }
        assert_int_equal(b.end.misordered, 0);
        bench_close(&b);
    }
}

/* One packet, one wake-up, and the loop goes to sleep again. */
static void one_packet_costs_one_wake_up(void **state) {
    (void)state;
    bench b;
    bench_open(&b, &bare, true);
    uint64_t before = b.loop.wakeups;
    for (int i = 0; i < 10; i++) {
        peer_sends(&b, "abcde", 5);
        assert_int_equal(tendon_loop_step(&b.loop, UINT64_MAX), TENDON_OK);
    }
    assert_int_equal(b.loop.wakeups - before, 10);
    assert_int_equal(b.end.received, 10);
    bench_close(&b);
}

static void close_inside_received_drops_the_rest_of_the_batch(void **state) {
    (void)state;
    bench b;
    bench_open(&b, &bare, false);
    b.end.on_received = LINK_CLOSE;
    for (int i = 0; i < 10; i++) {
        peer_sends(&b, "abc", 3);
    }
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(b.end.received, 1);
    assert_int_equal(b.end.reason, TENDON_ERROR_CANCELLED);
    assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
    assert_int_equal(b.end.closed, 1);
    bench_close(&b);
}

static void close_inside_connected(void **state) {
    (void)state;
    bench b;
    int pair[2];
    memset(&b, 0, sizeof b);
    assert_int_equal(tendon_loop_init(&b.loop), TENDON_OK);
    b.radio = (tendon_radio){.ops = &socket_ops, .loop = &b.loop};
    link_end_init(&b.end);
    b.end.on_connected = LINK_CLOSE;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    b.peer = pair[1];
    assert_int_equal(tendon_socket_link_begin(&b.end.link, &b.radio, &bare, &somebody, false, UINT64_MAX), TENDON_OK);
    assert_int_equal(tendon_socket_link_adopt(&b.end.link, pair[0]), TENDON_OK);
    peer_sends(&b, "abc", 3);
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(b.end.connected, 1);
    assert_int_equal(b.end.received, 0);
    assert_int_equal(b.end.reason, TENDON_ERROR_CANCELLED);
    bench_close(&b);
}

/* A slow reader: sends block, writable() comes when there is room, and nothing is lost or reordered. */
static void slow_reader_loses_nothing(void **state) {
    (void)state;
    bench b;
    uint32_t sent = 0, got = 0;
    bench_open(&b, &bare, true);
    int blocked = 0;
    while (got < 5000) {
        tendon_status status = TENDON_OK;
        while (sent < 5000 && status == TENDON_OK) {
            uint8_t bytes[4] = {(uint8_t)sent, (uint8_t)(sent >> 8), (uint8_t)(sent >> 16), (uint8_t)(sent >> 24)};
            status = link_end_send(&b.end, bytes, 4);
            sent += status == TENDON_OK ? 1 : 0;
        }
        if (sent < 5000) {
            assert_int_equal(status, TENDON_ERROR_WOULD_BLOCK);
            assert_int_equal(link_end_send(&b.end, "late", 4), TENDON_ERROR_WOULD_BLOCK);
            int writable = b.end.writable;
            assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
            assert_int_equal(b.end.writable, writable); /* the peer read nothing: no false hope, no spinning */
            blocked++;
        }
        if (sent < 5000 && blocked > 0) { /* there is space again, but the PDU that was blocked is sent first */
            uint8_t bytes[8];
            for (uint32_t i = 0; i < 200 && recv(b.peer, bytes, sizeof bytes, MSG_DONTWAIT) == 4; i++) {
                assert_int_equal(bytes[0], (uint8_t)got);
                got++;
            }
            assert_int_equal(link_end_send(&b.end, "late", 4), TENDON_ERROR_WOULD_BLOCK);
        }
        uint8_t bytes[8];
        ssize_t length = 0;
        while ((length = recv(b.peer, bytes, sizeof bytes, MSG_DONTWAIT)) == 4) {
            uint32_t number =
                (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
            assert_int_equal(number, got);
            got++;
        }
        if (blocked > 0 && sent < 5000) {
            STEP_UNTIL(&b.loop, b.end.writable == blocked);
        }
    }
    assert_true(blocked > 0);
    assert_int_equal(b.end.link.sent, 5000);
    uint64_t wakeups = b.loop.wakeups;
    assert_int_equal(tendon_loop_run(&b.loop, tendon_monotonic_ms() + 5), TENDON_OK);
    assert_int_equal(b.loop.wakeups, wakeups + 1); /* no interest in writing is left over */
    bench_close(&b);
}

static void close_is_told_once_and_later(void **state) {
    (void)state;
    bench b;
    bench_open(&b, &bare, true);
    link_end_close(&b.end);
    link_end_close(&b.end);
    assert_int_equal(b.end.closed, 0);
    assert_int_equal(link_end_send(&b.end, "x", 1), TENDON_ERROR_DISCONNECTED);
    char byte = 0;
    assert_int_equal(recv(b.peer, &byte, 1, 0), 0); /* the peer sees it immediately */
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(b.end.reason, TENDON_ERROR_CANCELLED);
    link_end_close(&b.end);
    assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
    assert_int_equal(b.end.closed, 1);
    bench_close(&b);
}

static void radio_can_fail_a_link(void **state) {
    (void)state;
    bench b;
    bench_open(&b, &bare, true);
    tendon_socket_link_fail(&b.end.link, TENDON_RADIO_ERROR_ADAPTER_DOWN);
    tendon_link_close(&b.end.link); /* too late: the first reason stays */
    tendon_socket_link_fail(&b.end.link, TENDON_RADIO_ERROR_NO_ADAPTER);
    assert_int_equal(tendon_link_send(&b.end.link, (const uint8_t *)"x", 1), TENDON_ERROR_DISCONNECTED);
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(b.end.reason, TENDON_RADIO_ERROR_ADAPTER_DOWN);
    tendon_socket_link_fail(&b.end.link, TENDON_RADIO_ERROR_NO_ADAPTER); /* it has no end any more */
    assert_int_equal(b.end.link.state, TENDON_LINK_CLOSED);
    assert_false(b.end.link.source.added);
    assert_int_equal(tendon_link_send(&b.end.link, (const uint8_t *)"x", 1), TENDON_ERROR_DISCONNECTED);
    bench_close(&b);
}

typedef struct tap_log {
    int opened, received, sent, closed;
    size_t bytes;
} tap_log;

static void on_tap(void *context, const tendon_link *link, tendon_tap_kind kind, const uint8_t *pdu, size_t length) {
    tap_log *log = context;
    (void)link;
    (void)pdu;
    int *counters[] = {&log->opened, &log->received, &log->sent, &log->closed};
    (*counters[kind])++;
    log->bytes += length;
}

static void tap_sees_what_passes(void **state) {
    (void)state;
    bench b;
    tap_log log = {0};
    bench_open(&b, &framed, true);
    b.radio.tap = on_tap;
    b.radio.tap_context = &log;
    peer_sends(&b, "\0abc", 4);
    peer_sends(&b, "\1abc", 4);
    STEP_UNTIL(&b.loop, b.radio.malformed == 1);
    assert_int_equal(link_end_send(&b.end, "de", 2), TENDON_OK);
    assert_int_equal(log.received, 1);
    assert_int_equal(log.sent, 1);
    assert_int_equal(log.bytes, 5); /* PDUs without the header byte */
    bench_close(&b);
    assert_int_equal(log.closed, 1);
    assert_int_equal(log.opened, 0);
}

/* A socket that epoll does not take is closed, and the owner of the link is notified. */
static void a_socket_that_cannot_be_watched_is_closed(void **state) {
    (void)state;
    bench b;
    int pair[2];
    memset(&b, 0, sizeof b);
    assert_int_equal(tendon_loop_init(&b.loop), TENDON_OK);
    b.radio = (tendon_radio){.ops = &socket_ops, .loop = &b.loop};
    link_end_init(&b.end);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    b.peer = pair[1];
    int before = open_descriptors();
    assert_int_equal(tendon_socket_link_begin(&b.end.link, &b.radio, &bare, &somebody, true, UINT64_MAX), TENDON_OK);
    failing_epoll = 1;
    tendon_status status = tendon_socket_link_adopt(&b.end.link, pair[0]);
    assert_int_equal(status, TENDON_SYSTEM_ERROR(ENOMEM));
    assert_int_equal(open_descriptors(), before - 1);
    tendon_socket_link_fail(&b.end.link, status);
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(b.end.reason, TENDON_SYSTEM_ERROR(ENOMEM));
    assert_int_equal(b.end.connected, 0);
    bench_close(&b);
}

/* Without memory the socket still counts as writable: waiting for that would be a loop without a pause. */
static void a_lack_of_memory_is_waited_out(void **state) {
    (void)state;
    static const int errors[] = {ENOBUFS, ENOMEM};
    for (int i = 0; i < 2; i++) {
        bench b;
        char back[4];
        bench_open(&b, &bare, false);
        failing_sends = 1;
        send_error = errors[i];
        assert_int_equal(link_end_send(&b.end, "x", 1), TENDON_ERROR_WOULD_BLOCK);
        assert_int_equal(link_end_send(&b.end, "y", 1), TENDON_ERROR_WOULD_BLOCK);
        uint64_t wakeups = b.loop.wakeups;
        STEP_UNTIL(&b.loop, b.end.writable == 1);
        assert_true(b.loop.wakeups - wakeups <= 2);
        assert_int_equal(link_end_send(&b.end, "x", 1), TENDON_OK);
        assert_int_equal(recv(b.peer, back, sizeof back, 0), 1);
        assert_int_equal(b.end.link.source.deadline == UINT64_MAX, 1);
        failing_sends = 1;
        assert_int_equal(tendon_socket_link_control(&b.end.link, (const uint8_t *)"x", 1), TENDON_ERROR_WOULD_BLOCK);
        bench_close(&b);
    }
}

static void send_two(void *context, uint64_t now) {
    bench *b = context;
    (void)now;
    b->end.writable++;
    failing_sends = 1;
    (void)tendon_link_send(&b->end.link, (const uint8_t *)"x", 1);
}

/* The same for the send of a handler that was called because the socket was writable again. */
static void a_lack_of_memory_in_writable_is_waited_out(void **state) {
    (void)state;
    bench b;
    char back[64];
    bench_open(&b, &bare, false);
    failing_sends = 0;
    while (link_end_send(&b.end, "abc", 3) == TENDON_OK) {
    }
    send_error = ENOBUFS;
    b.end.link.callbacks.context = &b;
    b.end.link.callbacks.writable = send_two;
    while (recv(b.peer, back, sizeof back, MSG_DONTWAIT) > 0) {
    }
    b.end.writable = 0;
    uint64_t wakeups = b.loop.wakeups;
    STEP_UNTIL(&b.loop, b.end.writable == 3);
    assert_true(b.loop.wakeups - wakeups <= 4);
    failing_sends = 0;
    b.end.link.callbacks.context = &b.end;
    b.end.link.callbacks.writable = NULL;
    bench_close(&b);
}

/*
 * The kernel reports the error of an L2CAP socket once. A send that receives it leaves a socket that is hung up and
 * whose recv() says EAGAIN for ever: the link ends all the same, with the reason that the send was given.
 */
static void an_end_that_a_send_noticed_is_the_end(void **state) {
    (void)state;
    static const struct {
        int error;
        tendon_status reason;
    } rows[] = {{ETIMEDOUT, TENDON_RADIO_ERROR_OUT_OF_RANGE},
                {ECONNRESET, TENDON_RADIO_ERROR_PEER_CLOSED},
                {EIO, TENDON_SYSTEM_ERROR(EIO)},
                {0, TENDON_RADIO_ERROR_PEER_CLOSED}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench b;
        bench_open(&b, &bare, false);
        if (rows[i].error != 0) {
            failing_sends = 1, send_error = rows[i].error;
            assert_int_equal(link_end_send(&b.end, (const uint8_t *)"x", 1), TENDON_ERROR_DISCONNECTED);
        }
        close(b.peer);
        b.peer = -1;
        empty_receives = 1;
        assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
        assert_int_equal(empty_receives, 0);
        assert_int_equal(b.end.closed, 1);
        assert_int_equal(b.end.reason, rows[i].reason);
        bench_close(&b);
        assert_int_equal(b.end.closed, 1);
    }
    failing_sends = empty_receives = 0;
}

/* The kernel reports first that the peer closed with unread data, then returns what the peer had sent. */
static void last_words_come_before_an_error(void **state) {
    (void)state;
    bench b;
    bench_open(&b, &bare, false);
    assert_int_equal(link_end_send(&b.end, (const uint8_t *)"unread", 6), TENDON_OK);
    for (int i = 0; i < 40; i++) {
        peer_sends(&b, "abc", 3);
    }
    close(b.peer);
    b.peer = -1;
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(b.end.received, 40);
    assert_int_equal(b.end.reason, TENDON_RADIO_ERROR_PEER_CLOSED);
    bench_close(&b);
    assert_int_equal(b.end.closed, 1);
}

/* Without a hang-up, nothing to read is no end. */
static void an_empty_socket_is_not_the_end(void **state) {
    (void)state;
    bench b;
    bench_open(&b, &bare, false);
    peer_sends(&b, "a", 1);
    empty_receives = 1;
    assert_int_equal(tendon_loop_step(&b.loop, 0), TENDON_OK);
    assert_int_equal(b.end.closed, 0);
    STEP_UNTIL(&b.loop, b.end.received == 1);
    empty_receives = 0;
    bench_close(&b);
}

/* Nothing is a packet too: it is sent, and counts. */
static void a_pdu_without_a_byte_is_sent(void **state) {
    (void)state;
    bench b;
    uint8_t bytes[4];
    bench_open(&b, &bare, false);
    assert_int_equal(link_end_send(&b.end, "", 0), TENDON_OK);
    assert_int_equal(b.end.link.sent, 1);
    assert_int_equal(recv(b.peer, bytes, sizeof bytes, MSG_DONTWAIT), 0);
    bench_close(&b);
}

static void close_in_encrypted(void *context, uint64_t now) {
    link_end *end = context;
    (void)now;
    tendon_link_close(&end->link);
}

static bool always_encrypted(const tendon_link *link) {
    (void)link;
    return true;
}

static void close_inside_encrypted(void **state) {
    (void)state;
    static const tendon_socket_hooks encrypting = {.header = 0, .is_encrypted = always_encrypted};
    bench b;
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    bench_open(&b, &encrypting, true);
    b.radio.bonds = &bonds;
    b.end.link.callbacks.encrypted = close_in_encrypted;
    peer_sends(&b, "abc", 3);
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(b.end.reason, TENDON_ERROR_CANCELLED);
    assert_int_equal(b.end.received, 0);
    b.radio.bonds = NULL;
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_passes_both_ways),
        cmocka_unit_test(mal_oversize_pdu_shows_as_too_long),
        cmocka_unit_test(oversize_length_is_above_the_mtu),
        cmocka_unit_test(mal_other_header_bytes_are_counted_and_dropped),
        cmocka_unit_test(mal_empty_pdu_is_not_the_end),
        cmocka_unit_test(last_words_come_before_the_end),
        cmocka_unit_test(batch_leaves_others_their_turn),
        cmocka_unit_test(one_packet_costs_one_wake_up),
        cmocka_unit_test(close_inside_received_drops_the_rest_of_the_batch),
        cmocka_unit_test(close_inside_connected),
        cmocka_unit_test(slow_reader_loses_nothing),
        cmocka_unit_test(close_is_told_once_and_later),
        cmocka_unit_test(radio_can_fail_a_link),
        cmocka_unit_test(tap_sees_what_passes),
        cmocka_unit_test(a_socket_that_cannot_be_watched_is_closed),
        cmocka_unit_test(a_lack_of_memory_is_waited_out),
        cmocka_unit_test(a_lack_of_memory_in_writable_is_waited_out),
        cmocka_unit_test(an_end_that_a_send_noticed_is_the_end),
        cmocka_unit_test(last_words_come_before_an_error),
        cmocka_unit_test(an_empty_socket_is_not_the_end),
        cmocka_unit_test(close_inside_encrypted),
        cmocka_unit_test(a_pdu_without_a_byte_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
