/* SPDX-License-Identifier: MIT */
/*
 * connect() with all its attempts, in simulated time: a table of what the radio says and what comes of it, one by one.
 * The radio is a script, the jitter a list.
 */
#include "../../../CSources/linux/socket_link.h"
#include "link_fixture.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NEVER TENDON_HCI_ERROR(0x3E)

static const tendon_address somebody = {{1, 2, 3, 4, 5, 6}, TENDON_ADDRESS_TYPE_RANDOM};

/** What becomes of one attempt. */
typedef enum fate {
    NOTHING = 0, /**< the script is over */
    FAILS,       /**< it does not connect */
    REFUSED,     /**< the radio's connect() itself fails */
    VANISHES,    /**< it connects and ends before the peer has said anything */
    LOST,        /**< it connects, the peer answers, and then it ends */
    STAYS
} fate;

typedef struct turn {
    fate fate;
    tendon_status reason;
    uint32_t after_ms; /**< until it fails or connects */
} turn;

typedef struct bench {
    tendon_loop loop;
    tendon_radio radio;
    tendon_connection connection;
    const turn *turn;
    uint64_t now;
    uint32_t jitter; /**< the next one */
    int connects, connected, closed, session_connected, session_disconnected, scan_changes;
    bool chatty; /**< the session sends more than one PDU before it has an answer */
    tendon_status reason;
    int wire; /**< the other end of the link's socket; -1: none */
    unsigned sent;
    uint8_t pdus[16][8];
    int values;
} bench;

static bench the_bench;

static tendon_status scripted_connect(tendon_radio *radio, tendon_link *link, const tendon_address *peer,
                                      uint64_t deadline) {
    bench *b = (bench *)((char *)radio - offsetof(bench, radio));
    (void)deadline;
    b->connects++;
    assert_int_equal(radio->scan_holds, 1);
    assert_true(tendon_address_equal(peer, &somebody));
    if (b->turn->fate == REFUSED) {
        return (b->turn++)->reason;
    }
    link->radio = radio;
    link->state = TENDON_LINK_CONNECTING;
    link->received = link->sent = 0;
    return TENDON_OK;
}

/** PDUs that were sent so far. */
static unsigned sent(bench *b) {
    ssize_t length;
    while (b->wire >= 0 && (length = recv(b->wire, b->pdus[b->sent], sizeof b->pdus[0], MSG_DONTWAIT)) >= 0) {
        assert_true(length > 0 && b->sent < 15);
        b->sent++;
    }
    return b->sent;
}

static void open_wire(bench *b) {
    static const tendon_socket_hooks plain = {.header = 0};
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    b->connection.link.source.fd = pair[0];
    b->connection.link.hooks = &plain;
    b->wire = pair[1];
}

static void close_wire(bench *b) {
    if (b->wire >= 0) {
        (void)sent(b);
        close(b->wire);
        close(b->connection.link.source.fd);
        b->wire = b->connection.link.source.fd = -1;
    }
}

static void end_link(bench *b, tendon_status reason) {
    close_wire(b);
    b->connection.link.state = TENDON_LINK_CLOSED;
    b->connection.link.callbacks.closed(b->connection.link.callbacks.context, reason, b->now);
}

static void scripted_close(tendon_link *link) {
    bench *b = (bench *)((char *)link->radio - offsetof(bench, radio));
    end_link(b, TENDON_ERROR_CANCELLED);
}

static void scan_held(tendon_radio *radio) {
    ((bench *)((char *)radio - offsetof(bench, radio)))->scan_changes++;
}

static const tendon_radio_ops ops = {
    .name = "scripted", .scan_held = scan_held, .connect = scripted_connect, .link_close = scripted_close};

static void told_connected(void *context, uint64_t now) {
    bench *b = context;
    assert_int_equal(now, b->now);
    b->connected++;
}

static void told_closed(void *context, tendon_status reason, uint64_t now) {
    bench *b = context;
    assert_int_equal(now, b->now);
    b->closed++;
    b->reason = reason;
}

static void on_done(void *context, const tendon_gatt_result *result) {
    bench *b = context;
    b->values += result->status >= 0;
}

