/* SPDX-License-Identifier: MIT */
/* Connection parameters: what the kernel is given before a connect, and what a link reports of its connection. */
#include "bluez_connecting.h"

#include <errno.h>
#include <sys/socket.h>

static const tendon_connection_parameters wanted = {
    .min_interval = 6, .max_interval = 12, .latency = 4, .timeout = 600};

static tendon_status set(bluez_bench *b, const tendon_connection_parameters *parameters) {
    return tendon_radio_set_connection_parameters(&b->radio.radio, parameters);
}

static void connect_to(bluez_bench *b, tendon_link *link, const tendon_address *peer) {
    assert_int_equal(tendon_radio_connect(&b->radio.radio, link, peer, tendon_monotonic_ms() + 3600000), TENDON_OK);
}

static void expect_loaded(bluez_bench *b, const uint8_t *pdu, size_t length) {
    uint8_t got[64];
    assert_int_equal(recv(b->kernel, got, sizeof got, MSG_DONTWAIT), length);
    assert_memory_equal(got, pdu, length);
}

/* Index 7; count; each: address, type (LE public 1, LE random 2), intervals, latency, supervision timeout. */
static void parameters_are_loaded_before_the_connect(void **state) {
    (void)state;
    static const tendon_address second = {{0xC0, 1, 2, 3, 4, 5}, TENDON_ADDRESS_TYPE_RANDOM_IDENTITY};
    static const uint8_t one[] = {0x35, 0, 7, 0, 17, 0, 1, 0, 1, 0x53, 0, 0x5E, 0, 0, 1, 6, 0, 12, 0, 4, 0, 0x58, 2};
    static const uint8_t both[] = {0x35, 0,    7, 0,    32, 0,    2, 0, /* of all attempts */
                                   1,    0x53, 0, 0x5E, 0,  0,    1, 6, 0, 12, 0, 4, 0, 0x58, 2,
                                   5,    4,    3, 2,    1,  0xC0, 2, 6, 0, 12, 0, 4, 0, 0x58, 2};
    for (int refused = 0; refused < 2; refused++) {
        bluez_connecting *l = bluez_connecting_idle();
        tendon_link other;
        tendon_link_init(&other, NULL);
        assert_int_equal(set(l->b, &wanted), TENDON_OK);
        fake.refuse[FAKE_SEND] =
            (fake_refusal){.number = refused ? ENOBUFS : 0}; /* a connection without them is better than none */
        connect_to(l->b, &l->link, &bluez_peer);
        assert_int_equal(fake.connects, 1);
        if (!refused) {
            expect_loaded(l->b, one, sizeof one);
        }
        connect_to(l->b, &other, &second);
        assert_int_equal(fake.connects, 2);
        expect_loaded(l->b, both, sizeof both);
        bluez_expect_no_management(l->b);
        tendon_link_close(&other);
        bluez_connecting_close(l);
    }
}

/* Index 7, length, count: those of all attempts, in whichever slot. */
static void all_attempts_are_in_the_list(void **state) {
    (void)state;
    static tendon_link links[TENDON_BLUEZ_BACKGROUND];
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    assert_int_equal(set(b, &wanted), TENDON_OK);
    for (uint8_t i = 0; i < TENDON_BLUEZ_BACKGROUND; i++) {
        tendon_address peer = bluez_peer;
        peer.bytes[5] = i;
        tendon_link_init(&links[i], NULL);
        assert_int_equal(tendon_radio_connect_in_background(&b->radio.radio, &links[i], &peer), TENDON_OK);
        uint8_t got[512];
        const uint16_t length = (uint16_t)(2 + 15 * (i + 1));
        const uint8_t head[] = {0x35, 0, 7, 0, (uint8_t)length, (uint8_t)(length >> 8), (uint8_t)(i + 1), 0};
        assert_int_equal(recv(b->kernel, got, sizeof got, MSG_DONTWAIT), 6 + length);
        assert_memory_equal(got, head, sizeof head);
    }
    for (uint8_t i = 0; i < TENDON_BLUEZ_BACKGROUND; i++) {
        tendon_link_close(&links[i]);
    }
    assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
    bluez_close(b);
}

