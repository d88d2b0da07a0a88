/* SPDX-License-Identifier: MIT */
/* Why connections of the kernel's radio end, and how they are ended. */
#include "bluez_connecting.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- why connections end ---- */

static void disconnected(bluez_connecting *l, uint16_t handle, uint8_t reason) {
    const uint8_t parameters[] = {0, (uint8_t)handle, (uint8_t)(handle >> 8), reason};
    bluez_event(l->b, TENDON_HCI_DISCONNECTION_COMPLETE, parameters, sizeof parameters);
    bluez_read(l->b);
}

static void the_reason_of_a_disconnection_is_reported_once(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_connected();
    disconnected(l, 0x40, 0x08);
    assert_int_equal(tendon_bluez_link_reason(&l->link, 0, false), TENDON_RADIO_ERROR_OUT_OF_RANGE);
    /* A later connection with the same handle: nothing is known of its end. */
    assert_int_equal(tendon_bluez_link_reason(&l->link, 0, false), TENDON_RADIO_ERROR_PEER_CLOSED);
    bluez_connecting_close(l);
}

/* Its sockets end with the error of Connection Terminated by Local Host, before Index Removed is in the other socket.
 */
static void connections_of_an_adapter_that_is_removed_end_with_that_reason(void **state) {
    (void)state;
    static const int numbers[] = {ECONNABORTED, ECONNRESET, ENOTCONN, 0};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        bluez_connecting *l = bluez_connecting_connected();
        assert_int_not_equal(tendon_bluez_link_reason(&l->link, numbers[i], false), TENDON_RADIO_ERROR_NO_ADAPTER);
        fake.refuse[FAKE_IOCTL].number = ENODEV;
        assert_int_equal(tendon_bluez_link_reason(&l->link, numbers[i], false), TENDON_RADIO_ERROR_NO_ADAPTER);
        assert_int_equal(tendon_bluez_link_reason(&l->link, numbers[i], true), TENDON_RADIO_ERROR_NO_ADAPTER);
        /* What the controller has reported is the reason in any case. */
        disconnected(l, 0x40, 0x08);
        assert_int_equal(tendon_bluez_link_reason(&l->link, numbers[i], false), TENDON_RADIO_ERROR_OUT_OF_RANGE);
        fake.refuse[FAKE_IOCTL].number = EPERM;
        bluez_connecting_close(l);
    }
}

static void every_reason_has_its_status(void **state) {
    (void)state;
    for (int code = 1; code < 256; code++) {
        bluez_connecting *l = bluez_connecting_connected();
        disconnected(l, 0x40, (uint8_t)code);
        bool range = code == 0x04 || code == 0x08 || code == 0x10 || code == 0x3C, peer = code >= 0x13 && code <= 0x15;
        bool busy = code == 0x0B || code == 0x0C; /* the kernel's EALREADY and EBUSY */
        tendon_status expected = range  ? TENDON_RADIO_ERROR_OUT_OF_RANGE
                                 : peer ? TENDON_RADIO_ERROR_PEER_CLOSED
                                 : busy ? TENDON_RADIO_ERROR_ADAPTER_BUSY
                                        : TENDON_HCI_ERROR(code);
        assert_int_equal(tendon_bluez_link_reason(&l->link, 0, false), expected);
        bluez_connecting_close(l);
    }
}

/* As many as the radio keeps; the oldest is replaced, whatever was before. */
static void the_latest_reasons_are_kept(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_connected();
    for (uint16_t i = 0; i < 5 * TENDON_BLUEZ_ENDINGS; i++) {
        disconnected(l, (uint16_t)(0x100 + i), (uint8_t)(0x20 + i));
        assert_true(l->b->radio.next_ending < TENDON_BLUEZ_ENDINGS);
        for (uint16_t back = 0; back < TENDON_BLUEZ_ENDINGS && back <= i; back++) {
            const tendon_bluez_disconnect_reason *found = NULL;
            for (size_t slot = 0; slot < TENDON_BLUEZ_ENDINGS; slot++) {
                const tendon_bluez_disconnect_reason *ending = &l->b->radio.endings[slot];
                found = ending->handle == 0x100 + i - back ? ending : found;
            }
            assert_non_null(found);
            assert_int_equal(found->reason, 0x20 + i - back);
        }
    }
    bluez_connecting_close(l);
}

