/* SPDX-License-Identifier: MIT */
#include "connection_world.h"

#include "../../../CSources/linux/socket_link.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { VALUE = 3, CCCD = 4 };

static const tendon_address peer = {{0xC1, 2, 3, 4, 5, 6}, TENDON_ADDRESS_TYPE_RANDOM};
connection_world w;

/* ---- in the place of the C library ---- */

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    if (w.full) {
        errno = ENOBUFS;
        return -1;
    }
    return syscall(SYS_sendmsg, fd, message, flags);
}

/* ---- the radio ---- */

tendon_status connection_status(recording *r) {
    static const tendon_status all[] = {TENDON_HCI_ERROR(0x3E),
                                        TENDON_HCI_ERROR(0x3E),
                                        TENDON_RADIO_ERROR_OUT_OF_RANGE,
                                        TENDON_RADIO_ERROR_PEER_CLOSED,
                                        TENDON_RADIO_ERROR_PAIRING_FAILED,
                                        TENDON_RADIO_ERROR_PAIRING_TOO_WEAK,
                                        TENDON_RADIO_ERROR_IDENTITY_TAKEN,
                                        TENDON_RADIO_ERROR_NO_ADAPTER,
                                        TENDON_ERROR_TIMEOUT,
                                        TENDON_ERROR_TABLE_FULL};
    return all[choose(r, sizeof all / sizeof all[0])];
}

static tendon_status radio_connect(tendon_radio *radio, tendon_link *link, const tendon_address *address,
                                   uint64_t deadline) {
    assert_true(tendon_address_equal(address, &peer));
    note(w.r, "connects, in background %d, until %lld, scan paused %u", link->background,
         deadline == UINT64_MAX ? -1LL : (long long)deadline, (unsigned)radio->scan_pauses);
    if (choose(w.r, 6) == 0) {
        return connection_status(w.r);
    }
    link->radio = radio;
    link->peer = link->identity = *address;
    link->state = TENDON_LINK_ASKED;
    link->received = link->sent = 0;
    link->encrypted = false;
    return TENDON_OK;
}

static void radio_closes(tendon_link *link) {
    note(w.r, "radio disconnects");
    link->state = link->state == TENDON_LINK_OPEN ? TENDON_LINK_ENDING : TENDON_LINK_HELD;
}

static const tendon_radio_ops ops = {.name = "scripted", .connect = radio_connect, .link_close = radio_closes};

void connection_note_sent(void) {
    uint8_t pdu[600];
    for (ssize_t length = 0; w.wire >= 0 && (length = recv(w.wire, pdu, sizeof pdu, MSG_DONTWAIT)) > 0;) {
        note_bytes(w.r, "sent", pdu, (size_t)length);
    }
}

void connection_open_wire(void) {
    static const tendon_socket_hooks plain = {.header = 0};
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), 0);
    w.connection.link.source.fd = pair[0];
    w.connection.link.hooks = &plain;
    w.wire = pair[1];
}

void connection_end_link(tendon_status reason) {
    tendon_link *link = &w.connection.link;
    connection_note_sent();
    if (w.wire >= 0) {
        close(w.wire);
        close(link->source.fd);
        w.wire = link->source.fd = -1;
    }
    link->state = TENDON_LINK_CLOSED;
    link->blocked = w.full = false;
    link->callbacks.closed(link->callbacks.context, reason, fake_clock_ms);
}

/* ---- the session and the application ---- */

static void act(void);

void connection_sets_deadline(void) {
    static const uint16_t times[] = {0, 1, 50, 1000, 40000};
    unsigned which = choose(w.r, 6);
    w.session_deadline = which < 5 ? fake_clock_ms + times[which] : UINT64_MAX;
}

static void on_done(void *context, const tendon_gatt_result *result) {
    (void)context;
    note(w.r, "done %d at %u", result->status, (unsigned)result->now);
    note_bytes(w.r, "value", result->value, result->length);
    connection_sets_deadline();
    act();
}

static void on_value(void *context, const tendon_gatt_value *value, uint64_t now) {
    (void)context;
    assert_true(value->received_at == w.connection.link.received_at);
    note(w.r, "value of %u at %u", value->handle, (unsigned)now);
    connection_sets_deadline();
    act();
}

static void session_connected(void *session, tendon_gatt_client *client, uint64_t now) {
    assert_ptr_equal(session, &w);
    note(w.r, "session connected at %u", (unsigned)now);
    assert_ptr_equal(client, &w.connection.client);
    connection_sets_deadline();
    act();
}