static void without_parameters_nothing_is_loaded(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_idle();
    const tendon_connection_parameters wrong = {.min_interval = 12, .max_interval = 6, .timeout = 600};
    assert_int_equal(set(l->b, &wrong), TENDON_ERROR_INVALID_ARGUMENT);
    connect_to(l->b, &l->link, &bluez_peer);
    bluez_expect_no_management(l->b);
    bluez_connecting_close(l);
    l = bluez_connecting_idle();
    assert_int_equal(set(l->b, &wanted), TENDON_OK);
    assert_int_equal(set(l->b, &wrong), TENDON_ERROR_INVALID_ARGUMENT);
    assert_int_equal(l->b->radio.radio.connection.timeout, 600); /* unchanged */
    assert_int_equal(set(l->b, NULL), TENDON_OK);
    connect_to(l->b, &l->link, &bluez_peer);
    bluez_expect_no_management(l->b);
    bluez_connecting_close(l);
}

static void connection_complete(bluez_bench *b, uint8_t handle, uint8_t interval) {
    const uint8_t parameters[] = {
        TENDON_HCI_LE_CONNECTION_COMPLETE, 0, handle, 0, 0, 0, 1, 0x53, 0, 0x5E, 0, 0, interval, 0, 3, 0, 0x2C, 1, 0};
    bluez_event(b, TENDON_HCI_LE_META, parameters, sizeof parameters);
    bluez_read(b);
}

static void updated(bluez_bench *b, uint8_t status, uint8_t handle, uint8_t interval) {
    const uint8_t parameters[] = {
        TENDON_HCI_LE_CONNECTION_UPDATE_COMPLETE, status, handle, 0, interval, 1, 2, 0, 0xF4, 1};
    bluez_event(b, TENDON_HCI_LE_META, parameters, sizeof parameters);
    bluez_read(b);
}

static void disconnected(bluez_bench *b, uint8_t handle) {
    const uint8_t parameters[] = {0, handle, 0, 0x13};
    bluez_event(b, TENDON_HCI_DISCONNECTION_COMPLETE, parameters, sizeof parameters);
    bluez_read(b);
}

static void expect_timing(const tendon_link *link, uint16_t interval, uint16_t latency, uint16_t timeout) {
    assert_int_equal(link->timing.interval, interval);
    assert_int_equal(link->timing.latency, latency);
    assert_int_equal(link->timing.timeout, timeout);
}

static void connected(bluez_connecting *l) {
    bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
}

static void a_link_reports_what_its_connection_has(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    connection_complete(l->b, 0x40, 24);
    connection_complete(l->b, 0x41, 80); /* another program's */
    connected(l);
    expect_timing(&l->link, 24, 3, 300);
    updated(l->b, 0, 0x41, 9);
    expect_timing(&l->link, 24, 3, 300);
    updated(l->b, 0x3B, 0x40, 9); /* unacceptable connection parameters */
    expect_timing(&l->link, 24, 3, 300);
    updated(l->b, 0, 0x40, 9);
    expect_timing(&l->link, 0x109, 2, 500);
    bluez_connecting_close(l);
}

/* An update takes no further slot, and a new connection takes a free one: no other is forgotten for it. */
static void connections_keep_their_slots(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    for (uint8_t handle = 1; handle <= TENDON_BLUEZ_TIMINGS; handle++) {
        connection_complete(b, handle, handle);
        updated(b, 0, 1, 9);
    }
    disconnected(b, 5);
    disconnected(b, 20);
    connection_complete(b, 0x40, 0x40);
    connection_complete(b, 0x41, 0x41);
    assert_int_equal(b->radio.kernel.connections, TENDON_BLUEZ_TIMINGS);
    for (uint8_t handle = 1; handle <= TENDON_BLUEZ_TIMINGS; handle++) {
        bool ended = handle == 5 || handle == 20;
        assert_int_equal(tendon_bluez_timing_of(&b->radio, handle).interval, ended ? 0 : handle == 1 ? 0x109 : handle);
    }
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 0x40).interval, 0x40);
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 0x41).interval, 0x41);
    bluez_close(b);
}

/* Only connections that were counted end: not those of another transport, nor one that is reported twice. */
static void connections_are_counted_once(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    connection_complete(b, 1, 24);
    connection_complete(b, 2, 24);
    connection_complete(b, 2, 30);
    connection_complete(b, 3, 0); /* without an interval there is none (Core Spec Vol 4 Part E 7.7.65.1) */
    assert_int_equal(b->radio.kernel.connections, 2);
    disconnected(b, 7);
    assert_int_equal(b->radio.kernel.connections, 2);
    disconnected(b, 2);
    disconnected(b, 2);
    assert_int_equal(b->radio.kernel.connections, 1);
    bluez_hardware_error(b);
    assert_int_equal(b->radio.kernel.connections, 0);
    disconnected(b, 1);
    assert_int_equal(b->radio.kernel.connections, 0);
    bluez_close(b);
}

