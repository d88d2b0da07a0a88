/* SPDX-License-Identifier: MIT */
/* Subscribing to a characteristic whose CCCD is not known, and writes that choose their procedure. */
#include "gatt_client_peer.h"

/* Value 0003, descriptors 0004 to 0009. */
static const tendon_gatt_characteristic characteristic = {.declaration = 2, .value_handle = 3, .end_handle = 9};

static tendon_status subscribe(peer *p, bool indicate) {
    return tendon_gatt_subscribe_characteristic(&p->client, &characteristic, indicate, peer_on_value, p, peer_on_done,
                                                p, p->now);
}

static void the_cccd_is_looked_for_and_written(void **state) {
    (void)state;
    for (int indicate = 0; indicate <= 1; indicate++) {
        peer *p = peer_open();
        tendon_status id = subscribe(p, indicate != 0);
        assert_true(id > 0);
        peer_exchange(p, "04 04 00 09 00", "05 01 04 00 01 29 05 00 02 29"); /* 2901, then 2902 */
        peer_not_done(p);
        assert_int_equal(peer_send(p, "1B 03 00 AA"),
                         TENDON_OK); /* the handler is in place before the write is answered */
        peer_value(p, 3, "AA", false);
        peer_exchange(p, indicate != 0 ? "12 05 00 02 00" : "12 05 00 01 00", "13");
        peer_done(p, id, TENDON_OK);
        /* The CCCD that was found is the one that ends it. */
        id = tendon_gatt_unsubscribe(&p->client, 3, peer_on_done, p, p->now);
        peer_exchange(p, "12 05 00 00 00", "13");
        peer_done(p, id, TENDON_OK);
        peer_close(p);
    }
}

static void the_cccd_is_on_a_later_page_and_in_its_long_form(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = subscribe(p, false);
    peer_exchange(p, "04 04 00 09 00", "05 01 04 00 01 29 06 00 04 29");
    peer_exchange(p, "04 07 00 09 00", "05 02 08 00 FB 34 9B 5F 80 00 00 80 00 10 00 00 02 29 00 00");
    peer_exchange(p, "12 08 00 01 00", "13");
    peer_done(p, id, TENDON_OK);
    peer_close(p);
}

static void no_cccd_is_not_found_and_leaves_no_handler(void **state) {
    (void)state;
    static const char *const answers[][2] = {
        {"04 04 00 09 00", "01 04 04 00 0A"},                /* Attribute Not Found */
        {"04 04 00 09 00", "05 01 04 00 01 29 09 00 04 29"}, /* the last handle is another */
        {"04 04 00 09 00", "05 02 09 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02 29"} /* a UUID of its own */
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        peer *p = peer_open();
        tendon_status id = subscribe(p, false);
        peer_exchange(p, answers[i][0], NULL);
        assert_int_equal(peer_send(p, answers[i][1]), TENDON_OK);
        peer_done(p, id, TENDON_ERROR_NOT_FOUND);
        assert_int_equal(peer_send(p, "1B 03 00 AA"), TENDON_ERROR_NOT_FOUND);
        assert_int_equal(tendon_gatt_unsubscribe(&p->client, 3, NULL, NULL, p->now), TENDON_ERROR_NOT_FOUND);
        peer_alive(p);
        peer_close(p);
    }
}

static void a_characteristic_without_descriptors(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_gatt_characteristic bare = {.declaration = 2, .value_handle = 3, .end_handle = 3};
    assert_int_equal(
        tendon_gatt_subscribe_characteristic(&p->client, &bare, false, peer_on_value, p, peer_on_done, p, p->now),
        TENDON_ERROR_NOT_FOUND);
    bare.end_handle = 2;
    assert_int_equal(
        tendon_gatt_subscribe_characteristic(&p->client, &bare, false, peer_on_value, p, peer_on_done, p, p->now),
        TENDON_ERROR_INVALID_ARGUMENT);
    bare.value_handle = 0;
    assert_int_equal(
        tendon_gatt_subscribe_characteristic(&p->client, &bare, false, peer_on_value, p, peer_on_done, p, p->now),
        TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(
        tendon_gatt_subscribe_characteristic(&p->client, &characteristic, false, NULL, p, peer_on_done, p, p->now),
        TENDON_ERROR_INVALID_ARGUMENT);
    peer_quiet(p);
    peer_close(p);
}

static void hostile_pages_end_it(void **state) {
    (void)state;
    static const struct {
        const char *pdu;
        tendon_status status;
    } pages[] = {
        {"05 01 03 00 02 29", TENDON_GATT_ERROR_NO_PROGRESS},             /* below the range */
        {"05 01 05 00 01 29 05 00 02 29", TENDON_GATT_ERROR_NO_PROGRESS}, /* twice the same handle */
        {"05 01 0A 00 02 29", TENDON_GATT_ERROR_BAD_RESPONSE},            /* beyond the range */
        {"05 01", TENDON_GATT_ERROR_BAD_RESPONSE},                        /* an empty page */
        {"05 03 04 00 02 29", TENDON_GATT_ERROR_BAD_RESPONSE},            /* an unknown format */
        {"01 04 04 00 05", TENDON_ATT_ERROR(0x05)},                       /* Insufficient Authentication */
    };
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        peer *p = peer_open();
        tendon_status id = subscribe(p, false);
        peer_expect(p, "04 04 00 09 00");
        (void)peer_send(p, pages[i].pdu);
        peer_done(p, id, pages[i].status);
        assert_int_equal(peer_send(p, "1B 03 00 AA"), TENDON_ERROR_NOT_FOUND);
        peer_alive(p);
        peer_close(p);
    }
}

