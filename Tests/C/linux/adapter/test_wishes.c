/* SPDX-License-Identifier: MIT */
/* PHY, data length and intervals of a connection that exists: what the controller is asked for. */
#include "bluez_connecting.h"

#include <errno.h>
#include <unistd.h>

enum { ALL = 1u << 5 | 1u << 8 | 1u << 11, PHY_2M = 1u << 8, CODED = 1u << 11, LENGTH = 1u << 5 };

static const tendon_connection_parameters fast = {.min_interval = 6, .max_interval = 12, .latency = 4, .timeout = 600};

static tendon_connection_parameters with(uint8_t phy, uint16_t octets) {
    tendon_connection_parameters parameters = fast;
    parameters.phy = phy;
    parameters.tx_octets = octets;
    return parameters;
}

static void connection_complete(bluez_connecting *l) {
    static const uint8_t parameters[] = {
        TENDON_HCI_LE_CONNECTION_COMPLETE, 0, 0x40, 0, 0, 0, 1, 0x53, 0, 0x5E, 0, 0, 24, 0, 3, 0, 0x2C, 1, 0};
    bluez_event(l->b, TENDON_HCI_LE_META, parameters, sizeof parameters);
    bluez_read(l->b);
}

/** A controller with these features; a link is connected, by a radio with these parameters. */
static bluez_connecting *connected(uint64_t features, const tendon_connection_parameters *wanted) {
    bluez_connecting *l = bluez_connecting_open();
    l->b->radio.limits.features = features;
    assert_int_equal(tendon_radio_set_connection_parameters(&l->b->radio.radio, wanted), TENDON_OK);
    connection_complete(l);
    bluez_expect_nothing(l->b);
    bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    return l;
}

static void expect(bluez_connecting *l, uint16_t opcode, const uint8_t *parameters, size_t length) {
    assert_memory_equal(bluez_expect(l->b, opcode), parameters, length);
}
#define EXPECT(l, opcode, ...) expect(l, opcode, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* By what the controller has; what it has not is left out, and the connection is made all the same. */
static void a_new_connection_is_asked_for_what_the_radio_wants(void **state) {
    (void)state;
    static const struct {
        uint64_t features;
        uint8_t phy;
        uint16_t octets;
        uint8_t phys;          /* of LE Set PHY; 0: not sent */
        uint16_t microseconds; /* of LE Set Data Length; 0: not sent */
    } rows[] = {
        {ALL, 0, 0, 0, 0},
        {ALL, TENDON_PHY_1M, 0, 1, 0},
        {ALL, TENDON_PHY_2M, 0, 2, 0},
        {ALL, TENDON_PHY_CODED, 0, 4, 0},
        {ALL, 0, 251, 0, 2120},
        {ALL, 0, 27, 0, 328},
        {ALL, TENDON_PHY_2M, 251, 2, 2120},
        {ALL, TENDON_PHY_CODED, 251, 4, 17040},
        {ALL, TENDON_PHY_CODED, 27, 4, 2704},
        {PHY_2M, TENDON_PHY_CODED, 251, 0, 0},
        {CODED, TENDON_PHY_2M, 251, 0, 0},
        {CODED, TENDON_PHY_1M, 0, 1, 0},
        {LENGTH, TENDON_PHY_2M, 251, 0, 2120},
        {LENGTH, TENDON_PHY_1M, 0, 0, 0}, /* it has no other */
        {0, TENDON_PHY_2M, 251, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tendon_connection_parameters wanted = with(rows[i].phy, rows[i].octets);
        bluez_connecting *l = connected(rows[i].features, &wanted);
        const uint8_t phys = rows[i].phys;
        if ((rows[i].features & (PHY_2M | CODED)) != 0) {
            EXPECT(l, TENDON_HCI_LE_READ_PHY, 0x40, 0);
        }
        if (phys != 0) {
            EXPECT(l, TENDON_HCI_LE_SET_PHY, 0x40, 0, 0, phys, phys, 0, 0);
        }
        if (rows[i].microseconds != 0) {
            EXPECT(l, TENDON_HCI_LE_SET_DATA_LENGTH, 0x40, 0, (uint8_t)rows[i].octets, 0, (uint8_t)rows[i].microseconds,
                   (uint8_t)(rows[i].microseconds >> 8));
        }
        bluez_expect_nothing(l->b);
        bluez_connecting_close(l);
    }
}

static void without_parameters_nothing_is_asked_for(void **state) {
    (void)state;
    bluez_connecting *l = connected(LENGTH, NULL);
    bluez_expect_nothing(l->b);
    bluez_connecting_close(l);
}

/* Each of the commands is not sent, and the link is open all the same. */
static void a_wish_that_is_not_sent_ends_nothing(void **state) {
    (void)state;
    for (int refused = 1; refused <= 3; refused++) {
        bluez_connecting *l = bluez_connecting_open();
        const tendon_connection_parameters wanted = with(TENDON_PHY_2M, 251);
        l->b->radio.limits.features = ALL;
        assert_int_equal(tendon_radio_set_connection_parameters(&l->b->radio.radio, &wanted), TENDON_OK);
        connection_complete(l);
        fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENOBUFS, .times = refused};
        bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
        assert_int_equal(l->link.state, TENDON_LINK_OPEN);
        assert_int_equal(fake.refuse[FAKE_COMMAND].times, 0);
        if (refused < 2) {
            (void)bluez_expect(l->b, TENDON_HCI_LE_SET_PHY);
        }
        if (refused < 3) {
            (void)bluez_expect(l->b, TENDON_HCI_LE_SET_DATA_LENGTH);
        }
        bluez_expect_nothing(l->b);
        bluez_connecting_close(l);
    }
}

