/* SPDX-License-Identifier: MIT */
/* Service Changed: GATT/CL/GAS, and hostile changes B18 and B19. */
#include "gatt_client_peer.h"

static void gatt_cl_gas_bv_01_c_service_changed(void **state) {
    (void)state;
    peer *p = peer_subscribed(true);
    tendon_gatt_client_set_service_changed(&p->client, 3);
    assert_int_equal(peer_send(p, "1D 03 00 10 00 1F 00"), TENDON_OK);
    peer_expect(p, "1E");
    assert_int_equal(p->changes, 1);
    assert_int_equal(p->change_start, 0x10);
    assert_int_equal(p->change_end, 0x1F);
    peer_value(p, 3, "10 00 1F 00", true); /* its subscriber gets it too, afterwards */
    assert_string_equal(p->order, "SV");
    peer_close(p);
}

static void service_changed_without_subscriber(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_gatt_client_set_service_changed(&p->client, 9);
    assert_int_equal(peer_send(p, "1D 09 00 01 00 FF FF"), TENDON_OK);
    peer_expect(p, "1E");
    assert_int_equal(p->changes, 1);
    assert_int_equal(p->bearer.counters.unhandled_value, 0);
    assert_int_equal(peer_send(p, "1B 09 00 01 00 FF FF"), TENDON_ERROR_NOT_FOUND); /* it is never notified */
    assert_int_equal(p->changes, 1);
    peer_close(p);
}

static void mal_B18_service_changed_restarts_the_discovery_it_hits(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_gatt_client_set_service_changed(&p->client, 0x42);
    tendon_status id = op_characteristics(p); /* 0x0001 to 0x0010 */
    peer_exchange(p, "08 01 00 10 00 03 28", "09 07 02 00 02 03 00 00 2A");
    peer_expect(p, "08 03 00 10 00 03 28");
    assert_int_equal(peer_send(p, "1D 42 00 11 00 20 00"), TENDON_OK); /* beside the range: nothing */
    peer_expect(p, "1E");
    assert_int_equal(peer_send(p, "09 07 04 00 02 05 00 01 2A"), TENDON_OK);
    peer_expect(p, "08 05 00 10 00 03 28");
    assert_int_equal(peer_send(p, "1D 42 00 10 00 20 00"), TENDON_OK); /* touches it */
    peer_expect(p, "1E");
    assert_int_equal(peer_send(p, "09 07 06 00 02 07 00 02 2A"), TENDON_OK); /* a stale page: dropped */
    peer_exchange(p, "08 01 00 10 00 03 28", "09 07 08 00 02 09 00 00 2A");
    peer_exchange(p, "08 09 00 10 00 03 28", "01 08 09 00 0A");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 1);
    assert_int_equal(p->characteristics[0].declaration, 8);
    assert_int_equal(p->characteristics[0].end_handle, 0x10);
    peer_close(p);
}

static void mal_B18_restarts_are_bounded(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_gatt_client_set_service_changed(&p->client, 0x42);
    tendon_status id = op_descriptors(p);
    for (int i = 0; i <= TENDON_GATT_RESTARTS_MAX; i++) {
        peer_expect(p, "04 04 00 10 00");
        assert_int_equal(peer_send(p, "1D 42 00 01 00 FF FF"), TENDON_OK);
        peer_expect(p, "1E");
        peer_not_done(p);
        assert_int_equal(peer_send(p, "01 04 04 00 0A"), TENDON_OK);
    }
    peer_done(p, id, ATT(TENDON_ATT_DATABASE_OUT_OF_SYNC));
    assert_int_equal(p->result.count, 0);
    peer_alive(p);
    peer_close(p);
}

static void mal_B18_restart_while_the_link_blocks_and_of_uuid_reads(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_gatt_client_set_service_changed(&p->client, 0x42);
    tendon_status id = op_included(p);
    peer_exchange(p, "08 01 00 10 00 02 28", "09 06 10 00 20 00 2F 00");
    peer_expect(p, "0A 20 00"); /* the UUID of the included service: the start is asked for again all the same */
    assert_int_equal(peer_send(p, "1D 42 00 01 00 FF FF"), TENDON_OK);
    peer_expect(p, "1E");
    p->link = TENDON_ERROR_WOULD_BLOCK;
    assert_int_equal(peer_send(p, "0B 0F 18"), TENDON_OK);
    assert_int_equal(peer_send(p, "1D 42 00 01 00 FF FF"), TENDON_OK);
    p->link = TENDON_OK;
    tendon_att_bearer_writable(&p->bearer, p->now);
    peer_expect(p, "1E");
    peer_exchange(p, "08 01 00 10 00 02 28", "01 08 01 00 0A");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(p->result.count, 0);
    peer_close(p);
}

static void mal_B19_service_changed_malformed(void **state) {
    (void)state;
    static const char *const indications[] = {
        "1D 42 00",
        "1D 42 00 01 00 FF",
        "1D 42 00 01 00 FF FF 00",
        "1D 42 00 20 00 1F 00", /* start > end */
        "1D 42 00 00 00 FF FF", /* start 0 */
    };
    peer *p = peer_open();
    tendon_gatt_client_set_service_changed(&p->client, 0x42);
    tendon_status id = op_descriptors(p);
    peer_expect(p, "04 04 00 10 00");
    for (unsigned i = 0; i < sizeof(indications) / sizeof(indications[0]); i++) {
        assert_true(peer_send(p, indications[i]) < 0);
        peer_expect(p, "1E"); /* confirmed, or the peer stops */
        assert_int_equal(p->bearer.counters.malformed, i + 1);
    }
    assert_int_equal(p->changes, 0);
    assert_int_equal(peer_send(p, "05 01 10 00 02 29"), TENDON_OK); /* no restart */
    peer_done(p, id, TENDON_OK);
    assert_int_equal(peer_send(p, "1D 42 00 01 00 02 00"), TENDON_OK);
    peer_expect(p, "1E");
    assert_int_equal(p->changes, 1);
    peer_close(p);
}