/* Core Spec Vol 4 Part E 5.4.2: 0x0000 is a handle as any other. No reason was reported for its connection. */
static void the_first_handle_has_no_reason_of_its_own(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_open();
    fake.handle = 0;
    bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
    assert_int_equal(l->link.state, TENDON_LINK_OPEN);
    assert_int_equal(l->link.handle, 0);
    assert_int_equal(tendon_bluez_link_reason(&l->link, ETIMEDOUT, false), TENDON_RADIO_ERROR_OUT_OF_RANGE);
    disconnected(l, 0, 0x13);
    assert_int_equal(tendon_bluez_link_reason(&l->link, ETIMEDOUT, false), TENDON_RADIO_ERROR_PEER_CLOSED);
    bluez_connecting_close(l);
}

/* A failed connection event says nothing but its status: it belongs to the peer of the kernel's command. */
static void a_failed_attempt_has_the_reason_of_its_own_peer(void **state) {
    (void)state;
    static const tendon_address other = {{0xC0, 0x00, 0x5E, 0x00, 0x53, 0x02}, TENDON_ADDRESS_TYPE_RANDOM};
    for (int extended = 0; extended < 2; extended++) {
        bluez_connecting *l = bluez_connecting_open();
        tendon_link second;
        tendon_link_init(&second, NULL);
        assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &second, &other, tendon_monotonic_ms() + 3600000),
                         TENDON_OK);
        const uint8_t legacy[] = {
            HCI_COMMAND_PKT, 0x0D, 0x20, 12, 0x60, 0, 0x60, 0, 0, 1, 0x02, 0x53, 0, 0x5E, 0, 0xC0};
        const uint8_t later[] = {HCI_COMMAND_PKT, 0x43, 0x20, 9, 0, 0, 1, 0x02, 0x53, 0, 0x5E, 0, 0xC0};
        const uint8_t *command = extended ? later : legacy;
        size_t size = extended ? sizeof later : sizeof legacy;
        assert_int_equal(send(l->b->controller, command, size, 0), size);
        bluez_read(l->b);
        bluez_connection_complete(l, 0x3E, 0);
        assert_int_equal(tendon_bluez_link_reason(&l->link, ETIMEDOUT, true), TENDON_RADIO_ERROR_OUT_OF_RANGE);
        assert_int_equal(tendon_bluez_link_reason(&second, ENOSYS, true), TENDON_HCI_ERROR(0x3E));
        /* Once; and none without a command of the kernel. */
        assert_int_equal(tendon_bluez_link_reason(&second, ETIMEDOUT, true), TENDON_RADIO_ERROR_OUT_OF_RANGE);
        bluez_connection_complete(l, 0x08, 0);
        assert_int_equal(tendon_bluez_link_reason(&second, EMLINK, true), TENDON_HCI_ERROR(0x09));
        tendon_link_close(&second);
        bluez_connecting_close(l);
    }
}

/* The kernel did not report the end of that attempt, and was asked again: its reason is not that of the next one. */
static void the_reason_of_an_attempt_is_not_that_of_the_next(void **state) {
    (void)state;
    static const uint8_t command[] = {HCI_COMMAND_PKT, 0x43, 0x20, 9, 0, 0, 0, 0x01, 0x53, 0, 0x5E, 0, 0};
    bluez_connecting *l = bluez_connecting_open();
    assert_int_equal(send(l->b->controller, command, sizeof command, 0), sizeof command);
    bluez_read(l->b);
    bluez_connection_complete(l, 0x3E, 0);
    l->b->radio.leaving[0].until = 0;
    bluez_connecting_elapse(l, 310);
    bluez_connecting_elapse(l, 60);
    assert_int_equal(fake.connects, 2);
    assert_int_equal(tendon_bluez_link_reason(&l->link, ETIMEDOUT, true), TENDON_RADIO_ERROR_OUT_OF_RANGE);
    bluez_connecting_close(l);
}

/* ---- ending a connection ---- */

static void a_closed_link_is_disconnected_and_awaited(void **state) {
    (void)state;
    bluez_connecting *l = bluez_connecting_connected();
    tendon_link_close(&l->link);
    const uint8_t *parameters = bluez_expect(l->b, 0x0406);
    assert_memory_equal(parameters, "\x40\x00\x13", 3);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    tendon_link again;
    tendon_link_init(&again, NULL);
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &again, &bluez_peer, tendon_monotonic_ms() + 3600000),
                     TENDON_OK);
    assert_int_equal(fake.connects, 1);
    disconnected(l, 0x40, 0x16);
    l->b->radio.leaving[0].until = 0; /* the kernel has acted on it */
    bluez_tick(l->b, tendon_monotonic_ms());
    assert_int_equal(fake.connects, 2);
    tendon_link_close(&again);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    bluez_close(l->b);
}