/* Both descriptors are ready at the same time, and the socket is served first. */
static void a_socket_can_be_faster_than_its_event(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    connected(l);
    expect_timing(&l->link, 0, 0, 0);
    assert_int_equal(l->link.handle, 0x40);
    connection_complete(l->b, 0x40, 24);
    assert_int_equal(l->link.handle, 0x40);
    expect_timing(&l->link, 24, 3, 300);
    updated(l->b, 0, 0x40, 9);
    expect_timing(&l->link, 0x109, 2, 500);
    connection_complete(l->b, 0x40, 80); /* another one: the link's has ended */
    assert_int_equal(l->link.handle, TENDON_BLUEZ_HANDLE_UNKNOWN);
    bluez_connecting_close(l);
}

static void a_new_connection_does_not_inherit(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    connection_complete(l->b, 0x40, 24);
    disconnected(l->b, 0x40);
    connected(l);
    expect_timing(&l->link, 0, 0, 0); /* its own event is not read yet */
    bluez_connecting_close(l);
    l = bluez_connecting_open();
    connection_complete(l->b, 0x40, 24);
    updated(l->b, 0, 0x40, 9); /* before the socket is connected */
    connected(l);
    expect_timing(&l->link, 0x109, 2, 500);
    bluez_connecting_close(l);
}

/* As many as are kept, and one more: the oldest is forgotten, and a slot that is free again is used first. */
static void the_table_is_bounded(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    for (uint8_t handle = 0; handle < TENDON_BLUEZ_TIMINGS; handle++) {
        connection_complete(b, handle, 24);
    }
    for (uint8_t handle = 0; handle < TENDON_BLUEZ_TIMINGS; handle++) {
        assert_int_equal(tendon_bluez_timing_of(&b->radio, handle).interval, 24);
    }
    disconnected(b, 5);
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 5).interval, 0);
    disconnected(b, 0x77); /* unknown: nothing happens */
    connection_complete(b, 0x50, 25);
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 0x50).interval, 25);
    for (uint8_t handle = 0; handle < TENDON_BLUEZ_TIMINGS; handle++) {
        assert_int_equal(tendon_bluez_timing_of(&b->radio, handle).interval, handle == 5 ? 0 : 24);
    }
    disconnected(b, 0x50); /* its slot is looked at last */
    connection_complete(b, 0x50, 25);
    for (uint8_t handle = 6; handle < TENDON_BLUEZ_TIMINGS; handle++) {
        assert_int_equal(tendon_bluez_timing_of(&b->radio, handle).interval, 24);
    }
    connection_complete(b, 0x51, 26);
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 6).interval, 0);
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 0x51).interval, 26);
    bluez_close(b);
}

/* Without an end in between, they are forgotten in the order in which they came. */
static void the_oldest_is_forgotten_first(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    for (uint8_t handle = 0; handle < 2 * TENDON_BLUEZ_TIMINGS; handle++) {
        connection_complete(b, handle, 24);
        for (uint8_t other = 0; other <= handle; other++) {
            assert_int_equal(tendon_bluez_timing_of(&b->radio, other).interval,
                             other + TENDON_BLUEZ_TIMINGS > handle ? 24 : 0);
        }
    }
    bluez_close(b);
}

static void meta_event(bluez_bench *b, const uint8_t *parameters, size_t length) {
    bluez_event(b, TENDON_HCI_LE_META, parameters, length);
    bluez_read(b);
}

static void phy_updated(bluez_bench *b, uint8_t status, uint8_t handle, uint8_t tx, uint8_t rx) {
    const uint8_t parameters[] = {0x0C, status, handle, 0, tx, rx};
    meta_event(b, parameters, sizeof parameters);
}

/* 251 octets to the peer, in 2120 us; 200 from it, in 1712 us. */
static void length_changed(bluez_bench *b, uint8_t handle) {
    const uint8_t parameters[] = {0x07, handle, 0, 0xFB, 0, 0x48, 0x08, 0xC8, 0, 0xB0, 0x06};
    meta_event(b, parameters, sizeof parameters);
}

static void expect_phys(const tendon_link *link, uint8_t tx, uint8_t rx) {
    assert_int_equal(link->timing.tx_phy, tx);
    assert_int_equal(link->timing.rx_phy, rx);
}

static void expect_octets(const tendon_link *link, uint16_t tx, uint16_t rx) {
    assert_int_equal(link->timing.tx_octets, tx);
    assert_int_equal(link->timing.rx_octets, rx);
}

