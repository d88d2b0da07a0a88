/* SPDX-License-Identifier: MIT */
/* Routing, counters and refusals of a bearer. Client and server are stand-ins that record what they get. */
#include "tendon/host/bearer.h"
#include "tendon/host/gatt_client.h"
#include "tendon/host/gatt_server.h"
#include "test_bytes.h"

/* The linker takes these instead of the library's. */
static struct {
    unsigned client, server, client_writable, server_writable, client_tick, server_tick;
    size_t length;
    uint64_t now, client_deadline, server_deadline;
} seen;

tendon_status tendon_gatt_client_receive(tendon_gatt_client *client, const uint8_t *pdu, size_t length, uint64_t now) {
    (void)client, (void)pdu;
    seen.client++, seen.length = length, seen.now = now;
    return 1;
}
void tendon_gatt_client_writable(tendon_gatt_client *client, uint64_t now) {
    (void)client, (void)now, seen.client_writable++;
}
void tendon_gatt_client_tick(tendon_gatt_client *client, uint64_t now) {
    (void)client, (void)now, seen.client_tick++;
}
uint64_t tendon_gatt_client_deadline(const tendon_gatt_client *client) {
    (void)client;
    return seen.client_deadline;
}
tendon_status tendon_gatt_connection_receive(tendon_gatt_connection *connection, const uint8_t *pdu, size_t length,
                                             uint64_t now) {
    (void)connection, (void)pdu;
    seen.server++, seen.length = length, seen.now = now;
    return 2;
}
void tendon_gatt_connection_writable(tendon_gatt_connection *connection, uint64_t now) {
    (void)connection, (void)now, seen.server_writable++;
}
void tendon_gatt_connection_tick(tendon_gatt_connection *connection, uint64_t now) {
    (void)connection, (void)now, seen.server_tick++;
}
uint64_t tendon_gatt_connection_deadline(const tendon_gatt_connection *connection) {
    (void)connection;
    return seen.server_deadline;
}

typedef struct link {
    tendon_status answer;
    unsigned sends;
    uint8_t last[600];
    size_t length;
} link;

static tendon_status send_pdu(void *context, const uint8_t *pdu, size_t length) {
    link *l = context;
    l->sends++;
    if (l->answer == TENDON_OK) {
        memcpy(l->last, pdu, length);
        l->length = length;
    }
    return l->answer;
}

static tendon_att_bearer open_bearer(link *l, uint16_t own_mtu) {
    tendon_att_bearer bearer;
    *l = (link){0};
    memset(&seen, 0, sizeof(seen));
    tendon_att_bearer_init(&bearer, (tendon_bearer_io){l, send_pdu}, own_mtu);
    return bearer;
}

static tendon_status receive_hex(tendon_att_bearer *bearer, const char *hex) {
    block b = block_hex(hex);
    tendon_status status = tendon_att_bearer_receive(bearer, b.data, b.length, 1000);
    free(b.data);
    return status;
}

/* Every rejected PDU is in exactly one counter. */
static uint32_t rejected_sum(const tendon_att_bearer *bearer) {
    const tendon_bearer_counters *c = &bearer->counters;
    return c->malformed + c->unknown_opcode + c->unexpected_response + c->unhandled_value + c->unexpected_confirmation +
           c->refused_requests + c->ignored_commands + c->after_close;
}

static void init_clamps_the_mtu(void **state) {
    (void)state;
    link l;
    assert_int_equal(open_bearer(&l, 0).own_mtu, 23);
    assert_int_equal(open_bearer(&l, 22).own_mtu, 23);
    assert_int_equal(open_bearer(&l, 247).own_mtu, 247);
    assert_int_equal(open_bearer(&l, 65535).own_mtu, 517);
    assert_int_equal(open_bearer(&l, 247).mtu, 23);
}