/* The event of a cancelled attempt has no address, as the specification permits, so that the kernel does not recognize
 * it: the next attempt waits until the kernel has given up its own, or another reason not to wait. */
static void an_attempt_that_the_kernel_continues_is_awaited(void **state) {
    (void)state;
    enum { GIVEN_UP, NO_CONNECTION, UNKNOWN_TO_THE_KERNEL, TOO_LONG, RECOGNIZED, OTHER_PEER, HOW };
    static const tendon_address other = {{0xC0, 0x00, 0x5E, 0x00, 0x53, 0x02}, TENDON_ADDRESS_TYPE_RANDOM};
    static const uint8_t command[] = {HCI_COMMAND_PKT, 0x43, 0x20, 9, 0, 0, 0, 0x01, 0x53, 0, 0x5E, 0, 0};
    for (int how = 0; how < HOW; how++) {
        bluez_connecting *l = bluez_connecting_open();
        tendon_link again;
        tendon_link_init(&again, NULL);
        assert_int_equal(send(l->b->controller, command, sizeof command, 0), sizeof command);
        bluez_read(l->b);
        tendon_link_close(&l->link);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        uint8_t event[19] = {TENDON_HCI_LE_CONNECTION_COMPLETE, 0x02};
        if (how == RECOGNIZED) {
            memcpy(event + 6, command + 7, 6);
        }
        bluez_event(l->b, TENDON_HCI_LE_META, event, sizeof event);
        bluez_read(l->b);
        fake.connection.state = 5; /* BT_CONNECT */
        assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &again, how == OTHER_PEER ? &other : &bluez_peer,
                                              tendon_monotonic_ms() + 3600000),
                         TENDON_OK);
        if (how < RECOGNIZED) {
            assert_int_equal(fake.connects, 1);
            uint64_t now = tendon_monotonic_ms();
            assert_true(l->b->radio.timer.deadline <= now + 100); /* it is looked at again */
            bluez_tick(l->b, now);
            assert_int_equal(fake.connects, 1);
            assert_memory_equal(&fake.asked_peer, command + 7, 6);
            fake.connection.state = how == GIVEN_UP ? 1 : 5;
            fake.refuse[FAKE_GET_CONNECTION] = (fake_refusal){.number = how == NO_CONNECTION           ? ENOENT
                                                                        : how == UNKNOWN_TO_THE_KERNEL ? EPERM
                                                                                                       : 0};
            if (how == TOO_LONG) {
                assert_true(l->b->radio.leaving[0].until > now + 4000);
                assert_true(l->b->radio.leaving[0].until <= now + 5000);
                l->b->radio.leaving[0].until = now;
            }
            bluez_tick(l->b, tendon_monotonic_ms());
        }
        assert_int_equal(fake.connects, 2);
        tendon_link_close(&again);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        bluez_close(l->b);
    }
}

/* As many ends as are kept, and in the last place, too. */
static void each_end_is_awaited(void **state) {
    (void)state;
    bluez_bench *b = bluez_open(false, &bluez_public_address);
    const uint64_t now = tendon_monotonic_ms();
    tendon_address peer = bluez_peer;
    fake.connection.state = 5; /* BT_CONNECT */
    for (uint8_t i = 0; i < TENDON_BLUEZ_LEAVING; i++) {
        peer.bytes[5] = i;
        tendon_bluez_await_kernel(&b->radio, &peer, now + i);
    }
    for (uint8_t i = 0; i < TENDON_BLUEZ_LEAVING; i++) {
        peer.bytes[5] = i;
        assert_int_equal(tendon_bluez_free_at(&b->radio, &peer, now), now + 100);
    }
    b->radio.kernel.peer = peer; /* the last one connects, and is disconnected */
    b->radio.kernel.handle = 0x41;
    tendon_bluez_end_given_up(&b->radio, now);
    assert_memory_equal(bluez_expect(b, 0x0406), "\x41\x00\x13", 3);
    assert_int_equal(tendon_bluez_free_at(&b->radio, &peer, now), now + 3000);
    tendon_bluez_note_ending(&b->radio, 0x41, 0x16, now);
    assert_int_equal(tendon_bluez_free_at(&b->radio, &peer, now), now + 20);
    bluez_close(b);
}

