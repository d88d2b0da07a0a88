/* SPDX-License-Identifier: MIT */
/* Requests that the peer refuses for lack of security (Core Spec Vol 3 Part C 10.3.2): sent once more, and no more. */
#include "gatt_client_peer.h"

/* The owner of the connection. */
static struct {
    unsigned asked;
    uint8_t error;
    bool refuses;
} owner;

static bool on_insecure(void *context, uint8_t error, uint64_t now) {
    const peer *p = context;
    assert_true(now == p->now);
    owner.asked++;
    owner.error = error;
    return !owner.refuses;
}

static peer *open_owned(void) {
    peer *p = peer_open();
    memset(&owner, 0, sizeof owner);
    p->client.config.on_insecure = on_insecure;
    return p;
}

static void refuse(peer *p, uint8_t error) {
    const uint8_t pdu[] = {0x01, p->client.in_flight_opcode, 0x34, 0x12, error};
    assert_int_equal(peer_send_bytes(p, pdu, sizeof pdu), TENDON_OK);
}

static void secured(peer *p, tendon_status status) {
    tendon_gatt_client_secured(&p->client, status, p->now);
}

/* Takes over that the newest PDU is the same as the one before. */
static void expect_same_again(peer *p) {
    assert_int_equal(p->sent, p->expected + 2);
    assert_int_equal(p->out[p->expected].length, p->out[p->expected + 1].length);
    assert_memory_equal(p->out[p->expected].bytes, p->out[p->expected + 1].bytes, p->out[p->expected].length);
    p->expected += 2;
}

static const peer_operation operations[] = {op_services,
                                            op_services_by_uuid,
                                            op_included,
                                            op_characteristics,
                                            op_characteristics_by_uuid,
                                            op_descriptors,
                                            op_read,
                                            op_read_long,
                                            op_read_by_uuid,
                                            op_write,
                                            op_write_long,
                                            op_subscribe,
                                            op_subscribe_indicate};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

static void each_operation_is_sent_once_more(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * OPERATIONS; i++) {
        const uint8_t error = i % 2 == 0 ? 0x05 : 0x0F;
        peer *p = open_owned();
        tendon_status id = operations[i / 2](p);
        refuse(p, error);
        assert_int_equal(owner.asked, 1);
        assert_int_equal(owner.error, error);
        peer_not_done(p);
        assert_int_equal(p->sent, 1); /* nothing before the connection is secure */
        assert_int_equal(tendon_gatt_client_deadline(&p->client), UINT64_MAX);
        secured(p, TENDON_OK);
        expect_same_again(p);
        refuse(p, i % 4 < 2 ? 0x05 : 0x0F); /* whichever it is */
        peer_done(p, id, i % 4 < 2 ? ATT(0x05) : ATT(0x0F));
        assert_int_equal(p->result.handle, 0x1234);
        assert_int_equal(owner.asked, 1);
        secured(p, TENDON_OK); /* of nothing */
        peer_alive(p);
        peer_close(p);
    }
}

/* Key Size Too Short, and what is no lack of security. */
static void other_errors_are_final(void **state) {
    (void)state;
    for (size_t i = 0; i < OPERATIONS; i++) {
        for (unsigned error = 1; error < 256; error++) {
            peer *p = open_owned();
            (void)operations[i](p);
            refuse(p, (uint8_t)error);
            assert_int_equal(owner.asked, error == 0x05 || error == 0x0F);
            tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, p->now);
            free(p);
        }
    }
    peer *p = open_owned();
    tendon_status id = op_read(p);
    peer_exchange(p, "0A 03 00", "01 0A 03 00 0C");
    peer_done(p, id, ATT(0x0C));
    peer_close(p);
}

static void the_repeated_operation_succeeds(void **state) {
    (void)state;
    peer *p = open_owned();
    tendon_status id = op_read(p);
    peer_exchange(p, "0A 03 00", "01 0A 03 00 05");
    tendon_status next = op_write(p); /* waits behind it */
    peer_quiet(p);
    secured(p, TENDON_OK);
    peer_exchange(p, "0A 03 00", "0B AA BB");
    peer_done_value(p, id, "AA BB");
    peer_exchange(p, "12 07 00 01 02 03", "01 12 07 00 0F"); /* another request has its own attempt */
    assert_int_equal(owner.asked, 2);
    secured(p, TENDON_OK);
    peer_exchange(p, "12 07 00 01 02 03", "13");
    peer_done(p, next, TENDON_OK);
    peer_close(p);
}

/* A part in the middle; the parts before it are kept. */
static void a_later_part_is_sent_once_more(void **state) {
    (void)state;
    peer *p = open_owned();
    tendon_status id = op_read_long(p);
    peer_exchange(p, "0A 03 00", "0B 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15");
    peer_exchange(p, "0C 03 00 16 00", "01 0C 03 00 0F");
    secured(p, TENDON_OK);
    peer_exchange(p, "0C 03 00 16 00", "0D 16");
    peer_done_value(p, id, "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15 16");
    peer_close(p);
}