static tendon_link *accept_central(void *context, const tendon_address *peer, uint64_t now) {
    (void)peer;
    (void)now;
    tendon_link_init(context, NULL);
    return context;
}

/* The parameters are those of a central; this is the other side. Its PHY is known too. */
static void the_connection_of_a_central_is_left_to_it(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_idle();
    const tendon_connection_parameters wanted = with(TENDON_PHY_2M, 251);
    tendon_listener listener = {.context = &l->link, .accept = accept_central};
    l->b->radio.limits.features = ALL;
    assert_int_equal(tendon_radio_set_connection_parameters(&l->b->radio.radio, &wanted), TENDON_OK);
    assert_int_equal(tendon_radio_listen(&l->b->radio.radio, &listener), TENDON_OK);
    connection_complete(l);
    fake.centrals = 1;
    listener.source.ready(listener.source.context, TENDON_READABLE, tendon_monotonic_ms());
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    assert_int_equal(l->link.timing.interval, 24);
    int shown = 0;
    socklen_t size = sizeof shown;
    assert_int_equal(getsockopt(l->link.source.fd, SOL_SOCKET, SO_RXQ_OVFL, &shown, &size), 0);
    assert_int_equal(shown, 1); /* what the kernel drops is counted on this side too */
    EXPECT(l, TENDON_HCI_LE_READ_PHY, 0x40, 0);
    bluez_expect_nothing(l->b);
    tendon_link_close(&l->link);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    tendon_radio_unlisten(&l->b->radio.radio, &listener);
    bluez_close(l->b);
}

static void a_connection_gets_other_parameters(void **state) {
    (void)state;
    bluez_connecting *l = connected(LENGTH, NULL);
    assert_int_equal(tendon_link_set_parameters(&l->link, &fast), TENDON_OK);
    EXPECT(l, TENDON_HCI_LE_CONNECTION_UPDATE, 0x40, 0, 6, 0, 12, 0, 4, 0, 0x58, 2, 0, 0, 0, 0);
    bluez_expect_nothing(l->b);
    assert_int_equal(l->link.timing.interval, 24); /* until the controllers agree */
    l->b->radio.limits.features = ALL;
    const tendon_connection_parameters all = with(TENDON_PHY_2M, 251);
    assert_int_equal(tendon_link_set_parameters(&l->link, &all), TENDON_OK);
    EXPECT(l, TENDON_HCI_LE_CONNECTION_UPDATE, 0x40, 0, 6, 0, 12, 0, 4, 0, 0x58, 2, 0, 0, 0, 0);
    EXPECT(l, TENDON_HCI_LE_SET_PHY, 0x40, 0, 0, 2, 2, 0, 0);
    EXPECT(l, TENDON_HCI_LE_SET_DATA_LENGTH, 0x40, 0, 251, 0, 0x48, 8);
    bluez_expect_nothing(l->b);
    l->link.timing.tx_phy = TENDON_PHY_CODED; /* a packet takes as long as on the PHY that the connection has */
    const tendon_connection_parameters longer = with(0, 27);
    assert_int_equal(tendon_link_set_parameters(&l->link, &longer), TENDON_OK);
    (void)bluez_expect(l->b, TENDON_HCI_LE_CONNECTION_UPDATE);
    EXPECT(l, TENDON_HCI_LE_SET_DATA_LENGTH, 0x40, 0, 27, 0, 0x90, 0x0A);
    bluez_expect_nothing(l->b);
    assert_int_equal(l->b->radio.radio.connection.max_interval, 0); /* the radio's own stay */
    bluez_connecting_close(l);
}

