/* SPDX-License-Identifier: MIT */
#include "attempt_bench.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const tendon_address attempt_peer = {{1, 2, 3, 4, 5, 6}, TENDON_ADDRESS_TYPE_RANDOM};

static attempt_bench the_bench;

static tendon_status scripted_connect(tendon_radio *radio, tendon_link *link, const tendon_address *peer,
                                      uint64_t deadline) {
    attempt_bench *b = (attempt_bench *)((char *)radio - offsetof(attempt_bench, radio));
    b->connects++;
    assert_int_equal(radio->scan_pauses, !b->connection.background);
    assert_int_equal(link->background, b->connection.background);
    assert_int_equal(deadline == UINT64_MAX, b->connection.background);
    assert_true(tendon_address_equal(peer, &attempt_peer));
    if (b->turn->fate == REFUSED) {
        return (b->turn++)->reason;
    }
    link->radio = radio;
    link->peer = *peer;
    link->state = TENDON_LINK_ASKED;
    link->received = link->sent = 0;
    return TENDON_OK;
}

unsigned attempt_bench_sent(attempt_bench *b) {
    ssize_t length;
    while (b->wire >= 0 && (length = recv(b->wire, b->pdus[b->sent], sizeof b->pdus[0], MSG_DONTWAIT)) >= 0) {
        assert_true(length > 0 && b->sent < 15);
        b->sent++;
    }
    return b->sent;
}

void attempt_bench_open_wire(attempt_bench *b) {
    static const tendon_socket_hooks plain = {.header = 0};
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    b->connection.link.source.fd = pair[0];
    b->connection.link.hooks = &plain;
    b->wire = pair[1];
}

static void close_wire(attempt_bench *b) {
    if (b->wire >= 0) {
        (void)attempt_bench_sent(b);
        close(b->wire);
        close(b->connection.link.source.fd);
        b->wire = b->connection.link.source.fd = -1;
    }
}

void attempt_bench_end_link(attempt_bench *b, tendon_status reason) {
    close_wire(b);
    b->connection.link.state = TENDON_LINK_CLOSED;
    b->connection.link.callbacks.closed(b->connection.link.callbacks.context, reason, b->now);
}

static void scripted_close(tendon_link *link) {
    attempt_bench *b = (attempt_bench *)((char *)link->radio - offsetof(attempt_bench, radio));
    attempt_bench_end_link(b, TENDON_ERROR_CANCELLED);
}

static void scan_paused(tendon_radio *radio) {
    ((attempt_bench *)((char *)radio - offsetof(attempt_bench, radio)))->scan_changes++;
}

static const tendon_radio_ops ops = {
    .name = "scripted", .scan_paused = scan_paused, .connect = scripted_connect, .link_close = scripted_close};

static void told_connected(void *context, uint64_t now) {
    attempt_bench *b = context;
    assert_int_equal(now, b->now);
    b->connected++;
}

static void told_closed(void *context, tendon_status reason, uint64_t now) {
    attempt_bench *b = context;
    assert_int_equal(now, b->now);
    b->closed++;
    b->reason = reason;
}

void attempt_bench_on_done(void *context, const tendon_gatt_result *result) {
    attempt_bench *b = context;
    b->values += result->status >= 0;
}

static void session_connected(void *session, tendon_gatt_client *client, uint64_t now) {
    attempt_bench *b = session;
    b->session_connected++;
    assert_true(tendon_gatt_exchange_mtu(client, attempt_bench_on_done, b, now) > 0);
    if (b->chatty) {
        assert_int_equal(tendon_gatt_write_command(client, 3, (const uint8_t *)"x", 1), TENDON_OK);
    }
}

static void session_disconnected(void *session, tendon_status reason, uint64_t now) {
    (void)reason;
    (void)now;
    ((attempt_bench *)session)->session_disconnected++;
}

static void session_tick(void *session, uint64_t now) {
    (void)session;
    (void)now;
}

static uint64_t session_deadline(const void *session) {
    (void)session;
    return UINT64_MAX;
}

static const tendon_session_inputs inputs = {.connected = session_connected,
                                             .disconnected = session_disconnected,
                                             .tick = session_tick,
                                             .deadline = session_deadline};

/** 7, 1007, 2007, ...: each pause gets another one. */
static uint32_t next_jitter(void *context) {
    attempt_bench *b = context;
    uint32_t value = b->jitter;
    b->jitter += 1000;
    return value;
}

attempt_bench *attempt_bench_open(const turn *script) {
    attempt_bench *b = &the_bench;
    memset(b, 0, sizeof *b);
    assert_int_equal(tendon_loop_init(&b->loop), TENDON_OK);
    b->radio = (tendon_radio){.ops = &ops, .loop = &b->loop};
    b->turn = script;
    b->wire = -1;
    b->jitter = 7;
    tendon_connection_init(
        &b->connection, &b->radio, &attempt_peer, NULL,
        &(tendon_connection_callbacks){.context = b, .connected = told_connected, .closed = told_closed});
    tendon_connection_attach(&b->connection, &inputs, b);
    b->connection.jitter = (tendon_connection_jitter){.context = b, .next = next_jitter};
    return b;
}

void attempt_bench_close(attempt_bench *b) {
    tendon_connection_close(&b->connection);
    if (b->connection.state == TENDON_CONNECTION_WAITING) {
        b->connection.timer.expired(b->connection.timer.context, b->now);
    }
    assert_int_equal(b->connection.state, TENDON_CONNECTION_IDLE);
    assert_int_equal(b->radio.scan_pauses, 0);
    assert_int_equal(b->session_connected, b->connected);
    assert_int_equal(b->session_disconnected, b->closed); /* each was notified of the end once */
    tendon_loop_remove(&b->loop, &b->connection.timer);
    tendon_loop_close(&b->loop);
}

void attempt_bench_receive(attempt_bench *b, const char *pdu, size_t length) {
    b->connection.link.received++;
    b->connection.link.callbacks.received(b->connection.link.callbacks.context, (const uint8_t *)pdu, length, b->now);
}