static void cancelled_while_it_looks_nothing_is_written(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = subscribe(p, false);
    peer_expect(p, "04 04 00 09 00");
    assert_int_equal(tendon_gatt_unsubscribe(&p->client, 3, NULL, NULL, p->now), TENDON_ERROR_WRONG_STATE);
    assert_int_equal(tendon_gatt_client_cancel(&p->client, (uint32_t)id, p->now), TENDON_OK);
    peer_done(p, id, TENDON_ERROR_CANCELLED);
    assert_int_equal(peer_send(p, "05 01 04 00 02 29"), TENDON_OK);
    peer_quiet(p);
    assert_int_equal(peer_send(p, "1B 03 00 AA"), TENDON_ERROR_NOT_FOUND);
    peer_alive(p);
    peer_close(p);
}

static void a_refused_write_removes_the_handler(void **state) {
    (void)state;
    peer *p = peer_open();
    tendon_status id = subscribe(p, true);
    peer_exchange(p, "04 04 00 09 00", "05 01 04 00 02 29");
    peer_exchange(p, "12 04 00 02 00", "01 12 04 00 13"); /* Value Not Allowed */
    peer_done(p, id, TENDON_ATT_ERROR(0x13));
    assert_int_equal(peer_send(p, "1B 03 00 AA"), TENDON_ERROR_NOT_FOUND);
    peer_close(p);
}

static void full_tables(void **state) {
    (void)state;
    peer *p = peer_open();
    for (uint16_t i = 0; i < PEER_SUBSCRIPTIONS; i++) {
        p->subscriptions[i].value_handle = (uint16_t)(0x100 + i);
    }
    p->client.subscription_end = PEER_SUBSCRIPTIONS;
    assert_int_equal(subscribe(p, false), TENDON_ERROR_TABLE_FULL);
    peer_alive(p); /* its request was given back */
    memset(p->subscriptions, 0, sizeof p->subscriptions);
    for (int i = 0; i < PEER_REQUESTS; i++) {
        assert_true(op_read(p) > 0);
    }
    assert_int_equal(subscribe(p, false), TENDON_GATT_ERROR_QUEUE_FULL);
    tendon_gatt_client_disconnected(&p->client, TENDON_ERROR_DISCONNECTED, p->now);
    assert_int_equal(subscribe(p, false), TENDON_ERROR_DISCONNECTED);
    p->completions = 0;
    p->sent = p->expected;
    peer_close(p);
}

/* GATT/CL/GAW/BV-03-C at mtu - 3 bytes, BV-05-C one byte beyond. */
static void a_write_of_any_length(void **state) {
    (void)state;
    uint8_t value[21];
    memset(value, 0x55, sizeof value);
    peer *p = peer_open();
    tendon_status id = tendon_gatt_write_value(&p->client, 7, value, 20, peer_on_done, p, p->now);
    peer_exchange(p, "12 07 00 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55", "13");
    peer_done(p, id, TENDON_OK);
    id = tendon_gatt_write_value(&p->client, 7, value, 21, peer_on_done, p, p->now);
    peer_exchange(p, "16 07 00 00 00 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55",
                  "17 07 00 00 00 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55 55");
    peer_exchange(p, "16 07 00 12 00 55 55 55", "17 07 00 12 00 55 55 55");
    peer_exchange(p, "18 01", "19");
    peer_done(p, id, TENDON_OK);
    id = tendon_gatt_write_value(&p->client, 7, NULL, 0, peer_on_done, p, p->now);
    peer_exchange(p, "12 07 00", "13");
    peer_done(p, id, TENDON_OK);
    assert_int_equal(tendon_gatt_write_value(&p->client, 7, value, 513, peer_on_done, p, p->now),
                     TENDON_ERROR_INVALID_ARGUMENT);
    peer_close(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(the_cccd_is_looked_for_and_written),
        RUN(the_cccd_is_on_a_later_page_and_in_its_long_form),
        RUN(no_cccd_is_not_found_and_leaves_no_handler),
        RUN(a_characteristic_without_descriptors),
        RUN(hostile_pages_end_it),
        RUN(cancelled_while_it_looks_nothing_is_written),
        RUN(a_refused_write_removes_the_handler),
        RUN(full_tables),
        RUN(a_write_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