/* The owner gives up while the kernel connects: the same, whatever the controller's event says. */
static void an_attempt_that_is_given_up_while_the_kernel_connects_is_awaited(void **state) {
    (void)state;
    for (int connecting = 0; connecting < 2; connecting++) {
        bluez_connecting *l = bluez_connecting_open();
        tendon_link again;
        tendon_link_init(&again, NULL);
        fake.connection.state = connecting ? 5 : 1; /* BT_CONNECT, BT_CONNECTED */
        tendon_link_close(&l->link);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &again, &bluez_peer, tendon_monotonic_ms() + 3600000),
                         TENDON_OK);
        assert_int_equal(fake.connects, connecting ? 1 : 2);
        fake.connection.state = 1;
        bluez_tick(l->b, tendon_monotonic_ms());
        assert_int_equal(fake.connects, 2);
        tendon_link_close(&again);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        bluez_close(l->b);
    }
}

static void kernel_reports(bluez_bench *b, uint8_t code, const tendon_address *peer) {
    uint8_t pdu[] = {code, 0, 7, 0, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0x08}; /* index 7; LE public; Timeout */
    tendon_address_to_wire(peer, pdu + 6);
    assert_int_equal(send(b->kernel, pdu, sizeof pdu, 0), sizeof pdu);
    bluez_read(b);
}

static void connect_failed(bluez_bench *b, const tendon_address *peer) {
    kernel_reports(b, 0x0D, peer);
}

/* The kernel missed the controller's event, and gave the attempt up: nobody else would end the connection. */
static void a_connection_that_the_kernel_gave_up_is_disconnected(void **state) {
    (void)state;
    enum { GIVEN_UP, OTHER_PEER, OTHER_EVENT, NOT_CONNECTED, ENDED, NEXT_ATTEMPT, OBSERVING, HOW };
    static const tendon_address other = {{0x00, 0x00, 0x5E, 0x00, 0x53, 0x02}, TENDON_ADDRESS_TYPE_PUBLIC};
    static const uint8_t command[] = {HCI_COMMAND_PKT, 0x43, 0x20, 9, 0, 0, 0, 0x01, 0x53, 0, 0x5E, 0, 0};
    for (int how = 0; how < HOW; how++) {
        bluez_connecting *l = bluez_connecting_open();
        assert_int_equal(send(l->b->controller, command, sizeof command, 0), sizeof command);
        bluez_read(l->b);
        tendon_link_close(&l->link);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        if (how != NOT_CONNECTED) {
            bluez_connection_complete(l, 0, 0);
        }
        if (how == ENDED) {
            disconnected(l, 0x40, 0x13);
        } else if (how == NEXT_ATTEMPT) {
            assert_int_equal(send(l->b->controller, command, sizeof command, 0), sizeof command);
            bluez_read(l->b);
        } else if (how == OBSERVING) {
            l->b->radio.use = TENDON_BLUEZ_OBSERVER;
        }
        /* Device Disconnected has the same parameters. */
        kernel_reports(l->b, how == OTHER_EVENT ? 0x0C : 0x0D, how == OTHER_PEER ? &other : &bluez_peer);
        if (how == GIVEN_UP) {
            assert_memory_equal(bluez_expect(l->b, 0x0406), "\x40\x00\x13", 3);
            connect_failed(l->b, &bluez_peer); /* once */
        }
        bluez_expect_nothing(l->b);
        if (how == NEXT_ATTEMPT) { /* it goes on */
            assert_true(tendon_bluez_is_creating(&l->b->radio.kernel, tendon_monotonic_ms()));
        }
        bluez_close(l->b);
    }
}