static void mal_B19_service_changed_a_thousand_times(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_gatt_client_set_service_changed(&p->client, 0x42);
    tendon_status id = op_descriptors(p);
    peer_expect(p, "04 04 00 10 00");
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(peer_send(p, "1D 42 00 01 00 FF FF"), TENDON_OK);
        peer_expect(p, "1E");
    }
    peer_quiet(p); /* no request of ours but the one on the air: a thousand changes are one restart */
    assert_int_equal(p->changes, 1000);
    peer_exchange(p, NULL, "05 01 10 00 02 29");
    peer_exchange(p, "04 04 00 10 00", "05 01 10 00 02 29");
    peer_done(p, id, TENDON_OK);
    peer_close(p);
}

static tendon_status own_writes_behind_a_read(peer *p) {
    tendon_status id = op_read(p);
    peer_expect(p, "0A 03 00");
    assert_true(tendon_gatt_enable_service_changed(&p->client, 9, 10, p->now) > 0);
    assert_true(tendon_gatt_enable_robust_caching(&p->client, 12, p->now) > 0);
    return id;
}

/* The confirmation makes us aware of the change (Vol 3 Part G 2.5.2.1): the server would execute them. */
static void own_writes_to_stale_handles_are_not_sent(void **state) {
    (void)state;
    static const struct {
        const char *indication;
        bool cccd, features; /* written afterwards */
    } cases[] = {
        {"1D 09 00 01 00 FF FF", false, false}, {"1D 09 00 0B 00 0B 00", true, true},
        {"1D 09 00 0A 00 0B 00", false, true},  {"1D 09 00 0C 00 20 00", true, false},
        {"1D 09 00 01 00 0A 00", false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        peer *p = peer_open();
        tendon_status id = own_writes_behind_a_read(p);
        assert_int_equal(peer_send(p, cases[i].indication), TENDON_OK);
        peer_expect(p, "1E");
        peer_exchange(p, NULL, "0B 01");
        peer_done_value(p, id, "01");
        if (cases[i].cccd) {
            peer_exchange(p, "12 0A 00 02 00", "13");
        }
        if (cases[i].features) {
            peer_exchange(p, "12 0C 00 01", "13");
        }
        peer_quiet(p);
        assert_int_equal(p->client.queued, 0);
        peer_close(p);
    }
}

static void own_writes_are_not_sent_after_out_of_sync(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = own_writes_behind_a_read(p);
    assert_int_equal(peer_send(p, "01 0A 03 00 12"), TENDON_OK);
    peer_done(p, id, ATT(0x12));
    peer_quiet(p);
    assert_int_equal(p->client.queued, 0);
    peer_close(p);
}

/* After a change of the server the descriptor has another handle: this one is written, too. */
static void own_writes_to_two_handles_both_wait(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = own_writes_behind_a_read(p);
    tendon_status other = tendon_gatt_enable_service_changed(&p->client, 19, 20, p->now);
    assert_int_equal(tendon_gatt_enable_service_changed(&p->client, 19, 20, p->now), other);
    assert_int_equal(p->client.queued, 4);
    peer_exchange(p, NULL, "0B 01");
    peer_done_value(p, id, "01");
    peer_exchange(p, "12 0A 00 02 00", "13");
    peer_exchange(p, "12 0C 00 01", "13");
    peer_exchange(p, "12 14 00 02 00", "13");
    peer_quiet(p);
    peer_close(p);
}

/* Sessions that discover again enable both again, and the table of requests has few places. */
static void an_own_write_waits_once(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = own_writes_behind_a_read(p);
    tendon_status first = tendon_gatt_enable_robust_caching(&p->client, 12, p->now);
    assert_int_equal(tendon_gatt_enable_robust_caching(&p->client, 12, p->now), first);
    assert_true(tendon_gatt_enable_service_changed(&p->client, 9, 10, p->now) > 0);
    assert_int_equal(p->client.queued, 3);
    peer_exchange(p, NULL, "0B 01");
    peer_done_value(p, id, "01");
    peer_expect(p, "12 0A 00 02 00");
    /* One that is outstanding may have been meant for the attribute of before. */
    assert_true(tendon_gatt_enable_service_changed(&p->client, 9, 10, p->now) > 0);
    assert_int_equal(p->client.queued, 3);
    peer_exchange(p, NULL, "13");
    peer_exchange(p, "12 0C 00 01", "13");
    peer_exchange(p, "12 0A 00 02 00", "13");
    peer_quiet(p);
    peer_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(gatt_cl_gas_bv_01_c_service_changed),
        RUN(service_changed_without_subscriber),
        RUN(mal_B18_service_changed_restarts_the_discovery_it_hits),
        RUN(mal_B18_restarts_are_bounded),
        RUN(mal_B18_restart_while_the_link_blocks_and_of_uuid_reads),
        RUN(mal_B19_service_changed_malformed),
        RUN(mal_B19_service_changed_a_thousand_times),
        RUN(own_writes_to_stale_handles_are_not_sent),
        RUN(own_writes_are_not_sent_after_out_of_sync),
        RUN(own_writes_to_two_handles_both_wait),
        RUN(an_own_write_waits_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