static void session_connected(void *session, tendon_gatt_client *client, uint64_t now) {
    bench *b = session;
    b->session_connected++;
    assert_true(tendon_gatt_exchange_mtu(client, on_done, b, now) > 0);
    if (b->chatty) {
        assert_int_equal(tendon_gatt_write_command(client, 3, (const uint8_t *)"x", 1), TENDON_OK);
    }
}

static void session_disconnected(void *session, tendon_status reason, uint64_t now) {
    (void)reason;
    (void)now;
    ((bench *)session)->session_disconnected++;
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
    bench *b = context;
    uint32_t value = b->jitter;
    b->jitter += 1000;
    return value;
}

static bench *open_bench(const turn *script) {
    bench *b = &the_bench;
    memset(b, 0, sizeof *b);
    assert_int_equal(tendon_loop_init(&b->loop), TENDON_OK);
    b->radio = (tendon_radio){.ops = &ops, .loop = &b->loop};
    b->turn = script;
    b->wire = -1;
    b->jitter = 7;
    tendon_connection_init(
        &b->connection, &b->radio, &somebody, NULL,
        &(tendon_connection_callbacks){.context = b, .connected = told_connected, .closed = told_closed});
    tendon_connection_attach(&b->connection, &inputs, b);
    b->connection.jitter = (tendon_connection_jitter){.context = b, .next = next_jitter};
    return b;
}

static void close_bench(bench *b) {
    tendon_connection_close(&b->connection);
    if (b->connection.state == TENDON_CONNECTION_WAITING) {
        b->connection.timer.expired(b->connection.timer.context, b->now);
    }
    assert_int_equal(b->connection.state, TENDON_CONNECTION_IDLE);
    assert_int_equal(b->radio.scan_holds, 0);
    assert_int_equal(b->session_connected, b->connected);
    assert_int_equal(b->session_disconnected, b->closed); /* each told of the end once */
    tendon_loop_remove(&b->loop, &b->connection.timer);
    tendon_loop_close(&b->loop);
}

static void receive(bench *b, const char *pdu, size_t length) {
    b->connection.link.received++;
    b->connection.link.callbacks.received(b->connection.link.callbacks.context, (const uint8_t *)pdu, length, b->now);
}

/** One attempt that the radio took. */
static void play(bench *b) {
    const turn *its = b->turn++;
    assert_true(its->fate != NOTHING);
    b->now += its->after_ms;
    if (its->fate == FAILS) {
        end_link(b, its->reason);
        return;
    }
    open_wire(b);
    b->connection.link.state = TENDON_LINK_OPEN;
    b->connection.link.callbacks.connected(b->connection.link.callbacks.context, b->now);
    assert_int_equal(b->radio.scan_holds, 0); /* the scan goes on as soon as the link is up */
    if (its->fate == LOST) {
        receive(b, "\x03\x40\x00", 3); /* Exchange MTU Response */
    }
    if (its->fate != STAYS) {
        b->now += 100;
        end_link(b, its->reason);
    }
}

/** Until the link stays or the end is told. */
static void run(bench *b) {
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    b->now = b->connection.connect_began;
    for (int i = 0; i < 40; i++) {
        if (b->connection.state == TENDON_CONNECTION_WAITING) {
            assert_true(b->connection.timer.deadline == b->connection.retry_at && b->connection.retry_at > b->now);
            assert_int_equal(b->radio.scan_holds, 1); /* also between two attempts */
            b->now = b->connection.retry_at;
            b->connection.timer.expired(b->connection.timer.context, b->now);
        } else if (b->connection.state == TENDON_CONNECTION_CONNECTING) {
            play(b);
        } else {
            return;
        }
    }
    fail_msg("it does not end");
}

typedef struct row {
    const char *name;
    turn script[10];
    uint32_t attempts_allowed, timeout_ms; /**< 0: the default */
    bool chatty;
    /* what is to come of it */
    bool up;
    tendon_status told; /**< closed() with this, unless up */
    int connected;      /**< times that connected() was told */
    uint32_t attempts;
    tendon_status reasons[TENDON_CONNECTION_ATTEMPTS_MAX];
    uint32_t began_ms[TENDON_CONNECTION_ATTEMPTS_MAX]; /**< pauses: 100 + 7, 200 + 1007 % 101, 400 + 2007 % 201, ... */
} row;

enum { FIRST = 107, SECOND = 298, THIRD = 598 };