/* Once the kernel has cancelled an attempt, a connection to its peer is of a later one: here of another program. */
static void a_connection_after_the_kernel_has_cancelled_is_left_alone(void **state) {
    (void)state;
    static const uint8_t command[] = {HCI_COMMAND_PKT, 0x43, 0x20, 9, 0, 0, 0, 0x01, 0x53, 0, 0x5E, 0, 0};
    bluez_connecting *l = bluez_connecting_open();
    fake.connection.state = 5; /* BT_CONNECT */
    tendon_link_close(&l->link);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    fake.connection.state = 1;
    tendon_link again;
    tendon_link_init(&again, NULL);
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &again, &bluez_peer, tendon_monotonic_ms() + 3600000),
                     TENDON_OK);
    assert_int_equal(fake.connects, 2);
    tendon_link_close(&again);
    assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
    assert_int_equal(again.state, TENDON_LINK_CLOSED);
    assert_int_equal(send(l->b->controller, command, sizeof command, 0), sizeof command);
    bluez_read(l->b);
    bluez_connection_complete(l, 0, 0);
    bluez_expect_nothing(l->b);
    bluez_close(l->b);
}

/* Two of this radio wait for the same peer, and one is given up: the connection is the other one's. */
static void a_connection_that_another_attempt_waits_for_is_left_alone(void **state) {
    (void)state;
    static const uint8_t command[] = {HCI_COMMAND_PKT, 0x43, 0x20, 9, 0, 0, 0, 0x01, 0x53, 0, 0x5E, 0, 0};
    bluez_connecting *l = bluez_connecting_open();
    tendon_link again;
    tendon_link_init(&again, NULL);
    const int fd = fake.latest;
    assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &again, &bluez_peer, tendon_monotonic_ms() + 3600000),
                     TENDON_OK);
    assert_int_equal(fake.connects, 2);
    assert_int_equal(l->link.source.fd, fd);
    fake.connection.state = 5; /* BT_CONNECT */
    tendon_link_close(&again);
    again.source.expired(again.source.context, tendon_monotonic_ms());
    assert_int_equal(again.state, TENDON_LINK_CLOSED);
    assert_int_equal(send(l->b->controller, command, sizeof command, 0), sizeof command);
    bluez_read(l->b);
    bluez_connection_complete(l, 0, 0);
    bluez_expect_nothing(l->b);
    fake.connection.state = 1;
    bluez_connecting_close(l);
}

/* The kernel had not cancelled it yet, and gives it to a program that listens. */
static void a_connection_of_an_attempt_that_was_given_up_is_disconnected(void **state) {
    (void)state;
    enum { GIVEN_UP, LONG_AGO, OTHER_PEER, OBSERVING, HOW };
    static const uint8_t command[] = {HCI_COMMAND_PKT, 0x43, 0x20, 9, 0, 0, 0, 0x01, 0x53, 0, 0x5E, 0, 0};
    for (int how = 0; how < HOW; how++) {
        bluez_connecting *l = bluez_connecting_open();
        uint8_t connects[sizeof command];
        tendon_link again;
        tendon_link_init(&again, NULL);
        memcpy(connects, command, sizeof command);
        connects[7] = how == OTHER_PEER ? 0x02 : 0x01;
        assert_int_equal(send(l->b->controller, connects, sizeof connects, 0), sizeof connects);
        bluez_read(l->b);
        fake.connection.state = 5; /* BT_CONNECT */
        tendon_link_close(&l->link);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        assert_int_equal(tendon_radio_connect(&l->b->radio.radio, &again, &bluez_peer, tendon_monotonic_ms() + 3600000),
                         TENDON_OK);
        if (how == LONG_AGO) {
            l->b->radio.leaving[0].until = tendon_monotonic_ms();
        } else if (how == OBSERVING) {
            l->b->radio.use = TENDON_BLUEZ_OBSERVER;
        }
        bluez_connection_complete(l, 0, 0);
        if (how == GIVEN_UP) {
            assert_memory_equal(bluez_expect(l->b, 0x0406), "\x40\x00\x13", 3);
            fake.connection.state = 1;
            bluez_tick(l->b, tendon_monotonic_ms());
            assert_int_equal(fake.connects, 1); /* the next attempt is after its end */
            disconnected(l, 0x40, 0x16);
            assert_in_range(l->b->radio.leaving[0].until, 1, tendon_monotonic_ms() + 20);
        }
        bluez_expect_nothing(l->b);
        tendon_link_close(&again);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        bluez_close(l->b);
    }
}

