/* SPDX-License-Identifier: MIT */
/* Links over sockets: attempts to connect, and why they end. */
#include "socket_fixture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

/* In the C library's place: what the kernel answers to SO_ERROR is not known. */
static int getsockopt_error;

int getsockopt(int fd, int level, int name, void *value, socklen_t *length) {
    errno = getsockopt_error;
    return getsockopt_error != 0 && name == SO_ERROR ? -1
                                                     : (int)syscall(SYS_getsockopt, fd, level, name, value, length);
}

typedef enum attempt_case { BY_RETRY, RETRY_FAILS, BY_DEADLINE, BY_CANCEL, ATTEMPT_CASES } attempt_case;

static void attempts_end_in_each_way(void **state) {
    (void)state;
    for (int which = 0; which < ATTEMPT_CASES; which++) {
        bench b;
        int pair[2];
        memset(&b, 0, sizeof b);
        assert_int_equal(tendon_loop_init(&b.loop), TENDON_OK);
        b.radio = (tendon_radio){.ops = &socket_ops, .loop = &b.loop};
        link_end_init(&b.end);
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
        b.peer = pair[1];
        b.retry_fd = which == BY_RETRY ? pair[0] : -1;
        b.retry_status = which == RETRY_FAILS ? TENDON_SYSTEM_ERROR(EMFILE) : TENDON_OK;
        uint64_t deadline = tendon_monotonic_ms() + (which == BY_DEADLINE ? 5 : 10000);
        assert_int_equal(tendon_socket_link_begin(&b.end.link, &b.radio, &bare, &somebody, false, deadline), TENDON_OK);
        assert_int_equal(tendon_socket_link_begin(&b.end.link, &b.radio, &bare, &somebody, false, deadline),
                         TENDON_ERROR_WRONG_STATE);
        if (which == BY_RETRY || which == RETRY_FAILS) {
            b.end.link.source.deadline = 0;
        } else if (which == BY_CANCEL) {
            link_end_close(&b.end);
        }
        assert_int_equal(link_end_send(&b.end, "x", 1), TENDON_ERROR_DISCONNECTED);
        STEP_UNTIL(&b.loop, b.end.connected + b.end.closed == 1);
        static const tendon_status expected[] = {TENDON_OK, TENDON_SYSTEM_ERROR(EMFILE), TENDON_ERROR_TIMEOUT,
                                                 TENDON_ERROR_CANCELLED};
        assert_int_equal(b.attempted, 1);
        assert_int_equal(b.attempt_result, expected[which]);
        assert_int_equal(b.end.connected, which == BY_RETRY ? 1 : 0);
        assert_int_equal(b.end.reason, expected[which]);
        assert_int_equal(b.retries, which == BY_RETRY ? 3 : which == RETRY_FAILS ? 1 : 0);
        if (which != BY_RETRY) {
            close(pair[0]);
        }
        bench_close(&b);
        assert_int_equal(b.attempted, 1);
        assert_int_equal(b.end.closed, 1);
    }
}