static void a_link_reports_its_phy_and_data_length(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    connection_complete(l->b, 0x40, 24);
    connection_complete(l->b, 0x41, 80); /* another program's */
    connected(l);
    expect_phys(&l->link, TENDON_PHY_1M, TENDON_PHY_1M); /* this controller has no other */
    expect_octets(&l->link, 27, 27);
    phy_updated(l->b, 0, 0x41, 2, 2);
    length_changed(l->b, 0x41);
    phy_updated(l->b, 0x1A, 0x40, 2, 2); /* unsupported remote feature */
    expect_phys(&l->link, TENDON_PHY_1M, TENDON_PHY_1M);
    expect_octets(&l->link, 27, 27);
    phy_updated(l->b, 0, 0x40, 2, 3);
    expect_phys(&l->link, TENDON_PHY_2M, TENDON_PHY_CODED);
    length_changed(l->b, 0x40);
    expect_octets(&l->link, 251, 200);
    updated(l->b, 0, 0x40, 9); /* each event changes its own part */
    expect_timing(&l->link, 0x109, 2, 500);
    expect_phys(&l->link, TENDON_PHY_2M, TENDON_PHY_CODED);
    expect_octets(&l->link, 251, 200);
    bluez_event(l->b, TENDON_HCI_LE_META, (const uint8_t[]){TENDON_HCI_LE_CHANNEL_SELECTION, 0x40, 0, 1}, 4);
    bluez_read(l->b);
    expect_timing(&l->link, 0x109, 2, 500);
    assert_int_equal(l->b->radio.radio.malformed, 0);
    bluez_connecting_close(l);
}

static void a_phy_that_is_not_known_is_none(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    connection_complete(l->b, 0x40, 24);
    connected(l);
    static const uint8_t others[] = {0, 4, 0x80, 0xFF};
    for (size_t i = 0; i < sizeof others; i++) {
        phy_updated(l->b, 0, 0x40, 2, others[i]);
        expect_phys(&l->link, TENDON_PHY_2M, 0);
        phy_updated(l->b, 0, 0x40, others[i], 3);
        expect_phys(&l->link, 0, TENDON_PHY_CODED);
    }
    expect_timing(&l->link, 24, 3, 300);
    bluez_connecting_close(l);
}

/* A link whose connection the radio has not seen, as after a full receive buffer. */
static void without_its_event_a_link_reports_nothing(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    connected(l);
    bluez_expect_nothing(l->b); /* a controller with LE 1M only is not asked */
    phy_updated(l->b, 0, 0x40, 2, 2);
    length_changed(l->b, 0x40);
    expect_timing(&l->link, 0, 0, 0);
    expect_phys(&l->link, 0, 0);
    expect_octets(&l->link, 0, 0);
    bluez_connecting_close(l);
}

/* A connection that the radio does not know, one that has ended, and the next one with its handle. */
static void a_connection_that_is_not_known_gets_no_phy(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    phy_updated(b, 0, 0x40, 2, 2);
    length_changed(b, 0x40);
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 0x40).tx_phy, 0);
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 0x40).tx_octets, 0);
    connection_complete(b, 0x40, 24);
    phy_updated(b, 0, 0x40, 2, 2);
    length_changed(b, 0x40);
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 0x40).rx_octets, 200);
    disconnected(b, 0x40);
    phy_updated(b, 0, 0x40, 2, 2);
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 0x40).tx_phy, 0);
    connection_complete(b, 0x40, 24);
    phy_updated(b, 0, 0x40, 2, 2);
    connection_complete(b, 0x40, 24); /* its end was lost */
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 0x40).tx_phy, TENDON_PHY_1M);
    assert_int_equal(tendon_bluez_timing_of(&b->radio, 0x40).tx_octets, 27);
    bluez_close(b);
}

static void cut_events_change_nothing(void **state) {
    (void)state;
    static const uint8_t events[][11] = {{0x0C, 0, 0x40, 0, 2, 2}, {0x07, 0x40, 0, 0xFB, 0, 0x48, 8, 0xFB, 0, 0x48, 8}};
    static const size_t lengths[] = {6, 11};
    bluez_connecting *l = bluez_connecting_open();
    connection_complete(l->b, 0x40, 24);
    connected(l);
    uint64_t malformed = 0;
    for (size_t i = 0; i < 2; i++) {
        for (size_t length = 1; length < lengths[i]; length++) {
            meta_event(l->b, events[i], length);
            assert_int_equal(l->b->radio.radio.malformed, ++malformed);
            expect_phys(&l->link, TENDON_PHY_1M, TENDON_PHY_1M);
            expect_octets(&l->link, 27, 27);
        }
    }
    bluez_connecting_close(l);
}