/* The controller has connected, and the kernel, which still cancelled the attempt before this one, ignores it. */
static void a_connection_that_the_kernel_ignores_ends_with_the_attempt(void **state) {
    (void)state;
    static const uint8_t command[] = {HCI_COMMAND_PKT, 0x43, 0x20, 9, 0, 0, 0, 0x01, 0x53, 0, 0x5E, 0, 0};
    enum { IGNORED, OTHER_PEER, HAS_IT, HOW };
    for (int how = 0; how < HOW; how++) {
        bluez_connecting *l = bluez_connecting_open();
        uint8_t connects[sizeof command];
        memcpy(connects, command, sizeof command);
        connects[7] = how == OTHER_PEER ? 0x02 : 0x01;
        assert_int_equal(send(l->b->controller, connects, sizeof connects, 0), sizeof connects);
        bluez_read(l->b);
        bluez_connection_complete(l, 0, 0);
        bluez_expect_nothing(l->b);
        fake.connection.state = how == HAS_IT ? 1 : 5; /* BT_CONNECTED, another program's; BT_CONNECT */
        tendon_link_close(&l->link);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        if (how == IGNORED) { /* and is not created any more: a scan need not wait for it */
            assert_memory_equal(bluez_expect(l->b, 0x0406), "\x40\x00\x13", 3);
            assert_false(tendon_bluez_is_creating(&l->b->radio.kernel, tendon_monotonic_ms()));
        }
        bluez_expect_nothing(l->b);
        bluez_close(l->b);
    }
}

/* Core Spec Vol 4 Part E 5.4.2: handles are 0x0000 to 0x0EFF. */
static void the_last_handle_is_one(void **state) {
    (void)state;
    static const tendon_connection_parameters parameters = {.min_interval = 6, .max_interval = 12, .timeout = 600};
    for (uint16_t handle = 0x0EFF; handle <= 0x0F00; handle++) {
        const bool is_one = handle == 0x0EFF;
        bluez_connecting *l = bluez_connecting_open();
        l->b->radio.limits.features = TENDON_BLUEZ_FEATURE_2M;
        fake.handle = fake.connection.handle = handle;
        bluez_link_ready(l->b, &l->link, TENDON_WRITABLE);
        assert_int_equal(l->link.state, TENDON_LINK_OPEN);
        if (is_one) { /* LE Read PHY, two bytes */
            static const uint8_t read_phy[] = {HCI_COMMAND_PKT, 0x30, 0x20, 2, 0xFF, 0x0E};
            uint8_t packet[16];
            assert_int_equal(recv(l->b->controller, packet, sizeof packet, 0), sizeof read_phy);
            assert_memory_equal(packet, read_phy, sizeof read_phy);
        }
        bluez_expect_nothing(l->b);
        assert_int_equal(tendon_link_set_parameters(&l->link, &parameters),
                         is_one ? TENDON_OK : TENDON_ERROR_WRONG_STATE);
        bluez_drain_commands(l->b);
        tendon_link_close(&l->link);
        if (is_one) {
            assert_memory_equal(bluez_expect(l->b, 0x0406), "\xFF\x0E\x13", 3);
        }
        bluez_expect_nothing(l->b);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        bluez_close(l->b);
    }
}

static tendon_link *accept_central(void *context, const tendon_address *peer, uint64_t now) {
    (void)peer;
    (void)now;
    return context;
}

/* A connection that a central has made is this radio's once it is open: before, the kernel ends it with the socket. */
static void a_central_is_not_disconnected_before_it_is_open(void **state) {
    (void)state;
    for (int opened = 0; opened < 2; opened++) {
        bluez_bench *b = bluez_open(false, &bluez_public_address);
        tendon_link link;
        tendon_listener listener = {.context = &link, .accept = accept_central};
        tendon_link_init(&link, NULL);
        assert_int_equal(tendon_radio_listen(&b->radio.radio, &listener), TENDON_OK);
        fake.centrals = 1;
        fake.buffer = 0;
        listener.source.ready(&listener, TENDON_READABLE, tendon_monotonic_ms());
        assert_int_equal(link.state, TENDON_LINK_CONNECTED);
        assert_int_equal(link.handle, 0x40);
        assert_int_equal(fake.buffer,
                         2 * 1024 * 1024); /* 64 MB: 4 MiB for one connection, which the kernel doubles to */
        if (opened) {
            link.source.expired(link.source.context, tendon_monotonic_ms());
        }
        tendon_link_close(&link);
        if (opened) {
            assert_memory_equal(bluez_expect(b, 0x0406), "\x40\x00\x13", 3);
        }
        bluez_expect_nothing(b);
        assert_int_equal(tendon_loop_step(&b->loop, 0), TENDON_OK);
        assert_int_equal(link.state, TENDON_LINK_CLOSED);
        bluez_close(b);
    }
}