/* connect() under way: EPOLLOUT, then SO_ERROR decides. A Unix datagram socket stands for L2CAP's. */
static void connecting_is_decided_by_so_error(void **state) {
    (void)state;
    bench b;
    int pair[2];
    memset(&b, 0, sizeof b);
    assert_int_equal(tendon_loop_init(&b.loop), TENDON_OK);
    b.radio = (tendon_radio){.ops = &socket_ops, .loop = &b.loop};
    link_end_init(&b.end);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    b.peer = pair[1];
    assert_int_equal(tendon_socket_link_begin(&b.end.link, &b.radio, &bare, &somebody, false, UINT64_MAX), TENDON_OK);
    assert_int_equal(tendon_socket_link_connecting(&b.end.link, pair[0]), TENDON_OK);
    STEP_UNTIL(&b.loop, b.end.connected == 1);
    peer_sends(&b, "hi", 2);
    STEP_UNTIL(&b.loop, b.end.received == 1);
    bench_close(&b);

    /* A peer that closed with unread data leaves ECONNRESET behind: SO_ERROR is what the hook gets. */
    memset(&b, 0, sizeof b);
    assert_int_equal(tendon_loop_init(&b.loop), TENDON_OK);
    b.radio = (tendon_radio){.ops = &socket_ops, .loop = &b.loop};
    link_end_init(&b.end);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    assert_int_equal(send(pair[0], "x", 1, 0), 1);
    close(pair[1]);
    b.peer = -1;
    assert_int_equal(tendon_socket_link_begin(&b.end.link, &b.radio, &special, &somebody, false, UINT64_MAX),
                     TENDON_OK);
    assert_int_equal(tendon_socket_link_connecting(&b.end.link, pair[0]), TENDON_OK);
    STEP_UNTIL(&b.loop, b.end.closed == 1);
    assert_int_equal(b.end.reason, TENDON_STATUS(TENDON_LAYER_L2CAP, 102));
    assert_int_equal(b.end.connected, 0);
    bench_close(&b);
}

static bool encrypted_now;

static bool is_encrypted(const tendon_link *link) {
    (void)link;
    return encrypted_now;
}

static void count_encrypted(void *context, uint64_t now) {
    (void)now;
    ((link_end *)context)->writable += 1000;
}

/* A central that encrypts the link later than it sends: the owner is told once, when it has. */
static void encryption_is_told_when_it_begins(void **state) {
    (void)state;
    static const tendon_socket_hooks encrypting = {.header = 0, .is_encrypted = is_encrypted};
    bench b;
    tendon_bonds bonds;
    tendon_bonds_init(&bonds);
    encrypted_now = false;
    bench_open(&b, &encrypting, true);
    b.radio.bonds = &bonds;
    b.end.link.callbacks.encrypted = count_encrypted;
    for (int i = 1; i <= 4; i++) {
        encrypted_now = i > 2;
        peer_sends(&b, "abc", 3);
        STEP_UNTIL(&b.loop, b.end.received == i);
        assert_int_equal(b.end.link.encrypted, encrypted_now);
        assert_int_equal(b.end.writable, encrypted_now ? 1000 : 0);
    }
    b.radio.bonds = NULL;
    bench_close(&b);
}

/* An error that recv() reports again and again ends the link, with the first reason that there was: that of a send, or
 * its own. A socket that is not connected stands for it. */
static void an_error_that_stays_ends_the_link(void **state) {
    (void)state;
    for (int sent = 0; sent < 2; sent++) {
        bench b;
        bench_open(&b, &bare, false);
        int other = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
        assert_true(dup2(other, b.end.link.source.fd) >= 0);
        close(other);
        b.end.link.error = sent != 0 ? EIO : 0;
        b.end.link.source.ready(b.end.link.source.context, TENDON_READABLE, tendon_monotonic_ms());
        assert_int_equal(b.end.closed, 1);
        assert_int_equal(b.end.reason, sent != 0 ? TENDON_SYSTEM_ERROR(EIO) : TENDON_RADIO_ERROR_PEER_CLOSED);
        bench_close(&b);
    }
}