static const row rows[] = {
    {.name = "at once", .script = {{STAYS, 0, 40}}, .up = true, .connected = 1, .attempts = 1},
    {.name = "0x3E once",
     .script = {{FAILS, NEVER, 60}, {STAYS, 0, 40}},
     .up = true,
     .connected = 1,
     .attempts = 2,
     .reasons = {NEVER},
     .began_ms = {0, 60 + FIRST}},
    {.name = "every reason that a retry mends",
     .script = {{FAILS, TENDON_HCI_ERROR(0x02), 10},
                {FAILS, TENDON_SYSTEM_ERROR(ECONNABORTED), 20},
                {REFUSED, TENDON_ERROR_BUSY, 0},
                {STAYS, 0, 40}},
     .up = true,
     .connected = 1,
     .attempts = 4,
     .reasons = {TENDON_HCI_ERROR(0x02), TENDON_SYSTEM_ERROR(ECONNABORTED), TENDON_ERROR_BUSY},
     .began_ms = {0, 10 + FIRST, 10 + FIRST + 20 + SECOND, 10 + FIRST + 20 + SECOND + THIRD}},
    {.name = "as often as is allowed",
     .script = {{FAILS, NEVER, 0}, {FAILS, NEVER, 0}, {FAILS, NEVER, 0}, {FAILS, TENDON_HCI_ERROR(0x08), 0}},
     .told = TENDON_HCI_ERROR(0x08),
     .attempts = 4,
     .reasons = {NEVER, NEVER, NEVER, TENDON_HCI_ERROR(0x08)},
     .began_ms = {0, FIRST, FIRST + SECOND, FIRST + SECOND + THIRD}},
    {.name = "one is allowed",
     .script = {{FAILS, NEVER, 5}},
     .attempts_allowed = 1,
     .told = NEVER,
     .attempts = 1,
     .reasons = {NEVER}},
    {.name = "what no retry mends",
     .script = {{FAILS, NEVER, 5}, {FAILS, TENDON_RADIO_ERROR_NO_CAP_NET_RAW, 5}},
     .told = TENDON_RADIO_ERROR_NO_CAP_NET_RAW,
     .attempts = 2,
     .reasons = {NEVER, TENDON_RADIO_ERROR_NO_CAP_NET_RAW},
     .began_ms = {0, 5 + FIRST}},
    {.name = "no time for another",
     .script = {{FAILS, NEVER, 5}, {FAILS, NEVER, 5}},
     .timeout_ms = 300,
     .told = NEVER,
     .attempts = 2,
     .reasons = {NEVER, NEVER},
     .began_ms = {0, 5 + FIRST}},
    {.name = "0x3E after connected: nobody is told",
     .script = {{VANISHES, NEVER, 30}, {VANISHES, NEVER, 30}, {STAYS, 0, 40}},
     .up = true,
     .connected = 1,
     .attempts = 3,
     .reasons = {NEVER, NEVER},
     .began_ms = {0, 130 + FIRST, 260 + FIRST + SECOND}},
    {.name = "0x3E after connected, then other failures",
     .script = {{VANISHES, NEVER, 30}, {FAILS, TENDON_RADIO_ERROR_OUT_OF_RANGE, 70}, {STAYS, 0, 40}},
     .up = true,
     .connected = 1,
     .attempts = 3,
     .reasons = {NEVER, TENDON_RADIO_ERROR_OUT_OF_RANGE},
     .began_ms = {0, 130 + FIRST, 200 + FIRST + SECOND}},
    {.name = "0x3E after connected, each time",
     .script = {{VANISHES, NEVER, 0}, {VANISHES, NEVER, 0}, {VANISHES, NEVER, 0}, {VANISHES, NEVER, 0}},
     .told = NEVER,
     .connected = 1,
     .attempts = 4,
     .reasons = {NEVER, NEVER, NEVER, NEVER},
     .began_ms = {0, 100 + FIRST, 200 + FIRST + SECOND, 300 + FIRST + SECOND + THIRD}},
    {.name = "0x3E after connected, then what no retry mends",
     .script = {{VANISHES, NEVER, 0}, {FAILS, TENDON_RADIO_ERROR_ADAPTER_DOWN, 0}},
     .told = TENDON_RADIO_ERROR_ADAPTER_DOWN,
     .connected = 1,
     .attempts = 2,
     .reasons = {NEVER, TENDON_RADIO_ERROR_ADAPTER_DOWN},
     .began_ms = {0, 100 + FIRST}},
    {.name = "0x3E when the peer has answered: the link was there",
     .script = {{LOST, NEVER, 30}},
     .told = NEVER,
     .connected = 1,
     .attempts = 1},
    {.name = "any other end right after connected",
     .script = {{VANISHES, TENDON_RADIO_ERROR_OUT_OF_RANGE, 30}},
     .told = TENDON_RADIO_ERROR_OUT_OF_RANGE,
     .connected = 1,
     .attempts = 1},
    {.name = "0x3E after connected, more was sent than can be sent again",
     .script = {{VANISHES, NEVER, 30}},
     .chatty = true,
     .told = NEVER,
     .connected = 1,
     .attempts = 1},
};