/* Another connection has the handle by now, or the kernel knows none. */
static void a_reused_handle_is_not_disconnected(void **state) {
    (void)state;
    static const uint8_t as_central[19] = {
        TENDON_HCI_LE_CONNECTION_COMPLETE, 0, 0x40, 0, 1, 0, 0x01, 0x53, 0, 0x5E, [12] = 0x18, [16] = 0x2A};
    for (int how = 0; how < 4; how++) {
        bluez_connecting *l = bluez_connecting_connected();
        if (how == 0) {
            fake.connection.handle = 0x41;
        } else if (how == 1) {
            fake.refuse[FAKE_GET_CONNECTION] = (fake_refusal){.number = ENOENT};
        } else if (how == 2) { /* the controller has reported a new connection with it */
            bluez_connection_complete(l, 0, 0);
            assert_int_equal(l->link.handle, TENDON_BLUEZ_HANDLE_UNKNOWN);
        } else { /* one that the same device has made */
            bluez_event(l->b, TENDON_HCI_LE_META, as_central, sizeof as_central);
            bluez_read(l->b);
            assert_int_equal(l->link.handle, TENDON_BLUEZ_HANDLE_UNKNOWN);
        }
        tendon_link_close(&l->link);
        bluez_expect_nothing(l->b);
        assert_int_equal(l->b->radio.leaving[0].until, 0);
        assert_int_equal(tendon_loop_step(&l->b->loop, 0), TENDON_OK);
        bluez_close(l->b);
    }
}

/* Twice; what it gets then, it takes. */
static void connections_that_were_left_behind_are_ended(void **state) {
    (void)state;
    for (int found = 1; found <= 3; found++) {
        bluez_connecting *l = bluez_connecting_idle();
        fake.old_connections = found;
        fake.handle = fake.connection.handle = found == 1 ? 0x0EFF : 0x40;
        assert_int_equal(
            tendon_radio_connect(&l->b->radio.radio, &l->link, &bluez_peer, tendon_monotonic_ms() + 3600000),
            TENDON_OK);
        for (int i = 0; i < found && i < 2; i++) {
            (void)bluez_expect(l->b, 0x0406);
            assert_int_equal(l->link.source.fd, -1);
            l->b->radio.leaving[0].until = l->b->radio.leaving[1].until = 0;
            l->b->radio.attempts[0].check_at = 0;
            bluez_tick(l->b, tendon_monotonic_ms());
        }
        bluez_expect_nothing(l->b);
        assert_int_equal(fake.connects, found < 3 ? found + 1 : 3);
        assert_int_equal(l->link.state, found == 3 ? TENDON_LINK_CONNECTED : TENDON_LINK_ASKED);
        bluez_connecting_close(l);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_reason_of_a_disconnection_is_reported_once),
        cmocka_unit_test(connections_of_an_adapter_that_is_removed_end_with_that_reason),
        cmocka_unit_test(every_reason_has_its_status),
        cmocka_unit_test(the_latest_reasons_are_kept),
        cmocka_unit_test(the_first_handle_has_no_reason_of_its_own),
        cmocka_unit_test(a_failed_attempt_has_the_reason_of_its_own_peer),
        cmocka_unit_test(the_reason_of_an_attempt_is_not_that_of_the_next),
        cmocka_unit_test(a_closed_link_is_disconnected_and_awaited),
        cmocka_unit_test(an_attempt_that_the_kernel_continues_is_awaited),
        cmocka_unit_test(each_end_is_awaited),
        cmocka_unit_test(an_attempt_that_is_given_up_while_the_kernel_connects_is_awaited),
        cmocka_unit_test(a_connection_that_the_kernel_gave_up_is_disconnected),
        cmocka_unit_test(a_connection_after_the_kernel_has_cancelled_is_left_alone),
        cmocka_unit_test(a_connection_that_another_attempt_waits_for_is_left_alone),
        cmocka_unit_test(a_connection_of_an_attempt_that_was_given_up_is_disconnected),
        cmocka_unit_test(a_connection_that_the_kernel_ignores_ends_with_the_attempt),
        cmocka_unit_test(the_last_handle_is_one),
        cmocka_unit_test(a_central_is_not_disconnected_before_it_is_open),
        cmocka_unit_test(a_reused_handle_is_not_disconnected),
        cmocka_unit_test(connections_that_were_left_behind_are_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