static void session_disconnected(void *session, tendon_status reason, uint64_t now) {
    assert_ptr_equal(session, &w);
    note(w.r, "session disconnected at %u: %d", (unsigned)now, reason);
    w.session_ended++;
    connection_sets_deadline();
    act();
}

static void session_paired(void *session, tendon_status status, uint64_t now) {
    assert_ptr_equal(session, &w);
    note(w.r, "session paired at %u: %d", (unsigned)now, status);
    connection_sets_deadline();
    act();
}

static void session_tick(void *session, uint64_t now) {
    assert_ptr_equal(session, &w);
    note(w.r, "session's time at %u", (unsigned)now);
    w.session_deadline = UINT64_MAX;
    act();
}

static uint64_t session_deadline(const void *session) {
    return ((const connection_world *)session)->session_deadline;
}

static const tendon_session_inputs inputs[2] = {{.connected = session_connected,
                                                 .disconnected = session_disconnected,
                                                 .paired = session_paired,
                                                 .tick = session_tick,
                                                 .deadline = session_deadline},
                                                {.connected = session_connected,
                                                 .disconnected = session_disconnected,
                                                 .paired = session_paired,
                                                 .tick = session_tick,
                                                 .deadline = session_deadline,
                                                 .pairs = true}};

static void on_connected(void *context, uint64_t now) {
    assert_ptr_equal(context, &w);
    note(w.r, "connected at %u", (unsigned)now);
    act();
}

static void on_closed(void *context, tendon_status reason, uint64_t now) {
    assert_ptr_equal(context, &w);
    note(w.r, "closed at %u: %d", (unsigned)now, reason);
    w.ended++;
    assert_int_equal(w.ended, w.started);
    assert_int_equal(w.session_ended, w.has_session ? w.ended : 0);
    if (w.opens_again) {
        w.opens_again = false;
        tendon_status status = tendon_connection_connect(&w.connection);
        note(w.r, "connect again: %d", status);
        w.started += status >= 0;
    }
}

static void on_service_changed(void *context, uint16_t start, uint16_t end, uint64_t now) {
    assert_ptr_equal(context, &w);
    note(w.r, "service changed %u %u at %u", start, end, (unsigned)now);
}

void connection_request(void) {
    recording *r = w.r;
    static const uint8_t bytes[40] = {1, 2, 3};
    tendon_gatt_client *client = &w.connection.client; /* a call without a connection fails with the reason */
    uint64_t now = fake_clock_ms;
    switch (choose(r, 6)) {
    case 0:
        note(r, "mtu %d", tendon_gatt_exchange_mtu(client, on_done, &w, now) > 0 ? 0 : -1);
        break;
    case 1:
        note(r, "subscribe %d",
             tendon_gatt_subscribe(client, VALUE, CCCD, choose(r, 2) == 0, on_value, &w, on_done, &w, now) > 0 ? 0
                                                                                                               : -1);
        break;
    case 2:
        note(r, "command %d", tendon_gatt_write_command(client, VALUE, bytes, 1 + choose(r, 30)));
        break;
    case 3:
        note(r, "write %d", tendon_gatt_write(client, VALUE, bytes, 1 + choose(r, 20), on_done, &w, now) > 0 ? 0 : -1);
        break;
    default:
        note(r, "read %d", tendon_gatt_read(client, VALUE, on_done, &w, now) > 0 ? 0 : -1);
        break;
    }
}

/* What one of them does within a callback. */
static void act(void) {
    if (w.sends) {
        w.sends = false;
        connection_request();
    }
    if (w.pairs) {
        w.pairs = false;
        note(w.r, "pair %d", w.link.pair(w.link.context));
    }
    if (w.closes) {
        w.closes = false;
        tendon_connection_close(&w.connection);
    }
}

void connection_plan(void) {
    w.sends = choose(w.r, 3) == 0;
    w.pairs = choose(w.r, 12) == 0;
    w.closes = choose(w.r, 16) == 0;
    w.opens_again = choose(w.r, 6) == 0;
}

/* ---- the pairing service ---- */