static void a_failure_is_final_for_the_connection(void **state) {
    (void)state;
    peer *p = open_owned();
    tendon_status id = op_read(p);
    peer_exchange(p, "0A 03 00", "01 0A 03 00 0F");
    secured(p, TENDON_RADIO_ERROR_PAIRING_FAILED);
    peer_done(p, id, ATT(0x0F));
    assert_int_equal(p->result.handle, 3);
    id = op_read(p);
    peer_exchange(p, "0A 03 00", "01 0A 03 00 05");
    peer_done(p, id, ATT(0x05));
    assert_int_equal(owner.asked, 1);
    const tendon_gatt_client_config config = p->client.config;
    assert_int_equal(tendon_gatt_client_init(&p->client, &config), TENDON_OK); /* the next connection */
    (void)op_read(p);
    peer_exchange(p, "0A 03 00", "01 0A 03 00 05");
    assert_int_equal(owner.asked, 2);
    secured(p, TENDON_OK);
    peer_exchange(p, "0A 03 00", "0B");
    p->completions = 0;
    peer_close(p);
}

static void an_owner_that_cannot_is_asked_again(void **state) {
    (void)state;
    peer *p = open_owned();
    owner.refuses = true;
    for (unsigned i = 1; i <= 3; i++) {
        tendon_status id = op_read(p);
        peer_exchange(p, "0A 03 00", "01 0A 03 00 05");
        peer_done(p, id, ATT(0x05));
        assert_int_equal(owner.asked, i);
    }
    p->client.config.on_insecure = NULL;
    tendon_status id = op_read(p);
    peer_exchange(p, "0A 03 00", "01 0A 03 00 05");
    peer_done(p, id, ATT(0x05));
    peer_close(p);
}

/* What the client does by itself, and Execute Write, after which the peer has dropped the parts. */
static void some_requests_are_not_repeated(void **state) {
    (void)state;
    peer *p = open_owned();
    tendon_status id = tendon_gatt_read_database_hash(&p->client, peer_on_done, p, p->now);
    peer_exchange(p, "08 01 00 FF FF 2A 2B", "01 08 01 00 05");
    peer_done(p, id, ATT(0x05));
    assert_true(tendon_gatt_enable_service_changed(&p->client, 0x10, 0x11, p->now) > 0);
    peer_exchange(p, "12 11 00 02 00", "01 12 11 00 05");
    static const uint8_t value[] = {1, 2, 3};
    id = tendon_gatt_write_long(&p->client, 7, 0, value, sizeof value, peer_on_done, p, p->now);
    peer_exchange(p, "16 07 00 00 00 01 02 03", "17 07 00 00 00 01 02 03");
    peer_exchange(p, "18 01", "01 18 07 00 05");
    peer_done(p, id, ATT(0x05));
    assert_int_equal(owner.asked, 0);
    peer_close(p);
}

static void by_cancel(peer *p, tendon_status id) {
    assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now), TENDON_OK);
    peer_done(p, id, TENDON_ERROR_CANCELLED);
}

/* The same flag as that of the Database Hash. */
static void a_service_in_its_long_form_is_asked_for_once_more(void **state) {
    (void)state;
    peer *p = open_owned();
    tendon_status id = op_services_by_uuid(p);
    refuse(p, TENDON_ATT_ATTRIBUTE_NOT_FOUND);
    p->expected = 1;
    refuse(p, 0x05);
    assert_int_equal(owner.asked, 1);
    secured(p, TENDON_OK);
    expect_same_again(p);
    refuse(p, TENDON_ATT_ATTRIBUTE_NOT_FOUND);
    peer_done(p, id, TENDON_OK);
    peer_close(p);
}

/* Its page is stale: it is asked for again anyway, and may be refused then. */
static void a_discovery_begins_again_first(void **state) {
    (void)state;
    peer *p = open_owned();
    tendon_gatt_client_set_service_changed(&p->client, 0x20);
    tendon_status id = op_characteristics(p);
    assert_int_equal(peer_send(p, "1D 20 00 01 00 FF FF"), TENDON_OK);
    refuse(p, 0x05);
    assert_int_equal(owner.asked, 0);
    assert_int_equal(p->sent, 3); /* the request, a confirmation, the request */
    refuse(p, 0x05);
    assert_int_equal(owner.asked, 1);
    p->expected = p->sent;
    by_cancel(p, id);
    secured(p, TENDON_OK);
    peer_close(p);
}

/* ---- it ends before the connection is secure ---- */