static void attempts_by_table(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const row *r = &rows[i];
        bench *b = open_bench(r->script);
        print_message("# %s\n", r->name);
        b->chatty = r->chatty;
        if (r->attempts_allowed != 0) {
            b->connection.connect_attempts = r->attempts_allowed;
        }
        if (r->timeout_ms != 0) {
            b->connection.connect_timeout_ms = r->timeout_ms;
        }
        run(b);
        assert_int_equal(b->turn->fate, NOTHING); /* the whole script was played */
        assert_int_equal(b->connection.state, r->up ? TENDON_CONNECTION_UP : TENDON_CONNECTION_IDLE);
        assert_int_equal(b->connected, r->connected);
        assert_int_equal(b->closed, !r->up);
        assert_int_equal(b->reason, r->told);
        assert_int_equal(b->connects, r->attempts);
        assert_int_equal(b->connection.attempt, r->attempts);
        for (size_t n = 0; n < r->attempts; n++) {
            assert_int_equal(b->connection.attempts[n].reason, r->reasons[n]);
            assert_int_equal(b->connection.attempts[n].began_ms, r->began_ms[n]);
        }
        close_bench(b);
    }
}

/* Each transient reason is tried again, and no other one is: all codes of the layers that a radio reports. */
static void every_transient_reason_is_tried_again(void **state) {
    (void)state;
    static const tendon_status transient[] = {TENDON_RADIO_ERROR_OUT_OF_RANGE,
                                              TENDON_RADIO_ERROR_PEER_CLOSED,
                                              TENDON_RADIO_ERROR_COMMAND_TIMEOUT,
                                              TENDON_ERROR_BUSY,
                                              TENDON_ERROR_DISCONNECTED,
                                              TENDON_HCI_ERROR(0x02),
                                              TENDON_HCI_ERROR(0x08),
                                              TENDON_HCI_ERROR(0x0C),
                                              TENDON_HCI_ERROR(0x3A),
                                              TENDON_HCI_ERROR(0x3E),
                                              TENDON_SYSTEM_ERROR(ECONNABORTED),
                                              TENDON_SYSTEM_ERROR(ECONNREFUSED),
                                              TENDON_SYSTEM_ERROR(EBUSY),
                                              TENDON_SYSTEM_ERROR(EAGAIN),
                                              TENDON_SYSTEM_ERROR(EINTR),
                                              TENDON_SYSTEM_ERROR(EIO)};
    const size_t count = sizeof transient / sizeof transient[0];
    for (tendon_status reason = -1; reason > -16 * 256; reason--) {
        bool expected = false;
        for (size_t i = 0; i < count; i++) {
            expected = expected || transient[i] == reason;
        }
        assert_int_equal(tendon_connection_retries(reason), expected);
    }
    for (size_t i = 0; i < count; i++) {
        const turn script[] = {{FAILS, transient[i], 10}, {STAYS, 0, 40}, {NOTHING, 0, 0}};
        bench *b = open_bench(script);
        run(b);
        assert_int_equal(b->connection.state, TENDON_CONNECTION_UP);
        assert_int_equal(b->connects, 2);
        close_bench(b);
    }
}