/* LE 1M is asked for only where there is something else. */
static void a_controller_with_one_phy_is_not_asked_for_it(void **state) {
    (void)state;
    bluez_connecting *l = connected(0, NULL);
    const tendon_connection_parameters wanted = with(TENDON_PHY_1M, 0);
    assert_int_equal(tendon_link_set_parameters(&l->link, &wanted), TENDON_OK);
    (void)bluez_expect(l->b, TENDON_HCI_LE_CONNECTION_UPDATE);
    bluez_expect_nothing(l->b);
    bluez_connecting_close(l);
}

static void what_the_controller_lacks_is_an_error(void **state) {
    (void)state;
    static const struct {
        uint64_t features;
        uint8_t phy;
        uint16_t octets;
        tendon_status status;
    } rows[] = {
        {0, TENDON_PHY_2M, 0, TENDON_ERROR_UNSUPPORTED},
        {CODED | LENGTH, TENDON_PHY_2M, 0, TENDON_ERROR_UNSUPPORTED},
        {PHY_2M | LENGTH, TENDON_PHY_CODED, 0, TENDON_ERROR_UNSUPPORTED},
        {PHY_2M | CODED, TENDON_PHY_2M, 27, TENDON_ERROR_UNSUPPORTED},
        {ALL, 4, 0, TENDON_ERROR_INVALID_ARGUMENT},
        {ALL, 0, 26, TENDON_ERROR_INVALID_ARGUMENT},
    };
    bluez_connecting *l = connected(0, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tendon_connection_parameters wanted = with(rows[i].phy, rows[i].octets);
        l->b->radio.limits.features = rows[i].features;
        assert_int_equal(tendon_link_set_parameters(&l->link, &wanted), rows[i].status);
        bluez_expect_nothing(l->b); /* not the part that it has either */
    }
    l->b->radio.unprivileged = true;
    assert_int_equal(tendon_link_set_parameters(&l->link, &fast), TENDON_RADIO_ERROR_NO_CAP_NET_RAW);
    l->b->radio.unprivileged = false;
    l->link.accepted = true;
    assert_int_equal(tendon_link_set_parameters(&l->link, &fast), TENDON_ERROR_WRONG_STATE);
    l->link.accepted = false;
    bluez_expect_nothing(l->b);
    bluez_connecting_close(l);
    assert_int_equal(tendon_link_set_parameters(&l->link, &fast), TENDON_ERROR_WRONG_STATE);
}

static void a_connection_that_has_ended_gets_none(void **state) {
    (void)state;
    bluez_connecting *l = connected(0, NULL);
    connection_complete(l); /* its handle belongs to another one */
    assert_int_equal(tendon_link_set_parameters(&l->link, &fast), TENDON_ERROR_WRONG_STATE);
    bluez_expect_nothing(l->b);
    tendon_bluez_fail(&l->b->radio, TENDON_RADIO_ERROR_ADAPTER_DOWN);
    if (l->link.state == TENDON_LINK_OPEN) {
        assert_int_equal(tendon_link_set_parameters(&l->link, &fast), TENDON_RADIO_ERROR_ADAPTER_DOWN);
    }
    bluez_expect_nothing(l->b);
    bluez_connecting_close(l);
}

/* Each of the three commands fails: the first error is returned, and the commands after it are not sent. */
static void a_send_that_fails_is_an_error(void **state) {
    (void)state;
    static const uint16_t opcodes[] = {TENDON_HCI_LE_CONNECTION_UPDATE, TENDON_HCI_LE_SET_PHY};
    const tendon_connection_parameters wanted = with(TENDON_PHY_2M, 251);
    for (int fails = 0; fails < 3; fails++) {
        bluez_connecting *l = connected(0, NULL);
        l->b->radio.limits.features = ALL;
        fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENODEV, .after = fails};
        assert_int_equal(tendon_link_set_parameters(&l->link, &wanted), TENDON_RADIO_ERROR_NO_ADAPTER);
        for (int sent = 0; sent < fails; sent++) {
            (void)bluez_expect(l->b, opcodes[sent]);
        }
        bluez_expect_nothing(l->b);
        bluez_connecting_close(l);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_connection_is_asked_for_what_the_radio_wants),
        cmocka_unit_test(without_parameters_nothing_is_asked_for),
        cmocka_unit_test(a_wish_that_is_not_sent_ends_nothing),
        cmocka_unit_test(the_connection_of_a_central_is_left_to_it),
        cmocka_unit_test(a_connection_gets_other_parameters),
        cmocka_unit_test(a_controller_with_one_phy_is_not_asked_for_it),
        cmocka_unit_test(what_the_controller_lacks_is_an_error),
        cmocka_unit_test(a_connection_that_has_ended_gets_none),
        cmocka_unit_test(a_send_that_fails_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