/* All 256 opcodes with both, one and none of client and server. */
static void routing_of_all_opcodes(void **state) {
    (void)state;
    for (unsigned who = 0; who < 4; who++) {
        for (unsigned opcode = 0; opcode < 256; opcode++) {
            link l;
            tendon_att_bearer bearer = open_bearer(&l, 247);
            tendon_gatt_client client;
            tendon_gatt_connection server;
            bearer.client = who & 1 ? &client : NULL;
            bearer.server = who & 2 ? &server : NULL;
            uint8_t pdu[5] = {(uint8_t)opcode, 1, 0, 0, 0};
            tendon_status status = tendon_att_bearer_receive(&bearer, pdu, sizeof(pdu), 77);
            tendon_att_class kind = tendon_att_opcode_class((uint8_t)opcode);
            bool for_client = kind == TENDON_ATT_CLASS_RESPONSE || kind == TENDON_ATT_CLASS_NOTIFICATION ||
                              kind == TENDON_ATT_CLASS_INDICATION;
            bool for_server = kind == TENDON_ATT_CLASS_REQUEST || kind == TENDON_ATT_CLASS_COMMAND ||
                              kind == TENDON_ATT_CLASS_CONFIRMATION;
            assert_int_equal(seen.client, for_client && (who & 1));
            assert_int_equal(seen.server, for_server && (who & 2));
            assert_int_equal(bearer.counters.received, 1);
            if (seen.client + seen.server == 1) {
                assert_int_equal(status, seen.client ? 1 : 2);
                assert_true(seen.now == 77 && seen.length == 5);
                assert_int_equal(rejected_sum(&bearer), 0);
                assert_int_equal(l.sends, 0);
            } else {
                assert_true(status < 0);
                assert_int_equal(rejected_sum(&bearer), 1);
                bool refused =
                    kind == TENDON_ATT_CLASS_REQUEST || (kind == TENDON_ATT_CLASS_UNKNOWN && (opcode & 0x40) == 0);
                assert_int_equal(l.sends, refused);
            }
        }
    }
}

static void mal_A01_A13_empty_and_oversized(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 248, 518, 65535};
    for (size_t i = 0; i < 4; i++) {
        link l;
        tendon_att_bearer bearer = open_bearer(&l, 247);
        tendon_gatt_client client;
        bearer.client = &client;
        block b = {calloc(1, lengths[i] > 0 ? lengths[i] : 1), lengths[i]};
        b.data[0] = 0x1B;
        assert_true(tendon_att_bearer_receive(&bearer, b.data, b.length, 0) < 0);
        assert_int_equal(bearer.counters.malformed, 1);
        assert_int_equal(seen.client, 0);
        assert_int_equal(receive_hex(&bearer, "1b 0300 01"), 1); /* the next valid one is accepted */
        free(b.data);
    }
    link l;
    tendon_att_bearer bearer = open_bearer(&l, 247);
    tendon_gatt_client client;
    bearer.client = &client;
    uint8_t full[247] = {0x1B, 3};
    assert_int_equal(tendon_att_bearer_receive(&bearer, full, sizeof(full), 0), 1);
}

static void mal_A10_requests_without_a_server(void **state) {
    (void)state;
    static const uint8_t requests[] = {0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20};
    link l;
    tendon_att_bearer bearer = open_bearer(&l, 247);
    for (unsigned i = 0; i < sizeof(requests); i++) {
        uint8_t pdu[7] = {requests[i], 1, 0, 0xFF, 0xFF, 0, 0x28};
        char expected[16];
        assert_int_equal(tendon_att_bearer_receive(&bearer, pdu, sizeof(pdu), 0), TENDON_ERROR_UNSUPPORTED);
        assert_int_equal(l.sends, i + 1);
        snprintf(expected, sizeof(expected), "01 %02x 0000 06", requests[i]);
        assert_hex(l.last, l.length, expected);
    }
    assert_int_equal(bearer.counters.refused_requests, sizeof(requests));
    assert_int_equal(bearer.counters.sent, sizeof(requests));
}