/* The request of the link that never was is answered over the next one; what is asked meanwhile follows. */
static void what_was_sent_is_sent_again(void **state) {
    (void)state;
    static const turn script[] = {{VANISHES, NEVER, 30}, {STAYS, 0, 40}, {NOTHING, 0, 0}};
    bench *b = open_bench(script);
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    b->now = b->connection.connect_began;
    play(b);
    assert_int_equal(sent(b), 1);
    assert_int_equal(b->connection.state, TENDON_CONNECTION_WAITING);
    assert_true(tendon_gatt_read(&b->connection.client, 0x0007, on_done, b, b->now) > 0);
    assert_int_equal(tendon_gatt_write_command(&b->connection.client, 3, (const uint8_t *)"x", 1),
                     TENDON_ERROR_WOULD_BLOCK);
    b->now = b->connection.retry_at;
    b->connection.timer.expired(b->connection.timer.context, b->now);
    play(b);
    assert_int_equal(b->connection.state, TENDON_CONNECTION_UP);
    assert_int_equal(sent(b), 2);
    assert_int_equal(b->pdus[0][0], 0x02); /* Exchange MTU Request */
    assert_memory_equal(b->pdus[0], b->pdus[1], 3);
    receive(b, "\x03\x40\x00", 3);
    assert_int_equal(b->values, 1);
    assert_int_equal(sent(b), 3);
    assert_memory_equal(b->pdus[2], "\x0a\x07\x00", 3);
    receive(b, "\x0b\x2a", 2);
    assert_int_equal(b->values, 2);
    assert_int_equal(b->closed, 0);
    /* From now on its end is an end. */
    end_link(b, NEVER);
    assert_int_equal(b->closed, 1);
    close_bench(b);
}

static void closed_by_its_owner_while_it_is_made_anew(void **state) {
    (void)state;
    static const turn script[] = {{VANISHES, NEVER, 30}, {NOTHING, 0, 0}};
    bench *b = open_bench(script);
    assert_int_equal(tendon_connection_connect(&b->connection), TENDON_OK);
    b->now = b->connection.connect_began;
    play(b);
    assert_int_equal(b->connection.state, TENDON_CONNECTION_WAITING);
    close_bench(b);
    assert_int_equal(b->closed, 1);
    assert_int_equal(b->reason, TENDON_ERROR_CANCELLED);
    assert_int_equal(b->connects, 1);
}

/* Without a jitter of the program's: the pauses of two peers, or of two starts, differ; each is within its bounds. */
static void the_own_jitter_spreads(void **state) {
    (void)state;
    static const turn script[] = {{FAILS, NEVER, 0}, {FAILS, NEVER, 0}, {FAILS, NEVER, 0}, {FAILS, NEVER, 0}};
    unsigned seen = 0, different = 0;
    uint32_t first = 0;
    for (uint8_t i = 0; i < 50; i++) {
        bench *b = open_bench(script);
        tendon_connection_jitter none = {0};
        tendon_address peer = somebody;
        peer.bytes[5] = i;
        tendon_connection_init(&b->connection, &b->radio, &peer, NULL, NULL);
        assert_memory_not_equal(&b->connection.jitter, &none, sizeof none);
        for (unsigned n = 0; n < 20; n++) {
            uint32_t value = b->connection.jitter.next(b->connection.jitter.context) % 51;
            first = seen == 0 ? value : first;
            different += value != first;
            seen++;
        }
        tendon_loop_close(&b->loop);
    }
    assert_true(different > seen / 2);
}

/* Two connections that connect at once: the scan goes on when both are through. */
static void holds_are_counted(void **state) {
    (void)state;
    static const turn script[] = {{STAYS, 0, 40}, {NOTHING, 0, 0}};
    bench *b = open_bench(script);
    tendon_radio_hold_scan(&b->radio, true);
    tendon_radio_hold_scan(&b->radio, true);
    assert_int_equal(b->scan_changes, 1);
    tendon_radio_hold_scan(&b->radio, false);
    assert_int_equal(b->scan_changes, 1);
    tendon_radio_hold_scan(&b->radio, false);
    assert_int_equal(b->scan_changes, 2);
    run(b);
    assert_int_equal(b->scan_changes, 4);
    close_bench(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attempts_by_table),           cmocka_unit_test(every_transient_reason_is_tried_again),
        cmocka_unit_test(what_was_sent_is_sent_again), cmocka_unit_test(closed_by_its_owner_while_it_is_made_anew),
        cmocka_unit_test(the_own_jitter_spreads),      cmocka_unit_test(holds_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