static tendon_status pairing_start(void *context, const tendon_address *address,
                                   void (*done)(void *done_context, tendon_status status, uint64_t now),
                                   void *done_context, uint64_t now) {
    assert_ptr_equal(context, &w);
    assert_true(tendon_address_equal(address, &peer));
    note(w.r, "starts to pair at %u", (unsigned)now);
    if (choose(w.r, 4) == 0) {
        return choose(w.r, 2) == 0 ? TENDON_RADIO_ERROR_PAIRING_NOT_ALLOWED : TENDON_ERROR_UNSUPPORTED;
    }
    w.paired = done;
    w.paired_context = done_context;
    return TENDON_OK;
}

static void pairing_cancel(void *context, const tendon_address *address) {
    assert_ptr_equal(context, &w);
    assert_true(tendon_address_equal(address, &peer));
    note(w.r, "pairing cancelled");
}

/* Pairing has made a key; a third of the keys are authenticated. */
static void makes_key(void) {
    const tendon_bond bond = {.radio = TENDON_BOND_VIRTUAL,
                              .own = w.radio.address,
                              .peer = peer,
                              .type = choose(w.r, 3) == 0,
                              .key_size = 16};
    note(w.r, "key %d: %d", bond.type, tendon_bonds_store(&w.bonds, &bond));
}

static bool pairing_bonded(void *context, const tendon_address *address) {
    assert_ptr_equal(context, &w);
    return tendon_bonds_find(&w.bonds, TENDON_BOND_VIRTUAL, &w.radio.address, address) != NULL;
}

static tendon_status pairing_forget(void *context, const tendon_address *address) {
    assert_ptr_equal(context, &w);
    note(w.r, "forgets %02x", address->bytes[0]);
    return choose(w.r, 3) == 0 ? TENDON_ERROR_NOT_FOUND : TENDON_OK;
}

void connection_pairing_ends(void) {
    recording *r = w.r;
    static const tendon_status results[] = {TENDON_OK, TENDON_OK, TENDON_OK, TENDON_RADIO_ERROR_PAIRING_FAILED,
                                            TENDON_ERROR_TIMEOUT};
    tendon_status status = results[choose(r, 5)];
    void (*done)(void *context, tendon_status result, uint64_t now) = w.paired;
    if (done == NULL) {
        return;
    }
    w.paired = choose(r, 16) == 0 ? done : NULL; /* a second result has no effect */
    w.connection.link.encrypted = w.connection.link.encrypted || status >= 0 || choose(r, 3) == 0;
    if (status >= 0) {
        makes_key();
    }
    note(r, "pairing ends: %d", status);
    connection_plan();
    done(w.paired_context, status, fake_clock_ms);
}

/* ---- the beginning ---- */

static void on_peer_failure(void *context, const tendon_address *address, tendon_status reason, uint64_t now) {
    assert_ptr_equal(context, &w);
    note(w.r, "peer %02x fails: %d at %u", address->bytes[0], reason, (unsigned)now);
}

void connection_world_begin(recording *r, unsigned number) {
    memset(&w, 0, sizeof w);
    w.r = r;
    w.wire = -1;
    w.session_deadline = UINT64_MAX;
    w.has_session = number % 5 != 0;
    fake_clock_ms = 100000;
    assert_int_equal(tendon_loop_init(&w.loop), TENDON_OK);
    tendon_bonds_init(&w.bonds);
    w.radio = (tendon_radio){.ops = &ops,
                             .loop = &w.loop,
                             .bonds = &w.bonds,
                             .security = (uint8_t)(number % 7 < 3 ? number % 7 : 0),
                             .report_context = &w,
                             .on_peer_failure = on_peer_failure};
    w.service = (tendon_pairing_service){.context = &w, .start = pairing_start};
    w.service.cancel = number % 4 != 0 ? pairing_cancel : NULL;
    w.service.bonded = number % 9 != 0 ? pairing_bonded : NULL;
    w.service.forget = number % 8 != 0 ? pairing_forget : NULL;
    const tendon_connection_callbacks callbacks = {.context = &w,
                                                   .connected = on_connected,
                                                   .closed = on_closed,
                                                   .service_changed = number % 2 != 0 ? on_service_changed : NULL};
    memset(&w.connection, 0xA5, sizeof w.connection);
    tendon_connection_init(&w.connection, &w.radio, &peer, number % 6 != 0 ? &w.service : NULL, &callbacks);
    if (w.has_session) {
        tendon_connection_attach(&w.connection, &inputs[number % 2], &w);
    }
    w.link = tendon_connection_session_link(&w.connection);
}