static void mal_A11_unknown_opcodes(void **state) {
    (void)state;
    link l;
    tendon_att_bearer bearer = open_bearer(&l, 247);
    assert_int_equal(receive_hex(&bearer, "5f 0102"), TENDON_ERROR_UNSUPPORTED); /* command bit: ignored */
    assert_int_equal(receive_hex(&bearer, "ff"), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(l.sends, 0);
    assert_int_equal(receive_hex(&bearer, "3f 0102"), TENDON_ERROR_UNSUPPORTED);
    assert_hex(l.last, l.length, "01 3f 0000 06");
    assert_int_equal(receive_hex(&bearer, "00"), TENDON_ERROR_UNSUPPORTED);
    assert_hex(l.last, l.length, "01 00 0000 06");
    assert_int_equal(bearer.counters.unknown_opcode, 4);
}

/* A refusal that meets a full link is kept, goes out once, and a second one meanwhile is dropped. */
static void refusal_survives_a_blocked_link(void **state) {
    (void)state;
    link l;
    tendon_att_bearer bearer = open_bearer(&l, 247);
    l.answer = TENDON_ERROR_WOULD_BLOCK;
    assert_int_equal(receive_hex(&bearer, "0a 0300"), TENDON_ERROR_UNSUPPORTED);
    assert_true(bearer.refusal_pending);
    assert_int_equal(receive_hex(&bearer, "02 1700"), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(l.sends, 1);
    tendon_att_bearer_writable(&bearer, 5);
    assert_true(bearer.refusal_pending);
    l.answer = TENDON_OK;
    tendon_att_bearer_writable(&bearer, 6);
    assert_hex(l.last, l.length, "01 0a 0000 06");
    assert_false(bearer.refusal_pending);
    unsigned sends = l.sends;
    tendon_att_bearer_writable(&bearer, 7);
    assert_int_equal(l.sends, sends);
    assert_int_equal(bearer.counters.sent, 1);
    assert_int_equal(bearer.counters.refused_requests, 2);
    l.answer = TENDON_ERROR_DISCONNECTED;
    assert_int_equal(tendon_att_bearer_refuse(&bearer, 0x0A, 3, TENDON_ATT_INVALID_HANDLE), TENDON_ERROR_DISCONNECTED);
    assert_false(bearer.refusal_pending);
}

/* A link in memory: the next unknown request is received within the send, and has no room. */
static struct {
    tendon_att_bearer *bearer;
    unsigned sends;
    uint8_t last[5];
} nested;

static tendon_status refuse_within(void *context, const uint8_t *pdu, size_t length) {
    (void)context;
    nested.sends++;
    if (nested.sends == 2) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    assert_int_equal(length, 5);
    memcpy(nested.last, pdu, 5);
    if (nested.sends == 1) {
        assert_int_equal(receive_hex(nested.bearer, "0A 04 00"), TENDON_ERROR_UNSUPPORTED);
    }
    return TENDON_OK;
}

static void a_refusal_that_blocks_within_the_send_of_another_is_kept(void **state) {
    (void)state;
    link l;
    tendon_att_bearer bearer = open_bearer(&l, 247);
    bearer.io = (tendon_bearer_io){NULL, refuse_within};
    nested.bearer = &bearer;
    nested.sends = 0;
    assert_int_equal(receive_hex(&bearer, "08 01 00 FF FF 03 28"), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(nested.last[1], 0x08);
    assert_true(bearer.refusal_pending);
    tendon_att_bearer_writable(&bearer, 2);
    assert_int_equal(nested.sends, 3);
    assert_memory_equal(nested.last, ((const uint8_t[]){0x01, 0x0A, 0, 0, 0x06}), 5);
    assert_false(bearer.refusal_pending);
}

static void mal_A06_D02_D05_nobody_there(void **state) {
    (void)state;
    link l;
    tendon_att_bearer bearer = open_bearer(&l, 247);
    assert_int_equal(receive_hex(&bearer, "0b 41"), TENDON_GATT_ERROR_UNEXPECTED_RESPONSE);
    assert_int_equal(receive_hex(&bearer, "1b 0300 41"), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(receive_hex(&bearer, "1d 0300 41"), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(receive_hex(&bearer, "23 0300 0000"), TENDON_ERROR_NOT_FOUND);
    assert_int_equal(receive_hex(&bearer, "1e"), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(receive_hex(&bearer, "52 0300 41"), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(bearer.counters.unexpected_response, 1);
    assert_int_equal(bearer.counters.unhandled_value, 3);
    assert_int_equal(bearer.counters.unexpected_confirmation, 1);
    assert_int_equal(bearer.counters.ignored_commands, 1);
    assert_int_equal(l.sends, 0);
}

static void mal_A09_dead_bearer(void **state) {
    (void)state;
    link l;
    tendon_att_bearer bearer = open_bearer(&l, 247);
    tendon_gatt_client client;
    bearer.client = &client;
    tendon_att_bearer_close(&bearer);
    assert_int_equal(receive_hex(&bearer, "0b 41"), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(receive_hex(&bearer, "0a 0300"), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(tendon_att_bearer_send(&bearer, (const uint8_t *)"\x1e", 1), TENDON_ERROR_DISCONNECTED);
    assert_int_equal(bearer.counters.after_close, 2);
    assert_int_equal(seen.client + l.sends, 0);
}

static void decode_counts_what_is_malformed(void **state) {
    (void)state;
    link l;
    tendon_att_bearer bearer = open_bearer(&l, 247);
    tendon_att_pdu pdu;
    assert_int_equal(tendon_att_bearer_decode(&bearer, (const uint8_t *)"\x13\x00", 2, &pdu), TENDON_ERROR_MALFORMED);
    assert_int_equal(tendon_att_bearer_decode(&bearer, (const uint8_t *)"\x1b", 1, &pdu), TENDON_ERROR_TRUNCATED);
    assert_int_equal(tendon_att_bearer_decode(&bearer, (const uint8_t *)"\x13", 1, &pdu), TENDON_OK);
    assert_int_equal(bearer.counters.malformed, 2);
}

static void time_and_room_reach_both(void **state) {
    (void)state;
    link l;
    tendon_att_bearer bearer = open_bearer(&l, 247);
    tendon_gatt_client client;
    tendon_gatt_connection server;
    assert_true(tendon_att_bearer_deadline(&bearer) == UINT64_MAX);
    tendon_att_bearer_tick(&bearer, 1);
    tendon_att_bearer_writable(&bearer, 1);
    assert_int_equal(seen.client_tick + seen.server_tick + seen.client_writable + seen.server_writable, 0);
    bearer.client = &client;
    bearer.server = &server;
    seen.client_deadline = 30, seen.server_deadline = 20;
    assert_true(tendon_att_bearer_deadline(&bearer) == 20);
    seen.client_deadline = 10;
    assert_true(tendon_att_bearer_deadline(&bearer) == 10);
    tendon_att_bearer_tick(&bearer, 1);
    tendon_att_bearer_writable(&bearer, 1);
    assert_int_equal(seen.client_tick, 1);
    assert_int_equal(seen.server_tick, 1);
    assert_int_equal(seen.client_writable, 1);
    assert_int_equal(seen.server_writable, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_clamps_the_mtu),
        cmocka_unit_test(routing_of_all_opcodes),
        cmocka_unit_test(mal_A01_A13_empty_and_oversized),
        cmocka_unit_test(mal_A10_requests_without_a_server),
        cmocka_unit_test(mal_A11_unknown_opcodes),
        cmocka_unit_test(refusal_survives_a_blocked_link),
        cmocka_unit_test(a_refusal_that_blocks_within_the_send_of_another_is_kept),
        cmocka_unit_test(mal_A06_D02_D05_nobody_there),
        cmocka_unit_test(mal_A09_dead_bearer),
        cmocka_unit_test(decode_counts_what_is_malformed),
        cmocka_unit_test(time_and_room_reach_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
