/* SPDX-License-Identifier: MIT */
#include "connection_fixture.h"

#include "../../../CSources/linux/socket_link.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const tendon_address somebody = {{1, 2, 3, 4, 5, 6}, TENDON_ADDRESS_TYPE_RANDOM};

static const tendon_socket_hooks hooks = {.header = 0};

static tendon_status scripted_connect(tendon_radio *radio, tendon_link *link, const tendon_address *peer,
                                      uint64_t deadline) {
    bench *b = (bench *)((char *)radio - offsetof(bench, radio));
    int which = b->attempts++;
    tendon_status result = b->script[which];
    b->deadline = deadline;
    if (b->at_once[which]) {
        return result;
    }
    assert_int_equal(tendon_socket_link_begin(link, radio, &hooks, peer, false, deadline), TENDON_OK);
    if (result < 0 && result != TENDON_ERROR_TIMEOUT) {
        tendon_socket_link_fail(link, result);
    } else if (result == TENDON_OK) {
        int pair[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
        b->peer = pair[1];
        assert_int_equal(tendon_socket_link_adopt(link, pair[0]), TENDON_OK);
    }
    return TENDON_OK;
}

static const tendon_radio_ops ops = {
    .name = "scripted", .connect = scripted_connect, .link_close = tendon_socket_link_close};

static void session_connected(void *session, tendon_gatt_client *client, uint64_t now) {
    bench *b = session;
    (void)now;
    assert_false(b->inside);
    assert_int_equal(b->told_connected, b->connected + 1); /* the program first */
    b->connected++;
    b->client = client;
    b->timer_when_connected = b->connection.timer.deadline;
    b->inside = true;
    if (b->pair_on_connect) {
        b->pair_status = b->link.pair(b->link.context);
    }
    if (b->close_on_connect) {
        b->link.disconnect(b->link.context);
    }
    b->inside = false;
}

static void session_disconnected(void *session, tendon_status reason, uint64_t now) {
    bench *b = session;
    (void)now;
    assert_false(b->inside);
    b->disconnected++;
    b->reason = reason;
    b->session_deadline = UINT64_MAX;
    if (b->reopen) {
        b->reopen = false;
        b->inside = true;
        assert_int_equal(b->link.connect(b->link.context), TENDON_OK);
        b->inside = false;
    }
}

static void session_paired(void *session, tendon_status status, uint64_t now) {
    bench *b = session;
    (void)now;
    assert_false(b->inside);
    b->paired++;
    b->pair_status = status;
}

static void session_tick(void *session, uint64_t now) {
    bench *b = session;
    assert_true(b->session_deadline <= now);
    b->ticks++;
    b->session_deadline = UINT64_MAX;
}

static uint64_t session_deadline(const void *session) {
    return ((const bench *)session)->session_deadline;
}

static const tendon_session_inputs inputs = {.connected = session_connected,
                                             .disconnected = session_disconnected,
                                             .paired = session_paired,
                                             .tick = session_tick,
                                             .deadline = session_deadline};

static void told_connected(void *context, uint64_t now) {
    (void)now;
    ((bench *)context)->told_connected++;
}

static void told_closed(void *context, tendon_status reason, uint64_t now) {
    bench *b = context;
    (void)now;
    assert_false(b->inside);
    b->told_closed++;
    b->told_reason = reason;
    assert_int_equal(b->disconnected, b->told_closed); /* the session first */
}

static void told_paired(void *context, tendon_status status, uint64_t now) {
    bench *b = context;
    (void)now;
    assert_false(b->inside);
    b->told_paired++;
    b->pair_status = status;
}

static void told_service_changed(void *context, uint16_t start, uint16_t end, uint64_t now) {
    (void)now;
    assert_int_equal(start, 1);
    assert_int_equal(end, 0xFFFF);
    ((bench *)context)->service_changes++;
}

static tendon_status pairing_start(void *context, const tendon_address *peer,
                                   void (*done)(void *done_context, tendon_status status, uint64_t now),
                                   void *done_context, uint64_t now) {
    bench *b = context;
    (void)now;
    assert_true(tendon_address_equal(peer, &somebody));
    b->pair_done = done;
    b->pair_context = done_context;
    return b->pair_start;
}

static void pairing_cancel(void *context, const tendon_address *peer) {
    (void)peer;
    ((bench *)context)->pair_cancels++;
}

static bool pairing_bonded(void *context, const tendon_address *peer) {
    (void)peer;
    return ((bench *)context)->bonded;
}

static bench the_bench;

bench *bench_open(bool with_pairing) {
    bench *b = &the_bench;
    memset(b, 0, sizeof *b);
    assert_int_equal(tendon_loop_init(&b->loop), TENDON_OK);
    b->peer = -1;
    b->session_deadline = UINT64_MAX;
    b->radio = (tendon_radio){.ops = &ops, .loop = &b->loop};
    b->service = (tendon_pairing_service){
        .context = b, .start = pairing_start, .cancel = pairing_cancel, .bonded = pairing_bonded};
    memset(&b->connection, 0xA5, sizeof b->connection); /* what the memory held before */
    tendon_connection_init(&b->connection, &b->radio, &somebody, with_pairing ? &b->service : NULL,
                           &(tendon_connection_callbacks){.context = b,
                                                          .connected = told_connected,
                                                          .closed = told_closed,
                                                          .service_changed = told_service_changed,
                                                          .paired = told_paired});
    tendon_connection_attach(&b->connection, &inputs, b);
    b->link = tendon_connection_session_link(&b->connection);
    return b;
}

void bench_close(bench *b) {
    tendon_connection_close(&b->connection);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    }
    assert_int_equal(b->connection.state, TENDON_CONNECTION_IDLE);
    assert_false(b->connection.timer.added); /* its memory could be given back now */
    assert_false(b->connection.link.source.added);
    if (b->peer >= 0) {
        close(b->peer);
    }
    tendon_loop_close(&b->loop);
}

void skip_pause(bench *b) {
    assert_int_equal(b->connection.state, TENDON_CONNECTION_WAITING);
    b->connection.retry_at = 0;
    tendon_connection_refresh(&b->connection);
}

void run_attempts(bench *b) {
    for (int step = 0; step < 100 && b->told_connected + b->told_closed == 0; step++) {
        if (b->connection.state == TENDON_CONNECTION_WAITING) {
            skip_pause(b);
        }
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    }
}

void up(bench *b) {
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    assert_int_equal(b->told_connected, 0);
    STEP_UNTIL(&b->loop, b->connected == 1);
}