/* A link is used for one connection after the other: the next one begins with nothing of the one before. */
static void a_link_begins_without_a_past(void **state) {
    (void)state;
    bench b;
    memset(&b, 0, sizeof b);
    assert_int_equal(tendon_loop_init(&b.loop), TENDON_OK);
    b.radio = (tendon_radio){.ops = &socket_ops, .loop = &b.loop};
    link_end_init(&b.end);
    tendon_link *link = &b.end.link;
    link->identity = (tendon_address){{9, 9, 9, 9, 9, 9}, TENDON_ADDRESS_TYPE_PUBLIC};
    link->pairing.state = TENDON_PAIRING_RUNNING;
    link->accepted = link->blocked = link->encrypting = true;
    link->encrypted = link->keyed = link->has_identity_key = true;
    link->question = TENDON_PAIRING_ENTER;
    link->reason = TENDON_ERROR_TIMEOUT;
    link->handle = 0x40;
    link->rssi = -40;
    link->received = link->sent = link->lost = 3;
    link->singles = 3;
    link->error = EIO;
    assert_int_equal(tendon_socket_link_begin(link, &b.radio, &bare, &somebody, false, 4711), TENDON_OK);
    assert_ptr_equal(link->radio, &b.radio);
    assert_ptr_equal(b.radio.links, link);
    assert_int_equal(link->state, TENDON_LINK_WAITING);
    assert_true(tendon_address_equal(&link->peer, &somebody) && tendon_address_equal(&link->identity, &somebody));
    assert_int_equal(link->pairing.state, TENDON_PAIRING_NONE);
    assert_false(link->accepted || link->blocked || link->encrypting);
    assert_false(link->encrypted || link->keyed || link->has_identity_key);
    assert_int_equal(link->question, TENDON_PAIRING_NOTHING);
    assert_int_equal(link->reason, TENDON_OK);
    assert_int_equal(link->handle, 0xFFFF);
    assert_int_equal(link->rssi, TENDON_RSSI_UNKNOWN);
    assert_int_equal(link->received + link->sent + link->lost + link->singles, 0);
    assert_int_equal(link->error, 0);
    assert_true(link->deadline == 4711 && link->source.deadline == 4711 && link->source.fd == -1);
    tendon_socket_link_abandon(link);
    assert_null(b.radio.links);
    tendon_loop_close(&b.loop);
}

/* The socket is writable, but its error cannot be read: that is the reason. */
static void an_error_that_cannot_be_read_is_the_reason(void **state) {
    (void)state;
    bench b;
    int pair[2];
    memset(&b, 0, sizeof b);
    assert_int_equal(tendon_loop_init(&b.loop), TENDON_OK);
    b.radio = (tendon_radio){.ops = &socket_ops, .loop = &b.loop};
    link_end_init(&b.end);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    b.peer = pair[1];
    assert_int_equal(tendon_socket_link_begin(&b.end.link, &b.radio, &bare, &somebody, false, UINT64_MAX), TENDON_OK);
    assert_int_equal(tendon_socket_link_connecting(&b.end.link, pair[0]), TENDON_OK);
    getsockopt_error = ENOBUFS;
    STEP_UNTIL(&b.loop, b.end.connected + b.end.closed == 1);
    getsockopt_error = 0;
    assert_int_equal(b.end.closed, 1);
    assert_int_equal(b.end.reason, TENDON_SYSTEM_ERROR(ENOBUFS));
    bench_close(&b);
}

static void reasons_have_their_meaning(void **state) {
    (void)state;
    assert_int_equal(tendon_socket_link_reason(0), TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(tendon_socket_link_reason(ECONNRESET), TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(tendon_socket_link_reason(EPIPE), TENDON_RADIO_ERROR_PEER_CLOSED);
    assert_int_equal(tendon_socket_link_reason(ETIMEDOUT), TENDON_RADIO_ERROR_OUT_OF_RANGE);
    assert_int_equal(tendon_socket_link_reason(EHOSTDOWN), TENDON_RADIO_ERROR_OUT_OF_RANGE);
    assert_int_equal(tendon_socket_link_reason(EACCES), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    assert_int_equal(tendon_socket_link_reason(ECONNABORTED), TENDON_SYSTEM_ERROR(ECONNABORTED));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attempts_end_in_each_way),
        cmocka_unit_test(connecting_is_decided_by_so_error),
        cmocka_unit_test(encryption_is_told_when_it_begins),
        cmocka_unit_test(an_error_that_stays_ends_the_link),
        cmocka_unit_test(reasons_have_their_meaning),
        cmocka_unit_test(a_link_begins_without_a_past),
        cmocka_unit_test(an_error_that_cannot_be_read_is_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