static void by_deadline(peer *p, tendon_status id) {
    assert_int_equal(tendon_gatt_client_set_deadline(&p->client, (uint32_t)id, p->now + 50), TENDON_OK);
    assert_int_equal(tendon_gatt_client_deadline(&p->client), p->now + 50);
    p->now += 50;
    tendon_gatt_client_tick(&p->client, p->now);
    peer_done(p, id, TENDON_ERROR_TIMEOUT);
}

static void by_link_end(peer *p, tendon_status id) {
    tendon_gatt_client_disconnected(&p->client, TENDON_RADIO_ERROR_PEER_CLOSED, p->now);
    peer_done(p, id, TENDON_RADIO_ERROR_PEER_CLOSED);
}

static void by_link_end_and_the_next(peer *p, tendon_status id) {
    const tendon_gatt_client_config config = p->client.config;
    by_link_end(p, id);
    assert_int_equal(tendon_gatt_client_init(&p->client, &config), TENDON_OK);
}

static void an_end_in_the_middle(void **state) {
    (void)state;
    static const struct {
        void (*end)(peer *p, tendon_status id);
        bool alive; /* another request waits for the connection to be secure */
    } rows[] = {{by_cancel, true}, {by_deadline, true}, {by_link_end, false}, {by_link_end_and_the_next, false}};
    static const tendon_status results[] = {TENDON_OK, TENDON_RADIO_ERROR_PAIRING_FAILED};
    for (size_t i = 0; i < 2 * OPERATIONS * sizeof rows / sizeof rows[0]; i++) {
        const size_t row = i / 2 / OPERATIONS;
        peer *p = open_owned();
        tendon_status id = operations[i / 2 % OPERATIONS](p);
        refuse(p, 0x05);
        p->expected = p->sent;
        rows[row].end(p, id);
        peer_quiet(p);
        tendon_status next = rows[row].alive ? op_write(p) : 0;
        peer_quiet(p);
        secured(p, results[i % 2]);
        if (rows[row].alive) { /* the ended one is not sent again */
            peer_exchange(p, "12 07 00 01 02 03", "13");
            peer_done(p, next, TENDON_OK);
        }
        if (rows[row].end != by_link_end) {
            peer_alive(p);
        }
        assert_int_equal(owner.asked, 1);
        peer_close(p);
    }
}

/* Cancelled within a long write: what the peer holds is dropped, after the connection is secure or not. */
static void prepared_parts_are_cancelled(void **state) {
    (void)state;
    for (int failed = 0; failed < 2; failed++) {
        peer *p = open_owned();
        tendon_status id = op_write_long(p);
        peer_exchange(p, "16 07 00 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11",
                      "17 07 00 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11");
        peer_exchange(p, "16 07 00 12 00 12 13", "01 16 07 00 05");
        assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now), TENDON_OK);
        peer_done(p, id, TENDON_ERROR_CANCELLED);
        peer_quiet(p);
        secured(p, failed ? TENDON_RADIO_ERROR_PAIRING_FAILED : TENDON_OK);
        peer_exchange(p, "18 00", "19");
        peer_not_done(p);
        peer_close(p);
    }
}

/* Without a cancel the failed part ends the write, and the parts are dropped too. */
static void a_failure_drops_prepared_parts(void **state) {
    (void)state;
    peer *p = open_owned();
    tendon_status id = op_write_long(p);
    peer_exchange(p, "16 07 00 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11",
                  "17 07 00 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11");
    peer_exchange(p, "16 07 00 12 00 12 13", "01 16 07 00 05");
    secured(p, TENDON_RADIO_ERROR_PAIRING_FAILED);
    peer_exchange(p, "18 00", "19");
    peer_done(p, id, ATT(0x05));
    peer_close(p);
}

static void cancelled_on_the_air(void **state) {
    (void)state;
    peer *p = open_owned();
    tendon_status id = op_read(p);
    peer_expect(p, "0A 03 00");
    assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now), TENDON_OK);
    peer_done(p, id, TENDON_ERROR_CANCELLED);
    refuse(p, 0x05); /* nobody waits for it */
    assert_int_equal(owner.asked, 0);
    peer_alive(p);
    peer_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(each_operation_is_sent_once_more),
        RUN(other_errors_are_final),
        RUN(the_repeated_operation_succeeds),
        RUN(a_later_part_is_sent_once_more),
        RUN(a_failure_is_final_for_the_connection),
        RUN(an_owner_that_cannot_is_asked_again),
        RUN(some_requests_are_not_repeated),
        RUN(a_service_in_its_long_form_is_asked_for_once_more),
        RUN(a_discovery_begins_again_first),
        RUN(an_end_in_the_middle),
        RUN(prepared_parts_are_cancelled),
        RUN(a_failure_drops_prepared_parts),
        RUN(cancelled_on_the_air),
    };
    return cmocka_run_group_tests_name("host_gatt_client_security", tests, NULL, NULL);
}
