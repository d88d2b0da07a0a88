/* SPDX-License-Identifier: MIT */
/* GATT server: notifications, indications, blocked links, hostile clients, building the database. See the fixture. */
#include "gatt_server_fixture.h"
#include "test_recording.h"

static void gatt_sr_gan_bv_01_c_notification(void **state) {
    fixture *f = *state;
    assert_int_equal(tendon_gatt_notify(&f->connection, 0x0D, (const uint8_t *)"ab", 2),
                     TENDON_GATT_ERROR_NOT_SUBSCRIBED);
    exchange(f, "12 0e 00 01 00", "13");
    assert_int_equal(tendon_gatt_notify(&f->connection, 0x0D, (const uint8_t *)"ab", 2), TENDON_OK);
    check_bytes(f->sent, f->sent_length, "1b 0d 00 61 62");
    assert_int_equal(tendon_gatt_notify(&f->connection, 0x0D, NULL, 0), TENDON_OK);
    check_bytes(f->sent, f->sent_length, "1b 0d 00");
    assert_int_equal(tendon_gatt_notify(&f->connection, 0x0D, f->value, 25), TENDON_OK);
    assert_int_equal(f->sent_length, 23); /* cut at MTU-3 bytes of value */
    assert_int_equal(tendon_gatt_notify(&f->connection, 0x0D, NULL, 1), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(tendon_gatt_notify(&f->connection, 0x07, f->value, 1), TENDON_GATT_ERROR_NOT_SUBSCRIBED);
    assert_int_equal(tendon_gatt_notify(&f->connection, 0, f->value, 1), TENDON_GATT_ERROR_NOT_SUBSCRIBED);
    assert_int_equal(tendon_gatt_notify(&f->connection, 0xFFFF, f->value, 1), TENDON_GATT_ERROR_NOT_SUBSCRIBED);
    assert_int_equal(tendon_gatt_indicate(&f->connection, 0x0D, f->value, 1, 0), TENDON_GATT_ERROR_NOT_SUBSCRIBED);
}

static void mal_D10_a_notification_is_protected_like_its_value(void **state) {
    fixture *f = *state;
    f->connection.security = TENDON_GATT_SECURITY_ENCRYPTED;
    exchange(f, "12 14 00 01 00", "13");
    assert_int_equal(tendon_gatt_notify(&f->connection, 0x13, f->value, 2), TENDON_OK);
    f->connection.security = TENDON_GATT_SECURITY_NONE;
    unsigned before = f->sends;
    assert_int_equal(tendon_gatt_notify(&f->connection, 0x13, f->value, 2),
                     TENDON_ATT_ERROR(TENDON_ATT_INSUFFICIENT_AUTHENTICATION));
    assert_int_equal(f->sends, before);
}

static void gatt_sr_gai_bv_01_c_indication(void **state) {
    fixture *f = *state;
    exchange(f, "12 04 00 02 00", "13");
    assert_int_equal(tendon_gatt_indicate(&f->connection, 0x03, f->value, 4, f->now), TENDON_OK);
    check_bytes(f->sent, f->sent_length, "1d 03 00 30 31 32 33");
    assert_int_equal(tendon_gatt_indicate(&f->connection, 0x03, f->value, 4, f->now), TENDON_ERROR_BUSY);
    assert_int_equal(tendon_gatt_connection_deadline(&f->connection), 31000);
    assert_int_equal(receive(f, "1e"), TENDON_OK);
    assert_int_equal(f->confirmations, 1);
    assert_int_equal(f->confirmed, TENDON_OK);
    assert_int_equal(tendon_gatt_connection_deadline(&f->connection), UINT64_MAX);
    assert_int_equal(tendon_gatt_indicate(&f->connection, 0x03, f->value, 4, f->now), TENDON_OK);
}

/* A connection in memory: the confirmation is received before the sending call returns. */
static tendon_status confirm_at_once(void *context, const uint8_t *pdu, size_t length) {
    static const uint8_t confirmation[] = {0x1E};
    fixture *f = context;
    assert_int_equal(pdu[0], 0x1D);
    assert_int_equal(length, 7);
    return tendon_att_bearer_receive(&f->bearer, confirmation, sizeof confirmation, f->now);
}

static void an_indication_that_is_confirmed_within_the_send(void **state) {
    fixture *f = *state;
    exchange(f, "12 04 00 02 00", "13");
    f->bearer.io = (tendon_bearer_io){f, confirm_at_once};
    for (unsigned i = 1; i <= 2; i++) {
        assert_int_equal(tendon_gatt_indicate(&f->connection, 0x03, f->value, 4, f->now), TENDON_OK);
        assert_int_equal(f->confirmations, i);
        assert_int_equal(f->confirmed, TENDON_OK);
        assert_int_equal(tendon_gatt_connection_deadline(&f->connection), UINT64_MAX);
    }
    assert_int_equal(f->bearer.counters.unexpected_confirmation, 0);
    tendon_att_bearer_tick(&f->bearer, f->now + 60000);
    assert_false(f->bearer.closed);
}

/* The same: the client's next request is received within the send, and its response has no room. */
static tendon_status ask_within(void *context, const uint8_t *pdu, size_t length) {
    static const uint8_t request[] = {0x0A, 9, 0};
    fixture *f = context;
    f->sends++;
    if (f->sends == 2) {
        return TENDON_ERROR_WOULD_BLOCK;
    }
    memcpy(f->sent, pdu, length);
    f->sent_length = length;
    return f->sends == 1 ? tendon_att_bearer_receive(&f->bearer, request, sizeof request, f->now) : TENDON_OK;
}

static void a_response_that_blocks_within_the_send_of_another_is_kept(void **state) {
    fixture *f = *state;
    f->sends = 0;
    f->bearer.io = (tendon_bearer_io){f, ask_within};
    assert_int_equal(receive(f, "0a 07 00"), TENDON_OK);
    check_bytes(f->sent, f->sent_length, "0b 54 65 6e 64 6f 6e");
    assert_int_equal(f->sends, 2);
    tendon_att_bearer_writable(&f->bearer, f->now);
    check_bytes(f->sent, f->sent_length, "0b 4d 6f 64 65 6c 31");
    tendon_att_bearer_writable(&f->bearer, f->now);
    assert_int_equal(f->sends, 3);
}

static void gatt_sr_gat_bv_01_c_indication_timeout(void **state) {
    fixture *f = *state;
    exchange(f, "12 04 00 02 00", "13");
    tendon_gatt_indicate(&f->connection, 0x03, f->value, 4, f->now);
    tendon_att_bearer_tick(&f->bearer, 30999);
    assert_int_equal(f->confirmations, 0);
    assert_int_equal(tendon_att_bearer_deadline(&f->bearer), 31000);
    tendon_att_bearer_tick(&f->bearer, 31000);
    assert_int_equal(f->confirmations, 1);
    assert_int_equal(f->confirmed, TENDON_GATT_ERROR_TRANSACTION_TIMEOUT);
    assert_true(f->bearer.closed);
    assert_int_equal(tendon_att_bearer_deadline(&f->bearer), UINT64_MAX);
    assert_int_equal(receive(f, "1e"), TENDON_ERROR_DISCONNECTED); /* too late */
    unsigned before = f->sends;
    receive(f, "0a 07 00");
    assert_int_equal(f->sends, before);
}

static void an_indication_ends_with_the_link(void **state) {
    fixture *f = *state;
    exchange(f, "12 04 00 02 00", "13");
    tendon_gatt_indicate(&f->connection, 0x03, f->value, 4, f->now);
    tendon_gatt_connection_closed(&f->connection, TENDON_RADIO_ERROR_PEER_CLOSED, 5);
    assert_int_equal(f->confirmations, 1);
    assert_int_equal(f->confirmed, TENDON_RADIO_ERROR_PEER_CLOSED);
}

static void mal_D05_confirmation_without_indication(void **state) {
    fixture *f = *state;
    assert_int_equal(receive(f, "1e"), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(f->bearer.counters.unexpected_confirmation, 1);
    assert_int_equal(f->confirmations, 0);
    exchange(f, "12 04 00 02 00", "13");
    tendon_gatt_indicate(&f->connection, 0x03, f->value, 4, f->now);
    assert_int_equal(receive(f, "1e 00"), TENDON_ERROR_MALFORMED); /* trailing byte */
    assert_int_equal(f->confirmations, 0);
    assert_int_equal(receive(f, "1e"), TENDON_OK);
    assert_int_equal(receive(f, "1e"), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(f->confirmations, 1);
}

static void mal_A12_second_request_before_our_response(void **state) {
    fixture *f = *state;
    exchange(f, "12 0e 00 01 00", "13");
    f->link = TENDON_ERROR_WOULD_BLOCK;
    assert_int_equal(receive(f, "0a 07 00"), TENDON_OK);
    assert_int_equal(receive(f, "12 0d 00 01"), TENDON_ERROR_BUSY); /* ignored: nothing is written */
    assert_int_equal(receive(f, "0a 05 00"), TENDON_ERROR_BUSY);
    assert_int_equal(f->connection.counters.pipelined, 2);
    assert_int_equal(f->writes, 0);
    assert_int_equal(f->connection.counters.requests, 2);
    assert_int_equal(receive(f, "52 0d 00 07"), TENDON_OK); /* commands are still served */
    assert_int_equal(f->writes, 1);
    f->link = TENDON_OK;
    /* the waiting response comes before any notification */
    assert_int_equal(tendon_gatt_notify(&f->connection, 0x0D, f->value, 1), TENDON_ERROR_WOULD_BLOCK);
    unsigned before = f->sends;
    tendon_att_bearer_writable(&f->bearer, f->now);
    assert_int_equal(f->sends, before + 1);
    check_bytes(f->sent, f->sent_length, "0b 54 65 6e 64 6f 6e");
    tendon_att_bearer_writable(&f->bearer, f->now);
    assert_int_equal(f->sends, before + 1);
    exchange(f, "0a 05 00", "0b 0a 18"); /* and the server goes on */
    assert_int_equal(tendon_gatt_notify(&f->connection, 0x0D, f->value, 1), TENDON_OK);
}

static void a_response_waits_while_the_link_blocks_again(void **state) {
    fixture *f = *state;
    f->link = TENDON_ERROR_WOULD_BLOCK;
    receive(f, "0a 07 00");
    tendon_att_bearer_writable(&f->bearer, f->now);
    assert_true(f->connection.response_pending);
    f->link = TENDON_ERROR_DISCONNECTED;
    tendon_att_bearer_writable(&f->bearer, f->now);
    assert_false(f->connection.response_pending); /* the link is lost, nothing waits */
    assert_int_equal(f->sends, 0);
}

static void a_blocked_notification_or_indication_is_the_callers(void **state) {
    fixture *f = *state;
    exchange(f, "12 0e 00 01 00", "13");
    exchange(f, "12 04 00 02 00", "13");
    f->link = TENDON_ERROR_WOULD_BLOCK;
    assert_int_equal(tendon_gatt_notify(&f->connection, 0x0D, f->value, 1), TENDON_ERROR_WOULD_BLOCK);
    assert_int_equal(tendon_gatt_indicate(&f->connection, 0x03, f->value, 4, f->now), TENDON_ERROR_WOULD_BLOCK);
    assert_false(f->connection.indication_outstanding);
    assert_int_equal(tendon_gatt_connection_deadline(&f->connection), UINT64_MAX);
    assert_int_equal(tendon_gatt_connection_deadline(&f->connection), UINT64_MAX);
}

static void mal_A13_pdu_longer_than_the_mtu(void **state) {
    fixture *f = *state;
    uint8_t pdu[600] = {0x12, 0x0D, 0x00};
    for (size_t length = 24; length <= 185; length++) {
        assert_int_equal(receive_bytes(f, pdu, length), TENDON_ERROR_MALFORMED);
    }
    assert_int_equal(f->writes, 0);
    assert_int_equal(f->bearer.counters.malformed, 162);
    assert_int_equal(receive_bytes(f, pdu, 600), TENDON_ERROR_MALFORMED);
    assert_int_equal(receive_bytes(f, pdu, 23), TENDON_OK);
    assert_int_equal(f->written_length, 20);
}

static void mal_A16_signed_write_too_short(void **state) {
    fixture *f = *state;
    uint8_t pdu[15] = {0xD2, 0x0D, 0x00};
    for (size_t length = 1; length < 15; length++) {
        assert_int_equal(receive_bytes(f, pdu, length), TENDON_ERROR_TRUNCATED);
    }
    assert_int_equal(f->connection.counters.signed_writes, 0);
    assert_int_equal(f->bearer.counters.malformed, 14);
    assert_int_equal(f->sends, 0);
    assert_int_equal(receive_bytes(f, pdu, 15), TENDON_OK);
    assert_int_equal(f->connection.counters.signed_writes, 1);
}

/** Every request and command the server knows, valid. The last column: the least length that decodes. */
static const struct {
    const char *pdu;
    size_t shortest;
} valid[] = {
    {"02 b9 00", 3},
    {"04 01 00 ff ff", 5},
    {"06 01 00 ff ff 00 28 0a 18", 7},
    {"08 01 00 ff ff 03 28", 7},
    {"0a 07 00", 3},
    {"0c 07 00 01 00", 5},
    {"0e 07 00 09 00", 5},
    {"10 01 00 ff ff 00 28", 7},
    {"12 0d 00 01 02", 3},
    {"16 0d 00 00 00 01", 5},
    {"18 01", 2},
    {"20 07 00 09 00", 5},
    {"52 0d 00 01", 3},
    {"d2 0d 00 01 000102030405060708090a0b", 15},
};

static void every_opcode_cut_at_each_position(void **state) {
    fixture *f = *state;
    for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++) {
        uint8_t pdu[64];
        size_t length = from_hex(valid[i].pdu, pdu, sizeof pdu);
        for (size_t cut = 1; cut < valid[i].shortest; cut++) {
            unsigned sends = f->sends, writes = f->writes;
            uint32_t malformed = f->bearer.counters.malformed;
            tendon_status status = receive_bytes(f, pdu, cut);
            assert_true(status == TENDON_ERROR_TRUNCATED || status == TENDON_ERROR_MALFORMED);
            assert_int_equal(f->bearer.counters.malformed, malformed + 1);
            assert_int_equal(f->writes, writes);
            bool command = (pdu[0] & 0x40) != 0;
            assert_int_equal(f->sends, sends + (command ? 0 : 1));
            if (!command) {
                const uint8_t refusal[5] = {0x01, pdu[0], 0, 0, 0x04};
                assert_int_equal(f->sent_length, 5);
                assert_memory_equal(f->sent, refusal, 5);
            }
        }
        for (size_t cut = valid[i].shortest; cut <= length; cut++) {
            if (pdu[0] != 0x06 && pdu[0] != 0x12 && pdu[0] != 0x16 && pdu[0] != 0x52 && cut != length) {
                continue; /* only a value at the end may be shorter */
            }
            assert_int_equal(receive_bytes(f, pdu, cut), TENDON_OK);
        }
    }
    assert_int_equal(f->connection.prepared_count, 0); /* 18 01 executed what 16 prepared */
    exchange(f, "0a 07 00", "0b 54 65 6e 64 6f 6e");
}

static void mal_A02_every_opcode_alone(void **state) {
    fixture *f = *state;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        uint8_t pdu[1] = {(uint8_t)opcode};
        unsigned sends = f->sends;
        assert_true(receive_bytes(f, pdu, 1) < 0);
        bool answered = f->sends != sends;
        tendon_att_class kind = tendon_att_opcode_class((uint8_t)opcode);
        bool expected = kind == TENDON_ATT_CLASS_REQUEST || (kind == TENDON_ATT_CLASS_UNKNOWN && (opcode & 0x40) == 0);
        assert_int_equal(answered, expected);
        if (answered) {
            const uint8_t refusal[5] = {0x01, (uint8_t)opcode, 0, 0, kind == TENDON_ATT_CLASS_REQUEST ? 0x04 : 0x06};
            assert_memory_equal(f->sent, refusal, 5);
        }
    }
    assert_int_equal(f->writes, 0);
    assert_int_equal(f->bearer.mtu, 23);
}

/** The same, handed to the server without a bearer in between. */
static void mal_A11_unknown_opcodes_at_the_server(void **state) {
    fixture *f = *state;
    const uint8_t plain = 0x15, command = 0x55;
    assert_int_equal(tendon_gatt_connection_receive(&f->connection, &plain, 1, 0), TENDON_ERROR_UNSUPPORTED);
    check_bytes(f->sent, f->sent_length, "01 15 00 00 06");
    assert_int_equal(tendon_gatt_connection_receive(&f->connection, &command, 1, 0), TENDON_ERROR_UNSUPPORTED);
    assert_int_equal(f->sends, 1);
    assert_int_equal(f->bearer.counters.unknown_opcode, 2);
    assert_int_equal(tendon_gatt_connection_receive(&f->connection, &plain, 0, 0), TENDON_ERROR_TRUNCATED);
    assert_int_equal(f->sends, 1);
    const uint8_t response[] = {0x0B, 1};
    assert_int_equal(tendon_gatt_connection_receive(&f->connection, response, 2, 0), TENDON_ERROR_WRONG_STATE);
}

/* What the device and the link do between two PDUs. */
static void happen(recording *r, fixture *f) {
    static const uint16_t handles[] = {0x03, 0x0D, 0x13, 0x11, 0x19, 0xFFFF};
    static const uint8_t value[30] = {1, 2, 3};
    uint16_t handle = handles[choose(r, 6)];
    f->now += choose(r, 40) == 0 ? choose(r, 31000) : choose(r, 3);
    switch (choose(r, 24)) {
    case 0:
        note(r, "notify %d", tendon_gatt_notify(&f->connection, handle, value, choose(r, sizeof value)));
        break;
    case 1:
        note(r, "indicate %d", tendon_gatt_indicate(&f->connection, handle, value, choose(r, sizeof value), f->now));
        break;
    case 2:
        f->link = choose(r, 3) == 0 ? TENDON_ERROR_WOULD_BLOCK : TENDON_OK;
        tendon_att_bearer_writable(&f->bearer, f->now);
        break;
    case 3:
        f->connection.security = (uint8_t)choose(r, 3);
        f->connection.key_size = (uint8_t)(6 + choose(r, 11));
        break;
    case 4:
        tendon_att_bearer_tick(&f->bearer, f->now);
        break;
    case 5:
        f->read_result = choose(r, 3) == 0 ? TENDON_ATT_ERROR(0x80 + choose(r, 3)) : TENDON_OK;
        f->write_result = choose(r, 3) == 0 ? TENDON_ATT_ERROR(0x80 + choose(r, 3)) : TENDON_OK;
        f->lend_nothing = choose(r, 8) == 0;
        break;
    default:
        break;
    }
}

static void note_step(recording *r, fixture *f) {
    note(r, "writes %u of %x at %x, %u bytes, command %d; %u subscriptions, %x to %x; confirmed %u, %d", f->writes,
         f->written_handle, f->written_offset, (unsigned)f->written_length, f->written_by_command, f->subscriptions,
         f->subscribed_handle, f->subscribed_value, f->confirmations, f->confirmed);
    note(r, "due %lld, mtu %d, prepared %u, cccds %x %x %x", (long long)tendon_att_bearer_deadline(&f->bearer),
         f->bearer.mtu, (unsigned)f->connection.prepared_count, tendon_gatt_connection_cccd(&f->connection, 0x03),
         tendon_gatt_connection_cccd(&f->connection, 0x0D), tendon_gatt_connection_cccd(&f->connection, 0x13));
    note(r, "%u %u %u %u", (unsigned)f->bearer.counters.malformed, (unsigned)f->bearer.counters.unknown_opcode,
         (unsigned)f->connection.counters.commands, (unsigned)f->connection.counters.refused_commands);
}

static void play(recording *r, unsigned number) {
    void *state = NULL;
    assert_int_equal(fixture_setup(&state), 0); /* each run from the same beginning, whichever run is before it */
    fixture *f = state;
    (void)number;
    for (int i = 0; i < 12000; i++) {
        uint8_t pdu[64];
        size_t length = from_hex(valid[choose(r, 14)].pdu, pdu, sizeof pdu);
        for (uint32_t flips = choose(r, 4); flips > 0; flips--) {
            size_t at = choose(r, (unsigned)length);
            pdu[at] = (uint8_t)choose(r, choose(r, 2) == 0 ? 0x20 : 256);
        }
        f->value_length = choose(r, 3) == 0 ? choose(r, 513) : choose(r, 40);
        happen(r, f);
        unsigned sends = f->sends;
        note(r, "%d", receive_bytes(f, pdu, choose(r, 2) == 0 ? length : 1 + choose(r, (unsigned)length)));
        assert_true(f->sends <= sends + 1);
        assert_true(f->sent_length <= f->bearer.mtu);
        assert_true(f->connection.prepared_count <= 3);
        note_bytes(r, "sent", f->sent, f->sends != sends ? f->sent_length : 0);
        note_step(r, f);
    }
    tendon_gatt_connection_closed(&f->connection, TENDON_ERROR_DISCONNECTED, f->now);
    note_step(r, f);
    fixture_teardown(&state);
}

/** C14: whatever comes, each PDU is answered at most once, within the MTU, and the server never loops. */
static void mal_C14_random_pdus_end(void **state) {
    static const uint32_t known[] = {
        0x66A219E7, 0x4EF74E5A, 0x4712B6DD, 0xA88ADC3E, 0x35F45BE6, 0x5E324CAE, 0xB67AF9C0, 0x18E04BA6,
    };
    (void)state;
    compare_recordings(known, sizeof known / sizeof known[0], play);
}

static void mal_C14_discovery_to_the_end_of_the_handles(void **state) {
    fixture *f = *state;
    unsigned requests = 0;
    for (uint32_t start = 1; start <= 0xFFFF;) {
        const uint8_t pdu[5] = {0x04, (uint8_t)(start & 0xFF), (uint8_t)(start >> 8), 0xFF, 0xFF};
        receive_bytes(f, pdu, 5);
        requests++;
        if (f->sent[0] == 0x01) {
            break;
        }
        size_t item = f->sent[1] == 1 ? 4 : 18;
        const uint8_t *last = f->sent + f->sent_length - item;
        uint32_t handle = (uint32_t)(last[0] | last[1] << 8);
        assert_true(handle >= start);
        start = handle + 1;
    }
    assert_true(requests <= 0x1C);
}

static void a_waiting_response_ends_with_the_link(void **state) {
    fixture *f = *state;
    f->link = TENDON_ERROR_WOULD_BLOCK;
    receive(f, "0a 07 00");
    assert_true(f->connection.response_pending);
    tendon_gatt_connection_closed(&f->connection, TENDON_ERROR_DISCONNECTED, 0);
    f->link = TENDON_OK;
    tendon_gatt_connection_writable(&f->connection, 0);
    assert_int_equal(f->sends, 0);
}

/* Each fits a PDU; together they are longer than any value (Vol 3 Part F 3.2.9). */
static void prepared_parts_that_are_too_long_together(void **state) {
    fixture *f = *state;
    uint8_t part[5 + 300] = {0x16, 0x0D, 0};
    f->bearer.mtu = f->bearer.own_mtu = 400;
    for (unsigned i = 0; i < 2; i++) {
        part[3] = (uint8_t)(i * 300);
        part[4] = (uint8_t)(i * 300 >> 8);
        assert_int_equal(receive_bytes(f, part, sizeof part), TENDON_OK);
        assert_int_equal(f->sent[0], 0x17);
    }
    exchange(f, "18 01", "01 18 0d 00 0d");
    assert_int_equal(f->writes, 0);
    exchange(f, "18 01", "19"); /* nothing is left of them */
    assert_int_equal(f->writes, 0);
}

/* The size of a key protects what is encrypted; anything else is read without one. */
static void a_short_key_is_enough_for_what_is_open(void **state) {
    fixture *f = *state;
    f->connection.security = TENDON_GATT_SECURITY_ENCRYPTED;
    f->connection.key_size = 6;
    exchange(f, "0a 07 00", "0b 54 65 6e 64 6f 6e");
    exchange(f, "0a 13 00", "01 0a 13 00 0c");
    f->connection.key_size = 7;
    exchange(f, "0a 13 00", "0b 30 31 32 33 34 35 36 37 38 39");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        server_test(gatt_sr_gan_bv_01_c_notification),
        server_test(mal_D10_a_notification_is_protected_like_its_value),
        server_test(gatt_sr_gai_bv_01_c_indication),
        server_test(an_indication_that_is_confirmed_within_the_send),
        server_test(a_response_that_blocks_within_the_send_of_another_is_kept),
        server_test(gatt_sr_gat_bv_01_c_indication_timeout),
        server_test(an_indication_ends_with_the_link),
        server_test(mal_D05_confirmation_without_indication),
        server_test(mal_A12_second_request_before_our_response),
        server_test(a_response_waits_while_the_link_blocks_again),
        server_test(a_blocked_notification_or_indication_is_the_callers),
        server_test(mal_A13_pdu_longer_than_the_mtu),
        server_test(mal_A16_signed_write_too_short),
        server_test(every_opcode_cut_at_each_position),
        server_test(mal_A02_every_opcode_alone),
        server_test(mal_A11_unknown_opcodes_at_the_server),
        cmocka_unit_test(mal_C14_random_pdus_end),
        server_test(mal_C14_discovery_to_the_end_of_the_handles),
        server_test(a_waiting_response_ends_with_the_link),
        server_test(prepared_parts_that_are_too_long_together),
        server_test(a_short_key_is_enough_for_what_is_open),
    };
    return cmocka_run_group_tests_name("host_gatt_server_hostile", tests, NULL, NULL);
}