/* The event of a new connection does not have its PHY. Where there is more than one, the controller is asked. */
static void the_phy_of_a_new_connection_is_read(void **state) {
    (void)state;
    static const uint8_t answer[] = {1, 0x30, 0x20, 0, 0x40, 0, 2, 3}, failed[] = {1, 0x30, 0x20, 0x02, 0x40, 0, 2, 3},
                         other[] = {1, 0x30, 0x20, 0, 0x41, 0, 3, 3};
    static const uint64_t features[] = {TENDON_BLUEZ_FEATURE_2M, TENDON_BLUEZ_FEATURE_CODED};
    for (size_t i = 0; i < 2; i++) {
        bluez_connecting *l = bluez_connecting_open();
        l->b->radio.limits.features = features[i];
        connection_complete(l->b, 0x40, 24);
        connected(l);
        const uint8_t *asked = bluez_expect(l->b, TENDON_HCI_LE_READ_PHY);
        assert_memory_equal(asked, ((const uint8_t[]){0x40, 0}), 2);
        bluez_expect_nothing(l->b);
        expect_phys(&l->link, 0, 0);
        expect_octets(&l->link, 27, 27);
        bluez_event(l->b, TENDON_HCI_COMMAND_COMPLETE, failed, sizeof failed);
        bluez_event(l->b, TENDON_HCI_COMMAND_COMPLETE, other, sizeof other);
        for (size_t length = 3; length < sizeof answer; length++) {
            bluez_event(l->b, TENDON_HCI_COMMAND_COMPLETE, answer, length);
        }
        bluez_read(l->b);
        expect_phys(&l->link, 0, 0);
        bluez_event(l->b, TENDON_HCI_COMMAND_COMPLETE, answer, sizeof answer);
        bluez_read(l->b);
        expect_phys(&l->link, TENDON_PHY_2M, TENDON_PHY_CODED);
        expect_timing(&l->link, 24, 3, 300);
        bluez_connecting_close(l);
    }
}

static void a_phy_that_cannot_be_read_is_not_known(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    l->b->radio.limits.features = TENDON_BLUEZ_FEATURE_2M;
    connection_complete(l->b, 0x40, 24);
    fake.refuse[FAKE_COMMAND] = (fake_refusal){.number = ENOBUFS, .times = 1};
    connected(l);
    assert_int_equal(fake.refuse[FAKE_COMMAND].times, 0);
    bluez_expect_nothing(l->b);
    expect_phys(&l->link, 0, 0);
    expect_timing(&l->link, 24, 3, 300);
    bluez_connecting_close(l);
    l = bluez_connecting_open();
    l->b->radio.limits.features = TENDON_BLUEZ_FEATURE_2M;
    connection_complete(l->b, 0x40, 24);
    phy_updated(l->b, 0, 0x40, 2, 2); /* known before the socket is connected */
    connected(l);
    bluez_expect_nothing(l->b);
    expect_phys(&l->link, TENDON_PHY_2M, TENDON_PHY_2M);
    bluez_connecting_close(l);
    l = bluez_connecting_open();
    l->b->radio.limits.features = TENDON_BLUEZ_FEATURE_2M;
    fake.refuse[FAKE_GET_HANDLE] = (fake_refusal){.number = ENOTCONN}; /* it has ended: there is no handle */
    connected(l);
    bluez_expect_nothing(l->b);
    bluez_connecting_close(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_loaded_before_the_connect),
        cmocka_unit_test(all_attempts_are_in_the_list),
        cmocka_unit_test(without_parameters_nothing_is_loaded),
        cmocka_unit_test(a_link_reports_what_its_connection_has),
        cmocka_unit_test(connections_keep_their_slots),
        cmocka_unit_test(connections_are_counted_once),
        cmocka_unit_test(a_socket_can_be_faster_than_its_event),
        cmocka_unit_test(a_new_connection_does_not_inherit),
        cmocka_unit_test(the_table_is_bounded),
        cmocka_unit_test(the_oldest_is_forgotten_first),
        cmocka_unit_test(a_link_reports_its_phy_and_data_length),
        cmocka_unit_test(a_phy_that_is_not_known_is_none),
        cmocka_unit_test(a_connection_that_is_not_known_gets_no_phy),
        cmocka_unit_test(without_its_event_a_link_reports_nothing),
        cmocka_unit_test(cut_events_change_nothing),
        cmocka_unit_test(the_phy_of_a_new_connection_is_read),
        cmocka_unit_test(a_phy_that_cannot_be_read_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
